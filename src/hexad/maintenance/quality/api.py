"""`hx.memory_quality` and `export_quality`: what memories are worth, of a store and of another system's export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Final

from hexad.core.arguments import parse_place, parse_text, parse_whole
from hexad.core.clock import Clock, SystemClock
from hexad.database.codec import dump
from hexad.errors import InvalidInput
from hexad.ingest.imports.read import read_foreign
from hexad.ingest.imports.records import IMPORTED
from hexad.ingest.report import OVERVIEW_ID
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.maintenance.quality.audit import Audited, Examination
from hexad.maintenance.quality.values import Flaw, MemoryQuality
from hexad.memory.fact import family_of
from hexad.memory.memory import Memory, Relevance, Trust
from hexad.memory.query import Filters
from hexad.memory.source import FOREIGN, Item
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.rows import batches
from hexad.text.similarity.fingerprints import passage_hashes
from hexad.text.similarity.lookalikes import look_of_fact

LISTED: Final = 100
_PEOPLE: Final = (
    "user_id", "agent_id", "app_id", "run_id", "actor_id", "added_by", "source_file", "memory_session_id",
    "content_session_id", "session_id", "file", "entityType", "created_at", "filed_at",
)  # fmt: skip
"""Fields of an imported memory by which somebody could find where it is from."""


class QualityAudit:
    """Audits the active memories of one store, as far as the actor may see them."""

    def __init__(self, stores: Stores, *, clock: Clock) -> None:
        self._stores, self._clock = stores, clock
        self._facts = Facts(stores.db, roles=stores.roles)
        self._exists = lru_cache(maxsize=65_536)(_is_there)

    def run(self, *, space: str | None, listed: int) -> MemoryQuality:
        """Return what is wrong with the memories of a space, or of all; see `Hexad.memory_quality`."""
        started = self._clock.monotonic()
        if space is not None:
            self._stores.spaces.get(space)
        filters = Filters(spaces=None if space is None else (space,))
        with self._stores.db.read():
            examination = Examination(now=self._clock.now(), listed=listed, text_of=self._text)
            numbers = self._stores.memories.numbers(filters)
            handed, replaced = self._stores.duplicates.any_handed_out(), dict[str, str]()
            for batch in batches(numbers):
                memories = self._stores.memories.by_no(batch)
                for no in batch:
                    examination.take(self._audited(no, memories[no]))
                    if handed:
                        self._echo(examination, no, memories[no])
                    self._source(examination, memories[no])
                    if (older := memories[no].supersedes) is not None:
                        replaced[older] = memories[no].id
            self._superseded(examination, replaced, set(numbers))
            self._fallen(examination, space)
            self._contradictions(examination, space)
        name = "the store" if space is None else f"space {space!r}"
        return examination.done(source=name, seconds=self._clock.monotonic() - started)

    def _text(self, memory_id: str) -> str:
        no = self._stores.memories.number(memory_id)
        return self._stores.memories.by_no([no])[no].raw

    def _audited(self, no: int, memory: Memory) -> Audited:
        return Audited(
            id=memory.id,
            text=memory.raw,
            scope=memory.space,
            touched=max(memory.updated_at, memory.last_used_at or memory.updated_at),
            valid_to=memory.valid_to,
            importance=memory.importance,
            unimportant=memory.relevance is Relevance.LOW,
            pinned=memory.pinned,
            trust=memory.trust,
            evidence=memory.evidence,
            supported=self._supported(no, memory),
            fact=memory.attribute is not None,
        )

    def _supported(self, no: int, memory: Memory) -> bool:
        """Whether anybody could find out where a memory is from: what its user said, its user vouches for."""
        if (
            memory.trust is Trust.USER
            or memory.source is not None
            or memory.citations
            or memory.turn is not None
        ):
            return True
        known = memory.trust is not Trust.UNKNOWN and memory.source_id is not None
        return known or memory.evidence > 1 or bool(self._stores.derivations.sources(no))

    def _echo(self, examination: Examination, no: int, memory: Memory) -> None:
        passages = passage_hashes(memory.raw)
        other = self._stores.duplicates.echoed(no, passages) if passages else None
        if other is not None:
            why = f"it repeats what a recall handed out of {other}"
            examination.found(
                Flaw.ECHO, "handed_out", [memory.id], memory.raw, why, examination.forget(memory.id)
            )

    def _source(self, examination: Examination, memory: Memory) -> None:
        if memory.source is None or memory.source_id in (None, OVERVIEW_ID):
            return
        uri = memory.source
        for kind in FOREIGN:
            uri = uri.removeprefix(f"{kind.value}:")
        if "%" in uri or not Path(uri).is_absolute():
            return
        missing_uri = None if self._exists(uri) else uri
        item = str(memory.source_id).partition("#part-")[0]
        if missing_uri is None and uri == memory.source and "%" not in item and Path(uri).is_dir():
            file = str(Path(uri) / item)
            missing_uri = None if self._exists(file) else file
        if missing_uri is not None:
            remedy = f"hexad ingest the folder again, which archives it, or hexad forget {memory.id}"
            why = f"its source {missing_uri!r} is not there any more"
            examination.found(Flaw.STALE, "source_gone", [memory.id], memory.raw, why, remedy)

    def _superseded(self, examination: Examination, replaced: Mapping[str, str], active: set[int]) -> None:
        numbers = self._stores.memories.numbers_named(sorted(replaced))
        for older, no in numbers.items():
            if no in active:
                text = self._stores.memories.by_no([no])[no].raw
                why = f"{replaced[older]} supersedes it, and it is still recalled"
                examination.found(Flaw.STALE, "superseded", [older], text, why, examination.forget(older))

    def _fallen(self, examination: Examination, space: str | None) -> None:
        for review in self._facts.to_review(space=space):
            text = self._text(review.memory_id)
            why = "it rests on something that was superseded or forgotten"
            remedy = f"hexad memory show {review.memory_id}; what still holds, remember again"
            examination.found(Flaw.STALE, "premise", [review.memory_id], text, why, remedy)

    def _contradictions(self, examination: Examination, space: str | None) -> None:
        for look, space_no in self._facts.contested(space=space):
            line = self._facts.line(look, space_no=space_no)
            active = [row for row in line if row.status.value == "active"]
            if not active or self._facts.holds_many(active[0].attribute):
                continue
            against = sorted(
                {
                    memory_id
                    for row, right in combinations(active[:50], 2)
                    if row.contradicts(right) and family_of(row.kind) == family_of(right.kind)
                    for memory_id in (row.id, right.id)
                }
            )
            if against:
                key = f"{active[0].subject or '?'}.{active[0].attribute or '?'}"
                why = f"they give {key} different values that hold at the same time"
                remedy = (
                    f"remember which holds with subject, attribute and value, or hexad forget {against[0]}"
                )
                examination.found(Flaw.CONTRADICTION, "values", against, active[0].text, why, remedy)


def audit_export(source: str | Path, kind: str, *, clock: Clock, listed: int) -> MemoryQuality:
    """Return what is wrong with another system's memories; see `export_quality`."""
    started = clock.monotonic()
    spec = detect(parse_place(source, "source"), kind=parse_text(kind, "kind"))
    if spec.kind not in FOREIGN or spec.path is None:
        names = ", ".join(sorted(FOREIGN))
        raise InvalidInput(
            f"kind = {kind!r} is no other memory system's; choose one of {names}.", argument="kind"
        )
    texts: dict[str, str] = {}
    examination = Examination(now=clock.now(), listed=listed, text_of=texts.__getitem__, imported=True)
    values: dict[str, tuple[str, str]] = {}
    skips = 0
    for item in read_foreign(spec.path, kind=spec.kind, options=ReadOptions()):
        if not isinstance(item, Item) or item.source_id is None:
            skips += 1
            continue
        texts[item.source_id] = item.text
        examination.take(_audited(item))
        for other, key in _against(item, values):
            why = f"{other} and {item.source_id} give {key} different values"
            remedy = "decide which holds, and delete the other there"
            examination.found(Flaw.CONTRADICTION, "values", [other, item.source_id], item.text, why, remedy)
    return examination.done(source=spec.path.name, skips=skips, seconds=clock.monotonic() - started)


def _audited(item: Item) -> Audited:
    imported = item.metadata.get(IMPORTED)
    fields = imported if isinstance(imported, Mapping) else {}
    claim = item.claim
    return Audited(
        id=item.source_id or "",
        text=item.text,
        valid_to=None if claim is None else claim.valid_to,
        supported=item.time is not None or any(fields.get(name) for name in _PEOPLE),
        fact=claim is not None and claim.attribute is not None,
    )


def _against(item: Item, values: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Give the first item that gives the same attribute another value; what ended is history and no contradiction."""
    claim = item.claim
    if claim is None or claim.attribute is None or claim.valid_to is not None:
        return
    look = look_of_fact(claim.subject, claim.attribute)
    if look is None:
        return
    value = dump(claim.value)
    first = values.setdefault(look, (item.source_id or "", value))
    if first[1] != value:
        yield first[0], f"{claim.subject}.{claim.attribute}"


def export_quality(source: str | Path, kind: str, *, listed: int = LISTED) -> MemoryQuality:
    """Return what is wrong with the memories that another system wrote, without importing them.

    `kind` is `mem0`, `claude-mem`, `mempalace`, `memory-md` or `server-memory` (docs/imports.md). Nothing is stored
    and no store is needed; ids are those of the other system. What only a store can know is not looked for: echoes of
    a recall, how long a memory was not used.

    Raises `NotFound` for a file that is not there, `InvalidInput` for one that is not what `kind` says.
    """
    return audit_export(source, kind, clock=SystemClock(), listed=parse_whole(listed, "listed", least=0))


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return True  # not known; what cannot be looked at is not gone


__all__: Sequence[str] = ("LISTED", "QualityAudit", "audit_export", "export_quality")
