"""`hexad serve` over real HTTP: what is asked and answered, who is let in, and what bad input gets."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

import hexad
from hexad.interfaces.http_server.tokens import TokenFile
from http_servers import HttpServer, serving

pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = tmp_path_factory.mktemp("served") / "project"
    folder.mkdir()
    with serving(folder) as running:
        yield running


# What is asked and answered -------------------------------------------------------------------------------------------


def test_what_is_remembered_is_recalled(server):
    stored = server.post(
        "/v1/memories", {"text": "Deploys happen on Tuesday.", "kind": "decision", "tags": ["ops"]}
    )
    hits = server.post("/v1/recall", {"query": "when do we deploy?"}).json()["hits"]

    assert 200 == stored.status_code
    assert "created" == stored.json()["receipt"]["outcome"]
    assert [stored.json()["id"]] == [hit["id"] for hit in hits]


def test_a_context_is_packed_expanded_and_forgotten(server):
    memory = server.post("/v1/memories", {"text": "The gateway retries five times.", "space": "shop"}).json()

    context = server.post("/v1/context", {"task": "gateway retries", "space": "shop", "wait": True}).json()
    whole = server.post("/v1/expand", {"what": memory["id"]}).json()
    gone = server.post("/v1/forget", {"id_or_path": memory["id"]}).json()
    after = server.post("/v1/context", {"task": "gateway retries", "space": "shop", "wait": True}).json()

    assert [memory["id"]] == [item["memory_id"] for item in context["system_items"]]
    assert "The gateway retries five times." == whole["text"]
    assert "archived" == gone["status"]
    assert [] == after["system_items"]


def test_a_decision_is_told_with_its_reason(server):
    decided = server.post(
        "/v1/governance/decide", {"title": "Keep rows in SQLite", "rationale": "one file, no daemon"}
    )
    why = server.get("/v1/governance/why", params={"topic": "SQLite"}).json()

    assert 200 == decided.status_code
    assert ["one file, no daemon"] == [decision["rationale"] for decision in why["decisions"]]


@pytest.fixture
def monday(server) -> str:
    """A step of experience over HTTP, by its id."""
    server.post("/v1/xdb/start-session", {"session_id": "monday"})
    step = {
        "event_type": "output",
        "content": "Hello",
        "concept_activations": {"pack::Greeting": 0.8},
        "session_id": "monday",
    }
    return str(server.post("/v1/xdb/record", step).json())


@pytest.mark.row("H160")
def test_a_tag_is_applied(server, monday):
    applied = server.post(
        "/v1/xdb/tag", {"tag_name_or_id": "greeting", "timestep_id": monday, "session_id": "monday"}
    )
    tags = server.get("/v1/xdb/tags-for-timestep", params={"timestep_id": monday}).json()

    assert 200 == applied.status_code
    assert ["greeting"] == [tag["name"] for tag in tags]


@pytest.mark.row("H161")
def test_experience_is_asked(server, monday):
    server.post("/v1/xdb/tag", {"tag_name_or_id": "first", "timestep_id": monday, "session_id": "monday"})
    asked = {"tags": "first", "concepts": "pack::Greeting", "limit": 5}
    ranges = {"concepts": {"pack::Greeting": [0.9, 1.0]}}

    assert [monday] == [step["id"] for step in server.get("/v1/xdb/recall", params=asked).json()]
    assert [] == server.post("/v1/xdb/recall", ranges).json()


@pytest.mark.row("H162")
def test_concepts_are_browsed(server, tmp_path):
    concepts = [{"term": "Animal"}, {"term": "Cat", "parents": ["Animal"]}]
    file = tmp_path / "pack.json"
    file.write_text(json.dumps({"pack_id": "pack", "concepts": concepts}))
    with hexad.open(server.store.parent, embedder=None, background=False) as hx:
        hx.xdb.load_concept_pack(file)

    roots = server.get("/v1/xdb/concepts").json()
    children = server.get("/v1/xdb/concepts", params={"parent": "pack::Animal"}).json()

    assert "pack::Animal" in [tag["concept_id"] for tag in roots]
    assert ["pack::Cat"] == [tag["concept_id"] for tag in children]


@pytest.mark.row("H163")
def test_buds_are_listed_by_status(server):
    server.post("/v1/xdb/buds", {"name": "politeness", "description": "says hello"})

    collecting = server.get("/v1/xdb/buds", params={"status": "collecting"}).json()

    assert ["politeness"] == [bud["name"] for bud in collecting]
    assert [] == server.get("/v1/xdb/buds", params={"status": "ready"}).json()


@pytest.mark.row("H164")
def test_documents_are_listed_by_type(server):
    server.post("/v1/xdb/documents", {"name": "Manners", "content": "Say hello.", "doc_type": "reference"})

    listed = server.get("/v1/xdb/documents", params={"doc_type": "reference"}).json()

    assert ["Manners"] == [document["name"] for document in listed]
    assert [] == server.get("/v1/xdb/documents", params={"doc_type": "specification"}).json()


def test_a_list_and_none_can_stand_in_an_address(server):
    kept = server.post("/v1/memories", {"text": "Kept apart.", "space": "lists", "tags": ["a", "b"]}).json()
    server.post("/v1/forget", {"id_or_path": kept["id"]})

    active = server.get("/v1/memories", params={"space": "lists"}).json()
    every = server.get("/v1/memories?space=lists&tags=a&tags=b&status=").json()

    assert [] == active
    assert [kept["id"]] == [memory["id"] for memory in every]


def test_health_is_open_and_metrics_are_not(server):
    health = server.get("/healthz", token=None)
    closed = server.get("/metrics", token=None)
    metrics = server.get("/metrics")

    assert ({"status": "ok", "version": hexad.__version__}, 401) == (health.json(), closed.status_code)
    assert "hexad_memories" in metrics.text


# Who is let in --------------------------------------------------------------------------------------------------------


def test_the_first_token_is_for_its_owner_alone(server):
    mode = stat.S_IMODE(server.token_file.stat().st_mode)
    tokens = (server.token_file.parent / "tokens.json").read_text()

    assert 0o600 == mode
    assert server.token not in tokens


@pytest.mark.parametrize("token", [None, "wrong", "hexad_" + "A" * 43])
def test_without_a_valid_token_nothing_is_said(server, token):
    refused = server.get("/v1/memories", token=token)

    assert 401 == refused.status_code
    assert "application/problem+json" == refused.headers["content-type"]
    assert 'Bearer realm="hexad"' == refused.headers["www-authenticate"]
    assert "token" == refused.json()["argument"]


def test_another_name_for_the_server_is_refused(server):
    rebound = server.get("/v1/memories", headers={"Host": f"attacker.example:{server.port}"})
    page = server.get("/v1/memories", headers={"Origin": "https://attacker.example"})
    own = server.get("/v1/memories", headers={"Origin": server.url})

    assert (421, 403, 200) == (rebound.status_code, page.status_code, own.status_code)


@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_form_is_not_taken_for_a_request(server, in_chunks):
    body = b'{"text": "sneaky"}'
    form = server.request(
        "POST",
        "/v1/memories",
        content=iter([body]) if in_chunks else body,
        headers={"Content-Type": "text/plain"},
    )

    assert 415 == form.status_code


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "argument"),
    [
        (b"{", 400, None),
        (b"[]", 400, None),
        (b'{"query": "x", "limit": NaN}', 400, "limit"),
        (b"[" * 100_000, 400, None),
        (b'{"query": "\\ud800"}', 400, None),
        (b"{}", 400, "query"),
        (b'{"query": 5}', 400, "query"),
        (b'{"query": "x", "limit": "10"}', 400, "limit"),
        (b'{"query": "x", "limit": 1e400}', 400, "limit"),
        (b'{"query": "x", "colour": "red"}', 400, "colour"),
        (b'{"query": "x", "since": "yesterday"}', 422, "since"),
        (b'{"query": "x", "explain": 1}', 400, "explain"),
        (b'{"query": "x", "space": "nowhere"}', 404, None),
    ],
)
def test_bad_input_gets_a_problem_that_names_the_argument(server, body, status, argument):
    answer = server.request("POST", "/v1/recall", content=body, headers={"Content-Type": "application/json"})
    problem = answer.json()

    assert (status, status) == (answer.status_code, problem["status"])
    assert argument == problem.get("argument")
    assert "application/problem+json" == answer.headers["content-type"]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"query": 5}', "query must be a string, not 5."),
        ('{"query": "a", "limit": 1e400}', "limit must be an integer, not inf."),
        ('{"query": "a", "tags": ["b", 1]}', "tags[1] must be a string, not 1."),
        ('{"query": "a", "rerank": "cohere:x"}', "rerank must be a boolean, not 'cohere:x'."),
    ],
)
def test_a_value_of_another_type_is_named_with_what_is_wanted(server, body, detail):
    answer = server.request(
        "POST", "/v1/recall", content=body.encode(), headers={"Content-Type": "application/json"}
    )

    assert (400, detail) == (answer.status_code, answer.json()["detail"])


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("forget", {"id_or_path": "mem_kept", "purge": True}, '"confirm": true'),
        ("maintenance/wipe", {"scope": "project"}, '"confirm": true'),
        ("memories/tag", {"id_or_path": "mem_AAAABBBB", "add": ["x"]}, "`GET /v1/memories`"),
        ("recall", {"query": "tea", "space": "none"}, "`GET /v1/spaces`"),
    ],
)
def test_a_refusal_is_in_the_words_of_http(server, path, body, words):
    server.post("/v1/memories", {"text": "Deploys happen on Tuesday.", "id": "mem_kept"})

    detail = server.post(f"/v1/{path}", body).json()["detail"]

    assert words in detail
    assert "confirm=True" not in detail
    assert "hexad " not in detail


def test_too_large_a_body_and_too_large_a_text_are_refused(server):
    before = server.get("/v1/memories/count").json()

    body = server.post("/v1/memories", {"text": "x" * (17 << 20)})
    text = server.post("/v1/memories", {"text": "word " * 250_000})

    assert (413, 413) == (body.status_code, text.status_code)
    assert before == server.get("/v1/memories/count").json()


@pytest.mark.parametrize(
    ("method", "address", "body", "reason", "remedy"),
    [
        (
            "POST", "/v1/xdb/tokens?session_id=nowhere", {"event_type": "output", "content": "Hello"},
            "There is no session 'nowhere'", "`POST /v1/xdb/start-session` creates it.",
        ),
        ("POST", "/v1/recall", {"query": ""}, "The question is empty", "say what to recall. `GET /v1/memories` shows everything."),
        (
            "GET", "/v1/governance/why?topic=+", None, "topic = ' ' names nothing that was decided about",
            "give a file, a commit or a subject. `GET /v1/memories?kinds=decision` lists the decisions.",
        ),
        ("GET", "/v1/memories/get?id_or_path=nope", None, "Memory 'nope' not found", "`GET /v1/memories` lists what is there."),
        (
            "GET", "/v1/memories/get?id_or_path=mem_00000000", None,
            "Memory 'mem_00000000' not found: no path is called so, and no id ends so", "`GET /v1/memories` shows what is there.",
        ),
    ],
)  # fmt: skip
def test_reason_and_remedy_stand_apart_in_the_words_of_http(
    server: HttpServer, method: str, address: str, body: dict[str, str] | None, reason: str, remedy: str
) -> None:
    problem = server.request(
        method,
        address,
        content=None if body is None else json.dumps(body),
        headers={"content-type": "application/json"},
    ).json()

    assert (reason, remedy) == (problem["reason"].rstrip("."), problem["remedy"])
    assert problem["detail"].startswith(reason) and problem["detail"].endswith(remedy)


def test_a_client_of_ours_is_sent_the_words_of_the_library(server: HttpServer) -> None:
    with hexad.connect(server.url, token=server.token) as hx, pytest.raises(hexad.InvalidInput) as caught:
        hx.recall("")

    assert "The question is empty; say what to recall. `hx.memories()` shows everything." == str(caught.value)


def test_what_is_not_served_is_a_problem_too(server):
    unknown, method = server.get("/v1/nothing"), server.get("/v1/recall")

    assert (404, 405) == (unknown.status_code, method.status_code)
    assert "application/problem+json" == unknown.headers["content-type"]
    assert ("NotFound", "InvalidInput") == (unknown.json()["title"], method.json()["title"])
    assert "send POST." == method.json()["remedy"]


def test_every_refusal_says_what_to_do(server):
    asked = [
        server.get("/v1/memories/get?id_or_path=mem_none"),
        server.get("/v1/memories/history?id_or_path=mem_none"),
        *(
            server.post(f"/v1/{path}", body)
            for path, body in [
                ("expand", {"what": "mem_none"}),
                ("forget", {"id_or_path": "mem_none"}),
                ("memories/pin", {"names": ["mem_none"]}),
                ("memories/tag", {"id_or_path": "mem_none", "add": ["x"]}),
                ("memories/restore", {"id_or_path": "mem_none"}),
                ("memories/link", {"source": "mem_none", "target": "mem_none"}),
                ("feedback", {"what": "mem_none", "verdict": "helpful"}),
                ("recall", {"query": "tea", "space": "none"}),
                ("recall", {"query": "tea", "limit": 0}),
                ("recall", {"quarry": "tea"}),
                ("memories", {"text": ""}),
                ("context", {"task": "tea", "format": "xml"}),
                ("nothing", {}),
            ]
        ),
    ]

    for answer in asked:
        problem = answer.json()
        assert "application/problem+json" == answer.headers["content-type"], answer.url
        assert answer.status_code == problem["status"] >= 400
        assert problem["detail"].endswith((".", "?")), problem


def test_a_body_that_is_no_json_is_shown_one(server):
    problem = server.request(
        "POST", "/v1/recall", content="{nope", headers={"content-type": "application/json"}
    ).json()

    assert 'Send one, such as {"query": "…"}.' == problem["remedy"]
    assert problem["detail"].endswith(problem["remedy"])


def test_the_store_is_whole_after_a_server(tmp_path):
    with serving(tmp_path) as running:
        running.post("/v1/memories", {"text": "Kept."})

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert ([], 1) == (hx.check(), hx.count())


# Logins ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def limited(tmp_path: Path, run) -> Iterator[HttpServer]:
    with serving(tmp_path) as running:
        yield running


def _token(run, *options: str) -> str:
    made = run("serve", "token", "add", "--json", *options)
    assert 0 == made.code
    return json.loads(made.out)["token"]


def test_a_role_sees_what_policies_show_to_it(limited, run):
    limited.post("/v1/spaces", {"name": "secret"})
    limited.post("/v1/spaces/set-policy", {"name": "secret", "policy": {"roles": ["lead"]}})
    limited.post("/v1/memories", {"text": "The launch is in May.", "space": "secret"})
    intern, lead = _token(run, "--role", "intern"), _token(run, "--role", "lead")

    told = {
        token: len(limited.post("/v1/recall", {"query": "launch"}, token=token).json()["hits"])
        for token in (intern, lead)
    }

    assert [0, 1] == list(told.values())


def test_a_token_for_spaces_reaches_no_other(limited, run):
    for space in ("ours", "theirs"):
        limited.post("/v1/memories", {"text": f"The launch of {space} is in May.", "space": space})
    theirs = limited.get("/v1/memories", params={"space": "theirs"}).json()[0]["id"]
    token = _token(run, "--role", "owner", "--space", "ours")

    hits = limited.post("/v1/recall", {"query": "launch"}, token=token).json()["hits"]
    context = limited.post("/v1/context", {"task": "launch", "wait": True}, token=token).json()
    kept = limited.post("/v1/memories", {"text": "Ours too."}, token=token).json()
    refused = [
        limited.post("/v1/recall", {"query": "launch", "space": "theirs"}, token=token),
        limited.post("/v1/recall", {"query": "launch", "follow_links": True}, token=token),
        limited.post("/v1/recall", {"query": "launch", "layers": ["user"]}, token=token),
        limited.post("/v1/memories", {"text": "Sneaky.", "space": "theirs"}, token=token),
        limited.get("/v1/spaces", token=token),
        limited.get("/v1/xdb/recall", token=token),
        limited.post("/v1/maintenance/wipe", {"scope": "project", "confirm": True}, token=token),
    ]
    absent = [
        limited.post("/v1/expand", {"what": theirs}, token=token),
        limited.get("/v1/memories/get", params={"id_or_path": theirs}, token=token),
        limited.post("/v1/forget", {"id_or_path": theirs}, token=token),
        limited.post("/v1/memories/tag", {"id_or_path": theirs, "add": ["mine"]}, token=token),
    ]

    assert ["ours"] == [hit["space"] for hit in hits]
    assert {"ours"} == {block["space"] for block in [*context["evidence_blocks"], *context["system_items"]]}
    assert "ours" == kept["space"]
    assert {403} == {answer.status_code for answer in refused}
    assert {404} == {answer.status_code for answer in absent}
    assert "theirs" not in json.dumps(context)


@pytest.fixture(scope="module")
def two_spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HttpServer, str, dict[str, str]]]:
    """A server of two spaces, a token for one of them, and ids of what is in the other."""
    folder = tmp_path_factory.mktemp("spaces") / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.remember("The launch of ours is in June.", id="mem_ours", space="ours")
        hx.remember("The launch of theirs is in May.", id="mem_theirs", space="theirs")
        decision = hx.governance.decide("Theirs launches in May.", space="theirs").id
        session = hx.session.start(task="The launch of theirs.").id
        token = TokenFile(hx.path).add(role="owner", spaces=["ours"])[1]
    with serving(folder) as running:
        yield running, token, {"memory": "mem_theirs", "decision": decision, "session": session}


@pytest.mark.parametrize(
    ("path", "body", "argument"),
    [
        ("recall", {"query": "launch", "follow_links": True}, "follow_links"),
        ("recall-context", {"space": "ours", "topic": "launch", "follow_links": True}, "follow_links"),
        (
            "recall-context",
            {"space": "ours", "topic": "launch", "options": {"follow_links": True}},
            "options",
        ),
        ("recall-kind", {"space": "ours", "kind": "note", "follow_links": True}, "follow_links"),
        ("recall-kind", {"space": "ours", "kind": "note", "options": {"follow_links": True}}, "options"),
        ("memories", {"text": "Sneaky.", "derived_from": ["mem_theirs"]}, "derived_from"),
        (
            "memories/structured",
            {"space": "ours", "payload": {"raw": "Sneaky."}, "options": {"strict": True}},
            "options",
        ),
        (
            "memories/structured",
            {"space": "ours", "payload": {"raw": "Sneaky.", "supersedes": "mem_theirs"}},
            "payload",
        ),
        (
            "memories/structured",
            {"space": "ours", "payload": '{"raw": "Sneaky.", "supersedes": "mem_theirs"}'},
            "payload",
        ),
        (
            "memories/raw",
            {"space": "ours", "raw": "Sneaky.", "kind": "note", "options": {"strict": True}},
            "options",
        ),
        ("forget", {"session": "monday"}, "session"),
        ("forget", {"subject": "Ann"}, "subject"),
        ("forget", {"before": "2020-01-01"}, "before"),
        ("forget", {"tag": "x", "purge": True}, "purge"),
        ("governance/decide", {"title": "Sneaky.", "supersedes": "mem_theirs"}, "supersedes"),
        ("governance/decide", {"title": "Sneaky.", "depends_on": ["mem_theirs"]}, "depends_on"),
        ("layers/project/remember-decision", {"title": "Sneaky.", "supersedes": "mem_theirs"}, "supersedes"),
    ],
)
def test_no_argument_leads_out_of_a_token_s_spaces(two_spaces, path, body, argument):
    server, token, _ = two_spaces

    refused = server.post(f"/v1/{path}", body, token=token)

    assert (403, argument) == (refused.status_code, refused.json().get("argument"))
    assert 1 == server.get("/v1/memories/count", params={"space": "ours"}).json()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {"text": "Sneaky.", "id": "ID"}),
        ("memories/structured", {"space": "ours", "payload": {"raw": "Sneaky.", "id": "ID"}}),
        ("memories/structured", {"space": "ours", "payload": '{"raw": "Sneaky.", "id": "ID"}'}),
        ("memories/raw", {"space": "ours", "raw": "Sneaky.", "kind": "note", "id": "ID"}),
        ("expand", {"what": "ID"}),
        ("forget", {"id_or_path": "ID"}),
        ("memories/tag", {"id_or_path": "ID", "add": ["mine"]}),
        ("memories/restore", {"id_or_path": "ID"}),
        ("memories/pin", {"names": ["ID"]}),
    ],
)
@pytest.mark.parametrize("kind", ["memory", "decision", "session"])
def test_a_token_for_spaces_is_told_the_same_of_another_s_id_and_of_none(two_spaces, path, body, kind):
    server, token, ids = two_spaces

    def answer_to(name: str) -> tuple[int, str]:
        answer = server.request(
            "POST",
            f"/v1/{path}",
            content=json.dumps(body).replace("ID", name),
            headers={"content-type": "application/json"},
            token=token,
        )
        return answer.status_code, answer.text.replace(name, "ID")

    theirs, nothing = ids[kind], ids[kind].translate(str.maketrans("0123456789th", "1234567890ab"))

    assert 404 == answer_to(theirs)[0]
    assert answer_to(nothing) == answer_to(theirs)


def test_a_token_for_spaces_changes_a_memory_of_its_own_by_id(two_spaces):
    server, token, _ = two_spaces

    changed = server.post(
        "/v1/memories", {"text": "The launch of ours is in July.", "id": "mem_ours"}, token=token
    ).json()

    assert ("mem_ours", "updated") == (changed["id"], changed["receipt"]["outcome"])


def test_a_sentence_does_not_tell_which_spaces_there_are(two_spaces):
    server, token, _ = two_spaces

    def answer_to(space: str) -> str:
        task = f"notes in the space {space} about the launch since last week"
        answer = server.post("/v1/context", {"task": task, "wait": True}, token=token).json()
        return json.dumps([answer["text"], answer["notes"]]).replace(space, "SPACE")

    assert answer_to("nobodys") == answer_to("theirs")


def test_counts_are_of_all_spaces_and_not_for_a_token_of_some(two_spaces):
    server, token, _ = two_spaces

    assert 403 == server.get("/metrics", token=token).status_code


def test_words_of_a_question_lead_out_of_no_space(limited, run):
    limited.post("/v1/memories", {"text": "The launch of theirs is in May.", "space": "theirs"})
    limited.post("/v1/memories", {"text": "The launch of ours is in June.", "space": "ours"})
    limited.post("/v1/layers/user/prefer", {"key": "launch", "value": "the launch of rockets"})
    limited.post("/v1/layers/session/start", {"task": "the launch of boats"})
    token = _token(run, "--role", "owner", "--space", "ours")

    for words in (
        "space:theirs launch",
        'space:"theirs" launch',
        "layer:user launch",
        "layer:session launch",
        "notes in the space theirs about the launch",
        "notes from space theirs",
        "Space:Theirs launch",
    ):
        for answer in (
            limited.post("/v1/context", {"task": words, "wait": True}, token=token),
            limited.post("/v1/recall", {"query": words}, token=token),
        ):
            assert [] == [word for word in ("theirs is", "rockets", "boats") if word in answer.text], words
    own = limited.post("/v1/context", {"task": "space:ours launch", "wait": True}, token=token)

    assert "The launch of ours" in own.text


def test_a_revoked_token_ends_at_once(limited, run):
    token = _token(run, "--role", "owner", "--name", "laptop")
    before = limited.get("/v1/memories", token=token)

    revoked = run("serve", "token", "revoke", "laptop")
    after = limited.get("/v1/memories", token=token)

    assert (200, 0, 401) == (before.status_code, revoked.code, after.status_code)


def test_a_space_that_is_not_there_is_named_when_a_token_is_made_for_it(limited, run):
    limited.post("/v1/spaces", {"name": "ours"})

    made = run("serve", "token", "add", "--role", "lead", "--space", "ours", "--space", "oors")

    assert 0 == made.code
    assert "There is no space 'oors' yet" in made.err
    assert "'ours'" not in made.err


@pytest.mark.parametrize("name", ["", "a/b c"])
def test_no_token_is_made_for_a_space_that_cannot_be(limited, run, name):
    made = run("serve", "token", "add", "--role", "lead", "--space", name)

    assert 2 == made.code
    assert f"Invalid space {name!r}" in made.err
    assert "There is no space" not in made.err
    assert ["owner"] == [login["name"] for login in json.loads(run("serve", "token", "list", "--json").out)]


def test_a_role_that_cannot_be_one_is_refused(limited, run):
    made = run("serve", "token", "add", "--role", "No Such Role")
    listed = run("serve", "token", "list", "--json")

    assert 2 == made.code
    assert ["owner"] == [login["name"] for login in json.loads(listed.out)]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--host", "0.0.0.0"), 1, "--certificate"),
        (("--certificate", "nowhere.pem"), 2, "--key"),
        (("--host", "no.such.host.invalid"), 1, "--plain-text"),
        (("--role", "intern"), 2, "--role"),
    ],
)
def test_what_should_not_be_served_is_refused(run, options, code, words):
    refused = run("serve", "--port", "0", *options)

    assert code == refused.code
    assert words in refused.err


def test_an_encrypted_store_is_served_with_its_key(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    folder = tmp_path / "project"
    folder.mkdir()
    hexad.open(folder, key=key, embedder=None).close()

    with serving(folder, environ={"HEXAD_KEY_FILE": str(key)}) as running:
        running.post("/v1/memories", {"text": "Sealed away."})
        problems = running.post("/v1/maintenance/check", {}).json()

    assert [] == problems
    with hexad.open(folder, key=key, embedder=None, background=False) as hx:
        assert ["Sealed away."] == [memory.raw for memory in hx.memories()]


def test_beyond_this_machine_it_speaks_tls(tmp_path):
    certificate, key = certificate_of(tmp_path)
    folder = tmp_path / "project"
    folder.mkdir()

    with serving(folder, "--certificate", str(certificate), "--key", str(key)) as running:
        with hexad.connect(running.url, token=running.token_file, certificate=certificate) as hx:
            hx.remember("Over TLS.")
            count = hx.count()
        with pytest.raises(hexad.ServerUnreachable), hexad.connect(running.url, token="x") as stranger:
            stranger.count()

    assert running.url.startswith("https://")
    assert 1 == count


def certificate_of(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that nobody has signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


def test_too_many_requests_are_told_when_to_ask_again(tmp_path):
    with serving(tmp_path, "--rate", "1", "--body-mib", "1") as running:
        answers = [running.get("/v1/memories/count") for _ in range(12)]
        strangers = [running.get("/v1/memories/count", token="wrong") for _ in range(12)]
        large = running.post("/v1/memories", {"text": "x" * (2 << 20)}, token="wrong")

    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert {"1", "2"} >= {answer.headers["retry-after"] for answer in refused}
    assert {200, 429} == {answer.status_code for answer in answers}
    assert {401, 429} == {answer.status_code for answer in strangers}
    assert large.status_code in (401, 429)  # nobody's body is looked at before the token


def test_no_documented_command_shows_a_token_to_who_lists_processes():
    root = Path(__file__).parents[1]
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        assert "Bearer $(" not in page.read_text(encoding="utf-8"), page
