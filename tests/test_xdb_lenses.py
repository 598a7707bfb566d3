"""What an agent may see of its own experience: the setting `lenses`, on the way in and on every way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, InvalidInput, NotFound
from hexad.storage.stream_log import list_logs, read_log
from opener import Opener

Configured = Callable[..., Hexad]
SEEN, HIDDEN = "mind::Joy", "secret::Deceit"


@pytest.fixture
def configured(project: Path, opened: Opener) -> Configured:
    """Open the project's store with these lines in its `hexad.toml`; what was open is closed."""
    last: list[Hexad] = []

    def open_with(*lines: str) -> Hexad:
        for hx in last:
            hx.close()
        (project / ".hexad").mkdir(exist_ok=True)
        (project / ".hexad" / "hexad.toml").write_text("\n".join(lines))
        last[:] = [opened()]
        return last[0]

    return open_with


def pack_file(folder: Path, hierarchy: dict[str, list[str]]) -> Path:
    terms = sorted({*hierarchy, *(child for children in hierarchy.values() for child in children)})
    file = folder / "mind.json"
    concepts = [{"term": term} for term in terms]
    file.write_text(
        json.dumps({"pack": "mind", "version": "1", "concepts": concepts, "hierarchy": hierarchy})
    )
    return file


def stored_concepts(hx: Hexad) -> set[str]:
    """Every text that stands in a log of the stream, by whatever it means."""
    hx.xdb.flush()
    found = [read_log(path) for path in list_logs(hx.path / "stream" / "log")]
    return {text for log in found if log is not None for text in log.strings}


@pytest.mark.row("H097")
def test_a_hidden_concept_is_not_recorded_at_all(configured: Configured) -> None:
    hx = configured('lenses = ["mind::*"]')
    hx.xdb.start_session("s")

    step = hx.xdb.record("output", "Yes.", {HIDDEN: 0.99, SEEN: 0.4})

    assert {SEEN: 0.4} == hx.xdb.get_timestep(step).concept_activations
    assert HIDDEN not in stored_concepts(hx)
    assert SEEN in stored_concepts(hx)


def test_hidden_concepts_take_no_place_among_the_ten_strongest(configured: Configured) -> None:
    hx = configured('lenses = ["mind::*"]')
    hx.xdb.start_session("s")
    hidden = {f"secret::C{at}": 0.9 for at in range(30)}
    seen = {f"mind::C{at:02}": 0.5 - at / 100 for at in range(12)}

    hx.xdb.record("output", "x", hidden | seen)
    hx.xdb.record_many([{"event_type": "output", "content": "y", "concept_activations": hidden | seen}])

    expected = [f"mind::C{at:02}" for at in range(10)]
    assert [expected, expected] == [list(one.concept_activations) for one in hx.xdb.recall()]


def test_without_the_setting_every_concept_is_seen_and_with_an_empty_list_none(
    configured: Configured,
) -> None:
    hx = configured()
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x", {SEEN: 0.5, HIDDEN: 0.5})
    assert [{SEEN: 0.5, HIDDEN: 0.5}] == [one.concept_activations for one in hx.xdb.recall()]

    hx = configured("lenses = []")
    hx.xdb.start_session("s")
    hx.xdb.record("output", "y", {SEEN: 0.5, HIDDEN: 0.5})
    assert [{}, {}] == [one.concept_activations for one in hx.xdb.recall()]


@pytest.mark.row("H097")
def test_what_was_recorded_before_the_setting_was_tightened_is_hidden_too(configured: Configured) -> None:
    hx = configured()
    hx.xdb.start_session("s")
    step = hx.xdb.record("output", "x", {SEEN: 0.5, HIDDEN: 0.9}, event_id="e", event_end=True)
    hx.xdb.record("output", "y", {SEEN: 0.7})
    hx.xdb.seal()

    hx = configured(f'lenses = ["{SEEN}"]')

    assert {SEEN: 0.5} == hx.xdb.get_timestep(step).concept_activations
    assert [{SEEN: 0.5}, {SEEN: 0.7}] == [one.concept_activations for one in hx.xdb.recall(session_id="s")]
    assert [0.7, 0.5] == [
        one.concept_activations[SEEN] for one in hx.xdb.recall_by_concept(SEEN, min_activation=0.0)
    ]


@pytest.mark.parametrize(
    "ask",
    [
        lambda xdb, concept: xdb.recall(concepts=[concept], session_id="*"),
        lambda xdb, concept: xdb.recall(concepts={concept: (0.0, 1.0)}, session_id="*"),
        lambda xdb, concept: xdb.recall(concepts=[SEEN, concept], session_id="s"),
        lambda xdb, concept: xdb.recall_by_concept(concept, min_activation=0.0),
        lambda xdb, concept: xdb.recall(tags=[concept], session_id="*"),
        lambda xdb, concept: xdb.recall(tags=[concept], match="any", session_id="s"),
    ],
)
@pytest.mark.row("H097")
def test_a_question_about_a_hidden_concept_is_answered_as_for_one_that_never_occurred(
    configured: Configured, ask: Callable[[object, str], object]
) -> None:
    hx = configured("auto_tag_threshold = 0.8")
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x", {SEEN: 0.9, HIDDEN: 0.9})
    hx.xdb.flush()
    assert ask(hx.xdb, HIDDEN), "before it was hidden there was an answer"

    hx = configured('lenses = ["mind::*"]')

    assert ask(hx.xdb, "never::Occurred") == ask(hx.xdb, HIDDEN) == []


def test_a_hidden_concept_does_not_hide_that_a_session_is_missing(configured: Configured) -> None:
    hx = configured('lenses = ["mind::*"]')

    with pytest.raises(NotFound, match="no session 'nowhere'"):
        hx.xdb.recall(concepts=[HIDDEN], session_id="nowhere")


@pytest.mark.row("H097")
def test_what_a_rule_tagged_with_a_hidden_concept_is_nowhere_and_what_somebody_tagged_stays(
    configured: Configured, tmp_path: Path
) -> None:
    hx = configured("auto_tag_threshold = 0.8")
    hx.xdb.load_concept_pack(pack_file(tmp_path, {"Emotion": ["Joy", "Envy"]}))
    hx.xdb.start_session("s")
    step = hx.xdb.record("output", "x", {"mind::Joy": 0.9, "mind::Envy": 0.9})
    other = hx.xdb.record("output", "y")
    hx.xdb.tag("mind::Envy", timestep_id=other)
    hx.xdb.flush()
    both = [one.id for one in hx.xdb.get_tags_for_timestep(step)]
    assert {"mind::Joy", "mind::Envy"} == set(both)

    hx = configured('lenses = ["mind::Joy", "mind::Emotion"]', "auto_tag_threshold = 0.8")
    xdb = hx.xdb

    assert ["mind::Joy"] == [one.id for one in xdb.get_tags_for_timestep(step)]
    assert ["mind::Joy", "mind::Emotion"] == [
        one.tag_id for one in xdb.get_applications_for_timestep(step, inherited=True)
    ]
    assert ["y"] == [one.content for one in xdb.recall(tags=["mind::Envy"], session_id="s")]
    assert [other] == [one.target.timestep_id for one in xdb.tag_applications("mind::Envy")]
    assert ["x", "y"] == [one.content for one in xdb.recall(tags=["mind::Emotion"], session_id="s")]
    assert ["mind::Envy", "mind::Emotion"] == [
        one.id for one in xdb.get_tags_for_timestep(other, inherited=True)
    ]

    hx = configured('lenses = ["mind::Emotion"]')

    assert [] == hx.xdb.get_tags_for_timestep(step, inherited=True)
    assert ["y"] == [one.content for one in hx.xdb.recall(tags=["mind::Emotion"], session_id="s")]


def test_a_branch_of_the_hierarchy_may_be_seen_as_soon_as_its_pack_is_loaded(
    configured: Configured, tmp_path: Path
) -> None:
    hx = configured('lenses = ["mind::Emotion/**"]')
    hx.xdb.start_session("s")
    hx.xdb.record("output", "before", {"mind::Joy": 0.9})

    hx.xdb.load_concept_pack(pack_file(tmp_path, {"Emotion": ["Joy"], "Thought": ["Doubt"]}))
    hx.xdb.record("output", "after", {"mind::Joy": 0.9, "mind::Doubt": 0.9})

    assert [("before", {}), ("after", {"mind::Joy": 0.9})] == [
        (one.content, one.concept_activations) for one in hx.xdb.recall()
    ]


def test_values_of_hidden_concepts_are_checked_like_all_others(configured: Configured) -> None:
    hx = configured('lenses = ["mind::*"]')
    hx.xdb.start_session("s")

    with pytest.raises(InvalidInput, match="activation of 'secret::Deceit'"):
        hx.xdb.record("output", "x", {HIDDEN: float("nan")})


def test_a_lens_that_cannot_be_read_is_refused_with_its_file(configured: Configured) -> None:
    with pytest.raises(InvalidInput, match=r"lenses in hexad.toml: 'mind::J\*' names no lens"):
        configured('lenses = ["mind::J*"]')


def test_a_variable_names_lenses_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXAD_LENSES", f"{SEEN}, world::*")
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.xdb.start_session("s")
        hx.xdb.record("output", "x", {SEEN: 0.5, "world::Stone": 0.5, HIDDEN: 0.5})

        assert [{SEEN: 0.5, "world::Stone": 0.5}] == [one.concept_activations for one in hx.xdb.recall()]
