"""Segments of the stream that are damaged and that nobody has a backup of: given up one by one, and remembered."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from hexad.core.actor import AS_OWNER
from hexad.core.arguments import quoted
from hexad.core.json_types import JSONValue
from hexad.database.codec import from_micros
from hexad.database.meta import ACCEPTED_SEGMENT, Meta
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, Conflict, NotFound, StorageFailure, StoreLocked
from hexad.experience.stream.manifest import StreamSegment
from hexad.experience.stream.sealing import Sealer
from hexad.experience.stream.segment_files import file_hash
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.losses import LostSegment, LostTicks

_RANGES_NOTED: Final = 1_000
"""Sessions whose ticks a note names, those with the most timesteps; it counts them all."""
_NAMED: Final = 5


class LostSegments:
    """Takes damaged segments out of the stream for good, and says which those were."""

    def __init__(self, context: StoreContext, sealer: Sealer, *, settle: Callable[[], object]) -> None:
        """`settle` finishes what waited for a segment, and lets the ledger take what was noted."""
        self._context, self._db, self._sealer, self._settle = context, context.db, sealer, settle
        self._manifest, self._meta, self._sessions = sealer.manifest, Meta(context.db), Sessions(context.db)

    def accept(self, name: str, *, confirm: bool) -> LostSegment:
        """Give up a segment, by its name or path; raises as `Xdb.accept_lost_segment` says."""
        actor = self._context.actor
        if not actor.is_owner:
            raise AccessDenied(
                f"A segment is given up by the store's owner alone, and {actor.describe()} is not.",
                remedy=AS_OWNER,
            )
        self._db.require_writable()
        self._damaged(name)  # what is wrong with the name or the file is said before anybody has to confirm
        if not confirm:
            raise AccessDenied(
                f"What segment {name!r} holds is removed for good, and nothing was changed. Keep a copy of the file "
                "elsewhere if it may still be repaired.",
                remedy="Confirm it with {confirm=True}.",
            )
        wait_s = self._context.settings.lock_timeout_s
        with self._sealer.exclusively(wait_s=wait_s) as upkeep:
            if upkeep is None:
                raise StoreLocked(
                    f"Another process has been writing the stream's files for {wait_s:g} s. Try again when it is "
                    "done; nothing was changed."
                )
            segment = self._damaged(name)  # a backup may be in its place by now
            with self._db.transaction():
                detail = self._detail(segment)
                self._manifest.drop(segment.name)
                self._meta.log(ACCEPTED_SEGMENT, detail, at=self._context.clock.now())
            upkeep.remove(segment.name)
        self._settle()
        return next(lost for lost in self.list() if lost.segment == segment.name)

    def list(self) -> list[LostSegment]:
        """Return the segments that were given up, the oldest first."""
        noted = self._meta.logged_as(ACCEPTED_SEGMENT)
        numbers: set[int] = {ticks[0] for _, detail in noted for ticks in detail["ranges"]}
        names = self._sessions.names(numbers)
        return [_lost(at, detail, names) for at, detail in noted]

    def _damaged(self, name: str) -> StreamSegment:
        """Return a segment that is not as it was sealed; raises `NotFound` and `Conflict` for any other."""
        segments = {segment.name: segment for segment in self._manifest.segments()}
        segment = segments.get(Path(name).name)
        if segment is None:
            if any(lost.segment == Path(name).name for lost in self.list()):
                raise NotFound(f"Segment {quoted(name)} was given up before.")
            damaged = [each.name for each in segments.values() if self._is_damaged(each)]
            there = ", ".join(damaged[:_NAMED]) + (
                f" and {len(damaged) - _NAMED} more" if len(damaged) > _NAMED else ""
            )
            raise NotFound(
                f"The stream has no segment {quoted(name)}; "
                + (f"damaged are {there}." if damaged else "none is damaged.")
            )
        if not self._is_damaged(segment):
            raise Conflict(
                f"Segment {segment.name!r} is as it was sealed, and nothing is lost. To remove what it holds, use "
                "`forget` with purge."
            )
        return segment

    def _is_damaged(self, segment: StreamSegment) -> bool:
        """Whether a segment's file is gone, cannot be read from the disk, or is not what was sealed."""
        path = self._sealer.segments / segment.name
        if path.is_dir():
            raise StorageFailure(
                f"{path} is a folder. Move it away, or put the segment there; nothing was changed."
            )
        try:
            return path.stat().st_size != segment.bytes or file_hash(path) != segment.sha256
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno == errno.EIO:
                return True
            raise StorageFailure(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error

    def _detail(self, segment: StreamSegment) -> Mapping[str, JSONValue]:
        """Return what the ledger keeps for good: numbers of sessions and no names, which an erasure could not reach."""
        ranges = self._manifest.ranges().get(segment.name, [])
        most = sorted(ranges, key=lambda each: -each.rows)[:_RANGES_NOTED]
        noted: list[JSONValue] = [
            [each.session, *each.ticks, each.rows] for each in sorted(most, key=lambda each: each.session)
        ]
        return {
            "by": self._context.actor.describe(),
            "segment": segment.name,
            "sha256": segment.sha256,
            "timesteps": segment.rows,
            "from": min((each.times[0] for each in ranges), default=0),
            "to": max((each.times[1] for each in ranges), default=0),
            "sessions": len(ranges),
            "ranges": noted,
        }


def _lost(at: datetime, detail: Mapping[str, Any], names: Mapping[int, str]) -> LostSegment:
    return LostSegment(
        segment=detail["segment"],
        at=at,
        by=detail["by"],
        timesteps=detail["timesteps"],
        since=from_micros(detail["from"]),
        until=from_micros(detail["to"]),
        sessions=detail["sessions"],
        ranges=tuple(
            LostTicks(session_id=names.get(number), first_tick=first, last_tick=last, timesteps=rows)
            for number, first, last, rows in detail["ranges"]
        ),
    )
