"""What a log of the stream is made of: a header, then frames, each the records of one group commit as columns.

A frame is what is acknowledged, so it carries the checksum: one record under `always`, up to 4,096 otherwise, of a
batch up to 65,536 or 16 MiB.
Columns are what sealing and queries read, without a loop over records: a million of them are read in a moment.

A log needs nothing else to be read: strings that repeat (concepts, events, roles) are numbered in the order in
which they first stand in it, and every frame lists the ones that are new. Number 0 is no string.

In an encrypted store a log is of version 2: its header has 16 random bytes, from which its key is derived, and each
frame's payload is sealed with its place in the file as nonce. What says how long a frame is stays readable, so a torn
end is told from damage as in a plain log.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.database.encryption.cipher import TAG_BYTES
from hexad.errors import IntegrityError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hexad.database.encryption.cipher import FileCipher

VERSION: Final = 1
SEALED_VERSION: Final = 2
_MAGIC: Final = b"HXSTREAM"
_HEADER: Final = struct.Struct("<8sHHqI")  # magic, version, 0, when it was begun, CRC of what stands before
HEADER_BYTES: Final = _HEADER.size
_SEALED_REST: Final = struct.Struct("<16sI")  # random bytes, CRC of all that stands before
SEALED_HEADER_BYTES: Final = HEADER_BYTES + _SEALED_REST.size
_BOUND: Final = 16  # so much of a frame's head is sealed with its payload; CRCs come after it
_NONCE: Final = struct.Struct(">QI")
_FRAME_MAGIC: Final = b"\xf5HXF"
_FRAME: Final = struct.Struct("<4sIIIII")  # magic, bytes, rows, new strings, CRC of the payload, CRC of this
_FRAME_HEAD: Final = struct.Struct("<4sIIIII")

STARTS, ENDS, HAS_TOKEN, HAS_ROLE, HAS_EVENT = 1, 2, 4, 8, 16
NO_TIME: Final = -(1 << 63)

# The columns of a frame in their order, one item a row each; activations, contents and new strings follow them.
_COLUMNS: Final = (
    ("session", "<u4"), ("tick", "<i8"), ("ts", "<i8"), ("kind", "u1"), ("flags", "u1"), ("token", "<i8"),
    ("tokens", "<u4"), ("role", "<u4"), ("event", "<u4"), ("activations", "u1"), ("bytes", "<u4"),
)  # fmt: skip


StepFields = tuple[
    int, int, int, int, int, int, int, str | None, str | None, Mapping[str, float], str
]  # of a `Step`; where every microsecond counts it stays the plain tuple


class Step(NamedTuple):
    """One record on its way into the log. A tuple: making a frozen dataclass costs three times as much."""

    session: int
    tick: int
    at: int
    kind: int
    flags: int
    token: int
    tokens: int
    role: str | None
    event: str | None
    activations: Mapping[str, float]
    content: str


class _Numbers(dict[str | None, int]):
    """Numbers strings as they come."""

    def __missing__(self, text: str | None) -> int:
        number = self[text] = len(self)
        return number


@dataclass(slots=True, kw_only=True)
class Batch:
    """Records of one session as columns, before they have ticks; texts and activations one after the other.

    `roles`, `events` and `concepts` are places in `strings`, whose first is None: no string. `at` holds `NO_TIME`
    where a record happens as it is recorded.
    """

    kind: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    token: NDArray[np.int64]
    tokens: NDArray[np.uint32]
    roles: NDArray[np.intp]
    events: NDArray[np.intp]
    activations: NDArray[np.uint8]
    concepts: NDArray[np.intp]
    scores: NDArray[np.float32]
    lengths: NDArray[np.uint32]
    contents: bytes
    at: NDArray[np.int64]
    strings: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def size(self) -> int:
        """How many bytes it takes in a log, about."""
        return 64 * len(self) + 8 * len(self.concepts) + len(self.contents)


class FrameCipher:
    """Seals and opens the frames of one log, each bound to its place and to the log's header."""

    def __init__(self, cipher: FileCipher, header: bytes) -> None:
        file_id, _ = _SEALED_REST.unpack_from(header, HEADER_BYTES)
        self._cipher, self._header = cipher.of_file(file_id), header

    def seal(self, payload: bytes, head: bytes, *, at: int) -> bytes:
        """Return the payload of the frame that begins `at` this place sealed; each place is sealed once."""
        return self._cipher.encrypt(_NONCE.pack(at, 0), payload, self._header + head[:_BOUND])

    def open(self, sealed: bytes | memoryview, head: bytes, *, at: int) -> bytes | None:
        """Return the plain payload; None when it was changed, or stood in another place."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(_NONCE.pack(at, 0), bytes(sealed), self._header + head[:_BOUND])
        except InvalidTag:
            return None


class FrameWriter:
    """Encodes the log that is begun with `header`; with a `cipher` it is sealed."""

    def __init__(self, begun_at: int, cipher: FileCipher | None = None) -> None:
        self._numbers = _Numbers({None: 0})
        head = _HEADER.pack(_MAGIC, VERSION if cipher is None else SEALED_VERSION, 0, begun_at, 0)[:-4]
        self.header = head + struct.pack("<I", zlib.crc32(head))
        self._cipher: FrameCipher | None = None
        if cipher is not None:
            self.header += secrets.token_bytes(16)
            self.header += struct.pack("<I", zlib.crc32(self.header))
            self._cipher = FrameCipher(cipher, self.header)

    def frame(self, steps: Sequence[StepFields], *, at: int) -> bytes:
        """Return the frame of these records; it must be the next that is appended to the log, where it has `at` bytes.
        """  # fmt: skip
        numbers = self._numbers
        count = len(numbers)
        session, tick, times, kind, flags, token, tokens, role, event, activations, contents = zip(
            *steps, strict=True
        )
        texts = [content.encode("utf-8") for content in contents]
        columns = (
            session, tick, times, kind, flags, token, tokens,
            [numbers[name] for name in role], [numbers[event_id] for event_id in event],
            [len(activation) for activation in activations], [len(text) for text in texts],
        )  # fmt: skip
        concepts = [numbers[concept] for row in activations for concept in row]
        scores = [score for row in activations for score in row.values()]
        return self._frame(columns, concepts, scores, b"".join(texts), count, at=at)

    def frame_of(self, batch: Batch, *, session: int, ticks: Sequence[int], now: int, at: int) -> bytes:
        """Return the frame of a batch, recorded `now`; it must be the next that is appended, as with `frame`."""
        import numpy as np

        numbers = self._numbers
        count = len(numbers)
        number = np.array([numbers[string] for string in batch.strings], "<u4")
        columns = (
            np.full(len(batch), session, "<u4"), ticks, np.where(batch.at == NO_TIME, now, batch.at), batch.kind,
            batch.flags, batch.token, batch.tokens, number[batch.roles], number[batch.events], batch.activations,
            batch.lengths,
        )  # fmt: skip
        return self._frame(columns, number[batch.concepts], batch.scores, batch.contents, count, at=at)

    def _frame(
        self,
        columns: Sequence[ArrayLike],
        concepts: ArrayLike,
        scores: ArrayLike,
        contents: bytes,
        known: int,
        *,
        at: int,
    ) -> bytes:
        import numpy as np

        numbers = self._numbers
        arrays = [np.asarray(column, dtype) for column, (_, dtype) in zip(columns, _COLUMNS, strict=True)]
        rows = len(arrays[0])
        parts = [array.tobytes() for array in arrays]
        parts += [np.asarray(concepts, "<u4").tobytes(), np.asarray(scores, "<f4").tobytes(), contents]
        new = [] if len(numbers) == known else [str(text).encode("utf-8") for text in list(numbers)[known:]]
        parts.append(np.array([len(text) for text in new], "<u4").tobytes())
        parts += new
        return self._whole(b"".join(parts), rows=rows, strings=len(new), at=at)

    def end(self, *, at: int) -> bytes:
        """Return the frame that says that the log was closed: nothing before it can be a torn write."""
        return self._whole(b"", rows=0, strings=0, at=at)

    def _whole(self, payload: bytes, *, rows: int, strings: int, at: int) -> bytes:
        if self._cipher is not None:
            size = len(payload) + TAG_BYTES
            bound = _FRAME.pack(_FRAME_MAGIC, size, rows, strings, 0, 0)
            payload = self._cipher.seal(payload, bound, at=at)
        head = _FRAME.pack(_FRAME_MAGIC, len(payload), rows, strings, zlib.crc32(payload), 0)[:-4]
        return head + struct.pack("<I", zlib.crc32(head)) + payload


@dataclass(slots=True, kw_only=True)
class Columns:
    """Rows as NumPy columns: `numbers` by name, activations and contents one after the other.

    `hull` is which sessions and ticks there are, from first to last, and `sessions` which sessions, once somebody has
    looked.
    """

    numbers: dict[str, NDArray[np.generic]]
    concepts: NDArray[np.uint32]
    scores: NDArray[np.float32]
    contents: bytes
    hull: tuple[tuple[int, int], tuple[int, int]] | None = None
    sessions: frozenset[int] | None = None

    def __len__(self) -> int:
        return len(self.numbers["tick"])


class End(Enum):
    """How the readable part of a log ends."""

    OPEN = "open"
    CLOSED = "closed"
    TORN = "torn"


@dataclass(slots=True, kw_only=True)
class Frames:
    """What was read of a log: its frames, its strings by number, and where the next frame would begin.

    `cipher` opens the frames of a sealed one; `name` says which log it is.
    """

    frames: list[Columns]
    strings: list[str]
    offset: int
    end: End
    cipher: FrameCipher | None = None
    name: str = ""


class Header(NamedTuple):
    """The beginning of a log: when that was, and its bytes."""

    begun_at: int
    data: bytes

    @property
    def sealed(self) -> bool:
        """Whether the frames after it are."""
        return len(self.data) == SEALED_HEADER_BYTES


def read_header(data: bytes, name: str) -> Header | None:
    """Return the header with which a log begins, None when it is not whole yet; raises `IntegrityError`."""
    if len(data) < HEADER_BYTES:
        return None
    magic, version, _, begun_at, crc = _HEADER.unpack_from(data)
    damaged = f"{name} is damaged at offset 0: it does not begin as a log of the stream does."
    if magic != _MAGIC or crc != zlib.crc32(data[: HEADER_BYTES - 4]):
        raise IntegrityError(damaged)
    if version not in (VERSION, SEALED_VERSION):
        raise IntegrityError(
            f"{name} has version {version}, this program reads {VERSION} and {SEALED_VERSION}. Install a newer one."
        )
    if version == VERSION:
        return Header(int(begun_at), data[:HEADER_BYTES])
    if len(data) < SEALED_HEADER_BYTES:
        return None
    _, crc = _SEALED_REST.unpack_from(data, HEADER_BYTES)
    if crc != zlib.crc32(data[: SEALED_HEADER_BYTES - 4]):
        raise IntegrityError(damaged)
    return Header(int(begun_at), data[:SEALED_HEADER_BYTES])


def frames_before(header: Header | None, cipher: FileCipher | None, name: str) -> Frames:
    """Return what a log with this header has before its first frame.

    Raises `IntegrityError` for a plain log of an encrypted store, and for a sealed one of a plain store.
    """
    if header is None:
        return Frames(frames=[], strings=[""], offset=0, end=End.TORN, name=name)
    if header.sealed != (cipher is not None):
        says = (
            "is encrypted, though its store is not"
            if header.sealed
            else "is plain, though its store is encrypted"
        )
        raise IntegrityError(f"{name} {says}: it was put there by somebody else. Move it away.")
    opened = None if cipher is None else FrameCipher(cipher, header.data)
    return Frames(frames=[], strings=[""], offset=len(header.data), end=End.OPEN, cipher=opened, name=name)


def read_frames(data: bytes, frames: Frames, name: str) -> Frames:
    """Add to `frames` the frames of `data`, the bytes from `frames.offset` on.

    A frame at the end that is not whole is a write that was cut off and never acknowledged: reading stops before
    it. Raises `IntegrityError`, with file and offset, for one that others follow.
    """
    at = 0
    while at < len(data):
        head = _head(data, at)
        whole = head is not None and at + _FRAME_HEAD.size + head[0] <= len(data)
        if head is not None and whole:
            size, rows, strings, crc = head
            payload: bytes | memoryview | None
            payload = memoryview(data)[at + _FRAME_HEAD.size : at + _FRAME_HEAD.size + size]
            if zlib.crc32(payload) == crc:
                if frames.cipher is not None:
                    payload = frames.cipher.open(payload, data[at : at + _BOUND], at=frames.offset + at)
                    if payload is None:  # no torn write: these are the bytes that were written, by somebody
                        raise _damage(name, frames.offset + at, "they were changed, or are from another log")
                at += _FRAME_HEAD.size + size
                if not rows:
                    frames.end = End.CLOSED
                    break
                columns, new = _columns(memoryview(payload), rows, strings)
                frames.frames.append(columns)
                frames.strings += new
                continue
        if _frame_after(data, at):
            raise _damage(name, frames.offset + at, "others follow")
        frames.end = End.TORN
        break
    frames.offset += at
    return frames


def _damage(name: str, at: int, how: str) -> IntegrityError:
    return IntegrityError(
        f"{name} is damaged at offset {at}: records stand there that cannot be read, and {how}. "
        "Put a backup in its place, or move the file away and run `hexad check --accept-losses` to go on without its "
        "records."
    )


def _head(data: bytes, at: int) -> tuple[int, int, int, int] | None:
    if at + _FRAME_HEAD.size > len(data):
        return None
    magic, size, rows, strings, crc, own = _FRAME_HEAD.unpack_from(data, at)
    if magic != _FRAME_MAGIC or own != zlib.crc32(data[at : at + _FRAME_HEAD.size - 4]):
        return None
    return size, rows, strings, crc


def _frame_after(data: bytes, at: int) -> bool:
    """Whether a frame begins after `at`: then what stands there was written and synced before it."""
    place = data.find(_FRAME_MAGIC, at + 1)
    while place >= 0:
        if _head(data, place) is not None:
            return True
        place = data.find(_FRAME_MAGIC, place + 1)
    return False


def _columns(payload: memoryview, rows: int, strings: int) -> tuple[Columns, list[str]]:
    import numpy as np

    at = 0

    def take(dtype: str, count: int) -> NDArray[np.generic]:
        nonlocal at
        array = np.frombuffer(payload, dtype, count, at)
        at += array.nbytes
        return array

    numbers = {name: take(dtype, rows) for name, dtype in _COLUMNS}
    total = int(numbers["activations"].sum(dtype=np.int64))
    concepts, scores = take("<u4", total), take("<f4", total)
    size = int(numbers["bytes"].sum(dtype=np.int64))
    contents = bytes(payload[at : at + size])
    at += size
    lengths = take("<u4", strings)
    new = []
    for length in lengths.tolist():
        new.append(str(payload[at : at + length], "utf-8"))
        at += length
    return Columns(numbers=numbers, concepts=concepts, scores=scores, contents=contents), new  # type: ignore[arg-type]
