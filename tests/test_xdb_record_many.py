"""Many records at once through `hx.xdb.record_many`: rows, columns, and whatever speaks Arrow."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pytest

import hexad
from hexad import EventType, Hexad, InvalidInput, LimitExceeded, StorageFailure
from hexad.database import files
from hexad.experience.recording import batches
from hexad.experience.stream import columns as stream_columns
from hexad.experience.stream.log import list_logs, read_log

PASSWORD = "Tr0ub4dor&3"
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def xdb(hx: Hexad):
    hx.xdb.start_session("monday", compaction=False)
    return hx.xdb


@pytest.fixture
def arrow() -> Iterator[duckdb.DuckDBPyConnection]:
    """Another DuckDB, whose relations speak Arrow: ours has no part in it, and no pyarrow is needed."""
    con = duckdb.connect(config={"threads": "1"})
    con.execute("SET timezone = 'UTC'")
    yield con
    con.close()


class Once:
    """A stream of batches that can be read once, as those from a network are."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation: duckdb.DuckDBPyRelation | None = relation

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        assert self._relation is not None, "read a second time"
        relation, self._relation = self._relation, None
        return relation.__arrow_c_stream__(requested_schema)


def rows_of(count: int) -> list[dict[str, Any]]:
    kinds = [kind.value for kind in EventType]
    return [
        {
            "event_type": kinds[at % 6],
            "content": f" word {at} é" if at % 7 else f"password: {PASSWORD}",
            "concept_activations": {
                f"pack::C{(at + number) % 30}": (at + number) % 8 / 8 for number in range(at % 14)
            },
            "event_id": None if at % 5 == 0 else f"event {at // 50}",
            "event_start": at % 50 == 1,
            "event_end": at % 50 == 49,
            "token_id": None if at % 3 == 0 else at - 500,
            "role": "assistant" if at % 2 else None,
            "token_count": 1 + at % 3,
            "timestamp": START + timedelta(milliseconds=at),
        }
        for at in range(count)
    ]


def columns_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns: dict[str, Any] = {key: [row[key] for row in rows] for key in rows[0]}
    columns["timestamp"] = np.array(
        [timestamp.replace(tzinfo=None) for timestamp in columns["timestamp"]], "datetime64[ns]"
    )
    columns["token_count"] = np.array(columns["token_count"], np.uint16)
    columns["content"] = np.array(columns["content"], dtype=object)
    given = columns.pop("concept_activations")
    return columns | {
        "concepts": [tuple(activations) for activations in given],
        "scores": [np.array(list(activations.values()), np.float32) for activations in given],
    }


def relation_of(con: duckdb.DuckDBPyConnection, columns: dict[str, Any]) -> duckdb.DuckDBPyRelation:
    """The columns as a table; lists travel as texts, because DuckDB takes flat columns."""
    flat = {
        name: np.array([None if cell is None else str(cell) for cell in column], dtype=object)
        for name, column in columns.items()
    }
    flat["concepts"] = np.array(["\n".join(concept) for concept in columns["concepts"]], dtype=object)
    flat["scores"] = np.array(
        [" ".join(map(str, score.tolist())) for score in columns["scores"]], dtype=object
    )
    con.register("flat", flat)
    con.execute(
        "CREATE OR REPLACE TABLE given AS SELECT event_type, content, event_id, event_start::BOOLEAN AS event_start,"
        " event_end::BOOLEAN AS event_end, token_id::INTEGER AS token_id, role, token_count::UTINYINT AS token_count,"
        " timestamp::TIMESTAMP AS timestamp, CASE WHEN concepts = '' THEN [] ELSE string_split(concepts, chr(10)) END"
        " AS concepts, CASE WHEN scores = '' THEN [] ELSE string_split(scores, ' ')::FLOAT[] END AS scores FROM flat"
    )
    con.unregister("flat")
    return con.table("given")


def everything(hx: Hexad, session: str) -> list[hexad.TimestepRecord]:
    """What is recorded in a session, as if it had been in `monday`."""
    return [
        replace(record, id=f"ts-monday-{record.tick}", session_id="monday")
        for record in hx.xdb.recall(session_id=session, limit=100_000)
    ]


@pytest.mark.row("H002", "H011", "H170", "H136")
@pytest.mark.parametrize("sealed", [False, True])
def test_rows_columns_and_arrow_give_the_same_records(hx, xdb, arrow, sealed, monkeypatch):
    monkeypatch.setattr(batches, "CHUNK_ROWS", 500)
    rows = rows_of(1_200)
    columns = columns_of(rows)
    table = relation_of(arrow, columns)

    for session, given in (
        ("rows", iter(rows)),
        ("columns", columns),
        ("arrow", table),
        ("once", Once(table)),
    ):
        xdb.start_session(session, compaction=False)
        assert [f"ts-{session}-{at}" for at in range(1, 1_201)] == xdb.record_many(given)
    if sealed:
        xdb.seal()
    first = everything(hx, "rows")

    assert 1_200 == len(first)
    assert [*range(1, 1_201)] == [record.tick for record in first]
    assert (" word 1199 é", START + timedelta(milliseconds=1_199)) == (first[-1].content, first[-1].timestamp)
    assert {10} == {len(record.concept_activations) for record in first[10:14]}
    assert not [
        record for record in first if PASSWORD in record.content and (sealed or record.event_type != "output")
    ]
    for session in ("columns", "arrow", "once"):
        assert first == everything(hx, session)


@pytest.mark.row("H002")
@pytest.mark.parametrize("way", ["rows", "columns", "arrow"])
def test_a_secret_in_an_input_of_a_batch_never_reaches_the_disk(hx, xdb, arrow, way):
    rows = [{"event_type": "input", "content": f"the password: {PASSWORD}" if at == 700 else f"line {at}"}
            for at in range(1_000)]  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = arrow.sql(
        "SELECT 'input' AS event_type, CASE WHEN i = 700 THEN 'the password: ' || $secret ELSE 'line ' || i END AS content"
        " FROM range(1000) t(i)",
        params={"secret": PASSWORD},
    )
    xdb.record_many({"rows": rows, "columns": columns, "arrow": table}[way])

    found = xdb.recall(limit=1_000)

    assert "the password: [REDACTED:password]" == found[700].content
    assert [f"line {at}" for at in range(1_000) if at != 700] == [
        record.content for record in found if record.tick != 701
    ]
    for path in hx.path.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()


def test_large_texts_become_several_frames(hx, xdb, monkeypatch):
    monkeypatch.setattr(stream_columns, "CHUNK_CHARS", 8 << 10)
    text = "x" * (1 << 10)
    xdb.record_many([{"event_type": "tool_response", "content": text[at:]} for at in range(20)])

    frames = [frame for path in list_logs(hx.path / "stream" / "log") for frame in read_log(path).frames]
    assert 3 == len(frames)
    assert max(len(frame.contents) for frame in frames) <= 8 << 10
    assert [len(text) - at for at in range(20)] == [len(record.content) for record in xdb.recall()]


@pytest.mark.parametrize("way", ["rows", "columns", "arrow"])
def test_one_bad_row_refuses_the_whole_call_and_is_named(xdb, arrow, way):
    count = 20_000
    kinds = ["output"] * count
    kinds[17_123] = "thought"
    words = [f"word {at}" for at in range(count)]
    arrow.register("flat", {"event_type": np.array(kinds, object), "content": np.array(words, object)})
    given = {
        "rows": [{"event_type": kind, "content": word} for kind, word in zip(kinds, words, strict=True)],
        "columns": {"event_type": kinds, "content": words},
        "arrow": arrow.sql("SELECT * FROM flat"),
    }[way]

    with pytest.raises(InvalidInput, match=r"^Row 17,123: event_type = 'thought' is not one of"):
        xdb.record_many(given)

    assert [] == xdb.recall()
    assert "ts-monday-1" == xdb.record("output", "x")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"event_type": ["input"]}, "need event_type and content"),
        ({"event_type": ["input"], "content": ["x"], "colour": ["red"]}, "colour"),
        ({"event_type": ["input"], "content": ["x", "y"]}, "event_type 1, content 2"),
        ({"event_type": ["input"], "content": "x"}, "content is 'x'; give a list"),
        ({"event_type": ["input"], "content": {"x": 1}}, "give a list"),
        ({"event_type": ["input"], "content": ["x"], "token_id": 5}, "token_id is no list"),
        ({"event_type": ["input"], "content": ["x"], "concepts": [["a"]]}, "concepts together with scores"),
        (
            {"event_type": ["input"], "content": ["x"], "concepts": [[]], "scores": [[]], "concept_activations": [{}]},
            "Give either",
        ),
        ({"event_type": ["input"], "content": ["x"], "concepts": [["a"]], "scores": [[]]}, "Row 0 has 1 concepts and 0"),
        ({"event_type": ["input"], "content": ["x"], "concepts": ["ab"], "scores": [[1, 2]]}, "concepts are 'ab'"),
        ({"event_type": ["input"], "content": ["x"], "concepts": [["a", "a"]], "scores": [[1, 2]]}, "there twice"),
        ({"event_type": ["input"], "content": ["x"], "concept_activations": ["ab"]}, "are no activations"),
        ({"event_type": ["input"], "content": [None]}, "Row 0: content must be a string, not None"),
        (5, "5 holds no rows"),
        (["input"], "Row 0: 'input' is no row"),
        ([{"event_type": "input", "content": "x"}, {"content": "y"}], "Row 1: A row needs"),
    ],
)  # fmt: skip
def test_columns_that_make_no_rows_are_refused(xdb, columns, words):
    with pytest.raises(InvalidInput, match=words):
        xdb.record_many(columns)
    assert [] == xdb.recall()


def test_columns_may_be_numpy_arrays_of_any_fitting_kind(xdb):
    times = np.array(["2026-03-01T00:00:00.000001", "NaT", "2026-03-03"], "datetime64[ns]")
    xdb.record_many(
        {
            "event_type": np.array(["input", "output", "output"]),
            "content": np.array(["one", "twö", ""]),
            "event_start": np.array([True, False, False]),
            "token_id": np.array([1, 2, 3], np.int8),
            "token_count": np.array([1, 2, 2**32 - 1], np.uint64),
            "timestamp": times,
            "concepts": np.array([["a", "b"]] * 3),
            "scores": np.array([[0.5, 0.25], [1, 2], [3, 4]], np.float16),
        }
    )

    first, two, three = xdb.recall()

    assert ("one", True, 1, 1) == (first.content, first.event_start, first.token_id, first.token_count)
    assert ("twö", False, 2, 2, {"b": 2.0, "a": 1.0}) == (
        two.content, two.event_start, two.token_id, two.token_count, two.concept_activations,
    )  # fmt: skip
    assert ("", 3, 2**32 - 1) == (three.content, three.token_id, three.token_count)
    assert [
        START + timedelta(microseconds=1),
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 3, 3, tzinfo=UTC),
    ] == [record.timestamp for record in (first, two, three)]


@pytest.mark.parametrize(
    "activations",
    [
        "MAP {'a': 0.5, 'b': 0.25} AS concept_activations",
        "MAP {'a': 0.5::DECIMAL(4, 2), 'b': 0.25} AS concept_activations",
        "[{concept: 'a', score: 0.5}, {concept: 'b', score: 0.25}] AS concept_activations",
        "[{'key': 'a', 'value': 0.5::FLOAT}, {'key': 'b', 'value': 0.25::FLOAT}] AS concept_activations",
        "['a', 'b'] AS concepts, [0.5, 0.25] AS scores",
        "array_value('a', 'b') AS concepts, array_value(0.5::FLOAT, 0.25::FLOAT) AS scores",
        "['a', 'b']::ENUM('b', 'a')[] AS concepts, [0.5, 0.25] AS scores",
    ],
)
def test_arrow_may_hold_activations_in_any_common_form(xdb, arrow, activations):
    xdb.record_many(arrow.sql(f"SELECT 'output' AS event_type, 'x' AS content, {activations} FROM range(3)"))

    assert [{"a": 0.5, "b": 0.25}] * 3 == [record.concept_activations for record in xdb.recall()]


@pytest.mark.parametrize(
    "time",
    [
        "TIMESTAMPTZ '2026-03-01 01:00:00+01'", "TIMESTAMP '2026-03-01'", "TIMESTAMP_NS '2026-03-01'", "DATE '2026-03-01'",
        "TIMESTAMP_S '2026-03-01'", "TIMESTAMP_MS '2026-03-01'", "'2026-03-01T00:00:00Z'",
    ],
)  # fmt: skip
def test_arrow_may_hold_times_of_any_kind(xdb, arrow, time):
    xdb.record_many(
        arrow.sql(
            f"SELECT 'output' AS event_type, 'x' AS content, CASE WHEN i = 1 THEN {time} END AS timestamp, NULL AS role,"
            " NULL AS event_id, i::UBIGINT AS token_id, i = 1 AS event_end FROM range(2) t(i)"
        )
    )

    first, two = xdb.recall()

    assert [datetime(2026, 1, 1, tzinfo=UTC), START] == [first.timestamp, two.timestamp]
    assert (0, False, 1, True) == (first.token_id, first.event_end, two.token_id, two.event_end)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        ("'input' AS event_type", "need event_type and content"),
        ("'input' AS event_type, 'x' AS content, 5 AS colour", "colour"),
        ("'input' AS event_type, 5 AS content", "content is INTEGER; give texts"),
        ("'input' AS event_type, 'x' AS content, 1.5 AS token_id", "give whole numbers"),
        (
            "'input' AS event_type, 'x' AS content, 18446744073709551615::UBIGINT AS token_id",
            "cannot be read",
        ),
        ("'input' AS event_type, 'x' AS content, {a: 0.5} AS concept_activations", "give a map"),
        ("'input' AS event_type, 'x' AS content, ['a'] AS concepts", "concepts together with scores"),
        (
            "'input' AS event_type, 'x' AS content, ['a'] AS concepts, [0.5, 1] AS scores",
            "Row 0 has 1 concepts and 2",
        ),
        ("'input' AS event_type, 'x' AS content, ['a', 'a'] AS concepts, [0.5, 1] AS scores", "there twice"),
        (
            "'input' AS event_type, 'x' AS content, ['a', NULL] AS concepts, [0.5, 1] AS scores",
            "a concept = None",
        ),
        (
            "'input' AS event_type, 'x' AS content, ['a', 'b'] AS concepts, [0.5, NULL] AS scores",
            "'b' is None",
        ),
        ("'input' AS event_type, 'x' AS content, ['a'] AS concepts, ['nan'::DOUBLE] AS scores", "finite"),
        ("'input' AS event_type, NULL::VARCHAR AS content", "content must be a string, not None"),
        ("'input' AS event_type, 'x' AS content, TIMESTAMP '12000-01-01' AS timestamp", "outside the years"),
    ],
)
def test_arrow_that_makes_no_rows_is_refused(xdb, arrow, read, words):
    with pytest.raises(InvalidInput, match=words):
        xdb.record_many(arrow.sql(f"SELECT {read}"))
    assert [] == xdb.recall()


def test_a_content_over_the_limit_is_refused_in_a_batch_too(xdb):
    rows = {"event_type": ["output"] * 2, "content": ["x" * (1 << 20), "é" * ((1 << 19) + 1)]}

    with pytest.raises(LimitExceeded, match="Row 1: The content has more than"):
        xdb.record_many(rows)
    assert [] == xdb.recall()


@pytest.mark.parametrize("given", [[], iter([]), {"event_type": [], "content": []}])
def test_no_rows_are_no_records(xdb, given):
    assert [] == xdb.record_many(given)


def test_arrow_without_rows_is_no_record(xdb, arrow):
    assert [] == xdb.record_many(arrow.sql("SELECT 'input' AS event_type, 'x' AS content WHERE false"))


@pytest.mark.row("H136")
def test_threads_that_record_many_at_once_share_no_tick(hx, xdb):
    ids: list[str] = []

    def work(at: int) -> None:
        columns = {"event_type": ["output"] * 3_000, "content": [f"{at}.{number}" for number in range(3_000)]}
        ids.extend(xdb.record_many(columns, session_id="monday"))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert 12_000 == len(set(ids)) == len(xdb.recall(limit=20_000))
    by_thread = [
        [record.content for record in xdb.recall(limit=20_000) if record.content.startswith(f"{at}.")]
        for at in range(4)
    ]
    assert [[f"{at}.{number}" for number in range(3_000)] for at in range(4)] == by_thread


def test_a_batch_that_the_disk_refuses_is_not_there_and_may_be_given_again(hx, xdb):
    rows = {"event_type": ["output"] * 5, "content": list("abcde")}
    xdb.record("output", "before")

    def hook(operation: str, path: object) -> None:
        if operation == "fdatasync":
            raise OSError(errno.ENOSPC, "No space left on device")

    xdb.flush()
    previous = files.set_hook(hook)
    try:
        with pytest.raises(StorageFailure, match="disk is full"):
            xdb.record_many(rows)
    finally:
        files.set_hook(previous)
    xdb.record_many(rows)

    assert ["before", *"abcde"] == [record.content for record in xdb.recall()]


@pytest.mark.row("H098", "H136")
def test_numbers_of_numpy_are_numbers(xdb):
    xdb.record("output", "x", {"a": np.float32(0.1), "b": np.float64(0.5), "c": np.int64(2)},
               token_id=np.int64(7), token_count=np.uint8(3))  # fmt: skip

    (found,) = xdb.recall()

    assert {"c": 2.0, "b": 0.5, "a": 0.1} == found.concept_activations
    assert (7, 3) == (found.token_id, found.token_count)


@pytest.mark.parametrize(
    "bad",
    [
        {"token_id": np.True_}, {"token_id": True}, {"token_id": np.float64(1)}, {"token_count": np.int8(-1)},
        {"concept_activations": {"a": np.True_}}, {"concept_activations": {"a": np.float32("nan")}},
        {"concept_activations": {"a": np.float64("inf")}}, {"concept_activations": {"a": 10**400}},
        {"concept_activations": {"a": np.array([0.5])}}, {"token_count": True},
    ],
)  # fmt: skip
def test_what_is_no_number_stays_refused(xdb, bad):
    with pytest.raises(InvalidInput):
        xdb.record("output", "x", **bad)


def test_the_thread_that_writes_comes_back_after_it_died(opened, monkeypatch):
    died = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: died.set())
    xdb = opened().xdb
    xdb.start_session("monday", compaction=False)
    xdb.record("output", "before")
    xdb.flush()

    def hook(operation: str, path: object) -> None:
        if operation == "write" and threading.current_thread().name == "hexad-recorder" and not died.is_set():
            raise MemoryError

    previous = files.set_hook(hook)
    try:
        xdb.record("output", "kept")
        assert died.wait(60)
        xdb.record("output", "goes on")
        reader = opened().xdb
        for _ in range(1_000):
            found = [record.content for record in reader.recall(session_id="monday")]
            if len(found) == 3:
                break
            threading.Event().wait(0.01)
    finally:
        files.set_hook(previous)
    assert ["before", "kept", "goes on"] == found
