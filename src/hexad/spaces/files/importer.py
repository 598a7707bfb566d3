"""A space's file brought into the store: merged by id, all of it in one transaction or nothing.

The store wins: only a newer object changes a memory, and a file sets policies and metadata of a new space alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NoReturn, cast

from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.change_counters import ChangeReader
from hexad.database.codec import dump, to_micros
from hexad.errors import Conflict, HexadError, InvalidSpace
from hexad.ingest.write.pipeline import Pipeline
from hexad.ingest.write.prepare import PreparedDraft
from hexad.ingest.write.redaction import Redactor
from hexad.memory.draft import Draft
from hexad.memory.memory import Memory, Outcome, Status
from hexad.memory.policy import KNOWN, parse_policies
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.file_origins import Origin, SpaceOrigin, fingerprint, space_fingerprint
from hexad.memory.tables.rows import batches
from hexad.memory.tables.spaces import Space
from hexad.redaction.redact import RedactionRules, rules_from_policy
from hexad.spaces.files.document import OBJECTS, count_purged, full_object, places, record_head, stands
from hexad.spaces.files.fields import ParsedObject, capped, made_id, object_of
from hexad.spaces.files.reader import ParsedSpace
from hexad.spaces.files.report import FileConflict, ReadReport


class Fate(Enum):
    """What becomes of an object of the file."""

    CREATE = "create"
    UPDATE = "update"
    SAME = "same"
    OLDER = "older"
    DIFFERENT = "different"


class Stored(Enum):
    """What became of an object that was to be written."""

    WRITTEN = "written"
    WAITS = "waits"
    LEFT = "left"


WRITTEN: Final = frozenset({Fate.CREATE, Fate.UPDATE})
TAKEN: Final = frozenset({*WRITTEN, Fate.SAME})
_DIFFERS: Final = "it differs from the store's, and both say they changed at the same time"


def newer(parsed_object: ParsedObject, memory: Memory) -> Fate:
    """Return what becomes of an object that differs from the memory of its id."""
    updated_at = parsed_object.draft.updated_at
    if updated_at is None or updated_at == memory.updated_at:
        return Fate.DIFFERENT
    return Fate.UPDATE if updated_at > memory.updated_at else Fate.OLDER


def read_report(
    parsed: ParsedSpace,
    objects: Sequence[ParsedObject],
    fates: Mapping[str, Fate],
    notes: Sequence[str],
    touched: int,
    *,
    removed: int,
    stored: Sequence[Stored],
) -> ReadReport:
    """Return what was done with the objects of a file; before it was done (`stored` is empty) what would be.

    What the store keeps for a review, or leaves as it was, is nothing that the file created or changed.
    """
    written = [fates[parsed_object.id] for parsed_object in objects if fates[parsed_object.id] in WRITTEN]
    waiting = [fate for fate, became in zip(written, stored, strict=False) if became is Stored.WAITS]
    left_fates = [fate for fate, became in zip(written, stored, strict=False) if became is Stored.LEFT]
    lines = list(notes)
    if touched:
        lines.append(f"{touched:,} of the objects held what is redacted; they are written back without it.")

    def count(fate: Fate) -> int:
        return written.count(fate) - waiting.count(fate) - left_fates.count(fate)

    return ReadReport(
        file=parsed.file,
        space=parsed.name,
        objects=len(objects),
        created=count(Fate.CREATE),
        updated=count(Fate.UPDATE),
        unchanged=list(fates.values()).count(Fate.SAME) + len(left_fates),
        quarantined=len(waiting),
        kept=[parsed_object.id for parsed_object in objects if fates[parsed_object.id] is Fate.OLDER],
        conflicts=[
            FileConflict(id=parsed_object.id, reason=_DIFFERS)
            for parsed_object in objects
            if fates[parsed_object.id] is Fate.DIFFERENT
        ],
        redacted=removed,
        notes=lines,
    )


def _became(memory: Memory) -> Stored:
    if memory.status is Status.QUARANTINED:
        return Stored.WAITS
    is_left = memory.receipt is not None and memory.receipt.outcome is Outcome.UNCHANGED
    return Stored.LEFT if is_left else Stored.WRITTEN


def known_rows(stores: Stores, name: str, objects: Sequence[ParsedObject]) -> Mapping[str, int]:
    """Return the rows of the objects that the store has in space `name`; raises `Conflict` for one of another space."""
    found_places = places(stores, [parsed_object.id for parsed_object in objects])
    for memory_id, (_, space) in found_places.items():
        if space != name:
            raise Conflict(
                f"Memory {memory_id!r} of the file is in another space than {name!r} already, and an id "
                "is one memory. Read the file into that space, or into another store; nothing of it was read."
            )
    return {memory_id: no for memory_id, (no, _) in found_places.items()}


def refuse_used(stores: Stores, name: str, objects: Sequence[ParsedObject]) -> NoReturn:
    """Raise `Conflict` for an export that is to be a space which holds memories, with what can be done."""
    there = any(
        space == name for _, space in places(stores, [parsed_object.id for parsed_object in objects]).values()
    )
    # Under another name its objects would have the ids of what is there.
    what, way = "memories already", "give another name ({name=})"
    if there:
        what, way = "memories already, the export's among them", "restore it in another store"
    raise Conflict(
        f"Space {name!r} holds {what}, so nothing was restored.",
        remedy=f"Merge the export with what is there ({{merge=True}}), or {way}.",
    )


def same_objects(
    stores: Stores, known: Mapping[str, int], objects: Sequence[ParsedObject]
) -> dict[str, ParsedObject]:
    """Return by id the objects that say what the store has, each as it is to be kept; `known` has their rows."""
    theirs = {
        known[parsed_object.id]: parsed_object for parsed_object in objects if parsed_object.id in known
    }
    parsed_objects: dict[str, ParsedObject] = {}
    for batch in batches(sorted(theirs)):
        memories, origins = stores.memories.by_no(batch), stores.origins.get(batch)
        for no in batch:
            parsed_object = _unchanged_object(theirs[no], memories[no], origins.get(no))
            if parsed_object is not None:
                parsed_objects[parsed_object.id] = parsed_object
    return parsed_objects


def _unchanged_object(
    parsed_object: ParsedObject, memory: Memory, origin: Origin | None
) -> ParsedObject | None:
    """Return an object as it is to be kept if it says what the memory is; None when it does not.

    What was read first is kept when the file says all of it anew: that it is still the same can be seen of both.
    """
    text = dump(parsed_object.object)
    of_old = origin is not None and stands(memory, origin)
    if of_old and origin is not None and text == dump(origin.object):
        return parsed_object
    if text != dump(full_object(memory, origin)):
        return None
    return (
        replace(parsed_object, object=origin.object, full=True)
        if of_old and origin is not None
        else parsed_object
    )


def differs(stores: Stores, by_no: Mapping[int, ParsedObject]) -> bool:
    """Whether the memories, as we would write them, are anything else than the objects in their order."""
    last: tuple[int, str, str] | None = None
    for batch in batches(list(by_no)):
        memories = stores.memories.by_no(batch)
        for no in batch:
            memory = memories[no]
            key = (-to_micros(memory.updated_at), memory.path, memory.id)
            if dump(object_of(memory)) != dump(by_no[no].object) or (last is not None and key < last):
                return True
            last = key
    return False


_WHO_SEES: Final = ("roles", "visibility")
_REDACTION: Final = ("pii_redaction", "env_allow")


def usable_policies(policies: Mapping[str, JSONValue]) -> tuple[dict[str, JSONValue], list[str]]:
    """Return the policies that can be set, and a note for each that cannot; those are kept for the file alone."""
    usable: dict[str, JSONValue] = {}
    notes: list[str] = []
    for name, value in policies.items():
        if name not in KNOWN:
            notes.append(f"Nothing here enforces the policy {name!r} of the file; it is kept for the file.")
        elif name in _REDACTION and isinstance(value, list):
            usable[name] = [item for item in value if _is_usable({name: [item]}, notes)]
        elif _is_usable({name: value}, notes):
            usable[name] = value
    return usable, notes


def settled_policies(parsed: ParsedSpace, space: Space | None) -> tuple[Mapping[str, JSONValue], list[str]]:
    """Return the policies that the space will have, and what the file says that has no effect."""
    taken = parsed.policies
    if space is None and not parsed.takes_policies:
        taken = {name: value for name, value in taken.items() if name in _WHO_SEES or name not in KNOWN}
    left_out = sorted(set(parsed.policies) - set(taken))
    usable, notes = usable_policies(taken)
    if left_out:
        what = "policy was" if len(left_out) == 1 else "policies were"
        notes.append(
            f"{len(left_out):,} {what} left out ({', '.join(left_out)}). {parsed.how_to_take_policies}"
        )
    if space is None:
        if any(parsed.policies.get(name) and name not in usable for name in _WHO_SEES):
            # Somebody meant to hide something: what cannot be understood hides all of it.
            usable["roles"] = []
            notes.append(
                "Who may see the space could not be read from the file, so its owner alone does; its policy opens it."
            )
        if usable.get("allow_delete") is True:
            notes.append("The file lets its space be deleted (allow_delete); its policy takes that back.")
        return usable, notes
    notes += [
        f"The policy {key!r} of the file is not the store's, which stays; set it to change that."
        for key in _differing(usable, space.policies)
    ]
    notes += [
        f"The metadata {key!r} of the file is not the store's, which stays."
        for key in _differing(parsed.metadata, space.metadata)
    ]
    return space.policies, notes


def _differing(theirs: Mapping[str, JSONValue], ours: Mapping[str, JSONValue]) -> list[str]:
    return sorted(key for key in theirs if key not in ours or dump(theirs[key]) != dump(ours[key]))


def _is_usable(policy: Mapping[str, JSONValue], notes: list[str]) -> bool:
    try:
        parse_policies(policy)
        rules_from_policy(policy)
    except HexadError as error:
        notes.append(f"Not set, and kept for the file: {error}")
        return False
    return True


def object_notes(objects: Sequence[ParsedObject]) -> list[str]:
    """Return what was said of single objects, each thing once with how often it was said."""
    counts = Counter(note for parsed_object in objects for note in parsed_object.notes)
    first: dict[str, ParsedObject] = {}
    for parsed_object in objects:
        for note in parsed_object.notes:
            first.setdefault(note, parsed_object)
    return [
        f"objects[{first[note].position}]: {note}" + (f" ({count:,} objects)" if count > 1 else "")
        for note, count in counts.items()
    ]


_ATTEMPTS: Final = 3
"""How often the file is compared with the store again because others wrote meanwhile, before they are made to wait."""
_AT_ONCE: Final = 500
"""So many memories are held at once that were stored; of the others what is prepared, or what became of them."""


@dataclass(slots=True, kw_only=True)
class _Work:
    """What was made of the objects, by their place, and holds as long as the space is as it was.

    Others write meanwhile, also elsewhere; comparing the file with the store again must not cost all of it again.
    """

    space: Space | None
    rules: RedactionRules
    clean: dict[int, ParsedObject] = field(default_factory=dict)
    prepared: dict[int, tuple[Draft, PreparedDraft]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What reading the file does to the store as it was at `seen`. `objects` are clean; `touched` were not."""

    seen: tuple[int, int]
    space: Space | None
    fresh: bool
    policies: Mapping[str, JSONValue]
    head: Mapping[str, JSONValue]
    objects: Sequence[ParsedObject]
    touched: int
    fates: Mapping[str, Fate]
    prepared: deque[PreparedDraft]
    removed: int
    notes: Sequence[str]
    work: _Work


class SpaceImporter:
    """Stores what a space's file holds."""

    def __init__(self, stores: Stores, writer: Pipeline, redactor: Redactor, *, clock: Clock) -> None:
        self._stores = stores
        self._writer = writer
        self._redactor = redactor
        self._changes = ChangeReader(stores.db)
        self._clock = clock

    def read(
        self,
        parsed: ParsedSpace,
        *,
        dry_run: bool,
        whole: bool,
        may: Callable[[Mapping[str, JSONValue]], None],
        within: Callable[[ReadReport], None],
        progress: Callable[[int], None] | None = None,
    ) -> ReadReport:
        """Merge the file into the space that it names; with `dry_run` only say what would be done.

        That needs no trial: the run is decided before its transaction too, by the same plan.

        With `whole` the file is to be all that the space is: it must hold no memory, and its policies are
        replaced. `may` is shown the policies that the space has and gets, and raises unless the actor may do this;
        `progress` is told how many objects are ready to be stored; `within` runs in the transaction, at its end.

        Raises `InvalidSpace` for an object that cannot be stored and `Conflict` for an id that another space has;
        then nothing was stored.
        """
        first = self._plan(parsed, may, None, whole=whole, progress=progress)
        if dry_run:
            return _report(parsed, first)
        self._stores.db.require_writable()
        return self._stores.db.prepare_and_act(
            prepare=lambda last: self._plan(parsed, may, last.work, whole=whole) if last else first,
            is_current=lambda plan: self._seen() == plan.seen,
            act=lambda plan: self._apply(parsed, plan, within),
            attempts=_ATTEMPTS,
        )

    def masked(
        self, metadata: Mapping[str, JSONValue], policies: Mapping[str, JSONValue]
    ) -> Mapping[str, JSONValue]:
        """Return a space's metadata without what is redacted under its policies, as reading its file would."""
        masked = self._redactor.mask_object(
            {"metadata": metadata}, self._redactor.rules(policies), place=None
        )
        return cast("Mapping[str, JSONValue]", masked["metadata"])

    def refuse_secret_name(self, name: str) -> None:
        """Raise `InvalidSpace` for the name of a new space that holds a secret."""
        self._redactor.refuse_secret_space(name)

    # Looking, without a lock --------------------------------------------------------------------------------------

    def _seen(self) -> tuple[int, int]:
        return self._changes.current("memories"), self._changes.current("spaces")

    def _plan(
        self,
        parsed: ParsedSpace,
        may: Callable[[Mapping[str, JSONValue]], None],
        work: _Work | None,
        *,
        whole: bool,
        progress: Callable[[int], None] | None = None,
    ) -> _Plan:
        with self._stores.db.read():
            seen = self._seen()
            space = self._stores.spaces.find(parsed.name)
            if space is None:
                self._redactor.refuse_secret_space(parsed.name)
            fresh = self._is_fresh(space, parsed, whole=whole)
            policies, notes = settled_policies(parsed, None if fresh else space)
            for each in (policies, space.policies if space is not None else {}):
                may(each)
            rules = self._redactor.rules(policies)
            if work is None or (work.space, work.rules) != (space, rules):
                work = _Work(space=space, rules=rules)
            parsed_objects = self._named(parsed, work)
            known = known_rows(self._stores, parsed.name, parsed_objects)
            # What is as we would write it has been cleaned before: most of a file that is read again.
            same = same_objects(self._stores, known, parsed_objects)
            changed = {
                parsed_object.id: self._clean(parsed_object, parsed.name, work)
                for parsed_object in parsed_objects
                if parsed_object.id not in same
            }
            same |= same_objects(self._stores, known, list(changed.values()))
            if parsed.trust is not None:  # what is here as the file says it stays as trusted as it is
                changed = {key: capped(parsed_object, parsed.trust) for key, parsed_object in changed.items()}
                same |= same_objects(self._stores, known, list(changed.values()))
            objects = [
                same.get(parsed_object.id) or changed[parsed_object.id] for parsed_object in parsed_objects
            ]
            back = count_purged(self._stores, [parsed_object.id for parsed_object in parsed_objects])
            if back:
                notes.append(
                    f"{back:,} of the objects were purged from this store before, and come back with the file."
                )
            fates = dict.fromkeys(same, Fate.SAME)
            fates |= dict(
                self._fates(
                    known, [parsed_object for parsed_object in objects if parsed_object.id not in same]
                )
            )
        prepared = deque(self._prepared(parsed, objects, fates, work, progress))
        return _Plan(
            seen=seen,
            space=space,
            fresh=fresh,
            policies=policies,
            head=self._head(parsed, rules),
            objects=objects,
            touched=sum(parsed_object.redacted is True for parsed_object in objects),
            fates=fates,
            prepared=prepared,
            removed=sum(write.clean.removed for write in prepared),
            notes=[*notes, *object_notes(objects)],
            work=work,
        )

    def _is_fresh(self, space: Space | None, parsed: ParsedSpace, *, whole: bool) -> bool:
        """Whether the space becomes what the file says: not there yet, or without anything in it."""
        if space is None:
            return True
        used = bool(self._stores.memories.numbers(Filters(spaces=(space.name,)), status=None, limit=1))
        if whole and used:
            refuse_used(self._stores, space.name, parsed.objects)
        return whole or not (used or space.policies or space.metadata)

    def _named(self, parsed: ParsedSpace, work: _Work) -> list[ParsedObject]:
        """Return the objects with their ids: one without gets its own from what may be stored of it.

        Made from what stood there before, an id would tell whoever guesses the secret that the guess is right.
        """
        parsed_objects = {
            at: parsed_object
            for at, parsed_object in enumerate(parsed.objects)
            if parsed_object.object.get("id")
        }
        taken = {parsed_object.id for parsed_object in parsed_objects.values()}
        clean = {
            at: self._clean(parsed_object, parsed.name, work)
            for at, parsed_object in enumerate(parsed.objects)
            if at not in parsed_objects
        }
        for at in sorted(clean, key=lambda at: (bool(clean[at].redacted), at)):
            parsed_object, alike = clean[at], 0
            while (memory_id := made_id(parsed.name, parsed_object.object, alike=alike)) in taken:
                alike += 1
            taken.add(memory_id)
            parsed_objects[at] = replace(parsed_object, draft=replace(parsed_object.draft, id=memory_id))
        return [parsed_objects[at] for at in range(len(parsed.objects))]

    def _clean(self, parsed_object: ParsedObject, name: str, work: _Work) -> ParsedObject:
        if parsed_object.redacted is not None:
            return parsed_object
        if parsed_object.position not in work.clean:
            work.clean[parsed_object.position] = self._cleaned(parsed_object, name, work.rules)
        return work.clean[parsed_object.position]

    def _cleaned(self, parsed_object: ParsedObject, name: str, rules: RedactionRules) -> ParsedObject:
        draft = parsed_object.draft
        masked = self._redactor.mask_object(parsed_object.object, rules, place=draft.source_id or draft.path)
        draft = replace(
            draft,
            space=name,
            imported=True,
            summary_micro=_text_field(masked, "summary_micro"),
            summary_short=_text_field(masked, "summary_short"),
            summary_long=_text_field(masked, "summary_long"),
        )
        redacted = dump(masked) != dump(parsed_object.object)
        kept = masked if redacted else parsed_object.object  # of two that say the same one is enough
        return replace(parsed_object, draft=draft, object=kept, redacted=redacted)

    def _head(self, parsed: ParsedSpace, rules: RedactionRules) -> Mapping[str, JSONValue]:
        kept_fields = {key: value for key, value in parsed.head.items() if key in {"policies", OBJECTS}}
        return {**self._redactor.mask_object(parsed.head, rules, place=None), **kept_fields}

    def _fates(self, known: Mapping[str, int], objects: Sequence[ParsedObject]) -> Iterator[tuple[str, Fate]]:
        for parsed_object in objects:
            if parsed_object.id not in known:
                yield parsed_object.id, Fate.CREATE
        differing = {
            known[parsed_object.id]: parsed_object for parsed_object in objects if parsed_object.id in known
        }
        for batch in batches(sorted(differing)):
            memories = self._stores.memories.by_no(batch)
            for no in batch:
                yield differing[no].id, newer(differing[no], memories[no])

    def _prepared(
        self,
        parsed: ParsedSpace,
        objects: Sequence[ParsedObject],
        fates: Mapping[str, Fate],
        work: _Work,
        progress: Callable[[int], None] | None,
    ) -> Iterator[PreparedDraft]:
        for done, parsed_object in enumerate(objects, start=1):
            if progress is not None:
                progress(done)
            if fates[parsed_object.id] is Fate.SAME:
                continue
            draft, prepared = work.prepared.get(parsed_object.position, (None, None))
            try:
                if prepared is None or draft != parsed_object.draft:
                    # Also to see that it can be stored.
                    prepared = self._writer.prepare(parsed_object.draft, rules=work.rules)
            except HexadError as error:
                raise InvalidSpace(
                    f"Invalid space file {parsed.file}: objects[{parsed_object.position}] "
                    f"(id {parsed_object.id!r}): {error} Nothing of the file was read."
                ) from error
            work.prepared[parsed_object.position] = (parsed_object.draft, prepared)
            if fates[parsed_object.id] in WRITTEN:
                yield prepared

    # Storing, in one transaction ----------------------------------------------------------------------------------

    def _apply(self, parsed: ParsedSpace, plan: _Plan, within: Callable[[ReadReport], None]) -> ReadReport:
        spaces = self._stores.spaces
        now = self._clock.now()
        spaces.ensure(parsed.name, at=parsed.created_at or now)
        if plan.fresh:
            metadata = plan.head.get("metadata")
            spaces.restore(
                parsed.name,
                metadata=metadata if isinstance(metadata, Mapping) else {},
                policies=plan.policies,
                created_at=parsed.created_at or parsed.updated_at or now,
                updated_at=parsed.updated_at or parsed.created_at or now,
            )
        stored = list(self._stored(plan))
        self._keep_origins(parsed, plan)
        report = _report(parsed, plan, stored)
        within(report)
        return report

    def _stored(self, plan: _Plan) -> Iterator[Stored]:
        """Store what was prepared and let go of it, batch by batch: all of a large file is more than the file.

        The plan is acted on: nothing is prepared anew after this.
        """
        plan.work.clean.clear()
        plan.work.prepared.clear()
        while plan.prepared:
            some = [plan.prepared.popleft() for _ in range(min(_AT_ONCE, len(plan.prepared)))]
            yield from map(_became, self._writer.store(some))

    def _keep_origins(self, parsed: ParsedSpace, plan: _Plan) -> None:
        """Keep the objects as the file has them, where the memories alone would not give them back."""
        whole = all(fate in TAKEN for fate in plan.fates.values())
        # Of a file that is not taken as a whole, what is the same stays as it was kept, with its place.
        taken_parsed_objects = [
            parsed_object
            for parsed_object in plan.objects
            if plan.fates[parsed_object.id] in (TAKEN if whole else WRITTEN)
        ]
        numbers = places(self._stores, [parsed_object.id for parsed_object in taken_parsed_objects])
        by_no = {numbers[parsed_object.id][0]: parsed_object for parsed_object in taken_parsed_objects}
        stands, says_more = self._compared_head(parsed, plan)
        keep = (stands and says_more and whole) or differs(self._stores, by_no)
        self._keep_head(parsed, plan, stands=stands, whole=whole, keep=keep or says_more)
        if not keep:
            for no in self._stores.origins.get(list(by_no)):
                self._stores.origins.drop(no)
            return
        for batch in batches(list(by_no)):
            memories = self._stores.memories.by_no(batch)
            for no in batch:
                parsed_object = by_no[no]
                self._stores.origins.put(
                    no,
                    fingerprint(memories[no]),
                    parsed_object.object,
                    position=parsed_object.position if whole else None,
                    full=parsed_object.full,
                )

    def _compared_head(self, parsed: ParsedSpace, plan: _Plan) -> tuple[bool, bool]:
        """Return whether the file's own keys can be given back as they are, and whether they say more than ours."""
        space = self._stores.spaces.get(parsed.name)
        stands = plan.fresh or _owned(plan.head) == dump([space.metadata, space.policies])
        before = self._stores.origins.of_space(space.no)
        if not stands and before is not None and before.fingerprint == space_fingerprint(space):
            stands = _owned(plan.head) == _owned(before.file)
        return stands, dump(plan.head) != dump(record_head(space, space.updated_at))

    def _keep_head(self, parsed: ParsedSpace, plan: _Plan, *, stands: bool, whole: bool, keep: bool) -> None:
        """Keep what the file says besides its objects.

        Where the space has other policies or metadata than the file, only keys that Hexad does not know are of use;
        then, and when not all of the file was taken, what was kept from an earlier file goes first.
        """
        space, origins = self._stores.spaces.get(parsed.name), self._stores.origins
        mark = space_fingerprint(space)
        before = origins.of_space(space.no)
        if not (stands and whole) and before is not None and before.fingerprint == mark:
            return
        if not keep:
            origins.drop_space(space.no)
            return
        origin = SpaceOrigin(fingerprint=mark if stands else "", file=plan.head, objects=len(plan.objects))
        origins.put_space(space.no, origin)


def _text_field(object: Mapping[str, JSONValue], key: str) -> str | None:
    value = object.get(key)
    return value if isinstance(value, str) and value else None


def _owned(head: Mapping[str, JSONValue]) -> str:
    return dump([head.get("metadata") or {}, head.get("policies") or {}])


def _report(parsed: ParsedSpace, plan: _Plan, stored: Sequence[Stored] = ()) -> ReadReport:
    return read_report(
        parsed, plan.objects, plan.fates, plan.notes, plan.touched, removed=plan.removed, stored=stored
    )
