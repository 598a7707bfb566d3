"""One thing under several names: facts, preferences, detection and suggestions meet under all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.layers.project import detection, technologies
from hexad.text import key_names
from hexad.text.key_names import canonical_key, keys_near, topic_key
from opener import Opener
from user_projects import learned, open_project

PAIRS = [
    ("db", "database"), ("testing", "test_framework"), ("Test Framework", "testing"), ("lang", "language"),
    ("linting", "linter"), ("pkg_manager", "package_manager"), ("ci_cd", "ci"), ("docs", "documentation"),
]  # fmt: skip


NEAR = [
    ("main_database", "datastore"), ("database", "datastore"), ("db", "primary_db"), ("python", "python_version"),
    ("unit_tests", "test_runner"), ("test_framework", "test_runner"), ("deploy", "deployments"),
    ("deployment", "deploys"), ("formatting", "formatter"), ("framework", "web_framework"),
    ("backend_framework", "web_framework"), ("docs_tool", "documentation"), ("task_queue", "queue"),
    ("cli", "cli_framework"), ("logging", "logger"), ("css", "css_framework"), ("ide", "editor"),
]  # fmt: skip
"""What may stand beside each other in one project."""


def keys_of_detection() -> Iterator[str]:
    """The keys under which a look at a repository files the stack."""
    yield from technologies.TECHNOLOGIES
    yield from (key for _, category, key, _ in detection._FILES if category == "tech_stack")
    yield from ("language", "languages", "package_manager", "build_backend", "python_version", "node_version")


def test_what_detection_files_stands_under_its_own_name_in_the_table() -> None:
    assert [] == [key for key in keys_of_detection() if canonical_key(key) != key]


def test_no_name_means_two_things() -> None:
    names = [*key_names._OTHER_NAMES, *key_names._NEAR_NAMES]
    groups = [set(keys_near(key)) for key in sorted(set(names))]
    assert all(canonical_key(key) == topic_key(key) == key for key in names)

    assert sum(map(len, groups)) == len(set().union(*groups))


@pytest.mark.row("A024")
@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_a_fact_of_the_stack_takes_the_place_of_the_one_under_another_name(
    hx: Hexad, name: str, other: str
) -> None:
    hx.project.remember(category="tech_stack", key=name, value="One")
    hx.project.remember(category="tech_stack", key=other, value="Two")
    hx.remember("It is three.", space="project", kind="tech-stack", subject=hx.project.get()[0].component,
                attribute=other, value="Three")  # fmt: skip

    assert {name: "Three"} == {key: fact.value for key, fact in hx.project.get_tech_stack().items()}
    assert ["Three"] == [fact.value for fact in hx.project.get("tech_stack", key=other)]
    assert ["One", "Two", "Three"] == [
        fact.value for fact in hx.facts.history(hx.project.get()[0].component, other)
    ]


@pytest.mark.parametrize(("key", "value", "other_key", "other"), [
    ("task_queue", "Celery", "message_broker", "RabbitMQ"), ("queue", "RQ", "message_queue", "SQS"),
    ("frontend_framework", "React", "ui_library", "MUI"), ("test_framework", "Jest", "testing_library", "Enzyme"),
    ("auth_library", "passlib", "auth_provider", "Auth0"),
    *((name, "One", other, "Two") for name, other in NEAR),
])  # fmt: skip
def test_two_parts_of_one_stack_both_hold(
    hx: Hexad, key: str, value: str, other_key: str, other: str
) -> None:
    hx.project.remember(category="tech_stack", key=key, value=value)
    hx.project.remember(category="tech_stack", key=other_key, value=other)

    assert {key: value, other_key: other} == {
        name: fact.value for name, fact in hx.project.get_tech_stack().items()
    }


@pytest.mark.parametrize(("name", "other"), NEAR)
def test_what_may_stand_side_by_side_is_found_by_the_other_name_and_takes_no_place(
    hx: Hexad, name: str, other: str
) -> None:
    hx.user.prefer(name, "One")
    hx.user.prefer(other, "Two")
    assert {(name, 1.0), (other, 1.0)} == {
        (preference.key, preference.confidence) for preference in hx.user.preferences()
    }

    hx.project.remember(category="tech_stack", key=name, value="Three")

    assert ["Three"] == [fact.value for fact in hx.project.get("tech_stack", key=other)]
    assert ["Three"] == [fact.value for fact in hx.facts.current(hx.project.get()[0].component, other)]
    assert [] == hx.user.suggestions()


def test_a_value_that_is_filed_under_another_name_is_told_so(hx: Hexad) -> None:
    first = hx.project.remember(category="tech_stack", key="db", value="Postgres")
    fact = hx.project.remember(category="tech_stack", key="database", value="SQLite")
    memory = hx.remember("It is DuckDB.", space="project", kind="tech-stack", subject=fact.component,
                         attribute="database", value="DuckDB")  # fmt: skip

    note = "It is filed under 'db', which stands here already and means the same as 'database'."
    assert (note, f"It takes the place of {first.memory_id!r}.") == fact.notes
    assert (note, f"It takes the place of {fact.memory_id!r}.") == memory.receipt.notes
    assert () == first.notes


def test_a_look_at_the_repository_writes_nothing_down_that_somebody_said_under_a_name_near_it(
    hx: Hexad, tmp_path: Path
) -> None:
    hx.project.remember(category="tech_stack", key="main_database", value="Postgres")
    hx.project.remember(category="tech_stack", key="unit_tests", value="Mocha")
    (tmp_path / "package.json").write_text(
        json.dumps({"dependencies": {"pg": "8"}, "devDependencies": {"jest": "29"}})
    )

    report = hx.project.detect(tmp_path)

    assert ["main_database"] == [fact.key for fact in report.known]
    assert {"main_database": "Postgres", "unit_tests": "Mocha", "test_framework": "Jest"} == {
        key: fact.value for key, fact in hx.project.get_tech_stack().items()
    }


def test_conventions_and_todos_under_two_names_both_hold(hx: Hexad) -> None:
    for category in ("convention", "todo"):
        hx.project.remember(category=category, key="testing", value="one database for each test")
        hx.project.remember(category=category, key="tests", value="stand beside the code")

    hx.project.done("testing")

    assert {"testing", "tests"} == {fact.key for fact in hx.project.get_conventions()}
    assert ["tests"] == [fact.key for fact in hx.project.get_todos()]


def test_a_component_of_another_name_keeps_its_own_answer(hx: Hexad) -> None:
    hx.project.remember(category="tech_stack", key="db", value="SQLite")
    hx.project.remember(category="tech_stack", key="database", value="Redis", component="cache")

    assert {"SQLite", "Redis"} == {fact.value for fact in hx.project.get("tech_stack", key="database")}


@pytest.mark.row("A093", "A020")
def test_a_look_at_the_repository_meets_what_somebody_called_otherwise(hx: Hexad, tmp_path: Path) -> None:
    hx.project.remember(category="tech_stack", key="db", value="PostgreSQL")
    hx.project.remember(category="tech_stack", key="testing", value="Mocha")
    packages = {"dependencies": {"pg": "8", "@prisma/client": "5"}, "devDependencies": {"jest": "29"}}
    (tmp_path / "package.json").write_text(json.dumps(packages))

    report = hx.project.detect(tmp_path)

    assert ["orm"] == [fact.key for fact in report.new]
    assert [("db", "PostgreSQL")] == [(fact.key, fact.value) for fact in report.known]
    assert [("test_framework", "Jest")] == [(finding.key, finding.value) for finding in report.differs]
    assert {"db": "PostgreSQL", "testing": "Mocha", "orm": "Prisma"} == {
        key: fact.value for key, fact in hx.project.get_tech_stack().items()
    }


@pytest.mark.row("A036", "A118")
def test_a_preference_is_one_under_all_names(hx: Hexad) -> None:
    hx.user.prefer("db", "Postgres")
    hx.user.prefer("database", "SQLite")

    assert [("db", "SQLite", 1.0), ("db", "Postgres", 0.5)] == [
        (preference.key, preference.value, preference.confidence)
        for preference in hx.user.preferences("dbms")
    ]
    assert "Prefers SQLite for db." == hx.user.preference("database").statement
    assert 1 == hx.user.accept("database", "SQLite").accepted
    assert 1 == len(hx.user.suggestions())


@pytest.mark.row("A149")
def test_an_exception_and_a_suppression_hold_under_all_names(hx: Hexad) -> None:
    hx.user.prefer("testing", "pytest")
    hx.user.exception("test_framework", "unittest", reason="no packages there")

    assert "unittest" == hx.user.preference("testing").value
    assert "pytest" == hx.user.exception("testing_framework", "nose", reason="history").usual
    assert 1 == len(hx.user.exceptions())

    hx.user.prefer("db", "Postgres")
    hx.user.suppress("Postgres", key="database")

    assert [] == hx.user.suggestions()


@pytest.mark.row("A099")
@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_nothing_is_suggested_to_a_project_that_has_an_answer_under_another_name(
    hx: Hexad, name: str, other: str
) -> None:
    hx.user.prefer(name, "One")
    assert 1 == len(hx.user.suggestions())

    hx.project.remember(category="tech_stack", key=other, value="Two")

    assert [] == hx.user.suggestions()
    assert hx.user.offer() is None


@pytest.mark.row("A099")
def test_nothing_is_suggested_where_a_decision_is_the_answer(hx: Hexad) -> None:
    hx.user.prefer("orm", "Prisma")
    hx.project.remember_decision("Use Drizzle", key="orm", rationale="It runs at the edge.")

    assert [] == hx.user.suggestions()


@pytest.mark.row("A097", "A116")
def test_projects_that_call_it_otherwise_count_together(tmp_path: Path, clock: FrozenClock) -> None:
    for name, key in (("one", "db"), ("two", "database"), ("three", "database")):
        learned(tmp_path, clock, name, **{key: "Postgres"})

    with open_project(tmp_path / "four", clock) as hx:
        assert [("database", "Postgres", 3)] == [
            (suggestion.key, suggestion.value, suggestion.projects) for suggestion in hx.user.suggestions()
        ]
        assert ["Usually uses Postgres for database."] == [rule.text for rule in hx.user.rules()]
        assert () == hx.user.learn().changes


def test_facts_that_an_old_store_has_under_two_names_both_stay(opened: Opener) -> None:
    hx = opened()
    for key, value in (("db", "Postgres"), ("database", "SQLite")):
        hx.remember(f"{key} is {value}", space="project", kind="tech-stack", subject="p", attribute=key,
                    value=value, id=f"fact-{key}")  # fmt: skip
    hx.close()

    again = opened()

    assert {"db", "database"} == set(again.project.get_tech_stack())
    assert ["SQLite"] == [fact.value for fact in again.facts.current("p", "database")]
    assert isinstance(again, hexad.Hexad)


@pytest.mark.parametrize(("key", "task"), [
    ("documentation", "where are the docs?"), ("validation", "which validator is there?"),
    ("database", "what about the rdbms?"), ("test_framework", "where are the specs?"),
])  # fmt: skip
def test_a_preference_is_found_by_a_task_that_uses_another_name(hx: Hexad, key: str, task: str) -> None:
    hx.user.prefer(key, "Xyzzy")
    hx.user.prefer("pet", "Rex")

    text = hx.context(task).render()
    assert (True, False) == ("Xyzzy" in text, "Rex" in text)


@pytest.mark.parametrize(("name", "other"), [
    ("testFramework", "test_framework"), ("TestRunner", "testing"), ("testframework", "unit_tests"),
    ("languages", "language"), ("linters", "lint"), ("caches", "caching"), ("ORMs", "orm"), ("loggers", "logging"),
    ("featureFlags", "feature_flag"), ("feature-flags", "Feature Flag"), ("retry_policies", "retryPolicy"),
    ("type_checkers", "typeChecking"), ("packageManager", "pkg_manager"), ("queuing", "job_queues"),
])  # fmt: skip
def test_case_number_and_endings_keep_no_names_apart(hx: Hexad, name: str, other: str) -> None:
    assert topic_key(name) == topic_key(other)

    hx.project.remember(category="tech_stack", key=name, value="One")
    assert ["One"] == [fact.value for fact in hx.project.get("tech_stack", key=other)]
    component = hx.project.get()[0].component
    assert ["One"] == [fact.value for fact in hx.facts.current(component, other)]
    assert ["One"] == [fact.value for fact in hx.facts.current(None, other)]


@pytest.mark.parametrize(("name", "other"), [
    ("test_database", "database"), ("cache_ttl", "cache"), ("author", "auth"), ("language_server", "language"),
    ("test_data", "testing"), ("packaging", "package_manager"), ("bus", "bu"), ("queue_name", "queue"),
    ("process", "proces"), ("redis", "redi"), ("container_name", "container"), ("orm_version", "orm"),
    ("order", "orm"), ("string", "str"), ("ring", "r"), ("class", "clas"), ("address", "addres"), ("", "database"),
])  # fmt: skip
def test_names_of_other_things_stay_apart(name: str, other: str) -> None:
    assert topic_key(name) != topic_key(other)
    assert canonical_key(name) != canonical_key(other)
    assert other not in keys_near(name)


@pytest.mark.row("A020")
@pytest.mark.parametrize(("key", "question"), [
    ("db", "which database do we use?"), ("job_queue", "which queues are there?"),
    ("auth", "how is authentication done?"), ("orm", "which object relational mapper is it?"),
    ("testFramework", "what is our test runner?"), ("caching", "what caches do we have?"),
    ("lint", "which linters run?"), ("lang", "what programming languages?"), ("pkg_manager", "our package manager?"),
])  # fmt: skip
def test_a_fact_is_recalled_by_the_other_names_of_its_key_without_vectors(key: str, question: str) -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        hx.project.remember(category="tech_stack", key=key, value="Xyzzy")
        hx.remember("Plugh.", subject="shop", attribute=key, value="Plugh")
        hx.project.remember(
            category="tech_stack", key="backup", value="a dump of the db, auth, lint and lang"
        )
        hx.project.remember(category="tech_stack", key="main_menu", value="three entries")

        found = [hit.text for hit in hx.recall(question)]

        assert f"Tech stack: {key.replace('_', ' ')} is Xyzzy." in found
        assert "Tech stack: main menu is three entries." not in found
        assert "Xyzzy" in hx.context(question, deterministic=True).render()
        assert [] == [hit.text for hit in hx.recall(question, kinds=["decision"])]


def test_a_preference_in_camel_case_is_that_of_the_key(hx: Hexad) -> None:
    hx.user.prefer("testFramework", "pytest")

    assert "pytest" == hx.user.preference("testing").value
    assert ["pytest"] == [preference.value for preference in hx.user.preferences("test_framework")]
