"""Spaces from the command line alone: governed, exported, restored, pruned, emptied and deleted."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hexad

HARBOUR = "The harbour office closes at noon on Fridays."


@pytest.fixture
def port(run):
    for number in range(3):
        assert (
            0 == run("remember", f"{HARBOUR} Gate {number}.", "--space", "port", "--id", f"mem_{number}").code
        )
    return run


def texts(run: object, space: str) -> list[str]:
    return [
        memory["raw"] for memory in run("memory", "list", "--space", space, "--status", "any", "--json").data
    ]


# Looking ----------------------------------------------------------------------------------------------------


def test_a_list_of_spaces_says_what_is_in_them(port):
    port("memory", "pin", "mem_1")
    port("forget", "mem_2")

    heads, row = port("spaces", "list").out.splitlines()

    assert ["space", "memories", "archived", "pinned", "text", "changed", "policies"] == heads.split()
    assert ["port", "2", "1", "1"] == row.split()[:4]
    assert (2, 1, 1) == tuple(
        port("spaces", "list", "--json").data[0][name] for name in ("memories", "archived", "pinned")
    )


def test_show_tells_of_one_space(port):
    port("spaces", "policy", "port", "ttl_days=30")
    shown = port("spaces", "show", "port").out

    assert shown.startswith("port  3 memories, ")
    assert "3 note" in shown and "ttl_days  30" in shown
    assert 3 == port("spaces", "show", "elsewhere").code


# Policies ---------------------------------------------------------------------------------------------------


@pytest.mark.row("L060")
def test_a_policy_is_changed_by_settings_replaced_as_a_whole_and_taken_back(port, tmp_path):
    port("spaces", "policy", "port", "ttl_days=30", "allow_delete=true", "backend=raptor")
    assert {"ttl_days": 30, "allow_delete": True, "backend": "raptor"} == port(
        "spaces", "policy", "port", "--json"
    ).data["policies"]

    kept = port("spaces", "policy", "port", "--unset", "backend", "ttl_days=7", "--json").data["policies"]
    assert {"ttl_days": 7, "allow_delete": True} == kept
    (tmp_path / "policy.json").write_text('{"pii_redaction": ["email"]}')
    assert {"pii_redaction": ["email"]} == port(
        "spaces", "policy", "port", "--file", "policy.json", "--json"
    ).data["policies"]
    assert {} == port("spaces", "policy", "port", "--set", "{}", "--json").data["policies"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("ttl_days",), "'ttl_days' is no setting"),
        (("ttl_days=soon",), "'soon' cannot be used"),
        (("colour=red",), "nothing enforces it"),
        (("--set", "[1]"), "is no JSON object"),
        (("--set", "{}", "--file", "x.json"), "give one of them"),
        (("--file", "missing.json"), "cannot be read"),
    ],
)
def test_a_policy_that_cannot_be_used_changes_nothing(port, args, words):
    port("spaces", "policy", "port", "ttl_days=30")

    ran = port("spaces", "policy", "port", *args)

    assert (2, True) == (ran.code, words in ran.err)
    assert {"ttl_days": 30} == port("spaces", "policy", "port", "--json").data["policies"]


# What destroys ----------------------------------------------------------------------------------------------


DESTROYING = [
    ("memory", "wipe", "port"),
    ("spaces", "create", "port", "--reset"),
    ("spaces", "create", "port", "--metadata", '{"reset": true}'),
    ("spaces", "delete", "port"),
    ("spaces", "gc", "port", "--ttl-days", "0.0000001", "--purge"),
    ("memory", "gc", "port", "--ttl-days", "0.0000001", "--purge"),
]


@pytest.mark.row("L060")
@pytest.mark.parametrize("args", DESTROYING, ids=" ".join)
def test_what_destroys_wants_a_yes_where_nobody_can_be_asked(port, args):
    port("spaces", "policy", "port", "allow_delete=true")

    ran = port(*args)

    assert (2, True, True) == (ran.code, "--yes" in ran.err, "--dry-run" in ran.err)
    assert 3 == len(texts(port, "port"))


@pytest.mark.row("L060")
@pytest.mark.parametrize("args", [args for args in DESTROYING if "--metadata" not in args], ids=" ".join)
def test_a_dry_run_says_how_much_would_go_and_a_yes_lets_it_go(port, args):
    port("spaces", "policy", "port", "allow_delete=true")

    planned = port(*args, "--dry-run")
    assert (0, True) == (planned.code, "3" in planned.out and "would be" in planned.out)
    assert 3 == len(texts(port, "port"))

    assert 0 == port(*args, "--yes").code
    assert [] == [memory["raw"] for memory in port("memory", "list", "--status", "any", "--json").data]


def _as_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def ask(folder: Path, answer: str, *args: str, says: bytes = b"") -> int:
    """Run a command at a terminal and answer its question, after which it says something; returns the exit code."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", *args],
        cwd=folder,
        env={**os.environ, "HEXAD_EMBEDDER": "none"},
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        preexec_fn=_as_terminal,  # noqa: PLW1509 - Ctrl-C needs a controlling terminal
    )
    os.close(slave)
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(master, 1024)
    assert b"3 memories" in seen
    os.write(master, answer.encode() + b"\n")
    while says not in seen:
        if not select.select([master], [], [], 5)[0] and answer == "\x03":
            os.write(
                master, answer.encode()
            )  # Python misses a signal that comes just before it waits for input
            continue
        seen += os.read(master, 1024)
    assert says != b"Nothing was changed." or b"Error" not in seen
    code = process.wait(60)
    os.close(master)
    return code


@pytest.mark.row("L060")
def test_at_a_terminal_it_asks_and_does_what_is_answered(port, tmp_path):
    assert 1 == ask(tmp_path, "n", "memory", "wipe", "port", says=b"Nothing was changed.")
    assert 1 == ask(tmp_path, "", "memory", "wipe", "port", says=b"Nothing was changed.")
    assert 130 == ask(tmp_path, "\x03", "memory", "wipe", "port", says=b"Nothing was changed.")
    assert 3 == len(texts(port, "port"))

    assert 0 == ask(tmp_path, "y", "memory", "wipe", "port")
    assert [] == texts(port, "port")


def test_a_space_that_is_not_there_is_neither_wiped_nor_made(port):
    assert 3 == port("memory", "wipe", "prot", "--yes").code
    assert ["port"] == [space["name"] for space in port("spaces", "list", "--json").data]


@pytest.mark.row("L060")
def test_a_space_is_deleted_only_where_its_policy_allows_it(port):
    refused = port("spaces", "delete", "port", "--yes")
    assert (True, 3) == ("allow_delete" in refused.err, len(texts(port, "port")))
    assert 0 != refused.code

    port("spaces", "policy", "port", "allow_delete=true")
    gone = port("spaces", "delete", "port", "--yes", "--json").data

    assert (3, False) == (gone["memories"], gone["dry_run"])
    assert [] == port("spaces", "list", "--json").data


@pytest.mark.row("L165")
def test_memory_gc_archives_what_is_older_than_the_days_given(port):
    with hexad.open(".", embedder=None, background=False) as hx:
        hx.remember("An old notice.", space="port", id="mem_old", freeze_clock="2020-01-01")
        hx.remember("An old rule.", space="port", id="mem_rule", freeze_clock="2020-01-01", pinned=True)
    assert "allow" in port("memory", "gc", "port", "--ttl-days", "30").err
    port("spaces", "policy", "port", "allow_delete=true")

    planned = port("memory", "gc", "port", "--ttl-days", "30", "--dry-run", "--json").data
    done = port("memory", "gc", "port", "--ttl-days", "30")

    assert (["mem_old"], 1, 3) == (planned["ids"], planned["kept_pinned"], planned["kept_young"])
    assert "archived 1, purged 0, kept 3 younger and 1 pinned" in done.out
    assert "archived" == port("memory", "show", "mem_old", "--json").data["status"]


@pytest.mark.row("L165")
def test_memory_gc_counts_the_days_and_leaves_all_that_is_younger(port):
    port("spaces", "policy", "port", "allow_delete=true")
    now = datetime.now(UTC)
    with hexad.open(".", embedder=None, background=False) as hx:
        for days in (29, 31, 61):
            hx.remember(
                f"Notice {days}.", space="port", id=f"mem_{days}", freeze_clock=now - timedelta(days=days)
            )

    assert ["mem_61"] == port("memory", "gc", "port", "--ttl-days", "60", "--json").data["ids"]
    assert ["mem_31"] == port("memory", "gc", "port", "--ttl-days", "30", "--json").data["ids"]
    left = port("memory", "list", "--space", "port", "--json").data
    assert ["mem_0", "mem_1", "mem_2", "mem_29"] == sorted(memory["id"] for memory in left)
    assert 0 == port("memory", "gc", "port", "--ttl-days", "30", "--json").data["archived"]


# Files ------------------------------------------------------------------------------------------------------


@pytest.mark.row("L060", "L164")
def test_an_export_is_verified_anywhere_and_restored_into_another_store(port, tmp_path, monkeypatch):
    made = port("memory", "export", "port", "--out", "out/port.json", "--json").data
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)

    verified = port("spaces", "verify", "../out/port.json", "--json").data
    restored = port("spaces", "restore", "../out/port.json", "--trusted-key", made["key_fingerprint"])

    assert (made["content_hash"], 3) == (verified["content_hash"], verified["objects"])
    assert (0, True, True) == (
        restored.code,
        "3 created" in restored.out,
        "key that you trust" in restored.err,
    )
    assert 3 == len(texts(port, "port"))
    again = port("spaces", "restore", "../out/port.json")
    assert (4, True, False) == (again.code, "--merge" in again.err, "merge=True" in again.err)
    assert "3 unchanged" in port("spaces", "restore", "../out/port.json", "--merge").out


@pytest.mark.parametrize("asked", [False, True])
def test_policies_of_an_export_by_an_unknown_key_are_taken_when_asked(port, tmp_path, monkeypatch, asked):
    port("spaces", "policy", "port", "allow_delete=true")
    port("memory", "export", "port", "--out", "out/port.json")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)

    restored = port("spaces", "restore", "../out/port.json", *(["--policies"] if asked else []))

    assert (0, not asked) == (
        restored.code,
        "hexad spaces restore --policies" in " ".join(restored.err.split()),
    )
    assert asked is ("allow_delete" in port("spaces", "show", "port", "--json").data["policies"])


@pytest.mark.row("L060")
def test_an_export_that_was_changed_is_refused(port, tmp_path):
    port("spaces", "export", "port", "--out", "port.json")
    file = tmp_path / "port.json"
    file.write_text(file.read_text().replace("noon", "nine"))

    assert (5, 5) == (
        port("spaces", "verify", "port.json").code,
        port("spaces", "restore", "port.json", "--merge").code,
    )
    assert all("noon" in text for text in texts(port, "port"))


def test_a_key_that_is_not_the_one_trusted_is_refused(port):
    port("spaces", "export", "port", "--out", "port.json")

    ran = port("spaces", "verify", "port.json", "--trusted-key", "0000:" * 15 + "0000")

    assert 0 != ran.code and "" == ran.out


def test_an_export_goes_where_the_policy_says_and_over_no_other_file(port, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    port("spaces", "policy", "port", "export_path=exports/the-port.json")

    assert str(tmp_path / "exports" / "the-port.json") == port("spaces", "export", "port").out.strip()
    refused = port("spaces", "export", "port", "--out", "notes.txt")
    assert (4, "mine") == (refused.code, (tmp_path / "notes.txt").read_text())
    assert 0 == port("spaces", "export", "port", "--out", "notes.txt", "--force").code


def test_a_space_file_is_written_edited_and_read_back(port, tmp_path):
    file = Path(port("spaces", "write-file", "port").out.strip())
    document = json.loads(file.read_text())
    document["objects"][0]["summary_micro"] = "Edited by hand."
    document["objects"][0]["updated_at"] = "2999-01-01T00:00:00Z"
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(document))

    planned = port("spaces", "read-file", "edited.json", "--dry-run").out
    done = port("spaces", "read-file", "edited.json").out

    assert ("would be 1 updated" in planned, "1 updated, 2 unchanged" in done) == (True, True)
    assert "Edited by hand." in [memory["summary_micro"] for memory in port("memory", "list", "--json").data]
    edited.write_text("{")
    broken = port("spaces", "read-file", "edited.json")
    assert 0 != broken.code and "line 1" in broken.err


# Tags -------------------------------------------------------------------------------------------------------


def test_tags_are_added_and_taken_away(port):
    port("memory", "tag", "mem_0", "+Ferry Line", "+harbour", "plain")
    changed = port("memory", "tag", "mem_0", "-harbour", "--add", "-odd", "--remove", "plain", "--json").data

    assert ["ferry-line", "odd"] == changed["tags"]
    assert "mem_0  tagged  ferry-line" in port("memory", "tag", "mem_0", "-odd", "-chat").out
    assert 2 == port("memory", "tag", "mem_0").code
    assert 3 == port("memory", "tag", "mem_9", "+x").code
    assert "Usage:" in port("memory", "tag", "--help").out


def test_a_list_is_narrowed_ordered_and_paged(port):
    port("memory", "pin", "mem_1")

    def ids(*args: str) -> list[str]:
        return [memory["id"] for memory in port("memory", "list", *args, "--json").data]

    assert ["mem_1"] == ids("--pinned")
    assert {"mem_0", "mem_2"} == set(ids("--unpinned"))
    assert ["mem_2"] == ids("--text", "GATE 2")
    assert ids("--order", "path")[1:2] == ids("--order", "path", "--limit", "1", "--offset", "1")
