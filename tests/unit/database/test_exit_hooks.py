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
