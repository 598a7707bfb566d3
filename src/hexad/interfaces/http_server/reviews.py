"""`/v1/audit`: the ledger, for tokens with the role `reviewer` that bring a reviewer's credential too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hexad.audit.log import AuditLog
from hexad.client.verbs import ROOT, Verb, signature_of
from hexad.errors import AccessDenied
from hexad.interfaces.http_server.tokens import Login

REVIEWER: Final = "reviewer"
HEADER: Final = "hexad-reviewer-credential"
CREDENTIAL: Final = "reviewer_credential"
FOLDER: Final = "audit"
REVIEW_VERBS: Final = tuple(
    Verb(name=name, method=method, path=f"{ROOT}/audit/{path}")
    for name, method, path in (
        ("audit.query", "GET", "records"),
        ("audit.verify", "POST", "verify"),
        ("audit.checkpoint", "POST", "checkpoint"),
        ("audit.incidents.list", "GET", "incidents"),
        ("audit.incidents.get", "GET", "incident"),
        ("audit.incidents.mark", "POST", "incidents"),
    )
)
"""What a reviewer may ask over HTTP; reviewers are made, and records archived and erased, where the ledger lies."""


def require_reviewer(login: Login) -> None:
    """Raise `AccessDenied` for whoever is no reviewer; the store's owner is none by that alone."""
    if login.role != REVIEWER:
        raise AccessDenied(
            f"The ledger is for the role {REVIEWER!r}, and this token has the role {login.role!r};",
            remedy=f"`hexad serve token add --role {REVIEWER}` makes one.",
        )


def review(store: Path, key: Any, verb: Verb, values: Mapping[str, Any], credential: str) -> Any:
    """Ask the ledger of a store; raises what the call raises."""
    arguments = dict(values)
    if CREDENTIAL in signature_of(verb).parameters:
        arguments[CREDENTIAL] = credential
    with AuditLog(store / FOLDER, key=key) as log:
        target: Any = log.incidents if verb.facade == "audit.incidents" else log
        return getattr(target, verb.call)(**arguments)
