"""What a space's owner has decided about who may write what, and what waits for a review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from hexad.core.json_types import JSONValue
from hexad.errors import InvalidSpace
from hexad.memory.memory import Trust

OFF: Final = "none"
_RULES_LIMIT: Final = 200
NAMES: Final = ("protected_keys", "protected_paths", "quarantine_trust", "untrusted_sources")
"""Names of these policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """Places that only who is trusted so much may write: patterns of paths, or of `subject.attribute`."""

    patterns: tuple[str, ...]
    trust: Trust


DEFAULT_PATHS: Final = (
    Protected(patterns=("identity", "permissions", "policy", "roles", "system"), trust=Trust.USER),
)
DEFAULT_KEYS: Final = (
    Protected(patterns=("identity.*", "permissions.*", "policy.*", "roles.*", "system.*"), trust=Trust.USER),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What is protected in a space, and from whom.

    `paths` and `keys` None are the defaults, which do not look at what an ingested source brings: its paths are the
    places of files, nobody's choice of a name. `quarantine` is the most trust with which a text that reads as
    instructions still waits for a review; None lets everything in.
    """

    paths: tuple[Protected, ...] | None = None
    keys: tuple[Protected, ...] | None = None
    quarantine: Trust | None = Trust.TOOL
    untrusted_sources: tuple[str, ...] = ()


def parse_protection(policy: Mapping[str, JSONValue]) -> Protection:
    """Return what a policy says of protection; raises `InvalidSpace` for a value that cannot be used."""
    return Protection(
        paths=_protected(policy, "protected_paths", "paths"),
        keys=_protected(policy, "protected_keys", "keys"),
        quarantine=_quarantine(policy.get("quarantine_trust")),
        untrusted_sources=_sources(policy.get("untrusted_sources")),
    )


def _quarantine(value: JSONValue) -> Trust | None:
    if value is None:
        return Trust.TOOL
    if value == OFF:
        return None
    return _trust(value, "quarantine_trust", also=f", or {OFF}")


def _trust(value: JSONValue, name: str, *, also: str = "") -> Trust:
    if value not in tuple(Trust):
        raise _bad(name, value, f"choose one of {', '.join(Trust)}{also}")
    return Trust(str(value))


def _protected(policy: Mapping[str, JSONValue], name: str, what: str) -> tuple[Protected, ...] | None:
    rules = policy.get(name)
    if rules is None:
        return None
    if isinstance(rules, str | Mapping):
        rules = [rules]
    if not isinstance(rules, Sequence):
        raise _bad(
            name, rules, f'give a list of rules, such as [{{"{what}": ["identity"], "trust": "user"}}]'
        )
    if len(rules) > _RULES_LIMIT:
        raise _bad(name, f"{len(rules)} rules", f"at most {_RULES_LIMIT} are looked at")
    return tuple(_rule(rule, name, what) for rule in rules)


def _rule(rule: JSONValue, name: str, what: str) -> Protected:
    if isinstance(rule, str):
        return Protected(patterns=_patterns(rule, name), trust=Trust.USER)
    if not isinstance(rule, Mapping):
        raise _bad(name, rule, f'a rule is an object, such as {{"{what}": ["identity"], "trust": "user"}}')
    unknown = sorted(set(rule) - {what, "trust"}, key=str)
    if unknown:
        raise _bad(f"{name}.{unknown[0]}", rule[unknown[0]], f"a rule has {what} and trust")
    if what not in rule:
        raise _bad(name, dict(rule), f"say which {what} are protected")
    trust = Trust.USER if rule.get("trust") is None else _trust(rule["trust"], f"{name}.trust")
    return Protected(patterns=_patterns(rule[what], f"{name}.{what}"), trust=trust)


def _patterns(value: JSONValue, name: str) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, Sequence) or not values:
        raise _bad(name, value, "give a pattern or a list of them")
    for item in values:
        if not isinstance(item, str) or not item.strip() or not item.isprintable():
            raise _bad(name, item, "give patterns, such as 'identity' or 'user.*'")
    return tuple(cast("str", item).strip() for item in values)


def _sources(value: JSONValue) -> tuple[str, ...]:
    if value is None or (isinstance(value, Sequence) and not value):
        return ()
    return _patterns(value, "untrusted_sources")


def _bad(name: str, value: object, remedy: str) -> InvalidSpace:
    return InvalidSpace(f"Invalid space policy {name!r}: {str(value)[:80]!r} cannot be used; {remedy}.")
