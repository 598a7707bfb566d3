"""Calls on single memories: look at one, list them, pin, archive and bring back. Delegation only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from hexad.core.arguments import parse_choice, parse_text, parse_whole, word_list
from hexad.core.arguments__checked import all_flags_checked
from hexad.errors import Conflict, InvalidInput
from hexad.memory.memory import QUARANTINE, JSONValue, Memory, Status, format_time
from hexad.memory.query import Filters
from hexad.memory.tables.duplicates import NEAR_DUPLICATE
from hexad.memory.tables.rows import ORDERS
from hexad.services import Parts
from hexad.text.normalize import slug, slugs

if TYPE_CHECKING:
    from hexad.core.erasure import ErasureReceipt
    from hexad.privacy.report import ExportItem, WipeReport


@all_flags_checked
class RecordCalls:
    """The part of `Hexad` that is about single memories."""

    _parts: Parts

    # Reading ----------------------------------------------------------------------------------------------------

    def get(self, id_or_path: str, *, space: str | None = None) -> Memory:
        """Return one memory, whatever its status. Raises `NotFound`."""
        memories = self._parts.stores.memories
        with self._parts.stores.db.read():
            no = memories.resolve(id_or_path, space=space)
            return memories.by_no([no])[no]

    def memories(
        self,
        *,
        space: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        text: str | None = None,
        pinned: bool | None = None,
        status: str | None = "active",
        order: str = "updated",
        limit: int | None = 50,
        offset: int = 0,
    ) -> list[Memory]:
        """Return memories, the last changed first; `status` None means any, `limit` None all.

        `text` are words that all occur somewhere in the memory, as they are written but for their case: a look, not
        a recall. `order` is `updated`, `created` (both newest first), `path`, `relevance` or `kind`; `offset` leaves
        out the first ones.

        Raises `NotFound` for a space that was never created, `InvalidInput` for another value.
        """
        parse_whole(1 if limit is None else limit, "limit", least=1)
        parse_whole(offset, "offset", least=0)
        if order not in ORDERS:
            raise InvalidInput(f"order = {order!r} is not known; choose one of {', '.join(ORDERS)}.")
        filters, chosen = self._listed(space, kinds, tags, path, text, pinned, status)
        memories = self._parts.stores.memories
        with self._parts.stores.db.read():
            numbers = memories.numbers(
                filters, status=chosen, order=order, limit=-1 if limit is None else limit, offset=offset
            )
            found = memories.by_no(numbers)
        return [found[no] for no in numbers]

    def count(
        self,
        *,
        space: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        text: str | None = None,
        pinned: bool | None = None,
        status: str | None = "active",
    ) -> int:
        """Return how many memories `memories` would list without a limit. Raises what it raises."""
        filters, chosen = self._listed(space, kinds, tags, path, text, pinned, status)
        return self._parts.stores.memories.count_where(filters, status=chosen)

    def _listed(
        self,
        space: str | None,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        path: str | None,
        text: str | None,
        pinned: bool | None,
        status: str | None,
    ) -> tuple[Filters, Status | None]:
        if space is not None:
            self._parts.stores.spaces.get(space)
        filters = Filters(
            spaces=None if space is None else (space,),
            kinds=None if kinds is None else tuple(map(slug, word_list(kinds, "kinds"))),
            tags=None if tags is None else slugs(word_list(tags, "tags")),
            path=parse_text(path, "path"),
            text=None if (words := parse_text(text, "text")) is None else tuple(words.split()),
            pinned=pinned,
            roles=self._parts.stores.roles,
        )
        return filters, None if status is None else parse_choice(Status, status, "status")

    def history(self, id_or_path: str, *, space: str | None = None) -> Sequence[Mapping[str, JSONValue]]:
        """Return what a memory said before, oldest first: `version`, `replaced_at`, `raw`. Raises `NotFound`."""
        memories = self._parts.stores.memories
        no = memories.resolve(id_or_path, space=space)
        return [
            {"version": version, "replaced_at": format_time(at), "raw": raw}
            for version, at, raw in memories.history(no)
        ]

    def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> Iterator[ExportItem]:
        """Iterate over everything that is held about a scope, or about a person: what a request for access asks for.

        `scope` is `"project"`, all of the store (the default), or `"session"` with its id: the memories of that
        conversation, what was recorded of it, with its tags and comments, and its part of the honeycomb. `subject`
        takes a person instead: memories, sessions and documents that name them among their `data_subjects`. Each item
        names the list that it belongs to (`memories`, `links`, `sessions`, …) and is JSON; the first one says what is
        left out: keys, and the contents of the ledger. Read page by page: memory does not grow with the store.

        `"user"` is what the user layer holds of whoever opened the store: preferences, patterns, rules, what projects
        published.

        Raises `NotFound` for a session that there is not, `InvalidInput` for another scope or one beside a `subject`,
        `AccessDenied` for an actor from whom anything is hidden.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ann leads the release.", data_subjects=["ann"])
        ...     [item.section for item in hx.export(subject="ann")]
        ['export', 'memories']
        """
        from hexad.privacy.export import export

        return export(self._parts, scope, session=session, subject=subject)

    def write_export(
        self,
        file: Path | str,
        scope: str | None = None,
        *,
        session: str | None = None,
        subject: str | None = None,
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Mapping[str, int]:
        """Write `export` as one JSON file for its owner alone (mode 0600); returns how many items each list has.

        The file is in plain text, also of an encrypted store: it is for somebody to read. Raises what `export` does,
        `Conflict` for a file that is there, unless `force` replaces it.
        """
        from hexad.privacy.export import export, write_export

        items = export(self._parts, scope, session=session, subject=subject)
        return write_export(self._parts, file, items, force=force, progress=progress)

    def decrypted(self, file: Path | str) -> Iterator[bytes]:
        """Iterate over the content of an encrypted file of this store, piece by piece; nothing is written.

        It reads working copies, space files, exports, evidence and segments, wherever they lie by now. Keys and the
        ledger it does not read. Raises `AccessDenied` for an actor from whom anything is hidden, `NotFound`,
        `InvalidInput` for a file that is not encrypted, `IntegrityError` for one that these keys do not open.
        """
        from hexad.privacy.export import decrypted

        return decrypted(self._parts, file)

    def memories_in(
        self, scope: str, *, session: str | None = None, limit: int = 50, offset: int = 0
    ) -> list[Memory]:
        """Return the memories of a scope, whatever their status, the last changed first. Raises as `export` does."""
        from hexad.privacy.export import memories

        return memories(self._parts, scope, session=session, limit=limit, offset=offset)

    def near_duplicates(self, id_or_path: str, *, space: str | None = None) -> Sequence[tuple[str, float]]:
        """Return `(id, similarity)` of memories that say almost the same: shown, never merged."""
        stores = self._parts.stores
        return stores.duplicates.linked(stores.memories.resolve(id_or_path, space=space), NEAR_DUPLICATE)

    # Changing ---------------------------------------------------------------------------------------------------

    @overload
    def forget(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    @overload
    def forget(
        self,
        *,
        space: str | None = None,
        source: str | None = None,
        tag: str | None = None,
        path: str | None = None,
        session: str | None = None,
        subject: str | None = None,
        before: datetime | str | None = None,
        purge: bool = False,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ErasureReceipt: ...
    @overload
    def forget(
        self, id_or_path: str, *, space: str | None = None, purge: Literal[True], confirm: bool = False,
        dry_run: bool = False,
    ) -> ErasureReceipt: ...  # fmt: skip
    @overload
    def forget(
        self, id_or_path: str, *, space: str | None = None, purge: bool = False, dry_run: Literal[True]
    ) -> ErasureReceipt: ...
    def forget(
        self,
        id_or_path: str | None = None,
        *,
        space: str | None = None,
        source: str | None = None,
        tag: str | None = None,
        path: str | None = None,
        session: str | None = None,
        subject: str | None = None,
        before: datetime | str | None = None,
        purge: bool = False,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Memory | ErasureReceipt:
        """Archive what is named or selected: gone from recall, recoverable with `restore`; or purge it for good.

        One id or path alone archives that memory and returns it. Everything else returns a receipt. What is selected
        is all for which everything given holds: memories of a `space`, of a `source` (its name, an item of it, or a
        prefix of items that ends in `/`), with a `tag`, at or below a `path`, of a `session`, about a person
        (`subject`), or from before a moment. `tag`, `session`, `subject` and `before` also reach recorded experience
        and documents, and `session` and `subject` sessions of the honeycomb, none of which can be archived: they go
        with `purge` alone. What an actor may not see, it does not erase. docs/erasure.md says what goes where.

        `purge` removes everything that belongs to it, in every file of the store, and what was made of it alone; the
        receipt names the memories that rest on it besides. It needs `allow_delete` in the policies of the spaces, or
        `confirm` from the store's owner; for what is in no space, `confirm`. What another process still holds is
        `pending` in the receipt and `maintain` completes it. `dry_run` only says what would happen. `progress` is told
        how many memories are done.

        Raises `NotFound`, `Conflict` for a path that memories of several spaces have where no space is given,
        `InvalidInput` for a selection that cannot be used or says nothing, `AccessDenied`, `StoreLocked` while
        somebody else erases.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ada asked for a refund.", data_subjects=["ada@example.org"])
        ...     receipt = hx.forget(subject="ada@example.org", purge=True, confirm=True)
        ...     receipt.count("memories"), receipt.pending, receipt.verify()
        (1, (), True)
        """
        conditions = {
            "source": source, "tag": tag, "path": path, "session": session, "subject": subject, "before": before,
        }  # fmt: skip
        selects = any(value is not None for value in conditions.values())
        if id_or_path is not None and not (selects or purge or dry_run):
            return self._change(
                id_or_path, space, lambda no: self._parts.catalog.archive(no, at=self._parts.clock.now())
            )
        return self._parts.erasing.forget(
            {"id": id_or_path, "space": space, **conditions},
            purge=purge,
            confirm=confirm,
            dry_run=dry_run,
            progress=progress,
        )

    def erasures(self, *, limit: int | None = None) -> list[ErasureReceipt]:
        """Return what the store knows of what was forgotten by selection, the newest first: counts, and what waits.

        What was selected, and the key to prove it, only the receipts hold that were given out.
        """
        parse_whole(1 if limit is None else limit, "limit", least=1)
        return self._parts.erasing.receipts(limit=-1 if limit is None else limit)

    def wipe(
        self,
        scope: str,
        *,
        session: str | None = None,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> WipeReport:
        """Remove all of a scope of `export` for good, and return the receipts that say what.

        `"session"` is what `forget(session=…, purge=True)` does. `"project"` does that with every session and every
        space, and removes documents, tags and nodes of the honeycomb; spaces stay, empty, with their policies. The
        ledger keeps its records without their contents, and what the project published to the user layer goes. `"user"`
        removes what that holds of whoever opened the store. It is for the store's owner, who has to `confirm`;
        `dry_run` only says what would go.

        Raises what `export` and `forget` do, `AccessDenied` without `confirm`.
        """
        from hexad.privacy.wipe import wipe

        return wipe(self._parts, scope, session=session, confirm=confirm, dry_run=dry_run, progress=progress)

    def restore(self, id_or_path: str, *, space: str | None = None) -> Memory:
        """Bring an archived memory back into recall. Raises what `forget` does, and `Conflict` for one that waits for
        a review or was rejected in one: only `hx.quarantine.release` lets it in.
        """
        memory = self._change(id_or_path, space, self._bring_back, archived=True)
        self._parts.wake()
        return memory

    def _bring_back(self, no: int) -> None:
        memory = self._parts.stores.memories.by_no([no])[no]
        note = memory.metadata.get(QUARANTINE)
        if (
            isinstance(note, Mapping)
            and memory.status is not Status.ACTIVE
            and note.get("verdict") != "released"
        ):
            stands = "was rejected" if "verdict" in note else "waits for a review"
            raise Conflict(
                f"Memory {memory.id!r} {stands}; the store's owner can let it in: `hexad memory quarantine release`."
            )
        self._parts.catalog.restore(no, at=self._parts.clock.now())
        self._parts.settle_fact(no)

    def pin(self, *names: str, space: str | None = None) -> Memory:
        """Pin a memory: `pin(space, id_or_path)` as in document 1, or `pin(id_or_path)`.

        Of several memories at one path it is the active one that was changed last. `updated_at` becomes now.
        Raises `NotFound` with document 1's words, and `Conflict` for a path of several spaces without a space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ship on green.", space="runtime", path="release/rule")
        ...     hx.pin("runtime", "release/rule").pinned
        True
        """
        return self._set_pin(names, space, pinned=True)

    def unpin(self, *names: str, space: str | None = None) -> Memory:
        """Unpin a memory, named as for `pin`. Raises what `pin` does."""
        return self._set_pin(names, space, pinned=False)

    def tag(
        self,
        id_or_path: str,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        space: str | None = None,
    ) -> Memory:
        """Add tags to a memory and take tags away; everything else of it stays. Returns the memory as it is then.

        A tag that is there already, or gone already, is no error. Raises what `forget` does, and `InvalidInput` for
        a tag without a letter or digit.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.", tags=["release", "draft"])
        ...     hx.tag(memory.id, add=["Ops Team"], remove=["draft"]).tags
        ('ops-team', 'release')
        """
        added, removed = word_list(add, "add"), word_list(remove, "remove")
        now, retagger = self._parts.clock.now(), self._parts.writing.retagger
        return self._change(
            id_or_path, space, lambda no: retagger.change(no, add=added, remove=removed, at=now)
        )

    def _set_pin(self, names: tuple[str, ...], space: str | None, *, pinned: bool) -> Memory:
        if len(names) not in {1, 2} or (len(names) == 2 and space is not None):
            raise InvalidInput(
                f"{names!r} does not name one memory; give its id or path, or space and id or path."
            )
        if len(names) == 2:
            space = names[0]
        memories, now = self._parts.stores.memories, self._parts.clock.now()
        return self._change(names[-1], space, lambda no: memories.set_pinned(no, pinned, at=now))

    def _change(
        self, id_or_path: str, space: str | None, change: Callable[[int], object], *, archived: bool = False
    ) -> Memory:
        memories = self._parts.stores.memories
        with self._parts.stores.db.transaction():
            no = memories.resolve_one(id_or_path, space=space, archived=archived)
            change(no)
            return memories.by_no([no])[no]
