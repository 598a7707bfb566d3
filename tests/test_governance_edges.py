"""Policies and gc at their edges: odd spellings, odd numbers, odd times."""

from __future__ import annotations

from typing import Any

import pytest

from hexad import FrozenClock, Hexad, InvalidSpace, NotFound
from opener import Opener

# How a rule is spelled --------------------------------------------------------------------------------------------


@pytest.mark.row("L043", "L170")
@pytest.mark.parametrize(
    "rule",
    [
        {"tags": ["Private Notes"]},
        {"tags": ["private_notes"]},
        {"tags": ["other", "PRIVATE  notes"]},
        {"kinds": ["Board Decision"]},
        {"kinds": ["board_decision"]},
        {"kinds": ["ＢＯＡＲＤ decision"]},
        {"paths": ["Board//Spring"]},
        {"paths": ["./Board/Spring/"]},
        {"paths": ["Board / Spring"]},
        {"paths": ["//Board/*/x"]},
    ],
    ids=str,
)
def test_a_rule_finds_its_memories_however_it_is_spelled(
    hx: Hexad, opened: Opener, rule: dict[str, Any]
) -> None:
    hx.remember(
        "The merger closes in spring.",
        space="plans",
        id="m1",
        kind="Board Decision",
        tags=["Private Notes"],
        path="Board/Spring/x",
    )
    hx.remember("Soup is served.", space="plans", id="m2", path="Boardroom/x", tags=["private"])
    hx.spaces.set_policy("plans", {"visibility": [{**rule, "roles": ["lead"]}]})
    dev = opened(role="dev")

    assert ["m2"] == [memory.id for memory in dev.memories(space="plans")]
    with pytest.raises(NotFound):
        dev.get("m1")


@pytest.mark.row("L041", "L042")
def test_retention_and_auto_pin_rules_are_spelled_as_freely(hx: Hexad, clock: FrozenClock) -> None:
    policy: dict[str, Any] = {
        "auto_pin": [{"tags": ["Keep This"]}],
        "retention": [{"kinds": ["Daily Log"], "ttl_days": 1}],
        "allow_delete": True,
    }
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", policy)
    pinned = hx.remember("Rosa cooks.", space="docs", tags=["keep this"])
    hx.remember("It rained.", space="docs", id="log", kind="daily log")
    clock.advance(days=1)

    assert (True, ("log",)) == (pinned.pinned, hx.spaces.gc("docs").ids)


@pytest.mark.row("L087")
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"visibility": [{"kind": "a", "kinds": ["b"], "roles": []}]}, "has 'kinds' already"),
        ({"visibility": [{"tags": ["--"], "roles": []}]}, "no memory has it"),
        ({"auto_pin": [{"kinds": ["?"]}]}, "no memory has it"),
        ({"ttl_days": 1e-12}, "more than 0"),
        ({"purge_after_days": 1e-12}, "0 to"),
        ({"budget": {"usd": 10**400}}, "the most"),
        ({"budget": {"tokens": 2**63}}, "the most"),
        ({"budget": {"providers": {"openai": {"usd": 1e300}}}}, "the most"),
    ],
    ids=str,
)
def test_a_rule_or_number_that_could_never_hold_is_refused(
    hx: Hexad, policy: dict[str, Any], said: str
) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"ttl_days": 3})

    with pytest.raises(InvalidSpace, match=said):
        hx.spaces.set_policy("docs", policy)

    assert {"ttl_days": 3} == hx.spaces.get("docs").policies
