"""`hexad prefs …`: what is known of you across projects, and what may be suggested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from hexad.interfaces.cli.app.base import Group, note, state
from hexad.interfaces.cli.output.render import clean, count, own_lines, show, table, table_room

if TYPE_CHECKING:
    from hexad import Hexad, LearningReport, Preference, ResolvedPreference, Suggestion

_LEVELS: Final = ("novice", "intermediate", "advanced", "expert")


@click.group(cls=Group)
@click.pass_context
def prefs(ctx: click.Context) -> None:
    """Show and change your preferences across projects.

    It is in user.db, in your own data folder, and all projects share it. Without a command it lists what is preferred.
    """
    if ctx.invoked_subcommand is None:
        with state().opened(user=True) as hx:
            _list(hx, everything=False)


@prefs.command("list")
@click.option(
    "--all", "everything", is_flag=True, help="Patterns, expertise, rules, exceptions and suppressions too."
)
def list_(everything: bool) -> None:
    """List preferences, the most confident first."""
    with state().opened(user=True) as hx:
        _list(hx, everything=everything)


def _list(hx: Hexad, *, everything: bool) -> None:
    user = hx.user
    preferences = user.preferences()
    value: dict[str, object] = {"preferences": preferences}
    if everything:
        value |= {
            "patterns": user.patterns(),
            "expertise": user.expertise(),
            "rules": user.rules(),
            "exceptions": user.exceptions(everywhere=True),
            "suppressions": user.suppressions(),
        }
    show(value, table=_list_lines(hx, preferences, everything=everything))


def _list_lines(hx: Hexad, preferences: Sequence[Preference], *, everything: bool) -> Iterator[str]:
    rows = [
        (
            preference.id,
            preference.key,
            preference.value,
            f"{preference.confidence:.2f}",
            preference.source.value,
            f"{preference.last_seen:%Y-%m-%d}",
        )
        for preference in preferences
    ]
    heads = ("id", "key", "value", "sure", "source", "last seen")
    if rows:
        yield from table(rows, heads=heads, room=table_room(), whole=("id",))
    else:
        note("Nothing is known of you. `hexad prefs set KEY VALUE` states a preference.")
    others = [*_others(hx)] if everything else []
    if others:
        yield from table(others, heads=("id", "what", "it says"), room=table_room(), whole=("id",))


def _others(hx: Hexad) -> Iterator[tuple[str, str, str]]:
    user = hx.user
    for pattern in user.patterns():
        yield pattern.id, pattern.pattern_type.value, pattern.description
    for expertise in user.expertise():
        yield expertise.id, "expertise", f"{expertise.area}: {expertise.level.value}"
    for rule in user.rules():
        yield rule.id, "rule", rule.text
    for exception in user.exceptions(everywhere=True):
        yield exception.id, "exception", exception.statement
    for suppression in user.suppressions():
        yield suppression.id, "suppressed", suppression.value


@prefs.command("show")
@click.argument("key")
def show_(key: str) -> None:
    """Show what holds for KEY in this project, and what it rests on."""
    with state().opened(user=True) as hx:
        preference = hx.user.preference(key)
    show(preference, table=_show_lines(preference, key))


def _show_lines(preference: ResolvedPreference | None, key: str) -> Iterator[str]:
    if preference is None:
        note(f"Nothing is known of {clean(key)}.")
        return
    yield from own_lines(clean(preference.statement))
    if preference.note is not None:
        note(clean(preference.note))


@prefs.command("set")
@click.argument("key")
@click.argument("value")
@click.option(
    "--also", is_flag=True, help="Add it to the other preferences for KEY instead of replacing them."
)
def set_(key: str, value: str, also: bool) -> None:
    """State that you prefer VALUE for KEY."""
    with state().opened(create=True, user=True) as hx:
        preference = hx.user.prefer(key, value, also=also)
    show(
        preference,
        table=f"{preference.id}  {clean(preference.key)} = {clean(preference.value)}  {preference.confidence:.2f}",
    )


@prefs.command()
@click.option("--limit", type=int, default=10, show_default=True, help="Maximum number.")
def suggest(limit: int) -> None:
    """Suggest defaults for what is undecided, with their evidence."""
    with state().opened(user=True) as hx:
        suggestions = hx.user.suggestions(limit=limit)
    show(suggestions, table=_suggest_lines(suggestions))


def _suggest_lines(suggestions: list[Suggestion]) -> Iterator[str]:
    for suggestion in suggestions:
        yield clean(suggestion.text)
    if not suggestions:
        note("There is nothing to suggest.")


@prefs.command()
@click.argument("key")
@click.argument("value")
def accept(key: str, value: str) -> None:
    """Accept a suggestion: its confidence rises."""
    _judge(key, value, accepted=True)


@prefs.command()
@click.argument("key")
@click.argument("value")
def reject(key: str, value: str) -> None:
    """Reject a suggestion: its confidence is halved."""
    _judge(key, value, accepted=False)


def _judge(key: str, value: str, *, accepted: bool) -> None:
    with state().opened(user=True) as hx:
        preference = hx.user.accept(key, value) if accepted else hx.user.reject(key, value)
    show(preference, table=_judge_lines(accepted, preference))


def _judge_lines(accepted: bool, preference: Preference) -> Iterator[str]:
    done = "accepted" if accepted else "rejected"
    yield f"{preference.id}  {done}  {clean(preference.key)} = {clean(preference.value)}  {preference.confidence:.2f}"


@prefs.command()
@click.argument("value")
@click.option("--key", help="Only for this key; default: for every key.")
@click.option("--here", is_flag=True, help="Only in this project.")
def suppress(value: str, key: str | None, here: bool) -> None:
    """Stop suggesting VALUE."""
    with state().opened(user=True) as hx:
        suppression = hx.user.suppress(value, key=key, here=here)
    show(suppression, table=f"{suppression.id}  {clean(suppression.value)} is not suggested any more")


@prefs.command()
@click.argument("value")
@click.option("--key", help="Only for this key; default: for every key.")
def allow(value: str, key: str | None) -> None:
    """Let VALUE be suggested again."""
    with state().opened(user=True) as hx:
        was_allowed = hx.user.allow(value, key=key)
    show({"value": value, "key": key, "allowed": was_allowed}, table=f"{clean(value)} may be suggested again")


@prefs.command("except")
@click.argument("key")
@click.argument("value")
@click.option("--reason", required=True, help="The reason; it is stored with the exception.")
def except_(key: str, value: str, reason: str) -> None:
    """Note that this project uses VALUE for KEY, whatever is usual."""
    with state().opened(user=True) as hx:
        exception = hx.user.exception(key, value, reason=reason)
    show(exception, table=f"{exception.id}  {clean(exception.statement)}")


@prefs.command()
@click.argument("text")
@click.option("--avoid", is_flag=True, help="It is something that you avoid.")
def pattern(text: str, avoid: bool) -> None:
    """Record a habit; recording it again raises its confidence."""
    with state().opened(user=True) as hx:
        pattern = hx.user.observe(text, antipattern=avoid)
    show(
        pattern,
        table=f"{pattern.id}  {pattern.pattern_type.value}  {pattern.confidence:.2f}  {clean(pattern.description)}",
    )


@prefs.command()
@click.argument("area")
@click.argument("level", type=click.Choice(_LEVELS))
def know(area: str, level: str) -> None:
    """Record how well you know AREA."""
    with state().opened(user=True) as hx:
        expertise = hx.user.set_expertise(area, level)
    show(expertise, table=f"{expertise.id}  {clean(expertise.area)}: {expertise.level.value}")


@prefs.command()
@click.argument("text")
def rule(text: str) -> None:
    """State a rule of yours."""
    with state().opened(user=True) as hx:
        rule = hx.user.add_rule(text)
    show(rule, table=f"{rule.id}  {clean(rule.text)}")


@prefs.command()
@click.option("--dry-run", is_flag=True, help="Only report what would change.")
def learn(dry_run: bool) -> None:
    """Publish what this project uses, and learn from all projects.

    `hexad maintain` does it too. A project with [user] learning = false in its hexad.toml takes no part: what it had
    published goes.
    """
    with state().opened(user=True) as hx:
        report = hx.user.learn(dry_run=dry_run)
    show(report, table=_learn_lines(report, dry_run))


def _learn_lines(report: LearningReport, dry_run: bool) -> Iterator[str]:
    for change in report.changes:
        sure = "" if change.after is None else f"  {change.after:.2f}"
        yield f"{change.what}  {clean(change.key)} = {clean(change.value)}{sure}  {clean(change.reason)}"
    if report.skipped is not None:
        note(f"Nothing was published: {report.skipped}.")
    would = "would be " if dry_run else ""
    texts = [f"{count(report.projects, 'project takes', 'projects take')} part"]
    texts.append(f"{count(report.published, 'value', 'values')} {would}published")
    texts += [f"{number} left out ({reason})" for reason, number in report.left_out.items()]
    note(f"{'; '.join(texts)}.")


@prefs.command()
@click.argument("row_id", metavar="ID")
def forget(row_id: str) -> None:
    """Remove one entry for good, by its id.

    `hexad memory wipe --scope user` removes all.
    """
    with state().opened(user=True) as hx:
        hx.user.forget(row_id)
    show({"id": row_id, "removed": True}, table=f"{clean(row_id)}  removed")
