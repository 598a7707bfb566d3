"""Where tags are, as ranges of ticks: applications to timesteps, events and ranges alike, of narrower concepts too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from hexad.core.tick_ranges import intersection, union
from hexad.database.connection import Database
from hexad.errors import InvalidInput
from hexad.experience.tables.comments import Comments
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tag_applications import Placed, TagApplications
from hexad.experience.tables.tags import Tags
from hexad.experience.values.tags import (
    Comment,
    EventTicks,
    Tag,
    TagApplication,
    TaggedTicks,
    TagSource,
    TickRange,
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
            raise InvalidInput(f"tags = {tags!r} names no tags; give a list of names or ids.")
        if match not in ("all", "any"):
            raise InvalidInput(f"match = {match!r} is neither 'all' nor 'any'.")
        with self._db.read():
            found = [self.resolve(tag) for tag in dict.fromkeys(tags)]
            known = {tag.id for tag in found if tag is not None}
            if match == "any":
                return self._covered(known, session_id, ticks) if known else {}
            if None in found:
                return {}
            answers = [self._covered([tag_id], session_id, ticks) for tag_id in sorted(known)]
        return _in_all(answers)

    def tag_sets(self, tags: Sequence[str]) -> list[frozenset[str]]:
        """Return for each tag the ids that count as it: its own and those of the concepts below; none of no tag."""
        with self._db.read():
            found = [self.resolve(tag) for tag in dict.fromkeys(tags)]
            return [frozenset() if tag is None else self._counting([tag.id])[1] for tag in found]

    def _counting(self, tag_ids: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the tags that count as one of these, and those of them that count when a rule applied them."""
        counting, by_rule = set[str](), set[str]()
        for tag_id in tag_ids:
            wanted = self._concepts.with_descendants([tag_id])
            counting.update(wanted)
            hidden = self._hidden(wanted)
            if tag_id not in hidden:
                by_rule.update(concept for concept in wanted if concept not in hidden)
        return frozenset(counting), frozenset(by_rule)

    def _covered(
        self, tag_ids: Iterable[str], session_id: str | None, ticks: TickRange | None
    ) -> dict[str, TaggedTicks]:
        counting, by_rule = self._counting(tag_ids)
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

    def _ticks(self, session_id: str, placed: Placed) -> tuple[list[TickRange], frozenset[str]]:
        ranges = list(placed.ranges)
        ranges += [known for _, known in placed.events if known is not None]
        waiting = sorted({event_id for event_id, known in placed.events if known is None})
        told = self._events.ticks_of(session_id, waiting) if waiting and self._events is not None else {}
        for where in told.values():
            ranges += where
        unknown = {event_id for event_id in waiting if not told.get(event_id)}
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
            found = (
                [
                    tag_application
                    for application in direct
                    for tag_application in (application, *self._inherited(application))
                ]
                if inherited
                else direct
            )
            hidden = self._hidden({application.tag_id for application in found})
            by_rule = {
                application.id: application.tag_id
                for application in direct
                if application.source is TagSource.AUTO
            }
            return [
                application
                for application in found
                if application.id not in by_rule
                or hidden.isdisjoint((application.tag_id, by_rule[application.id]))
            ]

    def _events_at(self, session_id: str, tick: int) -> Sequence[str]:
        # Asking the stream takes most of the time, and mostly nothing hangs on the answer.
        if self._events is None or not self._applications.any_event(session_id):
            return ()
        return self._events.events_at(session_id, tick)

    def _inherited(self, application: TagApplication) -> list[TagApplication]:
        return [
            replace(application, tag_id=concept_id, source=TagSource.INHERITED)
            for concept_id in self._concepts.ancestors(application.tag_id)
        ]

    def tags_at(
        self, session_id: str, tick: int, *, event_ids: Sequence[str] | None = None, inherited: bool = False
    ) -> list[Tag]:
        """Return the tags on a tick, each once, in the order in which they were applied."""
        with self._db.read():
            found = self.applications_at(session_id, tick, event_ids=event_ids, inherited=inherited)
            ids = dict.fromkeys(application.tag_id for application in found)
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
        told: Mapping[str, Sequence[TickRange]] = self._events.ticks_of(session_id, waiting)
        return [event for event, ranges in told.items() if intersection(union(ranges), [ticks])]


def _in_all(answers: Sequence[Mapping[str, TaggedTicks]]) -> dict[str, TaggedTicks]:
    """Return the ticks that every answer has, by session."""
    first, *rest = answers
    found: dict[str, TaggedTicks] = {}
    for session, ticks in first.items():
        ranges, unknown = ticks.ranges, ticks.unknown_events
        for answer in rest:
            other = answer.get(session, TaggedTicks(ranges=()))
            ranges = intersection(ranges, other.ranges)
            unknown = unknown | other.unknown_events
        if ranges or unknown:
            found[session] = TaggedTicks(ranges=ranges, unknown_events=unknown)
    return found
