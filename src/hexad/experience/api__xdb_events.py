"""The calls of `hx.xdb` that find whole events again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from hexad.experience.arguments import (
    activation_ranges,
    event_types_of,
    match_of,
    text_of,
    tick_range_of,
    time_range_of,
    whole_number,
)
from hexad.experience.stream_database import Experience
from hexad.experience.tagging import Tagging
from hexad.experience.values.records import EventType, StepQuery
from hexad.experience.values.tiers import EventRecord
from hexad.text.search_terms import search_terms


class EventCalls:
    """The part of `Xdb` that answers with events: replies, messages, calls of tools."""

    _experience: Experience
    _tagging: Tagging

    def recall_events(
        self,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[EventRecord]:
        """Return whole events, in the order of sessions and ticks, their texts joined; COLD replies by their summary.

        An event is all timesteps of one `event_id`; without one each message or call, and tokens that were generated
        one after the other. All words of `text` must be in it, in any order, each at the beginning of a word, with
        another simple ending too; what stands in double quotes must be there as it is. Capitals or not, and however
        words are spread over tokens. `event_types` asks for the type of the event, which is that of its first
        timestep. The other filters are those of `recall`: an event is found when they hold together for one of its
        timesteps, and comes whole.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     for token in ("We dep", "loyed", " on Tues", "day."):
        ...         _ = hx.xdb.record("output", token, event_id="reply-1")
        ...     [event.content for event in hx.xdb.recall_events("tuesday deploys")]
        ['We deployed on Tuesday.']
        """
        session, ticks = self._experience.scope(session_id), tick_range_of(tick_range)
        text = text_of(text, "text")
        return self._experience.recall_events(
            StepQuery(
                session_id=session,
                ticks=ticks,
                tagged=self._tagging.tagged(session, tags, match=match, ticks=ticks) if tags else None,
                tag_sets=self._tagging.places.tag_sets(tags) if tags else (),
                any_tag=match_of(match),
                times=time_range_of(time_range),
                event_types=event_types_of(event_types),
                activations=activation_ranges(concepts),
                event_id=text_of(event_id, "event_id"),
                limit=whole_number(limit, "limit", low=1),
                offset=whole_number(offset, "offset", low=0),
            ),
            search_terms(text) if text is not None and text.strip() else None,
        )
