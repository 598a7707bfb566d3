"""Tags on experience, and remarks on it: what is tagged, what a tick carries, what a rule tags by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hexad.errors import InvalidInput, InvalidTarget, NotFound
from hexad.experience.tag_index import TagIndex, TagIndexNeeds
from hexad.experience.xdb import Experience
from hexad.ids import IdSource
from hexad.index.tag_places import CommentPlaces, TagPlaces
from hexad.model.experience import Fidelity, StepQuery, TimestepRecord
from hexad.model.tag import (
    COMMENT_BYTES_LIMIT,
    NOTE_BYTES_LIMIT,
    Comment,
    Tag,
    TagApplication,
    TagSource,
    TagType,
    Target,
    TargetType,
    TickRange,
    check_confidence,
    check_size,
    check_ticks,
    concepts_above,
    event_target,
    parse_timestep_id,
    range_target,
    timestep_target,
)
from hexad.model.ticks import union
from hexad.storage.comments import Comments
from hexad.storage.connection import Database
from hexad.storage.tag_applications import TagApplications

_PAGE: Final = 10_000
_SEPARATOR: Final = "::"


class StreamEvents:
    """The stream's word on which ticks an event covers (`EventTicks`)."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience

    def ticks_of(self, session_id: str, event_ids: Sequence[str]) -> Mapping[str, Sequence[TickRange]]:
        """Return the ranges of ticks of these events; one that the stream does not have is left out."""
        found = {
            event_id: union(
                [*self._ticks(session_id, event_id), *self._experience.cold_ticks(session_id, event_id)]
            )
            for event_id in event_ids
        }
        return {event_id: ranges for event_id, ranges in found.items() if ranges}

    def events_at(self, session_id: str, tick: int) -> Sequence[str]:
        """Return the event that the timestep at `tick` belongs to, if any."""
        found = _steps(self._experience, StepQuery(session_id=session_id, ticks=(tick, tick), limit=10))
        return [step.event_id for step in found if step.event_id is not None]

    def whole(self, session_id: str, event_id: str) -> TickRange | None:
        """Return the ticks of an event that has ended and is one range, so that they can never change.

        Raises `NotFound` when no timestep of the session carries the event.
        """
        steps = list(self._steps(session_id, event_id))
        cold = self._experience.cold_ticks(session_id, event_id)
        if not steps:
            raise NotFound(f"No timestep of session {session_id!r} carries the event {event_id!r}.")
        full = [step for step in steps if step.fidelity is not Fidelity.COLD]
        ranges = union([*((step.tick, step.tick) for step in full), *cold])
        ended = any(step.event_end for step in full) or not full
        return ranges[0] if len(ranges) == 1 and ended else None

    def _ticks(self, session_id: str, event_id: str) -> Iterator[TickRange]:
        steps = self._steps(session_id, event_id)
        return ((step.tick, step.tick) for step in steps if step.fidelity is not Fidelity.COLD)

    def _steps(self, session_id: str, event_id: str) -> Iterator[TimestepRecord]:
        offset = 0
        while True:
            question = StepQuery(session_id=session_id, event_id=event_id, limit=_PAGE, offset=offset)
            steps = _steps(self._experience, question)
            yield from steps
            if len(steps) < _PAGE:
                return
            offset += _PAGE


def _steps(experience: Experience, question: StepQuery) -> list[TimestepRecord]:
    try:
        return experience.query(question)
    except NotFound:  # a session of another store, or one that was taken out
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A target as a caller names it: exactly one of the three."""

    timestep_id: str | None = None
    event_id: str | None = None
    tick_range: Sequence[int] | None = None
    session_id: str | None = None


class Tagging:
    """What `hx.xdb` does with tags and comments on experience."""

    def __init__(
        self,
        db: Database,
        experience: Experience,
        *,
        ids: IdSource,
        mask: Callable[[str], str],
        created_by: str,
    ) -> None:
        events = StreamEvents(experience)
        self._db, self._experience, self._ids, self._mask = db, experience, ids, mask
        self._events = events
        self._applications, self._comments = TagApplications(db), Comments(db)
        self.places = TagPlaces(db, events=events, hidden=experience.sight.hidden)
        self._remarks = CommentPlaces(db, events=events)
        self.index = TagIndex(
            TagIndexNeeds(
                db=db,
                ids=ids,
                mask=mask,
                created_by=created_by,
                examples=self.examples,
                loaded=experience.look_at_lenses,
            )
        )

    # Targets ----------------------------------------------------------------------------------------------------

    def target(self, given: Given) -> Target:
        """Return what is named, in its session; raises `InvalidTarget` unless it is one thing, `NotFound` for a
        session, a timestep or an event that was never recorded.
        """
        named = [
            name for name in ("timestep_id", "event_id", "tick_range") if getattr(given, name) is not None
        ]
        if len(named) != 1:
            words = "none was" if not named else " and ".join(named) + " were"
            raise InvalidTarget(f"Give exactly one of timestep_id, event_id and tick_range; {words} given.")
        if given.timestep_id is not None:
            target = timestep_target(given.timestep_id, session_id=given.session_id)
        elif given.event_id is not None:
            target = event_target(self._session(given), given.event_id)
        else:
            assert given.tick_range is not None
            target = range_target(self._session(given), given.tick_range)
        return self._recorded(target)

    def _session(self, given: Given) -> str:
        session_id = self._experience.current if given.session_id is None else given.session_id
        if session_id is None:
            raise InvalidTarget("There is no current session; call start_session first, or give session_id.")
        return session_id

    def _recorded(self, target: Target) -> Target:
        session = self._experience.session(target.session_id)
        if target.event_id is not None:
            # Kept where it cannot change any more: what is compressed later is still found by it.
            return event_target(session.id, target.event_id, self._events.whole(session.id, target.event_id))
        if target.timestep_id is not None:
            if self._experience.get(target.timestep_id) is None:
                raise NotFound(f"Timestep {target.timestep_id!r} was never recorded.")
        elif target.range_start is not None and target.range_start > session.last_tick:
            raise NotFound(
                f"Session {session.id!r} has no tick {target.range_start} yet; its last is {session.last_tick}."
            )
        return target

    # Tags -------------------------------------------------------------------------------------------------------

    def tag(self, name_or_id: str, given: Given, *, confidence: float, note: str | None) -> TagApplication:
        """Apply a tag, which is created where there is none of this id or name; return the application."""
        target, sure = self.target(given), check_confidence(confidence)
        said = None if note is None else self._mask(check_size(note, "note", limit_bytes=NOTE_BYTES_LIMIT))
        with self._db.transaction():
            application = TagApplication(
                id=self._ids.new("ta"),
                tag_id=self.index.resolve_or_create(name_or_id).id,
                target=target,
                confidence=sure,
                source=TagSource.MANUAL,
                created_at=self._db.clock.now(),
                note=said,
            )
            self._applications.add([application])
        return application

    def untag(self, application_id: str) -> None:
        """Take one application away; raises `NotFound`."""
        with self._db.transaction():
            self._applications.remove(application_id)

    def applications(
        self, name_or_id: str, *, session_id: str | None, limit: int, offset: int
    ) -> list[TagApplication]:
        """Return the uses of a tag, by session and tick; raises `NotFound`."""
        tag = self.require(name_or_id)
        return self._applications.of_tags(
            [tag.id],
            session_id=session_id,
            by_rule=tag.id not in self._experience.sight.hidden([tag.id]),
            limit=limit,
            offset=offset,
        )

    def require(self, name_or_id: str) -> Tag:
        """Return the tag of this id or name; raises `NotFound`."""
        tag = self.index.resolve(name_or_id)
        if tag is None:
            raise NotFound(f"Tag {name_or_id!r} is not there; `find_tags` lists what there is.")
        return tag

    def tags_of(self, timestep_id: str, *, inherited: bool) -> list[Tag]:
        """Return the tags on a timestep, on its event and on ranges that hold it, each once."""
        session_id, tick = parse_timestep_id(timestep_id)
        return self.places.tags_at(session_id, tick, inherited=inherited)

    def applications_of(self, timestep_id: str, *, inherited: bool) -> list[TagApplication]:
        """Return what is applied to a timestep, to its event and to ranges that hold it."""
        session_id, tick = parse_timestep_id(timestep_id)
        return self.places.applications_at(session_id, tick, inherited=inherited)

    def examples(self, tag_id: str, *, limit: int, offset: int) -> list[TimestepRecord]:
        """Return the timesteps that carry a tag, by session and tick."""
        return self._experience.query(
            StepQuery(tagged=self.tagged(None, [tag_id]), limit=limit, offset=offset)
        )

    def tagged(
        self,
        session_id: str | None,
        tags: Sequence[str],
        *,
        match: Literal["all", "any"] = "all",
        ticks: TickRange | None = None,
    ) -> dict[str, tuple[TickRange, ...]]:
        """Return for each session where the tags are, for `StepQuery.tagged`; an event that is gone is nowhere."""
        found = self.places.ranges(session_id, tags, match=match, ticks=ticks)
        return {session: tagged.ranges for session, tagged in found.items() if tagged.ranges}

    def tag_automatically(
        self, session_id: str, steps: Iterable[tuple[int, Mapping[str, float]]], *, threshold: float
    ) -> int:
        """Tag ticks with the concepts that were active from `threshold` on; returns how many applications that made.

        `steps` are ticks in order with their activations. Neighbours with the same concept are one range with the
        highest of their confidences. A concept that no pack has becomes a tag.
        """
        runs = list(_runs(steps, threshold))
        if not runs:
            return 0
        self._experience.session(session_id)
        with self._db.transaction():
            now = self._db.clock.now()
            for concept_id in sorted({concept_id for concept_id, _, _ in runs}):
                if self.index.get_tag(concept_id) is None:
                    term = concept_id.rpartition(_SEPARATOR)[2] or concept_id
                    self.index.create_tag(term, TagType.CONCEPT, concept_id=concept_id)
            self._applications.add(
                [
                    TagApplication(
                        id=self._ids.new("ta"),
                        tag_id=concept_id,
                        target=_run_target(session_id, ticks),
                        confidence=confidence,
                        source=TagSource.AUTO,
                        created_at=now,
                    )
                    for concept_id, ticks, confidence in runs
                ]
            )
        return len(runs)

    # Comments ---------------------------------------------------------------------------------------------------

    def comment(self, content: str, given: Given) -> Comment:
        """Store a remark; returns it without secrets."""
        comment = Comment(
            id=self._ids.new("comment"),
            target=self.target(given),
            content=self._remark(content),
            created_at=self._db.clock.now(),
        )
        with self._db.transaction():
            self._comments.add(comment)
        return comment

    def edit_comment(self, comment_id: str, content: str) -> Comment:
        """Change a remark; what it said is kept. Raises `NotFound`."""
        said = self._remark(content)
        with self._db.transaction():
            return self._comments.edit(comment_id, said, at=self._db.clock.now())

    def remove_comment(self, comment_id: str) -> None:
        """Take a remark away, with what it said before; raises `NotFound`."""
        with self._db.transaction():
            self._comments.remove(comment_id)

    def get_comment(self, comment_id: str) -> Comment:
        """Return one remark; raises `NotFound`."""
        return self._comments.get(comment_id)

    def comments_in(self, session_id: str, ticks: Sequence[int]) -> list[Comment]:
        """Return the remarks that share a tick with a range, the oldest first."""
        return self._remarks.in_range(session_id, check_ticks(ticks))

    def _remark(self, content: str) -> str:
        if not isinstance(content, str) or not content.strip():
            raise InvalidInput("A comment needs a text.")
        return self._mask(check_size(content, "comment", limit_bytes=COMMENT_BYTES_LIMIT))


def _runs(
    steps: Iterable[tuple[int, Mapping[str, float]]], threshold: float
) -> Iterator[tuple[str, TickRange, float]]:
    """Yield `(concept, ticks, highest confidence)` of neighbouring steps with the same concept, as they end."""
    open_runs: dict[str, tuple[TickRange, float]] = {}
    for tick, activations in steps:
        strong = dict(concepts_above(activations, threshold=threshold))
        for concept_id in [one for one in open_runs if one not in strong]:
            yield (concept_id, *open_runs.pop(concept_id))
        for concept_id, confidence in strong.items():
            (first, _), highest = open_runs.get(concept_id, ((tick, tick), 0.0))
            open_runs[concept_id] = ((first, tick), max(highest, confidence))
    for concept_id, (ticks, confidence) in open_runs.items():
        yield concept_id, ticks, confidence


def _run_target(session_id: str, ticks: TickRange) -> Target:
    if ticks[0] != ticks[1]:
        return range_target(session_id, ticks)
    return Target(
        session_id=session_id, target_type=TargetType.TIMESTEP, range_start=ticks[0], range_end=ticks[1]
    )
