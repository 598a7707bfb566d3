"""When consolidation runs by itself, and that of several programs one does it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.database.leases import Lease
from opener import Opener

NOTES = ("Ship it on green, not on red.", "ship it on green; not on red!")


@pytest.fixture
def hx(opened: Opener) -> Hexad:
    return opened(embedder=None)


def duplicate(hx: Hexad, round_: int = 0) -> None:
    for text in NOTES:
        hx.remember(f"Round {round_}: {text}")


def merged(hx: Hexad) -> int:
    return hx.count(status="archived")


@pytest.mark.row("A008")
def test_maintain_consolidates_once_a_day(hx, clock):
    duplicate(hx)
    assert (0, 0) == (hx.maintain().consolidated, merged(hx))  # the store is younger than a day
    clock.advance(hours=24)
    assert (1, 1) == (hx.maintain().consolidated, merged(hx))
    duplicate(hx, 1)
    clock.advance(hours=23)
    assert (0, 1) == (hx.maintain().consolidated, merged(hx))
    assert [] == hx.status().consolidation["due"]
    clock.advance(hours=1)
    assert ["session", "project"] == hx.status().consolidation["due"]
    assert (1, 2) == (hx.maintain().consolidated, merged(hx))


@pytest.mark.row("A008")
@pytest.mark.parametrize(("line", "days"), [('nightly = "weekly"', 7), ("nightly = false", None)])
def test_it_may_run_weekly_or_by_hand_alone(opened, project, clock, line, days):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text(f"[consolidation]\n{line}\n")
    hx = opened(embedder=None)
    duplicate(hx)
    clock.advance(days=6)
    assert 0 == hx.maintain().consolidated
    clock.advance(days=1 if days else 100)
    assert (1 if days else 0) == hx.maintain().consolidated
    assert (0 if days else 1) == len(hx.consolidate("project").changes)


@pytest.mark.row("A008")
def test_the_background_does_what_is_due(opened, clock):
    hx = opened(embedder=None, background=True)
    duplicate(hx)
    clock.advance(days=1, hours=1)
    hx.remember("Something new.")

    assert hx.wait_for_background()
    assert 1 == merged(hx)


def test_while_another_program_is_at_it_a_call_says_so_and_maintain_leaves_it_alone(hx, clock):
    duplicate(hx)
    clock.advance(days=2)
    with Lease(hx.path / "maintain.lock", clock=clock, purpose="consolidation").held_for() as ours:
        assert ours
        with pytest.raises(hexad.StoreLocked) as error:
            hx.consolidate("project")
        assert "(consolidation, since" in str(error.value)
        assert 0 == hx.maintain().consolidated
        assert 1 == len(hx.consolidate("project", dry_run=True).changes)

    assert 1 == hx.maintain().consolidated


_ONE_OF_SEVERAL = textwrap.dedent(
    """
    import sys, datetime, hexad
    at = datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc)
    with hexad.open(sys.argv[1], embedder=None, background=False, clock=hexad.FrozenClock(at)) as hx:
        print(hx.maintain().consolidated)
    """
)


@pytest.mark.row("A008")
def test_of_several_programs_one_does_it(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False, clock=FrozenClock()) as hx:
        for at in range(5):
            duplicate(hx, at)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _ONE_OF_SEVERAL, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = sorted(int(process.communicate(timeout=120)[0]) for process in running)

    assert [0, 5] == told
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert 5 == merged(hx)
        runs = [
            detail for _, what, detail in hx._services.stores.meta.logged(limit=50) if what == "consolidation"
        ]
        assert 1 == len(runs)


def test_a_program_with_a_role_consolidates_nothing_by_itself(opened, clock):
    duplicate(opened(embedder=None))
    clock.advance(days=2)

    assert 0 == opened(embedder=None, role="dev").maintain().consolidated


@pytest.mark.row("A008", "A009")
def test_the_command_says_what_was_changed_and_why(run, tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        duplicate(hx)
        hx.session.start("paint the gate", steps=["sand it"])
    looked = run("consolidate", "--dry-run", "--json").data
    assert (True, {"merged": 1}) == (looked["dry_run"], looked["counts"])
    shown = run("consolidate", "--scope", "project")
    assert "1 merged" in shown.out
    assert "says the same" in shown.out
    assert "project: 2 (" in shown.out
    assert "memory restore" in shown.err
    assert "Everything is in order; nothing was changed." in run("consolidate").out
    assert "consolidated 20" in run("doctor", "--quick").out
    refused = run("consolidate", "--archive-months", "-3")
    assert (2, True) == (refused.code, "archive_months = -3.0 should be a number" in refused.err)


def test_doctor_says_which_layer_is_over_its_quota(run, tmp_path):
    run("init")
    config = Path(tmp_path / ".hexad" / "hexad.toml")
    config.write_text("[consolidation]\nquotas = {governance = 1}\n")
    for text in ("We ship weekly.", "We review in pairs."):
        run("decide", text)

    assert "The layer governance is over its quota." in run("doctor", "--quick").out.replace(
        "\n", " "
    ).replace("  ", "")


@pytest.mark.parametrize(
    "at", ["garbage", "", "2026-01-01", "2026-01-01T00:00:00", "9999-12-31T23:59:59-12:00"]
)
def test_a_damaged_note_of_the_last_run_does_not_stop_the_next(opened, at):
    hx = opened(embedder=None)
    duplicate(hx)
    hx._services.stores.meta.put("consolidated_at", at)

    assert "last_run" in hx.status().consolidation
    assert 1 == hx.consolidate().counts["merged"]
