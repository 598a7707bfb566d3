"""Events of several timesteps: their text, and what may not be seen of it, in the stream and after it."""

from __future__ import annotations

import pytest

from hexad import EventRecord, Hexad
from opener import Opener

_KEY = "sk-ant-api03-" + "aB3dE5fG7hJ9kL1mN0pQ" * 4 + "abcdefghijkl-AA"
_TYPES = ("input", "output", "tool_call", "tool_response", "steering", "system")


def say(hx: Hexad, event_type: str, text: str, *, event: str, size: int = 12) -> None:
    for at in range(0, len(text), size):
        hx.xdb.record(event_type, text[at : at + size], event_id=event)


def told(events: list[EventRecord]) -> str:
    return "|".join(event.content for event in events)


@pytest.mark.parametrize("event_type", _TYPES)
def test_a_secret_spread_over_pieces_of_any_event_is_gone_once_it_is_sealed(
    opened: Opener, event_type: str
) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    say(hx, event_type, f"the key is {_KEY} indeed", event="t")
    hx.xdb.seal()

    found = "".join(record.content for record in hx.xdb.recall(limit=100))

    assert "N0pQ" not in found
    assert "REDACTED" in found
    assert "the key is " in found
    assert " indeed" in found


@pytest.mark.parametrize("event_type", _TYPES)
def test_a_secret_spread_over_pieces_reaches_no_package_no_window_and_no_reply(
    opened: Opener, event_type: str
) -> None:
    import duckdb

    hx = opened()
    hx.xdb.start_session("s")
    say(hx, event_type, f"the key is {_KEY} indeed", event="t")
    say(hx, "output", " and more" * 10, event="o")
    bud = hx.xdb.create_bud_tag("leak", "d")
    hx.xdb.tag("leak", tick_range=(1, 9))
    hx.xdb.submit_graft(bud.id, "leak1")
    path = hx.xdb.export_submission("leak1")

    rows = duckdb.sql(f"SELECT content FROM '{path}/timesteps.parquet' ORDER BY tick").fetchall()
    assert "N0pQ" not in "".join(row[0] for row in rows)
    assert "N0pQ" not in "".join(event.content for event in hx.xdb.context("s").events)

    hx.xdb.resolve_submission("leak1", accepted=True)
    hx.xdb.request_compaction("s")
    cold = told(hx.xdb.recall_events(event_id="t", session_id="s"))
    assert "N0pQ" not in cold
    assert "REDACTED" in cold


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("event_type", _TYPES)
def test_an_event_reads_the_same_before_and_after_it_was_compacted(
    opened: Opener, event_type: str, sealed: bool
) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    say(hx, event_type, "the quarterly benchmark of the warehouse", event="t", size=3)
    if sealed:
        hx.xdb.seal()
    before = hx.xdb.recall_events("quarterly warehouse")
    assert ["the quarterly benchmark of the warehouse"] == [record.content for record in before]
    assert ["the quarterly benchmark of the warehouse"] == [
        event.content for event in hx.xdb.context("s").events
    ]
    assert hx.xdb.recall(text_search="benchmark of")

    hx.xdb.record("input", "and now something else", event_id="u", token_count=20)
    hx.xdb.request_compaction("s")

    after = hx.xdb.recall_events("quarterly warehouse")
    assert told(before) == told(after)
    assert after[0].fidelity.value == "cold"
    assert hx.xdb.recall(text_search="benchmark of")


@pytest.mark.parametrize("cut", [None, 3, 6, 9])
def test_a_call_and_its_response_stand_on_lines_of_their_own(opened: Opener, cut: int | None) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    pieces = [("tool_call", piece) for piece in ("look(", "'war", "ehouse", "')")]
    pieces += [("tool_response", piece) for piece in ("nine", " hun", "dred pal", "lets")]
    pieces += [("tool_call", "ag"), ("tool_call", "ain()")]
    for at, (event_type, content) in enumerate(pieces):
        if at == cut:
            hx.xdb.seal()
        hx.xdb.record(event_type, content, event_id="t")
    expected = "look('warehouse')\nnine hundred pallets\nagain()"

    assert [expected] == [recall_event.content for recall_event in hx.xdb.recall_events("hundred warehouse")]
    assert [expected] == [event.content for event in hx.xdb.context("s").events]
    hx.xdb.seal()
    assert [expected] == [recall_event.content for recall_event in hx.xdb.recall_events("hundred warehouse")]
    hx.xdb.record("input", "and now something else", event_id="u", token_count=20)
    hx.xdb.request_compaction("s")
    assert [expected] == [recall_event.content for recall_event in hx.xdb.recall_events("hundred warehouse")]
