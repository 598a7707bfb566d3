"""Programs that compress and are killed, for the tests beside this file; run as `python compression_target.py WHAT …`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import hexad
from hexad.experience.tables import cold_records as compressed


def fill(project: Path, sessions: int) -> None:
    """Record sessions a week apart and make REPLY records of them."""
    with hexad.open(project, embedder=None, background=False) as hx:
        for at in range(sessions):
            name = f"s{at}"
            rows = [
                {
                    "event_type": "output",
                    "content": f"word{at} ",
                    "concept_activations": {f"c{at % 5}": 0.5},
                    "event_id": f"e{number // 5}",
                    "timestamp": f"2025-{1 + at // 4 % 12:02}-{1 + 7 * (at % 4):02}T10:00:{number:02}Z",
                }
                for number in range(50)
            ]
            hx.xdb.start_session(name, compaction=False).record_many(rows)
            hx._services.experience().replies.release(name, [(1, 50)])


def compress(project: Path, _count: int) -> None:
    """Compress everything there is, as far as it goes."""
    with hexad.open(project, embedder=None, background=False) as hx:
        report = hx.xdb.check_and_compress(max_storage_bytes=0)
        os.write(1, f"{report.stopped.value} {report.records}\n".encode())


def compress_and_die(project: Path, count: int) -> None:
    """Compress, and be killed inside of the transaction that stores the record of this number."""
    with hexad.open(project, embedder=None, background=False) as hx:
        add, seen = compressed.ColdRecords.add, 0

        def dying(self, record, *, sessions):
            nonlocal seen
            number = add(self, record, sessions=sessions)
            seen += 1
            if seen == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        compressed.ColdRecords.add = dying  # type: ignore[method-assign]
        hx.xdb.check_and_compress(max_storage_bytes=0)
        os.write(1, b"survived\n")


if __name__ == "__main__":
    {"fill": fill, "compress": compress, "die": compress_and_die}[sys.argv[1]](
        Path(sys.argv[2]), int(sys.argv[3])
    )
