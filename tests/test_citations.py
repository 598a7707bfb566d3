"""Memories that cite code: every place is held against the working tree when it is recalled."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import hexad
from hexad import CitationState, InvalidInput
from ran import Run

CODE = '''\
"""Gates of a lock."""

import time


class Gate:
    """One gate."""

    def open(self, speed: float) -> None:
        """Open it slowly: the chamber must be level."""
        while self.level_difference() > 0.01:
            time.sleep(0.1)
        self.motor.run(speed)

    def close(self) -> None:
        self.motor.run(-1.0)


def drain(chamber: str) -> int:
    valves = [name for name in chamber if name.startswith("valve")]
    for name in valves:
        print("opening", name)
    return len(valves)
'''
OTHER = "\n\nLIMIT = 3\n\n\ndef unrelated(argument: int) -> int:\n    return argument + LIMIT\n"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "gate.py").write_text(CODE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def state_of(folder: Path, question: str = "what about the chamber") -> tuple[CitationState, str | None]:
    with hexad.open(folder, embedder=None, background=False) as hx:
        (checked,) = hx.recall(question, min_relevance=0.0)[0].citations
    return checked.state, checked.place


def remember(folder: Path, *cites: str) -> hexad.Memory:
    with hexad.open(folder, embedder=None, background=False) as hx:
        return hx.remember("The chamber must be level before a gate opens.", cites=cites)


@pytest.mark.parametrize(
    ("cited", "place"),
    [
        ("src/gate.py:11-13", "src/gate.py:11-13"),
        ("src/gate.py::Gate.open", "src/gate.py:9-13"),
        ("src/gate.py", "src/gate.py"),
        ("./src/../src/gate.py:12", "src/gate.py:12-12"),
    ],
)
def test_what_stands_as_it_was_is_verified(project: Path, cited: str, place: str) -> None:
    memory = remember(project, cited)

    assert state_of(project) == (CitationState.VERIFIED, place)
    (citation,) = memory.citations
    assert (citation.path, len(citation.commit or "")) == ("src/gate.py", 40)
    assert "motor" not in str(memory.to_dict()["citations"])  # hashes alone


def test_empty_lines_at_the_end_of_a_file_may_be_cited_with_those_before(project: Path) -> None:
    (project / "ends.md").write_text("# Gates\n\nThey open slowly.\n\n\n")
    remember(project, "ends.md:1-5")
    assert state_of(project) == (CitationState.VERIFIED, "ends.md:1-3")

    (project / "ends.md").write_text("# Gates\n\nThey open slowly.\n")
    assert state_of(project) == (CitationState.VERIFIED, "ends.md:1-3")


@pytest.mark.parametrize(
    ("cited", "edit", "state", "place"),
    [
        ("src/gate.py:11-13", lambda text: "# one more line\n" + text, "moved", "src/gate.py:12-14"),
        ("src/gate.py::Gate.open", lambda text: "# one more line\n" + text, "verified", "src/gate.py:10-14"),
        ("src/gate.py:19-23", lambda text: text.replace("opening", "draining"), "changed", "src/gate.py:19-23"),
        ("src/gate.py::drain", lambda text: text.replace("opening", "draining"), "changed", "src/gate.py:19-23"),
        ("src/gate.py::drain", lambda text: text.partition("def drain")[0] + OTHER, "gone", None),
        ("src/gate.py:19-23", lambda text: text.partition("def drain")[0] + OTHER, "gone", None),
        ("src/gate.py", lambda text: text + "\n", "verified", "src/gate.py"),
        ("src/gate.py", lambda text: text + "X = 1\n", "changed", "src/gate.py"),
        ("src/gate.py:21-22", lambda text: text.replace("    for name", "        for name"), "changed", "src/gate.py:21-22"),
    ],
)  # fmt: skip
def test_what_became_of_a_place_is_said(
    project: Path, cited: str, edit, state: str, place: str | None
) -> None:
    remember(project, cited)
    file = project / "src" / "gate.py"
    file.write_text(edit(file.read_text()))

    assert state_of(project) == (CitationState(state), place)


def test_a_renamed_file_is_followed_and_a_deleted_one_is_gone(project: Path) -> None:
    remember(project, "src/gate.py::Gate.open")
    git(project, "mv", "src/gate.py", "src/doors.py")

    assert state_of(project) == (CitationState.MOVED, "src/doors.py:9-13")

    git(project, "commit", "-qam", "renamed")
    assert state_of(project) == (CitationState.MOVED, "src/doors.py:9-13")

    git(project, "rm", "-qf", "src/doors.py")
    assert state_of(project) == (CitationState.GONE, None)


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_file_that_was_moved_without_git_is_followed(project: Path, is_staged: bool) -> None:
    remember(project, "src/gate.py::Gate.open")
    (project / "src/gate.py").rename(project / "src/lock.py")
    if is_staged:
        git(project, "add", "-A")
    assert (CitationState.MOVED, "src/lock.py:9-13") == state_of(project)


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("cited", ["src/gate.py::Gate.open", "src/gate.py:9-13"])
def test_what_was_moved_to_another_file_is_followed(project: Path, cited: str, is_committed: bool) -> None:
    (project / "src/lock.py").write_text("import time\n\n\nclass Lock:\n    pass\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "second")
    remember(project, cited)
    lines = CODE.split("\n")
    moved, rest = lines[8:13], lines[:8] + lines[14:]
    (project / "src/gate.py").write_text("\n".join(rest))
    (project / "src/lock.py").write_text("\n".join(["import time", "", "", "class Gate:", *moved, ""]))
    if is_committed:
        git(project, "commit", "-qam", "third")
    assert (CitationState.MOVED, "src/lock.py:5-9") == state_of(project)


def test_a_copy_of_what_was_changed_in_its_place_is_not_what_was_cited(project: Path) -> None:
    remember(project, "src/gate.py::Gate.open")
    (project / "src/copy.py").write_text(CODE)
    (project / "src/gate.py").write_text(CODE.replace("0.01", "0.02"))
    assert (CitationState.CHANGED, "src/gate.py:9-13") == state_of(project)


def test_a_file_that_was_renamed_twice_and_rewritten_is_followed(project: Path) -> None:
    remember(project, "src/gate.py:11-13")
    file, text = project / "src" / "doors.py", CODE
    git(project, "mv", "src/gate.py", "src/doors.py")
    git(project, "commit", "-qm", "renamed")
    file.write_text(text + "".join(f"def added_{n}() -> int:\n    return {n}\n" for n in range(60)))
    git(project, "commit", "-qam", "grown")
    git(project, "mv", "src/doors.py", "lock.py")
    git(project, "commit", "-qm", "renamed again")

    assert state_of(project) == (CitationState.MOVED, "lock.py:11-13")


def test_a_renamed_file_is_followed_where_the_commit_was_rewritten_since(project: Path) -> None:
    """A branch was rebased, or this is another clone: what was cited at a commit that is not there any more."""
    (project / "more.py").write_text("X = 1\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "to be rewritten")
    remember(project, "src/gate.py:11-13", "src/gate.py")
    git(project, "commit", "-q", "--amend", "-m", "rewritten")
    git(project, "mv", "src/gate.py", "src/doors.py")
    git(project, "commit", "-qm", "renamed")
    git(project, "mv", "src/doors.py", "lock.py")
    git(project, "commit", "-qm", "renamed again")
    git(project, "reflog", "expire", "--expire=now", "--all")
    git(project, "gc", "-q", "--prune=now")

    with hexad.open(project, embedder=None, background=False) as hx:
        lines, whole = hx.recall("gate", min_relevance=0.0)[0].citations
    assert (CitationState.MOVED, "lock.py:11-13") == (lines.state, lines.place)
    assert (CitationState.MOVED, "lock.py") == (whole.state, whole.place)


@pytest.mark.parametrize("cited", ["src/gate.py", "src/gate.py:11-13", "src/gate.py::Gate.open"])
def test_other_line_ends_are_no_change(project: Path, cited: str) -> None:
    file = project / "src/gate.py"
    file.write_text(file.read_text() + "\n\n")
    remember(project, cited)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert CitationState.VERIFIED == state_of(project)[0]


def test_what_the_code_has_outgrown_sinks_and_says_so(project: Path) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        old = hx.remember(
            "A gate opens at half speed, and the chamber is level.", cites=["src/gate.py::Gate.open"]
        )
        new = hx.remember(
            "A gate opens at full speed while the chamber is level.", cites=["src/gate.py::Gate.close"]
        )
        question = "at which speed does a gate open when the chamber is level?"
        before = {hit.id: hit for hit in hx.recall(question, min_relevance=0.0)}
        file = project / "src" / "gate.py"
        file.write_text(file.read_text().replace("time.sleep(0.1)", "time.sleep(0.2)"))
        after = {hit.id: hit for hit in hx.recall(question, min_relevance=0.0)}
        context = hx.context(question, max_tokens=400).render("markdown")

    assert "citations" not in before[old.id].parts
    assert after[old.id].score < before[old.id].score
    assert after[new.id].score == pytest.approx(before[new.id].score, abs=0.001)
    assert [hit["citations"] for hit in (after[old.id].passage(), after[old.id].to_dict())] == [
        [{"cited": "src/gate.py::Gate.open", "state": "changed", "place": "src/gate.py:9-13"}]
    ] * 2
    assert sum(after[old.id].parts.values()) == pytest.approx(after[old.id].score)
    assert "it cites src/gate.py::Gate.open: changed" in context


def test_the_audit_of_memories_lists_what_the_code_has_outgrown(project: Path, run: Run) -> None:
    ran = run(
        "remember",
        "A gate opens slowly.",
        "--cite",
        "src/gate.py::Gate.open",
        "--cite",
        "src/gate.py:1",
        "-C",
        str(project),
    )
    assert ran.code == 0, ran.err
    file = project / "src" / "gate.py"
    file.write_text(file.read_text().replace("self.motor.run(speed)", "self.motor.run(speed / 2)"))

    audit = run("doctor", "--memories", "-C", str(project)).out
    recalled = run("recall", "gate opens slowly", "-C", str(project)).out

    assert "it cites src/gate.py::Gate.open: changed (src/gate.py:9-13)" in " ".join(audit.split())
    assert "cites src/gate.py:1-1: verified" in recalled
    assert "cites src/gate.py::Gate.open: changed" in recalled


@pytest.mark.parametrize(
    ("cited", "why"),
    [
        ("src/nothing.py", "no such text file"),
        ("src/gate.py:20-99", "has 23 lines"),
        ("src/gate.py:9-3", "lines go from a first to a last one"),
        ("src/gate.py:0", "lines go from a first to a last one"),
        ("src/gate.py::Gate.lock", "defines no Gate.lock"),
        ("../../etc/passwd", "not below"),
        ("/etc/passwd:1", "not below"),
        (".hexad/keys.json", "or in the store"),
        ("", "names no file"),
        ("src", "no such text file"),
        ("ends.md:6", "has 5 lines"),
        ("ends.md:4-5", "from there on its lines are empty"),
    ],
)
def test_what_is_not_there_cannot_be_cited_and_nothing_is_stored(project: Path, cited: str, why: str) -> None:
    (project / "ends.md").write_text("# Gates\n\nThey open slowly.\n\n\n")
    with hexad.open(project, embedder=None, background=False) as hx:
        with pytest.raises(InvalidInput, match=why):
            hx.remember("A gate opens slowly.", cites=[cited, "src/gate.py"])
        assert hx.count() == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"lines": "ten"}, {"lines": "0-99999999"}, {"lines": "3-1"}, {"lines": None, "symbol": "Gate"}, {"marks": "a b c d"},
        {"content_hash": None}, {"marks": None}, {"path": "../../etc/passwd"}, {"path": "\ud800"}, {"commit": "--output=x"},
    ],
)  # fmt: skip
def test_what_came_with_odd_hashes_is_not_checked_or_gone_and_breaks_nothing(
    project: Path, odd: dict[str, str | None]
) -> None:
    memory = remember(project, "src/gate.py:11-13")
    (citation,) = memory.to_dict()["citations"]
    with hexad.open(project, embedder=None, background=False) as hx:
        try:
            hx.remember_structured(
                "copy", {"raw": "The chamber is level.", "citations": [{**citation, **odd}]}
            )
        except InvalidInput:
            return
        (hit,) = hx.recall("chamber level", space="copy", min_relevance=0.0)
        hx.memory_quality()

    assert [checked.state for checked in hit.citations] in (
        [],
        [CitationState.GONE],
        [CitationState.VERIFIED],
    )


def test_citations_go_with_an_export_and_come_back(project: Path, tmp_path: Path) -> None:
    memory = remember(project, "src/gate.py:11-13")
    with hexad.open(project, embedder=None, background=False) as hx:
        again = hx.remember_structured(
            "copy", {"raw": "The chamber is level.", "citations": memory.to_dict()["citations"]}
        )

    assert again.citations == memory.citations


# Branches ---------------------------------------------------------------------------------------------------------------

ADDED = "\n\ndef flush_valve(pressure: float) -> bool:\n    return pressure > 3.5\n"


def recalled(folder: Path) -> list[str]:
    with hexad.open(folder, embedder=None, background=False) as hx:
        return [hit.text for hit in hx.recall("when is the valve flushed", min_relevance=0.0)]


def cite_on_branch(project: Path, *, commits: bool) -> None:
    """Cite a function of the branch `flushing`, committed before it is cited or after, and go back to the first one."""
    git(project, "branch", "-M", "main")
    (project / ".git" / "info" / "exclude").write_text(".hexad\n")
    git(project, "checkout", "-qb", "flushing")
    file = project / "src" / "gate.py"
    file.write_text(file.read_text() + ADDED)
    if commits:
        git(project, "commit", "-qam", "flush")
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("The valve is flushed above 3.5 bar.", cites=["src/gate.py::flush_valve"])
    if not commits:
        git(project, "commit", "-qam", "flush")
    git(project, "checkout", "-q", "main")


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "committed later"])
def test_a_memory_of_a_branch_is_recalled_where_that_is_checked_out_or_merged(
    project: Path, commits: bool
) -> None:
    cite_on_branch(project, commits=commits)
    assert [] == recalled(project)

    git(project, "checkout", "-q", "flushing")
    assert ["The valve is flushed above 3.5 bar."] == recalled(project)

    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "--no-ff", "-m", "merged", "flushing")
    assert ["The valve is flushed above 3.5 bar."] == recalled(project)


def test_what_was_merged_by_squashing_is_recalled_after_its_branch_is_gone(project: Path) -> None:
    cite_on_branch(project, commits=True)
    git(project, "merge", "-q", "--squash", "flushing")
    git(project, "commit", "-qm", "flush")
    git(project, "branch", "-qD", "flushing")

    assert (CitationState.VERIFIED, "src/gate.py:26-27") == state_of(project, "when is the valve flushed")


def test_what_is_left_out_is_told_and_is_not_stale(project: Path) -> None:
    cite_on_branch(project, commits=True)
    with hexad.open(project, embedder=None, background=False) as hx:
        hits = hx.recall("when is the valve flushed", min_relevance=0.0, explain=True)
        assert ["it cites code of the branch flushing, which is not merged here"] == [
            dropped.reason for dropped in hits.dropped
        ]
        assert "Left out: 1 memory cites code of flushing, not merged here." in hits.notes
        assert "flushed" not in hx.context("when is the valve flushed", wait=True).render()


def test_a_place_that_was_changed_after_the_merge_is_changed_and_no_branch_has_it(project: Path) -> None:
    cite_on_branch(project, commits=True)
    git(project, "merge", "-q", "flushing")
    file = project / "src" / "gate.py"
    file.write_text(file.read_text().replace("3.5", "4.0"))
    git(project, "commit", "-qam", "more pressure")

    assert CitationState.CHANGED is state_of(project, "when is the valve flushed")[0]


def test_a_linked_work_tree_recalls_what_its_own_branch_has(project: Path, tmp_path_factory) -> None:
    cite_on_branch(project, commits=True)
    other = tmp_path_factory.mktemp("trees") / "flushing"
    git(project, "worktree", "add", "-q", str(other), "flushing")
    (project / ".hexad").rename(other / ".hexad")

    assert ["The valve is flushed above 3.5 bar."] == recalled(other)
    git(other, "checkout", "-q", "--detach", "main")
    assert [] == recalled(other)
