"""Citations: a repository is replayed commit by commit; is what became of each cited place said right?

Lines, drawn at random from the files of the first of the commits, are cited there. What became of them is known from
git's own differences from each commit to the next, line by line; recall's answer is read from the work tree. Twenty
places each are checked at every tenth commit. The repository is this one's, or the one in CITATIONS_REPOSITORY.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks.report import Options, Report, Table
from hexad.ingest.citations import Citations
from hexad.memory.memory import Citation, CitationState

COMMITS: Final = 200
PLACES: Final = 300
EVERY: Final = 10
LINES_MOST: Final = 40
GOAL: Final = 0.99
_CODE: Final = (".py", ".js", ".ts", ".go", ".rs", ".java", ".c", ".h", ".md", ".rst", ".toml", ".sh")
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(slots=True)
class Tracked:
    """A cited place, and where each of its lines is by git's differences; None for one that is not there any more."""

    citation: Citation
    text: tuple[str, ...]
    telling: tuple[bool, ...]
    path: str | None
    lines: list[int | None]
    start: int

    def state(self, tree: Path) -> CitationState:
        """Return what became of it in a work tree."""
        if (place := self._whole(tree)) is not None:
            same = place == self.start and self.path == self.citation.path
            return CitationState.VERIFIED if same else CitationState.MOVED
        if self.path is None or not any(
            line is not None and telling for line, telling in zip(self.lines, self.telling, strict=True)
        ):
            return CitationState.GONE
        return CitationState.CHANGED

    def _whole(self, tree: Path) -> int | None:
        """Return the line from which on all of it stands, None where it does not.

        Which of two empty lines stayed is any choice of git's: the lines that tell something have to have moved
        together, and those between them have to be as they were.
        """
        starts = {
            None if line is None else line - at
            for at, (line, telling) in enumerate(zip(self.lines, self.telling, strict=True))
            if telling
        }
        start = starts.pop() if len(starts) == 1 else None
        if self.path is None or start is None or start < 1:
            return None
        there = _lines(tree / self.path)[start - 1 : start - 1 + len(self.text)]
        return start if tuple(there) == self.text else None


def run(options: Options) -> Report:
    """Replay the last commits of a repository."""
    report = Report(name="Citations")
    repository = Path(os.environ.get("CITATIONS_REPOSITORY") or Path(__file__).parents[1])
    count = 40 if options.quick else COMMITS
    try:
        commits = _git(repository, "rev-list", "--first-parent", f"--max-count={count + 1}", "HEAD").split()
    except (OSError, subprocess.CalledProcessError):
        report.skipped = f"{repository} is no repository of git."
        return report
    commits.reverse()
    tree = options.work / "citations"
    _git(repository, "clone", "--quiet", "--no-checkout", str(repository), str(tree))
    _git(tree, "checkout", "--quiet", commits[0])
    source, tracked = random.Random(7), list[Tracked]()
    citations = Citations(tree)
    files = [name for name in _git(tree, "ls-files").splitlines() if name.endswith(_CODE)]
    while len(tracked) < PLACES and files:
        place = _draw(tree, source.choice(files), source)
        if place is not None:
            tracked.append(_cite(citations, tree, *place))
    right, wrong = Counter[str](), Counter[tuple[str, str]]()
    spent = 0.0
    for number, (before, after) in enumerate(pairwise(commits), start=1):
        _follow(tree, before, after, tracked)
        if number % EVERY and number != len(commits) - 1:
            continue
        _git(tree, "checkout", "--quiet", "--force", after)
        for each in tracked:
            truth = each.state(tree)
            started = time.process_time()
            (checked,) = citations.check([each.citation])
            spent += time.process_time() - started
            if checked.state is truth:
                right[truth] += 1
            else:
                wrong[truth, checked.state] += 1
    total = right.total() + wrong.total()
    rows = [
        (
            state.value,
            right[state] + sum(n for (truth, _), n in wrong.items() if truth is state),
            right[state],
            ", ".join(f"{n} {said}" for (truth, said), n in wrong.most_common() if truth is state) or "none",
        )
        for state in CitationState
    ]
    report.tables.append(
        Table(title=f"{len(commits) - 1} commits, {len(tracked)} places", columns=("by git", "checked", "right", "said instead"), rows=rows)
    )  # fmt: skip
    report.at_least("share of places whose state is right", right.total() / max(1, total), GOAL, "")
    report.at_most("CPU time of a check", 1000 * spent / max(1, total), 5.0, "ms")
    return report


def _draw(tree: Path, name: str, source: random.Random) -> tuple[str, int, int] | None:
    try:
        lines = (tree / name).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    size = min(source.randint(1, LINES_MOST), len(lines) - 1)
    if size < 1:
        return None
    first = source.randint(1, len(lines) - size)
    span = lines[first - 1 : first - 1 + size]
    return (name, first, first + size - 1) if sum(map(str.isalnum, "".join(span))) >= LINES_MOST else None


def _cite(citations: Citations, tree: Path, name: str, first: int, last: int) -> Tracked:
    (citation,) = citations.cite([f"{name}:{first}-{last}"])
    lines = _lines(tree / name)[first - 1 : last]
    telling = tuple(sum(map(str.isalnum, line)) >= 6 for line in lines)
    return Tracked(citation, tuple(lines), telling, citation.path, [*range(first, last + 1)], first)


def _lines(path: Path) -> list[str]:
    """Return the lines of a file without white space at their ends, which is no change."""
    try:
        return [line.rstrip() for line in path.read_text("utf-8", errors="replace").split("\n")]
    except OSError:
        return []


def _follow(tree: Path, before: str, after: str, tracked: list[Tracked]) -> None:
    """Carry every line over one commit, by the hunks of git's difference."""
    names = _git(tree, "diff", "--name-status", "-z", "-M", before, after).split("\0")
    renamed, deleted, touched = dict[str, str](), set[str](), set[str]()
    at = 0
    while at + 1 < len(names):
        if names[at].startswith(("R", "C")):
            if names[at].startswith("R"):
                renamed[names[at + 1]] = names[at + 2]
                touched.add(names[at + 1])
            at += 3
        else:
            if names[at] == "D":
                deleted.add(names[at + 1])
            touched.add(names[at + 1])
            at += 2
    for path in {each.path for each in tracked if each.path is not None} & touched:
        if path in deleted:
            for each in tracked:
                if each.path == path:
                    each.path = None
            continue
        new = renamed.get(path, path)
        said = _git(
            tree, "diff", "-U0", "--ignore-space-at-eol", f"{before}:{path}", f"{after}:{new}"
        )  # fmt: skip
        hunks = [[int(n) if n else 1 for n in match.groups()] for match in _HUNK.finditer(said)]
        for each in tracked:
            if each.path == path:
                each.lines = [_carried(line, hunks) for line in each.lines]
        for each in tracked:
            if each.path == path:
                each.path = f"\0{new}"  # so that no file that takes an old name is followed twice
    for each in tracked:
        if each.path is not None:
            each.path = each.path.removeprefix("\0")


def _carried(line: int | None, hunks: list[list[int]]) -> int | None:
    if line is None:
        return None
    shift = 0
    for start, size, _, new in hunks:
        if size and start <= line < start + size:
            return None
        if line >= start + size and (size or line > start):
            shift += new - size
    return line + shift


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True, errors="surrogateescape"
    ).stdout
