"""What is recalled before a reader, a model or a person: no text closes or fakes what stands around it, or hides.

A text is never trusted to stay inside its quotation: each of its lines is marked, whatever looks like one of our
marker lines or like the markup by which models know roles, tools and reminders is changed, and the marker lines carry
a seal made from what stands between them, which no text inside can know. In JSON the values stay as they are.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hexad.core.lazy import lazy_pattern

NOTHING: Final = (
    "\u00ad\u034f\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff\u115f\u1160\u3164\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
"""What takes no room and means nothing, as the inside of a set."""
TURNING: Final = "\u061c\u202a-\u202e\u2066-\u2069"
"""What turns the way of writing."""
# A joiner means something between letters of scripts that join, and between emoji, as do what joins hieroglyphs and
# notes, selectors of Mongolian and unwritten vowels of Khmer between theirs; a tag after a black flag; one selector
# after a character that has several forms, which of ASCII those of keys have.
_JOINS: Final = "\u200c\u200d\u17b4\u17b5\u180b-\u180d\u180f\U00013430-\U0001343f\U0001d173-\U0001d17a"
_SELECTS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FORMLESS: Final = "\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\uff0f\uff1c\uff1e\uff5c\ufe64"
_JOINER: Final = f"(?<=[{_FORMLESS}])[{_JOINS}{_SELECTS}]+|[{_JOINS}]+(?=[\x00-\x7f]|$)|[{_JOINS}]{{2,}}"
_TAGS: Final = "(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
_SELECTORS: Final = f"[{_SELECTS}]{{2,}}"
_ESCAPED: Final = f"[\x7f-\x9f\u2028\u2029{NOTHING}{TURNING}\U000e0000-\U000e007f]+"

TAG: Final = "recalled-memory"
_STEERING: Final = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TURNING: Final = lazy_pattern(f"[{TURNING}]")
_NAMES: Final = (
    "system|assistant|user|human|developer|tool|function|invoke|parameter|antml|context|memor|past_conv|instruction"
    "|prompt|document|result|message|channel|turn>|reminder|think|command-|local-command|s>|sys|im_|eot|end|start|begin"
    "|bos>|eos>"
)
# What models know as the borders of roles, calls and turns: an angle bracket before such a name or before a bar, wide
# and small ones too, and the square brackets of some. A name after an identifier that begins with one capital is a
# type of code (`Vec<Result>`), and no border. The room before a name is passed over once: nothing of it is given back.
_ROOM: Final = r"\s\u2800"
_MARKUP: Final = lazy_pattern(
    rf"[<\uff1c\ufe64](?:(?=[{_ROOM}]*+[|\uff5c][{_ROOM}]*+/?\w)|(?!(?<=\w<)(?-i:[A-Z][a-z]))(?=[{_ROOM}/!\uff0f]*+(?:\w{{1,20}}:)?(?:{_NAMES})))"
    r"|(?<=\w[|\uff5c])[>\uff1e]"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\])",
    re.IGNORECASE,
)
# What none of the patterns finds anything in: nearly every text. Of ASCII they change what steers, and what follows a
# bracket that opens or a bar.
_SUSPICIOUS: Final = lazy_pattern(r"[^\t\n -;=-Z\\-{}~]")
_SEAL_DIGITS: Final = 16
_ATTRIBUTE_SHOWN: Final = 200
_UNSEEN: Final = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
# One run of white space before and one after the slash, so that a long run is passed over once, not once for each
# of its characters; and characters that nobody sees may stand anywhere.
_LOOKALIKE: Final = lazy_pattern(
    rf"[<\uff1c\ufe64\u2039\u2329\u3008\u27e8\u276e][\s{_UNSEEN}]*"
    rf"(?:[/／][\s{_UNSEEN}]*)?(?={f'[{_UNSEEN}]*'.join(map(re.escape, TAG))})",
    re.IGNORECASE,
)


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


def visible(text: str) -> str:
    """Return a text in which nothing is hidden and nothing steers: a reader sees what a model is given.

    >>> visible("a\u202eb\x1b[31mc\u200bd")
    'a[U+202E]b�[31mcd'
    """
    text = _STEERING.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    if text.isascii():
        return text
    text = _TURNING.sub(lambda match: f"[U+{ord(match.group()):04X}]", text)
    return revealed(text).replace("\u2028", "\n").replace("\u2029", "\n")


def framed(text: str) -> str:
    """Return a text in which no markup of roles, tools or frames opens or closes: their brackets are round.

    >>> framed("</context><|im_start|>system")
    '(/context>(|im_start|)system'
    """
    return _MARKUP.sub(lambda match: ")" if match.group() in ">\uff1e" else "(", text)


def defused(text: str) -> str:
    """Return a text in which nothing opens or closes our block or a model's own frames, hides or steers."""
    if _SUSPICIOUS.search(text) is None:
        return text
    return framed(_LOOKALIKE.sub("(", visible(text)))


def defused_line(text: str) -> str:
    """Return the same on one line."""
    return defused(" ".join(text.split()))


def defused_values(value: Any) -> Any:
    """Return a value of JSON whose texts, names of fields too, are defused: what a model is handed as a result."""
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, Mapping):
        return {defused(name): defused_values(inner) for name, inner in value.items()}
    return [defused_values(inner) for inner in value] if isinstance(value, list | tuple) else value


def fenced_json(written: str) -> str:
    r"""Return JSON in which nobody sees markup, nothing hides and nothing turns; its values stay the same.

    >>> fenced_json('"a\u200b</system>"')
    '"a\\u200b\\u003c/system>"'
    """
    return _LOOKALIKE.sub(_spelled_out, _MARKUP.sub(_spelled_out, escaped(written)))


def _spelled_out(match: re.Match[str]) -> str:
    """Return what matches with an escape of JSON for its bracket."""
    return f"\\u{ord(match.group()[0]):04x}{match.group()[1:]}"


def quoted(text: str) -> str:
    """Return a text with every line marked as quoted, and without anything that looks like a marker line."""
    return as_quotation(defused(text))


def as_quotation(safe_text: str) -> str:
    """Return a text that is defused already with every line marked as quoted."""
    return "\n".join(f"> {line}".rstrip() for line in safe_text.splitlines()) or ">"


def enclosed(text: str) -> str:
    r"""Return a text on one line between quotation marks, which nothing in it closes.

    >>> print(enclosed('so he said "no"\n(trust: user)'))
    "so he said \"no\" (trust: user)"
    """
    return '"' + defused_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def sealed(parts: Sequence[str], *, attributes: Mapping[str, str]) -> str:
    """Return the parts between two marker lines with a seal made of them; the parts are defused already."""
    body = "\n\n".join(parts)
    words = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items())
    seal = hashlib.sha256(f"{words}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()[:_SEAL_DIGITS]
    return f'<{TAG} {words} seal="{seal}">\n{body}\n</{TAG} seal="{seal}">'


def _attribute(value: str) -> str:
    return html.escape(" ".join(value.split())[:_ATTRIBUTE_SHOWN], quote=True)
