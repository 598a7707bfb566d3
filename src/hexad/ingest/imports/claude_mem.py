"""claude-mem: observations, summaries of sessions and prompts, from its SQLite file or its JSON export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hexad.ingest.imports.records import (
    Placed,
    Record,
    json_value,
    keys_of,
    origin_of,
    refuse,
    string,
    strings,
)
from hexad.ingest.sources.file_place import clean_tags, memory_path
from hexad.ingest.sources.sqlite_copy import is_sqlite, open_foreign
from hexad.ingest.sources.timestamps import read_time
from hexad.memory.source import Item, Skip
from hexad.text.normalize import slug

FORMAT: Final = "claude-mem"
_OBSERVATION: Final = (
    "id", "memory_session_id", "project", "type", "text", "title", "subtitle", "narrative", "facts", "concepts",
    "files_read", "files_modified", "prompt_number", "created_at", "created_at_epoch", "agent_type", "agent_id",
    "generated_by_model", "merged_into_project", "origin_device_id", "sdk_session_id",
)  # fmt: skip
_PARTS: Final = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_SUMMARY: Final = (
    "id", "memory_session_id", "project", *_PARTS, "files_read", "files_edited", "prompt_number", "created_at",
    "created_at_epoch", "sdk_session_id",
)  # fmt: skip
_PROMPT: Final = (
    "id", "content_session_id", "prompt_number", "prompt_text", "project", "platform_source", "created_at",
    "created_at_epoch", "claude_session_id",
)  # fmt: skip
# Name in the export, table in the database, its columns.
_LISTS: Final = (
    ("observations", "observations", _OBSERVATION),
    ("summaries", "session_summaries", _SUMMARY),
    ("prompts", "user_prompts", _PROMPT),
)
_TOLD: Final = frozenset({"id", "text", "title", "subtitle", "narrative", "facts", "prompt_text", *_PARTS})


def read_claude_mem(path: Path) -> Iterator[Placed | Skip]:
    """Give the observations, summaries and prompts of an export or of the database."""
    yield from _database(path) if is_sqlite(path) else _export(path)


def count_claude_mem(path: Path) -> int | None:
    """Return how many records a database holds; None for an export."""
    if not is_sqlite(path):
        return None
    with open_foreign(path) as database:
        return sum(database.count(table) for _, table, _ in _LISTS)


def _database(path: Path) -> Iterator[Placed | Skip]:
    with open_foreign(path) as database:
        tables = database.tables()
        if not {"project", "type"} <= set(tables.get("observations", ())):
            names = ", ".join(map(repr, tables)) or "none"
            refuse(
                path,
                "claude-mem's database",
                f"it has no table `observations` of its; its tables are {names}",
            )
        for name, table, columns in _LISTS:
            for number, row in enumerate(database.rows(table, columns, order=("id",)), start=1):
                yield _item(name, row, f"{table}, row {number}")


def _export(path: Path) -> Iterator[Placed | Skip]:
    value = json_value(path)
    lists = [(name, value[name]) for name, _, _ in _LISTS if isinstance(value, Mapping) and name in value]
    if not lists:
        refuse(
            path,
            "claude-mem's export",
            f"it has no `observations`, `summaries` or `prompts`; {keys_of(value)}",
        )
    for name, records in lists:
        if not isinstance(records, list):
            yield Skip(source_id=name, reason=f"`{name}` is no list; {keys_of(records)}")
            continue
        for number, record in enumerate(records, start=1):
            where = f"{name}[{number - 1}]"
            if isinstance(record, Mapping):
                yield _item(name, record, where)
            else:
                yield Skip(source_id=where, reason=f"{where}: it is no record; {keys_of(record)}")


def _item(name: str, record: Record, where: str) -> Placed | Skip:
    match name:
        case "observations":
            kind, text, title = (
                string(record, "type") or "observation",
                _observation(record),
                string(record, "title"),
            )
        case "summaries":
            kind, text, title = "session-summary", _summary(record), string(record, "request")
        case _:
            kind, text, title = "prompt", string(record, "prompt_text"), ""
    session = next(
        (
            value
            for key in ("memory_session_id", "content_session_id", "sdk_session_id", "claude_session_id")
            if (value := string(record, key))
        ),
        "",
    )
    original = "/".join(part for part in (name, session, string(record, "id")) if part)
    if not text:
        return Skip(source_id=original, reason=f"{where}: it has no text")
    if not string(record, "id"):
        return Skip(source_id=where, reason=f"{where}: it has no `id`")
    project = string(record, "merged_into_project") or string(record, "project")
    columns = next(columns for each, _, columns in _LISTS if each == name)
    metadata = origin_of(FORMAT, original, record, [column for column in columns if column not in _TOLD])
    if project:
        metadata["project"] = project
    return where, Item(
        source_id=original,
        text=text,
        kind=slug(kind) or "observation",
        path=memory_path(project or FORMAT, kind),
        title=title[:200] or None,
        time=read_time(record.get("created_at_epoch")) or read_time(record.get("created_at")),
        tags=clean_tags(strings(record.get("concepts"))),
        metadata=metadata,
    )


def _observation(record: Record) -> str:
    texts = [string(record, "title"), string(record, "subtitle")]
    text = string(record, "narrative") or string(record, "text")
    facts = "\n".join(f"- {fact}" for fact in strings(record.get("facts")))
    head = "\n".join(part for part in texts if part)
    return "\n\n".join(part for part in (head, text, facts) if part)


def _summary(record: Record) -> str:
    parts = ((part, string(record, part)) for part in _PARTS)
    return "\n\n".join(f"{part.replace('_', ' ').capitalize()}: {text}" for part, text in parts if text)
