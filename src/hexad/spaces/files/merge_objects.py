"""Objects of a space's file beside the memories that the store has: which say the same, and what is worth keeping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from hexad.database.codec import dump, to_micros
from hexad.errors import Conflict
from hexad.memory.memory import Memory
from hexad.memory.store import Stores
from hexad.memory.tables.file_origins import Origin
from hexad.memory.tables.rows import batches
from hexad.spaces.files.document import full_object, places, stands
from hexad.spaces.files.fields import ParsedObject
from hexad.spaces.files.objects import object_of


def known_rows(stores: Stores, name: str, objects: Sequence[ParsedObject]) -> Mapping[str, int]:
    """Return the rows of the objects that the store has in space `name`; raises `Conflict` for one of another space."""
    found = places(stores, [parsed_object.id for parsed_object in objects])
    for memory_id, (_, space) in found.items():
        if space != name:
            raise Conflict(
                f"Memory {memory_id!r} of the file is in another space than {name!r} already, and an id "
                "is one memory. Read the file into that space, or into another store; nothing of it was read."
            )
    return {memory_id: no for memory_id, (no, _) in found.items()}


def refuse_used(stores: Stores, name: str, objects: Sequence[ParsedObject]) -> NoReturn:
    """Raise `Conflict` for an export that is to be a space which holds memories, with what can be done."""
    there = any(
        space == name for _, space in places(stores, [parsed_object.id for parsed_object in objects]).values()
    )
    # Under another name its objects would have the ids of what is there.
    what, way = "memories already", "give another name (name=)"
    if there:
        what, way = "memories already, the export's among them", "restore it in another store"
    raise Conflict(
        f"Space {name!r} holds {what}, so nothing was restored. Merge the export with what is there (merge=True), or "
        f"{way}."
    )


def same_objects(
    stores: Stores, known: Mapping[str, int], objects: Sequence[ParsedObject]
) -> dict[str, ParsedObject]:
    """Return by id the objects that say what the store has, each as it is to be kept; `known` has their rows."""
    theirs = {
        known[parsed_object.id]: parsed_object for parsed_object in objects if parsed_object.id in known
    }
    found: dict[str, ParsedObject] = {}
    for batch in batches(sorted(theirs)):
        memories, origins = stores.memories.by_no(batch), stores.origins.get(batch)
        for no in batch:
            kept = _kept(theirs[no], memories[no], origins.get(no))
            if kept is not None:
                found[kept.id] = kept
    return found


def _kept(parsed_object: ParsedObject, memory: Memory, origin: Origin | None) -> ParsedObject | None:
    """Return an object as it is to be kept if it says what the memory is; None when it does not.

    What was read first is kept when the file says all of it anew: that it is still the same can be seen of both.
    """
    said = dump(parsed_object.object)
    of_old = origin is not None and stands(memory, origin)
    if of_old and origin is not None and said == dump(origin.object):
        return parsed_object
    if said != dump(full_object(memory, origin)):
        return None
    return (
        replace(parsed_object, object=origin.object, full=True)
        if of_old and origin is not None
        else parsed_object
    )


def differs(stores: Stores, by_no: Mapping[int, ParsedObject]) -> bool:
    """Whether the memories, as we would write them, are anything else than the objects in their order."""
    last: tuple[int, str, str] | None = None
    for batch in batches(list(by_no)):
        memories = stores.memories.by_no(batch)
        for no in batch:
            memory = memories[no]
            key = (-to_micros(memory.updated_at), memory.path, memory.id)
            if dump(object_of(memory)) != dump(by_no[no].object) or (last is not None and key < last):
                return True
            last = key
    return False
