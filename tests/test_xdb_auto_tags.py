"""Tags that a rule applies while recording: what was active enough, once for each timestep."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, InvalidInput
from hexad.experience.tags import auto_tagger as auto_tags
from hexad.experience.values.tags import TagApplication, TagSource, TagType
from opener import Opener
from programs import run

Configured = Callable[..., Hexad]
PACKS = Path(__file__).parent / "data" / "concepts"
KITCHEN = "example.org/kitchen::"


@pytest.fixture
def configured(project: Path, opened: Opener) -> Configured:
    """Open the project's store with this threshold; what was open stays so."""

    def open_with(threshold: float | None = 0.7) -> Hexad:
        (project / ".hexad").mkdir(exist_ok=True)
        line = "" if threshold is None else f"auto_tag_threshold = {threshold}"
        (project / ".hexad" / "hexad.toml").write_text(line)
        return opened()

    return open_with


@pytest.fixture
def hx(configured: Configured) -> Hexad:
    """A store with the threshold 0.7, and the current session `s`, which keeps every token."""
    hx = configured()
    hx.xdb.start_session("s", compaction=False)
    return hx


def say(hx: Hexad, *activations: dict[str, float]) -> None:
    """Record a token for each; nothing is flushed."""
    for activation in activations:
        hx.xdb.record("output", "word ", activation)


def places(hx: Hexad, concept: str, **options: object) -> list[tuple[int | None, int | None]]:
    found = hx.xdb.tag_applications(concept, **options)
    assert {TagSource.AUTO} >= {application.source for application in found}
    return [(application.target.range_start, application.target.range_end) for application in found]


@pytest.mark.row("H037")
def test_what_was_active_from_the_threshold_on_is_tagged_and_neighbours_are_one_range(hx: Hexad) -> None:
    say(
        hx,
        {"a::Strong": 0.9, "b::Weak.one": 0.2},
        {"a::Strong": 0.7},
        {"b::Weak.one": 0.8, "a::Strong": 0.69},
        {"a::Strong": 1.5},
    )
    hx.xdb.flush()

    strong, weak = hx.xdb.tag_applications("a::Strong"), hx.xdb.tag_applications("weak.ONE")
    assert [(1, 2, 0.9), (4, 4, 1.0)] == [
        (application.target.range_start, application.target.range_end, application.confidence)
        for application in strong
    ]
    assert ["ts-s-3"] == [application.target.timestep_id for application in weak]
    assert {TagSource.AUTO} == {application.source for application in [*strong, *weak]}
    assert [1, 2, 4] == [record.tick for record in hx.xdb.recall(tags=["a::Strong"])]
    made = hx.xdb.tag_index.get_tag("b::Weak.one")
    assert (TagType.CONCEPT, "b::Weak.one", "system") == (made.tag_type, made.concept_id, made.created_by)


@pytest.mark.row("H037", "H039")
def test_an_automatic_tag_counts_for_the_concepts_above_it_as_inherited(hx: Hexad) -> None:
    hx.xdb.load_concept_pack(PACKS / "kitchen")
    say(hx, {f"{KITCHEN}BreadBaking": 0.9})
    hx.xdb.flush()

    found = hx.xdb.get_applications_for_timestep("ts-s-1", inherited=True)

    assert [TagSource.AUTO, TagSource.INHERITED, TagSource.INHERITED, TagSource.INHERITED] == [
        application.source for application in found
    ]
    assert [1] == [record.tick for record in hx.xdb.recall(tags=["Cooking"])]


def test_without_the_setting_nothing_is_tagged(configured: Configured) -> None:
    hx = configured(None)
    hx.xdb.start_session("s")
    say(hx, {"a::Strong": 1.0})
    hx.xdb.seal()

    assert 0 == hx.xdb.tag_index.count()


@pytest.mark.parametrize("threshold", [0, -0.5, 1.1, float("nan"), float("inf")])
def test_a_threshold_that_cannot_be_meant_is_refused(configured: Configured, threshold: float) -> None:
    with pytest.raises(InvalidInput, match=r"auto_tag_threshold in hexad\.toml"):
        configured(threshold)


def test_a_score_that_is_the_threshold_counts_as_it_is_written(configured: Configured) -> None:
    hx = configured(0.8)  # 0.8 in single precision is a little more than 0.8, 0.7 a little less than 0.7
    hx.xdb.start_session("s")
    say(hx, {"a::Edge": 0.8})
    hx.xdb.flush()

    assert [0.8] == [tag_application.confidence for tag_application in hx.xdb.tag_applications("a::Edge")]


def test_a_run_is_one_range_however_often_it_is_flushed_and_sealed(hx: Hexad) -> None:
    for _ in range(3):
        say(hx, {"a::Long": 0.8})
        hx.xdb.flush()
        say(hx, {"a::Long": 0.9})
        hx.xdb.seal()

    found = hx.xdb.tag_applications("a::Long")
    assert [(1, 6, 0.9)] == [
        (application.target.range_start, application.target.range_end, application.confidence)
        for application in found
    ]


def test_slices_are_joined_to_one_range(hx: Hexad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_tags, "SLICE_ROWS", 7)
    say(hx, *[{"a::Long": 0.8, f"b::Each{at % 3}": 0.9} for at in range(40)])
    hx.xdb.flush()

    assert [(1, 40)] == places(hx, "a::Long")
    assert [(tick, tick) for tick in range(1, 41, 3)] == places(hx, "b::Each0")


def test_what_another_process_recorded_between_two_ranges_joins_them(
    configured: Configured, hx: Hexad
) -> None:
    other = configured()
    say(hx, *[{"a::Shared": 0.8}] * 64)  # the first block of ticks
    other.xdb.start_session("s")
    say(other, {"a::Shared": 0.8})  # of a block of its own, which it does not fill yet
    say(hx, *[{"a::Shared": 0.8}] * 10)
    other.xdb.flush()
    hx.xdb.flush()
    assert [(1, 65), (129, 138)] == places(hx, "a::Shared")

    say(other, *[{"a::Shared": 0.8}] * 63)
    other.xdb.flush()

    assert [(1, 138)] == places(hx, "a::Shared") == places(other, "a::Shared")
    assert 138 == len(hx.xdb.recall(tags=["a::Shared"], limit=1_000))


def test_sessions_and_gaps_are_no_neighbours(hx: Hexad) -> None:
    say(hx, {"a::Here": 0.8})
    hx.xdb.start_session("t")
    say(hx, {"a::Here": 0.8})
    hx.xdb.start_session("s")
    say(hx, {}, {"a::Here": 0.8})
    hx.xdb.flush()

    assert [(1, 1), (3, 3)] == places(hx, "a::Here", session_id="s")
    assert [(1, 1)] == places(hx, "a::Here", session_id="t")


def test_a_batch_is_tagged_when_it_is_acknowledged(hx: Hexad) -> None:
    hx.xdb.record_many(
        {"event_type": "output", "content": "x", "concept_activations": {"a::Odd": (at % 2) * 0.9}}
        for at in range(20_000)
    )

    assert 10_000 == len(places(hx, "a::Odd", limit=100_000))
    assert [2, 4, 6] == [record.tick for record in hx.xdb.recall(tags=["a::Odd"], limit=3)]


def test_ending_a_session_and_sealing_leave_nothing_untagged(hx: Hexad) -> None:
    say(hx, {"a::Strong": 0.9})
    hx.xdb.end_session()
    assert [(1, 1)] == places(hx, "a::Strong")

    hx.xdb.start_session("t")
    say(hx, {"a::Strong": 0.9})
    hx.xdb.seal()
    assert [(1, 1)] == places(hx, "a::Strong", session_id="t")


def test_the_background_tags_by_itself(project: Path, opened: Opener) -> None:
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text("auto_tag_threshold = 0.7")
    hx = opened(background=True, clock=None)
    hx.xdb.start_session("s")
    say(hx, {"a::Strong": 0.9})

    pause = threading.Event()
    for _ in range(1_200):  # a minute at most; mostly a record waits for two seconds
        if hx.xdb.find_tags(name_pattern="Strong"):
            break
        pause.wait(0.05)

    assert [(1, 1)] == places(hx, "a::Strong")


def test_what_a_program_without_the_setting_left_is_tagged_by_the_next_that_has_it(
    configured: Configured,
) -> None:
    plain = configured(None)
    plain.xdb.start_session("s")
    say(plain, {"a::Left": 0.9})
    plain.xdb.flush()

    hx = configured()
    hx.xdb.seal()

    assert [(1, 1)] == places(hx, "a::Left")


def test_an_application_that_was_taken_away_does_not_come_back(hx: Hexad) -> None:
    say(hx, {"a::Wrong": 0.9})
    hx.xdb.flush()
    (application,) = hx.xdb.tag_applications("a::Wrong")

    hx.xdb.untag(application.id)
    hx.xdb.seal()
    hx.xdb.flush()

    assert [] == hx.xdb.tag_applications("a::Wrong")


def test_a_damaged_log_of_somebody_else_stops_neither_recording_nor_tagging(hx: Hexad, project: Path) -> None:
    damaged = project / ".hexad" / "stream" / "log" / "1-00.log"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_bytes(b"this is no log of the stream, whatever its name says")
    say(hx, {"a::Strong": 0.9})

    hx.xdb.flush()

    damaged.unlink()
    assert [(1, 1)] == places(hx, "a::Strong")


def test_what_compaction_takes_out_of_the_window_was_tagged_before(hx: Hexad) -> None:
    hx.xdb.start_session("small", max_context_tokens=1_000)
    for at in range(900):
        hx.xdb.record("output", "word ", {"a::Half": 0.9 if at < 300 else 0.1}, event_id=f"e{at // 100}")

    compressed = [record for record in hx.xdb.recall(limit=10) if record.timesteps > 1]
    assert compressed, "some of it left the stream"
    hx.xdb.flush()

    assert [(1, 300)] == places(hx, "a::Half", session_id="small")
    assert [record.id for record in compressed if record.end_tick <= 300] == [
        record.id for record in hx.xdb.recall(tags=["a::Half"], limit=10) if record.timesteps > 1
    ]
    assert all(
        "a::Half" in hx.xdb.get_compressed_record(record.id).significant_tags for record in compressed[:1]
    )


@pytest.mark.parametrize("concept", ["a::two\nlines", " ", "::", "a::", "\u2028"])
def test_a_concept_that_makes_no_name_stops_nothing(hx: Hexad, concept: str) -> None:
    say(hx, {concept: 0.9, "a::Strong": 0.9})

    hx.xdb.seal()

    assert [(1, 1)] == places(hx, "a::Strong")
    assert 1 == len(hx.xdb.recall())


DIES = """
import os, signal, sys
import hexad
from hexad.database import connection, files

with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.xdb.start_session("s")
    for at in range(40):
        hx.xdb.record("output", "word ", {f"a::C{at % 4}": 0.9, "a::All": 0.8})
    seen = 0

    def hook(operation, path):
        global seen
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    files.set_hook(hook)
    hx.xdb.seal()
    print("done")
"""


def test_a_program_that_is_killed_at_any_step_leaves_each_timestep_tagged_once(
    configured: Configured, project: Path
) -> None:
    configured().close()
    died, step = 0, 0
    while True:
        step += 1
        done = run(DIES, project, step)
        with hexad.open(project, embedder=None, background=False) as hx:
            hx.xdb.seal()
            steps = hx.xdb.recall(limit=100_000)
            for concept in ("a::All", *(f"a::C{at}" for at in range(4))):
                active = [record.tick for record in steps if concept in record.concept_activations]
                known = hx.xdb.tag_index.get_tag(concept) is not None
                made = hx.xdb.tag_applications(concept, limit=100_000) if known else []
                assert active == covered(made), (step, concept)
        if done.stdout == "done\n":
            break
        died += 1
        assert done.returncode == -9, done.stderr
    assert died > 3


def covered(applications: list[TagApplication]) -> list[int]:
    """The ticks of the applications, one as often as it is covered."""
    return sorted(
        tick
        for application in applications
        for tick in range(application.target.range_start or 0, (application.target.range_end or 0) + 1)
    )
