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


def test_who_speaks_as_the_user_under_a_name_is_the_user(hx: Hexad) -> None:
    said = [
        {"role": "assistant", "content": "A pottery course is on Monday."},
        {"role": "user", "name": "Ann", "content": "The pottery course is on Friday."},
        {"role": "user", "name": "Ann", "content": "Always name the room when I ask you about a course."},
    ]
    hx.remember(said, conversation="c")

    mine = {hit.source_id: hit for hit in hx.recall("When is my pottery course?", semantic=False)}

    assert mine["c/0"].parts["speaker"] < 0
    assert "speaker" not in mine["c/1"].parts
    assert "role" not in mine["c/0"].memory.metadata
    assert "user" == mine["c/1"].memory.metadata["role"]


def test_what_a_user_with_a_name_wants_of_answers_holds_in_a_file_of_messages(
    opened: Opener, project: Path
) -> None:
    order = "Always put the imports first when you show me some code."
    said = [order, *(f"Note {number} about the harbour and its ships." for number in range(30))]
    source = project / "chat.jsonl"
    messages = [{"role": "user", "name": "Ann", "content": text} for text in said]
    source.write_text(json.dumps({"id": "c", "messages": messages}), encoding="utf-8")
    with opened() as hx:
        hx.ingest(source, embed=True)
        hits = hx.recall("Could you write a parser for the harbour notes?", limit=5)

    assert order in {hit.text for hit in hits if "standing" in hit.parts}


@pytest.mark.parametrize("role", [5, ["user"], None, "peer"])
def test_a_role_that_is_none_makes_nobody_the_user(opened: Opener, project: Path, role: object) -> None:
    lines = [
        {"id": f"t{at}", "conversation": "c", "speaker": name, "role": role, "text": f"{name} makes pottery."}
        for at, name in enumerate(("Ann", "Bob"))
    ]
    source = project / "c.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with opened() as hx:
        hx.ingest(source)
        hits = hx.recall("What about my pottery?", semantic=False)

    assert 2 == len(hits)
    assert not any("speaker" in hit.parts for hit in hits)
