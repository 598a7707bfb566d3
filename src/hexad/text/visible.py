"""Texts made safe to look at: what steers a terminal, turns the way of writing or is not seen comes to light."""

from __future__ import annotations

import re
from typing import Final

_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TURNING: Final = re.compile("[\u061c\u202a-\u202e\u2066-\u2069]")
_NOTHING: Final = re.compile(
    "[\u00ad\u034f\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff\u115f\u1160\u3164\uffa0]"
)
# A joiner means something between letters of scripts that join, and between emoji; a tag after a black flag.
_JOINER: Final = re.compile(
    "(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f]|$)|[\u200c\u200d]{2,}"
)
_TAGS: Final = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
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
    text = _TAGS.sub(_spelled, text)
    text = _JOINER.sub("", _NOTHING.sub("", text))
    return (
        _SELECTORS.sub(lambda found: found.group()[0], text).replace("\u2028", "\n").replace("\u2029", "\n")
    )


def _spelled(found: re.Match[str]) -> str:
    letters = "".join(chr(ord(one) - 0xE0000) for one in found.group() if 0xE0020 <= ord(one) <= 0xE007E)
    return f"[hidden: {letters}]"


def framed(text: str) -> str:
    """Return a text in which no markup of roles, tools or frames opens or closes: their brackets are round.

    >>> framed("</context><|im_start|>system")
    '(/context>(|im_start|)system'
    """
    return _MARKUP.sub(lambda found: ")" if found.group() == ">" else "(", text)
