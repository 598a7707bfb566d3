"""`hexad remember`: one text, stored durably."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

import hexad
from hexad.interfaces.cli.app.base import Command, note, parse_object, print_json, read_stdin, several, state
from hexad.interfaces.cli.output.render import clean, taken_out

if TYPE_CHECKING:
    from hexad import Memory


@click.command(cls=Command)
@click.argument("text", required=False)
@click.option("--space", default="default", show_default=True, help="Where it belongs; made when new.")
@click.option(
    "--kind", help="guide, config, decision, log, code, note, … (found from the text if not given)."
)
@click.option("--path", help="Its place, such as shop/billing/refunds.")
@click.option("--project", help="First part of the path; default: the space's project, else the store's.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--pin/--no-pin", "pinned", default=None, help="Keep it before others.")
@click.option("--relevance", type=click.Choice(["high", "medium", "low"]), help="How much it matters.")
@click.option("--importance", type=float, help="0 to 1.")
@click.option("--confidence", type=float, help="0 to 1: how sure it is.")
@click.option("--id", "id_", help="Its id; a known one changes that memory and keeps the older text.")
@click.option("--source-id", help="The id that its source gives it; a known one changes that memory.")
@click.option("--subject", help="For a fact: whom or what it is about.")
@click.option("--attribute", help="For a fact: which property.")
@click.option("--value", help="For a fact: its value, as JSON, else as text.")
@click.option("--valid-from", help="Since when it holds: RFC 3339 or a date.")
@click.option("--valid-to", help="Until when it holds: RFC 3339 or a date.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="user",
    show_default=True,
    help="Who vouches for it.",
)
@click.option(
    "--derived-from",
    multiple=True,
    metavar="ID",
    help="A memory it was made of: trust falls to its; repeatable.",
)
@click.option(
    "--data-subject", "data_subjects", multiple=True, help="A person whose data this is; repeatable."
)
@click.option("--metadata", metavar="JSON", help="A JSON object of further fields.")
def remember(text: str | None, **options: Any) -> None:
    """Store TEXT durably.

    `-`, or no TEXT and a pipe, reads it from stdin. Secrets are taken out before anything is stored. The same
    text again counts as evidence for the memory that is there. Vectors are left to the next process that has
    time for them, or to `hexad maintain`.
    """
    text = _text(text)
    if not text.strip():
        raise hexad.InvalidMemory("The text is empty; give at least one character that is not blank.")
    value, metadata = options.pop("value"), options.pop("metadata")
    with state().opened(create=True, embeds=True) as hx:
        memory = hx.remember(
            text,
            id=options.pop("id_"),
            tags=several(options.pop("tags")),
            data_subjects=several(options.pop("data_subjects")),
            derived_from=several(options.pop("derived_from")),
            value=None if value is None else _json_or_text(value),
            metadata=parse_object(metadata, "--metadata"),
            **options,
        )
    _show(memory)


def _text(text: str | None) -> str:
    if text is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to remember: give a TEXT, or pipe one in.")
    return read_stdin() if text in (None, "-") else str(text)


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _show(memory: Memory) -> None:
    receipt = memory.receipt
    assert receipt is not None  # what `remember` returns always has one
    if state().json:
        handed = {
            "outcome": receipt.outcome.value,
            "near_duplicates": list(receipt.near_duplicates),
            "redacted": receipt.redacted,
            "notes": list(receipt.notes),
        }
        print_json({**memory.to_dict(), "receipt": handed})
        return
    click.echo(f"{memory.id}  {receipt.outcome.value}  {memory.path}  ({memory.kind})")
    for told in receipt.notes:
        note(clean(told))
    if receipt.redacted:
        note(f"{taken_out(receipt.redacted, memory.metadata.get('pii_flags'))} taken out: {_rules(memory)}")
    if receipt.near_duplicates:
        note(f"Says almost the same as {', '.join(receipt.near_duplicates)}; both are kept.")


def _rules(memory: Memory) -> str:
    flags = memory.metadata.get("pii_flags")
    named = (
        f"{flag['rule']} ×{flag['count']}"
        for flag in (flags if isinstance(flags, Sequence) and not isinstance(flags, str) else ())
        if isinstance(flag, Mapping)
    )
    return ", ".join(named) or "see `hexad memory show`"
