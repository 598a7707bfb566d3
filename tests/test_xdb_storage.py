"""Storage under pressure: records become coarser, the oldest and finest first, and what they stood for is found."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hexad
from hexad import CompressedRecord, CompressionLevel, Fidelity, Hexad, InvalidInput, Stopped, StorageFailure
from hexad.experience.query.usage import COLD_TABLES, tables_bytes
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tiers.compression import CompressionPass, PassResult
from opener import Opener

JULY = datetime(2025, 7, 3, 9, tzinfo=UTC)
LEVELS = list(CompressionLevel)[1:]
REPLY, SESSION, DAY, WEEK, MONTH, QUARTER, YEAR = LEVELS


def word(number: int) -> str:
    """A word of its own for each number: sentences that differ in digits alone count as one."""
    return "".join("bdfgklmnprst"[int(digit)] + "aeiouaeiou"[int(digit)] for digit in str(number))


def record(
    hx: Hexad, session: str, at: datetime, *texts: str, concepts: dict[str, float] | None = None
) -> list[str]:
    """Record an event for each text, a minute apart, a token for each word; return the timesteps' ids."""
    first = hx.xdb.start_session(session, compaction=False)
    rows = [
        {
            "event_type": "output",
            "content": f"{part} ",
            "concept_activations": concepts or {},
            "event_id": f"{at:%Y%m%d%H}-{number}",
            "timestamp": at + timedelta(minutes=number),
        }
        for number, text in enumerate(texts)
        for part in text.split(" ")
    ]
    return first.record_many(rows)


def replied(
    hx: Hexad, session: str, at: datetime, *texts: str, concepts: dict[str, float] | None = None
) -> None:
    """What `record` records, as REPLY records."""
    record(hx, session, at, *texts, concepts=concepts)
    release(hx, session)


def release(hx: Hexad, session: str) -> None:
    hx._services.experience().replies.release(session, [(1, 100_000)])


def run(hx: Hexad, source: CompressionLevel, *, batch: int = 100, k: int = 10) -> PassResult | None:
    """One pass, as the loop under pressure makes many."""
    services = hx._services
    return CompressionPass(
        services.db,
        summarizer=services.experience().summarizer,
        visibility=services.experience().experience.visibility,
    ).run(source, batch=batch, k=k)


def stored(hx: Hexad, level: CompressionLevel) -> list[CompressedRecord]:
    return hx.xdb.compressed_records(level=level, session_id="*", limit=10_000)


def sums(hx: Hexad) -> tuple[int, int]:
    """Timesteps and tokens, wherever they are."""
    found = hx.xdb.recall(session_id="*", limit=100_000)
    return sum(record.timesteps for record in found), sum(record.token_count for record in found)


@pytest.fixture
def configured(project: Path, opened: Opener) -> Callable[..., Hexad]:
    """Open the project's store with these lines in its `hexad.toml`."""

    def open_with(*lines: str, **options: object) -> Hexad:
        (project / ".hexad").mkdir(exist_ok=True)
        (project / ".hexad" / "hexad.toml").write_text("\n".join(lines))
        return opened(**options)  # type: ignore[arg-type]

    return open_with


# Levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.row(
    "H045", "H046", "H047", "H048", "H049", "H050", "H051", "H052", "H053", "H059", "H080", "H168"
)
def test_records_go_from_level_to_level_and_stand_for_the_same_all_the_way(hx):
    replied(hx, "monday", JULY, "The parser reads tables.", "It is fast.", concepts={"w::Parsing": 0.5})
    replied(hx, "tuesday", JULY + timedelta(days=1), "The store is small.", concepts={"w::Storage": 0.5})
    before = sums(hx)
    finer = stored(hx, REPLY)

    for source, target in itertools.pairwise(LEVELS):
        passed = run(hx, source)

        assert (source, target, len(finer)) == (passed.source, passed.target, passed.records)
        assert [] == stored(hx, source)
        coarser = stored(hx, target)
        assert passed.into == len(coarser)
        assert {record.id for record in finer} == {
            source_record_id for record in coarser for source_record_id in record.source_record_ids
        }
        assert len(finer) == sum(record.record_count for record in coarser)
        assert before == sums(hx)
        assert {None} == {tick for record in coarser for tick in (record.start_tick, record.end_tick)}
        finer = coarser

    [year] = finer
    assert (JULY, JULY + timedelta(days=1)) == (year.start_time, year.end_time)
    assert {"w::Parsing": 3.5, "w::Storage": 2.0} == year.top_k_activations
    assert {"w::Parsing": 0.5, "w::Storage": 0.5} == year.peaks
    assert run(hx, REPLY) is None


@pytest.mark.row("H048", "H075")
def test_a_session_has_one_record_however_often_it_is_compressed(hx):
    texts = [f"Note {word(at)} was taken." for at in range(7)]
    replied(hx, "monday", JULY, *texts)
    replied(hx, "tuesday", JULY, "Other things.")

    made = []
    for _ in range(3):
        run(hx, REPLY, batch=3)
        made.append([record for record in stored(hx, SESSION) if record.session_id == "monday"])

    assert [1, 1, 1] == list(map(len, made))
    [first], [second], [third] = made
    assert first.id == second.source_record_ids[0]
    assert second.id == third.source_record_ids[0]
    assert 4 * 7 == third.timesteps
    assert all(text in third.summary for text in texts)
    assert ["monday"] == [record.session_id for record in hx.xdb.compressed_records(session_id="monday")]


@pytest.mark.row("H075", "H078")
def test_a_session_keeps_the_tags_that_most_of_its_replies_have(hx):
    replied_texts = [f"Note {word(at)}." for at in range(12)]
    record(hx, "monday", JULY, *replied_texts)
    for at in range(12):
        event = f"{JULY:%Y%m%d%H}-{at}"
        hx.xdb.tag("often", event_id=event)
        hx.xdb.tag(f"once-{at}", event_id=event)
    release(hx, "monday")

    run(hx, REPLY)

    [session] = stored(hx, SESSION)
    names = [hx.xdb.tag_index.get_tag(tag).name for tag in session.significant_tags]
    assert ["often", *(f"once-{at}" for at in range(9))] == names


@pytest.mark.row("H050")
def test_a_week_is_the_iso_week_also_at_new_year(hx):
    for name, at in [("a", "2024-12-30"), ("b", "2024-12-31"), ("c", "2025-01-05"), ("d", "2025-01-06")]:
        replied(hx, name, datetime.fromisoformat(f"{at}T23:59:59+00:00"), f"About {name}.")
    for source in (REPLY, SESSION, DAY):
        run(hx, source)

    weeks = stored(hx, WEEK)

    assert [3, 1] == [week.record_count for week in weeks]
    assert ["In week 1 of 2025", "In week 2 of 2025"] == [
        hexad.compress_records([week], WEEK, summarize=lambda _: "").summary or span(week) for week in weeks
    ]

    for source in (WEEK, MONTH, QUARTER):
        run(hx, source)
    assert [2024, 2025] == [record.start_time.year for record in stored(hx, YEAR)]


def span(record: CompressedRecord) -> str:
    year, week, _ = record.start_time.isocalendar()
    return f"In week {week} of {year}"


@pytest.mark.row("H051", "H052")
def test_months_and_quarters_are_those_of_the_calendar(hx):
    for at in ("2025-03-30", "2025-04-07", "2025-06-29", "2025-07-07"):
        replied(
            hx, at, datetime.fromisoformat(f"{at}T12:00:00+00:00"), f"About {at}.", concepts={"w::X": 0.5}
        )
    for source in LEVELS[:5]:
        run(hx, source)

    found = {record.summary.split(" I worked")[0]: record.timesteps for record in stored(hx, QUARTER)}

    assert {"In 2025 Q1": 2, "In 2025 Q2": 4, "In 2025 Q3": 2} == found


def test_a_week_belongs_to_the_month_in_which_it_begins(hx):
    for at in ("2025-03-31", "2025-04-01"):  # a Monday and a Tuesday
        replied(hx, at, datetime.fromisoformat(f"{at}T12:00:00+00:00"), "Work.", concepts={"w::X": 0.5})
    for source in LEVELS[:4]:
        run(hx, source)

    [month] = stored(hx, MONTH)

    assert month.summary.startswith("In March 2025 I worked")
    assert datetime(2025, 4, 1, 12, tzinfo=UTC) == month.end_time


def test_late_replies_of_an_old_session_join_what_became_of_it(hx):
    replied(hx, "long", JULY, "It began.")
    replied(hx, "other", JULY, "Something else.")
    hx.xdb.check_and_compress(max_storage_bytes=0)

    replied(hx, "long", JULY + timedelta(days=400), "It went on.")
    replied(hx, "long", JULY + timedelta(days=2), "This came late.")
    before = sums(hx)
    hx.xdb.check_and_compress(max_storage_bytes=0)

    [year] = stored(hx, YEAR)
    assert before == sums(hx)
    assert (JULY, JULY + timedelta(days=400)) == (year.start_time, year.end_time)
    assert {"It began.", "It went on.", "This came late."} <= set(year.summary.splitlines())
    assert [year.id] == [record.id for record in hx.xdb.recall(session_id="long")]


def test_a_record_of_several_sessions_is_found_by_each_of_them(hx):
    replied(hx, "monday", JULY, "One.")
    replied(hx, "tuesday", JULY, "Two.")
    replied(hx, "elsewhere", JULY + timedelta(days=800), "Three.")
    hx.xdb.check_and_compress(max_storage_bytes=0)

    found = {
        name: [record.id for record in hx.xdb.recall(session_id=name)]
        for name in ("monday", "tuesday", "elsewhere")
    }

    assert found["monday"] == found["tuesday"]
    assert 1 == len(found["monday"])
    assert found["monday"] != found["elsewhere"]


# Compactions ------------------------------------------------------------------------------------------------------


@pytest.mark.row("H074", "H075")
def test_compactions_are_kept_beside_replies_and_go_into_what_the_day_says(hx):
    hx.xdb.start_session("monday", max_context_tokens=400)
    for at in range(600):
        hx.xdb.record("output", f"{word(at)} ", {"w::Counting": 0.5}, event_id=f"e{at // 20}")
    hx.xdb.record("output", "The end.")
    compactions = hx.xdb.compactions("monday")
    assert compactions
    before = sums(hx)

    run(hx, REPLY, batch=1_000)
    assert compactions == hx.xdb.compactions("monday")

    run(hx, SESSION)
    assert [] == hx.xdb.compactions("monday")
    [day] = stored(hx, DAY)
    assert {compaction.id for compaction in compactions} < set(day.source_record_ids)
    assert before == sums(hx)


def test_a_sessions_summary_is_one_of_its_compactions(hx):
    hx.xdb.set_summarizer(lambda prompt: "We decided for SQLite.")
    hx.xdb.start_session("monday", max_context_tokens=400)
    for at in range(300):
        hx.xdb.record("output", f"{word(at)} ", event_id=f"e{at // 20}")
    hx.xdb.request_compaction()
    hx.xdb.set_summarizer(None)

    run(hx, REPLY, batch=1_000)

    [session] = stored(hx, SESSION)
    assert "We decided for SQLite." == session.summary


def test_a_compaction_of_pinned_timesteps_goes_by_itself(hx):
    record(hx, "monday", JULY, *[f"Line {word(at)}." for at in range(40)])
    hx.xdb.pin_window((1, 80), session_id="monday")
    hx.xdb.start_session("monday", max_context_tokens=100)
    assert hx.xdb.request_compaction() is not None
    before = sums(hx)

    report = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert Stopped.NOTHING_LEFT is report.stopped
    assert [] == hx.xdb.compactions("monday")
    assert before == sums(hx)


# Summaries --------------------------------------------------------------------------------------------------------


@pytest.mark.row("H079")
def test_the_agents_own_inference_writes_the_summaries(hx):
    asked = []

    def inference(system: str, prompt: str) -> str:
        asked.append((system, prompt))
        return "I mended the parser."

    hx.xdb.set_summarizer(inference)
    replied(
        hx,
        "monday",
        JULY,
        *[f"The parser failed at {word(at)}." for at in range(12)],
        concepts={"w::Parsing": 0.5},
    )

    report = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert ["I mended the parser."] == [record.summary for record in stored(hx, YEAR)]
    assert 6 == sum(report.summaries.values())
    assert "local" not in report.summaries
    assert "The parser failed at" in asked[0][1]
    assert "in 2025 Q3" in asked[4][0]


@pytest.mark.parametrize(
    "inference",
    [lambda _: 1 / 0, lambda _: "", lambda _: "far too long " * 1_000],
    ids=["raises", "empty", "too long"],
)
def test_a_summary_that_cannot_be_used_is_made_here(hx, inference):
    hx.xdb.set_summarizer(inference)
    replied(hx, "monday", JULY, "The parser reads tables.", concepts={"w::Parsing": 0.5})

    report = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert {"local": 6} == report.summaries
    [year] = stored(hx, YEAR)
    assert "In 2025 I worked mainly on Parsing.\nThe parser reads tables." == year.summary


@pytest.mark.row("H076")
def test_narratives_name_concepts_and_tags_by_their_names(hx):
    record(hx, "monday", JULY, "It was mended.", concepts={"w::Parsing": 0.5})
    hx.xdb.tag("release 2", event_id=f"{JULY:%Y%m%d%H}-0")
    release(hx, "monday")

    hx.xdb.check_and_compress(max_storage_bytes=0)

    [year] = stored(hx, YEAR)
    assert "In 2025 I worked mainly on Parsing and release 2.\nIt was mended." == year.summary


def test_a_summary_names_no_concept_that_the_lenses_hide(configured):
    hx = configured()
    replied(hx, "monday", JULY, "It was mended.", concepts={"w::Parsing": 0.5, "secret::Deceit": 0.9})
    hx.close()
    hx = configured('lenses = ["w::*"]')

    hx.xdb.check_and_compress(max_storage_bytes=0)

    [year] = stored(hx, YEAR)
    assert "In 2025 I worked mainly on Parsing.\nIt was mended." == year.summary
    hx.close()
    assert {"w::Parsing", "secret::Deceit"} == set(stored(configured(), YEAR)[0].top_k_activations)


# Pressure ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("H081", "H082")
def test_nothing_happens_up_to_the_threshold_and_above_it_until_it_is_reached(hx):
    for day in range(30):
        replied(
            hx, f"s{day}", JULY + timedelta(days=day), *[f"Work on {word(day * 10 + at)}." for at in range(5)]
        )
    size = hx.xdb.usage().cold_bytes

    under = hx.xdb.check_and_compress(max_storage_bytes=size * 5 // 4 + 1)
    over = hx.xdb.check_and_compress(max_storage_bytes=size * 5 // 8)

    assert (Stopped.UNDER_THRESHOLD, (), size) == (under.stopped, under.steps, under.bytes_after)
    assert Stopped.UNDER_THRESHOLD is over.stopped
    assert size == over.bytes_before
    assert over.bytes_after == hx.xdb.usage().cold_bytes <= size * 5 // 8 * 0.8
    assert over.bytes_freed == sum(step.bytes_freed for step in over.steps) == size - over.bytes_after


def test_another_threshold_counts_for_its_call(hx):
    for at in range(30):
        replied(hx, f"s{at}", JULY, f"Work on {word(at)}.")
    size = hx.xdb.usage().cold_bytes

    assert () == hx.xdb.check_and_compress(max_storage_bytes=size, compression_threshold=1.0).steps
    assert 0 < hx.xdb.check_and_compress(max_storage_bytes=size, compression_threshold=0.9).records


@pytest.mark.row("H083")
def test_the_finest_goes_first_and_of_it_the_oldest(hx):
    for day in range(6):
        replied(
            hx,
            f"s{day}",
            JULY + timedelta(days=day),
            *[f"Work on {word(day * 40 + at)}." for at in range(40)],
        )
    size = hx.xdb.usage().cold_bytes

    report = hx.xdb.check_and_compress(max_storage_bytes=round(size * 0.7 / 0.8))

    assert [(REPLY, SESSION)] == [(step.source, step.target) for step in report.steps]
    assert "s0" == stored(hx, SESSION)[0].session_id
    left = {record.session_id for record in stored(hx, REPLY)}
    gone = {f"s{day}" for day in range(6)} - left
    assert gone
    assert max(gone) < min(left)


@pytest.mark.row("H085", "H182")
def test_a_pass_takes_a_hundred_and_more_while_much_is_left_to_do(hx):
    replied(hx, "monday", JULY, *[f"Work {at}." for at in range(800)])

    report = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert [(800, 4, 400)] == [
        (step.records, step.passes, step.largest_batch) for step in report.steps if step.source is REPLY
    ]


@pytest.mark.row("H182")
def test_a_pass_takes_no_more_than_what_is_over_asks_for(hx):
    replied(hx, "monday", JULY, *[f"Work on {word(at)}." for at in range(200)])
    size = hx.xdb.usage().cold_bytes

    report = hx.xdb.check_and_compress(max_storage_bytes=size - 1, compression_threshold=1.0)

    assert [(20, 1, 20)] == [(step.records, step.passes, step.largest_batch) for step in report.steps]


def test_compression_that_is_asked_to_stop_ends_with_the_record_in_hand(hx):
    for at in range(10):
        replied(hx, f"s{at}", JULY, "Work went on.")
    before, asked = sums(hx), []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 4

    report = hx.xdb.storage_manager.check_and_compress(max_storage_bytes=0, stop=stop)

    assert (Stopped.ASKED, 3) == (report.stopped, report.records)
    assert 3 == len(stored(hx, SESSION))
    assert before == sums(hx)


@pytest.mark.row("H053", "H082")
def test_when_all_is_at_year_the_report_says_that_it_is_still_too_much(hx):
    replied(hx, "monday", JULY, "Work.")

    report = hx.xdb.check_and_compress(max_storage_bytes=10)
    again = hx.xdb.check_and_compress(max_storage_bytes=10)

    assert Stopped.NOTHING_LEFT is report.stopped is again.stopped
    assert () == again.steps
    assert "all of COLD is at YEAR" in again.notes[0]
    assert 1 == len(stored(hx, YEAR))


@pytest.mark.row("H084")
def test_hot_warm_and_submitted_stay_as_they_are(hx):
    record(hx, "monday", JULY, *[f"Work on {word(at)}." for at in range(30)])
    hx.xdb.pin_window((1, 20), session_id="monday")
    bud = hx.xdb.create_bud_tag("curiosity", "Asks on.")
    hx.xdb.tag(bud.id, tick_range=(31, 40))
    hx.xdb.submit_graft(bud.id, "graft-1")
    hx._services.experience().replies.release("monday", [(1, 60)])
    kept = [timestep for timestep in hx.xdb.recall(limit=1_000) if timestep.fidelity is not Fidelity.COLD]

    hx.xdb.check_and_compress(max_storage_bytes=0)

    found = hx.xdb.recall(session_id="monday", limit=1_000)
    assert kept == [timestep for timestep in found if timestep.fidelity is not Fidelity.COLD]
    assert {"warm": 20, "submitted": 10, "hot": 30} == {
        fidelity: sum(timestep.fidelity.value == fidelity for timestep in kept)
        for fidelity in ("warm", "submitted", "hot")
    }
    assert [YEAR] == [timestep.compression_level for timestep in found if timestep.fidelity is Fidelity.COLD]


@pytest.mark.row("H181")
def test_how_many_concepts_and_tags_records_keep_is_a_setting(configured):
    hx = configured("xdb_top_k_activations = 3")
    replied(hx, "monday", JULY, "Much.", concepts={f"w::C{at}": 0.1 + at / 20 for at in range(10)})

    run_by_setting = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert run_by_setting.records
    [year] = stored(hx, YEAR)
    assert ["w::C9", "w::C8", "w::C7"] == list(year.top_k_activations)
    assert 3 == hx.xdb.storage_manager.top_k_activations


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_storage_bytes": -1}, "-1"),
        ({"max_storage_bytes": 1.5}, "1.5"),
        ({"max_storage_bytes": True}, "True"),
        ({"compression_threshold": 0}, "compression_threshold = 0"),
        ({"compression_threshold": 1.01}, "1.01"),
        ({"compression_threshold": "half"}, "half"),
        ({"compression_threshold": float("nan")}, "nan"),
    ],
)
def test_a_limit_that_is_none_is_refused(hx, given, said):
    replied(hx, "monday", JULY, "Work.")

    with pytest.raises(InvalidInput, match=said):
        hx.xdb.check_and_compress(**given)

    assert 1 == len(stored(hx, REPLY))


@pytest.mark.parametrize(
    "line", ["xdb_compression_threshold = 1.5", "xdb_top_k_activations = 0", "xdb_max_storage_bytes = -1"]
)
def test_a_setting_that_cannot_be_used_is_named(configured, line):
    with pytest.raises(InvalidInput, match=line.replace(" = ", " in hexad.toml = ")):
        configured(line)


def test_a_store_opened_to_read_compresses_nothing(hx, opened):
    replied(hx, "monday", JULY, "Work.")

    with pytest.raises(StorageFailure, match="read-only"):
        opened(readonly=True).xdb.check_and_compress(max_storage_bytes=0)


# Usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("H086")
def test_usage_counts_all_there_is_by_file_fidelity_and_level(hx):
    record(hx, "monday", JULY, *[f"Work on {word(at)}." for at in range(30)])
    hx.xdb.seal()
    hx.xdb.pin_window((1, 9), session_id="monday")
    hx._services.experience().replies.release("monday", [(1, 30)])
    hx.xdb.start_session("tuesday", compaction=False)
    hx.xdb.record("input", "A question.", token_count=7)
    hx.xdb.documents.add_document("Tone", "Answer briefly.", "reference")

    usage = hx.xdb.usage()

    counted = {item.value: (amount.timesteps, amount.tokens) for item, amount in usage.by_fidelity.items()}
    assert {"hot": (61, 67), "warm": (9, 9), "submitted": (0, 0), "cold": (21, 21)} == counted
    assert (7, 21) == (usage.by_level[REPLY].records, usage.by_level[REPLY].timesteps)
    assert (100_000, 9) == (usage.warm_quota_tokens, usage.warm_used_tokens)
    folder = hx.path
    size = {
        name: sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
        for name in ("stream", "documents")
    }
    assert size["stream"] == usage.logs_bytes + usage.segments_bytes
    assert size["documents"] == usage.documents_bytes > 0
    assert usage.total_bytes == hx.xdb.storage_manager.get_current_usage()
    assert usage.total_bytes >= sum(
        (usage.logs_bytes, usage.segments_bytes, usage.documents_bytes, usage.tables_bytes)
    )
    stream = sum(
        usage.by_fidelity[fidelity].bytes for fidelity in (Fidelity.HOT, Fidelity.WARM, Fidelity.SUBMITTED)
    )
    assert abs(size["stream"] - stream) <= 2
    assert not usage.over_threshold


@pytest.mark.row("H183")
def test_usage_says_of_the_quota_what_pins_are_held_against(hx):
    record(hx, "monday", JULY, "a b c d e f g h i j")
    hx.xdb.pin_window((1, 6))
    bud = hx.xdb.create_bud_tag("Rain", "Rain.").id
    hx.xdb.tag(bud, tick_range=(5, 8))
    hx.xdb.submit_graft(bud, "graft-1")
    assert (6, 4) == (hx.xdb.usage().warm_used_tokens, hx.xdb.usage().by_fidelity[Fidelity.WARM].tokens)

    hx.xdb.resolve_submission("graft-1", False)

    assert (6, 8) == (hx.xdb.usage().warm_used_tokens, hx.xdb.usage().by_fidelity[Fidelity.WARM].tokens)
    assert hx.xdb.usage().warm_used_tokens == hx.xdb.warm_tokens()


@pytest.mark.row("H086")
def test_cold_bytes_are_about_those_of_the_databases_pages(hx):
    for day in range(40):
        texts = [f"Work on {word(day * 100 + at)} went on, and {word(at)} was looked at." for at in range(50)]
        replied(
            hx,
            f"s{day}",
            JULY + timedelta(days=day),
            *texts,
            concepts={"w::A": 0.5, "w::B": 0.25, "w::C": 0.125},
        )
    db = hx._services.db

    ratios = []
    for source in (None, REPLY):
        if source is not None:
            while run(hx, source, batch=1_000) is not None:
                pass
            db_vacuumed(db)
        ratios.append(hx.xdb.usage().cold_bytes / tables_bytes(db, COLD_TABLES))

    assert all(0.5 < ratio < 2 for ratio in ratios), ratios


def test_the_sessions_that_a_record_covers_count_too(hx):
    db = hx._services.db
    with db.transaction() as con:
        for at in range(5_000):
            con.execute(
                "INSERT INTO sessions(id, created_at, max_context_tokens, next_tick) VALUES(?, 0, 8192, 1)",
                (f"s{at}",),
            )
        before = hx.xdb.usage().cold_bytes
        year = hexad.compress_records(
            [CompressedRecord(id="q", level=QUARTER, start_time=JULY, end_time=JULY, summary="Work.")], YEAR
        )
        ColdRecords(db).add(year, sessions=range(1, 5_001))

    counted = hx.xdb.usage().cold_bytes - before
    assert 0.5 < counted / tables_bytes(db, ["compressed_record_sessions"]) < 2
    with db.transaction():
        ColdRecords(db).delete([1])


def db_vacuumed(db) -> None:
    """Pages that came free inside of tables count for them until they are filled again."""
    db._connection().sqlite.execute("PRAGMA query_only = OFF; VACUUM; PRAGMA query_only = ON")


def test_freed_pages_are_used_again(hx):
    for round_ in range(4):
        replied(hx, f"s{round_}", JULY, *[f"Work on {word(round_ * 2_000 + at)}." for at in range(600)])
        hx.xdb.check_and_compress(max_storage_bytes=0)
        if round_ == 0:
            once = tables_bytes(hx._services.db, COLD_TABLES)

    assert tables_bytes(hx._services.db, COLD_TABLES) < 2 * once


def test_a_check_tells_when_cold_records_and_the_stream_contradict_each_other(project):
    with hexad.open(project, embedder=None, background=False) as hx:
        replied(hx, "monday", JULY, "Work went on.")
        replied(hx, "tuesday", JULY, "Work went on.")
        run(hx, REPLY)
        run(hx, SESSION)
        assert [] == hx.check()
        with hx._services.db.transaction() as con:
            con.execute("UPDATE compressed_records SET timesteps = timesteps + 1")
            con.execute("DELETE FROM compressed_record_sessions")

        counted, homeless = hx.check()

        assert "stand for 7 timesteps, and 6 left the stream" in counted
        assert "is of no session" in homeless


# Found again ------------------------------------------------------------------------------------------------------


@pytest.mark.row("H053", "H091")
def test_a_year_is_found_by_concept_tag_text_and_time(hx):
    record(hx, "monday", JULY, "The parser reads nested tables.", concepts={"w::Parsing": 0.75})
    hx.xdb.tag("breakthrough", event_id=f"{JULY:%Y%m%d%H}-0")
    release(hx, "monday")
    replied(hx, "later", JULY + timedelta(days=500), "The store is small.", concepts={"w::Storage": 0.5})
    hx.xdb.check_and_compress(max_storage_bytes=0)

    def found(**asked) -> list[int]:
        return [timestep.timestamp.year for timestep in hx.xdb.recall(session_id="*", **asked)]

    assert [2025, 2026] == found()
    assert [2025] == found(concepts=["w::Parsing"]) == found(concepts={"w::Parsing": (0.7, 0.8)})
    assert [] == found(concepts={"w::Parsing": (0.8, 1.0)})
    assert [2025] == found(tags=["breakthrough"])
    assert [2025] == found(text_search="NESTED tables")
    assert [2025] == found(time_range=("2025-01-01", "2025-12-31"))
    assert [2026] == found(time_range=("2026-11-01", "2026-11-30"))
    assert [(Fidelity.COLD, YEAR)] * 2 == [
        (timestep.fidelity, timestep.compression_level) for timestep in hx.xdb.recall(session_id="*")
    ]
    assert [2025] == [
        timestep.timestamp.year for timestep in hx.xdb.recall_by_concept("w::Parsing", session_id="*")
    ]


@pytest.mark.row("H091")
def test_what_is_recent_is_vivid_and_what_is_long_ago_an_impression(hx):
    for month in range(12):
        at = datetime(2025, month + 1, 10, tzinfo=UTC)
        texts = [f"In {word(month)} the part {word(at_)} was built." for at_ in range(30)]
        replied(hx, f"m{month:02}", at, *texts, concepts={f"w::Topic{month // 3}": 0.5})
    record(hx, "now", datetime(2025, 12, 30, tzinfo=UTC), "This is being thought right now.")
    size = hx.xdb.usage().cold_bytes

    hx.xdb.check_and_compress(max_storage_bytes=round(size * 0.06 / 0.8))

    found = hx.xdb.recall(session_id="*", limit=1_000)
    assert {Fidelity.HOT} == {timestep.fidelity for timestep in found if timestep.session_id == "now"}
    cold = [timestep for timestep in found if timestep.fidelity is Fidelity.COLD]
    coarse = [
        timestep.compression_level for timestep in sorted(cold, key=lambda timestep: timestep.timestamp)
    ]
    assert coarse == sorted(coarse, reverse=True)
    [*_, quarter] = [timestep for timestep in cold if "Topic2" in " ".join(timestep.concept_activations)]
    assert "Topic2" in quarter.content


# Everything has a limit -------------------------------------------------------------------------------------------


def test_sessions_that_ended_leave_full_detail_where_everything_has_a_limit(configured, clock):
    hx = configured()
    for at in range(3):
        session = hx.xdb.start_session(f"old {at}")
        session.record_many(
            [{"event_type": "output", "content": f"{word(at * 5_000 + n * 7)} "} for n in range(6_000)]
        )
        session.end()
        clock.advance(hours=1)
    hx.xdb.start_session("running")
    hx.xdb.record("output", "Still here.")
    hx.xdb.seal()
    total = hx.xdb.storage_manager.get_current_usage()
    hx.close()

    hx = configured(f"xdb_max_storage_bytes = {total}", "xdb_compression_threshold = 0.97")
    assert hx.xdb.usage().over_threshold
    report = hx.xdb.check_and_compress()

    assert ["old 0"] == list(report.expired_sessions)[:1]
    assert Stopped.UNDER_THRESHOLD is report.stopped
    assert hx.xdb.storage_manager.get_current_usage() <= total * 0.97
    detail = {
        name: {record.fidelity for record in hx.xdb.recall(session_id=name, limit=10_000)}
        for name in ("old 0", "old 2", "running")
    }
    assert {"old 0": {Fidelity.COLD}, "old 2": {Fidelity.HOT}, "running": {Fidelity.HOT}} == detail
    assert 18_001 == sums(hx)[0]


def test_upkeep_holds_everything_against_its_limit(configured):
    hx = configured("xdb_max_storage_bytes = 200_000")  # less than the tables of an empty store take
    record(hx, "monday", JULY, "Work.")
    hx.xdb.end_session()
    hx.xdb.start_session("monday", compaction=True)
    hx.xdb.end_session()

    assert 6 == hx.maintain().compressed

    assert [YEAR] == [timestep.compression_level for timestep in hx.xdb.recall(session_id="*")]


def test_the_background_holds_everything_against_its_limit_too(configured):
    hx = configured()
    replied(hx, "monday", JULY, "Work.")
    hx.close()
    hx = configured("xdb_max_storage_bytes = 1", background=True)
    assert hx.xdb.contract.active is False  # from here on this program has to do with experience

    hx.recall("anything")

    assert hx.wait_for_background()
    assert [YEAR] == [record.compression_level for record in hx.xdb.recall(session_id="*")]


def test_a_store_without_experience_has_nothing_to_compress(configured):
    hx = configured("xdb_max_storage_bytes = 1")

    report = hx.xdb.check_and_compress()

    assert (Stopped.NOTHING_LEFT, 0, ()) == (report.stopped, report.records, report.steps)
    assert 0 == hx.maintain().compressed


def test_without_such_a_limit_sessions_that_ended_stay_as_they_are(hx):
    record(hx, "monday", JULY, "Work.")
    hx.xdb.end_session()

    report = hx.xdb.check_and_compress(max_storage_bytes=0)

    assert ((), Stopped.UNDER_THRESHOLD) == (report.expired_sessions, report.stopped)
    assert {Fidelity.HOT} == {timestep.fidelity for timestep in hx.xdb.recall(session_id="*")}
