"""The year that is played: the same for a seed, on working days, of topics that change with the quarters."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from agent_year.plan import SessionPlan, YearPlan, YearShape, tokens
from agent_year.topics import TOPICS, Interests, Part, Topic, find_topics, spoken
from hexad import InvalidInput
from hexad.experience.values.tags import Tag, TagType
from hexad.testing import FrozenClock

SHAPE = YearShape(tokens_a_day=400, tokens_a_reply=40)


def topic(number: int) -> Topic:
    parts = tuple(Part(concept=f"p::{number}.{at}", word=f"part {number} {at}") for at in range(4))
    return Topic(concept=f"p::{number}", word=f"topic {number}", parts=parts)


@pytest.fixture
def plan() -> YearPlan:
    return YearPlan(SHAPE, Interests(topics=tuple(map(topic, range(TOPICS)))))


def sessions(plan: YearPlan) -> list[SessionPlan]:
    return [session for day in plan.shape.days for session in plan.sessions(day)]


def test_a_seed_says_all_that_will_happen(plan: YearPlan) -> None:
    again = YearPlan(SHAPE, plan.interests)
    other = YearPlan(replace(SHAPE, seed=2), plan.interests)

    assert sessions(plan) == sessions(again)
    assert list(sessions(plan)[0].events()) == list(sessions(again)[0].events())
    assert [session.tokens for session in sessions(plan)] != [session.tokens for session in sessions(other)]


def test_most_working_days_have_sessions_and_holidays_have_none(plan: YearPlan) -> None:
    days = {date.fromisoformat(session.id[:10]) for session in sessions(plan)}

    weekdays = [day for day in plan.shape.days if day.weekday() < 5]
    assert 0.8 * len(weekdays) < sum(day in days for day in weekdays) < len(weekdays)
    assert not [day for day in days if date(2025, 8, 4) <= day <= date(2025, 8, 15)]
    assert sum(day.weekday() >= 5 for day in days) < 15


def test_a_day_has_the_tokens_that_were_asked_for_about(plan: YearPlan) -> None:
    planned = sessions(plan)[:60]
    said = sum(
        step.token_count
        for session_plan in planned
        for event in session_plan.events()
        for step in event.steps
    )
    days = len({session_plan.id[:10] for session_plan in planned})

    assert 0.7 * SHAPE.tokens_a_day < said / days < 1.5 * SHAPE.tokens_a_day


def test_topics_change_with_the_quarters_and_do_not_break_off(plan: YearPlan) -> None:
    interests = plan.interests
    january, april, may = date(2025, 1, 2), date(2025, 4, 1), date(2025, 5, 15)

    for day in plan.shape.days:
        assert 1.0 == pytest.approx(sum(interests.on(day).values()))
    assert set(interests.on(january)) == {*interests.main(1), interests.daily}
    assert set(interests.main(1)) < set(interests.on(april))
    assert set(interests.on(may)) == {*interests.main(2), interests.daily}
    assert interests.main(1)[-1] == interests.main(2)[0]
    assert TOPICS == len(
        {topic for quarter in (1, 2, 3, 4) for topic in interests.main(quarter)} | {interests.daily}
    )


def test_what_is_said_names_the_topic_and_its_parts_are_what_is_active(plan: YearPlan) -> None:
    for event in sessions(plan)[3].events():
        own = {event.topic.concept, *(part.concept for part in event.topic.parts)}
        for step in event.steps:
            assert event.topic.concept in step.activations
            strong = {concept for concept, score in step.activations.items() if score >= 0.3}
            assert strong <= own
            assert len(step.activations) <= 10


def test_an_event_begins_and_ends_once_and_its_name_is_its_own(plan: YearPlan) -> None:
    planned = sessions(plan)[0]
    steps = [step for event in planned.events() for step in event.steps]
    named = {step.event_id for step in steps} - {None}

    for name in named:
        of = [step for step in steps if step.event_id == name]
        kinds = Counter((step.event_type, step.event_start, step.event_end) for step in of)
        assert sum(count for (_, start, _), count in kinds.items() if start) in (
            1,
            2,
        )  # a call, and its answer
        assert of[0].event_start
        assert of[-1].event_end


@pytest.mark.parametrize("text", ["", "One.", "The tokenizer of our internationalization works.", "a  b\nc"])
def test_tokens_joined_are_the_text(text: str) -> None:
    assert text == "".join(tokens(text))


@pytest.mark.parametrize(
    ("name", "said"),
    [("KeyRotation", "key rotation"), ("HTTPServer", "http server"), ("x", "x"), ("花", "花")],
)
def test_a_concept_is_spoken_of_in_words(name: str, said: str) -> None:
    assert said == spoken(name)


class Pack:
    """A hierarchy of concepts by name."""

    def __init__(self, children: dict[str | None, list[str]]) -> None:
        self._children = children

    def browse_concepts(self, parent_concept_id: str | None = None) -> list[Tag]:
        now = FrozenClock().now()
        return [
            Tag(id=text, name=text, tag_type=TagType.CONCEPT, created_at=now, created_by="system")
            for text in self._children.get(parent_concept_id, [])
        ]


def test_topics_stand_beside_each_other_and_share_no_part() -> None:
    names = [f"T{at:02}" for at in range(TOPICS + 1)]
    children: dict[str | None, list[str]] = {None: ["All"], "All": names}
    for name in names:
        children[name] = [f"{name}-{at}" for at in range(3)]
    children["T01"] = ["T00-0", "T01-1", "T01-2"]  # shares one with T00

    found = find_topics(Pack(children), seed=1)

    assert TOPICS == len(found)
    assert not {"All", "T01"} & {topic.concept for topic in found}
    parts = [part.concept for topic in found for part in topic.parts]
    assert len(parts) == len(set(parts))
    assert found == find_topics(Pack(children), seed=1)


def test_a_pack_with_too_few_topics_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 10"):
        find_topics(Pack({None: ["A"], "A": ["B", "C", "D"]}), seed=1)
