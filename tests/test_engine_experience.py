"""The experience database through `hx.xdb`: recorded, sealed, found again."""

from __future__ import annotations

import errno
import struct
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hexad
from hexad import EventType, Fidelity, Hexad, InvalidInput, LimitExceeded, NotFound, StorageFailure
from hexad.database import files
from hexad.experience.query import reader as stream_tops
from hexad.experience.stream import log as stream_log
from hexad.experience.stream import sealing as segments
from hexad.experience.stream import segment_files
from hexad.testing import HashEmbedder

ANY_TEXT = st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs"]), max_size=30)


@pytest.fixture
def xdb(hx: Hexad):
    hx.xdb.start_session("monday")
    return hx.xdb


@pytest.fixture
def disk() -> Iterator[list[str]]:
    """Operations that fail as on a full disk, as long as they stand in the list."""
    refused: list[str] = []

    def hook(operation: str, path: object) -> None:
        if operation in refused:
            raise OSError(errno.ENOSPC, "No space left on device")

    previous = files.set_hook(hook)
    yield refused
    files.set_hook(previous)


def ids(found) -> list[str]:
    return [record.id for record in found]


def ticks(found) -> list[int]:
    return [record.tick for record in found]


def fill(hx: Hexad, clock, *, sealed: int = 6, unsealed: int = 6) -> None:
    """Twelve timesteps of two sessions, a second apart, the first of them sealed."""
    for at in range(sealed + unsealed):
        if at == sealed:
            hx.xdb.seal()
        session = "monday" if at % 3 else "sunday"
        hx.xdb.start_session(session)
        hx.xdb.record(
            tuple(EventType)[at % 6],
            f"Word {at}",
            {"pack::Odd": at / 20} if at % 2 else {"pack::Even": at / 20, "pack::All": 0.7},
            event_id=f"event {at // 4}",
        )
        clock.advance(seconds=1)
    hx.xdb.end_session()


# Records --------------------------------------------------------------------------------------------------------


@pytest.mark.row(
    "H009", "H011", "H012", "H013", "H014", "H015", "H016", "H017", "H018", "H019", "H020", "H021"
)
@pytest.mark.row("H022", "H099", "H136")
@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", ["input", "output", "tool_call", "tool_response", "system", "steering"])
def test_a_timestep_comes_back_with_all_that_was_said_of_it(hx, clock, kind, sealed):
    assert 6 == len(EventType)
    hx.xdb.start_session("agent-7/run-1")
    at = clock.now()
    first = hx.xdb.record(kind, "Hello ", {"pack::Greeting": 0.8, "pack::Word": 0.25}, event_id="reply-1",
                          event_start=True, token_id=15_339, role="assistant")  # fmt: skip
    clock.advance(seconds=1.5)
    second = hx.xdb.record(kind, "", {}, event_end=True, token_count=3)
    if sealed:
        assert 2 == hx.xdb.seal().rows

    item, two = hx.xdb.recall()

    assert ("ts-agent-7/run-1-1", "ts-agent-7/run-1-2") == (first, second)
    assert item == hexad.TimestepRecord(
        id=first, session_id="agent-7/run-1", tick=1, timestamp=at, event_type=kind, content="Hello ",
        concept_activations={"pack::Greeting": 0.8, "pack::Word": 0.25}, event_id="reply-1", event_start=True,
        token_id=15_339, token_count=1 if kind == "output" else 2, role="assistant", fidelity=Fidelity.HOT,
    )  # fmt: skip
    assert two == hexad.TimestepRecord(
        id=second, session_id="agent-7/run-1", tick=2, timestamp=at + timedelta(seconds=1.5), event_type=kind,
        content="", event_end=True, token_count=3,
    )  # fmt: skip
    assert item == hx.xdb.get_timestep(first)
    assert (kind, kind) == (item.event_type.value, item.to_dict()["event_type"])
    assert [first, second] == ids(hx.xdb.recall(event_types=[kind]))


@pytest.mark.row("H018", "H019", "H136")
@pytest.mark.parametrize("sealed", [False, True])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"content": ANY_TEXT, "event_type": st.just("output")},
            optional={
                "role": st.text(st.characters(codec="utf-8"), min_size=1, max_size=5),
                "token_id": st.integers(-(2**63), 2**63 - 1),
                "concept_activations": st.dictionaries(
                    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
                    st.floats(0, 1, width=32),
                    max_size=4,
                ),
            },
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_text_any_name_and_any_score_survive(hx, rows, sealed):
    session = hx.xdb.start_session(f"s{len(hx.xdb.sessions())}")
    session.record_many(rows)
    if sealed:
        hx.xdb.seal()

    found = session.recall()

    def storable(text: str) -> str:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert [storable(row["content"]) for row in rows] == [record.content for record in found]
    assert [row.get("role") for row in rows] == [record.role for record in found]
    assert [row.get("token_id") for row in rows] == [record.token_id for record in found]
    import numpy as np

    assert [row.get("concept_activations", {}) for row in rows] == [
        {name: float(np.float32(score)) for name, score in record.concept_activations.items()}
        for record in found
    ]


@pytest.mark.row("H019", "H136")
def test_of_many_activations_the_ten_strongest_are_kept(xdb):
    given = {f"c{at:02}": at / 20 for at in range(20)} | {"b": 0.5, "a": 0.5}
    xdb.record("output", "x", given)

    (first,) = xdb.recall()

    assert ["c19", "c18", "c17", "c16", "c15", "c14", "c13", "c12", "c11", "a"] == list(
        first.concept_activations
    )


@pytest.mark.row("H019")
@pytest.mark.parametrize("sealed", [False, True])
def test_a_score_has_single_precision_and_a_concept_any_name(xdb, sealed):
    name = 'pack::It\'s "a"\n\0 ü'
    xdb.record("output", "x", {name: 0.1234567890123, "b": 0.25})
    if sealed:
        xdb.seal()

    (record,) = xdb.recall()

    assert ["b", name] == list(record.concept_activations)
    (rounded,) = struct.unpack("<f", struct.pack("<f", record.concept_activations[name]))
    assert rounded == struct.unpack("<f", struct.pack("<f", 0.1234567890123))[0]
    assert 0.1234567890123 != record.concept_activations[name]


@pytest.mark.row("H018")
@pytest.mark.parametrize("sealed", [False, True])
def test_a_content_comes_back_as_it_was_but_for_half_a_character(xdb, sealed):
    xdb.start_session("monday", compaction=False)
    contents = ["", "long " * 60_000, " \n\t ", "a\0b", "one\r\ntwo\r", "u\u0308 \u202e 😀"]
    for content in [*contents, " half \ud83d of it\n"]:
        xdb.record("output", content)
    if sealed:
        xdb.seal()

    assert [*contents, " half \ufffd of it\n"] == [record.content for record in xdb.recall()]


@pytest.mark.row("H022")
@pytest.mark.parametrize("sealed", [False, True])
def test_a_timestep_says_who_spoke(xdb, sealed):
    roles = ["user", "assistant", "system", "tool", "critic", None]
    for role in roles:
        xdb.record("output", "x", role=role)
    if sealed:
        xdb.seal()

    assert roles == [record.role for record in xdb.recall()]


@pytest.mark.parametrize("bad", [
    {"event_type": "thought"}, {"content": 5}, {"concept_activations": {"a": float("nan")}},
    {"concept_activations": {"a": float("inf"), "b": -float("inf")}}, {"concept_activations": {"": 0.5}},
    {"concept_activations": {"a": "0.5"}}, {"concept_activations": {"a": 1e300}}, {"event_id": ""},
    {"role": "\ud800"}, {"token_id": 1.5}, {"token_id": 2**63}, {"token_count": -1}, {"role": 5},
])  # fmt: skip
def test_what_cannot_be_recorded_is_refused_and_uses_no_tick(xdb, bad):
    with pytest.raises(InvalidInput):
        xdb.record(**{"event_type": "output", "content": "x", "concept_activations": {}, **bad})

    assert "ts-monday-1" == xdb.record("output", "y")


def test_a_content_over_the_limit_is_refused(xdb):
    with pytest.raises(LimitExceeded, match="in parts"):
        xdb.record("input", "ü" * 600_000)


@pytest.mark.row("H012", "H014", "H015", "H016", "H017")
def test_a_secret_in_an_input_never_reaches_the_disk(hx, xdb):
    for kind in ("input", "tool_call", "tool_response", "system", "steering"):
        xdb.record(kind, "password: Tr0ub4dor&3x")
    xdb.flush()

    assert {"password: [REDACTED:password]"} == {record.content for record in xdb.recall()}
    assert all(b"Tr0ub4dor" not in path.read_bytes() for path in hx.path.rglob("*") if path.is_file())


def test_a_secret_that_is_spread_over_tokens_goes_when_they_are_sealed(hx, xdb):
    for token in ["The ", "password", ": Tr0", "ub4d", "or&3x", "\nis it."]:
        xdb.record("output", token, event_id="reply")
    xdb.seal()

    tokens = [record.content for record in xdb.recall()]

    assert ["The ", "password", ": [REDACTED:password]", "", "", "\nis it."] == tokens
    assert all(b"ub4d" not in path.read_bytes() for path in hx.path.rglob("*") if path.is_file())


# Sessions -------------------------------------------------------------------------------------------------------


@pytest.mark.row("H010", "H134", "H135")
def test_a_session_that_is_started_again_goes_on_after_its_highest_tick(opened, project, clock):
    hx = opened()
    hx.xdb.start_session("monday", max_context_tokens=4096)
    for _ in range(100):
        last = hx.xdb.record("output", "x")
    hx.xdb.end_session()
    with pytest.raises(InvalidInput, match="no current session"):
        hx.xdb.record("output", "x")
    hx.close()

    again = opened()
    again.xdb.start_session("monday")

    assert "ts-monday-100" == last
    assert "ts-monday-101" == again.xdb.record("output", "x")
    assert list(range(1, 102)) == ticks(again.xdb.recall(limit=1000))


def test_a_flush_waits_for_what_the_thread_is_writing(xdb):
    xdb.start_session("monday", compaction=False)  # else the first record counts what is in the window
    writing, go_on = threading.Event(), threading.Event()

    def hook(operation: str, path: object) -> None:
        if operation == "fdatasync" and str(path).endswith(".log"):
            writing.set()
            go_on.wait(60)

    previous = files.set_hook(hook)
    try:
        xdb.record("output", "a")
        assert writing.wait(60)
        flushing = threading.Thread(target=xdb.flush)
        flushing.start()
        flushing.join(0.1)
        assert flushing.is_alive()
        go_on.set()
        flushing.join(60)
        assert not flushing.is_alive()
    finally:
        go_on.set()
        files.set_hook(previous)
    assert ["a"] == [record.content for record in xdb.recall()]


@pytest.mark.row("H010", "H136")
def test_sessions_of_two_open_stores_share_no_tick(opened):
    first, two = opened().xdb.start_session("s"), opened().xdb.start_session("s")
    recorded = [handle.record("output", str(at)) for at in range(200) for handle in (first, two)]

    assert 400 == len(set(recorded))
    for own in (recorded[::2], recorded[1::2]):
        assert sorted(own, key=lambda name: int(name.rpartition("-")[2])) == own
    first._xdb.flush(), two._xdb.flush()
    assert 400 == len(first.recall(limit=1000)) == len(two.recall(limit=1000))


def test_threads_have_a_current_session_each(xdb):
    def work(name: str) -> None:
        xdb.start_session(name)
        for at in range(50):
            xdb.record("output", f"{name} {at}")

    threads = [threading.Thread(target=work, args=(f"thread {at}",)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    for at in range(4):
        found = xdb.recall(session_id=f"thread {at}")
        assert [f"thread {at} {n}" for n in range(50)] == [record.content for record in found]
        assert list(range(1, 51)) == ticks(found)


def test_a_handle_is_bound_to_its_session(xdb):
    handle = xdb.start_session("other")
    xdb.start_session("monday")
    handle.record("output", "there")
    xdb.record("output", "here", session_id="monday")

    assert ["there"] == [hit.content for hit in handle.recall()]
    assert ["here"] == [record.content for record in xdb.recall()]
    assert ["monday", "other"] == [session.id for session in xdb.sessions()]
    with pytest.raises(NotFound, match="no session 'never'"):
        xdb.session("never")
    handle.end()
    with pytest.raises(hexad.Conflict, match="has ended"):
        handle.record("output", "late")


# Questions ------------------------------------------------------------------------------------------------------


@pytest.mark.row("H100", "H101", "H102", "H103", "H105", "H106", "H107")
@pytest.mark.parametrize("sealed", [0, 6, 12])
def test_every_filter_holds_for_sealed_and_unsealed_alike(hx, clock, sealed):
    start = clock.now()
    fill(hx, clock, sealed=sealed, unsealed=12 - sealed)
    hx.xdb.seal() if sealed == 12 else None
    everything = hx.xdb.recall()

    def words(**filters) -> list[int]:
        found = [int(record.content.removeprefix("Word ")) for record in hx.xdb.recall(**filters)]
        return sorted(found)

    assert [("sunday", 1), ("sunday", 2), ("sunday", 3), ("sunday", 4), ("monday", 1)] == [
        (record.session_id, record.tick) for record in everything[:5]
    ]
    assert [0, 3, 6, 9] == words(session_id="sunday")
    assert list(range(12)) == words(session_id="*")
    assert [0, 1, 2, 3] == words(tick_range=(1, 2))[:4]
    assert [3, 4, 5] == words(time_range=(start + timedelta(seconds=3), start + timedelta(seconds=6)))
    assert [1, 4, 7, 10] == words(event_types=["output", EventType.STEERING])
    assert [4, 5, 6, 7] == words(event_id="event 1")
    assert [1, 10, 11] == words(text_search="wORD 1")
    assert [0, 2, 4, 6, 8, 10] == words(concepts={"pack::Even": (0, 1)})
    assert [0, 2, 4, 6, 8, 10] == words(concepts={"pack::Even": (0, 1), "pack::All": (0.5, 1)})
    assert [10] == words(concepts=["pack::Even"]) == words(concepts=["pack::Even", "pack::All"])
    assert [0, 2, 4, 6, 8, 10] == words(concepts=["pack::All"])
    assert [] == words(concepts=["pack::Even", "pack::Odd"])
    assert [4, 6] == words(concepts={"pack::Even": (0.2, 0.3), "pack::All": (0.7, 0.7)})
    assert [] == words(concepts=["pack::Never"])
    assert [10] == words(
        session_id="monday", event_types=["steering"], text_search="1", concepts=["pack::All"]
    )
    assert ids(everything)[3:7] == ids(hx.xdb.recall(limit=4, offset=3))
    assert [] == words(offset=12)


@pytest.mark.row("H142")
def test_recall_by_concept_covers_all_sessions_unless_one_is_named(hx, clock):
    fill(hx, clock)
    hx.xdb.start_session("now")
    hx.xdb.record("output", "Later.", {"pack::All": 0.4, "pack::Odd": 0.9})

    found = hx.xdb.recall_by_concept("pack::Odd")

    assert {"now": ["Later."], "monday": ["Word 11"]} == {
        session: [record.content for record in found if record.session_id == session]
        for session in ("now", "monday")
    }
    assert found == hx.xdb.recall_by_concept("pack::Odd", session_id="*")
    assert ["Later."] == [
        record.content for record in hx.xdb.recall_by_concept("pack::Odd", session_id="now")
    ]
    assert ["Later."] == [record.content for record in hx.xdb.session("now").recall_by_concept("pack::Odd")]
    assert [] == hx.xdb.recall(concepts=["pack::All"])  # in the current session, and weakly
    assert ["Later."] == [record.content for record in hx.xdb.recall(concepts={"pack::All": (0, 1)})]


@pytest.mark.row("H142")
def test_recall_by_concept_gives_the_strongest_first(hx, clock):
    fill(hx, clock)

    found = hx.xdb.recall_by_concept("pack::Odd", min_activation=0.25)

    assert ["Word 11", "Word 9", "Word 7", "Word 5"] == [record.content for record in found]
    assert ["Word 11"] == [record.content for record in hx.xdb.recall_by_concept("pack::Odd", limit=1)]
    assert ["Word 9"] == [record.content for record in hx.xdb.recall_by_concept("pack::Odd", session_id="sunday", limit=1,
                                                                           min_activation=0.0)]  # fmt: skip


@pytest.mark.parametrize("bad", [
    {"limit": 0}, {"limit": True}, {"offset": -1}, {"tick_range": (2, 1)}, {"tick_range": (1,)},
    {"time_range": ("2026-02-01", "2026-01-01")}, {"time_range": "2026-01-01"}, {"event_types": "output"},
    {"event_types": ["thought"]}, {"concepts": "a"}, {"concepts": {"a": 0.5}}, {"limit": 10**6},
])  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(xdb, bad):
    with pytest.raises((InvalidInput, LimitExceeded)):
        xdb.recall(**bad)


def test_a_session_that_never_was_is_not_an_empty_one(xdb):
    with pytest.raises(NotFound, match="no session 'tuesday'"):
        xdb.recall(session_id="tuesday")
    assert xdb.get_timestep("ts-tuesday-1") is None
    assert xdb.get_timestep("ts-monday-1") is None
    with pytest.raises(InvalidInput, match="no timestep"):
        xdb.get_timestep("monday-1")


def test_another_open_store_sees_what_was_flushed(opened):
    first, two = opened(), opened()
    first.xdb.start_session("s")
    first.xdb.record("output", "first")
    first.xdb.flush()
    assert ["first"] == [found.content for found in two.xdb.recall(session_id="s")]

    first.xdb.record("output", "second")
    first.xdb.flush()

    assert ["first", "second"] == [found.content for found in two.xdb.recall(session_id="s")]
    two.xdb.seal()  # leaves the log that another store writes to
    assert 2 == two.xdb.get_state()["unsealed_count"]
    first.xdb.seal()
    assert ["first", "second"] == [found.content for found in two.xdb.recall(session_id="s")]
    assert 0 == two.xdb.get_state()["unsealed_count"]


def test_a_store_that_is_only_read_answers_and_records_nothing(opened, project):
    hx = opened()
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x")
    hx.close()

    reader = opened(readonly=True)

    assert ["x"] == [record.content for record in reader.xdb.recall(session_id="s")]
    with pytest.raises(StorageFailure, match="read-only"):
        reader.xdb.start_session("s")


# Durability and upkeep ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["always", "group", "os"])
def test_every_policy_keeps_what_was_flushed(project, policy, monkeypatch):
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", policy)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("s")
        for at in range(10):
            hx.xdb.record("output", str(at))
        if policy != "always":
            hx.xdb.flush()
        with hexad.open(project, embedder=None, background=False) as other:
            assert [str(at) for at in range(10)] == [record.content for record in other.xdb.recall()]


def test_an_unknown_policy_is_refused_before_anything_is_made(project, monkeypatch):
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", "never")

    with pytest.raises(InvalidInput, match="always, group, os"):
        hexad.open(project, embedder=None)
    assert [] == list(project.iterdir())


def test_what_waits_is_written_without_being_asked(opened):
    hx = opened()
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x")

    with hexad.open(hx.path.parent, embedder=None, background=False) as other:
        for _ in range(500):
            if other.xdb.recall():
                return
            threading.Event().wait(0.01)
    pytest.fail("the record was never written")


@pytest.mark.parametrize("operation", ["open", "write", "fdatasync", "rename", "fsync_dir"])
def test_on_a_full_disk_always_refuses_and_later_goes_on(project, monkeypatch, disk, operation):
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", "always")
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("s")
        if operation in {"write", "fdatasync"}:
            hx.xdb.record("output", "before")
        disk.append(operation)
        for _ in range(3):
            with pytest.raises(StorageFailure, match="disk is full"):
                hx.xdb.record("output", "lost")
        disk.clear()
        hx.xdb.record("output", "after")

        assert {"after"} == {record.content for record in hx.xdb.recall() if record.content != "before"} - (
            {"lost"}
            if operation == "write"
            else set()  # neither written nor cut: the error says that it is in doubt
        )
        assert [] == hx.check()


def test_what_failed_to_be_synced_is_gone_from_the_disk_before_it_is_written_again(hx, xdb):
    xdb.record("output", "before")
    xdb.flush()
    calls = []

    def fail_twice(operation, path):
        if path.suffix == ".log":
            calls.append((operation, path.name))
            if calls[-1] == ("fdatasync", calls[0][1]) and calls.count(calls[-1]) <= 2:
                raise OSError(errno.EIO, "Input/output error")

    previous = files.set_hook(fail_twice)
    try:
        xdb.record("output", "again")  # written here, or by the thread that writes what waits
        with pytest.raises(StorageFailure):
            xdb.flush()
        xdb.flush()
    finally:
        files.set_hook(previous)

    # The cut is on the disk before the records are in another log: lost power cannot bring them twice.
    assert ["write", "fdatasync", "write", "fdatasync"] == [operation for operation, _ in calls[:4]]
    assert ("fdatasync", calls[0][1]) == calls[4]
    assert calls[0][1] != calls[-1][1]
    assert ["before", "again"] == [record.content for record in xdb.recall()]


def test_on_a_full_disk_a_group_waits_until_there_is_room(hx, xdb, disk):
    xdb.record("output", "before")
    xdb.flush()
    disk.append("fdatasync")
    xdb.record("output", "waits")
    for _ in range(3):
        with pytest.raises(StorageFailure, match="disk is full"):
            xdb.flush()
    with pytest.raises(StorageFailure):
        xdb.record("output", "refused")
    disk.clear()
    xdb.record("output", "after")

    assert ["before", "waits", "after"] == [record.content for record in xdb.recall()]


def test_maintain_seals_what_is_old(hx, xdb, clock):
    xdb.record("output", "x")
    xdb.flush()  # a log is as old as its first write
    assert 0 == hx.maintain().sealed
    clock.advance(hours=1)

    assert 1 == hx.maintain().sealed
    assert 0 == hx.maintain().sealed
    assert ["x"] == [record.content for record in xdb.recall()]
    assert [] == list((hx.path / "stream" / "log").iterdir())


def test_maintain_seals_what_an_ended_program_left(opened, clock):
    first = opened()
    first.xdb.start_session("s")
    first.xdb.record("output", "x")
    first.close()
    clock.advance(hours=1)

    assert 1 == opened().maintain().sealed


@pytest.mark.parametrize("operation", ["write", "fdatasync", "rename", "fsync_dir", "unlink"])
def test_a_sealing_that_fails_changes_nothing_and_the_next_one_does_it(hx, xdb, disk, operation):
    for at in range(10):
        xdb.record("output", str(at))
    xdb.flush()
    before = xdb.recall()
    disk.append(operation)
    with pytest.raises(StorageFailure):
        hx.xdb.seal()
    disk.clear()

    assert before == xdb.recall()
    assert [] == hx.check()
    xdb.seal()
    assert before == xdb.recall()
    assert 0 == xdb.get_state()["unsealed_count"]
    assert [".events", ".parquet"] == sorted(
        path.suffix for path in (hx.path / "stream" / "segments").iterdir()
    )


@pytest.mark.row("H142", "H171")
def test_what_lies_beside_a_segment_is_made_again_and_its_damage_found(hx, xdb, monkeypatch):
    monkeypatch.setattr(segment_files, "SIDE_ROWS", 1)
    monkeypatch.setattr(stream_tops, "LISTS_FROM_ROWS", 0)
    for at in range(30):
        xdb.record("output", f"word{at} ", {"pack::C": at / 100, "pack::D": 0.5})
    xdb.seal()
    segments = hx.path / "stream" / "segments"

    def answers() -> tuple[list[str], list[str]]:
        strongest = xdb.recall_by_concept("pack::C", min_activation=0.0, limit=3)
        return [record.content for record in strongest], [
            recall_event.content for recall_event in xdb.recall_events("word29 word0")
        ]

    before = answers()
    assert ["word29 ", "word28 ", "word27 "] == before[0]
    assert [".events", ".parquet", ".tops"] == sorted(path.suffix for path in segments.iterdir())

    for path in [*segments.glob("*.events"), *segments.glob("*.tops")]:
        path.unlink()
    assert before == answers()
    assert [] == hx.check()

    hx.maintain()
    assert [".events", ".parquet", ".tops"] == sorted(path.suffix for path in segments.iterdir())
    assert before == answers()

    (tops,) = segments.glob("*.tops")
    data = bytearray(tops.read_bytes())
    data[len(data) // 2] ^= 1
    tops.write_bytes(data)
    assert ["does not match its hash. Remove it" in problem for problem in hx.check()] == [True]
    tops.unlink()
    hx.maintain()


def test_recall_by_concept_reads_no_more_of_a_segment_than_its_list(hx, xdb, monkeypatch):
    monkeypatch.setattr(segment_files, "SIDE_ROWS", 1)
    monkeypatch.setattr(stream_tops, "LISTS_FROM_ROWS", 0)
    for at in range(30):
        xdb.record("output", f"word{at} ", {"pack::C": at / 100, "pack::D": 0.5})
    xdb.seal()
    (segment,) = (hx.path / "stream" / "segments").glob("*.parquet")
    data = segment.read_bytes()
    segment.write_bytes(b"nothing that can be read")

    assert ["word29 ", "word28 "] == [record.content for record in xdb.recall_by_concept("pack::C", min_activation=0.0, limit=2)]  # fmt: skip
    whole = xdb.recall_by_concept("pack::C", min_activation=0.0, limit=20)
    assert ([], True) == (list(whole), segment.name in whole.notes[0])
    segment.write_bytes(data)


def test_damage_in_the_stream_is_found_and_never_read_over(hx, xdb):
    xdb.record("output", "sealed")
    xdb.seal()
    (segment,) = (hx.path / "stream" / "segments").glob("*.parquet")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-1] + b"x")
    assert "does not match its hash" in hx.check()[0]
    segment.unlink()
    assert "is not there" in hx.check()[0]
    found = xdb.recall()
    assert ([], True) == (list(found), segment.name in found.notes[0])
    segment.write_bytes(whole)

    xdb.record("output", "first")
    xdb.flush()
    xdb.record("output", "second")
    xdb.flush()
    (log,) = (hx.path / "stream" / "log").iterdir()
    data = log.read_bytes()
    log.write_bytes(data[:60] + b"?" + data[61:])
    with pytest.raises(hexad.IntegrityError, match="damaged at offset"):
        with hexad.open(hx.path.parent, embedder=None, background=False) as other:
            other.xdb.recall()
    assert "damaged at offset" in hx.check()[0]
    assert "damaged at offset" in hx.xdb.seal().problems[0]
    log.write_bytes(data)
    (hx.path / "stream" / "notes.txt").write_text("mine")
    assert "is not part of a store" in hx.check()[0]
    (hx.path / "stream" / "notes.txt").unlink()


def test_get_state_says_where_the_thread_is(hx, xdb):
    xdb.record("output", "x")
    state = xdb.get_state()

    assert (None, "monday", 1) == (state["be_id"], state["session_id"], state["current_tick"])
    assert (1, 1, 1) == (state["session_count"], state["timestep_count"], state["unsealed_count"])


def test_a_log_that_is_full_is_left_for_sealing_and_another_one_begun(hx, xdb, monkeypatch):
    monkeypatch.setattr(stream_log, "LOG_ROWS", 10)
    for at in range(4):
        xdb.record_many({"event_type": "output", "content": f"{at} {n}"} for n in range(6))
    assert 2 == len(list((hx.path / "stream" / "log").iterdir()))

    monkeypatch.setattr(segments, "LOG_BYTES", 1)
    assert 24 == hx.maintain().sealed
    assert [f"{at} {n}" for at in range(4) for n in range(6)] == [record.content for record in xdb.recall()]
    assert 2 == len(list((hx.path / "stream" / "segments").glob("*.parquet")))


def test_large_texts_fill_a_log_too(hx, xdb):
    xdb.start_session("monday", compaction=False)  # their tokens count, too
    xdb.record_many({"event_type": "tool_response", "content": "word " * 200_000} for _ in range(3))

    assert [1_000_000] * 3 == [len(record.content) for record in xdb.recall()]
    assert 3 == xdb.seal().rows
    assert [1_000_000] * 3 == [len(record.content) for record in xdb.recall()]


def test_a_new_embedder_leaves_sessions_as_they_are(opened):
    hx = opened(embedder=None)
    handle = hx.xdb.start_session("s")
    handle.record("output", "before")
    hx.reindex(embedder=HashEmbedder())
    handle.record("output", "after")

    assert ["before", "after"] == [record.content for record in hx.xdb.recall()]
    assert "ts-s-3" == hx.xdb.record("output", "still the current session")


@pytest.mark.parametrize(
    "row", [{"content": "x"}, {"event_type": "output"}, {"event_type": "output", "content": "x", "tick": 5}]
)
def test_a_row_of_a_batch_with_too_little_or_too_much_is_refused(xdb, row):
    with pytest.raises(InvalidInput, match="needs event_type and content"):
        xdb.record_many([row])


def test_a_row_of_a_batch_may_have_happened_at_another_time(xdb, clock):
    xdb.record_many([{"event_type": "output", "content": "x", "timestamp": "2020-05-01T12:00:00Z"}])

    assert ["x"] == [record.content for record in xdb.recall(time_range=("2020-05-01", "2020-05-02"))]
    assert [] == xdb.recall(time_range=(clock.now() - timedelta(days=1), clock.now()))
