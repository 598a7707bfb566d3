from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hexad
from hexad.database.exit_hooks import ProgramEnding
from hexad.errors import ProviderError
from hexad.memory.store import Stores
from hexad.providers.embedders.minilm import WordPiece, load_vocabulary
from hexad.search.embedding_job import ATTEMPTS, passages_of
from hexad.search.indexer import EMBED
from hexad.testing import HashEmbedder
from hexad.text.summary.sentences import iter_sentences

REPLY = "Of course. " + " ".join(
    f"Step {step}: turn the wheel, wait, and look at the gauge." for step in range(120)
)
OWN = "Zephyr barometers frighten my grandmother"


@pytest.mark.parametrize("repeats", [1, 4, 18])
def test_every_passage_of_a_turn_holds_its_words_where_the_embedder_reads(
    tmp_path: Path, repeats: int
) -> None:
    own = " ".join([OWN] * repeats)
    turns = [("assistant", REPLY), ("user", own), ("assistant", "Why?"), ("user", "The needle moves.")]
    source = tmp_path / "talk.jsonl"
    source.write_text(
        "".join(
            json.dumps({"id": str(at), "conversation": "c", "session": "s", "speaker": who, "text": text})
            + "\n"
            for at, (who, text) in enumerate(turns)
        ),
        encoding="utf-8",
    )
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        embedded.extend(texts)
        return np.ones((len(texts), 4)).tolist()

    with hexad.open(tmp_path, embedder=embed, background=False) as hx:
        hx.ingest(source, embed=True)

    tokenizer = WordPiece(load_vocabulary())
    wanted = tokenizer.encode(OWN)[1:-1]
    exchanges = [text for text in embedded if text.startswith("assistant: ") and f"user: {own}" in text]
    assert exchanges
    for text in exchanges:
        read = tokenizer.encode(text)
        assert any(read[at : at + len(wanted)] == wanted for at in range(len(read)))
        assert "look at the gauge." in text
    assert "assistant: Why?\nuser: The needle moves." in embedded


def test_every_passage_of_a_chat_with_an_assistant_holds_words_of_its_own_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    chats = importlib.import_module("benchmarks.assistant_chats_data").chats("development")
    source = tmp_path / "talk.jsonl"
    source.write_text("\n".join(json.dumps(turn) for turn in chats.turns[:120]), encoding="utf-8")
    tokenizer = WordPiece(load_vocabulary())

    def runs(text: str) -> set[tuple[int, ...]]:
        read = tokenizer.encode(text)[1:-1]
        return {tuple(read[at : at + 4]) for at in range(max(1, len(read) - 3))}

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.ingest(source)
        stores = Stores(hx._services.context.db)
        memories = {stores.memories.number(memory.id): memory for memory in hx.memories(limit=None)}
        numbers, passages = passages_of(stores, list(memories), split=iter_sentences)

    assert set(numbers) == {passage.memory_no for passage in passages} == set(memories)
    whole = {no: runs_of_whole(tokenizer, memory.raw) for no, memory in memories.items()}
    assert [] == [
        passage.text[:80] for passage in passages if not runs(passage.text) & whole[passage.memory_no]
    ]
    assert any(passage.sentence for passage in passages)


def test_the_sentences_of_a_turn_are_embedded_beside_it_but_no_more_than_a_dozen(tmp_path: Path) -> None:
    said = "It rained.  The barometer fell\nto a record low. " + " ".join(
        f"Gauge number {at} was read." for at in range(20)
    )
    turns = [("user", said), ("assistant", REPLY), ("user", "Zephyr barometers!")]
    source = tmp_path / "talk.jsonl"
    source.write_text(
        "\n".join(
            json.dumps({"id": str(at), "conversation": "c", "session": "s", "speaker": who, "text": text})
            for at, (who, text) in enumerate(turns)
        ),
        encoding="utf-8",
    )

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.ingest(source)
        hx.remember("The barometer is in the hall. It is an old one of brass.")
        stores = Stores(hx._services.context.db)
        numbers = [stores.memories.number(memory.id) for memory in hx.memories(limit=None)]
        _, passages = passages_of(stores, numbers, split=iter_sentences)

    sentences = [passage.text for passage in passages if passage.sentence]
    assert [
        "The barometer fell to a record low.",
        *(f"Gauge number {at} was read." for at in range(11)),
    ] == sentences


def runs_of_whole(tokenizer: WordPiece, text: str) -> set[tuple[int, ...]]:
    """Return the runs of four tokens of a whole text, however long."""
    read = tokenizer.encode(text, max_tokens=len(text) + 2)[1:-1]
    return {tuple(read[at : at + 4]) for at in range(max(1, len(read) - 3))}


@pytest.mark.parametrize(("kind", "is_short"), [("commit", True), ("note", False)])
def test_of_the_files_of_a_commit_the_first_few_are_read(tmp_path: Path, kind: str, is_short: bool) -> None:
    files = "\n".join(f"- src/part{at}.py (+{at} -1)" for at in range(30))
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        embedded.extend(texts)
        return np.ones((len(texts), 4)).tolist()

    with hexad.open(tmp_path, embedder=embed, background=False) as hx:
        hx.remember(f"Move the parts.\n\nFiles:\n{files}", kind=kind)
        hx.embed_pending()
        assert [1] == [len(hx.recall("src/part29.py", limit=1))]

    assert is_short == (max(text.count("src/part") for text in embedded) == 4)
    assert any("Move the parts." in text for text in embedded)


class EndingEmbedder(HashEmbedder):
    """Fails as one whose program ends, until `ending` is False."""

    ending = True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.ending:
            raise ProgramEnding("The program is ending.")
        return super().embed(texts)


def test_the_end_of_a_program_is_no_failed_attempt_at_a_vector(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = EndingEmbedder()
    with hexad.open(tmp_path, embedder=embedder, background=False) as hx:
        for number in range(3):
            hx.remember(f"Gauge number {number} was read.")
        tasks = Stores(hx._services.context.db).tasks
        for _ in range(ATTEMPTS + 1):
            with pytest.raises(ProviderError):
                hx.maintain()
            assert (3, 0) == tasks.counts(EMBED)
        embedder.ending = False
        hx.maintain()
        assert (0, 0) == tasks.counts(EMBED)
    assert [] == [record.message for record in caplog.records if "failed" in record.message]
