"""`hexad demo` on a small repository of another project, from nothing to the summary."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from programs import command

FILES = {
    "README.md": "# Lockkeeper\n\nControls the gates of a canal lock.\n\n## Emergency stop\n\nPull the red lever twice.\n",
    "docs/decisions/0001-use-water-pressure.md": (
        "# Use water pressure\n\nWe decided to drive the gates by water pressure, because motors fail in winter.\n"
    ),
    "CHANGELOG.md": "# Changelog\n\n## 1.2\n\nThe upper sluice closes gradually.\n",
    "config/gates.toml": "[gate]\nopening_seconds = 90\nmaximum_boats = 4\n",
    "src/gates.py": (
        'def open_upper_gate(level: float) -> bool:\n    """Open the upper gate once the levels are equal."""\n'
        "    return level == 0\n\n\ndef close_lower_sluice() -> None:\n    return None\n"
    ),
}
COMMITS = ("Lay the foundation of the lock chamber", "Teach the sluices to close gradually")


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "lockkeeper"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(*args: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    git("add", "README.md")
    git("commit", "--message", COMMITS[0])
    git("add", ".")
    git("commit", "--message", COMMITS[1])
    return folder


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return command(
        "demo", *args, cwd=folder, env={**os.environ, "HEXAD_EMBEDDER": "hashing", "PYTHONWARNINGS": "error"}
    )


def test_the_demo_asks_five_questions_about_the_repository_around_it_and_all_holds(repository):
    ran = run(repository / "docs")

    # After five seconds, as on a busy machine, it says how far it is.
    assert (0, []) == (
        ran.returncode, [line for line in ran.stderr.splitlines() if not re.match(r"\w+: .*/s\b", line)],
    )  # fmt: skip
    for words in (
        "Ingest",
        "Q1 ",
        "Q5 ",
        "score: ",
        "% embedded",
        "forgotten   recall does not find it",
        "All is well",
    ):
        assert words in ran.stdout
    assert not (repository / ".hexad").exists()


def test_the_questions_lie_in_different_kinds_of_source_and_every_one_is_answered(repository, tmp_path):
    ran = run(tmp_path, "--path", str(repository), "--json")
    record = json.loads(ran.stdout)

    assert (0, []) == (ran.returncode, record["failures"])
    assert 5 == len(record["questions"])
    assert 5 == len({question["where"] for question in record["questions"]})
    assert "the commit history" in {question["where"] for question in record["questions"]}
    assert all(question["hits"] for question in record["questions"])
    for question in record["questions"]:
        for hit in question["hits"]:
            assert hit["score"] == pytest.approx(sum(hit["parts"].values()))
    assert [("remembered", True), ("forgotten", False), ("restored", True)] == [
        (step["step"], step["found"]) for step in record["forgetting"]
    ]
    assert [] == record["problems"]


def test_a_kept_store_can_be_asked_afterwards(repository, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    ran = run(tmp_path, "--path", str(repository), "--keep", str(kept))
    asked = command(
        *("-C", kept, "recall", "emergency stop lever"), env={**os.environ, "HEXAD_EMBEDDER": "hashing"}
    )

    assert 0 == ran.returncode
    assert "red lever" in asked.stdout


def test_an_empty_folder_is_too_little_to_show_and_says_so(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = run(tmp_path, "--path", str(empty))

    assert 1 == ran.returncode
    assert "too little" in ran.stderr
    assert 3 == run(tmp_path, "--path", str(tmp_path / "nowhere")).returncode
