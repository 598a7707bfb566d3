from __future__ import annotations

import json
import os
import subprocess

import pytest

from hexad.errors import InvalidInput, NotFound
from hexad.ingest.sources.detect import detect
from hexad.memory.source import SourceKind


def test_a_folder_and_a_file_are_known_by_their_absolute_paths(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("x")
    monkeypatch.chdir(tmp_path)

    assert (SourceKind.FOLDER, tmp_path.as_posix(), tmp_path) == (
        detect(".").kind,
        detect(".").uri,
        detect(".").path,
    )
    assert (SourceKind.FILE, f"{tmp_path.as_posix()}/a.txt") == (detect("a.txt").kind, detect("./a.txt").uri)


TURN = {"speaker": "Ann", "text": "hi"}
CHAT = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.jsonl", json.dumps(TURN), SourceKind.CONVERSATION),
        ("a.jsonl", "not json\n" + json.dumps(CHAT), SourceKind.CONVERSATION),
        (
            "a.ndjson",
            json.dumps({"type": "summary"}) + "\n" + json.dumps({"type": "user", "sessionId": "s"}),
            SourceKind.CONVERSATION,
        ),
        ("a.json", json.dumps([{"role": "user", "content": "hi"}]), SourceKind.CONVERSATION),
        ("a.json", json.dumps([{"mapping": {}}] * 3, indent=1), SourceKind.CONVERSATION),
        ("a.json", json.dumps([{"mapping": {"a": "x" * 3_000_000}}]), SourceKind.CONVERSATION),
        ("a.jsonl", json.dumps({"id": 1, "text": "x"}), SourceKind.DOCUMENTS),
        ("a.json", json.dumps([{"id": 1, "text": "x"}]), SourceKind.DOCUMENTS),
        ("a.json", json.dumps({"name": "x"}), SourceKind.FILE),
        ("a.json", "[" * 100_000, SourceKind.FILE),
        ("a.json", "[]", SourceKind.FILE),
        ("a.json", "[1,", SourceKind.FILE),
        ("a.jsonl", "", SourceKind.FILE),
        ("a.jsonl", '{"id": "a", "text": "\n{"id": "b", "text": "no brace"\n', SourceKind.DOCUMENTS),
        ("a.jsonl", '{"id": "a",\n "text": "on many lines"}\n', SourceKind.FILE),
        ("a.jsonl", "{\n  broken\n", SourceKind.FILE),
        ("a.jsonl", "words, and no record\n", SourceKind.FILE),
        ("a.txt", json.dumps(TURN), SourceKind.FILE),
    ],
)
def test_a_file_of_json_is_known_by_the_keys_of_its_records(tmp_path, name, content, kind):
    (tmp_path / name).write_text(content)

    assert kind == detect(tmp_path / name).kind


def test_the_kind_can_be_said(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(TURN))

    assert SourceKind.DOCUMENTS == detect(tmp_path / "a.jsonl", kind="documents").kind


@pytest.mark.parametrize(
    ("source", "kind", "error", "message"),
    [
        ("nowhere.txt", None, NotFound, "'nowhere.txt' was not found"),
        ("HEAD~3..HEAD", None, NotFound, "use 'git:HEAD~3..HEAD' if it is a range"),
        ("", None, InvalidInput, "cannot be a path"),
        ("a\0b", None, InvalidInput, "cannot be a path"),
        ("x" * 5_000, None, InvalidInput, "cannot be opened: File name too long"),
        (".", "novel", InvalidInput, "'novel' is unknown; use one of text, file"),
        (".", "conversation", InvalidInput, "is a folder and cannot be read"),
        ("a.txt", "folder", InvalidInput, "is a file, not a folder"),
        ("pipe", None, InvalidInput, "neither a file nor a folder"),
        ("git:.", None, InvalidInput, "not a git repository"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(tmp_path, monkeypatch, source, kind, error, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(error, match=message):
        detect(source, kind=kind)


@pytest.mark.parametrize(
    ("source", "kind", "commits"),
    [
        ("git:HEAD~1..HEAD", None, "HEAD~1..HEAD"),
        ("git:sub?v1..v2", None, "v1..v2"),
        ("git:sub", None, None),
        ("HEAD~1..HEAD", "git", "HEAD~1..HEAD"),
        (".", "git", None),
        ("git:", None, None),
    ],
)
def test_history_is_known_by_its_repository_and_range(tmp_path, monkeypatch, source, kind, commits):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)

    spec = detect(source, kind=kind)

    assert (SourceKind.GIT, tmp_path, commits) == (spec.kind, spec.path, spec.range)
    assert f"git:{tmp_path.as_posix()}?{commits or ''}" == spec.uri
