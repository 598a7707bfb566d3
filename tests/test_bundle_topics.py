"""Bundles that keep to their topic, through the real store and the default embedder's calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Bundle, ContextHook, FrozenClock, Hexad, NotFound, ProjectContext
from opener import Opener

FROZEN = "2026-02-01T12:00:00Z"


@pytest.fixture
def shop(hx: Hexad, clock: FrozenClock) -> Hexad:
    """Six notes of a shop; the oldest is the one that says most of retries."""
    texts = {
        "mem_retries": "Retries of the gateway stop after five attempts.",
        "mem_backoff": "The gateway waits twice as long before each of its retries.",
        "mem_lunch": "A canteen opens at noon.",
        "mem_plants": "Somebody waters a plant on Fridays.",
        "mem_badge": "Visitors get a badge at the door.",
        "mem_paint": "The walls are green since March.",
    }
    for memory_id, text in texts.items():
        hx.remember(text, space="shop", id=memory_id, path=f"shop/{memory_id}")
        clock.advance(hours=1)
    return hx


def ids(bundle: Bundle | ProjectContext | ContextHook) -> list[str]:
    sections = bundle.sections if isinstance(bundle, Bundle) else bundle.bundle.sections
    return [str(section["id"]) for section in sections]


def test_a_topic_that_nothing_speaks_of_places_nothing_before_the_step(shop: Hexad) -> None:
    context = shop.use_context("shop", "kubernetes ingress").context

    assert ("", []) == (context.text, ids(context))
    assert "Left out as off the topic: 6 of 6 memories." in context.notes
    assert "No memories found for 'kubernetes ingress'" == context.bundle.global_summary


def test_what_has_nothing_to_do_with_the_topic_is_left_out_and_counted(shop: Hexad) -> None:
    context = shop.use_context("shop", "gateway retries").context

    assert ["mem_backoff", "mem_retries"] == ids(context)  # in the order of the formula: the newest first
    assert "Left out as off the topic: 4 of 6 memories." in context.notes
    assert 6 == len(ids(shop.use_context("shop", "gateway retries", on_topic=False, limit=9)))


def test_every_part_says_how_likely_it_answers(shop: Hexad) -> None:
    context = shop.use_context("shop", "retries of the gateway stop after five attempts").context
    known = {str(section["id"]): section["topic_relevance"] for section in context.bundle.sections}

    assert all(isinstance(value, float) and 0 < value <= 1 for value in known.values())
    assert known["mem_retries"] == max(known.values(), key=lambda value: float(str(value)))
    assert f"medium relevance · {known['mem_retries']:.2f} to the topic" in context.text


def test_pinned_and_high_parts_stand_first_only_where_they_touch_the_topic(shop: Hexad) -> None:
    shop.pin("mem_lunch")
    shop.pin("mem_retries")

    assert ["mem_retries", "mem_backoff"] == ids(shop.use_context("shop", "retries of the gateway"))
    assert ["mem_retries"] == ids(shop.use_context("shop", "retries of the gateway", limit=1))


def test_recall_context_orders_all_of_a_space_unless_it_is_told_to_keep_to_the_topic(shop: Hexad) -> None:
    every = shop.recall_context("shop", "kubernetes ingress", limit=9)
    near = shop.recall_context("shop", "kubernetes ingress", limit=9, on_topic=True)

    assert (6, 0) == (len(every.sections), len(near.sections))
    assert "topic_relevance" not in every.sections[0]
    assert ["mem_backoff", "mem_retries"] == ids(
        shop.recall_context("shop", "retries gateway", on_topic=True)
    )


def test_no_topic_leaves_nothing_out(shop: Hexad) -> None:
    context = shop.use_context("shop", " ", limit=9).context

    assert 6 == len(ids(context))
    assert "topic_relevance" not in context.bundle.sections[0]


def test_a_list_by_kind_says_that_it_has_no_topic(shop: Hexad) -> None:
    listed = shop.recall_kind("shop", "note", on_topic=True)

    assert 5 == len(listed)
    assert ("A list by kind has no topic to keep to; on_topic was not used.",) == listed.notes


def test_options_bind_what_is_near_as_they_bind_the_rest(shop: Hexad) -> None:
    assert ["mem_retries"] == ids(shop.use_context("shop", "gateway retries", path="shop/mem_retries"))
    assert [] == ids(shop.use_context("shop", "gateway retries", require_high_relevance=True))


def test_an_ordering_of_the_program_judges_the_topic_itself(shop: Hexad, project: Path) -> None:
    orderings = {"graph": lambda space, topic, limit: [("mem_paint", 0.9)]}
    with hexad.open(project, embedder=None, background=False, orderings=orderings) as other:
        context = other.use_context("shop", "gateway retries", backend="graph").context

    assert ["mem_paint", "mem_backoff", "mem_retries"] == ids(context)
    assert context.bundle.sections[0]["topic_relevance"] is None


@pytest.mark.parametrize("backend", ["basic", "patricia", "raptor", "hybrid", "temporal"])
def test_the_same_state_gives_the_same_bytes_also_when_it_keeps_to_the_topic(
    shop: Hexad, backend: str, opened: Opener
) -> None:
    def text(hx: Hexad) -> str:
        context = hx.use_context("shop", "gateway retries", freeze_clock=FROZEN, backend=backend).context
        return context.text + context.bundle.to_json()

    shop.embed_pending()
    first = text(shop)
    shop.feedback(shop.recall("gateway retries")[0], "helpful", query="gateway retries")

    assert first == text(shop)
    shop.close()
    with opened() as again:
        assert first == text(again)


# Projects -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def storefront(hx: Hexad) -> Hexad:
    """A space that belongs to a project, a memory of that project elsewhere, and decisions and facts of two projects."""
    hx.spaces.create("shop-web", {"project": "Storefront"})
    hx.remember("The checkout page loads in a second.", space="shop-web", id="mem_page")
    hx.remember(
        "The checkout button is green.", space="notes", id="mem_button", metadata={"project": "kiosk"}
    )
    hx.remember("The checkout queue is long.", space="notes", id="mem_queue")
    hx.remember("We chose Stripe for the checkout.", space="project", id="mem_stripe", kind="decision",
                metadata={"project": "Storefront"})  # fmt: skip
    hx.remember("We chose Adyen for the checkout.", space="project", id="mem_adyen", kind="decision",
                metadata={"project": "kiosk"})  # fmt: skip
    hx.remember("The checkout has a note of its own.", space="project", id="mem_plain",
                metadata={"project": "Storefront"})  # fmt: skip
    return hx


@pytest.mark.parametrize("name", ["shop-web", "Storefront", "storefront", "SHOP-WEB"])
def test_a_project_is_found_by_its_space_or_its_metadata_with_its_decisions(
    storefront: Hexad, name: str
) -> None:
    context = storefront.use_context(name, "checkout").context

    assert {"mem_page", "mem_stripe"} == set(ids(context))
    assert ("shop-web", "project") == context.spaces


def test_a_project_that_only_memories_name_is_made_of_them(storefront: Hexad) -> None:
    context = storefront.use_context("kiosk", "checkout").context

    assert {"mem_button", "mem_adyen"} == set(ids(context))
    assert ("notes", "project") == context.spaces
    assert {"mem_button", "mem_adyen"} == set(ids(storefront.use_context("kiosk", "", limit=9)))


def test_the_stores_own_project_is_known_by_its_name_even_when_it_is_empty(
    tmp_path: Path, opened: Opener
) -> None:
    folder = tmp_path / "orchard"
    folder.mkdir()
    hx = opened(folder)
    assert "" == hx.use_context("orchard", "checkout").text
    hx.remember("The checkout page loads in a second.", id="mem_page")
    hx.project.remember(category="tech_stack", key="checkout", value="Stripe")

    assert {"mem_page", hx.project.get("tech_stack")[0].memory_id} == set(
        ids(hx.use_context("orchard", "checkout"))
    )
    with pytest.raises(NotFound, match="Project 'nowhere' not found"):
        hx.use_context("nowhere", "checkout").recall()


def test_facts_and_decisions_of_the_project_come_only_where_they_touch_the_topic(hx: Hexad) -> None:
    hx.remember("The checkout page loads in a second.", id="mem_page")
    hx.project.remember(category="tech_stack", key="database", value="Postgres 16")
    decision = hx.project.remember_decision("Keep orders in Postgres", rationale="They are JSON documents.")

    fact = hx.project.get("tech_stack")[0].memory_id
    assert {fact, decision.memory_id} == set(ids(hx.use_context("default", "Postgres")))
    assert ["mem_page"] == ids(hx.use_context("default", "checkout page"))
    assert ["mem_page"] == ids(hx.use_context("default", "Postgres", on_topic=False))


def test_a_role_sees_no_decision_that_is_closed_to_it(hx: Hexad, opened: Opener) -> None:
    hx.remember("The checkout page loads in a second.", id="mem_page")
    hx.spaces.create("project")
    hx.spaces.set_policy("project", {"visibility": {"roles": ["owner"]}})
    hx.remember("We chose Stripe for the checkout.", space="project", kind="decision", id="mem_stripe")
    hx.close()

    def seen(**actor: Any) -> list[str]:
        with opened(**actor) as other:
            return ids(other.use_context("default", "checkout"))

    assert ["mem_page"] == seen(role="guest")
    assert {"mem_page", "mem_stripe"} == set(seen(role="owner"))
