"""Texts that come in beside memories are searched too; wrong types, capitals of Greek, and one token."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hexad
from hexad import InvalidInput
from hexad.interfaces.cli.app.main import main

KEY = "sk" + "-proj-" + "Zk3mQ9vT2xW8rB5nL7cD1fG4hJ6kM8pQ"


def pack(folder: Path, **concept: object) -> Path:
    file = folder / "pack.jsonl"
    rows = [{"id": "p::Whale", "term": "Whale", "definition": "A large animal."}, {"term": "Boat", **concept}]
    file.write_text("".join(json.dumps({"pack_id": "p", **row}) + "\n" for row in rows))
    return file


@pytest.mark.row("A125")
@pytest.mark.parametrize(
    "concept",
    [
        {"definition": f"A vessel. The key is {KEY} for now."},
        {"remark": f"use {KEY}"},
        {"examples": [{"api_key": KEY}]},
    ],
    ids=["definition", "detail", "nested detail"],
)
def test_texts_of_concept_packs_are_searched_for_secrets(hx, project, concept):
    hx.xdb.load_concept_pack(pack(project, **concept))
    (boat,) = hx.xdb.find_concept("boat")
    hx.close()

    files = b"".join(path.read_bytes() for path in (project / ".hexad").rglob("*") if path.is_file())
    assert "Boat" == boat.name
    assert KEY.encode() not in files
    assert b"[REDACTED:" in files


@pytest.mark.row("A125")
@pytest.mark.parametrize("concept", [{"id": f"p::{KEY}"}, {"aliases": [KEY]}, {"related": [KEY]}], ids=str)
def test_a_pack_that_names_a_concept_by_a_secret_is_refused(hx, project, concept):
    with pytest.raises(InvalidInput, match="looks like a secret") as raised:
        hx.xdb.load_concept_pack(pack(project, **concept))

    assert KEY not in str(raised.value)
    assert [] == hx.xdb.find_concept("whale")


def test_a_pack_without_secrets_is_loaded_as_it_is(hx, project):
    hx.xdb.load_concept_pack(pack(project, definition="A vessel.", remark="floats", aliases=["ship"]))

    assert ["A vessel."] == [concept.description for concept in hx.xdb.find_concept("ship")]


@pytest.mark.parametrize("value", [5, None, b"x", ["a"], {"a": 1}, 1.5], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda hx, v: hx.xdb.documents.get_document(v),
        lambda hx, v: hx.xdb.documents.get_by_path(v),
        lambda hx, v: hx.xdb.documents.versions(v),
        lambda hx, v: hx.xdb.documents.update_document(v, "x"),
        lambda hx, v: hx.xdb.documents.remove_document(v),
        lambda hx, v: hx.xdb.documents.restore_document(v),
        lambda hx, v: hx.xdb.documents.search(offset=v),
        lambda hx, v: hx.xdb.tag_index.get_concept_children(v),
        lambda hx, v: hx.xdb.tag_index.get_concept_parents(v),
        lambda hx, v: hx.xdb.tag_index.get_related_concepts(v),
        lambda hx, v: hx.xdb.tag_index.add_to_working_set(v),
        lambda hx, v: hx.xdb.tag_index.evict_unused(v),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(hx, call, value):
    if isinstance(value, int) and "offset" in str(call.__code__.co_names + call.__code__.co_consts):
        pytest.skip("a number is what it takes")
    if value == 5 and "evict_unused" in call.__code__.co_names:
        pytest.skip("a number is what it takes")

    with pytest.raises(InvalidInput):
        call(hx, value)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Ο ΟΔΥΣΣΕΥΣ γυρίζει", "οδυσσευς"),
        ("ΑΣ", "ς"),
        ("ο οδυσσευς", "ΟΔΥΣΣΕΥΣ"),
        ("ÉTÉ à la mer", "été"),
    ],
)
def test_capitals_and_final_letters_never_matter_to_a_text_search(hx, said, asked):
    hx.xdb.start_session("s")
    hx.xdb.record("input", said, event_id="e")
    found = hx.xdb.experience_log.query(text_search=asked)
    hx.xdb.end_session()
    hx.xdb.seal()

    assert [said] == [record.content for record in found]
    assert [said] == [
        record.content for record in hx.xdb.experience_log.query(text_search=asked, session_id="s")
    ]


def test_one_token_is_one_token(hx, project, capsys):
    hx.xdb.start_session("s")
    hx.xdb.record("input", "x", token_count=1)
    hx.xdb.end_session()
    hx.close()

    assert 0 == main(["-C", str(project), "xdb", "pin", "1-1", "--session", "s", "--reason", "x"])

    err = capsys.readouterr().err
    assert "1 of 100,000 tokens is pinned." in err


def test_a_budget_of_one_token_is_said_in_the_singular(project, capsys):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text("[budget]\ntokens = 1\n")
    with hexad.open(project, embedder=None):
        pass

    assert 0 == main(["-C", str(project), "spaces", "budget"])

    out = "".join(capsys.readouterr())
    assert "1 token" in out and "1 tokens" not in out
