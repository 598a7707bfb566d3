"""What a caller gives, as JSON that a server reads: times, paths, enums and lists of any kind as text and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Any

from hexad.client.verbs import Parameter
from hexad.core.arguments import quoted
from hexad.core.as_json import as_json
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.layers.contract import EvidenceBlock, MemoryItem, ScoredItem
from hexad.memory.memory import Citation, Memory
from hexad.memory.query import Hit


def argument_json(value: Any, name: str) -> JSONValue:
    """Return an argument as JSON; raises `InvalidInput` naming it for what cannot be sent."""
    if isinstance(value, Enum):
        return argument_json(value.value, name)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return format_time(value) if value.tzinfo else value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Citation):
        return as_json(value)
    if isinstance(value, Hit | Memory | MemoryItem | ScoredItem | EvidenceBlock):
        return _id_of(value)
    if isinstance(value, Mapping):
        return {str(key): argument_json(item, name) for key, item in value.items()}
    values = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(values, Iterable) and not isinstance(values, bytes):
        return [argument_json(item, name) for item in values]
    if values is not value:  # a number of NumPy's
        return argument_json(values, name)
    raise InvalidInput(
        f"{name} = {quoted(value)} cannot be sent to a server; give what JSON can hold.", argument=name
    )


def _id_of(value: Hit | Memory | MemoryItem | ScoredItem | EvidenceBlock) -> str:
    item = value.item if isinstance(value, ScoredItem | EvidenceBlock) else value
    return item.memory_id or item.id if isinstance(item, MemoryItem) else item.id


def query_pairs(parameters: Iterable[Parameter], values: Mapping[str, JSONValue]) -> list[tuple[str, str]]:
    """Return arguments as they stand in an address; an empty text is None, and in place of a list none."""
    known = {parameter.name: parameter for parameter in parameters}
    pairs: list[tuple[str, str]] = []
    for argument, value in values.items():
        if value is None and known[argument].default is None:
            continue
        name = known[argument].address_name
        if isinstance(value, list):
            pairs += [(name, _word(item)) for item in value] or [(name, "")]
        else:
            pairs.append((name, _word(value)))
    return pairs


def _word(value: JSONValue) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
