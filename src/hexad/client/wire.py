"""Values as they travel between a client of ours and a server: JSON from which the same values come back.

What other clients are sent is `core.as_json`, which is for reading: it leaves out what is derived or hidden, and a list
may have been a tuple. Here every dataclass is named and has all of its fields, and only classes of the modules listed
here come into being again: nothing that is sent runs.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Final

from hexad.core.json_types import JSONValue
from hexad.errors import IntegrityError
from hexad.experience.values.pressure import SessionTotals
from hexad.experience.values.records import StreamAnswer, Timesteps

MEDIA_TYPE: Final = "application/vnd.hexad.values+json"
"""What a client of ours accepts."""
REDACTED_HEADER: Final = "hexad-redacted"
"""What an answer's header says was taken out of what was sent, as `core.redactions` writes it."""
_MODULES: Final = (
    "hexad.audit.values", "hexad.code_graph.values", "hexad.core.erasure",
    "hexad.core.event_types", "hexad.core.lazy", "hexad.database.encryption.record",
    "hexad.experience.values.contract", "hexad.experience.values.documents", "hexad.experience.values.levels",
    "hexad.experience.values.losses",
    "hexad.experience.values.pressure",
    "hexad.experience.values.records", "hexad.experience.values.tags", "hexad.experience.values.tiers",
    "hexad.honeycomb.values", "hexad.ingest.sources.checkout", "hexad.layers.contract", "hexad.layers.project.values",
    "hexad.layers.session.working_set", "hexad.layers.user.values", "hexad.maintenance.consolidation.values",
    "hexad.maintenance.quality", "hexad.maintenance.reindex", "hexad.maintenance.status", "hexad.memory.decision",
    "hexad.memory.fact", "hexad.memory.feedback", "hexad.memory.layer_names", "hexad.memory.link",
    "hexad.memory.memory", "hexad.memory.policy", "hexad.memory.query", "hexad.memory.space", "hexad.privacy.report",
    "hexad.providers.spending", "hexad.search.vectors.quantization", "hexad.spaces.bundles.bundle",
)  # fmt: skip
"""Where the values are that a served call answers with."""
_MARK: Final = "$"
"""What the key of an object begins with that is no mapping."""


def encode(value: object) -> JSONValue:
    """Return a value as JSON that `decode` makes the same value of; raises `TypeError` for what cannot travel."""
    if isinstance(value, Enum):
        return {"$enum": [type(value).__name__, encode(value.value)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(
        value, type
    ):  # first: hits and bundles are sequences and mappings
        named = {field.name: encode(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"$type": type(value).__name__, **named}
    if isinstance(value, datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, timedelta):
        return {"$seconds": value.total_seconds()}
    if isinstance(value, PurePath):
        return {"$path": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, StreamAnswer | SessionTotals):
        return _with_notes(value)
    if isinstance(value, tuple):
        return {"$tuple": [encode(item) for item in value]}
    if isinstance(value, frozenset | set):
        return {"$set": [encode(item) for item in sorted(value)]}
    if isinstance(value, Mapping):
        if all(type(key) is str and not key.startswith(_MARK) for key in value):
            return {key: encode(item) for key, item in value.items()}
        return {"$map": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, Sequence):
        return [encode(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be sent: {value!r}")


def _with_notes(value: StreamAnswer[Any] | SessionTotals) -> JSONValue:
    notes = list(value.notes)
    if isinstance(value, SessionTotals):
        return {"$totals": [[name, encode(amount)] for name, amount in value.items()], "notes": notes}
    kind = "$steps" if isinstance(value, Timesteps) else "$found"
    return {kind: [encode(item) for item in value], "notes": notes}


def decode(value: Any) -> Any:
    """Return what `encode` was given; raises `IntegrityError` for what it never makes."""
    try:
        return _decoded(value)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"The server sent what Hexad never sends ({type(error).__name__}: {str(error)[:200]}). "
            "Check that its address is that of a server of the same version."
        ) from error


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    if not kind.startswith(_MARK):
        return {key: _decoded(item) for key, item in value.items()}
    if kind == "$type":
        fields = {name: _decoded(item) for name, item in value.items() if name != kind}
        return _made(_class_of(value[kind]), fields)
    if kind in ("$steps", "$found"):
        answer: type[StreamAnswer[Any]] = Timesteps if kind == "$steps" else StreamAnswer
        return answer(map(_decoded, value[kind]), value["notes"])
    if kind == "$totals":
        return SessionTotals({name: _decoded(amount) for name, amount in value[kind]}, value["notes"])
    return _marked(kind, value[kind])


def _made(kind: type, fields: dict[str, Any]) -> Any:
    try:
        return kind(**fields)
    except TypeError as error:
        raise IntegrityError(
            f"The server sent a {kind.__name__} of another version ({error}); use the same version on both sides."
        ) from error


def _marked(kind: str, content: Any) -> Any:
    match kind:
        case "$enum":
            return _class_of(content[0])(_decoded(content[1]))
        case "$tuple":
            return tuple(_decoded(item) for item in content)
        case "$time":
            return datetime.fromisoformat(content)
        case "$map":
            return {_decoded(key): _decoded(item) for key, item in content}
        case "$set":
            return frozenset(_decoded(item) for item in content)
        case "$float":
            return float(content)
        case "$seconds":
            return timedelta(seconds=content)
        case "$path":
            return Path(content)
        case "$bytes":
            return base64.b64decode(content)
    raise IntegrityError(
        f"The server sent {kind!r}, which this version of Hexad does not know; use the same on both."
    )


@cache
def _class_of(name: str) -> type:
    for module in map(import_module, _MODULES):
        kind = vars(module).get(name)
        if isinstance(kind, type) and kind.__module__ == module.__name__ and _is_value(kind):
            return kind
    raise IntegrityError(
        f"The server sent a {name!r}, which this version of Hexad does not know; use the same on both."
    )


def _is_value(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum)
