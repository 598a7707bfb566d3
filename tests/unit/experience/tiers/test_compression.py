"""Many records become one: the algorithm by hand, and the calendar that says which belong together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hexad import CompressedRecord, CompressionLevel, EventType, InvalidInput, compress_records
from hexad.experience.tiers.compression import bucket

NOON = datetime(2025, 7, 3, 12, tzinfo=UTC)


def record(name: str, *, level=CompressionLevel.REPLY, at=NOON, **fields) -> CompressedRecord:
    given = {
        "id": name,
        "level": level,
        "start_time": at,
        "end_time": at + timedelta(minutes=5),
        "summary": f"About {name}.",
        "token_count": 10,
        "record_count": 4,
        "timesteps": 8,
    }
    return CompressedRecord(**(given | fields))


@pytest.mark.row("H059", "H080")
def test_counts_add_up_ticks_are_lost_and_the_lineage_are_the_sources_ids():
    replies = [
        record("r1", start_tick=1, end_tick=8, session_id="monday", event_id="e", event_type=EventType.OUTPUT, role="a"),
        record("r2", at=NOON + timedelta(hours=1), start_tick=9, end_tick=12, token_count=32, timesteps=4, session_id="monday"),
    ]  # fmt: skip

    found = compress_records(replies, CompressionLevel.SESSION)

    assert CompressionLevel.SESSION is found.level
    assert (NOON, NOON + timedelta(hours=1, minutes=5)) == (found.start_time, found.end_time)
    assert (42, 12, 2) == (found.token_count, found.timesteps, found.record_count)
    assert ("r1", "r2") == found.source_record_ids
    assert (None, None, None, None, None) == (
        found.start_tick, found.end_tick, found.event_id, found.event_type, found.role,
    )  # fmt: skip
    assert "monday" == found.session_id


@pytest.mark.row("H077")
def test_activations_are_added_up_and_the_largest_kept_of_equals_the_first_by_id():
    records = [
        record("r1", top_k_activations={"z": 1.0, "a": 0.5, "m": 2.0}),
        record("r2", top_k_activations={"a": 0.5, "m": 0.25, "low": 0.75}),
    ]

    found = compress_records(records, CompressionLevel.DAY, 3)

    assert [("m", 2.25), ("a", 1.0), ("z", 1.0)] == list(found.top_k_activations.items())


@pytest.mark.row("H078")
def test_the_most_frequent_tags_are_kept_of_equals_the_one_seen_first():
    records = [
        record("r1", significant_tags=["seen-first", "often"]),
        record("r2", significant_tags=["often", "seen-later"]),
        record("r3", significant_tags=["seen-last", "often"]),
    ]

    assert ("often", "seen-first", "seen-later") == compress_records(
        records, CompressionLevel.DAY, 3
    ).significant_tags


def test_of_each_kept_concept_the_highest_score_that_it_ever_had_is_known():
    records = [
        record("r1", top_k_activations={"a": 5.0, "b": 1.0}, peaks={"a": 0.7, "b": 0.9}),
        record("r2", top_k_activations={"a": 1.0}, peaks={"a": 0.8}),
        record("r3", top_k_activations={"a": 1.0}, peaks={"a": 0.5}),
    ]

    assert {"a": 0.8} == compress_records(records, CompressionLevel.SESSION, 1).peaks


@pytest.mark.row("H181")
def test_ten_concepts_and_tags_are_kept_unless_another_number_is_asked_for():
    names = [f"c{at:02}" for at in range(30)]
    records = [record("r", top_k_activations=dict.fromkeys(names, 1.0), significant_tags=names)]

    found = [compress_records(records, CompressionLevel.DAY, *k) for k in ([], [3], [25])]

    assert [10, 3, 25] == [len(compressed_record.top_k_activations) for compressed_record in found]
    assert [10, 3, 25] == [len(compressed_record.significant_tags) for compressed_record in found]


def test_a_summary_is_what_the_given_function_makes_of_the_summaries():
    records = [record("r1"), record("r2")]

    found = compress_records(records, CompressionLevel.WEEK, summarize=" + ".join)

    assert "About r1. + About r2." == found.summary


def test_the_same_records_give_the_same_record_and_other_ones_another_id():
    def once(*names, level=CompressionLevel.DAY):
        return compress_records([record(name) for name in names], level)

    assert once("a", "b") == once("a", "b")
    ids = [once("a", "b").id, once("a").id, once("b", "a").id, once("a", "b", level=CompressionLevel.WEEK).id]
    assert 4 == len(set(ids))
    assert ids[0].startswith("compressed-DAY-")
    assert 12 == len(ids[0].removeprefix("compressed-DAY-"))


@pytest.mark.row("H046", "H047", "H048", "H049", "H050", "H051", "H052", "H053")
def test_the_same_algorithm_holds_from_every_level_to_every_coarser_one():
    for source in list(CompressionLevel)[1:]:
        for target in list(CompressionLevel)[2:]:
            records = [record("a", level=source, top_k_activations={"x": 1.5}), record("b", level=source)]
            if source > target:
                with pytest.raises(InvalidInput, match=f"coarser than {target.name}"):
                    compress_records(records, target)
                continue
            found = compress_records(records, target)
            assert (target, 20, 16, 2, {"x": 1.5}) == (
                found.level, found.token_count, found.timesteps, found.record_count, found.top_k_activations,
            )  # fmt: skip


def test_records_of_several_sessions_become_no_sessions_record_of_one():
    records = [record("a", session_id="monday"), record("b", session_id="tuesday")]

    assert compress_records(records, CompressionLevel.SESSION).session_id is None
    assert compress_records(records[:1], CompressionLevel.DAY).session_id is None


def test_a_level_may_be_given_by_its_name():
    found = [compress_records([record("a")], level) for level in ("DAY", "day", 3, CompressionLevel.DAY)]

    assert 1 == len({compressed_record.id for compressed_record in found})


@pytest.mark.parametrize(
    ("records", "level", "k", "said"),
    [
        ([], CompressionLevel.DAY, 10, "no record"),
        ([record("a")], CompressionLevel.TOKEN, 10, "to TOKEN"),
        ([record("a")], CompressionLevel.REPLY, 10, "to REPLY"),
        ([record("a")], 9, 10, "'?9'?"),
        ([record("a")], "DECADE", 10, "DECADE"),
        ([record("a")], CompressionLevel.DAY, 0, "k = 0"),
        ([record("a")], CompressionLevel.DAY, True, "k = True"),
        ([record("a")], CompressionLevel.DAY, 2.5, "k = 2.5"),
    ],
)
def test_what_cannot_be_compressed_is_refused_by_its_value(records, level, k, said):
    with pytest.raises(InvalidInput, match=said):
        compress_records(records, level, k)


@pytest.mark.parametrize(
    ("level", "moment", "first", "end"),
    [
        ("DAY", "2025-07-03T23:59:59.999999", "2025-07-03", "2025-07-04"),
        ("WEEK", "2024-12-30T00:00", "2024-12-30", "2025-01-06"),  # ISO week 1 of 2025
        ("WEEK", "2025-01-05T23:00", "2024-12-30", "2025-01-06"),
        ("WEEK", "2027-01-03T12:00", "2026-12-28", "2027-01-04"),  # ISO week 53 of 2026
        ("MONTH", "2024-02-29T12:00", "2024-02-01", "2024-03-01"),
        ("QUARTER", "2025-03-31T23:59", "2025-01-01", "2025-04-01"),
        ("QUARTER", "2025-04-01T00:00", "2025-04-01", "2025-07-01"),
        ("QUARTER", "2025-12-31T23:59", "2025-10-01", "2026-01-01"),
        ("YEAR", "2024-12-31T23:59", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_record_belongs_to_the_span_of_the_calendar_in_which_it_begins(level, moment, first, end):
    found = bucket(CompressionLevel[level], datetime.fromisoformat(moment).replace(tzinfo=UTC))

    assert (first, end) == tuple(f"{item:%Y-%m-%d}" for item in found)


def test_the_last_days_of_the_calendar_have_a_span_too():
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)

    for level in list(CompressionLevel)[3:]:
        first, end = bucket(level, last)
        assert first <= last < end
