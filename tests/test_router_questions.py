"""Questions are sorted by what their words do in them: the lists in tests/data, and what is hard about them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hexad import QueryClass, TaskType
from hexad.layers import router
from hexad.layers.router.classify import classify, read_rules

DATA = Path(__file__).parent / "data"


def _listed(name: str) -> list[tuple[str, str, str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [(kind, task, question) for kind, task, question in (line.split("\t") for line in lines)]


def _right(name: str) -> tuple[float, float, list[str]]:
    rows = _listed(name)
    found = [classify(question) for _, _, question in rows]
    wrong = [
        f"{question}: {item.query_class} {item.task_type}, not {kind} {task}"
        for (kind, task, question), item in zip(rows, found, strict=True)
        if (item.query_class, item.task_type) != (kind, task)
    ]
    classes = sum(item.query_class == kind for (kind, _, _), item in zip(rows, found, strict=True))
    tasks = sum(item.task_type == task for (_, task, _), item in zip(rows, found, strict=True))
    return classes / len(rows), tasks / len(rows), wrong


@pytest.mark.row("A054", "A106")
def test_questions_that_the_rules_were_made_on_are_sorted_right():
    classes, tasks, wrong = _right("routing.tsv")

    assert classes >= 0.97, wrong
    assert tasks >= 0.97, wrong


@pytest.mark.row("A054", "A106")
def test_questions_are_sorted_by_tense_and_aspect():
    classes, tasks, wrong = _right("routing_tenses.tsv")

    assert classes >= 0.97, wrong
    assert tasks == 1, wrong


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("routing_held_out.tsv", (0.79, 0.93)),
        ("routing_held_out_2.tsv", (0.95, 1.0)),
        ("routing_paraphrases.tsv", (0.89, 0.94)),
        ("routing_reworded.tsv", (0.52, 0.69)),
    ],
)
def test_questions_that_the_rules_were_not_made_on_are_mostly_sorted_right(name, least):
    """0.756 and 0.869 of the classes before the rules for tenses, 0.793 and 0.951 with them, none of them looked at.

    Paraphrases are worded plainly, and of what was wrong of them rules were made later; the last list is worded to be
    unlike any rule, and shows where they end.
    """
    classes, tasks, wrong = _right(name)

    assert classes >= least[0], wrong
    assert tasks >= least[1], wrong


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("half", "count", "least"), [("development", 100, 0.95), ("unseen", 100, 0.88), ("validation", 111, 0.92)]
)
def test_questions_that_strangers_asked_are_sorted_right(half, count, least):
    """Of the unseen half 0.78 before what is typed as into a search engine was read, 0.89 with it. The validation set was
    labelled before it was asked: 0.74 before orders to tell of something were questions, 0.93 now.
    """
    data = Path(__file__).parents[1] / "benchmarks" / "data" / f"routing.{half}.jsonl"
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    wrong = [row for row in rows if classify(row["question"]).query_class != row["class"]]

    assert len(rows) == count
    assert {row["class"] for row in rows} == set(QueryClass)
    assert len(wrong) <= (1 - least) * len(rows), wrong if half == "development" else len(wrong)


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("sentence", "query_class"),
    [
        ("python parsing yaml file", "procedural"),
        ("remove directory recursively in bash", "procedural"),
        ("read lines of a file java", "procedural"),
        ("python version", "general"),
        ("Our notes on python packaging", "general"),
        ("Which releases are new in Python?", "factual"),
    ],
)
def test_what_is_typed_as_into_a_search_engine_asks_how(sentence, query_class):
    assert classify(sentence).query_class == query_class


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("wrapped", "asked"),
    [
        ("Explain how the modules are connected.", "How are the modules connected?"),
        ("Explain how we deploy.", "How do we deploy?"),
        ("Tell me about how the importer works.", "How does the importer work?"),
        ("Explain to me why the cache was removed.", "Why was the cache removed?"),
        ("Describe briefly how the schema evolved.", "How did the schema evolve?"),
        ("Help me understand what the scheduler does.", "What does the scheduler do?"),
    ],
)
def test_a_question_that_is_told_as_an_order_is_of_its_own_class(wrapped, asked):
    assert classify(asked).query_class is not QueryClass.GENERAL
    assert (classify(asked).query_class, TaskType.EXPLAIN) == (
        classify(wrapped).query_class,
        classify(wrapped).task_type,
    )


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("order", "query_class"),
    [
        ("Tell me about the billing service.", "factual"),
        ("tell us more about rate limits", "factual"),
        ("Explain the tokenizer to me.", "factual"),
        ("What can you tell me about the nightly job?", "factual"),
        ("Tell me about our architecture.", "architectural"),
        ("Tell me about the decision to use Postgres.", "historical"),
        ("Tell me about myself.", "user"),
        ("Tell me about this project.", "general"),
        ("Tell me more.", "general"),
        ("Explain this to me.", "general"),
    ],
)
def test_an_order_to_tell_of_one_thing_asks_for_what_is_known_of_it(order, query_class):
    found = classify(order)

    assert (found.query_class, found.task_type) == (query_class, TaskType.EXPLAIN)


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("order", "query_class", "task"),
    [
        ("Carry on with the migration.", "procedural", "edit"),
        ("continue working on the parser", "procedural", "edit"),
        ("Let's go on with billing", "procedural", "edit"),
        ("Resume the refactoring of the importer.", "procedural", "edit"),
        ("Put caching on the list endpoint.", "procedural", "edit"),
        ("Carry on.", "general", "explain"),
        ("Keep going.", "general", "explain"),
        ("Continue from there.", "general", "explain"),
    ],
)
def test_an_order_to_go_on_with_something_is_work_to_be_done(order, query_class, task):
    found = classify(order)

    assert (found.query_class, found.task_type) == (query_class, task)


def test_the_lists_share_no_question_and_name_every_kind():
    made_on, held_out = _listed("routing.tsv"), _listed("routing_held_out.tsv")
    tenses, second = _listed("routing_tenses.tsv"), _listed("routing_held_out_2.tsv")
    paraphrases, reworded = _listed("routing_paraphrases.tsv"), _listed("routing_reworded.tsv")

    asked = {row[2].lower() for row in (*made_on, *tenses, *paraphrases)}
    assert not asked & {row[2].lower() for row in (*held_out, *second, *reworded)}
    for rows in (made_on, held_out, paraphrases, reworded):
        assert {row[0] for row in rows} == set(QueryClass)
        assert {row[1] for row in rows} == set(TaskType)


@pytest.mark.row("A054")
@pytest.mark.parametrize(
    ("question", "kind", "task"),
    [
        ("How is the address book structured?", "architectural", "explain"),
        ("What is my preferred testing framework?", "user", "explain"),
        ("Address the review comments.", "procedural", "edit"),
        ("Which address do we ship from?", "factual", "explain"),
        ("How is the fix list organised?", "architectural", "explain"),
        ("Fix the list.", "procedural", "edit"),
        ("Who decided on the update policy?", "historical", "explain"),
        ("Update the policy.", "procedural", "edit"),
        ("design documents", "general", "explain"),
        ("Design the documents store.", "architectural", "design"),
    ],
)
def test_a_word_counts_by_where_it_stands(question, kind, task):
    found = classify(question)

    assert (found.query_class, found.task_type) == (kind, task)
    assert found.reasons or kind == "general"


@pytest.mark.row("A054", "A106")
@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which ports has the gateway had?", "historical"),
        ("Which fields has an order?", "factual"),
        ("Which teams have owned the gateway so far?", "historical"),
        ("Which tables have an index?", "factual"),
        ("Which tests have to be skipped?", "factual"),
        ("What did we use before?", "historical"),
        ("Which hook runs before a commit?", "factual"),
        ("Who used to own the gateway?", "historical"),
        ("Which tool is used to lint?", "factual"),
        ("Am I used to code reviews?", "user"),
        ("earlier names of the product", "historical"),
        ("Which user is the previous button for?", "factual"),
        ("How has the architecture evolved?", "historical"),
        ("How is the architecture layered?", "architectural"),
        ("Which mistakes do I make most often?", "user"),
        ("How do I set up my editor?", "procedural"),
    ],
)
def test_the_perfect_and_the_past_ask_for_what_was_and_the_same_words_elsewhere_do_not(question, kind):
    assert classify(question).query_class == kind


@pytest.mark.row("A071")
@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Why did we choose Postgres?", True),
        ("What was decided about retries?", True),
        ("List the decisions about logging.", True),
        ("Show the decision tree of the classifier.", False),
        ("What port does the server listen on?", False),
    ],
)
def test_only_questions_for_a_reason_or_a_decision_ask_why(question, asks):
    assert classify(question).asks_why is asks


def test_every_line_of_the_rules_is_read_as_what_it_is():
    lines = Path(router.__file__).with_name("question_rules.txt").read_text(encoding="utf-8").splitlines()
    heads = [line for line in lines if line.startswith("[")]

    rules = read_rules()
    assert heads == [f"[{rule.query_class} {rule.weight}] {rule.reason}" for rule in rules]
    assert all(rule.pattern.pattern for rule in rules)


def test_a_question_that_never_ends_is_sorted_at_once():
    started = time.process_time()
    for question in (
        "how does a " + "b to " * 5_000,
        "my " + "x " * 20_000,
        "which " + "had a " * 5_000,
        "what has " + "been-x " * 5_000,
        "do i " * 5_000,
        "the " * 20_000 + "should",
        "?" * 50_000,
    ):
        classify(question)

    assert time.process_time() - started < 5
