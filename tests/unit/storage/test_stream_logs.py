from __future__ import annotations

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hexad.errors import IntegrityError, StorageFailure
from hexad.storage import files
from hexad.storage.stream_frames import HEADER_BYTES, KINDS, End, Frames, Step
from hexad.storage.stream_log import LogWriter, RowsInDoubt, list_logs, lock_if_left, read_log
from hexad.storage.stream_rows import flat

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
scores = st.floats(width=32, allow_nan=False, allow_infinity=False)
steps = st.builds(
    Step,
    session=st.integers(1, 2**31),
    tick=st.integers(1, 2**53),
    at=st.integers(-(2**53), 2**53),
    kind=st.integers(0, len(KINDS) - 1),
    flags=st.integers(0, 31),
    token=st.integers(-(2**63), 2**63 - 1),
    tokens=st.integers(0, 2**32 - 1),
    role=st.none() | names,
    event=st.none() | names,
    activations=st.dictionaries(names, scores, max_size=10),
    content=texts,
)


def step(tick: int, content: str = "token", **fields: object) -> Step:
    defaults = {
        "session": 1, "at": 0, "kind": 1, "flags": 0, "token": 0, "tokens": 1, "role": None, "event": None,
        "activations": {"a::B": 0.5},
    }  # fmt: skip
    return Step(**{**defaults, **fields}, tick=tick, content=content)


def rows(found: Frames) -> list[Step]:
    """What a log says, as it was handed in."""
    ids: list[str] = []

    def number(concepts):
        ids.extend(concepts)
        return [len(ids) - len(concepts) + at for at in range(len(concepts))]

    table = flat([found], concept_numbers=number)
    if table is None:
        return []
    result = []
    for at in range(len(table["tick"])):
        count = int(table["activations"][at])
        result.append(
            Step(
                *(
                    int(table[name][at])
                    for name in ("session", "tick", "ts", "kind", "flags", "token", "tokens")
                ),
                role=table["role"][at] or None,
                event=table["event"][at] or None,
                activations={
                    ids[int(table[f"c{one}"][at])]: float(table[f"s{one}"][at]) for one in range(count)
                },
                content=table["content"][at],
            )
        )
    return result


@pytest.fixture
def log(tmp_path):
    writer = LogWriter(tmp_path, begun_at=7, sync=True)
    yield writer
    writer.close(clean=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(steps, min_size=1, max_size=6), max_size=5))
def test_what_is_appended_is_read_as_it_was(tmp_path, batches):
    writer = LogWriter(tmp_path, begun_at=0, sync=False)
    for batch in batches:
        writer.append(batch)
    writer.close()

    found = read_log(writer.path)

    assert found is not None
    assert End.CLOSED is found.end
    assert [one for batch in batches for one in batch] == rows(found)


def test_a_reader_goes_on_where_it_stopped(log):
    log.append([step(1)])
    found = read_log(log.path)
    log.append([step(2, event="new"), step(3)])

    assert [1, 2, 3] == [one.tick for one in rows(read_log(log.path, found))]


def test_a_log_that_was_cut_anywhere_holds_every_whole_group_before_the_cut(log):
    ends = [HEADER_BYTES]
    for tick in range(1, 5):
        log.append([step(tick, event=f"event {tick}")])
        ends.append(log.path.stat().st_size)
    data = log.path.read_bytes()

    for size in range(len(data)):
        cut = log.path.with_name("cut.log")
        cut.write_bytes(data[:size])
        found = read_log(cut)

        assert sum(end <= size for end in ends[1:]) == len(rows(found)), size


def test_a_log_that_is_damaged_anywhere_before_its_end_says_where(log):
    for tick in range(1, 4):
        log.append([step(tick)])
    last = log.path.stat().st_size
    log.append([step(4)])
    data = bytearray(log.path.read_bytes())

    for at in range(last):
        data[at] ^= 0x40
        damaged = log.path.with_name("damaged.log")
        damaged.write_bytes(data)
        with pytest.raises(IntegrityError, match=r"damaged\.log (is damaged at offset|has version)"):
            read_log(damaged)
        data[at] ^= 0x40


def test_damage_in_the_last_group_of_a_log_that_was_closed_is_damage(log):
    log.append([step(1)])
    size = log.path.stat().st_size
    log.close()
    data = bytearray(log.path.read_bytes())
    data[size - 1] ^= 1
    log.path.write_bytes(data)

    with pytest.raises(IntegrityError, match=f"damaged at offset {HEADER_BYTES}"):
        read_log(log.path)


def test_a_log_is_its_writers_until_it_is_closed(log):
    assert lock_if_left(log.path) is None
    log.close()

    fd = lock_if_left(log.path)

    assert fd is not None
    assert lock_if_left(log.path) is None
    os.close(fd)


def test_a_log_has_its_name_only_when_it_is_locked_and_durable(tmp_path):
    seen = []
    files.set_hook(lambda operation, path: seen.append((operation, list_logs(tmp_path))))
    try:
        writer = LogWriter(tmp_path, begun_at=0, sync=True)
    finally:
        files.set_hook(None)

    operations = [operation for operation, _ in seen]
    assert operations.index("lock") < operations.index("fdatasync") < operations.index("rename")
    assert all(not found for _, found in seen[: operations.index("rename") + 1])
    assert operations[-1] == "fsync_dir"
    writer.close()


@pytest.mark.parametrize("failing", ["write", "fdatasync"])
def test_an_append_that_fails_leaves_what_was_there(log, failing):
    log.append([step(1)])
    failed = []

    def fail(operation, path):
        if operation == failing and not failed:
            failed.append(operation)
            raise OSError(errno.ENOSPC, "No space left on device")

    files.set_hook(fail)
    try:
        with pytest.raises(StorageFailure, match="disk is full"):
            log.append([step(2)])
    finally:
        files.set_hook(None)

    assert [1] == [one.tick for one in rows(read_log(log.path))]


def test_an_append_that_cannot_be_taken_back_is_in_doubt(log):
    def fail(operation, path):
        if operation in {"fdatasync", "write"} and log.path.stat().st_size > HEADER_BYTES:
            raise OSError(errno.EIO, "Input/output error")

    files.set_hook(fail)
    try:
        with pytest.raises(RowsInDoubt, match="could not be taken back"):
            log.append([step(1)])
    finally:
        files.set_hook(None)
