"""Which concepts may be seen: what an entry of the setting names, and how the hierarchy of packs counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexad.core.clock import FrozenClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.errors import InvalidInput
from hexad.experience.tags.tag_index import ActiveTags, ConceptPacks
from hexad.experience.tags.visibility import Lenses
from hexad.experience.values.lenses import parse_lenses
from hexad.lifecycle.schema import migrations as store_migrations


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    clock = FrozenClock()
    database = Database.open(tmp_path / "memory.db", clock=clock)
    migrations.apply(database, store_migrations(), clock)
    yield database
    database.close()


def load(db: Database, folder: Path, hierarchy: dict[str, list[str]], *, pack: str = "mind") -> None:
    terms = sorted({*hierarchy, *(child for children in hierarchy.values() for child in children)})
    file = folder / f"{pack}.json"
    file.write_text(
        json.dumps(
            {
                "pack": pack,
                "version": "1",
                "concepts": [{"term": term} for term in terms],
                "hierarchy": hierarchy,
            }
        )
    )
    ConceptPacks(db, ActiveTags(db)).load(file)


def seen(db: Database, entries: list[str], concepts: list[str]) -> list[str]:
    permits = Lenses(db, parse_lenses(entries)).refresh()
    return [concept for concept in concepts if permits(concept)]


CONCEPTS = ["mind::Emotion", "mind::Joy", "mind::Emotional", "mindful::Joy", "world::Stone", "plain"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], []),
        (["*"], CONCEPTS),
        (["mind::Joy"], ["mind::Joy"]),
        (["mind::*"], ["mind::Emotion", "mind::Joy", "mind::Emotional"]),
        (["plain", "world::*"], ["world::Stone", "plain"]),
        (["mind::Emotion/**"], ["mind::Emotion"]),
    ],
)
def test_an_entry_names_a_concept_a_pack_or_all(
    db: Database, entries: list[str], expected: list[str]
) -> None:
    assert expected == seen(db, entries, CONCEPTS)


def test_a_branch_holds_everything_below_its_concept_at_any_depth(db: Database, tmp_path: Path) -> None:
    load(db, tmp_path, {"Emotion": ["Joy"], "Joy": ["Glee"], "Thought": ["Doubt"]})

    assert ["mind::Emotion", "mind::Joy", "mind::Glee"] == seen(
        db, ["mind::Emotion/**"], ["mind::Emotion", "mind::Joy", "mind::Glee", "mind::Thought", "mind::Doubt"]
    )


def test_a_pack_that_is_loaded_later_counts_from_the_next_look_on(db: Database, tmp_path: Path) -> None:
    lenses = Lenses(db, parse_lenses(["mind::Emotion/**"]))
    permits = lenses.refresh()
    assert not permits("mind::Joy")

    load(db, tmp_path, {"Emotion": ["Joy"]})

    assert lenses.refresh()("mind::Joy")
    assert permits("mind::Joy"), "what was handed out before knows it too"


def test_a_newer_pack_takes_what_it_moved_away_out_of_sight(db: Database, tmp_path: Path) -> None:
    lenses = Lenses(db, parse_lenses(["mind::Emotion/**"]))
    load(db, tmp_path, {"Emotion": ["Joy", "Doubt"]})
    assert lenses.refresh()("mind::Doubt")

    load(db, tmp_path, {"Emotion": ["Joy"], "Thought": ["Doubt"]})

    assert not lenses.refresh()("mind::Doubt")
    assert lenses.refresh()("mind::Joy")


def test_only_what_may_be_seen_is_left_of_activations_in_their_order(db: Database) -> None:
    lenses = Lenses(db, parse_lenses(["mind::*"]))

    left = lenses.visible({"mind::Joy": 0.9, "world::Stone": 0.8, "mind::Emotion": 0.1})

    assert [("mind::Joy", 0.9), ("mind::Emotion", 0.1)] == list(left.items())


@pytest.mark.parametrize("entry", ["", "::*", "/**", "mind::J*", "mind*", "**", "mind::Joy/*", "x" * 513])
def test_an_entry_that_could_be_misread_is_refused_by_name(entry: str) -> None:
    with pytest.raises(InvalidInput, match="names no lens"):
        parse_lenses(["mind::Joy", entry])
