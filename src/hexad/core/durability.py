"""When a record of the stream of experience counts as kept; apart from the records, which a recall does without."""

from __future__ import annotations

from enum import Enum


class StreamDurability(Enum):
    """When a record of the stream is acknowledged."""

    ALWAYS = "always"
    """`record` returns when the record is on the disk; threads that record at the same time share a sync."""
    GROUP = "group"
    """`record` returns at once; at most 20 ms or 4,096 records later all are on the disk; `flush` waits for it."""
    OS = "os"
    """As `group`, without the sync: safe from the end of the process, not from lost power."""
