"""The calls of `hx.xdb` on COLD records themselves: sums of activations, tags, and what they were made of."""

from __future__ import annotations

from datetime import datetime

from hexad.errors import InvalidInput
from hexad.experience.arguments import time_range_of, whole_number
from hexad.experience.stream_database import Experience
from hexad.experience.values.records import CompressionLevel
from hexad.experience.values.tiers import CompressedRecord


class ColdCalls:
    """The part of `Xdb` that shows COLD records as they are; `recall` shows them as timesteps among others."""

    _experience: Experience

    def get_compressed_record(self, record_id: str) -> CompressedRecord | None:
        """Return a COLD record, with its lineage; None when none has this id (any more)."""
        return self._experience.compressed_record(record_id)

    def compressed_records(
        self,
        *,
        level: CompressionLevel | str | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[CompressedRecord]:
        """Return COLD records, the oldest first, of a level such as `"QUARTER"` or of all.

        `session_id` None is this thread's current session, and without one, or with `"*"`, all sessions; a session's
        are also those of days and more that it is part of. `time_range` takes what begins before its end and ends
        after its beginning. Raises `NotFound` for a session that was never started, `InvalidInput` for a value that
        cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", f" {word}" * 20) for word in ("a", "b", "c", "d")]
        ...     _ = hx.xdb.request_compaction()
        ...     [(one.level.name, one.timesteps) for one in hx.xdb.compressed_records()]
        [('REPLY', 2)]
        """
        return self._experience.compressed_records(
            self._experience.scope(session_id),
            level=None if level is None else level_of(level),
            times=time_range_of(time_range),
            limit=whole_number(limit, "limit", low=1),
            offset=whole_number(offset, "offset", low=0),
        )


def level_of(given: CompressionLevel | str) -> CompressionLevel:
    """Return a level by its name or its number; raises `InvalidInput`."""
    try:
        level = CompressionLevel[given.upper()] if isinstance(given, str) else CompressionLevel(given)
    except (KeyError, ValueError):
        level = CompressionLevel.TOKEN
    if level is CompressionLevel.TOKEN:
        words = ", ".join(one.name for one in CompressionLevel if one is not CompressionLevel.TOKEN)
        raise InvalidInput(f"level = {given!r} is no level of COLD records; give one of {words}.")
    return level
