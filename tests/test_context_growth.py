"""What a context asks for does not grow with the store: statements, SQLite's steps and embeddings, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from hexad import Hexad
from hexad.memory.draft import Draft
from opener import Opener

SMALL, LARGE = 300, 900
TOLD: Final = 100
"""Memories that speak to what is asked, in stores of either size."""
STATEMENTS_MOST: Final = 300
ASKED: Final = "why does the harbour crane of dock 7 lift four tons?"


class Asked:
    """Counts what is asked of SQLite in one thread, and of an embedder."""

    def __init__(self) -> None:
        self.statements = self.steps = self.embedded = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return vectors of which some are near each other."""
        self.embedded += len(texts)
        return [[float(len(text) % 7), float(len(text) % 11), 1.0, 0.5] for text in texts]

    def of_context(self, hx: Hexad) -> tuple[int, int]:
        """Return statements and steps of one context of all layers, asked in turn."""
        with hx._services.stores.db.read() as con:
            sqlite = con.sqlite

        def count(event: Mapping[str, Any]) -> None:
            if "'main'." not in event["sql"] and "chunk_fts" not in event["sql"]:  # it counts without end
                self.statements += 1
                self.steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

        self.statements = self.steps = self.embedded = 0
        sqlite.trace_v2(apsw.SQLITE_TRACE_PROFILE, count, id="asked")
        try:
            found = hx.context(ASKED, deterministic=True)
        finally:
            sqlite.trace_v2(0, None, id="asked")
        assert found.system_items or found.evidence_blocks
        return self.statements, self.steps


def filled(opened: Opener, folder: Path, count: int) -> tuple[int, int]:
    folder.mkdir()
    asked = Asked()
    hx = opened(folder, embedder=None)
    kinds = ("note", "decision", "convention")
    drafts = [
        Draft(
            space="default",
            text=f"The harbour crane of dock {number} lifts {number % 9} tons since year {number * 7}."
            if number < TOLD
            else f"Zebra{number} crosses unique{number * 7} with text{number * 13}.",
            kind=kinds[number % 3],
            subject=f"thing {number}" if number % 4 == 0 else None,
            attribute="load" if number % 4 == 0 else None,
            value=number % 9 if number % 4 == 0 else None,
        )
        for number in range(count)
    ]
    hx._services.ingest().writer.write(drafts)
    hx.session.start("Grease the crane", fresh=True)
    for number in range(8):
        hx.feedback(
            hx.memories(limit=1, offset=number)[0].id, "helpful", query=f"which crane is at dock {number}?"
        )
    hx.context("warm everything", deterministic=True)
    return asked.of_context(hx)


@pytest.mark.row("A060")
def test_a_context_asks_for_as_much_of_a_store_three_times_as_large(opened: Opener, tmp_path: Path) -> None:
    few, many = (filled(opened, tmp_path / str(count), count) for count in (SMALL, LARGE))

    assert many[0] <= few[0] + 5
    assert many[0] < STATEMENTS_MOST
    assert many[1] <= 1.5 * few[1]


@pytest.mark.row("A060", "A147")
def test_a_context_embeds_its_question_once_for_all_layers(opened: Opener, tmp_path: Path) -> None:
    asked = Asked()
    hx = opened(tmp_path, embedder=asked.embed)
    for number in range(4):
        hx.remember(
            f"The harbour crane of dock {number} lifts {number} tons.", kind=("note", "decision")[number % 2]
        )
    hx.embed_pending()
    hx.context("warm everything", wait=True)
    asked.embedded = 0

    hx.context(ASKED, wait=True)

    assert 1 == asked.embedded


@pytest.mark.row("A147")
def test_a_question_that_was_asked_lately_is_not_embedded_again_and_sees_what_was_written_since(
    opened: Opener, tmp_path: Path
) -> None:
    asked = Asked()
    hx = opened(tmp_path, embedder=asked.embed)
    hx.remember("The harbour crane of dock 1 lifts one ton.")
    hx.embed_pending()
    hx.context(ASKED, wait=True)
    hx.context("What does the ferry cost?", wait=True)
    asked.embedded = 0

    assert "lifts one ton" in hx.context(ASKED, wait=True).render()
    assert 0 == asked.embedded
    opened(tmp_path, embedder=None).remember("The harbour crane of dock 7 lifts nine tons.")
    assert "lifts nine tons" in hx.context(ASKED, wait=True).render()
