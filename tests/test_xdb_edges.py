"""Where the stream could lose or mistake something: forks, interrupts, ends of programs, odd folders and bounds."""

from __future__ import annotations

import os
import threading
import time


from hexad import Hexad, InvalidInput


def contents(hx: Hexad) -> list[str]:
    return [one.content for one in hx.xdb.recall(session_id="*", limit=100_000)]


def test_a_forked_child_cannot_write_what_its_parent_recorded(opened):
    hx = opened()
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "first")
    hx.xdb.flush()
    hx.xdb.record("output", "waits")
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        os.read(ready, 1)
        try:
            hx.xdb.flush()
        except InvalidInput:
            os._exit(7)
        os._exit(0)

    for at in range(50):
        hx.xdb.record("output", f"more {at}")
    hx.xdb.flush()
    os.write(go, b"x")
    _, status = os.waitpid(child, 0)
    os.close(ready)
    os.close(go)

    assert 7 == os.waitstatus_to_exitcode(status)
    assert ["first", "waits", *(f"more {at}" for at in range(50))] == contents(hx)


def test_what_a_thread_recorded_while_another_closed_the_store_is_there(opened):
    missing = 0
    for _ in range(5):
        hx = opened()
        session = hx.xdb.start_session("monday")
        recorded: list[str] = []

        def work(session=session, recorded=recorded) -> None:
            try:
                while True:
                    recorded.append(session.record("output", "x"))
            except InvalidInput:
                return

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        hx.close()
        for thread in threads:
            thread.join()
        again = opened()
        found = {one.id for one in again.xdb.recall(session_id="monday", limit=100_000)}
        missing += len(set(recorded) - found)
        again.close()
    assert 0 == missing
