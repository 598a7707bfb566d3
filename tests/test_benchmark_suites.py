"""The suites that benchmarks generate: the same from the same seed, with answers that follow from what was said."""

from __future__ import annotations

import importlib
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hexad

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def patch() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield patch


@pytest.fixture(scope="module")
def suites(patch: Any) -> ModuleType:
    return importlib.import_module("benchmarks.facts_suite")


@pytest.fixture(scope="module")
def whole(suites: ModuleType) -> Any:
    return suites.make()


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in REPOSITORY.glob("benchmarks/*.py") if not path.stem.startswith("__"))
)
def test_a_benchmark_can_be_loaded(patch: Any, name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def said_in(suites: ModuleType, suite: Any) -> dict[str, Any]:
    return {event.id: event for event in suite.events if isinstance(event, suites.Said)}


def test_a_seed_gives_the_same_suite_and_another_seed_another_one(suites: ModuleType, whole: Any) -> None:
    assert list(whole.lines()) == list(suites.make().lines())
    assert list(whole.lines()) != list(suites.make(seed=1).lines())


def test_the_suite_has_at_least_five_hundred_questions_of_every_kind(suites: ModuleType, whole: Any) -> None:
    kinds = {question.kind for question in whole.questions}

    assert len(whole.questions) >= 500
    assert len({question.id for question in whole.questions}) == len(whole.questions)
    assert kinds == {
        *(set(suites.COUNTS) - {"announced", "mentions"}), "announced, not yet", "announced, come",
    }  # fmt: skip
    assert kinds == {question.kind for question in suites.make(share=0.05).questions}


def test_events_come_in_the_order_of_time_and_speak_only_of_what_was_said_before(
    suites: ModuleType, whole: Any
) -> None:
    known: set[str] = set()
    for event, following in zip(whole.events, [*whole.events[1:], None], strict=True):
        assert following is None or event.at <= following.at
        if isinstance(event, suites.Said):
            assert event.rests_on is None or event.rests_on in known
            known.add(event.id)
        else:
            assert event.id in known
    assert max(event.at for event in whole.events) < suites.ASKED_FIRST


def test_what_is_right_follows_from_what_was_said_and_forgotten(suites: ModuleType, whole: Any) -> None:
    said = said_in(suites, whole)
    gone = {event.id for event in whole.events if isinstance(event, suites.Forgotten)}
    for question in whole.questions:
        if question.dependent is not None:
            continue
        about = [
            statement for statement in said.values() if (statement.subject, statement.attribute) == (question.subject, question.attribute)
        ]  # fmt: skip
        about.sort(key=lambda statement: statement.since)
        held = [statement for statement in about if statement.since <= (question.when or question.at)]
        if question.attribute in whole.several:
            right = tuple(sorted(statement.value for statement in held if statement.id not in gone))
        else:
            right = tuple(statement.value for statement in held[-1:] if statement.id not in gone)
        assert question.values == right, question
        if question.history:
            assert [value for value, _ in question.history] == [statement.value for statement in about], (
                question
            )


def test_what_must_be_marked_rests_on_what_was_replaced_or_forgotten(suites: ModuleType, whole: Any) -> None:
    said = said_in(suites, whole)
    gone = {event.id for event in whole.events if isinstance(event, suites.Forgotten)}
    asked = [question for question in whole.questions if question.dependent is not None]
    for question in asked:
        premise = said[question.dependent]
        while premise.rests_on is not None:
            premise = said[premise.rests_on]
        later = [
            statement for statement in said.values()
            if (statement.subject, statement.attribute) == (premise.subject, premise.attribute) and statement.since > premise.since
        ]  # fmt: skip
        assert question.review == (bool(later) or premise.id in gone), question
    assert {True, False} == {question.review for question in asked}


def test_nobody_speaks_of_those_that_are_never_heard_of(whole: Any) -> None:
    texts = "\n".join(event.text for event in whole.events if hasattr(event, "text"))
    unknown = {question.subject for question in whole.questions if question.kind == "never heard of"}

    assert unknown
    assert [] == [name for name in unknown if any(line.find(f"{name} ") >= 0 for line in texts.splitlines())]


def test_readers_take_the_first_the_clean_and_the_latest_text(suites: ModuleType, patch: Any) -> None:
    del patch
    readers = importlib.import_module("benchmarks.facts_readers")
    start, asked = suites.FIRST, suites.ASKED_FIRST

    def shown(value: str, days: int, **marks: Any) -> Any:
        since = start + timedelta(days=days)
        tells = marks.pop("tells", "")
        statement = suites.Said(
            id=value, at=since, text=value, subject="Ann", attribute="city", value=value, since=since, tells=tells
        )  # fmt: skip
        return readers.Shown(said=statement, **marks)

    def read(*answer: Any, **given: Any) -> dict[str, bool]:
        question = suites.Question(
            **{"id": "q", "kind": "updated", "at": asked, "text": "?", "subject": "Ann", "attribute": "city",
               "values": ("Rome",), **given}
        )  # fmt: skip
        return dict(readers.judge(question, readers.Answer(shown=answer)))

    oslo, rome = shown("Oslo", 1), shown("Rome", 9)
    to_come = shown("Bern", 2_000, tells="future")
    assert {"first": True, "clean": True, "dated": True} == read(rome)
    assert {"first": True, "clean": False, "dated": True} == read(rome, oslo)
    assert {"first": False, "clean": False, "dated": True} == read(oslo, rome)
    assert {"first": True, "clean": True, "dated": True} == read(to_come, rome, shown("Oslo", 1, past=True))
    assert {"first": False, "clean": False, "dated": False} == read(oslo)
    assert {"nothing": False, "unsaid": False} == read(oslo, values=(), kind="forgotten")
    assert {"nothing": True, "unsaid": True} == read(values=(), kind="forgotten")
    told = readers.Shown(said=rome.said, before=(oslo.said,))
    history = (("Oslo", ""), ("Rome", ""))
    assert {"history": True, "before": True} == read(told, history=history)
    assert {"history": False, "before": False} == read(rome, history=history)


def test_facts_answer_a_small_suite_right_and_a_dictionary_does_not(
    suites: ModuleType, patch: Any, tmp_path: Any
) -> None:
    del patch
    bench = importlib.import_module("benchmarks.changing_facts")
    readers = importlib.import_module("benchmarks.facts_readers")
    suite = suites.make(share=0.02)
    clock = hexad.FrozenClock(suites.FIRST)
    book = bench.LastWrite(several=suite.several)
    wrong: dict[str, list[str]] = {"facts": [], "book": []}
    with hexad.open(tmp_path, embedder=None, clock=clock, background=False, user_dir=tmp_path / "user") as hx:
        for name in suite.several:
            hx.facts.declare(name)
        stored = bench.Stored(hx, clock)
        for event in suite.events:
            stored.take(event, keyed=True)
            book.take(event)
        for at in (suites.ASKED_FIRST, suites.ASKED_LAST):
            stored.until(at)
            for question in suite.questions:
                for name, answers in (("facts", stored), ("book", book)):
                    if (
                        question.at == at
                        and not readers.judge_known(question, answers.facts(question))["right"]
                    ):
                        wrong[name].append(question.kind)

    assert [] == wrong["facts"]
    assert {"late", "announced, not yet", "last forgotten"} <= set(wrong["book"])


def test_what_is_planted_for_consolidation_says_the_same_or_something_else(patch: Any) -> None:
    del patch
    bench = importlib.import_module("benchmarks.consolidation")
    text = "We have 12 boxes, and the shelf was full."

    assert 1 == len({item.lower().rstrip("!.") for item in bench.said_again(text)})
    assert [text, text.replace("12", "13")] == list(bench.look_alikes(text))
    assert ["It was full.", "It was not full."] == list(bench.look_alikes("It was full."))
