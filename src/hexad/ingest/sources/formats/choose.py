"""The reader for a language: what its text's sections are."""

from __future__ import annotations

from typing import Final

from hexad.ingest.sources.formats.code import code_sections
from hexad.ingest.sources.formats.html import parse_html
from hexad.ingest.sources.formats.markdown import parse_asciidoc, parse_markdown, parse_notebook, parse_rst
from hexad.ingest.sources.formats.parsed import Parsed

CONVERTED: Final = frozenset(["html", "notebook"])
"""Languages whose markup is taken out: their text is not the file's."""


def parse(text: str, *, language: str | None, first_line: int = 1) -> Parsed:
    """Return the text with its sections; without any where the language has none that is known.

    `text` is clean (`hexad.text.normalize.clean`), its first line is the source's line `first_line`.
    """
    match language:
        case "markdown":
            return parse_markdown(text, first_line=first_line)
        case "rst":
            return parse_rst(text, first_line=first_line)
        case "asciidoc":
            return parse_asciidoc(text, first_line=first_line)
        case "html":
            return parse_html(text)
        case "notebook":
            return parse_notebook(text)
        case _:
            return Parsed(text=text, sections=code_sections(text, language=language, first_line=first_line))
