"""A link between a text and what it seems to take the place of is seen, taken away for good, and drawn by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hexad
from hexad import Conflict, FrozenClock, Hexad, Trust
from hexad.core.erasure import masked_item
from opener import Opener
from ran import Run
from test_updates import tell

LISBON, PORTO = "My sister lives in Lisbon.", "My sister lives in Porto now."


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def hx(clock: FrozenClock) -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, clock=clock) as opened:
        yield opened


def marked(hx: Hexad, question: str = "sister") -> dict[str, str]:
    """Return by what each hit is superseded."""
    return {hit.id: hit.superseded_by.id for hit in hx.recall(question) if hit.superseded_by is not None}


def test_what_was_found_is_listed_at_both_ends_with_its_reason_and_confidence(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    (link,) = hx.links(old)
    assert [link] == hx.links(new)
    assert ("supersedes", new, old) == (link.kind, link.source.id, link.target.id)
    assert ("value", 0.97) == (link.reason, link.confidence)
    assert ("value", 0.97) == (link.to_dict()["reason"], link.to_dict()["confidence"])
    assert "reason" not in hx.link(old, new).to_dict()


def test_of_two_values_that_may_both_hold_no_link_is_listed(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, "Karim drives a Volvo.", "Karim drives a Tesla.")
    assert [] == hx.links(old) == hx.links(new)


def test_a_link_that_is_taken_away_is_gone_from_recall_contexts_and_lists(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    assert 1 == hx.unlink(new, old, kind="supersedes")
    assert 0 == hx.unlink(new, old, kind="supersedes")
    assert {} == marked(hx)
    assert [] == hx.links(old)
    assert {old, new} == {block.item.id for block in hx.context("my sister", 500).system_items}
    assert {old, new} == {section["id"] for section in hx.use_context("default", "sister").bundle.sections}


def test_it_is_not_made_again_by_a_reindex_or_by_writing_either_text_anew(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    hx.unlink(new, old)
    hx.reindex()
    hx.remember(PORTO)
    hx.remember("My sister lives in Porto now, by the river.", id=new)
    hx.remember("My sister lives in Lisbon, uptown.", id=old)
    assert {} == marked(hx)
    assert [] == hx.links(old)
    later = hx.remember("My sister lives in Faro now.").id
    assert {old: later, new: later} == marked(hx)


def test_two_texts_of_which_neither_replaces_the_other_stand_as_recall_finds_them(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    assert "successor" in hx.recall("Does my sister live in Lisbon?")[0].parts
    hx.unlink(new, old)
    hits = hx.recall("Does my sister live in Lisbon?")
    assert [old, new] == [hit.id for hit in hits]
    assert all("successor" not in hit.parts for hit in hits)


def test_drawing_the_link_undoes_it_and_confirms_what_was_found(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    hx.unlink(new, old)
    link = hx.link(new, old, kind="supersedes")
    assert ("confirmed", 1.0) == (link.reason, link.confidence)
    assert {old: new} == marked(hx)
    assert [link] == hx.links(new)
    hx.remember("My sister lives in Porto now, by the river.", id=new)
    assert ["confirmed"] == [link.reason for link in hx.links(new)]


def test_what_no_rule_finds_can_be_said(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, "Pascal eats meat.", "Pascal is a vegetarian.")
    assert {} == marked(hx, "Pascal")
    hx.link(new, old, kind="supersedes")
    assert {old: new} == marked(hx, "Pascal")
    assert [new] == [block.item.id for block in hx.context("Pascal", 500).system_items]
    assert 1 == hx.unlink(new, old)
    assert {} == marked(hx, "Pascal")


def test_of_two_only_one_can_supersede_the_other(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    hx.link(old, new, kind="supersedes")
    assert {new: old} == marked(hx)
    hx.remember("My sister lives in Porto now, by the river.", id=new)
    assert {new: old} == marked(hx)


def test_what_is_trusted_less_supersedes_nothing(hx: Hexad) -> None:
    mine = hx.remember(LISBON).id
    theirs = hx.remember("My sister has a house in Porto.", trust=Trust.WEB).id
    with pytest.raises(Conflict, match=r"is trusted less \(web\).*does not supersede"):
        hx.link(theirs, mine, kind="supersedes")
    assert [] == hx.links(mine)


def test_verdicts_are_noted_for_the_ledger_without_ids(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, LISBON, PORTO)
    hx.unlink(new, old)
    hx.link(new, old, kind="supersedes")
    salt = hx._services.context.salt()
    detail = {"memory": masked_item(salt, new), "supersedes": masked_item(salt, old), "space": "default"}
    log = [(what, noted) for _, what, noted in hx._services.stores.meta.logged(limit=10)]
    for what in ("update_confirmed", "update_rejected"):
        (noted,) = [noted for name, noted in log if name == what]
        assert detail.items() <= noted.items()


def test_verdicts_outlive_the_program(opened: Opener) -> None:
    with opened() as hx:
        old, new = hx.remember(LISBON).id, hx.remember(PORTO).id
        hx.unlink(new, old)
    with opened() as hx:
        assert [] == hx.links(old)
        assert {} == marked(hx)


def test_the_command_line_lists_takes_away_and_draws(run: Run) -> None:
    old = run("remember", LISBON, "--json").data["id"]
    told = run("remember", PORTO)
    new = told.out.split()[0]
    assert f"`hexad memory unlink {new} {old}`" in told.err + told.out
    assert "supersedes (value, 0.97) → " in run("memory", "links", old).out
    assert "1 link removed\n" == run("memory", "unlink", new, old, "--kind", "supersedes").out
    assert "" == run("memory", "links", old).out
    assert "supersedes (confirmed, 1.00) → " in run("memory", "link", new, old, "--kind", "supersedes").out
    assert f"superseded by {new}" in run("recall", "sister", "--lexical").out


def test_the_command_line_ends_with_3_where_there_is_no_such_link(run: Run) -> None:
    run("remember", LISBON, "--id", "m1")
    run("remember", PORTO, "--id", "m2")
    assert 0 == run("memory", "unlink", "m2", "m1").code
    gone = run("memory", "unlink", "m2", "m1", "--kind", "supersedes")
    assert 3 == gone.code
    assert "no link of the kind 'supersedes' from 'm2' to 'm1'" in " ".join(gone.err.split())


def test_the_command_line_says_that_a_link_replaces_the_opposite_one(run: Run) -> None:
    run("remember", LISBON, "--id", "m1")
    run("remember", PORTO, "--id", "m2")
    assert "opposite" not in run("memory", "link", "m2", "m1", "--kind", "supersedes").err
    turned = run("memory", "link", "m1", "m2", "--kind", "supersedes")
    assert "opposite link (confirmed): m2 superseded m1" in " ".join(turned.err.split())
    assert 0 == turned.code


def test_what_a_turn_says_is_told_once_and_taken_away_at_once(hx: Hexad, clock: FrozenClock) -> None:
    (old,) = tell(hx, clock, LISBON)
    turn, fact = hx.remember([{"role": "user", "content": PORTO}])
    receipts = [memory.receipt for memory in (turn, fact) if memory.receipt is not None]
    assert [[each.id for each in receipt.supersedes] for receipt in receipts] == [[old], []]
    assert sum("unlink" in note for receipt in receipts for note in receipt.notes) == 1
    assert turn.id not in {near.id for receipt in receipts for near in receipt.near_duplicates}
    assert {link.source.id for link in hx.links(old)} == {turn.id, fact.id}
    hx.unlink(turn.id, old, kind="supersedes")
    assert [] == hx.links(old)
