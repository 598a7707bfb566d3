"""Times as text."""

from __future__ import annotations

from datetime import UTC, datetime


def format_time(time: datetime) -> str:
    """Return RFC 3339 in UTC with `Z`; fractions of a second only where there are any."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
