"""`hexad spaces …`: named containers of memories: made, listed, governed, emptied, deleted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import (
    Function,
    Group,
    NamedPath,
    confirm,
    json_fault,
    note,
    parse_object,
    quoted,
    read_file,
    state,
)
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import (
    clean,
    clip,
    count,
    fits,
    hanging,
    show,
    size,
    table,
    table_room,
    width,
)

if TYPE_CHECKING:
    from hexad import BudgetLine, DeleteReport, GcReport, Hexad, SpaceInfo


_OPTIONS: Final = (
    click.option(
        "--ttl-days",
        type=float,
        help="Count as old what was not changed for so many days, instead of the policy's.",
    ),
    click.option("--dry-run", is_flag=True, help="Only report what would happen."),
    click.option("--purge", is_flag=True, help="Remove what is old for good, instead of archiving it."),
    click.option("--yes", is_flag=True, help="Do not ask before a purge."),
)


DRY_RUN: Final = "see with --dry-run what would go"


def empty(
    name: str, metadata: Mapping[str, Any] | None = None, *, dry_run: bool, yes: bool, create: bool
) -> tuple[SpaceInfo, int] | None:
    """Purge what is in a space, after asking, and return it and how many memories went.

    None after a dry run, which prints what would go. One that is not there is made with `create`, else it is
    `NotFound`.
    """
    with state().opened(create=create and not dry_run) as hx:
        there = next((space for space in hx.spaces.list() if space.name == name), None)
        if there is None and not create:
            hx.spaces.get(name)
        # Superseded and quarantined ones too, which the summary does not count.
        holds = 0 if there is None else hx.count(space=name, status=None)
        what = count(holds, "memory", "memories")
        if dry_run:
            show(
                {"space": name, "dry_run": True, "memories": holds},
                table=f"{clean(name)}  {what} would be gone for good",
            )
            return None
        if holds:
            confirm(f"Remove {what} of the space {clean(name)!r} for good?", yes=yes, without=DRY_RUN)
        return hx.spaces.create(name, metadata, reset=True), holds


def gc_options(function: Function) -> Function:
    """Add the options of a gc."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def collect(name: str, *, ttl_days: float | None, dry_run: bool, purge: bool, yes: bool) -> None:
    """Run gc on a space and print what it did."""
    with state().opened() as hx:
        if purge and not dry_run:
            planned = hx.spaces.gc(name, ttl_days=ttl_days, dry_run=True, purge=True)
            if planned.purged:
                what = count(planned.purged, "memory", "memories")
                confirm(
                    f"Remove {what} of the space {clean(name)!r} for good?",
                    yes=yes,
                    without=DRY_RUN,
                )
        with meter("Collecting", clock=hx.clock, unit="memories") as advance:
            report = hx.spaces.gc(name, ttl_days=ttl_days, dry_run=dry_run, purge=purge, progress=advance)
    show(report, table=_collect_lines(report))


def _collect_lines(report: GcReport) -> Iterator[str]:
    would = "would be " if report.dry_run else ""
    done = [f"{would}archived {report.archived:,}", f"{would}purged {report.purged:,}"]
    remark = f"kept {report.kept_young:,} younger and {report.kept_pinned:,} pinned"
    yield f"{clean(report.space)}  {', '.join([*done, remark])}"
    if report.cutoff is not None:
        note(f"Old is what was not changed since {report.cutoff:%Y-%m-%d %H:%M}.")
    if report.rules:
        rules = count(report.rules, "retention rule", "retention rules")
        note(f"What {rules} of the policy match{'es' * (report.rules == 1)} has a lifetime of its own.")
    if report.archived and not report.dry_run:
        note("What was archived can be brought back: `hexad memory restore ID`; --json names the first.")


_HERE: Final = "hexad.interfaces.cli"
_FILES: Final = ("export", "restore", "verify", "read-file", "write-file")


@click.group(
    cls=Group,
    lazy={
        "bundle": f"{_HERE}.memory.bundles:bundle",
        "kind": f"{_HERE}.memory.bundles:kind",
        **{name: f"{_HERE}.memory.space_files:{name.replace('-', '_')}" for name in _FILES},
    },
)
@click.pass_context
def spaces(ctx: click.Context) -> None:
    """List, create, govern, export and delete spaces."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@spaces.command("list")
def list_() -> None:
    """List all spaces with what is in them."""
    with state().opened() as hx:
        space_infos = hx.spaces.list()
    show(space_infos, table=_list_lines(space_infos))


def _list_lines(space_infos: Sequence[SpaceInfo]) -> Iterator[str]:
    if not space_infos:
        note("There is no space yet; `hexad remember` makes the first.")
        return
    rows = [
        (
            space.name,
            f"{space.memories:,}",
            f"{space.archived:,}",
            f"{space.pinned:,}",
            size(space.text_bytes),
            f"{space.newest or space.updated_at:%Y-%m-%d %H:%M}",
            ", ".join(sorted(space.policies)),
        )
        for space in space_infos
    ]
    heads = ("space", "memories", "archived", "pinned", "text", "changed", "policies")
    room, whole = table_room(), ("memories", "archived", "pinned", "changed")
    if room is None or fits(rows, heads=heads, room=room):
        yield from table(rows, heads=heads, room=room, whole=whole)
        return
    first, *lines = table([row[:-1] for row in rows], heads=heads[:-1], room=room, whole=whole)
    yield first
    for line, row in zip(lines, rows, strict=True):
        yield line
        yield from hanging(f"policies: {row[-1]}", indent=4, room=room) if row[-1] else ()


@spaces.command("show")
@click.argument("name")
def show_(name: str) -> None:
    """Show one space: what is in it, its metadata and its policy."""
    with state().opened() as hx:
        space = hx.spaces.get(name)
    _show(space)


@spaces.command()
@click.argument("name")
@click.option("--metadata", metavar="JSON", help="A JSON object about the space.")
@click.option("--reset", is_flag=True, help="Empty the space if it is there: its memories are gone for good.")
@click.option("--dry-run", is_flag=True, help="Only report what --reset would remove.")
@click.option("--yes", is_flag=True, help="Do not ask before a space is emptied.")
def create(*, name: str, metadata: str | None, reset: bool, dry_run: bool, yes: bool) -> None:
    """Create the space NAME, or empty it with --reset.

    A reset purges every memory of the space, archived ones and their history too; its policy stays. Makes a store
    where there is none.
    """
    fields = parse_object(metadata, "--metadata")
    if dry_run and not reset:
        raise click.UsageError("--dry-run says what --reset would remove; give both.")
    if reset or (fields or {}).get("reset") is True:
        done = empty(name, fields, dry_run=dry_run, yes=yes, create=True)
        if done is not None:
            _show(done[0])
        return
    with state().opened(create=True) as hx:
        _show(hx.spaces.create(name, fields))


@spaces.command()
@click.argument("name")
@click.argument("values", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--set", "whole", metavar="JSON", help="Replace all of it with this object.")
@click.option("--unset", multiple=True, metavar="KEY", help="Remove this name; repeatable.")
def metadata(*, name: str, values: tuple[str, ...], whole: str | None, unset: tuple[str, ...]) -> None:
    """Show the metadata of the space NAME, or change it.

    KEY=VALUE sets one name, such as project=shop; the value is JSON, else a text. `project` is that of what is
    written into the space from then on, and joins it to that project's use-context.
    """
    changes = _changes([*map(_setting, values), *((key, None) for key in unset)])
    base = parse_object(whole, "--set")
    with state().opened() as hx:
        space = hx.spaces.get(name)
        _require_known(unset, space.metadata if base is None else base)
        if base is not None:
            fields = {key: value for key, value in {**base, **changes}.items() if key not in unset}
            space = hx.spaces.set_metadata(name, fields)
        elif changes:
            space = hx.spaces.set_metadata(name, changes, merge=True)
    show(space, table=_metadata_lines(space, name))


def _metadata_lines(space: SpaceInfo, name: str) -> Iterator[str]:
    yield from _named_lines(space.metadata, room=width())
    if not space.metadata:
        note(f"The space {clean(name)!r} has no metadata.")


def _changes(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return what is to be changed by name; raises `UsageError` for a name that is given twice."""
    twice = next((key for key, times in Counter(key for key, _ in pairs).items() if times > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice!r} is given twice; say once what it is to be.")
    return dict(pairs)


def _require_known(unset: Sequence[str], there: Mapping[str, Any]) -> None:
    for key in unset:
        if key not in there:
            names = ", ".join(sorted(there)) or "none"
            raise click.UsageError(f"--unset {key!r}: there is no such name; there are: {names}.")


@spaces.command()
@click.argument("name")
@click.argument("settings", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--set", "whole", metavar="JSON", help="Replace the whole policy with this object.")
@click.option(
    "--file", "file", type=NamedPath(path_type=Path), help="Replace it with the object in this file."
)
@click.option("--unset", multiple=True, metavar="KEY", help="Remove this setting; repeatable.")
@click.option("--pii", "pii", multiple=True, help="Redact this, such as email, phone or all; repeatable.")
@click.option("--env-allow", multiple=True, help="Keep this variable's value in .env files; repeatable.")
def policy(
    *,
    name: str,
    settings: tuple[str, ...],
    whole: str | None,
    file: Path | None,
    unset: tuple[str, ...],
    pii: tuple[str, ...],
    env_allow: tuple[str, ...],
) -> None:
    """Show the policy of the space NAME, or change it.

    KEY=VALUE changes one setting, such as ttl_days=30 or allow_delete=true; the value is JSON, else a text.
    `docs/spaces.md` names every setting. What is redacted applies to what is written from now on.
    """
    lists = [
        (key, list(values)) for key, values in (("pii_redaction", pii), ("env_allow", env_allow)) if values
    ]
    changes = _changes([*map(_setting, settings), *((key, None) for key in unset), *lists])
    base = _whole(whole, file)
    with state().opened() as hx:
        if base is not None:
            space = hx.spaces.set_policy(name, {**base, **changes})
        elif changes:
            space = hx.spaces.set_policy(name, changes, merge=True)
        else:
            space = hx.spaces.get(name)
    show(space, table=_policy_lines(space, name))


def _policy_lines(space: SpaceInfo, name: str) -> Iterator[str]:
    yield from _named_lines(space.policies, room=width())
    if not space.policies:
        note(f"The space {clean(name)!r} has no policy: the defaults hold.")


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(
            f"{text!r} is no setting; write KEY=VALUE such as ttl_days=30 or project=shop, or --set JSON for all."
        )
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value
    except RecursionError as error:
        raise click.UsageError(f"{quoted(text)} is no setting: {json_fault(error)}.") from error


def _whole(text: str | None, file: Path | None) -> Mapping[str, Any] | None:
    if file is None:
        return parse_object(text, "--set")
    if text is not None:
        raise click.UsageError("--set and --file both replace the whole policy; give one of them.")
    try:
        return parse_object(read_file(file).decode("utf-8"), "--file")
    except OSError as error:
        raise click.BadParameter(
            f"{str(file)!r} cannot be read: {error.strerror}.", param_hint="--file"
        ) from error
    except UnicodeDecodeError as error:
        raise click.BadParameter(
            f"{str(file)!r} is no UTF-8 text: byte {error.start} is none.", param_hint="--file"
        ) from error


@spaces.command()
@click.argument("name")
@gc_options
def gc(*, name: str, ttl_days: float | None, dry_run: bool, purge: bool, yes: bool) -> None:
    """Archive the expired memories of the space NAME.

    The policy's ttl_days and retention say what is old; its allow_delete must be true. Archived memories can be
    brought back until the policy's purge_after_days, or --purge, removes them for good.
    """
    collect(name, ttl_days=ttl_days, dry_run=dry_run, purge=purge, yes=yes)


@spaces.command()
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(*, name: str, dry_run: bool, yes: bool) -> None:
    """Delete the space NAME with everything in it, for good.

    Its policy must say allow_delete: true. Exports stay where they are; those found are named.
    """
    with state().opened() as hx:
        report = hx.spaces.delete(name, dry_run=True)
        if not dry_run:
            what = count(report.memories, "memory", "memories")
            confirm(f"Delete the space {clean(name)!r} with {what} for good?", yes=yes, without=DRY_RUN)
            report = hx.spaces.delete(name)
    show(report, table=_deleted_lines(report))


def _deleted_lines(report: DeleteReport) -> Iterator[str]:
    what = count(report.memories, "memory", "memories")
    yield f"{clean(report.space)}  {what} {'would be gone for good' if report.dry_run else 'gone for good'}"
    if report.links_lost:
        would = "would be lost" if report.dry_run else "were lost"
        note(f"{count(report.links_lost, 'link')} from other spaces {would}.")
    for path in report.exports_left:
        note(f"An export is left: {clean(path)}")


def _show(space: SpaceInfo) -> None:
    """Print one space: what is in it, what is said of it, what its owner decided."""
    show(space, table=_show_lines(space))


def _show_lines(space: SpaceInfo) -> Iterator[str]:
    room = width()
    facts = [count(space.memories, "memory", "memories"), size(space.text_bytes)]
    if space.archived:
        facts.append(f"{space.archived:,} archived")
    if space.pinned:
        facts.append(f"{space.pinned:,} pinned")
    yield f"{click.style(clip(space.name, room - 2), bold=True)}  {', '.join(facts)}"
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in space.kinds.items())
    times = f"created {space.created_at:%Y-%m-%d %H:%M}"
    if space.newest is not None:
        times += f", last change {space.newest:%Y-%m-%d %H:%M}"
    for line in (kinds, times):
        yield from hanging(line, indent=2, room=room) if line else ()
    for title, values in (("metadata", space.metadata), ("policy", space.policies)):
        if values:
            yield click.style(f"  {title}", fg="cyan")
        yield from _named_lines(values, room=room, indent=4)


def _named_lines(values: Mapping[str, Any], *, room: int, indent: int = 0) -> Iterator[str]:
    """Give names and values, a line each, in the order of the names."""
    names: Sequence[str] = sorted(values)
    widest = max((len(name) for name in names), default=0)
    for name in names:
        value = json.dumps(values[name], ensure_ascii=False)
        first, *rest = hanging(f"{name.ljust(widest)}  {value}", indent=indent, room=room)
        yield first
        yield from rest


_HEADS = ("of", "provider", "period", "cap", "spent", "reserved", "left")
_NARROW_HEADS = (*_HEADS[:3], "in", *_HEADS[3:])
_AMOUNTS = _HEADS[3:]
_TINY_USD = 1e-8


@spaces.command()
@click.argument("space", required=False)
def budget(space: str | None) -> None:
    """Show what calls to models may cost, and what they have cost.

    Without SPACE: the project's budget, and every space that has one or has spent something. Reserved is what is set
    aside for calls under way, or whose end nobody saw; it counts as spent.
    """
    with state().opened() as hx:
        lines = list(hx.spaces.budget(space)) if space is not None else _all(hx)
    show(lines, table=_budget_lines(lines, space))


def _budget_lines(lines: list[BudgetLine], space: str | None) -> Iterator[str]:
    rows: list[Sequence[str]] = [_row(line) for line in lines]
    heads: Sequence[str] = _HEADS
    room = table_room()
    if not fits(rows, heads=heads, room=room):  # dollars and tokens on lines of their own take half as much
        rows, heads = [row for line in lines for row in _narrow_rows(line)], _NARROW_HEADS
    yield from table(rows, heads=heads, room=room, whole=_AMOUNTS)
    unpriced = sum(line.spent.unpriced for line in lines if line.provider is None and line.space == space)
    if unpriced:
        note(
            f"Calls without a known price: {unpriced:,}. Name prices in hexad.toml, [prices], to count them in USD."
        )


def _all(hx: Hexad) -> list[BudgetLine]:
    budget_lines = list(hx.spaces.budget())
    for space in hx.spaces.list():
        lines = hx.spaces.budget(space.name)
        if any(_says_something(line) for line in lines):
            budget_lines += lines
    return budget_lines


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
