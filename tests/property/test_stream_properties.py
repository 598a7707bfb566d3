"""Whatever lies in logs, segments and the lists beside them: the stream answers as if every timestep were looked at."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import EventType, FrozenClock, Hexad, TimestepRecord
from hexad.core.tick_ranges import Ranges, union
from hexad.core.tick_ranges import holds as covers
from hexad.experience.events.grouping import EventPlace
from hexad.experience.query import reader as stream_spans
from hexad.experience.query import reader as stream_tops
from hexad.experience.stream import sealing, segment_files
from hexad.experience.stream import segment_files as segment_tops
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tiers import EventRecord
from hexad.text.search_terms import SearchTerms, search_terms

# An example is a store with a history; smaller numbers say no more about it.
SHARED = settings(max_examples=examples(2), phases=[Phase.explicit, Phase.reuse, Phase.generate])
CONCEPTS = [f"pack::C{at}" for at in range(6)]
KINDS = [EventType.INPUT, EventType.OUTPUT, EventType.SYSTEM]


@pytest.fixture(autouse=True, scope="module")
def _short_lists() -> Iterator[None]:
    """Lists of three beside every segment, so that questions go beyond them; four segments are merged; what is tagged
    is read in many parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_files, "SIDE_ROWS", 1)
        patch.setattr(sealing, "SMALL_SEGMENTS", 4)
        patch.setattr(segment_tops, "TOP_ROWS", 3)
        patch.setattr(segment_tops, "_SHARE", 1)
        patch.setattr(stream_tops, "LISTS_FROM_ROWS", 0)
        patch.setattr(stream_spans, "_APART", 2)
        patch.setattr(stream_spans, "_SPANS_LIMIT", 3)
        patch.setattr(stream_spans, "_ROWS_A_PART", 20)
        yield


@dataclass
class World:
    """A store that two have open, and what should be in it."""

    stores: tuple[Hexad, Hexad]
    clock: FrozenClock
    chance: random.Random
    rows: list[TimestepRecord] = field(default_factory=list)

    @property
    def hx(self) -> Hexad:
        return self.chance.choice(self.stores)

    @property
    def segments(self) -> Path:
        return self.hx.path / "stream" / "segments"

    def record(self) -> None:
        session = self.chance.choice(["a", "b", "c"])
        hx = self.hx
        hx.xdb.start_session(session, compaction=False)
        for _ in range(self.chance.randint(1, 12)):
            concepts = self.chance.sample(CONCEPTS, self.chance.randint(0, 4))
            # Few different scores, so that there are ties; some are negative.
            found = hx.xdb.record(
                self.chance.choice([*KINDS, EventType.OUTPUT, EventType.OUTPUT]),
                self.chance.choice(["x", "y", "z", " deploy", "s to", " tues", "day", "Deploy ", ""]),
                {concept: self.chance.choice([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0]) for concept in concepts},
                event_id=self.chance.choice([None, None, "e1", "e2"]),
                event_start=self.chance.random() < 0.1,
                event_end=self.chance.random() < 0.1,
                role=self.chance.choice([None, "assistant", "assistant"]),
            )
            self.clock.advance(seconds=1)
            step = hx.xdb.get_timestep(found)
            assert step is not None
            self.rows.append(step)

    def leave(self) -> None:
        """Let a range of ticks leave the stream."""
        if not self.rows:
            return
        record = self.chance.choice(self.rows)
        last = record.tick + self.chance.randint(0, 20)
        gone = [
            row
            for row in self.rows
            if row.session_id == record.session_id and record.tick <= row.tick <= last
        ]
        db = self.hx._services.db
        number = Sessions(db).number(record.session_id)
        assert number is not None
        with db.transaction():
            ColdRanges(db).add(number, [(row.tick, row.tick) for row in gone])
        self.rows = [row for row in self.rows if row not in gone]

    def lose_a_list(self) -> None:
        for path in self.segments.glob("*.[te][ov]*s") if self.segments.is_dir() else ():
            if self.chance.random() < 0.3:
                path.unlink()

    def step(self) -> None:
        action = self.chance.choice(
            [self.record] * 4 + [self.hx.xdb.seal] * 3 + [self.leave, self.lose_a_list, self.hx.maintain]
        )
        action()

    def question(self) -> StepQuery:
        chance = self.chance
        wanted = chance.sample(CONCEPTS, chance.randint(1, 2))
        bounds = {}
        for text in wanted:
            low = chance.choice([float("-inf"), 0.0, 0.25, 0.5, 0.9])
            bounds[text] = (low, chance.choice([float("inf"), 1.0, 0.75]))
        start = self.clock.now() - timedelta(seconds=chance.randint(0, 100))
        return StepQuery(
            session_id=chance.choice([None, None, *{row.session_id for row in self.rows}]),
            ticks=chance.choice([None, None, (3, 30)]),
            times=chance.choice([None, None, (start, start + timedelta(seconds=40))]),
            event_types=chance.choice([None, None, [EventType.OUTPUT]]),
            text=chance.choice([None, None, "x", "deploy", "y tu", "ys"]),
            event_id=chance.choice([None, None, None, "e1"]),
            activations=bounds,
            strongest=chance.choice([None, wanted[0], wanted[0]]),
            limit=chance.choice([1, 2, 3, 4, 10, 100]),
            offset=chance.choice([0, 0, 1, 5]),
        )

    def tagged(self) -> dict[str, Ranges]:
        """Ranges of ticks as tags have them, of some sessions and of one that there is not."""
        chance = self.chance
        sessions = sorted({row.session_id for row in self.rows} | {"never begun"})
        found = {}
        for session in chance.sample(sessions, chance.randint(0, len(sessions))):
            starts = [chance.randint(1, 80) for _ in range(chance.randint(1, 8))]
            found[session] = union((start, start + chance.choice([0, 0, 1, 3, 30])) for start in starts)
        return found

    def answer(self, question: StepQuery) -> list[TimestepRecord]:
        """What holds, by looking at each."""
        sessions = [info.id for info in self.hx.xdb.sessions()]
        spelled = set() if question.text is None else self.spelling(question.text)
        found = [row for row in self.rows if holds(row, question, spelled)]
        found.sort(key=lambda row: (sessions.index(row.session_id), row.tick))
        if question.strongest is not None:
            strongest = question.strongest
            found.sort(key=lambda row: -row.concept_activations[strongest])
        return found[question.offset :][: question.limit]

    def events(self) -> list[list[TimestepRecord]]:
        """The timesteps of each event, by the order of their sessions and first ticks."""
        sessions = [info.id for info in self.hx.xdb.sessions()]
        found: dict[tuple[int, str], list[TimestepRecord]] = {}
        last: dict[str, tuple[TimestepRecord, tuple[int, str]]] = {}
        for row in sorted(self.rows, key=lambda row: (sessions.index(row.session_id), row.tick)):
            session = sessions.index(row.session_id)
            key = (session, f"id {row.event_id}" if row.event_id else f"tick {row.tick}")
            before = last.get(row.session_id)
            if before is not None and goes_on(before[0], row):
                key = before[1]
            last[row.session_id] = (row, key)
            found.setdefault(key, []).append(row)
        return sorted(found.values(), key=lambda rows: (sessions.index(rows[0].session_id), rows[0].tick))

    def spelling(self, text: str) -> set[str]:
        found = set()
        for rows in self.events():
            parts = pieces(rows)
            joined = "".join(parts).lower()
            for place in range(len(joined)):
                if joined.startswith(text, place):
                    start = 0
                    for row, part in zip(rows, parts, strict=True):
                        end = start + len(part)
                        begins = end - len(row.content)
                        if begins < place + len(text) and end > place and row.content:
                            found.add(row.id)
                        start = end
        return found

    def answer_events(self, question: StepQuery, terms: SearchTerms | None) -> list[EventRecord]:
        plain = replace(question, text=None, event_types=None)
        found = [
            event_of(rows)
            for rows in self.events()
            if any(holds(row, plain) for row in rows)
            and (question.event_types is None or rows[0].event_type in question.event_types)
            and (terms is None or terms.match("".join(pieces(rows))))
        ]
        return found[question.offset :][: question.limit]


def problems(hx: Hexad) -> list[str]:
    """What `check` finds; here ticks leave without the COLD records that stand for them."""
    return [problem for problem in hx.check() if not problem.startswith("COLD records stand for")]


def goes_on(before: TimestepRecord, row: TimestepRecord) -> bool:
    return (
        before.event_id is None
        and row.event_id is None
        and before.event_type is row.event_type is EventType.OUTPUT
        and before.role == row.role
        and not before.event_end
        and not row.event_start
    )


def pieces(rows: list[TimestepRecord]) -> list[str]:
    """The parts of an event's text: a line end stands where another type begins."""
    return [
        row.content if at == 0 or rows[at - 1].event_type is row.event_type else f"\n{row.content}"
        for at, row in enumerate(rows)
    ]


def event_of(rows: list[TimestepRecord]) -> EventRecord:
    peaks: dict[str, float] = {}
    for row in rows:
        for concept, score in row.concept_activations.items():
            peaks[concept] = max(score, peaks.get(concept, score))
    return EventRecord(
        id=rows[0].id, session_id=rows[0].session_id, event_id=rows[0].event_id, event_type=rows[0].event_type,
        role=rows[0].role, start_tick=rows[0].tick, end_tick=rows[-1].tick,
        start_time=min(row.timestamp for row in rows), end_time=max(row.timestamp for row in rows),
        content="".join(pieces(rows)), concept_activations=peaks,
        token_count=sum(row.token_count for row in rows), timesteps=len(rows), fidelity=hexad.Fidelity.HOT,
    )  # fmt: skip


def holds(row: TimestepRecord, question: StepQuery, spelled: Collection[str] = ()) -> bool:
    return (
        question.session_id in (None, row.session_id)
        and (question.ticks is None or question.ticks[0] <= row.tick <= question.ticks[1])
        and (question.times is None or question.times[0] <= row.timestamp < question.times[1])
        and (question.event_types is None or row.event_type in question.event_types)
        and question.event_id in (None, row.event_id)
        and (question.events is None or row.event_id in question.events)
        and (question.tagged is None or covers(question.tagged.get(row.session_id, ()), row.tick))
        and (question.text is None or question.text in row.content.lower() or row.id in spelled)
        and all(
            concept in row.concept_activations and low <= row.concept_activations[concept] <= high
            for concept, (low, high) in question.activations.items()
        )
    )


@pytest.mark.row("H105", "H142", "H165", "H171")
@SHARED
@given(seed=st.integers(0, 2**32))
def test_questions_about_concepts_are_answered_as_if_every_timestep_were_looked_at(seed):
    clock, chance = FrozenClock(), random.Random(seed)
    with (
        TemporaryDirectory() as folder,
        hexad.open(folder, embedder=None, background=False, clock=clock) as hx,
        hexad.open(folder, embedder=None, background=False, clock=clock) as other,
    ):
        world = World(stores=(hx, other), clock=clock, chance=chance)
        world.record()
        for _ in range(30):
            world.step()
        for _ in range(30):
            question = world.question()
            found = world.hx._services.experience().experience.query(question)
            assert world.answer(question) == found, question
        assert [] == problems(hx)


@pytest.mark.row("H003", "H104")
@SHARED
@given(seed=st.integers(0, 2**32))
def test_what_is_tagged_is_found_as_if_every_timestep_were_held_against_every_range(seed):
    clock, chance = FrozenClock(), random.Random(seed)
    with (
        TemporaryDirectory() as folder,
        hexad.open(folder, embedder=None, background=False, clock=clock) as hx,
        hexad.open(folder, embedder=None, background=False, clock=clock) as other,
    ):
        world = World(stores=(hx, other), clock=clock, chance=chance)
        world.record()
        for _ in range(30):
            world.step()
        for _ in range(30):
            question = replace(world.question(), tagged=world.tagged())
            if chance.random() < 0.7:
                question = replace(question, activations={}, strongest=None)
            if chance.random() < 0.3:
                question = replace(question, event_id=None, events=chance.sample(["e1", "e2", "e3"], 2))
            found = world.hx._services.experience().experience.query(question)
            assert world.answer(question) == found, question


@pytest.mark.row("H104")
@SHARED
@given(seed=st.integers(0, 2**32))
def test_events_are_placed_and_timesteps_counted_as_if_every_one_were_looked_at(seed):
    clock, chance = FrozenClock(), random.Random(seed)
    with (
        TemporaryDirectory() as folder,
        hexad.open(folder, embedder=None, background=False, clock=clock) as hx,
        hexad.open(folder, embedder=None, background=False, clock=clock) as other,
    ):
        world = World(stores=(hx, other), clock=clock, chance=chance)
        world.record()
        for _ in range(20):
            world.step()
            sealed, unsealed = world.hx._services.experience().experience.counts()
            assert len(world.rows) == sealed + unsealed
        for session in {row.session_id for row in world.rows}:
            found = world.hx._services.experience().experience.event_places(session, ["e1", "e2", "e3"])
            rows = [row for row in world.rows if row.session_id == session and row.event_id]
            assert found == {
                event: EventPlace(
                    ranges=union((row.tick, row.tick) for row in rows if row.event_id == event),
                    ended=any(row.event_end for row in rows if row.event_id == event),
                )
                for event in {row.event_id for row in rows}
            }


QUERIES = [None, "deploys", "tues deploying", "tuesday", '"s to"', '"y tu" deploy', "xyz", "z", "!"]


@pytest.mark.row("H106")
@SHARED
@given(seed=st.integers(0, 2**32))
def test_events_are_found_as_if_every_timestep_were_joined(seed):
    clock, chance = FrozenClock(), random.Random(seed)
    with (
        TemporaryDirectory() as folder,
        hexad.open(folder, embedder=None, background=False, clock=clock) as hx,
        hexad.open(folder, embedder=None, background=False, clock=clock) as other,
    ):
        world = World(stores=(hx, other), clock=clock, chance=chance)
        world.record()
        for _ in range(30):
            world.step()
        for _ in range(20):
            text = chance.choice(QUERIES)
            terms = None if text is None else search_terms(text)
            question = world.question()
            if chance.random() < 0.6:
                question = replace(question, activations={})
            question = replace(question, strongest=None, text=None)
            found = world.hx._services.experience().experience.recall_events(question, terms)
            assert world.answer_events(question, terms) == found, (question, text)
