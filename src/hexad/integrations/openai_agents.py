"""A session of the OpenAI Agents SDK over a Hexad store: its items are turns (extra `openai-agents`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from hexad.core.arguments import is_whole, json_fault, quoted, value_list
from hexad.core.json_types import JSONObject
from hexad.errors import InvalidInput
from hexad.integrations.open_store import in_thread
from hexad.integrations.response_items import call_text, output_of, output_text
from hexad.integrations.turns import HELD_BACK, Said, Turns, fitting
from hexad.memory.memory import Memory, Trust

try:
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.openai_agents needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[openai-agents]'."
    ) from error

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from hexad.engine import Hexad

__all__ = ["HexadSession"]
_WITHOUT_WORDS: Final[Mapping[str, str | None]] = {
    "arguments": "{}",
    "output": HELD_BACK,
    "error": HELD_BACK,
    "outputs": None,
    "results": None,
}
"""What a call that is held back has in these fields."""
_ROLES: Final = ("user", "assistant", "system", "developer")


class HexadSession(SessionABC):
    """The history of a conversation, for `Runner.run(agent, text, session=…)`, in an open store.

    Each item is a turn: `hx.recall` finds what was said, what tools were called with and what they gave back, and items
    come back to the agent as it stored them. Secrets are taken out before; what a review holds back comes back without
    its words. Turns that others stored of the same conversation are messages too. The store works in a thread.
    `hx.forget(session=session_id, purge=True, confirm=True)` erases all of it.
    """

    def __init__(
        self,
        store: Hexad,
        session_id: str,
        *,
        space: str | None = None,
        user: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """`user` is whose data the items are, for `hx.forget(subject=user)`.

        They are in `space`; without one in the user's own, and in `default`, which all users share, without both.
        """
        self._turns = Turns(
            store, session_id, space=space, user=user, field="openai_agents", by="HexadSession"
        )
        if session_settings is not None and not isinstance(session_settings, SessionSettings):
            raise InvalidInput(
                f"session_settings = {quoted(session_settings)} must be the SDK's SessionSettings, or None.",
                argument="session_settings",
            )
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in their order, the last ones where there is a limit."""
        if limit is not None and not is_whole(limit):
            raise InvalidInput(f"limit = {quoted(limit)} must be a whole number.", argument="limit")
        last = resolve_session_limit(limit, self.session_settings)
        return await in_thread(
            lambda: self._turns.read(_own, _other, last=None if last is None else max(0, last))
        )

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items behind those that are there, durably, all or none."""
        said = [_said(item) for item in value_list(items, "items", of="dictionaries, as the SDK gives them")]
        await in_thread(lambda: self._turns.add(said))

    async def pop_item(self) -> TResponseInputItem | None:
        """Archive the last item and return it; None where there is none."""
        return await in_thread(lambda: self._turns.pop(_own, _other))

    async def clear_session(self) -> None:
        """Archive all items: gone from here and from recalls."""
        await in_thread(self._turns.clear)


def _is_message(content: Mapping[str, Any]) -> bool:
    return content.get("role") in _ROLES and isinstance(content.get("content"), str | list)


def _said(item: TResponseInputItem) -> Said:
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"items has {quoted(item)}; give dictionaries, as the SDK does.",
            argument="items",
        )
    try:
        stored = json.dumps(item, allow_nan=False, ensure_ascii=False).encode()  # refuses half a character
        content: dict[str, Any] = json.loads(stored)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"An item of a session is no JSON: {json_fault(error)}.", argument="items"
        ) from error
    kind = content.get("type", "message")
    if not isinstance(kind, str) or not kind.strip() or (kind == "message" and not _is_message(content)):
        raise InvalidInput(
            f"items has {quoted(item)}; give items with a `type`, or messages with a `role` "
            f"({', '.join(_ROLES)}) and a `content`.",
            argument="items",
        )
    typed = "output_text" if content.get("role") == "assistant" else "input_text"
    content = fitting(content, lambda text: {"type": typed, "text": text})
    if kind == "message":
        role = content["role"]
        return Said(text=output_text(content.get("content")), speaker=role, content=content)
    if kind.endswith("_output"):
        return Said(text=output_text(content.get("output")), speaker="tool", content=content)
    if kind.endswith("_call"):
        if output := output_of(content):  # a tool that runs where the model does: the item has both
            return Said(text=f"{call_text(content)}\n{output}", speaker="tool", content=content)
        return Said(text=call_text(content), speaker="assistant", content=content)
    return Said(text=output_text(content.get("summary")) or f"({kind})", speaker="assistant", content=content)


def _own(content: JSONObject, held_back: bool) -> TResponseInputItem:
    item = cast(dict[str, Any], content)
    if held_back:
        kind = item.get("type") or "message"
        if kind == "message":
            item = {"role": item.get("role") or "user", "content": HELD_BACK}
        elif kind.endswith("_output"):
            item = {**item, "output": _held_back(item.get("output"))}
        else:
            item = {**item, **{name: words for name, words in _WITHOUT_WORDS.items() if item.get(name)}}
    return cast("TResponseInputItem", item)


def _held_back(output: object) -> object:
    """Return the output of a tool without its words, in a form that the API takes of this tool."""
    if isinstance(output, list) and all(isinstance(part, Mapping) and "stdout" in part for part in output):
        return [{**part, "stdout": HELD_BACK, "stderr": ""} for part in output]
    return HELD_BACK


def _other(memory: Memory, text: str) -> TResponseInputItem:
    role = "assistant" if memory.trust is Trust.AGENT else "user"
    return cast("TResponseInputItem", {"role": role, "content": text})
