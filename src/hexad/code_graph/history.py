"""Which files change together, by the commits of the repository that a folder is in.

What imports nothing of each other may belong together all the same: a schema and its reader, a route and its client.
Only names of files are read of a commit; its message and its lines are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from hexad.errors import InvalidInput
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.git_command import git_output, rename_option

COMMITS_MOST: Final = 2_000
"""So many of the latest commits are read when a folder is looked at first; what is older says little of today."""
FILES_MOST: Final = 20
"""A commit of more files is a move or a reformatting, and says nothing of any two of them."""
_MARK: Final = "\x01"


class CommonChanges(NamedTuple):
    """How often each file changed in some commits up to `head`, and how often two did together, the lower name first.

    `anew` says that the history from which earlier commits were counted is not that of `head` any more.
    """

    head: str
    counts: Counter[str]
    pairs: Counter[tuple[str, str]]
    anew: bool


def common_changes(folder: Path, *, since: str | None) -> CommonChanges | None:
    """Return what commits after `since` say of the files below a folder, by their names of today.

    None where the folder is in no repository, this has no commit, git is not there, or nothing came after `since`.
    A `since` that is not among the commits before the current one (rewritten, or gone) has all of them read anew.
    """
    if not any((above / ".git").exists() for above in (folder, *folder.parents)):
        return None
    try:
        head = git_output(folder, "rev-parse", "--verify", "HEAD").decode("ascii").strip()
    except InvalidInput:
        return None
    if head == since:
        return None
    follows = since is not None and _is_ancestor(folder, since, head)
    counts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for files in _commits(folder, f"{since}..{head}" if follows else head):
        if len(files) <= FILES_MOST:
            counts.update(files)
            pairs.update(combinations(sorted(files), 2))
    return CommonChanges(head, counts, pairs, anew=not follows)


def _is_ancestor(folder: Path, commit: str, head: str) -> bool:
    try:
        git_output(folder, "merge-base", "--is-ancestor", commit, head)
    except InvalidInput:  # it says no, or does not know the commit
        return False
    return True


def _commits(folder: Path, commits: str) -> Iterator[set[str]]:
    """Yield the files of each commit, the latest first, under the names that they have by now."""
    output = git_output(
        folder,
        *("log", "-z", "--no-merges", "--relative", rename_option(folder), "--name-status"),
        f"--max-count={COMMITS_MOST}",
        *(f"--format={_MARK}%H", commits, "--"),
    ).decode("utf-8", "surrogateescape")
    renamed: dict[str, str] = {}
    for commit in output.split(_MARK)[1:]:
        fields = iter(commit.split("\0")[1:])
        files: set[str] = set()
        for status in fields:
            status = status.strip("\n")
            if not status:
                continue
            old = path = next(fields, "")
            if status[0] in "RC":
                path = next(fields, "")
            today = renamed.get(path, path)
            if status[0] == "R":
                renamed[old] = today
            files.add(safe_id(today))
        yield files
