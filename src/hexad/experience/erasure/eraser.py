"""Erasing experience and documents for good: what is chosen, the transaction that takes it, the files afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hexad.core.clock import format_time
from hexad.core.erasure import Erased, ErasureBook, Pending, Plan, Realm, Selection, ledger_work
from hexad.core.ids import IdSource
from hexad.core.json_types import JSONValue
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database.connection import Database
from hexad.errors import StorageFailure, StoreLocked
from hexad.experience.documents.repository import DocumentRepository
from hexad.experience.erasure.choice import Choice, Chooser
from hexad.experience.erasure.documents import COPIES, DOCUMENTS, ErasedDocuments
from hexad.experience.erasure.files import ErasedStream
from hexad.experience.erasure.taking import FILES, PACKAGES, ROWS, Prepared, Taking
from hexad.experience.erasure.targets import ErasedTargets
from hexad.experience.query.totals import range_totals
from hexad.experience.stream_database import Experience
from hexad.experience.submissions.evidence import EvidencePackages
from hexad.experience.tables.tag_applications import TagApplications
from hexad.experience.tagging import StreamEvents
from hexad.privacy.memory_rows import ErasedMemories

_ATTEMPTS: Final = 8
_NOT_YET: Final = "not done yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEraserNeeds:
    """What is handed in; `shortened` makes one text of several, in at most so many tokens, with their number.

    `key` makes what stands for the names of an erased session.
    """

    db: Database
    ids: IdSource
    experience: Experience
    evidence: EvidencePackages
    documents: DocumentRepository
    shortened: Callable[[Sequence[str], int], tuple[str, int]]
    key: Callable[[], bytes]


@dataclass(slots=True)
class _DryBook:
    """Counts what would go; `remembered` says which memories tell of records."""

    at: datetime
    remembered: Callable[[Sequence[str], Sequence[str] | None], Sequence[int]]
    id: str = "dry-run"
    last_memory: int = 0
    roles: tuple[str, ...] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    packages: list[str] = field(default_factory=list)
    works: list[Mapping[str, JSONValue]] = field(default_factory=list)
    memories: Sequence[int] = ()

    def erased(self, place: str, count: int, bytes: int = 0) -> None:  # noqa: ARG002
        """Count it."""
        self.counts[place] += count

    def pending(self, place: str, reason: str, work: Mapping[str, JSONValue]) -> None:  # noqa: ARG002
        """Keep which packages would go."""
        if place == PACKAGES:
            self.packages.append(str(work["submission"]))

    def flag(self, memory_id: str) -> None:
        """Do nothing."""

    def on_ledger(
        self,
        *,
        session: str | None = None,
        ticks: Sequence[tuple[int, int]] | None = None,
        subject: str | None = None,
        everything: bool = False,
    ) -> None:
        """Keep what the ledger would have to destroy."""
        self.works.append(ledger_work(session=session, ticks=ticks, subject=subject, everything=everything))

    def memories_of(self, records: Sequence[str], *, times: tuple[datetime, datetime] | None = None) -> None:
        """Look for them as long as what they tell of is gone."""
        self.memories = self.remembered(records, times and [format_time(time) for time in times])


class _Undone(Exception):
    """Ends a transaction that was only to be looked at."""


class StreamEraser:
    """Erases from the stream, what stands for it and what is said of it, and documents."""

    def __init__(self, needs: StreamEraserNeeds) -> None:
        self._needs, self._db, self._experience = needs, needs.db, needs.experience
        self._events = StreamEvents(needs.experience)
        self._applications, self._targets = TagApplications(needs.db), ErasedTargets(needs.db)
        self._chooser = Chooser(needs.db, needs.experience.reader, tagged=self._tagged, key=needs.key)
        self._taking = Taking(needs.db, ids=needs.ids, shortened=needs.shortened, key=needs.key)
        self._files = ErasedStream(
            needs.db, needs.experience.sealer, give_away=needs.experience.recorder.rotate
        )
        self._documents = ErasedDocuments(needs.db, needs.documents.copies_directory)

    def places(self) -> frozenset[str]:
        """Return the places of the pending notes that `complete` takes."""
        return frozenset({FILES, PACKAGES, COPIES})

    def plan(self, selection: Selection) -> Plan:
        """Return what `erase` and its `complete` would note: it is done, and undone."""
        book = _DryBook(self._db.clock.now(), ErasedMemories(self._db).remembered)
        if Realm.STREAM in selection.realms:
            self._stream(selection, book, undo=True)
            book.erased(PACKAGES, sum(map(self._needs.evidence.has, set(book.packages))))
        if Realm.DOCUMENTS in selection.realms:
            chosen = self._documents.chosen(selection)
            book.erased(DOCUMENTS, len(chosen))
            book.erased(COPIES, self._documents.copies(chosen))
        erased = [Erased(place=place, count=count) for place, count in sorted(book.counts.items()) if count]
        return Plan(erased=erased, on_ledger=book.works, memories=book.memories)

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Erase what was recorded up to `book.at` and is selected; what files hold of it is noted as pending."""
        if Realm.STREAM in selection.realms:
            choice = self._stream(selection, book)
            for session in choice.sessions:
                if session.whole:
                    self._experience.let_go(session.id, session.number)
                self._experience.accounts.forget(session.number)
        if Realm.DOCUMENTS in selection.realms:
            self._documents.erase(selection, book)

    # The stream -------------------------------------------------------------------------------------------------

    def _stream(self, selection: Selection, book: ErasureBook, *, undo: bool = False) -> Choice:
        """Choose and take in one transaction; where things moved in between, choose again."""
        at = book.at
        for attempt in range(_ATTEMPTS):
            self._experience.flush()
            choice = self._chooser.choose(selection, at=at)
            if not choice.sessions and choice.state is not None:
                return choice
            if undo and self._db.readonly:
                raise StorageFailure(
                    "What is selected reaches recorded experience, and what would go of that is found out by a "
                    f"transaction that is undone: {self._db.path} was opened read-only. Open it for writing for "
                    "this dry run; nothing was changed."
                )
            prepared = self._prepared(choice)
            try:
                with self._db.transaction():
                    if attempt == _ATTEMPTS - 1:  # nobody can move anything now
                        choice = self._chooser.choose(selection, at=at)
                        prepared = self._prepared(choice)
                    elif choice.state is None or choice.state != self._chooser.state(
                        [session.number for session in choice.sessions]
                    ):
                        continue
                    self._taking.take(choice, prepared, book)
                    if undo:
                        raise _Undone
                    break
            except _Undone:
                break
        return choice

    def _prepared(self, choice: Choice) -> Prepared:
        tokens: dict[int, int] = {}
        events: dict[str, Mapping[str, Ranges]] = {}
        for session in choice.sessions:
            if session.whole:
                continue
            for no, ticks in self._targets.windows(session.number):
                kept = intersection(session.rest, [ticks])
                if kept and intersection(session.touched, [ticks]):
                    found = range_totals(self._experience.reader, {session.id: kept})
                    tokens[no] = sum(part.tokens for part in found)
            named = self._targets.open_events(session.id)
            if named:
                where = self._events.ticks_of(session.id, named)
                events[session.id] = {event: union(ranges) for event, ranges in where.items()}
        return Prepared(tokens=tokens, events=events)

    def _tagged(self, name: str) -> tuple[Mapping[str, Ranges], frozenset[str]]:
        """Return where tags of exactly this name are, by session, and which tags these are; nothing is inherited."""
        tags = self._targets.tags_named(name)
        found: dict[str, Ranges] = {}
        for session, placed in self._applications.placed(tags).items():
            ranges = [*placed.ranges, *(known for _, known in placed.events if known is not None)]
            waiting = [event for event, known in placed.events if known is None]
            if waiting:
                for where in self._events.ticks_of(session, waiting).values():
                    ranges += where
            found[session] = union(ranges)
        return found, frozenset(tags)

    # What is left to do -----------------------------------------------------------------------------------------

    def complete(self, waiting: Pending, book: ErasureBook) -> bool:
        """Do what waits; raises `StoreLocked` that names who holds it, False where that is known already."""
        if waiting.place == PACKAGES:
            size = self._needs.evidence.erase(str(waiting.work["submission"]))
            book.erased(PACKAGES, int(size is not None), size or 0)
            return True
        if waiting.place == COPIES:
            self._documents.remove_copies(waiting.work)
            return True
        return self._taken_out(waiting, book)

    def _taken_out(self, waiting: Pending, book: ErasureBook) -> bool:
        given = waiting.work["sessions"]
        sessions = [int(str(session)) for session in given] if isinstance(given, list) else []
        if not self._files.left(sessions):
            return True
        taken = self._files.take_out()
        book.erased(ROWS, 0, taken.bytes)
        if not self._files.left(sessions):
            return True
        reason = "; ".join(sorted(taken.held_by)) or _NOT_YET
        if reason != waiting.reason:
            raise StoreLocked(reason)
        return False
