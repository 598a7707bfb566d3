"""`hexad spaces budget`: what calls to models may cost, have cost, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from hexad.interfaces.cli.app.base import Command, note, print_json, state
from hexad.interfaces.cli.output.render import count, fits, table, table_room

if TYPE_CHECKING:
    from hexad import BudgetLine, Hexad

_HEADS = ("of", "provider", "period", "cap", "spent", "reserved", "left")
_NARROW_HEADS = (*_HEADS[:3], "in", *_HEADS[3:])
_AMOUNTS = _HEADS[3:]
_TINY_USD = 1e-8


@click.command(cls=Command)
@click.argument("space", required=False)
def budget(space: str | None) -> None:
    """Show what calls to models may cost, and what they have cost.

    Without SPACE: the project's budget, and every space that has one or has spent something. Reserved is what is set
    aside for calls under way, or whose end nobody saw; it counts as spent.
    """
    with state().opened() as hx:
        lines = list(hx.spaces.budget(space)) if space is not None else _all(hx)
    if state().json:
        print_json([line.to_dict() for line in lines])
        return
    rows: list[Sequence[str]] = [_row(line) for line in lines]
    heads: Sequence[str] = _HEADS
    room = table_room()
    if not fits(rows, heads=heads, room=room):  # dollars and tokens on lines of their own take half as much
        rows, heads = [row for line in lines for row in _narrow_rows(line)], _NARROW_HEADS
    for shown in table(rows, heads=heads, room=room, whole=_AMOUNTS):
        click.echo(shown)
    unpriced = sum(line.spent.unpriced for line in lines if line.provider is None and line.space == space)
    if unpriced:
        note(
            f"Calls without a known price: {unpriced:,}. Name prices in hexad.toml, [prices], to count them in USD."
        )


def _all(hx: Hexad) -> list[BudgetLine]:
    found = list(hx.spaces.budget())
    for space in hx.spaces.list():
        lines = hx.spaces.budget(space.name)
        if any(_says_something(line) for line in lines):
            found += lines
    return found


def _says_something(line: BudgetLine) -> bool:
    capped = line.cap_tokens is not None or line.cap_usd is not None
    return capped or bool(line.spent.calls or line.spent.reserved_calls)


def _row(line: BudgetLine) -> Sequence[str]:
    return (
        f"space {line.space}" if line.space is not None else "project",
        line.provider or "all",
        line.period.value,
        _amount(line.cap_tokens, line.cap_usd) or "none",
        _amount(line.spent.tokens, line.spent.usd) if line.spent.calls else "nothing",
        _amount(line.spent.reserved_tokens, line.spent.reserved_usd)
        if line.spent.reserved_calls
        else "nothing",
        _amount(line.left_tokens, line.left_usd) or "no bound",
    )


def _narrow_rows(line: BudgetLine) -> Iterator[Sequence[str]]:
    of, provider, period, *_ = _row(line)
    spent = line.spent
    dollars = (line.cap_usd, spent.usd, spent.reserved_usd, line.left_usd)
    tokens = (line.cap_tokens, spent.tokens, spent.reserved_tokens, line.left_tokens)
    yield (
        of,
        provider,
        period,
        "USD",
        *("–" if dollar is None else _usd(dollar).lstrip("$") for dollar in dollars),
    )
    yield ("", "", "", "tokens", *("–" if token is None else f"{token:,}" for token in tokens))


def _amount(tokens: int | None, usd: float | None) -> str:
    parts = [] if usd is None else [_usd(usd)]
    if tokens is not None:
        parts.append(count(tokens, "token"))
    return ", ".join(parts)


def _usd(amount: float) -> str:
    """Return an amount with all its digits, so that cap, spent and left add up."""
    whole, _, below = f"{amount:.8f}".partition(".")
    return f"${whole}.{below.rstrip('0'):0<2}" if amount >= _TINY_USD or not amount else f"${amount:.2g}"
