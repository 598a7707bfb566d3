"""A store's attributes and calls for whoever does not hold the store itself: sent to a server, or awaited in a pool.

They are made from the signatures of the open store's calls: arguments are bound as there, and handed with the call's
name to a sender. What an open store keeps for its callers, the current sessions, is kept here: what answers has many
callers. A sender that returns an awaitable makes every call one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final, Protocol

from hexad.client.verbs import (
    FACADES,
    LOCAL_VERBS,
    OF_SESSION,
    SESSION_ID,
    UNSENT,
    UNSERVED,
    VERBS,
    Verb,
    python_call,
    signature_of,
    takes_session,
)
from hexad.errors import NotFound
from hexad.experience.api import BoundSession
from hexad.layers.session.working_set import WorkingSet

START: Final = VERBS["session.start"]
GET: Final = VERBS["session.get"]


class CurrentSessions:
    """What a caller works on: the session of `session`, and of `xdb` one for each thread and task."""

    def __init__(self) -> None:
        self.working_set: str | None = None
        self._recorded: ContextVar[str | None] = ContextVar("hexad_session", default=None)

    @property
    def recorded(self) -> str | None:
        """The session of `xdb` that the calling thread or task started last."""
        return self._recorded.get()

    def record_to(self, session_id: str | None) -> None:
        """Make a session of `xdb` the current one; None for no more."""
        self._recorded.set(session_id)

    def follow(self, verb: Verb, answer: Any) -> None:
        """Note what a call of `session` has started, moved to or ended."""
        if verb.name == "session.end":
            self.working_set = None
        elif isinstance(answer, WorkingSet) and (takes_session(verb) or verb.call in ("start", "resume")):
            self.working_set = answer.id  # another ticket makes it another one


class Sender(Protocol):
    """Sends a call, and returns its answer or what to await for it."""

    def send(self, verb: Verb, values: Mapping[str, Any]) -> Any:
        """Send a call with its arguments by name."""


def then(answer: Any, follow: Callable[[Any], Any]) -> Any:
    """Return what `follow` makes of an answer, at once or when it is awaited."""
    if not inspect.isawaitable(answer):
        return follow(answer)

    async def later() -> Any:
        following = follow(await answer)
        return await following if inspect.isawaitable(following) else following

    return later()


class Facade:
    """An attribute of a store, whose calls are sent."""

    def __init__(self, sender: Sender, sessions: CurrentSessions) -> None:
        self._sender, self._sessions = sender, sessions

    facade = ""
    """The attribute of a store that this stands for; empty for the store itself."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sender!r})"

    def __getattr__(self, name: str) -> Any:
        """Say why a call of an open store is not here."""
        whole = f"{self.facade}.{name}".lstrip(".")
        if whole in UNSERVED:
            raise AttributeError(
                f"{whole} cannot be called from here: {UNSERVED[whole]}. Call it where the store is open (hexad.open).",
                name=name,
                obj=self,
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)

    def _call(self, verb: Verb, values: dict[str, Any]) -> Any:
        sessions = self._sessions
        if takes_session(verb):
            if sessions.working_set is None:
                return then(self._call(START, {}), lambda _: self._call(verb, values))
            values[SESSION_ID] = sessions.working_set
        elif sessions.recorded is not None and _may_name_session(verb) and values.get(SESSION_ID) is None:
            values[SESSION_ID] = sessions.recorded

        def follow(answer: Any) -> Any:
            sessions.follow(verb, answer)
            return answer

        return then(self._sender.send(verb, values), follow)


@functools.cache
def _may_name_session(verb: Verb) -> bool:
    parameter = signature_of(verb).parameters.get(SESSION_ID)
    return verb.facade == "xdb" and parameter is not None and parameter.default is None


def _method(verb: Verb, *, local: bool) -> Callable[..., Any]:
    whole = signature_of(verb)
    parameters = [parameter for name, parameter in whole.parameters.items() if local or name not in UNSENT]
    signature = whole.replace(parameters=parameters)
    spread = next(
        (parameter.name for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD), None
    )

    @functools.wraps(python_call(verb))
    def method(self: Facade, /, *args: Any, **kwargs: Any) -> Any:
        values = signature.bind(self, *args, **kwargs).arguments
        del values["self"]
        if spread is not None:
            values.update(values.pop(spread, {}))
        return self._call(verb, values)

    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


@functools.cache
def facade_class(facade: str, *, local: bool = False) -> type[Facade]:
    """Return the class of an attribute; a `local` one takes what cannot be sent to another process, too."""
    served = (*VERBS.values(), *LOCAL_VERBS) if local else VERBS.values()
    verbs = [verb for verb in served if verb.facade == facade]
    calls: dict[str, Any] = {verb.call: _method(verb, local=local) for verb in verbs}
    kind = FACADES[facade]
    calls |= {name: make(calls) for name, make in _ADDED.get(facade, {}).items()}
    if facade == "xdb":
        documents = facade_class("xdb.documents", local=local)
        calls["documents"] = property(lambda self: documents(self._sender, self._sessions))
    return type(f"{kind.__name__}Proxy", (Facade,), {**calls, "facade": facade, "__doc__": kind.__doc__})


# What is more than one call -------------------------------------------------------------------------------------------


def _current(calls: Mapping[str, Any]) -> property:
    del calls

    def current(self: Facade) -> Any:
        """What this caller works on; None before `start` and after `end`."""
        if self._sessions.working_set is None:
            return then(_nothing(self), lambda answer: answer)
        return self._call(GET, {SESSION_ID: self._sessions.working_set})

    return property(current)


def _nothing(facade: Facade) -> Any:
    return getattr(facade._sender, "nothing", lambda: None)()


def _handle(calls: Mapping[str, Any]) -> Callable[..., Any]:
    def handle(self: Facade, session_id: str | None = None) -> Facade:
        """Return a handle on a session, by default the current one; raises `NotFound`."""
        chosen = session_id or self._sessions.working_set
        if chosen is None:
            raise NotFound("No session is active here; `start` or `resume` takes one.")
        sessions = CurrentSessions()
        sessions.working_set = chosen
        handle: Facade = handle_class(self._sender, sessions)
        return handle

    named = {name: calls[name] for name in OF_SESSION}
    named |= {"current": _current(calls), "id": property(lambda self: self._sessions.working_set)}
    handle_class = type("SessionHandleProxy", (Facade,), named)
    return handle


def _start_session(calls: Mapping[str, Any]) -> Callable[..., Any]:
    start = calls["start_session"]

    @functools.wraps(start)
    def start_session(self: Facade, /, *args: Any, **kwargs: Any) -> Any:
        def follow(session: Any) -> BoundSessionProxy:
            self._sessions.record_to(session.id)
            return BoundSessionProxy(self, session.id)

        return then(start(self, *args, **kwargs), follow)

    return start_session


def _end_session(calls: Mapping[str, Any]) -> Callable[..., Any]:
    end = calls["end_session"]

    @functools.wraps(end)
    def end_session(self: Facade, /, *, session_id: str | None = None) -> Any:
        chosen = session_id or self._sessions.recorded

        def follow(answer: Any) -> Any:
            if chosen == self._sessions.recorded:
                self._sessions.record_to(None)
            return answer

        return then(end(self, session_id=chosen), follow)

    return end_session


def _session(calls: Mapping[str, Any]) -> Callable[..., Any]:
    context = calls["context"]

    def session(self: Facade, session_id: str) -> Any:
        """Return a handle whose calls are about this session; raises `NotFound`."""
        return then(context(self, session_id), lambda _: BoundSessionProxy(self, session_id))

    return session


_ADDED: Final[Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], Any]]]] = {
    "session": {"current": _current, "handle": _handle},
    "xdb": {
        "start_session": _start_session,
        "end_session": _end_session,
        "session": _session,
    },
}


class BoundSessionProxy:
    """One session of `xdb`: its calls are those of `xdb`, on this session."""

    def __init__(self, xdb: Any, session_id: str) -> None:
        self._xdb = xdb
        self.id = session_id

    def get_comments_for_range(self, start_tick: int, end_tick: int) -> Any:
        """Return the comments of this session, as `Xdb.get_comments_for_range`."""
        return self._xdb.get_comments_for_range(self.id, start_tick, end_tick)

    def end(self) -> Any:
        """End this session, as `Xdb.end_session`."""
        return self._xdb.end_session(session_id=self.id)


def _of_bound(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def method(handle: BoundSessionProxy, /, *args: Any, **kwargs: Any) -> Any:
        if SESSION_ID in kwargs:
            raise TypeError(f"{name}() of a session's handle takes no session_id; it has one.")
        return getattr(handle._xdb, name)(*args, session_id=handle.id, **kwargs)

    return method


for _name, _function in inspect.getmembers(BoundSession, inspect.isfunction):
    if not _name.startswith("_") and _name not in vars(BoundSessionProxy):
        setattr(BoundSessionProxy, _name, _of_bound(_name, _function))
