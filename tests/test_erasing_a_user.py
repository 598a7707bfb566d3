"""One call erases a user wherever an agent keeps something of theirs, and its receipt says what it took."""

from __future__ import annotations

import pytest

import hexad
from hexad import Hexad, NotFound
from hexad.agent_state.checkpoints import CheckpointKey, Checkpoints, StoredCheckpoint


def kept(hx: Hexad, thread: str, *, user: object) -> None:
    metadata = '{"step": 1}' if user is None else f'{{"step": 1, "user_id": {user}}}'
    Checkpoints(hx._services.db).put(
        StoredCheckpoint(
            key=CheckpointKey(thread=thread, id="1"), encoding="msgpack", head=b"state", metadata=metadata
        )
    )


def threads(hx: Hexad) -> list[str]:
    return sorted(key.thread for key, _ in Checkpoints(hx._services.db).find())


def test_threads_whose_runs_name_a_user_go_with_the_user(hx: Hexad) -> None:
    kept(hx, "monday", user='"ada"')
    kept(hx, "tuesday", user='"bob"')
    kept(hx, "seven", user=7)
    kept(hx, "nobody", user=None)

    sections = {item.section for item in hx.export(subject="ada")}
    assert "checkpoints" in sections
    assert 1 == hx.forget(subject="ada", purge=True, dry_run=True).count("checkpoints")
    assert 1 == hx.forget(subject="ada", purge=True, confirm=True).count("checkpoints")
    assert ["nobody", "seven", "tuesday"] == threads(hx)
    hx.forget(subject="7", purge=True, confirm=True)
    assert ["nobody", "tuesday"] == threads(hx)
    with pytest.raises(NotFound, match="bob"):
        hx.forget(subject="Bob", purge=True, confirm=True)


def test_what_stays_in_a_space_that_is_called_as_the_person_is_told(hx: Hexad) -> None:
    memory = hexad.AgentMemory(hx, user="ada")
    memory.after_step([{"role": "user", "content": "I am allergic to peanuts."}])
    hx.spaces.create("bob")
    left = hx.remember("The valve leaks.", space="ada")
    hx.remember("The pump is loud.", space="bob")

    receipt = hx.forget(subject="ada", purge=True, confirm=True)

    assert [left.id] == [told.memory_id for told in receipt.mentions if told.memory_id]
    assert ["The valve leaks."] == [memory.raw for memory in hx.memories(space="ada")]


def test_one_call_takes_a_user_from_every_place_where_an_agent_keeps_something(hx: Hexad) -> None:
    pytest.importorskip("langgraph", reason="the extra `langgraph` is not installed")
    from langgraph.graph import START, MessagesState, StateGraph

    from hexad.integrations.langchain import HexadChatMessageHistory
    from hexad.integrations.langgraph import HexadCheckpointer, HexadStore

    store = HexadStore(hx, space="items", user_at=1)
    graph = (
        StateGraph(MessagesState)
        .add_node("answer", lambda state: {"messages": [("ai", "Noted.")]})
        .add_edge(START, "answer")
        .compile(checkpointer=HexadCheckpointer(hx), store=store)
    )
    for user in ("ada", "bob"):
        said = [{"role": "user", "content": f"I am {user}, and my valve leaks."}]
        hexad.AgentMemory(hx, user=user).after_step(said)
        HexadChatMessageHistory(hx, f"chat-{user}", user=user).add_user_message(f"{user} is here.")
        store.put(("users", user), "diet", {"text": "Eats no peanuts."})
        graph.invoke(
            {"messages": [("user", "hi")]}, {"configurable": {"thread_id": f"t-{user}", "user_id": user}}
        )
        hx.xdb.start_session(f"stream-{user}", data_subjects=[user])
        hx.xdb.record("input", f"Tokens of {user}.")

    receipt = hx.forget(subject="ada", purge=True, confirm=True)

    assert (receipt.count("checkpoints"), receipt.pending) == (3, ())
    assert receipt.count("memories") >= 4
    assert {"spaces", "sources", "tombstones"} == {told.place for told in receipt.mentions}, (
        "the name of the space"
    )
    assert ["I am bob, and my valve leaks.", "bob is here."] == sorted(
        memory.raw for memory in hx.memories() if memory.kind == "turn"
    )
    assert ["stream-bob"] == [session.id for session in hx.xdb.sessions()]
    assert "Eats no peanuts." == store.get(("users", "bob"), "diet").value["text"]
    assert store.get(("users", "ada"), "diet") is None
    assert ["t-bob"] == sorted({key.thread for key, _ in Checkpoints(hx._services.db).find()})


def test_the_name_of_a_space_on_tombstones_is_told_once(hx: Hexad) -> None:
    memory = hexad.AgentMemory(hx, user="ada")
    for number in range(5):
        memory.after_step([{"role": "user", "content": f"Valve {number} leaks."}], added=True)

    receipt = hx.forget(subject="ada", purge=True, confirm=True)

    assert receipt.count("memories") >= 5
    assert 1 == [told.place for told in receipt.mentions].count("tombstones")
