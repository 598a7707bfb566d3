"""When a provider that did not answer, or refused for now, is asked again."""

from __future__ import annotations

from typing import Final

FIRST_PAUSE_S: Final = 0.5


class Backoff:
    """The pauses between attempts of one call: each is twice the one before, unless the provider asks for another."""

    def __init__(self, attempts: int) -> None:
        self._left, self._pause_s = attempts, FIRST_PAUSE_S

    def pause_s(self, status: int | None, retry_after: str | None = None) -> float | None:
        """Return how long to wait after an attempt that failed, None where another one is of no use or is one too many.

        `status` is what the provider answered, None where it did not; `retry_after` its header of that name.
        """
        self._left -= 1
        if self._left < 1 or not (status is None or status == 429 or status >= 500):
            return None
        own_pause_s, self._pause_s = self._pause_s, self._pause_s * 2
        asked_s = _seconds(retry_after)
        return own_pause_s if asked_s is None else asked_s


def _seconds(retry_after: str | None) -> float | None:
    """Return a `Retry-After` given in seconds; its form as a date is left to the usual pause."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
