"""Submissions: a bud's examples become evidence that stays in full detail until somebody has decided (document 2,
section 4.4).

How a bud moves: with a submission to `training`, unless it is `promoted`; accepted, to `promoted`; rejected, back to
`collecting`, for its evidence did not convince, once no other submission of it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hexad.core.arguments import parse_choice
from hexad.core.tick_ranges import Ranges, difference, intersection
from hexad.database.connection import Database
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.experience.query.totals import RangeTotals
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tags import Tags
from hexad.experience.tables.windows import SubmissionTable
from hexad.experience.tiers.pinning import PinnedWindows
from hexad.experience.values.tags import BudStatus, Tag, TagType
from hexad.experience.values.tiers import Submission, SubmissionStatus, TimeWindow
from hexad.text.paths import folder_problem, space_key

_AT_WORK: Final = (BudStatus.COLLECTING, BudStatus.READY)


class Submissions:
    """Hands buds in and takes the answers. Safe to share between threads and processes."""

    def __init__(
        self,
        db: Database,
        *,
        tiers: PinnedWindows,
        resolve_tag: Callable[[str], Tag | None],
        tagged: Callable[[str], Mapping[str, Ranges]],
        secret_in: Callable[[str], str | None],
    ) -> None:
        """`tagged` says where a tag is: ranges of ticks by session. `secret_in` says by which rule a name holds a
        secret, None where it holds none.
        """  # fmt: skip
        self._db, self._tiers = db, tiers
        self._resolve_tag, self._tagged, self._secret_in = resolve_tag, tagged, secret_in
        self._submissions, self._tags = SubmissionTable(db), Tags(db)
        self._sessions, self._departed = Sessions(db), ColdRanges(db)

    # Handing in -------------------------------------------------------------------------------------------------

    def submit(self, bud: str, submission_id: str) -> Submission:
        """Keep a bud's examples as the evidence of a submission; the same again is the same submission.

        Raises `NotFound`, `InvalidInput` for a tag that is no bud, an id that names no folder, or a bud without an
        example in full detail, `Conflict` for an id that is taken or a bud that was abandoned.
        """
        checked_id = check_submission_id(submission_id)
        rule = self._secret_in(checked_id)
        if rule is not None:  # it becomes the name of a folder
            raise InvalidInput(
                f"submission_id holds what looks like a secret ({rule}); give another one.",
                argument="submission_id",
            )
        tag = self._bud(bud)
        submission = self._same(checked_id, tag)
        if submission is not None:
            return submission
        return self._db.prepare_and_act(
            prepare=lambda _: self._evidence(tag),
            is_current=self._still_so,
            act=lambda evidence: self._submit(tag, checked_id, evidence),
        )

    def _bud(self, name_or_id: str) -> Tag:
        tag = self._resolve_tag(name_or_id)
        if tag is None:
            raise NotFound(
                f"Tag {name_or_id!r} is not there;", remedy="`{get_buds}` lists the buds that there are."
            )
        if tag.tag_type is not TagType.BUD:
            raise InvalidInput(f"Tag {tag.name!r} is no bud;", remedy="`{promote_to_bud}` makes it one.")
        return tag

    def _same(self, submission_id: str, tag: Tag) -> Submission | None:
        submission = self._submissions.get(submission_id)
        if submission is None:
            return None
        if submission.bud_tag_id != tag.id:
            raise Conflict(
                f"Submission {submission_id!r} is there, of the bud {submission.bud_tag_id!r}; give another id."
            )
        if submission.status is not SubmissionStatus.OPEN:
            raise Conflict(
                f"Submission {submission_id!r} was {submission.status.value} already; submit again under another id."
            )
        return submission

    def _evidence(self, tag: Tag) -> list[RangeTotals]:
        """Return what of a tag's ranges is in full detail."""
        left: dict[str, Ranges] = {}
        for session, ranges in self._tagged(tag.id).items():
            number = self._sessions.number(session)
            if number is not None:  # else it is of another store
                left[session] = difference(ranges, self._departed.ranges(number, _hull(ranges)))
        return self._tiers.in_stream(left)

    def _still_so(self, evidence: Sequence[RangeTotals]) -> bool:
        """Whether all of it is in the stream still."""
        ranges: dict[str, list[tuple[int, int]]] = {}
        for totals in evidence:
            ranges.setdefault(totals.session_id, []).append(totals.ticks)
        return not any(
            intersection(self._departed.ranges(self._number(session), _hull(some)), some)
            for session, some in ranges.items()
        )

    def _number(self, session_id: str) -> int:
        self._sessions.get(session_id)
        return self._sessions.number(session_id) or 0

    def _submit(self, tag: Tag, submission_id: str, evidence: Sequence[RangeTotals]) -> Submission:
        submission = self._same(submission_id, tag)  # somebody else may have been first
        if submission is not None:
            return submission
        bud = self._tags.require(tag.id)
        if bud.bud_status is BudStatus.ABANDONED:
            raise Conflict(
                f"The bud {bud.name!r} was abandoned;", remedy="`{update_bud_status}` takes it up again."
            )
        if not evidence:
            raise InvalidInput(
                f"The bud {bud.name!r} has no example in full detail; tag timesteps, events or ranges that have."
            )
        self._check_folder(submission_id)
        numbers = [self._tiers.submit(self._number(totals.session_id), totals) for totals in evidence]
        self._submissions.add(submission_id, bud.id, numbers, at=self._db.clock.now())
        if bud.bud_status in _AT_WORK:
            self._tags.set_bud_status(bud.id, BudStatus.TRAINING)
        return self._submissions.require(submission_id)

    def _check_folder(self, submission_id: str) -> None:
        """Raise `Conflict` for an id that is another's but for case: both would name one folder on some systems."""
        key = space_key(submission_id)
        other = next((other_id for other_id in self._submissions.ids() if space_key(other_id) == key), None)
        if other is not None:
            raise Conflict(f"Submission {other!r} has this id but for case; use it, or give another id.")

    # Answers ----------------------------------------------------------------------------------------------------

    def resolve(self, submission_id: str, *, accepted: bool) -> Submission:
        """Take the answer to a submission; the same answer again changes nothing.

        Accepted, its windows are COLD and their timesteps REPLY records; rejected, they are WARM, unpinned, for a
        time of grace. What another unresolved submission names stays SUBMITTED. Raises `NotFound`, `Conflict` for a
        submission that was answered otherwise.
        """
        status = SubmissionStatus.ACCEPTED if accepted else SubmissionStatus.REJECTED
        with self._db.transaction():
            submission = self._submissions.require(submission_id)
            numbers = self._submissions.window_numbers(submission_id)
            if submission.status is SubmissionStatus.OPEN:
                self._submissions.resolve(submission_id, status, at=self._db.clock.now())
                self._tiers.resolve(numbers, accepted=accepted)
                self._move_bud(submission.bud_tag_id, accepted=accepted)
            elif submission.status is not status:
                raise Conflict(
                    f"Submission {submission_id!r} was {submission.status.value} already; it cannot be {status.value}."
                )
        self._tiers.settle_numbers(numbers)
        return self._submissions.require(submission_id)

    def _move_bud(self, bud_tag_id: str, *, accepted: bool) -> None:
        bud = self._tags.get(bud_tag_id)
        if bud is None or bud.tag_type is not TagType.BUD:
            return
        if accepted:
            self._tags.set_bud_status(bud.id, BudStatus.PROMOTED)
            return
        waiting = self._submissions.find(status=SubmissionStatus.OPEN, bud_tag_id=bud.id)
        if bud.bud_status is BudStatus.TRAINING and not waiting:
            self._tags.set_bud_status(bud.id, BudStatus.COLLECTING)

    # Questions --------------------------------------------------------------------------------------------------

    def get(self, submission_id: str) -> Submission:
        """Return one submission; raises `NotFound`."""
        return self._submissions.require(submission_id)

    def find(self, status: SubmissionStatus | str | None = None) -> list[Submission]:
        """Return the submissions of one status or of all, in the order in which they were made."""
        return self._submissions.find(
            status=None if status is None else parse_choice(SubmissionStatus, status, "status")
        )

    def windows_of(self, submission_id: str) -> list[TimeWindow]:
        """Return the windows that a submission named, as they stand now; raises `NotFound`."""
        self._submissions.require(submission_id)
        return self._tiers.by_numbers(self._submissions.window_numbers(submission_id))

    def windows_for_tag(self, name_or_id: str) -> list[TimeWindow]:
        """Return the windows that share a tick with what a tag covers, by session and first tick; raises `NotFound`."""
        tag = self._resolve_tag(name_or_id)
        if tag is None:
            raise NotFound(f"Tag {name_or_id!r} is not there;", remedy="`{find_tags}` lists what there is.")
        windows: list[TimeWindow] = []
        for session, ranges in sorted(self._tagged(tag.id).items()):
            windows += [
                window
                for window in self._tiers.find(session_id=session, ticks=_hull(ranges))
                if intersection(ranges, [(window.start_tick, window.end_tick)])
            ]
        return windows


def check_submission_id(submission_id: str) -> str:
    """Return an id that can name a folder of evidence; raises `InvalidInput` for any other."""
    value: object = submission_id
    problem = folder_problem(value) if isinstance(value, str) else "it is no text."
    if problem is not None:
        raise InvalidInput(
            f"submission_id = {str(value)[:80]!r} cannot be used: {problem}", argument="submission_id"
        )
    return submission_id


def _hull(ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return ranges[0][0], ranges[-1][1]
