"""The `hexad` command as people and scripts use it: real processes, a real store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from programs import HEXAD, run
from ran import Ran

# How long a process that has just printed something is given to listen again.
PAUSE_S = 2.0
HARBOUR = "The harbour office closes at noon on Fridays."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """Runs commands in a project's folder, with the small embedder that needs no model."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEXAD_")}
        return {**kept, "HEXAD_EMBEDDER": "hashing", "PYTHONWARNINGS": "error", "COLUMNS": "100"}

    def start(self, *args: str, **streams) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hexad", *args],
            cwd=self.folder,
            env=self.environment,
            text=True,
            encoding="utf-8",
            **streams,
        )

    def __call__(self, *args: str, stdin: str | None = "") -> Ran:
        done = run(HEXAD, *args, input=stdin or "", env=self.environment, cwd=self.folder)
        assert "Traceback" not in done.stderr
        return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture
def hexad_(tmp_path) -> Shell:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Shell(folder=folder)


@pytest.fixture
def stocked(hexad_) -> Shell:
    assert (
        0 == hexad_("remember", HARBOUR, "--kind", "decision", "--id", "mem_harbour", "--tag", "Ferry").code
    )
    return hexad_


def lines(text: str) -> Sequence[str]:
    return text.splitlines()


# Remembering and recalling


def test_what_is_remembered_is_recalled_by_another_process(stocked):
    found = stocked("recall", "when does the harbour office close?")

    assert 0 == found.code
    assert HARBOUR in found.out
    assert "decision" in found.out
    assert "mem_harbour" in found.out


def test_remember_prints_one_line_with_id_outcome_and_path(hexad_):
    ran = hexad_("remember", HARBOUR, "--id", "mem_1", "--path", "shop/harbour/hours")

    assert ["mem_1  created  shop/harbour/hours  (note)"] == lines(ran.out)
    assert "mem_1  evidence" not in ran.out


def test_the_same_text_again_is_evidence(stocked):
    again = stocked("remember", HARBOUR)

    assert "mem_harbour  evidence" in again.out


def test_remember_reads_a_pipe_with_and_without_the_dash(hexad_):
    assert "created" in hexad_("remember", stdin="The crane is serviced in May.").out
    assert "created" in hexad_("remember", "-", stdin="The lock gate is painted in June.").out
    assert "June" in hexad_("recall", "lock gate painted").out


def test_a_secret_is_taken_out_and_named_on_stderr(hexad_):
    ran = hexad_("remember", "Log in with password: Tr0ub4dor&3 today", "--json")

    assert 1 <= ran.data["receipt"]["redacted"]
    assert "Tr0ub4dor" not in ran.out
    assert "taken out: password ×1" in hexad_("remember", "My other password: Xk9#mmQ2pl! is here").err


def test_remember_keeps_every_field_that_it_is_given(hexad_):
    ran = hexad_(
        "remember", "The ferry fleet has nine ships.", "--json", "--space", "fleet", "--kind", "note",
        "--path", "fleet/size", "--tag", "Ships", "--tag", "count", "--pin", "--relevance", "high",
        "--importance", "0.9", "--confidence", "0.8", "--id", "mem_fleet", "--source-id", "reg-7",
        "--subject", "fleet", "--attribute", "ships", "--value", "9", "--metadata", '{"checked": true}',
        "--valid-from", "2026-01-01", "--valid-to", "2027-01-01T00:00:00Z", "--data-subject", "harbour master",
    )  # fmt: skip
    memory = ran.data

    assert ("mem_fleet", "fleet", "note", "fleet/size", True) == tuple(
        memory[name] for name in ("id", "space", "kind", "path", "pinned")
    )
    assert ["count", "ships"] == memory["tags"]
    assert ("high", 0.9, 0.8, "reg-7") == tuple(
        memory[name] for name in ("relevance", "importance", "confidence", "source_id")
    )
    assert ("fleet", "ships", 9) == tuple(memory[name] for name in ("subject", "attribute", "value"))
    assert memory["metadata"]["checked"] is True
    assert ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z") == (memory["valid_from"], memory["valid_to"])
    assert ["harbour master"] == memory["data_subjects"]


def test_nothing_relevant_leaves_stdout_empty_and_is_no_failure(stocked):
    ran = stocked("recall", "quantum chromodynamics")

    assert (0, "") == (ran.code, ran.out)
    assert "Nothing relevant" in ran.err
    assert [] == stocked("recall", "quantum chromodynamics", "--json").data


def test_recall_filters(stocked):
    stocked("remember", "The harbour restaurant opens at six.", "--space", "town", "--kind", "note")
    query = ("recall", "harbour", "--json")

    assert 2 == len(stocked(*query).data)
    assert 1 == len(stocked(*query, "--limit", "1").data)
    assert ["town"] == [hit["space"] for hit in stocked(*query, "--space", "town").data]
    assert ["mem_harbour"] == [hit["id"] for hit in stocked(*query, "--kind", "decision").data]
    assert ["mem_harbour"] == [hit["id"] for hit in stocked(*query, "--tag", "ferry").data]
    assert [] == stocked(*query, "--until", "2001-01-01").data


def test_explain_shows_parts_that_sum_to_the_score_and_what_was_considered(stocked):
    ran = stocked("recall", "harbour office", "--explain", "--json").data
    text = stocked("recall", "harbour office", "--explain").out

    assert ran["hits"][0]["score"] == pytest.approx(sum(ran["hits"][0]["parts"].values()))
    assert ran["explanation"]["terms"]
    assert "score: " in text
    assert "candidates: " in text
    assert "milliseconds: " in text


def test_vectors_are_used_unless_words_alone_are_asked_for(stocked):
    stocked("maintain")

    for options, mode in (((), "hybrid"), (("--semantic",), "hybrid"), (("--lexical",), "lexical")):
        assert mode == stocked("recall", "harbour", *options, "--explain", "--json").data["mode"]


# Sources


def test_a_folder_is_ingested_and_brought_up_to_date(hexad_):
    docs = hexad_.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Cranes\n\nThe big crane lifts forty tons.\n")
    (docs / "b.md").write_text("# Locks\n\nThe lock gate is painted green.\n")
    first = hexad_("ingest", "docs", "--json").data
    (docs / "a.md").write_text("# Cranes\n\nThe big crane lifts fifty tons.\n")
    (docs / "b.md").unlink()
    second = hexad_("ingest", "docs")

    assert 2 <= first["reports"][0]["created"]
    assert 2 <= first["embedded"]
    assert "2 updated" in second.out  # the file, and the folder's overview
    assert "1 archived" in second.out
    assert "fifty tons" in hexad_("recall", "how much does the crane lift?").out


def test_ingest_reads_a_text_from_stdin(hexad_):
    ran = hexad_("ingest", "-", "--no-embed", "--tag", "tide", stdin="High tide is at four.")

    assert ran.out.startswith("-: 1 created in ")
    assert "High tide" in hexad_("recall", "when is high tide", "--tag", "tide").out


def test_what_was_skipped_is_named_with_its_reason(hexad_):
    docs = hexad_.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Words\n\nSome words.\n")
    for number in range(12):
        (docs / f"picture{number:02}.md").write_bytes(b"\x00\x01\x02" * 100)
    short = hexad_("ingest", "docs", "--no-embed")
    whole = hexad_("ingest", "docs", "--no-embed", "--verbose")

    assert 10 == sum("skipped picture" in line for line in lines(short.out))
    assert "and 2 more skipped; --verbose names them" in short.out
    assert 12 == sum("skipped picture" in line for line in lines(whole.out))


def test_watch_prints_a_line_per_change_until_it_is_interrupted(hexad_):
    docs = hexad_.folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Cranes\n\nThe big crane lifts forty tons.\n")
    process = hexad_.start("watch", "docs", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ending = threading.Timer(60, process.kill)  # a line that never comes ends the reading below
    ending.start()
    try:
        assert process.stdout is not None
        assert "created" in process.stdout.readline()
        time.sleep(PAUSE_S)
        (docs / "b.md").write_text("# Locks\n\nThe lock gate is painted green.\n")
        assert "1 created" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    finally:
        ending.cancel()
        process.kill()
        process.wait()

    assert 130 == process.returncode
    assert ["Watching docs; Ctrl-C ends it."] == lines(err)
    assert "painted green" in hexad_("recall", "lock gate").out


# Single memories


def test_forgetting_hides_a_memory_and_restoring_brings_it_back(stocked):
    assert lines(stocked("forget", "mem_harbour").out)[0].startswith("mem_harbour  archived  ")
    assert "" == stocked("recall", "harbour office").out
    assert ["mem_harbour"] == [
        m["id"] for m in stocked("memory", "list", "--status", "archived", "--json").data
    ]

    assert "restored" in stocked("memory", "restore", "mem_harbour").out
    assert HARBOUR in stocked("recall", "harbour office").out
    stocked("forget", "mem_harbour")
    assert "restored" in stocked("forget", "--restore", "mem_harbour").out
    assert "active" == stocked("memory", "show", "mem_harbour", "--json").data["status"]


def test_a_pin_is_set_and_taken_away(stocked):
    assert stocked("memory", "pin", "mem_harbour", "--json").data["pinned"] is True
    assert "pinned" in stocked("recall", "harbour").out
    assert stocked("memory", "unpin", "mem_harbour", "--json").data["pinned"] is False


def test_list_is_a_table_and_show_a_whole_record(stocked):
    table = lines(stocked("memory", "list").out)
    record = stocked("memory", "show", "mem_harbour").out

    assert ["id", "space", "kind", "updated", "pin", "path", "summary"] == table[0].split()
    assert table[1].startswith("mem_harbour  default  decision")
    assert table[1].endswith(HARBOUR)
    assert record.rstrip().endswith(HARBOUR)
    assert "trust" in record


def test_history_shows_what_a_memory_said_before(stocked):
    stocked("remember", "The harbour office closes at eleven on Fridays.", "--id", "mem_harbour")

    assert [HARBOUR] == [
        version["raw"] for version in stocked("memory", "history", "mem_harbour", "--json").data
    ]
    assert HARBOUR in stocked("memory", "history", "mem_harbour").out


# Spaces and the store


def test_spaces_are_created_listed_governed_and_written(stocked):
    created = stocked("spaces", "create", "fleet", "--metadata", '{"owner": "ada"}', "--json").data
    stocked("spaces", "policy", "fleet", "--pii", "email")
    kept = stocked("spaces", "policy", "fleet", "--env-allow", "PORT", "--json").data["policies"]
    stocked("remember", "Write to ada@example.org about it.", "--space", "fleet")
    written = stocked("spaces", "write-file", "fleet").out.strip()

    assert {"owner": "ada"} == created["metadata"]
    assert {"pii_redaction": ["email"], "env_allow": ["PORT"]} == kept
    assert {"fleet", "default"} == {space["name"] for space in stocked("spaces", "list", "--json").data}
    assert "ada@example.org" not in Path(written).read_text()
    assert 4 == stocked("spaces", "create", "fleet").code
    assert {} == stocked("spaces", "policy", "fleet", "--set", "{}", "--json").data["policies"]


def test_init_makes_a_store_once(hexad_):
    assert "Created " in hexad_("init").out
    assert (hexad_.folder / ".hexad" / "hexad.toml").exists()
    assert 4 == hexad_("init").code


def test_check_reindex_and_maintain_report_what_they_did(stocked):
    assert {"embedded": 1, "ingested": 0} == {
        name: stocked("maintain", "--json").data[name] for name in ("ingested",)
    } | {"embedded": 1}
    report = stocked("reindex", "--vectors", "--json").data
    checked = stocked("check")

    assert (1, 1, 1) == (report["memories"], report["vectors_queued"], report["embedded"])
    assert "1 memory indexed anew" in stocked("reindex").out
    assert (0, True) == (checked.code, checked.out.startswith("All is well"))


def test_doctor_says_what_is_there_and_what_is_wrong(stocked):
    ran = stocked("doctor")
    data = stocked("doctor", "--json").data

    assert 0 == ran.code
    assert "Vectors are missing for 1 memory" in ran.out
    assert data["sqlite_safe"] is True
    assert 1 == data["memories"]
    assert str(stocked.folder) in data["path"]
    assert data["problems"]


def test_doctor_and_check_end_with_5_for_a_damaged_store(stocked):
    database = stocked.folder / ".hexad" / "memory.db"
    content = bytearray(database.read_bytes())
    content[5000:9000] = b"\xa5" * 4000
    database.write_bytes(content)

    assert 5 == stocked("check").code
    assert 5 == stocked("doctor").code


def test_completion_prints_a_script_for_each_shell(hexad_):
    for shell in ("bash", "zsh", "fish"):
        ran = hexad_("completion", shell)
        assert (0, True) == (ran.code, "_HEXAD_COMPLETE" in ran.out)


# Errors and exit codes


@pytest.mark.parametrize(
    "args",
    [
        ("recall", "x"),
        ("memory", "list"),
        ("memory", "show", "m"),
        ("forget", "m"),
        ("spaces", "list"),
        ("check",),
        ("reindex",),
        ("maintain",),
        ("doctor",),
    ],
)
def test_a_command_that_reads_never_makes_a_store_and_says_how_to(hexad_, args):
    ran = hexad_(*args)

    assert (3, "") == (ran.code, ran.out)
    assert "hexad init" in ran.err
    assert 1 == len(lines(ran.err))
    assert not (hexad_.folder / ".hexad").exists()


def test_an_error_is_one_line_and_under_json_an_object_on_stderr(stocked):
    plain = stocked("memory", "show", "mem_nobody")
    as_json = stocked("memory", "show", "mem_nobody", "--json")

    assert (3, "") == (plain.code, plain.out)
    assert plain.err.startswith("Error: Memory 'mem_nobody' not found")
    assert (3, "", "NotFound") == (as_json.code, as_json.out, json.loads(as_json.err)["error"]["type"])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("recal", "x"), "Did you mean 'recall'?"),
        (("memory", "lst"), "Did you mean 'list'?"),
        (("remember", "x", "--tga", "y"), "--tag"),
        (("recall",), "QUERY"),
        (("recall", "x", "--limit", "many"), "--limit"),
        (("remember", "x", "--metadata", "[1]"), "no JSON object"),
        (("remember", "x", "--valid-from", "soon"), "soon"),
        (("remember", "x", "--space", "../up"), "Invalid space"),
        (("remember", "   "), "text"),
    ],
)
def test_a_usage_error_ends_with_2_and_names_the_remedy(stocked, args, words):
    ran = stocked(*args)

    assert (2, "") == (ran.code, ran.out)
    assert words in ran.err
    assert 1 == len(lines(ran.err))


def test_the_options_that_all_share_may_stand_on_either_side(stocked, tmp_path):
    elsewhere = Shell(folder=tmp_path)
    store = str(stocked.folder)

    before = elsewhere("-C", store, "--json", "recall", "harbour")
    after = elsewhere("recall", "harbour", "--json", "--store", store + "/.hexad")

    assert ["mem_harbour"] == [hit["id"] for hit in before.data] == [hit["id"] for hit in after.data]


def test_a_reader_that_goes_away_is_no_error(stocked):
    reading, writing = os.pipe()
    os.close(reading)
    process = stocked.start("memory", "show", "mem_harbour", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, err = process.communicate(timeout=60)

    assert (141, "") == (process.returncode, err)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_cleanly(stocked, number, code):
    process = stocked.start("watch", ".", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert "Watching" in process.stderr.readline()
    time.sleep(PAUSE_S / 4)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)

    assert code == process.returncode
    assert "Traceback" not in err
    assert 0 == stocked("check").code


def test_no_traceback_without_debug_and_one_with_it(stocked):
    with subprocess.Popen(
        [sys.executable, "-m", "hexad", "memory", "show", "nobody", "--debug"],
        cwd=stocked.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        _, err = process.communicate(timeout=60)

    assert "Traceback" in err
    assert 3 == process.returncode


def test_every_character_survives_a_terminal_that_cannot_show_it(stocked):
    stocked("remember", "Der Kran hebt vierzig Tonnen – 起重機.", "--id", "mem_kran")
    process = subprocess.run(
        [sys.executable, "-m", "hexad", "memory", "show", "mem_kran"],
        cwd=stocked.folder, env={**stocked.environment, "PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False,
    )  # fmt: skip

    assert 0 == process.returncode
    assert b"\\u8d77" in process.stdout


def test_a_list_that_may_be_cut_counts_in_good_english(stocked):
    assert "1 memory shown; there may be more" in stocked("memory", "list", "--limit", "1").err
    stocked("remember", "The crane is oiled on Mondays.")
    stocked("remember", "The pier is swept on Sundays.")
    assert "2 memories shown; there may be more" in stocked("memory", "list", "--limit", "2").err


@pytest.mark.parametrize(
    "arguments", [("remember", "-"), ("remember", "--messages", "-"), ("remember-raw", "--kind", "note")]
)
def test_bytes_that_are_no_text_are_refused_and_not_stored(stocked, arguments):
    before = stocked("memory", "list", "--json").data

    done = subprocess.run(
        [sys.executable, "-m", "hexad", *arguments], input=b'[{"role":"user","content":"caf\xe9"}]',
        cwd=stocked.folder, env=stocked.environment, capture_output=True, check=False,
    )  # fmt: skip

    assert 2 == done.returncode
    assert b"no UTF-8 text: byte 30" in done.stderr
    assert before == stocked("memory", "list", "--json").data
