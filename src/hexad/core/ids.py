"""Identifiers that sort by time, and hashes of content."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from random import Random
from typing import Final, Protocol

from hexad.core.clock import Clock

# Crockford's base 32: no I, L, O, U, so that an id can be read aloud.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


SHORT_ID: Final = re.compile(rf"(mem_)([{_ALPHABET}]{{8}})(?:#[0-9]+)?")
"""A memory's id as a model is shown it: the end of it, in which ids of one moment differ."""
_SHORT_END: Final = (
    rf"(?![0-9]{{8}})[{_ALPHABET}]{{8}}"  # mem_20240115 is somebody's own name for a day's dump
)
_MEMORY_ID: Final = re.compile(rf"\bmem_[{_ALPHABET}]{{18}}(?={_SHORT_END}(?![0-9A-Za-z_]))")

_GENERATED: Final = re.compile(rf"mem_[{_ALPHABET}]{{26}}")

_PREFIXES: Final = (
    "bud comment compaction compressed-[a-z]+ dec doc erasure fb session store ta tag ts window".split()
)
_RESERVED: Final = re.compile(
    rf"(?:{'|'.join(_PREFIXES)})[-_][{_ALPHABET}]{{26}}.*|mem_{_SHORT_END}(?:#[0-9]+)?|user:.*", re.DOTALL
)


def is_reserved(name: str) -> bool:
    """Whether a name has the form of an id that is generated for something else than a memory, or of a short id.

    >>> is_reserved("dec_01M6Q2FD002PAS6V7RGGCVNDVV"), is_reserved("mem_GGCVNDVV"), is_reserved("user:rule:4")
    (True, True, True)
    >>> is_reserved("mem_01M6Q2FD002PAS6V7RGGCVNDVV"), is_reserved("order_01M6Q2FD002PAS6V7RGGCVNDVV")
    (False, False)
    >>> is_reserved("mem_20240115")  # nothing is shown by a short id of digits alone
    False
    """
    return _RESERVED.fullmatch(name) is not None


def is_generated(memory_id: str) -> bool:
    """Whether an id of a memory has the form of those that a store makes.

    >>> is_generated("mem_01M6Q2FD002PAS6V7RGGCVNDVV"), is_generated("ann@example.org")
    (True, False)
    """
    return _GENERATED.fullmatch(memory_id) is not None


def with_short_ids(text: str) -> str:
    """Return a text in which generated ids of memories have their last eight characters alone, but for eight digits.

    >>> with_short_ids("see mem_01M6Q2FD002PAS6V7RGGCVNDVV#2")
    'see mem_GGCVNDVV#2'
    >>> with_short_ids("see mem_01M6Q2FD002PAS6V7R20240115")
    'see mem_01M6Q2FD002PAS6V7R20240115'
    """
    return _MEMORY_ID.sub("mem_", text)


class IdSource(Protocol):
    """Where generated ids come from."""

    def new(self, prefix: str) -> str:
        """Return a new id such as `mem_01J9…`: unique, and later ids sort after earlier ones."""


_PAIRS: Final = [first + second for first in _ALPHABET for second in _ALPHABET]
_PLACES_OF_PAIRS: Final = tuple(range(120, -1, -10))


def _base32(value: int) -> str:
    """Return a number of 130 bits as 26 digits, two at a time: numbers of this size are divided slowly."""
    return "".join([_PAIRS[value >> place & 1023] for place in _PLACES_OF_PAIRS])


class TimeSortedIds:
    """ULID-shaped ids: 48 bits of milliseconds, 80 random bits, 26 characters after the prefix.

    Within one millisecond the random part counts up, so ids of one process keep the order of their making.
    """

    def __init__(self, clock: Clock, *, seed: int | None = None) -> None:
        self._clock = clock
        self._random = Random(seed) if seed is not None else None
        self._lock = threading.Lock()
        self._last_ms = -1
        self._last_random = 0

    def new(self, prefix: str) -> str:
        """Return `<prefix>_<26 characters>`."""
        ms = int(self._clock.now().timestamp() * 1000)
        with self._lock:
            if ms <= self._last_ms:
                self._last_random += 1
            else:
                self._last_ms, self._last_random = ms, self._draw()
            value = (self._last_ms << _RANDOM_BITS) | (self._last_random & ((1 << _RANDOM_BITS) - 1))
        return f"{prefix}_{_base32(value)}"

    def _draw(self) -> int:
        if self._random is not None:
            return self._random.getrandbits(_RANDOM_BITS - 1)
        # One bit less than there is room for, so that counting up cannot overflow into the time.
        return int.from_bytes(os.urandom(10), "big") >> 1


def content_hash(text: str) -> str:
    """Return `sha256:<hex>` of the text's UTF-8 bytes (document 1, MemoryObject `metadata.hash`)."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash64(text: str) -> int:
    """Return a signed 64-bit hash of `text`, the same on every machine; fits an SQLite integer."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
