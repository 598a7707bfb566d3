"""Everything that a store holds about a project, a session or a person: the answer to who asks for their data."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from hexad.core.arguments import absence, parse_path, parse_whole, quoted
from hexad.core.clock import format_time
from hexad.core.erasure import Selection
from hexad.core.json_types import JSONValue
from hexad.core.version import __version__
from hexad.database.component import Component, ExportSection
from hexad.database.encryption.cipher import (
    HEADER_BYTES,
    is_sealed,
)
from hexad.database.encryption.inventory import Inventory, inventory_of
from hexad.database.encryption.sealed_files import SealedReader
from hexad.database.encryption.store_files import unsealed
from hexad.database.files import operation, stream_write
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, Conflict, IntegrityError, InvalidInput, NotFound
from hexad.experience.service import ExperienceService
from hexad.experience.values.levels import Fidelity
from hexad.experience.values.records import StepQuery
from hexad.layers.user.service import UserService
from hexad.layers.user.tables.holdings import SECTIONS as USER_SECTIONS
from hexad.memory.memory import Memory
from hexad.memory.store import Stores
from hexad.privacy.holdings import DataOwner, Holdings, has_session
from hexad.privacy.memory_rows import ErasedMemories
from hexad.privacy.mentions import mentions
from hexad.privacy.report import ExportItem, Scope, parse_scope
from hexad.privacy.subjects import Subjects, unknown_subject
from hexad.spaces.access import require_owner

FORMAT: Final = "hexad-export"
VERSION: Final = 1
MISSING: Final = "missing"
"""The list of what the scope has and could not be read."""
_TICKS: Final = 10_000
_LEFT_OUT: Final[dict[str, JSONValue]] = {
    "keys": "the store's keys; they open and sign, and say nothing of anybody",
    "ledger": "the contents of the audit ledger in audit/; reviewers get them with a credential: `hexad audit export`",
    "indexes": "full text, vectors and signatures, made of what is here; embeddings of nodes: `hx.honeycomb.get`",
    "concepts": "the concepts of packs that were loaded; the packs themselves hold them",
}


class Exporter:
    """Tells what an open store holds. `everything` hides nothing; experience and the user layer are loaded at need."""

    def __init__(
        self,
        context: StoreContext,
        everything: Stores,
        *,
        components: Sequence[Component],
        sections: Sequence[ExportSection],
        experience: Callable[[], ExperienceService],
        user: Callable[[], UserService],
    ) -> None:
        self._context, self._everything, self._experience, self._user = context, everything, experience, user
        self._components, self._sections = components, sections

    def export(self, scope: str | None, *, session: str | None, subject: str | None) -> Iterator[ExportItem]:
        """Return an iterator over what is held; raises as `Hexad.export` does, before the first item is asked for."""
        require_owner(self._context.actor, self._everything, doing="an export of what is held")
        holdings = Holdings(self._context.db)
        if subject is not None and scope is not None:
            raise InvalidInput("Give a subject or a scope, not both.")
        scope = Scope.PROJECT.value if scope is None else scope
        if subject is None and parse_scope(scope, session) is Scope.USER:
            return self._user_items()
        owner = self._held(holdings, scope, session=session, subject=subject)
        head: dict[str, JSONValue] = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"hexad {__version__}",
            "scope": None if subject is not None else scope,
            "session": session,
            "subject": subject,
            "store": str(self._context.directory),
            "exported_at": format_time(self._context.clock.now()),
            "left_out": _LEFT_OUT,
        }
        items = self._items(holdings, owner, head)
        return items if subject is None else self._held_about(subject, items)

    def write(
        self,
        file: Path | str,
        items: Iterator[ExportItem],
        *,
        force: bool,
        progress: Callable[[int], None] | None,
    ) -> dict[str, int]:
        """Write an export as `Hexad.write_export` says; returns how many items of each list it has."""
        path = parse_path(file, "file").expanduser().absolute()
        store, target = self._context.directory.resolve(), path.resolve()
        if target.is_relative_to(store) and (
            self._context.crypt is not None or target.parent != store / "exports"
        ):
            raise InvalidInput(
                f"{path} is in the store: an export is plain text, and may be in the way of its files; write it "
                "elsewhere."
            )

        def may_replace() -> None:
            if path.exists() and not force:
                raise Conflict(
                    f"There is a file at {path}; it stays.",
                    remedy="Give another name, or replace it ({force=True}).",
                )

        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; give a file in it.")
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path} is a pipe or a device; give a file.")
        may_replace()
        if not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written; give a file in a folder that is there.")
        counts: dict[str, int] = {}

        def counted() -> Iterator[ExportItem]:
            for done, item in enumerate(items):
                if done:
                    counts[item.section] = counts.get(item.section, 0) + 1
                if progress is not None:
                    progress(done)
                yield item

        pieces = json_pieces(counted(), self._sections)
        stream_write(path, (piece.encode() for piece in pieces), may_replace=may_replace)
        return counts

    def decrypted(self, file: Path | str) -> Iterator[bytes]:
        """Return an iterator over a file's content; raises as `Hexad.decrypted` does, mostly before anything comes."""
        require_owner(self._context.actor, self._everything, doing="reading the store's files")
        if not isinstance(file, str | Path):
            raise InvalidInput(f"file is {type(file).__name__}; give the path of one.")
        path, crypt = Path(file).expanduser(), self._context.crypt
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a file in it.")
        if not path.is_file():
            raise NotFound(f"{absence(path, 'file')}; check the path.")
        inventory = inventory_of(self._components)
        if crypt is not None and path.resolve() in _databases(self._context.directory, inventory):
            raise InvalidInput(
                f"{path} is a database, encrypted by SQLite: `hexad memory export --scope project` writes what "
                "memory.db holds, `hexad audit export` what the ledger holds."
            )
        with operation("read", path, "read"), path.open("rb") as stream:
            head = stream.read(HEADER_BYTES)
        if not is_sealed(head):
            raise InvalidInput(f"{path} is not an encrypted file: there is nothing to decrypt.")
        for cipher in () if crypt is None else map(crypt.cipher, inventory.purposes(hidden=False)):
            try:
                with SealedReader(path, cipher) as reader:
                    if not reader.read(1):
                        cipher.read(path)
            except IntegrityError:
                continue  # of another purpose, or not ours
            return unsealed(path, cipher)
        for cipher in () if crypt is None else map(crypt.cipher, inventory.purposes(hidden=True)):
            with contextlib.suppress(IntegrityError), SealedReader(path, cipher) as reader:
                if not reader.read(1):
                    cipher.read(path)
                raise AccessDenied(
                    f"{path} holds keys or records of the ledger, which are not shown: reviewers read the ledger with "
                    "`hexad audit export`."
                )
        raise IntegrityError(f"{path} cannot be decrypted: it was changed, or is from another store.")

    def memories(self, scope: str, *, session: str | None, limit: int, offset: int) -> list[Memory]:
        """Return the memories of a scope, whatever their status, the last changed first; raises as `export` does."""
        require_owner(self._context.actor, self._everything, doing="a list of what is held")
        parse_whole(limit, "limit", least=1)
        parse_whole(offset, "offset", least=0)
        if parse_scope(scope, session) is Scope.USER:
            raise InvalidInput("The user layer holds no memories: `hx.user` lists what it holds.")
        holdings = Holdings(self._context.db)
        owner = self._held(holdings, scope, session=session, subject=None)
        return holdings.page(owner, limit=limit, offset=offset)

    def _user_items(self) -> Iterator[ExportItem]:
        """Return what the user layer holds; whether it may be read shows before the first item is asked for."""
        user = self._user().facade
        user.counts()
        head: dict[str, JSONValue] = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"hexad {__version__}",
            "scope": Scope.USER.value,
            "user_id": user.user_id,
            "store": str(user.path),
            "exported_at": format_time(self._context.clock.now()),
            "left_out": {"keys": _LEFT_OUT["keys"]},
        }

        def items() -> Iterator[ExportItem]:
            yield ExportItem(section="export", value=head)
            for section, row in user.held():
                yield ExportItem(section=section, value=row)

        return items()

    def _held(self, holdings: Holdings, scope: str, *, session: str | None, subject: str | None) -> DataOwner:
        if subject is not None:
            if not isinstance(subject, str) or not subject.strip():
                raise InvalidInput(
                    f"subject = {quoted(subject)} names nobody; give one of a memory's data_subjects.",
                    argument="subject",
                )
            if session is not None:
                raise InvalidInput("Give a subject or a session, not both.")
            return DataOwner(sessions=holdings.sessions_of(subject), subject=subject)
        if parse_scope(scope, session) is Scope.PROJECT:
            return DataOwner()
        owner = DataOwner(sessions=(str(session),))
        recorded = any(
            session_info.id == session for session_info in self._experience().experience.sessions()
        )
        is_known = recorded or has_session(self._context.db, self._components, str(session))
        if not is_known and not holdings.numbers(owner):
            raise NotFound(
                f"There is no session {session!r}, neither recorded nor of a conversation or the graph;",
                remedy="`{sessions()}` lists those that were recorded.",
            )
        return owner

    def _held_about(self, subject: str, items: Iterator[ExportItem]) -> Iterator[ExportItem]:
        """Return an export of a person; raises `NotFound` where nothing but its head is in it."""
        head, first = next(items), next(items, None)
        if first is None:
            names = Subjects(self._context.db, self._components, roles=None, owner=True).names()
            named = mentions(ErasedMemories(self._context.db, roles=None), Selection(subject=subject))
            raise unknown_subject(subject, names, outcome="nothing was exported", mentions=named)
        return chain((head, first), items)

    def _items(
        self, holdings: Holdings, owner: DataOwner, head: dict[str, JSONValue]
    ) -> Iterator[ExportItem]:
        yield ExportItem(section="export", value=head)
        for memory in holdings.memories(owner):
            yield ExportItem(section="memories", value=memory)
        for link in holdings.links(owner):
            yield ExportItem(section="links", value=link)
        for section in self._sections:
            for row in holdings.section(section, owner):
                yield ExportItem(section=section.name, value=row)
        missing: dict[str, None] = {}
        for step in self._timesteps(owner, missing):
            yield ExportItem(section="timesteps", value=step)
        for words in missing:
            yield ExportItem(section=MISSING, value={"what": words})

    def _timesteps(self, owner: DataOwner, missing: dict[str, None]) -> Iterator[dict[str, JSONValue]]:
        """Yield what was recorded and is still there in full detail; what became coarser is among the COLD records.

        What cannot be read is noted in `missing`.
        """
        experience = self._experience().experience
        experience.flush()
        for info in experience.sessions():
            if owner.sessions is not None and info.id not in owner.sessions:
                continue
            for first in range(0, info.last_tick + 1, _TICKS):
                question = StepQuery(session_id=info.id, ticks=(first, first + _TICKS - 1), limit=2 * _TICKS)
                steps = experience.query(question)
                missing.update(dict.fromkeys(steps.notes))
                for step in steps:
                    if step.fidelity is not Fidelity.COLD:
                        yield step.to_dict()


def _databases(directory: Path, inventory: Inventory) -> set[Path]:
    """Return the files of the store's databases, and of their logs."""
    there = [directory.resolve() / name for name in inventory.databases]
    return {path.with_name(path.name + end) for path in there for end in ("", "-wal")}


def json_pieces(items: Iterable[ExportItem], sections: Sequence[ExportSection]) -> Iterator[str]:
    """Yield what `hexad.export_json` does, of a store that has these lists beside memories, links and timesteps."""
    names = ("memories", "links", *(section.name for section in sections), "timesteps", MISSING)
    left = [*names]
    current = None
    for item in items:
        text = json.dumps(item.value, ensure_ascii=False)
        if item.section == "export":
            left = [*(USER_SECTIONS if item.value["scope"] == Scope.USER else names)]
            yield f'{{"export": {text}'
            continue
        if item.section == current:
            yield f",\n  {text}"
            continue
        if current is not None:
            yield "\n]"
        while left[0] != item.section:
            yield f',\n"{left.pop(0)}": []'
        current = left.pop(0)
        yield f',\n"{current}": [\n  {text}'
    if current is not None:
        yield "\n]"
    for name in left:
        if name != MISSING:  # there where something is
            yield f',\n"{name}": []'
    yield "}\n"
