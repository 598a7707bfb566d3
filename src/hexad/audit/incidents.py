"""Incidents: spans of the ledger that somebody marked. Marks are records, and what they mark is never archived."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from hexad.audit.archived_records import ArchiveCandidate
from hexad.audit.ledger import Ledger, LedgerQuery
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import Incident, Mark, NewAuditRecord, Span
from hexad.core.arguments import parse_time, quoted
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.codec import from_micros, to_micros
from hexad.errors import InvalidInput

INCIDENT: Final = "incident"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_REASON_CHARS: Final = 10_000


def span_of(
    session: str | None,
    ticks: tuple[int, int] | None,
    times: tuple[datetime | str, datetime | str] | None,
    seqs: tuple[int, int] | None,
) -> Span:
    """Return a span of what was given; raises `InvalidInput` for one that marks nothing in particular."""
    if session is not None and (not isinstance(session, str) or not session):
        raise InvalidInput(f"session = {quoted(session)} is no session; give its id.", argument="session")
    for name, pair in (("ticks", ticks), ("seqs", seqs)):
        if pair is not None and not _is_range(pair):
            raise InvalidInput(
                f"{name} = {quoted(pair)} is no range; give (first, last), both from 0 on.", argument=name
            )
    if ticks is not None and session is None:
        raise InvalidInput("Ticks are counted in each session by itself: give the session, too.")
    if session is None and times is None and seqs is None:
        raise InvalidInput("An incident marks a session, times or records: give one of them.")
    return Span(
        session=session,
        ticks=None if ticks is None else (ticks[0], ticks[1]),
        times=times_of(times),
        seqs=None if seqs is None else (seqs[0], seqs[1]),
    )


def times_of(time_range: tuple[datetime | str, datetime | str] | None) -> tuple[datetime, datetime] | None:
    """Return two times in their order; raises `InvalidInput`."""
    if time_range is None:
        return None
    if not isinstance(time_range, tuple | list) or len(time_range) != 2:
        raise InvalidInput(
            f"time_range = {quoted(time_range)} is no range; give (since, until).", argument="time_range"
        )
    since, until = (parse_time(time, f"time_range[{at}]") for at, time in enumerate(time_range))
    if since is None or until is None or since > until:
        raise InvalidInput(
            f"time_range = {quoted(time_range)} is no range; give (since, until), the earlier first.",
            argument="time_range",
        )
    return since, until


class Incidents:
    """The incidents of one ledger."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    def mark(
        self, name: str, span: Span, *, author: str, reason: str, mask: Callable[[str], str] = str
    ) -> Mark:
        """Mark a span; a name that is there gains one more. Raises `InvalidInput`."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(
                f"An incident's name has letters, digits and . _ -, at most 128; not {quoted(name)}."
            )
        if not isinstance(reason, str) or not reason.strip() or len(reason) > _REASON_CHARS:
            raise InvalidInput(f"Say why it is an incident, in at most {_REASON_CHARS:,} characters.")
        detail: dict[str, JSONValue] = {
            "name": name,
            "author": author,
            "session": span.session,
            "ticks": None if span.ticks is None else list(span.ticks),
            "times": None if span.times is None else [to_micros(time) for time in span.times],
            "seqs": None if span.seqs is None else list(span.seqs),
        }
        record = NewAuditRecord(
            kind=INCIDENT,
            at=self._clock.now(),
            subject=SYSTEM,
            detail=detail,
            payload={"detail": {"reason": mask(reason)}},  # it may speak of persons: kept as contents are
        )
        (seq,) = self._ledger.append([record])
        return Mark(record_id=f"audit-{seq}", at=record.at, author=author, reason=mask(reason), span=span)

    def all(self) -> list[Incident]:
        """Return the incidents by name, with how many records of each are in the ledger."""
        marks: dict[str, list[Mark]] = {}
        query = LedgerQuery(kinds=[INCIDENT], limit=-1)
        for record in self._ledger.query(query):
            mark = Mark(
                record_id=record.id,
                at=record.timestamp,
                author=str(record.detail.get("author")),
                reason=str(record.detail.get("reason", "(erased)")),
                span=_span(dict(record.detail)),
            )
            marks.setdefault(str(record.detail["name"]), []).append(mark)
        return [
            Incident(name=name, marks=marks, records=len(self.numbers(mark.span for mark in marks)))
            for name, marks in sorted(marks.items())
        ]

    def asked(self, span: Span) -> LedgerQuery:
        """Return the question for the records of a span."""
        return LedgerQuery(
            sessions=None if span.session is None else [span.session],
            ticks=span.ticks,
            times=span.times,
            after=-1 if span.seqs is None else span.seqs[0] - 1,
            before=None if span.seqs is None else span.seqs[1] + 1,
        )

    def numbers(self, spans: Iterable[Span]) -> list[int]:
        """Return the numbers of the records of these spans that are in the ledger, each once, in their order."""
        numbers = set[int]()
        for span in spans:
            numbers.update(self._ledger.numbers(self.asked(span)))
        return sorted(numbers)

    def newest(self) -> int:
        """Return the number of the record that marked last, -1 where nothing is marked."""
        return max((seq for seq, _ in self._ledger.details(INCIDENT)), default=-1)

    def protector(self) -> Callable[[ArchiveCandidate], bool]:
        """Return what says whether a record is part of an incident."""
        spans = [_span(detail) for _, detail in self._ledger.details(INCIDENT)]
        anywhere = [_bounds(span) for span in spans if span.session is None]
        by_session: dict[str, list[_Bounds]] = {}
        for span in spans:
            if span.session is not None:
                by_session.setdefault(span.session, []).append(_bounds(span))

        def is_marked(candidate: ArchiveCandidate) -> bool:
            return _any(candidate, anywhere) or (
                candidate.session is not None and _any(candidate, by_session.get(candidate.session, ()))
            )

        return is_marked


_Bounds = tuple[tuple[int, int] | None, tuple[int, int] | None, tuple[int, int] | None]


def _bounds(span: Span) -> _Bounds:
    times = None if span.times is None else (to_micros(span.times[0]), to_micros(span.times[1]))
    return span.ticks, times, span.seqs


def _any(candidate: ArchiveCandidate, bounds: Iterable[_Bounds]) -> bool:
    for ticks, times, seqs in bounds:
        if (
            (ticks is None or (candidate.tick is not None and ticks[0] <= candidate.tick <= ticks[1]))
            and (times is None or times[0] <= candidate.at < times[1])
            and (seqs is None or seqs[0] <= candidate.seq <= seqs[1])
        ):
            return True
    return False


def _span(detail: dict[str, Any]) -> Span:
    times = detail["times"]
    return Span(
        session=detail["session"],
        ticks=_pair(detail["ticks"]),
        times=None if times is None else (from_micros(times[0]), from_micros(times[1])),
        seqs=_pair(detail["seqs"]),
    )


def _pair(ticks: Sequence[int] | None) -> tuple[int, int] | None:
    return None if ticks is None else (ticks[0], ticks[1])


def _is_range(value: object) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(type(bound) is int for bound in value)
        and 0 <= value[0] <= value[1] < 1 << 62
    )
