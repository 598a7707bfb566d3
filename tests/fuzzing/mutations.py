"""Inputs made of others: bytes flipped, cut, repeated and swapped, and what parsers stumble over put in."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

MOST_BYTES: Final = 64 << 10
_WORDS: Final = (
    b"null", b"true", b"NaN", b"Infinity", b"-1", b"0", b"1e999", b"-0.0", b"9" * 400, b"18446744073709551616", b"1.5",
    b"{}", b"[]", b"[[", b"{\"", b"\"\"", b"\\u0000", b"\\ud800", b"\\", b"\0", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u202e".encode(), "\u2028".encode(), "\u0130".encode(), "é".encode(),
    b"\r\n", b"\n---\n", b"\n+++\n", b"\n```\n", b"<!--", b"]]>", b"<a href=", b"&#x110000;", b"#", b"# ", b"=\n", b"'''",
    b"../../x", b"/dev/zero", b"file:///", b"http://[", b"::", b"0001-01-01", b"9999-12-31T23:59:60Z", b"2026-02-30",
    b"-99999-01-01", b"1e18", b"99999999999999999999", b"P1Y", b"__proto__", b"id", b"kind", b"text", b"time", b"$ref",
    b"AND", b"OR", b"NOT", b"(", b")", b"*", b"%", b";", b"'", b"`", b"~", b"^", b"|", b"a:b", b"a=b", b"sha256:",
)  # fmt: skip


def mutated(seeds: Sequence[bytes], chance: Random) -> bytes:
    """Return one of the seeds, changed in one to several ways; at most `MOST_BYTES` long."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 2, 3, 5, 10))):
        _WAYS[chance.randrange(len(_WAYS))](data, seeds, chance)
    return bytes(data[:MOST_BYTES])


def _flip(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _replace(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.choice(
            (0, 1, 9, 10, 32, 34, 39, 58, 91, 92, 93, 123, 125, 127, 128, 255)
        )


def _number(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    """Change what may be a number in a binary format."""
    size = chance.choice((2, 4, 8))
    if len(data) >= size:
        at = chance.randrange(len(data) - size + 1)
        value = chance.choice(
            (0, 1, -1, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1, chance.getrandbits(8 * size))
        )
        data[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(
            size, chance.choice(("little", "big"))
        )


def _cut(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    if data:
        at = chance.randrange(len(data))
        del data[at : at + chance.choice((1, 2, 8, 64, len(data)))]


def _repeat(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    if data:
        at = chance.randrange(len(data))
        piece = data[at : at + chance.choice((1, 4, 32, 256))]
        data[at:at] = piece * chance.choice((1, 2, 10, 400))


def _word(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    at = chance.randint(0, len(data))
    data[at : at + chance.choice((0, 0, 1, 4))] = chance.choice(_WORDS)


def _nest(data: bytearray, _: Sequence[bytes], chance: Random) -> None:
    opening, closing = chance.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"<b>", b"</b>"), (b"> ", b""))
    )
    depth, at = chance.choice((5, 100, 2_000)), chance.randint(0, len(data))
    data[at:at] = opening * depth + data[at : at + 8] + closing * depth


def _splice(data: bytearray, seeds: Sequence[bytes], chance: Random) -> None:
    other = chance.choice(seeds)
    at, begin = chance.randint(0, len(data)), chance.randint(0, len(other))
    data[at:] = other[begin:]


_WAYS: Final = (_flip, _flip, _replace, _number, _cut, _cut, _repeat, _word, _word, _nest, _splice)
