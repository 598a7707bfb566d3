"""What was said of answers: later ones heed it, within bounds, and as if never said when it is taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad, InvalidInput, MemoryLayer, NotFound, VerdictTally
from ran import Run

QUESTION = "when do we deploy the harbour service?"
ALIKE = "when do we deploy the harbour service now?"
TEXTS = {
    "tuesday": "We deploy the harbour service on Tuesday after lunch.",
    "friday": "We deploy the harbour service on Friday before noon.",
    "exact": "We deploy the harbour service every Monday: we deploy when the harbour service is quiet.",
    "boats": "The harbour has nine boats and a crane.",
    "service": "The service contract of the crane ends in May.",
}


@pytest.fixture
def hx(tmp_path: Path, clock: FrozenClock) -> Iterator[Hexad]:
    (tmp_path / "p").mkdir()
    with hexad.open(tmp_path / "p", embedder=None, clock=clock, background=False) as opened:
        for name, text in TEXTS.items():
            opened.remember(text, id=name)
        for number in range(6):  # so that words have weights
            opened.remember(f"Note {number} is about something else: sheep number {number} is white.")
        yield opened


def ids(hx: Hexad, query: str = QUESTION, **options: object) -> list[str]:
    return [hit.id for hit in hx.recall(query, **options)]  # type: ignore[arg-type]


def all_of(hx: Hexad) -> str:
    """Everything that answers depend on, as bytes: hits with scores, contexts, memories, plans."""
    return json.dumps(
        [
            [hit.to_dict() for hit in hx.recall(query, explain=True)]
            for query in (QUESTION, ALIKE, "crane in May")
        ]
        + [hx.context(QUESTION, wait=True).rendered["json"], hx.plan(QUESTION).to_dict()]
        + [memory.to_dict() for memory in hx.memories(limit=None, order="path")],
        default=str,
    )


def observed(hx: Hexad, value: str) -> str:
    """The memory of something that was inferred, half sure."""
    fact = hx.project.observe(category="convention", key="deploys", value=value, confidence=0.5)
    assert fact is not None
    return fact.memory_id


def between(hx: Hexad) -> tuple[str, str]:
    """The two that are nearly as good, the better one first."""
    first, second = [text for text in ids(hx) if text in ("tuesday", "friday")]
    return first, second


def test_what_was_helpful_comes_first_among_what_is_nearly_as_good(hx: Hexad) -> None:
    better, worse = between(hx)

    hx.feedback(worse, "helpful", query=QUESTION)

    assert (worse, better) == between(hx)
    hit = next(hit for hit in hx.recall(ALIKE, explain=True) if hit.id == worse)
    assert hit.parts["feedback"] > 0
    assert hit.score == pytest.approx(sum(hit.parts.values()))
    assert "helpful 1, wrong 0" in hit.why[-1]


def test_what_was_wrong_goes_back_and_another_question_does_not_heed_it(hx: Hexad) -> None:
    better, worse = between(hx)
    elsewhere = ids(hx, "which boats are there at the crane?")

    hx.feedback(better, "wrong", query=QUESTION)

    assert (worse, better) == between(hx)
    assert elsewhere == ids(hx, "which boats are there at the crane?")


def test_no_number_of_verdicts_hides_what_clearly_answers_or_lifts_what_does_not(
    hx: Hexad, tmp_path: Path
) -> None:
    assert "exact" == ids(hx)[0]
    before = {hit.id: hit.score for hit in hx.recall(QUESTION)}
    for number in range(12):  # as many people
        with hexad.open(
            tmp_path / "p", embedder=None, background=False, clock=hx.clock, actor=f"person {number}"
        ) as store:
            store.feedback("exact", "wrong", query=QUESTION)
            store.feedback("service", "helpful", query=QUESTION)

    after = {hit.id: hit.score for hit in hx.recall(QUESTION)}

    assert after["exact"] > after["service"]
    assert set(before) == set(after)
    for name, score in after.items():
        assert abs(score - before[name]) <= 0.1 * max(before.values()) + 1e-9
    assert [] == list(hx.recall("zebra"))  # and nothing becomes relevant by it


def test_what_was_taken_back_was_never_said(hx: Hexad) -> None:
    better, worse = between(hx)
    draft = observed(hx, "Deploys of the harbour service are quiet.")
    before = all_of(hx)
    said = [
        hx.feedback(better, "wrong", query=QUESTION),
        hx.feedback(worse, "helpful", query=QUESTION),
        hx.feedback(draft, "wrong", query=QUESTION),
        hx.feedback("boats", "wrong"),
    ]
    assert before != all_of(hx)
    assert ["boats", draft, worse, better] == [feedback.memory_id for feedback in hx.feedbacks()]

    for feedback in said:
        hx.retract_feedback(feedback.id)

    assert before == all_of(hx)
    assert [] == hx.feedbacks()


def test_it_is_off_where_the_call_the_mode_or_the_settings_say_so(tmp_path: Path, clock: FrozenClock) -> None:
    def scored(hx: Hexad) -> object:
        return [(hit.id, hit.score) for hit in hx.recall(QUESTION)]

    with hexad.open(tmp_path, embedder=None, clock=clock, background=False) as hx:
        for name, text in TEXTS.items():
            hx.remember(text, id=name)
        plain = scored(hx)
        plan, fixed = hx.plan(QUESTION), hx.context(QUESTION, deterministic=True).render()
        hx.feedback("tuesday", "helpful", query=QUESTION)
        assert plain != scored(hx)
        assert plan.weights != hx.plan(QUESTION).weights

        assert plain == [(hit.id, hit.score) for hit in hx.recall(QUESTION, feedback=False)]
        assert fixed == hx.context(QUESTION, deterministic=True).render()
        assert plan.weights == hx.plan(QUESTION, deterministic=True).weights
    (tmp_path / ".hexad" / "hexad.toml").write_text("[router]\nfeedback = false\n")
    with hexad.open(tmp_path, embedder=None, clock=clock, background=False) as hx:
        assert plain == scored(hx)
        assert plan.weights == hx.plan(QUESTION).weights
    (tmp_path / ".hexad" / "hexad.toml").write_text('[router]\nfeedback = "sometimes"\n')
    with hexad.open(tmp_path, embedder=None) as hx, pytest.raises(InvalidInput, match="sometimes"):
        hx.plan(QUESTION)


def test_a_layer_that_helped_weighs_more_for_questions_of_that_class_within_bounds(hx: Hexad) -> None:
    plan = hx.plan(QUESTION)
    other = "How is the harbour service structured?"
    assert plan.query_class is not hx.plan(other).query_class
    unmoved = hx.plan(other).weights

    for name in TEXTS:
        hx.feedback(name, "wrong", query=QUESTION)

    lowered = hx.plan(QUESTION)
    factor = lowered.feedback[MemoryLayer.PROJECT]
    assert factor == pytest.approx(1.25 ** (-5 / 9))
    assert 0.8 < factor < 1.0
    assert lowered.weights.layer[MemoryLayer.PROJECT] == pytest.approx(
        plan.weights.layer[MemoryLayer.PROJECT] * factor
    )
    assert {"project": factor} == lowered.to_dict()["feedback"]
    assert unmoved == hx.plan(other).weights


def test_what_was_said_fades(hx: Hexad, clock: FrozenClock) -> None:
    _, worse = between(hx)
    hx.feedback(worse, "helpful", query=QUESTION)

    def moved() -> tuple[float, float]:
        hit = next(hit for hit in hx.recall(QUESTION) if hit.id == worse)
        return hit.parts["feedback"], hx.plan(QUESTION).feedback[MemoryLayer.PROJECT]

    at_once = moved()
    clock.advance(days=900)

    part, factor = moved()
    assert 0 < part < at_once[0] / 100
    assert 1 < factor < 1.0001 < at_once[1]


def test_the_same_again_is_noted_once_and_another_verdict_takes_its_place(hx: Hexad) -> None:
    first = hx.feedback("boats", "wrong", query=QUESTION)

    assert first == hx.feedback("boats", "wrong", query=f" {QUESTION.upper()} ")
    assert hx.get("boats").metadata["needs_review"] is True

    second = hx.feedback("boats", "helpful", query=QUESTION, note="It has the crane.")

    assert [second] == hx.feedbacks("boats")
    assert "needs_review" not in hx.get("boats").metadata
    assert "It has the crane." == second.note


def test_wrong_deletes_nothing_and_says_what_it_did(hx: Hexad) -> None:
    draft = observed(hx, "Deploys of the harbour service are quiet.")
    lowered, marked = hx.feedback(draft, "wrong"), hx.feedback("boats", "wrong")

    assert ("less sure than before", "marked for a review") == (lowered.effect, marked.effect)
    assert pytest.approx(0.4) == hx.get(draft).confidence
    assert ["boats"] == [review.memory_id for review in hx.facts.needs_review()]
    assert "boats" in ids(hx, "how many boats are in the harbour?")


def test_no_number_of_verdicts_takes_all_of_a_confidence_and_all_of_it_comes_back(hx: Hexad) -> None:
    draft = observed(hx, "Deploys of the harbour service are quiet.")
    given = [hx.feedback(draft, "wrong", query=f"is number {at} quiet?") for at in range(12)]
    assert pytest.approx(0.1) == hx.get(draft).confidence

    for feedback in given:
        hx.retract_feedback(feedback.id)

    assert 0.5 == hx.get(draft).confidence


def test_evidence_between_a_verdict_and_its_retraction_makes_nobody_surer_than_evidence_does(
    hx: Hexad,
) -> None:
    draft = observed(hx, "Deploys of the harbour service are quiet.")
    given = [hx.feedback(draft, "wrong", query=f"is number {at} quiet?") for at in range(6)]
    for _ in range(3):
        assert draft == observed(hx, "Deploys of the harbour service are quiet.")

    for feedback in given:
        hx.retract_feedback(feedback.id)

    assert 0.5 < hx.get(draft).confidence <= 0.9


def test_a_question_of_words_that_say_little_is_not_every_question(hx: Hexad) -> None:
    hx.feedback("tuesday", "wrong", query="how is it?")

    assert not any("feedback" in hit.parts for hit in hx.recall(QUESTION))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE feedback SET terms = 'no json'",
        "UPDATE feedback SET terms = '[7]'",
        "UPDATE feedback SET given_at = 9223372036854775807",
        "DROP TABLE feedback",
    ],
)
def test_damaged_verdicts_are_left_out_and_everything_else_answers(
    hx: Hexad, tmp_path: Path, clock: FrozenClock, damage: str
) -> None:
    without = ids(hx)
    hx.feedback("friday", "helpful", query=QUESTION)
    with hx._services.db.transaction() as con:
        con.execute(damage)
    hx.close()

    with hexad.open(tmp_path / "p", embedder=None, clock=clock, background=False) as opened:
        assert without == ids(opened)
        context = opened.context(QUESTION, wait=True)

    assert {} == context.failed
    assert context.evidence_blocks or context.system_items


def test_it_is_about_the_text_that_was_judged(hx: Hexad) -> None:
    hx.feedback("tuesday", "wrong", query=QUESTION)

    hx.remember("We deploy the harbour service on Wednesday after lunch.", id="tuesday")

    assert "feedback" not in next(hit for hit in hx.recall(QUESTION) if hit.id == "tuesday").parts


def test_items_of_a_context_are_judged_and_of_what_is_no_memory_only_its_layer_is_kept(hx: Hexad) -> None:
    hx.session.start("Deploy the harbour service", fresh=True)
    found = hx.context(QUESTION, wait=True)
    block = next(block for block in found.system_items if block.item.layer is MemoryLayer.SESSION)
    memory = next(block for block in found.system_items if block.item.memory_id == "exact")

    hx.feedback(block, "helpful", query=QUESTION, note="Ann said so.")
    assert hx.feedback(memory, "helpful", query=QUESTION).memory_id == "exact"

    said = hx.feedbacks()[1]
    assert (None, "", "", MemoryLayer.SESSION) == (said.memory_id, said.query, said.note, said.layer)
    assert said == hx.feedback(block, "helpful", query=QUESTION)
    assert {MemoryLayer.SESSION, MemoryLayer.PROJECT} == set(hx.plan(QUESTION).feedback)


def test_questions_and_notes_are_redacted_exported_and_erased_with_their_memory_and_their_person(
    hx: Hexad, tmp_path: Path
) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    said = hx.feedback("boats", "helpful", query=f"does {key} open the harbour?", note=f"with {key}")
    assert key not in json.dumps(said.to_dict())
    with hexad.open(tmp_path / "p", embedder=None, background=False, clock=hx.clock, actor="ann") as ann:
        ann.feedback("tuesday", "helpful", query=QUESTION)
    exported = [item.value for item in hx.export() if item.section == "feedback"]
    assert [("boats", "owner"), ("tuesday", "user ann")] == [
        (entry["memory_id"], entry["given_by"]) for entry in exported
    ]

    of_ann = hx.forget(subject="ann", purge=True, confirm=True)

    assert {"feedback": 1} == {entry.place: entry.count for entry in of_ann.erased}
    assert ["boats"] == [feedback.memory_id for feedback in hx.feedbacks()]

    of_boats = hx.forget("boats", purge=True, confirm=True)

    assert 1 == {entry.place: entry.count for entry in of_boats.erased}["feedback"]
    assert [] == hx.feedbacks()


def judged(hx: Hexad, memory_id: str, verdicts: str) -> None:
    """Say `h` helpful or `w` wrong of a memory, each for a question of its own."""
    day = f"{hx._services.clock.now():%Y-%m-%d}"
    for number, letter in enumerate(verdicts):
        hx.feedback(
            memory_id,
            "helpful" if letter == "h" else "wrong",
            query=f"question {number} of {memory_id} on {day}",
        )


def test_feedback_in_numbers_tells_what_share_helped_and_what_is_wrong_most_often(hx: Hexad) -> None:
    nothing = hx.feedback_stats()
    assert (VerdictTally(helpful=0, wrong=0, share=None), {}, {}, None, ()) == (
        nothing.tally, nothing.layers, nothing.query_classes, nothing.change, nothing.mistakes,
    )  # fmt: skip

    hx.feedback("boats", "wrong", query="how do we moor?", note="There are ten.")
    hx.feedback("boats", "wrong", query="why nine boats?", note="There are ten.")
    hx.feedback("boats", "helpful", query="what is at the harbour?")
    hx.feedback("friday", "wrong", query="how do we deploy?")
    hx.feedback("tuesday", "helpful", query="how do we deploy?")
    hx.feedback("tuesday", "helpful")  # without a question it is of no class
    hx.session.start("Deploy the harbour service", fresh=True)
    found = hx.context(QUESTION, wait=True)
    of_session = next(block for block in found.system_items if block.item.layer is MemoryLayer.SESSION)
    hx.feedback(of_session, "wrong", query="how do we go on?")

    stats = hx.feedback_stats()

    assert VerdictTally(helpful=3, wrong=4, share=3 / 7) == stats.tally
    assert {
        "session": VerdictTally(helpful=0, wrong=1, share=0.0),
        "project": VerdictTally(helpful=3, wrong=3, share=0.5),
    } == stats.layers
    assert VerdictTally(helpful=1, wrong=3, share=0.25) == stats.query_classes["procedural"]
    assert 6 == sum(tally.helpful + tally.wrong for tally in stats.query_classes.values())
    boats, later, earlier = stats.mistakes
    assert ("boats", VerdictTally(helpful=1, wrong=2, share=1 / 3)) == (boats.memory_id, boats.tally)
    assert (("why nine boats?", "how do we moor?"), ("There are ten.",)) == (boats.queries, boats.notes)
    assert {(None, MemoryLayer.SESSION, ()), ("friday", MemoryLayer.PROJECT, ("how do we deploy?",))} == {
        (mistake.memory_id, mistake.layer, mistake.queries) for mistake in (later, earlier)
    }
    assert (boats,) == hx.feedback_stats(limit=1).mistakes

    hx.retract_feedback(hx.feedbacks("friday")[0].id)
    assert VerdictTally(helpful=3, wrong=3, share=0.5) == hx.feedback_stats().tally
    with pytest.raises(InvalidInput, match="0"):
        hx.feedback_stats(limit=0)


def test_the_trend_is_the_share_of_each_thirty_days(hx: Hexad, clock: FrozenClock) -> None:
    judged(hx, "boats", "wwwww")
    clock.advance(days=150)
    judged(hx, "boats", "hwwww")
    clock.advance(days=30)
    judged(hx, "boats", "hhhh")
    assert hx.feedback_stats().change is None  # four verdicts say nothing yet
    judged(hx, "tuesday", "w")

    stats = hx.feedback_stats()

    assert [(0, 0), (0, 0), (0, 0), (0, 0), (1, 4), (4, 1)] == [
        (period.tally.helpful, period.tally.wrong) for period in stats.trend
    ]
    assert [timedelta(days=30)] * 6 == [period.end - period.start for period in stats.trend]
    assert clock.now() == stats.trend[-1].end
    assert stats.change == pytest.approx(0.6)
    assert (5, 10) == (stats.tally.helpful, stats.tally.wrong)  # the oldest count in all, as in mistakes
    assert [("boats", 9), ("tuesday", 1)] == [(one.memory_id, one.tally.wrong) for one in stats.mistakes]


def test_whoever_has_a_role_is_told_its_own_in_numbers(hx: Hexad, tmp_path: Path) -> None:
    hx.feedback("boats", "wrong", query="is the merger with Zanzibar at the harbour?")
    with hexad.open(tmp_path / "p", embedder=None, background=False, actor={"role": "dev"}) as dev:
        dev.feedback("tuesday", "helpful", query=QUESTION)
        assert (1, 0, ()) == (
            (stats := dev.feedback_stats()).tally.helpful, stats.tally.wrong, stats.mistakes,
        )  # fmt: skip


def test_a_command_shows_feedback_in_numbers(run: Run) -> None:
    run("remember", "Deploys happen on Tuesday.", "--id", "deploys")
    assert "no feedback" in run("feedback", "--stats").err
    run("feedback", "deploys", "helpful", "--query", "when do we deploy?")
    run("feedback", "deploys", "wrong", "--query", "who deploys?")

    shown = run("feedback", "--stats").out
    assert "helpful: 50% of 2 verdicts" in shown
    assert "1 x deploys  'who deploys?'" in shown
    assert 0.5 == run("--json", "feedback", "--stats").data["tally"]["share"]
    refused = run("feedback", "deploys", "--stats")
    assert (2, True) == (refused.code, "--stats is of all feedback" in refused.err)
    refused = run("feedback", "--stats", "--query", "who?")
    assert (2, True) == (refused.code, "go with a verdict" in refused.err)


def test_bad_input_changes_nothing(hx: Hexad) -> None:
    before = all_of(hx)

    with pytest.raises(InvalidInput, match="great"):
        hx.feedback("boats", "great")
    with pytest.raises(NotFound, match="nowhere"):
        hx.feedback("nowhere", "wrong")
    with pytest.raises(InvalidInput, match="empty"):
        hx.feedback("boats", "wrong", query=" ")
    with pytest.raises(InvalidInput, match="7"):
        hx.feedback(7, "wrong")
    with pytest.raises(NotFound, match="fb_1"):
        hx.retract_feedback("fb_1")
    with pytest.raises(InvalidInput, match="2,001"):
        hx.feedback("boats", "wrong", note="x" * 2_001)

    assert before == all_of(hx)


def test_whoever_has_a_role_is_shown_its_own(hx: Hexad, tmp_path: Path) -> None:
    hx.feedback("boats", "wrong", query="is the merger with Zanzibar at the harbour?")
    with hexad.open(tmp_path / "p", embedder=None, background=False, actor={"role": "dev"}) as dev:
        assert [] == dev.feedbacks()
        own = dev.feedback("boats", "helpful", query=QUESTION)
        assert [own] == dev.feedbacks()
        with pytest.raises(NotFound):
            dev.retract_feedback(hx.feedbacks()[-1].id)
    assert 2 == len(hx.feedbacks())


def test_a_question_or_a_note_without_a_verdict_is_not_taken_for_a_list(run: Run) -> None:
    run("remember", "Deploys happen on Tuesday.")

    for words in (["feedback", "--note", "x"], ["feedback", "deploys", "--query", "when?"]):
        refused = run(*words)
        assert (2, "") == (refused.code, refused.out)
        assert "go with a verdict" in refused.err
