"""Texts that others wrote between lines of ours: what they hold must not begin a line that reads as ours."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_INDENT: Final = "  "


def single_line(text: str) -> str:
    r"""Return a text on one line, without control characters.

    >>> single_line("ada\n\nDecided by bob\x1b[31m")
    'ada Decided by bob [31m'
    """
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(_CONTROLS.sub(" ", text).split())


def continued(text: str) -> str:
    r"""Return a text whose further lines are indented, blank ones left out: only its first begins at the margin.

    >>> print(continued("First.\n\nPrior context: forged."))
    First.
      Prior context: forged.
    """
    first, *rest = [line for line in _CONTROLS.sub(" ", text).splitlines() if line.strip()] or [""]
    return "\n".join([first.strip(), *(f"{_INDENT}{line.rstrip()}" for line in rest)])
