"""Updates in plain prose: whether what holds now comes before what held, and what is called superseded though it is not.

`python -m benchmarks.plain_updates` lists the updates of the development half whose current text does not come first, and
the independent pairs that are called superseded; with `validation` the shares of the validation set, and what is wrong in the half
of it that may be looked at.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

import hexad
from benchmarks.halves import DEVELOPMENT, VALIDATION, halves, records
from benchmarks.quality import RememberedVectors
from benchmarks.report import Cell, Options, Report, Table
from hexad import Hexad, Hits

OLD, CURRENT = "old", "current"
ROLES: Final = (CURRENT, OLD, "near", "far")
HEXAD, COSINE, NEWEST = "hexad", "cosine", "cosine, newest of near-equals"
CEILING: Final = "cosine that knows the updates"
"""Where the old text comes before the current one, the current one takes its place: what order by cosine could reach."""
SYSTEMS: Final = (HEXAD, COSINE, NEWEST, CEILING)
LINK_KINDS: Final = ("supersedes", "superseded-by", "contradicts")
CURRENT_FIRST, FALSE_SUPERSESSIONS = 0.95, 0.01
"""Budgets: updates whose current text comes first, and independent pairs that are called superseded."""
NEAR_EQUAL: Final = 0.05
"""How much less than the best cosine still counts as the same, for the floor; it was not tuned."""
LIMIT: Final = 5
_FIRST_DAY: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_APART_SECONDS: Final = 3600.0
_QUICK_UPDATES, _QUICK_PAIRS = 42, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text of an update: the current or the old one, one that is near, or one about something else."""

    id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Texts in the order in which they were written, and a question that the current one answers."""

    id: str
    style: str
    question: str
    texts: tuple[Text, ...]

    def text_of(self, role: str) -> Text:
        """Return the text of a role, the first where there are several."""
        return next(text for text in self.texts if text.role == role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts that are alike and both true: the newer one does not supersede the older one."""

    id: str
    kind: str
    frame: str
    older: str
    newer: str


def load_updates(half: str) -> list[Update]:
    """Return the updates of a half; raises `ValueError` where its records contradict each other."""
    found = [
        Update(
            id=line["id"],
            style=line["style"],
            question=line["question"],
            texts=tuple(Text(**text) for text in line["texts"]),
        )
        for line in records("plain_updates", half)
    ]
    _refuse(f"plain_updates.{half}.jsonl", update_problems(found))
    return found


def load_pairs(half: str) -> list[Pair]:
    """Return the independent pairs of a half; raises `ValueError` where its records contradict each other."""
    found = [
        Pair(**{name: line[name] for name in ("id", "kind", "frame", "older", "newer")})
        for line in records("independent_pairs", half)
    ]
    _refuse(f"independent_pairs.{half}.jsonl", pair_problems(found))
    return found


def update_problems(updates: Sequence[Update]) -> Iterable[str]:
    """Give what contradicts itself in updates."""
    yield from _repeats("question", (each.question.casefold() for each in updates))
    yield from _repeats("id", (text.id for each in updates for text in each.texts))
    yield from _repeats("current text", (each.text_of(CURRENT).text for each in updates))
    for each in updates:
        roles = [text.role for text in each.texts]
        if (roles.count(OLD), roles.count(CURRENT)) != (1, 1) or set(roles) - set(ROLES):
            yield f"{each.id} has the roles {roles}"
        elif roles.index(OLD) > roles.index(CURRENT):
            yield f"{each.id} tells the old text after the current one"
        if len({text.text for text in each.texts}) != len(each.texts):
            yield f"{each.id} tells a text twice"


def pair_problems(pairs: Sequence[Pair]) -> Iterable[str]:
    """Give what contradicts itself in pairs."""
    yield from _repeats("id", (each.id for each in pairs))
    yield from _repeats("pair", ((each.older, each.newer) for each in pairs))
    yield from (f"{each.id} is one text twice" for each in pairs if each.older == each.newer)


def _repeats(what: str, values: Iterable[object]) -> Iterable[str]:
    return (f"the {what} {value!r} stands twice" for value, count in Counter(values).items() if count > 1)


def _refuse(name: str, problems: Iterable[str]) -> None:
    if lines := list(problems):
        raise ValueError(f"{name}: {'; '.join(lines)}")


# Asking -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The roles of what each system returned of an update, best first, and what is reported about its texts."""

    update: Update
    orders: Mapping[str, tuple[str, ...]]
    is_reported: bool
    false_reports: tuple[tuple[str, str], ...]
    """Texts, newer and older, that are reported though the older one still holds, or another one took its place."""

    def first(self, system: str) -> str | None:
        """Return the role of what came first; None where nothing came."""
        return next(iter(self.orders[system]), None)

    def is_before(self, system: str) -> bool:
        """Whether the current text was returned, and before the old one."""
        order = self.orders[system]
        return CURRENT in order and OLD not in order[: order.index(CURRENT)]


def judge_updates(hx: Hexad, updates: Sequence[Update], embedder: RememberedVectors) -> list[Verdict]:
    """Write every update into a space of its own, in order, and ask its question there."""
    ids = {}
    for update in updates:
        for text in update.texts:
            ids[text.id] = _write(hx, text.text, space=update.id)
    hx.embed_pending()
    hx.maintain()
    found = []
    for update in updates:
        text_of = {ids[text.id]: text for text in update.texts}
        hits = hx.recall(update.question, space=update.id, limit=LIMIT)
        reported = supersessions(hx, list(text_of), hits)
        right = (ids[update.text_of(CURRENT).id], ids[update.text_of(OLD).id])
        orders = {HEXAD: tuple(text_of[hit.id].role for hit in hits), **_floors(update, embedder)}
        found.append(
            Verdict(
                update=update,
                orders=orders,
                is_reported=right in reported,
                false_reports=tuple(
                    (text_of[newer].text, text_of[older].text) for newer, older in sorted(reported - {right})
                ),
            )
        )
    return found


def judge_pairs(hx: Hexad, pairs: Sequence[Pair]) -> list[bool]:
    """Write every pair into a space of its own; returns which are called superseded, in either direction."""
    ids = [tuple(_write(hx, text, space=pair.id) for text in (pair.older, pair.newer)) for pair in pairs]
    hx.embed_pending()
    hx.maintain()
    return [
        bool(supersessions(hx, each, hx.recall(pair.older, space=pair.id, limit=LIMIT)))
        for pair, each in zip(pairs, ids, strict=True)
    ]


def supersessions(hx: Hexad, ids: Sequence[str], hits: Hits) -> set[tuple[str, str]]:
    """Return all pairs (newer, older) that the store reports: by links, by the memories, and by what hits say."""
    place = {memory_id: at for at, memory_id in enumerate(ids)}
    found: set[frozenset[str]] = set()
    for memory_id in ids:
        memory = hx.get(memory_id)
        if memory.supersedes is not None:
            found.add(frozenset((memory_id, memory.supersedes)))
        for link in hx.links(memory_id):
            if link.kind.removesuffix("-candidate") in LINK_KINDS:
                found.add(frozenset((link.source.id, link.target.id)))
    for hit in hits:
        record = hit.to_dict()
        for key in ("replaced", "superseded_by"):
            found |= {frozenset((hit.id, other)) for other in _ids_in(record.get(key))}
    pairs = (sorted(pair & place.keys(), key=place.__getitem__) for pair in found)
    return {(pair[1], pair[0]) for pair in pairs if len(pair) == 2}


def _ids_in(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [memory_id for each in value for memory_id in _ids_in(each)]
    if isinstance(value, dict):
        return [str(value["id"])] if "id" in value else []
    return [value] if isinstance(value, str) else []


def _write(hx: Hexad, text: str, *, space: str) -> str:
    clock = hx.clock
    assert isinstance(clock, hexad.FrozenClock)
    clock.advance(seconds=_APART_SECONDS)
    return hx.remember(text, space=space).id


def _floors(update: Update, embedder: RememberedVectors) -> dict[str, tuple[str, ...]]:
    scores = embedder.embed([text.text for text in update.texts]) @ embedder.embed_query(update.question)
    roles = [text.role for text in update.texts]
    ranked = np.argsort(-scores, kind="stable").tolist()
    equal = sorted((at for at in ranked if scores[at] >= scores.max() - NEAR_EQUAL), reverse=True)
    newest = equal + ranked[len(equal) :]
    return {
        COSINE: tuple(roles[at] for at in ranked[:LIMIT]),
        NEWEST: tuple(roles[at] for at in newest[:LIMIT]),
        CEILING: _with_current_before_old([roles[at] for at in ranked])[:LIMIT],
    }


def _with_current_before_old(order: Sequence[str]) -> tuple[str, ...]:
    others = [role for role in order if role != CURRENT]
    place = min(order.index(CURRENT), order.index(OLD))
    return (*others[:place], CURRENT, *others[place:])


# Reporting ----------------------------------------------------------------------------------------------------------


def run(options: Options) -> Report:
    """Write and ask both halves, and report them by style of update and by kind of pair."""
    report = Report(name="Updates in plain prose")
    embedder = RememberedVectors(keep=options.reuse_vectors)
    for half in halves(quick=options.quick):
        updates, pairs = load_updates(half), load_pairs(half)
        if options.quick:
            updates = updates[:: len(updates) // _QUICK_UPDATES]
            pairs = pairs[:: len(pairs) // _QUICK_PAIRS]
        verdicts, called = judge(updates, pairs, embedder, options.work / half)
        report.tables += [_update_table(half, verdicts), _pair_table(half, pairs, called)]
        report.tables.append(_threshold_table(half, updates, pairs, embedder))
        right = sum(each.first(HEXAD) == CURRENT for each in verdicts)
        report.at_least(f"{half}: current first", right / len(verdicts), CURRENT_FIRST)
        before = sum(each.is_before(HEXAD) for each in verdicts)
        report.at_least(f"{half}: current before old", before / len(verdicts), CURRENT_FIRST)
        report.at_most(f"{half}: pairs called superseded", sum(called) / len(called), FALSE_SUPERSESSIONS)
        found = [each for each in verdicts if each.first(COSINE) in (OLD, CURRENT)]
        right = sum(each.first(HEXAD) == CURRENT for each in found)
        report.figure(
            f"{half}: current first, where cosine has the old or the current first", right / len(found)
        )
        linked = sum(each.is_reported for each in verdicts)
        report.figure(f"{half}: updates whose older text is reported as superseded", linked / len(verdicts))
        others = sum(len(each.false_reports) for each in verdicts)
        report.figure(
            f"{half}: false reports for each update, among the texts beside it", others / len(verdicts)
        )
    embedder.save()
    return report


def judge(
    updates: Sequence[Update], pairs: Sequence[Pair], embedder: RememberedVectors, work: Path
) -> tuple[list[Verdict], list[bool]]:
    """Return the verdicts of updates, and which pairs are called superseded; each from a store of its own."""
    folders = (work / "updates", work / "pairs")
    for folder in folders:
        folder.mkdir(parents=True)
    with _open(folders[0], embedder) as hx:
        verdicts = judge_updates(hx, updates, embedder)
    with _open(folders[1], embedder) as hx:
        return verdicts, judge_pairs(hx, pairs)


def _open(folder: Path, embedder: RememberedVectors) -> Hexad:
    clock = hexad.FrozenClock(_FIRST_DAY)
    return hexad.open(folder, embedder=embedder, clock=clock, background=False, user_dir=folder / "user")


def _update_table(half: str, verdicts: Sequence[Verdict]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for style in (*dict.fromkeys(each.update.style for each in verdicts), "all"):
        group = [each for each in verdicts if style in (each.update.style, "all")]
        firsts = {name: Counter(each.first(name) for each in group) for name in SYSTEMS}
        rows.append(
            (
                style,
                len(group),
                *(firsts[name][CURRENT] / len(group) for name in SYSTEMS),
                *(sum(each.is_before(name) for each in group) / len(group) for name in SYSTEMS[:-1]),
                *(firsts[name][OLD] / len(group) for name in SYSTEMS[:-1]),
                firsts[HEXAD][None] / len(group),
                sum(each.is_reported for each in group) / len(group),
            )
        )
    columns = [
        "style",
        "updates",
        *(f"current first: {name}" for name in SYSTEMS),
        *(f"current before old: {name}" for name in SYSTEMS[:-1]),
        *(f"old first: {name}" for name in SYSTEMS[:-1]),
        "empty: hexad",
        "reported as superseded",
    ]
    return Table(title=f"{half}: updates", columns=columns, rows=rows)


def _pair_table(half: str, pairs: Sequence[Pair], called: Sequence[bool]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in (*dict.fromkeys(pair.kind for pair in pairs), "all"):
        group = [
            is_called for pair, is_called in zip(pairs, called, strict=True) if kind in (pair.kind, "all")
        ]
        rows.append((kind, len(group), sum(group), sum(group) / len(group)))
    columns = ("kind", "pairs", "called superseded", "share")
    return Table(title=f"{half}: independent pairs", columns=columns, rows=rows)


def _threshold_table(
    half: str, updates: Sequence[Update], pairs: Sequence[Pair], embedder: RememberedVectors
) -> Table:
    """Say what a threshold on cosine alone would do: the pairs it links where it links a share of the updates."""
    changed = _cosines([(each.text_of(OLD).text, each.text_of(CURRENT).text) for each in updates], embedder)
    independent = _cosines([(pair.older, pair.newer) for pair in pairs], embedder)
    rows: list[tuple[Cell, ...]] = []
    for part in (0.25, 0.5, 0.75, 0.95):
        threshold = float(np.quantile(changed, 1 - part))
        rows.append((part, threshold, float((independent >= threshold).mean())))
    columns = ("updates linked", "cosine at least", "independent pairs linked")
    return Table(title=f"{half}: beside it, a threshold on cosine alone", columns=columns, rows=rows)


def _cosines(texts: Sequence[tuple[str, str]], embedder: RememberedVectors) -> np.ndarray:
    left, right = (embedder.embed([pair[at] for pair in texts]) for at in (0, 1))
    return np.asarray((left * right).sum(axis=1))


def main() -> int:
    """Print the updates of the development half that are not right, and the pairs that are called superseded."""
    half = VALIDATION if sys.argv[1:] == [VALIDATION] else DEVELOPMENT
    updates, pairs = load_updates(half), load_pairs(half)
    seen = {record["id"] for name in _SETS for record in records(name, half) if record.get("look", True)}
    with tempfile.TemporaryDirectory(prefix="hexad-plain-updates-") as work:
        verdicts, called = judge(updates, pairs, RememberedVectors(keep=False), Path(work))
    _print_shares("all", verdicts, called)
    if half == VALIDATION:
        unseen = [each for each in verdicts if each.update.id not in seen]
        _print_shares(
            "not looked at",
            unseen,
            [each for pair, each in zip(pairs, called, strict=True) if pair.id not in seen],
        )
    for each in verdicts:
        if each.update.id not in seen:
            continue
        if each.first(HEXAD) != CURRENT or not each.is_reported:
            state = f"{each.first(HEXAD) or 'nothing'} first, {'' if each.is_reported else 'not '}reported"
            old, new = (each.update.text_of(role).text for role in (OLD, CURRENT))
            print(f"update\t{each.update.style}\t{state}\t{old}\t{new}\t{each.update.question}")
        for newer, older in each.false_reports:
            print(f"false report\t{each.update.style}\t{older}\t{newer}")
    for pair, is_called in zip(pairs, called, strict=True):
        if is_called and pair.id in seen:
            print(f"pair\t{pair.frame}\t{pair.older}\t{pair.newer}")
    return 0


_SETS: Final = ("plain_updates", "independent_pairs")


def _print_shares(name: str, verdicts: Sequence[Verdict], called: Sequence[bool]) -> None:
    first = sum(each.first(HEXAD) == CURRENT for each in verdicts) / len(verdicts)
    before = sum(each.is_before(HEXAD) for each in verdicts) / len(verdicts)
    linked = sum(each.is_reported for each in verdicts) / len(verdicts)
    print(
        f"{name}: {len(verdicts)} updates, current first {first:.3f}, before old {before:.3f}, "
        f"reported {linked:.3f}; {sum(called)} of {len(called)} pairs called superseded"
    )


if __name__ == "__main__":
    sys.exit(main())
