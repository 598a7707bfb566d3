"""Secrets in concept packs: out of what explains a concept, refused in what names one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from hexad.errors import InvalidInput
from hexad.experience.values.concepts import Concept, ConceptPack
from hexad.memory.memory import JSONValue

Masked = Callable[[Sequence[str]], Iterable[tuple[int, str]]]
"""Of many texts those that hold a secret: which it is, and the text without."""


def without_secrets(pack: ConceptPack, masked: Masked) -> ConceptPack:
    """Return a pack without secrets; raises `InvalidInput` for a name that holds one: it would be another name then.

    All texts are looked through together: looking has a price for each look, and packs have a hundred thousand.
    """
    for _ in masked([pack.id, *(name for one in pack.concepts for name in _names(one))]):
        raise InvalidInput(
            "The pack holds what looks like a secret where a concept, an alias or a relation is named; take it out."
        )
    texts = [
        text
        for one in pack.concepts
        for text in (one.definition or "", json.dumps(dict(one.details), ensure_ascii=False))
    ]
    found = dict(masked(texts))
    if not found:
        return pack
    concepts = [
        replace(
            one,
            definition=found.get(2 * at, one.definition),
            details=_details(found[2 * at + 1]) if 2 * at + 1 in found else one.details,
        )
        for at, one in enumerate(pack.concepts)
    ]
    return replace(pack, concepts=tuple(concepts))


def _names(concept: Concept) -> Iterable[str]:
    yield from (concept.id, concept.term, concept.domain or "", *concept.parents, *concept.aliases)
    yield from (target for _, target in concept.relations)


def _details(text: str) -> Mapping[str, JSONValue]:
    try:
        found = json.loads(text)
    except ValueError:  # what was taken out had a quote in it
        return {"text": text}
    return found if isinstance(found, dict) else {"text": text}
