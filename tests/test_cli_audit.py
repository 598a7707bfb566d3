"""`hexad audit` as a shell uses it: what needs a credential and what does not, what is proved and what is not seen."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from hexad.audit import AuditLog, AuditLogWriter
from hexad.audit.checkpoint import leaf_hash, verify_inclusion
from ran import Run


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Run a command in a store whose ledger has five records, where nobody can be asked."""
    assert 0 == run("init").code
    with AuditLogWriter(tmp_path / ".hexad" / "audit", "be") as writer:
        writer.record_many(
            {
                "session_id": "monday" if tick < 3 else "tuesday",
                "tick": tick,
                "event_type": "input" if tick == 0 else "output",
                "raw_content": f"word {tick}",
                "lens_activations": {"p::Hidden": 0.9},
                "steering_applied": [{"directive": "calm"}],
            }
            for tick in range(5)
        )
    return run


@pytest.fixture
def credential(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """A reviewer's credential, which the environment holds."""
    made = run("audit", "reviewer", "add", "rita")
    assert 0 == made.code
    monkeypatch.setenv("HEXAD_REVIEWER_CREDENTIAL", made.out.strip())
    return made.out.strip()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / ".hexad" / "audit"


# Reading --------------------------------------------------------------------------------------------------------


@pytest.mark.row("H093")
@pytest.mark.parametrize("command", ["query", "export"])
def test_without_a_credential_nothing_is_shown(run: Run, command: str) -> None:
    refused = run("audit", command)

    assert (2, "") == (refused.code, refused.out)
    assert "HEXAD_REVIEWER_CREDENTIAL" in refused.err


@pytest.mark.row("H093")
@pytest.mark.parametrize("command", ["query", "export"])
def test_a_wrong_credential_shows_nothing_and_is_not_repeated(
    run: Run, credential: str, command: str
) -> None:
    refused = run("audit", command, "--credential", "rita:not-the-secret", "--json")

    assert (1, "") == (refused.code, refused.out)
    assert "AccessDenied" == json.loads(refused.err)["error"]["type"]
    assert "not-the-secret" not in refused.err
    kinds = [record["kind"] for record in run("audit", "query", "--json").data]
    assert "reviewer.refused" in kinds


@pytest.mark.row("H093", "H094", "H095")
def test_a_reviewer_sees_all_lenses_and_all_steering(run: Run, credential: str) -> None:
    found = run("audit", "query", "--session", "monday", "--ticks", "1-2", "--type", "output", "--json").data

    assert [("audit-1", "word 1"), ("audit-2", "word 2")] == [
        (entry["id"], entry["raw_content"]) for entry in found
    ]
    assert [{"p::Hidden": 0.9}] * 2 == [entry["lens_activations"] for entry in found]
    assert [[{"directive": "calm"}]] * 2 == [entry["steering_applied"] for entry in found]


def test_a_table_shows_what_was_said_and_never_the_credential(run: Run, credential: str) -> None:
    shown = run("audit", "query", "--kind", "timestep", "--limit", "2", "--offset", "1")

    assert "audit-1" in shown.out and "word 2" in shown.out and "word 0" not in shown.out
    assert credential.partition(":")[2] not in shown.out + shown.err


def test_an_export_writes_every_record_that_holds_into_a_private_file(
    run: Run, credential: str, tmp_path: Path
) -> None:
    made = run("audit", "export", "--kind", "timestep", "--out", "ledger.jsonl", "--json")

    _, *lines, _ = (tmp_path / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    assert {"path": "ledger.jsonl", "records": 5} == made.data
    assert [f"word {at}" for at in range(5)] == [json.loads(line)["raw_content"] for line in lines]
    assert 0o600 == (tmp_path / "ledger.jsonl").stat().st_mode & 0o777
    assert 4 == run("audit", "export", "--out", "ledger.jsonl").code
    (kept,) = run("audit", "query", "--kind", "reviewer.export", "--json").data
    assert ("rita", 5) == (kept["detail"]["reviewer"], kept["detail"]["shown"])


@pytest.mark.row("H096")
def test_an_export_is_signed_and_inspected_without_the_ledger(
    run: Run, credential: str, tmp_path: Path
) -> None:
    run("audit", "export", "--session", "monday", "--out", "ledger.jsonl")
    key = run("audit", "key").out.strip()
    (tmp_path / ".hexad").rename(tmp_path / "gone")

    checked = run("audit", "inspect", "ledger.jsonl", "--key", key)
    (tmp_path / "ledger.jsonl").write_bytes(
        (tmp_path / "ledger.jsonl").read_bytes().replace(b"word 1", b"word 9")
    )
    broken = run("audit", "inspect", "ledger.jsonl", "--key", key)

    assert (0, "3 records exported for rita, unchanged and in recording order\n") == (
        checked.code,
        checked.out,
    )
    assert 5 == broken.code
    assert "is no export of a ledger, or was changed" in broken.err


def test_an_export_to_a_pipe_is_a_record_on_a_line(run: Run, credential: str) -> None:
    lines = run("audit", "export", "--session", "tuesday").out.splitlines()

    assert ["audit-3", "audit-4"] == [json.loads(line)["id"] for line in lines]


def _as_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_at_a_terminal_the_credential_is_asked_for_and_not_shown(run: Run, tmp_path: Path) -> None:
    secret = run("audit", "reviewer", "add", "tom").out.strip()
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "audit", "query", "--kind", "timestep", "--json"],
        cwd=tmp_path,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        preexec_fn=_as_terminal,  # noqa: PLW1509 - a password is read from the controlling terminal
    )
    os.close(slave)
    seen = b""
    while b"Credential" not in seen:
        seen += os.read(master, 1024)
    os.write(master, secret.encode() + b"\n")

    out, _ = process.communicate(timeout=60)

    os.set_blocking(master, False)
    with suppress(OSError):  # nothing more was said
        seen += os.read(master, 65_536)
    os.close(master)
    assert 5 == len(json.loads(out))
    assert secret.encode() not in seen


# Reviewers ------------------------------------------------------------------------------------------------------


def test_reviewers_are_added_with_an_end_and_a_scope_listed_and_revoked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run("audit", "reviewer", "add", "tom", "--expires", "2100-01-01", "--session", "tuesday", "--json")
    monkeypatch.setenv("HEXAD_REVIEWER_CREDENTIAL", made.data["credential"])

    assert ["tuesday"] * 2 == [record["session_id"] for record in run("audit", "query", "--json").data]
    (listed,) = run("audit", "reviewer", "list", "--json").data
    assert ("tom", "2100-01-01T00:00:00Z", ["tuesday"], False) == tuple(
        listed[name] for name in ("name", "expires_at", "sessions", "revoked")
    )
    assert 4 == run("audit", "reviewer", "add", "tom").code
    assert 0 == run("audit", "reviewer", "revoke", "tom").code
    assert 1 == run("audit", "query").code
    assert 4 == run("audit", "reviewer", "revoke", "tom").code
    assert "revoked" in run("audit", "reviewer", "list").out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("a:b",), "letters, digits"),
        (("tom", "--expires", "2001-01-01"), "is over"),
        (("tom", "--expires", "soon"), "--expires"),
    ],
)
def test_a_reviewer_that_cannot_be_is_refused(run: Run, args: tuple[str, ...], words: str) -> None:
    refused = run("audit", "reviewer", "add", *args)

    assert 2 == refused.code
    assert words in refused.err
    assert [] == run("audit", "reviewer", "list", "--json").data


@pytest.mark.row("H133")
@pytest.mark.parametrize(
    "args",
    [
        ("query",),
        ("verify",),
        ("checkpoint",),
        ("key",),
        ("export",),
        ("proof", "audit-0"),
        ("reviewer", "list"),
    ],
    ids=" ".join,
)
def test_in_a_role_the_ledger_is_not_there_for_anybody(
    run: Run, credential: str, args: tuple[str, ...]
) -> None:
    refused = run("audit", *args, "--role", "agent")

    assert (1, "") == (refused.code, refused.out)
    assert "no policy can show it" in refused.err


# Proving --------------------------------------------------------------------------------------------------------


def change(ledger: Path) -> None:
    con = apsw.Connection(str(ledger / "audit.db"))
    con.execute("UPDATE entries SET tick = 7 WHERE seq = 2")
    con.close()


@pytest.mark.row("H096")
def test_a_check_needs_no_credential_and_says_what_it_cannot_see(run: Run, tmp_path: Path) -> None:
    alone = run("audit", "verify")
    assert 0 == run("audit", "checkpoint", "--out", "kept").code
    compared = run("audit", "verify", "--checkpoint", "kept", "--json")

    assert (0, True) == (alone.code, "5 records unchanged, in recording order" in alone.out)
    assert "cut off" in alone.err and "written anew" in " ".join(alone.err.split())
    assert (0, True, 5, []) == (
        compared.code,
        *(compared.data[name] for name in ("ok", "checkpoint", "unseen")),
    )


@pytest.mark.row("H096")
def test_a_ledger_that_was_changed_ends_with_exit_code_5_and_the_record(run: Run, ledger: Path) -> None:
    change(ledger)

    told, as_json = run("audit", "verify"), run("audit", "verify", "--json")

    assert (5, 5) == (told.code, as_json.code)
    assert "First wrong: audit-2" in told.out
    assert (False, 2) == (as_json.data["ok"], as_json.data["first_bad"])


def test_a_checkpoint_of_another_ledger_is_no_checkpoint_of_this_one(run: Run, tmp_path: Path) -> None:
    with AuditLogWriter(tmp_path / "other", "be") as writer:
        writer.record("s", 0, "input", "x", {}, [])
    assert 0 == run("audit", "checkpoint", "--ledger", "other", "--out", "foreign").code

    refused = run("audit", "verify", "--checkpoint", "foreign")

    assert 5 == refused.code
    assert "not signed by" in refused.err


def test_the_public_key_alone_checks_a_checkpoint(run: Run) -> None:
    key = run("audit", "key").out.strip()
    run("audit", "checkpoint", "--out", "kept")

    assert 0 == run("audit", "verify", "--checkpoint", "kept", "--key", key).code
    assert 2 == run("audit", "verify", "--checkpoint", "kept", "--key", "no key").code


def test_a_checkpoint_never_replaces_a_file(run: Run, tmp_path: Path) -> None:
    first = run("audit", "checkpoint", "--out", "kept")
    text = (tmp_path / "kept").read_text()

    assert (0, 4) == (first.code, run("audit", "checkpoint", "--out", "kept").code)
    assert text == (tmp_path / "kept").read_text() == run("audit", "checkpoint").out


def test_a_proof_holds_against_the_checkpoint_without_the_ledger(run: Run, credential: str) -> None:
    record = run("audit", "query", "--session", "monday", "--limit", "1", "--json").data[0]
    root = run("audit", "checkpoint").out.splitlines()[2]

    proof = run("audit", "proof", record["id"], "--json").data

    leaf = leaf_hash(bytes.fromhex(record["record_hash"]))
    path = [base64.b64decode(digest) for digest in proof["path"]]
    assert root == proof["root"]
    assert base64.b64encode(leaf).decode() == proof["leaf"]
    assert verify_inclusion(leaf, proof["index"], proof["size"], path, base64.b64decode(root))
    assert f"number 0 of {proof['size']}" in run("audit", "proof", "audit-0").out


@pytest.mark.parametrize(("record", "code"), [("audit-99", 3), ("99", 2), ("audit--1", 2), ("audit-0x", 2)])
def test_a_proof_of_what_is_no_record_is_refused(run: Run, record: str, code: int) -> None:
    assert code == run("audit", "proof", record).code


def test_what_upkeep_noted_is_in_the_ledger_when_it_is_asked(
    run: Run, credential: str, tmp_path: Path
) -> None:
    # The program ends without closing the store: its note waits there.
    code = """
import os, hexad
hx = hexad.open(embedder=None, background=False)
hx.remember("Old.")
hx.spaces.set_policy("default", {"allow_delete": True})
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60)

    kinds = [record["kind"] for record in run("audit", "query", "--json").data]

    assert ["set_policy"] == [
        kind for kind in kinds if not kind.startswith("reviewer.") and kind != "timestep"
    ]


def test_a_store_without_a_ledger_says_so_and_makes_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    assert 0 == run("init", "fresh").code

    missing = run("audit", "verify", "--store", "fresh")
    assert 3 == missing.code
    assert "hexad audit reviewer add" in missing.err
    assert not (tmp_path / "fresh" / ".hexad" / "audit").exists()
    assert 0 == run("audit", "reviewer", "add", "rita", "--store", "fresh").code
    with AuditLog(tmp_path / "fresh" / ".hexad") as log:
        assert ["rita"] == [reviewer.name for reviewer in log.reviewers.list()]


def test_a_file_that_is_no_checkpoint_is_named_and_is_no_change_of_the_ledger(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    refused = run("audit", "verify", "--checkpoint", str(tmp_path / "x.jsonl"))
    assert 2 == refused.code
    assert "x.jsonl is no checkpoint" in refused.err


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_a_time_that_is_none_is_told_with_its_option(run: Run, credential: str, option: str) -> None:
    refused = run("audit", "query", option, "yesterday", "--credential", credential)
    assert 2 == refused.code
    assert f"Cannot parse {option} 'yesterday' as a time" in refused.err
