"""Worktrees of a repository are one project to the layer of a person, though each has a store of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from user_projects import open_project, use


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def worktrees(tmp_path: Path) -> list[Path]:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "Begin")
    folders = [tmp_path / "fix", tmp_path / "try"]
    for folder in folders:
        git(main, "worktree", "add", "-q", str(folder))
    return [main, *folders]


def publish(folder: Path, clock, **facts: str) -> int:
    clock.advance(days=1)
    with open_project(folder, clock) as hx:
        use(hx, **facts)
        return hx.user.learn().projects


@pytest.mark.row("A116")
def test_three_worktrees_are_one_project_and_make_no_preference(worktrees, tmp_path, clock):
    assert [1, 1, 1] == [publish(folder, clock, db="Postgres") for folder in worktrees]
    with open_project(worktrees[1], clock) as hx:
        assert [] == hx.user.preferences()
        assert 1 == hx.user.learn(dry_run=True).projects
    assert [2, 3] == [publish(tmp_path / name, clock, db="Postgres") for name in ("two", "three")]
    with open_project(tmp_path / "two", clock) as hx:
        assert [3] == [preference.projects for preference in hx.user.preferences("db")]


@pytest.mark.row("A116", "A139")
def test_folders_of_one_repository_are_projects_of_their_own_and_one_that_leaves_takes_its_place_along(
    worktrees, clock
):
    assert [1, 2] == [publish(worktrees[0] / name, clock, db="Postgres") for name in ("shop", "till")]
    assert 2 == publish(worktrees[1] / "shop", clock, db="Postgres")
    for folder in (worktrees[0] / "shop", worktrees[1] / "shop"):
        (folder / ".hexad" / "hexad.toml").write_text("[user]\nlearning = false\n")
        with open_project(folder, clock) as hx:
            hx.user.preferences()
    with open_project(worktrees[0] / "till", clock) as hx:
        assert (1, 1) == (hx.user.counts()["project_values"], hx.user.counts()["project_places"])
        assert 1 == hx.user.learn().projects
