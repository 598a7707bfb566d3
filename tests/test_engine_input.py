"""Values that cannot be used: the right error, which names the value and the remedy, and a store left as it was."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from opener import Opener


def contents(hx: Hexad) -> tuple[object, ...]:
    """All that a caller can see of a store, and what waits in it."""
    status = hx.status()
    return (
        [memory.to_dict() for memory in hx.memories(status=None, limit=1000)],
        [(space.name, space.updated_at, space.policies, space.metadata) for space in hx.spaces.list()],
        (status.memories, status.chunks, status.vectors, status.embeddings_pending, status.queue_waiting),
    )


def bytes_of(folder: Path) -> dict[str, str]:
    """Every file below `folder` with a hash of its bytes; locks and shared memory say nothing."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", ".lock"))
    }


LONG = "a" * 1000
CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"text": ""}, hexad.InvalidMemory, ["empty", "at least one character"]),
        ({"text": " \n\t "}, hexad.InvalidMemory, ["empty"]),
        ({"text": "\0\0"}, hexad.InvalidMemory, ["empty"]),
        ({"text": "x" * (2 << 20)}, hexad.LimitExceeded, ["2,097,152", "1,048,576", "hexad ingest"]),
        ({"text": "é" * (600 << 10)}, hexad.LimitExceeded, ["1,228,800"]),
        ({"text": 5}, hexad.InvalidMemory, ["text must be a string, not 5"]),
        ({"text": None}, hexad.InvalidMemory, ["text must be a string, not None"]),
        ({"text": b"x"}, hexad.InvalidMemory, ["text must be a string, not b'x'"]),
        ({"pinned": "no"}, hexad.InvalidMemory, ["pinned 'no'", "true or false"]),
        ({"pinned": 1}, hexad.InvalidMemory, ["pinned 1", "true or false"]),
        ({"space": 5}, hexad.InvalidSpace, ["Invalid space 5", "default"]),
        ({"space": None}, hexad.InvalidSpace, ["Invalid space None"]),
        ({"space": ["a"]}, hexad.InvalidSpace, ["Invalid space ['a']"]),
        ({"kind": 5}, hexad.InvalidMemory, ["kind must be a string, not 5"]),
        ({"path": 5}, hexad.InvalidMemory, ["path must be a string, not 5"]),
        ({"id": 5}, hexad.InvalidMemory, ["id must be a string, not 5"]),
        ({"source_id": 5}, hexad.InvalidMemory, ["source_id must be a string, not 5"]),
        ({"subject": 5}, hexad.InvalidMemory, ["subject must be a string, not 5"]),
        ({"attribute": ["x"]}, hexad.InvalidMemory, ["attribute must be a string, not ['x']"]),
        ({"tags": [1]}, hexad.InvalidInput, ["tags hold 1", "list of strings"]),
        ({"tags": 5}, hexad.InvalidInput, ["tags = 5", "list of strings"]),
        ({"tags": b"x"}, hexad.InvalidInput, ["tags = b'x'", "list of strings"]),
        ({"data_subjects": [None]}, hexad.InvalidInput, ["data_subjects hold None", "list of strings"]),
        ({"citations": 5}, hexad.InvalidInput, ["citations = 5", "Citation"]),
        ({"citations": ["a.py"]}, hexad.InvalidMemory, ["citations", "'a.py'", "Citation"]),
        ({"importance": "high"}, hexad.InvalidMemory, ["importance 'high'", "number"]),
        ({"confidence": True}, hexad.InvalidMemory, ["confidence True", "number"]),
        ({"relevance": 5}, hexad.InvalidInput, ["relevance = 5", "high, medium, low"]),
        ({"trust": ["user"]}, hexad.InvalidInput, ["trust = ['user']", "user, agent"]),
        ({"space": ""}, hexad.InvalidSpace, ["Invalid space ''", "empty"]),
        ({"space": "../up"}, hexad.InvalidSpace, ["Invalid space '../up'"]),
        ({"space": "a//b"}, hexad.InvalidSpace, ["Invalid space 'a//b'"]),
        ({"space": "a b"}, hexad.InvalidSpace, ["Invalid space 'a b'", "' ' is not allowed"]),
        ({"space": "NUL"}, hexad.InvalidSpace, ["Invalid space 'NUL'", "choose another"]),
        ({"space": "DOCS"}, hexad.InvalidSpace, ["Invalid space 'DOCS'", "'docs'", "use that name"]),
        ({"space": LONG}, hexad.InvalidSpace, ["1000 characters", "128"]),
        ({"kind": " "}, hexad.InvalidMemory, ["kind ' '", "1 to 64"]),
        ({"kind": "a\nb"}, hexad.InvalidMemory, ["kind 'a\\nb'"]),
        ({"kind": LONG}, hexad.InvalidMemory, ["kind", "64"]),
        ({"kind": "???"}, hexad.InvalidInput, ["???"]),
        ({"id": ""}, hexad.InvalidMemory, ["id ''", "1 to 200"]),
        ({"id": "a\x07"}, hexad.InvalidMemory, ["id 'a\\x07'"]),
        ({"id": LONG}, hexad.InvalidMemory, ["id", "200"]),
        ({"source_id": LONG}, hexad.InvalidMemory, ["source_id", "800"]),
        ({"path": "a/../b"}, hexad.InvalidMemory, ["'a/../b'", "'..'"]),
        ({"path": "///"}, hexad.InvalidMemory, ["'///'", "project/module/topic"]),
        ({"path": LONG}, hexad.InvalidMemory, ["512"]),
        ({"tags": ["ok", "!!"]}, hexad.InvalidInput, ["'!!'", "no letter or digit"]),
        ({"tags": "release"}, hexad.InvalidInput, ["'release'", '["release"]']),
        ({"relevance": "huge"}, hexad.InvalidInput, ["relevance = 'huge'", "high, medium, low"]),
        ({"trust": "nobody"}, hexad.InvalidInput, ["trust = 'nobody'", "user, agent, tool, web, unknown"]),
        ({"importance": 1.5}, hexad.InvalidMemory, ["importance 1.5", "between 0 and 1"]),
        ({"importance": math.nan}, hexad.InvalidMemory, ["importance nan"]),
        ({"confidence": -0.1}, hexad.InvalidMemory, ["confidence -0.1"]),
        ({"valid_from": "yesterday"}, hexad.InvalidInput, ["valid_from = 'yesterday'", "2026-05-01"]),
        ({"valid_to": "2026-13-01"}, hexad.InvalidInput, ["valid_to = '2026-13-01'"]),
        ({"valid_from": 17}, hexad.InvalidInput, ["valid_from must be a datetime or a string, not 17"]),
        (
            {"valid_from": "0001-01-01T00:00:00+12:00"},
            hexad.InvalidInput,
            ["0001-01-01T00:00:00+12:00", "years 1 to 9999"],
        ),
        ({"freeze_clock": "noon"}, hexad.InvalidInput, ["freeze_clock = 'noon'"]),
        (
            {"valid_from": "2026-05-02", "valid_to": "2026-05-01"},
            hexad.InvalidMemory,
            ["valid_to 2026-05-01", "before valid_from 2026-05-02"],
        ),
        ({"metadata": {"x": math.nan}}, hexad.InvalidMemory, ["metadata is not JSON", "range"]),
        ({"metadata": {"x": math.inf}}, hexad.InvalidMemory, ["metadata is not JSON", "range"]),
        ({"metadata": {"x": "\ud800"}}, hexad.InvalidMemory, ["metadata holds half a character", "whole"]),
        ({"metadata": {"x": {1, 2}}}, hexad.InvalidMemory, ["metadata is not JSON", "set"]),
        ({"metadata": {"x": CIRCLE}}, hexad.InvalidMemory, ["metadata is not JSON"]),
        ({"metadata": {1: "x"}}, hexad.InvalidMemory, ["metadata", "key 1", "strings"]),
        ({"metadata": {"x": [{None: 1}]}}, hexad.InvalidMemory, ["metadata", "None", "strings"]),
        ({"metadata": ["x"]}, hexad.InvalidMemory, ["metadata", "['x']", "object"]),
        ({"metadata": {"x": "y" * (1 << 20)}}, hexad.LimitExceeded, ["metadata", "1,048,576"]),
        ({"value": {"x": "y" * (64 << 10)}}, hexad.LimitExceeded, ["value", "65,536"]),
        ({"value": b"bytes"}, hexad.InvalidMemory, ["value is not JSON", "bytes"]),
        ({"value": {"x": math.nan}}, hexad.InvalidMemory, ["value is not JSON"]),
        ({"subject": " "}, hexad.InvalidMemory, ["subject ' '"]),
        ({"attribute": LONG}, hexad.InvalidMemory, ["attribute", "500"]),
        ({"data_subjects": "ada"}, hexad.InvalidInput, ["data_subjects = 'ada'", '["ada"]']),
        ({"id": "known"}, hexad.Conflict, ["'known'", "space 'docs'", "'default'", "another id"]),
        ({"id": "new", "source_id": "page", "space": "docs"}, hexad.Conflict, ["'page'", "'known'", "'new'"]),
    ],
)
def test_a_text_that_cannot_be_stored_names_why_and_changes_nothing(
    hx: Hexad, values: dict[str, object], error: type[Exception], words: list[str]
) -> None:
    hx.remember("A page that is there already.", space="docs", id="known", source_id="page")
    before = contents(hx)

    with pytest.raises(error) as raised:
        hx.remember(**{"text": "A text that is fine.", **values})  # type: ignore[arg-type]

    assert [] == [word for word in words if word not in str(raised.value)], str(raised.value)
    assert before == contents(hx)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"query": 5}, hexad.InvalidInput, ["question must be a string, not 5"]),
        ({"query": None}, hexad.InvalidInput, ["question must be a string, not None"]),
        ({"space": 5}, hexad.InvalidInput, ["space = 5"]),
        ({"path": 5}, hexad.InvalidInput, ["path must be a string, not 5"]),
        ({"tags": [1]}, hexad.InvalidInput, ["tags", "1"]),
        ({"query": ""}, hexad.InvalidInput, ["question is empty", "hx.memories()"]),
        ({"query": " \n"}, hexad.InvalidInput, ["question is empty"]),
        ({"query": "x" * 100_001}, hexad.LimitExceeded, ["100,001", "8,192"]),
        ({"limit": 0}, hexad.InvalidInput, ["limit = 0", "1 to 1000"]),
        ({"limit": -3}, hexad.InvalidInput, ["limit = -3"]),
        ({"limit": 1001}, hexad.InvalidInput, ["limit = 1001"]),
        ({"limit": 2.5}, hexad.InvalidInput, ["limit = 2.5", "whole"]),
        ({"limit": "5"}, hexad.InvalidInput, ["limit = '5'", "whole"]),
        ({"limit": True}, hexad.InvalidInput, ["limit = True"]),
        ({"max_tokens": 0}, hexad.InvalidInput, ["max_tokens = 0", "at least 1"]),
        ({"max_tokens": 1.5}, hexad.InvalidInput, ["max_tokens = 1.5"]),
        ({"space": "nowhere"}, hexad.NotFound, ["'nowhere' not found"]),
        ({"space": ["docs", "nowhere"]}, hexad.NotFound, ["'nowhere' not found"]),
        ({"since": "then"}, hexad.InvalidInput, ["since = 'then'"]),
        ({"until": "later"}, hexad.InvalidInput, ["until = 'later'"]),
        ({"tags": ["!"]}, hexad.InvalidInput, ["'!'"]),
        ({"tags": "docs"}, hexad.InvalidInput, ["'docs'", "list"]),
        ({"kinds": "note"}, hexad.InvalidInput, ["kinds = 'note'", '["note"]']),
    ],
)
def test_a_question_that_cannot_be_answered_names_why(
    hx: Hexad, values: dict[str, object], error: type[Exception], words: list[str]
) -> None:
    hx.remember("A page that is there already.", space="docs")
    before = contents(hx)

    with pytest.raises(error) as raised:
        hx.recall(**{"query": "page", **values})  # type: ignore[arg-type]

    assert [] == [word for word in words if word not in str(raised.value)], str(raised.value)
    assert before == contents(hx)


def test_other_calls_name_what_they_cannot_use(hx: Hexad, tmp_path: Path) -> None:
    hx.remember("A page.", space="docs")
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: hx.memories(space="nowhere"), hexad.NotFound, "nowhere"),
        (lambda: hx.memories(status="gone"), hexad.InvalidInput, "status = 'gone'"),
        (lambda: hx.memories(kinds="log"), hexad.InvalidInput, "kinds = 'log'"),
        (lambda: hx.memories(tags=[1]), hexad.InvalidInput, "tags"),
        (lambda: hx.memories(kinds=[1]), hexad.InvalidInput, "kinds"),
        (lambda: hx.memories(text=5), hexad.InvalidInput, "text must be a string, not 5"),
        (lambda: hx.memories(path=5), hexad.InvalidInput, "path must be a string, not 5"),
        (lambda: hx.memories(limit="5"), hexad.InvalidInput, "limit = '5'"),
        (lambda: hx.memories(offset="5"), hexad.InvalidInput, "offset = '5'"),
        (lambda: hx.get(None), hexad.InvalidInput, "None"),
        (lambda: hx.get(["x"]), hexad.InvalidInput, "['x']"),
        (lambda: hx.forget(5), hexad.InvalidInput, "5"),
        (lambda: hx.tag("x", add=[1]), hexad.InvalidInput, "add"),
        (lambda: hx.link(5, "x"), hexad.InvalidInput, "5"),
        (
            lambda: hx.remember_raw("docs", 5, "A text."),
            hexad.InvalidMemory,
            "kind must be a string, not 5",
        ),
        (
            lambda: hx.remember_raw("docs", "note", None),
            hexad.InvalidMemory,
            "raw must be a string, not None",
        ),
        (lambda: hx.remember_raw(5, "note", "A text."), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.remember_raw("docs", "note", "A text.", tags=5), hexad.InvalidInput, "tags = 5"),
        (lambda: hx.remember_structured(5, {"raw": "x"}), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.remember_structured("docs", 5), hexad.InvalidMemory, "5"),
        (lambda: hx.remember_structured("docs", {"raw": 5}), hexad.InvalidMemory, "raw = 5"),
        (lambda: hx.ingest(5), hexad.InvalidInput, "5"),
        (lambda: hx.ingest(tmp_path, space=5), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.ingest(tmp_path, kind=5), hexad.InvalidInput, "kind"),
        (lambda: hx.ingest(tmp_path, tags=[1]), hexad.InvalidInput, "tags"),
        (lambda: hx.ingest(tmp_path, project=5), hexad.InvalidInput, "project"),
        (lambda: hx.spaces.get(5), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.spaces.create(5), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.recall_context(5, "x"), hexad.InvalidSpace, "Invalid space 5"),
        (lambda: hx.ingest(tmp_path / "nothing"), hexad.NotFound, "nothing"),
        (lambda: hx.ingest(tmp_path, tags="x"), hexad.InvalidInput, "tags = 'x'"),
        (lambda: hx.ingest(tmp_path, trust="x"), hexad.InvalidInput, "trust = 'x'"),
        (lambda: hx.ingest(tmp_path, space="a b"), hexad.InvalidSpace, "'a b'"),
        (lambda: hx.watch(tmp_path / "nothing"), hexad.NotFound, "nothing"),
        (lambda: hx.reindex(embedder="bogus"), hexad.InvalidInput, "'bogus'"),
        (lambda: hx.spaces.get("nowhere"), hexad.NotFound, "nowhere"),
        (lambda: hx.spaces.create("docs"), hexad.Conflict, "'docs'"),
        (lambda: hx.spaces.create("Docs"), hexad.InvalidSpace, "'docs'"),
        (lambda: hx.spaces.create("a b"), hexad.InvalidSpace, "'a b'"),
        (lambda: hx.spaces.write_file("nowhere"), hexad.NotFound, "nowhere"),
        (lambda: hx.spaces.set_policy("nowhere", {}), hexad.NotFound, "nowhere"),
        (lambda: hx.spaces.set_policy("docs", {"ttl_days": 0}), hexad.InvalidSpace, "'ttl_days'"),
        (lambda: hx.spaces.set_policy("docs", {"pii_redaction": ["mail"]}), hexad.InvalidInput, "'mail'"),
        (lambda: hx.spaces.set_policy("docs", {"pii_redaction": "email"}), hexad.InvalidInput, "'email'"),
    ]
    before = contents(hx)
    for call, error, words in calls:
        with pytest.raises(error) as raised:
            call()
        assert words in str(raised.value)
    assert before == contents(hx)


def test_one_bad_memory_among_many_items_is_skipped_with_its_reason(hx: Hexad, project: Path) -> None:
    rows = [
        {"id": "a", "text": "A fine text."},
        {"id": "b", "text": "Too much about it.", "about": "y" * (1 << 20)},
        {"id": "c", "text": "Another one."},
    ]
    source = project / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))

    report = hx.ingest(source)

    assert (2, 1) == (report.created, report.skips)
    assert "1,048,576" in report.skipped[0].reason


# Where a store is ----------------------------------------------------------------------------------------------


def test_a_store_that_is_not_there_is_named_and_not_made(project: Path) -> None:
    with pytest.raises(hexad.NotFound, match=r"hexad init"):
        hexad.open(project, embedder=None, create=False)
    with pytest.raises(hexad.NotFound, match=r"no store"):
        hexad.open(project, embedder=None, readonly=True)
    with pytest.raises(hexad.NotFound, match=r"nowhere"):
        hexad.open(project / "nowhere", embedder=None)
    with pytest.raises(hexad.NotFound, match=r"nowhere"):
        hexad.init(project / "nowhere")

    assert [] == list(project.iterdir())


def test_a_file_in_place_of_a_folder_is_named(project: Path) -> None:
    file = project / "notes.txt"
    file.write_text("hello")

    with pytest.raises(hexad.InvalidInput, match=r"notes\.txt.* is a file"):
        hexad.open(file, embedder=None)
    assert "hello" == file.read_text()


@pytest.mark.parametrize("call", ["open", "init"])
def test_a_file_called_hexad_is_left_alone(project: Path, call: str) -> None:
    (project / ".hexad").write_text("mine")

    with pytest.raises(hexad.InvalidInput, match=r"\.hexad is not a folder; move it away"):
        if call == "open":
            hexad.open(project, embedder=None)
        else:
            hexad.init(project)
    assert "mine" == (project / ".hexad").read_text()


def test_init_leaves_a_store_that_is_there(project: Path) -> None:
    hexad.init(project)
    before = bytes_of(project)

    with pytest.raises(hexad.Conflict, match=r"left as it is|left as it was"):
        hexad.init(project)
    assert before == bytes_of(project)


def test_init_gives_a_store_without_settings_its_file_and_leaves_the_rest(project: Path) -> None:
    with hexad.open(project, embedder=None) as hx:
        hx.remember("Deploys happen on Tuesday.", id="m1")

    path = hexad.init(project)

    assert "# role = " in (path / "hexad.toml").read_text()
    with hexad.open(project, embedder=None) as hx:
        assert "Deploys happen on Tuesday." == hx.get("m1").raw


@pytest.mark.parametrize(
    "name",
    ["GENERATOR", "ROLE", "EMBEDDER", "DURABILITY", "LOCK_TIMEOUT_S", "PROJECT", "LLM_MAX_TOKENS", "OTEL"],
)
def test_an_empty_variable_is_as_if_it_were_not_there(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"HEXAD_{name}", " ")
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text('embedder = "hashing"\nrole = ""\ngenerator = ""\n')

    with hexad.open(project) as hx:
        assert "project" == hx.remember("Deploys happen on Tuesday.").metadata["project"]
        assert (None, "hashing") == (hx.status().generator, (hx.status().embedder or "").partition("-")[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("embedder = ", ["hexad.toml", "TOML", "Mend or remove"]),
        ("role = " + "9" * 5_000, ["hexad.toml", "TOML", "Mend or remove"]),
        ("a." * 200_000 + "a = 1", ["hexad.toml", "TOML", "64 parts", "Mend or remove"]),
        ("colour = 'red'", ["unknown setting 'colour'", "durability"]),
        ("lock_timeout_s = 'soon'", ["lock_timeout_s = 'soon'", "a number"]),
        ("lock_timeout_s = -1", ["lock_timeout_s in hexad.toml = -1", "from 0"]),
        ("lock_timeout_s = nan", ["lock_timeout_s in hexad.toml = nan", "from 0"]),
        ("role = 5", ["role = 5", "a text"]),
        ("role = 'No Role'", ["role in hexad.toml", "'No Role'", "a-z"]),
        ("generator = 'bogus'", ["generator in hexad.toml", "'bogus'"]),
        ("env_allow = [1]", ["env_allow = [1]", "list of texts"]),
        ("env_allow = 'A'", ["env_allow = 'A'", "list"]),
        ("durability = 'maybe'", ["durability = 'maybe'", "group", "hexad.toml"]),
        ("embedder = 'bogus'", ["'bogus'", "hashing", "embedder in hexad.toml"]),
    ],
)
def test_damaged_settings_are_named_and_nothing_is_made(
    project: Path, settings: str, words: list[str]
) -> None:
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(settings)

    with pytest.raises(hexad.InvalidInput) as raised:
        hexad.open(project)

    assert [] == [word for word in words if word not in str(raised.value)], str(raised.value)
    assert ["hexad.toml"] == [path.name for path in (project / ".hexad").iterdir()]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HEXAD_DURABILITY", "maybe", "durability = 'maybe'"),
        ("HEXAD_LOCK_TIMEOUT_S", "soon", "HEXAD_LOCK_TIMEOUT_S='soon'"),
        ("HEXAD_EMBEDDER", "bogus", "'bogus'"),
        ("HEXAD_EMBEDDER", "bogus", "HEXAD_EMBEDDER"),
        ("HEXAD_DURABILITY", "maybe", "HEXAD_DURABILITY"),
        ("HEXAD_LOCK_TIMEOUT_S", "-1", "HEXAD_LOCK_TIMEOUT_S = -1"),
        ("HEXAD_GENERATOR", "bogus", "HEXAD_GENERATOR"),
        ("HEXAD_ROLE", "No Role", "HEXAD_ROLE"),
    ],
)
def test_a_bad_variable_is_named_and_nothing_is_made(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(hexad.InvalidInput) as raised:
        hexad.open(project)

    assert words in str(raised.value)
    assert [] == list(project.iterdir())


def test_an_embedder_that_is_none_leaves_no_store_behind(project: Path) -> None:
    for bogus in ("bogus", 17, HashlessEmbedder):
        with pytest.raises(hexad.InvalidInput, match=r"embedder"):
            hexad.open(project, embedder=bogus)  # type: ignore[arg-type]
    assert [] == list(project.iterdir())


class HashlessEmbedder:
    """A class where an object was wanted."""


def test_a_store_from_a_newer_version_is_left_unchanged(project: Path) -> None:
    store = hexad.init(project)
    # In another process: two copies of SQLite in one process undo each other's locks.
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(\"INSERT INTO schema_migrations VALUES(99, 'future', 'now')\"); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", script, str(store / "memory.db")], check=True)
    before = bytes_of(project)

    for readonly in (False, True):
        with pytest.raises(hexad.IntegrityError, match=r"99") as raised:
            hexad.open(project, embedder=None, readonly=readonly)
        assert "newer version" in str(raised.value) or "install" in str(raised.value)
    assert before[".hexad/memory.db"] == bytes_of(project)[".hexad/memory.db"]


def test_something_that_is_no_database_is_not_written_over(project: Path) -> None:
    store = hexad.init(project)
    (store / "memory.db").write_bytes(b"not a database at all, " * 400)

    with pytest.raises(hexad.IntegrityError, match=r"memory\.db"):
        hexad.open(project, embedder=None)
    assert (store / "memory.db").read_bytes().startswith(b"not a database at all")


def test_check_names_a_foreign_file(hx: Hexad) -> None:
    foreign = hx.path / "shopping.txt"
    foreign.write_text("milk")

    (problem,) = hx.check()

    assert "shopping.txt" in problem
    assert "Move it away" in problem
    foreign.unlink()


def test_a_key_file_that_others_can_read_stops_writing(opened: Opener) -> None:
    with opened() as first:
        first.remember("A text that is there.")
        keys = first.path / "keys.json"
    keys.chmod(0o644)
    hx = opened()
    before = contents(hx)

    with pytest.raises(hexad.AccessDenied, match=r"keys\.json has mode 0644.*chmod 600"):
        hx.remember("A second text.")

    assert before == contents(hx)
    assert ["A text that is there."] == [hit.text for hit in hx.recall("text")]
    assert [True] == ["chmod 600" in problem for problem in hx.check()]
    assert "0644" in hx.status().keys
    keys.chmod(0o600)


def test_a_damaged_key_file_stops_writing(opened: Opener) -> None:
    with opened() as first:
        first.remember("A text that is there.")
        keys = first.path / "keys.json"
    whole = keys.read_text()
    keys.write_text("{}")
    with pytest.warns(UserWarning, match=r"keys\.json is damaged"):
        hx = opened()

    with pytest.raises(hexad.IntegrityError, match=r"keys\.json is damaged.*Restore"):
        hx.remember("A second text.")
    assert 1 == len(hx.memories())
    assert ["keys.json is damaged" in line for line in hx.check()] == [True]
    keys.write_text(whole)


def test_a_store_that_lost_its_database_is_not_begun_anew(project: Path) -> None:
    with hexad.open(project, embedder=None, background=False) as first:
        first.remember("A text that was there.")
    for name in ("memory.db", "memory.db-wal"):
        (project / ".hexad" / name).unlink(missing_ok=True)

    with pytest.raises(hexad.IntegrityError, match=r"memory\.db is gone, but keys\.json .* backup"):
        hexad.open(project, embedder=None)
    (project / ".hexad" / "memory.db").touch()
    with pytest.raises(hexad.IntegrityError, match=r"memory\.db is empty"):
        hexad.open(project, embedder=None)


# Read-only ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filled", [True, False])
def test_a_store_opened_readonly_answers_and_refuses_every_write(
    opened: Opener, project: Path, filled: bool
) -> None:
    with opened() as writer:
        if filled:
            writer.remember("The ferry leaves at nine.", id="ferry")
            writer.maintain()
    before = bytes_of(project)

    with opened(readonly=True) as hx:
        assert (["ferry"] if filled else []) == [hit.id for hit in hx.recall("ferry")]
        assert filled == bool(hx.memories())
        assert [] == hx.check()
        assert hx.status().readonly
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.remember("Something new.")
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.ingest(project)
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.enqueue(project)
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.spaces.create("new")
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.reindex()
        if filled:
            for change in (hx.forget, hx.pin):
                with pytest.raises(hexad.StorageFailure, match=r"read-only"):
                    change("ferry")
        with pytest.raises(hexad.StorageFailure, match=r"read-only"):
            hx.spaces.write_file("default") if filled else hx.spaces.create("x")

    assert before == {name: digest for name, digest in bytes_of(project).items() if not name.endswith("-wal")}


def test_a_folder_that_may_not_be_written_is_a_storage_failure(project: Path) -> None:
    if os.geteuid() == 0:
        # Nothing is forbidden to root by modes: a folder of the kernel's own takes no new entries either.
        forbidden = Path("/proc/self/task")
        if not forbidden.is_dir():
            pytest.skip("needs /proc, or a user that is not root")
    else:
        forbidden = project
        project.chmod(0o500)
    try:
        with pytest.raises(hexad.StorageFailure, match=r"Cannot create the directory .*\.hexad"):
            hexad.open(forbidden, embedder=None)
    finally:
        project.chmod(0o700)


def test_a_closed_store_says_so(hx: Hexad) -> None:
    hx.close()
    hx.close()

    for call in (lambda: hx.recall("x"), lambda: hx.remember("x"), hx.memories, hx.check):
        with pytest.raises(hexad.InvalidInput, match=r"is closed; open it again"):
            call()


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("query", lambda hx: hx.recall(" ")),
        ("query", lambda hx: hx.recall("q" * 1_000_000)),
        ("query", lambda hx: hx.plan(7)),
        ("text", lambda hx: hx.query(" ")),
        ("task", lambda hx: hx.context(7)),
        ("topic", lambda hx: hx.governance.why(" ")),
        ("text", lambda hx: hx.governance.query(" ")),
        ("title", lambda hx: hx.governance.decide("t" * 400)),
        ("text", lambda hx: hx.remember(" ")),
        ("text", lambda hx: hx.remember("t" * ((1 << 20) + 1))),
        ("text", lambda hx: hx.remember([])),
        ("importance", lambda hx: hx.remember("tea", importance=7)),
        ("kind", lambda hx: hx.remember("tea", kind="!")),
        ("tags", lambda hx: hx.remember("tea", tags=["!"])),
        ("path", lambda hx: hx.remember("tea", path="..")),
        ("metadata", lambda hx: hx.remember("tea", metadata=[1])),
        ("valid_to", lambda hx: hx.remember("tea", valid_from="2026-02-01", valid_to="2026-01-01")),
        ("layers", lambda hx: hx.context("tea", layers=[])),
        ("since", lambda hx: hx.context("tea", since="2026-02-01", until="2026-01-01")),
        ("what", lambda hx: hx.expand(3)),
        ("id_or_path", lambda hx: hx.forget(3)),
    ],
)
def test_an_error_carries_the_name_of_what_was_given(argument, call):
    with hexad.open(":memory:", embedder=None) as hx, pytest.raises(hexad.HexadError) as raised:
        call(hx)

    assert argument == raised.value.argument
