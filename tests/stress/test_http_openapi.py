"""OpenAPI says what is served: schemathesis asks for everything in it, and finds nothing."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexad.client.verbs import VERBS
from hexad.interfaces.http_server.tokens import TokenFile
from http_servers import HttpServer, serving

pytest.importorskip("fastapi")
SETTINGS = Path(__file__).with_name("schemathesis.toml")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = tmp_path_factory.mktemp("described") / "project"
    folder.mkdir()
    with serving(folder, "--rate", "100000") as running:
        running.post(
            "/v1/memories", {"text": "Deploys happen on Tuesday.", "kind": "decision", "space": "ours"}
        )
        yield running


def test_every_call_is_described_with_its_parameters(server):
    document = server.get("/openapi.json").json()
    described = {
        operation["operationId"]: operation
        for path in document["paths"].values()
        for operation in path.values()
        if "operationId" in operation
    }

    assert set(VERBS) <= set(described)
    recall = described["recall"]["requestBody"]["content"]["application/json"]["schema"]
    assert (["query"], True) == (recall["required"], recall["properties"]["feedback"]["default"])
    assert "limit" in recall["properties"]
    assert {"tags", "concepts", "session_id"} <= {
        parameter["name"] for parameter in described["xdb.recall"]["parameters"]
    }
    assert [] == [name for name in VERBS if not described[name]["description"]]


def test_answers_are_as_they_are_described(server):
    jsonschema = pytest.importorskip("jsonschema")
    for path, body in (
        ("governance/decide", {"title": "Use Postgres", "rationale": "Row-level security"}),
        ("layers/session/start", {"task": "Move the shop", "steps": ["schema"]}),
        ("layers/user/prefer", {"key": "db", "value": "Postgres"}),
        ("xdb/start-session", {"session_id": "s"}),
        ("xdb/record", {"event_type": "output", "content": "noon", "session_id": "s"}),
        ("memories", {"text": "Ann lives in Bonn.", "subject": "Ann", "attribute": "home", "value": "Bonn"}),
    ):
        assert 200 == server.post(f"/v1/{path}", body).status_code
    document = server.get("/openapi.json").json()
    wrong, checked = [], 0
    for path, operations in document["paths"].items():
        described = operations.get("get")
        if described is None or any(parameter["required"] for parameter in described.get("parameters", ())):
            continue
        answer = server.get(path)
        if answer.status_code == 200:
            schema = described["responses"]["200"]["content"]["application/json"]["schema"]
            validator = jsonschema.Draft202012Validator({**schema, "components": document["components"]})
            wrong += [(path, error.message) for error in validator.iter_errors(answer.json())]
            checked += "$ref" in str(schema)

    assert [] == wrong
    assert checked > 20
    memory = document["components"]["schemas"]["Memory"]["properties"]
    assert ({"type": "string"}, {"type": "boolean"}) == (memory["raw"], memory["pinned"])


def ask_everything(server: HttpServer, *options: str, token: str | None = None) -> str:
    """Run schemathesis and return what it says; it ends with 0 where it found nothing. None is the owner's token."""
    program = shutil.which("st", path=str(Path(sys.executable).parent))
    assert program is not None
    command = [
        program, "--config-file", str(SETTINGS), "run", f"{server.url}/openapi.json",
        "-H", f"Authorization: Bearer {token or server.token}", "--seed", "1", "--continue-on-failure", *options,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_600, check=False)
    assert 0 == done.returncode, done.stdout[-20_000:] + done.stderr
    return done.stdout


@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None,
    reason="schemathesis is not installed; `make frameworks` does",
)
def test_schemathesis_finds_nothing(server):
    said = ask_everything(
        server, "--phases", "coverage", "--include-path-regex", "^/v1/(recall|forget|memories/tag|xdb/tags)$"
    )

    assert int(re.search(r"([\d,]+) generated", said)[1].replace(",", "")) > 100


@pytest.mark.parametrize(("role", "spaces"), [("owner", ["ours"]), ("reviewer", None)])
@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None,
    reason="schemathesis is not installed; `make frameworks` does",
)
def test_schemathesis_finds_nothing_with_a_token_that_may_do_less(server, role, spaces):
    token = TokenFile(server.store).add(role=role, spaces=spaces)[1]

    said = ask_everything(
        server,
        "--phases",
        "coverage",
        "--include-path-regex",
        "^/v1/(recall|context|expand|memories|memories/structured|spaces/get|audit/records|audit/incident)$",
        token=token,
    )

    assert int(re.search(r"([\d,]+) generated", said)[1].replace(",", "")) > 100


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None,
    reason="schemathesis is not installed; `make frameworks` does",
)
def test_schemathesis_finds_nothing_anywhere(server):
    said = ask_everything(server, "--phases", "examples,coverage,fuzzing", "--max-examples", "20")
    problems = server.post("/v1/maintenance/check", {}).json()

    assert int(re.search(r"([\d,]+) generated", said)[1].replace(",", "")) > 10_000
    assert [] == problems
