"""What a project says of personal data, and of whom one may ask for everything that is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from hexad.core.arguments import quoted
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

if TYPE_CHECKING:
    from hexad.core.erasure import ErasureReceipt


class Scope(StrEnum):
    """What `export`, and `hexad memory list|wipe|export --scope`, are about."""

    USER = "user"
    """What is known of a person across projects, in the user layer."""
    PROJECT = "project"
    """All of the store."""
    SESSION = "session"
    """One session: the memories of that conversation, and what was recorded of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportItem:
    """One record of an export, and the list that it belongs to; items of one list come together.

    The first one, of the list `export`, says what the export is of, what it leaves out, and where that is.
    """

    section: str
    value: Mapping[str, JSONValue]


def parse_scope(scope: str, session: str | None) -> Scope:
    """Return the scope of that name; a session is named for `session`, and for nothing else.

    Raises `InvalidInput`.
    """
    try:
        found_scope = Scope(scope)
    except ValueError:
        valid = ", ".join(member.value for member in Scope)
        raise InvalidInput(f"scope = {quoted(scope)} is not one of {valid}.", argument="scope") from None
    if (found_scope is Scope.SESSION) != (session is not None):
        raise InvalidInput(
            "Scope 'session' needs a session's id; give session."
            if session is None
            else f"session = {quoted(session)} goes with scope 'session', not with {scope!r}."
        )
    if session is not None and (not isinstance(session, str) or not session):
        raise InvalidInput(f"session = {quoted(session)} is no session's id.", argument="session")
    return found_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeReport:
    """What a wipe removed for good, or after a dry run would remove. Each receipt stands for one part of it.

    `tags`, `nodes` that somebody added to the honeycomb, and `contracts` of which only the limits stay are those of the
    whole project; no receipt counts them.
    `user` are rows of the user layer.
    """

    scope: Scope
    session: str | None
    dry_run: bool
    receipts: Sequence[ErasureReceipt] = ()
    tags: int = 0
    user: Mapping[str, int] = field(default_factory=dict)
    nodes: int = 0
    contracts: int = 0

    @property
    def documents(self) -> int:
        """How many documents went, those that had been removed too."""
        return self.counts().get("documents", 0)

    def counts(self) -> dict[str, int]:
        """Return how much of what there was, by place; what is in a space and in a session too counts once."""
        counts: dict[str, int] = {}
        whole = [
            receipt
            for receipt in self.receipts
            if receipt.selection is not None and (receipt.selection.space or receipt.selection.project)
        ]
        places = {entry.place for receipt in whole for entry in receipt.erased} if self.dry_run else set()
        for receipt in self.receipts:
            for entry in receipt.erased:
                if receipt in whole or entry.place not in places:
                    counts[entry.place] = counts.get(entry.place, 0) + entry.count
        counts.update(self.user)
        also = {"tags": self.tags, "nodes of the honeycomb": self.nodes, "contracts": self.contracts}
        return {**counts, **{place: number for place, number in also.items() if number}}

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON, with the receipts whole."""
        return {
            "scope": self.scope.value,
            "session": self.session,
            "dry_run": self.dry_run,
            "removed": dict(self.counts()),
            "receipts": [receipt.to_dict() for receipt in self.receipts],
        }
