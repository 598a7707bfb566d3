"""What a space's file may decide: policies that are understood are set, everything else is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump
from hexad.errors import HexadError
from hexad.memory.policy import KNOWN, parse_policies
from hexad.memory.tables.spaces import Space
from hexad.redaction.redact import rules_from_policy
from hexad.spaces.files.fields import ParsedObject
from hexad.spaces.files.reader import ParsedSpace

_WHO_SEES: Final = ("roles", "visibility")
_REDACTION: Final = ("pii_redaction", "env_allow")


def usable_policies(policies: Mapping[str, JSONValue]) -> tuple[dict[str, JSONValue], list[str]]:
    """Return the policies that can be set, and a note for each that cannot; those are kept for the file alone."""
    usable: dict[str, JSONValue] = {}
    notes: list[str] = []
    for name, value in policies.items():
        if name not in KNOWN:
            notes.append(f"Nothing here enforces the policy {name!r} of the file; it is kept for the file.")
        elif name in _REDACTION and isinstance(value, list):
            usable[name] = [item for item in value if _is_usable({name: [item]}, notes)]
        elif _is_usable({name: value}, notes):
            usable[name] = value
    return usable, notes


def settled_policies(parsed: ParsedSpace, space: Space | None) -> tuple[Mapping[str, JSONValue], list[str]]:
    """Return the policies that the space will have, and what the file says that has no effect."""
    usable, notes = usable_policies(parsed.policies)
    if space is None:
        if any(parsed.policies.get(name) and name not in usable for name in _WHO_SEES):
            # Somebody meant to hide something: what cannot be understood hides all of it.
            usable["roles"] = []
            notes.append(
                "Who may see the space could not be read from the file, so its owner alone does; `set_policy` opens it."
            )
        if usable.get("allow_delete") is True:
            notes.append("The file lets its space be deleted (allow_delete); `set_policy` takes that back.")
        return usable, notes
    notes += [
        f"The policy {key!r} of the file is not the store's, which stays; `set_policy` changes it."
        for key in _differing(usable, space.policies)
    ]
    notes += [
        f"The metadata {key!r} of the file is not the store's, which stays."
        for key in _differing(parsed.metadata, space.metadata)
    ]
    return space.policies, notes


def _differing(theirs: Mapping[str, JSONValue], ours: Mapping[str, JSONValue]) -> list[str]:
    return sorted(key for key in theirs if key not in ours or dump(theirs[key]) != dump(ours[key]))


def _is_usable(policy: Mapping[str, JSONValue], notes: list[str]) -> bool:
    try:
        parse_policies(policy)
        rules_from_policy(policy)
    except HexadError as error:
        notes.append(f"Not set, and kept for the file: {error}")
        return False
    return True


def object_notes(objects: Sequence[ParsedObject]) -> list[str]:
    """Return what was said of single objects, each thing once with how often it was said."""
    counts = Counter(note for parsed_object in objects for note in parsed_object.notes)
    first: dict[str, ParsedObject] = {}
    for parsed_object in objects:
        for note in parsed_object.notes:
            first.setdefault(note, parsed_object)
    return [
        f"objects[{first[note].position}]: {note}" + (f" ({count:,} objects)" if count > 1 else "")
        for note, count in counts.items()
    ]
