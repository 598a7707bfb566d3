"""A memory block of LlamaIndex over a Hexad store (extra `llama-index`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hexad.core.arguments import is_whole, parse_name, parse_text, quoted
from hexad.errors import InvalidInput
from hexad.integrations.agent_memory import MAX_TOKENS, AgentMemory, storing_memory_of
from hexad.integrations.open_store import require_open_store, values_of

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import PrivateAttr, ValidationError
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.utils import get_tokenizer
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.llama_index needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[llama-index]'."
    ) from error

if TYPE_CHECKING:
    from hexad.engine import Hexad

__all__ = ["HexadMemoryBlock"]

NAME = "hexad"
_SESSION = "session_id"  # where the framework notes a message's conversation
_KEPT_LEAST = 50  # tokens; a shorter context says nothing
_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "tool": "tool",
}


class HexadMemoryBlock(BaseMemoryBlock[str]):
    """What an agent knows beyond its chat history: `Memory.from_defaults(memory_blocks=[HexadMemoryBlock(hx)])`.

    What the history has no more room for is handed to the block, which stores the turns and what they say that should
    last: facts, decisions, preferences (`hexad.AgentMemory`). What is known of the last message stands within
    `max_tokens` in what the model is sent, without what the history still holds; the framework has it shortened where
    its own limit asks for that. `user` and `agent` are whose and by whom; `session` is the conversation, by default
    the `session_id` of the framework's memory. `tokenizer_fn` is the one that the framework's memory counts with where
    that is not LlamaIndex's own. The store works in a thread.
    """

    user: str | None = None
    agent: str = "agent"
    session: str | None = None
    max_tokens: int = MAX_TOKENS
    tokenizer_fn: Callable[[str], Sequence[Any]] | None = None
    _store: Any = PrivateAttr()
    _memories: dict[str | None, AgentMemory] = PrivateAttr(default_factory=dict)
    _asked: list[ChatMessage] = PrivateAttr(default_factory=list)
    _in: str | None = PrivateAttr(default=None)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, store: Hexad, **fields: Any) -> None:
        """Raise `InvalidInput` for anything but an open store, and for a name that cannot be used.

        Raises `StorageFailure` for a store that was opened read-only, `AccessDenied` for a space that is not open.
        """
        known = type(self).model_fields
        if unknown := fields.keys() - known.keys():
            raise InvalidInput(f"{min(unknown)!r} is no field of the block; it has {', '.join(known)}.")
        try:
            super().__init__(**{"name": NAME, "priority": 1, **fields})
        except ValidationError as error:
            wrong = error.errors()[0]
            name = str(wrong["loc"][0])
            raise InvalidInput(
                f"{name} = {quoted(wrong['input'])} cannot be used: {wrong['msg']}.", argument=name
            ) from error
        self._store = require_open_store(store, by="HexadMemoryBlock")
        self._memory_of(self.session)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what is known of the last message, as text; nothing where there is nothing."""
        self._asked = [] if messages is None else _listed(messages)
        self._in = _session(block_kwargs.get(_SESSION))
        return await asyncio.to_thread(self._known, self._asked, self.max_tokens, self._in)

    async def aput(
        self,
        messages: list[ChatMessage],
        from_short_term_memory: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Store turns, durably; those of a conversation that is named, or each of its own."""
        await super().aput(_listed(messages), from_short_term_memory, _session(session_id))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store turns, durably."""
        by_session: dict[str | None, list[ChatMessage]] = {}
        for message in messages:
            by_session.setdefault(message.additional_kwargs.get(_SESSION), []).append(message)
        for session, said in by_session.items():
            if turns := list(filter(None, map(_spoken, said))):
                await asyncio.to_thread(self._keep, turns, session)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return a context that is shorter by that many tokens; None where hardly anything would be left."""
        if parse_text(content, "content") is None or not content:
            return None
        if not is_whole(tokens_to_truncate):
            raise InvalidInput(
                f"tokens_to_truncate = {quoted(tokens_to_truncate)} must be a whole number.",
                argument="tokens_to_truncate",
            )
        count = self.tokenizer_fn or get_tokenizer()
        room, shorter = self.max_tokens, content
        wanted = len(count(content)) - tokens_to_truncate
        while (long := len(count(shorter))) > wanted:
            room = min(room - 1, room * wanted // long)
            if room < _KEPT_LEAST:
                return None
            shorter = await asyncio.to_thread(self._known, self._asked, room, self._in)
        return shorter or None

    def _known(self, messages: list[ChatMessage], max_tokens: int, session: str | None) -> str:
        if not (turns := list(filter(None, map(_spoken, messages)))):
            return ""
        with self._lock:
            found = self._memory_of(session).before_step(turns, max_tokens=max_tokens)
        return found.render() if found else ""

    def _keep(self, turns: list[dict[str, Any]], session: str | None) -> None:
        with self._lock:
            self._memory_of(session).after_step(turns, added=True)

    def _memory_of(self, session: str | None) -> AgentMemory:
        name = session if self.session is None else self.session
        if name not in self._memories:
            memory = AgentMemory(
                self._store, agent=self.agent, user=self.user, session=name, max_tokens=self.max_tokens
            )
            self._memories[name] = storing_memory_of(memory, "HexadMemoryBlock")
        return self._memories[name]


def _listed(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages; raises `InvalidInput` for what is none of LlamaIndex's."""
    such_as = "LlamaIndex, such as ChatMessage(role='user', content='…')"
    return [*values_of(ChatMessage, messages, name="messages", such_as=such_as)]


def _session(session_id: str | None) -> str | None:
    return None if session_id is None else parse_name(session_id, _SESSION)


def _spoken(message: ChatMessage) -> dict[str, Any] | None:
    """Return what was said as a message of chat models; what a system prompt says is nobody's memory."""
    role = _ROLES.get(message.role.value)
    text = "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock) and block.text)
    if role == "assistant" and not text.strip():
        calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        text = ", ".join(f"{call.tool_name}({call.tool_kwargs})" for call in calls)
    return {"role": role, "content": text} if role is not None and text.strip() else None
