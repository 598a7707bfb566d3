"""`hexad xdb activity`: how much was recorded, and how active concepts were, over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, note, several, state
from hexad.interfaces.cli.app.completion import concept_ids
from hexad.interfaces.cli.experience.options import session_option, time_range
from hexad.interfaces.cli.experience.render import short
from hexad.interfaces.cli.output.plots import (
    Line,
    Row,
    chart_columns,
    draw,
    glyphs,
    heat_legend,
    number,
    over_time,
)
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, clip, count, show, width

if TYPE_CHECKING:
    from hexad import ActivityBucket, ConceptActivity, Hexad

_UNITS: Final = [unit.value for unit in hexad.ActivityUnit]
_STEPS: Final = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
}
_MEASURES: Final[dict[str, Callable[[ConceptActivity], float]]] = {
    "mean": lambda activity: activity.mean,
    "peak": lambda activity: activity.peak,
    "count": lambda activity: float(activity.count),
}
_USUAL: Final = "hour"
_NO_CONCEPTS: Final[Sequence[str]] = ()


@click.command(cls=Command)
@session_option("Only of this session.")
@click.option(
    "--by", "unit", type=click.Choice(_UNITS), help="Count by this; default: what fits, with --json hour."
)
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    metavar="ID",
    shell_complete=concept_ids,
    help="Show this concept; repeatable. Default: the ten strongest.",
)
@click.option("--since", metavar="TIME", help="Only from this time on: RFC 3339 or a date.")
@click.option("--until", metavar="TIME", help="Only before this time: RFC 3339 or a date.")
@click.option(
    "--measure",
    type=click.Choice([*_MEASURES]),
    default="mean",
    show_default=True,
    help="Of a concept's scores: their mean, the highest, or how many there are.",
)
def activity(
    *,
    session_id: str | None,
    unit: str | None,
    concepts: tuple[str, ...],
    since: str | None,
    until: str | None,
    measure: str,
) -> None:
    """Show how much was recorded, and how active concepts were.

    A plot over time, in UTC: columns for the tokens, below them a row for each concept. What has left full detail
    counts by its COLD records, each where it begins.
    """
    filters: dict[str, Any] = {
        "session_id": "*" if session_id is None else session_id,
        "time_range": time_range(since, until),
    }
    with state().opened() as hx, waiting("Counting"):
        unit = unit or (_USUAL if state().json else _fitting(hx, filters))
        buckets = hx.xdb.activity(by=unit, concepts=several(concepts), **filters)
    show(buckets, table=_plot(buckets, unit=unit, measure=measure, concepts=concepts, session=session_id))


def _fitting(hx: Hexad, filters: dict[str, Any]) -> str:
    """Return the finest unit by which all that there is fits beside labels on a line."""
    room = chart_columns(["x" * 16], ["peak 0.00"], room=width())
    days = hx.xdb.activity(by="day", concepts=_NO_CONCEPTS, **filters)
    if not days:
        return _USUAL
    span = days[-1].end - days[0].start
    if span <= timedelta(days=2):
        hours = hx.xdb.activity(by="hour", concepts=_NO_CONCEPTS, **filters)
        span = hours[-1].end - hours[0].start
    return next((unit for unit, step in _STEPS.items() if span / step <= room), "month")


def _plot(
    buckets: Sequence[ActivityBucket],
    *,
    unit: str,
    measure: str,
    concepts: Sequence[str],
    session: str | None,
) -> Iterator[str]:
    yield from ()  # `draw` prints what may have colours
    if not buckets:
        note("Nothing was recorded then.")
        return
    room = width()
    names = _named(buckets, concepts)
    by_start = {bucket.start: bucket for bucket in buckets}
    times = _times(buckets[0].start, buckets[-1].start, unit)
    rows = _rows(names, by_start, times, measure)
    fits = chart_columns([*(row.label for row in rows), "1,000"], [row.said for row in rows], room=room)
    left_out, times = len(times) - len(times[-fits:]), times[-fits:]
    rows = _rows(names, by_start, times, measure)
    shown = [by_start[time] for time in times if time in by_start]
    tokens, title = sum(bucket.tokens for bucket in shown), f"tokens by {unit}"
    volume = Row(
        label=title,
        values=[float(by_start[time].tokens) if time in by_start else None for time in times],
        said=clip(
            f"{clean(session or 'all sessions')}, {_days(times)}, {count(tokens, 'token')}",
            room - len(title) - 2,
        ),
    )
    of = glyphs()
    lines: list[Line] = over_time(volume, rows, times=times, step=_STEPS[unit], room=room, of=of)
    if rows:
        lines.append(heat_legend(rows, unit=_meaning(measure), of=of))
    draw(lines)
    compressed = sum(bucket.compressed for bucket in shown)
    if compressed:
        note(
            f"{compressed:,} of {count(sum(bucket.timesteps for bucket in shown), 'timestep')} "
            "are known from COLD records."
        )
    if left_out:
        note(f"{count(left_out, unit)} before these: --until, or a coarser --by, show them.")


def _days(times: Sequence[datetime]) -> str:
    first, last = f"{times[0]:%Y-%m-%d}", f"{times[-1]:%Y-%m-%d}"
    return first if first == last else f"{first} to {last}"


def _meaning(measure: str) -> str:
    return {"mean": "mean score", "peak": "highest score", "count": "times active"}[measure]


def _named(buckets: Sequence[ActivityBucket], concepts: Sequence[str]) -> Sequence[str]:
    """Return the concepts to show: those asked for, else the strongest first."""
    if concepts:
        return concepts
    totals: dict[str, float] = {}
    for bucket in buckets:
        for name, concept in bucket.concepts.items():
            totals[name] = totals.get(name, 0.0) + concept.count * concept.mean
    return sorted(totals, key=lambda name: (-totals[name], name))


def _rows(
    names: Sequence[str], by_start: dict[datetime, ActivityBucket], times: Sequence[datetime], measure: str
) -> list[Row]:
    shorts = [short(name) for name in names]
    measured = _MEASURES[measure]
    rows = []
    for name, label in zip(names, shorts, strict=True):
        cells = [by_start[time].concepts.get(name) if time in by_start else None for time in times]
        values = [None if cell is None else measured(cell) for cell in cells]
        highest = max((value for value in values if value is not None), default=0.0)
        label_text = number(highest) if measure == "count" else f"{highest:.2f}"
        rows.append(
            Row(label=label if shorts.count(label) == 1 else name, values=values, said=f"max {label_text}")
        )
    return rows


def _times(first: datetime, last: datetime, unit: str) -> list[datetime]:
    """Return where all buckets from the first to the last begin, the empty ones too."""
    times = [first]
    while times[-1] < last:
        time = times[-1]
        if unit == "month":
            times.append(time.replace(year=time.year + time.month // 12, month=time.month % 12 + 1))
        else:
            times.append(time + _STEPS[unit])
    return times
