"""What holds of every reader's sections, whatever the text."""

from __future__ import annotations

from collections.abc import Sequence

from hexad.text.sections import Section


def assert_sections_cover(text: str, sections: Sequence[Section], *, first_line: int = 1) -> None:
    """Sections are in order, share nothing, hold all that is not blank, and count lines by their ends."""
    at, line = 0, first_line
    for section in sections:
        assert at <= section.start < section.end <= len(text)
        assert not text[at : section.start].strip()
        line += text.count("\n", at, section.start)
        assert line == section.first_line
        line += text.count("\n", section.start, section.end - 1)
        assert line == section.last_line
        line += text.count("\n", section.end - 1, section.end)
        at = section.end
    assert not text[at:].strip()


def outline(text: str, sections: Sequence[Section]) -> list[tuple[str, int, int]]:
    """Return headings with their lines."""
    return [(section.heading, section.first_line, section.last_line) for section in sections]
