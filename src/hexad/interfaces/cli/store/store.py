"""`hexad init`, `check`, `reindex`, `maintain`, `consolidate` and `cat`: the store itself."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.config import CONFIG_FILE, DATABASE, STORE_DIRECTORY
from hexad.interfaces.cli.app.base import (
    EXIT_INTEGRITY,
    EXIT_INTERRUPTED,
    Command,
    losses_are_told,
    note,
    print_json,
    state,
)
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, show, size
from hexad.interfaces.cli.store.encryption import (
    new_key,
    provider_options,
    said_key,
    warn_of_place,
    warn_of_variable,
)
from hexad.interfaces.cli.store.ingest import embed, warn_of_budget, warn_of_links

if TYPE_CHECKING:
    from hexad import (
        ConsolidationChange,
        ConsolidationReport,
        Detected,
        EncryptionState,
        LayerSize,
        ReindexReport,
    )


@click.command(cls=Command)
@click.argument("folder", required=False)
@click.option("--encrypt", is_flag=True, help="Encrypt all of it, from its first byte.")
@click.option("--no-detect", is_flag=True, help="Do not note what the repository's files give away.")
@provider_options
def init(
    folder: str | None, *, encrypt: bool, no_detect: bool, provider: str | None, key_file: Path | None
) -> None:
    """Create a store in FOLDER, and note what the repository there gives away.

    Default: the current folder. Writes a hexad.toml in which every setting is explained, also into a store that is
    there without one. With --encrypt, or an option that says where its key is, everything in it is encrypted; the key
    comes from --provider, else what the environment names, else the system's keyring, or a key file without one. What
    the files of a repository give away (its stack, how it is worked on) is noted as drafts, which `hexad project` lists
    and `hexad project forget-detected` takes back.
    """
    store = folder if folder is not None else state().store
    if store == "":
        raise click.UsageError("'' names no folder; leave it out for the current one.")
    if store is not None and Path(store).is_file():
        raise click.UsageError(f"{str(store)!r} is a file; give the folder of the project.")
    there = (Path.cwd() if store is None else Path(store)) / STORE_DIRECTORY / DATABASE
    is_new = not there.exists()
    encrypt = encrypt or provider is not None or key_file is not None
    key = new_key(provider, key_file) if encrypt and is_new else None
    looks: list[Detected] = []
    path = hexad.init(
        store, encrypt=encrypt, provider=provider, key=key, detect=not no_detect, on_detected=looks.append
    )
    detected = looks[0] if looks else None
    encryption_state = hexad.encryption_state(path) if is_new else None
    encryption = {} if encryption_state is None else {"encryption": encryption_state}
    show(
        {
            "path": path,
            "created": is_new,
            "detected": _facts(detected),
            "notes": () if detected is None else detected.notes,
            **encryption,
        },
        table=_created_lines(path, encryption_state, key_file, detected)
        if is_new
        else _configured_lines(path, detected),
    )


def _facts(detected: Detected | None) -> list[str]:
    return [] if detected is None else [fact.text for fact in (*detected.new, *detected.changed)]


def _detected_lines(facts: Sequence[str], notes: Sequence[str] = ()) -> Iterator[str]:
    for fact in facts:
        yield f"Detected: {clean(fact)}"
    if facts:
        note("`hexad project` lists what was detected, and `hexad project forget-detected` takes it back.")
    for line in notes:
        note(clean(line))


def _configured_lines(path: Path, detected: Detected | None) -> Iterator[str]:
    rest = "and is as it was" if detected is None else "and has what the repository gives away besides"
    yield f"Wrote {clean(str(path / CONFIG_FILE))}; the store was there, {rest}"
    yield from _detected_lines(_facts(detected), () if detected is None else detected.notes)


def _created_lines(
    path: Path, encryption: EncryptionState | None, key_file: Path | None, detected: Detected | None
) -> Iterator[str]:
    yield f"Created {clean(str(path))}"
    if encryption is not None:
        yield said_key(encryption.provider, encryption.key_file)
        warn_of_variable(encryption.key_file)
        warn_of_place(path, key_file)
    yield from _detected_lines(_facts(detected), () if detected is None else detected.notes)


@click.command(cls=Command)
@click.option(
    "--accept-losses", is_flag=True, help="Go on without files that are lost; first look for a backup."
)
@click.pass_context
def check(ctx: click.Context, *, accept_losses: bool) -> None:
    """Look for damage: rows, full text, vectors, files.

    Exit code 5 when something is wrong; each line says what, and the remedy.
    """
    with losses_are_told(), state().opened() as hx:
        before = problems = hx.check()
        if accept_losses and before:
            problems = hx.check(accept_losses=True)
        lost = hx.xdb.lost_segments()
        path = hx.path
    show(
        {"path": str(path), "problems": problems, "lost": [segment.to_dict() for segment in lost]},
        table=_check_lines(problems, path),
    )
    for problem in before:
        if problem not in problems:
            note(f"Accepted as lost: {clean(problem)}")
    for segment in lost:
        note(clean(str(segment)))
    if problems:
        ctx.exit(EXIT_INTEGRITY)


def _check_lines(problems: list[str], path: Path) -> Iterator[str]:
    for problem in problems:
        yield clean(problem)
    if not problems:
        yield f"All is well in {clean(str(path))}."


@click.command(cls=Command)
@click.option("--vectors", is_flag=True, help="Recompute all vectors, too.")
@click.option(
    "--embedder",
    metavar="SPEC",
    help="Re-embed everything with this one: default, hashing, or openai:MODEL@https://host/v1.",
)
@click.option(
    "--no-embed", is_flag=True, help="Do not compute vectors now; `hexad maintain` or a background run does."
)
def reindex(*, vectors: bool, embedder: str | None, no_embed: bool) -> None:
    """Rebuild full text, vectors and links.

    All are derived from the memories, whose ids stay. Vectors only on request; of the honeycomb's edges, those that
    somebody inserted stay as they are.
    """
    with state().opened(embeds=True) as hx:
        report = hx.reindex(embedder=embedder, vectors=vectors)
        # Links of the honeycomb follow the vectors.
        embedded = embed(hx) if (report.vectors_queued or report.links_queued) and not no_embed else 0
    show({**report.to_dict(), "embedded": embedded}, table=_reindex_lines(report, embedded))


def _reindex_lines(report: ReindexReport, embedded: int) -> Iterator[str]:
    yield f"{count(report.memories, 'memory', 'memories')} indexed anew"
    if report.vectors_queued:
        left = report.vectors_queued - embedded
        yield f"{count(embedded, 'memory', 'memories')} embedded with {report.embedder}, {left:,} left"


@click.command(cls=Command)
@click.pass_context
def maintain(ctx: click.Context) -> None:
    """Run the pending background work.

    Queued sources are ingested, what changed of what the repository gives away is noted, what is due is consolidated
    (`hexad consolidate` does it at any time), what is past the time that a policy gives it is archived or purged,
    missing vectors are computed, what instructs a model by its meaning is marked, and what was recalled is noted. Of
    experience, large or old logs are sealed, context windows that were left full, or in which nothing was recorded for
    long, are compacted, and COLD records become coarser where they are over their limit. Exit code 5 when a log is
    damaged: it stays, and is named.
    """
    with state().opened(embeds=True) as hx:
        total = hx.status().embeddings_pending
        with meter("Embedding", clock=hx.clock, unit="memories", total=total) as advance:
            report = hx.maintain(progress=lambda done: advance(done, max(total, done)))
        warn_of_budget(hx)
        warn_of_links(hx)
    show(report, table=_maintenance_lines(report))
    if report.problems:
        ctx.exit(EXIT_INTEGRITY)


def _maintenance_lines(report: hexad.MaintenanceReport) -> Iterator[str]:
    yield (
        f"{count(report.ingested, 'queued source')} ingested, "
        f"{count(report.embedded, 'memory', 'memories')} embedded, {count(report.handouts, 'recall')} noted"
    )
    if report.archived or report.purged:
        yield f"{count(report.archived, 'old memory', 'old memories')} archived, {report.purged:,} purged"
    if report.consolidated:
        yield f"{count(report.consolidated, 'change')} by consolidation (`hexad audit` lists them)"
    if report.user_layer:
        yield f"user layer: {clean(report.user_layer)}"
    yield from _detected_lines(report.detected)
    if report.linked:
        yield f"{count(report.linked, 'memory', 'memories')} linked with others"
    experience = (
        (report.sealed, count(report.sealed, "timestep"), "sealed"),
        (report.compacted, count(report.compacted, "context window"), "compacted"),
        (report.let_go, count(report.let_go, "window"), "released after its grace period"),
        (report.compressed, count(report.compressed, "COLD record"), "compressed"),
        (report.copies, count(report.copies, "working copy", "working copies"), "written anew"),
        (report.freed_bytes, size(report.freed_bytes), "freed of timesteps that are COLD"),
    )
    for number, what, done in experience:
        if number:
            yield f"{what} {done}"
    for problem in report.problems:
        note(clean(problem))
    if not any(value for name, value in report.to_dict().items() if name != "user_layer"):
        note("Nothing was waiting.")


@click.command(cls=Command)
@click.argument("file")
def cat(file: str) -> None:
    """Print the content of an encrypted FILE of the store.

    Working copies, space files, exports, packages of evidence and segments of the stream: their content goes to
    standard output as it is, and no file is written. With --json only its length and its SHA-256.
    """
    digest, size = hashlib.sha256(), 0
    with state().opened() as hx:
        for piece in hx.decrypted(file):
            digest.update(piece)
            size += len(piece)
            if not state().json:
                click.echo(piece, nl=False)
    if state().json:
        print_json({"file": file, "bytes": size, "sha256": digest.hexdigest()})


_CHANGES_SHOWN: Final = 20
_DONE: Final = {
    "promoted": "from sessions to the project",
    "confirmed": "said again",
    "done": "done",
    "merged": "merged",
    "dropped": "dropped from recall",
    "archived": "archived",
    "rescored": "weighed anew",
    "removed": "removed",
    "learned": "learned",
}


@click.command(cls=Command)
@click.option(
    "--scope",
    type=click.Choice(["session", "project", "user"]),
    help="Ended sessions, the project, or the user layer; default: all three.",
)
@click.option("--dry-run", is_flag=True, help="Only report what would be done.")
@click.option(
    "--archive-months", type=float, metavar="N", help="Archive what was untouched for N months; once."
)
@click.option("--all", "everything", is_flag=True, help="Show every change, not only the first of each kind.")
@click.pass_context
def consolidate(
    ctx: click.Context, *, scope: str | None, dry_run: bool, archive_months: float | None, everything: bool
) -> None:
    """Consolidate memories, sessions and preferences.

    What ended tasks left becomes memories of the project; duplicates are merged; what hardly matters or was untouched
    for long is archived; drafts, patterns and preferences that are not seen any more become less sure; layers over
    their quotas are made smaller. Nothing is purged, and what is pinned, decided or cited stays. Run again, it changes
    nothing. Ctrl-C ends it after the transaction that runs. `hexad maintain` does what is due by itself.
    """
    with state().opened() as hx, _until_interrupted() as stop:
        report = hx.consolidate(scope, dry_run=dry_run, archive_months=archive_months, stop=stop)
    show(report, table=_consolidation_lines(report, everything=everything))
    if report.interrupted:
        ctx.exit(EXIT_INTERRUPTED)


@contextmanager
def _until_interrupted() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C in the block ask for an end between two transactions."""
    numbers: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        numbers.append(number)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(numbers)
    finally:
        signal.signal(signal.SIGINT, before)


def _consolidation_lines(report: ConsolidationReport, *, everything: bool) -> Iterator[str]:
    for action, number in report.counts.items():
        would = "would be " if report.dry_run else ""
        yield f"{click.style(f'{number:,}', bold=True)} {would}{_DONE[action]}"
        changes = [change for change in report.changes if change.action.value == action]
        for change in changes if everything else changes[:_CHANGES_SHOWN]:
            yield f"  {_change_line(change)}"
        if len(changes) > _CHANGES_SHOWN and not everything:
            yield f"  and {len(changes) - _CHANGES_SHOWN:,} more (--all shows them)"
    if not report.changes:
        yield "Everything is in order; nothing was changed."
    for exemption in report.skipped:
        note(f"Left alone: {count(exemption.count, 'item')}: {clean(exemption.reason)}")
    for name, after in report.after.items():
        before = report.before.get(name, after)
        if (before.count, before.bytes) != (after.count, after.bytes):
            yield f"{name}: {_layer_size(before)} → {_layer_size(after)}"
    for warning in report.warnings:
        note(clean(warning))
    for undo in report.undo:
        note(clean(undo))
    if report.interrupted:
        note("It was interrupted; what was done stays done, and the next run does the rest.")


def _change_line(change: ConsolidationChange) -> str:
    suffix = "" if change.remains is None else f" into {change.remains}"
    sure = (
        ""
        if change.before is None or change.after is None
        else f" ({change.before:.2f} → {change.after:.2f})"
    )
    return clean(f"{', '.join(change.ids)}{suffix}: {change.reason}{sure}")


def _layer_size(layer_size: LayerSize) -> str:
    quota = "" if layer_size.quota is None else f" of {layer_size.quota:,}"
    return f"{layer_size.count:,}{quota} ({size(layer_size.bytes)})"
