"""Whatever part of a consolidation was done, the next one does the rest, and comes to the same end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.config import ConsolidationSettings
from hexad.maintenance.consolidation.rows import ConsolidationCandidate
from hexad.maintenance.consolidation.rules import ConsolidationInput, ConsolidationStep, plan
from hexad.maintenance.consolidation.values import LayerSize
from hexad.memory.memory import Trust

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TEXTS = (
    "Ship it on green.",
    "Ship it on green!",
    "Ship it, on green, at noon.",
    "Ship it on 3 greens.",
    "Never ship it on green.",
)
SETTINGS = ConsolidationSettings(quotas={"project": 4, "vector": 2})


@st.composite
def rows(draw: st.DrawFn) -> list[ConsolidationCandidate]:
    linked = draw(st.booleans())
    return [
        ConsolidationCandidate(
            no=no,
            id=f"mem_{no}",
            space_no=draw(st.integers(1, 2)),
            space="kept" if draw(st.integers(0, 9)) == 0 else "open",
            audience=0,
            kind=draw(st.sampled_from(["note", "note", "decision"])),
            pinned=draw(st.integers(0, 6)) == 0,
            importance=draw(st.sampled_from([0.1, 0.3, 0.5, 0.8])),
            confidence=0.6,
            trust=draw(st.sampled_from([Trust.USER, Trust.TOOL])),
            created_at=NOW - timedelta(days=400),
            touched=NOW - timedelta(days=draw(st.sampled_from([1, 40, 390]))),
            read_at=None,
            holds_since=NOW - timedelta(days=400 - no),
            look=draw(st.sampled_from([None, None, "shop.db"])),
            value=draw(st.sampled_from(['"a"', '"b"'])),
            source=source,
            source_kind="ingest" if source else "",
            is_turn=False,
            bytes=10,
            cited=draw(st.integers(0, 6)) == 0,
            tags="[]",
            subjects="[]",
            project="p",
            draft=draw(st.booleans()),
            done_before="",
            base=None,
            to=None,
            resting=frozenset({draw(st.integers(1, 9))} - {no} if linked else ()),
            layer="vector" if source else "project",
        )
        for no in range(1, draw(st.integers(2, 9)) + 1)
        for source in [draw(st.sampled_from([0, 0, 1]))]
    ]


def planned(
    found: list[ConsolidationCandidate], texts: dict[int, str], seen: frozenset[int] = frozenset()
) -> list[ConsolidationStep]:
    there = [row._replace(layer="governance" if row.kind == "decision" else row.layer) for row in found]
    sizes = {
        layer: LayerSize(
            layer=layer,
            count=sum(row.layer == layer for row in there),
            bytes=sum(row.layer == layer for row in there) * 10,
        )
        for layer in ("project", "vector")
    }
    near = [
        (candidate.no, other.no)
        for candidate in there
        for other in there
        if candidate.no > other.no and candidate.space_no == other.space_no
    ]
    known = ConsolidationInput(
        rows=there,
        near=near,
        texts=lambda _: texts,
        evidence=dict.fromkeys(seen, (1, NOW)),
        keeping=frozenset({"kept"}),
        sizes=sizes,
    )
    return list(plan(known, SETTINGS, now=NOW).steps)


def after(
    found: list[ConsolidationCandidate], steps: list[ConsolidationStep]
) -> list[ConsolidationCandidate]:
    """Return the rows when these steps were done."""
    gone = {step.row.no for step in steps if step.archives}
    weighed = {step.row.no: step for step in steps if not step.archives}
    return [
        row._replace(resting=row.resting - gone)
        if row.no not in weighed
        else row._replace(
            confidence=weighed[row.no].change.after,
            base=weighed[row.no].base,
            to=weighed[row.no].change.after,
            resting=row.resting - gone,
        )
        for row in found
        if row.no not in gone
    ]


def merged_into(steps: list[ConsolidationStep]) -> frozenset[int]:
    """Return what has evidence now, because duplicates of it were merged."""
    return frozenset(step.keeper.no for step in steps if step.keeper is not None)


@pytest.mark.row("A100")
@settings(max_examples=60)
@given(rows(), st.data())
def test_the_rest_of_a_plan_is_what_the_next_run_does(found, data):
    texts = {row.no: data.draw(st.sampled_from(TEXTS)) for row in found}
    steps = planned(found, texts)
    done = steps[: data.draw(st.integers(0, len(steps)))]

    rest = planned(after(found, done), texts, merged_into(done))

    wanted = {(step.row.no, step.archives) for step in steps[len(done) :]}
    if not any(row.resting for row in found):  # else what is freed halfway may be merged before it grows old
        assert wanted == {(step.row.no, step.archives) for step in rest}
    assert [] == planned(after(after(found, done), rest), texts, merged_into(done) | merged_into(rest))
    assert [] == planned(after(found, steps), texts, merged_into(steps))


@given(rows(), st.data())
@settings(max_examples=40)
def test_nothing_that_binds_is_ever_taken_and_what_remains_of_a_merge_stays(found, data):
    texts = {row.no: data.draw(st.sampled_from(TEXTS)) for row in found}
    steps = planned(found, texts)

    for step in steps:
        if step.archives:
            row = step.row
            assert not (row.pinned or row.cited or row.kind == "decision" or row.space == "kept")
        if step.keeper is not None:
            assert step.keeper.trust.rank >= step.row.trust.rank
            assert (step.keeper.space_no, step.keeper.kind) == (step.row.space_no, step.row.kind)
            assert step.row.look is None or step.row.value == step.keeper.value
