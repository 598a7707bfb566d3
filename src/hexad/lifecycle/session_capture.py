"""The working set of a folder, read and changed without the rest of the store: for hooks, which have 150 ms of CPU.

An engine costs more than that to load. Every rule of a store holds: its lock, its keys, redaction, one transaction for
each change, and what another program has in hand stays with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from hexad.config import DATABASE, Settings, load_settings
from hexad.core.actor import parse_actor
from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.database.connection import Database
from hexad.database.encryption.cipher import MEMORY_DB, StoreKeys
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.leases import OpenLock
from hexad.database.meta import KEY_FILE, Meta
from hexad.database.migrations import SCHEMA_VERSION, hold_to, newest
from hexad.database.sqlite_setup import refuse_lost_store
from hexad.errors import IntegrityError
from hexad.ingest.sources.checkout import Workplace, checkout
from hexad.layers.session import changes
from hexad.layers.session.changes import Change
from hexad.layers.session.table import WorkingSets
from hexad.layers.session.working_set import NAME_CHARS_LIMIT, Boundary, Edit, SessionTurn, WorkingSet

if TYPE_CHECKING:
    from hexad.memory.memory import Memory

_KEYS: Final = "keys.json"
_TURN_CHARS: Final = 480
_LOCK_WAIT_S: Final = 0.5
# No rule finds a secret in these: values that redaction takes out are longer, or mix letters and digits.
_WORDS: Final = re.compile(
    r"[/._-]*(?:(?:[A-Za-z]{1,15}[0-9]{0,3}|[0-9]{1,6}|[A-Za-z0-9]{1,5})(?:[/._-]+|\Z))*", re.ASCII
)
_LONG: Final = re.compile(r"[\w-]{16}|(?<![\w.-])(?=[\w.-]{24})[\w.-]*[0-9]")
"""A word that may be a token, alone or, with digits, joined by dots: `AAAg000.AAAAAAA.AAAAAAAAAA`."""
_DIGITS_LIMIT: Final = 8
_STANDING: Final[tuple[tuple[dict[str, Any], int], ...]] = (
    ({"pinned": True}, 5),
    ({"kinds": ("decision",)}, 4),
    ({"kinds": ("convention",)}, 4),
)


class SessionCapture:
    """The working set of one folder in an open store."""

    def __init__(
        self,
        db: Database,
        folder: Path,
        *,
        clock: Clock,
        ids: IdSource,
        mask: Callable[[str], str],
        alive: Callable[[], Sequence[str]],
        roles: tuple[str, ...] | None,
    ) -> None:
        """`mask` takes secrets out of a text; `roles` are those as which memories are read, None the owner."""
        self._sets = WorkingSets(db, alive=alive)
        self._db, self._roles = db, roles
        self._clock, self._ids, self._mask = clock, ids, mask
        where = checkout(folder)
        self._root = where.folder
        self._place = Workplace(
            repository=mask(where.place.repository),
            worktree=mask(where.place.worktree),
            branch=None if where.place.branch is None else mask(where.place.branch),
        )

    def current(self) -> WorkingSet | None:
        """Return what is being worked on here, by whomever, or was left last; None for nothing."""
        working_sets = self._sets.latest(self._place)
        return next((each for each in working_sets if not each.is_empty), next(iter(working_sets), None))

    def standing_memories(self) -> list[Memory]:
        """Return what holds whatever the task is: pinned memories, and the newest decisions and conventions."""
        table = import_module("hexad.memory.tables.memories").Memories(self._db, roles=self._roles)
        filters = import_module("hexad.memory.query").Filters
        numbers: dict[int, None] = {}
        for chosen, limit in _STANDING:
            numbers |= dict.fromkeys(table.numbers(filters(**chosen), order="created", limit=limit))
        memories: dict[int, Memory] = table.by_no(numbers)
        return [memories[no] for no in numbers if no in memories]

    def record_edits(self, paths: Sequence[str]) -> WorkingSet | None:
        """Note that files were changed, durably; what was noted last is not noted again at once."""
        there, now = self.current(), self._clock.now()
        last = there.edits[-1].path if there is not None and there.edits else None
        names = [
            name for path in dict.fromkeys(paths) if (name := self._name(path)) is not None and name != last
        ]
        edits = [changes.add_edit(Edit(path=name, at=now)) for name in names]
        return self._save(there, edits, now) if edits else there

    def add_turns(self, turns: Sequence[tuple[str, str, datetime]]) -> WorkingSet | None:
        """Note what was said since the last turn, durably: role, text and time of each."""
        there, now = self.current(), self._clock.now()
        since = there.turns[-1].at if there is not None and there.turns else None
        conversation = import_module("hexad.layers.session.conversation")
        shorten = import_module("hexad.text.summary.summarize").compressed
        new = [
            conversation.add_turn(
                SessionTurn(
                    role=role, text=shorten(self._mask(text), limit=_TURN_CHARS), characters=len(text), at=at
                )
            )
            for role, text, at in turns
            if since is None or at > since
        ]
        return self._save(there, new, now) if new else there

    def rest(self) -> None:
        """Say that nobody works on it now; the next one is offered to go on with it."""
        there = self.current()
        if there is not None and not there.active and there.boundary is None:
            self._sets.save(changes.rest(Boundary.EXIT)(there), [changes.rest(Boundary.EXIT)], owner=None)

    def _save(self, there: WorkingSet | None, steps: Sequence[Change], now: datetime) -> WorkingSet:
        def change(working_set: WorkingSet) -> WorkingSet:
            for step in steps:
                working_set = step(working_set)
            return changes.wake(working_set)

        made = changes.at(now, change)
        if there is None:
            with self._db.transaction():  # two that begin at once go on with one
                there = self.current()
                if there is None:
                    new = WorkingSet(
                        id=self._ids.new("session"), place=self._place, started_at=now, updated_at=now
                    )
                    return self._sets.add(made(new), owner=None)
        return self._sets.save(made(there), [made], owner=None, guest=there.active)

    def _name(self, path: str) -> str | None:
        """Return a file's path in its worktree, without secrets; None for what no session keeps."""
        if not path.strip() or not path.isprintable() or len(path) > NAME_CHARS_LIMIT:
            return None
        pure_path = PurePath(os.path.normpath(self._root / path))
        if not pure_path.is_relative_to(self._root):
            try:
                pure_path = Path(pure_path).resolve()
            except (OSError, RuntimeError):
                return None
        if not pure_path.is_relative_to(self._root):
            return None  # not of this work: a scratch file, or the client's own
        return self._mask(pure_path.relative_to(self._root).as_posix())


@contextmanager
def open_session(
    directory: Path, folder: Path, *, clock: Clock, ids: IdSource, readonly: bool = False
) -> Iterator[SessionCapture]:
    """Open the store in `directory` for the working set of `folder`, and close it at the end of the block.

    Raises what `hexad.open` raises, `IntegrityError` for a store whose schema is not this version's.
    """
    settings = load_settings(directory)
    refuse_lost_store(directory / DATABASE)
    lock = OpenLock(directory, clock=clock, purpose="hook", wait_s=_LOCK_WAIT_S)
    try:
        crypt = _keys(directory, settings)
        db = Database.open(
            directory / DATABASE,
            clock=clock,
            readonly=readonly,
            lock_timeout_s=min(settings.lock_timeout_s, _LOCK_WAIT_S),
            key=None if crypt is None else crypt.derive(MEMORY_DB),
        )
        try:
            if newest(db) != SCHEMA_VERSION:
                raise IntegrityError(
                    f"The schema of {directory} is not this version's; `hexad check` brings it up."
                )
            hold_to(db, SCHEMA_VERSION)
            keys = KeyStore(directory / _KEYS, crypt=crypt, known=lambda: Meta(db).get(KEY_FILE))
            yield SessionCapture(
                db,
                folder,
                clock=clock,
                ids=ids,
                mask=_masking(settings, keys),
                alive=lock.alive,
                roles=None if settings.role is None else parse_actor({"role": settings.role}).roles,
            )
        finally:
            db.close()
    finally:
        lock.close()


def _masking(settings: Settings, keys: KeyStore) -> Callable[[str], str]:
    """Return what takes secrets out of a text; its rules are loaded for the first text that may hold one."""
    rules: list[Callable[[str], str]] = []

    def mask(text: str) -> str:
        if holds_words_alone(text):
            return text
        if not rules:
            made = import_module("hexad.redaction.redact").project_rules(
                settings.pii, env_allow=settings.env_allow
            )
            masking = import_module("hexad.redaction.masking").Masking
            rules.append(masking(salt=lambda: keys.redaction_salt, rules=made).text)
        return rules[0](text)

    return mask


def holds_words_alone(name: str) -> bool:
    """Whether a name is made of words and few digits, so that no rule finds a secret or a person's number in it.

    >>> holds_words_alone("src/shop/cart_2026-11-22.py"), holds_words_alone("notes/token_16C7e42F292c6912E771")
    (True, False)
    """
    words = _WORDS.fullmatch(name) is not None and _LONG.search(name) is None
    return words and sum(map(str.isdigit, name)) <= _DIGITS_LIMIT


def _keys(directory: Path, settings: Settings) -> StoreKeys | None:
    if not (directory / "encryption.json").exists():
        return None
    record = import_module("hexad.database.encryption.record")
    keys: StoreKeys | None = record.unlock(directory, record.KeyGiven.of(None, **settings.key_sources()))
    return keys
