"""The calls of `hx.xdb` that record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hexad.experience.moments import moment, moment_of_row
from hexad.experience.recorder import GROUP_RECORDS
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
            intake=self._experience.intake,
            event_id=event_id,
            event_start=event_start,
            event_end=event_end,
            token_id=token_id,
            role=role,
            token_count=token_count,
        )
        session, ticks = self._experience.record(session_id, (one,))
        return timestep_id(session, ticks[0])

    def record_many(self, rows: Iterable[Mapping[str, Any]], *, session_id: str | None = None) -> list[str]:
        """Record many timesteps and return their ids when all are acknowledged.

        A row has the parameters of `record`, and `timestamp` where it happened at another time. A row that cannot
        be used raises `InvalidInput`; the rows before it, up to a multiple of 4,096, may have been recorded.
        """
        ids: list[str] = []
        held = []
        intake = self._experience.intake
        for row in rows:
            held.append(moment_of_row(row, intake=intake))
            if len(held) == GROUP_RECORDS:
                ids += self._ids(*self._experience.record(session_id, held))
                held = []
        if held:
            ids += self._ids(*self._experience.record(session_id, held))
        self._experience.flush()
        return ids

    @staticmethod
    def _ids(session: str, ticks: Sequence[int]) -> list[str]:
        return [timestep_id(session, tick) for tick in ticks]

    def flush(self) -> None:
        """Wait until everything that this process recorded is acknowledged.

        Raises `StorageFailure` when the disk refuses; a later call tries again.
        """
        self._experience.flush()
