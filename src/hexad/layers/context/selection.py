"""From the items of all layers to those that a context holds: duplicates out, contradictions resolved, quotas kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.layers.contract import LeftOut, MemoryItem, ScoredItem
from hexad.layers.project.technologies import is_whole, named_key
from hexad.layers.scoring import age_days, order
from hexad.memory.decision import DECISION
from hexad.memory.fact import KINDS_APART, STACK
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import safe_line
from hexad.search.recall.successors import put_current_first
from hexad.text.choices import TitleChoice, choice_in
from hexad.text.key_names import canonical_key
from hexad.text.normalize import fold, slug
from hexad.text.same_values import names, plain_text, same_value
from hexad.text.similarity.fingerprints import bands, jaccard, minhash, shares_elsewhere, shingles

NEAR: Final = 0.85
"""Jaccard of the runs of three words from which two texts say the same."""


def without_superseded(ranked: Sequence[ScoredItem], *, past: bool) -> Reconciled:
    """Return the items, what took the place of others before them, and without these unless the `past` is asked for.

    What a recall put before its successor, since the question names it literally, stays and is marked.
    """
    if not any(scored_item.item.superseded_by for scored_item in ranked):
        return Reconciled(items=tuple(ranked), gave_way=())
    current, gave_way = put_current_first(
        ranked,
        name=lambda scored_item: scored_item.item.memory_id or scored_item.item.id,
        successor=_successor_id,
        leads=lambda old, new: new.item.relevance >= old.item.relevance,
        keeps_old=past,
    )
    raised: list[ScoredItem] = []
    floor = 0.0
    for scored_item in reversed(current):
        if scored_item.score < floor:  # a layer's order is that of the scores
            parts = {**scored_item.parts, "successor": floor - scored_item.score}
            scored_item = replace(scored_item, score=floor, parts=parts)
        floor = max(floor, scored_item.score)
        raised.append(scored_item)
    return Reconciled(
        items=tuple(sorted(raised, key=order)),
        gave_way=tuple(
            (scored_item, f"superseded by {_successor_id(scored_item)}") for scored_item in gave_way
        ),
    )


def _successor_id(scored_item: ScoredItem) -> str | None:
    return None if scored_item.item.superseded_by is None else scored_item.item.superseded_by.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduplicated:
    """Items without duplicates, best first; each names what was folded into it."""

    items: tuple[ScoredItem, ...]
    duplicates: tuple[tuple[ScoredItem, str], ...]


def deduplicate(ranked: Sequence[ScoredItem]) -> Deduplicated:
    """Return the items without those that repeat another, exactly or nearly (MinHash, Jaccard 0.85 or more).

    Of two that say the same a decision stays, which has its reason and its age, over the turn in which it was taken;
    else the one of the higher layer, then the younger, then that of the lower id. The other is evidence for it: its id
    stands among the duplicates, and its evidence is added. Two items that state different values never are duplicates,
    however alike their texts are.
    """
    by_place = sorted(
        ranked,
        key=lambda scored_item: (
            scored_item.item.kind != DECISION or scored_item.item.layer is not MemoryLayer.GOVERNANCE,
            scored_item.item.layer.rank,
            -scored_item.item.at.timestamp(),
            scored_item.item.id,
        ),
    )
    kept_scored_items: dict[str, ScoredItem] = {}
    folded: dict[str, list[str]] = {}
    dropped: list[tuple[ScoredItem, str]] = []
    index = _Alike(by_place)
    for scored_item in by_place:
        same, how = index.find(scored_item)
        if same is None:
            index.add(scored_item)
            kept_scored_items[scored_item.item.id] = scored_item
            continue
        folded.setdefault(same, []).append(scored_item.item.id)
        dropped.append((scored_item, f"{how} {same}"))
    items = [
        replace(
            scored_item,
            duplicates=(*scored_item.duplicates, *sorted(folded.get(id_, ()))),
            item=replace(
                scored_item.item, evidence_count=(scored_item.item.evidence_count or 1) + len(folded[id_])
            )
            if id_ in folded
            else scored_item.item,
        )
        for id_, scored_item in kept_scored_items.items()
    ]
    return Deduplicated(
        items=tuple(sorted(items, key=order)),
        duplicates=tuple(sorted(dropped, key=lambda pair: order(pair[0]))),
    )


class _Alike:
    """Finds what says the same as an item among those that were added, which are some of `items`."""

    def __init__(self, items: Sequence[ScoredItem]) -> None:
        shares = shares_elsewhere([scored_item.item.text for scored_item in items])
        # Few are near another one: a signature takes longer than to see that.
        self._near = {each.item.id for each, share in zip(items, shares, strict=True) if share >= NEAR}
        self._exact: dict[str, list[ScoredItem]] = {}
        self._banded: dict[int, list[ScoredItem]] = {}
        self._shingles: dict[str, frozenset[str]] = {}
        self._signatures: dict[str, tuple[int, ...]] = {}

    def add(self, scored_item: ScoredItem) -> None:
        self._exact.setdefault(fold(scored_item.item.text), []).append(scored_item)
        for band in self._signature(scored_item):
            self._banded.setdefault(band, []).append(scored_item)

    def find(self, scored_item: ScoredItem) -> tuple[str | None, str]:
        for other in self._exact.get(fold(scored_item.item.text), ()):
            if _may_fold(scored_item, other):
                return other.item.id, "repeats"
        near = {
            other.item.id: other
            for band in self._signature(scored_item)
            for other in self._banded.get(band, ())
            if _may_fold(scored_item, other)
        }
        for other in near.values():
            if jaccard(self._runs(scored_item), self._runs(other)) >= NEAR:
                return other.item.id, "says nearly the same as"
        return None, ""

    def _signature(self, scored_item: ScoredItem) -> tuple[int, ...]:
        if scored_item.item.id not in self._signatures:
            near = scored_item.item.id in self._near
            self._signatures[scored_item.item.id] = bands(minhash(scored_item.item.text)) if near else ()
        return self._signatures[scored_item.item.id]

    def _runs(self, scored_item: ScoredItem) -> frozenset[str]:
        if scored_item.item.id not in self._shingles:
            self._shingles[scored_item.item.id] = shingles(scored_item.item.text)
        return self._shingles[scored_item.item.id]


def _may_fold(scored_item: ScoredItem, other: ScoredItem) -> bool:
    """Whether two items may be one: what nobody vouches for does not stand in for what somebody does."""
    mine, its = scored_item.item, other.item
    if (mine.superseded_by is None) != (its.superseded_by is None):
        return False
    if mine.key is not None and its.key is not None and (mine.key, mine.value) != (its.key, its.value):
        return False
    return its.trust.rank >= mine.trust.rank


@dataclass(slots=True)
class Allotment:
    """What of each layer a context takes, and what it leaves out, with its price."""

    taken: list[ScoredItem] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    spent: dict[MemoryLayer, int] = field(default_factory=dict)


def allot(
    ranked: Sequence[ScoredItem],
    *,
    shares: Mapping[MemoryLayer, float],
    tokens: int,
    cost: Callable[[ScoredItem], int],
) -> Allotment:
    """Return the items that fit: of each layer the best, within its share of `tokens` as a cap.

    What a layer does not use flows on in the order of authority, and at the end to whoever has items left, in the
    same order; then to layers whose share is 0. A layer without a share is left out.
    """
    allotment = Allotment()
    waiting: dict[MemoryLayer, list[tuple[ScoredItem, int]]] = {}
    carried, spent = 0.0, 0
    for layer in MemoryLayer:
        cap = shares.get(layer, 0.0) * tokens + carried
        used = 0
        own = [(scored_item, cost(scored_item)) for scored_item in ranked if scored_item.item.layer is layer]
        if layer not in shares:
            allotment.left_out += [
                _left_out_item(scored_item, price, "its layer has no share here")
                for scored_item, price in own
            ]
            own = []
        for scored_item, price in own:
            if shares[layer] > 0 and used + price <= cap and spent + used + price <= tokens:
                allotment.taken.append(scored_item)
                used += price
            else:
                waiting.setdefault(layer, []).append((scored_item, price))
        allotment.spent[layer] = used
        spent += used
        carried = cap - used
    for layer, own in sorted(waiting.items(), key=lambda item: shares[item[0]] <= 0):
        for scored_item, price in own:
            if spent + price <= tokens:
                allotment.taken.append(scored_item)
                allotment.spent[layer] += price
                spent += price
            else:
                allotment.left_out.append(
                    _left_out_item(
                        scored_item, price, f"costs {price} tokens; {tokens - spent} of {tokens} are left"
                    )
                )
    allotment.taken.sort(key=order)
    return allotment


def _left_out_item(scored_item: ScoredItem, price: int, reason: str) -> LeftOut:
    return LeftOut(
        id=scored_item.item.id,
        layer=scored_item.item.layer,
        reason=reason,
        tokens=price,
        score=scored_item.score,
    )


def left_out(pairs: Iterable[tuple[ScoredItem, str]], *, cost: Callable[[ScoredItem], int]) -> list[LeftOut]:
    """Return what gave way to others, with the price that it would have had."""
    return [_left_out_item(scored_item, cost(scored_item), reason) for scored_item, reason in pairs]


_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What goes on, each at most once for a key, and what gave way, with the reason."""

    items: tuple[ScoredItem, ...]
    gave_way: tuple[tuple[ScoredItem, str], ...]


def reconcile(ranked: Sequence[ScoredItem]) -> Reconciled:
    """Return the items without those that others contradict, in their order.

    Items are about the same when they share a key, a space and a group; what a user prefers everywhere is about the
    same as what a project says of that key, but not of somebody or something in it. What this project chose goes
    before what its user usually does. Among the rest the better vouched for goes first (the user or an agent before a
    tool, the web or nobody), then the younger by whole days, the surer, the one with more evidence, the higher layer,
    and the id. Values are compared as people mean them (`same_value`), lists do not contradict each other, and a
    decision gives way to nothing: it carries reasons.
    """
    dropped: dict[str, str] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for group in _groups(ranked):
        best, *others = sorted(group, key=_precedence)
        differing = [scored_item for scored_item in others if not _agree(scored_item.item, best.item)]
        if differing:
            notes[best.item.id] = tuple(_note(best.item, scored_item.item) for scored_item in differing)
        for scored_item in differing:
            reason = f"contradicted by {best.item.id}, which {_reason(best.item, scored_item.item)}"
            if scored_item.item.kind == DECISION:
                notes[scored_item.item.id] = (f"It is {reason}; its reasons are told all the same.",)
            else:
                dropped[scored_item.item.id] = reason
    for decision, fact in _named_facts(ranked, dropped):
        for mine, its in ((decision, fact), (fact, decision)):
            if _precedence(mine) < _precedence(its):
                text = _note(mine.item, its.item, key=fact.item.key)
            else:
                text = f"It is contradicted by {its.item.id}, which {_reason(its.item, mine.item)}."
            notes[mine.item.id] = (*notes.get(mine.item.id, ()), text)
    kept_scored_items = tuple(
        replace(scored_item, notes=(*scored_item.notes, *notes.get(scored_item.item.id, ())))
        for scored_item in ranked
        if scored_item.item.id not in dropped
    )
    return Reconciled(
        items=kept_scored_items,
        gave_way=tuple(
            (scored_item, dropped[scored_item.item.id])
            for scored_item in ranked
            if scored_item.item.id in dropped
        ),
    )


def _groups(ranked: Iterable[ScoredItem]) -> list[list[ScoredItem]]:
    """Return items that are about the same. A decision without a key is about what it names, where only the user says
    anything of that.
    """
    users: dict[str, list[ScoredItem]] = {}
    unkeyed: dict[str, list[ScoredItem]] = {}  # decisions by the key of what they name
    groups: dict[tuple[str, str, str], list[ScoredItem]] = {}
    for scored_item in ranked:
        item = scored_item.item
        key = item.key
        if key is None and item.kind == DECISION:
            key = named_key(_title(item))
        if key is None or (item.value is None and item.key is not None):
            continue
        if item.layer is MemoryLayer.USER:
            users.setdefault(canonical_key(key), []).append(scored_item)
        elif item.key is None:
            unkeyed.setdefault(canonical_key(key), []).append(scored_item)
        else:
            own = canonical_key(key) if item.kind in (DECISION, STACK) else slug(key) or fold(key)
            groups.setdefault((own, item.space or "", fold(item.group or "")), []).append(scored_item)
    keys = set()
    for (key, _, _), members in groups.items():
        if any(_is_the_projects(member.item) for member in members):
            keys.add(canonical_key(key))  # what its user does everywhere is beside each of this project's
            members.extend(users.get(canonical_key(key), ()))
    for key, members in users.items():
        if key not in keys:
            groups[key, "", ""] = [*members, *unkeyed.get(key, ())]
    return [members for members in groups.values() if len(members) > 1]


def _named_facts(
    ranked: Sequence[ScoredItem], dropped: Container[str]
) -> Iterator[tuple[ScoredItem, ScoredItem]]:
    """Give decisions without a key, each with what a fact that it names, or that has the key of what it names, says
    otherwise.

    Of a fact it names the value; where several facts have the key, only those. What is matched by words alone drops
    nothing: both are told, with a note.
    """
    facts: dict[str, list[ScoredItem]] = {}
    for scored_item in ranked:
        item = scored_item.item
        if item.key is None or item.value is None or item.id in dropped or item.layer is MemoryLayer.USER:
            continue
        if item.kind != DECISION and (item.kind == STACK or item.kind not in KINDS_APART):
            facts.setdefault(canonical_key(item.key), []).append(scored_item)
    for scored_item in ranked if facts else ():
        item = scored_item.item
        if item.kind != DECISION or item.key is not None or item.superseded_by is not None:
            continue
        choice = choice_in(_title(item))
        named, scope = named_key(_title(item)), canonical_key(" ".join(choice.scope))
        for key, members in facts.items():
            if not is_whole(choice) and scope != key:
                continue
            for fact in members:
                stance = _stance(choice, fact.item.value)
                of_key = (
                    key == named and len(members) == 1 and fact.item.kind == STACK and bool(choice.chosen)
                )
                if stance is False or (stance is None and of_key):
                    yield scored_item, fact


def _stance(choice: TitleChoice, value: JSONValue) -> bool | None:
    """Whether a title turns down any of what a value holds (False), chooses any of it (True), or names none."""
    values = value if isinstance(value, list | tuple) else [value]
    stances = [choice.stance(plain_text(each)) for each in values]
    return False if False in stances else True if True in stances else None


def _is_the_projects(item: MemoryItem) -> bool:
    """Whether an item says how something is done here: where another person lives is no exception of the user's."""
    return item.group is None or item.kind == DECISION or item.kind in KINDS_APART


def _precedence(scored_item: ScoredItem) -> tuple[int, int, int, float, int, int, str]:
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
        _precedence(ScoredItem(item=best, score=0.0, parts={})),
        _precedence(ScoredItem(item=other, score=0.0, parts={})),
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
    return next(word for word, first, second in zip(words, mine, its, strict=True) if first != second)


def _note(best: MemoryItem, other: MemoryItem, *, key: str | None = None) -> str:
    text = f"{_line_of(_told(other))} ({other.id}, {other.at:%Y-%m-%d}{_sure(other)})"
    if other.layer is MemoryLayer.USER and best.layer is not MemoryLayer.USER:
        return (
            f"The user usually has {other.key}: {text}; this project has {_line_of(_told(best))}. "
            "Treat this project as an exception."
        )
    return (
        f"Another memory has {key or other.key}: {text}; this one counts because it {_reason(best, other)}."
    )


def _sure(item: MemoryItem) -> str:
    parts = [] if item.confidence is None else [f"confidence {item.confidence:.2f}"]
    parts += [f"{item.evidence_count} times"] if (item.evidence_count or 0) > 1 else []
    return "".join(f", {part}" for part in parts)


def _agree(item: MemoryItem, other: MemoryItem) -> bool:
    """Whether two items say the same of their key."""
    if isinstance(item.value, list | tuple) and isinstance(other.value, list | tuple):
        return True
    if item.kind == DECISION and other.kind == DECISION:
        return fold(_title(item)) == fold(_title(other))
    if other.kind == DECISION:
        return _chooses(other, item.value)
    return _chooses(item, other.value) if item.kind == DECISION else same_value(item.value, other.value)


def _chooses(decision: MemoryItem, value: JSONValue) -> bool:
    """Whether the title of a decision leaves a value as it is: chooses it, or turns down something else alone."""
    choice = choice_in(_title(decision))
    stance = _stance(choice, value)
    if stance is not None:
        return stance
    if not is_whole(choice):
        values = value if isinstance(value, list | tuple) else [value]
        return any(names(_title(decision), plain_text(each)) for each in values)
    return bool(choice.rejected) and not choice.chosen


def _title(decision: MemoryItem) -> str:
    """Return what a decision says in one line: its text begins with it."""
    return decision.text.partition("\n")[0]


def _told(item: MemoryItem) -> JSONValue:
    return _title(item) if item.kind == DECISION else item.value


def _line_of(value: JSONValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return safe_line(text, _SHOWN)
