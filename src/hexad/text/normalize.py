"""What is stored of a text, and the forms under which texts are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from hexad.errors import InvalidInput
from hexad.text.graphemes import cut

SLUG_LIMIT: Final = 64
"""Longest slug in characters."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
_END_PUNCTUATION: Final = " .,;:!?\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb\u3001\u3002\uff61"

# `unicodedata.normalize` sorts a run of combining marks by insertion, so that a megabyte of them takes
# minutes. Text is handed to it in pieces that end inside any run this long; no script writes such a run.
# The two halfwidth kana marks are letters by category and marks after NFKC.
_MARK_RUN = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){64}")

_PLUS_PLUS = re.compile(r"(?<=[^\W_])\+\+")
_SHARP = re.compile(r"(?<=[^\W_])#(?!\w)")


def clean(text: str) -> str:
    """Return `text` as it is stored: the same characters, but those that no store and no reader can take.

    NULs are dropped, a pair of surrogates becomes its character and a lone one U+FFFD, CR LF and CR become
    LF, and white space at the very end goes. No normal form is forced. Cleaning twice changes nothing.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return whole_characters(text).rstrip()


def whole_characters(text: str) -> str:
    """Return `text` with a pair of surrogates as its character and a lone one as U+FFFD, so that it can be encoded."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def lone_surrogate(text: str) -> int | None:
    """Return where a text holds half a character, which no UTF-8 can carry: bytes that were none, or a cut pair."""
    match = None if text.isascii() else _LONE_SURROGATE.search(text)
    return None if match is None else match.start()


_BLANKED: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


_BLANKED_IN_LINES: Final = _BLANKED[:10] + b"\n" + _BLANKED[11:]


def blanked(text: str) -> bytes:
    """Return an ASCII text with a blank for all but letters and digits: it splits into what `[^\\W_]+` finds."""
    return text.encode("ascii").translate(_BLANKED)


def blanked_lines(text: str) -> list[bytes]:
    """Return the lines of an ASCII text, each as `blanked` does."""
    return text.encode("ascii").translate(_BLANKED_IN_LINES).split(b"\n")


_KINDS: Final = bytes(
    ord("A" if chr(code).isupper() else "a" if chr(code).islower() else "0" if chr(code).isdigit() else "-")
    if code < 128
    else 45
    for code in range(256)
)


def kinds_of_characters(text: str) -> bytes:
    """Return an ASCII text with `A` for each capital, `a` for each small letter, `0` for each digit, else `-`.

    >>> kinds_of_characters("Room 12b")
    b'Aaaa-00a'
    """
    return text.encode("ascii").translate(_KINDS)


def fold(text: str) -> str:
    """Return `text` for comparing: NFKC, case folded, white space as single spaces, end punctuation off.

    A text of nothing but punctuation keeps it, so that "?" and "!" stay different. Never shown to anybody.
    """
    if text.isascii():
        text = text.lower()
    else:
        text = nfkc(nfkc(text).casefold())
    text = " ".join(text.split())
    return text.strip(_END_PUNCTUATION) or text


def nfkc(text: str) -> str:
    """Return `text` in NFKC, in linear time also for runs of combining marks."""
    if text.isascii():
        return text
    if _MARK_RUN.search(text) is None:
        return unicodedata.normalize("NFKC", text)
    pieces = []
    start = 0
    for run in _MARK_RUN.finditer(text):
        pieces.append(unicodedata.normalize("NFKC", text[start : run.end()]))
        start = run.end()
    pieces.append(unicodedata.normalize("NFKC", text[start:]))
    return "".join(pieces)


def slug(text: str) -> str:
    """Return a lower-case slug: the letters and digits of any script, joined by `-`, at most 64 characters.

    Empty when the text holds no letter and no digit. `C++` and `C#` become `cpp` and `csharp`: dropping the
    signs would make them one tag with `C`.

    >>> slug("Release Check-list"), slug("C++"), slug("Größe")
    ('release-check-list', 'cpp', 'größe')
    """
    if text.isascii() and text.isalnum() and len(text) <= SLUG_LIMIT:  # most: one word
        return text.lower()
    text = _SHARP.sub("sharp", _PLUS_PLUS.sub("pp", nfkc(nfkc(text).lower())))
    words = re.findall(r"[a-z0-9]+", text) if text.isascii() else _words_of_any_script(text)
    return cut("-".join(words), SLUG_LIMIT).rstrip("-")


def _words_of_any_script(text: str) -> list[str]:
    """Return the runs of letters and digits, with the marks that belong to them (Devanagari, Thai, ...)."""
    kept_characters: list[str] = []
    for character in text:
        if character.isalnum():
            kept_characters.append(character)
        elif kept_characters and kept_characters[-1] != " ":
            kept_characters.append(character if unicodedata.category(character)[0] == "M" else " ")
    return "".join(kept_characters).split()


def slugs(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags as slugs, sorted and unique (document 1, MemoryObject `tags`).

    Raises `InvalidInput` for a tag without a letter or digit, and for one string in place of a list.
    """
    if isinstance(tags, str):
        raise InvalidInput(
            f'Tags must be a list of strings, not the string {tags!r}; write ["{tags}"].', argument="tags"
        )
    names = set()
    for tag in tags:
        name = slug(tag)
        if not name:
            raise InvalidInput(
                f"Tag {tag!r} has no letter or digit; give it a name, such as 'release'.", argument="tags"
            )
        names.add(name)
    return tuple(sorted(names))
