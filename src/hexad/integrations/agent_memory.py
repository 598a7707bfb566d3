"""`hexad.AgentMemory`: what an agent asks before each step, and tells after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast
from uuid import uuid4

from hexad.core.arguments import is_whole, parse_name, parse_text, quoted
from hexad.core.clock import SystemClock, format_time
from hexad.core.tracing import log
from hexad.engine import Hexad
from hexad.errors import Conflict, InvalidInput, InvalidMemory, InvalidSpace, StorageFailure
from hexad.ingest.messages import TURN, Message, spoken_turns
from hexad.ingest.sources.conversations import TIMES
from hexad.integrations.response_items import is_item, message_of
from hexad.integrations.turns import SHARED_SPACES, beginning_of
from hexad.layers.contract import FusedContext
from hexad.layers.router.plan import TOKENS_MOST
from hexad.lifecycle import opening
from hexad.memory.draft import DEFAULT_SPACE
from hexad.memory.memory import MEMORY_BYTES_LIMIT, Memory, Outcome, Status, Trust
from hexad.text.paths import validate_space
from hexad.text.summary.summarize import compressed

MAX_TOKENS: Final = 1_500
"""So many tokens a context has where nobody says otherwise."""
_STORED: Final = frozenset({Outcome.CREATED, Outcome.UPDATED, Outcome.UNCHANGED})
"""What becomes of a turn; what was read from one may be an older turn in the same words."""
_FIELDS: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "time", "timestamp")
_CALL: Final = "after_step"
_SPARE: Final = 4_096
"""Bytes of a memory for what tool calls and cuts add to the texts."""
_LOOKED_THROUGH: Final = 1_000
"""So many turns of the conversation, the last, are looked through for what an earlier run stored; of a `hexad.connect`
so many of the newest memories."""
_TASK_CHARS: Final = 2_000
"""A longer message is asked about by its own sentences that say most."""


class AgentMemory:
    """The memory of one agent that speaks with one user, in a store that many may share.

    `before_step` gives what is known of the last message of the user; `after_step` stores the turns that are new and
    what they say that should last: facts, decisions, preferences and standing instructions, read by rules, and where
    the store has a text generator by that too, with one call a step within its budget. What stands in the messages
    already takes no room in a context.

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
        if not isinstance(store, str | Path) and not callable(getattr(store, "remember", None)):
            raise InvalidInput(
                f"store = {quoted(store)} must be an open store, a `hexad.connect`, or a folder.",
                argument="store",
            )
        self._agent, self._max_tokens = parse_name(agent, "agent"), parse_max_tokens(max_tokens)
        self._user = parse_text(user, "user")
        if self._user in SHARED_SPACES:
            raise InvalidInput(
                f"user = {quoted(user)} is a space that all users share; give another name.", argument="user"
            )
        self._session = f"{agent}-{uuid4().hex}" if session is None else parse_name(session, "session")
        self._goes_on = session is not None
        """Whether an earlier run may have stored turns of this conversation that were not looked for yet."""
        self._owned = isinstance(store, str | Path)
        self._hx = opening.open(store) if isinstance(store, str | Path) else store
        self._storing = _CALL
        """Who stores what was said, for messages: behind an adapter it is not a call that the user knows."""
        self._handed: list[tuple[str, str]] = []
        """Speakers and texts of the turns of the last `after_step`."""
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        """Ids of what was stored for a message, by its speaker and text."""
        try:
            self._space = self._space_of_user()
        except BaseException:
            self.close()
            raise

    def before_step(self, messages: Sequence[object], *, max_tokens: int | None = None) -> FusedContext:
        """Return what is known of the last message of the user, within `max_tokens`; false when that is nothing.

        `messages` are what the model is about to be sent, in the form of chat models (`role`, `content`): mappings, or
        objects of an SDK that have these attributes or a `model_dump`; calls of tools and their outputs as items of
        OpenAI's Responses API are too. Nothing is stored. Give the model
        `context.render()` beside them. Raises `InvalidMemory` for what is no message.
        """
        turns = spoken_turns(_readable(messages))
        if self._goes_on:
            self._known, self._goes_on = {**self._stored(), **self._known}, False
        asked = next(
            (turn for turn in reversed(turns) if turn.trust is Trust.USER and turn.speech.strip()), None
        )
        return self._hx.context(
            "" if asked is None else compressed(asked.speech, limit=_TASK_CHARS),
            max_tokens=self._max_tokens if max_tokens is None else max_tokens,
            space=None if self._user is None else self._spaces_there(),
            plain=False,
            without=sorted({id for turn in turns for id in self._known.get(_key(turn), ())}),
        )

    def after_step(self, messages: Sequence[object], *, added: bool | None = None) -> list[Memory]:
        """Store the turns among `messages` that are new and what they say that should last; return what is new.

        `messages` may be the whole conversation each time, or what was added. Which it is, is seen: a conversation
        goes on with what this object was handed before. Exactly the same messages once more are taken for a
        repetition; with `added` all are stored, whatever stands in the conversation.

        Of a message that is longer than a memory may be (1 MiB) the beginnings of its texts are kept, and a line that
        says so. Messages that say nothing, and none at all, store nothing. Raises what `Hexad.remember` raises.
        """
        if added is not None and not isinstance(added, bool):
            raise InvalidInput(f"added = {quoted(added)} must be True, False or None.", argument="added")
        said = _readable(messages)
        if not (turns := spoken_turns(said)):
            return []
        if added or (added is None and self._is_added(turns)):
            said = self._dated(said)
        only_read = "A store that is only read answers `before_step` alone." if self._storing == _CALL else ""
        with _saying(f"{self._storing} stores what was said, and cannot: ", remedy=only_read):
            memories = self._hx.remember(
                cast("Sequence[Mapping[str, object]]", said),
                conversation=self._session,
                space=self._space,
                data_subjects=None if self._user is None else [self._user],
                metadata={"agent": self._agent},
            )
        self._handed = [*map(_key, turns)]
        groups: list[list[Memory]] = []
        for memory in memories:
            if memory.kind == TURN and memory.receipt is not None and memory.receipt.outcome in _STORED:
                groups.append([])
            groups[-1].append(memory)
        new = [
            memory
            for memory in memories
            if memory.receipt is not None and memory.receipt.outcome in (Outcome.CREATED, Outcome.UPDATED)
        ]
        read = self._read_by_generator(new)
        for turn, group in zip(turns, groups, strict=True):
            ids = {memory.id for memory in group}
            more = [memory.id for memory in read if memory.metadata.get(TURN) in ids]
            self._known[_key(turn)] = (*(memory.id for memory in group), *more)
        return [*new, *read]

    def _read_by_generator(self, new: Sequence[Memory]) -> list[Memory]:
        """Return what the store's generator read in new turns beside the rules; of a `hexad.connect` the rules do."""
        if (hx := _opened(self._hx)) is None:
            return []
        turns = [memory for memory in new if memory.kind == TURN and memory.status is Status.ACTIVE]
        kept = [memory for memory in new if memory.kind != TURN]
        read = hx._services.ingest().messages.harvest(turns, kept)
        hx._services.wake()
        return read

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

    def _stored(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return what an earlier run stored of this conversation, as `_known` has it."""
        turns: dict[str, tuple[str, str]] = {}
        ids: dict[str, list[str]] = {}
        for memory in self._of_this_conversation() if self._has_space(self._space) else ():
            turn = memory.id if memory.turn is not None else memory.metadata.get(TURN)
            if memory.turn is not None and memory.turn.conversation == self._session:
                turns[memory.id] = memory.turn.speaker or "", memory.raw
            ids.setdefault(str(turn), []).append(memory.id)
        return {key: tuple(ids[turn]) for turn, key in turns.items()}

    def _of_this_conversation(self) -> Iterable[Memory]:
        """Return the turns of this conversation and what was read from them; of a `hexad.connect` what is newest."""
        if (hx := _opened(self._hx)) is None:
            return self._hx.memories(space=self._space, order="created", limit=_LOOKED_THROUGH)
        stores = hx._services.stores
        with hx._services.db.read():
            places = stores.memories.turns_of(self._session, space_no=stores.spaces.get(self._space).no)
            turns = stores.memories.by_no([places[at].no for at in sorted(places)[-_LOOKED_THROUGH:]])
            read = stores.memories.by_no(stores.derivations.derived([memory.id for memory in turns.values()]))
        return [*turns.values(), *read.values()]

    def _has_space(self, name: str) -> bool:
        if (hx := _opened(self._hx)) is None:
            return name in {space.name for space in self._hx.spaces.list()}
        return hx._services.stores.spaces.find(name) is not None

    def _space_of_user(self) -> str:
        """Return the space of the user, whose name can be one; the first turn that is stored makes it."""
        if self._user is None:
            return DEFAULT_SPACE
        try:
            validate_space(self._user)
        except InvalidSpace as error:
            raise InvalidSpace(
                f"user = {quoted(self._user)} is to be the name of a space. {error}", argument="user"
            ) from error
        if (hx := _opened(self._hx)) is not None:
            hx._services.stores.spaces.refuse_twin(self._user)
        return self._user

    def _spaces_there(self) -> tuple[str, ...]:
        """Return those of the user's space and the shared one that are there; a context is asked of such alone."""
        if there := tuple(name for name in (self._space, DEFAULT_SPACE) if self._has_space(name)):
            return there
        with suppress(Conflict), _saying("The store has no space to look in, and none can be made: "):
            self._hx.spaces.create(DEFAULT_SPACE)  # a conflict: another program was first
        return (DEFAULT_SPACE,)

    def _is_added(self, turns: Sequence[Message]) -> bool:
        """Whether messages are what was added: they go on with nothing that was handed over before them."""
        keys, before = [*map(_key, turns)], self._handed
        return bool(before) and not any(
            before[-many:] == keys[:many] for many in range(1, min(len(before), len(keys)) + 1)
        )

    def _dated(self, said: Iterable[object]) -> Sequence[object]:
        """Return messages with the time where they have none: the same words at another time are another turn."""
        hx = _opened(self._hx)
        now = format_time((SystemClock() if hx is None else hx.clock).now())
        return [
            message
            if not isinstance(message, Mapping) or any(message.get(name) is not None for name in TIMES)
            else {**message, "timestamp": now}
            for message in said
        ]


def memory_of(memory: AgentMemory, by: str) -> AgentMemory:
    """Return the memory behind an adapter: what fails is said of `by`, the name that the adapter's users know."""
    memory._storing = by
    return memory


def storing_memory_of(memory: AgentMemory, by: str) -> AgentMemory:
    """Return the memory behind an adapter that stores each run, before a model is asked whose answer it could not keep.

    Raises `StorageFailure` for a store that was opened read-only, `AccessDenied` for a space that is not open to who
    opened it.
    """
    if (hx := _opened(memory._hx)) is not None:
        with _saying(f"{by} stores what was said, and cannot: "):
            hx._services.db.require_writable()
        hx._services.stores.spaces.admit(memory._space)
    return memory_of(memory, by)


def parse_max_tokens(max_tokens: int) -> int:
    """Return so many tokens as a context may have; raises `InvalidInput` for anything else."""
    if not is_whole(max_tokens, 1, TOKENS_MOST):
        raise InvalidInput(
            f"max_tokens = {quoted(max_tokens)} is not a whole number from 1 to {TOKENS_MOST:,}.",
            argument="max_tokens",
        )
    return max_tokens


@contextmanager
def _saying(what: str, *, remedy: str = "") -> Iterator[None]:
    """Say before a failure of the store what it kept from being done."""
    try:
        yield
    except StorageFailure as error:
        reason = error.reason[:1].lower() + error.reason[1:]
        raise StorageFailure(f"{what}{reason}", remedy=error.remedy or remedy) from error


def _opened(store: object) -> Hexad | None:
    """Return an open store, None for a `hexad.connect`, which has the methods of one."""
    return store if isinstance(store, Hexad) else None


def _readable(messages: Sequence[object]) -> Sequence[object]:
    """Return messages as mappings that can be stored.

    One that a model answered with nothing, or refused, is what it said of that; a longer one than a memory may be has
    the beginnings of its texts. What is no list of messages is returned as it is, for who names what is wrong.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        return messages
    try:
        return [_shortened(_answered(_mapped(message))) for message in messages]
    except RecursionError:
        raise InvalidMemory(
            "A message is nested too deep to be read, or holds itself; give flat parts."
        ) from None


def _mapped(message: object) -> object:
    """Return a message of an SDK as a mapping: OpenAI's and Anthropic's are models of pydantic."""
    if isinstance(message, Mapping):
        return message_of(message) if is_item(message) else message
    if not hasattr(message, "role"):
        return _item(message)
    dump = getattr(message, "model_dump", None)
    fields = dump() if callable(dump) else None
    if not isinstance(fields, Mapping):
        fields = {name: getattr(message, name, None) for name in _FIELDS}
    role = fields.get("role")
    own = {name: value for name, value in fields.items() if value is not None or name == "content"}
    own["role"] = role.value if isinstance(role, Enum) else role
    if isinstance(own.get("content"), list | tuple):
        own["content"] = [_part(part) for part in own["content"]]
    return own


def _item(entry: object) -> object:
    """Return an item of OpenAI's Responses API as a message; anything else as it is, for who names what is wrong."""
    fields = _part(entry) if hasattr(entry, "type") else None
    return message_of(fields) if isinstance(fields, Mapping) and is_item(fields) else entry


def _part(part: object) -> object:
    dump = getattr(part, "model_dump", None)
    return dump() if callable(dump) else part


def _answered(message: object) -> object:
    if not isinstance(message, Mapping) or message.get("tool_calls"):
        return message
    if "content" in message and message["content"] is None:
        return {**message, "content": message.get("refusal") or ""}
    return message


def _shortened(message: object) -> object:
    """Return a message whose texts fit into one memory, each cut as far as it has to be."""
    room = MEMORY_BYTES_LIMIT // 2
    while isinstance(message, Mapping) and _size(message) > MEMORY_BYTES_LIMIT - _SPARE and room > _SPARE:
        log.warning("A message of %s bytes is kept in part: a memory holds less.", f"{_size(message):,}")
        message = {name: _cut(value, room) for name, value in message.items()}
        room //= 2
    return message


def _size(value: object) -> int:
    """Return how many bytes the texts of a value have."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def _cut(value: object, room: int) -> object:
    if isinstance(value, str) and _size(value) > room:
        return beginning_of(value, room)
    if isinstance(value, Mapping):
        return {name: _cut(inner, room) for name, inner in value.items()}
    return [_cut(inner, room) for inner in value] if isinstance(value, list | tuple) else value


def _key(turn: Message) -> tuple[str, str]:
    return turn.speaker, turn.text
