"""`hexad.connect` and `hexad.aconnect`: what comes back is what an open store gives, and what it raises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Hexad
from http_servers import HttpServer, serving

pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything, in a folder of its own."""
    folder = tmp_path_factory.mktemp("filled") / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        tuesday = hx.remember("Deploys happen on Tuesday.", kind="decision", tags=["ops"], space="shop")
        gate = hx.remember(
            "The gateway retries five times.",
            space="shop",
            citations=[hexad.Citation(path="gate.py", symbol="retry")],
            data_subjects=["ann"],
            valid_from="2026-01-01",
        )
        hx.remember("The limit is 250.", space="shop", subject="api", attribute="limit", value={"rate": 250})
        hx.link(gate.id, tuesday.id, kind="based-on")
        hx.governance.decide("Use Postgres", rationale="Row-level security", alternatives=["MySQL"])
        hx.project.remember(category="tech_stack", key="database", value="Postgres 17")
        hx.feedback(tuesday.id, "helpful", query="deploy")
        hx.feedback(tuesday.id, "wrong", query="who deploys?")
        hx.forget(hx.remember("Old.", id="mem_old").id)
        hx.session.start("login feature", steps=["tokens"], session_id="work")
        hx.xdb.start_session("monday")
        hx.xdb.record("input", "When?", {"pack::Time": 0.9}, role="user")
        hx.xdb.record("output", "At noon.", event_id="reply", event_end=True)
        hx.xdb.tag("useful", event_id="reply")
        hx.xdb.comment("Nice.", timestep_id="ts-monday-1")
        hx.xdb.pin_window((1, 2), reason="kept")
        hx.xdb.create_bud_tag("politeness", "says hello")
        hx.xdb.documents.add_document("Manners", "Say hello.", "reference", tags=["tone"])
        node, other = hx.honeycomb.add_node("ferry", [1.0, 0.0]), hx.honeycomb.add_node("boat", [0.9, 0.1])
        hx.honeycomb.insert(node, other)
    return folder


@pytest.fixture(scope="module")
def server(filled: Path) -> Iterator[HttpServer]:
    with serving(filled) as running:
        yield running


@pytest.fixture
def remote(server: HttpServer) -> Iterator[Hexad]:
    with hexad.connect(server.url, token=server.token_file) as hx:
        yield hx


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "recall": lambda hx: hx.recall("when do we deploy?", explain=True, follow_links=True),
    "recall of a space": lambda hx: hx.recall(
        "gateway", space=["shop"], tags=[], kinds=None, since="2025-01-01"
    ),
    "context": lambda hx: hx.context("gateway retries", space="shop", deterministic=True),
    "expand": lambda hx: hx.expand(hx.recall("gateway retries")[0]),
    "plan": lambda hx: hx.plan("why do we use Postgres?"),
    "query": lambda hx: hx.query("gateway", deterministic=True),
    "get": lambda hx: hx.get("mem_old"),
    "memories": lambda hx: hx.memories(status=None, order="path", limit=None),
    "count": lambda hx: hx.count(space="shop", pinned=False),
    "links": lambda hx: hx.links(hx.recall("gateway retries")[0].id),
    "history": lambda hx: hx.history("mem_old"),
    "feedbacks": lambda hx: hx.feedbacks(),
    "feedback in numbers": lambda hx: replace(hx.feedback_stats(), trend=()),  # its times go on
    "spaces": lambda hx: hx.spaces.list(),
    "a space": lambda hx: hx.spaces.get("shop"),
    "a bundle": lambda hx: hx.recall_context("shop", "gateway", limit=2, freeze_clock="2026-02-01"),
    "a list of a kind": lambda hx: hx.recall_kind(
        "shop", "decision", freeze_clock=datetime(2026, 2, 1, tzinfo=UTC)
    ),
    "why": lambda hx: hx.governance.why("postgres"),
    "decisions": lambda hx: hx.governance.query(in_force=None),
    "project decisions": lambda hx: hx.project.get_decisions(in_force=None),
    "tech stack": lambda hx: hx.project.get_tech_stack(),
    "facts": lambda hx: hx.facts.current("api"),
    "facts of a time": lambda hx: hx.facts.as_of("2030-01-01", space="shop"),
    "sessions": lambda hx: hx.session.list(),
    "steps": lambda hx: hx.xdb.recall(concepts={"pack::Time": (0.5, 1.0)}, session_id="monday"),
    "steps of a tag": lambda hx: hx.xdb.recall(
        tags=["useful"], tick_range=(1, 9), time_range=("2020-01-01", None)
    ),
    "events": lambda hx: hx.xdb.recall_events("noon"),
    "tags": lambda hx: hx.xdb.find_tags(tag_type="bud"),
    "a step": lambda hx: hx.xdb.get_timestep("ts-monday-1"),
    "no step": lambda hx: hx.xdb.get_timestep("ts-monday-99"),
    "comments": lambda hx: hx.xdb.get_comments_for_range("monday", 1, 2),
    "windows": lambda hx: hx.xdb.windows(pinned=True),
    "documents": lambda hx: hx.xdb.list_documents("reference"),
    "activity": lambda hx: hx.xdb.activity(),
    "a context window": lambda hx: hx.xdb.context("monday"),
    "recorded sessions": lambda hx: hx.xdb.sessions(),
    "a node": lambda hx: hx.honeycomb.get(hx.honeycomb.find_most_relevant([1.0, 0.0])[0][0]),
    "neighbours": lambda hx: hx.honeycomb.neighbors(hx.honeycomb.find_most_relevant([1.0, 0.0])[0][0]),
    "a walk": lambda hx: hx.honeycomb.jit_context([1.0, 0.0], scope="nodes"),
    "preferences": lambda hx: hx.user.preferences(),
    "quality": lambda hx: hx.memory_quality(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_value_comes_back(question, filled, remote):
    ask = QUESTIONS[question]
    with hexad.open(filled, embedder=None, background=False) as local:
        expected = ask(local)

    answer = ask(remote)

    assert type(expected) is type(answer)
    assert _timeless(expected) == _timeless(answer)


MOVING = {
    "last_used_at", "last_accessed_timestamp", "access_count_session", "access_time_first", "asked_at", "recency",
    "at_seconds", "seconds", "measured_at", "timings_ms", "late", "score", "parts", "explanation", "rendered",
}  # fmt: skip
"""Fields that measure or count the call itself, or are weighed by the time that has passed."""


def _timeless(value: Any) -> Any:
    """Return a value, field by field, without what moves between two calls."""
    if is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return type(value), _timeless({name: part for name, part in named.items() if name not in MOVING})
    if isinstance(value, Mapping):
        return {key: _timeless(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [_timeless(part) for part in value]
    return value


def test_a_citation_is_taken_with_all_of_its_fields_and_one_with_more_is_named(server):
    whole = hexad.Citation(
        path="gate.py",
        symbol="retry",
        content_hash="ab",
        commit="cd",
        lines="1-2",
        marks="e f",
        branch="main",
    )
    with hexad.connect(server.url, token=server.token_file) as hx:
        memory = hx.remember("The gate was opened.", id="mem_cites_gate", citations=[whole])
        assert (whole,) == memory.citations
        hx.forget(memory.id, purge=True, confirm=True)
    answer = server.post("/v1/memories", {"text": "x", "citations": [{"path": "gate.py", "page": "3"}]})

    assert 400 == answer.status_code
    assert "citations[0] has no field 'page'; known are path, symbol," in answer.json()["detail"]


def test_the_status_of_a_server_comes_with_what_its_caches_hold(remote):
    status = remote.status()

    assert remote.count() == status.memories
    assert all(use.bytes >= 0 for use in status.caches.values())
    assert status.caches


def test_an_explanation_and_a_packed_context_come_whole(remote):
    hits = remote.recall("when do we deploy?", explain=True)
    context = remote.context("gateway retries", space="shop", deterministic=True)

    assert ("deploy",) == hits.explanation.terms
    assert sum(hits[0].parts.values()) == pytest.approx(hits[0].score)
    assert "The gateway retries five times." in context.render("markdown")


REFUSALS: dict[str, Callable[[Any], Any]] = {
    "not found": lambda hx: hx.get("mem_none"),
    "a time": lambda hx: hx.recall("x", since="yesterday"),
    "a limit": lambda hx: hx.recall("x", limit=0),
    "a space": lambda hx: hx.recall("x", space="nowhere"),
    "a purge": lambda hx: hx.forget("mem_old", purge=True),
    "a target": lambda hx: hx.xdb.tag("useful"),
    "a session": lambda hx: hx.xdb.record("output", "x", session_id="nobody"),
    "no session": lambda hx: hx.xdb.record("output", "x"),
    "vectors": lambda hx: hx.recall("x", semantic=True),
    "a verdict": lambda hx: hx.feedback("mem_old", "meh"),
    "a size": lambda hx: hx.remember("word " * 300_000),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_the_same_error_is_raised(refusal, filled, remote):
    ask = REFUSALS[refusal]
    with hexad.open(filled, embedder=None, background=False) as local:
        with pytest.raises(hexad.HexadError) as expected:
            ask(local)

    with pytest.raises(hexad.HexadError) as raised:
        ask(remote)

    assert type(expected.value) is type(raised.value)
    assert (str(expected.value), expected.value.argument) == (str(raised.value), raised.value.argument)


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("ingest", "ingest cannot be called from here: it names a file"),
        ("spaces.export", "spaces.export cannot be called from here: it names a file"),
        ("xdb.set_summarizer", "it takes or returns a function"),
        ("nosuch", "RemoteHexad has no attribute 'nosuch'"),
    ],
)
def test_what_is_not_served_says_why(remote, attribute, words):
    with pytest.raises(AttributeError, match=words):
        attrgetter(attribute)(remote)
    assert not hasattr(remote, "ingest")


def test_what_is_said_of_the_server_is_an_error_of_its_own(server):
    with pytest.raises(hexad.ServerUnreachable, match="Nothing was done") as caught:
        hexad.connect("http://127.0.0.1:9", token="x").count()
    assert "not known" not in str(caught.value)
    with pytest.raises(hexad.AccessDenied):
        hexad.connect(server.url, token="wrong").count()
    with pytest.raises(hexad.InvalidInput, match="token"):
        hexad.connect(server.url)
    with pytest.raises(hexad.InvalidInput, match="url"):
        hexad.connect("ftp://here", token="x")
    with pytest.raises(hexad.InvalidInput, match="certificate"):
        hexad.connect("https://127.0.0.1:9", token="x", certificate=server.token_file)
    with pytest.raises(TypeError, match="colour"):
        hexad.connect(server.url, token="x").recall("x", colour="red")


def test_the_token_can_stand_in_the_environment(server, monkeypatch):
    monkeypatch.setenv("HEXAD_TOKEN", server.token)

    with hexad.connect(server.url) as hx:
        assert hx.count() > 0


# What a connection keeps ----------------------------------------------------------------------------------------------


def test_two_connections_have_each_a_session_of_their_own(server):
    with (
        hexad.connect(server.url, token=server.token) as one,
        hexad.connect(server.url, token=server.token) as two,
    ):
        one.session.start("paint", session_id="one")
        two.session.start("sing", session_id="two")
        one.session.note("blue")
        handle = one.session.handle("two")

        assert ("paint", "sing", "sing") == (
            one.session.current.task,
            two.session.current.task,
            handle.current.task,
        )
        assert ["blue"] == [note.text for note in one.session.current.scratchpad]
        one.session.end("painted")
        assert one.session.current is None
        with pytest.raises(hexad.NotFound):
            one.session.handle()


def test_the_first_change_starts_a_session(tmp_path):
    with serving(tmp_path) as running, hexad.connect(running.url, token=running.token) as hx:
        hx.session.add_steps("one", "two")

        assert ["one", "two"] == [step.text for step in hx.session.current.substeps]


def test_a_session_that_ended_takes_no_change(server):
    started = server.post("/v1/layers/session/start", {"session_id": "over"}).json()
    server.post("/v1/layers/session/end", {"session_id": started["id"]})

    late = server.post("/v1/layers/session/note", {"session_id": started["id"], "text": "late"})

    assert 409 == late.status_code


def test_nobody_records_to_the_session_of_another_client(server):
    server.post("/v1/xdb/start-session", {"session_id": "theirs"})

    refused = [
        server.post("/v1/xdb/record", {"event_type": "output", "content": "x"}).status_code for _ in range(20)
    ]

    assert {422} == set(refused)


def test_a_recorded_session_is_current_for_its_thread(server):
    with hexad.connect(server.url, token=server.token) as hx:
        with_session = hx.xdb.start_session("tuesday")
        ids = [hx.xdb.record("output", "a"), with_session.record("output", "b")]
        steps = [step.content for step in hx.xdb.recall()]
        hx.xdb.end_session()

        assert (["ts-tuesday-1", "ts-tuesday-2"], ["a", "b"]) == (ids, steps)
        with pytest.raises(hexad.InvalidInput):
            hx.xdb.record("output", "c")


def test_the_hook_before_a_step_asks_the_server(server):
    with hexad.connect(server.url, token=server.token) as hx:

        @hx.use_context("shop", "gateway")
        def step(task: str, context: hexad.ProjectContext) -> str:
            return context.prepend(task)

        assert "retries five times" in step("Fix it.")
        assert "retries five times" in hx.use_context("shop", lambda task: task)(step.__wrapped__)("gateway")


def test_an_export_comes_item_by_item(server, filled):
    with hexad.connect(server.url, token=server.token) as hx:
        items = list(hx.export("session", session="monday"))
        with pytest.raises(hexad.InvalidInput, match="scope"):
            list(hx.export("galaxy"))

    with hexad.open(filled, embedder=None, background=False) as local:
        assert [item.section for item in local.export("session", session="monday")] == [
            item.section for item in items
        ]
    assert isinstance(items[0], hexad.ExportItem)


# Awaited --------------------------------------------------------------------------------------------------------------


def test_a_server_can_be_awaited(server):
    async def ask() -> tuple[Any, ...]:
        async with hexad.aconnect(server.url, token=server.token) as hx:
            hits, memories = await asyncio.gather(hx.recall("gateway retries"), hx.memories(space="shop"))
            await hx.xdb.start_session("wednesday")
            step = await hx.xdb.record("output", "a")
            before = await hx.session.current
            await hx.session.note("hello")
            sections = [item.section async for item in hx.export(subject="ann")][:2]
            with pytest.raises(hexad.NotFound):
                await hx.get("mem_none")
            return (
                hits[0].text,
                len(memories),
                step,
                before,
                (await hx.session.current).scratchpad[-1].text,
                sections,
            )

    assert (
        "The gateway retries five times.", 3, "ts-wednesday-1", None, "hello", ["export", "memories"],
    ) == asyncio.run(ask())  # fmt: skip


def test_a_connection_that_is_closed_says_so(server: HttpServer) -> None:
    with hexad.connect(server.url, token=server.token_file) as closed:
        pass

    for call in (
        lambda: closed.recall("gateway"),
        closed.spaces.list,
        lambda: next(closed.export()),
    ):
        with pytest.raises(hexad.InvalidInput, match=r"connection to http.* is closed; connect again"):
            call()

    async def awaited() -> None:
        async with hexad.aconnect(server.url, token=server.token_file) as closed:
            pass
        with pytest.raises(hexad.InvalidInput, match="is closed; connect again"):
            await closed.recall("gateway")

    asyncio.run(awaited())
