"""Moving old timesteps from the ledger into archives, so that nothing is lost or there twice wherever it is killed.

The file is written and read back first; then one transaction takes the records out, puts what chain and tree need in
their place, and appends the record of the archive. Killed before it, everything is in the ledger and the file is one
that no record names: the next call with that name finishes it. Only timesteps leave, and none that an incident marks:
decisions, erasures, reviewers' records, incidents and archives are what the rest is judged by.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.archive_file import ArchivedEntry, ArchiveFile, Elsewhere, Item, archive_bytes
from hexad.audit.archived_records import ARCHIVE, ArchivedRun, KeptContents, owners_digest
from hexad.audit.checkpoint import Checkpoint, Verifier, cover, root_of, sign
from hexad.audit.incidents import Incidents
from hexad.audit.ledger import Ledger
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import Archive, NewAuditRecord
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.encryption import cipher as crypto
from hexad.database.leases import Lease
from hexad.errors import Conflict, IntegrityError, NotFound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ARCHIVE_RECORDS: Final = 100_000
"""So many at most in one archive: taking them out is one transaction, for which writers wait."""
ARCHIVE_RUNS: Final = 10_000
Run = tuple[int, int]


class Archiver:
    """Makes archives of one ledger, and opens them."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        *,
        signing_key: Ed25519PrivateKey,
        verifier: Verifier,
        origin: str,
        lock: Path,
        ciphers: Sequence[crypto.FileCipher],
        seal_with: Callable[[Path], crypto.FileCipher | None],
    ) -> None:
        self._lock = lock
        self._ledger, self._clock, self._key = ledger, clock, signing_key
        self._verifier, self._origin, self.ciphers, self._seal_with = verifier, origin, ciphers, seal_with
        self._incidents = Incidents(ledger, clock)

    def archive(
        self, out: Path, *, before: datetime, by: str, limit: int = ARCHIVE_RECORDS
    ) -> Archive | None:
        """Move timesteps older than `before` to the new private file `out`; None where there are none.

        A file of that name which an earlier call left unfinished is finished. Raises `Conflict` for any other, and
        while another program archives records of this ledger.
        """
        with self._alone():
            return self._archive(out, before=before, by=by, limit=limit)

    def discard(self, path: Path) -> None:
        """Remove an archive that was not finished; one that a record names stays."""
        with self._alone():
            self._discard(self.opened(path))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        # Of two at once the second could take the first's file for its own, and one remove what the other has finished.
        with Lease(self._lock, clock=self._clock, purpose="archiving").held_for() as has_lease:
            if not has_lease:
                raise Conflict("Another program archives records of this ledger; try again when it is done.")
            yield

    def _discard(self, opened: ArchiveFile) -> None:
        if self._named_by(opened) is None:
            files.unlink(opened.path)

    def _named_by(self, opened: ArchiveFile) -> int | None:
        for seq, detail in self._ledger.details(ARCHIVE):
            if detail.get("sha256") == opened.sha256:
                return seq
        return None

    def _archive(self, out: Path, *, before: datetime, by: str, limit: int) -> Archive | None:
        if out.exists():
            return self._finish(out, by=by)
        marked = self._incidents.newest()
        with self._ledger.db.read():
            size = self._ledger.head().size
            runs, more = self._runs(before, size, limit)
            if not runs:
                return None
            self._write(out, self._written(runs, before, size))
        opened = self.opened(out)
        try:
            return self._take_out(opened, marked=marked, by=by, more=more)
        except (Conflict, IntegrityError):
            self._discard(opened)
            raise

    def opened(self, path: Path) -> ArchiveFile:
        """Return an archive of this ledger; raises `IntegrityError` for any other file."""
        archive_file = ArchiveFile(path, ciphers=self.ciphers)
        archive_file.require_key([self._verifier])
        return archive_file

    def named(self, path: Path) -> tuple[ArchiveFile, int]:
        """Return an archive that the ledger names, and the number of the record that does.

        Raises `NotFound` for one that was not finished: its records are in the ledger.
        """
        archive_file = self.opened(path)
        seq = self._named_by(archive_file)
        if seq is not None:
            return archive_file, seq
        raise NotFound(f"No record of the ledger names {path}: what it holds is in the ledger itself.")

    def unfinished(self, folder: Path) -> Iterator[Path]:
        """Yield the archives in a folder that no record names."""
        known = {str(detail.get("file")) for _, detail in self._ledger.details(ARCHIVE)}
        for path in sorted(folder.glob("*.hxa")):
            # By name first: reading all archives that there are takes longer each time.
            if path.name not in known and self._named_by(self.opened(path)) is None:
                yield path

    # Making -----------------------------------------------------------------------------------------------------

    def _runs(self, before: datetime, size: int, limit: int) -> tuple[list[Run], bool]:
        """Return the runs of records that may leave, and whether there are more than one archive takes."""
        is_marked = self._incidents.protector()
        runs, taken = list[Run](), 0
        for candidate in self._ledger.gaps.candidates(before=before, past=size):
            if is_marked(candidate):
                continue
            if taken == limit:
                return runs, True
            if runs and runs[-1][1] == candidate.seq:
                runs[-1] = runs[-1][0], candidate.seq + 1
            elif len(runs) == ARCHIVE_RUNS:
                return runs, True
            else:
                runs.append((candidate.seq, candidate.seq + 1))
            taken += 1
        return runs, False

    def _described(self, runs: Sequence[Run], before: datetime, size: int) -> dict[str, Any]:
        return {
            "origin": self._origin,
            "key": str(self._verifier),
            "made_at": self._clock.now().isoformat(),
            "before": before.isoformat(),
            "records": sum(past - first for first, past in runs),
            "contents": sum(self._ledger.gaps.contents(first, past) for first, past in runs),
            "first": runs[0][0],
            "past": runs[-1][1],
            "checkpoint": self._checkpoint(size),
        }

    def _checkpoint(self, size: int) -> str:
        checkpoint = Checkpoint(origin=self._origin, size=size, root=root_of(size, self._ledger.node))
        return sign(checkpoint, name=self._verifier.name, key=self._key)

    def _written(self, runs: Sequence[Run], before: datetime, size: int) -> Iterator[bytes]:
        described = self._described(runs, before, size)
        return archive_bytes(described, self._items(runs, size), key=self._key)

    def _write(self, out: Path, pieces: Iterator[bytes]) -> None:
        cipher = self._seal_with(out)
        files.ensure_dir(out.parent)
        files.stream_write(
            out, pieces if cipher is None else cipher.sealed(pieces), may_replace=lambda: _require_new(out)
        )

    def _items(self, runs: Sequence[Run], size: int) -> Iterator[Item]:
        at = 0
        for first, past in [*runs, (size, size)]:
            for level, place in cover(at, first):
                yield Elsewhere(level, self._ledger.node(level, place))
            for seq, body, _, _, ciphertext in self._ledger.gaps.leaving(first, past):
                yield ArchivedEntry(seq, body, ciphertext)
            at = past

    def _finish(self, path: Path, *, by: str) -> Archive:
        try:
            opened = self.opened(path)
            _, seq = self.named(path)
        except NotFound:
            marked = self._incidents.newest()
            is_marked = self._incidents.protector()
            runs = self._checked(opened)
            leaving = [
                candidate
                for first, past in runs
                for candidate in self._ledger.gaps.candidates(first=first, past=past)
            ]
            if len(leaving) != opened.records or any(map(is_marked, leaving)):
                raise Conflict(
                    f"{path} was begun and never finished, and an incident marks records of it since. They are all in"
                    " the ledger: remove the file, and archive anew."
                ) from None
            return self._take_out(opened, marked=marked, by=by, more=False)
        except IntegrityError as error:
            raise Conflict(f"{path} is there already. Give another name. ({error})") from error
        raise Conflict(f"{path} is the archive that audit-{seq} names. Give another name.")

    # Taking out -------------------------------------------------------------------------------------------------

    def _checked(self, opened: ArchiveFile) -> list[Run]:
        """Compare an archive with the ledger, record by record, and return its runs."""
        opened.check()
        runs = list[Run]()
        for run in _runs_of(opened.entries()):
            live = self._ledger.gaps.leaving(run[0].seq, run[-1].seq + 1)
            for record, there in itertools.zip_longest(run, live):
                if record is None or there is None or (record.seq, record.body) != (there[0], there[1]):
                    raise Conflict(
                        f"Of the records of {opened.path} some are not in the ledger: another archive has them."
                    )
                # Contents that were erased meanwhile leave no nonce behind, and the archive's copy stays shut.
                if there[4] is not None and record.ciphertext != there[4]:
                    raise IntegrityError(f"{opened.path} does not hold the contents of audit-{record.seq}.")
            first, past = run[0].seq, run[-1].seq + 1
            if runs and runs[-1][1] == first:
                runs[-1] = runs[-1][0], past
            else:
                runs.append((first, past))
        return runs

    def _take_out(self, opened: ArchiveFile, *, marked: int, by: str, more: bool) -> Archive:
        runs = self._checked(opened)
        ledger = self._ledger

        def unmarked() -> None:
            if self._incidents.newest() != marked:
                raise Conflict("An incident was marked while the archive was made. Archive again.")

        with ledger.db.transaction():
            number = ledger.size()
            gaps = [ledger.gaps.gap_of(first, past, named_by=number) for first, past in runs]
            ledger.gaps.take_out(gaps, unmarked)
            kept_contents = [ledger.gaps.contents_of_run(gap.first, gap.past) for gap in gaps]
            detail = _detail(opened, gaps, kept_contents, by=by)
            ledger.append([NewAuditRecord(kind=ARCHIVE, at=self._clock.now(), subject=SYSTEM, detail=detail)])
        return opened.archive(record_id=f"audit-{number}", more=more)


def _detail(
    opened: ArchiveFile,
    gaps: Sequence[ArchivedRun],
    kept_contents: Sequence[Sequence[KeptContents]],
    *,
    by: str,
) -> Mapping[str, JSONValue]:
    """Return what the record of an archive says: the file by its hash, and each run by what it is made of and whose."""
    return {
        "sha256": opened.sha256,
        "file": opened.path.name,
        "by": by,
        "before": opened.described["before"],
        "records": opened.records,
        "contents": sum(map(len, kept_contents)),
        "size": opened.checkpoint.size,
        "root": opened.checkpoint.root.hex(),
        "runs": [
            [gap.first, gap.past, gap.commitment(), len(contents), owners_digest(contents)]
            for gap, contents in zip(gaps, kept_contents, strict=True)
        ],
    }


def _runs_of(records: Iterator[ArchivedEntry], *, longest: int = 4_096) -> Iterator[list[ArchivedEntry]]:
    """Yield records that follow each other, so many at once at most."""
    run = list[ArchivedEntry]()
    for record in records:
        if run and (record.seq != run[-1].seq + 1 or len(run) == longest):
            yield run
            run = []
        run.append(record)
    if run:
        yield run


def _require_new(path: Path) -> None:
    if path.exists():
        raise Conflict(f"{path} is there already. Give another name.")
