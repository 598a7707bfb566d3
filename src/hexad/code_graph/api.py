"""`hx.graph`: how the code hangs together, indexed from a folder or while it is ingested, and asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hexad.code_graph.indexer import CodeIndexer
from hexad.code_graph.queries import TOGETHER_LEAST, CodeQueries, node_of
from hexad.code_graph.tables.graph import CHANGES_WITH, CodeGraphTables
from hexad.code_graph.values import (
    CodeAnswer,
    CodeHit,
    CodeIndexReport,
    CodeOverview,
    CodeQuestion,
    CodeSlice,
)
from hexad.core.arguments import all_flags_checked, parse_choice, parse_place, parse_text, parse_whole, quoted
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import InvalidInput
from hexad.ingest.report import Progress
from hexad.memory.store import Stores

DEPTH_MOST: Final = 20
LIMIT_MOST: Final = 10_000
_SHOWN: Final = 10
_LOOKED_AT: Final = 100
"""Of so many hits it is looked whether their files are as they were when they were read."""
_NAMED: Final = 3


@all_failures_translated
@all_flags_checked
class CodeGraphFacade:
    """The code graph: files, symbols and slices, and what imports, calls, references and tests what."""

    def __init__(
        self, tables: CodeGraphTables, stores: Stores, *, indexer: Callable[[], CodeIndexer], project: Path
    ) -> None:
        self._tables, self._stores, self._indexer, self._project = tables, stores, indexer, project

    def index(
        self,
        folder: str | Path | None = None,
        *,
        space: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> CodeIndexReport:
        """Bring the graph of a folder, or of one file, up to date from the disk; None is the project's folder.

        `ingest` does the same for the code that it takes in. What is unchanged costs one look; a file under a new name
        keeps its symbols. No memory is made.

        Raises `NotFound` for a folder that is not there, `InvalidInput` for what holds no code.
        """
        parse_text(space, "space")
        chosen = self._project if folder is None else parse_place(folder, "folder")
        return self._indexer().index(chosen, space=space, progress=progress)

    def query(
        self,
        question: str,
        target: str,
        *,
        to: str | None = None,
        depth: int = 1,
        limit: int = 50,
        space: str | None = None,
    ) -> CodeAnswer:
        """Answer a question about what `target` names: a path, a folder, a symbol, a module, a line (`path:12`) or a
        library.

        `question` is `dependencies`, `dependents`, `callers`, `callees`, `subclasses` (what extends or implements it),
        `impact` (files and tests that a change may break, ranked), `path` (the shortest way to `to`), `definition` or
        `neighbourhood`. `depth` is how many edges are followed; `impact` follows six unless more than one is asked for.

        Raises `NotFound` for a name that means nothing, `InvalidInput` for a question that there is not.

        >>> import hexad, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, hexad.open(folder, embedder=None) as hx:
        ...     _ = pathlib.Path(folder, "auth.py").write_text("def login(): ...")
        ...     _ = pathlib.Path(folder, "app.py").write_text("from auth import login")
        ...     _ = hx.graph.index()
        ...     [(hit.node.path, hit.relation, hit.line) for hit in hx.graph.query("dependents", "auth").hits]
        [('app.py', 'imported by', 1)]
        """
        chosen = parse_choice(CodeQuestion, question, "question")
        name = self._name(target, "target")
        if (to is None) == (chosen is CodeQuestion.PATH):
            if to is None:
                raise InvalidInput(
                    "A path has two ends;", argument="to", remedy="name the other one as {to}."
                )
            raise InvalidInput(
                f"{chosen.value} has one end;", argument="to", remedy="give {to} with path alone."
            )
        self._whole(depth, "depth", DEPTH_MOST)
        self._whole(limit, "limit", LIMIT_MOST)
        with self._stores.db.read():
            queries = CodeQueries(self._tables, spaces=self._spaces(space), text=name, limit=limit)
            answer = queries.answer(chosen, to=None if to is None else self._name(to, "to"), depth=depth)
            nodes = (*answer.targets, *(hit.node for hit in answer.hits[:_LOOKED_AT]))
            read = self._tables.fingerprints({(node.root, node.path) for node in nodes if node.path})
        changed = [
            path for (root, path), fingerprint in read.items() if _has_changed(root, path, fingerprint)
        ]
        return replace(answer, notes=(*answer.notes, _note_of(changed))) if changed else answer

    def impact(self, target: str, *, depth: int = 1, limit: int = 50, space: str | None = None) -> CodeAnswer:
        """Return the files and tests that a change of `target` may break: `query("impact", target)`."""
        return self.query("impact", target, depth=depth, limit=limit, space=space)

    def show(self, *, space: str | None = None) -> CodeOverview:
        """Return what the graph holds: how much of what, what most files import, what could not be read."""
        with self._stores.db.read():
            hidden = self._tables.hidden_files()
            roots = self._tables.roots(self._spaces(space))
            numbers = [root.no for root in roots]
            most = dict(self._tables.most_used(numbers, without=hidden, limit=_SHOWN))
            nodes = self._tables.nodes(most)
            totals = self._tables.totals(numbers, without=hidden)
            pairs, together = self._tables.together(
                numbers, without=hidden, least=TOGETHER_LEAST, limit=_SHOWN
            )
            nodes |= self._tables.nodes({no for first, second, _ in together for no in (first, second)})
            return CodeOverview(
                roots=tuple(root.uri for root in roots),
                nodes={name: totals.get(name, 0) for name in ("file", "symbol", "slice", "library")},
                edges={
                    **{
                        name: totals.get(name, 0)
                        for name in ("imports", "calls", "references", "belongs_to", "tests")
                    },
                    CHANGES_WITH: pairs,
                },
                languages=self._tables.languages(numbers, without=hidden),
                most_imported=tuple(
                    CodeHit(node=node_of(nodes[no]), relation="imported by", weight=count)
                    for no, count in most.items()
                ),
                slices=tuple(
                    CodeSlice(name=name, files=len(paths), paths=tuple(paths))
                    for name, paths in self._tables.slices(numbers, without=hidden)
                ),
                problems=tuple(self._tables.problems(numbers, without=hidden, limit=_SHOWN)),
                changed_together=tuple(
                    (nodes[first].path, nodes[second].path, times) for first, second, times in together
                ),
            )

    def _spaces(self, space: str | None) -> list[str]:
        if space is not None:
            return [self._stores.spaces.get(space).name]
        return [each.name for each in self._stores.spaces.list()]

    @staticmethod
    def _whole(number: int, argument: str, most: int) -> None:
        if parse_whole(number, argument, least=1) > most:
            raise InvalidInput(f"{argument} = {number} is too much; give 1 to {most:,}.", argument=argument)

    @staticmethod
    def _name(name: object, argument: str) -> str:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(
                f"{argument} = {quoted(name)} names no code; give a path, a symbol or a module.",
                argument=argument,
            )
        return name


def _has_changed(root: str, path: str, fingerprint: str) -> bool:
    """Whether a file has another size or time than when it was read, or is gone; never in a root that is not here."""
    try:
        state = os.stat(os.path.join(root, path.partition("#part-")[0]))
    except FileNotFoundError:
        return os.path.isdir(root)
    except (OSError, ValueError):  # nobody may look at it
        return False
    return fingerprint != f"{state.st_size}:{state.st_mtime_ns}"


def _note_of(changed: Sequence[str]) -> str:
    shown = ", ".join(sorted(changed)[:_NAMED])
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    return f"Changed or gone since it was read: {shown}{more}; `hexad graph index` reads it again."
