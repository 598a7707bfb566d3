"""Tags, concepts, buds and comments on recorded experience, through `hx.xdb`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hexad import Conflict, FrozenClock, Hexad, InvalidInput, InvalidTarget, LimitExceeded, NotFound
from hexad.experience.values.tags import BudStatus, TagSource, TagType, TargetType
from opener import Opener
from tables import everything_stored

PACKS = Path(__file__).parent / "data" / "concepts"
KITCHEN = "example.org/kitchen::"
SECRET = "ghp_" + "Ab3" * 12


@pytest.fixture
def steps(hx: Hexad) -> list[str]:
    """Ten timesteps of the session `s-1`: the 4th to the 6th are the event `call`."""
    hx.xdb.start_session("s-1")
    ids = []
    for number in range(1, 11):
        inside = 4 <= number <= 6
        ids.append(
            hx.xdb.record(
                "tool_call" if inside else "output",
                f"token {number}",
                event_id="call" if inside else None,
                event_start=number == 4,
                event_end=number == 6,
            )
        )
    return ids


def names(tags) -> list[str]:
    return [tag.name for tag in tags]


# Applying ---------------------------------------------------------------------------------------------------------


def test_the_uses_of_a_tag_are_those_of_a_session_or_of_all(hx, steps):
    hx.xdb.tag("seen", timestep_id=steps[0])
    hx.xdb.start_session("another")
    hx.xdb.tag("seen", timestep_id=hx.xdb.record("output", "x"))

    def sessions(**asked):
        return sorted(
            tag_application.target.session_id for tag_application in hx.xdb.tag_applications("seen", **asked)
        )

    assert ["another"] == sessions(session_id="another")
    assert 2 == len(sessions()) == len(sessions(session_id="*"))


@pytest.mark.row("H033", "H034", "H035", "H038", "H110", "H137")
def test_a_tag_on_a_timestep_an_event_and_a_range_is_on_the_ticks_that_it_covers(hx, steps):
    hx.xdb.tag("single", timestep_id=steps[1])
    hx.xdb.tag("whole call", event_id="call")
    hx.xdb.tag("stretch", tick_range=(6, 8))

    carried = {tick: names(hx.xdb.get_tags_for_timestep(f"ts-s-1-{tick}")) for tick in range(1, 11)}

    assert {2: ["single"], 4: ["whole call"], 5: ["whole call"], 6: ["whole call", "stretch"]} == {
        tick: tags for tick, tags in carried.items() if tags and tick < 7
    }
    assert {7: ["stretch"], 8: ["stretch"]} == {t: tags for t, tags in carried.items() if tags and t > 6}
    kinds = [hx.xdb.tag_applications(name)[0] for name in ("single", "whole call", "stretch")]
    assert [TargetType.TIMESTEP, TargetType.EVENT, TargetType.RANGE] == [
        kind.target.target_type for kind in kinds
    ]
    assert {TagSource.MANUAL} == {kind.source for kind in kinds}
    assert (4, 6) == (kinds[1].target.range_start, kinds[1].target.range_end)


@pytest.mark.row("H137")
def test_a_tag_is_found_by_id_then_by_name_and_created_last(hx, steps):
    first = hx.xdb.create_entity_tag("Ada Lovelace", "person")
    hx.xdb.tag("ada LOVELACE", timestep_id=steps[0])
    hx.xdb.tag(first.id, timestep_id=steps[1])
    hx.xdb.tag("Ada", timestep_id=steps[2])  # part of a name is another name

    assert [steps[0], steps[1]] == [
        tag_application.target.timestep_id for tag_application in hx.xdb.tag_applications(first.id)
    ]
    assert ["Ada", "Ada Lovelace"] == names(hx.xdb.find_tags())


@pytest.mark.row("H138")
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"timestep_id": "ts-s-1-1", "event_id": "call"},
        {"timestep_id": "ts-s-1-1", "tick_range": (1, 2)},
        {"timestep_id": "ts-s-1-1", "event_id": "call", "tick_range": (1, 2)},
        {"timestep_id": "ts-s-1-1", "session_id": "other"},
        {"timestep_id": "one"},
        {"tick_range": (3, 2)},
        {"event_id": ""},
    ],
)
def test_anything_but_exactly_one_target_is_a_value_error_and_makes_no_tag(hx, steps, given):
    for call in (hx.xdb.tag, hx.xdb.comment):
        with pytest.raises(ValueError) as error:
            call("never made", **given)
        assert isinstance(error.value, InvalidTarget)
    assert [] == hx.xdb.find_tags()


def test_what_was_never_recorded_cannot_be_tagged(hx, steps):
    for given in (
        {"timestep_id": "ts-s-1-9999999"},
        {"timestep_id": "ts-s-1-11"},
        {"timestep_id": "ts-s-1-1000"},
        {"event_id": "no such"},
        {"tick_range": (9_999_999, 9_999_999)},
        {"tick_range": (1, 2), "session_id": "nowhere"},
        {"timestep_id": "ts-nowhere-1"},
    ):
        with pytest.raises(NotFound):
            hx.xdb.tag("x", **given)
    assert [] == hx.xdb.find_tags()


def test_without_a_session_an_event_or_a_range_needs_one(hx, steps):
    hx.xdb.end_session()

    with pytest.raises(InvalidTarget, match="session"):
        hx.xdb.tag("x", tick_range=(1, 2))
    hx.xdb.tag("x", tick_range=(1, 2), session_id="s-1")
    hx.xdb.tag("x", timestep_id=steps[4])
    assert ["x"] == names(hx.xdb.get_tags_for_timestep("ts-s-1-2"))


def test_an_event_that_goes_on_after_it_was_tagged_is_tagged_to_its_end(hx):
    hx.xdb.start_session("s")
    first = hx.xdb.record("output", "a", event_id="e", event_start=True)
    between = hx.xdb.record("input", "b")
    hx.xdb.tag("odd", event_id="e")
    last = hx.xdb.record("output", "c", event_id="e", event_end=True)

    assert [["odd"], [], ["odd"]] == [
        names(hx.xdb.get_tags_for_timestep(step)) for step in (first, between, last)
    ]


def test_a_use_can_be_taken_away(hx, steps):
    application = hx.xdb.tag("x", timestep_id=steps[0])
    hx.xdb.untag(application)

    assert [] == hx.xdb.get_tags_for_timestep(steps[0])
    assert ["x"] == names(hx.xdb.find_tags())
    with pytest.raises(NotFound):
        hx.xdb.untag(application)


def test_bad_confidence_and_long_notes_are_refused_before_anything_is_stored(hx, steps):
    with pytest.raises(InvalidInput, match="confidence"):
        hx.xdb.tag("x", timestep_id=steps[0], confidence=1.5)
    with pytest.raises(LimitExceeded, match="note"):
        hx.xdb.tag("x", timestep_id=steps[0], note="n" * 65_537)
    assert [] == hx.xdb.find_tags()


def test_no_secret_is_kept_in_a_note_a_comment_a_description_or_a_name(hx, steps):
    hx.xdb.tag("x", timestep_id=steps[0], note=f"token={SECRET}")
    comment = hx.xdb.comment(f"used {SECRET} here", timestep_id=steps[0])
    hx.xdb.edit_comment(comment, f"really {SECRET}")
    hx.xdb.create_bud_tag("bud", f"learn {SECRET}")
    with pytest.raises(InvalidInput, match="secret"):
        hx.xdb.tag(SECRET, timestep_id=steps[0])

    assert SECRET not in everything_stored(hx)
    assert "[REDACTED:" in hx.xdb.tag_applications("x")[0].note


@pytest.mark.row("H039")
def test_a_concept_counts_for_those_above_it(hx, steps):
    hx.xdb.load_concept_pack(PACKS / "kitchen")
    hx.xdb.tag("breadbaking", timestep_id=steps[0])

    assert ["BreadBaking"] == names(hx.xdb.get_tags_for_timestep(steps[0]))
    assert {"BreadBaking", "Baking", "Cooking", "Food"} == set(
        names(hx.xdb.get_tags_for_timestep(steps[0], inherited=True))
    )
    sources = [
        application.source for application in hx.xdb.get_applications_for_timestep(steps[0], inherited=True)
    ]
    assert [TagSource.MANUAL, *[TagSource.INHERITED] * 3] == sources


# Tags of each type ------------------------------------------------------------------------------------------------


@pytest.mark.row("H025", "H139")
def test_an_entity_has_a_type_and_is_one_however_often_it_is_created(hx):
    ada = hx.xdb.create_entity_tag("Ada", "person", description="Wrote notes.")

    assert (TagType.ENTITY, "person", "Wrote notes.") == (ada.tag_type, ada.entity_type, ada.description)
    assert ada == hx.xdb.create_entity_tag("ADA", "person")
    with pytest.raises(Conflict, match="person"):
        hx.xdb.create_entity_tag("Ada", "ship")


@pytest.mark.row("H112", "H113", "H027")
def test_a_tag_is_created_once_and_found_by_its_exact_id(hx):
    tag = hx.xdb.tag_index.create_tag("Odd one", description="Why?")

    assert tag == hx.xdb.tag_index.get_tag(tag.id)
    assert None is hx.xdb.tag_index.get_tag("Odd one")
    assert ("owner", FrozenClock().now()) == (tag.created_by, tag.created_at)
    with pytest.raises(InvalidInput, match="concept_id"):
        hx.xdb.tag_index.create_tag("C", "concept")
    with pytest.raises(InvalidInput, match="entity_type"):
        hx.xdb.tag_index.create_tag("C", "custom", entity_type="person")


@pytest.mark.row("H026", "H140", "H147")
def test_a_bud_is_near_to_concepts_and_is_listed_by_status(hx):
    bud = hx.xdb.create_bud_tag(
        "dough", "When does it rise?", related_concepts=[f"{KITCHEN}Baking", "a::b.c"]
    )
    hx.xdb.create_bud_tag("other", "?")
    hx.xdb.update_bud_status(bud.id, "training")

    assert ["dough", "other"] == names(hx.xdb.get_buds())
    assert ["dough"] == names(hx.xdb.get_buds("training"))
    assert [] == hx.xdb.get_buds(BudStatus.PROMOTED)
    assert ("a::b.c", f"{KITCHEN}Baking") == hx.xdb.tag_index.related_concepts_of_bud(bud.id)


@pytest.mark.row("H028", "H029", "H030", "H031", "H032", "H120", "H149")
def test_a_bud_goes_through_every_status(hx):
    bud = hx.xdb.create_bud_tag("dough", "?")

    assert BudStatus.COLLECTING is bud.bud_status
    assert BudStatus.READY is hx.xdb.mark_bud_ready(bud.id).bud_status
    for status in BudStatus:
        assert status is hx.xdb.update_bud_status(bud.id, status.value).bud_status
        assert status is hx.xdb.tag_index.get_tag(bud.id).bud_status
    plain = hx.xdb.tag_index.create_tag("plain")
    with pytest.raises(InvalidInput, match="no bud"):
        hx.xdb.mark_bud_ready(plain.id)
    with pytest.raises(NotFound):
        hx.xdb.mark_bud_ready("missing")


@pytest.mark.row("H118", "H119", "H148")
def test_a_promoted_tag_keeps_what_it_was_applied_to_as_its_examples(hx, steps):
    hx.xdb.tag("curious", timestep_id=steps[0])
    hx.xdb.tag("curious", event_id="call")
    hx.xdb.tag("curious", tick_range=(6, 8))
    tag = hx.xdb.find_tags(name_pattern="curious")[0]
    with pytest.raises(InvalidInput, match="no bud"):
        hx.xdb.get_bud_examples(tag.id)

    bud = hx.xdb.promote_to_bud(tag.id)

    assert (TagType.BUD, BudStatus.COLLECTING) == (bud.tag_type, bud.bud_status)
    assert [1, 4, 5, 6, 7, 8] == [step.tick for step in hx.xdb.get_bud_examples(tag.id)]
    assert [5, 6] == [step.tick for step in hx.xdb.get_bud_examples(tag.id, limit=2, offset=2)]
    hx.xdb.mark_bud_ready(tag.id)
    assert BudStatus.READY is hx.xdb.promote_to_bud(tag.id).bud_status


@pytest.mark.row("H024", "H145", "H146")
def test_concepts_are_browsed_from_the_roots_down(hx):
    assert [] == hx.xdb.browse_concepts()
    report = hx.xdb.load_concept_pack(PACKS / "garden.json")

    assert (4, 1) == (report.concepts, report.dangling)
    [plant] = hx.xdb.browse_concepts()
    assert (TagType.CONCEPT, "example.org/garden::Plant", "system") == (
        plant.tag_type,
        plant.concept_id,
        plant.created_by,
    )
    assert ["Herb", "Rosé.v2"] == names(hx.xdb.browse_concepts(plant.id))
    assert [] == hx.xdb.browse_concepts("example.org/garden::Rosé.v2")
    assert ["Herb"] == names(hx.xdb.find_concept("KRAUT"))
    with pytest.raises(NotFound, match="nowhere"):
        hx.xdb.browse_concepts("nowhere::Thing")


@pytest.mark.row("H115", "H116", "H117", "H121")
def test_the_tag_index_walks_the_concepts_in_every_direction(hx):
    index = hx.xdb.tag_index
    assert 3 == index.load_concept_pack_primaries(PACKS / "kitchen")

    assert ["Baking", "Frying"] == names(index.get_concept_children(f"{KITCHEN}Cooking"))
    assert ["Baking", "Food"] == names(index.get_concept_parents(f"{KITCHEN}BreadBaking"))
    assert [("Baking", "has_part"), ("Food", "related")] == [
        (tag.name, how) for tag, how in index.get_related_concepts(f"{KITCHEN}Cooking")
    ]


@pytest.mark.row("H166")
def test_the_table_of_tags_has_the_columns_of_the_document(hx, clock):
    columns = {row[1] for row in hx._services.stores.db.query("PRAGMA table_info(tags)")}

    assert columns >= {
        "id", "name", "tag_type", "concept_id", "entity_type", "bud_status", "created_at", "created_by", "description",
    }  # fmt: skip
    clock.advance(seconds=1.000001)
    tag = hx.xdb.create_bud_tag("Night Shift", "What happens at night.")
    at = int(clock.now().timestamp()) * 1_000_000 + clock.now().microsecond
    assert [
        (
            tag.id,
            "Night Shift",
            "bud",
            None,
            None,
            tag.bud_status.value,
            at,
            tag.created_by,
            "What happens at night.",
        )
    ] == (
        hx._services.stores.db.query(
            "SELECT id, name, tag_type, concept_id, entity_type, bud_status, created_at, created_by, description FROM tags"
        )
    )


# Comments ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("H004", "H041", "H111", "H144")
def test_comments_are_listed_by_range_and_can_be_edited(hx, steps, clock):
    single = hx.xdb.comment("first", timestep_id=steps[0])
    hx.xdb.comment("the call", event_id="call")
    hx.xdb.comment("stretch", tick_range=(6, 8))
    before = hx.xdb.get_comment(single)
    clock.advance(seconds=60)
    after = hx.xdb.edit_comment(single, "first, again")

    assert ["the call", "stretch"] == [c.content for c in hx.xdb.get_comments_for_range("s-1", 6, 7)]
    assert ["first, again", "the call"] == [c.content for c in hx.xdb.get_comments_for_range("s-1", 1, 4)]
    assert [] == hx.xdb.get_comments_for_range("s-1", 9, 10)
    assert (None, clock.now()) == (before.updated_at, after.updated_at)
    hx.xdb.remove_comment(single)
    assert [] == hx.xdb.get_comments_for_range("s-1", 1, 3)
    with pytest.raises(InvalidInput, match="text"):
        hx.xdb.comment("  ", timestep_id=steps[0])


# Across processes -------------------------------------------------------------------------------------------------

_SECOND = """
import json, sys, hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.xdb.tag("SEEN before", tick_range=(1, 2), session_id="s-1")
    found = hx.xdb.get_tags_for_timestep("ts-s-1-5")
    print(json.dumps([tag.name for tag in found]))
"""


def test_another_process_sees_and_adds_tags(hx, opened: Opener, steps):
    hx.xdb.tag("Seen before", event_id="call")
    done = subprocess.run(
        [sys.executable, "-c", _SECOND, str(hx.path.parent)],
        capture_output=True, text=True, timeout=60, check=False, env=os.environ,
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert ["Seen before"] == json.loads(done.stdout)
    assert ["Seen before"] == names(hx.xdb.get_tags_for_timestep("ts-s-1-2"))
    assert 1 == len(hx.xdb.find_tags())
    hx.close()
    again = opened()
    assert ["Seen before"] == names(again.xdb.get_tags_for_timestep("ts-s-1-1"))


# Recalling --------------------------------------------------------------------------------------------------------


def ticks(found) -> list[int]:
    return [step.tick for step in found]


@pytest.mark.row("H003", "H004", "H104")
@pytest.mark.parametrize("sealed", [False, True])
def test_recall_finds_what_is_tagged_by_timestep_event_and_range_sealed_or_not(hx, steps, sealed):
    hx.xdb.tag("odd", timestep_id=steps[1])
    hx.xdb.tag("odd", event_id="call")
    hx.xdb.tag("odd", tick_range=(6, 8))
    hx.xdb.tag("late", tick_range=(5, 7))
    hx.xdb.tag("late", tick_range=(10, 10))
    if sealed:
        hx.xdb.seal()

    assert [2, 4, 5, 6, 7, 8] == ticks(hx.xdb.recall(tags=["ODD"]))
    assert [5, 6, 7] == ticks(hx.xdb.recall(tags=["odd", "late"]))
    assert [2, 4, 5, 6, 7, 8, 10] == ticks(hx.xdb.recall(tags=["odd", "late"], match="any"))
    assert [] == hx.xdb.recall(tags=["odd", "never used"])
    assert [5, 6] == ticks(hx.xdb.recall(tags=["odd"], tick_range=(5, 9), event_types=["tool_call"]))
    assert [6] == ticks(hx.xdb.recall(tags=["odd"], text_search="TOKEN 6"))
    assert [4, 5] == ticks(hx.xdb.recall(tags=["odd"], limit=2, offset=1))
    with pytest.raises(InvalidInput, match="tags"):
        hx.xdb.recall(tags="odd")
    with pytest.raises(NotFound):
        hx.xdb.recall(tags=["odd"], session_id="nowhere")


@pytest.mark.row("H003", "H141")
def test_tags_concepts_and_every_other_filter_hold_together(hx):
    hx.xdb.load_concept_pack(PACKS / "kitchen")
    for session in ("a", "b"):
        hx.xdb.start_session(session)
        for number in range(6):
            hx.xdb.record("output", f"w{number}", {f"{KITCHEN}Food": number / 10})
        hx.xdb.tag("breadbaking", tick_range=(2, 5))

    found = hx.xdb.recall(
        tags=["Cooking"], concepts={f"{KITCHEN}Food": (0.3, 1.0)}, tick_range=(1, 4), session_id="*"
    )

    assert ["ts-a-4", "ts-b-4"] == [step.id for step in found]
    assert ["ts-b-4"] == [step.id for step in hx.xdb.session("b").recall(tags=["cooking"], text_search="w3")]


@pytest.mark.row("H143")
def test_what_surprised_is_recalled_under_any_of_its_four_names(hx, steps):
    for number, name in enumerate(("surprising", "Confusing", "interesting", "unexpected", "boring")):
        hx.xdb.tag(name, timestep_id=steps[number])
    hx.xdb.start_session("other")
    hx.xdb.record("output", "plain")

    assert [] == hx.xdb.recall_surprising()
    assert [1, 2, 3, 4] == ticks(hx.xdb.recall_surprising(session_id="*"))
    assert [1, 2] == ticks(hx.xdb.recall_surprising(session_id="s-1", limit=2))


def test_a_bound_session_tags_and_comments_on_its_own_ticks(hx, steps):
    hx.xdb.start_session("other")
    bound = hx.xdb.session("s-1")
    bound.tag("x", tick_range=(1, 2))
    bound.comment("hm", event_id="call")

    assert [1, 2] == ticks(bound.recall(tags=["x"]))
    assert ["hm"] == [comment.content for comment in hx.xdb.get_comments_for_range("s-1", 4, 4)]


def test_a_taken_away_tag_is_recalled_no_more(hx, steps):
    application = hx.xdb.tag("x", timestep_id=steps[0])
    hx.xdb.untag(application)

    assert [] == hx.xdb.recall(tags=["x"])


@pytest.mark.row("H024")
def test_what_was_tagged_with_a_concept_before_its_pack_was_there_is_the_concepts(
    hx: Hexad, tmp_path: Path
) -> None:
    hx.xdb.start_session("early")
    step = hx.xdb.record("output", "w")
    hx.xdb.tag("p::A", timestep_id=step)
    pack = tmp_path / "p.json"
    pack.write_text(
        json.dumps(
            {"pack": "p", "version": "1", "concepts": [{"term": "B"}, {"term": "A", "parents": ["B"]}]}
        )
    )

    hx.xdb.load_concept_pack(pack)

    for asked in ("p::A", "p::B"):
        assert [step] == [record.id for record in hx.xdb.recall(tags=[asked])]
    assert ["p::A"] == [tag.id for tag in hx.xdb.get_tags_for_timestep(step)]
    assert [] == hx.xdb.tag_index.find_tags(tag_type="custom")
