"""`hexad feedback`: say that an answer was helpful or wrong, see what was said, take it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from hexad.interfaces.cli.app.base import Command, note, state
from hexad.interfaces.cli.output.render import clean, count, hanging, show, width

if TYPE_CHECKING:
    from hexad import Feedback, FeedbackStats, VerdictTally


@click.command(cls=Command)
@click.argument("id", required=False)
@click.argument("verdict", required=False, type=click.Choice(["helpful", "wrong"]))
@click.option("--query", help="The question that it answered; the rating counts for similar questions.")
@click.option("--note", "remark", help="Why.")
@click.option("--retract", is_flag=True, help="Take back the feedback with this ID.")
@click.option("--limit", type=int, default=50, show_default=True, help="Maximum number to list.")
@click.option("--stats", is_flag=True, help="Show all feedback in numbers: share helpful, trend, mistakes.")
def feedback(
    id: str | None,
    verdict: str | None,
    query: str | None,
    remark: str | None,
    *,
    retract: bool,
    limit: int,
    stats: bool,
) -> None:
    """Rate an answer as helpful or wrong.

    Later answers heed it. ID is a memory's, or what a context shows in brackets. Without a verdict what was said is
    listed, of one memory or, without an ID, of all. Nothing is deleted by it, and --retract takes it back.
    """
    if retract and (id is None or verdict is not None):
        raise click.UsageError("--retract takes the id of the feedback alone; `hexad feedback` lists them.")
    if stats and (id is not None or retract):
        raise click.UsageError("--stats is of all feedback; give it no ID and no --retract.")
    if verdict is None and (query is not None or remark is not None):
        raise click.UsageError(
            "--query and --note go with a verdict: `hexad feedback ID helpful`, or `wrong`."
        )
    with state().opened() as hx:
        if stats:
            found_stats = hx.feedback_stats(limit=limit)
            return show(found_stats, table=_stats_lines(found_stats))
        if retract and id is not None:
            feedback, message = [hx.retract_feedback(id)], "Retracted."
        elif id is not None and verdict is not None:
            feedback, message = [hx.feedback(id, verdict, query=query, note=remark)], "Noted."
        else:
            feedback, message = hx.feedbacks(id, limit=limit), ""
    show(feedback if verdict is None and not retract else feedback[0], table=_feedback_lines(feedback))
    if message:
        effect = f" It is {feedback[0].effect}." if feedback[0].effect and not retract else ""
        note(message + effect)
    elif not feedback:
        note("There is no feedback yet.")


def _feedback_lines(found_feedback: list[Feedback]) -> Iterator[str]:
    room = width()
    for feedback in found_feedback:
        question = f"  {feedback.query!r}" if feedback.query else ""
        line = f"{feedback.id}  {feedback.verdict}  {feedback.memory_id or feedback.layer.value}{question}"
        yield clean(line)
        yield from hanging(clean(feedback.note), indent=4, room=room) if feedback.note else ()


def _stats_lines(stats: FeedbackStats) -> Iterator[str]:
    if stats.tally.share is None:
        note("There is no feedback yet.")
        return
    room = width()
    yield f"helpful: {_share(stats.tally)}"
    for name, tallies in (("layer", stats.layers), ("question", stats.query_classes)):
        for key, tally in tallies.items():
            yield f"  {name} {key}: {_share(tally)}"
    yield "by 30 days:"
    for period in stats.trend:
        yield f"  {period.start:%Y-%m-%d} to {period.end:%Y-%m-%d}: {_share(period.tally)}"
    if stats.change is not None:
        yield f"  change: {stats.change * 100:+.0f} points"
    if stats.mistakes:
        yield "called wrong most often:"
    for mistake in stats.mistakes:
        queries = "".join(f"  {query!r}" for query in mistake.queries)
        line = f"{mistake.tally.wrong:,} x {mistake.memory_id or f'layer {mistake.layer.value}'}{queries}"
        yield from hanging(clean(line), indent=2, room=room)


def _share(tally: VerdictTally) -> str:
    number = tally.helpful + tally.wrong
    return "no verdicts" if tally.share is None else f"{tally.share:.0%} of {count(number, 'verdict')}"
