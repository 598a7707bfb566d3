"""An export as one JSON document, with the lists of every system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput
from hexad.privacy.export import json_pieces
from hexad.privacy.report import ExportItem
from hexad.services import export_sections


def export_json(items: Iterable[ExportItem]) -> Iterator[str]:
    """Yield the pieces of one JSON document that holds the items of `Hexad.export`, without keeping them.

    Every list stands there, also an empty one.

    >>> import hexad, json
    >>> with hexad.open(":memory:", embedder=None) as hx:
    ...     _ = hx.remember("Ann leads the release.", data_subjects=["ann"])
    ...     held = json.loads("".join(hexad.export_json(hx.export(subject="ann"))))
    >>> held["memories"][0]["raw"], held["documents"]
    ('Ann leads the release.', [])
    """
    if not isinstance(items, Iterable):
        raise InvalidInput(
            f"items = {quoted(items)} cannot be used; give what `Hexad.export` returns.", argument="items"
        )
    yield from json_pieces(map(_item, items), export_sections())


def _item(value: object) -> ExportItem:
    if not isinstance(value, ExportItem):
        raise InvalidInput(f"items hold {quoted(value)}; give what `Hexad.export` returns.", argument="items")
    return value
