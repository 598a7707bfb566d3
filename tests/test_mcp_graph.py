"""`hexad mcp graph`: the reference memory server's tools, and its file both ways."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp.client.client import Client

import hexad
from hexad.interfaces.mcp.graph_offer import GRAPH_URI, GraphOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import build_server
from mcp_clients import Server, answer, calling, failure, text_of

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "Ann and Bob are friends"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["likes tea", "Ann and Bob are friends"]}
SHOP = {"name": "Shop", "entityType": "project", "observations": []}
FRIENDS = {"from": "Ann", "to": "Bob", "relationType": "is_friend_of"}
OWNS = {"from": "Bob", "to": "Shop", "relationType": "owns"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def talking(talk, path):
    store = OpenStore(path=str(path))

    async def main():
        async with Client(build_server(GraphOffer(store)), mode="legacy") as client:
            return await talk(client)

    try:
        return anyio.run(main)
    finally:
        store.close()


async def fill(client: Client) -> None:
    await answer(client, "create_entities", entities=[ANN, BOB, SHOP])
    await answer(client, "create_relations", relations=[FRIENDS, OWNS])


def test_the_tools_are_the_nine_of_the_reference_server(project):
    async def talk(client: Client):
        return (await client.list_tools()).tools, (await client.list_resources()).resources

    tools, resources = talking(talk, project)

    assert [
        "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
        "delete_relations", "read_graph", "search_nodes", "open_nodes",
    ] == [tool.name for tool in tools]  # fmt: skip
    assert {"entities"} == set(tools[0].input_schema["properties"])
    assert [GRAPH_URI] == [resource.uri for resource in resources]


def test_what_is_created_is_read_as_it_was_given_and_in_its_order(project):
    async def talk(client: Client):
        await fill(client)
        resource = await client.read_resource(GRAPH_URI)
        return await answer(client, "read_graph"), json.loads(resource.contents[0].text)

    graph, resource = talking(talk, project)

    assert {"entities": [ANN, BOB, SHOP], "relations": [FRIENDS, OWNS]} == graph == resource


def test_only_what_is_new_is_created_and_told(project):
    async def talk(client: Client):
        await fill(client)
        cat = {"name": "Cat", "entityType": "animal", "observations": []}
        other = {**ANN, "entityType": "robot", "observations": ["rusts"]}
        created = await client.call_tool("create_entities", {"entities": [other, cat]})
        likes = {"from": "Cat", "to": "Ann", "relationType": "likes"}
        related = await answer(client, "create_relations", relations=[FRIENDS, likes])
        observed = await answer(
            client,
            "add_observations",
            observations=[{"entityName": "Ann", "contents": ["likes tea", "sings"]}],
        )
        return created, related, observed, cat, likes, await answer(client, "read_graph")

    created, related, observed, cat, likes, graph = talking(talk, project)

    assert [cat] == created.structured_content["entities"] == json.loads(text_of(created))
    assert [likes] == related["relations"]
    assert [{"entityName": "Ann", "addedObservations": ["sings"]}] == observed["results"]
    assert {**ANN, "observations": [*ANN["observations"], "sings"]} == graph["entities"][0]


def test_an_observation_of_nobody_is_refused_and_nothing_is_added(project):
    async def talk(client: Client):
        await fill(client)
        message = await failure(
            client,
            "add_observations",
            observations=[
                {"entityName": "Ann", "contents": ["sings"]},
                {"entityName": "Zoe", "contents": ["sings"]},
            ],
        )
        return message, await answer(client, "read_graph")

    message, graph = talking(talk, project)

    assert "Entity with name Zoe not found" in message
    assert [ANN, BOB, SHOP] == graph["entities"]


def test_what_is_deleted_is_gone_from_the_graph_and_may_come_back(project):
    async def talk(client: Client):
        await fill(client)
        graphs = []
        for tool, arguments in (
            (
                "delete_observations",
                {"deletions": [{"entityName": "Ann", "observations": ["likes tea", "no"]}]},
            ),
            ("delete_relations", {"relations": [OWNS, {**OWNS, "to": "nothing"}]}),
            ("delete_entities", {"entityNames": ["Bob", "nobody"]}),
            ("create_entities", {"entities": [BOB]}),
        ):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, text_of(result)
            graphs.append(await answer(client, "read_graph"))
        return graphs, text_of(await client.call_tool("delete_entities", {"entityNames": []}))

    (first, second, third, fourth), message = talking(talk, project)

    assert ["Ann and Bob are friends"] == first["entities"][0]["observations"]
    assert [FRIENDS] == second["relations"]
    assert (["Ann", "Shop"], []) == ([each["name"] for each in third["entities"]], third["relations"])
    assert BOB == fourth["entities"][-1]  # at the end, as in the reference server's file
    assert "Entities deleted successfully" == message


def test_nodes_are_found_by_name_type_and_observation_with_their_relations(project):
    async def talk(client: Client):
        await fill(client)
        found = [
            await answer(client, "search_nodes", query=query) for query in ("SHOP", "project", "TEA", "zebra")
        ]
        return found, await answer(client, "open_nodes", names=["Ann", "nobody"])

    (by_name, by_type, by_observation, nothing), opened = talking(talk, project)

    assert {"entities": [SHOP], "relations": [OWNS]} == by_name == by_type
    assert {"entities": [ANN, BOB], "relations": [FRIENDS, OWNS]} == by_observation
    assert {"entities": [], "relations": []} == nothing
    assert {"entities": [ANN], "relations": [FRIENDS]} == opened


def test_an_empty_graph_is_read_where_there_is_no_store(project):
    async def talk(client: Client):
        return await answer(client, "read_graph")

    assert {"entities": [], "relations": []} == talking(talk, project)
    assert not (project / ".hexad").exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("create_entities", {"entities": "Ann"}, ["entities", "list"]),
        ("create_entities", {"entities": [{"name": "Ann"}]}, ["entities[0]", "'entityType'"]),
        (
            "create_entities",
            {"entities": [{**ANN, "observations": [7]}]},
            ["entities[0].observations[0]", "7"],
        ),
        ("open_nodes", {}, ["'names'"]),
        ("search_nodes", {"query": None}, ["'query'"]),
    ],
)
def test_what_cannot_be_used_is_named(project, tool, arguments, words):
    async def talk(client: Client):
        return await failure(client, tool, **arguments)

    message = talking(talk, project)

    assert [] == [word for word in words if word not in message]


def test_what_agents_wrote_there_is_recalled_like_any_memory(project):
    talking(fill, project)

    with hexad.open(project, embedder=None) as hx:
        assert "Bob owns Shop." in [hit.text for hit in hx.recall("who owns the shop?", min_relevance=0)]
        assert [] == hx.check()


def test_the_reference_server_s_file_goes_in_and_comes_out_the_same(project, run):
    long = {
        "name": "Log",
        "entityType": "",
        "observations": ["twice", "a" * 70_000, "twice", "é “ü” \U0001f6f6"],
    }
    records = [{"type": "entity", **each} for each in (ANN, BOB, SHOP, long)]
    records += [{"type": "relation", **each} for each in (FRIENDS, OWNS)]
    text = "\n".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
    (project / "memory.jsonl").write_text(text, encoding="utf-8")

    first = run("mcp", "graph", "import", "memory.jsonl")
    second = run("mcp", "graph", "import", "memory.jsonl")
    out = run("mcp", "graph", "export").out

    assert "4 entities, 8 observations, 2 relations added" in first.out
    assert "0 entities, 0 observations, 0 relations added" in second.out
    assert text == out.rstrip("\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "memory.jsonl:1 is no JSON"),
        ('{"type":"entity","name":"Ann"}', "'entityType'"),
        ('{"type":"entity","name":"Ann","entityType":"p","observations":7}', "memory.jsonl:1"),
        ('{"type":"relation","from":"Ann"}', "'to'"),
    ],
)
def test_a_file_that_is_none_is_refused_and_nothing_is_stored(project, run, text, words):
    (project / "memory.jsonl").write_text(text)

    ran = run("mcp", "graph", "import", "memory.jsonl")

    assert (2, True) == (ran.code, words in ran.err)
    assert not (project / ".hexad").exists()


@pytest.mark.parametrize("servers", [1, 3])
def test_calls_that_are_sent_at_once_by_several_servers_are_all_kept(project, servers):
    """The reference server, which writes its file anew for each call, keeps 1 of 20."""
    running = [Server(project, "graph") for _ in range(servers)]
    for server in running:
        server.greet()
    for number, server in enumerate(running):
        server.say(
            *(
                calling(
                    call,
                    "create_entities",
                    entities=[
                        {"name": f"{number}-{call}", "entityType": "test", "observations": ["is kept"]},
                    ],
                )
                for call in range(1, 21)
            )
        )
    for server in running:
        told = [server.hear() for _ in range(20)]
        assert [] == [message for message in told if message["result"]["isError"]]
        server.process.stdin.close()
        assert 0 == server.process.wait(timeout=60)
        server.__exit__()

    async def talk(client: Client):
        return await answer(client, "read_graph")

    graph = talking(talk, project)

    names = {f"{number}-{call}" for number in range(servers) for call in range(1, 21)}
    assert names == {entity["name"] for entity in graph["entities"] if entity["observations"] == ["is kept"]}
