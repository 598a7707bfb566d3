"""`hexad xdb pin`, `unpin`, `windows`: what stays in full detail, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, confirm, note, state
from hexad.interfaces.cli.app.completion import submission_ids, tag_names, window_ids
from hexad.interfaces.cli.experience.options import TICKS, session_option
from hexad.interfaces.cli.experience.render import ticks
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad import Hexad, TimeWindow

_FIDELITIES: Final = [fidelity.value for fidelity in hexad.Fidelity]


@click.command(cls=Command)
@click.argument("tick_range", type=TICKS, metavar="A-B")
@session_option("Of this session.", required=True)
@click.option("--reason", help="Why, such as interesting or bud:ferries.")
def pin(tick_range: tuple[int, int], *, session_id: str, reason: str | None) -> None:
    """Keep the ticks A to B in full detail until they are unpinned.

    Pinned tokens count against the contract's quota. The same range again is the same window.
    """
    with state().opened() as hx:
        window = hx.xdb.pin_window(tick_range, session_id=session_id, reason=reason)
        used, quota = hx.xdb.warm_tokens(), hx.xdb.contract.warm_quota_tokens
    show(
        {**window.to_dict(), "warm_used_tokens": used, "warm_quota_tokens": quota},
        table=_pin_lines(window, used, quota),
    )


def _pin_lines(window: TimeWindow, used: int, quota: int) -> Iterator[str]:
    yield _line(window, "pinned")
    note(f"{used:,} of {count(quota, 'token')} {'is' if used == 1 else 'are'} pinned.")


@click.command(cls=Command)
@click.argument("window", shell_complete=window_ids)
@click.option("--dry-run", is_flag=True, help="Only report what would happen to it.")
@click.option("--yes", is_flag=True, help="Do not ask before detail is given up.")
def unpin(window: str, *, dry_run: bool, yes: bool) -> None:
    """Unpin a window, by its id WINDOW.

    What of it has left its session's context becomes a summary for each event at once, and its tokens are gone; the
    rest is as if it had not been pinned.
    """
    with state().opened() as hx:
        time_window = hx.xdb.get_window(window)
        lost = _left_context(hx, time_window)
        if not dry_run:
            if lost:
                confirm(
                    f"Give up the detail of the ticks {ticks(time_window.start_tick, lost)} "
                    f"of {clean(time_window.session_id)!r}?",
                    yes=yes,
                    without="see with --dry-run what would become of it",
                )
            with waiting("Unpinning"):
                time_window = hx.xdb.unpin_window(window)
    show({**time_window.to_dict(), "dry_run": dry_run}, table=_unpin_lines(dry_run, lost, time_window))


def _unpin_lines(dry_run: bool, lost: int, time_window: TimeWindow) -> Iterator[str]:
    if dry_run:
        outcome = (
            "would be as if it had not been pinned" if not lost else f"would be COLD up to tick {lost:,}"
        )
        yield f"{clean(time_window.id)}  {outcome}"
    else:
        yield _line(time_window, "unpinned")


def _left_context(hx: Hexad, window: TimeWindow) -> int:
    """Return the last tick of a window that has left its session's context, 0 for none."""
    session = next(session_info for session_info in hx.xdb.sessions() if session_info.id == window.session_id)
    last = min(session.compacted_through, window.end_tick)
    return last if last >= window.start_tick else 0


@click.command(cls=Command)
@session_option("Only of this session.")
@click.option(
    "--ticks", "tick_range", type=TICKS, metavar="A-B", help="Only those that share a tick with these."
)
@click.option("--fidelity", type=click.Choice(_FIDELITIES), help="Only those in this state.")
@click.option("--pinned/--unpinned", default=None, help="Only those that are pinned, or that are not.")
@click.option(
    "--tag", metavar="TAG", shell_complete=tag_names, help="Those that share a tick with what this tag is on."
)
@click.option(
    "--submission", metavar="ID", shell_complete=submission_ids, help="Those that this submission named."
)
def windows(
    *,
    session_id: str | None,
    tick_range: tuple[int, int] | None,
    fidelity: str | None,
    pinned: bool | None,
    tag: str | None,
    submission: str | None,
) -> None:
    """List windows, by session and tick.

    A window is warm while it is pinned or in its time of grace, submitted while a submission needs it, cold afterwards.
    """
    others = any(value is not None for value in (session_id, tick_range, fidelity, pinned))
    if (tag is not None) + (submission is not None) + others > 1:
        raise click.UsageError("--tag, --submission and the other filters go alone; give one kind of them.")
    with state().opened() as hx:
        if tag is not None:
            windows = hx.xdb.get_windows_for_tag(tag)
        elif submission is not None:
            windows = hx.xdb.get_windows_for_submission(submission)
        else:
            windows = hx.xdb.windows(
                session_id=session_id, tick_range=tick_range, fidelity=fidelity, pinned=pinned
            )
    show(windows, table=_windows_lines(windows))


def _windows_lines(windows: list[TimeWindow]) -> Iterator[str]:
    if not windows:
        note("No window matches.")
        return
    yield from window_table(windows, room=table_room())


def window_table(windows: Sequence[TimeWindow], *, room: int | None) -> list[str]:
    """Return windows as a table."""
    rows = [
        (
            window.id,
            window.session_id,
            ticks(window.start_tick, window.end_tick),
            window.fidelity.value,
            f"{window.token_count:,}",
            _why(window),
        )
        for window in windows
    ]
    heads = ("id", "session", "ticks", "detail", "tokens", "why")
    return table(rows, heads=heads, room=room, whole=("id", "ticks", "detail", "tokens"))


def _why(window: TimeWindow) -> str:
    reasons = [f"submitted: {submission_id}" for submission_id in window.submission_ids]
    if window.pinned:
        reasons.append("pinned" if window.pinned_reason is None else f"pinned: {window.pinned_reason}")
    if window.grace_until is not None:
        reasons.append(f"until {window.grace_until:%Y-%m-%d %H:%M}")
    return ", ".join(reasons)


def _line(window: TimeWindow, done: str) -> str:
    where = f"{clean(window.session_id)}, ticks {ticks(window.start_tick, window.end_tick)}"
    return f"{clean(window.id)}  {done}  {where}  ({window.fidelity.value}, {count(window.token_count, 'token')})"
