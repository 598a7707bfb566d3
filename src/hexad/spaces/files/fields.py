"""One object of a space file, field by field: what it must be, and the draft that it becomes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final, cast

from hexad.core.arguments import parse_choice, parse_time
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.memory.draft import Draft
from hexad.memory.memory import Chunk, Citation, Memory, Relevance, Status, Trust, Turn
from hexad.text.normalize import clean, slug
from hexad.text.sections import Section

DEFAULTS: Final[Mapping[str, JSONValue]] = {
    "importance": 0.5, "confidence": 1.0, "valid_from": None, "valid_to": None, "supersedes": None, "trust": "user",
    "status": "active", "citations": [], "subject": None, "attribute": None, "value": None, "data_subjects": [],
    "source": None, "source_id": None, "turn": None,
}  # fmt: skip
"""Hexad's own keys, in the order in which they are written, with the values that are not."""
_DOCUMENT_1: Final = (
    "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
    "pinned", "chunks", "created_at", "updated_at",
)  # fmt: skip
KNOWN: Final = frozenset((*_DOCUMENT_1, *DEFAULTS, "space", "last_used_at", "evidence"))
"""Keys that reading understands; any other is kept as it is."""


def object_of(memory: Memory) -> dict[str, JSONValue]:
    """Return the object that stands for a memory; whoever reads it gets all of the memory back."""
    record = memory.to_dict()
    fields = {key: record[key] for key in _DOCUMENT_1}
    fields["chunks"] = _chunks(memory)
    fields.update({key: record[key] for key, default in DEFAULTS.items() if record[key] != default})
    return fields


def _chunks(memory: Memory) -> list[JSONValue]:
    """Chunks as document 1 has them, and what a reader could not know: headings, and places not found again."""
    texts = [memory.chunk_text(chunk) for chunk in memory.chunks]
    places = locate(memory.raw, texts)
    return [
        _chunk(memory, chunk, text, None if places is None else places[seq])
        for seq, (chunk, text) in enumerate(zip(memory.chunks, texts, strict=True))
    ]


def _chunk(memory: Memory, chunk: Chunk, text: str, place: Section | None) -> dict[str, JSONValue]:
    fields: dict[str, JSONValue] = {"chunk_id": chunk.chunk_id, "text": text}
    if chunk.heading:
        fields["heading"] = chunk.heading
    if place is None or place.start != chunk.start:
        fields["start"] = chunk.start
    lines = line_span(memory.raw, chunk.start, text)
    if (chunk.first_line, chunk.last_line) != lines:
        fields["lines"] = [chunk.first_line, chunk.last_line]
    return fields


def line_span(raw: str, start: int, text: str) -> tuple[int, int]:
    """Return the first and last line of a span, where the text's first line is line 1."""
    first = 1 + raw.count("\n", 0, start)
    return first, first + text.count("\n")


def locate(raw: str, texts: Sequence[str]) -> list[Section] | None:
    """Return where the texts stand in `raw`, one after the other; None when one is not found."""
    sections: list[Section] = []
    at = 0
    for text in texts:
        start = raw.find(text, at) if text else -1
        if start < 0:
            return None
        first, last = line_span(raw, start, text)
        at = start + len(text)
        sections.append(Section(start=start, end=at, first_line=first, last_line=last))
    return sections


_ID_HEX_CHARS: Final = 26
_COUNT_LIMIT: Final = 1 << 31
TAGS_LIMIT: Final = 1_000
"""Most tags of one memory in a file."""
"""Lines and turns are counted below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedObject:
    """One object of a file, and the draft that it becomes; `draft.space` is not set yet.

    `redacted` says whether something was taken out, None where nobody has looked; `full` that the file said the
    whole memory in place of `object`, which an earlier one gave.
    """

    position: int
    object: Mapping[str, JSONValue]
    draft: Draft
    notes: tuple[str, ...] = ()
    redacted: bool | None = None
    full: bool = False

    @property
    def id(self) -> str:
        """The id of the memory, made from the content where the file gives none."""
        assert self.draft.id is not None
        return self.draft.id


def capped(parsed_object: ParsedObject, most: Trust) -> ParsedObject:
    """Return an object that is trusted no more than `most`, also where it is written back."""
    if parsed_object.draft.trust.rank <= most.rank:
        return parsed_object
    return replace(
        parsed_object,
        draft=replace(parsed_object.draft, trust=most),
        object={**parsed_object.object, "trust": most.value},
    )


def parse_object(
    at: int, row: Mapping[str, JSONValue], *, name: str, fallback: datetime | None
) -> ParsedObject:
    """Return object number `at` of the file of space `name`; raises `InvalidInput` naming the field.

    `fallback` is the time of an object that says none.
    """
    notes: list[str] = []
    summaries = {key: _text(row, key) for key in ("summary_micro", "summary_short", "summary_long")}
    text = text_of(row)
    if text is None:
        raise InvalidInput("raw is missing or empty, and so are the summaries")
    created_at, updated_at = time_of(row, "created_at"), time_of(row, "updated_at")
    path, kind = _text(row, "path"), _text(row, "kind")
    cuts = _cuts(row, clean(text))
    draft = Draft(
        text=text,
        id=_text(row, "id") or made_id(name, row),
        path=path,
        kind=kind,
        title=_title(row, cuts),
        summary_micro=summaries["summary_micro"],
        summary_short=summaries["summary_short"],
        summary_long=summaries["summary_long"],
        tags=_tags(row, notes),
        metadata=mapping_of(row, "metadata"),
        relevance=_relevance(row, notes),
        pinned=_flag(row, "pinned"),
        cuts=cuts,
        spans=_spans(row),
        created_at=created_at or updated_at or fallback,
        updated_at=updated_at or created_at or fallback,
        importance=_number(row, "importance"),
        confidence=_number(row, "confidence"),
        valid_from=time_of(row, "valid_from"),
        valid_to=time_of(row, "valid_to"),
        supersedes=_text(row, "supersedes"),
        trust=parse_choice(Trust, _text(row, "trust") or Trust.USER.value, "trust"),
        status=parse_choice(Status, _text(row, "status") or Status.ACTIVE.value, "status"),
        citations=_citations(row),
        subject=_text(row, "subject"),
        attribute=_text(row, "attribute"),
        value=row.get("value"),
        data_subjects=_words(row, "data_subjects"),
        source=_text(row, "source"),
        source_id=_text(row, "source_id"),
        turn=_turn(row),
        structured=True,
    )
    return ParsedObject(position=at, object=row, draft=draft, notes=tuple(notes))


def made_id(name: str, row: Mapping[str, JSONValue], *, alike: int = 0) -> str:
    """An id for an object of space `name` without one: the same for the same object, so that reading twice changes
    nothing. `alike` counts the objects before it that are the same once secrets are taken out.
    """
    parts: list[JSONValue] = [name, row.get("path") or None, row.get("kind") or None, text_of(row)]
    if alike:
        parts.append(alike)
    return "mem_" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_ID_HEX_CHARS]


def text_of(row: Mapping[str, JSONValue]) -> str | None:
    """Return the text of an object: the longest that it says; None when it says nothing."""
    texts = (_text(row, key) for key in ("raw", "summary_long", "summary_short", "summary_micro"))
    return next((text for text in texts if text), None)


# Fields -----------------------------------------------------------------------------------------------------------


def kind_of(value: object) -> str:
    """Return in words what sort of JSON a value is."""
    names = {type(None): "null", bool: "true or false", str: "a text", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")


def _bad(key: str, value: object, expected: str) -> InvalidInput:
    return InvalidInput(f"{key} is {kind_of(value)}; it must be {expected}")


def _text(row: Mapping[str, JSONValue], key: str) -> str | None:
    value = row.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _bad(key, value, "a text")
    return value


def time_of(row: Mapping[str, JSONValue], key: str) -> datetime | None:
    """Return a time of an object; raises `InvalidInput`."""
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise _bad(key, value, "a time such as 2026-05-01T12:00:00Z")
    return parse_time(value, key)


def mapping_of(row: Mapping[str, JSONValue], key: str) -> Mapping[str, JSONValue]:
    """Return an object in an object, empty when there is none; raises `InvalidInput`."""
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _bad(key, value, "an object")
    return value


def _flag(row: Mapping[str, JSONValue], key: str) -> bool:
    value = row.get(key)
    if value is not None and not isinstance(value, bool):
        raise _bad(key, value, "true or false")
    return bool(value)


def _number(row: Mapping[str, JSONValue], key: str) -> float | None:
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(key, value, "a number")
    return value


def _words(row: Mapping[str, JSONValue], key: str) -> tuple[str, ...]:
    value = row.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _bad(key, value, "a list of texts")
    return tuple(value)


def _tags(row: Mapping[str, JSONValue], notes: list[str]) -> tuple[str, ...]:
    tags = _words(row, "tags")
    if len(tags) > TAGS_LIMIT:
        raise InvalidInput(f"tags has {len(tags):,} tags; a memory has at most {TAGS_LIMIT:,}")
    unusable = [tag for tag in tags if not slug(tag)]
    if unusable:
        notes.append(f"the tag {unusable[0][:40]!r} has no letter or digit and finds nothing")
    return tuple(tag for tag in tags if tag not in unusable)


def _relevance(row: Mapping[str, JSONValue], notes: list[str]) -> Relevance:
    value = _text(row, "relevance")
    word = (value or Relevance.MEDIUM.value).strip().lower()
    if word in tuple(Relevance):
        return Relevance(word)
    # Document 1 weighs every other word least.
    notes.append(f"the relevance {word[:40]!r} counts as low")
    return Relevance.LOW


def _citations(row: Mapping[str, JSONValue]) -> tuple[Citation, ...]:
    value = row.get("citations")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _bad("citations", value, "a list")
    citations = []
    for at, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise _bad(f"citations[{at}]", item, "an object with 'path'")
        path = _text(item, "path")
        if path is None:
            raise InvalidInput(f"citations[{at}].path is missing")
        citations.append(
            Citation(
                path=path,
                symbol=_text(item, "symbol"),
                content_hash=_text(item, "content_hash"),
                commit=_text(item, "commit"),
                lines=_text(item, "lines"),
                marks=_text(item, "marks"),
                branch=_text(item, "branch"),
            )
        )
    return tuple(citations)


def _turn(row: Mapping[str, JSONValue]) -> Turn | None:
    value = mapping_of(row, "turn")
    if not value:
        return None
    position, names = (
        value.get("position"),
        [_text(value, key) for key in ("conversation", "session", "speaker")],
    )
    if (
        not all(names)
        or isinstance(position, bool)
        or not isinstance(position, int)
        or not 0 <= position < _COUNT_LIMIT
    ):
        raise InvalidInput("turn must have conversation, session, speaker and a position from 0")
    conversation, session, speaker = cast("list[str]", names)
    return Turn(conversation=conversation, session=session, position=position, speaker=speaker)


def _title(row: Mapping[str, JSONValue], cuts: Sequence[Section] | None) -> str | None:
    """Return the title that the text had when it was cut: a chunk without a heading would have got it."""
    title = mapping_of(row, "metadata").get("title")
    if not isinstance(title, str) or not title or any(not cut.heading for cut in cuts or ()):
        return None
    return title


def _spans(row: Mapping[str, JSONValue]) -> tuple[str, ...] | None:
    value = row.get("chunks")
    if value is None:
        return None
    if not isinstance(value, list):
        raise _bad("chunks", value, "a list")
    texts: list[str] = []
    for at, item in enumerate(value):
        if not isinstance(item, Mapping) or not isinstance(item.get("text", ""), str):
            raise _bad(f"chunks[{at}]", item, "an object with 'chunk_id' and 'text'")
        texts.append(item.get("text", ""))
    return tuple(texts)


def _cuts(row: Mapping[str, JSONValue], raw: str) -> tuple[Section, ...] | None:
    """Return the chunks as sections of the text; None when they do not stand in it, which document 1 allows."""
    texts = _spans(row)
    if not texts:
        return None
    value = cast("Sequence[Mapping[str, JSONValue]]", row["chunks"])
    sections = locate(raw, texts)
    places: Sequence[Section | None] = [None] * len(texts) if sections is None else sections
    cuts = [_as_written(raw, place, text, cut) for place, text, cut in zip(places, texts, value, strict=True)]
    whole = [cut for cut in cuts if cut is not None]
    if not whole or any(cut is None for cut in cuts) or _outside(raw, whole).strip():
        return None
    in_order = all(before.start < after.start for before, after in pairwise(whole))
    return tuple(whole) if in_order else None


def _outside(raw: str, cuts: Sequence[Section]) -> str:
    """Return what the chunks leave out; they may overlap."""
    left, at = [], 0
    for cut in cuts:
        left.append(raw[at : cut.start])
        at = max(at, cut.end)
    return "".join([*left, raw[at:]])


def _as_written(raw: str, place: Section | None, text: str, cut: Mapping[str, JSONValue]) -> Section | None:
    """Return the chunk's own place, lines and heading, where the file says them; None when it is not there."""
    start, lines = cut.get("start"), cut.get("lines")
    if type(start) is not int or start < 0:
        if place is None:
            return None
        start = place.start
    if not text or raw[start : start + len(text)] != text:
        return None
    first, last = line_span(raw, start, text)
    if (
        isinstance(lines, list)
        and len(lines) == 2
        and all(type(line) is int and 0 < line < _COUNT_LIMIT for line in lines)
    ):
        first, last = lines
    heading = _text(cut, "heading") or ""
    return Section(start=start, end=start + len(text), first_line=first, last_line=last, heading=heading)
