"""What a recall is asked and what it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, overload

from hexad.core.as_json import as_json, plain
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.memory.link import Linked
from hexad.memory.memory import CheckedCitation, Chunk, Memory
from hexad.text.graphemes import beginning
from hexad.text.requests import SequenceForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which memories may answer. Filters of different kind are ANDed; inside `tags` and `text`, all must be there.

    `text` are words that occur somewhere in a memory as they are written, but for their case. `origins` are layers by
    where a memory came from: decisions are of governance, what was ingested from a source of vector, the rest project.
    """

    spaces: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    path: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    roles: tuple[str, ...] | None = None  # of whoever asks; None sees everything
    text: tuple[str, ...] | None = None
    pinned: bool | None = None
    origins: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None  # of memories that somebody has chosen by what no other filter knows

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.until <= self.since:
            order = "the same time as" if self.until == self.since else "before"
            raise InvalidInput(
                f"until = {self.until.isoformat()} is {order} {self.since.isoformat()}: nothing is between them.",
                argument="until",
                remedy="Give the earlier time as {since}.",
            )

    @property
    def empty(self) -> bool:
        """Whether every active memory may answer."""
        return self == _NO_FILTERS


_NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What a memory took the place of: the value that held before, since when, and until when."""

    id: str
    text: str
    value: JSONValue
    valid_from: datetime
    valid_to: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A later memory that says something else of the same: since when, by which `reason`, and how sure that is.

    `reason` is `former` (its words name the older value as what was), `ended` (it is so no more) or `value` (it gives
    another value of the same).
    """

    id: str
    text: str
    since: datetime
    reason: str
    confidence: float

    def __str__(self) -> str:
        return f"superseded by {self.id} (since {self.since:%Y-%m-%d}): {self.text}"

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


_WITHOUT_LINES: Final = frozenset({"commit", "overview"})
"""Kinds of which a source has no lines: they were made of what it says."""
_SHOWN: Final = 60
_LISTED: Final = 20


def _first_words(text: str) -> str:
    return beginning(text[: 4 * _SHOWN], _SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hit:
    """One recalled memory and why it was recalled.

    `parts` maps a signal to its contribution; the values sum to `score`. `why` says in words what each arm
    saw. `relevance`, 0 to 1, is how likely the memory answers the question, and means the same in every store
    (docs/concepts.md); it says nothing of the order, which `score` gives. `chunk` is the span that answers best,
    `text` its text and `lines` its lines in the source. `replaced` is what the memory took the place of, where it is
    the current value of something that was otherwise. `superseded_by` is what by its words seems to have taken the
    memory's place since. `citations` say of each place of the code that it cites whether it still stands so.
    `assertion` is `former` where a short text says by its grammar only what was, `possible` where it says only what
    may be, and None where it says what is.
    """

    memory: Memory
    chunk: Chunk | None
    score: float
    parts: Mapping[str, float]
    layer: str
    why: tuple[str, ...] = ()
    replaced: Replaced | None = None
    superseded_by: Successor | None = None
    relevance: float = 0.0
    citations: tuple[CheckedCitation, ...] = ()
    assertion: str | None = None

    @property
    def id(self) -> str:
        """The memory's id, to act on."""
        return self.memory.id

    @property
    def text(self) -> str:
        """The span that answers best; the whole text where the memory is one span."""
        return self.memory.chunk_text(self.chunk) if self.chunk else self.memory.raw

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line of `text` in its source, from 1; None where the source has no lines."""
        return (self.chunk.first_line, self.chunk.last_line) if self.chunk else None

    @property
    def instruction_like(self) -> tuple[str, ...]:
        """What of the memory reads as instructions to a model; empty for most. What it says is data either way."""
        return self.memory.instruction_like

    @property
    def needs_review(self) -> bool:
        """Whether something that it rests on was superseded or forgotten since."""
        return self.memory.metadata.get("needs_review") is True

    @property
    def source_id(self) -> str | None:
        """The id that the source gave: a turn's, a document's, a file's path."""
        return self.memory.source_id

    @property
    def location(self) -> str:
        """Where to look: `path:line`, `path:first-last`, a turn's session, or the path."""
        memory = self.memory
        if memory.turn is not None:
            return f"{memory.turn.session} turn {memory.turn.position + 1}"
        place = memory.source_id or memory.path
        if self.chunk is None or memory.source is None or memory.kind in _WITHOUT_LINES:
            return place
        first, last = self.chunk.first_line, self.chunk.last_line
        return f"{place}:{first}" if first == last else f"{place}:{first}-{last}"

    def __repr__(self) -> str:
        return f"<Hit {self.id} {self.relevance:.2f} {self.location}: {_first_words(self.text)}>"

    def passage(self) -> dict[str, JSONValue]:
        """Return what an answer needs as JSON: the span, where it stands, and why; not the memory's own record."""
        memory = self.memory
        return {
            "id": self.id,
            "relevance": self.relevance,
            "score": self.score,
            "parts": dict(self.parts),
            "text": self.text,
            "space": memory.space,
            "location": self.location,
            "lines": list(self.lines) if self.lines else None,
            "kind": memory.kind,
            "layer": self.layer,
            "time": plain(memory.valid_from or memory.created_at),
            "why": list(self.why),
            **({"speaker": memory.turn.speaker} if memory.turn is not None and memory.turn.speaker else {}),
            **({"instruction_like": list(self.instruction_like)} if self.instruction_like else {}),
            **({"needs_review": True} if self.needs_review else {}),
            **({} if self.replaced is None else {"replaced": self.replaced.to_dict()}),
            **({} if self.superseded_by is None else {"superseded_by": self.superseded_by.to_dict()}),
            **({"citations": [each.to_dict() for each in self.citations]} if self.citations else {}),
            **({} if self.assertion is None else {"assertion": self.assertion}),
        }

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the hit as JSON, the memory's own record under `memory`."""
        return {
            "id": self.id,
            "score": self.score,
            "relevance": self.relevance,
            "parts": dict(self.parts),
            "layer": self.layer,
            "why": list(self.why),
            "text": self.text,
            "location": self.location,
            "lines": list(self.lines) if self.lines else None,
            "chunk_id": self.chunk.chunk_id if self.chunk else None,
            "memory": self.memory.to_dict(),
            **({} if self.replaced is None else {"replaced": self.replaced.to_dict()}),
            **({} if self.superseded_by is None else {"superseded_by": self.superseded_by.to_dict()}),
            **({"citations": [each.to_dict() for each in self.citations]} if self.citations else {}),
            **({} if self.assertion is None else {"assertion": self.assertion}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Something that was considered and left out, with the reason."""

    memory_id: str
    reason: str
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a recall considered: the query as understood, each arm's candidates, timings in milliseconds."""

    terms: tuple[str, ...]
    ignored_terms: tuple[str, ...]
    speakers: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    arms: Mapping[str, int]
    confidence: Mapping[str, float]
    timings_ms: Mapping[str, float]
    considered: tuple[Mapping[str, JSONValue], ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the explanation as JSON."""
        return as_json(self)


PASSAGES_BYTES: Final = 20_000
"""What the passages of an answer may fill together, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hits(Sequence[Hit]):
    """The answer to a recall, best first; empty when nothing is relevant.
    `mode` is `lexical` or `hybrid`; `late` names what did not answer in time; `dropped` what was left out;
    `linked` holds what the hits are linked with, when links were to be followed.
    """

    items: tuple[Hit, ...] = ()
    mode: str = "hybrid"
    late: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    explanation: Explanation | None = None
    notes: tuple[str, ...] = field(default=())
    linked: tuple[Linked, ...] = ()

    @property
    def sequence(self) -> SequenceForm | None:
        """How a question for several memories was understood; None where the best stands first."""
        return None

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.items)

    def __repr__(self) -> str:
        lines = [f"<Hits: {len(self.items):,}, {self.mode}>"]
        lines += [f"{number:>2}. {hit!r}" for number, hit in enumerate(self.items[:_LISTED], start=1)]
        if len(self.items) > _LISTED:
            lines.append(f"    and {len(self.items) - _LISTED:,} more")
        return "\n".join(lines)

    def passages(self, *, max_bytes: int = PASSAGES_BYTES) -> list[dict[str, JSONValue]]:
        """Return the hits as JSON without the memories' whole records, together at most `max_bytes` of UTF-8.

        Longer texts are cut first, all to one length, and say so under `cut`; what still does not fit is left out
        from the end.
        """
        passages = [hit.passage() for hit in self.items]
        while passages and _size([{**passage, "text": ""} for passage in passages]) > max_bytes:
            passages.pop()
        texts = [str(passage["text"]) for passage in passages]
        length = max((len(text) for text in texts), default=0)
        while length and _size(passages) > max_bytes:
            length = length * 4 // 5
            for passage, text in zip(passages, texts, strict=True):
                if len(text) > length:
                    passage.update(text=text[:length].rstrip(), cut=True)
        return passages

    def to_dict(self, *, full: bool = True) -> dict[str, JSONValue]:
        """Return the answer as JSON; `full` False gives `passages` instead of whole records."""
        return {
            "hits": [hit.to_dict() for hit in self.items] if full else list[JSONValue](self.passages()),
            "mode": self.mode,
            "late": list(self.late),
            "dropped": [{"id": d.memory_id, "reason": d.reason, "score": d.score} for d in self.dropped],
            "notes": list(self.notes),
            "explanation": self.explanation.to_dict() if self.explanation else None,
            **({} if self.sequence is None else {"sequence": self.sequence.value}),
            **({"linked": [linked.to_dict() for linked in self.linked]} if self.linked else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HitSequence(Hits):
    """The answer to a question that wants several memories, asked without a limit: the earliest first.

    `form` is how it was understood: "in what order" (`order`), "how many times" (`count`), "list all" (`list`),
    "summarise how" (`summary`).
    """

    form: SequenceForm

    @property
    def sequence(self) -> SequenceForm | None:
        """How the question was understood."""
        return self.form


def _size(value: object) -> int:
    """Return how many bytes a value fills as the JSON that commands print."""
    return len(json.dumps(value, ensure_ascii=False, indent=2).encode())
