"""`hx.xdb.experience_log`: the experience log by document 2's own names (section 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from hexad.core.arguments import all_texts_checked, quoted
from hexad.core.event_types import EventType
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import InvalidInput
from hexad.experience.arguments import whole_number
from hexad.experience.recording.moments import record_fields
from hexad.experience.stream_database import ALL_SESSIONS, Experience
from hexad.experience.tagging import Tagging
from hexad.experience.values.levels import Fidelity
from hexad.experience.values.records import TimestepRecord, timestep_id
from hexad.experience.values.tags import Comment, Tag, TagApplication


@all_failures_translated
@all_texts_checked
class ExperienceLog:
    """What an agent may see of its experience: it takes and gives records, and knows no current session."""

    def __init__(
        self, experience: Experience, tagging: Tagging, *, recall: Callable[..., list[TimestepRecord]]
    ) -> None:
        self._experience, self._tagging, self._recall = experience, tagging, recall

    def record_timestep(self, record: TimestepRecord) -> str:
        """Record a timestep of a session that was started, at the time that it names, and return its id.

        With tick 0 it gets the session's next tick, whatever its id says. Any other tick must be greater than all that
        may have been used, by any process, and the id empty or that of this tick; ticks in between stay unused.

        Raises `Conflict` for a tick that may have been used and for a session that has ended, `NotFound` for one that
        was never started, `InvalidInput` for what cannot be recorded, a COLD record for one.
        """
        value: object = record
        if not isinstance(value, TimestepRecord):
            raise InvalidInput(
                f"record = {quoted(value)} is no timestep; give a TimestepRecord.", argument="record"
            )
        if record.fidelity is Fidelity.COLD:
            raise InvalidInput(f"{record.id[:80]!r} stands for {record.timesteps} timesteps; record those.")
        whole_number(record.tick, "tick", low=0)
        if record.tick and record.id not in ("", timestep_id(record.session_id, record.tick)):
            raise InvalidInput(
                f"The id {record.id[:80]!r} is not that of tick {record.tick} of session {record.session_id[:80]!r}; "
                "give the one or the other, or tick 0."
            )
        fields = record_fields(
            record.event_type,
            record.content,
            record.concept_activations,
            self._experience.intake,
            record.event_id,
            record.event_start,
            record.event_end,
            record.token_id,
            record.role,
            record.token_count,
            record.timestamp,
        )
        session, tick = self._experience.record(record.session_id, fields, tick=record.tick or None)
        return timestep_id(session, tick)

    def get_timestep(self, timestep_id: str) -> TimestepRecord | None:
        """Return one timestep, as `Xdb.get_timestep`."""
        return self._experience.get(timestep_id)

    def query(
        self,
        *,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        tags: Sequence[str] | None = None,
        concept_activations: Mapping[str, tuple[float, float]] | None = None,
        text_search: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[TimestepRecord]:
        """Return the timesteps for which everything given holds, as `Xdb.recall`; without a session those of all."""
        return self._recall(
            session_id=ALL_SESSIONS if session_id is None else session_id,
            tick_range=tick_range,
            time_range=time_range,
            event_types=event_types,
            tags=tags,
            concepts=concept_activations,
            text_search=text_search,
            limit=limit,
            offset=offset,
        )

    def add_tag(self, application: TagApplication) -> str:
        """Store a tag application, and return its id, a new one where it has none; its `tag_id` must be there.

        Raises as `Xdb.tag` does, and `Conflict` for an id that is taken.
        """
        value: object = application
        if not isinstance(value, TagApplication):
            raise InvalidInput(
                f"application = {quoted(value)} is no use of a tag; give a TagApplication.",
                argument="application",
            )
        return self._tagging.add_application(application).id

    def add_comment(self, comment: Comment) -> str:
        """Store a comment, and return its id, a new one where it has none. Raises as `add_tag` does."""
        value: object = comment
        if not isinstance(value, Comment):
            raise InvalidInput(
                f"comment = {quoted(value)} is no comment; give a Comment.", argument="comment"
            )
        return self._tagging.add_comment(comment).id

    def get_tags_for_timestep(self, timestep_id: str) -> list[Tag]:
        """Return the tags on a timestep, as `Xdb.get_tags_for_timestep`."""
        return self._tagging.tags_of(timestep_id, inherited=False)

    def get_comments_for_range(self, session_id: str, start_tick: int, end_tick: int) -> list[Comment]:
        """Return the comments on ticks of a range, as `Xdb.get_comments_for_range`."""
        return self._tagging.comments_in(session_id, (start_tick, end_tick))
