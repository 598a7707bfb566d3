"""A store from before rows of short texts and of edges were shorter: nothing that it answers or refuses is another."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from hexad import Hexad, services
from hexad.core.ids import content_hash
from hexad.memory.component import COMPONENT
from hexad.testing import HashEmbedder
from honeycomb_texts import TEXTS
from opener import Opener
from tables import BEFORE_SHORTER_ROWS

REPEATED = "The nightly backup of the orders database runs at two and takes about forty minutes to finish."
LONG = "The gateway retries three times. " + "Nobody knows which of the services asked for that." * 40
"""Its summary is how it begins, too, but it is no short text."""
EDGES = (
    "SELECT from_id, ring, seat, to_id, score, relation, is_auto, created_at, renewed_at FROM honeycomb_edges"
    " ORDER BY from_id, ring, seat"
)
MARKS = "SELECT band, memory_no FROM minhash_bands ORDER BY band, memory_no"


def answers(hx: Hexad) -> list[object]:
    memories = hx.memories(limit=None, status=None)
    return [
        [{**memory.to_dict(), "last_used_at": None} for memory in memories],
        *([(hit.id, hit.score, dict(hit.parts)) for hit in hx.recall(text, limit=2)] for text in TEXTS),
        [hx.honeycomb.get(memory.id).to_dict() for memory in memories],
        hx.honeycomb.stats().to_dict(),
        hx._services.db.query(EDGES),
        hx._services.db.query(MARKS),
        hx._services.db.query("SELECT * FROM vector_chunks ORDER BY id"),
        hx._services.db.query("SELECT kind, memory_no FROM tasks ORDER BY kind, memory_no"),
        [str(item) for item in hx.export() if "honeycomb" in item.section],
        [item.value["earlier_versions"] for item in hx.export() if item.section == "memories"],
    ]


@pytest.fixture
def old(opened: Opener, tmp_path: Path) -> tuple[Path, list[object]]:
    """A store as the version before wrote it, and its answers."""
    hx = opened(embedder=HashEmbedder())
    for text in (*TEXTS, LONG, "ä" * 260 + ". Ünd mehr davon."):
        hx.remember(text, metadata={"beside": "nothing", "author": "Mara"})
    first, second = (
        hx.remember(REPEATED, id="backup"),
        hx.remember("The orders database has a replica in Oslo."),
    )
    hx.remember("It runs at three. The night is long. " + REPEATED, id="changed")
    hx.remember("It runs at four. The night is longer. " + REPEATED, id="changed")
    hx.embed_pending()
    hx.maintain()
    hx.honeycomb.insert(first.id, second.id, score=0.5, relation="depends-on")
    hx.honeycomb.insert(second.id, first.id, score=0.4)
    hx.clock.advance(hours=1)
    hx.honeycomb.insert(first.id, second.id, score=0.7)
    before = answers(hx)
    hx.close()
    path = hx.path / "memory.db"
    with closing(apsw.Connection(str(path))) as con:
        con.execute(BEFORE_SHORTER_ROWS)
        con.execute("DELETE FROM schema_migrations WHERE number >= 25")
    return path, before


def rows_of(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as con:
        return con.execute(sql).fetchall()


def test_a_store_of_the_version_before_gives_the_same_answers(
    opened: Opener, old: tuple[Path, list[object]]
) -> None:
    path, before = old
    assert [] != rows_of(path, "SELECT 1 FROM memories WHERE metadata ->> '$.hash' = content_hash")

    again = opened(embedder=HashEmbedder())

    assert before == answers(again)
    assert [] == again.check()
    assert "evidence" == again.remember(REPEATED).receipt.outcome.value
    near = again.remember(f"{REPEATED} Nobody waits.")
    assert "backup" in [other.id for other in near.receipt.near_duplicates]
    short = rows_of(path, "SELECT DISTINCT metadata ->> '$.hash' FROM memories")
    assert [("",)] == short
    chars, texts = rows_of(path, "SELECT count(micro_chars), count(micro_text) FROM memories")[0]
    assert chars > 0
    assert texts > 1  # of the long ones


def test_a_migration_that_ends_in_the_middle_leaves_the_store_as_it_was(
    opened: Opener, old: tuple[Path, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, before = old
    everything = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    rows = rows_of(path, everything), rows_of(path, "SELECT * FROM memories ORDER BY no")
    (step,) = (step for step in COMPONENT.schema if step.number == 25)

    def stopped(con: object) -> None:
        step.apply(con)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    schema = tuple(step for step in COMPONENT.schema if step.number != 25)
    with monkeypatch.context() as patch:
        components = [
            replace(each, schema=(*schema, replace(step, apply=stopped))) if each is COMPONENT else each
            for each in services.components()
        ]
        patch.setattr("hexad.lifecycle.schema.components", lambda: components)
        with pytest.raises(KeyboardInterrupt):
            opened(embedder=HashEmbedder())

    assert rows == (rows_of(path, everything), rows_of(path, "SELECT * FROM memories ORDER BY no"))
    assert before == answers(opened(embedder=HashEmbedder()))


def test_what_goes_takes_its_marks_along(hx: Hexad) -> None:
    hx.remember(REPEATED, id="goes")
    hx.remember(REPEATED + " Nobody waits for it to be done.", id="stays")
    numbers = dict(hx._services.db.query("SELECT id, no FROM memories"))
    marks = "SELECT DISTINCT memory_no FROM minhash_bands ORDER BY 1"
    assert [(numbers["goes"],), (numbers["stays"],)] == hx._services.db.query(marks)

    hx.remember("Something else altogether is said here, of other things and in other words.", id="stays")
    columns = "a, b, c, d, e, f, g, h, i, j, k"
    rows = hx._services.db.query(f"SELECT memory_no, {columns} FROM minhash_marks")
    named = {(band, no) for no, *bands in rows for band in bands if band is not None}
    assert named == set(hx._services.db.query("SELECT band, memory_no FROM minhash_bands"))
    hx.forget("goes", purge=True, confirm=True)

    assert [(numbers["stays"],)] == hx._services.db.query(marks)
    assert [(numbers["stays"],)] == hx._services.db.query("SELECT memory_no FROM minhash_marks")


def test_a_summary_that_begins_a_short_text_and_its_hash_are_stored_once(hx: Hexad) -> None:
    texts = {
        "short": "Jonas works at Acme. He gave a talk about the history of editors. Noted by Mara on 9 January.",
        "nul": "Jonas works at Acme.\0 He gave a talk. " + "Noted by Mara on 9 January. " * 3,
        "long": LONG,
    }
    for name, text in texts.items():
        hx.remember(text, id=name)
    stored = dict(hx._services.db.query("SELECT id, micro_text IS NULL FROM memories"))

    assert (1, 0) == (stored["short"], stored["long"])
    for name, text in texts.items():
        memory = hx.get(name)
        assert text.startswith("Jonas works at Acme." if name == "nul" else memory.raw)
        assert memory.content_hash == memory.metadata["hash"] == content_hash(memory.raw)
        assert memory.summary_micro
        assert [(memory.summary_micro,)] == hx._services.db.query(
            "SELECT coalesce(summary_micro, raw) FROM memories WHERE id = ?", (name,)
        )
    assert (
        json.loads(hx._services.db.query("SELECT metadata FROM memories WHERE id = 'short'")[0][0])["hash"]
        == ""
    )
