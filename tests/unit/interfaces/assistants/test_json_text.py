from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad import InvalidInput
from hexad.interfaces.assistants.json_text import (
    append_item,
    read_json,
    remove_item,
    remove_member,
    set_member,
)

JSONC = """\
// of the team
{
    // servers
    "servers": {
        "one": {"command": "x"}, // the first
        "two": {
            "command": "y", /* of all */
        },
    },
}
"""
NAMES = st.text(alphabet='abc"\\ é\n', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def test_a_member_is_put_behind_the_others_and_everything_else_keeps_its_bytes():
    new = set_member(JSONC, ("servers", "hexad"), {"command": "h"}, comments=True)

    assert JSONC == new.replace('\n        "hexad": {\n            "command": "h"\n        },', "")
    assert JSONC == remove_member(new, ("servers", "hexad"), comments=True)


def test_a_remark_stays_with_the_member_that_it_is_about():
    text = '{\n  "a": 1 // about a\n}\n'

    assert '{\n  "a": 1, // about a\n  "b": 2\n}\n' == set_member(text, ("b",), 2, comments=True)


@pytest.mark.parametrize(
    "text", ["{}", "{ }\n", '{"a": 1}', '{\n\t"a": {}\n}\n', '{"a": [1, 2], "b": {"c": 3}}']
)
def test_what_is_put_in_and_taken_out_leaves_the_same_value(text):
    new = set_member(text, ("x", "y"), [1])

    assert {**json.loads(text), "x": {"y": [1]}} == json.loads(new)
    assert json.loads(text) == json.loads(remove_member(new, ("x",)))


@pytest.mark.parametrize("index", [0, 1, 2])
def test_an_item_is_taken_out_wherever_it_stands(index):
    items = [{"a": 1}, [2], "three"]
    text = json.dumps({"list": items}, indent=2)

    assert items[:index] + items[index + 1 :] == json.loads(remove_item(text, ("list",), index))["list"]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_an_item_is_taken_out_between_comments(index):
    text = "[ // a\n 1, // b\n 2, /* c */\n 3 // d\n]\n"

    left = read_json(remove_item(text, (), index, comments=True), comments=True).value

    assert [item for item in (1, 2, 3) if item != index + 1] == left


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,}', "line 1, column 9: a comma stands before a closing bracket"),
        ('{"a": 1', "is missing"),
        ('{\n "a" 1}', "line 2, column 6: a colon is missing"),
        ("{'a': 1}", "a name in double quotes is missing"),
        ('{"a": nope}', "no value stands here"),
        ("// x\n{}", "no value stands here"),
        ('{"a": 1} x', "something stands after its end"),
        ('{"a": 1, "a": 2}', "stands there twice"),
        ("", "the file ends too early"),
        ("[" * 300, "too many brackets"),
        ('{"a": "\\q"}', "line 1"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text, words):
    with pytest.raises(InvalidInput, match=words):
        read_json(text)


def test_a_list_is_no_object():
    with pytest.raises(InvalidInput, match="servers is no object"):
        set_member('{"servers": []}', ("servers", "hexad"), 1)
    with pytest.raises(InvalidInput, match="a is no list"):
        append_item('{"a": {}}', ("a",), 1)


@settings(max_examples=examples(100))
@given(
    VALUES.filter(lambda value: isinstance(value, dict)), NAMES, VALUES, st.sampled_from([None, 1, 2, "\t"])
)
def test_any_text_is_changed_as_its_value_would_be(value, name, new, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    changed = set_member(text, (name,), new)

    assert value == read_json(text).value
    assert {**value, name: new} == json.loads(changed)
    assert {key: item for key, item in value.items() if key != name} == json.loads(
        remove_member(changed, (name,))
    )
