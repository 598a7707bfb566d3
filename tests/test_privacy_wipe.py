"""Deleting a memory and wiping a scope: nothing of it is left, and what is not of it stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

import hexad
from hexad import AccessDenied, FrozenClock, Hexad, NotFound
from hexad.audit import AuditLog, AuditLogWriter
from hexad.interfaces.cli.app.main import main

MINE, OTHERS = "canarymine", "canaryothers"


def fill(hx: Hexad) -> None:
    hx.remember(f"A turn of {MINE}.", space="chat", metadata={"conversation_session": "s1"}, id="mem_mine")
    hx.remember(f"Something of {OTHERS}.", id="mem_others")
    for session, word in (("s1", MINE), ("s2", OTHERS)):
        hx.xdb.start_session(session)
        hx.xdb.record("input", f"Asked {word}", event_id="e")
        hx.xdb.tag("seen", event_id="e", note=f"noted {word}")
        hx.xdb.comment(f"commented {word}", event_id="e")
        hx.xdb.end_session()
    hx.xdb.create_bud_tag("bud", f"described {OTHERS}")
    hx.xdb.documents.add_document("tone.md", f"Written {OTHERS}.", "reference")
    gone = hx.xdb.documents.add_document("old.md", f"Removed {OTHERS}.", "reference")
    hx.xdb.remove_document(gone.id)
    hx.xdb.seal()


def said(hx: Hexad) -> str:
    return "".join(hexad.export_json(hx.export()))


@pytest.mark.row("A136", "L060")
def test_a_wiped_session_leaves_nothing_and_the_others_stay(hx):
    fill(hx)

    report = hx.wipe("session", session="s1", confirm=True)

    assert MINE not in said(hx)
    assert said(hx).count(OTHERS) > 5
    assert 1 == len(report.receipts)
    assert report.counts()["memories"] == 1
    assert ["mem_others"] == [memory.id for memory in hx.memories_in("project")]


@pytest.mark.row("A136", "L060")
def test_a_wiped_project_leaves_its_spaces_and_receipts_alone(hx):
    fill(hx)

    report = hx.wipe("project", confirm=True)
    found = json.loads(said(hx))

    assert MINE not in said(hx) and OTHERS not in said(hx)
    assert {"spaces", "tombstones", "receipts", "upkeep"} >= {
        name for name, items in found.items() if name != "export" and items
    }
    assert {"chat", "default"} == {space["name"] for space in found["spaces"]}
    assert report.documents == 2 and report.tags == 2
    assert not [receipt for receipt in report.receipts if receipt.pending]


@pytest.mark.row("A136")
def test_a_dry_run_and_a_wipe_without_confirmation_change_nothing(hx):
    fill(hx)
    before = said(hx)

    planned = hx.wipe("project", dry_run=True)
    with pytest.raises(AccessDenied, match="confirm=True"):
        hx.wipe("project")
    with pytest.raises(NotFound):
        hx.wipe("session", session="nobody", confirm=True)

    assert before == said(hx)
    assert {"memories": 2, "documents": 2, "tags": 2} == {
        name: planned.counts()[name] for name in ("memories", "documents", "tags")
    }


def ledger_texts(hx: Hexad, clock: FrozenClock, **asked: Any) -> list[str]:
    with AuditLog(hx.path, clock=clock) as log:
        credential = log.reviewers.add(f"r{log.size}")
        found = log.query(reviewer_credential=credential, **asked)
        assert log.verify().ok
        return [record.raw_content for record in found if record.raw_content]


@pytest.mark.row("A136")
def test_a_wiped_project_leaves_no_contents_in_the_ledger(hx, clock):
    fill(hx)
    with AuditLogWriter(hx.path, "being", clock=clock) as writer, AuditLog(hx.path, clock=clock) as log:
        writer.record("s1", 1, "output", f"Said {MINE}.", {"mood::Calm": 1}, [])
        writer.record("unheard", 1, "output", f"Said {OTHERS}.", {"mood::Calm": 1}, [])
        writer.record("unheard", 2, "output", f"Of ada {OTHERS}.", {"mood::Calm": 1}, [], subject="ada")
        credential = log.reviewers.add("rita")
        log.incidents.mark("odd", f"It named {OTHERS}.", reviewer_credential=credential, session_id="s1")
    planned = hx.wipe("project", dry_run=True).counts()

    report = hx.wipe("project", confirm=True)

    assert [] == ledger_texts(hx, clock)
    with AuditLog(hx.path, clock=clock) as log:
        (incident,) = log.incidents.list(reviewer_credential=log.reviewers.add("sam"))
    assert ["(erased)"] == [mark.reason for mark in incident.marks]
    assert 4 == planned["contents of the ledger"] == report.counts()["contents of the ledger"]


def test_a_session_that_only_the_ledger_knows_is_wiped(hx, clock):
    with AuditLogWriter(hx.path, "being", clock=clock) as writer:
        writer.record("unheard", 1, "output", f"Said {MINE}.", {}, [])
        writer.record("other", 1, "output", f"Said {OTHERS}.", {}, [])

    report = hx.wipe("session", session="unheard", confirm=True)

    assert {"contents of the ledger": 1} == report.counts()
    assert [f"Said {OTHERS}."] == ledger_texts(hx, clock)
    with pytest.raises(NotFound):
        hx.wipe("session", session="unheard", confirm=True)


@pytest.mark.row("A136")
def test_nothing_of_documents_and_tags_is_left_in_any_byte_after_a_wipe_of_an_open_store(hx):
    fill(hx)
    for number in range(4):
        known = hx.xdb.documents.add_document(f"{OTHERS}-{number}.md", f"Written {OTHERS}.", "reference")
        hx.xdb.documents.update_document(known.id, f"Changed {OTHERS}.")
    purged = hx.xdb.documents.add_document(f"of-{OTHERS}.md", "Purged.", "reference")
    hx.xdb.remove_document(purged.id, purge=True)
    hx.xdb.documents.write_copies()
    hx.xdb.create_entity_tag(f"Anna {OTHERS}", "person", description=f"Knows {OTHERS}")

    report = hx.wipe("project", confirm=True)

    files = [path for path in hx.path.rglob("*") if path.is_file()]
    assert [] == [path for path in files if OTHERS.encode() in path.read_bytes()]
    assert [] == [path for path in files if OTHERS in path.name]
    assert [] == list(hx.xdb.documents.removed_documents())
    assert not [receipt for receipt in report.receipts if receipt.pending]


def test_whoever_may_not_see_all_wipes_nothing(hx, opened):
    hx.remember("For owners.", space="closed")
    hx.spaces.set_policy("closed", {"roles": ["lead"]})
    dev = opened(embedder=None, role="dev")

    with pytest.raises(AccessDenied):
        dev.wipe("project", confirm=True)


def test_a_wipe_of_an_empty_project_is_no_error(hx):
    assert {} == hx.wipe("project", confirm=True).counts()


# The command line -------------------------------------------------------------------------------------------


def run(project, capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(["-C", str(project), *arguments])
    return code, *capsys.readouterr()


@pytest.mark.row("A136")
@pytest.mark.parametrize("scope", [["project"], ["session", "--session", "s1"]], ids=["project", "session"])
def test_the_command_line_wipes_a_scope_only_after_a_yes(hx, opened, project, capsys, scope):
    fill(hx)
    hx.close()
    wipe = ["memory", "wipe", "--scope", *scope]

    code, _, err = run(project, capsys, *wipe)
    assert 2 == code and "--yes" in err and "--dry-run" in err
    code, out, err = run(project, capsys, *wipe, "--dry-run")
    assert 0 == code and "would be wiped" in out and "memories: " in err
    again = opened(embedder=None)
    assert MINE in said(again)
    again.close()

    code, out, _ = run(project, capsys, "--json", *wipe, "--yes")
    report = json.loads(out)

    assert 0 == code and report["removed"]["memories"] >= 1 and report["receipts"][0]["purge"]
    assert MINE not in said(opened(embedder=None))


@pytest.mark.row("A135")
@pytest.mark.parametrize("form", [["mem_mine"], ["--id", "mem_mine"]], ids=["positional", "--id"])
def test_the_command_line_deletes_a_memory_for_good_after_a_yes(hx, opened, project, capsys, form):
    fill(hx)
    hx.close()

    code, _, err = run(project, capsys, "memory", "delete", *form)
    assert 2 == code and "--yes" in err
    code, out, _ = run(project, capsys, "memory", "delete", *form, "--dry-run")
    assert 0 == code and "would be gone" in out
    code, out, _ = run(project, capsys, "memory", "delete", *form, "--yes")
    assert 0 == code and "deleted" in out
    code, _, err = run(project, capsys, "memory", "delete", *form, "--yes")
    assert 3 == code and "mem_mine" in err

    found = opened(embedder=None)
    assert "A turn of" not in said(found)
    assert ["mem_others"] == [memory.id for memory in found.memories_in("project")]


def test_a_wipe_of_the_project_takes_the_nodes_that_somebody_added(hx):
    nodes = [hx.honeycomb.add_node(f"canary{at} was here", embedding=[1.0, at]) for at in range(3)]
    hx.honeycomb.insert(nodes[0], nodes[1])
    hx.honeycomb.access(nodes[0], session="canary-session")
    assert 3 == hx.wipe("project", dry_run=True).nodes

    report = hx.wipe("project", confirm=True)

    assert 3 == report.nodes
    assert 0 == hx.honeycomb.stats().nodes
    assert [] == [
        file.name for file in hx.path.rglob("*") if file.is_file() and b"canary" in file.read_bytes()
    ]


def holding(hx: Hexad, word: str) -> list[str]:
    """Return the files of an open store that hold a word."""
    files = [path for path in hx.path.rglob("*") if path.is_file()]
    return [path.relative_to(hx.path).as_posix() for path in files if word.encode() in path.read_bytes()]


def contract_of(word: str) -> dict[str, Any]:
    limits = {"memory": {"warm_quota_tokens": 250_000, "told": [word]}}
    return {"parties": {"being": word, f"of {word}": [word]}, "resources": limits}


@pytest.mark.row("A136")
def test_nothing_that_a_contract_says_is_left_in_any_byte_after_a_wipe_but_its_limits(hx, opened):
    hx.xdb.set_contract(contract_of(OTHERS))
    hx.maintain()  # the ledger takes the note of it
    planned = hx.wipe("project", dry_run=True)
    assert hx.xdb.contract.document == contract_of(OTHERS)

    report = hx.wipe("project", confirm=True)

    assert [] == holding(hx, OTHERS)
    assert 1 == planned.counts()["contracts"] == report.counts()["contracts"]
    assert 250_000 == hx.xdb.contract.warm_quota_tokens == opened().xdb.contract.warm_quota_tokens
    assert 0 == hx.wipe("project", confirm=True).contracts


@pytest.mark.parametrize("moved", [False, True])
def test_a_note_of_an_older_version_that_tells_all_of_a_contract_goes_and_the_ledger_takes_its_limits(
    hx, clock, moved
):
    whole = {"warm_quota_tokens": 250_000, "document": contract_of(OTHERS)}
    hx._services.stores.meta.log("set_contract", {"by": "owner", "contract": whole}, at=clock.now())
    if moved:
        hx.maintain()

    hx.wipe("project", confirm=True)

    assert [] == holding(hx, OTHERS)
    with AuditLog(hx.path, clock=clock) as log:
        found = log.query(reviewer_credential=log.reviewers.add("rita"), kinds=["set_contract"])
    assert [{"warm_quota_tokens": 250_000}] == [record.detail["contract"] for record in found]


def test_what_was_removed_is_in_no_byte_of_an_open_store_after_maintenance(hx):
    fill(hx)
    word = "canaryremoved"
    tag = hx.xdb.create_entity_tag(f"Anna {word}", "person", description=f"Knows {word}")
    hx.xdb.tag(tag.id, session_id="s2", event_id="e", note=f"Note of {word}")
    application = hx.xdb.tag("seen", session_id="s1", event_id="e", note=f"Taken off {word}")
    comment = hx.xdb.comment(f"First {word}", session_id="s1", event_id="e")
    hx.xdb.edit_comment(comment, f"Then {word}")
    node = hx.honeycomb.add_node(f"A node of {word}", [1.0, 0.0])
    document = hx.xdb.documents.add_document("purged.md", f"Written {word}.", "reference")
    hx.xdb.set_contract(contract_of(word))
    assert holding(hx, word)

    hx.xdb.remove_tag(tag.id, force=True)
    hx.xdb.untag(application)
    hx.xdb.remove_comment(comment)
    hx.honeycomb.remove(node)
    hx.xdb.remove_document(document.id, purge=True)
    hx.xdb.set_contract(None)
    hx.maintain()

    assert [] == holding(hx, word)
    assert hx.xdb.documents.list_by_type("reference") and holding(hx, OTHERS)
