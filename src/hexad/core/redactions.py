"""What redaction takes out of texts, told to whoever listens: how many values of which rule, and never the values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_WRITTEN: Final = re.compile(r"(secret|pii):([a-z0-9_-]{1,64})=([0-9]{1,9})")


class Redactions(Mapping[str, int]):
    """How many values were taken out, by the name of their rule; empty where none was.

    The same value in several fields, or in a text that was looked at twice, is counted as often as it stands in one.
    """

    def __init__(self, outer: Redactions | None = None) -> None:
        """With an `outer` one that is told the same."""
        self._outer = outer
        self._values: dict[tuple[str, str, str], int] = {}

    def note(self, kind: str, rule: str, value: str, count: int) -> None:
        """Note a value that was taken out so often of a text; `value` is a hash that stands for it."""
        key = (kind, rule, value)
        self._values[key] = max(count, self._values.get(key, 0))
        if self._outer is not None:
            self._outer.note(kind, rule, value, count)

    def _by_rule(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for (kind, rule, _), count in self._values.items():
            found[kind, rule] += count
        return found

    def __getitem__(self, rule: str) -> int:
        return self._rules()[rule]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules())

    def __len__(self) -> int:
        return len(self._rules())

    def _rules(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for (_, rule), count in sorted(self._by_rule().items(), key=lambda item: item[0][1]):
            found[rule] = found.get(rule, 0) + count
        return found

    @property
    def total(self) -> int:
        """How many values were taken out."""
        return self._by_rule().total()

    @property
    def personal(self) -> int:
        """How many of them are personal data; the others are secrets."""
        return sum(count for (kind, _), count in self._by_rule().items() if kind == "pii")

    def written(self) -> str:
        """Return it as `read` takes it: what a header holds."""
        return ", ".join(f"{kind}:{rule}={count}" for (kind, rule), count in sorted(self._by_rule().items()))

    def read(self, written: str, source: str) -> None:
        """Note what another process wrote down; what stands there twice of one `source` is the same."""
        for kind, rule, count in _WRITTEN.findall(written):
            self.note(kind, rule, source, int(count))

    def __repr__(self) -> str:
        return f"Redactions({self._rules()})"


_LISTENING: Final[ContextVar[Redactions | None]] = ContextVar("redactions", default=None)


def listening() -> Redactions | None:
    """Return who listens in this context, None for nobody."""
    return _LISTENING.get()


@contextmanager
def redactions() -> Iterator[Redactions]:
    """Listen to what redaction takes out of the texts that calls in the block are given, of any store and server.

    What is stored later, by a background or when a stream is sealed, is not in it.

    >>> import hexad
    >>> with hexad.open(":memory:", embedder=None) as hx, hexad.redactions() as taken:
    ...     _ = hx.session.start("Rotate the password: " + "hunter2-x9Qr")
    ...     dict(taken)
    {'password': 1}
    """
    found = Redactions(_LISTENING.get())
    token = _LISTENING.set(found)
    try:
        yield found
    finally:
        _LISTENING.reset(token)
