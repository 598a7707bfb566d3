"""One measurement of one system of `rivals`, in a process and with the interpreter of that system; prints JSON.

    python -m benchmarks.rival_worker write|ask|single NAME JOB STORE

JOB is the folder with `job.json` and `vectors.npy` that `rivals` wrote, STORE that of the system. Needs the system,
NumPy and the standard library.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Timings, disk_bytes, peak_memory_mb, percentile
from benchmarks.rival_stores import RIVALS, Note, Rival, Vectors

WARM_UP, LIMIT = 10, 10


def measured(phase: str, name: str, job: Path, folder: Path) -> Mapping[str, Any]:
    """Return what a phase found: `write` fills the store, `ask` asks it, `single` adds a few notes one by one."""
    rival = RIVALS[name]
    begun = time.process_time()
    importlib.import_module(rival.imports)
    imported = time.process_time() - begun
    texts, vectors = _given(job)
    folder.mkdir(parents=True, exist_ok=True)
    common = {"version": _version(rival), "import_cpu_ms": 1000 * imported}
    return {**common, **PHASES[phase](rival, folder, texts, vectors)}


def _given(job: Path) -> tuple[dict[str, Any], Vectors]:
    import numpy as np

    texts = json.loads((job / "job.json").read_text(encoding="utf-8"))
    everything = [*texts["notes"], *texts["singles"], *texts["questions"]]
    return texts, Vectors(everything, np.load(job / "vectors.npy"), texts["model"])


def _write(rival: Rival, folder: Path, texts: Mapping[str, Any], vectors: Vectors) -> Mapping[str, Any]:
    notes = _notes(texts["notes"], first=0)
    store = rival.store(folder, vectors)
    timings = Timings()
    with timings:
        store.add(notes)
        store.finish()
    open_bytes = disk_bytes(folder)
    store.close()
    return {
        "write_cpu_s": timings.cpu_ms[0] / 1000,
        "write_s": timings.wall_ms[0] / 1000,
        "open_bytes": open_bytes,
        "write_peak_mb": peak_memory_mb(),
        "computed": store.computed,
    }


def _ask(rival: Rival, folder: Path, texts: Mapping[str, Any], vectors: Vectors) -> Mapping[str, Any]:
    questions: Sequence[str] = texts["questions"]
    store = rival.store(folder, vectors)
    store.search(questions[-1], LIMIT)
    first_cpu_ms = 1000 * time.process_time()
    for question in questions[-WARM_UP:]:
        store.search(question, LIMIT)
    timings, right = Timings(), 0
    for question, answer in zip(questions, texts["answers"], strict=True):
        with timings:
            hits = store.search(question, LIMIT)
        right += any(texts["notes"][answer] in hit for hit in hits)
    peak = peak_memory_mb()
    store.close()
    return {
        "first_cpu_ms": first_cpu_ms,
        "p50_ms": timings.p(0.5),
        "p90_ms": timings.p(0.9),
        "cpu_p50_ms": percentile(timings.cpu_ms, 0.5),
        "right": right / len(questions),
        "ask_peak_mb": peak,
    }


def _single(rival: Rival, folder: Path, texts: Mapping[str, Any], vectors: Vectors) -> Mapping[str, Any]:
    notes = _notes(texts["singles"], first=len(texts["notes"]))
    store = rival.store(folder, vectors)
    store.add_single(notes[0])
    store.finish()
    timings, whole = Timings(), Timings()
    with whole:
        for note in notes[1:]:
            with timings:
                store.add_single(note)
        store.finish()
    store.close()
    return {"single_cpu_ms": whole.cpu_ms[0] / (len(notes) - 1), "single_p50_ms": timings.p(0.5)}


def _notes(texts: Sequence[str], *, first: int) -> list[Note]:
    return [Note(number=number, text=text) for number, text in enumerate(texts, start=first)]


def _version(rival: Rival) -> str:
    name = rival.requires[0].partition("==")[0].partition("[")[0] if rival.requires else rival.imports
    names = {"apsw": ("apsw", "apsw-sqlite3mc")}.get(name, (name,))
    for known in names:
        try:
            return importlib.metadata.version(known)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


PHASES = {"write": _write, "ask": _ask, "single": _single}


def main(arguments: Sequence[str]) -> None:
    """Measure what is asked for and print it as the last line."""
    # The tests' folder has modules of common names, which an optional import of a peer must not find.
    sys.path[:] = [entry for entry in sys.path if Path(entry).name != "tests"]
    phase, name, job, folder = arguments
    found = measured(phase, name, Path(job), Path(folder))
    print("\n" + json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
