"""The tool `session`: what is being worked on here, one action a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hexad
from hexad.core.prompt_fence import fenced_json
from hexad.interfaces.mcp.answers import without_blanks
from hexad.interfaces.mcp.open_store import OpenStore

if TYPE_CHECKING:
    from hexad import Hexad, WorkingSet

_NEEDS = {
    "task": "task",
    "step": "steps",
    "done": "step",
    "edit": "path",
    "note": "text",
}
"""The argument that an action cannot do without."""


def session(store: OpenStore, arguments: dict[str, Any], progress: Callable[[int], None]) -> dict[str, Any]:
    """Do one action on a session; what is changed is on the disk when this returns."""
    del progress
    action = arguments.get("action", "show")
    session_id = arguments.get("session_id")
    needed = ("role", "text") if action == "turn" else (_NEEDS[action],) if action in _NEEDS else ()
    for name in needed:
        if name not in arguments:
            raise hexad.InvalidInput(
                f"session with action={action} needs the argument {name!r}.", argument=name
            )
    if action == "show":
        return _show(store.get(), session_id)
    if action == "list":
        working_sets = store.get().session.list(limit=arguments.get("limit", 50))
        return {"session": None, "sessions": [_brief(working_set) for working_set in working_sets]}
    hx = store.get(create=True)
    if action == "start":
        return _whole(_start(hx, arguments))
    if action == "resume":
        return _whole(hx.session.resume(session_id, folder=_here(hx), shared=True))
    return _whole(_change(hx, action, arguments))


def _show(hx: Hexad, session_id: str | None) -> dict[str, Any]:
    if session_id is not None:
        return _whole(hx.session.get(session_id))
    current = hx.session.current
    if current is not None:
        return _whole(current)
    offer = hx.session.resumable(folder=_here(hx))
    if offer is None:
        return {"session": None, "question": "There is no unfinished session here; action=start begins one."}
    return {**_whole(offer.working_set), "question": offer.question}


def what_was_left(hx: Hexad) -> str:
    """Return what was left here as text; empty where nothing was."""
    answer = _show(hx, None)
    if answer["session"] is None:
        return ""
    return fenced_json(json.dumps(answer["session"], ensure_ascii=False, indent=2))


def _start(hx: Hexad, arguments: dict[str, Any]) -> WorkingSet:
    return hx.session.start(
        arguments.get("task"),
        ticket=arguments.get("ticket"),
        steps=arguments.get("steps", ()),
        fresh=arguments.get("fresh", False),
        session_id=arguments.get("session_id"),
        folder=_here(hx),
    )


def _change(hx: Hexad, action: str, arguments: dict[str, Any]) -> WorkingSet:
    """Change the named session, or the one in hand, what was left here, or a new one."""
    session_id = arguments.get("session_id")
    if session_id is not None or hx.session.current is None:
        try:
            hx.session.resume(session_id, folder=_here(hx), shared=True)
        except hexad.NotFound:
            if session_id is not None:
                raise
            hx.session.start(folder=_here(hx))
    handle = hx.session.handle(session_id)
    match action:
        case "task":
            handle.set_task(arguments["task"], steps=arguments.get("steps", ()))
        case "step":
            handle.add_steps(*arguments["steps"])
        case "done":
            handle.mark_step(arguments["step"])
        case "edit":
            handle.record_edit(
                arguments["path"], line=arguments.get("line"), summary=arguments.get("summary")
            )
        case "turn":
            handle.add_turn(arguments["role"], arguments["text"])
        case "note":
            handle.note(arguments["text"])
        case _:
            return handle.end(arguments.get("outcome"))
    return handle.snapshot()


def _here(hx: Hexad) -> Path | None:
    """Return the server's folder where it is a worktree of the store's repository; None is the store's own."""
    here = Path.cwd()
    same = hx.session.place(here).repository == hx.session.place().repository
    return here if same else None


def _whole(working_set: WorkingSet) -> dict[str, Any]:
    return {"session": without_blanks(working_set.to_dict())}


def _brief(working_set: WorkingSet) -> dict[str, Any]:
    answer = working_set.to_dict()
    names = ("id", "task", "ticket", "branch", "updated_at", "ended_at", "outcome", "active")
    return without_blanks({name: answer.get(name) for name in names})
