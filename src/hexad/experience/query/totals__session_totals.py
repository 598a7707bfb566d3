"""How much experience there is of each session: counted in the stream, and told by COLD records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from hexad.database.connection import Database
from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.pressure import Amount
from hexad.experience.values.records import StepQuery


def session_totals(db: Database, reader: StreamReader) -> dict[str, Amount]:
    """Return for each session that has any: `records` in full detail and COLD, the timesteps and tokens they stand for.

    COLD records of a day or more are of several sessions and count for none.
    """
    counts: Counter[tuple[int, str]] = Counter()
    for number, timesteps, tokens in reader.ask(StepQuery(), _counted, light=True):
        counts[number, "records"] += timesteps
        counts[number, "timesteps"] += timesteps
        counts[number, "tokens"] += tokens
    rows = db.query(
        "SELECT session_no, count(*), sum(timesteps), sum(token_count) FROM compressed_records"
        " WHERE session_no IS NOT NULL GROUP BY session_no"
    )
    for number, records, timesteps, tokens in cast("list[tuple[int, int, int, int]]", rows):
        counts[number, "records"] += records
        counts[number, "timesteps"] += timesteps
        counts[number, "tokens"] += tokens
    names = Sessions(db).names(number for number, _ in counts)
    return {
        name: Amount(
            records=counts[number, "records"],
            timesteps=counts[number, "timesteps"],
            tokens=counts[number, "tokens"],
        )
        for number, name in names.items()
    }


def _counted(asked: Asked) -> Sequence[tuple[int, int, int]]:
    if asked.steps is None:
        return ()
    rows = asked.cursor.execute(
        f"SELECT session, count(*), sum(tokens) FROM (SELECT session, tokens {asked.steps}) GROUP BY session",
        asked.params,
    ).fetchall()
    return [(int(number), int(timesteps), int(tokens)) for number, timesteps, tokens in rows]
