"""The calls of `hx.xdb` that record."""

from __future__ import annotations

from collections.abc import Mapping

from hexad.experience.recording.inputs import Rows
from hexad.experience.recording.moments import moment
from hexad.experience.stream_database import Experience
from hexad.experience.values.records import EventType, timestep_id, timestep_ids


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

    def record_many(self, rows: Rows, *, session_id: str | None = None) -> list[str]:
        """Record many timesteps and return their ids when all are acknowledged.

        `rows` are mappings with the parameters of `record`, and `timestamp` where it happened at another time; or a
        mapping of equally long columns with the same names, lists or NumPy arrays; or anything that Arrow can be read
        from (`__arrow_c_stream__`: tables and frames of pyarrow, polars, pandas, DuckDB). Columns may have `concepts`
        and `scores`, lists of equal length in each row, in place of `concept_activations`. None is as good as no value.

        What cannot be used raises `InvalidInput`, which names the row, and nothing of the call is recorded; of more
        than 64 MiB what stands before it may have been.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     hx.xdb.record_many({"event_type": ["input", "output"], "content": ["When?", "Tuesday."]})
        ['ts-monday-1', 'ts-monday-2']
        """
        session, ticks = self._experience.record_many(session_id, rows)
        return timestep_ids(session, ticks)

    def flush(self) -> None:
        """Wait until everything that this process recorded is acknowledged.

        Raises `StorageFailure` when the disk refuses; a later call tries again.
        """
        self._experience.flush()
