"""An audit of memories, one after the other: what a text, its likes and its dates say. Time grows with their number.

Near-duplicates are looked for among texts that share a band of their fingerprints, and there with the first of each
group alone: never everything with everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from hexad.core.ids import content_hash, hash64
from hexad.maintenance.quality.values import Flaw, MemoryQuality, QualityFinding
from hexad.memory.memory import Trust
from hexad.redaction.redact import RedactionRules, find, redact
from hexad.text.quality.noise import RULES, junk_rule
from hexad.text.similarity.containment import without_negation
from hexad.text.similarity.fingerprints import bands, jaccard, minhash, shingles

NEAR: Final = 0.85
"""As the gate has it (`ingest.write.gate`), by Jaccard similarity of word shingles."""
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
        self._shingles = lru_cache(maxsize=2_048)(lambda memory_id: shingles(text_of(memory_id)))
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
            self.found(Flaw.JUNK, rule, [memory.id], memory.text, RULES[rule], self.forget(memory.id))
        self._dates(memory)
        if not memory.supported:
            why = "nothing says where it is from: no source, no citation, nobody known who vouches for it"
            remedy = (
                "keep its source when you import it" if self._imported else f"hexad memory show {memory.id}"
            )
            self.found(Flaw.UNSUPPORTED, "provenance", [memory.id], memory.text, why, remedy)
        self._alike(memory)
        if memory.valid_to is None or memory.valid_to > self._now:
            self._negated(memory)  # what is over says nothing against what holds now

    def forget(self, *ids: str) -> str:
        """Return how to be rid of memories, or not to take them over."""
        if self._imported:
            return "leave it out of the import, or delete it there"
        return "; ".join(_FORGET.format(memory_id) for memory_id in ids)

    def found(
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
        clean = redact(text, rules=self._rules, salt=b"").text
        line = " ".join(clean.split())
        return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"

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
            self.found(Flaw.SECRET, rules[0], [memory.id], memory.text, why, remedy)

    def _dates(self, memory: Audited) -> None:
        if memory.valid_to is not None and memory.valid_to <= self._now:
            why = f"it held until {memory.valid_to:%Y-%m-%d}"
            self.found(Flaw.STALE, "expired", [memory.id], memory.text, why, self.forget(memory.id))
        elif (
            memory.touched is not None
            and self._now - memory.touched >= UNUSED
            and (memory.unimportant or memory.importance < UNIMPORTANT)
            and not memory.pinned
        ):
            why = f"of little importance, and neither changed nor recalled since {memory.touched:%Y-%m-%d}"
            self.found(Flaw.STALE, "unused", [memory.id], memory.text, why, self.forget(memory.id))

    def _alike(self, memory: Audited) -> None:
        """Put a memory into the group of those that say the same, or begin one."""
        exact = hash64(f"{memory.scope}\0{content_hash(' '.join(memory.text.split()).casefold())}")
        group = self._hashes.get(exact)
        if group is not None:
            self._groups[group].append((memory.id, memory.worth))
            return
        marks = [hash64(f"{memory.scope}\0{band}") for band in bands(minhash(memory.text))]
        near = list(dict.fromkeys(group for mark in marks for group in self._of_band(mark)))[:_LEADERS]
        if near and not memory.fact:
            mine = shingles(memory.text)
            for group in near:
                if jaccard(mine, self._shingles(self._groups[group][0][0])) >= NEAR:
                    self._groups[group].append((memory.id, memory.worth))
                    self._near.add(group)
                    self._hashes[exact] = group
                    return
        number = self._hashes[exact] = len(self._groups)
        for mark in () if memory.fact else marks:
            neighbours = self._of_band(mark)
            if len(neighbours) < _LEADERS:
                self._bands[mark] = (*neighbours, number) if neighbours else number
        self._groups.append([(memory.id, memory.worth)])

    def _of_band(self, mark: int) -> tuple[int, ...]:
        neighbours = self._bands.get(mark, ())
        return (neighbours,) if isinstance(neighbours, int) else neighbours

    def _group(self, group: list[tuple[str, tuple[bool, int, int]]], *, near: bool) -> None:
        keep = max(group, key=lambda member: member[1])[0]
        others = [member for member, _ in group if member != keep]
        why = f"{len(others)} say{'s' * (len(others) == 1)} {'almost ' * near}what {keep} says"
        rule = "near" if near else "exact"
        self.found(
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
            self.found(Flaw.CONTRADICTION, "negation", [other[0], memory.id], memory.text, why, remedy)
