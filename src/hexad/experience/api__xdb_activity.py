"""The call of `hx.xdb` that counts experience by time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hexad.core.arguments import parse_choice, word_list
from hexad.experience.arguments import time_range_of, whole_number
from hexad.experience.query.activity import ActivityQuestion
from hexad.experience.recording.intake import name
from hexad.experience.stream_database import Experience
from hexad.experience.values.activity import ActivityBucket, ActivityUnit


class ActivityCalls:
    """The part of `Xdb` that says what was active when."""

    _experience: Experience

    def activity(
        self,
        *,
        by: ActivityUnit | str = "hour",
        concepts: Sequence[str] | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 1_000,
    ) -> list[ActivityBucket]:
        """Return how much was recorded, and how active concepts were, by minute, hour, day, week or month in UTC.

        `concepts` None means the ten that were strongest, by the sum of their scores. `session_id` is as in `recall`:
        None is this thread's current session, and without one, or with `"*"`, all sessions. What has left the stream
        counts by its COLD records, each where it begins, and a bucket says how much of it that is. Of more than
        `limit` buckets the latest are returned, the oldest of them first; those without a timestep are left out.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", "rain", {"pack::Weather": score}) for score in (0.25, 0.75)]
        ...     [dict(bucket.concepts) for bucket in hx.xdb.activity(by="day")]
        [{'pack::Weather': ConceptActivity(count=2, mean=0.5, peak=0.75)}]
        """
        given = None
        if concepts is not None:
            given = list(dict.fromkeys(name(one, "a concept") for one in word_list(concepts, "concepts")))
        return self._experience.activity(
            ActivityQuestion(
                unit=parse_choice(ActivityUnit, by, "by"),
                concepts=given,
                session_id=self._experience.scope(session_id),
                times=time_range_of(time_range),
                limit=whole_number(limit, "limit", low=1),
            )
        )
