"""What the system calls: `AuditLogWriter`. Nothing of the agent's own API leads here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from hexad.audit.admission import masking
from hexad.audit.batch_recorder import RECORDER_BATCH, RECORDER_DELAY_S, AuditRecorder
from hexad.audit.ledger import TIMESTEP
from hexad.audit.open import Key, open_with_key
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import NewAuditRecord
from hexad.config import StreamDurability
from hexad.core.arguments import json_fault, parse_choice, parse_path, parse_time, quoted, value_list
from hexad.core.audit_notes import AuditEvent
from hexad.core.clock import Clock, SystemClock
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

_STR: Final = frozenset((str,))
_FLOAT: Final = frozenset((float,))
_TYPES: Final = {event_type.value: event_type for event_type in EventType}
_DEPTH_LIMIT: Final = 50
"""How deep lists and objects of steering may stand in each other, as those of a memory's metadata."""
_ROW_KEYS: Final = frozenset(
    (
        "session_id",
        "tick",
        "event_type",
        "raw_content",
        "lens_activations",
        "steering_applied",
        "timestamp",
        "subject",
    )
)


class AuditLogWriter:
    """Writes what a model did to the ledger, with every lens and all steering (document 2, sections 5.1 and 9).

    `storage_path` is the ledger's folder or a store's. The ledger's is made where it is missing, in one that is there:
    else `NotFound`. A record is on the disk when a call returns; several threads
    and programs may write to one ledger. Contents are encrypted one by one, so that each can be erased. Secrets are
    taken out of them first, and the personal data that the settings of the store name (`[privacy] pii`): the ledger
    keeps what happened, not what would let somebody in. The ledger of an encrypted store is encrypted as it is, and
    `key` what opens the store: 32 bytes, a passphrase, the `Path` of a key file, or None for what its settings and its
    provider give. A ledger in a folder of its own is encrypted when it is begun with a key of 32 bytes.
    """

    def __init__(
        self,
        storage_path: Path | str,
        be_id: str,
        *,
        clock: Clock | None = None,
        mask: Callable[[str], str] | None = None,
        key: Key = None,
    ) -> None:
        if not isinstance(be_id, str) or not be_id.strip():
            raise InvalidInput(f"be_id = {quoted(be_id)} names no writer; give a name.", argument="be_id")
        self.be_id = be_id
        self._clock = clock or SystemClock()
        self._open = open_with_key(
            parse_path(storage_path, "storage_path"),
            clock=self._clock,
            create=True,
            key=key,
            purpose="audit writer",
        )
        self._masking = masking(self._open)
        self._mask = mask

    def record(
        self,
        session_id: str,
        tick: int,
        event_type: EventType | str,
        raw_content: str,
        lens_activations: Mapping[str, float],
        steering_applied: Sequence[Mapping[str, JSONValue]],
        *,
        subject: str | None = None,
    ) -> str:
        """Record one timestep and return its id, `audit-N`; one tick may have several records.

        `subject` is whose data it is (default: the session); erasing a subject takes all of its contents.
        """
        row = {
            "session_id": session_id,
            "tick": tick,
            "event_type": event_type,
            "raw_content": raw_content,
            "lens_activations": lens_activations,
            "steering_applied": steering_applied,
            "subject": subject,
        }
        return self.record_many([row])[0]

    def record_many(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Record many timesteps in one transaction, each a mapping of `record`'s parameters and perhaps `timestamp`."""
        now = self._clock.now()
        return [
            f"audit-{seq}"
            for seq in self.append([self.made(row, now) for row in value_list(rows, "rows", of="mappings")])
        ]

    def made(self, row: Mapping[str, Any], now: datetime) -> NewAuditRecord:
        """Return the record of a row, whose text is still to be looked through; raises `InvalidInput`."""
        get = self._checked(row).get
        stated, kind, session_id, steering = (
            get("timestamp"), get("event_type"), row["session_id"], get("steering_applied"),
        )  # fmt: skip
        event_type = _TYPES.get(kind) if isinstance(kind, str) else None
        return NewAuditRecord(
            TIMESTEP,
            now if stated is None else parse_time(stated, "timestamp") or now,
            get("subject") or f"session:{session_id}",
            session_id,
            row["tick"],
            event_type or parse_choice(EventType, str(kind), "event_type"),
            {
                "raw_content": row["raw_content"],
                "lens_activations": dict(get("lens_activations") or ()),
                "steering_applied": self._steering(steering) if steering else [],
                "be_id": self.be_id,
            },
        )

    def append(self, made: Sequence[NewAuditRecord]) -> list[int]:
        """Append what `made` returned, in one transaction, and return the numbers: all of it is on the disk."""
        contents = [cast("str", record.payload["raw_content"]) if record.payload else "" for record in made]
        # Looked through for secrets many at once: most hold none, and looking has a price for each look.
        texts = enumerate(map(self._mask, contents)) if self._mask else self._masking.texts(contents)
        records = list(made)
        for at, text in texts:
            records[at] = made[at]._replace(payload={**(made[at].payload or {}), "raw_content": text})
        return self._open.ledger.append(records)

    def event(self, event: AuditEvent) -> str:
        """Record that something happened that is no timestep, such as an erasure."""
        record = NewAuditRecord(
            kind=event.what, at=event.at, subject=SYSTEM, detail={"by": self.be_id, **event.detail}
        )
        return f"audit-{self._open.ledger.append([record])[0]}"

    def recorder(
        self,
        *,
        batch: int = RECORDER_BATCH,
        delay_s: float = RECORDER_DELAY_S,
        durability: StreamDurability | str = StreamDurability.GROUP,
    ) -> AuditRecorder:
        """Return what takes records one by one, for tokens, and appends them in batches; see `AuditRecorder`."""
        return AuditRecorder(self, self._clock, batch=batch, delay_s=delay_s, durability=durability)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger, after the recorders of this writer were closed. Idempotent."""
        self._open.close()

    def _checked(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row that can be recorded; raises `InvalidInput`."""
        if not (type(row) is dict or isinstance(row, Mapping)) or not row.keys() <= _ROW_KEYS:
            raise InvalidInput(
                f"A record is a mapping of {', '.join(sorted(_ROW_KEYS))}; {_odd(row)} is not among them."
            )
        get = row.get
        session_id, tick, content, subject = (
            get("session_id"),
            get("tick"),
            get("raw_content"),
            get("subject"),
        )
        if not session_id or not isinstance(session_id, str):
            raise InvalidInput(
                f"session_id = {quoted(session_id)} is no session; give its id.", argument="session_id"
            )
        if type(tick) is not int or not 0 <= tick < 1 << 53:
            raise InvalidInput(
                f"tick = {quoted(tick)} is no tick; give a whole number from 0 on.", argument="tick"
            )
        if not isinstance(content, str):
            raise InvalidInput(
                f"raw_content must be a string, not {quoted(content)}.", argument="raw_content"
            )
        if subject is not None and (not isinstance(subject, str) or not subject):
            raise InvalidInput(
                f"subject = {quoted(subject)} is no subject; give whose data it is.", argument="subject"
            )
        if subject == SYSTEM:
            raise InvalidInput(
                f"subject = {subject!r} is the ledger's own; give another name for whose data it is.",
                argument="subject",
            )
        scores = row.get("lens_activations") or {}
        if type(scores) is not dict and not isinstance(scores, Mapping):
            raise InvalidInput(
                f"lens_activations = {quoted(scores)} is no mapping of lenses to numbers.",
                argument="lens_activations",
            )
        values = scores.values()
        # Looked at as a whole first: nearly all are what they should be, and there may be hundreds a token.
        plain = _STR.issuperset(map(type, scores)) and _FLOAT.issuperset(map(type, values))
        if plain and all(map(math.isfinite, values)):
            return row
        for lens, score in scores.items():
            if not isinstance(lens, str):
                raise InvalidInput(f"lens_activations names {quoted(lens)}, which is no lens's id.")
            if not _is_finite(score):
                raise InvalidInput(f"The activation of {lens!r} is {quoted(score)}; give a finite number.")
        return row

    def _steering(self, value: object) -> list[JSONValue]:
        """Return the steering as JSON without secrets; raises `InvalidInput` for what is no list of mappings."""
        if not value:
            return []
        if not isinstance(value, list | tuple) or not all(isinstance(entry, Mapping) for entry in value):
            raise InvalidInput(
                f"steering_applied = {quoted(value)} is no list of mappings.", argument="steering_applied"
            )
        try:
            plain = json.loads(json.dumps(value, allow_nan=False, default=_plain))
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"steering_applied = {quoted(value)} cannot be kept as JSON: {json_fault(error)}.",
                argument="steering_applied",
            ) from error
        if _nests_deeper(plain, _DEPTH_LIMIT):
            raise InvalidInput(
                f"steering_applied holds lists or objects that stand in each other more than {_DEPTH_LIMIT} deep; "
                "flatten it.",
                argument="steering_applied",
            )
        return [_masked(entry, self._mask or self._masking.text) for entry in plain]


def _is_finite(score: object) -> bool:
    """Whether a lens can be so active; no whole number beyond what a float holds."""
    if not isinstance(score, int | float) or isinstance(score, bool):
        return False
    try:
        return math.isfinite(score)
    except OverflowError:
        return False


def _nests_deeper(value: object, most: int) -> bool:
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for outer in level
            for inner in (
                outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
            )
        ]
    return bool(level)


def _plain(value: object) -> object:
    """Return a mapping of another kind as one that JSON knows; raises `TypeError`."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _masked(value: JSONValue, mask: Callable[[str], str]) -> JSONValue:
    """Return a JSON value with every text in it masked."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {key: _masked(item, mask) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_masked(item, mask) for item in value]
    return value


def _odd(row: object) -> str:
    """Return what of a row is no field of a record, or the row itself where it is no mapping."""
    return quoted(sorted(map(str, row.keys() - _ROW_KEYS))) if isinstance(row, Mapping) else quoted(row)
