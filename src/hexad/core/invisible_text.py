"""Characters that nobody sees, or that turn the way of writing: what a reader is shown must be what there is."""

from __future__ import annotations

import json
import re
from typing import Final

NOTHING: Final = (
    "\u00ad\u034f\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff\u115f\u1160\u3164\uffa0"
)
"""What takes no room and means nothing, as the inside of a set."""
TURNING: Final = "\u061c\u202a-\u202e\u2066-\u2069"
"""What turns the way of writing."""
# A joiner means something between letters of scripts that join, and between emoji; a tag after a black flag; one
# selector after a character that has several forms.
_JOINER: Final = "(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f]|$)|[\u200c\u200d]{2,}"
_TAGS: Final = "(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
_SELECTORS: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
_ESCAPED: Final = f"[\x7f-\x9f\u2028\u2029{NOTHING}{TURNING}\U000e0000-\U000e007f]+"


def revealed(text: str) -> str:
    """Return a text without what nobody sees; letters that are spelled with tags are shown.

    >>> revealed("a\u200bb\u200d \U000e0068\U000e0069")
    'ab [hidden: hi]'
    """
    text = re.sub(f"[{NOTHING}]", "", re.sub(_TAGS, _spelled, text))
    return re.sub(_SELECTORS, lambda match: match.group()[0], re.sub(_JOINER, "", text))


def escaped(written: str) -> str:
    """Return JSON with escapes for what nobody sees or turns the way of writing; its values stay the same.

    >>> escaped('"a\u200bb\u200d"')
    '"a\\\\u200bb\\\\u200d"'
    """
    if written.isascii():
        return written
    for pattern in (_ESCAPED, _JOINER, _SELECTORS):
        written = re.sub(pattern, lambda match: json.dumps(match.group())[1:-1], written)
    return written


def _spelled(match: re.Match[str]) -> str:
    letters = "".join(
        chr(ord(character) - 0xE0000) for character in match.group() if 0xE0020 <= ord(character) <= 0xE007E
    )
    return f"[hidden: {letters}]"
