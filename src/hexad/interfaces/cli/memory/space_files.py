"""Spaces as files: `hexad spaces export`, `restore`, `verify`, `read-file` and `write-file`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import hexad
from hexad.interfaces.cli.app.base import Command, NamedPath, note, state, warn
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, show

if TYPE_CHECKING:
    from hexad import ExportReport, Hexad, ReadReport, RestoreReport, Verified

_NAMED = 10
"""How many memories that were left as they are get named; --json names all."""


@contextmanager
def _writing(hx: Hexad, space: str) -> Iterator[Callable[[int], None]]:
    total = hx.count(space=space, status=None)
    with meter("Writing", clock=hx.clock, unit="memories") as advance:
        yield lambda done: advance(done, total)


@contextmanager
def _reading(tried: Callable[[Hexad], object], *, create: bool) -> Iterator[Hexad]:
    """Open the store; one is made only for a file that a store in memory could read."""
    with ExitStack() as stack:
        try:
            hx = stack.enter_context(state().opened())
        except hexad.NotFound:
            if not create:
                raise
            with hexad.open(":memory:", actor=state().actor, embedder=None, background=False) as trial:
                tried(trial)
            hx = stack.enter_context(state().opened(create=True))
        yield hx


_capped = click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    help="Highest trust for what is new in it; default: as the file says.",
)


@click.command(cls=Command)
@click.argument("space")
@click.option("--out", metavar="FILE", help="Output; default: the policy's path.")
@click.option("--no-archived", is_flag=True, help="Leave archived memories out.")
@click.option("--force", is_flag=True, help="Replace FILE also when it is no export of this space.")
def export(*, space: str, out: str | None, no_archived: bool, force: bool) -> None:
    """Export the space SPACE as one signed JSON file.

    Without --out it goes where the policy's export_path says, else into the store's folder exports/. `hexad spaces
    verify` checks it anywhere, `hexad spaces restore` brings it back.
    """
    is_new = out is not None and not Path(out).expanduser().parent.exists()
    with state().opened() as hx, _writing(hx, space) as step:
        report = hx.spaces.export(space, out, include_archived=not no_archived, force=force, progress=step)
    show(report, table=_export_lines(report, is_new))


def _export_lines(report: ExportReport, is_new: bool) -> Iterator[str]:
    yield clean(str(report.path))
    note(f"{count(report.objects, 'memory', 'memories')}, {report.content_hash}")
    note(f"Signed with the key {report.key_fingerprint}")
    if is_new:
        note(f"Made the folder {clean(str(report.path.parent))}")


@click.command(cls=Command)
@click.argument("file", type=NamedPath(path_type=Path))
@click.option(
    "--trusted-key", metavar="KEY", help="The public key, or its fingerprint, that must have signed it."
)
def verify(file: Path, trusted_key: str | None) -> None:
    """Check that an export is intact, and who signed it.

    Needs no store, but for an export that lies in an encrypted one. Exit code 5 when it does not hold.
    """
    try:
        verified = hexad.verify_export(file, trusted_key=trusted_key)
    except hexad.AccessDenied as sealed:
        try:
            with state().opened() as hx:
                verified = hx.spaces.verify(file, trusted_key=trusted_key)
        except hexad.NotFound:
            raise sealed from None
    show(verified, table=_verify_lines(verified))


def _verify_lines(verified: Verified) -> Iterator[str]:
    what = count(verified.objects, "memory", "memories")
    yield f"{clean(verified.space)}  {what}  exported {verified.exported_at:%Y-%m-%d %H:%M}  verified"
    _say_key(verified)


def _say_key(verified: Verified) -> None:
    if verified.trusted:
        note(f"Signed with the key that you trust: {verified.key_fingerprint}")
    else:
        note(
            f"Signed with the key {verified.key_fingerprint}. Whose that is, the file cannot say: compare it with one "
            "that came another way, or give --trusted-key."
        )


@click.command(cls=Command)
@click.argument("file", type=NamedPath(path_type=Path))
@click.option(
    "--name", metavar="SPACE", help="Bring it back as this space; default: the one it was exported from."
)
@click.option(
    "--trusted-key", metavar="KEY", help="The public key, or its fingerprint, that must have signed it."
)
@click.option("--merge", is_flag=True, help="Also into a space that holds memories; newer ones there stay.")
@_capped
@click.option("--policies", is_flag=True, help="Take the policies of an export by whatever key.")
@click.option("--dry-run", is_flag=True, help="Verify, and only say what would happen.")
def restore(
    *,
    file: Path,
    name: str | None,
    trusted_key: str | None,
    merge: bool,
    trust: str | None,
    policies: bool,
    dry_run: bool,
) -> None:
    """Verify an export, and bring its space back.

    Ids, times, pins and what was archived come back as they were, and so do policies where this store's own key or
    --trusted-key signed it; else those that hide something. The space must not be there, or be empty, unless --merge
    is given. Makes a store where there is none.
    """

    def restored(hx: Hexad, *, dry_run: bool, step: Callable[[int], None] | None = None) -> RestoreReport:
        return hx.spaces.restore(
            file,
            name=name,
            trusted_key=trusted_key,
            merge=merge,
            trust=trust,
            policies=policies,
            dry_run=dry_run,
            progress=step,
        )

    with _reading(lambda trial: restored(trial, dry_run=True), create=not dry_run) as hx:
        with meter("Reading", clock=hx.clock, unit="memories") as advance:
            report = restored(hx, dry_run=dry_run, step=lambda done: advance(done, None))
    show(report, table=_restored_lines(report, dry_run=dry_run), tells=True)


def _restored_lines(report: RestoreReport, *, dry_run: bool) -> Iterator[str]:
    yield from read_lines(report.read, dry_run=dry_run)
    _say_key(report.verified)


@click.command("read-file", cls=Command)
@click.argument("file", type=NamedPath(path_type=Path))
@click.option(
    "--name", metavar="SPACE", help="Read it into this space; default: the one that the file names."
)
@_capped
@click.option("--policies", is_flag=True, help="Take the file's policies for a space that it makes.")
@click.option("--dry-run", is_flag=True, help="Only report what would happen.")
def read_file(*, file: Path, name: str | None, trust: str | None, policies: bool, dry_run: bool) -> None:
    """Merge a space's file, Hexad's or Lexon's, into its space.

    By id: a newer object changes its memory, an older one does not. Makes a store where there is none.
    """

    def tried(trial: Hexad) -> None:
        trial.spaces.read_file(file, name=name, trust=trust, policies=policies, dry_run=True)

    with _reading(tried, create=not dry_run) as hx:
        with meter("Reading", clock=hx.clock, unit="memories") as advance:
            report = hx.spaces.read_file(
                file,
                name=name,
                trust=trust,
                policies=policies,
                dry_run=dry_run,
                progress=lambda done: advance(done, None),
            )
    show(report, table=read_lines(report, dry_run=dry_run), tells=True)


def read_lines(report: ReadReport, *, dry_run: bool = False) -> Iterator[str]:
    """Give what reading a space's file did, or would do; what is to be looked at goes to stderr."""
    would = "would be " if dry_run else ""
    done = [
        f"{would}{number:,} {what}"
        for what, number in (("created", report.created), ("updated", report.updated))
        if number
    ]
    done.append(f"{report.unchanged:,} unchanged")
    yield f"{clean(report.space)}  {', '.join(done)}"
    if report.quarantined:
        waits = "waits" if report.quarantined == 1 else "wait"
        note(f"{report.quarantined:,} {waits} for a review: `hexad memory quarantine list`.")
    if report.kept:
        note(f"The store has newer: {_some(report.kept)}")
    for conflict in report.conflicts[:_NAMED]:
        warn(f"{clean(conflict.id)}: {clean(conflict.reason)}")
    if len(report.conflicts) > _NAMED:
        warn(f"{count(len(report.conflicts), 'memory', 'memories')} differ; --json names all.")
    if report.redacted:
        what = count(report.redacted, "secret or personal datum", "secrets and personal data")
        note(f"{what} taken out.")
    for line in report.notes:
        note(clean(line))


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return clean(", ".join(names[:_NAMED])) + more


@click.command("write-file", cls=Command)
@click.argument("name")
def write_file(name: str) -> None:
    """Write the space NAME as a portable file.

    The file is JSON, in the store's folder spaces/; its path is printed.
    """
    with state().opened() as hx, _writing(hx, name) as step:
        path = hx.spaces.write_file(name, progress=step)
    show({"space": name, "path": str(path)}, table=clean(str(path)))
