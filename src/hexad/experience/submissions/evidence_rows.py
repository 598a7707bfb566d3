"""Timesteps as a Parquet file that anybody can read: words instead of numbers, one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import Ranges, union
from hexad.database import files
from hexad.database.encryption.store_files import OwnFiles
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.stream.duckdb_engine import quoted
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.stream.grouping_sql import OUTPUT
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.records import KINDS, StepQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Mask = Callable[[list[list[str]]], Iterable[tuple[int, list[str]]]]
"""From answers, as tokens, to those of them that may not be shown as they are: which it is, and its new tokens."""

_PROVISIONAL: Final = 3_000_000_000
_MASK_MARGIN_TICKS: Final = 4_096
"""A secret that a range cuts in two is found with so much of what stands around it."""
_ROWS: Final = (
    "SELECT 'ts-' || n.id || '-' || s.tick AS id, n.id AS session_id, s.tick AS tick,"
    ' make_timestamptz(s.ts) AS "timestamp", k.word AS event_type, coalesce(m.content, s.content) AS content,'
    " map_from_entries(list_filter(list_zip(list_transform(s.concepts, lambda one: getvariable('concepts')["
    "CASE WHEN one >= {provisional} THEN one - {provisional} + {known} ELSE one END + 1]), s.scores),"
    " lambda one: one[1] IS NOT NULL)) AS concept_activations, s.event AS event_id,"
    " s.flags & {starts} <> 0 AS event_start, s.flags & {ends} <> 0 AS event_end, s.token AS token_id, s.role AS role,"
    " s.tokens AS token_count FROM (SELECT * {steps}) s JOIN names n ON n.no = s.session JOIN kinds k ON k.no = s.kind"
    " LEFT JOIN masked m ON m.session = s.session AND m.tick = s.tick ORDER BY n.id, s.tick"
)
_PARQUET: Final = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRows:
    """What a file of timesteps holds."""

    timesteps: int
    tokens: int
    events: Mapping[str, Sequence[str]]  # by session: the events that have a timestep in it


class EvidenceWriter:
    """Writes timesteps of the stream into files of their own."""

    def __init__(
        self,
        reader: StreamReader,
        sessions: Sessions,
        *,
        mask: Mask,
        visible: Callable[[str], bool],
        own: OwnFiles,
    ) -> None:
        self._reader, self._sessions, self._mask, self._visible = reader, sessions, mask, visible
        self._own = own

    def write(self, path: Path, ranges: Mapping[str, Ranges]) -> EvidenceRows:
        """Write the timesteps of ranges of ticks by session, in that order, without secrets and without
        concepts that are not visible; durable on return.

        `path` must not be there yet; whether it is sealed its place says. Returns what was in full detail.
        """
        masked = self._masked(ranges)
        temporary = path.with_name(f"{path.name}.tmp")
        sealed = self._own.cipher_at(path) is not None
        to = quoted(self._reader.duck.export_name(temporary, sealed=sealed))

        def copy(asked: Asked) -> EvidenceRows:
            if asked.steps is None:
                raise StorageFailure(f"Nothing of it is in the stream any more; {path} was not written.")
            sql = self._prepared(asked, ranges, masked)
            with files.operation("write", temporary, "write"):
                asked.cursor.execute(f"COPY ({sql}) TO '{to}' ({_PARQUET})", list(asked.params))
            return _counted(asked)

        rows = self._reader.ask(StepQuery(tagged=ranges), copy)
        files.publish(temporary, path)
        return rows

    def count(self, path: Path) -> tuple[int, int]:
        """Return how many timesteps and tokens a file of timesteps holds; raises `IntegrityError` for what is none."""
        try:
            name = self._reader.duck.export_name(path, sealed=self._own.opens(path) is not None)
            with self._reader.duck.cursor(path) as cursor:
                row = cursor.execute(
                    "SELECT count(*), coalesce(sum(token_count), 0) FROM read_parquet(?, hive_partitioning = false)",
                    [name],
                ).fetchone()
        except StorageFailure as error:
            raise IntegrityError(str(error)) from error
        assert row is not None
        return int(row[0]), int(row[1])

    def _prepared(
        self, asked: Asked, ranges: Mapping[str, Ranges], masked: Mapping[tuple[int, int], str]
    ) -> str:
        """Give the cursor the words that numbers stand for, and return the statement."""
        import numpy as np

        used = asked.cursor.execute(
            f"SELECT DISTINCT unnest(concepts) FROM (SELECT concepts {asked.steps})", list(asked.params)
        ).fetchall()
        numbers = sorted(int(row[0]) for row in used)
        known = max((number for number in numbers if number < _PROVISIONAL), default=-1) + 1
        unknown = max((number - _PROVISIONAL for number in numbers if number >= _PROVISIONAL), default=-1) + 1
        words: list[str | None] = [None] * (known + unknown)
        for number in numbers:
            concept = asked.concepts.id(number)
            if self._visible(concept):
                words[number - _PROVISIONAL + known if number >= _PROVISIONAL else number] = concept
        asked.cursor.execute("SET VARIABLE concepts = CAST(? AS VARCHAR[])", [words])
        sessions = {self._sessions.number(session): session for session in ranges}
        asked.cursor.register(
            "names", _words("id", {no: session for no, session in sessions.items() if no is not None})
        )
        asked.cursor.register("kinds", _words("word", {code: kind.value for code, kind in enumerate(KINDS)}))
        asked.cursor.register(
            "masked",
            {
                "session": np.array([session for session, _ in masked], np.uint32),
                "tick": np.array([tick for _, tick in masked], np.int64),
                "content": _texts(masked.values()),
            },
        )
        return _ROWS.format(
            provisional=_PROVISIONAL, known=known, starts=STARTS, ends=ENDS, steps=asked.steps
        )

    def _masked(self, ranges: Mapping[str, Ranges]) -> dict[tuple[int, int], str]:
        """Return, by session and tick, the texts that may not be shown as they are, and what is shown."""
        return dict(
            replacement for session, some in ranges.items() for replacement in self._masked_in(session, some)
        )

    def _masked_in(self, session: str, ranges: Ranges) -> Iterator[tuple[tuple[int, int], str]]:
        around = union((first - _MASK_MARGIN_TICKS, last + _MASK_MARGIN_TICKS) for first, last in ranges)
        question = StepQuery(
            session_id=session,
            ticks=(around[0][0], around[-1][1]),
            tagged={session: around},
        )
        rows = self._reader.ask(question, _answers)
        for which, tokens in self._mask([row[3] for row in rows]):
            number, _, places, before = rows[which]
            for tick, token, was in zip(places, tokens, before, strict=True):
                if token != was:
                    yield (int(number), int(tick)), token


def _counted(asked: Asked) -> EvidenceRows:
    totals = asked.cursor.execute(
        f"SELECT count(*), coalesce(sum(tokens), 0) FROM (SELECT tokens {asked.steps})", list(asked.params)
    ).fetchone()
    named = asked.cursor.execute(
        f"SELECT DISTINCT n.id, s.event FROM (SELECT session, event {asked.steps}) s"
        " JOIN names n ON n.no = s.session WHERE s.event IS NOT NULL ORDER BY ALL",
        list(asked.params),
    ).fetchall()
    assert totals is not None
    events: dict[str, list[str]] = {}
    for session, event in named:
        events.setdefault(session, []).append(event)
    return EvidenceRows(timesteps=int(totals[0]), tokens=int(totals[1]), events=events)


def _answers(asked: Asked) -> list[tuple[Any, ...]]:
    """Return what secrets may be spread over, in order: answers, and events of several timesteps, by session, event
    and type.
    """  # fmt: skip
    if asked.steps is None:
        return []
    return asked.cursor.execute(
        "SELECT session, event, list(tick ORDER BY tick), list(content ORDER BY tick)"
        f" FROM (SELECT session, event, kind, tick, content {asked.steps}) WHERE kind = {OUTPUT} OR event IS NOT NULL"
        f" GROUP BY session, event, kind HAVING kind = {OUTPUT} OR count(*) > 1",
        list(asked.params),
    ).fetchall()


def _words(key: str, words: Mapping[int, str]) -> dict[str, NDArray[Any]]:
    import numpy as np

    return {"no": np.array(list(words), np.int64), key: _texts(words.values())}


def _texts(texts: Iterable[str]) -> NDArray[np.object_]:
    import numpy as np

    found = list(texts)
    column = np.empty(len(found), dtype=object)
    column[:] = found
    return column
