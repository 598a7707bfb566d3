"""Erasing experience and documents for good: what is chosen, the transaction that takes it, the files afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from hexad.core.erasure import TIMESTEPS, UNREAD, ErasureBook, Pending, Realm, Selection
from hexad.core.ids import IdSource
from hexad.core.json_types import JSONValue
from hexad.core.tick_ranges import Ranges, count, difference, intersection, union
from hexad.database.codec import from_micros
from hexad.database.connection import Database
from hexad.database.meta import Meta
from hexad.database.store_context import StoreContext
from hexad.errors import IntegrityError, StorageFailure, StoreLocked
from hexad.experience.documents import DocumentRepository
from hexad.experience.erasure.choice import Choice, Chooser, ChosenSession
from hexad.experience.erasure.rows import (
    COPIES,
    ColdRow,
    ErasedDocuments,
    ErasedTarget,
    ErasedTargets,
    StreamErasureRows,
)
from hexad.experience.evidence import EvidencePackages
from hexad.experience.query.totals import range_totals
from hexad.experience.stream.filters import placed
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.log import list_logs, lock_if_left, read_log
from hexad.experience.stream.sealing import Sealer
from hexad.experience.stream_database import Experience
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.cold_ranges import ColdRanges, range_columns
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.tags import Tags
from hexad.experience.tables.windows import SubmissionTable
from hexad.experience.tagging import StreamEvents
from hexad.experience.tiers.contract import CONTRACT
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tags import BudStatus
from hexad.experience.values.tiers import SubmissionStatus
from hexad.text.search_terms import search_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LOOKS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRewrite:
    """What came of it: bytes written anew, and in words which files still hold what, and why."""

    bytes: int = 0
    held_by: Sequence[str] = ()


class ErasedStream:
    """The erased ticks that files of one store still hold. `give_away` gives this process's own log to be sealed."""

    def __init__(self, db: Database, sealer: Sealer, *, give_away: Callable[[], None]) -> None:
        self._db, self._sealer, self._give_away = db, sealer, give_away
        self._cold = ColdRanges(db)

    def has_files_left(self, sessions: Sequence[int] | None = None) -> bool:
        """Whether a file may still hold erased ticks, of these sessions or of any."""
        erasing = self._cold.erasing()
        return bool(erasing) if sessions is None else not erasing.keys().isdisjoint(sessions)

    def take_out(self) -> FileRewrite:
        """Take out of the files what they hold of erased ticks; what another process writes to or holds stays."""
        if not self.has_files_left():
            return FileRewrite()
        self._give_away()
        size = 0
        for _ in range(_LOOKS):
            self._sealer.seal(all=True)
            with self._sealer.exclusively() as upkeep:
                if upkeep is None:
                    return FileRewrite(bytes=size, held_by=["another process is writing the stream's files"])
                # What is erased after this is looked for by whoever erases it.
                erasing = self._cold.erasing()
                written, problems, in_segments = upkeep.take_out(erasing)
                size += written
                in_logs, logs = self._in_logs(erasing)
                with self._db.transaction():
                    self._cold.erased_from_files(
                        {
                            session: difference(
                                ranges, union([*in_logs.get(session, ()), *in_segments.get(session, ())])
                            )
                            for session, ranges in erasing.items()
                        }
                    )
            # The program that wrote to a log may have ended since: then it is sealed with the next attempt.
            if not any(map(self._is_left, logs)):
                break
        return FileRewrite(bytes=size, held_by=[*problems, *map(self._log_problem, logs)])

    def _is_left(self, log: str) -> bool:
        lock = lock_if_left(self._sealer.logs / log)
        if lock is not None:
            os.close(lock)
        return lock is not None

    def _log_problem(self, log: str) -> str:
        if self._is_left(log):
            return f"stream/log/{log} is damaged and cannot be sealed"
        return f"stream/log/{log} is written to by process {log.partition('-')[0]}"

    def _in_logs(self, erasing: Mapping[int, Ranges]) -> tuple[dict[int, Ranges], list[str]]:
        """Return which of these ticks logs hold, and the names of these logs; of a damaged one nobody knows."""
        columns = range_columns(dict(erasing))
        log_ranges: dict[int, list[tuple[int, int]]] = {}
        names: list[str] = []
        retired = self._sealer.manifest.retired([path.name for path in list_logs(self._sealer.logs)])
        for path in list_logs(self._sealer.logs):
            if path.name in retired:
                continue
            try:
                log = read_log(path, cipher=self._sealer.cipher)
            except IntegrityError:
                names.append(path.name)
                for session, ranges in erasing.items():
                    log_ranges.setdefault(session, []).extend(ranges)
                continue
            here = {} if log is None else _ticks_in(log, columns)
            if here:
                names.append(path.name)
            for session, some in here.items():
                log_ranges.setdefault(session, []).extend(some)
        return {session: union(ranges) for session, ranges in log_ranges.items()}, names


def _ticks_in(log: Frames, columns: Mapping[str, NDArray[np.int64]]) -> dict[int, Ranges]:
    """Return which ticks in `columns`, as `range_columns` makes them, a log holds, by session."""
    import numpy as np

    ranges: dict[int, list[tuple[int, int]]] = {}
    for frame in log.frames:
        numbers: dict[str, NDArray[Any]] = frame.numbers
        inside = placed(numbers, columns)
        sessions, ticks = numbers["session"][inside], numbers["tick"][inside]
        for session in np.unique(sessions).tolist():
            mine = np.unique(ticks[sessions == session])
            breaks = np.flatnonzero(np.diff(mine) > 1)
            firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(mine) - 1)
            ranges.setdefault(session, []).extend(
                zip(mine[firsts].tolist(), mine[lasts].tolist(), strict=True)
            )
    return {session: union(ranges) for session, ranges in ranges.items()}


RECORDS: Final = "COLD records"
EMPTIED: Final = "COLD records left without texts"
COMPACTIONS: Final = "compactions"
APPLICATIONS: Final = "tag applications"
NOTES: Final = "notes of tag applications"
COMMENTS: Final = "comments"
WINDOWS: Final = "windows"
SUBMISSIONS: Final = "submissions"
SESSIONS: Final = "sessions"
FILES: Final = "files of the stream"
PACKAGES: Final = "evidence packages"

GONE: Final = "Part of what this told of was erased; of the rest only how much it was is left."
"""The summary of what stood for erased timesteps and others, which cannot be told apart any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureLookup:
    """What was looked up in the stream before the transaction: tokens that windows keep, ticks of tagged events."""

    tokens: Mapping[int, int]
    events: Mapping[str, Mapping[str, Ranges]]


class RowRemoval:
    """Takes a choice out of the store, in the caller's transaction. `shortened` makes one text of several, in at most
    so many tokens, and says how many it has.
    """  # fmt: skip

    def __init__(
        self,
        db: Database,
        *,
        ids: IdSource,
        shortened: Callable[[Sequence[str], int], tuple[str, int]],
        key: Callable[[], bytes],
    ) -> None:
        self._db, self._ids, self._shortened = db, ids, shortened
        self._rows, self._targets = StreamErasureRows(db, key=key), ErasedTargets(db)
        self._departed, self._compressed = ColdRanges(db), ColdRecords(db)
        self._submissions, self._tags = SubmissionTable(db), Tags(db)

    def take(self, choice: Choice, prepared: ErasureLookup, book: ErasureBook) -> None:
        """Take all of it, and note what went."""
        ids: set[str] = set()
        for session in choice.sessions:
            ids.update(self._rows.remembered(session.id, None if session.whole else session.touched))
            self._departed.erase(session.number, session.ticks)
            # What is in a file that cannot be read is not erased before that is gone.
            book.erased(TIMESTEPS, count(session.live) - (0 if book.trial else count(session.unread)))
            book.erased(RECORDS, self._compressed.delete([reply.no for reply in session.replies]))
            ids |= self._take_compactions(session, book)
            self._take_targets(session, prepared, book)
            self._take_windows(session, prepared, book)
        ids |= self._take_records(choice, book)
        for session in choice.sessions:
            if session.whole:
                book.on_ledger(session=session.id)
                self._rows.empty_session(session.number, erasure=book.id, at=book.at)
                book.erased(SESSIONS, 1)
            elif session.ticks:
                book.on_ledger(session=session.id, ticks=session.ticks)
        if ids or choice.times:
            times = choice.times and (from_micros(choice.times[0]), from_micros(choice.times[1]))
            book.memories_of(sorted(ids), times=times)
        for session in choice.sessions:
            if session.unread:
                work: dict[str, JSONValue] = {"sessions": [session.number], "unread": count(session.unread)}
                book.pending(FILES, _NOT_YET, work)
        readable = [session for session in choice.sessions if session.ticks and not session.unread]
        touched: list[JSONValue] = [session.number for session in readable]
        if touched:
            book.pending(FILES, _NOT_YET, {"sessions": touched})

    # COLD records -----------------------------------------------------------------------------------------------

    def _take_records(self, choice: Choice, book: ErasureBook) -> set[str]:
        book.erased(RECORDS, self._compressed.delete([row.no for row in choice.removed]))
        known_rows = {row.no: row for row in choice.emptied}
        for no, timesteps in choice.recounts.items():
            if no not in known_rows:
                old = self._compressed.by_numbers([no])[no]
                tokens = old.token_count * timesteps // max(old.timesteps, 1)
                self._rows.recount(no, timesteps=timesteps, tokens=tokens)
        whole = {session.number for session in choice.sessions if session.whole}
        for row in choice.emptied:
            self._empty(row, choice.recounts.get(row.no, row.timesteps), whole)
        book.erased(EMPTIED, len(choice.emptied))
        return {row.id for row in (*choice.removed, *choice.emptied)}

    def _empty(self, row: ColdRow, timesteps: int, whole: set[int]) -> None:
        """Put a record without texts in the place of one; another one, so that whoever has read it starts anew."""
        record = self._compressed.by_numbers([row.no])[row.no]
        emptied = replace(
            record,
            id=self._ids.new(f"compressed-{record.level.name}"),
            summary=GONE,
            top_k_activations={},
            peaks={},
            significant_tags=(),
            source_record_ids=(),
            timesteps=timesteps,
            token_count=record.token_count * timesteps // max(record.timesteps, 1),
        )
        self._compressed.delete([row.no])
        self._compressed.add(emptied, sessions=[session for session in row.sessions if session not in whole])

    # Compactions ------------------------------------------------------------------------------------------------

    def _take_compactions(self, session: ChosenSession, book: ErasureBook) -> set[str]:
        """Remove the compactions that tell of what goes, or make them of the replies that stay."""
        compaction_ids: set[str] = set()
        departed: list[int] = []
        ticks = session.touched
        cold_ranges = self._departed.cold(session.number)
        replies = self._rows.replies(session.number)
        for compaction in self._rows.compactions(session.number):
            if not (session.whole or intersection(ticks, [compaction.ticks])):
                continue
            compaction_ids.add(compaction.id)
            if session.whole or not intersection(cold_ranges, [compaction.ticks]):
                departed.append(compaction.no)
                continue
            left_reply_nos = [reply.no for reply in replies if intersection(reply.ticks, [compaction.ticks])]
            texts = [text for text in self._rows.summaries_of(left_reply_nos) if text != GONE]
            most = max(len(compaction.summary) // 4, 1)
            summary, tokens = self._shortened(texts, most) if texts else self._shortened([GONE], len(GONE))
            self._rows.remake_compaction(
                compaction.no, id=self._ids.new("compaction"), summary=summary, tokens=tokens
            )
        self._rows.remove_compactions(departed)
        book.erased(COMPACTIONS, len(compaction_ids))
        self._make_context(session)
        return compaction_ids

    def _make_context(self, session: ChosenSession) -> None:
        """Make the summary in a session's window of what its compactions tell by now, if it tells of what goes."""
        through, summary, tokens = self._rows.context(session.number)
        if not summary or not (session.whole or intersection(session.touched, [(0, through)])):
            return
        texts = [row.summary for row in self._rows.compactions(session.number) if row.summary != GONE]
        self._rows.put_context(session.number, *(self._shortened(texts, tokens) if texts else ("", 0)))

    # Windows ----------------------------------------------------------------------------------------------------

    def _take_windows(self, session: ChosenSession, prepared: ErasureLookup, book: ErasureBook) -> None:
        """Remove windows of which nothing stays, and let others be of what does."""
        departed: list[int] = []
        touched: list[int] = []
        for no, ticks in self._targets.windows(session.number):
            if not (session.whole or intersection(session.touched, [ticks])):
                continue
            touched.append(no)
            rest = intersection(session.rest, [ticks])
            if rest:
                self._targets.narrow_window(no, (rest[0][0], rest[-1][1]), tokens=prepared.tokens.get(no, 0))
            else:
                departed.append(no)
        for submission in self._targets.submissions_of(touched):
            book.pending(PACKAGES, _NOT_YET, {"submission": submission})
        count_, ended = self._targets.remove_windows(departed)
        book.erased(WINDOWS, count_)
        book.erased(SUBMISSIONS, len(ended))
        for _, bud_id in ended:
            bud = self._tags.get(bud_id)
            waiting = self._submissions.find(status=SubmissionStatus.OPEN, bud_tag_id=bud_id)
            if bud is not None and bud.bud_status is BudStatus.TRAINING and not waiting:
                self._tags.set_bud_status(bud_id, BudStatus.COLLECTING)

    # Tags and comments ------------------------------------------------------------------------------------------

    def _take_targets(self, session: ChosenSession, prepared: ErasureLookup, book: ErasureBook) -> None:
        """Remove tag applications on what goes, and comments that touch it; an application that stays in part is of
        what stays, and its note goes: nobody can tell what that is about.
        """  # fmt: skip
        if session.whole:
            applications, comments = self._targets.of_session(session.id)
            book.erased(APPLICATIONS, self._targets.remove_applications(applications))
            book.erased(COMMENTS, self._targets.remove_comments(comments))
            return
        if not session.touched:
            return
        hull = (session.touched[0][0], session.touched[-1][1])
        events = prepared.events.get(session.id, {})
        departed: list[int] = []
        narrowed: dict[int, tuple[int, int] | None] = {}
        notes = 0
        for target in self._targets.applications(session.id, hull):
            hit, rest = _parts(target, session, events)
            if hit and not rest:
                departed.append(target.no)
            elif hit:
                new = (rest[0][0], rest[-1][1]) if target.ticks else None
                if target.has_text or new != target.ticks:
                    narrowed[target.no] = new
                    notes += target.has_text
        book.erased(APPLICATIONS, self._targets.remove_applications(departed))
        self._targets.narrow_applications(narrowed)
        book.erased(NOTES, notes)
        target_nos = [
            target.no
            for target in self._targets.comments(session.id, hull)
            if _parts(target, session, events)[0]
        ]
        book.erased(COMMENTS, self._targets.remove_comments(target_nos))


def _parts(
    target: ErasedTarget, session: ChosenSession, events: Mapping[str, Ranges]
) -> tuple[Ranges, Ranges]:
    """Return which of a target's ticks go, and which stay or may still come."""
    if target.ticks is not None:
        return intersection(session.touched, [target.ticks]), intersection(session.rest, [target.ticks])
    ticks = events.get(target.event_id or "", ())
    return intersection(session.touched, ticks), difference(ticks, session.ticks)


_ATTEMPTS: Final = 7
_NOT_YET: Final = "not done yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedErasure:
    """What was chosen and looked up before the transaction that takes it."""

    choice: Choice
    lookup: ErasureLookup


class StreamEraser:
    """Erases from the stream, what stands for it and what is said of it, and documents."""

    def __init__(
        self,
        context: StoreContext,
        *,
        experience: Experience,
        evidence: EvidencePackages,
        documents: DocumentRepository,
        shortened: Callable[[Sequence[str], int], tuple[str, int]],
    ) -> None:
        """`shortened` makes one text of several, in at most so many tokens, with their number."""
        db = context.db
        self._db, self._experience = db, experience
        self._evidence = evidence
        self._events = StreamEvents(experience)
        self._applications, self._targets = TagApplications(db), ErasedTargets(db)
        self._chooser = Chooser(db, experience.reader, tagged=self._tagged_ticks, key=context.salt)
        self._taking = RowRemoval(db, ids=context.ids, shortened=shortened, key=context.salt)
        self._files = ErasedStream(db, experience.sealer, give_away=experience.recorder.rotate)
        self._documents = ErasedDocuments(db, documents.copies_directory)

    def places(self) -> frozenset[str]:
        """Return the places of the pending notes that `complete` takes."""
        return frozenset({FILES, PACKAGES, COPIES, UNREAD})

    def events_with(self, words: str, *, limit: int) -> list[tuple[str, int, str]]:
        """Return session, first tick and text of events whose text has all of the words."""
        events = self._experience.recall_events(StepQuery(limit=limit), search_terms(words))
        return [(event.session_id, event.start_tick, event.content) for event in events]

    def require_logs(self) -> None:
        """Raise `IntegrityError` for a log that is damaged or gone."""
        self._experience.flush()
        self._experience.reader.sources(StepQuery())

    def contract(self) -> str:
        """Return the document of the lifecycle contract, empty without one."""
        return Meta(self._db).get(CONTRACT) or ""

    def prepare(self, selection: Selection, *, at: datetime) -> PreparedErasure | None:
        """Write what waits to be recorded, and choose; raises `StorageFailure` for experience that is only read."""
        return self._choose(selection, at=at) if Realm.STREAM in selection.realms else None

    def _choose(self, selection: Selection, *, at: datetime) -> PreparedErasure:
        self._experience.flush()
        prepared = self._chosen(selection, at=at)
        if prepared.choice.sessions and self._db.readonly:
            raise StorageFailure(
                "What is selected reaches recorded experience, and what would go of that is found out by a "
                f"transaction that is undone: {self._db.path} was opened read-only. Open it for writing for "
                "this dry run; nothing was changed."
            )
        return prepared

    def _chosen(self, selection: Selection, *, at: datetime) -> PreparedErasure:
        """Choose beside segments that cannot be read: of these what is known without reading them."""

        def choose() -> PreparedErasure:
            choice = self._chooser.choose(selection, at=at)
            return PreparedErasure(choice=choice, lookup=self._lookup(choice))

        return self._experience.reader.in_spite_of_damage(choose)[0]

    def erase(self, selection: Selection, book: ErasureBook, prepared: object = None) -> None:
        """Erase what was recorded up to `book.at` and is selected; what files hold of it is noted as pending."""
        if Realm.STREAM in selection.realms:
            if isinstance(prepared, PreparedErasure):
                self._take_within(selection, book, prepared)
            elif not book.trial:
                self._release(self._stream(selection, book))
        if Realm.DOCUMENTS in selection.realms:
            self._documents.erase(selection, book)

    # The stream -------------------------------------------------------------------------------------------------

    def _stream(self, selection: Selection, book: ErasureBook) -> Choice:
        """Choose and take in one transaction; where things moved in between, choose again."""
        for _ in range(_ATTEMPTS):
            prepared = self._choose(selection, at=book.at)
            choice = prepared.choice
            if not (choice.sessions or choice.unsure) and choice.state is not None:
                return choice
            with self._db.transaction():
                if self._is_as_it_was(choice):
                    self._taking.take(choice, prepared.lookup, book)
                    self._note_unsure(selection, choice, book)
                    return choice
        with self._db.transaction():  # nobody can move anything now
            return self._take_within(selection, book, prepared)

    def _take_within(self, selection: Selection, book: ErasureBook, prepared: PreparedErasure) -> Choice:
        """Take what was chosen, in the caller's transaction; where things moved since, choose again."""
        if not self._is_as_it_was(prepared.choice):
            prepared = self._chosen(selection, at=book.at)
        if prepared.choice.sessions:
            self._taking.take(prepared.choice, prepared.lookup, book)
        self._note_unsure(selection, prepared.choice, book)
        return prepared.choice

    def _note_unsure(self, selection: Selection, choice: Choice, book: ErasureBook) -> None:
        if choice.unsure:
            names = ", ".join(f"stream/segments/{name}" for name in choice.unsure)
            book.pending(
                UNREAD,
                f"{names} cannot be read and may hold more of what is to go: that is in it still. Put a backup in its "
                "place: `hexad maintain` then goes on with the erasure. If there is none, `hexad xdb accept-lost NAME` "
                "does so without what a segment held",
                {"segments": [*choice.unsure], "selection": selection.to_dict()},
            )

    def _is_as_it_was(self, choice: Choice) -> bool:
        state = choice.state
        return state is not None and state == self._chooser.state(
            [session.number for session in choice.sessions]
        )

    def _release(self, choice: Choice) -> None:
        for session in choice.sessions:
            if session.whole:
                self._experience.release(session.id, session.number)
            self._experience.accounts.forget(session.number)

    def _lookup(self, choice: Choice) -> ErasureLookup:
        tokens: dict[int, int] = {}
        events: dict[str, Mapping[str, Ranges]] = {}
        for session in choice.sessions:
            if session.whole:
                continue
            for no, ticks in self._targets.windows(session.number):
                rest = intersection(session.rest, [ticks])
                if rest and intersection(session.touched, [ticks]):
                    totals = range_totals(self._experience.reader, {session.id: rest})
                    tokens[no] = sum(part.tokens for part in totals)
            named = self._targets.open_events(session.id)
            if named:
                where = self._events.ticks_of(session.id, named)
                events[session.id] = {event: union(ranges) for event, ranges in where.items()}
        return ErasureLookup(tokens=tokens, events=events)

    def _tagged_ticks(self, name: str) -> tuple[Mapping[str, Ranges], frozenset[str]]:
        """Return where tags of exactly this name are, by session, and which tags these are; nothing is inherited."""
        tags = self._targets.tags_named(name)
        ticks_by_event: dict[str, Ranges] = {}
        for session, places in self._applications.placed(tags).items():
            ranges = [*places.ranges, *(known for _, known in places.events if known is not None)]
            waiting = [event for event, known in places.events if known is None]
            if waiting:
                for where in self._events.ticks_of(session, waiting).values():
                    ranges += where
            ticks_by_event[session] = union(ranges)
        return ticks_by_event, frozenset(tags)

    # What is left to do -----------------------------------------------------------------------------------------

    def complete(self, waiting: Pending, book: ErasureBook) -> bool:
        """Do what waits; raises `StoreLocked` that names who holds it, False where that is known already."""
        if book.trial:
            if waiting.place == PACKAGES:
                book.erased(PACKAGES, int(self._evidence.has(str(waiting.work["submission"]))))
            return True
        if waiting.place == PACKAGES:
            size = self._evidence.erase(str(waiting.work["submission"]))
            book.erased(PACKAGES, int(size is not None), size or 0)
            return True
        if waiting.place == UNREAD:
            return self._can_read(waiting)
        if waiting.place == COPIES:
            self._documents.remove_copies(waiting.work)
            return True
        return self._taken_out(waiting, book)

    def _can_read(self, waiting: Pending) -> bool:
        """Whether the segments that wait can be read by now, or are gone."""
        names, sealer = waiting.work["segments"], self._experience.sealer
        assert isinstance(names, list)
        return all(
            not sealer.manifest.has(str(name))
            or self._experience.reader.readable.is_readable(str(sealer.segments / str(name)))
            for name in names
        )

    def _taken_out(self, waiting: Pending, book: ErasureBook) -> bool:
        given_sessions = waiting.work["sessions"]
        sessions = (
            [int(str(session)) for session in given_sessions] if isinstance(given_sessions, list) else []
        )
        rewrite = self._files.take_out() if self._files.has_files_left(sessions) else FileRewrite()
        is_done = not self._files.has_files_left(sessions)
        with self._db.transaction():
            book.erased(TIMESTEPS, 0, rewrite.bytes)  # what nobody could read counts when it is settled, once
        if is_done:
            return True
        reason = "; ".join(sorted(rewrite.held_by)) or _NOT_YET
        if reason != waiting.reason:
            raise StoreLocked(reason)
        return False
