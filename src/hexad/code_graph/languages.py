"""Which languages the graph reads, and who reads each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.python_code import read_python
from hexad.ingest.sources.file_place import suffixes_of

READERS: Final[Mapping[str, Callable[[str], FileFacts]]] = {"python": read_python}
"""By the name that a source's reader gives a file's language."""


def languages() -> frozenset[str]:
    """Return the languages that can be read here."""
    return frozenset(READERS)


def read_code(language: str, text: str) -> FileFacts | None:
    """Return what a file says, None for a language that is not read."""
    reader = READERS.get(language)
    return None if reader is None else reader(text)


def patterns() -> tuple[str, ...]:
    """Return the names of files that can be read here, as patterns of a `.gitignore`."""
    return tuple(f"*.{suffix}" for language in sorted(languages()) for suffix in suffixes_of(language))
