"""Which ordering a call uses (document 1, section 5.5)."""

from __future__ import annotations

from hexad.core.tracing import log
from hexad.errors import InvalidSpace
from hexad.memory.policy import Backend, parse_backend


def resolve_backend(
    per_call: Backend | str | None, space_policy: Backend | str | None, setting: Backend | str | None
) -> tuple[Backend, str | None]:
    """Return the ordering to use and, where its name is unknown, a note that says what was done about it.

    What the call names goes first, then the space's policy, then the setting `memory_backend`
    (`HEXAD_MEMORY_BACKEND`), then `basic`. An unknown name does not fall through to the next: it is logged as a
    warning and `basic` orders instead. Case does not count, and aliases are known (`graphrag`, `memtree`).

    >>> resolve_backend("GraphRAG", None, "basic")
    (<Backend.HYBRID: 'hybrid'>, None)
    """
    given = next((name for name in (per_call, space_policy, setting) if name is not None), Backend.BASIC)
    try:
        return parse_backend(given), None
    except InvalidSpace:
        note = f"Unknown backend {given!r}: ordered by 'basic' instead; known are {', '.join(Backend)}."
        log.warning("%s", note)
        return Backend.BASIC, note
