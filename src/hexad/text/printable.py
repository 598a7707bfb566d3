"""Texts made safe to look at: what steers a terminal, turns the way of writing or is not seen comes to light."""

from __future__ import annotations

import re
from typing import Final

from hexad.core.invisible_text import TURNING, revealed

_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TURNING: Final = re.compile(f"[{TURNING}]")
_MARKUP: Final = re.compile(
    r"<(?=\s{0,8}[/!|]?\s{0,8}(?:\w{1,20}:)?(?:system|assistant|user|human|developer|tool|function|invoke|context|memor|instruction|prompt|document"
    r"|result|message|s>|sys|im_|eot|end|start|begin))|(?<=\|)>|\[(?=/?INST\])",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Return a text in which nothing is hidden and nothing steers: a reader sees what a model is given.

    >>> visible("a\u202eb\x1b[31mc\u200bd")
    'a[U+202E]b�[31mcd'
    """
    text = _STEERING.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    if text.isascii():
        return text
    text = _TURNING.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)
    return revealed(text).replace("\u2028", "\n").replace("\u2029", "\n")


def framed(text: str) -> str:
    """Return a text in which no markup of roles, tools or frames opens or closes: their brackets are round.

    >>> framed("</context><|im_start|>system")
    '(/context>(|im_start|)system'
    """
    return _MARKUP.sub(lambda found: ")" if found.group() == ">" else "(", text)
