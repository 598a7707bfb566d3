"""Of a file of code a recall shows each definition that answers, at the place of its own score."""

from __future__ import annotations

import numpy as np
import pytest

from hexad import Hexad
from hexad.layers.code_passages import CodePassages
from test_code_graph import write

_PADDING = "".join(f"    value = value + {number}\n" for number in range(14))
LANTERNS = "\n\n".join(
    [
        f'def light_lantern(value):\n    """Light the lantern of the harbour at dusk."""\n{_PADDING}    return value\n',
        f'def trim_hedge(value):\n    """Cut the hedge of the garden."""\n{_PADDING}    return value\n',
        f'def quench_lantern(value):\n    """Quench the lantern of the harbour at dawn."""\n{_PADDING}    return value\n',
    ]
)
QUESTION = "lantern of the harbour"


@pytest.fixture
def lanterns(hx: Hexad, project) -> Hexad:
    write(
        project,
        {"lanterns.py": LANTERNS, "ferry.py": LANTERNS.replace("lantern", "ferry").replace("light", "moor")},
    )
    hx.ingest(project)
    return hx


def _headings(hits):
    return [hit.chunk.heading for hit in hits if hit.source_id == "lanterns.py"]


def test_each_definition_that_answers_is_a_hit_of_its_own(lanterns):
    hits = lanterns.recall(QUESTION, min_relevance=0)

    assert {"light_lantern(value)", "quench_lantern(value)"} == {*_headings(hits)[:2]}
    assert len(_headings(hits)) == len({*_headings(hits)})
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]


def test_a_further_definition_says_by_how_much_it_is_behind(lanterns):
    first, further = [
        hit for hit in lanterns.recall(QUESTION, min_relevance=0) if hit.source_id == "lanterns.py"
    ][:2]

    assert further.parts["further"] == pytest.approx(further.score - first.score)
    assert further.score == pytest.approx(sum(further.parts.values()))
    assert "a further definition of a file that answers" in further.why
    assert "further" not in first.parts
    assert further.relevance <= first.relevance


def _meaning(texts):
    """Embed texts: how near each is to the question is how often it has the word glow, of which nobody asks."""
    near = np.array([1.0 if text == QUESTION else min(0.9, 0.3 * text.count("glow")) for text in texts])
    return np.stack([near, np.sqrt(1 - near**2)], axis=1).astype(np.float32)


BEACONS = {
    # The words of the question in one definition, its meaning in the other one.
    "many.py": f"def name_pier():\n    # lantern, harbour, dusk\n{_PADDING}\n\n"
    f"def warm_pier():\n    # glow glow glow\n{_PADDING}",
    # Some of both in one.
    "single.py": f"def tend_pier():\n    # lantern, harbour: glow glow\n{_PADDING}",
    **{f"boat{n}.py": f"def row_{n}():\n    # lantern, boat {n}\n{_PADDING}" for n in range(32)},
}


def test_code_stands_in_the_order_of_what_speaks_for_each_definition_by_itself(opened, project):
    hx = opened(embedder=_meaning)
    write(project, BEACONS)
    hx.ingest(project)
    hx.embed_pending()

    hits = hx.recall(QUESTION, min_relevance=0)

    assert "tend_pier()" == hits[0].chunk.heading
    assert "name_pier()" == hits[1].chunk.heading
    assert len({hit.location for hit in hits}) == len(hits)
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]
    assert [hit.score for hit in hits] == pytest.approx([sum(hit.parts.values()) for hit in hits])
    assert "it stands among code by what speaks for this passage alone" in hits[0].why
    assert hits[0].parts["passage"] > 0


def test_what_a_question_names_stays_where_it_is_defined(opened, project):
    hx = opened(embedder=_meaning)
    write(project, BEACONS)
    hx.ingest(project)
    hx.embed_pending()

    assert "name_pier()" == hx.recall("name_pier", min_relevance=0)[0].chunk.heading


def test_the_limit_and_the_tokens_count_hits_and_not_files(lanterns):
    hits = lanterns.recall(QUESTION, limit=2, min_relevance=0)
    room = hits[0].text.count("") // 3

    assert 2 == len(hits)
    assert hits[0].location != hits[1].location
    assert [hits[0].location] == [
        hit.location for hit in lanterns.recall(QUESTION, limit=2, max_tokens=room, min_relevance=0)
    ]


def test_a_definition_that_a_question_names_is_shown_once(lanterns):
    assert 1 == _headings(lanterns.recall("quench_lantern", min_relevance=0)).count("quench_lantern(value)")
    assert "quench_lantern(value)" == _headings(lanterns.recall("quench_lantern", min_relevance=0))[0]


def test_a_reranker_orders_definitions_apart(opened, project):
    hx = opened(rerank=lambda question, texts: [float("quench" in text) for text in texts])
    write(project, {"lanterns.py": LANTERNS})
    hx.ingest(project)

    hits = hx.recall(QUESTION, min_relevance=0, explain=True)

    assert "quench_lantern(value)" == _headings(hits)[0]
    assert "light_lantern(value)" in _headings(hits)


def test_named_layers_show_definitions_apart_too(lanterns):
    hits = lanterns.recall(QUESTION, layers=["vector", "session"], min_relevance=0)

    assert {"light_lantern(value)", "quench_lantern(value)"} <= {*_headings(hits)}


def test_documents_have_one_hit(hx: Hexad, project):
    sections = "\n\n".join(
        f"## Lantern {n}\n\nThe lantern of the harbour, number {n}. {'Words. ' * 80}" for n in range(5)
    )
    write(project, {"guide.md": f"# Lanterns\n\n{sections}\n", "lanterns.py": LANTERNS})
    hx.ingest(project)

    found = [hit.source_id for hit in hx.recall(QUESTION, min_relevance=0)]

    assert 1 == sum("guide.md" in name for name in found)


def test_a_context_shows_each_definition_whole_and_a_short_class_once(hx: Hexad, project, monkeypatch):
    items = []
    shown = CodePassages.shown
    monkeypatch.setattr(CodePassages, "shown", lambda *given: items.append(shown(*given)) or items[-1])
    lamp = 'class Lamp:\n    """A lamp."""\n\n' + "\n".join(
        f'    def {verb}_beacon(self):\n        """{verb.title()} the beacon of the pier."""\n'
        + "".join(f"        self.turns += {number}\n" for number in range(14))
        for verb in ("light", "quench")
    )
    write(project, {"lanterns.py": LANTERNS, "lamp.py": lamp})
    hx.ingest(project)

    lanterns = [block.text for block in hx.context(QUESTION, max_tokens=2_000, wait=True).evidence_blocks]
    beacons = [
        block.text for block in hx.context("beacon of the pier", max_tokens=2_000, wait=True).evidence_blocks
    ]

    assert 1 == sum("def light_lantern" in text and "return value" in text for text in lanterns)
    assert 1 == sum("def quench_lantern" in text and "return value" in text for text in lanterns)
    assert 1 == sum("class Lamp" in text for text in beacons)
    assert 1 == sum("class Lamp" in item.text for item in items[-1])


def test_a_class_is_found_by_its_name_before_what_takes_an_argument_of_that_name(hx: Hexad, project):
    waits = "\n\n".join(
        f'def wait_{number}(path, timeout):\n    """Wait for the timeout of a timeout."""\n    return timeout\n'
        for number in range(12)
    )
    lock = 'class Lock:\n    @property\n    def timeout(self):\n        """The timeout."""\n        return self._timeout\n'
    error = 'class Timeout(TimeoutError):\n    """The lock was not acquired in time."""\n'
    write(project, {"waits.py": waits, "lock.py": lock, "errors.py": error})
    hx.ingest(project)

    assert "errors.py" == hx.recall("Timeout")[0].source_id
    assert {"errors.py", "lock.py"} == {hit.source_id for hit in hx.recall("timeout", limit=2)}


def test_a_setting_is_found_by_its_name_of_frequent_words(hx: Hexad, project):
    ponds = {f"pond{number}.md": f"Pond {number} requires the python.\n" for number in range(210)}
    write(project, {**ponds, "pyproject.toml": '[project]\nname = "pond"\nrequires-python = ">=3.11"\n'})
    hx.ingest(project)

    assert "pyproject.toml" == hx.recall("requires-python")[0].source_id
