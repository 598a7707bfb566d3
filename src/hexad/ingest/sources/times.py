"""Times as sources write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_MILLISECONDS_FROM: Final = 1e11
"""A number from here on counts milliseconds: as seconds it would lie in the year 5138."""


def read_time(value: object) -> datetime | None:
    """Return an aware time in UTC of an ISO 8601 text or a Unix time in seconds or milliseconds.

    None when the value is neither. A time without a zone is taken as UTC, so that no machine's zone decides.
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
        if not isinstance(value, str) or not 8 <= len(value.strip()) <= 40:
            return None
        time = datetime.fromisoformat(value.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
