"""Words at word beginnings with simple endings, and phrases as they are."""

from __future__ import annotations

import pytest

from hexad.text.search_terms import search_terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploys", "Deploying now"),
        ("deploy", "the deployment"),
        ("making", "she makes it"),
        ("make", "Making it"),
        ("study", "two studies"),
        ("studied", "a study"),
        ("planned", "the plan"),
        ("boxes", "the box"),
        ("file", "read_file(path)"),
        ("ÜBER", "überall"),
        ("tuesday deploy", "We deploy on Tuesday."),
        ('"on Tues" deploy', "Deploys on tuesdays"),
        ("!!!", "no!!!"),
        ("C++ 17", "in c 17"),
    ],
)
def test_found(query, text):
    terms = search_terms(query)

    assert terms.match(text)
    assert all(needle in text.lower() for needle in terms.needles)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("ploy", "deploy"),
        ("note", "nothing"),
        ("deploy friday", "We deploy on Tuesday."),
        ('"deploy on a"', "We deploy on Tuesday."),
        ('"a  b"', "a b"),
        ("glass", "the glade"),
        ("!!!", "no!"),
    ],
)
def test_not_found(query, text):
    assert not search_terms(query).match(text)
