"""What the score promises whatever its weights are: order, sums, and which signals speak at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.search.recall.fusion import Candidate, CosineSpread, Fusion, lexical_gap

LONG = 100  # words: enough not to be held against a text

candidates = st.lists(
    st.builds(
        Candidate,
        bm25=st.just(0.0) | st.floats(1e-6, 30),
        cosine=st.none() | st.floats(-1, 1),
        neighbours=st.just(()),
        session=st.none() | st.integers(1, 3),
        speaker=st.integers(-1, 1),
        asks=st.booleans(),
        dated=st.booleans(),
        crowding=st.floats(-1, 1),
        words=st.integers(0, 200),
        exact=st.floats(0, 1),
        defines=st.floats(0, 1),
    ),
    max_size=14,
)


@settings(max_examples=60, derandomize=True)
@given(
    candidates=candidates,
    spread=st.none() | st.builds(CosineSpread, st.floats(-0.2, 0.4), st.floats(0, 0.3)),
    rows=st.integers(0, 5_000),
)
def test_parts_always_add_up_to_the_score(
    candidates: list[Candidate], spread: CosineSpread | None, rows: int
) -> None:
    fusion = Fusion(candidates, spread, rows=rows)
    if spread is not None:
        fusion.weigh_sentences(dict.fromkeys(range(0, len(candidates), 2), 0.5))

    assert len(candidates) == len(fusion.scores)
    for seat, score in enumerate(fusion.scores):
        assert score == pytest.approx(sum(fusion.parts(seat).values()))


def test_only_what_was_asked_speaks() -> None:
    fusion = Fusion([Candidate(bm25=2.0, words=LONG)], None, rows=100)

    assert ["lexical"] == list(fusion.parts(0))
    assert 0.0 == fusion.peak


def test_more_of_a_signal_is_a_higher_score() -> None:
    plain = Candidate(bm25=2.0, cosine=0.3, session=1, words=LONG)
    spread = CosineSpread(0.1, 0.1)

    def score(better: Candidate) -> tuple[float, float]:
        fusion = Fusion([plain, better, Candidate(bm25=4.0, cosine=0.5, words=LONG)], spread, rows=100)
        return fusion.scores[0], fusion.scores[1]

    for better in (
        plain._replace(bm25=3.0),
        plain._replace(cosine=0.4),
        plain._replace(speaker=1),
        plain._replace(neighbours=(2,)),
    ):
        lower, higher = score(better)
        assert lower < higher, better
    for worse in (
        plain._replace(asks=True),
        plain._replace(words=2),
        plain._replace(crowding=0.1),
        plain._replace(speaker=-1),
    ):
        higher, lower = score(worse)
        assert lower < higher, worse


def test_few_words_weaken_turns_alone_and_a_question_at_its_end_a_long_text_little() -> None:
    texts = [
        Candidate(words=3),
        Candidate(words=3, session=1),
        *(Candidate(asks=True, words=n) for n in (5, 100)),
    ]
    fusion = Fusion(texts, None, rows=100)

    assert "short" not in fusion.parts(0)
    assert fusion.parts(1)["short"] < 0
    assert fusion.parts(2)["question"] == pytest.approx(10 * fusion.parts(3)["question"])


def test_a_memory_whose_vector_is_on_its_way_stands_at_the_mean() -> None:
    fusion = Fusion(
        [Candidate(words=LONG), Candidate(cosine=0.1, words=LONG), Candidate(cosine=0.9, words=LONG)],
        CosineSpread(0.1, 0.2),
        rows=100,
    )

    assert fusion.parts(0)["vector"] == pytest.approx(fusion.parts(1)["vector"])
    assert fusion.scores[0] < fusion.scores[2]


def test_turns_of_one_session_share_what_its_best_turn_says() -> None:
    fusion = Fusion(
        [
            Candidate(bm25=9.0, session=1, words=LONG),
            Candidate(session=1, words=LONG),
            Candidate(session=2, words=LONG),
        ],
        None,
        rows=100,
    )

    assert fusion.parts(0)["session"] == fusion.parts(1)["session"] > fusion.parts(2)["session"] == 0


def test_without_candidates_there_is_nothing() -> None:
    assert [] == Fusion([], CosineSpread(0.0, 0.0), rows=0).scores


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([], 0.0), ([0.0, 0.0], 0.0), ([5.0], 1.0), ([4.0, 3.0, 2.0, 0.0], 0.5), ([2.0, 2.0, 2.0], 0.0), ([4.0, 3.0], 1.0)],
)  # fmt: skip
def test_the_gap_is_how_far_the_best_stands_above_a_rank(scores: list[float], expected: float) -> None:
    assert expected == lexical_gap(scores, rank=3)


def test_a_sentence_counts_where_it_is_nearer_than_its_turn_and_never_against_it() -> None:
    told = [Candidate(cosine=cosine, words=LONG) for cosine in (0.3, 0.3, 0.3, None)]
    fusion = Fusion(told, CosineSpread(0.1, 0.1), rows=100)
    before = list(fusion.scores)
    fusion.weigh_sentences({0: 0.5, 1: 0.2, 3: 0.9})

    assert [True, False, False, False] == [
        score > was for score, was in zip(fusion.scores, before, strict=True)
    ]
    assert before[1:] == fusion.scores[1:]
    half_way = Fusion([Candidate(cosine=0.4, words=LONG), *told[1:]], CosineSpread(0.1, 0.1), rows=100)
    own_peak, peak = fusion.peak, half_way.peak
    assert fusion.scores[0] / own_peak == pytest.approx(half_way.scores[0] / peak)


def test_vectors_are_no_surer_for_what_lies_far_from_the_question() -> None:
    told = [Candidate(cosine=0.8, words=LONG), Candidate(cosine=0.3, words=LONG)]

    alone, among_others = (Fusion(told, CosineSpread(mean, 0.1), rows=100) for mean in (0.2, 0.0))
    alike = Fusion(told, CosineSpread(0.5, 0.1), rows=100)

    assert 5.0 == alone.peak == among_others.peak
    assert 3.0 == pytest.approx(alike.peak)
    leads = [fusion.scores[0] - fusion.scores[1] for fusion in (alone, among_others)]
    assert leads[0] == pytest.approx(leads[1])


def test_beside_turns_a_text_counts_as_a_session_of_its_own() -> None:
    turns = [
        Candidate(bm25=9.0, session=1, words=LONG),
        *(Candidate(bm25=at / 4, session=1, words=LONG) for at in range(1, 12)),
    ]
    texts = [Candidate(bm25=6.0, words=LONG), Candidate(words=LONG)]
    fusion = Fusion([*turns, *texts], None, rows=100)
    best = fusion.parts(0)["session"]
    text, other = (fusion.parts(seat)["alone"] for seat in (len(turns), len(turns) + 1))

    assert best > text > other > 0
    assert text == pytest.approx(best * (1 + 6 / 9) / 2)
    assert other == pytest.approx(best / 2)


def test_without_turns_no_text_counts_as_a_session() -> None:
    fusion = Fusion([Candidate(bm25=2.0 + at, words=LONG) for at in range(12)], None, rows=100)

    assert not any({"session", "alone"} & set(fusion.parts(seat)) for seat in range(12))
