"""The orderings of context bundles by brute force: every formula over every memory, nothing cached, nothing looked up.

Written from the design's table alone, as the measure for the real ones. A list of `Memory` values goes in, with all
active memories of one space; `(score, id)` pairs come out, in order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hexad import Memory
from hexad.text.normalize import slug

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RELEVANCE = {"high": 5.0, "medium": 2.5, "low": 1.0}
RANK = {"high": 0, "medium": 1, "low": 2}
BACKENDS = ("basic", "patricia", "raptor", "hybrid", "temporal")


def order_for_topic(
    memories: Sequence[Memory],
    topic: str,
    *,
    backend: str,
    now: datetime,
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    high_only: bool = False,
    path: str | None = None,
    strict: bool = False,
    limit: int = 5,
) -> list[tuple[float, str]]:
    wanted = {tag.lower() for tag in tags}
    topic = topic.strip().lower()
    scored = []
    for memory in memories:
        score = basic(memory, topic, {kind.lower() for kind in kinds}, wanted)
        if backend == "patricia":
            score = score + 2.0 * shared_parts(memory, topic)
        elif backend == "raptor":
            nearest = max(hits(memory, set(topic.split())), hits(memory, wanted))
            score = score + 1.5 * nearest + max(0.0, 1.0 - age_in_days(memory, now) / 30.0)
        elif backend == "hybrid":
            score = score + rarity(memory, topic, memories) + 1.5 * overlap(memory, memories)
        elif backend == "temporal":
            score = score + decay(memory.updated_at, now)
        scored.append((score, memory))
    return select(scored, high_only=high_only, path=path, strict=strict, limit=limit)


def order_for_kind(
    memories: Sequence[Memory],
    kind: str,
    *,
    backend: str,
    now: datetime,
    tags: Sequence[str] = (),
    high_only: bool = False,
    path: str | None = None,
    strict: bool = False,
    limit: int = 5,
) -> list[tuple[float, str]]:
    wanted = {tag.lower() for tag in tags}
    scored = []
    for memory in memories:
        if memory.kind != kind:
            continue
        newest = ((memory.updated_at - EPOCH) // timedelta(milliseconds=1)) / 1e9
        pin = 1.0 if memory.pinned else 0.0
        if backend == "basic":
            score = newest
        elif backend == "patricia":
            score = 1.0 / len(memory.path.split("/")) + 2.0 * pin
            score = score + (1.0 if wanted & set(memory.tags) else 0.0)
        elif backend == "raptor":
            score = newest + 1.5 * hits(memory, wanted) + 5.0 * pin
        elif backend == "hybrid":
            rare = 0.0
            for token in sorted(set(entities(memory))):
                rare = rare + 1.0 / frequency(token, memories)
            score = newest + rare + 5.0 * pin
        else:
            score = decay(memory.updated_at, now) + 5.0 * pin
        scored.append((score, memory))
    return select(scored, high_only=high_only, path=path, strict=strict, limit=limit)


def select(
    scored: list[tuple[float, Memory]], *, high_only: bool, path: str | None, strict: bool, limit: int
) -> list[tuple[float, str]]:
    left = [
        (score, memory)
        for score, memory in scored
        if (not high_only or memory.relevance == "high") and (path is None or under(memory.path, path))
    ]
    # From the least to the most important criterion: sorting is stable.
    left.sort(key=lambda pair: pair[1].id)
    left.sort(key=lambda pair: pair[1].path)
    left.sort(key=lambda pair: pair[1].updated_at, reverse=True)
    left.sort(key=lambda pair: pair[0], reverse=True)
    if strict:
        left.sort(key=lambda pair: RANK[pair[1].relevance])
        left.sort(key=lambda pair: not pair[1].pinned)
    return [(score, memory.id) for score, memory in left[:limit]]


def under(path: str, prefix: str) -> bool:
    parts, wanted = path.split("/"), prefix.split("/")
    return parts[: len(wanted)] == wanted


def basic(memory: Memory, topic: str, kinds: set[str], tags: set[str]) -> float:
    score = RELEVANCE[memory.relevance]
    score = score + (4.0 if memory.pinned else 0.0)
    if topic:
        score = score + (3.0 if topic in memory.path.lower() else 0.0)
        score = score + (2.0 if topic in memory.summary_short.lower() else 0.0)
        score = score + (1.5 if topic in memory.raw.lower() else 0.0)
    score = score + (1.0 if memory.kind in kinds else 0.0)
    return score + 0.8 * len(tags.intersection(memory.tags))


def shared_parts(memory: Memory, topic: str) -> int:
    asked = [part for part in re.split(r"[/\s]", topic) if part]
    shared = 0
    for item, other in zip(asked, memory.path.lower().split("/"), strict=False):
        if item != other:
            break
        shared += 1
    return shared


def hits(memory: Memory, tokens: set[str]) -> int:
    return sum(1 for token in tokens if token in memory.tags or token in memory.summary_long.lower())


def age_in_days(memory: Memory, now: datetime) -> float:
    micros = (now - memory.updated_at) // timedelta(microseconds=1)
    return max(0, micros) / 86_400_000_000


def split(text: str) -> list[str]:
    return [token for token in re.split(r"[\s/_-]+", text.lower()) if token]


def entities(memory: Memory) -> list[str]:
    found = split(memory.path) + [tag.lower() for tag in memory.tags]
    for value in memory.metadata.values():
        if isinstance(value, str):
            found += split(value)
        elif isinstance(value, list | tuple):
            for item in value:
                if isinstance(item, str):
                    found += split(item)
    return found


_COUNTED: dict[int, tuple[object, Counter[str]]] = {}


def frequency(token: str, memories: Sequence[Memory]) -> int:
    """How often a token occurs over all memories; counted once for each list that is handed in."""
    known = _COUNTED.get(id(memories))
    if known is None or known[0] is not memories:
        _COUNTED.clear()
        counts: Counter[str] = Counter()
        for memory in memories:
            counts.update(entities(memory))
        _COUNTED[id(memories)] = known = (memories, counts)
    return known[1][token]


def rarity(memory: Memory, topic: str, memories: Sequence[Memory]) -> float:
    mine = set(entities(memory))
    score = 0.0
    for token in dict.fromkeys(split(topic)):
        if token in mine:
            score = score + 2.5 / frequency(token, memories)
    return score


def told(memory: Memory) -> set[str]:
    """The entity tokens that somebody wrote: not the project, the space, the hash, nor a path that Hexad made."""
    metadata = {
        name: value for name, value in memory.metadata.items() if name not in ("project", "space", "hash")
    }
    made = memory.path.startswith(f"{slug(str(memory.metadata.get('project')))}/{memory.kind}/")
    return set(entities(replace(memory, metadata=metadata, path="" if made else memory.path)))


def overlap(memory: Memory, memories: Sequence[Memory]) -> int:
    elsewhere: set[str] = set()
    for other in memories:
        if (other.pinned or memory.pinned) and other.id != memory.id:
            elsewhere.update(told(other))
    return len(elsewhere & told(memory))


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def decay(updated: datetime, now: datetime) -> float:
    then, today = updated.astimezone(UTC).date(), now.astimezone(UTC).date()
    years = max(0, today.year - then.year)
    months = max(0, 12 * (today.year - then.year) + today.month - then.month)
    weeks = max(0, (monday(today) - monday(then)).days // 7)
    return 1.0 * 0.5**years + 1.5 * 0.5**months + 2.0 * 0.5**weeks
