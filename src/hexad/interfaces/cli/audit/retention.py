"""`hexad audit archive`, `retain`, `erase`, `inspect`: what leaves the ledger, and is still proved by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import hexad
from hexad.audit import check_archive, check_export, check_incident
from hexad.audit.archive_file import FORM
from hexad.audit.export_file import OF_QUESTION, form_of
from hexad.interfaces.cli.app.base import Command, NamedPath, confirm, note
from hexad.interfaces.cli.audit.audit import credential_of, credential_option, ledger_of, ledger_option
from hexad.interfaces.cli.experience.options import TICKS
from hexad.interfaces.cli.output.render import clean, count, show

if TYPE_CHECKING:
    from hexad.audit import Archive, AuditLog, Destroyed, IncidentExport, LedgerExport, Retention

_FILE = NamedPath(path_type=Path, exists=True, dir_okay=False)


@click.command(cls=Command)
@click.option("--before", required=True, metavar="TIME", help="What is older: RFC 3339 or a date.")
@click.option("--out", required=True, type=NamedPath(path_type=Path), metavar="FILE", help="Output file.")
@credential_option
@ledger_option
def archive(*, before: str, out: Path, credential: str | None, ledger: Path | None) -> None:
    """Move old timesteps out of the ledger into FILE, with proofs.

    Ledger and archive can both be checked afterwards, by themselves and against each other. Decisions, erasures,
    reviewers' records and what an incident marks stay. Needs the credential of a reviewer who may read everything. What
    an interrupted call left in FILE is finished; any other file is left alone. Keep archives: nothing else has what is
    in them.
    """
    with ledger_of(ledger) as log:
        archive = log.retention.archive(out, before=before, reviewer_credential=credential_of(credential))
    show(archive, table=_archive_lines(archive, before))


def _archive_lines(archive: Archive | None, before: str) -> Iterator[str]:
    if archive is None:
        yield f"Nothing in the ledger is older than {before} and may leave it."
    else:
        yield _archived_line(archive)
        if archive.more:
            note("There is more: an archive has a limit. Run it again with another FILE.")


@click.command(cls=Command)
@click.option(
    "--keep", type=click.IntRange(1, 36_500), metavar="DAYS", help="From now on, keep timesteps so many days."
)
@click.option("--keep-all", is_flag=True, help="From now on, keep all timesteps in the ledger.")
@click.option(
    "--into",
    type=NamedPath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="With --keep: where archives go; default: `archives` beside the ledger.",
)
@credential_option
@ledger_option
def retain(
    *, keep: int | None, keep_all: bool, into: Path | None, credential: str | None, ledger: Path | None
) -> None:
    """Archive what the ledger's policy says.

    `hexad maintain` does the same. With --keep or --keep-all the policy is set first, which needs the credential of a
    reviewer who may read everything; that it was set is a record.
    """
    if keep is not None and keep_all:
        raise click.UsageError("Give --keep or --keep-all, not both.")
    if into is not None and keep is None:
        raise click.UsageError("--into goes with --keep.")
    with ledger_of(ledger) as log:
        if keep is not None or keep_all:
            log.retention.set(keep, folder=into, reviewer_credential=credential_of(credential))
        policy, archives = log.retention.policy, log.retention.retain()
    show({"policy": policy, "archives": archives}, table=_retain_lines(policy, archives))


def _retain_lines(policy: Retention | None, archives: Sequence[Archive]) -> Iterator[str]:
    if policy is None:
        yield "All timesteps stay in the ledger. Set a limit: `hexad audit retain --keep DAYS`."
        return
    yield f"Timesteps stay for {count(policy.days, 'day')}, then move to {clean(str(policy.folder))}"
    yield from map(_archived_line, archives)


@click.command(cls=Command)
@click.option("--session", "session_id", metavar="ID", help="The contents of this session.")
@click.option(
    "--ticks",
    "tick_range",
    type=TICKS,
    metavar="A-B",
    help="With --session: of these ticks alone, both included.",
)
@click.option("--subject", metavar="NAME", help="The contents of this person.")
@click.option("--dry-run", is_flag=True, help="Only report how many contents would be destroyed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@credential_option
@ledger_option
def erase(
    *,
    session_id: str | None,
    tick_range: tuple[int, int] | None,
    subject: str | None,
    dry_run: bool,
    yes: bool,
    credential: str | None,
    ledger: Path | None,
) -> None:
    """Destroy contents of a ledger in a folder of its own.

    What it says of a session or of a person goes for good. Records and hashes stay, and verify; archives lose it too.
    The ledger of a store loses it by `hexad forget`, with all else that the store has; here it alone does. Needs the
    credential of a reviewer who may read everything; that it was done, or asked with --dry-run, is a record.
    """
    if (session_id is None) == (subject is None) or (tick_range is not None and session_id is None):
        raise click.UsageError("Give --session, perhaps with --ticks, or --subject.")
    with ledger_of(ledger) as log:
        known = credential_of(credential)
        if log.store is not None:
            note(
                "This is a store's ledger, and the store keeps what it has: `hexad forget --purge` takes both."
            )
        confirm(
            "Destroy these contents for good?", yes=yes or dry_run, without="see what would go: --dry-run"
        )
        done = log.erase(
            reviewer_credential=known,
            session_id=session_id,
            tick_range=tick_range,
            subject=subject,
            dry_run=dry_run,
        )
    show(done, table=_erase_lines(dry_run, done))


def _erase_lines(dry_run: bool, done: Destroyed) -> Iterator[str]:
    did = "Would destroy" if dry_run else "Destroyed"
    yield f"{did} the contents of {count(done.contents, 'record')}; {done.record_id} says so"
    if not (done.cleared or dry_run):
        note("Another program reads the ledger's files: run it again to clear them.")


@click.command(cls=Command)
@click.argument("file", type=_FILE)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="The public key that signed it, as `hexad audit key` prints it; repeat it.",
)
@ledger_option
def inspect(*, file: Path, keys: tuple[str, ...], ledger: Path | None) -> None:
    """Check an archive, or what was exported, by itself.

    Its signature, every record, and that all of them are in the tree of its checkpoint; needs no ledger and no
    credential, but for an archive that is sealed, as those of encrypted stores are. Exit code 5 when it is not whole.
    """
    if not file.is_file():
        raise hexad.NotFound(f"There is no archive at {file}.")
    with file.open("rb") as opened:
        start = opened.read(len(FORM))
    if start.startswith(b"{") and form_of(file) == OF_QUESTION:
        export = check_export(file, verifiers=keys)
        what = f"exported for {clean(export.reviewer)}"
        show(export, table=_inspect_lines(export, what, known=bool(keys)))
        return
    if start.startswith(b"{"):
        incident = check_incident(file, verifiers=keys)
        what = f"of the incident {clean(incident.name)}"
        show(incident, table=_inspect_lines(incident, what, known=bool(keys)))
        return
    if start == FORM:
        archive = check_archive(file, verifiers=keys)
    else:
        with _ledger_of_sealed(file, ledger) as log:
            archive = log.retention.check(file, verifiers=keys)
    what = f"from audit-{archive.first} to audit-{archive.past - 1}"
    show(archive, table=_inspect_lines(archive, what, known=bool(keys) or start != FORM))


def _inspect_lines(
    checked: Archive | IncidentExport | LedgerExport, what: str, *, known: bool
) -> Iterator[str]:
    yield f"{count(checked.records, 'record')} {what}, unchanged and in recording order"
    if not known:
        note(f"Signed with {checked.key}. Is that the ledger's? Give --key.")


def _archived_line(archive: Archive) -> str:
    return (
        f"Moved {count(archive.records, 'record')} to {clean(str(archive.path))}; {archive.record_id} says so"
    )


@contextmanager
def _ledger_of_sealed(file: Path, ledger: Path | None) -> Iterator[AuditLog]:
    """Open the ledger whose keys open an archive; where there is no store, that is what is missing."""
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(ledger_of(ledger))
        except hexad.NotFound as error:
            raise hexad.NotFound(
                f"{file} is sealed, or no archive. What is sealed is checked with its ledger, and here is none: name "
                "the store (-C) or --ledger."
            ) from error
        yield opened
