"""Who is asked about, and where: speakers and the first person in a question, and spaces that answer as stores do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hexad import Hexad
from opener import Opener


def write_turns(
    hx: Hexad, project: Path, turns: Sequence[tuple[str, str]], *, space: str = "default"
) -> None:
    source = project / f"{space}.jsonl"
    source.write_text(
        "".join(
            json.dumps(
                {"id": f"t{at}", "conversation": "c", "session": "s", "speaker": speaker, "text": text}
            )
            + "\n"
            for at, (speaker, text) in enumerate(turns)
        ),
        encoding="utf-8",
    )
    hx.ingest(source, space=space)


def test_a_question_in_the_first_person_is_about_what_the_user_said(hx: Hexad, project: Path) -> None:
    turns = [("assistant", "A pottery course is on Monday."), ("user", "The pottery course is on Friday.")]
    write_turns(hx, project, turns)
    hx.remember("A pottery course was on Sunday.", id="note")

    mine = {hit.source_id or hit.id: hit for hit in hx.recall("When is my pottery course?", semantic=False)}
    plain = {hit.source_id or hit.id: hit for hit in hx.recall("When is the pottery course?", semantic=False)}

    assert {"t0", "t1", "note"} == set(mine) == set(plain)
    assert mine["t0"].parts["speaker"] < 0
    assert not any("speaker" in found.parts for found in (mine["t1"], mine["note"], *plain.values()))
    assert not any("names its speaker" in why for why in mine["t0"].why)


def test_a_speaker_of_another_space_is_not_named(hx: Hexad, project: Path) -> None:
    write_turns(hx, project, [("Bob", "The heron stood in the lake.")], space="lake")
    write_turns(hx, project, [("Ada", "Bob saw a heron.")], space="talk")

    def speakers(space: str) -> tuple[str, ...]:
        explanation = hx.recall("Which heron did Bob see?", space=space, explain=True).explanation
        assert explanation is not None
        return explanation.speakers

    assert (("bob",), ()) == (speakers("lake"), speakers("talk"))


def test_a_question_is_embedded_without_the_names_of_speakers(opened: Opener, project: Path) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return np.ones((len(texts), 4)).tolist()

    with opened(embedder=embed) as hx:
        write_turns(hx, project, [("Ada", "I baked bread."), ("Bob", "Ada bakes bread.")])
        hx.embed_pending()
        asked.clear()
        found = {hit.source_id: hit.parts for hit in hx.recall("Which bread did Ada bake?", min_relevance=0)}

    assert ["Which bread did bake?"] == asked
    assert found["t0"]["speaker"] > 0


TOWNS = ("Arles", "Berne", "Crewe", "Delft", "Essen", "Forst", "Ghent", "Hamar")
"""Names of one length, so that chunks are as long in every store."""


@pytest.mark.parametrize("filters", [{}, {"kinds": ["note"]}])
def test_a_space_answers_as_a_store_of_its_own(
    opened: Opener, tmp_path_factory: pytest.TempPathFactory, filters: dict[str, object]
) -> None:
    def fill(hx: Hexad, space: str, verb: str) -> None:
        for at, town in enumerate(TOWNS * 6):
            hx.remember(f"{town} {verb} ferry number {at:04}", id=f"{space}-{at}", space=space, kind="note")

    def answers(hx: Hexad, **where: object) -> list[tuple[str, float]]:
        hits = hx.recall("ferry from Delft", limit=20, semantic=False, **where, **filters)
        return [(hit.id, round(hit.score, 9)) for hit in hits]

    with opened() as hx:
        fill(hx, "harbour", "takes")
        alone = answers(hx)
        fill(hx, "other", "Delft")
        hx.remember("the ferry from Delft", id="third", space="third", kind="guide")
        assert alone
        assert alone == answers(hx, space="harbour")
        hx.remember("Delft ferry from here", id="late", space="harbour", kind="note")
        assert "late" in dict(answers(hx, space="harbour"))
        hx.forget("late")
        assert alone == answers(hx, space="harbour")
        assert ("third" in dict(answers(hx, space=["harbour", "third"]))) is (not filters)
