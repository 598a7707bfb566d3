from __future__ import annotations

import errno
import os
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import SHARED_FIXTURES, examples
from hexad.database import files
from hexad.database.encryption.cipher import CACHE, STREAM, StoreKeys
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.stream import log as stream_log
from hexad.experience.stream.frames import HEADER_BYTES, SEALED_HEADER_BYTES, End, Frames, Step
from hexad.experience.stream.log import LogWriter, RowsInDoubt, begun_at, list_logs, lock_if_left
from hexad.experience.stream.rows import flat
from hexad.experience.values.records import KINDS

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
                    ids[int(table[f"c{index}"][at])]: float(table[f"s{index}"][at]) for index in range(count)
                },
                content=table["content"][at],
            )
        )
    return result


KEYS = StoreKeys(bytes(range(32)))


@pytest.fixture(params=["plain", "sealed"])
def cipher(request):
    return KEYS.cipher(STREAM) if request.param == "sealed" else None


@pytest.fixture
def header_bytes(cipher):
    return HEADER_BYTES if cipher is None else SEALED_HEADER_BYTES


@pytest.fixture
def read_log(cipher):
    return lambda path, found=None: stream_log.read_log(path, found, cipher=cipher)


@pytest.fixture
def log(tmp_path, cipher):
    writer = LogWriter(tmp_path, begun_at=7, sync=True, cipher=cipher)
    yield writer
    writer.close(clean=False)


@settings(max_examples=examples(40), suppress_health_check=SHARED_FIXTURES)
@given(batches=st.lists(st.lists(steps, min_size=1, max_size=6), max_size=5))
def test_what_is_appended_is_read_as_it_was(tmp_path, cipher, read_log, batches):
    writer = LogWriter(tmp_path, begun_at=0, sync=False, cipher=cipher)
    for batch in batches:
        writer.append(batch)
    writer.close()

    found = read_log(writer.path)

    assert found is not None
    assert End.CLOSED is found.end
    assert [item for batch in batches for item in batch] == rows(found)


def test_a_reader_goes_on_where_it_stopped(log, read_log):
    log.append([step(1)])
    found = read_log(log.path)
    log.append([step(2, event="new"), step(3)])

    assert [1, 2, 3] == [row.tick for row in rows(read_log(log.path, found))]


def test_a_log_that_was_cut_anywhere_holds_every_whole_group_before_the_cut(log, read_log, header_bytes):
    ends = [header_bytes]
    for tick in range(1, 5):
        log.append([step(tick, event=f"event {tick}")])
        ends.append(log.path.stat().st_size)
    data = log.path.read_bytes()

    for size in range(len(data)):
        cut = log.path.with_name("cut.log")
        cut.write_bytes(data[:size])
        found = read_log(cut)

        assert sum(end <= size for end in ends[1:]) == len(rows(found)), size


def test_a_log_that_is_damaged_anywhere_before_its_end_says_where(log, read_log):
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


def test_damage_in_the_last_group_of_a_log_that_was_closed_is_damage(log, read_log, header_bytes):
    log.append([step(1)])
    size = log.path.stat().st_size
    log.close()
    data = bytearray(log.path.read_bytes())
    data[size - 1] ^= 1
    log.path.write_bytes(data)

    with pytest.raises(IntegrityError, match=f"damaged at offset {header_bytes}"):
        read_log(log.path)


def test_a_log_is_its_writers_until_it_is_closed(log):
    assert lock_if_left(log.path) is None
    log.close()

    fd = lock_if_left(log.path)

    assert fd is not None
    assert lock_if_left(log.path) is None
    os.close(fd)


def test_a_log_has_its_name_only_when_it_is_locked_and_durable(tmp_path, cipher):
    seen = []
    files.set_hook(lambda operation, path: seen.append((operation, list_logs(tmp_path))))
    try:
        writer = LogWriter(tmp_path, begun_at=0, sync=True, cipher=cipher)
    finally:
        files.set_hook(None)

    operations = [operation for operation, _ in seen]
    assert operations.index("lock") < operations.index("fdatasync") < operations.index("rename")
    assert all(not found for _, found in seen[: operations.index("rename") + 1])
    assert operations[-1] == "fsync_dir"
    writer.close()


@pytest.mark.parametrize("failing", ["write", "fdatasync"])
def test_an_append_that_fails_leaves_what_was_there(log, read_log, failing):
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

    assert [1] == [row.tick for row in rows(read_log(log.path))]


def test_an_append_that_cannot_be_taken_back_is_in_doubt(log, header_bytes):
    def fail(operation, path):
        if operation in {"fdatasync", "write"} and log.path.stat().st_size > header_bytes:
            raise OSError(errno.EIO, "Input/output error")

    files.set_hook(fail)
    try:
        with pytest.raises(RowsInDoubt, match="could not be taken back"):
            log.append([step(1)])
    finally:
        files.set_hook(None)


# Encrypted stores ---------------------------------------------------------------------------------------------------


@pytest.fixture
def sealed(tmp_path):
    writer = LogWriter(tmp_path, begun_at=7, sync=False, cipher=KEYS.cipher(STREAM))
    yield writer
    writer.close(clean=False)


def frames_of(data: bytes) -> list[tuple[int, int]]:
    """Where the frames of a sealed log begin, and where they end."""
    found, at = [], SEALED_HEADER_BYTES
    while at < len(data):
        end = at + 24 + int.from_bytes(data[at + 4 : at + 8], "little")
        found.append((at, end))
        at = end
    return found


def with_checksums(data: bytes) -> bytes:
    """What somebody would write who changes a log: each frame with the checksums of what is in it now."""
    made = bytearray(data)
    for at, end in frames_of(data):
        made[at + 16 : at + 20] = zlib.crc32(made[at + 24 : end]).to_bytes(4, "little")
        made[at + 20 : at + 24] = zlib.crc32(made[at : at + 20]).to_bytes(4, "little")
    return bytes(made)


def test_a_sealed_log_shows_nothing_but_when_it_was_begun_and_how_long_its_groups_are(sealed):
    for tick in range(3):
        sealed.append([step(tick, "canary", role="canary", event="canary", activations={"canary": 0.5})])
    sealed.close()

    data = sealed.path.read_bytes()

    assert b"canary" not in data
    assert 7 == begun_at(sealed.path)
    assert len(data) == frames_of(data)[-1][1]


def test_groups_that_are_equal_are_sealed_differently(sealed):
    for _ in range(2):
        sealed.append([step(1, activations={})])
    data = sealed.path.read_bytes()
    (first, end), (other, _) = frames_of(data)

    shared = sum(a == b for a, b in zip(data[first + 24 : end], data[other + 24 :], strict=True))

    assert shared < 10


@pytest.mark.parametrize(
    "what", ["contents", "rows", "strings", "begun", "moved", "left out", "of another log"]
)
def test_what_somebody_changes_in_a_sealed_log_is_noticed_although_the_checksums_are_right(
    sealed, tmp_path, what
):
    for tick in range(4):
        sealed.append([step(tick, f"text {tick}", activations={})])
    sealed.close()
    data = bytearray(sealed.path.read_bytes())
    frames = [bytes(data[at:end]) for at, end in frames_of(data)]
    if what == "contents":
        data[frames_of(data)[1][0] + 30] ^= 1
    elif what == "rows":
        data[frames_of(data)[1][0] + 8] ^= 1
    elif what == "strings":
        data[frames_of(data)[1][0] + 12] ^= 1
    elif what == "begun":
        data[12] ^= 1
        data[20:24] = zlib.crc32(data[:20]).to_bytes(4, "little")
        data[40:44] = zlib.crc32(data[:40]).to_bytes(4, "little")
    elif what == "of another log":
        other = LogWriter(tmp_path, begun_at=7, sync=False, cipher=KEYS.cipher(STREAM))
        other.append([step(0, "text 0", activations={})])
        other.close()
        at, end = frames_of(other.path.read_bytes())[0]
        data[at:end] = other.path.read_bytes()[at:end]
    else:
        order = [0, 2, 1, 3, 4] if what == "moved" else [0, 2, 3, 4]
        data[SEALED_HEADER_BYTES:] = b"".join(frames[at] for at in order)
    changed = tmp_path / "changed.log"
    changed.write_bytes(with_checksums(bytes(data)))

    with pytest.raises(IntegrityError, match=r"changed\.log is damaged at offset .* they were changed"):
        stream_log.read_log(changed, cipher=KEYS.cipher(STREAM))


def test_the_log_of_another_kind_of_store_is_refused(tmp_path, log, cipher):
    log.append([step(1)])

    for wrong in (
        KEYS.cipher(CACHE),
        StoreKeys(bytes(32)).cipher(STREAM),
        None if cipher else KEYS.cipher(STREAM),
    ):
        with pytest.raises(IntegrityError, match=r"is encrypted, though|is plain, though|were changed"):
            stream_log.read_log(log.path, cipher=wrong)
