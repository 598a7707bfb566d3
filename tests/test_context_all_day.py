"""The same state is the same context all day: nothing grows older at an hour of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hexad import FrozenClock, MemoryItem, MemoryLayer
from hexad.layers.context.selection import reconcile
from hexad.layers.scoring import DEFAULT_WEIGHTS, age_days, rank
from hexad.memory.decision import ago
from user_projects import open_project

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def aged(name: str, at: datetime, now: datetime, **fields: object) -> MemoryItem:
    days = (now - at).total_seconds() / 86_400
    item = MemoryItem(
        id=name, layer=MemoryLayer.PROJECT, text=name, recency=days, relevance=0.5, at=at, kind="note"
    )
    return replace(item, **fields)  # type: ignore[arg-type]


@pytest.mark.row("A112", "A113")
def test_which_of_two_that_contradict_each_other_goes_on_is_the_same_all_day():
    def goes_on(now: datetime) -> str:
        sure = aged("sure", NOON, now, key="db", value="Postgres", confidence=0.9)
        young = aged("young", NOON + timedelta(hours=1), now, key="db", value="MySQL", confidence=0.5)
        return reconcile(rank([sure, young], DEFAULT_WEIGHTS)).items[0].item.id

    midnight = datetime(2026, 5, 2, tzinfo=UTC)
    assert {"sure"} == {goes_on(midnight + timedelta(minutes=30 * n)) for n in range(48)}


def test_an_item_is_a_day_old_after_midnight_and_two_after_the_next():
    late = NOON + timedelta(hours=11, minutes=59, seconds=59.999)
    for at, hours, days in (
        (late, 0, 0),
        (late, 1, 1),
        (NOON, 11.99, 0),
        (NOON, 12, 1),
        (NOON, 35.99, 1),
        (NOON, 36, 2),
    ):
        assert days == age_days(aged("it", at, at + timedelta(hours=hours)))
    assert 0 == age_days(aged("it", NOON, NOON - timedelta(days=3), recency=0.0))
    for years in range(0, 60, 7):
        now = datetime(2026 + years, 5, 1, tzinfo=UTC)
        assert (now.date() - NOON.date()).days == age_days(aged("it", NOON, now)) or now < NOON


@pytest.mark.row("A147")
def test_a_context_with_decisions_has_the_same_bytes_in_the_morning_and_in_the_evening(tmp_path):
    clock = FrozenClock(NOON)
    with open_project(tmp_path / "one", clock) as hx:
        hx.governance.decide("Use Postgres", rationale="Orders are JSON documents.")
        hx.remember("The harbour crane was mended.")
        hx.user.prefer("db", "Postgres")
        clock.advance(hours=5)
        hx.remember("The harbour crane is broken.")
    found = set()
    for hours in (1, 9, 12, 17, 22):
        clock = FrozenClock(datetime(2026, 5, 3, tzinfo=UTC) + timedelta(hours=hours))
        with open_project(tmp_path / "one", clock) as hx:
            for task in ("why do we use Postgres?", "the harbour crane"):
                context = hx.context(task, deterministic=True)
                found.add((task, context.render("toon"), context.render("json"), context.render("markdown")))
    assert 2 == len(found)
    assert any("2 days ago" in text for _, text, _, _ in found)


def test_how_long_ago_something_was_counts_nights():
    assert "today" == ago(NOON, NOON + timedelta(hours=11))
    assert "1 day ago" == ago(NOON, NOON + timedelta(hours=13)) == ago(NOON, NOON + timedelta(hours=35))
