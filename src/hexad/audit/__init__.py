"""The audit ledger: written by the system, read by reviewers; nothing of the agent's own API leads here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.values import (
    Archive,
    AuditRecord,
    Destroyed,
    Incident,
    IncidentExport,
    LedgerExport,
    Mark,
    Retention,
    Reviewer,
    Span,
    Verification,
)

if TYPE_CHECKING:
    from hexad.audit.batch_recorder import AuditRecorder, HushController
    from hexad.audit.export_file import check_export, check_incident
    from hexad.audit.log import AuditLog
    from hexad.audit.retention import check_archive
    from hexad.audit.writer import AuditLogWriter

__all__ = [
    "Archive",
    "AuditLog",
    "AuditLogWriter",
    "AuditRecord",
    "AuditRecorder",
    "Destroyed",
    "HushController",
    "Incident",
    "IncidentExport",
    "LedgerExport",
    "Mark",
    "Retention",
    "Reviewer",
    "Span",
    "Verification",
    "check_archive",
    "check_export",
    "check_incident",
]

_LATE: Final = {
    "AuditLog": "hexad.audit.log",
    "AuditLogWriter": "hexad.audit.writer",
    "AuditRecorder": "hexad.audit.batch_recorder",
    "HushController": "hexad.audit.batch_recorder",
    "check_archive": "hexad.audit.retention",
    "check_export": "hexad.audit.export_file",
    "check_incident": "hexad.audit.export_file",
}


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as the names of `hexad` itself are.
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
