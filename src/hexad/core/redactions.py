"""What redaction takes out of texts, told to whoever listens: how many values of which rule, and never the values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Final

_ANSWERS: Final = count()
"""Numbers that stand for values of which nothing is known."""
_WRITTEN: Final = re.compile(r"(secret|pii):([a-z0-9_-]{1,64})=([0-9]{1,9})")


class Redactions(Mapping[str, int]):
    """How many values were taken out, by the name of their rule; empty where none was.

    The same value in several fields, or in a text that was looked at twice, is counted as often as it stands in one; of
    two answers of a server it is not known whether they tell of the same.
    """

    def __init__(self, outer: Redactions | None = None) -> None:
        """With an `outer` one that is told the same."""
        self._outer = outer
        self._values: dict[tuple[str, str, str], int] = {}

    def note(self, kind: str, rule: str, value: str, times: int) -> None:
        """Note a value that was taken out so often of a text; `value` is a hash that stands for it."""
        key = (kind, rule, value)
        self._values[key] = max(times, self._values.get(key, 0))
        if self._outer is not None:
            self._outer.note(kind, rule, value, times)

    def _by_rule(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for (kind, rule, _), times in self._values.items():
            found[kind, rule] += times
        return found

    def __getitem__(self, rule: str) -> int:
        return dict(self._rules())[rule]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules())

    def __len__(self) -> int:
        return len(self._rules())

    def _rules(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (_, rule), times in sorted(self._by_rule().items(), key=lambda item: item[0][1]):
            found[rule] += times
        return found

    @property
    def total(self) -> int:
        """How many values were taken out."""
        return self._by_rule().total()

    @property
    def personal(self) -> int:
        """How many of them are personal data; the others are secrets."""
        return sum(times for (kind, _), times in self._by_rule().items() if kind == "pii")

    def written(self) -> str:
        """Return it as `read` takes it: what a header holds."""
        return ", ".join(f"{kind}:{rule}={times}" for (kind, rule), times in sorted(self._by_rule().items()))

    def read(self, written: str) -> None:
        """Note what another process wrote down of one call."""
        for kind, rule, times in _WRITTEN.findall(written):
            self.note(kind, rule, f"answer {next(_ANSWERS)}", int(times))

    def __repr__(self) -> str:
        return f"Redactions({dict(self)})"


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
