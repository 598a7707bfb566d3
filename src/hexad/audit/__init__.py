"""The audit ledger: written by the system, read by reviewers; nothing of the agent's own API leads here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hexad.model.audit import AuditRecord, Reviewer, Verification

if TYPE_CHECKING:
    from hexad.audit.log import AuditLog
    from hexad.audit.writer import AuditLogWriter

__all__ = ["AuditLog", "AuditLogWriter", "AuditRecord", "Reviewer", "Verification"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as the names of `hexad` itself are.
    if name == "AuditLog":
        from hexad.audit.log import AuditLog

        return AuditLog
    if name == "AuditLogWriter":
        from hexad.audit.writer import AuditLogWriter

        return AuditLogWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
