"""The graph of memories: made in the background from what they say and where they stand, rebuilt the same, and never
the only way to reach one."""

from __future__ import annotations

import json

import pytest

import hexad
from hexad import FrozenClock, Hexad, InvalidInput
from hexad.honeycomb.component import COMPONENT as HONEYCOMB
from hexad.testing import HashEmbedder
from honeycomb_texts import TEXTS


@pytest.fixture
def told(hx: Hexad) -> list[hexad.Memory]:
    memories = [
        hx.remember(text, path=f"p/{at}") for at, text in enumerate(TEXTS)
    ]  # paths that share no word
    hx.embed_pending()
    return memories


def edges_of(hx: Hexad) -> dict[str, set[tuple[str, float, str, int, bool]]]:
    """Every edge between memories by their ids."""
    comb = hx.honeycomb
    names = {comb.get(memory.id).id: memory.id for memory in hx.memories(limit=None, status=None)}
    return {
        name: {
            (
                names[edge.target_id],
                edge.relevance_score,
                edge.relationship_type,
                min(edge.ring, 1),
                edge.auto,
            )
            for edge in (*comb.neighbors(node), *comb.overflow(node))
        }
        for node, name in names.items()
    }


def types(hx: Hexad, memory: hexad.Memory, other: hexad.Memory) -> list[str]:
    comb = hx.honeycomb
    number = comb.get(other.id).id
    return [
        edge.relationship_type
        for edge in (*comb.neighbors(memory.id), *comb.overflow(memory.id))
        if edge.target_id == number
    ]


@pytest.mark.row("O019")
def test_every_embedded_memory_is_a_node_linked_both_ways_with_its_nearest(hx, told):
    stats = hx.honeycomb.stats()

    assert (len(TEXTS), len(TEXTS)) == (stats.nodes, stats.memory_nodes)
    assert "similar" in types(hx, told[1], told[0])
    assert types(hx, told[0], told[1]) == types(hx, told[1], told[0])
    strongest = hx.honeycomb.neighbors(told[6].id)[0]
    assert strongest.target_id == hx.honeycomb.get(told[7].id).id
    assert strongest.auto


def test_a_rebuild_gives_the_same_and_leaves_what_somebody_inserted(hx, told):
    comb = hx.honeycomb
    before = edges_of(hx)
    comb.insert(told[0].id, told[6].id, score=0.99, relation="reminds")
    comb.insert(told[0].id, told[7].id, score=0.01)
    with_own = edges_of(hx)

    report = hx.reindex()
    waiting = edges_of(hx)
    hx.embed_pending()

    assert len(TEXTS) == report.links_queued
    own = {edge for edge in with_own[told[0].id] if not edge[4]}
    assert 2 == len(own)
    assert {target for target, *_ in own} == {target for target, *_ in waiting[told[0].id]}
    assert with_own == edges_of(hx)
    assert before.keys() == with_own.keys()


def test_a_rebuild_of_another_day_gives_the_same(hx, told, clock):
    before = edges_of(hx)
    clock.advance(days=400)

    hx.reindex()
    hx.embed_pending()

    assert before == edges_of(hx)


@pytest.mark.row("O019")
def test_turns_are_linked_with_those_before_and_after(hx, tmp_path):
    lines = [
        {"id": f"c/{at}", "conversation": "c", "session": "c/1", "time": "2026-01-01T10:00:00", "speaker": "AB"[at % 2], "text": text}
        for at, text in enumerate(("Shall we meet on Monday?", "Monday is fine with me.", "Then bring the drawings."))
    ]  # fmt: skip
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    hx.ingest(file)
    by_text = {memory.raw: memory for memory in hx.memories()}
    first, second, third = (by_text[line["text"]] for line in lines)

    assert (["next"], ["previous"]) == (types(hx, first, second), types(hx, second, first))
    assert ["next"] == types(hx, second, third)
    assert "next" not in types(hx, first, third)


@pytest.mark.row("O019")
def test_rare_words_of_tags_and_metadata_link_what_is_about_the_same(hx):
    memory = hx.remember("Bread rises in a warm kitchen.", tags=["zephyr"])
    other = hx.remember("The log grows until a checkpoint.", metadata={"project_code": "zephyr"})
    hx.embed_pending()

    assert ["shared-words"] == types(hx, memory, other) == types(hx, other, memory)


@pytest.mark.row("O019")
def test_links_that_are_drawn_are_edges_at_once_and_gone_when_they_are_removed(hx, told):
    hx.link(told[0].id, told[2].id, kind="based-on")

    assert (["based-on"], ["based-on:back"]) == (types(hx, told[0], told[2]), types(hx, told[2], told[0]))
    assert 1.0 == hx.honeycomb.neighbors(told[0].id)[0].relevance_score
    drawn = edges_of(hx)
    hx.reindex()
    hx.embed_pending()
    assert drawn == edges_of(hx)
    hx.unlink(told[0].id, told[2].id)
    hx.embed_pending()
    assert "based-on" not in types(hx, told[0], told[2])


class OneDirection(HashEmbedder):
    """All texts have one vector: nothing is more alike than anything else."""

    def embed(self, texts):
        return super().embed(["the same"] * len(texts))


@pytest.mark.row("O019")
def test_a_link_takes_the_seat_of_the_weakest_connection_that_nobody_drew(tmp_path):
    with hexad.open(tmp_path, embedder=OneDirection(), background=False, clock=FrozenClock()) as hx:
        memories = [hx.remember(text, path=f"p/{at}") for at, text in enumerate(TEXTS)]
        hx.embed_pending()
        before = hx.honeycomb.neighbors(memories[0].id)

        hx.link(memories[0].id, memories[9].id, kind="caused-by")

        for after in (hx.honeycomb.neighbors(memories[0].id), rebuilt(hx).neighbors(memories[0].id)):
            drawn = after[0]
            assert 6 == len(before) == len(after)
            assert hx.honeycomb.get(memories[9].id).id == drawn.target_id
            assert (1.0, "caused-by") == (drawn.relevance_score, drawn.relationship_type)
            assert {edge.target_id for edge in before[:5]} == {edge.target_id for edge in after[1:]}
            assert before[5].target_id in {edge.target_id for edge in hx.honeycomb.overflow(memories[0].id)}


def rebuilt(hx: Hexad):
    hx.reindex()
    hx.embed_pending()
    return hx.honeycomb


@pytest.mark.row("O019")
def test_a_best_first_walk_goes_over_links_before_what_is_merely_alike(hx, told):
    def first(count: int) -> list[str | None]:
        pieces = hx.honeycomb.jit_context(TEXTS[2], max_tokens=1_000).pieces
        return [piece.memory_id for piece in pieces[:count]]

    assert [told[2].id, told[3].id] == first(2)
    hx.link(told[2].id, told[6].id, kind="caused-by")
    hx.link(told[6].id, told[4].id, kind="caused-by")

    assert [told[2].id, told[6].id] == first(2)
    assert {told[2].id, told[6].id, told[3].id, told[4].id} == set(first(4))


@pytest.fixture
def linked(hx, told) -> tuple[str, str, str, str]:
    """A cause and its effect, what else caused that, and what is only related."""
    cause, effect, other, aside = (told[at].id for at in (2, 6, 4, 0))
    hx.link(cause, effect, kind="caused-by")
    hx.link(other, effect, kind="caused-by")
    hx.link(other, effect, kind="based-on")  # of the two kinds the edge shows one
    hx.link(cause, aside)
    return cause, effect, other, aside


@pytest.mark.row("O019")
def test_a_walk_keeps_to_the_types_of_edges_that_it_is_limited_to(hx, linked):
    cause, effect, other, aside = linked

    def reached(start: str, *relations: str) -> set[str | None]:
        context = hx.honeycomb.jit_context(start=start, threshold=0.0, relations=relations)
        return {piece.memory_id for piece in context.pieces}

    for _ in range(2):
        assert {cause, effect, other} == reached(cause, "caused-by")
        assert {cause, effect, other, aside} == reached(cause, "related", "caused-by")
        assert {cause, aside} == reached(cause, "related")
        assert {cause} == reached(cause, "based-on") == reached(cause, "no-such-type")
        assert {other, effect} == reached(other, "based-on")
        hx.embed_pending()  # derived anew, the edge of the two kinds may show the other


def test_a_best_first_walk_that_is_limited_begins_anywhere_and_goes_over_those_edges_alone(hx, linked):
    pieces = hx.honeycomb.jit_context(TEXTS[2], walk="best", relations=["related"]).pieces

    assert {"related", "related:back"} >= {piece.via.relationship_type for piece in pieces if piece.via}
    assert [linked[3]] == [piece.memory_id for piece in pieces if piece.via]
    assert (linked[0], None) == (pieces[0].memory_id, pieces[0].via)


@pytest.mark.parametrize("kind", ["similar", "derived-from"])
def test_a_link_drawn_under_the_name_of_a_derived_type_weighs_as_likeness(kind, hx, told):
    hx.link(told[2].id, told[6].id, kind=kind)

    pieces = hx.honeycomb.jit_context(TEXTS[2], max_tokens=1_000).pieces

    assert [told[2].id, told[3].id] == [piece.memory_id for piece in pieces[:2]]


def test_links_in_overflow_do_not_age(tmp_path):
    clock = FrozenClock()
    with hexad.open(tmp_path, embedder=HashEmbedder(), background=False, clock=clock) as hx:
        memories = [hx.remember(text, path=f"p/{at}") for at, text in enumerate(TEXTS)]
        hx.embed_pending()
        for memory in memories[1:9]:
            hx.link(memories[0].id, memory.id, kind="caused-by")
        clock.advance(days=300)

        contexts = [
            hx.honeycomb.jit_context(start=memories[0].id, threshold=0.9, relations=relations)
            for relations in (None, ["caused-by"])
        ]

    for context in contexts:
        assert {memory.id for memory in memories[:9]} == {piece.memory_id for piece in context.pieces}


def test_links_stay_inside_a_space_unless_somebody_draws_them(hx):
    here = hx.remember("The release needs a signed tag.", space="here")
    there = hx.remember("The release needs a signed tag.", space="there")
    hx.embed_pending()

    assert [] == types(hx, here, there)
    hx.link(here.id, there.id)
    assert ["related"] == types(hx, here, there)


def test_a_changed_text_is_linked_anew(hx):
    hx.remember(TEXTS[2], id="bread")
    changing = hx.remember(TEXTS[3], id="changing")
    birds = hx.remember(TEXTS[6], id="birds")
    hx.embed_pending()
    number = hx.honeycomb.get("birds").id
    before = {edge.target_id: edge.relevance_score for edge in hx.honeycomb.neighbors("changing")}[number]

    hx.remember(TEXTS[7], id="changing")
    hx.embed_pending()

    after = {edge.target_id: edge.relevance_score for edge in hx.honeycomb.neighbors(changing.id)}[number]
    back = {edge.target_id: edge.relevance_score for edge in hx.honeycomb.neighbors(birds.id)}
    assert after > before
    assert after == back[hx.honeycomb.get(changing.id).id]


@pytest.mark.row("O035")
def test_archived_memories_are_passed_by_and_come_back_with_their_links(hx, told):
    assert told[1].raw in hx.honeycomb.jit_context(start=told[0].id, threshold=0.1).text
    hx.forget(told[1].id)

    assert told[1].raw not in hx.honeycomb.jit_context(start=told[0].id, threshold=0.1).text
    hx.restore(told[1].id)
    hx.embed_pending()
    assert told[1].raw in hx.honeycomb.jit_context(start=told[0].id, threshold=0.1).text


def test_a_purged_memory_takes_its_edges_along(hx, told, clock):
    hx.spaces.set_policy("default", {"ttl_days": 30, "purge_after_days": 7, "allow_delete": True})
    comb = hx.honeycomb
    gone = comb.get(told[1].id).id
    overflowing = comb.get(told[0].id).id
    for memory in told[2:]:  # told[0] has more than six edges, one of them to what is purged
        comb.insert(overflowing, memory.id, score=0.5)
    for memory in (told[0], *told[2:]):
        hx.pin(memory.id)
    clock.advance(days=31)
    assert 1 == hx.spaces.gc("default").archived
    clock.advance(days=8)

    assert 1 == hx.spaces.gc("default").purged

    found = comb.get(overflowing)
    every = {edge.target_id for ring in (found.neighbors, *found.fractal_layer) for edge in ring}
    assert gone not in every
    assert {comb.get(memory.id).id for memory in told[2:]} <= every
    assert 6 == len(found.neighbors)
    assert len(TEXTS) - 1 == comb.stats().nodes
    assert [] == hx.check()


def test_a_role_neither_sees_nor_walks_to_what_is_hidden(opened):
    hx = opened()
    hx.spaces.create("team")
    shown = hx.remember("The release needs a signed tag.", space="team", kind="note", path="p/1")
    hidden = hx.remember("The release key needs a signed tag.", space="team", kind="decision", path="p/2")
    hx.spaces.set_policy("team", {"visibility": [{"kinds": ["decision"], "roles": ["lead"]}]})
    hx.embed_pending()
    reader = opened(role="reader").honeycomb

    assert ["similar"] == types(hx, shown, hidden)
    assert [] == reader.neighbors(shown.id)
    assert hidden.raw not in reader.jit_context(start=shown.id, threshold=0.0).text
    assert hidden.raw not in reader.jit_context("signed tag release key", scope="memories").text
    with pytest.raises(hexad.NotFound):
        reader.get(hidden.id)
    with pytest.raises(hexad.AccessDenied):
        reader.stats()


@pytest.mark.row("O004", "O033")
def test_a_question_walks_from_what_recall_finds_and_says_which_threshold_was_used(hx, told):
    context = hx.honeycomb.jit_context("when does a deploy start?", max_tokens=60)

    assert {told[0].id, told[1].id} == {piece.memory_id for piece in context.pieces[:2]}
    assert context.tokens <= 60
    assert 0.0 < context.thresholds["memories"] < 0.8
    assert told[0].raw in context.text
    assert all(0.0 <= piece.relevance_to_focus <= 1.0 for piece in context.pieces)
    assert context.to_dict() == hx.honeycomb.jit_context("when does a deploy start?", max_tokens=60).to_dict()


def test_a_walk_reaches_what_no_word_of_the_question_names(hx):
    asked = hx.remember("Zora keeps the harbour ledger.", id="asked")
    linked = hx.remember("Invoices are paid on the ninth.", id="linked")
    for text in TEXTS:
        hx.remember(text)
    hx.link("asked", "linked")
    hx.embed_pending()
    question = "Who keeps the harbour ledger?"

    assert linked.id not in {hit.memory.id for hit in hx.recall(question)[:2]}
    context = hx.honeycomb.jit_context(question, max_tokens=20)
    assert [asked.id, linked.id] == [piece.memory_id for piece in context.pieces]
    assert "related" == context.pieces[1].via.relationship_type


def test_a_space_bounds_a_walk(hx):
    for space in ("here", "there"):
        for text in TEXTS[:4]:
            hx.remember(f"{space}: {text}", space=space)
    hx.embed_pending()

    for walk in ("best", "breadth"):
        context = hx.honeycomb.jit_context("the signed tag of a release", space="here", walk=walk)
        assert context.pieces
        assert all(piece.text.startswith("here") for piece in context.pieces)
    with pytest.raises(hexad.NotFound):
        hx.honeycomb.jit_context("release", space="nowhere")


def test_own_nodes_and_memories_are_one_graph(hx, told):
    comb = hx.honeycomb
    note = comb.add_node("Ask Zora before a deploy.")
    comb.insert(note, told[0].id, score=0.9)
    comb.insert(told[0].id, note, score=0.95)

    assert [note, comb.get(told[0].id).id] == [piece.id for piece in comb.jit_context(start=note).pieces[:2]]
    assert "Zora" in comb.jit_context(start=told[0].id).text
    assert "Zora" not in comb.jit_context(start=told[0].id, scope="memories").text
    with pytest.raises(InvalidInput, match=r"`hx\.forget` takes it out"):
        comb.remove(comb.get(told[0].id).id)


def test_what_a_walk_hands_out_is_known_when_it_comes_back(hx, told):
    handed = hx.honeycomb.jit_context("when does a deploy start?", max_tokens=60).pieces[0]

    back = hx.remember(f"- {handed.text} (0.83)")

    assert ("echo", handed.memory_id) == (back.receipt.outcome.value, back.id)


def test_the_background_links_what_was_remembered(opened):
    hx = opened(background=True)
    first, other = (hx.remember(text, path=f"p/{at}") for at, text in enumerate(TEXTS[:2]))

    assert hx.wait_for_background(30)
    assert ["similar"] == types(hx, first, other)


def test_a_memory_is_found_by_recall_though_no_edge_leads_to_it(hx, told):
    for memory in told:
        hx.honeycomb.deactivate(memory.id)

    assert told[0].id in {hit.memory.id for hit in hx.recall("signed tag")}
    assert "" == hx.honeycomb.jit_context("signed tag").text


def test_association_lets_a_memory_gain_from_its_neighbours_and_says_how_much(hx, told):
    hx.link(told[0].id, told[4].id, kind="based-on")
    question = "signed tag before the deploy"
    plain = {hit.memory.id: hit for hit in hx.recall(question, limit=100)}

    helped = {hit.memory.id: hit for hit in hx.recall(question, limit=100, association=0.3)}

    assert all("association" not in hit.parts for hit in plain.values())
    for hit in helped.values():
        assert sum(hit.parts.values()) == pytest.approx(hit.score)
        assert plain[hit.memory.id].score + hit.parts["association"] == pytest.approx(hit.score)
    gains = {name: hit.parts["association"] for name, hit in helped.items()}
    # What gains most is linked with the best hit or is it; what gains least is not.
    best = max(plain.values(), key=lambda hit: hit.score).memory.id
    linked = {best, *(edge[0] for edge in edges_of(hx)[best])}
    assert max(gains, key=gains.__getitem__) in linked
    assert gains[best] < max(gains.values())
    for share in (-0.1, 1.5, "much", True):
        with pytest.raises(InvalidInput, match="association"):
            hx.recall(question, association=share)


def test_memories_of_a_store_from_before_there_was_a_honeycomb_are_linked_too(hx, told):
    expected = edges_of(hx)
    db = hx._services.db
    with db.transaction() as con:
        con.execute("PRAGMA defer_foreign_keys = ON")
        tables = [
            row[0]
            for row in con.execute(
                "SELECT name FROM sqlite_schema WHERE name LIKE 'honeycomb%' AND type = 'table'"
            )
        ]
        for (trigger,) in con.execute(
            "SELECT name FROM sqlite_schema WHERE name LIKE 'honeycomb%' AND type = 'trigger'"
        ).fetchall():
            con.execute(f"DROP TRIGGER {trigger}")
        for table in sorted(tables, key=lambda name: name == "honeycomb_nodes"):
            con.execute(f"DROP TABLE {table}")
        for step in HONEYCOMB.schema:
            step.apply(con)
    hx.close()
    later = hexad.open(hx.path.parent, embedder=HashEmbedder(), background=False, clock=hx.clock)

    assert len(TEXTS) == later.maintain().linked
    assert expected == edges_of(later)
    later.close()


def test_a_question_finds_memories_that_are_no_nodes_yet(opened):
    hx = opened(embedder=None)
    hx.remember("Deploys happen on Tuesday.")
    hx.remember("Bread rises in a warm kitchen.")

    context = hx.honeycomb.jit_context("when do deploys happen?")

    assert ("Deploys happen on Tuesday.", "OK") == (context.text, context.safety)
    assert 0 == hx.honeycomb.stats().nodes
