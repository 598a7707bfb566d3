"""`hexad xdb buds`, `bud …`, `submit`, `resolve`, `export`, `verify`: candidate concepts, submissions, evidence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import EXIT_INTEGRITY, Command, Group, NamedPath, confirm, note, state
from hexad.interfaces.cli.app.completion import bud_names, concept_ids, submission_ids, tag_names
from hexad.interfaces.cli.experience.options import tag_of
from hexad.interfaces.cli.experience.recall import print_steps
from hexad.interfaces.cli.experience.render import tag_kind, tag_table
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad import Hexad, Submission, Tag


_STATUSES: Final = [bud_status.value for bud_status in hexad.BudStatus]


@click.command(cls=Command)
@click.option("--status", type=click.Choice(_STATUSES), help="Only those in this state.")
def buds(status: str | None) -> None:
    """List the buds: candidate concepts with examples."""
    with state().opened() as hx:
        tags = hx.xdb.get_buds(status)
    show(tags, table=_buds_lines(tags, status))


def _buds_lines(tags: list[Tag], status: str | None) -> Iterator[str]:
    if not tags:
        note(
            "No buds yet; `hexad xdb bud create` makes one." if status is None else "No bud is in this state."
        )
        return
    yield from tag_table(tags, room=table_room())


@click.group(cls=Group)
@click.pass_context
def bud(ctx: click.Context) -> None:
    """Create, promote and move buds, list their examples."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _show(tag: hexad.Tag, *, done: str) -> None:
    show(tag, table=f"{clean(tag.id)}  {done}  {clean(tag.name)}  ({clean(tag_kind(tag))})")


@bud.command()
@click.argument("name")
@click.argument("description", required=False)
@click.option("--description", "described", metavar="TEXT", help="What is meant, in place of DESCRIPTION.")
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    metavar="ID",
    shell_complete=concept_ids,
    help="A concept that it is near to; repeatable.",
)
def create(name: str, description: str | None, *, described: str | None, concepts: tuple[str, ...]) -> None:
    """Create a bud with the status collecting.

    Then put it on experience with `hexad xdb tag`.
    """
    text = description if described is None else described
    if text is None or None not in (description, described):
        raise click.UsageError("Say once what is meant: as DESCRIPTION, or with --description.")
    with state().opened() as hx:
        tag = hx.xdb.create_bud_tag(name, text, related_concepts=concepts)
    _show(tag, done="bud")


@bud.command()
@click.argument("tag", shell_complete=tag_names)
def promote(tag: str) -> None:
    """Turn a tag into a bud with the status collecting.

    Its uses stay.
    """
    with state().opened() as hx:
        new_tag = hx.xdb.promote_to_bud(tag_of(hx, tag).id)
    _show(new_tag, done="bud")


@bud.command()
@click.argument("tag", shell_complete=bud_names)
def ready(tag: str) -> None:
    """Note that a bud has enough examples."""
    with state().opened() as hx:
        moved = hx.xdb.mark_bud_ready(tag_of(hx, tag).id)
    _show(moved, done=moved.bud_status.value if moved.bud_status else "")


@bud.command()
@click.argument("tag", shell_complete=bud_names)
@click.argument("status", metavar="STATUS", type=click.Choice(_STATUSES))
def status(tag: str, status: str) -> None:
    """Move a bud to a status."""
    with state().opened() as hx:
        moved = hx.xdb.update_bud_status(tag_of(hx, tag).id, status)
    _show(moved, done=status)


@bud.command()
@click.argument("tag", shell_complete=bud_names)
@click.option("--limit", type=int, default=100, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def examples(tag: str, *, limit: int, offset: int) -> None:
    """Show the timesteps that carry a bud.

    By themselves, by their event, or in a range.
    """
    with state().opened() as hx:
        with waiting("Looking"):
            steps = hx.xdb.get_bud_examples(tag_of(hx, tag).id, limit=limit, offset=offset)
    print_steps(steps)


_SUBMISSION_STATUSES: Final = [submission_status.value for submission_status in hexad.SubmissionStatus]
_SEE: Final = "see with --dry-run what would become of it"


@click.command(cls=Command)
@click.argument("bud", shell_complete=bud_names)
@click.argument("submission")
def submit(bud: str, submission: str) -> None:
    """Submit the bud BUD under the id SUBMISSION.

    Its examples are kept in full detail as evidence until the submission is resolved. `hexad xdb export SUBMISSION`
    writes them as a package.
    """
    with state().opened() as hx, waiting("Submitting"):
        windows = hx.xdb.submit_graft(tag_of(hx, bud).id, submission)
        new_submission = hx.xdb.get_submission(submission)
    show(new_submission, table=f"{clean(new_submission.id)}  submitted  {count(len(windows), 'window')}")


@click.command(cls=Command)
@click.argument("submission", shell_complete=submission_ids)
@click.option("--accepted/--rejected", "accepted", default=None, help="The outcome.")
@click.option("--dry-run", is_flag=True, help="Only report what would happen to its windows.")
@click.option("--yes", is_flag=True, help="Do not ask before detail is given up.")
def resolve(submission: str, *, accepted: bool | None, dry_run: bool, yes: bool) -> None:
    """Record the outcome of a submission.

    --accepted: whoever took it has the evidence; its windows become a summary for each event, and their tokens are
    gone. --rejected: they stay for a time of grace, in which they can be pinned. What another submission needs stays.
    """
    if accepted is None:
        raise click.UsageError("Say --accepted or --rejected.")
    with state().opened() as hx:
        submission_info = hx.xdb.get_submission(submission)
        mine = [
            window
            for window in hx.xdb.get_windows_for_submission(submission)
            if set(window.submission_ids) == {submission}
        ]
        tokens = sum(window.token_count for window in mine)
        what = f"{count(len(mine), 'window')} with {count(tokens, 'token')}"
        if not dry_run:
            if accepted and mine:
                confirm(f"Give up the detail of {what}?", yes=yes, without=_SEE)
            with waiting("Resolving"):
                submission_info = hx.xdb.resolve_submission(submission, accepted)
    show(
        {**submission_info.to_dict(), "released_windows": [window.id for window in mine], "dry_run": dry_run},
        table=_resolve_lines(dry_run, what, accepted, submission_info),
    )


def _resolve_lines(dry_run: bool, what: str, accepted: bool, submission_info: Submission) -> Iterator[str]:
    if dry_run:
        yield f"{clean(submission_info.id)}  {what} would be {'cold' if accepted else 'warm, for a time of grace'}"
    else:
        yield f"{clean(submission_info.id)}  {submission_info.status.value}  {what} released"


@click.command(cls=Command)
@click.option("--status", type=click.Choice(_SUBMISSION_STATUSES), help="Only those in this state.")
def submissions(status: str | None) -> None:
    """List submissions, the oldest first."""
    with state().opened() as hx:
        submissions = hx.xdb.submissions(status)
        tags = {
            submission.bud_tag_id: hx.xdb.tag_index.get_tag(submission.bud_tag_id)
            for submission in submissions
        }
    show(submissions, table=_submissions_lines(submissions, status, tags))


def _submissions_lines(
    submissions: list[Submission], status: str | None, tags: dict[str, Tag | None]
) -> Iterator[str]:
    if not submissions:
        note(
            "No submissions yet; `hexad xdb submit` submits a bud."
            if status is None
            else f"No submission is {status}."
        )
        return
    rows = []
    for submission in submissions:
        tag = tags[submission.bud_tag_id]
        resolved = "–" if submission.resolved_at is None else f"{submission.resolved_at:%Y-%m-%d %H:%M}"
        rows.append(
            (
                submission.id,
                submission.status.value,
                submission.bud_tag_id if tag is None else tag.name,
                f"{len(submission.window_ids):,}",
                f"{submission.submitted_at:%Y-%m-%d %H:%M}",
                resolved,
            )
        )
    heads = ("id", "status", "bud", "windows", "submitted", "resolved")
    yield from table(
        rows, heads=heads, room=table_room(), whole=("status", "windows", "submitted", "resolved")
    )


@click.command(cls=Command)
@click.argument("submission", shell_complete=submission_ids)
@click.option("--out", type=NamedPath(path_type=Path), metavar="DIR", help="Output; default: exports/ID.")
def export(submission: str, *, out: Path | None) -> None:
    """Write the evidence of a submission as a package.

    A folder of Parquet files and a manifest with their hashes, in the store's folder exports/ unless --out is given;
    its path is printed. `hexad xdb verify` checks it.
    """
    with state().opened() as hx, waiting("Exporting"):
        path = hx.xdb.export_submission(submission, out)
    files = sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
    show({"submission_id": submission, "path": path, "files": files}, table=clean(str(path)))


@click.command(cls=Command)
@click.argument("package", shell_complete=submission_ids)
@click.pass_context
def verify(ctx: click.Context, package: str) -> None:
    """Check that a package of evidence is intact.

    PACKAGE is a submission's id, or a folder, which needs no store. Exit code 5 when it is not; each line says what is
    wrong.
    """
    with _opened_for(package) as hx, waiting("Checking"):
        problems = hx.xdb.verify_export(package)
    show({"package": package, "problems": problems}, table=_verify_lines(problems, package))
    if problems:
        ctx.exit(EXIT_INTEGRITY)


def _verify_lines(problems: list[str], package: str) -> Iterator[str]:
    for problem in problems:
        yield clean(problem)
    if not problems:
        yield f"{clean(package)}  whole"


@contextmanager
def _opened_for(package: str) -> Iterator[Hexad]:
    """Open the store; where there is none, and a folder is to be checked, a throw-away one."""
    with ExitStack() as stack:
        try:
            hx = stack.enter_context(state().opened())
        except hexad.NotFound:
            if not Path(package).is_dir():
                raise
            hx = stack.enter_context(hexad.open(":memory:", embedder=None, background=False))
        yield hx
