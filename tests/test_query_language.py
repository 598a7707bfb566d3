"""The query language says what it did not understand, and refuses what contradicts itself."""

from __future__ import annotations

import pytest

import hexad
from hexad.errors import InvalidInput
from hexad.layers.router.query_language import parse_query_text


@pytest.fixture(scope="module")
def hx():
    with hexad.open(":memory:", embedder=None) as store:
        store.remember('The gate says "mind the gap" in the harbour.', kind="decision")
        store.remember("The gate in the harbour says nothing.", kind="decision")
        yield store


@pytest.mark.row("A010")
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("path:src/* path:docs/* why", "path: is given twice"),
        ("space:project space:other why", "space: is given twice"),
        ("since:2w since:3w why", "since: is given twice"),
        ("is:pinned is:unpinned why", "at once"),
        ("since:2w until:3w why", "is not before until"),
        ("until:2020-01-01 since:2020-01-01 why", "is not before until"),
    ],
)
def test_filters_that_contradict_each_other_are_refused(hx, query, words):
    with pytest.raises(InvalidInput, match=words):
        hx.context(query)
    with pytest.raises(InvalidInput, match=words):
        hx.query(query)


def test_the_same_said_twice_is_said_once(hx):
    twice = hx.context("since:2w since:2w is:pinned is:pinned why").notes
    assert hx.context("since:2w is:pinned why").notes == twice


def test_times_of_a_call_that_leave_nothing_are_refused(hx):
    with pytest.raises(InvalidInput, match="is not before until"):
        hx.context("why", since="2026-02-01", until="2026-01-01")


@pytest.mark.row("A010")
def test_a_query_with_a_filter_that_is_none_says_so_and_a_sentence_does_not(hx):
    notes = hx.context("color:red kind:decision harbour").notes
    assert ["color: is no filter, so color:red is looked for as it stands"] == [
        note.partition(";")[0] for note in notes
    ]
    assert ("kind: has no value.",) == hx.context("kind: layer:project harbour").notes
    assert () == hx.context("Is color:red better, or kind: or note:blue?").notes
    assert "color:" in hx.plan("color:red kind:decision harbour").notes[0]


@pytest.mark.row("A010")
def test_a_phrase_may_hold_quotation_marks(hx):
    found = hx.context(r'kind:decision "says \"mind the gap\""', wait=True)
    assert ['The gate says "mind the gap" in the harbour.'] == [
        block.text for block in (*found.system_items, *found.evidence_blocks)
    ]


@pytest.mark.parametrize(
    ("typed", "phrases", "words"),
    [
        (r'"a \"b\" c"', ('a "b" c',), ()),
        (r'"C:\dir" x', (r"C:\dir",), ("x",)),
        (r'"one \\"', ("one \\",), ()),
        ('"open', (), ("open",)),
        ('""', (), ()),
        ('"' + "\\" * 5_001, (), ("\\" * 5_001,)),
    ],
)
def test_quotation_marks_are_taken_apart_whatever_stands_between_them(typed, phrases, words):
    found = parse_query_text(typed)
    assert (phrases, words) == (found.phrases, found.words)


@pytest.mark.row("A010")
@pytest.mark.parametrize(
    "query",
    ["kind:decision gate", 'layer:project kind:decision since:2w "harbour"', "kind:decision,note gate"],
)
def test_decisions_answer_where_they_are_asked_for_by_their_kind(hx, query):
    assert 2 == len(hx.query(query, deterministic=True))
    assert 2 == len(hx.context(query, wait=True).evidence_blocks)


def test_a_layer_that_has_no_decisions_gives_none_when_it_alone_is_asked(hx):
    assert () == hx.query("layer:session kind:decision gate")
    assert [] == [
        hit for hit in hx.query("gate", layers=["project"], deterministic=True) if hit.item.kind == "decision"
    ]
    assert 2 == len(hx.context("gate", kinds=["decision"], wait=True).evidence_blocks)
