"""What the experience of a store takes: files measured, pages and rows of the database counted."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.tick_ranges import Ranges
from hexad.database.codec import dump, from_micros
from hexad.database.connection import Database, Row
from hexad.experience.query.reader import StepSelection, StreamReader
from hexad.experience.stream.filters import TickRanges
from hexad.experience.tables.cold_records import ColdRecords, LevelTotals
from hexad.experience.tables.windows import PROTECTING, Windows
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.records import StepQuery

COLD_TABLES: Final = (
    "compressed_records", "compressed_concepts", "compressed_tags", "compressed_record_sessions", "compaction_records",
    "compressed_fts_data", "compressed_fts_idx", "compressed_fts_docsize", "compressed_fts_config",
)  # fmt: skip
OTHER_TABLES: Final = (
    "sessions", "stream_concepts", "stream_segments", "stream_segment_sessions", "stream_retired_logs", "stream_cold",
    "time_windows", "submissions", "window_submissions", "tags", "tag_applications", "bud_concepts", "comments",
    "comment_versions", "concepts", "concept_aliases", "concept_packs", "concept_relations", "documents",
    "document_versions", "document_tags", "document_fts_data", "document_fts_idx", "document_fts_docsize",
    "document_fts_config", "removed_documents", "auto_tagged_logs", "stream_erased", "stream_erasing",
    "erased_sessions", "session_subjects", "document_subjects",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many timesteps and tokens."""

    timesteps: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """What compressing further takes of a compaction: its summary, which stands for no tokens of its own."""

    no: int
    id: str
    session: int
    session_id: str
    at: datetime
    ticks: tuple[int, int]
    summary: str
    bytes: int


class ColdBytes:
    """What COLD records and the compactions' records take, and the latter themselves."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._compressed = ColdRecords(db)

    def total(self) -> int:
        """Return the bytes of all COLD records and compactions."""
        return sum(level.bytes for level in self.levels().values()) + self.compactions()[1]

    def levels(self) -> dict[CompressionLevel, LevelTotals]:
        """Return what there is of each level."""
        return self._compressed.totals()

    def compactions(self) -> tuple[int, int]:
        """Return how many compactions there are, and their bytes."""
        row = self._db.query_one(
            "SELECT count(*), coalesce(sum(bytes), 0) FROM compaction_records INDEXED BY compactions_by_session"
        )
        assert row is not None
        return row

    def written(self) -> tuple[int, int]:
        """Return two numbers that grow with every COLD record and every compaction that is stored."""
        rows = self._db.query(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('compressed_records', 'compaction_records')"
        )
        sizes: dict[str, int] = dict(rows)
        return sizes.get("compressed_records", 0), sizes.get("compaction_records", 0)

    def sizes(self, numbers: Collection[int]) -> dict[int, int]:
        """Return the bytes of COLD records by their numbers; those that are gone are left out."""
        return self._sizes("compressed_records", numbers)

    def _sizes(self, table: str, numbers: Collection[int]) -> dict[int, int]:
        rows = self._db.query(
            f"SELECT r.no, r.bytes FROM json_each(?) j CROSS JOIN {table} r ON r.no = j.value",
            (dump(sorted(numbers)),),
        )
        return dict(rows)

    # Compactions that go with what they summarise ---------------------------------------------------------------

    def within(self, session: int, ticks: tuple[int, int]) -> list[CompactionRow]:
        """Return the compactions of a session that share a tick with `ticks`, the oldest first."""
        return self._rows(
            "c.session_no = ? AND c.range_start <= ? AND c.range_end >= ?", (session, ticks[1], ticks[0])
        )

    def compactions_of(self, sessions: Collection[int]) -> list[CompactionRow]:
        """Return the compactions of these sessions of which no reply is left, the oldest first."""
        return self._rows(
            "c.session_no IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM compressed_records r"
            " WHERE r.session_no = c.session_no AND r.level = 1 AND r.first_tick <= c.range_end"
            " AND r.last_tick >= c.range_start)",
            (dump(sorted(sessions)),),
        )

    def orphans(self, limit: int) -> list[CompactionRow]:
        """Return compactions of sessions without any reply's or session's record, the oldest first."""
        return self._rows(
            "NOT EXISTS (SELECT 1 FROM compressed_records r WHERE r.session_no = c.session_no AND r.level IN (1, 2))",
            (),
            limit=limit,
        )

    def compaction_sizes(self, numbers: Collection[int]) -> dict[int, int]:
        """Return the bytes of compactions by their numbers; those that are gone are left out."""
        return self._sizes("compaction_records", numbers)

    def remove_compactions(self, numbers: Collection[int]) -> None:
        """Remove compactions in the caller's transaction."""
        with self._db.joined() as con:
            con.executemany("DELETE FROM compaction_records WHERE no = ?", [(number,) for number in numbers])

    def _rows(self, where: str, params: tuple[str | int, ...], *, limit: int = -1) -> list[CompactionRow]:
        rows = self._db.query(
            "SELECT c.no, c.id, c.session_no, s.id, c.at, c.range_start, c.range_end, c.summary, c.bytes"
            " FROM compaction_records c JOIN sessions s ON s.no = c.session_no"
            f" WHERE {where} ORDER BY c.at, c.no LIMIT ?",
            (*params, limit),
        )
        return [_compaction(row) for row in rows]


def ended_sessions(db: Database) -> list[str]:
    """Return the sessions that have ended and have ticks in their context, the one that ended first before others."""
    rows = db.query(
        "SELECT id FROM sessions WHERE ended_at IS NOT NULL AND next_tick - 1 > compacted_through"
        " ORDER BY ended_at, no"
    )
    return [row[0] for row in rows]


def tables_bytes(db: Database, tables: Collection[str]) -> int:
    """Return the bytes of all pages of these tables and their indexes."""
    row = db.query_one(
        "SELECT coalesce(sum(d.pgsize), 0) FROM sqlite_schema s CROSS JOIN dbstat d ON d.name = s.name"
        " AND d.aggregate = 1 WHERE s.rootpage > 0 AND s.tbl_name IN (SELECT value FROM json_each(?))",
        (dump(sorted(tables)),),
    )
    assert row is not None
    return int(row[0])


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder; 0 where there is none. What goes meanwhile does not count."""
    total = 0
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError):
            continue
    return total


def extents(db: Database, reader: StreamReader) -> dict[Fidelity, Extent]:
    """Return how many timesteps and tokens of the stream are HOT, WARM and SUBMITTED."""
    protected = Windows(db).protected_by_session()
    everything, extents = reader.ask(StepQuery(), lambda selection: _extents(selection, protected))
    kept_timesteps = sum(extent.timesteps for extent in extents.values())
    kept_tokens = sum(extent.tokens for extent in extents.values())
    hot = Extent(timesteps=everything.timesteps - kept_timesteps, tokens=everything.tokens - kept_tokens)
    return {Fidelity.HOT: hot, **extents}


def _extents(
    selection: StepSelection, protected: Mapping[int, Mapping[Fidelity, Ranges]]
) -> tuple[Extent, dict[Fidelity, Extent]]:
    """Return how much there is, and how much of it at each fidelity that protects it."""
    extents = dict.fromkeys(PROTECTING, Extent())
    if selection.steps is None:
        return Extent(), extents

    def measure(joined: str) -> Extent:
        # Read to its end: while a result is open DuckDB lets nothing be registered.
        [row] = selection.cursor.execute(
            f"SELECT count(*), coalesce(sum(tokens), 0) FROM (SELECT session, tick, tokens {selection.steps}) steps"
            f"{joined}",
            list(selection.params),
        ).fetchall()
        return Extent(timesteps=int(row[0]), tokens=int(row[1]))

    for fidelity in PROTECTING:
        ranges = TickRanges({number: some[fidelity] for number, some in protected.items() if some[fidelity]})
        if len(ranges.plain["session"]):
            selection.cursor.register("kept", ranges.table)
            extents[fidelity] = measure(ranges.inside("kept"))
    return measure(""), extents


def _compaction(row: Row) -> CompactionRow:
    return CompactionRow(
        no=row[0],
        id=row[1],
        session=row[2],
        session_id=row[3],
        at=from_micros(row[4]),
        ticks=(row[5], row[6]),
        summary=row[7],
        bytes=row[8],
    )
