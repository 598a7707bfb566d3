"""What callers may give to `hx.honeycomb`, and what comes of it: of every call and parameter, in real stores."""

from __future__ import annotations

import array
import inspect
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hexad
from hexad import Hexad, HexadError, InvalidInput, LimitExceeded
from hexad.honeycomb.api import HoneycombFacade
from hexad.testing import HashEmbedder


@pytest.fixture
def comb(hx: Hexad) -> HoneycombFacade:
    return hx.honeycomb


# What is given --------------------------------------------------------------------------------------------------------


def in_itself() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


ODD: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "huge": lambda: 10**30,
    "hugest": lambda: 10**5_000,
    "minus huge": lambda: -(10**30),
    "one and a half": lambda: 1.5,
    "not a number": lambda: math.nan,
    "infinity": lambda: math.inf,
    "minus infinity": lambda: -math.inf,
    "complex": lambda: 1j,
    "decimal": lambda: Decimal("1.5"),
    "empty text": lambda: "",
    "blank text": lambda: " \n",
    "NUL": lambda: "\0",
    "half a character": lambda: "\ud800",
    "digits": lambda: "12",
    "long text": lambda: "x y " * 50_000,
    "bytes": lambda: b"12",
    "bytearray": lambda: bytearray(b"12"),
    "memoryview": lambda: memoryview(b"12"),
    "empty list": list,
    "list of texts": lambda: ["1", "2"],
    "list of truth values": lambda: [True, False],
    "list of lists": lambda: [[1.0, 0.0], [0.0, 1.0]],
    "list of nothing": lambda: [None],
    "list with a hole": lambda: [1.0, math.nan],
    "list with an end": lambda: [1.0, -math.inf],
    "list with a giant": lambda: [10**400, 1],
    "list in itself": in_itself,
    "dict": lambda: {1.0: 2.0},
    "set": lambda: {1.0, 2.0},
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "path": lambda: Path("x"),
    "time": lambda: datetime(2026, 1, 1, tzinfo=UTC),
    "span": lambda: timedelta(hours=1),
    "empty array": lambda: np.array([]),
    "array of rows": lambda: np.eye(2),
    "column": lambda: np.ones((2, 1)),
    "array of texts": lambda: np.array(["a", "b"]),
    "array of truth values": lambda: np.array([True, False]),
    "array with a hole": lambda: np.array([1.0, math.nan]),
    "array of complex": lambda: np.array([1j, 1.0]),
    "array of spans": lambda: np.array([np.timedelta64(1, "h")]),
    "array without axes": lambda: np.array(1.5),
    "numpy's True": lambda: np.bool_(True),
    "numpy's nan": lambda: np.float32(math.nan),
    "numpy's span": lambda: np.timedelta64(1, "h"),
    "numpy's complex": lambda: np.complex64(1),
}

NAMES = {"NUL", "digits"}
"""Texts of which each may be the name of something, or say something."""
NO_NODE = {
    "zero",
    "minus one",
    "huge",
    "hugest",
    "minus huge",
    "empty text",
    "blank text",
    "long text",
    *NAMES,
}
"""What may name a node, and names none."""

CALLS: list[tuple[str, dict[str, object], dict[str, set[str]]]] = [
    ("add_node", {"text": "x", "embedding": [1.0, 0.0], "format": "float32"}, {"text": NAMES, "embedding": {"None"}}),
    ("add_nodes", {"nodes": [("x", [1.0])], "format": "int8"}, {"nodes": {"empty list", "empty array"}}),
    ("get", {"node": 1, "session": "s"}, {"session": NAMES | {"None"}}),
    ("remove", {"node": 3}, {}),
    ("deactivate", {"node": 1}, {}),
    ("activate", {"node": 1}, {}),
    ("insert", {"focus": 1, "node": 2}, {}),
    ("insert", {"focus": 1, "node": 2, "relation": "cites", "score": 0.5},
     {"relation": {"None", "digits"}, "score": {"None", "zero"}}),
    ("insert_many", {"pairs": [(1, 2)], "relation": "cites", "score": 0.5},
     {"pairs": {"empty list", "empty array"}, "relation": {"None", "digits"}, "score": {"None", "zero"}}),
    ("neighbors", {"node": 1}, {}),
    ("overflow", {"node": 1}, {}),
    ("find_most_relevant", {"query": [1.0, 0.0], "limit": 1, "scope": "all"},
     {"query": NAMES | {"half a character"}}),
    ("jit_context", {"query": [1.0, 0.0], "max_tokens": 9, "entries": 2, "threshold": 0.5, "overflow": True},
     {"query": NAMES | {"half a character"}, "threshold": {"None", "zero"}, "overflow": {"True", "False"}}),
    ("jit_context", {"start": 1, "walk": "breadth", "scope": "all", "space": "default", "session": "s"},
     {"walk": {"None"}, "space": {"None"}, "session": NAMES | {"None"}}),
    ("jit_context", {"query": "x", "walk": "best", "scope": "memories", "space": "default"},
     {"query": NAMES | {"half a character"}, "walk": {"None"}, "space": {"None"}}),
    ("jit_context", {"start": 2, "relations": ["related"]}, {"relations": {"None", "list of texts", "array of texts"}}),
    ("jit_context", {"query": [1.0], "start": 1}, {"query": NAMES | {"half a character", "None"}, "start": {"None"}}),
    ("start_session", {"session": "s"}, {"session": NAMES | {"None"}}),
    ("access", {"node": 1, "session": "s"}, {"node": NO_NODE, "session": NAMES | {"None"}}),
    ("check_safety", {"node": 1, "session": "s"}, {"node": NO_NODE, "session": NAMES | {"None"}}),
    ("configure", {"cosine_weight": 1, "decay_weight": 0}, {"decay_weight": {"zero"}}),
    ("configure", {"half_life": timedelta(1), "ring_half_lives": (None,), "max_nodes": 9, "max_data_bytes": 9},
     {"half_life": {"span"}, "max_nodes": {"huge", "hugest"}, "max_data_bytes": {"huge", "hugest"}}),
    ("configure", {"loop_access_limit": 3, "loop_detection_window": timedelta(1), "max_session_time": timedelta(1)},
     {"loop_detection_window": {"span"}, "max_session_time": {"span"}}),
]  # fmt: skip
"""Calls, and of each parameter which odd values it takes."""


@pytest.fixture
def three(hx: Hexad, comb: HoneycombFacade) -> HoneycombFacade:
    """A graph of three nodes with an edge, their ids 1 to 3, beside a memory."""
    assert [1, 2, 3] == comb.add_nodes([("a", [1.0, 0.0]), ("b", [0.8, 0.6]), ("c", [0.0, 1.0])])
    comb.insert(2, 3, score=0.9)
    hx.remember("x marks the spot")
    hx.embed_pending()
    return comb


def told(comb: HoneycombFacade) -> object:
    """All that a graph of three nodes holds, and the rules in force."""
    nodes = [comb.get(node, session=session).to_dict() for node in (1, 2, 3) for session in (None, "s")]
    return comb.stats(), nodes, comb.rules


@pytest.mark.parametrize(
    ("call", "values", "takes", "parameter"),
    [
        pytest.param(call, values, takes, parameter, id=f"{call}-{parameter}-{at}")
        for at, (call, values, takes) in enumerate(CALLS)
        for parameter in values
    ],
)
def test_what_a_call_cannot_use_is_a_clear_error_and_changes_nothing(three, call, values, takes, parameter):
    before = told(three)
    for name, make in ODD.items():
        if name in takes.get(parameter, ()):
            continue
        with pytest.raises(HexadError) as caught:
            getattr(three, call)(**{**values, parameter: make()})
        assert 20 < len(str(caught.value)) < 400, name
    assert before == told(three)
    # After those that were refused, since these may change something.
    for name in sorted(takes.get(parameter, ())):
        getattr(three, call)(**{**values, parameter: ODD[name]()})


def test_every_public_call_is_given_odd_values():
    public = {
        name
        for name, _ in inspect.getmembers(HoneycombFacade, inspect.isfunction)
        if not name.startswith("_")
    }
    given = {(call, parameter) for call, values, _ in CALLS for parameter in values}
    wanted = {
        (name, parameter)
        for name in public - {"stats", "configure"}
        for parameter in inspect.signature(getattr(HoneycombFacade, name)).parameters
        if parameter != "self"
    }

    assert wanted <= given
    rules = {parameter for call, parameter in given if call == "configure"}
    assert set(hexad.HoneycombRules.__slots__) == rules


FUNCTIONS: list[tuple[Callable[..., float], dict[str, object], dict[str, set[str]]]] = [
    (hexad.cosine_similarity, {"vec_a": [1.0], "vec_b": [1.0]},
     {"vec_a": {"empty list", "empty array"}, "vec_b": {"empty list", "empty array"}}),
    (hexad.temporal_decay, {"created_time": 0.0, "current_time": 1.0, "half_life": 9, "mode": "tau"},
     {
         "created_time": {"zero", "minus one", "huge", "minus huge", "one and a half"},
         "current_time": {"zero", "minus one", "huge", "minus huge", "one and a half"},
         "half_life": {"one and a half", "huge", "span"},
     }),
    (hexad.calculate_relevance,
     {"vec_a": [1.0], "vec_b": [1.0], "created_time": 0.0, "current_time": 1.0, "cosine_weight": 1, "decay_weight": 0},
     {
         "vec_a": {"empty list", "empty array"}, "vec_b": {"empty list", "empty array"},
         "created_time": {"zero", "minus one", "huge", "minus huge", "one and a half"},
         "current_time": {"zero", "minus one", "huge", "minus huge", "one and a half"},
         "decay_weight": {"zero"},
     }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "values", "takes", "parameter"),
    [
        pytest.param(function, values, takes, parameter, id=f"{function.__name__}-{parameter}")
        for function, values, takes in FUNCTIONS
        for parameter in values
    ],
)
def test_what_a_function_cannot_use_is_a_clear_error(function, values, takes, parameter):
    for name, make in ODD.items():
        if name in takes.get(parameter, ()):
            assert 0.0 <= function(**{**values, parameter: make()}) <= 1.0
        else:
            with pytest.raises(HexadError) as caught:
                function(**{**values, parameter: make()})
            assert 20 < len(str(caught.value)) < 400, name


# Kinds of numbers -----------------------------------------------------------------------------------------------------

ROWS: dict[str, Callable[[], object]] = {
    "tuple": lambda: (3, 4.0),
    "range": lambda: range(3, 5),
    "generator": lambda: (value for value in (3, 4)),
    "array": lambda: array.array("d", [3, 4]),
    "fractions": lambda: [Fraction(3), Fraction(4)],
    "float64": lambda: np.array([3.0, 4.0]),
    "float32": lambda: np.array([3.0, 4.0], dtype=np.float32),
    "float16": lambda: np.array([3.0, 4.0], dtype=np.float16),
    "other bytes": lambda: np.array([3.0, 4.0], dtype=">f4"),
    "int64": lambda: np.array([3, 4]),
    "uint8": lambda: np.array([3, 4], dtype=np.uint8),
    "view": lambda: np.array([3.0, 0.0, 4.0, 0.0])[::2],
    "scalars": lambda: [np.float32(3), np.int8(4)],
}


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS)
def test_a_vector_is_any_list_of_real_numbers(comb, make):
    node = comb.add_node("x", make())

    assert (3.0, 4.0) == comb.get(node).vector_embedding
    assert [(node, 1.0)] == comb.find_most_relevant(make())
    assert "x" == comb.jit_context(make()).text
    assert 1.0 == pytest.approx(hexad.cosine_similarity(make(), [3, 4]))


def test_numbers_of_numpy_are_numbers(comb):
    rows = np.eye(3, dtype=np.float32)
    ids = np.array(comb.add_nodes([(f"n{at}", row) for at, row in enumerate(rows)]))

    edge = comb.insert(ids[0], ids[1], score=np.float32(0.5))
    comb.insert_many(np.stack([ids[1:], ids[:2]], axis=1), score=np.float16(0.25))
    rules = comb.configure(
        max_nodes=np.int64(5), cosine_weight=np.float32(0.25), decay_weight=np.float32(0.75)
    )
    context = comb.jit_context(
        rows[0], np.int32(50), start=np.uint16(ids[0]), entries=np.int64(1), threshold=np.float64(0.1)
    )

    assert (1, 2, 0.5) == (edge.from_id, edge.target_id, edge.relevance_score)
    assert [(1, 0.5)] == [(neighbor.from_id, neighbor.relevance_score) for neighbor in comb.neighbors(ids[0])]
    assert [2, 1] == [comb.neighbors(node)[0].from_id for node in (ids[1], ids[0])]
    assert 2 == len(comb.find_most_relevant(rows[1], limit=np.int64(2)))
    assert [1, 2] == [piece.id for piece in context.pieces]
    assert (5, int) == (rules.max_nodes, type(rules.max_nodes))
    assert (0.25, float) == (rules.cosine_weight, type(rules.cosine_weight))
    assert "OK" == comb.access(ids[2])
    assert 0.5 == hexad.temporal_decay(np.float32(0), np.int64(60), half_life=np.float64(60))


def test_the_query_is_what_pieces_are_compared_with_where_the_walk_begins_elsewhere(comb):
    first, second = comb.add_nodes([("a", [1.0, 0.0]), ("b", [0.6, 0.8])])
    comb.insert(first, second, score=0.9)

    context = comb.jit_context([0.0, 1.0], start=first)

    assert [(first, 0.0), (second, pytest.approx(0.8))] == [
        (piece.id, piece.relevance_to_focus) for piece in context.pieces
    ]


# Formats --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "number"),
    [
        ("float32", 1e-45),
        ("float32", 1e-39),
        ("float16", 1e-9),
        ("float16", 5e-5),
        ("int8", 5e-324),
        ("int8", 1e-44),
    ],
)
def test_an_embedding_that_would_fade_to_nothing_is_refused(comb, form, number):
    with pytest.raises(
        InvalidInput, match=rf"embedding holds nothing above .*, and {form} loses what is below"
    ):
        comb.add_node("x", [number, -number / 2], format=form)
    assert 0 == comb.stats().nodes
    node = comb.add_node("zeros are a vector without a direction", [0.0, 0.0], format=form)
    assert (0.0, 0.0) == comb.get(node).vector_embedding


@pytest.mark.parametrize("form", ["float32", "float16", "int8"])
def test_what_a_format_just_holds_keeps_its_direction(comb, form):
    kind = np.float16 if form == "float16" else np.float32
    for number in (float(np.finfo(kind).tiny), float(np.finfo(kind).max)):
        node = comb.add_node("x", [number, number / 2], format=form)

        found = comb.get(node).vector_embedding
        assert all(map(math.isfinite, found))
        assert 1.0 == pytest.approx(hexad.cosine_similarity(found, [2, 1]), abs=1e-4)
        assert 1.0 == pytest.approx(dict(comb.find_most_relevant([2, 1], limit=2))[node], abs=1e-4)


def test_of_many_nodes_the_one_that_cannot_be_is_named(comb):
    good = ("a", [1.0])
    for bad, words in (
        (("b", ["1"]), r"nodes\[1\].embedding is no vector: .*\[0\] is '1'"),
        (("b", [math.inf]), r"nodes\[1\].embedding\[0\] is inf"),
        (("b", [1e-50]), r"nodes\[1\].embedding holds nothing above 1e-50"),
        (("", [1.0]), r"nodes\[1\].text = '' says nothing"),
        ("ab", r"nodes\[1\] = 'ab' is no pair; give two values \(a text, and a vector or None\)"),
        (b"ab", r"nodes\[1\] = b'ab' is no pair"),
        (("a", [1.0], 3), r"nodes\[1\] = .* is no pair"),
    ):
        with pytest.raises(InvalidInput, match=words):
            comb.add_nodes([good, bad])
    with pytest.raises(LimitExceeded, match=r"nodes\[1\].text has 9,000 bytes; a node holds 8,192"):
        comb.add_nodes([good, ("x" * 9_000, [1.0])])
    assert 0 == comb.stats().nodes


@pytest.mark.parametrize("size", [8_193, 524_288, 524_289, 1_000_000])
def test_however_long_a_text_is_the_error_says_what_a_node_holds(comb, size):
    with pytest.raises(LimitExceeded, match=f"text has {size:,} bytes; a node holds 8,192\\. Cut it"):
        comb.add_node("x" * size, [1.0])
    comb.configure(max_data_bytes=100)
    with pytest.raises(LimitExceeded, match=f"text has {size:,} bytes; a node holds 100\\. Cut it"):
        comb.add_node("x" * size, [1.0])
    assert 0 == comb.stats().nodes


def test_numbers_that_are_too_large_or_too_many_are_told_with_the_way_out(comb):
    for values, form, words in (
        (
            [1.0, 10**400],
            "float32",
            r"^embedding\[1\] is 1000.*, which is too large a number; divide all of its numbers",
        ),
        (
            [1.0, -(10**400)],
            "float32",
            r"^embedding\[1\] is -1000.*, which is too large a number; divide all",
        ),
        (
            [1.0, 70_000.0],
            "float16",
            r"holds 70000, .* the largest is 65504\. Divide all of its numbers alike: .* or choose float32",
        ),
        (
            [1.0, 1e39],
            "float32",
            r"the largest is 3\.40282e\+38\. Divide all of its numbers alike: its direction is what counts\.$",
        ),
        (["1"], "float32", r"^embedding is no vector: its \[0\] is '1'; give one list of numbers\.$"),
    ):
        with pytest.raises(InvalidInput, match=words):
            comb.add_node("x", values, format=form)
    with pytest.raises(
        LimitExceeded,
        match=r"embedding has more than 65,536 numbers, the most that can be stored; give fewer\.$",
    ):
        comb.add_node("x", [1.0] * 65_537)
    assert 0 == comb.stats().nodes


def test_a_walk_that_has_nowhere_to_begin_says_why(opened):
    hx = opened()
    node = hx.honeycomb.add_node("x", [1.0, 0.0])
    here, there = (hx.remember(f"The ferry leaves {space}.", space=space) for space in ("here", "there"))
    hx.embed_pending()
    comb = hx.honeycomb

    for given, words in (
        ({"start": node, "scope": "memories"}, f"Node {node} is outside of scope = 'memories'."),
        ({"start": here.id, "scope": "nodes"}, f"Node {comb.get(here.id).id} is outside of scope = 'nodes'."),
        ({"start": here.id, "space": "there"}, f"Node {comb.get(here.id).id} is outside of space = 'there'."),
        ({"query": [0.0, 0.0]}, "The query is a vector of zeros, which is near nothing."),
        ({"query": [1.0, 0.0, 0.0]}, "No active node in scope has an embedding of 3 numbers."),
    ):
        context = comb.jit_context(**given)
        assert ((), (words,)) == (context.pieces, context.notes)
    assert () == comb.jit_context(start=there.id, space="there").notes
    assert () == comb.jit_context([1.0, 0.0]).notes


def test_an_error_of_a_walk_names_what_keeps_it_from_being_the_best(comb):
    comb.add_node("Rust is fast", [1.0, 0.0])
    for given, words in (
        (
            {"query": "x", "scope": "nodes"},
            "scope = 'nodes' leaves them out; choose 'all' or 'memories', or walk = 'breadth'",
        ),
        ({"query": [1.0, 0.0]}, "query is a vector; give a text, or walk = 'breadth'"),
        (
            {"query": "x", "start": 1},
            "start = 1 begins elsewhere; leave it out and give a text as query, or walk = 'breadth'",
        ),
        ({"start": 1}, "start = 1 begins elsewhere"),
        ({}, "there is no query; give a text"),
    ):
        with pytest.raises(
            InvalidInput, match=f"walk = 'best' goes by what recall finds among memories, and {words}"
        ):
            comb.jit_context(walk="best", **given)


def test_a_vector_without_an_end_is_not_read_to_it(comb):
    def ones():
        while True:
            yield 1.0

    with pytest.raises(LimitExceeded, match="embedding has more than 65,536 numbers"):
        comb.add_node("x", ones())
    with pytest.raises(LimitExceeded, match="query has more than 65,536 numbers"):
        comb.find_most_relevant(ones())


# Sessions and loops ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("session", [None, "named"])
def test_a_higher_limit_sees_no_loop_in_looks_that_were_slow(comb, clock, session):
    node = comb.add_node("x", [1.0])
    for gap_s in (100, 100, 100, 100, 100, 1, 1, 1):
        clock.advance(seconds=gap_s)
        code = comb.access(node, session=session)
    assert "LOOP_DETECTED" == code

    comb.configure(loop_access_limit=6)

    assert "OK" == comb.check_safety(node, session=session)
    codes = [comb.access(node, session=session).value for _ in range(3)]
    assert ["OK", "OK", "LOOP_DETECTED"] == codes


def test_programs_with_different_limits_count_the_same_looks(opened):
    patient, hasty = opened(), opened()
    patient.honeycomb.configure(loop_access_limit=8)
    node = patient.honeycomb.add_node("x", [1.0])
    for _ in range(4):
        patient.honeycomb.access(node, session="shared")
        code = hasty.honeycomb.access(node, session="shared")

    assert ("OK", "LOOP_DETECTED") == (patient.honeycomb.check_safety(node, session="shared"), code)
    assert "LOOP_DETECTED" == patient.honeycomb.access(node, session="shared")


@pytest.mark.parametrize("session", [None, "named"])
def test_a_clock_that_is_set_back_makes_no_loop_of_slow_looks(comb, clock, session):
    node = comb.add_node("x", [1.0])
    for _ in range(3):
        comb.access(node, session=session)
        clock.advance(seconds=600)
    clock.advance(seconds=-3_000)

    assert "OK" == comb.access(node, session=session)
    codes = [comb.access(node, session=session).value for _ in range(3)]
    assert ["OK", "OK", "LOOP_DETECTED"] == codes
    clock.advance(seconds=-60)
    assert "OK" == comb.check_safety(node, session=session)


def test_a_store_that_is_only_read_goes_by_the_looks_of_others_and_its_own(opened, clock):
    writer = opened()
    node, other = writer.honeycomb.add_nodes([("x", [1.0]), ("y", [0.5])])
    reader = opened(readonly=True).honeycomb
    for _ in range(4):
        assert "OK" == reader.check_safety(node, session="shared")
        writer.honeycomb.access(node, session="shared")
    seen = writer.honeycomb.get(node, session="shared")

    assert "LOOP_DETECTED" == reader.check_safety(node, session="shared")
    assert seen == reader.get(node, session="shared")
    assert ["LOOP_DETECTED", "OK"] == [reader.access(node_id, session="shared") for node_id in (node, other)]
    assert (5, 1) == tuple(
        reader.get(node_id, session="shared").access_count_session for node_id in (node, other)
    )
    assert seen == writer.honeycomb.get(node, session="shared"), "nothing is written"
    clock.advance(seconds=11)
    assert ["OK", "OK"] == [reader.check_safety(node_id, session="shared") for node_id in (node, other)]
    for _ in range(2):
        assert "OK" == writer.honeycomb.access(other, session="shared")
    assert ["OK", "LOOP_DETECTED"] == [reader.access(other, session="shared") for _ in range(2)]

    clock.advance(seconds=3_600)
    assert "SESSION_EXPIRED" == reader.check_safety(node, session="shared")
    reader.start_session("shared")
    assert ("OK", 0) == (
        reader.check_safety(node, session="shared"),
        reader.get(node, session="shared").access_count_session,
    )
    assert "SESSION_EXPIRED" == writer.honeycomb.check_safety(node, session="shared")
    assert "OK" == reader.check_safety(node, session="another")


def test_a_limit_that_could_never_be_kept_is_refused(comb):
    with pytest.raises(InvalidInput, match=r"loop_access_limit = 1001 is more than 1,000"):
        comb.configure(loop_access_limit=1_001)
    node = comb.add_node("x", [1.0])
    comb.configure(loop_access_limit=1_000)
    codes = [comb.access(node) for _ in range(1_001)]
    assert {"OK"} == set(codes[:-1])
    assert "LOOP_DETECTED" == codes[-1]


# Another embedder -----------------------------------------------------------------------------------------------------


class Letters:
    """An embedder of other vectors: how often each of eight letters is in a text."""

    name, dimensions = "letters", 8

    def embed(self, texts):
        counts = [[text.count(letter) + 0.01 for letter in "aeinorst"] for text in texts]
        rows = np.array(counts, dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed_query(self, text):
        return self.embed([text])[0]


def test_rules_and_sessions_go_on_with_another_embedder(opened):
    hx = opened(embedder=HashEmbedder())
    comb = hx.honeycomb
    comb.configure(max_nodes=3, loop_access_limit=1)
    node = comb.add_node("a", [1.0])
    comb.access(node)
    comb.access(node)

    hx.reindex(embedder=Letters())

    assert (3, 1) == (hx.honeycomb.rules.max_nodes, hx.honeycomb.rules.loop_access_limit)
    assert "LOOP_DETECTED" == hx.honeycomb.check_safety(node)
    assert 2 == hx.honeycomb.get(node).access_count_session


def test_who_holds_the_graph_goes_on_with_the_other_embedder_too(opened):
    hx = opened(embedder=HashEmbedder())
    comb = hx.honeycomb
    hx.remember("The tests run on Tuesday.")
    hx.embed_pending()

    hx.reindex(embedder=Letters())
    hx.embed_pending()

    assert 8 == comb.get(comb.add_node("nations")).embedding_dim
    assert "The tests run on Tuesday." == comb.jit_context("tests on Tuesday", scope="memories").text
    assert comb is hx.honeycomb


def test_an_embedder_that_cannot_be_had_leaves_the_store_at_work(opened):
    hx = opened(embedder=HashEmbedder(), background=True)
    with pytest.raises(HexadError):
        hx.reindex(embedder="no-such-embedder")

    hx.remember("The background still embeds this.")

    assert hx._services.wait_idle(30)
    assert 0 == hx.status().embeddings_pending


# Settings -------------------------------------------------------------------------------------------------------------

SETTINGS = {
    "max_nodes": (["1", "99999999999999999999"], ["1.5"]),
    "max_data_bytes": (["1"], ["1.5"]),
    "half_life_hours": (["1", "1.5"], ["2e9"]),
    "cosine_weight": ([], ["0.5", "1.5"]),
    "decay_weight": ([], ["0.5", "1.5"]),
    "ring_half_lives_days": (["[0]", "[1, 0, 2.5]", "[0.0]"], ["1", "[true]", "[false]", "[-1]", "[nan]", '["0"]', "[[]]"]),
    "loop_limit": (["1", "1000"], ["1.5", "1001"]),
    "loop_window_s": (["1", "1.5"], ["2e9"]),
    "session_s": (["1", "1.5"], ["2e9"]),
}  # fmt: skip
NO_SETTINGS = ["true", "false", "nan", "inf", "-inf", "-1", "0", '""', '"1"', "[]", "{}", "2026-01-01"]


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_of_the_graph_takes_what_it_can_use(tmp_path, name):
    good, bad = SETTINGS[name]
    (tmp_path / ".hexad").mkdir()
    file = tmp_path / ".hexad" / "hexad.toml"
    for value in [*NO_SETTINGS, *bad]:
        file.write_text(f"[honeycomb]\n{name} = {value}\n", encoding="utf-8")
        with pytest.raises(InvalidInput, match=r"honeycomb in hexad\.toml: ") as caught:
            hexad.open(tmp_path, embedder=None)
        assert f"{name} = " in str(caught.value)
        assert len(str(caught.value)) < 400
    for value in good:
        file.write_text(f"[honeycomb]\n{name} = {value}\n", encoding="utf-8")
        with hexad.open(tmp_path, embedder=None, background=False) as hx:
            assert hx.honeycomb.rules != hexad.HoneycombRules()


# Limits -------------------------------------------------------------------------------------------------------------


def test_a_full_graph_names_the_setting_that_raises_its_limit(hx, comb, opened, project):
    comb.configure(max_nodes=1)
    comb.add_node("a", [1.0])

    with pytest.raises(
        LimitExceeded, match=r"`max_nodes`, in the table \[honeycomb\] of hexad.toml or by"
    ) as told:
        comb.add_node("b", [1.0])
    assert "configure(max_nodes=…)" in str(told.value)
    comb.configure(max_nodes=2)
    comb.add_node("b", [1.0])
    (project / ".hexad" / "hexad.toml").write_text("[honeycomb]\nmax_nodes = 3\n", encoding="utf-8")
    assert 3 == opened().honeycomb.rules.max_nodes


# Edges --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order", [(8, 7, 6, 5, 4, 3, 2, 1), (1, 2, 3, 4, 5, 6, 7, 8), (5, 1, 8, 3, 2, 7, 6, 4)]
)
def test_of_equal_edges_those_to_the_highest_ids_are_in_overflow_in_whatever_order_they_came(comb, order):
    ids = comb.add_nodes([(f"n{at}", [1.0]) for at in range(9)])
    for at in order:
        comb.insert(ids[0], ids[at], score=0.5)

    assert ids[1:7] == [edge.target_id for edge in comb.neighbors(ids[0])]
    assert set(ids[7:]) == {edge.target_id for edge in comb.overflow(ids[0])}


def test_an_edge_strengthened_to_an_equal_score_rises_past_one_to_a_higher_id(comb):
    ids = comb.add_nodes([(f"n{at}", [1.0]) for at in range(9)])
    for at in (8, 7, 6, 5, 4, 3):
        comb.insert(ids[0], ids[at], score=0.5)
    comb.insert(ids[0], ids[1], score=0.1)

    comb.insert(ids[0], ids[1], score=0.5)

    assert [ids[1], *ids[3:8]] == [edge.target_id for edge in comb.neighbors(ids[0])]
    assert [ids[8]] == [edge.target_id for edge in comb.overflow(ids[0])]


def linked(hx: Hexad) -> list[int]:
    """Memories that are all linked with each other: the first one's ring is full, and one edge is in overflow."""
    memories = [hx.remember(f"The cat number {at} sits on the mat.", path=f"cats/{at}") for at in range(8)]
    hx.embed_pending()
    return [hx.honeycomb.get(memory.id).id for memory in memories]


def test_what_somebody_inserts_takes_a_derived_edge_over_with_its_own_score(hx, comb):
    first, *_ = linked(hx)
    strongest = comb.neighbors(first)[0]
    assert strongest.auto
    assert comb.overflow(first)

    weaker = comb.insert(first, strongest.target_id, score=0.1)

    assert (0.1, "similar", False) == (weaker.relevance_score, weaker.relationship_type, weaker.auto)
    assert weaker.renewed_at >= weaker.timestamp_created == strongest.timestamp_created
    # It is the weakest now, and the others move up.
    assert weaker.ring == 1
    assert 6 == len(comb.neighbors(first))
    assert all(edge.auto for edge in comb.neighbors(first))
    assert [] == hx.check()


def test_what_was_inserted_holds_whether_links_are_derived_before_or_after_it(hx, comb):
    first, second, *_ = linked(hx)
    comb.insert(first, second, score=0.25, relation="cites")

    def told() -> list[tuple[int, float, str, bool]]:
        edges = (*comb.neighbors(first), *comb.overflow(first))
        return sorted(
            (edge.target_id, edge.relevance_score, edge.relationship_type, edge.auto) for edge in edges
        )

    after = told()
    hx.reindex()
    hx.embed_pending()

    assert (second, 0.25, "cites", False) in after
    assert after == told()
    # From now on it is somebody's: only a stronger insertion raises it.
    assert 0.25 == comb.insert(first, second, score=0.2).relevance_score
    assert 0.3 == comb.insert(first, second, score=0.3).relevance_score


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("UPDATE honeycomb_nodes SET is_memory = 1 WHERE id = 9", "Node 9 of the honeycomb is a memory that is not there"),
        ("DELETE FROM honeycomb_contents WHERE node_id = 9", "Node 9 of the honeycomb has a text though"),
        ("UPDATE honeycomb_nodes SET overflow = 3 WHERE id = 1", "should have 6 and 3 edges, and has 8"),
        (
            "UPDATE honeycomb_edges SET place = 11 WHERE from_id = 1 AND place = 7",
            "An edge of node 1 sits in ring 1, seat 5, behind a gap",
        ),
        (
            "UPDATE honeycomb_edges SET score = 0.6 WHERE from_id = 1 AND to_id = 9",
            "The edge from node 1 to 9 is in overflow though it is stronger",
        ),
        (
            "UPDATE honeycomb_edges SET to_id = CASE to_id WHEN 7 THEN 8 ELSE 7 END WHERE from_id = 1"
            " AND to_id IN (7, 8)",
            "The edge from node 1 to 7 is in overflow though it is stronger",
        ),
    ],
)  # fmt: skip
def test_a_check_finds_what_is_wrong_with_the_graph(tmp_path, damage, words):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hub, *others = hx.honeycomb.add_nodes([(f"n{at}", [1.0]) for at in range(9)])
        hx.honeycomb.insert_many([(hub, other) for other in others], score=0.5)
        assert [] == hx.check()

        with hx._services.db.transaction() as con:
            con.execute("PRAGMA defer_foreign_keys = ON")
            con.execute("DROP INDEX honeycomb_edges_back")  # which would see a pair twice on the way
            con.execute(damage)

        found = hx.check()
    assert any(words in line for line in found), found
