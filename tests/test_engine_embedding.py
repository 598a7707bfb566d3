"""Vectors: computed in the background or on request, by any embedder, and never in the way of anything else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import hexad
from hexad import Conflict, FrozenClock, Hexad, ProviderError, SystemClock
from hexad.database.leases import poll
from hexad.search.embedding_job import EmbeddingJob
from hexad.search.recall.query_terms import RecallOptions
from hexad.testing import HashEmbedder
from llm_server import llm_server
from opener import Opener


class OtherEmbedder(HashEmbedder):
    """Vectors as long as the store's own, and pointing elsewhere: mixing the two would go unnoticed."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "other-256@1"

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        return super().embed([text[::-1] for text in texts])


class Unsteady(HashEmbedder):
    """Raises what it is told to, as often as it is told to, and then works."""

    def __init__(self, error: BaseException, *, times: int) -> None:
        super().__init__()
        self.error, self.left = error, times

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        if self.left:
            self.left -= 1
            raise self.error
        return super().embed(texts)


def two_letters(texts: Sequence[str]) -> list[list[float]]:
    """An embedder of one's own: how often a and b occur."""
    return [[1.0 + text.count("a"), 1.0 + text.count("b"), 1.0] for text in texts]


def fill(hx: Hexad, count: int = 5) -> None:
    for number in range(count):
        hx.remember(f"Fact {number} about the harbour.", id=f"m{number}")


class Held(HashEmbedder):
    """Computes nothing before it is released; says when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.released = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        self.asked.set()
        assert self.released.wait(60)
        return super().embed(texts)


# When -----------------------------------------------------------------------------------------------------------


def test_who_asks_for_vectors_waits_for_those_that_the_background_computes(opened: Opener) -> None:
    embedder = Held()
    hx = opened(embedder=embedder, background=True)
    try:
        fill(hx, 1)
        assert embedder.asked.wait(60)
        threading.Timer(0.3, embedder.released.set).start()

        assert 1 == hx.embed_pending()
        assert (0, 1) == (hx.status().embeddings_pending, hx.status().vectors)
        assert "hybrid" == hx.recall("Which fact about the harbour?", semantic=True).mode
    finally:
        embedder.released.set()


def test_what_the_background_gives_back_is_computed_by_who_waits_for_it(opened: Opener) -> None:
    class Fails(Held):
        def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
            vectors = super().embed(texts)
            if threading.current_thread().name == "hexad-background":
                raise ProviderError("not here")
            return vectors

    embedder = Fails()
    hx = opened(embedder=embedder, background=True)
    try:
        fill(hx, 1)
        assert embedder.asked.wait(60)
        threading.Timer(0.3, embedder.released.set).start()

        assert 1 == hx.embed_pending()
        assert 1 == hx.status().vectors
    finally:
        embedder.released.set()


def test_what_a_thread_gave_back_is_computed_once_by_who_takes_it(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    given_back, taken = threading.Event(), threading.Event()
    real = EmbeddingJob._give_back

    def give_back(job: EmbeddingJob, *args: object) -> None:
        real(job, *args)  # type: ignore[arg-type]
        given_back.set()
        assert taken.wait(60)

    class Fails(HashEmbedder):
        computed = 0

        def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
            if threading.current_thread().name == "hexad-background":
                raise ProviderError("not here")
            self.computed += 1
            taken.set()
            assert poll(lambda: "Background work failed" in caplog.text, wait_s=60, clock=SystemClock())
            return super().embed(texts)

    monkeypatch.setattr(EmbeddingJob, "_give_back", give_back)
    embedder = Fails()
    hx = opened(embedder=embedder, background=True)
    fill(hx, 1)
    assert given_back.wait(60)

    assert 1 == hx.embed_pending()
    assert (1, 1) == (embedder.computed, hx.status().vectors)


def test_who_computes_for_ever_is_not_waited_for_without_end(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.search.embedding_job.OTHERS_S", 0.2)
    embedder = Held()
    hx = opened(embedder=embedder, background=True)
    try:
        fill(hx, 1)
        assert embedder.asked.wait(60)

        assert 0 == hx.embed_pending()
    finally:
        embedder.released.set()


def test_without_a_background_maintain_computes_what_is_missing(hx: Hexad) -> None:
    fill(hx)
    assert (5, 0) == (hx.status().embeddings_pending, hx.status().vectors)
    seen: list[int] = []

    assert 5 == hx.maintain(progress=seen.append).embedded

    assert (0, 5, [5]) == (hx.status().embeddings_pending, hx.status().vectors, seen)
    assert 0 == hx.maintain().embedded


def test_ingest_computes_its_vectors_unless_told_not_to(hx: Hexad, project: Path) -> None:
    (project / "a.md").write_text("The harbour opens at six.")
    (project / "b.md").write_text("The harbour closes at ten.")

    hx.ingest(project / "a.md", embed=False)
    assert 1 == hx.status().embeddings_pending
    hx.ingest(project / "b.md")
    assert 0 == hx.status().embeddings_pending


def test_a_memory_of_several_chunks_has_a_vector_for_each_and_one_of_its_beginning(hx: Hexad) -> None:
    memory = hx.remember("\n\n".join(f"# Part {n}\n\n" + f"Sentence of part {n}. " * 60 for n in range(3)))
    hx.maintain()

    assert len(memory.chunks) >= 3
    assert len(memory.chunks) + 1 == hx.status().vectors


def test_the_background_embeds_by_itself_and_close_ends_its_thread(opened: Opener) -> None:
    before = threading.active_count()
    hx = opened(background=None, clock=SystemClock())
    fill(hx)

    assert hx.wait_for_background(60)
    assert (0, 5) == (hx.status().embeddings_pending, hx.status().vectors)
    assert "hybrid" == hx.recall("harbour").mode
    assert before + 1 == threading.active_count()
    hx.close()
    assert before == threading.active_count()


def test_a_store_without_a_background_has_no_thread(opened: Opener) -> None:
    before = threading.active_count()
    hx = opened(background=False)
    fill(hx)
    hx.recall("harbour")

    assert before == threading.active_count()
    assert hx.wait_for_background(0)


def test_the_background_takes_a_queued_source(opened: Opener, project: Path) -> None:
    (project / "a.md").write_text("The harbour opens at six.")
    hx = opened(background=None, clock=SystemClock())

    hx.enqueue(project / "a.md")

    assert hx.wait_for_background(60)
    assert ["a.md"] == [memory.source_id for memory in hx.memories()]
    assert 0 == hx.status().queue_waiting


def test_closing_in_the_middle_of_work_leaves_the_rest_as_tasks(opened: Opener) -> None:
    entered, go_on = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
            entered.set()
            assert go_on.wait(60)
            return super().embed(texts)

    hx = opened(background=None, embedder=Slow(), clock=SystemClock())
    fill(hx, 1)
    assert entered.wait(60)
    fill(hx, 5)
    go_on.set()
    hx.close()

    with opened() as again:
        status = again.status()
        assert 5 == status.embeddings_pending + status.vectors
        assert status.vectors >= 1
        again.maintain()
        assert (0, 5) == (again.status().embeddings_pending, again.status().vectors)


def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(opened: Opener) -> None:
    class Meddling(HashEmbedder):
        meddle: Callable[[], object] | None = None

        def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
            if self.meddle is not None:
                meddle, self.meddle = self.meddle, None
                meddle()
            return super().embed(texts)

    embedder = Meddling()
    hx = opened(embedder=embedder)
    fill(hx, 2)
    embedder.meddle = lambda: (hx.remember("The crane is broken.", id="m0"), hx.forget("m1"))

    hx.maintain()

    assert (1, 0) == (hx.status().vectors, hx.status().embeddings_pending)
    (hit,) = hx.recall("crane broken")
    assert pytest.approx(1.0, abs=0.35) == float(hit.why[1].rpartition(" ")[2].rstrip(")"))


# Failing --------------------------------------------------------------------------------------------------------


def test_an_embedder_that_fails_leaves_recall_right_and_is_tried_again(opened: Opener) -> None:
    hx = opened(embedder=Unsteady(ProviderError("The endpoint is down."), times=1))
    fill(hx)

    with pytest.raises(ProviderError, match=r"endpoint is down"):
        hx.maintain()

    assert (5, 0, 0) == (
        hx.status().embeddings_pending,
        hx.status().embeddings_failed,
        hx.status().vectors,
    )
    assert 5 == len(hx.recall("harbour"))
    assert 5 == hx.maintain().embedded


def test_what_failed_too_often_rests_until_somebody_asks_for_it(opened: Opener) -> None:
    hx = opened(embedder=Unsteady(ProviderError("The endpoint is down."), times=4))
    fill(hx)

    for _ in range(4):
        with pytest.raises(ProviderError):
            hx.maintain()

    assert 5 == hx.maintain().embedded
    assert (0, 0, 5) == (hx.status().embeddings_pending, hx.status().embeddings_failed, hx.status().vectors)


def broken(texts: Sequence[str]) -> object:
    """A function that never worked, so that nobody knows how long its vectors are."""
    raise ZeroDivisionError("nothing to divide")


@pytest.mark.parametrize("embedder", [Unsteady(ProviderError("down"), times=99), broken])
def test_what_fails_each_time_it_is_asked_for_is_failed_from_the_third_try_on(
    opened: Opener, embedder: object
) -> None:
    hx = opened(embedder=embedder)
    fill(hx, 2)

    counts = []
    for _ in range(5):
        with pytest.raises(ProviderError):
            hx.embed_pending()
        counts.append((hx.status().embeddings_pending, hx.status().embeddings_failed))

    assert [(2, 0), (2, 0), (0, 2), (0, 2), (0, 2)] == counts


def test_the_background_gives_up_after_three_tries_and_says_so(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.maintenance.worker.RETRY_S", 0.01)
    hx = opened(background=None, embedder=Unsteady(ProviderError("down"), times=99), clock=SystemClock())
    fill(hx, 1)

    for _ in range(200):
        if hx.status().embeddings_failed:
            break
        threading.Event().wait(0.05)

    assert (0, 1) == (hx.status().embeddings_pending, hx.status().embeddings_failed)
    assert 1 == len(hx.recall("harbour"))


def test_what_an_endpoint_could_not_embed_is_embedded_once_it_is_there(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, pause_s in (
        ("maintenance.worker.RETRY_S", 0.01),
        ("search.embedding_job.AGAIN_FIRST_S", 0.05),
        ("search.embedding_job.AGAIN_MOST_S", 0.2),
        ("providers.http_requests.FIRST_PAUSE_S", 0.001),
    ):
        monkeypatch.setattr(f"hexad.{name}", pause_s)
    with llm_server() as there:
        base_url = there.base_url  # an address where nobody listens any more
    hx = opened(background=None, embedder=f"openai:some-model@{base_url}", clock=SystemClock())
    fill(hx, 3)

    def until(reached: Callable[[], bool]) -> bool:
        return next((True for _ in range(600) if reached() or threading.Event().wait(0.05)), False)

    assert until(lambda: hx.status().embeddings_failed == 3)
    assert 0 == hx.status().vectors
    with llm_server(port=urlsplit(base_url).port or 0):
        assert until(lambda: hx.status().vectors == 3)
    assert (0, 0) == (hx.status().embeddings_pending, hx.status().embeddings_failed)


def test_a_text_that_never_can_be_embedded_is_asked_for_ever_less_often(
    opened: Opener, clock: FrozenClock
) -> None:
    embedder = Unsteady(ProviderError("down"), times=99)
    hx = opened(embedder=embedder, clock=clock)
    fill(hx, 1)
    job = hx._services.search.job
    assert job is not None

    tries = []
    for minute in range(60):
        before = embedder.left
        with suppress(ProviderError):
            job.run(limit=10)
        tries += [minute] * (before - embedder.left)
        clock.advance(minutes=1)

    assert [0, 1, 2] == tries[:3]
    assert 10 < len(tries) < 20, "every five minutes at last"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("a defect"), MemoryError()])
def test_work_that_was_broken_off_can_be_taken_up_again_at_once(opened: Opener, error: BaseException) -> None:
    hx = opened(embedder=Unsteady(error, times=1))
    fill(hx)

    with pytest.raises(type(error)):
        hx.maintain()

    assert 5 == hx.maintain().embedded
    assert 5 == hx.status().vectors


def test_a_function_with_a_defect_is_a_provider_error_with_its_words(opened: Opener) -> None:
    hx = opened(embedder=broken)
    fill(hx, 1)

    with pytest.raises(ProviderError, match=r"ZeroDivisionError: nothing to divide"):
        hx.maintain()
    assert 1 == len(hx.recall("harbour"))


# Which ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("L002")
def test_any_function_from_texts_to_vectors_is_an_embedder(opened: Opener) -> None:
    with opened(embedder=two_letters) as hx:
        hx.remember("aaaa aaa", id="a")
        hx.remember("bbbb bbb", id="b")
        assert 2 == hx.maintain().embedded
        assert "a" == hx.recall("aaaa aaa", semantic=True)[0].id
        assert "hybrid" == hx.recall("bbbb bbb").mode
    with opened(embedder=two_letters) as again:
        assert ("hybrid", "b") == (again.recall("bbbb bbb").mode, again.recall("bbbb bbb")[0].id)
        assert str(again.status().store_embedder).endswith("two_letters")


def test_another_embedder_than_the_stores_is_a_conflict_that_names_the_way_out(opened: Opener) -> None:
    with opened() as hx:
        fill(hx)
        hx.maintain()

    with pytest.raises(Conflict, match=r"hashing-256@1.*other-256@1.*hexad reindex --embedder"):
        opened(embedder=OtherEmbedder())

    with opened(embedder=None) as lexical:
        assert ("lexical", 5) == (lexical.recall("harbour").mode, len(lexical.recall("harbour")))
    with opened() as again:
        assert "hybrid" == again.recall("harbour").mode


def test_a_store_without_vectors_takes_any_embedder(opened: Opener) -> None:
    with opened() as hx:
        fill(hx)
    with opened(embedder=OtherEmbedder()) as other:
        assert 5 == other.maintain().embedded
        assert "other-256@1" == other.status().store_embedder


def test_default_is_the_embedder_that_the_store_was_built_with(opened: Opener) -> None:
    with opened() as hx:
        fill(hx, 1)
        hx.maintain()
    with opened(embedder="default") as again:
        assert "hashing-256@1" == again.status().embedder


def test_settings_name_the_embedder(opened: Opener, project: Path) -> None:
    store = hexad.init(project)
    (store / "hexad.toml").write_text('embedder = "hashing"\n')
    with opened(embedder="default") as hx:
        assert "hashing-256@1" == hx.status().embedder
    (store / "hexad.toml").write_text('embedder = "none"\n')
    with opened(embedder="default") as hx:
        assert hx.status().embedder is None


@pytest.mark.row("L002")
def test_reindex_with_another_embedder_embeds_everything_in_place(opened: Opener) -> None:
    with opened() as hx:
        fill(hx)
        hx.maintain()
        before = [(memory.id, memory.raw, memory.chunks, memory.updated_at) for memory in hx.memories()]

        report = hx.reindex(embedder=OtherEmbedder())

        assert (5, 5, "other-256@1") == (report.memories, report.vectors_queued, report.embedder)
        assert "hybrid" == hx.recall("harbour").mode
        assert 5 == hx.maintain().embedded
        assert "hybrid" == hx.recall("harbour").mode
        assert before == [
            (memory.id, memory.raw, memory.chunks, memory.updated_at) for memory in hx.memories()
        ]
    with opened(embedder=OtherEmbedder()) as again:
        assert ("hybrid", 5) == (again.recall("harbour").mode, again.status().vectors)


def test_reindex_with_another_embedder_stops_the_thread_of_the_old_one(opened: Opener) -> None:
    before = threading.active_count()
    hx = opened(background=None, clock=SystemClock())
    fill(hx)
    assert hx.wait_for_background(60)

    hx.reindex(embedder=OtherEmbedder())

    assert hx.wait_for_background(60)
    assert (5, "other-256@1") == (hx.status().vectors, hx.status().store_embedder)
    assert before + 1 == threading.active_count()
    hx.close()
    assert before == threading.active_count()


def test_reindex_of_vectors_computes_them_anew_and_gives_the_same_answers(hx: Hexad) -> None:
    fill(hx, 12)
    hx.maintain()
    before = [(hit.id, hit.score, hit.why) for hit in hx.recall("fact 7 of the harbour")]

    assert 12 == hx.reindex(vectors=True).vectors_queued
    assert 12 == hx.maintain().embedded

    assert before == [(hit.id, hit.score, hit.why) for hit in hx.recall("fact 7 of the harbour")]


def test_reindex_alone_touches_no_vector(hx: Hexad) -> None:
    fill(hx)
    hx.maintain()

    assert 0 == hx.reindex().vectors_queued
    assert (0, 5) == (hx.status().embeddings_pending, hx.status().vectors)


def test_a_store_that_somebody_re_embedded_meanwhile_is_not_answered_with_the_old_embedder(
    opened: Opener,
) -> None:
    here = opened()
    fill(here)
    here.maintain()
    assert "hybrid" == here.recall("harbour").mode

    there = opened(embedder=None)
    there.reindex(embedder=OtherEmbedder())
    there.maintain()

    hits = here.recall("harbour")
    assert ("lexical", 5) == (hits.mode, len(hits))
    assert "full text" in hits.notes[0]
    with pytest.raises(ProviderError):
        here.recall("harbour", semantic=True)
    here.remember("Something new in the harbour.")
    with pytest.raises(Conflict, match=r"other-256@1"):
        here.maintain()
    assert "hybrid" == there.recall("harbour").mode
    there.maintain()


def test_what_was_remembered_without_an_embedder_gets_vectors_once_there_is_one(opened: Opener) -> None:
    with opened(embedder=None) as lexical:
        fill(lexical, 3)
    with opened() as hx:
        fill(hx, 5)
        hx.maintain()
        assert (5, 0) == (hx.status().vectors, hx.status().embeddings_pending)
        assert [] == hx.check()


def test_archived_memories_lose_their_vectors_and_their_tasks(hx: Hexad) -> None:
    fill(hx, 3)
    hx.forget("m0")
    assert 2 == hx.status().embeddings_pending
    hx.maintain()
    hx.forget("m1")

    assert (1, 0) == (hx.status().vectors, hx.status().embeddings_pending)
    hx.restore("m1")
    assert 1 == hx.status().embeddings_pending


# Within a question ------------------------------------------------------------------------------------------------


class Counting(HashEmbedder):
    """Notes what it is asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        self.texts += [text for text in texts if text.strip()]
        return super().embed(texts)


def test_a_question_before_any_vector_compares_its_best_matches_by_meaning(opened: Opener) -> None:
    with opened(background=False) as hx:
        fill(hx)
        hx.remember("Nothing of that.", id="other")

        hits = hx.recall("the harbour", explain=True)

        assert "hybrid" == hits.mode
        assert {f"m{number}" for number in range(5)} == {hit.id for hit in hits if "vector" in hit.parts}
        assert all(any("cosine" in reason for reason in hit.why) for hit in hits)
        assert 0 == hx.status().vectors  # nothing is written while somebody waits for an answer


def test_vectors_computed_for_a_question_are_stored_and_not_computed_again(opened: Opener) -> None:
    embedder = Counting()
    with opened(embedder=embedder, background=False) as hx:
        fill(hx)
        hx.remember("Nothing of that.", id="other")
        hx.recall("the harbour")
        hx.recall("the harbour again")
    with opened(embedder=embedder, background=False) as hx:
        status = hx.status()
        assert (5, 1) == (status.vectors, status.embeddings_pending)
        hx.maintain()
        assert (6, 0) == (hx.status().vectors, hx.status().embeddings_pending)
        assert [] == hx.check()
    stored = [text for text in embedder.texts if text.startswith("Fact")]
    assert sorted(set(stored)) == sorted(stored)


def test_a_read_only_store_compares_its_matches_and_stores_nothing(opened: Opener) -> None:
    with opened(background=False) as hx:
        fill(hx)
    with opened(readonly=True) as hx:
        assert "hybrid" == hx.recall("the harbour").mode
    with opened(background=False) as hx:
        assert (0, 5) == (hx.status().vectors, hx.status().embeddings_pending)


def test_a_text_that_changed_after_the_question_gets_the_vector_of_what_it_says_now(opened: Opener) -> None:
    with opened(background=False) as hx:
        hx.remember("Fact about the harbour.", id="m0")
        hx.recall("the harbour")
        hx.remember("The otter sleeps.", id="m0")
    with opened(background=False) as hx:
        hx.maintain()
        assert hx.recall("the otter sleeps", explain=True)[0].why[1].endswith("(cosine 1.00)")


def test_a_question_whose_candidates_cannot_be_embedded_is_answered_from_full_text(opened: Opener) -> None:
    class Questions(HashEmbedder):
        def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
            raise ProviderError("no room for so many")

        def embed_query(self, text: str):  # type: ignore[no-untyped-def]
            return super().embed([text])[0]

    with opened(embedder=Questions(), background=False) as hx:
        fill(hx)
        hits = hx.recall("the harbour")
        assert ("lexical", 5) == (hits.mode, len(hits))


def test_who_insists_on_meaning_is_not_answered_from_a_few_candidates(opened: Opener) -> None:
    with opened(background=False) as hx:
        fill(hx)
        with pytest.raises(ProviderError, match="hexad maintain"):
            hx.recall("the harbour", semantic=True)


def test_what_has_no_vector_yet_is_not_behind_what_has_one_and_is_no_answer(opened: Opener) -> None:
    with opened(background=False) as hx:
        hx.remember(
            "The otter sleeps by day in a den of reeds beside the weir below the village.", id="otter"
        )
        for number in range(70):
            hx.remember(
                f"Note {number} about crane number {number * 7} of the yard and its rope.", id=f"n{number}"
            )
        embed(hx, limit=5)  # of cranes

        assert "otter" == hx.recall("otter boat")[0].id
        contexts = hx._services.search.recaller.with_query_embedder(lambda embed_query: embed_query)
        assert "otter" == contexts.recall("otter boat", RecallOptions())[0].id


# What comes first -------------------------------------------------------------------------------------------------


def embed(hx: Hexad, *, limit: int) -> None:
    """Compute as a background step does, of so many memories."""
    hx._services.search.embed(limit=limit)


def embedded(hx: Hexad) -> list[str]:
    """Return which memories have their vectors."""
    rows = hx._services.db.query(
        "SELECT id FROM memories WHERE no IN (SELECT memory_no FROM vectors) ORDER BY no"
    )
    return [row[0] for row in rows]


def test_the_newest_are_embedded_first_and_long_ones_last(opened: Opener) -> None:
    with opened(background=False) as hx:
        fill(hx, 4)
        hx.remember(
            "\n\n".join(f"# Part {part}\n\n" + "A long tale of otters. " * 80 for part in range(20)),
            id="long",
        )

        embed(hx, limit=2)
        assert ["m2", "m3"] == embedded(hx)
        embed(hx, limit=2)
        assert ["m0", "m1", "m2", "m3"] == embedded(hx)
        embed(hx, limit=1)
        assert "long" in embedded(hx)


def test_what_a_question_touched_is_embedded_before_everything_else(opened: Opener) -> None:
    with opened(background=False) as hx:
        hx.remember(
            "\n\n".join(f"# Part {part}\n\n" + "A long tale of otters. " * 80 for part in range(20)),
            id="long",
        )
        fill(hx, 4)
        hx.recall("otters")

        embed(hx, limit=1)

        assert ["long"] == embedded(hx)


# What is said of it -----------------------------------------------------------------------------------------------


def test_while_vectors_are_missing_every_answer_says_what_share_is_searched_by_meaning(
    opened: Opener,
) -> None:
    with opened(background=False) as hx:
        fill(hx, 4)
        words = (
            "Searched by meaning: {} % of 4 memories; the rest by words. `hexad maintain` computes the rest."
        )
        assert (words.format(0),) == hx.recall("the harbour").notes
        embed(hx, limit=1)
        assert (words.format(25),) == hx.recall("the harbour").notes
        assert () == hx.recall("the harbour", semantic=False).notes
        hx.maintain()
        assert () == hx.recall("the harbour").notes


def test_while_vectors_are_missing_a_context_says_once_what_share_is_searched_by_meaning(
    opened: Opener,
) -> None:
    with opened(background=False) as hx:
        fill(hx, 4)
        said = hx.recall("the harbour").notes
        assert 1 == len(said)
        assert said == hx.context("the harbour").notes
        assert said == hx.context("write a haiku").notes
        assert () == hx.context("the harbour", layers=["session"]).notes
        hx.maintain()
        assert () == hx.context("the harbour").notes


def test_the_time_that_is_left_is_told_by_the_length_of_what_waits(opened: Opener) -> None:
    with opened(background=False) as hx:
        fill(hx, 4)  # 25 tokens together
        hx._services.stores.meta.put("embedding_rate", "0.1")
        assert hx.recall("the harbour").notes[0].endswith("computes the rest in about 4 min.")
        hx._services.stores.meta.put("embedding_rate", "5000")
        assert hx.recall("the harbour").notes[0].endswith("computes the rest in under a minute.")


# A program that hangs --------------------------------------------------------------------------------------------

STOPS = """
import os, signal, sys, hexad
from hexad.testing import HashEmbedder

class Stops(HashEmbedder):
    def embed(self, texts):
        print("holds", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        return super().embed(texts)

hx = hexad.open(sys.argv[1], embedder=Stops(), background=False)
for number in range(3): hx.remember(f"Fact {number} of the one that hangs.")
print(hx.embed_pending(), flush=True)
hx.close()
"""


@pytest.fixture
def stopped(project: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that stopped, as by SIGSTOP, while it computes the vectors of three memories."""
    program = subprocess.Popen(
        [sys.executable, "-c", STOPS, str(project)], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert program.stdout is not None
    assert "holds\n" == program.stdout.readline()
    yield program
    program.kill()
    program.wait()
    program.stdout.close()


def test_the_background_takes_what_a_program_holds_that_hangs(
    opened: Opener, stopped: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.search.embedding_job.HANGS_S", 0.2)
    monkeypatch.setattr("hexad.maintenance.worker.IDLE_S", 0.1)
    hx = opened(embedder=HashEmbedder(), background=True, clock=SystemClock())
    fill(hx)

    assert poll(lambda: 8 == hx.status().vectors, wait_s=60, clock=SystemClock())
    assert poll(lambda: not hx.status().links_pending, wait_s=60, clock=SystemClock())
    stopped.send_signal(signal.SIGCONT)
    assert 0 == stopped.wait(60)
    assert (0, 8) == (hx.status().embeddings_pending, hx.status().vectors)


def test_links_do_not_wait_for_a_program_that_hangs(
    opened: Opener, stopped: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.search.embedding_job.HANGS_S", 0.2)
    hx = opened(embedder=HashEmbedder(), background=False, clock=SystemClock())
    job = hx._services.search.job
    assert job is not None

    assert job.goes_on(0)
    assert poll(lambda: not job.goes_on(0), wait_s=60, clock=SystemClock())


def test_who_asks_for_vectors_takes_what_a_program_holds_that_hangs(
    opened: Opener, stopped: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.search.embedding_job.OTHERS_S", 0.2)
    hx = opened(embedder=HashEmbedder(), background=False, clock=SystemClock())
    fill(hx)

    assert 8 == hx.maintain().embedded
    assert (0, 0, 8) == (
        hx.status().embeddings_pending,
        hx.status().links_pending,
        hx.status().vectors,
    )
