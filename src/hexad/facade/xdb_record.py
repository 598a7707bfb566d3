"""The calls of `hx.xdb` that record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hexad.experience.batches import batches, chunks_of_rows, held_together
from hexad.experience.moments import moment
from hexad.experience.xdb import Experience
from hexad.model.experience import EventType, timestep_id


class RecordCalls:
    """The part of `Xdb` that takes experience in."""

    _experience: Experience

    def record(
        self,
        event_type: EventType | str,
        content: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        event_id: str | None = None,
        event_start: bool = False,
        event_end: bool = False,
        token_id: int | None = None,
        role: str | None = None,
        token_count: int = 1,
        session_id: str | None = None,
    ) -> str:
        """Record a timestep and return its id, `ts-{session}-{tick}`; of the activations the ten strongest.

        When it is on the disk is for the setting `stream_durability` to say: before this returns (`always`), or
        within 20 ms and with certainty after `flush` (`group`). Secrets are removed: from input, tools' and system
        texts before anything is written, from generated tokens when they are sealed.

        Raises `InvalidInput` for what cannot be recorded, `StorageFailure` when the disk refuses.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     hx.xdb.record("output", "Hello", {"pack::Greeting": 0.8})
        'ts-monday-1'
        """
        one = moment(
            event_type,
            content,
            concept_activations,
            self._experience.intake,
            event_id,
            event_start,
            event_end,
            token_id,
            role,
            token_count,
        )
        session, tick = self._experience.record(session_id, one)
        return timestep_id(session, tick)

    def record_many(self, rows: Iterable[Mapping[str, Any]], *, session_id: str | None = None) -> list[str]:
        """Record many timesteps and return their ids when all are acknowledged.

        A row has the parameters of `record`, and `timestamp` where it happened at another time. A row that cannot
        be used raises `InvalidInput`; the rows before it may have been recorded where they are more than 64 MiB.
        """
        intake = self._experience.intake
        found = held_together(batches(chunks_of_rows(rows), intake))
        session, ticks = self._experience.record_batches(session_id, found)
        return [timestep_id(session, tick) for tick in ticks]

    def flush(self) -> None:
        """Wait until everything that this process recorded is acknowledged.

        Raises `StorageFailure` when the disk refuses; a later call tries again.
        """
        self._experience.flush()
