"""In a recall code stands before its tests and its changelog, where a question asks for neither."""

from __future__ import annotations

import pytest

from hexad import Hexad
from hexad.search.recall.code_ranking import asks_of_changes
from test_code_graph import write

SHOP = {
    "shop.py": '"""Shop."""\n\n\ndef total(cart):\n    """Add up the prices and round half a cent."""\n    return round(sum(cart))\n',
    "tests/test_shop.py": "from shop import total\n\n\ndef test_how_the_total_of_a_cart_rounds_half_a_cent():\n"
    "    # the total of a cart rounds half a cent\n    assert total([1]) == 1\n",
    "CHANGES.md": "# Changes\n\n## 1.2\n\nThe total of a cart rounds half a cent.\n",
}


@pytest.fixture
def shop(hx: Hexad, project) -> Hexad:
    write(project, SHOP)
    hx.ingest(project)
    return hx


def _first(shop: Hexad, question: str) -> str | None:
    return shop.recall(question)[0].source_id


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how does the total of a cart round half a cent?", "shop.py"),
        ("in which version did the total of a cart round half a cent?", "CHANGES.md"),
        ("which test looks at how the total of a cart rounds half a cent?", "tests/test_shop.py"),
    ],
)
def test_tests_and_changelogs_come_first_where_they_are_asked_for(shop, question, first):
    assert first == _first(shop, question)


@pytest.mark.parametrize(
    "question",
    [
        "release a lock",
        "go to the previous page",
        "the version of the protocol that a server speaks",
        "run the migrations of a database",
        "what is used to verify a token",
        "change the owner of a file",
        "seconds since the epoch",
        "fit a linear regression",
        "free a buffer that is no longer needed",
        "upgrade the connection to a websocket",
        "why did the request fail?",
    ],
)
def test_a_question_about_an_interface_is_none_about_changes(question):
    assert not asks_of_changes(question)


@pytest.mark.parametrize(
    "question",
    [
        "why was the lock removed?",
        "did the default timeout change?",
        "what's new?",
        "breaking changes of the last year",
        "is the json module deprecated?",
        "since when does the client follow redirects?",
        "why does get no longer accept a list?",
        "how did cookies work before the rewrite?",
        "what is different in older versions?",
        "it used to return a list",
        "what do I do after upgrading?",
    ],
)
def test_a_question_about_what_became_of_something_is_one_about_changes(question):
    assert asks_of_changes(question)


def test_why_says_what_a_test_lost_and_parts_still_sum_to_the_score(shop):
    hits = {hit.source_id: hit for hit in shop.recall("how does the total of a cart round half a cent?")}

    assert hits["tests/test_shop.py"].parts["aside"] < 0
    assert "aside" not in hits["shop.py"].parts
    for hit in hits.values():
        assert hit.score == pytest.approx(sum(hit.parts.values()))


def test_where_there_is_no_other_code_tests_and_changelogs_stand_as_they_are(hx, project):
    write(project, {name: text for name, text in SHOP.items() if name != "shop.py"})
    hx.ingest(project)
    assert not any(
        "aside" in hit.parts for hit in hx.recall("how does the total of a cart round half a cent?")
    )


def test_what_was_told_is_never_put_aside(shop):
    shop.remember("The total of a cart rounds half a cent up.", kind="log")
    hits = shop.recall("how does the total of a cart round half a cent?")
    assert all("aside" not in hit.parts for hit in hits if hit.source_id is None)


def test_a_definition_comes_before_the_guide_that_names_it(shop, project):
    write(
        project,
        {
            "docs/totals.md": "# Totals of a cart\n\nThe total of a cart rounds half a cent: `fold_cents` does it.\n",
            "cents.py": "def fold_cents(amount):\n    # half a cent of a total\n    return round(amount)\n",
            # A name that many passages have is handed little on by any of them.
            **{
                f"notes/{n}.md": f"# Note {n}\n\nUse `fold_cents` where money is kept, page {n}.\n"
                for n in range(30)
            },
        },
    )
    shop.ingest(project)
    hits = list(shop.recall("how is half a cent of the total of a cart rounded?"))

    places = [hit.source_id for hit in hits]
    assert places.index("cents.py") + 1 == places.index("docs/totals.md")
    named = next(hit for hit in hits if hit.source_id == "cents.py")
    assert named.parts["definition"] > 0
    assert "it defines what a text that answers names" in named.why
    assert named.score == pytest.approx(sum(named.parts.values()))
