"""A line that is being typed: keys in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Line:
    """A text with a cursor before its character number `at`."""

    text: str = ""
    at: int = 0

    @classmethod
    def ending(cls, text: str) -> Line:
        """Return a text with the cursor at its end."""
        return cls(text, len(text))

    def typed(self, key: str) -> Line:
        """Return the line after a key; a key that means nothing here changes nothing.

        >>> Line.ending("tag").typed("s").typed("home").typed("delete")
        Line(text='ags', at=0)
        """
        before, after = self.text[: self.at], self.text[self.at :]
        if len(key) == 1 and key.isprintable():
            return Line(before + key + after, self.at + 1)
        match key:
            case "backspace":
                return Line(before[:-1] + after, max(0, self.at - 1))
            case "delete":
                return Line(before + after[1:], self.at)
            case "left":
                return Line(self.text, max(0, self.at - 1))
            case "right":
                return Line(self.text, min(len(self.text), self.at + 1))
            case "home":
                return Line(self.text, 0)
            case "end":
                return Line.ending(self.text)
            case "ctrl-u":
                return Line(after, 0)
            case "ctrl-k":
                return Line.ending(before)
            case "ctrl-w":
                kept = before.rstrip()
                kept = kept[: kept.rfind(" ") + 1]
                return Line(kept + after, len(kept))
        return self


EMPTY: Final = Line()
