"""Document 1's two ways in: `remember_structured` takes a record as it is, `remember_raw` infers what is open."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypedDict, TypeVar

from hexad.core.arguments import is_number, is_whole, parse_choice, parse_time, quoted, word_list
from hexad.core.json_types import JSONValue
from hexad.errors import Conflict, InvalidInput, InvalidMemory, LimitExceeded
from hexad.memory.draft import Draft, Extract, MemoryWriter
from hexad.memory.memory import CITATION_FIELDS, Citation, Memory, Relevance, Status, Trust, Turn

PAYLOAD_CHARACTERS_LIMIT: Final = 8 << 20
KNOWN: Final = (
    "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
    "pinned", "chunks", "created_at", "updated_at", "space", "importance", "confidence", "last_used_at", "valid_from",
    "valid_to", "supersedes", "trust", "status", "citations", "subject", "attribute", "value", "data_subjects",
    "source", "source_id", "turn", "evidence",
)  # fmt: skip
"""Keys of a payload: document 1's, then Hexad's own. `last_used_at` and `evidence` are the store's own counts: they
may stand there, as `Memory.to_dict` writes them, and change nothing."""
_CHUNK_KEYS: Final = frozenset({"chunk_id", "text", "heading", "start", "lines"})
_FROM_SUMMARY: Final = ("summary_long", "summary_short", "summary_micro")
_MOST_POSITION: Final = 2**53
_HALF: Final = re.compile("[\ud800-\udfff]")
_T = TypeVar("_T", Relevance, Status, Trust)


def parse_payload(space: str, payload: Mapping[str, JSONValue] | str) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft of a payload, and what is to be told about it.

    A payload without `raw` gets its longest summary as text. Raises `InvalidMemory` naming the field, or line and
    column of what is no JSON; `Conflict` for a payload of another space.
    """
    fields = _Fields(parse_object(payload, "memory payload"))
    unknown = sorted(set(fields.values) - set(KNOWN), key=str)
    if unknown:
        raise InvalidMemory(
            f"Invalid memory payload: unknown key {unknown[0]!r}; known are {', '.join(KNOWN)}. What is your own "
            "belongs into metadata."
        )
    own = fields.text("space")
    if own is not None and own != space:
        raise Conflict(
            f"The payload is of space {own!r}, not of {space!r}; leave out 'space', or write to that space."
        )
    text, notes = _raw(fields)
    draft = Draft(
        text=text,
        space=space,
        kind=fields.text("kind"),
        path=fields.text("path"),
        id=fields.text("id"),
        summary_micro=fields.text("summary_micro"),
        summary_short=fields.text("summary_short"),
        summary_long=fields.text("summary_long"),
        tags=fields.words("tags"),
        metadata=fields.mapping("metadata"),
        relevance=fields.choice(Relevance, "relevance"),
        pinned=fields.flag("pinned"),
        spans=_spans(fields),
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        importance=fields.number("importance"),
        confidence=fields.number("confidence"),
        valid_from=fields.time("valid_from"),
        valid_to=fields.time("valid_to"),
        supersedes=fields.text("supersedes"),
        trust=fields.choice(Trust, "trust") or Trust.USER,
        status=fields.choice(Status, "status"),
        citations=_citations(fields),
        subject=fields.text("subject"),
        attribute=fields.text("attribute"),
        value=fields.values.get("value"),
        data_subjects=fields.subjects(),
        source=fields.name("source"),
        source_id=fields.text("source_id"),
        turn=_turn(fields),
        structured=True,
    )
    if draft.source is not None and draft.source_id is None:
        raise fields.bad(
            "source", draft.source, "give source_id with it, which says what of the source this is"
        )
    return draft, notes


def parse_object(payload: Mapping[str, JSONValue] | str, what: str) -> Mapping[str, JSONValue]:
    """Return a mapping, or the object of a JSON text; raises `InvalidMemory` naming line and column."""
    if isinstance(payload, Mapping):
        return payload
    if not isinstance(payload, str):
        raise InvalidMemory(f"Invalid {what}: {quoted(payload)} is neither an object nor a JSON text.")
    if len(payload) > PAYLOAD_CHARACTERS_LIMIT:
        raise LimitExceeded(
            f"The {what} has {len(payload):,} characters; at most {PAYLOAD_CHARACTERS_LIMIT:,} are read."
        )
    try:
        value = json.loads(payload, object_pairs_hook=_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise InvalidMemory(
            f"Invalid {what}: line {error.lineno}, column {error.colno}: {error.msg}. Give one JSON object, such as "
            '{"raw": "Ship on Monday."}.'
        ) from error
    except (_RefusedField, RecursionError) as error:
        reason = str(error) if isinstance(error, _RefusedField) else "it is nested too deeply"
        raise InvalidMemory(f"Invalid {what}: {reason}.") from error
    except ValueError as error:  # what is left of them: Python reads no number of over 4,300 digits
        raise InvalidMemory(f"Invalid {what}: it holds a number that is too long; shorten it.") from error
    if not isinstance(value, Mapping):
        raise InvalidMemory(f'Invalid {what}: {payload[:80]!r} is no JSON object; write {{"name": value}}.')
    return value


class _RefusedField(Exception):
    """Something that JSON readers take and no memory can hold."""


def _once(pairs: Sequence[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise _RefusedField(f"the key {twice!r} stands there twice; leave out one of the two")
    return members


def _refuse(constant: str) -> JSONValue:
    raise _RefusedField(f"{constant} is no number of JSON; give a number, or null")


class _Named(ABC):
    """Values by name and by type; None means not given."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    @staticmethod
    @abstractmethod
    def bad(name: str, value: object, remedy: str) -> InvalidInput:
        """Return what is raised for a value that cannot be used."""

    def mapping(self, name: str) -> Mapping[str, JSONValue] | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise self.bad(name, value, "give an object")
        return value

    def flag(self, name: str) -> bool | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.bad(name, value, "give true or false")
        return value


class _Fields(_Named):
    """The fields of a payload."""

    @staticmethod
    def bad(name: str, value: object, remedy: str) -> InvalidMemory:
        return InvalidMemory(f"Invalid memory payload: {name} = {quoted(value)} cannot be used; {remedy}.")

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise self.bad(name, value, "give a string, or leave it out")
        return value

    def name(self, name: str) -> str | None:
        """Return a text by which something is known: it is stored as it is, or not at all."""
        value = self.text(name)
        if value is not None and _HALF.search(value):
            raise self.bad(name, value, "it holds half a surrogate pair; give whole characters")
        return value

    def subjects(self) -> tuple[str, ...] | None:
        """Return the people whose data it is; one who has no name nobody could ask for."""
        words = self.names("data_subjects")
        for word in words or ():
            if not word.strip():
                raise self.bad("data_subjects", word, "it names nobody")
        return words

    def names(self, name: str) -> tuple[str, ...] | None:
        words = self.words(name)
        for word in words or ():
            if _HALF.search(word):
                raise self.bad(name, word, "it holds half a surrogate pair; give whole characters")
        return words

    def words(self, name: str) -> tuple[str, ...] | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise self.bad(name, value, "give a list of strings")
        return tuple(value)

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.bad(name, value, "give a number between 0 and 1")
        if not 0 <= value <= 1:  # asked of the number itself: a float cannot hold every one of JSON
            raise self.bad(name, value, "it is not between 0 and 1")
        return float(value)

    def time(self, name: str) -> datetime | None:
        try:
            return parse_time(self.values.get(name), name)
        except InvalidInput as error:
            raise InvalidMemory(f"Invalid memory payload: {error}") from error

    def choice(self, kind: type[_T], name: str) -> _T | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            return parse_choice(kind, value.strip().lower(), name)
        except InvalidInput as error:
            raise InvalidMemory(f"Invalid memory payload: {error}") from error

    def objects(self, name: str) -> Sequence[Mapping[str, JSONValue]] | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
            raise self.bad(name, value, "give a list of objects")
        return value


def _raw(fields: _Fields) -> tuple[str, tuple[str, ...]]:
    text = fields.text("raw")
    if text is not None and text.strip():
        return text, ()
    for name in _FROM_SUMMARY:
        summary = fields.text(name)
        if summary is not None and summary.strip():
            return summary, (f"There is no raw; {name} was taken for it.",)
    raise InvalidMemory(
        "Invalid memory payload: raw is missing or blank, and so are the summaries; give the text."
    )


def _spans(fields: _Fields) -> tuple[str, ...] | None:
    chunks = fields.objects("chunks")
    if not chunks:
        return None
    texts: list[str] = []
    for at, chunk in enumerate(chunks):
        unknown = sorted(set(chunk) - _CHUNK_KEYS, key=str)
        text = chunk.get("text")
        if unknown or not isinstance(text, str):
            raise fields.bad(f"chunks[{at}]", dict(chunk), "a chunk has chunk_id and text, which is a string")
        texts.append(text)
    return tuple(texts)


def _citations(record: _Fields) -> tuple[Citation, ...] | None:
    rows = record.objects("citations")
    if rows is None:
        return None
    citations: list[Citation] = []
    for at, row in enumerate(rows):
        fields = _Fields(row)
        unknown = sorted(set(row) - set(CITATION_FIELDS), key=str)
        path = fields.name("path")
        if unknown or not path:
            raise record.bad(f"citations[{at}]", dict(row), f"a citation has {', '.join(CITATION_FIELDS)}")
        citations.append(
            Citation(
                path=path,
                symbol=fields.name("symbol"),
                content_hash=fields.name("content_hash"),
                commit=fields.name("commit"),
                lines=fields.name("lines"),
                marks=fields.name("marks"),
                branch=fields.name("branch"),
            )
        )
    return tuple(citations)


def _turn(record: _Fields) -> Turn | None:
    row = record.mapping("turn")
    if row is None:
        return None
    fields = _Fields(row)
    conversation, session, speaker = map(fields.name, ("conversation", "session", "speaker"))
    position = row.get("position")
    if (
        not conversation
        or not session
        or not speaker
        or not is_whole(position, -_MOST_POSITION, _MOST_POSITION)
    ):
        raise record.bad(
            "turn", dict(row), "a turn has conversation, session, position (a number) and speaker"
        )
    return Turn(conversation=conversation, session=session, position=position, speaker=speaker)


TEMPERATURE_MOST: Final = 2.0
MAX_TOKENS_MOST: Final = 200_000
_MODEL_CHARACTERS: Final = 200


class StructuredOptions(TypedDict, total=False):
    """Options of `remember_structured`."""

    project: str | None
    freeze_clock: datetime | str | None


class RawOptions(TypedDict, total=False):
    """Options of `remember_raw`."""

    model: str | None
    temperature: float | None
    max_tokens: int | None
    path_hint: str | None
    project: str | None
    topic: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, JSONValue] | None
    auto_pin: bool | None
    relevance: str | None
    trust: str
    id: str | None
    source_id: str | None
    strict: bool
    refresh: bool
    freeze_clock: datetime | str | None


OptionsText = Mapping[str, JSONValue] | str | None


class StructuredIntake:
    """Turns the calls of document 1 into drafts, and hands those to the one way in."""

    def __init__(self, writer: MemoryWriter) -> None:
        self._writer = writer

    def structured(
        self,
        space: str,
        payload: Mapping[str, JSONValue] | str,
        options: OptionsText,
        given: StructuredOptions,
    ) -> Memory:
        """Store a record as a caller made it; see `Hexad.remember_structured`."""
        chosen = _Options(options, given, known=StructuredOptions.__annotations__, call="remember_structured")
        draft, notes = parse_payload(space, payload)
        draft = replace(draft, project=chosen.text("project"), now=chosen.time("freeze_clock"))
        memory = self._writer.write([draft])[0]
        assert memory.receipt is not None
        return replace(memory, receipt=replace(memory.receipt, notes=(*notes, *memory.receipt.notes)))

    def raw(self, space: str, kind: str, raw: str, options: OptionsText, given: RawOptions) -> Memory:
        """Store a text and infer what is open; see `Hexad.remember_raw`."""
        chosen = _Options(options, given, known=RawOptions.__annotations__, call="remember_raw")
        for name, value in (("kind", kind), ("raw", raw)):
            if not isinstance(value, str):
                raise InvalidMemory(f"{name} must be a string, not {quoted(value)}.", argument=name)
        auto_pin = chosen.flag("auto_pin")
        relevance, trust = chosen.text("relevance"), chosen.text("trust")
        draft = Draft(
            text=raw,
            space=space,
            kind=kind,
            id=chosen.text("id"),
            source_id=chosen.text("source_id"),
            tags=chosen.words("tags"),
            metadata=chosen.mapping("metadata"),
            project=chosen.text("project"),
            relevance=None if relevance is None else parse_choice(Relevance, relevance, "relevance"),
            trust=Trust.USER if trust is None else parse_choice(Trust, trust, "trust"),
            pinned=auto_pin or None,  # False only keeps rules and models from pinning
            now=chosen.time("freeze_clock"),
            extract=Extract(
                model=chosen.model(),
                temperature=chosen.number("temperature", least=0.0, most=TEMPERATURE_MOST),
                max_tokens=chosen.whole("max_tokens", least=1, most=MAX_TOKENS_MOST),
                path_hint=chosen.text("path_hint"),
                topic=chosen.text("topic"),
                auto_pin=auto_pin,
                strict=chosen.flag("strict") or False,
                refresh=chosen.flag("refresh") or False,
            ),
        )
        return self._writer.write([draft])[0]


class _Options(_Named):
    """Options as keywords and as document 1's JSON text; a keyword wins."""

    def __init__(
        self,
        options: OptionsText,
        values: StructuredOptions | RawOptions,
        *,
        known: Mapping[str, object],
        call: str,
    ) -> None:
        written = parse_object(options, f"options of {call}") if options is not None else {}
        super().__init__({**written, **values})
        unknown = sorted(set(self.values) - set(known), key=str)
        if unknown:
            raise InvalidInput(f"Unknown option {unknown[0]!r} of {call}; known are {', '.join(known)}.")

    @staticmethod
    def bad(name: str, value: object, remedy: str) -> InvalidInput:
        return InvalidInput(f"{name} = {quoted(value)} cannot be used; {remedy}.")

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.bad(name, value, "give a text, or leave it out")
        return value

    def model(self) -> str | None:
        value = self.text("model")
        if value is not None and (len(value) > _MODEL_CHARACTERS or not value.isprintable()):
            raise self.bad("model", value, "give a model's name, such as 'openai:gpt-4o-mini'")
        return value

    def words(self, name: str) -> tuple[str, ...] | None:
        value = self.values.get(name)
        if value is None:
            return None
        words = word_list(value, name) if isinstance(value, list | tuple | str | set) else None
        if words is None or not all(isinstance(word, str) for word in words):
            raise self.bad(name, value, "give a list of strings")
        return words

    def number(self, name: str, *, least: float, most: float) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not is_number(value, least, most):
            raise self.bad(name, value, f"give a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not is_whole(value, least, most):
            raise self.bad(name, value, f"give a whole number from {least:,} to {most:,}")
        return value

    def time(self, name: str) -> datetime | None:
        return parse_time(self.values.get(name), name)
