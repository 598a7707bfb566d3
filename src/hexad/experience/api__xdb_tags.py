"""The calls of `hx.xdb` on tags, concepts, buds and comments, as document 2, section 8, names them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hexad.experience.stream_database import ALL_SESSIONS
from hexad.experience.tagging import Given, Tagging
from hexad.experience.tags.tag_index import TagIndex
from hexad.experience.values.concepts import PackReport
from hexad.experience.values.records import TimestepRecord
from hexad.experience.values.tags import BudStatus, Comment, Tag, TagApplication, TagType


class TagCalls:
    """The part of `Xdb` that is about the folksonomy and about comments.

    A tag is named by its id, else by its name, ignoring case. Targets without a session of their own (events and
    ranges) are of `session_id`, else of the calling thread's current session.
    """

    _tagging: Tagging

    @property
    def tag_index(self) -> TagIndex:
        """All tags and concepts, with the calls of document 2's `TagIndex`."""
        return self._tagging.index

    # Tags -------------------------------------------------------------------------------------------------------

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
        given = Given(
            timestep_id=timestep_id, event_id=event_id, tick_range=tick_range, session_id=session_id
        )
        return self._tagging.tag(tag_name_or_id, given, confidence=confidence, note=note).id

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
        wanted = None if session_id == ALL_SESSIONS else session_id
        return self._tagging.applications(tag_name_or_id, session_id=wanted, limit=limit, offset=offset)

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

    # Concepts ---------------------------------------------------------------------------------------------------

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

    # Buds -------------------------------------------------------------------------------------------------------

    def create_bud_tag(
        self, name: str, description: str, *, related_concepts: Sequence[str] | None = None
    ) -> Tag:
        """Create a tag for a concept that may be learned, near to those named; it stands at `collecting`."""
        return self.tag_index.create_bud_tag(name, description, related_concepts=related_concepts or ())

    def get_buds(self, status: BudStatus | str | None = None) -> list[Tag]:
        """Return the buds, of one status or of all, by name."""
        found: list[Tag] = []
        while page := self.find_tags(tag_type=TagType.BUD, bud_status=status, limit=1_000, offset=len(found)):
            found += page
        return found

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

    # Comments ---------------------------------------------------------------------------------------------------

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
        given = Given(
            timestep_id=timestep_id, event_id=event_id, tick_range=tick_range, session_id=session_id
        )
        return self._tagging.comment(content, given).id

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
