"""Spaces from their beginning to their end: reset, summaries, policies, pins, delete, and the record of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, Conflict, FrozenClock, Hexad, InvalidSpace, NotFound
from hexad.memory.draft import Draft
from opener import Opener
from tables import everything_stored


def fill(hx: Hexad, space: str = "docs") -> None:
    hx.remember("Deploys happen on Tuesday.", space=space, id=f"{space}-1", kind="decision", tags=["release"])
    hx.remember("The harbour is closed in winter.", space=space, id=f"{space}-2", pinned=True)
    hx.remember("The harbour is closed in January.", space=space, id=f"{space}-2")
    hx.remember("Nobody needs this.", space=space, id=f"{space}-3")
    hx.forget(f"{space}-3")


def records(hx: Hexad, what: str) -> list[dict[str, object]]:
    """Return the details of what was recorded under a name, oldest first."""
    logged = hx._services.stores.meta.logged(limit=1_000)
    return [dict(detail) for _, name, detail in reversed(logged) if name == what]


# Reset -----------------------------------------------------------------------------------------------------------


@pytest.mark.row("L061")
def test_a_space_is_created_once(hx: Hexad, clock: FrozenClock) -> None:
    made = hx.spaces.create("docs", '{"owner": "ada"}', freeze_clock="2025-05-05T05:05:05Z")

    assert ({"owner": "ada"}, "2025-05-05T05:05:05Z") == (made.metadata, made.to_dict()["created_at"])
    with pytest.raises(Conflict, match="'docs' is there already"):
        hx.spaces.create("docs")


@pytest.mark.row("L062")
@pytest.mark.parametrize("how", [{"reset": True}, '{"reset": true}', None])
def test_a_reset_leaves_a_space_as_if_new(hx: Hexad, clock: FrozenClock, how: object) -> None:
    fill(hx)
    fill(hx, "other")
    clock.advance(days=3)

    emptied = hx.spaces.create("docs", reset=True) if how is None else hx.spaces.create("docs", how)  # type: ignore[arg-type]

    assert (0, 0, {}, None, clock.now(), clock.now()) == (
        emptied.memories,
        emptied.archived,
        emptied.kinds,
        emptied.newest,
        emptied.created_at,
        emptied.updated_at,
    )
    assert "reset" not in emptied.metadata
    assert [] == hx.memories(space="docs", status=None)
    assert [] == list(hx.recall("harbour", space="docs"))
    assert 2 == hx.spaces.get("other").memories
    for name in ("docs-1", "docs-2", "docs-3"):
        with pytest.raises(NotFound):
            hx.get(name)


@pytest.mark.row("L062")
def test_the_same_calls_after_a_reset_give_the_same_bytes(hx: Hexad, clock: FrozenClock) -> None:
    def run() -> str:
        hx.spaces.create("docs", {"reset": True}, freeze_clock="2025-01-01T00:00:00Z")
        for number in range(12):
            hx.remember(
                f"Line {number} about the harbour.",
                space="docs",
                id=f"d{number}",
                kind="decision" if number % 3 else "note",
                freeze_clock=f"2025-01-{number + 1:02}T00:00:00Z",
            )
        hx.remember(
            "Line 0 about the harbour, changed.", id="d0", space="docs", freeze_clock="2025-02-01T00:00:00Z"
        )
        hx.forget("d1")
        told = hx.recall_context("docs", "harbour", include_raw=True, freeze_clock="2025-03-01T00:00:00Z")
        found = [m.to_dict() for m in hx.memories(space="docs", limit=None)]
        return json.dumps(
            [told.to_dict(), found, hx.spaces.get("docs").to_dict() | {"updated_at": 0, "newest": 0}]
        )

    first = run()
    clock.advance(days=400)

    assert first == run()
    assert 1 == len(hx.history("d0"))


def test_metadata_and_policies_survive_a_reset(hx: Hexad) -> None:
    hx.spaces.create("docs", {"owner": "ada"})
    hx.spaces.set_policy("docs", {"ttl_days": 3})

    kept = hx.spaces.create("docs", reset=True)
    replaced = hx.spaces.create("docs", {"reset": True, "owner": "bob"})

    assert ({"owner": "ada"}, {"ttl_days": 3}) == (kept.metadata, kept.policies)
    assert ({"owner": "bob"}, {"ttl_days": 3}) == (replaced.metadata, replaced.policies)


def test_a_reset_of_a_space_that_is_not_there_makes_it(hx: Hexad) -> None:
    assert 0 == hx.spaces.create("docs", {"reset": True}).memories


def test_after_a_reset_a_source_is_read_as_if_new(hx: Hexad) -> None:
    folder = hx.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tides\n\nHigh water is at noon.\n")
    first = hx.ingest(folder, space="docs")

    hx.spaces.create("docs", reset=True)

    assert first.created == hx.ingest(folder, space="docs").created


def test_a_reset_is_refused_where_the_policy_says_so(hx: Hexad) -> None:
    fill(hx)
    hx.spaces.set_policy("docs", {"allow_delete": False})
    before = everything_stored(hx)

    with pytest.raises(AccessDenied, match="allow_delete"):
        hx.spaces.create("docs", {"reset": True, "owner": "bob"})

    assert before == everything_stored(hx)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("{oops", "line 1, column 2"),
        ("[1]", "give an object"),
        (17, "give an object"),
        ({"reset": "yes"}, "true or false"),
        ({"x": float("nan")}, "JSON"),
        ({"x": {1, 2}}, "JSON"),
        ({"x": "y" * 70_000}, "65,536"),
    ],
)
def test_metadata_that_cannot_be_used_changes_nothing(hx: Hexad, metadata: object, words: str) -> None:
    fill(hx)
    before = everything_stored(hx)

    with pytest.raises(InvalidSpace, match=f"Invalid space metadata.*{words}"):
        hx.spaces.create("docs", metadata, reset=True)  # type: ignore[arg-type]
    with pytest.raises(InvalidSpace, match="Invalid space"):
        hx.spaces.create("do cs", {})

    assert before == everything_stored(hx)


def test_a_reset_and_a_delete_say_in_the_record_who_did_what(hx: Hexad) -> None:
    fill(hx)
    hx.spaces.create("docs", reset=True)
    fill(hx)
    hx.spaces.set_policy("docs", {"allow_delete": True})
    hx.spaces.delete("docs")

    done = {"by": "owner", "space": "docs", "purged": 3, "finished": True}
    assert [done] == records(hx, "reset")
    assert [done] == records(hx, "delete")
    assert [
        {"by": "owner", "space": "docs", "settings": ["allow_delete"], "audiences_changed": 0}
    ] == records(hx, "set_policy")
    reasons = hx._services.stores.db.query("SELECT reason, count(*) FROM tombstones GROUP BY 1 ORDER BY 1")
    assert [("delete", 3), ("reset", 3)] == reasons


# Summaries -------------------------------------------------------------------------------------------------------


@pytest.mark.row("L063")
def test_spaces_are_listed_with_what_is_in_them(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("empty")
    clock.advance(hours=1)
    fill(hx)

    docs, empty = hx.spaces.list()

    assert (2, 1, 1, {"decision": 1, "note": 1}, clock.now()) == (
        docs.memories,
        docs.archived,
        docs.pinned,
        docs.kinds,
        docs.newest,
    )
    texts = ["Deploys happen on Tuesday.", "The harbour is closed in January.", "Nobody needs this."]
    assert sum(map(len, texts)) == docs.text_bytes
    assert ("empty", 0, 0, {}, None) == (
        empty.name,
        empty.memories,
        empty.archived,
        empty.kinds,
        empty.newest,
    )
    assert docs == hx.spaces.get("docs")
    assert ["name", "memories", "archived", "pinned", "kinds", "newest"] == list(docs.to_dict())[:6]


def test_a_list_asks_as_many_questions_for_many_spaces_as_for_one(hx: Hexad) -> None:
    hx.remember("A text.", space="s0")
    asked: list[str] = []
    db = hx._services.stores.db

    def count() -> int:
        asked.clear()
        hx.spaces.list()
        return len(asked)

    db.tracer = lambda sql, _seconds: asked.append(sql)
    item = count()
    for number in range(1, 20):
        hx.remember("A text.", space=f"s{number}")

    assert item == count()
    db.tracer = None


# Policies --------------------------------------------------------------------------------------------------------


@pytest.mark.row("L087")
def test_a_policy_is_kept_for_good(opened: Opener) -> None:
    policy = {
        "ttl_days": 30,
        "retention": [{"kinds": ["decision"], "ttl_days": None}],
        "purge_after_days": 7,
        "allow_delete": True,
        "auto_pin": [{"relevance": ["high"]}],
        "roles": ["lead"],
        "backend": "raptor",
        "budget": {"usd": 5.0, "period": "month"},
        "export_path": "exports/docs.json",
        "pii_redaction": ["email"],
    }
    with opened() as hx:
        hx.spaces.create("docs")
        hx.spaces.set_policy("docs", json.dumps(policy))

    assert policy == opened().spaces.get("docs").policies


def test_a_policy_can_be_changed_in_part(hx: Hexad) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"ttl_days": 30, "allow_delete": True})

    hx.spaces.set_policy("docs", {"ttl_days": None, "backend": "basic"}, merge=True)

    assert {"allow_delete": True, "backend": "basic"} == hx.spaces.get("docs").policies
    assert {"ttl_days": 1} == hx.spaces.set_policy("docs", {"ttl_days": 1}).policies


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ('{"ttl_days": 30', "not JSON at line 1, column 16"),
        ("30", "give an object"),
        ({"ttl_dayz": 30}, "'ttl_dayz'"),
        ({"ttl_days": -1}, "'ttl_days'"),
        ({"allow_delete": "yes"}, "'allow_delete'"),
        ({"backend": "btree"}, "'backend'"),
        ({"visibility": [{"kinds": ["decision"]}]}, "visibility"),
        ({"roles": ["Not a role"]}, "Not a role"),
        ({"auto_pin": [{}]}, "auto_pin"),
        ({"export_path": "../up.json"}, "export_path"),
        ({"pii_redaction": ["mail"]}, "mail"),
        ({"budget": {"usd": -1}}, "budget"),
    ],
)
def test_a_policy_that_cannot_be_used_changes_nothing(hx: Hexad, policy: object, words: str) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"ttl_days": 3})
    before = everything_stored(hx)

    with pytest.raises(hexad.InvalidInput, match=words):
        hx.spaces.set_policy("docs", policy)  # type: ignore[arg-type]
    with pytest.raises(hexad.InvalidInput, match=words):
        hx.spaces.set_policy("docs", policy, merge=True)  # type: ignore[arg-type]

    assert before == everything_stored(hx)


def test_a_policy_needs_a_space(hx: Hexad) -> None:
    with pytest.raises(NotFound, match="'nowhere'"):
        hx.spaces.set_policy("nowhere", {"ttl_days": 3})


@pytest.mark.row("L157")
def test_the_first_memory_makes_its_space(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember_structured("new/space", {"raw": "A text."})

    assert (1, clock.now()) == ((made := hx.spaces.get("new/space")).memories, made.created_at)


@pytest.mark.row("L041")
def test_auto_pin_rules_pin_what_is_written_from_then_on(hx: Hexad) -> None:
    hx.remember("Decided before.", space="docs", id="before", kind="decision")
    hx.spaces.set_policy(
        "docs", {"auto_pin": [{"kinds": ["decision"]}, {"tags": ["core"], "paths": ["api"]}]}
    )

    hx.remember("Decided after.", space="docs", id="after", kind="decision")
    hx.remember("A core line of the interface.", space="docs", id="core", tags=["core"], path="api/v1")
    hx.remember("A core line of something else.", space="docs", id="half", tags=["core"], path="web/v1")
    hx.remember("Decided, but not to be pinned.", space="docs", id="not", kind="decision", pinned=False)

    pinned = {memory.id for memory in hx.memories(space="docs") if memory.pinned}
    assert {"after", "core"} == pinned


@pytest.mark.row("L042")
def test_of_retention_rules_the_first_that_matches_counts(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy(
        "docs",
        {
            "allow_delete": True,
            "retention": [{"tags": ["keep"], "ttl_days": None}, {"kinds": ["log"], "ttl_days": 2}],
        },
    )
    hx.remember("Kept log.", space="docs", id="kept", kind="log", tags=["keep"])
    hx.remember("Short log.", space="docs", id="short", kind="log")
    hx.remember("No rule.", space="docs", id="none")
    clock.advance(days=900)

    assert ("short",) == hx.spaces.gc("docs").ids


# Delete ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("L047", "L054")
@pytest.mark.parametrize("policy", [{}, {"allow_delete": False}, {"ttl_days": 1}])
def test_a_space_is_deleted_only_where_its_policy_allows_it(hx: Hexad, policy: dict[str, object]) -> None:
    fill(hx)
    hx.spaces.set_policy("docs", policy)  # type: ignore[arg-type]
    before = everything_stored(hx)

    with pytest.raises(AccessDenied, match="allow_delete"):
        hx.spaces.delete("docs")

    assert before == everything_stored(hx)
    assert (True, 3) == ((report := hx.spaces.delete("docs", dry_run=True)).dry_run, report.memories)
    assert before == everything_stored(hx)


@pytest.mark.row("L054")
def test_a_deleted_space_leaves_nothing_but_tombstones(hx: Hexad) -> None:
    fill(hx)
    hx.remember("The other space's line about boats.", space="other", id="boats")
    hx.link("boats", "docs-1")
    hx.link("docs-2", "docs-1")
    hx.remember("zyxwordle", space="docs", source_id="s1", metadata={"deep": "plugh"})
    folder = hx.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tides\n\nXyzzy water is at noon.\n")
    hx.ingest(folder, space="docs")
    hx.embed_pending()
    hx.spaces.set_policy("docs", {"allow_delete": True, "roles": ["lead"]})
    hx.spaces.write_file("docs")
    exported = hx.spaces.export("docs")

    report = hx.spaces.delete("docs")

    assert (1, True) == (report.links_lost, report.file_removed)
    assert 1 == len(report.exports_left)
    assert Path(report.exports_left[0]).exists()
    assert exported is not None
    assert ["other"] == [space.name for space in hx.spaces.list()]
    left = everything_stored(hx)
    for word in ("harbour", "uesday", "zyxw", "plugh", "yzzy", "Nobody"):
        assert word not in left, word
    assert not (hx.path / "spaces" / "docs.json").exists()
    assert [] == hx.links("boats")
    assert [] == hx.check()
    for table in (
        "sources",
        "source_items",
        "conversation_sessions",
        "audiences",
        "relations",
        "vector_removals",
    ):
        rows = hx._services.stores.db.query(f"SELECT * FROM {table}")
        assert [] == rows or table == "vector_removals", table


def test_a_deleted_space_can_be_made_again(hx: Hexad) -> None:
    fill(hx)
    hx.spaces.set_policy("docs", {"allow_delete": True})
    hx.spaces.delete("docs")
    with pytest.raises(NotFound):
        hx.spaces.delete("docs")

    fill(hx)

    assert (2, {}) == ((again := hx.spaces.get("docs")).memories, again.policies)
    assert ["docs-2"] == [hit.id for hit in hx.recall("harbour", space="docs")]


def test_bundles_of_a_space_that_was_emptied_show_nothing_old(opened: Opener) -> None:
    here, there = opened(), opened()
    fill(here)
    assert there.recall_context("docs", "harbour").sections

    here.spaces.create("docs", reset=True)

    assert [] == list(there.recall_context("docs", "harbour").sections)
    here.remember("A new harbour.", space="docs", id="docs-2")
    assert ["docs-2"] == [section["id"] for section in there.recall_context("docs", "harbour").sections]


@pytest.mark.parametrize("many", [499, 500, 501, 1_100])
def test_large_spaces_are_emptied_in_batches(hx: Hexad, many: int) -> None:
    writer = hx._services.ingest().writer
    writer.write([Draft(text=f"Line {n}.", space="docs", id=f"d{n}") for n in range(many)])

    hx.spaces.create("docs", reset=True)

    done = records(hx, "reset")
    assert (many, many // 500 + 1) == (sum(int(str(entry["purged"])) for entry in done), len(done))
    assert [False] * (many // 500) + [True] == [entry["finished"] for entry in done]
    assert 0 == hx.count(status=None)


# Pins ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L085", "L086", "L113")
@pytest.mark.parametrize("name", ["m1", "api/rule"])
def test_a_memory_is_pinned_by_space_and_id_or_path(hx: Hexad, name: str) -> None:
    hx.remember("Ship on green.", space="runtime", id="m1", path="api/rule")

    assert hx.pin("runtime", name).pinned
    assert not hx.unpin("runtime", name).pinned
    assert hx.pin(name).pinned
    assert not hx.unpin(name, space="runtime").pinned


@pytest.mark.row("L114")
@pytest.mark.parametrize("change", [Hexad.pin, Hexad.unpin])
def test_a_changed_pin_is_a_change_of_the_memory(
    hx: Hexad, clock: FrozenClock, change: Callable[..., hexad.Memory]
) -> None:
    before = hx.remember("Ship on green.", space="runtime", id="m1", pinned=change is Hexad.unpin)
    clock.advance(hours=1)

    after = change(hx, "runtime", "m1")

    assert (before.created_at, clock.now()) == (after.created_at, after.updated_at)


@pytest.mark.row("L115")
@pytest.mark.parametrize("change", [Hexad.pin, Hexad.unpin])
def test_what_is_not_there_cannot_be_pinned(hx: Hexad, change: Callable[..., hexad.Memory]) -> None:
    hx.remember("Elsewhere.", space="other", id="m1", path="api/rule")
    for name in ("m1", "api/rule"):
        with pytest.raises(NotFound) as raised:
            change(hx, "runtime", name)
        assert f"Memory '{name}' not found in space 'runtime'" == str(raised.value)


def test_of_several_memories_at_a_path_the_newest_active_one_is_pinned(hx: Hexad, clock: FrozenClock) -> None:
    for number in range(3):
        clock.advance(hours=1)
        hx.remember(f"Rule {number}.", space="runtime", id=f"r{number}", path="api/rule")
    hx.forget("r2")

    assert "r1" == hx.pin("runtime", "api/rule").id


def test_a_pin_names_one_memory(hx: Hexad) -> None:
    for call in (hx.pin, lambda: hx.pin("a", "b", "c"), lambda: hx.pin("a", "b", space="a")):
        with pytest.raises(hexad.InvalidInput, match="does not name one memory"):
            call()
