"""Which repository, worktree and branch a folder belongs to, read from the files below `.git`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.core.arguments import read_regular
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.ingest.sources.git_command import current_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where work is done: a repository, one of its worktrees and the branch there.

    `repository` and `worktree` are folders; outside of a repository both are the folder itself. `branch` is None
    there, and `detached at <commit>` where no branch is checked out.
    """

    repository: str
    worktree: str
    branch: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the place as JSON."""
        return as_json(self)


_HEAD_BYTES: Final = 4_096
_REF: Final = re.compile(r"ref:\s*(\S.*)")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHORT: Final = 10
_ELSEWHERE: Final = "refs/heads/.invalid"
"""What HEAD says where refs are in tables of their own: git alone reads these."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A place, and the file that says which branch is checked out there; None outside of a repository."""

    place: Workplace
    head: Path | None
    folder: Path

    def stamp(self) -> tuple[int, ...]:
        """Return what changes when another branch is checked out: looked at often, so nothing is read."""
        if self.head is None:
            return ()
        try:
            stat = os.stat(self.head)
        except OSError:
            return (0,)
        return stat.st_mtime_ns, stat.st_ino, stat.st_size


def checkout(folder: Path) -> Checkout:
    """Return where a folder is; a folder outside of every repository is a place of its own.

    Linked worktrees have the repository that they belong to, a submodule is a repository of its own.
    """
    folder = folder.resolve()
    for at in (folder, *folder.parents):
        found_folder = _git_folder(at / ".git")
        if found_folder is None:
            continue
        git, common = found_folder
        repository = common.parent if common.name == ".git" else at if common == git else common
        head = git / "HEAD"
        place = Workplace(repository=str(repository), worktree=str(at), branch=_branch(head, at))
        return Checkout(place, head, at)
    return Checkout(Workplace(repository=str(folder), worktree=str(folder)), None, folder)


def _git_folder(entry: Path) -> tuple[Path, Path] | None:
    """Return a worktree's own git folder, and the one that all worktrees share; None where there is none."""
    git = entry
    if entry.is_file():
        text = _read(entry)
        if not text.startswith("gitdir:"):
            return None
        git = Path(os.path.realpath(entry.parent / _name(text.removeprefix("gitdir:"))))
    if not (git / "HEAD").is_file():
        return None
    shared = _name(_read(git / "commondir"))
    return git, Path(os.path.realpath(git / shared)) if shared else git


def _name(text: str) -> str:
    """Return the name of a folder as a file has it; nothing where no folder can be called so."""
    return "" if "\0" in text else text.strip()


def _branch(head: Path, worktree: Path) -> str | None:
    text = _read(head)
    ref = _REF.fullmatch(text)
    if ref is not None and ref[1] == _ELSEWHERE:
        try:
            return current_branch(worktree)
        except InvalidInput:
            return None
    if ref is not None:
        return ref[1].removeprefix("refs/heads/")
    return f"detached at {text[:_SHORT]}" if _COMMIT.fullmatch(text) else None


def _read(path: Path) -> str:
    try:
        return read_regular(path, limit=_HEAD_BYTES).decode("utf-8", "replace").strip()
    except (OSError, InvalidInput):
        return ""
