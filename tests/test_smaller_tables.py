"""A store from before edges and marks took less room: nothing that it answers, refuses or finds again is another."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw

from hexad import Hexad
from hexad.testing import HashEmbedder
from honeycomb_texts import TEXTS
from opener import Opener
from tables import BEFORE_SMALLER_TABLES

TABLES = ("honeycomb_edges", "minhash_bands", "source_items", "memories")
REPEATED = "The nightly backup of the orders database runs at two and takes about forty minutes to finish."


def graph(hx: Hexad) -> list[object]:
    found = [hx.honeycomb.get(memory.id).to_dict() for memory in hx.memories(limit=None, status=None)]
    return [*found, hx.honeycomb.stats().to_dict()]


def answers(hx: Hexad) -> list[object]:
    return [
        *([(hit.id, hit.score, dict(hit.parts)) for hit in hx.recall(text, limit=2)] for text in TEXTS),
        *graph(hx),
        [sorted(map(repr, hx._services.db.query(f"SELECT * FROM {table}"))) for table in TABLES],
        [str(item) for item in hx.export() if "honeycomb" in item.section],
    ]


def test_a_store_of_the_version_before_gives_the_same_answers(opened: Opener, tmp_path: Path) -> None:
    lines = tmp_path / "texts.jsonl"
    lines.write_text(
        "".join(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(TEXTS))
    )
    hx = opened(embedder=HashEmbedder())
    hx.ingest(lines)
    first, second = hx.remember(REPEATED), hx.remember("The orders database has a replica in Oslo.")
    hx.embed_pending()
    hx.maintain()
    hx.honeycomb.insert(first.id, second.id, score=0.5, relation="depends-on")
    hx.clock.advance(hours=1)
    hx.honeycomb.insert(first.id, second.id, score=0.7)
    before = answers(hx)
    hx.close()
    with closing(apsw.Connection(str(hx.path / "memory.db"))) as con:
        con.execute(BEFORE_SMALLER_TABLES)
        con.execute("DELETE FROM schema_migrations WHERE number >= 24")

    again = opened(embedder=HashEmbedder())
    assert before == answers(again)
    assert [] == again.check()
    report = again.ingest(lines)
    assert (0, 0, len(TEXTS)) == (report.created, report.updated, report.unchanged)
    assert "evidence" == again.remember(REPEATED).receipt.outcome.value
    near = again.remember(f"{REPEATED} Nobody waits.")
    assert [first.id] == [other.id for other in near.receipt.near_duplicates]


def test_what_nearly_every_edge_has_takes_no_room(hx: Hexad) -> None:
    for text in TEXTS:
        hx.remember(text)
    hx.embed_pending()
    hx.maintain()

    stored = hx._services.db.query("SELECT DISTINCT relation, renewed_at FROM honeycomb_edges WHERE is_auto")
    edges = [edge for memory in hx.memories(limit=None) for edge in hx.honeycomb.get(memory.id).neighbors]
    assert (None, None) in stored
    assert "similar" in {edge.relationship_type for edge in edges}
    assert all(edge.renewed_at == edge.timestamp_created for edge in edges)
