"""Errors of the system, of SQLite and of DuckDB leave a call in Hexad's words, and those of the caller as they are."""

from __future__ import annotations

import inspect
import json
import os
import random
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import apsw
import duckdb
import pytest

import hexad
from hexad import AgentMemory, Hexad, HexadError, IntegrityError, InvalidInput, InvalidMemory, StorageFailure
from hexad.audit import AuditLogWriter
from hexad.client.wire import decode, encode
from hexad.database.sqlite_errors import failures_translated
from hexad.privacy import erasure
from opener import Opener
from programs import command

QUESTIONS: dict[str, Callable[[Hexad], object]] = {
    "recall": lambda hx: hx.xdb.recall(session_id="*", limit=1_000),
    "recall by concept": lambda hx: hx.xdb.recall_by_concept("work::Talk", session_id="*"),
    "maintain": lambda hx: hx.maintain(),
    "forget": lambda hx: hx.forget(session="talk-1", purge=True, confirm=True),
    "seal": lambda hx: hx.xdb.seal(),
}


def garbled(kind: str, data: bytes) -> bytes:
    """What a disk may give back of a file."""
    chance, bad = random.Random(kind), bytearray(data)
    if kind == "beginning":
        bad[:8] = b"garbage!"
    elif kind == "end":
        bad[-60:-8] = chance.randbytes(52)
    elif kind == "half":
        del bad[len(bad) // 2 :]
    elif kind == "nothing":
        bad.clear()
    else:
        for _ in range(40):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
    return bytes(bad)


def refusal(call: Callable[[], object]) -> HexadError | None:
    """What a call is refused with; any other error leaves it."""
    try:
        call()
    except HexadError as error:
        return error
    return None


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", ["beginning", "end", "half", "nothing", "bytes 1", "bytes 2", "bytes 3"])
def test_a_garbled_segment_is_told_in_hexads_words(
    opened: Opener, project: Path, kind: str, name: str
) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2"):
        hx.xdb.start_session(session)
        for number in range(50):
            hx.xdb.record("input", f"hello {number}", {"work::Talk": number / 50}, session_id=session)
    hx.xdb.seal()
    (segment,) = (hx.path / "stream" / "segments").glob("*.parquet")
    whole = segment.read_bytes()
    segment.write_bytes(garbled(kind, whole))

    error = refusal(lambda: QUESTIONS[name](hx))

    segment.write_bytes(whole)
    assert error is None or (
        isinstance(error, IntegrityError | StorageFailure) and "Run `hexad check`" in str(error)
    )
    assert 100 == len(hx.xdb.recall(session_id="*", limit=1_000)) or name == "forget"


@pytest.mark.parametrize("kind", ["beginning", "end", "half", "nothing"])
def test_one_damaged_segment_does_not_hide_the_others(opened: Opener, kind: str) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2", "talk-3"):
        hx.xdb.start_session(session)
        for number in range(50):
            hx.xdb.record("input", f"hello {number}", {"work::Talk": number / 50}, session_id=session)
        hx.xdb.seal()
    segment, *_ = segments = sorted((hx.path / "stream" / "segments").glob("*.parquet"))
    assert 3 == len(segments)
    whole = segment.read_bytes()
    segment.write_bytes(garbled(kind, whole))

    everything = hx.xdb.recall(session_id="*", limit=1_000)
    strongest = hx.xdb.recall_by_concept("work::Talk", limit=1_000)
    sent = decode(json.loads(json.dumps(encode(everything))))
    segment.write_bytes(whole)

    assert 2 == len({step.session_id for step in everything})
    assert (100, 50) == (len(everything), len(strongest))
    for notes in (everything.notes, strongest.notes, sent.notes):
        assert 1 == len(notes)
        assert f"{segment.name} cannot be read: up to 50 timesteps are missing" in notes[0]
    assert everything == sent
    again = hx.xdb.recall(session_id="*", limit=1_000)
    assert (150, ()) == (len(again), again.notes)


def test_a_text_whose_bytes_are_damaged_is_told_in_hexads_words(opened: Opener) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2"):
        hx.xdb.start_session(session)
        for number in range(50):
            hx.xdb.record("input", f"Xq0001 {session} {number}", session_id=session)
        hx.xdb.seal()
    segment, _ = sorted((hx.path / "stream" / "segments").glob("*.parquet"))
    plain = hx.path.parent / "plain.parquet"
    duckdb.sql(f"COPY (SELECT * FROM '{segment}') TO '{plain}' (FORMAT parquet, COMPRESSION uncompressed)")
    whole = segment.read_bytes()
    segment.write_bytes(plain.read_bytes().replace(b"Xq0001", b"\xf4q0001"))

    answer = hx.xdb.recall(session_id="*", limit=1_000)
    segment.write_bytes(whole)

    assert 50 == len(answer)
    assert f"{segment.name} cannot be read: up to 50 timesteps are missing" in answer.notes[0]


@pytest.mark.parametrize("kind", ["beginning", "end", "half", "nothing"])
def test_one_damaged_segment_hides_nothing_else_from_other_questions(opened: Opener, kind: str) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2", "talk-3"):
        hx.xdb.start_session(session)
        for number in range(50):
            hx.xdb.record("input", f"hello {number}", {"work::Talk": number / 50}, session_id=session)
        hx.xdb.seal()
    segment, *_ = sorted((hx.path / "stream" / "segments").glob("*.parquet"))
    whole = segment.read_bytes()
    segment.write_bytes(garbled(kind, whole))

    answers = {
        "text": hx.xdb.recall(text_search="hello 7", session_id="*"),
        "events": hx.xdb.recall_events("hello", session_id="*", limit=1_000),
        "activity": hx.xdb.activity(by="day", session_id="*"),
    }
    sent = decode(json.loads(json.dumps(encode(answers["events"]))))
    found = {step.session_id for step in answers["text"]}
    (damaged,) = {"talk-1", "talk-2", "talk-3"} - found
    totals, usage = hx.xdb.session_totals(), hx.xdb.usage()
    sent_totals, sent_usage = (decode(json.loads(json.dumps(encode(each)))) for each in (totals, usage))
    lost = refusal(lambda: hx.xdb.get_timestep(f"ts-{damaged}-3"))
    there = [hx.xdb.get_timestep(f"ts-{session}-3") for session in found]
    segment.write_bytes(whole)

    assert found == {event.session_id for event in answers["events"]}
    assert 100 == len(answers["events"]) == len(sent)
    # What is damaged may be what counting does not read: then it counts all of it.
    activity = answers.pop("activity")
    assert found <= set(totals) and {50} == {totals[session].timesteps for session in found}
    stream = sum(amount.timesteps for amount in usage.by_fidelity.values())
    assert (len(totals), len(totals.notes)) in [(2, 1), (3, 0)]
    assert (stream, len(usage.notes)) in [(100, 1), (150, 0)]
    assert (totals, totals.notes, usage) == (sent_totals, sent_totals.notes, sent_usage)
    assert all("up to 50 timesteps are missing" in note for note in (*totals.notes, *usage.notes))
    counted = sum(bucket.timesteps for bucket in activity)
    assert (counted, len(activity.notes)) in [(100, 1), (150, 0)]
    for notes in (*(answer.notes for answer in answers.values()), sent.notes):
        assert 1 == len(notes)
        assert f"{segment.name} cannot be read: up to 50 timesteps are missing" in notes[0]
    assert isinstance(lost, IntegrityError)
    assert f"ts-{damaged}-3 may be in a segment that is damaged" in str(lost)
    assert None not in there
    again = hx.xdb.recall_events("hello", session_id="*", limit=1_000)
    assert (150, ()) == (len(again), again.notes)


def test_an_export_has_what_can_be_read_and_names_the_damaged_segment(opened: Opener, project: Path) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2"):
        hx.xdb.start_session(session, data_subjects=["ann"])
        for number in range(5):
            hx.xdb.record("input", f"{session} says {number}", session_id=session)
        hx.xdb.seal()
    segment, *_ = sorted((hx.path / "stream" / "segments").glob("*.parquet"))
    whole = segment.read_bytes()
    segment.write_bytes(garbled("half", whole))

    counts = hx.write_export(project / "held.json", subject="ann")
    held = json.loads((project / "held.json").read_text())
    printed = command("--store", project, "memory", "export", "--scope", "project")
    segment.write_bytes(whole)

    assert (5, 1) == (counts["timesteps"], counts["missing"])
    assert (5, 1) == (len(held["timesteps"]), len(held["missing"]))
    assert f"{segment.name} cannot be read: up to 5 timesteps are missing" in held["missing"][0]["what"]
    assert 1 == len(json.loads(printed.stdout)["missing"])
    assert "not complete: 1 segment cannot be read" in " ".join(printed.stderr.split())
    assert "missing" not in json.loads("".join(hexad.export_json(hx.export())))


@pytest.mark.parametrize("kind", ["beginning", "half", "nothing"])
def test_what_was_said_in_sessions_is_found_beside_a_damaged_segment(opened: Opener, kind: str) -> None:
    hx = opened()
    for session in ("talk-1", "talk-2", "talk-3"):
        hx.xdb.start_session(session)
        for number in range(5):
            hx.xdb.record("input", f"The zeppelin has {number} engines.", session_id=session)
        hx.xdb.seal()
    segment, *_ = sorted((hx.path / "stream" / "segments").glob("*.parquet"))
    beside = segment.with_suffix(".events")
    whole = {path: path.read_bytes() for path in (segment, beside)}
    for path, data in whole.items():
        path.write_bytes(garbled(kind, data))

    context = hx.context("How many engines has the zeppelin?", wait=True)
    hits = hx.recall("zeppelin engines", layers=["session"], limit=100)
    for path, data in whole.items():
        path.write_bytes(data)

    assert {} == context.failed
    assert "event" in {block.item.kind for block in (*context.system_items, *context.evidence_blocks)}
    assert 10 == len(hits)
    for notes in (context.notes, hits.notes):
        assert 1 == sum(f"{segment.name} cannot be read: up to 5 timesteps are" in note for note in notes)
    again = hx.recall("zeppelin engines", layers=["session"], limit=100)
    assert 15 == len(again)
    assert not any("cannot be read" in note for note in again.notes)


@pytest.mark.parametrize("kind", ["beginning", "end", "half", "nothing"])
def test_a_context_window_shows_what_can_be_read_beside_a_damaged_segment_and_is_not_compacted(
    opened: Opener, kind: str
) -> None:
    hx, sealed = opened(), list[Path]()
    for session in ("first", "second"):
        hx.xdb.start_session(session, max_context_tokens=200)
        for part in range(2):
            for number in range(30):
                hx.xdb.record("input", f"hello {part} {number}", token_count=2, session_id=session)
            hx.xdb.seal()
            sealed += {*(hx.path / "stream" / "segments").glob("*.parquet")} - {*sealed}
    segment = sealed[0]
    whole = segment.read_bytes()
    segment.write_bytes(garbled(kind, whole))

    windows = {session: hx.xdb.context(session) for session in ("first", "second")}
    states = hx.xdb.get_context_states(["first", "second"])
    segment.write_bytes(whole)

    damaged = windows["first"]
    assert [f"hello 1 {number}" for number in range(30)] == [event.content for event in damaged.events]
    assert (60, 60) == (damaged.token_count, len(windows["second"].events))
    assert f"{segment.name} cannot be read: up to 30 timesteps are missing" in damaged.notes[0]
    assert () == windows["second"].notes
    # What counting reads may be whole: then it counts all of it.
    assert (states[0]["current_tokens"], "notes" in states[0]) in [(60, True), (120, False)]
    assert (120, False) == (states[1]["current_tokens"], "notes" in states[1])
    again = hx.xdb.context("first")
    assert (60, ()) == (len(again.events), again.notes)
    assert [] == hx.xdb.compactions("*")


def test_keys_of_the_ledger_that_are_nested_too_deeply_are_damaged(opened: Opener) -> None:
    hx = opened()
    AuditLogWriter(hx.path, "ada").close()
    keys = hx.path / "audit" / "audit.key"
    whole = keys.read_text()
    keys.write_text("[" * 200_000)

    with pytest.raises(IntegrityError, match=r"key file .* is damaged"):
        AuditLogWriter(hx.path, "ada").record("talk", 1, "input", "hello", {}, [])

    keys.write_text(whole)


@pytest.mark.parametrize("damage", ["raw = x'00ff'", "raw = NULL", "summary_long = x'00'"])
def test_a_reindex_leaves_out_what_is_damaged_and_says_so(tmp_path: Path, damage: str) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gateway retries five times.", id="bad")
        hx.remember("The pool has ten connections.", id="good")
    _put(hx.path / "memory.db", f"UPDATE memories SET {damage} WHERE id = 'bad'")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        with pytest.raises(IntegrityError, match="1 memories are damaged"):
            hx.reindex()

        assert ["good"] == [hit.id for hit in hx.recall("pool connections")]


@pytest.mark.parametrize(
    ("damaged", "words"),
    [("gone", "number 1 was made at None, which is no time"), ("there", "'None' where a time")],
)
def test_a_consolidation_says_that_the_time_of_a_memory_is_damaged(
    tmp_path: Path, damaged: str, words: str
) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gateway retries five times.", id="gone")
        hx.remember("The pool has ten connections.", id="there")
        hx.forget("gone")
    _put(hx.path / "memory.db", f"UPDATE memories SET created_at = NULL WHERE id = '{damaged}'")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        with pytest.raises(IntegrityError, match=f"{words}.* put a backup"):
            hx.consolidate()


def _put(file: Path, statement: str) -> None:
    """Change a row as a damaged disk may, whatever the table promises of its columns."""
    con = apsw.Connection(str(file))
    ((sql,),) = con.execute("SELECT sql FROM sqlite_schema WHERE name = 'memories'")
    loose = sql.replace("STRICT", "").replace("NOT NULL", "")
    for schema, then in ((loose, statement), (sql, "SELECT 1")):
        con.execute("PRAGMA writable_schema = ON")
        con.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'memories'", (schema,))
        ((version,),) = con.execute("PRAGMA schema_version")
        con.execute(f"PRAGMA schema_version = {version + 1}")
        con.close()
        con = apsw.Connection(str(file))
        con.execute("PRAGMA ignore_check_constraints = ON")
        con.execute(then)
    con.close()


def test_an_erasure_that_is_committed_gives_its_receipt_when_sqlite_fails_after_it(
    hx: Hexad, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> bool:
        raise apsw.IOError("injected")

    hx.remember("The gateway retries five times.", id="gone")
    with monkeypatch.context() as faults:
        faults.setattr(erasure, "empty_log", failing)
        faults.setattr(erasure, "clear_pages", failing)
        receipt = hx.forget("gone", purge=True, confirm=True)

    assert (1, True) == (receipt.count("memories"), bool(receipt.pending))
    assert [receipt.id] == [each.id for each in hx.erasures()]
    hx.maintain()
    assert not hx.erasures()[0].pending


# The boundary ---------------------------------------------------------------------------------------------------------


def test_an_error_of_a_function_of_the_callers_passes_as_it_is(hx: Hexad) -> None:
    hx.remember("The gateway retries five times.")

    def progress(_: int) -> None:
        raise BrokenPipeError("the caller's")

    with pytest.raises(BrokenPipeError, match="the caller's"):
        hx.embed_pending(progress=progress)


def test_an_error_of_a_library_is_ours_where_we_called_it_and_the_callers_where_they_did(
    tmp_path: Path,
) -> None:
    numpy = pytest.importorskip("numpy")
    ours: dict[str, Any] = {"__name__": "hexad.made_up", "numpy": numpy}
    exec("def load(path): numpy.load(path)\ndef call(what): what()", ours)

    with pytest.raises(StorageFailure, match=r"Cannot use .*/gone: No such file .*choose another place"):
        failures_translated(ours["load"])(tmp_path / "gone")
    with pytest.raises(FileNotFoundError):
        failures_translated(ours["call"])(lambda: numpy.load(tmp_path / "gone"))


def test_the_message_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    ours: dict[str, Any] = {"__name__": "hexad.made_up", "os": os}
    exec("def look(path): os.stat(path)\ndef looks(path): yield os.stat(path)", ours)

    for look in (ours["look"], lambda path: list(failures_translated(ours["looks"])(path))):
        with pytest.raises(StorageFailure, match=r"Cannot use .*/gone: No such file .*choose another place"):
            failures_translated(look)(tmp_path / "gone")


def test_every_call_of_a_facade_is_translated(hx: Hexad) -> None:
    facades = [
        hx,
        *(
            getattr(hx, name)
            for name in dir(Hexad)
            if isinstance(vars(Hexad).get(name), property | cached_property)
        ),
    ]
    kinds = {type(each) for each in facades if type(each).__name__.endswith(("Facade", "Xdb", "Hexad"))}
    assert 11 <= len(kinds)

    left = [
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name in dir(kind)
        if not name.startswith("_")
        and inspect.isfunction(call := inspect.getattr_static(kind, name))
        and call.__code__.co_name != "translating"
    ]

    assert [] == left


def test_what_no_path_can_be_is_named_as_such(opened: Opener, tmp_path: Path) -> None:
    hx = opened(tmp_path)

    assert not hx.governance.why("\ud800").decisions
    for ingest in (hx.graph.index, hx.ingest):
        with pytest.raises(InvalidInput, match="cannot be a path"):
            ingest("\ud800")


@pytest.mark.parametrize("depth", [5_000, None])
def test_a_message_that_is_nested_too_deep_is_refused(
    opened: Opener, tmp_path: Path, depth: int | None
) -> None:
    content: list[object] = []
    if depth is None:
        content.append(content)
    for _ in range(depth or 0):
        content = [content]
    memory = AgentMemory(opened(tmp_path))

    for step in (memory.before_step, memory.after_step):
        with pytest.raises(InvalidMemory, match="nested too deep"):
            step([{"role": "user", "content": content}])
