"""`erasure`: how long it takes until a person is gone from a store, and how many bytes that writes anew.

Beside it, what SQLite offers for the same: the rows deleted with `secure_delete`, and the whole file written anew
(`VACUUM`), without which copies of rows stay in its pages.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table
from hexad.memory.draft import Draft

PERSON: Final = "ada@example.org"
OF_THE_PERSON: Final = 100
_BATCH: Final = 500
_WORDS, _VOCABULARY = 60, 20_000
_KEY: Final = bytes(range(32))
_SESSION: Final = 10_000
_FOURTH: Final = 4
"""The number of the session of `person3`."""


def run(options: Options) -> Report:
    """Measure stores of several sizes, plain and encrypted."""
    report = Report(name="Erasure")
    rows = []
    for size in (1_000, 5_000) if options.quick else (1_000, 10_000, 100_000):
        for encrypted in (False, True):
            folder = options.work / f"{size}-{'encrypted' if encrypted else 'plain'}"
            in_child(grow, folder, size, encrypted)
            found = in_child(erase, folder, encrypted)
            beside = in_child(vacuum, folder) if not encrypted else None
            kind = "encrypted" if encrypted else "plain"
            rows.append(
                (
                    size, kind, found["store_bytes"] / 1e6, found["memories"], found["seconds"],
                    found["cpu_seconds"],
                    found["written_bytes"] / 1e6, found["maintain_seconds"], found["maintain_bytes"] / 1e6,
                    beside and beside["seconds"], found["left"],
                )
            )  # fmt: skip
            report.at_most(f"{size:,} memories, {kind}: one person", found["seconds"], 2.0, "s")
            report.at_most(f"{size:,} memories, {kind}: planted words left", found["left"], 0)
            shutil.rmtree(folder)
    report.tables.append(
        Table(
            title="One person with 100 memories",
            columns=(
                "memories", "store", "MB", "erased", "s", "CPU s", "MB written", "maintain, s", "MB written then",
                "DELETE and VACUUM, s", "words left",
            ),
            rows=rows,
        )
    )  # fmt: skip
    report.tables.append(_of_experience(options))
    report.notes.append(
        "Of an encrypted store whose database is larger than 32 MiB, `maintain` writes the pages anew; until then what "
        "is left in them can be read with its key alone."
    )
    return report


def texts(size: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts of words by their ranks, and whose they are; the person's are among the others."""
    chance = random.Random(1)
    weights = [1 / rank for rank in range(1, _VOCABULARY + 1)]
    vocabulary = [f"w{chance.randrange(1 << 30):x}" for _ in range(_VOCABULARY)]
    every = max(1, size // OF_THE_PERSON)
    for number in range(size):
        words = chance.choices(vocabulary, weights, k=_WORDS)
        if number % every == 0 and number // every < OF_THE_PERSON:
            yield f"Zqplanted{number // every} {' '.join(words)}", (PERSON,)
        else:
            yield " ".join(words), ()


def grow(folder: Path, size: int, encrypted: bool) -> None:
    """Make a store of this size, with vectors."""
    folder.mkdir(parents=True)
    with _opened(folder, encrypted) as hx:
        writer = hx._services.ingest().writer
        drafts = [
            Draft(text=text, data_subjects=whose, path=f"notes/{number % 997}/{number}")
            for number, (text, whose) in enumerate(texts(size))
        ]
        for start in range(0, size, _BATCH):
            writer.write(drafts[start : start + _BATCH])
        hx.maintain()  # vectors, and links of the honeycomb: what is measured then is the erasure's
        hx.recall("anything")


def erase(folder: Path, encrypted: bool) -> dict[str, Any]:
    """Erase the person, let `maintain` complete it, and look for the planted words in every file."""
    with _opened(folder, encrypted) as hx:
        size = sum(file.stat().st_size for file in hx.path.rglob("*") if file.is_file())
        shutil.copyfile(hx.path / "memory.db", folder / "copy.db")
        written, started, cpu = _written(), time.perf_counter(), time.process_time()
        receipt = hx.forget(subject=PERSON, purge=True, confirm=True)
        seconds, cpu_s, after = time.perf_counter() - started, time.process_time() - cpu, _written()
        started = time.perf_counter()
        hx.maintain()
        maintain_s, at_last = time.perf_counter() - started, _written()
        files = [file.read_bytes() for file in hx.path.rglob("*") if file.is_file()]
        return {
            "store_bytes": size,
            "memories": receipt.count("memories"),
            "seconds": seconds,
            "cpu_seconds": cpu_s,
            "written_bytes": after - written,
            "maintain_seconds": maintain_s,
            "maintain_bytes": at_last - after,
            "left": sum(data.count(b"qplanted") for data in files),
        }


def vacuum(folder: Path) -> dict[str, float]:
    """Delete the same rows from a copy with plain SQLite and write it anew."""
    con = apsw.Connection(str(folder / "copy.db"))
    con.execute("PRAGMA secure_delete = ON").fetchall()
    started = time.perf_counter()
    con.execute("PRAGMA foreign_keys = OFF; BEGIN")
    con.execute(
        "CREATE TEMP TABLE gone AS SELECT no FROM memories WHERE data_subjects <> '[]';"
        "DELETE FROM vectors WHERE memory_no IN (SELECT no FROM gone);"
        "DELETE FROM chunks WHERE memory_no IN (SELECT no FROM gone);"
        "DELETE FROM memories WHERE no IN (SELECT no FROM gone); COMMIT; VACUUM"
    )
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    seconds = time.perf_counter() - started
    con.close()
    return {"seconds": seconds}


def _opened(folder: Path, encrypted: bool) -> hexad.Hexad:
    return hexad.open(folder, key=_KEY if encrypted else None, embedder="hashing", background=False)


def _written() -> int:
    """Return how many bytes this process has handed to the system to write."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar:")).split()[1])


def _of_experience(options: Options) -> Table:
    """Measure how long it takes until one session is gone from a stream, in one segment with all others."""
    rows = []
    for size in (100_000,) if options.quick else (100_000, 1_000_000):
        folder = options.work / f"stream-{size}"
        in_child(record, folder, size)
        found = in_child(erase_session, folder)
        rows.append(
            (
                size, found["timesteps"], found["stream_bytes"] / 1e6, found["seconds"], found["cpu_seconds"],
                found["written_bytes"] / 1e6, found["left"],
            )
        )  # fmt: skip
        shutil.rmtree(folder)
    return Table(
        title="One session of a stream",
        columns=("timesteps", "erased", "stream, MB", "s", "CPU s", "MB written", "left"),
        rows=rows,
    )


def record(folder: Path, size: int) -> None:
    """Record sessions of 10,000 tokens, each of a person, and seal them."""
    folder.mkdir(parents=True)
    chance = random.Random(2)
    with _opened(folder, False) as hx:
        for number in range(size // _SESSION):
            hx.xdb.start_session(f"s{number}", compaction=False, data_subjects=[f"person{number}"])
            hx.xdb.record_many(
                {
                    "event_type": ["output"] * _SESSION,
                    "content": [f" w{chance.randrange(_VOCABULARY):x}" for _ in range(_SESSION)],
                    "event_id": [f"e{at // 40}" for at in range(_SESSION)],
                    "concepts": [
                        [f"p::A{chance.randrange(500)}", f"p::B{chance.randrange(500)}"]
                        for _ in range(_SESSION)
                    ],
                    "scores": [[chance.random(), chance.random()] for _ in range(_SESSION)],
                }
            )
        hx.xdb.seal()


def erase_session(folder: Path) -> dict[str, Any]:
    """Erase one of the people, and look for what is left of the session."""
    with _opened(folder, False) as hx:
        size = sum(file.stat().st_size for file in (hx.path / "stream").rglob("*") if file.is_file())
        manifest = hx._services.experience().experience.sealer.manifest
        written, started, cpu = _written(), time.perf_counter(), time.process_time()
        receipt = hx.forget(subject="person3", purge=True, confirm=True)
        return {
            "stream_bytes": size,
            "timesteps": receipt.count("timesteps"),
            "seconds": time.perf_counter() - started,
            "cpu_seconds": time.process_time() - cpu,
            "written_bytes": _written() - written,
            "left": sum(
                session_range.rows for some in manifest.ranges({_FOURTH}).values() for session_range in some
            ),
        }
