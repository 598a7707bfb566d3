"""A framework's conversation as turns of a store: recalls find them, and the framework gets its own form back."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from uuid import uuid4

from hexad.core.arguments import parse_name, quoted
from hexad.core.json_types import JSONObject, JSONValue
from hexad.errors import InvalidInput, InvalidSpace
from hexad.ingest.messages import TURN
from hexad.integrations.open_store import require_open_store
from hexad.memory.draft import DEFAULT_SPACE, Draft
from hexad.memory.memory import MEMORY_BYTES_LIMIT, Memory, Status, Trust, Turn
from hexad.text.paths import validate_space

log = logging.getLogger(__name__)
HELD_BACK: Final = "[held back: reads as instructions and waits for a review]"
TRUSTED_AS: Final[Mapping[str, Trust]] = {
    "user": Trust.USER,
    "assistant": Trust.AGENT,
    "tool": Trust.TOOL,
}
SHARED_SPACES: Final = frozenset({DEFAULT_SPACE, "project"})
"""What every user's context reads, or the program's own."""
_SHOWN: Final = (Status.ACTIVE, Status.QUARANTINED)
_MESSAGE: Final = "message"
_READ_AT_ONCE: Final = 20
_ROOM: Final = MEMORY_BYTES_LIMIT - (8 << 10)
"""Bytes of JSON that a message may have: the rest of a memory's limit is for what says whose it is."""
_SHORT: Final = 1 << 10
"""A shorter string is not worth cutting."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message: what recalls find of it, who said it (`user`, `assistant`, `tool`), and all that there is of it."""

    text: str
    speaker: str
    content: JSONObject


def fitting(content: dict[str, Any], words: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return a message that one memory can hold, the same where it is no longer than that.

    A longer one is without its largest pictures and files, each of which is a part that says so (`words` makes one of a
    text), and has the beginnings of its texts. What has neither stays as long as it is, and is refused when stored.
    """
    size = _size(content)
    if size <= _ROOM:
        return content
    fitted: dict[str, Any] = json.loads(json.dumps(content))
    places = sorted(_long(fitted), key=lambda place: _size(place[0][place[1]]), reverse=True)
    for holder, key in places:
        if (excess := _size(fitted) - _ROOM) <= 0:
            break
        value = holder[key]
        if isinstance(value, str):
            holder[key] = beginning_of(value, max(0, len(value.encode()) - excess - _SHORT // 2))
        else:
            holder[key] = words(f"[{value.get('type', 'part')} of {_size(value):,} bytes was not kept]")
    log.warning("A message of %d bytes is kept in part: a memory holds %d.", size, MEMORY_BYTES_LIMIT)
    return fitted


def beginning_of(text: str, room: int) -> str:
    """Return so many bytes of a text, and a line that says how much is not there."""
    kept = text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
    return f"{kept}\n[{len(text) - len(kept):,} more characters were not kept]"


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _long(message: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield what holds a long text or part of a message's content or a tool's output, and its key there."""
    if isinstance(data := message.get("data"), dict):  # LangChain's messages
        yield from _long(data)
    for name in ("content", "output"):
        value = message.get(name)
        if isinstance(value, str) and len(value) > _SHORT:
            yield message, name
        for place, part in enumerate(value if isinstance(value, list) else ()):
            if isinstance(part, str) and len(part) > _SHORT:
                yield value, place
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                if len(part["text"]) > _SHORT:
                    yield part, "text"
            elif isinstance(part, dict) and _size(part) > _SHORT:
                yield value, place


def space_for(user: str | None, space: str | None, *, shared: Callable[[], Iterable[Memory]]) -> str:
    """Return where a conversation is kept: in `space`, else in the user's own, which no other user's context reads.

    What older versions kept in `default` stays there: `shared` gives memories of it, and one is about the user.
    Raises `InvalidInput` for a user that no space can be called after.
    """
    if space is not None:
        return validate_space(space)
    if user is None or any(user in memory.data_subjects for memory in shared()):
        return DEFAULT_SPACE
    try:
        if user in SHARED_SPACES:
            raise InvalidSpace("all users share that space.")
        return validate_space(user)
    except InvalidSpace as error:
        raise InvalidInput(
            f"user = {quoted(user)} cannot have a space of that name ({error}) Give another name, or name the space "
            "of the conversation: space=….",
            argument="user",
        ) from error


class Turns:
    """The messages of one conversation in an open store, in their order.

    What is stored passes redaction and the gate as every memory does. Turns that others stored of the same
    conversation are among them, without a `content`.
    """

    def __init__(
        self, store: object, session_id: str, *, space: str | None, user: str | None, field: str, by: str
    ) -> None:
        """`field` of a turn's metadata holds the content, `user` is whose data it is, `by` who asks for the store.

        Without a `space` the turns are in the user's, see `space_for`.
        """
        self._hx = require_open_store(store, by=by)
        self._session, self._field = parse_name(session_id, "session_id"), field
        self._subjects = None if user is None else (parse_name(user, "user"),)
        self._space = DEFAULT_SPACE
        self._space = space_for(user, space, shared=lambda: self._shown(1))

    def add(self, said: Sequence[Said]) -> None:
        """Store messages behind those that are there, durably, all or none."""
        if not said:
            return
        services = self._hx._services
        services.handouts.flush()
        writer = services.ingest().writer
        drafts = [self._draft(message) for message in said]

        def attempt() -> list[Memory]:
            prepared = [writer.prepare(draft) for draft in drafts]
            with services.db.transaction():
                writer.require_current(prepared)
                first = max(self._places(), default=-1) + 1
                return writer.store(
                    [
                        write.with_draft(_placed(write.draft, position), write.meaning)
                        for position, write in enumerate(prepared, first)
                    ]
                )

        writer.retried(attempt)
        services.wake()

    def read(
        self,
        own: Callable[[JSONObject, bool], _T],
        other: Callable[[Memory, str], _T],
        *,
        last: int | None = None,
    ) -> list[_T]:
        """Return the messages, or the last ones: by `own` of a content and whether it is held back, else by `other`.

        `other` gets a turn that somebody else stored, and its words.
        """
        return [self._given(memory, own, other) for memory in self._shown(last)]

    def pop(self, own: Callable[[JSONObject, bool], _T], other: Callable[[Memory, str], _T]) -> _T | None:
        """Archive the last message and return it; None where there is none."""
        for memory in self._shown(1):
            self._hx.forget(memory.id)
            return self._given(memory, own, other)
        return None

    def clear(self) -> None:
        """Archive the messages: gone from here and from recalls. `hx.forget(session=…, purge=True)` erases them."""
        for memory in self._shown(None):
            self._hx.forget(memory.id)

    def _given(
        self, memory: Memory, own: Callable[[JSONObject, bool], _T], other: Callable[[Memory, str], _T]
    ) -> _T:
        held_back = memory.status is Status.QUARANTINED
        stored = memory.metadata.get(self._field)
        content = stored.get(_MESSAGE) if isinstance(stored, dict) else None
        if isinstance(content, dict):
            return own(content, held_back)
        return other(memory, HELD_BACK if held_back else memory.raw)

    def _draft(self, said: Said) -> Draft:
        content: dict[str, JSONValue] = {_MESSAGE: dict(said.content)}
        return Draft(
            text=said.text if said.text.strip() else f"({said.speaker})",
            id=f"{TURN}_{uuid4().hex}",
            kind=TURN,
            space=self._space,
            trust=TRUSTED_AS.get(said.speaker, Trust.AGENT),
            turn=Turn(conversation=self._session, session=self._session, position=0, speaker=said.speaker),
            data_subjects=self._subjects,
            metadata={self._field: content},
        )

    def _places(self) -> Mapping[int, int]:
        """Return the row numbers of the conversation's turns by their positions."""
        stores = self._hx._services.stores
        space = stores.spaces.find(self._space)
        turns = {} if space is None else stores.memories.turns_of(self._session, space_no=space.no)
        return {position: turn.no for position, turn in turns.items()}

    def _shown(self, last: int | None) -> list[Memory]:
        """Return the messages, or the last ones, which are read from the end."""
        shown: list[Memory] = []
        with self._hx._services.db.read():
            places = self._places()
            numbers = [places[position] for position in sorted(places)]
            most = len(numbers) if last is None else last
            while numbers and len(shown) < most:
                batch = numbers[-max(most, _READ_AT_ONCE) :]
                del numbers[-len(batch) :]
                memories = self._hx._services.stores.memories.by_no(batch)
                shown = [memories[no] for no in batch if memories[no].status in _SHOWN] + shown
        return shown[max(0, len(shown) - most) :]


def _placed(draft: Draft, position: int) -> Draft:
    assert draft.turn is not None
    return replace(draft, turn=replace(draft.turn, position=position))
