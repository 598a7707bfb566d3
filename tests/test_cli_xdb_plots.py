"""Plots of experience in a real terminal: as wide as it is, in colours where it has some, plain in a pipe."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.cli.output.render import columns
from programs import command, command_on_terminal

COLOR = re.compile(r"\x1b\[[0-9;]*m")
START = datetime(2026, 1, 5, 8, tzinfo=UTC)
PLOTS = (("usage",), ("activity",), ("context",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A store with two days of two sessions: a concept that grows, one that falls, and one in a single hour."""
    path = tmp_path_factory.mktemp("plots")
    with hexad.open(path, embedder=None, background=False) as hx:
        for day, session in enumerate(("monday", "tuesday")):
            hx.xdb.start_session(session, 20_000)
            hx.xdb.record_many(
                {
                    "event_type": "output",
                    "content": f" word {step}",
                    "event_id": f"e{step}",
                    "token_count": 5 + step,
                    "timestamp": START + timedelta(days=day, hours=step),
                    "concept_activations": {
                        "sea::Tide": 0.1 + step / 12,
                        "sea::Ebb": 1.0 - step / 12,
                        **({"sea::Storm": 0.7} if step == 4 else {}),
                    },
                }
                for step in range(10)
            )
        hx.xdb.pin_window((1, 3), session_id="monday")
    return path


def environment(**variables: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES", "NO_COLOR") and not name.startswith("HEXAD_")
    }
    known = {
        "TERM": "xterm-256color",
        "HEXAD_EMBEDDER": "none",
        "PYTHONWARNINGS": "error",
        "LC_ALL": "C.UTF-8",
    }
    return {**kept, **known, **variables}


def on_terminal(
    folder: Path, width: int, *args: str, group: tuple[str, ...] = ("xdb",), **variables: str
) -> list[str]:
    """Run a command in a terminal of so many columns, and return the lines that it wrote there."""
    # Its other output is no terminal: there go notes, and what turns while one waits.
    code, seen = command_on_terminal(
        *group, *args, width=width, cwd=folder, env=environment(**variables), on_terminal=(0, 1)
    )
    assert 0 == code, seen
    return seen.splitlines()


def piped(folder: Path, *args: str, **variables: str) -> str:
    done = command("xdb", *args, cwd=folder, env=environment(**variables))
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("args", PLOTS, ids=" ".join)
def test_a_plot_is_as_wide_as_the_terminal_and_in_colours(folder, args, width):
    lines = on_terminal(folder, width, *args)
    plain = [COLOR.sub("", line) for line in lines]

    assert all(columns(line) <= width for line in plain)
    assert width / 2 < max(map(columns, plain))
    assert plain != lines


@pytest.mark.parametrize(
    "args",
    [
        ("tags", "ts-monday-2"),
        ("recall", "--tokens", "--limit", "20"),
        ("recall", "--tokens", "--session", "monday"),
        ("comments", "--session", "monday"),
        ("windows",),
        ("sessions",),
        ("buds",),
    ],
    ids=" ".join,
)
def test_no_table_is_wider_than_the_terminal(folder, args):
    with hexad.open(folder, embedder=None, background=False) as hx:
        name = "a tag with quite a long name"
        hx.xdb.create_bud_tag("a bud with quite a long name", "Something that is said at length, and more.")
        for target in ({"timestep_id": "ts-monday-2"}, {"event_id": "e1", "session_id": "monday"}):
            hx.xdb.tag(name, note="A note that says why it was put on this one, at length.", **target)

    lines = [COLOR.sub("", line) for line in on_terminal(folder, 80, *args)]
    assert max(map(columns, lines), default=0) <= 80
    if args[0] == "tags":
        lines = [COLOR.sub("", line) for line in on_terminal(folder, 80, "tags", "show", name, group=())]
        assert "ta_" in lines[-1] and max(map(columns, lines)) <= 80


@pytest.mark.parametrize("args", PLOTS, ids=" ".join)
def test_a_plot_says_the_same_without_colours(folder, args):
    colored = on_terminal(folder, 80, *args)

    assert [COLOR.sub("", line).rstrip() for line in colored] == [
        line.rstrip() for line in on_terminal(folder, 80, *args, NO_COLOR="1")
    ]
    assert "\x1b" not in "".join(on_terminal(folder, 80, "--no-color", *args))


@pytest.mark.parametrize("args", PLOTS, ids=" ".join)
def test_a_plot_in_a_pipe_is_plain_text(folder, args):
    text = piped(folder, *args)

    assert "\x1b" not in text
    assert all(columns(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("args", PLOTS, ids=" ".join)
def test_where_there_are_no_block_characters_a_plot_is_ascii(folder, args):
    assert piped(folder, *args, PYTHONIOENCODING="ascii", PYTHONUTF8="0").isascii()


def test_activity_shows_columns_and_a_row_for_each_concept(folder):
    lines = piped(folder, "activity", "--session", "monday", "--by", "hour").splitlines()

    assert lines[0].startswith("tokens by hour  monday, 2026-01-05, 95 tokens")
    assert ["14", "8.4", "0"] == [lines[at].split("│")[0].split("└")[0].strip() for at in (1, 3, 6)]
    tide, ebb, storm = (
        next(line for line in lines if line.split("│")[0].strip() == name).split("│")[1]
        for name in ("Tide", "Ebb", "Storm")
    )
    grown, fallen = (list(dict.fromkeys(row.split("max")[0].rstrip())) for row in (tide, ebb))
    assert (list("▁▂▃▄▅▆▇"), list("█▇▆▅▄▃▂")) == (grown, fallen)
    assert {" ", "▆"} == set(storm.split("max")[0])
    assert "08:00" in lines[7] and "max 0.85" in next(line for line in lines if "Tide" in line)
    assert lines[-1].endswith("mean score; blank: nothing")


def test_activity_takes_the_unit_that_fits(folder):
    assert "tokens by hour" in piped(folder, "activity", "--session", "monday")
    assert "tokens by hour" in piped(folder, "activity")
    assert "tokens by day" in piped(folder, "activity", "--by", "day")


def test_activity_counts_what_is_asked_for_and_only_then(folder):
    row = json.loads(
        piped(folder, "activity", "--concept", "sea::Storm", "--since", "2026-01-06", "--by", "day", "--json")
    )

    assert [("2026-01-06T00:00:00Z", 10, 95)] == [(b["start"], b["timesteps"], b["tokens"]) for b in row]
    assert {"sea::Storm": {"count": 1, "mean": pytest.approx(0.7), "peak": pytest.approx(0.7)}} == row[0][
        "concepts"
    ]
    assert "times active" in piped(folder, "activity", "--measure", "count")
    assert "" == piped(folder, "activity", "--until", "2020-01-01")


def test_gaps_show_as_gaps(folder):
    row = next(
        line for line in piped(folder, "activity", "--by", "hour").splitlines() if " Tide " in f" {line} "
    )

    cells = row.split("│")[1].split("max")[0].rstrip()
    assert " " * 14 in cells
