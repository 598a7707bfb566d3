"""Policies over any memories: who sees what, and what gc does, against rules written down a second time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

import hexad
from example_counts import examples
from hexad import FrozenClock
from hexad.memory.draft import Draft
from hexad.memory.memory import Relevance

KINDS, TAGS, PATHS, ROLES = (
    ("note", "decision", "log"),
    ("a", "b", "c"),
    ("x", "x/y", "xy/z"),
    ("dev", "lead", "ops"),
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)

conditions = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
        "tags": st.lists(st.sampled_from(TAGS), min_size=1, max_size=2),
        "paths": st.lists(st.sampled_from(("x", "x/y", "xy/*")), min_size=1, max_size=2),
        "relevance": st.lists(st.sampled_from(("high", "low")), min_size=1, max_size=2),
    },
)
conditions = conditions.filter(bool)
roles = st.lists(st.sampled_from(ROLES), max_size=2)
memories = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(KINDS),
            "tags": st.lists(st.sampled_from(TAGS), max_size=2),
            "path": st.sampled_from(PATHS),
            "relevance": st.sampled_from(("high", "medium", "low")),
            "age": st.integers(0, 40),
            "pinned": st.booleans(),
            "forgotten": st.booleans(),
        }
    ),
    min_size=1,
    max_size=8,
)


def fits(rule: dict[str, Any], memory: dict[str, Any]) -> bool:
    under = {"x": ("x", "x/y"), "x/y": ("x/y",), "xy/*": ("xy/z",)}
    return (
        ("kinds" not in rule or memory["kind"] in rule["kinds"])
        and ("tags" not in rule or bool(set(rule["tags"]) & set(memory["tags"])))
        and ("paths" not in rule or any(memory["path"] in under[pattern] for pattern in rule["paths"]))
        and ("relevance" not in rule or memory["relevance"] in rule["relevance"])
    )


def store_all(hx: hexad.Hexad, found: list[dict[str, Any]]) -> None:
    hx._services.ingest().writer.write(
        [
            Draft(
                text=f"Text number {number}.",
                space="docs",
                id=f"m{number}",
                kind=entry["kind"],
                tags=tuple(entry["tags"]),
                path=entry["path"],
                relevance=Relevance(entry["relevance"]),
                pinned=entry["pinned"],
                now=NOW - timedelta(days=entry["age"]),
            )
            for number, entry in enumerate(found)
        ]
    )


@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
@given(
    found=memories,
    rules=st.lists(st.tuples(conditions, roles), max_size=3),
    admitted=st.none() | st.lists(st.sampled_from(ROLES), min_size=1, max_size=2),
    before=st.booleans(),
)
def test_a_role_sees_what_the_space_and_every_rule_about_it_admit(
    found: list[dict[str, Any]],
    rules: list[tuple[dict[str, Any], list[str]]],
    admitted: list[str] | None,
    before: bool,
) -> None:
    policy = {"visibility": [{**rule, "roles": names} for rule, names in rules]}
    if admitted is not None:
        policy["roles"] = admitted  # type: ignore[assignment]
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.spaces.create("docs")
        if before:
            hx.spaces.set_policy("docs", policy)
        store_all(hx, found)
        if not before:
            hx.spaces.set_policy("docs", policy)

        for role in ROLES:
            expected = {
                f"m{number}"
                for number, item in enumerate(found)
                if (admitted is None or role in admitted)
                and all(role in names for rule, names in rules if fits(rule, item))
            }
            with hexad.open(hx.path, embedder=None, background=False, actor={"role": role}) as other:
                assert expected == {memory.id for memory in other.memories(limit=None)}
                assert len(expected) == other.count()
        assert [] == hx.check()


@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
@given(
    found=memories,
    ttl=st.none() | st.integers(1, 40),
    rules=st.lists(st.tuples(conditions, st.none() | st.integers(1, 40)), max_size=3),
    purge=st.booleans(),
)
def test_gc_archives_what_is_old_and_keeps_the_rest(
    found: list[dict[str, Any]],
    ttl: int | None,
    rules: list[tuple[dict[str, Any], int | None]],
    purge: bool,
) -> None:
    policy = {
        "ttl_days": ttl,
        "allow_delete": True,
        "retention": [{**rule, "ttl_days": days} for rule, days in rules],
    }
    with hexad.open(":memory:", embedder=None, background=False, clock=FrozenClock(NOW)) as hx:
        store_all(hx, found)
        hx.spaces.set_policy("docs", policy)
        for number, entry in enumerate(found):
            if entry["forgotten"]:
                hx.forget(f"m{number}")  # which is a change of today
        expected = {}
        for number, entry in enumerate(found):
            lifetime = next((days for rule, days in rules if fits(rule, entry)), ttl)
            old = lifetime is not None and entry["age"] >= lifetime and not entry["pinned"]
            if entry["forgotten"]:
                expected[f"m{number}"] = "archived"
            elif not old:
                expected[f"m{number}"] = "active"
            elif not purge:
                expected[f"m{number}"] = "archived"

        if ttl is None and all(days is None for _, days in rules):
            return
        planned = hx.spaces.gc("docs", purge=purge, dry_run=True)
        report = hx.spaces.gc("docs", purge=purge)

        assert expected == {m.id: m.status.value for m in hx.memories(status=None, limit=None)}
        assert (planned.archived, planned.purged, planned.ids) == (report.archived, report.purged, report.ids)
        assert len(found) - len(expected) == report.purged
        assert (0, 0) == ((again := hx.spaces.gc("docs", purge=purge)).archived, again.purged)
        assert [] == hx.check()
