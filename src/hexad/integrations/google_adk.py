"""A memory service of Google's Agent Development Kit over a Hexad store (extra `google-adk`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hexad.core.arguments import parse_name, quoted, value_list
from hexad.core.prompt_fence import defused
from hexad.errors import AccessDenied, InvalidInput, NotFound
from hexad.ingest.messages import TURN, parse_messages
from hexad.integrations.agent_memory import MAX_TOKENS, AgentMemory, memory_of, parse_max_tokens
from hexad.integrations.open_store import in_thread, require_open_store
from hexad.memory.memory import Memory, Trust
from hexad.text.summary.summarize import compressed

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.google_adk needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[google-adk]'."
    ) from error

if TYPE_CHECKING:
    from hexad.engine import Hexad

__all__ = ["HexadMemoryService"]

_USER = "user"
_QUERY_CHARS = 2_000  # a longer query is asked by its own sentences that say most


class HexadMemoryService(BaseMemoryService):
    """What agents know from earlier sessions: `Runner(…, memory_service=HexadMemoryService(hx))`.

    Sessions and events are stored as turns, with what they say that should last: facts, decisions, preferences
    (`hexad.AgentMemory`); events that are stored already are not stored twice. Each user has a space of that name,
    which the applications of one store share; the space `default` is everybody's. A search gives at most `max_tokens`
    together. The store works in a thread.
    """

    def __init__(self, store: Hexad, *, max_tokens: int = MAX_TOKENS) -> None:
        """Raise `InvalidInput` for anything but an open store."""
        self._hx = require_open_store(store, by="HexadMemoryService")
        self._max_tokens = parse_max_tokens(max_tokens)

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the turns of a session that are new, durably."""
        _require_of(Session, [session], "session")
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - the framework's; none is known here
    ) -> None:
        """Store the events that are new, durably; pieces of one that is still streamed are left out."""
        parse_name(user_id, "user_id")
        listed = value_list(events, "events", of="events")
        _require_of(Event, listed, "events")
        if said := [message for event in listed for message in _spoken(event)]:
            await in_thread(lambda: self._store_turns(app_name, user_id, session_id, said))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store texts as memories of the user; their metadata goes with them."""
        parse_name(user_id, "user_id")
        listed = value_list(memories, "memories", of="entries")
        _require_of(MemoryEntry, listed, "memories")
        if custom_metadata is not None and not isinstance(custom_metadata, Mapping):
            raise InvalidInput(
                f"custom_metadata = {quoted(custom_metadata)} must be a dictionary.",
                argument="custom_metadata",
            )
        await in_thread(lambda: self._store_entries(app_name, user_id, listed, custom_metadata or {}))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what best answers a query, best first; nothing where nothing is relevant."""
        parse_name(user_id, "user_id")
        if not isinstance(query, str):
            raise InvalidInput(f"query must be a string, not {quoted(query)}.", argument="query")
        if not query.strip():
            return SearchMemoryResponse()
        return await in_thread(lambda: self._search(app_name, user_id, query))

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Archive a memory of the user, what was read from it and the turn it was read from; gone from searches.

        An id that is unknown changes nothing. Raises `AccessDenied` for a memory that is not the user's.
        """
        parse_name(user_id, "user_id")
        if memory_id is not None:
            own = parse_name(memory_id, "memory_id")
            await in_thread(lambda: self._archive(app_name, user_id, own))

    # In a thread ------------------------------------------------------------------------------------------------

    def _memory(self, app_name: str, user_id: str, session_id: str | None = None) -> AgentMemory:
        memory = AgentMemory(self._hx, agent=app_name, user=user_id, session=session_id)
        return memory_of(memory, "HexadMemoryService")

    def _store_turns(
        self, app_name: str, user_id: str, session_id: str | None, said: list[dict[str, Any]]
    ) -> None:
        """Store turns; where they do not go on with what is there in its order, only those that are not there."""
        memory = self._memory(app_name, user_id, session_id)
        keys = [(turn.speaker, turn.time) for turn in parse_messages(said)]
        there = {} if session_id is None else self._places(user_id, session_id)
        offsets = {there[key] - at for at, key in enumerate(keys) if key in there}
        if len(offsets) > 1 or min(offsets, default=0) < 0:
            said = [message for message, key in zip(said, keys, strict=True) if key not in there]
        if said:
            memory.after_step(said)

    def _places(self, user_id: str, session_id: str) -> dict[tuple[str | None, datetime | None], int]:
        """Return the positions of the turns of a session by who said them when."""
        stores = self._hx._services.stores
        with self._hx._services.db.read():
            space = stores.spaces.find(user_id)
            turns = {} if space is None else stores.memories.turns_of(session_id, space_no=space.no)
        return {(turn.speaker, turn.time): position for position, turn in turns.items()}

    def _store_entries(
        self, app_name: str, user_id: str, entries: Sequence[MemoryEntry], more: Mapping[str, object]
    ) -> None:
        self._memory(app_name, user_id)  # the user's name can be a space's
        for entry in entries:
            if text := _text(entry.content):
                by_user = (entry.author or entry.content.role or _USER) == _USER
                self._hx.remember(
                    text,
                    space=user_id,
                    data_subjects=[user_id],
                    trust=Trust.USER if by_user else Trust.AGENT,
                    valid_from=entry.timestamp,
                    metadata={"agent": app_name, **entry.custom_metadata, **more},
                )

    def _search(self, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        spaces = self._memory(app_name, user_id)._spaces_there()
        hits = self._hx.recall(
            compressed(query, limit=_QUERY_CHARS), space=[*spaces], max_tokens=self._max_tokens
        )
        return SearchMemoryResponse(memories=[_entry(hit.memory, hit.text) for hit in hits])

    def _archive(self, app_name: str, user_id: str, memory_id: str) -> None:
        self._memory(app_name, user_id)
        try:
            memory = self._hx.get(memory_id)
        except NotFound:
            return
        if memory.space != user_id:
            raise AccessDenied(
                f"{memory_id} is a memory of the space {memory.space!r}, not of the user {user_id!r}.",
                remedy="`hx.forget` takes what all users share.",
            )
        stores = self._hx._services.stores
        with self._hx._services.db.read():
            turn = str(memory.metadata.get(TURN) or memory_id)
            made = stores.memories.by_no(stores.derivations.derived([turn])).values()
        for id in {memory_id, turn, *(each.id for each in made if each.metadata.get(TURN) == turn)}:
            self._hx.forget(id)


def _require_of(kind: type, values: Sequence[object], name: str) -> None:
    for value in values:
        if not isinstance(value, kind):
            raise InvalidInput(
                f"{name} = {quoted(value)} cannot be used; give ADK's {kind.__name__}.", argument=name
            )


def _quoted(text: str) -> str:
    """Return a text as the framework's tools put it among others: no line of it can pass for a turn of its own."""
    return "\n> ".join(defused(text).splitlines())


def _entry(memory: Memory, text: str) -> MemoryEntry:
    said_by = memory.turn.speaker if memory.turn is not None else None
    by_user = memory.trust is Trust.USER
    return MemoryEntry(
        id=memory.id,
        content=Content(role=_USER if by_user else "model", parts=[Part(text=_quoted(text))]),
        author=_USER if by_user else said_by or str(memory.metadata.get("agent") or memory.trust.value),
        timestamp=(memory.valid_from or memory.created_at).isoformat(),
        custom_metadata={
            "space": memory.space,
            "kind": memory.kind,
            "trust": memory.trust.value,
            **({"instruction_like": list(memory.instruction_like)} if memory.instruction_like else {}),
        },
    )


def _spoken(event: Event) -> Iterator[dict[str, Any]]:
    """Yield what an event says as messages of chat models; what a model thought to itself is nobody's memory."""
    parts = (event.content.parts if event.content is not None else None) or ()
    if event.partial:
        return
    text = "".join(part.text for part in parts if part.text and not part.thought)
    called = [part.function_call for part in parts if part.function_call is not None]
    by_user = event.author == _USER
    who = (
        {"role": _USER}
        if by_user
        else {"role": "assistant", **({"name": event.author} if event.author else {})}
    )
    if not text.strip():
        text = ", ".join(f"{call.name}({_json(call.args)})" for call in called)
    if text.strip():
        yield {**who, "content": text, "timestamp": event.timestamp}
    for part in parts:
        if (given := part.function_response) is not None and given.response:
            name = {"name": given.name} if given.name else {}
            yield {"role": "tool", **name, "content": _json(given.response), "timestamp": event.timestamp}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _text(content: Content) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text and part.text.strip())
