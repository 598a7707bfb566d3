"""Whatever is compressed in whatever order, what COLD records count adds up to what was recorded."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import CompressedRecord, CompressionLevel, FrozenClock, compress_records
from hexad.experience.tiers.compression import CompressionPass, bucket

LEVELS = list(CompressionLevel)[1:]
BEGIN = datetime(2024, 12, 20, tzinfo=UTC)

spoken = st.tuples(
    st.just("speak"),
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 500),  # days after the beginning
    st.integers(1, 3),  # events
    st.integers(1, 5),  # tokens that each timestep counts for
)
passed = st.tuples(st.just("pass"), st.sampled_from(LEVELS[:-1]), st.integers(1, 5), st.integers(1, 4))


def add_up(hx: hexad.Hexad) -> tuple[int, int]:
    found = hx.xdb.recall(session_id="*", limit=100_000)
    return sum(record.timesteps for record in found), sum(record.token_count for record in found)


@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.one_of(spoken, passed), max_size=14))
def test_any_sequence_of_passes_keeps_all_counts_and_one_record_for_each_bucket(steps):
    with hexad.open(":memory:", embedder=None, background=False, clock=FrozenClock()) as hx:
        service = hx._services.experience()
        passes = CompressionPass(
            hx._services.db, summarizer=service.summarizer, visibility=service.experience.visibility
        )
        expected = [0, 0]
        where: Counter[str] = Counter()
        for what, *asked in steps:
            if what == "pass":
                passes.run(asked[0], batch=asked[1], k=asked[2])
            else:
                session, day, events, tokens = asked
                handle = hx.xdb.start_session(session, compaction=False)
                rows = [
                    {
                        "event_type": "output",
                        "content": f"{session} {day} ",
                        "concept_activations": {f"c{day % 7}": 0.5, session: 0.25},
                        "event_id": f"{day}-{number // 2}",
                        "timestamp": BEGIN + timedelta(days=day, minutes=number),
                        "token_count": tokens,
                    }
                    for number in range(2 * events)
                ]
                handle.record_many(rows)
                service.replies.release(session, [(1, 10_000)])
                expected = [expected[0] + 2 * events, expected[1] + 2 * events * tokens]
                where[session] += 2 * events
            assert tuple(expected) == add_up(hx)

        records = hx.xdb.compressed_records(session_id="*", limit=10_000)
        assert expected[0] == sum(record.timesteps for record in records)
        for level in LEVELS[1:]:
            some = [record for record in records if record.level is level]
            places = [
                record.session_id if level is CompressionLevel.SESSION else bucket(level, record.start_time)
                for record in some
            ]
            assert len(places) == len(set(places))
        for session, timesteps in where.items():
            covered = sum(record.timesteps for record in hx.xdb.recall(session_id=session, limit=10_000))
            assert covered >= timesteps  # a coarse record counts for each of its sessions
        assert [] == hx.check()


scores = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 64).map(lambda n: n / 64), max_size=6)


@settings(max_examples=100)
@given(
    fields=st.lists(st.tuples(scores, st.lists(st.sampled_from("tuvwx"), max_size=4, unique=True)), min_size=1, max_size=8),
    k=st.integers(1, 8),
)  # fmt: skip
def test_the_algorithm_is_the_documents(fields, k):
    """Beside document 2's own lines, where these leave no choice."""
    records = [
        CompressedRecord(
            id=f"r{at}", level=CompressionLevel.REPLY, start_time=BEGIN, end_time=BEGIN + timedelta(hours=at),
            summary="", top_k_activations=activations, significant_tags=tags, token_count=at,
        )
        for at, (activations, tags) in enumerate(fields)
    ]  # fmt: skip
    all_activations: Counter[str] = Counter()
    all_tags: Counter[str] = Counter()
    for record in records:
        for concept, score in record.top_k_activations.items():
            all_activations[concept] += score  # type: ignore[assignment]
        all_tags.update(record.significant_tags)

    found = compress_records(records, CompressionLevel.DAY, k)

    assert tuple(tag for tag, _ in all_tags.most_common(k)) == found.significant_tags
    kept = list(found.top_k_activations.items())
    assert [score for _, score in all_activations.most_common(k)] == [score for _, score in kept]
    assert all(all_activations[concept] == score for concept, score in kept)
    assert kept == sorted(kept, key=lambda row: (-row[1], row[0]))
    assert (sum(range(len(records))), len(records)) == (found.token_count, found.record_count)
    assert (BEGIN, BEGIN + timedelta(hours=len(records) - 1)) == (found.start_time, found.end_time)
