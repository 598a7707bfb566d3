"""Items that contradict each other (document 4, section 6.3): one statement goes on, with a note of the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.layers.contract import MemoryItem, ScoredItem
from hexad.layers.scoring import age_days
from hexad.memory.decision import DECISION
from hexad.memory.fact import KINDS_APART
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.text.normalize import fold, slug

_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What goes on, each at most once for a key, and what gave way, with the reason."""

    items: tuple[ScoredItem, ...]
    gave_way: tuple[tuple[ScoredItem, str], ...]


def resolve(ranked: Sequence[ScoredItem]) -> Resolved:
    """Return the items without those that others contradict, in their order.

    Items are about the same when they share a key, a space and a group; what a user prefers everywhere is about the
    same as what a project says of that key, but not of somebody or something in it. What this project chose goes
    before what its user usually does. Among the rest the better vouched for goes first (the user or an agent before a
    tool, the web or nobody), then the younger by whole days, the surer, the one with more evidence, the higher layer,
    and the id. Lists do not contradict.
    """
    gone: dict[str, str] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for group in _groups(ranked):
        best, *others = sorted(group, key=_place)
        differing = [scored_item for scored_item in others if _value(scored_item.item) != _value(best.item)]
        if differing:
            notes[best.item.id] = tuple(_note(best.item, scored_item.item) for scored_item in differing)
        for scored_item in differing:
            gone[scored_item.item.id] = (
                f"contradicted by {best.item.id}, which {_reason(best.item, scored_item.item)}"
            )
    kept = tuple(
        replace(scored_item, notes=(*scored_item.notes, *notes.get(scored_item.item.id, ())))
        for scored_item in ranked
        if scored_item.item.id not in gone
    )
    return Resolved(
        items=kept,
        gave_way=tuple(
            (scored_item, gone[scored_item.item.id]) for scored_item in ranked if scored_item.item.id in gone
        ),
    )


def _groups(ranked: Iterable[ScoredItem]) -> list[list[ScoredItem]]:
    """Return items that are about the same and say something different."""
    users: dict[str, list[ScoredItem]] = {}
    groups: dict[tuple[str, str, str], list[ScoredItem]] = {}
    for scored_item in ranked:
        item = scored_item.item
        if item.key is None or item.value is None or isinstance(item.value, list | tuple):
            continue
        key = slug(item.key) or fold(item.key)
        if item.layer is MemoryLayer.USER:
            users.setdefault(key, []).append(scored_item)
        else:
            groups.setdefault((key, item.space or "", fold(item.group or "")), []).append(scored_item)
    told = set()
    for (key, _, _), members in groups.items():
        if any(_is_the_projects(member.item) for member in members):
            told.add(key)  # what its user does everywhere is beside each of this project's
            members.extend(users.get(key, ()))
    groups.update({(key, "", ""): members for key, members in users.items() if key not in told})
    return [members for members in groups.values() if len({_value(member.item) for member in members}) > 1]


def _is_the_projects(item: MemoryItem) -> bool:
    """Whether an item says how something is done here: where another person lives is no exception of the user's."""
    return item.group is None or item.kind == DECISION or item.kind in KINDS_APART


def _place(scored_item: ScoredItem) -> tuple[int, int, int, float, int, int, str]:
    item = scored_item.item
    return (
        1 if item.layer is MemoryLayer.USER else 0,
        0 if item.trust.rank >= Trust.AGENT.rank else 1,
        age_days(item),
        -(item.confidence or 0.0),
        -(item.evidence_count or 0),
        item.layer.rank,
        item.id,
    )


def _reason(best: MemoryItem, other: MemoryItem) -> str:
    """Return in words by what one item goes before another: the first criterion that tells them apart."""
    mine, its = (
        _place(ScoredItem(item=best, score=0.0, parts={})),
        _place(ScoredItem(item=other, score=0.0, parts={})),
    )
    words = (
        "is of this project",
        "is better vouched for",
        "is more recent",
        "is surer",
        "has more evidence",
        "is of a higher layer",
        "has the lower id",
    )
    return next(word for word, first, two in zip(words, mine, its, strict=True) if first != two)


def _note(best: MemoryItem, other: MemoryItem) -> str:
    said = f"{_shown(other.value)} ({other.id}, {other.at:%Y-%m-%d}{_sure(other)})"
    if other.layer is MemoryLayer.USER and best.layer is not MemoryLayer.USER:
        return (
            f"The user usually has {other.key}: {said}; this project has {_shown(best.value)}. "
            "Treat this project as an exception."
        )
    return f"Another memory has {other.key}: {said}; this one counts because it {_reason(best, other)}."


def _sure(item: MemoryItem) -> str:
    parts = [] if item.confidence is None else [f"confidence {item.confidence:.2f}"]
    parts += [f"{item.evidence_count} times"] if (item.evidence_count or 0) > 1 else []
    return "".join(f", {part}" for part in parts)


def _value(item: MemoryItem) -> str:
    value = item.value
    if isinstance(value, str):
        return fold(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(value: JSONValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    line = " ".join(text.split())
    if instructions_in(line):
        return "something that reads as instructions"
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
