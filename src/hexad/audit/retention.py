"""Retention: how long timesteps stay in the ledger, and the archives that they move to."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from hexad.audit.admission import Admission
from hexad.audit.archive_file import ArchiveFile
from hexad.audit.archiving import ARCHIVE_RECORDS
from hexad.audit.checkpoint import Verifier
from hexad.audit.values import Archive, Retention
from hexad.core.arguments import is_whole, parse_time, quoted
from hexad.errors import Conflict, InvalidInput

RETENTION: Final = "retention"
POLICY: Final = "retention policy"
DAYS_LIMIT: Final = 36_500
_FOLDER: Final = "archives"
_DAY: Final = timedelta(days=1)


class Keeping:
    """Retention of one ledger: `AuditLog.retention`."""

    def __init__(self, desk: Admission) -> None:
        self._desk = desk

    @property
    def policy(self) -> Retention | None:
        """How long timesteps stay, None: for good."""
        newest = None
        for _, detail in self._desk.ledger.details(RETENTION):
            newest = detail
        if newest is None or newest["days"] is None:
            return None
        return Retention(days=newest["days"], folder=Path(newest["folder"]))

    def set(
        self, days: int | None, *, reviewer_credential: str, folder: Path | str | None = None
    ) -> Retention | None:
        """Let timesteps stay for so many days, and then move to archives in `folder`; None: for good.

        The default is the folder `archives` beside the ledger. `retain` applies it, and so does a store's `maintain`.
        Raises `InvalidInput`, and `AccessDenied` as for every question.
        """
        if days is not None and not is_whole(days, 1, DAYS_LIMIT):
            raise InvalidInput(
                f"days = {quoted(days)} must be a whole number from 1 to {DAYS_LIMIT:,}.", argument="days"
            )
        if folder is not None and not isinstance(folder, Path | str):
            raise InvalidInput(f"folder = {quoted(folder)} is no path.", argument="folder")
        reviewer = self._desk.admitted_to_all(reviewer_credential, "set how long records stay")
        place = Path(folder if folder is not None else self._desk.opened.path / _FOLDER).absolute()
        self._desk.note(
            RETENTION, {"days": days, "folder": None if days is None else str(place), "by": reviewer.name}
        )
        return self.policy

    def archive(
        self,
        out: Path | str,
        *,
        before: datetime | str,
        reviewer_credential: str,
        limit: int = ARCHIVE_RECORDS,
    ) -> Archive | None:
        """Move the timesteps older than `before` to the new private file `out`; None where there are none.

        At most `limit` records move; `more` of the result says that others could. What an incident marks stays, and so
        does everything that is no timestep. That it was done is a record itself. A file that an earlier call of this
        name left unfinished is finished.

        Raises `Conflict` where there is another file, `InvalidInput`, and `AccessDenied` as for every question.
        """
        until = parse_time(before, "before")
        if until is None or until > self._desk.clock.now():
            raise InvalidInput(
                f"before = {quoted(before)} is not over; records are archived that are older.",
                argument="before",
            )
        if not is_whole(limit, 1, ARCHIVE_RECORDS):
            raise InvalidInput(
                f"limit = {quoted(limit)} must be a whole number from 1 to {ARCHIVE_RECORDS:,}.",
                argument="limit",
            )
        reviewer = self._desk.admitted_to_all(reviewer_credential, "archive records")
        return self._desk.archiver.archive(Path(out), before=until, by=reviewer.name, limit=limit)

    def retain(self, *, limit: int = ARCHIVE_RECORDS) -> list[Archive]:
        """Apply the policy: archive all that is older than it says; returns the archives that were made.

        Needs no credential: who set the policy had one. What an earlier call left unfinished is finished first.
        """
        policy = self.policy
        if policy is None:
            return []
        archiver, archives = self._desk.archiver, list[Archive]()
        before = self._desk.clock.now() - policy.days * _DAY
        if policy.folder.is_dir():
            for path in archiver.unfinished(policy.folder):
                try:
                    archive = archiver.archive(path, before=before, by=POLICY)
                except Conflict:
                    archiver.discard(path)  # all of it is in the ledger, and an incident marks some of it now
                    continue
                archives += [] if archive is None else [archive]
        while True:
            out = policy.folder / f"archive-{self._desk.ledger.size():012}.hxa"
            archive = archiver.archive(out, before=before, by=POLICY, limit=limit)
            if archive is None:
                return archives
            archives.append(archive)

    def check(self, path: Path | str, *, verifiers: tuple[str, ...] = ()) -> Archive:
        """Check an archive of this ledger, or of those with these keys, by itself; see `check_archive`."""
        archive_file = ArchiveFile(Path(path), ciphers=self._desk.archiver.ciphers)
        archive_file.require_key(
            [Verifier.parse(verifier) for verifier in verifiers] or [self._desk.verifier]
        )
        return archive_file.check()


def check_archive(path: Path | str, *, verifiers: tuple[str, ...] = ()) -> Archive:
    """Check an archive by itself, without a ledger: its signature, every record, chain, tree and checkpoint.

    `verifiers` are public keys in their text form, one of which must have signed it; without any, compare `key` of the
    result with the one that you know. Raises `IntegrityError` where anything is wrong, and for one that is sealed.
    """
    archive_file = ArchiveFile(Path(path))
    if verifiers:
        archive_file.require_key([Verifier.parse(verifier) for verifier in verifiers])
    return archive_file.check()
