"""The code graph, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.code_graph.tables.graph import CodeGraphEraser
from hexad.code_graph.tables.schema import CODE_GRAPH_DDL, CODE_GRAPH_PROMISES
from hexad.database.component import Component, ExportSection, MemoryTable, script
from hexad.memory.component import OF_MEMORIES

_EXPORT: Final = (
    ExportSection(
        name="code_roots",
        place=24,
        tables=("code_roots",),
        columns="r.uri, s.name AS space, r.indexed_at",
        source="code_roots r JOIN spaces s ON s.no = r.space_no",
        key="r.no",
        whole_only=True,
    ),
    ExportSection(
        name="code_files",
        place=25,
        tables=("code_files", "code_nodes", "code_edges", "code_calls_by_name"),
        columns=(
            "r.uri AS root, n.qualified AS path, n.kind AS language, f.bytes, f.lines, f.problem, f.indexed_at,"
            " m.id AS memory_id, (SELECT json_group_array(json_object('kind', y.kind, 'name', y.qualified,"
            "   'line', y.line, 'end_line', y.end_line, 'signature', y.signature) ORDER BY y.line, y.no)"
            "  FROM code_nodes y WHERE y.file_no = f.file_no AND y.node_type = 'symbol') AS json_symbols,"
            " (SELECT json_group_array(json_object('type', e.edge_type, 'from', a.qualified, 'to', b.qualified,"
            "   'to_path', (SELECT p.qualified FROM code_nodes p WHERE p.no = b.file_no), 'weight', e.weight,"
            "   'line', e.line, 'confidence', e.confidence) ORDER BY e.line, e.from_no, e.to_no, e.edge_type)"
            "  FROM code_edges e JOIN code_nodes a ON a.no = e.from_no JOIN code_nodes b ON b.no = e.to_no"
            "  WHERE e.file_no = f.file_no) AS json_edges,"
            " (SELECT json_group_array(json_object('from', a.qualified, 'name', c.name, 'line', c.line)"
            "   ORDER BY c.line, c.name) FROM code_calls_by_name c JOIN code_nodes a ON a.no = c.from_no"
            "  WHERE c.file_no = f.file_no) AS json_calls_by_name"
        ),
        source=(
            "code_files f JOIN code_nodes n ON n.no = f.file_no JOIN code_roots r ON r.no = n.root_no"
            " LEFT JOIN memories m ON m.no = f.memory_no"
        ),
        key="f.file_no",
        where=OF_MEMORIES,
    ),
)


COMPONENT: Final = Component(
    name="code_graph",
    schema=(script(19, CODE_GRAPH_DDL, "code graph"),),
    memory_tables=(MemoryTable(name="code_files", counted_as="files of the code graph"),),
    promises=CODE_GRAPH_PROMISES,
    erasers=(CodeGraphEraser,),
    export=_EXPORT,
    derived=("code_missing",),
)
"""A wipe of the project is an erasure of it, which `CodeGraphEraser` does."""
