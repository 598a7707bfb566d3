"""Files that change together: counted from a repository's commits, each read once, and told by `impact`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hexad import Hexad
from test_code_graph import write

_GIT = ("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*_GIT, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, files: dict[str, str]) -> None:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "-q", "-b", "main")
    (project / ".gitignore").write_text(".hexad\n")
    for number in range(3):
        commit(
            project,
            {"schema.py": f"VERSION = {number}\n", "src/reader.py": f"def read():\n    return {number}\n"},
        )
    commit(project, {"src/alone.py": "def alone():\n    return 1\n"})
    return project


def together(hx: Hexad, target: str) -> dict[str, tuple[float, float]]:
    hits = hx.graph.impact(target).hits
    return {hit.node.path: (hit.weight, hit.confidence) for hit in hits if hit.relation == "changed with"}


@pytest.mark.row("A047")
def test_files_that_change_together_are_in_the_impact_of_each_other(hx, repository):
    hx.graph.index()

    assert {"src/reader.py": (3.0, 1.0)} == together(hx, "schema.py")
    assert {"schema.py": (3.0, 1.0)} == together(hx, "src/reader.py::read")
    assert {} == together(hx, "src/alone.py")
    answer = hx.graph.impact("schema.py")
    assert "1 of them by history alone" in " ".join(answer.notes)


def test_an_overview_names_the_files_that_changed_together_most(hx, repository):
    commit(repository, {"src/alone.py": "def alone():\n    return 2\n", "schema.py": "VERSION = 7\n"})
    hx.graph.index()

    overview = hx.graph.show()

    assert 1 == overview.edges["changes_with"]
    assert [("schema.py", "src/reader.py", 3)] == [
        tuple(sorted(pair[:2])) + pair[2:] for pair in overview.changed_together
    ]


def test_a_later_look_reads_new_commits_alone_and_counts_none_twice(hx, repository):
    hx.graph.index()
    hx.graph.index()
    commit(repository, {"schema.py": "VERSION = 9\n", "src/reader.py": "def read():\n    return 9\n"})
    commit(repository, {"schema.py": "VERSION = 10\n"})
    hx.graph.index()

    assert {"src/reader.py": (4.0, 0.8)} == together(hx, "schema.py")
    assert {"schema.py": (4.0, 1.0)} == together(hx, "src/reader.py")


def test_rewritten_history_is_counted_anew(hx, repository):
    hx.graph.index()
    git(repository, "reset", "-q", "--hard", "HEAD~2")
    commit(repository, {"other.py": "X = 1\n"})
    hx.graph.index()
    assert {} == together(hx, "schema.py")  # two commits of both are left: too few to say anything

    for number in range(20, 23):
        commit(
            repository,
            {"schema.py": f"VERSION = {number}\n", "src/reader.py": f"def read():\n    return {number}\n"},
        )
    hx.graph.index()
    assert {"src/reader.py": (5.0, 1.0)} == together(hx, "schema.py")


def test_a_file_under_a_new_name_keeps_what_it_changed_with(hx, repository):
    git(repository, "mv", "schema.py", "layout.py")
    git(repository, "commit", "-qm", "rename")
    hx.graph.index()
    assert {"src/reader.py": (3.0, 0.75)} == together(hx, "layout.py")

    git(repository, "mv", "src/reader.py", "src/parser.py")
    git(repository, "commit", "-qm", "rename")
    hx.graph.index()
    assert {"src/parser.py": (3.0, 0.75)} == together(hx, "layout.py")


def test_a_commit_of_many_files_says_nothing_and_an_import_says_more(hx, repository):
    for number in range(3):
        commit(repository, {f"many/m{name}.py": f"A = {number}\n" for name in range(25)})
    commit(repository, {"src/user.py": "from schema import VERSION\n"})
    hx.graph.index()

    assert {} == together(hx, "many/m1.py")
    assert {"src/user.py": "imported by"}.items() <= {
        hit.node.path: hit.relation for hit in hx.graph.impact("schema.py").hits
    }.items()


def test_ingest_counts_as_well_and_a_folder_without_a_repository_has_no_history(hx, repository, tmp_path):
    hx.ingest(repository, space="code")
    assert {"src/reader.py": (3.0, 1.0)} == together(hx, "schema.py")

    write(tmp_path / "bare", {"a.py": "A = 1\n", "b.py": "B = 1\n"})
    hx.graph.index(tmp_path / "bare")
    assert [] == hx.check()
    assert {} == together(hx, "a.py")


def test_only_a_folder_of_a_repository_counts_what_is_below_it(hx, repository, project):
    commit(repository, {"src/two.py": "B = 1\n"})
    for number in range(3):
        commit(
            repository,
            {"src/two.py": f"B = {number + 2}\n", "src/alone.py": f"def alone():\n    return {number}\n"},
        )
    hx.graph.index(project / "src")
    assert {"src/alone.py": (3.0, 0.75)} == together(hx, "src/two.py")


def test_a_partial_clone_is_counted_without_the_contents_that_it_does_not_have(opened, repository, tmp_path):
    git(repository, "mv", "schema.py", "scheme.py")
    (repository / "scheme.py").write_text("VERSION = 3\nMORE = 1\n")
    git(repository, "commit", "-qam", "renamed and changed")
    for number in range(3):
        commit(
            repository,
            {"scheme.py": f"VERSION = {number}\n", "src/reader.py": f"def read(): ...  # {number}\n"},
        )
    remote, clone = tmp_path / "remote", tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(remote))
    git(remote, "config", "uploadpack.allowfilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{remote}", str(clone))
    remote.rename(tmp_path / "gone")

    hx = opened()
    hx.ingest(clone)
    hx.graph.index(clone)

    assert {"src/reader.py": (3.0, 0.75)} == together(hx, "scheme.py")
