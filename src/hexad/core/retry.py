"""Work that is done again where something came in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TryAgain(Exception):
    """Raised by an attempt under which something changed: nothing was done, and the next one may succeed."""


def retry(
    attempt: Callable[[], T],
    *,
    times: int,
    failure: Callable[[], Exception] | None = None,
    on: type[Exception] = TryAgain,
) -> T:
    """Return what `attempt` gives, made anew while it raises `on`, `times` times at most.

    After the last one `failure()` is raised, or where there is none what that attempt raised.
    """
    for _ in range(times - 1):
        try:
            return attempt()
        except on:
            continue
    try:
        return attempt()
    except on:
        if failure is None:
            raise
    raise failure()
