"""The graph of the reference memory server, kept in a space: each entity, observation and relation is a memory.

Nothing is rewritten to add to it, so that any number of processes may do so at once. An element's id is a hash of what
it says: whoever adds it again, at the same time or later, writes the same memory.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import hexad
from hexad.core.arguments import json_fault

if TYPE_CHECKING:
    from hexad import Hexad, Memory

SPACE: Final = "knowledge-graph"
_ENTITY, _OBSERVATION, _RELATION = "entity", "observation", "relation"
_FIELD: Final = "graph"
"""The field of the metadata that holds an element as it was given."""
_NAME_CHARS: Final = 40
_DIGEST_BYTES: Final = 16
_METADATA_CHARS: Final = 8_000
"""A longer observation stands in its memory's text alone: there is a limit to metadata."""


@dataclass(slots=True)
class GraphEntity:
    """An entity with what was observed of it, in the order in which it was added."""

    name: str
    type: str
    observations: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it as the reference server does."""
        return {"name": self.name, "entityType": self.type, "observations": self.observations}


@dataclass(frozen=True, slots=True)
class GraphRelation:
    """A relation between two entities, which need not be there."""

    source: str
    target: str
    type: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as the reference server does."""
        return {"from": self.source, "to": self.target, "relationType": self.type}


@dataclass(frozen=True, slots=True)
class Graph:
    """What there is, or the part of it that was asked for."""

    entities: Sequence[GraphEntity]
    relations: Sequence[GraphRelation]

    def to_dict(self) -> dict[str, Any]:
        """Return it as the reference server does."""
        return {
            "entities": [entity.to_dict() for entity in self.entities],
            "relations": [relation.to_dict() for relation in self.relations],
        }

    def around(self, names: Iterable[str]) -> Graph:
        """Return these entities, and the relations at one end of which they are."""
        chosen = set(names)
        return Graph(
            [entity for entity in self.entities if entity.name in chosen],
            [each for each in self.relations if each.source in chosen or each.target in chosen],
        )

    def search(self, query: str) -> Graph:
        """Return the entities whose name, type or observations hold the words, ignoring case."""
        words = query.lower()
        return self.around(
            entity.name
            for entity in self.entities
            if any(words in text.lower() for text in (entity.name, entity.type, *entity.observations))
        )

    def lines(self) -> Iterator[str]:
        """Give the reference server's file, line by line."""
        for entity in self.entities:
            yield _line({"type": _ENTITY, **entity.to_dict()})
        for relation in self.relations:
            yield _line({"type": _RELATION, **relation.to_dict()})


class KnowledgeGraph:
    """The graph in one space of a store."""

    def __init__(self, hx: Hexad, space: str) -> None:
        self._hx, self._space = hx, space

    # Reading ----------------------------------------------------------------------------------------------------------

    def read(self) -> Graph:
        """Return all of it; empty where the space was never made."""
        try:
            memories = self._hx.memories(
                space=self._space, kinds=[_ENTITY, _OBSERVATION, _RELATION], limit=None
            )
        except hexad.NotFound:
            return Graph([], [])
        elements = sorted(filter(None, map(_element, memories)), key=lambda element: str(element["at"]))
        entities = {
            str(each["name"]): GraphEntity(str(each["name"]), str(each["entityType"]))
            for each in elements
            if each["is"] == _ENTITY
        }
        relations = []
        for each in elements:
            if each["is"] == _OBSERVATION and each["name"] in entities:
                entities[str(each["name"])].observations.append(str(each["content"]))
            elif each["is"] == _RELATION:
                relations.append(GraphRelation(str(each["from"]), str(each["to"]), str(each["relationType"])))
        return Graph(list(entities.values()), relations)

    # Adding -----------------------------------------------------------------------------------------------------------

    def create_entities(self, entities: Sequence[GraphEntity]) -> list[GraphEntity]:
        """Add entities; returns those whose names were new."""
        new = []
        for entity in {entity.name: entity for entity in reversed(entities)}.values():
            if self._is_there(_id(_ENTITY, entity.name)):
                continue
            new.append(entity)
        new.reverse()
        for entity in new:
            text = f"{entity.name} is a {entity.type}." if entity.type else f"{entity.name}."
            self._write(_ENTITY, (entity.name,), text, {"name": entity.name, "entityType": entity.type})
            for number, content in _numbered(entity.observations):
                self._observe(entity.name, content, number)
        return new

    def create_relations(self, relations: Sequence[GraphRelation]) -> list[GraphRelation]:
        """Add relations; returns those that were new."""
        new = [each for each in dict.fromkeys(relations) if not self._is_there(_relation_id(each))]
        for each in new:
            words = each.type.replace("_", " ")
            self._write(
                _RELATION,
                (each.source, each.type, each.target),
                f"{each.source} {words} {each.target}.",
                each.to_dict(),
            )
        return new

    def add_observations(
        self, observations: Sequence[tuple[str, Sequence[str]]]
    ) -> list[tuple[str, list[str]]]:
        """Add observations to entities; returns those that were new. Raises `NotFound`, and then nothing was added."""
        for name, _ in observations:
            if not self._is_there(_id(_ENTITY, name)):
                raise hexad.NotFound(f"Entity with name {name} not found; create_entities makes it.")
        added = []
        for name, contents in observations:
            new = [
                content
                for content in dict.fromkeys(contents)
                if not self._is_there(_id(_OBSERVATION, name, content, "0"))
            ]
            for content in new:
                self._observe(name, content, 0)
            added.append((name, new))
        return added

    # Removing: what goes is archived, and can be brought back --------------------------------------------------------

    def delete_entities(self, names: Sequence[str]) -> None:
        """Remove entities with their observations and relations; a name that is not there is none to remove."""
        chosen = set(names)
        for memory, element in self._elements():
            ends = {element.get("name"), element.get("from"), element.get("to")}
            if chosen & ends:
                self._hx.forget(memory.id)

    def delete_observations(self, deletions: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Remove observations."""
        chosen = {(name, content) for name, contents in deletions for content in contents}
        for memory, element in self._elements(_OBSERVATION):
            if (element["name"], element["content"]) in chosen:
                self._hx.forget(memory.id)

    def delete_relations(self, relations: Sequence[GraphRelation]) -> None:
        """Remove relations."""
        for relation in relations:
            if self._is_there(_relation_id(relation)):
                self._hx.forget(_relation_id(relation))

    # Inside -----------------------------------------------------------------------------------------------------------

    def _observe(self, name: str, content: str, number: int) -> None:
        element = {"name": name}
        if len(content) <= _METADATA_CHARS:
            element["content"] = content
        self._write(_OBSERVATION, (name, content, str(number)), f"{name}: {content}", element)

    def _write(self, kind: str, parts: tuple[str, ...], text: str, element: Mapping[str, str]) -> None:
        at = self._hx.clock.now().isoformat(timespec="microseconds")
        self._hx.remember_structured(
            self._space,
            {
                "id": _id(kind, *parts),
                "raw": text,
                "kind": kind,
                "path": f"{SPACE}/{_readable(parts[0])}/{kind}-{_digest(kind, *parts)[:8]}",
                "trust": "agent",
                "metadata": {_FIELD: {"is": kind, **element, "at": at}},
            },
        )

    def _elements(self, kind: str | None = None) -> Iterator[tuple[Memory, dict[str, Any]]]:
        kinds = [_OBSERVATION, _RELATION, _ENTITY] if kind is None else [kind]
        try:
            memories = self._hx.memories(space=self._space, kinds=kinds, limit=None)
        except hexad.NotFound:
            return
        # An entity goes last: whoever is interrupted leaves one that can be removed again, and nothing without one.
        for memory in sorted(memories, key=lambda memory: memory.kind == _ENTITY):
            element = _element(memory)
            if element is not None:
                yield memory, element

    def _is_there(self, memory_id: str) -> bool:
        try:
            memory = self._hx.get(memory_id, space=self._space)
        except hexad.NotFound:
            return False
        return memory.status is hexad.Status.ACTIVE


def parse_lines(text: str, name: str) -> Graph:
    """Return the graph that a file of the reference server holds; entities of one name are put together.

    `name` is what the file is called.
    Raises `InvalidInput` for a line that is none of its records, with its number.
    """
    entities: dict[str, GraphEntity] = {}
    relations: dict[GraphRelation, None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise hexad.InvalidInput(
                f"{name}:{number} is no JSON: {json_fault(error)}. Nothing was stored."
            ) from error
        kind = record.get("type") if isinstance(record, dict) else None
        try:
            if kind == _ENTITY:
                entity = entities.setdefault(
                    record["name"], GraphEntity(record["name"], record["entityType"])
                )
                entity.observations += [*record["observations"]]
            elif kind == _RELATION:
                relations[GraphRelation(record["from"], record["to"], record["relationType"])] = None
        except (KeyError, TypeError) as error:
            raise hexad.InvalidInput(
                f"{name}:{number} is no record of the memory server: {error!r} is missing or of another type. "
                "Nothing was stored."
            ) from error
    return Graph(list(entities.values()), list(relations))


def _element(memory: Memory) -> dict[str, Any] | None:
    element = memory.metadata.get(_FIELD)
    if not isinstance(element, Mapping) or "is" not in element:
        return None
    whole = (
        {} if element["is"] != _OBSERVATION else {"content": memory.raw.removeprefix(f"{element['name']}: ")}
    )
    return {**whole, **element}


def _relation_id(relation: GraphRelation) -> str:
    return _id(_RELATION, relation.source, relation.type, relation.target)


def _id(kind: str, *parts: str) -> str:
    return f"{kind}_{_digest(kind, *parts)}"


def _digest(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.blake2b(text.encode("ascii"), digest_size=_DIGEST_BYTES).hexdigest()


def _readable(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_NAME_CHARS].strip("-") or "unnamed"


def _numbered(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give texts with how often each was there before: the reference server keeps copies that a call brings."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, -1) + 1
        yield counts[text], text


def _line(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
