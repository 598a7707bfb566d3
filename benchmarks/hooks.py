"""`hooks`: the CPU of `hexad hook`, event by event, as processes of their own; and how many would have given up.

The limit is lifted for the measurement, so that what takes longer is seen. Bytecode is compiled before, as an
installation has it. Beside it, bare Python and its import of `hexad`: on a busy machine all of these take longer alike.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Final

import hexad
from benchmarks.report import Options, Report, Table
from hexad.interfaces.hooks.events import EVENTS
from hexad.interfaces.hooks.run import CPU_LIMIT_S

_PATIENT: Final = """
import sys
import hexad.interfaces.hooks.run as hooks
hooks.CPU_LIMIT_S = hooks.DEADLINE_S = 60.0
hooks.run(sys.argv[1:])
"""
_MEMORIES: Final = 1_000
_RANDOM: Final = ", folder with a random name"
"""Such a name may hold a secret: then the rules of redaction are loaded, which names of words alone do without."""


def run(options: Options) -> Report:
    """Measure every event in a store of 1,000 memories, in turn."""
    times, plain = 3 if options.quick else 31, options.work.parent / "hexad-hooks"
    try:
        return _measured(options, times, {"": plain / "shop", _RANDOM: options.work / "x1y2z3w4" / "shop"})
    finally:
        shutil.rmtree(plain, ignore_errors=True)


def _measured(options: Options, times: int, projects: dict[str, Path]) -> Report:
    for project in projects.values():
        _fill(project)
    commands: dict[str, tuple[list[str], str, Path]] = {
        "bare Python": (["-c", "pass"], "", projects[""]),
        "import hexad": (["-c", "import hexad"], "", projects[""]),
    }
    for where, project in projects.items():
        for event in EVENTS if not where else ("session-start", "tool-use"):
            commands[event + where] = (["-c", _PATIENT, event, "--debug"], event, project)
    found: dict[str, list[float]] = {name: [] for name in commands}
    told: dict[str, int] = {}
    for number in range(-1, times):  # the first compiles
        for name, (command, event, project) in commands.items():
            spent, size = _cpu_ms(command, _given(event, project, number), options.work / "compiled")
            if number >= 0:
                found[name].append(spent)
                told[name] = size
    limit_ms = CPU_LIMIT_S * 1_000
    rows = [
        (name, min(spent), median(spent), max(spent), sum(each > limit_ms for each in spent), told[name])
        for name, spent in found.items()
    ]
    report = Report(name="Hooks")
    columns = ("process", "least, ms", "median, ms", "most, ms", f"over {limit_ms:.0f} ms", "bytes told")
    report.tables.append(
        Table(title=f"CPU of {times} runs, {_MEMORIES:,} memories", columns=columns, rows=rows)
    )
    report.notes.append(f"Load average {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores.")
    for event in EVENTS:
        report.at_most(f"{event}, median", median(found[event]), limit_ms, "ms")
    return report


def _fill(project: Path) -> None:
    project.mkdir(parents=True)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.session.start("move the shop to Postgres", steps=["schema", "data", "cart"])
        for number in range(_MEMORIES):
            hx.remember(
                f"Shop {number} opens at {number % 12 + 1} and sells article {number * 7} of the garden."
            )
        hx.remember("Deploys happen on Tuesday, after the checks are green.", kind="convention", pinned=True)


def _given(event: str, project: Path, number: int) -> bytes:
    transcript = project.parent / "transcript.jsonl"
    if event in ("compaction", "session-end"):
        entry = {
            "type": "user",
            "timestamp": f"2099-01-01T{(number + 1) % 24:02}:{list(EVENTS).index(event):02}:00Z",
            "message": {"content": f"Now step {number} of the work, and keep the checks green, please."},
        }
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    given = {
        "hook_event_name": event,
        "cwd": str(project),
        "prompt": "On which day do deploys happen?",
        "tool_input": {"file_path": str(project / "src" / f"module{number}.py")},
        "transcript_path": str(transcript) if event != "turn-end" else "",
    }
    return json.dumps(given).encode()


def _cpu_ms(command: list[str], given: bytes, compiled: Path) -> tuple[float, int]:
    """Return what a process took, user and system, and how much it said."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *command],
        input=given,
        capture_output=True,
        env={**environment, "PYTHONPYCACHEPREFIX": str(compiled)},
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.stderr:
        raise RuntimeError(done.stderr.decode())
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1_000, len(done.stdout)
