"""`hexad tags …`: the folksonomy: tags, concepts and packs of concepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Function, Group, NamedPath, confirm, note, note_more, state
from hexad.interfaces.cli.app.completion import concept_ids, tag_names
from hexad.interfaces.cli.experience.options import tag_of
from hexad.interfaces.cli.experience.render import application_table, tag_kind, tag_table
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, clip, count, hanging, show, table_room, width

if TYPE_CHECKING:
    from hexad import Hexad, PackReport, Tag, TagApplication

_TYPES: Final = [tag_type.value for tag_type in hexad.TagType]
_STATUSES: Final = [bud_status.value for bud_status in hexad.BudStatus]
_MADE: Final = [hexad.TagType.CUSTOM.value, hexad.TagType.ENTITY.value, hexad.TagType.CONCEPT.value]
_ROWS: Final = 20
_DEPTH: Final = 8
_MANY: Final = 10_000


@click.group(cls=Group)
@click.pass_context
def tags(ctx: click.Context) -> None:
    """List, show and create tags, browse concepts, load packs."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _page(function: Function) -> Function:
    """Add what shows a part of many."""
    function = click.option("--offset", type=int, default=0, help="Skip this many at the start.")(function)
    return click.option("--limit", type=int, default=100, show_default=True, help="Maximum number.")(function)


def _print(tags: Sequence[Tag], nothing: str, *, limit: int | None = None) -> None:
    show(tags, table=_print_lines(tags, nothing, limit))


def _print_lines(tags: Sequence[Tag], nothing: str, limit: int | None) -> Iterator[str]:
    if not tags:
        note(nothing)
        return
    yield from tag_table(tags, room=table_room())
    if len(tags) == limit:
        note_more(count(limit, "tag"))


@tags.command("list")
@click.option("--type", "tag_type", type=click.Choice(_TYPES), help="Only of this type.")
@click.option("--status", type=click.Choice(_STATUSES), help="Only buds in this state.")
@click.option("--entity-type", help="Only entities of this type, such as person.")
@_page
def list_(
    *, tag_type: str | None, status: str | None, entity_type: str | None, limit: int, offset: int
) -> None:
    """List tags by name."""
    with state().opened() as hx:
        tags = hx.xdb.find_tags(
            tag_type=tag_type, bud_status=status, entity_type=entity_type, limit=limit, offset=offset
        )
    _print(tags, "No tag matches.", limit=limit)


@tags.command()
@click.argument("pattern")
@click.option("--type", "tag_type", type=click.Choice(_TYPES), help="Only of this type.")
@_page
def find(pattern: str, *, tag_type: str | None, limit: int, offset: int) -> None:
    """Find tags by name.

    PATTERN is a part of the name, capitals or not; with * or ? in it the whole name.
    """
    with state().opened() as hx:
        tags = hx.xdb.find_tags(name_pattern=pattern, tag_type=tag_type, limit=limit, offset=offset)
    _print(tags, f"No tag is called {clean(pattern)!r}.", limit=limit)


@tags.command("show")
@click.argument("tag", shell_complete=tag_names)
@click.option("--session", "session_id", metavar="ID", help="Only uses in this session.")
@click.option("--limit", type=int, default=_ROWS, show_default=True, help="Maximum number of uses.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def show_(*, tag: str, session_id: str | None, limit: int, offset: int) -> None:
    """Show a tag, by id or name, and its uses.

    Of a concept also what is above, below and beside it.
    """
    with state().opened() as hx:
        tag_info = tag_of(hx, tag)
        uses = hx.xdb.tag_applications(tag_info.id, session_id=session_id, limit=limit, offset=offset)
        near = _near(hx, tag_info)
        concepts = hx.xdb.tag_index.related_concepts_of_bud(tag_info.id)
    value = {
        **tag_info.to_dict(),
        **{name: [other.id for other, _ in tags] for name, tags in near.items() if name != "related"},
        "related": [{"id": other.id, "relation": relation} for other, relation in near["related"]],
        "bud_concepts": concepts,
        "applications": uses,
    }
    show(value, table=_whole_tag_lines(tag_info, concepts, near, uses, limit=limit))


def _whole_tag_lines(
    tag: Tag,
    concepts: Sequence[str],
    near: Mapping[str, Sequence[tuple[Tag, str]]],
    uses: Sequence[TagApplication],
    *,
    limit: int,
) -> Iterator[str]:
    room = width()
    yield from _tag_lines(tag, concepts, room=room)
    for name, others in near.items():
        names = ", ".join(
            f"{other.name} ({relation})" if relation else other.name for other, relation in others
        )
        yield from hanging(f"{name}: {names}", indent=2, room=room) if others else ()
    if uses:
        yield ""
        yield from application_table(uses, {}, room=table_room())
    else:
        note("No uses.")
    if len(uses) == limit:
        note_more(count(limit, "use"))


def _tag_lines(tag: Tag, concepts: Sequence[str], *, room: int) -> Iterator[str]:
    yield f"{click.style(clip(tag.name, room - 40), bold=True)}  {tag.id}  ({clean(tag_kind(tag))})"
    yield from hanging(f"created {tag.created_at:%Y-%m-%d %H:%M} by {tag.created_by}", indent=2, room=room)
    if tag.description:
        yield from hanging(tag.description, indent=2, room=room)
    if concepts:
        yield from hanging(f"near to: {', '.join(concepts)}", indent=2, room=room)


def _near(hx: Hexad, tag: Tag) -> dict[str, list[tuple[Tag, str]]]:
    """Return a concept's neighbours: those above, those below, and others with what they are to it."""
    alone: dict[str, list[tuple[Tag, str]]] = {"parents": [], "children": [], "related": []}
    if tag.tag_type is not hexad.TagType.CONCEPT:
        return alone
    index = hx.xdb.tag_index
    try:
        return {
            "parents": [(other, "") for other in index.get_concept_parents(tag.id)],
            "children": [(other, "") for other in index.get_concept_children(tag.id)],
            "related": index.get_related_concepts(tag.id),
        }
    except hexad.NotFound:  # a tag for a concept that no loaded pack has
        return alone


@tags.command()
@click.argument("name")
@click.option("--type", "tag_type", type=click.Choice(_MADE), default="custom", help="Default: custom.")
@click.option("--concept-id", metavar="ID", help="For a concept: its id, such as pack::Term.")
@click.option("--entity-type", help="For an entity: person, organization, place, thing, …")
@click.option("--description", help="What it is for.")
def create(
    name: str, *, tag_type: str, concept_id: str | None, entity_type: str | None, description: str | None
) -> None:
    """Create a tag; an existing one is returned as it is.

    A bud is created by `hexad xdb bud create`.
    """
    with state().opened() as hx:
        tag = hx.xdb.tag_index.create_tag(
            name, tag_type, concept_id=concept_id, entity_type=entity_type, description=description
        )
    show(tag, table=f"{clean(tag.id)}  tag  {clean(tag.name)}  ({clean(tag_kind(tag))})")


@tags.command()
@click.argument("tag", shell_complete=tag_names)
@click.option("--force", is_flag=True, help="Also a bud, and a tag with uses: they go too.")
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask before uses go.")
def remove(tag: str, *, force: bool, dry_run: bool, yes: bool) -> None:
    """Remove a tag for good.

    Without --force only a tag without uses. Concepts of a loaded pack stay.
    """
    with state().opened() as hx:
        tag_info = tag_of(hx, tag)
        uses = len(hx.xdb.tag_applications(tag_info.id, limit=_MANY))
        what = f"{clean(tag_info.name)!r} with {'at least ' * (uses == _MANY)}{count(uses, 'use')}"
        if not dry_run:
            if force and uses:
                confirm(
                    f"Remove the tag {what} for good?", yes=yes, without="see with --dry-run what would go"
                )
            uses = hx.xdb.remove_tag(tag_info.id, force=force)
    show(
        {**tag_info.to_dict(), "uses": uses, "dry_run": dry_run},
        table=_remove_lines(dry_run, what, uses, tag_info),
    )


def _remove_lines(dry_run: bool, what: str, uses: int, tag_info: Tag) -> Iterator[str]:
    if dry_run:
        yield f"{clean(tag_info.id)}  would be removed  {what}"
    else:
        yield f"{clean(tag_info.id)}  removed  {clean(tag_info.name)}, {count(uses, 'use')}"


# Concepts ---------------------------------------------------------------------------------------------------


@tags.command()
@click.argument("concept", required=False, shell_complete=concept_ids)
@click.option(
    "--depth", type=click.IntRange(1, _DEPTH), default=1, show_default=True, help="How many levels to show."
)
def browse(concept: str | None, *, depth: int) -> None:
    """Show the concepts below CONCEPT, or those at the top.

    CONCEPT is an id, or a name.
    """
    with state().opened() as hx:
        parent = None if concept is None else tag_of(hx, concept).id
        tags_below = [*_below(hx, parent, depth)]
    show(
        [{"depth": level, **tag.to_dict()} for level, tag in tags_below],
        table=_browse_lines(tags_below, concept),
    )


def _browse_lines(tags: list[tuple[int, Tag]], concept: str | None) -> Iterator[str]:
    if not tags:
        note("There is none." if concept else "There is none; `hexad tags load-pack` brings some.")
    room = width()
    for level, tag in tags:
        indent = "  " * level
        text = f"{tag.name}  {tag.id}" + (f"  {tag.description}" if tag.description else "")
        yield indent + clip(text, room - len(indent))


def _below(hx: Hexad, parent: str | None, depth: int, level: int = 0) -> Iterator[tuple[int, Tag]]:
    for tag in hx.xdb.browse_concepts(parent):
        yield level, tag
        if level + 1 < depth:
            yield from _below(hx, tag.id, depth, level + 1)


@tags.command()
@click.argument("query")
@click.option("--limit", type=int, default=_ROWS, show_default=True, help="Maximum number.")
def concepts(query: str, *, limit: int) -> None:
    """Find concepts by term and alias, the best first."""
    with state().opened() as hx:
        tags = hx.xdb.find_concept(query, limit=limit)
    _print(tags, f"No concept is called {clean(query)!r}.")


@tags.command("load-pack")
@click.argument("path", type=NamedPath(path_type=Path))
def load_pack(path: Path) -> None:
    """Load the concept pack at PATH.

    A .jsonl, .jsonl.gz or .json file, or a folder. The same pack again changes nothing; a newer one keeps what was
    tagged. Makes a store where there is none.
    """
    with state().opened(create=True) as hx, waiting("Loading"):
        report = hx.xdb.load_concept_pack(path)
    show(report, table=_load_pack_lines(report))


def _load_pack_lines(report: PackReport) -> Iterator[str]:
    version = f" {report.version}" if report.version else ""
    done = "unchanged" if report.unchanged else f"{report.created:,} new, {report.removed:,} gone"
    yield (
        f"{clean(report.pack_id)}{clean(version)}  {count(report.concepts, 'concept')} ({done}), "
        f"{count(report.aliases, 'alias', 'aliases')}, {count(report.relations, 'relation')}"
    )
    if report.dangling:
        note(f"{count(report.dangling, 'relation')} to concepts that no loaded pack has.")
    if report.orphans:
        first = ", ".join(map(clean, report.orphans[:5]))
        note(f"{count(len(report.orphans), 'concept')} whose parent no loaded pack has: {first}.")
