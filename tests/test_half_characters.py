"""Half of a character, and bytes that are no UTF-8: refused by name, with what to give instead, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from ran import Run

HALF = "a\ud800b"
CALLS: dict[str, Callable[[Hexad], object]] = {
    "remember tags": lambda hx: hx.remember("A text.", tags=[HALF]),
    "remember metadata": lambda hx: hx.remember("A text.", metadata={"a": HALF}),
    "remember value": lambda hx: hx.remember("A text.", subject="a", attribute="b", value=HALF),
    "remember conversation": lambda hx: hx.remember([{"role": "user", "content": "Hi."}], conversation=HALF),
    "remember_raw tags": lambda hx: hx.remember_raw("default", "note", "A text.", tags=[HALF]),
    "tag": lambda hx: hx.tag("there", add=[HALF]),
    "ingest tags": lambda hx: hx.ingest(hx.path.parent, tags=[HALF]),
    "decide": lambda hx: hx.governance.decide(HALF),
    "decide rationale": lambda hx: hx.governance.decide("Keep.", rationale=HALF),
    "decide alternatives": lambda hx: hx.governance.decide("Keep.", alternatives=[{"name": HALF}]),
    "session start": lambda hx: hx.session.start(HALF),
    "session start steps": lambda hx: hx.session.start("Work.", steps=[HALF]),
    "session task": lambda hx: hx.session.set_task(HALF),
    "session step": lambda hx: hx.session.add_steps(HALF),
    "session note": lambda hx: hx.session.note(HALF),
    "session turn": lambda hx: hx.session.add_turn("user", HALF),
    "session edit": lambda hx: hx.session.record_edit("a.py", summary=HALF),
    "session end": lambda hx: hx.session.end(HALF),
    "xdb session": lambda hx: hx.xdb.start_session(HALF),
    "xdb comment": lambda hx: hx.xdb.comment(HALF, session_id="talk", tick_range=(1, 1)),
    "document tags": lambda hx: hx.xdb.documents.add_document("a.md", "A text.", "reference", tags=[HALF]),
    "document summary": lambda hx: hx.xdb.documents.add_document("a.md", "A.", "reference", summary=HALF),
    "space metadata": lambda hx: hx.spaces.set_metadata("default", {"a": HALF}),
    "space policy": lambda hx: hx.spaces.set_policy("default", {"export_path": HALF}),
    "project value": lambda hx: hx.project.remember(category="todo", key="k", value=HALF),
    "project detect": lambda hx: hx.project.detect(space="\ud800"),
    "project detect, tried": lambda hx: hx.project.detect(space="\ud800", dry_run=True),
    "honeycomb": lambda hx: hx.honeycomb.add_node(HALF, [1.0]),
}


@pytest.mark.parametrize("call", CALLS)
def test_half_a_character_is_refused_and_changes_nothing(hx: Hexad, call: str) -> None:
    hx.remember("A page that is there already.", id="there")
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "Hello.", session_id="talk")
    hx.session.start("Work.")
    before, working_set = hx.changes(), hx.session.snapshot()

    with pytest.raises(hexad.InvalidInput, match=r"ud800") as raised:
        CALLS[call](hx)

    assert "codec" not in str(raised.value)
    assert "half a character" in str(raised.value) or "is not allowed" in str(raised.value)
    assert (before, working_set) == (hx.changes(), hx.session.snapshot())


PAIR = "Done \ud83d\ude00"
STORED: dict[str, Callable[[Hexad], object]] = {
    "remember": lambda hx: hx.remember(PAIR).raw,
    "metadata": lambda hx: hx.remember("A text.", metadata={"a": [PAIR]}).metadata["a"],
    "value": lambda hx: hx.remember("A text.", subject="a", attribute="b", value={PAIR: 1}).value,
    "decide": lambda hx: hx.governance.decide(PAIR).title,
    "decide rationale": lambda hx: hx.governance.decide("Keep.", rationale=PAIR).rationale,
    "decide alternatives": lambda hx: hx.governance.decide("Keep.", alternatives=[PAIR]).alternatives,
    "session start": lambda hx: hx.session.start(PAIR).task,
    "session note": lambda hx: hx.session.note(PAIR),
    "xdb comment": lambda hx: (
        hx.xdb.comment(PAIR, session_id="talk", tick_range=(1, 1))
        and hx.xdb.get_comments_for_range("talk", 1, 1)
    ),
    "document": lambda hx: hx.xdb.documents.add_document("a.md", PAIR, "reference", summary=PAIR).summary,
    "space metadata": lambda hx: hx.spaces.set_metadata("default", {"a": PAIR}).metadata,
    "project value": lambda hx: hx.project.remember(category="todo", key="k", value=PAIR).value,
    "honeycomb": lambda hx: hx.honeycomb.get(hx.honeycomb.add_node(PAIR, [1.0])).data,
}


@pytest.mark.parametrize("call", STORED)
def test_a_pair_of_halves_is_one_character(hx: Hexad, call: str) -> None:
    hx.remember("A page that is there already.", id="there")
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "Hello.", session_id="talk")
    hx.session.start("Work.")

    assert "Done 😀" in str(STORED[call](hx))


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (("decide", "\udcff"), "TITLE"),
        (("decide", "Keep.", "--because", "\udcff"), "--because"),
        (("session", "start", "\udcff"), "TASK"),
        (("session", "note", "\udcff"), "TEXT"),
        (("session", "step", "One.", "\udcff"), "TEXT"),
        (("xdb", "record", "\udcff", "--session", "talk"), "TEXT"),
        (("xdb", "record", "Hello.", "--session", "\udcff"), "--session"),
        (("remember", "A text.", "--tag", "fine", "--tag", "\udcff"), "--tag"),
        (("remember", "A text.", "--metadata", '{"a": "\udcff"}'), "--metadata"),
        (("prefs", "set", "tea", "\udcff"), "VALUE"),
        (("ingest", ".", "--tag", "\udcff"), "--tag"),
        (("why", "\udcff"), "TOPIC"),
    ],
)
def test_bytes_that_are_no_utf_8_are_refused_by_the_name_of_what_was_typed(
    run: Run, tmp_path: Path, typed: tuple[str, ...], named: str
) -> None:
    refused = run(*typed)

    assert 2 == refused.code
    assert f"The {named} is no UTF-8: byte 0xff after " in refused.err
    assert "iconv" in refused.err
    assert [] == [*tmp_path.iterdir()]
