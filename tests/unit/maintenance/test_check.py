"""Each kind of damage is put into a healthy store by hand, and `check` must name it with its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.core.clock import SystemClock
from hexad.database.connection import Database
from hexad.testing import HashEmbedder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed, healthy store: two memories with vectors, one of them tagged, and a turn."""
    with hexad.open(tmp_path, embedder=HashEmbedder(), background=False) as hx:
        hx.remember("The ferry leaves at nine.", id="ferry", tags=["port"])
        hx.remember("The lamp turns once in nine seconds.", id="lamp")
        talk = tmp_path / "talk.jsonl"
        talk.write_text(
            '{"conversation": "c", "session": "s", "speaker": "Ada", "text": "Hello there.", "id": "t"}\n'
        )
        hx.ingest(talk)
        hx.maintain()
        assert [] == hx.check()
    return tmp_path


def damage(store: Path, *statements: str) -> None:
    database = Database.open(store / ".hexad" / "memory.db", clock=SystemClock())
    with database.transaction() as con:
        con.execute("PRAGMA defer_foreign_keys = ON")
        for statement in statements:
            con.execute(statement)
    database.close()


def checked(store: Path) -> list[str]:
    with hexad.open(store, embedder=HashEmbedder(), background=False) as hx:
        return hx.check()


FERRY = "(SELECT no FROM memories WHERE id = 'ferry')"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"UPDATE memories SET raw = raw || ' Or ten.' WHERE no = {FERRY}", ["'ferry'", "does not match its hash", "Put a backup in its place"]),
        (f"UPDATE memories SET tags = '[broken' WHERE no = {FERRY}", ["'ferry'", "tags that are not JSON"]),
        # Three indexes read the metadata: what stands on a damaged page went past them.
        (f"DROP INDEX memories_judged_of; DROP INDEX memories_beside; DROP INDEX memories_consolidated; UPDATE memories SET metadata = 'x' WHERE no = {FERRY}", ["'ferry'", "metadata that are not JSON"]),
        (f"UPDATE chunks SET end = 9999 WHERE memory_no = {FERRY}", ["ferry", "outside its text", "remember it again"]),
        (f"INSERT INTO memory_tags VALUES('ghost', {FERRY})", ["'ghost'", "'ferry'", "does not carry it", "reindex"]),
        ("DELETE FROM memory_tags", ["'port'", "'ferry'", "not indexed", "reindex"]),
        ("INSERT INTO chunk_fts(chunk_fts, rowid, body, context, identifiers) SELECT 'delete', no, body, context, identifiers FROM chunk_texts", ["Full text disagrees", "reindex"]),
        (f"DELETE FROM vectors WHERE memory_no = {FERRY}", ["'ferry'", "no vector", "reindex --vectors"]),
        (f"UPDATE vectors SET vector = x'00' WHERE memory_no = {FERRY}", ["'ferry'", "1 bytes", "512", "--vectors"]),
        (f"UPDATE vectors SET vector = CAST(zeroblob(510) || x'007c' AS BLOB) WHERE memory_no = {FERRY}", ["'ferry'", "damaged", "--vectors"]),
        (f"UPDATE memories SET status = 'archived' WHERE no = {FERRY}", ["'ferry'", "no active chunk", "--vectors"]),
    ],
)  # fmt: skip
def test_damage_is_named_with_its_remedy(store: Path, statement: str, words: list[str]) -> None:
    damage(store, statement)

    problems = checked(store)

    assert any(all(word in problem for word in words) for problem in problems), problems


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO memory_tags VALUES('ghost', {FERRY})",
        "DELETE FROM memory_tags",
        "INSERT INTO chunk_fts(chunk_fts, rowid, body, context, identifiers) SELECT 'delete', no, body, context, identifiers FROM chunk_texts",
        "DELETE FROM chunk_fts_data",
    ],
)
def test_reindex_mends_what_it_is_said_to_mend(store: Path, statement: str) -> None:
    damage(store, statement)
    assert [] != checked(store)

    with hexad.open(store, embedder=HashEmbedder(), background=False) as hx:
        hx.reindex()
        assert [] == hx.check()
        assert ["ferry"] == [hit.id for hit in hx.recall("ferry", tags=["port"])]


@pytest.mark.parametrize(
    "statement",
    [
        f"DELETE FROM vectors WHERE memory_no = {FERRY}",
        f"UPDATE vectors SET vector = CAST(zeroblob(510) || x'007c' AS BLOB) WHERE memory_no = {FERRY}",
        f"UPDATE vectors SET vector = x'00' WHERE memory_no = {FERRY}",
    ],
)
def test_reindex_of_vectors_mends_what_it_is_said_to_mend(store: Path, statement: str) -> None:
    damage(store, statement)
    assert [] != checked(store)

    with hexad.open(store, embedder=HashEmbedder(), background=False) as hx:
        hx.reindex(vectors=True)
        hx.maintain()
        assert [] == hx.check()


def test_a_database_that_others_can_read_is_named(store: Path) -> None:
    database = store / ".hexad" / "memory.db"
    database.chmod(0o644)

    assert [f"{database} can be read by others (mode 0644). Run `chmod 600 {database}`."] == checked(store)


def test_check_changes_nothing(store: Path) -> None:
    def seen(hx: Hexad) -> object:
        return [memory.to_dict() for memory in hx.memories(status=None)], hx.status().embeddings_pending

    with hexad.open(store, embedder=HashEmbedder(), background=False) as hx:
        before = seen(hx)
        assert [] == hx.check()
        assert before == seen(hx)


def test_recall_says_which_of_its_texts_were_changed_beneath_it(store: Path) -> None:
    damage(
        store, f"UPDATE memories SET raw = replace(raw, 'nine', 'five') WHERE no IN ({FERRY}, {FERRY} + 1)"
    )

    with hexad.open(store, embedder=HashEmbedder(), background=False) as hx:
        first, second = hx.recall("ferry leaves", limit=1), hx.recall("lamp ferry")
        whole = hx.recall("hello there", limit=1)

    assert ["The text of the memory 'ferry' did not come out as stored"] == [
        note.partition(":")[0] for note in first.notes
    ]
    assert second.notes[0].startswith("The texts of the memories 'ferry', 'lamp' did")
    assert "`hexad check`" in second.notes[0] and "backup" in second.notes[0]
    assert (["Hello there."], ()) == ([hit.text for hit in whole], whole.notes)
