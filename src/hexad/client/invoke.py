"""One served call on an open store, from its name and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexad.client.verbs import SESSION_ID, Verb, signature_of, takes_session
from hexad.engine import Hexad
from hexad.errors import Conflict, NotFound
from hexad.layers.session.handle import SessionHandle


def invoke(hx: Hexad, verb: Verb, values: Mapping[str, Any], *, acknowledged: bool = False) -> Any:
    """Call a store and return its answer as a value that can be sent; raises what the call raises.

    With `acknowledged` what the call wrote is on the disk when it returns, also where an open store promises less.
    """
    arguments = dict(values)
    target: Any = hx
    if takes_session(verb):
        target = session_handle(hx, arguments.pop(SESSION_ID))
    else:
        for name in filter(None, verb.facade.split(".")):
            target = getattr(target, name)
    spread: tuple[Any, ...] = ()
    for parameter in signature_of(verb).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            spread = tuple(arguments.pop(parameter.name, ()))
    answer = getattr(target, verb.call)(*spread, **arguments)
    if acknowledged and verb.name == "xdb.record":
        hx.xdb.flush()
    if acknowledged and takes_session(verb) and verb.call not in ("snapshot", "end"):
        answer = target.snapshot()
    if verb.name == "use_context":
        return answer.recall()
    if verb.name == "xdb.start_session":
        return next(session for session in hx.xdb.sessions() if session.id == answer.id)
    return answer


def session_handle(hx: Hexad, session_id: str) -> SessionHandle:
    """Return a handle on a working set; raises `NotFound`, and `Conflict` for one that has ended."""
    try:
        return hx.session.handle(session_id)
    except NotFound:
        if hx.session.get(session_id).ended_at is not None:
            raise Conflict(
                f"Session {session_id!r} has ended;",
                argument=SESSION_ID,
                remedy="`{hx.session.resume}` goes on with it, `{hx.session.start()}` begins another.",
            ) from None
        hx.session.resume(session_id)
        return hx.session.handle(session_id)
