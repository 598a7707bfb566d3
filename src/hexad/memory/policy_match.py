"""Which rules of a policy are about a memory."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import Protocol

from hexad.memory.memory import Relevance
from hexad.memory.policy import Match, Policies
from hexad.text.normalize import slug
from hexad.text.paths import matches


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


def fits(match: Match, memory: Judged) -> bool:
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
