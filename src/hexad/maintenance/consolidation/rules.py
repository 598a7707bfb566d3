"""What of a project's memories is merged, dropped, archived and weighed anew. Pure: from rows to steps.

The same rows give the same steps, and what is left after some of them gives the rest: a run that was killed is made
good by the next one. So no rule looks at what another step of the same run counts up (evidence, uses).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from json import loads
from typing import Final

from hexad.config import ConsolidationSettings
from hexad.layers.user.tables.preferences import look
from hexad.maintenance.consolidation.rows import ConsolidationCandidate
from hexad.maintenance.consolidation.values import (
    ConsolidationAction,
    ConsolidationChange,
    LayerSize,
    LeftAlone,
)
from hexad.memory.confidence import decayed, risen
from hexad.memory.fact import family_of
from hexad.memory.memory import Relevance
from hexad.text.claims.facts import stands
from hexad.text.similarity.containment import Telling, adds_nothing, puts_otherwise, telling

LOGS: Final = frozenset({"log", "trace"})
_PASSING: Final = LOGS | {"todo", "task"}
_STANDING: Final = frozenset({"fact", "convention", "preference"})
"""Kinds of what stands whatever its words."""
LOG_SHARE: Final = 0.5
"""What a program noted is archived after this part of the time for others."""
DRAFT_GRACE: Final = timedelta(days=30)
"""So long a draft stays as sure as it is without being seen again."""
DRAFT_HALF_LIFE_DAYS: Final = 90.0
DRAFT_LEAST: Final = 0.1
_WORTH_WRITING: Final = 0.01
_IDS_LISTED: Final = 10
_ARCHIVED_LAYERS: Final = ("project", "vector")
_NOTHING_MORE: Final = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationStep:
    """One thing to do with a memory. `keeper` remains of a merge; `base` is how sure a draft was before it grew old."""

    change: ConsolidationChange
    row: ConsolidationCandidate
    keeper: ConsolidationCandidate | None = None
    base: float | None = None

    @property
    def archives(self) -> bool:
        """Whether the memory leaves recall."""
        return self.change.action is not ConsolidationAction.RESCORED


@dataclass(slots=True)
class ConsolidationPlan:
    """The steps, in the order in which they are done, and what a rule left alone: reason to ids."""

    steps: list[ConsolidationStep] = field(default_factory=list)
    alone: dict[str, dict[str, None]] = field(default_factory=dict)

    def leave(self, row: ConsolidationCandidate, reason: str) -> None:
        """Note what a rule would have taken; one that would have been taken twice counts once."""
        self.alone.setdefault(reason, {})[row.id] = None

    @property
    def skipped(self) -> tuple[LeftAlone, ...]:
        """What was left alone, by reason."""
        return left_alone(self.alone)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationInput:
    """What the rules look at. `keeping` are spaces whose policy forbids deletion: nothing of them is taken.

    `texts` gives what memories say, `evidence` how often and when last they were said again. `arrivals` are rows from
    which on memories came no earlier than when, by row number: what came from elsewhere could not be read here before.
    """

    rows: Sequence[ConsolidationCandidate]
    near: Sequence[tuple[int, int]]
    texts: Callable[[Collection[int]], Mapping[int, str]]
    evidence: Mapping[int, tuple[int, datetime]]
    keeping: frozenset[str]
    sizes: Mapping[str, LayerSize]
    arrivals: Sequence[tuple[int, datetime]] = ()


def left_alone(reasons: Mapping[str, Collection[str]]) -> tuple[LeftAlone, ...]:
    """Return what was left alone, each reason once."""
    return tuple(
        LeftAlone(reason=reason, count=len(ids), ids=tuple(ids)[:_IDS_LISTED])
        for reason, ids in sorted(reasons.items())
    )


def plan(
    consolidation_input: ConsolidationInput, settings: ConsolidationSettings, *, now: datetime
) -> ConsolidationPlan:
    """Return what is to be done with a project's memories, as often as it takes until nothing more is.

    What rested on a memory may go, and then nothing holds that one back: the next run would take it.
    """
    steps: list[ConsolidationStep] = []
    rows, known = consolidation_input.rows, consolidation_input
    while True:
        round_plan = _round(known, settings, now=now)
        steps += round_plan.steps
        removed_numbers = {step.row.no for step in steps}
        rows = [
            row._replace(resting=row.resting - removed_numbers) if row.resting else row
            for row in known.rows
            if row.no not in removed_numbers
        ]
        if not any(row.resting != before.resting for row, before in _both(rows, known.rows)):
            break
        known = replace(known, rows=rows, sizes=size_after(known.sizes, round_plan.steps))
    steps += _weighed(consolidation_input, steps, removed_numbers, now=now)
    return ConsolidationPlan(steps=steps, alone=round_plan.alone)


def _both(
    rows: Iterable[ConsolidationCandidate], known: Iterable[ConsolidationCandidate]
) -> Iterator[tuple[ConsolidationCandidate, ConsolidationCandidate]]:
    """Yield each row with what it was before, those with something that rests on them."""
    before = {row.no: row for row in known if row.resting}
    for row in rows:
        if row.no in before:
            yield row, before[row.no]


def _round(
    consolidation_input: ConsolidationInput, settings: ConsolidationSettings, *, now: datetime
) -> ConsolidationPlan:
    """Return what the rules take that archive, each once."""
    plan = ConsolidationPlan()
    removed_numbers: set[int] = set()
    for steps in (
        _merged(consolidation_input, plan, removed_numbers),
        _grown_old(consolidation_input, settings, plan, removed_numbers, now=now),
        _over_quota(consolidation_input, settings, plan, removed_numbers),
    ):
        for step in steps:
            plan.steps.append(step)
            removed_numbers.add(step.row.no)
    return plan


# Merging ------------------------------------------------------------------------------------------------------------


def _merged(
    consolidation_input: ConsolidationInput, plan: ConsolidationPlan, removed_numbers: Collection[int]
) -> Iterator[ConsolidationStep]:
    """Merge duplicates: facts of one key and value, texts of which one says nothing that the other does not."""
    rows = {row.no: row for row in consolidation_input.rows}
    pairs = [
        (rows[first], rows[other], reason)
        for first, other, reason in (
            *_same_facts(consolidation_input.rows),
            *_near(consolidation_input, rows),
        )
        if first in rows and other in rows
    ]
    texts = _Texts(
        consolidation_input.texts({row.no for candidate, other, _ in pairs for row in (candidate, other)})
    )
    neighbours: dict[int, list[tuple[ConsolidationCandidate, str]]] = {}
    for candidate, other, reason in pairs:
        neighbours.setdefault(candidate.no, []).append((other, reason))
        neighbours.setdefault(other.no, []).append((candidate, reason))
    for keeper in sorted((rows[no] for no in neighbours), key=_authority):
        if keeper.no in removed_numbers:
            continue
        confidence = keeper.confidence
        for row, reason in sorted(neighbours[keeper.no], key=lambda pair: pair[0].no):
            if row.no in removed_numbers or _authority(row) < _authority(keeper):
                continue
            objection = _objection(row, keeper, consolidation_input) or texts.more(row, keeper)
            if objection is not None:
                plan.leave(row, objection)
                continue
            # What is trusted less makes nobody surer of it.
            after = risen(confidence) if keeper.draft and row.trust.rank >= keeper.trust.rank else None
            yield ConsolidationStep(
                change=ConsolidationChange(
                    action=ConsolidationAction.MERGED,
                    layer=row.layer,
                    ids=(row.id,),
                    reason=reason,
                    remains=keeper.id,
                    before=confidence if after is not None else None,
                    after=after,
                ),
                row=row,
                keeper=keeper,
            )
            confidence = confidence if after is None else after


def _same_facts(rows: Sequence[ConsolidationCandidate]) -> Iterator[tuple[int, int, str]]:
    """Yield facts of one subject and attribute that have the same value, each with the first of them."""
    first: dict[tuple[object, ...], int] = {}
    for row in sorted(
        (row for row in rows if row.look is not None and row.value is not None), key=_authority
    ):
        assert row.value is not None
        key = (row.space_no, row.audience, family_of(row.kind), row.look, look(row.value), row.project)
        if row.layer == "project":
            keeper = first.setdefault(key, row.no)
            if keeper != row.no:
                yield row.no, keeper, "the same fact: subject, attribute and value"


def _near(
    consolidation_input: ConsolidationInput, rows: Mapping[int, ConsolidationCandidate]
) -> Iterator[tuple[int, int, str]]:
    """Yield pairs of near-duplicates that are about the same: both notes, or both of one source."""
    for one_no, other_no in consolidation_input.near:
        if one_no not in rows or other_no not in rows:
            continue
        candidate, other = rows[one_no], rows[other_no]
        if candidate.is_turn or other.is_turn or candidate.look is not None or other.look is not None:
            continue  # what was said stays as it was said; facts are compared by their values
        notes = candidate.layer == other.layer == "project"
        chunks = candidate.source == other.source != 0 and candidate.source_kind != "caller"
        if notes or chunks:
            yield one_no, other_no, "near-identical, a copy of it is kept" if chunks else "says the same"


def _authority(row: ConsolidationCandidate) -> tuple[object, ...]:
    """Who is kept of several: who is trusted more, what was pinned or cited; of a source the latest, else the first."""
    latest = row.holds_since.timestamp() if row.layer == "project" else -row.holds_since.timestamp()
    return (-row.trust.rank, not row.pinned, not row.cited, row.draft, -row.importance, latest, row.no)


def _objection(
    row: ConsolidationCandidate, keeper: ConsolidationCandidate, consolidation_input: ConsolidationInput
) -> str | None:
    """Return why a duplicate is not merged, None where nothing speaks against it."""
    same = (row.space_no, row.audience, row.project, row.subjects, row.kind)
    if same != (keeper.space_no, keeper.audience, keeper.project, keeper.subjects, keeper.kind):
        return "a duplicate of another kind, project, person or visibility"
    if row.done_before == ConsolidationAction.MERGED:
        return "a duplicate that was brought back by hand"
    if row.look is not None and row.holds_since < keeper.holds_since:
        return "a fact that held before what is trusted more"  # else nobody could ask what held then
    return _protection(row, consolidation_input) or _loss(row, keeper)


def _loss(row: ConsolidationCandidate, keeper: ConsolidationCandidate) -> str | None:
    """Return what would be lost with a duplicate beside its text, None for nothing."""
    if row.tags != keeper.tags and not {*loads(row.tags)} <= {*loads(keeper.tags)}:
        return "a duplicate with tags of its own"
    if row.importance > keeper.importance:
        return "a duplicate that matters more"
    if keeper.valid_to is not None and row.valid_to != keeper.valid_to:
        return "a duplicate that holds longer"
    if keeper.origins not in ("", row.origins):
        return "a duplicate of what goes with its session or its sources"  # erasing those would leave nothing
    if row.layer != "project":
        return None  # of near-identical items of a source the latest stays, whenever they were written
    if row.more not in (_NOTHING_MORE, keeper.more):
        return "a duplicate with metadata of its own"
    if _own_path(row) not in ("", keeper.path):
        return "a duplicate with a path of its own"
    dated = row.holds_since != row.created_at or keeper.holds_since != keeper.created_at
    if row.look is None and dated and row.holds_since != keeper.holds_since:
        return "a duplicate of another date"
    return None


def _own_path(row: ConsolidationCandidate) -> str:
    """Return the path that somebody chose, "" for one that was made of the text."""
    parts = row.path.split("/")
    return "" if len(parts) > 2 and parts[-2] == row.kind else row.path


class _Texts:
    """What memories say, each read once however many it is compared with."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts
        self._telling: dict[int, Telling] = {}

    def more(self, row: ConsolidationCandidate, keeper: ConsolidationCandidate) -> str | None:
        """Return why what a memory says is not in what another says, None where it is."""
        if row.no not in self._texts or keeper.no not in self._texts:
            return "it was changed just now"
        if row.look is not None:
            known = f"{self._texts[keeper.no]}\n\n{keeper.subject} {keeper.attribute}\n\n{keeper.value or ''}"
            if row.value == keeper.value and puts_otherwise(self._texts[row.no], known):
                return None
            return "the same fact, of which each text says something that the other does not"
        if adds_nothing(self._of(row.no), self._of(keeper.no)):
            return None
        return "near-duplicates of which each says something that the other does not"

    def _of(self, no: int) -> Telling:
        if no not in self._telling:
            self._telling[no] = telling(self._texts[no])
        return self._telling[no]


def _protection(row: ConsolidationCandidate, consolidation_input: ConsolidationInput) -> str | None:
    """Return why a memory is never taken, None for one that may be."""
    if row.space in consolidation_input.keeping:
        return "its space's policy keeps everything (allow_delete = false)"
    if row.layer == "governance":
        return "a decision"
    if row.pinned:
        return "pinned"
    if row.cited:
        return "cites what it rests on"
    return "something else rests on it" if row.resting else None


# Growing old --------------------------------------------------------------------------------------------------------


def _grown_old(
    consolidation_input: ConsolidationInput,
    settings: ConsolidationSettings,
    plan: ConsolidationPlan,
    removed_numbers: Collection[int],
    *,
    now: datetime,
) -> Iterator[ConsolidationStep]:
    old: list[tuple[ConsolidationCandidate, tuple[ConsolidationAction, str]]] = []
    for row, since in _ages(consolidation_input):
        if row.no in removed_numbers:
            continue
        step = _dropped(row, settings, since, now) or _archived(row, settings, since, now)
        if step is not None:
            old.append((row, step))
    plain_numbers = [
        row.no
        for row, (action, _) in old
        if action is ConsolidationAction.ARCHIVED and _is_plain(row) and not _is_stated(row)
    ]
    texts = consolidation_input.texts(plain_numbers) if plain_numbers else {}
    for row, step in old:
        objection = _protection(row, consolidation_input)
        if objection is None and step[0] is ConsolidationAction.ARCHIVED:
            if _matters(row):
                objection = "important"
            elif _is_plain(row) and (_is_stated(row) or stands(texts.get(row.no, ""))):
                objection = "says what holds until something takes its place"
        if objection is not None:
            plan.leave(row, f"old, but {objection}" if objection == "important" else f"old: {objection}")
            continue
        yield ConsolidationStep(
            change=ConsolidationChange(action=step[0], layer=row.layer, ids=(row.id,), reason=step[1]),
            row=row,
        )


def _ages(consolidation_input: ConsolidationInput) -> Iterator[tuple[ConsolidationCandidate, datetime]]:
    """Yield each row with since when nobody touched it here: what came from elsewhere counts from when it came."""
    arrivals, at, arrived = consolidation_input.arrivals, 0, None
    for row in sorted(consolidation_input.rows, key=lambda row: row.no):
        while at < len(arrivals) and arrivals[at][0] <= row.no:
            arrived = arrivals[at][1] if arrived is None else max(arrived, arrivals[at][1])
            at += 1
        yield row, row.touched if arrived is None else max(row.touched, arrived)


def _dropped(
    row: ConsolidationCandidate, settings: ConsolidationSettings, since: datetime, now: datetime
) -> tuple[ConsolidationAction, str] | None:
    after = settings.drop_after
    if after is None or row.layer != "project" or row.importance >= settings.drop_below:
        return None
    if now - since < after:
        return None
    return (
        ConsolidationAction.DROPPED,
        f"importance {row.importance:g} is below {settings.drop_below:g}, and nobody read it for {after.days} days",
    )


def _archived(
    row: ConsolidationCandidate, settings: ConsolidationSettings, since: datetime, now: datetime
) -> tuple[ConsolidationAction, str] | None:
    after = settings.archive_after
    share = LOG_SHARE if row.kind in LOGS else 1.0
    # What was written ahead of its time begins with that, and is not over before the end that it was given.
    since = max(since, row.holds_since)
    if after is None or now - since < after * share or (row.valid_to is not None and row.valid_to > now):
        return None
    months = settings.archive_months * share
    return ConsolidationAction.ARCHIVED, f"neither read nor changed for {months:g} months"


def _matters(row: ConsolidationCandidate) -> bool:
    """Whether a memory matters too much to be archived for its age: more than one of which nobody said how much.

    A fact stands until another takes its place, an item of a source as long as that has it, and what rests on something
    until that changes and somebody looked at it: they go by their age only where they matter less than usual.
    """
    usual = Relevance.MEDIUM.importance
    stands = row.look is not None or row.layer == "vector" or row.dependent
    if stands and row.kind not in LOGS:
        return row.importance >= usual
    return row.importance > usual or (row.importance == usual and row.relevance == Relevance.HIGH)


def _is_stated(row: ConsolidationCandidate) -> bool:
    """Whether a memory took the place of another by its words, or its kind says that it stands."""
    return row.replaces or row.kind in _STANDING


def _is_plain(row: ConsolidationCandidate) -> bool:
    """Whether it is for its text to say if a memory stands: what is in force by its words, of the usual importance.

    What a person said in a conversation stands in memories that were made of it, and what is left to do grows old.
    """
    if (
        row.importance < Relevance.MEDIUM.importance
        or row.replaced
        or row.is_turn
        or row.valid_to is not None
    ):
        return False
    return row.layer == "project" and row.kind not in _PASSING


# Quotas -------------------------------------------------------------------------------------------------------------


def _over_quota(
    consolidation_input: ConsolidationInput,
    settings: ConsolidationSettings,
    plan: ConsolidationPlan,
    removed_numbers: Collection[int],
) -> Iterator[ConsolidationStep]:
    """Archive of a layer that is too large what matters least and was not read for longest."""
    for layer in _ARCHIVED_LAYERS:
        most, most_bytes = settings.quotas.get(layer), settings.quota_bytes.get(layer)
        if most is None and most_bytes is None:
            continue
        size = consolidation_input.sizes.get(layer, LayerSize(layer=layer))
        lost = [row for row in consolidation_input.rows if row.layer == layer and row.no in removed_numbers]
        count, size_bytes = size.count - len(lost), size.bytes - sum(row.bytes for row in lost)
        rows = [
            row for row in consolidation_input.rows if row.layer == layer and row.no not in removed_numbers
        ]
        for row in sorted(rows, key=lambda row: (row.importance, row.touched, row.no)):
            is_over = most is not None and count > most
            if not is_over and not (most_bytes is not None and size_bytes > most_bytes):
                break
            objection = _protection(row, consolidation_input)
            if objection is not None:
                plan.leave(row, f"over the quota: {objection}")
                continue
            limit = f"{most:,} items" if is_over else f"{most_bytes:,} bytes"
            yield ConsolidationStep(
                change=ConsolidationChange(
                    action=ConsolidationAction.ARCHIVED,
                    layer=layer,
                    ids=(row.id,),
                    reason=f"the layer is over its quota of {limit}; it matters least and was not read for longest",
                ),
                row=row,
            )
            count, size_bytes = count - 1, size_bytes - row.bytes


# Confidence ---------------------------------------------------------------------------------------------------------


def _weighed(
    consolidation_input: ConsolidationInput,
    steps: Iterable[ConsolidationStep],
    removed_numbers: Collection[int],
    *,
    now: datetime,
) -> Iterator[ConsolidationStep]:
    """Let drafts that nobody saw again become less sure, and those that somebody did be as sure as they were."""
    keeper_numbers = {step.keeper.no for step in steps if step.keeper is not None}
    for row in consolidation_input.rows:
        if not row.draft or row.pinned or row.no in removed_numbers or row.no in keeper_numbers:
            continue
        _, moment = consolidation_input.evidence.get(row.no, (0, row.created_at))
        base = _unaged(row, moment)
        days = max((now - max(moment, row.created_at) - DRAFT_GRACE).days, 0)
        after = decayed(base, days=days, half_life_days=DRAFT_HALF_LIFE_DAYS, least=min(base, DRAFT_LEAST))
        if abs(after - row.confidence) < _WORTH_WRITING:
            continue
        reason = (
            f"a draft that nobody saw again for {(now - moment).days} days"
            if after < row.confidence
            else "a draft that was seen again"
        )
        yield ConsolidationStep(
            change=ConsolidationChange(
                action=ConsolidationAction.RESCORED,
                layer=row.layer,
                ids=(row.id,),
                reason=reason,
                before=row.confidence,
                after=after,
            ),
            row=row,
            base=base,
        )


def _unaged(row: ConsolidationCandidate, moment: datetime) -> float:
    """Return how sure a draft would be had it not grown old: what was done to it since counts in proportion."""
    if row.base is None or not row.to or not 0.0 < row.base <= 1.0:
        return row.confidence
    if abs(row.confidence - row.to) < 1e-6:
        return row.base
    if row.lowered_at is not None and moment >= row.lowered_at:
        return row.confidence  # evidence came since: it is as sure as that made it
    return round(min(1.0, row.base * row.confidence / row.to), 6)


def size_after(sizes: Mapping[str, LayerSize], steps: Iterable[ConsolidationStep]) -> dict[str, LayerSize]:
    """Return how large the layers are when all steps are done."""
    found_sizes = dict(sizes)
    for step in steps:
        size = found_sizes.get(step.row.layer)
        if step.archives and size is not None:
            found_sizes[step.row.layer] = replace(
                size, count=size.count - 1, bytes=size.bytes - step.row.bytes
            )
    return found_sizes
