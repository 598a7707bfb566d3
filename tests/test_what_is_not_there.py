"""What a command or a call says when what was asked for is not there: the value, and what there is instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.interfaces.cli.app import base
from hexad.interfaces.cli.output import render
from ran import Run


@pytest.mark.parametrize(
    ("filters", "note"),
    [
        ({"kinds": ["nosuch"]}, "No memory is of the kind 'nosuch'; kinds there are: note, todo."),
        ({"kinds": ["note", "nosuch"], "tags": ["nosuch"]}, "No memory has the tag 'nosuch'; tags there are: tides."),
        ({"tags": ["tide"]}, "No memory has the tag 'tide'; near it: tides."),
        ({"kinds": ["todos"]}, "No memory is of the kind 'todos'; near it: todo."),
        ({"kinds": ["todo"], "tags": ["tides"]}, "No memory passes these filters; leave one out."),
        ({"path": "nowhere/"}, "No memory passes these filters; leave one out."),
    ],
)  # fmt: skip
def test_a_recall_says_which_filter_passes_nothing(
    hx: Hexad, filters: dict[str, list[str]], note: str
) -> None:
    hx.remember("The tide is high at noon.", tags=["tides"], kind="note")
    hx.remember("The tide table hangs by the door.", tags=["tides"], kind="note")
    hx.remember("TODO: buy rope")

    hits = hx.recall("When is the tide high?", **filters)

    assert ([], (note,)) == (list(hits), hits.notes)


def test_a_store_without_tags_says_that_there_are_none(hx: Hexad) -> None:
    hx.remember("The tide is high at noon.")

    assert ("No memory has the tag 'nope'; there are no tags yet.",) == hx.recall("tide", tags=["nope"]).notes


@pytest.mark.parametrize("token", ["OPS-9999", "9.9.9", "--no-verify", "`tide_table`"])
def test_an_exact_token_that_nothing_holds_is_named_as_a_phrase_is(hx: Hexad, token: str) -> None:
    hx.remember("OPS-12 was closed at noon.")
    hx.remember("Version 8.2.0 mended the tide table.")

    note = f"No memory holds “{token.strip('`')}” as written: answered by words and meaning."

    assert note in hx.recall(f"What of {token} and of tides?").notes


def test_a_token_that_a_memory_holds_and_a_bare_number_are_not_named(hx: Hexad) -> None:
    hx.remember("OPS-12 was closed at noon, in version 8.2.0.")

    for question in ("OPS-12", "8.2.0", "What was closed 3 days ago?"):
        assert [] == [note for note in hx.recall(question).notes if note.startswith("No memory")]


def test_a_number_alone_that_nothing_holds_has_no_answer() -> None:
    with hexad.open(":memory:", background=False) as hx:
        for text in ("We deploy on Monday", "Postgres holds the orders", "Version 8.2.0 mended the crash"):
            hx.remember(text)
        hx.embed_pending()

        assert [] == list(hx.recall("9.9.9"))
        assert "Version 8.2.0 mended the crash" == hx.recall("8.2.0")[0].text
        assert 3 == len(hx.recall("9.9.9", min_relevance=0))


def test_nothing_is_said_of_filters_where_a_memory_passes_them_or_none_was_given(hx: Hexad) -> None:
    hx.remember("The tide is high at noon.", kind="note")

    for filters in ({}, {"kinds": ["note"]}, {"space": "default"}):
        assert [] == [note for note in hx.recall("Bananas?", **filters).notes if note.startswith("No memory")]


def test_the_command_line_offers_what_helps(run: Run) -> None:
    run("remember", "The tide is high at noon.")

    ran = run("recall", "tide", "--kind", "nosuch")

    assert "--min-relevance" not in ran.err
    assert "No memory is of the kind 'nosuch'; kinds there are: note." in ran.err


@pytest.mark.parametrize(("until", "order"), [("2026-01-01", "the same time as"), ("2025-01-01", "before")])
def test_times_between_which_nothing_is_are_refused_in_the_words_of_the_command(
    run: Run, until: str, order: str
) -> None:
    run("remember", "The tide is high at noon.")

    ran = run("recall", "tide", "--since", "2026-01-01", "--until", until)

    assert 2 == ran.code
    assert f"--until {until}T00:00:00+00:00 is {order} 2026-01-01T00:00:00+00:00" in ran.err
    assert "Give the earlier time as --since." in ran.err
    assert "since =" not in ran.err


def test_an_export_of_somebody_unknown_names_the_nearest(run: Run, tmp_path: Path) -> None:
    run("remember", "Ada asked for a refund.", "--data-subject", "ada@example.org")
    out = tmp_path / "export.json"

    ran = run("memory", "export", "--subject", "ada@example.com", "--out", str(out))

    assert (3, False) == (ran.code, out.exists())
    assert "No data is about 'ada@example.com', and nothing was exported" in ran.err
    assert "'ada@example.org'" in ran.err


@pytest.mark.parametrize(("limit", "used"), [(0, 5), (-4, 5), (101, 100)])
def test_a_bundle_says_which_limit_was_used_in_place_of_an_impossible_one(
    hx: Hexad, limit: int, used: int
) -> None:
    hx.remember("Retries stop after five.", space="shop", kind="guide")

    for bundle in (
        hx.recall_context("shop", "retries", limit=limit),
        hx.recall_kind("shop", "guide", limit=limit),
    ):
        assert [used] == [
            int(note.rstrip(".").split()[-1]) for note in bundle.notes if f"limit = {limit} " in note
        ]
    with pytest.raises(hexad.InvalidInput, match="Unknown option 'notes'"):
        hx.recall_context("shop", "retries", notes=("x",))


def test_todos_of_texts_and_messages_are_listed(hx: Hexad) -> None:
    hx.remember("TODO: write the report")
    hx.remember([{"role": "user", "content": "TODO: write the migration for the orders table"}])
    hx.project.remember(category="todo", key="rope", value="Buy rope.")

    assert 3 == len(hx.project.get_todos())
    assert ["rope"] == [todo.key for todo in hx.project.get_todos(space="project")]
    for todo in hx.project.get_todos():
        hx.project.done(todo.key)
    assert [] == hx.project.get_todos()


def test_a_text_of_bytes_that_are_no_utf_8_is_refused(run: Run) -> None:
    text = b"Gr\xfc\xdfe".decode("utf-8", "surrogateescape")  # as Python hands such an argument over

    ran = run("remember", text)

    assert (2, "") == (ran.code, ran.out)
    assert "byte 0xfc after 2 characters" in ran.err


def test_a_message_is_wrapped_between_words_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    message = " ".join(["remedy"] * 40)
    assert message == base.wrapped(message)

    monkeypatch.setattr(base.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    lines = ("Error: " + base.wrapped(message, "Error: ")).split("\n")

    assert 4 == len(lines)
    assert 80 >= max(map(len, lines))
    assert f"Error: {message}" == " ".join(lines)

    base.note(message)
    assert 80 >= max(map(len, capsys.readouterr().err.splitlines()))


def test_lines_are_as_wide_as_the_terminal_and_whole_elsewhere(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The crane on the northern quay of the old harbour lifts four tons, as long as the wind is weak"
    for name in ("mem_one", "mem_two"):
        run(
            "remember",
            f"{text}, says {name}.",
            "--id",
            name,
            "--path",
            f"default/{'-'.join(['harbour'] * 8)}/{name}",
        )
    run("memory", "link", "mem_one", "mem_two", "--kind", "related")
    commands = (["memory", "links", "mem_one"], ["context", "crane"])
    plain = [run(*command).out for command in commands]
    assert all(max(map(len, out.splitlines())) > 80 for out in plain)

    monkeypatch.setattr(render, "on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    for command, out in zip(commands, plain, strict=True):
        shown = run(*command).out
        assert 80 >= max(map(len, shown.splitlines()))
        assert "".join(out.split()) == "".join(shown.split())
    assert 80 >= max(
        map(len, run("remember", f"{text}!", "--path", "/".join(["harbour"] * 12)).out.splitlines())
    )


def test_the_command_names_what_is_near_and_what_it_supersedes(run: Run) -> None:
    run("remember", "The rate limit is 100.", "--id", "old")

    near = run("remember", "By the way, the rate limit's 100", "--id", "near").err
    new = run("remember", "The rate limit is 250.", "--id", "new", "--json").data["receipt"]

    assert 'Near-duplicate of "The rate limit is 100." (old, 0.' in near
    assert "both are kept." in near
    assert [] == new["near_duplicates"]
    assert ("old", "The rate limit is 100.") in [(old["id"], old["text"]) for old in new["supersedes"]]
    assert (
        'Seems to supersede "The rate limit is 250." (new, 0.'
        in run("remember", "The rate limit is 300 now.").err
    )
