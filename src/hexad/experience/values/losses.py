"""Segments of the stream that were damaged and given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class LostTicks:
    """What a segment held of one session: so many timesteps from one tick to another, both included."""

    session_id: str | None
    """None for a session that is not there any more."""
    first_tick: int
    last_tick: int
    timesteps: int

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostSegment:
    """A segment that was given up: when, by whom, and what it held of which sessions, as far as that is known.

    `timesteps` counts those too that a COLD record stands for or that were erased and still in the file. `ranges` has
    the 1,000 sessions with the most timesteps, `sessions` counts all.
    """

    segment: str
    at: datetime
    by: str
    timesteps: int
    since: datetime
    until: datetime
    sessions: int
    ranges: Sequence[LostTicks]

    def __str__(self) -> str:
        named = [each.session_id for each in self.ranges if each.session_id is not None]
        more = self.sessions - len(named[:3])
        of = ", ".join(map(repr, named[:3])) + (f" and {more} more" if named and more else "")
        return (
            f"Segment {self.segment} was given up on {self.at:%Y-%m-%d} by {self.by}: up to {self.timesteps:,} "
            f"timesteps from {self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M}"
            + (f" of {of} are" if of else " are")
            + " lost."
        )

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)
