"""Commits that no branch reaches any more: what `ingest` of a repository makes of their memories."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, Memory, Status
from hexad.core.json_types import JSONValue
from hexad.maintenance.quality import Flaw
from opener import Opener


class Repository:
    """A repository whose commits are a minute apart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._minute = 0
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        date = f"2026-01-05T10:{self._minute:02}:00Z"
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", date))}  # fmt: skip
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_EDITOR": "true",
            **who,
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.path,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        return done.stdout.strip()

    def commit(self, message: str, name: str = "lamp.py", text: str | None = None) -> str:
        self._minute += 1
        with (self.path / name).open("a") as file:
            file.write(text or f"{message}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def amend(self, message: str) -> str:
        self.git("commit", "-q", "--amend", "-m", message)
        return self.git("rev-parse", "HEAD")

    @property
    def source(self) -> str:
        return f"git:{self.path}"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "lighthouse")
    made.commit("Light the lamp for the first time")
    return made


def commits(hx: Hexad, status: str = "active") -> dict[str, Memory]:
    return {str(memory.source_id): memory for memory in hx.memories(status=status) if memory.kind == "commit"}


def note(memory: Memory) -> Mapping[str, JSONValue]:
    found = memory.metadata["consolidated"]
    assert isinstance(found, Mapping)
    return found


def test_the_commit_before_an_amended_one_is_archived_and_names_what_remains(
    hx: Hexad, repository: Repository
) -> None:
    old = repository.commit("Turn the lamp once in nine seconds")
    hx.ingest(repository.source)
    new = repository.amend("Turn the lamp once in ten seconds")

    report = hx.ingest(repository.source)

    assert (1, 1, 1) == (report.created, report.unchanged, report.archived)
    assert new in commits(hx)
    archived = commits(hx, "archived")[old]
    assert commits(hx)[new].id == note(archived)["remains"]
    assert "no branch" in str(note(archived)["reason"])
    assert [new] == [
        hit.memory.source_id for hit in hx.recall("how often does the lamp turn in seconds?", limit=1)
    ]
    assert [] == list(hx.memory_quality().of(Flaw.DUPLICATE))
    again = hx.ingest(repository.source)
    assert (0, 2, 0) == (again.created, again.unchanged, again.archived)
    assert [] == list(hx.check())


def test_a_rebased_branch_leaves_its_new_commits_alone(hx: Hexad, repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "fog")
    old = [
        repository.commit("Sound the horn in fog", "fog.py"),
        repository.commit("Sound it twice", "fog.py"),
    ]
    hx.ingest(repository.source)
    repository.git("checkout", "-q", "main")
    repository.commit("Paint the tower", "paint.md")
    repository.git("checkout", "-q", "fog")
    repository.git("rebase", "-q", "main")
    new = repository.git("rev-list", "--reverse", "main..fog").split()

    report = hx.ingest(repository.source)

    assert 2 == report.archived
    assert set(repository.git("rev-list", "HEAD").split()) == set(commits(hx))
    remains = {sha: note(memory)["remains"] for sha, memory in commits(hx, "archived").items()}
    assert {o: commits(hx)[n].id for o, n in zip(old, new, strict=True)} == remains


def test_a_dropped_commit_names_none_in_its_place(hx: Hexad, repository: Repository) -> None:
    old = repository.commit("Try a red lamp")
    hx.ingest(repository.source)
    repository.git("reset", "-q", "--hard", "HEAD~1")

    assert 1 == hx.ingest(repository.source).archived

    assert "remains" not in note(commits(hx, "archived")[old])


@pytest.mark.parametrize("by", ["branch", "tag", "remote", "worktree", "reset"])
def test_a_commit_comes_back_when_something_reaches_it_again(
    hx: Hexad, repository: Repository, tmp_path: Path, by: str
) -> None:
    old = repository.commit("Turn the lamp once in nine seconds")
    hx.ingest(repository.source)
    before = commits(hx)[old].id
    repository.amend("Turn the lamp once in ten seconds")
    hx.ingest(repository.source)
    assert old in commits(hx, "archived")
    {
        "branch": lambda: repository.git("branch", "kept", old),
        "tag": lambda: repository.git("tag", "-a", "-m", "kept", "kept", old),
        "remote": lambda: repository.git("update-ref", "refs/remotes/origin/main", old),
        "worktree": lambda: repository.git(
            "worktree", "add", "-q", "--detach", str(tmp_path / "beside"), old
        ),
        "reset": lambda: repository.git("reset", "-q", "--hard", old),
    }[by]()

    report = hx.ingest(repository.source)

    memory = commits(hx)[old]
    assert (before, False) == (memory.id, "consolidated" in memory.metadata)
    assert [old] == [h.memory.source_id for h in hx.recall("lamp nine seconds", limit=1)]
    assert int(by == "reset") == report.archived  # of the amended one no ref is left then
    assert 0 == hx.ingest(repository.source).archived
    assert old in commits(hx)


def test_a_commit_that_only_the_stash_reaches_is_archived(hx: Hexad, repository: Repository) -> None:
    old = repository.commit("Try a red lamp")
    hx.ingest(repository.source)
    (repository.path / "lamp.py").write_text("green\n")
    repository.git("stash", "-q")
    repository.git("reset", "-q", "--hard", "HEAD~1")

    hx.ingest(repository.source)

    assert [old] == list(commits(hx, "archived"))


def test_what_a_part_of_the_history_does_not_show_is_not_archived(hx: Hexad, repository: Repository) -> None:
    repository.commit("Paint the tower")
    repository.git("checkout", "-q", "-b", "fog")
    repository.commit("Sound the horn in fog", "fog.py")
    hx.ingest(repository.source)
    repository.git("checkout", "-q", "main")

    assert 0 == hx.ingest(repository.source).archived
    assert 0 == hx.ingest(f"{repository.source}?HEAD~1..HEAD").archived
    assert 0 == hx.ingest(f"{repository.source}?HEAD").archived
    assert 3 == len(commits(hx))


def test_commits_that_git_has_thrown_away_are_archived_too(hx: Hexad, repository: Repository) -> None:
    old = repository.commit("Try a red lamp")
    hx.ingest(repository.source)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")

    hx.ingest(repository.source)

    assert [old] == list(commits(hx, "archived"))


def test_a_shallow_clone_archives_nothing_as_it_cannot_tell(
    hx: Hexad, repository: Repository, tmp_path: Path
) -> None:
    repository.commit("Paint the tower")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", f"file://{repository.path}", str(clone))
    hx.ingest(f"git:{clone}")
    repository.commit("Paint it anew")
    shutil.rmtree(clone)
    repository.git("clone", "-q", "--depth=1", f"file://{repository.path}", str(clone))

    assert 0 == hx.ingest(f"git:{clone}").archived

    assert 3 == len(commits(hx))


def test_a_repository_that_is_gone_or_damaged_archives_nothing(hx: Hexad, repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "fog")
    repository.commit("Sound the horn in fog", "fog.py")
    hx.ingest(repository.source)
    repository.git("checkout", "-q", "main")
    (repository.path / ".git" / "refs" / "heads" / "fog").write_text("deadbeef" * 5 + "\n")

    report = hx.ingest(repository.source)

    assert 0 == report.archived
    assert ["git could not tell" in skip.reason for skip in report.skipped] == [True]
    shutil.rmtree(repository.path / ".git")
    with pytest.raises(hexad.InvalidInput):
        hx.ingest(repository.source)
    assert 2 == len(commits(hx))


def test_repositories_and_spaces_are_kept_apart(hx: Hexad, repository: Repository, tmp_path: Path) -> None:
    repository.commit("Turn the lamp once in nine seconds")
    repository.git("clone", "-q", str(repository.path), str(tmp_path / "clone"))
    for source, space in (
        (repository.source, "a"),
        (repository.source, "b"),
        (f"git:{tmp_path / 'clone'}", "a"),
    ):
        hx.ingest(source, space=space)
    repository.amend("Turn the lamp once in ten seconds")

    assert 1 == hx.ingest(repository.source, space="a").archived

    archived = hx.memories(status="archived")
    assert [("a", repository.source)] == [
        (m.space, str(m.source).partition("?")[0].removesuffix("?")) for m in archived
    ]


def test_a_pinned_commit_goes_like_a_pinned_file_that_vanished(hx: Hexad, repository: Repository) -> None:
    old = repository.commit("Turn the lamp once in nine seconds")
    hx.ingest(repository.source)
    hx.pin(commits(hx)[old].id)
    repository.amend("Turn the lamp once in ten seconds")

    hx.ingest(repository.source)

    assert commits(hx, "archived")[old].pinned


def test_what_somebody_forgot_or_brought_back_stays_so(hx: Hexad, repository: Repository) -> None:
    old = repository.commit("Turn the lamp once in nine seconds")
    hx.ingest(repository.source)
    hx.forget(commits(hx)[old].id)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    hx.ingest(repository.source)
    repository.git("reset", "-q", "--hard", old)
    hx.ingest(repository.source)
    assert Status.ARCHIVED is commits(hx, "archived")[old].status

    hx.restore(commits(hx, "archived")[old].id)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    assert 1 == hx.ingest(repository.source).archived
    hx.restore(commits(hx, "archived")[old].id)
    assert 0 == hx.ingest(repository.source).archived
    assert old in commits(hx)


def test_a_dry_run_counts_what_would_be_archived_and_changes_nothing(
    hx: Hexad, repository: Repository
) -> None:
    repository.commit("Turn the lamp once in nine seconds")
    hx.ingest(repository.source)
    repository.amend("Turn the lamp once in ten seconds")

    report = hx.ingest(repository.source, dry_run=True)

    assert (1, 1) == (report.created, report.archived)
    assert {} == commits(hx, "archived")


def test_why_a_line_is_so_names_the_commit_that_is_there(opened: Opener, tmp_path: Path) -> None:
    project = Repository(tmp_path / "shop")
    project.commit("Begin")
    project.commit("Turn the lamp once in nine seconds")
    hx = opened(project.path)
    hx.ingest(project.source)
    new = project.amend("Turn the lamp once in ten seconds")
    hx.ingest(project.source)

    assert [new] == [commit.sha for commit in hx.governance.why("lamp.py:2").commits]
