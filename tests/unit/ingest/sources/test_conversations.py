from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hexad.errors import InvalidInput
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.ingest.sources.read import count, read
from hexad.memory.memory import Turn
from hexad.memory.source import Item, KnownItem, Skip, SourceKind, Unchanged

DATA = Path(__file__).parents[3] / "data"


def read_lines(tmp_path, *records: object, name: str = "talk.jsonl") -> list[Item | Skip | Unchanged]:
    path = tmp_path / name
    path.write_text(
        "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), errors="surrogatepass"
    )
    return list(read(detect(path, kind="conversation")))


def said(things: list[Item | Skip | Unchanged]) -> list[tuple[str, str, str]]:
    """Return who said what, under which id."""
    assert all(isinstance(thing, Item) and thing.turn is not None for thing in things)
    return [(thing.source_id, thing.turn.speaker, thing.text) for thing in things]


@pytest.mark.row("L001")
def test_a_turn_knows_its_conversation_session_place_speaker_and_time(tmp_path):
    lines = [
        {
            "id": "c/1",
            "conversation": "c",
            "session": "c/S1",
            "time": "2023-05-08T13:56:00",
            "speaker": "Ann",
            "text": "Hi",
            "mood": "good",
        },
        {
            "id": "c/2",
            "conversation": "c",
            "session": "c/S1",
            "time": 1683554160,
            "speaker": "Bo",
            "text": "Hello",
        },
        {"conversation": "c", "session": "c/S2", "time": "soon", "speaker": "Ann", "text": "Back"},
    ]

    first, second, third = read_lines(tmp_path, *lines)

    assert Turn(conversation="c", session="c/S1", position=0, speaker="Ann") == first.turn
    assert Turn(conversation="c", session="c/S1", position=1, speaker="Bo") == second.turn
    assert Turn(conversation="c", session="c/S2", position=0, speaker="Ann") == third.turn
    assert ["c/1", "c/2", "c/S2/0"] == [item.source_id for item in (first, second, third)]
    assert datetime(2023, 5, 8, 13, 56, tzinfo=UTC) == first.time == second.time
    assert (None, "soon") == (third.time, third.metadata["time"])
    assert ("turn", "talk/c/S1", "good") == (first.kind, first.path, first.metadata["mood"])


def test_what_cannot_be_read_is_skipped_and_the_rest_goes_on(tmp_path):
    things = read_lines(
        tmp_path,
        {"id": "1", "speaker": "Ann", "text": "one"},
        '{"id": "2", "speaker": ',
        "",
        "[" * 100_000,
        {"id": "1", "speaker": "Ann", "text": "again"},
        {"id": "3", "speaker": "Ann", "text": "  "},
        "[1, 2]",
        {"id": "4", "says": "what"},
        '{"id": "5", "n": ' + "9" * 5_000 + ', "speaker": "Ann", "text": "x"}',
        {"id": "6", "speaker": "Ann", "text": "six"},
    )

    assert ["one", "six"] == [thing.text for thing in things if isinstance(thing, Item)]
    assert [
        "line 2: not JSON: Expecting value at column 23",
        "line 4: it is nested too deeply to be read",
        "record 5: the id '1' was used before in this source",
        "record 6: it has no text",
        "record 7: a turn is an object, not list",
        "record 8: it has neither a speaker nor a role",
        "line 9: it holds a number with more digits than are read",
    ] == [thing.reason for thing in things if isinstance(thing, Skip)]


def test_bytes_that_are_no_text_cost_a_character_and_not_the_record(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"speaker": "Ann", "text": "a\xffb"}\r\n{"speaker": "Ann", "text": "\\u0000c\\ud800"}\r\n'
    )

    assert ["a\ufffdb", "c\ufffd"] == [item.text for item in read(detect(path))]


def test_messages_of_chats_are_turns_with_pictures_and_tools_in_brackets(tmp_path):
    messages = [
        {"role": "system", "content": "Be short."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "look", "arguments": '{"at": 1}'}}],
        },
        {"role": "tool", "content": "a cat"},
    ]

    assert [
        ("talk-1/0", "system", "Be short."),
        ("talk-1/1", "user", "What is this?\n[image]"),
        ("talk-1/2", "assistant", '[tool call: look {"at": 1}]'),
        ("talk-1/3", "tool", "a cat"),
        ("talk-2/0", "user", "hi"),
    ] == said(read_lines(tmp_path, {"messages": messages}, {"messages": [{"role": "user", "content": "hi"}]}))


def test_content_blocks_leave_thoughts_out_and_shorten_results(tmp_path):
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "name": "Read", "input": {"path": "a.py"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "x" * 900}]},
    ]

    ((_, _, text),) = said(
        read_lines(tmp_path, {"id": "c1", "messages": [{"role": "assistant", "content": content}]})
    )

    assert f'Looking.\n[tool call: Read {{"path": "a.py"}}]\n[tool result: {"x" * 200}…]' == text


def test_pairs_of_from_and_value_are_turns(tmp_path):
    record = {
        "id": "s1",
        "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}],
    }

    assert [("s1/0", "human", "hi"), ("s1/1", "gpt", "hello")] == said(read_lines(tmp_path, record))


def test_a_list_of_roles_and_contents_is_one_conversation(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(
        json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
    )

    spec = detect(path)

    assert SourceKind.CONVERSATION == spec.kind
    assert [("talk/0", "user", "hi"), ("talk/1", "assistant", "hello")] == said(list(read(spec)))
    assert count(spec) is None


def test_the_current_branch_of_a_tree_of_messages_is_read():
    spec = detect(DATA / "chatgpt-export.json")
    things = list(read(spec))

    assert SourceKind.CONVERSATION == spec.kind
    assert [("m1", "user", "Which port?"), ("m3", "assistant", "Port 8765.\n[image]")] == said(
        [t for t in things if isinstance(t, Item)]
    )
    assert ["record 1: a message that was hidden in the conversation"] == [
        t.reason for t in things if isinstance(t, Skip)
    ]
    assert ("Ports", "conv-1") == (things[-1].title, things[-1].turn.conversation)
    assert datetime(2025, 6, 15, 13, 20, 30, tzinfo=UTC) == things[-1].time


@pytest.mark.parametrize(
    ("mapping", "texts"),
    [
        ({"a": {"parent": "b", "message": None}, "b": {"parent": "a", "message": None}}, []),
        (
            {"a": {"parent": "gone", "message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}}},
            ["x"],
        ),
        ({"a": 3}, []),
        ({}, []),
    ],
)
def test_a_damaged_tree_gives_what_is_left_of_it(tmp_path, mapping, texts):
    assert texts == [
        thing.text for thing in read_lines(tmp_path, {"id": "t", "mapping": mapping, "current_node": "a"})
    ]


def test_an_export_with_chat_messages_is_read(tmp_path):
    messages = [
        {"uuid": "u1", "sender": "human", "text": "hi", "created_at": "2025-01-02T03:04:05.678Z"},
        {"uuid": "u2", "sender": "assistant", "text": "", "content": [{"type": "text", "text": "hello"}]},
    ]

    things = read_lines(tmp_path, [{"uuid": "c9", "name": "Greeting", "chat_messages": messages}][0])

    assert [("u1", "human", "hi"), ("u2", "assistant", "hello")] == said(things)
    assert ("c9", "Greeting") == (things[0].turn.conversation, things[0].title)
    assert datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=UTC) == things[0].time


def test_a_session_transcript_is_read_and_its_other_records_are_counted():
    things = list(read(detect(DATA / "session-transcript.jsonl")))

    assert [
        ("u1", "user", "Fix the test."),
        ("u2", "assistant", 'On it.\n[tool call: Bash {"command": "pytest"}]'),
        ("u3", "user", "[tool result: 1 failed]"),
        ("u4", "assistant", "Searching."),
    ] == said([thing for thing in things if isinstance(thing, Item)])
    assert ["s-1", "s-1/aside"] == sorted({thing.turn.session for thing in things if isinstance(thing, Item)})
    assert [
        "record 1: a record of type 'summary' is no turn",
        "record 6: a note of the program to itself is no turn",
        "record 7: it has no text",
    ] == [thing.reason for thing in things if isinstance(thing, Skip)]


def test_a_turn_that_is_known_is_unchanged_and_an_edited_one_is_not(tmp_path):
    turns = [{"id": "1", "speaker": "Ann", "text": "one"}, {"id": "2", "speaker": "Ann", "text": "two"}]
    before = read_lines(tmp_path, *turns)
    known = {
        item.source_id: KnownItem(fingerprint=item.fingerprint, content_hash=item.content_hash)
        for item in before
    }
    turns[1]["speaker"] = "Bo"
    (tmp_path / "talk.jsonl").write_text("\n".join(map(json.dumps, turns)))

    unchanged, edited = read(detect(tmp_path / "talk.jsonl"), known=known.get)

    assert Unchanged(source_id="1") == unchanged
    assert "Bo" == edited.turn.speaker


def test_a_turn_too_long_for_a_memory_becomes_parts(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"id": "1", "speaker": "Ann", "text": "words\n" * 1_000}))

    items = list(read(detect(path), options=ReadOptions(max_file_bytes=4_096)))

    assert ["1", "1#part-2"] == [item.source_id for item in items]
    assert {0} == {item.turn.position for item in items}


def test_a_line_past_the_limit_is_skipped_without_being_held(tmp_path):
    path = tmp_path / "talk.jsonl"
    with path.open("w") as file:
        file.write('{"speaker": "Ann", "text": "' + "x" * (17 << 20) + '"}\n')
        file.write('{"speaker": "Ann", "text": "after"}\n')

    skip, item = read(detect(path, kind="conversation"))

    assert skip.reason.startswith("line 1: the line has 17,825,")
    assert "after" == item.text


def test_a_json_file_that_is_none_is_refused_with_the_place(tmp_path):
    (tmp_path / "a.json").write_text('[{"role": "user",\n "content": }]')

    with pytest.raises(InvalidInput, match="is not JSON: Expecting value at line 2, column 13"):
        list(read(detect(tmp_path / "a.json", kind="conversation")))


def test_a_turn_without_an_id_whose_place_is_named_like_another_is_told_what_it_lacks(tmp_path):
    _, skip = read_lines(
        tmp_path,
        {"id": "c/1", "conversation": "c", "speaker": "Bo", "text": "The first heron."},
        {"conversation": "c", "speaker": "Ada", "text": "The second stork is shy."},
    )

    assert isinstance(skip, Skip)
    expected = "record 2: it has no id, and the name of its place, 'c/1', is another's id; give it an id"
    assert expected == skip.reason
