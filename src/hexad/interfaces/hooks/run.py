"""Running a hook: within its time, with exit code 0 whatever happens, and on stdout nothing but a whole answer."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import resource
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, NoReturn

CPU_LIMIT_S: Final = 0.150
"""So much CPU a hook may take, the start of Python included."""
DEADLINE_S: Final = 2.0
"""So long it may take at all; a client waits for it."""
_STDIN_BYTES_LIMIT: Final = 4 << 20
_READ_BYTES: Final = 1 << 16


def run(arguments: Sequence[str]) -> NoReturn:
    """Answer the event that the first argument names, and end the process with exit code 0."""
    gc.disable()  # nothing lives long enough to be worth collecting; it is a fifth of the time that imports take
    _lighten_dataclasses()
    debug = "--debug" in arguments
    _watch(debug=debug)
    try:
        answer = _answer(next((word for word in arguments if word != "--debug"), ""))
    except BaseException as error:  # noqa: BLE001 - whatever goes wrong, the assistant goes on
        if debug:
            _explain(f"{type(error).__name__}: {error}")
        answer = b""
    while answer:
        try:
            answer = answer[os.write(1, answer) :]
        except OSError:
            break
    os._exit(0)  # what is to be kept is on the disk; taking the modules down would cost more than the work


def _lighten_dataclasses() -> None:
    """Leave the methods out of dataclasses that a hook does not need: each is compiled anew at every start.

    A hundred classes are two fifths of what an import of the engine takes, and half of that is what shows a value and
    what keeps it from being changed. It is the process of one event, in which nothing does either.
    """
    whole: Any = dataclasses.dataclass

    def light(cls: type | None = None, /, *, eq: bool = True, frozen: bool = False, **options: Any) -> Any:
        options |= {"repr": False, "unsafe_hash": options.get("unsafe_hash", False) or (eq and frozen)}
        return whole(cls, eq=eq, **options)

    dataclasses.dataclass = light


def _answer(event: str) -> bytes:
    data = _read()
    events, payload = (
        import_module("hexad.interfaces.hooks.events"),
        import_module("hexad.interfaces.hooks.payload"),
    )
    if event not in events.EVENTS:
        raise ValueError(f"There is no event {event!r}; give one of {', '.join(events.EVENTS)}.")
    try:
        fields = json.loads(data)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise TypeError("What stands on stdin is no JSON object, which the assistant gives a hook.")
    event_payload = payload.HookPayload(fields)
    text = events.answer_of(event, event_payload)
    if not text:
        return b""
    answer = {"hookEventName": event_payload.event_name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": answer}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _read() -> bytes:
    """Return what stands on stdin; raises `ValueError` for more than any event says."""
    data = bytearray()
    while chunk := os.read(0, _READ_BYTES):
        data += chunk
        if len(data) > _STDIN_BYTES_LIMIT:
            raise ValueError(f"What stands on stdin is more than {_STDIN_BYTES_LIMIT >> 20} MiB.")
    return bytes(data)


def _explain(reason: str) -> None:
    with suppress(OSError):
        os.write(2, (" ".join(reason.split()) + "\n").encode("utf-8", "replace"))


def _watch(*, debug: bool) -> None:
    """End the process when its time is over, also within a call that takes long.

    Python's own handlers wait for the call to return; a thread that waits for the signal does not. So they do nothing,
    and the thread alone ends the process: what it explains is written once.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    rest_s = CPU_LIMIT_S - usage.ru_utime - usage.ru_stime
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    threading.Thread(target=_give_up, args=(reading, debug), daemon=True).start()
    signal.setitimer(signal.ITIMER_PROF, max(rest_s, 0.001))
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)


def _give_up(reading: int, debug: bool) -> None:
    number = os.read(reading, 1)[0]
    if debug:
        reasons: dict[int, str] = {
            signal.SIGPROF: f"it took more than {CPU_LIMIT_S * 1_000:,.0f} ms of CPU",
            signal.SIGALRM: f"it took more than {DEADLINE_S:g} s",
        }
        _explain(f"Gave up: {reasons.get(number, 'it was told to stop')}.")
    os._exit(0)
