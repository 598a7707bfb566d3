"""What was active when: `hx.xdb.activity`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hexad import ActivityBucket, CompressionLevel, ConceptActivity, Hexad, InvalidInput, NotFound

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday


@pytest.fixture
def xdb(hx: Hexad):
    hx.xdb.start_session("monday", compaction=False)
    return hx.xdb


def step(hours: float, scores: dict[str, float] | None = None, **more: object) -> dict[str, object]:
    return {"event_type": "output", "content": "x", "concept_activations": scores or {},
            "timestamp": NEW_YEAR + timedelta(hours=hours), **more}  # fmt: skip


def said(buckets: list[ActivityBucket]) -> list[tuple[object, ...]]:
    return [
        ((bucket.start - NEW_YEAR) / timedelta(hours=1), bucket.timesteps, bucket.tokens)
        for bucket in buckets
    ]


@pytest.mark.parametrize("sealed", [False, True])
def test_timesteps_are_counted_by_the_hour_with_how_active_concepts_were(xdb, sealed):
    xdb.record_many(
        [
            step(0, {"a": 0.5}),
            step(0.99, {"a": 0.25, "b": 1.0}, token_count=5),
            step(2, {"b": 0.75}),
            step(2.5),
        ]
    )
    if sealed:
        xdb.seal()

    first, second = xdb.activity()

    assert ActivityBucket(
        start=NEW_YEAR, end=NEW_YEAR + timedelta(hours=1), timesteps=2, tokens=6,
        concepts={"b": ConceptActivity(count=1, mean=1.0, peak=1.0), "a": ConceptActivity(count=2, mean=0.375, peak=0.5)},
    ) == first  # fmt: skip
    assert (2, 2, {"b": ConceptActivity(count=1, mean=0.75, peak=0.75)}) == (
        second.timesteps, second.tokens, second.concepts,
    )  # fmt: skip
    assert ["b", "a"] == list(first.concepts)
    assert (0, CompressionLevel.TOKEN) == (first.compressed, first.coarsest)


@pytest.mark.parametrize(
    ("by", "starts"),
    [
        ("minute", [-14 * 24, -0.5, 0, 24 * 4 - 0.5, 24 * 31]),
        ("hour", [-14 * 24, -1, 0, 24 * 4 - 1, 24 * 31]),
        ("day", [-14 * 24, -24, 0, 3 * 24, 24 * 31]),
        ("week", [-17 * 24, -3 * 24, 24 * 25]),
        ("month", [-31 * 24, 0, 24 * 31]),
    ],
)
def test_buckets_begin_where_utc_says_and_weeks_on_monday(xdb, by, starts):
    xdb.record_many([step(at) for at in (-14 * 24, -0.5, 0, 24 * 4 - 0.5, 24 * 31)])

    buckets = xdb.activity(by=by)

    assert starts == [row[0] for row in said(buckets)]
    assert 5 == sum(bucket.timesteps for bucket in buckets)
    assert all(bucket.start < bucket.end for bucket in buckets)
    if by == "month":
        assert [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)] == [
            bucket.end for bucket in buckets
        ]


def test_times_before_1970_fall_into_buckets_too(xdb):
    for by, start in (("hour", datetime(1969, 12, 31, 23)), ("week", datetime(1969, 12, 29)),
                      ("month", datetime(1969, 12, 1))):  # fmt: skip
        xdb.start_session(by, compaction=False)
        xdb.record_many([{"event_type": "input", "content": "x", "timestamp": "1969-12-31T23:59:59.5Z"}])
        assert [start.replace(tzinfo=UTC)] == [bucket.start for bucket in xdb.activity(by=by)]


def test_the_ten_strongest_concepts_are_shown_or_those_asked_for(xdb):
    xdb.record_many(
        [step(0, {f"c{at:02}": at / 10 for at in range(11, 21)}), step(1, {"c05": 0.5, "c20": 0.1})]
    )

    assert {f"c{at:02}" for at in range(11, 21)} == {
        name for bucket in xdb.activity() for name in bucket.concepts
    }
    (_, second) = xdb.activity(concepts=["c05", "nowhere"])
    assert {"c05": ConceptActivity(count=1, mean=0.5, peak=0.5)} == second.concepts
    assert [{}, {}] == [bucket.concepts for bucket in xdb.activity(concepts=[])]


def test_sessions_times_and_limits_narrow_it_down(xdb):
    xdb.record_many([step(at) for at in range(10)])
    xdb.start_session("tuesday", compaction=False)
    xdb.record_many([step(3)])

    assert [(3, 1, 1)] == said(xdb.activity()) == said(xdb.session("tuesday").activity())
    assert [(at, 1 + (at == 3), 1 + (at == 3)) for at in range(10)] == said(xdb.activity(session_id="*"))
    assert [(8, 1, 1), (9, 1, 1)] == said(xdb.activity(session_id="monday", limit=2))
    times = (NEW_YEAR + timedelta(hours=2), NEW_YEAR + timedelta(hours=4))
    assert [(2, 1, 1), (3, 1, 1)] == said(xdb.activity(session_id="monday", time_range=times))


@pytest.mark.parametrize("bad", [{"by": "year"}, {"limit": 0}, {"concepts": "a"}, {"concepts": [""]}])
def test_what_cannot_be_counted_is_refused(xdb, bad):
    with pytest.raises(InvalidInput):
        xdb.activity(**bad)


def test_a_session_that_never_was_is_not_an_empty_one(xdb):
    with pytest.raises(NotFound):
        xdb.activity(session_id="never")
    assert [] == xdb.activity()


def test_what_has_left_the_stream_counts_by_its_cold_records(hx, clock):
    hx.xdb.start_session("monday")
    for at in range(12):
        hx.xdb.record(
            "output",
            f"word {at} " * 20,
            {"a": 0.5, "b": at / 16},
            event_id=f"reply {at // 3}",
            token_count=20,
        )
        clock.advance(minutes=10)
    before = hx.xdb.activity(by="day")

    hx.xdb.request_compaction()
    (day,) = hx.xdb.activity(by="day")

    assert (12, 240) == (before[0].timesteps, before[0].tokens) == (day.timesteps, day.tokens)
    assert 0 == before[0].compressed < day.compressed < 12
    assert CompressionLevel.REPLY is day.coarsest
    assert before[0].concepts["a"].peak == day.concepts["a"].peak == 0.5
    assert before[0].concepts["a"].mean == day.concepts["a"].mean
    assert day.concepts["a"].count < 12
    by_hour = hx.xdb.activity(by="hour")
    assert 12 == sum(bucket.timesteps for bucket in by_hour)
    assert 0 == by_hour[-1].compressed < by_hour[0].compressed


SCORES = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from([0.125, 0.5, 1.0]), max_size=3)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(st.integers(0, 200), SCORES), min_size=1, max_size=12), sealed=st.integers(0, 12)
)
def test_it_says_what_counting_by_hand_says(xdb, rows, sealed):
    xdb.start_session(f"s{len(xdb.sessions())}", compaction=False)
    steps = [step(hours, scores) for hours, scores in rows]
    xdb.record_many(steps[:sealed])
    xdb.seal()
    xdb.record_many(steps[sealed:])

    for bucket in xdb.activity(by="day"):
        mine = [
            scores for hours, scores in rows if bucket.start <= NEW_YEAR + timedelta(hours=hours) < bucket.end
        ]
        assert len(mine) == bucket.timesteps
        for name in ("a", "b", "c"):
            scores = [row[name] for row in mine if name in row]
            activity = bucket.concepts.get(name)
            assert bool(scores) == (activity is not None)
            if activity is not None:
                assert (len(scores), max(scores)) == (activity.count, activity.peak)
                assert activity.mean == pytest.approx(sum(scores) / len(scores))


@pytest.mark.parametrize("by", ["minute", "hour", "day", "week", "month"])
def test_the_last_moment_that_there_is_is_in_a_bucket(hx: Hexad, by: str) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record_many(
        {"event_type": "output", "content": "x", "timestamp": at}
        for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")
    )

    first, last = hx.xdb.activity(by=by)

    assert (1, 1) == (first.timesteps, last.timesteps)
    assert first.start < first.end < last.start < last.end
