"""Numbers as callers give them: of Python, of numpy and of whatever else counts as one; never a text or a truth value.

Not every caller has a type checker: `"12"` has two characters that Python would take for numbers, `b"12"` two bytes,
and a set has no order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Set
from itertools import islice
from numbers import Integral, Real
from typing import Final, Protocol, cast, runtime_checkable

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput, LimitExceeded

_NO_LISTS: Final = (str, bytes, bytearray, memoryview, Mapping, Set)
"""What can be gone through, and is no list of values in an order."""


@runtime_checkable
class _Array(Protocol):
    """What numpy, pandas and others keep values in."""

    def tolist(self) -> object:
        """Return the values as those of Python."""


def listed(values: object) -> Iterable[object] | None:
    """Return what can be gone through in an order; None for anything else.

    >>> listed([1, 2]), listed("12"), listed({1, 2}), listed(12)
    ([1, 2], None, None, None)
    """
    if type(values) in (list, tuple):
        return cast("Iterable[object]", values)
    if isinstance(values, _NO_LISTS):
        return None
    if isinstance(values, _Array):
        values = values.tolist()
    return values if isinstance(values, Iterable) else None


def real_number(value: object) -> float | None:
    """Return a real number as a float; None for anything else, and for one that is too large for a float.

    >>> real_number(3), real_number("3"), real_number(True)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except (
        OverflowError,
        TypeError,
        ValueError,
    ):  # numpy calls a duration a number, and does not make it one
        return None


def whole_number(value: object) -> int | None:
    """Return a whole number as one of Python's; None for anything else, also for 2.0.

    >>> whole_number(3), whole_number(3.0), whole_number(True)
    (3, None, None)
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def finite_numbers(vector: Iterable[float], name: str, *, most: int | None = None) -> list[float]:
    """Return the numbers of a vector.

    Raises `InvalidInput` for what is none, for values that are no finite numbers, and `LimitExceeded` for more than
    `most`.
    """
    values = listed(vector)
    if values is None:
        raise InvalidInput(f"{name} is no vector: it is {quoted(vector)}; give a list of numbers.")
    taken = list(values if most is None else islice(values, most + 1))
    # Most are lists of floats, and a walk that takes two milliseconds has no tenth of one for looking at each.
    if set(map(type, taken)) <= {float} and all(map(math.isfinite, cast("list[float]", taken))):
        return _few(cast("list[float]", taken), name, most)
    numbers = []
    for place, value in enumerate(taken):
        number = value if type(value) is float else real_number(value)
        if number is None and whole_number(value) is not None:
            raise InvalidInput(
                f"{name}[{place}] is {quoted(value)}, which is too large a number; divide all of its numbers alike."
            )
        if number is None:
            raise InvalidInput(
                f"{name} is no vector: its [{place}] is {quoted(value)}; give one list of numbers."
            )
        if not math.isfinite(number):
            raise InvalidInput(f"{name}[{place}] is {number}; a vector holds finite numbers.")
        numbers.append(number)
    return _few(numbers, name, most)


def _few(numbers: list[float], name: str, most: int | None) -> list[float]:
    if most is not None and len(numbers) > most:
        raise LimitExceeded(
            f"{name} has more than {most:,} numbers, the most that can be stored; give fewer."
        )
    return numbers
