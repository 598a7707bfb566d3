"""Who may write what: places that are protected, texts that speak to a model, and what is trusted more than they are.

Nothing is refused here: what may not stand is stored as quarantined, beside what it would have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump
from hexad.ingest.write.prepare import PreparedDraft
from hexad.memory.draft import Draft
from hexad.memory.memory import BESIDE, QUARANTINE, Memory, Status, Trust
from hexad.memory.policy import Policies
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.memory.write_protection import DEFAULT_KEYS, DEFAULT_PATHS, Protected
from hexad.text.paths import matches
from hexad.text.similarity.lookalikes import look_of, look_of_fact, look_of_path

INSTRUCTIONS: Final = "instruction_like"
PROTECTED_PATH: Final = "protected_path"
PROTECTED_KEY: Final = "protected_key"
UNTRUSTED_SOURCE: Final = "untrusted_source"
CONTRADICTS: Final = "contradicts"
OVERWRITES: Final = "overwrites"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why a memory waits for a review, and the id of the one that it would have changed or contradicted."""

    reasons: tuple[str, ...]
    of: str | None = None


class Guard:
    """Judges, in the caller's transaction, what a draft may do."""

    def __init__(self, stores: Stores, facts: Facts) -> None:
        self._stores, self._facts = stores, facts

    def objection(
        self, write: PreparedDraft, memory: Memory, policies: Policies, *, space_no: int
    ) -> Objection | None:
        """Return why a memory may not stand as `one` brings it; None when it may."""
        draft, protection = write.draft, policies.protection
        reasons: list[str] = []
        if (
            write.instructions
            and protection.quarantine is not None
            and draft.trust.rank <= protection.quarantine.rank
        ):
            reasons.append(INSTRUCTIONS)
        paths = _in_force(protection.paths, DEFAULT_PATHS, draft)
        if any(_guards_path(rule, memory.path) for rule in paths if draft.trust.rank < rule.trust.rank):
            reasons.append(PROTECTED_PATH)
        key = look_of_fact(memory.subject, memory.attribute)
        keys = _in_force(protection.keys, DEFAULT_KEYS, draft)
        if key and any(_guards_key(rule, key) for rule in keys if draft.trust.rank < rule.trust.rank):
            reasons.append(PROTECTED_KEY)
        if protection.untrusted_sources and _is_from(draft, protection.untrusted_sources):
            reasons.append(UNTRUSTED_SOURCE)
        of = self._contradicted(memory, space_no=space_no)
        if of is not None:
            reasons.append(CONTRADICTS)
        return Objection(reasons=tuple(reasons), of=of) if reasons else None

    def _contradicted(self, memory: Memory, *, space_no: int) -> str | None:
        """Return the id of a fact that says something else and is trusted more."""
        key = look_of_fact(memory.subject, memory.attribute)
        if key is None or self._facts.holds_many(memory.attribute):
            return None
        value = None if memory.value is None else dump(memory.value)
        facts = self._stores.memories.facts_about(space_no, key)
        for other_id, other_trust, other_value, content_hash in facts:
            differs = other_value != value or (value is None and content_hash != memory.content_hash)
            if other_id != memory.id and differs and Trust(other_trust).rank > memory.trust.rank:
                return other_id
        return None

    def superseded(self, memory: Memory) -> Memory:
        """Return the memory without a claim to supersede one that is trusted more: it stands beside that one."""
        if memory.supersedes is None:
            return memory
        trust = self._stores.memories.trust_of(memory.supersedes)
        if trust is None or trust.rank <= memory.trust.rank:
            return memory
        return replace(memory, supersedes=None, metadata={**memory.metadata, BESIDE: memory.supersedes})


def weaker(write: PreparedDraft, old: Memory) -> bool:
    """Whether who writes a draft is trusted less than the memory that it would change.

    What an ingested source says of its own item is no other voice.
    """
    draft, author = write.draft, write.author or write.draft.trust
    own = draft.source is not None and draft.source == old.source and not draft.structured
    return author.rank < old.trust.rank and old.status is not Status.QUARANTINED and not own


def quarantined(memory: Memory, objection: Objection) -> Memory:
    """Return the memory as it waits for a review."""
    note: dict[str, JSONValue] = {"reasons": list(objection.reasons)}
    if objection.of is not None:
        note["of"] = objection.of
    return replace(memory, status=Status.QUARANTINED, metadata={**memory.metadata, QUARANTINE: note})


def settled(old: Memory, new: Memory) -> Memory | None:
    """Return a memory whose text was judged before, as it was judged; None where it was not, or says something else."""
    note = old.metadata.get(QUARANTINE)
    if not isinstance(note, Mapping) or old.content_hash != new.content_hash:
        return None
    verdict = note.get("verdict")
    # What went while it waited, and comes back, waits again.
    came_back = verdict is None and old.status is Status.ARCHIVED
    status = new.status if verdict == "released" else Status.QUARANTINED if came_back else old.status
    return replace(new, status=status, metadata={**new.metadata, QUARANTINE: note})


def _in_force(
    rules: Sequence[Protected] | None, default: Sequence[Protected], draft: Draft
) -> Sequence[Protected]:
    if rules is not None:
        return rules
    by_place = draft.source is not None and not draft.structured and not draft.gated
    return () if by_place else default


def _guards_path(rule: Protected, path: str) -> bool:
    """Whether a rule is about what a path looks like: who reads it cannot tell the letters of one from the other's."""
    look = look_of_path(path)
    return any(matches(look, look_of_path(pattern) or pattern) for pattern in rule.patterns)


def _guards_key(rule: Protected, key: str) -> bool:
    return any(fnmatchcase(key, look_of(pattern)) for pattern in rule.patterns)


def _is_from(draft: Draft, patterns: Sequence[str]) -> bool:
    names = [name for name in (draft.source, draft.source_id) if name]
    return any(
        fnmatchcase(name, pattern) or name == pattern or (pattern.endswith("/") and name.startswith(pattern))
        for name in names
        for pattern in patterns
    )
