"""Recall of named layers, as of a time, and facts whose time has come without upkeep between."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad, InvalidInput, NotFound
from ran import Run

ANN = {"subject": "ann", "attribute": "city"}
WHERE = "where does Ann live?"


@pytest.fixture
def hx(tmp_path: Path, clock: FrozenClock) -> Iterator[Hexad]:
    with hexad.open(tmp_path, embedder=None, clock=clock, background=False) as opened:
        yield opened


def texts(hx: Hexad, query: str, **options: object) -> list[str]:
    return [hit.text for hit in hx.recall(query, **options)]  # type: ignore[arg-type]


# Layers ---------------------------------------------------------------------------------------------------------------


def test_a_recall_of_layers_gives_what_belongs_to_them(hx: Hexad, tmp_path: Path) -> None:
    (tmp_path / "crane.md").write_text("# Crane\n\nThe crane is oiled in May.\n")
    hx.ingest(tmp_path / "crane.md")
    hx.remember("The crane stands at the quay.")
    hx.remember("The crane lifts four tons, because its cable is old.", kind="decision")

    by_layer = {
        layer: {hit.layer for hit in hx.recall("crane", layers=[layer])}
        for layer in ("project", "governance", "vector")
    }

    assert {name: {name} for name in by_layer} == by_layer
    assert 3 == len(hx.recall("crane")) == len(hx.recall("crane", layers=["vector", "governance", "project"]))
    assert [(hit.id, hit.score) for hit in hx.recall("crane")] == [
        (hit.id, hit.score) for hit in hx.recall("crane", layers=["project", "governance", "vector"])
    ]


def test_session_and_user_answer_with_hits_that_are_no_memories(hx: Hexad) -> None:
    hx.session.start("Paint the crane green", fresh=True)
    hx.user.prefer("paint", "green")
    hx.remember("The crane is green.")

    found = hx.recall("what do I paint the crane with?", layers=["session", "user", "project"])

    assert {"session", "user", "project"} == {hit.layer for hit in found}
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    session = next(hit for hit in found if hit.layer == "session")
    assert "Paint the crane green" in session.text
    assert session.text == hx.expand(session).text
    assert session.score == pytest.approx(sum(session.parts.values()))
    assert session.to_dict()["layer"] == "session"
    with pytest.raises(NotFound):
        hx.get(session.id)
    assert hx.feedback(session, "helpful").memory_id is None
    assert 1 == len(hx.recall("paint", layers=["session", "user"], limit=1))
    assert {"project"} == {hit.layer for hit in hx.recall("paint the crane green")}


def test_a_layer_that_is_not_there_is_refused_with_its_name(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="cellar"):
        hx.recall("crane", layers=["cellar"])
    with pytest.raises(InvalidInput, match="no code graph"):
        hx.recall("crane", layers=["graph", "project"])
    with pytest.raises(InvalidInput, match="empty"):
        hx.recall("crane", layers=[])
    with pytest.raises(InvalidInput, match="empty"):
        hx.recall(" ", layers=["session"])
    with pytest.raises(InvalidInput, match="when"):
        hx.recall("crane", as_of="when it rained")


def test_the_texts_of_hits_of_all_layers_share_one_budget(hx: Hexad) -> None:
    hx.session.start("Paint the crane green", fresh=True)
    hx.remember("The crane is green. " * 30)

    found = hx.recall("crane green", layers=["session", "project"], max_tokens=20)

    assert ["session"] == [hit.layer for hit in found]
    assert "do not fit" in found.dropped[0].reason


# As of a time -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def moved(hx: Hexad, clock: FrozenClock) -> Hexad:
    hx.remember("Ann lives in Oslo.", value="Oslo", valid_from="2024-05-01", **ANN)  # type: ignore[arg-type]
    hx.remember("Ann lives in Rome.", value="Rome", valid_from="2025-06-01", **ANN)  # type: ignore[arg-type]
    hx.remember("Ann lives in Bern.", value="Bern", valid_from="2025-12-01", **ANN)  # type: ignore[arg-type]
    return hx


def test_a_recall_as_of_a_time_gives_the_value_that_held_then(moved: Hexad) -> None:
    assert ["Ann lives in Bern."] == texts(moved, WHERE)
    assert ["Ann lives in Bern."] == texts(moved, WHERE, as_of="2025-12-24")
    assert ["Ann lives in Rome."] == texts(moved, WHERE, as_of="2025-06-01")
    assert ["Ann lives in Oslo."] == texts(moved, WHERE, as_of="2025-05-31")
    assert [] == texts(moved, WHERE, as_of="2024-04-30")
    hit = moved.recall(WHERE, as_of="2025-01-01")[0]
    assert "it held from 2024-05-01 until 2025-06-01" in hit.why
    assert hit.replaced is None
    assert "superseded" == hit.memory.status.value


def test_what_has_ended_is_found_by_its_own_words(moved: Hexad) -> None:
    assert [] == texts(moved, "Oslo")

    assert ["Ann lives in Oslo."] == texts(moved, "Oslo", as_of="2025-01-01")
    assert [] == texts(moved, "Oslo", as_of="2025-07-01")


def test_what_was_not_yet_or_was_over_is_left_out(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("The fair is in the harbour.", valid_from="2025-03-01", valid_to="2025-03-08")
    old = hx.governance.decide("Open the harbour at six", rationale="Boats come early.")
    day = clock.now()
    clock.advance(days=10)
    hx.governance.decide("Open the harbour at seven", rationale="It is dark at six.", supersedes=old.id)
    hx.remember("The harbour has a new crane.")

    assert ["The fair is in the harbour."] == texts(hx, "harbour", as_of="2025-03-03")
    assert [] == texts(hx, "harbour", as_of="2025-04-01")
    then, now = ("|".join(texts(hx, "harbour", as_of=when)) for when in (day, clock.now()))
    assert "at six" in then
    assert "at seven" not in then
    assert "crane" not in then
    assert "at seven" in now
    assert "Open the harbour at six" not in now
    assert "crane" in now


def test_a_role_learns_nothing_of_hidden_values_of_then(tmp_path: Path, clock: FrozenClock) -> None:
    with hexad.open(tmp_path, embedder=None, clock=clock, background=False) as hx:
        hx.spaces.create("plans")
        hx.spaces.set_policy("plans", {"visibility": [{"kinds": ["decision"], "roles": ["board"]}]})
        for name, city, since in (("one", "Oslo", "2024-05-01"), ("two", "Rome", "2025-05-01")):
            hx.remember(f"Ann lives in {city}.", id=name, space="plans", kind="decision", value=city,
                        valid_from=since, **ANN)  # type: ignore[arg-type]  # fmt: skip
        assert ["Ann lives in Oslo."] == texts(hx, WHERE, as_of="2025-01-01")
    with hexad.open(tmp_path, embedder=None, clock=clock, actor={"role": "dev"}, background=False) as dev:
        assert [] == texts(dev, WHERE, as_of="2025-01-01")
        assert [] == texts(dev, "Oslo", as_of="2025-01-01")


def test_the_command_line_takes_layers_and_a_time(moved: Hexad, run: Run) -> None:
    asked = run("recall", WHERE, "--as-of", "2025-07-01", "--layer", "project", "--json")

    assert ["Ann lives in Rome."] == [hit["text"] for hit in asked.data]
    assert 2 == run("recall", WHERE, "--layer", "cellar").code
    assert "no code graph" in run("recall", WHERE, "--layer", "graph").err


@pytest.mark.parametrize(
    ("when", "found"), [(datetime.max, 1), ("9999-12-31T23:59:59.999999Z", 1), (datetime.min, 0)]
)
def test_the_first_and_the_last_moment_of_all_may_be_asked_for(
    hx: Hexad, when: datetime | str, found: int
) -> None:
    hx.remember("Ann lives in Oslo.", value="Oslo", **ANN)  # type: ignore[arg-type]

    assert found == len(texts(hx, WHERE, as_of=when))


# Facts whose time comes later -------------------------------------------------------------------------------------------


def test_a_fact_is_current_as_soon_as_its_time_has_come(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("Ann lives in Oslo.", value="Oslo", **ANN)  # type: ignore[arg-type]
    hx.remember("Ann lives in Rome.", value="Rome", valid_from="2026-03-01", **ANN)  # type: ignore[arg-type]
    assert 2 == len(texts(hx, WHERE))
    clock.advance(days=100)

    found = hx.recall(WHERE, explain=True)
    context = hx.context(WHERE, deterministic=True)

    assert ["Ann lives in Rome."] == [hit.text for hit in found]
    assert found[0].replaced is not None
    assert ("Oslo", "2026-03-01") == (found[0].replaced.value, f"{found[0].replaced.valid_to:%Y-%m-%d}")
    assert f"it is over: {found[0].id} holds by now" in [dropped.reason for dropped in found.dropped]
    assert ["Ann lives in Rome."] == [block.text for block in context.system_items]
    assert "before it was Oslo" in context.render()
    assert ["Rome"] == [fact.value for fact in hx.facts.current("ann", "city")]
    assert ["Ann lives in Oslo."] == texts(hx, WHERE, as_of="2026-02-01")

    hx.maintain()

    assert [(hit.id, hit.replaced) for hit in found] == [(hit.id, hit.replaced) for hit in hx.recall(WHERE)]


def test_what_holds_several_values_or_is_trusted_less_takes_no_place(hx: Hexad, clock: FrozenClock) -> None:
    hx.facts.declare("speaks")
    for language, since in (("Danish", None), ("Welsh", "2026-03-01")):
        hx.remember(
            f"Ann speaks {language}.", subject="ann", attribute="speaks", value=language, valid_from=since
        )
    clock.advance(days=100)

    assert {"Ann speaks Danish.", "Ann speaks Welsh."} == set(texts(hx, "what does Ann speak?"))
