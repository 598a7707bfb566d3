"""Words that full text keeps though nothing says them any more: those by which it finds its own pages.

FTS5 takes a deleted word out of the page that holds it, but not out of the list of where pages begin. There the word
is only a border, so that the next word that is left does as well.
"""

from __future__ import annotations

from typing import Final, cast

from hexad.database.connection import Database

_INDEXES: Final = ("chunk_fts", "compressed_fts", "document_fts")


def clear_borders(db: Database) -> int:
    """Put words that are left in the place of those that nothing says; returns how many borders that changed."""
    return sum(_clear(db, index) for index in _INDEXES)


def _clear(db: Database, index: str) -> int:
    changed = 0
    with db.transaction() as con:
        con.execute(f"CREATE VIRTUAL TABLE temp.words_left USING fts5vocab(main, {index}, instance)")
        rows = con.execute(f"SELECT segid, term FROM {index}_idx ORDER BY segid, term").fetchall()
        borders = cast("list[tuple[int, bytes]]", rows)
        ends = [*borders[1:], (-1, b"")]
        for (segment, border), (of_next, end) in zip(borders, ends, strict=False):
            if len(border) < 2:
                continue
            # The first byte says of which index of prefixes the word is; there is one index, of whole words.
            found = con.execute(
                "SELECT CAST(term AS BLOB) FROM temp.words_left WHERE term >= CAST(? AS TEXT) LIMIT 1",
                (border[1:],),
            ).fetchone()
            left = border[:1] + cast("bytes", found[0]) if found is not None else None
            if left is not None and left.startswith(border):
                continue  # something says it, or a word that begins like it
            if left is None or (of_next == segment and left >= end):
                con.execute("DROP TABLE temp.words_left")
                con.execute(f"INSERT INTO {index}({index}) VALUES('rebuild')")
                return changed + 1
            con.execute(
                f"UPDATE {index}_idx SET term = ? WHERE segid = ? AND term = ?", (left, segment, border)
            )
            changed += 1
        con.execute("DROP TABLE temp.words_left")
    return changed
