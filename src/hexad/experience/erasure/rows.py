"""The rows that stand for experience and that an erasure takes: sessions, COLD records, compactions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.erasure import ErasureBook, Selection, masked_item
from hexad.core.json_types import JSONValue
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database import files
from hexad.database.change_counters import bump
from hexad.database.codec import dump, parse, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.experience.documents import unlink_copy
from hexad.experience.values.documents import FOLDERS, DocumentType
from hexad.experience.values.levels import CompressionLevel
from hexad.text.normalize import slug

_REPLY: Final = int(CompressionLevel.REPLY)
_MADE_BY: Final = "caller:experience"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdRow:
    """A COLD record without its texts. `sessions` are those that it covers; `ticks` are known of a reply only."""

    no: int
    id: str
    level: CompressionLevel
    times: tuple[int, int]
    ticks: Ranges
    tags: frozenset[str]
    timesteps: int
    tokens: int
    sessions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRange:
    """A compaction of a session, by the ticks that it summarises."""

    no: int
    id: str
    ticks: tuple[int, int]
    summary: str


class StreamErasureRows:
    """Looks for rows that tell of ticks, and takes them away in the caller's transaction."""

    def __init__(self, db: Database, *, key: Callable[[], bytes]) -> None:
        self._db, self._key = db, key

    # Sessions ---------------------------------------------------------------------------------------------------

    def sessions(
        self,
        *,
        session_id: str | None,
        subject: str | None,
        without: tuple[int, int],
        among: tuple[Collection[str], Collection[int]] | None,
    ) -> dict[int, str]:
        """Return the sessions of an id and a subject, or all, but those that were begun in a time: ids by number.

        With `among` only those with these ids or numbers.

        Those that were erased are among them: a program that had one open may have recorded to it since.
        """
        any_erased = self._db.query_one("SELECT 1 FROM erased_sessions LIMIT 1") is not None
        masked = self._pseudonyms(session_id, subject) if any_erased else (None, None)
        # Most sessions that there ever were may be erased: what is named is looked up, not looked for.
        named = (
            "no IN (SELECT no FROM sessions WHERE id = :id"
            " UNION ALL SELECT session_no FROM session_subjects WHERE subject = :masked_id)"
        )
        theirs = (
            "no IN (SELECT session_no FROM session_subjects WHERE subject IN (:subject, :masked_subject))"
        )
        listed = (
            "no IN (SELECT no FROM sessions WHERE id IN (SELECT value FROM json_each(:ids))"
            " UNION ALL SELECT value FROM json_each(:numbers))"
        )
        ids, numbers = among or ((), ())
        where = [
            *([] if session_id is None else [named]),
            *([] if subject is None else [theirs]),
            *([] if among is None else [listed]),
            "NOT (created_at > :since AND created_at <= :until)",
        ]
        rows = self._db.query(
            f"SELECT no, id FROM sessions WHERE {' AND '.join(where)} ORDER BY no",
            {
                "id": session_id,
                "subject": subject,
                "masked_id": masked[0],
                "masked_subject": masked[1],
                "since": without[0],
                "until": without[1],
                "ids": dump(sorted(ids)),
                "numbers": dump(sorted(numbers)),
            },
        )
        return dict(rows)

    def erased_sessions(self, sessions: Collection[int]) -> set[int]:
        """Return which of these sessions were erased as a whole."""
        rows = self._db.query(
            "SELECT session_no FROM erased_sessions WHERE session_no IN (SELECT value FROM json_each(?))",
            (dump(sorted(sessions)),),
        )
        return {row[0] for row in rows}

    def _pseudonyms(self, session_id: str | None, subject: str | None) -> tuple[str | None, str | None]:
        """Return what stands for the names of an erased session; nobody without the key can tell which they were."""
        key = self._key()
        return (
            None if session_id is None else masked_item(key, f"session {session_id}"),
            None if subject is None else masked_item(key, f"subject {subject}"),
        )

    def next_ticks(self, sessions: Collection[int]) -> dict[int, int]:
        """Return the first tick that nobody has reserved, by session."""
        rows = self._db.query(
            "SELECT no, next_tick FROM sessions WHERE no IN (SELECT value FROM json_each(?))",
            (dump(sorted(sessions)),),
        )
        return dict(rows)

    def empty_session(self, session: int, *, erasure: str, at: datetime) -> None:
        """Leave nothing of a session but its number, how many ticks it had, and keyed hashes of its names.

        By those it is found where a program that had it open goes on recording to it.
        """
        with self._db.joined() as con:
            rows = con.execute(
                "SELECT id, (SELECT json_group_array(subject) FROM session_subjects WHERE session_no = no)"
                " FROM sessions WHERE no = ? AND no NOT IN (SELECT session_no FROM erased_sessions)",
                (session,),
            ).fetchall()
            for name, subjects in rows:
                con.execute("DELETE FROM session_subjects WHERE session_no = ?", (session,))
                masked = [self._pseudonyms(None, str(subject))[1] for subject in parse(subjects)]
                masked.append(self._pseudonyms(name, None)[0])
                con.executemany(
                    "INSERT INTO session_subjects VALUES(?, ?)", [(session, subject) for subject in masked]
                )
            con.execute(
                "UPDATE sessions SET id = ?1, created_at = ?2, ended_at = ?2, auto_compact = 0,"
                " context_summary = '', context_summary_tokens = 0 WHERE no = ?3",
                (f"erased-{session}-{erasure}", to_micros(at), session),
            )
            con.execute("INSERT OR IGNORE INTO erased_sessions VALUES(?, ?)", (session, erasure))

    def context(self, session: int) -> tuple[int, str, int]:
        """Return up to which tick a session was compacted, the summary in its window, and how many tokens that has."""
        row = self._db.query_one(
            "SELECT compacted_through, context_summary, context_summary_tokens FROM sessions WHERE no = ?",
            (session,),
        )
        assert row is not None
        return row

    def put_context(self, session: int, summary: str, tokens: int) -> None:
        """Give a session's window another summary."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE sessions SET context_summary = ?, context_summary_tokens = ? WHERE no = ?",
                (summary, tokens, session),
            )

    # COLD records -----------------------------------------------------------------------------------------------

    def replies(self, session: int) -> list[ColdRow]:
        """Return the replies of a session, by tick."""
        return self._cold(f"r.level = {_REPLY} AND r.session_no = ? ORDER BY r.first_tick, r.no", (session,))

    def coarse(self, sessions: Collection[int]) -> list[ColdRow]:
        """Return the records of a session or more that cover any of these sessions, the oldest first."""
        return self._cold(
            f"r.level > {_REPLY} AND (r.session_no IN (SELECT value FROM json_each(?1)) OR r.no IN"
            " (SELECT record_no FROM compressed_record_sessions WHERE session_no IN (SELECT value FROM json_each(?1))))"
            " ORDER BY r.start_at, r.no",
            (dump(sorted(sessions)),),
        )

    def other_coarse(self, without: Collection[int]) -> list[ColdRow]:
        """Return all records of a session or more but these, the largest first."""
        return self._cold(
            f"r.level > {_REPLY} AND r.no NOT IN (SELECT value FROM json_each(?)) ORDER BY r.timesteps DESC, r.no",
            (dump(sorted(without)),),
        )

    def _cold(self, where: str, params: tuple[SQLValue, ...]) -> list[ColdRow]:
        rows = self._db.query(
            "SELECT r.no, r.id, r.level, r.start_at, r.end_at, r.sources, r.significant_tags, r.timesteps,"
            " r.token_count, r.session_no, (SELECT json_group_array(x.session_no) FROM compressed_record_sessions x"
            f" WHERE x.record_no = r.no) FROM compressed_records r WHERE {where}",
            params,
        )
        return [_cold_row(row) for row in rows]

    def tagged_records(self, tag_ids: Collection[str]) -> list[int]:
        """Return the sessions that COLD records with any of these tags cover."""
        rows = self._db.query(
            "SELECT DISTINCT coalesce(x.session_no, r.session_no) FROM compressed_records r"
            " LEFT JOIN compressed_record_sessions x ON x.record_no = r.no WHERE EXISTS (SELECT 1 FROM"
            " json_each(r.significant_tags) t WHERE t.value IN (SELECT value FROM json_each(?)))",
            (dump(sorted(tag_ids)),),
        )
        return [row[0] for row in rows if row[0] is not None]

    def recount(self, record: int, *, timesteps: int, tokens: int) -> None:
        """Let a record stand for another number of timesteps and tokens."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE compressed_records SET timesteps = ?, token_count = ? WHERE no = ?",
                (timesteps, tokens, record),
            )

    # Compactions ------------------------------------------------------------------------------------------------

    def compactions(self, session: int) -> list[CompactionRange]:
        """Return the compactions of a session, by tick."""
        rows = self._db.query(
            "SELECT no, id, range_start, range_end, summary FROM compaction_records WHERE session_no = ?"
            " ORDER BY range_start, no",
            (session,),
        )
        return [
            CompactionRange(
                no=no,
                id=name,
                ticks=(first, last),
                summary=summary,
            )
            for no, name, first, last, summary in rows
        ]

    def remove_compactions(self, numbers: Collection[int]) -> int:
        """Remove compactions; returns how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM compaction_records WHERE no IN (SELECT value FROM json_each(?))",
                (dump(sorted(numbers)),),
            )
            return con.changes

    def remake_compaction(self, number: int, *, id: str, summary: str, tokens: int) -> None:
        """Put a compaction with another id and summary, and without concepts, in the place of one."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO compaction_records(id, session_no, at, range_start, range_end, timesteps, tokens_before,"
                " tokens_after, summary, concept_tags, top_k_activations, trigger, result_level, generated_by)"
                " SELECT ?1, session_no, at, range_start, range_end, timesteps, tokens_before, ?2, ?3, '[]', '{}',"
                " trigger, result_level, 'local' FROM compaction_records WHERE no = ?4",
                (id, tokens, summary, number),
            )
            con.execute("DELETE FROM compaction_records WHERE no = ?", (number,))

    def summaries_of(self, records: Collection[int]) -> list[str]:
        """Return the summaries of COLD records, by tick and time."""
        rows = self._db.query(
            "SELECT summary FROM compressed_records WHERE no IN (SELECT value FROM json_each(?))"
            " ORDER BY first_tick, start_at, no",
            (dump(sorted(records)),),
        )
        return [row[0] for row in rows]

    def remembered(self, session_id: str, ticks: Ranges | None) -> list[str]:
        """Return the source ids of memories that tell of a session's ticks, or of all of it: compactions' and records'.

        Of a record that is no more nobody knows of which ticks it told.
        """
        rows = self._db.query(
            "SELECT m.source_id, m.metadata ->> '$.range_start', m.metadata ->> '$.range_end',"
            " EXISTS (SELECT 1 FROM compressed_records r WHERE r.id = m.source_id) FROM memories m"
            " WHERE m.source_no IN (SELECT no FROM sources WHERE uri = ?) AND m.metadata ->> '$.session' = ?",
            (_MADE_BY, session_id),
        )
        return [
            name
            for name, first, last, there in rows
            if ticks is None
            or (first is not None and intersection(ticks, [(int(first), int(last or first))]))
            or (first is None and not there)
        ]

    # Whether it is as it was ------------------------------------------------------------------------------------

    def state(self, sessions: Collection[int], left: Callable[[int], Ranges]) -> object:
        """Return what changes when a compaction, a compression or a window came in between; `left` says which ticks
        of a session left the stream.
        """  # fmt: skip
        listed = (dump(sorted(sessions)),)
        with self._db.read():
            return (
                [(session, left(session)) for session in sorted(sessions)],
                [(row.no, row.timesteps) for row in self.coarse(sessions)],
                self._db.query(
                    "SELECT no FROM compressed_records WHERE session_no IN (SELECT value FROM json_each(?))"
                    " ORDER BY no",
                    listed,
                ),
                self._db.query(
                    "SELECT no, compacted_through, context_summary FROM sessions WHERE no IN"
                    " (SELECT value FROM json_each(?)) ORDER BY no",
                    listed,
                ),
                self._db.query(
                    "SELECT no, first_tick, last_tick FROM time_windows WHERE session_no IN"
                    " (SELECT value FROM json_each(?)) ORDER BY no",
                    listed,
                ),
            )


def _cold_row(row: Row) -> ColdRow:
    level = CompressionLevel(row[2])
    sources = parse(row[5])
    covered: Sequence[int] = [row[9]] if row[9] is not None else parse(row[10])
    ticks = (
        union((int(first), int(last)) for first, last in sources) if level is CompressionLevel.REPLY else ()
    )
    return ColdRow(
        no=row[0],
        id=row[1],
        level=level,
        times=(row[3], row[4]),
        ticks=ticks,
        tags=frozenset(str(tag) for tag in parse(row[6])),
        timesteps=row[7],
        tokens=row[8],
        sessions=tuple(covered),
    )


_TARGETED: Final = ("tag_applications", "comments")


@dataclass(frozen=True, slots=True)
class ErasedTarget:
    """A tag application or a comment on ticks, an event, or both; `has_text` says whether it has a text of its own."""

    no: int
    event_id: str | None
    ticks: tuple[int, int] | None
    has_text: bool


class ErasedTargets:
    """Looks for rows that are on ticks, and takes them away in the caller's transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Windows and submissions ------------------------------------------------------------------------------------

    def windows(self, session: int) -> list[tuple[int, tuple[int, int]]]:
        """Return the windows of a session: numbers and ticks."""
        rows = self._db.query(
            "SELECT no, first_tick, last_tick FROM time_windows WHERE session_no = ? ORDER BY no", (session,)
        )
        return [(no, (first, last)) for no, first, last in rows]

    def submissions_of(self, windows: Collection[int]) -> list[str]:
        """Return the submissions that name any of these windows."""
        rows = self._db.query(
            "SELECT DISTINCT s.id FROM window_submissions ws JOIN submissions s ON s.no = ws.submission_no"
            " WHERE ws.window_no IN (SELECT value FROM json_each(?)) ORDER BY s.no",
            (dump(sorted(windows)),),
        )
        return [row[0] for row in rows]

    def remove_windows(self, windows: Collection[int]) -> tuple[int, list[tuple[str, str]]]:
        """Remove windows, and submissions of which no window is left; returns how many windows there were, and the
        ids of these submissions with those of their buds.
        """  # fmt: skip
        listed = (dump(sorted(windows)),)
        with self._db.joined() as con:
            named = con.execute(
                "SELECT DISTINCT submission_no FROM window_submissions WHERE window_no IN"
                " (SELECT value FROM json_each(?))",
                listed,
            ).fetchall()
            con.execute(
                "DELETE FROM window_submissions WHERE window_no IN (SELECT value FROM json_each(?))", listed
            )
            con.execute("DELETE FROM time_windows WHERE no IN (SELECT value FROM json_each(?))", listed)
            count = con.changes
            departed = con.execute(
                "DELETE FROM submissions WHERE no IN (SELECT value FROM json_each(?)) AND NOT EXISTS"
                " (SELECT 1 FROM window_submissions ws WHERE ws.submission_no = no) RETURNING id, bud_tag_id",
                (dump([row[0] for row in named]),),
            ).fetchall()
        return count, departed

    def narrow_window(self, window: int, ticks: tuple[int, int], *, tokens: int) -> None:
        """Let a window be of fewer ticks; what was said of why it is pinned goes."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE time_windows SET first_tick = ?, last_tick = ?, token_count = ?, pinned_reason = NULL"
                " WHERE no = ?",
                (*ticks, tokens, window),
            )

    # Tags and comments ------------------------------------------------------------------------------------------

    def open_events(self, session_id: str) -> list[str]:
        """Return the events of a session that are tagged or commented on without ticks: the stream knows where they
        are.
        """  # fmt: skip
        rows = self._db.query(
            " UNION ".join(
                f"SELECT event_id FROM {table} WHERE session_id = ?1 AND event_id IS NOT NULL AND span IS NULL"
                for table in _TARGETED
            ),
            (session_id,),
        )
        return [row[0] for row in rows]

    def applications(self, session_id: str, hull: tuple[int, int]) -> list[ErasedTarget]:
        """Return the tag applications of a session that share a tick with `hull`, and those on events without ticks."""
        return self._targets_in("tag_applications", "note", session_id, hull)

    def comments(self, session_id: str, hull: tuple[int, int]) -> list[ErasedTarget]:
        """Return what `applications` does, of comments."""
        return self._targets_in("comments", "content", session_id, hull)

    def _targets_in(
        self, table: str, text: str, session_id: str, hull: tuple[int, int]
    ) -> list[ErasedTarget]:
        rows = self._db.query(
            f"SELECT no, event_id, range_start, range_end, {text} IS NOT NULL FROM {table} WHERE session_id = ?"
            " AND (span IS NULL OR (range_start <= ? AND range_end >= ?)) ORDER BY no",
            (session_id, hull[1], hull[0]),
        )
        return [
            ErasedTarget(
                no,
                event,
                None if first is None else (first, last),
                bool(text),
            )
            for no, event, first, last, text in rows
        ]

    def remove_applications(self, numbers: Collection[int]) -> int:
        """Remove tag applications; returns how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM tag_applications WHERE no IN (SELECT value FROM json_each(?))",
                (dump(sorted(numbers)),),
            )
            return con.changes

    def narrow_applications(self, narrowed: Mapping[int, tuple[int, int] | None]) -> None:
        """Let tag applications be of fewer ticks, or of those that they have, and without their notes."""
        with self._db.joined() as con:
            con.executemany(
                "UPDATE tag_applications SET note = NULL, range_start = coalesce(?1, range_start),"
                " range_end = coalesce(?2, range_end), span = CASE WHEN ?1 IS NULL THEN span ELSE ?3 END WHERE no = ?4",
                [
                    (None, None, None, no)
                    if ticks is None
                    else (*ticks, (ticks[1] - ticks[0]).bit_length(), no)
                    for no, ticks in narrowed.items()
                ],
            )

    def remove_comments(self, numbers: Collection[int]) -> int:
        """Remove comments with all that they said; returns how many there were."""
        listed = (dump(sorted(numbers)),)
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM comment_versions WHERE comment_no IN (SELECT value FROM json_each(?))", listed
            )
            con.execute("DELETE FROM comments WHERE no IN (SELECT value FROM json_each(?))", listed)
            return con.changes

    def tags_named(self, name: str) -> list[str]:
        """Return the tags of exactly this name, or of this id."""
        rows = self._db.query("SELECT id FROM tags WHERE name = ?1 OR id = ?1 ORDER BY no", (name,))
        return [row[0] for row in rows]

    def of_session(self, session_id: str) -> tuple[list[int], list[int]]:
        """Return all tag applications and all comments of a session, by number."""
        numbers = [
            [row[0] for row in self._db.query(f"SELECT no FROM {table} WHERE session_id = ?", (session_id,))]
            for table in _TARGETED
        ]
        return numbers[0], numbers[1]


DOCUMENTS: Final = "documents"
COPIES: Final = "working copies of documents"
_NOT_YET: Final = "not done yet"
_OF_SUBJECT: Final = (
    "(:subject IS NULL OR id IN (SELECT document_id FROM document_subjects WHERE subject = :subject))"
)
_KEPT_TAGS: Final = "json_extract(body, '$.document[13]')"
"""Where the tags stand in what `removed_documents` keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDocument:
    """A document that goes; `copy` is where its working copy lies below the folder of documents, None without one."""

    id: str
    copy: str | None


class ErasedDocuments:
    """The documents of one store that a selection names, by their subjects and tags; `directory` has the copies."""

    def __init__(self, db: Database, directory: Path) -> None:
        self._db, self._directory = db, directory

    def _documents_of(self, selection: Selection, through: int) -> list[ChosenDocument]:
        params: dict[str, SQLValue] = {
            "subject": selection.subject,
            "tag": None if selection.tag is None else slug(selection.tag),
            "through": through,
        }
        there = self._db.query(
            f"SELECT id, doc_type, path FROM documents WHERE {_OF_SUBJECT} AND (:tag IS NULL OR no IN"
            " (SELECT document_no FROM document_tags WHERE tag = :tag))"
            " AND created_at <= :through ORDER BY no",
            params,
        )
        removed = self._db.query(
            f"SELECT id FROM removed_documents WHERE {_OF_SUBJECT} AND (:tag IS NULL OR (body IS NOT NULL AND EXISTS"
            f" (SELECT 1 FROM json_each({_KEPT_TAGS}) t WHERE t.value = :tag)))"
            " AND removed_at <= :through ORDER BY no",
            params,
        )
        return [
            *(
                ChosenDocument(
                    id=name,
                    copy=f"{FOLDERS[DocumentType(kind)]}/{path}",
                )
                for name, kind, path in there
            ),
            *(ChosenDocument(id=row[0], copy=None) for row in removed),
        ]

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove what is selected, working copies too, whatever was written into them by hand."""
        # The copies go first: what is left of a document that is gone would be taken for a new one. A document whose
        # copy is missing is whole, and its copy can be written again.
        removed = [
            self._remove(document.copy, trial=book.trial)
            for document in self._documents_of(selection, to_micros(book.at))
            if document.copy
        ]
        with self._db.transaction() as con:
            chosen = self._documents_of(selection, to_micros(book.at))
            ids = (dump([document.id for document in chosen]),)
            among = "IN (SELECT value FROM json_each(?))"
            for table in ("document_versions", "document_tags"):
                con.execute(
                    f"DELETE FROM {table} WHERE document_no IN (SELECT no FROM documents WHERE id {among})",
                    ids,
                )
            con.execute(f"DELETE FROM documents WHERE id {among}", ids)
            con.execute(f"DELETE FROM removed_documents WHERE id {among}", ids)
            con.execute(f"DELETE FROM document_subjects WHERE document_id {among}", ids)
            if chosen:
                bump(con, "documents")
                book.erased(DOCUMENTS, len(chosen))
                book.erased(COPIES, sum(size is not None for size in removed), sum(filter(None, removed)))
            # Another program may have written one again before the document was gone.
            copies: list[JSONValue] = [document.copy for document in chosen if document.copy]
            if copies:
                book.pending(COPIES, _NOT_YET, {"copies": copies})

    def remove_copies(self, work: Mapping[str, JSONValue]) -> None:
        """Remove the working copies that a pending note names, unless another document lies there by now."""
        copies = work["copies"]
        for copy in copies if isinstance(copies, list) else []:
            folder, _, path = str(copy).partition("/")
            taken = self._db.query_one(
                "SELECT 1 FROM documents WHERE path = ? AND doc_type = ?",
                (path, next(kind.value for kind, name in FOLDERS.items() if name == folder)),
            )
            if taken is None:
                self._remove(str(copy))

    def _remove(self, copy: str, *, trial: bool = False) -> int | None:
        """Remove a working copy and folders left empty; returns its bytes, None where there was none.

        In a trial it stays.
        """
        file = self._directory / copy
        if file.parent.is_dir() and not trial:
            files.remove_abandoned(file)
        with files.operation("read", file, "read"):
            size = file.lstat().st_size if file.is_file() or file.is_symlink() else None
        if size is not None and not trial:
            unlink_copy(self._directory, file)
        return size
