"""What an agent does with the tools of `hexad mcp`, through the SDK's own client."""

from __future__ import annotations

import json

import pytest
from mcp import types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

import hexad
from hexad.interfaces.mcp import schemas
from hexad.interfaces.mcp.server import build_server
from hexad.text.tokens import CharacterCounter
from mcp_clients import ERAS, answer, failure, in_process, text_of


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.row("L173")
@pytest.mark.parametrize("era", ERAS)
def test_what_one_call_stores_another_recalls(project, era):
    async def talk(client: Client):
        assert client.protocol_version == era
        (stored,) = (await answer(client, "remember", text="Deploys happen on Tuesday."))["memories"]
        hits = (await answer(client, "recall", query="when do we deploy?"))["hits"]
        return stored, hits

    stored, hits = in_process(talk, project, era=era)

    assert stored["outcome"] == "created"
    assert [(stored["id"], "Deploys happen on Tuesday.")] == [(hit["id"], hit["text"]) for hit in hits]
    with hexad.open(project) as hx:
        assert "agent" == hx.get(stored["id"]).trust.value


def test_an_answer_is_structured_and_the_same_as_text(project):
    async def talk(client: Client):
        await answer(client, "remember", text="Deploys happen on Tuesday.")
        return await client.call_tool("recall", {"query": "deploys"})

    result = in_process(talk, project)

    assert result.structured_content == json.loads(text_of(result))


def test_a_hit_is_told_without_what_led_to_it_unless_that_is_asked_for(project):
    async def talk(client: Client):
        await answer(client, "remember", text="Deploys happen on Tuesday.")
        plain = await answer(client, "recall", query="when do we deploy?")
        return plain, await answer(client, "recall", query="when do we deploy?", explain=True)

    plain, explained = in_process(talk, project)

    assert {"id", "relevance", "text", "space", "location", "kind", "layer", "time"} == set(plain["hits"][0])
    assert "explanation" not in plain
    assert {"score", "parts", "why"} <= set(explained["hits"][0])
    assert explained["explanation"]["terms"]


def test_a_conversation_is_stored_turn_by_turn_with_its_facts(project):
    async def talk(client: Client):
        return await answer(
            client,
            "remember",
            text=[
                {"role": "user", "content": "We decided to use Postgres for the shop."},
                {"role": "assistant", "content": "Noted."},
            ],
            conversation="chat-1",
        )

    memories = in_process(talk, project)["memories"]

    assert 2 <= len(memories)
    assert {"user", "assistant"} <= {memory.get("speaker") for memory in memories}


def test_a_context_is_one_text_within_its_tokens(project):
    async def talk(client: Client):
        await answer(client, "remember", text="Deploys happen on Tuesday.", kind="convention")
        result = await client.call_tool("context", {"task": "plan the deploy", "max_tokens": 500})
        return result.structured_content, text_of(result)

    told, text = in_process(talk, project)

    assert told["text"] == text
    assert "Deploys happen on Tuesday." in text
    assert 0 < told["tokens"] <= 500
    assert "late" not in told


def test_expand_gives_the_whole_of_what_recall_showed_in_part(project):
    long = "Deploys happen on Tuesday. " + "The rest is about something else entirely. " * 200

    async def talk(client: Client):
        await answer(client, "remember", text=long)
        (hit,) = (await answer(client, "recall", query="deploys on Tuesday", limit=1))["hits"]
        whole = await answer(client, "expand", id=hit["id"])
        cut = await answer(client, "expand", id=hit["id"], max_tokens=20)
        return hit, whole, cut

    hit, whole, cut = in_process(talk, project)

    assert len(hit["text"]) < len(long)
    assert long.strip() == whole["text"]
    assert len(cut["text"]) <= 80


def test_forget_archives_one_memory_or_all_that_is_selected(project):
    async def talk(client: Client):
        (first,) = (await answer(client, "remember", text="The tea is cold.", tags=["tea"]))["memories"]
        await answer(client, "remember", text="The cake is old.", tags=["cake"])
        archived = (await answer(client, "forget", id_or_path=first["id"]))["archived"]
        planned = (await answer(client, "forget", tag="cake", dry_run=True))["receipt"]
        left = (await answer(client, "recall", query="the cake", min_relevance=0))["hits"]
        await answer(client, "forget", tag="cake")
        gone = (await answer(client, "recall", query="the cake", min_relevance=0))["hits"]
        return first, archived, planned, left, gone

    first, archived, planned, left, gone = in_process(talk, project)

    assert (first["id"], "archived") == (archived["id"], archived["status"])
    assert planned["dry_run"] and [{"place": "memories", "count": 1}] == [
        {name: entry[name] for name in ("place", "count")} for entry in planned["erased"]
    ]
    assert (["The cake is old."], []) == ([hit["text"] for hit in left], gone)


def test_a_purge_needs_a_policy_that_allows_it(project):
    async def talk(client: Client):
        (memory,) = (await answer(client, "remember", text="The tea is cold."))["memories"]
        refused = await failure(client, "forget", id_or_path=memory["id"], purge=True)
        with hexad.open(project) as hx:
            hx.spaces.set_policy("default", {"allow_delete": True})
        receipt = (await answer(client, "forget", id_or_path=memory["id"], purge=True))["receipt"]
        return refused, receipt

    refused, receipt = in_process(talk, project)

    assert "allow_delete" in refused
    assert receipt["purge"]


def test_a_refused_purge_says_who_may_confirm_it(project):
    async def talk(client: Client):
        (memory,) = (await answer(client, "remember", text="The tea is cold."))["memories"]
        return await failure(client, "forget", id_or_path=memory["id"], purge=True)

    refused = in_process(talk, project)

    assert (
        "Set allow_delete to true or confirm the purge (its owner does, with `hexad forget --purge`)"
        in refused
    )
    assert "confirm=True" not in refused


@pytest.mark.parametrize(
    ("tool", "arguments", "remedy"),
    [
        ("recall", {"query": " "}, "hexad://space/NAME"),
        ("recall", {"query": "tea", "space": "none"}, "hexad://space/NAME"),
        ("forget", {"id_or_path": "mem_ABCDEFGH"}, "no id ends so. recall gives"),
    ],
)
def test_a_refusal_names_what_a_client_can_do_and_no_command(project, tool, arguments, remedy):
    with hexad.open(project, embedder=None) as hx:
        hx.remember("Deploys happen on Tuesday.")

    async def talk(client: Client):
        return await failure(client, tool, **arguments)

    message = in_process(talk, project)

    assert remedy in message
    assert "hexad memory" not in message
    assert "hexad spaces" not in message


def test_a_decision_is_told_with_its_reason_to_whoever_asks_why(project):
    async def talk(client: Client):
        old = await answer(client, "decide", title="Use MySQL", rationale="It was there.")
        new = await answer(
            client,
            "decide",
            title="Use Postgres",
            rationale="Row-level security.",
            alternatives=["MySQL"],
            supersedes=old["id"],
        )
        return new, (await answer(client, "why", topic="postgres"))["decisions"]

    new, (told,) = in_process(talk, project)

    assert (new["id"], "Row-level security.") == (told["id"], told["rationale"])
    assert ["Use MySQL"] == [old["title"] for old in told["before"]]
    assert told["framing"].startswith("Prior context, not law")


def test_a_decision_of_an_agent_is_not_told_as_the_owners(project):
    async def talk(client: Client):
        decision = await answer(client, "decide", title="Use Postgres")
        await answer(client, "decide", title="Use Redis", trust="user")
        await answer(client, "decide", title="Use Kafka", by="ada")
        told = [
            (await answer(client, "why", topic=topic))["decisions"][0]
            for topic in ("postgres", "redis", "kafka")
        ]
        return decision, told, (await answer(client, "context", task="postgres"))["text"]

    decision, told, context = in_process(talk, project)

    assert ("agent", "agent") == (decision["created_by"], decision["trust"])
    assert ["agent", "owner", "ada"] == [one["created_by"] for one in told]
    assert "decided today by agent." in told[0]["framing"]
    assert "decided today by agent." in context
    assert "Use Postgres" in context


def test_a_session_is_gone_on_with_after_a_restart(project):
    async def first(client: Client):
        await answer(client, "session", action="start", task="Move the shop", steps=["dump", "load"])
        await answer(client, "session", action="done", step="dump")
        await answer(client, "session", action="edit", path="shop.py", line=3, summary="a pool")
        await answer(client, "session", action="turn", role="user", text="Keep the old one running.")
        return (await answer(client, "session", action="note", text="Ask about the index."))["session"]

    async def second(client: Client):
        left = await answer(client, "session")
        await answer(client, "session", action="resume")
        ended = (await answer(client, "session", action="end", outcome="moved"))["session"]
        return left, ended, await answer(client, "session"), await answer(client, "session", action="list")

    begun = in_process(first, project)
    left, ended, after, listed = in_process(second, project)

    assert begun["id"] == left["session"]["id"] == ended["id"]
    assert "Move the shop" in left["question"]
    assert [True, False] == [step["done"] for step in left["session"]["substeps"]]
    assert (None, "moved") == (after["session"], listed["sessions"][0]["outcome"])


def test_sessions_of_several_agents_do_not_mix(project):
    """Over HTTP many agents share a server: whoever names a session changes that one, whatever was started last."""

    async def talk(client: Client):
        for name in ("ann", "bob"):
            await answer(client, "session", action="start", session_id=name, task=f"work of {name}")
        return (await answer(client, "session", action="note", session_id="ann", text="a note"))["session"]

    changed = in_process(talk, project)

    assert ("ann", "work of ann") == (changed["id"], changed["task"])
    assert ["a note"] == [note["text"] for note in changed["scratchpad"]]


# How it is told -------------------------------------------------------------------------------------------------------


def test_the_list_of_tools_costs_an_agent_less_than_2500_tokens(project):
    async def talk(client: Client):
        return await client.list_tools()

    listed = in_process(talk, project)
    text = json.dumps(listed.model_dump(mode="json", by_alias=True, exclude_none=True), separators=(",", ":"))

    assert ["remember", "recall", "context", "expand", "forget", "decide", "why", "session", "graph"] == [
        tool.name for tool in listed.tools
    ]
    assert CharacterCounter().count(text) < 2_500


def test_only_what_changes_the_store_is_said_to():
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in anyio_tools()
    }

    assert {
        "remember": (False, False),
        "recall": (True, None),
        "context": (True, None),
        "expand": (True, None),
        "forget": (False, True),
        "decide": (False, False),
        "why": (True, None),
        "session": (False, False),
        "graph": (False, False),
    } == hints


def anyio_tools():
    from hexad.interfaces.mcp.server import _listed

    return [_listed(tool) for tool in schemas.TOOLS]


def test_every_answer_fits_the_schema_that_is_told(project):
    """The SDK's client holds each structured answer against it and raises."""

    async def talk(client: Client):
        await client.list_tools()
        await answer(client, "remember", text="Deploys happen on Tuesday.")
        await answer(client, "recall", query="deploys", explain=True, follow_links=True)
        await answer(client, "context", task="deploys")
        await answer(client, "decide", title="Use Postgres")
        await answer(client, "why", topic="postgres")
        await answer(client, "session")

    in_process(talk, project)


# What goes wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("recall", {"qurey": "deploys"}, ["'qurey'", "Did you mean 'query'?"]),
        ("recall", {}, ["'query'", "give it"]),
        ("recall", {"query": 7}, ["query", "string", "7"]),
        ("recall", {"query": "deploys", "limit": "ten"}, ["limit", "whole number", "'ten'"]),
        ("recall", {"query": "deploys", "limit": 0}, ["limit", "0"]),
        ("recall", {"query": "deploys", "limit": True}, ["limit", "True"]),
        ("recall", {"query": "deploys", "explain": "yes"}, ["explain", "true or false"]),
        ("recall", {"query": "deploys", "since": "yesterday"}, ["yesterday", "ISO 8601"]),
        ("recall", {"query": "deploys", "space": "none"}, ["none"]),
        ("recall", {"query": "deploys", "layers": ["attic"]}, ["layers", "attic"]),
        ("recall", {"query": "   "}, ["query", "question", "empty"]),
        ("remember", {"text": ""}, ["text"]),
        ("remember", {"text": "a" * (1 << 20) + "b"}, ["1,048,577", "hexad ingest"]),
        ("remember", {"text": "tea", "trust": "boss"}, ["trust", "boss", "user, agent"]),
        ("remember", {"text": "tea", "importance": 7}, ["importance", "7"]),
        ("remember", {"text": ["tea"]}, ["message"]),
        ("remember", {"text": "tea", "space": "../up"}, ["../up"]),
        ("context", {"task": "tea", "max_tokens": -1}, ["max_tokens", "-1"]),
        ("context", {"task": "tea", "format": "xml"}, ["format", "xml"]),
        ("expand", {"id": "mem_nothing"}, ["mem_nothing"]),
        ("forget", {}, ["id_or_path"]),
        ("forget", {"id": "mem_nothing"}, ["Did you mean 'id_or_path'?"]),
        ("forget", {"tag": "nothing"}, ["Nothing is selected", "recall"]),
        ("expand", {"id_or_path": "mem_nothing"}, ["Did you mean 'id'?"]),
        ("forget", {"id_or_path": "mem_nothing"}, ["mem_nothing", "recall"]),
        ("decide", {"title": ""}, ["title"]),
        ("decide", {"title": "Tea", "supersedes": "dec_nothing"}, ["dec_nothing"]),
        ("why", {"topic": "tea", "limit": 0}, ["limit", "0"]),
        ("session", {"action": "dance"}, ["action", "dance", "show"]),
        ("session", {"action": "turn", "text": "tea"}, ["role"]),
        ("session", {"action": "resume"}, ["session with action=list"]),
        ("session", {"action": "done", "step": 9}, ["9"]),
        ("session", {"session_id": "nobody"}, ["nobody"]),
    ],
)
def test_what_cannot_be_used_is_named_with_what_to_give_instead(project, tool, arguments, words):
    with hexad.open(project, embedder=None) as hx:
        hx.remember("Deploys happen on Tuesday.")

    async def talk(client: Client):
        return await failure(client, tool, **arguments)

    message = in_process(talk, project)

    for word in words:
        assert word in message
    with hexad.open(project, embedder=None) as hx:
        assert (1, []) == (hx.count(), hx.erasures())


MEANT = [
    ("remember", "messages", "text"),
    ("remember", "content", "text"),
    ("remember", "thread_id", "conversation"),
    ("remember", "user_id", "data_subjects"),
    ("remember", "tag", "tags"),
    ("remember", "category", "kind"),
    ("remember", "references", "cites"),
    ("recall", "question", "query"),
    ("recall", "k", "limit"),
    ("recall", "top_k", "limit"),
    ("recall", "kind", "kinds"),
    ("recall", "after", "since"),
    ("recall", "namespace", "space"),
    ("context", "query", "task"),
    ("context", "budget", "max_tokens"),
    ("expand", "memory_id", "id"),
    ("forget", "memory_id", "id_or_path"),
    ("forget", "user", "subject"),
    ("forget", "tags", "tag"),
    ("decide", "decision", "title"),
    ("decide", "reason", "rationale"),
    ("decide", "instead_of", "alternatives"),
    ("why", "query", "topic"),
    ("why", "file", "topic"),
    ("session", "id", "session_id"),
    ("session", "command", "action"),
    ("session", "plan", "steps"),
    ("graph", "symbol", "target"),
    ("graph", "file", "target"),
    ("graph", "query", "question"),
    ("recall", "colour", None),
    ("remember", "", None),
]


def test_a_name_that_no_argument_has_is_told_the_one_that_was_meant(project):
    async def talk(client: Client):
        return [await failure(client, tool, **{name: "tea"}) for tool, name, _ in MEANT]

    for (tool, name, meant), message in zip(MEANT, in_process(talk, project), strict=True):
        assert f"{tool} has no argument {name!r}." in message
        assert (meant is not None) == ("Did you mean" in message), message
        assert meant is None or f"Did you mean {meant!r}?" in message
        assert "It takes " in message


def test_a_value_of_a_wrong_type_is_told_with_the_type_that_is_wanted(project):
    wrong = {"string": 7, "integer": "x", "number": "x", "boolean": "x", "array": 7, "object": 7}

    async def talk(client: Client):
        return [
            (name, await failure(client, tool.name, **{name: wrong[kind]}))
            for tool in schemas.TOOLS
            for name, schema in tool.properties.items()
            if isinstance(kind := schema.get("type"), str)
        ]

    for name, message in in_process(talk, project):
        assert message.startswith(f"{name} must be "), message


def test_null_is_an_argument_that_was_not_given(project):
    async def talk(client: Client):
        await answer(client, "remember", text="Deploys happen on Tuesday.", kind=None, tags=None)
        return await answer(client, "recall", query="deploys", limit=None, space=None)

    assert 1 == len(in_process(talk, project)["hits"])


def test_without_a_store_reading_says_so_and_writing_makes_one(project):
    async def talk(client: Client):
        refused = await failure(client, "recall", query="deploys")
        there = (project / ".hexad").exists()
        await answer(client, "remember", text="Deploys happen on Tuesday.")
        return refused, there

    refused, there = in_process(talk, project)

    assert "There is no store in" in refused and not there
    assert (project / ".hexad").is_dir()


def test_an_unknown_tool_is_an_error_of_the_protocol(project):
    async def talk(client: Client):
        with pytest.raises(MCPError) as caught:
            await client.call_tool("erase", {})
        return caught.value

    error = in_process(talk, project)

    assert types.INVALID_PARAMS == error.code
    assert "'erase'" in error.message and "forget" in error.message


def test_a_crash_in_a_call_is_a_sentence_and_the_server_goes_on(project, caplog):
    class Broken:
        instructions = ""
        tools = schemas.TOOLS
        templates = prompts = ()

        def call(self, name, arguments, progress):
            raise ZeroDivisionError("nothing to share")

    import anyio

    async def talk():
        async with Client(build_server(Broken()), mode="legacy") as client:
            return [await failure(client, "recall", query="tea") for _ in range(2)]

    messages = anyio.run(talk)

    assert all("ZeroDivisionError: nothing to share" in message for message in messages)
    assert "Traceback" in caplog.text


# Whom and where -------------------------------------------------------------------------------------------------------


def test_a_role_sees_what_the_policies_show_to_it(project):
    with hexad.open(project, embedder=None) as hx:
        hx.remember("The salary of Ann is a secret of the board.", space="board")
        hx.spaces.set_policy("board", {"visibility": [{"paths": ["**"], "roles": ["board"]}]})

    async def talk(client: Client):
        return (await answer(client, "recall", query="salary of Ann", min_relevance=0))["hits"]

    assert 1 == len(in_process(talk, project, role="board"))
    assert [] == in_process(talk, project, role="guest")


def test_calls_that_name_no_space_are_of_the_server_s(project):
    async def talk(client: Client):
        (here,) = (await answer(client, "remember", text="The tea is cold."))["memories"]
        (there,) = (await answer(client, "remember", text="The cake is old.", space="other"))["memories"]
        hits = (await answer(client, "recall", query="the cake", min_relevance=0))["hits"]
        named = (await answer(client, "recall", query="the cake", space="other"))["hits"]
        return (
            here["space"],
            there["space"],
            [hit["id"] for hit in hits],
            [hit["id"] for hit in named],
            there["id"],
        )

    here, there, hits, named, id_ = in_process(talk, project, space="shop")

    assert ("shop", "other") == (here, there)
    assert id_ not in hits
    assert [id_] == named


def test_a_fact_of_the_project_is_stored_superseded_and_read_with_the_tools_there_are(project):
    fact = {"space": "project", "kind": "tech-stack", "subject": project.name, "attribute": "database"}

    async def talk(client: Client):
        await answer(client, "remember", text="The database is MySQL.", value="MySQL", **fact)
        await answer(client, "remember", text="The database is SQLite.", value="SQLite", **fact)
        hits = await answer(client, "recall", query="database", kinds=["tech-stack"])
        return hits["hits"], (await answer(client, "context", task="which database is used?"))["text"]

    hits, context = in_process(talk, project)

    assert ["The database is SQLite."] == [hit["text"] for hit in hits]
    assert "The database is SQLite." in context
    with hexad.open(project) as hx:
        assert {"database": "SQLite"} == {
            key: fact.value for key, fact in hx.project.get_tech_stack().items()
        }
