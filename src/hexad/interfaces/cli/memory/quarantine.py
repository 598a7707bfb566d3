"""`hexad memory quarantine …`: what waits for a review, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from hexad.interfaces.cli.app.base import Command, Group, note, state
from hexad.interfaces.cli.output.render import clean, count, memory_lines, show, width

if TYPE_CHECKING:
    from hexad import Memory


@click.group(cls=Group)
@click.pass_context
def quarantine(ctx: click.Context) -> None:
    """Review memories that wait for approval.

    Texts that read as instructions, writes to protected places, changes of what is trusted more. docs/security.md
    says what comes here.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@quarantine.command("list", cls=Command)
@click.option("--space", help="Only this space.")
@click.option("--limit", type=int, help="Maximum number; default: all.")
def list_(space: str | None, limit: int | None) -> None:
    """List what waits for approval, the last changed first."""
    with state().opened() as hx:
        memories = hx.quarantine.list(space=space, limit=limit)
    show(memories, table=_list_lines(memories))


def _list_lines(memories: Sequence[Memory]) -> Iterator[str]:
    for memory in memories:
        yield f"{memory.id}  {clean(memory.space)}:{clean(memory.path)}  trust: {memory.trust}  {_why(memory)}"
        yield f"    {clean(memory.summary_micro)}"
    note(f"{count(len(memories), 'memory waits', 'memories wait')} for a review.")


@quarantine.command("show", cls=Command)
@click.argument("memory_id", metavar="ID")
def show_(memory_id: str) -> None:
    """Show a record that waits, and why."""
    with state().opened() as hx:
        memory = hx.quarantine.get(memory_id)
        sentences = hx.quarantine.sentences(memory_id)
    show(memory, table=_show_lines(memory, sentences))


def _show_lines(memory: Memory, sentences: Sequence[str]) -> Iterator[str]:
    yield from memory_lines(memory, room=width())
    note(f"It waits because of: {_why(memory)}.")
    for sentence in sentences:
        note(f"What reads as an instruction: {clean(' '.join(sentence.split()))}")


@quarantine.command(cls=Command)
@click.argument("memory_id", metavar="ID")
@click.option("--why", required=True, help="The reason; it is stored with the memory.")
@click.option("--by", help="Who decides; default: whoever opens the store.")
@click.option("--overrule", is_flag=True, help="Also a memory that was rejected.")
def release(memory_id: str, why: str, by: str | None, overrule: bool) -> None:
    """Approve a memory: it is recalled from now on."""
    with state().opened(embeds=True) as hx:
        released = hx.quarantine.release(memory_id, why=why, by=by, overrule=overrule)
    _say(released, "released")


@quarantine.command(cls=Command)
@click.argument("memory_id", metavar="ID")
@click.option("--why", required=True, help="The reason; it is stored with the memory.")
@click.option("--by", help="Who decides; default: whoever opens the store.")
def reject(memory_id: str, why: str, by: str | None) -> None:
    """Reject a memory: archive it, and refuse its text."""
    with state().opened() as hx:
        rejected = hx.quarantine.reject(memory_id, why=why, by=by)
    _say(rejected, "rejected")


def _say(memory: Memory, done: str) -> None:
    show(memory, table=f"{memory.id}  {done}  {clean(memory.path)}")


def _why(memory: Memory) -> str:
    reason = memory.metadata.get("quarantine")
    if not isinstance(reason, Mapping):
        return "its status was given"
    reasons = reason.get("reasons")
    words = [str(reason) for reason in reasons] if isinstance(reasons, list | tuple) else []
    if memory.instruction_like:
        words.append(f"({', '.join(memory.instruction_like)})")
    if reason.get("of"):
        words.append(f"of {reason['of']}")
    return clean(" ".join(words))
