"""Erasure: what is to be forgotten, what was, and the receipt that says so.

A selection names data by conditions that must all hold. What it reaches is memories, the stream of experience, and
documents; a condition that one of them does not know keeps the selection out of it (a path: memories alone).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Final, Protocol

from hexad.core.arguments import parse_time, quoted
from hexad.core.as_json import as_json
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

_TEXTS: Final = ("space", "source", "tag", "path", "session", "subject")
_LONGEST: Final = 4_096
MANY: Final = 1_000
"""Memories that a receipt names as flagged; how many there are is counted beyond."""
MENTIONS: Final = 200
"""Memories, and records besides, that a receipt lists because they name the person."""


TIMESTEPS: Final = "timesteps"
UNREAD: Final = "segments that cannot be read"
"""The place of what waits until these are put back; then the erasure is under way again."""


class Realm(StrEnum):
    """What there is to erase from."""

    MEMORIES = "memories"
    STREAM = "stream"
    DOCUMENTS = "documents"


_REACH: Final[Mapping[str, frozenset[Realm]]] = {
    "space": frozenset({Realm.MEMORIES}),
    "source": frozenset({Realm.MEMORIES}),
    "path": frozenset({Realm.MEMORIES}),
    "tag": frozenset(Realm),
    "session": frozenset({Realm.MEMORIES, Realm.STREAM}),
    "subject": frozenset(Realm),
    "before": frozenset({Realm.MEMORIES, Realm.STREAM}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is to be forgotten: everything for which all that is given holds. Made by `parse_selection`.

    `id` is one memory's id or path; it stands alone, or with `space`. `source` is a source's name, an item of one, or
    a prefix of items that ends in `/`; `path` takes what is at or below it; `session` is a recorded one or a
    conversation's; `subject` is a person whose data it is; `before` leaves its moment out. `project` is all that is in
    no space and no session: documents, and what the ledger says; only a wipe of the project selects it.
    """

    id: str | None = None
    space: str | None = None
    source: str | None = None
    tag: str | None = None
    path: str | None = None
    session: str | None = None
    subject: str | None = None
    before: datetime | None = None
    project: bool = False

    @property
    def realms(self) -> frozenset[Realm]:
        """What it reaches: where every condition that is given means something."""
        if self.id is not None:
            return frozenset({Realm.MEMORIES})
        if self.project:
            return frozenset({Realm.DOCUMENTS})
        found_realms = frozenset(Realm)
        for name, realms in _REACH.items():
            if getattr(self, name) is not None:
                found_realms &= realms
        return found_realms

    def to_dict(self) -> dict[str, JSONValue]:
        """Return what is given, as JSON."""
        document: dict[str, JSONValue] = {
            name: getattr(self, name) for name in ("id", *_TEXTS) if getattr(self, name) is not None
        }
        if self.before is not None:
            document["before"] = format_time(self.before)
        return {**document, "project": True} if self.project else document


def parse_selection(fields: Mapping[str, object]) -> Selection:
    """Return the selection of these conditions by name; those that are None are not given.

    Raises `InvalidInput` where none is given, for one that is no text or an empty one, for a time that cannot be read,
    for an id beside other conditions, and for a name that is no condition.
    """
    if dict(fields) == {"project": True}:
        return Selection(project=True)
    unknown = sorted(set(fields) - {"id", "before", *_TEXTS})
    if unknown:
        known = ", ".join(("id", *_TEXTS, "before"))
        raise InvalidInput(f"{unknown[0]!r} is nothing to select by; choose from {known}.")
    before = fields.get("before")
    if before is not None and not isinstance(before, str | date):
        raise InvalidInput(
            f"Cannot parse before = {quoted(before)} as a time; give a datetime, or ISO 8601 such as 2026-05-01.",
            argument="before",
        )
    texts = {name: _text(fields.get(name), name) for name in ("id", *_TEXTS)}
    chosen = Selection(**texts, before=parse_time(before, "before"), project=False)
    document = chosen.to_dict()
    if not document:
        raise InvalidInput(
            "Nothing says what to forget; name a memory, or give space, source, tag, path, session, subject or before."
        )
    if chosen.id is not None and set(document) - {"id", "space"}:
        raise InvalidInput(
            f"{chosen.id!r} names one memory; leave out {', '.join(sorted(set(document) - {'id', 'space'}))}, "
            "or leave out the memory."
        )
    if not chosen.realms:
        raise InvalidInput(f"{', '.join(document)} have nothing in common: nothing can be all of that.")
    return chosen


def _text(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} = {quoted(value)} selects nothing; give a text.", argument=name)
    if len(value) > _LONGEST or "\0" in value:
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be used; give up to {_LONGEST} characters.", argument=name
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """How much went from one place, named in words: `memories`, `stream rows`, `COLD records`.

    `bytes` is what had to be written anew or was removed, as far as that is known; a dry run does not say.
    """

    place: str
    count: int
    bytes: int = 0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What could not be done yet: where, why, and in `work` what is needed to do it.

    `work` stays in the store until it is done, whatever it names, and is in no receipt and on no ledger. `no` is the
    number under which it waits, None before it does.
    """

    place: str
    reason: str
    work: Mapping[str, JSONValue] = field(default_factory=dict)
    no: int | None = None

    @property
    def unread(self) -> int:
        """How many timesteps, which nobody could read, count as erased once this is done."""
        unread = self.work.get("unread", 0)
        return unread if isinstance(unread, int) else 0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return place and reason as JSON."""
        return as_json(self, "place", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftInPlace:
    """What the selection names and the call left alone: where, how many, and why."""

    place: str
    count: int
    reason: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A memory or another record that names the person, does not say that it is about them, and stays."""

    memory_id: str | None = None
    """None for what is no memory."""
    text: str
    """How it begins; what reads as instructions to a model is only called so."""
    place: str = "memories"
    """The list of the export that it is in, such as `working_sets` or `documents`; `events` for what was recorded."""
    id: str = ""
    """Its id in that list, empty for a memory; `session:tick` of an event."""
    session: str | None = None
    """The session that it goes with: `forget(session=…)` erases it."""

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


class ErasureBook(Protocol):
    """Where an eraser notes what it does. Every note joins the transaction around it: it is there as the work is."""

    @property
    def id(self) -> str:
        """The erasure's id."""

    @property
    def at(self) -> datetime:
        """When it was asked for; what came later is not meant."""

    @property
    def last_memory(self) -> int:
        """The row of the newest memory then; those with higher numbers came later."""

    @property
    def roles(self) -> tuple[str, ...] | None:
        """The roles of whoever asked, None for the owner; what they may not see is left alone."""

    @property
    def trial(self) -> bool:
        """Whether the transaction around is undone at its end: then files, and what is in memory, are left alone."""

    def erased(self, place: str, count: int, bytes: int = 0) -> None:
        """Add to what went from a place; nothing is noted for nothing."""

    def pending(self, place: str, reason: str, work: Mapping[str, JSONValue]) -> None:
        """Note what is left to do; `complete` is handed it until it is done."""

    def flag(self, memory_id: str) -> None:
        """Name a memory that rests on what went, and that somebody should look at."""

    def on_ledger(
        self,
        *,
        session: str | None = None,
        ticks: Sequence[tuple[int, int]] | None = None,
        subject: str | None = None,
        everything: bool = False,
    ) -> None:
        """Have the ledger's contents go: of a session, of these ranges of its ticks, of a subject, or all of them."""

    def memories_of(self, records: Sequence[str], *, times: tuple[datetime, datetime] | None = None) -> None:
        """Have the memories of these compactions and COLD records go: it is done after the transaction, surely.

        With `times`, both ends included, also the archived memories of records that are no more (they became part of
        coarser ones) and that tell of any moment in between. Those that the selection itself names go anyway; the
        others are noted as `memories of experience`.
        """


class Eraser(Protocol):
    """Erases from one realm, for good. There is one for memories, and one for the stream with its documents.

    `erase` may be called again for one erasure, after a kill at any point: it then does what is left. It notes in the
    transaction that does the work, leaves nothing of what the notes say is gone, and raises only before the first one.
    """

    def prepare(self, selection: Selection, *, at: datetime) -> object:
        """Do what of a trial is slow or touches files, before it has the turn to write; `erase` is handed it."""

    def erase(self, selection: Selection, book: ErasureBook, prepared: object = None) -> None:
        """Erase what is selected and noted at or before `book.at`, and all that was made of it."""

    def complete(self, waiting: Pending, book: ErasureBook) -> bool:
        """Do what waits, one note of this eraser's; False leaves it waiting. What is done is noted in the book.

        In a trial only what is in the database is done; of files is noted which there are.
        """

    def places(self) -> frozenset[str]:
        """Return the places of the pending notes that `complete` of this eraser takes."""


class RecordingEraser(Eraser, Protocol):
    """The eraser of the stream, which also finds what was recorded."""

    def events_with(self, words: str, *, limit: int) -> Iterable[tuple[str, int, str]]:
        """Return session, first tick and text of events whose text has all of the words."""

    def require_logs(self) -> None:
        """Raise `IntegrityError` for a log that is damaged or gone: what it holds of a selection nobody could tell."""

    def contract(self) -> str:
        """Return the document of the lifecycle contract, empty without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What one call of `forget` did. The store keeps all of it but `selection`, `kept`, `files`, `mentions` and
    `key`.

    `selection_mac` is an HMAC of id, time, purge and selection under `key`; it stands on the ledger, so that whoever
    holds the receipt can show what was erased, and nobody else can guess it. `erased` counts by place; `pending` is
    what another process still holds, or is in a segment that cannot be read, and `maintain` completes; `kept` is what
    was left alone. `flagged` are memories that rest on what went and stay for somebody to look at; `files` are exports
    that were removed, and that the store does not remember. `mentions` are memories and records that still name the
    `subject` of the selection, at most 200: their `data_subjects` do not say that they are about them, and
    `forget(id, purge=True)` erases one. `ledger_seq` is the record on the ledger, None while it is not there.
    Without `purge` memories are archived, and `restore` brings them back. A `dry_run` changed nothing.
    """

    id: str
    at: datetime
    actor: str
    purge: bool
    dry_run: bool = False
    selection: Selection | None
    erased: Sequence[Erased] = ()
    pending: Sequence[Pending] = ()
    kept: Sequence[LeftInPlace] = ()
    flagged: Sequence[str] = ()
    files: Sequence[str] = ()
    mentions: Sequence[Mention] = ()
    selection_mac: str
    key: str | None = field(default=None, repr=False)
    mac: str | None = None
    ledger_seq: int | None = None

    def count(self, place: str) -> int:
        """Return how many went from a place."""
        return sum(entry.count for entry in self.erased if entry.place == place)

    def verify(self) -> bool:
        """Whether the receipt is as its holder had it: both HMACs hold. False for one without its key.

        The key is in it, so that this finds accidents and changes by others, and not what its holder signs anew: `mac`
        as it was given out is in the store (`Hexad.erasures`), and `selection_mac` on the ledger.
        """
        if self.key is None or self.selection is None or self.mac is None:
            return False
        key = bytes.fromhex(self.key)
        return _is_mac(
            self.selection_mac, selection_mac(key, self.id, self.at, self.selection, purge=self.purge)
        ) and _is_mac(self.mac, _receipt_mac(self))

    def signed(self, key: bytes) -> ErasureReceipt:
        """Return the receipt with its key and the HMAC over all that does not change any more."""
        keyed = replace(self, key=key.hex())
        return replace(keyed, mac=_receipt_mac(keyed))

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the receipt as JSON; the key is in it, where it is there."""
        return {
            **_settled(self),
            "pending": [entry.to_dict() for entry in self.pending],
            "mentions": [entry.to_dict() for entry in self.mentions],
            "key": self.key,
            "mac": self.mac,
            "ledger_seq": self.ledger_seq,
        }

    def to_json(self) -> str:
        """Return `to_dict` as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def parse_receipt(given: Mapping[str, JSONValue] | str) -> ErasureReceipt:
    """Return the receipt that `to_dict` or `to_json` wrote; raises `InvalidInput` for what is none."""
    try:
        document = json.loads(given if isinstance(given, str) else json.dumps(given))
        selection, at = document["selection"], parse_time(document["at"], "at")
        read = ErasureReceipt(
            id=document["id"],
            at=at or datetime.min,
            actor=document["actor"],
            purge=document["purge"],
            dry_run=document["dry_run"],
            selection=None if selection is None else parse_selection(selection),
            erased=tuple(Erased(**entry) for entry in document["erased"]),
            pending=tuple(
                Pending(place=entry["place"], reason=entry["reason"]) for entry in document["pending"]
            ),
            kept=tuple(LeftInPlace(**entry) for entry in document["kept"]),
            flagged=tuple(document["flagged"]),
            files=tuple(document["files"]),
            mentions=tuple(Mention(**entry) for entry in document.get("mentions", ())),
            selection_mac=document["selection_mac"],
            key=document["key"],
            mac=document["mac"],
            ledger_seq=document["ledger_seq"],
        )
        texts = (
            read.id,
            read.actor,
            read.selection_mac,
            read.mac or "",
            read.key or "",
            *read.flagged,
            *read.files,
            *(
                part
                for entry in read.mentions
                for part in (entry.memory_id or "", entry.text, entry.place, entry.id)
            ),
        )
        numbers = (
            read.ledger_seq or 0,
            *(entry.count for entry in read.erased),
            *(entry.count for entry in read.kept),
        )
        right = all(isinstance(text, str) for text in texts) and all(
            type(number) is int for number in numbers
        )
        if at is None or not right or type(read.purge) is not bool or type(read.dry_run) is not bool:
            raise TypeError("a field is not of the kind that receipts have")
        bytes.fromhex(read.key or "")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"This is no receipt of an erasure: {error!r}.") from error
    return read


def selection_mac(key: bytes, erasure: str, at: datetime, selection: Selection, *, purge: bool) -> str:
    """Return the HMAC that stands on the ledger for what was selected."""
    return _mac(key, {"id": erasure, "at": format_time(at), "purge": purge, "selection": selection.to_dict()})


def _is_mac(stated: str, right: str) -> bool:
    # As bytes: of texts it takes those of ASCII alone, and this one came from anywhere.
    return hmac.compare_digest(stated.encode("utf-8", "replace"), right.encode())


def _receipt_mac(receipt: ErasureReceipt) -> str:
    return _mac(bytes.fromhex(receipt.key or ""), _settled(receipt))


def _settled(receipt: ErasureReceipt) -> dict[str, JSONValue]:
    """What a receipt says that does not change when pending work is done."""
    return {
        "id": receipt.id,
        "at": format_time(receipt.at),
        "actor": receipt.actor,
        "purge": receipt.purge,
        "dry_run": receipt.dry_run,
        "selection": None if receipt.selection is None else receipt.selection.to_dict(),
        "selection_mac": receipt.selection_mac,
        "erased": [entry.to_dict() for entry in receipt.erased],
        "kept": [entry.to_dict() for entry in receipt.kept],
        "flagged": list(receipt.flagged),
        "files": list(receipt.files),
    }


def _mac(key: bytes, document: Mapping[str, JSONValue]) -> str:
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


_MASK: Final = "erased:"


def masked_item(key: bytes, name: str) -> str:
    """Return what stands for an erased name: nobody without the key can tell which it was."""
    return _MASK + hmac.new(key, name.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]


def is_masked(name: str) -> bool:
    """Whether a name stands for an erased one."""
    return name.startswith(_MASK)


def ledger_work(
    *,
    session: str | None = None,
    ticks: Sequence[tuple[int, int]] | None = None,
    subject: str | None = None,
    everything: bool = False,
) -> dict[str, JSONValue]:
    """Return how it is written down which contents the ledger has to destroy."""
    listed = None if ticks is None else [list[JSONValue](tick) for tick in ticks]
    return {"session": session, "ticks": listed, "subject": subject, "everything": everything}
