"""Links of memories follow from the memories alone: whatever happened to them before, in whatever order and by how many
programs they were linked, a rebuild gives the same."""

from __future__ import annotations

import itertools
import json
import random
import re
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import FrozenClock, Hexad, HexadError, ProviderError
from hexad.database.leases import Lease
from hexad.honeycomb.link_job import LinkJob
from hexad.interfaces.cli.app.main import main
from hexad.testing import HashEmbedder
from honeycomb_texts import TEXTS


def graph_of(hx: Hexad) -> list[tuple]:
    """Every edge with all that is known of it but its seat, by its ends."""
    return hx._services.db.query(
        "SELECT from_id, to_id, score, coalesce(relation, 'similar'), is_auto, ring > 0, created_at, renewed_at FROM honeycomb_edges"
        " ORDER BY from_id, to_id"
    )


def words_of(hx: Hexad) -> list[tuple]:
    return hx._services.db.query(
        "SELECT space_no, token, node_id FROM honeycomb_entities ORDER BY space_no, token, node_id"
    )


def rebuilt(hx: Hexad) -> list[tuple]:
    """The graph after all links were dropped and derived anew."""
    hx.reindex()
    hx.embed_pending()
    return graph_of(hx)


def number(hx: Hexad, memory: hexad.Memory | str) -> int:
    name = memory if isinstance(memory, str) else memory.id
    return hx.honeycomb.get(name).id


def relations(hx: Hexad, memory: hexad.Memory | str, other: hexad.Memory | str) -> list[str]:
    ends = number(hx, memory), number(hx, other)
    return [edge[3] for edge in graph_of(hx) if edge[:2] == ends]


@pytest.fixture
def told(hx: Hexad) -> list[hexad.Memory]:
    memories = [hx.remember(text, path=f"p/{at}") for at, text in enumerate(TEXTS)]
    hx.embed_pending()
    return memories


def chat(folder: Path, turns: int) -> Path:
    """Write a conversation of so many turns of rare words."""
    source, words = random.Random(3), [f"w{at}" for at in range(400)]
    file = folder / "chat.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for at in range(turns):
            line = {
                "id": f"c/{at}", "conversation": "c", "session": "c/1", "time": "2026-01-01T10:00:00",
                "speaker": "AB"[at % 2], "text": " ".join(source.choices(words, k=12)),
            }  # fmt: skip
            out.write(json.dumps(line) + "\n")
    return file


# What others chose stays ------------------------------------------------------------------------------------------


def test_a_link_that_is_drawn_and_removed_leaves_the_graph_as_it_was(hx, told):
    before = graph_of(hx)
    hx.link(told[0].id, told[1].id, kind="because")
    hx.embed_pending()
    hx.unlink(told[0].id, told[1].id)
    hx.embed_pending()

    assert before == graph_of(hx)


def test_of_several_links_of_two_memories_the_rest_stays_when_one_goes(hx, told):
    hx.link(told[0].id, told[1].id, kind="why")
    hx.link(told[0].id, told[1].id, kind="because")
    hx.embed_pending()
    assert graph_of(hx) == rebuilt(hx)

    hx.unlink(told[0].id, told[1].id, kind="because")
    hx.embed_pending()

    assert ["why"] == relations(hx, told[0], told[1])
    assert graph_of(hx) == rebuilt(hx)


def test_a_changed_text_is_chosen_by_later_memories_that_are_near_to_it_now(hx):
    changing = hx.remember("Kitchen knives need sharpening once a month.", id="changing")
    for at, text in enumerate(TEXTS[2:9]):
        hx.remember(text, path=f"p/{at}")
    late = hx.remember("Shall the release get a signed tag before we deploy?", id="late")
    hx.embed_pending()
    before = [edge for edge in graph_of(hx) if edge[:2] == (number(hx, late), number(hx, changing))]

    hx.remember(TEXTS[0], id="changing")
    hx.embed_pending()

    after = [edge for edge in graph_of(hx) if edge[:2] == (number(hx, late), number(hx, changing))]
    assert [edge[2] for edge in after] > [edge[2] for edge in before]
    assert graph_of(hx) == rebuilt(hx)


def test_a_memory_that_leaves_makes_room_for_the_next_nearest(hx):
    memories = [hx.remember(f"The release needs a signed tag {at}.", path=f"p/{at}") for at in range(9)]
    hx.embed_pending()
    last = number(hx, memories[8])
    chosen = {edge[1] for edge in graph_of(hx) if edge[0] == last}
    assert 6 == len(chosen)
    gone = next(memory for memory in memories if number(hx, memory) in chosen)

    hx.forget(gone.id)
    hx.embed_pending()

    still = {edge[1] for edge in graph_of(hx) if edge[0] == last}
    assert number(hx, gone) not in still
    assert 6 == len(still)
    assert graph_of(hx) == rebuilt(hx)


def test_an_archived_memory_that_is_restored_has_its_links_and_those_that_others_chose(hx, told):
    before = graph_of(hx)
    for memory in (told[1], told[4]):
        hx.forget(memory.id)
    hx.embed_pending()
    assert graph_of(hx) == rebuilt(hx)

    for memory in (told[4], told[1]):
        hx.restore(memory.id)
    hx.embed_pending()

    assert before == graph_of(hx)


def test_a_purged_memory_is_replaced_by_the_next_nearest(hx, told):
    hx.forget(told[0].id, purge=True, confirm=True)
    hx.embed_pending()

    assert graph_of(hx)
    assert graph_of(hx) == rebuilt(hx)


def test_of_memories_that_are_equally_near_the_earlier_are_chosen_wherever_their_vectors_lie(hx):
    orders = list(itertools.islice(itertools.permutations("amber basalt cobalt dolomite".split()), 21))
    for at, order in enumerate(orders[:-1]):
        hx.remember(" ".join(order), id=f"m{at}", path=f"p/{at}")
    hx.embed_pending()
    last = number(hx, "m19")
    nearest = {edge[1] for edge in graph_of(hx) if edge[0] == last and edge[3] == "similar"}
    assert {number(hx, f"m{at}") for at in range(6)} == nearest
    found = graph_of(hx)

    for at in (3, 0, 12):  # their vectors move to the end
        hx.remember(" ".join(orders[20]), id=f"m{at}")
        hx.embed_pending()
        hx.remember(" ".join(orders[at]), id=f"m{at}")
        hx.embed_pending()
    assert found == graph_of(hx)
    hx.reindex(vectors=True)
    hx.embed_pending()

    assert found == graph_of(hx)


def test_links_of_memories_say_when_both_were_there_also_after_a_rebuild(hx, clock):
    first = hx.remember(TEXTS[0])
    hx.embed_pending()
    clock.advance(days=3)
    second = hx.remember(TEXTS[1])
    clock.advance(hours=2)
    hx.embed_pending()
    edge = hx.honeycomb.neighbors(first.id)[0]
    assert second.created_at == edge.timestamp_created

    clock.advance(days=30)
    hx.reindex()
    hx.embed_pending()

    assert edge == hx.honeycomb.neighbors(first.id)[0]


# Words --------------------------------------------------------------------------------------------------------------


def test_words_that_a_memory_is_given_or_loses_change_its_links(hx):
    memory = hx.remember("Bread rises in a warm kitchen.", path="p/1", tags=["zephyr"])
    other = hx.remember("The log grows until a checkpoint.", path="p/2", tags=["meadow"])
    hx.embed_pending()
    assert "shared-words" not in relations(hx, memory, other)

    hx.tag(memory.id, add=["meadow"], remove=["zephyr"])
    hx.embed_pending()
    assert ["shared-words"] == relations(hx, memory, other) == relations(hx, other, memory)
    third = hx.remember("Birds migrate south in autumn.", path="p/3", tags=["zephyr"])
    hx.embed_pending()
    assert "shared-words" not in relations(hx, third, memory)  # which is not called so any more

    hx.tag(memory.id, remove=["meadow"])
    hx.embed_pending()
    assert "shared-words" not in relations(hx, memory, other)
    assert graph_of(hx) == rebuilt(hx)


def test_a_word_that_becomes_common_connects_those_that_came_before(hx):
    memories = [hx.remember(f"{text} {at}", tags=["meadow"]) for at, text in enumerate(TEXTS * 4)]
    hx.embed_pending()
    before, words = graph_of(hx), words_of(hx)

    for memory in memories[:10]:
        hx.forget(memory.id)
    hx.embed_pending()
    assert words != words_of(hx)
    assert graph_of(hx) == rebuilt(hx)
    for memory in memories[:10]:
        hx.restore(memory.id)
    hx.embed_pending()

    assert (before, words) == (graph_of(hx), words_of(hx))


# In which order they are made ---------------------------------------------------------------------------------------


def waiting_for_links(hx: Hexad) -> list[int]:
    rows = hx._services.db.query("SELECT memory_no FROM tasks WHERE kind = 'link' ORDER BY memory_no")
    return [row[0] for row in rows]


@pytest.fixture
def many(hx: Hexad, tmp_path: Path) -> list[tuple]:
    """The links of 150 turns, whose vectors and links are then to be made again."""
    hx.ingest(chat(tmp_path, 150))
    found = graph_of(hx)
    hx.reindex(vectors=True)
    with hx._services.db.transaction() as con:
        con.execute("DELETE FROM tasks WHERE kind = 'link'")
    return found


def test_of_many_memories_the_links_are_made_in_their_order_each_once_after_all_vectors(
    hx, many, monkeypatch
):
    linked: list[int] = []
    link = LinkJob._link

    def noted(job, numbers, index):
        linked.extend(numbers)
        return link(job, numbers, index)

    monkeypatch.setattr(LinkJob, "_link", noted)
    hx._services._step(lambda: False)
    assert (64, []) == (len(waiting_for_links(hx)), linked)
    while hx._services._step(lambda: False):
        pass

    assert list(range(1, 151)) == linked
    assert many == graph_of(hx)


def test_what_is_written_singly_is_linked_while_many_wait_for_their_vectors(hx, many, monkeypatch):
    monkeypatch.setattr("hexad.search.embedding_job.ORDERED_MEMORIES", 64)
    hx._services._step(lambda: False)
    single = hx.remember("The release needs a signed tag.", path="p/1")
    hx._services._step(lambda: False)

    assert hx.honeycomb.neighbors(single.id)
    assert 127 == len(waiting_for_links(hx))
    hx.embed_pending()
    assert graph_of(hx) == rebuilt(hx)


def test_what_is_written_singly_is_linked_before_the_rest_of_many(hx, many):
    hx._services.search.job.run()
    hx._services._step(lambda: False)
    single = hx.remember("The release needs a signed tag.", path="p/1")
    hx._services._step(lambda: False)

    assert hx.honeycomb.neighbors(single.id)
    assert waiting_for_links(hx)
    hx.embed_pending()
    assert graph_of(hx) == rebuilt(hx)


def test_few_memories_are_linked_together_in_their_order(hx, told, monkeypatch):
    linked: list[list[int]] = []
    link = LinkJob._link

    def noted(job, numbers, index):
        linked.append(list(numbers))
        return link(job, numbers, index)

    monkeypatch.setattr(LinkJob, "_link", noted)
    hx.remember("The release needs a signed tag, too.", path="p/10")
    hx.tag(told[1].id, add=["zephyr"])
    hx.embed_pending()

    assert [2, 11] == linked[0]


def test_an_old_memory_that_changes_is_linked_anew_while_many_wait_for_their_vectors(hx, told, tmp_path):
    hx.ingest(chat(tmp_path, 150))
    assert ["shared-words"] != relations(hx, told[1], told[5])
    with hx._services.db.transaction() as con:
        con.execute("INSERT INTO tasks(kind, memory_no) SELECT 'embed', no FROM memories WHERE no > 10")
    hx.tag(told[1].id, add=["zephyr"])
    hx.tag(told[5].id, add=["zephyr"])
    hx._services._step(lambda: False)

    assert ["shared-words"] == relations(hx, told[1], told[5])
    assert not set(waiting_for_links(hx)) & set(range(1, 11))
    hx.embed_pending()
    assert graph_of(hx) == rebuilt(hx)


def test_a_link_that_is_drawn_while_many_wait_for_theirs_is_there_at_once(hx, many):
    hx._services._step(lambda: False)
    waiting = waiting_for_links(hx)
    first, other = hx._services.stores.memories.by_no([waiting[0], waiting[5]]).values()
    hx.link(first.id, other.id, kind="because")

    assert ["because"] == relations(hx, first, other)
    hx.unlink(first.id, other.id)
    assert [] == relations(hx, first, other)
    hx.link(first.id, other.id, kind="because")
    hx.embed_pending()
    assert ["because"] == relations(hx, first, other)
    assert graph_of(hx) == rebuilt(hx)


def test_what_has_its_vectors_is_linked_though_the_embedder_fails(opened):
    class Failing(HashEmbedder):
        fails = False

        def embed(self, texts):
            if self.fails:
                raise ProviderError("The endpoint is down.")
            return super().embed(texts)

    embedder = Failing()
    hx = opened(embedder=embedder)
    for at, text in enumerate(TEXTS):
        hx.remember(text, path=f"p/{at}")
    hx._services.search.job.run(limit=8)
    embedder.fails = True

    with pytest.raises(ProviderError):
        hx._services._step(lambda: False)

    assert 8 == hx.honeycomb.stats().nodes


def test_links_of_many_wait_for_vectors_that_another_program_computes_and_not_for_one_that_ended(
    hx, opened, many
):
    other = opened()
    tasks, owner = hx._services.stores.tasks, other._services.context.owner
    held = tasks.claim("embed", owner=owner, alive=frozenset(), limit=30)
    while hx._services._step(lambda: False):
        pass
    assert 120 == len(waiting_for_links(hx))

    other.close()
    while hx._services._step(lambda: False):
        pass

    assert held
    assert many == graph_of(hx)


# Several that link ---------------------------------------------------------------------------------------------------


def test_a_store_that_links_while_another_one_does_loses_no_link_between_their_batches(
    opened, tmp_path, monkeypatch
):
    hx, other = opened(), opened()
    hx.ingest(chat(tmp_path, 150))
    expected = graph_of(hx)
    assert 298 == sum(edge[3] in ("next", "previous") for edge in expected)
    hx.reindex()
    derive, begun = LinkJob._derive, []

    def derived_while_the_other_links(job, *given):
        if job is hx._services.honeycomb().linking and not begun:
            begun.append(other._services.link(limit=64))
        derive(job, *given)

    monkeypatch.setattr(LinkJob, "_derive", derived_while_the_other_links)
    hx._services.link(limit=64)
    other.embed_pending()

    assert begun
    assert 0 == hx._services.stores.tasks.counts("link")[0]
    assert expected == graph_of(hx)


def test_links_made_out_of_order_are_those_of_the_order(hx, tmp_path):
    hx.ingest(chat(tmp_path, 90))
    expected, words = graph_of(hx), words_of(hx)
    hx.reindex()
    db, source = hx._services.db, random.Random(1)
    waiting = [row[0] for row in db.query("SELECT memory_no FROM tasks WHERE kind = 'link'")]
    source.shuffle(waiting)

    for start in range(0, len(waiting), 6):  # what a program that hangs, or fails, leaves for later
        with db.transaction() as con:
            con.execute("UPDATE tasks SET error = 'later' WHERE kind = 'link'")
            con.executemany(
                "UPDATE tasks SET error = NULL WHERE kind = 'link' AND memory_no = ?",
                [(no,) for no in waiting[start : start + 6]],
            )
        hx._services.link()
    hx._services.stores.tasks.retry_failed("link")
    hx.embed_pending()

    assert (expected, words) == (graph_of(hx), words_of(hx))


def test_threads_that_link_at_once_make_what_one_makes(opened, tmp_path):
    hx, other = opened(), opened()
    hx.ingest(chat(tmp_path, 200))
    expected = graph_of(hx)
    hx.reindex()
    threads = [threading.Thread(target=store.embed_pending) for store in (hx, other, hx, other)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert 0 == hx._services.stores.tasks.counts("link")[0]  # each waited for the others
    assert expected == graph_of(hx)


def test_the_background_leaves_links_to_another_program_that_makes_them(opened):
    hx = opened()
    for at, text in enumerate(TEXTS):
        hx.remember(text, path=f"p/{at}")
    hx._services.search.job.run()
    with Lease(hx.path / "link.lock", clock=FrozenClock()).held_for() as held:
        assert held
        assert 0 == hx._services.link(limit=64)
        assert 0 == hx.honeycomb.stats().nodes

    assert len(TEXTS) == hx._services.link(limit=64)


def test_a_program_that_hangs_while_it_links_is_waited_for_only_so_long(opened, monkeypatch):
    hx = opened()
    for at, text in enumerate(TEXTS):
        hx.remember(text, path=f"p/{at}")
    monkeypatch.setattr("hexad.honeycomb.link_job.PATIENCE_S", 0.2)

    with Lease(hx.path / "link.lock", clock=FrozenClock()).held_for():
        assert len(TEXTS) == hx.embed_pending()

    assert len(TEXTS) == hx.maintain().linked


def test_who_waits_for_links_is_told_how_many_there_are_and_whom_to_look_for(opened, monkeypatch, capsys):
    hx = opened()
    for at, text in enumerate(TEXTS):
        hx.remember(text, path=f"p/{at}")
    monkeypatch.setattr("hexad.honeycomb.link_job.PATIENCE_S", 0.1)
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    waits = r"In the honeycomb 10 memories wait for their links, and only process \d+ \(linking, since .*\) may make"

    def said(*args: str) -> tuple[str, str]:
        assert 0 == main([*args, "-C", str(hx.path.parent)])
        told = capsys.readouterr()
        return told.out, told.err

    lease = Lease(hx.path / "link.lock", clock=FrozenClock(), purpose="linking")
    with lease.held_for():
        report, status = hx.maintain(), hx.status()
        assert (10, 0, 10) == (report.embedded, report.linked, report.links_pending)
        assert (10, str(lease.holder())) == (status.links_pending, status.links_made_by)
        for args in (["maintain"], ["reindex"], ["honeycomb", "stats"]):
            out, err = said(*args)
            assert re.search(waits, " ".join(err.split()))
            assert "Nothing was waiting" not in err
            assert "The graph is empty" not in err
            assert "wait" not in out
        assert 10 == json.loads(said("maintain", "--json")[0])["links_pending"]
    free = hx.status()
    assert (10, None) == (free.links_pending, free.links_made_by)
    assert "10 memories wait for their links: `hexad maintain` makes them." in said("honeycomb", "stats")[1]

    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    assert (
        "10 memories wait for their links until the store is opened with its embedder." in said("maintain")[1]
    )
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    assert "10 memories linked with others" in said("maintain")[0]
    assert (0, None) == (hx.status().links_pending, hx.status().links_made_by)
    assert "wait" not in said("honeycomb", "stats")[1]


def test_what_changes_while_links_are_made_is_linked_as_it_is_then(opened, monkeypatch):
    hx, other = opened(), opened()
    for at, text in enumerate(TEXTS):
        hx.remember(text, id=f"m{at}", path=f"p/{at}")
    hx._services.search.job.run()
    changes = [
        lambda: other.tag("m2", add=["zephyr"]),
        lambda: other.forget("m0"),
        lambda: other.link("m1", "m9", kind="because"),
        lambda: other.forget("m3", purge=True, confirm=True),
        lambda: (other.remember(TEXTS[4], id="m7"), other._services.search.job.run()),
        lambda: other.tag("m9", add=["zephyr"]),
        lambda: other.restore("m0"),
        lambda: other.unlink("m1", "m9"),
    ]
    work = hx._services.honeycomb().linking
    write = work._write

    def changed_meanwhile(batch):
        if changes:
            changes.pop(0)()
        return write(batch)

    monkeypatch.setattr(work, "_write", changed_meanwhile)
    while changes or hx._services.stores.tasks.counts("link")[0]:
        if not hx._services.stores.tasks.counts("link")[0]:
            hx.tag("m5", add=[f"t{len(changes)}"])
        hx.embed_pending()
    hx.embed_pending()

    assert {"m0", "m7", "m9"} <= {memory.id for memory in hx.memories(limit=None)}
    assert graph_of(hx) == rebuilt(hx)


# Whatever happens -----------------------------------------------------------------------------------------------------

WORDS = ("river", "meadow", "lantern", "copper", "violin", "orchard", "saddle", "window")
SLOTS = 18  # more than twice the nearest of a memory, so that it matters who is among them
slots = st.integers(0, SLOTS - 1)
early = st.integers(0, SLOTS // 2)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
tags = st.lists(st.sampled_from(("amber", "basalt", "cobalt")), max_size=2)
steps = st.one_of(
    st.tuples(st.just("tell"), early, texts, tags),
    st.tuples(st.just("tell"), slots, texts, tags),
    st.tuples(st.just("tag"), slots, tags),
    st.tuples(st.just("untag"), slots, tags),
    st.tuples(st.just("link"), slots, slots, st.sampled_from(("because", "why"))),
    st.tuples(st.just("unlink"), slots, slots),
    st.tuples(st.just("insert"), slots, slots, st.integers(0, 4).map(lambda at: at / 4)),
    st.tuples(st.just("forget"), early),
    st.tuples(st.just("restore"), early),
    st.tuples(st.just("purge"), slots),
    st.tuples(st.just("wait")),
    st.tuples(st.just("embed")),
    st.tuples(st.just("some"), st.integers(1, 3)),
    st.tuples(st.just("all")),
    st.tuples(st.just("rebuild")),
)


class Life:
    """A store to which things happen."""

    def __init__(self, hx: Hexad, clock: FrozenClock) -> None:
        self.hx, self.clock = hx, clock

    def do(self, step: tuple) -> None:
        hx, (name, *rest) = self.hx, step
        ids = [f"m{slot}" for slot in rest if isinstance(slot, int)]
        if name == "tell":
            said = f"{' '.join(rest[1])} {rest[0]}"  # the same words in two slots are two memories
            hx.remember(
                said, id=ids[0], path=f"p/{rest[0]}", tags=rest[2], space="t" if rest[0] % 6 == 5 else "s"
            )
        elif name == "tag":
            hx.tag(ids[0], add=rest[1])
        elif name == "untag":
            hx.tag(ids[0], remove=rest[1])
        elif name == "link":
            hx.link(ids[0], ids[1], kind=rest[2])
        elif name == "unlink":
            hx.unlink(ids[0], ids[1])
        elif name == "insert":
            hx.honeycomb.insert(ids[0], ids[1], score=rest[2])
        elif name == "forget":
            hx.forget(ids[0])
        elif name == "restore":
            hx.restore(ids[0])
        elif name == "purge":
            hx.forget(ids[0], purge=True, confirm=True)
        elif name == "wait":
            self.clock.advance(hours=7)
        elif name == "embed":
            hx._services.search.job.run()
        elif name == "some":
            hx._services.search.job.run(limit=rest[0])
            hx._services.link(limit=rest[0])
        elif name == "rebuild":
            hx.reindex()
        else:
            hx.embed_pending()


@settings(max_examples=examples(15), suppress_health_check=list(HealthCheck))
@given(
    first=st.lists(st.tuples(texts, tags), min_size=SLOTS, max_size=SLOTS),
    life=st.lists(steps, min_size=1, max_size=25),
)
def test_after_whatever_happened_a_rebuild_changes_nothing(first, life):
    clock = FrozenClock()
    with hexad.open(":memory:", embedder=HashEmbedder(), background=False, clock=clock) as hx:
        graph = Life(hx, clock)
        for slot, (said, named) in enumerate(first):
            graph.do(("tell", slot, said, named))
        hx.embed_pending()
        for step in life:
            with suppress(HexadError):  # what cannot be done is no step
                graph.do(step)
        hx.embed_pending()
        found, words = graph_of(hx), words_of(hx)

        assert found == rebuilt(hx)
        assert words == words_of(hx)
        assert [] == hx.check()
