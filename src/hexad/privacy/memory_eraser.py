"""Erasing memories: what is selected, what was made of it alone, and every file of ours that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from hexad.core.erasure import ErasureBook, Pending, Realm, Selection
from hexad.database.component import MemoryTable
from hexad.database.encryption.store_files import StoreFiles
from hexad.database.erasure_book import MEMORIES, REMEMBERED, TrialBook
from hexad.memory.store import Stores
from hexad.memory.tables.purge import RetentionRows
from hexad.privacy import memory_files as files
from hexad.privacy.memory_rows import ErasedMemories
from hexad.search.fulltext import FullText
from hexad.spaces.retention import Purger

FILES: Final = "files of spaces"
CACHES: Final = "vector caches"
SPACE_FILES: Final = "space files"
EXPORTS: Final = "exports"
QUEUE: Final = "queued sources"
REASON: Final = "erasure"
STEP: Final = 16
"""Memories that one transaction takes; others write in between.

One takes some 5 ms with its links, and the whole costs the same in steps of 8, 16, 32 and 100.
"""
_TRIED_AT_ONCE: Final = 500
"""Memories that a trial takes, in its one transaction; of more, only their number is told."""
_NAMED: Final = 10_000
"""Ids by which exports are searched; more, and every export of their spaces goes."""
_NOT_YET: Final = "not done yet"


class MemoryEraser:
    """Erases memories. `everything` hides nothing; `summaries` is what the summaries of sources are called.

    `key` makes what stands for an erased name, so that nobody without it can test a guess.
    """

    def __init__(
        self,
        everything: Stores,
        fulltext: FullText,
        purger: Purger,
        *,
        directory: Path,
        summaries: str,
        tables: Sequence[MemoryTable],
        key: Callable[[], bytes],
        roles: tuple[str, ...] | None,
        own: StoreFiles,
    ) -> None:
        self._stores, self._fulltext, self._purger = everything, fulltext, purger
        self._directory, self._summaries, self._key, self._roles = directory, summaries, key, roles
        self.removed_files: list[Path] = []
        self._own, self._tables = own, tables

    def places(self) -> frozenset[str]:
        """Return the places of the pending notes that `complete` takes."""
        return frozenset({FILES, CACHES, REMEMBERED})

    def spaces(self, selection: Selection) -> list[str]:
        """Return the spaces of what `erase` would take."""
        if Realm.MEMORIES not in selection.realms:
            return []
        rows = ErasedMemories(self._stores.db, roles=self._roles)
        numbers = rows.selected(selection)
        return rows.spaces_of([*rows.dependants(numbers, self._summaries)[0], *numbers])

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Purge what is selected with all that belongs to it; what files hold of it is noted as pending."""
        if Realm.MEMORIES not in selection.realms:
            return
        rows = ErasedMemories(self._stores.db, roles=book.roles)
        with self._stores.db.transaction():
            numbers = self._begin(rows, rows.selected(selection, last=book.last_memory), book)
            if _is_whole(selection):
                self._let_go(rows, selection, book)
            if len(numbers) <= STEP or book.trial:
                self._purge(rows, numbers, book, MEMORIES)
                return
        for batch in rows.batches(numbers, STEP):
            with self._stores.db.transaction():
                self._purge(rows, batch, book, MEMORIES)

    def _begin(self, rows: ErasedMemories, numbers: Sequence[int], book: ErasureBook) -> list[int]:
        """Note what is to be done after the rows are gone, and return which go, derived ones first.

        Were they last, a kill in between would leave them without what tells that they are derived.
        """
        more, resting = rows.dependants(numbers, self._summaries, without=_left(book))
        for memory_id in rows.flag(resting) if resting else ():
            book.flag(memory_id)
        numbers_going = [*more, *numbers]
        if book.roles is not None:
            self._flag_hidden(numbers_going)
        if numbers_going:
            rows.unname(rows.ids_of(numbers_going))
            spaces = rows.spaces_of(numbers_going)
            ids = rows.ids_of(numbers_going) if len(numbers_going) <= _NAMED else None
            book.pending(FILES, _NOT_YET, {"spaces": spaces, "ids": ids})
            book.pending(CACHES, _NOT_YET, {})
        return numbers_going

    def _flag_hidden(self, numbers: Sequence[int]) -> None:
        """Mark what rests on memories that go and is hidden from whoever lets them go, who is not told of it."""
        every = ErasedMemories(self._stores.db)
        hidden = {no for dependant in every.dependants(numbers, self._summaries) for no in dependant}
        if hidden:
            every.flag(hidden)

    def _purge(self, rows: ErasedMemories, numbers: Sequence[int], book: ErasureBook, place: str) -> None:
        if not numbers:
            return
        counts = rows.counts(numbers, self._tables, without=_left(book))
        size = rows.text_bytes(numbers)
        if isinstance(book, TrialBook) and len(numbers) > _TRIED_AT_ONCE:
            # A thousand memories are a second in which nobody else writes, and the run takes them in batches.
            book.left += numbers
        else:
            rows.let_go(numbers, self._summaries, self._key)
            first = rows.next_tombstone()
            self._purger.purge(numbers, reason=REASON, at=book.at, receipt=book.id)
            rows.mask_tombstones(first, self._key)
        for name, count in counts.items():
            if name == MEMORIES:
                book.erased(place, count, size)
            else:
                book.erased(name, count)

    def _let_go(self, rows: ErasedMemories, selection: Selection, book: ErasureBook) -> None:
        if selection.space is not None:
            book.erased(QUEUE, rows.let_go_of_space(selection.space))
        elif selection.source is not None:
            book.erased(QUEUE, rows.let_go_of_source(selection.source))

    def archive(self, selection: Selection, book: ErasureBook) -> None:
        """Archive what is selected and active, in batches."""
        if Realm.MEMORIES not in selection.realms:
            return
        rows = ErasedMemories(self._stores.db, roles=book.roles)
        aged = RetentionRows(self._stores.db)
        numbers = rows.selected(selection, last=book.last_memory, active_only=True)
        if book.trial and len(numbers) > _TRIED_AT_ONCE:  # as in `_purge`
            book.erased(MEMORIES, len(numbers))
            return
        for batch in rows.batches(numbers, STEP):
            with self._stores.db.transaction():
                active = rows.still_active(batch)
                self._fulltext.remove_memories(active)
                aged.archive(active, at=book.at)
                rows.mark_archived(active, at=book.at)
                self._stores.links.flag_dependants(active)
                book.erased(MEMORIES, len(active))

    def complete(self, waiting: Pending, book: ErasureBook) -> bool:
        """Do what waits: files written anew or removed, or the memories of erased experience."""
        work = waiting.work
        if waiting.place == CACHES:
            book.erased(CACHES, *files.remove_vector_caches(self._directory, trial=book.trial))
        elif waiting.place == FILES:
            self._write_files(_texts(work["spaces"]) or [], _texts(work["ids"]), book)
        else:
            rows = ErasedMemories(self._stores.db)
            with self._stores.db.transaction():
                numbers = rows.remembered(_texts(work["records"]) or [], _texts(work["between"]))
                numbers = sorted({*numbers}.difference(_left(book)))
                self._purge(rows, self._begin(rows, numbers, book), book, REMEMBERED)
        return True

    def _write_files(self, spaces: Sequence[str], ids: Sequence[str] | None, book: ErasureBook) -> None:
        removed, size = files.remove_exports(self._directory, spaces, ids, self._own, trial=book.trial)
        if isinstance(book, TrialBook):
            removed = [path for path in removed if path not in book.files]
            book.files += removed
        else:
            self.removed_files += removed
        book.erased(EXPORTS, len(removed), size)
        for space in spaces:
            count, size = files.write_again(self._stores, self._directory, space, self._own, trial=book.trial)
            book.erased(SPACE_FILES, count, size)


def _left(book: ErasureBook) -> Sequence[int]:
    """Return the memories that are as good as gone."""
    return book.left if isinstance(book, TrialBook) else ()


def _is_whole(selection: Selection) -> bool:
    """Whether a selection is a whole space or a whole source."""
    return set(selection.to_dict()) in ({"space"}, {"source"})


def _texts(value: object) -> list[str] | None:
    return [str(item) for item in value] if isinstance(value, list) else None
