"""Signatures of texts: a few bytes by which most texts are ruled out as holding a phrase, without being read.

A signature is a Bloom filter with one hash over the n-grams of the lower-cased text: every three characters in a row,
and because other scripts say more with fewer characters, also every pair and every single character that is not
ASCII. It has a power of two of bits, three to six for each n-gram. A bit of a larger filter folds onto a smaller one,
so that the places of a phrase are computed once for all sizes.

The hash is our own, over code points: the same bytes in every process and on every machine.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Final

SIGNATURE_BYTES_LEAST: Final = 8
SIGNATURE_BYTES_MOST: Final = 8192
"""A filter of this size is a quarter full with the n-grams of a megabyte of prose."""
SATURATED: Final = b"\xff" * SIGNATURE_BYTES_LEAST
"""Of a text with so many n-grams that no filter tells anything: always a candidate."""

_PLACES: Final = 8 * SIGNATURE_BYTES_MOST
_BITS_PER_GRAM: Final = 3
_FULL: Final = _PLACES * 9 // 10
_FIRST, _SECOND, _THIRD, _WORD = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0xFFFFFFFF
_SHIFT: Final = 16  # the upper half of a product is the well mixed one; 16 bits are all places
_NONE: Final = 0x110000  # stands for "no character" in a pair or a single one: no code point is that large
_TO_DIGITS: Final = bytes(48 + (value & 1) for value in range(256))


def signature(text: str) -> bytes:
    """Return the signature of a text: 8 bytes to 8 KiB, a power of two.

    >>> may_hold(signature("Ship when recall is fast."), "RECALL is"), may_hold(signature("Ship it."), "recall")
    (True, False)
    """
    places = _places(text.lower())
    if len(places) > _FULL:
        return SATURATED
    bits = 8 * SIGNATURE_BYTES_LEAST
    while bits < _BITS_PER_GRAM * len(places) and bits < _PLACES:
        bits *= 2
    # One byte for each bit, then all of them read as one binary number: three times as fast as setting bits.
    row, mask = bytearray(bits), bits - 1
    for place in places:
        row[place & mask] = 1
    return int(row.translate(_TO_DIGITS), 2).to_bytes(bits // 8, "big")


def needle_places(needle: str) -> tuple[int, ...]:
    """Return the places that must be set where `needle.lower()` is part of a lower-cased text.

    None for a needle of one or two ASCII characters: any text may hold it. In a signature of `n` bytes, place `p` is
    bit `p % 8n`, counted from the highest bit of the first byte.
    """
    return tuple(sorted(_places(needle.lower())))


def may_hold(signature: bytes, needle: str) -> bool:
    """Return False when no text of this signature has `needle.lower()` in its lower-cased form."""
    mask = 8 * len(signature) - 1
    return all(signature[(place & mask) >> 3] & (0x80 >> (place & 7)) for place in _places(needle.lower()))


def _places(text: str) -> Collection[int]:
    if text.isascii():
        return _places_of_ascii(text.encode("ascii"))
    wide = memoryview(text.encode("utf-32-le", "surrogatepass")).cast("I").tolist()
    grams = set(zip(wide, wide[1:], wide[2:], strict=False))
    pairs = set(pairwise(wide))
    grams.update((first, second, _NONE) for first, second in pairs if first > 127 or second > 127)
    grams.update((character, _NONE, _NONE) for character in set(wide) if character > 127)
    return _hashed(grams)


def _places_of_ascii(points: bytes) -> Collection[int]:
    """Return the places of an ASCII text's grams, all computed at once: a number of 64 bits for each, in one of all.

    Three products of 39 bits add up to 41, so that no number reaches into the next.
    """
    wide = bytearray(8 * len(points))
    wide[::8] = points
    row = int.from_bytes(wide, "little")
    sums = row * _FIRST + (row >> 64) * _SECOND + (row >> 128) * _THIRD
    halves = array("H", sums.to_bytes(len(wide), "little"))
    if sys.byteorder == "big":
        halves.byteswap()
    return set(halves[1 : 4 * (len(points) - 2) : 4]) if len(points) > 2 else set()


def _hashed(grams: Iterable[tuple[int, int, int]]) -> set[int]:
    return {
        (first * _FIRST + second * _SECOND + third * _THIRD & _WORD) >> _SHIFT
        for first, second, third in grams
    }
