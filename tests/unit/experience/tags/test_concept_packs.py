"""Concept packs: the three layouts, what is refused, and the hierarchy in the store."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from development_data import development_data
from example_counts import examples
from hexad.core.clock import FrozenClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.concept_packs import read_pack
from hexad.experience.tags.tag_index import ActiveTags, ConceptPacks
from hexad.experience.values.tags import PackReport
from hexad.lifecycle.schema import migrations as store_migrations

DATA = Path(__file__).parents[3] / "data" / "concepts"
KITCHEN = "example.org/kitchen::"
FIRST_LIGHT = "org.hatcat/first-light::"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "memory.db", clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    yield database
    assert [] == database.query("PRAGMA foreign_key_check")
    database.close()


def load(db: Database, path: Path) -> PackReport:
    return ConceptPacks(db, ActiveTags(db)).load(path)


def names(tags: list) -> list[str]:
    return [tag.name for tag in tags]


@pytest.mark.row("H121")
def test_a_folder_with_a_file_for_each_layer_is_a_pack(db):
    report = load(db, DATA / "kitchen")

    assert ("example.org/kitchen", "1.2.0", 5, 5) == (
        report.pack_id,
        report.version,
        report.concepts,
        report.created,
    )
    assert 1 == report.dangling  # Smoke is nowhere
    assert ["Cooking", "Food"] == names(Concepts(db).roots())


@pytest.mark.row("H115", "H116")
def test_children_are_found_from_parents_and_from_lists_of_children_alike(db):
    load(db, DATA / "kitchen")
    load(db, DATA / "garden.json")
    concepts = Concepts(db)

    assert ["Baking", "Frying"] == names(concepts.children(f"{KITCHEN}Cooking"))
    assert ["Baking", "Food"] == names(concepts.parents(f"{KITCHEN}BreadBaking"))
    assert ["Herb", "Rosé.v2"] == names(concepts.children("example.org/garden::Plant"))
    assert [] == concepts.children("example.org/garden::Rosé.v2")
    assert ["Plant"] == names(concepts.parents("example.org/garden::Rosé.v2"))


@pytest.mark.row("H117")
def test_what_is_related_says_how(db):
    load(db, DATA / "kitchen")
    load(db, DATA / "garden.json")

    found = Concepts(db).related(f"{KITCHEN}Food")

    assert [("Thyme", "inverse of related"), ("Cooking", "inverse of related")] == sorted(
        ((tag.name, how) for tag, how in found), reverse=True
    )
    assert [("Baking", "has_part"), ("Food", "related")] == [
        (tag.name, how) for tag, how in Concepts(db).related(f"{KITCHEN}Cooking")
    ]
    assert [("Frying", "antonyms"), ("Cooking", "inverse of has_part")] == [
        (tag.name, how) for tag, how in Concepts(db).related(f"{KITCHEN}Baking")
    ]


def test_a_relation_into_a_pack_that_comes_later_is_found_then(db):
    assert 1 == load(db, DATA / "garden.json").dangling
    load(db, DATA / "kitchen")

    assert [("Food", "related")] == [
        (tag.name, how) for tag, how in Concepts(db).related("example.org/garden::Thyme")
    ]


@pytest.mark.row("H146")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("herb", ["Herb"]),
        ("HERB", ["Herb"]),
        ("kraut", ["Herb"]),
        ("زعتر", ["Herb"]),
        ("oven", ["Baking"]),
        ("bread baking", ["BreadBaking"]),
        ("baking", ["Baking", "BreadBaking"]),
        ("b?king", ["Baking"]),
        ("*baking", ["Baking", "BreadBaking"]),
        ("rose\u0301.V2", ["Rosé.v2"]),
        ("v2", ["Rosé.v2"]),
        ("%", []),
        ("' OR 1=1 --", []),
        ("[a-z]", []),
        ("  ", []),
    ],
)
def test_concepts_are_found_by_term_and_alias(db, query, expected):
    load(db, DATA / "kitchen")
    load(db, DATA / "garden.json")

    assert expected == names(Concepts(db).find(query))


def test_the_same_pack_again_changes_nothing(db):
    load(db, DATA / "weather.jsonl")
    before = db.query("SELECT * FROM tags ORDER BY no")

    again = load(db, DATA / "weather.jsonl")

    assert (True, 0, 3) == (again.unchanged, again.created, again.concepts)
    assert before == db.query("SELECT * FROM tags ORDER BY no")


def test_a_newer_pack_keeps_the_tags_and_drops_what_is_gone_from_the_hierarchy(db, tmp_path):
    newer = tmp_path / "weather.jsonl"
    lines = (DATA / "weather.jsonl").read_text().splitlines()
    load(db, DATA / "weather.jsonl")
    rain = Tags(db).number("example.org/weather::Rain")
    newer.write_text("\n".join(line for line in lines if "::Hail" not in line).replace("wet stuff", "shower"))

    report = load(db, newer)

    assert (0, 1, 2) == (report.created, report.removed, report.concepts)
    assert rain == Tags(db).number("example.org/weather::Rain")
    assert ["drizzle", "shower"] == Concepts(db).aliases("example.org/weather::Rain")
    assert ["Rain"] == names(Concepts(db).children("example.org/weather::Weather"))
    assert "Hail" == Tags(db).require("example.org/weather::Hail").name
    with pytest.raises(NotFound, match="Hail"):
        Concepts(db).parents("example.org/weather::Hail")


def test_a_compressed_pack_is_the_same_pack(db, tmp_path):
    packed = tmp_path / "weather.jsonl.gz"
    packed.write_bytes(gzip.compress((DATA / "weather.jsonl").read_bytes()))

    assert read_pack(DATA / "weather.jsonl").concepts == read_pack(packed).concepts


def test_what_else_a_pack_says_is_kept(db):
    load(db, DATA / "weather.jsonl")

    assert {"positive_examples": ["Ice fell on the roof."]} == Concepts(db).details(
        "example.org/weather::Hail"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"term": "A"}\n{"term": "A"}', "twice"),
        ('{"term": "A", "parents": ["B"]}\n{"term": "B", "parents": ["A"]}', "circle"),
        ('{"term": "A", "parents": ["A"]}', "circle"),
        ('{"definition": "no term"}', "without a term"),
        ('{"term": "A", "aliases": [1]}', "no list of names"),
        ('{"term": "A"', "not JSON"),
        ("[1]", "should be"),
        ("", "no concepts"),
        ('{"term": "two\\nlines"}', "cannot be used"),
    ],
)
def test_what_is_no_pack_is_refused_and_changes_nothing(db, tmp_path, text, words):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)

    with pytest.raises(InvalidInput, match=words):
        load(db, path)
    assert 0 == Concepts(db).count()
    assert 0 == Tags(db).count()


def test_a_pack_that_is_cut_off_or_missing_is_refused(tmp_path):
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"term": "A"}' * 100)[:-12])

    with pytest.raises(InvalidInput, match="ends in the middle"):
        read_pack(cut)
    with pytest.raises(NotFound, match="no concept pack"):
        read_pack(tmp_path / "nowhere.json")
    with pytest.raises(InvalidInput, match=r"no pack\.json"):
        read_pack(tmp_path)


def test_a_pack_that_claims_the_concepts_of_another_is_refused(db, tmp_path):
    load(db, DATA / "weather.jsonl")
    other = tmp_path / "other.json"
    other.write_text(
        json.dumps({"pack": "other", "concepts": [{"id": "example.org/weather::Rain", "term": "Rain"}]})
    )

    with pytest.raises(Conflict, match=r"example\.org/weather"):
        load(db, other)


@pytest.mark.row("H173")
def test_only_concepts_that_a_lens_sees_are_taken_into_memory(db):
    kept = ActiveTags(db)
    packs = ConceptPacks(db, kept)
    packs.load(DATA / "kitchen")

    assert 3 == packs.load_primaries()
    assert {f"{KITCHEN}{term}" for term in ("Cooking", "Baking", "BreadBaking")} == set(kept._kept)


@settings(max_examples=examples(20))
@given(st.lists(st.integers(min_value=0, max_value=30), min_size=1, max_size=40))
def test_inverting_parents_loses_no_concept(tmp_path_factory, choices):
    """Concept i hangs below one of those before it, or is a root: any forest comes out that way."""
    folder = tmp_path_factory.mktemp("packs")
    parents = {0: None} | {i: (c % i if c % (i + 1) else None) for i, c in enumerate(choices, start=1)}
    path = folder / "pack.json"
    path.write_text(
        json.dumps(
            {
                "pack": "p",
                "concepts": [
                    {"term": f"C{i}", "parents": [] if parent is None else [f"C{parent}"]}
                    for i, parent in parents.items()
                ],
            }
        )
    )
    database = Database.open(folder / "memory.db", clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    try:
        load(database, path)
        concepts = Concepts(database)
        seen: list[str] = []
        waiting = concepts.roots()
        assert {f"C{i}" for i, parent in parents.items() if parent is None} == {tag.name for tag in waiting}
        while waiting:
            tag = waiting.pop()
            seen.append(tag.name)
            children = concepts.children(tag.id)
            assert all([tag.id] == [parent.id for parent in concepts.parents(child.id)] for child in children)
            waiting += children
        assert sorted(f"C{i}" for i in parents) == sorted(seen)
    finally:
        database.close()


# The pack that development uses -----------------------------------------------------------------------------------


@pytest.fixture
def first_light() -> Path:
    return development_data("concepts/first-light.jsonl.gz")


@pytest.mark.row("H024", "H121")
def test_the_development_pack_is_loaded_whole(db, first_light):
    report = load(db, first_light)

    assert (7947, 7947, ()) == (report.concepts, report.created, report.orphans)


def test_the_development_pack_is_the_tree_that_it_says(db, first_light):
    load(db, first_light)
    concepts = Concepts(db)

    assert ["CreatedThings", "Information", "LivingThings", "MindsAndAgents", "PhysicalWorld"] == names(
        concepts.roots()
    )
    assert 4 == len(concepts.children(f"{FIRST_LIGHT}MindsAndAgents"))
    assert 31 == len(concepts.children(f"{FIRST_LIGHT}WaterVehicle"))
    path, at = [], f"{FIRST_LIGHT}HonestDefaults"
    while above := concepts.parents(at):
        assert 1 == len(above)
        path.append(above[0].name)
        at = above[0].id
    assert [
        "EthicalDesign",
        "PersuasiveCommunication",
        "CreativeActivities",
        "AgentAction",
        "MindsAndAgents",
    ] == path
    assert "DomesticDog" == concepts.find("dog")[0].name
    assert 7947 == len(concepts.with_descendants([root.id for root in concepts.roots()]))
