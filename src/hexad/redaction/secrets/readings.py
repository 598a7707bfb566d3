"""Other ways in which a reader takes the same text: without what is invisible, with codes resolved, with lines joined.

Each reading is a text of its own and knows where its characters come from, so that a secret that is found in it is
removed from what was written. A text without anything to resolve has no other reading, which is nearly every text.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from hexad.text.similarity.lookalikes import ALIKE, INVISIBLE

BLOB_LIMIT: Final = 8_192
"""Longest run of characters that is decoded; what is longer is data."""
_BLOB_LEAST: Final = 16
_PEEK: Final = 24

# What looks like something else: invisible characters, wide and decorated letters and digits, a line through or under
# ASCII, letters of other scripts that touch Latin ones.
_UNUSUAL: Final = (
    f"[{INVISIBLE}\ufe00-\ufe0f]+|[\u00a0\u2000-\u200a\u202f\u205f\u3000]"
    "|[\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\u2070-\u209c\u2100-\u214f]+"
    "|(?<=[!-~])[\u0300-\u036f\u20d0-\u20f0]+"
    "|(?<=[A-Za-z])[\u0370-\u03ff\u0400-\u052f]+|(?<![\u0370-\u03ff\u0400-\u052f])[\u0370-\u03ff\u0400-\u052f]++(?=[A-Za-z])"
)
_ALIKE: Final = {
    point: chr(letter).upper() if chr(point).isupper() else chr(letter) for point, letter in ALIKE.items()
}
_NAMED: Final = {
    "lowbar": "_", "UnderBar": "_", "colon": ":", "equals": "=", "quot": '"', "apos": "'", "num": "#", "dollar": "$",
    "excl": "!", "percnt": "%", "commat": "@", "hyphen": "-", "dash": "-", "period": ".", "sol": "/", "plus": "+",
    "nbsp": " ", "NewLine": "\n", "shy": "",
}  # fmt: skip
# Codes of ASCII characters, a backslash or `=` that a line goes on behind, emphasis in a word. Strings that code adds
# up are left alone: that is how people write what must not be taken for a secret.
_CODES: Final = (
    r"(?:%[2-7][0-9A-Fa-f])+|&#(?:x(?P<hex>[2-7][0-9A-Fa-f])|(?P<dec>3[2-9]|[4-9]\d|1[01]\d|12[0-6]));"
    rf"|&(?P<name>{'|'.join(_NAMED)});|\\(?:u00|u\{{|U000000|x)(?P<esc>[2-7][0-9A-Fa-f])\}}?"
    r"|(?P<join>(?<=[\w-])=\r?\n(?=[\w-])|(?<=[\w-])\\\r?\n[ \t]*(?=[\w-])"
    r"|(?<=[A-Za-z])\*\*(?=[A-Za-z]))|(?P<equals>=3D)"
)
_TELLING: Final = r"[\w=:.#-]"
_SPACED: Final = r"(?<!\S)(?:[A-Za-z_] ){5,40}[A-Za-z_](?![A-Za-z0-9_])"
# A line that ends in a long run goes on where nothing but a run with a digit or of mixed cases is on the next.
_WRAPPED: Final = (
    r"(?<=[A-Za-z0-9+/_-]{12})(?:\r?\n)[ \t>|]{0,16}"
    r"(?=(?=[A-Za-z]{0,40}\d|[a-z]{0,40}[A-Z]+[a-z])[A-Za-z0-9+/=_-]{2,200}\\?[ \t]*(?:\r?\n|\Z))"
)
_BLOB: Final = (
    rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{{{_BLOB_LEAST},}}+={{0,2}}(?:%3D){{0,2}}(?![A-Za-z0-9+/=_-])"
)
_HEX: Final = r"(?:[0-9a-f]{2})+|(?:[0-9A-F]{2})+"
_BASE32: Final = r"[A-Z2-7]+=*"
_SCRIPT_BREAKS: Final = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]"


class Reading:
    """A text as it reads, and from where in the written text its characters are."""

    def __init__(self, text: str, pieces: list[tuple[int, int, str]]) -> None:
        """Read `text` with the characters `start` to `end` of each piece as another text; pieces come in order."""
        parts, at, length = [], 0, 0
        self._starts: list[int] = []
        self._pieces: list[tuple[int, int, int]] = []
        for start, end, shown in pieces:
            parts += [text[at:start], shown]
            length += start - at
            self._starts.append(length)
            self._pieces.append((start, end, len(shown)))
            length += len(shown)
            at = end
        self.text = "".join([*parts, text[at:]])

    def written_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the characters `start` to `end` of the reading are written."""
        return self._written(start)[0], self._written(end - 1)[1]

    def _written(self, place: int) -> tuple[int, int]:
        at = bisect_right(self._starts, place) - 1
        if at < 0:
            return place, place + 1
        start, end, length = self._pieces[at]
        behind = place - self._starts[at] - length
        return (start, end) if behind < 0 else (end + behind, end + behind + 1)


def readings(text: str) -> Iterator[Reading]:
    """Yield the other readings of a text, each over the whole of it."""
    if not text.isascii() and (pieces := _pieces(_UNUSUAL, text, _seen)):
        yield Reading(text, pieces)
    pieces = _pieces(_CODES, text, _decoded) if _may_have_codes(text) else []
    if any(not shown or _compiled(_TELLING).search(shown) for _, _, shown in pieces):
        yield Reading(text, pieces)
    if "\n" in text and (pieces := _pieces(_WRAPPED, text, _nothing)):
        yield Reading(text, pieces)
    if _may_be_spaced(text) and (pieces := _pieces(_SPACED, text, _unspaced)):
        yield Reading(text, pieces)


def _may_have_codes(text: str) -> bool:
    return "%" in text or "&" in text or "\\" in text or "=3D" in text or "=\n" in text or "**" in text


def _may_be_spaced(text: str) -> bool:
    """Tell whether a text may spell a word that announces a secret letter by letter, with blanks between."""
    return "s s" in text or "S S" in text or "k e" in text or "K E" in text or "e t" in text or "p w" in text


def is_spelled(text: str) -> bool:
    """Tell whether a text has letters one by one, with blanks between, as nobody writes a sentence."""
    return _may_be_spaced(text) and _compiled(_SPACED).search(text) is not None


@cache
def _compiled(source: str) -> re.Pattern[str]:
    """Compile an expression when it is first needed: most texts need none, and a process that starts pays for each."""
    return re.compile(source)


def _pieces(
    source: str, text: str, read: Callable[[re.Match[str]], str | None]
) -> list[tuple[int, int, str]]:
    return [
        (match.start(), match.end(), shown)
        for match in _compiled(source).finditer(text)
        if (shown := read(match)) is not None
    ]


def _nothing(_: re.Match[str]) -> str:
    return ""


def _unspaced(match: re.Match[str]) -> str:
    return match[0].replace(" ", "")


def _seen(match: re.Match[str]) -> str:
    first = match[0][0]
    if "\u0370" <= first <= "\u052f":
        return match[0].translate(_ALIKE)
    shown = unicodedata.normalize("NFKC", match[0])
    return "" if unicodedata.category(first) in ("Cf", "Mn", "Me", "Lo", "Zl", "Zp") else shown


def _decoded(match: re.Match[str]) -> str | None:
    if match["join"]:
        return ""
    if match["equals"]:
        return "="
    if match["name"]:
        return _NAMED[match["name"]]
    if match["dec"]:
        return chr(int(match["dec"]))
    if match["hex"] or match["esc"]:
        return chr(int(match["hex"] or match["esc"], 16))
    return bytes.fromhex(match[0].replace("%", "")).decode("ascii")


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of base64, base32 and hexadecimal that are the code of a text: where each is, and the text."""
    for match in _compiled(_BLOB).finditer(text):
        run = match[0]
        if len(run) > BLOB_LIMIT or text.endswith("base64,", 0, match.start()):
            continue
        for decode in _decoders(run):
            if _is_text(decode(run[:_PEEK])) and (whole := decode(run)) and _is_text(whole):
                yield match.start(), match.end(), whole.decode("utf-8", "replace")
                break


def is_written_text(run: str) -> bool:
    """Tell whether a run of characters is the base64 or base32 of a text, and so no key."""
    return any(_is_text(decode(run[:BLOB_LIMIT])) for decode in _decoders(run))


def _decoders(run: str) -> Iterator[Callable[[str], bytes]]:
    if _compiled(_HEX).fullmatch(run):
        yield bytes.fromhex
    elif _compiled(_BASE32).fullmatch(run):
        yield _from_base32
    yield _from_base64


def _from_base64(run: str) -> bytes:
    body = run.replace("%3D", "").rstrip("=").translate({45: 43, 95: 47})
    try:
        return base64.b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return b""


def _from_base32(run: str) -> bytes:
    body = run.rstrip("=")
    try:
        return base64.b32decode(body + "=" * (-len(body) % 8))
    except (binascii.Error, ValueError):
        return b""


def _is_text(data: bytes) -> bool:
    """Tell whether bytes are a text and not a picture or a key; a character may be cut at the end."""
    text = data.decode("utf-8", "ignore")
    return (
        len(text) >= 6
        and len(text.encode()) >= len(data) - 3
        and _compiled(_SCRIPT_BREAKS).search(text) is None
    )
