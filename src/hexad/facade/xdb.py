"""`hx.xdb`: the experience database, as document 2 names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from hexad.errors import InvalidInput, LimitExceeded
from hexad.experience.documents import DocumentRepository
from hexad.experience.moments import moment, moment_of_row, name
from hexad.experience.recorder import GROUP_RECORDS
from hexad.experience.tagging import Tagging
from hexad.experience.xdb import Experience, activation_ranges
from hexad.facade.xdb_documents import DocumentCalls
from hexad.facade.xdb_tags import SURPRISING, TagCalls
from hexad.model.actor import Actor
from hexad.model.experience import (
    TICK_LIMIT,
    EventType,
    SessionInfo,
    StepQuery,
    StreamReport,
    TimestepRecord,
    timestep_id,
)
from hexad.model.memory import JSONValue
from hexad.model.parse import parse_choice, parse_time

RECALL_LIMIT: Final = 100_000


class Xdb(TagCalls, DocumentCalls):
    """What an agent read, wrote and did, one record for each token or event; safe to share between threads.

    `start_session` makes a session the calling thread's current one. Every call takes `session_id` instead.
    """

    def __init__(
        self, experience: Experience, tagging: Tagging, documents: DocumentRepository, *, actor: Actor
    ) -> None:
        self._experience = experience
        self._tagging, self._documents = tagging, documents
        self._actor = actor

    def start_session(self, session_id: str, max_context_tokens: int = 8192) -> BoundSession:
        """Start a session, or go on with it after its highest tick, and make it this thread's current one.

        Several threads and processes may record to the same session at once: each is given ticks of its own.
        """
        self._experience.start(session_id, max_context_tokens=max_context_tokens)
        return BoundSession(self, session_id)

    def end_session(self, *, session_id: str | None = None) -> None:
        """End a session when everything recorded is acknowledged; nothing happens where there is no current one."""
        self._experience.end(session_id)

    def session(self, session_id: str) -> BoundSession:
        """Return a handle whose calls are about this session; raises `NotFound`."""
        self._experience.session(session_id)
        return BoundSession(self, session_id)

    def sessions(self) -> list[SessionInfo]:
        """Return all sessions in the order of their creation."""
        return self._experience.sessions()

    def record(
        self,
        event_type: EventType | str,
        content: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        event_id: str | None = None,
        event_start: bool = False,
        event_end: bool = False,
        token_id: int | None = None,
        role: str | None = None,
        token_count: int = 1,
        session_id: str | None = None,
    ) -> str:
        """Record a timestep and return its id, `ts-{session}-{tick}`; of the activations the ten strongest.

        When it is on the disk is for the setting `stream_durability` to say: before this returns (`always`), or
        within 20 ms and with certainty after `flush` (`group`). Secrets are removed: from input, tools' and system
        texts before anything is written, from generated tokens when they are sealed.

        Raises `InvalidInput` for what cannot be recorded, `StorageFailure` when the disk refuses.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     hx.xdb.record("output", "Hello", {"pack::Greeting": 0.8})
        'ts-monday-1'
        """
        one = moment(
            event_type,
            content,
            concept_activations,
            mask=self._experience.masking.text,
            event_id=event_id,
            event_start=event_start,
            event_end=event_end,
            token_id=token_id,
            role=role,
            token_count=token_count,
        )
        session, ticks = self._experience.record(session_id, (one,))
        return timestep_id(session, ticks[0])

    def record_many(self, rows: Iterable[Mapping[str, Any]], *, session_id: str | None = None) -> list[str]:
        """Record many timesteps and return their ids when all are acknowledged.

        A row has the parameters of `record`, and `timestamp` where it happened at another time. A row that cannot
        be used raises `InvalidInput`; the rows before it, up to a multiple of 4,096, may have been recorded.
        """
        ids: list[str] = []
        held = []
        mask = self._experience.masking.text
        for row in rows:
            held.append(moment_of_row(row, mask=mask))
            if len(held) == GROUP_RECORDS:
                ids += self._ids(*self._experience.record(session_id, held))
                held = []
        if held:
            ids += self._ids(*self._experience.record(session_id, held))
        self._experience.flush()
        return ids

    @staticmethod
    def _ids(session: str, ticks: Sequence[int]) -> list[str]:
        return [timestep_id(session, tick) for tick in ticks]

    def flush(self) -> None:
        """Wait until everything that this process recorded is acknowledged.

        Raises `StorageFailure` when the disk refuses; a later call tries again.
        """
        self._experience.flush()

    def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        session_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[TimestepRecord]:
        """Return the timesteps for which everything given holds, in the order of sessions and ticks.

        `session_id` None is this thread's current session, and without one, or with `"*"`, all sessions. All of
        `concepts` must be among a timestep's ten strongest, as a mapping with scores from lowest to highest.
        `tags` are ids or names: a timestep carries a tag by itself, by its event, by a range that holds it, or by a
        concept below the tag's; all of them are asked for, or with `match="any"` one.
        `text_search` is a part of the content, capitals or not. Ranges of ticks include both ends, ranges of time
        leave out theirs. What this process recorded is found at once, whether sealed or not.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.
        """
        session, ticks = self._experience.scope(session_id), _ticks(tick_range)
        return self._experience.query(
            StepQuery(
                session_id=session,
                ticks=ticks,
                tagged=self._tagging.tagged(session, tags, match=match, ticks=ticks) if tags else None,
                times=_times(time_range),
                event_types=_types(event_types),
                activations=activation_ranges(concepts),
                text=text_search or None,
                event_id=event_id,
                limit=_count(limit, "limit", low=1),
                offset=_count(offset, "offset", low=0),
            )
        )

    def recall_by_concept(
        self,
        concept_id: str,
        *,
        min_activation: float = 0.5,
        session_id: str | None = None,
        limit: int = 100,
    ) -> list[TimestepRecord]:
        """Return where a concept was strongly active, strongest first."""
        ranges = activation_ranges({name(concept_id, "concept_id"): (min_activation, float("inf"))})
        return self._experience.query(
            StepQuery(
                session_id=self._experience.scope(session_id),
                activations=ranges,
                strongest=concept_id,
                limit=_count(limit, "limit", low=1),
            )
        )

    def recall_surprising(self, *, session_id: str | None = None, limit: int = 50) -> list[TimestepRecord]:
        """Return what is tagged surprising, confusing, interesting or unexpected: candidates for a closer look."""
        return self.recall(tags=SURPRISING, match="any", session_id=session_id, limit=limit)

    def get_timestep(self, timestep_id: str) -> TimestepRecord | None:
        """Return one timestep, None when there is none; raises `InvalidInput` for what is no id of one."""
        return self._experience.get(timestep_id)

    def get_state(self) -> dict[str, JSONValue]:
        """Return who this is, this thread's current session and its last tick, and how much there is."""
        session = self._experience.current
        sealed, unsealed = self._experience.counts()
        return {
            "be_id": self._actor.agent,
            "session_id": session,
            "current_tick": 0 if session is None else self._experience.last_tick(session),
            "session_count": len(self._experience.sessions()),
            "timestep_count": sealed + unsealed,
            "unsealed_count": unsealed,
        }

    def seal(self) -> StreamReport:
        """Turn the logs into segments now, but for those that other processes write to; `maintain` waits until
        they are large or old.
        """  # fmt: skip
        return self._experience.seal(all=True)


class BoundSession:
    """One session of `hx.xdb`, for threads that work on several."""

    def __init__(self, xdb: Xdb, session_id: str) -> None:
        self._xdb = xdb
        self.id = session_id

    def record(
        self,
        event_type: EventType | str,
        content: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        event_id: str | None = None,
        event_start: bool = False,
        event_end: bool = False,
        token_id: int | None = None,
        role: str | None = None,
        token_count: int = 1,
    ) -> str:
        """Record a timestep of this session, as `Xdb.record`."""
        return self._xdb.record(
            event_type,
            content,
            concept_activations,
            event_id=event_id,
            event_start=event_start,
            event_end=event_end,
            token_id=token_id,
            role=role,
            token_count=token_count,
            session_id=self.id,
        )

    def record_many(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Record many timesteps of this session, as `Xdb.record_many`."""
        return self._xdb.record_many(rows, session_id=self.id)

    def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[TimestepRecord]:
        """Return timesteps of this session, as `Xdb.recall`."""
        return self._xdb.recall(
            tags=tags,
            match=match,
            concepts=concepts,
            text_search=text_search,
            tick_range=tick_range,
            time_range=time_range,
            event_types=event_types,
            event_id=event_id,
            session_id=self.id,
            limit=limit,
            offset=offset,
        )

    def recall_by_concept(
        self, concept_id: str, *, min_activation: float = 0.5, limit: int = 100
    ) -> list[TimestepRecord]:
        """Return where a concept was strongly active in this session, as `Xdb.recall_by_concept`."""
        return self._xdb.recall_by_concept(
            concept_id, min_activation=min_activation, session_id=self.id, limit=limit
        )

    def tag(
        self,
        tag_name_or_id: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        confidence: float = 1.0,
        note: str | None = None,
    ) -> str:
        """Tag something of this session, as `Xdb.tag`."""
        return self._xdb.tag(
            tag_name_or_id,
            timestep_id=timestep_id,
            event_id=event_id,
            tick_range=tick_range,
            confidence=confidence,
            note=note,
            session_id=self.id,
        )

    def comment(
        self,
        content: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
    ) -> str:
        """Remark on something of this session, as `Xdb.comment`."""
        return self._xdb.comment(
            content, timestep_id=timestep_id, event_id=event_id, tick_range=tick_range, session_id=self.id
        )

    def end(self) -> None:
        """End this session, as `Xdb.end_session`."""
        self._xdb.end_session(session_id=self.id)


def _count(value: int, what: str, *, low: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= TICK_LIMIT:
        raise InvalidInput(f"{what} = {value!r} is no whole number from {low} on.")
    if what == "limit" and value > RECALL_LIMIT:
        raise LimitExceeded(f"limit = {value!r} is more than {RECALL_LIMIT:,}; ask again with an offset.")
    return value


def _ticks(given: tuple[int, int] | None) -> tuple[int, int] | None:
    if given is None:
        return None
    whole = len(given) == 2 and all(isinstance(one, int) and abs(one) <= TICK_LIMIT for one in given)
    if not whole or given[0] > given[1]:
        raise InvalidInput(f"tick_range = {given!r} is no range; give (first, last).")
    return given[0], given[1]


def _times(given: tuple[datetime | str, datetime | str] | None) -> tuple[datetime, datetime] | None:
    if given is None:
        return None
    if isinstance(given, str) or len(given) != 2:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until).")
    since, until = (parse_time(one, "time_range") for one in given)
    if since is None or until is None or since > until:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until), the earlier first.")
    return since, until


def _types(given: Sequence[EventType | str] | None) -> list[EventType] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise InvalidInput(f'event_types = {given!r} must be a list; write ["{given}"].')
    return [parse_choice(EventType, one, "event_types") for one in given]
