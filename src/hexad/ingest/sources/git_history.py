"""A repository's history through the `git` command: a memory a commit, and what changed in between."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from hexad.errors import InvalidInput
from hexad.ingest.sources.file_place import clean_tags, memory_path, safe_id
from hexad.ingest.sources.git_command import git_output, is_partial, rename_option, toplevel
from hexad.memory.decision import FileDeparture
from hexad.memory.memory import Citation
from hexad.memory.source import Item, KnownItem, Skip, Unchanged
from hexad.text.graphemes import cut
from hexad.text.normalize import clean

_COMMITS_AT_ONCE: Final = 100
_CITATIONS_LIMIT: Final = 50
_MESSAGE_CHARACTERS_LIMIT: Final = 200_000

_NAMES_MOST: Final = 20
"""So many times a file is followed to its next name."""
_SECONDS_FOR_PATH: Final = 20
"""A path that never was in the history has git look at all of it."""

_FORMAT: Final = "%H%x00%P%x00%at%x00%an%x00%B"
_BLAMED: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) \d+ \d+(?: \d+)?")
_ADDRESS: Final = re.compile(r"<?\b[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b>?")
_BRACKETED_ADDRESS: Final = re.compile(r"[ \t]*<[^<>\s@]{1,64}@[^<>\s@]{1,255}>")

Lookup = Callable[[str], KnownItem | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFiles:
    """The files that differ between two states, as the ids that a folder's reader gives them."""

    changed: tuple[str, ...]
    vanished: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOrigins:
    """The commits that lines of a file come from, the latest first.

    `uncommitted` counts lines that no commit has yet, `older` those from before the history that was cloned.
    """

    shas: tuple[str, ...] = ()
    uncommitted: int = 0
    older: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touched:
    path: str
    added: int | None = None  # None for a binary file, and of what is not there
    removed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commit:
    sha: str
    parents: int
    time: datetime | None
    author: str
    message: str
    files: tuple[_Touched, ...]
    is_whole: bool = True


def head_commit(folder: Path) -> str | None:
    """Return the commit that the work tree around `folder` stands on; None before the first one.

    Raises `InvalidInput` with git's reason when there is no repository.
    """
    toplevel(folder)
    try:
        return git_output(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode("ascii").strip()
    except InvalidInput:
        return None


def count_commits(top: Path, *, commits: str | None, limit: int) -> int:
    """Return how many commits `read_git` will give."""
    bound = () if commits else (f"--max-count={limit}",)
    return int(git_output(top, "rev-list", "--count", *bound, *_range(commits)))


def read_git(
    top: Path, *, commits: str | None, limit: int, uri: str, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give the commits of a range, or the last `limit`, the oldest first.

    A commit never changes, so one that is known is not read again. E-mail addresses are left out.

    Raises `InvalidInput` with git's reason for a range that it does not know.
    """
    bound = () if commits else (f"--max-count={limit}",)
    names = iter(git_output(top, "rev-list", "--reverse", *bound, *_range(commits)).decode("ascii").split())
    project = safe_id(top.name) or "root"
    cut_off, lacks = _cut_off(top), is_partial(top)
    while batch := list(islice(names, _COMMITS_AT_ONCE)):
        new = []
        for sha in batch:
            mark = _mark(sha, cut_off)
            marks = (mark, _uncounted(mark)) if lacks else (mark,)
            if (before := known(sha)) is not None and before.fingerprint in marks:
                yield Unchanged(source_id=sha, fingerprint=before.fingerprint)
            else:
                new.append(sha)
        if new:
            for commit in _read_what_is_there(top, new) if lacks else _read_commits(top, new):
                yield _item(commit, project=project, uri=uri, cut_off=cut_off)


def read_commits(top: Path, names: Sequence[str], *, uri: str) -> Iterator[Item]:
    """Give the commits of these names, which have to be there."""
    project = safe_id(top.name) or "root"
    cut_off, lacks = _cut_off(top), is_partial(top)
    for start in range(0, len(names), _COMMITS_AT_ONCE):
        batch = names[start : start + _COMMITS_AT_ONCE]
        for commit in _read_what_is_there(top, batch) if lacks else _read_commits(top, batch):
            yield _item(commit, project=project, uri=uri, cut_off=cut_off)


def unreached_commits(top: Path, names: Collection[str]) -> frozenset[str]:
    """Return which of some commits no branch, tag, remote branch or work tree reaches, or git has no more.

    The stash and what `git filter-branch` leaves of a history that it rewrote do not count. In a shallow clone those
    from before it are among them. Raises `InvalidInput` where git cannot tell.
    """
    asked = "".join(f"{name}\n" for name in sorted(names))
    refs = ("--exclude=refs/stash", "--exclude=refs/original/*", "--all")
    output = git_output(top, "rev-list", "--ignore-missing", "--stdin", "--not", *refs, stdin=asked)
    found = frozenset(output.decode("ascii").split()).intersection(names)
    rest = "".join(f"{name}\n" for name in sorted(set(names) - found))
    if rest:
        objects = git_output(top, "cat-file", "--batch-check", stdin=rest).decode("ascii").splitlines()
        found |= {line.partition(" ")[0] for line in objects if line.endswith(" missing")}
    if found:
        git_output(top, "for-each-ref", "--format=%(objecttype)")  # fails where a branch is damaged
    return found


def is_shallow(top: Path) -> bool:
    """Whether the history begins somewhere in its middle."""
    return bool(_cut_off(top))


def _mark(sha: str, cut_off: Collection[str]) -> str:
    """Return what a commit is known by: it never changes, but what it touched is seen once its parents are there."""
    return f"{sha} without parents" if sha in cut_off else sha


def _uncounted(mark: str) -> str:
    """Return what a commit is known by of which a partial clone had not the contents that count lines."""
    return f"{mark} without contents"


def changed_files(folder: Path, commits: str) -> ChangedFiles:
    """Return which files below `folder` differ over `commits`: `A..B`, or one state against the work tree.

    A renamed file has vanished under its old name. Raises `InvalidInput` for what git does not know.
    """
    output = git_output(
        folder,
        *("diff", "--name-status", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv"),
        *_range(commits),
    )
    tokens = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
    pairs = list(zip(tokens[::2], tokens[1::2], strict=True))
    return ChangedFiles(
        changed=tuple(safe_id(path) for status, path in pairs if status != "D"),
        vanished=tuple(safe_id(path) for status, path in pairs if status == "D"),
    )


def commits_of_lines(folder: Path, path: str, *, first: int, last: int, at: str | None = None) -> LineOrigins:
    """Return the commits that lines of a file come from, as it is or as it was at a commit. Lines count from 1.

    A file that git does not know comes from no commit. Raises `InvalidInput` in a partial clone that has not the file's
    earlier contents.
    """
    try:
        output = git_output(
            folder,
            *(
                "-c",
                "blame.ignoreRevsFile=",
                "--literal-pathspecs",
                "blame",
                "--line-porcelain",
                f"-L{first},{last}",
                *(() if at is None else (at,)),
                "--",
                path,
            ),
        )
    except InvalidInput as error:  # no repository, no git, a file that is not committed
        if is_partial(folder):
            raise InvalidInput(
                f"this partial clone has not all earlier contents of {path}. Run `git fetch --refetch --no-filter`."
            ) from error
        return LineOrigins()
    cut_off = _cut_off(folder)
    times: dict[str, int] = {}
    uncommitted = older = 0
    for line in output.split(b"\n"):
        if (head := _BLAMED.match(line)) is not None:
            sha = head[1].decode("ascii")
            uncommitted += not sha.strip("0")
            older += sha in cut_off
        elif line.startswith(b"committer-time ") and sha.strip("0") and sha not in cut_off:
            times[sha] = int(line.split()[1])
    shas = tuple(sorted(times, key=lambda sha: -times[sha]))
    return LineOrigins(shas=shas, uncommitted=uncommitted, older=older)


def commits_of_file(folder: Path, path: str, *, limit: int) -> tuple[str, ...]:
    """Return the last commits that changed a file, under the names that it had before too, or a folder.

    Neither need be there any more.
    """
    is_there = (folder / path).exists()
    follow = () if is_there and not (folder / path).is_file() else ("--follow", rename_option(folder))
    # What is not there was often deleted on one side of a merge; that one the shortened history leaves out.
    whole = () if is_there else ("--full-history", "--no-merges")
    try:
        output = git_output(
            folder,
            *(
                "--literal-pathspecs",
                "log",
                "--format=%H",
                f"--max-count={limit}",
                *follow,
                *whole,
                "--",
                path,
            ),
        )
    except InvalidInput:
        return ()
    shas = output.decode("ascii").split()
    cut_off = _cut_off(folder) if shas else frozenset()
    return tuple(sha for sha in shas if sha not in cut_off)


def departures(folder: Path, path: str) -> tuple[FileDeparture, ...]:
    """Return since when a path that is not there is gone or called otherwise, followed by what became of that name.

    Empty for one that the history has not, or outside of a repository. Raises `InvalidInput` where git takes too long.
    """
    found: list[FileDeparture] = []
    name: str | None = path
    while name is not None and len(found) < _NAMES_MOST and not (folder / name).exists():
        departure = _departure(folder, name)
        if departure is None:
            break
        found.append(departure)
        name = departure.new
    return tuple(found)


def _departure(folder: Path, path: str) -> FileDeparture | None:
    if not _has(folder, "HEAD"):
        return None
    if _has(folder, f"HEAD:./{path}"):
        return FileDeparture(path)
    last = ("log", "-1", "--full-history", "--no-merges", "--diff-filter=D", "--format=%H %ct", "--", path)
    output = git_output(folder, "--literal-pathspecs", *last, seconds_limit=_SECONDS_FOR_PATH)
    sha, _, seconds = output.decode("ascii").strip().partition(" ")
    if not sha:
        return None
    renames = (
        "show",
        "--format=",
        "--relative",
        "--name-status",
        "-z",
        "--diff-filter=R",
        rename_option(folder),
    )
    names = git_output(folder, *renames, sha, "--").decode("utf-8", "surrogateescape").split("\0")
    called = {names[at + 1]: names[at + 2] for at in range(0, len(names) - 2, 3)}
    return FileDeparture(path, sha, _time(seconds), called.get(path))


def _has(folder: Path, name: str) -> bool:
    try:
        git_output(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    except InvalidInput:
        return False
    return True


def _cut_off(folder: Path) -> frozenset[str]:
    """Return the commits at which a shallow clone's history begins: all files look as if they came with these."""
    name = git_output(folder, "rev-parse", "--git-path", "shallow").decode("utf-8", "surrogateescape")
    try:
        return frozenset((folder / name.rstrip("\n")).read_text("ascii", errors="replace").split())
    except OSError:  # a whole history has no such file
        return frozenset()


def _range(commits: str | None) -> tuple[str, ...]:
    """Return a range as arguments that git cannot take for options or for files."""
    name = commits if commits is not None else "HEAD"
    if not name.strip() or name.startswith("-") or "\0" in name or any(char.isspace() for char in name):
        raise InvalidInput(f"{name!r} is no range of commits; write it like HEAD~20..HEAD.")
    return ("--end-of-options", name, "--")


def _read_what_is_there(top: Path, names: Sequence[str]) -> Iterator[_Commit]:
    """Give commits of a partial clone: without counts where contents are missing, without files where folders are."""
    for details in (("--numstat", "-M"), ("--raw", "-M100%"), ("--no-patch",)):
        try:
            commits = list(_read_commits(top, names, details=details))
        except InvalidInput:
            if details == ("--no-patch",):
                raise
        else:
            yield from (replace(commit, is_whole=details[0] == "--numstat") for commit in commits)
            return


def _read_commits(
    top: Path, names: Sequence[str], *, details: Sequence[str] = ("--numstat", "-M")
) -> Iterator[_Commit]:
    output = git_output(
        top,
        *("log", "--no-walk=unsorted", "--stdin", "-z", f"--format={_FORMAT}", *details),
        *("--encoding=UTF-8", "--no-ext-diff", "--no-textconv", "--no-notes"),
        stdin="\n".join(names) + "\n",
    )
    tokens = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    sha = next(tokens, "")
    while sha:
        parents, seconds, author, message = (next(tokens, "") for _ in range(4))
        files = []
        token = next(tokens, "")
        # A commit's name has no tab and no colon; a touched file's line has two tabs, or begins with a colon.
        while token.count("\t") >= 2 or token.lstrip("\n").startswith(":"):
            files.append(_touched(token.lstrip("\n"), tokens))
            token = next(tokens, "")
        yield _Commit(
            sha=sha,
            parents=len(parents.split()),
            time=_time(seconds),
            author=_readable(author).partition("@")[0],
            message=_readable(message),
            files=tuple(files),
        )
        sha = token.strip()


def _touched(line: str, tokens: Iterator[str]) -> _Touched:
    if line.startswith(
        ":"
    ):  # modes, names of contents and what was done; of a rename the old and the new name follow
        path = next(tokens, "")
        return _Touched(path=safe_id(next(tokens, "") if line.rsplit(maxsplit=1)[-1][:1] in "RC" else path))
    added, removed, path = line.split("\t", 2)
    if not path:  # a rename: the old and the new name follow
        next(tokens, "")
        path = next(tokens, "")
    return _Touched(
        path=safe_id(path),
        added=int(added) if added.isdigit() else None,
        removed=int(removed) if removed.isdigit() else None,
    )


def _time(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None  # a broken clock wrote it; the commit stays


def _readable(text: str) -> str:
    return clean(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _item(commit: _Commit, *, project: str, uri: str, cut_off: Collection[str]) -> Item:
    files = () if commit.sha in cut_off else commit.files
    message = _ADDRESS.sub("[e-mail]", _BRACKETED_ADDRESS.sub("", commit.message))
    message = cut(message, _MESSAGE_CHARACTERS_LIMIT).strip() or "(no message)"
    subject = message.partition("\n")[0]
    cited = files[:_CITATIONS_LIMIT]
    mark = _mark(commit.sha, cut_off)
    lines = ("added", "removed") if commit.is_whole else ()
    return Item(
        source_id=commit.sha,
        text=message + _file_list(files, counted=commit.is_whole),
        kind="commit",
        path=memory_path(project, "commits", commit.sha[:10]),
        title=subject[:200],
        time=commit.time,
        tags=clean_tags(["git", "merge"] if commit.parents > 1 else ["git"]),
        citations=tuple(Citation(path=each.path, commit=commit.sha) for each in cited),
        fingerprint=mark if commit.is_whole else _uncounted(mark),
        metadata={
            "project": project,
            "source": uri,
            "title": subject[:200],
            "commit": commit.sha,
            "author": commit.author,
            "files": len(files),
            **{name: sum(getattr(each, name) or 0 for each in files) for name in lines},
        },
    )


def _file_list(files: Sequence[_Touched], *, counted: bool) -> str:
    if not files:
        return ""
    lines = [f"- {each.path}" + (_counts(each) if counted else "") for each in files[:_CITATIONS_LIMIT]]
    if len(files) > _CITATIONS_LIMIT:
        lines.append(f"- and {len(files) - _CITATIONS_LIMIT:,} more")
    return "\n\nFiles:\n" + "\n".join(lines)


def _counts(file: _Touched) -> str:
    return " (binary)" if file.added is None else f" (+{file.added} -{file.removed})"
