"""Incidents for reviewers: `AuditLog.incidents`. Every question needs a credential and becomes a record itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.audit.admission import Desk
from hexad.audit.checkpoint import Checkpoint, sign
from hexad.audit.incidents import Incidents, span_of
from hexad.audit.merkle import inclusion_proof
from hexad.audit.query import holds
from hexad.audit.reader.incident_file import Shown, lines
from hexad.audit.reviewers import REFUSED
from hexad.audit.values import Incident, Mark, Reviewer
from hexad.database import files
from hexad.errors import AccessDenied, Conflict, NotFound

LISTED: Final = "reviewer.incidents"
EXPORTED: Final = "reviewer.incident_export"


class Marking:
    """The incidents of one ledger."""

    def __init__(self, desk: Desk) -> None:
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
        found = self._named(name, reviewer)
        self._desk.note(LISTED, {"reviewer": reviewer.name, "name": name, "shown": 1})
        return found

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
        _require_new(path)
        reviewer = self._desk.admitted(reviewer_credential)
        incident = self._named(name, reviewer)
        self._desk.note(EXPORTED, {"reviewer": reviewer.name, "name": name})
        ledger = self._desk.ledger
        with ledger.db.read():
            head = ledger.head()
            found = self._shown(incident, archives)
            note = sign(
                Checkpoint(origin=self._desk.origin, size=head.size, root=head.root),
                name=self._desk.verifier.name,
                key=self._desk.signing_key,
            )
            leaves = {record.seq: record.leaf for record in found if record.is_archived}
            known: dict[tuple[int, int], bytes] = {}

            def node(level: int, place: int) -> bytes:
                top = known.get((level, place))
                if top is None:
                    top = known[level, place] = ledger.node(level, place, leaves)
                return top

            proved = ((record, inclusion_proof(record.seq, head.size, node)) for record in found)
            described = {
                "incident": incident.to_dict(),
                "records": len(found),
                "key": str(self._desk.verifier),
                "exported_at": self._desk.clock.now().isoformat(),
                "checkpoint": note,
            }
            written = lines(described, proved, key=self._desk.signing_key)
            files.stream_write(path, written, may_replace=lambda: _require_new(path))
        return len(found)

    def _shown(self, incident: Incident, archives: Sequence[Path | str]) -> list[Shown]:
        """Return the records of an incident, those that are in archives too."""
        ledger = self._desk.ledger
        spans = [mark.span for mark in incident.marks]
        found: dict[int, Shown] = {}
        for seq in self._incidents.numbers(spans):
            for number, body, _, nonce, ciphertext in ledger.gaps.leaving(seq, seq + 1):
                found[number] = Shown.of(ledger, number, body, nonce, ciphertext)
        asked = [self._incidents.asked(span) for span in spans]
        for path in archives:
            archive, _ = self._desk.archiver.named(Path(path))
            for record in archive.kept():
                said = record.said()
                if any(holds(each, said) for each in asked):
                    shown = Shown.of(
                        ledger, record.seq, record.body, ledger.gaps.nonce(record.seq), record.ciphertext
                    )
                    found[record.seq] = replace(shown, is_archived=True)
        return [found[seq] for seq in sorted(found)]

    def _named(self, name: str, reviewer: Reviewer) -> Incident:
        for incident in self._within(reviewer):
            if incident.name == name:
                return incident
        raise NotFound(f"There is no incident {name!r}. See `hexad audit incident list`.")

    def _within(self, reviewer: Reviewer) -> list[Incident]:
        found = self._incidents.all()
        if reviewer.sessions is None:
            return found
        known = []
        for incident in found:
            marks = [mark for mark in incident.marks if mark.span.session in reviewer.sessions]
            if marks:
                records = len(self._incidents.numbers(mark.span for mark in marks))
                known.append(replace(incident, marks=marks, records=records))
        return known

    def list(self, *, reviewer_credential: str) -> list[Incident]:
        """Return the incidents by name, as far as the reviewer's scope goes; the question is a record."""
        reviewer = self._desk.admitted(reviewer_credential)
        found = self._within(reviewer)
        self._desk.note(LISTED, {"reviewer": reviewer.name, "shown": len(found)})
        return found


def _require_new(path: Path) -> None:
    if path.exists():
        raise Conflict(f"{path} is there already. Give another name, or move it away.")
