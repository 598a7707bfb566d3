"""The buds of a year: two a quarter, from the first example to the tribe's answers."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from agent_year.books import Books, Bud
from agent_year.plan import YearShape
from agent_year.topics import Interests, Topic, quarter_of
from hexad.experience.api import Xdb

BEGUN_DAY, COLLECTED_DAY, SUBMITTED_DAY = 7, 68, 72
"""Days of a quarter: examples are collected from the first to the second; then the bud is handed in."""
FIRST_ANSWER_DAY, SECOND_ANSWER_DAY = 84, 100
"""Answers come then; the second in the next quarter. To the last quarter's nobody has answered yet."""
MOST_EXAMPLES: Final = 8
GRACE: Final = timedelta(days=7)


class Buds:
    """Collects examples, hands them in, and takes the answers.

    The first bud of a quarter is handed in twice, as a graft and as a meld, on the same examples; one is accepted, and
    its evidence stays, because the other is not answered. The second bud is made of a tag and rejected; what it kept
    goes after a time of grace, but for one window, which is pinned again.
    """

    def __init__(self, books: Books, interests: Interests, shape: YearShape) -> None:
        self._books, self._interests, self._shape = books, interests, shape
        self._due: list[tuple[date, str, bool]] = []  # when, which submission, accepted

    def collects(self, xdb: Xdb, topic: Topic, day: date, session_id: str) -> Bud | None:
        """Return the bud that takes what was just said on a topic as an example: one a session, some in all."""
        quarter = quarter_of(day)
        into = (day - date(day.year, 3 * quarter - 2, 1)).days
        if not BEGUN_DAY <= into < COLLECTED_DAY:
            return None
        for at, main in enumerate(self._interests.main(quarter)[:2]):
            if main == topic:
                bud = self._bud(xdb, quarter, topic, promoted=at == 1)
                full = len(bud.examples) >= MOST_EXAMPLES
                return None if full or any(session == session_id for session, _, _ in bud.examples) else bud
        return None

    def _bud(self, xdb: Xdb, quarter: int, topic: Topic, *, promoted: bool) -> Bud:
        for bud in self._books.buds:
            if bud.quarter == quarter and bud.topic == topic:
                return bud
        name = f"hunch about {topic.word} in Q{quarter}"
        if promoted:
            tag = xdb.promote_to_bud(xdb.tag_index.create_tag(name, "custom").id)
        else:
            near = [part.concept for part in topic.parts[:3]]
            tag = xdb.create_bud_tag(name, f"How {topic.word} hangs together.", related_concepts=near)
        bud = Bud(tag_id=tag.id, name=name, topic=topic, quarter=quarter, promoted=promoted)
        self._books.buds.append(bud)
        return bud

    # Handing in -------------------------------------------------------------------------------------------------

    def look_after(self, xdb: Xdb, day: date, now: datetime) -> None:
        """Hand in what is ready today, and take today's answers."""
        quarter = quarter_of(day)
        into = (day - date(day.year, 3 * quarter - 2, 1)).days
        if into >= SUBMITTED_DAY:
            for bud in self._books.buds:
                if bud.quarter == quarter and bud.examples and not bud.submissions:
                    self._hand_in(xdb, bud, day - timedelta(days=into))
        for due in [answer for answer in self._due if answer[0] <= day]:
            self._due.remove(due)
            self._answer(xdb, due[1], accepted=due[2], now=now)

    def _hand_in(self, xdb: Xdb, bud: Bud, first: date) -> None:
        xdb.mark_bud_ready(bud.tag_id)
        ways = ("graft",) if bud.promoted else ("graft", "meld")
        for at, way in enumerate(ways):
            submission = f"{way}-{self._shape.year}-q{bud.quarter}-{'second' if bud.promoted else 'first'}"
            for window_id in xdb.submit_graft(bud.tag_id, submission):
                window = xdb.get_window(window_id)
                kept = self._books.keep(window_id, window.session_id, (window.start_tick, window.end_tick))
                kept.submissions.add(submission)
            bud.submissions.append(submission)
            xdb.export_submission(submission)
            self._books.counts["submissions"] += 1
            if bud.quarter < 4:
                answered = first + timedelta(days=SECOND_ANSWER_DAY if at else FIRST_ANSWER_DAY)
                self._due.append((answered, submission, not bud.promoted))

    def _answer(self, xdb: Xdb, submission: str, *, accepted: bool, now: datetime) -> None:
        xdb.resolve_submission(submission, accepted)
        self._books.counts["accepted" if accepted else "rejected"] += 1
        again = not accepted
        for kept in self._books.kept.values():
            if submission not in kept.submissions:
                continue
            kept.submissions.remove(submission)
            if kept.submissions:
                continue
            kept.pinned_at = None
            if accepted:
                continue
            kept.grace_until = now + GRACE
            if again:  # the first of them is worth keeping
                xdb.pin_window((kept.first, kept.last), session_id=kept.session_id, reason="try again")
                kept.pinned_at, kept.reason, again = now, "try again", False
