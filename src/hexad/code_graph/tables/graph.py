"""Reads and writes the code graph: one file with all that stands in it at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hexad.code_graph.facts import FileFacts
from hexad.core.erasure import ErasureBook, Selection
from hexad.database.codec import to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.memory.tables.rows import seen_sql

_BATCH: Final = 5_000
CHANGES_WITH: Final = "changes_with"
"""Between files of the same commits: `weight` is in how many. No file says so: `file_no` is 0."""


class RootRow(NamedTuple):
    """A folder whose code is in the graph."""

    no: int
    space_no: int
    uri: str
    space: str


class FileRow(NamedTuple):
    """What is remembered of a file, to tell whether it changed."""

    no: int
    path: str
    mark: str
    fingerprint: str
    memory_no: int | None
    memory_mark: str
    bytes: int


class NewFile(NamedTuple):
    """A file as it is written; `fingerprint` is empty where none was seen."""

    path: str
    mark: str
    fingerprint: str
    bytes: int
    facts: FileFacts
    is_test: bool
    memory_no: int | None = None
    memory_mark: str = ""


class CodeNodeRow(NamedTuple):
    """A node, with the folder and the space that it is of."""

    no: int
    node_type: str
    kind: str
    name: str
    qualified: str
    line: int
    end_line: int
    signature: str
    is_test: bool
    file_no: int
    path: str
    root_no: int
    root: str
    space: str


class CodeEdgeRow(NamedTuple):
    """An edge between two nodes."""

    from_no: int
    to_no: int
    edge_type: str
    weight: float
    line: int
    confidence: float


_NODE: Final = (
    "n.no, n.node_type, n.kind, n.name, n.qualified, n.line, n.end_line, n.signature, n.is_test,"
    " coalesce(n.file_no, 0), coalesce(f.qualified, ''), n.root_no, r.uri, s.name"
)
_FROM_NODES: Final = (
    "FROM code_nodes n LEFT JOIN code_nodes f ON f.no = n.file_no JOIN code_roots r ON r.no = n.root_no"
    " JOIN spaces s ON s.no = r.space_no"
)


_COUNTED: Final = (
    "n.root_no IN (SELECT value FROM json_each(?1))"
    " AND coalesce(n.file_no, 0) NOT IN (SELECT value FROM json_each(?2))"
)
"""Of the roots `?1`, without what stands in the files `?2`."""


class CodeGraphTables:
    """The code graph of one store, as far as `roles` may see the memories that have its texts."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self.db, self._roles = db, roles

    # Roots --------------------------------------------------------------------------------------------------------

    def ensure_root(self, uri: str, *, space_no: int) -> int:
        """Return the number of a root, registering it when it is new."""
        with self.db.joined() as con:
            con.execute("INSERT OR IGNORE INTO code_roots(space_no, uri) VALUES(?, ?)", (space_no, uri))
            row = con.execute(
                "SELECT no FROM code_roots WHERE space_no = ? AND uri = ?", (space_no, uri)
            ).fetchone()
        assert row is not None
        return int(row[0])

    def roots(self, spaces: Collection[str] | None = None) -> list[RootRow]:
        """Return the roots, those of some spaces or all."""
        rows = self.db.query(
            "SELECT r.no, r.space_no, r.uri, s.name FROM code_roots r JOIN spaces s ON s.no = r.space_no ORDER BY r.no"
        )
        roots = [RootRow(*row) for row in rows]
        return [root for root in roots if spaces is None or root.space in spaces]

    def begin(self, root_no: int) -> bool:
        """Note that files of a root are written whose edges are not; return whether an earlier run noted so."""
        with self.db.joined() as con:
            row = con.execute("SELECT unfinished FROM code_roots WHERE no = ?", (root_no,)).fetchone()
            con.execute("UPDATE code_roots SET unfinished = 1 WHERE no = ?", (root_no,))
        return bool(row and row[0])

    def is_unfinished(self, root_no: int) -> bool:
        """Whether a run did not come to its end."""
        row = self.db.query_one("SELECT unfinished FROM code_roots WHERE no = ?", (root_no,))
        return bool(row and row[0])

    def finish(self, root_no: int, *, at: datetime) -> None:
        """Note that all of a root was looked at, and that its edges are those of its files."""
        with self.db.joined() as con:
            con.execute(
                "UPDATE code_roots SET indexed_at = ?, unfinished = 0 WHERE no = ?", (to_micros(at), root_no)
            )

    # Files --------------------------------------------------------------------------------------------------------

    def files(self, root_no: int) -> dict[str, FileRow]:
        """Return the files of a root by their paths."""
        rows = self.db.query(
            "SELECT n.no, n.qualified, f.mark, f.fingerprint, f.memory_no, f.memory_mark, f.bytes"
            " FROM code_nodes n JOIN code_files f ON f.file_no = n.no WHERE n.root_no = ? AND n.node_type = 'file'",
            (root_no,),
        )
        return {row[1]: FileRow(*row) for row in rows}

    def facts(self, root_no: int, path: str) -> FileFacts | None:
        """Return what a file of a root says, None where it is not there."""
        row = self.db.query_one(
            "SELECT f.facts FROM code_nodes n JOIN code_files f ON f.file_no = n.no"
            " WHERE n.root_no = ? AND n.node_type = 'file' AND n.qualified = ?",
            (root_no, path),
        )
        return None if row is None else FileFacts.from_json(row[0])

    def put_file(self, root_no: int, file: NewFile, *, at: datetime) -> int:
        """Write a file and its symbols; those that were there under the same name keep their numbers."""
        facts = file.facts
        with self.db.joined() as con:
            file_no = self._put_node(con, root_no, file)
            con.execute(
                "INSERT INTO code_files(file_no, memory_no, memory_mark, mark, fingerprint, bytes, lines, problem,"
                " facts, indexed_at) VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT(file_no) DO UPDATE SET"
                " memory_no = coalesce(excluded.memory_no, memory_no), mark = excluded.mark,"
                " memory_mark = iif(excluded.memory_mark = '', memory_mark, excluded.memory_mark),"
                " fingerprint = excluded.fingerprint, bytes = excluded.bytes, lines = excluded.lines,"
                " problem = excluded.problem, facts = excluded.facts, indexed_at = excluded.indexed_at",
                (
                    file_no, file.memory_no, file.memory_mark, file.mark, file.fingerprint, file.bytes, facts.lines,
                    facts.problem, facts.to_json(), to_micros(at),
                ),
            )  # fmt: skip
            self._put_symbols(con, root_no, file_no, file)
        return file_no

    @staticmethod
    def _put_node(con: Connection, root_no: int, file: NewFile) -> int:
        row = con.execute(
            "INSERT INTO code_nodes(root_no, node_type, kind, name, qualified, line, end_line, signature, is_test)"
            " VALUES(?, 'file', ?, ?, ?, 1, ?, '', ?) ON CONFLICT(root_no, qualified)"
            " WHERE node_type = 'file' DO UPDATE SET kind = excluded.kind, end_line = excluded.end_line,"
            " is_test = excluded.is_test RETURNING no",
            (
                root_no, file.facts.language, file.path.rpartition("/")[2], file.path, file.facts.lines,
                int(file.is_test),
            ),
        ).fetchone()  # fmt: skip
        assert row is not None
        no = int(row[0])
        con.execute("UPDATE code_nodes SET file_no = no WHERE no = ? AND file_no IS NULL", (no,))
        return no

    @staticmethod
    def _put_symbols(con: Connection, root_no: int, file_no: int, file: NewFile) -> None:
        before: dict[SQLValue, SQLValue] = dict(
            con.execute(
                "SELECT qualified, no FROM code_nodes WHERE file_no = ? AND node_type = 'symbol'", (file_no,)
            ).fetchall()
        )
        rows: list[tuple[SQLValue, ...]] = []
        for symbol in file.facts.symbols:
            before.pop(symbol.qualified, None)
            rows.append(
                (
                    root_no, file_no, symbol.kind, symbol.name, symbol.qualified, symbol.line, symbol.end_line,
                    symbol.signature, int(file.is_test),
                )
            )  # fmt: skip
        con.executemany(
            "INSERT INTO code_nodes(root_no, file_no, node_type, kind, name, qualified, line, end_line, signature,"
            " is_test) VALUES(?, ?, 'symbol', ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(file_no, node_type, qualified) DO UPDATE SET kind = excluded.kind,"
            " line = excluded.line, end_line = excluded.end_line, signature = excluded.signature,"
            " is_test = excluded.is_test",
            rows,
        )
        if before:
            gone = json.dumps(list(before.values()))
            con.execute(
                "DELETE FROM code_edges WHERE from_no IN (SELECT value FROM json_each(?1))"
                " OR to_no IN (SELECT value FROM json_each(?1))",
                (gone,),
            )
            con.execute(
                "DELETE FROM code_calls_by_name WHERE from_no IN (SELECT value FROM json_each(?))", (gone,)
            )
            con.execute("DELETE FROM code_nodes WHERE no IN (SELECT value FROM json_each(?))", (gone,))

    def set_fingerprint(self, file_no: int, fingerprint: str) -> None:
        """Remember the size and time of a file whose text is as it was."""
        with self.db.joined() as con:
            con.execute("UPDATE code_files SET fingerprint = ? WHERE file_no = ?", (fingerprint, file_no))

    def rename_file(self, file_no: int, path: str, *, is_test: bool) -> None:
        """Give a file another path; it keeps its symbols and what leads to them."""
        with self.db.joined() as con:
            con.execute(
                "UPDATE code_nodes SET qualified = ?, name = ?, is_test = ? WHERE no = ?",
                (path, path.rpartition("/")[2], int(is_test), file_no),
            )
            con.execute("UPDATE code_nodes SET is_test = ? WHERE file_no = ?", (int(is_test), file_no))

    def remove_files(self, numbers: Iterable[int]) -> None:
        """Remove files with all that stands in them."""
        with self.db.joined() as con:
            con.execute(
                "DELETE FROM code_files WHERE file_no IN (SELECT value FROM json_each(?))",
                (json.dumps(list(numbers)),),
            )

    def definitions(self, root_no: int, name: str) -> list[tuple[str, str, str]]:
        """Return the symbols of a root with this name as the last part of theirs: path, qualified name, signature."""
        rows = self.db.query(
            "SELECT f.qualified, n.qualified, n.signature FROM code_nodes n JOIN code_nodes f ON f.no = n.file_no"
            " WHERE n.name = ? AND n.node_type = 'symbol' AND n.root_no = ? ORDER BY f.qualified, n.no",
            (name, root_no),
        )
        return [(path, qualified, signature) for path, qualified, signature in rows]

    def moving_modules(self, root_no: int) -> list[str]:
        """Return the files of Rust that say of a module in which file it is, some others perhaps."""
        rows = self.db.query(
            "SELECT n.qualified FROM code_nodes n JOIN code_files c ON c.file_no = n.no"
            " WHERE n.root_no = ? AND n.node_type = 'file' AND n.kind = 'rust' AND instr(c.facts, '[\"=')",
            (root_no,),
        )
        return [path for (path,) in rows]

    # Edges --------------------------------------------------------------------------------------------------------

    def node_numbers(self, file_no: int) -> dict[str, int]:
        """Return the numbers of a file's symbols by their qualified names; its own under the empty name."""
        rows = self.db.query(
            "SELECT iif(node_type = 'file', '', qualified), no FROM code_nodes WHERE file_no = ?", (file_no,)
        )
        return dict(rows)

    def ensure_library(self, root_no: int, name: str) -> int:
        """Return the node of a library outside of a root."""
        with self.db.joined() as con:
            row = con.execute(
                "INSERT INTO code_nodes(root_no, node_type, kind, name, qualified, line, end_line, signature, is_test)"
                " VALUES(?, 'library', '', ?, ?, 0, 0, '', 0) ON CONFLICT(root_no, node_type, qualified)"
                " WHERE node_type IN ('slice', 'library') DO UPDATE SET name = excluded.name RETURNING no",
                (root_no, name, name),
            ).fetchone()
        assert row is not None
        return int(row[0])

    def replace_edges(
        self,
        file_no: int,
        edges: Iterable[CodeEdgeRow],
        calls_by_name: Iterable[tuple[str, int, float, int]],
        missing: Iterable[str],
    ) -> None:
        """Say anew what a file leads to. A call by name is the name, who calls, how often, and where first."""
        with self.db.joined() as con:
            # Which slice a file is in is not said by the file.
            con.execute(
                "DELETE FROM code_edges WHERE file_no = ?1 AND NOT (edge_type = 'belongs_to' AND from_no = ?1)",
                (file_no,),
            )
            con.execute("DELETE FROM code_calls_by_name WHERE file_no = ?", (file_no,))
            con.execute("DELETE FROM code_missing WHERE file_no = ?", (file_no,))
            con.executemany(
                "INSERT INTO code_edges(from_no, to_no, edge_type, weight, line, confidence, file_no)"
                " VALUES(?,?,?,?,?,?,?) ON CONFLICT(from_no, to_no, edge_type) DO UPDATE SET"
                " weight = weight + excluded.weight, line = min(line, excluded.line),"
                " confidence = max(confidence, excluded.confidence)",
                [(*edge, file_no) for edge in edges],
            )
            con.executemany(
                "INSERT INTO code_calls_by_name(name, from_no, weight, line, file_no) VALUES(?,?,?,?,?)"
                " ON CONFLICT(name, from_no) DO UPDATE SET weight = weight + excluded.weight",
                [(*call, file_no) for call in calls_by_name],
            )
            con.executemany(
                "INSERT OR IGNORE INTO code_missing(name, file_no) VALUES(?,?)",
                [(name, file_no) for name in missing],
            )

    def leading_to(self, file_numbers: Collection[int]) -> dict[int, str]:
        """Return the other files that lead to these, or to what stands in them, by number with their paths."""
        rows = self.db.query(
            "SELECT DISTINCT f.no, f.qualified FROM json_each(?) v JOIN code_nodes n ON n.file_no = v.value"
            " JOIN code_edges e ON e.to_no = n.no JOIN code_nodes f ON f.no = e.file_no",
            (json.dumps(sorted(file_numbers)),),
        )
        return {no: path for no, path in rows if no not in file_numbers}

    def missing_any(self, root_no: int, names: Collection[str]) -> dict[int, str]:
        """Return the files of a root that use one of these names without leading anywhere."""
        rows = self.db.query(
            "SELECT DISTINCT f.no, f.qualified FROM json_each(?) v JOIN code_missing m ON m.name = v.value"
            " JOIN code_nodes f ON f.no = m.file_no WHERE f.root_no = ?",
            (json.dumps(sorted(names)), root_no),
        )
        return dict(rows)

    def remove_unused_libraries(self, root_no: int) -> None:
        """Drop libraries that nothing imports any more."""
        with self.db.joined() as con:
            con.execute(
                "DELETE FROM code_nodes WHERE root_no = ? AND node_type = 'library'"
                " AND NOT EXISTS (SELECT 1 FROM code_edges e WHERE e.to_no = code_nodes.no)",
                (root_no,),
            )

    # Slices -------------------------------------------------------------------------------------------------------

    def sliced_files(self, root_no: int) -> list[tuple[int, str, bool]]:
        """Return the files of a root: number, path, whether it is a test."""
        rows = self.db.query(
            "SELECT no, qualified, is_test FROM code_nodes WHERE root_no = ? AND node_type = 'file' ORDER BY qualified",
            (root_no,),
        )
        return [(no, path, bool(is_test)) for no, path, is_test in rows]

    def symbol_uses(self, root_no: int) -> list[tuple[int, int, str, float]]:
        """Return which file uses which symbol of another one how much: classes, functions, not their members."""
        return self.db.query(
            "SELECT e.file_no, t.file_no, t.name, sum(e.weight * e.confidence) FROM code_nodes t"
            " JOIN code_edges e ON e.to_no = t.no WHERE t.root_no = ? AND t.node_type = 'symbol'"
            " AND t.kind NOT IN ('method', 'property', 'constant', 'namespace')"
            " AND e.edge_type IN ('calls', 'references') AND t.file_no <> e.file_no GROUP BY 1, 2, 3",
            (root_no,),
        )

    def file_edges(self, root_no: int) -> list[tuple[int, int, float]]:
        """Return how much the files of a root have to do with each other: weights times confidences, added up."""
        rows = self.db.query(
            "SELECT e.file_no, t.file_no, sum(e.weight * e.confidence) FROM code_nodes f"
            " JOIN code_edges e ON e.file_no = f.no JOIN code_nodes t ON t.no = e.to_no"
            " WHERE f.root_no = ? AND f.node_type = 'file' AND e.edge_type IN ('imports', 'calls', 'references')"
            " AND t.file_no IS NOT NULL AND t.file_no <> e.file_no GROUP BY 1, 2",
            (root_no,),
        )
        return [(start, end, weight) for start, end, weight in rows]

    def replace_slices(self, root_no: int, slices: Mapping[str, Sequence[int]]) -> None:
        """Say anew which slices there are, and which files are in them."""
        with self.db.joined() as con:
            con.execute(
                "DELETE FROM code_edges WHERE to_no IN"
                " (SELECT no FROM code_nodes WHERE root_no = ? AND node_type = 'slice')",
                (root_no,),
            )
            con.execute("DELETE FROM code_nodes WHERE root_no = ? AND node_type = 'slice'", (root_no,))
            for name, numbers in slices.items():
                row = con.execute(
                    "INSERT INTO code_nodes(root_no, node_type, kind, name, qualified, line, end_line, signature,"
                    " is_test) VALUES(?, 'slice', '', ?, ?, 0, 0, '', 0) RETURNING no",
                    (root_no, name, name),
                ).fetchone()
                assert row is not None
                con.executemany(
                    "INSERT INTO code_edges(from_no, to_no, edge_type, weight, line, confidence, file_no)"
                    " VALUES(?, ?, 'belongs_to', 1, 0, 1.0, ?)",
                    [(number, row[0], number) for number in numbers],
                )

    def slices(self, roots: Collection[int], *, without: Collection[int]) -> list[tuple[str, list[str]]]:
        """Return slices with the paths of their files, the largest first."""
        rows = self.db.query(
            "SELECT n.name, json_group_array(f.qualified ORDER BY f.qualified) FROM code_nodes n"
            " JOIN code_edges e ON e.to_no = n.no JOIN code_nodes f ON f.no = e.from_no"
            " WHERE n.node_type = 'slice' AND n.root_no IN (SELECT value FROM json_each(?))"
            " AND f.no NOT IN (SELECT value FROM json_each(?)) GROUP BY n.no ORDER BY count(*) DESC, n.no",
            (_listed(roots), _listed(without)),
        )
        return [(name, json.loads(paths)) for name, paths in rows]

    # Memories -----------------------------------------------------------------------------------------------------

    def code_memories(
        self, source_no: int, languages: Collection[str], names: Collection[str]
    ) -> list[tuple[int, str, str, str]]:
        """Return a source's memories with code, or with one of these names: number, source id, language, hash."""
        rows = self.db.query(
            "SELECT m.no, m.source_id, coalesce(m.metadata ->> '$.language', ''), m.content_hash FROM memories m"
            " WHERE m.source_no = ?1 AND m.status = 'active'"
            " AND (m.metadata ->> '$.language' IN (SELECT value FROM json_each(?2)) OR EXISTS (SELECT 1"
            "  FROM json_each(?3) WHERE m.source_id GLOB value OR m.source_id GLOB '*/' || value))"
            " ORDER BY m.source_id",
            (source_no, json.dumps(sorted(languages)), json.dumps(sorted(names))),
        )
        return [(no, name, language, mark) for no, name, language, mark in rows]

    def gone_memories(self, root_no: int, source_no: int) -> list[str]:
        """Return the paths of files of a root whose memories are of a source and out of recall."""
        rows = self.db.query(
            "SELECT n.qualified FROM code_files f JOIN code_nodes n ON n.no = f.file_no"
            " JOIN memories m ON m.no = f.memory_no WHERE n.root_no = ? AND m.source_no = ? AND m.status <> 'active'",
            (root_no, source_no),
        )
        return [path for (path,) in rows]

    def text_of(self, memory_no: int) -> str | None:
        """Return the text of a memory, None where it is gone."""
        row = self.db.query_one("SELECT raw FROM memories WHERE no = ?", (memory_no,))
        return None if row is None else row[0]

    def memory_of(self, file_no: int) -> int | None:
        """Return the number of the memory that has a file's text."""
        row = self.db.query_one("SELECT memory_no FROM code_files WHERE file_no = ?", (file_no,))
        return None if row is None else row[0]

    def file_of_memory(self, memory_no: int) -> int | None:
        """Return the file whose text a memory has."""
        row = self.db.query_one("SELECT file_no FROM code_files WHERE memory_no = ?", (memory_no,))
        return None if row is None else row[0]

    def uses_among(self, memories: Collection[int]) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
        """Return which of some memories are files of the graph, and which of these imports, calls or mentions which."""
        numbers = json.dumps(sorted(memories))
        among = "(SELECT value FROM json_each(?1))"
        known = self.db.query(f"SELECT memory_no FROM code_files WHERE memory_no IN {among}", (numbers,))
        pairs = self.db.query(
            "SELECT DISTINCT a.memory_no, b.memory_no FROM code_files a JOIN code_edges e ON e.file_no = a.file_no"
            " JOIN code_nodes n ON n.no = e.to_no JOIN code_files b ON b.file_no = n.file_no"
            f" WHERE a.memory_no IN {among} AND b.memory_no IN {among} AND e.edge_type <> ?2",
            (numbers, CHANGES_WITH),
        )
        return frozenset(no for (no,) in known), frozenset((start, end) for start, end in pairs)

    def import_lines(self, file_no: int) -> list[int]:
        """Return the lines on which a file imports something, in order."""
        row = self.db.query_one("SELECT facts FROM code_files WHERE file_no = ?", (file_no,))
        return [] if row is None else sorted({each.line for each in FileFacts.from_json(row[0]).imports})

    # What changes together ----------------------------------------------------------------------------------------

    def has_history(self, root_no: int) -> bool:
        """Whether anything is noted of how a root's files change."""
        sql = (
            "SELECT 1 FROM code_nodes n JOIN code_edges e ON e.from_no = n.no AND e.edge_type = ?"
            " WHERE n.root_no = ? AND n.node_type = 'file' LIMIT 1"
        )
        return self.db.query_one(sql, (CHANGES_WITH, root_no)) is not None

    def drop_history(self, root_no: int) -> None:
        """Forget how a root's files change."""
        with self.db.joined() as con:
            con.execute(
                "DELETE FROM code_edges WHERE edge_type = ? AND from_no IN"
                " (SELECT no FROM code_nodes WHERE root_no = ? AND node_type = 'file')",
                (CHANGES_WITH, root_no),
            )

    def add_history(self, times: Mapping[tuple[int, int], int]) -> None:
        """Add how often two files changed together, the lower number first; a file with itself is how often it did."""
        with self.db.joined() as con:
            con.executemany(
                "INSERT INTO code_edges(from_no, to_no, edge_type, weight, line, confidence, file_no)"
                " VALUES(?, ?, ?, ?, 0, 1, 0) ON CONFLICT(from_no, to_no, edge_type)"
                " DO UPDATE SET weight = weight + excluded.weight",
                [(first, second, CHANGES_WITH, float(count)) for (first, second), count in times.items()],
            )

    # Reading ------------------------------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Whether there is no file."""
        return self.db.query_one("SELECT 1 FROM code_files LIMIT 1") is None

    def hidden_files(self) -> frozenset[int]:
        """Return the files whose memories are out of recall, or are not open to the roles."""
        seen, roles = seen_sql("m", self._roles)
        rows = self.db.query(
            "SELECT f.file_no FROM code_files f JOIN memories m ON m.no = f.memory_no"
            f" WHERE NOT (m.status = 'active'{seen})",
            roles,
        )
        return frozenset(no for (no,) in rows)

    def nodes(self, numbers: Collection[int]) -> dict[int, CodeNodeRow]:
        """Return nodes by their numbers."""
        nodes: dict[int, CodeNodeRow] = {}
        ordered = sorted(numbers)
        for start in range(0, len(ordered), _BATCH):
            rows = self.db.query(
                f"SELECT {_NODE} {_FROM_NODES} WHERE n.no IN (SELECT value FROM json_each(?))",
                (json.dumps(ordered[start : start + _BATCH]),),
            )
            nodes.update((row[0], _node(row)) for row in rows)
        return nodes

    def find(self, condition: str, params: Sequence[SQLValue], *, limit: int) -> list[CodeNodeRow]:
        """Return nodes for which a condition on `code_nodes n` holds, files first, then by their places."""
        rows = self.db.query(
            f"SELECT {_NODE} {_FROM_NODES} WHERE {condition}"
            " ORDER BY n.node_type <> 'file', n.is_test, coalesce(f.qualified, n.qualified), n.line, n.no LIMIT ?",
            (*params, limit),
        )
        return [_node(row) for row in rows]

    def by_name(self, name: str, *, folded: bool = False, limit: int = 200) -> list[CodeNodeRow]:
        """Return the nodes of a name; with `folded` in any case."""
        return self.find("n.name = ?" + (" COLLATE NOCASE" if folded else ""), (name,), limit=limit)

    def by_pattern(self, pattern: str, *, files: bool = False, limit: int = 200) -> list[CodeNodeRow]:
        """Return the nodes, or the files alone, whose name fits a pattern of GLOB."""
        # The range of names that SQLite would look through by itself only if it planned anew for each pattern.
        beginning = _WILDCARD.split(pattern, maxsplit=1)[0]
        kind = "n.node_type = 'file' AND " if files else ""
        return self.find(
            f"{kind}n.name >= ? AND n.name < ? AND n.name GLOB ?",
            (beginning, beginning + _LAST_CHARACTER, pattern),
            limit=limit,
        )

    def by_qualified(self, name: str, *, limit: int = 200) -> list[CodeNodeRow]:
        """Return the symbols whose name with what they stand in is this, or ends in it behind a dot."""
        last = name.rpartition(".")[2]
        return self.find(
            "n.name = ? AND n.node_type = 'symbol' AND (n.qualified = ? OR n.qualified GLOB ?)",
            (last, name, f"*.{quoted_glob(name)}"),
            limit=limit,
        )

    def by_path(self, path: str, *, limit: int = 200) -> list[CodeNodeRow]:
        """Return the files whose path is this, or ends in it behind a slash."""
        return self.find(
            "n.name = ? AND n.node_type = 'file' AND (n.qualified = ? OR n.qualified GLOB ?)",
            (path.rpartition("/")[2], path, f"*/{quoted_glob(path)}"),
            limit=limit,
        )

    def below(self, folder: str, *, limit: int = 2_000) -> list[CodeNodeRow]:
        """Return the files in a folder, named by its path or the end of it."""
        return self.find(
            "n.node_type = 'file' AND (n.qualified GLOB ? OR n.qualified GLOB ?)",
            (f"{quoted_glob(folder)}/*", f"*/{quoted_glob(folder)}/*"),
            limit=limit,
        )

    def below_roots(self, numbers: Collection[int], *, limit: int = 2_000) -> list[CodeNodeRow]:
        """Return the files of some roots."""
        listed = "n.root_no IN (SELECT value FROM json_each(?))"
        return self.find(f"n.node_type = 'file' AND {listed}", (_listed(numbers),), limit=limit)

    def fingerprints(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return of files, by root and path, by which size and time each was known when it was read last."""
        rows = self.db.query(
            "SELECT r.uri, n.qualified, coalesce(nullif(c.fingerprint, ''), i.fingerprint, '') FROM json_each(?) p"
            " JOIN code_roots r ON r.uri = p.value ->> 0"
            " JOIN code_nodes n ON n.root_no = r.no AND n.node_type = 'file' AND n.qualified = p.value ->> 1"
            " JOIN code_files c ON c.file_no = n.no LEFT JOIN source_items i ON i.memory_no = c.memory_no",
            (json.dumps(sorted(places)),),
        )
        return {(root, path): fingerprint for root, path, fingerprint in rows if fingerprint}

    def members(self, file_no: int) -> list[CodeNodeRow]:
        """Return the symbols of a file in the order of their lines."""
        rows = self.db.query(
            f"SELECT {_NODE} {_FROM_NODES} WHERE n.file_no = ? AND n.node_type = 'symbol' ORDER BY n.line, n.no",
            (file_no,),
        )
        return [_node(row) for row in rows]

    def edges(
        self, numbers: Collection[int], *, kinds: Collection[str], back: bool = False
    ) -> list[CodeEdgeRow]:
        """Return the edges of some kinds that lead from these nodes, or with `back` to them."""
        column = "to_no" if back else "from_no"
        edges: list[CodeEdgeRow] = []
        ordered = sorted(numbers)
        for start in range(0, len(ordered), _BATCH):
            rows = self.db.query(
                "SELECT e.from_no, e.to_no, e.edge_type, e.weight, e.line, e.confidence"
                f" FROM json_each(?) v JOIN code_edges e ON e.{column} = v.value"
                " WHERE e.edge_type IN (SELECT value FROM json_each(?))",
                (json.dumps(ordered[start : start + _BATCH]), json.dumps(sorted(kinds))),
            )
            edges += [CodeEdgeRow(*row) for row in rows]
        return edges

    def callers_by_name(self, name: str, *, limit: int = 500) -> list[tuple[int, float, int]]:
        """Return who calls something of this name on a value of which nothing is known: number, weight, line."""
        return [
            (no, weight, line)
            for no, weight, line in self.db.query(
                "SELECT from_no, weight, line FROM code_calls_by_name WHERE name = ? ORDER BY weight DESC, from_no"
                " LIMIT ?",
                (name, limit),
            )
        ]

    def names_called(self, numbers: Collection[int]) -> list[tuple[int, str, float, int]]:
        """Return what these nodes call by name alone: caller, name, weight, line."""
        return [
            (no, name, weight, line)
            for no, name, weight, line in self.db.query(
                "SELECT c.from_no, c.name, c.weight, c.line FROM json_each(?) v"
                " JOIN code_calls_by_name c ON c.from_no = v.value ORDER BY c.line",
                (json.dumps(sorted(numbers)),),
            )
        ]

    def totals(self, roots: Collection[int], *, without: Collection[int]) -> Mapping[str, int]:
        """Return how many nodes and edges there are, by type; those of files in `without` are not counted."""
        params = (_listed(roots), _listed(without))
        rows = [
            *self.db.query(
                f"SELECT n.node_type, count(*) FROM code_nodes n WHERE {_COUNTED}"
                " AND (n.node_type NOT IN ('library', 'slice') OR EXISTS"
                " (SELECT 1 FROM code_edges e WHERE e.to_no = n.no"
                "  AND e.file_no NOT IN (SELECT value FROM json_each(?2)))) GROUP BY 1",
                params,
            ),
            *self.db.query(
                "SELECT e.edge_type, count(*) FROM code_nodes n JOIN code_edges e ON e.from_no = n.no"
                f" JOIN code_nodes t ON t.no = e.to_no WHERE {_COUNTED}"
                " AND coalesce(t.file_no, 0) NOT IN (SELECT value FROM json_each(?2)) GROUP BY 1",
                params,
            ),
        ]
        return dict(rows)

    def together(
        self, roots: Collection[int], *, without: Collection[int], least: int, limit: int
    ) -> tuple[int, list[tuple[int, int, int]]]:
        """Return how many pairs of files changed together in at least `least` commits, and those of most."""
        sql = (
            "FROM code_nodes n JOIN code_edges e ON e.from_no = n.no AND e.edge_type = ?3 AND e.to_no <> n.no"
            f" WHERE n.node_type = 'file' AND {_COUNTED} AND e.weight >= ?4"
            " AND e.to_no NOT IN (SELECT value FROM json_each(?2))"
        )
        params = (_listed(roots), _listed(without), CHANGES_WITH, least)
        row = self.db.query_one(f"SELECT count(*) {sql}", params)
        pairs = self.db.query(
            f"SELECT n.no, e.to_no, e.weight {sql} ORDER BY e.weight DESC, n.no, e.to_no LIMIT ?5",
            (*params, limit),
        )
        return (0 if row is None else row[0]), [
            (first, second, int(weight)) for first, second, weight in pairs
        ]

    def languages(self, roots: Collection[int], *, without: Collection[int]) -> Mapping[str, int]:
        """Return how many files there are of each language."""
        rows = self.db.query(
            f"SELECT n.kind, count(*) FROM code_nodes n WHERE n.node_type = 'file' AND {_COUNTED}"
            " GROUP BY 1 ORDER BY 2 DESC, 1",
            (_listed(roots), _listed(without)),
        )
        return dict(rows)

    def problems(
        self, roots: Collection[int], *, without: Collection[int], limit: int
    ) -> list[tuple[str, str]]:
        """Return files of which not all could be read, with the reasons."""
        rows = self.db.query(
            "SELECT n.qualified, f.problem FROM code_files f JOIN code_nodes n ON n.no = f.file_no"
            f" WHERE f.problem <> '' AND {_COUNTED} ORDER BY 1 LIMIT ?3",
            (_listed(roots), _listed(without), limit),
        )
        return [(path, problem) for path, problem in rows]

    def most_used(
        self, roots: Collection[int], *, without: Collection[int], limit: int
    ) -> list[tuple[int, int]]:
        """Return the files that most others import: number, and by how many."""
        rows = self.db.query(
            "SELECT e.to_no, count(*) FROM code_nodes n JOIN code_edges e ON e.to_no = n.no AND e.edge_type = 'imports'"
            f" WHERE n.node_type = 'file' AND {_COUNTED} AND e.file_no NOT IN (SELECT value FROM json_each(?2))"
            " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3",
            (_listed(roots), _listed(without), limit),
        )
        return [(no, count) for no, count in rows]

    def indexed_at(self, file_no: int) -> int:
        """Return when a file was looked at last, in microseconds since 1970."""
        row = self.db.query_one("SELECT indexed_at FROM code_files WHERE file_no = ?", (file_no,))
        return 0 if row is None else int(row[0])


def _listed(numbers: Collection[int]) -> str:
    return json.dumps(sorted(numbers))


def _node(row: Row) -> CodeNodeRow:
    return CodeNodeRow(*row)._replace(is_test=bool(row[8]))


_WILDCARD: Final = re.compile(r"[*?\[]")
_LAST_CHARACTER: Final = "\U0010ffff"


def quoted_glob(text: str) -> str:
    """Return a text in which GLOB takes every character for itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


class CodeGraphEraser:
    """Takes out what was indexed from files alone; what was ingested goes with its memories."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove the files of a space or of a source, and all of them with the project."""
        given = set(selection.to_dict())
        if selection.project:
            condition: str = "1"
            params: tuple[SQLValue, ...] = ()
        elif given and given <= {"space", "source"}:
            condition, params = _condition(selection)
        else:
            return
        with self._db.transaction() as con:
            rows = con.execute(
                "SELECT f.file_no FROM code_files f JOIN code_nodes n ON n.no = f.file_no JOIN code_roots r"
                f" ON r.no = n.root_no JOIN spaces s ON s.no = r.space_no WHERE {condition}",
                params,
            ).fetchall()
            con.execute(
                "DELETE FROM code_files WHERE file_no IN (SELECT value FROM json_each(?))",
                (json.dumps([row[0] for row in rows]),),
            )
            con.execute(
                "DELETE FROM code_roots WHERE NOT EXISTS"
                " (SELECT 1 FROM code_nodes n WHERE n.root_no = code_roots.no AND n.node_type = 'file')"
            )
            book.erased("code graph", len(rows))


def _condition(selection: Selection) -> tuple[str, tuple[SQLValue, ...]]:
    where, params = [], []
    if selection.space is not None:
        where.append("s.name = ?")
        params.append(selection.space)
    if selection.source is not None:
        prefix = selection.source.rstrip("/")
        below = f"{quoted_glob(prefix)}/*"
        where.append(
            "(r.uri = ? OR r.uri GLOB ? OR n.qualified = ? OR n.qualified GLOB ?"
            " OR r.uri || '/' || n.qualified = ? OR r.uri || '/' || n.qualified GLOB ?)"
        )
        params += [prefix, below, prefix, below, prefix, below]
    return " AND ".join(where), tuple(params)
