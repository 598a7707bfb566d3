"""The folksonomy as document 2 names it: tags, concepts, buds (`TagIndex`, and `InMemoryTagIndex` of section 11.2)."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from hexad.core.arguments import (
    all_texts_checked,
    is_text,
    is_whole,
    parse_choice,
    parse_offset,
    parse_path,
    parse_text,
    parse_whole,
    quoted,
    require_question_length,
    word_list,
)
from hexad.core.lazy import CountedCache
from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, InvalidInput
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import TAGS, TagFilter, Tags
from hexad.experience.tags.concept_packs import Masked, fingerprint_of, read_pack, without_secrets
from hexad.experience.values.records import TimestepRecord
from hexad.experience.values.tags import (
    NOTE_BYTES_LIMIT,
    TAG_NAME_CHARS_LIMIT,
    BudStatus,
    PackReport,
    Tag,
    TagType,
    check_size,
    check_tag_name,
)
from hexad.redaction.masking import Masking

WORKING_SET_LIMIT: Final = 10_000
"""How many tags are kept in memory unless buds need more."""
_FIELDS_BYTES: Final = 400
"""What a tag takes besides its texts, with its entry."""
_TAG_BYTES: Final = 16_384
"""The most that a tag takes, with its description."""


class ActiveTags:
    """Tags by id, as the store has them now: a change by any process is seen at the next look.

    What a current bud is, or is near to, is never evicted, so that there may be more than the limit.
    """

    def __init__(self, db: Database, *, limit: int = WORKING_SET_LIMIT) -> None:
        self._tags = Tags(db)
        self._changes = ChangeReader(db)
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, Tag]] = OrderedDict()
        self._bytes = 0
        self._needed: tuple[int, frozenset[str]] = (-1, frozenset())
        self.hits = 0
        self.misses = 0
        self._use = CountedCache(limit * _TAG_BYTES, lambda: self._bytes)
        db.caches.add("tags", self._use)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, tag_id: object) -> bool:
        return tag_id in self._kept

    def get(self, tag_id: str) -> Tag | None:
        """Return a tag and count it as used; None when there is none."""
        change = self._changes.current(TAGS)
        with self._lock:
            active = self._kept.get(tag_id)
            if active is not None and active[0] == change:
                self.hits += 1
                self._kept.move_to_end(tag_id)
                return active[1]
            self.misses += 1
        tag = self._tags.get(tag_id)
        if tag is None:
            self.discard(tag_id)
            return None
        self._keep(tag, change)
        return tag

    def add(self, tag: Tag) -> None:
        """Put a tag into the set, as used last."""
        self._keep(tag, self._changes.current(TAGS))

    def discard(self, tag_id: str) -> None:
        """Let go of a tag that is no more."""
        with self._lock:
            self._drop(tag_id)

    def _drop(self, tag_id: str) -> None:
        if (departed := self._kept.pop(tag_id, None)) is not None:
            self._bytes -= _bytes_of(departed[1])

    def _keep(self, tag: Tag, change: int) -> None:
        with self._lock:
            self._drop(tag.id)
            self._kept[tag.id] = (change, tag)
            self._bytes += _bytes_of(tag)
            full = len(self._kept) > self._limit
        if full:
            self.evict_unused()

    def evict_unused(self, max_size: int | None = None) -> int:
        """Let go of the least recently used tags over `max_size`, but for those of current buds; returns how many."""
        limit = self._limit if max_size is None else max_size
        needed = self._of_buds()
        with self._lock:
            excess = len(self._kept) - limit
            departed: list[str] = []
            for tag_id in self._kept:
                if len(departed) >= excess:
                    break
                if tag_id not in needed:
                    departed.append(tag_id)
            for tag_id in departed:
                self._drop(tag_id)
        return len(departed)

    def _of_buds(self) -> frozenset[str]:
        change = self._changes.current(TAGS)
        seen, needed = self._needed
        if seen != change:
            needed = self._tags.of_current_buds()
            self._needed = (change, needed)
        return needed


def _bytes_of(tag: Tag) -> int:
    texts = (tag.id, tag.name, tag.description)
    return _FIELDS_BYTES + sum(sys.getsizeof(text) for text in texts if text is not None)


class ConceptPacks:
    """Loads packs into the store, and their primaries into the working set."""

    def __init__(self, db: Database, working_set: ActiveTags, *, masked: Masked | None = None) -> None:
        self._db = db
        self._concepts = Concepts(db)
        self._working_set = working_set
        self._masked = masked

    def load(self, path: Path) -> PackReport:
        """Bring the store to what the pack at `path` says, without secrets; the same pack again changes nothing.

        Raises `NotFound` and `InvalidInput` as `read_pack` does, `Conflict` for concepts of another pack.
        """
        known = self._concepts.loaded(fingerprint_of(path))
        if known is not None:
            return known
        pack = read_pack(path)
        if self._masked is not None:
            pack = without_secrets(pack, self._masked)
        with self._db.transaction():
            return self._concepts.load(pack, at=self._db.clock.now())

    def load_primaries(self, *, limit: int = WORKING_SET_LIMIT) -> int:
        """Put the concepts that a lens sees into the working set, the coarsest first to stay; returns how many."""
        primaries = self._concepts.primaries(limit=limit)
        for tag in reversed(primaries):
            self._working_set.add(tag)
        return len(primaries)


FIND_LIMIT: Final = 100_000


class Examples(Protocol):
    """What finds the timesteps that carry a tag."""

    def __call__(self, tag_id: str, *, limit: int, offset: int) -> list[TimestepRecord]:
        """Return them by session and tick."""


@all_texts_checked
class TagIndex:
    """All tags and how they are related. Safe to share between threads; other processes' changes are seen."""

    def __init__(
        self, context: StoreContext, *, masking: Masking, examples: Examples, loaded: Callable[[], None]
    ) -> None:
        """`masking` takes secrets out of texts; `loaded` is called when a pack was loaded."""
        self._db, self._ids, self._masking = context.db, context.ids, masking
        self._author = context.actor.agent or context.actor.describe()
        self._examples, self._loaded = examples, loaded
        self._tags, self._concepts = Tags(context.db), Concepts(context.db)
        self.working_set = ActiveTags(context.db)
        self._packs = ConceptPacks(context.db, self.working_set, masked=masking.texts)

    # Tags -------------------------------------------------------------------------------------------------------

    def create_tag(
        self,
        name: str,
        tag_type: TagType | str = TagType.CUSTOM,
        *,
        concept_id: str | None = None,
        entity_type: str | None = None,
        description: str | None = None,
    ) -> Tag:
        """Create a tag, or return the one of this type and name, ignoring case, when it says the same.

        A concept needs its `concept_id`, which is the tag's id too; a bud begins at `collecting`. Raises `Conflict`
        when the tag that is there says something else, `InvalidInput` for what cannot be one.
        """
        kind = parse_choice(TagType, tag_type, "tag_type")
        checked_name = check_tag_name(self._without_secrets(name, "name"))
        if (kind is TagType.CONCEPT) != (concept_id is not None):
            raise InvalidInput(
                "A concept's tag needs a concept_id such as 'pack::Term', and no other tag has one.",
                argument="concept_id",
            )
        if concept_id is not None:
            self._concept_id(concept_id)
        if entity_type is not None and kind is not TagType.ENTITY:
            raise InvalidInput(
                f"entity_type = {quoted(entity_type)} is for entities, not for a {kind.value} tag.",
                argument="entity_type",
            )
        if entity_type is not None:
            entity_type = check_tag_name(self._without_secrets(entity_type, "entity type"))
        text = None if description is None else self._text(description, "description")
        with self._db.transaction():
            known_tag = (
                self._tags.get(concept_id) if concept_id else self._tags.named(checked_name, tag_type=kind)
            )
            if known_tag is not None:
                return _same(known_tag, concept_id=concept_id, entity_type=entity_type, description=text)
            tag = Tag(
                id=self._ids.new("tag") if concept_id is None else concept_id,
                name=checked_name,
                tag_type=kind,
                concept_id=concept_id,
                entity_type=entity_type,
                bud_status=BudStatus.COLLECTING if kind is TagType.BUD else None,
                created_at=self._db.clock.now(),
                created_by=self._author,
                description=text,
            )
            self._tags.insert(tag)
        self.working_set.add(tag)
        return tag

    def get_tag(self, tag_id: str) -> Tag | None:
        """Return the tag with exactly this id, None when there is none."""
        return self.working_set.get(_text(tag_id, "tag_id"))

    def resolve(self, name_or_id: str) -> Tag | None:
        """Return the tag of exactly this id, else of this name ignoring case, else None. Patterns are names here."""
        text = _text(name_or_id, "name_or_id")
        return self.working_set.get(text) or self._tags.named(text)

    def resolve_or_create(self, name_or_id: str) -> Tag:
        """Return what `resolve` finds, else a new custom tag of this name."""
        tag = self.resolve(name_or_id)
        if tag is not None:
            self.working_set.add(tag)
            return tag
        with self._db.transaction():
            # Asked again in line: another process may have made it meanwhile.
            return self.resolve(name_or_id) or self.create_tag(name_or_id)

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
        """Return the tags that pass, by name. A pattern is a part of the name, ignoring case; with `*` or `?` in it,
        the whole name.
        """
        tag_filter = TagFilter(
            pattern=parse_text(name_pattern, "name_pattern"),
            tag_type=None if tag_type is None else parse_choice(TagType, tag_type, "tag_type"),
            bud_status=None if bud_status is None else parse_choice(BudStatus, bud_status, "bud_status"),
            entity_type=parse_text(entity_type, "entity_type"),
        )
        return self._tags.find(tag_filter, limit=_limit(limit), offset=parse_offset(offset))

    def count(self, tag_type: TagType | None = None) -> int:
        """Return how many tags there are, of one type or of all."""
        return self._tags.count(None if tag_type is None else parse_choice(TagType, tag_type, "tag_type"))

    # Concepts ---------------------------------------------------------------------------------------------------

    def load_concept_pack(self, path: Path | str) -> PackReport:
        """Bring the folksonomy to what the pack at `path` says; docs/experience.md explains the layouts.

        The same pack again changes nothing; a newer one keeps what was tagged. Raises `NotFound` when there is
        nothing, `InvalidInput` for what is no pack, `Conflict` for concepts of another pack.
        """
        report = self._packs.load(parse_path(path, "path"))
        if not report.unchanged:
            self._loaded()
        return report

    def load_concept_pack_primaries(self, path: Path | str) -> int:
        """Load a pack, and the concepts that a lens sees into memory; returns how many those are, 10,000 at most."""
        self.load_concept_pack(path)
        return self._packs.load_primaries(limit=WORKING_SET_LIMIT)

    def get_concept_roots(self) -> list[Tag]:
        """Return the concepts without a parent, by term."""
        return self._concepts.roots()

    def get_concept_children(self, concept_id: str) -> list[Tag]:
        """Return the concepts below one, by term; raises `NotFound`."""
        return self._concepts.children(_text(concept_id, "concept_id"))

    def get_concept_parents(self, concept_id: str) -> list[Tag]:
        """Return the concepts above one, by term; raises `NotFound`."""
        return self._concepts.parents(_text(concept_id, "concept_id"))

    def get_related_concepts(self, concept_id: str) -> list[tuple[Tag, str]]:
        """Return what a concept is related to, and how; raises `NotFound`.

        What another concept says of this one is told as `inverse of <relation>`.
        """
        return self._concepts.related(_text(concept_id, "concept_id"))

    def find_concept(self, query: str, *, limit: int = 100) -> list[Tag]:
        """Return the concepts that `query` names best, by term and alias, ignoring case."""
        require_question_length(_text(query, "query"), "query")
        return self._concepts.find(query, limit=_limit(limit))

    # Buds -------------------------------------------------------------------------------------------------------

    def create_bud_tag(self, name: str, description: str, *, related_concepts: Sequence[str] = ()) -> Tag:
        """Create a bud that stands at `collecting` and is near to some concepts, also of packs that come later."""
        ids = [self._concept_id(concept) for concept in word_list(related_concepts, "related_concepts")]
        with self._db.transaction():
            tag = self.create_tag(name, TagType.BUD, description=description)
            self._tags.relate_bud(tag.id, ids)
        return tag

    def related_concepts_of_bud(self, tag_id: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a bud is near to."""
        return self._tags.bud_concepts(tag_id)

    def promote_to_bud(self, tag_id: str) -> Tag:
        """Make a tag, named by its id, else by its name, a bud that stands at `collecting`; a bud stays as it is.

        Raises `NotFound`, `Conflict`.
        """
        with self._db.transaction():
            tag = self._require(tag_id)
            return (
                tag
                if tag.tag_type is TagType.BUD
                else self._tags.set_bud_status(tag.id, BudStatus.COLLECTING)
            )

    def _require(self, name_or_id: str) -> Tag:
        """Return the tag of this id, else of this name; raises `NotFound`."""
        tag = self.resolve(name_or_id)
        return self._tags.require(name_or_id if tag is None else tag.id)

    def update_bud_status(self, tag_id: str, status: BudStatus | str) -> Tag:
        """Change where a bud stands; raises `NotFound`, and `InvalidInput` for a tag that is no bud."""
        bud_status = parse_choice(BudStatus, status, "status")
        with self._db.transaction():
            tag = self._require(tag_id)
            if tag.tag_type is not TagType.BUD:
                raise InvalidInput(f"Tag {tag.name!r} is no bud;", remedy="`{promote_to_bud}` makes it one.")
            return self._tags.set_bud_status(tag.id, bud_status)

    def get_bud_examples(self, tag_id: str, *, limit: int = 100, offset: int = 0) -> list[TimestepRecord]:
        """Return the timesteps that carry a bud: by themselves, by their event or in a range, by session and tick.

        Raises `NotFound`, and `InvalidInput` for a tag that is no bud.
        """
        tag = self._require(tag_id)
        if tag.tag_type is not TagType.BUD:
            raise InvalidInput(f"Tag {tag.name!r} is no bud;", remedy="`{promote_to_bud}` makes it one.")
        return self._examples(tag.id, limit=_limit(limit), offset=parse_offset(offset))

    # Memory -----------------------------------------------------------------------------------------------------

    def add_to_working_set(self, tag: Tag) -> None:
        """Keep a tag in memory, as used last."""
        if not isinstance(tag, Tag):
            raise InvalidInput(
                f"tag = {quoted(tag)} is no `Tag`; give one that was found or made.", argument="tag"
            )
        self.working_set.add(tag)

    def evict_unused(self, max_size: int = WORKING_SET_LIMIT) -> int:
        """Let go of the least recently used tags over `max_size`, never of what current buds need; returns how many."""
        return self.working_set.evict_unused(parse_whole(max_size, "max_size", least=0))

    # Texts ------------------------------------------------------------------------------------------------------

    def _text(self, text: str, what: str) -> str:
        return self._masking.text(check_size(text, what, limit_bytes=NOTE_BYTES_LIMIT))

    def _concept_id(self, concept_id: str) -> str:
        named = self._without_secrets(concept_id, "concept id")
        if not isinstance(named, str) or not named.strip() or len(named) > 2 * TAG_NAME_CHARS_LIMIT:
            raise InvalidInput(f"{str(named)[:80]!r} is no concept; give an id such as 'pack::Term'.")
        return check_size(named, "concept id", limit_bytes=NOTE_BYTES_LIMIT)

    def _without_secrets(self, name: str, what: str) -> str:
        if isinstance(name, str) and self._masking.text(name) != name:
            raise InvalidInput(f"The {what} of the tag holds what looks like a secret; give another one.")
        return name


def _text(value: str, what: str) -> str:
    if not is_text(value):
        raise InvalidInput(f"{what} must be a string, not {quoted(value)}.", argument=what)
    return value


def _limit(limit: int) -> int:
    if not is_whole(limit, 1, FIND_LIMIT):
        raise InvalidInput(f"limit = {quoted(limit)} is not from 1 to {FIND_LIMIT}.", argument="limit")
    return limit


def _same(tag: Tag, *, concept_id: str | None, entity_type: str | None, description: str | None) -> Tag:
    """Return `tag` when what is asked for does not contradict it."""
    differences = {
        "concept_id": (concept_id, tag.concept_id),
        "entity_type": (entity_type, tag.entity_type),
        "description": (description, tag.description),
    }
    for field, (wanted, there) in differences.items():
        if wanted is not None and there is not None and wanted != there:
            raise Conflict(
                f"Tag {tag.name!r} ({tag.id!r}) is there, with {field} {there!r}; give another name."
            )
    return tag
