"""Regular expressions of somebody else's, run in time that grows with the text and no faster.

`re` tries every way in which an expression may fit, which `name.*value.*!` turns into days. Here the same expressions
give the same matches: what has few ways goes through `re` itself, everything else through a matcher that remembers at
which places of the text a choice has failed, and never tries it there again. RE2 was rejected: its words, digits and
borders of words are those of ASCII, so that names in other scripts would be missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

# The standard library's own reader of expressions: whatever else read them would read some differently.
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, Final

PATTERN_LIMIT: Final = 500
"""Longest expression, in characters."""
CHOICES_LIMIT: Final = 400
"""Most places of an expression where there is a choice, each number of a bounded repetition counted."""
_STEPS_LIMIT: Final = 4_000
_DIRECT_STEPS: Final = 512
"""So much work for each character of a text `re` may have with an expression; more goes through the matcher."""
_FOR_EVER: Final = 1 << 40
_VALUE: Final = "value"

_CHAR, _TEST, _SPLIT, _SAVE_START, _SAVE_END, _MATCH = range(6)
_ONE_CHARACTER: Final = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_REFUSED: Final = {
    "GROUPREF": "uses a back-reference",
    "GROUPREF_EXISTS": "asks whether a group has matched",
    "ATOMIC_GROUP": "uses an atomic group",
    "POSSESSIVE_REPEAT": "uses a possessive repetition",
}


class UnusablePattern(ValueError):
    """The expression is not valid, or nothing can run it in bounded time; the message completes "The expression …"."""


class LinearPattern:
    """An expression and how it is run; equal to another of the same source. Make it with `linear_pattern`."""

    def __init__(self, source: str) -> None:
        self.pattern = source
        try:
            self._compiled = re.compile(source)
            parsed = _parser.parse(source)
        except (re.error, OverflowError, RecursionError) as error:
            raise UnusablePattern(f"is not valid: {error}") from error
        nodes = list(parsed)
        if _ways(_without_tail(nodes), refuse=True) <= _DIRECT_STEPS:
            self._program: _Program | None = None
        else:
            if parsed.getwidth()[0] == 0:
                raise UnusablePattern("may match nothing at all")
            self._program = _Program(nodes, parsed.state)
        self._group: int | str = _VALUE if _VALUE in self._compiled.groupindex else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearPattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        return f"linear_pattern({self.pattern!r})"

    def matches_nothing(self) -> bool:
        """Whether the expression fits an empty text, so that it would fit everywhere."""
        return self._compiled.match("") is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Give where `re.finditer` finds something in a text: of the group `value`, or the whole; never nothing."""
        if self._program is not None:
            yield from self._program.spans(text)
            return
        for match in self._compiled.finditer(text):
            if match[self._group]:
                yield match.span(self._group)


@lru_cache(maxsize=512)
def linear_pattern(source: str) -> LinearPattern:
    """Return an expression that runs in linear time; raises `UnusablePattern` for one that cannot."""
    return LinearPattern(source)


def _name(node: Any) -> str:
    return str(node[0])


def _without_tail(nodes: Sequence[Any]) -> list[Any]:
    """Return an expression whose last part, where it repeats a character without end, does so no more than it must:
    nothing follows it that could fail.
    """
    *first, last = nodes or [None]
    if last is None:
        return []
    if _name(last) == "SUBPATTERN":
        group, add, remove, inner = last[1]
        return [*first, (last[0], (group, add, remove, _without_tail(list(inner))))]
    if _name(last) in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = last[1]
        if most == _parser.MAXREPEAT and len(inner) == 1 and _name(inner[0]) in _ONE_CHARACTER:
            return [*first, (last[0], (least, least, inner))]
    return [*nodes]


def _ways(nodes: Sequence[Any], *, refuse: bool = False) -> int:
    """Return a bound of the steps that `re` takes from one character of a text; `_FOR_EVER` where there is none."""
    ways, length = 1, 1
    for node in nodes:
        more, longer = _ways_of(node, refuse=refuse)
        ways, length = min(ways * more, _FOR_EVER), min(length + longer, _FOR_EVER)
    return min(ways * length, _FOR_EVER)


def _ways_of(node: Any, *, refuse: bool) -> tuple[int, int]:
    """Return in how many ways a part may fit, and how many steps each takes."""
    name = _name(node)
    if name in _REFUSED:
        raise UnusablePattern(f"{_REFUSED[name]}, which can take very long")
    if name == "BRANCH":
        parts = [_ways(branch, refuse=refuse) for branch in node[1][1]]
        return min(sum(parts), _FOR_EVER), max(parts)
    if name == "SUBPATTERN":
        steps = _ways(node[1][3], refuse=refuse)
        return steps, steps
    if name in ("ASSERT", "ASSERT_NOT"):
        steps = _ways(node[1][1], refuse=refuse)
        if steps > _DIRECT_STEPS:
            raise UnusablePattern(
                "looks ahead or back over a repetition without a small bound; look at single characters"
            )
        return 1, steps
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = node[1]
        each = _ways(inner, refuse=refuse)
        single = len(inner) == 1 and _name(inner[0]) in _ONE_CHARACTER
        if most == _parser.MAXREPEAT:
            return _FOR_EVER, _FOR_EVER
        ways = most - least + 1 if single else min((each + 1) ** min(int(most), 64), _FOR_EVER)
        return ways, min(int(most) * (1 if single else each), _FOR_EVER)
    return 1, 1


class _Program:
    """An expression as steps; at a choice the first way is tried first, as `re` does."""

    def __init__(self, nodes: Sequence[Any], state: Any) -> None:
        self._state = state
        self._value = state.groupdict.get(_VALUE)
        self._steps: list[list[Any]] = []
        self._choices = 0
        self._add_all(nodes, state.flags)
        self._steps.append([_MATCH, None, None])
        self._literal = max(_literals(nodes, state.flags), key=len, default="")

    # Building -------------------------------------------------------------------------------------------------------

    def _add(self, kind: int, first: Any = None, second: Any = None) -> list[Any]:
        if kind == _SPLIT:
            self._choices += 1
        if self._choices > CHOICES_LIMIT or len(self._steps) >= _STEPS_LIMIT:
            raise UnusablePattern(
                f"has too many repetitions and choices (over {CHOICES_LIMIT}); give smaller bounds"
            )
        step = [kind, first, second]
        self._steps.append(step)
        return step

    def _add_all(self, nodes: Sequence[Any], flags: int) -> None:
        for node in nodes:
            self._add_node(node, flags)

    def _add_node(self, node: Any, flags: int) -> None:
        name, value = _name(node), node[1]
        if name in _ONE_CHARACTER:
            self._add(_CHAR, _Character(self._leaf(node, flags)))
        elif name == "SUBPATTERN":
            group, add, remove, inner = value
            inside = (flags | add) & ~remove
            if group is not None and group == self._value:
                self._add(_SAVE_START)
            self._add_all(inner, inside)
            if group is not None and group == self._value:
                self._add(_SAVE_END)
        elif name == "BRANCH":
            self._add_branches(value[1], flags)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            if inner.getwidth()[0] == 0:
                raise UnusablePattern("repeats what may be empty")
            self._add_repeat(int(least), None if most == _parser.MAXREPEAT else int(most), inner, flags, name)
        else:  # a place in the text, or a look around
            self._add(_TEST, self._leaf(node, flags).match)

    def _add_branches(self, branches: Sequence[Any], flags: int) -> None:
        ends: list[list[Any]] = []
        for at, branch in enumerate(branches):
            split = self._add(_SPLIT) if at + 1 < len(branches) else None
            if split is not None:
                split[1] = len(self._steps)
            self._add_all(branch, flags)
            if split is not None:
                ends.append(self._add(_SPLIT))  # on to the end: both ways are the same
                split[2] = len(self._steps)
        for end in ends:
            end[1] = end[2] = len(self._steps)

    def _add_repeat(self, least: int, most: int | None, inner: Any, flags: int, name: str) -> None:
        for _ in range(least):
            self._add_all(inner, flags)
        inside, outside = (1, 2) if name == "MAX_REPEAT" else (2, 1)
        splits: list[list[Any]] = []
        if most is None:
            top = len(self._steps)
            split = self._add(_SPLIT)
            split[inside] = len(self._steps)
            self._add_all(inner, flags)
            back = self._add(_SPLIT)
            back[1] = back[2] = top
            splits.append(split)
        else:
            for _ in range(most - least):
                split = self._add(_SPLIT)
                split[inside] = len(self._steps)
                self._add_all(inner, flags)
                splits.append(split)
        for split in splits:
            split[outside] = len(self._steps)

    def _leaf(self, node: Any, flags: int) -> re.Pattern[str]:
        state = _parser.State()
        state.flags, state.groupwidths = flags, list(self._state.groupwidths)
        compiled: re.Pattern[str] = _compiler.compile(_parser.SubPattern(state, [node]), flags)
        return compiled

    # Running --------------------------------------------------------------------------------------------------------

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Give the places of matches, in order; see `LinearPattern.spans`."""
        if self._literal not in text:
            return
        failed: dict[int, bytearray] = {}
        at = 0
        while at <= len(text):
            found = self._match(text, at, failed)
            if found is None:
                at += 1
                continue
            end, start_value, end_value = found
            if self._value is None:
                start_value, end_value = at, end
            if end_value > start_value >= 0:
                yield start_value, end_value
            # What led to the match did not fail; before its end nothing is looked at again.
            for row in failed.values():
                row[end >> 3] &= ~(1 << (end & 7))
            at = max(end, at + 1)

    def _match(self, text: str, start: int, failed: dict[int, bytearray]) -> tuple[int, int, int] | None:
        """Return where a match that begins at `start` ends, and where its value is (-1: nowhere)."""
        steps, size = self._steps, len(text)
        waiting = [(0, start, -1, -1)]
        while waiting:
            step, at, value_start, value_end = waiting.pop()
            while True:
                kind, first, second = steps[step]
                if kind == _CHAR:
                    if at >= size or not first[text[at]]:
                        break
                    at += 1
                elif kind == _SPLIT:
                    row = failed.get(step)
                    if row is None:
                        row = failed[step] = bytearray((size >> 3) + 1)
                    bit = 1 << (at & 7)
                    if row[at >> 3] & bit:
                        break
                    row[at >> 3] |= bit
                    if first != second:
                        waiting.append((second, at, value_start, value_end))
                    step = first
                    continue
                elif kind == _TEST:
                    if first(text, at) is None:
                        break
                elif kind == _SAVE_START:
                    value_start = at
                elif kind == _SAVE_END:
                    value_end = at
                else:
                    return at, value_start, value_end
                step += 1
        return None


class _Character(dict[str, bool]):
    """Which characters a part of an expression fits; each is looked at once."""

    def __init__(self, expression: re.Pattern[str]) -> None:
        super().__init__()
        self._expression = expression

    def __missing__(self, character: str) -> bool:
        fits = self[character] = self._expression.match(character) is not None
        return fits


def _literals(nodes: Sequence[Any], flags: int) -> Iterator[str]:
    """Give texts that stand in everything that an expression fits."""
    run: list[str] = []
    for node in nodes:
        if _name(node) == "LITERAL" and not flags & re.IGNORECASE:
            run.append(chr(node[1]))
            continue
        yield "".join(run)
        run = []
        if _name(node) == "SUBPATTERN" and not node[1][1] & re.IGNORECASE:
            yield from _literals(node[1][3], flags)
    yield "".join(run)
