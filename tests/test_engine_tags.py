"""Tags changed by themselves, and lists of memories in pages."""

from __future__ import annotations

import pytest

import hexad
from hexad import Hexad, InvalidInput, NotFound

DEPLOYS = "Deploys happen on Tuesday, after the smoke tests."


def found(hx: Hexad, query: str) -> list[str]:
    return [hit.id for hit in hx.recall(query, semantic=False)]


def test_a_changed_tag_changes_nothing_else_of_the_memory(hx, clock):
    before = hx.remember(
        DEPLOYS, kind="decision", path="shop/ops/deploys", tags=["draft", "ops"], pinned=True
    )
    clock.advance(days=1)

    after = hx.tag(before.id, add=["Release Day"], remove=["draft"])

    assert ("ops", "release-day") == after.tags
    assert clock.now() == after.updated_at
    kept = (
        "id",
        "space",
        "path",
        "kind",
        "raw",
        "summary_micro",
        "summary_short",
        "summary_long",
        "metadata",
    )
    kept += ("relevance", "importance", "confidence", "pinned", "chunks", "created_at", "evidence", "status")
    assert [getattr(before, name) for name in kept] == [getattr(after, name) for name in kept]
    assert [] == list(hx.history(before.id))


SECRET = "ghp_" + "R4nd0mT0kenW1thEn0ughL3tters9876543210"[:36]


@pytest.mark.row("L035", "L056", "L059")
def test_a_secret_in_a_new_tag_is_taken_out_and_leaves_its_hash(hx):
    memory = hx.remember(DEPLOYS, tags=["ops"], metadata={"own": 1})
    like = hx.remember("Other words altogether.", tags=[SECRET])

    tagged = hx.tag(memory.id, add=[SECRET, "late"])
    again = hx.tag(memory.id, add=[SECRET])

    assert ("late", "ops", "redacted-github-token") == tagged.tags
    assert like.metadata["pii_flags"] == tagged.metadata["pii_flags"]
    assert 1 == tagged.metadata["own"]
    assert tagged.metadata == again.metadata == hx.get(memory.id).metadata
    assert SECRET not in str(hx.get(memory.id).to_dict())


@pytest.mark.row("L059")
def test_flags_of_what_was_taken_out_of_tags_stay_with_them(hx):
    memory = hx.remember(DEPLOYS, tags=[SECRET], id="deploys")

    assert "unchanged" == hx.remember_structured("default", memory.to_dict()).receipt.outcome.value
    changed = hx.remember_structured("default", {"id": "deploys", "raw": DEPLOYS, "pinned": True})
    assert memory.metadata["pii_flags"] == changed.metadata["pii_flags"]
    gone = hx.remember_structured("default", {"id": "deploys", "raw": DEPLOYS, "tags": ["ops"]})
    assert [] == gone.metadata["pii_flags"]


def test_a_memory_is_found_by_its_new_tag_and_no_longer_by_the_old_one(hx):
    memory = hx.remember(DEPLOYS, tags=["zeppelin"])
    hx.remember("The canteen opens at eleven.")

    hx.tag(memory.id, add=["quokka"], remove=["zeppelin"])

    assert ([memory.id], []) == (found(hx, "quokka"), found(hx, "zeppelin"))
    assert [memory.id] == [found_memory.id for found_memory in hx.memories(tags=["quokka"])]
    assert [] == hx.memories(tags=["zeppelin"])
    assert [] == hx.check()


def test_every_chunk_of_a_long_memory_is_found_by_a_new_tag_also_after_a_rebuild(hx):
    text = "\n\n".join(f"## Part {n}\n\n" + f"Sentence {n} about walrus number {n}. " * 60 for n in range(6))
    memory = hx.remember(text, subject="walrus", attribute="kind", value="large\nanimal", tags=["sea"])
    assert 1 < len(memory.chunks)

    hx.tag(memory.id, add=["arctic"])
    hx.tag(memory.id, remove=["sea"])
    hx.reindex()

    assert ([memory.id], [], [memory.id]) == (
        found(hx, "arctic"),
        found(hx, "sea"),
        found(hx, "large animal"),
    )
    assert [] == hx.check()


@pytest.mark.parametrize("backend", ["basic", "raptor", "hybrid"])
def test_a_bundle_that_was_asked_before_prefers_a_new_tag_at_once(hx, opened, backend):
    for name in ("a", "b"):
        hx.remember(f"Pump {name} is red.", space="port", id=f"mem_{name}", path=f"port/pumps/{name}")

    def first() -> object:
        return hx.recall_context("port", "pump", prefer_tags=["quokka"], backend=backend)["sections"][0]["id"]

    assert "mem_a" == first()
    with opened() as other:
        other.tag("mem_b", add=["quokka"], remove=["none"])

    assert "mem_b" == first()


def test_a_tag_that_a_policy_hides_by_hides_at_once(hx, project):
    memory = hx.remember(DEPLOYS, space="ops")
    hx.spaces.set_policy("ops", {"visibility": [{"tags": ["secret"], "roles": ["lead"]}]})

    def seen() -> int:
        with hexad.open(project, embedder=None, background=False, actor={"role": "guest"}) as guest:
            return guest.count(space="ops")

    assert 1 == seen()
    hx.tag(memory.id, add=["secret"])
    assert 0 == seen()
    hx.tag(memory.id, remove=["secret"])
    assert 1 == seen()


def test_an_archived_memory_keeps_its_place_and_is_found_by_its_new_tag_when_it_comes_back(hx):
    memory = hx.remember(DEPLOYS, tags=["old"])
    hx.forget(memory.id)

    hx.tag(memory.id, add=["quokka"])
    assert [] == found(hx, "quokka")
    hx.restore(memory.id)

    assert [memory.id] == found(hx, "quokka")


def test_what_is_tagged_already_stays_untouched(hx, clock):
    memory = hx.remember(DEPLOYS, tags=["ops"])
    clock.advance(days=1)

    after = hx.tag(memory.path, add=["OPS"], remove=["never there"])

    assert memory.updated_at == after.updated_at


def test_a_secret_never_becomes_a_tag(hx):
    memory = hx.remember(DEPLOYS)

    after = hx.tag(memory.id, add=["AKIAIOSFODNN7EXAMPLQ"])

    assert "akiaiosfodnn7examplq" not in str(after.to_dict()).lower()


def test_a_tag_without_a_letter_is_refused_and_nothing_changed(hx):
    memory = hx.remember(DEPLOYS, tags=["ops"])

    with pytest.raises(InvalidInput, match="no letter or digit"):
        hx.tag(memory.id, add=["fine", "???"])
    with pytest.raises(InvalidInput, match="must be a list"):
        hx.tag(memory.id, add="ops")
    with pytest.raises(NotFound, match="Memory 'mem_gone' not found"):
        hx.tag("mem_gone", add=["ops"])

    assert memory.tags == hx.get(memory.id).tags


# Lists ------------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(hx, clock):
    for number, (path, kind, relevance) in enumerate(
        [
            ("b/x/1", "note", "low"),
            ("a/x/2", "code", "high"),
            ("c/x/3", "note", "medium"),
            ("a/x/4", "code", "low"),
        ]
    ):
        hx.remember(
            f"Item number {number} of Ärger_{number}% here.", path=path, kind=kind, relevance=relevance
        )
        clock.advance(minutes=1)
    return hx


@pytest.mark.parametrize(
    ("order", "paths"),
    [
        ("updated", ["b/x/1", "a/x/4", "c/x/3", "a/x/2"]),
        ("created", ["a/x/4", "c/x/3", "a/x/2", "b/x/1"]),
        ("path", ["a/x/2", "a/x/4", "b/x/1", "c/x/3"]),
        ("relevance", ["a/x/2", "c/x/3", "b/x/1", "a/x/4"]),
        ("kind", ["a/x/4", "a/x/2", "b/x/1", "c/x/3"]),
    ],
)
def test_a_list_comes_in_the_order_asked_for_page_by_page(shelf, order, paths):
    shelf.pin("b/x/1")

    assert paths == [memory.path for memory in shelf.memories(order=order)]
    assert paths == [
        memory.path for at in (0, 2, 4) for memory in shelf.memories(order=order, limit=2, offset=at)
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("item", 4),
        ("ITEM NUMBER", 4),
        ("item ärger_3", 1),
        ("ärger_", 4),
        ("ÄRGER_2%", 1),
        ("a/x", 2),
        ("_%", 0),
        ("\\", 0),
    ],
)
def test_a_list_is_narrowed_by_words_as_they_are_written(shelf, text, number):
    assert number == shelf.count(text=text) == len(shelf.memories(text=text))


def test_a_memory_is_listed_by_the_beginning_of_its_id(hx):
    hx.remember("One text.", id="mem_0123456789")
    hx.remember("Another text.", id="mem_0123499999")

    assert ["mem_0123456789"] == [memory.id for memory in hx.memories(text="mem_012345")]


def test_a_list_can_hold_what_is_pinned_or_what_is_not(shelf):
    shelf.pin("b/x/1")

    assert (["b/x/1"], 3) == (
        [memory.path for memory in shelf.memories(pinned=True)],
        shelf.count(pinned=False),
    )


def test_a_list_refuses_what_it_cannot_do(shelf):
    for call in (
        lambda: shelf.memories(order="length"),
        lambda: shelf.memories(offset=-1),
        lambda: shelf.count(status="lost"),
    ):
        with pytest.raises(InvalidInput):
            call()
    with pytest.raises(NotFound):
        shelf.count(space="nowhere")
