"""Document 1's two ways in: `remember_structured` takes a record as it is, `remember_raw` infers what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypedDict, cast

from hexad.core.arguments import parse_choice, parse_time, shown, word_list
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, InvalidMemory
from hexad.ingest.structured.memory_object import parse_object, parse_payload
from hexad.memory.draft import Draft, Extract, MemoryWriter
from hexad.memory.memory import Memory, Relevance, Trust

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


class Intake:
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
                raise InvalidMemory(f"The {name} {shown(value)!r} is no text; give a string.")
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


class _Options:
    """Options as keywords and as document 1's JSON text; a keyword wins. None means not given."""

    def __init__(
        self,
        options: OptionsText,
        given: StructuredOptions | RawOptions,
        *,
        known: Mapping[str, object],
        call: str,
    ) -> None:
        written = parse_object(options, f"options of {call}") if options is not None else {}
        self._values: dict[str, object] = {**written, **given}
        unknown = sorted(set(self._values) - set(known), key=str)
        if unknown:
            raise InvalidInput(f"Unknown option {unknown[0]!r} of {call}; known are {', '.join(known)}.")

    @staticmethod
    def _bad(name: str, value: object, remedy: str) -> InvalidInput:
        return InvalidInput(f"{name} = {shown(value)!r} cannot be used; {remedy}.")

    def text(self, name: str) -> str | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self._bad(name, value, "give a text, or leave it out")
        return value

    def model(self) -> str | None:
        value = self.text("model")
        if value is not None and (len(value) > _MODEL_CHARACTERS or not value.isprintable()):
            raise self._bad("model", value, "give a model's name, such as 'openai:gpt-4o-mini'")
        return value

    def words(self, name: str) -> tuple[str, ...] | None:
        value = self._values.get(name)
        if value is None:
            return None
        words = word_list(value, name) if isinstance(value, list | tuple | str | set) else None
        if words is None or not all(isinstance(word, str) for word in words):
            raise self._bad(name, value, "give a list of strings")
        return words

    def mapping(self, name: str) -> Mapping[str, JSONValue] | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise self._bad(name, value, "give an object")
        return value

    def flag(self, name: str) -> bool | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._bad(name, value, "give true or false")
        return value

    def number(self, name: str, *, least: float, most: float) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self._bad(name, value, f"give a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._bad(name, value, f"give a whole number from {least:,} to {most:,}")
        return value

    def time(self, name: str) -> datetime | None:
        return parse_time(cast("datetime | str | None", self._values.get(name)), name)
