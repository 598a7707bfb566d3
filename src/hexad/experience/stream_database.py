"""The experience database of one store: sessions, recording, questions, upkeep."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from hexad.config import StreamDurability
from hexad.core.arguments import quoted
from hexad.core.tick_ranges import Ranges
from hexad.database.codec import to_micros
from hexad.database.encryption.cipher import EXPORTS, STREAM, cipher_of
from hexad.database.meta import Meta
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, IntegrityError, InvalidInput, NotFound
from hexad.experience.context.window_accounts import WindowAccounts
from hexad.experience.events.grouping import EventPlace, event_places, events_at
from hexad.experience.events.reader import EventReader, recall_text
from hexad.experience.query.activity import ActivityQuestion, activity
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import session_totals, was_recorded
from hexad.experience.recording.batches import Rows, batches, chunks, held_together
from hexad.experience.recording.moments import StreamIntake
from hexad.experience.recording.recorder import SESSIONS_MOST, Recorder, RecordFields
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.sealing import SEAL_AGE_S, Sealer
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tags.auto_tagger import AutoTagger
from hexad.experience.tags.visibility import ConceptVisibility, Lenses
from hexad.experience.tiers.contract import window_tokens
from hexad.experience.values.contract import LifecycleContract
from hexad.experience.values.lenses import parse_lenses
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.pressure import SessionTotals
from hexad.experience.values.records import (
    ActivityBucket,
    SessionInfo,
    StepQuery,
    StreamAnswer,
    StreamReport,
    TimestepRecord,
    Timesteps,
    parse_timestep_id,
)
from hexad.experience.values.tiers import CompressedRecord, EventRecord
from hexad.redaction.masking import Masking
from hexad.redaction.redact import RedactionRules
from hexad.text.search_terms import SearchTerms
from hexad.text.tokens import CharacterCounter

ALL_SESSIONS = "*"
LOOK_CALLS = 256
"""After so many calls recording looks whether another process loaded a pack: looking takes as long as ten records."""


class Experience:
    """Everything that `hx.xdb` delegates to.

    Without the setting `lenses` every concept may be seen; without `auto_tag_threshold` nothing is tagged by itself.
    """

    def __init__(self, context: StoreContext, *, rules: RedactionRules) -> None:
        settings, db, clock = context.settings, context.db, context.clock
        self._db, self._clock = db, clock
        self._sessions, self._compressed = Sessions(db), ColdRecords(db)
        self._departed = ColdRanges(db)
        self.masking = Masking(salt=context.salt, rules=rules)
        self.lenses = None if settings.lenses is None else Lenses(db, parse_lenses(settings.lenses))
        self.intake = StreamIntake(
            self.masking,
            counter=CharacterCounter(),
            permitted=None if self.lenses is None else self.lenses.refresh(),
        )
        self.visibility = ConceptVisibility(db, self.lenses)
        self._recorded_since_look = 0
        cipher, exports = (cipher_of(context.crypt, name) for name in (STREAM, EXPORTS))
        self._engine = DuckDbEngine(cipher, exports=exports)
        directory = context.directory / "stream"
        db.caches.add("duckdb", self._engine)
        if cipher is not None:
            db.caches.add("blocks of sealed files", self._engine.blocks)
        self.reader = StreamReader(db, directory, self._engine)
        self.events = EventReader(db, directory, self._engine, self.reader)
        self._tagger = None
        if settings.auto_tag_threshold is not None and not db.readonly:
            self._tagger = AutoTagger(
                db,
                directory / "log",
                ids=context.ids,
                masking=self.masking,
                lenses=self.lenses,
                threshold=settings.auto_tag_threshold,
                cipher=cipher,
            )
        mask, before = self.masking.answers, self._before_sealing
        self.sealer = Sealer(db, directory, self._engine, clock=clock, mask=mask, before=before)
        self.recorder = Recorder(
            self._sessions,
            directory / "log",
            clock=clock,
            durability=StreamDurability(settings.stream_durability),
            full=context.wake,
            note=Meta(db).note_log,
            cipher=cipher,
        )
        self.contract: Callable[[], LifecycleContract] = LifecycleContract
        self.compactions = Compactions(db)
        self.accounts = WindowAccounts(self.compactions, self.reader, self.recorder, directory / "log")
        self._current, self._wake = threading.local(), context.wake
        self._open: dict[str, int] = {}  # sessions that may be recorded to, with their numbers
        self._opening = threading.Lock()

    # Sessions ---------------------------------------------------------------------------------------------------

    def start(
        self,
        session_id: str,
        *,
        max_context_tokens: int | None = None,
        compaction: bool | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> None:
        """Make a session this thread's current one; create it, or go on with it after its highest tick.

        Its window, whether it compacts by itself, and whose data it is stay as they are where they are None.
        """
        self._db.require_writable()
        if not self.intake.name(session_id, "session_id").strip():
            raise InvalidInput(
                f"session_id = {quoted(session_id)} is blank; give a name by which somebody finds it again.",
                argument="session_id",
            )
        if session_id == ALL_SESSIONS:
            raise InvalidInput("A session cannot be called '*': that asks for all of them.")
        if compaction is not None and not isinstance(compaction, bool):
            raise InvalidInput(
                f"compaction = {quoted(compaction)} is neither True nor False.", argument="compaction"
            )
        contract = self.contract()
        number = self._sessions.start(
            session_id,
            max_context_tokens=window_tokens(max_context_tokens, contract),
            default_tokens=contract.context_window_tokens,
            most_tokens=contract.context_window_tokens if contract.active else None,
            auto_compact=compaction,
            data_subjects=None if data_subjects is None else self.intake.subjects(data_subjects),
            at=self._clock.now(),
        )
        self.recorder.resume(number, self._sessions.get(session_id).last_tick)
        self._go_on_with(session_id, number)
        self._current.id = session_id
        if self._tagger is not None:
            self._wake()

    def end(self, session_id: str | None) -> None:
        """End a session, this thread's current one by default; what was recorded is acknowledged first."""
        session = self.current if session_id is None else session_id
        if session is None:
            return
        number = self._sessions.number(session)
        if number is None:
            raise NotFound(
                f"There is no session {session!r};", remedy="`{sessions()}` lists those that there are."
            )
        self.acknowledge()
        self._sessions.end(number, at=self._clock.now())
        self._open.pop(session, None)
        self.accounts.close(number)
        if self.current == session:
            self._current.id = None

    def release(self, session_id: str, number: int) -> None:
        """Record no more to a session that was erased; the same id is another session from here on."""
        self._open.pop(session_id, None)
        self.accounts.close(number)
        if self.current == session_id:
            self._current.id = None

    @property
    def current(self) -> str | None:
        """This thread's current session."""
        return getattr(self._current, "id", None)

    def sessions(self) -> list[SessionInfo]:
        """Return all sessions in the order of their creation."""
        return self._sessions.list()

    def session_totals(self) -> SessionTotals:
        """Return how much there is of each session that has any experience."""
        self.recorder.flush()
        return SessionTotals(*self.reader.in_spite_of_damage(lambda: session_totals(self._db, self.reader)))

    def session(self, session_id: str) -> SessionInfo:
        """Return one session; raises `NotFound`."""
        return self._sessions.get(session_id)

    def current_or(self, session_id: str | None) -> str:
        """Return the given session, else this thread's current one; raises `InvalidInput` where there is none."""
        session = self.current if session_id is None else session_id
        if session is None:
            raise InvalidInput(
                "There is no current session;", remedy="{call start_session first, or }give {session_id}."
            )
        return session

    def last_tick(self, session_id: str) -> int:
        """Return the last tick of this process in the session, else the highest that may have been used."""
        number = self._open.get(session_id) or self._sessions.number(session_id)
        mine = None if number is None else self.recorder.last_tick(number)
        return self._sessions.get(session_id).last_tick if mine is None else mine

    def _number(self, session_id: str) -> int:
        number = self._open.get(session_id)
        if number is None:
            info = self._sessions.get(session_id)
            if info.ended_at is not None:
                raise Conflict(
                    f"Session {session_id!r} has ended;", remedy="`{start_session}` goes on with it."
                )
            number = self._sessions.number(session_id) or 0
            self._go_on_with(session_id, number)
        return number

    def _go_on_with(self, session_id: str, number: int) -> None:
        """Know a session as one that may be recorded to. Many never end: those that came first are looked up again."""
        with self._opening:
            self._open.pop(session_id, None)  # it comes last again
            self._open[session_id] = number
            while len(self._open) > SESSIONS_MOST:
                dropped = self._open.pop(next(iter(self._open)), None)
                if dropped is not None:
                    self.accounts.drop(dropped)
        self.accounts.open(number)

    # Recording --------------------------------------------------------------------------------------------------

    def record(
        self, session_id: str | None, fields: RecordFields, *, tick: int | None = None
    ) -> tuple[str, int]:
        """Record for a session, this thread's current one by default; return it, and the given tick or the next."""
        session, number = self._writable_session(session_id)
        tick_no = self.recorder.add(number, fields, tick)
        self.accounts.add(number, fields.tokens)
        return session, tick_no

    def record_many(self, session_id: str | None, rows: Rows) -> tuple[str, list[int]]:
        """Record rows, columns or Arrow for a session; return it, and the ticks, when all are acknowledged."""
        session, number = self._writable_session(session_id)
        ticks: list[int] = []
        for batch in held_together(batches(chunks(rows, self._engine), self.intake)):
            ticks += self.recorder.add_batch(number, batch)
            self.accounts.add(number, int(batch.tokens.sum()))
        self.acknowledge()
        return session, ticks

    def _writable_session(self, session_id: str | None) -> tuple[str, int]:
        """Return the session that is recorded to, and its number."""
        session = self.current_or(session_id)
        if not isinstance(session, str):
            raise InvalidInput(f"session_id must be a string, not {quoted(session)}.", argument="session_id")
        if self.lenses is not None:
            self._recorded_since_look += 1
            if self._recorded_since_look >= LOOK_CALLS:
                self.look_at_lenses()
        return session, self._open.get(session) or self._writable_number(session)

    def look_at_lenses(self) -> None:
        """Take in at once what packs that were loaded since say of the concepts that may be seen."""
        self._recorded_since_look = 0
        if self.lenses is not None:
            self.lenses.refresh()

    def _writable_number(self, session_id: str) -> int:
        self._db.require_writable()
        return self._number(session_id)

    def skip(self, number: int, through: int) -> None:
        """Give out no tick of a session up to this one any more: its context window begins after it."""
        self.recorder.skip(number, through)

    def acknowledge(self) -> None:
        """Wait until what was recorded is acknowledged, and tagged where the settings say so; `RowsInDoubt` where that
        of earlier records is not known.
        """  # fmt: skip
        self.recorder.acknowledge()
        self.tag_automatically()

    def flush(self) -> None:
        """Do what `acknowledge` does for somebody who asks what was recorded: doubts are left to tell."""
        self.recorder.flush()
        self.tag_automatically()

    def tag_automatically(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Tag what any process recorded since, where the settings say so; return how many applications that made."""
        return 0 if self._tagger is None else self._tagger.run(stop=stop)

    def _before_sealing(self, logs: Sequence[tuple[Path, Frames]]) -> None:
        if self._tagger is not None:
            self._tagger.before_sealing(logs)

    # Questions --------------------------------------------------------------------------------------------------

    def scope(self, session_id: str | None) -> str | None:
        """Return which session a question is about: the given one, this thread's, or None for all."""
        session = self.current if session_id is None else session_id
        return None if session == ALL_SESSIONS else session

    def query(self, question: StepQuery) -> Timesteps:
        """Return what the stream holds, this process's own records included."""
        if not self._may_ask(question):
            return Timesteps()

        def ask() -> list[TimestepRecord]:
            if question.text is None:
                return self.visibility.timesteps(self.reader.query(question))
            return self.visibility.holding(
                question, lambda query: recall_text(self.reader, self.events, self._sessions, query)
            )

        return Timesteps(*self.reader.in_spite_of_damage(ask))

    def recall_events(self, question: StepQuery, terms: SearchTerms | None) -> StreamAnswer[EventRecord]:
        """Return the events for a timestep of which the question holds, and whose text has all of `terms`."""
        if not self._may_ask(question):
            return StreamAnswer()
        ask = partial(self.events.recall, question, terms)
        return StreamAnswer(*self.reader.in_spite_of_damage(lambda: self.visibility.events(ask())))

    def _may_ask(self, question: StepQuery) -> bool:
        self.recorder.flush()
        if question.session_id is not None:
            self._sessions.get(question.session_id)
        return self.visibility.may_ask(question)

    def activity(self, question: ActivityQuestion) -> StreamAnswer[ActivityBucket]:
        """Return how much was recorded when, and how active the concepts were that may be seen."""
        self.recorder.flush()
        if self.lenses is not None:
            question = question.seen_by(self.lenses.refresh())
        asked = question
        return StreamAnswer(*self.reader.in_spite_of_damage(lambda: activity(self._db, self.reader, asked)))

    def get(self, timestep_id: str) -> TimestepRecord | None:
        """Return one timestep, None when there is none with this id."""
        session_id, tick = parse_timestep_id(timestep_id)
        try:
            records = self.query(StepQuery(session_id=session_id, ticks=(tick, tick), limit=1))
        except NotFound:
            return None
        if not records and records.notes:
            raise IntegrityError(f"{timestep_id} may be in a segment that is damaged. {records.notes[0]}")
        return records[0] if records else None

    def was_recorded(self, session_id: str, tick: int) -> bool:
        """Whether a session has a tick, also one that is COLD by now; raises `NotFound` for an unknown session."""
        self.recorder.flush()
        return was_recorded(self.reader, self.sealer.manifest, self._departed, session_id, tick)

    def event_places(self, session_id: str, event_ids: Collection[str]) -> dict[str, EventPlace]:
        """Return where events are in the stream; raises `NotFound` for an unknown session."""
        self.recorder.flush()
        return event_places(self.reader, session_id, event_ids)

    def events_at(self, session_id: str, tick: int) -> list[str]:
        """Return the event of a timestep, or of the record that stands for it; `NotFound` for an unknown session."""
        self.recorder.flush()
        events = events_at(self.reader, session_id, tick)
        number = self._sessions.number(session_id)
        if events or number is None:
            return events
        cold = self._compressed.covering(number, tick)
        return [] if cold is None or cold.event_id is None else [cold.event_id]

    def cold_ticks(self, session_id: str, event_ids: Collection[str]) -> dict[str, Ranges]:
        """Return the ticks of events that left the stream and have a record of their own still."""
        number = self._sessions.number(session_id)
        return {} if number is None else self._compressed.ticks_of_events(number, event_ids)

    def compressed_record(self, record_id: str) -> CompressedRecord | None:
        """Return a COLD record, None when there is none with this id."""
        record = self._compressed.get(record_id)
        return None if record is None else self.visibility.compressed(record)

    def compressed_records(
        self,
        session_id: str | None,
        *,
        level: CompressionLevel | None,
        times: tuple[datetime, datetime] | None,
        limit: int,
        offset: int,
    ) -> list[CompressedRecord]:
        """Return COLD records, the oldest first; raises `NotFound` for a session that was never started."""
        number = None
        if session_id is not None:
            self._sessions.get(session_id)
            number = self._sessions.number(session_id)
        records = self._compressed.find(number, level=level, times=times, limit=limit, offset=offset)
        return [self.visibility.compressed(record) for record in records]

    def counts(self) -> tuple[int, int]:
        """Return how many timesteps are sealed, and how many are not yet."""
        self.recorder.flush()
        return self.reader.counts()

    # Upkeep -----------------------------------------------------------------------------------------------------

    def seal(self, *, all: bool = False, stop: Callable[[], bool] = lambda: False) -> StreamReport:
        """Seal what is large or old, or with `all` everything that no other process is writing to."""
        self._db.require_writable()
        self.tag_automatically(stop=stop)
        rows, begun_at = self.recorder.unsealed
        age = to_micros(self._clock.now()) - begun_at
        if all or (rows and age >= SEAL_AGE_S * 1e6):
            self.recorder.rotate()
        return self.sealer.seal(all=all, stop=stop)

    def tidy(self, *, stop: Callable[[], bool] = lambda: False, when_due: bool = False) -> StreamReport:
        """Remove what left for COLD records from the files, and merge small ones; or only when something changed."""
        self._db.require_writable()
        return self.sealer.tidy(stop=stop, when_due=when_due)

    def close(self) -> None:
        """Write what waits and let go of everything. Idempotent."""
        try:
            self.recorder.close()
        finally:
            self.accounts.finish()
            self._engine.close()
