"""From drafts to records: the memory that a draft describes, and what becomes of the one that was there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from hexad.core.actor import Actor
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidMemory
from hexad.ingest.write.enrich import Meaning, importance_of
from hexad.ingest.write.prepare import PreparedDraft
from hexad.memory.decision import DECISION, said_of
from hexad.memory.draft import Draft
from hexad.memory.fact import FactRow, displaced, family_of, predecessor, predecessors, successor
from hexad.memory.memory import (
    INSTRUCTION_LIKE,
    OURS,
    QUARANTINE,
    Memory,
    Outcome,
    Relevance,
    Status,
    Trust,
    least_trust,
)
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.redaction.redact import PiiFlag
from hexad.search.indexer import Indexer
from hexad.text.normalize import slug
from hexad.text.sections import Section
from hexad.text.similarity.lookalikes import look_of_fact


def new_memory(write: PreparedDraft, memory_id: str) -> Memory:
    """Return the memory that a draft describes, as if there were none yet."""
    draft, meaning = write.draft, write.meaning
    importance = draft.importance if draft.importance is not None else importance_of(draft.metadata or {})
    if importance is None:  # a file that says nothing of it means the middle
        importance = Relevance.MEDIUM.importance if draft.imported else meaning.relevance.importance
    created, updated = _times(write)
    return Memory(
        id=memory_id,
        space=draft.space,
        path=meaning.path,
        kind=meaning.kind,
        raw=draft.text,
        summary_micro=meaning.summaries.micro,
        summary_short=meaning.summaries.short,
        summary_long=meaning.summaries.long,
        tags=meaning.tags,
        metadata=_metadata(write, write.project or write.home),
        relevance=meaning.relevance,
        importance=importance,
        confidence=1.0 if draft.confidence is None else draft.confidence,
        pinned=bool(write.pinned if draft.pinned is None else draft.pinned),
        created_at=created,
        updated_at=updated,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        supersedes=draft.supersedes,
        trust=draft.trust,
        status=draft.status or Status.ACTIVE,
        citations=draft.citations or (),
        subject=draft.subject,
        attribute=draft.attribute,
        value=draft.value,
        data_subjects=draft.data_subjects or (),
        source=draft.source,
        source_id=draft.source_id,
        turn=draft.turn,
    )


def _times(write: PreparedDraft) -> tuple[datetime, datetime]:
    """Return when a new memory was made and changed; what the caller gave counts, also where it is still to come."""
    draft = write.draft
    if draft.created_at is None:
        updated = draft.updated_at or write.now
        return min(write.now, updated), updated
    return draft.created_at, draft.updated_at or max(write.now, draft.created_at)


def _metadata(write: PreparedDraft, project: str) -> dict[str, JSONValue]:
    draft = write.draft
    metadata = {name: value for name, value in (draft.metadata or {}).items() if name not in OURS}
    note = (draft.metadata or {}).get(QUARANTINE)
    if draft.imported and isinstance(note, Mapping) and note.get("verdict") != "released":
        metadata[QUARANTINE] = note  # a file may say that something waits, not that it was let in
    if write.instructions:
        metadata[INSTRUCTION_LIKE] = list(write.instructions)
    flags = [_written(flag) for flag in write.clean.flags]
    metadata.update(project=project, space=draft.space, hash=write.content_hash, pii_flags=flags)
    if draft.source_id is not None:
        metadata.setdefault("source", draft.source_id)
    if draft.title:
        metadata.setdefault("title", draft.title)
    if draft.turn is not None:
        metadata.update(
            conversation=draft.turn.conversation,
            conversation_session=draft.turn.session,
            speaker=draft.turn.speaker,
        )
    return metadata


def _written(flag: PiiFlag) -> JSONValue:
    return {"rule": flag.rule, "kind": flag.kind, "hash": flag.hash, "count": flag.count}


def with_flags(metadata: Mapping[str, JSONValue], found_flags: Sequence[PiiFlag]) -> dict[str, JSONValue]:
    """Return a memory's metadata with flags of what was taken out besides; one that is there stays as it is."""
    flags = list(cast("Sequence[JSONValue]", metadata.get("pii_flags", [])))
    known = {(flag["rule"], flag["hash"]) for flag in cast("Sequence[Mapping[str, JSONValue]]", flags)}
    flags += [_written(flag) for flag in found_flags if (flag.rule, flag.hash) not in known]
    return {**metadata, "pii_flags": flags}


def merged(old: Memory, new: Memory, write: PreparedDraft) -> Memory:
    """Return the changed memory: what the caller did not give stays as it was (decision 15).

    Raises `InvalidMemory` for an `updated_at` before the memory was made.
    """
    draft = write.draft
    rewritten = old.content_hash != new.content_hash or write.fresh
    created = draft.created_at or old.created_at
    if draft.updated_at is not None and draft.updated_at < created:
        raise InvalidMemory(
            f"updated_at {draft.updated_at.isoformat()} is before created_at {created.isoformat()}, when memory "
            f"{old.id!r} was made."
        )
    return replace(
        new,
        created_at=created,
        pinned=old.pinned if draft.pinned is None else draft.pinned,
        tags=old.tags if draft.tags is None and not write.fresh else new.tags,
        kind=old.kind if draft.kind is None else new.kind,
        path=old.path if draft.path is None else new.path,
        summary_micro=new.summary_micro if rewritten or draft.summary_micro else old.summary_micro,
        summary_short=new.summary_short if rewritten or draft.summary_short else old.summary_short,
        summary_long=new.summary_long if rewritten or draft.summary_long else old.summary_long,
        relevance=old.relevance if draft.relevance is None and not write.fresh else new.relevance,
        importance=_merged_importance(old, new, draft),
        confidence=old.confidence if draft.confidence is None else new.confidence,
        citations=old.citations if draft.citations is None else new.citations,
        data_subjects=old.data_subjects if draft.data_subjects is None else new.data_subjects,
        valid_from=new.valid_from or old.valid_from,
        valid_to=new.valid_to or old.valid_to,
        supersedes=new.supersedes or old.supersedes,
        subject=old.subject if draft.subject is None else new.subject,
        attribute=old.attribute if draft.attribute is None else new.attribute,
        value=old.value if draft.value is None else new.value,
        source=new.source or old.source,
        source_id=new.source_id or old.source_id,
        trust=_merged_trust(old, new, write),
        metadata=_merged_metadata(old, new, write),
        updated_at=draft.updated_at or max(write.now, created),
        last_used_at=old.last_used_at,
        evidence=old.evidence,
        turn=new.turn or old.turn,
    )


def _merged_trust(old: Memory, new: Memory, write: PreparedDraft) -> Trust:
    """Return who vouches for the changed memory: its new author; for the same words the one before, or the user.

    Nobody else raises it: an agent that repeats what it read vouches for nothing, nor does what a file says.
    """
    draft = write.draft
    if draft.imported:
        return least_trust([old.trust, new.trust])
    own = draft.source is not None and not draft.structured
    if old.content_hash != new.content_hash or own or draft.derived_from or new.trust is Trust.USER:
        return new.trust
    return old.trust


def _merged_importance(old: Memory, new: Memory, draft: Draft) -> float:
    """Return what is given, else what it was; one that followed the relevance follows it on."""
    if draft.importance is not None or importance_of(draft.metadata or {}) is not None:
        return new.importance
    follows = draft.relevance is not None and old.importance == old.relevance.importance
    return new.relevance.importance if follows else old.importance


def _merged_metadata(old: Memory, new: Memory, write: PreparedDraft) -> dict[str, JSONValue]:
    """Join the metadata; a flag stays as long as something that was kept holds its placeholder.

    The metadata of a structured draft are whole: a name that they leave out is gone.
    """
    replaces = write.draft.structured and write.draft.metadata is not None
    before = {name: value for name, value in old.metadata.items() if name not in OURS}
    merged = dict(new.metadata) if replaces else {**before, **new.metadata}
    if write.project is None and "project" in old.metadata:
        merged["project"] = old.metadata["project"]
    if replaces:
        return merged
    draft = write.draft
    old_values = json.dumps(
        [
            {k: v for k, v in old.metadata.items() if k not in new.metadata},
            old.subject,
            old.value,
            old.path if draft.path is None else None,
        ]
    )
    kept_tags = old.tags if draft.tags is None and not write.fresh else ()
    if old.content_hash == new.content_hash and write.clean.removed == 0:
        old_values += new.raw  # the text as it is stored, handed back
    flags = list(cast("Sequence[JSONValue]", new.metadata["pii_flags"]))
    for flag in cast("Sequence[Mapping[str, JSONValue]]", old.metadata.get("pii_flags", [])):
        placeholder = f"[REDACTED:{flag['rule']}]"
        if flag not in flags and (placeholder in old_values or slug(placeholder) in kept_tags):
            flags.append(flag)
    merged["pii_flags"] = flags
    return merged


def same(old: Memory, new: Memory, write: PreparedDraft) -> bool:
    """Whether a change changes anything but the time at which it was made."""
    if write.draft.updated_at is not None and write.draft.updated_at != old.updated_at:
        return False
    if write.spans is not None and not _same_places(old, write, write.spans):
        return False
    return old == replace(new, updated_at=old.updated_at, chunks=old.chunks, status=old.status)


def _same_places(old: Memory, write: PreparedDraft, spans: Sequence[Section]) -> bool:
    # A text that repeats itself may hold a chunk twice: what was cut so before stays where it is.
    cut_before = write.draft.cuts is None and old.content_hash == write.content_hash
    if cut_before and write.draft.spans == tuple(old.chunk_text(chunk) for chunk in old.chunks):
        return True
    return [(span.start, span.end) for span in spans] == [(chunk.start, chunk.end) for chunk in old.chunks]


def carried(write: PreparedDraft, old: Memory, new: Memory) -> PreparedDraft:
    """Return what is to be indexed: what the memory kept is found by its words too, and cut as it was."""
    draft, title = write.draft, new.metadata.get("title")
    carried = replace(
        draft,
        title=draft.title or (title if isinstance(title, str) else None),
        valid_from=new.valid_from,
        subject=new.subject,
        attribute=new.attribute,
        value=new.value,
        turn=new.turn,
    )
    meaning = replace(write.meaning, tags=new.tags)
    if old.content_hash == new.content_hash and _keeps_chunks(write, old):
        meaning = replace(meaning, spans=_sections(old))
    return write.with_draft(carried, meaning)


def _keeps_chunks(write: PreparedDraft, old: Memory) -> bool:
    """Whether the chunks stay as they are: the text does, and nobody says how to cut it anew."""
    if write.spans is not None:
        return _same_places(old, write, write.spans)
    draft = write.draft
    if draft.source is not None and not draft.structured:
        return False  # its reader knows where the text stands now
    return bool(old.chunks) and not draft.sections and draft.title is None and draft.turn is None


def _sections(old: Memory) -> tuple[Section, ...]:
    return tuple(
        Section(
            start=chunk.start,
            end=chunk.end,
            first_line=chunk.first_line,
            last_line=chunk.last_line,
            heading=chunk.heading,
        )
        for chunk in old.chunks
    )


def with_tags(write: PreparedDraft, tags: tuple[str, ...]) -> PreparedDraft:
    """Return the same with these tags."""
    meaning: Meaning = replace(write.meaning, tags=tags)
    return write.with_draft(replace(write.draft, tags=tags), meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    """Keeps the lines of facts in order, and records what memories decide; in the caller's transaction."""

    stores: Stores
    catalog: Indexer
    facts: Facts
    decisions: Decisions
    author: Actor  # who opened the store

    def settled(self, memory: Memory, *, space_no: int, now: datetime) -> Memory:
        """Return a memory that was just written as it stands among the facts of its key."""
        look = look_of_fact(memory.subject, memory.attribute)
        if look is None or memory.status is not Status.ACTIVE:
            return memory
        if self.facts.holds_many(memory.attribute):
            return memory
        family = family_of(memory.kind)
        line = [row for row in self.facts.line(look, space_no=space_no) if family_of(row.kind) == family]
        if len(line) < 2:
            return memory
        return self._with_notes(memory, line, self._arranged(line, now=now), now=now)

    def arrange(self, look: str, *, space_no: int, now: datetime) -> None:
        """Bring the facts of a key to where they stand by now: what was to come may have come."""
        lines: dict[str, list[FactRow]] = {}
        for row in self.facts.line(look, space_no=space_no):
            lines.setdefault(family_of(row.kind), []).append(row)
        for line in lines.values():
            if not self.facts.holds_many(line[0].attribute):
                self._arranged(line, now=now)

    def _arranged(self, line: Sequence[FactRow], *, now: datetime) -> list[FactRow]:
        """Supersede what has been displaced, and return what stands."""
        fallen = displaced(line, now)
        for row in fallen:
            self.supersede(row.no, now=now)
        fallen_numbers, ours = {row.no for row in fallen}, {row.id for row in line}
        before = predecessors(line)
        for row in line:
            older = before.get(row.no)
            stands = (
                older is None or row.supersedes == older.id
            )  # of most: asking for each grew with the line
            if older is not None and not stands and (row.supersedes is None or row.supersedes in ours):
                self.facts.set_supersedes(row.no, older.id)
        return [row for row in line if row.status is Status.ACTIVE and row.no not in fallen_numbers]

    def _with_notes(
        self, memory: Memory, line: Sequence[FactRow], standing: Sequence[FactRow], *, now: datetime
    ) -> Memory:
        own = next(row for row in line if row.id == memory.id)
        found_memory = replace(
            self.stores.memories.by_no([own.no])[own.no], receipt=memory.receipt, chunks=memory.chunks
        )
        later = successor(own, line)
        if later is not None and found_memory.status is Status.SUPERSEDED:
            return _noted(found_memory, f"{later.id!r} holds since a later time: this is what held before.")
        others = [row for row in standing if row.contradicts(own)]
        if others:
            return _noted(
                found_memory,
                f"It contradicts {', '.join(row.id for row in others)}, trusted more or less; all are kept.",
            )
        older = predecessor(own, line)
        if older is None:
            return found_memory
        when = "" if own.valid_from <= now else f" from {own.valid_from:%Y-%m-%d} on"
        return _noted(found_memory, f"It takes the place of {older.id!r}{when}.")

    def supersede(self, no: int, *, now: datetime) -> None:
        """Take a memory out of recall because another one took its place; what rests on it is to be reviewed."""
        if self.catalog.archive(no, at=now):
            self.stores.memories.set_status(no, Status.SUPERSEDED, at=now)

    def decided(self, memory: Memory) -> None:
        """Record what a memory of kind `decision` says, where it says something new."""
        receipt = memory.receipt
        if memory.kind != DECISION or receipt is None or receipt.outcome is Outcome.UNCHANGED:
            return
        decision = said_of(memory)
        self.decisions.add(
            self.stores.memories.number(memory.id),
            decision,
            project=str(memory.metadata.get("project") or ""),
            by=decision.created_by or self._author_of(memory),
            at=memory.created_at if receipt.outcome is Outcome.CREATED else memory.updated_at,
            supersedes=memory.supersedes,
        )

    def _author_of(self, memory: Memory) -> str:
        """Return who decided, where nobody is named: what the user does not vouch for is not the owner's decision."""
        actor, trust = self.author, memory.trust
        if trust is Trust.USER or (trust is Trust.AGENT and actor.agent is not None):
            return actor.describe()
        return trust.value if actor == Actor() else f"{trust.value} for {actor.describe()}"


def _noted(memory: Memory, note: str) -> Memory:
    receipt = memory.receipt
    if receipt is None:  # nothing was written: it was brought back
        return memory
    return replace(memory, receipt=replace(receipt, notes=(*receipt.notes, note)))
