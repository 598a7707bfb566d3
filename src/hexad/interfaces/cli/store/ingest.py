"""`hexad ingest` and `hexad watch`: sources brought into the store, once or for as long as they change."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

import hexad
from hexad.interfaces.cli.app.base import Command, absence, note, read_stdin, state, warn
from hexad.interfaces.cli.memory.space_files import read_lines
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, clip, count, show, width
from hexad.interfaces.cli.store.doctor import SYSTEMS

if TYPE_CHECKING:
    from hexad import FolderReport, Hexad, IngestReport

_KINDS: Final = ("file", "folder", "conversation", "documents", "git")
_SKIPS_SHOWN: Final = 10
_WAITING_SHOWN = 3


@click.command(cls=Command)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--space", default="default", show_default=True, help="Space to store it in; created when new.")
@click.option(
    "--kind", type=click.Choice(_KINDS), help="Kind of the source, where its content does not tell."
)
@click.option("--tag", "tags", multiple=True, help="Tag for everything in it; may be repeated.")
@click.option("--project", help="First part of the paths; default: the folder's name.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="tool",
    show_default=True,
    help="Trust level of the source; `web` for a saved web page.",
)
@click.option(
    "--no-embed", is_flag=True, help="Do not compute vectors now; `hexad maintain` or a background run does."
)
@click.option("--dry-run", is_flag=True, help="Store nothing; only report what would be done.")
@click.option("--verbose", is_flag=True, help="Name everything that was skipped, not only the first ten.")
@click.option(
    "--from",
    "program",
    type=click.Choice(("lexon", *SYSTEMS)),
    help="SOURCE is what this program wrote: Lexon's folder, or another memory system's export or file.",
)
@click.pass_context
def ingest(
    ctx: click.Context,
    *,
    sources: tuple[str, ...],
    space: str,
    kind: str | None,
    tags: tuple[str, ...],
    project: str | None,
    trust: str,
    no_embed: bool,
    dry_run: bool,
    verbose: bool,
    program: str | None,
) -> None:
    """Bring each SOURCE into the store, or up to date.

    A SOURCE is a file, a folder, conversations or documents as .jsonl, `git:RANGE` or `git:FOLDER?RANGE` for
    a repository's commits, or `-` for a text on stdin. Unchanged items are skipped; items that vanished are archived.

    With --from lexon it is a `.lexon` folder, or the project that has one: ids, times, pins, policies and spaces
    are taken over, and a second run changes nothing; --trust is then the most that what is new is trusted. A file that
    cannot be read stops no other; the exit code is 1.

    With --from mem0, claude-mem, mempalace, memory-md or server-memory it is that system's export, database or file:
    ids, times and people are kept, what the store says already is counted and not stored again (docs/imports.md).
    `hexad doctor --memories --from` looks at one without importing it.
    """
    for source in sources:
        _must_be_there(source)
    if program in SYSTEMS and kind is not None:
        raise click.UsageError("--kind has no place beside --from, which says what it is.", ctx)
    if dry_run and (program == "lexon" or "-" in sources):
        raise click.UsageError("--dry-run is for files, folders and repositories.", ctx)
    if program == "lexon":
        _refuse_with_from(ctx)
        for source in sources:
            _must_hold_spaces(source)
        is_explicit = ctx.get_parameter_source("trust") is ParameterSource.COMMANDLINE
        ctx.exit(_read_folders(program, sources, trust=trust if is_explicit else None, no_embed=no_embed))
    reports: list[IngestReport] = []
    with _dry_store() if dry_run else state().opened(create=True, embeds=True) as hx:
        for source in sources:
            if source == "-":
                report = _stdin(hx, space=space, tags=tags, project=project, trust=trust)
            else:
                with meter("Reading", clock=hx.clock) as advance:
                    report = hx.ingest(
                        source,
                        space=space,
                        kind=kind or program,
                        tags=tags,
                        project=project,
                        trust=trust,
                        embed=False,
                        dry_run=dry_run,
                        progress=lambda at, advance=advance: advance(at.done, at.total, at.current),  # type: ignore[misc]
                    )
            reports.append(report)
            if not state().json:
                for line in report_lines(report, verbose=verbose):
                    click.echo(line)
        embedded = 0 if no_embed or dry_run else embed(hx)
    show({"reports": reports, "embedded": embedded}, table=_embedded_lines(embedded), tells=True)


def _embedded_lines(embedded: int) -> Iterator[str]:
    if embedded:
        yield f"{count(embedded, 'memory', 'memories')} embedded"


@contextmanager
def _dry_store() -> Iterator[Hexad]:
    """Open the store for a run that stores nothing; where there is none, none is made for it."""
    with ExitStack() as stack:
        try:
            hx = stack.enter_context(state().opened())
        except hexad.NotFound:
            hx = stack.enter_context(hexad.open(":memory:", embedder=None, background=False))
        yield hx


def _must_be_there(source: str) -> None:
    """Raise before a store is made for a source that is not there."""
    if source != "-" and not source.startswith("git:") and not Path(source).exists():
        raise hexad.NotFound(f"{absence(source, 'file or folder')}; check the path.")


def _must_hold_spaces(folder: str) -> None:
    """Raise before a store is made for a folder that has no space files."""
    if not any((Path(folder) / inner / "structured_memory").is_dir() for inner in ("", ".lexon")):
        raise hexad.NotFound(
            f"There is no structured_memory/ in {folder!r} and no .lexon/ that has one; name the folder that Lexon "
            "wrote."
        )


def _refuse_with_from(ctx: click.Context) -> None:
    """Raise for options that say of a source what another program's folder says itself."""
    for name in ("space", "kind", "tags", "project"):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--tag" if name == "tags" else f"--{name}"
            raise click.UsageError(f"{option} has no place beside --from: the folder says it itself.", ctx)


def _read_folders(program: str, folders: Sequence[str], *, trust: str | None, no_embed: bool) -> int:
    """Read other programs' folders; returns the exit code, 1 when a file of them could not be read."""
    reports: list[FolderReport] = []
    with state().opened(create=True, embeds=True) as hx:
        for folder in folders:
            report = hx.spaces.read_folder(folder, format=program, trust=trust)
            reports.append(report)
            if not state().json:
                _say_folder(report)
        embedded = 0 if no_embed else embed(hx)
    show({"folders": reports, "embedded": embedded}, table=_embedded_lines(embedded), tells=True)
    return 1 if any(report.failed for report in reports) else 0


def _say_folder(report: FolderReport) -> None:
    for file in report.files:
        for line in read_lines(file):
            click.echo(line)
    for skip in report.failed:
        warn(clean(f"{skip.source_id}: {skip.reason}"))
    for skip in report.not_read:
        note(clean(f"not read {skip.source_id}: {skip.reason}"))


def embed(hx: Hexad) -> int:
    """Compute what vectors are missing, showing how far it is; returns for how many memories."""
    total = hx.status().embeddings_pending
    with meter("Embedding", clock=hx.clock, unit="memories", total=total) as advance:
        done = hx.embed_pending(progress=lambda done: advance(done, max(total, done)))
    warn_of_budget(hx)
    warn_of_links(hx)
    return done


def warn_of_budget(hx: Hexad) -> None:
    """Say that vectors wait because a budget is used up."""
    if paused := hx.status().embeddings_paused:
        warn(f"Vectors wait for a budget. {paused}")


def warn_of_links(hx: Hexad) -> None:
    """Say that links wait, though this command makes what it can: for another process, or for the embedder."""
    if words := waiting_links(hx, makes=True):
        warn(words)


def waiting_links(hx: Hexad, *, makes: bool = False) -> str | None:
    """Say how many memories wait for their links in the honeycomb, and for whom; None when none does.

    `makes` says that the command would have made them.
    """
    status = hx.status()
    if not status.links_pending:
        return None
    waiting = count(status.links_pending, "memory waits", "memories wait")
    if makes and status.embedder is None:
        return f"In the honeycomb {waiting} for their links until the store is opened with its embedder."
    if status.links_made_by is None:
        return f"In the honeycomb {waiting} for their links: `hexad maintain` makes them."
    return clean(
        f"In the honeycomb {waiting} for their links, and only {status.links_made_by} may make them now. If it does "
        "not get on, end it; then `hexad maintain` makes them."
    )


def _stdin(hx: Hexad, *, space: str, tags: tuple[str, ...], project: str | None, trust: str) -> IngestReport:
    started = hx.clock.monotonic()
    metadata = None if project is None else {"project": project}
    memory = hx.remember(read_stdin(), space=space, tags=tags or None, trust=trust, metadata=metadata)
    receipt = memory.receipt
    assert receipt is not None  # what `remember` returns always has one
    fields = {
        hexad.Outcome.CREATED: "created",
        hexad.Outcome.UPDATED: "updated",
        hexad.Outcome.UNCHANGED: "unchanged",
    }
    report = hexad.IngestReport(
        source="-",
        space=space,
        redacted=receipt.redacted,
        quarantined=int(memory.status is hexad.Status.QUARANTINED),
        near_duplicates=int(bool(receipt.near_duplicates)),
        seconds=hx.clock.monotonic() - started,
    )
    setattr(report, fields.get(receipt.outcome, "repeated"), 1)
    return report


def report_lines(report: IngestReport, *, verbose: bool = False, skips: int = _SKIPS_SHOWN) -> Iterator[str]:
    """Give what a run did in a line, and what it left out in at most `skips` more, or all with `verbose`."""
    counts = (
        (report.created, "created"),
        (report.updated, "updated"),
        (report.unchanged, "unchanged"),
        (report.repeated, "repeated"),
        (report.archived, "archived"),
        (report.skips, "skipped"),
        (report.links, "linked"),
    )
    did = ", ".join(f"{number:,} {word}" for number, word in counts if number) or "nothing in it"
    if report.dry_run:
        did = f"would be {did} (dry run)"
    rate = f", {report.items / report.seconds:,.0f} items/s" if report.seconds > 0 and report.items else ""
    yield f"{report.source.removesuffix(':')}: {did} in {report.seconds:.1f} s{rate}"
    if report.redacted:
        yield f"  {count(report.redacted, 'secret or personal datum', 'secrets and personal data')} taken out"
    if report.quarantined:
        waits = "waits" if report.quarantined == 1 else "wait"
        yield f"  {report.quarantined:,} {waits} for a review: `hexad memory quarantine list`"
        for waiting in report.waiting if verbose else report.waiting[:_WAITING_SHOWN]:
            yield clip(f"  waiting {waiting.source_id}: {waiting.reason}", width())
    if report.unread_times:
        times = count(report.unread_times, "time was not read", "times were not read")
        yield f"  {times}; what they belong to is stored without one"
        for unread in report.unread if verbose else report.unread[:skips]:
            yield clip(f"  {unread.source_id}: {unread.reason}", width())
    if report.near_duplicates:
        yield f"  {count(report.near_duplicates, 'near-duplicate')}"
    for repeat in report.repeats if verbose else report.repeats[:skips]:
        yield clip(f"  not stored again {repeat.source_id}: {repeat.reason}", width())
    shown = report.skipped if verbose else report.skipped[:skips]
    for skip in shown:
        place = "" if skip.reason.startswith(f"{skip.source_id}:") else f"{skip.source_id}: "
        yield clip(f"  skipped {place}{skip.reason}", width())
    if report.skips > len(shown) > 0:
        more = "; --verbose names them" if not verbose else ""
        yield f"  … and {report.skips - len(shown):,} more skipped{more}"


@click.command(cls=Command)
@click.argument("folder")
@click.option("--space", default="default", show_default=True, help="Space to store it in; created when new.")
@click.option("--tag", "tags", multiple=True, help="Tag for everything in it; may be repeated.")
@click.option("--git", is_flag=True, help="New commits become memories, too.")
@click.pass_context
def watch(ctx: click.Context, *, folder: str, space: str, tags: tuple[str, ...], git: bool) -> None:
    """Follow FOLDER, or a pattern such as `docs/*.md`, until Ctrl-C.

    Every change passes a queue in the store, so that none is lost when the process ends. Prints a line for
    each change that it brought in.
    """
    ended = _Ended()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ended)
    with state().opened(create=True, background=True, embeds=True) as hx:
        note(f"Watching {folder}; Ctrl-C ends it.")
        hx.watch(folder, space=space, tags=tags, git=git, stop=lambda: ended.by is not None, on_report=_say)
    ctx.exit(128 + (ended.by or 0))


class _Ended:
    """Notes the signal that ends the watching, so that the change in hand is finished; a second one cuts it off."""

    def __init__(self) -> None:
        self.by: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.by is not None:
            raise KeyboardInterrupt
        self.by = number


def _say(report: IngestReport) -> None:
    if report.created or report.updated or report.archived or report.skips:
        if state().json:
            click.echo(json.dumps(report.to_dict(), ensure_ascii=False))
        else:
            for line in report_lines(report):
                click.echo(line)
