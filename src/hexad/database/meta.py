"""Facts about the store itself: its id, the embedder it was built with, its files, the log of maintenance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump, from_micros, parse, to_micros
from hexad.database.connection import Database
from hexad.errors import IntegrityError

if TYPE_CHECKING:
    from hexad.core.audit_notes import AuditEvent

GO_ON: Final = "To go on without what it held, run `hexad check --accept-losses`."

STORE_ID: Final = "store_id"
PROJECT_NAME: Final = "project"
"""What the project is called, for the views in the file: memories have it, a session's row has not."""
EMBEDDER: Final = "embedder"
EMBEDDING_PAUSED: Final = "embedding_paused"
"""Why vectors wait though an embedder is there: a budget is used up. Empty when none does."""
EMBEDDING_RATE: Final = "embedding_rate"
"""Tokens a second that were embedded when that was last measured."""
SET_CONTRACT: Final = "set_contract"
"""The note that a contract was put in force, with its limits. Older versions noted all of it, as its `DOCUMENT`."""
DOCUMENT: Final = "document"
ARRIVALS: Final = "arrivals"
"""Pairs of a row number and microseconds: from which memory on they came into the store no earlier than when."""
_ARRIVALS_APART: Final = timedelta(days=1)
"""What comes within a day of what came before is not noted again: by so much may it count as older."""
_ARRIVALS_LIMIT: Final = 1_000
LEDGER_KEY: Final = "ledger_key"
"""The identity of the ledger's `audit.key`."""
KEY_FILE: Final = "key_file"
"""The identity of `keys.json`."""
LEDGER_SIZE: Final = "ledger_size"
"""How many records the ledger had when it last took notes from here."""
LEDGER_ROOT: Final = "ledger_root"
"""The same number, and the hash of the tree of these records."""
ACCEPTED: Final = "accept_losses"
ACCEPTED_SEGMENT: Final = "accept_lost_segment"
"""The note that the store goes on without files that are lost."""
_OF_EVERY_STORE: Final = (STORE_ID, PROJECT_NAME, KEY_FILE, "cleaned_free_pages")
_FILE: Final = "file:"
"""Before the path of a file below the store's folder: how long it is at least."""
_LOGS: Final = "stream/log/"
_USER_LAYER: Final = "user_layer:"
"""Before a digest of a place where a user layer was opened from here: its identity."""


class Meta:
    """Small facts by name."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def database(self) -> Database:
        """Where the facts are."""
        return self._db

    def get(self, key: str) -> str | None:
        """Return a fact, or None."""
        row = self._db.query_one("SELECT value FROM meta WHERE key = ?", (key,))
        return row[0] if row else None

    def put(self, key: str, value: str) -> None:
        """Store a fact."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO meta(key, value) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                (key, value),
            )

    def forget(self, key: str) -> None:
        """Take a fact away, where there is one."""
        with self._db.joined() as con:
            con.execute("DELETE FROM meta WHERE key = ?", (key,))

    def update(self, key: str, value: str) -> None:
        """Store a fact, and write nothing where it stands already."""
        if self.get(key) != value:
            self.put(key, value)

    def ensure(self, key: str, value: str) -> str:
        """Store a fact unless there is one; returns the one that stands."""
        stored = self.get(key)
        if stored is not None:
            return stored
        with self._db.joined() as con:
            con.execute("INSERT OR IGNORE INTO meta(key, value) VALUES(?,?)", (key, value))
        return self.get(key) or value

    def note_arrival(self, no: int, *, written: datetime, now: datetime) -> None:
        """Note, in the caller's transaction, that memory `no` came now where it was `written` long before."""
        if now - written < _ARRIVALS_APART:
            return
        arrivals = self.arrivals()
        if arrivals and now - arrivals[-1][1] < _ARRIVALS_APART:
            return
        arrivals.append((no, now))
        self.put(ARRIVALS, dump([[row, to_micros(at)] for row, at in arrivals[-_ARRIVALS_LIMIT:]]))

    def arrivals(self) -> list[tuple[int, datetime]]:
        """Return rows from which on memories came no earlier than a time, by row number."""
        text = self.get(ARRIVALS)
        try:
            return [(int(no), from_micros(at)) for no, at in parse(text or "[]")]
        except (TypeError, ValueError, IntegrityError):
            return []  # damaged: what came is as old as it says

    def note_log(self, name: str, size: int) -> None:
        """Note how long a log of the stream is that nobody writes to any more, in bytes."""
        self.update(f"{_FILE}{_LOGS}{name}", str(size))

    def is_log_noted(self, name: str) -> bool:
        """Whether it is noted how long a log of the stream is."""
        return self.get(f"{_FILE}{_LOGS}{name}") is not None

    def forget_log(self, name: str) -> None:
        """Expect a log of the stream no longer: what it held is in a segment, or it held nothing."""
        with self._db.joined() as con:
            con.execute("DELETE FROM meta WHERE key = ?", (f"{_FILE}{_LOGS}{name}",))

    def user_layer(self, place: str) -> str | None:
        """Return the identity of the user layer that was in a place, None where none was opened there from here."""
        return self.get(f"{_USER_LAYER}{place}")

    def note_user_layer(self, place: str, identity: str | None) -> None:
        """Note which user layer is in a place; None expects none there."""
        with self._db.joined() as con:
            con.execute("DELETE FROM meta WHERE key = ?", (f"{_USER_LAYER}{place}",))
            if identity is not None:
                self.put(f"{_USER_LAYER}{place}", identity)

    def lost_files(self, directory: Path) -> dict[str, str]:
        """Return in words what became of files that are gone or shorter than noted, by their path below `directory`."""
        rows = self._db.query("SELECT key, value FROM meta WHERE key GLOB 'file:*'")
        lost: dict[str, str] = {}
        for key, noted in rows:
            path = directory / key.removeprefix(_FILE)
            try:
                size = path.stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                lost[key.removeprefix(_FILE)] = f"{path} is gone; it had {int(noted):,} bytes."
            else:
                if size < int(noted):
                    lost[key.removeprefix(_FILE)] = f"{path} has {size:,} bytes of {int(noted):,}."
        # Since they were listed, or by a version that notes no files, some may have been sealed.
        return {
            name: f"{words} Put a backup in its place. {GO_ON}"
            for name, words in lost.items()
            if not self._is_retired(name.removeprefix(_LOGS))
        }

    def _is_retired(self, log: str) -> bool:
        return self._db.query_one("SELECT 1 FROM stream_retired_logs WHERE name = ?", (log,)) is not None

    def accept_losses(
        self, directory: Path, *, keys: bool, user_layer: str | None, by: str, at: datetime
    ) -> None:
        """Expect files that are lost no longer, with `keys` no key file, and no user layer in a place; the log of
        maintenance says which, and who accepted it.
        """
        lost = self.lost_files(directory)
        names = [*lost, *(["keys.json"] if keys else []), *(["user.db"] if user_layer is not None else [])]
        with self._db.transaction() as con:
            # The ledger's next notes set them again.
            con.execute("DELETE FROM meta WHERE key IN (?, ?)", (LEDGER_SIZE, LEDGER_ROOT))
        if not names:
            return
        with self._db.transaction() as con:
            for name in lost:
                con.execute("DELETE FROM meta WHERE key = ?", (f"{_FILE}{name}",))
            if keys:
                con.execute("DELETE FROM meta WHERE key = ?", (KEY_FILE,))
            if user_layer is not None:
                self.note_user_layer(user_layer, None)
            self.log(ACCEPTED, {"by": by, "files": list(names)}, at=at)

    def recorded_embedder(self) -> tuple[str, int] | None:
        """Return name and dimensions of the embedder that the store's vectors are from."""
        text = self.get(EMBEDDER)
        if text is None:
            return None
        recorded = parse(text)
        try:
            return str(recorded["name"]), int(recorded["dimensions"])
        except (KeyError, TypeError, ValueError) as error:
            raise IntegrityError(
                f"The store's note of its embedder is damaged: {text[:120]!r}. `hexad reindex --embedder SPEC` "
                "writes it anew."
            ) from error

    def has_windows_to_settle(self, at: datetime) -> bool:
        """Whether there is a window whose grace is over, or one that was let go and is not noted as COLD."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM time_windows WHERE fidelity = 'warm' AND grace_until <= ?)"
            " OR EXISTS (SELECT 1 FROM time_windows WHERE fidelity IN ('hot', 'cold') AND compression_level = 0)",
            (to_micros(at),),
        )
        return row is not None and bool(row[0])

    def record_embedder(self, name: str, dimensions: int, *, replace: bool) -> None:
        """Note the embedder of a store that has none yet, or another one when `replace` is set."""
        text = dump({"name": name, "dimensions": dimensions})
        if replace:
            self.put(EMBEDDER, text)
        else:
            self.ensure(EMBEDDER, text)

    def sqlite_version(self) -> str:
        """Return the version of the SQLite library in use."""
        row = self._db.query_one("SELECT sqlite_version()")
        return row[0] if row else ""

    def has_cold(self) -> bool:
        """Whether there is any experience that was compressed, or compacted."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM compressed_records) OR EXISTS (SELECT 1 FROM compaction_records)"
        )
        return row is not None and bool(row[0])

    def has_experience(self) -> bool:
        """Whether there is anything recorded, or any document, or what is left of a removed one."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM sessions) OR EXISTS (SELECT 1 FROM documents)"
            " OR EXISTS (SELECT 1 FROM removed_documents) OR EXISTS (SELECT 1 FROM tag_applications)"
            " OR EXISTS (SELECT 1 FROM comments)"
        )
        return row is not None and bool(row[0])

    def has_sessions(self) -> bool:
        """Whether anybody said what is being worked on, or recorded anything."""
        row = self._db.query_one("SELECT EXISTS (SELECT 1 FROM working_sets)")
        return (row is not None and bool(row[0])) or self.has_experience()

    def has_feedback(self) -> bool:
        """Whether anything was said of answers; where that cannot be read, whoever asks for it says so."""
        try:
            row = self._db.query_one("SELECT EXISTS (SELECT 1 FROM feedback)")
        except IntegrityError:
            return True
        return row is not None and bool(row[0])

    def has_erasures_to_finish(self) -> bool:
        """Whether an erasure was begun and not finished, or something of one waits."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM erasures WHERE selection IS NOT NULL)"
            " OR EXISTS (SELECT 1 FROM erasure_pending)"
        )
        return row is not None and bool(row[0])

    def log(self, what: str, detail: Mapping[str, JSONValue], *, at: datetime) -> None:
        """Note something that maintenance did; the audit ledger imports these rows when it is there."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO maintenance_log(at, what, detail) VALUES(?,?,?)",
                (to_micros(at), what, dump(detail)),
            )

    def remove_from_log(self, what: str, path: str) -> None:
        """Take one field, by its JSON path, out of all notes of a kind."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE maintenance_log SET detail = json_remove(detail, ?) "
                "WHERE what = ? AND json_type(detail, ?) IS NOT NULL",
                (path, what, path),
            )

    def logged_after(
        self, no: int, *, limit: int
    ) -> list[tuple[int, datetime, str, Mapping[str, JSONValue]]]:
        """Return the notes of maintenance after row `no`, the oldest first: what the ledger has yet to take."""
        rows = self._db.query(
            "SELECT no, at, what, detail FROM maintenance_log WHERE no > ? ORDER BY no LIMIT ?", (no, limit)
        )
        return [(row, from_micros(at), what, parse(detail)) for row, at, what, detail in rows]

    def logged(self, *, limit: int) -> list[tuple[datetime, str, Mapping[str, JSONValue]]]:
        """Return the newest notes of maintenance."""
        rows = self._db.query(
            "SELECT at, what, detail FROM maintenance_log ORDER BY no DESC LIMIT ?", (limit,)
        )
        return [(from_micros(at), what, parse(detail)) for at, what, detail in rows]

    def logged_as(self, what: str) -> list[tuple[datetime, Mapping[str, Any]]]:
        """Return the notes of maintenance of one kind, the oldest first."""
        rows = self._db.query("SELECT at, detail FROM maintenance_log WHERE what = ? ORDER BY no", (what,))
        return [(from_micros(at), parse(detail)) for at, detail in rows]


def is_unused(db: Database) -> bool:
    """Whether there is nothing in a store's database but its tables, and what every new one has."""
    with db.read() as con:
        tables = con.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
            "AND name NOT IN ('meta', 'schema_migrations') AND name NOT GLOB 'sqlite_*'"
        ).fetchall()
        if any(con.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for (name,) in tables):
            return False
        return {key for (key,) in con.execute("SELECT key FROM meta")} <= {*_OF_EVERY_STORE}


class MaintenanceLog:
    """Implements `AuditSink`: rows of `maintenance_log`, each with who did it, from where the ledger takes them.

    A record joins the transaction around it, so that it is there exactly when the work is; the ledger is a file of
    its own, and no transaction spans both.
    """

    def __init__(self, meta: Meta, *, actor: str) -> None:
        self._meta = meta
        self._actor = actor

    def record(self, event: AuditEvent) -> None:
        """Keep `event` for good."""
        self._meta.log(event.what, {"by": self._actor, **event.detail}, at=event.at)
