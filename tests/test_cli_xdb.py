"""`hexad xdb`, `hexad tags` and `hexad docs` as a shell uses them: what they print, what they refuse, what stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hexad
import programs
from programs import command
from ran import Ran

ROWS = [
    {
        "event_type": "input",
        "content": "When does the ferry leave?",
        "role": "user",
        "concept_activations": {"pack::Question": 0.9},
        "timestamp": "2026-01-05T09:00:00Z",
    },
    *(
        {
            "event_type": "output",
            "content": word,
            "role": "assistant",
            "event_id": "reply-1",
            "event_start": at == 0,
            "event_end": at == 3,
            "token_id": 100 + at,
            "concept_activations": {"pack::Time": 0.2 + at / 5, "Tide: high": 0.5},
            "timestamp": f"2026-01-05T09:00:0{1 + at}Z",
        }
        for at, word in enumerate(("At", " noon", " on", " Friday."))
    ),
    {
        "event_type": "tool_call",
        "content": "timetable(day='Friday')",
        "event_id": "call-1",
        "timestamp": "2026-01-06T10:00:00Z",
    },
]


def pipe(folder: Path, text: str | bytes, *args: str) -> Ran:
    """Run a command as a process of its own that reads `text`."""
    environment = {**os.environ, "HEXAD_EMBEDDER": "none", "PYTHONWARNINGS": "error"}
    done = programs.run(programs.HEXAD, *args, input=text, env=environment, cwd=folder)
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def monday(run, tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday")
        hx.xdb.record_many(ROWS)
    return run


# Recording --------------------------------------------------------------------------------------------------


def test_a_shell_records_what_it_pipes_in_and_finds_it_from_another_process(tmp_path):
    recorded = pipe(tmp_path, lines(ROWS), "xdb", "record", "--session", "monday", "--json")
    found = pipe(tmp_path, "", "xdb", "recall", "--tokens", "--json")

    assert {
        "session_id": "monday",
        "recorded": 6,
        "first_id": "ts-monday-1",
        "last_id": "ts-monday-6",
        "ended": False,
    } == recorded.data
    assert [row["content"] for row in ROWS] == [step["content"] for step in found.data]
    assert [row["timestamp"] for row in ROWS] == [step["timestamp"] for step in found.data]


def test_a_session_is_gone_on_with_until_it_is_ended_and_then_again(run):
    first = run("xdb", "record", "Good morning.", "--session", "monday", "--end", "--json").data
    second = run(
        *("xdb", "record", "Hello.", "--session", "monday", "--type", "output", "--speaker", "assistant"),
        *("--event", "greeting", "--concept", "pack::Greeting:0.8", "--tokens", "2", "--json"),
    ).data

    assert ("ts-monday-1", True, False) == (first["first_id"], first["ended"], second["ended"])
    step = run("xdb", "recall", "--tokens", "hello", "--json").data[0]
    assert ("output", "assistant", "greeting", 2) == tuple(
        step[name] for name in ("event_type", "role", "event_id", "token_count")
    )
    assert {"pack::Greeting": pytest.approx(0.8)} == step["concept_activations"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}\n", "Line 1: "),
        (lines(ROWS[:2]) + "\nnonsense\n", "Line 4: 'nonsense' is no JSON"),
        (lines(ROWS[:1]) + "[1]\n", "Line 2: '[1]' is no JSON object"),
        ('{"event_type": "smell", "content": "x"}\n', "'smell'"),
        ('{"event_type": "input", "content": 7}\n', "Line 1: content must be a string, not 7"),
        (
            "\n" + lines(ROWS[:2]) + '\n{"event_type": "input", "content": 7}\n',
            "Line 5: content must be a string, not 7",
        ),
        (b'{"event_type": "input", "content": "\xff"}\n', "Line 1: "),
        ("[" * 100_000, "Line 1: "),
    ],
)
def test_a_line_that_cannot_be_recorded_is_named_and_nothing_of_it_stays(tmp_path, text, words):
    ran = pipe(tmp_path, text, "xdb", "record", "--session", "monday")

    assert (2, "", True) == (ran.code, ran.out, words in ran.err)
    assert 1 == len(ran.err.splitlines())
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("args", [("--follow",), ()])
@pytest.mark.parametrize("more", [(), ("--max-context-tokens", "9000"), ("--compaction",)])
def test_what_is_refused_begins_no_session_and_changes_none(run, tmp_path, args, more):
    for other in ("there", "ended"):
        assert 0 == run("xdb", "record", "x", "--session", other, *(["--end"] * (other == "ended"))).code
    before = run("xdb", "sessions", "--json").data

    for session in ("new", "there", "ended"):
        assert 2 == pipe(tmp_path, "nonsense\n", "xdb", "record", "--session", session, *args, *more).code

    assert before == run("xdb", "sessions", "--json").data


@pytest.mark.parametrize("bad", ["nonsense", '{"event_type": "input", "content": 7}'])
def test_of_what_follows_all_lines_before_a_bad_one_stay(tmp_path, bad):
    ran = pipe(tmp_path, f"{lines(ROWS[:2])}\n{bad}\n", "xdb", "record", "--session", "live", "--follow")

    assert (2, True) == (ran.code, "Line 4: " in ran.err and "2 timesteps before it stay" in ran.err)
    assert [row["content"] for row in ROWS[:2]] == stored(tmp_path)


def test_a_program_that_goes_on_writing_is_recorded_as_it_writes(tmp_path):
    hexad.init(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "xdb", "record", "--session", "live", "--follow"],
        cwd=tmp_path,
        env={**os.environ, "HEXAD_EMBEDDER": "none", "PYTHONWARNINGS": "error"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(lines(ROWS[:2]) + lines(ROWS[2:3])[:20])
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and 2 > len(stored(tmp_path)):
        time.sleep(0.1)
    assert ["When does the ferry leave?", "At"] == stored(tmp_path)

    process.stdin.write(lines(ROWS[2:3])[20:] + "\nnonsense\n")
    _, told = process.communicate(timeout=60)

    assert (2, True) == (process.returncode, "Line 5: 'nonsense' is no JSON" in told)
    assert "3 timesteps before it stay" in told
    assert [row["content"] for row in ROWS[:3]] == stored(tmp_path)


def stored(folder: Path) -> list[str]:
    with hexad.open(folder, embedder=None, background=False, readonly=True) as hx:
        if not hx.xdb.sessions():
            return []
        return [step.content for step in hx.xdb.recall(session_id="live")]


def test_what_follows_to_its_end_is_all_there(tmp_path):
    many = [{"event_type": "output", "content": f" w{number}"} for number in range(10_000)]

    done = pipe(
        tmp_path, lines(many)[:-1], "xdb", "record", "--session", "live", "--follow", "--end", "--json"
    ).data

    assert (10_000, "ts-live-1", "ts-live-10000", True) == (
        done["recorded"],
        done["first_id"],
        done["last_id"],
        done["ended"],
    )


# Looking ----------------------------------------------------------------------------------------------------


def test_sessions_are_listed_with_what_is_in_them(monday):
    monday("xdb", "end", "monday")
    monday("xdb", "record", "Bye.", "--session", "tuesday")

    table = monday("xdb", "sessions").out.splitlines()
    listed = monday("xdb", "sessions", "--json").data

    assert ["session", "begun", "ended"] == table[0].split()[:3]
    assert (
        ["monday", "tuesday"] == [line.split()[0] for line in table[1:]] == [entry["id"] for entry in listed]
    )
    assert (6, 1) == tuple(entry["last_tick"] for entry in listed)
    assert (False, True) == tuple(entry["ended_at"] is None for entry in listed)


def test_of_many_sessions_the_last_are_listed(run):
    for name in ("a", "b", "c", "d"):
        run("xdb", "record", "x", "--session", name)
    run("xdb", "end", "b")

    def listed(*args: str) -> list[str]:
        return [session["id"] for session in run("xdb", "sessions", *args, "--json").data]

    assert (["c", "d"], ["b"], []) == (
        listed("--limit", "2"),
        listed("--limit", "1", "--offset", "2"),
        listed("--offset", "9"),
    )
    assert ["a", "c", "d"] == listed("--running")
    assert "2 sessions before these" in run("xdb", "sessions", "--limit", "2").err
    assert ["c", "d"] == [
        window["session_id"] for window in run("xdb", "context", "--limit", "2", "--json").data
    ]


@pytest.mark.row("H004")
@pytest.mark.parametrize(
    ("args", "contents"),
    [
        ((), [row["content"] for row in ROWS]),
        (("noon",), [" noon"]),
        (("--ticks", "2-3"), ["At", " noon"]),
        (("--ticks", "6"), ["timetable(day='Friday')"]),
        (
            ("--type", "input", "--type", "tool_call"),
            ["When does the ferry leave?", "timetable(day='Friday')"],
        ),
        (("--event", "call-1"), ["timetable(day='Friday')"]),
        (("--concept", "pack::Time:0"), ["At", " noon", " on", " Friday."]),
        (("--concept", "pack::Time"), [" on", " Friday."]),
        (("--concept", "pack::Time:0.5"), [" on", " Friday."]),
        (("--concept", "pack::Time:0.3:0.7"), [" noon", " on"]),
        (("--concept", "Tide: high:", "--ticks", "1-2"), ["At"]),
        (("--concept", "pack::Time:-inf:0.3"), ["At"]),
        (("--since", "2026-01-05T09:00:03Z", "--until", "2026-01-06"), [" on", " Friday."]),
        (("--since", "2026-01-06"), ["timetable(day='Friday')"]),
        (("--until", "2026-01-05T09:00:01Z"), ["When does the ferry leave?"]),
        (("--limit", "2", "--offset", "1"), ["At", " noon"]),
        (("--session", "monday", "--type", "steering"), []),
        (("--strongest", "--concept", "pack::Time:0.4"), [" Friday.", " on", " noon"]),
    ],
)
def test_timesteps_are_found_by(monday, args, contents):
    ran = monday("xdb", "recall", "--tokens", *args, "--json")

    assert (0, contents) == (ran.code, [step["content"] for step in ran.data])


@pytest.mark.row("H004")
@pytest.mark.parametrize(
    ("args", "contents"),
    [
        ((), ["When does the ferry leave?", "At noon on Friday.", "timetable(day='Friday')"]),
        (("noon", "friday"), ["At noon on Friday."]),
        (("fri",), ["At noon on Friday.", "timetable(day='Friday')"]),
        (('"noon on"',), ["At noon on Friday."]),
        (("friday", "--type", "tool_call"), ["timetable(day='Friday')"]),
        (("--concept", "pack::Time:0.7"), ["At noon on Friday."]),
        (("--ticks", "3"), ["At noon on Friday."]),
        (("desert",), []),
    ],
)
def test_events_are_found_whole_by(monday, args, contents):
    ran = monday("xdb", "recall", *args, "--json")

    assert (0, contents) == (ran.code, [event["content"] for event in ran.data])


def test_a_session_is_read_as_a_transcript(monday):
    shown = monday("xdb", "show", "monday").out.splitlines()

    assert [
        "── monday  2026-01-05 UTC ──",
        "#1  09:00:00  user · input · hot",
        "    When does the ferry leave?",
        "#2–5  09:00:01  assistant · output · reply-1 · 4 timesteps · hot",
        "    At noon on Friday.",
        "── monday  2026-01-06 UTC ──",
        "#6  10:00:00  tool_call · call-1 · hot",
        "    timetable(day='Friday')",
    ] == shown
    assert ["At", " noon"] == [
        step["content"]
        for step in monday("xdb", "show", "monday", "--tokens", "--ticks", "2-3", "--json").data
    ]
    assert "--offset" in monday("xdb", "show", "monday", "--limit", "1").err


def test_timesteps_show_as_a_table(monday):
    head, *rows = monday("xdb", "recall", "--tokens", "--event", "reply-1").out.splitlines()

    assert ["tick", "time", "type", "role", "event", "detail", "content", "concepts"] == head.split()
    assert 4 == len(rows)
    assert "2     09:00:01  output  assistant  reply-1  hot     At" in rows[0]
    assert rows[3].endswith("Time 0.80, high 0.50") or "Time 0.80" in rows[3]


# Tags and comments ------------------------------------------------------------------------------------------


@pytest.mark.row("H004")
def test_what_is_tagged_is_found_by_its_tags_until_they_are_taken_away(monday):
    done = monday("xdb", "tag", "Useful", "--event", "reply-1", "--session", "monday", "--json").data
    monday(
        "xdb", "tag", "odd", "--ticks", "3-4", "--session", "monday", "--confidence", "0.5", "--note", "Why?"
    )
    monday("xdb", "tag", "odd", "--timestep", "ts-monday-6")

    both = monday("xdb", "recall", "--tokens", "--tag", "useful", "--tag", "odd", "--json").data
    either = monday("xdb", "recall", "--tokens", "--tag", "useful", "--tag", "odd", "--any", "--json").data

    assert ("Useful", "custom") == (done["tag"]["name"], done["tag"]["tag_type"])
    assert ([3, 4], [2, 3, 4, 5, 6]) == ([step["tick"] for step in both], [step["tick"] for step in either])
    on_three = monday("xdb", "tags", "ts-monday-3", "--json").data
    assert [("Useful", "event", None), ("odd", "range", "Why?")] == [
        (use["tag"], use["target_type"], use["note"]) for use in on_three
    ]
    assert "0.50" in monday("xdb", "tags", "ts-monday-3").out

    assert {"id": done["id"], "removed": True} == monday("xdb", "untag", done["id"], "--json").data
    assert [] == monday("xdb", "recall", "--tokens", "--tag", "useful", "--json").data


def test_a_tag_or_a_concept_that_is_not_there_is_named(monday):
    for option, said in (("--tag", "no tag 'nobody'"), ("--concept", "a concept 'nobody'")):
        ran = monday("xdb", "recall", option, "nobody")
        assert (0, "", True) == (ran.code, ran.out, said in ran.err)


def test_what_surprised_is_found_by_its_own_option(monday):
    monday("xdb", "tag", "confusing", "--timestep", "ts-monday-4")

    assert [4] == [step["tick"] for step in monday("xdb", "recall", "--surprising", "--json").data]


@pytest.mark.row("H004")
def test_a_comment_is_made_changed_listed_and_removed(monday):
    entry = monday(
        "xdb", "comment", "Check the timetable.", "--ticks", "2-5", "--session", "monday", "--json"
    ).data
    monday("xdb", "comment", "A good answer.", "--event", "reply-1", "--session", "monday")
    edited = monday("xdb", "comment", "--edit", entry["id"], "It was checked.", "--json").data

    assert ("It was checked.", 2, 5) == (edited["content"], edited["range_start"], edited["range_end"])
    listed = monday("xdb", "comments", "--session", "monday", "--json").data
    assert ["It was checked.", "A good answer."] == [comment["content"] for comment in listed]
    assert [] == monday("xdb", "comments", "--session", "monday", "--ticks", "6", "--json").data
    assert "monday, ticks 2–5" in monday("xdb", "comments", "--session", "monday").out

    refused = monday("xdb", "uncomment", entry["id"])
    assert (2, True) == (refused.code, "--yes" in refused.err and "--dry-run" in refused.err)
    assert "It was checked." in monday("xdb", "uncomment", entry["id"], "--dry-run").err
    assert 2 == len(monday("xdb", "comments", "--session", "monday", "--json").data)
    assert 0 == monday("xdb", "uncomment", entry["id"], "--yes").code
    assert 1 == len(monday("xdb", "comments", "--session", "monday", "--json").data)


# Buds -------------------------------------------------------------------------------------------------------


def test_a_bud_is_created_fed_and_moved(monday):
    made = monday(
        "xdb", "bud", "create", "ferry times", "When ferries leave.", "--concept", "pack::Time", "--json"
    )
    monday("xdb", "tag", "ferry times", "--event", "reply-1", "--session", "monday")

    assert ("bud", "collecting") == (made.data["tag_type"], made.data["bud_status"])
    examples = monday("xdb", "bud", "examples", "Ferry Times", "--json").data
    assert [2, 3, 4, 5] == [step["tick"] for step in examples]
    assert "ready" == monday("xdb", "bud", "ready", made.data["id"], "--json").data["bud_status"]
    assert ["ferry times"] == [
        tag["name"] for tag in monday("xdb", "buds", "--status", "ready", "--json").data
    ]
    assert "abandoned" in monday("xdb", "bud", "status", "ferry times", "abandoned").out
    assert [] == monday("xdb", "buds", "--status", "ready", "--json").data


def test_a_tag_becomes_a_bud_with_what_it_is_on(monday):
    monday("xdb", "tag", "tides", "--timestep", "ts-monday-2")
    refused = monday("xdb", "bud", "examples", "tides")

    assert (2, True) == (refused.code, "hexad xdb bud promote" in refused.err)
    assert "collecting" == monday("xdb", "bud", "promote", "tides", "--json").data["bud_status"]
    assert [2] == [step["tick"] for step in monday("xdb", "bud", "examples", "tides", "--json").data]


# The folksonomy ---------------------------------------------------------------------------------------------


@pytest.fixture
def packed(monday, tmp_path):
    (tmp_path / "sea.json").write_text(
        json.dumps(
            {
                "pack": "sea",
                "version": "1",
                "concepts": [
                    {"term": "Water", "definition": "What the sea is made of."},
                    {"term": "Tide", "parents": ["Water"], "aliases": ["ebb and flow"], "related": ["Moon"]},
                    {"term": "Spring tide", "parents": ["Tide"]},
                    {"term": "Moon", "parents": ["Nowhere"]},
                ],
            }
        )
    )
    assert 0 == monday("tags", "load-pack", "sea.json").code
    return monday


@pytest.mark.row("H145")
def test_concepts_are_browsed_from_the_top_down(packed):
    assert ["sea::Moon", "sea::Water"] == [tag["id"] for tag in packed("tags", "browse", "--json").data]
    assert ["sea::Tide"] == [tag["id"] for tag in packed("tags", "browse", "Water", "--json").data]
    deep = packed("tags", "browse", "sea::Water", "--depth", "2", "--json").data
    assert [(0, "Tide"), (1, "Spring tide")] == [(tag["depth"], tag["name"]) for tag in deep]
    assert "\n  Spring tide  sea::Spring tide" in packed("tags", "browse", "sea::Water", "--depth", "2").out


@pytest.mark.row("H146")
def test_concepts_are_found_by_term_and_alias(packed):
    assert ["Tide", "Spring tide"] == [
        tag["name"] for tag in packed("tags", "concepts", "tide", "--json").data
    ]
    assert "Tide" == packed("tags", "concepts", "ebb and flow", "--json").data[0]["name"]
    nothing = packed("tags", "concepts", "desert")
    assert (0, "", True) == (nothing.code, nothing.out, "desert" in nothing.err)


def test_a_pack_says_what_loading_it_did(packed):
    again = packed("tags", "load-pack", "sea.json", "--json").data

    assert (4, True, ["sea::Moon"]) == (again["concepts"], again["unchanged"], again["orphans"])
    assert 3 == packed("tags", "load-pack", "nowhere").code


def test_a_tag_is_shown_with_what_it_is_on_and_what_is_near(packed):
    packed("xdb", "tag", "sea::Tide", "--timestep", "ts-monday-2", "--note", "The tide.")

    shown = packed("tags", "show", "tide", "--json").data
    text = packed("tags", "show", "tide").out

    assert (["sea::Water"], ["sea::Spring tide"]) == (shown["parents"], shown["children"])
    assert [{"id": "sea::Moon", "relation": "related"}] == shown["related"]
    assert ["ts-monday-2"] == [use["timestep_id"] for use in shown["applications"]]
    assert "parents: Water" in text and "Moon (related)" in text and "The tide." in text
    assert 3 == packed("tags", "show", "nobody").code


def test_tags_are_created_listed_and_found(packed):
    made = packed(
        *("tags", "create", "Ada", "--type", "entity", "--entity-type", "person"),
        *("--description", "Who asks.", "--json"),
    ).data
    packed("tags", "create", "to do")
    packed("tags", "create", "Salt", "--type", "concept", "--concept-id", "mine::Salt")

    assert ("entity", "person", "Who asks.") == tuple(
        made[k] for k in ("tag_type", "entity_type", "description")
    )
    assert ["Ada"] == [
        tag["name"] for tag in packed("tags", "list", "--entity-type", "person", "--json").data
    ]
    assert ["to do"] == [tag["name"] for tag in packed("tags", "list", "--type", "custom", "--json").data]
    assert ["Spring tide", "Tide"] == [tag["name"] for tag in packed("tags", "find", "tide", "--json").data]
    assert ["to do"] == [tag["name"] for tag in packed("tags", "find", "to*", "--json").data]
    assert [] == packed("tags", "show", "Salt", "--json").data["parents"]
    assert "id" in packed("tags", "list").out.splitlines()[0]


def test_a_tag_is_removed_with_its_uses_only_when_that_is_meant(packed):
    packed("xdb", "tag", "useful", "--timestep", "ts-monday-2")
    packed("tags", "create", "idle")

    refused = packed("tags", "remove", "useful")
    assert (4, True) == (refused.code, "--force" in refused.err)
    unasked = packed("tags", "remove", "useful", "--force")
    assert (2, True) == (unasked.code, "'useful' with 1 use" in unasked.err)
    planned = packed("tags", "remove", "useful", "--force", "--dry-run", "--json").data
    assert (1, True) == (planned["uses"], planned["dry_run"])
    assert [2] == [
        step["tick"] for step in packed("xdb", "recall", "--tokens", "--tag", "useful", "--json").data
    ]

    assert 1 == packed("tags", "remove", "useful", "--force", "--yes", "--json").data["uses"]
    assert 0 == packed("tags", "remove", "idle").code
    assert [] == packed("tags", "list", "--type", "custom", "--json").data
    assert 4 == packed("tags", "remove", "sea::Tide", "--force", "--yes").code


# Documents --------------------------------------------------------------------------------------------------


@pytest.fixture
def toned(run, tmp_path):
    (tmp_path / "tone.md").write_text("Answer briefly.\n")
    stored = run(
        *("docs", "add", "tone.md", "--type", "system_instruction", "--path", "style/tone.md"),
        *("--tag", "style", "--summary", "How to answer."),
    )
    assert 0 == stored.code
    return run


@pytest.mark.row("H150")
def test_a_document_is_stored_shown_listed_and_found(toned):
    assert "Answer briefly.\n" == toned("docs", "show", "style/tone.md").out
    listed = toned("docs", "list", "--json").data
    assert [("style/tone.md", "system_instruction", ["style"], "tone.md")] == [
        (entry["path"], entry["doc_type"], entry["tags"], entry["source"]) for entry in listed
    ]
    assert [] == toned("docs", "list", "--type", "reference", "--json").data
    for args in (("answering", "briefly"), ("--tag", "style"), ("briefly", "--type", "system_instruction")):
        assert ["style/tone.md"] == [match["path"] for match in toned("docs", "search", *args, "--json").data]
    assert [] == toned("docs", "search", "harbour", "--json").data
    assert "How to answer." in toned("docs", "list").out


@pytest.mark.row("H150")
def test_a_document_keeps_what_it_said_before(toned, tmp_path):
    updated = pipe(
        tmp_path, "Answer kindly.\n", "docs", "update", "style/tone.md", "--version-name", "kind", "--json"
    )

    assert ("kind", 2) == (updated.data["version"], updated.data["revision"])
    assert ["1", "kind"] == [
        version["version"] for version in toned("docs", "versions", "style/tone.md", "--json").data
    ]
    assert "Answer briefly.\n" == toned("docs", "show", "style/tone.md", "--revision", "1").out
    missing = toned("docs", "show", "style/tone.md", "--revision", "7")
    assert (3, True) == (missing.code, "it has: 1, kind" in missing.err)


def test_nothing_piped_in_does_not_make_a_document_empty(toned, tmp_path):
    refused = pipe(tmp_path, "", "docs", "update", "style/tone.md")

    assert (2, True) == (refused.code, "--allow-empty" in refused.err)
    assert "Answer" in toned("docs", "show", "style/tone.md").out
    assert 0 == pipe(tmp_path, "", "docs", "update", "style/tone.md", "--allow-empty").code
    assert "" == toned("docs", "show", "style/tone.md").out.strip()


def test_a_path_that_a_document_has_is_not_given_to_another(toned, tmp_path):
    refused = pipe(tmp_path, "Other.", "docs", "add", "--name", "t", "--path", "style/tone.md")

    assert (4, True) == (refused.code, "is at 'style/tone.md' already; `hexad docs update`" in refused.err)


def test_a_document_is_removed_brought_back_and_purged(toned):
    assert "would be removed" in toned("docs", "remove", "style/tone.md", "--dry-run").out
    gone = toned("docs", "remove", "style/tone.md")
    assert (0, True, 3) == (
        gone.code,
        "hexad docs restore" in gone.err,
        toned("docs", "show", "style/tone.md").code,
    )
    assert "style/tone.md" in toned("docs", "removed").out
    assert "style/tone.md" == toned("docs", "restore", "style/tone.md", "--json").data["path"]
    assert "Answer briefly.\n" == toned("docs", "show", "style/tone.md").out

    refused = toned("docs", "remove", "style/tone.md", "--purge")
    assert (2, True) == (refused.code, "--yes" in refused.err and "--dry-run" in refused.err)
    assert "Answer briefly.\n" == toned("docs", "show", "style/tone.md").out
    assert toned("docs", "remove", "style/tone.md", "--purge", "--yes", "--json").data["purged"]
    assert (4, True) == ((ran := toned("docs", "restore", "style/tone.md")).code, "purged" in ran.err)


def test_working_copies_are_compared_taken_in_and_written_anew(toned, tmp_path):
    copy = tmp_path / ".hexad/documents/system_instructions/style/tone.md"
    copy.write_text("Answer at length.\n")

    assert "changed" == toned("docs", "copies").out.split()[0]
    refused = toned("docs", "update", "style/tone.md", "tone.md")
    assert 0 == refused.code or "--read" in refused.err
    (tmp_path / "other.md").write_text("Answer in verse.\n")
    refused = toned("docs", "update", "style/tone.md", "other.md")
    assert (4, True) == (refused.code, "hexad docs copies --read" in refused.err)
    assert ["style/tone.md"] == toned("docs", "copies", "--read", "--json").data["updated"]
    assert "Answer at length.\n" == toned("docs", "show", "style/tone.md").out

    copy.write_text("Scribble.\n")
    refused = toned("docs", "copies", "--write")
    assert (2, "Scribble.\n") == (refused.code, copy.read_text())
    planned = toned("docs", "copies", "--write", "--dry-run", "--json").data
    assert (1, True) == (len(planned["written"]), planned["dry_run"])
    assert 0 == toned("docs", "copies", "--write", "--yes").code
    assert "Answer at length.\n" == copy.read_text()


def test_a_document_may_be_piped_in_under_a_name(tmp_path):
    stored = pipe(tmp_path, "Use tabs.\n", "docs", "add", "--name", "tabs.md", "--json").data

    assert ("tabs.md", "reference", "Use tabs.\n") == tuple(
        stored[k] for k in ("path", "doc_type", "content")
    )
    unnamed = pipe(tmp_path, "Use tabs.\n", "docs", "add")
    assert (2, True) == (unnamed.code, "--name" in unnamed.err)


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("xdb", "end", "sunday"), 3, "'sunday'"),
        (("xdb", "sessions", "--limit", "0"), 2, "0"),
        (("xdb", "context", "--limit", "0"), 2, "0"),
        (("xdb", "show", "sunday", "--tokens"), 3, "'sunday'"),
        (("xdb", "record", "x"), 2, "--session"),
        (("xdb", "record", "x", "--session", "monday", "--follow"), 2, "--follow"),
        (("xdb", "record", "x", "--session", "*"), 2, "'*'"),
        (("xdb", "record", "x", "--session", "monday", "--type", "smell"), 2, "'smell'"),
        (("xdb", "record", "x", "--session", "monday", "--concept", "pack::Time"), 2, "pack::Time:0.8"),
        (("xdb", "record", "x", "--session", "monday", "--tokens", "-1"), 2, "--tokens -1"),
        (("xdb", "recall", "--tokens", "--ticks", "x"), 2, "'x' is no range of ticks"),
        (("xdb", "recall", "--tokens", "--ticks", "9-3"), 2, "'9-3' ends before it begins"),
        (("xdb", "recall", "--tokens", "--concept", "a:0.9:0.1"), 2, "'a:0.9:0.1'"),
        (("xdb", "recall", "--tokens", "--since", "soon"), 2, "'soon'"),
        (("xdb", "recall", "--tokens", "--since", "2026-02-01", "--until", "2026-01-01"), 2, "2026-02-01"),
        (("xdb", "recall", "--tokens", "--type", "smell"), 2, "'smell'"),
        (("xdb", "recall", "--tokens", "--limit", "0"), 2, "--limit 0"),
        (("xdb", "recall", "--tokens", "--limit", "1000000"), 2, "100,000"),
        (("xdb", "recall", "--tokens", "--offset", "-1"), 2, "--offset -1"),
        (("xdb", "recall", "--tokens", "--session", "sunday"), 3, "'sunday'"),
        (("xdb", "recall", "--strongest"), 2, "--concept"),
        (("xdb", "recall", "--strongest", "--concept", "a", "--event", "e"), 2, "--limit"),
        (("xdb", "recall", "--surprising", "--tag", "x"), 2, "--session and --limit"),
        (("xdb", "tag", "x"), 2, "exactly one of --timestep, --event and --ticks"),
        (("xdb", "tag", "x", "--timestep", "ts-monday-1", "--event", "e"), 2, "--timestep and --event given"),
        (("xdb", "tag", "x", "--event", "reply-1"), 2, "--event needs --session"),
        (("xdb", "tag", "x", "--timestep", "ts-monday-99"), 3, "'ts-monday-99'"),
        (("xdb", "tag", "x", "--timestep", "monday"), 2, "'monday' is no timestep"),
        (("xdb", "tag", "x", "--event", "none", "--session", "monday"), 3, "'none'"),
        (("xdb", "tag", "x", "--ticks", "1-2", "--session", "sunday"), 3, "'sunday'"),
        (("xdb", "tag", "x", "--timestep", "ts-monday-1", "--confidence", "2"), 2, "--confidence 2"),
        (("xdb", "tag", " ", "--timestep", "ts-monday-1"), 2, "name"),
        (("xdb", "untag", "ta_none"), 3, "'ta_none'"),
        (("xdb", "tags", "nothing"), 2, "'nothing' is no timestep"),
        (("xdb", "comment"), 2, "TEXT"),
        (("xdb", "comment", "x"), 2, "exactly one"),
        (("xdb", "comment", "", "--timestep", "ts-monday-1"), 2, "needs a text"),
        (("xdb", "comment", "x", "--edit", "comment_none"), 3, "comment_none"),
        (("xdb", "comment", "x", "--edit", "c", "--timestep", "ts-monday-1"), 2, "leave the target out"),
        (("xdb", "uncomment", "comment_none", "--yes"), 3, "comment_none"),
        (("xdb", "comments"), 2, "--session"),
        (("xdb", "comments", "--session", "sunday"), 3, "'sunday'"),
        (("xdb", "buds", "--status", "asleep"), 2, "'asleep'"),
        (("xdb", "bud", "create", "", "x"), 2, "name"),
        (("xdb", "bud", "promote", "nobody"), 3, "hexad tags list"),
        (("xdb", "bud", "ready", "nobody"), 3, "hexad tags list"),
        (("xdb", "bud", "status", "nobody", "ready"), 3, "hexad tags list"),
        (("xdb", "bud", "examples", "nobody"), 3, "hexad tags list"),
        (("tags", "list", "--limit", "0"), 2, "--limit 0"),
        (("tags", "find", "x", "--type", "smell"), 2, "'smell'"),
        (("tags", "show", "nobody"), 3, "'nobody'"),
        (("tags", "create", "x", "--type", "concept"), 2, "--concept-id"),
        (("tags", "create", "x", "--entity-type", "person"), 2, "--entity-type"),
        (("tags", "browse", "nobody"), 3, "'nobody'"),
        (("tags", "browse", "--depth", "99"), 2, "99"),
        (("tags", "concepts", "x", "--limit", "0"), 2, "--limit 0"),
        (("tags", "load-pack", "missing.json"), 3, "missing.json"),
        (("docs", "show", "none.md"), 3, "'none.md'"),
        (("docs", "add", "missing.md"), 3, "no file 'missing.md'"),
        (("docs", "add", "fine.md", "--name", ""), 2, "of a document"),
        (("xdb", "recall", "--session", ""), 3, "''"),
        (("xdb", "recall", "--tokens", "--session", ""), 3, "''"),
        (("xdb", "activity", "--session", ""), 3, "''"),
        (("xdb", "compactions", "--session", ""), 3, "''"),
        (("xdb", "compressed", "--session", ""), 3, "''"),
        (("xdb", "windows", "--session", ""), 3, "''"),
        (("docs", "add", "binary"), 2, "'binary' is no UTF-8"),
        (("docs", "add", "fine.md", "--path", "../up"), 2, "'../up'"),
        (("docs", "update", "none.md", "fine.md"), 3, "'none.md'"),
        (("docs", "versions", "none.md"), 3, "'none.md'"),
        (("docs", "remove", "none.md"), 3, "'none.md'"),
        (("docs", "remove", "none.md", "--purge", "--yes"), 3, "'none.md'"),
        (("docs", "restore", "none.md"), 3, "'none.md'"),
        (("tags", "remove", "nobody"), 3, "'nobody'"),
        (("xdb", "show", "sunday"), 3, "'sunday'"),
        (("xdb", "recall", "ferry", "--limit", "0"), 2, "--limit 0"),
        (("xdb", "recall", "ferry", "--session", "sunday"), 3, "'sunday'"),
        (("xdb", "activity", "--by", "year"), 2, "'year'"),
        (("xdb", "activity", "--session", "sunday"), 3, "'sunday'"),
        (("xdb", "activity", "--since", "soon"), 2, "'soon'"),
        (("xdb", "activity", "--measure", "taste"), 2, "'taste'"),
        (("docs", "search", "x", "--limit", "0"), 2, "--limit 0"),
        (("docs", "copies", "--read", "--write"), 2, "give one of them"),
        (("docs", "copies", "--dry-run"), 2, "--write"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_refused_with_the_value_and_nothing_changes(
    monday, tmp_path, args, code, words
):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "fine.md").write_text("Fine.\n")
    before = monday("xdb", "state", "--json").data

    ran = monday(*args)

    assert (code, True) == (ran.code, words in ran.err)
    assert 1 == len(ran.err.splitlines())
    assert before == monday("xdb", "state", "--json").data
    told = json.loads(monday(*args, "--json").err)
    assert words in told["error"]["message"]


@pytest.mark.parametrize(
    "args",
    [("xdb", "sessions"), ("xdb", "recall"), ("xdb", "state"), ("tags", "list"), ("docs", "list")],
    ids=" ".join,
)
def test_a_folder_without_a_store_has_no_experience_and_gets_none(run, tmp_path, args):
    ran = run(*args)

    assert (3, [], True) == (ran.code, [*tmp_path.iterdir()], "hexad init" in ran.err)


def test_control_characters_of_what_was_recorded_do_not_reach_the_terminal(run):
    run(
        "xdb",
        "record",
        "red \x1b[31m alert \x1b]0;owned\x07",
        "--session",
        "a\x1b[2Jb",
        "--event",
        "e\x1b[1m",
    )
    run("xdb", "comment", "bell \x07", "--session", "a\x1b[2Jb", "--event", "e\x1b[1m")

    for args in (("sessions",), ("recall", "--tokens"), ("comments", "--session", "a\x1b[2Jb")):
        ran = run("xdb", *args)
        assert (0, False, False) == (ran.code, "\x1b" in ran.out + ran.err, "\x07" in ran.out)


# Completion -------------------------------------------------------------------------------------------------


def complete(folder: Path, *words: str) -> list[str]:
    """Return what bash is offered for the last word."""
    done = command(
        cwd=folder,
        env={
            **os.environ,
            "HEXAD_EMBEDDER": "none",
            "_HEXAD_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("hexad", *words)),
            "COMP_CWORD": str(len(words)),
        },
    )
    assert "Traceback" not in done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_a_shell_completes_commands_options_and_what_is_in_the_store(packed, tmp_path):
    packed("xdb", "tag", "useful", "--timestep", "ts-monday-2")
    packed("xdb", "bud", "create", "ferries", "x")
    (tmp_path / "a.md").write_text("x")
    packed("docs", "add", "a.md", "--path", "guides/a.md")

    assert ["tag", "tags"] == complete(tmp_path, "xdb", "tag")
    assert ["--strongest"] == complete(tmp_path, "xdb", "recall", "--str")
    assert ["monday"] == complete(tmp_path, "xdb", "show", "mo")
    assert ["monday"] == complete(tmp_path, "xdb", "recall", "--session", "m")
    assert ["useful"] == complete(tmp_path, "xdb", "tag", "us")
    assert ["ferries"] == complete(tmp_path, "xdb", "bud", "ready", "f")
    assert ["sea::Tide"] == complete(tmp_path, "tags", "browse", "sea::T")
    assert ["guides/a.md"] == complete(tmp_path, "docs", "show", "gu")
    assert [] == complete(tmp_path.parent, "xdb", "show", "mo")
