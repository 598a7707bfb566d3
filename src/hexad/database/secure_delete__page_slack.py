"""The unused middle of a database's pages, where SQLite leaves copies of rows that moved to another page.

`secure_delete` clears a row where it stands. What a split or a merge of pages moved stands a second time, in the gap
between a page's list of cells and its cells, until something is written over it. SQLite itself clears these gaps only
by writing the whole database anew, which takes seconds; here zeros are written into the gaps and nowhere else. To
SQLite a gap means nothing: a reader of any moment sees the same, and so does whoever looks after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import apsw

from hexad.database.connection import PAGE_BYTES, Connection
from hexad.database.sqlite_errors import translated

_PAGES_AT_ONCE: Final = 1_024
_FILE_HEADER: Final = 100
_HEAD_BYTES: Final = {10: 8, 13: 8, 2: 12, 5: 12}
"""Of the pages of trees by their first byte: leaves, then those above them."""
_ZEROS: Final = bytes(PAGE_BYTES)
_MOST_PAGES: Final = 1 << 24
"""From here on the first byte of a page of another kind, a page's number, may look like that of a tree's page."""


def clear_gaps(con: Connection) -> tuple[int, int]:
    """Write zeros into the gaps of all pages of trees; returns how many pages that changed and how many bytes.

    Call it in a write transaction, while the write-ahead log is empty, and before anything is written in it: nobody can
    then write to the file. The transaction must end in a commit of something, by which other connections notice that
    what they keep of pages is out of date.
    """
    with translated(con.path):
        con.sqlite.execute("PRAGMA shrink_memory").fetchall()  # this connection's own copies of pages
        # By SQLite's own file system layer: it knows of this process's locks, which closing a file would drop.
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        file = apsw.VFSFile("unix", str(con.path), [flags, 0])
        try:
            pages = count = 0
            for first in range(0, file.xFileSize(), _PAGES_AT_ONCE * PAGE_BYTES):
                size = min(_PAGES_AT_ONCE * PAGE_BYTES, file.xFileSize() - first)
                for start, length in _gaps(file.xRead(size, first), first):
                    file.xWrite(bytes(length), start)
                    pages, count = pages + 1, count + length
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        finally:
            file.xClose()
    return pages, count


def can_clear_gaps(con: Connection, *, encrypted: bool) -> bool:
    """Whether a file is of the kind whose gaps can be told: plain, without maps of pages, and not beyond 64 GiB."""
    pages, size, maps = (
        con.execute(f"PRAGMA {name}").fetchall()[0][0] for name in ("page_count", "page_size", "auto_vacuum")
    )
    few = isinstance(pages, int) and pages < _MOST_PAGES
    return not encrypted and not maps and size == PAGE_BYTES and few


def _gaps(data: bytes, offset: int) -> Iterator[tuple[int, int]]:
    """Yield where in the file the gaps begin that are not clear, and how long they are."""
    for page in range(0, len(data), PAGE_BYTES):
        head = page if page or offset else _FILE_HEADER  # the first page begins with the file's own header
        kind = data[head]
        if kind not in _HEAD_BYTES:
            continue
        start = head + _HEAD_BYTES[kind] + 2 * (data[head + 3] << 8 | data[head + 4])
        end = page + (data[head + 5] << 8 | data[head + 6])
        length = end - start
        if 0 < length <= PAGE_BYTES and data[start:end] != _ZEROS[:length]:
            yield offset + start, length
