"""First vectors: meaning before any real vector is there, in memory alone, and gone with what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hexad
from hexad import Hexad, ProviderError
from hexad.providers.embedders.minilm import MiniLmEmbedder
from hexad.search.first_vectors import FirstVectors
from opener import Opener

FACTS = {
    "otter": "The otter sleeps by day in a den of reeds beside the weir.",
    "crane": "The invoice for the new crane of the yard was paid in March.",
    "tables": "Postgres keeps all the tables of the shop since the summer.",
    "train": "The express to Lisbon leaves at nine from platform four.",
    "bread": "Grandmother bakes two loaves with rye flour every Saturday.",
    "roof": "Rain came through the tiles above the attic last winter.",
}
QUESTIONS = {
    "which database do we use": "tables",
    "railway departure time": "train",
    "an animal resting": "otter",
    "homemade food by a relative": "bread",
}
"""No word of the answer is in them."""


class QuestionsAlone(MiniLmEmbedder):
    """The default embedder for questions; it computes nothing of what is stored, so that first vectors must do."""

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        raise ProviderError("no vectors of stored texts")

    def embed_query(self, text: str):  # type: ignore[no-untyped-def]
        return super().embed([text])[0]


@pytest.fixture(scope="module")
def questions_alone() -> QuestionsAlone:
    return QuestionsAlone()


def fill(hx: Hexad) -> None:
    for name, text in FACTS.items():
        hx.remember(text, id=name)


def found(hx: Hexad, question: str, **filters: str) -> list[str]:
    return [hit.id for hit in hx.recall(question, min_relevance=0, **filters)]


def first(hx: Hexad) -> FirstVectors:
    vectors = hx._services.search.first
    assert vectors is not None
    return vectors


# Before the real vectors -------------------------------------------------------------------------------------------


def test_what_was_ingested_without_vectors_is_found_by_meaning_at_once(
    opened: Opener, questions_alone: QuestionsAlone, tmp_path: Path
) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    for name, text in FACTS.items():
        (folder / f"{name}.md").write_text(text)
    with opened(embedder=questions_alone) as hx:
        hx.ingest(folder, embed=False)

        answers = {question: hx.recall(question, min_relevance=0) for question in QUESTIONS}

        assert [FACTS[name] for name in QUESTIONS.values()] == [hits[0].text for hits in answers.values()]
        hits = answers["an animal resting"]
        assert "first estimate of the cosine" in hits[0].why[0]
        assert hits.notes[0].startswith(
            "Searched by meaning: 0 % of 7 memories; the rest by words and by a first estimate of meaning."
        )
        assert 0 == hx.status().vectors


def test_real_vectors_take_their_place(opened: Opener, questions_alone: QuestionsAlone) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        assert "tables" == found(hx, "which database do we use")[0]
    with opened(embedder="default") as hx:
        hx.maintain()
        hits = hx.recall("which database do we use", min_relevance=0)

        assert "tables" == hits[0].id
        assert () == hits.notes
        assert not any("estimate" in why for hit in hits for why in hit.why)
        assert first(hx)._model._loaded is None  # where nothing waits, nothing is read


def test_one_that_gets_its_real_vector_has_no_estimate_any_more(
    opened: Opener, questions_alone: QuestionsAlone, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        found(hx, "an animal resting")
        monkeypatch.setattr(QuestionsAlone, "embed", MiniLmEmbedder.embed)
        hx._services.search.embed(limit=2)
        monkeypatch.undo()
        rows = hx._services.db.query(
            "SELECT DISTINCT m.id FROM vectors v JOIN memories m ON m.no = v.memory_no"
        )

        hits = hx.recall("an animal resting", min_relevance=0)

        estimated = {hit.id for hit in hits if any("first estimate" in why for why in hit.why)}
        assert 2 == len(rows)
        assert set(FACTS) - {row[0] for row in rows} == estimated
        assert "otter" == hits[0].id
        assert "33 % of 6" in hits.notes[0]


def test_a_store_that_is_only_read_is_searched_by_meaning_too(
    opened: Opener, questions_alone: QuestionsAlone
) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
    with opened(embedder=questions_alone, readonly=True) as hx:
        assert list(QUESTIONS.values()) == [found(hx, question)[0] for question in QUESTIONS]


def test_each_process_answers_the_same(opened: Opener, questions_alone: QuestionsAlone) -> None:
    answers = []
    with opened(embedder=questions_alone) as hx:
        fill(hx)
    for _ in range(2):
        with opened(embedder=questions_alone) as hx:
            hits = [hx.recall(question, min_relevance=0) for question in QUESTIONS]
            answers.append([(hit.id, hit.score) for each in hits for hit in each])

    assert answers[0] == answers[1]


def test_another_embedder_has_none(opened: Opener) -> None:
    with opened() as hx:
        fill(hx)
        assert "estimate" not in hx.recall("otter").notes[0]
        assert hx._services.search.first is None


def test_the_background_computes_what_the_questions_had_no_time_for(
    opened: Opener, questions_alone: QuestionsAlone
) -> None:
    with opened(embedder=questions_alone, clock=hexad.SystemClock()) as hx:
        for number in range(200):
            hx.remember(f"Note {number} about crane {number * 7} of the yard.")
        first(hx)._budget_s = 0.0
        hx._services.search.compute_first(lambda: False)
        assert not first(hx)._known  # before the first question nobody needs them

        notes = hx.recall("a machine that lifts", min_relevance=0).notes
        assert 0 < first(hx).share() < 1
        assert " % of it, by a first estimate of meaning." in notes[0]

        hx._services.search.compute_first(lambda: False)
        assert 1 == first(hx).share()


# What may not be found ---------------------------------------------------------------------------------------------


def test_what_is_forgotten_or_changed_is_gone_at_once(
    opened: Opener, questions_alone: QuestionsAlone
) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        assert "otter" == found(hx, "an animal resting")[0]

        hx.forget("otter")
        hx.forget("tables", purge=True, confirm=True)

        for question in QUESTIONS:
            assert not {"otter", "tables"} & set(found(hx, question))
        assert len(FACTS) - 2 == len(first(hx)._known)
        assert len(FACTS) - 2 == sum(int(segment.alive.sum()) for segment in first(hx)._segments)


def test_filters_count(opened: Opener, questions_alone: QuestionsAlone) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        hx.spaces.create("zoo")
        hx.remember("A lion dozes under the tree at noon.", id="lion", space="zoo")

        assert ["lion"] == found(hx, "which database do we use", space="zoo")
        assert "lion" not in found(hx, "an animal resting", space="default")


def test_what_a_role_may_not_see_is_no_answer(opened: Opener, questions_alone: QuestionsAlone) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        hx.spaces.create("plans")
        hx.spaces.set_policy("plans", {"visibility": [{"kinds": ["decision"], "roles": ["lead"]}]})
        hx.remember("A wolf naps in the cave.", id="wolf", space="plans", kind="decision")
        assert "wolf" in found(hx, "an animal resting")
    with opened(embedder=questions_alone, role="dev") as dev:
        assert "wolf" not in found(dev, "an animal resting")
        assert "otter" == found(dev, "an animal resting")[0]


def test_nothing_of_them_is_on_disk(project: Path, questions_alone: QuestionsAlone, opened: Opener) -> None:
    with opened(embedder=questions_alone) as hx:
        fill(hx)
        found(hx, "an animal resting")
        rows = np.concatenate([segment.matrix for segment in first(hx)._segments])
        pieces = [row.astype(kind).tobytes()[:64] for row in rows for kind in ("<f2", "<f4")]
        stored = b"".join(path.read_bytes() for path in hx.path.rglob("*") if path.is_file())

        assert len(FACTS) == len(rows)
        assert not any(piece in stored for piece in pieces)
