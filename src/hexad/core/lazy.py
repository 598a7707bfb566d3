"""Values that are made when they are first asked for, and caches: what is kept as far as there is room."""

from __future__ import annotations

import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Final, Generic, Protocol, TypeVar, cast
from weakref import WeakMethod, WeakSet

T = TypeVar("T")
_ABSENT: Final = object()


class Lazy(Generic[T]):
    """Makes its value at the first call, once, whichever thread asks first; `loaded` tells whether it has.

    What makes the value may ask for it again: it then gets what was `set` in the meantime, and a circle that never
    sets anything is a `RecursionError`. A value that could not be made is tried anew at the next call.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value: T | object = _ABSENT
        self._lock = threading.RLock()

    def __call__(self) -> T:
        """Return the value."""
        value = self._value
        if value is _ABSENT:
            with self._lock:
                if self._value is _ABSENT:
                    made = self._make()
                    if self._value is _ABSENT:
                        self._value = made
                value = self._value
        return value  # type: ignore[return-value]

    def set(self, value: T) -> None:
        """Take `value` instead of making one."""
        self._value = value

    @property
    def loaded(self) -> T | None:
        """The value where it was made, None before."""
        value = self._value
        return None if value is _ABSENT else value  # type: ignore[return-value]


class _CompiledPattern:
    """Has what a `re.Pattern` has, as attributes of its own."""


class _LazyPattern(_CompiledPattern):
    """Becomes a compiled one when it is first asked for something: `__getattr__` would cost at each call."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update({each: getattr(compiled, each) for each in _PATTERN_NAMES})
        self.__class__ = _CompiledPattern  # type: ignore[assignment]
        return getattr(compiled, name)


_PATTERN_NAMES: Final = [name for name in dir(re.Pattern) if not name.startswith("_")]


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first asked for something.

    Compiling all of those of the rules for secrets and for what a text says took a third of the time of their import.
    What it finds knows the compiled one only: `match.re` is another object.

    >>> lazy_pattern("a+").sub("-", "baab")
    'b-b'
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


class LentParts:
    """Counts references to parts. The first that is added must be one that nobody has: it shows what are our own.

    What is made later than a part must not keep it, but ask for it each time.
    """

    def __init__(self) -> None:
        self._parts = dict[int, tuple[object, int]]()

    def add(self, part: object) -> None:
        """Note a part, with the references that it has now, before its user has it."""
        if id(part) not in self._parts:
            self._parts[id(part)] = (part, sys.getrefcount(part))

    def any_held(self) -> bool:
        """Whether a part has gained references since it was added."""
        gained = [sys.getrefcount(part) - before for part, before in self._parts.values()]
        return any(each > gained[0] for each in gained)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
ENTRY_BYTES: Final = 120
"""What a dictionary takes for an entry that can be moved."""


class Cache(Protocol):
    """Something that is kept and can be made again."""

    @property
    def limit_bytes(self) -> int | None:
        """How much it may keep; None where it is what answers are read from, and as large as the store makes it."""

    def nbytes(self) -> int:
        """Return how much it keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """The bytes that a cache keeps, and may keep; a limit of None is explained in docs/architecture.md."""

    bytes: int
    limit_bytes: int | None


class CacheBook:
    """The caches of one open store by what they hold. A cache that nothing else refers to any more is not in it."""

    def __init__(self) -> None:
        self._caches: dict[str, WeakSet[Cache]] = {}
        self._releases: set[WeakMethod[Callable[[], None]]] = set()
        self._lock = threading.Lock()

    def add(self, name: str, cache: Cache) -> None:
        """Count a cache under a name, beside others that have it."""
        with self._lock:
            self._caches.setdefault(name, WeakSet()).add(cache)

    def on_release(self, release: Callable[[], None]) -> None:
        """Have a method called where texts are let go of, as long as its object lives; it must not ask the store."""
        with self._lock:
            self._releases = {each for each in self._releases if each() is not None} | {WeakMethod(release)}

    def release(self) -> None:
        """Let go of all texts and words: something was erased. Every byte cache is emptied, whatever it holds."""
        with self._lock:
            caches = [cache for named in self._caches.values() for cache in named]
            releases = [release for each in self._releases if (release := each()) is not None]
        for cache in caches:
            if isinstance(cache, ByteCache):
                cache.clear()
        for release in releases:
            release()

    def uses(self) -> Mapping[str, CacheUse]:
        """Return what the caches keep, by name."""
        with self._lock:
            named = {name: list(caches) for name, caches in self._caches.items()}
        uses = {}
        for name, caches in sorted(named.items()):
            limits = [cache.limit_bytes for cache in caches]
            used = sum(cache.nbytes() for cache in caches)
            if caches:
                limit = None if None in limits else sum(limit or 0 for limit in limits)
                uses[name] = CacheUse(bytes=used, limit_bytes=limit)
        return uses


_PLAIN: Final = (str, int, float, bytes, type(None))
_SERIES: Final = (tuple, frozenset, list, set)


def size_of(value: object) -> int:
    """Return about how many bytes a value takes, with what is in it; what values share counts each time.

    >>> size_of("a" * 1_000) > 1_000, size_of(["b" * 1_000] * 3) > 3_000
    (True, True)
    """
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _PLAIN):  # first, since most are
            total += sys.getsizeof(item)
        elif isinstance(item, _SERIES):
            total += sys.getsizeof(item)
            waiting += item
        else:
            nbytes = getattr(item, "nbytes", None)  # an array
            total += nbytes if isinstance(nbytes, int) else sys.getsizeof(item, 64)
            if isinstance(item, Mapping):
                waiting += [*item.keys(), *item.values()]
            elif is_dataclass(item) and not isinstance(item, type):
                waiting += [getattr(item, field.name) for field in fields(item)]
    return total


class CountedCache:
    """Tells of what somebody keeps by a rule of its own, and which never takes more than `limit_bytes`.

    `nbytes` returns what its owner has added up as values came and went: to look at what is kept would take longer the
    more that is.
    """

    def __init__(self, limit_bytes: int | None, nbytes: Callable[[], int]) -> None:
        self._limit_bytes, self._nbytes = limit_bytes, nbytes

    @property
    def limit_bytes(self) -> int | None:
        """How much is kept at most."""
        return self._limit_bytes

    def nbytes(self) -> int:
        """Return how much is kept."""
        return self._nbytes()


class ByteCache(Generic[K, V]):
    """The values that were used last, by key, as far as they fit into so many bytes; for any thread.

    A value that is larger than all of the room is not kept.

    >>> cache = ByteCache[str, bytes](1_000)
    >>> _ = cache.put("a", b"a" * 500), cache.put("b", b"b" * 500)
    >>> cache.get("a") is None, cache.get("b") == b"b" * 500
    (True, True)
    """

    def __init__(self, limit_bytes: int, size: Callable[[V], int] = size_of) -> None:
        self._limit_bytes, self._size = limit_bytes, size
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def limit_bytes(self) -> int:
        """How much is kept at most."""
        return self._limit_bytes

    def nbytes(self) -> int:
        """Return how much is kept."""
        return self._bytes

    def get(self, key: K) -> V | None:
        """Return what is kept under a key, as used last; None for nothing."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V) -> V:
        """Keep a value, and return it."""
        size = self._size(value) + size_of(key) + ENTRY_BYTES
        with self._lock:
            self._drop(key)
            if size <= self._limit_bytes:
                self._kept[key] = value, size
                self._bytes += size
            while self._bytes > self._limit_bytes:
                _, (_, freed) = self._kept.popitem(last=False)
                self._bytes -= freed
        return value

    def pop(self, key: K) -> V | None:
        """Let go of what is kept under a key, and return it."""
        with self._lock:
            return self._drop(key)

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _drop(self, key: K) -> V | None:
        value, size = self._kept.pop(key, (None, 0))
        self._bytes -= size
        return value

    def remembering(self, function: Callable[[K], V]) -> Callable[[K], V]:
        """Return a function of one argument that looks here first; None is never kept."""
        return partial(self._remembered, function)

    def _remembered(self, function: Callable[[K], V], key: K) -> V:
        value = self.get(key)
        return self.put(key, function(key)) if value is None else value
