"""`sessions`: what a change of a working set costs, in memory and on the disk, and what asking for it does.

Beside it, the state written as JSON to a plain SQLite file for every change, as a program would without groups.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median
from typing import Final

import apsw

import hexad
from benchmarks.report import Options, Report, Table
from hexad.layers.contract import MemoryQuery
from hexad.layers.session.working_set import EDITS_KEPT, NOTES_KEPT, TURNS_KEPT

_SENTENCE: Final = "Sentence {0} speaks of the cookie number {1}, the token and the parser in some words."


def run(options: Options) -> Report:
    """Measure a working set that is full."""
    times = 1 if options.quick else 5
    folder = options.work / "project"
    folder.mkdir(parents=True)
    with hexad.open(folder, embedder=None) as hx:
        _fill(hx)
        rows = [_measured(name, call, count * times) for name, call, count in _calls(hx)]
        state = json.dumps(hx.session.snapshot().to_dict())
        rows.append(_measured("plain SQLite, a row for each change", _plain(options, state), 40 * times))
    report = Report(name="Sessions")
    title = f"A working set of {len(state) / 1_000:.0f} kB as JSON"
    report.tables.append(Table(title=title, columns=("call", "median, µs", "p95, µs", "CPU, µs"), rows=rows))
    found = {str(row[0]): float(row[1]) for row in rows}
    share = found["a cursor moves"] / found["plain SQLite, a row for each change"]
    report.at_most("a change, beside one that plain SQLite writes", share, 0.2)
    report.at_most("the last state, asked for", found["current"], 1_000, "µs")
    return report


def _fill(hx: hexad.Hexad) -> None:
    hx.session.start("login feature", ticket="AUTH-1", steps=[f"step {number}" for number in range(20)])
    for number in range(max(EDITS_KEPT, NOTES_KEPT, TURNS_KEPT)):
        hx.session.open_file(f"src/module_{number}.py", line=number + 1, column=1)
        hx.session.record_edit(
            f"src/module_{number}.py", line=number + 1, summary=f"moved check {number} into the parser"
        )
        hx.session.note(f"We are {number} steps through refactoring the parser.")
        hx.session.add_turn("user", f"{number} {_said(5, number)}")


def _said(sentences: int, seed: int) -> str:
    return " ".join(_SENTENCE.format(number, number * 7 + seed) for number in range(sentences))


def _calls(hx: hexad.Hexad) -> list[tuple[str, Callable[[int], object], int]]:
    session, layer = hx.session, hx._services.session().layer

    def written(at: int) -> None:
        session.open_file("src/module_1.py", line=at + 1)
        session.snapshot()

    return [
        ("a cursor moves", lambda at: session.open_file("src/module_1.py", line=at + 1), 400),
        (
            "an edit",
            lambda at: session.record_edit("src/a.py", line=at + 1, summary=f"check {at} moved"),
            400,
        ),
        ("a note", lambda at: session.note(f"We are {at} steps through the parser."), 400),
        ("a turn of 400 characters", lambda at: session.add_turn("user", f"{at} {_said(5, at)}"), 200),
        ("a turn of 5,000 characters", lambda at: session.add_turn("agent", f"{at} {_said(60, at)}"), 40),
        ("a change and its snapshot, durable", written, 60),
        ("current", lambda _: session.current, 400),
        ("resumable", lambda _: session.resumable(), 60),
        (
            "the layer's items for a question",
            lambda at: layer.items(
                MemoryQuery(text=f"how long does cookie {at} live?", now=hx.clock.now()), limit=20
            ),
            40,
        ),
    ]


def _plain(options: Options, state: str) -> Callable[[int], object]:
    con = apsw.Connection(str(options.work / "plain.db"))
    for statement in (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "CREATE TABLE state (id INTEGER PRIMARY KEY, json)",
    ):
        con.execute(statement).fetchall()
    return lambda at: con.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (f"{state}{at}",))


def _measured(name: str, call: Callable[[int], object], count: int) -> tuple[str, float, float, float]:
    taken = []
    cpu = time.process_time()
    for at in range(count):
        begun = time.perf_counter()
        call(at)
        taken.append((time.perf_counter() - begun) * 1e6)
    cpu = (time.process_time() - cpu) / count * 1e6
    return name, median(taken), sorted(taken)[int(count * 0.95)], cpu
