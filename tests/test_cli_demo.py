"""`hexad demo` on a small repository of another project, from nothing to the summary, and its questions on this one."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.cli.store.demo_input import DOCUMENT_BYTES, documents_of, questions
from programs import command
from ran import Run

OURS = Path(__file__).parents[1]
FILES = {
    "README.md": "# Lockkeeper\n\nControls the gates of a canal lock, and the lights beside them.\n\n"
    "## Emergency stop\n\nPull the red lever twice.\n",
    "docs/decisions/0001-use-water-pressure.md": (
        "# Use water pressure\n\nWe decided to drive the gates by water pressure, because motors fail in winter.\n"
    ),
    "CHANGELOG.md": "# Changelog\n\n## 1.2\n\nThe upper sluice closes gradually, and the lower one follows as boats "
    "leave the chamber.\n",
    "config/gates.toml": "[gate]\nopening_seconds = 90\nmaximum_boats = 4\n# Longer boats than these wait for the keeper "
    "to come.\nlength_metres = 30\n",
    "src/gates.py": (
        'def open_upper_gate(level: float) -> bool:\n    """Open the upper gate once the levels are equal."""\n'
        "    return level == 0\n\n\ndef close_lower_sluice() -> None:\n    return None\n"
    ),
}
COMMITS = ("Lay the foundation of the lock chamber", "Teach the sluices to close gradually")


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "lockkeeper"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "--initial-branch", "main")
    git(folder, "add", "README.md")
    git(folder, "commit", "--message", COMMITS[0])
    git(folder, "add", ".")
    git(folder, "commit", "--message", COMMITS[1])
    return folder


def run_demo(folder: Path, *args: str, embedder: str = "default") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HEXAD_EMBEDDER": embedder, "PYTHONWARNINGS": "error"}
    return command("demo", *args, cwd=folder, env=environment)


def test_the_demo_asks_about_the_repository_around_it_and_all_holds(repository):
    ran = run_demo(repository / "docs")

    # After five seconds, as on a busy machine, it says how far it is.
    assert (0, []) == (
        ran.returncode, [line for line in ran.stderr.splitlines() if not re.match(r"\w+: .*/s\b", line)],
    )  # fmt: skip
    for words in (
        "5 documents in",
        "2 commits in",
        "Q1 ",
        "Q5 ",
        "score: ",
        "relevance ",
        "superseded by mem_",
        "Instead of: MySQL",
        "it is not found",
        "All is well",
        "100% embedded",
    ):
        assert words in ran.stdout
    assert not (repository / ".hexad").exists()


def test_every_step_is_told_as_json_and_holds(repository, tmp_path):
    ran = run_demo(tmp_path, "--path", str(repository), "--json")
    record = json.loads(ran.stdout)

    assert (0, [], []) == (ran.returncode, record["failures"], record["problems"])
    assert (5, 2) == (record["read"]["documents"]["created"], record["read"]["commits"]["created"])
    assert 5 == len(record["questions"])
    assert all(question["hits"] for question in record["questions"])
    commit = record["questions"][-1]
    assert commit["answer"] == commit["hits"][0]["location"]
    assert commit["question"].removeprefix("Which change: ").removesuffix("?") in COMMITS
    for question in record["questions"]:
        for hit in question["hits"]:
            assert hit["score"] == pytest.approx(sum(hit["parts"].values()))
    by_meaning, update, forgetting = record["by_meaning"], record["update"], record["forgetting"]
    assert ([], True, by_meaning["text"]) == (
        by_meaning["shared_words"], by_meaning["found"], "My sister's wedding is on June 14th in Porto.",
    )  # fmt: skip
    assert (True, True) == (update["current_first"], update["former_superseded"])
    assert [update["current"], update["former"]] == [hit["id"] for hit in update["hits"]][:2]
    assert "Why: Row-level security keeps the tenants apart." in record["decision"]["why"].splitlines()
    assert (True, False, True) == (
        forgetting["found_before"], forgetting["found_after"], forgetting["verified"],
    )  # fmt: skip
    assert {"memories": 1, "chunks": 1, "vectors": 1} == forgetting["erased"]
    assert 1.0 == record["summary"]["embedded"]


def test_what_does_not_hold_is_said_and_ends_with_exit_code_1(run: Run, repository, monkeypatch):
    monkeypatch.setattr("hexad.interfaces.cli.store.demo._CURRENT", "Herons nest in reeds.")

    ran = run("demo", "--path", str(repository), "--json")

    assert (1, False) == (ran.code, ran.data["update"]["former_superseded"])
    assert ["Herons" in failure or "superseded" in failure for failure in ran.data["failures"]] == [
        True,
        True,
    ]
    assert all(failure in ran.err.replace("\n", " ") for failure in ran.data["failures"])


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_without_an_embedder_that_knows_meaning_it_says_what_is_left_out(repository, embedder):
    ran = run_demo(repository, embedder=embedder)

    assert 0 == ran.returncode, ran.stderr
    assert f"Nothing is recalled by meaning: the embedder is {embedder}" in ran.stderr
    assert "Portugal" not in ran.stdout


def test_a_shallow_clone_and_a_folder_without_history_will_do(repository, tmp_path):
    git(tmp_path, "clone", "--depth", "1", repository.as_uri(), "shallow")
    (tmp_path / "plain").mkdir()
    for name in ("README.md", "CHANGELOG.md"):
        (tmp_path / "plain" / name).write_text(FILES[name])

    shallow = run_demo(tmp_path / "shallow", "--json", embedder="none")
    plain = run_demo(tmp_path, "--path", "plain", "--json", embedder="none")

    assert (0, 1) == (shallow.returncode, json.loads(shallow.stdout)["read"]["commits"]["created"])
    assert (0, {"documents"}) == (plain.returncode, set(json.loads(plain.stdout)["read"]))


def test_without_a_repository_around_it_shows_what_needs_none(run: Run, tmp_path, monkeypatch):
    monkeypatch.setattr(hexad, "__file__", str(tmp_path / "lib" / "site-packages" / "hexad" / "__init__.py"))

    ran = run("demo", "--json")

    assert (0, []) == (ran.code, ran.data["failures"])
    assert "name one with --path" in ran.err
    assert {"update", "decision", "forgetting"} <= set(ran.data)
    assert not {"read", "questions"} & set(ran.data)


def test_a_kept_store_can_be_asked_afterwards(repository, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    ran = run_demo(tmp_path, "--path", str(repository), "--keep", str(kept), embedder="none")
    asked = command(
        *("-C", kept, "recall", "emergency stop lever"), env={**os.environ, "HEXAD_EMBEDDER": "none"}
    )

    assert 0 == ran.returncode
    assert "red lever" in asked.stdout


def test_an_empty_folder_is_too_little_to_show_and_says_so(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = run_demo(tmp_path, "--path", str(empty), embedder="none")

    assert 1 == ran.returncode
    assert "too little" in ran.stderr
    assert 3 == run_demo(tmp_path, "--path", str(tmp_path / "nowhere"), embedder="none").returncode


def test_documents_are_read_first_the_readme_before_all_and_no_more_than_there_is_time_for(tmp_path):
    for folder in ("docs", "notes", "node_modules"):
        (tmp_path / folder).mkdir()
    for name, size in {
        "README.md": 9_000, "setup.py": 200, "docs/short.md": 300, "docs/long.md": 20_000, "docs/huge.md": 40_000,
        "docs/tiny.md": 10, "NOTES.txt": 400, "notes/more.md": 150, "node_modules/x.md": 500, ".hidden.md": 500,
    }.items():  # fmt: skip
        (tmp_path / name).write_text("x" * size)

    read = [path.relative_to(tmp_path).as_posix() for path in documents_of(tmp_path)]

    assert ["README.md", "docs/short.md", "NOTES.txt", "docs/long.md", "notes/more.md", "setup.py"] == read
    for number in range(20):
        (tmp_path / f"{number}.md").write_text("y" * 10_000)
    assert (
        DOCUMENT_BYTES - 20_000
        < sum(path.stat().st_size for path in documents_of(tmp_path))
        <= DOCUMENT_BYTES
    )


def test_the_prepared_questions_are_answered_by_the_documents_of_this_repository(tmp_path):
    documents = documents_of(OURS)
    with hexad.open(":memory:", embedder="default", background=False) as hx:
        for document in documents:
            hx.ingest(document, project="hexad", embed=False)
        hx.embed_pending()
        asked = questions(hx, OURS)
        answers = {question.text: hx.recall(question.text, limit=1)[0].source_id for question in asked}

    assert {question.text: question.answer for question in asked} == answers
    assert 4 == len({*answers.values()})
