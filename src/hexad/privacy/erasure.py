"""Erasure over the whole store: memories, experience, documents, the ledger's contents, logs and free pages.

notes of what is to be done ─ erasers, each step noted as it is done ─ files ─ note for the ledger ─ ledger ─ logs
and free pages ─ receipt. After a kill at any point whoever looks next goes on from the notes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from hexad.core.erasure import (
    MANY,
    MENTIONS,
    TIMESTEPS,
    UNREAD,
    ErasureReceipt,
    LeftInPlace,
    Mention,
    Pending,
    Realm,
    RecordingEraser,
    Selection,
    ledger_work,
    parse_selection,
    selection_mac,
)
from hexad.core.json_types import JSONValue
from hexad.core.tracing import log
from hexad.database.component import Component
from hexad.database.encryption.cipher import EXPORTS
from hexad.database.encryption.store_files import own_files
from hexad.database.erasure_book import (
    LEDGER,
    LEDGER_CONTENTS,
    REMEMBERED,
    Begun,
    Book,
    Erasures,
    TrialBook,
)
from hexad.database.leases import Lease
from hexad.database.secure_delete import clear_pages, empty_log
from hexad.database.sqlite_errors import failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, Conflict, HexadError, NotFound, StorageFailure, StoreLocked
from hexad.ingest.report import OVERVIEW_ID
from hexad.ingest.sources.file_place import safe_id
from hexad.memory.policy import parse_stored
from hexad.memory.store import Stores
from hexad.privacy.ledger_sync import clear_ledger, ledger_contents, move_to_ledger
from hexad.privacy.memory_eraser import MemoryEraser
from hexad.privacy.memory_rows import ErasedMemories, clear_borders
from hexad.privacy.mentions import events_naming, mentions, records_naming
from hexad.privacy.subjects import Subjects, unknown_subject
from hexad.search.fulltext import FullText
from hexad.spaces.retention import Purger

LOG: Final = "write-ahead log"
LEDGER_PAGES: Final = "ledger's pages and log"
WORDS: Final = "words of full text"
PAGES: Final = "unused parts of pages"
COMPLETED: Final = "erasure.completed"
_LAST: Final = {PAGES: 1, LOG: 2}
_BUSY: Final = "another process reads or writes it"
_NAMED, _SHOWN = 5, 300
_ONLY_PURGED: Final = "only with purge; it cannot be archived"
_OWNERS: Final = "only the store's owner may erase it"


class ErasureService:
    """Everything that `hx.forget` does with selections."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        fulltext: FullText,
        *,
        purger: Purger,
        components: Sequence[Component],
        stream: Callable[[], RecordingEraser],
    ) -> None:
        """`everything` hides nothing; `stream` gives the eraser of experience and documents."""
        self._context, self._stores, self._everything, self._stream = context, stores, everything, stream
        self._db = db = context.db
        self._erasures = Erasures(db)
        self._erasers = [make(db) for component in components for make in component.erasers]
        self._sections = [section for component in components for section in component.export]
        self._subjects = Subjects(db, components, roles=context.actor.roles, owner=context.actor.is_owner)
        self._memories = MemoryEraser(
            everything,
            fulltext,
            purger,
            directory=context.directory,
            summaries=OVERVIEW_ID,
            tables=[table for component in components for table in component.memory_tables],
            key=context.salt,
            roles=stores.roles,
            own=own_files(context.directory, context.crypt, EXPORTS),
        )

    def forget(
        self,
        given: Mapping[str, object],
        *,
        purge: bool,
        confirm: bool,
        dry_run: bool,
        progress: Callable[[int], None] | None = None,
    ) -> ErasureReceipt:
        """Archive or purge what is selected; raises as `Hexad.forget` says, before anything is done."""
        if dry_run:
            selection = self._resolved(parse_selection(given))
            self._require_subject(selection.subject)
            return self._trial_receipt(selection, purge=purge)
        with self._stores.span("delete_memory", purge=purge) as told:
            selection = self._resolved(parse_selection(given))
            if selection.id is not None:
                told["memory"] = selection.id
            self._db.require_writable()
            with self._alone():
                receipt = self._forget(selection, progress, purge=purge, confirm=confirm)
            told["count"] = receipt.count("memories")
            return receipt

    def _forget(
        self, selection: Selection, progress: Callable[[int], None] | None, *, purge: bool, confirm: bool
    ) -> ErasureReceipt:
        self._go_on()
        self._require_subject(selection.subject)
        kept_places = self._permitted(selection, purge=purge, confirm=confirm)
        if purge and self._context.actor.is_owner and (stream := self._beyond(selection)) is not None:
            stream.require_logs()
        key = secrets.token_bytes(32)
        begun = self._begin(selection, key, purge=purge)
        self._memories.removed_files.clear()
        self._carry(begun, progress)
        return self._receipt(begun, key, kept_places)

    def resume(self) -> int:
        """Finish what a killed process began, and what waited for others; returns how much was finished.

        Somebody who is at it now is left alone.
        """
        if not self._everything.meta.has_erasures_to_finish():
            return 0
        with self._lease().held_for() as alone:
            return self._go_on() if alone else 0

    def on_ledger(self, *, session: str | None) -> int:
        """Return how many contents of a session the ledger has."""
        return self._count_on_ledger([ledger_work(session=session)])

    def receipts(self, *, limit: int = -1) -> list[ErasureReceipt]:
        """Return what the store knows of its erasures, the newest first."""
        return self._erasures.receipts(limit=limit)

    # What is meant, and who may -----------------------------------------------------------------------------------

    def _resolved(self, selection: Selection) -> Selection:
        """Return a selection by what things are called for good; raises `NotFound` for a memory or a space."""
        stores = self._stores
        if selection.space is not None:
            stores.spaces.get(selection.space)
        if selection.id is not None:
            no = stores.memories.resolve_one(selection.id, space=selection.space, archived=True)
            return Selection(id=stores.memories.by_no([no])[no].id)
        if selection.source is not None:
            return replace(selection, source=self._source_meant(selection.source))
        return selection

    def _source_meant(self, given: str) -> str:
        """Return the source, or the item of one, that a path on the disk names; anything else as it is given.

        Raises `NotFound` for a full path that is neither, and `Conflict` for one whose item another source has too.
        """
        stores, is_full, is_below = self._stores, given.startswith(("/", "~")), given.endswith("/")
        uris = {source.uri for source in stores.sources.list()}
        if given in uris or (is_below and not is_full):
            return given
        with suppress(RuntimeError):  # a home of somebody who is not there
            given = f"{Path(given).expanduser()}{'/' * is_below}"
        path = safe_id(Path(given).absolute().as_posix())
        if path in uris:
            return path
        if not is_full or stores.sources.holding(given):
            return given
        for uri in sorted(uris, key=len, reverse=True):
            item = path.removeprefix(f"{uri.rstrip('/')}/") + "/" * is_below
            if item == path + "/" * is_below or uri not in (holders := stores.sources.holding(item)):
                continue
            if holders != {uri}:
                raise Conflict(
                    f"{given[:_SHOWN]!r} is item {item[:_SHOWN]!r} of {uri[:_SHOWN]!r}, and another source has an item "
                    "of that name too; nothing was changed.",
                    remedy="The item's name as {source=} takes both; to take one, give its memories' ids.",
                )
            return item
        known = sorted(uris)[:_NAMED] if self._context.actor.is_owner else []
        names = ", ".join([repr(uri[:_SHOWN]) for uri in known] + ["…"] * (len(uris) > _NAMED))
        there = f" Sources are {names}." if known else ""
        raise NotFound(
            f"{given[:_SHOWN]!r} is no source and no item of one that is there; nothing was changed.",
            remedy=f"Give the path of what was ingested, or the `source_id` of a memory.{there}",
        )

    def _require_subject(self, subject: str | None) -> None:
        """Raise `NotFound` for a person of whom the actor sees nothing, with the names that are most like theirs."""
        if subject is None or subject in (names := self._subjects.names()):
            return
        # What is left of a person may have no name any more: a keyed hash, a verdict, contents of the ledger.
        planned = self._trial_receipt(Selection(subject=subject), purge=True)
        if planned.erased or planned.kept:
            return
        raise unknown_subject(subject, names, outcome="nothing was changed", mentions=planned.mentions)

    def _permitted(self, selection: Selection, *, purge: bool, confirm: bool) -> list[LeftInPlace]:
        """Return what is left alone; raises `AccessDenied` for a purge that nobody allowed."""
        if not purge:
            return self._kept(selection, _ONLY_PURGED)
        owner = self._context.actor.is_owner
        if owner and confirm:
            return []
        self._hold_to_policies(selection, owner=owner)
        beyond = self._kept(selection, _OWNERS)
        # A role's purge of memories leaves the ledger; one that would do nothing else is no success.
        ledger = self._ledger_is_meant(selection) and (owner or not self._memories.spaces(selection))
        if beyond or ledger:
            how = "Confirm the purge ({confirm=True})" if owner else "Only the store's owner may purge it"
            raise AccessDenied(
                "What is selected reaches beyond memories, where no space's policy speaks: "
                f"{', '.join(entry.place for entry in beyond) or 'the ledger'}.",
                remedy=f"{how}; a dry run shows what would go. With {{space=}} it is of that space's memories alone.",
            )
        return []

    def _hold_to_policies(self, selection: Selection, *, owner: bool) -> None:
        for name in self._memories.spaces(selection):
            policies = parse_stored(self._everything.spaces.get(name).policies)
            if policies.allow_delete is not True:
                how = "or confirm the purge ({confirm=True})" if owner else "as its owner"
                raise AccessDenied(
                    f"Memories of space {name!r} cannot be purged: its policy does not allow deletion.",
                    remedy=f"Set allow_delete to true {how}; a dry run shows what would go.",
                )

    def _ledger_is_meant(self, selection: Selection) -> bool:
        return bool(_whole_on_ledger(selection)) and (self._context.directory / "audit").exists()

    def _beyond(self, selection: Selection) -> RecordingEraser | None:
        if selection.realms == {Realm.MEMORIES} or not self._everything.meta.has_experience():
            return None  # and its parts need not be loaded
        return self._stream()

    # What would be done -------------------------------------------------------------------------------------------

    def _trial_receipt(self, selection: Selection, *, purge: bool) -> ErasureReceipt:
        """Do it and undo it; what became of files and of the ledger is counted by what would have been done there."""
        actor = self._context.actor
        at, key = self._context.clock.now(), secrets.token_bytes(32)
        book = TrialBook(self._db, at=at, roles=actor.roles)
        prepared = self._prepared(selection, at=at) if purge and actor.is_owner else None
        with self._db.trial():
            self._take(selection, book, purge=purge, prepared=prepared)
            for waiting in book.take(REMEMBERED):
                self._memories.complete(waiting, book)
            names = self._rows_naming(selection, without=book.left)
        works = _whole_on_ledger(selection) if purge and actor.is_owner else []
        works += [waiting.work for waiting in book.take(LEDGER)]
        self._count_files(book)
        book.erased(LEDGER_CONTENTS, self._count_on_ledger(works))
        kept = () if purge and actor.is_owner else self._kept(selection, _OWNERS if purge else _ONLY_PURGED)
        receipt = ErasureReceipt(
            id=book.id,
            at=at,
            actor=actor.describe(),
            purge=purge,
            dry_run=True,
            selection=selection,
            erased=sorted(book.entries(), key=lambda entry: entry.place),
            pending=[Pending(place=entry.place, reason=entry.reason) for entry in book.take(UNREAD)],
            kept=tuple(kept),
            flagged=tuple(sorted(book.flags)[:MANY]),
            mentions=self._and_events(names, selection),
            selection_mac=selection_mac(key, book.id, at, selection, purge=purge),
        )
        return receipt.signed(key)

    def _rows_naming(self, selection: Selection, *, without: Collection[int] = ()) -> list[Mention]:
        """Return the memories, and for the owner the records besides, that still name the person of a selection."""
        actor = self._context.actor
        named = [*mentions(ErasedMemories(self._db, roles=actor.roles), selection, without=without)]
        if actor.is_owner:
            named += islice(records_naming(self._db, self._sections, selection), MENTIONS - len(named))
        return named

    def _and_events(self, named: Sequence[Mention], selection: Selection) -> tuple[Mention, ...]:
        """Return what names a person, with what was recorded; the stream knows nothing of a trial."""
        has_room = len(named) < MENTIONS and selection.subject is not None
        if not (has_room and self._context.actor.is_owner and self._everything.meta.has_experience()):
            return tuple(named)
        return (*named, *islice(events_naming(self._db, self._stream(), selection), MENTIONS - len(named)))

    def _kept(self, selection: Selection, reason: str) -> list[LeftInPlace]:
        """Return what a purge by the owner takes that is no memory."""
        at = self._context.clock.now()
        rows, beyond = (TrialBook(self._db, at=at, roles=None) for _ in range(2))
        prepared, stream = self._prepared(selection, at=at), self._beyond(selection)
        with self._db.trial():
            for eraser in reversed(self._erasers):
                eraser.erase(selection, rows)
            if stream is not None:
                stream.erase(selection, beyond, prepared)
        self._count_files(beyond)
        entries = [*rows.entries(), *sorted(beyond.entries(), key=lambda entry: entry.place)]
        return [LeftInPlace(place=entry.place, count=entry.count, reason=reason) for entry in entries]

    def _prepared(self, selection: Selection, *, at: datetime) -> object:
        stream = self._beyond(selection)
        return None if stream is None else stream.prepare(selection, at=at)

    def _count_files(self, book: TrialBook) -> None:
        """Note what of files would go, after the trial: reading them holds up nobody."""
        for waiting in book.waiting:
            if waiting.place not in (LEDGER, REMEMBERED):
                self._complete_one(waiting, book, patient=False)

    # What is done -------------------------------------------------------------------------------------------------

    def _begin(self, selection: Selection, key: bytes, *, purge: bool) -> Begun:
        context = self._context
        at, erasure = context.clock.now(), context.ids.new("erasure")
        with self._db.transaction():
            begun = self._erasures.begin(
                erasure,
                selection,
                at=at,
                actor=context.actor.describe(),
                roles=context.actor.roles,
                mac=selection_mac(key, erasure, at, selection, purge=purge),
                purge=purge,
            )
            if purge and context.actor.is_owner and _whole_on_ledger(selection):
                self._erasures.book(begun).on_ledger(
                    session=selection.session, subject=selection.subject, everything=selection.project
                )
        return begun

    def _carry(self, begun: Begun, progress: Callable[[int], None] | None = None) -> None:
        """Do all of an erasure, or what is left of one."""
        book = self._erasures.book(begun, progress=progress)
        self._take(begun.selection, book, purge=begun.purge)
        if begun.purge:
            self._complete(begun.no)
        with self._db.transaction():
            if begun.purge:
                self._note_what_files_hold(book)
            self._erasures.log(begun, at=self._context.clock.now())
        try:
            self._move()
        except (
            StorageFailure
        ) as error:  # the erasure is committed: its receipt is owed, and the ledger's part waits
            log.warning("The ledger has no note of an erasure yet: %s", error)
        self._complete(begun.no)

    def _take(self, selection: Selection, book: Book, *, purge: bool, prepared: object = None) -> None:
        """Take what is selected out of the database; what else has to be done is noted."""
        if not purge:
            self._memories.archive(selection, book)
            return
        self._memories.erase(selection, book)
        if book.roles is None:
            # First, while it is known which recorded sessions are about a person. Together: each turn to write is
            # waited for behind all others who write, and most of them have nothing to do.
            with self._db.transaction():
                for eraser in self._erasers:
                    eraser.erase(selection, book)
            if (stream := self._beyond(selection)) is not None:
                stream.erase(selection, book, prepared)

    def _note_what_files_hold(self, book: Book) -> None:
        for place in (WORDS, LEDGER_PAGES, PAGES, LOG):
            book.pending(place, _BUSY, {})

    def _go_on(self) -> int:
        done = 0
        for begun in self._erasures.under_way():
            self._carry(begun)
            done += 1
        self._move()
        done += self._complete(None)
        for begun in self._erasures.under_way():  # what it waited for came back
            self._carry(begun)
        return done

    def _complete(self, erasure_no: int | None) -> int:
        """Do what waits, of one erasure or of all, and return how much; what cannot be done yet goes on waiting."""
        done = 0
        # The database's own last: pages and log hold all that was written before.
        for book, waiting in sorted(
            self._erasures.waiting(erasure_no=erasure_no), key=lambda pair: _LAST.get(pair[1].place, 0)
        ):
            try:
                completed = self._complete_one(waiting, book, patient=erasure_no is None)
            except HexadError as error:
                log.warning("An erasure is not complete: %s (%s)", waiting.place, error)
                self._erasures.postpone(waiting, str(error))
                continue
            if completed:
                with self._db.transaction():
                    if waiting.place == UNREAD:
                        self._erasures.reopen(waiting)
                    book.erased(TIMESTEPS, waiting.unread)
                    self._erasures.settle(waiting)
                    if erasure_no is None:
                        detail = {"id": book.id, "place": waiting.place}
                        self._everything.meta.log(COMPLETED, detail, at=self._context.clock.now())
                done += 1
        return done

    @failures_translated
    def _complete_one(self, waiting: Pending, book: Book, *, patient: bool) -> bool:
        if waiting.place == LOG:
            return not self._erasures.ledger_waits(book.id) and empty_log(self._db)
        if waiting.place == LEDGER_PAGES:
            return not self._erasures.ledger_waits(book.id) and self._clear_ledger(patient)
        if waiting.place == WORDS:
            clear_borders(self._db)
            return True
        if waiting.place == PAGES:
            return clear_pages(self._db, patient=patient, meta=self._everything.meta)
        if waiting.place in self._memories.places():
            return self._memories.complete(waiting, book)
        return self._stream().complete(waiting, book)

    def _receipt(self, begun: Begun, key: bytes, kept_places: Sequence[LeftInPlace]) -> ErasureReceipt:
        known_receipt = self._erasures.receipt(begun.id)
        assert known_receipt is not None, begun.id
        receipt = replace(
            known_receipt,
            selection=begun.selection,
            kept=tuple(kept_places),
            files=tuple(str(path) for path in self._memories.removed_files),
            mentions=self._and_events(self._rows_naming(begun.selection), begun.selection),
        ).signed(key)
        self._erasures.sign(begun.no, receipt.mac or "")
        return receipt

    # The ledger -----------------------------------------------------------------------------------------------------

    @failures_translated
    def _move(self) -> None:
        context = self._context
        move_to_ledger(self._everything.meta, context.directory, clock=context.clock, crypt=context.crypt)

    def _clear_ledger(self, patient: bool) -> bool:
        context = self._context
        return clear_ledger(context.directory, clock=context.clock, crypt=context.crypt, patient=patient)

    def _count_on_ledger(self, works: Sequence[Mapping[str, JSONValue]]) -> int:
        context = self._context
        return ledger_contents(context.directory, works, clock=context.clock, crypt=context.crypt)

    # One at a time ------------------------------------------------------------------------------------------------

    def _lease(self) -> Lease:
        return Lease(self._context.directory / "erase.lock", clock=self._context.clock, purpose="erasure")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Run the block while nobody else erases; raises `StoreLocked` where somebody does for too long."""
        lease, wait_s = self._lease(), self._context.settings.lock_timeout_s
        with lease.held_for(wait_s=wait_s) as acquired:
            if not acquired:
                raise StoreLocked(
                    f"Cannot erase: {lease.holder() or 'another process'} is at it for {wait_s:g} s. Wait until it "
                    "is done and try again; nothing was changed."
                )
            yield


def _whole_on_ledger(selection: Selection) -> list[Mapping[str, JSONValue]]:
    """Return what a selection names of the ledger by itself, whatever the store knows of it."""
    if set(selection.to_dict()) not in ({"session"}, {"subject"}, {"project"}):
        return []
    return [ledger_work(session=selection.session, subject=selection.subject, everything=selection.project)]
