from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from hexad.errors import NotFound
from hexad.ingest.sources.detect import detect
from hexad.ingest.sources.read import count, read
from hexad.memory.source import Item, Skip, SourceKind


def read_documents(tmp_path, *records: object, name: str = "papers.jsonl") -> list[Item | Skip]:
    path = tmp_path / name
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records))
    assert SourceKind.DOCUMENTS == detect(path).kind
    return list(read(detect(path)))


@pytest.mark.row("L001", "A039")
def test_a_document_keeps_all_that_its_record_says(tmp_path):
    (item,) = read_documents(
        tmp_path,
        {
            "id": 7,
            "text": "# Recall\n\nFast.\n\n## Why\n\nUsers wait.\n",
            "time": "2026-01-02",
            "title": "On recall",
            "path": "research/recall.md",
            "kind": "note",
            "tags": ["Speed", "??"],
            "stars": 3,
        },
    )

    assert ("7", "note", "research/recall.md", "On recall") == (
        item.source_id,
        item.kind,
        item.path,
        item.title,
    )
    assert (datetime(2026, 1, 2, tzinfo=UTC), ("speed",)) == (item.time, item.tags)
    assert ["Recall", "Recall > Why"] == [section.heading for section in item.sections]
    assert {
        "stars": 3,
        "title": "On recall",
        "project": "papers",
        "source": (tmp_path / "papers.jsonl").as_posix(),
    } == item.metadata


def test_little_is_needed_and_the_rest_is_derived(tmp_path):
    things = read_documents(
        tmp_path, {"text": "one"}, {"id": "x", "content": "two", "date": "soon"}, {"id": "y", "body": "three"}
    )

    assert [("line-1", "papers/line-1"), ("x", "papers/x"), ("y", "papers/y")] == [
        (item.source_id, item.path) for item in things
    ]
    assert "soon" == things[1].metadata["date"]


def test_a_list_in_one_json_file_is_read_alike(tmp_path):
    things = read_documents(
        tmp_path, json.dumps([{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]), name="papers.json"
    )

    assert ["a", "b"] == [item.source_id for item in things]


def test_records_without_text_are_skipped_and_the_rest_goes_on(tmp_path):
    things = read_documents(
        tmp_path,
        {"id": "a", "text": "one"},
        {"id": "b", "text": 3},
        "null",
        "{",
        {"id": "a", "text": "x"},
        {"text": ""},
    )

    assert [
        "record 2: its text is 3, which is no text; write a string",
        "record 3: a record is an object with id and text, not NoneType",
        "line 4: not JSON: Expecting property name enclosed in double quotes at column 2",
        "record 5: the id 'a' was used before in this source",
        "record 6: it has no text",
    ] == [thing.reason for thing in things if isinstance(thing, Skip)]
    assert 6 == count(detect(tmp_path / "papers.jsonl"))


def test_a_record_that_is_nested_too_deeply_leaves_the_others_what_they_are(tmp_path):
    deep = '{"text": "x", "more": ' + "[" * 2_000 + "]" * 2_000 + "}"
    things = read_documents(tmp_path, deep, {"id": "a", "text": "one"})

    assert ["line 1: it is nested too deeply to be read"] == [
        thing.reason for thing in things if isinstance(thing, Skip)
    ]
    assert SourceKind.DOCUMENTS is detect(tmp_path / "papers.jsonl").kind


def test_a_link_that_leads_nowhere_is_named_with_where_it_leads(tmp_path):
    (tmp_path / "notes.md").symlink_to("nowhere.md")

    with pytest.raises(NotFound, match=r"is a link to 'nowhere\.md', where nothing is; mend"):
        detect(tmp_path / "notes.md")


def test_a_hostile_path_and_name_stay_inside_the_memory(tmp_path):
    (item,) = read_documents(
        tmp_path, {"id": "a\nb\u0000", "text": "x", "path": "../../etc//\u2028x/" + "y" * 900}
    )

    assert item.path.startswith("etc/%E2%80%A8x/yyy")
    assert len(item.path) <= 512
