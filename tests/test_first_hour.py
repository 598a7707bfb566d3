"""What somebody meets in the first hour: a closed store, a narrow terminal, a list of commands, a folder without a store."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import hexad
from hexad.core.arguments import quoted
from hexad.errors import InvalidInput
from hexad.interfaces.cli.layers import session as session_command
from hexad.interfaces.cli.memory import scopes as scopes_command
from ran import Run

GROUPS = ("", "memory", "spaces", "xdb", "session", "tags", "docs", "honeycomb", "prefs", "audit")


def narrow(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    monkeypatch.setattr(module, "table_room", lambda: 80)


def test_a_store_that_was_closed_neither_tells_nor_learns_anything_of_the_person(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None, user_dir=tmp_path / "user") as hx:
        hx.user.prefer("db", "Postgres")
        user = hx.user
        shown = hx.context("what do I prefer?", wait=True).system_items[0].item.id

    for call in (
        lambda: user.prefer("editor", "vim"),
        user.preferences,
        lambda: user.observe("Writes tests first."),
        user.learn,
        lambda: hx.expand(shown),
        lambda: hx.expand("mem_unknown"),
    ):
        with pytest.raises(InvalidInput, match="is closed; open it again"):
            call()

    with hexad.open(tmp_path, embedder=None, user_dir=tmp_path / "user") as again:
        assert ["db"] == [preference.key for preference in again.user.preferences()]


@pytest.mark.parametrize("form", ["xml", "", 3, ["toon"]])
def test_a_context_is_not_rendered_in_a_form_that_there_is_not(form: str) -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        hx.remember("We deploy on Monday.")
        found = hx.context("when do we deploy?", wait=True)
    with pytest.raises(InvalidInput, match=r"form = .* choose one of toon, json, markdown"):
        found.render(form)
    assert found.render("json").startswith("{")


def test_a_context_without_items_is_false_and_reads_as_nothing() -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        empty = hx.context("write a haiku", wait=True)
        hx.remember("We deploy on Monday.")
        context = hx.context("when do we deploy?", wait=True)

    assert (False, 0, 0) == (bool(empty), len(empty), empty.tokens)
    assert {""} == {str(empty), *(empty.render(form) for form in ("toon", "json", "markdown"))}
    assert (True, 1) == (bool(context), len(context))
    assert "Monday" in str(context)


@pytest.mark.parametrize("command", ["recall", "context", "remember"])
def test_an_argument_that_is_no_utf_8_is_refused(run: Run, command: str) -> None:
    refused = run(command, "\udcff\udcfe")

    assert 2 == refused.code
    assert "is no UTF-8: byte 0xff after 0 characters is none." in refused.err


def test_an_unknown_option_that_may_be_a_text_is_told_how_to_be_one(run: Run) -> None:
    refused = run("recall", "--no-cache")

    assert 2 == refused.code
    assert "A QUERY that begins with a dash stands after `--`: 'hexad recall -- QUERY'." in refused.err
    assert "stands after" not in run("check", "--nope").err
    run("init")
    assert 0 == run("recall", "--", "--no-cache").code


def test_a_long_value_in_a_message_is_marked_as_cut_and_its_quotation_closed() -> None:
    assert f"'{'x' * 77}…'" == quoted("x" * 500)
    assert f"'{'x' * 78}'" == quoted("x" * 78)


def test_two_notes_of_one_item_are_told_apart(tmp_path: Path) -> None:
    text = "We keep tokens in SQLite, because it is local and needs no server."
    with hexad.open(tmp_path, embedder=None) as hx:
        hx.session.start("login", steps=["tokens"])
        hx.session.add_turn("user", text)
        hx.session.end()
        hx.remember(text)
        shown = hx.context("where do we keep tokens?", wait=True).render("markdown")
    assert "that ended; also said by mem_" in shown


def test_a_session_has_its_whole_id_in_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    task = "move every order of the shop to the new database before the holidays begin, and tell support"
    begun = run("session", "start", task, "--json").data["id"]
    narrow(monkeypatch, session_command)

    lines = run("session", "list").out.splitlines()

    assert lines[1].split()[0] == begun
    assert lines[2].startswith("    move every order of the shop")
    assert all(len(line) <= 80 for line in lines)


def test_what_is_held_of_a_person_breaks_between_words_in_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("prefs", "set", "db", "Postgres")
    narrow(monkeypatch, scopes_command)

    lines = run("memory", "list", "--scope", "user").out.splitlines()

    assert lines[0].startswith("preferences  id: 1")
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(line.strip() for line in lines).count("first_seen: ") == 1


@pytest.mark.parametrize("group", GROUPS)
def test_a_list_of_commands_says_whole_sentences(run: Run, group: str) -> None:
    listed = run(*group.split(), "--help").out.partition("Commands:\n")[2]
    assert listed
    assert not [line for line in listed.splitlines() if line.endswith("...")]


def test_a_day_may_begin_with_a_session_where_there_is_no_store(run: Run) -> None:
    assert 3 == run("session").code
    begun = run("session", "start", "login feature")
    assert (0, True) == (begun.code, "login feature" in begun.out)
    assert "You were working on login feature" in run("session").out


def test_explain_says_why_an_item_is_in_a_context(run: Run) -> None:
    run("remember", "The crane lifts four tons.", "--id", "mem_crane")

    plain, explained = run("context", "crane"), run("context", "crane", "--explain")

    assert plain.out == explained.out
    said = next(
        line for line in explained.err.splitlines() if line.startswith("in it: mem_crane (project): ")
    )
    assert "relevance 0." in said
    parts, _, score = said.partition(": ")[2].partition(": ")[2].partition(" = ")
    assert float(score) == pytest.approx(
        sum(float(part.split()[-1]) for part in parts.split(" + ")), abs=0.03
    )


def test_the_layer_that_is_not_built_is_no_fault_of_the_store(run: Run) -> None:
    run("remember", "The crane lifts four tons.")
    assert "graph" not in run("context", "crane").err
    assert "graph" not in run("context", "zzz").err
    assert "There is no code graph yet;" in run("context", "crane", "--layer", "graph").err


def test_changes_between_two_times_in_the_wrong_order_are_no_empty_answer() -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        with pytest.raises(InvalidInput, match="until = '2025-01-01' is before '2026-01-01'"):
            hx.facts.what_changed("2026-01-01", "2025-01-01")
        assert [] == hx.facts.what_changed("2026-01-01", "2026-01-01")


def test_who_takes_no_part_in_learning_is_told_the_command_that_states_a_preference(run: Run) -> None:
    run("init")
    Path(".hexad/hexad.toml").write_text("[user]\nlearning = false\n", encoding="utf-8")

    refused = run("prefs", "pattern", "Writes tests first.")

    assert 0 != refused.code
    assert "`hexad prefs set` states a preference" in " ".join(refused.err.split())


@pytest.mark.parametrize("value", ["", "  \n", "\0", None])
def test_a_fact_of_the_project_without_a_value_is_refused(value: str | None) -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        with pytest.raises(InvalidInput, match=r"value = .* says nothing of 'database'"):
            hx.project.remember(category="tech_stack", key="database", value=value)
        assert {} == hx.project.get_tech_stack()
