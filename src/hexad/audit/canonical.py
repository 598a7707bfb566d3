"""The bytes of a record: canonical JSON, put together fast and compared without being taken apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from hexad.model.audit import GENESIS, NewAuditRecord
from hexad.model.memory import JSONValue
from hexad.storage.codec import to_micros

_VERSION: Final = 1


def canonical(value: Mapping[str, JSONValue]) -> bytes:
    """Return the bytes that are hashed: JSON with sorted keys and without spaces, in UTF-8."""
    return _encode(value).encode("utf-8", "replace")


_encode: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


@lru_cache(maxsize=4096)
def text_of(value: str | int | None) -> str:
    """Return a value as it stands in a record's bytes."""
    return _encode(value)


def body_end(*, prev: bytes, seq: int, session: str | None, subject: str, tick: int | None) -> str:
    """Return how a record's bytes end, from the hash before it on."""
    return (
        f',"prev":"{prev.hex() or GENESIS}","seq":{seq},"session":{text_of(session)},"subject":"{subject}",'
        f'"tick":{"null" if tick is None else tick},"v":{_VERSION}}}'
    )


def body(record: NewAuditRecord, seq: int, last: bytes, ref: str, payload: str) -> bytes:
    """Return the canonical JSON of a record, put together of its parts: keys stand in their order."""
    kind = None if record.event_type is None else record.event_type.value
    detail = _encode(dict(record.detail)) if record.detail else "{}"
    end = body_end(prev=last, seq=seq, session=record.session_id, subject=ref, tick=record.tick)
    text = (
        f'{{"at":{to_micros(record.at)},"detail":{detail},"event_type":{text_of(kind)},"kind":{text_of(record.kind)},'
        f'"payload":{payload}{end}'
    )
    return text.encode("utf-8", "replace")
