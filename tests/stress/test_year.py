"""A year of experience in which programs are killed; the short form is a season, the long one all of a year."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from agent_year import AgentYear, YearShape
from agent_year.answers import ask
from agent_year.checks import problems
from agent_year.crashes import Crashes

PACK = Path(__file__).parents[1] / "data" / "concepts" / "workshop.json"
SHORT = YearShape(
    tokens_a_day=300,
    tokens_a_reply=40,
    sessions_a_day=1,
    window_tokens=512,
    max_storage_bytes=20_000,
    stride=9,
)
LONG = replace(
    SHORT, tokens_a_day=1_000, tokens_a_reply=80, sessions_a_day=2, window_tokens=1_024,
    max_storage_bytes=60_000, stride=1,
)  # fmt: skip


def live(folder: Path, shape: YearShape, *, until: date, killed_every: int) -> None:
    """Live with kills; whatever was acknowledged is there, and everything adds up, after each of them."""
    with AgentYear.in_folder(folder, pack=PACK, shape=shape) as year:
        clock, crashes = year.clock, Crashes(year, folder)
        for at, day in enumerate(year.days()):
            if at % killed_every == killed_every - 1:
                assert [] == crashes.while_recording(day)
                assert [] == problems(year.hx, year.books, now=clock.now())
                crashes.while_sleeping(day)
                assert [] == problems(year.hx, year.books, now=clock.now())
            if day > until:
                break
        year.hx.maintain()
        assert [] == problems(year.hx, year.books, now=clock.now())
        if until.month == 12:
            answer = ask(year.hx.xdb, year.books, year=shape.year, quarter=3)
            assert set(answer.planted) <= set(answer.active)
            assert 1.0 == answer.told_precision


def test_a_season_with_programs_that_are_killed_loses_nothing(tmp_path: Path) -> None:
    live(tmp_path, SHORT, until=date(SHORT.year, 3, 31), killed_every=4)


@pytest.mark.long
@pytest.mark.row("H091", "H179")
def test_a_year_with_programs_that_are_killed_loses_nothing(tmp_path: Path) -> None:
    live(tmp_path, LONG, until=date(LONG.year, 12, 31), killed_every=6)
