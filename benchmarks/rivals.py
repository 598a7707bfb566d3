"""Hexad beside the systems that pip installs and that run without a key, a model or a download of their own.

Every system gets the same notes and the same vectors, computed before by Hexad's embedder, in an environment and in
processes of its own: one that fills a store, a fresh one that asks it, one that adds a few notes. What cannot be
installed or fails is named with the reason. The floors are SQLite's FTS5, exact cosines by NumPy, and both joined.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.report import Options, Report, Table, disk_bytes
from benchmarks.rival_environments import NotInstalled, environment, reason
from benchmarks.rival_stores import FLOORS, OWN, RIVALS
from benchmarks.rival_texts import sample

HERE: Final = Path(__file__).resolve().parent
CACHE: Final = HERE.parent / "build" / "rivals"
SIZES, QUICK_SIZES = (600, 6_000), (600,)
QUESTIONS, SINGLES = 200, 41
_PHASE_SECONDS: Final = 3_600
_NO_NETWORK: Final = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "GRAPHITI_TELEMETRY_ENABLED": "false",
    "HF_HUB_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "MEMVID_OFFLINE": "1",
    "MEMVID_TELEMETRY": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}
LEFT_OUT: Final = {
    "basic-memory": "it needs Python 3.12, and its vectors are those of a model that it downloads",
    "Hindsight": "it is a service over a Postgres of its own; its vectors are those of a model or an endpoint",
    "Graphiti over FalkorDB Lite": "that needs Python 3.12; over Kuzu it is measured",
    "LangMem": "its memories lie in LangGraph's store, which is measured",
    "Letta, Cognee, A-MEM, memU, LightRAG": "a language model takes part in each write",
}
"""What was looked at and is not measured, with the reason."""

_TIMES: Final = (
    ("rate", "notes a CPU-second"),
    ("single_cpu_ms", "one more, CPU ms"),
    ("p50_ms", "recall p50 ms"),
    ("p90_ms", "recall p90 ms"),
    ("cpu_p50_ms", "recall, CPU ms"),
)
_ROOM: Final = (
    ("closed_kb", "kB a note"),
    ("open_kb", "kB a note while open"),
    ("write_peak_mb", "peak MB, writing"),
    ("ask_peak_mb", "peak MB, asking"),
    ("import_cpu_ms", "import, CPU ms"),
    ("first_cpu_ms", "start to first answer, CPU ms"),
)

Found = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """The notes, questions and vectors of one size, written where the workers read them."""

    items: int
    folder: Path


def run(options: Options) -> Report:
    """Measure the floors, Hexad and its peers, at each size."""
    report = Report(name="Hexad beside its peers")
    names = [*OWN, *(name for name in RIVALS if name not in OWN and _is_wanted(name, options))]
    pythons, failures = _installed(names, options.cache or CACHE)
    for items in options.items or (QUICK_SIZES if options.quick else SIZES):
        job = _prepared(items, options.work / f"job-{items}")
        found: dict[str, Found] = {}
        for at, name in enumerate(pythons, start=1):
            _say(f"{items:,} notes: {name} ({at} of {len(pythons)})")
            try:
                found[name] = _measured(name, pythons[name], job)
                _say("  " + ", ".join(f"{title} {found[name][of]:.4g}" for of, title in (*_TIMES, *_ROOM)))
            except _Failed as error:
                failures[f"{name}, {items:,} notes"] = str(error)
                _say(f"  {error}")
        _tell(found, items, report)
    _tell_failures(failures, report)
    report.notes += _NOTES
    return report


def _is_wanted(name: str, options: Options) -> bool:
    return not options.only or name in options.only


def _say(words: str) -> None:
    print(f"rivals: {words}", file=sys.stderr, flush=True)


def _installed(names: Sequence[str], cache: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the interpreter of each system, and why some have none."""
    pythons, failures = {}, {}
    for at, name in enumerate(names, start=1):
        if RIVALS[name].requires:
            _say(f"environment of {name} ({at} of {len(names)}) below {cache}")
        try:
            pythons[name] = environment(RIVALS[name], cache)
        except NotInstalled as error:
            failures[name] = f"cannot be installed: {error}"
            _say(f"{name} {failures[name]}")
    return pythons, failures


# Measuring ------------------------------------------------------------------------------------------------------


class _Failed(Exception):
    pass


def _prepared(items: int, folder: Path) -> _Job:
    """Write notes, questions and their vectors; the default embedder computes each vector once for all systems."""
    import numpy as np

    from hexad.providers.embedders.base import resolve

    _say(f"{items:,} notes: computing their vectors")
    folder.mkdir(parents=True)
    told = sample(items + SINGLES, questions=0)
    asked = sample(items, questions=QUESTIONS)
    notes, singles = list(told.texts[:items]), list(told.texts[items:])
    model = resolve("default")
    assert model is not None
    rows = model.embed([*notes, *singles])
    questions = np.stack([model.embed_query(question) for question in asked.questions])
    np.save(folder / "vectors.npy", np.concatenate([rows, questions]).astype(np.float32))
    job = {
        "model": model.name,
        "notes": notes,
        "singles": singles,
        "questions": asked.questions,
        "answers": asked.answers,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return _Job(items=items, folder=folder)


def _measured(name: str, python: Path, job: _Job) -> Found:
    """Return what a system took. Raises `_Failed` with the reason when one of its processes fails."""
    work = job.folder / name
    store = work / "store"
    store.mkdir(parents=True)
    try:
        found = dict(_phase("write", name, python, job, store))
        found["closed_kb"] = disk_bytes(store) / 1000 / job.items
        found["open_kb"] = found["open_bytes"] / 1000 / job.items
        found["rate"] = job.items / found["write_cpu_s"]
        for phase in ("ask", "single"):
            found |= _phase(phase, name, python, job, store)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return found


def _phase(phase: str, name: str, python: Path, job: _Job, store: Path) -> Mapping[str, Any]:
    command = [
        str(python),
        "-m",
        "benchmarks.rival_worker",
        phase,
        name,
        str(job.folder),
        str(store),
    ]
    # Nothing is written into anybody's home. Bytecode is kept, as it is once a package is installed.
    home = str(store.parent / "home")
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables |= {**_NO_NETWORK, "HOME": home, "MEM0_DIR": f"{home}/.mem0", "MEMVID_LOCK_REGISTRY_DIR": home}
    Path(home).mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            command,
            cwd=HERE.parent,
            env=variables,
            capture_output=True,
            text=True,
            timeout=_PHASE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Failed(f"`{phase}` took more than {_PHASE_SECONDS} s") from None
    if done.returncode:
        raise _Failed(f"`{phase}` ended with {done.returncode}: {reason(done.stderr)}")
    found: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# Reporting ------------------------------------------------------------------------------------------------------


def _tell(found: Mapping[str, Found], items: int, report: Report) -> None:
    times = ("", "version", "searches by", *(title for _, title in _TIMES), "right in ten")
    rows: list[Sequence[Any]] = [
        (_name(name), of["version"], RIVALS[name].by, *(of[measure] for measure, _ in _TIMES), of["right"])
        for name, of in found.items()
    ]
    report.tables.append(Table(title=f"{items:,} notes: time", columns=times, rows=rows))
    rows = [(_name(name), *(of[measure] for measure, _ in _ROOM)) for name, of in found.items()]
    room = ("", *(title for _, title in _ROOM))
    report.tables.append(Table(title=f"{items:,} notes: room and start", columns=room, rows=rows))
    for name, of in found.items():
        if of["computed"]:
            report.notes.append(
                f"{items:,} notes: {name} had the model compute {of['computed']:,} more vectors, of single sentences of"
                " notes that are alike; their time and memory are in its figures."
            )
    besides_hexad = {name: "hexad" for name in found if name != "hexad"}
    besides_floor = {name: FLOORS[RIVALS[name].by] for name in found if name not in FLOORS.values()}
    report.tables.append(_ratios(f"{items:,} notes: how many times Hexad's", found, besides_hexad))
    report.tables.append(_ratios(f"{items:,} notes: how many times its floor's", found, besides_floor))


def _ratios(title: str, found: Mapping[str, Found], beside: Mapping[str, str]) -> Table:
    """Return each measure over that of another system; nothing where the other was not measured.

    Imports are left out: some systems, Hexad among them, import what they need when they need it.
    """
    measures = [(measure, title) for measure, title in (*_TIMES, *_ROOM) if measure != "import_cpu_ms"]
    rows = [
        (
            _name(name),
            *(
                found[name][measure] / found[other][measure] if other in found else None
                for measure, _ in measures
            ),
        )
        for name, other in beside.items()
    ]
    return Table(title=title, columns=("", *(title for _, title in measures)), rows=rows)


def _tell_failures(failures: Mapping[str, str], report: Report) -> None:
    if failures:
        rows = list(failures.items())
        report.tables.append(Table(title="Not measured", columns=("system", "reason"), rows=rows))
    report.notes += [f"Left out: {name}: {why}." for name, why in LEFT_OUT.items()]


def _name(name: str) -> str:
    return f"**{name}**" if name == "hexad" else f"{name}: {RIVALS[name].what.removeprefix('floor: ')}"


_NOTES: Final = (
    "CPU counts all threads of a process; p50 and p90 are wall times. Ratios say how many times as much as the other: of"
    " notes a CPU-second more is better, of all else less. *Right in ten*: share of 200 questions whose note was among ten"
    " hits. Import is no ratio: some systems, Hexad among them, import what they need when they need it.",
)
