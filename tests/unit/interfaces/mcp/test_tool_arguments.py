"""A call's arguments, held against the schema of its tool."""

from __future__ import annotations

import pytest

import hexad
from hexad.interfaces.mcp.schemas import ToolSchema
from hexad.interfaces.mcp.tool_arguments import check_arguments

TOOL = ToolSchema(
    name="mix",
    description="",
    properties={
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "loud": {"type": "boolean"},
        "space": {"type": ["string", "array"]},
        "words": {"type": "array", "items": {"type": "string"}},
        "way": {"type": "string", "enum": ["up", "down"]},
        "pairs": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        "value": {},
    },
    required=("text",),
)


@pytest.mark.parametrize(
    "given",
    [
        {"count": 3}, {"share": 3}, {"share": 0.5}, {"loud": False}, {"space": "a"}, {"space": ["a", "b"]}, {"words": []},
        {"way": "up"}, {"pairs": [{"name": "a", "more": 1}]}, {"value": None}, {"value": {"any": ["thing", 1]}},
    ],
    ids=str,
)  # fmt: skip
def test_what_fits_is_given_on(given):
    expected = {name: value for name, value in given.items() if value is not None}

    assert {"text": "tea", **expected} == check_arguments(TOOL, {"text": "tea", **given})


def test_a_whole_number_may_be_written_as_any_other():
    checked = check_arguments(TOOL, {"text": "tea", "count": 3.0})

    assert (3, int) == (checked["count"], type(checked["count"]))


@pytest.mark.parametrize(
    ("given", "argument", "words"),
    [
        ({"text": 7}, "text", "text must be a string, not 7."),
        ({"text": "tea", "count": 3.5}, "count", "count must be a whole number, not 3.5."),
        ({"text": "tea", "count": True}, "count", "count must be a whole number, not True."),
        ({"text": "tea", "loud": 1}, "loud", "loud must be true or false, not 1."),
        ({"text": "tea", "space": {}}, "space", "space must be a string or a list, not {}."),
        ({"text": "tea", "words": ["a", 2]}, "words[1]", "words[1] must be a string, not 2."),
        ({"text": "tea", "way": "left"}, "way", "way = 'left' is not one of up, down."),
        ({"text": "tea", "pairs": [{}]}, "pairs[0]", "pairs[0] needs the field 'name'; give it."),
        ({"text": "tea", "cuont": 3}, "cuont", "mix has no argument 'cuont'. Did you mean 'count'?"),
        ({}, "text", "mix needs the argument 'text'; give it."),
        ({"text": None}, "text", "mix needs the argument 'text'; give it."),
        ({"text": ["a" * 500]}, "text", "…"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(given, argument, words):
    with pytest.raises(hexad.InvalidInput) as caught:
        check_arguments(TOOL, given)

    assert argument == caught.value.argument
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300
