"""Mining as arithmetic: what projects published in, what would change out, and nothing the second time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.layers.user.learning import LearnedPreferences, mine
from hexad.layers.user.publishing import plain_values
from hexad.layers.user.tables.preferences import StoredPreference, look
from hexad.layers.user.values import (
    ProjectValue,
    Source,
    lower_confidence,
    mined_confidence,
    raise_confidence,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def published(*projects: dict[str, str]) -> list[ProjectValue]:
    """The values of projects, each begun a day after the one before it."""
    return [
        ProjectValue(
            project_id=f"p{number:03}",
            attribute=key,
            value=value,
            last_seen=START + timedelta(days=number),
            begun=START + timedelta(days=number),
        )
        for number, facts in enumerate(projects)
        for key, value in sorted(facts.items())
    ]


def mined(
    values: list[ProjectValue], held: list[StoredPreference] | None = None, *, drift_projects: int = 5
) -> LearnedPreferences:
    return mine(values, held or [], user_id="me", at=START, drift_projects=drift_projects)


def after(found: LearnedPreferences, held: list[StoredPreference] | None = None) -> list[StoredPreference]:
    """What is held once it is stored."""
    gone = {(row.preference.key, look(row.preference.value)) for row in found.remove}
    kept = {(row.preference.key, look(row.preference.value)): row for row in held or []}
    kept |= {(row.preference.key, look(row.preference.value)): row for row in found.put}
    return [row for pair, row in kept.items() if pair not in gone]


choices = st.lists(
    st.dictionaries(st.sampled_from(["db", "orm", "ci"]), st.sampled_from(["A", "B", "a"]), max_size=3),
    max_size=14,
)


@given(choices)
def test_learning_twice_is_learning_once(projects: list[dict[str, str]]) -> None:
    values = published(*projects)
    held = after(mined(values))
    again = mined(values, held)

    assert ([], [], []) == (list(again.put), list(again.remove), list(again.changes))


@given(choices)
def test_exactly_what_has_support_and_projects_enough_becomes_a_preference(
    projects: list[dict[str, str]],
) -> None:
    values = published(*projects)
    total = len({project_value.project_id for project_value in values})
    having: dict[tuple[str, str], set[str]] = {}
    for project_value in values:
        having.setdefault((project_value.attribute, project_value.value.lower()), set()).add(
            project_value.project_id
        )
    wanted = {
        pair: mined_confidence(len(there) / total)
        for pair, there in having.items()
        if len(there) >= 3 and len(there) / total >= 0.5
    }
    assert wanted == {
        (row.preference.key, look(row.preference.value)): row.preference.confidence
        for row in mined(values).put
    }


@given(choices, choices)
def test_confidence_stays_between_0_and_1_whatever_comes(
    first: list[dict[str, str]], then: list[dict[str, str]]
) -> None:
    held = after(mined(published(*first), drift_projects=1))
    found = mined(published(*first, *then), held, drift_projects=1)
    for row in after(found, held):
        assert 0 <= row.preference.confidence <= 0.95
        assert row.preference.source is Source.INFERRED


@given(st.floats(0, 1), st.integers(0, 50))
def test_raising_never_lowers_and_lowering_never_raises(confidence: float, times: int) -> None:
    assert confidence <= raise_confidence(confidence, times) <= max(confidence, 0.95)
    assert 0 <= lower_confidence(confidence, times) <= max(confidence, 0.05)


def test_a_rejected_preference_keeps_its_distance_from_its_support() -> None:
    half = published(*[{"db": "A"}] * 3, *[{"db": "B"}] * 3)
    (row,) = (held for held in after(mined(half)) if held.preference.value == "A")
    turned_down = replace(row, preference=replace(row.preference, confidence=0.3, rejected=1))
    more = published(*[{"db": "A"}] * 3, *[{"db": "B"}] * 3, {"db": "A"}, {"db": "A"})

    (found,) = (held for held in mined(more, [turned_down]).put if held.preference.value == "A")
    assert pytest.approx(0.3 + mined_confidence(5 / 8) - 0.6) == found.preference.confidence


def test_what_no_project_has_any_more_goes_unless_somebody_accepted_it() -> None:
    held = after(mined(published({"db": "A"}, {"db": "A"}, {"db": "A"})))
    assert ["forgotten"] == [change.what for change in mined([], held).changes]
    accepted = [replace(row, preference=replace(row.preference, accepted=1)) for row in held]
    assert ["lowered"] == [change.what for change in mined([], accepted).changes]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("  x ", ["x"]),
        (["a", ["b"], {"value": "c"}], ["a", "c"]),
        ({"style": "snake"}, ["snake"]),
        ({"a": "1", "b": "2"}, []),
        (2.50, ["2.5"]),
        (None, []),
        (False, ["false"]),
    ],
)
def test_only_plain_values_are_published(value, plain) -> None:
    assert plain == list(plain_values(value))
