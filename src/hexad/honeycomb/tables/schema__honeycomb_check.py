"""What the rows of the honeycomb promise about each other, and the words for where they do not."""

from __future__ import annotations

from typing import Final

_REMEDY: Final = "Run `hexad reindex` for links of memories; else put a backup in its place."

HONEYCOMB_PROMISES: Final = (
    (
        "SELECT n.id FROM honeycomb_nodes n WHERE n.is_memory AND NOT EXISTS"
        " (SELECT 1 FROM memories m WHERE m.no = n.id)",
        f"Node {{0}} of the honeycomb is a memory that is not there. {_REMEDY}",
    ),
    (
        "SELECT n.id FROM honeycomb_nodes n LEFT JOIN honeycomb_contents c ON c.node_id = n.id"
        " WHERE n.is_memory <> (c.node_id IS NULL)",
        f"Node {{0}} of the honeycomb has a text though it is a memory, or none though it is not. {_REMEDY}",
    ),
    (
        "SELECT n.id, n.main, n.overflow, count(e.ring) FROM honeycomb_nodes n LEFT JOIN honeycomb_edges e"
        " ON e.from_id = n.id GROUP BY n.id HAVING n.main <> count(*) FILTER (WHERE e.ring = 0)"
        " OR n.overflow <> count(*) FILTER (WHERE e.ring > 0)",
        f"Node {{0}} of the honeycomb should have {{1}} and {{2}} edges, and has {{3}}. {_REMEDY}",
    ),
    (
        "SELECT e.from_id, e.ring, e.seat FROM honeycomb_edges e JOIN honeycomb_nodes n ON n.id = e.from_id"
        " WHERE iif(e.ring = 0, e.seat >= n.main, (e.ring - 1) * 6 + e.seat >= n.overflow)",
        f"An edge of node {{0}} sits in ring {{1}}, seat {{2}}, behind a gap. {_REMEDY}",
    ),
    (
        "SELECT o.from_id, o.to_id FROM honeycomb_edges o JOIN honeycomb_edges e ON e.from_id = o.from_id"
        " WHERE o.ring > 0 AND e.ring = 0 AND (e.score < o.score OR e.score = o.score AND e.to_id > o.to_id)"
        " GROUP BY o.from_id, o.to_id",
        f"The edge from node {{0}} to {{1}} is in overflow though it is stronger than one in the main ring. {_REMEDY}",
    ),
)
"""Degrees, scores and self-edges need no look: the schema refuses them."""
