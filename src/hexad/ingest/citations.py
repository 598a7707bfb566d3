"""What a memory cites of the code: `src/a.py:10-20`, `src/a.py::Map.get`, `src/a.py`, and what became of it since.

A citation keeps hashes of the lines that it is about, and no text. They are looked for in the working tree: where they
stood, elsewhere in the file, and in the file's new place where git knows that it was renamed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.config import STORE_DIRECTORY
from hexad.core.lazy import ByteCache
from hexad.errors import InvalidInput
from hexad.ingest.sources.decode import decoded
from hexad.ingest.sources.file_place import language_of
from hexad.ingest.sources.formats.code import definitions_in
from hexad.ingest.sources.formats.parsed import Definition
from hexad.ingest.sources.git_command import current_branch, git_output, rename_option
from hexad.ingest.sources.git_history import commits_of_file, commits_of_lines, departures, head_commit
from hexad.memory.decision import FileHistory, without_place
from hexad.memory.memory import CheckedCitation, Citation, CitationState

BYTES_MOST: Final = 4 << 20
"""A larger file is not read for a citation."""
LINES_MOST: Final = 2_000
CITED_MOST: Final = 50
"""So many places may one memory cite."""
FILES_BYTES: Final = 64 << 20
RENAMES_BYTES: Final = 1 << 20
COMMITS_MOST: Final = 500
"""So many commits are gone through for the renames of a file."""
SURVIVES: Final = 0.2
"""From this share of its telling lines on, what is cited was changed; below it is gone."""

_TELLING: Final = 6  # letters and digits: lines with fewer stand in every file
_NO_MARK: Final = "-"
_MARK_DIGITS: Final = 6
_TELLING_LINES: Final = 3
"""What has fewer lines that tell it from others is not looked for in other files."""
_ELSEWHERE_MOST: Final = 200
"""In so many files it is looked whether what was cited moved there."""
_COLUMN = re.compile(r"(:\d{1,9}):\d{1,9}$")
_LIKE_FILE: Final = re.compile(r"[^\n]*/[^\n]*|\S*\.\w{1,12}")
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?")


@dataclass(frozen=True, slots=True)
class _File:
    """A file's lines without white space at their ends, and their marks."""

    text: str
    lines: tuple[str, ...]
    marks: tuple[str, ...]


def parse_citation(text: str) -> Citation:
    """Return what `src/a.py:10-20` or `src/a.py::Map.get` cites; raises `InvalidInput` where it cites nothing.

    >>> cited = parse_citation("src/a.py:10-20")
    >>> cited.path, cited.lines, parse_citation("src/a.py::Map.get").symbol
    ('src/a.py', '10-20', 'Map.get')
    """
    path, _, symbol = text.strip().partition("::")
    match = None if symbol else _LINES.fullmatch(path)
    lines = None
    if match is not None:
        path = match["path"]
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if not 1 <= first <= last or last - first >= LINES_MOST:
            raise _bad(text, f"lines go from a first to a last one, and are {LINES_MOST:,} at most")
        lines = f"{first}-{last}"
    if not path or "\0" in path or (symbol and not symbol.strip()):
        raise _bad(text, "it names no file")
    return Citation(path=path, symbol=symbol.strip() or None, lines=lines)


def _bad(text: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:200]!r} cannot be cited: {why}. Give PATH, PATH:FIRST-LAST or PATH::SYMBOL.",
        argument="cites",
    )


class Citations:
    """Citations of files below `root`: the folder that holds the store."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self.files = ByteCache[Path, tuple[tuple[int, int], _File]](FILES_BYTES)
        self.renames = ByteCache[tuple[str, str, int], tuple[str | None]](RENAMES_BYTES)
        self.changed_files = ByteCache[tuple[str, str, int, int], tuple[str, ...]](RENAMES_BYTES)
        self.branches = ByteCache[tuple[Citation, int], tuple[str | None]](RENAMES_BYTES)
        self.caches = (self.files, self.renames, self.changed_files, self.branches)

    def cite(self, texts: Iterable[str]) -> tuple[Citation, ...]:
        """Return citations of what stands there now, with its commit where git knows one.

        Raises `InvalidInput` for a file, lines or a symbol that are not there, and then for all of them.
        """
        asked = list(texts)
        if len(asked) > CITED_MOST:
            raise InvalidInput(
                f"cites holds {len(asked)} places; cite {CITED_MOST} at most.", argument="cites"
            )
        cited = [self._anchored(text) for text in asked]
        commit = self._commit() if cited else None
        branch = None if commit is None else current_branch(self._root)
        return tuple(replace(citation, commit=commit, branch=branch) for citation in cited)

    def check(self, citations: Sequence[Citation]) -> tuple[CheckedCitation, ...]:
        """Return what became of those citations that keep hashes; others cannot be checked."""
        return tuple(map(self._check, filter(_can_be_checked, citations)))

    def file_history(self, path: str, *, limit: int) -> FileHistory:
        """Return the commits that lines or a symbol of a file come from, else the last ones of a file or a folder."""
        file = without_place(path)
        place = self._place(file)
        if place is None:
            leads = f"{file} leads out of {self._root}, or into the store."
            return (
                FileHistory(file=file, unread=leads) if os.path.lexists(self._root / file) else FileHistory()
            )
        if (inner := self._repository_inside(place)) is not None:
            return self._history_inside(inner, path, place, limit=limit)
        if _is_there(place) and file != (real := self._without_links(file, place, is_place=file != path)):
            file, path = real, real + path.removeprefix(file)
        if not _is_there(place):
            return self._history_of_what_is_gone(path, file, limit=limit)
        if file == path:
            return FileHistory(commits_of_file(self._root, file, limit=limit), file=file)
        try:
            lines = self._anchored(_as_cited(path, file)).lines or ""
            first, last = _range(lines)
            found = commits_of_lines(self._root, file, first=first, last=last)
        except InvalidInput as error:
            return FileHistory(file=file, unread=str(error))
        return FileHistory(found.shas, file=file, uncommitted=found.uncommitted, older=found.older)

    def _without_links(self, file: str, place: Path, *, is_place: bool) -> str:
        """Return a file's path as git has it, which looks through no link; lines are those of what it links to."""
        real = place if is_place else (self._root / file).parent.resolve() / PurePosixPath(file).name
        return real.relative_to(self._root).as_posix() if real.is_relative_to(self._root) else file

    def _repository_inside(self, place: Path) -> Path | None:
        """Return the folder of the repository, as of a submodule, that a file below the root belongs to."""
        folders = [each for each in place.parents if each != self._root and each.is_relative_to(self._root)]
        return next((folder for folder in reversed(folders) if _is_there(folder / ".git")), None)

    def _history_inside(self, inner: Path, path: str, place: Path, *, limit: int) -> FileHistory:
        """Return what the repository of a folder below the root says of a file in it."""
        within = place.relative_to(inner).as_posix() + path.removeprefix(without_place(path))
        above = inner.relative_to(self._root).as_posix()
        history = Citations(inner).file_history(within, limit=limit)

        def named(file: str | None) -> str | None:
            return None if file is None else f"{above}/{file}"

        return replace(
            history,
            file=named(history.file),
            repository=above if history.repository is None else f"{above}/{history.repository}",
            departures=tuple(
                replace(each, path=f"{above}/{each.path}", new=named(each.new)) for each in history.departures
            ),
        )

    def _history_of_what_is_gone(self, path: str, file: str, *, limit: int) -> FileHistory:
        """Return the history of a path under its name by now, or up to the commit since which it is gone."""
        if not _LIKE_FILE.fullmatch(file):  # words of a topic, for which git would look through all commits
            return FileHistory()
        try:
            gone = departures(self._root, file)
        except InvalidInput as error:
            return FileHistory(file=file, unread=str(error))
        if not gone:
            return FileHistory()
        last = gone[-1]
        if last.new is not None:
            return replace(
                self.file_history(last.new + path.removeprefix(file), limit=limit), departures=gone
            )
        before = "HEAD" if last.sha is None else f"{last.sha}^"
        try:
            if file == path:
                shas = commits_of_file(self._root, last.path, limit=limit)
            else:
                first, end = self._lines_at(before, _as_cited(path, file), last.path)
                shas = commits_of_lines(self._root, last.path, first=first, last=end, at=before).shas
        except InvalidInput as error:
            return FileHistory(file=last.path, unread=str(error), departures=gone)
        return FileHistory(shas, file=last.path, departures=gone)

    def _lines_at(self, commit: str, text: str, path: str) -> tuple[int, int]:
        """Return the first and the last of the lines that a text cites of a file, as it was at a commit."""
        citation = parse_citation(text)
        content = decoded(git_output(self._root, "show", "--end-of-options", f"{commit}:./{path}")) or ""
        if citation.symbol is not None:
            if (span := _span_of(citation.symbol, content, path)) is None:
                raise _bad(text, f"{path} defined no {citation.symbol} at last")
            return span[0] + 1, span[1]
        first, last = _range(citation.lines or "1")
        if last > (count := len(content.removesuffix("\n").split("\n"))):
            raise _bad(text, f"{path} had {count:,} lines at last")
        return first, last

    # Where it stood ----------------------------------------------------------------------------------------------

    def _anchored(self, text: str) -> Citation:
        citation = parse_citation(text)
        place = self._place(citation.path)
        if place is None:
            raise _bad(text, f"it is not below {self._root}, or in the store")
        file = self._read(place)
        if file is None:
            raise _bad(text, f"there is no such text file of at most {BYTES_MOST >> 20} MiB in {self._root}")
        span = (0, len(file.lines))
        if citation.symbol is not None:
            found = _span_of(citation.symbol, file.text, citation.path)
            if found is None:
                raise _bad(text, f"{citation.path} defines no {citation.symbol}")
            span = found
            if span[1] - span[0] > LINES_MOST:
                raise _bad(text, f"it has more than {LINES_MOST:,} lines; cite a part of it")
        elif citation.lines is not None:
            first, last = _range(citation.lines)
            count = len(file.text.removesuffix("\n").split("\n"))
            if last > count:
                raise _bad(text, f"{citation.path} has {count:,} lines")
            span = (first - 1, min(last, len(file.lines)))  # of empty lines at the end nothing is kept
            if span[0] >= span[1]:
                raise _bad(text, "from there on its lines are empty")
        return replace(
            citation,
            path=place.relative_to(self._root).as_posix(),
            content_hash=_digest(file.lines[slice(*span)]),
            lines=f"{span[0] + 1}-{max(span)}" if citation.symbol or citation.lines else None,
            marks=" ".join(file.marks[slice(*span)]) if citation.symbol or citation.lines else "",
        )

    def _place(self, path: str) -> Path | None:
        parts = PurePosixPath(path)
        place = (self._root / parts) if not parts.is_absolute() else Path(path)
        try:
            place = place.resolve()
        except (OSError, RuntimeError, ValueError):  # the last for what no path can be
            return None
        inside = place.is_relative_to(self._root) and not place.is_relative_to(self._root / STORE_DIRECTORY)
        return place if inside else None

    def _commit(self) -> str | None:
        try:
            return head_commit(self._root)
        except InvalidInput:  # no repository, or no git
            return None

    # Where it stands ---------------------------------------------------------------------------------------------

    def _check(self, citation: Citation) -> CheckedCitation:
        checked = self._in_work_tree(citation)
        if checked.stale and (branch := self._branch_of(citation)) is not None:
            return CheckedCitation(citation=citation, state=CitationState.ON_BRANCH, branch=branch)
        return checked

    def _in_work_tree(self, citation: Citation) -> CheckedCitation:
        path, file = citation.path, self._file(citation.path)
        if file is None and (new := self._new_path(citation)) is not None:
            path, file = new, self._file(new)
        state, span = (CitationState.GONE, None) if file is None else _found(citation, file, path)
        if state is CitationState.GONE or (
            state is CitationState.CHANGED and file is not None and _lacks_symbol(citation, file, path)
        ):
            for other in self._changed_files(citation):
                if other == path or (text := self._file(other)) is None:
                    continue
                found = _found(citation, text, other)
                if found[0] in (CitationState.VERIFIED, CitationState.MOVED):
                    path, (state, span) = other, found
                    break
        if state is CitationState.VERIFIED and path != citation.path:
            state = CitationState.MOVED
        place = None if state is CitationState.GONE else path
        if place is not None and span is not None:
            place = f"{path}:{span[0] + 1}-{span[1]}"
        return CheckedCitation(citation=citation, state=state, place=place)

    def _file(self, path: str) -> _File | None:
        place = self._place(path)
        return None if place is None else self._read(place)

    def _read(self, place: Path) -> _File | None:
        try:
            stat = place.stat()
            if not place.is_file() or stat.st_size > BYTES_MOST:
                return None
            known = self.files.get(place)
            if known is not None and known[0] == (stat.st_mtime_ns, stat.st_size):
                return known[1]
            text = decoded(place.read_bytes())
        except OSError:
            return None
        if text is None:
            return None
        file = _file_of(text)
        self.files.put(place, ((stat.st_mtime_ns, stat.st_size), file))
        return file

    def _new_path(self, citation: Citation) -> str | None:
        """Return where git says that a file went since it was cited."""
        if citation.commit is None or citation.commit.startswith("-"):
            return None
        changed = self._changed_at()
        key = (citation.commit, citation.path, changed)
        known = self.renames.get(key) if changed else None
        if known is None:
            known = self.renames.put(key, (self._ask_git(citation.commit, citation.path),))
        return known[0]

    def _changed_at(self) -> int:
        """Return when the repository's index was written last; 0 where it is elsewhere, in a linked work tree."""
        return _time_of(self._root / ".git" / "index")

    def _changed_files(self, citation: Citation) -> Sequence[str]:
        """Return the files to which what was cited may have moved: those changed since, and those git does not know.

        None for what says too little to be known again: a few lines that any file may have.
        """
        commit, marks = citation.commit, (citation.marks or "").split()
        few = bool(marks) and sum(mark != _NO_MARK for mark in marks) < _TELLING_LINES
        if few or commit is None or commit.startswith("-"):
            return ()
        # What left a folder changed that; what was staged, committed or checked out changed the index.
        changed = self._changed_at()
        key = (commit, citation.path, changed, _time_of((self._root / citation.path).parent))
        known = self.changed_files.get(key) if changed else None
        if known is None:
            known = self.changed_files.put(key, self._ask_for_changed_files(citation, commit))
        return known

    def _ask_for_changed_files(self, citation: Citation, commit: str) -> tuple[str, ...]:
        if not self._is_known(commit):
            return ()
        asked = (
            ("diff", "--relative", "--name-only", "-z", "--no-renames", "--diff-filter=AM", commit, "--"),
            ("ls-files", "--others", "--exclude-standard", "-z"),
        )
        names: list[str] = []
        for arguments in asked:
            try:
                said = git_output(self._root, *arguments).decode("utf-8", "surrogateescape")
            except InvalidInput:
                continue
            names += said.split("\0")[:-1]
        suffix = PurePosixPath(citation.path).suffix
        return tuple(name for name in names if PurePosixPath(name).suffix == suffix)[:_ELSEWHERE_MOST]

    # On which branch it stands -----------------------------------------------------------------------------------

    def _branch_of(self, citation: Citation) -> str | None:
        """Return the branch that has what was cited and was not merged into what is checked out; None without one."""
        if citation.commit is None or citation.commit.startswith("-"):
            return None
        changed = self._changed_at()
        key = (citation, changed)
        known = self.branches.get(key) if changed else None
        if known is None:
            known = self.branches.put(key, (self._ask_for_branch(citation, citation.commit),))
        return known[0]

    def _ask_for_branch(self, citation: Citation, commit: str) -> str | None:
        """Ask git: what was committed when it was cited is of the branches that have this commit.

        What was written and not committed by then is of the branch on which it was, if that has it by now.
        """
        if not self._is_in_head(commit):
            holding = self._branches_with(commit)
            return citation.branch if citation.branch in holding else next(iter(holding), None)
        branch = citation.branch
        if branch is None or branch.startswith("-") or self._stood_in(citation, commit):
            return None
        name = f"refs/heads/{branch}"
        if self._is_in_head(name) or not self._stood_in(citation, name):
            return None
        return branch

    def _is_in_head(self, commit: str) -> bool:
        """Whether a commit is an ancestor of what is checked out, or is not there at all."""
        if not self._is_known(commit):
            return True
        try:
            git_output(self._root, "merge-base", "--is-ancestor", commit, "HEAD")
        except InvalidInput:
            return False
        return True

    def _is_known(self, commit: str) -> bool:
        try:
            git_output(
                self._root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
            )
        except InvalidInput:
            return False
        return True

    def _branches_with(self, commit: str) -> list[str]:
        """Return the branches that have a commit, those of this repository first; none for one that was rewritten."""
        try:
            said = git_output(
                self._root,
                *("for-each-ref", f"--contains={commit}", "--format=%(refname:lstrip=2)"),
                *("refs/heads", "refs/remotes"),
            )
        except InvalidInput:
            return []
        return said.decode("utf-8", "replace").split()

    def _stood_in(self, citation: Citation, commit: str) -> bool:
        """Whether a commit has what was cited, as it was."""
        try:
            text = decoded(git_output(self._root, "show", "--end-of-options", f"{commit}:./{citation.path}"))
        except InvalidInput:
            return False
        if text is None:
            return False
        state, _ = _found(citation, _file_of(text), citation.path)
        return state in (CitationState.VERIFIED, CitationState.MOVED)

    def _ask_git(self, commit: str, path: str) -> str | None:
        """Follow a file's renames: at once, or, where it was rewritten as well, commit by commit.

        Of a commit that was rewritten, and is not there any more, the renames of the history that is there are taken.
        """
        renames = ("--relative", "--name-status", "-z", rename_option(self._root), "--diff-filter=R")
        is_known = self._is_known(commit)
        at_once = self._pairs("diff", *renames, commit if is_known else "HEAD", "--")
        if (new := dict(at_once).get(path)) is not None:
            return new
        since = f"{commit}..HEAD" if is_known else "HEAD"
        history = ("log", "--format=", "--first-parent", "-m", "--reverse", f"--max-count={COMMITS_MOST}")
        for old, renamed in (*self._pairs(*history, *renames, since, "--"), *at_once):
            if old == path:
                path = new = renamed
        return new

    def _pairs(self, *arguments: str) -> list[tuple[str, str]]:
        try:
            said = git_output(self._root, *arguments).decode("utf-8", "surrogateescape")
        except InvalidInput:  # no repository, no git, or a commit that is not there any more
            return []
        names = [name.lstrip("\n") for name in said.split("\0")]
        return [(names[at + 1], names[at + 2]) for at in range(0, len(names) - 2, 3)]


def _file_of(text: str) -> _File:
    lines = tuple(line.rstrip() for line in text.rstrip().split("\n"))
    return _File(text, lines, tuple(map(_mark, lines)))


def _found(citation: Citation, file: _File, path: str) -> tuple[CitationState, tuple[int, int] | None]:
    """Return what became of what is cited in a file, and its lines there, counted from 0, the end behind them."""
    if citation.symbol is not None and (span := _span_of(citation.symbol, file.text, path)) is not None:
        same = _digest(file.lines[slice(*span)]) == citation.content_hash
        return (CitationState.VERIFIED if same else CitationState.CHANGED), span
    if citation.lines is None:
        same = _digest(file.lines) == citation.content_hash
        return (CitationState.VERIFIED if same else CitationState.CHANGED), None
    first, last = _range(citation.lines)
    size = last - first + 1
    marks = (citation.marks or "").split()
    for start in sorted(_starts(marks, file.marks), key=lambda start: abs(start - first + 1)):
        if _digest(file.lines[start : start + size]) == citation.content_hash:
            at_its_place = start == first - 1 and citation.symbol is None
            return (CitationState.VERIFIED if at_its_place else CitationState.MOVED), (start, start + size)
    span = _remains(marks, file.marks)
    return (CitationState.GONE, None) if span is None else (CitationState.CHANGED, span)


def _lacks_symbol(citation: Citation, file: _File, path: str) -> bool:
    """Whether a file has the symbol no more that was cited of it."""
    return citation.symbol is not None and _span_of(citation.symbol, file.text, path) is None


def _starts(marks: Sequence[str], lines: Sequence[str]) -> Iterator[int]:
    """Yield where all marks stand one after the other."""
    size = len(marks)
    telling = next((at for at, mark in enumerate(marks) if mark != _NO_MARK), 0)
    for at in range(telling, len(lines) - size + telling + 1):
        if lines[at] == marks[telling] and tuple(lines[at - telling : at - telling + size]) == tuple(marks):
            yield at - telling


def _remains(marks: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines among which most of the telling ones that are cited still stand in order, if enough do."""
    old = [mark for mark in marks if mark != _NO_MARK]
    places = [at for at, mark in enumerate(lines) if mark != _NO_MARK]
    if not old or not places:
        return None
    matcher = SequenceMatcher(None, old, [lines[at] for at in places], autojunk=False)
    kept = [places[block.b + step] for block in matcher.get_matching_blocks() for step in range(block.size)]
    reach = 2 * len(marks) + 10
    best = max(
        (kept[at : _within(kept, at, reach)] for at in range(len(kept))), key=len, default=[]
    )  # what stands far away is another piece with such a line
    return (best[0], best[-1] + 1) if best and len(best) >= SURVIVES * len(old) else None


def _within(places: Sequence[int], at: int, reach: int) -> int:
    end = at
    while end < len(places) and places[end] < places[at] + reach:
        end += 1
    return end


def _can_be_checked(citation: Citation) -> bool:
    """Tell whether hashes are kept as `cite` makes them: what was imported may hold anything."""
    if citation.marks is None or citation.content_hash is None:
        return False
    if citation.lines is None:
        return citation.symbol is None
    match = _LINES.fullmatch(f"-:{citation.lines}")
    return (
        match is not None
        and len(citation.marks.split()) == int(match["last"] or match["first"]) - int(match["first"]) + 1
    )


def _as_cited(path: str, file: str) -> str:
    """Return a place of a file as a citation has it: `a.py:3:7` is line 3, `a.py#f` a symbol."""
    return file + _COLUMN.sub(r"\1", path.removeprefix(file)).replace("#", "::")


def _time_of(place: Path) -> int:
    try:
        return place.stat().st_mtime_ns
    except OSError:
        return 0


def _is_there(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # such as a name that is too long for any file
        return False


def _range(lines: str) -> tuple[int, int]:
    first, _, last = lines.partition("-")
    return int(first), int(last or first)


def _span_of(symbol: str, text: str, path: str) -> tuple[int, int] | None:
    parts = symbol.removesuffix("()").split(".")
    found: Sequence[Definition] = definitions_in(text, language=language_of(PurePosixPath(path).name))
    for depth, part in enumerate(parts):
        match = next((each for each in found if each.name == part), None)
        if match is None:
            match = next((each for each in found if each.name == ".".join(parts[depth:])), None)
            return None if match is None else (match.start, match.end)
        if depth == len(parts) - 1:
            return match.start, match.end
        found = match.children
    return None


def _mark(line: str) -> str:
    letters = sum(map(str.isalnum, line))
    if letters < _TELLING:
        return _NO_MARK
    return hashlib.blake2b(line.strip().encode("utf-8", "replace")).hexdigest()[:_MARK_DIGITS]


def _digest(lines: Sequence[str]) -> str:
    return "sha256:" + hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()
