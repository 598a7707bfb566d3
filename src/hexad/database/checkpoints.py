"""When the WAL is copied into the database: outside the line of writers, and never owed to anybody.

A commit is durable before any of this starts. A checkpoint that fails is left to the next one; a failing disk
shows in the next write.
"""

from __future__ import annotations

import contextlib

import apsw

from hexad.database.commit_queue import CommitQueue
from hexad.database.statements import Connection

CHECKPOINT_FRAMES = 2_000
"""Copy after so many new frames (pages of 4 KiB), without stopping readers or writers."""
RESTART_FRAMES = 4_000
"""From this length on also hold writers back for a moment, so that the WAL starts over in its place: syncing
frames that are written over old ones is faster than syncing a file that grows."""
TRUNCATE_FRAMES = 32_000
"""A WAL that a long reader let grow to this length is also cut."""
DRAIN_WAIT_S = 0.25
TURN_WAIT_S = 1.0
ANALYSIS_LIMIT_ROWS = 400


def checkpoint_when_due(con: Connection, queue: CommitQueue, *, busy_timeout_s: float) -> None:
    """Keep the WAL short, after a commit of `con`.

    Under readers that overlap without a gap SQLite can copy, but never start the WAL over; holding writers
    back lets new readers read from the database alone until the old ones are done. Only a reader that stays
    longer than `DRAIN_WAIT_S` can make the WAL grow on.
    """
    frames, tried = con.wal_frames, queue.checkpointed_at
    if frames < tried:  # the WAL started over since
        tried = queue.checkpointed_at = 0
    # A checkpoint after a failed sync would copy pages whose frames may be lost, and tear the database.
    if frames - tried < CHECKPOINT_FRAMES or queue.poisoned:
        return
    queue.checkpointed_at = frames
    with contextlib.suppress(apsw.Error):
        con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    if frames >= RESTART_FRAMES and queue.acquire_within(TURN_WAIT_S):
        try:
            _start_over(con, queue, cut=frames >= TRUNCATE_FRAMES)
        finally:
            con.sqlite.set_busy_timeout(int(busy_timeout_s * 1000))
            queue.release()


def _start_over(con: Connection, queue: CommitQueue, *, cut: bool) -> None:
    con.sqlite.set_busy_timeout(int(DRAIN_WAIT_S * 1000))
    mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_RESTART
    with contextlib.suppress(apsw.Error):
        con.sqlite.wal_checkpoint(mode=mode)
        queue.checkpointed_at = 0


def prepare_to_close(con: Connection, queue: CommitQueue, *, wrote: bool) -> None:
    """Refresh the planner's statistics if there is time, and let SQLite empty the WAL if `con` is the last user."""
    if queue.poisoned:
        return
    with contextlib.suppress(apsw.Error):
        if wrote and queue.try_acquire():
            try:
                con.sqlite.execute("PRAGMA query_only = OFF")
                con.sqlite.execute(f"PRAGMA analysis_limit = {ANALYSIS_LIMIT_ROWS}").fetchall()
                con.sqlite.execute("PRAGMA optimize").fetchall()
            finally:
                queue.release()
        con.sqlite.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
