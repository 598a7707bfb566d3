"""`hexad xdb` on what stays in full detail and what becomes less: windows, submissions, context, storage."""

from __future__ import annotations

import os
import pty
import tempfile
from pathlib import Path

import pytest

import hexad
from programs import HEXAD, Program, command


def words(number: int) -> str:
    return f" item {number} of the long list of what lies in the harbour's store"


@pytest.fixture
def monday(run, tmp_path):
    """A session of 40 events, of two timesteps and 20 tokens each, in a window of 2,000."""
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday", 2000)
        hx.xdb.record_many(
            {
                "event_type": "output",
                "content": words(number) if part else f"{number}:",
                "event_id": f"e{number}",
                "token_count": 10,
                "concept_activations": {"sea::Store": 0.5 + part / 10},
            }
            for number in range(40)
            for part in range(2)
        )
    return run


@pytest.fixture
def submitted(monday):
    for args in (
        ("bud", "create", "stock", "What is in store."),
        ("tag", "stock", "--ticks", "5-9", "--session", "monday"),
        ("submit", "stock", "graft-1"),
    ):
        assert 0 == monday("xdb", *args).code
    return monday


# Windows ----------------------------------------------------------------------------------------------------


def test_a_pinned_window_survives_compaction_and_goes_when_it_is_unpinned(monday):
    pinned = monday("xdb", "pin", "1-4", "--session", "monday", "--reason", "stock", "--json").data
    monday("xdb", "compact", "--session", "monday")

    assert ("warm", 40, 40, 100_000) == tuple(
        pinned[name] for name in ("fidelity", "token_count", "warm_used_tokens", "warm_quota_tokens")
    )
    fidelities = [
        step["fidelity"] for step in monday("xdb", "recall", "--tokens", "--ticks", "1-6", "--json").data
    ]
    assert ["warm"] * 4 == fidelities[:4] and "cold" == fidelities[4]
    assert "pinned: stock" in monday("xdb", "windows").out

    refused = monday("xdb", "unpin", pinned["id"])
    assert (2, True, True) == (refused.code, "--yes" in refused.err, "ticks 1–4" in refused.err)
    assert "would be COLD up to tick 4" in monday("xdb", "unpin", pinned["id"], "--dry-run").out
    assert [pinned["id"]] == [window["id"] for window in monday("xdb", "windows", "--pinned", "--json").data]
    assert 0 == monday("xdb", "unpin", pinned["id"], "--yes").code
    assert [] == monday("xdb", "windows", "--pinned", "--json").data
    assert "cold" == monday("xdb", "recall", "--tokens", "--ticks", "1-2", "--json").data[0]["fidelity"]


def test_what_is_still_in_the_context_is_unpinned_without_a_question(monday):
    pinned = monday("xdb", "pin", "79-80", "--session", "monday", "--json").data

    assert 0 == monday("xdb", "unpin", pinned["id"]).code
    step = monday("xdb", "recall", "--tokens", "--ticks", "80", "--json").data[0]
    assert "hot" == step["fidelity"]


# Submissions ------------------------------------------------------------------------------------------------


def test_a_bud_is_handed_in_exported_checked_and_accepted(submitted, tmp_path):
    listed = submitted("xdb", "submissions", "--json").data
    package = Path(submitted("xdb", "export", "graft-1").out.strip())
    elsewhere = submitted("xdb", "export", "graft-1", "--out", "out", "--json").data

    assert [("graft-1", "open")] == [(entry["id"], entry["status"]) for entry in listed]
    assert tmp_path / ".hexad/exports/graft-1" == package
    assert elsewhere["files"] == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert {"package": "graft-1", "problems": []} == submitted("xdb", "verify", "graft-1", "--json").data
    assert (0, "out  whole\n") == (
        submitted("xdb", "verify", "out").code,
        submitted("xdb", "verify", "out").out,
    )

    refused = submitted("xdb", "resolve", "graft-1", "--accepted")
    assert (2, True) == (refused.code, "1 window with 50 tokens" in refused.err)
    planned = submitted("xdb", "resolve", "graft-1", "--accepted", "--dry-run", "--json").data
    assert ("open", True, 1) == (planned["status"], planned["dry_run"], len(planned["released_windows"]))
    done = submitted("xdb", "resolve", "graft-1", "--accepted", "--yes", "--json").data
    assert ("accepted", planned["released_windows"]) == (done["status"], done["released_windows"])
    assert ["cold"] == [
        window["fidelity"] for window in submitted("xdb", "windows", "--submission", "graft-1", "--json").data
    ]
    assert [] == submitted("xdb", "submissions", "--status", "open", "--json").data
    assert (
        "accepted" in submitted("xdb", "submissions").out and "stock" in submitted("xdb", "submissions").out
    )


def answered(folder: Path, answer: str, *args: str) -> int:
    """Run a command at a terminal, answer its question, and return its exit code."""
    master, slave = pty.openpty()
    process = Program(
        HEXAD, "xdb", *args,
        cwd=folder, env={**os.environ, "HEXAD_EMBEDDER": "none"}, terminal=slave, on_terminal=(0, 2),
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(master, 1024)
    os.write(master, answer.encode() + b"\n")
    while b"\n" not in seen.partition(b"[y/N]")[2]:
        seen += os.read(master, 1024)
    process.communicate(timeout=60)
    os.close(master)
    return process.wait()


def test_at_a_terminal_it_asks_before_detail_is_given_up(submitted, tmp_path):
    for answer, code, status in (("n", 1, "open"), ("", 1, "open"), ("y", 0, "accepted")):
        assert code == answered(tmp_path, answer, "resolve", "graft-1", "--accepted")
        assert status == submitted("xdb", "submissions", "--json").data[0]["status"]


def test_at_a_terminal_it_asks_before_cold_records_become_coarser(monday, tmp_path):
    monday("xdb", "compact", "--session", "monday")
    for answer, code, kept in (("n", 1, True), ("y", 0, False)):
        assert code == answered(tmp_path, answer, "compress", "--max-bytes", "1000")
        assert kept is bool(monday("xdb", "compressed", "--level", "reply", "--json").data)


def test_a_session_that_keeps_every_token_is_compacted_only_when_that_is_meant(monday):
    monday("xdb", "record", "More.", "--session", "monday", "--no-compaction")

    refused = monday("xdb", "compact", "--session", "monday")
    assert (2, True, True) == (refused.code, "--yes" in refused.err, "every token" in refused.err)
    assert [] == monday("xdb", "compactions", "--json").data
    assert 0 == monday("xdb", "compact", "--session", "monday", "--yes").code
    assert 1 == len(monday("xdb", "compactions", "--json").data)


def test_a_package_is_checked_where_there_is_no_store(submitted, tmp_path, monkeypatch):
    submitted("xdb", "export", "graft-1")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)

    assert [] == submitted("xdb", "verify", "../.hexad/exports/graft-1", "--json").data["problems"]
    assert [".git"] == [path.name for path in elsewhere.iterdir()]
    assert 3 == submitted("xdb", "verify", "graft-1").code


def test_a_package_that_was_changed_is_not_whole(submitted, tmp_path):
    submitted("xdb", "export", "graft-1")
    file = next((tmp_path / ".hexad/exports/graft-1").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])

    ran = submitted("xdb", "verify", "graft-1")

    assert (5, True) == (ran.code, file.name in ran.out)
    assert [] != submitted("xdb", "verify", "graft-1", "--json").data["problems"]


def test_what_is_rejected_stays_for_a_while_without_a_question(submitted):
    assert "rejected" == submitted("xdb", "resolve", "graft-1", "--rejected", "--json").data["status"]

    [window] = submitted("xdb", "windows", "--tag", "stock", "--json").data
    assert ("warm", False, True) == (window["fidelity"], window["pinned"], window["grace_until"] is not None)
    assert "until 20" in submitted("xdb", "windows", "--session", "monday", "--fidelity", "warm").out


# The context window -----------------------------------------------------------------------------------------


def test_the_context_says_how_full_it_is_and_what_is_in_it(run):
    for args in (("When does the ferry leave?",), ("At noon.", "--type", "output", "--speaker", "assistant")):
        run("xdb", "record", *args, "--session", "monday", "--tokens", "6")

    told = run("xdb", "context", "monday", "--json").data
    text = run("xdb", "context", "monday").out

    assert (12, "monday", ["When does the ferry leave?", "At noon."]) == (
        told["current_tokens"],
        told["session_id"],
        [event["content"] for event in told["events"]],
    )
    assert told["utilization"] == pytest.approx(12 / told["max_tokens"])
    assert "12 of 8,192 tokens" in text and "#2  assistant · 6 tokens\n    At noon.\n" in text
    assert "ferry" not in run("xdb", "context", "monday", "--brief").out
    assert ["monday"] == [window["session_id"] for window in run("xdb", "context", "--json").data]
    run("xdb", "end", "monday")
    assert [] == run("xdb", "context", "--json").data


def test_a_compaction_makes_the_window_smaller_and_is_listed(monday):
    planned = monday("xdb", "compact", "--session", "monday", "--dry-run", "--json").data
    done = monday("xdb", "compact", "--session", "monday", "--json").data

    assert (None, True) == (planned["compaction"], planned["before"] == planned["after"])
    assert done["after"]["current_tokens"] < done["before"]["current_tokens"]
    listed = monday("xdb", "compactions", "--session", "monday", "--json").data
    assert done["compaction"] in listed
    assert {"manual"} <= {entry["trigger"] for entry in listed}
    assert (
        "manual" in monday("xdb", "compactions").out
        and "summary by local" in monday("xdb", "compactions").out
    )
    assert done["compaction"]["tokens_after"] < done["compaction"]["tokens_before"]


def test_sessions_say_how_much_there_is_of_them_compacted_or_not(monday):
    before = monday("xdb", "sessions", "--json").data[0]
    monday("xdb", "compact", "--session", "monday")
    after = monday("xdb", "sessions", "--json").data[0]

    assert (80, 800) == (before["timesteps"], before["tokens"]) == (after["timesteps"], after["tokens"])
    assert after["context_tokens"] < before["context_tokens"]
    assert f"{after['utilization']:.0%} of 2,000" in monday("xdb", "sessions").out


def test_a_session_that_shall_keep_every_token_does(run):
    for args in (("--no-compaction", "--max-context-tokens", "100"), ()):
        assert 0 == run("xdb", "record", "A text.", "--session", "monday", "--tokens", "90", *args).code

    assert [] == run("xdb", "compactions", "--json").data
    assert 180 == run("xdb", "context", "monday", "--brief", "--json").data["current_tokens"]
    run("xdb", "record", "More.", "--session", "monday", "--compaction")
    assert [] != run("xdb", "compactions", "--json").data


# Storage ----------------------------------------------------------------------------------------------------


def test_usage_says_what_is_there_of_each_tier(submitted):
    submitted("xdb", "pin", "1-2", "--session", "monday")
    submitted("xdb", "compact", "--session", "monday")

    told = submitted("xdb", "usage", "--json").data
    text = submitted("xdb", "usage").out

    assert (2, 5) == tuple(told["by_fidelity"][name]["timesteps"] for name in ("warm", "submitted"))
    assert 80 == sum(amount["timesteps"] for amount in told["by_fidelity"].values())
    assert 0 < told["by_level"]["REPLY"]["records"]
    for name in (
        "hot",
        "warm",
        "submitted",
        "cold",
        "reply",
        "compactions",
        "of 100.0 MiB",
        "of 100,000 tokens",
    ):
        assert name in text
    assert {100} == {len(line) for line in text.splitlines()[1:2]}


def test_cold_records_are_compressed_to_a_limit_that_is_given(monday):
    monday("xdb", "compact", "--session", "monday")
    taken = monday("xdb", "usage", "--json").data["cold_bytes"]

    planned = monday("xdb", "compress", "--max-bytes", str(taken), "--dry-run", "--json").data
    unlimited = monday("xdb", "compress", "--dry-run", "--json").data
    refused = monday("xdb", "compress", "--max-bytes", str(taken))
    assert (2, True, True) == (refused.code, "--yes" in refused.err, "reply records" in refused.err)
    assert taken == monday("xdb", "usage", "--json").data["cold_bytes"]
    done = monday("xdb", "compress", "--max-bytes", str(taken), "--yes", "--json").data

    assert (True, taken, False) == (planned["due"], planned["cold_bytes"], unlimited["due"])
    assert ["REPLY"] == [*planned["records"]] and {} == unlimited["records"]
    assert 0 < planned["records"]["REPLY"] <= 20
    assert taken == done["bytes_before"] > done["bytes_after"]
    assert "REPLY" == done["steps"][0]["source"]
    again = monday("xdb", "compress")
    assert (0, True) == (again.code, "under the threshold" in again.err)


def test_what_is_left_of_compressed_experience_is_listed_with_what_it_was_made_of(monday):
    monday("xdb", "compact", "--session", "monday")
    replies = monday("xdb", "compressed", "--level", "reply", "--json").data
    entry = monday("xdb", "compressed", replies[0]["id"], "--json").data
    text = monday("xdb", "compressed", replies[0]["id"]).out

    assert (replies[0], ["ts-monday-1", "ts-monday-2"]) == (entry, entry["source_record_ids"])
    assert (
        "reply  monday #1–2" in text and "2 timesteps, 20 tokens" in text and "made of: ts-monday-1" in text
    )
    assert "concepts: Store 0.60" in text
    assert [] == monday("xdb", "compressed", "--level", "year", "--json").data
    monday("xdb", "compress", "--max-bytes", "1000", "--yes")
    coarser = monday("xdb", "compressed", "--json").data
    assert "REPLY" not in {record["level"] for record in coarser}
    assert sum(reply["timesteps"] for reply in replies) == sum(record["timesteps"] for record in coarser)
    assert 3 == monday("xdb", "compressed", replies[0]["id"]).code


def test_a_contract_is_put_in_force_from_a_file_and_ended(monday, tmp_path):
    (tmp_path / "contract.json").write_text('{"resources": {"memory": {"warm_quota_tokens": 250000}}}')
    (tmp_path / "mean.json").write_text('{"resources": {"memory": {"warm_quota_tokens": 5}}}')

    assert not monday("xdb", "contract", "--json").data["active"]
    assert 250_000 == monday("xdb", "contract", "contract.json", "--json").data["warm_quota_tokens"]
    assert "250,000 tokens may be pinned  (contract)" in monday("xdb", "contract").out
    refused = monday("xdb", "contract", "mean.json")
    assert (2, True) == (refused.code, "100,000" in refused.err)
    assert 250_000 == monday("xdb", "contract", "--json").data["warm_quota_tokens"]
    assert not monday("xdb", "contract", "--clear", "--json").data["active"]


# JSON -------------------------------------------------------------------------------------------------------

STEP = (
    "id session_id tick timestamp event_type content concept_activations event_id event_start event_end token_id role"
    " token_count fidelity compression_level end_tick timesteps"
)
WINDOW = (
    "id session_id start_tick end_tick start_time end_time fidelity compression_level pinned pinned_reason"
    " submission_ids summary top_k_activations significant_tags token_count source_record_ids grace_until"
)
CONTEXT = "max_tokens current_tokens utilization session_id current_tick"
TAG = "id name tag_type concept_id entity_type bud_status created_at created_by description"
KEYS = {
    "sessions": "id created_at ended_at max_context_tokens last_tick auto_compact compacted_through timesteps tokens data_subjects"
    " context_tokens utilization",
    "show monday": "id session_id event_id event_type role start_tick end_tick start_time end_time content"
    " concept_activations token_count timesteps fidelity compression_level",
    "recall --tokens": STEP,
    "bud examples stock": STEP,
    "buds": TAG,
    "tags ts-monday-5": "tag id tag_id session_id target_type timestep_id event_id range_start range_end confidence"
    " source created_at note",
    "comments --session monday": "id session_id target_type timestep_id event_id range_start range_end content"
    " created_at updated_at",
    "windows": WINDOW,
    "submissions": "id bud_tag_id status submitted_at resolved_at window_ids",
    "context": CONTEXT,
    "context monday": f"{CONTEXT} summary events token_count omitted",
    "compactions": "id session_id timestamp range_start range_end timesteps_compacted tokens_before tokens_after"
    " summary summary_concept_tags top_k_activations trigger result_level generated_by",
    "compressed": "id level start_time end_time start_tick end_tick summary top_k_activations significant_tags"
    " source_record_ids token_count record_count timesteps peaks session_id event_id event_type role",
    "activity": "start end timesteps tokens compressed coarsest concepts",
    "usage": "total_bytes cold_bytes cold_limit_bytes compression_threshold total_limit_bytes over_threshold"
    " logs_bytes segments_bytes documents_bytes exports_bytes tables_bytes by_fidelity by_level compactions"
    " warm_quota_tokens warm_used_tokens",
    "compress --dry-run": "dry_run due cold_bytes limit_bytes compression_threshold records",
    "contract": "active warm_quota_tokens cold_storage_bytes context_window_tokens sources document",
    "verify graft-1": "package problems",
    "export graft-1": "submission_id path files",
}


def test_json_has_the_same_keys_whenever_it_is_asked_for(submitted):
    submitted("xdb", "comment", "Look.", "--ticks", "1-2", "--session", "monday")
    submitted("xdb", "pin", "1-2", "--session", "monday")
    submitted("xdb", "export", "graft-1")
    submitted("xdb", "compact", "--session", "monday")

    for args, keys in KEYS.items():
        found = submitted("xdb", *args.split(), "--json").data
        item = found[0] if isinstance(found, list) else found
        assert (args, sorted(keys.split())) == (args, sorted(item))


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("pin", "x", "--session", "monday"), 2, "'x' is no range of ticks"),
        (("pin", "1-4"), 2, "--session"),
        (("pin", "1-4", "--session", "sunday"), 3, "'sunday'"),
        (("pin", "900-950", "--session", "monday"), 3, "950"),
        (("unpin", "window_none"), 3, "window_none"),
        (("windows", "--session", "sunday"), 3, "'sunday'"),
        (("windows", "--fidelity", "lukewarm"), 2, "'lukewarm'"),
        (("windows", "--tag", "stock", "--pinned"), 2, "--tag, --submission"),
        (("windows", "--tag", "nobody"), 3, "'nobody'"),
        (("windows", "--submission", "none"), 3, "none"),
        (("submit", "nobody", "graft-2"), 3, "hexad tags list"),
        (("submit", "stock", "../up"), 2, "../up"),
        (("resolve", "none", "--accepted"), 3, "none"),
        (("resolve", "graft-1"), 2, "--accepted or --rejected"),
        (("submissions", "--status", "lost"), 2, "'lost'"),
        (("export", "none"), 3, "none"),
        (("verify", "none"), 3, "none"),
        (("context", "sunday"), 3, "'sunday'"),
        (("compact",), 2, "--session"),
        (("compact", "--session", "sunday"), 3, "'sunday'"),
        (("compactions", "--session", "sunday"), 3, "'sunday'"),
        (("compactions", "--limit", "0"), 2, "--limit 0"),
        (("compressed", "none"), 3, "'none'"),
        (("compressed", "--level", "token"), 2, "'token'"),
        (("compressed", "--session", "sunday"), 3, "'sunday'"),
        (("compressed", "--limit", "0"), 2, "--limit 0"),
        (("compress", "--max-bytes", "0"), 2, "0"),
        (("compress", "--threshold", "2"), 2, "2"),
        (("contract", "missing.json"), 3, "missing.json"),
        (("contract", "broken.json"), 2, "broken.json"),
        (("contract", "contract.json", "--clear"), 2, "give one of them"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_refused_and_nothing_changes(submitted, tmp_path, args, code, said):
    (tmp_path / "broken.json").write_text("{")
    before = [
        submitted("xdb", name, "--json").data for name in ("windows", "submissions", "context", "contract")
    ]

    ran = submitted("xdb", *args)

    assert (code, True) == (ran.code, said in ran.err), ran
    assert 1 == len(ran.err.splitlines())
    after = [
        submitted("xdb", name, "--json").data for name in ("windows", "submissions", "context", "contract")
    ]
    assert before == after


def test_a_quota_that_would_be_passed_is_refused_with_both_numbers(run, tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday", compaction=False)
        hx.xdb.record("input", "A very long text.", token_count=100_001)

    ran = run("xdb", "pin", "1", "--session", "monday")

    assert (2, True, True) == (ran.code, "100,001" in ran.err, "100,000" in ran.err)
    assert [] == run("xdb", "windows", "--json").data


def test_windows_and_submissions_are_completed(submitted, tmp_path):
    window = submitted("xdb", "windows", "--json").data[0]["id"]

    def complete(*words: str) -> list[str]:
        done = command(
            cwd=tmp_path,
            env={
                **os.environ,
                "HEXAD_EMBEDDER": "none",
                "_HEXAD_COMPLETE": "bash_complete",
                "COMP_WORDS": " ".join(("hexad", *words)),
                "COMP_CWORD": str(len(words)),
            },
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines() if line]

    assert [window] == complete("xdb", "unpin", "window")
    assert ["graft-1"] == complete("xdb", "resolve", "gr")


def test_a_window_that_does_not_compact_says_how_many_events_it_has_no_room_for(run, tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("long", 500, compaction=False)
        hx.xdb.record_many([{"event_type": "input", "content": f"{at} " + "word " * 40} for at in range(40)])

    shown = run("xdb", "context", "long")

    assert "before these, for which the window has no room" in shown.out
    assert 0 < run("xdb", "context", "long", "--json").data["omitted"] < 40
