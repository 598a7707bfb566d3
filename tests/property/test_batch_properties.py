"""Rows, columns and Arrow say the same: every way into the stream makes of a row what `record` makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.errors import HexadError
from hexad.experience.recording.batches import batches, chunks
from hexad.experience.recording.moments import StreamIntake, fields_of_row
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.frames import NO_TIME, Batch
from hexad.redaction.masking import Masking
from hexad.redaction.redact import RedactionRules
from hexad.text.tokens import CharacterCounter

PASSWORD = "password: Tr0ub4dor&3"
CARD = "the key is AKIA" + "IOSFODNN7EXAMPLE"
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
CONCEPTS = st.sampled_from([f"pack::C{at}" for at in range(20)]) | NAMES
SCORES = st.sampled_from([0.25, 0.5]) | st.floats(0, 1) | st.floats(-3e38, 3e38)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "event_type": st.sampled_from(
                ["input", "output", "tool_call", "tool_response", "steering", "system"]
            ),
            "content": TEXTS | st.sampled_from([PASSWORD, CARD, "plain words", "hyphen-" * 40]),
        },
        optional={
            "concept_activations": st.none() | st.dictionaries(CONCEPTS, SCORES, max_size=14),
            "event_id": st.none() | NAMES,
            "event_start": st.none() | st.booleans(),
            "event_end": st.booleans(),
            "token_id": st.none() | st.integers(-(2**63), 2**63 - 1),
            "role": st.none() | st.sampled_from(["user", "assistant"]),
            "token_count": st.none() | st.integers(0, 2**32 - 1),
            "timestamp": st.none() | TIMES,
        },
    ),
    min_size=1,
    max_size=6,
)
TYPES = {
    "event_type": "VARCHAR", "content": "VARCHAR", "event_id": "VARCHAR", "role": "VARCHAR", "event_start": "BOOLEAN",
    "event_end": "BOOLEAN", "token_id": "BIGINT", "token_count": "UINTEGER", "timestamp": "TIMESTAMPTZ",
    "concepts": "VARCHAR[]", "scores": "DOUBLE[]", "concept_activations": "MAP(VARCHAR, DOUBLE)",
}  # fmt: skip


@pytest.fixture(scope="module")
def duck() -> Iterator[DuckDbEngine]:
    duck = DuckDbEngine()
    yield duck
    duck.close()


@pytest.fixture(scope="module")
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    con = duckdb.connect(config={"threads": "1"})
    con.execute("SET timezone = 'UTC'")
    yield con
    con.close()


def intake(permitted=None) -> StreamIntake:
    return StreamIntake(
        Masking(salt=lambda: b"salt", rules=RedactionRules()), counter=CharacterCounter(), permitted=permitted
    )


def columns_of(rows: list[dict[str, Any]], *, lists: bool) -> dict[str, list[Any]]:
    """The rows as columns; their activations as one column of mappings or as two of lists."""
    keys = {key: None for row in rows for key in row}
    columns = {key: [row.get(key) for row in rows] for key in keys}
    if lists:
        given = columns.pop("concept_activations", [None] * len(rows))
        columns["concepts"] = [None if activations is None else list(activations) for activations in given]
        columns["scores"] = [
            None if activations is None else list(activations.values()) for activations in given
        ]
    return columns


def arrow(source: duckdb.DuckDBPyConnection, columns: dict[str, list[Any]]) -> duckdb.DuckDBPyRelation:
    described = ", ".join(f"{name} {TYPES[name]}" for name in columns)
    source.execute(f"CREATE OR REPLACE TABLE given ({described})")
    marks = []
    for name in columns:
        marks.append("CASE WHEN ? THEN NULL ELSE MAP(?, ?) END" if name == "concept_activations" else "?")
    for row in zip(*columns.values(), strict=True):
        values: list[Any] = []
        for name, cell in zip(columns, row, strict=True):
            if name == "concept_activations":
                values += [cell is None, list(cell or {}), [float(score) for score in (cell or {}).values()]]
            else:
                values.append(cell)
        source.execute(f"INSERT INTO given VALUES ({', '.join(marks)})", values)
    return source.table("given")


def said(found: list[Batch]) -> list[tuple[Any, ...]]:
    """What batches hold, row by row, as `moment` says it."""
    rows = []
    for batch in found:
        place = end = 0
        for at in range(len(batch)):
            first, place = place, place + int(batch.activations[at])
            start, end = end, end + int(batch.lengths[at])
            rows.append(
                (
                    None if batch.at[at] == NO_TIME else int(batch.at[at]),
                    *(int(column[at]) for column in (batch.kind, batch.flags, batch.token, batch.tokens)),
                    batch.strings[batch.roles[at]],
                    batch.strings[batch.events[at]],
                    {
                        batch.strings[concept]: float(score)
                        for concept, score in zip(
                            batch.concepts[first:place], batch.scores[first:place], strict=True
                        )
                    },
                    batch.contents[start:end].decode("utf-8"),
                )
            )
    return rows


def expected(rows: list[dict[str, Any]], taken: StreamIntake) -> list[tuple[Any, ...]]:
    return [
        (*row[:7], {concept: float(np.float32(score)) for concept, score in row[7].items()}, row[8])
        for row in (fields_of_row(row, intake=taken) for row in rows)
    ]


def is_low(concept: str) -> bool:
    return not concept.endswith(("1", "3", "5", "7", "9"))


@pytest.mark.row("H170", "H181")
@pytest.mark.parametrize("permitted", [None, is_low])
@settings(max_examples=examples(15), suppress_health_check=list(HealthCheck))
@given(rows=ROWS)
@example(
    rows=[
        {"event_type": "output", "content": "", "concept_activations": {f"c{n:02}": 0.5 for n in range(14)}}
    ]
)
@example(rows=[{"event_type": "input", "content": text} for text in ("a", PASSWORD, "b", CARD, PASSWORD)])
def test_rows_columns_and_arrow_make_the_same_of_a_row(duck, source, permitted, rows):
    wanted = expected(rows, intake(permitted))
    maps, lists = columns_of(rows, lists=False), columns_of(rows, lists=True)

    names = {name for row in wanted for name in (*row[5:7], *row[7])}
    for given_as in (rows, maps, lists, arrow(source, maps), arrow(source, lists)):
        found = list(batches(chunks(given_as, duck), intake(permitted)))
        assert wanted == said(found)
        assert names | {None} == {
            name for batch in found for name in batch.strings
        }  # what is hidden is not written


BAD = [
    {"content": 5}, {"event_type": "thought"}, {"event_id": ""}, {"role": "x" * 513}, {"event_id": "tok" + "\ud800"},
    {"token_id": 2**63}, {"token_id": True}, {"token_count": -1}, {"token_count": 2**32}, {"token_id": 1.5},
    {"concept_activations": {"a": math.nan}}, {"concept_activations": {"a": True}},
    {"concept_activations": {"a": math.inf}}, {"concept_activations": {"a": 3.5e38}},
    {"concept_activations": {"": 0.5}}, {"concept_activations": {"a": "much"}}, {"concept_activations": {5: 0.5}},
    {"concept_activations": {PASSWORD: 0.5}}, {"event_id": PASSWORD}, {"timestamp": "soon"}, {"timestamp": 5},
    {"content": "x" * (1 << 20 | 1)},
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:30])
def test_what_one_way_refuses_the_others_refuse_in_the_same_words(duck, bad):
    good = {"event_type": "output", "content": "word", "concept_activations": {"a": 0.5}}
    rows = [good, good, good | bad]
    with pytest.raises(HexadError) as by_itself:
        fields_of_row(rows[2], intake=intake())

    for given_as in (rows, columns_of(rows, lists=False), columns_of(rows, lists=True)):
        with pytest.raises(type(by_itself.value)) as together:
            list(batches(chunks(given_as, duck), intake()))
        assert f"Row 2: {by_itself.value}" == str(together.value)
