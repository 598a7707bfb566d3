"""`hexad graph index`, `query`, `impact` and `show`: how the code hangs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import Group, note, state
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad import CodeAnswer, CodeHit, CodeIndexReport, CodeOverview

_QUESTIONS: Final = (
    "dependencies", "dependents", "callers", "callees", "subclasses", "impact", "path", "definition", "neighbourhood",
)  # fmt: skip
_PROBLEMS_SHOWN: Final = 5
_space = click.option("--space", help="Only of this space; default: all.")
_limit = click.option("--limit", type=int, default=50, show_default=True, help="Maximum number.")


@click.group(cls=Group)
@click.pass_context
def graph(ctx: click.Context) -> None:
    """The code graph: what imports, calls and tests what."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@graph.command("index")
@click.argument("folder", metavar="[FOLDER]", required=False)
@click.option("--space", default="default", show_default=True, help="Space that it is of; created when new.")
def index(folder: str | None, space: str) -> None:
    """Bring the graph of a folder's code up to date; default: the project's.

    `hexad ingest` does the same for the code that it takes in. No memory is made.
    """
    with state().opened(create=True) as hx, meter("Indexing", clock=hx.clock, unit="files") as advance:
        report = hx.graph.index(
            folder, space=space, progress=lambda step: advance(step.done, step.total, step.current)
        )
    show(report, table=_index_lines(report))


def _index_lines(report: CodeIndexReport) -> Iterator[str]:
    done = [
        count(number, what) if what == "file" else f"{number} {what}"
        for number, what in (
            (report.created, "new"),
            (report.updated, "changed"),
            (report.renamed, "renamed"),
            (report.removed, "removed"),
            (report.unchanged, "unchanged"),
        )
        if number
    ]
    yield f"{clean(report.root)}: {count(report.files, 'file')} of code in the graph" + (
        f" ({', '.join(done)})" if done else ""
    )
    for path, problem in report.problems[:_PROBLEMS_SHOWN]:
        note(f"{clean(path)}: {clean(problem)}; what can be read of it is in the graph.")
    if len(report.problems) > _PROBLEMS_SHOWN:
        note(f"{len(report.problems) - _PROBLEMS_SHOWN} more could be read in part.")
    if report.unread:
        left = ", ".join(f"{number} of {language}" for language, number in report.unread.items())
        note(f"Left out: {left}. The extra `code` reads them: pip install 'hexad[code]', then index again.")
    if not report.files:
        note("No code was found there in a language that is read.")


@graph.command("query")
@click.argument("question", type=click.Choice(_QUESTIONS), metavar="QUESTION")
@click.argument("target", metavar="TARGET")
@click.option("--to", help="The other end of a path.")
@click.option("--depth", type=int, default=1, show_default=True, help="How many edges are followed.")
@_limit
@_space
def query(question: str, target: str, **options: Any) -> None:
    """Ask about a file, a folder, a symbol, a module, a line (`path:12`) or a library.

    QUESTION is dependencies, dependents, callers, callees, subclasses, impact, path, definition or neighbourhood.
    """
    with state().opened() as hx:
        answer = hx.graph.query(question, target, **options)
    show(answer, table=_answer_lines(answer))


@graph.command("impact")
@click.argument("target", metavar="TARGET")
@click.option(
    "--depth",
    type=int,
    default=1,
    show_default=True,
    help="How many edges are followed; 1 is as many as six.",
)
@_limit
@_space
def impact(target: str, **options: Any) -> None:
    """List the files and tests that a change of TARGET may break, the likeliest first."""
    with state().opened() as hx:
        answer = hx.graph.impact(target, **options)
    show(answer, table=_answer_lines(answer))


def _answer_lines(answer: CodeAnswer) -> Iterator[str]:
    if answer.question.value != "definition":
        for node in answer.targets[:_PROBLEMS_SHOWN]:
            note(
                f"{clean(node.name)}, {clean(node.location)}"
                if node.type == "symbol"
                else clean(node.location)
            )
    rows = [_row(hit, answer.question.value) for hit in answer.hits]
    if rows:
        yield from table(rows, heads=("where", "what", "how", "sure"), room=table_room(), whole=("where",))
    else:
        note("Nothing.")
    for words in answer.notes:
        note(clean(words))


def _row(hit: CodeHit, question: str) -> tuple[str, ...]:
    node = hit.node
    what = node.signature or node.name
    if node.type != "symbol":
        what = "tests" if node.is_test else node.type
    how = (
        hit.relation
        if question == "definition"
        else f"{hit.relation}, line {hit.line}"
        if hit.line
        else hit.relation
    )
    if hit.distance > 1 or question == "path":
        how += f" (step {hit.distance})"
    return clean(node.location), clean(what), clean(how), f"{hit.confidence:.2f}"


@graph.command("show")
@_space
def show_(space: str | None) -> None:
    """Say what the graph holds, and what most files import."""
    with state().opened() as hx:
        overview = hx.graph.show(space=space)
    show(overview, table=_overview_lines(overview))


def _overview_lines(overview: CodeOverview) -> Iterator[str]:
    if not overview.nodes["file"]:
        note(
            "There is no code graph yet. `hexad graph index` reads the project's code, and `hexad ingest` does."
        )
        return
    yield f"{count(overview.nodes['file'], 'file')}: " + ", ".join(
        f"{clean(name)} {number}" for name, number in overview.languages.items()
    )
    yield f"{count(overview.nodes['symbol'], 'symbol')}, {count(overview.nodes['library'], 'library', 'libraries')}"
    yield "edges: " + ", ".join(
        f"{name.replace('_', ' ')} {number}" for name, number in overview.edges.items()
    )
    for each in overview.slices:
        yield f"slice {clean(each.name)}: {count(each.files, 'file')}"
    if overview.most_imported:
        yield "imported most: " + ", ".join(
            f"{clean(hit.node.path)} ({hit.weight:.0f})" for hit in overview.most_imported
        )
    for first, second, times in overview.changed_together:
        yield f"changed together: {clean(first)} and {clean(second)} ({count(times, 'commit')})"
    for path, problem in overview.problems:
        note(f"{clean(path)}: {clean(problem)}")
