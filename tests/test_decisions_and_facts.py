"""Decisions beside facts and preferences: what agrees is no contradiction, and no reason is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

import hexad
from hexad import Hexad, MemoryLayer
from hexad.layers.context.selection import reconcile
from hexad.layers.contract import MemoryItem
from hexad.layers.project.technologies import named_key
from hexad.layers.scoring import DEFAULT_WEIGHTS, rank
from hexad.text.choices import choice_in
from hexad.text.same_values import names, same_value
from ran import Run

SAME = [
    ("Prisma", " prisma "), ("pytest", "pytest 8"), ("Postgres", "PostgreSQL 16"), ("PostgreSQL on RDS", "postgres"),
    (["pytest", "Hypothesis"], "Pytest 8.2"), ({"name": "Redis", "version": 7}, "redis"), ("k8s", "Kubernetes"),
    (["pytest"], "pytest"), (8080, "8080"), (2, 2.0), ("ruff, with the defaults", "Ruff"),
]  # fmt: skip
OTHER = [
    ("Prisma", "Drizzle"), ("pytest 7", "pytest 8"), ("Java", "JavaScript"), ("2 spaces", "2 tabs"),
    (["pytest", "Hypothesis"], "unittest"), ("Redis", "Redis without persistence"), (80, 443), (True, 1),
    ("retry three times", "retry three times a day"), ({"a": 1, "b": 2}, {"a": 1}), ("100", "100 200"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "other"), SAME)
def test_values_are_the_same_as_people_mean_them(value: object, other: object) -> None:
    assert same_value(value, other) and same_value(other, value)


@pytest.mark.parametrize(("value", "other"), OTHER)
def test_other_values_are_others(value: object, other: object) -> None:
    assert not same_value(value, other) and not same_value(other, value)


def test_a_text_names_what_it_chooses_and_not_what_it_turns_down() -> None:
    chosen = (
        "Use Prisma",
        "We will use Prisma 5 for orders.",
        "Prisma over Drizzle",
        "Use Prisma instead of raw SQL",
    )
    rejected = ("Use Drizzle instead of Prisma", "Drop Prisma", "No Prisma", "Migrate from Prisma to Drizzle",
                "Drizzle over Prisma", "Stop using Prisma", "Use prismatic colours")  # fmt: skip

    assert [True] * len(chosen) == [names(text, "prisma") for text in chosen]
    assert [False] * len(rejected) == [names(text, "Prisma 5") for text in rejected]


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Use Prisma", "orm"), ("We go with PostgreSQL 16", "database"), ("Drizzle over Prisma", "orm"),
        ("Use Redis for sessions", None), ("Use Prisma and Drizzle", None), ("Write tests first", None), ("", None),
    ],
)  # fmt: skip
def test_a_short_decision_is_about_the_key_of_what_it_names(title: str, key: str | None) -> None:
    assert key == named_key(title)


def item(name: str, layer: str = "project", *, days: float = 0.0, **fields) -> MemoryItem:
    values = {"text": f"{name} says something of its own.", "relevance": 0.5, "kind": "note", **fields}
    at = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=days)
    return MemoryItem(id=name, layer=MemoryLayer(layer), recency=days, at=at, **values)


def resolved(*items: MemoryItem) -> tuple[list[str], list[str], list[str]]:
    found = reconcile(rank(items, DEFAULT_WEIGHTS))
    notes = [note for entry in found.items for note in entry.notes]
    return (
        sorted(entry.item.id for entry in found.items),
        [entry.item.id for entry, _ in found.gave_way],
        notes,
    )


def decided(
    name: str, title: str, *, key: str | None = "orm", rationale: str = "It has types.", days: int = 3
):
    return item(
        name,
        "governance",
        days=days,
        key=key,
        text=f"{title}\n\nWhy: It has types.",
        value=key and title,
        kind="decision",
        group=key and "shop",
    )


@pytest.mark.row("A113", "A114")
@pytest.mark.parametrize(("fact_days", "title"), [*product((1, 90), ("Use Prisma", "Prisma 5 over Drizzle"))])
def test_a_decision_that_agrees_with_the_fact_stands_beside_it(fact_days: int, title: str) -> None:
    fact = item("fact", days=fact_days, key="orm", value="Prisma", group="shop", kind="tech-stack")
    user = item("user", "user", key="orm", value="prisma")

    assert (["d", "fact", "user"], [], []) == resolved(fact, decided("d", title), user)


@pytest.mark.row("A113")
def test_a_decision_that_says_something_else_keeps_its_reasons_and_says_so() -> None:
    fact = item("fact", days=1, key="orm", value="Drizzle", group="shop", kind="tech-stack")

    kept, gave_way, notes = resolved(fact, decided("d", "Use Prisma", days=90))

    assert (["d", "fact"], []) == (kept, gave_way)
    assert any("contradicted by fact, which is more recent" in note for note in notes)
    assert any("Another memory has orm: Use Prisma (d" in note for note in notes)


@pytest.mark.row("A113")
def test_an_older_fact_gives_way_to_a_decision_that_says_something_else() -> None:
    fact = item("fact", days=90, key="orm", value="Drizzle", group="shop", kind="tech-stack")

    assert (["d"], ["fact"]) == resolved(fact, decided("d", "Use Prisma"))[:2]


@pytest.mark.row("A114")
def test_a_plain_preference_is_held_against_a_list() -> None:
    stack = item(
        "stack", key="test_framework", value=["pytest", "Hypothesis"], group="shop", kind="tech-stack"
    )

    assert (["stack", "u"], [], []) == resolved(stack, item("u", "user", key="testing", value="pytest 8"))
    kept, gave_way, notes = resolved(stack, item("u", "user", key="testing", value="unittest"))
    assert (["stack"], ["u"]) == (kept, gave_way)
    assert "exception" in notes[0]


@pytest.mark.row("A114")
def test_a_decision_without_a_key_is_held_against_what_its_user_prefers() -> None:
    user = item("u", "user", key="orm", value="Prisma")

    assert (["d", "u"], [], []) == resolved(user, decided("d", "Use Prisma", key=None))
    kept, gave_way, notes = resolved(user, decided("d", "Use Drizzle", key=None))
    assert (["d"], ["u"]) == (kept, gave_way)
    assert "usually has orm: Prisma" in notes[0]
    assert (["d", "u"], [], []) == resolved(user, decided("d", "Use Drizzle for reports", key=None))


@pytest.mark.row("A113", "A114", "A099")
def test_a_context_has_the_reason_of_a_decision_beside_fact_and_preference(hx: Hexad) -> None:
    hx.user.prefer("orm", "Prisma")
    hx.project.remember(category="tech_stack", key="orm", value="Prisma")
    hx.governance.decide("Use Prisma", key="orm", rationale="Its migrations are reviewed as SQL.")

    context = hx.context("add an orm model; which orm do we use?", wait=True)

    told = context.render("markdown")
    assert "Its migrations are reviewed as SQL." in told
    assert "Tech stack: orm is Prisma." in told
    assert "Prefers Prisma for orm." in told
    for word in ("contradict", "exception", "Another memory"):
        assert word not in told + str(context.dropped)


@pytest.mark.row("A113", "A114")
def test_a_context_tells_a_decision_that_fact_and_preference_speak_against(hx: Hexad) -> None:
    hx.user.prefer("orm", "Prisma")
    hx.governance.decide("Use Drizzle over Prisma", key="orm", rationale="It runs at the edge.")
    hx.project.remember(category="tech_stack", key="orm", value="Prisma")

    told = hx.context("which orm do we use, and why?", wait=True).render("markdown")

    assert "It runs at the edge." in told
    assert "contradicted by" in told


@pytest.mark.row("A114")
def test_a_context_tells_a_preference_as_an_exception_beside_a_decision_without_a_key(hx: Hexad) -> None:
    hx.user.prefer("orm", "Prisma")
    hx.governance.decide("Use Drizzle", rationale="It runs at the edge.")

    told = hx.context("add an orm model; which orm do we use? Drizzle or Prisma", wait=True).render(
        "markdown"
    )

    assert "The user usually has orm: Prisma" in told
    assert "Treat this project as an exception." in told


@pytest.mark.row("A092", "A099")
def test_a_decision_under_a_key_takes_the_place_of_the_one_before(hx: Hexad) -> None:
    old = hx.governance.decide("Use Prisma", key="orm", rationale="It was there.")
    new = hx.governance.decide("Use Drizzle", key="orm", rationale="It runs at the edge.")

    assert [False, True] == [hx.governance.get(decision.id).in_force for decision in (old, new)]
    assert ["orm"] == [fact.key for fact in hx.project.get("decision")]
    for key in ("", " ", "a\nb", "k" * 201):
        with pytest.raises(hexad.InvalidInput, match="key = "):
            hx.governance.decide("Use Kysely", key=key)
    assert 2 == len(hx.governance.query())


@pytest.mark.row("A099")
def test_what_an_unkeyed_decision_names_is_not_suggested(hx: Hexad) -> None:
    hx.user.prefer("orm", "Prisma")
    hx.governance.decide("Use Redis for sessions")
    assert 1 == len(hx.user.suggestions())

    hx.governance.decide("Use Drizzle", rationale="It runs at the edge.")

    assert [] == hx.user.suggestions()


@pytest.mark.row("A051")
def test_decide_takes_a_key_on_the_command_line(run: Run) -> None:
    first = run("decide", "Use Prisma", "--key", "orm", "--because", "It was there.")
    second = run("decide", "Use Drizzle", "--key", "orm", "--because", "It runs at the edge.")
    refused = run("decide", "Use Kysely", "--key", " ")

    assert (0, 0, 2) == (first.code, second.code, refused.code)
    told = run("why", "which orm do we use?").out
    assert (
        told.index("Use Drizzle") < told.index("Superseded by")
        if "Superseded by" in told
        else "Use Drizzle" in told
    )


@pytest.mark.row("A092")
@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("what orm do we use", ["Use Prisma"]),
        ("which test framework?", ["Switch to Vitest"]),
        ("what is the database?", []),
        ("how are deploys done?", []),
    ],
)
def test_a_decision_without_a_key_is_found_by_the_key_of_what_it_names(hx, question, titles):
    hx.governance.decide("Use Prisma", rationale="Its migrations are read as SQL.")
    hx.governance.decide("Switch to Vitest", rationale="It starts at once.")
    hx.governance.decide("Use Redis for sessions", rationale="They may be lost.")
    hx.governance.supersede(hx.governance.decide("Use Drizzle").id, "Use no lock files")

    context = hx.context(question, deterministic=True)

    decisions = [block for block in context.evidence_blocks if block.item.layer == "governance"]
    assert titles == [block.text.partition("\n")[0] for block in decisions]
    assert all("Why: " in block.text for block in decisions)
    assert all("decided today" in block.item.notes[0] for block in decisions)
    assert 0 == len(hx.context(f"layer:governance kind:note {question}", deterministic=True))
    assert 0 == len(hx.context(question, as_of="2020-01-01", deterministic=True))


@pytest.mark.parametrize(
    ("title", "chosen", "rejected"),
    [
        ("Drop Prisma", "", "prisma"), ("Kafka replaces RabbitMQ", "kafka", "rabbitmq"),
        ("We don't use Prisma any more", "", "prisma"), ("Never use Prisma", "", "prisma"),
        ("Do not drop Prisma", "prisma", ""), ("RabbitMQ was replaced by Kafka", "kafka", "rabbitmq"),
        ("Upgrade from PostgreSQL 15 to 16", "postgresql 16", "postgresql 15"), ("Ban lodash", "", "lodash"),
        ("Prisma will no longer be used", "", "prisma"), ("Kafka, not RabbitMQ", "kafka", "rabbitmq"),
        ("Phase out Prisma in favour of Drizzle", "drizzle", "prisma"), ("Decision: use Kafka", "kafka", ""),
        ("Retire Jenkins; use Buildkite", "buildkite", "jenkins"), ("Prefer pytest to nose", "pytest", "nose"),
        ("Instead of Prisma, use Drizzle", "drizzle", "prisma"), ("Get rid of Prisma (it is slow)", "", "prisma"),
        ("Drop Prisma, since its migrations are slow", "", "prisma"), ("Go back to Prisma", "prisma", ""),
        ("", "", ""), ("use " * 100, "", ""), ("not " * 40 + "Prisma", "", None),
    ],
)  # fmt: skip
def test_a_title_is_read_for_what_it_chooses_and_turns_down(title, chosen, rejected) -> None:
    choice = choice_in(title)

    assert chosen == " ".join(word for name in choice.chosen for word in name)
    assert rejected in (None, " ".join(word for name in choice.rejected for word in name))


@pytest.mark.row("A113")
@pytest.mark.parametrize(("title", "value"), [
    ("Drop Prisma", "Prisma"), ("Do not use Prisma", "Prisma 5"), ("We stop using Prisma", ["Prisma", "Knex"]),
    ("Move from Prisma to Drizzle", "Prisma"), ("Use Drizzle", "Prisma"), ("No Prisma", {"name": "Prisma"}),
])  # fmt: skip
@pytest.mark.parametrize("key", ["orm", None])
@pytest.mark.parametrize("days", [1, 90])
def test_a_decision_against_the_fact_says_so_and_keeps_its_reason(title, value, key, days) -> None:
    fact = item("fact", days=20, key="orm", value=value, group="shop", kind="tech-stack")

    kept, gave_way, notes = resolved(fact, decided("d", title, key=key, days=days))

    assert "d" in kept
    assert key == "orm" or [] == gave_way
    assert any("contradicted by" in note or "Another memory has orm: " in note for note in notes)


@pytest.mark.row("A113")
@pytest.mark.parametrize(("title", "value"), [
    ("Use Prisma", "Prisma"), ("Do not use Drizzle", "Prisma"), ("Use Drizzle for reports", "Prisma"),
    ("Drop Prisma for the reports", "Prisma"), ("Keep Prisma", ["Prisma", "Knex"]), ("Prisma 5 over Knex", "Prisma"),
    ("Do not drop Prisma", "Prisma 5.2"), ("Never call Prisma from views", "Prisma"),
])  # fmt: skip
@pytest.mark.parametrize("key", ["orm", None])
def test_a_decision_that_leaves_the_fact_as_it_is_makes_no_note(title, value, key) -> None:
    fact = item("fact", days=20, key="orm", value=value, group="shop", kind="tech-stack")

    if key is None or ("reports" not in title and "views" not in title):
        assert (["d", "fact"], [], []) == resolved(fact, decided("d", title, key=key))


@pytest.mark.row("A113")
@pytest.mark.parametrize(("title", "value", "noted"), [
    ("Use PostgreSQL 16", "PostgreSQL 15", True), ("Upgrade PostgreSQL 15 to 16", "Postgres 15", True),
    ("Upgrade PostgreSQL 15 to 16", "Postgres 16", False), ("PostgreSQL 16", "Postgres", False),
    ("Use PostgreSQL 16", "Postgres 16.2", False), ("Go with Postgres", "PostgreSQL 15", False),
])  # fmt: skip
@pytest.mark.parametrize("key", ["database", None])
def test_versions_of_one_technology_are_told_apart(title, value, noted, key) -> None:
    fact = item("fact", days=1, key="database", value=value, group="shop", kind="tech-stack")

    notes = resolved(fact, decided("d", title, key=key))[2]

    assert noted == bool(notes)


@pytest.mark.row("A113")
def test_a_decision_is_held_against_a_fact_of_which_only_the_value_is_known() -> None:
    flags = item("flags", days=1, key="feature_flags", value="Unleash", group="shop", kind="tech-stack")
    cache = item("cache", days=1, key="cache", value="Redis", group="shop", kind="tech-stack")
    todo = item("todo", days=1, key="unleash", value="Unleash", group="shop", kind="todo")

    for title, notes in (("Drop Unleash", 2), ("Drop Redis as the cache", 2), ("Drop Redis for sessions", 0)):
        kept, gave_way, told = resolved(flags, cache, todo, decided("d", title, key=None))
        assert (4, 0, notes) == (len(kept), len(gave_way), len(told))


@pytest.mark.row("A092", "A113")
@pytest.mark.parametrize(("title", "question"), [
    ("Drop Prisma", "which orm do we use?"), ("Kafka replaces RabbitMQ", "what is our queue?"),
    ("Do not use Prisma any longer", "which orm is there?"), ("Upgrade to PostgreSQL 16", "which database?"),
])  # fmt: skip
def test_the_reason_of_what_was_turned_down_is_in_the_context(hx: Hexad, title: str, question: str) -> None:
    hx.governance.decide(title, rationale="Its engine is a binary.")

    assert "Its engine is a binary." in hx.context(question, deterministic=True).render()
