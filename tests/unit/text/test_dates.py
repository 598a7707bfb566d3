"""When a question is about."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.dates import date_range, date_words, month_span, shift, unit_span

NOW = datetime(2024, 2, 14, 15, 30, tzinfo=UTC)  # a Wednesday


def read(text):
    found = date_range(text, now=NOW)
    if found is None:
        return None
    return (
        found.text,
        found.direction,
        found.start and found.start.date().isoformat(),
        found.end and found.end.date().isoformat(),
    )


@pytest.mark.parametrize(
    ("question", "phrase", "start", "end"),
    [
        ("What did we decide in May 2023?", "in May 2023", "2023-05-01", "2023-06-01"),
        ("who came on May 7th, 2023", "on May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("the 7th of May, 2023 then", "7th of May, 2023", "2023-05-07", "2023-05-08"),
        ("taken on December 1,2023", "on December 1,2023", "2023-12-01", "2023-12-02"),
        ("log of 2023-05-07", "of 2023-05-07", "2023-05-07", "2023-05-08"),
        ("at 2023-05-07T10:00:00Z it broke", "at 2023-05-07T10:00:00Z", "2023-05-07", "2023-05-08"),
        ("releases 2023-05", "2023-05", "2023-05-01", "2023-06-01"),
        ("on 05/07/2023", "on 05/07/2023", "2023-07-05", "2023-07-06"),  # day first
        ("on 05/13/2023", "on 05/13/2023", "2023-05-13", "2023-05-14"),  # impossible day first
        ("in Dec. 2023", "in Dec. 2023", "2023-12-01", "2024-01-01"),
        ("in 2023", "in 2023", "2023-01-01", "2024-01-01"),
        ("costs in Q3 2024?", "in Q3 2024", "2024-07-01", "2024-10-01"),
        ("third quarter of 2022", "third quarter of 2022", "2022-07-01", "2022-10-01"),
        ("in the summer of 2023", "in the summer of 2023", "2023-06-01", "2023-09-01"),
        ("winter 2022", "winter 2022", "2022-12-01", "2023-03-01"),
        ("in mid-August 2023", "in mid-August 2023", "2023-08-11", "2023-08-22"),
        ("the end of summer 2023", "end of summer 2023", "2023-08-01", "2023-09-01"),
        ("the second week of May 2023", "second week of May 2023", "2023-05-08", "2023-05-15"),
        ("during the weekend of May 6, 2023", "during the weekend of May 6, 2023", "2023-05-06", "2023-05-08"),
        ("the week before August 3, 2023", "the week before August 3, 2023", "2023-07-27", "2023-08-03"),
        ("last weekend before April 10, 2023", "last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
        ("two weeks before August 11, 2023", "two weeks before August 11, 2023", "2023-07-25", "2023-08-01"),
        ("the day after 7 May 2023", "the day after 7 May 2023", "2023-05-08", "2023-05-09"),
        ("between March and June 2022", "between March and June 2022", "2022-03-01", "2022-07-01"),
        ("from November to February 2023", "from November to February 2023", "2022-11-01", "2023-03-01"),
        ("between August 11 and August 15 2023", "between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("Aug 11-15, 2023", "Aug 11-15, 2023", "2023-08-11", "2023-08-16"),
    ],
)  # fmt: skip
def test_a_date_in_a_question_becomes_a_half_open_range(question, phrase, start, end):
    assert (phrase, "in", start, end) == read(question)


@pytest.mark.parametrize(
    ("question", "phrase", "start", "end"),
    [
        ("what broke yesterday", "yesterday", "2024-02-13", "2024-02-14"),
        ("the day before yesterday", "the day before yesterday", "2024-02-12", "2024-02-13"),
        ("last week", "last week", "2024-02-05", "2024-02-12"),
        ("last weekend", "last weekend", "2024-02-10", "2024-02-12"),
        ("last month", "last month", "2024-01-01", "2024-02-01"),
        ("last year", "last year", "2023-01-01", "2024-01-01"),
        ("this year", "this year", "2024-01-01", "2025-01-01"),
        ("in the past year", "in the past year", "2023-02-14", "2024-02-14"),
        ("last summer", "last summer", "2023-06-01", "2023-09-01"),
        ("next summer", "next summer", "2024-06-01", "2024-09-01"),
        ("last Tuesday", "last Tuesday", "2024-02-13", "2024-02-14"),
        ("last Wednesday", "last Wednesday", "2024-02-07", "2024-02-08"),
        ("next Friday", "next Friday", "2024-02-16", "2024-02-17"),
        ("last March", "last March", "2023-03-01", "2023-04-01"),
        ("this May", "this May", "2024-05-01", "2024-06-01"),
        ("two weeks ago", "two weeks ago", "2024-01-28", "2024-02-04"),
        ("4 years ago", "4 years ago", "2020-01-01", "2021-01-01"),
        ("a few years ago", "a few years ago", "2019-02-14", "2022-02-14"),
        ("over the last 3 days", "over the last 3 days", "2024-02-11", "2024-02-14"),
    ],
)
def test_a_relative_phrase_counts_from_now(question, phrase, start, end):
    assert (phrase, "in", start, end) == read(question)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("before 2023", ("before 2023", "before", None, "2023-01-01")),
        ("by 7 November 2022", ("by 7 November 2022", "before", None, "2022-11-08")),
        ("until May 2023", ("until May 2023", "before", None, "2023-06-01")),
        ("since May 2023", ("since May 2023", "since", "2023-05-01", None)),
        ("after May 2023", ("after May 2023", "since", "2023-06-01", None)),
        ("from May 2023 onwards", ("from May 2023 onwards", "since", "2023-05-01", None)),
        ("since last week", ("since last week", "since", "2024-02-05", None)),
    ],
)
def test_a_side_leaves_the_other_end_open(question, expected):
    assert expected == read(question)


@pytest.mark.parametrize(
    ("question", "phrase", "months", "day", "weekday"),
    [
        ("When did she camp in June?", "in June", (6,), None, None),
        ("on 7 May", "on 7 May", (5,), 7, None),
        ("met on Aug 15th.", "on Aug 15th", (8,), 15, None),
        ("in may", "in may", (5,), None, None),
        ("plans for the summer", "summer", (6, 7, 8), None, None),
        ("from November to February", "from November to February", (11, 12, 1, 2), None, None),
        ("in the second week of November", "in the second week of November", (11,), None, None),
        ("what is due on Friday?", "on Friday", (), None, 4),
    ],
)
def test_a_date_without_a_year_recurs_and_is_not_guessed(question, phrase, months, day, weekday):
    found = date_range(question, now=NOW)

    assert found.recurring
    assert (months, day, weekday) == (found.months, found.day, found.weekday)
    assert phrase == found.text


@pytest.mark.parametrize(
    "question",
    ["", "may I go?", "I may go", "up to 5 may join", "this may help", "march on", "march 5 miles", "the march was long",
     "version 1.2.2023", "v2023.05", "1.2.3", "10.0.2023.1", "Cyberpunk 2077", "port 2024", "in 2000 lines", "wait a second",
     "second thoughts", "June said hi", "a letter by April", "Spring Boot", "fall off", "on 30 February 2023", "on 31/31/2023",
     "marching", "decide", "Sundays", "a summer job"],
)  # fmt: skip
def test_what_is_no_date_is_not_taken_for_one(question):
    assert date_range(question, now=NOW) is None


def test_a_date_of_its_own_comes_before_one_that_counts_from_now_and_both_before_a_recurring_one():
    assert (
        "on November 6, 2023" == date_range("his issue last week, as told on November 6, 2023?", now=NOW).text
    )
    assert "last year" == date_range("the trip in June of last year", now=NOW).text.removeprefix("of ")
    assert "in 2021" == date_range("in 2021 or in 2022", now=NOW).text


def test_now_is_read_in_utc():
    late = datetime(2024, 2, 14, 23, 30, tzinfo=timezone(timedelta(hours=-5)))

    assert datetime(2024, 2, 14, tzinfo=UTC) == date_range("yesterday", now=late).start


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("in May 2023", datetime(2023, 5, 31, 23, 59, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)),
        ("before 2023", datetime(2000, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)),
        ("since 2023", datetime(2023, 1, 1, tzinfo=UTC), datetime(2022, 12, 31, tzinfo=UTC)),
        ("on 7 May", datetime(1999, 5, 7, tzinfo=UTC), datetime(1999, 5, 8, tzinfo=UTC)),
        ("on Friday", datetime(2024, 2, 16, tzinfo=UTC), datetime(2024, 2, 17, tzinfo=UTC)),
    ],
)
def test_a_range_knows_what_it_covers(question, inside, outside):
    found = date_range(question, now=NOW)

    assert found.covers(inside)
    assert not found.covers(outside)


def test_a_dated_item_is_found_under_its_words():
    assert "2023-05-08 8 May 2023 Monday" == date_words(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
    assert "0987-01-02 2 January 987 Tuesday" == date_words(datetime(987, 1, 2, tzinfo=UTC))


@given(st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 30)))
def test_every_day_is_read_back_from_its_words(time):
    time = time.replace(tzinfo=UTC)
    iso, day, month, year, _ = date_words(time).split()

    for text in (
        iso,
        f"{day} {month} {year}",
        f"{month} {day}, {year}",
        f"{month[:3]} {day} {year}",
        f"{day}/{time.month}/{year}",
    ):
        found = date_range(text, now=NOW)
        assert "day" == found.precision
        assert found.covers(time)
        assert timedelta(days=1) == found.end - found.start


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9990, 1, 1)),
    st.sampled_from(["day", "week", "weekend", "month", "quarter", "year"]),
    st.integers(-9, 9),
)
def test_calendar_units_hold_their_moment_and_shifting_keeps_the_time_of_day(time, unit, count):
    time = time.replace(tzinfo=UTC)
    start, end = unit_span(time, unit)

    assert start < end
    assert unit == "weekend" or start <= time < end
    if time.year > 20:
        assert time.timetz() == shift(time, unit, count).timetz()


def test_months_run_over_the_years_end():
    assert (datetime(2023, 11, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)) == month_span(
        2023, 11, months=3
    )
    assert datetime(2024, 2, 29, tzinfo=UTC) == shift(datetime(2024, 1, 31, tzinfo=UTC), "month", 1)


WORDS = "in on since before last next the May may March 7 31 2023 999 years week weekend of ago and between from to - first end , summer Friday 0001 29 February Q3".split()


@given(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
)
def test_any_phrase_at_any_time_gives_a_range_or_nothing(text, now):
    found = date_range(text, now=now.replace(tzinfo=UTC))

    if found is not None:
        assert found.text in text
        assert found.start is None or found.end is None or found.start < found.end


@pytest.mark.parametrize(
    "text",
    [
        "may " * 100_000,
        " " * 500_000,
        "1" * 500_000,
        "the last week before " * 50_000,
        "from may to " * 50_000,
    ],
)
def test_a_text_made_to_be_slow_is_answered(text):
    found = date_range(text, now=NOW)

    assert found is None or len(found.text) < 60


def test_a_weekday_behind_since_is_the_last_one_that_has_begun() -> None:
    wednesday = datetime(2026, 7, 1, 12, tzinfo=UTC)

    since = [
        date_range(f"what broke since {day}?", now=wednesday) for day in ("Monday", "Wednesday", "friday")
    ]

    assert [("since", "2026-06-29"), ("since", "2026-07-01"), ("since", "2026-06-26")] == [
        (found.direction, found.start.date().isoformat())
        for found in since
        if found is not None and found.start is not None and found.end is None
    ]
    assert date_range("the Monday meeting", now=wednesday) is None
