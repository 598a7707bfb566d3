"""A block of ours in a text file that belongs to somebody else: between two lines that name it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hexad.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMarks:
    """The lines around a block; `how` is the pattern of a comment, with `{}` for its words."""

    how: str

    @property
    def first(self) -> str:
        """The line before the block."""
        return self.how.format(
            "hexad begin: written by `hexad install`, removed by `hexad install --uninstall`"
        )

    @property
    def last(self) -> str:
        """The line after the block."""
        return self.how.format("hexad end")

    def _found(self, text: str) -> re.Match[str] | None:
        """Return where the block stands, with the blank line that was put before it. Raises `InvalidInput`."""
        opening = re.escape(self.how.split("{}", maxsplit=1)[0]) + r"hexad begin\b[^\n]*"
        pattern = re.compile(
            rf"(?:(?<=\n)\n)?^{opening}\n.*?^{re.escape(self.last)}[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL
        )
        starts = re.findall(rf"^{opening}", text, re.MULTILINE)
        match = pattern.search(text)
        if len(starts) > 1 or (starts and match is None):
            raise InvalidInput(f"its lines {self.first!r} and {self.last!r} are not one pair")
        return match

    def put(self, text: str, content: str) -> str:
        """Return the text with the block holding `content`: where it stands, else at the end."""
        block = f"{self.first}\n{content.strip()}\n{self.last}\n"
        match = self._found(text)
        if match is not None:
            gap = "\n" if match.group().startswith("\n") else ""
            return text[: match.start()] + gap + block + text[match.end() :]
        if not text:
            return block
        return text + ("\n" if text.endswith("\n") else "\n\n") + block

    def take_out(self, text: str) -> str:
        """Return the text without the block, or as it is where there is none."""
        match = self._found(text)
        return text if match is None else text[: match.start()] + text[match.end() :]


TOML_MARKS = BlockMarks(how="# {}")
MARKDOWN_MARKS = BlockMarks(how="<!-- {} -->")
