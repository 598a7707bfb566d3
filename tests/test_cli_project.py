"""`hexad project`, and the looks at the repository that `hexad init` and `hexad maintain` take by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hexad
from programs import command


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["flask"]\n')
    return folder


@pytest.mark.row("A028")
def test_init_shows_what_the_repository_gives_away_and_one_command_takes_it_back(run, root):
    told = run("init")

    assert 0 == told.code
    assert "Detected: Tech stack: web framework is Flask." in told.out
    assert "hexad project forget-detected" in told.err
    listed = run("project")
    assert "web_framework" in listed.out
    assert "pyproject.toml" in listed.out
    assert (
        "would be archived  Tech stack: web framework is Flask."
        in run("project", "forget-detected", "--dry-run").out
    )
    assert "archived  Tech stack: web framework is Flask." in run("project", "forget-detected").out
    assert "Nothing is known of the project" in run("project").err


def test_init_looks_at_nothing_where_it_is_told_so_and_where_there_is_no_repository(run, root, tmp_path):
    assert [] == json.loads(run("init", "--no-detect", "--json").out)["detected"]
    plain = tmp_path / "plain"
    plain.mkdir()
    for number in range(9):
        (plain / f"some_note{number}.py").write_text("")
    assert [] == json.loads(run("init", str(plain), "--json").out)["detected"]


def test_maintain_notes_what_changed_and_nothing_else(run, root):
    run("init")
    with hexad.open(root, embedder=None) as hx:
        before = {fact.key: (fact.confidence, fact.evidence) for fact in hx.project.get()}
    assert "Detected" not in run("maintain").out
    with hexad.open(root, embedder=None) as hx:
        assert before == {fact.key: (fact.confidence, fact.evidence) for fact in hx.project.get()}

    (root / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["fastapi"]\n')

    assert "Detected: Tech stack: web framework is FastAPI." in run("maintain").out
    assert "Detected" not in run("maintain").out


def test_what_was_taken_back_is_not_found_again_until_somebody_looks(run, root):
    run("init")
    run("project", "forget-detected")
    (root / "requirements.txt").write_text("redis\n")

    assert "Detected" not in run("maintain").out
    assert "Nothing is known" in run("project").err
    assert "new  Tech stack: database is Redis." in run("project", "detect").out
    assert "database" in run("project").out


def test_what_was_said_or_confirmed_or_inferred_by_others_is_not_taken_back(run, root):
    run("init")
    with hexad.open(root, embedder=None) as hx:
        hx.project.observe(category="pattern", key="data_access", value="repositories")
        hx.project.remember(category="tech_stack", key="database", value="PostgreSQL")
    assert (
        "confirmed  Tech stack: web framework is Flask."
        in run("project", "confirm", "tech_stack", "web_framework").out
    )

    assert "Flask" not in run("project", "forget-detected").out

    kept = json.loads(run("project", "facts", "--json").out)["facts"]
    assert {"data_access", "database", "web_framework"} == {fact["key"] for fact in kept}
    drafts = json.loads(run("project", "facts", "--no-drafts", "--json").out)["facts"]
    assert {"database", "web_framework"} == {fact["key"] for fact in drafts}


@pytest.mark.row("A027")
def test_todos_and_components_are_listed_and_a_todo_is_done(run, root):
    run("init")
    with hexad.open(root, embedder=None) as hx:
        hx.project.remember(category="todo", key="retries", value="back off in the client")
        hx.project.remember_component("billing", "Turns orders into invoices.")

    assert "retries  Todo: retries is back off in the client." in run("project", "todos").out
    assert "billing  Turns orders into invoices." in run("project", "components").out
    assert "done  Todo: retries" in run("project", "done", "retries").out
    assert "No todo is open" in run("project", "todos").err
    assert 3 == run("project", "done", "retries").code


def test_a_dry_look_notes_nothing(run, root):
    run("init", "--no-detect")

    assert "tech_stack  web_framework = Flask  pyproject.toml" in run("project", "detect", "--dry-run").out
    assert "Nothing is known" in run("project").err


def test_who_may_not_see_everything_notes_nothing_when_it_maintains(root):
    hexad.init(root, detect=True)
    (root / "requirements.txt").write_text("redis\n")

    with hexad.open(root, embedder=None, actor={"role": "analyst"}) as hx:
        assert () == hx.maintain().detected
    with hexad.open(root, embedder=None) as hx:
        assert ("Tech stack: database is Redis.",) == hx.maintain().detected


def test_a_store_at_whose_folder_nobody_looked_is_maintained_without_a_look(root, tmp_path):
    hexad.init(root)
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "requirements.txt").write_text("redis\n")

    with hexad.open(root, embedder=None) as hx:
        hx.project.detect(tmp_path / "away")
        assert () == hx.maintain().detected


def test_a_filter_that_matches_nothing_is_not_a_project_of_which_nothing_is_known(run, root):
    run("init")

    for filters in (("--key", "nope"), ("--component", "nope")):
        told = run("project", "facts", *filters)
        assert 0 == told.code
        assert "No fact matches the filter" in told.err
        assert "Nothing is known" not in told.err
    unknown = run("project", "facts", "--space", "nospace")
    assert 3 == unknown.code
    assert "nospace" in unknown.err
    refused = run("project", "facts", "--min-confidence", "7")
    assert 2 == refused.code
    assert "7" in refused.err


def test_facts_are_shown_with_what_was_decided(run, root):
    run("init", "--no-detect")
    with hexad.open(root, embedder=None) as hx:
        hx.project.remember(
            category="decision", key="queue", value={"choice": "RabbitMQ", "rationale": "Known."}
        )
        hx.project.remember(category="convention", key="layout", value=["src", "tests"])
    lines = run("project").out.splitlines()
    assert any("queue" in line and "RabbitMQ" in line for line in lines)
    assert any("layout" in line and "src, tests" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("project", "done", "nope"), "`hexad project todos`"),
        (("project", "confirm", "pattern", "nope"), "`hexad project facts`"),
        (("decide", "Take Kafka", "--supersedes", "dec_nope"), "`hexad why TOPIC`"),
    ],
)
def test_what_is_not_there_is_listed_by_a_command(run, root, words, remedy):
    run("init", "--no-detect")

    refused = run(*words)

    assert 3 == refused.code
    assert remedy in refused.err
    assert "hx." not in refused.err
    assert "Memory" not in refused.err


def test_a_look_makes_no_store(run, root):
    refused = run("project", "detect")

    assert 3 == refused.code
    assert "hexad init" in refused.err
    assert not (root / ".hexad").exists()


def test_a_dry_look_shows_values_in_words(run, root):
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["psycopg", "redis"]\n')
    run("init", "--no-detect")

    shown = run("project", "detect", "--dry-run").out

    assert "[" not in shown
    assert "PostgreSQL, Redis" in shown


def test_a_look_says_where_and_why_a_file_could_not_be_read(run, root):
    run("init", "--no-detect")
    (root / "pyproject.toml").write_text("[project\nname = 1\n")
    (root / "package.json").write_text('{"dependencies": {"react" "18"}}')

    told = run("project", "detect", "--dry-run").err

    assert "pyproject.toml could not be read" in told
    assert "at line 1" in told
    assert "package.json could not be read" in told
    assert "line 1 column 27" in told or "Expecting ':'" in told


@pytest.mark.row("A028")
def test_init_looks_at_the_repository_of_a_store_that_something_else_made(run, root):
    run("remember", "Deploys happen on Tuesday.")

    late = run("init")

    assert (0, True) == (late.code, "Detected: Tech stack: web framework is Flask." in late.out)
    assert "has what the repository gives away besides" in late.out
    assert "hexad project forget-detected" in late.err
    assert (root / ".hexad" / "hexad.toml").exists()
    run("project", "forget-detected")
    (root / ".hexad" / "hexad.toml").unlink()
    again = json.loads(run("init", "--json").out)
    assert (False, []) == (again["created"], again["detected"])


def test_init_looks_at_nothing_of_a_store_that_is_there_where_it_is_told_so(run, root):
    run("remember", "Deploys happen on Tuesday.")

    assert "it was there" not in run("init", "--no-detect").out
    assert "Nothing is known of the project" in run("project").err


@pytest.mark.parametrize("made", ["by init", "before"])
def test_init_names_the_files_that_it_could_not_read(run, root, made):
    (root / "package.json").write_text("{")
    if made == "before":
        run("remember", "Deploys happen on Tuesday.")

    told = run("init")

    assert "package.json could not be read as what its name says" in told.err
    assert "Detected: Tech stack: web framework is Flask." in told.out


def test_init_gives_the_notes_as_json(run, root):
    (root / "package.json").write_text("{")

    (told,) = json.loads(run("init", "--json").out)["notes"]

    assert told.startswith("package.json could not be read")


@pytest.mark.parametrize("command", [["doctor"], ["doctor", "--quick"]])
def test_doctor_says_that_the_store_is_of_a_folder_above(run, root, command):
    run("init")
    (root / "part").mkdir()

    told = run("-C", str(root / "part"), *command)

    assert f"{root / 'part'} has no store of its own; the one of {root} is used." in " ".join(
        told.err.split()
    )
    assert "is used" not in run("-C", str(root), *command).err


def test_mcp_says_that_the_store_is_of_a_folder_above(run, root):
    pytest.importorskip("mcp")
    run("init")
    (root / "part").mkdir()

    told = command("--store", root / "part", "mcp", cwd=root).stderr

    assert f"{root / 'part'} has no store of its own; the one of {root} is used." in told
    assert "is used" not in command("--store", root, "mcp", cwd=root).stderr
