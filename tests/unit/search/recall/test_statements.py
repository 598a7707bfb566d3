"""What a question reads from the database: what a store has none of is not looked for, until there is some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.providers.embedders.hashing import HashEmbedder

TEXTS = (
    "The nightly backup runs at two in the morning.",
    "Deploys happen on Tuesday after the checks are green.",
    "The staging server listens on port 8080.",
    "Invoices are sent on the first of each month.",
)


def opened(folder: Path) -> Hexad:
    return hexad.open(folder, embedder=HashEmbedder(), clock=FrozenClock(), background=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Hexad]:
    with opened(tmp_path) as hx:
        for text in TEXTS:
            hx.remember(text)
        hx.embed_pending()
        yield hx


def statements(hx: Hexad, question: str) -> list[str]:
    """Return what a question asks the database once it was asked before."""
    heard: list[str] = []
    database = hx._services.db
    hx.recall(question)
    database.tracer = lambda sql, _seconds: heard.append(sql)
    try:
        hx.recall(question)
    finally:
        database.tracer = None
    return heard


def test_a_question_about_documents_takes_six_statements(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for at, text in enumerate(TEXTS):
        (tmp_path / "notes" / f"{at}.md").write_text(text)
    with opened(tmp_path) as hx:
        hx.ingest(tmp_path / "notes")
        hx.embed_pending()

        assert 6 == len(statements(hx, "when is the backup made?"))


def test_a_name_of_a_question_is_looked_up_once(store: Hexad) -> None:
    assert not any("chunk_texts" in sql for sql in statements(store, "what is CheckoutRetries?"))


def test_a_definition_that_another_process_adds_is_found(store: Hexad, tmp_path: Path) -> None:
    question = "what is CheckoutRetries?"
    store.recall(question)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "retries.py").write_text("class CheckoutRetries:\n    limit = 3\n")
    with opened(tmp_path) as other:
        other.ingest(tmp_path / "code")
        other.embed_pending()

    assert "defines" in store.recall(question).items[0].parts


def test_nothing_of_an_erased_text_stays_in_what_was_read_of_texts(store: Hexad) -> None:
    secret = store.remember("We used to deploy on Zebraday, not on Tuesday.")
    store.embed_pending()
    for question in ("when do deploys happen?", "did we deploy on Zebraday?"):
        store.recall(question)
    readings = store._services.search.readings
    caches = (readings.assertions.kept, readings.wordings.kept)
    assert any("Zebraday" in str(key) for cache in caches for key in cache._kept)
    store.forget(secret.id, purge=True, confirm=True)

    assert not any("Zebraday" in str(key) for cache in caches for key in cache._kept)


def test_the_first_update_counts_in_a_process_that_asked_before(store: Hexad, tmp_path: Path) -> None:
    question = "when do deploys happen?"
    assert not any("RECURSIVE" in sql for sql in statements(store, question))
    older = store.recall(question).items[0]
    with opened(tmp_path) as other:
        newer = other.remember("We moved deploys from Tuesday to Friday, after the checks are green.")
        other.link(newer.id, older.id, kind="supersedes")

    assert [newer.id] == [
        hit.superseded_by.id for hit in store.recall(question) if hit.superseded_by is not None
    ]


def test_the_first_verdict_counts_in_a_process_that_asked_before(store: Hexad, tmp_path: Path) -> None:
    question = "which port does staging listen on?"
    hit = store.recall(question).items[0]
    with opened(tmp_path) as other:
        other.feedback(hit.id, "helpful", query=question)

    assert "feedback" in store.recall(question).items[0].parts


def test_a_memory_that_waits_for_its_vector_is_told_of_in_a_process_that_asked_before(
    store: Hexad, tmp_path: Path
) -> None:
    question = "when is the backup made?"
    assert () == store.recall(question).notes
    with opened(tmp_path) as other:
        other.remember("The weekly backup runs on Sunday.")
        assert any("Searched by meaning: 80 %" in note for note in store.recall(question).notes)
        other.embed_pending()

    assert () == store.recall(question).notes
