"""What is known of a project: facts in five categories, summaries of its components, and what a look at it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from hexad.core.arguments import parse_choice
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.memory.confidence import DRAFT
from hexad.memory.memory import Citation, Memory, Status, Trust

"""Name in a memory's metadata: true while it is inferred, and nobody has said that it is so."""
INFERRED_MOST: Final = 0.6
"""How sure an inferred fact is at most when it is seen for the first time."""
_SHOWN: Final = 12


class Category(StrEnum):
    """What a fact of a project is about (document 4, section 2.2.2)."""

    DECISION = "decision"
    PATTERN = "pattern"
    TODO = "todo"
    TECH_STACK = "tech_stack"
    CONVENTION = "convention"

    @property
    def kind(self) -> str:
        """The kind of the memories that hold such facts."""
        return self.value.replace("_", "-")

    @property
    def words(self) -> str:
        """The category for people."""
        return self.value.replace("_", " ").capitalize()


def parse_category(category: str) -> Category:
    """Return a category by its name; raises `InvalidInput` naming all of them."""
    return parse_choice(Category, category, "category")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFact:
    """One fact of a project, as its memory holds it. `draft` says that it was inferred and not confirmed."""

    memory_id: str
    category: Category
    key: str
    value: JSONValue
    component: str
    project: str
    importance: float
    confidence: float
    evidence: int
    draft: bool
    text: str
    space: str
    status: Status
    trust: Trust
    updated_at: datetime
    created_at: datetime
    citations: tuple[Citation, ...] = ()
    needs_review: bool = False
    replaces: str | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the fact as JSON."""
        value = as_json(
            self, "memory_id", "category", "key", "value", "component", "project", "importance", "confidence",
            "evidence", "draft", "text", "space", "status", "trust", "created_at", "updated_at", "citations",
            "needs_review", "replaces", "notes",
        )  # fmt: skip
        return value | {"citations": [citation.path for citation in self.citations]}


def project_fact(memory: Memory) -> ProjectFact:
    """Return the fact that a memory of one of the five kinds holds; without a value its text is the value."""
    value = memory.value
    return ProjectFact(
        memory_id=memory.id,
        category=Category(memory.kind.replace("-", "_")),
        key=memory.attribute or memory.path.rpartition("/")[2],
        value=memory.raw if value is None else value,
        component=memory.subject or "",
        project=str(memory.metadata.get("project") or ""),
        importance=memory.importance,
        confidence=memory.confidence,
        evidence=memory.evidence,
        draft=memory.metadata.get(DRAFT) is True,
        text=memory.raw,
        space=memory.space,
        status=memory.status,
        trust=memory.trust,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        citations=memory.citations,
        needs_review=memory.metadata.get("needs_review") is True,
        replaces=memory.supersedes,
        notes=memory.receipt.notes if memory.receipt is not None else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSummary:
    """What a component of a project is, in a text that stays until somebody says it anew."""

    memory_id: str
    name: str
    summary: str
    files: tuple[str, ...]
    updated_at: datetime
    replaces: str | None = None
    needs_review: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the summary as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a look at a repository found: a draft, as sure as what it was seen in lets it be."""

    category: Category
    key: str
    value: JSONValue
    confidence: float
    seen_in: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a look at a repository came to.

    `new` facts are drafts that were not known, `seen_again` are surer than before, `changed` took the place of an
    earlier draft. `known` were said by somebody already, `differs` say something else than somebody said, who is
    believed.
    """

    root: str
    files: int
    findings: tuple[Finding, ...]
    new: tuple[ProjectFact, ...] = ()
    seen_again: tuple[ProjectFact, ...] = ()
    changed: tuple[ProjectFact, ...] = ()
    known: tuple[ProjectFact, ...] = ()
    differs: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""

        return as_json(self)


def fact_text(category: Category, key: str, value: JSONValue, *, component: str | None) -> str:
    """Return a fact as a sentence that recall finds.

    >>> fact_text(Category.TECH_STACK, "test_framework", "pytest", component=None)
    'Tech stack: test framework is pytest.'
    >>> fact_text(Category.TODO, "retries", {"what": "back off", "where": "http"}, component="api")
    'Todo (api): retries is what: back off; where: http.'
    """
    name = key.replace("_", " ").replace(".", " ")
    about = f" ({component})" if component else ""
    text = value_text(value).rstrip(".")
    return f"{category.words}{about}: {name} is {text}."


def value_text(value: JSONValue) -> str:
    """Return a JSON value in words, on one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {value_text(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
        return ", ".join(value_text(inner) for inner in value[:_SHOWN]) + more
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "nothing"}[value]
    return " ".join(str(value).split())
