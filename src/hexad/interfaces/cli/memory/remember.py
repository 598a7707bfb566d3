"""`hexad remember` stores a text or messages; `hexad remember-raw` a file or a text, with what is open inferred."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import hexad
from hexad.interfaces.cli.app.base import (
    Command,
    NamedPath,
    absence,
    json_fault,
    note,
    parse_object,
    quoted,
    read_file,
    read_stdin,
    several,
    state,
)
from hexad.interfaces.cli.output.render import clean, fitted, quoted_lines, show, taken_out

if TYPE_CHECKING:
    from hexad import Hexad, Memory, Receipt


@click.command(cls=Command)
@click.argument("text", required=False)
@click.option(
    "--messages",
    type=NamedPath(),
    metavar="FILE",
    help="JSON list of messages (role, content, optional name and time) to store as a conversation; - for stdin.",
)
@click.option(
    "--conversation", help="With --messages: id of the conversation; default: known by how it begins."
)
@click.option("--space", default="default", show_default=True, help="Space to store it in; created when new.")
@click.option(
    "--kind",
    help="decision, convention, todo, preference, code, log, note (found from the text if not given), guide, config, …",
)
@click.option("--path", help="Path of the memory inside its space, such as shop/billing/refunds.")
@click.option("--project", help="First part of the path; default: the space's project, else the store's.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--pin/--no-pin", "pinned", default=None, help="Pin the memory.")
@click.option("--relevance", type=click.Choice(["high", "medium", "low"]), help="How much it matters.")
@click.option("--importance", type=float, help="0 to 1.")
@click.option("--confidence", type=float, help="0 to 1: confidence in it.")
@click.option(
    "--id", "id_", help="Id of the memory; an existing one updates that memory and keeps the earlier text."
)
@click.option("--source-id", help="Id given by its source; an existing one updates that memory.")
@click.option("--subject", help="For a fact: its subject.")
@click.option("--attribute", help="For a fact: its attribute.")
@click.option("--value", help="For a fact: its value, as JSON, else as text.")
@click.option("--valid-from", help="Start of its validity: RFC 3339 or a date.")
@click.option("--valid-to", help="End of its validity: RFC 3339 or a date.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="user",
    show_default=True,
    help="Trust level of its author.",
)
@click.option(
    "--derived-from",
    multiple=True,
    metavar="ID",
    help="Id of a memory it was derived from; the lowest trust among them applies; repeatable.",
)
@click.option(
    "--cite",
    "cites",
    multiple=True,
    metavar="PLACE",
    help="Code that it rests on: PATH, PATH:10-20 or PATH::SYMBOL, below the store's folder; repeatable.",
)
@click.option(
    "--data-subject", "data_subjects", multiple=True, help="A person whose data this is; repeatable."
)
@click.option("--metadata", metavar="JSON", help="A JSON object of further fields.")
def remember(text: str | None, messages: str | None, **options: Any) -> None:
    """Store TEXT durably, or the messages of a conversation.

    `-`, or no TEXT and a pipe, reads it from stdin. Secrets are taken out before anything is stored. The same
    text again counts as evidence for the memory that is there. With --messages each message becomes a turn, and the
    facts, preferences, decisions, conventions and todos that its user said become memories beside it. Vectors are
    left to the next process that has time for them, or to `hexad maintain`.
    """
    value, metadata = options.pop("value"), options.pop("metadata")
    options |= {
        "id": options.pop("id_"),
        "tags": several(options.pop("tags")),
        "data_subjects": several(options.pop("data_subjects")),
        "derived_from": several(options.pop("derived_from")),
        "cites": several(options.pop("cites")),
        "value": None if value is None else _json_or_text(value),
        "metadata": parse_object(metadata, "--metadata"),
    }
    if messages is not None:
        _remember_messages(messages, text, options)
        return
    text = _text(text)
    if not text.strip():
        raise hexad.InvalidMemory("The text is empty; give at least one character that is not blank.")
    with state().opened(create=True, embeds=True) as hx:
        memory = hx.remember(text, **options)
    show({**memory.to_dict(), "receipt": _receipt(memory)}, table=_remembered_lines(memory), tells=True)


def _remember_messages(file: str, text: str | None, options: dict[str, Any]) -> None:
    if text is not None:
        raise click.UsageError("Give a TEXT or --messages, not both.")
    try:
        messages = json.loads(read_stdin() if file == "-" else _read(Path(file)))
    except (ValueError, RecursionError) as error:
        raise hexad.InvalidInput(f"{file!r} is no JSON: {json_fault(error)}.") from error
    if isinstance(messages, dict) and "messages" in messages:
        messages = messages["messages"]
    if not isinstance(messages, list):
        raise hexad.InvalidMemory(
            f'{file!r} holds no JSON list of messages, such as [{{"role": "user", "content": "…"}}].'
        )
    with state().opened(create=True, embeds=True) as hx:
        memories = hx.remember(messages, **options)
    show(
        [{**memory.to_dict(), "receipt": _receipt(memory)} for memory in memories],
        table=_message_lines(memories),
        tells=state().json,
    )


def _message_lines(memories: Sequence[Memory]) -> Iterator[str]:
    for memory in memories:
        speaker = f"{memory.turn.speaker}: " if memory.turn is not None else "  "
        receipt = memory.receipt
        assert receipt is not None  # what `remember` returns always has one
        kind = f"({memory.kind}, {receipt.outcome.value})"
        yield from fitted(f"{memory.id}  {clean(speaker)}{clean(memory.summary_micro)}  {clean(kind)}")
        _note_related(receipt)
        for remark in receipt.notes:
            note(clean(remark))


def _note_related(receipt: Receipt) -> None:
    """Say which memories say almost the same, and which say something else of the same."""
    for near in receipt.near_duplicates:
        note(f'Near-duplicate of "{clean(near.text)}" ({near.id}, {near.similarity:.2f}); both are kept.')
    for old in receipt.supersedes:
        note(f'Seems to supersede "{clean(old.text)}" ({old.id}, {old.confidence:.2f}).')


def _text(text: str | None) -> str:
    if text is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to remember: give a TEXT, or pipe one in.")
    if text is None or text == "-":
        return read_stdin()
    return text


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
    except RecursionError as error:
        raise click.BadParameter(f"{quoted(value)}: {json_fault(error)}.", param_hint="--value") from error


def _receipt(memory: Memory, *, inferred: bool = False) -> dict[str, object]:
    receipt = memory.receipt
    assert receipt is not None  # what was just stored always has one
    return {
        "outcome": receipt.outcome,
        "near_duplicates": receipt.near_duplicates,
        "supersedes": receipt.supersedes,
        "redacted": receipt.redacted,
        **({"semantic": receipt.semantic} if inferred else {}),
        "notes": receipt.notes,
    }


def _remembered_lines(memory: Memory) -> Iterator[str]:
    receipt = memory.receipt
    assert receipt is not None  # what `remember` returns always has one
    yield from fitted(f"{memory.id}  {receipt.outcome.value}  {memory.path}  ({memory.kind})")
    _note_related(receipt)
    for remark in receipt.notes:
        note(clean(remark))
    if receipt.redacted:
        note(f"{taken_out(receipt.redacted, memory.metadata.get('pii_flags'))} taken out: {_rules(memory)}")


def _rules(memory: Memory) -> str:
    flags = memory.metadata.get("pii_flags")
    named = (
        f"{flag['rule']} ×{flag['count']}"
        for flag in (flags if isinstance(flags, Sequence) and not isinstance(flags, str) else ())
        if isinstance(flag, Mapping)
    )
    return ", ".join(named) or "see `hexad memory show`"


@click.command("remember-raw", cls=Command)
@click.argument("file", required=False, type=NamedPath())
@click.option("--space", default="default", show_default=True, help="Space to store it in; created when new.")
@click.option("--kind", required=True, help="guide, config, decision, log, code, note, …")
@click.option(
    "--path",
    help="Path of the memory inside its space, or its folder when it ends in '/'; may be the file's own path.",
)
@click.option("--topic", help="Last part of the path.")
@click.option("--project", help="First part of the path; default: the space's project, else the store's.")
@click.option(
    "--tag", "tags", multiple=True, help="Tag; may be repeated. Others are extracted from the text."
)
@click.option("--metadata", metavar="JSON", help="A JSON object of further fields.")
@click.option("--relevance", type=click.Choice(["high", "medium", "low"]), help="How much it matters.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="user",
    show_default=True,
    help="Trust level of its author.",
)
@click.option(
    "--auto-pin/--no-auto-pin", default=None, help="Pin it; or keep rules and the model from pinning it."
)
@click.option(
    "--id", "id_", help="Id of the memory; an existing one updates that memory and keeps the earlier text."
)
@click.option("--source-id", help="Id given by its source; default for a file: its path.")
@click.option("--model", help="The model to ask, such as openai:gpt-4o-mini; default: the settings'.")
@click.option("--temperature", type=float, help="Sampling temperature of the model: 0 to 2.")
@click.option("--max-tokens", type=int, help="Token limit of its answer.")
@click.option("--strict", is_flag=True, help="Fail and store nothing when the model fails.")
@click.option(
    "--refresh",
    is_flag=True,
    help="Ask the model again for a text that is already stored, and update its memory.",
)
@click.option("--freeze-clock", metavar="TIME", help="Use this as the current time, RFC 3339.")
def remember_raw(file: str | None, **options: Any) -> None:
    """Store FILE, and infer path, summaries, tags and relevance.

    The text generator that is set up is asked; without one, or when it fails, the text is read by rules. Without
    FILE, a --path that is a file is read, else stdin; `-` is always stdin. A file keeps its memory: storing it
    again changes that one.
    """
    path, auto_pin = options.pop("path"), options.pop("auto_pin")
    if file is None and path is not None and Path(path).is_file():
        file = path  # `--path FILE` alone says all there is to say, and a loop keeps its stdin
    if file is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to remember: give a FILE, or pipe a text in.")
    named = Path(file) if file is not None and file != "-" else None
    text = read_stdin() if named is None else _read(named)
    metadata, source_id = options.pop("metadata"), options.pop("source_id")
    id_, tags = options.pop("id_"), several(options.pop("tags"))
    space, kind = options.pop("space"), options.pop("kind")
    with state().opened(create=True, embeds=True) as hx:
        if source_id is None and id_ is None and named is not None and named.is_file():
            source_id = _place(hx, named)  # a pipe has no place to come back to
        memory = hx.remember_raw(
            space,
            kind,
            text,
            id=id_,
            source_id=source_id,
            path_hint=path,
            tags=tags,
            metadata=parse_object(metadata, "--metadata"),
            auto_pin=auto_pin,
            **options,
        )
    receipt = _receipt(memory, inferred=True)
    show({**memory.to_dict(), "receipt": receipt}, table=_inferred_lines(memory), tells=True)


def _read(file: Path) -> str:
    """Return a file's text; raises `NotFound` and `InvalidInput` for what is none."""
    try:
        if file.is_dir():
            raise hexad.InvalidInput(f"{str(file)!r} is a folder; `hexad ingest` takes folders.")
        data = read_file(file)
    except FileNotFoundError as error:
        raise hexad.NotFound(f"{absence(file, 'file')}; check its name, or give - for stdin.") from error
    except OSError as error:
        raise hexad.InvalidInput(f"{str(file)!r} cannot be read: {error.strerror}.") from error
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise hexad.InvalidInput(
            f"{str(file)!r} is no UTF-8 text: byte {error.start} is none; convert it, or leave it out."
        ) from error
    if "\0" in text:
        raise hexad.InvalidInput(f"{str(file)!r} is binary; only texts can be remembered.")
    return text


def _place(hx: Hexad, file: Path) -> str:
    """Return the file's path in the project, from wherever the command runs; elsewhere its whole path."""
    whole, root = file.resolve(), hx.path.parent
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()


def _inferred_lines(memory: Memory) -> Iterator[str]:
    receipt = memory.receipt
    assert receipt is not None  # what `remember_raw` returns always has one
    pinned = ", pinned" if memory.pinned else ""
    facts = f"{memory.kind}, {memory.relevance.value}{pinned}; by {receipt.semantic}"
    yield f"{memory.id}  {receipt.outcome.value}  {clean(memory.path)}  ({clean(facts)})"
    if memory.tags:
        yield f"tags: {', '.join(memory.tags)}"
    for summary in dict.fromkeys((memory.summary_micro, memory.summary_short, memory.summary_long)):
        yield from quoted_lines(summary)
    _note_related(receipt)
    for remark in receipt.notes:
        note(clean(remark))
    if receipt.redacted:
        what = taken_out(receipt.redacted, memory.metadata.get("pii_flags"))
        note(f"{what} taken out before anything was sent.")
