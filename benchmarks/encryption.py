"""`encryption`: what it costs on writing, recall, the stream and opening, and how long changing it takes.

Every figure stands beside a plain store that is measured in the same run, in turns, so that a slow moment of the machine
meets both. Beside the changes stands a copy of the store's files, which is synced too.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.erasure import texts
from benchmarks.report import Options, Report, Table, percentile
from benchmarks.stream_data import asked, columns
from hexad.database.encryption.key_providers import keyring_is_usable
from hexad.memory.draft import Draft

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
WORDS: Final = "six words are better than one"
_BATCH, _STREAM_BATCH = 500, 20_000
_SINGLES, _QUESTIONS, _OPENINGS = 200, 200, 7
_TURNS: Final = 3
_KINDS: Final = ("plain", "encrypted")
_SESSION: Final = "session"


def run(options: Options) -> Report:
    """Measure both kinds of store, then the changes from one to the other, and opening by provider."""
    report = Report(name="Encryption")
    memories, timesteps = (2_000, 40_000) if options.quick else (50_000, 1_000_000)
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in _KINDS}
    for turn in range(_TURNS):
        for kind in _KINDS if turn % 2 else reversed(_KINDS):
            folder = options.work / kind
            shutil.rmtree(folder, ignore_errors=True)
            found[kind].append(in_child(measure, folder, kind == "encrypted", memories, timesteps))
    best = {kind: {name: min(run[name] for run in runs) for name in runs[0]} for kind, runs in found.items()}
    report.tables.append(_costs(report, best))
    report.tables.append(_changes(options, options.work / "plain"))
    report.tables.append(_openings(options))
    report.notes.append(
        f"{memories:,} memories of 60 words with hashed vectors, {timesteps:,} tokens with ten activations. Least of {_TURNS} "
        "runs in turns; times are CPU time of all threads where the column says so. Opening is the call of `hexad.open` "
        "in a fresh process, imports left out, median; scrypt is most of a passphrase's."
    )
    return report


def _costs(report: Report, best: Mapping[str, Mapping[str, float]]) -> Table:
    names = {
        "write": "a memory in batches of 500, µs of CPU",
        "single": "one `remember`, ms (median)",
        "recall": "a recall, µs of CPU (median)",
        "record": "a timestep in batches, µs of CPU",
        "one": "a timestep alone, µs of CPU",
        "seal": "sealing a timestep, µs of CPU",
        "concept": "a concept's strongest 100, ms of CPU",
        "text": "events by a word, ms of CPU",
        "tick": "one timestep by its id, ms of CPU",
        "bytes": "bytes on disk, MB",
    }
    rows = []
    for name, title in names.items():
        plain, sealed = (best[kind][name] for kind in _KINDS)
        rows.append((title, plain, sealed, sealed / plain))
        if name != "bytes":
            report.figure(f"encrypted over plain: {title}", sealed / plain, "×")
    return Table(title="What it costs", columns=("", *_KINDS, "×"), rows=rows)


def measure(folder: Path, encrypted: bool, memories: int, timesteps: int) -> dict[str, float]:
    """Fill a store and ask it."""
    folder.mkdir(parents=True)
    found = {}
    with _opened(folder, KEY if encrypted else None) as hx:
        found |= _write(hx, memories)
        found |= _record(hx, timesteps)
    with _opened(folder, KEY if encrypted else None) as hx:
        hx.xdb.start_session(_SESSION, compaction=False)
        found["concept"] = asked(lambda: hx.xdb.recall_by_concept("pack::Concept7", limit=100)).cpu_ms
        found["text"] = asked(lambda: hx.xdb.recall_events("word17", limit=20)).cpu_ms
        found["tick"] = asked(lambda: hx.xdb.get_timestep(f"ts-{_SESSION}-{timesteps // 2}")).cpu_ms
    found["bytes"] = _bytes(folder) / 1e6
    return found


def _write(hx: hexad.Hexad, memories: int) -> dict[str, float]:
    made = [text for text, _ in texts(memories + _SINGLES + _QUESTIONS)]
    drafts = [Draft(text=text, path=f"notes/{at % 997}/{at}") for at, text in enumerate(made[:memories])]
    cpu = time.process_time()
    for start in range(0, memories, _BATCH):
        hx._services.ingest().writer.write(drafts[start : start + _BATCH])
    write = 1e6 * (time.process_time() - cpu) / memories
    hx.embed_pending()
    singles = [_seconds(partial(hx.remember, text)) for text in made[memories : memories + _SINGLES]]
    questions = [" ".join(text.split()[:6]) for text in made[memories + _SINGLES :]]
    hx.recall(questions[0])
    recalls = [_cpu_s(partial(hx.recall, text)) for text in questions]
    return {
        "write": write,
        "single": 1e3 * percentile(singles, 0.5),
        "recall": 1e6 * percentile(recalls, 0.5),
    }


def _record(hx: hexad.Hexad, timesteps: int) -> dict[str, float]:
    hx.xdb.start_session(_SESSION, compaction=False)
    spent = 0.0
    for first in range(0, timesteps, _STREAM_BATCH):
        batch = columns(first, min(_STREAM_BATCH, timesteps - first))
        spent += _cpu_s(partial(hx.xdb.record_many, batch))
    for _ in range(100):
        hx.xdb.record(
            "output", " word", {"pack::Concept7": 0.5}
        )  # what is loaded at the first is not its cost
    hx.xdb.flush()
    singles = 5_000
    alone = _cpu_s(
        lambda: [hx.xdb.record("output", " word", {"pack::Concept7": 0.5}) for _ in range(singles)]
    )
    seal = _cpu_s(hx.xdb.seal)
    return {
        "record": 1e6 * spent / timesteps,
        "one": 1e6 * alone / singles,
        "seal": 1e6 * seal / (timesteps + singles + 100),
    }


def _changes(options: Options, folder: Path) -> Table:
    size = _bytes(folder)
    rows: list[tuple[str, float, float]] = []
    for title, work in (
        ("files copied and synced", lambda: _copied(folder, options.work / "copy")),
        ("encrypt", lambda: hexad.encrypt(folder, key=KEY)),
        ("rekey", lambda: hexad.rekey(folder, key=KEY, new_key=OTHER_KEY)),
        ("rekey --wrap-only", lambda: hexad.rekey(folder, key=OTHER_KEY, new_key=KEY, wrap_only=True)),
        ("decrypt", lambda: hexad.decrypt(folder, key=KEY)),
    ):
        took = _seconds(work)
        rows.append((title, took, size / 1e6 / took))
    return Table(title=f"Changing it, {size / 1e6:,.0f} MB", columns=("", "s", "MB/s"), rows=rows)


def _openings(options: Options) -> Table:
    rows = []
    command = f"{sys.executable} -S -c \"print('5e' * 32)\""
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "program": {"key": KEY},
        "key_file": {"key": options.work / "one.key"},
        "passphrase": {"key": WORDS},
        "command": {"environment": {"HEXAD_KEY_COMMAND": command}, "provider": "command"},
    }
    if keyring_is_usable():
        ways["keyring"] = {"provider": "keyring"}
    for name, way in ways.items():
        folder = options.work / f"open-{name}"
        folder.mkdir()
        in_child(_make, folder, way)
        found = [in_child(_open, folder, way) for _ in range(_OPENINGS)]
        rows.append((name, *(percentile([row[at] for row in found], 0.5) for at in range(2))))
    return Table(title="Opening", columns=("provider", "open, ms", "first recall, ms"), rows=rows)


def _make(folder: Path, way: Mapping[str, Any]) -> None:
    os.environ.update(way.get("environment", {}))
    if way:
        hexad.init(folder, encrypt=True, provider=way.get("provider"), key=way.get("key"))
    with _opened(folder, way.get("key")) as hx:
        for text, _ in texts(100):
            hx.remember(text)


def _open(folder: Path, way: Mapping[str, Any]) -> tuple[float, float]:
    os.environ.update(way.get("environment", {}))
    with hexad.open(":memory:", embedder=None, background=False) as hx:  # imports
        hx.remember("words")
        hx.recall("words")
    began = time.perf_counter()
    hx = _opened(folder, way.get("key"))
    opened = time.perf_counter()
    hx.recall("w1 w2")
    done = time.perf_counter()
    hx.close()
    return 1e3 * (opened - began), 1e3 * (done - opened)


def _opened(folder: Path, key: bytes | str | Path | None) -> hexad.Hexad:
    return hexad.open(folder, key=key, embedder="hashing", background=False)


def _copied(folder: Path, target: Path) -> None:
    shutil.copytree(folder, target)
    for path in target.rglob("*"):
        if path.is_file():
            with path.open("rb+") as file:
                os.fsync(file.fileno())


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
