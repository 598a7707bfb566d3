"""`hexad forget`: one memory, or all that is selected, archived or gone for good, with a receipt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import hexad
from hexad.interfaces.cli.app.base import Command, confirm, note, state, warn
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.memory.scopes import say_removed
from hexad.interfaces.cli.memory.spaces import DRY_RUN
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import (
    clean,
    count,
    fits,
    hanging,
    show,
    size,
    table,
    table_room,
    width,
)

if TYPE_CHECKING:
    from hexad import ErasureReceipt, Hexad, Memory

_MENTIONS = 20
"""How many memories that still name a person are printed."""
_SELECTORS = ("source", "tag", "path", "session", "subject", "before")


class _EachOnce(Command):
    """Refuses an option that is given twice: the last would count, and the first be left as it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return what is left of the arguments; raises `UsageError`."""
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        selecting = [parameter for parameter in order if parameter.name in (*_SELECTORS, "space")]
        for parameter in selecting:
            if selecting.count(parameter) > 1:
                raise click.UsageError(
                    f"{parameter.opts[0]} is given twice; give it once, and call again.", ctx
                )
        return super().parse_args(ctx, args)


@click.command(cls=_EachOnce)
@click.argument("id_or_path", metavar="[ID_OR_PATH]", required=False)
@click.option("--space", help="All of this space, or only what is in it; for a memory: look only there.")
@click.option(
    "--source", metavar="NAME", help="Of a source: its name, an item of it, or items below PREFIX/."
)
@click.option("--tag", help="With this tag.")
@click.option("--path", help="At or below this path.")
@click.option(
    "--session", metavar="ID", shell_complete=session_ids, help="Of a session, recorded or of a conversation."
)
@click.option("--subject", metavar="PERSON", help="About a person: what names them in its data_subjects.")
@click.option("--before", metavar="TIME", help="From before this moment.")
@click.option("--purge", is_flag=True, help="Remove it for good, in every file of the store.")
@click.option("--dry-run", is_flag=True, help="Only report what would happen.")
@click.option("--yes", is_flag=True, help="Do not ask before a purge.")
@click.option("--restore", is_flag=True, help="Restore one memory instead.")
@click.option("--list", "listed", is_flag=True, help="List earlier erasures.")
def forget(*, id_or_path: str | None, listed: bool, restore: bool, **options: Any) -> None:
    """Archive memories, or remove data for good.

    A memory by its id or path, or everything that matches all selecting options. Archived memories stay in the store;
    --restore, or `hexad memory restore`, brings one back. With --purge it goes for good, with all that belongs to it
    and all that was made of it alone; recorded sessions and documents go with --purge alone. A purge prints a receipt:
    its key, which only you hold, shows on the ledger what was erased.
    """
    dry_run, yes = options.pop("dry_run"), options.pop("yes")
    selects = any(options[name] is not None for name in _SELECTORS)
    alone = not (selects or options["purge"] or dry_run)
    if listed and not (alone and id_or_path is None and options["space"] is None and not restore):
        raise click.UsageError("--list stands alone.")
    if restore and not (alone and id_or_path is not None):
        raise click.UsageError("--restore goes with one memory, by its id or path, and --space alone.")
    if listed:
        _list()
    elif restore:
        _one(id_or_path or "", options["space"], restore=True)
    elif id_or_path is not None and alone:
        _one(id_or_path, options["space"], restore=False)
    else:
        _select({"id_or_path": id_or_path, **options}, dry_run=dry_run, yes=yes)


def _one(id_or_path: str, space: str | None, *, restore: bool) -> None:
    with state().opened(embeds=restore) as hx:
        memory = hx.restore(id_or_path, space=space) if restore else hx.forget(id_or_path, space=space)
    if not restore and memory.status is hexad.Status.QUARANTINED:
        raise hexad.Conflict(
            f"{memory.id} waits for a review, and is in no recall: `hexad memory quarantine reject {memory.id}` turns "
            "it away, --purge removes it for good."
        )
    show(memory, table=_one_lines(memory, restore))


def _one_lines(memory: Memory, restore: bool) -> Iterator[str]:
    yield f"{memory.id}  {'restored' if restore else 'archived'}  {clean(memory.path)}"
    if not restore:
        note(f"It can be brought back: `hexad forget --restore {memory.id}`.")


def _select(options: dict[str, Any], *, dry_run: bool, yes: bool) -> None:
    with state().opened() as hx:
        receipt = _planned(hx, options)
        _require_source(hx, options, receipt)
        # To archive nothing is nothing to keep a record of; that a purge was asked for is.
        if not dry_run and (options["purge"] or receipt.erased):
            if options["purge"]:
                there = ", ".join(f"{entry.place}: {entry.count:,}" for entry in receipt.erased)
                question = (
                    f"Remove what is selected for good ({there})?"
                    if there
                    else "Nothing is selected. Purge it all the same, and keep a record of that?"
                )
                confirm(question, yes=yes, without=DRY_RUN)
            with meter("Erasing", clock=hx.clock, unit="memories") as advance:
                receipt = hx.forget(**options, confirm=True, progress=advance)
    show(receipt, table=_receipt_lines(receipt))


def _require_source(hx: Hexad, options: dict[str, Any], planned: ErasureReceipt) -> None:
    """Raise `NotFound` for a source of which the store has nothing, archived or not."""
    source = options["source"]
    if source is None or planned.erased or planned.kept:
        return
    if not _planned(hx, {"source": source, "space": options["space"], "purge": True}).erased:
        raise hexad.NotFound(
            f"Nothing is there of the source {source!r}: it is a source's name, an item of it, or a prefix of items "
            "that ends in '/'; `hexad memory list --json` shows each memory's source_id."
        )


def _planned(hx: Hexad, options: dict[str, Any]) -> ErasureReceipt:
    planned: ErasureReceipt = hx.forget(**options, dry_run=True)
    return planned


def _receipt_lines(receipt: ErasureReceipt) -> Iterator[str]:
    verb = "purged" if receipt.purge else "archived"
    if receipt.erased or not receipt.dry_run:
        yield f"{receipt.id}  {'would be ' * receipt.dry_run}{verb}  {receipt.at:%Y-%m-%d %H:%M:%S}"
    for entry in receipt.erased:
        of = f"  {size(entry.bytes)}" if entry.bytes else ""
        yield f"  {entry.place}: {entry.count:,}{of}"
    for place in receipt.kept:
        note(f"Left as it is: {place.place}: {place.count:,} ({place.reason}).")
    for file in receipt.files:
        note(f"Removed: {clean(file)}")
    say_removed([receipt])
    yield from _mention_lines(receipt)
    if not receipt.erased and not receipt.kept:
        note("Nothing that was asked for is there.")
    if receipt.dry_run:
        return
    if receipt.purge:
        where = "" if receipt.ledger_seq is None else f" (record audit-{receipt.ledger_seq} of the ledger)"
        yield f"  mac: {receipt.selection_mac}{where}"
        yield f"  key: {receipt.key}"
        note("Nobody else has the key; --json prints the whole receipt. Keep it where it is safe.")
    else:
        note(
            "`hexad memory list --status archived` names it, `hexad memory restore ID` brings a memory back."
        )


def _mention_lines(receipt: ErasureReceipt) -> Iterator[str]:
    """What still names the person, and how it is erased."""
    if not receipt.mentions:
        return
    memories = all(mention.memory_id is not None for mention in receipt.mentions)
    kind, kinds = ("memory", "memories") if memories else ("record", "records")
    what = count(len(receipt.mentions), f"{kind} that stays names", f"{kinds} that stay name")
    yield f"  {what} the person:"
    for mention in receipt.mentions[:_MENTIONS]:
        where = mention.memory_id or f"{mention.place} {mention.id}"
        yield f"    {clean(where)}  {clean(mention.text)}"
    more = len(receipt.mentions) - _MENTIONS
    others = f" --json lists the other {more:,}." if more > 0 else ""
    examples = {(mention.place, mention.session is None): mention for mention in reversed(receipt.mentions)}
    ways = dict.fromkeys(map(_way, reversed(examples.values())))
    note(f"Their data_subjects do not say so. {' '.join(way for way in ways if way)}{others}")


def _way(mention: Any) -> str:
    """Return how what names a person is erased, by its first example of a kind."""
    if mention.memory_id is not None:
        return f"`hexad forget {mention.memory_id} --purge` erases one."
    if mention.session is not None:
        return f"`hexad forget --session {clean(mention.session)} --purge` erases all of that session."
    if mention.place.endswith("documents"):
        return f"`hx.xdb.documents.remove_document({mention.id!r}, purge=True)` erases a document."
    return "`hexad xdb contract` puts another contract in force." if mention.place == "contract" else ""


def _list() -> None:
    with state().opened() as hx:
        receipts = hx.erasures()
    show(receipts, table=_list_lines(receipts))


def _list_lines(receipts: list[ErasureReceipt]) -> Iterator[str]:
    if not receipts:
        note("Nothing was forgotten by selection, or for good.")
        return
    rows = [
        (
            receipt.id,
            f"{receipt.at:%Y-%m-%d %H:%M:%S}",
            clean(receipt.actor),
            "purged" if receipt.purge else "archived",
            ", ".join(f"{place.place}: {place.count:,}" for place in receipt.erased),
            ", ".join(waiting.place for waiting in receipt.pending),
        )
        for receipt in receipts
    ]
    heads = ("erasure", "time", "by", "how", "what", "pending")
    room = table_room()
    if fits(rows, heads=heads, room=room):
        yield from table(rows, heads=heads, room=room)
    else:
        for name, time, by, how, what, pending in rows:
            yield f"{name}  {time}"
            waits = f"; pending: {pending}" * bool(pending)
            yield from hanging(f"{how} by {by}: {what or 'nothing'}{waits}", indent=2, room=room or width())
    if any(receipt.pending for receipt in receipts):
        warn("`hexad maintain` completes what is pending.")
