"""The one way in: redact, judge, understand, and store everything of a call in one transaction.

drafts ─ redact ─ understand ─┐ (no lock held)
                              ▼
          one transaction: judge ─ memory + chunks + full text + turn + fingerprint + task
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from hexad.clock import Clock
from hexad.errors import InvalidMemory, LimitExceeded
from hexad.ids import IdSource, content_hash
from hexad.index.catalog import Catalog
from hexad.ingest.gate import Fingerprint, Gate, Verdict, fingerprint
from hexad.ingest.redaction import CleanDraft, Redactor
from hexad.ingest.semantic import Meaning, importance_of, new_chunks, understand
from hexad.model.contract import Draft
from hexad.model.memory import (
    MEMORY_BYTES_LIMIT,
    JSONValue,
    Memory,
    Outcome,
    Receipt,
    Relevance,
    Status,
)
from hexad.observe import span
from hexad.storage.sources import CALLER_KIND
from hexad.storage.stores import Stores
from hexad.text.normalize import slug
from hexad.text.paths import validate_space
from hexad.text.redact import RedactionRules

METADATA_BYTES_LIMIT: Final = 64 << 10
ID_LIMIT: Final = 200
_NAME_LIMIT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A draft with all that can be worked out before the store is locked."""

    clean: CleanDraft
    meaning: Meaning
    mark: Fingerprint
    content_hash: str
    now: datetime

    @property
    def draft(self) -> Draft:
        return self.clean.draft


class Pipeline:
    """Implements `MemoryWriter`; nothing else inserts a memory."""

    def __init__(
        self,
        stores: Stores,
        catalog: Catalog,
        redactor: Redactor,
        *,
        ids: IdSource,
        clock: Clock,
        project: str,
    ) -> None:
        self._stores = stores
        self._catalog = catalog
        self._redactor = redactor
        self._gate = Gate(stores)
        self._ids = ids
        self._clock = clock
        self._project = project
        self._rules: dict[str, RedactionRules] = {}

    def write(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Store the drafts in one transaction; returns their memories in order, each with its receipt.

        Raises `InvalidMemory`, `InvalidSpace`, `LimitExceeded` or `Conflict`; then nothing was stored.
        """
        self._stores.db.require_writable()  # before the key file is made for a text that will not be stored
        with span("create_memory", count=len(drafts)):
            prepared = [self._prepare(draft) for draft in drafts]
            with self._stores.db.transaction():
                return [self._store(one) for one in prepared]

    def _prepare(self, draft: Draft) -> _Prepared:
        validate(draft)
        rules = self.rules_of(draft.space)
        self._redactor.refuse_secret_names(draft, rules)
        clean = self._redactor.clean(draft, rules)
        if not clean.draft.text.strip():
            raise InvalidMemory("The text is empty; give at least one character that is not blank.")
        return _Prepared(
            clean=clean,
            meaning=understand(clean.draft, project=self._project_of(clean.draft)),
            mark=fingerprint(clean.draft.text, from_source=draft.source_id is not None),
            content_hash=content_hash(clean.draft.text),
            now=draft.now or self._clock.now(),
        )

    def rules_of(self, name: str) -> RedactionRules:
        """Return what is redacted in the space of that name."""
        space = self._stores.spaces.find(name)
        policies: Mapping[str, JSONValue] = space.policies if space else {}
        key = json.dumps(policies.get("pii_redaction"), sort_keys=True) + json.dumps(
            policies.get("env_allow")
        )
        if key not in self._rules:
            self._rules[key] = self._redactor.rules(policies)
        return self._rules[key]

    def _project_of(self, draft: Draft) -> str:
        project = (draft.metadata or {}).get("project")
        return project if isinstance(project, str) and project else self._project

    # Inside the transaction -------------------------------------------------------------------------------------

    def _store(self, one: _Prepared) -> Memory:
        draft = one.draft
        space_no = self._stores.spaces.ensure(draft.space, at=one.now)
        source_no = self._source(draft, space_no)
        verdict = self._gate.judge(
            draft, one.mark, content_hash=one.content_hash, space_no=space_no, source_no=source_no
        )
        if verdict.outcome in {Outcome.EVIDENCE, Outcome.ECHO}:
            return self._repeat(one, verdict, space_no=space_no)
        if verdict.known is not None:
            return self._change(one, verdict, space_no=space_no, source_no=source_no)
        memory = self._memory(one, self._ids.new("mem") if draft.id is None else draft.id)
        no = self._stores.memories.insert(memory, space_no=space_no, source_no=source_no)
        return self._index(no, one, memory, Outcome.CREATED, space_no=space_no)

    def _source(self, draft: Draft, space_no: int) -> int | None:
        if draft.source is not None:
            return self._stores.sources.ensure(draft.source, kind="ingest", space_no=space_no)
        if draft.source_id is not None:
            return self._stores.sources.ensure(f"caller:{draft.space}", kind=CALLER_KIND, space_no=space_no)
        return None

    def _repeat(self, one: _Prepared, verdict: Verdict, *, space_no: int) -> Memory:
        """Count a repeat as evidence, and keep what came with it; an echo changes nothing."""
        assert verdict.known is not None
        no, memories = verdict.known.no, self._stores.memories
        if verdict.outcome is Outcome.ECHO:
            return replace(memories.by_no([no])[no], receipt=Receipt(outcome=Outcome.ECHO))
        memories.add_evidence(no, at=one.now, trust=one.draft.trust)
        if one.draft.tags is not None:
            tags = tuple(sorted({*memories.by_no([no])[no].tags, *one.meaning.tags}))
            one = replace(
                one,
                clean=replace(one.clean, draft=replace(one.draft, tags=tags)),
                meaning=replace(one.meaning, tags=tags),
            )
        memory = self._change(one, verdict, space_no=space_no, source_no=None)
        assert memory.receipt is not None
        return replace(memory, receipt=replace(memory.receipt, outcome=Outcome.EVIDENCE))

    def _change(self, one: _Prepared, verdict: Verdict, *, space_no: int, source_no: int | None) -> Memory:
        assert verdict.known is not None
        no = verdict.known.no
        old = self._stores.memories.by_no([no])[no]
        if old.status is Status.ARCHIVED and not one.draft.revives:
            return replace(old, receipt=Receipt(outcome=Outcome.UNCHANGED))
        new = _merge(old, self._memory(one, old.id), one.draft)
        if _same(old, new):
            if old.status is not Status.ACTIVE:
                self._catalog.restore(no, at=one.now)
                old = self._stores.memories.by_no([no])[no]
            return replace(old, receipt=Receipt(outcome=Outcome.UNCHANGED))
        self._catalog.remove(no)
        self._stores.memories.replace(no, new, space_no=space_no, source_no=source_no)
        return self._index(no, _carried(one, new), new, Outcome.UPDATED, space_no=space_no)

    def _index(self, no: int, one: _Prepared, memory: Memory, outcome: Outcome, *, space_no: int) -> Memory:
        chunks = new_chunks(one.draft, one.meaning, memory_id=memory.id)
        self._catalog.add(no, memory, chunks)
        near = self._gate.near_duplicates(no, memory.raw, one.mark, space_no=space_no, at=one.now)
        receipt = Receipt(
            outcome=outcome, near_duplicates=tuple(near), redacted=sum(flag.count for flag in one.clean.flags)
        )
        return replace(memory, chunks=tuple(new.chunk for new in chunks), receipt=receipt)

    def _memory(self, one: _Prepared, memory_id: str) -> Memory:
        draft, found = one.draft, one.meaning
        metadata = dict(draft.metadata or {})
        importance = draft.importance if draft.importance is not None else importance_of(metadata)
        flags: list[JSONValue] = [
            {"rule": flag.rule, "kind": flag.kind, "hash": flag.hash, "count": flag.count}
            for flag in one.clean.flags
        ]
        metadata.update(
            project=self._project_of(draft), space=draft.space, hash=one.content_hash, pii_flags=flags
        )
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
        return Memory(
            id=memory_id,
            space=draft.space,
            path=found.path,
            kind=found.kind,
            raw=draft.text,
            summary_micro=found.summaries.micro,
            summary_short=found.summaries.short,
            summary_long=found.summaries.long,
            tags=found.tags,
            metadata=metadata,
            relevance=draft.relevance or Relevance.MEDIUM,
            importance=0.5 if importance is None else importance,
            confidence=1.0 if draft.confidence is None else draft.confidence,
            pinned=bool(draft.pinned),
            created_at=one.now,
            updated_at=one.now,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            trust=draft.trust,
            citations=draft.citations or (),
            subject=draft.subject,
            attribute=draft.attribute,
            value=draft.value,
            data_subjects=draft.data_subjects or (),
            source=draft.source,
            source_id=draft.source_id,
            turn=draft.turn,
        )


def _merge(old: Memory, new: Memory, draft: Draft) -> Memory:
    """Return the changed memory: what the caller did not give stays as it was (decision 15)."""
    return replace(
        new,
        created_at=old.created_at,
        pinned=old.pinned if draft.pinned is None else draft.pinned,
        tags=old.tags if draft.tags is None else new.tags,
        kind=old.kind if draft.kind is None else new.kind,
        path=old.path if draft.path is None else new.path,
        relevance=old.relevance if draft.relevance is None else new.relevance,
        importance=new.importance if _gives_importance(draft) else old.importance,
        confidence=old.confidence if draft.confidence is None else new.confidence,
        citations=old.citations if draft.citations is None else new.citations,
        data_subjects=old.data_subjects if draft.data_subjects is None else new.data_subjects,
        valid_from=new.valid_from or old.valid_from,
        valid_to=new.valid_to or old.valid_to,
        subject=old.subject if draft.subject is None else new.subject,
        attribute=old.attribute if draft.attribute is None else new.attribute,
        value=old.value if draft.value is None else new.value,
        source=new.source or old.source,
        source_id=new.source_id or old.source_id,
        metadata=_merged_metadata(old, new),
        updated_at=max(new.updated_at, old.created_at),
        last_used_at=old.last_used_at,
        evidence=old.evidence,
        turn=new.turn or old.turn,
    )


def _gives_importance(draft: Draft) -> bool:
    return draft.importance is not None or importance_of(draft.metadata or {}) is not None


def _merged_metadata(old: Memory, new: Memory) -> dict[str, JSONValue]:
    """Join the metadata; a flag stays as long as something that was kept holds its placeholder."""
    merged = {**old.metadata, **new.metadata}
    kept = json.dumps(
        [{k: v for k, v in old.metadata.items() if k not in new.metadata}, old.subject, old.value]
    )
    flags = list(cast("Sequence[JSONValue]", new.metadata["pii_flags"]))
    for flag in cast("Sequence[Mapping[str, JSONValue]]", old.metadata.get("pii_flags", [])):
        if flag not in flags and f"[REDACTED:{flag['rule']}]" in kept:
            flags.append(flag)
    merged["pii_flags"] = flags
    return merged


def _carried(one: _Prepared, merged: Memory) -> _Prepared:
    """Return what is to be indexed: what the memory kept is found by its words too."""
    draft, title = one.draft, merged.metadata.get("title")
    draft = replace(
        draft,
        title=draft.title or (title if isinstance(title, str) else None),
        valid_from=merged.valid_from,
        subject=merged.subject,
        attribute=merged.attribute,
        value=merged.value,
        turn=merged.turn,
    )
    return replace(one, clean=replace(one.clean, draft=draft), meaning=replace(one.meaning, tags=merged.tags))


def _same(old: Memory, new: Memory) -> bool:
    """Whether a change changes anything but the time at which it was made."""
    return old == replace(new, updated_at=old.updated_at, chunks=old.chunks, status=old.status)


def validate(draft: Draft) -> None:
    """Raise `InvalidMemory`, `InvalidSpace` or `LimitExceeded` for a draft that cannot be stored."""
    validate_space(draft.space)
    size = len(draft.text.encode("utf-8", "replace"))
    if size > MEMORY_BYTES_LIMIT:
        raise LimitExceeded(
            f"The text has {size:,} bytes; one memory holds at most {MEMORY_BYTES_LIMIT:,}. "
            "`hexad ingest` stores a longer file in numbered parts."
        )
    for name, text, limit in (
        ("id", draft.id, ID_LIMIT),
        ("source_id", draft.source_id, 4 * ID_LIMIT),
        ("kind", draft.kind, 64),
        ("subject", draft.subject, _NAME_LIMIT),
        ("attribute", draft.attribute, _NAME_LIMIT),
    ):
        if text is not None and (not text.strip() or len(text) > limit or not text.isprintable()):
            raise InvalidMemory(
                f"The {name} {text[:80]!r} cannot be used; give 1 to {limit} printable characters."
            )
    if draft.kind is not None and not slug(draft.kind):
        raise InvalidMemory(f"The kind {draft.kind!r} has no letter or digit; give a word, such as 'note'.")
    for name, number in (("importance", draft.importance), ("confidence", draft.confidence)):
        if number is not None and not 0 <= number <= 1:
            raise InvalidMemory(f"The {name} {number!r} is not between 0 and 1.")
    if draft.valid_from and draft.valid_to and draft.valid_to < draft.valid_from:
        raise InvalidMemory(
            f"valid_to {draft.valid_to.isoformat()} is before valid_from {draft.valid_from.isoformat()}."
        )
    if draft.metadata is not None and not isinstance(draft.metadata, Mapping):
        raise InvalidMemory(
            f"The metadata {str(draft.metadata)[:80]} is not an object; give names with values."
        )
    for name, value in (("metadata", draft.metadata), ("value", draft.value)):
        _check_json(name, value)


def _check_json(name: str, value: object) -> None:
    key = _odd_key(value)
    if key is not None:
        raise InvalidMemory(f"The {name} has the key {key!r}; the keys of JSON are strings.")
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMemory(
            f"The {name} is not JSON: {error}. Give objects, lists, strings and numbers."
        ) from error
    if size > METADATA_BYTES_LIMIT:
        raise LimitExceeded(
            f"The {name} has {size:,} bytes of JSON; at most {METADATA_BYTES_LIMIT:,} are kept."
        )


def _odd_key(value: object) -> object:
    """Return a key that is no string, None when there is none; what is no JSON is somebody else's to refuse."""
    waiting, seen = [value], 0
    while waiting and seen <= METADATA_BYTES_LIMIT:
        one, seen = waiting.pop(), seen + 1
        if isinstance(one, Mapping):
            for key in one:
                if not isinstance(key, str):
                    return repr(key) if key is None else key
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
    return None
