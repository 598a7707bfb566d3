"""Pydantic AI over a Hexad store (extra `pydantic-ai`): a memory for agents, and a store of conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from hexad.core.arguments import parse_name, parse_whole, quoted, value_list
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.ingest.messages import TURN
from hexad.integrations.agent_memory import MAX_TOKENS, AgentMemory, storing_memory_of
from hexad.integrations.open_store import in_thread, require_open_store
from hexad.integrations.turns import HELD_BACK, TRUSTED_AS, space_for
from hexad.memory.draft import DEFAULT_SPACE, Draft
from hexad.memory.memory import Memory, Status, Trust, Turn

try:
    from pydantic import TypeAdapter
    from pydantic_ai import messages as said
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
    from pydantic_ai.tools import RunContext
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.pydantic_ai needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[pydantic-ai]'."
    ) from error

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult

    from hexad.engine import Hexad

__all__ = ["HexadConversationStore", "HexadMemory"]

_FIELD: Final = "pydantic_ai"
_CONVERSATION: Final = "conversation"
_RECORDS: Final = TypeAdapter(ConversationRecord)
_WORDED: Final = (
    said.UserPromptPart,
    said.ToolReturnPart,
    said.RetryPromptPart,
    said.TextPart,
    said.ThinkingPart,
)


@dataclass
class HexadMemory(AbstractCapability[Any]):
    """What an agent knows from earlier runs: `Agent(…, capabilities=[HexadMemory(hx, user="ada")])`.

    Each request of a run is given what the store knows of its last message, within `max_tokens`, before that message
    and as a message of its own: memories are data, and no instructions. It is sent and not kept in the history. When a
    run has ended, its turns are stored, and what they say that should last: facts, decisions, preferences
    (`hexad.AgentMemory`). `user` and `agent` are whose and by whom, as there; `session` is the conversation, which by
    default is the run's `conversation_id`. The store works in a thread.
    """

    store: Hexad
    _: KW_ONLY
    user: str | None = None
    agent: str = "agent"
    session: str | None = None
    max_tokens: int = MAX_TOKENS
    id: str | None = "hexad_memory"
    _memory: AgentMemory | None = field(default=None, init=False, repr=False)
    _context: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for anything but an open store, and for a name that cannot be used.

        Raises `StorageFailure` for a store that was opened read-only, `AccessDenied` for a space that is not open.
        """
        require_open_store(self.store, by="HexadMemory")
        if self.id is not None:
            parse_name(self.id, "id")
        self._made("capability")

    async def for_run(self, ctx: RunContext[Any]) -> HexadMemory:
        """Return the memory of one run, which others at the same time do not disturb."""
        mine = replace(self)
        mine._memory = await asyncio.to_thread(self._made, ctx.conversation_id)
        return mine

    async def before_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - the framework's
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Put what is known before the message that is answered; it is asked for once a run."""
        memory, messages = self._memory, request_context.messages
        asked = next((at for at in reversed(range(len(messages))) if _asks(messages[at])), None)
        if memory is None or asked is None:
            return request_context
        if self._context is None:
            turns = list(_spoken(messages))  # none where the run begins with a picture
            found = await asyncio.to_thread(memory.before_step, turns) if turns else None
            self._context = found.render() if found else ""
        if not self._context:
            return request_context
        known = said.ModelRequest(parts=[said.UserPromptPart(content=self._context)])
        return replace(request_context, messages=[*messages[:asked], known, *messages[asked:]])

    async def after_run(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - the framework's
        *,
        result: AgentRunResult[Any],
    ) -> AgentRunResult[Any]:
        """Store what was said in the run that ended."""
        if self._memory is not None and (turns := list(_spoken(result.new_messages()))):
            await asyncio.to_thread(self._memory.after_step, turns, added=True)
        return result

    def _made(self, conversation: str | None) -> AgentMemory:
        memory = AgentMemory(
            self.store,
            agent=self.agent,
            user=self.user,
            session=conversation if self.session is None else self.session,
            max_tokens=self.max_tokens,
        )
        return storing_memory_of(memory, "HexadMemory")


def _asks(message: said.ModelMessage) -> bool:
    return isinstance(message, said.ModelRequest) and any(
        isinstance(part, said.UserPromptPart) for part in message.parts
    )


def _spoken(messages: Sequence[said.ModelMessage]) -> Iterator[dict[str, Any]]:
    """Yield what was said as messages of chat models; what a system prompt says is nobody's memory."""
    for message in messages:
        if isinstance(message, said.ModelRequest):
            for part in message.parts:
                if isinstance(part, said.UserPromptPart):
                    if (text := _words(part.content)).strip():
                        yield {"role": "user", "content": text}
                elif isinstance(part, said.ToolReturnPart):
                    yield {"role": "tool", "name": part.tool_name, "content": part.model_response_str()}
        else:
            text = "".join(part.content for part in message.parts if isinstance(part, said.TextPart))
            calls = [part for part in message.parts if isinstance(part, said.ToolCallPart)]
            if text.strip():
                yield {"role": "assistant", "content": text}
            elif calls:
                called = ", ".join(f"{call.tool_name}({call.args_as_json_str()})" for call in calls)
                yield {"role": "assistant", "content": called}


def _words(content: object) -> str:
    """Return the texts of a prompt; pictures and files have none."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(filter(None, map(_words, content)))
    text = getattr(content, "content", None)
    return text if isinstance(text, str) else ""


class HexadConversationStore(ConversationStore):
    """Conversations with their branches and forks: `UIAdapter(…, conversation_store=HexadConversationStore(hx))`.

    A message is a turn that recalls find, stored once however many branches and forks hold it. Turns pass redaction and
    the gate as every memory does: a secret comes back as its placeholder, and a message that a review holds back
    without its words. They are about `user`, or else the scope that the conversation was saved with, so that
    `hx.forget(subject=…)` erases them; `hx.forget(session=conversation_id, …)` erases a conversation. What `delete`
    takes is archived. The store works in a thread; threads and programs may share it.
    """

    def __init__(self, store: Hexad, *, space: str | None = None, user: str | None = None) -> None:
        """Raise `InvalidInput` for anything but an open store, and for a name that cannot be used.

        Conversations are in `space`; without one in the user's own, and in `default`, which all users share, without
        both.
        """
        self._hx = require_open_store(store, by="HexadConversationStore")
        self._space, self._user = DEFAULT_SPACE, None if user is None else parse_name(user, "user")
        there = {made.name for made in self._hx.spaces.list()}
        self._space = space_for(
            self._user, space, shared=lambda: self._conversations() if DEFAULT_SPACE in there else ()
        )
        if not self._hx._services.db.readonly and self._space not in there:
            with suppress(Conflict):  # another program was first
                self._hx.spaces.create(self._space)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return what is kept of a conversation besides its messages; None where there is none."""
        return await in_thread(lambda: self._record(conversation_id))

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return the conversations of a scope, or all, the last saved first."""
        if scope is not None:
            parse_name(scope, "scope")
        _require_limit(limit)
        records = await in_thread(self._records)
        chosen = [record for record in records if scope is None or record.scope == scope]
        return sorted(chosen, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and the messages that are new in one transaction, durably.

        Raises `ConversationConflict` where somebody else changed the conversation, and then changes nothing.
        """
        entries = value_list(new_entries, "new_entries", of="entries")
        for name, kind, given in (
            ("record", ConversationRecord, [record]),
            ("new_entries", ConversationEntry, entries),
        ):
            for each in given:
                if not isinstance(each, kind):
                    raise InvalidInput(
                        f"{name} has {quoted(each)}; give the framework's {kind.__name__}.", argument=name
                    )
        await in_thread(lambda: self._write(record, entries, expected_revision))

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Archive a conversation and those of its messages that no fork of it has.

        Raises `ConversationConflict` where somebody else changed it.
        """
        await in_thread(lambda: self._delete(conversation_id, expected_revision))

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return the entry of this id; raises `LookupError` where there is none."""
        memory = await in_thread(lambda: self._memory(self._id(TURN, entry_id)))
        if memory is None:
            raise LookupError(f"No message of the store has the id {entry_id!r}.")
        return _entry(memory)

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Return the entries up to one, or the last of them; a message that was forgotten is left out.

        It begins after a message that was erased.
        """
        _require_limit(limit)
        return await in_thread(lambda: self._history(head_id, limit))

    # In a thread ------------------------------------------------------------------------------------------------

    def _id(self, kind: str, name: str) -> str:
        parse_name(name, "entry_id" if kind == TURN else "conversation_id")
        named = json.dumps([self._space, _FIELD, name]).encode()
        return f"{kind}_{blake2b(named, digest_size=16).hexdigest()}"

    def _memory(self, memory_id: str) -> Memory | None:
        try:
            memory = self._hx._services.stores.memories.get(memory_id)
        except NotFound:
            return None
        return memory if isinstance(memory.metadata.get(_FIELD), dict) else None

    def _record(self, conversation_id: str) -> ConversationRecord | None:
        memory = self._memory(self._id(_CONVERSATION, conversation_id))
        if memory is None or memory.status is Status.ARCHIVED:
            return None
        return _RECORDS.validate_python(memory.metadata[_FIELD])

    def _conversations(self) -> Sequence[Memory]:
        return self._hx.memories(space=self._space, kinds=[_CONVERSATION], limit=None)

    def _records(self) -> list[ConversationRecord]:
        found = self._conversations()
        return [_RECORDS.validate_python(each.metadata[_FIELD]) for each in found if _FIELD in each.metadata]

    def _history(self, head_id: str | None, limit: int | None = None) -> list[ConversationEntry]:
        entries: list[ConversationEntry] = []
        with self._hx._services.db.read():
            while head_id is not None and (limit is None or len(entries) < limit):
                memory = self._memory(self._id(TURN, head_id))
                if memory is None:
                    break
                entry = _entry(memory)
                if memory.status is not Status.ARCHIVED:
                    entries.append(entry)
                head_id = entry.parent_id
        return entries[::-1]

    def _write(
        self, record: ConversationRecord, entries: Sequence[ConversationEntry], expected: str | None
    ) -> None:
        services = self._hx._services
        services.handouts.flush()
        writer = services.ingest().writer
        if record.scope is not None:
            parse_name(record.scope, "scope")
        subject = self._user or record.scope
        subjects = None if subject is None else (subject,)
        drafts = [self._draft(record, entry, subjects) for entry in entries]
        new = {entry.id for entry in entries}

        def attempt() -> list[Memory]:
            prepared = [writer.prepare(draft) for draft in (*drafts, self._record_draft(record, subjects))]
            with services.db.transaction():
                stored, head = self._record(record.conversation_id), record.head_id
                if (None if stored is None else stored.revision) != expected:
                    raise ConversationConflict(record.conversation_id)
                if head is not None and head not in new and not self._has(head):
                    raise ConversationConflict(record.conversation_id)
                writer.require_current(prepared)
                first = max(self._positions(record.conversation_id), default=-1) + 1
                placed = []
                for position, write in enumerate(prepared[:-1], first):
                    assert write.draft.turn is not None
                    turn = replace(write.draft.turn, position=position)
                    placed.append(write.with_draft(replace(write.draft, turn=turn), write.meaning))
                return writer.store([*placed, prepared[-1]])

        writer.retried(attempt)
        services.wake()

    def _has(self, entry_id: str) -> bool:
        memory = self._memory(self._id(TURN, entry_id))
        return memory is not None and memory.status is not Status.ARCHIVED

    def _positions(self, conversation_id: str) -> dict[int, Any]:
        stores = self._hx._services.stores
        space = stores.spaces.find(self._space)
        return {} if space is None else dict(stores.memories.turns_of(conversation_id, space_no=space.no))

    def _draft(
        self, record: ConversationRecord, entry: ConversationEntry, subjects: tuple[str, ...] | None
    ) -> Draft:
        spoken = [*_spoken([entry.message])]
        roles = {message["role"] for message in spoken}
        speaker = next((role for role in ("tool", "user") if role in roles), "assistant")
        message = json.loads(said.ModelMessagesTypeAdapter.dump_json([entry.message]))[0]
        conversation = record.conversation_id
        return Draft(
            id=self._id(TURN, entry.id),
            text="\n".join(message["content"] for message in spoken) or f"({entry.message.kind})",
            kind=TURN,
            space=self._space,
            trust=TRUSTED_AS.get(speaker, Trust.AGENT),
            turn=Turn(conversation=conversation, session=conversation, position=0, speaker=speaker),
            data_subjects=subjects,
            metadata={_FIELD: {"id": entry.id, "parent_id": entry.parent_id, "message": message}},
        )

    def _record_draft(self, record: ConversationRecord, subjects: tuple[str, ...] | None) -> Draft:
        """Return the record as a memory of the conversation's session, and no turn of its conversation."""
        own = record.conversation_id
        return Draft(
            id=self._id(_CONVERSATION, own),
            text=f"Conversation {own}",
            kind=_CONVERSATION,
            space=self._space,
            trust=Trust.AGENT,
            turn=Turn(conversation=f"{own} (record)", session=own, position=0, speaker="store"),
            data_subjects=subjects,
            metadata={_FIELD: _RECORDS.dump_python(record, mode="json")},
        )

    def _delete(self, conversation_id: str, expected: str) -> None:
        with self._hx._services.db.transaction():
            record = self._record(conversation_id)
            if record is None or record.revision != expected:
                raise ConversationConflict(conversation_id)
            others = [each for each in self._records() if each.conversation_id != conversation_id]
            there = {each.conversation_id for each in others}
            used = {id for each in others if each.forked_from is not None for id in self._reached(each)}
            for memory_id in self._reached(record) - used:
                memory = self._memory(memory_id)
                if memory is not None and memory.turn is not None and memory.turn.conversation not in there:
                    self._hx.forget(memory_id)
            self._hx.forget(self._id(_CONVERSATION, conversation_id))

    def _reached(self, record: ConversationRecord) -> set[str]:
        """Return the ids of the memories of a conversation's history and of the branches that it left."""
        return {
            self._id(TURN, entry.id)
            for head in (record.head_id, *record.branches)
            for entry in self._history(head)
        }


def _require_limit(limit: int | None) -> None:
    if limit is not None:
        parse_whole(limit, "limit", least=0)


def _entry(memory: Memory) -> ConversationEntry:
    stored = memory.metadata[_FIELD]
    assert isinstance(stored, dict), memory.id
    message: Any
    (message,) = said.ModelMessagesTypeAdapter.validate_json(json.dumps([stored["message"]]))
    if memory.status is Status.QUARANTINED:
        parts = [
            replace(part, content=HELD_BACK) if isinstance(part, _WORDED) else part for part in message.parts
        ]
        message = replace(message, parts=parts)
    parent = stored["parent_id"]
    return ConversationEntry(
        id=str(stored["id"]), parent_id=None if parent is None else str(parent), message=message
    )
