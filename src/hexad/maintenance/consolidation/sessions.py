"""From sessions to the project: what a task left becomes memories, once, and in one transaction for each task."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.clock import format_time
from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError
from hexad.layers.session.table import WorkingSets
from hexad.layers.session.working_set import WorkingSet
from hexad.maintenance.consolidation.project import note_of
from hexad.maintenance.consolidation.rows import SESSION, ConsolidationRows
from hexad.maintenance.consolidation.values import (
    PROMOTED,
    ConsolidationAction,
    ConsolidationChange,
)
from hexad.memory.confidence import DRAFT, risen
from hexad.memory.draft import Draft, MemoryWriter
from hexad.memory.memory import CONSOLIDATED, TRUST_OF_ROLE, Memory, Outcome, Status, Trust
from hexad.memory.policy import parse_stored
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.redaction.injection.detector import instructions_in
from hexad.search.indexer import Indexer
from hexad.text.commitments import Commitment, is_choice, statements
from hexad.text.normalize import fold
from hexad.text.similarity.containment import says_the_same
from hexad.text.similarity.fingerprints import bands, minhash, passage_hashes
from hexad.text.similarity.lookalikes import look_of_fact

TASK: Final = "task"
"""Kind of the memory that says what a task came to."""
KEY_CHARS_LIMIT: Final = 200
STATEMENTS_LIMIT: Final = 50
"""So many statements of one working set are promoted at most."""
_FILES_NAMED: Final = 12
_ROLES: Final = {role: trust for role, trust in TRUST_OF_ROLE.items() if trust is not Trust.TOOL}
"""Who may decide or agree on something; what a tool or a page says is data."""
INSTRUCTIONS: Final = "reads as instructions"
_FIRST_PERSON: Final = re.compile(r"(?i)\b(?:i|my|me)\b")
"""What "we" prefer is the project's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """One thing that a working set leaves. `kind` is that of the memory, `key` a todo's."""

    kind: str
    text: str
    trust: Trust
    key: str | None = None
    value: str | None = None
    importance: float = 0.5
    title: str | None = None


def harvest(working_set: WorkingSet) -> Iterator[Harvest]:
    """Yield what a working set leaves, what it came to first; nothing of one in which nothing was done."""
    if working_set.is_empty:
        return
    if (
        working_set.task
        or working_set.ticket
        or working_set.edits_total
        or working_set.substeps
        or working_set.outcome
    ):
        yield Harvest(kind=TASK, text=summary_of(working_set), trust=Trust.AGENT, importance=0.4)
    for what, text, trust in _commitments(working_set):
        yield Harvest(
            kind=what.value,
            text=text,
            trust=trust,
            key=_key(text) if what is Commitment.TODO else None,
            value=text if what is Commitment.TODO else None,
            importance=0.6 if what is Commitment.DECISION else 0.5,
            title=text if what is Commitment.DECISION else None,
        )
    for step in open_steps(working_set):
        yield Harvest(
            kind=Commitment.TODO.value,
            text=f"Todo: {step.rstrip('.')}. Left open by “{_line(working_set.subject)}”.",
            trust=Trust.AGENT,
            key=_key(step),
            value=step,
        )


def open_steps(working_set: WorkingSet) -> list[str]:
    """Return the steps that are not done."""
    return [_line(step.text) for step in working_set.substeps if not step.done and _line(step.text)]


def done_steps(working_set: WorkingSet) -> list[str]:
    """Return the keys of the steps that are done: todos of that name are done, too."""
    return [_key(_line(step.text)) for step in working_set.substeps if step.done and _line(step.text)]


def summary_of(working_set: WorkingSet) -> str:
    """Return what a task came to, in a text that recall finds."""
    about = _line(working_set.subject)
    if working_set.ticket and working_set.ticket not in about:
        about += f" (ticket {working_set.ticket})"
    done = [_line(step.text) for step in working_set.substeps if step.done]
    files = list(dict.fromkeys(edit.path for edit in reversed(working_set.edits)))
    more = f" and {len(files) - _FILES_NAMED} more" if len(files) > _FILES_NAMED else ""
    parts = [
        f"Task: {about.rstrip('.')}.",
        f"Done: {'; '.join(done)}." if done else "",
        f"Left open: {'; '.join(open_steps(working_set))}." if open_steps(working_set) else "",
        f"Files changed: {', '.join(files[:_FILES_NAMED])}{more}." if files else "",
        f"Branch: {working_set.place.branch}." if working_set.place.branch else "",
        f"Outcome: {_line(working_set.outcome)}" if working_set.outcome else "",
    ]
    return "\n".join(part for part in parts if part)


def _commitments(working_set: WorkingSet) -> Sequence[tuple[Commitment, str, Trust]]:
    """Return what was said that binds, each once, as it was said by whoever is trusted most."""
    commitments: dict[tuple[Commitment, str], tuple[str, Trust]] = {}
    for text, trust in _spoken_texts(working_set):
        for statement in statements(text):
            if statement.what is Commitment.PREFERENCE:  # of a person; the project's are conventions
                continue
            key = (statement.what, fold(statement.text))
            if key not in commitments or commitments[key][1].rank < trust.rank:
                commitments[key] = (statement.text, trust)
    return [(what, text, trust) for (what, _), (text, trust) in commitments.items()][:STATEMENTS_LIMIT]


def preferences_of(working_set: WorkingSet) -> list[str]:
    """Return what the person said in their own turns that they want done so, or not so, in any project; each once.

    Nothing of a task that is about others, and nothing that they merely like.
    """
    said: dict[str, str] = {}
    for text, trust in _spoken_texts(working_set) if not working_set.data_subjects else ():
        for statement in statements(text) if trust is Trust.USER else ():
            words = statement.text
            if statement.what is Commitment.PREFERENCE and is_choice(words) and _FIRST_PERSON.search(words):
                said.setdefault(fold(words), words)
    return list(said.values())[:STATEMENTS_LIMIT]


def _spoken_texts(working_set: WorkingSet) -> Iterator[tuple[str, Trust]]:
    """Yield the texts of people and agents, the oldest first, with who vouches for each."""
    for line in working_set.conversation_summary.splitlines():
        role, mark, text = line.partition(": ")
        if mark and role.casefold() in _ROLES:
            yield text, _ROLES[role.casefold()]
    for turn in working_set.turns:
        if turn.role.casefold() in _ROLES:
            yield turn.text, _ROLES[turn.role.casefold()]
    for note in working_set.scratchpad:
        yield note.text, Trust.AGENT
    if working_set.outcome:
        yield working_set.outcome, Trust.AGENT


def objection(harvest: Harvest) -> str | None:
    """Return why something may not be promoted whatever there is, None where it may."""
    return INSTRUCTIONS if instructions_in(harvest.text) else None


def _line(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    return "".join(char for char in _line(text) if char.isprintable())[:KEY_CHARS_LIMIT].strip()


SPACE: Final = "project"
CONFIDENCE: Final = 0.5
"""How sure a draft is that was heard in a session."""
_CANDIDATES: Final = 32
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(slots=True)
class Promotion:
    """What becomes of one working set: drafts to write, memories that it confirms, todos that it did."""

    drafts: list[Draft] = field(default_factory=list)
    confirmed: list[Memory] = field(default_factory=list)
    done: list[Memory] = field(default_factory=list)
    alone: dict[str, list[str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def leave(self, harvest: Harvest, reason: str) -> None:
        """Note what is not promoted, in its own words cut short."""
        self.alone.setdefault(reason, []).append(harvest.text[:60])


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRules:
    """What a session may do in the user layer: read the rules that somebody has, and add one."""

    texts: Callable[[], Iterable[str]]
    add: Callable[[str], object]


class SessionPromotion:
    """Promotes what ended working sets left. A task that was promoted as it stands is not looked at again."""

    def __init__(
        self,
        context: StoreContext,
        everything: Stores,
        *,
        indexer: Indexer,
        writer: Callable[[], MemoryWriter],
        audit: AuditSink,
        rules: UserRules | None = None,
    ) -> None:
        """Ids and marks are made with the store's salt: nobody without it can test a guess of what was erased.

        `rules` is None where nothing may reach the user layer.
        """
        self._rules = rules
        self._context, self._stores = context, everything
        self._indexer, self._writer, self._audit = indexer, writer, audit
        self._rows = ConsolidationRows(everything.db)
        self._sets = WorkingSets(everything.db)
        self._facts = Facts(everything.db)

    def waiting(self) -> list[str]:
        """Return the sessions that ended and were not promoted as they stand, the first that ended first."""
        promoted: dict[str, set[int]] = {}
        for (session, _), rev in self._rows.promoted().items():
            promoted.setdefault(session, set()).add(rev)
        return [name for name, rev in self._rows.ended_sessions() if rev not in promoted.get(name, set())]

    def look(self, session: str) -> tuple[Promotion, list[ConsolidationChange]]:
        """Return what `promote` would do, and changes nothing."""
        with self._stores.db.read():
            working_set = self._sets.get(session)
            promotion = self._decided(working_set)
            changes = self._changes(working_set, promotion)
        return promotion, changes + self._stated(working_set, promotion, write=False)

    def promote(self, session: str) -> tuple[Promotion, list[ConsolidationChange]]:
        """Write what a working set left, in one transaction; a second time it changes nothing. Raises `NotFound`."""
        now, stated, left = self._context.clock.now(), list[ConsolidationChange](), Promotion()
        with self._stores.db.read():
            before = self._sets.get(session)
            is_new = not self._is_promoted(before)
        if is_new:  # first, and by itself: the layer has its own database, and a rule said twice is one
            stated = self._stated(before, left, write=True)
        with self._stores.db.transaction():
            working_set = self._sets.get(session)
            mark = self._mark("task", working_set.id, working_set.task or "")
            if self._is_promoted(working_set):
                return left, stated
            promotion = self._decided(working_set)
            promotion.alone.update(left.alone)
            changes = self._changes(working_set, promotion)
            written = self._writer().write(promotion.drafts) if promotion.drafts else []
            changes = _as_written(changes, written)
            for memory in written:
                if memory.receipt is None or memory.receipt.outcome is not Outcome.UNCHANGED:
                    no = self._stores.memories.number(memory.id)
                    self._rows.note(no, PROMOTED, {"at": format_time(memory.updated_at)})
            for memory in promotion.confirmed:
                no = self._stores.memories.number(memory.id)
                self._stores.memories.add_evidence(
                    no, at=now, trust=memory.trust, note=self._note(working_set)
                )
                self._rows.set_confidence(no, risen(memory.confidence))
            for memory in promotion.done:
                no = self._stores.memories.number(memory.id)
                self._indexer.archive(no, at=now)
                change = next(each for each in changes if each.ids == (memory.id,))
                self._rows.note(no, CONSOLIDATED, note_of(change, now))
            self._rows.note_promoted(working_set.id, mark, rev=working_set.rev, at=now)
            if changes:
                detail: dict[str, JSONValue] = {
                    "scope": "session",
                    "promoted": len(promotion.drafts),
                    "confirmed": len(promotion.confirmed),
                }
                self._audit.record(AuditEvent(what="consolidation", at=now, detail=detail))
        return promotion, changes + stated

    def _is_promoted(self, working_set: WorkingSet) -> bool:
        """Whether there is nothing to do: it goes on, or was promoted as it stands."""
        mark = self._mark("task", working_set.id, working_set.task or "")
        is_as_it_was = self._rows.promoted().get((working_set.id, mark)) == working_set.rev
        return working_set.ended_at is None or is_as_it_was

    # Deciding ---------------------------------------------------------------------------------------------------

    def _decided(self, working_set: WorkingSet) -> Promotion:
        promotion = Promotion()
        for each in harvest(working_set):
            reason = objection(each) or self._refusal(working_set, each, promotion)
            if reason is not None:
                promotion.leave(each, reason)
                continue
            draft = self._draft(working_set, each)
            promotion.drafts.append(draft)
            assert draft.id is not None
            promotion.reasons[draft.id] = (
                f"{'what' if each.kind == TASK else 'said or left open while'} “{working_set.subject}” "
                + ("came to" if each.kind == TASK else "was worked on")
            )
        promotion.done = self._todos_done(working_set)
        return promotion

    def _stated(
        self, working_set: WorkingSet, promotion: Promotion, *, write: bool
    ) -> list[ConsolidationChange]:
        """Return which rules the user layer gets of what the person prefers; what it refuses stays in the session."""
        rules, texts = self._rules, preferences_of(working_set)
        if rules is None or not texts:
            return []
        changes = []
        try:
            known = {fold(text) for text in rules.texts()}
            for text in texts:
                if fold(text) in known:
                    continue
                if instructions_in(text):
                    promotion.alone.setdefault(INSTRUCTIONS, []).append(text[:60])
                    continue
                if write:
                    rules.add(text)
                changes.append(
                    ConsolidationChange(
                        action=ConsolidationAction.LEARNED,
                        layer="user",
                        ids=(text,),
                        reason=f"said while “{working_set.subject}” was worked on",
                        after=1.0,
                    )
                )
        except HexadError as error:
            promotion.alone.setdefault(f"the user layer refused it: {error}", []).append(working_set.id)
        return changes

    def _refusal(self, working_set: WorkingSet, each: Harvest, promotion: Promotion) -> str | None:
        """Return why something is not promoted: it is known, or it is what a recall had said before."""
        name = self._id(working_set, each)
        if self._stores.memories.identify(memory_id=name) is not None:
            there = self._stores.memories.get(name)
            if there.status is not Status.ACTIVE:
                return "promoted before, and taken out of recall since"
            if there.raw == each.text:
                return "promoted before"
            return "promoted before, and changed by hand since" if _was_edited(there) else None
        if each.kind == TASK:
            return None
        memory = self._known(each)
        if memory is not None:
            if memory.metadata.get(DRAFT) is True and memory.metadata.get(SESSION) != working_set.id:
                no = self._stores.memories.number(memory.id)
                fresh = not self._rows.has_evidence(no, self._note(working_set))
                if fresh and memory.id not in {memory.id for memory in promotion.confirmed}:
                    promotion.confirmed.append(memory)
            return "known already"
        return "what a recall had handed out" if self._is_echo(each.text) else None

    def _known(self, each: Harvest) -> Memory | None:
        """Return the active memory that says the same, in a space that hides nothing."""
        memories, marks = self._stores.memories, bands(signature) if (signature := minhash(each.text)) else ()
        for space in self._stores.spaces.list():
            if parse_stored(space.policies).hides:
                continue
            if each.key is not None and space.name == SPACE:
                look = look_of_fact(self._context.project, each.key)
                line = (
                    []
                    if look is None
                    else self._facts.line(look, space_no=space.no, statuses=(Status.ACTIVE,))
                )
                for fact in line:
                    if fact.kind == each.kind:
                        return memories.by_no([fact.no])[fact.no]
            same = memories.identify_by_hash(space.no, content_hash(each.text), fact=None)
            if same is not None and memories.by_no([same.no])[same.no].status is Status.ACTIVE:
                return memories.by_no([same.no])[same.no]
            for no, _, text in self._stores.duplicates.candidates(space.no, marks, limit=_CANDIDATES):
                if says_the_same(each.text, text):
                    return memories.by_no([no])[no]
        return None

    def _is_echo(self, text: str) -> bool:
        passages = passage_hashes(text)
        return bool(passages) and any(
            all(passage in handed for passage in passages)
            for space in self._stores.spaces.list()
            if (handed := self._stores.duplicates.handed_out(space.no, passages))
        )

    def _todos_done(self, working_set: WorkingSet) -> list[Memory]:
        """Return the drafts of todos whose steps were done here."""
        space = self._stores.spaces.find(SPACE)
        memories: list[Memory] = []
        for key in done_steps(working_set) if space is not None else ():
            look = look_of_fact(self._context.project, key)
            assert space is not None
            for fact in (
                [] if look is None else self._facts.line(look, space_no=space.no, statuses=(Status.ACTIVE,))
            ):
                memory = self._stores.memories.by_no([fact.no])[fact.no]
                if memory.kind != "todo" or memory.metadata.get(DRAFT) is not True or memory.pinned:
                    continue
                before = memory.metadata.get(CONSOLIDATED)
                if isinstance(before, dict) and before.get("action") == ConsolidationAction.DONE:
                    continue  # somebody brought it back
                memories.append(memory)
        return memories

    # Making -----------------------------------------------------------------------------------------------------

    def _draft(self, working_set: WorkingSet, each: Harvest) -> Draft:
        return Draft(
            text=each.text,
            space=SPACE,
            kind=each.kind,
            id=self._id(working_set, each),
            title=each.title,
            subject=None if each.key is None else self._context.project,
            attribute=each.key,
            value=_value(each) if each.kind == "decision" else each.value,
            trust=each.trust,
            importance=each.importance,
            confidence=CONFIDENCE,
            data_subjects=working_set.data_subjects or None,
            metadata={DRAFT: True, SESSION: working_set.id},
            project=self._context.project,
            revives=False,
        )

    def _changes(self, working_set: WorkingSet, promotion: Promotion) -> list[ConsolidationChange]:
        changes = [
            ConsolidationChange(
                action=ConsolidationAction.PROMOTED,
                layer="governance" if draft.kind == "decision" else "project",
                ids=(draft.id or "",),
                reason=promotion.reasons[draft.id or ""],
                after=CONFIDENCE,
            )
            for draft in promotion.drafts
        ]
        changes += [
            ConsolidationChange(
                action=ConsolidationAction.CONFIRMED,
                layer="governance" if memory.kind == "decision" else "project",
                ids=(memory.id,),
                reason=f"said again while “{working_set.subject}” was worked on",
                before=memory.confidence,
                after=risen(memory.confidence),
            )
            for memory in promotion.confirmed
        ]
        changes += [
            ConsolidationChange(
                action=ConsolidationAction.DONE,
                layer="project",
                ids=(memory.id,),
                reason=f"its step was done in “{working_set.subject}”",
            )
            for memory in promotion.done
        ]
        return changes

    def _id(self, working_set: WorkingSet, each: Harvest) -> str:
        # One summary for each task, whatever it says by now; of everything else one for each text.
        task = working_set.task or "" if each.kind == TASK else fold(each.key or each.text)
        value = int.from_bytes(self._digest(each.kind, working_set.id, task)[:17], "big") >> 6
        digits = []
        for _ in range(26):
            value, digit = divmod(value, 32)
            digits.append(_ALPHABET[digit])
        return f"mem_{''.join(digits)}"

    def _note(self, working_set: WorkingSet) -> str:
        return f"session {self._mark('session', working_set.id)}"

    def _mark(self, *parts: str) -> str:
        return self._digest(*parts).hex()[:32]

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(
            self._context.salt(), "\0".join(("consolidation", *parts)).encode("utf-8", "replace"), "sha256"
        )


def _was_edited(there: Memory) -> bool:
    """Whether somebody changed a memory since it was promoted last: then it is theirs."""
    note = there.metadata.get(PROMOTED)
    return isinstance(note, dict) and note.get("at") != format_time(there.updated_at)


def _value(each: Harvest) -> JSONValue:
    """Return a decision's parts: in whose words it is, and its reason where the words give one."""
    metadata: dict[str, JSONValue] = {"created_by": f"{each.trust.value}, in a session"}
    what, because, rationale = each.text.partition(" because ")
    if because:
        metadata.update(title=what.rstrip(" ,"), description=each.text, rationale=rationale)
    return metadata


def _as_written(
    changes: Sequence[ConsolidationChange], written: Sequence[Memory]
) -> list[ConsolidationChange]:
    """Return the changes without those that came to nothing: what the one way in left as it was."""
    unchanged = {
        memory.id for memory in written if memory.receipt and memory.receipt.outcome is Outcome.UNCHANGED
    }
    return [
        change
        for change in changes
        if change.action is not ConsolidationAction.PROMOTED or change.ids[0] not in unchanged
    ]
