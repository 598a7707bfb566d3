"""MemPalace: the folder that its export writes, a room's file of it, and its graph of facts (SQLite)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hexad.errors import InvalidInput
from hexad.ingest.imports.records import LEADS_OUT, Placed, Record, leads_out, origin_of, refuse, string
from hexad.ingest.sources.decode import mark_of
from hexad.ingest.sources.file_place import memory_path
from hexad.ingest.sources.sqlite_copy import is_sqlite, open_foreign
from hexad.ingest.sources.timestamps import read_time
from hexad.memory.source import ImportedFields, Item, Skip
from hexad.text.normalize import clean

FORMAT: Final = "mempalace"
GRAPH: Final = "knowledge_graph.sqlite3"
_ROOM: Final = re.compile(r"# (.{1,300}) / (.{1,300})$")
_FIELD: Final = re.compile(r"\| (Source|Filed|Added by) \| (.*) \|$")
_UNKNOWN: Final = "unknown"
_TRIPLE: Final = (
    "id", "subject", "predicate", "object", "valid_from", "valid_to", "confidence", "source_file", "source_closet",
    "source_drawer_id", "adapter_name", "extracted_at",
)  # fmt: skip
_BEGINNING: Final = datetime(1, 1, 1, tzinfo=UTC)
_END: Final = datetime(9999, 1, 1, tzinfo=UTC)


def read_mempalace(path: Path) -> Iterator[Placed | Skip]:
    """Give the drawers of an export or of a room, and what the graph says with the time in which it holds."""
    if path.is_file():
        if is_sqlite(path):
            yield from _graph(path)
        elif (name := _room_of(path)) is None:
            refuse(path, "a room of MemPalace's export", "its first line is not `# WING / ROOM`")
        else:
            yield from _room(path, path.name, name)
        return
    rooms = sorted(file for file in path.glob("*/*.md") if file.is_file())
    graph = path / GRAPH
    is_palace = False
    for file in rooms:
        where = file.relative_to(path).as_posix()
        if leads_out(file, path):
            yield Skip(source_id=where, reason=LEADS_OUT)
            continue
        name = _room_of(file)
        if name is None:
            yield Skip(source_id=where, reason="it is no room: its first line is not `# WING / ROOM`")
            continue
        is_palace = True
        yield from _room(file, where, name)
    if graph.is_file() and not leads_out(graph, path):
        is_palace = True
        yield from _graph(graph)
    if not is_palace:
        refuse(
            path,
            "MemPalace's export",
            f"no file WING/ROOM.md in it begins with `# WING / ROOM`, and no {GRAPH}",
        )


def _room_of(path: Path) -> tuple[str, str] | None:
    try:
        with path.open(encoding=_encoding(path), errors="replace") as file:
            match = _ROOM.match(file.readline(1_000).rstrip("\n"))
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be opened: {error.strerror}. Check its permissions."
        ) from error
    return None if match is None else (match[1], match[2])


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return mark_of(file.read(4)) or "utf-8"


def _room(path: Path, where: str, name: tuple[str, str]) -> Iterator[Placed | Skip]:
    """Give the drawers of a room: `## ID`, the text as a quotation, a table of what is known of it."""
    lines: list[str] = []
    begun, drawer = 0, ""
    with path.open(encoding=_encoding(path), errors="replace") as file:
        for number, line in enumerate(file, start=1):
            # Every line of a drawer's text is quoted, so that this one begins the next.
            if line.startswith("## "):
                if drawer:
                    yield _drawer(drawer, lines, f"{where}, line {begun}", name)
                drawer, begun, lines = line[3:].strip(), number, []
            else:
                lines.append(line.rstrip("\n"))
    if drawer:
        yield _drawer(drawer, lines, f"{where}, line {begun}", name)


def _drawer(drawer: str, lines: Sequence[str], where: str, name: tuple[str, str]) -> Placed | Skip:
    quoted = [line[2:] if line.startswith("> ") else "" for line in lines if line.startswith(("> ", ">"))]
    text = clean("\n".join(quoted)).strip()
    if not text:
        return Skip(source_id=drawer, reason=f"{where}: the drawer has no text")
    fields = {match[1]: match[2] for line in lines if (match := _FIELD.match(line))}
    known = {key: value for key, value in fields.items() if value != _UNKNOWN}
    wing, room = name
    record: Record = {
        "wing": wing,
        "room": room,
        "source_file": known.get("Source"),
        "filed_at": known.get("Filed"),
        "added_by": known.get("Added by"),
    }
    return where, Item(
        source_id=drawer,
        text=text,
        path=memory_path(wing, room),
        time=read_time(known.get("Filed")),
        metadata=origin_of(FORMAT, drawer, record, tuple(record)),
    )


def _graph(path: Path) -> Iterator[Placed | Skip]:
    with open_foreign(path) as database:
        tables = database.tables()
        if not {"subject", "predicate", "object"} <= set(tables.get("triples", ())):
            held = ", ".join(map(repr, tables)) or "none"
            refuse(path, "MemPalace's graph", f"it has no table `triples` of its; its tables are {held}")
        names = {
            string(row, "id"): string(row, "name")
            for row in database.rows("entities", ("id", "name"), order=("id",))
        }
        rows = list(database.rows("triples", _TRIPLE, order=("subject", "predicate", "valid_from", "id")))
    several = _several(rows)
    for number, row in enumerate(rows, start=1):
        yield _triple(row, f"triples, row {number}", names, several)


def _several(rows: Sequence[Record]) -> frozenset[tuple[str, str]]:
    """Return the keys under which more than one value holds at a time: those are no values of one attribute.

    Rows come by key and time, so that each is compared with the furthest end before it.
    """
    keys: set[tuple[str, str]] = set()
    ends: dict[tuple[str, str], datetime] = {}
    for row in rows:
        key = (string(row, "subject"), string(row, "predicate"))
        begun, end = _time(row, "valid_from") or _BEGINNING, _time(row, "valid_to") or _END
        if key in ends and begun < ends[key]:
            keys.add(key)
        ends[key] = max(end, ends.get(key, _BEGINNING))
    return frozenset(keys)


def _time(row: Record, name: str) -> datetime | None:
    value = row.get(name)
    if isinstance(value, str) and re.fullmatch(r"\d{4}(-\d\d)?", value.strip()):
        value = f"{value.strip()}-01-01"[:10]
    return read_time(value)


def _triple(
    row: Record, where: str, names: Mapping[str, str], several: frozenset[tuple[str, str]]
) -> Placed | Skip:
    subject, predicate, target = (string(row, name) for name in ("subject", "predicate", "object"))
    original = string(row, "id") or where
    if not (subject and predicate and target):
        return Skip(source_id=original, reason=f"{where}: it needs `subject`, `predicate` and `object`")
    who, what = names.get(subject) or subject, names.get(target) or target
    begun, ends = _time(row, "valid_from"), _time(row, "valid_to")
    if begun is not None and ends is not None and ends <= begun:
        return Skip(source_id=original, reason=f"{where}: it ends ({row['valid_to']}) before it begins")
    fact = (subject, predicate) not in several
    confidence = row.get("confidence")
    return where, Item(
        source_id=f"triple/{original}",
        text=f"{who} {predicate.replace('_', ' ')} {what}.",
        kind="fact",
        path=memory_path(FORMAT, "graph", who),
        time=begun,
        metadata=origin_of(FORMAT, original, row, [name for name in _TRIPLE if name != "id"]),
        claim=ImportedFields(
            subject=who if fact else None,
            attribute=predicate if fact else None,
            value=what if fact else None,
            valid_to=ends,
            confidence=float(confidence)
            if isinstance(confidence, int | float) and 0 <= confidence <= 1
            else None,
        ),
    )
