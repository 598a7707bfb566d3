"""What another system wrote, as the store can take it: a name that is odd or too long costs no memory.

Texts are never touched. Ids and names are made printable and short, secrets in ids become a hash, and what stands
beside a text is cut where there is too much of it; the same record always fits in the same way.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.write.validate import NAME_LIMIT, is_name
from hexad.memory.source import Claim, Item, Skip
from hexad.redaction.redact import RedactionRules, find, redact
from hexad.text.normalize import clean

_ID: Final = 700
"""Characters of an id, so that the number of a part has room behind it."""
_REASON: Final = 500
_BYTES: Final = 32 << 10
"""What is kept beside a text, in bytes of JSON: half of what a memory may have, for what else comes to it."""
_CUT: Final = 500
_DEPTH: Final = 20
_DIGITS: Final = 300
_SECRETS: Final = RedactionRules(pii=frozenset())


def fitting(item: Item) -> Item:
    """Return an item whose names the store takes."""
    claim = item.claim
    return replace(
        item,
        source_id=None if item.source_id is None else fitting_id(item.source_id),
        title=None if item.title is None else _printable(item.title) or None,
        metadata=_fitting_metadata(item.metadata),
        claim=None if claim is None else _fitting_claim(claim),
    )


def fitting_skip(skip: Skip) -> Skip:
    """Return a skip whose words tell no secret and fit a line."""
    reason = skip.reason
    if find(reason, rules=_SECRETS):
        reason = redact(reason, rules=_SECRETS, salt=b"").text
    reason = reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"
    return Skip(source_id=fitting_id(skip.source_id), reason=reason)


def fitting_id(name: str) -> str:
    """Return an id that is printable, of 1 to 700 characters and no secret; different ids stay different."""
    if find(name, rules=_SECRETS):
        return f"secret/{_mark(name)}"
    found = safe_id(name)
    if not found.isprintable():
        found = "".join(
            char
            if char.isprintable()
            else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
            for char in found
        )
    if not found.strip():
        return f"unnamed/{_mark(name)}"
    return found if len(found) <= _ID else f"{found[: _ID - 13]}-{_mark(name)}"


def _mark(name: str) -> str:
    return content_hash(name).partition(":")[2][:12]


def _printable(name: str) -> str:
    """Return a name without what cannot be printed; other kinds of blanks become blanks."""
    if name.isprintable():
        return name
    kept = (char if char.isprintable() else " " if char.isspace() else "" for char in name)
    return " ".join("".join(kept).split())


def _fitting_claim(claim: Claim) -> Claim:
    subject, attribute = (
        None if name is None else _printable(name) for name in (claim.subject, claim.attribute)
    )
    if any(name is not None and not is_name(name, NAME_LIMIT) for name in (subject, attribute)):
        subject = attribute = value = None  # a sentence then, and no fact
    else:
        value = claim.value
    return replace(
        claim,
        subject=subject,
        attribute=attribute,
        value=value,
        data_subjects=tuple(
            name
            for data_subject in claim.data_subjects
            if is_name(name := _printable(data_subject), NAME_LIMIT)
        ),
        links=tuple((kind, fitting_id(target)) for kind, target in claim.links),
    )


def _fitting_metadata(metadata: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return what is beside a text as JSON that a store keeps; the largest fields are cut first."""
    found = {_key(name): _fitting_value(value, _DEPTH) for name, value in metadata.items()}
    inner = found.get("imported")
    if len(_json(found)) <= _BYTES or not isinstance(inner, dict):
        return found
    for name in sorted(inner, key=lambda name: len(_json(inner[name])), reverse=True):
        inner[name] = _short(inner[name])
        if len(_json(found)) <= _BYTES:
            break
    return found


def _fitting_value(value: JSONValue, depth: int) -> JSONValue:
    match value:
        case str():
            return clean(value)
        case bool() | None:
            return value
        case int():
            return value if abs(value) < 10**_DIGITS else f"a number of {value.bit_length():,} bits"
        case float():
            return value if math.isfinite(value) else str(value)
    if depth == 0:
        return _short(value)
    if isinstance(value, Mapping):
        return {_key(name): _fitting_value(inner, depth - 1) for name, inner in value.items()}
    return [_fitting_value(inner, depth - 1) for inner in value]


def _key(name: str) -> str:
    return clean(name)[:_CUT]


def _short(value: JSONValue) -> JSONValue:
    text = value if isinstance(value, str) else _json(value).decode()
    return text if len(text) <= _CUT else clean(text[: _CUT - 1]) + "…"


def _json(value: JSONValue) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
