"""What a `.gitignore` leaves out: nested ones, those above the folder, the repository's own exclusions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.errors import InvalidInput

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_RULES_BYTES_LIMIT: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one file: `base` is its folder relative to the source's, with `/` at the end or empty.

    A base above the source is written the other way round: `above` is the way from it down to the source.
    """

    base: str
    above: str
    spec: GitIgnoreSpec

    def says(self, relative: str, *, is_folder: bool) -> bool | None:
        """Return True for ignored, False for taken back by `!`, None for not mentioned."""
        name = self.above + relative[len(self.base) :] + ("/" if is_folder else "")
        return self.spec.check_file(name).include


def ignored(rules: Sequence[Rules], relative: str, *, is_folder: bool) -> bool:
    """Return whether the last rule that mentions the name leaves it out; deeper files come last."""
    for each in reversed(rules):
        verdict = each.says(relative, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def rules_in(folder: Path, *, base: str) -> list[Rules]:
    """Return the rules of the folder's own `.gitignore`, none if it has no readable one."""
    return _read(folder / ".gitignore", base=base, above="")


def rules_above(root: Path) -> list[Rules]:
    """Return the rules that a repository lays on a folder inside it, the weakest first.

    None when they leave out the folder itself: then it was named on purpose.
    """
    top = next((each for each in [root, *root.parents] if (each / ".git").exists()), None)
    if top is None:
        return []
    rules = []
    if (exclude := _exclude_file(top / ".git")) is not None:
        rules += _read(exclude, base="", above=_way(top, root))
    between = [each for each in reversed(root.parents) if each.is_relative_to(top)] if top != root else []
    for folder in between:
        rules += _read(folder / ".gitignore", base="", above=_way(folder, root))
    is_named = any(each.above and each.spec.check_file(each.above).include for each in rules)
    return [] if is_named else rules


def compiled(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Return the patterns as one rule set; raises `InvalidInput` for one that cannot be read."""
    from pathspec import GitIgnoreSpec

    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError as error:
            raise InvalidInput(
                f"Pattern {pattern!r} cannot be read: {error}. Write it as in a .gitignore."
            ) from error
    return GitIgnoreSpec.from_lines(patterns)


def _way(folder: Path, root: Path) -> str:
    relative = root.relative_to(folder).as_posix()
    return "" if relative == "." else relative + "/"


def _read(path: Path, *, base: str, above: str) -> list[Rules]:
    from pathspec import GitIgnoreSpec

    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            lines = os.fsdecode(file.read(_RULES_BYTES_LIMIT)).removeprefix("\ufeff").splitlines()
    except OSError:
        return []
    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue  # git passes over a rule that it cannot read, too
        good.append(line)
    return [Rules(base, above, GitIgnoreSpec.from_lines(good))] if good else []


def _exclude_file(git: Path) -> Path | None:
    """Return `info/exclude`, also of a work tree or submodule, whose `.git` is a file naming the folder."""
    try:
        if git.is_file():
            named = git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
            git = git.parent / named
            common = git / "commondir"
            if common.is_file():
                git = git / common.read_text("utf-8", "replace").strip()
    except OSError:
        return None
    return git / "info" / "exclude"
