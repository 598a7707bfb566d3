"""Which languages the graph reads, and who reads each."""

from __future__ import annotations

from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.imports.manifests import MANIFEST, PATTERNS, is_manifest, read_manifest
from hexad.code_graph.python_code import read_python
from hexad.code_graph.syntax_code import read_syntax
from hexad.ingest.sources.file_place import language_of, suffixes_of
from hexad.ingest.sources.formats.syntax import GRAMMARS, is_readable

PYTHON: Final = "python"
KNOWN: Final = frozenset({PYTHON, *GRAMMARS})
"""Languages of which a graph is made, most of them where the extra `code` is installed."""


def languages() -> frozenset[str]:
    """Return the languages that can be read here, manifests among them where a language has some."""
    readable = {language for language in GRAMMARS if is_readable(language)}
    return frozenset({PYTHON, *readable, *((MANIFEST,) if readable else ())})


def code_language(path: str) -> str | None:
    """Return the language of a file of code by its name, None for one that no graph is made of."""
    if is_manifest(path):
        return MANIFEST
    language = language_of(path.rpartition("/")[2])
    return language if language in KNOWN else None


def read_code(path: str, language: str, text: str) -> FileFacts | None:
    """Return what a file says, None for a language that is not read here."""
    if language not in languages():
        return None
    if language == MANIFEST:
        return read_manifest(path, text)
    return read_python(text) if language == PYTHON else read_syntax(text, language)


def patterns() -> tuple[str, ...]:
    """Return the names of files of code, as patterns of a `.gitignore`."""
    return (
        *(f"*.{suffix}" for language in sorted(KNOWN) for suffix in suffixes_of(language)),
        *manifest_names(),
    )


def manifest_names() -> tuple[str, ...]:
    """Return the names of manifests, none where no language that has some can be read."""
    return PATTERNS if MANIFEST in languages() else ()
