"""The calls of `hx.xdb` that find timesteps again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from hexad.errors import InvalidInput
from hexad.experience.arguments import (
    activation_ranges,
    event_types_of,
    match_of,
    text_of,
    tick_range_of,
    time_range_of,
    whole_number,
)
from hexad.experience.recording.intake import name
from hexad.experience.stream_database import Experience
from hexad.experience.tagging import Tagging
from hexad.experience.values.records import EventType, StepQuery, TimestepRecord

SURPRISING: Final = ("surprising", "confusing", "interesting", "unexpected")
"""The tags that `recall_surprising` asks for, any of them."""


class RecallCalls:
    """The part of `Xdb` that answers from experience."""

    _experience: Experience
    _tagging: Tagging

    def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
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
        `text_search` is a part of the content, capitals or not, or of the tokens of an event joined: then the tokens
        that spell it are found. Ranges of ticks include both ends, ranges of time
        leave out theirs and may be open, as `(since, None)`. What this process recorded is found at once, whether
        sealed or not.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.
        """
        session, ticks = self._experience.scope(session_id), tick_range_of(tick_range)
        return self._experience.query(
            StepQuery(
                session_id=session,
                ticks=ticks,
                tagged=self._tagging.tagged(session, tags, match=match, ticks=ticks) if tags else None,
                tag_sets=self._tagging.places.tag_sets(tags) if tags else (),
                any_tag=match_of(match),
                times=time_range_of(time_range),
                event_types=event_types_of(event_types),
                activations=activation_ranges(concepts),
                text=text_of(text_search, "text_search") or None,
                event_id=text_of(event_id, "event_id"),
                limit=whole_number(limit, "limit", low=1),
                offset=whole_number(offset, "offset", low=0),
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
                limit=whole_number(limit, "limit", low=1),
            )
        )

    def recall_surprising(self, *, session_id: str | None = None, limit: int = 50) -> list[TimestepRecord]:
        """Return what is tagged surprising, confusing, interesting or unexpected: candidates for a closer look."""
        return self.recall(tags=SURPRISING, match="any", session_id=session_id, limit=limit)

    def get_timestep(self, timestep_id: str) -> TimestepRecord | None:
        """Return one timestep, None when there is none; raises `InvalidInput` for what is no id of one."""
        if not isinstance(timestep_id, str):
            raise InvalidInput(f"{timestep_id!r} is no timestep; ids look like ts-SESSION-TICK.")
        return self._experience.get(timestep_id)
