"""The graph and people: what is erased leaves no trace, what is held is told, and roles learn nothing of the rest."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hexad
from hexad import AccessDenied, Hexad, InvalidInput, NotFound
from hexad.interfaces.cli.app.main import main

SECRET_NAME = "ghp" + "_" + "Zk3mQ9vT2xW8rB5nL7cD1fG4hJ6kM8pQ0aSe"


def said(hx: Hexad, *args: object, **kwargs: object) -> dict:
    return json.loads("".join(hexad.export_json(hx.export(*args, **kwargs))))


def files_with(hx: Hexad, *words: str) -> list[tuple[str, str]]:
    assert hx.path is not None
    held = {path.name: path.read_bytes() for path in hx.path.rglob("*") if path.is_file()}
    return [(name, word) for name, content in held.items() for word in words if word.encode() in content]


def planted(hx: Hexad) -> None:
    """Memories, nodes, edges and sessions that say `canary` somewhere."""
    comb = hx.honeycomb
    memories = [
        hx.remember(f"canarymemory {at} by the harbour.", path=f"canarypath/{at}", tags=[f"canarytag{at}"])
        for at in range(9)
    ]
    hx.embed_pending()
    dimensions = comb.get(memories[0].id).embedding_dim
    nodes = comb.add_nodes([(f"canarynode {at} by the quay.", [1.0] * dimensions) for at in range(9)])
    for at, node in enumerate(nodes[1:], start=1):
        comb.insert(nodes[0], node, relation=f"canaryrelation{at}", score=0.9)
        comb.insert(memories[0].id, node, relation=f"canaryrelation{at}", score=0.9)
    comb.start_session("canaryidle")
    comb.access(nodes[0], session="canarysession")
    comb.jit_context("canarymemory harbour", session="canarywalk", threshold=0)
    comb.jit_context([1.0] * dimensions, session="canarywalk", threshold=0)


# Erasure ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["call", "command"])
def test_a_wiped_project_keeps_no_byte_of_nodes_sessions_and_types_of_edges(
    hx, opened, project, capsys, encrypted, way
):
    planted(hx)
    hx.close()
    hx = opened()
    words = ["canarynode", "canarysession", "canarywalk", "canaryidle", "canaryrelation"]
    assert encrypted or set(words) == {word for _, word in files_with(hx, *words)}

    if way == "call":
        hx.wipe("project", confirm=True)
    else:
        hx.close()
        assert 0 == main(["-C", str(project), "memory", "wipe", "--scope", "project", "--yes"])
        capsys.readouterr()
        hx = opened()

    assert [] == files_with(hx, "canary")
    assert "canary" not in json.dumps(said(hx))


def test_a_purged_memory_leaves_no_byte_of_its_edges_and_words(hx, opened):
    comb = hx.honeycomb
    gone = hx.remember("canarymemory by the harbour.", path="canarypath/1", tags=["canarytag"])
    kept = [hx.remember(f"A quay {at} by the harbour.", path=f"p/{at}") for at in range(8)]
    hx.link(gone.id, kept[0].id, kind="canarykind")
    hx.embed_pending()
    for item in kept:
        comb.insert(gone.id, item.id, relation="canaryrelation", score=0.9)
        comb.insert(item.id, gone.id, relation="canaryrelation", score=0.9)
    comb.access(gone.id, session="s1")
    hx.close()
    hx = opened()

    hx.forget(gone.id, purge=True, confirm=True)

    assert [] == files_with(hx, "canary")
    assert [] == said(hx)["honeycomb_sessions"][0]["looks"]


WALKER = """
import sys, hexad
from hexad.testing import HashEmbedder
with hexad.open(sys.argv[1], embedder=HashEmbedder(), background=False) as hx:
    comb = hx.honeycomb
    query = [1.0] * HashEmbedder().dimensions
    def walked():
        texts = [comb.jit_context(query, threshold=0, entries=20).text]
        texts += [comb.jit_context("canarymemory harbour", walk=walk, threshold=0).text for walk in ("best", "breadth")]
        return texts, comb.find_most_relevant(query, limit=20), [hit.text for hit in hx.recall("canary", association=1.0)]
    def nodes():
        found = []
        for node in range(1, 40):
            try:
                found.append((comb.get(node).data, comb.neighbors(node), comb.overflow(node)))
            except hexad.NotFound:
                pass
        return found
    print(len(nodes()), sum("canary" in text for text in walked()[0]), flush=True)
    input()
    print(repr((nodes(), walked())), flush=True)
"""


def test_another_program_that_had_the_graph_in_memory_walks_to_nothing_after_a_wipe(hx, project):
    planted(hx)
    other = subprocess.Popen(
        [sys.executable, "-c", WALKER, str(project)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdin is not None and other.stdout is not None
    with other:
        assert "18 3\n" == other.stdout.readline()
        hx.wipe("project", confirm=True)
        here = hx.honeycomb.jit_context([1.0] * 256, threshold=0, entries=20)
        other.stdin.write("\n")
        other.stdin.flush()
        answer = other.stdout.readline()

    assert "" == here.text and () == here.pieces
    assert repr(([], (["", "", ""], [], []))) == answer.strip()
    assert 0 == other.returncode


def session_names(hx: Hexad) -> list[str]:
    return [honeycomb_session["session"] for honeycomb_session in said(hx)["honeycomb_sessions"]]


@pytest.mark.parametrize("way", ["forget", "wipe", "command"])
def test_a_session_that_is_forgotten_is_forgotten_by_the_graph_too(hx, opened, project, capsys, way):
    node = hx.honeycomb.add_node("a quay", [1.0])
    for name in ("canarysession", "kept"):
        hx.honeycomb.access(node, session=name)
    planned = hx.forget(session="canarysession", purge=True, dry_run=True)
    assert ["canarysession", "kept"] == session_names(hx)

    if way == "forget":
        receipts = [hx.forget(session="canarysession", purge=True, confirm=True)]
    elif way == "wipe":
        receipts = list(hx.wipe("session", session="canarysession", confirm=True).receipts)
    else:
        hx.close()
        wipe = ["memory", "wipe", "--scope", "session", "--session", "canarysession", "--yes"]
        assert 0 == main(["-C", str(project), *wipe])
        capsys.readouterr()
        hx = opened()
        receipts = hx.erasures()

    assert [("sessions of the honeycomb", 1)] == [(entry.place, entry.count) for entry in planned.erased]
    assert [("sessions of the honeycomb", 1)] == [(entry.place, entry.count) for entry in receipts[0].erased]
    assert () == receipts[0].pending
    assert ["kept"] == session_names(hx)
    assert (0, 1) == tuple(
        hx.honeycomb.get(node, session=name).access_count_session for name in ("canarysession", "kept")
    )
    assert [] == files_with(hx, "canarysession")
    with pytest.raises(NotFound):
        hx.wipe("session", session="canarysession", confirm=True)


def test_of_a_person_the_sessions_go_that_were_recorded_about_them(hx):
    node = hx.honeycomb.add_node("a quay", [1.0])
    for name, subjects in (("anns", ["ann"]), ("bobs", ["bob"])):
        hx.xdb.start_session(name, data_subjects=subjects)
        hx.xdb.record("input", "Good morning.")
        hx.xdb.end_session()
        hx.honeycomb.access(node, session=name)
    planned = hx.forget(subject="ann", purge=True, dry_run=True)

    receipt = hx.forget(subject="ann", purge=True, confirm=True)

    assert 1 == planned.count("sessions of the honeycomb") == receipt.count("sessions of the honeycomb")
    assert ["bobs"] == session_names(hx)


@pytest.mark.parametrize("more", [{"space": "default"}, {"tag": "x"}, {"before": "2030-01-01"}], ids=str)
def test_a_condition_that_the_graph_does_not_know_keeps_a_selection_out_of_it(hx, more):
    node = hx.honeycomb.add_node("a quay", [1.0])
    hx.remember("Something.", tags=["x"])
    hx.honeycomb.access(node, session="s1")

    receipt = hx.forget(session="s1", purge=True, confirm=True, **more)

    assert () == receipt.erased
    assert ["s1"] == session_names(hx)


def test_what_cannot_be_archived_is_named_as_kept(hx):
    hx.honeycomb.access(hx.honeycomb.add_node("a quay", [1.0]), session="s1")

    receipt = hx.forget(session="s1")

    assert [("sessions of the honeycomb", 1)] == [(entry.place, entry.count) for entry in receipt.kept]
    assert ["s1"] == session_names(hx)


def test_a_wipe_counts_the_sessions_that_it_takes(hx):
    hx.xdb.start_session("s1")
    hx.xdb.record("input", "Good morning.")
    hx.xdb.end_session()
    node = hx.honeycomb.add_node("a quay", [1.0])
    for name in ("s1", "s2"):
        hx.honeycomb.access(node, session=name)
    planned = hx.wipe("project", dry_run=True).counts()

    done = hx.wipe("project", confirm=True).counts()

    assert 2 == planned["sessions of the honeycomb"] == done["sessions of the honeycomb"]
    assert 1 == planned["nodes of the honeycomb"] == done["nodes of the honeycomb"]
    assert [] == session_names(hx)


def test_a_purge_of_a_session_that_was_killed_is_completed_by_the_next_one(hx, opened, project):
    hx.honeycomb.access(hx.honeycomb.add_node("a quay", [1.0]), session="canarysession")
    hx.close()
    # Killed as soon as the erasure is written down: nothing of it is done yet.
    killed = """
import os, signal, sys, hexad
from hexad.privacy.erasure import ErasureService
def carry(self, *args):
    os.kill(os.getpid(), signal.SIGKILL)
ErasureService._carry = carry
hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.forget(session="canarysession", purge=True, confirm=True)
"""
    done = subprocess.run([sys.executable, "-c", killed, str(project)], check=False, timeout=60)
    assert -9 == done.returncode

    hx = opened()
    hx.maintain()

    (receipt,) = hx.erasures()
    assert 1 == receipt.count("sessions of the honeycomb")
    assert [] == files_with(hx, "canarysession")


# Secrets in names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda comb, node, other: comb.insert(node, other, relation=SECRET_NAME),
        lambda comb, node, other: comb.insert_many([(node, other)], relation=SECRET_NAME),
        lambda comb, node, other: comb.access(node, session=SECRET_NAME),
        lambda comb, node, other: comb.start_session(f"password={SECRET_NAME}"),
        lambda comb, node, other: comb.jit_context([1.0], session=SECRET_NAME),
        lambda comb, node, other: comb.get(node, session=SECRET_NAME),
        lambda comb, node, other: comb.check_safety(node, session=SECRET_NAME),
    ],
    ids=["insert", "insert_many", "access", "start_session", "jit_context", "get", "check_safety"],
)
def test_a_name_that_holds_a_secret_is_refused_and_stored_nowhere(hx, call):
    comb = hx.honeycomb
    first, other = comb.add_nodes([("a", [1.0]), ("b", [1.0])])

    with pytest.raises(InvalidInput, match="looks like a secret") as raised:
        call(comb, first, other)

    assert SECRET_NAME not in str(raised.value)
    assert ([], []) == (comb.neighbors(first), session_names(hx))
    assert [] == files_with(hx, SECRET_NAME)


def test_a_kind_of_link_that_holds_a_secret_is_refused_and_stored_nowhere(hx):
    first, other = hx.remember("A quay."), hx.remember("A pier by the sea.")
    kind = "glpat" + "-abcdefghij0123456789"

    with pytest.raises(InvalidInput, match="looks like a secret") as raised:
        hx.link(first.id, other.id, kind=kind)

    assert kind not in str(raised.value)
    assert [] == hx.links(first.id) == files_with(hx, kind)


def test_names_that_are_no_secrets_are_taken_as_they_are(hx):
    comb = hx.honeycomb
    first, other = comb.add_nodes([("a", [1.0]), ("b", [1.0])])

    edge = comb.insert(first, other, relation="answers_4111111111111111")
    comb.access(first, session="4111 1111 1111 1111 jane@mail.org")

    assert "answers_4111111111111111" == edge.relationship_type
    assert ["4111 1111 1111 1111 jane@mail.org"] == session_names(hx)


# What is held, told -------------------------------------------------------------------------------------------------


def test_an_export_of_the_project_tells_all_that_the_graph_holds(hx):
    comb = hx.honeycomb
    memory = hx.remember("A harbour.")
    hx.embed_pending()
    node = comb.add_node("A quay.", [1.0, 0.0], format="int8")
    comb.insert(node, memory.id, relation="lies_in", score=0.5)
    comb.deactivate(node)
    comb.start_session("idle")
    comb.access(node, session="s1")
    comb.access(memory.id, session="s1")

    held = said(hx)

    number = comb.get(memory.id).id
    told = {honeycomb_node["id"]: honeycomb_node for honeycomb_node in held["honeycomb_nodes"]}
    assert {node, number} == set(told)
    assert ("A quay.", None, False, 2, "int8") == tuple(
        told[node][name] for name in ("text", "memory_id", "active", "dimensions", "format")
    )
    assert (None, memory.id, True) == tuple(told[number][name] for name in ("text", "memory_id", "active"))
    assert [
        {
            "from": node, "to": number, "to_memory": memory.id, "ring": 0, "score": 0.5, "relation": "lies_in",
            "auto": False, "created_at": "2026-01-01T00:00:00Z", "renewed_at": "2026-01-01T00:00:00Z",
        }
    ] == told[node]["edges"]  # fmt: skip
    assert [1, 1] == [told[item]["looks"] for item in (node, number)]
    assert [("idle", []), ("s1", sorted([node, number]))] == [
        (honeycomb_session["session"], [look["node"] for look in honeycomb_session["looks"]])
        for honeycomb_session in held["honeycomb_sessions"]
    ]
    assert "2026-01-01T00:00:00Z" == held["honeycomb_sessions"][1]["looks"][0]["last_at"]
    assert "embedding" in held["export"]["left_out"]["indexes"]


def test_an_export_of_a_session_tells_what_of_the_graph_is_of_it(hx):
    comb = hx.honeycomb
    turn = hx.remember("Said by the harbour.", metadata={"conversation_session": "s1"})
    other = hx.remember("Said elsewhere.", metadata={"conversation_session": "s2"})
    hx.embed_pending()
    node = comb.add_node("A quay.", [1.0])
    comb.insert(turn.id, node, relation="seen_from", score=0.5)
    comb.insert(node, turn.id, relation="heard_at", score=0.5)
    comb.insert(node, other.id, relation="elsewhere", score=0.5)
    comb.access(turn.id, session="s1")
    comb.access(turn.id, session="s2")

    held = said(hx, "session", session="s1")

    assert [turn.id] == [honeycomb_node["memory_id"] for honeycomb_node in held["honeycomb_nodes"]]
    relations = {edge["relation"] for edge in held["honeycomb_nodes"][0]["edges"] if not edge["auto"]}
    assert {"seen_from", "heard_at"} == relations
    assert ["s1"] == [honeycomb_session["session"] for honeycomb_session in held["honeycomb_sessions"]]
    assert "s2" not in json.dumps(held)


def test_an_export_of_a_person_tells_what_of_the_graph_is_of_them(hx):
    comb = hx.honeycomb
    mine = hx.remember("Ann leads the release.", data_subjects=["ann"])
    hx.remember("Bob bakes bread.", data_subjects=["bob"])
    hx.embed_pending()
    for name, subjects in (("anns", ["ann"]), ("bobs", ["bob"])):
        hx.xdb.start_session(name, data_subjects=subjects)
        hx.xdb.end_session()
        comb.access(mine.id, session=name)

    held = said(hx, subject="ann")

    assert [mine.id] == [honeycomb_node["memory_id"] for honeycomb_node in held["honeycomb_nodes"]]
    assert ["anns"] == [honeycomb_session["session"] for honeycomb_session in held["honeycomb_sessions"]]


def test_a_session_that_only_the_graph_knows_can_be_exported(hx):
    comb = hx.honeycomb
    comb.access(comb.add_node("A quay.", [1.0]), session="s1")

    held = said(hx, "session", session="s1")

    assert ["s1"] == [honeycomb_session["session"] for honeycomb_session in held["honeycomb_sessions"]]
    assert [] == held["honeycomb_nodes"] == held["memories"]
    with pytest.raises(NotFound):
        hx.export("session", session="s2")


# Roles --------------------------------------------------------------------------------------------------------------


def ends(edges) -> list[int]:
    return [edge.target_id for edge in edges]


def test_what_is_hidden_takes_no_seat_in_the_rings_that_a_role_sees(hx, opened):
    comb = hx.honeycomb
    hub = hx.remember("The hub.", path="hub")
    hidden = [hx.remember(f"Hidden {at}.", space="board", path=f"h/{at}") for at in range(8)]
    shown = [hx.remember(f"Shown {at}.", space=f"open{at}", path=f"s/{at}") for at in range(8)]
    hx.spaces.set_policy("board", {"roles": ["lead"]})
    hx.embed_pending()
    for at, item in enumerate(hidden):
        comb.insert(hub.id, item.id, score=0.9 + at / 100)
    for at, item in enumerate(shown):
        comb.insert(hub.id, item.id, score=0.5 + at / 100)
    numbers = [comb.get(item.id).id for item in shown]
    dev = opened(role="dev").honeycomb

    found = dev.get(hub.id)

    assert numbers[:1:-1] == ends(dev.neighbors(hub.id)) == ends(found.neighbors)
    assert [0] * 6 == [edge.ring for edge in found.neighbors]
    assert [numbers[1::-1]] == [ends(ring) for ring in found.fractal_layer]
    assert [(1, numbers[1]), (1, numbers[0])] == [
        (edge.ring, edge.target_id) for edge in dev.overflow(hub.id)
    ]
    walked = dev.jit_context(start=hub.id, threshold=0, overflow=False)
    assert ["The hub.", *(f"Shown {at}." for at in range(7, 1, -1))] == [
        piece.text for piece in walked.pieces
    ]
    assert {0} == {piece.via.ring for piece in walked.pieces[1:]}
    deep = dev.jit_context(start=hub.id, threshold=0)
    assert 9 == len(deep.pieces)
    # The owner's stay as they are.
    assert [comb.get(item.id).id for item in hidden[:1:-1]] == ends(comb.neighbors(hub.id))


def test_what_a_role_sees_of_a_ring_is_the_same_without_what_is_hidden(opened, tmp_path):
    told = []
    for name, hidden in (("with", 8), ("without", 0)):
        folder = tmp_path / name
        folder.mkdir()
        hx = opened(folder)
        comb = hx.honeycomb
        hub = hx.remember("The hub.", path="hub", id="hub")
        shown = [
            hx.remember(f"Shown {at}.", space=f"open{at}", path=f"s/{at}", id=f"s{at}") for at in range(14)
        ]
        scores = [0.5, 0.9, 0.2, 0.7, 0.7, 0.1, 0.6, 0.3, 0.8, 0.4, 0.55, 0.65, 0.15, 0.25]
        more = [hx.remember(f"Hidden {at}.", space="board", path=f"h/{at}") for at in range(hidden)]
        if hidden:
            hx.spaces.set_policy("board", {"roles": ["lead"]})
        hx.embed_pending()
        for at, (item, score) in enumerate(zip(shown, scores, strict=True)):
            comb.insert(hub.id, item.id, score=score)
            if at < len(more):
                comb.insert(hub.id, more[at].id, score=0.45 + at / 20)
        dev = opened(folder, role="dev").honeycomb
        told.append(
            (
                dev.get(hub.id),
                [edge.to_dict() for edge in (*dev.neighbors(hub.id), *dev.overflow(hub.id))],
                dev.jit_context(start=hub.id, threshold=0.3).to_dict() | {"thresholds": None},
                dev.insert(hub.id, shown[5].id, score=0.12).to_dict(),
                dev.insert(hub.id, shown[5].id, score=0.95).to_dict(),
            )
        )

    with_hidden, without = told
    assert without[1:] == with_hidden[1:]
    assert without[0].neighbors == with_hidden[0].neighbors
    assert without[0].fractal_layer == with_hidden[0].fractal_layer
    assert (2, 0) == (without[3]["ring"], without[4]["ring"])


def test_association_of_a_role_goes_by_the_neighbours_that_it_sees(opened, tmp_path):
    scored = []
    for name in ("with", "without"):
        folder = tmp_path / name
        folder.mkdir()
        hx = opened(folder)
        hub = hx.remember("The hub of the harbour.", path="hub", id="hub")
        shown = [
            hx.remember(f"Shown harbour {at}.", space=f"open{at}", path=f"s/{at}", id=f"shown{at}")
            for at in range(3)
        ]
        hidden = [hx.remember(f"Concealed {at}.", space="board", path=f"h/{at}") for at in range(8)]
        hx.spaces.set_policy("board", {"roles": ["lead"]})
        hx.embed_pending()
        for item in shown:
            hx.honeycomb.insert(hub.id, item.id, score=0.5)
        if name == "with":
            for item in hidden:
                hx.honeycomb.insert(hub.id, item.id, score=0.9)
        dev = opened(folder, role="dev")
        scored.append([(hit.id, hit.score) for hit in dev.recall("harbour", association=1.0)])

    assert scored[0] == scored[1]
    assert {"hub", "shown0"} <= {name for name, _ in scored[0]}


def test_the_threshold_of_a_role_is_measured_on_what_it_may_see(hx, opened):
    for at in range(20):
        hx.remember(f"Alike alike alike {at % 2}", space="board", path=f"s/{at}", id=f"h{at}")
    for at in range(12):
        hx.remember(f"word{at} thing{at * 7} matter{at * 13}", path=f"p/{at}")
    hx.spaces.set_policy("board", {"roles": ["lead"]})
    hx.embed_pending()
    dev, lead = opened(role="dev").honeycomb, opened(role="lead").honeycomb

    def threshold(comb) -> float:
        return comb.jit_context("word1", walk="breadth", scope="memories").thresholds["memories"]

    before = threshold(dev)
    assert threshold(hx.honeycomb) == threshold(lead) != before
    for at in range(20):
        hx.forget(f"h{at}", purge=True, confirm=True)
    assert before == threshold(dev) == threshold(hx.honeycomb)


def test_nine_of_ten_pairs_are_less_related_than_the_threshold(hx, clock):
    comb = hx.honeycomb
    memories = []
    for at in range(30):
        memories.append(hx.remember(f"word{at % 7} thing{at * 7 % 5} matter{at * 13}", path=f"p/{at}"))
        clock.advance(hours=at % 5)
    hx.embed_pending()
    nodes = [comb.get(memory.id).vector_embedding for memory in memories]

    (threshold,) = comb.jit_context("word1", scope="memories").thresholds.values()

    scores = sorted(
        hexad.calculate_relevance(
            nodes[number], nodes[other], memories[other].created_at, memories[number].created_at
        )
        for number in range(30)
        for other in range(number)
    )
    assert round(scores[int(0.9 * (len(scores) - 1))], 4) == threshold
    assert 0 < threshold < 1


def test_the_threshold_of_a_role_follows_what_is_shown_and_hidden(hx, opened):
    for at in range(20):
        hx.remember(f"Alike alike alike {at % 2}", space="board", path=f"s/{at}")
    for at in range(12):
        hx.remember(f"word{at} thing{at * 7} matter{at * 13}", path=f"p/{at}")
    hx.embed_pending()
    dev = opened(role="dev").honeycomb

    def threshold() -> float:
        return dev.jit_context("word1", walk="breadth", scope="memories").thresholds["memories"]

    open_to_all = threshold()
    hx.spaces.set_policy("board", {"roles": ["lead"]})
    hidden = threshold()
    hx.spaces.set_policy("board", {"roles": None})

    assert hidden != open_to_all == threshold()


def test_what_is_for_good_is_the_owners_and_what_comes_back_is_anybodys(hx, opened):
    comb = hx.honeycomb
    node, other = comb.add_nodes([("a quay", [1.0]), ("a pier", [1.0])])
    dev = opened(role="dev").honeycomb

    with pytest.raises(AccessDenied, match=r"role dev.*`deactivate`"):
        dev.remove(node)
    assert "a quay" == comb.get(node).data
    dev.deactivate(node)
    assert not comb.get(node).is_active
    dev.activate(node)
    added = dev.add_node("a mole", [1.0])
    dev.insert(added, other)
    with pytest.raises(AccessDenied):
        dev.remove(added)
    with pytest.raises(NotFound):
        dev.remove(added + 1)
    opened(role="owner").honeycomb.remove(node)

    with pytest.raises(NotFound):
        comb.get(node)
    assert "a mole" == comb.get(added).data
    assert "a pier" == dev.get(other).data


def test_a_role_forgets_no_session_of_the_graph(hx, opened):
    hx.honeycomb.access(hx.honeycomb.add_node("a quay", [1.0]), session="s1")
    dev = opened(role="dev")

    with pytest.raises(AccessDenied, match="sessions of the honeycomb"):
        dev.forget(session="s1", purge=True, confirm=True)

    assert ["s1"] == session_names(hx)
