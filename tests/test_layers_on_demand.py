"""A layer that had nothing when a store was first asked is in the answers from the moment on that it has something."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hexad import FrozenClock, Hexad, MemoryLayer
from user_projects import open_project

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def asked(tmp_path: Path):
    """A store that was asked for a context when it had texts alone."""
    with open_project(tmp_path / "shop", FrozenClock(NOON), user_dir=tmp_path / "user") as hx:
        hx.remember("The checkout tests run against the staging database.")
        assert not shown(hx, MemoryLayer.SESSION, MemoryLayer.USER)
        yield hx


def another(asked: Hexad) -> Hexad:
    """Return the same store, as another program opens it."""
    folder = asked.path.parent
    return open_project(folder, FrozenClock(NOON), user_dir=folder.parent / "user")


def shown(hx: Hexad, *layers: MemoryLayer) -> str:
    """Return what layers say of the checkout tests."""
    context = hx.context("which framework do the checkout tests use?", wait=True)
    blocks = [*context.system_items, *context.evidence_blocks]
    return "\n".join(block.item.text for block in blocks if block.item.layer in layers)


def test_a_session_that_begins_after_a_context_is_in_the_next(asked):
    asked.session.start(task="Move the checkout tests to pytest")

    assert "Move the checkout tests" in shown(asked, MemoryLayer.SESSION)


def test_a_session_that_another_program_begins_after_a_context_is_in_the_next(asked):
    with another(asked) as other:
        other.session.start(task="Move the checkout tests to pytest")

    assert "Move the checkout tests" in shown(asked, MemoryLayer.SESSION)


def test_what_is_recorded_after_a_context_is_in_the_next(asked):
    with another(asked) as other:
        other.xdb.start_session("monday")
        other.xdb.record("input", "The checkout tests use a framework of our own.", {}, role="user")

    assert "a framework of our own" in shown(asked, MemoryLayer.SESSION)


def test_a_preference_after_a_context_is_in_the_next(asked):
    asked.user.prefer("testing", "pytest")

    assert "pytest" in shown(asked, MemoryLayer.USER)


def test_a_preference_that_another_program_learns_after_a_context_is_in_the_next(asked):
    with another(asked) as other:
        other.user.prefer("testing", "pytest")

    assert "pytest" in shown(asked, MemoryLayer.USER)


def test_a_preference_in_the_users_own_file_is_in_the_first_context(tmp_path):
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "preferences.toml").write_text('testing = "pytest"\n')
    with open_project(tmp_path / "shop", FrozenClock(NOON), user_dir=tmp_path / "user") as hx:
        hx.remember("The checkout tests run against the staging database.")

        assert "pytest" in shown(hx, MemoryLayer.USER)


def test_a_user_layer_that_is_lost_is_missed_by_the_first_context(tmp_path):
    with open_project(tmp_path / "shop", FrozenClock(NOON), user_dir=tmp_path / "user") as hx:
        hx.user.prefer("testing", "pytest")
    for file in (tmp_path / "user").glob("user.db*"):
        file.unlink()

    with open_project(tmp_path / "shop", FrozenClock(NOON), user_dir=tmp_path / "user") as hx:
        notes = "\n".join(hx.context("which framework do the tests use?", wait=True).notes)

    assert "The layer user failed" in notes
    assert "is gone" in notes


def test_an_actor_with_a_role_is_told_nothing_of_the_user(tmp_path):
    with open_project(tmp_path / "shop", FrozenClock(NOON), user_dir=tmp_path / "user") as hx:
        hx.user.prefer("testing", "pytest")

    with open_project(
        tmp_path / "shop",
        FrozenClock(NOON),
        user_dir=tmp_path / "user",
        actor={"user": "ada", "role": "guest"},
    ) as hx:
        context = hx.context("which framework do the tests use?", wait=True)

    assert "pytest" not in context.render()
    assert "failed" not in "\n".join(context.notes)


def test_verdicts_of_another_program_after_a_context_count_in_the_next_plan(asked):
    question = "which framework do the checkout tests use?"

    def authority() -> float:
        return asked.plan(question).weights.layer[MemoryLayer.PROJECT]

    before = authority()
    with another(asked) as other:
        item = other.context(question, wait=True).system_items[0]
        other.feedback(item, "wrong", query=question)

    assert authority() < before
