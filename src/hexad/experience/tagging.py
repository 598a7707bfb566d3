"""Tags on experience, and remarks on it: what is tagged, what a tick carries, what a rule tags by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from hexad.core.arguments import quoted
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database.connection import Database
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, InvalidInput, InvalidTarget, NotFound
from hexad.experience.arguments import match_of
from hexad.experience.events.grouping import EventPlace
from hexad.experience.query.totals import last_recorded
from hexad.experience.stream_database import Experience
from hexad.experience.tables.annotations import Comments, TagApplications, TagPlacement
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import ColdTags
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.tag_index import TagIndex
from hexad.experience.values.records import StepQuery, TimestepRecord
from hexad.experience.values.tags import (
    COMMENT_BYTES_LIMIT,
    NOTE_BYTES_LIMIT,
    Comment,
    EventTicks,
    Tag,
    TagApplication,
    TaggedTicks,
    TagSource,
    TagType,
    Target,
    TargetType,
    TickRange,
    check_confidence,
    check_size,
    check_ticks,
    event_target,
    parse_timestep_id,
    range_target,
    timestep_target,
)

Hidden = Callable[[Collection[str]], frozenset[str]]
"""From ids of tags to those of concepts that may not be seen."""


def _none(_tag_ids: Collection[str]) -> frozenset[str]:
    return frozenset()


class TagPlaces:
    """Says where tags are, and the other way round: which tags and comments a tick carries.

    What is tagged with a concept counts for every concept above it. That is found out when it is asked for: no rows
    are written for it, so it is right for packs that change and for tags that are taken away. Where an event is that
    was tagged without ticks, `events` is asked: the stream. `hidden` says which concepts may not be seen: what a rule
    tagged with them counts nowhere, what somebody tagged with them does.
    """

    def __init__(
        self, db: Database, *, events: EventTicks | None = None, hidden: Hidden | None = None
    ) -> None:
        self._db = db
        self._hidden = _none if hidden is None else hidden
        self._tags = Tags(db)
        self._concepts = Concepts(db)
        self._applications = TagApplications(db)
        self._events = events

    def resolve(self, name_or_id: str) -> Tag | None:
        """Return the tag of exactly this id, else of this name ignoring case; never of a pattern."""
        return self._tags.get(name_or_id) or self._tags.named(name_or_id)

    def ranges(
        self,
        session_id: str | None,
        tags: Sequence[str],
        *,
        match: Literal["all", "any"] = "all",
        ticks: TickRange | None = None,
    ) -> dict[str, TaggedTicks]:
        """Return where the tags are, by session; a session without such a tick is left out.

        `tags` are ids or names; one that there is not is nowhere. `session_id` None asks every session, `ticks`
        narrows the answer. With `match="all"` a tick must carry every tag: one may come from a range and another from
        an event. Raises `InvalidInput` without any tag.
        """
        named = not isinstance(tags, str) and isinstance(tags, Iterable)
        if not named or not tags or not all(isinstance(tag, str) for tag in tags):
            raise InvalidInput(
                f"tags = {quoted(tags)} names no tags; give a list of names or ids.", argument="tags"
            )
        any_tag = match_of(match)
        with self._db.read():
            found_tags = [self.resolve(tag) for tag in dict.fromkeys(tags)]
            known_tag_ids = {tag.id for tag in found_tags if tag is not None}
            if any_tag:
                return self._ticks_of_tags(known_tag_ids, session_id, ticks) if known_tag_ids else {}
            if None in found_tags:
                return {}
            answers = [self._ticks_of_tags([tag_id], session_id, ticks) for tag_id in sorted(known_tag_ids)]
        return _in_all(answers)

    def tag_sets(self, tags: Sequence[str]) -> list[frozenset[str]]:
        """Return for each tag the ids that count as it: its own and those of the concepts below; none of no tag."""
        with self._db.read():
            found_tags = [self.resolve(tag) for tag in dict.fromkeys(tags)]
            return [frozenset() if tag is None else self._tags_below([tag.id])[1] for tag in found_tags]

    def _tags_below(self, tag_ids: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the tags that count as one of these, and those of them that count when a rule applied them."""
        counting, by_rule = set[str](), set[str]()
        for tag_id in tag_ids:
            wanted = self._concepts.with_descendants([tag_id])
            counting.update(wanted)
            hidden = self._hidden(wanted)
            if tag_id not in hidden:
                by_rule.update(concept for concept in wanted if concept not in hidden)
        return frozenset(counting), frozenset(by_rule)

    def _ticks_of_tags(
        self, tag_ids: Iterable[str], session_id: str | None, ticks: TickRange | None
    ) -> dict[str, TaggedTicks]:
        counting, by_rule = self._tags_below(tag_ids)
        placed = self._applications.placed(
            sorted(counting), session_id=session_id, ticks=ticks, not_by_rule=sorted(counting - by_rule)
        )
        answers: dict[str, TaggedTicks] = {}
        for session in sorted(placed):
            ranges, unknown = self._ticks(session, placed[session])
            covered = union(ranges)
            if ticks is not None:
                covered = intersection(covered, [ticks])
            if covered or unknown:
                answers[session] = TaggedTicks(ranges=covered, unknown_events=unknown)
        return answers

    def _ticks(self, session_id: str, placed: TagPlacement) -> tuple[list[TickRange], frozenset[str]]:
        ranges = list(placed.ranges)
        ranges += [known for _, known in placed.events if known is not None]
        waiting = sorted({event_id for event_id, known in placed.events if known is None})
        ticks = self._events.ticks_of(session_id, waiting) if waiting and self._events is not None else {}
        for where in ticks.values():
            ranges += where
        unknown = {event_id for event_id in waiting if not ticks.get(event_id)}
        return ranges, frozenset(unknown)

    # What a tick carries -----------------------------------------------------------------------------------------

    def applications_at(
        self, session_id: str, tick: int, *, event_ids: Sequence[str] | None = None, inherited: bool = True
    ) -> list[TagApplication]:
        """Return what is applied to a tick: to its timestep, to its events, to ranges that hold it.

        `event_ids` are its events where the caller knows them; otherwise the stream is asked. After each application
        of a concept come those that follow from it for the concepts above, with the source `inherited`.
        """
        with self._db.read():
            events = self._events_at(session_id, tick) if event_ids is None else event_ids
            direct = self._applications.touching(session_id, (tick, tick), event_ids=events)
            tag_applications = (
                [
                    tag_application
                    for application in direct
                    for tag_application in (application, *self._inherited_applications(application))
                ]
                if inherited
                else direct
            )
            hidden = self._hidden({application.tag_id for application in tag_applications})
            by_rule = {
                application.id: application.tag_id
                for application in direct
                if application.source is TagSource.AUTO
            }
            return [
                application
                for application in tag_applications
                if application.id not in by_rule
                or hidden.isdisjoint((application.tag_id, by_rule[application.id]))
            ]

    def _events_at(self, session_id: str, tick: int) -> Sequence[str]:
        # Asking the stream takes most of the time, and mostly nothing hangs on the answer.
        if self._events is None or not self._applications.any_event(session_id):
            return ()
        return self._events.events_at(session_id, tick)

    def _inherited_applications(self, application: TagApplication) -> list[TagApplication]:
        return [
            replace(application, tag_id=concept_id, source=TagSource.INHERITED)
            for concept_id in self._concepts.ancestors(application.tag_id)
        ]

    def tags_at(
        self, session_id: str, tick: int, *, event_ids: Sequence[str] | None = None, inherited: bool = False
    ) -> list[Tag]:
        """Return the tags on a tick, each once, in the order in which they were applied."""
        with self._db.read():
            applications = self.applications_at(session_id, tick, event_ids=event_ids, inherited=inherited)
            ids = dict.fromkeys(application.tag_id for application in applications)
            tags = self._tags.by_ids(ids)
        return [tags[tag_id] for tag_id in ids]


class CommentPlaces:
    """Which comments a range of ticks carries."""

    def __init__(self, db: Database, *, events: EventTicks | None = None) -> None:
        self._comments = Comments(db)
        self._db = db
        self._events = events

    def in_range(self, session_id: str, ticks: TickRange) -> list[Comment]:
        """Return the comments on ticks of a range, on ranges and events that share one with it, the oldest first."""
        with self._db.read():
            here = self._open_events_in(session_id, ticks)
            return self._comments.touching(session_id, ticks, event_ids=here)

    def _open_events_in(self, session_id: str, ticks: TickRange) -> list[str]:
        waiting = self._comments.open_events(session_id)
        if not waiting or self._events is None:
            return []
        ticks_by_event: Mapping[str, Sequence[TickRange]] = self._events.ticks_of(session_id, waiting)
        return [event for event, ranges in ticks_by_event.items() if intersection(union(ranges), [ticks])]


def _in_all(answers: Sequence[Mapping[str, TaggedTicks]]) -> dict[str, TaggedTicks]:
    """Return the ticks that every answer has, by session."""
    first, *rest = answers
    found_ticks: dict[str, TaggedTicks] = {}
    for session, ticks in first.items():
        ranges, unknown = ticks.ranges, ticks.unknown_events
        for answer in rest:
            other = answer.get(session, TaggedTicks(ranges=()))
            ranges = intersection(ranges, other.ranges)
            unknown = unknown | other.unknown_events
        if ranges or unknown:
            found_ticks[session] = TaggedTicks(ranges=ranges, unknown_events=unknown)
    return found_ticks


class StreamEvents:
    """The stream's word on which ticks an event covers (`EventTicks`)."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience

    def ticks_of(self, session_id: str, event_ids: Sequence[str]) -> Mapping[str, Sequence[TickRange]]:
        """Return the ranges of ticks of these events; one that the stream does not have is left out."""
        places, cold = self._places(session_id, event_ids)
        ranges = {
            event_id: union(
                [*(places[event_id].ranges if event_id in places else ()), *cold.get(event_id, ())]
            )
            for event_id in event_ids
        }
        return {event_id: ranges for event_id, ranges in ranges.items() if ranges}

    def events_at(self, session_id: str, tick: int) -> Sequence[str]:
        """Return the event that the timestep at `tick` belongs to, if any."""
        try:
            return self._experience.events_at(session_id, tick)
        except NotFound:  # a session of another store, or one that was taken out
            return []

    def whole(self, session_id: str, event_id: str, *, closed: bool) -> TickRange | None:
        """Return the ticks of an event that has ended and is one range, so that they can never change.

        One whose detail is gone does not say whether it ended: it did when its session has, `closed`. Raises `NotFound`
        when no timestep of the session carries the event.
        """
        places, cold = self._places(session_id, [event_id])
        if not places and not cold:
            raise NotFound(f"No timestep of session {session_id!r} carries the event {event_id!r}.")
        place = places.get(event_id)
        ranges = union([*(() if place is None else place.ranges), *cold.get(event_id, ())])
        ended = closed if place is None else place.ended
        return ranges[0] if len(ranges) == 1 and ended else None

    def _places(
        self, session_id: str, event_ids: Sequence[str]
    ) -> tuple[Mapping[str, EventPlace], Mapping[str, Ranges]]:
        """Return where events are in the stream, and what left it; in this order nothing that leaves is missed."""
        try:
            places = self._experience.event_places(session_id, event_ids)
        except NotFound:
            return {}, {}
        return places, self._experience.cold_ticks(session_id, event_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A target as a caller names it: exactly one of the three."""

    timestep_id: str | None = None
    event_id: str | None = None
    tick_range: Sequence[int] | None = None
    session_id: str | None = None


def _named_target(target: Target) -> NamedTarget:
    ends = (target.range_start, target.range_end)
    in_ticks = target.target_type is TargetType.RANGE
    return NamedTarget(
        timestep_id=target.timestep_id,
        event_id=target.event_id if target.target_type is TargetType.EVENT else None,
        tick_range=cast("TickRange", ends) if in_ticks else None,
        session_id=target.session_id,
    )


class Tagging:
    """What `hx.xdb` does with tags and comments on experience."""

    def __init__(self, context: StoreContext, experience: Experience) -> None:
        db, events = context.db, StreamEvents(experience)
        self._db, self._experience, self._ids = db, experience, context.ids
        self._mask = experience.masking.text
        self._events = events
        self._applications, self._comments, self._tags = TagApplications(db), Comments(db), Tags(db)
        self._cold = ColdTags(db)
        self.places = TagPlaces(db, events=events, hidden=experience.visibility.hidden)
        self._remarks = CommentPlaces(db, events=events)
        self.index = TagIndex(
            context,
            masking=experience.masking,
            examples=self.examples,
            loaded=experience.look_at_lenses,
        )

    # Targets ----------------------------------------------------------------------------------------------------

    def target(self, named: NamedTarget) -> Target:
        """Return what is named, in its session; raises `InvalidTarget` unless it is one thing, `NotFound` for a
        session, a timestep or an event that was never recorded.
        """
        targets = [
            name for name in ("timestep_id", "event_id", "tick_range") if getattr(named, name) is not None
        ]
        if len(targets) != 1:
            words = "none was" if not targets else " and ".join(targets) + " were"
            raise InvalidTarget(f"Give exactly one of timestep_id, event_id and tick_range; {words} given.")
        if named.timestep_id is not None:
            target = timestep_target(named.timestep_id, session_id=named.session_id)
        elif named.event_id is not None:
            target = event_target(self._session(named), named.event_id)
        else:
            assert named.tick_range is not None
            target = range_target(self._session(named), named.tick_range)
        return self._recorded_target(target)

    def _session(self, named: NamedTarget) -> str:
        session_id = self._experience.current if named.session_id is None else named.session_id
        if session_id is None:
            raise InvalidTarget(
                "There is no current session;", remedy="{call start_session first, or }give {session_id}."
            )
        return session_id

    def _last_tick(self, session_id: str) -> int:
        number = Sessions(self._db).number(session_id)
        assert number is not None
        return last_recorded(self._experience.reader, ColdRanges(self._db), session_id, number)

    def _recorded_target(self, target: Target) -> Target:
        session = self._experience.session(target.session_id)
        if target.event_id is not None:
            # Kept where it cannot change any more: what is compressed later is still found by it.
            closed = session.ended_at is not None
            whole = self._events.whole(session.id, target.event_id, closed=closed)
            return event_target(session.id, target.event_id, whole)
        if target.timestep_id is not None:
            if not self._experience.was_recorded(session.id, target.range_start or 0):
                raise NotFound(f"Timestep {target.timestep_id!r} was never recorded.")
        elif not self._experience.was_recorded(session.id, target.range_start or 0):
            # Its end may be still to come: what is recorded up to there is covered then.
            last = self._last_tick(session.id)
            raise NotFound(
                f"Session {session.id!r} has no tick {target.range_start}; "
                f"{f'its last is {last}' if last else 'nothing was recorded in it yet'}."
            )
        return target

    # Tags -------------------------------------------------------------------------------------------------------

    def tag(
        self, name_or_id: str, named: NamedTarget, *, confidence: float, note: str | None
    ) -> TagApplication:
        """Apply a tag, which is created where there is none of this id or name; return the application."""
        target, sure = self.target(named), check_confidence(confidence)
        remark = None if note is None else self._mask(check_size(note, "note", limit_bytes=NOTE_BYTES_LIMIT))
        with self._db.transaction():
            application = TagApplication(
                id=self._ids.new("ta"),
                tag_id=self.index.resolve_or_create(name_or_id).id,
                target=target,
                confidence=sure,
                source=TagSource.MANUAL,
                created_at=self._db.clock.now(),
                note=remark,
            )
            self._add(application)
        return application

    def _add(self, application: TagApplication) -> None:
        self._applications.add([application])
        kind = self._tags.require(application.tag_id).tag_type
        self._cold.added(application, always=kind is not TagType.CONCEPT)

    def add_application(self, application: TagApplication) -> TagApplication:
        """Store an application as it is given, an id where it has none; its tag must be there.

        Raises `NotFound`, `InvalidInput`, `InvalidTarget` and `LimitExceeded` as `tag` does, `Conflict` for an id that
        is taken.
        """
        if application.source is TagSource.INHERITED:
            raise InvalidInput(
                "What is inherited follows by itself from narrower concepts; it is not stored."
            )
        note = application.note
        checked_application = replace(
            application,
            id=self._free_id(application.id, "ta"),
            target=self.target(_named_target(application.target)),
            confidence=check_confidence(application.confidence),
            note=None if note is None else self._mask(check_size(note, "note", limit_bytes=NOTE_BYTES_LIMIT)),
        )
        with self._db.transaction():
            if self._applications.has(checked_application.id):
                raise Conflict(
                    f"A tag application {checked_application.id!r} is there already; give another id, or none."
                )
            self._add(checked_application)
        return checked_application

    def add_comment(self, comment: Comment) -> Comment:
        """Store a remark as it is given, an id where it has none. Raises as `comment` does, and `Conflict`."""
        checked_comment = replace(
            comment,
            id=self._free_id(comment.id, "comment"),
            target=self.target(_named_target(comment.target)),
            content=self._remark(comment.content),
            updated_at=None,
        )
        with self._db.transaction():
            if self._comments.has(checked_comment.id):
                raise Conflict(
                    f"A comment {checked_comment.id!r} is there already; give another id, or none."
                )
            self._comments.add(checked_comment)
        return checked_comment

    def _free_id(self, wanted_id: str, prefix: str) -> str:
        return self._experience.intake.name(wanted_id, "id") if wanted_id else self._ids.new(prefix)

    def untag(self, application_id: str) -> None:
        """Take one application away, also from what stands for timesteps that left; raises `NotFound`."""
        with self._db.transaction():
            application = self._applications.get(application_id)
            self._applications.remove(application_id)
            self._cold.removed(application)

    def remove(self, name_or_id: str, *, force: bool) -> int:
        """Remove a tag with its uses; return how many those were. Raises `NotFound`, and `Conflict` for what stays."""
        with self._db.transaction():
            tag = self.require(name_or_id)
            pack = self._tags.pack_of(tag.id)
            if pack is not None:
                raise Conflict(
                    f"Tag {tag.name!r} is a concept of the pack {pack!r} and stays;",
                    remedy="`{untag}` takes single uses away.",
                )
            waiting = self._tags.open_submissions(tag.id)
            if waiting:
                raise Conflict(
                    f"The bud {tag.name!r} stands in the submission {waiting[0]!r}, which is not answered yet;",
                    remedy="`{resolve_submission}` first.",
                )
            uses = self._applications.count(tag.id)
            if not force and (uses or tag.tag_type is TagType.BUD):
                times = "once" if uses == 1 else f"{uses} times"
                what = f"is used {times}" if uses else "is a bud"
                raise Conflict(
                    f"Tag {tag.name!r} {what};",
                    remedy="with {force=True} it is removed, and its uses with it.",
                )
            self._applications.remove_of_tag(tag.id)
            self._tags.remove(tag.id)
        self.index.working_set.discard(tag.id)
        return uses

    def applications(
        self, name_or_id: str, *, session_id: str | None, limit: int, offset: int
    ) -> list[TagApplication]:
        """Return the uses of a tag, by session and tick; raises `NotFound`."""
        tag = self.require(name_or_id)
        return self._applications.of_tags(
            [tag.id],
            session_id=session_id,
            by_rule=tag.id not in self._experience.visibility.hidden([tag.id]),
            limit=limit,
            offset=offset,
        )

    def require(self, name_or_id: str) -> Tag:
        """Return the tag of this id or name; raises `NotFound`."""
        tag = self.index.resolve(name_or_id)
        if tag is None:
            raise NotFound(f"Tag {name_or_id!r} is not there;", remedy="`{find_tags}` lists what there is.")
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
        found_ticks = self.places.ranges(session_id, tags, match=match, ticks=ticks)
        return {session: tagged.ranges for session, tagged in found_ticks.items() if tagged.ranges}

    # Comments ---------------------------------------------------------------------------------------------------

    def comment(self, content: str, named: NamedTarget) -> Comment:
        """Store a remark; returns it without secrets."""
        comment = Comment(
            id=self._ids.new("comment"),
            target=self.target(named),
            content=self._remark(content),
            created_at=self._db.clock.now(),
        )
        with self._db.transaction():
            self._comments.add(comment)
        return comment

    def edit_comment(self, comment_id: str, content: str) -> Comment:
        """Change a remark; what it said is kept. Raises `NotFound`."""
        remark = self._remark(content)
        with self._db.transaction():
            return self._comments.edit(comment_id, remark, at=self._db.clock.now())

    def remove_comment(self, comment_id: str) -> None:
        """Take a remark away, with what it said before; raises `NotFound`."""
        with self._db.transaction():
            self._comments.remove(comment_id)

    def get_comment(self, comment_id: str) -> Comment:
        """Return one remark; raises `NotFound`."""
        return self._comments.get(comment_id)

    def comments_in(self, session_id: str, ticks: Sequence[int]) -> list[Comment]:
        """Return the remarks that share a tick with a range, the oldest first; raises `NotFound` for no session."""
        self._experience.session(session_id)
        return self._remarks.in_range(session_id, check_ticks(ticks))

    def _remark(self, content: str) -> str:
        if not isinstance(content, str) or not content.strip():
            raise InvalidInput("A comment needs a text.")
        return self._mask(check_size(content, "comment", limit_bytes=COMMENT_BYTES_LIMIT))
