"""Concept packs whose relations name concepts by other words, and which are loaded again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hexad import Hexad
from hexad.experience.tags import tag_index

CONCEPTS = [
    {"term": "Smoke", "layer": 2, "aliases": ["Fumes"]},
    {"term": "Fire", "layer": 1, "aliases": ["Blaze", "Heat"]},
    {"term": "Heat", "layer": 3},
    {"term": "WoodStove", "aliases": ["tiled stove"]},
    {"term": "Soot", "aliases": ["fly ash"]},
    {"term": "Cinder", "aliases": ["fly-ash"]},
    {"term": "Ash", "aliases": ["Remains"]},
    {"term": "Bones", "aliases": ["remains"]},
]


def written(folder: Path, targets: list[str], *, version: str = "1") -> Path:
    own = [{"term": "Chimney", "layer": 4, "related": targets}]
    path = folder / "pack.json"
    path.write_text(
        json.dumps({"pack": "org.example/house", "version": version, "concepts": [*CONCEPTS, *own]})
    )
    return path


def related(hx: Hexad) -> set[str]:
    return {tag.name for tag, how in hx.xdb.tag_index.get_related_concepts("org.example/house::Chimney")}


@pytest.mark.row("H121")
@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("Smoke:2", "Smoke"), ("smoke", "Smoke"), ("SMOKE:2", "Smoke"), ("Fumes", "Smoke"), ("fumes:2", "Smoke"),
        ("Smoke:9", "Smoke"), ("Blaze", "Fire"), ("heat", "Heat"), ("org.example/HOUSE::Fire", "Fire"), ("TiledStove", "WoodStove"),
        ("Smoke:layer2", "Smoke"), ("Smoke:Layer 2", "Smoke"), ("Fires", "Fire"), ("fires:layer1", "Fire"),
        ("WoodStoves", "WoodStove"), ("wood_stove", "WoodStove"), ("Tiled-Stove", "WoodStove"),
    ],
)  # fmt: skip
def test_a_relation_finds_its_concept_by_layer_alias_and_case(hx, tmp_path, target, found):
    report = hx.xdb.load_concept_pack(written(tmp_path, [target]))

    assert (0, {found}) == (report.dangling, related(hx))


@pytest.mark.row("H121")
@pytest.mark.parametrize(
    "target",
    [
        "Remains",
        "FlyAsh",
        "fly+ash",
        "Smoke:",
        ":2",
        "Nowhere:2",
        "Smoke:x",
        "Smoke::2",
        "Smoke:layer",
        "Hea",
        "Fireses",
    ],
)
def test_a_relation_that_names_nothing_or_two_concepts_is_left_open(hx, tmp_path, target):
    report = hx.xdb.load_concept_pack(written(tmp_path, [target]))

    assert (1, set()) == (report.dangling, related(hx))


def test_a_pack_that_did_not_change_is_not_read_again(hx, tmp_path, monkeypatch):
    first = hx.xdb.load_concept_pack(written(tmp_path, ["Smoke:2"]))

    def refused(path: Path) -> None:
        raise AssertionError(path)

    with monkeypatch.context() as changed:
        changed.setattr(tag_index, "read_pack", refused)
        again = hx.xdb.load_concept_pack(tmp_path / "pack.json")
    newer = hx.xdb.load_concept_pack(written(tmp_path, ["Fire"], version="2"))

    assert (False, True, False) == (first.unchanged, again.unchanged, newer.unchanged)
    assert (first.concepts, first.relations, first.dangling) == (
        again.concepts,
        again.relations,
        again.dangling,
    )
    assert ("2", {"Fire"}) == (newer.version, related(hx))
