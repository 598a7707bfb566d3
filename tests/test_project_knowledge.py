"""What is true of a project: facts in five categories, drafts that rise, component summaries."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hexad import Category, FrozenClock, Hexad, InvalidInput, NotFound
from opener import Opener
from tables import BEFORE_CODE_GRAPH


def view(hx: Hexad, sql: str) -> list[tuple[object, ...]]:
    """What another program reads in the store's file."""
    return [tuple(row) for row in hx._services.db.query(sql)]


@pytest.mark.row("A141", "A024")
def test_the_call_of_the_document_stores_a_fact_that_its_view_shows(hx: Hexad) -> None:
    fact = hx.project.remember(
        category="tech_stack", key="database", value={"name": "PostgreSQL", "version": 16}, importance=0.9
    )

    assert (Category.TECH_STACK, "database", {"name": "PostgreSQL", "version": 16}, 0.9) == (
        fact.category, fact.key, fact.value, fact.importance,
    )  # fmt: skip
    assert [("project", "tech_stack", "database", '{"name":"PostgreSQL","version":16}', 0.9)] == view(
        hx, "SELECT project_id, category, key, value_json, importance FROM project_facts"
    )
    assert [
        "id",
        "project_id",
        "category",
        "key",
        "value_json",
        "importance",
        "created_at",
        "updated_at",
    ] == [row[1] for row in view(hx, "SELECT * FROM pragma_table_info('project_facts')")]
    plan = view(
        hx, "EXPLAIN QUERY PLAN SELECT * FROM project_facts WHERE project_id = 'p' AND category = 'todo'"
    )
    assert "idx_project_facts_proj_cat" in str(plan)


OLD_VIEWS = f"""{BEFORE_CODE_GRAPH}
    DROP VIEW session_state;
    DROP VIEW vector_chunks;
    CREATE VIEW session_state AS SELECT 1 AS id, repository AS project_id FROM working_sets LIMIT 1;
    CREATE VIEW vector_chunks AS SELECT v.no AS id, s.name AS project_id FROM vectors v
      JOIN memories m ON m.no = v.memory_no JOIN spaces s ON s.no = m.space_no;
    DELETE FROM meta WHERE key = 'project';
    DELETE FROM schema_migrations WHERE number >= 18;
"""
"""A store as it was when each of these views called something else a project."""


@pytest.mark.row("A018", "A024", "A042")
def test_a_project_has_one_name_in_all_views_in_stores_from_before_too(opened: Opener, project: Path) -> None:
    settings = project / ".hexad" / "hexad.toml"
    settings.parent.mkdir()
    settings.write_text('project = "Lighthouse"\n')
    hx = opened()
    hx.remember("The lamp turns twice a minute.", space="tower")
    hx.project.remember(category="tech_stack", key="database", value="SQLite")
    hx.governance.decide("Use an oil lamp.", rationale="It needs no wire.")
    hx.session.start("mend the lamp")
    hx.session.snapshot()
    hx.embed_pending()
    names = """
        SELECT 'session', project_id FROM session_state UNION SELECT 'vector', project_id FROM vector_chunks
        UNION SELECT 'fact', project_id FROM project_facts UNION SELECT 'decision', project_id FROM decisions
    """
    same = [(record, "Lighthouse") for record in ("decision", "fact", "session", "vector")]
    assert same == view(hx, names)
    assert hx.session.state is not None
    assert "Lighthouse" == hx.session.state.project_id
    columns = [
        view(hx, f"SELECT * FROM pragma_table_info('{name}')") for name in ("session_state", "vector_chunks")
    ]
    place = hx.path / "memory.db"
    hx.close()

    con = apsw.Connection(str(place))
    con.execute(OLD_VIEWS)
    assert ("session", str(project)) in list(con.execute(names))  # as it was
    con.close()

    hx = opened()
    assert same == view(hx, names)
    assert columns == [
        view(hx, f"SELECT * FROM pragma_table_info('{name}')") for name in ("session_state", "vector_chunks")
    ]
    hx.close()
    settings.write_text('project = "Beacon"\n')
    assert [("Beacon",)] == view(opened(), "SELECT project_id FROM session_state")


@pytest.mark.row("A023")
def test_facts_are_in_the_stores_own_file_and_found_by_recall(opened: Opener) -> None:
    hx = opened()
    hx.project.remember(category="convention", key="commit_messages", value="imperative mood")
    hx.close()

    again = opened(readonly=True)

    assert ["imperative mood"] == [fact.value for fact in again.project.get_conventions()]
    assert "project" == again.recall("how are commit messages written?")[0].layer


@pytest.mark.parametrize(
    ("category", "getter"),
    [
        pytest.param("pattern", "get_patterns", marks=pytest.mark.row("A026", "A020", "A095")),
        pytest.param("todo", "get_todos", marks=pytest.mark.row("A027", "A021")),
        pytest.param("convention", "get_conventions", marks=pytest.mark.row("A029", "A020")),
    ],
)
def test_a_category_is_asked_for_by_its_name(hx: Hexad, category: str, getter: str) -> None:
    hx.project.remember(category=category, key="errors", value="one base class", importance=0.3)
    hx.project.remember(category=category, key="retries", value="back off", importance=0.7)
    hx.project.remember(category="tech_stack", key="errors", value="sentry")

    found = getattr(hx.project, getter)()

    assert ["retries", "errors"] == [fact.key for fact in found]
    assert found == hx.project.get(category)


@pytest.mark.row("A028", "A096")
def test_the_tech_stack_is_told_by_key_and_the_newest_value_counts(hx: Hexad, clock: FrozenClock) -> None:
    hx.project.remember(category="tech_stack", key="database", value="SQLite")
    clock.advance(days=1)
    hx.project.remember(category="tech_stack", key="database", value="PostgreSQL")
    hx.project.remember(category="tech_stack", key="language", value="Python")
    hx.project.remember(category="tech_stack", key="language", value="TypeScript", component="web")

    stack = hx.project.get_tech_stack()

    assert {"database": "PostgreSQL", "language": "Python"} == {
        key: fact.value for key, fact in stack.items()
    }
    assert "TypeScript" == hx.project.get_tech_stack(component="web")["language"].value
    assert ["SQLite", "PostgreSQL"] == [fact.value for fact in hx.facts.history("project", "database")]


@pytest.mark.row("A025", "A092", "A019")
def test_a_decision_among_the_facts_is_recorded_with_its_reason(hx: Hexad) -> None:
    fact = hx.project.remember(
        category="decision",
        key="slice_detection",
        value={
            "algorithm": "Infomap",
            "rationale": "Better for small dense graphs",
            "alternatives": ["Louvain", "Leiden"],
        },
        importance=0.9,
    )

    decision = hx.governance.get(fact.memory_id)

    assert ("Better for small dense graphs", ("Louvain", "Leiden")) == (
        decision.rationale,
        decision.alternatives,
    )
    assert [("decision", "slice_detection")] == view(hx, "SELECT category, key FROM project_facts")
    assert "Infomap" == hx.project.get("decision")[0].value["algorithm"]  # type: ignore[index,call-overload]


@pytest.mark.row("A094")
def test_a_decision_under_a_key_takes_the_place_of_the_one_before(hx: Hexad, clock: FrozenClock) -> None:
    old = hx.project.remember_decision("Redis for sessions", key="sessions", rationale="It was there.")
    clock.advance(days=1)
    new = hx.project.remember_decision(
        "SQLite for sessions", key="sessions", rationale="One process.", by="ada"
    )

    assert ([new.id], [old.id, new.id]) == (
        [decision.id for decision in hx.project.get_decisions()],
        [decision.id for decision in hx.governance.history(new.id)],
    )
    assert ("ada", "One process.") == (new.created_by, new.rationale)


def test_facts_of_different_categories_under_one_key_stand_beside_each_other(hx: Hexad) -> None:
    for category in ("pattern", "todo", "tech_stack", "convention"):
        hx.project.remember(category=category, key="testing", value=f"as a {category}")

    assert 4 == len(hx.project.get(key="testing"))


def test_the_same_fact_again_is_evidence_and_no_second_one(hx: Hexad) -> None:
    first = hx.project.remember(category="pattern", key="errors", value="one base class")
    again = hx.project.remember(category="pattern", key="errors", value="one base class")

    assert (first.memory_id, 2, 1) == (again.memory_id, again.evidence, len(hx.project.get_patterns()))


# Drafts -------------------------------------------------------------------------------------------------------------


@pytest.mark.row("A093", "A020")
def test_an_inferred_pattern_is_a_draft_that_rises_with_its_evidence(hx: Hexad) -> None:
    sure = []
    for path in ("src/users.ts", "src/orders.ts", "src/invoices.ts"):
        fact = hx.project.observe(category="pattern", key="data_access", value="Prisma", seen_in=[path])
        assert fact is not None
        sure.append(fact.confidence)

    fact = hx.project.get_patterns()[0]

    assert 0.4 == sure[0] < sure[1] < sure[2] < 0.9
    assert (True, 3, "tool") == (fact.draft, fact.evidence, fact.trust)
    assert {"src/users.ts", "src/orders.ts", "src/invoices.ts"} == {
        citation.path for citation in fact.citations
    }


def test_a_draft_never_becomes_as_sure_as_what_was_said(hx: Hexad) -> None:
    for _ in range(30):
        fact = hx.project.observe(category="pattern", key="data_access", value="Prisma", confidence=0.6)

    assert fact is not None
    assert 0.85 < fact.confidence <= 0.9
    assert [] == hx.project.get_patterns(min_confidence=0.95)
    assert [] == hx.project.get("pattern", drafts=False)


def test_a_draft_that_is_confirmed_is_a_fact(hx: Hexad) -> None:
    draft = hx.project.observe(category="pattern", key="data_access", value="Prisma")
    assert draft is not None

    fact = hx.project.confirm("pattern", "data_access")

    assert (draft.memory_id, False, 1.0, "user") == (fact.memory_id, fact.draft, fact.confidence, fact.trust)


def test_what_somebody_said_is_not_changed_by_what_was_inferred(hx: Hexad) -> None:
    hx.project.remember(category="pattern", key="data_access", value="Drizzle")

    assert hx.project.observe(category="pattern", key="data_access", value="Prisma") is None
    same = hx.project.observe(category="pattern", key="data_access", value="Drizzle")

    assert (same is not None and same.draft, ["Drizzle"]) == (
        False,
        [pattern.value for pattern in hx.project.get_patterns()],
    )
    assert 0 == hx.quarantine.count()


def test_another_inferred_value_takes_the_place_of_the_draft(hx: Hexad, clock: FrozenClock) -> None:
    hx.project.observe(category="pattern", key="data_access", value="Prisma")
    clock.advance(days=1)
    hx.project.observe(category="pattern", key="data_access", value="Drizzle")

    assert [("Drizzle", 0.4)] == [
        (pattern.value, pattern.confidence) for pattern in hx.project.get_patterns()
    ]


# Todos and components -----------------------------------------------------------------------------------------------


@pytest.mark.row("A021")
def test_a_todo_that_is_done_is_gone_from_the_list_and_can_come_back(hx: Hexad) -> None:
    hx.project.remember(category="todo", key="retries", value="back off in the client", component="http")
    hx.project.remember(category="todo", key="old_parser", value={"debt": "two parsers", "cost": "high"})

    done = hx.project.done("retries")

    assert ["old_parser"] == [todo.key for todo in hx.project.get_todos()]
    hx.restore(done.memory_id)
    assert ["http"] == [todo.component for todo in hx.project.get_todos() if todo.key == "retries"]
    with pytest.raises(NotFound, match="nothing"):
        hx.project.done("nothing")


@pytest.mark.row("A022")
def test_the_summary_of_a_component_stays_until_another_takes_its_place(
    hx: Hexad, clock: FrozenClock
) -> None:
    hx.project.remember_component("billing", "Turns orders into invoices.", files=["src/billing/"])
    hx.project.remember_component("search", "Finds products.")
    clock.advance(days=1)
    old = hx.project.component("billing")
    hx.project.remember_component("Billing", "Turns orders into invoices and refunds.")

    assert "Turns orders into invoices." == old.summary
    assert ["Turns orders into invoices and refunds.", "Finds products."] == [
        component.summary for component in hx.project.components()
    ]
    assert old.memory_id == hx.project.component("BILLING").replaces
    assert ("src/billing/",) == old.files


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"category": "opinion", "key": "k", "value": "v"},
        {"category": "todo", "key": " ", "value": "v"},
        {"category": "todo", "key": "k" * 300, "value": "v"},
        {"category": "todo", "key": "k", "value": None},
        {"category": "todo", "key": "k", "value": "v", "importance": 3},
        {"category": "todo", "key": "k", "value": {"a": float("nan")}},
    ],
)
def test_what_is_no_fact_is_refused_and_changes_nothing(hx: Hexad, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        hx.project.remember(**given)  # type: ignore[arg-type]

    assert 0 == hx.count(status=None)


def test_nobody_observes_a_decision_nor_is_sure_of_an_inference(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="somebody decides"):
        hx.project.observe(category="decision", key="k", value="v")
    with pytest.raises(InvalidInput, match=r"0\.9"):
        hx.project.observe(category="pattern", key="k", value="v", confidence=0.9)


def test_nothing_is_known_of_a_new_project(hx: Hexad) -> None:
    assert ([], {}, [], []) == (
        hx.project.get(), hx.project.get_tech_stack(), hx.project.components(), hx.project.get_decisions(),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["markdown", "toon", "json"])
@pytest.mark.parametrize("question", ["", "what does billing do?"])
def test_a_context_names_the_component_that_a_summary_is_about(hx, question, form):
    hx.project.remember_component("billing", "Charges the cards.")

    assert "billing: Charges the cards." in hx.context(question).render(form)
