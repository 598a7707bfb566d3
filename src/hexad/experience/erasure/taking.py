"""One transaction of an erasure: everything that tells of the chosen ticks goes, or is made again without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hexad.core.erasure import ErasureBook
from hexad.core.ids import IdSource
from hexad.core.tick_ranges import Ranges, count, difference, intersection
from hexad.database.codec import from_micros
from hexad.database.connection import Database
from hexad.experience.erasure.choice import Choice, ChosenSession
from hexad.experience.erasure.rows import ColdRow, StreamErasureRows
from hexad.experience.erasure.targets import ErasedTargets, Targeted
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import Compressed
from hexad.experience.tables.submissions import Submissions
from hexad.experience.tables.tags import Tags
from hexad.experience.values.tags import BudStatus
from hexad.experience.values.tiers import SubmissionStatus

ROWS: Final = "timesteps"
RECORDS: Final = "COLD records"
EMPTIED: Final = "COLD records left without texts"
COMPACTIONS: Final = "compactions"
APPLICATIONS: Final = "tag applications"
NOTES: Final = "notes of tag applications"
COMMENTS: Final = "comments"
WINDOWS: Final = "windows"
SUBMISSIONS: Final = "submissions"
SESSIONS: Final = "sessions"
FILES: Final = "files of the stream"
PACKAGES: Final = "evidence packages"

GONE: Final = "Part of what this told of was erased; of the rest only how much it was is left."
"""The summary of what stood for erased timesteps and others, which cannot be told apart any more."""
_NOT_YET: Final = "not done yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What was looked up in the stream before the transaction: tokens that windows keep, ticks of tagged events."""

    tokens: Mapping[int, int]
    events: Mapping[str, Mapping[str, Ranges]]


class Taking:
    """Takes a choice out of the store, in the caller's transaction. `shortened` makes one text of several, in at most
    so many tokens, and says how many it has.
    """  # fmt: skip

    def __init__(
        self,
        db: Database,
        *,
        ids: IdSource,
        shortened: Callable[[Sequence[str], int], tuple[str, int]],
        key: Callable[[], bytes],
    ) -> None:
        self._db, self._ids, self._shortened = db, ids, shortened
        self._rows, self._targets = StreamErasureRows(db, key=key), ErasedTargets(db)
        self._gone, self._compressed = ColdRanges(db), Compressed(db)
        self._submissions, self._tags = Submissions(db), Tags(db)

    def take(self, choice: Choice, prepared: Prepared, book: ErasureBook) -> None:
        """Take all of it, and note what went."""
        told: set[str] = set()
        for session in choice.sessions:
            told.update(self._rows.remembered(session.id, None if session.whole else session.touched))
            self._gone.erase(session.number, session.ticks)
            book.erased(ROWS, count(session.live))
            book.erased(RECORDS, self._compressed.delete([reply.no for reply in session.replies]))
            told |= self._take_compactions(session, book)
            self._take_targets(session, prepared, book)
            self._take_windows(session, prepared, book)
        told |= self._take_records(choice, book)
        for session in choice.sessions:
            if session.whole:
                book.on_ledger(session=session.id)
                self._rows.empty_session(session.number, erasure=book.id, at=book.at)
                book.erased(SESSIONS, 1)
            elif session.ticks:
                book.on_ledger(session=session.id, ticks=session.ticks)
        if told or choice.times:
            times = choice.times and (from_micros(choice.times[0]), from_micros(choice.times[1]))
            book.memories_of(sorted(told), times=times)
        touched = [session.number for session in choice.sessions if session.ticks]
        if touched:
            book.pending(FILES, _NOT_YET, {"sessions": list[object](touched)})  # type: ignore[dict-item]

    # COLD records -----------------------------------------------------------------------------------------------

    def _take_records(self, choice: Choice, book: ErasureBook) -> set[str]:
        book.erased(RECORDS, self._compressed.delete([row.no for row in choice.removed]))
        known = {row.no: row for row in choice.emptied}
        for no, timesteps in choice.recounts.items():
            if no not in known:
                old = self._compressed.by_numbers([no])[no]
                tokens = old.token_count * timesteps // max(old.timesteps, 1)
                self._rows.recount(no, timesteps=timesteps, tokens=tokens)
        whole = {session.number for session in choice.sessions if session.whole}
        for row in choice.emptied:
            self._empty(row, choice.recounts.get(row.no, row.timesteps), whole)
        book.erased(EMPTIED, len(choice.emptied))
        return {row.id for row in (*choice.removed, *choice.emptied)}

    def _empty(self, row: ColdRow, timesteps: int, whole: set[int]) -> None:
        """Put a record without texts in the place of one; another one, so that whoever has read it starts anew."""
        record = self._compressed.by_numbers([row.no])[row.no]
        emptied = replace(
            record,
            id=self._ids.new(f"compressed-{record.level.name}"),
            summary=GONE,
            top_k_activations={},
            peaks={},
            significant_tags=(),
            source_record_ids=(),
            timesteps=timesteps,
            token_count=record.token_count * timesteps // max(record.timesteps, 1),
        )
        self._compressed.delete([row.no])
        self._compressed.add(emptied, sessions=[session for session in row.sessions if session not in whole])

    # Compactions ------------------------------------------------------------------------------------------------

    def _take_compactions(self, session: ChosenSession, book: ErasureBook) -> set[str]:
        """Remove the compactions that tell of what goes, or make them of the replies that stay."""
        told: set[str] = set()
        gone: list[int] = []
        ticks = session.touched
        kept = self._gone.cold(session.number)
        replies = self._rows.replies(session.number)
        for compaction in self._rows.compactions(session.number):
            if not (session.whole or intersection(ticks, [compaction.ticks])):
                continue
            told.add(compaction.id)
            if session.whole or not intersection(kept, [compaction.ticks]):
                gone.append(compaction.no)
                continue
            left = [reply.no for reply in replies if intersection(reply.ticks, [compaction.ticks])]
            texts = [text for text in self._rows.summaries_of(left) if text != GONE]
            most = max(len(compaction.summary) // 4, 1)
            summary, tokens = self._shortened(texts, most) if texts else self._shortened([GONE], len(GONE))
            self._rows.remake_compaction(
                compaction.no, id=self._ids.new("compaction"), summary=summary, tokens=tokens
            )
        self._rows.remove_compactions(gone)
        book.erased(COMPACTIONS, len(told))
        self._make_context(session)
        return told

    def _make_context(self, session: ChosenSession) -> None:
        """Make the summary in a session's window of what its compactions tell by now, if it tells of what goes."""
        through, summary, tokens = self._rows.context(session.number)
        if not summary or not (session.whole or intersection(session.touched, [(0, through)])):
            return
        texts = [row.summary for row in self._rows.compactions(session.number) if row.summary != GONE]
        self._rows.put_context(session.number, *(self._shortened(texts, tokens) if texts else ("", 0)))

    # Windows ----------------------------------------------------------------------------------------------------

    def _take_windows(self, session: ChosenSession, prepared: Prepared, book: ErasureBook) -> None:
        """Remove windows of which nothing stays, and let others be of what does."""
        gone: list[int] = []
        touched: list[int] = []
        for no, ticks in self._targets.windows(session.number):
            if not (session.whole or intersection(session.touched, [ticks])):
                continue
            touched.append(no)
            kept = intersection(session.rest, [ticks])
            if kept:
                self._targets.narrow_window(no, (kept[0][0], kept[-1][1]), tokens=prepared.tokens.get(no, 0))
            else:
                gone.append(no)
        for submission in self._targets.submissions_of(touched):
            book.pending(PACKAGES, _NOT_YET, {"submission": submission})
        count_, ended = self._targets.remove_windows(gone)
        book.erased(WINDOWS, count_)
        book.erased(SUBMISSIONS, len(ended))
        for _, bud_id in ended:
            bud = self._tags.get(bud_id)
            waiting = self._submissions.find(status=SubmissionStatus.OPEN, bud_tag_id=bud_id)
            if bud is not None and bud.bud_status is BudStatus.TRAINING and not waiting:
                self._tags.set_bud_status(bud_id, BudStatus.COLLECTING)

    # Tags and comments ------------------------------------------------------------------------------------------

    def _take_targets(self, session: ChosenSession, prepared: Prepared, book: ErasureBook) -> None:
        """Remove tag applications on what goes, and comments that touch it; an application that stays in part is of
        what stays, and its note goes: nobody can tell what that is about.
        """  # fmt: skip
        if session.whole:
            applications, comments = self._targets.of_session(session.id)
            book.erased(APPLICATIONS, self._targets.remove_applications(applications))
            book.erased(COMMENTS, self._targets.remove_comments(comments))
            return
        if not session.touched:
            return
        hull = (session.touched[0][0], session.touched[-1][1])
        events = prepared.events.get(session.id, {})
        gone: list[int] = []
        narrowed: dict[int, tuple[int, int] | None] = {}
        notes = 0
        for target in self._targets.applications(session.id, hull):
            hit, kept = _parts(target, session, events)
            if hit and not kept:
                gone.append(target.no)
            elif hit:
                new = (kept[0][0], kept[-1][1]) if target.ticks else None
                if target.said or new != target.ticks:
                    narrowed[target.no] = new
                    notes += target.said
        book.erased(APPLICATIONS, self._targets.remove_applications(gone))
        self._targets.narrow_applications(narrowed)
        book.erased(NOTES, notes)
        said = [
            target.no
            for target in self._targets.comments(session.id, hull)
            if _parts(target, session, events)[0]
        ]
        book.erased(COMMENTS, self._targets.remove_comments(said))


def _parts(target: Targeted, session: ChosenSession, events: Mapping[str, Ranges]) -> tuple[Ranges, Ranges]:
    """Return which of a target's ticks go, and which stay or may still come."""
    if target.ticks is not None:
        return intersection(session.touched, [target.ticks]), intersection(session.rest, [target.ticks])
    ticks = events.get(target.event_id or "", ())
    return intersection(session.touched, ticks), difference(ticks, session.ticks)
