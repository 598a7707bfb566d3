"""A memory for agents of Pydantic AI: a capability over a Hexad store (extra `pydantic-ai`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hexad.integrations.agent_memory import MAX_TOKENS, AgentMemory
from hexad.integrations.open_store import require_open_store

try:
    from pydantic_ai import messages as said
    from pydantic_ai.capabilities import AbstractCapability
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

__all__ = ["HexadMemory"]


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
        """Raise `InvalidInput` for anything but an open store, and for a name that cannot be used."""
        require_open_store(self.store, by="HexadMemory")
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
            found = await asyncio.to_thread(memory.before_step, list(_spoken(messages)))
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
            await asyncio.to_thread(self._memory.after_step, turns)
        return result

    def _made(self, conversation: str | None) -> AgentMemory:
        return AgentMemory(
            self.store,
            agent=self.agent,
            user=self.user,
            session=self.session or conversation,
            max_tokens=self.max_tokens,
        )


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
                    if text := _words(part.content):
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
