"""The graph layer: how the code hangs together, as items of a context or a recall.

What reads as a question about imports, calls, impact or a definition is asked of the graph. Any other has what is
spelled like code looked up, and what lies next to the code that a recall found for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import sqrt
from typing import Final

from hexad.code_graph.queries import CHANGED_WITH, CodeQueries, node_of
from hexad.code_graph.questions import AskedOfCode, asked_of_code, names_like_code
from hexad.code_graph.tables.graph import CodeGraphTables
from hexad.code_graph.values import CodeAnswer, CodeHit, CodeNode, CodeQuestion
from hexad.database.codec import from_micros
from hexad.errors import NotFound
from hexad.layers.code_passages import definition_of_span
from hexad.layers.contract import MemoryItem, MemoryQuery
from hexad.layers.scoring import relevance_of
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Citation, Trust
from hexad.memory.query import Hit
from hexad.memory.store import Stores
from hexad.redaction.injection.detector import instructions_in
from hexad.search.recall.code_ranking import CODE

ANSWERED: Final = 0.9
"""Relevance of what answers a question about code surely."""
NAMED: Final = 0.8
"""Relevance of the definition of what a question names."""
BESIDE: Final = 0.6
"""So much of its relevance a passage of code that was found passes on to what lies next to it."""
_EXPANDED: Final = 2
"""Of the code that a recall found, so many passages are followed."""
_EACH: Final = 3
_TESTS_AMONG: Final = 200
"""Of so many files that a change may touch those that hold tests are told, where these are asked for."""
_LIKELY: Final = 0.5
"""What has so much of the best one's score is followed."""
_LOOKED_AT: Final = 20
"""So many of those who call something are looked at for tests."""
_LINES_MOST: Final = 60
_SECONDS_A_DAY: Final = 86_400.0


class CodeGraphLayer:
    """Implements `LayerSource` for the code graph; knows nothing of memories with tags or at paths, nor of the past.

    `found` gives what a recall finds for a query, the passages of code among it; None follows nothing.
    """

    def __init__(
        self,
        tables: CodeGraphTables,
        stores: Stores,
        *,
        found: Callable[[MemoryQuery], Sequence[Hit]] | None = None,
    ) -> None:
        self._tables, self._stores, self._found = tables, stores, found

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return MemoryLayer.GRAPH

    def warm(self) -> None:
        """Nothing waits to be loaded."""

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what answers best, best first; nothing for a question about the past, tags or paths of memories."""
        filters = query.filters
        if query.as_of is not None or filters.tags or filters.path is not None or not query.text.strip():
            return []
        if filters.kinds is not None and CODE not in filters.kinds:
            return []
        hits = self._found(query) if self._found is not None and asked_of_code(query.text) is None else ()
        with self._stores.db.read():
            items = [
                item
                for item in self._answers(query, hits, limit)
                if filters.spaces is None or item.space in filters.spaces
            ]
        unique = {item.id: item for item in sorted(items, key=lambda item: item.relevance)}
        return sorted(unique.values(), key=lambda item: -item.relevance)[:limit]

    def _answers(self, query: MemoryQuery, hits: Sequence[Hit], limit: int) -> Iterator[MemoryItem]:
        asked = asked_of_code(query.text)
        if (
            asked is not None
            and (answer := self._asked(asked, _TESTS_AMONG if asked.tests else limit)) is not None
        ):
            for place, hit in enumerate(answer.hits):
                if not asked.tests or hit.node.is_test:
                    # The order of the answer holds among equals.
                    relevance = ANSWERED * sqrt(hit.score) * (1 - 0.001 * place)
                    yield self._item(hit, answer, relevance, query.now)
            return
        for name in names_like_code(query.text):
            answer = self._asked(AskedOfCode(CodeQuestion.DEFINITION, name), limit=_EACH)
            for hit in () if answer is None else answer.hits:
                yield self._item(hit, answer, NAMED, query.now)
        least = _LIKELY * max((found.score for found in hits), default=0.0)
        code = [found for found in hits if found.memory.kind == CODE and found.score >= max(least, 0.0)]
        for passage in code[:_EXPANDED]:
            yield from self._beside(passage, query.now)

    def _asked(self, asked: AskedOfCode, limit: int) -> CodeAnswer | None:
        queries = CodeQueries(
            self._tables, spaces=self._spaces(), text=asked.target, limit=limit, kind=asked.kind
        )
        try:
            return queries.answer(asked.question, to=asked.to or None, depth=1)
        except NotFound:
            return None

    def _beside(self, hit: Hit, now: datetime) -> Iterator[MemoryItem]:
        """Give what the definition of a passage calls, with what that takes, who calls it, and which tests cover it."""
        identity = self._stores.memories.identify(memory_id=hit.id)
        file_no = None if identity is None else self._tables.file_of_memory(identity.no)
        if file_no is None or hit.chunk is None:
            return
        path = self._tables.nodes([file_no])[file_no].path
        definition = definition_of_span(
            self._tables.members(file_no), hit.chunk.first_line, hit.chunk.last_line
        )
        if definition is None:
            return
        own = definition.nodes[0]
        queries = CodeQueries(
            self._tables, spaces=self._spaces(), text=f"{path}::{own.qualified}", limit=_LOOKED_AT
        )
        try:
            callees, callers = (
                queries.answer(question, to=None, depth=1).hits
                for question in (CodeQuestion.CALLEES, CodeQuestion.CALLERS)
            )
        except NotFound:  # its memory is hidden
            return
        tests = [found for found in callers if found.node.is_test] or self._tests_of(file_no)
        users = [found for found in callers if not found.node.is_test]
        lines = [
            f"{verb} {_shown(found.node)}"
            for verb, around in (("calls", callees), ("tested by", tests), ("called by", users))
            for found in around[:_EACH]
        ]
        if lines:
            item = self._item(
                CodeHit(node=node_of(own), relation="holds", line=own.line),
                None,
                relevance_of(hit.score) * BESIDE,
                now,
            )
            text = "\n".join([item.text, *lines])
            yield replace(item, text=text, instruction_like=instructions_in(text))

    def _tests_of(self, file_no: int) -> list[CodeHit]:
        """Return the files of tests that use a file, the surest first."""
        edges = self._tables.edges({file_no}, kinds={"tests"}, back=True)
        hidden = self._tables.hidden_files()
        nodes = self._tables.nodes([edge.from_no for edge in edges if edge.from_no not in hidden])
        edges.sort(key=lambda edge: (-edge.confidence, -edge.weight, edge.from_no))
        return [
            CodeHit(node=node_of(nodes[edge.from_no]), relation="tested by")
            for edge in edges
            if edge.from_no in nodes
        ]

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Return a definition with its code, where its text was ingested, and with what is around it."""
        if not item_id.startswith("code:"):
            return None
        with self._stores.db.read():
            queries = CodeQueries(
                self._tables, spaces=self._spaces(), text=item_id.removeprefix("code:"), limit=20
            )
            try:
                answer = queries.answer(CodeQuestion.NEIGHBOURHOOD, to=None, depth=1)
            except NotFound:
                return None
            node = answer.targets[0]
            around = [f"{hit.relation}: {_shown(hit.node)}" for hit in answer.hits]
            own = CodeHit(node=node, relation="defined", line=node.line)
            item = self._item(own, answer, ANSWERED, now, more="\n".join(around))
        return item

    def _spaces(self) -> list[str]:
        return [space.name for space in self._stores.spaces.list()]

    def _item(
        self, hit: CodeHit, answer: CodeAnswer | None, relevance: float, now: datetime, *, more: str = ""
    ) -> MemoryItem:
        node = hit.node
        text = _sentence(hit, answer)
        code, at = self._code(node, now, whole=bool(more))
        if hit.relation == "defined" and code:
            text = f"{text}\n{code}"
        if more:
            text = f"{text}\n{more}"
        return MemoryItem(
            id=node.id,
            layer=MemoryLayer.GRAPH,
            text=text,
            recency=max(0.0, (now - at).total_seconds() / _SECONDS_A_DAY),
            relevance=round(min(relevance, 1.0), 6),
            confidence=hit.confidence,
            at=at,
            kind=CODE,
            space=node.space,
            trust=Trust.TOOL,
            instruction_like=instructions_in(text),
            citations=(Citation(path=node.path),) if node.path else (),
            location=node.location,
        )

    def _code(self, node: CodeNode, now: datetime, *, whole: bool) -> tuple[str, datetime]:
        """Return the lines of a definition, where a memory has its file, and when the file was looked at."""
        rows = self._tables.by_path(node.path) if node.path else []
        row = next((row for row in rows if (row.path, row.root) == (node.path, node.root)), None)
        if row is None:
            return "", now
        at = from_micros(self._tables.indexed_at(row.no))
        memory_no = self._tables.memory_of(row.no)
        text = None if memory_no is None or node.type != "symbol" else self._tables.text_of(memory_no)
        if text is None:
            return "", at
        lines = text.split("\n")[node.line - 1 : node.end_line]
        if not whole and len(lines) > _LINES_MOST:
            lines = [*lines[:_LINES_MOST], f"… {len(lines) - _LINES_MOST} more lines"]
        return "\n".join(lines), at


def _shown(node: CodeNode) -> str:
    """Return how a node is named in a sentence."""
    if node.type == "library":
        return f"{node.name} (a library)"
    if node.type == "symbol":
        return f"{node.location} {node.signature or node.name}"
    return node.location


def _sentence(hit: CodeHit, answer: CodeAnswer | None) -> str:
    """Return in words how a hit hangs together with what was asked about."""
    shown = _shown(hit.node)
    if hit.relation in ("defined", "holds") or answer is None:
        return shown
    line = f", line {hit.line}" if hit.line else ""
    steps = f", {hit.distance} steps away" if hit.distance > 1 else ""
    about = hit.via or answer.target
    if hit.relation == CHANGED_WITH:
        return f"{shown} changed with {about} in {hit.weight:.0f} commits"
    if answer.question is CodeQuestion.IMPACT:
        kind = "test" if hit.node.is_test else "file"
        return f"{shown}: a {kind} that a change of {answer.target} may touch, by way of {about}{line}{steps}"
    if hit.relation.endswith(" by"):
        verb = {
            "imported by": "imports",
            "called by": "calls",
            "referenced by": "mentions",
            "tested by": "tests",
            "extended by": "extends",
        }[hit.relation]
        return f"{shown} {verb} {about}{line}{steps}"
    return f"{about} {hit.relation} {shown}{line}{steps}"
