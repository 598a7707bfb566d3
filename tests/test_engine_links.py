"""Links between memories of different projects: drawn by the caller, followed when asked."""

from __future__ import annotations

import pytest

import hexad
from hexad import Hexad
from opener import Opener


def ids(hits: hexad.Hits) -> list[str]:
    return [linked.memory.id for linked in hits.linked]


@pytest.mark.row("L169")
def test_a_link_leads_to_a_memory_of_another_project_only_when_it_is_asked_for(hx: Hexad) -> None:
    rule = hx.remember("Secrets live in the vault.", space="platform")
    step = hx.remember("The release reads the signing key.", space="release")
    hx.link(step.id, rule.id, kind="based-on")

    plain = hx.recall("signing key of the release", space="release")
    assert [step.id] == [hit.id for hit in plain]
    assert () == plain.linked
    followed = hx.recall("signing key of the release", space="release", follow_links=True)
    assert [step.id] == [hit.id for hit in followed]
    assert [rule.id] == ids(followed)
    assert (step.id, "based-on") == (followed.linked[0].of, followed.linked[0].link.kind)
    assert "to" == followed.linked[0].to_dict()["direction"]


@pytest.mark.row("L169")
def test_a_link_is_followed_from_its_target_too_and_listed_at_both_ends(hx: Hexad) -> None:
    rule = hx.remember("Secrets live in the vault.", space="platform")
    step = hx.remember("The release reads the signing key.", space="release")
    link = hx.link(step.id, rule.id)

    followed = hx.recall("where do secrets live", space="platform", follow_links=True)
    assert [step.id] == ids(followed)
    assert "from" == followed.linked[0].to_dict()["direction"]
    assert [link] == hx.links(rule.id) == hx.links(step.id)
    assert ("related", "release", "platform") == (link.kind, link.source.space, link.target.space)


def test_the_same_link_twice_is_one_and_unlink_takes_it_away(hx: Hexad) -> None:
    memory, other = (
        hx.remember("The kettle is in the kitchen."),
        hx.remember("Tea is served at four o'clock."),
    )
    hx.link(memory.id, other.id)
    hx.link(memory.id, other.id)
    hx.link(memory.id, other.id, kind="explains")

    assert ["explains", "related"] == [link.kind for link in hx.links(memory.id)]
    assert 0 == hx.unlink(other.id, memory.id)
    assert 1 == hx.unlink(memory.id, other.id, kind="related")
    assert 1 == hx.unlink(memory.id, other.id)
    assert [] == hx.links(memory.id)


def test_unlinking_keeps_what_is_almost_the_same_known(hx: Hexad) -> None:
    text = (
        "The night shift hands over at six in the morning, at the south gate, with the keys and the log book"
    )
    memory, other = hx.remember(text + "."), hx.remember(text + " of the day.")
    assert [(memory.id, pytest.approx(0.9, abs=0.1))] == hx.near_duplicates(other.id)

    hx.link(memory.id, other.id)
    assert 1 == hx.unlink(memory.id, other.id)
    assert 1 == len(hx.near_duplicates(other.id))


def test_what_is_archived_is_not_followed_and_comes_back_with_its_links(hx: Hexad) -> None:
    rule = hx.remember("Secrets live in the vault.", space="platform")
    step = hx.remember("The release reads the signing key.", space="release")
    hx.link(step.id, rule.id)
    hx.forget(rule.id)

    assert () == hx.recall("signing key", space="release", follow_links=True).linked
    assert [] == hx.links(step.id)
    hx.restore(rule.id)
    assert [rule.id] == ids(hx.recall("signing key", space="release", follow_links=True))


def test_a_linked_memory_that_is_an_answer_anyway_is_not_given_twice(hx: Hexad) -> None:
    memory = hx.remember("The signing key of the release lies in the vault.")
    other = hx.remember("The release signing key is renewed every spring.")
    hx.link(memory.id, other.id)

    followed = hx.recall("release signing key", follow_links=True)
    assert {memory.id, other.id} == {hit.id for hit in followed}
    assert () == followed.linked


def test_beyond_twenty_links_the_answer_says_how_many_are_left(hx: Hexad) -> None:
    hub = hx.remember("The index of all recipes hangs on the wall.", space="hub")
    for number in range(23):
        leaf = hx.remember(f"Recipe number {number} needs flour and {number + 2} eggs.", space="leaves")
        hx.link(hub.id, leaf.id)

    followed = hx.recall("index of recipes on the wall", space="hub", follow_links=True)
    assert 20 == len(followed.linked)
    assert any(note.startswith("3 more linked memories") for note in followed.notes)


@pytest.mark.row("L169")
def test_a_link_does_not_cross_the_boundary_of_what_may_be_seen(hx: Hexad, opened: Opener) -> None:
    secret = hx.remember("The merger is planned for spring.", space="board")
    plan = hx.remember("The office moves in the spring.", space="staff")
    hx.spaces.set_policy("board", {"roles": ["director"]})
    hx.link(plan.id, secret.id)

    assert [secret.id] == ids(hx.recall("office moves", space="staff", follow_links=True))
    with hexad.open(
        hx.path, embedder=None, background=False, clock=hx.clock, actor={"role": "clerk"}
    ) as clerk:
        assert () == clerk.recall("office moves", space="staff", follow_links=True).linked
        assert [] == clerk.links(plan.id)
        with pytest.raises(hexad.NotFound):
            clerk.link(plan.id, secret.id)
    with hexad.open(
        hx.path, embedder=None, background=False, clock=hx.clock, actor={"role": "director"}
    ) as director:
        assert [secret.id] == ids(director.recall("office moves", space="staff", follow_links=True))


@pytest.mark.parametrize("kind", ["", "Based On", "x" * 65, "--", "a;b"])
def test_a_kind_that_is_no_word_is_refused(hx: Hexad, kind: str) -> None:
    memory, other = (
        hx.remember("The kettle is in the kitchen."),
        hx.remember("Tea is served at four o'clock."),
    )
    with pytest.raises(hexad.InvalidInput, match="of a link cannot be used"):
        hx.link(memory.id, other.id, kind=kind)
    assert [] == hx.links(memory.id)


def test_a_memory_is_not_linked_with_itself_nor_with_what_is_not_there(hx: Hexad) -> None:
    memory = hx.remember("The kettle is in the kitchen.")
    with pytest.raises(hexad.InvalidInput, match="with itself"):
        hx.link(memory.id, memory.path)
    with pytest.raises(hexad.NotFound, match="Memory 'mem_none' not found"):
        hx.link(memory.id, "mem_none")
