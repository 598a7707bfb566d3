"""`hexad project …`: what is true of the project, and what its repository gives away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import Group, note, state
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad import ComponentSummary, Detected, ProjectFact

_CATEGORIES: Final = ("decision", "pattern", "todo", "tech_stack", "convention")
_category = click.argument("category", type=click.Choice(_CATEGORIES), metavar="CATEGORY")
_component = click.option("--component", help="The part of the project that it is about; default: all of it.")
_space = click.option("--space", default="project", show_default=True, help="Space of the facts.")


@click.group(cls=Group)
@click.pass_context
def project(ctx: click.Context) -> None:
    """Show what is true of the project, and look at its repository.

    Without a command it lists the facts.
    """
    if ctx.invoked_subcommand is None:
        with state().opened() as hx:
            facts = hx.project.get()
        _show(facts)


@project.command("facts")
@click.option("--category", type=click.Choice(_CATEGORIES), help="Only of this category.")
@click.option("--key", help="Only under this key.")
@click.option("--component", help="Only about this part of the project.")
@click.option("--min-confidence", type=float, default=0.0, show_default=True, help="Only from this on.")
@click.option("--no-drafts", is_flag=True, help="Leave out what was inferred and not confirmed.")
@_space
@click.option("--limit", type=int, default=200, show_default=True, help="Maximum number.")
def facts_(*, no_drafts: bool, **options: Any) -> None:
    """List the facts that stand, the most important first."""
    with state().opened() as hx:
        facts = hx.project.get(drafts=not no_drafts, **options)
        is_empty = not facts and not hx.project.get(space=options["space"], limit=1)
    _show(facts, is_empty=is_empty)


def _show(facts: Sequence[ProjectFact], *, is_empty: bool = True) -> None:
    show({"facts": facts}, table=_fact_lines(facts, is_empty=is_empty))


def _fact_lines(facts: Sequence[ProjectFact], *, is_empty: bool) -> Iterator[str]:
    rows = [
        (
            fact.category.value,
            fact.key,
            _value(fact),
            f"{fact.confidence:.2f}",
            _seen(fact),
        )
        for fact in facts
    ]
    if rows:
        yield from table(
            rows, heads=("category", "key", "value", "sure", "from"), room=table_room(), whole=("key",)
        )
    elif not is_empty:
        note("No fact matches the filter; `hexad project facts` without it lists all.")
    else:
        note("Nothing is known of the project. `hexad project detect` looks at its repository.")
    drafts = sum(fact.draft for fact in facts)
    if drafts:
        note(
            f"{count(drafts, 'draft')} among them; `hexad project confirm CATEGORY KEY` says that one is so."
        )


def _value(fact: ProjectFact) -> str:
    value = fact.value
    if isinstance(value, Mapping):  # a decision's, as it was taken
        told = [value[name] for name in ("title", "choice", "value") if value.get(name)]
        return "; ".join(dict.fromkeys(map(_words, told or [value])))
    return _words(value).rstrip(".")


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _seen(fact: ProjectFact) -> str:
    if not fact.draft:
        return "said"
    return "seen in " + fact.citations[0].path if fact.citations else "inferred"


@project.command()
@click.option("--component", help="Only about this part of the project.")
@click.option(
    "--space", help="Only of this space; default: the project's, and what texts of the default one say."
)
def todos(component: str | None, space: str | None) -> None:
    """List the open todos, the most important first."""
    with state().opened() as hx:
        facts = hx.project.get_todos(component=component, space=space)
    show({"todos": facts}, table=_todo_lines(facts))


def _todo_lines(facts: Sequence[ProjectFact]) -> Iterator[str]:
    for fact in facts:
        yield f"{clean(fact.key)}  {clean(fact.text)}"
    if not facts:
        note("No todo is open.")


@project.command()
@click.argument("key")
@_component
@click.option("--space", help="Only of this space; default: the project's, and the default one.")
def done(key: str, component: str | None, space: str | None) -> None:
    """Say that the todo KEY is done: it is archived.

    `hexad memory restore` brings it back.
    """
    with state().opened() as hx:
        fact = hx.project.done(key, component=component, space=space)
    show(fact, table=f"done  {clean(fact.text)}")


@project.command()
@_space
def components(space: str) -> None:
    """List the parts of the project and what they are."""
    with state().opened() as hx:
        summaries = hx.project.components(space=space)
    show({"components": summaries}, table=_component_lines(summaries))


def _component_lines(summaries: Sequence[ComponentSummary]) -> Iterator[str]:
    for summary in summaries:
        yield f"{click.style(clean(summary.name), bold=True)}  {clean(summary.summary)}"
    if not summaries:
        note("No component is known.")


@project.command()
@_category
@click.argument("key")
@_component
@_space
def confirm(category: str, key: str, component: str | None, space: str) -> None:
    """Say of the draft KEY that it is so."""
    with state().opened() as hx:
        fact = hx.project.confirm(category, key, component=component, space=space)
    show(fact, table=f"confirmed  {clean(fact.text)}")


@project.command()
@click.argument("root", required=False)
@_space
@click.option("--dry-run", is_flag=True, help="Only show what would be found; note nothing.")
def detect(root: str | None, *, space: str, dry_run: bool) -> None:
    """Look at the repository and note what its files give away.

    ROOT is by default the folder of the project. What is found are drafts: what somebody said is believed. Nothing is
    run. `hexad init` and `hexad maintain` look by themselves; `hexad project forget-detected` takes it back.
    """
    with state().opened() as hx:
        report = hx.project.detect(root, space=space, dry_run=dry_run)
    show(report, table=_detected_lines(report))


def _detected_lines(report: Detected) -> Iterator[str]:
    if report.dry_run:
        for finding in report.findings:
            yield clean(
                f"{finding.category.value}  {finding.key} = {_words(finding.value)}"
                f"  {', '.join(finding.seen_in[:2])}"
            )
    for what, facts in (("new", report.new), ("changed", report.changed)):
        for fact in facts:
            yield f"{what}  {clean(fact.text)}"
    for finding in report.differs:
        yield clean(
            f"differs  {finding.key}: the files say {_words(finding.value)}, somebody said something else"
        )
    note(
        f"{count(report.files, 'file')} looked at: {count(len(report.findings), 'finding')}"
        + ("" if report.dry_run else f", {len(report.seen_again):,} seen again, {len(report.known):,} known")
    )
    if report.new or report.changed:
        note("`hexad project forget-detected` takes it back.")
    for line in report.notes:
        note(clean(line))


@project.command("forget-detected")
@_space
@click.option("--dry-run", is_flag=True, help="Only show what would be archived.")
def forget_detected(*, space: str, dry_run: bool) -> None:
    """Archive what looks at the repository noted and nobody confirmed.

    `hexad maintain` looks no more until `hexad project detect` is called; `hexad memory restore` brings a fact back.
    """
    with state().opened() as hx:
        facts = hx.project.forget_detected(space=space, dry_run=dry_run)
    show({"archived": facts, "dry_run": dry_run}, table=_forgotten_lines(facts, dry_run=dry_run))


def _forgotten_lines(facts: Sequence[ProjectFact], *, dry_run: bool) -> Iterator[str]:
    for fact in facts:
        yield f"{'would be archived' if dry_run else 'archived'}  {clean(fact.text)}"
    if not facts:
        note("Nothing of what was detected stands unconfirmed.")
