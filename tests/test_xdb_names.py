"""Ids and roles: a secret in one is refused, whatever way it comes in, and the message does not repeat it."""

from __future__ import annotations

import random
import string
import uuid
from datetime import UTC, datetime

import pytest

from hexad import EventType, Hexad, InvalidInput, NotFound, TimestepRecord
from tables import everything_stored

SECRET = "ghp_" + "Ab3" * 12
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def xdb(hx: Hexad):
    hx.xdb.start_session("s")
    return hx.xdb


def row(**fields: object) -> dict[str, object]:
    return {"event_type": "output", "content": "x", **fields}


@pytest.mark.parametrize(
    ("where", "put"),
    [
        ("session_id", lambda xdb: xdb.start_session(SECRET)),
        ("event_id", lambda xdb: xdb.record("output", "x", event_id=SECRET)),
        ("event_id", lambda xdb: xdb.record("output", "x", event_id=f"call {SECRET}")),
        ("role", lambda xdb: xdb.record("output", "x", role=SECRET)),
        ("a concept", lambda xdb: xdb.record("output", "x", {"p::A": 0.5, f"p::{SECRET}": 0.1})),
        ("event_id", lambda xdb: xdb.record_many([row(), row(event_id=SECRET)])),
        ("role", lambda xdb: xdb.record_many([row(), row(role=SECRET)])),
        ("concept", lambda xdb: xdb.record_many([row(concept_activations={SECRET: 0.5})])),
        (
            "role",
            lambda xdb: xdb.experience_log.record_timestep(
                TimestepRecord(
                    id="",
                    session_id="s",
                    tick=0,
                    timestamp=NOON,
                    event_type=EventType.OUTPUT,
                    content="x",
                    role=SECRET,
                )
            ),
        ),
        ("tag", lambda xdb: xdb.tag_index.create_tag(SECRET)),
        ("concept", lambda xdb: xdb.tag_index.create_tag("A", "concept", concept_id=f"p::{SECRET}")),
        ("type", lambda xdb: xdb.create_entity_tag("A", SECRET)),
        ("concept", lambda xdb: xdb.create_bud_tag("A", "b", related_concepts=[f"p::{SECRET}"])),
    ],
)
def test_a_secret_in_a_name_is_refused_and_not_repeated(hx: Hexad, xdb, where: str, put) -> None:
    with pytest.raises(InvalidInput, match=f"(?i){where}.*looks like a secret") as refused:
        put(xdb)

    assert SECRET not in str(refused.value)
    xdb.record("output", "what is fine goes on", event_id="e", role="tool")
    xdb.seal()
    assert SECRET not in everything_stored(hx)


def test_ids_as_programs_make_them_are_no_secrets(xdb) -> None:
    chance = random.Random(7)
    letters = string.ascii_letters + string.digits

    def some(length: int) -> str:
        return "".join(chance.choice(letters) for _ in range(length))

    names = [
        str(uuid.UUID(int=chance.getrandbits(128))),
        uuid.UUID(int=chance.getrandbits(128)).hex,
        f"{chance.getrandbits(256):064x}",
        f"call_{some(24)}",
        f"toolu_01{some(22)}",
        f"chatcmpl-{some(29)}",
        f"msg_{some(24)}",
        some(26).upper(),
        "2026-01-01T10:00:00Z",
        "reply-17",
    ]

    xdb.record_many(row(event_id=name, role=name, concept_activations={name: 0.5}) for name in names)
    for name in names:
        xdb.record("output", "x", {name: 0.5}, event_id=name, role=name)

    assert [2] * len(names) == [len(xdb.recall(event_id=name)) for name in names]


def test_a_question_about_a_secret_is_only_a_question(xdb) -> None:
    assert [] == xdb.recall(event_id=SECRET) == xdb.recall(concepts=[SECRET])
    with pytest.raises(NotFound):
        xdb.recall(session_id="never")


@pytest.mark.parametrize("name", [" ", "\t\n", "\u2003"])
def test_a_session_of_a_blank_name_is_refused_and_not_begun(hx: Hexad, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"session_id = .* is blank"):
        hx.xdb.start_session(name)

    assert [] == hx.xdb.sessions()
