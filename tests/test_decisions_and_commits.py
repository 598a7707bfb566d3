"""`why` of a file, of lines and of a symbol: the commits that git says they come from, with their reasons."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.memory.decision import ago
from ran import Run

FIRST = "def drain(valves):\n    return len(valves)\n"
SECOND = "def drain(valves):\n    for valve in valves:\n        valve.open()\n    return len(valves)\n"
REASON = "Open the valves first\n\nA closed valve holds water back.\n\nDecision: this line belongs to nobody."

Commit = Callable[[str, str, str], str]


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """Writes a file and commits it with a message at a time; returns the commit's name."""
    git(tmp_path, "init", "-q")
    days = iter(range(1, 28))

    def commit_(path: str, text: str, message: str) -> str:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
        git(tmp_path, "add", path)
        time = f"2026-01-{next(days):02}T12:00:00Z"
        git(tmp_path, "commit", "-qm", message, GIT_COMMITTER_DATE=time, GIT_AUTHOR_DATE=time)
        return git(tmp_path, "rev-parse", "HEAD").strip()

    return commit_


def git(folder: Path, *arguments: str, **variables: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, **variables},
    ).stdout  # fmt: skip


def store(folder: Path, *sources: str) -> Hexad:
    hx = hexad.open(folder, embedder=None, background=False)
    for source in sources:
        hx.ingest(source)
    return hx


def shas(hx: Hexad, topic: str, **options: int | str) -> list[str]:
    return [each.sha for each in hx.governance.why(topic, **options).commits]  # type: ignore[arg-type]


@pytest.mark.row("A051")
def test_a_line_is_told_with_the_commit_that_it_comes_from_and_its_reason(
    tmp_path: Path, commit: Commit
) -> None:
    first, second = commit("src/a.py", FIRST, "Count the valves"), commit("src/a.py", SECOND, REASON)

    with store(tmp_path, f"git:{tmp_path}") as hx:
        assert [first] == shas(hx, "src/a.py:1")
        assert [second] == shas(hx, "src/a.py:2-3") == shas(hx, "src/a.py:2") == shas(hx, "src/a.py:2:5")
        assert (
            [second, first]
            == shas(hx, "src/a.py:1-4")
            == shas(hx, "src/a.py::drain")
            == shas(hx, "src/a.py#drain")
        )
        assert (
            [second, first]
            == shas(hx, "src/a.py")
            == shas(hx, "src")
            == shas(hx, str(tmp_path / "src" / "a.py"))
        )
        assert [second] == shas(hx, "src/a.py", limit=1) == shas(hx, "src/a.py:1-4", limit=1)
        why = hx.governance.why("src/a.py:2")
        (behind,) = why.commits
        assert hx.get(behind.memory_id).source_id == second
    assert [
        f"Commit {second[:10]}, {ago(behind.at, why.asked_at)} by Ada.",
        "Open the valves first",
        "Why: A closed valve holds water back.",
        "  Decision: this line belongs to nobody.",
    ] == str(why).splitlines()


def test_decisions_that_cite_the_file_or_the_commit_stand_before_it(tmp_path: Path, commit: Commit) -> None:
    first = commit("a.py", FIRST, "Count the valves")

    with store(tmp_path, f"git:{tmp_path}") as hx:
        hx.governance.decide("Drain by hand", links=["a.py"])
        hx.governance.decide("Count, do not weigh", links=[first[:8]])
        why = hx.governance.why("a.py:1")

    assert {"Drain by hand", "Count, do not weigh"} == {each.title for each in why.decisions}
    assert [first] == [each.sha for each in why.commits]
    assert [first] == [each["sha"] for each in why.to_dict()["commits"]]  # type: ignore[index, union-attr, call-overload]


def test_a_renamed_file_keeps_the_reasons_it_had(tmp_path: Path, commit: Commit) -> None:
    first = commit("a.py", SECOND, REASON)
    git(tmp_path, "mv", "a.py", "b.py")
    renamed = commit("other.py", "", "Rename a to b")

    with store(tmp_path, f"git:{tmp_path}") as hx:
        assert ([first], [renamed, first]) == (shas(hx, "b.py:2"), shas(hx, "b.py"))


def test_a_file_that_was_renamed_is_followed_from_its_old_names(tmp_path: Path, commit: Commit) -> None:
    first = commit("src/a.py", SECOND, REASON)
    git(tmp_path, "mv", "src/a.py", "src/b.py")
    renamed = commit("other.py", "", "Rename a to b")
    git(tmp_path, "mv", "src/b.py", "c.py")
    last = commit("c.py", f"{SECOND}\n\nLEAST = 1\n", "Rename b to c, and count")

    with store(tmp_path, f"git:{tmp_path}") as hx:
        hx.governance.decide("Keep it at the top", links=["c.py"])
        assert [last, renamed, first] == shas(hx, "src/a.py") == shas(hx, "src/b.py")
        assert [first] == shas(hx, "src/a.py:1") == shas(hx, "src/a.py::drain")
        why = hx.governance.why("src/a.py:1")
    assert (
        f"src/a.py is called src/b.py since commit {renamed[:10]} of 2026-01-02.",
        f"src/b.py is called c.py since commit {last[:10]} of 2026-01-03.",
    ) == why.notes
    assert ["Keep it at the top"] == [each.title for each in why.decisions]


def test_a_file_that_was_deleted_is_told_with_the_commit_that_did_so(tmp_path: Path, commit: Commit) -> None:
    first, second = commit("src/a.py", FIRST, "Count the valves"), commit("src/a.py", SECOND, REASON)
    git(tmp_path, "checkout", "-q", "-b", "side")
    git(tmp_path, "rm", "-q", "src/a.py")
    gone = commit("other.py", "", "Drop the valves")
    git(tmp_path, "checkout", "-q", "-")
    commit("third.py", "", "Go on")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge side", "side")

    with store(tmp_path, f"git:{tmp_path}") as hx:
        assert [gone, second, first] == shas(hx, "src/a.py")
        assert [second] == shas(hx, "src/a.py:2-3")
        assert [first] == shas(hx, "src/a.py:1")
        assert [second, first] == shas(hx, "src/a.py::drain")
        since = f"src/a.py is gone since commit {gone[:10]} of 2026-01-03."
        assert since in hx.governance.why("src/a.py:1").notes
        assert "src/a.py had 4 lines at last" in " ".join(hx.governance.why("src/a.py:99").notes)
        assert () == hx.governance.why("src/never.py").notes == hx.governance.why("never/there").notes


def test_a_file_that_is_deleted_and_not_committed_has_its_history(tmp_path: Path, commit: Commit) -> None:
    first = commit("a.py", FIRST, "Count the valves")
    (tmp_path / "a.py").unlink()

    with store(tmp_path, f"git:{tmp_path}") as hx:
        assert [first] == shas(hx, "a.py") == shas(hx, "a.py:1")
        since = "a.py is in the last commit and not there: it was deleted or renamed since."
        assert since in hx.governance.why("a.py").notes


def test_the_shell_follows_a_name_that_is_gone_from_the_folder_that_one_is_in(
    tmp_path: Path, commit: Commit, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit("src/a.py", FIRST, "Count the valves")
    git(tmp_path, "mv", "src/a.py", "src/b.py")
    renamed = commit("src/c.py", "", "Rename a to b")
    store(tmp_path, f"git:{tmp_path}").close()

    monkeypatch.chdir(tmp_path / "src")
    done = run("why", "a.py")

    assert "Count the valves" in done.out
    assert f"src/a.py is called src/b.py since commit {renamed[:10]}" in done.err


def test_a_name_of_a_file_is_no_pattern(tmp_path: Path, commit: Commit) -> None:
    own, other = (
        commit("a[b].py", FIRST, "Name it oddly"),
        commit("ab.py", "LIMIT = 7\n", "Match the pattern"),
    )

    with store(tmp_path, f"git:{tmp_path}") as hx:
        assert ([own], [other]) == (shas(hx, "a[b].py"), shas(hx, "ab.py"))


def test_what_is_not_remembered_not_committed_or_not_there_is_said(tmp_path: Path, commit: Commit) -> None:
    commit("a.py", FIRST, "Count the valves")
    (tmp_path / "a.py").write_text(FIRST + "drain([])\n")
    (tmp_path / "new.py").write_text("x = 1\n")

    with store(tmp_path) as hx:
        notes = hx.governance.why("a.py:1-3").notes
        beyond = hx.governance.why("a.py:4")
        new = hx.governance.why("new.py:1")

    assert [
        "Lines of a.py that are not committed yet: 1.",
        "Commits of a.py that are not remembered: 1; `hexad ingest git:HEAD` remembers all of the history.",
    ] == list(notes[-2:])
    assert not beyond and "a.py has 3 lines" in beyond.notes[-1]
    assert not new and not new.commits


def test_a_file_of_a_submodule_is_told_by_the_history_of_that(tmp_path: Path, commit: Commit) -> None:
    commit("src/a.py", FIRST, "Count the valves")
    library = tmp_path.parent / f"{tmp_path.name}-library"
    (library / "src").mkdir(parents=True)
    (library / "src" / "lock.py").write_text("def lock():\n    return 1\n")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "Lock the door")):
        git(library, *arguments)
    git(tmp_path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub")
    git(tmp_path, "commit", "-qm", "Add the library")
    sha = git(library, "rev-parse", "HEAD").strip()

    with store(tmp_path, f"git:{tmp_path}") as hx:
        remedy = (
            "Commits of sub/src/lock.py that are not remembered: 1; `hexad ingest git:sub?HEAD` remembers"
        )
        assert any(note.startswith(remedy) for note in hx.governance.why("sub/src/lock.py:2").notes)
        hx.ingest(f"git:{tmp_path / 'sub'}?HEAD")

        for topic in ("sub/src/lock.py:2", "sub/src/lock.py::lock", "sub/src/lock.py"):
            assert [sha] == shas(hx, topic)
        assert "src/lock.py has 2 lines" in hx.governance.why("sub/src/lock.py:9").notes[-1]
        assert ["Add the library"] == [each.title for each in hx.governance.why("sub").commits]


def test_a_file_behind_a_link_is_told_by_its_own_history(tmp_path: Path, commit: Commit) -> None:
    sha = commit("src/own.py", FIRST, "Count the valves")
    (tmp_path / "loop").symlink_to("src")
    (tmp_path / "other.py").symlink_to("src/own.py")
    (tmp_path / "circle").symlink_to("circle")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "a.py").write_text(FIRST)
    (tmp_path / "out").symlink_to(outside)

    with store(tmp_path, f"git:{tmp_path}") as hx:
        for topic in ("loop/own.py:1", "loop/own.py::drain", "loop/own.py", "other.py:2"):
            assert [sha] == shas(hx, topic)
        assert any("leads out of" in note for note in hx.governance.why("out/a.py:1").notes)


def test_a_role_is_told_no_commit_that_it_may_not_see(tmp_path: Path, commit: Commit) -> None:
    commit("a.py", FIRST, "Count the valves")
    with store(tmp_path) as hx:
        hx.spaces.create("history")
        hx.spaces.create("elsewhere")
        hx.spaces.set_policy("history", {"roles": ["lead"]})
        hx.ingest(f"git:{tmp_path}", space="history")

        assert (1, 0) == (len(shas(hx, "a.py", space="history")), len(shas(hx, "a.py", space="elsewhere")))
    for role, count in (("lead", 1), ("dev", 0)):
        with hexad.open(tmp_path, embedder=None, background=False, actor={"role": role}) as hx:
            assert count == len(shas(hx, "a.py")) == len(shas(hx, "a.py:1"))


def test_a_folder_without_a_repository_answers_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FIRST)
    with store(tmp_path) as hx:
        hx.governance.decide("Drain by hand", links=["a.py"])
        why = hx.governance.why("a.py:1")

    assert (["Drain by hand"], (), ()) == ([each.title for each in why.decisions], why.commits, why.notes)


def test_the_shell_takes_a_line_of_a_file_in_the_folder_that_one_is_in(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: Commit
) -> None:
    commit("src/a.py", FIRST, "Count the valves")
    commit("src/a.py", SECOND, REASON)
    run("ingest", "git:")

    monkeypatch.chdir(tmp_path / "src")
    told = run("why", "a.py:3")

    assert ["Open the valves first", "  Why: A closed valve holds water back."] == [
        line for line in told.out.splitlines() if "valve" in line
    ]
    assert "No decision" not in told.err
