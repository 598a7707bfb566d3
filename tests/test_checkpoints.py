"""Checkpoints of graphs as rows of the one store: kept, checked, exported, erased, encrypted, read without writing."""

from __future__ import annotations

import pytest

import hexad
from hexad import Hexad
from hexad.agent_state.checkpoints import (
    CheckpointKey,
    Checkpoints,
    PendingWrite,
    StateValue,
    StoredCheckpoint,
)
from tables import BEFORE_SMALLER_TABLES, everything_stored

CANARY = b"\x93\x01canary-of-the-state\x02"


def checkpoint(thread: str, number: int, *pieces: bytes, run: str | None = None) -> StoredCheckpoint:
    return StoredCheckpoint(
        key=CheckpointKey(thread=thread, id=f"{number:04}"),
        parent_id=f"{number - 1:04}" if number else None,
        run_id=run,
        encoding="msgpack",
        head=b"\x80",
        values={"messages": StateValue(encoding="msgpack", pieces=pieces, count=len(pieces))},
        metadata=f'{{"step": {number}}}',
    )


def write(data: bytes = b"\xc3") -> PendingWrite:
    return PendingWrite(task_id="task", position=0, channel="done", encoding="msgpack", data=data)


def kept_in(hx: Hexad) -> Checkpoints:
    return Checkpoints(hx._services.db)


def pieces(hx: Hexad) -> int:
    return int(hx._services.db.query("SELECT count(*) FROM checkpoint_pieces")[0][0])


def test_a_checkpoint_comes_back_as_it_was_stored_and_a_piece_is_stored_once(hx):
    checkpoints = kept_in(hx)
    first, second = checkpoint("ada", 1, b"a", b"b"), checkpoint("ada", 2, b"a", b"b", b"c")
    checkpoints.put(first)
    checkpoints.put(second)
    checkpoints.put_writes(second.key, [write()], replace=False)

    assert first == checkpoints.get(first.key)
    latest = checkpoints.latest("ada", "")
    assert (second.values, (write(),)) == (latest.values, latest.writes)
    assert checkpoints.latest("ada", "child") is checkpoints.latest("bob", "") is None
    assert 3 == pieces(hx)


def test_what_no_checkpoint_needs_goes_with_the_last_that_did(hx):
    checkpoints = kept_in(hx)
    checkpoints.put(checkpoint("ada", 1, b"a", b"old", run="one"))
    checkpoints.put(checkpoint("ada", 2, b"a", b"new", run="two"))
    checkpoints.put(checkpoint("bob", 1, b"a", run="two"))

    checkpoints.delete_runs(["one", "never"])
    assert ["0002"] == [key.id for key, _ in checkpoints.find("ada")]
    assert 3 == pieces(hx), "another thread has its own"
    checkpoints.delete_runs(["two"])
    assert 0 == pieces(hx)
    assert not checkpoints.has("ada")


def test_a_thread_is_a_session_to_export_and_to_forget(hx):
    checkpoints = kept_in(hx)
    for thread in ("ada", "bob"):
        checkpoints.put(checkpoint(thread, 1, CANARY))
        checkpoints.put_writes(checkpoint(thread, 1).key, [write(CANARY)], replace=False)

    exported = {item.section: item.value for item in hx.export("session", session="ada")}
    assert CANARY.hex().upper() == exported["checkpoint_pieces"]["data_hex"]
    assert {"step": 1} == exported["checkpoints"]["metadata"]
    assert CANARY.hex().upper() == exported["checkpoint_writes"]["writes"][0]["data_hex"]

    planned = hx.forget(session="ada", purge=True, confirm=True, dry_run=True)
    assert 1 == planned.count("checkpoints")
    assert checkpoints.has("ada")
    assert 1 == hx.forget(session="ada", purge=True, confirm=True).count("checkpoints")
    assert ["bob"] == [key.thread for key, _ in checkpoints.find()]
    assert 1 == everything_stored(hx).count(repr(CANARY)) - 1, "a piece and a write of the other"
    hx.wipe("project", confirm=True)
    assert [] == checkpoints.find()


def test_a_thread_called_as_a_session_about_a_person_goes_with_the_person(hx):
    hx.xdb.start_session("ada", data_subjects=["ada@example.org"])
    for thread in ("ada", "bob"):
        kept_in(hx).put(checkpoint(thread, 1, b"a"))

    hx.forget(subject="ada@example.org", purge=True, confirm=True)

    assert ["bob"] == [key.thread for key, _ in kept_in(hx).find()]


def test_threads_that_were_not_touched_since_a_moment_are_forgotten(opened, clock):
    hx = opened(clock=clock)
    kept_in(hx).put(checkpoint("old", 1, b"a"))
    clock.advance(days=30)
    moment = clock.now()
    clock.advance(days=1)
    kept_in(hx).put(checkpoint("new", 1, b"a"))

    hx.forget(before=moment, purge=True, confirm=True)

    assert ["new"] == [key.thread for key, _ in kept_in(hx).find()]


def test_a_check_finds_a_piece_that_is_lost_and_one_that_was_changed(hx):
    kept_in(hx).put(checkpoint("ada", 1, b"a", b"b"))
    assert [] == hx.check()
    db = hx._services.db

    with db.transaction() as con:
        con.execute("UPDATE checkpoint_pieces SET data = x'00' WHERE data = CAST('b' AS BLOB)")
    assert ["'ada' is not what was stored" in problem for problem in hx.check()] == [True]
    with db.transaction() as con:
        con.execute("DELETE FROM checkpoint_pieces WHERE data = x'00'")
    assert ["lacks a piece of 'messages'" in problem for problem in hx.check()] == [True]
    kept_in(hx).delete_threads(["ada"])


def test_a_store_that_is_read_only_gives_checkpoints_and_takes_none(opened):
    hx = opened()
    kept_in(hx).put(checkpoint("ada", 1, b"a"))
    hx.close()

    reading = opened(readonly=True)
    assert checkpoint("ada", 1, b"a") == kept_in(reading).latest("ada", "")
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        kept_in(reading).put(checkpoint("ada", 2, b"a"))


def test_the_encryption_of_the_store_covers_them(tmp_path):
    key = bytes(range(32))
    with hexad.open(tmp_path, key=key, embedder=None, background=False) as hx:
        kept_in(hx).put(checkpoint("ada", 1, CANARY))
        place = hx.path
    assert not any(CANARY in file.read_bytes() for file in place.rglob("*") if file.is_file())
    with hexad.open(tmp_path, key=key, embedder=None, background=False) as hx:
        assert (CANARY,) == kept_in(hx).latest("ada", "").values["messages"].pieces


def test_a_store_of_the_version_before_gets_their_tables(opened):
    hx = opened()
    hx.remember("Deploys happen on Tuesday.")
    with hx._services.db.transaction() as con:
        for table in ("key_values", "checkpoint_writes", "checkpoint_pieces", "checkpoints", "threads"):
            con.execute(f"DROP TABLE {table}")
        for index in ("memories_by_change", "stream_retired_logs_back"):
            con.execute(f"DROP INDEX {index}")
        con.execute(BEFORE_SMALLER_TABLES)
        con.execute("DELETE FROM schema_migrations WHERE number >= 20")
    hx.close()

    again = opened()
    kept_in(again).put(checkpoint("ada", 1, b"a"))
    assert 1 == len(again.recall("when do we deploy?"))
