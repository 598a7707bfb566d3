"""`hexad xdb …`: the experience database; its sessions here, a module for each other subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import EXIT_INTEGRITY, Group, note, state
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, count, fits, show, table, table_room

if TYPE_CHECKING:
    from hexad import Hexad, SessionInfo, StreamReport


_HERE: Final = "hexad.interfaces.cli"
_MODULES: Final = {
    "experience.recall": ("recall",),
    "experience.record": ("record",),
    "experience.annotations": ("tag", "untag", "tags", "comment", "uncomment", "comments"),
    "experience.windows": ("pin", "unpin", "windows"),
    "experience.buds": ("buds", "bud", "submit", "resolve", "submissions", "export", "verify"),
    "experience.context": ("context", "compact", "compactions", "compressed"),
    "experience.activity": ("activity",),
    "experience.storage": ("usage", "compress", "contract"),
}
_LAZY: Final = {
    "show": f"{_HERE}.experience.recall:show_",
    **{name: f"{_HERE}.{module}:{name}" for module, names in _MODULES.items() for name in names},
    "accept-lost": f"{_HERE}.experience.storage:accept_lost",
}


@click.group(cls=Group, lazy=_LAZY)
@click.pass_context
def xdb(ctx: click.Context) -> None:
    """Experience: recall it, record, tag, keep, compress it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_HEADS: Final[Sequence[str]] = ("session", "begun", "ended", "timesteps", "tokens", "last tick", "window")
_NOTHING: Final = hexad.Amount()


@xdb.command()
@click.option("--running", is_flag=True, help="Only those that have not ended.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Skip this many at the end.")
def sessions(*, running: bool, limit: int, offset: int) -> None:
    """List the latest sessions, the oldest first.

    With the size of each, and how full its context window is.
    """
    with state().opened() as hx, waiting("Counting"):
        wanted_session_infos = [
            session for session in hx.xdb.sessions() if not running or session.ended_at is None
        ]
        end = len(wanted_session_infos) - offset
        rows = [*_told(hx, wanted_session_infos[max(0, end - limit) : max(0, end)])]
    show(
        [{**session_info.to_dict(), **details} for session_info, details in rows],
        table=_sessions_lines(rows, running, offset, limit, end),
    )


def _sessions_lines(
    sessions: list[tuple[SessionInfo, dict[str, Any]]], running: bool, offset: int, limit: int, end: int
) -> Iterator[str]:
    if not sessions:
        begin = "`hexad xdb record --session NAME` begins one."
        note(f"No sessions yet; {begin}" if not running and not offset else f"No session matches; {begin}")
        return
    room = table_room()
    heads, rows = _HEADS, [_row(*row) for row in sessions]
    if not fits(rows, heads=heads, room=room):  # the window's size and the last tick are there with --json
        heads, rows = _narrow(_HEADS), [_narrow(row) for row in rows]
    yield from table(rows, heads=heads, room=room, whole=heads[1:])
    if len(sessions) == limit < end:
        note(f"{count(end - limit, 'session')} before these: --limit and --offset show them.")


def _narrow(row: Sequence[str]) -> Sequence[str]:
    *columns, _, window = row
    return (*columns, window.partition(" of ")[0])


def _told(
    hx: Hexad, wanted_session_infos: Sequence[SessionInfo]
) -> Iterator[tuple[SessionInfo, dict[str, Any]]]:
    """Give each session with how much there is of it, and how full its window is."""
    totals = hx.xdb.session_totals()
    for line in totals.notes:
        note(clean(line))
    windows = hx.xdb.get_context_states([session_info.id for session_info in wanted_session_infos])
    for session_info, window in zip(wanted_session_infos, windows, strict=True):
        amount = totals.get(session_info.id, _NOTHING)
        yield (
            session_info,
            {
                "timesteps": amount.timesteps,
                "tokens": amount.tokens,
                "context_tokens": window["current_tokens"],
                "utilization": window["utilization"],
            },
        )


def _row(session_info: SessionInfo, details: dict[str, Any]) -> Sequence[str]:
    return (
        session_info.id,
        f"{session_info.created_at:%Y-%m-%d %H:%M}",
        "–" if session_info.ended_at is None else f"{session_info.ended_at:%Y-%m-%d %H:%M}",
        f"{details['timesteps']:,}",
        f"{details['tokens']:,}",
        f"{session_info.last_tick:,}",
        f"{details['utilization']:.0%} of {session_info.max_context_tokens:,}",
    )


@xdb.command()
@click.argument("session", shell_complete=session_ids)
def end(session: str) -> None:
    """End the session SESSION; recording to it again resumes it."""
    with state().opened() as hx:
        hx.xdb.end_session(session_id=session)
        ended = next(session_info for session_info in hx.xdb.sessions() if session_info.id == session)
    show(ended, table=f"{clean(session)}  ended")


@xdb.command("state")
def state_() -> None:
    """Show how much experience there is, and of what."""
    with state().opened() as hx, waiting("Counting"):
        state_values = hx.xdb.get_state()
    show(state_values, table=_state_lines(state_values))


def _state_lines(values: dict[str, Any]) -> Iterator[str]:
    widest = max(map(len, values))
    for name, value in values.items():
        yield f"{click.style(name.ljust(widest), fg='cyan')}  {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return clean(str(value.get("error", value)))
    return f"{value:,}" if isinstance(value, int) else "–" if value is None else clean(str(value))


@xdb.command()
@click.pass_context
def seal(ctx: click.Context) -> None:
    """Turn the logs into segments now.

    Logs that another program writes to are skipped. `hexad maintain` seals what is large or old. Exit code 5 when a
    log is damaged: it stays, and is named.
    """
    with state().opened() as hx, waiting("Sealing"):
        report = hx.xdb.seal()
    show(report, table=_seal_lines(report))
    if report.problems:
        ctx.exit(EXIT_INTEGRITY)


def _seal_lines(report: StreamReport) -> Iterator[str]:
    logs = count(report.logs, "log")
    yield f"{count(report.rows, 'timestep')} of {logs} sealed into {count(report.segments, 'segment')}"
    for problem in report.problems:
        note(clean(problem))
