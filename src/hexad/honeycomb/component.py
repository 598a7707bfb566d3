"""The association graph, as the store puts it together with the other systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import (
    OF_SESSIONS,
    Component,
    ExportSection,
    FileGroup,
    Job,
    Stop,
    Treatment,
    script,
)
from hexad.database.connection import Database
from hexad.database.store_context import StoreContext
from hexad.database.task_queue import LINK, Tasks
from hexad.honeycomb.tables.link_evidence import link_lease
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.tables.schema import (
    EDGE_RELATION,
    EDGE_RENEWED,
    HONEYCOMB_DDL,
    HONEYCOMB_PROMISES,
    NARROW_EDGES,
    SMALLER_EDGES,
)
from hexad.honeycomb.tables.visits import HoneycombVisits
from hexad.memory.component import OF_MEMORIES

if TYPE_CHECKING:
    from hexad.honeycomb.service import HoneycombService

_PAGE: Final = 500
_EXPORT: Final = (
    ExportSection(
        name="honeycomb_nodes",
        place=18,
        tables=("honeycomb_nodes", "honeycomb_contents", "honeycomb_edges"),
        columns=(
            "n.id, m.id AS memory_id, c.data AS text, n.active AS is_active, n.created_at, c.dimensions, c.format,"
            " (SELECT json_group_array(json_object('from', e.from_id, 'to', e.to_id, 'to_memory', t.id, 'ring', e.ring,"
            f"   'score', e.score, 'relation', {EDGE_RELATION}, 'auto', json(iif(e.is_auto, 'true', 'false')),"
            f"   'created_at', e.created_at, 'renewed_at', {EDGE_RENEWED}) ORDER BY e.from_id, e.ring, e.seat)"
            "  FROM honeycomb_edges e LEFT JOIN memories t ON t.no = e.to_id"
            # Of a part of the store, edges that lead into it are told where they end: nothing else of it tells them.
            "  WHERE e.from_id = n.id OR (e.to_id = n.id AND NOT :whole AND NOT EXISTS"
            f"   (SELECT 1 FROM memories m WHERE m.no = e.from_id AND {OF_MEMORIES})))"
            " AS timed_edges,"
            " (SELECT coalesce(sum(a.count), 0) FROM honeycomb_accesses a WHERE a.session = '' AND a.node_id = n.id)"
            " AS looks"
        ),
        source=(
            "honeycomb_nodes n LEFT JOIN honeycomb_contents c ON c.node_id = n.id"
            " LEFT JOIN memories m ON m.no = n.id AND n.is_memory"
        ),
        key="n.id",
        where=OF_MEMORIES,
    ),
    ExportSection(
        name="honeycomb_sessions",
        place=19,
        tables=("honeycomb_sessions", "honeycomb_accesses"),
        columns=(
            "g.session, g.started_at, (SELECT json_group_array(json_object('node', a.node_id, 'memory_id', m.id,"
            "   'count', a.count, 'first_at', a.first_at, 'last_at', a.last_at) ORDER BY a.node_id)"
            "  FROM honeycomb_accesses a LEFT JOIN memories m ON m.no = a.node_id WHERE a.session = g.session)"
            " AS timed_looks"
        ),
        source="honeycomb_sessions g",
        key="g.session",
        where=OF_SESSIONS.format("g.session"),
    ),
)


def _count_links(context: StoreContext) -> Mapping[str, int | str | None]:
    pending, holder = Tasks(context.db).counts(LINK)[0], None
    if pending:
        holder = link_lease(context.directory, clock=context.clock).holder()
    return {"links_pending": pending, "links_made_by": None if holder is None else str(holder)}


def _has_visits(db: Database, session: str) -> bool:
    return HoneycombVisits(db).started_at(session) is not None


def _wipe_nodes(db: Database, dry_run: bool) -> Mapping[str, int]:
    """Remove the nodes that are no memories; those go with theirs."""
    graph = HoneycombNodes(db)
    if dry_run:
        nodes, memories, _, _ = graph.totals()
        return {"nodes": nodes - memories}
    removed = 0
    while done := graph.remove_added(limit=_PAGE):
        removed += done
    return {"nodes": removed}


class HoneycombSystems(Protocol):
    """What the jobs ask for."""

    honeycomb: Lazy[HoneycombService]


def _note_walks(systems: HoneycombSystems, _stop: Stop) -> None:
    if (honeycomb := systems.honeycomb.loaded) is not None:
        honeycomb.breaker.flush()


COMPONENT: Final = Component(
    name="honeycomb",
    schema=(
        script(14, HONEYCOMB_DDL, "honeycomb"),
        script(24, SMALLER_EDGES, place=1),
        script(25, NARROW_EDGES, place=1),
    ),
    jobs=(Job(name="note walks", place=1, step=_note_walks),),
    promises=HONEYCOMB_PROMISES,
    erasers=(HoneycombVisits,),
    export=_EXPORT,
    counts=(_count_links,),
    session_looks=(_has_visits,),
    wipes=(_wipe_nodes,),
    derived=("honeycomb_counts", "honeycomb_removals", "honeycomb_entities"),
    files=(FileGroup(pattern="link.lock", form=Treatment.KEPT),),
)
