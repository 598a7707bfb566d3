"""The reference MCP memory server: a graph of entities with observations, and relations, as JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hexad.errors import InvalidInput
from hexad.ingest.imports.records import (
    Placed,
    json_lines,
    json_value,
    keys_of,
    origin_of,
    refuse,
    short_hash,
    string,
    strings,
)
from hexad.ingest.sources.decode import mark_of
from hexad.ingest.sources.file_place import memory_path
from hexad.ingest.sources.files import NOT_READABLE
from hexad.memory.source import ImportedFields, Item, Skip
from hexad.text.normalize import slug

FORMAT: Final = "server-memory"
_HEAD: Final = 1 << 16
_RECORD: Final = re.compile(
    r'\{\s*"(?:type"\s*:\s*"(?:entity|relation)"|(?:name|from|to|entityType|relationType)"\s*:)'
)
"""How a line of the server's file begins."""


@dataclass(slots=True)
class _Entity:
    where: str
    type: str
    observations: dict[str, str] = field(default_factory=dict)  # text -> place
    relations: dict[tuple[str, str], str] = field(default_factory=dict)  # (kind, to) -> place


def read_server_memory(path: Path) -> Iterator[Placed | Skip]:
    """Give each entity with its relations, and each observation.

    An entity's type is a fact of it. A relation is a link between two entities and a sentence of the one it is from;
    it is no fact of a single value, as a graph may hold several of a kind.
    """
    entities: dict[str, _Entity] = {}
    waiting: list[tuple[str, Mapping[str, object]]] = []
    skipped: list[Skip] = []
    met: object = None
    read = 0
    for entry in _records(path):
        if isinstance(entry, Skip):
            skipped.append(replace(entry, reason=f"{NOT_READABLE}: {entry.reason}"))
            continue
        where, record = entry
        met = record if met is None else met
        kind = record.get("type") if isinstance(record, Mapping) else None
        if isinstance(record, Mapping) and kind == "entity" and string(record, "name"):
            read += 1
            _take(entities, record, where)
        elif isinstance(record, Mapping) and kind == "relation":
            read += 1
            waiting.append((where, record))
        else:
            reason = f"{where}: it is neither an entity with a `name` nor a relation"
            skipped.append(Skip(source_id=where, reason=reason))
    if skipped and not read:
        seen = skipped[0].reason if met is None else f"of the first, {keys_of(met)}"
        refuse(path, "the memory server's file", f"no line is an entity or a relation; {seen}")
    yield from skipped
    for where, record in waiting:
        if (wrong := _relate(entities, record, where)) is not None:
            yield wrong
    for name, entity in entities.items():
        yield from _items(name, entity, entities)


def _records(path: Path) -> Iterator[tuple[str, object] | Skip]:
    """Give the records; also of what its tool `read_graph` answers, which is one JSON document."""
    if path.suffix.lower() != ".json" or _is_lines(path):
        yield from json_lines(path)
        return
    value = _graph_of(json_value(path))
    if not isinstance(value, Mapping) or not isinstance(value.get("entities"), list):
        refuse(path, "the memory server's file", keys_of(value))
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        records = value.get(name)
        for number, record in enumerate(records if isinstance(records, list) else []):
            where = f"{name}[{number}]"
            yield where, ({**record, "type": kind} if isinstance(record, Mapping) else record)


def _is_lines(path: Path) -> bool:
    """Whether a file that is called .json has a record a line, as the server writes it by default."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be opened: {error.strerror}.") from error
    text = head.decode(mark_of(head) or "utf-8", "replace").lstrip()
    return not text or _RECORD.match(text) is not None


def _graph_of(value: object) -> object:
    """Return the graph of an answer of the tool, which may lie in an envelope of the protocol."""
    if isinstance(value, Mapping) and "entities" not in value:
        if isinstance(value.get("structuredContent"), Mapping):
            return value["structuredContent"]
        content = value.get("content")
        first = content[0] if isinstance(content, list) and content else None
        if isinstance(first, Mapping) and isinstance(first.get("text"), str):
            try:
                return json.loads(first["text"])
            except (ValueError, RecursionError):
                return value
    return value


def _take(entities: dict[str, _Entity], record: Mapping[str, object], where: str) -> None:
    """Add an entity; what is said twice of one counts together."""
    name = string(record, "name")
    entity = entities.setdefault(name, _Entity(where, string(record, "entityType")))
    for text in strings(record.get("observations")):
        entity.observations.setdefault(text, where)


def _relate(entities: dict[str, _Entity], record: Mapping[str, object], where: str) -> Skip | None:
    source, target, kind = (string(record, name) for name in ("from", "to", "relationType"))
    if not (source and target and kind):
        return Skip(source_id=where, reason=f"{where}: a relation needs `from`, `to` and `relationType`")
    if source not in entities:
        return Skip(
            source_id=where, reason=f"{where}: there is no entity {source!r} that the relation is from"
        )
    entities[source].relations.setdefault((kind, target), where)
    if target in entities:
        return None
    return Skip(
        source_id=where,
        reason=f"{where}: there is no entity {target!r}; the relation is kept in words, without a link",
    )


def _items(name: str, entity: _Entity, entities: Mapping[str, _Entity]) -> Iterator[Placed]:
    lines = [f"{name} is a {entity.type}." if entity.type else f"{name}."]
    lines += [f"{name} {kind.replace('_', ' ')} {target}." for kind, target in entity.relations]
    links = tuple(
        (slug(kind) or "related", _entity_id(target))
        for kind, target in entity.relations
        if target in entities
    )
    record = {"name": name, "entityType": entity.type}
    path = memory_path(FORMAT, name)
    yield (
        entity.where,
        Item(
            source_id=_entity_id(name),
            text="\n".join(lines),
            kind="entity",
            path=path,
            title=name[:200],
            metadata=origin_of(FORMAT, name, record, ("entityType",)),
            claim=ImportedFields(
                subject=name,
                attribute="type" if entity.type else None,
                value=entity.type or None,
                links=links,
            ),
        ),
    )
    for text, where in entity.observations.items():
        line = text if name.casefold() in text.casefold() else f"{name}: {text}"
        yield (
            where,
            Item(
                source_id=f"observation/{name}/{short_hash(text)}",
                text=line,
                kind="observation",
                path=path,
                metadata=origin_of(FORMAT, name, record, ("entityType",)),
                claim=ImportedFields(links=(("about", _entity_id(name)),)),
            ),
        )


def _entity_id(name: str) -> str:
    return f"entity/{name}"
