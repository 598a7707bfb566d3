"""Whole stores over a simulated clock, disk and scheduler, against a model: what was acknowledged is there, always."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from stress_processes import Recorder

from hexad import FrozenClock
from opener import Opener
from simulation.life import Life, Looker
from simulation.model import Model, Summary
from simulation.run import run

FIRST, SHORT_LIVES, LONG_LIVES = 1, 60, 2_000


def lives(seeds: range, record_property: Recorder, *, processes: int) -> None:
    violations, counts, digests = run(seeds, processes=processes)

    assert {} == violations, f"again with: python tests/simulation --seed {min(violations)}"
    assert set(seeds) == set(digests)
    assert counts["acknowledged writes"] > len(seeds)
    for what, name in (
        ("lives", "simulated lives"),
        ("losses of power", "simulated losses of power"),
        ("calls to the disk", "simulated calls to the disk"),
        ("acknowledged writes", "acknowledged writes"),
    ):
        record_property(name, len(seeds) if what == "lives" else counts[what])


@pytest.mark.timeout(1_800)
def test_no_life_breaks_a_promise(record_property: Recorder) -> None:
    lives(range(FIRST, FIRST + SHORT_LIVES), record_property, processes=1)


def test_a_seed_gives_the_same_life_again() -> None:
    (_, _, first), (_, _, again) = (run(range(1, 5), processes=processes) for processes in (1, 2))

    assert first == again


def test_lives_over_a_disk_that_lies_do_break_promises() -> None:
    violations, _, _ = run(range(1, 13), processes=2, is_lying=True)

    assert violations


def test_what_upkeep_writes_of_a_session_after_a_week_is_known_to_the_model(
    opened: Opener, clock: FrozenClock, tmp_path: Path
) -> None:
    hx, life = opened(), Life(1, tmp_path / "life")
    text = "mmjhztbcbslbnk at the garden"
    life.model.acknowledge(life.model.begin(f"talk-p1/{text}", text))
    hx.xdb.start_session("talk-p1")
    hx.xdb.record("input", text, session_id="talk-p1")
    clock.advance(days=8)

    sight = Looker(life).look(hx)

    assert [] == sight.problems
    assert ["mmjhztbcbslbnk at the…"] == [summary.text for summary in sight.summaries.values()]
    assert [] == life.model.disagreements(sight.held, sight.summaries)


def test_a_memory_that_only_looks_like_a_summary_of_upkeep_is_one_that_nobody_wrote(
    opened: Opener, tmp_path: Path
) -> None:
    hx, life = opened(), Life(1, tmp_path / "life")
    hx.remember("The garden is closed.", id="p1-1", space="experience", metadata={"session": "talk-p1"})

    sight = Looker(life).look(hx)

    assert ["nobody wrote p1-1: 'The garden is closed.'"] == life.model.disagreements(
        sight.held, sight.summaries
    )


def test_a_summary_tells_only_what_was_recorded_in_its_session_and_not_erased() -> None:
    model = Model()
    for name in ("talk-p1/bcdf at the garden", "talk-p1/ghjk at the bridge", "talk-p2/lmnp at the ferry"):
        model.acknowledge(model.begin(name, name.partition("/")[2]))
    model.acknowledge(model.begin("talk-p1/ghjk at the bridge", None))
    model.erase("ghjk")
    held = {name: value for name, writes in model.facts.items() for value in [writes[-1].value]}
    summary = Summary(session="talk-p1", text="bcdf at the gar…")

    assert [] == model.disagreements(held, {"m": summary})
    assert [] == model.inventions(held, {"m": summary})
    for text, word in (("ferry at the garden", "ferry"), ("bcdf at the harbour", "harbour")):
        told = [f"nobody recorded {word!r} in talk-p1, and its summary m has it"]
        assert told == model.disagreements(held, {"m": replace(summary, text=text)})
        assert told == model.inventions(held, {"m": replace(summary, text=text)})
    assert ["nobody recorded 'ghjk' in talk-p1, and its summary m has it"] == model.disagreements(
        held, {"m": replace(summary, text="ghjk at the garden")}
    )
    assert ["'ghjk' was erased, and the summary m has it"] == model.inventions(
        held, {"m": replace(summary, text="ghjk at the garden")}
    )


@pytest.mark.long
@pytest.mark.timeout(36_000)
def test_no_life_of_thousands_breaks_a_promise(record_property: Recorder) -> None:
    lives(range(10_000, 10_000 + LONG_LIVES), record_property, processes=2)
