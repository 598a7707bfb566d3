"""A handle on one session has the calls of `hx.xdb`, each about that session, whatever the thread's current one is."""

from __future__ import annotations

import inspect

import pytest

from hexad import Hexad
from hexad.experience.api import BoundSession, Xdb

OF_A_SESSION = sorted(
    name
    for name, call in inspect.getmembers(BoundSession, inspect.isfunction)
    if not name.startswith("_") and name != "end"
)


@pytest.fixture
def handle(hx: Hexad) -> BoundSession:
    """The session `mine`, of which there is something to be found; the thread's current session is `other`."""
    handle = hx.xdb.start_session("mine", max_context_tokens=1_000)
    for at in range(6):
        handle.record("output", "word ", {"p::A": 0.9}, event_id="e", event_end=at == 5, token_count=100)
    handle.request_compaction()
    handle.record("output", "surprising ", {"p::A": 0.9})
    hx.xdb.start_session("other")
    hx.xdb.record("output", "elsewhere", {"p::A": 0.9})
    return handle


def test_every_call_of_a_handle_is_about_its_own_session(hx: Hexad, handle: BoundSession) -> None:
    tick = hx.xdb.get_state()["current_tick"]
    handle.tag("surprising", tick_range=(7, 7))
    handle.comment("Odd.", tick_range=(6, 7))
    handle.pin_window((7, 7))

    assert ["mine"] * 3 == [hit.session_id for hit in handle.recall()][-3:]
    assert {"mine"} == {recall_event.session_id for recall_event in handle.recall_events()}
    assert {"mine"} == {record.session_id for record in handle.recall_by_concept("p::A")}
    assert ["surprising "] == [record.content for record in handle.recall_surprising()]
    assert {"mine"} == {record.session_id for record in handle.compressed_records()}
    assert {"mine"} == {compaction.session_id for compaction in handle.compactions()}
    assert {"mine"} == {window.session_id for window in handle.windows()}
    assert ["mine"] == [
        tag_application.target.session_id for tag_application in handle.tag_applications("surprising")
    ]
    assert ["Odd."] == [comment.content for comment in handle.get_comments_for_range(1, 9)]
    assert "mine" == handle.get_context_state()["session_id"]
    assert "elsewhere" not in str(handle.context())
    assert 7 == sum(bucket.timesteps for bucket in handle.activity())
    assert ["ts-mine-8"] == handle.record_many([{"event_type": "output", "content": "x"}])
    assert tick == hx.xdb.get_state()["current_tick"], "the other session was left alone"


@pytest.mark.parametrize("name", OF_A_SESSION)
def test_a_call_of_a_handle_takes_no_session_and_has_the_parameters_of_the_call_itself(
    handle: BoundSession, name: str
) -> None:
    of_handle = inspect.signature(getattr(BoundSession, name)).parameters
    of_xdb = inspect.signature(getattr(Xdb, name)).parameters

    assert [parameter for parameter in of_xdb if parameter != "session_id"] == [*of_handle]
    with pytest.raises(TypeError, match="session_id"):
        getattr(handle, name)(session_id="other")
