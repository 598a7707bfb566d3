from __future__ import annotations

import pytest

from hexad.text.literals import (
    DECLARED,
    DEFINED,
    NAMED,
    NAMES_MOST,
    SHOWN,
    STATED,
    code_names,
    definition_of,
    parts_of_name,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("echo", ("echo",)),
        ("echo()?", ("echo",)),
        ("what calls flush() and parseArgs", ("flush", "parseArgs")),
        ("where is Choice used", ("Choice",)),
        ("Where is the river", ()),
        ("I saw it", ()),
        ("the `Group` of HTTPServers", ("Group", "HTTPServers")),
        ("requires-python", ("requires-python",)),
        ("is it well-known", ("well-known",)),
        ("", ()),
    ],
)
def test_words_that_look_like_names_of_code(question: str, expected: tuple[str, ...]) -> None:
    assert expected == code_names(question)


def test_of_many_names_the_first_are_looked_for() -> None:
    assert NAMES_MOST == len(code_names(" ".join(f"aName{number}" for number in range(40))))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b.c()", ("a", "b", "c")),
        ("Map::get", ("Map", "get")),
        ("10.0.3.7", ("10.0.3.7",)),
        ("v8.2", ("v8.2",)),
        ("E4012", ("E4012",)),
        ("...", ("...",)),
    ],
)
def test_the_parts_of_a_name(name: str, expected: tuple[str, ...]) -> None:
    assert expected == parts_of_name(name)


@pytest.mark.parametrize(
    ("name", "heading", "body", "expected"),
    [
        ("get", "Map.get(self, key)", "", NAMED),
        ("Map.get", "Map.put(self) · get(self, key)", "", NAMED),
        ("maps.Map.get", "Map.get(self)", "", NAMED),  # it stands in maps/
        ("trees.Map.get", "Map.get(self)", "", 0.0),
        ("Map.get", "Set.get(self)", "", 0.0),
        ("Map.get", "Map.get_all(self)", "", 0.0),
        ("Map.get", "Map", "class Map:\n    def get(self): ...", DEFINED),
        ("Map.get", "Set", "class Set:\n    def get(self): ...", 0.0),
        ("get", "", "pub(crate) async fn get(key: &str) {}", DEFINED),
        ("Map.get", "Map.get(self)", "    @t.overload\n    def get(self) -> int: ...\n", DECLARED),
        ("get", "", "@overload\ndef get(): ...\n\n\n@overload\ndef get(key): ...\n", DECLARED),
        ("get", "", "@overload\ndef get(): ...\n\n\ndef get(key=None):\n    return key\n", DEFINED),
        ("get", "", "def get():\n    # no overload\n    return 1\n", DEFINED),
        ("get", "", "return get(key)", 0.0),
        ("get", "", "def get_all(): ...", 0.0),
        ("LIMIT", "", "LIMIT: Final[int] = 40", STATED),
        ("LIMIT", "", "if LIMIT == 40:\n", 0.0),
        ("line-length", "Set up", "Put it there:\n\n```toml\nline-length = 100\n```\n", SHOWN),
        ("line-length", "Set up", "```toml\nx = 1\n```\n\nline-length: 100 is the default\n", STATED),
        ("E42", "Errors > Network", "| E42 | no answer |", STATED),
        ("E42", "Errors > E42: no answer", "Try again.", NAMED),
        ("E42", "Errors > How we found out that E42 and its cousins mean no answer", "", 0.0),
        ("8.2.0", "Changes > Version 8.2.0 (2024-05-01)", "", NAMED),
        ("to_str", "value_to_str(value)", "", 0.0),
        ("8.2", "Changes > Version 8.2.0", "", 0.0),
    ],
)
def test_what_defines_what_is_named(name: str, heading: str, body: str, expected: float) -> None:
    assert expected == definition_of(name, heading=heading, body=body, around="src maps")
