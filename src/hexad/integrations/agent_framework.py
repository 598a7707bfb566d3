"""A context provider of Microsoft's Agent Framework over a Hexad store (extra `agent-framework`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hexad.core.arguments import parse_name, quoted
from hexad.errors import InvalidInput
from hexad.integrations.agent_memory import MAX_TOKENS, AgentMemory, storing_memory_of
from hexad.integrations.open_store import in_thread, require_open_store

try:
    from agent_framework import ContextProvider, HistoryProvider, Message
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.agent_framework needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[agent-framework]'."
    ) from error

if TYPE_CHECKING:
    from agent_framework import AgentSession, Content, SessionContext, SupportsAgentRun

    from hexad.engine import Hexad

__all__ = ["HexadContextProvider"]

_ROLES = frozenset({"user", "assistant", "tool"})


class HexadContextProvider(ContextProvider):
    """What an agent knows from earlier runs: `Agent(…, context_providers=[HexadContextProvider(hx, user="ada")])`.

    Each run is given what the store knows of its last message, within `max_tokens`, as a message before that one:
    memories are data, and no instructions. When a run has ended, its turns are stored, and what they say that should
    last: facts, decisions, preferences (`hexad.AgentMemory`). `user` and `agent` are whose and by whom, as there;
    `session` is the conversation, by default the framework's `session_id`. The store works in a thread.
    """

    def __init__(
        self,
        store: Hexad,
        *,
        user: str | None = None,
        agent: str = "agent",
        session: str | None = None,
        max_tokens: int = MAX_TOKENS,
        source_id: str = "hexad",
    ) -> None:
        """Raise `InvalidInput` for anything but an open store, and for a name that cannot be used.

        Raises `StorageFailure` for a store that was opened read-only, `AccessDenied` for a space that is not open.
        """
        super().__init__(parse_name(source_id, "source_id"))
        self._store = require_open_store(store, by="HexadContextProvider")
        self._user, self._agent, self._session, self._max_tokens = user, agent, session, max_tokens
        self._memory_of(session)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002 - the framework's
    ) -> None:
        """Put what is known of the last message before it."""
        conversation = _session_id(session)
        _require_context(context)
        said = context.get_messages(exclude_sources={self.source_id}, include_input=True)
        messages = list(_spoken([*await _loaded_later(agent, session, context), *said]))
        if not messages:
            return
        known = await in_thread(lambda: self._memory_of(conversation).before_step(messages))
        if known:
            context.extend_messages(self, [Message("user", [known.render()])])

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - the framework's
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002 - the framework's
    ) -> None:
        """Store what was said in the run that ended."""
        conversation = _session_id(session)
        _require_context(context)
        answered = context.response.messages if context.response is not None else []
        if said := list(_spoken([*context.input_messages, *answered])):
            await in_thread(lambda: self._memory_of(conversation).after_step(said, added=True))

    def _memory_of(self, session: str | None) -> AgentMemory:
        memory = AgentMemory(
            self._store,
            agent=self._agent,
            user=self._user,
            session=session if self._session is None else self._session,
            max_tokens=self._max_tokens,
        )
        return storing_memory_of(memory, "HexadContextProvider")


def _session_id(session: AgentSession) -> str:
    """Return the id of a conversation; raises `InvalidInput` for what is no session of the framework."""
    if not isinstance(session_id := getattr(session, "session_id", None), str):
        raise InvalidInput(
            f"session = {quoted(session)} must be a session of the framework, such as AgentSession().",
            argument="session",
        )
    return session_id


def _require_context(context: object) -> None:
    if not callable(getattr(context, "get_messages", None)):
        raise InvalidInput(
            f"context = {quoted(context)} must be the framework's SessionContext.", argument="context"
        )


async def _loaded_later(
    agent: SupportsAgentRun, session: AgentSession, context: SessionContext
) -> list[Message]:
    """Return the history that providers behind this one will load; the framework puts its own at the end."""
    messages: list[Message] = []
    for provider in getattr(agent, "context_providers", ()):
        if not isinstance(provider, HistoryProvider) or not provider.load_messages:
            continue
        if provider.source_id not in context.context_messages:
            state = session.state.get(provider.source_id, {})
            messages += await provider.get_messages(session.session_id, state=state)
    return messages


def _spoken(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield what was said as messages of chat models; what a system prompt says is nobody's memory."""
    for message in messages:
        role = str(message.role)
        if role not in _ROLES:
            continue
        text = message.text
        if not text.strip() and role == "assistant":
            calls = [content for content in message.contents if content.type == "function_call"]
            text = ", ".join(f"{call.name}({_json(call.arguments)})" for call in calls)
        if role != "tool" and text.strip():
            yield {"role": role, "content": text}
        for content in message.contents:
            if content.type == "function_result" and (given := _result(content)):
                yield {"role": "tool", "content": given}


def _result(content: Content) -> str:
    result = content.result
    return "" if result is None else _json(result)


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
