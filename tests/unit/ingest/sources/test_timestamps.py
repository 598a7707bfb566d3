from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from hexad.ingest.sources.timestamps import SourceTimes, read_time, readings

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def far_east(monkeypatch):
    """A machine whose own zone must not matter."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "written",
    [
        *("2026-03-04T12:00:00", "2026-03-04T12:00:00Z", "2026-03-04T14:00:00+02:00", " 2026-03-04 12:00 "),
        *(1772625600, 1772625600.0, 1772625600000, "1772625600", "1772625600000"),
        *("4 March 2026 12:00", "March-4-2026 12:00", "Mar 4, 2026, 12:00 PM", "12:00 pm on 4 March, 2026"),
        *("Wed, 04 Mar 2026 12:00:00 +0000", "2026/03/04 (Wed) 12:00", "4th of March 2026 at 12 pm"),
        *("Wed 04/03/2026 12:00", "2026-Mar-04 14:00 +02:00"),
    ],
)
def test_a_time_is_read_in_utc_whatever_the_machine_thinks(far_east, written):
    assert NOON == read_time(written)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "soon",
        "12:00",
        True,
        None,
        [],
        1e300,
        float("nan"),
        "9" * 20,
        "2026-13-01",
        "31/02/2026",
        "30 February 2026",
        "Mar 4, 2026 13:00 PM",
        "15/03/24",
        "March 2026",
        "03/04/2026",
    ],
)
def test_what_is_no_time_is_none(written):
    assert read_time(written) is None


def test_a_date_of_numbers_is_read_where_it_has_one_reading():
    assert read_time("15/03/2024 10:22") == datetime(2024, 3, 15, 10, 22, tzinfo=UTC)
    assert read_time("03/15/2024 10:22") == datetime(2024, 3, 15, 10, 22, tzinfo=UTC)
    assert read_time("04.04.2024") == datetime(2024, 4, 4, tzinfo=UTC)
    assert set(readings("03/04/2024")) == {"day", "month"}


@pytest.mark.parametrize(
    ("others", "month"),
    [(["15/03/2024"], 4), (["03/15/2024"], 3), (["2024-03-15"], None), (["15/03/2024", "03/15/2024"], None)],
)
def test_two_readings_are_settled_by_the_other_times_of_a_source_and_else_reported(others, month):
    time_read, unread = SourceTimes(lambda: ["03/04/2024", *others]).read("03/04/2024")

    assert (time_read.month if time_read else None) == month
    assert (unread is None) == (month is not None)
    if month is None:
        assert "3 April 2024 or 4 March 2024" in unread


def test_what_cannot_be_read_is_named_and_what_is_not_there_is_not():
    times = SourceTimes(list)

    assert times.read("next Tuesday or so")[1].startswith("the time 'next Tuesday or so' is in no form")
    assert times.read(None) == times.read("  ") == (None, None)
