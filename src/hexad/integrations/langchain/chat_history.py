"""`HexadChatMessageHistory`: a conversation of LangChain as turns that every recall finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast
from uuid import uuid4

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from hexad.core.arguments import parse_text
from hexad.core.json_types import JSONValue
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.ingest.messages import TURN
from hexad.integrations.open_store import require_open_store
from hexad.memory.draft import DEFAULT_SPACE, Draft
from hexad.memory.memory import Memory, Status, Trust, Turn

_FIELD: Final = "langchain"
_MESSAGE: Final = "message"
_ROLES: Final[Mapping[str, tuple[str, Trust]]] = {
    "human": ("user", Trust.USER),
    "ai": ("assistant", Trust.AGENT),
    "tool": ("tool", Trust.TOOL),
    "function": ("tool", Trust.TOOL),
}
_HELD_BACK: Final = "[held back: reads as instructions and waits for a review]"


class HexadChatMessageHistory(BaseChatMessageHistory):
    """The messages of a conversation in an open Hexad store: each is a turn, found by `hx.recall`, governed as any.

    Messages come back whole: calls of tools, their results and what else LangChain keeps of one. Secrets are taken out
    before; what a review holds back comes back without its words. Turns that others stored of the same conversation
    are messages too. `hx.forget(session=session_id, purge=True, confirm=True)` erases it.
    """

    def __init__(
        self, store: Hexad, session_id: str, *, space: str = DEFAULT_SPACE, user: str | None = None
    ) -> None:
        """`user` is whose data the messages are, for `hx.forget(subject=user)`."""
        self._hx = require_open_store(store, by="HexadChatMessageHistory")
        if not (session_id := parse_text(session_id, "session_id") or "").strip():
            raise InvalidInput("session_id is blank; give the conversation's id.", argument="session_id")
        self._session, self._space = session_id, space
        self._subjects = None if (user := parse_text(user, "user")) is None else (user,)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages in their order."""
        return [_message(memory) for memory in self._turns() if memory.status in _SHOWN]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages behind those that are there, durably, all or none."""
        if not messages:
            return
        services = self._hx._services
        services.handouts.flush()
        writer = services.ingest().writer
        drafts = [self._draft(message) for message in messages]

        def attempt() -> list[Memory]:
            prepared = [writer.prepare(draft) for draft in drafts]
            with services.db.transaction():
                writer.require_current(prepared)
                first = max(self._places(), default=-1) + 1
                return writer.store(
                    [
                        write.with_draft(self._placed(write.draft, position), write.meaning)
                        for position, write in enumerate(prepared, first)
                    ]
                )

        writer.retried(attempt)
        services.wake()

    def clear(self) -> None:
        """Archive the messages: gone from here and from recalls. `hx.forget(session=…, purge=True)` erases them."""
        for memory in self._turns():
            if memory.status is Status.ACTIVE:
                self._hx.forget(memory.id)

    def _draft(self, message: BaseMessage) -> Draft:
        speaker, trust = _ROLES.get(message.type, (message.type, Trust.AGENT))
        text = str(message.text)
        if not text.strip():
            calls = getattr(message, "tool_calls", None) or getattr(message, "additional_kwargs", None)
            text = json.dumps(calls, ensure_ascii=False, default=str) if calls else f"({speaker})"
        content = json.loads(json.dumps(message_to_dict(message), default=str))
        return Draft(
            text=text,
            id=f"{TURN}_{uuid4().hex}",
            kind=TURN,
            space=self._space,
            trust=trust,
            turn=Turn(conversation=self._session, session=self._session, position=0, speaker=speaker),
            data_subjects=self._subjects,
            metadata={_FIELD: {_MESSAGE: cast(JSONValue, content)}},
        )

    @staticmethod
    def _placed(draft: Draft, position: int) -> Draft:
        assert draft.turn is not None
        return replace(draft, turn=replace(draft.turn, position=position))

    def _places(self) -> Mapping[int, int]:
        """Return the row numbers of the conversation's turns by their positions."""
        stores = self._hx._services.stores
        space = stores.spaces.find(self._space)
        turns = {} if space is None else stores.memories.turns_of(self._session, space_no=space.no)
        return {position: turn.no for position, turn in turns.items()}

    def _turns(self) -> list[Memory]:
        with self._hx._services.db.read():
            places = self._places()
            memories = self._hx._services.stores.memories.by_no([*places.values()])
        return [memories[places[position]] for position in sorted(places)]


_SHOWN: Final = (Status.ACTIVE, Status.QUARANTINED)


def _message(memory: Memory) -> BaseMessage:
    """Return a turn as a message; one that LangChain did not store by who spoke."""
    held_back = memory.status is Status.QUARANTINED
    stored = memory.metadata.get(_FIELD)
    if isinstance(stored, Mapping):
        content = cast(dict[str, Any], stored[_MESSAGE])
        if held_back:
            content = {**content, "data": {**content["data"], "content": _HELD_BACK}}
        return messages_from_dict([content])[0]
    kind = AIMessage if memory.trust is Trust.AGENT else HumanMessage
    return kind(content=_HELD_BACK if held_back else memory.raw, id=memory.id)
