"""Jupyter notebooks: the cells' sources, one section each; outputs stay out."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hexad.ingest.sources.formats.markdown import parse_markdown
from hexad.ingest.sources.formats.parsed import Parsed
from hexad.text.chunking import LineIndex
from hexad.text.normalize import clean


def parse_notebook(text: str) -> Parsed:
    """Return the cells' sources with a blank line between them; the text itself when it is no notebook.

    Outputs are results, not sources: they change with every run and often hold pictures. Line numbers count
    in the text that is returned.
    """
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return Parsed(text=text)
    cells = list(_cells(notebook))
    if not cells:
        return Parsed(text="" if isinstance(notebook, dict) and "cells" in notebook else text)
    joined = "\n\n".join(source for _, source in cells)
    index = LineIndex(joined)
    sections = []
    title = None
    at = 0
    for number, (kind, source) in enumerate(cells, start=1):
        sections.append(index.section(at, at + len(source), f"cell {number} ({kind})"))
        at += len(source) + 2
        if title is None and kind == "markdown":
            title = parse_markdown(source).title
    return Parsed(text=joined, sections=tuple(sections), title=title)


def _cells(notebook: object) -> Iterator[tuple[str, str]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(line for line in source if isinstance(line, str))
        if isinstance(source, str) and (source := clean(source)).strip():
            yield str(cell.get("cell_type", "raw"))[:20], source
