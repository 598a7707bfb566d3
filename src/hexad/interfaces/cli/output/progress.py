"""How far a long piece of work is, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import click

from hexad.interfaces.cli.app.base import state
from hexad.interfaces.cli.output.render import clean

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID
    from rich.status import Status

    from hexad import Clock

SHOWN_AFTER_S: Final = 0.5
"""Work that is done sooner shows nothing, and does not pay for importing rich."""
LINE_EVERY_S: Final = 5.0
LONG_ITEMS: Final = 50
"""From how many items of slow work on, such as embedding, a bar stands there from the start."""
_BAR_EVERY_S: Final = 0.1


class Meter:
    """Shows how far one piece of work is; call it with what is done, of how many, and what is at hand.

    Nothing shows in the first half second; work with a known `total` that is sure to take long shows at once.
    """

    def __init__(self, label: str, *, clock: Clock, unit: str, total: int | None) -> None:
        self._label, self._clock, self._unit = label, clock, unit
        self._started = clock.monotonic()
        self._shown = self._started - LINE_EVERY_S + SHOWN_AFTER_S
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        if total is not None and total >= LONG_ITEMS and sys.stderr.isatty():
            self._draw(0, total, "", 0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, done: int, total: int | None = None, current: str = "") -> None:
        """Show the new state, unless the last one was shown a moment ago."""
        now = self._clock.monotonic()
        elapsed = now - self._started
        every = _BAR_EVERY_S if self._bars is not None else LINE_EVERY_S
        if elapsed < SHOWN_AFTER_S or (now - self._shown < every and done != total):
            return
        self._shown = now
        rate = done / elapsed
        if sys.stderr.isatty():
            self._draw(done, total, current, rate)
        else:
            self._say(done, total, None if done * 100 < (total or 1) else rate)

    def _say(self, done: int, total: int | None, rate: float | None) -> None:
        """Print a line; without `rate` it is too early to tell how fast it goes."""
        of = f" of {total:,}" if total is not None else ""
        speed = "" if rate is None else f", {_rate(rate)}"
        left = (
            f", {_duration((total - done) / rate)} left"
            if total is not None and done < total and rate
            else ""
        )
        click.echo(f"{self._label}: {done:,}{of} {self._unit}{speed}{left}", err=True)

    def _draw(self, done: int, total: int | None, current: str, rate: float) -> None:
        if self._bars is None:
            self._bars, self._task = _bars(self._label, plain=state().plain)
        assert self._task is not None
        self._bars.update(self._task, completed=done, total=total, current=clean(current), rate=_rate(rate))


def _bars(label: str, *, plain: bool) -> tuple[Bars, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn(
            "{task.fields[current]}",
            markup=False,
            style="dim",
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        ),
        console=Console(stderr=True, no_color=True if plain else None),
        transient=True,
        expand=True,
    )
    bars.start()
    return bars, bars.add_task(label, total=None, current="", rate="")


@contextmanager
def meter(label: str, *, clock: Clock, unit: str = "items", total: int | None = None) -> Iterator[Meter]:
    """Show a piece of work on stderr while the block runs."""
    with Meter(label, clock=clock, unit=unit, total=total) as shown:
        yield shown


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Show on a terminal that work of unknown length goes on, from half a second on, while the block runs.

    Nobody may be asked anything inside: the sign moves on the line where the answer would be typed.
    """
    if not sys.stderr.isatty():
        yield
        return
    sign = _Sign(label, plain=state().plain)
    timer = Timer(SHOWN_AFTER_S, sign.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        sign.take_away()


class _Sign:
    """What turns while one waits. Shown by a timer's thread, taken away by the command's, in whatever order."""

    def __init__(self, label: str, *, plain: bool) -> None:
        self._label, self._plain = label, plain
        self._lock = Lock()
        self._status: Status | None = None
        self._over = False

    def show(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._over:
                console = Console(stderr=True, no_color=True if self._plain else None)
                self._status = console.status(f"{self._label} …", spinner="line")
                self._status.start()

    def take_away(self) -> None:
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()


def _rate(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _duration(seconds: float) -> str:
    """Return seconds for people.

    >>> _duration(8.2), _duration(75)
    ('8 s', '1 min 15 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
