"""The browser without a terminal: a state, and what a key makes of it.

A key never touches the store. It gives the next state and, where something is to be done, an `Action`; whoever
drives the browser does it and hands the outcome back through `loaded`, `opened` or `with_message`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from hexad import Status, parse_query_text

if TYPE_CHECKING:
    from hexad import Link, Memory


ANY_STATUS: Final = "any"
STATUSES: Final = (*(status.value for status in Status), ANY_STATUS)
SYNTAX: Final = "words  kind:decision  tag:release  path:shop/billing  status:archived  is:pinned"
_NAMES: Final = ("kind", "tag", "path", "space", "status", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which memories the filter line asks for; `problem` says which part of it cannot be understood (yet)."""

    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    space: str | None = None
    status: str = Status.ACTIVE.value
    pinned: bool | None = None
    problem: str | None = None

    def options(self) -> dict[str, Any]:
        """Return the arguments for `Hexad.memories` and `Hexad.count`."""
        return {
            "text": " ".join(self.words) or None,
            "kinds": self.kinds or None,
            "tags": self.tags or None,
            "path": self.path,
            **({"space": self.space} if self.space is not None else {}),
            "status": None if self.status == ANY_STATUS else self.status,
            "pinned": self.pinned,
        }


def understand(typed: str) -> Wanted:
    """Return what a filter line asks for. What cannot be understood is left out and named in `problem`.

    >>> wanted = understand("refund kind:decision is:pinned")
    >>> wanted.words, wanted.kinds, wanted.pinned
    (('refund',), ('decision',), True)
    >>> understand("status:lost").problem
    'status:lost is none of active, superseded, archived, quarantined, any'
    """
    query = parse_query_text(typed, names=_NAMES)
    path = query.path
    if path is not None and not any(mark in path for mark in "*?["):
        path += "*"  # while it is being typed, a path is the beginning of one
    return Wanted(
        words=(*query.words, *(word for phrase in query.phrases for word in phrase.split())),
        kinds=query.kinds,
        tags=query.tags,
        path=path,
        space=query.space,
        status=query.status or Status.ACTIVE.value,
        pinned=query.pinned,
        problem=next(iter(query.problems), None),
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A text with a cursor before its character number `at`."""

    text: str = ""
    at: int = 0

    @classmethod
    def ending(cls, text: str) -> Line:
        """Return a text with the cursor at its end."""
        return cls(text, len(text))

    def typed(self, key: str) -> Line:
        """Return the line after a key; a key that means nothing here changes nothing.

        >>> Line.ending("tag").typed("s").typed("home").typed("delete")
        Line(text='ags', at=0)
        """
        before, after = self.text[: self.at], self.text[self.at :]
        if len(key) == 1 and key.isprintable():
            return Line(before + key + after, self.at + 1)
        match key:
            case "backspace":
                return Line(before[:-1] + after, max(0, self.at - 1))
            case "delete":
                return Line(before + after[1:], self.at)
            case "left":
                return Line(self.text, max(0, self.at - 1))
            case "right":
                return Line(self.text, min(len(self.text), self.at + 1))
            case "home":
                return Line(self.text, 0)
            case "end":
                return Line.ending(self.text)
            case "ctrl-u":
                return Line(after, 0)
            case "ctrl-k":
                return Line.ending(before)
            case "ctrl-w":
                stem = before.rstrip()
                stem = stem[: stem.rfind(" ") + 1]
                return Line(stem + after, len(stem))
        return self


EMPTY: Final = Line()


ORDERS: Final = ("updated", "created", "path", "relevance", "kind")
CHROME: Final = 5
"""Lines of the list that show no memory: title, filter, heads, what is selected, keys."""
RECORD_CHROME: Final = 3


class Mode(StrEnum):
    """What the keys are about."""

    LIST = "list"
    FILTER = "filter"
    RECORD = "record"
    TAGS = "tags"
    HELP = "help"


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """A memory with all that is shown of it when it is open; each is its own, so that its lines can be kept."""

    memory: Memory
    history: Sequence[Mapping[str, Any]] = ()
    near: Sequence[tuple[str, float]] = ()
    links: Sequence[Link] = ()


MOVES: Final = frozenset(("up", "k", "down", "j", "page-up", "page-down", "home", "g", "end", "G"))
"""Keys that need not know what the cursor is on: several may pass before the list is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something to do in the store: `what` is open (what the cursor is on), pin, unpin, tag, archive, restore,
    refresh or quit."""

    what: str
    id: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserState:
    """All that the screen shows. `rows` is the loaded part of the list, from number `loaded_from` on."""

    width: int = 80
    height: int = 24
    mode: Mode = Mode.LIST
    back: Mode = Mode.LIST  # where Esc leads from the tags and the help
    spaces: tuple[str, ...] = ()
    space: str | None = None
    filter: Line = EMPTY
    order: str = ORDERS[0]
    total: int = 0
    rows: tuple[Memory, ...] = ()
    loaded_from: int = 0
    stale: bool = True  # whether the list is to be asked for again
    top: int = 0
    cursor: int = 0
    record: Record | None = None
    scroll: int = 0
    tags: Line = EMPTY
    archived: str | None = None  # what `u` brings back
    message: str = ""
    is_error: bool = False

    @property
    def wanted(self) -> Wanted:
        """What the filter line asks for."""
        return understand(self.filter.text)

    @property
    def room(self) -> int:
        """How many memories the list shows at once."""
        return max(1, self.height - CHROME)

    @property
    def selected(self) -> Memory | None:
        """The memory under the cursor, or the one that is open."""
        if self.record is not None and Mode.RECORD in (self.mode, self.back):
            return self.record.memory
        at = self.cursor - self.loaded_from
        return self.rows[at] if 0 <= at < len(self.rows) else None

    def filtered(self, typed: str) -> BrowserState:
        """Return the state with this in its filter line."""
        return replace(self, filter=Line.ending(typed))

    @property
    def needs_rows(self) -> bool:
        """Whether the part of the list that shows is not loaded."""
        last = min(self.top + self.room, self.total)
        return self.stale or self.top < self.loaded_from or last > self.loaded_from + len(self.rows)


# What comes back from the store ---------------------------------------------------------------------------------


def loaded(state: BrowserState, rows: Sequence[Memory], *, start: int, total: int) -> BrowserState:
    """Return the state with a part of the list; the cursor stays on its memory where that is in the part."""
    old = state.selected
    state = replace(state, rows=tuple(rows), loaded_from=start, total=total, stale=False)
    here = next((at for at, row in enumerate(rows) if old is not None and row.id == old.id), None)
    return _placed(state, state.cursor if here is None else start + here)


def opened(state: BrowserState, record: Record) -> BrowserState:
    """Return the state with a memory open; one that was open already keeps its place."""
    again = state.record is not None and state.record.memory.id == record.memory.id
    mode = state.mode if state.mode in (Mode.TAGS, Mode.HELP) else Mode.RECORD
    return replace(state, record=record, mode=mode, scroll=state.scroll if again else 0)


def with_message(state: BrowserState, message: str, *, is_error: bool = False) -> BrowserState:
    """Return the state with something said to the user."""
    return replace(state, message=message, is_error=is_error)


def resized(state: BrowserState, width: int, height: int) -> BrowserState:
    """Return the state for a terminal of another size."""
    return _placed(replace(state, width=max(1, width), height=max(1, height)), state.cursor)


def scrolled_within(state: BrowserState, lines: int) -> BrowserState:
    """Return the state scrolled no further than an open record of so many lines goes."""
    most = max(0, lines - max(1, state.height - RECORD_CHROME))
    return replace(state, scroll=min(max(0, state.scroll), most))


def _placed(state: BrowserState, cursor: int) -> BrowserState:
    cursor = max(0, min(cursor, state.total - 1))
    top = min(max(state.top, cursor - state.room + 1), cursor)
    return replace(state, cursor=cursor, top=max(0, min(top, state.total - state.room)))


# What a key does ------------------------------------------------------------------------------------------------


def pressed(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    """Return the state after a key, and what is to be done in the store.

    A key is the character that it types, or a name: up, down, enter, esc, page-up, ctrl-u, …
    """
    if state.mode is not Mode.HELP and state.message:
        state = replace(state, message="", is_error=False)
    match state.mode:
        case Mode.LIST:
            return _in_list(state, key)
        case Mode.FILTER:
            return _in_filter(state, key)
        case Mode.RECORD:
            return _in_record(state, key)
        case Mode.TAGS:
            return _in_tags(state, key)
        case Mode.HELP:
            return replace(state, mode=state.back, back=Mode.LIST), None


def _in_list(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    match key:
        case "q":
            return state, Action(what="quit")
        case "/":
            return replace(state, mode=Mode.FILTER), None
        case "esc":
            return _asking(state, filter=EMPTY) if state.filter.text else state, None
        case "s" | "S":
            step = 1 if key == "s" else -1
            order = ORDERS[(ORDERS.index(state.order) + step) % len(ORDERS)]
            return _asking(state, order=order), None
        case "tab" | "back-tab":
            return _in_other_space(state, 1 if key == "tab" else -1), None
        case "enter" | "right":
            return state, Action(what="open")
    moved = _moved(state.cursor, key, page=state.room, last=state.total - 1)
    if moved is not None:
        return _placed(state, moved), None
    return _on_memory(state, key)


def _in_filter(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    match key:
        case "enter" | "down" | "tab":
            return replace(state, mode=Mode.LIST), None
        case "esc":
            return _asking(state, filter=EMPTY, mode=Mode.LIST), None
    line = state.filter.typed(key)
    if line.text != state.filter.text:
        return _asking(state, filter=line), None
    return replace(state, filter=line), None


def _in_record(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    if key in ("q", "esc", "left", "enter"):
        return replace(state, mode=Mode.LIST, record=None, scroll=0), None
    if key in ("n", "b"):
        neighbour = _placed(state, state.cursor + (1 if key == "n" else -1))
        return replace(neighbour, record=None, mode=Mode.LIST, scroll=0), Action(what="open")
    page = max(1, state.height - RECORD_CHROME)
    moved = _moved(state.scroll, key, page=page, last=_END)
    if moved is not None:
        return replace(state, scroll=moved), None
    return _on_memory(state, key)


_END: Final = 1 << 31  # further than any record: `scrolled_within` knows how far it goes


def _on_memory(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    """The keys that do the same in the list and in an open record."""
    memory = state.selected
    match key:
        case "?":
            return replace(state, mode=Mode.HELP, back=state.mode), None
        case "r" | "ctrl-l":
            return replace(state, stale=True), Action(what="refresh")
        case "u" if state.archived is not None:
            return replace(state, archived=None), Action(what="restore", id=state.archived)
        case "p" | " " if memory is not None:
            return state, Action(what="unpin" if memory.pinned else "pin", id=memory.id)
        case "t" if memory is not None:
            tags = Line.ending(" ".join(memory.tags) + (" " if memory.tags else ""))
            return replace(state, mode=Mode.TAGS, back=state.mode, tags=tags), None
        case "a" if memory is not None:
            if memory.status.value == "active":
                return replace(state, archived=memory.id), Action(what="archive", id=memory.id)
            return state, Action(what="restore", id=memory.id)
    return state, None


def _in_tags(state: BrowserState, key: str) -> tuple[BrowserState, Action | None]:
    if key == "esc":
        return replace(state, mode=state.back, back=Mode.LIST), None
    if key != "enter":
        return replace(state, tags=state.tags.typed(key)), None
    memory = state.selected
    state = replace(state, mode=state.back, back=Mode.LIST)
    if memory is None:
        return state, None
    words = state.tags.text.replace(",", " ").split()
    add = tuple(word for word in words if word not in memory.tags)
    remove = tuple(tag for tag in memory.tags if tag not in words)
    return state, Action(what="tag", id=memory.id, add=add, remove=remove) if add or remove else None


def _moved(at: int, key: str, *, page: int, last: int) -> int | None:
    """Return the place after a key that moves; None for one that does not."""
    match key:
        case "up" | "k":
            return max(0, at - 1)
        case "down" | "j":
            return at + 1
        case "page-up":
            return max(0, at - page)
        case "page-down":
            return at + page
        case "home" | "g":
            return 0
        case "end" | "G":
            return last
    return None


def _in_other_space(state: BrowserState, step: int) -> BrowserState:
    shown: list[str | None] = [None, *state.spaces]
    at = shown.index(state.space) if state.space in shown else 0
    return _asking(state, space=shown[(at + step) % len(shown)])


def _asking(state: BrowserState, **changed: Any) -> BrowserState:
    """Return a state whose list is another one: it begins at its top."""
    return replace(state, **changed, top=0, cursor=0, rows=(), loaded_from=0, stale=True)
