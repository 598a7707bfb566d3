"""In a recall, passages that come near a question hand a share of their scores on to the code that they mention."""

from __future__ import annotations

import pytest

from hexad import Hexad
from hexad.search.recall import candidate_search
from hexad.search.recall.mentions import CandidateSpan, follow_mentions, names_mentioned
from hexad.search.recall.results import best_passage
from test_code_graph import write

FILLER = "\n\n".join(
    f'def step_{number}(value):\n    """Turn the value {number} times around, and write down what comes of it."""\n'
    + "".join(f"    value = value * {line} + {number}\n" for line in range(14))
    + "    return value\n"
    for number in range(4)
)
CONSOLE = {
    "console.py": '"""Colours of the console."""\n\n\ndef may_keep_style(stream):\n    if stream is None:\n        return False\n'
    + "".join(f"    if stream.mode == {mode}:\n        return stream.switch[{mode}]\n" for mode in range(12))
    + "    return stream.isatty()\n\n\n"
    + FILLER,
    "docs/console.md": "# Output\n\nEscape sequences are stripped where nobody reads them on a terminal: `may_keep_style` decides.\n",
}
QUESTION = "where are escape sequences stripped that nobody reads on a terminal?"


@pytest.fixture
def console(hx: Hexad, project) -> Hexad:
    write(project, CONSOLE)
    hx.ingest(project)
    return hx


def _hit(hx: Hexad, question: str, file: str, **options):
    return next((hit for hit in hx.recall(question, **options) if hit.source_id == file), None)


def test_of_a_file_the_definition_is_shown_that_a_guide_names(console):
    hit = _hit(console, QUESTION, "console.py")

    assert hit is not None
    assert hit.chunk.heading.startswith("may_keep_style")
    assert hit.parts["mentioned"] > 0
    assert "a passage that answers mentions it" in hit.why
    assert hit.score == pytest.approx(sum(hit.parts.values()))


CALLER = (
    "from console import may_keep_style\n\n\ndef strip_escapes(text):\n"
    '    """Strip escape sequences that nobody reads on a terminal."""\n    return text if may_keep_style(out) else bare(text)\n'
)


def test_a_caller_with_the_words_of_a_question_speaks_for_what_it_calls(hx, project):
    write(project, {"console.py": CONSOLE["console.py"], "escapes.py": CALLER})
    hx.ingest(project)

    hits = list(hx.recall(QUESTION))

    assert "escapes.py" == hits[0].source_id
    assert _hit(hx, QUESTION, "console.py").chunk.heading.startswith("may_keep_style")


def test_a_call_in_a_file_that_imports_nothing_of_another_one_means_nothing_there(hx, project):
    stranger = CALLER.replace("from console import may_keep_style", "from elsewhere import may_keep_style")
    write(project, {"console.py": CONSOLE["console.py"], "escapes.py": stranger})
    hx.ingest(project)

    assert "mentioned" not in _hit(hx, QUESTION, "console.py", min_relevance=0).parts


@pytest.mark.parametrize(
    "question", ["which test strips escape sequences?", "since which version are escape sequences stripped?"]
)
def test_nothing_is_handed_on_where_a_question_asks_for_tests_or_changes(console, question):
    assert all("mentioned" not in hit.parts for hit in console.recall(question, min_relevance=0))


def test_a_name_that_is_frequent_in_another_space_still_hands_on_in_this_one(console, monkeypatch):
    monkeypatch.setattr(candidate_search, "FREQUENT", 20)
    for number in range(30):
        console.remember(f"Note {number}: may_keep_style is called here as well.", space="other")

    assert "mentioned" in _hit(console, QUESTION, "console.py", space="default").parts
    assert "mentioned" not in _hit(console, QUESTION, "console.py", min_relevance=0).parts


SPANS = [
    CandidateSpan(1, 0, "Output", 8.0),
    CandidateSpan(2, 1, "may_keep_style(stream)", 1.0),
    CandidateSpan(3, 1, "step(value)", 1.5),
    CandidateSpan(4, 2, "Box.open(self)", 1.0),
]
TEXTS = {1: ("Output", "See `may_keep_style` and `open`."), 2: ("", "step(1)")}


def _follow(spans=SPANS, *, occurrences=1):
    return follow_mentions(
        spans, code={1, 2}, speaking={0, 1, 2}, may_mean=lambda place, other: True, texts=lambda chunks: {no: TEXTS.get(no, ("", "")) for no in chunks},
        occurrences=lambda name: occurrences,
    )  # fmt: skip


def _shown(found):
    return {place: best_passage(passages).chunk_no for place, passages in found.passages.items()}


def test_a_share_goes_to_each_definition_and_less_where_many_passages_have_its_name():
    once, often = _follow(), _follow(occurrences=4)

    assert {1: 1.0 + 0.5 * 8 - 1.5, 2: 0.5 * 8} == once.gains
    assert {1: 2, 2: 4} == _shown(once)
    assert {1: 1.0 + 0.25 * 8 - 1.5, 2: 0.25 * 8} == often.gains


def test_a_name_that_is_everywhere_or_that_many_definitions_have_hands_nothing_on():
    many = [*SPANS, *(CandidateSpan(10 + no, 2, f"Box{no}.open(self)", 0.5) for no in range(4))]

    assert {} == _follow(occurrences=0).gains
    assert {1: 2} == {place: chunk for place, chunk in _shown(_follow(many)).items() if place == 1}
    assert 2 not in _follow(many).gains


def test_a_definition_says_nothing_of_itself():
    spans = [CandidateSpan(5, 1, "walk(tree)", 3.0), CandidateSpan(6, 1, "other(tree)", 2.0)]
    found = follow_mentions(
        spans,
        code={1},
        speaking={1},
        may_mean=lambda place, other: True,
        texts=lambda chunks: {5: ("", "def walk(tree): walk(tree.left)")},
        occurrences=lambda name: 1,
    )

    assert ({}, {1: 5}) == (found.gains, _shown(found))


def test_names_are_those_that_are_written_as_code():
    text = "A step of the prompt: ``echo`` or :meth:`Box.open_lid`, then `a b`; Foo::from_str, x->length, callMe, and plain words."

    assert {"echo", "open_lid", "from_str", "length", "callMe"} == names_mentioned(text)
