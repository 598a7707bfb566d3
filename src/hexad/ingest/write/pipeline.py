"""The one way in: redact, judge, understand, and store everything of a call in one transaction.

drafts ─ redact ─ understand, by a model where one is asked ─┐ (no lock held)
                              ▼
          one transaction: judge ─ memory + chunks + full text + turn + fingerprint + audience + task
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from hexad.core.actor import Actor
from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.core.retry import TryAgain, retry
from hexad.core.tracing import Value, is_observed
from hexad.errors import Conflict
from hexad.ingest.write.enrich import is_plain, new_chunks
from hexad.ingest.write.extraction.extractor import Extractor
from hexad.ingest.write.extraction.turn_extraction import DEFAULT_KIND
from hexad.ingest.write.gate import Gate, GateVerdict, NewText
from hexad.ingest.write.guard import OVERWRITES, Guard, Objection, quarantined, settled, weaker
from hexad.ingest.write.merge import FactLine, carried, merged, new_memory, same, with_tags
from hexad.ingest.write.prepare import PreparedDraft, Preparer
from hexad.ingest.write.redaction import PolicyBook, Redactor
from hexad.ingest.write.updates import UpdateLinker
from hexad.ingest.write.validate import validate
from hexad.memory.decision import DECISION
from hexad.memory.draft import Draft
from hexad.memory.memory import BEGINNING_LIMIT, Memory, Outcome, Receipt, Status, least_trust
from hexad.memory.policy import Policies, audience, pins
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.sources import CALLER_KIND
from hexad.memory.tables.standing import Standing
from hexad.redaction.redact import RedactionRules
from hexad.search.indexer import IndexedMemory, Indexer
from hexad.text.graphemes import beginning
from hexad.text.key_names import filed_under
from hexad.text.normalize import slugs

_WRITTEN: Final = (Outcome.CREATED, Outcome.UPDATED)
_ATTEMPTS: Final = 3
_RULES_CHANGE: Final = "What is redacted in the space changes all the time; nothing was stored, try again."
"""How often drafts are prepared again because somebody changed what is redacted, while a model was thinking."""


class Pipeline:
    """Implements `MemoryWriter`; nothing else inserts a memory."""

    def __init__(
        self,
        stores: Stores,
        catalog: Indexer,
        redactor: Redactor,
        extractor: Extractor,
        *,
        ids: IdSource,
        clock: Clock,
        project: str,
        author: Actor,
    ) -> None:
        self._stores = stores
        self._catalog = catalog
        self._gate = Gate(stores)
        self._updates = UpdateLinker(stores)
        self._standing = Standing(stores.db)
        facts = self._facts = Facts(stores.db, roles=stores.roles)
        decisions = Decisions(stores.db, roles=stores.roles)
        self._guard = Guard(stores, facts)
        self._line = FactLine(stores=stores, catalog=catalog, facts=facts, decisions=decisions, author=author)
        self._ids = ids
        self._policies = PolicyBook(stores, redactor)
        self._preparer = Preparer(
            self._policies, redactor, self._gate, extractor, clock=clock, project=project
        )

    def write(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Store the drafts in one transaction; returns their memories in order, each with its receipt.

        Raises `InvalidMemory`, `InvalidSpace`, `LimitExceeded` or `Conflict`, and what a model's provider raises
        for a draft whose extraction is strict; then nothing was stored.
        """
        return self.retried(lambda: self._write(drafts))

    def retried(self, attempt: Callable[[], list[Memory]]) -> list[Memory]:
        """Return what an attempt stores, made anew where `require_current` found its drafts out of date."""
        with self._stores.span("upsert_memory") as told:
            memories = retry(attempt, times=_ATTEMPTS, failure=lambda: Conflict(_RULES_CHANGE))
            told["count"] = len(memories)
            if is_observed():
                told.update(_written(memories))
            return memories

    def _write(self, drafts: Sequence[Draft]) -> list[Memory]:
        self._stores.db.require_writable()  # before the key file is made for a text that will not be stored
        with self._policies.looked_up_once():
            prepared = self.prepare_all(drafts)
        for write in prepared:
            if is_plain(write.draft):
                self._updates.read_ahead(write.draft.text)
        with self._stores.db.transaction():
            return self._stored(prepared, self._current(prepared))

    def require_current(self, prepared: Sequence[PreparedDraft]) -> None:
        """Raise `TryAgain` where somebody changed what is redacted since these were prepared; in a transaction."""
        self._current(prepared)

    def _current(self, prepared: Sequence[PreparedDraft]) -> dict[str, tuple[Policies, RedactionRules]]:
        decided = self._decided(prepared)
        if any(write.rules is not decided[write.draft.space][1] for write in prepared):
            raise TryAgain
        return decided

    def prepare(self, draft: Draft, *, rules: RedactionRules | None = None) -> PreparedDraft:
        """Return a draft with all that can be worked out without a lock; `rules` None are those of its space.

        Raises `AccessDenied` for a space that is not open to the actor, before a model is asked.
        """
        (prepared,) = self.prepare_all([draft], rules=rules)
        return prepared

    def prepare_all(
        self, drafts: Sequence[Draft], *, rules: RedactionRules | None = None
    ) -> list[PreparedDraft]:
        """Return drafts in order, each as `prepare` does."""
        drafts = [validate(draft) for draft in drafts]
        for draft in drafts:
            self._stores.spaces.admit(draft.space)
        return self._preparer.prepare_all(drafts, rules=rules)

    def store(self, prepared: Sequence[PreparedDraft]) -> list[Memory]:
        """Store what was prepared in one transaction, or in the caller's; returns the memories in order."""
        with self._stores.db.transaction():
            return self._stored(prepared, self._decided(prepared))

    def _decided(self, prepared: Sequence[PreparedDraft]) -> dict[str, tuple[Policies, RedactionRules]]:
        return {space: self._policies.decided(space) for space in {write.draft.space for write in prepared}}

    def settle(self, memory: Memory, *, now: datetime) -> Memory:
        """Return a fact that is back in recall as it stands among those of its key, in the caller's transaction."""
        space_no = self._stores.spaces.get(memory.space).no
        return self._line.settled(memory, space_no=space_no, now=now)

    def settle_due(self, keys: Sequence[tuple[str, int]], *, now: datetime) -> None:
        """Let what has begun to hold by now take its place: `keys` are looks of facts with their spaces' numbers."""
        for look, space_no in keys:
            with self._stores.db.transaction():
                self._line.arrange(look, space_no=space_no, now=now)

    def rules_of(self, name: str) -> RedactionRules:
        """Return what is redacted in the space of that name."""
        return self._policies.rules(name)

    # Inside the transaction -------------------------------------------------------------------------------------

    def _stored(
        self, prepared: Sequence[PreparedDraft], decided: Mapping[str, tuple[Policies, RedactionRules]]
    ) -> list[Memory]:
        places = _OriginNumbers(self._stores)
        known = self._known_items(prepared, places) if len(prepared) > 1 else None
        memories: list[Memory] = []
        waiting: list[_NewItem] = []
        for write in prepared:
            policies = decided[write.draft.space][0]
            item = None if known is None else self._new_item(write, policies, places, known)
            if item is not None and item.is_plain:
                waiting.append(item)
                continue
            memories += self._insert_all(waiting)
            waiting.clear()
            memories.append(
                self._store(write, policies, places) if item is None else self._insert(item, policies)
            )
        return memories + self._insert_all(waiting)

    def _known_items(self, prepared: Sequence[PreparedDraft], places: _OriginNumbers) -> set[tuple[int, str]]:
        """Return which items of sources the store has, by their source's number and id; looked up once for all."""
        names: dict[int, list[str]] = {}
        for write in prepared:
            space_no = places.space(write.draft.space, at=write.now)
            source_no = places.source(write.draft, space_no)
            if source_no is not None and write.draft.source_id is not None:
                names.setdefault(source_no, []).append(write.draft.source_id)
        return {
            (source_no, name)
            for source_no, source_ids in names.items()
            for name in self._stores.memories.known_source_ids(source_no, source_ids)
        }

    def _new_item(
        self,
        write: PreparedDraft,
        policies: Policies,
        places: _OriginNumbers,
        known: set[tuple[int, str]],
    ) -> _NewItem | None:
        """Return a new item of a source, as it is to be stored; None for a draft that more has to be asked about.

        It is added to `known`, as items are that are there.
        """
        draft = write.draft
        if not _is_item(write) or draft.source_id is None:
            return None
        space_no = places.space(draft.space, at=write.now)
        source_no = places.source(draft, space_no)
        assert source_no is not None
        if (source_no, draft.source_id) in known:
            return None
        known.add((source_no, draft.source_id))
        memory = new_memory(write, self._ids.new("mem"))
        objection = self._guard.objection(write, memory, policies, space_no=space_no)
        if objection is not None:
            memory, write = quarantined(memory, objection), _waiting(write, objection)
        memory = self._pinned(write, memory, policies)
        return _NewItem(write, memory, audience(policies, memory), space_no, source_no)

    def _insert(self, item: _NewItem, policies: Policies) -> Memory:
        """Store one new item, and all that is made of it."""
        write, memory, _, space_no, source_no = item
        no = self._stores.memories.insert(_active(memory), space_no=space_no, source_no=source_no)
        self._stores.meta.note_arrival(no, written=memory.updated_at, now=write.now)
        return self._index(no, write, memory, Outcome.CREATED, policies, space_no=space_no)

    def _insert_all(self, items: Sequence[_NewItem]) -> list[Memory]:
        """Store new items that are active and everybody's, table by table."""
        if not items:
            return []
        stores = self._stores
        numbers = stores.memories.insert_all([(item.memory, item.space_no, item.source_no) for item in items])
        for no, item in zip(numbers, items, strict=True):
            stores.meta.note_arrival(no, written=item.memory.updated_at, now=item.write.now)
        chunks = [
            new_chunks(item.write.draft, item.write.meaning, memory_id=item.memory.id) for item in items
        ]
        self._catalog.add_all(
            [
                IndexedMemory(no, item.memory, its_chunks, item.write.signed)
                for no, item, its_chunks in zip(numbers, items, chunks, strict=True)
            ]
        )
        for no, item in zip(numbers, items, strict=True):
            self._standing.mark(no, item.memory, new=True)
        near = self._gate.near_duplicates_of_new(
            [
                NewText(no, item.memory.raw, item.write.mark, item.space_no, item.write.now)
                for no, item in zip(numbers, items, strict=True)
            ]
        )
        return [
            replace(
                item.memory,
                chunks=tuple([new.chunk for new in its_chunks]),
                receipt=Receipt(
                    outcome=Outcome.CREATED,
                    redacted=item.write.clean.removed,
                    semantic=item.write.semantic,
                    notes=item.write.notes,
                    near_duplicates=tuple(near.get(no, ())),
                ),
            )
            for no, item, its_chunks in zip(numbers, items, chunks, strict=True)
        ]

    def _store(self, write: PreparedDraft, policies: Policies, places: _OriginNumbers) -> Memory:
        declared, write = write.draft.trust, self._derived(write)
        space_no = places.space(write.draft.space, at=write.now)
        write = self._under_one_name(write, space_no)
        draft = write.draft
        source_no = places.source(draft, space_no)
        memory = self._placed(write, policies, space_no=space_no, source_no=source_no)
        if memory.receipt is not None and memory.receipt.outcome is not Outcome.ECHO:
            memory = self._line.settled(memory, space_no=space_no, now=write.now)
            self._line.decided(memory)
        if draft.derived_from and memory.receipt is not None and memory.receipt.outcome in _WRITTEN:
            no = self._stores.memories.number(memory.id)
            self._stores.derivations.put(no, draft.derived_from, declared=declared)
        outcome = None if memory.receipt is None else memory.receipt.outcome
        if (
            draft.id is not None or outcome is not Outcome.CREATED
        ):  # of an id that is new, nothing was made yet
            self._stores.derivations.follow(memory.id, vouched=outcome is Outcome.EVIDENCE)
        return memory

    def _derived(self, write: PreparedDraft) -> PreparedDraft:
        """Return a draft with the least trust among what it was made of; raises `NotFound` for what is not there."""
        sources = write.draft.derived_from
        if not sources:
            return write
        numbers = [self._stores.memories.resolve(source, space=None) for source in sources]
        memories = self._stores.memories.by_no(numbers)
        ids = tuple(memories[no].id for no in dict.fromkeys(numbers))
        least = least_trust([write.draft.trust, *(memory.trust for memory in memories.values())])
        new_write = replace(write, author=write.draft.trust)
        return new_write.with_draft(replace(write.draft, trust=least, derived_from=ids), write.meaning)

    def _under_one_name(self, write: PreparedDraft, space_no: int) -> PreparedDraft:
        """Return a draft under the name of its fact: the stack's `db` becomes `database` where that stands."""
        draft, kind = write.draft, write.meaning.kind
        if draft.structured or draft.id is not None or draft.source_id is not None:
            return write
        name = self._facts.standing_name(draft.subject, draft.attribute, kind=kind, space_no=space_no)
        if name == draft.attribute or name is None:
            return write
        note = filed_under(name, str(draft.attribute))
        return replace(write, notes=(*write.notes, note)).with_draft(
            replace(draft, attribute=name), write.meaning
        )

    def _placed(
        self, write: PreparedDraft, policies: Policies, *, space_no: int, source_no: int | None
    ) -> Memory:
        draft = write.draft
        verdict = self._gate.judge(
            draft,
            write.mark,
            content_hash=write.content_hash,
            place=(write.meaning.path, write.meaning.kind),
            space_no=space_no,
            source_no=source_no,
        )
        if verdict.outcome in {Outcome.EVIDENCE, Outcome.ECHO}:
            return self._repeat(write, verdict, policies, space_no=space_no)
        if verdict.known is not None:
            return self._change(write, verdict, policies, space_no=space_no, source_no=source_no)
        memory_id = self._ids.new("mem") if draft.id is None else draft.id
        memory = self._guard.superseded(new_memory(write, memory_id))
        objection = self._guard.objection(write, memory, policies, space_no=space_no)
        if objection is not None:
            held_memory = (
                self._waiting_memory(write, space_no=space_no)
                if source_no is None and draft.id is None
                else None
            )
            if held_memory is not None:
                return held_memory
            memory, write = quarantined(memory, objection), _waiting(write, objection)
        memory = self._pinned(write, memory, policies)
        item = _NewItem(write, memory, None, space_no, source_no)
        return self._insert(item, policies)

    def _pinned(self, write: PreparedDraft, memory: Memory, policies: Policies) -> Memory:
        """Return a new memory, pinned where a rule of its space says so."""
        if not policies.auto_pin or not self._may_pin(write) or memory.pinned:
            return memory
        judged_memory = self._judged(write, memory)
        if write.draft.kind is None and not policies.model_may_pin:
            # No text pins itself by what it begins with.
            judged_memory = replace(judged_memory, kind=DEFAULT_KIND)
        return replace(memory, pinned=True) if pins(policies, judged_memory) else memory

    def _repeat(
        self, write: PreparedDraft, verdict: GateVerdict, policies: Policies, *, space_no: int
    ) -> Memory:
        """Count a repeat as evidence, and keep what came with it; an echo changes nothing."""
        assert verdict.known is not None
        no, memories = verdict.known.no, self._stores.memories
        if verdict.outcome is Outcome.ECHO:
            return replace(
                memories.by_no([no])[no], receipt=Receipt(outcome=Outcome.ECHO, notes=self._echo_notes(no))
            )
        memories.add_evidence(no, at=write.now, trust=write.draft.trust)
        if (
            write.draft.gated
        ):  # another system's words for what is known: no reason to change what stands here
            return replace(memories.by_no([no])[no], receipt=self._receipt(write, Outcome.EVIDENCE))
        if write.draft.tags is not None:
            write = with_tags(
                write, tuple(sorted({*memories.by_no([no])[no].tags, *slugs(write.draft.tags)}))
            )
        memory = self._change(
            replace(write, fresh=False), verdict, policies, space_no=space_no, source_no=None
        )
        receipt = memory.receipt
        assert receipt is not None
        since = write.draft.valid_from or write.draft.created_at or write.now
        replaced = self._updates.revive(no, trust=write.draft.trust, since=since, now=write.now)
        if replaced:
            older = ", ".join(other.id for other in replaced)
            note = f"Said again, it is current again and takes the place of {older}, which had superseded it."
            receipt = replace(receipt, supersedes=tuple(replaced), notes=(*receipt.notes, note))
        return replace(memory, receipt=replace(receipt, outcome=Outcome.EVIDENCE))

    def _echo_notes(self, no: int) -> tuple[str, ...]:
        """Return what is to be said of words of ours that came back although they are out of date."""
        newer = self._updates.successor(no)
        if newer is None:
            return ()
        old, text = self._stores.memories.by_no([no])[no].id, beginning(newer.raw, BEGINNING_LIMIT)
        return (
            f'A recall handed this text out, and it stays superseded by {newer.id} ("{text}"). If it holds again, run '
            f"`hexad memory link {old} {newer.id} --kind supersedes`.",
        )

    def _change(
        self,
        write: PreparedDraft,
        verdict: GateVerdict,
        policies: Policies,
        *,
        space_no: int,
        source_no: int | None,
    ) -> Memory:
        assert verdict.known is not None
        no = verdict.known.no
        old = self._stores.memories.by_no([no])[no]
        if old.status is Status.ARCHIVED and not write.draft.revives:
            return replace(old, receipt=Receipt(outcome=Outcome.UNCHANGED))
        if weaker(write, old):
            return self._insert_waiting(write, old, policies, space_no=space_no)
        new = self._guard.superseded(merged(old, new_memory(write, old.id), write))
        judged = settled(old, new)
        objection = None
        if judged is None:
            objection = self._guard.objection(write, new, policies, space_no=space_no)
            judged = new if objection is None else quarantined(new, objection)
        new = judged
        if objection is not None:
            write = _waiting(write, objection)
        if self._may_pin(write) and not new.pinned:
            # A rule that matched before and was overruled by hand stays overruled.
            new = replace(new, pinned=pins(policies, self._judged(write, new)) and not pins(policies, old))
        if same(old, new, write):
            return self._unchanged(no, write, old, new)
        self._catalog.remove(no)
        self._stores.memories.replace(no, _active(new), space_no=space_no, source_no=source_no)
        return self._index(no, carried(write, old, new), new, Outcome.UPDATED, policies, space_no=space_no)

    def _insert_waiting(
        self, write: PreparedDraft, old: Memory, policies: Policies, *, space_no: int
    ) -> Memory:
        """Keep what is trusted less beside the memory that it would change: it waits, that one stays as it is."""
        if old.content_hash == write.content_hash:
            note = f"Memory {old.id!r} says so already, and is trusted more; nothing else of it was changed."
            return replace(
                old, receipt=self._receipt(replace(write, notes=(*write.notes, note)), Outcome.UNCHANGED)
            )
        held_memory = self._waiting_memory(write, space_no=space_no)
        if held_memory is not None:
            return held_memory
        memory = replace(
            new_memory(write, self._ids.new("mem")), source=None, source_id=None, supersedes=None
        )
        found_objection = self._guard.objection(write, memory, policies, space_no=space_no)
        objection = Objection(
            reasons=(OVERWRITES, *(found_objection.reasons if found_objection else ())), of=old.id
        )
        memory = quarantined(memory, objection)
        no = self._stores.memories.insert(_active(memory), space_no=space_no, source_no=None)
        return self._index(
            no, _waiting(write, objection), memory, Outcome.CREATED, policies, space_no=space_no
        )

    def _waiting_memory(self, write: PreparedDraft, *, space_no: int) -> Memory | None:
        """Return the memory of this text that waits already, or was rejected."""
        identity = self._stores.memories.identify_held(space_no, write.content_hash)
        if identity is None:
            return None
        receipt = self._receipt(write, Outcome.UNCHANGED)
        if (
            identity.hidden
        ):  # where the other one lies, and what is said of it besides, is not this writer's to know
            return replace(new_memory(write, identity.id), status=identity.status, receipt=receipt)
        return replace(self._stores.memories.by_no([identity.no])[identity.no], receipt=receipt)

    def _unchanged(self, no: int, write: PreparedDraft, old: Memory, new: Memory) -> Memory:
        if old.status is not new.status:
            self._stand(no, new.status, at=write.draft.updated_at or write.now)
            if new.status is Status.ACTIVE:
                write = replace(
                    write, notes=(*write.notes, f"The memory was {old.status}; it is active again.")
                )
            old = self._stores.memories.by_no([no])[no]
        return replace(old, receipt=self._receipt(write, Outcome.UNCHANGED))

    def _index(
        self,
        no: int,
        write: PreparedDraft,
        memory: Memory,
        outcome: Outcome,
        policies: Policies,
        *,
        space_no: int,
    ) -> Memory:
        chunks = new_chunks(write.draft, write.meaning, memory_id=memory.id)
        new = outcome is Outcome.CREATED
        replaced = self._updates.link(
            no,
            memory,
            space_no=space_no,
            changed=not new,
            now=write.now,
            sources=write.draft.derived_from,
        )
        self._catalog.add(no, memory, chunks, signed=write.signed)
        self._standing.mark(no, memory, new=new)
        found_near = self._gate.near_duplicates(
            no, memory.raw, write.mark, space_no=space_no, at=write.now, new=new
        )
        near = [each for each in found_near if each.id not in write.draft.derived_from]
        roles = audience(policies, memory)
        if roles is not None or not new:  # a new memory is everybody's
            self._stores.audiences.assign(no, roles)
        if memory.status is not Status.ACTIVE:
            self._stand(no, memory.status, at=memory.updated_at)
        notes = write.notes
        if replaced:
            other = replaced[0].id if len(replaced) == 1 else "ID"
            note = (
                "Recall ranks it before what it seems to supersede, and keeps both. "
                f"If both hold, run `hexad memory unlink {memory.id} {other}`."
            )
            notes = (*notes, note)
        receipt = Receipt(
            outcome=outcome,
            redacted=write.clean.removed,
            semantic=write.semantic,
            notes=notes,
            near_duplicates=tuple(near),
            supersedes=tuple(replaced),
        )
        return replace(memory, chunks=tuple(chunk.chunk for chunk in chunks), receipt=receipt)

    def _stand(self, no: int, status: Status, *, at: datetime) -> None:
        """Bring a memory to where the draft says it stands."""
        if status is Status.ACTIVE:
            self._catalog.restore(no, at=at)
            return
        self._catalog.archive(no, at=at)
        self._stores.memories.set_status(no, status, at=at)

    @staticmethod
    def _may_pin(write: PreparedDraft) -> bool:
        """Whether a rule of the space may pin: nobody has said whether the memory is to be pinned."""
        extract = write.draft.extract
        return write.draft.pinned is None and (extract is None or extract.auto_pin is None)

    @staticmethod
    def _judged(write: PreparedDraft, memory: Memory) -> Memory:
        """Return the memory as rules that pin see it: without what was made of the text's own words."""
        meaning = write.model_meaning
        if meaning is None:
            return memory
        return replace(memory, path=meaning.path, tags=meaning.tags, relevance=meaning.relevance)

    @staticmethod
    def _receipt(write: PreparedDraft, outcome: Outcome) -> Receipt:
        return Receipt(
            outcome=outcome, redacted=write.clean.removed, semantic=write.semantic, notes=write.notes
        )


class _OriginNumbers:
    """The numbers of the spaces and sources that the drafts of one transaction name, each looked up once."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._spaces: dict[str, int] = {}
        self._sources: dict[tuple[str, int], int] = {}

    def space(self, name: str, *, at: datetime) -> int:
        """Return the number of a space, which is made where it is not there."""
        if name not in self._spaces:
            self._spaces[name] = self._stores.spaces.ensure(name, at=at)
        return self._spaces[name]

    def source(self, draft: Draft, space_no: int) -> int | None:
        """Return the number of a draft's source, which is registered where it is new; None for a draft without one."""
        if draft.source is None and draft.source_id is None:
            return None
        uri, kind = (
            (f"caller:{draft.space}", CALLER_KIND) if draft.source is None else (draft.source, "ingest")
        )
        if (uri, space_no) not in self._sources:
            self._sources[uri, space_no] = self._stores.sources.ensure(uri, kind=kind, space_no=space_no)
        return self._sources[uri, space_no]


class _NewItem(NamedTuple):
    """A new memory about to be stored, with the draft that it is of, who may see it, and where it is from."""

    write: PreparedDraft
    memory: Memory
    roles: frozenset[str] | None
    space_no: int
    source_no: int | None

    @property
    def is_plain(self) -> bool:
        """Whether it stands at once, and is everybody's."""
        return self.memory.status is Status.ACTIVE and self.roles is None


def _is_item(write: PreparedDraft) -> bool:
    """Whether a draft is an item of a source and nothing else: a new one has to do with nothing that is there."""
    draft = write.draft
    return (
        draft.source is not None
        and draft.source_id is not None
        and (draft.id, draft.subject, draft.attribute, draft.supersedes) == (None, None, None, None)
        and not (draft.gated or draft.structured or draft.derived_from)
        and draft.status in (None, Status.ACTIVE)
        and write.meaning.kind != DECISION
    )


def _active(memory: Memory) -> Memory:
    """Return a memory as it is stored and indexed first, wherever it stands then."""
    return memory if memory.status is Status.ACTIVE else replace(memory, status=Status.ACTIVE)


def _waiting(write: PreparedDraft, objection: Objection) -> PreparedDraft:
    of = "" if objection.of is None else f"; {objection.of!r} is trusted more and stays as it is"
    note = (
        f"It waits for a review ({', '.join(objection.reasons)}{of}): `hexad memory quarantine list`, or "
        "`hx.quarantine`."
    )
    return replace(write, notes=(*write.notes, note))


def _written(memories: Sequence[Memory]) -> dict[str, Value]:
    """Return which memory was written, where it is a single one, and what was done, where that is the same for all."""
    told: dict[str, Value] = {"memory": memories[0].id} if len(memories) == 1 else {}
    outcomes = {memory.receipt.outcome.value for memory in memories if memory.receipt is not None}
    if len(outcomes) == 1:
        told["outcome"] = outcomes.pop()
    return told
