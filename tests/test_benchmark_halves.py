"""The benchmark data in two halves: whole, without a word of one half in the other, and judged as it says."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hexad

REPOSITORY = Path(__file__).parents[1]
HALVES = ("development", "unseen")


@pytest.fixture(scope="module")
def bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.fixture(scope="module")
def facts(bench: Any) -> ModuleType:
    return bench("short_facts")


@pytest.fixture(scope="module")
def updates(bench: Any) -> ModuleType:
    return bench("plain_updates")


def test_the_halves_of_the_conversations_share_no_turn_and_are_well_formed(bench: Any) -> None:
    messages = bench("messages")
    first, second = (
        {str(message["content"]) for each in messages.load(half) for message in each.messages} - {"ok"}
        for half in HALVES
    )

    assert not first & second
    for half in HALVES:
        assert set(messages.KINDS) == {each.kind for one in messages.load(half) for each in one.expected}


def test_most_of_what_a_conversation_says_is_extracted_and_little_else(bench: Any) -> None:
    messages = bench("messages")
    found = messages.judgements(messages.load("development")[:12])

    assert sum(each.memory is not None and each.expected is None for each in found) <= 1
    assert sum(each.memory is None for each in found) <= 2


@pytest.mark.parametrize("half", HALVES)
def test_a_half_of_the_short_facts_has_questions_of_every_kind(facts: ModuleType, half: str) -> None:
    data = facts.ShortFacts.load(half)
    kinds = Counter(question.kind for question in data.questions)

    assert [15, 60, 300] == sorted(Counter(fact.store for fact in data.facts).values())
    assert set(kinds) == {*facts.OWN, *facts.OFF_TOPIC}
    assert sum(kinds[kind] for kind in facts.OWN) >= 200
    assert sum(kinds[kind] for kind in facts.OFF_TOPIC) >= 75
    assert kinds[facts.NO_SHARED_WORD] >= 60
    assert kinds[facts.EXACT_TOKEN] >= 30
    assert all(4 <= len(fact.text.split()) <= 25 for fact in data.facts)


def test_of_the_validation_set_every_other_record_may_be_looked_at(bench: Any, updates: ModuleType) -> None:
    assert len(updates.load_updates("validation")) == 120
    assert len(updates.load_pairs("validation")) == 198
    for name in ("plain_updates", "independent_pairs"):
        seen = [record["look"] for record in bench("halves").records(name, "validation")]
        assert seen == [True, False] * (len(seen) // 2)


def test_the_weights_of_the_likelihood_are_those_that_are_fitted(
    bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    likelihood = importlib.import_module("hexad.text.claims.likelihood")
    assert bench("update_likelihood").main() == 0
    printed: dict[str, Any] = {}
    exec(capsys.readouterr().out.replace(": Final", ""), printed)
    for name in ("PAIR_WEIGHTS", "ANSWER_WEIGHTS"):
        assert printed[name] == pytest.approx(getattr(likelihood, name), abs=0.002)


@pytest.mark.parametrize("half", HALVES)
def test_a_half_has_150_updates_in_ten_styles_and_1000_pairs(updates: ModuleType, half: str) -> None:
    changes, pairs = updates.load_updates(half), updates.load_pairs(half)

    assert len(changes) >= 150
    assert len(Counter(update.style for update in changes)) >= 10
    assert len(pairs) == 1_000
    assert {100} == set(Counter(pair.kind for pair in pairs).values())
    assert len({pair.frame for pair in pairs}) >= 200


def test_the_halves_share_no_text(facts: ModuleType, updates: ModuleType) -> None:
    seen: list[set[str]] = []
    for half in HALVES:
        data = facts.ShortFacts.load(half)
        changes = updates.load_updates(half)
        texts = {fact.text for fact in data.facts} | {question.text for question in data.questions}
        texts |= {text.text for update in changes for text in update.texts}
        texts |= {update.question for update in changes}
        texts |= {text for pair in updates.load_pairs(half) for text in (pair.older, pair.newer)}
        seen.append(texts)

    assert seen[0] & seen[1] == set()


def test_faults_of_the_data_are_named(facts: ModuleType, updates: ModuleType) -> None:
    data = facts.ShortFacts.load("development")
    first, second = data.questions[:2]
    fact = next(fact for fact in data.facts if fact.id in first.right)
    lost = replace(data, questions=(replace(first, right=frozenset({"nowhere"})),))
    shared = replace(data, questions=(replace(first, kind=facts.NO_SHARED_WORD, text=fact.text),))
    change = updates.load_updates("development")[0]
    pair = updates.load_pairs("development")[0]

    assert list(data.problems()) == []
    assert len(list(lost.problems())) == 1
    assert len(list(shared.problems())) == 1
    assert len(list(replace(data, questions=(first, replace(second, text=first.text))).problems())) >= 1
    assert len(list(updates.update_problems([replace(change, texts=change.texts[::-1])]))) == 1
    assert len(list(updates.update_problems([change, change]))) > 1
    assert len(list(updates.pair_problems([replace(pair, newer=pair.older)]))) == 1


def test_what_a_store_reports_as_superseded_is_read_from_its_links(
    updates: ModuleType, tmp_path: Path
) -> None:
    with hexad.open(tmp_path, embedder=None, background=False, user_dir=tmp_path / "user") as hx:
        old = hx.remember("Bread rises for an hour.").id
        new = hx.remember("We bake on stone these days.").id
        other = hx.remember("Butter is bought in Riga.").id
        hx.link(new, other, kind="related")
        before = updates.supersessions(hx, [old, new, other], hx.recall("bread"))
        hx.link(new, old, kind="supersedes")
        after = updates.supersessions(hx, [old, new, other], hx.recall("bread"))

    assert before == set()
    assert after == {(new, old)}


def test_updates_and_pairs_are_judged_each_in_a_space_of_its_own(
    bench: Any, updates: ModuleType, tmp_path: Path
) -> None:
    changes, pairs = updates.load_updates("development")[:3], updates.load_pairs("development")[:3]

    verdicts, called = updates.judge(changes, pairs, bench("corpora").WordVectors(), tmp_path)

    assert [verdict.update for verdict in verdicts] == changes
    assert {role for verdict in verdicts for order in verdict.orders.values() for role in order} <= set(
        updates.ROLES
    )
    assert all(verdict.is_before(updates.CEILING) for verdict in verdicts)
    assert len(called) == 3


def test_a_verdict_tells_current_before_old(updates: ModuleType) -> None:
    change = updates.load_updates("development")[0]

    def is_before(*order: str) -> bool:
        verdict = updates.Verdict(update=change, orders={"hexad": order}, is_reported=False, false_reports=())
        return bool(verdict.is_before("hexad"))

    assert is_before("near", "current", "old")
    assert is_before("current")
    assert not is_before("old", "current")
    assert not is_before("near")


def test_short_facts_are_asked_of_a_store_for_each_collection(
    bench: Any, facts: ModuleType, tmp_path: Path
) -> None:
    data = facts.ShortFacts.load("development")
    small = facts.ShortFacts(
        facts=tuple(fact for fact in data.facts if fact.store == "profile"),
        questions=tuple(question for question in data.questions if question.store == "profile"),
    )

    found = facts.answers(small, bench("corpora").WordVectors(), tmp_path)

    assert len(found) == len(facts.SYSTEMS) * len(small.questions)
    assert all(set(answer.ids) <= {fact.id for fact in small.facts} for answer in found)
    assert any(answer.is_first for answer in found if answer.system == facts.HEXAD)


@pytest.mark.parametrize("half", HALVES)
def test_a_half_of_the_assistant_chats_has_ten_conversations_and_300_questions(bench: Any, half: str) -> None:
    data = bench("assistant_chats_data")
    chats = data.chats(half)
    ids = {turn["id"] for turn in chats.turns}
    replies = [turn["text"] for turn in chats.turns if turn["speaker"] == "assistant"]

    assert len(ids) == len(chats.turns) == 2_000
    assert {200} == set(Counter(turn["conversation"] for turn in chats.turns).values())
    assert len(chats.questions) == 300
    assert set(data.KINDS) == {question["category"] for question in chats.questions}
    assert all(question["evidence"] and ids.issuperset(question["evidence"]) for question in chats.questions)
    assert sum(len(reply.split()) for reply in replies) / len(replies) >= 150


def test_the_halves_of_the_assistant_chats_share_no_turn_and_no_question(bench: Any) -> None:
    data = bench("assistant_chats_data")
    seen = [
        {turn["text"] for turn in data.chats(half).turns}
        | {question["question"] for question in data.chats(half).questions}
        | {text["text"] for text in data.documents(half).texts}
        for half in HALVES
    ]
    words = bench("assistant_chats_words")
    templates = [_leaves(words.WORDS[half]) - set(words._DAYS) - set(words._AMOUNTS) for half in HALVES]

    assert seen[0] & seen[1] == set()
    assert templates[0] & templates[1] == set()


def _leaves(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    parts = value if isinstance(value, tuple) else [getattr(value, name) for name in value.__slots__]
    return set().union(*map(_leaves, parts))


def test_what_a_user_says_stands_in_the_turns_that_a_question_names(bench: Any) -> None:
    data = bench("assistant_chats_data")
    chats = data.chats("development")
    texts = {turn["id"]: turn["text"] for turn in chats.turns}
    instructions = [q for q in chats.questions if q["category"] == "instruction"]
    orders = [q for q in chats.questions if q["category"] == "ordering"]

    assert all(
        any(
            order in texts[q["evidence"][0]]
            for order, _ in bench("assistant_chats_words").DEVELOPMENT.instructions
        )
        for q in instructions
    )
    assert all(len(q["evidence"]) >= 3 for q in orders)


def test_kinds_are_asked_apart_and_in_one_space(bench: Any, tmp_path: Path) -> None:
    kinds, corpora = bench("kinds"), bench("corpora")
    first = kinds.Kind(
        name="first",
        records={"a": [{"id": "1", "text": "Larkspur is hosted in Helsinki."}]},
        questions=[
            corpora.Question(text="Where is Larkspur hosted?", conversation="a", evidence=frozenset({"1"}))
        ],
    )
    other = kinds.Kind(
        name="other",
        records={"b": [{"id": "2", "text": "Bread rises for an hour."}]},
        questions=[
            corpora.Question(text="How long does bread rise?", conversation="b", evidence=frozenset({"2"}))
        ],
    )
    embedder = corpora.WordVectors()
    kinds.build(tmp_path / "mixed", [first, other], embedder, space="mixed")
    kinds.build(tmp_path / "spaces", [first, other], embedder, space=None)

    for part in (first, other):
        for answers in (
            kinds.ask(tmp_path / "mixed", part, embedder, space="mixed"),
            kinds.ask(tmp_path / "spaces", part, embedder),
            *kinds.baselines(part, embedder).values(),
        ):
            assert kinds.evaluate(part, answers) == (1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
