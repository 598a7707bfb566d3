"""What an agent may see of its own experience: the setting `lenses`, on the way in and on every way out."""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from pathlib import Path

import numpy
import pytest

import hexad
from hexad import Hexad, InvalidInput, NotFound
from hexad.experience.stream.log import list_logs, read_log
from hexad.layers.contract import MemoryQuery
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

    both = hidden | seen
    hx.xdb.record("output", "x", both)
    hx.xdb.record_many([{"event_type": "output", "content": "y", "concept_activations": both}])
    hx.xdb.record_many(
        {
            "event_type": ["output"],
            "content": ["z"],
            "concepts": numpy.array([list(both)]),
            "scores": numpy.array([list(both.values())]),
        }
    )

    expected = [f"mind::C{at:02}" for at in range(10)]
    assert [expected] * 3 == [list(record.concept_activations) for record in hx.xdb.recall()]


def test_without_the_setting_every_concept_is_seen_and_with_an_empty_list_none(
    configured: Configured,
) -> None:
    hx = configured()
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x", {SEEN: 0.5, HIDDEN: 0.5})
    assert [{SEEN: 0.5, HIDDEN: 0.5}] == [record.concept_activations for record in hx.xdb.recall()]

    hx = configured("lenses = []")
    hx.xdb.start_session("s")
    hx.xdb.record("output", "y", {SEEN: 0.5, HIDDEN: 0.5})
    assert [{}, {}] == [record.concept_activations for record in hx.xdb.recall()]


@pytest.mark.row("H097")
def test_what_was_recorded_before_the_setting_was_tightened_is_hidden_too(configured: Configured) -> None:
    hx = configured()
    hx.xdb.start_session("s")
    step = hx.xdb.record("output", "x", {SEEN: 0.5, HIDDEN: 0.9}, event_id="e", event_end=True)
    hx.xdb.record("output", "y", {SEEN: 0.7})
    hx.xdb.seal()

    hx = configured(f'lenses = ["{SEEN}"]')

    assert {SEEN: 0.5} == hx.xdb.get_timestep(step).concept_activations
    assert [{SEEN: 0.5}, {SEEN: 0.7}] == [
        record.concept_activations for record in hx.xdb.recall(session_id="s")
    ]
    assert [0.7, 0.5] == [
        record.concept_activations[SEEN] for record in hx.xdb.recall_by_concept(SEEN, min_activation=0.0)
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
    both = [tag.id for tag in hx.xdb.get_tags_for_timestep(step)]
    assert {"mind::Joy", "mind::Envy"} == set(both)

    hx = configured('lenses = ["mind::Joy", "mind::Emotion"]', "auto_tag_threshold = 0.8")
    xdb = hx.xdb

    assert ["mind::Joy"] == [tag.id for tag in xdb.get_tags_for_timestep(step)]
    assert ["mind::Joy", "mind::Emotion"] == [
        application.tag_id for application in xdb.get_applications_for_timestep(step, inherited=True)
    ]
    assert ["y"] == [record.content for record in xdb.recall(tags=["mind::Envy"], session_id="s")]
    assert [other] == [
        tag_application.target.timestep_id for tag_application in xdb.tag_applications("mind::Envy")
    ]
    assert ["x", "y"] == [record.content for record in xdb.recall(tags=["mind::Emotion"], session_id="s")]
    assert ["mind::Envy", "mind::Emotion"] == [
        tag.id for tag in xdb.get_tags_for_timestep(other, inherited=True)
    ]

    hx = configured('lenses = ["mind::Joy"]')

    assert ["mind::Joy"] == [tag.id for tag in hx.xdb.get_tags_for_timestep(step, inherited=True)]
    assert ["y"] == [record.content for record in hx.xdb.recall(tags=["mind::Emotion"], session_id="s")]
    assert ["x"] == [record.content for record in hx.xdb.recall(tags=["mind::Joy"], session_id="s")]

    hx = configured('lenses = ["mind::Emotion"]')

    assert [] == hx.xdb.get_tags_for_timestep(step, inherited=True)
    assert ["y"] == [record.content for record in hx.xdb.recall(tags=["mind::Emotion"], session_id="s")]


def test_a_branch_of_the_hierarchy_may_be_seen_as_soon_as_its_pack_is_loaded(
    configured: Configured, tmp_path: Path
) -> None:
    hx = configured('lenses = ["mind::Emotion/**"]')
    hx.xdb.start_session("s")
    hx.xdb.record("output", "before", {"mind::Joy": 0.9})

    hx.xdb.load_concept_pack(pack_file(tmp_path, {"Emotion": ["Joy"], "Thought": ["Doubt"]}))
    hx.xdb.record("output", "after", {"mind::Joy": 0.9, "mind::Doubt": 0.9})

    assert [("before", {}), ("after", {"mind::Joy": 0.9})] == [
        (record.content, record.concept_activations) for record in hx.xdb.recall()
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

        assert [{SEEN: 0.5, "world::Stone": 0.5}] == [
            record.concept_activations for record in hx.xdb.recall()
        ]


@pytest.mark.row("H097")
def test_no_call_hands_out_a_hidden_concept_however_much_was_compressed(
    configured: Configured, project: Path
) -> None:
    hx = configured("auto_tag_threshold = 0.8")
    xdb = hx.xdb
    for day in range(3):
        session = f"day {day}"
        xdb.start_session(session, max_context_tokens=1_000)
        for at in range(12):
            xdb.record(
                "output",
                "word ",
                {SEEN: 0.9, HIDDEN: 0.95},
                event_id=f"e{at // 4}",
                event_end=at % 4 == 3,
                token_count=60,
            )
        xdb.request_compaction()
        xdb.pin_window((10, 11), reason="worth it")
    bud = xdb.create_bud_tag("bud", "to be learned")
    xdb.tag(bud.id, tick_range=(11, 12), session_id="day 2")
    xdb.submit_graft(bud.id, "graft-1")
    xdb.seal()
    everything = said(hx)
    kept = {hit.memory.id for hit in hx.recall("word", limit=50)}
    assert [] == [call for call, answer in everything.items() if HIDDEN not in answer and call in TELLING]

    hx = configured('lenses = ["mind::*"]')

    assert [] == [call for call, answer in said(hx, kept).items() if HIDDEN in answer]
    hx.xdb.start_session("day 3", max_context_tokens=1_000)
    hx.xdb.record_many(
        {"event_type": "output", "content": "word ", "token_count": 60, "concept_activations": {HIDDEN: 0.9}}
        for _ in range(12)
    )
    assert HIDDEN not in repr(hx.xdb.request_compaction())
    assert HIDDEN not in repr(hx.xdb.resolve_submission("graft-1", True))
    assert [] == [call for call, answer in said(hx, kept).items() if HIDDEN in answer]
    assert kept < {hit.memory.id for hit in hx.recall("word", limit=50)}


TELLING = {
    "recall",
    "recall_events",
    "get_timestep",
    "compressed",
    "one compressed",
    "compactions",
    "tags of one",
}


def said(hx: Hexad, kept: Set[str] = frozenset()) -> dict[str, str]:
    """What an agent that asks for everything is answered, by the call; but for memories that were written before."""
    xdb = hx.xdb
    everything = {"session_id": "*", "limit": 1_000}
    windows = [window for session in xdb.sessions() for window in xdb.windows(session_id=session.id)]
    answers: dict[str, object] = {
        "recall": xdb.recall(**everything),
        "recall of a concept": xdb.recall(concepts=[SEEN], **everything),
        "recall_by_concept": xdb.recall_by_concept(SEEN, session_id="*"),
        "recall_events": xdb.recall_events(**everything),
        "words": xdb.recall_events("word", **everything),
        "get_timestep": [
            xdb.get_timestep(record.id) for record in xdb.recall(**everything) if record.id.startswith("ts-")
        ],
        "query": xdb.experience_log.query(limit=1_000),
        "compressed": xdb.compressed_records(**everything),
        "one compressed": [
            xdb.get_compressed_record(record.id) for record in xdb.compressed_records(**everything)
        ],
        "compactions": xdb.compactions(session_id="*"),
        "context": [(xdb.context(session.id), str(xdb.context(session.id))) for session in xdb.sessions()],
        "state": (xdb.get_state(), [xdb.get_context_state(session.id) for session in xdb.sessions()]),
        "windows": (windows, [xdb.get_window(window.id) for window in windows]),
        "submission": (xdb.submissions(), xdb.get_windows_for_submission("graft-1")),
        "usage": (xdb.usage(), xdb.session_totals()),
        "tags of one": [
            (
                xdb.get_tags_for_timestep(record.id, inherited=True),
                xdb.get_applications_for_timestep(record.id, inherited=True),
            )
            for record in xdb.recall(**everything)
            if record.id.startswith("ts-")
        ],
        "bud": [xdb.get_bud_examples(bud.id) for bud in xdb.get_buds()],
        "activity": xdb.activity(session_id="*"),
        "memories": [
            (hit.text, hit.memory) for hit in hx.recall("word", limit=50) if hit.memory.id not in kept
        ],
    }
    return {call: repr(answer) for call, answer in answers.items()}


def session_layer(hx: Hexad, text: str) -> list[str]:
    """What COLD records say in a context that asks for a word."""
    found = hx._services.session().layer.items(MemoryQuery(text=text, now=hx.clock.now()), limit=100)
    return [memory_item.text for memory_item in found if memory_item.kind == "cold"]


@pytest.mark.row("H097")
def test_a_summary_of_days_names_no_concept_that_was_hidden_later(configured: Configured) -> None:
    hx = configured("auto_tag_threshold = 0.8")
    for day in range(3):
        hx.xdb.start_session(f"day {day}", max_context_tokens=1_000)
        for _ in range(6):
            hx.xdb.record(
                "output",
                "It rained again. ",
                {SEEN: 0.9, HIDDEN: 0.95, "secret::Envy": 0.85},
                event_id="e",
                token_count=60,
            )
        hx.xdb.request_compaction()
        hx.xdb.end_session()
    hx.xdb.check_and_compress(max_storage_bytes=0)
    [year] = hx.xdb.compressed_records(session_id="*")
    assert "In 2026 I worked mainly on Deceit, Joy and Envy." in year.summary
    assert [year.id] == [record.id for record in hx.xdb.recall(session_id="*", text_search="deceit", limit=1)]
    assert [year.summary] == session_layer(hx, "deceit")

    hx = configured('lenses = ["mind::*"]')

    [seen] = hx.xdb.compressed_records(session_id="*")
    assert year.summary.replace("Deceit, Joy and Envy", "Joy") == seen.summary
    assert seen.summary == hx.xdb.get_compressed_record(year.id).summary
    assert [] == hx.xdb.recall(session_id="*", text_search="deceit")
    assert [] == session_layer(hx, "deceit")
    assert [seen.summary] == session_layer(hx, "rained")
    found = hx.xdb.recall(session_id="*", text_search="rained")
    assert seen.summary == found[0].content
    assert found[1:2] == hx.xdb.recall(session_id="*", text_search="rained", limit=1, offset=1)

    hx = configured()

    assert year == hx.xdb.get_compressed_record(year.id)


def test_a_generator_is_not_told_what_was_hidden_after_days_were_compressed(configured: Configured) -> None:
    hx = configured()
    hx.xdb.start_session("s", max_context_tokens=1_000)
    for _ in range(6):
        hx.xdb.record("output", "It rained again. ", {HIDDEN: 0.95}, event_id="e", token_count=60)
    hx.xdb.request_compaction()
    hx.xdb.end_session()
    step = hx.xdb.check_and_compress(max_storage_bytes=900)
    while not any("Deceit" in record.summary for record in hx.xdb.compressed_records(session_id="*")):
        step = hx.xdb.check_and_compress(max_storage_bytes=step.bytes_after - 1)
    prompts: list[str] = []

    hx = configured('lenses = ["mind::*"]')
    hx.xdb.set_summarizer(lambda system, prompt: prompts.append(system + prompt) or "It rained.")
    hx.xdb.check_and_compress(max_storage_bytes=0)

    assert prompts
    assert [] == [prompt for prompt in prompts if "Deceit" in prompt]
