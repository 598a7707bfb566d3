"""What a call asks of the database must not grow with its space: counted in SQLite's own steps, not in time.

SQLite plans by statistics that it takes when a store is closed. A store that was never closed has none: SQLite then
likes to go over a whole space to find a few rows of known number. One that was closed while small must not have those
of tiny tables, by which going over everything is cheap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from hexad import Hexad
from hexad.memory.draft import Draft
from hexad.memory.tables.decisions import Decisions
from opener import Opener

NEAR: Final = "The service number {} restarts every night at three and writes its report into the common folder of the team."
SMALL, LARGE = 100, 1_000


def filled(opened: Opener, folder: Path, count: int) -> Hexad:
    """Fill a store with memories of which half are near-duplicates, and some were handed out."""
    folder.mkdir(exist_ok=True)
    hx = opened(folder, embedder=None)
    texts = [
        NEAR.format(number)
        if number % 2
        else f"zebra{number} unique{number * 7} text{number * 13} crossing{number}"
        for number in range(count)
    ]
    drafts = [
        Draft(space="docs", text=text, id=f"m{number}", path=f"p/{number}")
        for number, text in enumerate(texts)
    ]
    hx._services.ingest().writer.write(drafts)
    hx.spaces.set_policy("docs", {"visibility": [{"kinds": ["decision"], "roles": ["lead"]}]})
    for number in range(20):
        hx.recall(f"service number {number}", space="docs")
    return hx


def as_new(folder: Path) -> Path:
    """Take away what closing a store finds out for SQLite's plans."""
    with apsw.Connection(str(folder / ".hexad" / "memory.db")) as sqlite:
        if sqlite.table_exists("main", "sqlite_stat1"):
            sqlite.execute("DELETE FROM sqlite_stat1")
    sqlite.close()
    return folder


def steps(hx: Hexad, call: Callable[[Hexad], object]) -> int:
    """Return how many steps SQLite takes for a call; full text counts its own without end, and is left out."""
    taken = 0

    def count(event: Mapping[str, Any]) -> None:
        nonlocal taken
        if "'main'." not in event["sql"]:
            taken += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    with hx._services.stores.db.read() as con:
        sqlite = con.sqlite
    sqlite.trace_v2(apsw.SQLITE_TRACE_PROFILE, count, id="steps")
    try:
        call(hx)
    finally:
        sqlite.trace_v2(0, None, id="steps")
    return taken


def replanned(hx: Hexad, call: Callable[[Hexad], object]) -> dict[str, int]:
    """Return which statements of a call SQLite planned again since it had other values than before, and how often."""
    again: dict[str, int] = {}

    def count(event: Mapping[str, Any]) -> None:
        if times := event["stmt_status"]["SQLITE_STMTSTATUS_REPREPARE"]:
            again[event["sql"]] = times

    with hx._services.stores.db.read() as con:
        sqlite = con.sqlite
    sqlite.trace_v2(apsw.SQLITE_TRACE_PROFILE, count, id="plans")
    try:
        call(hx)
    finally:
        sqlite.trace_v2(0, None, id="plans")
    return again


CALLS: Final[dict[str, Callable[[Hexad], object]]] = {
    "remember": lambda hx: hx.remember("alpha beta gamma delta epsilon zeta", space="docs"),
    "remember a near-duplicate": lambda hx: hx.remember(NEAR.format("one"), space="docs"),
    "remember again": lambda hx: hx.remember(NEAR.format(1), space="docs"),
    "remember by source id": lambda hx: hx.remember("alpha beta gamma", space="docs", source_id="s1"),
    "change": lambda hx: hx.remember("alpha beta gamma delta", space="docs", id="m5"),
    "remember_structured": lambda hx: hx.remember_structured(
        "docs", {"raw": "alpha beta gamma", "path": "p/5"}
    ),
    "get by id": lambda hx: hx.get("m7"),
    "get by path": lambda hx: hx.get("p/7"),
    "get by path in a space": lambda hx: hx.get("p/7", space="docs"),
    "pin by path": lambda hx: hx.pin("docs", "p/8"),
    "tag": lambda hx: hx.tag("p/9", add=["x"]),
    "forget": lambda hx: hx.forget("m10"),
    "near_duplicates": lambda hx: hx.near_duplicates("m11"),
    "link": lambda hx: hx.link("p/12", "p/13"),
}


@pytest.fixture
def folders(opened: Opener, tmp_path: Path) -> tuple[Path, Path]:
    small, large = tmp_path / "small", tmp_path / "large"
    filled(opened, small, SMALL).close()
    filled(opened, large, LARGE).close()
    return small, large


@pytest.mark.row("L085", "L113", "L170")
@pytest.mark.parametrize("role", [None, "dev"])
def test_a_call_about_one_memory_asks_the_same_of_a_large_space(
    opened: Opener, folders: tuple[Path, Path], role: str | None
) -> None:
    small, large = (opened(as_new(folder), embedder=None, role=role) for folder in folders)

    assert {} == grown(small, large)


@pytest.mark.row("L085", "L113", "L170")
@pytest.mark.parametrize("before", [1, 30])
def test_a_store_that_was_closed_while_small_asks_the_same_once_it_is_large(
    opened: Opener, tmp_path: Path, before: int
) -> None:
    folders = tmp_path / "small", tmp_path / "large"
    for folder in folders:
        folder.mkdir()
        hx = opened(folder, embedder=None)
        for number in range(before):
            hx.remember(f"The first note has number {number}.", space="docs", path=f"first/{number}")
        hx.recall("first note", space="docs")
        hx.close()

    small, large = (
        filled(opened, folder, count) for folder, count in zip(folders, (SMALL, LARGE), strict=True)
    )

    assert {} == grown(small, large)


def grown(small: Hexad, large: Hexad) -> dict[str, tuple[int, int]]:
    """Return the steps of the calls that ask more of the large store than of the small one."""
    taken = {name: (steps(small, call), steps(large, call)) for name, call in CALLS.items()}
    return {name: (few, many) for name, (few, many) in taken.items() if many > few * 1.3 + 300}


def test_no_statement_is_planned_again_for_other_values(opened: Opener, tmp_path: Path) -> None:
    hx = filled(opened, tmp_path, SMALL)
    for number in range(3):
        hx.remember(f"The harbour gate number {number} opens at {number} o'clock.", space="docs")

    assert {} == replanned(hx, lambda hx: hx.remember("The mill wheel turns at noon.", space="docs"))
    assert {} == replanned(hx, lambda hx: hx.recall("when does the mill wheel turn?", space="docs"))


def test_a_batch_of_items_is_one_part_of_the_full_text(opened: Opener, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text(
        "".join(
            json.dumps({"id": f"i{number}", "text": f"alpha beta{number}"}) + "\n" for number in range(60)
        )
    )
    hx = opened(tmp_path, embedder=None)
    written: list[str] = []
    with hx._services.stores.db.read() as con:
        sqlite = con.sqlite

    sqlite.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda event: written.append(event["sql"]), id="written")
    try:
        hx.ingest(str(items))
    finally:
        sqlite.trace_v2(0, None, id="written")

    assert 60 == sum(sql.startswith("INSERT INTO chunk_fts(") for sql in written)
    assert 10 > sum(sql.startswith("REPLACE INTO 'main'.'chunk_fts_data'") for sql in written)


@pytest.mark.parametrize("planned_anew", [True, False])
def test_the_decisions_of_a_few_memories_are_found_without_a_look_at_all_of_them(
    opened: Opener, tmp_path: Path, planned_anew: bool
) -> None:
    taken = []
    for count in (SMALL, LARGE):
        folder = tmp_path / str(count)
        folder.mkdir()
        with opened(folder, embedder=None) as hx:
            drafts = [
                Draft(text=f"Use tool {number}.", kind="decision", id=f"m{number}") for number in range(count)
            ]
            hx._services.ingest().writer.write(drafts)
        with opened(as_new(folder) if planned_anew else folder, embedder=None) as hx:
            decisions, hidden = (
                Decisions(hx._services.stores.db),
                Decisions(hx._services.stores.db, roles=("dev",)),
            )
            assert ["m3", "m7"] == list(decisions.of_memories(["m7", "m3", "other"]))
            assert "Use tool 5." == decisions.get("m5").title
            for each in (decisions, hidden):
                taken += [
                    steps(hx, lambda _, each=each: each.of_memories(["m7", "m3", "other"])),  # type: ignore[misc]
                    steps(hx, lambda _, each=each: each.get("m5")),  # type: ignore[misc]
                ]

    small, large = taken[:4], taken[4:]
    assert all(more <= 2 * fewer for fewer, more in zip(small, large, strict=True)), (small, large)
