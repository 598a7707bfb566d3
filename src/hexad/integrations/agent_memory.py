"""`hexad.AgentMemory`: what an agent asks before each step, and tells after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from hexad.core.arguments import is_text, is_whole, parse_text, quoted
from hexad.engine import Hexad
from hexad.errors import Conflict, InvalidInput
from hexad.ingest.messages import TURN, Message, parse_messages
from hexad.layers.contract import FusedContext
from hexad.lifecycle import opening
from hexad.memory.memory import Memory, Outcome, Trust
from hexad.text.summary.summarize import compressed

MAX_TOKENS: Final = 1_500
"""So many tokens a context has where nobody says otherwise."""
_SHARED: Final = "default"
_RESERVED: Final = frozenset({_SHARED, "project"})
_STORED: Final = frozenset({Outcome.CREATED, Outcome.UPDATED, Outcome.UNCHANGED})
"""What becomes of a turn; what was read from one may be an older turn in the same words."""
_TASK_CHARS: Final = 2_000
"""A longer message is asked about by its own sentences that say most."""


class AgentMemory:
    """The memory of one agent that speaks with one user, in a store that many may share.

    `before_step` gives what is known of the last message of the user; `after_step` stores the turns that are new and
    what they say that should last: facts, decisions, preferences and standing instructions, read by rules. What
    stands in the messages already takes no room in a context.

    `store` is an open store, a `hexad.connect`, or a folder, which is opened and closed with this object. With `user`
    everything is kept in a space of that name and marked with it, so that `hx.forget(subject=user, purge=True)` takes
    it; other users' spaces are not read, the space `default` is. `session` names the conversation: under the same
    name a program goes on with it after a restart, and messages that are stored already are not stored twice; without
    one it is a new conversation. `agent`
    stands in the metadata of what is stored.

    Not safe for several threads at once; make one for each conversation.

    >>> import hexad
    >>> with hexad.open(":memory:", embedder=None) as hx:
    ...     memory = hexad.AgentMemory(hx, user="ada")
    ...     _ = memory.after_step([{"role": "user", "content": "I am allergic to peanuts."}])
    ...     later = hexad.AgentMemory(hx, user="ada")
    ...     context = later.before_step([{"role": "user", "content": "Which peanuts may I eat?"}])
    ...     "allergic to peanuts" in context.render()
    True
    """

    def __init__(
        self,
        store: Hexad | str | Path,
        *,
        agent: str = "agent",
        user: str | None = None,
        session: str | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        """Raises what `hexad.open` raises for a folder, `InvalidInput` for a value that cannot be used."""
        if not is_text(agent) or not agent.strip():
            raise InvalidInput(f"agent = {quoted(agent)} must be a name.", argument="agent")
        if not is_whole(max_tokens, 1):
            raise InvalidInput(
                f"max_tokens = {quoted(max_tokens)} must be a whole number, at least 1.",
                argument="max_tokens",
            )
        if not isinstance(store, str | Path) and not callable(getattr(store, "remember", None)):
            raise InvalidInput(
                f"store = {quoted(store)} must be an open store, a `hexad.connect`, or a folder.",
                argument="store",
            )
        self._agent, self._max_tokens = agent, max_tokens
        self._user = parse_text(user, "user")
        if self._user in _RESERVED:
            raise InvalidInput(
                f"user = {quoted(user)} is a space that all users share; give another name.", argument="user"
            )
        self._session = parse_text(session, "session") or f"{agent}-{uuid4().hex}"
        self._owned = isinstance(store, str | Path)
        self._hx = opening.open(store) if isinstance(store, str | Path) else store
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        """Ids of what was stored for a message, by its speaker and text."""
        try:
            self._space = self._make_space()
        except BaseException:
            self.close()
            raise

    def before_step(
        self, messages: Sequence[Mapping[str, object]], *, max_tokens: int | None = None
    ) -> FusedContext:
        """Return what is known of the last message of the user, within `max_tokens`; false when that is nothing.

        `messages` are what the model is about to be sent, in the form of chat models (`role`, `content`); nothing is
        stored. Give the model `context.render()` beside them. Raises `InvalidMemory` for what is no message.
        """
        turns = parse_messages(_readable(messages))
        asked = next(
            (turn for turn in reversed(turns) if turn.trust is Trust.USER and turn.speech.strip()), None
        )
        return self._hx.context(
            "" if asked is None else compressed(asked.speech, limit=_TASK_CHARS),
            max_tokens=self._max_tokens if max_tokens is None else max_tokens,
            space=None if self._user is None else (self._space, _SHARED),
            plain=False,
            without=sorted({id for turn in turns for id in self._known.get(_key(turn), ())}),
        )

    def after_step(self, messages: Sequence[Mapping[str, object]]) -> list[Memory]:
        """Store the turns among `messages` that are new and what they say that should last; return what is new.

        `messages` may be the whole conversation each time, or what was added. Raises what `Hexad.remember` raises.
        """
        said = _readable(messages)
        turns = parse_messages(said)
        memories = self._hx.remember(
            said,
            conversation=self._session,
            space=self._space,
            data_subjects=None if self._user is None else [self._user],
            metadata={"agent": self._agent},
        )
        groups: list[list[Memory]] = []
        for memory in memories:
            if memory.kind == TURN and memory.receipt is not None and memory.receipt.outcome in _STORED:
                groups.append([])
            groups[-1].append(memory)
        for turn, group in zip(turns, groups, strict=True):
            self._known[_key(turn)] = tuple(memory.id for memory in group)
        new = (Outcome.CREATED, Outcome.UPDATED)
        return [memory for memory in memories if memory.receipt is not None and memory.receipt.outcome in new]

    def close(self) -> None:
        """Close the store where this object opened it. Nothing waits to be written: `after_step` did that."""
        if self._owned:
            self._hx.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _make_space(self) -> str:
        """Return the space of the user, made where it is not there; a context is asked of spaces that are."""
        if self._user is None:
            return _SHARED
        there = {space.name for space in self._hx.spaces.list()}
        for name in (self._user, _SHARED):
            if name not in there:
                with suppress(Conflict):  # another program was first
                    self._hx.spaces.create(name)
        return self._user


def _readable(messages: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
    """Return messages in which one that a model answered with nothing, or refused, is what it said of that."""
    return [
        {**message, "content": message.get("refusal") or ""}
        if isinstance(message, Mapping)
        and "content" in message
        and message["content"] is None
        and not message.get("tool_calls")
        else message
        for message in messages
    ]


def _key(turn: Message) -> tuple[str, str]:
    return turn.speaker, turn.text
