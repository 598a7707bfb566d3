"""Everything that is held about a project, a session or a person, for who asks for it."""

from __future__ import annotations

import json
import tracemalloc

import pytest

import hexad
from hexad import AccessDenied, Conflict, Hexad, InvalidInput, NotFound
from hexad.audit import AuditLogWriter
from hexad.interfaces.cli.app.main import main
from hexad.services import components, export_sections


def held(hx: Hexad, *args, **kwargs) -> dict:
    return json.loads("".join(hexad.export_json(hx.export(*args, **kwargs))))


def planted(hx: Hexad) -> dict[str, str]:
    """Put a word of its own into every place that says something; returns where each is."""
    words: dict[str, str] = {}

    def word(place: str) -> str:
        words[place] = f"canary{len(words):03}{''.join(filter(str.isalpha, place))}"
        return words[place]

    first = hx.remember(
        f"It says {word('an earlier version')}.", data_subjects=["ann"], metadata={"note": word("metadata")}
    )
    hx.remember(f"It says {word('a memory')} now.", id=first.id)
    turn = hx.remember(f"Said {word('a turn')}.", metadata={"conversation_session": "s1"}, space="chat")
    hx.link(first.id, turn.id, kind="based-on")
    gone = hx.remember(f"An archived {word('archived memory')}.")
    hx.forget(gone.id)
    hx.spaces.create("described", {"about": word("space metadata")})
    hx.xdb.start_session("s1")
    hx.xdb.record("input", f"Asked {word('an input')}", event_id="e1")
    hx.xdb.record("output", f"Answered {word('an output')}", event_id="e2")
    hx.xdb.tag("greeting", event_id="e1", note=word("a tag's note"))
    comment = hx.xdb.comment(word("a comment before"), event_id="e1")
    hx.xdb.edit_comment(comment, word("a comment"))
    hx.xdb.create_bud_tag("bud", word("a bud"))
    hx.xdb.end_session()
    hx.xdb.start_session("s2")
    hx.xdb.record("input", f"Asked {word('another session')}")
    hx.xdb.end_session()
    document = hx.xdb.documents.add_document("tone.md", word("a document before"), "reference")
    hx.xdb.documents.update_document(document.id, word("a document"))
    removed = hx.xdb.documents.add_document("old.md", word("a removed document"), "reference")
    hx.xdb.remove_document(removed.id)
    return words


def test_every_table_of_a_store_is_told_or_says_nothing_of_anybody(hx):
    rows = hx._services.db.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%_fts%'"
        " AND name NOT LIKE 'chunk_terms%'"
    )
    told = [table for section in export_sections() for table in section.tables]
    told_with = [table for component in components() for table in component.told_with]
    derived = [table for component in components() for table in component.derived]

    assert sorted({str(row[0]) for row in rows}) == sorted({*told, *told_with, *derived})
    assert [] == sorted({*told} & {*derived})


@pytest.mark.row("A137", "L060")
def test_an_export_of_the_project_holds_all_that_anybody_said(hx):
    words = planted(hx)

    said = json.dumps(held(hx, "project"))

    assert [] == [place for place, word in words.items() if word not in said]


@pytest.mark.row("A137")
def test_an_export_of_a_session_holds_that_session_alone(hx):
    words = planted(hx)

    found = held(hx, "session", session="s1")
    said = json.dumps(found)

    wanted = {"a turn", "an input", "an output", "a tag's note", "a comment before", "a comment"}
    assert wanted == {place for place, word in words.items() if word in said}
    assert ["s1"] == [session["id"] for session in found["sessions"]]
    assert ["ts-s1-1", "ts-s1-2"] == [timestep["id"] for timestep in found["timesteps"]]
    assert ["based-on"] == [link["kind"].removeprefix("link:") for link in found["links"]]
    assert ["greeting"] == [tag["name"] for tag in found["tags"]]


@pytest.mark.row("A137", "L060")
def test_an_export_of_a_person_holds_what_names_them(hx):
    words = planted(hx)
    hx.xdb.documents.add_document("ann.md", "About Ann.", "reference", data_subjects=["ann"])

    found = held(hx, subject="ann")
    said = json.dumps(found)

    assert {"an earlier version", "metadata", "a memory"} == {
        place for place, word in words.items() if word in said
    }
    assert ["ann.md"] == [document["path"] for document in found["documents"]]
    assert "ann" == found["export"]["subject"]


def test_a_person_of_whom_nothing_is_held_is_not_found_with_the_nearest_names(hx):
    planted(hx)

    with pytest.raises(
        NotFound, match=r"No data is about 'Ann', and nothing was exported\..* names are 'ann'"
    ):
        hx.export(subject="Ann")


@pytest.mark.row("A137")
def test_what_was_recorded_long_ago_is_exported_at_the_fidelity_that_is_left(hx, clock):
    hx.xdb.start_session("old")
    for number in range(60):
        hx.xdb.record("input", f"Old words of number {number}, and more of them.", event_id=f"e{number}")
    hx.xdb.request_compaction("old")
    hx.xdb.end_session()
    hx.xdb.start_session("other")
    hx.xdb.record("input", "Other words.")

    found = held(hx, "session", session="old")

    assert found["compressed_records"] and found["compactions"]
    covered = {
        tick
        for record in found["compressed_records"]
        for tick in range(record["first_tick"], record["last_tick"] + 1)
    }
    ticks = {timestep["tick"] for timestep in found["timesteps"]}
    assert set(range(1, 61)) == covered | ticks
    assert set() == covered & ticks
    assert {"old"} == {memory["metadata"]["session"] for memory in found["memories"]}


def test_an_export_holds_neither_keys_nor_contents_of_the_ledger(hx, clock):
    planted(hx)
    with AuditLogWriter(hx.path, "be", clock=clock) as writer:
        writer.record("s1", 1, "input", "canary of the ledger", {}, [])
    keys = [
        value
        for path in (hx.path / "keys.json", hx.path / "audit" / "audit.key")
        for value in json.loads(path.read_text()).values()
        if isinstance(value, str) and len(value) >= 32
    ]

    found = held(hx)
    said = json.dumps(found)

    assert keys
    assert [] == [key for key in keys if key in said]
    assert "canary of the ledger" not in said
    assert "hexad audit export" in found["export"]["left_out"]["ledger"]


@pytest.mark.parametrize(
    "given",
    [
        {"scope": "everything"},
        {"scope": "session"},
        {"scope": "project", "session": "s1"},
        {"scope": "session", "session": ""},
        {"subject": " "},
        {"subject": 5},
        {"subject": "ann", "session": "s1"},
    ],
    ids=str,
)
def test_what_names_nothing_is_refused_at_once(hx, given):
    with pytest.raises(InvalidInput):
        hx.export(**given)


def test_a_session_that_there_is_not_is_not_found(hx):
    with pytest.raises(NotFound, match="There is no session 'x'"):
        hx.export("session", session="x")


def test_whoever_may_not_see_all_gets_no_export(hx, opened):
    hx.remember("For owners.", space="closed")
    hx.spaces.set_policy("closed", {"roles": ["lead"]})
    dev = opened(embedder=None, role="dev")

    with pytest.raises(AccessDenied, match="an export of what is held"):
        dev.export()
    with pytest.raises(AccessDenied):
        dev.memories_in("project")


def test_an_export_takes_no_more_memory_for_a_larger_store(hx, tmp_path):
    for number in range(1_500):
        hx.remember(f"Number {number}: " + f"word{number} and more words. " * 150, path=f"long/{number}")
    file = tmp_path / "held.json"
    hx.write_export(tmp_path / "warm.json")

    tracemalloc.start()
    hx.write_export(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert file.stat().st_size > 12_000_000
    assert peak < file.stat().st_size / 3
    assert 1_500 == len(json.loads(file.read_text())["memories"])


def test_a_file_that_is_there_is_replaced_only_when_asked(hx, tmp_path):
    planted(hx)
    file = tmp_path / "held.json"
    file.write_text("mine")

    with pytest.raises(Conflict, match="it stays"):
        hx.write_export(file)
    assert "mine" == file.read_text()

    counts = hx.write_export(file, force=True)

    assert counts["memories"] == len(json.loads(file.read_text())["memories"])
    assert 0o600 == file.stat().st_mode & 0o777


@pytest.mark.parametrize("name", ["memory.db", "keys.json", "audit/audit.db", "new.json", "stream/x.json"])
def test_an_export_never_writes_over_a_file_of_the_store(hx, name):
    planted(hx)

    with pytest.raises(InvalidInput, match="is in the store"):
        hx.write_export(hx.path / name, force=True)

    assert [] == hx.check()


# The command line -------------------------------------------------------------------------------------------


@pytest.mark.row("A134")
def test_the_command_line_lists_a_scope_whatever_the_status(hx, project, capsys):
    planted(hx)
    hx.close()

    assert 0 == main(["-C", str(project), "memory", "list", "--scope", "project"])
    out, err = capsys.readouterr()
    assert "archived" in out
    assert "3 records of 2 sessions" in err

    assert 0 == main(
        ["-C", str(project), "--json", "memory", "list", "--scope", "session", "--session", "s1"]
    )
    (first,) = json.loads(capsys.readouterr().out)
    assert "s1" == first["metadata"]["conversation_session"]


@pytest.mark.row("A137")
def test_the_command_line_exports_a_scope_as_json(hx, project, tmp_path, capsys):
    words = planted(hx)
    hx.close()
    out = tmp_path / "held.json"

    assert 0 == main(["-C", str(project), "memory", "export", "--scope", "project", "--format", "json"])
    printed = capsys.readouterr()
    assert 0 == main(["-C", str(project), "memory", "export", "--scope", "project", "--out", str(out)])

    first, second = json.loads(printed.out), json.loads(out.read_text())
    assert first["memories"] == second["memories"]
    assert [] == [place for place, word in words.items() if word not in printed.out]
    assert "reviewers get them" in printed.err
    assert 4 == main(["-C", str(project), "memory", "export", "--scope", "project", "--out", str(out)])


@pytest.mark.parametrize(
    "arguments",
    [
        ["export"],
        ["export", "default", "--scope", "project"],
        ["export", "--scope", "project", "--subject", "ann"],
        ["export", "--scope", "session"],
        ["export", "--session", "s1", "--scope", "project"],
        ["export", "--scope", "project", "--no-archived"],
        ["export", "--scope", "project", "--format", "csv"],
        ["list", "--scope", "project", "--kind", "note"],
        ["list", "--session", "s1"],
        ["wipe"],
        ["wipe", "default", "--scope", "project"],
        ["wipe", "--scope", "session"],
        ["delete"],
        ["delete", "mem_1", "--id", "mem_1"],
    ],
    ids=" ".join,
)
def test_the_command_line_takes_exactly_one_thing(hx, project, capsys, arguments):
    hx.close()

    assert 2 == main(["-C", str(project), "memory", *arguments])
    assert "Try" in capsys.readouterr().err
