"""Policies and gc at their edges: odd spellings, odd numbers, odd times."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hexad import FrozenClock, Hexad, InvalidSpace, NotFound
from opener import Opener
from tables import everything_stored

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


# What a caller gives ----------------------------------------------------------------------------------------------


@pytest.mark.row("L061", "L087", "L158")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"allow_delete": false, "allow_delete": true}', "key 'allow_delete' twice"),
        ('{"a": ' * 50_000, "nested too deeply"),
        ('{"ttl_days": ' + "1" * 5_000 + "}", "more digits than are read"),
        ('{"ttl_days": NaN}', "NaN is no JSON"),
        ('{"export_path": "\\ud800"}', "half of a character"),
    ],
    ids=["twice", "deep", "long number", "NaN", "surrogate"],
)
def test_json_that_does_not_say_one_thing_is_an_invalid_space(hx: Hexad, text: str, said: str) -> None:
    hx.spaces.create("docs")

    with pytest.raises(InvalidSpace, match=f"Invalid space policy: .*{said}"):
        hx.spaces.set_policy("docs", text)
    with pytest.raises(InvalidSpace, match=f"Invalid space metadata: .*{said}"):
        hx.spaces.create("other", text)

    assert ["docs"] == [space.name for space in hx.spaces.list()]


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"in": found}
    return found


@pytest.mark.row("L061", "L159")
@pytest.mark.parametrize("levels", [51, 100, 100_000])
def test_metadata_that_no_file_could_hold_is_refused(hx: Hexad, levels: int) -> None:
    with pytest.raises(InvalidSpace, match=r"deep|recursion"):
        hx.spaces.create("docs", nested(levels))


@pytest.mark.row("L053", "L061")
def test_the_deepest_metadata_there_may_be_comes_back_from_an_export(
    hx: Hexad, opened: Opener, tmp_path: Path
) -> None:
    hx.spaces.create("docs", nested(50))
    hx.remember("Rosa cooks.", space="docs", metadata=nested(50))
    export = hx.spaces.export("docs", tmp_path / "docs.json")

    other = opened(tmp_path)
    other.spaces.restore(export.path)

    assert nested(50) == other.spaces.get("docs").metadata


@pytest.mark.row("L056", "L058", "L061")
def test_a_spaces_metadata_is_redacted_before_it_is_stored(hx: Hexad) -> None:
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ3sT5vW7"

    made = hx.spaces.create("docs", {"api_key": key, "owner": "rosa@example.com"})
    hx.spaces.set_policy("docs", {"pii_redaction": ["email"]})
    again = hx.spaces.create("docs", {"api_key": key, "owner": "rosa@example.com"}, reset=True)

    assert "rosa@example.com" == made.metadata["owner"]
    assert "rosa" not in str(again.metadata)
    assert key not in f"{made}{again}{everything_stored(hx)}"


@pytest.mark.row("L045", "L087")
@pytest.mark.parametrize(
    "policy", [{"pii_redaction": ["("]}, {"pii_redaction": "email"}, {"env_allow": [5]}], ids=str
)
def test_a_redaction_that_cannot_be_used_is_an_invalid_space(hx: Hexad, policy: dict[str, Any]) -> None:
    hx.spaces.create("docs")

    with pytest.raises(InvalidSpace, match="Invalid space policy"):
        hx.spaces.set_policy("docs", policy)


# Times ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L044", "L048")
def test_gc_judges_times_at_the_ends_of_the_calendar(opened: Opener, tmp_path: Path) -> None:
    first, last = datetime(1, 1, 1, 12, tzinfo=UTC), datetime(9999, 12, 31, 12, tzinfo=UTC)
    clock = FrozenClock(last)
    hx = opened(tmp_path, clock=clock)
    hx.remember("Rosa cooks.", space="docs", id="now")
    early = "0001-01-01T12:00:00Z"
    hx.remember_structured("docs", {"id": "first", "raw": "Rain.", "created_at": early, "updated_at": early})
    hx.forget("now")
    hx.spaces.set_policy("docs", {"ttl_days": 36_500, "purge_after_days": 36_500, "allow_delete": True})

    assert ("first",) == hx.spaces.gc("docs").ids
    hx.close()
    hx = opened(tmp_path, clock=FrozenClock(first))

    report = hx.spaces.gc("docs")

    assert (None, 0, 0) == (report.cutoff, report.archived, report.purged)
