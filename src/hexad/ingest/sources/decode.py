"""Bytes of a file as text, or the reason why they are none."""

from __future__ import annotations

import codecs
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

HEAD_BYTES: Final = 64 << 10
"""How much of a file is looked at before the rest is read."""

_REPLACED_SHARE_LIMIT: Final = 0.10
"""Text in an old 8-bit encoding stays under it, pictures and archives without a NUL do not."""

_REPLACEMENT: Final = "\ufffd".encode()

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "a rich text document"),
    (b"%!PS-Adobe", "a PostScript document"),
    (b"-----BEGIN PGP MESSAGE", "an encrypted message"),
    (b"version https://git-lfs.github.com/spec/", "a pointer to a large file that is kept elsewhere"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How a file's bytes are read; `name` is a codec's, `note` is None for plain UTF-8."""

    name: str
    note: str | None


def refuse(head: bytes) -> str | None:
    """Return why a file that begins so is not read as text; None when it is."""
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            return f"not text: {what}"
    if mark_of(head) in (None, "utf-8-sig") and b"\0" in head:
        return "binary: it holds NUL bytes"
    return None


class Sniffer:
    """Reads a file's bytes in blocks and says at the end how they are to be decoded."""

    def __init__(self, head: bytes) -> None:
        self._name = mark_of(head) or "utf-8"
        self._decoder = codecs.getincrementaldecoder(self._name)("strict")
        self._replaced = self._characters = self._foreign = 0
        self._has_nul = False

    def feed(self, block: bytes, *, final: bool = False) -> str:
        """Take the next block and return its text."""
        text, replaced = self._decode(block, final)
        self._characters += len(text)
        self._replaced += replaced
        if not text.isascii():
            self._foreign += sum(char > "\x7f" for char in text) - replaced
        self._has_nul = self._has_nul or "\0" in text
        return text

    def _decode(self, block: bytes, final: bool) -> tuple[str, int]:
        """Return a block's text and how many characters of it stand for bytes that are no text."""
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(block, final), 0
        except UnicodeDecodeError:
            self._decoder.setstate(state)
        self._decoder.errors = "replace"
        try:
            text = self._decoder.decode(block, final)
        finally:
            self._decoder.errors = "strict"
        # U+FFFD is a character like others where the file itself has it.
        in_file = block.count(_REPLACEMENT) if self._plain_name() == "utf-8" else 0
        return text, text.count("\ufffd") - in_file

    def refuse(self) -> str | None:
        """Return why what was fed is not text."""
        if self._has_nul:
            return "binary: it holds NUL characters"
        if self._replaced > self._characters * _REPLACED_SHARE_LIMIT:
            return f"binary: too much of it is not {self._plain_name()}"
        return None

    def encoding(self) -> Encoding:
        """Return how what was fed is decoded."""
        name = self._plain_name()
        if self._replaced and self._name == "utf-8" and not self._foreign:
            # Not one character beyond ASCII was UTF-8: an older Western file, which reads whole as cp1252.
            return Encoding(name="cp1252", note="cp1252 (assumed)")
        if self._replaced:
            return Encoding(name=self._name, note=f"{name} with replacements")
        return Encoding(name=self._name, note=None if name == "utf-8" else name)

    def _plain_name(self) -> str:
        return self._name.removesuffix("-sig")


def decoded(data: bytes) -> str | None:
    """Return the text of a whole file: by its byte-order mark, else UTF-8 or an older Western one; None for no text."""
    if refuse(data[:HEAD_BYTES]) is not None:
        return None
    with suppress(UnicodeDecodeError):
        return data.decode(mark_of(data) or "utf-8")
    sniffer = Sniffer(data[:HEAD_BYTES])
    text = sniffer.feed(data, final=True)
    if sniffer.refuse() is not None:
        return None
    name = sniffer.encoding().name
    return data.decode(name, "replace") if name == "cp1252" else text


def mark_of(head: bytes) -> str | None:
    """Return the codec that a file's byte-order mark names; None where it has none."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
