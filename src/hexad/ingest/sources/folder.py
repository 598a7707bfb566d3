"""A folder's files, in a fixed order, without what is ignored, generated, hidden or no text."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import read_regular
from hexad.errors import InvalidInput
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.files import FileSource, Lookup, not_regular, read_file, reason_of
from hexad.memory.source import Item, Skip, Unchanged
from hexad.redaction.linear_pattern import LinearPattern, linear_pattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


_RULES_BYTES_LIMIT: Final = 1 << 20
_NAME_BYTES_LIMIT: Final = 4_096
"""Of a file that names git's folder."""
_WILDCARDS_DIRECT: Final = 3
"""So many wildcards `re` tries in all ways on a name; each more would multiply these by the length of the name."""


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
    for pattern in patterns:
        try:
            _pattern(pattern)
        except ValueError as error:
            raise InvalidInput(
                f"Pattern {pattern!r} cannot be read: {error}. Write it as in a .gitignore."
            ) from error
    return _spec(patterns)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines, _pattern, backend="simple")


def _pattern(line: str) -> GitIgnoreSpecPattern:
    """Return a line of a `.gitignore`; raises `ValueError` for one that cannot be read.

    A repository that somebody else wrote must not hold up who ingests it: its expressions take linear time.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    pattern = GitIgnoreSpecPattern(line)
    if pattern.regex is None:
        return pattern
    source = re.sub(r"(?:\[\^/\]\*)+", "[^/]*", pattern.regex.pattern)
    if source.count("[^/]*") + source.count(".+") > _WILDCARDS_DIRECT:
        mark = next(iter(pattern.regex.groupindex), None)
        pattern.regex = _Search(linear_pattern(source), mark)  # type: ignore[assignment]
    return pattern


@dataclass(frozen=True, slots=True)
class _Search:
    """What `pathspec` asks of an expression, in time that grows with the name."""

    expression: LinearPattern
    folder_mark: str | None

    def search(self, name: str) -> re.Match[str] | None:
        """Return a match whose group, where the expression has one, says whether a folder matched."""
        for _, end in self.expression.spans(name):
            if self.folder_mark is None:
                return re.match("", name)
            return re.match(f"(?P<{self.folder_mark}>/)?", name[end - 1])
        return None


def _way(folder: Path, root: Path) -> str:
    relative = root.relative_to(folder).as_posix()
    return "" if relative == "." else relative + "/"


def _read(path: Path, *, base: str, above: str) -> list[Rules]:
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
            _pattern(line)
        except ValueError:
            continue  # git passes over a rule that it cannot read, too
        good.append(line)
    return [Rules(base, above, _spec(good))] if good else []


def _exclude_file(git: Path) -> Path | None:
    """Return `info/exclude`, also of a work tree or submodule, whose `.git` is a file naming the folder."""
    try:
        if git.is_file():
            git = git.parent / _name_in(git).removeprefix("gitdir:").strip()
            common = git / "commondir"
            if common.is_file():
                git = git / _name_in(common)
    except (OSError, InvalidInput, ValueError):
        return None
    return git / "info" / "exclude"


def _name_in(file: Path) -> str:
    return read_regular(file, limit=_NAME_BYTES_LIMIT).decode("utf-8", "replace").strip()


NEVER_READ: Final = frozenset(
    [
        *(".git", ".hg", ".svn", ".jj", ".hexad", ".venv", ".tox", ".nox", ".direnv", ".eggs"),
        *("node_modules", "bower_components", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"),
        *(".hypothesis", ".gradle", ".terraform", ".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo"),
        *(".cache", ".idea", ".ipynb_checkpoints", "__pypackages__", "site-packages", ".yarn"),
    ]
)
"""Folders that hold a tool's state or other people's code, ignored or not."""

_BUILD_FOLDERS: Final = frozenset(
    ["dist", "build", "target", "out", ".build", "_build", "coverage", "htmlcov"]
)
_BUILD_FILES: Final = (
    *("pyproject.toml", "setup.py", "setup.cfg", "package.json", "tsconfig.json", "deno.json", "Cargo.toml"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "CMakeLists.txt", "meson.build", "mix.exs"),
)
_CACHE_MARK: Final = "CACHEDIR.TAG"
_CACHE_SIGNATURE: Final = b"Signature: 8a477f597d28d172789f06886806bc55"
"""With this begins the file by which tools say that a folder can be made anew (https://bford.info/cachedir/)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file that the walk came to; `relative` is spelled as in the file system, with `/`."""

    path: Path
    relative: str


def read_folder(
    root: Path, *, uri: str, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give everything that the folder holds: items, what is unchanged, and what is skipped, with its reason.

    The order is that of the names, a folder's content where its name stands. What is added or removed during
    the walk is seen or not; a file that vanishes is a skip.
    """
    project = safe_id(root.name) or "root"
    for entry in walk(root, options=options):
        if isinstance(entry, Skip):
            yield entry
        else:
            file = FileSource(path=entry.path, relative=entry.relative, project=project, uri=uri)
            yield from read_file(file, options=options, known=known)


def walk(root: Path, *, options: ReadOptions) -> Iterator[FoundFile | Skip]:
    """Give the files below `root` that are to be read, and a skip for each file or folder that is not."""
    yield from _Walk(root, options).run()


def _is_cache(folder: Path) -> bool:
    """Whether a folder says of itself that a tool can make it anew."""
    mark = folder / _CACHE_MARK
    try:
        return mark.is_file() and read_regular(mark, limit=_NAME_BYTES_LIMIT).startswith(_CACHE_SIGNATURE)
    except (OSError, InvalidInput):
        return False


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    relative: str
    rules: tuple[Rules, ...]


class _Walk:
    def __init__(self, root: Path, options: ReadOptions) -> None:
        self._root = root
        self._options = options
        self._include: GitIgnoreSpec | None = compiled(options.include) if options.include else None
        self._exclude: GitIgnoreSpec | None = compiled(options.exclude) if options.exclude else None
        self._seen: set[tuple[int, int]] = set()

    def run(self) -> Iterator[FoundFile | Skip]:
        # A list instead of a recursion: folders may be nested deeper than Python calls.
        rules = tuple(rules_above(self._root)) if self._options.gitignore else ()
        waiting = [_Entry(self._root, "", rules)]
        while waiting:
            entry = waiting.pop()
            problem, is_folder = self._look(entry)
            if problem is not None:
                yield Skip(source_id=safe_id(entry.relative), reason=problem)
            elif is_folder:
                try:
                    names = sorted(os.listdir(entry.path), reverse=True)
                except OSError as error:
                    yield Skip(source_id=safe_id(entry.relative) or ".", reason=reason_of(error))
                    continue
                waiting += self._inside(entry, names)
            else:
                yield FoundFile(path=entry.path, relative=entry.relative)

    def _inside(self, folder: _Entry, names: list[str]) -> list[_Entry]:
        base = folder.relative + "/" if folder.relative else ""
        rules = folder.rules
        if self._options.gitignore and ".gitignore" in names:
            rules = (*rules, *rules_in(folder.path, base=base))
        return [_Entry(folder.path / name, base + name, rules) for name in names]

    def _look(self, entry: _Entry) -> tuple[str | None, bool]:
        """Return why the entry is skipped, if it is, and whether it is a folder."""
        follow = self._options.follow_symlinks or not entry.relative
        try:
            state = os.stat(entry.path, follow_symlinks=follow)
        except OSError as error:
            return reason_of(error), False
        is_folder = stat.S_ISDIR(state.st_mode)
        if problem := not_regular(state.st_mode):
            return problem, False
        if entry.relative and (problem := self._left_out(entry, is_folder=is_folder)):
            return problem, is_folder
        if is_folder:
            place = (state.st_dev, state.st_ino)
            if place in self._seen:
                return "a link to a folder that is already read", True
            self._seen.add(place)
        return None, is_folder

    def _left_out(self, entry: _Entry, *, is_folder: bool) -> str | None:
        name = entry.path.name
        if is_folder and name in NEVER_READ:
            return f"{name} is never read"
        if is_folder and os.path.isfile(entry.path / "pyvenv.cfg"):
            return "a virtual environment of Python"
        if is_folder and _is_cache(entry.path):
            return f"{_CACHE_MARK} in it says that it is a cache"
        if is_folder and name in _BUILD_FOLDERS and self._is_build(entry.path):
            return f"{name} holds what a build made"
        if self._exclude is not None and self._exclude.match_file(
            entry.relative + ("/" if is_folder else "")
        ):
            return "left out by an exclude pattern"
        if name.startswith(".") and not self._options.hidden:
            return "hidden"
        if ignored(entry.rules, entry.relative, is_folder=is_folder):
            return "ignored by .gitignore"
        if not is_folder and self._include is not None and not self._include.match_file(entry.relative):
            return "not among the include patterns"
        return None

    @staticmethod
    def _is_build(folder: Path) -> bool:
        # `build/` and `target/` are also names for a person's own folders; beside a build file they are not.
        return any((folder.parent / name).is_file() for name in _BUILD_FILES)
