from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from hexad.database.exit_hooks import ExitPhase, forget, register

class Owner:
    pass

background, records, engine, forgotten = Owner(), Owner(), Owner(), Owner()

def stop_background():
    print("background")
    register(ExitPhase.ENGINE, engine, lambda: print("engine"))  # what it had in hand needed one

register(ExitPhase.RECORDS, records, lambda: print("records"))
register(ExitPhase.BACKGROUND, background, stop_background)
register(ExitPhase.ENGINE, forgotten, lambda: print("forgotten"))
forget(ExitPhase.ENGINE, forgotten)
"""


def test_what_begins_while_a_program_ends_is_ended_too_and_in_its_turn():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )

    assert (["background", "records", "engine"], "", 0) == (
        done.stdout.split(),
        done.stderr,
        done.returncode,
    )


LATER_IMPORT = """
import atexit
from hexad.database.exit_hooks import ExitPhase, register

class Owner:
    pass

first, second = Owner(), Owner()
register(ExitPhase.RECORDS, first, lambda: print("records"))
atexit.register(lambda: print("package"))
register(ExitPhase.ENGINE, second, lambda: print("engine"))
"""


def test_it_ends_before_a_package_that_was_imported_in_between():
    done = subprocess.run(
        [sys.executable, "-c", LATER_IMPORT], capture_output=True, text=True, timeout=60, check=False
    )

    assert (["records", "engine", "package"], "") == (done.stdout.split(), done.stderr)


NATIVE_CALLS = """
import atexit
import threading

def try_later():
    try:
        with calls.running():
            print("later")
    except ProgramEnding as error:
        print(error)

atexit.register(try_later)  # what is registered first is called last

from hexad.database.exit_hooks import ExitPhase, NativeCalls, ProgramEnding, register

calls, begun, go_on = NativeCalls(), threading.Event(), threading.Event()

def call():
    with calls.running():
        begun.set()
        go_on.wait()
        print("call")

threading.Thread(target=call, daemon=True).start()
begun.wait()
register(ExitPhase.RECORDS, begun, lambda: (print("records"), go_on.set()))
"""


def test_a_native_call_in_hand_is_waited_for_at_the_end_and_no_other_is_begun_after_it():
    done = subprocess.run(
        [sys.executable, "-c", NATIVE_CALLS], capture_output=True, text=True, timeout=60, check=False
    )

    assert (["records", "call", "The program is ending."], "", 0) == (
        done.stdout.splitlines(),
        done.stderr,
        done.returncode,
    )
