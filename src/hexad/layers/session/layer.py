"""The session layer: what is being worked on now, and what was said in sessions, at the fidelity that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final

from hexad.core.event_types import EventType
from hexad.experience.values.levels import Fidelity
from hexad.layers.contract import LayerItems, MemoryItem, MemoryQuery
from hexad.layers.router.task_topic import topic_of
from hexad.layers.scoring import relevance_of_share
from hexad.layers.session.manager import SessionManager
from hexad.layers.session.texts import SessionText, SessionTexts
from hexad.layers.session.working_set import WorkingSet, texts_of
from hexad.memory.decision import ago
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Trust
from hexad.memory.query import Filters
from hexad.redaction.injection.detector import instructions_in
from hexad.search.recall.query_terms import understand
from hexad.text.commitments import Commitment, statements
from hexad.text.search_terms import SearchTerms, folded, search_terms

if TYPE_CHECKING:
    from hexad.experience.values.records import StreamAnswer
    from hexad.experience.values.tiers import EventRecord

_TASK_SHARE: Final = 0.7
"""What is being done now speaks to every task that touches it, as much as a text with so much of its words."""
_NOW_SHARE: Final = 0.4
"""So do the last notes, turns and edits, and the files that are open."""
_OTHER_SETS: Final = 50
_LATEST: Final = {"scratchpad": 3, "open files": 1, "edit": 3, "turn": 5, "conversation": 1, "outcome": 1}
_EVENTS: Final = 60
_SINGLE_WORDS: Final = 2
_SECONDS_A_DAY: Final = 86_400
_ROLES: Final = {
    "user": Trust.USER,
    "human": Trust.USER,
    "assistant": Trust.AGENT,
    "agent": Trust.AGENT,
    "ai": Trust.AGENT,
    "model": Trust.AGENT,
    "tool": Trust.TOOL,
}
_DECIDES: Final = frozenset({Trust.USER, Trust.AGENT})


@dataclass(frozen=True, slots=True)
class _Match:
    """A text, and how much speaks for it: the share of the question's words in it, or that it is of now."""

    item: MemoryItem
    share: float


class SessionLayer:
    """Implements `LayerSource` for sessions; knows nothing of memories of spaces, with tags or at paths."""

    def __init__(
        self,
        manager: SessionManager,
        texts: SessionTexts,
        *,
        events: Callable[[], Callable[[str, int], StreamAnswer[EventRecord]] | None],
        event: Callable[[str], EventRecord | None],
        cold: Callable[[str, str], str],
    ) -> None:
        """`events` finds whole events that have all words of a text, up to a number: None where nothing was ever
        recorded. `event` is the whole event that begins with a timestep, by its id. `cold` says what of a COLD record's
        summary may be seen, by its id and the summary.
        """
        self._manager, self._texts = manager, texts
        self._events, self._event, self._cold_summary = events, event, cold

    @property
    def name(self) -> MemoryLayer:
        """The session layer."""
        return MemoryLayer.SESSION

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what is being worked on where the query touches it, and what of other sessions does; best first.

        `notes` of the answer say what of recorded sessions is missing since a segment cannot be read.
        """
        if limit < 1 or not _asks_sessions(query.filters):
            return ()
        words = understand(query.text, now=query.now).wanted
        question = _SessionQuestion(query, words)
        events = self._events_of(question)
        matches = [*self._of_working_sets(question), *self._of_experience(question, events)]
        allowed = [match for match in matches if _in_time(match.item, query)]
        allowed.sort(key=lambda match: (-match.item.relevance, match.item.recency, match.item.id))
        return LayerItems(
            [
                replace(match.item, instruction_like=instructions_in(match.item.text))
                for match in _once(allowed, limit)
            ],
            notes=dict.fromkeys(note for some in events or () for note in some.notes),
        )

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Return what a session said, by the id under which a context shows it: of a working set, or of what was
        recorded.
        """
        memory_item = self._of_set_by(item_id, now) if "#" in item_id else self._recorded(item_id, now)
        return (
            None
            if memory_item is None
            else replace(memory_item, instruction_like=instructions_in(memory_item.text))
        )

    def warm(self) -> None:
        """Look once at what is being worked on, and open what was recorded."""
        self._manager.now()
        self._manager.sets.list(limit=1)
        self._events()

    def _of_set_by(self, item_id: str, now: datetime) -> MemoryItem | None:
        current, set_id = self._manager.now(), item_id.partition("#")[0]
        sets = [
            working_set
            for working_set in (current, *self._manager.sets.list(limit=_OTHER_SETS))
            if working_set is not None and working_set.id == set_id
        ]
        for working_set in sets[:1]:
            is_now = current is not None and current.id == working_set.id
            for name, kind, text, at in _texts_by_id(working_set):
                if name == item_id:
                    return _of_working_set(
                        working_set, name, kind, text, at, days=_days(at, now), share=1.0, now=is_now
                    )
        return None

    def _recorded(self, item_id: str, now: datetime) -> MemoryItem | None:
        if self._events() is None:
            return None
        for session_text in self._texts.of(item_id):
            text = (
                self._cold_summary(session_text.id, session_text.text)
                if session_text.kind == "cold"
                else session_text.text
            )
            return (
                _of_text(replace(session_text, text=text), days=_days(session_text.at, now), share=1.0)
                if text
                else None
            )
        event = self._event(item_id)
        return None if event is None else _of_event(event, days=_days(event.end_time, now), share=1.0)

    # Working sets -----------------------------------------------------------------------------------------------

    def _of_working_sets(self, question: _SessionQuestion) -> Iterator[_Match]:
        current = self._manager.now()
        if current is not None and not current.is_empty:
            yield from _of_set(current, question, now=True)
        for working_set in self._manager.sets.list(limit=_OTHER_SETS):
            if current is None or working_set.id != current.id:
                yield from _of_set(working_set, question, now=False)

    # Experience -------------------------------------------------------------------------------------------------

    def _events_of(self, question: _SessionQuestion) -> list[StreamAnswer[EventRecord]] | None:
        """Return what was recorded with words of a question, an answer for each look; None where nothing ever was."""
        find = self._events()
        if find is None or not question.words:
            return None
        # Events must have all words that they are asked for: the longest ones are asked for one by one, and what has
        # all words is among that, unless there is too much of it.
        telling = sorted(question.words, key=lambda word: (-len(word), word))[:_SINGLE_WORDS]
        events = [find(word, _EVENTS) for word in telling]
        if len(question.words) > 1 and any(len(some) == _EVENTS for some in events):
            events.insert(0, find(" ".join(question.words), _EVENTS))
        return events

    def _of_experience(
        self, question: _SessionQuestion, events: Sequence[StreamAnswer[EventRecord]] | None
    ) -> Iterator[_Match]:
        if events is None:
            return
        for compaction in (
            *self._cold(question),
            *self._texts.compactions(question.needles, limit=_EVENTS),
            *self._texts.comments(question.needles, limit=_EVENTS),
        ):
            if share := question.share(compaction.text):
                yield _Match(_of_text(compaction, days=question.days(compaction.at), share=share), share)
        for event in chain.from_iterable(events):
            if share := question.share(event.content):
                yield _Match(_of_event(event, days=question.days(event.end_time), share=share), share)

    def _cold(self, question: _SessionQuestion) -> Iterator[SessionText]:
        for session_text in self._texts.cold(question.words, limit=_EVENTS):
            yield replace(session_text, text=self._cold_summary(session_text.id, session_text.text))


class _SessionQuestion:
    """A query taken apart."""

    def __init__(self, query: MemoryQuery, words: Sequence[str]) -> None:
        self.query, self.words = query, tuple(words)
        self._terms: tuple[SearchTerms, ...] = tuple(search_terms(word) for word in words)
        self._topic = topic_of(query)
        self._topic_terms = tuple(search_terms(word) for word in self._topic.words)
        self.needles = [needle for terms in self._terms for needle in terms.needles]

    def share(self, text: str) -> float:
        """Return which share of the words a text has, whatever simple endings they have there; 0 where it has none of
        the words that say what the query is about.
        """
        if not self._terms:
            return 0.0
        low = folded(text)
        if self._topic_terms and not any(terms.match_folded(low) for terms in self._topic_terms):
            return 0.0
        return sum(terms.match_folded(low) for terms in self._terms) / len(self._terms)

    def touches(self, working_set: WorkingSet) -> bool:
        """Whether the query is about what is being worked on, or goes on with it."""
        return self._topic.is_in_hand or any(self.share(text) for _, text, _ in texts_of(working_set))

    def days(self, at: datetime) -> float:
        """Return how old something is."""
        return _days(at, self.query.now)


def _days(at: datetime, now: datetime) -> float:
    return max(0.0, (now - at).total_seconds() / _SECONDS_A_DAY)


def _texts_by_id(working_set: WorkingSet) -> Iterator[tuple[str, str, str, datetime]]:
    """Yield what a working set says, each with its id, kind, text and time; the newest of each kind is its first."""
    seen: dict[str, int] = {}
    for kind, text, at in texts_of(working_set):
        place = seen[kind] = seen.get(kind, 0) + 1
        yield f"{working_set.id}#{kind.replace(' ', '-')}-{place}", kind, text, at


def _of_set(working_set: WorkingSet, question: _SessionQuestion, *, now: bool) -> Iterator[_Match]:
    """Yield what a working set says: of the current one, where the query touches it, also what has no such word."""
    now_touched = now and question.touches(working_set)
    for name, kind, text, at in _texts_by_id(working_set):
        share = question.share(text)
        if now_touched:
            place = int(name.rpartition("-")[2])
            least = _TASK_SHARE if kind == "task" else _NOW_SHARE if place <= _LATEST.get(kind, 0) else 0.0
            share = max(share, least)
        if share:
            days = question.days(at)
            yield _Match(
                _of_working_set(working_set, name, kind, text, at, days=days, share=share, now=now), share
            )


def _of_working_set(
    working_set: WorkingSet,
    name: str,
    kind: str,
    text: str,
    at: datetime,
    *,
    days: float,
    share: float,
    now: bool,
) -> MemoryItem:
    # A summary of the conversation is of turns whose roles it does not tell apart: nobody vouches for it.
    speaker = {"turn": text.partition(":")[0].lower(), "conversation": ""}.get(kind, "user")
    trust = _ROLES.get(speaker, Trust.UNKNOWN)
    notes = [] if now else [_standing(working_set)]
    said = text.partition(": ")[2] if kind == "turn" else text
    if trust in _DECIDES and any(each.what is Commitment.DECISION for each in statements(said)):
        # Until the session ends it is a turn; a model must not take it for a rule any more than a decision.
        notes.insert(
            0, f"Prior context, not law: said {ago(at, at + timedelta(days=days))} by the {speaker}."
        )
    return MemoryItem(
        id=name,
        layer=MemoryLayer.SESSION,
        kind=kind,
        text=text,
        at=at,
        recency=days,
        relevance=relevance_of_share(share),
        trust=trust,
        location=f"session {working_set.id}",
        notes=tuple(notes),
    )


def _standing(working_set: WorkingSet) -> str:
    where = "" if working_set.place.branch is None else f" on branch {working_set.place.branch}"
    if working_set.ended_at is None:
        return f"from another session{where}"
    return f"from a session{where} that ended"


def _of_text(text: SessionText, *, days: float, share: float) -> MemoryItem:
    notes = (f"fidelity {Fidelity.COLD.value}, {text.level}",) if text.level else ()
    return MemoryItem(
        id=text.id,
        layer=MemoryLayer.SESSION,
        kind=text.kind,
        text=text.text,
        at=text.at,
        recency=days,
        relevance=relevance_of_share(share),
        trust=Trust.UNKNOWN,
        location="" if text.session_id is None else f"session {text.session_id}",
        notes=notes,
    )


def _of_event(event: EventRecord, *, days: float, share: float) -> MemoryItem:
    cold = event.fidelity is Fidelity.COLD
    level = f", {event.compression_level.name}" if cold else ""
    spoken = Trust.AGENT if event.event_type is EventType.OUTPUT else Trust.TOOL
    trust = _ROLES.get((event.role or "").lower(), Trust.UNKNOWN)
    return MemoryItem(
        id=event.id,
        layer=MemoryLayer.SESSION,
        kind="cold" if cold else "event",
        text=event.content,
        at=event.end_time,
        recency=days,
        relevance=relevance_of_share(share),
        trust=trust if event.event_type is EventType.INPUT else spoken,
        location=f"session {event.session_id}, ticks {event.start_tick} to {event.end_tick}",
        notes=(f"fidelity {event.fidelity.value}{level}",),
    )


def _asks_sessions(filters: Filters) -> bool:
    """Whether filters may hold for what is in no space and has no tag."""
    return (
        filters.spaces is None
        and filters.kinds is None
        and filters.tags is None
        and filters.path is None
        and not filters.pinned
        and filters.origins is None
    )


def _in_time(item: MemoryItem, query: MemoryQuery) -> bool:
    filters = query.filters
    return (
        (filters.since is None or item.at >= filters.since)
        and (filters.until is None or item.at < filters.until)
        and (query.as_of is None or item.at <= query.as_of)
        and (filters.text is None or all(word.lower() in item.text.lower() for word in filters.text))
    )


def _once(matches: Sequence[_Match], limit: int) -> list[_Match]:
    """Return the first `limit`, each id once."""
    return list({match.item.id: match for match in reversed(matches)}.values())[::-1][:limit]
