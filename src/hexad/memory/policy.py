"""A space's policies (document 1, sections 3.1 and 4), parsed once where they are set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final, Protocol, TypeGuard, cast

from hexad.core.actor import check_role
from hexad.core.arguments import is_number, is_whole, quoted
from hexad.core.json_types import JSONValue
from hexad.errors import HexadError, InvalidSpace
from hexad.memory.memory import Relevance
from hexad.memory.write_protection import Protection, parse_protection
from hexad.text.normalize import slug
from hexad.text.paths import matches

RULES_LIMIT: Final = 200
"""Most rules in one list of a policy."""
DAYS_LIMIT: Final = 36_500
BUDGET_LIMIT: Final = 10**15
"""Most tokens or dollars of a budget; a database counts no further than some thousand times that."""


class Backend(StrEnum):
    """The orderings of document 1, section 5, and of its roadmap."""

    BASIC = "basic"
    PATRICIA = "patricia"
    RAPTOR = "raptor"
    HYBRID = "hybrid"
    TEMPORAL = "temporal"


BACKEND_ALIASES: Final[Mapping[str, Backend]] = {
    "graphrag": Backend.HYBRID,
    "memtree": Backend.HYBRID,
    "temporaltree": Backend.TEMPORAL,
    "temporal_tree": Backend.TEMPORAL,
}


PROVIDER_ALIASES: Final[Mapping[str, str]] = {"gemini": "google", "hf": "huggingface"}
"""Other names of providers of models, wherever one is named."""
_PROVIDER: Final = re.compile(r"[^\s:@]+(?:@\S+)?")


class Period(StrEnum):
    """Over which time a budget counts; days and months are those of UTC."""

    TOTAL = "total"
    MONTH = "month"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyMatch:
    """Which memories a rule is about: every condition that is given holds, by any of its values.

    `paths` are prefixes of whole parts, or patterns with `*`, `?` and `**`. All are as the owner spelled them.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    relevance: tuple[Relevance, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule:
    """How long what matches is kept; None for ever."""

    match: PolicyMatch
    ttl: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Who may see what matches."""

    match: PolicyMatch
    roles: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What calls to models may cost in a period; None has no bound."""

    tokens: int | None = None
    usd: float | None = None
    period: Period = Period.TOTAL


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceBudget:
    """A space's budget: over all providers together, and for each that is named."""

    total: Budget | None = None
    providers: Mapping[str, Budget] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What a space's owner has decided; the defaults are those of document 1.

    `roles` None admits everybody to the space; of `visibility` every matching rule must admit the role too. Of
    `retention` the first rule that matches counts, else `ttl`. `purge_after` None keeps what gc archived.
    """

    ttl: timedelta | None = None
    retention: tuple[RetentionRule, ...] = ()
    purge_after: timedelta | None = None
    allow_delete: bool | None = None
    export_path: str | None = None
    auto_pin: tuple[PolicyMatch, ...] = ()
    model_may_pin: bool = False
    roles: frozenset[str] | None = None
    visibility: tuple[Visibility, ...] = ()
    backend: Backend | None = None
    budget: SpaceBudget = field(default_factory=SpaceBudget)
    protection: Protection = field(default_factory=Protection)

    @property
    def hides(self) -> bool:
        """Whether anything of the space is hidden from somebody."""
        return self.roles is not None or bool(self.visibility)


KNOWN: Final = (
    "allow_delete", "auto_pin", "backend", "budget", "env_allow", "export_path", "model_may_pin", "pii_redaction",
    "protected_keys", "protected_paths", "purge_after_days", "quarantine_trust", "retention", "roles", "ttl_days",
    "untrusted_sources", "visibility",
)  # fmt: skip
"""Names of policies. `pii_redaction` and `env_allow` are parsed where texts are redacted."""


def parse_policies(policy: Mapping[str, JSONValue]) -> Policies:
    """Return the policies that a space's owner wrote down; raises `InvalidSpace` for what nothing enforces."""
    policies = _parsed(policy)
    for where, match in _matches(policies):
        for word in (*match.kinds, *match.tags):
            if any(wildcard in word for wildcard in "*?["):
                raise _bad(where, word, "patterns are for paths; write kinds and tags out")
    return policies


def check_names(names: Iterable[str]) -> None:
    """Raise `InvalidSpace` for a name that no policy has."""
    unknown = sorted(set(names) - set(KNOWN))
    if unknown:
        raise InvalidSpace(
            f"Invalid space policy {unknown[0]!r}: nothing enforces it; known are {', '.join(KNOWN)}."
        )


def _matches(policies: Policies) -> Iterator[tuple[str, PolicyMatch]]:
    yield from (("auto_pin", match) for match in policies.auto_pin)
    yield from (("retention", rule.match) for rule in policies.retention)
    yield from (("visibility", rule.match) for rule in policies.visibility)


def _parsed(policy: Mapping[str, JSONValue]) -> Policies:
    if not isinstance(policy, Mapping):
        raise _bad("policy", policy, 'give an object, such as {"ttl_days": 30}')
    check_names(map(str, policy))
    return Policies(
        ttl=_days(policy, "ttl_days"),
        retention=tuple(_retention(rule) for rule in _rules(policy, "retention")),
        purge_after=_days(policy, "purge_after_days", zero=True),
        allow_delete=_flag(policy, "allow_delete"),
        export_path=_export_path(policy.get("export_path")),
        auto_pin=tuple(_match(rule, "auto_pin", needs_condition=True) for rule in _rules(policy, "auto_pin")),
        model_may_pin=bool(_flag(policy, "model_may_pin")),
        roles=None if policy.get("roles") is None else _roles(policy["roles"], "roles"),
        visibility=tuple(_visibility(rule) for rule in _rules(policy, "visibility")),
        backend=None if policy.get("backend") is None else parse_backend(policy["backend"]),
        budget=parse_space_budget(policy.get("budget")),
        protection=parse_protection(policy),
    )


def parse_stored(policy: Mapping[str, JSONValue]) -> Policies:
    """Return the policies that a store holds; a name that nothing enforces is from another version and left out."""
    return _parsed({name: value for name, value in policy.items() if name in KNOWN})


def parse_backend(name: object) -> Backend:
    """Return the ordering of that name or alias; raises `InvalidSpace`."""
    if isinstance(name, str):
        key = name.strip().lower().replace("-", "_")
        if key in BACKEND_ALIASES:
            return BACKEND_ALIASES[key]
        if key in tuple(Backend):
            return Backend(key)
    raise _bad("backend", name, f"choose one of {', '.join(Backend)}")


def is_backend(name: str) -> bool:
    """Whether an ordering of Hexad has that name or alias."""
    try:
        parse_backend(name)
    except InvalidSpace:
        return False
    return True


def parse_budget(value: JSONValue, *, where: str = "budget") -> Budget:
    """Return the budget `{"tokens": …, "usd": …, "period": "total" | "month" | "day"}`; raises `InvalidSpace`."""
    if not isinstance(value, Mapping):
        raise _bad(where, value, 'give an object, such as {"usd": 5.0, "period": "month"}')
    unknown = sorted(set(value) - {"tokens", "usd", "period"}, key=str)
    if unknown:
        raise _bad(where, unknown[0], "a budget has tokens, usd and period")
    tokens, usd, period = value.get("tokens"), value.get("usd"), value.get("period", Period.TOTAL.value)
    if tokens is not None and not is_whole(tokens, 0):
        raise _bad(f"{where}.tokens", tokens, "give a whole number of tokens, 0 or more")
    if usd is not None and not _is_number(usd):
        raise _bad(f"{where}.usd", usd, "give an amount of US dollars, 0 or more")
    for unit, bound in (("tokens", tokens), ("usd", usd)):
        if bound is not None and bound > BUDGET_LIMIT:
            raise _bad(f"{where}.{unit}", bound, f"{BUDGET_LIMIT:,} is the most; leave it out for no bound")
    if period not in tuple(Period):
        raise _bad(f"{where}.period", period, f"choose one of {', '.join(Period)}")
    return Budget(
        tokens=tokens,
        usd=None if usd is None else float(usd),
        period=Period(cast("str", period)),
    )


def parse_space_budget(value: JSONValue) -> SpaceBudget:
    """Return a budget over all providers, and those of the providers that it names; raises `InvalidSpace`."""
    if value is None:
        return SpaceBudget()
    if not isinstance(value, Mapping):
        raise _bad("budget", value, 'give an object, such as {"usd": 5.0, "period": "month"}')
    providers = value.get("providers") or {}
    if not isinstance(providers, Mapping):
        raise _bad("budget.providers", providers, 'give an object, such as {"openai": {"usd": 5.0}}')
    own = {name: bound for name, bound in value.items() if name != "providers"}
    capped: dict[str, Budget] = {}
    for name, bound in providers.items():
        provider = PROVIDER_ALIASES.get(str(name).lower(), str(name).lower())
        if not _PROVIDER.fullmatch(provider):
            raise _bad("budget.providers", name, "give a provider's name, such as openai or openai@host")
        if provider in capped:  # the wider cap of the two would count, or the narrower one
            raise _bad("budget.providers", name, f"{provider} is named twice; leave out one of the two")
        capped[provider] = parse_budget(bound, where=f"budget.providers.{name}")
    return SpaceBudget(total=parse_budget(own) if own else None, providers=capped)


def _bad(name: str, value: object, remedy: str) -> InvalidSpace:
    try:
        shown = quoted(value) if isinstance(value, str) else json.dumps(value)[:80]
    except (TypeError, ValueError, RecursionError):  # no JSON
        shown = quoted(value)
    return InvalidSpace(f"Invalid space policy {name!r}: {shown} cannot be used; {remedy}.")


def _is_number(value: object) -> TypeGuard[float]:
    return is_number(value, 0) and value < float("inf")


def _days(policy: Mapping[str, JSONValue], name: str, *, zero: bool = False) -> timedelta | None:
    value = policy.get(name)
    if value is None:
        return None
    if (
        not _is_number(value)
        or value > DAYS_LIMIT
        or (not timedelta(days=value) and not (zero and value == 0))
    ):
        least = "0" if zero else "more than 0"
        raise _bad(name, value, f"give a number of days, {least} to {DAYS_LIMIT:,}, or null for ever")
    return timedelta(days=value)


def _flag(policy: Mapping[str, JSONValue], name: str) -> bool | None:
    value = policy.get(name)
    if value is not None and not isinstance(value, bool):
        raise _bad(name, value, "give true or false")
    return value


def _export_path(value: JSONValue) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _bad("export_path", value, "give a path, such as 'exports/docs.json'")
    if value.startswith(("/", "~")) or "\\" in value or ".." in value.split("/"):
        raise _bad("export_path", value, "give a path inside the project's folder, without '..'")
    return value


def _rules(policy: Mapping[str, JSONValue], name: str) -> Sequence[JSONValue]:
    value = policy.get(name)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return (value,)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _bad(name, value, "give a list of rules")
    if len(value) > RULES_LIMIT:
        raise _bad(name, f"{len(value)} rules", f"at most {RULES_LIMIT} are looked at")
    return value


_CONDITIONS: Final = {
    "kinds": "kinds", "kind": "kinds", "tags": "tags", "tag": "tags", "paths": "paths", "path": "paths",
    "relevance": "relevance",
}  # fmt: skip


def _match(
    rule: JSONValue, name: str, *, also: Sequence[str] = (), needs_condition: bool = False
) -> PolicyMatch:
    if not isinstance(rule, Mapping):
        raise _bad(name, rule, 'a rule is an object, such as {"kinds": ["decision"]}')
    conditions: dict[str, tuple[str, ...]] = {}
    for key, value in rule.items():
        if key in also:
            continue
        if key not in _CONDITIONS:
            raise _bad(
                f"{name}.{key}",
                value,
                f"a rule has {', '.join(['kinds', 'tags', 'paths', 'relevance', *also])}",
            )
        condition = _CONDITIONS[key]
        if condition in conditions:
            raise _bad(f"{name}.{key}", value, f"the rule has {condition!r} already; write one list")
        conditions[condition] = _words(value, f"{name}.{key}")
        blank = next((word for word in conditions[condition] if not any(map(str.isalnum, word))), None)
        if blank is not None and condition in ("kinds", "tags"):
            raise _bad(f"{name}.{key}", blank, "no memory has it: give a word with a letter or a digit")
    if needs_condition and not conditions:
        raise _bad(name, dict(rule), "give at least one condition: kinds, tags, paths or relevance")
    levels = conditions.pop("relevance", ())
    for level in levels:
        if level not in tuple(Relevance):
            raise _bad(f"{name}.relevance", level, "choose high, medium or low")
    return PolicyMatch(relevance=tuple(Relevance(level) for level in levels), **conditions)


def _words(value: JSONValue, name: str) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, Sequence) or not values:
        raise _bad(name, value, "give a word or a list of words")
    for word in values:
        if not isinstance(word, str) or not word.strip() or not word.isprintable():
            raise _bad(name, word, "give words")
    return tuple(cast("str", word).strip() for word in values)


def _roles(value: JSONValue, name: str) -> frozenset[str]:
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, Sequence):
        raise _bad(name, value, "give a list of roles")
    try:
        return frozenset(check_role(role) for role in values)
    except HexadError as error:
        raise InvalidSpace(f"Invalid space policy {name!r}: {error}") from error


def _retention(rule: JSONValue) -> RetentionRule:
    match = _match(rule, "retention", also=("ttl_days",), needs_condition=True)
    assert isinstance(rule, Mapping)
    if "ttl_days" not in rule:
        raise _bad("retention", dict(rule), "say ttl_days, a number of days or null for ever")
    return RetentionRule(match=match, ttl=_days(rule, "ttl_days"))


def _visibility(rule: JSONValue) -> Visibility:
    match = _match(rule, "visibility", also=("roles",))
    assert isinstance(rule, Mapping)
    if "roles" not in rule:
        raise _bad("visibility", dict(rule), "say which roles may see what matches")
    return Visibility(match=match, roles=_roles(rule["roles"], "visibility.roles"))


class Judged(Protocol):
    """What a rule looks at."""

    @property
    def kind(self) -> str:
        """The memory's kind."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""

    @property
    def path(self) -> str:
        """Its path."""

    @property
    def relevance(self) -> Relevance:
        """How much it matters, in words."""


def fits(match: PolicyMatch, memory: Judged) -> bool:
    """Return whether every condition of `match` that is given holds for the memory.

    Kinds, tags and paths are compared as memories have them, however the rule spells them.
    """
    return (
        (not match.kinds or memory.kind in _slugs(match.kinds))
        and (not match.tags or not _slugs(match.tags).isdisjoint(memory.tags))
        and (not match.paths or any(matches(memory.path, pattern) for pattern in _paths(match.paths)))
        and (not match.relevance or memory.relevance in match.relevance)
    )


@lru_cache(maxsize=1_000)
def _slugs(words: tuple[str, ...]) -> frozenset[str]:
    """Return kinds or tags as they are stored; a policy is parsed where slugs are not known."""
    return frozenset(map(slug, words))


@lru_cache(maxsize=1_000)
def _paths(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return patterns without outer, doubled and `.` segments, which no memory's path has."""
    parted = ((part.strip() for part in pattern.split("/")) for pattern in patterns)
    return tuple("/".join(part for part in parts if part not in ("", ".")) for parts in parted)


def pins(policies: Policies, memory: Judged) -> bool:
    """Return whether an auto-pin rule is about the memory."""
    return any(fits(rule, memory) for rule in policies.auto_pin)


def lifetime(policies: Policies, memory: Judged) -> timedelta | None:
    """Return how long a memory is kept: by the first retention rule about it, else by the space's ttl."""
    return next((rule.ttl for rule in policies.retention if fits(rule.match, memory)), policies.ttl)


def audience(policies: Policies, memory: Judged) -> frozenset[str] | None:
    """Return which roles may see the memory: those that the space and every rule about it admit; None all."""
    admitted = policies.roles
    for rule in policies.visibility:
        if fits(rule.match, memory):
            admitted = rule.roles if admitted is None else admitted & rule.roles
    return admitted
