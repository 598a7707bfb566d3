"""Erasing beside a damaged segment: all else goes, the receipt names what is left, and a backup lets it be finished."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hexad import FrozenClock, Hexad, IntegrityError
from hexad.core.erasure import UNREAD
from hexad.database.erasure_book import Erasures
from hexad.experience.erasure.eraser import FILES
from opener import Opener


def recorded(hx: Hexad, clock: FrozenClock, *groups: dict[str, int]) -> list[Path]:
    """Record so many timesteps of sessions, a segment and an hour for each group, and return the segments' paths."""
    paths: list[Path] = []
    for group in groups:
        for session, number in group.items():
            hx.xdb.start_session(session, data_subjects=[f"subject of {session}"])
            for step in range(number):
                hx.xdb.record("input", f"{session} says heather {step}", session_id=session)
        hx.xdb.seal()
        paths += {*(hx.path / "stream" / "segments").glob("*.parquet")} - {*paths}
        clock.advance(hours=1)
    return paths


def damage(path: Path) -> bytes:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return whole


def words_in(hx: Hexad, session: str = "*") -> int:
    return len(hx.xdb.recall(session_id=session, limit=1_000))


def test_a_segment_of_which_all_goes_is_removed_though_it_cannot_be_read(
    opened: Opener, clock: FrozenClock
) -> None:
    hx = opened()
    first, second = recorded(hx, clock, {"one": 20}, {"one": 10, "two": 5})
    hx.remember("A note of heather.", id="note", data_subjects=["subject of one"])
    damage(first)

    planned = hx.forget(subject="subject of one", purge=True, dry_run=True)
    receipt = hx.forget(subject="subject of one", purge=True, confirm=True)

    assert 30 == planned.count("timesteps") == receipt.count("timesteps")
    assert 1 == receipt.count("memories") == receipt.count("sessions")
    assert () == tuple(receipt.pending)
    assert not first.exists()
    assert not second.exists()
    assert ["two"] == [session.id for session in hx.xdb.sessions() if not session.id.startswith("erased")]
    assert 5 == words_in(hx)
    assert [] == hx.check()


def test_what_cannot_be_taken_out_of_a_damaged_segment_is_named_and_goes_once_it_is_put_back(
    opened: Opener, clock: FrozenClock
) -> None:
    hx = opened()
    shared, apart = recorded(hx, clock, {"one": 20, "two": 5}, {"one": 10, "three": 5})
    whole = damage(shared)

    receipt = hx.forget(session="one", purge=True, confirm=True)

    (waiting,) = receipt.pending
    assert (10, 1) == (receipt.count("timesteps"), receipt.count("sessions"))
    assert FILES == waiting.place
    assert f"{shared} cannot be read" in waiting.reason
    assert "Put a backup in its place: `hexad maintain`" in waiting.reason
    assert not apart.exists()  # another has the five of session three
    assert 5 == words_in(hx, "three")
    # Others are erased, and upkeep works, beside it.
    assert () == tuple(hx.forget(session="three", purge=True, confirm=True).pending)
    hx.maintain()
    assert f"{shared} cannot be read" in hx.erasures()[1].pending[0].reason

    shared.write_bytes(whole)
    assert 5 == words_in(hx)  # nothing of it comes back
    hx.maintain()

    assert [30, 5] == [entry.count("timesteps") for entry in reversed(hx.erasures())]
    assert [(), ()] == [tuple(entry.pending) for entry in hx.erasures()]
    assert not shared.exists()
    assert 5 == words_in(hx, "two")
    assert [] == hx.check()


def test_what_was_taken_out_counts_once_though_the_program_ended_before_it_was_settled(
    opened: Opener, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hx = opened()
    (shared,) = recorded(hx, clock, {"one": 20, "two": 5})
    whole = damage(shared)
    hx.forget(session="one", purge=True, confirm=True)
    shared.write_bytes(whole)

    def ended(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(Erasures, "settle", ended)
        hx.maintain()
    assert not shared.exists()
    hx.maintain()

    (erasure,) = hx.erasures()
    assert (20, ()) == (erasure.count("timesteps"), tuple(erasure.pending))


@pytest.mark.parametrize("given", ["before", "tag", "gap"])
def test_an_erasure_goes_on_where_nobody_knew_what_a_damaged_segment_holds_of_it(
    opened: Opener, clock: FrozenClock, given: str
) -> None:
    hx = opened()
    shared, later = recorded(hx, clock, {"one": 20}, {"one": 5})
    selection: dict[str, Any] = {"session": "one"}
    if given == "before":
        for step in range(4):
            hx.xdb.record("input", f"one says {step}", session_id="one")
            clock.advance(minutes=1)
        selection["before"] = clock.now() - timedelta(minutes=2)
        hx.xdb.seal()
        (shared,) = {*(hx.path / "stream" / "segments").glob("*.parquet")} - {shared, later}
    elif given == "tag":
        selection = {"tag": "secret"}
        hx.xdb.tag("secret", tick_range=(5, 8), session_id="one")
        hx.xdb.tag("secret", tick_range=(21, 22), session_id="one")
    else:  # ticks that went before it was sealed are not in it
        for step in range(10):
            hx.xdb.record("input", f"one says {step}", session_id="one")
        hx.xdb.tag("secret", tick_range=(28, 29), session_id="one")
        hx.forget(tag="secret", purge=True, confirm=True)
        (shared,) = {*(hx.path / "stream" / "segments").glob("*.parquet")} - {shared, later}
    expected = {"before": 27, "tag": 6, "gap": 33}[given]
    whole = damage(shared)

    receipt = hx.forget(**selection, purge=True, confirm=True)

    assert any(UNREAD == waiting.place and shared.name in waiting.reason for waiting in receipt.pending)
    left = receipt.count("timesteps")
    assert left < expected
    hx.maintain()
    assert left == hx.erasures()[0].count("timesteps")

    clock.advance(minutes=1)
    hx.xdb.record("input", "one says this since", session_id="one")
    shared.write_bytes(whole)
    hx.maintain()

    assert expected == hx.erasures()[0].count("timesteps")
    hx.maintain()
    assert () == tuple(hx.erasures()[0].pending)
    assert "one says this since" in {step.content for step in hx.xdb.recall(session_id="one", limit=1_000)}
    assert [] == hx.check()


def test_an_erasure_is_refused_before_anything_goes_where_a_log_is_damaged(
    opened: Opener, clock: FrozenClock
) -> None:
    hx = opened()
    recorded(hx, clock, {"one": 5})
    hx.remember("A note of heather.", id="note", data_subjects=["subject of one"])
    for step in range(200):
        hx.xdb.record("input", f"one says {step}", session_id="one")
    hx.xdb.flush()
    (log,) = (hx.path / "stream" / "log").glob("*.log")
    hx.close()
    whole = log.read_bytes()
    log.write_bytes(
        bytes([*whole[: len(whole) // 3], whole[len(whole) // 3] ^ 0xFF, *whole[len(whole) // 3 + 1 :]])
    )

    hx = opened()
    with pytest.raises(IntegrityError, match="damaged at offset"):
        hx.forget(subject="subject of one", purge=True, confirm=True)

    assert [] == hx.erasures()
    assert hx.get("note").id == "note"
    hx.maintain()
    log.write_bytes(whole)
