"""`ingest`: how many items a second, with and without vectors, of a generated folder and of a real one.

The floors do the part that cannot be left out: read the files and put each into plain FTS5 in one transaction; and
give the same number of vectors' texts to the default model.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import apsw

import hexad
from benchmarks.child import in_child
from benchmarks.corpora import Sentences
from benchmarks.report import Options, Report, Table, peak_memory_mb
from hexad.providers.embedders.base import resolve

HERE = Path(hexad.__file__).parent


def run(options: Options) -> Report:
    """Measure ingest of two folders."""
    report = Report(name="Rate of ingest")
    folders: list[tuple[str, Path]] = [("Hexad's own source", HERE)]
    if options.data is not None:
        generated = options.work / "generated"
        Sentences.load(options.data).folder(generated, files=40 if options.quick else 400)
        folders.insert(0, ("generated notes and modules", generated))
    rows = []
    for name, folder in folders:
        found = in_child(ingest, folder, options.work / f"store-{folder.name}")
        floor = in_child(plain, folder, options.work / f"plain-{folder.name}.db")
        rows.append(_row(name, found, floor))
        report.figure(
            f"{name}: ingest without vectors over plain FTS5", found["seconds"] / floor["seconds"], "× time"
        )
        report.figure(
            f"{name}: vectors over the model alone",
            found["vectors_seconds"] / found["model_seconds"],
            "× time",
        )
        report.figure(
            f"{name}: looked at again, nothing changed", found["items"] / found["again_seconds"], "items/s"
        )
    report.tables.append(
        Table(
            title="Ingest",
            columns=(
                "folder", "items", "MB", "items/s", "items/CPU s", "MB/s", "items/s with vectors", "vectors",
                "vectors/s", "model alone, texts/s", "again, items/s", "plain FTS5, files/s", "peak MB",
            ),
            rows=rows,
        )
    )  # fmt: skip
    return report


def _row(name: str, found: dict[str, Any], floor: dict[str, Any]) -> tuple[Any, ...]:
    items, megabytes = found["items"], floor["bytes"] / 1e6
    return (
        name, items, megabytes, items / found["seconds"], items / found["cpu_seconds"], megabytes / found["seconds"],
        items / (found["seconds"] + found["vectors_seconds"]), found["vectors"],
        found["vectors"] / found["vectors_seconds"], found["vectors"] / found["model_seconds"],
        items / found["again_seconds"], floor["files"] / floor["seconds"], found["peak_mb"],
    )  # fmt: skip


def ingest(folder: Path, store: Path) -> dict[str, Any]:
    """Ingest a folder, compute its vectors, ingest it again; returns what each took."""
    store.mkdir()
    model = resolve("default")
    assert model is not None
    model.embed(["warm-up"])
    with hexad.open(store, background=False) as hx:
        cpu, started = time.process_time(), time.perf_counter()
        done = hx.ingest(folder, embed=False)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        started = time.perf_counter()
        hx.embed_pending()
        vectors_seconds = time.perf_counter() - started
        started = time.perf_counter()
        again = hx.ingest(folder, embed=False)
        again_seconds = time.perf_counter() - started
        if again.created or again.updated:
            raise SystemExit(f"{folder}: changed between two looks: {again}")
        vectors = hx.status().vectors
    texts = _chunks(store)[:vectors]
    started = time.perf_counter()
    for start in range(0, len(texts), 64):
        model.embed(texts[start : start + 64])
    # Vectors of whole memories have no chunk of their own: count their share of the model's time as well.
    model_seconds = (time.perf_counter() - started) * vectors / len(texts)
    return {
        "items": done.items,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "vectors": vectors,
        "vectors_seconds": vectors_seconds,
        "again_seconds": again_seconds,
        "model_seconds": model_seconds,
        "peak_mb": peak_memory_mb(),
    }


def _chunks(store: Path) -> list[str]:
    con = apsw.Connection(str(store / ".hexad" / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    texts = [text for (text,) in con.execute("SELECT body FROM chunk_texts WHERE trim(body) <> ''")]
    con.close()
    return texts


def plain(folder: Path, database: Path) -> dict[str, Any]:
    """Read every file and insert it into plain FTS5, in one durable transaction."""
    con = apsw.Connection(str(database))
    for sql in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "CREATE VIRTUAL TABLE f USING fts5(path, text)",
    ):
        con.execute(sql).fetchall()
    started = time.perf_counter()
    size = files = 0
    with con:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                data = path.read_bytes()
                con.execute("INSERT INTO f VALUES(?,?)", (str(path), data.decode(errors="replace")))
                size, files = size + len(data), files + 1
    seconds = time.perf_counter() - started
    con.close()
    return {"seconds": seconds, "bytes": size, "files": files}
