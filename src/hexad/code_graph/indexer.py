"""Keeps the graph up to date: files that changed are read, and what leads to them is resolved anew."""

from __future__ import annotations

import hmac
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.history import common_changes
from hexad.code_graph.imports.manifests import MANIFEST, is_manifest
from hexad.code_graph.imports.root import RootImports
from hexad.code_graph.imports.rust import moved_modules
from hexad.code_graph.imports.target import DefinedName
from hexad.code_graph.languages import code_language, languages, manifest_names, patterns, read_code
from hexad.code_graph.resolver import Found, ModuleView, Resolution, Resolver
from hexad.code_graph.slices import SlicedFile, SymbolUse, can_slice, slices
from hexad.code_graph.tables.graph import CodeEdgeRow, CodeGraphTables, FileRow, NewFile
from hexad.code_graph.values import CodeIndexReport
from hexad.core.clock import Clock
from hexad.errors import InvalidInput
from hexad.ingest.passages import item_of
from hexad.ingest.report import Progress
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.files import EMPTY
from hexad.ingest.sources.read import read
from hexad.memory.source import Item, KnownItem, Skip, SourceKind, Unchanged
from hexad.memory.store import Stores
from hexad.redaction.masking import Masking
from hexad.text.paths import is_test_path

BATCH_FILES: Final = 200
"""So many files are written in one transaction."""
VIEWS_KEPT: Final = 3_000
"""So many files are kept in memory while others are resolved."""
LIKE: Final = 0.5
"""A new file that has this share of its symbols in common with one that is gone is that file, renamed."""
PROBLEMS_LISTED: Final = 100
_FOUND, _DUE = "found", "due"
"""Whether a root's slices are of the files that it has."""


class CodeIndexer:
    """Indexes folders, and follows what was ingested."""

    def __init__(
        self,
        tables: CodeGraphTables,
        stores: Stores,
        *,
        clock: Clock,
        key: Callable[[], bytes],
        masking: Callable[[], Masking],
        project: Path,
    ) -> None:
        self.tables, self._stores, self._clock = tables, stores, clock
        self._key, self._masking, self._project = key, masking, project

    def index(
        self, path: str | Path, *, space: str, progress: Callable[[Progress], None] | None = None
    ) -> CodeIndexReport:
        """Bring the graph of a folder or a file up to date from the disk.

        Raises `NotFound` for a path that is not there, `InvalidInput` for what is neither a folder nor a file of code.
        """
        started = self._clock.monotonic()
        spec = detect(path, kind=None)
        if spec.path is None or spec.kind not in (SourceKind.FOLDER, SourceKind.FILE):
            raise InvalidInput(
                f"{str(path)!r} holds no code; name a folder, or a file of code.", argument="path"
            )
        base = spec.path if spec.kind is SourceKind.FOLDER else spec.path.parent
        with self._run(base, space) as run:
            options = ReadOptions(include=patterns())
            for done, thing in enumerate(read(spec, options=options, known=run.known), start=1):
                run.take(thing)
                if progress is not None and thing.source_id is not None:
                    progress(Progress(done=done, total=None, current=thing.source_id))
            run.drop_unmet(only=None if spec.kind is SourceKind.FOLDER else safe_id(spec.path.name))
        self._count_changes(run)
        # Slices cost a look at all files of the root: a file that is named is not to wait for it.
        if spec.kind is SourceKind.FOLDER and self._stores.meta.get(_slices_key(run.root_no)) != _FOUND:
            self.slice_root(run.root_no)
        run.report.seconds = self._clock.monotonic() - started
        return run.report

    def slice_root(self, root_no: int) -> None:
        """Find the slices of a root anew, where the library for it is installed."""
        if not can_slice():
            return
        files = [SlicedFile(*row) for row in self.tables.sliced_files(root_no)]
        uses = (SymbolUse(*row) for row in self.tables.symbol_uses(root_no))
        found_slices = slices(files, self.tables.file_edges(root_no), uses) if files else {}
        with self.tables.db.transaction():
            self.tables.replace_slices(
                root_no, {name: [file.no for file in group] for name, group in found_slices.items()}
            )
            self._stores.meta.put(_slices_key(root_no), _FOUND)

    def follow(self, source_no: int, base: Path, *, space: str, empty: Collection[str]) -> None:
        """Bring the graph up to date with what was ingested from a folder; `empty` are its files without a word."""
        memories = self.tables.code_memories(source_no, languages(), manifest_names())
        if not memories and not empty and not self.tables.roots([space]):
            return
        with self._run(base, space) as run:
            for memory_no, source_id, language, mark in memories:
                if item_of(source_id) is not None:
                    continue  # a passage that was set aside, not a file
                run.take_memory(memory_no, source_id, MANIFEST if is_manifest(source_id) else language, mark)
            for source_id in sorted(empty):
                run.take_empty(source_id)
            run.drop(self.tables.gone_memories(run.root_no, source_no))
            run.drop_empty(empty)
        self._count_changes(run)

    def _count_changes(self, run: _IndexRun) -> None:
        """Count which files of a root changed together in the commits that came since this was done last."""
        key = f"code_history {run.root_no}"
        known = self._stores.meta.get(key) if self.tables.has_history(run.root_no) else None
        changes = common_changes(Path(run.report.root), since=known)
        if changes is None:
            return
        files = {path: row.no for path, row in self.tables.files(run.root_no).items()}
        times: Counter[tuple[int, int]] = Counter()
        for path, count in changes.counts.items():
            if (no := files.get(path)) is not None:
                times[no, no] += count
        for (first, second), count in changes.pairs.items():
            if first in files and second in files:
                low, high = sorted((files[first], files[second]))
                times[low, high] += count
        with self.tables.db.transaction():
            if changes.anew:
                self.tables.drop_history(run.root_no)
            self.tables.add_history(times)
            self._stores.meta.put(key, changes.head)

    @contextmanager
    def _run(self, base: Path, space: str) -> Iterator[_IndexRun]:
        root = self._root_of(base, space)
        with self.tables.db.transaction():
            space_no = self._stores.spaces.ensure(space, at=self._clock.now())
            root_no = self.tables.ensure_root(safe_id(root.as_posix()), space_no=space_no)
        prefix = PurePosixPath(safe_id(base.as_posix())).relative_to(safe_id(root.as_posix())).as_posix()
        run = _IndexRun(
            self.tables,
            root_no,
            "" if prefix == "." else prefix + "/",
            CodeIndexReport(root=root.as_posix(), space=space),
            clock=self._clock,
            key=self._key(),
            masking=self._masking,
        )
        yield run
        run.finish()
        if run.has_changed:
            self._stores.meta.put(_slices_key(root_no), _DUE)

    def _root_of(self, base: Path, space: str) -> Path:
        """Return the folder from which paths are told: the project's, one that is known, or this one."""
        if base.is_relative_to(self._project):
            return self._project
        known_roots = [Path(root.uri) for root in self.tables.roots([space])]
        above = [root for root in known_roots if base.is_relative_to(root)]
        return min(above, key=lambda root: len(root.parts), default=base)


def _slices_key(root_no: int) -> str:
    return f"code_slices {root_no}"


class _IndexRun:
    """One look at a folder, below one root."""

    def __init__(
        self,
        tables: CodeGraphTables,
        root_no: int,
        prefix: str,
        report: CodeIndexReport,
        *,
        clock: Clock,
        key: bytes,
        masking: Callable[[], Masking],
    ) -> None:
        self._tables, self.root_no, self._prefix, self.report = tables, root_no, prefix, report
        self._clock, self._key, self._masking = clock, key, masking
        self._files = tables.files(root_no)
        self._met: set[str] = set()
        self._waiting: list[tuple[NewFile, str | None]] = []
        self._seen: list[tuple[int, str]] = []
        self._changed: dict[int, str] = {}
        self._affected: dict[int, str] = {}
        self._names: set[str] = set()
        self._views: OrderedDict[str, ModuleView | None] = OrderedDict()
        self._gone: dict[str, FileRow] | None = None
        self._defined: dict[str, list[DefinedName]] = {}
        self._begun = False

    @property
    def has_changed(self) -> bool:
        """Whether anything was written."""
        return self._begun

    # What is there ------------------------------------------------------------------------------------------------

    def known(self, source_id: str) -> KnownItem | None:
        """Return by what marks a file of the folder is known."""
        path = self._prefix + source_id
        row = self._files.get(path)
        return None if row is None else KnownItem(fingerprint=row.fingerprint or None, content_hash=None)

    def take(self, thing: Item | Skip | Unchanged) -> None:
        """Take in what the folder's reader gives."""
        source_id = thing.source_id or ""
        path = self._prefix + source_id
        if isinstance(thing, Unchanged):
            if (row := self._files.get(path)) is not None:
                self._meet(path, row, thing.fingerprint or row.fingerprint)
        elif isinstance(thing, Skip):
            if thing.reason.startswith(EMPTY):
                self.take_empty(source_id)
            elif path in self._files and not os.path.exists(f"{self.report.root}/{path}"):
                return
            elif code_language(source_id) in languages():
                self.report.skipped += 1
        elif (language := code_language(source_id.partition("#part-")[0])) in languages():
            self._text(path, str(language), thing.text, fingerprint=thing.fingerprint or "")
        elif language is not None and language != MANIFEST:
            self.report.unread[language] = self.report.unread.get(language, 0) + 1

    def take_empty(self, source_id: str) -> None:
        """Take in a file without a byte, or of white space alone."""
        language = code_language(source_id)
        if language in languages():
            self._text(self._prefix + source_id, str(language), "", fingerprint="")

    def take_memory(self, memory_no: int, source_id: str, language: str, memory_mark: str) -> None:
        """Take in a file that was ingested; its text is redacted already."""
        path = self._prefix + source_id
        row = self._files.get(path)
        if row is not None and row.memory_mark == memory_mark:
            self._met.add(path)
            self.report.unchanged += 1
            return
        text = self._tables.text_of(memory_no)
        if text is not None:
            self._text(path, language, text, fingerprint="", memory=(memory_no, memory_mark))

    def _meet(self, path: str, row: FileRow, fingerprint: str) -> None:
        self._met.add(path)
        self.report.unchanged += 1
        if fingerprint != row.fingerprint:
            self._seen.append((row.no, fingerprint))

    def _text(
        self,
        path: str,
        language: str,
        text: str,
        *,
        fingerprint: str,
        memory: tuple[int, str] | None = None,
    ) -> None:
        mark = hmac.new(self._key, f"{language}\n{text}".encode("utf-8", "replace"), "sha256").hexdigest()
        row = self._files.get(path)
        if row is not None and row.mark == mark and memory is None:
            self._meet(path, row, fingerprint or row.fingerprint)
            return
        facts = read_code(path, language, text)
        if facts is None:
            return
        if memory is None:
            facts = self._without_secrets(facts)
        self._met.add(path)
        file = NewFile(
            path=path,
            mark=mark,
            fingerprint=fingerprint or (row.fingerprint if row is not None and row.mark == mark else ""),
            bytes=len(text.encode("utf-8", "replace")),
            facts=facts,
            is_test=is_test_path(path),
            memory_no=None if memory is None else memory[0],
            memory_mark="" if memory is None else memory[1],
        )
        self._waiting.append((file, None if row is not None else self._old_name(file)))
        if facts.problem and len(self.report.problems) < PROBLEMS_LISTED:
            self.report.problems.append((path, facts.problem))
        if len(self._waiting) >= BATCH_FILES:
            self._flush()

    def _without_secrets(self, facts: FileFacts) -> FileFacts:
        masking, names = self._masking(), sorted(facts.names())
        if not masking.secret_among(names):
            return facts
        return facts.without(name for name in names if masking.secret_in(name))

    # Names that changed -------------------------------------------------------------------------------------------

    def _old_name(self, file: NewFile) -> str | None:
        """Return under which path a new file was known before: the same text, or most of the same symbols."""
        gone = self._gone_files()
        same = [path for path, row in gone.items() if row.mark == file.mark and file.bytes]
        if len(same) == 1:
            gone.pop(same[0])
            return same[0]
        symbols = {symbol.qualified for symbol in file.facts.symbols}
        best, share = None, LIKE
        for path in gone if symbols else ():
            facts = self._tables.facts(self.root_no, path)
            if facts is None or facts.language != file.facts.language:
                continue
            others = {symbol.qualified for symbol in facts.symbols}
            common = len(symbols & others) / len(symbols | others)
            if common >= share and len(symbols | others) > 1:
                best, share = path, common
        if best is not None:
            gone.pop(best)
        return best

    def _gone_files(self) -> dict[str, FileRow]:
        if self._gone is None:
            self._gone = {
                path: row
                for path, row in self._files.items()
                if path.startswith(self._prefix) and not os.path.lexists(f"{self.report.root}/{path}")
            }
        return self._gone

    # What goes ----------------------------------------------------------------------------------------------------

    def drop_unmet(self, *, only: str | None) -> None:
        """Remove what is in the graph and was not met; of one file's run that file alone."""
        self._flush()
        scope = [path for path in self._files if path.startswith(self._prefix)]
        if only is not None:
            own = self._prefix + only
            scope = [path for path in scope if path == own or path.startswith(own + "#part-")]
        self.drop(path for path in scope if path not in self._met)

    def drop_empty(self, empty: Collection[str]) -> None:
        """Remove files that were empty and are not any more."""
        there = {self._prefix + source_id for source_id in empty}
        self.drop(
            path
            for path, row in self._files.items()
            if not row.bytes and path.startswith(self._prefix) and path not in there and path not in self._met
        )

    def drop(self, paths: Iterable[str]) -> None:
        """Remove files from the graph; who leads to them is resolved anew."""
        self._flush()
        rows = [self._files[path] for path in paths if path in self._files and path not in self._met]
        if not rows:
            return
        self._begin()
        with self._tables.db.transaction():
            numbers = [row.no for row in rows]
            self._affected.update(self._tables.leading_to(numbers))
            self._tables.remove_files(numbers)
        for row in rows:
            self._files.pop(row.path, None)
            self._affected.pop(row.no, None)
            self._views.pop(row.path, None)
        self.report.removed += len(rows)

    # What is written ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self._tables.begin(self.root_no):
                self._affected.update({row.no: path for path, row in self._files.items()})

    def _flush(self) -> None:
        if not self._waiting and not self._seen:
            return
        if self._waiting:
            self._begin()
        now = self._clock.now()
        with self._tables.db.transaction():
            for file_no, fingerprint in self._seen:
                self._tables.set_fingerprint(file_no, fingerprint)
            for file, old in self._waiting:
                if old is not None:
                    self._rename(old, file.path)
                self._put(file, at=now)
        self._waiting.clear()
        self._seen.clear()

    def _rename(self, old: str, path: str) -> None:
        row = self._files.pop(old)
        self._affected.update(self._tables.leading_to([row.no]))
        self._names.update(_place_names(path))
        self._tables.rename_file(row.no, path, is_test=is_test_path(path))
        self._files[path] = row._replace(path=path, mark="")
        self._views.pop(old, None)
        self.report.renamed += 1
        self.report.created -= 1

    def _put(self, file: NewFile, *, at: datetime) -> None:
        row = self._files.get(file.path)
        before = None if row is None else self._tables.facts(self.root_no, file.path)
        if before is not None and row is not None and _surface(before) != _surface(file.facts):
            # Asked before symbols that are gone take their edges with them.
            self._affected.update(self._tables.leading_to([row.no]))
        if file.facts.language == MANIFEST and (before is None or _surface(before) != _surface(file.facts)):
            self._affected.update({each.no: path for path, each in self._files.items()})
        if moved_modules(file.facts) != ({} if before is None else moved_modules(before)):
            self._affected.update({row.no: path for path, row in self._files.items() if path.endswith(".rs")})
        file_no = self._tables.put_file(self.root_no, file, at=at)
        self._files[file.path] = FileRow(
            file_no, file.path, file.mark, file.fingerprint, file.memory_no, file.memory_mark, file.bytes
        )
        self._changed[file_no] = file.path
        self._keep_view(ModuleView(file.path, file.facts))
        if row is None:
            self.report.created += 1
            self._names.update(_place_names(file.path))
        elif row.mark:
            self.report.updated += 1
        else:
            self.report.created += 1  # renamed: counted as that
        old_names = set() if before is None else {symbol.name for symbol in before.symbols}
        self._names.update({symbol.name for symbol in file.facts.symbols} - old_names)

    def finish(self) -> None:
        """Make the edges of what changed, and of what leads to it."""
        self._flush()
        if not self._begun and self._tables.is_unfinished(self.root_no):
            self._begin()
        if self._begun:
            self._affected.update(self._tables.missing_any(self.root_no, self._names))
            paths = {row.no: path for path, row in self._files.items()}
            wanted = sorted(no for no in {*self._affected, *self._changed} if no in paths)
            rules = RootImports(
                self._files,
                self._facts_of,
                self._definitions,
                moving=lambda: self._tables.moving_modules(self.root_no),
            )
            resolver = Resolver(self._view, rules)
            for start in range(0, len(wanted), BATCH_FILES):
                with self._tables.db.transaction():
                    for file_no in wanted[start : start + BATCH_FILES]:
                        self._resolve(resolver, file_no, paths[file_no])
            self.report.resolved = len(wanted)
            with self._tables.db.transaction():
                self._tables.remove_unused_libraries(self.root_no)
                self._tables.finish(self.root_no, at=self._clock.now())
        self.report.files = sum(path.startswith(self._prefix) for path in self._files)

    # Edges --------------------------------------------------------------------------------------------------------

    def _facts_of(self, path: str) -> FileFacts | None:
        view = self._view(path)
        return None if view is None else view.facts

    def _definitions(self, name: str) -> Sequence[DefinedName]:
        if name not in self._defined:
            self._defined[name] = [
                DefinedName(path, qualified, signature)
                for path, qualified, signature in self._tables.definitions(self.root_no, name)
            ]
        return self._defined[name]

    def _view(self, path: str) -> ModuleView | None:
        if path in self._views:
            self._views.move_to_end(path)
            return self._views[path]
        facts = self._tables.facts(self.root_no, path) if path in self._files else None
        return self._keep_view(None if facts is None else ModuleView(path, facts), path)

    def _keep_view(self, view: ModuleView | None, path: str | None = None) -> ModuleView | None:
        self._views[path if view is None and path is not None else view.path if view else ""] = view
        while len(self._views) > VIEWS_KEPT:
            self._views.popitem(last=False)
        return view

    def _resolve(self, resolver: Resolver, file_no: int, path: str) -> None:
        view = self._view(path)
        if view is None:
            return
        resolution = resolver.resolve(path, view.facts)
        own = self._tables.node_numbers(file_no)
        numbers: dict[str, Mapping[str, int]] = {path: own}

        def number(of: str, symbol: str) -> int | None:
            if of not in numbers:
                row = self._files.get(of)
                numbers[of] = {} if row is None else self._tables.node_numbers(row.no)
            return numbers[of].get(symbol)

        edges = [
            CodeEdgeRow(source, target, found.kind, found.weight, found.line, found.confidence)
            for found in resolution.edges
            if (source := number(path, found.source)) is not None
            and (target := number(found.path, found.name)) is not None
            and source != target
        ]
        edges += self._of_place(view, own)
        edges += self._to_libraries(resolution, file_no)
        if is_test_path(path):
            edges += self._tested(resolution.edges, path, file_no)
        self._tables.replace_edges(
            file_no,
            edges,
            [
                (missing.name, own[missing.symbol], missing.weight, missing.line)
                for missing in resolution.missing
                if not missing.is_open and missing.symbol in own
            ],
            {missing.name for missing in resolution.missing if missing.is_open},
        )

    @staticmethod
    def _of_place(view: ModuleView, own: Mapping[str, int]) -> Iterator[CodeEdgeRow]:
        for symbol in view.facts.symbols:
            parent = symbol.parent
            while parent and parent not in own:
                parent = parent.rpartition(".")[0]
            if symbol.qualified in own:
                yield CodeEdgeRow(own[symbol.qualified], own[parent], "belongs_to", 1, symbol.line, 1.0)

    def _to_libraries(self, resolution: Resolution, file_no: int) -> Iterator[CodeEdgeRow]:
        for name, (line, count) in resolution.outside.items():
            yield CodeEdgeRow(
                file_no, self._tables.ensure_library(self.root_no, name), "imports", count, line, 1.0
            )

    def _tested(self, edges: Iterable[Found], path: str, file_no: int) -> Iterator[CodeEdgeRow]:
        """Give the files that a test is about: what it uses, most of all what it is named after."""
        weights: dict[str, float] = {}
        lines: dict[str, int] = {}
        for found in edges:
            if found.path != path and found.path in self._files and not is_test_path(found.path):
                weights[found.path] = weights.get(found.path, 0.0) + found.weight * found.confidence
                lines.setdefault(found.path, found.line)
        for tested, weight in weights.items():
            named = _stem(tested) == _tested_stem(path)
            yield CodeEdgeRow(
                file_no, self._files[tested].no, "tests", weight, lines[tested], 1.0 if named else 0.7
            )


def _surface(facts: FileFacts) -> tuple[object, ...]:
    """Return what others may see of a file."""
    return (
        {(symbol.qualified, symbol.kind, symbol.returns) for symbol in facts.symbols},
        {(each.module, each.name, each.alias) for each in facts.imports},
        facts.bases,
        facts.attributes,
        facts.package,
    )


def _stem(path: str) -> str:
    parts = path.split("/")
    stem = parts[-1].partition(".")[0]
    return parts[-2] if stem in ("__init__", "index", "mod") and len(parts) > 1 else stem


def _tested_stem(path: str) -> str:
    stem = path.rpartition("/")[2].partition(".")[0]
    return stem.removeprefix("test_").removesuffix("_test").removesuffix("Tests").removesuffix("Test")


def _place_names(path: str) -> set[str]:
    """Return the names by which an import may mean a file: its own, and of a package its folder's."""
    return {path.rpartition("/")[2].partition(".")[0], _stem(path), *path.split("/")[:-1]}
