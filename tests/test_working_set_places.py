"""Sessions by repository, worktree and branch, in real repositories."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.ingest.sources.checkout import checkout
from opener import Opener

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    return project


# Where a folder is ----------------------------------------------------------------------------------------------------


def test_a_folder_below_a_repository_has_its_worktree_and_branch(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    place = checkout(repository / "src" / "deep").place

    assert (str(repository), str(repository), "main") == (place.repository, place.worktree, place.branch)


def test_a_branch_may_have_a_name_with_slashes_and_a_repository_none_of_its_commits(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=feature/log-in")

    assert "feature/log-in" == checkout(folder).place.branch


def test_a_linked_worktree_has_the_repository_that_it_belongs_to(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "hotfix")
    place = checkout(tmp_path / "linked").place

    assert (str(repository), str(tmp_path / "linked"), "hotfix") == (
        place.repository,
        place.worktree,
        place.branch,
    )


def test_a_commit_without_a_branch_is_named_by_its_beginning(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "--quiet", "--detach")

    assert f"detached at {commit[:10]}" == checkout(repository).place.branch


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet", "--initial-branch=trunk")
    git(inner, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    place = checkout(repository / "lib").place

    assert (str(repository / "lib"), "trunk") == (place.repository, place.branch)
    assert place.repository == place.worktree


def test_refs_in_tables_are_read_through_git(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    try:
        git(folder, "init", "--quiet", "--initial-branch=main", "--ref-format=reftable")
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no tables of refs")

    assert "main" == checkout(folder).place.branch


def test_a_folder_outside_of_a_repository_is_a_place_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    place = checkout(tmp_path / "alone").place

    assert (str(tmp_path / "alone"), None) == (place.repository, place.branch)


@pytest.mark.parametrize("said", [b"", b"gitdir: nowhere\n", b"\xff\xfe nothing", b"gitdir:"])
def test_a_broken_git_file_makes_a_folder_of_its_own(tmp_path: Path, said: bytes) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / ".git").write_bytes(said)

    assert str(folder) == checkout(folder).place.repository


# Sessions by place ----------------------------------------------------------------------------------------------------


@pytest.mark.row("A015", "A088")
def test_a_checkout_ends_the_task_and_coming_back_goes_on_with_it(repository: Path, opened: Opener) -> None:
    hx = opened(repository)
    ended: list[hexad.TaskEnd] = []
    hx.session.on_task_end(ended.append)
    first = hx.session.start("login feature")
    hx.session.note("of main")

    git(repository, "checkout", "--quiet", "-b", "hotfix")
    second = hx.session.note("of the hotfix")

    assert [(first.id, hexad.Boundary.BRANCH)] == [(end.ended.id, end.boundary) for end in ended]
    assert ["of main"] == [note.text for note in ended[0].ended.scratchpad]
    assert ("hotfix", ["of the hotfix"]) == (second.place.branch, [note.text for note in second.scratchpad])
    assert second.id != first.id

    git(repository, "checkout", "--quiet", "main")
    back = hx.session.note("of main again")
    assert (first.id, ["of main", "of main again"]) == (back.id, [note.text for note in back.scratchpad])
    assert [first.id, second.id] == [end.ended.id for end in ended]


def test_a_commit_on_the_same_branch_ends_nothing(repository: Path, opened: Opener) -> None:
    hx = opened(repository)
    begun = hx.session.start("login feature")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "More")
    git(repository, "checkout", "--quiet", "main")

    assert begun.id == hx.session.note("still at it").id


def test_an_empty_session_moves_to_the_branch_that_is_checked_out(repository: Path, opened: Opener) -> None:
    hx = opened(repository)
    begun = hx.session.start()
    git(repository, "checkout", "--quiet", "-b", "hotfix")

    after = hx.session.note("the first thing said")

    assert (begun.id, "hotfix") == (after.id, after.place.branch)


def test_a_session_is_offered_on_its_own_branch_alone(repository: Path, opened: Opener) -> None:
    hx = opened(repository)
    left = hx.session.start("login feature")
    hx.close()
    git(repository, "checkout", "--quiet", "-b", "hotfix")

    hx = opened(repository)
    assert hx.session.resumable() is None
    assert [left.id] == [working_set.id for working_set in hx.session.list(everywhere=False)]
    moved = hx.session.resume(left.id)
    assert "hotfix" == moved.place.branch  # who resumes it here works on it here


def test_worktrees_of_one_store_have_sessions_of_their_own(
    repository: Path, tmp_path: Path, opened: Opener
) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "--quiet", str(linked), "-b", "hotfix")
    hx = opened(repository)
    hx.session.start("login feature")
    here = hx.session.handle()
    hx.session.start("fix the crash", folder=linked)
    there = hx.session.handle()
    hx.session.open_file(str(linked / "src" / "a.py"))

    assert (str(repository), str(repository)) == (
        here.current.place.repository,
        there.current.place.repository,
    )
    assert ["src/a.py"] == [file.path for file in there.current.open_files]
    git(linked, "checkout", "--quiet", "-b", "other")
    here.note("on main still")
    assert "main" == here.current.place.branch
    assert "other" == there.note("elsewhere by now").place.branch
    hx.close()

    again = opened(repository)
    assert "login feature" == _offered(again, None)
    assert "fix the crash" != _offered(again, linked)
    git(linked, "checkout", "--quiet", "hotfix")
    assert _offered(again, linked) is None  # the checkout ended it; it goes on when it is come back to
    assert [linked.name] == [
        Path(working_set.place.worktree).name
        for working_set in again.session.list(folder=linked, everywhere=False)
    ][:1]


def _offered(hx: Hexad, folder: Path | None) -> str | None:
    offer = hx.session.resumable(folder=folder)
    return None if offer is None else offer.working_set.task
