"""`hx.xdb`: the experience database, as document 2 names it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from hexad.core.actor import Actor
from hexad.core.arguments import (
    all_texts_checked,
    flags_checked,
    parse_choice,
    parse_offset,
    require_question_length,
    word_list,
)
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.database.sqlite_errors import all_failures_translated
from hexad.experience.arguments import (
    MIN_ACTIVATION,
    activation_ranges,
    event_types_of,
    level_of,
    match_of,
    text_of,
    tick_range_of,
    time_range_of,
    whole_number,
)
from hexad.experience.context.context_window import NO_SESSION, ContextWindowManager, ContextWindows
from hexad.experience.documents import DocumentRepository
from hexad.experience.evidence import EvidencePackages
from hexad.experience.experience_log import ExperienceLog
from hexad.experience.lost_segments import LostSegments
from hexad.experience.query.activity import ActivityQuestion
from hexad.experience.recording.batches import Rows
from hexad.experience.recording.moments import record_fields
from hexad.experience.stream_database import ALL_SESSIONS, Experience
from hexad.experience.submissions import Submissions
from hexad.experience.summaries import Inference
from hexad.experience.tagging import NamedTarget, Tagging
from hexad.experience.tags.tag_index import TagIndex
from hexad.experience.tiers.contract import Contracts
from hexad.experience.tiers.pinning import PinnedWindows
from hexad.experience.tiers.storage_manager import StorageManager
from hexad.experience.values.contract import LifecycleContract
from hexad.experience.values.documents import Document, DocumentType, RemovedDocument
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.losses import LostSegment
from hexad.experience.values.names import check_name
from hexad.experience.values.pressure import CompressionReport, SessionTotals, StorageUsage
from hexad.experience.values.records import (
    ActivityBucket,
    ActivityUnit,
    SessionInfo,
    StepQuery,
    StreamAnswer,
    StreamReport,
    TimestepRecord,
    Timesteps,
    timestep_id,
    timestep_ids,
)
from hexad.experience.values.tags import BudStatus, Comment, PackReport, Tag, TagApplication, TagType
from hexad.experience.values.tiers import (
    CompactionRecord,
    CompressedRecord,
    ContextWindow,
    EventRecord,
    Submission,
    SubmissionStatus,
    TimeWindow,
)
from hexad.text.search_terms import search_terms

SURPRISING: Final = ("surprising", "confusing", "interesting", "unexpected")
"""The tags that `recall_surprising` asks for, any of them."""


@all_failures_translated
@all_texts_checked
class Xdb:
    """What an agent read, wrote and did, one record for each token or event; safe to share between threads.

    `start_session` makes a session the calling thread's current one. Every call takes `session_id` instead.
    """

    def __init__(
        self,
        experience: Experience,
        tagging: Tagging,
        documents: DocumentRepository,
        *,
        context: ContextWindows,
        storage: StorageManager,
        contracts: Contracts,
        tiers: PinnedWindows,
        submissions: Submissions,
        evidence: EvidencePackages,
        losses: LostSegments,
        actor: Actor,
    ) -> None:
        self._experience, self._tagging, self._documents = experience, tagging, documents
        self._windows, self._storage, self._contracts = context, storage, contracts
        self._tiers, self._submissions, self._evidence = tiers, submissions, evidence
        self._losses, self._actor = losses, actor

    # Sessions -------------------------------------------------------------------------------------------------------

    def start_session(
        self,
        session_id: str,
        max_context_tokens: int | None = None,
        *,
        compaction: bool | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> BoundSession:
        """Start a session, or go on with it after its highest tick, and make it this thread's current one.

        Several threads and processes may record to the same session at once: each is given ticks of its own.
        `max_context_tokens` None means the window that the session has; a new one has the contract's, or 8,192. A
        session compacts by itself when its window is four fifths full; with `compaction=False` it never does, and
        every token stays, until it is started with `True`. `data_subjects` names the people whose data it is, so that
        it can be erased with all that is theirs; None leaves what was said.
        """
        self._experience.start(
            session_id,
            max_context_tokens=max_context_tokens,
            compaction=compaction,
            data_subjects=data_subjects,
        )
        return BoundSession(self, session_id)

    def end_session(self, *, session_id: str | None = None) -> None:
        """End a session when everything recorded is acknowledged; nothing happens where there is no current one."""
        self._experience.end(session_id)

    def session(self, session_id: str) -> BoundSession:
        """Return a handle whose calls are about this session; raises `NotFound`."""
        self._experience.session(session_id)
        return BoundSession(self, session_id)

    def sessions(self) -> list[SessionInfo]:
        """Return all sessions in the order of their creation."""
        return self._experience.sessions()

    def session_totals(self) -> SessionTotals:
        """Return for each session that has experience how many records, timesteps and tokens there are of it.

        `records` are timesteps in full detail and COLD records of the session alone. What has become a day or more is
        of several sessions and counts for none. A segment that cannot be read counts for nothing, and `notes` of the
        answer name it.
        """
        return self._experience.session_totals()

    def get_state(self) -> dict[str, JSONValue]:
        """Return who this is, this thread's current session and its last tick, how many tags, buds and documents there
        are, and the context window; behind these seven how many sessions and timesteps, and how many not sealed yet.
        """  # fmt: skip
        session = self._experience.current
        sealed, unsealed = self._experience.counts()
        return {
            "be_id": self._actor.agent,
            "session_id": session,
            "current_tick": 0 if session is None else self._experience.last_tick(session),
            "tag_count": self.tag_index.count(),
            "bud_count": self.tag_index.count(TagType.BUD),
            "document_count": self._documents.count(),
            "context": self.get_context_state(),
            "session_count": len(self._experience.sessions()),
            "timestep_count": sealed + unsealed,
            "unsealed_count": unsealed,
        }

    def seal(self) -> StreamReport:
        """Turn the logs into segments now, but for those that other processes write to; `maintain` waits until
        they are large or old.
        """  # fmt: skip
        return self._experience.seal(all=True)

    # Recording ------------------------------------------------------------------------------------------------------

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
        token_count: int | None = None,
        session_id: str | None = None,
    ) -> str:
        """Record a timestep and return its id, `ts-{session}-{tick}`; of the activations the ten strongest.

        When it is on the disk is for the setting `stream_durability` to say: before this returns (`always`), or
        within 20 ms and with certainty after `flush` (`group`). Secrets are removed: from input, tools' and system
        texts before anything is written, from generated tokens when they are sealed.

        `token_count` None counts: 1 for a generated token, which is an `output` with a `token_id` or of one short word,
        and what the store's counter says (four characters a token) for everything else.

        Raises `InvalidInput` for what cannot be recorded, `StorageFailure` when the disk refuses.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     hx.xdb.record("output", "Hello", {"pack::Greeting": 0.8})
        'ts-monday-1'
        """
        fields = record_fields(
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
        session, tick = self._experience.record(session_id, fields)
        return timestep_id(session, tick)

    def on_input(
        self,
        content: str,
        role: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        session_id: str | None = None,
    ) -> str:
        """Record a message that came in; document 2's hook, called for each. As `record`, which counts its tokens.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = hx.xdb.on_input("When do we deploy?", "user")
        ...     _ = hx.xdb.on_output_token("Tuesday", 34234)
        ...     [(step.event_type.value, step.role, step.token_count) for step in hx.xdb.recall()]
        [('input', 'user', 5), ('output', 'assistant', 1)]
        """
        return self.record(EventType.INPUT, content, concept_activations, role=role, session_id=session_id)

    def on_output_token(
        self,
        token: str,
        token_id: int,
        concept_activations: Mapping[str, float] | None = None,
        *,
        session_id: str | None = None,
    ) -> str:
        """Record a token that was generated; document 2's hook, called for each. As `record`; it counts as one."""
        return self.record(
            EventType.OUTPUT,
            token,
            concept_activations,
            token_id=token_id,
            role="assistant",
            session_id=session_id,
        )

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
        self._experience.acknowledge()

    @property
    def experience_log(self) -> ExperienceLog:
        """The experience log by document 2's names, which takes and gives whole records."""
        return ExperienceLog(self._experience, self._tagging, recall=self.recall)

    # Questions ------------------------------------------------------------------------------------------------------

    def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        session_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Timesteps:
        """Return the timesteps for which everything given holds, in the order of sessions and ticks.

        `session_id` None is this thread's current session, and without one, or with `"*"`, all sessions. All of
        `concepts` must be among a timestep's ten strongest, with a score of 0.5 or more; as a mapping, with scores from
        lowest to highest.
        `tags` are ids or names: a timestep carries a tag by itself, by its event, by a range that holds it, or by a
        concept below the tag's; all of them are asked for, or with `match="any"` one.
        `text_search` is a part of the content, capitals or not, or of the tokens of an event joined: then the tokens
        that spell it are found. Ranges of ticks include both ends, ranges of time
        leave out theirs and may be open, as `(since, None)`. What this process recorded is found at once, whether
        sealed or not. A segment that cannot be read is left out, and `notes` of the answer say so; with `text_search`
        it is an `IntegrityError`.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.
        """
        question = self._question(
            session_id, tick_range, tags, match, time_range, event_types, concepts, event_id, limit, offset
        )
        return self._experience.query(replace(question, text=text_of(text_search, "text_search") or None))

    def recall_by_concept(
        self,
        concept_id: str,
        *,
        min_activation: float = MIN_ACTIVATION,
        session_id: str | None = None,
        limit: int = 100,
    ) -> Timesteps:
        """Return where a concept was strongly active, strongest first: in all sessions, unless one is named."""
        ranges = activation_ranges({check_name(concept_id, "concept_id"): (min_activation, float("inf"))})
        return self._experience.query(
            StepQuery(
                session_id=self._experience.scope(ALL_SESSIONS if session_id is None else session_id),
                activations=ranges,
                strongest=concept_id,
                limit=whole_number(limit, "limit", low=1),
            )
        )

    def recall_surprising(self, *, session_id: str | None = None, limit: int = 50) -> Timesteps:
        """Return what is tagged surprising, confusing, interesting or unexpected: candidates for a closer look."""
        return self.recall(tags=SURPRISING, match="any", session_id=session_id, limit=limit)

    def get_timestep(self, timestep_id: str) -> TimestepRecord | None:
        """Return one timestep, None when there is none; raises `InvalidInput` for what is no id of one."""
        return self._experience.get(timestep_id)

    def recall_events(
        self,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> StreamAnswer[EventRecord]:
        """Return whole events, in the order of sessions and ticks, their texts joined; COLD replies by their summary.

        An event is all timesteps of one `event_id`; without one each message or call, and tokens that were generated
        one after the other. All words of `text` must be in it, in any order, each at the beginning of a word, with
        another simple ending too; what stands in double quotes must be there as it is. Capitals or not, and however
        words are spread over tokens. `event_types` asks for the type of the event, which is that of its first
        timestep. The other filters are those of `recall`: an event is found when they hold together for one of its
        timesteps, and comes whole.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     for token in ("We dep", "loyed", " on Tues", "day."):
        ...         _ = hx.xdb.record("output", token, event_id="reply-1")
        ...     [event.content for event in hx.xdb.recall_events("tuesday deploys")]
        ['We deployed on Tuesday.']
        """
        text = text_of(text, "text")
        require_question_length(text or "", "text")
        question = self._question(
            session_id, tick_range, tags, match, time_range, event_types, concepts, event_id, limit, offset
        )
        terms = search_terms(text) if text is not None and text.strip() else None
        return self._experience.recall_events(question, terms)

    def activity(
        self,
        *,
        by: ActivityUnit | str = "hour",
        concepts: Sequence[str] | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 1_000,
    ) -> StreamAnswer[ActivityBucket]:
        """Return how much was recorded, and how active concepts were, by minute, hour, day, week or month in UTC.

        `concepts` None means the ten that were strongest, by the sum of their scores. `session_id` is as in `recall`:
        None is this thread's current session, and without one, or with `"*"`, all sessions. What has left the stream
        counts by its COLD records, each where it begins, and a bucket says how much of it that is. Of more than
        `limit` buckets the latest are returned, the oldest of them first; those without a timestep are left out.

        Raises `NotFound` for a session that was never started, `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", "rain", {"pack::Weather": score}) for score in (0.25, 0.75)]
        ...     [dict(bucket.concepts) for bucket in hx.xdb.activity(by="day")]
        [{'pack::Weather': ConceptActivity(count=2, mean=0.5, peak=0.75)}]
        """
        names = None
        if concepts is not None:
            names = list(
                dict.fromkeys(check_name(concept, "a concept") for concept in word_list(concepts, "concepts"))
            )
        return self._experience.activity(
            ActivityQuestion(
                unit=parse_choice(ActivityUnit, by, "by"),
                concepts=names,
                session_id=self._experience.scope(session_id),
                times=time_range_of(time_range),
                limit=whole_number(limit, "limit", low=1),
            )
        )

    def get_compressed_record(self, record_id: str) -> CompressedRecord | None:
        """Return a COLD record, with its lineage; None when none has this id (any more)."""
        return self._experience.compressed_record(record_id)

    def compressed_records(
        self,
        *,
        level: CompressionLevel | str | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[CompressedRecord]:
        """Return COLD records, the oldest first, of a level such as `"QUARTER"` or of all.

        `session_id` None is this thread's current session, and without one, or with `"*"`, all sessions; a session's
        are also those of days and more that it is part of. `time_range` takes what begins before its end and ends
        after its beginning. Raises `NotFound` for a session that was never started, `InvalidInput` for a value that
        cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", f" {word}" * 20) for word in ("a", "b", "c", "d")]
        ...     _ = hx.xdb.request_compaction()
        ...     [(record.level.name, record.timesteps) for record in hx.xdb.compressed_records()]
        [('REPLY', 2)]
        """
        return self._experience.compressed_records(
            self._experience.scope(session_id),
            level=None if level is None else level_of(level),
            times=time_range_of(time_range),
            limit=whole_number(limit, "limit", low=1),
            offset=whole_number(offset, "offset", low=0),
        )

    def _question(
        self,
        session_id: str | None,
        tick_range: tuple[int, int] | None,
        tags: Sequence[str] | None,
        match: Literal["all", "any"],
        time_range: tuple[datetime | str | None, datetime | str | None] | None,
        event_types: Sequence[EventType | str] | None,
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None,
        event_id: str | None,
        limit: int,
        offset: int,
    ) -> StepQuery:
        session, ticks = self._experience.scope(session_id), tick_range_of(tick_range)
        return StepQuery(
            session_id=session,
            ticks=ticks,
            tagged=self._tagging.tagged(session, tags, match=match, ticks=ticks) if tags else None,
            tag_sets=self._tagging.places.tag_sets(tags) if tags else (),
            any_tag=match_of(match),
            times=time_range_of(time_range),
            event_types=event_types_of(event_types),
            activations=activation_ranges(concepts),
            event_id=text_of(event_id, "event_id"),
            limit=whole_number(limit, "limit", low=1),
            offset=whole_number(offset, "offset", low=0),
        )

    # Tags: named by their id, else by their name, ignoring case. Events and ranges are of `session_id`, else of the
    # calling thread's current session.

    @property
    def tag_index(self) -> TagIndex:
        """All tags and concepts, with the calls of document 2's `TagIndex`."""
        return self._tagging.index

    def tag(
        self,
        tag_name_or_id: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        confidence: float = 1.0,
        note: str | None = None,
        session_id: str | None = None,
    ) -> str:
        """Tag a timestep, an event, or a range of ticks with both ends, and return the application's id.

        The tag is the one of exactly this id, else of exactly this name ignoring case; else a custom tag is created.

        Raises `InvalidTarget`, which is a `ValueError` too, unless exactly one target is given, `NotFound` for what
        was never recorded, `LimitExceeded` for a note over 64 KiB; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     step = hx.xdb.record("output", "Strange.")
        ...     _ = hx.xdb.tag("surprising", timestep_id=step)
        ...     [tag.name for tag in hx.xdb.get_tags_for_timestep(step)]
        ['surprising']
        """
        target = NamedTarget(
            timestep_id=timestep_id, event_id=event_id, tick_range=tick_range, session_id=session_id
        )
        return self._tagging.tag(tag_name_or_id, target, confidence=confidence, note=note).id

    def untag(self, application_id: str) -> None:
        """Take one use of a tag away; the tag stays. Raises `NotFound`."""
        self._tagging.untag(application_id)

    def remove_tag(self, tag_name_or_id: str, *, force: bool = False) -> int:
        """Remove a tag, and with `force` its uses too; return how many those were.

        It also goes from the COLD records that it was significant for. Nothing of it is kept.

        Raises `NotFound`; `Conflict` without `force` for a tag that is used and for a bud, always for a concept that a
        loaded pack has and for a bud in a submission that is not answered yet.
        """
        return self._tagging.remove(tag_name_or_id, force=force)

    def tag_applications(
        self, tag_name_or_id: str, *, session_id: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[TagApplication]:
        """Return the uses of a tag, by session and tick, in one session or in all (None, `"*"`); raises `NotFound`."""
        session = None if session_id == ALL_SESSIONS else session_id
        return self._tagging.applications(
            tag_name_or_id,
            session_id=session,
            limit=whole_number(limit, "limit", low=1),
            offset=parse_offset(offset),
        )

    def get_tags_for_timestep(self, timestep_id: str, *, inherited: bool = False) -> list[Tag]:
        """Return the tags on a timestep, on its event, and on ranges that hold it, in the order of their use.

        `inherited` adds the concepts above those that it is tagged with.
        """
        return self._tagging.tags_of(timestep_id, inherited=inherited)

    def get_applications_for_timestep(
        self, timestep_id: str, *, inherited: bool = False
    ) -> list[TagApplication]:
        """Return the uses behind `get_tags_for_timestep`; those that only follow have the source `inherited`."""
        return self._tagging.applications_of(timestep_id, inherited=inherited)

    def find_tags(
        self,
        *,
        name_pattern: str | None = None,
        tag_type: TagType | str | None = None,
        bud_status: BudStatus | str | None = None,
        entity_type: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Tag]:
        """Return tags by name, as `TagIndex.find_tags`."""
        return self.tag_index.find_tags(
            name_pattern=name_pattern,
            tag_type=tag_type,
            bud_status=bud_status,
            entity_type=entity_type,
            limit=limit,
            offset=offset,
        )

    def create_entity_tag(self, name: str, entity_type: str, *, description: str | None = None) -> Tag:
        """Create a tag for a person, an organization, a place or a thing; the same again is the same tag.

        Raises `Conflict` when an entity of this name is there with another type or description.
        """
        return self.tag_index.create_tag(
            name, TagType.ENTITY, entity_type=entity_type, description=description
        )

    # Concepts -------------------------------------------------------------------------------------------------------

    def load_concept_pack(self, path: Path | str) -> PackReport:
        """Bring the concepts to what a pack says, as `TagIndex.load_concept_pack`."""
        return self.tag_index.load_concept_pack(path)

    def browse_concepts(self, parent_concept_id: str | None = None) -> list[Tag]:
        """Return the concepts below one, or those without a parent; raises `NotFound`."""
        if parent_concept_id is None:
            return self.tag_index.get_concept_roots()
        return self.tag_index.get_concept_children(parent_concept_id)

    def find_concept(self, query: str, *, limit: int = 100) -> list[Tag]:
        """Return the concepts that `query` names best, by term and alias, ignoring case."""
        return self.tag_index.find_concept(query, limit=limit)

    # Buds -----------------------------------------------------------------------------------------------------------

    def create_bud_tag(
        self, name: str, description: str, *, related_concepts: Sequence[str] | None = None
    ) -> Tag:
        """Create a tag for a concept that may be learned, near to those named; it stands at `collecting`."""
        return self.tag_index.create_bud_tag(name, description, related_concepts=related_concepts or ())

    def get_buds(self, status: BudStatus | str | None = None) -> list[Tag]:
        """Return the buds, of one status or of all, by name."""
        tags: list[Tag] = []
        while page := self.find_tags(tag_type=TagType.BUD, bud_status=status, limit=1_000, offset=len(tags)):
            tags += page
        return tags

    def get_bud_examples(self, bud_tag_id: str, *, limit: int = 100, offset: int = 0) -> list[TimestepRecord]:
        """Return the timesteps that carry a bud, however it was applied, by session and tick."""
        return self.tag_index.get_bud_examples(bud_tag_id, limit=limit, offset=offset)

    def promote_to_bud(self, tag_id: str) -> Tag:
        """Make a tag a bud that stands at `collecting`; what it was applied to stays. Raises `NotFound`."""
        return self.tag_index.promote_to_bud(tag_id)

    def mark_bud_ready(self, bud_tag_id: str) -> Tag:
        """Note that a bud has enough examples; raises `NotFound`, `InvalidInput` for a tag that is no bud."""
        return self.tag_index.update_bud_status(bud_tag_id, BudStatus.READY)

    def update_bud_status(self, bud_tag_id: str, status: BudStatus | str) -> Tag:
        """Change where a bud stands; raises `NotFound`, `InvalidInput` for a tag that is no bud."""
        return self.tag_index.update_bud_status(bud_tag_id, status)

    # Comments -------------------------------------------------------------------------------------------------------

    def comment(
        self,
        content: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        session_id: str | None = None,
    ) -> str:
        """Remark on a timestep, an event or a range of ticks, and return the comment's id. Raises as `tag` does."""
        target = NamedTarget(
            timestep_id=timestep_id, event_id=event_id, tick_range=tick_range, session_id=session_id
        )
        return self._tagging.comment(content, target).id

    def edit_comment(self, comment_id: str, content: str) -> Comment:
        """Change what a comment says; its `updated_at` is set, and the older text is kept. Raises `NotFound`."""
        return self._tagging.edit_comment(comment_id, content)

    def get_comment(self, comment_id: str) -> Comment:
        """Return one comment; raises `NotFound`."""
        return self._tagging.get_comment(comment_id)

    def remove_comment(self, comment_id: str) -> None:
        """Take a comment away; raises `NotFound`."""
        self._tagging.remove_comment(comment_id)

    def get_comments_for_range(self, session_id: str, start_tick: int, end_tick: int) -> list[Comment]:
        """Return the comments on ticks of a range, and on events and ranges that share one, the oldest first.

        Raises `NotFound` for a session that was never started.
        """
        return self._tagging.comments_in(session_id, (start_tick, end_tick))

    # Documents ------------------------------------------------------------------------------------------------------

    @property
    def documents(self) -> DocumentRepository:
        """The document repository: adding, updating, versions, working copies."""
        return self._documents

    def get_document(self, path: str) -> Document | None:
        """Return the document at a logical path, None when there is none."""
        return self._documents.get_by_path(path)

    def remove_document(self, path_or_id: str, *, purge: bool = False) -> RemovedDocument:
        """Take a document away, to be brought back or for good, as `DocumentRepository.remove_document`."""
        return self._documents.remove_document(path_or_id, purge=purge)

    def restore_document(self, path_or_id: str) -> Document:
        """Bring back a document that was removed, as `DocumentRepository.restore_document`."""
        return self._documents.restore_document(path_or_id)

    def search_documents(
        self, query: str, *, doc_type: DocumentType | str | None = None, limit: int = 100
    ) -> list[Document]:
        """Return the documents that hold the words of `query`, best first, as `DocumentRepository.search`."""
        return self._documents.search(text_query=query, doc_type=doc_type, limit=limit)

    def list_documents(self, doc_type: DocumentType | str | None = None) -> list[Document]:
        """Return the documents, of one type or of all, by path."""
        return self._documents.all() if doc_type is None else self._documents.list_by_type(doc_type)

    # Context windows ------------------------------------------------------------------------------------------------

    @property
    def context_manager(self) -> ContextWindowManager | None:
        """The window of this thread's current session; None where no session is started, so look before you call it."""
        session = self._experience.current
        return None if session is None else self._windows.manager(session)

    def get_context_state(self, session_id: str | None = None) -> dict[str, JSONValue]:
        """Return how full a session's context window is; without a session `{'error': 'No active session'}`.

        Tokens of every program that records to the session count, and those of the summary. Raises `NotFound` for a
        session that was never started.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday", max_context_tokens=1000)
        ...     _ = hx.xdb.record("input", "When do we deploy?", token_count=5)
        ...     hx.xdb.get_context_state()
        {'max_tokens': 1000, 'current_tokens': 5, 'utilization': 0.005, 'session_id': 'monday', 'current_tick': 1}
        """
        session = self._experience.current if session_id is None else session_id
        return dict(NO_SESSION) if session is None else self._windows.manager(session).get_context_state()

    def get_context_states(self, session_ids: Sequence[str] | None = None) -> list[dict[str, JSONValue]]:
        """Return what `get_context_state` says of several sessions, in their order: all are counted in one go.

        None means all that have not ended, in the order of their creation. Raises `NotFound` for a session that was
        never started, `InvalidInput` for one name where names are expected.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     for day in ("monday", "tuesday"):
        ...         _ = hx.xdb.start_session(day, max_context_tokens=1000)
        ...         _ = hx.xdb.record("input", "When do we deploy?", token_count=5)
        ...     [window["current_tokens"] for window in hx.xdb.get_context_states()]
        [5, 5]
        """
        if session_ids is None:
            sessions = self._experience.sessions()
            return self._windows.states([session.id for session in sessions if session.ended_at is None])
        return self._windows.states(word_list(session_ids, "session_ids"))

    def request_compaction(self, session_id: str | None = None) -> CompactionRecord | None:
        """Replace the older half of a session's window by a summary now, and return what was done.

        None without a session, and when there is nothing that could be replaced by less. Raises `NotFound` for a
        session that was never started.
        """
        session = self._experience.current if session_id is None else session_id
        return None if session is None else self._windows.compact(session)

    def compactions(
        self, session_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[CompactionRecord]:
        """Return compactions in the order in which they were made: of a session, this thread's current one by default,
        and without one, or with `"*"`, of all. Raises `NotFound` for a session that was never started.
        """  # fmt: skip
        return self._windows.records(
            self._experience.scope(session_id),
            limit=whole_number(limit, "limit", low=1),
            offset=whole_number(offset, "offset", low=0),
        )

    def context(self, session_id: str | None = None) -> ContextWindow:
        """Return what is in a session's window: the summary of what left it, then its events. `str` makes it a text.

        Raises `InvalidInput` without a session, `NotFound` for one that was never started.
        """
        return self._windows.content(self._experience.current_or(session_id))

    def set_summarizer(self, inference: Inference | None) -> None:
        """Let the agent's own inference write the summaries of this program's compactions; None ends that.

        It is called with a prompt, or with a system text and a prompt if it takes two, in whichever thread compacts,
        and returns a text. One that is too long, empty or fails is replaced by a local summary: `generated_by` of the
        compaction says who wrote it. Raises `InvalidInput` for what cannot be called.
        """
        self._windows.use(inference)

    # Windows that stay in full detail -------------------------------------------------------------------------------

    def pin_window(
        self, tick_range: Sequence[int], *, session_id: str | None = None, reason: str | None = None
    ) -> TimeWindow:
        """Keep a range of ticks, both ends included, in full detail until it is unpinned, and return its window.

        `session_id` None is this thread's current session. The same range again is the same window. Of a range that
        is partly COLD what is left is pinned; the window says which ticks, and how many tokens.

        Raises `QuotaExceeded` when the tokens of all pinned ranges together would be more than the contract's
        `warm_quota_tokens` (100,000 without one), `NotFound` for ticks that were never recorded, `Conflict` for such
        as are COLD; then nothing was changed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.start_session("monday")
        ...     _ = [hx.xdb.record("output", word) for word in ("It", " rained", " frogs")]
        ...     window = hx.xdb.pin_window((2, 3), reason="interesting")
        ...     window.fidelity.value, window.token_count
        ('warm', 2)
        """
        return self._tiers.pin(self._experience.current_or(session_id), tick_range, reason=reason)

    def unpin_window(self, window_id: str) -> TimeWindow:
        """Let go of a pinned window, or of one in its time of grace, and return it as it stands now.

        What of it has left the session's context becomes REPLY records at once, the rest is HOT again. What another
        window keeps stays. Raises `NotFound`, `Conflict` for one that an unresolved submission names.
        """
        return self._tiers.unpin(window_id)

    def get_window(self, window_id: str) -> TimeWindow:
        """Return one window as it stands now; of a COLD one with what stands for it. Raises `NotFound`."""
        return self._tiers.get(window_id)

    def windows(
        self,
        *,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        fidelity: Fidelity | str | None = None,
        pinned: bool | None = None,
    ) -> list[TimeWindow]:
        """Return the windows for which everything given holds, by session and first tick.

        With `tick_range` those that share a tick with it. `session_id` None asks all sessions.
        """
        return self._tiers.find(
            session_id=session_id,
            ticks=tick_range_of(tick_range),
            fidelity=None if fidelity is None else parse_choice(Fidelity, fidelity, "fidelity"),
            pinned=pinned,
        )

    def get_windows_for_tag(self, tag_name_or_id: str) -> list[TimeWindow]:
        """Return the windows that share a tick with what a tag is on; raises `NotFound`."""
        return self._submissions.windows_for_tag(tag_name_or_id)

    def warm_tokens(self) -> int:
        """Return how many tokens are pinned, under two pins once; the contract's `warm_quota_tokens` is the most."""
        return self._tiers.warm_tokens()

    # Submissions ----------------------------------------------------------------------------------------------------

    def submit_graft(self, bud_tag_id: str, submission_id: str) -> list[str]:
        """Hand a bud in: keep its examples as evidence until the submission is resolved; returns the windows' ids.

        A window for each range of ticks in full detail that the bud's tag is on now, in all sessions; tags that are
        put on later change nothing. They do not count against the WARM quota. The same call again gives the same
        windows. The bud stands at `training` from here on.

        Raises `NotFound`, `InvalidInput` for a tag that is no bud, a bud without an example in full detail, or an id
        that cannot name a folder, `Conflict` for an id that another bud has or that is resolved.
        """
        return list(self._submissions.submit(bud_tag_id, submission_id).window_ids)

    def resolve_submission(self, submission_id: str, accepted: bool) -> Submission:
        """Say what became of a submission, and return it; the same answer again changes nothing.

        Accepted: its windows are COLD, their timesteps REPLY records, and the bud is `promoted`. Rejected: they are
        WARM and unpinned until their grace is over (`submission_grace_days`), so that they can be pinned, and the bud
        is `collecting` again. A window stays SUBMITTED while another unresolved submission names it.

        Raises `NotFound`, `Conflict` when the other answer was given.
        """
        return self._submissions.resolve(submission_id, accepted=accepted)

    def get_submission(self, submission_id: str) -> Submission:
        """Return one submission; raises `NotFound`."""
        return self._submissions.get(submission_id)

    def submissions(self, status: SubmissionStatus | str | None = None) -> list[Submission]:
        """Return the submissions of one status (`open`, `accepted`, `rejected`) or all, the oldest first."""
        return self._submissions.find(status)

    def get_windows_for_submission(self, submission_id: str) -> list[TimeWindow]:
        """Return the windows that a submission named, as they stand now; raises `NotFound`."""
        return self._submissions.windows_of(submission_id)

    def export_submission(self, submission_id: str, out: Path | str | None = None) -> Path:
        """Write the evidence of a submission as a package and return its folder: `.hexad/exports/<submission_id>/`, or
        `out`. A package that says the same stays as it is, an older one is replaced.

        Raises `NotFound`, `Conflict` when the evidence is not in full detail any more, or something else is at `out`.
        """  # fmt: skip
        return self._evidence.export(submission_id, out)

    def verify_export(self, submission_id_or_path: str | Path) -> list[str]:
        """Return what is wrong with a package, by a submission's id or by path; an empty list when nothing is.

        Looked for are files that are missing, were changed or do not belong there, and counts that are not what the
        manifest says. Raises `NotFound` when there is no package.
        """
        return self._evidence.verify(submission_id_or_path)

    # Storage --------------------------------------------------------------------------------------------------------

    @property
    def storage_manager(self) -> StorageManager:
        """What keeps COLD storage under its limit, with the calls of document 2's `StorageManager`."""
        return self._storage

    def usage(self) -> StorageUsage:
        """Return what the experience takes, by kind of file, fidelity and compression level, beside its limits.

        Of a segment that cannot be read the bytes count and the timesteps do not, and `notes` name it.
        """
        return self._storage.usage()

    def check_and_compress(
        self, *, max_storage_bytes: int | None = None, compression_threshold: float | None = None
    ) -> CompressionReport:
        """Make COLD storage coarser, the oldest and finest first, until it is under the threshold of its limit.

        The limit is the contract's `cold_storage_bytes`, the threshold 0.8, unless other ones are given for this call.
        `maintain` and the background do this by themselves. Nothing goes past YEAR, and HOT, WARM and SUBMITTED are
        never compressed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     hx.xdb.check_and_compress().stopped.value
        'under_threshold'
        """
        return self._storage.check_and_compress(
            max_storage_bytes=max_storage_bytes, compression_threshold=compression_threshold
        )

    @flags_checked
    def accept_lost_segment(self, segment: str, *, confirm: bool = False) -> LostSegment:
        """Give up a segment that is damaged and of which there is no backup: the stream goes on without what it held.

        Its file is removed, erasures that waited for it are finished, the ledger is told who gave up what, and `check`
        finds no fault with it from then on. `segment` is the file's name or path, as `check` says it. A copy of the
        file that is put back later is not read.

        Raises `Conflict` for a segment that is as it was sealed, `NotFound` for one that the stream does not have,
        `AccessDenied` without `confirm` and for anybody but the store's owner, `StorageFailure` for a store that was
        opened read-only, `StoreLocked` while another process writes the stream's files; then nothing was changed.
        """
        return self._losses.accept(segment, confirm=confirm)

    def lost_segments(self) -> list[LostSegment]:
        """Return the segments that were given up, the oldest first; their text says what is lost in one line."""
        return self._losses.list()

    @property
    def contract(self) -> LifecycleContract:
        """The limits in force, each with where it comes from: the contract, or the deployment group's minimum."""
        return self._contracts.current()

    def set_contract(self, contract: Mapping[str, object] | str | Path | None) -> LifecycleContract:
        """Put a lifecycle contract in force, a mapping or a JSON or TOML file; None ends the one there is.

        It is kept in the store, so that every program that has it open goes by it. What it does not say is the minimum
        of the deployment group: 100,000 tokens WARM, 100 MiB COLD, a context window of 8,192. Unknown keys are kept.

        Raises `LimitExceeded` for less than a minimum, `InvalidInput` for what is no contract, `NotFound` for a file
        that is not there, `AccessDenied` for who is not the store's owner; then nothing was changed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     contract = hx.xdb.set_contract({"resources": {"memory": {"warm_quota_tokens": 250_000}}})
        ...     contract.warm_quota_tokens, contract.cold_storage_bytes, contract.sources["cold_storage_bytes"].value
        (250000, 104857600, 'minimum')
        """
        return self._contracts.set(contract)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def of_session(call: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[BoundSession, _P], _R]:
    """Return a call of `hx.xdb` as a call of a handle: the same parameters, and `session_id` is the handle's."""
    signature = inspect.signature(call)

    @functools.wraps(call)
    def method(handle: BoundSession, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if "session_id" in kwargs:
            raise TypeError(f"{call.__name__}() of a session's handle takes no session_id; it has one.")
        kwargs["session_id"] = handle.id
        return call(handle._xdb, *args, **kwargs)

    # What help and completion show: no session to give.
    left_parameters = [parameter for name, parameter in signature.parameters.items() if name != "session_id"]
    method.__signature__ = signature.replace(parameters=left_parameters)  # type: ignore[attr-defined]
    return method


@all_failures_translated
class BoundSession:
    """One session of `hx.xdb`, for threads that work on several: its calls are those of `hx.xdb`, on this session."""

    def __init__(self, xdb: Xdb, session_id: str) -> None:
        self._xdb = xdb
        self.id = session_id

    record = of_session(Xdb.record)
    record_many = of_session(Xdb.record_many)
    on_input = of_session(Xdb.on_input)
    on_output_token = of_session(Xdb.on_output_token)
    recall = of_session(Xdb.recall)
    recall_events = of_session(Xdb.recall_events)
    recall_by_concept = of_session(Xdb.recall_by_concept)
    recall_surprising = of_session(Xdb.recall_surprising)
    compressed_records = of_session(Xdb.compressed_records)
    activity = of_session(Xdb.activity)
    tag = of_session(Xdb.tag)
    tag_applications = of_session(Xdb.tag_applications)
    comment = of_session(Xdb.comment)
    get_context_state = of_session(Xdb.get_context_state)
    request_compaction = of_session(Xdb.request_compaction)
    compactions = of_session(Xdb.compactions)
    context = of_session(Xdb.context)
    pin_window = of_session(Xdb.pin_window)
    windows = of_session(Xdb.windows)

    def get_comments_for_range(self, start_tick: int, end_tick: int) -> list[Comment]:
        """Return the comments of this session, as `Xdb.get_comments_for_range`."""
        return self._xdb.get_comments_for_range(self.id, start_tick, end_tick)

    def end(self) -> None:
        """End this session, as `Xdb.end_session`."""
        self._xdb.end_session(session_id=self.id)
