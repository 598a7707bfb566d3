"""A year of an agent's life, played under a clock of its own: what is kept, what is forgotten, what is still known.

The long form, a session on most working days and programs that are killed, is in `stress/test_year.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent_year import AgentYear, Books, YearShape
from agent_year.answers import Answer, ask, span
from agent_year.checks import everything, fingerprint, problems
from hexad import CompressionLevel, Fidelity, FrozenClock, Hexad
from hexad.experience.values.pressure import Stopped
from hexad.experience.values.tags import BudStatus

PACK = Path(__file__).parent / "data" / "concepts" / "workshop.json"
SHAPE = YearShape(
    tokens_a_day=300,
    tokens_a_reply=40,
    sessions_a_day=1,
    window_tokens=512,
    max_storage_bytes=27_000,
    auto_tag_threshold=0.8,
    stride=8,
)


@dataclass(slots=True)
class Lived:
    """A year that was lived, its store open on the evening of 31 December."""

    year: AgentYear
    looked: dict[str, list[str]] = field(default_factory=dict)  # month's end: what was wrong

    @property
    def hx(self) -> Hexad:
        return self.year.hx

    @property
    def clock(self) -> FrozenClock:
        return self.year.clock

    @property
    def books(self) -> Books:
        return self.year.books

    def answer(self, quarter: int) -> Answer:
        return ask(self.hx.xdb, self.books, year=SHAPE.year, quarter=quarter)


def live(folder: Path, shape: YearShape) -> Lived:
    folder.mkdir(exist_ok=True)
    return Lived(AgentYear.in_folder(folder, pack=PACK, shape=shape))


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A year with a session every eighth day or so; the store is looked through at each month's end."""
    lived = live(tmp_path_factory.mktemp("year"), SHAPE)
    month = 1
    with lived.year:
        for day in lived.year.days():
            if day.month != month or (day.month, day.day) == (12, 31):
                month = day.month
                lived.looked[f"{day}"] = problems(lived.hx, lived.books, now=lived.clock.now())
        yield lived


@pytest.mark.row("H091", "H178", "H179")
def test_nothing_is_lost_doubled_or_changed_all_year_long(lived: Lived) -> None:
    assert 12 == len(lived.looked)
    assert {} == {day: found for day, found in lived.looked.items() if found}
    kinds = {
        "pins",
        "unpins",
        "comments",
        "submissions",
        "accepted",
        "rejected",
        "restarts",
        "contracts refused",
    }
    assert kinds <= {kind for kind, count in lived.books.counts.items() if count}


@pytest.mark.row("H091", "H076", "H053")
def test_the_past_is_told_the_more_briefly_the_longer_it_is_ago(lived: Lived) -> None:
    records = list(everything(lived.hx.xdb))
    now = lived.clock.now()

    last_week = [record for record in records if now - record.timestamp < timedelta(days=4)]
    spring = [
        record
        for record in records
        if span(SHAPE.year, 2)[0] <= record.timestamp < span(SHAPE.year, 2)[1]
        and record.fidelity is Fidelity.COLD
    ]

    assert {Fidelity.HOT} == {record.fidelity for record in last_week}
    assert {CompressionLevel.QUARTER} == {record.compression_level for record in spring}
    assert sum(record.timesteps for record in spring) > 500 * len(spring)


@pytest.mark.row("H091", "H077", "H079")
@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_what_a_quarter_was_about_is_answered_from_cold_records(lived: Lived, quarter: int) -> None:
    answer = lived.answer(quarter)

    assert set(answer.planted) <= set(answer.active), "by concept"
    assert set(answer.planted) <= set(answer.named), "by text"
    assert set(answer.planted) == set(answer.told), "by the coarse record's own words"
    assert answer.planted[0] == answer.told[0]
    assert 1.0 == answer.strongest_precision
    assert set(answer.active) <= answer.worked_on
    assert "hot" not in answer.fidelities


@pytest.mark.row("H091", "H052")
def test_the_third_quarter_says_in_a_sentence_what_it_was_about(lived: Lived) -> None:
    [told] = lived.hx.xdb.compressed_records(level="QUARTER", time_range=span(SHAPE.year, 3))

    names = [topic.word.capitalize() for topic in lived.books.main_topics(3)]
    assert told.summary.startswith(f"In {SHAPE.year} Q3 I worked mainly on {names[0]}")
    assert told.id in {record.id for record in lived.hx.xdb.recall(time_range=span(SHAPE.year, 3))}


@pytest.mark.row("H073", "H084", "H090")
def test_evidence_that_nobody_decided_on_is_there_to_the_letter(lived: Lived) -> None:
    xdb = lived.hx.xdb
    waiting = xdb.submissions("open")

    kept = [window for window in lived.books.kept.values() if window.submissions]
    assert {submission.id for submission in waiting} == {
        name for window in kept for name in window.submissions
    }
    assert kept
    for window in kept:
        found = xdb.recall(session_id=window.session_id, tick_range=(window.first, window.last), limit=1_000)
        assert {Fidelity.SUBMITTED} == {step.fidelity for step in found}
        assert window.last - window.first + 1 == len(found)
    assert any(len(window.submissions) == 2 for window in kept)
    assert {BudStatus.TRAINING, BudStatus.PROMOTED, BudStatus.COLLECTING} == {
        bud.bud_status for bud in xdb.get_buds()
    }


@pytest.mark.row("H081", "H082")
def test_cold_records_stay_under_their_limit_night_by_night(lived: Lived) -> None:
    reports = [night.pressure for night in lived.books.nights]

    assert any(report.records for report in reports)
    for report in reports:
        assert report.bytes_after <= SHAPE.max_storage_bytes * 0.8 or report.stopped is Stopped.NOTHING_LEFT
    assert lived.hx.xdb.usage().cold_bytes <= SHAPE.max_storage_bytes * 0.8


@pytest.mark.row("H178")
def test_a_reply_of_500_tokens_takes_less_than_two_kilobytes(tmp_path: Path) -> None:
    """Document 2 counts on about one, for 300,000 replies a day."""
    shape = replace(SHAPE, tokens_a_day=6_000, tokens_a_reply=500, max_storage_bytes=1 << 30, stride=200)
    lived = live(tmp_path, replace(shape, window_tokens=None))
    with lived.year:
        lived.year.play()
        lived.clock.advance(days=30)
        lived.hx.maintain()
        replies = lived.hx.xdb.compressed_records(level="REPLY", limit=10_000)
        usage = lived.hx.xdb.usage().by_level[CompressionLevel.REPLY]

    long = [reply for reply in replies if reply.timesteps > 200]
    assert len(long) >= 10
    assert {10} == {len(record.top_k_activations) for record in long}
    assert len(replies) == usage.records
    assert 200 < usage.bytes / usage.records < 2_000


@pytest.mark.row("H179")
def test_the_same_seed_gives_the_same_year_and_another_seed_another(tmp_path: Path) -> None:
    found = []
    for at, seed in enumerate((7, 7, 8)):
        lived = live(tmp_path / str(at), replace(SHAPE, seed=seed, stride=120))
        with lived.year:
            lived.year.play()
            found.append(fingerprint(lived.hx.xdb, lived.books))

    assert found[0] == found[1]
    assert found[0] != found[2]
