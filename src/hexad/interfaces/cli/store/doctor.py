"""`hexad doctor`: what state the store and its surroundings are in, what is wrong, and the remedy."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click
from click.core import ParameterSource

import hexad
from hexad.interfaces.cli.app.base import (
    EXIT_INTEGRITY,
    Command,
    absence,
    losses_are_told,
    opened_or_read,
    state,
)
from hexad.interfaces.cli.output.render import clean, clip, count, hanging, show, size, width

if TYPE_CHECKING:
    from hexad import EncryptionState, Flaw, MemoryQuality, QualityFinding, StoreStatus


SYSTEMS: Final = ("mem0", "claude-mem", "mempalace", "memory-md", "server-memory")
"""Other memory systems whose exports and files are read."""
_FINDINGS_SHOWN: Final = 3
_IN_JSON: Final = 1_000
_IDS: Final = 4
_FLAWS: Final = {
    "junk": "junk",
    "duplicate": "say what another says",
    "echo": "repeat what a recall handed out",
    "stale": "stale",
    "contradiction": "contradict another",
    "secret": "hold a secret",
    "unsupported": "without provenance",
}


def refuse_audit_options(ctx: click.Context) -> None:
    """Raise for options and a file that only the audit of memories takes."""
    for name, option in (
        ("file", "FILE"),
        ("space", "--space"),
        ("program", "--from"),
        ("listed", "--list"),
        ("fail_over", "--fail-over"),
    ):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE and ctx.params[name] is not None:
            raise click.UsageError(f"{option} goes with --memories.", ctx)


def show_quality(
    ctx: click.Context,
    *,
    file: str | None,
    space: str | None,
    program: str | None,
    listed: int | None,
    fail_over: float | None,
) -> int:
    """Print an audit of memories; returns the exit code: 1 where more is wrong than `fail_over` allows."""
    number = listed if listed is not None else _IN_JSON if state().json else _FINDINGS_SHOWN
    if (file is None) != (program is None):
        raise click.UsageError("FILE and --from FORMAT go together: say what wrote the file.", ctx)
    if program is not None and file is not None:
        if space is not None:
            raise click.UsageError("--space has no place beside --from: an export has none.", ctx)
        if not Path(file).exists():
            raise hexad.NotFound(f"{absence(file, 'file or folder')}; check the path.")
        quality = hexad.export_quality(file, program, listed=number)
    else:
        with state().opened() as hx:
            quality = hx.memory_quality(space=space, listed=number)
    show(quality, table=_quality_lines(quality, number))
    return int(fail_over is not None and quality.share() > fail_over)


def _quality_lines(quality: MemoryQuality, listed: int) -> Iterator[str]:
    yield (
        f"{clean(quality.source)}: {count(quality.memories, 'memory', 'memories')}, {quality.flawed:,} with a flaw"
        f" ({quality.share():.1%}), looked at in {quality.seconds:.1f} s"
    )
    if quality.skips:
        yield f"  {count(quality.skips, 'record')} could not be read; `hexad ingest --from … --dry-run` names them"
    for flaw in hexad.Flaw:
        number = quality.counts.get(flaw, 0)
        if not number:
            continue
        head = f"{number:,} of {quality.memories:,} {_FLAWS[flaw.value]}"
        yield click.style(head, bold=True) + f" ({quality.share(flaw):.1%}): {_rules(quality, flaw)}"
        for finding in quality.of(flaw):
            yield from _finding_lines(finding)
        if listed and len(quality.of(flaw)) >= listed and number > listed:
            yield "  … --list N names more, --json with all their fields"
    if not quality.flawed:
        yield click.style("Nothing was found wrong with them.", fg="green")


def _rules(quality: MemoryQuality, flaw: Flaw) -> str:
    mine = {
        name.partition(".")[2]: n for name, n in quality.rules.items() if name.startswith(f"{flaw.value}.")
    }
    return ", ".join(
        f"{name} {n:,}" for name, n in sorted(mine.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _finding_lines(finding: QualityFinding) -> Iterator[str]:
    ids = " ".join(map(clean, finding.ids[:_IDS])) + (
        f" and {len(finding.ids) - _IDS:,} more" if len(finding.ids) > _IDS else ""
    )
    room = width()
    yield clip(f"  {ids}  {clean(finding.excerpt)}", room)
    yield clip(f"    {clean(finding.why)}", room)
    yield clip(f"    → {clean(finding.remedy)}", room)


_MOUNTS: Final = Path("/proc/self/mounts")
_FAR: Final = frozenset({"9p", "afs", "ceph", "cifs", "fuse.sshfs", "nfs", "nfs4", "smb3", "smbfs", "vboxsf"})
"""File systems over a network, on which locks and shared memory between machines do not hold."""


@dataclass(slots=True, kw_only=True)
class _Diagnosis:
    status: StoreStatus
    file_system: str | None
    python: str = field(default_factory=platform.python_version)
    integrity: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.status.to_dict(),
            "python": self.python,
            "file_system": self.file_system,
            "problems": [*self.integrity, *self.remarks],
        }


@click.command(cls=Command)
@click.argument("file", required=False)
@click.option("--quick", is_flag=True, help="Do not look through the store for damage.")
@click.option("--memories", is_flag=True, help="Audit the quality of the memories; nothing is changed.")
@click.option("--space", help="With --memories: only of this space.")
@click.option(
    "--from",
    "program",
    type=click.Choice(SYSTEMS),
    help="With --memories: of FILE, which this memory system wrote, without importing it.",
)
@click.option(
    "--list", "listed", type=click.IntRange(0), help="With --memories: name so many of each kind (3)."
)
@click.option(
    "--fail-over",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="With --memories: exit code 1 when more than this share has a flaw.",
)
@click.pass_context
def doctor(ctx: click.Context, /, *, quick: bool, memories: bool, **audit: Any) -> None:
    """Show the state of the store and what is wrong with it.

    Exit code 5 when the SQLite library can lose committed rows, or the store is damaged.

    With --memories it audits what is remembered instead: junk, duplicates, echoes, what is stale, contradictory, secret
    or without provenance, with ids and remedies; with --from FORMAT FILE that of mem0, claude-mem, MemPalace, a
    MEMORY.md or the reference memory server. `--json` names 1,000 of each kind.
    """
    if memories:
        ctx.exit(show_quality(ctx, **audit))
    refuse_audit_options(ctx)
    try:
        with nullcontext() if quick else losses_are_told():
            diagnosis = _examine(quick=quick)
    except hexad.AccessDenied:
        _show_locked()
        raise
    show(diagnosis, table=_diagnosis_lines(diagnosis))
    if diagnosis.integrity:
        ctx.exit(EXIT_INTEGRITY)


def _examine(*, quick: bool) -> _Diagnosis:
    remarks: list[str] = []
    try:
        hx = _opened()
    except hexad.AccessDenied:
        if not state().ask_passphrase():
            raise
        hx = _opened()
    except hexad.Conflict as error:  # the vectors are from another embedder: a finding, not the end
        remarks.append(str(error))
        hx = _opened(embedder=None)
    with hx:
        state().say_above(hx.path)
        status = hx.status()
        damage = [] if quick else hx.check()
        remarks += [] if quick else map(str, hx.xdb.lost_segments())
    diagnosis = _Diagnosis(status=status, file_system=file_system(Path(status.path)), remarks=remarks)
    if not status.sqlite_safe:
        diagnosis.integrity.append(
            f"SQLite {status.sqlite} can lose committed rows when one process writes while another "
            "checkpoints. Install apsw-sqlite3mc 3.54 or newer."
        )
    diagnosis.integrity.extend(damage)
    diagnosis.remarks.extend(_remarks(status, diagnosis.file_system))
    return diagnosis


def _opened(embedder: str | None = "default") -> hexad.Hexad:
    return opened_or_read(
        lambda readonly: hexad.open(
            state().store,
            actor=state().actor,
            purpose="hexad doctor",
            background=False,
            create=False,
            readonly=readonly,
            embedder=embedder,
            key=state().passphrase,
        )
    )


def _remarks(status: StoreStatus, kind: str | None) -> list[str]:
    remarks = []
    if kind in _FAR:
        remarks.append(
            f"The store is on a network file system ({kind}), where locks between machines may not hold. "
            "Move it to a local disk, or let one machine alone use it."
        )
    if not status.backend_known:
        remarks.append(
            f"memory_backend = {status.backend!r} is no ordering that Hexad has: bundles are ordered by 'basic'. "
            "docs/bundles.md names those there are."
        )
    if status.embeddings_failed:
        remarks.append(
            f"{count(status.embeddings_failed, 'memory', 'memories')} could not be embedded. "
            "A program that stays open tries again by itself, every five minutes or sooner; `hexad maintain` does now."
        )
    if status.embeddings_paused:
        remarks.append(f"Vectors wait for a budget. {status.embeddings_paused}")
    elif status.embeddings_pending and status.embedder is not None:
        remarks.append(
            f"Vectors are missing for {count(status.embeddings_pending, 'memory', 'memories')}; until then "
            "words find them, and estimated vectors where the embedder has them. `hexad maintain` computes them."
        )
    if status.quarantined:
        remarks.append(
            f"For a review: {count(status.quarantined, 'memory waits', 'memories wait')}. `hexad memory quarantine "
            "list` shows them."
        )
    if status.queue_failed:
        remarks.append(
            f"{count(status.queue_failed, 'queued source')} could not be ingested. `hexad ingest` says why."
        )
    if status.queue_waiting:
        remarks.append(
            f"In the queue: {count(status.queue_waiting, 'source')}. `hexad maintain` ingests them."
        )
    for layer in cast("list[str]", (status.consolidation or {}).get("over_quota", [])):
        remarks.append(
            f"The layer {layer} is over its quota. `hexad consolidate` makes it smaller, where that may be."
        )
    return remarks


def file_system(path: Path) -> str | None:
    """Return the kind of file system a path is on, None where the system does not say (no /proc)."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    best, kind = -1, None
    for line in lines:
        _, place, file_system_type, *_ = line.split(" ")
        folder = Path(place.replace("\\040", " "))
        if path.is_relative_to(folder) and len(folder.parts) >= best:
            best, kind = len(folder.parts), file_system_type
    return kind


def _diagnosis_lines(diagnosis: _Diagnosis) -> Iterator[str]:
    status = diagnosis.status
    safe = "safe" if status.sqlite_safe else "NOT safe"
    embedder = status.embedder or "none here: full text alone"
    if status.store_embedder is not None and status.store_embedder != status.embedder:
        embedder += f" (the store's vectors are from {status.store_embedder})"
    rows = [
        ("hexad", f"{status.version}, Python {diagnosis.python}, {sys.platform}"),
        ("store", status.path + (f" on {diagnosis.file_system}" if diagnosis.file_system else "")),
        *([("size", _sizes(status))] if status.sizes else []),  # roles are not told
        ("sqlite", f"{status.sqlite}, {safe}"),
        ("durability", status.durability + (", read-only" if status.readonly else "")),
        ("encrypted", _encryption(status.encryption)),
        ("schema", str(status.schema)),
        (
            "memories",
            f"{status.memories:,} active, {status.archived:,} archived, {status.quarantined:,} quarantined, "
            f"{count(status.chunks, 'chunk')}",
        ),
        (
            "vectors",
            f"{status.vectors:,}, {status.embeddings_pending:,} pending, {status.embeddings_failed:,} failed"
            + (
                " (one for each chunk, and one for the beginning of a memory of several)"
                if status.vectors > status.chunks
                else ""
            ),
        ),
        ("embedder", embedder),
        ("generator", status.generator or "none: texts are made locally"),
        ("queue", _queue(status)),
        ("caches", _caches(status)),
        ("keys", "not usable" if status.keys in diagnosis.integrity else status.keys),
        ("upkeep", _upkeep(status)),
        ("user", status.user_layer or "no user layer"),
        ("open in", "; ".join(status.holders) or "no process"),
    ]
    room = width()
    for name, text in rows:
        yield from _entry_lines(click.style(name.ljust(10), fg="cyan"), text, room)
    for problem in diagnosis.integrity:
        yield from _entry_lines(click.style("wrong".ljust(10), fg="red", bold=True), problem, room)
    for remark in diagnosis.remarks:
        yield from _entry_lines(click.style("note".ljust(10), fg="yellow"), remark, room)
    if not diagnosis.integrity and not diagnosis.remarks:
        yield click.style("All is well.", fg="green")


def _queue(status: StoreStatus) -> str:
    since = f" for up to {status.queue_age_s // 60:,} min" if status.queue_age_s >= 60 else ""
    return f"{status.queue_waiting:,} waiting{since}, {status.queue_failed:,} failed"


def _caches(status: StoreStatus) -> str:
    used = sum(use.bytes for use in status.caches.values())
    most = sum(use.limit_bytes or 0 for use in status.caches.values())
    return (
        f"{size(used)} in use, at most {size(most)} in {count(len(status.caches), 'cache')}; --json has each"
    )


def _upkeep(status: StoreStatus) -> str:
    upkeep = status.consolidation
    if upkeep is None:
        return "not told to a role"
    last, due_steps = upkeep["last_run"], cast("list[str]", upkeep["due"])
    state = "never consolidated" if last is None else f"consolidated {last}"
    if not upkeep["nightly"]:
        state += ", by hand alone"
    return f"{state}, due: {', '.join(due_steps) or 'nothing'}"


def _show_locked() -> None:
    """Say of a store whose key is not at hand what can be read without it."""
    encryption_state = hexad.encryption_state(state().store)
    if encryption_state is None:
        return
    line = _entry_lines(click.style("encrypted".ljust(10), fg="cyan"), _encryption(encryption_state), width())
    show({"encrypted": True, "encryption": encryption_state}, table=line)


def _encryption(encryption_state: EncryptionState | None) -> str:
    if encryption_state is None:
        return "no: whoever can read the files can read it (`hexad encrypt`)"
    where = f" {encryption_state.key_file}" if encryption_state.key_file is not None else ""
    if encryption_state.key_file is not None and not Path(encryption_state.key_file).exists():
        where += " (which is not there)"
    parts = "; ".join(f"{part}: {cipher}" for part, cipher in encryption_state.parts.items())
    return f"yes, key from {encryption_state.provider}{where} ({encryption_state.key_id}); {parts}"


def _entry_lines(name: str, text: str, room: int) -> Iterator[str]:
    first, *others = [line.strip() for line in hanging(text, indent=0, room=room - 12)] or [""]
    yield f"{name}  {first}"
    for line in others:
        yield f"{'':12}{line}"


def _sizes(status: StoreStatus) -> str:
    total = sum(status.sizes.values())
    parts = ", ".join(f"{name} {size(number)}" for name, number in status.sizes.items() if number)
    return f"{size(total)} ({parts})" if parts else size(total)
