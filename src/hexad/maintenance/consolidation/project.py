"""Consolidation of a project's memories: decided from what there is, done in small transactions, each judged again.

rows ─ plan (pure) ─ batches: the rows as they are now ─ archive, link, count as evidence, weigh ─ a note for the ledger
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hexad.config import ConsolidationSettings
from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.codec import to_micros
from hexad.maintenance.consolidation.rows import ConsolidationCandidate, ConsolidationRows
from hexad.maintenance.consolidation.rules import (
    ConsolidationInput,
    ConsolidationPlan,
    ConsolidationStep,
    plan,
)
from hexad.maintenance.consolidation.values import (
    DECAYED,
    MERGED_INTO,
    ConsolidationAction,
    ConsolidationChange,
    LayerSize,
)
from hexad.memory.confidence import risen
from hexad.memory.draft import Draft
from hexad.memory.memory import CONSOLIDATED, Trust
from hexad.memory.policy import parse_stored
from hexad.memory.store import Stores
from hexad.memory.tables.purge import RetentionRows
from hexad.search.fulltext import FullText

BATCH: Final = 200
_EVIDENCE_MOST: Final = 100
CHANGED: Final = "changed while it was being consolidated; the next run looks at it again"


@dataclass(slots=True)
class Done:
    """What was done of a plan, and what was left alone: reason to ids."""

    changes: list[ConsolidationChange] = field(default_factory=list)
    alone: dict[str, list[str]] = field(default_factory=dict)
    interrupted: bool = False


class ProjectConsolidation:
    """Consolidates the memories of one store. Any number of processes may do so at once, and be killed at any point."""

    def __init__(self, everything: Stores, fulltext: FullText, audit: AuditSink) -> None:
        self._stores, self._fulltext, self._audit = everything, fulltext, audit
        self._rows = ConsolidationRows(everything.db)
        self._archive = RetentionRows(everything.db)

    def plan(
        self,
        settings: ConsolidationSettings,
        *,
        now: datetime,
        sizes: dict[str, LayerSize],
        coming: Sequence[ConsolidationCandidate] = (),
    ) -> ConsolidationPlan:
        """Return what is to be done; `coming` are memories that will be there by then, and `sizes` count them."""
        with self._stores.db.read():
            rows = self._rows.candidates()
            consolidation_input = ConsolidationInput(
                rows=(*rows, *coming),
                near=self._rows.near(),
                texts=self._rows.texts,
                evidence=self._rows.evidence([row.no for row in rows if row.draft]),
                keeping=frozenset(
                    space.name
                    for space in self._stores.spaces.list()
                    if parse_stored(space.policies).allow_delete is False
                ),
                sizes=sizes,
                arrivals=self._rows.arrivals(now=now),
            )
            return plan(consolidation_input, settings, now=now)

    def run(self, made: ConsolidationPlan, *, now: datetime, stop: Callable[[], bool]) -> Done:
        """Do the steps of a plan, a few hundred at once; what changed since is left to the next run."""
        done = Done(alone={reason: list(ids) for reason, ids in made.alone.items()})
        for start in range(0, len(made.steps), BATCH):
            if stop():
                done.interrupted = True
                break
            with self._stores.db.transaction():
                self._batch(made.steps[start : start + BATCH], done, now=now)
        return done

    def _batch(self, steps: Sequence[ConsolidationStep], done: Done, *, now: datetime) -> None:
        numbers = {step.row.no for step in steps} | {step.keeper.no for step in steps if step.keeper}
        there = {row.no: row for row in self._rows.candidates(numbers)}
        first = len(done.changes)
        fits: list[ConsolidationStep] = []
        taken_numbers: set[int] = set()
        for step in steps:
            if _stands(step, there, taken_numbers):
                fits.append(step)
                taken_numbers |= {step.row.no} if step.archives else set()
                done.changes.append(step.change)
            else:
                done.alone.setdefault(CHANGED, []).append(step.row.id)
        taken = [step.row.no for step in fits if step.archives]
        evidence = self._rows.evidence(taken)
        for step in fits:
            if step.keeper is not None:
                self._merge(step, there[step.keeper.no], 1 + evidence.get(step.row.no, (0, now))[0], now=now)
            elif step.change.action is ConsolidationAction.RESCORED:
                assert step.change.after is not None
                self._rows.set_confidence(step.row.no, step.change.after)
                self._rows.note(
                    step.row.no, DECAYED, {"at": to_micros(now), "base": step.base, "to": step.change.after}
                )
        if taken:
            self._fulltext.remove_memories(taken)
            self._archive.archive(taken, at=now)
        for step in fits:
            if step.archives:
                self._rows.note(step.row.no, CONSOLIDATED, note_of(step.change, now))
        self.record(done.changes[first:], scope="project", at=now)

    def _merge(
        self, step: ConsolidationStep, keeper: ConsolidationCandidate, times: int, *, now: datetime
    ) -> None:
        """Count a duplicate as evidence for what remains, and say where it went."""
        memories = self._stores.memories
        for _ in range(min(times, _EVIDENCE_MOST)):
            memories.add_evidence(keeper.no, at=now, trust=step.row.trust, note="merged")
        if keeper.draft and step.change.after is not None:
            memory = memories.by_no([keeper.no])[keeper.no]
            self._rows.set_confidence(keeper.no, risen(memory.confidence))
        self._stores.links.put(step.row.no, keeper.no, MERGED_INTO, at=now)

    def record(self, changes: Sequence[ConsolidationChange], *, scope: str, at: datetime) -> None:
        """Note in the transaction what it did; nothing where it did nothing."""
        if not changes:
            return
        counts = Counter(change.action.value for change in changes)
        detail: dict[str, JSONValue] = {"scope": scope, **dict(sorted(counts.items()))}
        self._audit.record(AuditEvent(what="consolidation", at=at, detail=detail))


def note_of(change: ConsolidationChange, at: datetime) -> dict[str, str | None]:
    """Return what a memory says of what was done with it."""
    return {
        "action": change.action.value,
        "reason": change.reason,
        "at": format_time(at),
        **({} if change.remains is None else {"remains": change.remains}),
    }


def _stands(
    step: ConsolidationStep, there: dict[int, ConsolidationCandidate], taken_numbers: Collection[int]
) -> bool:
    """Whether a memory, and what remains of it, are still what was judged; some were taken just before."""
    row, keeper = there.get(step.row.no), step.keeper
    if row is not None and step.archives:
        row = row._replace(resting=row.resting.difference(taken_numbers))
    if row is None or (keeper is not None and keeper.no not in there):
        return False
    if step.change.action is ConsolidationAction.RESCORED:
        return row._replace(resting=step.row.resting) == step.row
    return _unweighed(row) == _unweighed(step.row) and (
        keeper is None or there[keeper.no].audience == keeper.audience
    )


def _unweighed(row: ConsolidationCandidate) -> ConsolidationCandidate:
    """Return a row without what a merge of the same run may have raised."""
    return row._replace(confidence=0.0, base=None, to=None)


def coming_row(draft: Draft, no: int, now: datetime) -> ConsolidationCandidate:
    """Return a draft as the memory that it will be, for who asks what would be done."""
    return ConsolidationCandidate(
        no=no,
        id=draft.id or "",
        space_no=0,
        space=draft.space,
        audience=0,
        kind=draft.kind or "",
        pinned=False,
        importance=0.5 if draft.importance is None else draft.importance,
        confidence=draft.confidence or 0.0,
        trust=Trust.AGENT,
        created_at=now,
        touched=now,
        read_at=None,
        holds_since=now,
        look=None,
        value=None,
        source=0,
        source_kind="",
        is_turn=False,
        bytes=len(draft.text.encode()),
        cited=False,
        tags="[]",
        subjects="[]",
        project=draft.project or "",
        draft=False,
        done_before="",
        base=None,
        to=None,
        resting=frozenset(),
        layer="governance" if draft.kind == "decision" else "project",
    )
