"""COLD records as they are: sums, tags, lineage, by level, session and time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hexad import CompressionLevel, FrozenClock, Hexad, InvalidInput, NotFound
from opener import Opener


@pytest.fixture
def told(hx: Hexad, clock: FrozenClock) -> Hexad:
    """Two sessions, a month apart, that left their contexts; the first is a session's record, the second replies."""
    for session, words in (
        ("winter", "The lake froze over at night."),
        ("spring", "Larks came back to the field."),
    ):
        hx.xdb.start_session(session)
        for reply in range(3):
            for word in f"{words} It was day {reply}.".split():
                hx.xdb.record("output", f" {word}", {f"p::{session}": 0.5}, event_id=f"{session}-{reply}")
        hx.xdb.tag("weather", event_id=f"{session}-1")
        hx.xdb.end_session()
        clock.advance(days=30)
        hx.maintain()
        if session == "winter":
            hx.xdb.check_and_compress(max_storage_bytes=1_500)
    return hx


def test_records_come_by_level_the_oldest_first(told: Hexad) -> None:
    found = told.xdb.compressed_records()

    assert 1 < len(found)
    assert sorted(record.start_time for record in found) == [record.start_time for record in found]
    coarse = [record for record in found if record.level > CompressionLevel.REPLY]
    replies = told.xdb.compressed_records(level="reply")
    assert [record.id for record in found] == [reply.id for reply in [*coarse, *replies]]
    assert replies == told.xdb.compressed_records(level=CompressionLevel.REPLY)
    assert {"spring"} == {reply.session_id for reply in replies}
    assert replies[1:2] == told.xdb.compressed_records(level="REPLY", limit=1, offset=1)


def test_a_record_has_sums_tags_and_lineage(told: Hexad) -> None:
    reply = told.xdb.compressed_records(level="REPLY", session_id="spring")[1]

    assert 10 == reply.timesteps == reply.token_count == len(reply.source_record_ids)
    assert {"p::spring": 5.0} == dict(reply.top_k_activations)
    assert {"p::spring": 0.5} == dict(reply.peaks)
    assert ["weather"] == [
        told.xdb.tag_index.get_tag(significant_tag).name for significant_tag in reply.significant_tags
    ]  # type: ignore[union-attr]
    assert "ts-spring-11" == reply.source_record_ids[0]
    assert reply == told.xdb.get_compressed_record(reply.id)
    assert reply.id in {record.id for record in told.xdb.recall(session_id="spring")}


def test_a_session_s_records_are_also_the_coarse_ones_that_cover_it(told: Hexad) -> None:
    told.xdb.check_and_compress(max_storage_bytes=1)
    [year] = told.xdb.compressed_records()

    assert CompressionLevel.YEAR is year.level
    assert [year] == told.xdb.compressed_records(session_id="winter")
    assert [year] == told.xdb.compressed_records(session_id="spring", level="YEAR")
    assert [] == told.xdb.compressed_records(level="REPLY")


def test_a_range_of_time_takes_what_happened_in_it(told: Hexad, clock: FrozenClock) -> None:
    lately = (clock.now() - timedelta(days=31), clock.now())

    assert {"spring"} == {record.session_id for record in told.xdb.compressed_records(time_range=lately)}
    assert [] == told.xdb.compressed_records(time_range=("2020-01-01", "2021-01-01"))


def test_what_cannot_be_asked_is_refused(told: Hexad) -> None:
    for level in ("TOKEN", "fortnight", 0, 8):
        with pytest.raises(InvalidInput, match="REPLY, SESSION, DAY"):
            told.xdb.compressed_records(level=level)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        told.xdb.compressed_records(session_id="summer")
    assert told.xdb.get_compressed_record("compressed-REPLY-nope") is None


def test_a_concept_that_may_not_be_seen_is_not_in_a_record(told: Hexad, opened: Opener) -> None:
    (told.path / "hexad.toml").write_text('lenses = ["p::spring"]\n', encoding="utf-8")
    told.close()

    found = opened().xdb.compressed_records()

    assert {"p::spring"} == {
        concept for record in found for concept in [*record.top_k_activations, *record.peaks]
    }
