"""Erasing recorded experience and documents for good: nothing of them is left in any file, and nothing else goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import FrozenClock, Hexad, NotFound, StorageFailure
from hexad.core.erasure import ErasureReceipt
from hexad.experience.erasure.eraser import RowRemoval
from hexad.privacy.erasure import ErasureService
from opener import Opener
from stream_canaries import Canaries, found_in, told

SEA = {"pack::Sea": 0.9}


def say(hx: Hexad, text: str, times: int, *, words: Callable[..., str], tokens: int = 10) -> list[str]:
    """Record replies of `tokens` tokens, in each of which a new word stands."""
    ids = []
    for at in range(times):
        for token in range(tokens):
            content = f" {words()}" if token == 5 else f" {text}{token}"
            ids.append(hx.xdb.record("output", content, SEA, event_id=f"{text}-{at}", role="assistant"))
    return ids


def purge(hx: Hexad, **selection: Any) -> ErasureReceipt:
    planned = hx.forget(**selection, purge=True, dry_run=True)
    receipt = hx.forget(**selection, purge=True, confirm=True)
    assert {entry.place: entry.count for entry in planned.erased} == {
        entry.place: entry.count for entry in receipt.erased if entry.count
    }
    return receipt


def live_through(hx: Hexad, clock: FrozenClock, words: Callable[..., str], who: str) -> None:
    """Leave everything that a session can leave: sealed and not, compacted, compressed, pinned, submitted, said."""
    xdb = hx.xdb
    xdb.set_summarizer(lambda prompt: f"A summary of {prompt[-2_000:]}"[:250])
    for day in range(2):
        name = f"{words().split()[-1]}-{who}-{day}"
        xdb.start_session(name, 300, data_subjects=[who], compaction=True)
        ids = say(hx, "sea", 30, words=words)
        xdb.comment(words(), timestep_id=ids[-1])
        xdb.end_session()
        clock.advance(days=1)
    xdb.set_summarizer(None)
    xdb.check_and_compress(max_storage_bytes=20_000)
    name = f"{words().split()[-1]}-{who}-hot"
    xdb.start_session(name, data_subjects=[who], compaction=False)
    ids = say(hx, "hill", 20, words=words)
    xdb.seal()
    ids += say(hx, "sea", 20, words=words)
    for at in range(0, 300, 3):
        xdb.tag("nice", timestep_id=ids[at], note=words())
    for at in range(0, 100, 2):
        comment = xdb.comment(words(), tick_range=(at + 1, at + 5))
        if not at % 10:
            xdb.edit_comment(comment, words())
    xdb.tag("lovely", event_id="sea-3", note=words())
    xdb.record("input", words("A letter"), SEA, event_id=words().replace(" ", "-"), role=words().split()[-1])
    xdb.pin_window((3, 9), reason=words())
    bud = xdb.create_bud_tag(f"Bud of {who}", "A bud.")
    xdb.tag(bud.id, tick_range=(20, 40), note=words())
    xdb.submit_graft(bud.id, f"graft-{who}")
    xdb.export_submission(f"graft-{who}")
    for at in range(20):
        document = xdb.documents.add_document(
            f"{words()}.md", words("A file on"), "reference", summary=words(), data_subjects=[who]
        )
        xdb.documents.update_document(document.id, words("A newer file on"))
        if at % 2:
            xdb.documents.remove_document(document.id)
    hx.maintain()


def test_of_a_thousand_canaries_of_a_person_none_is_left_and_nothing_of_others_goes(
    hx: Hexad, clock: FrozenClock
) -> None:
    canaries, others = Canaries(), Canaries("finch")
    live_through(hx, clock, others, "Ben")
    before = timesteps(hx)
    live_through(hx, clock, canaries, "Anna")
    while len(canaries.made) < 1_000:
        hx.xdb.record("output", canaries(), SEA, session_id=hx.xdb.sessions()[-1].id)
    hx.xdb.flush()
    planted = set().union(*found_in(hx.path).values())
    assert len(planted) > 900  # what is left of a summary may be without some
    assert "canary" in told(hx)

    receipt = purge(hx, subject="Anna")

    assert () == receipt.pending
    assert {} == found_in(hx.path)
    assert "canary" not in told(hx).replace("'canary'", "")
    assert [] == hx.check()
    assert before == timesteps(hx)
    assert "graft-Ben" in told(hx)
    assert "graft-Anna" not in told(hx)
    assert [] == hx.xdb.verify_export("graft-Ben")
    kept = hx.xdb.recall(session_id="*", limit=100_000)
    assert {"Ben"} == {record.session_id.split("-")[1] for record in kept if record.session_id}


def timesteps(hx: Hexad) -> dict[str, int]:
    return {name: amount.timesteps for name, amount in hx.xdb.session_totals().items()}


def test_what_a_receipt_counts_is_what_was_there(hx: Hexad) -> None:
    hx.xdb.start_session("call", compaction=False)
    say(hx, "sea", 3, words=lambda: "word")
    hx.xdb.tag("nice", timestep_id="ts-call-4", note="A note.")
    hx.xdb.comment("A comment.", tick_range=(1, 3))
    hx.xdb.pin_window((2, 5))

    receipt = purge(hx, session="call")

    assert {
        "timesteps": 30, "tag applications": 1, "comments": 1, "windows": 1, "sessions": 1,
    } == {entry.place: entry.count for entry in receipt.erased if entry.count}  # fmt: skip
    assert ([], 0) == (hx.xdb.sessions(), hx.xdb.get_state()["timestep_count"])


def test_an_erased_session_is_begun_anew_under_its_name_and_gives_no_tick_of_the_old_one(hx: Hexad) -> None:
    hx.xdb.start_session("call")
    hx.xdb.record("output", "one")
    purge(hx, session="call")

    with pytest.raises(NotFound, match="start_session"):
        hx.xdb.record("output", "two", session_id="call")
    hx.xdb.start_session("call")
    hx.xdb.record("output", "three")
    hx.xdb.seal()

    assert ["three"] == [record.content for record in hx.xdb.recall()]
    assert ["three"] == [record.content for record in hx.xdb.recall(session_id="*")]
    assert ["call"] == [session.id for session in hx.xdb.sessions()]


def test_by_a_tag_go_the_timesteps_that_carry_it_whatever_it_is_on(hx: Hexad) -> None:
    hx.xdb.start_session("call", compaction=False)
    steps = say(hx, "sea", 5, words=lambda: "word")
    hx.xdb.tag("private", timestep_id=steps[0], note="A note.")
    hx.xdb.tag("private", event_id="sea-2")
    hx.xdb.tag("private", tick_range=(45, 48))
    hx.xdb.tag("Private", timestep_id=steps[12])  # the same tag: it is the name that counts
    hx.xdb.tag("privately", timestep_id=steps[13])
    hx.xdb.tag("long", tick_range=(1, 50), note="On all of it.")
    hx.xdb.comment("On an erased one too.", tick_range=(1, 3))
    hx.xdb.comment("On an event.", event_id="sea-2")
    hx.xdb.comment("On others.", tick_range=(2, 3))
    hx.xdb.seal()

    receipt = purge(hx, tag="private")

    assert 16 == receipt.count("timesteps")
    left = {record.tick for record in hx.xdb.recall(limit=100)}
    assert {*range(2, 13), *range(14, 21), *range(31, 45), 49, 50} == left
    assert [] == hx.xdb.tag_applications("private")
    assert ["On others."] == [comment.content for comment in hx.xdb.get_comments_for_range("call", 1, 60)]
    (long,) = hx.xdb.tag_applications("long")
    assert (2, 50, None) == (long.target.range_start, long.target.range_end, long.note)
    assert {49, 50} <= {record.tick for record in hx.xdb.recall(tags=["long"], limit=100)}


def test_before_a_time_goes_what_was_recorded_before_it_of_every_session(
    hx: Hexad, clock: FrozenClock
) -> None:
    for name in ("one", "two"):
        hx.xdb.start_session(name, compaction=False)
        say(hx, name, 2, words=lambda: "old")
    hx.xdb.seal()
    clock.advance(days=1)
    border = clock.now()
    for name in ("one", "two"):
        say_to = hx.xdb.session(name)
        say_to.record("output", "new", SEA)

    assert 40 == purge(hx, before=border).count("timesteps")
    assert [("one", "new"), ("two", "new")] == [
        (record.session_id, record.content) for record in hx.xdb.recall(session_id="*", limit=100)
    ]
    assert 2 == sum(bucket.timesteps for bucket in hx.xdb.activity(session_id="*"))


def test_conditions_hold_together(hx: Hexad, clock: FrozenClock) -> None:
    for name in ("one", "two"):
        hx.xdb.start_session(name, compaction=False, data_subjects=["Anna"] if name == "one" else None)
        steps = say(hx, name, 2, words=lambda: "old")
        hx.xdb.tag("private", timestep_id=steps[3])
    clock.advance(days=1)
    hx.xdb.tag("private", timestep_id=hx.xdb.record("output", "new", SEA, session_id="one"))

    receipt = purge(hx, tag="private", subject="Anna", before=clock.now())

    assert 1 == receipt.count("timesteps")
    assert {*range(1, 21)} - {4} <= {record.tick for record in hx.xdb.recall(session_id="one", limit=100)}
    assert 20 == len(hx.xdb.recall(session_id="two", limit=100))


def test_a_record_of_a_day_that_tells_of_others_too_is_left_without_its_texts(
    hx: Hexad, clock: FrozenClock
) -> None:
    canaries, others = Canaries(), Canaries("finch")
    for name, words in (("mine", canaries), ("yours", others)):
        hx.xdb.start_session(name, 200)
        say(hx, name, 30, words=words)
        hx.xdb.end_session()
    clock.advance(days=1)
    hx.maintain()
    hx.xdb.check_and_compress(max_storage_bytes=0)
    (year,) = hx.xdb.compressed_records()
    assert hx.forget(session="mine", purge=True, confirm=True).count("COLD records left without texts")

    (left,) = hx.xdb.compressed_records()
    assert ("YEAR", {}, ()) == (left.level.name, left.top_k_activations, left.significant_tags)
    assert "erased" in left.summary
    assert 0 < left.timesteps < year.timesteps
    assert [] == hx.check()
    assert {} == found_in(hx.path)


def test_compactions_and_the_summary_in_the_window_are_made_of_what_stays(
    hx: Hexad, clock: FrozenClock
) -> None:
    canaries = Canaries()
    hx.xdb.start_session("call", 200)
    hx.xdb.set_summarizer(lambda prompt: f"So it was: {prompt[-400:]}")
    say(hx, "first", 8, words=canaries)
    clock.advance(days=1)
    border = clock.now()
    say(hx, "second", 20, words=lambda: "kept")
    assert any("canary" in compaction.summary for compaction in hx.xdb.compactions())

    purge(hx, before=border)

    assert {} == found_in(hx.path)
    assert hx.xdb.compactions()
    assert all(compaction.range_end > 80 for compaction in hx.xdb.compactions())
    assert "canary" not in str(hx.xdb.context())
    assert [] == hx.check()
    hx.xdb.set_summarizer(None)
    say(hx, "third", 12, words=lambda: "kept")
    assert [] == hx.check()


def test_nothing_is_put_on_an_erased_timestep(hx: Hexad) -> None:
    hx.xdb.start_session("call", compaction=False)
    steps = say(hx, "sea", 2, words=lambda: "word")
    hx.xdb.tag("private", tick_range=(1, 5))
    purge(hx, tag="private")

    assert hx.xdb.get_timestep(steps[2]) is None
    with pytest.raises(NotFound):
        hx.xdb.tag("nice", timestep_id=steps[2])
    with pytest.raises(NotFound):
        hx.xdb.pin_window((1, 5))
    assert hx.xdb.tag("nice", timestep_id=steps[7])


def test_automatic_tags_of_what_was_erased_go_and_do_not_come_back(project: Path, clock: FrozenClock) -> None:
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text("auto_tag_threshold = 0.5\n")
    with hexad.open(project, embedder=None, background=False, clock=clock) as hx:
        hx.xdb.start_session("call", compaction=False)
        say(hx, "sea", 2, words=lambda: "word")
        hx.xdb.flush()
        assert [(1, 20)] == spans(hx)
        hx.xdb.tag("private", tick_range=(5, 8))
        purge(hx, tag="private")
        hx.xdb.seal()
        assert [(1, 20)] == spans(hx)  # the ends of a range stay, and nothing is there in between
        assert {1, 2, 3, 4, *range(9, 21)} == {
            record.tick for record in hx.xdb.recall(tags=["pack::Sea"], limit=50)
        }
        hx.forget(session="call", purge=True, confirm=True)
        assert ([], []) == (spans(hx), hx.check())


def spans(hx: Hexad) -> list[tuple[int | None, int | None]]:
    found = hx.xdb.tag_applications("pack::Sea")
    return [(application.target.range_start, application.target.range_end) for application in found]


def test_windows_and_submissions_keep_what_stays_of_their_evidence(hx: Hexad) -> None:
    canaries = Canaries()
    hx.xdb.start_session("call", compaction=False)
    say(hx, "sea", 2, words=lambda: "word")
    hx.xdb.record("output", canaries(), SEA)
    say(hx, "hill", 2, words=lambda: "word")
    bud = hx.xdb.create_bud_tag("Bud", "A bud.")
    hx.xdb.tag("Bud", tick_range=(15, 25))
    hx.xdb.submit_graft(bud.id, "graft")
    package = hx.xdb.export_submission("graft")
    pinned = hx.xdb.pin_window((1, 41), reason=canaries())
    hx.xdb.tag("private", timestep_id="ts-call-21", note=canaries())

    receipt = purge(hx, tag="private")

    assert {} == found_in(hx.path)
    assert 1 == receipt.count("evidence packages")
    assert [] == hx.xdb.verify_export("graft")
    assert package.is_dir()
    assert (15, 25, 10) == window_of(hx, hx.xdb.get_submission("graft").window_ids[0])
    assert (1, 41, 40) == window_of(hx, pinned.id)
    hx.forget(session="call", purge=True, confirm=True)
    assert ([], [], False) == (hx.xdb.windows(), hx.xdb.submissions(), package.exists())


def window_of(hx: Hexad, window_id: str) -> tuple[int, int, int]:
    window = hx.xdb.get_window(window_id)
    return window.start_tick, window.end_tick, window.token_count


def test_documents_go_by_their_subjects_and_tags_with_copies_that_were_changed_by_hand(hx: Hexad) -> None:
    canaries = Canaries()
    documents = hx.xdb.documents
    anna = documents.add_document(
        "Anna.md", canaries(), "reference", path="people/anna.md", data_subjects=["Anna"], tags=["people"]
    )
    documents.add_document("Ben.md", "Ben.", "reference", tags=["people"], data_subjects=["Ben"])
    documents.add_document("Tone.md", "Be brief.", "system_instruction")
    copy = documents.file(anna.id)
    copy.write_text(canaries("By hand:"))

    receipt = purge(hx, subject="Anna")

    assert (1, 1) == (receipt.count("documents"), receipt.count("working copies of documents"))
    assert ({}, False) == (found_in(hx.path), copy.exists())
    assert ["Ben.md", "Tone.md"] == [document.path for document in documents.all()]
    assert 1 == purge(hx, tag="People").count("documents")
    assert ["Tone.md"] == [document.path for document in documents.all()]
    assert () == documents.read_copies().created


def test_without_purge_the_stream_is_left_alone_and_said_so(hx: Hexad) -> None:
    hx.xdb.start_session("call")
    hx.xdb.record("output", "one")

    receipt = hx.forget(session="call")

    assert {"timesteps": 1, "sessions": 1} == {entry.place: entry.count for entry in receipt.kept}
    assert ["one"] == [record.content for record in hx.xdb.recall(session_id="call")]


@pytest.mark.parametrize("selection", [{"space": "default"}, {"path": "a/b"}, {"source": "a"}])
def test_conditions_that_are_about_memories_alone_take_nothing_of_the_stream(
    hx: Hexad, selection: dict[str, Any]
) -> None:
    hx.remember("A thing.", path="a/b", space="default")
    hx.xdb.start_session("call")
    hx.xdb.record("output", "one")

    hx.forget(**selection, purge=True, confirm=True)

    assert ["one"] == [record.content for record in hx.xdb.recall()]


def test_a_dry_run_of_a_store_that_is_only_read_says_what_it_can_and_why_it_cannot(
    hx: Hexad, opened: Opener
) -> None:
    hx.remember("Anna moved to Bergen.", space="people", data_subjects=["Anna"])
    hx.xdb.start_session("monday", data_subjects=["Ben"])
    say(hx, "sea", 2, words=lambda: "word")
    hx.xdb.flush()
    reader = opened(readonly=True)
    for purge_ in (True, False):
        assert 1 == reader.forget(subject="Anna", purge=purge_, dry_run=True).count("memories")
        assert 1 == reader.forget(space="people", purge=purge_, dry_run=True).count("memories")
        with pytest.raises(
            StorageFailure, match=r"transaction that is undone: .* read-only\. Open it for writing"
        ):
            reader.forget(subject="Ben", purge=purge_, dry_run=True)
    assert 20 == hx.forget(subject="Ben", purge=True, dry_run=True).count("timesteps")


@pytest.mark.parametrize("by", [{"subject": "Anna"}, {"session": "monday"}])
def test_what_another_program_records_of_a_person_afterwards_is_found_by_the_same_names(
    hx: Hexad, opened: Opener, by: dict[str, str]
) -> None:
    other = opened()
    other.xdb.start_session("monday", data_subjects=["Anna"], compaction=False)
    for _ in range(100):
        other.xdb.record("output", "heron-1 ")
    other.xdb.flush()
    assert 100 == purge(hx, **by).count("timesteps")
    if "subject" in by:
        with pytest.raises(NotFound, match=r"No data is about 'Anna'.*as it was written"):
            purge(hx, **by)
    else:
        assert () == purge(hx, **by).erased
    other.xdb.record("output", "heron-2 ")
    other.xdb.seal()
    assert [()] == [session.data_subjects for session in hx.xdb.sessions()]
    assert 1 == purge(hx, **by).count("timesteps")
    assert [] == hx.xdb.recall(session_id="*")
    other.close()
    hx.maintain()
    stored = b"".join(path.read_bytes() for path in hx.path.rglob("*") if path.is_file())
    assert not [word for word in (b"heron", b"Anna", b"monday") if word in stored]


def test_another_store_that_is_open_sees_at_once_that_it_is_gone(opened: Opener, clock: FrozenClock) -> None:
    hx, other = opened(), opened()
    hx.xdb.start_session("call", compaction=False)
    say(hx, "sea", 2, words=lambda: "word")
    hx.xdb.seal()
    assert 20 == len(other.xdb.recall(session_id="call", limit=100))
    clock.advance(hours=1)
    hx.forget(session="call", before=clock.now(), purge=True, confirm=True)

    assert [] == other.xdb.recall(session_id="call", limit=100)
    assert [] == other.xdb.recall_events("word", session_id="*")


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let an erasure fail before any row of the stream goes."""

    def killed(*_: object) -> None:
        raise StorageFailure("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(RowRemoval, "take", killed)
        with pytest.raises(StorageFailure):
            yield


def test_what_is_recorded_after_an_erasure_was_broken_off_stays_when_it_is_finished(
    hx: Hexad, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "The old word is heather.", event_id="old")
    clock.advance(minutes=1)

    with broken_off(monkeypatch):
        hx.forget(session="talk", purge=True, confirm=True)
    clock.advance(minutes=1)
    hx.xdb.record("input", "The new word is bracken.", event_id="new", session_id="talk")
    hx.maintain()

    assert ["The new word is bracken."] == [record.content for record in hx.xdb.recall(session_id="talk")]
    assert [] == hx.xdb.recall_events("heather")
    assert [] == hx.check()


@pytest.mark.parametrize("whole", [True, False], ids=["session", "before"])
def test_what_was_compacted_since_an_erasure_was_broken_off_goes_only_where_it_is_of_before(
    hx: Hexad, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "The old word is heather.", event_id="old")
    clock.advance(minutes=1)

    with broken_off(monkeypatch):
        if whole:
            hx.forget(session="talk", purge=True, confirm=True)
        else:
            hx.forget(before=clock.now() + timedelta(days=1), purge=True, confirm=True)
    clock.advance(minutes=1)
    for word in ("bracken", "gorse"):
        hx.xdb.record("input", f"The new word is {word}, as the map of the moor says.", event_id=word)
    with monkeypatch.context() as patch:  # compacted before anybody goes on with the erasure
        patch.setattr(ErasureService, "resume", lambda _: 0)
        while hx.xdb.request_compaction("talk") is not None:
            pass
        assert 2 <= len(hx.xdb.compressed_records(session_id="talk"))
    before = {record.content for record in hx.xdb.recall(session_id="talk")}
    assert {"heather", "bracken"} <= {
        word for text in before for word in ("heather", "bracken") if word in text
    }
    hx.maintain()

    after = " ".join(record.content for record in hx.xdb.recall(session_id="talk"))
    assert ["bracken", "gorse"] == [word for word in ("heather", "bracken", "gorse") if word in after]
    assert [] == hx.xdb.recall_events("heather")
    assert "heather" not in str(hx.xdb.context("talk"))
    assert [] == hx.check()
