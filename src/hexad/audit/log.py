"""What reviewers use: `AuditLog`. Every question needs a credential and becomes a record itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from hexad.audit.admission import KEY_NAME, Admission
from hexad.audit.checkpoint import (
    Checkpoint,
    Verifier,
    consistency_proof,
    inclusion_proof,
    read_signed,
    root_of,
    sign,
)
from hexad.audit.erase_contents import count_selected, destroy
from hexad.audit.export_file import OF_INCIDENT, OF_QUESTION, Shown, write_export
from hexad.audit.incidents import Incidents, span_of, times_of
from hexad.audit.ledger import ERASURE, LedgerQuery, holds
from hexad.audit.open import Key, open_with_key, require_whole
from hexad.audit.retention import Keeping
from hexad.audit.reviewers import EXPORT, PLANNED, QUERY, REFUSED, SYSTEM, without_secrets
from hexad.audit.values import AuditRecord, Destroyed, Incident, Mark, Reviewer, Verification
from hexad.audit.verify import verify
from hexad.core.arguments import (
    is_whole,
    parse_choice,
    parse_path,
    parse_text,
    parse_whole,
    quoted,
    require_function,
    value_list,
    word_list,
)
from hexad.core.clock import Clock, SystemClock
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.secure_delete import clear_pages, empty_log
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import AccessDenied, Conflict, InvalidInput, NotFound

LISTED: Final = "reviewer.incidents"
EXPORTED: Final = "reviewer.incident_export"


class Marking:
    """The incidents of one ledger."""

    def __init__(self, desk: Admission) -> None:
        self._desk = desk
        self._incidents = Incidents(desk.ledger, desk.clock)

    def mark(
        self,
        name: str,
        reason: str,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        seq_range: tuple[int, int] | None = None,
    ) -> Mark:
        """Mark a span as part of the incident `name`: what it holds, now or later, is never archived.

        Everything that is given must hold of a record; ticks need a session. That it was marked, by whom and why, is a
        record, which nothing takes back; another span under the same name adds to it. The reason is kept encrypted.
        Raises `InvalidInput`, and `AccessDenied` as for every question, or for a session beyond the reviewer's.
        """
        span = span_of(session_id, tick_range, time_range, seq_range)
        reviewer = self._desk.admitted(reviewer_credential)
        if reviewer.sessions is not None and span.session not in reviewer.sessions:
            self._desk.note(REFUSED, {"name": reviewer.name, "doing": "mark what is beyond"})
            raise AccessDenied(f"{reviewer.name} may read some sessions only, and so mark only those.")
        return self._incidents.mark(name, span, author=reviewer.name, reason=reason, mask=self._desk.mask)

    def get(self, name: str, *, reviewer_credential: str) -> Incident:
        """Return an incident; the question is a record. Raises `NotFound`."""
        reviewer = self._desk.admitted(reviewer_credential)
        incident = self._named(name, reviewer)
        self._desk.note(LISTED, {"reviewer": reviewer.name, "name": name, "shown": 1})
        return incident

    def export(
        self, name: str, out: Path | str, *, reviewer_credential: str, archives: Sequence[Path | str] = ()
    ) -> int:
        """Write the records of an incident into the new private file `out`, decrypted, with proofs; return how many.

        Each line has a record, the bytes that its hash is of, what shows that its contents are those, and an inclusion
        proof for the checkpoint of the first line: `check_incident` checks it all without the ledger. Records that had
        left for `archives` before they were marked are in it when those are given.

        Raises `Conflict` where there is a file, `NotFound`, and `AccessDenied` as for every question.
        """
        path = Path(out)
        _require_absent(path)
        reviewer = self._desk.admitted(reviewer_credential)
        incident = self._named(name, reviewer)
        self._desk.note(EXPORTED, {"reviewer": reviewer.name, "name": name})
        ledger = self._desk.ledger
        with ledger.db.read():
            records = self._shown(incident, archives)
            write_export(
                path,
                self._desk,
                OF_INCIDENT,
                {"incident": incident.to_dict(), "records": len(records)},
                records,
                leaves={record.seq: record.leaf for record in records if record.is_archived},
                may_replace=lambda: _require_absent(path),
            )
        return len(records)

    def _shown(self, incident: Incident, archives: Sequence[Path | str]) -> list[Shown]:
        """Return the records of an incident, those that are in archives too."""
        ledger = self._desk.ledger
        spans = [mark.span for mark in incident.marks]
        records: dict[int, Shown] = {}
        for seq in self._incidents.numbers(spans):
            for entry in ledger.stored(seq):
                records[seq] = Shown.of(ledger, *entry)
        queries = [self._incidents.asked(span) for span in spans]
        for path in archives:
            archive, _ = self._desk.archiver.named(Path(path))
            for record in archive.entries():
                document = record.record()
                if any(holds(each, document) for each in queries):
                    shown = Shown.of(
                        ledger, record.seq, record.body, ledger.gaps.nonce(record.seq), record.ciphertext
                    )
                    records[record.seq] = replace(shown, is_archived=True)
        return [records[seq] for seq in sorted(records)]

    def _named(self, name: str, reviewer: Reviewer) -> Incident:
        for incident in self._within(reviewer):
            if incident.name == name:
                return incident
        raise NotFound(f"There is no incident {name!r}. See `hexad audit incident list`.")

    def _within(self, reviewer: Reviewer) -> list[Incident]:
        incidents = self._incidents.all()
        if reviewer.sessions is None:
            return incidents
        known = []
        for incident in incidents:
            marks = [mark for mark in incident.marks if mark.span.session in reviewer.sessions]
            if marks:
                records = len(self._incidents.numbers(mark.span for mark in marks))
                known.append(replace(incident, marks=marks, records=records))
        return known

    def list(self, *, reviewer_credential: str) -> list[Incident]:
        """Return the incidents by name, as far as the reviewer's scope goes; the question is a record."""
        reviewer = self._desk.admitted(reviewer_credential)
        incidents = self._within(reviewer)
        self._desk.note(LISTED, {"reviewer": reviewer.name, "shown": len(incidents)})
        return incidents


def _require_absent(path: Path) -> None:
    if path.exists():
        raise Conflict(f"{path} is there already. Give another name, or move it away.")


QUERY_LIMIT: Final = 100_000
EXPORT_PAGE: Final = 1_000
_SIZE_LIMIT: Final = 1 << 62
_DIGITS_LIMIT: Final = 19


@all_failures_translated
class AuditLog:
    """Reads and checks a ledger (document 2, section 5.1). `path` is its folder or a store's.

    Raises `NotFound` where there is none, unless `create` says to make it, and `IntegrityError` for a store's ledger
    that does not go on from what the store noted of it. `key` is as for `AuditLogWriter`.
    `reviewers`, `incidents` and `retention` say who may read, what is kept for good, and what moves to archives.
    """

    def __init__(
        self, path: Path | str, *, clock: Clock | None = None, create: bool = False, key: Key = None
    ) -> None:
        self._clock = clock or SystemClock()
        self._open = open_with_key(
            parse_path(path, "path"), clock=self._clock, create=create, key=key, purpose="audit reader"
        )
        self._ledger = self._open.ledger
        try:
            require_whole(self._open)
        except BaseException:
            self._open.close()
            raise
        self._desk = Admission(self._open)
        self.reviewers = self._desk.reviewers
        self.incidents = Marking(self._desk)
        self.retention = Keeping(self._desk)

    def query(
        self,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        kinds: Sequence[str] | None = None,
        limit: int = 100,
        offset: int = 0,
        archive: Path | str | None = None,
    ) -> list[AuditRecord]:
        """Return records in their order, decrypted, as far as the reviewer's scope goes; with `archive`, of that file.

        The question, who asked it and how many records it showed are a record of the ledger before this returns.
        Raises `AccessDenied` for a credential that does not hold; that attempt is a record too.
        """
        if not (is_whole(limit, 1, QUERY_LIMIT) and is_whole(offset, 0, _SIZE_LIMIT - 1)):
            raise InvalidInput(
                f"limit = {quoted(limit)} and offset = {quoted(offset)} must be whole numbers, the limit from 1 to "
                f"{QUERY_LIMIT:,}.",
                argument="limit",
            )
        query = _asked(session_id, tick_range, time_range, event_types, kinds)
        reviewer = self._desk.admitted(reviewer_credential)
        within, where = _within(query, reviewer), dict[str, JSONValue]()
        if archive is None:
            found_records = self._ledger.query(replace(within, limit=limit, offset=offset))
        else:
            records, where = self._archived(parse_path(archive, "archive"), within)
            found_records = list(itertools.islice(records, offset, offset + limit))
        self._desk.note(
            QUERY, {"reviewer": reviewer.name, "shown": len(found_records), **_query_fields(query), **where}
        )
        return list(map(without_secrets, found_records))

    def export(
        self,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Iterator[AuditRecord]:
        """Return all records that hold, one after the other; asked and noted as by `query`, before the first is read.

        Records that are made meanwhile are not among them.
        """
        query = _asked(session_id, tick_range, time_range, event_types, kinds)
        reviewer = self._desk.admitted(reviewer_credential)
        within, _ = self._begin_export(query, reviewer)
        return self._pages(within)

    def _begin_export(
        self, query: LedgerQuery, reviewer: Reviewer
    ) -> tuple[LedgerQuery, dict[str, JSONValue]]:
        """Note an export; return what it is of, and how its record and its file name that."""
        within = replace(_within(query, reviewer), before=self._ledger.size(), limit=EXPORT_PAGE)
        asked = {"reviewer": reviewer.name, **_query_fields(query)}
        self._desk.note(EXPORT, {**asked, "shown": self._ledger.count(within)})
        return within, asked

    def export_to(
        self,
        out: Path,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        kinds: Sequence[str] | None = None,
    ) -> int:
        """Write what `export` returns as JSON lines into the new private file `out`; return how many records.

        Each line has a record, the bytes that its hash is of, what shows that its contents are those, and an inclusion
        proof for the checkpoint of the first line; the last line is a signature: `check_export` checks it all without
        the ledger. Raises `Conflict` where there is a file, `InvalidInput` where there is no folder for it.
        """
        _require_new(out)
        query = _asked(session_id, tick_range, time_range, event_types, kinds)
        within, asked = self._begin_export(query, self._desk.admitted(reviewer_credential))
        with self._ledger.db.read():
            numbers = self._ledger.numbers(within)
            write_export(
                out,
                self._desk,
                OF_QUESTION,
                {"asked": asked, "records": len(numbers)},
                (Shown.of(self._ledger, *entry) for seq in numbers for entry in self._ledger.stored(seq)),
                may_replace=lambda: _require_new(out),
            )
        return len(numbers)

    def _pages(self, query: LedgerQuery) -> Iterator[AuditRecord]:
        records = self._ledger.query(query)
        while records:
            yield from map(without_secrets, records)
            records = self._ledger.query(replace(query, after=records[-1].seq))

    def _archived(self, path: Path, query: LedgerQuery) -> tuple[Iterator[AuditRecord], dict[str, JSONValue]]:
        """Return the records of an archive that are asked for, decrypted, and how a record names the archive."""
        archive_file, seq = self._desk.archiver.named(path)

        def records() -> Iterator[AuditRecord]:
            for record in archive_file.entries():
                if holds(query, record.record()):
                    nonce = self._ledger.gaps.nonce(record.seq)
                    yield self._ledger.revealed(record.seq, record.body, nonce, record.ciphertext)

        return records(), {"archive": f"audit-{seq}"}

    def erase(
        self,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        subject: str | None = None,
        dry_run: bool = False,
    ) -> Destroyed:
        """Destroy the contents of a session, of a range of its ticks, or of a subject, in archives too; for good.

        For a ledger in a folder of its own, which no store knows: `Hexad.forget` reaches that of a store together with
        all else. What stays and verifies is as after that, and a record names who did it, how many contents went and
        nobody whose they were. Marked for an incident or not, they go. A name that is not there is no error: nothing
        went. With `dry_run` nothing goes, and that it was asked is a record. Raises `InvalidInput`, and `AccessDenied`
        as for every question, also to a reviewer of some sessions.
        """
        parse_text(subject, "subject")
        query = _asked(session_id, tick_range, None, None, None)
        if (not session_id) == (not subject) or (tick_range is not None and not session_id):
            raise InvalidInput("Name a session, perhaps with a range of its ticks, or a subject.")
        if subject == SYSTEM:
            raise InvalidInput(
                f"subject = {subject!r} is the ledger's own; nobody's data is kept under it.",
                argument="subject",
            )
        reviewer = self._desk.admitted_to_all(reviewer_credential, "erase contents")
        ticks: JSONValue = None if query.ticks is None else [list(query.ticks)]
        work: dict[str, JSONValue] = {"session": session_id, "ticks": ticks, "subject": subject}
        if dry_run:
            count = count_selected(self._ledger, [work])
            seq = self._desk.note(PLANNED, {"reviewer": reviewer.name, "contents": count})
            return Destroyed(record_id=f"audit-{seq}", contents=count, cleared=False, dry_run=True)
        with self._ledger.db.transaction():
            erasure = destroy(self._ledger, [work])
            seq = self._desk.note(ERASURE, {"by": reviewer.name, **erasure})
        cleared = clear_pages(self._ledger.db, patient=True) and empty_log(self._ledger.db)
        return Destroyed(record_id=f"audit-{seq}", contents=int(str(erasure["contents"])), cleared=cleared)

    def verify(
        self,
        *,
        checkpoints: Sequence[str] = (),
        verifiers: Sequence[str] = (),
        archives: Sequence[Path | str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check every record; with `checkpoints` (signed notes kept elsewhere) also what a chain cannot show.

        `verifiers` are public keys in their text form; without any the ledger's own key checks the notes. Records of
        `archives` are read and compared too; without their file they stand for themselves by their hashes. Needs no
        credential: it shows no contents. Raises `IntegrityError` for a checkpoint or an archive that is not signed by
        them.
        """
        if progress is not None:
            require_function(progress, "progress", given=("checked", "total"))
        keys = [Verifier.parse(verifier) for verifier in word_list(verifiers, "verifiers")] or [
            self._desk.verifier
        ]
        return verify(
            self._ledger,
            checkpoints=[
                read_signed(checkpoint, keys) for checkpoint in word_list(checkpoints, "checkpoints")
            ],
            archives=[
                self._desk.archiver.opened(parse_path(archive, "archives"))
                for archive in value_list(archives, "archives", of="files")
            ],
            progress=progress,
        )

    def checkpoint(self, out: Path | None = None) -> str:
        """Return a signed note of the ledger's size and tree hash, to be kept where nobody can change it.

        With `out` it is written there, too; raises `Conflict` where there is a file: it may be a checkpoint that nobody
        can make again.
        """
        head = self._ledger.head()
        checkpoint = Checkpoint(origin=self.origin, size=head.size, root=head.root)
        note = sign(checkpoint, name=KEY_NAME, key=self._desk.signing_key)
        if out is not None and not files.create_exclusive(out, note.encode(), mode=0o644):
            raise Conflict(f"{out} is there already, and may be an older checkpoint. Give another name.")
        return note

    @property
    def store(self) -> Path | None:
        """The folder of the store whose ledger it is; None for one in a folder of its own."""
        return self._open.store

    @property
    def origin(self) -> str:
        """The name of this ledger in checkpoints: of its key, so that no two ledgers share one."""
        return self._desk.origin

    @property
    def public_key(self) -> str:
        """The key that checks this ledger's checkpoints, in its text form `name+id+Base64`."""
        return str(self._desk.verifier)

    def inclusion_proof(self, record_id: str, *, size: int | None = None) -> list[bytes]:
        """Return what shows that a record is in the tree of the first `size` records; raises `NotFound`."""
        total = self._ledger.head().size
        seq = _seq(record_id)
        covered = total if size is None else parse_whole(size, "size", least=0)
        if not 0 <= seq < covered <= total:
            raise NotFound(f"{quoted(record_id)} is not among the first {covered} of {total} records.")
        return inclusion_proof(seq, covered, self._ledger.node)

    def consistency_proof(self, old: int, new: int | None = None) -> list[bytes]:
        """Return what shows that the tree of `old` records is the beginning of that of `new`, by default all."""
        total = self._ledger.head().size
        later = total if new is None else new
        if not (is_whole(old, 0) and is_whole(later, old, total)):
            raise InvalidInput(
                f"{quoted(old)} and {quoted(later)} are no sizes of a ledger of {total} records."
            )
        return consistency_proof(old, later, self._ledger.node)

    def leaf(self, record_id: str) -> bytes:
        """Return the hash by which a record stands in the tree; raises `NotFound`."""
        seq, total = _seq(record_id), self._ledger.size()
        if not 0 <= seq < total:
            raise NotFound(f"{record_id!r} is not among the {total} records.")
        return self._ledger.node(0, seq)

    @property
    def size(self) -> int:
        """How many records there are."""
        return self._ledger.size()

    def root(self, size: int) -> bytes:
        """Return the tree hash of the first `size` records."""
        total = self._ledger.head().size
        if not is_whole(size, 0, total):
            raise InvalidInput(f"{quoted(size)} is no size of a ledger of {total} records.")
        return root_of(size, self._ledger.node)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger. Idempotent."""
        self._open.close()


def _require_new(path: Path) -> None:
    if path.exists():
        raise Conflict(f"{path} is there already. Give another name, or move it away.")
    if not path.parent.is_dir():
        raise InvalidInput(
            f"{path} cannot be written: there is no folder {path.parent}. Make it, or name another."
        )


def _asked(
    session_id: str | None,
    ticks: tuple[int, int] | None,
    times: tuple[datetime | str, datetime | str] | None,
    event_types: Sequence[EventType | str] | None,
    kinds: Sequence[str] | None,
) -> LedgerQuery:
    """Return what is asked for; raises `InvalidInput` for what cannot be."""
    if ticks is not None and not (
        isinstance(ticks, tuple | list)
        and len(ticks) == 2
        and all(map(is_whole, ticks))
        and 0 <= ticks[0] <= ticks[1] < 1 << 63
    ):
        raise InvalidInput(
            f"tick_range = {quoted(ticks)} is no range; give (first, last), both from 0 on.",
            argument="tick_range",
        )
    parse_text(session_id, "session_id")
    return LedgerQuery(
        sessions=None if session_id is None else [session_id],
        ticks=ticks,
        times=times_of(times),
        event_types=None
        if event_types is None
        else [
            parse_choice(EventType, event_type, "event_types")
            for event_type in value_list(event_types, "event_types", of="types")
        ],
        kinds=None if kinds is None else list(word_list(kinds, "kinds")),
    )


def _query_fields(query: LedgerQuery) -> dict[str, JSONValue]:
    """Return how the record of a question repeats it."""
    types = query.event_types
    return {
        "session": None if query.sessions is None else query.sessions[0],
        "ticks": None if query.ticks is None else list(query.ticks),
        "times": None if query.times is None else [time.isoformat() for time in query.times],
        "event_types": None if types is None else [event_type.value for event_type in types],
        "kinds": None if query.kinds is None else list(query.kinds),
    }


def _within(query: LedgerQuery, reviewer: Reviewer) -> LedgerQuery:
    """Return the question as far as the reviewer's scope goes."""
    if reviewer.sessions is None:
        return query
    wanted_sessions = (
        reviewer.sessions
        if query.sessions is None
        else [session for session in query.sessions if session in reviewer.sessions]
    )
    return replace(query, sessions=list(wanted_sessions))


def _seq(record_id: str) -> int:
    number = str(record_id).removeprefix("audit-")
    if not str(record_id).startswith("audit-") or not (number.isascii() and number.isdecimal()):
        raise InvalidInput(f"{quoted(record_id)} is no record; ids look like audit-N.")
    # More digits than any ledger has records: Python refuses to read some of them.
    return int(number) if len(number) < _DIGITS_LIMIT else _SIZE_LIMIT
