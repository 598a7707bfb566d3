"""Other texts that a text can be read as: what is written so that a reader does not see it, and a model may.

A disguise that turns each word is known by strong words in it ("vtaber" is "ignore" by 13), one that has signs of its
own by these. What is found in a reading counts only where the text itself does not say it.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from hexad.core.lazy import lazy_pattern

STRONG: Final = frozenset(
    "ignore disregard instructions prompt reveal credentials system override passwords previous".split()
)
_WORD: Final = lazy_pattern(r"[^\W_]+")
_ENCODED: Final = lazy_pattern(r"(?<![\w+/-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w+/])")
_PIECE: Final = lazy_pattern(r"[A-Za-z0-9+/]{3,200}={0,2}")
_PIECES, _MOST_PIECES = 3, 400
_BASE32: Final = lazy_pattern(r"(?<![A-Za-z0-9])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9])")
_ASCII85: Final = lazy_pattern(r"<~([!-uz\s]{15,})~>")
_HEX: Final = lazy_pattern(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[\s:,]?){16,}(?![0-9a-fA-F])")
_HEX_BYTES: Final = lazy_pattern(r"(?:0x[0-9a-fA-F]{2}[\s,]{0,3}){12,}")
_BITS: Final = lazy_pattern(r"(?<![0-9])(?:[01]{8}[\s,]?){8,}(?![0-9])")
_CODES: Final = lazy_pattern(
    r"(?<![0-9.])(?:(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[\s,;]{1,3}){11,}(?:[3-9]\d|1[012]\d)(?![0-9.])"
)
_ESCAPES: Final = lazy_pattern(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2}){6,}")
_PERCENT: Final = lazy_pattern(r"(?:%[0-9a-fA-F]{2}\S{0,12}){4,}")
_QUOTED_PRINTABLE: Final = lazy_pattern(r"(?:=[0-9A-F]{2}){6,}")
_MORSE: Final = lazy_pattern(
    r"(?<!\S)(?:[.\u00b7\u2022\-\u2212\u2013_]{1,5}(?:\s{1,3}|\s{0,2}[/|]\s{0,2})){11,}[.\u00b7\u2022\-\u2212\u2013_]{1,5}"
)
_SPACED: Final = lazy_pattern(r"(?:(?<![^\W_])[^\W\d_][\s.\-_*|/]{1,3}){5,}[^\W\d_](?![^\W_])")
_BRAILLE: Final = lazy_pattern("[\u2800-\u283f]{6,}")
_SHAPED: Final = lazy_pattern(
    "[\u1d00-\u1d22\ua730\ua731\u0262\u026a\u0274\u0280\u0299\u029c\u029f\u01eb\u028f\U0001f1e6-\U0001f1ff\U0001f130-\U0001f189]"
)
_UPSIDE_DOWN: Final = lazy_pattern(
    "[\u0250\u0254\u01dd\u025f\u0265\u1d09\u0279\u0287\u028c\u028d\u028e\u026f\u0183]"
)
_LETTERS: Final = string.ascii_lowercase
_SPACED_LETTERS: Final = 4
_LONG_WORD: Final = 16
_BASE32_LEAST: Final = 24
_NUMBERS: Final = 5
"""Different numbers among the words of a text that may be one in numbers."""
_MOST_DECODED: Final = 20
_DECODED_LEAST: Final = 12
_DECODED_MOST: Final = 20_000
_LEET_SIGNS: Final = "0345789@$!+\u20ac\u00a3(\u00a1"
_LEET_LETTERS: Final = "oeastbgasitelci"
_LEET: Final = tuple(
    str.maketrans(_LEET_SIGNS + "16|", _LEET_LETTERS + letters) for letters in ("igl", "lbi")
)
"""A one is an i or an l."""
_LEET_WORD: Final = lazy_pattern(r"[\w@$!|+(\u20ac\u00a3\u00a1]{4,}")
_LETTERS_AND_DIGITS: Final = lazy_pattern(r"[0-9@$!][A-Za-z]")
_JOINED_STRONG: Final = 2
_JOINED_WORD: Final = lazy_pattern(
    "(ignore|disregard|forget|reveal|credentials|passwords|your|all|previous|prior|above|instructions|rules|system|prompt"
    "|override|send|show|and|the(?=system|cred|pass))"
)
_UPRIGHT: Final = str.maketrans(
    "\u0250q\u0254p\u01dd\u025f\u0183\u0265\u1d09\u027e\u029el\u026fuodb\u0279s\u0287n\u028c\u028dx\u028ez",
    "abcdefghijklmnopqrstuvwxyz",
)
_MORSE_LETTERS: Final = dict(
    zip(
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.--"
            " --.."
        ).split(),
        _LETTERS,
        strict=True,
    )
)
_BRAILLE_LETTERS: Final = dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", _LETTERS, strict=True))
_NATO: Final = {
    word: word[0]
    for word in (
        "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliett juliet kilo lima mike november oscar papa"
        " quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
    ).split()
}
_NATO_LEAST: Final = 5


def _shaped() -> dict[int, str]:
    """Return letters in small capitals, squares and circles as plain ones; NFKC knows the others."""
    table = dict(zip(map(ord, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡ"), "abcdefghijklmnopqrstuvw", strict=True))
    table |= {ord("ʏ"): "y", ord("ᴢ"): "z"}
    for first in (0x1F1E6, 0x1F130, 0x1F150, 0x1F170):
        table |= {first + at: letter for at, letter in enumerate(_LETTERS)}
    return table


_SHAPES: Final = _shaped()


def _table(letters: str) -> dict[int, int]:
    return str.maketrans(_LETTERS + _LETTERS.upper(), letters + letters.upper())


_TURNINGS: Final = (
    *(
        (_table(_LETTERS[by:] + _LETTERS[:by]), _table(_LETTERS[-by:] + _LETTERS[:-by]))
        for by in range(1, 26)
    ),
    (_table(_LETTERS[::-1]), _table(_LETTERS[::-1])),
)
"""What turns letters, and what turns them back."""
_COMMON: Final = frozenset(
    (
        "the and you your all this that with for are not from what have will any every tell show send rules secret"
        " user"
    ).split()
)
_TURNED: Final = tuple(
    (
        frozenset(word.translate(there) for word in STRONG),
        frozenset(word.translate(there) for word in _COMMON),
        back,
    )
    for there, back in _TURNINGS
)
_BACKWARDS: Final = frozenset(word[::-1] for word in STRONG)
_COMMON_BACKWARDS: Final = frozenset(word[::-1] for word in _COMMON)
_TURNED_WORDS: Final = frozenset().union(
    _BACKWARDS, _COMMON_BACKWARDS, *(strong | common for strong, common, _ in _TURNED)
)
_COMMON_LEAST: Final = 3
"""So many common words of one turning tell it, as one strong word does."""
_ROT47: Final = str.maketrans({chr(33 + at): chr(33 + (at + 47) % 94) for at in range(94)})
_IN_ROT47: Final = tuple(word.translate(_ROT47) for word in ("instructions", "ignore", "prompt"))


_PLAIN_SIGNS: Final = (string.ascii_letters + " \n\t.,;:?'\"()[]/+#*_-").encode()
_DIGITS_AND_CALLS: Final = (string.digits + "!").encode()
_SINGLE: Final = frozenset(_LETTERS)
_NATO_WORDS: Final = frozenset(_NATO)


def reads_one_way(text: str, words: set[str]) -> bool:
    """Whether a text, which has these words, has nothing of what any other reading of it needs; False says nothing."""
    return _reads_by_digits(text, words) and _LETTERS_AND_DIGITS.search(text) is None


def _reads_by_digits(text: str, words: set[str]) -> bool:
    """Whether a text has nothing of what another reading of it needs but digits for letters, as names of files have."""
    if not text.isascii():
        return False
    signs = text.encode("ascii").translate(None, _PLAIN_SIGNS)
    if signs and (
        signs.translate(None, _DIGITS_AND_CALLS) or sum(map(str.isdigit, words)) >= _NUMBERS or "0x" in text
    ):
        return False
    return (
        max(map(len, words), default=0) < _LONG_WORD
        and _TURNED_WORDS.isdisjoint(words)
        and len(_SINGLE & words) < _SPACED_LETTERS
        and (_NATO_WORDS.isdisjoint(words) or len(_NATO_WORDS & words) < _NATO_LEAST)
        and not (".-" in text or "-." in text or "- ." in text)
    )


def readings(text: str, words: set[str], *, depth: int = 2) -> Iterator[str]:
    """Yield other texts that a text, which has these words, can be read as: decoded, joined, turned round."""
    if not _reads_by_digits(text, words):
        yield from other_readings(text, words, depth=depth)
    elif _LETTERS_AND_DIGITS.search(text) is not None:
        yield from _with_digits(text)


def other_readings(text: str, words: set[str], *, depth: int = 2) -> Iterator[str]:
    """Yield what `readings` does, having looked for each of them."""
    longest = max(map(len, words), default=0)
    has_numbers = sum(map(str.isdigit, words)) >= _NUMBERS
    if longest >= _LONG_WORD or has_numbers or "<~" in text or "0x" in text:
        for decoded in _decoded(text, longest):
            yield decoded
            if depth > 1:
                yield from readings(decoded, set(_WORD.findall(decoded.lower())), depth=depth - 1)
    if longest >= _LONG_WORD and any(map(_is_joined, words)):
        yield _JOINED_WORD.sub(r" \1 ", text.lower())
    yield from _with_signs(text)
    if has_numbers:
        yield from _numbered(text)
    if _LETTERS_AND_DIGITS.search(text):
        yield from _with_digits(text)
    yield from _in_letters(text, words)
    if turned := words & _TURNED_WORDS:
        yield from _turned_back(text, turned)


def _turned_back(text: str, turned: set[str]) -> Iterator[str]:
    for strong, common, back in _TURNED:
        if not strong.isdisjoint(turned) or len(common & turned) >= _COMMON_LEAST:
            yield text.translate(back)
    if not _BACKWARDS.isdisjoint(turned) or len(_COMMON_BACKWARDS & turned) >= _COMMON_LEAST:
        yield text[::-1]
        yield _WORD.sub(lambda match: match.group()[::-1], text)


def _is_joined(word: str) -> bool:
    return len(word) >= _LONG_WORD and sum(strong in word for strong in STRONG) >= _JOINED_STRONG


def _with_digits(text: str) -> Iterator[str]:
    """Yield readings of words with digits in them: written with digits for letters, or each in base64."""
    low = text.lower()
    mixed = [word for word in _LEET_WORD.findall(low) if not word.isalpha()]
    for leet in _LEET:
        read = {word.translate(leet) for word in mixed}
        if not STRONG.isdisjoint(read) or len(_COMMON & read) >= _COMMON_LEAST:
            yield low.translate(leet)
    pieces = list(_pieces(text))
    if len(pieces) >= _PIECES:
        yield " ".join(pieces)
        yield "".join(pieces)


def _pieces(text: str) -> Iterator[str]:
    """Yield what words that may be base64 say, each by itself: they have letters of both cases, not only the first."""
    words = [word.rstrip("=") for word in _PIECE.findall(text)]
    mixed = [word for word in words if not (word[1:].islower() or word.isupper() or len(word) % 4 == 1)]
    if len(mixed) < _PIECES:
        return
    for word in mixed[:_MOST_PIECES]:
        if piece := _readable(base64.b64decode(word + "=" * (-len(word) % 4)), least=2):
            yield piece


def _numbered(text: str) -> Iterator[str]:
    """Yield readings of runs of bits, and of numbers of characters."""
    for match in _BITS.finditer(text):
        digits = re.sub(r"[\s,]", "", match.group())
        data = bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) // 8 * 8, 8))
        yield data.decode("utf-8", "replace")
    for match in _CODES.finditer(text):
        yield "".join(map(chr, map(int, re.findall(r"\d+", match.group()))))


def _with_signs(text: str) -> Iterator[str]:
    """Yield readings of what has signs of its own: escapes, percent and equal signs, entities, bits, codes, pieces."""
    if "\\" in text and _ESCAPES.search(text):
        yield _ESCAPES.sub(lambda match: _unescaped(match.group()), text)
    if "%" in text and _PERCENT.search(text):
        yield unquote(text)
    if "=" in text and _QUOTED_PRINTABLE.search(text):
        yield _QUOTED_PRINTABLE.sub(
            lambda match: bytes.fromhex(match.group().replace("=", "")).decode("utf-8", "replace"), text
        )
    if "&#" in text or "&lt;" in text:
        yield html.unescape(text)
    if _IN_ROT47[0] in text or _IN_ROT47[1] in text or _IN_ROT47[2] in text:
        yield text.translate(_ROT47)


def _in_letters(text: str, words: set[str]) -> Iterator[str]:
    """Yield readings of letters that stand apart, or are spelled, dotted, shaped or turned upside down."""
    if sum(map(words.__contains__, _LETTERS)) >= _SPACED_LETTERS and _SPACED.search(text):
        yield _SPACED.sub(lambda match: _joined(match.group()), text)
    if ".-" in text or "-." in text or "- ." in text or "\u2022" in text or "\u00b7" in text:
        for match in _MORSE.finditer(text):
            yield _morse(match.group())
    if len(_NATO.keys() & words) >= _NATO_LEAST:
        yield "".join(
            _NATO.get(word, " ")
            for word in re.findall(r"[^\W_]+|[,/.|]|\s{2,}|\n", text.lower().replace("x-ray", "xray"))
        )
    if text.isascii():
        return
    if _BRAILLE.search(text):
        yield "".join(_BRAILLE_LETTERS.get(char, " " if char == "\u2800" else char) for char in text)
    if len(_SHAPED.findall(text)) >= _SPACED_LETTERS:
        plain = text.translate(_SHAPES)
        yield plain
        yield _SPACED.sub(lambda match: _joined(match.group()), plain)
    if _UPSIDE_DOWN.search(text):
        yield text[::-1].lower().translate(_UPRIGHT)
        yield text.lower().translate(_UPRIGHT)


def _morse(run: str) -> str:
    signs = run.translate(str.maketrans("\u00b7\u2022\u2212\u2013_", "..---"))
    parts = re.split(r"\s{0,2}[/|]\s{0,2}|\s{2,}|\n", signs)
    return " ".join("".join(_MORSE_LETTERS.get(letter, "") for letter in part.split()) for part in parts)


def _joined(spaced: str) -> str:
    """Return letters that stand apart as words; a wider gap parts two of them."""
    parts = re.split(r"\s{2,}|[/|]", spaced)
    return " ".join(re.sub(r"[\s.\-_*]", "", part) for part in parts)


def _decoded(text: str, longest: int) -> Iterator[str]:
    """Yield what is written in base64 or in another base; `longest` is the length of the text's longest word."""
    done = 0
    for match in _ENCODED.finditer(text):
        raw = match.group().replace("-", "+").replace("_", "/").rstrip("=")
        if len(raw) % 4 == 1 or raw.isdigit():
            continue
        try:
            text_inside = _readable(
                base64.b64decode(raw[:_DECODED_MOST] + "=" * (-len(raw[:_DECODED_MOST]) % 4))
            )
        except (binascii.Error, ValueError):
            continue
        if text_inside is not None:
            yield text_inside
            done += 1
            if done == _MOST_DECODED:
                return
    for count, match in enumerate(_HEX.finditer(text)):
        if count == _MOST_DECODED:
            return
        digits = re.sub(r"[\s:,]", "", match.group())
        text_inside = _readable(bytes.fromhex(digits[: len(digits) // 2 * 2][:_DECODED_MOST]))
        if text_inside is not None:
            yield text_inside
    signed = (
        ("0x" in text, _HEX_BYTES, _hexadecimal),
        ("<~" in text, _ASCII85, _ascii85),
        (longest >= _BASE32_LEAST, _BASE32, _base32),
    )
    for has_signs, pattern, decode in signed:
        for match in pattern.finditer(text) if has_signs else ():
            text_inside = _readable(decode(match.group(match.lastindex or 0)[:_DECODED_MOST]))
            if text_inside is not None:
                yield text_inside


def _hexadecimal(digits: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|[\s,]", "", digits))


def _base32(digits: str) -> bytes:
    digits = digits.rstrip("=")
    try:
        return base64.b32decode(digits + "=" * (-len(digits) % 8))
    except binascii.Error:
        return b""


def _ascii85(digits: str) -> bytes:
    try:
        return base64.a85decode(digits)
    except ValueError:
        return b""


def _readable(data: bytes, *, least: int = _DECODED_LEAST) -> str | None:
    """Return bytes as text where they are one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(text) < least:
        return None
    if least == _DECODED_LEAST and not (" " in text.strip() or _ENCODED.fullmatch(text.strip())):
        return None
    return text if sum(map(str.isprintable, text)) >= 0.95 * len(text) else None


def _unescaped(escapes: str) -> str:
    codes = re.findall(r"\\(?:[ux]([0-9a-fA-F]+)|([0-3][0-7]{2}))", escapes)
    return "".join(
        chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8)) for hexadecimal, octal in codes
    )
