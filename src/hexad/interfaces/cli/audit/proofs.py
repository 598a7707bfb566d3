"""`hexad audit verify`, `checkpoint`, `key`, `proof`: that the ledger is what it was, shown to others."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import EXIT_INTEGRITY, Command, NamedPath, note, read_file
from hexad.interfaces.cli.audit.audit import ledger_of, ledger_option
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, hanging, show, width

if TYPE_CHECKING:
    from hexad.audit import Verification

_UNSEEN: Final = (
    "that the newest records were cut off",
    "that all records from some point on were written anew by somebody who can read the ledger's key",
)
_FILES = NamedPath(path_type=Path, exists=True, dir_okay=False)


@click.command(cls=Command)
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=_FILES,
    metavar="FILE",
    help="Compare with this checkpoint, which was kept elsewhere; repeat it.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="The public key that signed the checkpoints, as `hexad audit key` prints it. Default: the ledger's own.",
)
@click.option(
    "--archive",
    "archives",
    multiple=True,
    type=_FILES,
    metavar="FILE",
    help="Read and compare the records of this archive, too; repeat it.",
)
@ledger_option
@click.pass_context
def verify(
    ctx: click.Context,
    *,
    checkpoints: tuple[Path, ...],
    keys: tuple[str, ...],
    archives: tuple[Path, ...],
    ledger: Path | None,
) -> None:
    """Check that nobody changed the ledger.

    Every record's hash, its place in the chain and in the tree, its contents; shows none of them and needs no
    credential. Archived records stand for themselves by their hashes, unless their archive is given. Exit code 5 when
    something was changed: the first record that is wrong is named.
    """
    notes = [_note(checkpoint) for checkpoint in checkpoints]
    with ledger_of(ledger) as log, meter("Checking", clock=hexad.SystemClock(), unit="records") as advance:
        verification = log.verify(checkpoints=notes, verifiers=keys, archives=archives, progress=advance)
    unseen = _unseen(verification)
    show({**verification.to_dict(), "unseen": unseen}, table=_verify_lines(verification, unseen))
    if not verification.ok:
        ctx.exit(EXIT_INTEGRITY)


def _verify_lines(verification: Verification, unseen: Sequence[str]) -> Iterator[str]:
    if verification.ok:
        yield f"{count(verification.records, 'record')} unchanged, in recording order, tree hash {verification.root}"
        if verification.checkpoint is not None:
            yield f"The checkpoint of {count(verification.checkpoint, 'record')} agrees."
        if verification.archived:
            yield f"{count(verification.archived, 'record')} in archives, of which {verification.read:,} were read"
    else:
        yield f"The ledger was changed. {clean(str(verification.problem))}"
        yield f"First wrong: audit-{verification.first_bad}"
    for line in unseen:
        for part in hanging(line, indent=0, room=width()):
            note(part)


def _unseen(verification: Verification) -> list[str]:
    """Return what this check could not have seen, in sentences."""
    if not verification.ok:
        return []
    return [*_unread(verification), *_uncovered(verification)]


def _unread(verification: Verification) -> list[str]:
    unseen = []
    if verification.read < verification.archived:
        unseen.append(
            f"Not seen of {count(verification.archived - verification.read, 'archived record')}: "
            "whether the archives are there and"
            " unchanged, and the keys to their contents. Give them: --archive FILE."
        )
    if verification.skipped:
        sizes = ", ".join(f"{size:,}" for size in verification.skipped)
        unseen.append(f"Not compared: checkpoints of {sizes} records, which end among archived ones.")
    return unseen


def _uncovered(verification: Verification) -> list[str]:
    what = f"{_UNSEEN[0]}, and {_UNSEEN[1]}"
    if verification.checkpoint is None:
        return [
            f"Not seen without a checkpoint: {what}. Keep one elsewhere: `hexad audit checkpoint --out FILE`."
        ]
    if verification.checkpoint < verification.records:
        later = count(verification.records - verification.checkpoint, "record")
        return [f"Of the {later} after the checkpoint it is not seen {what}. Keep a newer one."]
    return []


@click.command(cls=Command)
@click.option(
    "--out", type=NamedPath(path_type=Path), metavar="FILE", help="Write it there; default: stdout."
)
@ledger_option
def checkpoint(*, out: Path | None, ledger: Path | None) -> None:
    """Sign what the ledger is now, for others to keep.

    A C2SP checkpoint: the ledger's name, how many records it has and their tree hash, with an Ed25519 signature. Kept
    where nobody who can write to the ledger can write, it shows every later change of these records. FILE must not be
    there yet.
    """
    with ledger_of(ledger) as log:
        made = log.checkpoint(out)
        origin = log.origin
    size = int(made.split("\n", 2)[1])
    show(
        {"origin": origin, "records": size, "note": made, "path": out},
        table=made.removesuffix("\n") if out is None else f"Wrote {clean(str(out))}",
    )


@click.command(cls=Command)
@ledger_option
def key(*, ledger: Path | None) -> None:
    """Print the public key that checks this ledger's checkpoints."""
    with ledger_of(ledger) as log:
        public_key = log.public_key
    show({"key": public_key}, table=public_key)


@click.command(cls=Command)
@click.argument("record")
@click.option(
    "--size",
    type=click.IntRange(1),
    help="In the tree of the first so many records, such as a checkpoint's; default: all.",
)
@ledger_option
def proof(*, record: str, size: int | None, ledger: Path | None) -> None:
    """Print what shows that RECORD is in the ledger.

    An inclusion proof as RFC 6962 defines it: whoever has the tree hash, of a checkpoint, and the record's hash can
    check it without the ledger. It shows no contents and needs no credential.
    """
    with ledger_of(ledger) as log:
        covered = log.size if size is None else size
        path = log.inclusion_proof(record, size=covered)
        leaf, root = log.leaf(record), log.root(covered)
    document = {
        "record": record,
        "index": int(record.removeprefix("audit-")),
        "size": covered,
        "leaf": _base64(leaf),
        "root": _base64(root),
        "path": [_base64(digest) for digest in path],
    }
    show(document, table=_proof_lines(record, document, covered, path))


def _proof_lines(record: str, document: dict[str, object], covered: int, path: list[bytes]) -> Iterator[str]:
    yield f"{record}: number {document['index']} of {count(covered, 'record')}"
    yield f"leaf  {document['leaf']}"
    yield f"root  {document['root']}"
    for digest in path:
        yield f"path  {_base64(digest)}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _note(path: Path) -> str:
    """Return a signed note; a file that is none is no change of the ledger, and is refused by its name."""
    text = _text(path)
    if "\n\n" not in text or not text.endswith("\n"):
        raise click.BadParameter(
            f"{path} is no checkpoint: after its text come an empty line and signatures.",
            param_hint="--checkpoint",
        )
    return text


def _text(path: Path) -> str:
    return read_file(path).decode("utf-8", "replace")
