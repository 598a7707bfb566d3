"""Answers of the graph: what a name means, and what lies around it, found edge by edge in the tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from hexad.code_graph.facts import ImportFact
from hexad.code_graph.languages import code_language, languages
from hexad.code_graph.tables.graph import CHANGES_WITH, CodeEdgeRow, CodeGraphTables, CodeNodeRow, quoted_glob
from hexad.code_graph.values import CodeAnswer, CodeHit, CodeNode, CodeQuestion
from hexad.errors import NotFound

FILES: Final = frozenset({"imports"})
SYMBOLS: Final = frozenset({"calls", "references"})
_ALL: Final = frozenset({"imports", "calls", "references", "tests", "belongs_to"})
CHANGED_WITH: Final = "changed with"
EXTENDED_BY: Final = "extended by"
TOGETHER_LEAST: Final = 3
"""Two files that changed together in fewer commits may have done so by accident."""
TOGETHER_SHARE: Final = 0.3
"""So much of a file's commits another one has to be in."""
_BACK: Final = {
    "imports": "imported by",
    "calls": "called by",
    "references": "referenced by",
    "tests": "tested by",
    "belongs_to": "holds",
    CHANGES_WITH: CHANGED_WITH,
}
NEEDS_EXTRA: Final = (
    "{} is read with the extra `code` alone: run `pip install 'hexad[code]'`, then `hexad graph index`."
)
_STEP: Final = 0.6
"""What an edge leaves of how much a change matters."""
_TARGETS_MOST: Final = 2_000
_TARGETS_SHOWN: Final = 20
_IMPACT_DEPTH: Final = 6
_PATH_DEPTH: Final = 12
BY_NAME: Final = 0.4
"""How sure it is that a call on an unknown value means the only thing of that name; of several it is shared out."""
_NAMESAKES_MOST: Final = 4
_BASES_DEEPEST: Final = 6
"""So far a member is looked for in what a class extends."""
_NEAR_MOST: Final = 3
"""So many names are told in the place of one that there is not."""
_ID: Final = "code:"
"""With what ids of nodes begin."""
_NODES_MOST: Final = 50_000
"""So many nodes are walked through for one answer."""


_UNIMPORTED: Final = frozenset({"go", "java", "c", "cpp"})
"""Of these languages files use each other without a word: those of a package, and what a header declares."""
_NO_IMPORT: Final = (
    "Files of {} use each other without an import, too;"
    " `impact` and `path` count that, and `dependents` of a symbol."
)
_TYPES: Final = frozenset({"class", "interface", "struct", "trait", "enum", "type"})
_BRACKETS: Final = re.compile(r"\[[^\]]*\]+|<[^>]*>+")
_JOINTS: Final = re.compile(r"::|->|[.#]")
_WORD: Final = re.compile(r"\w+")
_LINE_DIGITS: Final = 9
_OWN_CRATE: Final = frozenset({"", "crate", "self", "super"})
_OF_THE_FOLDER: Final = frozenset({"mod", "lib", "index", "__init__"})
"""Files that say what their folder is; nobody names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How a walk came to a node: over which edge of which node, how far, and how much of 1 was left."""

    edge: CodeEdgeRow
    via: int
    distance: int
    score: float
    confidence: float


class CodeQueries:
    """Asks the graph. `spaces` None is every space that may be seen."""

    def __init__(
        self, tables: CodeGraphTables, *, spaces: Collection[str], text: str, limit: int, kind: str = ""
    ) -> None:
        """`kind` is `files` or `symbols` where only these are meant."""
        self._tables, self._spaces, self._text, self._limit = tables, spaces, text, limit
        self._kind = kind
        self._hidden = tables.hidden_files()
        self._imports_of: dict[tuple[int, str], tuple[ImportFact, ...]] = {}
        self._inherited: dict[str, str] = {}
        """Members that were asked of a class → those of its bases that are meant."""

    # What a name means --------------------------------------------------------------------------------------------

    def targets(self, name: str) -> list[CodeNodeRow]:
        """Return what a name means, best understood first: a path, a symbol, a module, a folder, a library.

        Raises `NotFound` for a name that means nothing.
        """
        rest: list[CodeNodeRow] = []
        for nodes in self._meanings(name):
            if seen := self._seen(nodes):
                meant = [node for node in seen if self._is_meant(node)]
                if meant:
                    return meant[:_TARGETS_MOST]
                rest = rest or seen
        if rest:
            return rest[:_TARGETS_MOST]
        raise NotFound(f"The code graph has nothing called {name!r}.", remedy=self._remedy(name))

    def _meanings(self, name: str) -> Iterable[list[CodeNodeRow]]:
        name = name.strip().strip("`'\"").removesuffix("()")
        yield self._whole_root(name.rstrip("/") or name)
        name = name.removeprefix("./").rstrip("/")
        yield from self._as_written(self._below_a_root(name.removeprefix(_ID)))
        if "\\" in name:
            yield from self._as_written(self._below_a_root(name.replace("\\", "/")).removeprefix("./"))

    def _whole_root(self, name: str) -> list[CodeNodeRow]:
        """Return all files of a root that is named by its path; `.` is every root."""
        roots = self._tables.roots(list(self._spaces))
        numbers = [root.no for root in roots if name == "." or root.uri.rstrip("/") == name]
        return self._tables.below_roots(numbers) if numbers else []

    def _below_a_root(self, name: str) -> str:
        """Return an absolute path as the graph has it."""
        roots = (f"{root.uri.rstrip('/')}/" for root in self._tables.roots(list(self._spaces)))
        return name.removeprefix(max(filter(name.startswith, roots), key=len, default=""))

    def _as_written(self, name: str) -> Iterable[list[CodeNodeRow]]:
        tables = self._tables
        path, mark, symbol = name.partition("::") if "::" in name else name.rpartition(":")
        if mark and path and symbol:
            nodes = tables.by_path(path)
            files = {node.no for node in nodes}
            if symbol.isascii() and symbol.isdigit() and len(symbol) <= _LINE_DIGITS:
                yield self._around(self._seen(nodes), int(symbol))
            else:
                yield [node for node in tables.by_qualified(symbol) if node.file_no in files]
                yield self._inherited_member(symbol, files)
        yield tables.by_path(name)
        yield tables.by_qualified(name)
        yield self._module(name)
        yield self._dotted_symbol(name)
        yield self._written_symbol(name)
        yield self._inherited_member(name)
        libraries = tables.find("n.node_type = 'library' AND n.name = ?", (name,), limit=20)
        if "." not in name:
            stems = tables.by_pattern(f"{quoted_glob(name)}.*", files=True)
            # `_auth.py` is what a package calls its module `auth` where others are not to import it.
            yield [*stems, *tables.below(name), *libraries] if stems else self._private_files(name)
            yield tables.below(name)
        else:
            yield tables.below(name)
        yield tables.find("n.node_type = 'slice' AND n.name = ?", (name.removeprefix("slice:"),), limit=1)
        yield libraries or tables.find(
            "n.node_type = 'library' AND n.name = ?", (name.removeprefix("library:"),), limit=20
        )
        yield tables.by_name(name, folded=True)
        folded = quoted_glob(name.lower())
        yield tables.find("n.node_type = 'file' AND lower(n.name) GLOB ?", (f"{folded}.*",), limit=200)
        if "/" in name:
            yield tables.find(
                "n.node_type = 'file' AND lower('/' || n.qualified) GLOB ?", (f"*/{folded}",), limit=200
            )

    def _private_files(self, name: str) -> list[CodeNodeRow]:
        """Return the files whose names are this but for an underscore before it; tests where all are."""
        pattern = f"_{quoted_glob(name)}.*"
        files = self._tables.by_pattern(pattern, files=True)
        return [node for node in files if not node.is_test] or files

    def _around(self, files: Sequence[CodeNodeRow], line: int) -> list[CodeNodeRow]:
        """Return of each file the innermost symbol of a line, or the file itself where it stands in none.

        Raises `NotFound` where no file has that line.
        """
        having = [file for file in files if 1 <= line <= max(file.end_line, 1)]
        if files and not having:
            longest = max(files, key=lambda file: file.end_line)
            raise NotFound(
                f"{longest.qualified} has no line {line:,}.", remedy=f"It has {max(longest.end_line, 1):,}."
            )
        around = []
        for file in having:
            inside = [node for node in self._tables.members(file.no) if node.line <= line <= node.end_line]
            around.append(min(inside, key=lambda node: node.end_line - node.line, default=file))
        return around

    def _module(self, name: str) -> list[CodeNodeRow]:
        if "." not in name or "/" in name:
            return []
        place = name.replace(".", "/")
        return [*self._tables.by_path(f"{place}.py"), *self._tables.by_path(f"{place}/__init__.py")]

    def _dotted_symbol(self, name: str) -> list[CodeNodeRow]:
        """Return what `package.module.Class.method` means."""
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            files = {node.no for node in self._module(".".join(parts[:cut]))} or (
                {node.no for node in self._tables.by_path(f"{parts[0]}.py")} if cut == 1 else set()
            )
            symbols = self._tables.by_qualified(".".join(parts[cut:])) if files else []
            if inside := [node for node in symbols if node.file_no in files]:
                return inside
        return []

    def _written_symbol(self, name: str) -> list[CodeNodeRow]:
        """Return the symbols that are meant as languages write them: `cart::Cart::total`, `shop.Open`, `Cart#total`.

        What stands before a symbol is where it is: the folders above its file, and that without its suffix or not.
        """
        written = _JOINTS.split(name)
        if "/" in name or len(written) < 2 or not written[-1]:
            return []
        parts = [part for part in written if part not in _OWN_CRATE]
        for cut in range(len(parts)):
            symbols = self._tables.by_qualified(".".join(parts[cut:]))
            if found := [node for node in symbols if _stands_in(node.path, parts[:cut])]:
                return found
        return []

    def _inherited_member(self, name: str, files: Collection[int] = ()) -> list[CodeNodeRow]:
        """Return what `Class.member` means where a class that `Class` extends has the member: those of the nearest."""
        outer, _, last = _JOINTS.sub(".", name).rpartition(".")
        if not outer or "/" in name:
            return []
        classes = self._seen(self._tables.by_qualified(outer) or self._dotted_symbol(outer))
        front = [node for node in classes if node.kind in _TYPES and (not files or node.file_no in files)]
        met = {node.no for node in front}
        for _ in range(_BASES_DEEPEST):
            front = [base for node in front for base in self._bases_of(node) if base.no not in met]
            met |= {base.no for base in front}
            found = [
                member
                for base in front
                for member in self._tables.by_qualified(f"{base.qualified}.{last}")
                if (member.file_no, member.qualified) == (base.file_no, f"{base.qualified}.{last}")
            ]
            if found := self._seen(found):
                self._inherited[name] = ", ".join(
                    dict.fromkeys(f"{member.path}::{member.qualified}" for member in found)
                )
                return found
        return []

    def _bases_of(self, node: CodeNodeRow) -> list[CodeNodeRow]:
        """Return the classes that a class states to extend or implement."""
        # What a class of Python extends is mentioned by what the class stands in.
        edges = self._tables.edges({node.no}, kinds={"belongs_to"})
        places = {node.no, node.file_no, *(edge.to_no for edge in edges)}
        lines = {edge.to_no: edge.line for edge in self._tables.edges(places, kinds={"references"})}
        bases = self._tables.nodes(lines)
        return [
            base
            for base in bases.values()
            if base.kind in _TYPES and self._states_base(node, base, lines[base.no])
        ]

    def _states_base(self, node: CodeNodeRow, base: CodeNodeRow, line: int) -> bool:
        """Whether a symbol's own words say that it extends or implements another one, which it mentions.

        What stands in brackets is what a base is made of: `Stack(List[Item])` extends no `Item`. Of Rust an `impl`
        outside of the type says so.
        """
        if node.kind not in _TYPES:
            return False
        if (
            base.kind == "trait"
            and node.kind in ("struct", "enum")
            and not node.line <= line <= node.end_line
        ):
            return True
        _, _, stated = _BRACKETS.sub("", node.signature).partition(node.name)
        words = set(_WORD.findall(stated))
        return base.name in words or (bool(words) and not words.isdisjoint(self._called(base, node)))

    def _called(self, base: CodeNodeRow, node: CodeNodeRow) -> set[str]:
        """Return what a file calls a class of another one: by what that exports it as, and it imports it as."""
        exported = {base.name} | {
            each.alias for each in self._imports(base) if each.name == base.name and not each.module
        }
        return {each.alias for each in self._imports(node) if each.name in exported and each.alias}

    def _imports(self, node: CodeNodeRow) -> tuple[ImportFact, ...]:
        key = (node.root_no, node.path)
        if key not in self._imports_of:
            facts = self._tables.facts(*key)
            self._imports_of[key] = () if facts is None else facts.imports
        return self._imports_of[key]

    def _remedy(self, name: str) -> str:
        language = code_language(name)
        if language is not None and language not in languages():
            return NEEDS_EXTRA.format(language)
        path = name.replace("\\", "/").strip("`'\"").removesuffix("()").partition("::")
        is_file = not path[1] and (language is not None or "/" in path[0])
        last = path[0].rpartition("/")[2] if is_file else _JOINTS.split(path[2] or path[0])[-1]
        # Names that begin as it does, in either case, else those that have its end in them.
        begins = f"[{last[:1].lower()}{last[:1].upper()}]" if last[:1].isalpha() else quoted_glob(last[:1])
        for pattern in (f"{begins}*", f"*{quoted_glob(last[len(last) // 2 :])}*"):
            nodes = self._seen(self._tables.find("n.name GLOB ?", (pattern,), limit=5_000))
            if is_file:
                nodes = [node for node in nodes if node.node_type == "file"] or nodes
            folded = {node.name.lower() for node in nodes}
            names = get_close_matches(last.lower(), sorted(folded), n=_NEAR_MOST)
            if names:
                near = sorted(
                    (node for node in nodes if node.name.lower() in names),
                    key=lambda node: (node.is_test, names.index(node.name.lower()), -_likeness(name, node)),
                )
                shown = dict.fromkeys(
                    node.name if node.node_type == "library" else node.qualified for node in near
                )
                return f"It has {', '.join(list(shown)[:_NEAR_MOST])}."
        return "Name a file, a folder, a symbol or a module; `hexad graph index` reads what is new."

    def _seen(self, nodes: Iterable[CodeNodeRow]) -> list[CodeNodeRow]:
        unique = {node.no: node for node in nodes}
        return [
            node
            for node in unique.values()
            if node.space in self._spaces and node.file_no not in self._hidden and self._is_imported(node)
        ]

    def _is_meant(self, node: CodeNodeRow) -> bool:
        return not self._kind or (node.node_type == "symbol") == (self._kind == "symbols")

    def _is_imported(self, node: CodeNodeRow) -> bool:
        """Whether a library or a slice has a file that may be seen; what is neither needs none."""
        if node.node_type not in ("library", "slice") or not self._hidden:
            return True
        return any(
            edge.from_no not in self._hidden
            for edge in self._tables.edges({node.no}, kinds=FILES | {"belongs_to"}, back=True)
        )

    # Questions ----------------------------------------------------------------------------------------------------

    def answer(self, question: CodeQuestion, *, to: str | None, depth: int) -> CodeAnswer:
        """Answer one question about what the text names."""
        targets = self.targets(self._text)
        notes: list[str]
        match question:
            case CodeQuestion.DEFINITION:
                hits, notes = self._definitions(targets), []
            case CodeQuestion.IMPACT:
                hits, notes = self._impact(targets, depth)
            case CodeQuestion.PATH:
                hits, notes = self._path(targets, self.targets(to or ""), to or "")
            case CodeQuestion.CALLERS | CodeQuestion.CALLEES:
                hits, notes = self._calls(targets, depth, back=question is CodeQuestion.CALLERS)
            case CodeQuestion.SUBCLASSES:
                hits, notes = self._subclasses(targets, depth), []
            case CodeQuestion.DEPENDENCIES | CodeQuestion.DEPENDENTS:
                hits, notes = self._dependencies(targets, depth, back=question is CodeQuestion.DEPENDENTS)
            case _:
                hits, notes = self._neighbourhood(targets)
        if len(targets) > 1 and question is not CodeQuestion.DEFINITION:
            notes = [
                f"{self._text!r} means {len(targets)} things here; a path or a longer name says which.",
                *notes,
            ]
        notes = [
            *(f"{name!r} is inherited: this is {of}." for name, of in self._inherited.items()),
            *notes,
        ]
        left = len(hits) - self._limit
        if left > 0 and question is not CodeQuestion.PATH:
            hits, notes = hits[: self._limit], [*notes, f"{left} more; a higher limit shows them."]
        return CodeAnswer(
            question=question,
            target=self._text,
            targets=tuple(node_of(node) for node in targets[:_TARGETS_SHOWN]),
            hits=tuple(hits),
            notes=tuple(notes),
        )

    def _definitions(self, targets: Sequence[CodeNodeRow]) -> list[CodeHit]:
        return [
            CodeHit(node=node_of(node), relation="defined", distance=0, line=node.line) for node in targets
        ]

    def _dependencies(
        self, targets: Sequence[CodeNodeRow], depth: int, *, back: bool
    ) -> tuple[list[CodeHit], list[str]]:
        """Files by their imports, and of symbols what they call and mention, or who does."""
        files = {node.no for node in targets if node.node_type in ("file", "library", "slice")}
        symbols = {node.no for node in targets if node.node_type == "symbol"}
        if slices := {node.no for node in targets if node.node_type == "slice"}:
            files |= {edge.from_no for edge in self._tables.edges(slices, kinds={"belongs_to"}, back=True)}
        reached = self._walk(files, FILES, depth, back=back)
        reached |= self._walk(self._with_members(symbols), SYMBOLS, depth, back=back)
        unimported = sorted({node.kind for node in targets if _is_unimported(node)})
        notes = [_NO_IMPORT.format(" and ".join(unimported))] if unimported else []
        return self._hits(reached, back=back), notes

    def _with_members(self, symbols: Collection[int]) -> set[int]:
        """Return symbols with those that stand in them: who calls a method of a class depends on the class."""
        every, new = set(symbols), set(symbols)
        while new:
            inner = {
                edge.from_no for edge in self._tables.edges(new, kinds={"belongs_to"}, back=True)
            } - every
            every |= inner
            new = inner
        return every

    def _used_unimported(self, targets: Sequence[CodeNodeRow]) -> set[int]:
        """Return what stands in those files among the targets that others use without importing them."""
        files = [node.no for node in targets if _is_unimported(node)]
        return {member.no for no in files for member in self._tables.members(no)}

    def _calls(
        self, targets: Sequence[CodeNodeRow], depth: int, *, back: bool
    ) -> tuple[list[CodeHit], list[str]]:
        starts = {node.no for node in targets}
        for node in targets:
            if node.node_type == "file":
                starts |= {member.no for member in self._tables.members(node.no)}
        reached = self._walk(starts, frozenset({"calls"}), depth, back=back)
        by_name = self._callers_by_name(targets) if back else self._callees_by_name(starts)
        for no, how in by_name.items():
            if no not in reached and no not in starts:
                reached[no] = how
        unsure = sum(how.confidence <= BY_NAME for how in reached.values())
        notes = [f"{unsure} of them by the name alone: what it is called on is not known."] if unsure else []
        return self._hits(reached, back=back), notes

    def _subclasses(self, targets: Sequence[CodeNodeRow], depth: int) -> list[CodeHit]:
        """Return what states that it extends or implements a target, and with more depth what does so of these."""
        reached: dict[int, Reached] = {}
        front = {node.no: node for node in targets if node.node_type == "symbol"}
        known = set(front)
        for distance in range(1, depth + 1):
            edges = self._tables.edges(front, kinds={"references"}, back=True)
            nodes = self._tables.nodes({edge.from_no for edge in edges})
            following: dict[int, CodeNodeRow] = {}
            for edge in edges:
                source, base = nodes[edge.from_no], front[edge.to_no]
                # What a class of Python extends is mentioned by what the class stands in.
                stating = [source] if source.node_type == "symbol" else self._tables.members(source.no)
                for node in stating:
                    if node.no in known or not self._states_base(node, base, edge.line):
                        continue
                    score = edge.confidence * _STEP ** (distance - 1)
                    how = Reached(
                        edge=edge._replace(line=node.line),
                        via=base.no,
                        distance=distance,
                        score=score,
                        confidence=edge.confidence,
                    )
                    self._better(reached, node.no, how)
                    following[node.no] = node
            known |= set(following)
            front = following
        hits = self._hits(reached, back=True)
        return [replace(hit, relation=EXTENDED_BY) for hit in hits]

    def _callers_by_name(self, targets: Sequence[CodeNodeRow]) -> dict[int, Reached]:
        reached: dict[int, Reached] = {}
        for name in {node.name for node in targets if node.kind in ("method", "property")}:
            namesakes = self._namesakes(name)
            if len(namesakes) > _NAMESAKES_MOST:
                continue
            confidence = BY_NAME / max(len(namesakes), 1)
            target = next(node.no for node in targets if node.name == name)
            for no, weight, line in self._tables.callers_by_name(name):
                edge = CodeEdgeRow(no, target, "calls", weight, line, confidence)
                reached.setdefault(
                    no, Reached(edge=edge, via=target, distance=1, score=confidence, confidence=confidence)
                )
        return reached

    def _namesakes(self, name: str) -> list[CodeNodeRow]:
        nodes = self._seen(self._tables.by_name(name))
        return [node for node in nodes if node.kind in ("method", "property") and not node.is_test]

    def _callees_by_name(self, starts: Collection[int]) -> dict[int, Reached]:
        reached: dict[int, Reached] = {}
        for no, name, weight, line in self._tables.names_called(starts):
            namesakes = self._namesakes(name)
            if not 0 < len(namesakes) <= _NAMESAKES_MOST:
                continue
            confidence = BY_NAME / len(namesakes)
            for node in namesakes:
                edge = CodeEdgeRow(no, node.no, "calls", weight, line, confidence)
                reached.setdefault(
                    node.no, Reached(edge=edge, via=no, distance=1, score=confidence, confidence=confidence)
                )
        return reached

    def _impact(self, targets: Sequence[CodeNodeRow], depth: int) -> tuple[list[CodeHit], list[str]]:
        """Files and tests that a change may break, by how near and how sure they are; a symbol's by who uses it."""
        depth = max(depth, 1) if depth > 1 else _IMPACT_DEPTH
        symbols = {node.no for node in targets if node.node_type == "symbol"}
        files = {node.no for node in targets if node.node_type != "symbol"}
        best: dict[int, Reached] = {}
        if within := self._with_members(symbols) | self._used_unimported(targets):
            for no, how in self._walk(within, SYMBOLS, depth, back=True).items():
                self._better(best, no, how)
        for no, how in self._callers_by_name(targets).items():
            self._better(best, no, how)
        for no, how in self._walk(files, FILES, depth, back=True).items():
            self._better(best, no, how)
        for no, how in self._walk(files, frozenset({"tests"}), 1, back=True).items():
            self._better(best, no, how)
        nodes = self._tables.nodes(best)
        by_file: dict[int, Reached] = {}
        for no, how in best.items():
            node = nodes.get(no)
            if node is not None and node.file_no:
                self._better(by_file, node.file_no, how)
        own = {node.file_no for node in targets}
        for no in own & {node.file_no for node in targets if node.node_type != "symbol"}:
            by_file.pop(no, None)
        by_history = {no: how for no, how in self._changed_with(own).items() if no not in by_file}
        by_file |= by_history
        tests = sum(node.is_test for node in self._tables.nodes(by_file).values())
        notes = (
            [f"{_files(len(by_file) - tests)} and {_files(tests)} of tests may be touched."]
            if by_file
            else []
        )
        if by_history:
            notes.append(f"{len(by_history)} of them by history alone: they changed in the same commits.")
        return self._hits(by_file, back=True), notes

    def _changed_with(self, files: Collection[int]) -> dict[int, Reached]:
        """Return the files that changed in most of the commits in which some of `files` did, by how many."""
        kinds = {CHANGES_WITH}
        edges = [*self._tables.edges(files, kinds=kinds), *self._tables.edges(files, kinds=kinds, back=True)]
        totals = {edge.from_no: edge.weight for edge in edges if edge.from_no == edge.to_no}
        reached: dict[int, Reached] = {}
        for edge in edges:
            via, no = (
                (edge.from_no, edge.to_no)
                if edge.from_no in totals and edge.from_no in files
                else (edge.to_no, edge.from_no)
            )
            if no in files or no in self._hidden or via not in totals or edge.weight < TOGETHER_LEAST:
                continue
            share = edge.weight / totals[via]
            if share >= TOGETHER_SHARE:
                how = Reached(edge=edge, via=via, distance=1, score=_STEP * share, confidence=share)
                self._better(reached, no, how)
        return reached

    @staticmethod
    def _better(best: dict[int, Reached], no: int, how: Reached) -> None:
        before = best.get(no)
        if before is None or how.score > before.score:
            best[no] = how

    def _path(
        self, targets: Sequence[CodeNodeRow], ends: Sequence[CodeNodeRow], to: str
    ) -> tuple[list[CodeHit], list[str]]:
        """The shortest way from one to the other, or where there is none from the other to the first."""
        for start, end, turned in ((targets, ends, False), (ends, targets, True)):
            steps = self._way(start, {node.no for node in end})
            if steps is not None:
                nodes = self._tables.nodes({no for edge in steps for no in (edge.from_no, edge.to_no)})
                hits = [
                    CodeHit(
                        node=node_of(nodes[edge.to_no]), relation=edge.edge_type, distance=number,
                        confidence=edge.confidence, weight=edge.weight, line=edge.line,
                        via=node_of(nodes[edge.from_no]).location,
                    )
                    for number, edge in enumerate(steps, start=1)
                ]  # fmt: skip
                return hits, [f"There is none from {self._text!r}; it leads from {to!r}."] if turned else []
        return [], [f"Nothing leads from {self._text!r} to {to!r}, nor back, within {_PATH_DEPTH} steps."]

    def _way(self, start: Sequence[CodeNodeRow], ends: set[int]) -> list[CodeEdgeRow] | None:
        """Return the shortest way from some nodes, or what stands in them, to others; None where there is none.

        Only where nothing of it uses an end a way leads into what stands in something that is used on it: a file that
        imports another one uses all of that in the end, but says of none that it does.
        """
        starts = {node.no for node in start}
        within = self._with_members(starts)
        steps = None
        if ends.isdisjoint(within - starts):
            steps = self._shortest(within, ends, kinds=_ALL - {"tests"})
        return steps or self._shortest(starts, ends, kinds=FILES | SYMBOLS, into=True)

    def _shortest(
        self, starts: set[int], ends: set[int], *, kinds: Collection[str], into: bool = False
    ) -> list[CodeEdgeRow] | None:
        """Return the edges from some nodes to one of others; with `into` what stands in a node is a step, too."""
        came: dict[int, CodeEdgeRow | None] = dict.fromkeys(starts)
        front = set(starts)
        for _ in range(_PATH_DEPTH):
            following: set[int] = set()
            held = self._held(front) if into else []
            for edge in (*held, *self._tables.edges(front, kinds=kinds)):
                if edge.to_no not in came:
                    came[edge.to_no] = edge
                    following.add(edge.to_no)
            following -= self._hidden_among(following)
            if met := following & ends:
                steps: list[CodeEdgeRow] = []
                step = came[min(met)]
                while step is not None:
                    steps.append(step)
                    step = came[step.from_no]
                return steps[::-1]
            front = following
            if not front or len(came) > _NODES_MOST:
                return None
        return None

    def _held(self, numbers: Collection[int]) -> list[CodeEdgeRow]:
        """Return edges from nodes to what stands in them."""
        inner = self._tables.edges(numbers, kinds={"belongs_to"}, back=True)
        return [
            edge._replace(from_no=edge.to_no, to_no=edge.from_no, edge_type=_BACK["belongs_to"])
            for edge in inner
        ]

    def _neighbourhood(self, targets: Sequence[CodeNodeRow]) -> tuple[list[CodeHit], list[str]]:
        """What stands in it, where it stands, what it uses and who uses it; what is used most first."""
        numbers = {node.no for node in targets}
        out = self._walk(numbers, _ALL, 1, back=False)
        into = self._walk(numbers, _ALL, 1, back=True)
        together = self._changed_with({node.no for node in targets if node.node_type == "file"})
        hits = [
            *self._hits(into, back=True),
            *self._hits(out, back=False),
            *self._hits({no: how for no, how in together.items() if no not in into | out}, back=True),
        ]
        places = {"holds": 0, "belongs_to": 1}
        return sorted(
            hits, key=lambda hit: (places.get(hit.relation, len(places)), -hit.confidence, -hit.weight)
        ), []

    # Walking ------------------------------------------------------------------------------------------------------

    def _walk(
        self, starts: Collection[int], kinds: Collection[str], depth: int, *, back: bool
    ) -> dict[int, Reached]:
        """Return what edges of some kinds lead to within `depth` steps, by the way that leaves most."""
        reached: dict[int, Reached] = {}
        known, front = set(starts), dict.fromkeys(starts, (1.0, 1.0))
        for distance in range(1, depth + 1):
            following: dict[int, tuple[float, float]] = {}
            for edge in self._tables.edges(front, kinds=kinds, back=back):
                no, before = (edge.from_no, edge.to_no) if back else (edge.to_no, edge.from_no)
                if no in known:
                    continue
                score = front[before][0] * edge.confidence * (_STEP if distance > 1 else 1.0)
                confidence = min(front[before][1], edge.confidence)
                old = reached.get(no)
                if old is None or (score, edge.weight) > (old.score, old.edge.weight):
                    reached[no] = Reached(
                        edge=edge, via=before, distance=distance, score=score, confidence=confidence
                    )
                    following[no] = (score, confidence)
            for no in self._hidden_among(following):
                following.pop(no)
                reached.pop(no)
            known |= set(following)
            front = following
            if not front or len(known) > _NODES_MOST:
                break
        return reached

    def _hidden_among(self, numbers: Iterable[int]) -> set[int]:
        if not self._hidden:
            return set()
        nodes = self._tables.nodes(set(numbers))
        return {no for no, node in nodes.items() if node.file_no in self._hidden}

    def _hits(self, reached: dict[int, Reached], *, back: bool) -> list[CodeHit]:
        """Return what was reached, the nearest, surest and heaviest first; what may not be seen is left out."""
        nodes = self._tables.nodes({*reached, *(how.via for how in reached.values())})
        hits = []
        for no, how in reached.items():
            node, via = nodes.get(no), nodes.get(how.via)
            if node is None or node.space not in self._spaces or node.file_no in self._hidden:
                continue
            relation = _BACK[how.edge.edge_type] if back else how.edge.edge_type
            hits.append(
                CodeHit(
                    node=node_of(node), relation=relation, distance=how.distance, score=round(how.score, 4),
                    confidence=round(how.confidence, 4), weight=how.edge.weight, line=how.edge.line,
                    via=None if via is None else node_of(via).location,
                )
            )  # fmt: skip
        return sorted(hits, key=lambda hit: (-hit.score, hit.node.is_test, -hit.weight, hit.node.id))


def node_of(row: CodeNodeRow) -> CodeNode:
    """Return a node as it is handed out."""
    path = row.path if row.node_type in ("file", "symbol") else ""
    name = row.qualified if row.node_type == "symbol" else row.name
    parts = [path, name] if row.node_type == "symbol" else [path or f"{row.node_type}:{name}"]
    return CodeNode(
        id="code:" + "::".join(parts),
        type=row.node_type,
        kind=row.kind,
        name=name,
        path=path,
        line=row.line,
        end_line=row.end_line,
        signature=row.signature,
        is_test=row.is_test,
        root=row.root,
        space=row.space,
    )


def _likeness(name: str, node: CodeNodeRow) -> float:
    """Return how much of a name, with what it stands in, a node has in common with it."""
    whole = SequenceMatcher(None, name, node.qualified, autojunk=False).ratio()
    return max(whole, SequenceMatcher(None, name, f"{node.path}::{node.qualified}", autojunk=False).ratio())


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _is_unimported(node: CodeNodeRow) -> bool:
    return node.node_type == "file" and node.kind in _UNIMPORTED


def _stands_in(path: str, outer: Sequence[str]) -> bool:
    """Whether a file is where a name says: in a module or a folder of these names, of Rust behind that of the crate.

    >>> _stands_in("go/shop/cart.go", ["shop"]), _stands_in("src/cart.rs", ["shop", "cart"])
    (True, True)
    >>> _stands_in("java/com/shop/Cart.java", ["org", "shop"])
    False
    """
    *folders, file = path.replace("-", "_").split("/")
    stem, _, suffix = file.partition(".")
    wanted = list(outer)
    places = [folders] if stem in _OF_THE_FOLDER else [folders, [*folders, stem]]
    ways = [wanted, wanted[1:]] if suffix == "rs" and len(wanted) > 1 else [wanted]
    return any(not way or place[-len(way) :] == way for way in ways for place in places)
