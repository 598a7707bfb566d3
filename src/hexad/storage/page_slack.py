"""The unused middle of a database's pages, where SQLite leaves copies of rows that moved to another page.

`secure_delete` clears a row where it stands. What a split or a merge of pages moved stands a second time, in the gap
between a page's list of cells and its cells, until something is written over it. SQLite itself clears these gaps only
by writing the whole database anew, which takes seconds; here zeros are written into the gaps and nowhere else. To
SQLite a gap means nothing: a reader of any moment sees the same, and so does whoever looks after a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from hexad.storage.connection import PAGE_BYTES, Connection
from hexad.storage.sqlite_errors import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PAGES_AT_ONCE: Final = 1_024
_FILE_HEADER: Final = 100
_LEAVES: Final = (10, 13)
_INNER: Final = (2, 5)
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


def _gaps(data: bytes, offset: int) -> list[tuple[int, int]]:
    """Return where in the file the gaps begin that are not clear, and how long they are."""
    import numpy as np

    pages = np.frombuffer(data, dtype=np.uint8).reshape(-1, PAGE_BYTES)
    starts, ends = _bounds(pages[:, :12])
    if not offset:  # the first page begins with the file's own header
        starts[:1], ends[:1] = _bounds(pages[:1, _FILE_HEADER : _FILE_HEADER + 12])
        starts[:1] += _FILE_HEADER
    columns = np.arange(PAGE_BYTES, dtype=np.int32)
    gap = (columns >= starts[:, None]) & (columns < ends[:, None])
    found = np.flatnonzero((gap & (pages != 0)).any(axis=1))
    return [
        (offset + int(page) * PAGE_BYTES + int(starts[page]), int(ends[page] - starts[page]))
        for page in found
    ]


def _bounds(heads: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each page's gap begins and ends, the same twice for a page that has none."""
    import numpy as np

    head = heads.astype(np.int32)
    leaf, inner = np.isin(head[:, 0], _LEAVES), np.isin(head[:, 0], _INNER)
    starts = np.where(leaf, 8, 12) + 2 * (head[:, 3] << 8 | head[:, 4])
    ends = head[:, 5] << 8 | head[:, 6]
    ends[ends == 0] = 1 << 16
    has = (leaf | inner) & (starts <= ends) & (ends <= PAGE_BYTES)
    return np.where(has, starts, 0).astype(np.int32), np.where(has, ends, 0).astype(np.int32)
