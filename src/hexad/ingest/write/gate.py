"""The gate: whether a text is new, a repeat, an echo, or a changed item of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from hexad.core.arguments import quoted
from hexad.core.ids import is_reserved
from hexad.core.lazy import ByteCache
from hexad.database.codec import dump
from hexad.errors import Conflict, InvalidMemory
from hexad.memory.draft import Draft
from hexad.memory.memory import BEGINNING_LIMIT, NearMemory, Outcome
from hexad.memory.source import KEPT_BY
from hexad.memory.store import Stores
from hexad.memory.tables.duplicates import NEAR_DUPLICATE
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.resolver import Identity
from hexad.text.graphemes import beginning
from hexad.text.similarity.fingerprints import passage_hashes
from hexad.text.similarity.lookalikes import look_of_fact
from hexad.text.similarity.nearness import ComparedText, near_marks_of, nearness

_CANDIDATES: Final = 32
_REMEMBERED_CHARS: Final = 4_000
_COMPARED_BYTES: Final = 8 << 20
"""Longer texts are taken apart anew, so that what is remembered of some stays a few megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What the gate compares texts by."""

    bands: tuple[int, ...]
    passages: tuple[int, ...]


def fingerprints(texts: Sequence[str], *, from_source: Sequence[bool]) -> list[Fingerprint]:
    """Return the fingerprints of texts; an item of a source is never an echo."""
    marks = near_marks_of(texts)
    return [
        Fingerprint(bands=bands, passages=() if is_item else passage_hashes(text))
        for text, bands, is_item in zip(texts, marks, from_source, strict=True)
    ]


class NewText(NamedTuple):
    """The text of a memory that was just stored, with what the gate compares it by."""

    no: int
    text: str
    mark: Fingerprint
    space_no: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What is to be done with a draft; `known` is the memory that it repeats or changes."""

    outcome: Outcome
    known: Identity | None = None


def says_more(draft: Draft) -> bool:
    """Whether a draft carries more than its text."""
    values = (
        draft.kind, draft.path, draft.tags, draft.pinned, draft.relevance, draft.importance, draft.confidence,
        draft.subject, draft.attribute, draft.value, draft.valid_from, draft.valid_to, draft.citations,
        draft.data_subjects,
    )  # fmt: skip
    return any(value is not None for value in values)


class Gate:
    """Decides in the caller's transaction, so that two writers of one text cannot both be first."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        # Of one store, and gone with it: what a project says is kept by nothing that another one uses too.
        cache = ByteCache[str, ComparedText](_COMPARED_BYTES)
        stores.db.caches.add("compared texts", cache)
        self._compared = cache.remembering(ComparedText.of)

    def judge(
        self,
        draft: Draft,
        mark: Fingerprint,
        *,
        content_hash: str,
        place: tuple[str, str],
        space_no: int,
        source_no: int | None,
    ) -> GateVerdict:
        """Return what `draft`, which belongs to `place` (path and kind), is to the store.

        Raises `Conflict` for an id of another space, and for one that the actor may not see.
        """
        memories = self._stores.memories
        named, identity = self._named(draft, source_no)
        if draft.id is not None:
            return GateVerdict(outcome=Outcome.UPDATED if identity else Outcome.CREATED, known=identity)
        if source_no is not None and draft.source_id is not None and (named or not draft.gated):
            return GateVerdict(outcome=Outcome.UPDATED if named else Outcome.CREATED, known=named)
        if draft.structured:
            path, kind = place
            identity = memories.identify_by_place(space_no, content_hash, path=path, kind=kind)
            return GateVerdict(outcome=Outcome.UPDATED if identity else Outcome.CREATED, known=identity)
        fact = None
        if draft.subject is not None or draft.attribute is not None:
            fact = (draft.subject, draft.attribute, None if draft.value is None else dump(draft.value))
        kept_by = KEPT_BY if draft.gated else ()
        repeated = memories.identify_by_hash(space_no, content_hash, fact=fact, kept_by=kept_by)
        if fact is not None and draft.valid_from is not None:
            repeated = self._at_that_time(draft, repeated, content_hash=content_hash, space_no=space_no)
        if draft.extract is not None and draft.extract.refresh:
            return GateVerdict(outcome=Outcome.UPDATED if repeated else Outcome.CREATED, known=repeated)
        # Words of ours that come back with something of the caller's own (a fact, a kind, a pin) are not an echo.
        # What another system kept says where it was kept and little else: only a fact is more than its words.
        if not (draft.subject is not None if draft.gated else says_more(draft)):
            echo = self._echo(mark, space_no)
            if echo is not None:
                return GateVerdict(outcome=Outcome.ECHO, known=echo)
        if repeated is not None:
            return GateVerdict(outcome=Outcome.EVIDENCE, known=repeated)
        return GateVerdict(outcome=Outcome.CREATED)

    def _at_that_time(
        self, draft: Draft, repeated: Identity | None, *, content_hash: str, space_no: int
    ) -> Identity | None:
        """Return the fact that a draft repeats, given when it holds: the same since another time is a fact of its own.

        Were it not, what stands between the two would decide by the order in which all of them arrive.
        """
        look = look_of_fact(draft.subject, draft.attribute)
        assert look is not None
        value = None if draft.value is None else dump(draft.value)
        if repeated is not None and self._since(repeated) == draft.valid_from:
            return repeated
        for row in Facts(self._stores.db, roles=self._stores.roles).line(look, space_no=space_no):
            if (row.value, row.content_hash, row.valid_from) == (value, content_hash, draft.valid_from):
                return self._stores.memories.identify_no(row.no)
        return None

    def _since(self, identity: Identity) -> datetime:
        memory = self._stores.memories.by_no([identity.no])[identity.no]
        return memory.valid_from or memory.created_at

    def holds(self, draft: Draft, *, content_hash: str) -> bool:
        """Return whether the store has this text as the memory that `draft` would be; asked without a lock.

        Raises what `judge` and the space would refuse, before anybody pays for understanding the text: `Conflict`
        for an id, `InvalidSpace` for a name that differs from another space's only in case.
        """
        memories, space = self._stores.memories, self._stores.spaces.find(draft.space)
        if space is None:
            self._stores.spaces.refuse_twin(draft.space)
        source_no = None
        if draft.source_id is not None and space is not None:
            uri = draft.source or f"caller:{draft.space}"
            source_no = self._stores.sources.find(uri, space=draft.space)
        named, identity = self._named(draft, source_no)
        if draft.id is None:
            identity = named
        if space is not None and draft.id is None and draft.source_id is None:
            identity = memories.identify_by_hash(space.no, content_hash, fact=None)
        return identity is not None and not identity.hidden and identity.content_hash == content_hash

    def _named(self, draft: Draft, source_no: int | None) -> tuple[Identity | None, Identity | None]:
        """Return the memory that a draft's source id names, and the one that its id names.

        Raises `Conflict` when one of them is another space's, may not be seen, or when they are two, `InvalidMemory`
        for a new id that stands for something else: a memory of that id would be shown in its place.
        """
        memories, named, known = self._stores.memories, None, None
        if source_no is not None and draft.source_id is not None:
            named = memories.identify_by_source(source_no, draft.source_id)
            if named is not None:
                self._free(named, draft.source_id)
        if draft.id is not None:
            known = memories.identify(memory_id=draft.id)
            if known is not None:
                self._free(known, draft.id)
                self._same_space(known, draft)
            elif is_reserved(draft.id) and not draft.imported:
                raise InvalidMemory(
                    f"id = {quoted(draft.id)} cannot be used: Hexad itself makes ids of this form;",
                    argument="id",
                    remedy="leave {id} out, or give another one.",
                )
            if named is not None and named.id != draft.id:
                raise Conflict(
                    f"The source id {draft.source_id!r} is memory {named.id!r} already, not {draft.id!r}; "
                    "leave out one of the two."
                )
        return named, known

    def near_duplicates(
        self, no: int, text: str, mark: Fingerprint, *, space_no: int, at: datetime, new: bool = False
    ) -> Sequence[NearMemory]:
        """Store the fingerprint of memory `no` and link it to its near-duplicates; returns them, nearest first.

        A `new` memory has neither yet.
        """
        duplicates = self._stores.duplicates
        if not new:
            duplicates.unlink(no, NEAR_DUPLICATE)
        candidates = [
            row for row in duplicates.candidates(space_no, mark.bands, limit=_CANDIDATES) if row[0] != no
        ]
        duplicates.put_bands(no, mark.bands, new=new)
        return self._linked(no, text, candidates, at=at)

    def near_duplicates_of_new(self, texts: Sequence[NewText]) -> dict[int, Sequence[NearMemory]]:
        """Do what `near_duplicates` does for new memories at once; returns what is near, by number."""
        duplicates = self._stores.duplicates
        shared = duplicates.put_new({new.no: new.mark.bands for new in texts})
        near: dict[int, Sequence[NearMemory]] = {}
        for new in texts if shared else ():
            if new.no in shared:
                candidates = duplicates.candidates(
                    new.space_no, new.mark.bands, limit=_CANDIDATES, below=new.no
                )
                near[new.no] = self._linked(new.no, new.text, candidates, at=new.at)
        return near

    def _linked(
        self, no: int, text: str, candidates: Sequence[tuple[int, str, str]], *, at: datetime
    ) -> Sequence[NearMemory]:
        """Link a memory to those of the candidates that say almost the same; returns them, nearest first."""
        duplicates = self._stores.duplicates
        if not candidates:
            return ()
        near: list[NearMemory] = []
        mine = ComparedText.of(text)
        for other_no, other_id, other_text in candidates:
            similarity = nearness(mine, self._compared_text(other_text))
            if similarity > 0:
                duplicates.link(no, other_no, NEAR_DUPLICATE, similarity, at=at)
                near.append(
                    NearMemory(
                        id=other_id,
                        text=beginning(other_text, BEGINNING_LIMIT),
                        similarity=round(similarity, 4),
                    )
                )
        return sorted(near, key=lambda memory: -memory.similarity)

    def _compared_text(self, text: str) -> ComparedText:
        """Return a stored text as it is compared: texts that are much alike meet the same few each time."""
        return self._compared(text) if len(text) <= _REMEMBERED_CHARS else ComparedText.of(text)

    def _echo(self, mark: Fingerprint, space_no: int) -> Identity | None:
        """A text all of whose passages were handed out by a recall is our own words, not a new fact."""
        handed = self._stores.duplicates.handed_out(space_no, mark.passages)
        if not mark.passages or any(passage not in handed for passage in mark.passages):
            return None
        return self._stores.memories.identify_no(handed[mark.passages[0]])

    @staticmethod
    def _free(identity: Identity, name: str) -> None:
        """Raise `Conflict` for a name that a hidden memory has; what it is, and where, is not said."""
        if identity.hidden:
            raise Conflict(f"The id {name!r} cannot be used; give another one.")

    def _same_space(self, identity: Identity, draft: Draft) -> None:
        space = self._stores.memories.by_no([identity.no])[identity.no].space
        if space != draft.space:
            raise Conflict(
                f"Memory {draft.id!r} is in space {space!r}, not in {draft.space!r}; "
                "give another id, or write to that space."
            )
