"""`HexadChatMessageHistory`: a conversation of LangChain as turns that every recall finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from hexad.core.arguments import quoted, value_list
from hexad.core.json_types import JSONObject
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.integrations.turns import HELD_BACK, Said, Turns, fitting
from hexad.memory.memory import Memory, Trust

_SPEAKERS: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}


class HexadChatMessageHistory(BaseChatMessageHistory):
    """The messages of a conversation in an open Hexad store: each is a turn, found by `hx.recall`, governed as any.

    Messages come back whole: calls of tools, their results and what else LangChain keeps of one. Secrets are taken out
    before; what a review holds back comes back without its words. Turns that others stored of the same conversation
    are messages too. `hx.forget(session=session_id, purge=True, confirm=True)` erases it.
    """

    def __init__(
        self, store: Hexad, session_id: str, *, space: str | None = None, user: str | None = None
    ) -> None:
        """`user` is whose data the messages are, for `hx.forget(subject=user)`.

        They are in `space`; without one in the user's own, and in `default`, which all users share, without both.
        """
        self._turns = Turns(
            store, session_id, space=space, user=user, field="langchain", by="HexadChatMessageHistory"
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages in their order."""
        return self._turns.read(_own, _other)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages behind those that are there, durably, all or none."""
        listed = value_list(messages, "messages", of="messages")
        self._turns.add([_said(message) for message in listed])

    def clear(self) -> None:
        """Archive the messages: gone from here and from recalls. `hx.forget(session=…, purge=True)` erases them."""
        self._turns.clear()


def _said(message: BaseMessage) -> Said:
    if not isinstance(message, BaseMessage):
        raise InvalidInput(
            f"messages has {quoted(message)}; give messages of LangChain, such as HumanMessage('…').",
            argument="messages",
        )
    given = json.loads(json.dumps(message_to_dict(message), default=str))
    content = fitting(given, lambda text: {"type": "text", "text": text})
    if content is not given:
        message = messages_from_dict([content])[0]
    text = str(message.text)
    if not text.strip():
        calls = getattr(message, "tool_calls", None) or getattr(message, "additional_kwargs", None)
        text = json.dumps(calls, ensure_ascii=False, default=str) if calls else ""
    return Said(text=text, speaker=_SPEAKERS.get(message.type, message.type), content=content)


def _own(content: JSONObject, held_back: bool) -> BaseMessage:
    message = cast(dict[str, Any], content)
    if held_back:
        message = {**message, "data": {**message["data"], "content": HELD_BACK}}
    return messages_from_dict([message])[0]


def _other(memory: Memory, text: str) -> BaseMessage:
    kind = AIMessage if memory.trust is Trust.AGENT else HumanMessage
    return kind(content=text, id=memory.id)
