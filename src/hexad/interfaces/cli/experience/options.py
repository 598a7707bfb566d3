"""What the commands about experience read alike from what was typed: ticks, times, concepts, targets, tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

import hexad
from hexad.interfaces.cli.app.base import Function
from hexad.interfaces.cli.app.completion import session_ids

if TYPE_CHECKING:
    from hexad import Hexad, Tag

_SHOWN: Final = 80
_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf"
_CONCEPT: Final = re.compile(rf"(.+?)(?::({_NUMBER})(?::({_NUMBER}))?|:)?", re.DOTALL)
_TICKS: Final = re.compile(r"(\d{1,16})(?:-(\d{1,16}))?")
_EARLIEST, _LATEST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"


class Ticks(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """Ticks from A to B, both ends included, as `A-B`; one tick as `A`."""

    name = "ticks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return the range; fails for what is none."""
        if isinstance(value, tuple):
            return value
        match = _TICKS.fullmatch(value)
        if match is None:
            self.fail(f"{_shown(value)} is no range of ticks; write FIRST-LAST, such as 3-17.", param, ctx)
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            self.fail(f"{_shown(value)} ends before it begins; write FIRST-LAST, such as 3-17.", param, ctx)
        return first, last


class ConceptRange(NamedTuple):
    """A concept, and the scores that are asked for."""

    name: str
    low: float | None
    high: float | None


class ConceptParam(click.ParamType):  # type: ignore[type-arg]
    """A concept's id, alone or with scores, as `ID`, `ID:MIN` or `ID:MIN:MAX`; a colon at the end ends the id."""

    name = "concept"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ConceptRange:
        """Return the concept and its bounds; fails for none at all, and for bounds in the wrong order."""
        if isinstance(value, ConceptRange):
            return value
        match = _CONCEPT.fullmatch(value)
        if match is None:
            self.fail("'' is no concept; give an id such as pack::Term.", param, ctx)
        low, high = (None if bound is None else float(bound) for bound in match.group(2, 3))
        if low is not None and high is not None and low > high:
            self.fail(f"{_shown(value)}: the lowest score is above the highest.", param, ctx)
        return ConceptRange(match[1], low, high)


MIN_ACTIVATION: Final = 0.5
"""What a concept without MIN is asked for, as in the library."""
TICKS: Final = Ticks()
CONCEPT: Final = ConceptParam()


def concept_ranges(concept_ranges: tuple[ConceptRange, ...]) -> dict[str, tuple[float, float]] | None:
    """Return what `recall` takes, of a name alone what its list form means; None where no concept was named."""
    return {
        concept_range.name: (
            MIN_ACTIVATION if concept_range.low is None else concept_range.low,
            float("inf") if concept_range.high is None else concept_range.high,
        )
        for concept_range in concept_ranges
    } or None


def time_range(since: str | None, until: str | None) -> tuple[str, str] | None:
    """Return a range of times of which either end may be open; None where neither was given."""
    if since is None and until is None:
        return None
    return _EARLIEST if since is None else since, _LATEST if until is None else until


# Options ----------------------------------------------------------------------------------------------------


def session_option(text: str, *, required: bool = False) -> Callable[[Function], Function]:
    """Return `--session`, with its help."""
    return click.option(
        "--session",
        "session_id",
        required=required,
        metavar="ID",
        help=text,
        shell_complete=session_ids,
    )


_TARGET: Final = (
    click.option("--timestep", "timestep_id", metavar="ID", help="One timestep, such as ts-monday-17."),
    click.option("--event", "event_id", metavar="ID", help="One event: all timesteps that carry this id."),
    click.option(
        "--ticks", "tick_range", type=TICKS, metavar="A-B", help="A range of ticks, both ends included."
    ),
    session_option("Of which session; an event and a range of ticks need it."),
)


def target_options(function: Function) -> Function:
    """Add what names a timestep, an event or a range of ticks."""
    for option in reversed(_TARGET):
        function = option(function)
    return function


def require_one_target(options: dict[str, Any]) -> None:
    """Raise `UsageError` unless what was typed names one thing, and its session where it needs one."""
    names = {"timestep_id": "--timestep", "event_id": "--event", "tick_range": "--ticks"}
    typed = [option for key, option in names.items() if options[key] is not None]
    if len(typed) != 1:
        words = " and ".join(typed) if typed else "none"
        raise click.UsageError(f"Give exactly one of --timestep, --event and --ticks; {words} given.")
    if typed != ["--timestep"] and options["session_id"] is None:
        raise click.UsageError(f"{typed[0]} needs --session: ticks and events are counted in each anew.")


# Tags by name -----------------------------------------------------------------------------------------------


def tag_of(hx: Hexad, name_or_id: str) -> Tag:
    """Return the tag of this id or name; raises `NotFound`."""
    tag = hx.xdb.tag_index.resolve(name_or_id)
    if tag is None:
        raise hexad.NotFound(f"Tag {_shown(name_or_id)} is not there; `hexad tags list` shows what there is.")
    return tag


def _shown(value: str) -> str:
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
