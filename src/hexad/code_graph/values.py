"""What the code graph answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue


class CodeQuestion(StrEnum):
    """What may be asked of a file, a symbol, a folder or a library."""

    DEPENDENCIES = "dependencies"
    DEPENDENTS = "dependents"
    CALLERS = "callers"
    CALLEES = "callees"
    SUBCLASSES = "subclasses"
    IMPACT = "impact"
    PATH = "path"
    DEFINITION = "definition"
    NEIGHBOURHOOD = "neighbourhood"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeNode:
    """A file, a symbol, a slice or a library.

    `path` is a file's below `root`, the folder that was looked at; `name` a symbol's with what it stands in, or that
    of a library. `kind` is a symbol's (function, method, property, class, constant, …), else a file's language.
    `line` and `end_line` are 1-based, 0 where there are none. `signature` has no values.
    """

    id: str
    type: str
    kind: str
    name: str
    path: str
    line: int
    end_line: int
    signature: str
    is_test: bool
    root: str
    space: str

    @property
    def location(self) -> str:
        """Where it is, as editors take it: `path:line`, of a file its path."""
        return f"{self.path}:{self.line}" if self.type == "symbol" else self.path or self.name

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the node as JSON."""
        return {**as_json(self), "location": self.location}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHit:
    """Something that answers: `relation` says how it hangs together with what was asked about, or with `via`.

    `distance` is how many edges lie between, `score` 0 to 1 how much it matters, `confidence` 0 to 1 how sure the edges
    are, `weight` how often the last of them is stated and `line` where first (0: nowhere).
    """

    node: CodeNode
    relation: str
    distance: int = 1
    score: float = 1.0
    confidence: float = 1.0
    weight: float = 1.0
    line: int = 0
    via: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the hit as JSON."""
        return {**as_json(self, without=("node",)), "node": self.node.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """The answer to a question: `targets` is what it was taken to be about, `hits` the best first.

    Of a path `hits` are its steps in their order. `notes` say what a reader must know: that a name means several
    things, that more was left out.
    """

    question: CodeQuestion
    target: str
    targets: tuple[CodeNode, ...]
    hits: tuple[CodeHit, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return how many hits there are."""
        return len(self.hits)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the answer as JSON."""
        return {
            "question": self.question.value,
            "target": self.target,
            "targets": [node.to_dict() for node in self.targets],
            "hits": [hit.to_dict() for hit in self.hits],
            "notes": list(self.notes),
        }


@dataclass(slots=True, kw_only=True)
class CodeIndexReport:
    """What a look at the code of a folder did; `files` is how many are in the graph of it now."""

    root: str
    space: str
    files: int = 0
    created: int = 0
    updated: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    resolved: int = 0
    """Files whose edges were made, the unchanged among them that lead to what changed."""
    skipped: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    """Files by languages that are read with the extra `code` alone, where it is not installed."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Files of this run of which not all could be read, with the reasons."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSlice:
    """Files that hang together more than with others: its name comes from their paths and symbols."""

    name: str
    files: int
    paths: tuple[str, ...]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the slice as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOverview:
    """What the graph holds: counts of nodes and edges by type, of files by language, and what most files import."""

    roots: tuple[str, ...]
    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    languages: Mapping[str, int]
    most_imported: tuple[CodeHit, ...]
    slices: tuple[CodeSlice, ...]
    problems: tuple[tuple[str, str], ...]
    changed_together: tuple[tuple[str, str, int], ...] = ()
    """Of the files that changed in the same commits those of most: two paths, and in how many."""

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the overview as JSON."""
        return {
            **as_json(self, without=("most_imported", "slices")),
            "most_imported": [hit.to_dict() for hit in self.most_imported],
            "slices": [each.to_dict() for each in self.slices],
        }
