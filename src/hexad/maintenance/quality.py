"""`hx.memory_quality` and `export_quality`: what memories are worth, of a store and of another system's export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Final

from hexad.core.arguments import parse_place, parse_text, parse_whole, quoted
from hexad.core.as_json import as_json
from hexad.core.clock import Clock, SystemClock
from hexad.core.ids import content_hash, hash64
from hexad.core.json_types import JSONValue
from hexad.database.codec import dump
from hexad.errors import InvalidInput
from hexad.ingest.citations import Citations
from hexad.ingest.imports.read import read_foreign
from hexad.ingest.imports.records import IMPORTED
from hexad.ingest.report import OVERVIEW_ID
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.memory.fact import family_of
from hexad.memory.memory import Memory, Relevance, Trust
from hexad.memory.query import Filters
from hexad.memory.source import FOREIGN, Item
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.rows import batches
from hexad.redaction.redact import RedactionRules, find, redact
from hexad.text.graphemes import beginning
from hexad.text.noise import RULES, junk_rule
from hexad.text.similarity.containment import without_negation
from hexad.text.similarity.fingerprints import passage_hashes
from hexad.text.similarity.lookalikes import look_of_fact
from hexad.text.similarity.nearness import ComparedText, near_marks, nearness


class Flaw(StrEnum):
    """What can be wrong with a memory."""

    JUNK = "junk"
    DUPLICATE = "duplicate"
    ECHO = "echo"
    STALE = "stale"
    CONTRADICTION = "contradiction"
    SECRET = "secret"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityFinding:
    """One thing that an audit found: the memories, the rule, and what to do.

    `keep` is, of duplicates, the one to keep; `ids` are the others. `excerpt` is of the first, without secrets.
    """

    flaw: Flaw
    rule: str
    ids: tuple[str, ...]
    excerpt: str
    why: str
    remedy: str
    keep: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the finding as JSON."""
        return as_json(self, "flaw", "rule", "ids", "keep", "excerpt", "why", "remedy")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuality:
    """An audit of memories. It changed nothing.

    `counts` are how many memories have each flaw, `rules` how many each rule (`junk.trace`) found; both count all.
    `findings` lists of each flaw at most as many as were asked for. `skips` are records of an export that could not be
    read.
    """

    source: str
    memories: int
    counts: Mapping[Flaw, int]
    rules: Mapping[str, int]
    findings: tuple[QualityFinding, ...]
    flawed: int
    skips: int = 0
    seconds: float = field(default=0.0, compare=False)

    def share(self, flaw: Flaw | None = None) -> float:
        """Return the share of memories with a flaw, of any kind without one; 0.0 where there is no memory."""
        number = self.flawed if flaw is None else self.counts.get(flaw, 0)
        return number / self.memories if self.memories else 0.0

    def of(self, flaw: Flaw) -> list[QualityFinding]:
        """Return the listed findings of one kind."""
        return [finding for finding in self.findings if finding.flaw is flaw]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the audit as JSON."""
        return {
            "source": self.source,
            "memories": self.memories,
            "flawed": self.flawed,
            "counts": {flaw.value: self.counts.get(flaw, 0) for flaw in Flaw},
            "shares": {flaw.value: round(self.share(flaw), 4) for flaw in Flaw},
            "rules": dict(sorted(self.rules.items())),
            "skips": self.skips,
            "findings": [finding.to_dict() for finding in self.findings],
            "seconds": round(self.seconds, 3),
        }


UNUSED: Final = timedelta(days=180)
UNIMPORTANT: Final = 0.2
_LEADERS: Final = 4
_EXCERPT: Final = 120
_FORGET: Final = "hexad forget {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What an audit looks at of a memory. `scope` is its space: only memories of one are compared with each other."""

    id: str
    text: str
    scope: str = ""
    touched: datetime | None = None
    valid_to: datetime | None = None
    importance: float = 0.5
    unimportant: bool = False
    pinned: bool = False
    trust: Trust = Trust.TOOL
    evidence: int = 1
    supported: bool = True
    fact: bool = False
    sources: frozenset[str] = frozenset()  # what it was made of: it may say what they say

    @property
    def worth(self) -> tuple[bool, int, int]:
        """By what one of several that say the same is kept; the first of equals is."""
        return self.pinned, self.trust.rank, self.evidence


class Examination:
    """Takes memories one by one and says at the end what is wrong with them."""

    def __init__(
        self, *, now: datetime, listed: int, text_of: Callable[[str], str], imported: bool = False
    ) -> None:
        self._now, self._listed, self._imported = now, listed, imported
        self._compared = lru_cache(maxsize=2_048)(lambda memory_id: ComparedText.of(text_of(memory_id)))
        self._text_of = text_of
        self._rules = RedactionRules()
        self._findings: list[QualityFinding] = []
        self._of: dict[Flaw, set[str]] = {flaw: set() for flaw in Flaw}
        self._named: Counter[Flaw] = Counter()
        self._by_rule: Counter[str] = Counter()
        self._number = 0
        self._hashes: dict[int, int] = {}
        self._bands: dict[int, int | tuple[int, ...]] = {}  # most bands have one group: no list for each
        self._groups: list[list[tuple[str, tuple[bool, int, int]]]] = []
        self._near: set[int] = set()
        self._said: dict[int, tuple[str, bool]] = {}

    def take(self, memory: Audited) -> None:
        """Look at a memory."""
        self._number += 1
        self._secret(memory)
        rule = (
            None if memory.fact else junk_rule(memory.text)
        )  # a fact's value says it, however short the words
        if rule is not None:
            self.report(Flaw.JUNK, rule, [memory.id], memory.text, RULES[rule], self.forget(memory.id))
        self._dates(memory)
        if not memory.supported:
            why = "nothing says where it is from: no source, no citation, nobody known who vouches for it"
            remedy = (
                "keep its source when you import it" if self._imported else f"hexad memory show {memory.id}"
            )
            self.report(Flaw.UNSUPPORTED, "provenance", [memory.id], memory.text, why, remedy)
        self._alike(memory)
        if memory.valid_to is None or memory.valid_to > self._now:
            self._negated(memory)  # what is over says nothing against what holds now

    def forget(self, *ids: str) -> str:
        """Return how to be rid of memories, or not to take them over."""
        if self._imported:
            return "leave it out of the import, or delete it there"
        return "; ".join(_FORGET.format(memory_id) for memory_id in ids)

    def report(
        self,
        flaw: Flaw,
        rule: str,
        ids: Sequence[str],
        text: str,
        why: str,
        remedy: str,
        *,
        keep: str | None = None,
    ) -> None:
        """Count what was found, and list it while there is room."""
        self._of[flaw].update(ids)
        self._by_rule[f"{flaw.value}.{rule}"] += len(ids)
        if self._named[flaw] < self._listed:
            self._named[flaw] += 1
            self._findings.append(
                QualityFinding(
                    flaw=flaw,
                    rule=f"{flaw.value}.{rule}",
                    ids=tuple(ids),
                    excerpt=self._excerpt(text),
                    why=why,
                    remedy=remedy,
                    keep=keep,
                )
            )

    def done(self, *, source: str, skips: int = 0, seconds: float = 0.0) -> MemoryQuality:
        """Return what was found, the findings by their kinds."""
        for number, group in enumerate(self._groups):
            if len(group) > 1:
                self._group(group, near=number in self._near)
        order = list(Flaw)
        return MemoryQuality(
            source=source,
            memories=self._number,
            counts={flaw: len(ids) for flaw, ids in self._of.items() if ids},
            rules=dict(self._by_rule),
            findings=tuple(sorted(self._findings, key=lambda finding: order.index(finding.flaw))),
            flawed=len(set().union(*self._of.values())),
            skips=skips,
            seconds=seconds,
        )

    def _excerpt(self, text: str) -> str:
        """Return the beginning of a text, without what should not be there at all."""
        return beginning(redact(text, rules=self._rules, salt=b"").text, _EXCERPT)

    def _secret(self, memory: Audited) -> None:
        rules = sorted(
            {finding.rule for finding in find(memory.text, rules=self._rules) if finding.kind == "secret"}
        )
        if rules:
            why = f"it holds what looks like a secret ({', '.join(rules)})"
            remedy = (
                "an import takes it out; change the secret, since it lies there in the open"
                if self._imported
                else f"hexad forget {memory.id} --purge; and change the secret"
            )
            self.report(Flaw.SECRET, rules[0], [memory.id], memory.text, why, remedy)

    def _dates(self, memory: Audited) -> None:
        if memory.valid_to is not None and memory.valid_to <= self._now:
            why = f"it held until {memory.valid_to:%Y-%m-%d}"
            self.report(Flaw.STALE, "expired", [memory.id], memory.text, why, self.forget(memory.id))
        elif (
            memory.touched is not None
            and self._now - memory.touched >= UNUSED
            and (memory.unimportant or memory.importance < UNIMPORTANT)
            and not memory.pinned
        ):
            why = f"of little importance, and neither changed nor recalled since {memory.touched:%Y-%m-%d}"
            self.report(Flaw.STALE, "unused", [memory.id], memory.text, why, self.forget(memory.id))

    def _alike(self, memory: Audited) -> None:
        """Put a memory into the group of those that say the same, or begin one."""
        exact = hash64(f"{memory.scope}\0{content_hash(' '.join(memory.text.split()).casefold())}")
        group = self._hashes.get(exact)
        if group is not None:
            self._add(memory, group)
            return
        marks = [hash64(f"{memory.scope}\0{mark}") for mark in near_marks(memory.text)]
        near = list(dict.fromkeys(group for mark in marks for group in self._of_band(mark)))[:_LEADERS]
        if near and not memory.fact:
            mine = ComparedText.of(memory.text)
            for group in near:
                if nearness(mine, self._compared(self._groups[group][0][0])) > 0:
                    self._add(memory, group)
                    self._near.add(group)
                    self._hashes[exact] = group
                    return
        number = self._hashes[exact] = len(self._groups)
        for mark in () if memory.fact else marks:
            neighbours = self._of_band(mark)
            if len(neighbours) < _LEADERS:
                self._bands[mark] = (*neighbours, number) if neighbours else number
        self._groups.append([(memory.id, memory.worth)])

    def _add(self, memory: Audited, group: int) -> None:
        if not any(memory_id in memory.sources for memory_id, _ in self._groups[group]):
            self._groups[group].append((memory.id, memory.worth))

    def _of_band(self, mark: int) -> tuple[int, ...]:
        neighbours = self._bands.get(mark, ())
        return (neighbours,) if isinstance(neighbours, int) else neighbours

    def _group(self, group: list[tuple[str, tuple[bool, int, int]]], *, near: bool) -> None:
        keep = max(group, key=lambda member: member[1])[0]
        others = [member for member, _ in group if member != keep]
        why = f"{len(others)} say{'s' * (len(others) == 1)} {'almost ' * near}what {keep} says"
        rule = "near" if near else "exact"
        self.report(
            Flaw.DUPLICATE, rule, others, self._text_of(keep), why, self.forget(*others[:10]), keep=keep
        )

    def _negated(self, memory: Audited) -> None:
        """Compare a statement with the one that says the same without, or with, a "not"."""
        key = without_negation(memory.text)
        if key is None:
            return
        words, negated = key
        mark = hash64(f"{memory.scope}\0{words}")
        other = self._said.setdefault(mark, (memory.id, negated))
        if other[1] != negated:
            why = f"{memory.id} and {other[0]} say the opposite of each other"
            remedy = f"look which holds: hexad memory show {other[0]}; hexad memory show {memory.id}"
            if self._imported:
                remedy = "decide which holds, and delete the other there"
            self.report(Flaw.CONTRADICTION, "negation", [other[0], memory.id], memory.text, why, remedy)


LISTED: Final = 100
_PEOPLE: Final = (
    "user_id", "agent_id", "app_id", "run_id", "actor_id", "added_by", "source_file", "memory_session_id",
    "content_session_id", "session_id", "file", "entityType", "created_at", "filed_at",
)  # fmt: skip
"""Fields of an imported memory by which somebody could find where it is from."""


class QualityAudit:
    """Audits the active memories of one store, as far as the actor may see them."""

    def __init__(self, stores: Stores, *, clock: Clock, citations: Callable[[], Citations]) -> None:
        self._stores, self._clock, self._citations = stores, clock, citations
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
                sources = self._stores.derivations.sources_of(batch)
                for no in batch:
                    made_of = sources.get(no, frozenset())
                    examination.take(self._audited(memories[no], made_of))
                    if handed:
                        self._echo(examination, no, memories[no], made_of)
                    self._source(examination, memories[no])
                    self._cited(examination, memories[no])
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

    def _audited(self, memory: Memory, sources: frozenset[str]) -> Audited:
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
            supported=self._supported(memory, sources),
            fact=memory.attribute is not None,
            sources=sources,
        )

    @staticmethod
    def _supported(memory: Memory, sources: frozenset[str]) -> bool:
        """Whether anybody could find out where a memory is from: what its user said, its user vouches for."""
        if (
            memory.trust is Trust.USER
            or memory.source is not None
            or memory.citations
            or memory.turn is not None
        ):
            return True
        known = memory.trust is not Trust.UNKNOWN and memory.source_id is not None
        return known or memory.evidence > 1 or bool(sources)

    def _echo(self, examination: Examination, no: int, memory: Memory, sources: frozenset[str]) -> None:
        passages = passage_hashes(memory.raw)
        other = self._stores.duplicates.echoed(no, passages) if passages else None
        if other is not None and other not in sources:
            why = f"it repeats what a recall handed out of {other}"
            examination.report(
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
            examination.report(Flaw.STALE, "source_gone", [memory.id], memory.raw, why, remedy)

    def _cited(self, examination: Examination, memory: Memory) -> None:
        if not any(citation.marks is not None for citation in memory.citations):
            return
        stale = [each for each in self._citations().check(memory.citations) if each.stale]
        if stale:
            why = "; ".join(f"{each}{f' ({each.place})' if each.place else ''}" for each in stale)
            remedy = f"look whether it still holds: say it anew with what it cites now, or hexad forget {memory.id}"
            examination.report(
                Flaw.STALE, "citation", [memory.id], memory.raw, why.replace("cites", "it cites", 1), remedy
            )

    def _superseded(self, examination: Examination, replaced: Mapping[str, str], active: set[int]) -> None:
        numbers = self._stores.memories.numbers_named(sorted(replaced))
        for older, no in numbers.items():
            if no in active:
                text = self._stores.memories.by_no([no])[no].raw
                why = f"{replaced[older]} supersedes it, and it is still recalled"
                examination.report(Flaw.STALE, "superseded", [older], text, why, examination.forget(older))

    def _fallen(self, examination: Examination, space: str | None) -> None:
        for review in self._facts.to_review(space=space):
            text = self._text(review.memory_id)
            why = "it rests on something that was superseded or forgotten"
            remedy = f"hexad memory show {review.memory_id}; what still holds, remember again"
            examination.report(Flaw.STALE, "premise", [review.memory_id], text, why, remedy)

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
                examination.report(Flaw.CONTRADICTION, "values", against, active[0].text, why, remedy)


def audit_export(source: str | Path, kind: str, *, clock: Clock, listed: int) -> MemoryQuality:
    """Return what is wrong with another system's memories; see `export_quality`."""
    started = clock.monotonic()
    spec = detect(parse_place(source, "source"), kind=parse_text(kind, "kind"))
    if spec.kind not in FOREIGN or spec.path is None:
        names = ", ".join(sorted(FOREIGN))
        raise InvalidInput(
            f"kind = {quoted(kind)} is no other memory system's; choose one of {names}.", argument="kind"
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
            examination.report(Flaw.CONTRADICTION, "values", [other, item.source_id], item.text, why, remedy)
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
