"""Plots of text: columns over time, heat maps, gauges, stacked bars. What they say shows without colours too.

A plot is lines, a line is spans of text with a style. Widths are in columns of the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from hexad.interfaces.cli.app.base import on_terminal, state
from hexad.interfaces.cli.output.render import clip, columns

if TYPE_CHECKING:
    from rich.text import Text

Span = tuple[str, str]
"""A text and its style, as rich names styles; "" is plain."""
Line = tuple[Span, ...]

HEAT: Final = ("#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26")
"""From little to much: dark blue to yellow, told apart by people who see few colours too."""
_GAP: Final = 2
_WIDEST_CELL: Final = 12
_CHART_ROWS: Final = 5
_LABEL_ROOM: Final = 22
_TICK_ROOM: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The characters that plots are made of."""

    levels: str  # from little to much, the last one full
    parts: str  # of a cell, from left to right, the last one full
    fills: str  # told apart beside each other
    empty: str
    axis: str
    mark: str


BLOCKS: Final = Glyphs(
    levels="▁▂▃▄▅▆▇█", parts="▏▎▍▌▋▊▉█", fills="█▓▒░╱╳┊=", empty="·", axis="│└─┬", mark="┃"
)
ASCII: Final = Glyphs(levels=".:-=+*#@", parts="#", fills="#=+:/x%~", empty=".", axis="|+-+", mark="|")


def glyphs() -> Glyphs:
    """Return what stdout can show: block characters, or where its encoding has none, ASCII."""
    try:
        "█▁┃".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return ASCII
    return BLOCKS


def draw(lines: Sequence[Line]) -> None:
    """Print a plot: in colours on a terminal that has some, elsewhere as plain text."""
    plain = state().plain or not on_terminal()
    console = None
    if not plain:
        from rich.console import Console

        console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        if console is None:
            click.echo("".join(text for text, _ in line).rstrip())
        else:
            console.print(_text(line))


def _text(line: Line) -> Text:
    from rich.text import Text

    text = Text()
    for part, style in line:
        text.append(part, style or None)
    return text


# Over time --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a heat map: a value for each time, None where there was nothing; `said` stands at its end."""

    label: str
    values: Sequence[float | None]
    said: str = ""


def chart_columns(labels: Sequence[str], labels_right: Sequence[str], *, room: int) -> int:
    """Return for how many columns there is room between labels at the left and words at the right."""
    left = min(max(map(columns, labels), default=0), _LABEL_ROOM)
    right = max(map(columns, labels_right), default=0)
    return max(8, room - left - right - 2 * _GAP - 1)


def over_time(
    volume: Row, heat: Sequence[Row], *, times: Sequence[datetime], step: timedelta, room: int, of: Glyphs
) -> list[Line]:
    """Return columns of `volume` over time, below them a row for each of `heat`, and the times.

    All rows have a value for each of `times`, which are `step` apart. There must be room for a column for each.
    """
    highest = max((value or 0.0 for value in volume.values), default=0.0)
    scale = [*_scale(highest)]
    labels = [*(row.label for row in heat), *(text for text in scale if text)]
    width = chart_columns(labels, [row.said for row in heat], room=room)
    cell = max(1, min(_WIDEST_CELL, width // max(1, len(times))))
    left = min(max(map(columns, labels), default=0), _LABEL_ROOM)
    lines: list[Line] = [((volume.label, "bold"), (f"  {volume.said}" if volume.said else "", "dim"))]
    for number, text in enumerate(scale):
        level = len(scale) - number - 1
        cells = "".join(_part_of_column(value, highest, level, of) * cell for value in volume.values)
        lines.append(((f"{text:>{left}} ", "dim"), (of.axis[0], "dim"), (cells, "green")))
    lines += _axis(times, step=step, cell=cell, left=left, of=of)
    most = max((value or 0.0 for row in heat for value in row.values), default=0.0)
    for row in heat:
        cells_of = [_heat_cell(value, most, of) for value in row.values]
        lines.append(
            (
                (f"{_fit(row.label, left)} ", ""),
                (of.axis[0], "dim"),
                *_merged((glyph * cell, style) for glyph, style in cells_of),
                (f"{' ' * _GAP}{row.said}", "dim"),
            )
        )
    return lines


def heat_legend(rows: Sequence[Row], *, unit: str, of: Glyphs) -> Line:
    """Return what the cells of a heat map stand for."""
    most = max((value or 0.0 for row in rows for value in row.values), default=0.0)
    spans: list[Span] = [("0 ", "dim")]
    spans += [
        (glyph, HEAT[min(at * len(HEAT) // len(of.levels), len(HEAT) - 1)])
        for at, glyph in enumerate(of.levels)
    ]
    return (*spans, (f" {most:.2f} {unit}; blank: nothing", "dim"))


def _scale(highest: float) -> Iterator[str]:
    """Give the labels at the left of the columns, from above: the highest value, its half, nothing between."""
    for row in range(_CHART_ROWS):
        if row == 0:
            yield number(highest)
        elif row == _CHART_ROWS // 2:
            yield number(highest * (_CHART_ROWS - row) / _CHART_ROWS)
        else:
            yield ""


def _part_of_column(value: float | None, highest: float, level: int, of: Glyphs) -> str:
    """Return what shows of a column in one row of characters, counted from below."""
    if not value or highest <= 0:
        return " "
    steps = len(of.levels)
    filled = max(1, round(value / highest * _CHART_ROWS * steps)) - level * steps
    return " " if filled <= 0 else of.levels[min(filled, steps) - 1]


def _heat_cell(value: float | None, most: float, of: Glyphs) -> Span:
    if not value or most <= 0:
        return " ", ""
    share = min(value / most, 1.0)
    steps = len(of.levels)
    level = max(0, min(steps - 1, int(share * steps - 1e-9)))
    return of.levels[level], HEAT[min(level * len(HEAT) // steps, len(HEAT) - 1)]


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Give spans with neighbours of one style joined."""
    pending, result = "", ""
    for text, style in spans:
        if style == result:
            pending += text
            continue
        if pending:
            yield pending, result
        pending, result = text, style
    if pending:
        yield pending, result


def _axis(times: Sequence[datetime], *, step: timedelta, cell: int, left: int, of: Glyphs) -> list[Line]:
    """Return the line below the columns and the times below it."""
    width = len(times) * cell
    form = _Times(times, step)
    marks, texts = [of.axis[2]] * width, [" "] * width
    free = 0
    for at, time in enumerate(times):
        text = form(time)
        if at * cell < free or at * cell + len(text) > width:
            continue
        form.said(time)
        marks[at * cell] = of.axis[3]
        texts[at * cell : at * cell + len(text)] = text
        free = at * cell + len(text) + _TICK_ROOM
    return [
        ((f"{'0':>{left}} {of.axis[1]}{''.join(marks)}", "dim"),),
        ((f"{'':>{left}}  {''.join(texts).rstrip()}", "dim"),),
    ]


class _Times:
    """Says times as short as they can be told apart, and a day where it begins."""

    def __init__(self, times: Sequence[datetime], step: timedelta) -> None:
        span = (times[-1] - times[0] + step) if times else step
        self._within = span <= timedelta(days=1) and len({time.date() for time in times}) == 1
        self._daily = step >= timedelta(days=1)
        self._monthly = step >= timedelta(days=28)
        self._seconds = step < timedelta(minutes=1)
        self._day: object = None

    def __call__(self, time: datetime) -> str:
        if self._monthly:
            return f"{time:%Y-%m}"
        if self._daily:
            return f"{time:%Y-%m-%d}"
        clock = f"{time:%H:%M:%S}" if self._seconds else f"{time:%H:%M}"
        return clock if self._within or time.date() == self._day else f"{time:%m-%d} {clock}"

    def said(self, time: datetime) -> None:
        """Note that a time stands there: what follows on its day needs no date."""
        self._day = time.date()


# Amounts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a whole."""

    label: str
    amount: float
    said: str
    style: str = ""


def stacked(parts: Sequence[Part], *, room: int, of: Glyphs) -> list[Line]:
    """Return parts of a whole as one bar, and a line for each with its share; what is there shows at least once."""
    whole = sum(part.amount for part in parts)
    widths = shares([part.amount for part in parts], room)
    fills = [of.fills[at % len(of.fills)] for at in range(len(parts))]
    bar = tuple((fill * width, part.style) for fill, width, part in zip(fills, widths, parts, strict=True))
    label = max((columns(part.label) for part in parts), default=0)
    width = max((columns(part.said) for part in parts), default=0)
    lines: list[Line] = [bar if whole else ((of.empty * room, "dim"),)]
    for fill, part in zip(fills, parts, strict=True):
        share = f"{part.amount / whole:>6.1%}" if whole else f"{'–':>6}"
        lines.append(
            ((f"{fill}{fill} ", part.style), (f"{part.label:<{label}}  {part.said:>{width}}  {share}", ""))
        )
    return lines


def shares(amounts: Sequence[float], room: int) -> list[int]:
    """Return how many of `room` columns each amount has: in proportion, and one at least where there is any.

    >>> shares([98, 1, 1, 0], 20)
    [18, 1, 1, 0]
    """
    whole = sum(amounts)
    if not whole:
        return [0] * len(amounts)
    exact = [amount / whole * room for amount in amounts]
    widths = [max(int(share), 1) if share > 0 else 0 for share in exact]
    while sum(widths) != room:
        more = sum(widths) < room
        gaps = [
            (share - width, at)
            for at, (share, width) in enumerate(zip(exact, widths, strict=True))
            if share > 0
        ]
        if not more:
            gaps = [gap for gap in gaps if widths[gap[1]] > 1] or gaps
        _, at = max(gaps) if more else min(gaps)
        widths[at] += 1 if more else -1
    return widths


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """An amount against its limit; `mark` is the share of the limit from which on something happens."""

    label: str
    amount: float
    limit: float
    said: str
    mark: float | None = None


def gauges(rows: Sequence[Gauge], *, room: int, of: Glyphs) -> list[Line]:
    """Return a bar for each amount, all of the same length; over the limit a bar is full and says so."""
    label = max((columns(row.label) for row in rows), default=0)
    label_width = max((columns(row.said) for row in rows), default=0)
    width = max(8, room - label - label_width - 8 - 2 * _GAP)
    lines: list[Line] = []
    for row in rows:
        share = row.amount / row.limit if row.limit > 0 else 0.0
        is_over = row.mark is not None and share >= row.mark
        style = "red" if share >= 1 else "yellow" if is_over else "green"
        lines.append(
            (
                (f"{row.label:<{label}}{' ' * _GAP}", ""),
                *_bar(share, width, style=style, mark=row.mark, of=of),
                (f"{' ' * _GAP}{share:>6.1%}  {row.said}", ""),
            )
        )
    return lines


def _bar(share: float, width: int, *, style: str, mark: float | None, of: Glyphs) -> list[Span]:
    steps = len(of.parts)
    filled = max(1, round(min(share, 1.0) * width * steps)) if share > 0 else 0
    bar = of.parts[-1] * (filled // steps)
    if filled % steps:
        bar += of.parts[filled % steps - 1]
    spans: list[Span] = [(bar, style), (of.empty * (width - len(bar)), "dim")]
    at = None if mark is None else min(width - 1, round(mark * width))
    if at is None or at < len(bar):
        return spans
    rest = width - at - 1
    return [(bar, style), (of.empty * (at - len(bar)), "dim"), (of.mark, "bold"), (of.empty * rest, "dim")]


# Numbers ----------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number in few characters.

    >>> number(0), number(0.25), number(950), number(12_400), number(3_000_000)
    ('0', '0.25', '950', '12.4k', '3M')
    """
    for limit, divisor, unit in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= limit:
            return f"{value / divisor:.3g}{unit}"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 100 else f"{value:.2g}"


def _fit(text: str, room: int) -> str:
    shown = clip(text, room)
    return " " * (room - columns(shown)) + shown
