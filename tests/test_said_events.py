"""The session layer's index of events: the same answers as the stream itself gives, whatever happened to it since."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.experience.events import text_cache as event_texts
from hexad.experience.values.levels import Fidelity
from hexad.experience.values.tiers import EventRecord
from hexad.layers.session.event_search import EventSearch
from hexad.text.search_terms import search_terms
from opener import Opener

WORDS = (
    "harbour",
    "deploys",
    "planned",
    "Tuesday",
    "soup",
    "parser",
    "tabs",
    "Größe",
    "lake_side",
    "ΟΔΥΣΣΕΥΣ",
)
ASKED = (*WORDS, "deployed", "our", "harbour parser", "nothing")
MOST = 40


def said(hx: Hexad) -> EventSearch:
    return hx._services.session().stream()


def answers(hx: Hexad) -> dict[str, list[EventRecord]]:
    find = said(hx).opened()
    return {word: list(find(word, MOST)) for word in ASKED}


def asked_of_the_stream(hx: Hexad) -> dict[str, list[EventRecord]]:
    everything = [
        recall_event
        if recall_event.fidelity is Fidelity.COLD
        else replace(recall_event, concept_activations={})
        for recall_event in hx.xdb.recall_events(session_id="*", limit=10_000)
    ]
    return {
        word: [record for record in everything if search_terms(word).match(record.content)][:MOST]
        for word in ASKED
    }


class Life:
    """Random things that happen to a stream, seeded; two stores of one folder record side by side."""

    def __init__(self, stores: list[Hexad], clock: FrozenClock, seed: int) -> None:
        self.stores, self.clock, self.chance = stores, clock, random.Random(seed)
        self.events = 0

    def step(self) -> None:
        """Let one thing happen."""
        hx = self.chance.choice(self.stores)
        deed = self.chance.choices(
            [self.say, self.tokens, self.go_on, self.many, self.seal, self.age, self.erase],
            [25, 20, 35, 6, 5, 1, 1],
        )[0]
        deed(hx)

    def session(self, hx: Hexad) -> str:
        wanted = f"s{self.stores.index(hx)}" if self.chance.random() < 0.7 else "both"
        hx.xdb.start_session(wanted, compaction=False)
        return wanted

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 3))) + " "

    def say(self, hx: Hexad) -> None:
        kind = self.chance.choice(["input", "output", "tool_call"])
        self.events += 1
        hx.xdb.record(
            kind, self.text(), {"pack::Sea": 0.5}, event_id=f"e{self.events}", session_id=self.session(hx)
        )

    def tokens(self, hx: Hexad) -> None:
        session = self.session(hx)
        for _ in range(self.chance.randint(1, 4)):
            hx.xdb.record(
                "output",
                self.text(),
                session_id=session,
                event_start=self.chance.random() < 0.2,
                event_end=self.chance.random() < 0.2,
                role=self.chance.choice([None, "assistant", "assistant"]),
            )

    def go_on(self, hx: Hexad) -> None:
        event = f"e{self.chance.randint(max(1, self.events - 6), self.events + 1)}"
        hx.xdb.record("output", self.text(), event_id=event, session_id=self.session(hx))

    def many(self, hx: Hexad) -> None:
        rows = [{"event_type": "input", "content": self.text()} for _ in range(5)]
        hx.xdb.record_many(rows, session_id=self.session(hx))

    def seal(self, hx: Hexad) -> None:
        hx.xdb.seal()

    def age(self, hx: Hexad) -> None:
        self.clock.advance(days=8)
        hx.maintain()

    def erase(self, hx: Hexad) -> None:
        session = self.session(hx)
        hx.xdb.record("output", "gone soon", session_id=session)
        hx.forget(session=session, purge=True, confirm=True)


@pytest.mark.parametrize(
    "seed", [2, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 1, 4, 5, 6))]
)
def test_events_are_found_as_the_stream_has_them_whatever_happened_in_between(
    opened: Opener, clock: FrozenClock, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # as where very much was recorded since the last question
        monkeypatch.setattr(event_texts, "FEW", 0)
    stores = [opened(embedder=None), opened(embedder=None)]
    life = Life(stores, clock, seed)
    for step in range(40):
        life.step()
        for hx in stores:
            hx.xdb.flush()
        if step % 2:
            hx = life.chance.choice(stores)
            assert asked_of_the_stream(hx) == answers(hx), step


def test_what_another_store_of_the_folder_recorded_is_found_by_the_next_question(opened: Opener) -> None:
    asking, recording = opened(embedder=None), opened(embedder=None)
    recording.xdb.start_session("monday")
    recording.xdb.record("output", "We dep", event_id="e1")
    recording.xdb.flush()
    assert [] == answers(asking)["deployed"]

    recording.xdb.record("output", "loyed.", event_id="e1")
    recording.xdb.flush()

    assert ["We deployed."] == [record.content for record in answers(asking)["deployed"]]


def test_a_stream_with_too_much_text_is_asked_itself(hx: Hexad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_texts, "KEPT_CHARS", 50)
    hx.xdb.start_session("monday")
    for day in range(4):
        hx.xdb.record("output", f"Soup in the harbour on day {day}.", event_id=f"e{day}")
        assert day + 1 == len(answers(hx)["soup"])
    assert asked_of_the_stream(hx) == answers(hx)


def test_nothing_is_put_together_anew_while_nobody_records(hx: Hexad) -> None:
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "Soup in the harbour.", event_id="e1")
    answers(hx)
    kept = said(hx)._texts._state
    hx.remember("The parser takes tabs.")

    answers(hx)
    assert kept is said(hx)._texts._state

    hx.xdb.record("output", "More soup.", event_id="e2")
    answers(hx)
    assert kept is not said(hx)._texts._state


def test_a_segment_can_be_erased_while_its_events_are_kept_and_its_words_are_gone_at_once(
    hx: Hexad, project: Path
) -> None:
    for session in ("monday", "tuesday"):
        hx.xdb.start_session(session)
        hx.xdb.record("output", f"Soup on {session}.", event_id="e1")
    hx.xdb.seal()
    assert 2 == len(answers(hx)["soup"])

    hx.forget(session="monday", purge=True, confirm=True)

    assert ["Soup on tuesday."] == [record.content for record in answers(hx)["soup"]]
    with hexad.open(project, embedder=None, background=False) as other:
        assert asked_of_the_stream(other) == answers(other)
