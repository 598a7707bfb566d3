"""`hexad use-context`, `hexad spaces bundle` and `hexad spaces kind`: what is known, ready for an agent's step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import Command, Function, note, parse_object, several, state
from hexad.interfaces.cli.output.render import (
    clean,
    clean_lines,
    clip,
    excerpt,
    own_lines,
    quoted_lines,
    show,
    width,
)

if TYPE_CHECKING:
    from hexad import Bundle, KindList, ProjectContext

_SHOWN_LINES: Final = 4
_OPTIONS: Final[tuple[Callable[[Function], Function], ...]] = (
    click.option("--limit", type=int, help="How many sections at most, up to 100; default: 5."),
    click.option("--raw", "include_raw", is_flag=True, help="Add the whole texts of the first sections."),
    click.option("--raw-limit", type=int, help="Of how many sections, up to 50; default: 2."),
    click.option("--no-metadata", is_flag=True, help="Leave each section's metadata out."),
    click.option("--prefer-kind", "prefer_kinds", multiple=True, help="Rank this kind higher; repeatable."),
    click.option("--prefer-tag", "prefer_tags", multiple=True, help="Rank this tag higher; repeatable."),
    click.option("--high", "require_high_relevance", is_flag=True, help="Only what is of high relevance."),
    click.option("--path", help="Only what is at or under this path, or matches a pattern with *."),
    click.option("--backend", help="The ordering: basic, patricia, raptor, hybrid, temporal."),
    click.option("--order", type=click.Choice(["score", "strict"]), help="strict: pinned first, then high."),
    click.option("--max-tokens", type=int, help="Token budget; whole sections are left out."),
    click.option("--freeze-clock", metavar="TIME", help="Answer as at this time: RFC 3339 or a date."),
    click.option("--follow-links", is_flag=True, help="Add what the sections are linked with."),
    click.option("--digest", is_flag=True, help="Add a digest by the configured text generator."),
    click.option("--options", metavar="JSON", help="The same options as a JSON object."),
)


_ON_TOPIC: Final = click.option(
    "--on-topic/--any-topic", default=None, help="Leave out what has nothing to do with TOPIC, or do not."
)


def _bundle_options(function: Function) -> Function:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a recall: what was typed goes before the same name in --options."""
    written = parse_object(options.pop("options"), "--options") or {}
    if options.pop("no_metadata"):
        written["include_metadata"] = False
    if (on_topic := options.pop("on_topic", None)) is not None:
        written["on_topic"] = on_topic
    for name in ("prefer_kinds", "prefer_tags"):
        options[name] = several(options[name])
    # A flag that was not typed says nothing against the same name in --options.
    return {
        **written,
        **{name: value for name, value in options.items() if value is not None and value is not False},
    }


@click.command("use-context", cls=Command)
@click.argument("project")
@click.argument("topic")
@click.option("--deadline-ms", type=int, help="Print what is ready by then, even if that is nothing.")
@_ON_TOPIC
@_bundle_options
def use_context(project: str, topic: str, deadline_ms: int | None, **options: Any) -> None:
    """Print what PROJECT knows about TOPIC, for an agent's step.

    The text is ready to be placed before the step, and keeps to the topic unless --any-topic is given. PROJECT is a
    space, or a project that spaces or memories name in their metadata; its decisions and facts belong to it. With
    --json the bundle itself. Prints nothing on stdout, with exit code 0, when nothing is known.
    """
    given = _given(options)
    with state().opened(embeds=given.get("on_topic") is not False) as hx:
        context = hx.use_context(project, topic, given, deadline_ms=deadline_ms).recall()
    show(context.bundle, table=_use_context_lines(context))
    _notes(context.notes)


def _use_context_lines(context: ProjectContext) -> Iterator[str]:
    if context.text:
        yield from own_lines(context.text)
    elif not _nothing_fits(context.notes):
        note(clean_lines(context.bundle.global_summary))


@click.command(cls=Command)
@click.argument("space")
@click.argument("topic")
@_ON_TOPIC
@_bundle_options
def bundle(space: str, topic: str, **options: Any) -> None:
    """Show what the space SPACE knows about TOPIC, in order.

    All that the space holds may stand in it unless --on-topic is given. With --json the bundle: the same bytes for the
    same state and --freeze-clock.
    """
    given = _given(options)
    with state().opened(embeds=given.get("on_topic") is True) as hx:
        bundle = hx.recall_context(space, topic, given)
    show(bundle, table=_bundle_lines(bundle))
    _notes(bundle.notes)


def _bundle_lines(bundle: Bundle) -> Iterator[str]:
    if bundle.sections or not _nothing_fits(bundle.notes):
        yield clean_lines(bundle.global_summary)
        if bundle.digest is not None:
            yield ""
            yield from quoted_lines(bundle.digest)
        yield from _section_lines(bundle)


@click.command(cls=Command)
@click.argument("space")
@click.argument("kind")
@_bundle_options
def kind(space: str, kind: str, **options: Any) -> None:
    """Show what the space SPACE holds of one KIND, in order."""
    with state().opened() as hx:
        kind_list = hx.recall_kind(space, kind, _given(options))
    show(kind_list, table=_kind_lines(kind_list, space))
    _notes(kind_list.notes)


def _kind_lines(kind_list: KindList, space: str) -> Iterator[str]:
    for number, line in enumerate(_section_lines(kind_list)):
        if number or line:  # a list has nothing above its first section to stand apart from
            yield line
    if not kind_list.sections:
        note(f"Nothing of the kind {clean(kind_list.kind)} in {clean(space)}.")


def _section_lines(bundle: Bundle | KindList) -> Iterator[str]:
    room = width()
    parts = zip(bundle.memories, bundle.scores, bundle.sections, strict=True)
    for number, (memory, score, section) in enumerate(parts, start=1):
        facts = [memory.kind, f"{memory.relevance} relevance", f"{score:.3f}", memory.id]
        if isinstance(relevance := section.get("topic_relevance"), float):
            facts.insert(2, f"{relevance:.2f} to the topic")
        if memory.pinned:
            facts.append("pinned")
        yield ""
        yield f"{number:>2}. {click.style(clip(memory.path, room - 4), bold=True)}"
        yield f"    {click.style(clean(' · '.join(facts)), fg='cyan')}"
        text = memory.raw if memory.id in bundle.raw_ids else memory.summary_short
        limit = max(_SHOWN_LINES, text.count("\n") + 1) if memory.id in bundle.raw_ids else _SHOWN_LINES
        for line in excerpt(text, query="", room=room - 6, verbatim=True, limit=limit):
            yield f"    {click.style('│', dim=True)} {line}"
    for linked in bundle.linked or ():
        yield ""
        yield f"  → {clip(f'{linked.memory.space}:{linked.memory.path}', room - 4)}"
        yield f"    {linked.link.kind}, from {linked.of}"


def _nothing_fits(notes: Sequence[str]) -> bool:
    """Whether something is known and was left out; says so."""
    left = any(line.startswith("max_tokens left out") for line in notes)
    if left:
        note("Nothing that is known fits; give more --max-tokens.")
    return left


def _notes(notes: Sequence[str]) -> None:
    for line in notes:
        note(clean(line))
