"""From tagged examples to a graft: collect, promote, examples, ready, submit, resolve."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hexad import CompressionLevel, Conflict, Fidelity, Hexad, InvalidInput, NotFound
from hexad.experience.tiers import replies
from hexad.experience.values.tags import BudStatus
from hexad.experience.values.tiers import SubmissionStatus
from test_xdb_windows import compact_all, fidelities


@pytest.fixture
def hx(hx: Hexad) -> Hexad:
    """Twenty tokens of `monday`, the 4th to the 6th the event `call`; ten of `tuesday`. The bud `Curiosity`."""
    hx.xdb.start_session("tuesday", compaction=False)
    for number in range(1, 11):
        hx.xdb.record("output", f"t{number} ")
    hx.xdb.start_session("monday", compaction=False)
    for number in range(1, 21):
        inside = 4 <= number <= 6
        hx.xdb.record("output", f"w{number} ", event_id="call" if inside else None, event_end=number == 6)
        if number == 10:
            hx.xdb.seal()
    hx.xdb.create_bud_tag("Curiosity", "Asking on.")
    return hx


def bud_status(hx: Hexad, name: str = "Curiosity") -> BudStatus | None:
    tag = hx.xdb.tag_index.resolve(name)
    assert tag is not None
    return tag.bud_status


def ranges(windows) -> list[tuple[str, int, int]]:
    return [(window.session_id, window.start_tick, window.end_tick) for window in windows]


# Handing in -------------------------------------------------------------------------------------------------------


@pytest.mark.row("H007", "H044", "H056", "H087")
def test_tagged_experience_becomes_the_evidence_of_a_graft(hx, clock):
    hx.xdb.tag("Noticing", timestep_id="ts-monday-2")
    hx.xdb.tag("Noticing", event_id="call")
    hx.xdb.tag("Noticing", tick_range=(9, 12))
    hx.xdb.tag("Noticing", tick_range=(3, 4), session_id="tuesday")
    bud = hx.xdb.promote_to_bud(hx.xdb.tag_index.resolve("Noticing").id)
    assert 10 == len(hx.xdb.get_bud_examples(bud.id))
    hx.xdb.mark_bud_ready(bud.id)

    ids = hx.xdb.submit_graft(bud.id, "graft-1")

    windows = hx.xdb.get_windows_for_submission("graft-1")
    assert ids == [window.id for window in windows]
    assert [("tuesday", 3, 4), ("monday", 2, 2), ("monday", 4, 6), ("monday", 9, 12)] == ranges(windows)
    assert {(Fidelity.SUBMITTED, ("graft-1",), False)} == {
        (window.fidelity, window.submission_ids, window.pinned) for window in windows
    }
    assert [2, 1, 3, 4] == [window.token_count for window in windows]
    assert "hshssshhssss" + "h" * 8 == fidelities(hx)
    assert BudStatus.TRAINING is bud_status(hx, "Noticing")
    submission = hx.xdb.get_submission("graft-1")
    assert ("graft-1", bud.id, SubmissionStatus.OPEN, clock.now(), None, tuple(ids)) == (
        submission.id, submission.bud_tag_id, submission.status, submission.submitted_at, submission.resolved_at,
        submission.window_ids,
    )  # fmt: skip
    assert [submission] == hx.xdb.submissions("open")


def test_ranges_that_overlap_or_touch_are_one_window(hx):
    for ticks in [(3, 8), (5, 12), (13, 13), (15, 16)]:
        hx.xdb.tag("Curiosity", tick_range=ticks)

    hx.xdb.submit_graft("Curiosity", "graft-1")

    assert [("monday", 3, 13), ("monday", 15, 16)] == ranges(hx.xdb.get_windows_for_submission("graft-1"))


def test_an_event_that_goes_on_is_evidence_as_far_as_it_has_come(hx):
    for _ in range(3):
        hx.xdb.record("output", "more ", event_id="open")
    hx.xdb.tag("Curiosity", event_id="open")

    hx.xdb.submit_graft("Curiosity", "graft-1")
    hx.xdb.record("output", "and more", event_id="open")

    assert [("monday", 21, 23)] == ranges(hx.xdb.get_windows_for_submission("graft-1"))
    assert "sssh" == fidelities(hx)[-4:]


def test_a_range_that_reaches_into_the_future_is_evidence_up_to_what_was_recorded(hx):
    hx.xdb.tag("Curiosity", tick_range=(18, 4_000))

    hx.xdb.submit_graft("Curiosity", "graft-1")

    assert [("monday", 18, 20)] == ranges(hx.xdb.get_windows_for_submission("graft-1"))


def test_what_is_tagged_later_is_not_in_the_submission(hx):
    hx.xdb.tag("Curiosity", tick_range=(9, 12))
    ids = hx.xdb.submit_graft("Curiosity", "graft-1")
    hx.xdb.tag("Curiosity", tick_range=(14, 16))

    assert ids == hx.xdb.submit_graft("Curiosity", "graft-1")
    assert [("monday", 9, 12)] == ranges(hx.xdb.get_windows_for_submission("graft-1"))
    assert [("monday", 9, 12)] == ranges(hx.xdb.get_windows_for_tag("Curiosity"))


@pytest.mark.row("H073")
def test_a_pinned_window_is_handed_in_and_costs_no_quota_from_then_on(hx):
    pinned = hx.xdb.pin_window((9, 12), reason="bud:curiosity")
    hx.xdb.tag("Curiosity", tick_range=(9, 12))

    assert [pinned.id] == hx.xdb.submit_graft("Curiosity", "graft-1")

    window = hx.xdb.get_window(pinned.id)
    assert (Fidelity.SUBMITTED, ("graft-1",)) == (window.fidelity, window.submission_ids)
    assert 0 == hx.xdb.warm_tokens()
    # Whoever wants to keep it whatever is decided pins it again.
    again = hx.xdb.pin_window((9, 12))
    assert again.id != pinned.id
    hx.xdb.resolve_submission("graft-1", True)
    assert "wwww" == fidelities(hx)[8:12]


@pytest.mark.parametrize(
    ("bud", "submission", "error", "words"),
    [
        ("Nobody", "graft-1", NotFound, "'Nobody'"),
        ("plain", "graft-1", InvalidInput, "'plain' is no bud; `promote_to_bud`"),
        ("Curiosity", "graft-1", InvalidInput, "'Curiosity' has no example in full detail"),
        *(
            (
                "Curiosity",
                wrong,
                InvalidInput,
                "cannot be used: use letters, digits, '_', '-' and single '.' inside",
            )
            for wrong in ("", "../graft", "..", ".graft", "graft.", "a b", "a/b")
        ),
        ("Curiosity", "con", InvalidInput, "device"),
        ("Curiosity", "x" * 300, InvalidInput, "128"),
        ("Curiosity", 7, InvalidInput, "submission_id must be a string, not 7"),
    ],
)
def test_what_cannot_be_handed_in_is_refused(hx, bud, submission, error, words):
    hx.xdb.tag("plain", tick_range=(1, 2))
    with pytest.raises(error) as refused:
        hx.xdb.submit_graft(bud, submission)

    assert words in str(refused.value)
    assert ([], [], BudStatus.COLLECTING) == (hx.xdb.submissions(), hx.xdb.windows(), bud_status(hx))


def test_an_id_is_one_submissions_for_good(hx):
    hx.xdb.create_bud_tag("Patience", "Waiting.")
    for name in ("Curiosity", "Patience"):
        hx.xdb.tag(name, tick_range=(9, 12))
    hx.xdb.submit_graft("Curiosity", "graft-1")

    with pytest.raises(Conflict, match="'graft-1' is there, of the bud"):
        hx.xdb.submit_graft("Patience", "graft-1")
    with pytest.raises(Conflict, match="but for case"):
        hx.xdb.submit_graft("Patience", "Graft-1")
    hx.xdb.resolve_submission("graft-1", False)
    with pytest.raises(Conflict, match="was rejected already"):
        hx.xdb.submit_graft("Curiosity", "graft-1")
    with pytest.raises(Conflict, match="was rejected already; it cannot be accepted"):
        hx.xdb.resolve_submission("graft-1", True)
    assert BudStatus.COLLECTING is bud_status(hx, "Patience")


def test_a_bud_that_was_abandoned_is_not_handed_in(hx):
    hx.xdb.tag("Curiosity", tick_range=(9, 12))
    hx.xdb.update_bud_status(hx.xdb.tag_index.resolve("Curiosity").id, "abandoned")

    with pytest.raises(Conflict, match="abandoned"):
        hx.xdb.submit_graft("Curiosity", "graft-1")
    assert [] == hx.xdb.windows()


def test_examples_that_are_cold_are_no_evidence(hx):
    hx.xdb.tag("Curiosity", tick_range=(1, 4))
    compact_all(hx)
    with pytest.raises(InvalidInput, match="full detail"):
        hx.xdb.submit_graft("Curiosity", "graft-1")
    hx.xdb.record("output", "new")
    hx.xdb.tag("Curiosity", timestep_id="ts-monday-21")

    hx.xdb.submit_graft("Curiosity", "graft-1")

    assert [("monday", 21, 21)] == ranges(hx.xdb.get_windows_for_submission("graft-1"))


def test_what_turns_cold_while_it_is_handed_in_or_pinned_is_no_window(hx, opened):
    hx.xdb.tag("Curiosity", tick_range=(1, 4))
    other = opened()
    waiting = ["FROM stream_segments", "FROM sessions WHERE id"]

    def compact_meanwhile(sql: str, _seconds: float) -> None:
        # What is in the stream was noted, but not read yet, and the turn to write comes only after it.
        if waiting and waiting[0] in sql:
            del waiting[0]
            if not waiting:
                other.xdb.request_compaction("monday")

    hx._services.db.tracer = compact_meanwhile
    with pytest.raises(InvalidInput, match="full detail"):
        hx.xdb.submit_graft("Curiosity", "graft-1")
    last = max(record.end_tick or 0 for record in hx.xdb.recall())
    waiting += ["FROM stream_segments", "FROM sessions WHERE id"]
    with pytest.raises(Conflict, match="COLD already"):
        hx.xdb.pin_window((last + 1, last + 2))
    hx._services.db.tracer = None

    assert not waiting
    assert [] == hx.xdb.windows()


# Answers ----------------------------------------------------------------------------------------------------------


def submitted(hx: Hexad, submission_id: str = "graft-1", ticks: tuple[int, int] = (9, 12)) -> str:
    hx.xdb.tag("Curiosity", tick_range=ticks)
    [window_id] = hx.xdb.submit_graft("Curiosity", submission_id)
    return window_id


@pytest.mark.row("H044", "H073")
def test_evidence_outlives_the_context_and_pressure(hx):
    submitted(hx)

    compact_all(hx)
    hx.xdb.end_session(session_id="monday")
    hx.xdb.check_and_compress()
    hx.maintain()

    kept = [record for record in hx.xdb.recall(session_id="monday") if record.fidelity is Fidelity.SUBMITTED]
    assert [(9, "w9 "), (10, "w10 "), (11, "w11 "), (12, "w12 ")] == [
        (record.tick, record.content) for record in kept
    ]


@pytest.mark.row("H057", "H073", "H088")
@pytest.mark.parametrize("compacted", [False, True])
def test_what_was_accepted_becomes_replies(hx, clock, compacted):
    window_id = submitted(hx)
    if compacted:
        compact_all(hx)
    clock.advance(seconds=5)

    submission = hx.xdb.resolve_submission("graft-1", True)

    assert (SubmissionStatus.ACCEPTED, clock.now()) == (submission.status, submission.resolved_at)
    window = hx.xdb.get_window(window_id)
    assert (Fidelity.COLD, CompressionLevel.REPLY, (), "w9 w10 w11 w12 ", 4) == (
        window.fidelity, window.compression_level, window.submission_ids, window.summary, window.token_count,
    )  # fmt: skip
    shown = hx.xdb.recall(tick_range=(9, 12))
    assert [(9, 12, 4)] == [
        (record.tick, record.end_tick, record.timesteps) for record in shown if record.tick == 9
    ]
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())
    assert BudStatus.PROMOTED is bud_status(hx)
    assert submission == hx.xdb.resolve_submission("graft-1", True)
    assert [submission] == hx.xdb.submissions("accepted")
    assert [] == hx.xdb.submissions(SubmissionStatus.OPEN)


@pytest.mark.row("H089")
def test_what_was_rejected_is_warm_until_its_grace_is_over(hx, clock):
    window_id = submitted(hx)
    compact_all(hx)
    end = clock.now()

    assert SubmissionStatus.REJECTED is hx.xdb.resolve_submission("graft-1", False).status

    window = hx.xdb.get_window(window_id)
    assert (Fidelity.WARM, False, (), 7) == (
        window.fidelity, window.pinned, window.submission_ids, (window.grace_until - end).days,
    )  # fmt: skip
    assert 0 == hx.xdb.warm_tokens()
    assert BudStatus.COLLECTING is bud_status(hx)
    clock.advance(days=6.9)
    assert 0 == hx.maintain().let_go
    assert "wwww" == fidelities(hx, ticks=(9, 12))
    clock.advance(days=0.2)
    assert 1 == hx.maintain().let_go
    assert "C" == fidelities(hx, ticks=(9, 12))
    assert Fidelity.COLD is hx.xdb.get_window(window_id).fidelity
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())


@pytest.mark.row("H089")
def test_what_was_rejected_can_be_pinned_before_its_grace_is_over(hx, clock):
    window_id = submitted(hx)
    hx.xdb.resolve_submission("graft-1", False)

    window = hx.xdb.pin_window((9, 12))

    assert (window_id, True, None) == (window.id, window.pinned, window.grace_until)
    assert 4 == hx.xdb.warm_tokens()
    clock.advance(days=30)
    assert 0 == hx.maintain().let_go
    assert "wwww" == fidelities(hx)[8:12]


def test_what_was_rejected_can_be_let_go_of_at_once(hx):
    window_id = submitted(hx)
    compact_all(hx)
    with pytest.raises(Conflict, match="evidence of 'graft-1'"):
        hx.xdb.unpin_window(window_id)
    hx.xdb.resolve_submission("graft-1", False)

    assert Fidelity.COLD is hx.xdb.unpin_window(window_id).fidelity


def test_the_grace_is_a_setting(hx, opened, clock, monkeypatch):
    window_id = submitted(hx)
    monkeypatch.setenv("HEXAD_XDB_SUBMISSION_GRACE_DAYS", "0.5")
    other = opened()

    other.xdb.resolve_submission("graft-1", False)

    assert 12 * 3600 == (other.xdb.get_window(window_id).grace_until - clock.now()).total_seconds()


@pytest.mark.row("H056", "H090")
@pytest.mark.parametrize("answers", [(True, True), (True, False), (False, True), (False, False)])
def test_a_window_stays_locked_while_any_submission_names_it(hx, answers):
    first = submitted(hx)
    second = submitted(hx, "graft-2")
    assert first == second
    assert ("graft-1", "graft-2") == hx.xdb.get_window(first).submission_ids
    compact_all(hx)

    hx.xdb.resolve_submission("graft-1", answers[0])

    window = hx.xdb.get_window(first)
    assert (Fidelity.SUBMITTED, ("graft-2",)) == (window.fidelity, window.submission_ids)
    assert "ssss" == fidelities(hx, ticks=(9, 12))
    hx.xdb.resolve_submission("graft-2", answers[1])
    assert (Fidelity.COLD if answers[1] else Fidelity.WARM) is hx.xdb.get_window(first).fidelity
    assert [first] == list(hx.xdb.get_submission("graft-1").window_ids)
    assert (BudStatus.PROMOTED if any(answers) else BudStatus.COLLECTING) is bud_status(hx)


@pytest.mark.row("H090")
def test_one_submission_does_not_release_what_overlaps_anothers_evidence(hx):
    submitted(hx)
    hx.xdb.create_bud_tag("Patience", "Waiting.")
    hx.xdb.tag("Patience", tick_range=(11, 15))
    hx.xdb.submit_graft("Patience", "graft-2")

    hx.xdb.resolve_submission("graft-1", True)
    assert "hCsssss" == fidelities(hx)[7:14]
    hx.xdb.resolve_submission("graft-2", True)

    assert 20 == sum(record.timesteps for record in hx.xdb.recall())
    assert {Fidelity.COLD} == {record.fidelity for record in hx.xdb.recall(tick_range=(9, 15))}


@pytest.mark.row("H119", "H148")
def test_examples_are_found_at_whatever_fidelity_is_left(hx):
    submitted(hx)
    hx.xdb.tag("Curiosity", timestep_id="ts-monday-20")
    bud = hx.xdb.tag_index.resolve("Curiosity").id
    hx.xdb.resolve_submission("graft-1", True)

    examples = hx.xdb.get_bud_examples(bud)

    assert [("w9 w10 w11 w12 ", Fidelity.COLD), ("w20 ", Fidelity.HOT)] == [
        (example.content, example.fidelity) for example in examples
    ]
    assert examples == hx.xdb.tag_index.get_bud_examples(bud)


def generated(hx: Hexad, *answers: str) -> int:
    """Hand in a session of answers, a token for each four characters, as `graft-1`; return how many tokens."""
    hx.xdb.start_session("long", compaction=False)
    rows = [
        {"event_type": "output", "content": text[at : at + 4], "event_id": f"answer-{number}"}
        for number, text in enumerate(answers)
        for at in range(0, len(text), 4)
    ]
    hx.xdb.record_many(rows)
    hx.xdb.tag("Curiosity", tick_range=(1, len(rows)))
    hx.xdb.submit_graft("Curiosity", "graft-1")
    return len(rows)


@pytest.mark.row("H047", "H088")
@pytest.mark.parametrize("at_once", [16, 17, 24, 64])
def test_however_much_is_read_at_once_an_event_is_one_reply_without_its_secret(hx, monkeypatch, at_once):
    monkeypatch.setattr(replies, "CHUNK_TIMESTEPS", at_once)
    secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    texts = [
        "It rained frogs, and some fish.",
        f"The key is {secret} today.",
        "",
        "Then it hailed, and snowed.",
    ]
    count = generated(hx, *texts)

    hx.xdb.resolve_submission("graft-1", True)

    found = hx.xdb.recall(session_id="long")
    assert count == sum(record.timesteps for record in found)
    assert ["answer-0", "answer-1", "answer-3"] == [record.event_id for record in found]
    assert [texts[0], texts[3]] == [record.content for record in found if record.event_id != "answer-1"]
    assert not any(secret[at : at + 12] in record.content for record in found for at in range(28))


@pytest.mark.row("H088")
def test_ticks_that_were_never_used_cost_no_time(hx):
    far = 1_000_000_000_000
    step = replace(hx.xdb.recall(limit=1)[0], id="", session_id="monday", tick=far, content="far ")
    hx.xdb.experience_log.record_timestep(step)
    hx.xdb.tag("Curiosity", tick_range=(20, far))
    hx.xdb.submit_graft("Curiosity", "graft-1")

    hx.xdb.resolve_submission("graft-1", True)

    [reply] = [record for record in hx.xdb.recall() if record.fidelity is Fidelity.COLD]
    assert ("w20 far ", 20, far, 2) == (reply.content, reply.tick, reply.end_tick, reply.timesteps)


def test_evidence_that_is_apart_does_not_become_one_reply(hx):
    hx.xdb.pin_window((10, 11))
    hx.xdb.tag("Curiosity", tick_range=(9, 12))
    hx.xdb.tag("Curiosity", tick_range=(15, 16))
    hx.xdb.submit_graft("Curiosity", "graft-1")

    hx.xdb.resolve_submission("graft-1", True)

    replies = [record for record in hx.xdb.recall() if record.fidelity is Fidelity.COLD]
    assert ["w9 ", "w12 ", "w15 w16 "] == [reply.content for reply in replies]


def test_what_a_pin_kept_of_accepted_evidence_goes_with_the_pin(hx):
    pinned = hx.xdb.pin_window((11, 15))
    window_id = submitted(hx)

    hx.xdb.resolve_submission("graft-1", True)
    assert "hCwwwwwh" == fidelities(hx)[7:15]
    assert Fidelity.COLD is hx.xdb.get_window(window_id).fidelity
    hx.xdb.unpin_window(pinned.id)

    assert "hCChhhh" == fidelities(hx)[7:14]
    assert 20 == sum(record.timesteps for record in hx.xdb.recall())


def test_a_window_that_is_pinned_again_counts_what_is_left_of_it(hx):
    window = hx.xdb.pin_window((9, 12))
    hx.xdb.unpin_window(window.id)
    submitted(hx, ticks=(10, 11))
    hx.xdb.resolve_submission("graft-1", True)

    again = hx.xdb.pin_window((9, 12))

    assert (window.id, 2, 2) == (again.id, again.token_count, hx.xdb.warm_tokens())


def test_a_bud_with_another_open_submission_stays_in_training(hx):
    submitted(hx)
    submitted(hx, "graft-2")

    hx.xdb.resolve_submission("graft-1", False)
    assert BudStatus.TRAINING is bud_status(hx)
    hx.xdb.resolve_submission("graft-2", False)
    assert BudStatus.COLLECTING is bud_status(hx)


def test_an_answer_to_nothing_is_an_error(hx):
    with pytest.raises(NotFound, match="'graft-9'"):
        hx.xdb.resolve_submission("graft-9", True)
    submitted(hx)
    with pytest.raises(InvalidInput, match="'yes'"):
        hx.xdb.resolve_submission("graft-1", "yes")
    for ask in (hx.xdb.get_submission, hx.xdb.get_windows_for_submission):
        with pytest.raises(NotFound, match="'graft-9'"):
            ask("graft-9")
    with pytest.raises(InvalidInput, match="'done'"):
        hx.xdb.submissions("done")
    with pytest.raises(NotFound, match="'Nobody'"):
        hx.xdb.get_windows_for_tag("Nobody")
    assert SubmissionStatus.OPEN is hx.xdb.get_submission("graft-1").status


def test_an_id_that_holds_a_secret_is_refused_and_not_repeated(hx):
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"

    with pytest.raises(InvalidInput, match=r"submission_id holds what looks like a secret") as refused:
        submitted(hx, token)

    assert token not in str(refused.value)
    assert [] == hx.xdb.submissions()
