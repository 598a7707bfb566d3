"""What an audit of memories finds: what is there for nothing, twice, out of date, or against something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hexad.core.json_types import JSONValue


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
        return {
            "flaw": self.flaw.value,
            "rule": self.rule,
            "ids": list(self.ids),
            "keep": self.keep,
            "excerpt": self.excerpt,
            "why": self.why,
            "remedy": self.remedy,
        }


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
