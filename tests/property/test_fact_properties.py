"""Facts come to the same in whatever order they arrive, and what is told of a line never overlaps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
from hypothesis import given, settings

import hexad
from example_counts import examples
from hexad import Hexad
from hexad.memory.fact import FactRow, displaced, predecessor, predecessors, successor
from hexad.memory.memory import Status, Trust

START = datetime(2020, 1, 1, tzinfo=UTC)


@st.composite
def lines(draw: st.DrawFn) -> list[FactRow]:
    """Facts of one key, each with its own time."""
    days = draw(st.lists(st.integers(0, 400), min_size=1, max_size=8, unique=True))
    return [
        FactRow(
            no=number,
            id=f"mem_{number}",
            space="default",
            subject="ann",
            attribute="city",
            value=draw(st.sampled_from(['"Oslo"', '"Rome"', '"Bern"'])),
            content_hash=str(number),
            text="",
            kind="note",
            trust=draw(st.sampled_from(list(Trust))),
            status=Status.ACTIVE,
            confidence=1.0,
            valid_from=START + timedelta(days=day),
            valid_to=None,
            recorded_at=START,
            changed_at=START,
        )
        for number, day in enumerate(days)
    ]


@given(lines())
def test_what_stands_is_never_behind_a_later_value_of_equal_trust(line: list[FactRow]) -> None:
    standing = [row for row in line if successor(row, line) is None]

    newest = max(line, key=lambda row: row.order)
    assert newest in standing
    for row in standing:
        later = [other for other in standing if other.order > row.order and other.differs(row)]
        assert all(other.trust.rank < row.trust.rank for other in later)


@given(lines())
def test_who_takes_a_place_is_later_and_trusted_as_much(line: list[FactRow]) -> None:
    for row in line:
        after, before = successor(row, line), predecessor(row, line)
        assert after is None or (after.order > row.order and after.trust.rank >= row.trust.rank)
        assert before is None or (before.order < row.order and before.trust.rank <= row.trust.rank)


@given(
    lines(), st.lists(st.sampled_from(["Oslo", "Rome", None]), min_size=8, max_size=8), st.integers(0, 400)
)
def test_a_whole_line_comes_to_what_its_facts_come_to_one_by_one(
    line: list[FactRow], values: list[str | None], today: int
) -> None:
    now = START + timedelta(days=today)
    # Some at the same time, some without a value, some that are gone.
    line = [
        replace(
            row,
            value=value,
            content_hash=str(at % 2),
            valid_from=START + (row.valid_from - START) // 100 * 100,
            status=Status.ACTIVE if at % 3 else Status.SUPERSEDED,
        )
        for at, (row, value) in enumerate(zip(line, values, strict=False))
    ]

    begun = [[other for other in line if other.valid_from <= max(now, row.valid_from)] for row in line]
    fallen = [
        row
        for row, there in zip(line, begun, strict=True)
        if row.status is Status.ACTIVE and successor(row, there) is not None
    ]

    assert fallen == displaced(line, now)
    assert [predecessor(row, line) for row in line] == [predecessors(line).get(row.no) for row in line]


@settings(max_examples=examples(6))
@given(
    st.lists(
        st.tuples(st.sampled_from(["Oslo", "Rome", "Bern"]), st.integers(0, 400)),
        min_size=1,
        max_size=5,
        unique_by=lambda told: told[1],
    ),
    st.randoms(use_true_random=False),
)
def test_a_store_comes_to_the_same_in_any_order(told: list[tuple[str, int]], random: object) -> None:
    mixed = list(told)
    random.shuffle(mixed)  # type: ignore[attr-defined]

    assert _line(told) == _line(mixed) == _line(sorted(told, key=lambda row: row[1]))


def _line(told: list[tuple[str, int]]) -> object:
    with hexad.open(":memory:", embedder=None, background=False, clock=hexad.FrozenClock()) as hx:
        for value, day in told:
            since = START + timedelta(days=day)
            hx.remember(
                f"Ann lives in {value}.", subject="ann", attribute="city", value=value, valid_from=since
            )
        assert [] == hx.check()
        return _shown(hx)


def _shown(hx: Hexad) -> object:
    newest = [fact.value for fact in hx.facts.current("ann", "city")]
    return newest, [(fact.value, fact.valid_from, fact.valid_to) for fact in hx.facts.history("ann", "city")]
