"""mem0: what `get_all()` and the API return, as JSON or JSON lines, and the history of its open-source library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.ingest.imports.records import (
    LINES,
    Placed,
    Record,
    json_lines,
    json_value,
    keys_of,
    origin_of,
    refuse,
    short_hash,
    string,
    strings,
)
from hexad.ingest.sources.file_place import clean_tags, memory_path
from hexad.ingest.sources.sqlite_copy import ForeignDatabase, is_sqlite, open_foreign
from hexad.ingest.sources.timestamps import read_time
from hexad.memory.source import ImportedFields, Item, Skip

FORMAT: Final = "mem0"
_TEXTS: Final = ("memory", "data", "text", "content")
_LISTS: Final = ("results", "memories")
_KEPT: Final = (
    "user_id", "agent_id", "app_id", "run_id", "session_id", "actor_id", "role", "attributed_to", "hash",
    "created_at", "updated_at", "expiration_date", "replaced_by", "synthesized", "lifecycle_state", "state",
    "categories", "metadata", "structured_attributes",
)  # fmt: skip
_GONE: Final = frozenset({"deleted"})
_HISTORY: Final = (
    "id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id",
    "role",
)  # fmt: skip


def read_mem0(path: Path) -> Iterator[Placed | Skip]:
    """Give the memories of an export, or of a history database each memory as it was left."""
    if is_sqlite(path):
        yield from _history(path)
    elif path.suffix.lower() in LINES:
        yield from _lines(path)
    else:
        yield from _export(path)


def _lines(path: Path) -> Iterator[Placed | Skip]:
    waiting: list[Skip] = []
    met, read = None, False
    for json_line in json_lines(path):
        if isinstance(json_line, Skip):
            item: Placed | Skip = json_line
        else:
            met = json_line[1] if met is None else met
            item = _item(json_line[1], json_line[0], {})
        if isinstance(item, Skip) and not read:
            waiting.append(item)  # until it is clear that this is the format
            continue
        read = True
        yield from waiting
        waiting.clear()
        yield item
    if waiting:
        reason = waiting[0].reason if met is None else f"of the first, {keys_of(met)}"
        refuse(path, "mem0's export", f"no line has a memory; {reason}")


def _export(path: Path) -> Iterator[Placed | Skip]:
    value = json_value(path)
    records = value
    if isinstance(value, Mapping):
        records = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if not isinstance(records, list):
        refuse(path, "mem0's export", f"there is no list of memories under `results`; {keys_of(value)}")
    if records and not any(_text(record) for record in records):
        refuse(
            path, "mem0's export", f"no record has a text under `memory`; of the first, {keys_of(records[0])}"
        )
    times = {
        string(record, "id"): time
        for record in records
        if isinstance(record, Mapping) and (time := read_time(record.get("created_at"))) is not None
    }
    for number, record in enumerate(records, start=1):
        yield _item(record, f"record {number}", times)
    relations = value.get("relations") if isinstance(value, Mapping) else None
    for number, record in enumerate(relations if isinstance(relations, list) else [], start=1):
        yield _relation(record, f"relation {number}")


def _text(record: object) -> str:
    if not isinstance(record, Mapping):
        return ""
    return next((text for name in _TEXTS if (text := string(record, name))), "")


def _item(record: object, where: str, times: Mapping[str, datetime]) -> Placed | Skip:
    text = _text(record)
    if not isinstance(record, Mapping) or not text:
        return Skip(source_id=where, reason=f"{where}: there is no text under `memory`; {keys_of(record)}")
    original = string(record, "id") or short_hash(text)
    if {string(record, "state"), string(record, "lifecycle_state")} & _GONE:
        return Skip(source_id=original, reason=f"{where}: it was deleted there")
    begun = read_time(record.get("created_at"))
    ends = read_time(record.get("expiration_date"))
    if replacing := string(record, "replaced_by"):
        ends = times.get(replacing) or read_time(record.get("updated_at")) or ends
    if ends is not None and begun is not None and ends <= begun:
        ends = None
    about = tuple(name for name in [string(record, "user_id")] if name)
    return where, Item(
        source_id=original,
        text=text,
        path=memory_path(FORMAT, *(about or ("shared",))),
        time=begun,
        tags=clean_tags(strings(record.get("categories"))),
        metadata=origin_of(FORMAT, original, record, _KEPT),
        claim=ImportedFields(valid_to=ends, data_subjects=about),
    )


def _relation(record: object, where: str) -> Placed | Skip:
    """Return a relation of the graph memory of earlier versions, whose entities are no memories: as a sentence."""
    if isinstance(record, Mapping):
        source, kind = string(record, "source"), string(record, "relationship") or string(record, "relation")
        target = string(record, "target") or string(record, "destination")
        if source and kind and target:
            text = f"{source} {kind.replace('_', ' ')} {target}."
            original = f"relation/{short_hash(text)}"
            return where, Item(
                source_id=original,
                text=text,
                path=memory_path(FORMAT, "relations"),
                metadata=origin_of(
                    FORMAT, original, record, ("source", "relationship", "target", "destination")
                ),
            )
    return Skip(
        source_id=where, reason=f"{where}: it needs `source`, `relationship` and `target`; {keys_of(record)}"
    )


def _history(path: Path) -> Iterator[Placed | Skip]:
    with open_foreign(path) as database:
        tables = database.tables()
        if not {"memory_id", "new_memory", "event"} <= set(tables.get("history", ())):
            names = ", ".join(map(repr, tables)) or "none"
            refuse(
                path, "mem0's history", f"it has no table `history` of its memories; its tables are {names}"
            )
        yield from _last_states(database)


def _last_states(database: ForeignDatabase) -> Iterator[Placed | Skip]:
    first: dict[str, object] = {}
    last: dict[str, Record] = {}
    changes: dict[str, int] = {}
    for row in database.rows("history", _HISTORY, order=("created_at", "updated_at")):
        name = string(row, "memory_id")
        if not name:
            yield Skip(
                source_id=string(row, "id") or "history", reason="a row of `history` has no `memory_id`"
            )
            continue
        first.setdefault(name, row.get("created_at"))
        changes[name] = changes.get(name, 0) + 1
        last[name] = row
    for name, state in last.items():
        where = f"history of {name}"
        if state.get("is_deleted") or string(state, "event").upper() == "DELETE":
            yield Skip(source_id=name, reason=f"{where}: it was deleted there")
            continue
        record: dict[str, object] = {
            **state,
            "id": name,
            "memory": state.get("new_memory"),
            "created_at": first[name],
        }
        record["metadata"] = {"changes": changes[name]}
        yield _item(record, where, {})
