"""Reading concept packs: JSON lines, one JSON file, or a folder with `pack.json` and a file for each layer."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from hexad.core.arguments import json_fault, read_regular
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, NotFound, StorageFailure
from hexad.experience.values.tags import PARENT, TAG_NAME_CHARS_LIMIT, Concept, ConceptPack, check_tag_name

PACK_BYTES_LIMIT: Final = 512 << 20
"""Largest pack, uncompressed, in bytes."""
CONCEPTS_LIMIT: Final = 200_000

_SEPARATOR: Final = "::"
_TERMS: Final = ("term", "sumo_term", "name")
_PARENTS: Final = ("parents", "parent_concepts", "parent")
_CHILDREN: Final = ("children", "category_children")
_RELATIONS: Final = ("related", "antonyms", "has_part", "part_of", "opposite")
_KNOWN: Final = frozenset({
    "id", "concept_id", "definition", "description", "layer", "domain", "lens", "has_lens", "aliases", "relationships",
    *_TERMS, *_PARENTS, *_CHILDREN, *_RELATIONS,
})  # fmt: skip

_Object = Mapping[str, JSONValue]


def fingerprint_of(path: Path) -> str:
    """Return the fingerprint of the pack at `path` without reading its concepts; raises as `read_pack` does."""
    _require_there(path)
    digest = hashlib.sha256()
    for file in _files(path):
        digest.update(_read(file))
    return digest.hexdigest()


def _require_there(path: Path) -> None:
    if not path.exists():
        raise NotFound(f"There is no concept pack at {path}; give a file or a folder with a pack.json.")


def read_pack(path: Path) -> ConceptPack:
    """Return the pack at `path`; docs/experience.md explains the three layouts.

    Raises `NotFound` when nothing is there, and `InvalidInput` for what is no pack, for two concepts of one id, and
    for a hierarchy that goes in a circle.
    """
    _require_there(path)
    head: dict[str, JSONValue] = {}
    objects: list[_Object] = []
    digest = hashlib.sha256()
    for file in _files(path):
        data = _read(file)
        digest.update(data)
        for entry in _objects(data, file, head):
            objects.append(entry)
            if len(objects) > CONCEPTS_LIMIT:
                raise InvalidInput(f"The pack {path} has more than {CONCEPTS_LIMIT} concepts; split it.")
    if not objects:
        raise InvalidInput(f"The pack {path} has no concepts.")
    pack_id = _pack_id(head, objects, path)
    concepts = _concepts(objects, pack_id, head, path)
    _refuse_circles(concepts, path)
    version = head.get("version")
    return ConceptPack(
        id=pack_id,
        version=None if version is None else str(version),
        concepts=concepts,
        fingerprint=digest.hexdigest(),
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    head = path / "pack.json"
    if not head.is_file():
        raise InvalidInput(f"The folder {path} is no concept pack: it has no pack.json.")
    layers = [
        file
        for folder in ("hierarchy", "layer_entries", "concepts", ".")
        for pattern in ("*.json", "*.jsonl", "*.jsonl.gz")
        for file in sorted((path / folder).glob(pattern))
        if file.name not in ("pack.json", "lens_pack.json", "probe_pack.json")
    ]
    return [head, *layers]


def _read(file: Path) -> bytes:
    try:
        data = read_regular(file, limit=PACK_BYTES_LIMIT)
        if file.suffix == ".gz":
            unpacked = zlib.decompressobj(16 + zlib.MAX_WBITS)
            data = unpacked.decompress(data, PACK_BYTES_LIMIT + 1)
            if not unpacked.eof and len(data) <= PACK_BYTES_LIMIT:
                raise InvalidInput(f"{file} ends in the middle: it is not the whole compressed file.")
    except OSError as error:
        raise StorageFailure(f"Cannot read {file}: {error.strerror or error}.") from error
    except (zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{file} is not a compressed file: {error}.") from error
    if len(data) > PACK_BYTES_LIMIT:
        raise InvalidInput(f"{file} is larger than {PACK_BYTES_LIMIT} bytes; split the pack.")
    return data


def _objects(data: bytes, file: Path, head: dict[str, JSONValue]) -> Iterator[_Object]:
    """Yield the concepts of one file; what it says of the pack itself goes into `head`."""
    if ".jsonl" in file.suffixes:
        # One list for the decoder is twice as fast as a call for each line.
        lines = [line for line in data.splitlines() if line.strip()]
        yield from _mappings(_json(b"[" + b",".join(lines) + b"]", file), file)
        return
    content = _json(data, file)
    if isinstance(content, list):
        yield from _mappings(content, file)
        return
    if not isinstance(content, dict):
        raise InvalidInput(f"{file} holds neither concepts nor an object with `concepts`.")
    concepts = content.pop("concepts", [])
    for key, value in content.items():
        head.setdefault(key, value)
    if isinstance(concepts, dict):
        for term, concept in concepts.items():
            yield {"term": term, **_mapping(concept, file)}
    else:
        yield from _mappings(concepts, file)


def _json(data: bytes, file: Path) -> JSONValue:
    try:
        return cast("JSONValue", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {json_fault(error)}.") from error


def _mapping(value: JSONValue, file: Path) -> _Object:
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{file} has {str(value)[:80]!r} where a concept should be; write it as an object."
        )
    return value


def _mappings(values: JSONValue, file: Path) -> Iterator[_Object]:
    if not isinstance(values, list):
        raise InvalidInput(f"{file} has `concepts` that are neither a list nor an object.")
    for value in values:
        yield _mapping(value, file)


def _pack_id(head: _Object, objects: Sequence[_Object], path: Path) -> str:
    for key in ("pack_id", "pack", "id"):
        pack_id = head.get(key)
        if isinstance(pack_id, str) and pack_id.strip():
            return pack_id.strip()
    first = objects[0].get("id") or objects[0].get("concept_id")
    if isinstance(first, str) and _SEPARATOR in first:
        return first.rpartition(_SEPARATOR)[0]
    return path.name.partition(".")[0] or "pack"


def _concepts(objects: Sequence[_Object], pack_id: str, head: _Object, path: Path) -> tuple[Concept, ...]:
    lenses = head.get("lenses")
    seen_by = None if lenses is None else set(_strings(lenses, "lenses", path))
    inverted: dict[str, list[str]] = {}
    hierarchy = head.get("hierarchy") or head.get("concept_hierarchy") or {}
    if not isinstance(hierarchy, dict):
        raise InvalidInput(f"The `hierarchy` of {path} is no object of parents with their children.")
    for parent, children in hierarchy.items():
        for child in _strings(children, f"hierarchy of {parent!r}", path):
            inverted.setdefault(child, []).append(parent)
    for entry in objects:
        term = _term(entry, path)
        for key in _CHILDREN:
            for child in _strings(entry.get(key), f"{key} of {term!r}", path):
                inverted.setdefault(child, []).append(term)
    concepts: dict[str, Concept] = {}
    for entry in objects:
        concept = _concept(entry, pack_id, inverted, seen_by, path)
        if concept.id in concepts:
            raise InvalidInput(f"The pack {path} has the concept {concept.id!r} twice.")
        concepts[concept.id] = concept
    return tuple(concepts.values())


def _term(entry: _Object, path: Path) -> str:
    for key in _TERMS:
        term = entry.get(key)
        if isinstance(term, str) and term.strip():
            return check_tag_name(term)
    concept_id = entry.get("id") or entry.get("concept_id")
    if isinstance(concept_id, str) and concept_id.strip():
        return check_tag_name(concept_id.rpartition(_SEPARATOR)[2])
    raise InvalidInput(f"The pack {path} has a concept without a term: {json.dumps(entry)[:120]}.")


def _concept(
    entry: _Object,
    pack_id: str,
    inverted: Mapping[str, Sequence[str]],
    seen_by: set[str] | None,
    path: Path,
) -> Concept:
    term = _term(entry, path)
    identifier = entry.get("id") or entry.get("concept_id")
    concept_id = (
        identifier if isinstance(identifier, str) and identifier.strip() else f"{pack_id}{_SEPARATOR}{term}"
    )
    if len(concept_id) > 2 * TAG_NAME_CHARS_LIMIT:
        raise InvalidInput(f"The id {concept_id[:80]!r}… of a concept in {path} is too long.")

    def strings(key: str) -> tuple[str, ...]:
        return _strings(entry.get(key), f"{key} of {term!r}", path)

    parents = [parent for key in _PARENTS for parent in strings(key)]
    parents += [*inverted.get(term, ()), *inverted.get(concept_id, ())]
    relations = [(relation, target) for relation in _RELATIONS for target in strings(relation)]
    named = entry.get("relationships")
    if isinstance(named, dict):
        relations += [
            (relation, target)
            for relation in named
            for target in _strings(named[relation], f"{relation} of {term!r}", path)
        ]
    layer, domain = entry.get("layer"), entry.get("domain")
    definition = entry.get("definition") or entry.get("description")
    return Concept(
        id=concept_id,
        term=term,
        definition=definition if isinstance(definition, str) else None,
        layer=layer if isinstance(layer, int) else None,
        domain=domain if isinstance(domain, str) else None,
        lens=_has_lens(entry, term, concept_id, seen_by),
        parents=tuple(dict.fromkeys(parents)),
        aliases=tuple(dict.fromkeys(alias for alias in strings("aliases") if alias.strip())),
        relations=tuple(dict.fromkeys(entry for entry in relations if entry[0] != PARENT)),
        details={
            key: value for key, value in entry.items() if key not in _KNOWN and value not in ([], {}, None)
        },
    )


def _has_lens(entry: _Object, term: str, concept_id: str, seen_by: set[str] | None) -> bool:
    for key in ("lens", "has_lens"):
        if key in entry:
            return bool(entry[key])
    return seen_by is None or term in seen_by or concept_id in seen_by


def _strings(value: JSONValue, what: str, path: Path) -> tuple[str, ...]:
    if not value:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise InvalidInput(f"The {what} in {path} is no list of names.")


def _refuse_circles(concepts: Sequence[Concept], path: Path) -> None:
    """Raise `InvalidInput` for a concept that is above itself: nothing could be browsed from a root to it."""
    by_name = {concept.term: concept.id for concept in concepts} | {
        concept.id: concept.id for concept in concepts
    }
    parents = {
        concept.id: [by_name[parent] for parent in concept.parents if parent in by_name]
        for concept in concepts
    }
    children: dict[str, list[str]] = {}
    waiting = {concept_id: len(above) for concept_id, above in parents.items()}
    for concept_id, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(concept_id)
    free = [concept_id for concept_id, count in waiting.items() if not count]
    while free:
        concept_id = free.pop()
        del waiting[concept_id]
        for child in children.get(concept_id, ()):
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    if waiting:
        raise InvalidInput(f"The hierarchy of the pack {path} goes in a circle at {min(waiting)!r}.")


Masked = Callable[[Sequence[str]], Iterable[tuple[int, str]]]
"""Of many texts those that hold a secret: which it is, and the text without."""


def without_secrets(pack: ConceptPack, masked: Masked) -> ConceptPack:
    """Return a pack without secrets; raises `InvalidInput` for a name that holds one: it would be another name then.

    All texts are looked through together: looking has a price for each look, and packs have a hundred thousand.
    """
    for _ in masked([pack.id, *(name for concept in pack.concepts for name in _names(concept))]):
        raise InvalidInput(
            "The pack holds what looks like a secret where a concept, an alias or a relation is named; take it out."
        )
    texts = [
        text
        for concept in pack.concepts
        for text in (concept.definition or "", json.dumps(dict(concept.details), ensure_ascii=False))
    ]
    replacements = dict(masked(texts))
    if not replacements:
        return pack
    concepts = [
        replace(
            concept,
            definition=replacements.get(2 * at, concept.definition),
            details=_details(replacements[2 * at + 1]) if 2 * at + 1 in replacements else concept.details,
        )
        for at, concept in enumerate(pack.concepts)
    ]
    return replace(pack, concepts=tuple(concepts))


def _names(concept: Concept) -> Iterable[str]:
    yield from (concept.id, concept.term, concept.domain or "", *concept.parents, *concept.aliases)
    yield from (target for _, target in concept.relations)


def _details(text: str) -> Mapping[str, JSONValue]:
    try:
        details = json.loads(text)
    except ValueError:  # what was taken out had a quote in it
        return {"text": text}
    return details if isinstance(details, dict) else {"text": text}
