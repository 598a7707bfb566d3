"""A run over one source: read what changed, write it in batches, archive what vanished.

source ─ detect ─ read (unchanged items cost one look or one hash) ─ batches ─ writer ─ state of items
                                                                       └─ vanished items → archive
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.clock import Clock, format_time
from hexad.core.erasure import is_masked, masked_item
from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.core.tracing import before_span, span
from hexad.errors import InvalidInput, LimitExceeded
from hexad.ingest.imports.read import Linking, Relate, claimed, count_things, read_foreign, repeats, said_of
from hexad.ingest.passages import item_of, split_item
from hexad.ingest.report import OVERVIEW_ID, IngestOptions, IngestReport, OutlineRow, Progress, overview
from hexad.ingest.sources.detect import SourceSpec, detect
from hexad.ingest.sources.file_place import is_code, safe_id
from hexad.ingest.sources.files import EMPTY, NOT_READABLE
from hexad.ingest.sources.git_history import is_shallow, read_commits, unreached_commits
from hexad.ingest.sources.read import ReadOptions, read
from hexad.ingest.write.redaction import Redactor, moved
from hexad.memory.draft import Draft, MemoryWriter
from hexad.memory.memory import CONSOLIDATED, QUARANTINE, Memory, Outcome, Status, Trust, least_trust
from hexad.memory.policy import parse_stored
from hexad.memory.source import FOREIGN, Item, KnownItem, Skip, SourceKind, Unchanged
from hexad.memory.store import Stores
from hexad.memory.tables.sources import REWRITTEN, ItemState
from hexad.redaction.policy import SENSITIVE
from hexad.redaction.redact import RedactionRules
from hexad.search.indexer import Indexer

FollowCode = Callable[[int, Path, str, Collection[str]], None]
"""Told of a source that was read to its end: its number, its folder, the space, and its files without a byte."""
SKIPS_LISTED: Final = 1_000
"""Places that a report names with a reason, at most."""


def counted(report: IngestReport, item: Item, memory: Memory, *, listed: bool) -> None:
    """Count an item that was written; `listed` names those that the store says already."""
    receipt = memory.receipt
    assert receipt is not None
    if item_of(item.source_id or "") is not None:
        pass  # a passage of an item that is counted
    elif receipt.outcome is Outcome.CREATED:
        report.created += 1
    elif receipt.outcome is Outcome.UPDATED:
        report.updated += 1
    elif receipt.outcome is Outcome.UNCHANGED:
        report.unchanged += 1
    else:
        report.repeated += 1
        if listed and len(report.repeats) < SKIPS_LISTED:
            report.repeats.append(Skip(source_id=item.source_id or "", reason=said_of(memory)))
    report.redacted += receipt.redacted
    if memory.status is Status.QUARANTINED:
        report.quarantined += 1
        if len(report.waiting) < SKIPS_LISTED:
            report.waiting.append(Skip(source_id=item.source_id or memory.id, reason=_reasons(memory)))
    report.near_duplicates += bool(receipt.near_duplicates)


def _reasons(memory: Memory) -> str:
    note = memory.metadata.get(QUARANTINE)
    reasons = note.get("reasons") if isinstance(note, Mapping) else None
    return ", ".join(map(str, reasons)) if isinstance(reasons, list) else ""


BATCH_ITEMS: Final = 64
BATCH_CHARACTERS: Final = 400_000
_READ: Final = ReadOptions()
_POLICY: Final = "@"
_LEAVES: Final = frozenset({Status.ACTIVE, Status.QUARANTINED})
_UNREACHED: Final = "no branch, tag, remote branch or work tree reaches this commit any more"
NOT_OPEN: Final = "what is known of it is not open to your role; it was left as it is"
# A range of history and a part of a log are windows on something larger: what they do not show is not gone.
_KINDS_THAT_VANISH: Final = frozenset(
    {
        SourceKind.FOLDER,
        SourceKind.CONVERSATION,
        SourceKind.DOCUMENTS,
        SourceKind.FILE,
        SourceKind.MEMORY_MD,
        SourceKind.SERVER_MEMORY,
    }
)


_KINDS_WITH_PASSAGES: Final = frozenset({SourceKind.FOLDER, SourceKind.FILE, SourceKind.DOCUMENTS})
"""Of these, a passage that reads as instructions waits by itself; a turn and a commit are short, and wait whole."""


class _RolledBack(Exception):
    """Ends the transaction of a dry run."""


class Ingestor:
    """Brings sources in, through the one way in."""

    def __init__(
        self,
        stores: Stores,
        writer: MemoryWriter,
        catalog: Indexer,
        *,
        clock: Clock,
        redactor: Redactor,
        salt: Callable[[], bytes],
        rules: RedactionRules,
        relate: Relate,
        follow_code: FollowCode,
    ) -> None:
        self._salt, self._relate, self._follow_code = salt, relate, follow_code
        self._redactor = redactor
        # What a store takes out by default is not written down with each item.
        self._rules: dict[str, JSONValue] = {
            name: sorted(chosen)
            for name, chosen, default in (
                ("pii", rules.pii, SENSITIVE),
                ("env", rules.env_allow, frozenset()),
            )
            if chosen != default
        }
        self._stores = stores
        self._writer = writer
        self._catalog = catalog
        self._clock = clock

    def ingest(
        self,
        source: str | Path,
        options: IngestOptions,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport:
        """Bring a source up to date in the store; returns what was done.

        Raises `NotFound` for a source that is not there and `InvalidInput` for one that cannot be read. Items
        written before an error or a kill stay; the next run goes on from there.
        """
        started = self._clock.monotonic()
        with before_span("ingest"):
            spec = detect(source, kind=options.kind)
        with span("ingest", kind=spec.kind.value):
            # What is no export of that system is refused before anything is made for it.
            foreign = (
                read_foreign(spec.path, kind=spec.kind, options=_READ)
                if spec.kind in FOREIGN and spec.path is not None
                else None
            )
            run = _IngestRun(self, spec, options)
            total = count_things(spec, options=_READ) if progress is not None else None
            things = read(spec, options=_READ, known=run.known) if foreign is None else foreign
            for done, thing in enumerate(things, start=1):
                run.take(thing)
                if progress is not None:
                    # What is passed over stands in no count.
                    whole = None if total is None else max(total, done)
                    progress(Progress(done=done, total=whole, current=thing.source_id or ""))
            run.finish()
        run.report.seconds = self._clock.monotonic() - started
        return run.report

    def vanish(self, path: Path, *, space: str) -> int:
        """Archive the memories of a file that was ingested by itself and is gone; returns how many."""
        source_no = self._stores.sources.find(safe_id(path.as_posix()), space=space)
        if source_no is None:
            return 0
        archived = 0
        with self._stores.db.transaction():
            for source_id, state in self._stores.sources.items(source_no).items():
                if state.hidden:
                    continue
                if state.memory_no is not None:
                    archived += self.archive(state.memory_no, at=self._clock.now())
                self._stores.sources.forget_item(source_no, source_id)
        return archived

    def archive(self, memory_no: int, *, at: datetime) -> bool:
        """Archive what its source has no more, also what waits for a review: there is nothing left to let in."""
        memory = self._stores.memories.by_no([memory_no]).get(memory_no)
        if memory is not None and memory.status is Status.QUARANTINED:
            self._stores.memories.set_status(memory_no, Status.ARCHIVED, at=at)
            return True
        return self._catalog.archive(memory_no, at=at)


class _IngestRun:
    """The state of one run."""

    def __init__(self, ingestor: Ingestor, spec: SourceSpec, options: IngestOptions) -> None:
        self._ingestor = ingestor
        self._stores, self._writer = ingestor._stores, ingestor._writer
        self._catalog, self._clock, self._salt = ingestor._catalog, ingestor._clock, ingestor._salt
        self._spec, self._options = spec, options
        # Commits are named by their hashes: whichever range shows one, it is the same item of the repository.
        self._uri = spec.uri.partition("?")[0] if spec.kind is SourceKind.GIT else spec.uri
        self.report = IngestReport(source=spec.uri, space=options.space, dry_run=options.dry_run)
        self._foreign = spec.kind in FOREIGN
        self._linking = Linking(self._stores, ingestor._redactor, ingestor._relate)
        policies: Mapping[str, JSONValue] = {}
        with self._transaction():
            self._number = self._stores.sources.next_run(self._source_no)
            self._states = self._stores.sources.items(self._source_no)
            policies = self._stores.spaces.get(options.space).policies
        self._redactor, self._redaction = ingestor._redactor, ingestor._redactor.rules(policies)
        stored_policies = parse_stored(policies)
        self._roles = stored_policies.roles
        waits = stored_policies.protection.quarantine
        self._splits = (
            waits is not None and options.trust.rank <= waits.rank and spec.kind in _KINDS_WITH_PASSAGES
        )
        # What is taken out of texts; whatever else an owner decides does not change what an item says.
        redaction = {name: policies[name] for name in ("env_allow", "pii_redaction") if name in policies}
        redaction.update(ingestor._rules)
        self._policy = content_hash(json.dumps(redaction, sort_keys=True))[7:23] if redaction else ""
        self._erased = any(
            map(is_masked, self._states)
        )  # what was erased is known by names that tell nothing
        self._items: list[Item] = []
        self._seen: list[tuple[str, ItemState]] = []
        self._size = 0
        self._met: set[str] = set()  # of a dry run, which notes nothing in the store
        self._vanishes = spec.kind in _KINDS_THAT_VANISH
        self._passages: dict[str, list[str]] = {}
        for name in self._states:
            if (of := item_of(name)) is not None:
                self._passages.setdefault(of, []).append(name)
        self._follow_code = ingestor._follow_code
        self._empty: list[str] = []  # files of code: of a package they say that it is one
        self._has_code = any(is_code(source_id) for source_id in self._states)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Hold a transaction in which the space and the source are there; that of a dry run is taken back."""
        with suppress(_RolledBack), self._stores.db.transaction():
            space_no = self._stores.spaces.ensure(self._options.space, at=self._clock.now())
            self._source_no = self._stores.sources.ensure(
                self._uri, kind=self._spec.kind.value, space_no=space_no
            )
            yield
            if self._options.dry_run:
                raise _RolledBack

    def known(self, source_id: str) -> KnownItem | None:
        state = self._states.get(self._name(source_id))
        if state is None:
            return None
        if state.fingerprint != self._stamped(state.fingerprint):
            return None  # the space's policy has changed since: what it takes out now has to be looked for
        # The reader's own hash could be guessed from a short secret, so the store keeps a keyed one, and the
        # comparison is made here.
        return KnownItem(fingerprint=state.fingerprint.partition(_POLICY)[0], content_hash=None)

    def take(self, thing: Item | Skip | Unchanged) -> None:
        if isinstance(thing, Item) and thing.unread is not None:
            self.report.unread_times += 1
            if len(self.report.unread) < SKIPS_LISTED:
                self.report.unread.append(self._told(thing.source_id or "", thing.unread))
        self._has_code = self._has_code or is_code(thing.source_id or "")
        if isinstance(thing, Skip):
            self._skip(thing)
        elif isinstance(thing, Unchanged):
            state = self._states[self._name(thing.source_id)]
            self.report.unchanged += 1
            self._remember(thing.source_id, thing.fingerprint or state.fingerprint, state)
        elif (same := self._same(thing)) is not None:
            self.report.unchanged += 1
            self._remember(thing.source_id or "", thing.fingerprint or "", same)
        elif self._is_hidden(thing.source_id):
            self._skip(Skip(source_id=thing.source_id or "", reason=NOT_OPEN))
        else:
            self._items.append(thing)
            self._size += len(thing.text)
        if isinstance(thing, Item) and self._foreign:
            self._linking.note(thing)
        if len(self._items) >= BATCH_ITEMS or self._size >= BATCH_CHARACTERS or len(self._seen) >= 2_000:
            self._flush()

    def _same(self, item: Item) -> ItemState | None:
        """Return the state of an item that the store has, or had before it was purged; it was read: no more is due."""
        state = self._states.get(self._name(item.source_id or ""))
        return state if state is not None and state.content_hash == self._keyed(item) else None

    def _name(self, source_id: str) -> str:
        """Return under which name an item is known: that of an erased one tells nothing."""
        if not self._erased or source_id in self._states:
            return source_id
        masked = masked_item(self._salt(), source_id)
        return masked if masked in self._states else source_id

    def _is_hidden(self, source_id: str | None) -> bool:
        state = self._states.get(source_id or "")
        return state is not None and state.hidden

    def _keyed(self, item: Item) -> str:
        mark = item.content_hash or content_hash(item.text)
        return hmac.digest(self._salt(), (mark + self._policy).encode(), "sha256").hex()[:32]

    def _stamped(self, fingerprint: str) -> str:
        """Return a fingerprint with the mark of the policy under which the item was read."""
        return fingerprint.partition(_POLICY)[0] + (_POLICY + self._policy if self._policy else "")

    def finish(self) -> None:
        self._flush()
        if self._spec.kind is SourceKind.GIT and self._spec.path is not None:
            self._follow_history(self._spec.path)
        if self._options.dry_run:
            if self._vanishes:
                met = self._met | {OVERVIEW_ID}
                gone_item_states = [state for name, state in self._states.items() if name not in met]
                self.report.archived = sum(
                    item_state.memory_no is not None and not item_state.hidden
                    for item_state in gone_item_states
                )
            return
        if self._vanishes:
            self._archive_vanished()
            self._keep_overview()
        if self._foreign:
            self.report.links = self._linking.draw(
                self._stores.sources.items(self._source_no), at=self._clock.now()
            )
        self._stores.sources.finish_run(self._source_no, at=self._clock.now())
        path = self._spec.path
        if self._has_code and path is not None and self._spec.kind in (SourceKind.FOLDER, SourceKind.FILE):
            base = path if self._spec.kind is SourceKind.FOLDER else path.parent
            self._follow_code(self._source_no, base, self._options.space, self._empty)

    def _skip(self, skip: Skip) -> None:
        self.report.skips += 1
        if skip.reason.startswith(EMPTY) and is_code(skip.source_id):
            self._empty.append(skip.source_id)
        if len(self.report.skipped) < SKIPS_LISTED:
            self.report.skipped.append(self._told(skip.source_id, skip.reason))
        # It is still there, only unreadable today: what is known of it stays; of a damaged graph nobody knows what was.
        if self._spec.kind is SourceKind.SERVER_MEMORY:
            self._vanishes &= not skip.reason.startswith(NOT_READABLE)
        for source_id in (skip.source_id, *self._inside(skip)):
            if (state := self._states.get(self._name(source_id))) is not None:
                self._seen.append((self._name(source_id), state))

    def _told(self, source_id: str, reason: str) -> Skip:
        """Return what the report tells of an item, without the secrets that its name and the reason hold."""
        name = self._redactor.shown_name(source_id, self._redaction)
        if name != source_id:  # the source may be that file by itself
            self.report.source = self.report.source.replace(source_id, name)
        return Skip(source_id=name, reason=self._redactor.shown(reason, self._redaction))

    def _inside(self, skip: Skip) -> Iterator[str]:
        """The parts of a file; of a folder that may not be looked into, all that is known in it."""
        prefixes: tuple[str, ...] = (skip.source_id + "#part-",)
        if skip.reason.startswith(NOT_READABLE):
            prefixes += (skip.source_id + "/",)
        return (state for state in self._states if state.startswith(prefixes))

    def _remember(self, source_id: str, fingerprint: str, state: ItemState) -> None:
        item_state = ItemState(
            fingerprint=self._stamped(fingerprint), content_hash=state.content_hash, memory_no=state.memory_no
        )
        self._seen.append((self._name(source_id), item_state))
        self._seen += [(name, self._states[name]) for name in self._passages.get(source_id, ())]

    def _flush(self) -> None:
        if not self._items and not self._seen:
            return
        written: list[tuple[Item, Memory]] = []
        if self._options.dry_run:
            self._met.update(self._name(item.source_id or "") for item in self._items)
            self._met.update(name for name, _ in self._seen)
        with self._transaction():
            written = self._write_items()
            self._drop_notes(memory for _, memory in written)
            states = [*self._states_of(written), *self._seen]
            self._stores.sources.put_items(self._source_no, states, run=self._number)
        for item, memory in written:
            counted(self.report, item, memory, listed=self._foreign)
        self._items.clear()
        self._seen.clear()
        self._size = 0

    def _drop_notes(self, written: Iterable[Memory]) -> None:
        """Drop from commits that came back why they were archived."""
        for memory in written if self._spec.kind is SourceKind.GIT else ():
            note = memory.metadata.get(CONSOLIDATED)
            if (
                memory.status is Status.ACTIVE
                and isinstance(note, Mapping)
                and note.get("action") == REWRITTEN
            ):
                metadata = {name: value for name, value in memory.metadata.items() if name != CONSOLIDATED}
                self._stores.memories.set_metadata(
                    self._stores.memories.numbers_of([memory.id])[memory.id], metadata
                )

    def _states_of(self, written: Sequence[tuple[Item, Memory]]) -> Iterator[tuple[str, ItemState]]:
        """Yield what is to be known of items that were written, each with its source id."""
        numbers = self._stores.memories.numbers_of([memory.id for _, memory in written])
        for item, memory in written:
            if item.source_id is None:
                continue
            if self._rests(item, memory):
                # Not looked at further: when it is restored, the next run sees the change.
                yield item.source_id, self._states[item.source_id]
                continue
            state = ItemState(
                fingerprint=self._stamped(item.fingerprint or ""),
                content_hash=self._keyed(item),
                memory_no=None if repeats(memory) else numbers[memory.id],
            )
            yield item.source_id, state

    def _rests(self, item: Item, memory: Memory) -> bool:
        """Whether a memory is out of recall and stays so; a fact that another displaced at once was written."""
        if memory.status in (Status.ACTIVE, Status.QUARANTINED):
            return False
        return item.source_id in self._states and not (self._foreign and memory.status is Status.SUPERSEDED)

    def _write_items(self) -> list[tuple[Item, Memory]]:
        groups = [self._with_passages(item) for item in self._items]
        if self._options.dry_run:
            self._met.update(item.source_id or "" for group in groups for item, _ in group)
        try:
            pairs = [pair for group in groups for pair in group]
            memories = self._writer.write([draft for _, draft in pairs])
            return [(item, memory) for (item, _), memory in zip(pairs, memories, strict=True)]
        except (InvalidInput, LimitExceeded):
            pass  # one of them cannot be stored: find it, and keep the others
        written: list[tuple[Item, Memory]] = []
        for group in groups:
            try:
                memories = self._writer.write([draft for _, draft in group])
                written += [(item, memory) for (item, _), memory in zip(group, memories, strict=True)]
            except (InvalidInput, LimitExceeded) as error:
                self._skip(Skip(source_id=group[0][0].source_id or "", reason=str(error)))
        return written

    def _with_passages(self, item: Item) -> list[tuple[Item, Draft]]:
        """Return an item with its draft, and those of its passages that wait by themselves."""
        text, passages = split_item(item) if self._splits else (item.text, ())
        draft = self._draft(item)
        if passages:
            sections = tuple(moved(item.sections, item.text, text))
            draft = replace(draft, text=text, sections=sections)
        open_passages = [passage for passage in passages if not self._is_hidden(passage.source_id)]
        return [(item, draft), *((passage, self._draft(passage)) for passage in open_passages)]

    def _draft(self, item: Item) -> Draft:
        options, state = self._options, self._states.get(item.source_id or "")
        metadata = dict(item.metadata)
        if options.project is not None:
            metadata["project"] = options.project
        if self._spec.kind is SourceKind.FOLDER:
            source_id = item.source_id or ""
            metadata["source"] = (
                item_of(source_id) or source_id
            )  # the file, as in document 1; the folder is the source's uri
        draft = Draft(
            text=item.text,
            space=options.space,
            kind=item.kind,
            path=item.path,
            title=item.title,
            source=self._uri if item.source_id is not None else None,
            source_id=item.source_id,
            tags=(*item.tags, *options.tags),
            trust=self._trust(item),
            valid_from=item.time,
            citations=item.citations,
            metadata=metadata,
            sections=item.sections,
            first_line=item.first_line,
            # What somebody forgot stays forgotten when its file changes; what vanished and came back returns, and
            # so does what only grew old.
            revives=state is None or state.expired,
            turn=item.turn,
            gated=self._foreign,
        )
        return draft if item.claim is None else claimed(draft, item.claim)

    def _trust(self, item: Item) -> Trust:
        """What is made of all of a source is trusted no more than the least of it."""
        if item.source_id != OVERVIEW_ID:
            return self._options.trust
        least = self._stores.derivations.least_of_source(self._source_no)
        return self._options.trust if least is None else least_trust([self._options.trust, least])

    def _keep_overview(self) -> None:
        if self._spec.kind is not SourceKind.FOLDER or self._spec.path is None:
            return
        if self._is_hidden(OVERVIEW_ID):
            return  # its owner's run keeps it
        rows = self._stores.memories.outline(self._source_no, roles=self._roles)
        outline = [
            OutlineRow(source_id=row[0], kind=row[1], language=row[2], summary=row[3])
            for row in rows
            if item_of(row[0]) is None
        ]
        item = overview(self._options.project or self._spec.path.name or "root", outline)
        state = self._states.get(OVERVIEW_ID)
        if item is None:
            if state is not None and state.memory_no is not None:
                self._catalog.archive(state.memory_no, at=self._clock.now())
                self._stores.sources.forget_item(self._source_no, OVERVIEW_ID)
            return
        if state is not None and state.content_hash == self._keyed(item):
            self._remember(OVERVIEW_ID, state.fingerprint, state)
            self.report.unchanged += 1
        else:
            self._items.append(item)
        self._flush()

    def _follow_history(self, top: Path) -> None:
        """Archive the commits that nothing reaches any more, and read those again that something reaches again."""
        sources = self._stores.sources
        if self._options.dry_run:
            unmet = {name for name, state in self._states.items() if not state.hidden} - self._met
        else:
            unmet = {name for name, _ in sources.vanished(self._source_no, run=self._number)}
        known = {name for name in unmet & self._states.keys() if self._has_memory(name)}
        before = sources.rewritten(self._source_no).keys() - self._states.keys() - self._met
        try:
            lost = unreached_commits(top, known | before) if known or before else frozenset()
            returned = list(read_commits(top, sorted(before - lost), uri=self._uri))
            keeps_all = is_shallow(top)  # what is before it is not there, and may be reached all the same
        except InvalidInput as error:
            self._skip(
                Skip(source_id=self._uri, reason=f"git could not tell what of it was rewritten: {error}")
            )
            return
        for item in returned:
            self.take(item)
        self._flush()
        for name in () if keeps_all else sorted(known & lost):
            self._archive_rewritten(name)

    def _has_memory(self, name: str) -> bool:
        """Whether a commit was not erased: what is known of it then keeps it from coming back."""
        return self._states[name].memory_no is not None and not is_masked(name)

    def _archive_rewritten(self, name: str) -> None:
        memory_no, now = self._states[name].memory_no, self._clock.now()
        assert memory_no is not None
        if self._options.dry_run:
            memory = self._stores.memories.identify_no(memory_no)
            self.report.archived += memory is not None and memory.status in _LEAVES
            return
        with self._stores.db.transaction():
            if not self._ingestor.archive(memory_no, at=now):
                return  # somebody forgot it, and so it stays when the commit comes back
            remains = self._stores.sources.successor(memory_no)
            note: dict[str, JSONValue] = {"action": REWRITTEN, "reason": _UNREACHED, "at": format_time(now)}
            if remains is not None:
                note["remains"] = remains
            metadata = self._stores.memories.by_no([memory_no])[memory_no].metadata
            self._stores.memories.set_metadata(memory_no, {**metadata, CONSOLIDATED: note})
            self._stores.sources.forget_item(self._source_no, name)
        self.report.archived += 1

    def _archive_vanished(self) -> None:
        now = self._clock.now()
        for source_id, memory_no in self._stores.sources.vanished(self._source_no, run=self._number):
            if source_id == OVERVIEW_ID:
                continue
            with self._stores.db.transaction():
                if memory_no is not None and self._ingestor.archive(memory_no, at=now):
                    self.report.archived += 1
                self._stores.sources.forget_item(self._source_no, source_id)
