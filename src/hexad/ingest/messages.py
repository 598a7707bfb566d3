"""`remember` given a list of messages: the turns of a conversation, and what of them should last.

messages ─ turns ─ prepare ─ sentences that should last ─ prepare ─┐ (no lock is held)
                                  ▼
          one transaction: place in the conversation ─ new turns ─ what they say, derived from them and linked to them
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast

from hexad.core.arguments import is_number, listed, parse_time, quoted, require_whole
from hexad.core.clock import format_time
from hexad.core.tracing import log
from hexad.errors import BudgetExceeded, InvalidInput, InvalidMemory, LimitExceeded, ProviderError
from hexad.ingest.sources.conversations import (
    DOCUMENT,
    TIMES,
    content_text,
    document_text,
    with_tool_calls,
)
from hexad.ingest.sources.timestamps import read_time, readings, two_readings
from hexad.ingest.write.extraction.extractor import SpaceGenerator
from hexad.ingest.write.extraction.model_statements import (
    OPERATION,
    ReadStatement,
    build_prompt,
    parse_statements,
)
from hexad.ingest.write.extraction.turn_extraction import CORRECTION, extracts
from hexad.ingest.write.pipeline import Pipeline
from hexad.ingest.write.prepare import PreparedDraft
from hexad.memory.draft import Draft
from hexad.memory.memory import ROLE, TRUST_OF_ROLE, Memory, Outcome, Receipt, Trust, Turn, least_trust
from hexad.memory.store import Stores
from hexad.memory.tables.memories import StoredTurn
from hexad.text.normalize import clean, lone_surrogate, slug
from hexad.text.paths import normalize_path

TURN: Final = "turn"
"""Kind of a turn, and the name under which what was extracted from it has its id."""
DERIVED_FROM: Final = "derived-from"
_INSTRUCTING: Final = frozenset({"system", "developer"})
"""Roles of messages that say how a model is to behave; nobody said them in the conversation."""
_OF_A_TEXT: Final = (
    "kind", "path", "id", "source_id", "pinned", "relevance", "importance", "confidence", "valid_from", "valid_to",
    "subject", "attribute", "value", "citations", "derived_from",
)  # fmt: skip
"""Fields that say something of one text, and cannot hold for all messages of a list."""
_EXAMPLE: Final = '[{"role": "user", "content": "…"}]'
_NAME_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that is a turn. `place` names it for a reader; `speech` is its text without tool calls and results."""

    place: str
    text: str
    speech: str
    speaker: str
    role: str
    trust: Trust
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreparedTurn:
    """A turn that is ready to be stored, and what it says that should last."""

    message: Message
    write: PreparedDraft
    extracts: list[PreparedDraft] = field(default_factory=list)

    def is_stored_as(self, stored: StoredTurn) -> bool:
        """Whether a stored turn is this one; a time counts where the message has one."""
        same = (stored.content_hash, stored.speaker) == (self.write.content_hash, self.message.speaker)
        return same and self.message.time in (None, stored.time)

    def is_of_another(self, stored: StoredTurn) -> bool:
        """Whether a stored turn is none of this one's agent, and not this one."""
        agent = (self.write.draft.metadata or {}).get("agent")
        if not isinstance(agent, str) or stored.agent is None:
            return False
        return agent != stored.agent and not self.is_stored_as(stored)


class MessageIntake:
    """Writes conversations, through the one way in."""

    def __init__(
        self,
        stores: Stores,
        writer: Pipeline,
        generator_for: Callable[[str | None], SpaceGenerator | None],
    ) -> None:
        self._stores, self._writer, self._generator_for = stores, writer, generator_for

    def remember(self, messages: object, options: Draft, *, conversation: str | None = None) -> list[Memory]:
        """Store the turns that are new and what they say that should last; see `Hexad.remember`.

        `options` is what a caller says of all of them; `conversation` None: it is known by how it begins.
        """
        turns = parse_messages(messages)
        for name in _OF_A_TEXT:
            if getattr(options, name) not in (None, ()):
                raise InvalidInput(
                    f"{name} is for a single text; each of these messages is a memory of its own.",
                    argument=name,
                )
        if conversation is not None and not clean(conversation).strip():
            raise InvalidInput(
                "conversation is blank; give its id, or leave it out.", argument="conversation"
            )
        if conversation is not None:
            require_whole(conversation, "conversation")
        self._stores.db.require_writable()
        return self._writer.retried(lambda: self._attempt(turns, options, conversation))

    def harvest(self, turns: Sequence[Memory], kept: Sequence[Memory]) -> list[Memory]:
        """Store what the text generator reads in turns of people that should last, and return what is new.

        `kept` is what the rules read in them. Nothing where no generator is set; where it fails or its budget is used
        up, a warning is logged and the rules' reading stands. What is stored is trusted as an agent's. Call it without
        holding a lock.
        """
        said = [turn for turn in turns if turn.turn is not None and turn.trust is Trust.USER]
        generator = self._generator_for(None)
        if generator is None or not said:
            return []
        texts = [turn.raw for turn in said]
        try:
            reply = generator.generate(
                build_prompt(texts, [memory.raw for memory in kept]), space=said[0].space, operation=OPERATION
            )
        except (ProviderError, BudgetExceeded) as error:
            log.warning("What was said was read by rules alone: %s", error)
            return []
        read = [(said[each.turn], each) for each in parse_statements(reply.text, texts)]
        drafts = [(turn, _harvested(turn, each, reply.model)) for turn, each in read]

        def attempt() -> list[Memory]:
            prepared = [(turn, self._writer.prepare(draft)) for turn, draft in drafts]
            with self._stores.db.transaction():
                self._writer.require_current([write for _, write in prepared])
                made = [(turn, write, self._writer.store([write])[0]) for turn, write in prepared]
                for turn, write, memory in made:
                    no = self._stores.memories.number
                    self._stores.links.put(no(memory.id), no(turn.id), DERIVED_FROM, at=write.now)
            return [memory for _, _, memory in made]

        stored = self._writer.retried(attempt) if drafts else []
        return [
            memory
            for memory in stored
            if memory.receipt is not None and memory.receipt.outcome is Outcome.CREATED
        ]

    def _attempt(self, messages: Sequence[Message], options: Draft, conversation: str | None) -> list[Memory]:
        name = "" if conversation is None else clean(conversation)
        turns = [self._prepared(message, options, conversation=name) for message in messages]
        with self._stores.db.transaction():
            self._writer.require_current([write for turn in turns for write in (turn.write, *turn.extracts)])
            return list(self._stored(turns, options.space, conversation))

    def _prepared(self, message: Message, options: Draft, *, conversation: str) -> _PreparedTurn:
        # Its place in the conversation is known in the transaction; names that hold a secret are refused before.
        draft = replace(
            options,
            text=message.text,
            kind=TURN,
            trust=least_trust([message.trust, options.trust]),
            valid_from=message.time,
            turn=Turn(conversation=conversation, session="", position=0, speaker=message.speaker),
        )
        try:
            write = self._writer.prepare(_with_role(draft, message))
            if message.trust is not Trust.USER or not message.speech.strip():
                return _PreparedTurn(message=message, write=write)  # what a person did not say binds nobody
            # What is read is what was stored, without secrets.
            whole = message.speech == message.text
            speech = write if whole else self._writer.prepare(replace(draft, text=message.speech))
            return _PreparedTurn(
                message=message, write=write, extracts=list(self._extracts(draft, speech.draft.text))
            )
        except (InvalidMemory, LimitExceeded) as error:
            raise type(error)(f"{message.place}: {error}") from error

    def _extracts(self, draft: Draft, text: str) -> Iterator[PreparedDraft]:
        for extract in extracts(text):
            tags = (*(draft.tags or ()), *([CORRECTION] if extract.corrects else []))
            # Gated: said again, it is evidence for what is there, and what a recall handed out is nothing new.
            found = replace(
                draft, text=extract.text, kind=extract.kind, tags=tags or None, turn=None, gated=True
            )
            yield self._writer.prepare(found)

    # Inside the transaction -------------------------------------------------------------------------------------

    def _stored(
        self, turns: Sequence[_PreparedTurn], space: str, conversation: str | None
    ) -> Iterator[Memory]:
        conversation, positions, known = self._place(turns, space, conversation)
        for position, turn in zip(positions, turns, strict=True):
            stored = known.get(position)
            if stored is None:
                yield from self._store(turn, conversation, position)
            else:
                memory = self._stores.memories.by_no([stored.no])[stored.no]
                for each in (memory, *self._made_of(memory)):
                    yield replace(each, receipt=Receipt(outcome=Outcome.UNCHANGED))

    def _made_of(self, turn: Memory) -> list[Memory]:
        """Return what was extracted from a stored turn, as far as the actor may see it."""
        derived = self._stores.memories.by_no(self._stores.derivations.derived([turn.id])).values()
        made = [memory for memory in derived if memory.metadata.get(TURN) == turn.id]
        seen = self._stores.memories.numbers_named([memory.id for memory in made])
        return [memory for memory in made if memory.id in seen]

    def _place(
        self, turns: Sequence[_PreparedTurn], space_name: str, conversation: str | None
    ) -> tuple[str, Sequence[int], dict[int, StoredTurn]]:
        """Return the conversation, the positions of the turns, and the turns of it that are there already."""
        space = self._stores.spaces.find(space_name)
        space_no = None if space is None else space.no
        if conversation is not None:
            conversation = clean(conversation)
            known = self._known(conversation, space_no)
            return conversation, _positions(turns, known), known
        name, beginning = "", hashlib.sha256()
        for turn in turns:
            time = turn.message.time
            parts = [turn.message.speaker, turn.write.content_hash, format_time(time) if time else None]
            beginning.update(json.dumps(parts).encode())
            name = f"messages-{beginning.hexdigest()[:_NAME_DIGITS]}"
            known = self._known(name, space_no)
            if (positions := _continued(turns, known, 0)) is not None:
                return name, positions, known
        return name, range(len(turns)), {}

    def _known(self, conversation: str, space_no: int | None) -> dict[int, StoredTurn]:
        return {} if space_no is None else self._stores.memories.turns_of(conversation, space_no=space_no)

    def _store(self, turn: _PreparedTurn, conversation: str, position: int) -> Iterator[Memory]:
        write, speaker = turn.write, turn.message.speaker
        place = Turn(conversation=conversation, session=conversation, position=position, speaker=speaker)
        draft = replace(write.draft, turn=place, source_id=f"{conversation}/{position}")
        path = normalize_path(f"{slug(write.project or write.home)}/{slug(conversation) or TURN}")
        memory = self._writer.store([write.with_draft(draft, replace(write.meaning, path=path))])[0]
        yield memory
        no = self._stores.memories.number(memory.id)
        for extract in turn.extracts:
            metadata = {
                **(extract.draft.metadata or {}),
                TURN: memory.id,
                "conversation": conversation,
                "speaker": speaker,
            }
            found = replace(extract.draft, derived_from=(memory.id,), metadata=metadata)
            made = self._writer.store([extract.with_draft(found, extract.meaning)])[0]
            self._stores.links.put(self._stores.memories.number(made.id), no, DERIVED_FROM, at=write.now)
            yield made


def _positions(turns: Sequence[_PreparedTurn], known: Mapping[int, StoredTurn]) -> Sequence[int]:
    """Return where turns belong: where they repeat or go on with what is there, else behind it."""
    end = max(known, default=-1) + 1
    found = (_continued(turns, known, at) for at in range(end))
    return next(filter(None, found), range(end, end + len(turns)))


def _continued(
    turns: Sequence[_PreparedTurn], known: Mapping[int, StoredTurn], first: int
) -> list[int] | None:
    """Return the positions of turns that are the stored ones from a position on, as far as there are any; else None.

    A turn that was purged may have been any. What another agent stored in between is passed over: each agent of a
    session has a list of its own.
    """
    positions: list[int] = []
    at, overlaps = first, not known
    for turn in turns:
        while positions and at in known and turn.is_of_another(known[at]):
            at += 1
        if at in known and not turn.is_stored_as(known[at]):
            return None
        overlaps = overlaps or at in known
        positions.append(at)
        at += 1
    return positions if overlaps else None


def _harvested(turn: Memory, statement: ReadStatement, model: str) -> Draft:
    assert turn.turn is not None
    return Draft(
        text=statement.text,
        kind=statement.kind,
        space=turn.space,
        trust=Trust.AGENT,  # a model's reading of it
        valid_from=turn.valid_from,
        gated=True,
        derived_from=(turn.id,),
        data_subjects=turn.data_subjects or None,
        metadata={
            **turn.metadata,
            TURN: turn.id,
            "conversation": turn.turn.conversation,
            "speaker": turn.turn.speaker,
            "read_by": model,
        },
    )


def _with_role(draft: Draft, message: Message) -> Draft:
    """Return the draft of a turn with its role, where the speaker's name does not tell it."""
    if message.speaker.casefold() == message.role:
        return draft
    return replace(draft, metadata={ROLE: message.role, **(draft.metadata or {})})


# Reading ------------------------------------------------------------------------------------------------------------


def parse_messages(messages: object) -> list[Message]:
    """Return the turns among messages; raises `InvalidMemory` naming the place of what is no message.

    >>> [(turn.speaker, turn.text) for turn in parse_messages([{"role": "user", "content": [{"text": "Hi"}]}])]
    [('user', 'Hi')]
    """
    entries = listed(messages)
    if entries is None:
        raise InvalidMemory(
            f"text must be a string, not {quoted(messages)}; or a list of messages such as {_EXAMPLE}.",
            argument="text",
        )
    given = list(entries)
    turns = _turns(given)
    if not given:
        raise InvalidMemory(
            f"The list of messages is empty; give at least one, such as {_EXAMPLE}.", argument="text"
        )
    if not turns:
        raise InvalidMemory(
            "No message says anything: there are only instructions and blank contents.", argument="text"
        )
    return turns


def spoken_turns(messages: object) -> list[Message]:
    """Return the turns among messages, none where nothing was said; raises `InvalidMemory` for what is none."""
    entries = listed(messages)
    if entries is None:
        raise InvalidMemory(
            f"messages = {quoted(messages)} must be a list of messages such as {_EXAMPLE}.",
            argument="messages",
        )
    return _turns(entries)


def _turns(entries: Iterable[object]) -> list[Message]:
    return [turn for at, entry in enumerate(entries) for turn in _message(entry, f"messages[{at}]")]


def _message(entry: object, place: str) -> Iterator[Message]:
    """Yield a message, none for what is no turn: instructions to the model, and what says nothing.

    What a person says beside results of tools or documents, as Anthropic's messages have it, is a turn behind theirs.
    """
    if not isinstance(entry, Mapping):
        raise InvalidMemory(f"{place} must be an object such as {_EXAMPLE[1:-1]}, not {quoted(entry)}.")
    role = entry.get("role")
    if not isinstance(role, str):
        raise InvalidMemory(f"{place}.role must be a string, such as 'user', not {quoted(role)}.")
    known = role.casefold()
    if known not in TRUST_OF_ROLE and known not in _INSTRUCTING:
        roles = ", ".join([*TRUST_OF_ROLE, *sorted(_INSTRUCTING)])
        raise InvalidMemory(f"{place}.role = {quoted(role)} is not one of {roles}.")
    name = entry.get("name")
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise InvalidMemory(f"{place}.name must be a string that is not blank, not {quoted(name)}.")
    content, time = _content(entry, place), _time(entry, place)
    if (at := lone_surrogate(content_text(content))) is not None:
        raise InvalidMemory(
            f"{place}.content holds half a character after {at:,} others; give whole characters."
        )
    text = clean(with_tool_calls(content_text(content), entry))
    if known in _INSTRUCTING or not text.strip():
        return
    whole = Message(
        place=place,
        text=text,
        speech=clean(content_text(_speech(content))),
        speaker=clean(name or role),
        role=known,
        trust=TRUST_OF_ROLE[known],
        time=time,
    )
    results = [part for part in content if _is_result(part)] if isinstance(content, list) else []
    if not results:
        yield whole
        return
    said = clean(content_text([part for part in cast("list[object]", content) if not _is_result(part)]))
    of_tools = clean(content_text(results)) if said.strip() else text
    if of_tools.strip():
        yield replace(whole, text=of_tools, speech="", trust=Trust.TOOL)
    if said.strip():
        yield replace(whole, text=said)


def _content(entry: Mapping[str, object], place: str) -> object:
    """Return a message's content, checked; "" where it only calls tools."""
    content = entry.get("content")
    if content is None:
        if entry.get("tool_calls"):
            return ""
        raise InvalidMemory(f"{place} has no content; give a string, or a list of parts with text.")
    if isinstance(content, str):
        return content
    parts = listed(content)
    if parts is None:
        raise InvalidMemory(f"{place}.content must be a string or a list of parts, not {quoted(content)}.")
    parts = list(parts)
    for at, part in enumerate(parts):
        if not isinstance(part, str | Mapping):
            raise InvalidMemory(f"{place}.content[{at}] must be an object with text, not {quoted(part)}.")
    return parts


def _speech(content: object) -> object:
    """Return what of a content its author says: without calls of tools, their results, and files."""
    if not isinstance(content, list):
        return content
    return [part for part in content if isinstance(part, str) or isinstance(part.get("text"), str)]


def _is_result(part: object) -> bool:
    """Whether a part is what a tool gave back, or a document: whoever hands it over does not say what it says."""
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    return kind == "tool_result" or (kind == DOCUMENT and document_text(part) != "")


def _time(entry: Mapping[str, object], place: str) -> datetime | None:
    name = next((name for name in TIMES if entry.get(name) is not None), None)
    if name is None:
        return None
    value = entry[name]
    if is_number(value):
        time = read_time(value)
        if time is None:
            raise InvalidMemory(f"{place}.{name} = {quoted(value)} is outside the years 1 to 9999.")
        return time
    found = readings(value)
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise InvalidMemory(f"{place}.{name}: {two_readings(value, found)}; use ISO 8601.")
    try:
        return parse_time(value, f"{place}.{name}")
    except InvalidInput as error:
        raise InvalidMemory(str(error)) from error
