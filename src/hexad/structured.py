"""Document 1's calls on a store: structured memories, context bundles, links. Delegation only."""

from __future__ import annotations

from hexad.wiring import Parts


class StructuredCalls:
    """The part of `Hexad` that document 1 names."""

    _parts: Parts
