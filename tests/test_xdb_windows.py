"""Windows of experience: pinned, counted against the quota, let go, and what becomes of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

import hexad
from hexad import (
    CompressionLevel,
    Conflict,
    Fidelity,
    Hexad,
    InvalidInput,
    InvalidTarget,
    LimitExceeded,
    NotFound,
    QuotaExceeded,
)
from hexad.database.connection import Database
from opener import Opener

SECRET = "ghp_" + "Ab3" * 12


@pytest.fixture
def hx(hx: Hexad) -> Hexad:
    """Twenty tokens of the session `monday`, the second ten of them two tokens long; the first ten are sealed."""
    hx.xdb.start_session("monday", compaction=False)
    for number in range(1, 21):
        hx.xdb.record(
            "output", f"w{number} ", {"pack::Odd": 0.5} if number % 2 else {}, token_count=1 + (number > 10)
        )
        if number == 10:
            hx.xdb.seal()
    return hx


def fidelities(hx: Hexad, session_id: str = "monday", ticks: tuple[int, int] | None = None) -> str:
    """The first letters of what recall shows of a session, tick by tick; a COLD record is one C."""
    letters = {Fidelity.HOT: "h", Fidelity.WARM: "w", Fidelity.SUBMITTED: "s", Fidelity.COLD: "C"}
    return "".join(
        letters[record.fidelity]
        for record in hx.xdb.recall(session_id=session_id, tick_range=ticks, limit=1_000)
    )


def compact_all(hx: Hexad, session_id: str = "monday") -> None:
    """Let all that is recorded leave the context, but for what is too little to be summarised."""
    before = None
    while (record := hx.xdb.request_compaction(session_id)) is not None:
        assert record.range_end != before
        before = record.range_end


# Pins -------------------------------------------------------------------------------------------------------------


@pytest.mark.row("H042", "H043", "H054", "H055", "H058")
def test_a_pinned_window_says_what_it_holds(hx, clock):
    clock.advance(seconds=60)
    window = hx.xdb.pin_window((9, 12), reason="bud:curiosity")

    assert hexad.TimeWindow(
        id=window.id, session_id="monday", start_tick=9, end_tick=12, start_time=clock.now() - timedelta(minutes=1),
        end_time=clock.now() - timedelta(minutes=1), fidelity=Fidelity.WARM, compression_level=CompressionLevel.TOKEN,
        pinned=True, pinned_reason="bud:curiosity", token_count=6,
    ) == window  # fmt: skip
    assert window == hx.xdb.get_window(window.id)
    assert [window] == hx.xdb.windows()
    assert "h" * 8 + "wwww" + "h" * 8 == fidelities(hx)


@pytest.mark.row("H054", "H055")
def test_a_window_is_json(hx):
    window = hx.xdb.pin_window((9, 12), reason="interesting").to_dict()

    assert ["id", "session_id", "start_tick", "end_tick", "start_time", "end_time", "fidelity"] == list(
        window
    )[:7]
    assert ("2026-01-01T00:00:00Z", "warm", "TOKEN", True, "interesting", []) == tuple(
        window[key] for key in ("start_time", "fidelity", "compression_level", "pinned", "pinned_reason", "submission_ids")
    )  # fmt: skip


def test_the_same_range_again_is_the_same_window(hx):
    window = hx.xdb.pin_window((9, 12), reason="interesting")

    assert window == hx.xdb.pin_window((9, 12))
    assert "better" == hx.xdb.pin_window([9, 12], reason="better").pinned_reason
    assert 1 == len(hx.xdb.windows())
    hx.xdb.unpin_window(window.id)
    assert window.id == hx.xdb.pin_window((9, 12)).id


def test_another_program_sees_a_pin_at_once(hx, opened):
    window = hx.xdb.pin_window((9, 12))

    assert [window] == opened().xdb.windows(fidelity="warm", session_id="monday")


def test_windows_are_found_by_what_they_are(hx):
    hx.xdb.start_session("tuesday", compaction=False)
    hx.xdb.record("input", "Hello")
    early, late = (
        hx.xdb.pin_window((1, 4), session_id="monday"),
        hx.xdb.pin_window((9, 12), session_id="monday"),
    )
    other = hx.xdb.pin_window((1, 1))
    hx.xdb.unpin_window(late.id)

    def found(**wanted):
        return [window.id for window in hx.xdb.windows(**wanted)]

    assert [early.id, late.id, other.id] == found()
    assert [other.id] == found(session_id="tuesday")
    assert [early.id, other.id] == found(pinned=True)
    assert [late.id] == found(pinned=False)
    assert [late.id] == found(fidelity="hot")
    assert [early.id, other.id] == found(fidelity=Fidelity.WARM)
    assert [late.id] == found(session_id="monday", tick_range=(5, 9))
    assert [] == found(fidelity="cold")
    with pytest.raises(NotFound, match="'friday'"):
        hx.xdb.windows(session_id="friday")
    with pytest.raises(InvalidInput, match="'lukewarm'"):
        hx.xdb.windows(fidelity="lukewarm")
    with pytest.raises(InvalidInput, match="pinned must be True, False or None, not 1"):
        hx.xdb.windows(pinned=1)
    with pytest.raises(NotFound, match="'window_7'"):
        hx.xdb.get_window("window_7")


@pytest.mark.parametrize(
    ("ticks", "error", "words"),
    [
        ((12, 9), InvalidTarget, "(12, 9)"),
        ((9,), InvalidTarget, "(9,)"),
        ((-1, 4), InvalidTarget, "-1"),
        ((1.0, 4), InvalidTarget, "1.0"),
        ("14", InvalidTarget, "'14'"),
        ((15, 21), NotFound, "no tick 21 yet; its last is 20"),
        ((1, 10**17), NotFound, "its last is 20"),
        ((0, 0), NotFound, "never recorded"),
    ],
)
def test_a_range_that_cannot_be_pinned_is_refused(hx, ticks, error, words):
    with pytest.raises(error) as refused:
        hx.xdb.pin_window(ticks)

    assert words in str(refused.value)
    assert [] == hx.xdb.windows()


def test_a_session_that_was_never_started_cannot_be_pinned(hx):
    with pytest.raises(NotFound, match="'friday'"):
        hx.xdb.pin_window((1, 2), session_id="friday")
    hx.xdb.end_session()
    with pytest.raises(InvalidInput, match="no current session"):
        hx.xdb.pin_window((1, 2))


def test_a_handle_pins_in_its_own_session(hx):
    handle = hx.xdb.session("monday")
    hx.xdb.start_session("tuesday")

    assert "monday" == handle.pin_window((1, 2)).session_id
    assert 1 == len(handle.windows())


def test_the_reason_of_a_pin_is_kept_without_secrets(hx, project):
    with pytest.raises(LimitExceeded, match="reason"):
        hx.xdb.pin_window((1, 2), reason="x" * 70_000)

    assert SECRET not in hx.xdb.pin_window((1, 2), reason=f"see {SECRET}").pinned_reason


# The quota --------------------------------------------------------------------------------------------------------


def quota_store(opened: Opener, *, tokens: int = 60_000) -> Hexad:
    hx = opened()
    for name in ("monday", "tuesday"):
        hx.xdb.start_session(name, compaction=False)
        for _ in range(4):
            hx.xdb.record("tool_response", "a long table", token_count=tokens // 4)
    return hx


@pytest.mark.row("H072", "H183")
def test_more_than_the_quota_is_not_pinned(opened):
    hx = quota_store(opened)
    first = hx.xdb.pin_window((1, 4), session_id="monday")

    with pytest.raises(QuotaExceeded) as refused:
        hx.xdb.pin_window((1, 4), session_id="tuesday")

    for words in ("60,000 tokens more", "60,000 of the WARM quota of 100,000", "Unpin", "warm_quota_tokens"):
        assert words in str(refused.value)
    assert [first] == hx.xdb.windows()
    assert 60_000 == hx.xdb.warm_tokens()
    hx.xdb.pin_window((1, 2), session_id="tuesday")
    hx.xdb.unpin_window(first.id)
    hx.xdb.pin_window((1, 4), session_id="tuesday")
    assert 60_000 == hx.xdb.warm_tokens()


@pytest.mark.row("H072")
def test_ticks_under_several_pins_count_once(opened):
    hx = quota_store(opened, tokens=96_000)
    hx.xdb.pin_window((1, 3), session_id="monday")
    hx.xdb.pin_window((2, 4), session_id="monday")
    assert 96_000 == hx.xdb.warm_tokens()

    hx.xdb.pin_window((1, 4), session_id="monday")
    assert 96_000 == hx.xdb.warm_tokens()
    with pytest.raises(QuotaExceeded):
        hx.xdb.pin_window((1, 1), session_id="tuesday")


@pytest.mark.row("H183")
def test_the_quota_is_the_contracts(opened):
    hx = quota_store(opened, tokens=120_000)
    with pytest.raises(QuotaExceeded, match="quota of 100,000"):
        hx.xdb.pin_window((1, 4), session_id="monday")
    hx.xdb.set_contract({"resources": {"memory": {"warm_quota_tokens": 150_000}}})

    assert 120_000 == hx.xdb.pin_window((1, 4), session_id="monday").token_count
    with pytest.raises(QuotaExceeded, match="quota of 150,000"):
        hx.xdb.pin_window((1, 2), session_id="tuesday")
    hx.xdb.set_contract(None)
    # What is pinned stays so when the quota shrinks, and nothing more can be.
    assert 120_000 == hx.xdb.pin_window((1, 4), session_id="monday").token_count
    with pytest.raises(QuotaExceeded, match="120,000 of the WARM quota of 100,000"):
        hx.xdb.pin_window((1, 1), session_id="tuesday")


# Letting go -------------------------------------------------------------------------------------------------------


def test_what_is_unpinned_in_the_context_is_hot_again(hx):
    window = hx.xdb.pin_window((9, 12))

    released = hx.xdb.unpin_window(window.id)

    assert (Fidelity.HOT, CompressionLevel.TOKEN, False) == (
        released.fidelity,
        released.compression_level,
        released.pinned,
    )
    assert "h" * 20 == fidelities(hx)
    assert released == hx.xdb.unpin_window(window.id)
    with pytest.raises(NotFound):
        hx.xdb.unpin_window("window_7")


@pytest.mark.row("H043", "H072")
def test_what_is_pinned_outlives_the_context(hx):
    hx.xdb.pin_window((9, 12))

    compact_all(hx)

    shown = hx.xdb.recall()
    assert ["w9 ", "w10 ", "w11 ", "w12 "] == [
        record.content for record in shown if record.fidelity is Fidelity.WARM
    ]
    assert {Fidelity.WARM, Fidelity.COLD} == {record.fidelity for record in shown}


@pytest.mark.row("H057", "H058")
def test_what_is_unpinned_outside_of_the_context_becomes_replies(hx):
    window = hx.xdb.pin_window((9, 12))
    compact_all(hx)
    between = [record for record in hx.xdb.recall() if record.fidelity is Fidelity.COLD]

    released = hx.xdb.unpin_window(window.id)

    assert (Fidelity.COLD, CompressionLevel.REPLY, 6) == (
        released.fidelity,
        released.compression_level,
        released.token_count,
    )
    assert "w9 w10 w11 w12 " == released.summary
    assert {"pack::Odd": 1.0} == released.top_k_activations
    [reply] = [record for record in hx.xdb.recall() if record not in between]
    assert (reply.id,) == released.source_record_ids
    assert (9, 12, 4, 6) == (reply.tick, reply.end_tick, reply.timesteps, reply.token_count)
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())


@pytest.mark.row("H057", "H058")
def test_a_window_of_which_a_part_is_coarser_names_all_that_stands_for_it(hx):
    wide = hx.xdb.pin_window((1, 20))
    narrow = hx.xdb.pin_window((11, 20))
    compact_all(hx)
    hx.xdb.unpin_window(wide.id)
    hx.xdb.check_and_compress(max_storage_bytes=0)
    [year] = [record for record in hx.xdb.compressed_records() if record.level is CompressionLevel.YEAR]

    hx.xdb.unpin_window(narrow.id)

    replies = [record for record in hx.xdb.compressed_records() if record.level is CompressionLevel.REPLY]
    assert 20 == year.timesteps + sum(reply.timesteps for reply in replies)
    window = hx.xdb.get_window(wide.id)
    assert [year.id, *(reply.id for reply in replies)] == list(window.source_record_ids)
    assert "w1 w2" in window.summary
    assert "w11 w12" in window.summary
    assert {reply.id for reply in replies} == set(hx.xdb.get_window(narrow.id).source_record_ids)


def test_what_another_window_keeps_stays(hx):
    wide, narrow = hx.xdb.pin_window((1, 20)), hx.xdb.pin_window((9, 12))
    compact_all(hx)

    hx.xdb.unpin_window(wide.id)
    assert "wwww" == fidelities(hx, ticks=(9, 12))
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())
    hx.xdb.unpin_window(narrow.id)

    assert "C" * len(hx.xdb.recall()) == fidelities(hx)
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())
    assert {Fidelity.COLD} == {window.fidelity for window in hx.xdb.windows()}


def test_of_a_range_that_is_partly_cold_what_is_left_is_pinned(hx):
    hx.xdb.pin_window((9, 12))
    compact_all(hx)

    window = hx.xdb.pin_window((1, 20))

    assert (9, 12, 6) == (window.start_tick, window.end_tick, window.token_count)
    with pytest.raises(Conflict, match="1 to 8 of session 'monday' are COLD already"):
        hx.xdb.pin_window((1, 8))


def test_a_pin_in_a_store_that_is_read_only_is_refused(hx, opened):
    hx.xdb.pin_window((9, 12))
    hx.xdb.flush()
    hx.close()
    reader = opened(readonly=True)

    assert 1 == len(reader.xdb.windows())
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        reader.xdb.pin_window((1, 2), session_id="monday")


@pytest.mark.row("H169")
def test_windows_are_rows_with_two_indexes(hx, clock):
    hx.xdb.pin_window((9, 12))
    db = Database.open(hx.path / "memory.db", clock=clock, readonly=True)

    indexes = {row[1] for row in db.query("PRAGMA index_list(time_windows)")}
    assert {"windows_by_fidelity", "windows_by_session"} <= indexes
    assert [("monday", 9, 12, "warm", 1, 6)] == db.query(
        "SELECT s.id, first_tick, last_tick, fidelity, pinned, token_count FROM time_windows w"
        " JOIN sessions s ON s.no = w.session_no"
    )
    columns = {row[1] for row in db.query("PRAGMA table_info(time_windows)")}
    assert columns >= {
        "id", "session_no", "start_at", "end_at", "fidelity", "compression_level", "pinned", "pinned_reason", "token_count",
        "created_at",
    }  # fmt: skip
    at = int(clock.now().timestamp()) * 1_000_000 + clock.now().microsecond
    assert [(at, at, at, 0)] == db.query(
        "SELECT start_at, end_at, created_at, compression_level FROM time_windows"
    )
    assert {"window_no", "submission_no"} == {
        row[1] for row in db.query("PRAGMA table_info(window_submissions)")
    }
    (steps,) = db.query("EXPLAIN QUERY PLAN SELECT id FROM time_windows WHERE fidelity = 'warm'")
    assert "windows_by_fidelity" in str(steps)
    db.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("fidelity = 'submitted'", "evidence of no open submission"),
        ("pinned = 0", "kept for no reason"),
        ("last_tick = 3", "ticks that cannot be"),
    ],
)
def test_a_window_that_contradicts_itself_is_told(hx, clock, change, words):
    window = hx.xdb.pin_window((9, 12))
    hx.xdb.flush()
    db = Database.open(hx.path / "memory.db", clock=clock)

    def write(assignments: str) -> None:
        with db.transaction() as con:
            con.execute(f"UPDATE time_windows SET {assignments}")

    write(change)
    [problem] = hx.check()
    write("fidelity = 'warm', pinned = 1, last_tick = 12")
    db.close()

    assert window.id in problem
    assert words in problem
    assert [] == hx.check()
