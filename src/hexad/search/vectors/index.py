"""Vector search: exact in float32, from about 30,000 vectors by sign bits with rescoring.

The blobs in `memory.db` are the truth. Of so many that they have sign bits, or would take too much memory, a cache
file holds them as one memory-mapped matrix; fewer are read from there, which takes hardly longer than to read such a
file and to check it. Vectors that came later are kept in memory beside these, and removed ones are masked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from zlib import crc32

from hexad.core.blas_threads import one_thread
from hexad.core.tracing import log
from hexad.database.change_counters import ChangeReader
from hexad.database.encryption.cipher import FileCipher
from hexad.database.files import ensure_dir, stream_write, unlink
from hexad.errors import IntegrityError, StorageFailure
from hexad.search.vectors.arithmetic import (
    Room,
    Scored,
    Shortlist,
    VectorSegment,
    alive_rows,
    all_cosines,
    allowed_rows,
    concatenate,
    in_order,
    nearest_by_signs,
    nearest_memories,
    sampled_spread,
    score_named,
    shortlist_needed,
    sign_bits,
)
from hexad.search.vectors.table import VectorRows, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MAGIC: Final = b"HEXVEC06"
_ALIGN: Final = 64
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SignBits:
    """The sign bits of vectors, how these are spread, and what is looked at again; None: the bits say too little."""

    bits: NDArray[np.uint64]
    mean: NDArray[np.float32]
    covariance: NDArray[np.float32]
    shortlist: Shortlist | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedVectors:
    """All vectors up to a change; of so few that every cosine is computed there are no sign bits."""

    rows: VectorRows
    signs: SignBits | None
    last_no: int
    last_removal: int


def write_cache(
    directory: Path, cached: CachedVectors, *, change: int, identity: str, cipher: FileCipher | None
) -> None:
    """Write the cache of `change` and remove all others; a disk that refuses costs only speed."""
    arrays: dict[str, NDArray[np.generic]] = {
        "no": cached.rows.no,
        "memory_no": cached.rows.memory_no,
        "chunk_no": cached.rows.chunk_no,
        "matrix": cached.rows.matrix,
    }
    signs = cached.signs
    if signs is not None:
        arrays |= {"bits": signs.bits, "mean": signs.mean, "covariance": signs.covariance}
    places: dict[str, object] = {}
    length = 0
    for name, array in arrays.items():
        length += -length % _ALIGN
        places[name] = [length, list(array.shape), array.dtype.str, _checksum([_bytes_of(array)])]
        length += array.nbytes
    header = json.dumps(
        {
            "identity": identity,
            "signs": signs is not None,
            "shortlist": None if signs is None or signs.shortlist is None else asdict(signs.shortlist),
            "last_no": cached.last_no,
            "last_removal": cached.last_removal,
            "arrays": places,
        }
    ).encode()
    header += b" " * (-(16 + len(header)) % _ALIGN)
    target = directory / f"vectors-{change:012d}"
    try:
        ensure_dir(directory)
        pieces = _pieces(_MAGIC + len(header).to_bytes(8, "little") + header, arrays.values())
        stream_write(target, pieces if cipher is None else cipher.sealed(pieces))
        remove_caches(directory, but=target.name)  # a higher number may be from before a backup was restored
    except StorageFailure as error:
        log.warning("The vector cache could not be written: %s", error)


def _pieces(header: bytes, arrays: Iterable[NDArray[np.generic]]) -> Iterator[bytes]:
    """Yield a cache file in small pieces: a second copy of many vectors may be more than there is memory for."""
    yield header
    length = 0
    for array in arrays:
        yield b"\0" * (-length % _ALIGN)
        length += -length % _ALIGN + array.nbytes
        data = _bytes_of(array)
        for start in range(0, len(data), _PIECE_BYTES):
            yield data[start : start + _PIECE_BYTES].tobytes()


def _bytes_of(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    import numpy as np

    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(pieces: Iterable[NDArray[np.uint8]]) -> int:
    checksum = 0
    for piece in pieces:
        checksum = crc32(piece.data, checksum)
    return checksum


def remove_caches(directory: Path, *, but: str | None = None) -> None:
    """Remove all caches but the one of this name; a disk that refuses leaves what costs room alone."""
    try:
        for path in directory.glob("vectors-*"):
            if path.name != but:
                unlink(path)
    except StorageFailure as error:
        log.warning("A vector cache that is of no use could not be removed: %s", error)


def load_cache(
    directory: Path, *, identity: str, dimensions: int, cipher: FileCipher | None
) -> CachedVectors | None:
    """Return the newest cache that checks, mapped into memory, or decrypted into it; None when there is none."""
    for path in sorted(directory.glob("vectors-*"), reverse=True):
        cached = _load(path, cipher, identity=identity, dimensions=dimensions)
        if cached is not None:
            return cached
    return None


def _load(path: Path, cipher: FileCipher | None, *, identity: str, dimensions: int) -> CachedVectors | None:
    import numpy as np

    try:
        mapped = (
            np.memmap(path, dtype=np.uint8, mode="r")
            if cipher is None
            else np.frombuffer(cipher.read(path), np.uint8)
        )
        if bytes(mapped[:8]) != _MAGIC:
            return None
        length = int.from_bytes(bytes(mapped[8:16]), "little")
        header = json.loads(bytes(mapped[16 : 16 + length]))
        if header["identity"] != identity:
            return None
        arrays = {}
        for name, (offset, shape, dtype, checksum) in header["arrays"].items():
            start, size = 16 + length + offset, int(np.prod(shape)) * np.dtype(dtype).itemsize
            data = mapped[start : start + size]
            read = _read_pieces(path, start, size) if cipher is None else [data]
            if len(data) != size or _checksum(read) != checksum:
                return None
            arrays[name] = data.view(np.ndarray).view(dtype).reshape(shape)
    except (OSError, StorageFailure, IntegrityError, ValueError, KeyError, TypeError):
        return None  # damaged, foreign, or removed by a newer one's writer: derived data, built anew
    if arrays["matrix"].shape[1] != dimensions:
        return None
    return CachedVectors(
        rows=VectorRows(
            no=arrays["no"],
            memory_no=arrays["memory_no"],
            chunk_no=arrays["chunk_no"],
            matrix=arrays["matrix"],
        ),
        signs=None
        if not header["signs"]
        else SignBits(
            bits=arrays["bits"],
            mean=arrays["mean"],
            covariance=arrays["covariance"],
            shortlist=None if header["shortlist"] is None else Shortlist(**header["shortlist"]),
        ),
        last_no=header["last_no"],
        last_removal=header["last_removal"],
    )


def _read_pieces(path: Path, start: int, size: int) -> Iterator[NDArray[np.uint8]]:
    """Yield a part of a file as it is read: looked at through a mapping, all of it would count as this process's."""
    import numpy as np

    with path.open("rb") as file:
        file.seek(start)
        while size > 0 and len(piece := np.fromfile(file, np.uint8, min(size, _PIECE_BYTES))):
            size -= len(piece)
            yield piece


EXACT_LIMIT: Final = 30_000
"""Up to this many vectors every cosine is computed."""
_TAIL_LIMIT: Final = 4_000
BASE_BYTES: Final = 256 << 20
"""More vectors than this are read from the mapped file as float16, also where every cosine is computed."""
TAIL_BYTES: Final = 256 << 20
"""More that came later than this become part of the file."""
_COMPARED: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorAnswer:
    """The best memories by cosine, best first, and how the cosines of all vectors are spread.

    `best` maps a memory's row number to `(cosine, chunk's number or 0)` for every memory that was scored.
    `crowding` says of the nearest memories how close each is to its own nearest others among them, against
    their mean: vectors that are near everything are near the question by accident. The cosines of `estimated`
    memories are not computed but what first vectors say that they will be.
    """

    best: dict[int, tuple[float, int]]
    crowding: dict[int, float]
    mean: float
    deviation: float
    vectors: int
    estimated: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Loaded:
    change: int = -1
    last_no: int = 0
    last_removal: int = 0
    base: VectorSegment | None = None
    tail: list[VectorRows] = field(default_factory=list)
    segments: list[VectorSegment] = field(default_factory=list)
    mean: NDArray[np.float32] | None = None
    covariance: NDArray[np.float32] | None = None
    shortlist: Shortlist | None = None
    """What of sign bits is looked at again; None where every cosine is computed."""


class VectorIndex:
    """The vectors of one store, ready to search. Follows writes of any process."""

    def __init__(
        self,
        vectors: Vectors,
        changes: ChangeReader,
        *,
        dimensions: int,
        cache: Path | None,
        identity: str,
        cipher: FileCipher | None = None,
    ) -> None:
        self._vectors = vectors
        self._changes = changes
        self.dimensions = dimensions
        self._cache = cache
        self._identity = identity
        self._cipher = cipher
        self._lock = Lock()
        self._room = Room()
        self._state = _Loaded()
        self._is_mapped = False  # whether what the base does not hold as float32 lies in the cache file

    @property
    def limit_bytes(self) -> int | None:
        """How much is in memory; None where nothing may be mapped from a file: then it is all of the vectors."""
        return None if self._cache is None or self._cipher is not None else BASE_BYTES + TAIL_BYTES

    def nbytes(self) -> int:
        """Return how much memory the vectors take, without what is mapped from the cache file."""
        base, tail = self._state.base, list(self._state.tail)
        used = sum(rows.matrix.nbytes * 3 + rows.no.nbytes * 3 for rows in tail)  # as float16 and as float32
        if base is not None:
            mapped = self._is_mapped and base.matrix.itemsize == 2
            used += base.alive.nbytes + (0 if mapped else base.matrix.nbytes)
            if not self._is_mapped:
                used += 3 * base.no.nbytes + (0 if base.bits is None else base.bits.nbytes)
        return used

    def count(self) -> int:
        """Return how many vectors are searched."""
        with self._lock:
            self._refresh()
            return sum(int(segment.alive.sum()) for segment in self._state.segments)

    @property
    def is_exact(self) -> bool:
        """Whether a search computes every cosine."""
        with self._lock:
            self._refresh()
            return self._state.shortlist is None

    def segments(self) -> list[VectorSegment]:
        """Return the vectors as they are searched; who reads them changes nothing of them."""
        with self._lock:
            self._refresh()
            return list(self._state.segments)

    def search(
        self,
        query: NDArray[np.float32],
        *,
        limit: int,
        allowed: NDArray[np.bool_] | None = None,
        also: Sequence[int] = (),
    ) -> VectorAnswer:
        """Return the `limit` nearest memories, and the cosines of the memories `also` names.

        `allowed[memory_no]` says which memories may answer; numbers past its end may not. The caller has seen to
        it that those in `also` may. Vectors are L2-normalised, so that a dot product is the cosine.
        """
        with self._lock:
            self._refresh()
            state = self._state
            segments = list(state.segments)
        with one_thread():
            return self._search(state, segments, query, limit=limit, allowed=allowed, also=also)

    def _search(
        self,
        state: _Loaded,
        segments: Sequence[VectorSegment],
        query: NDArray[np.float32],
        *,
        limit: int,
        allowed: NDArray[np.bool_] | None,
        also: Sequence[int],
    ) -> VectorAnswer:
        import numpy as np

        scored: list[Scored] = []
        total = np.zeros(3)  # count, sum, sum of squares
        for segment in segments:
            alive = allowed_rows(segment, allowed)
            count = int(alive.sum())
            shortlist = None if segment.bits is None else state.shortlist
            if shortlist is not None and count <= 2 * shortlist.pool:
                shortlist = None  # to compute all of so few is as quick
            if shortlist is not None:
                rows = nearest_by_signs(segment, query, alive, shortlist)
                total += (
                    _spread(state, query, count)
                    if allowed is None
                    else sampled_spread(segment, np.flatnonzero(alive), query)
                )
            else:
                rows = np.flatnonzero(alive)
            cosines = segment.cosines(rows, query) if len(rows) < len(alive) else all_cosines(segment, query)
            if shortlist is None:
                total += (
                    len(cosines),
                    float(cosines.sum(dtype=np.float64)),
                    float((cosines**2).sum(dtype=np.float64)),
                )
            scored.append((segment, rows, cosines))
        best, crowding = nearest_memories(scored, limit=limit, room=self._room) if scored else ({}, {})
        if also:
            named = in_order(also)
            for segment in segments:
                score_named(best, segment, named, query)
        count = int(total[0])
        mean = total[1] / count if count else 0.0
        deviation = float(np.sqrt(max(total[2] / count - mean**2, 0.0))) if count else 0.0
        return VectorAnswer(
            best=best,
            crowding=crowding,
            mean=float(mean),
            deviation=deviation,
            vectors=count,
        )

    def cosines_of(self, query: NDArray[np.float32], memories: Sequence[int]) -> dict[int, float]:
        """Return the cosines of all chunks of some memories, by the chunks' numbers."""
        named = in_order(memories)
        cosines: dict[int, float] = {}
        segments = self.segments()
        with one_thread():
            for segment in segments:
                if len(rows := segment.rows_of(named)):
                    found = segment.cosines(rows, query).tolist()
                    cosines.update(zip(segment.chunk_no[rows].tolist(), found, strict=True))
        cosines.pop(0, None)  # of the beginning of a whole memory
        return cosines

    # The cache ------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        change = self._changes.current("vectors")
        state = self._state
        if change == state.change:
            return
        if state.change < 0 and self._cache is not None:
            cached = self._loaded(self._cache)
            if cached is not None and self._agrees(cached):
                self._is_mapped = self._cipher is None
                self._adopt(cached)
                state = self._state
        if not state.last_no:  # all are read now, without those that were removed before
            state.last_removal = self._vectors.last_removal()
        rows = self._vectors.after(state.last_no, dimensions=self.dimensions)
        if len(rows.no):
            state.last_no = int(rows.no[-1])
            alone = state.base is None and not state.tail
            if alone and _needs_file(rows):
                self._become(rows, change=change)
                state = self._state
            elif alone and len(rows.no) > _TAIL_LIMIT:
                self._adopt(
                    CachedVectors(
                        rows=rows, signs=None, last_no=state.last_no, last_removal=state.last_removal
                    )
                )
            else:
                state.tail.append(rows)
        removed = self._vectors.removed_after(state.last_removal)
        if removed:
            state.last_removal = removed[-1][0]
        self._join({no for _, no in removed})
        state.change = change
        share = len(state.base.no) // 5 if state.base else 0
        if self._tail_size() > min(max(_TAIL_LIMIT, share), TAIL_BYTES // (6 * self.dimensions + 24)):
            self._rebuild()

    def _loaded(self, cache: Path) -> CachedVectors | None:
        return load_cache(cache, identity=self._identity, dimensions=self.dimensions, cipher=self._cipher)

    def _agrees(self, cached: CachedVectors) -> bool:
        """Whether the newest cached vector that the store still has is the one that it has by that number.

        It is not after `memory.db` was restored from a backup: numbers are then given a second time.
        """
        newest = range(len(cached.rows.no) - 1, max(-1, len(cached.rows.no) - 1 - _COMPARED), -1)
        for row in newest:
            blob = self._vectors.blob(int(cached.rows.no[row]))
            if blob is not None:
                return bool(blob == cached.rows.matrix[row].tobytes())
        return False

    def _tail_size(self) -> int:
        return sum(len(rows.no) for rows in self._state.tail)

    def _adopt(self, cached: CachedVectors) -> None:
        import numpy as np

        state = self._state
        state.base = VectorSegment(
            no=cached.rows.no,
            memory_no=cached.rows.memory_no,
            chunk_no=cached.rows.chunk_no,
            matrix=cached.rows.matrix,
            alive=np.ones(len(cached.rows.no), dtype=np.bool_),
        )
        signs = cached.signs
        if signs is not None:
            state.base.bits, state.base.centre = signs.bits, signs.mean
            state.mean, state.covariance = signs.mean, signs.covariance
            state.shortlist = signs.shortlist
        if state.shortlist is None and 4 * cached.rows.matrix.size <= BASE_BYTES:
            state.base.matrix = cached.rows.matrix.astype(np.float32)
        state.last_no, state.last_removal = cached.last_no, cached.last_removal

    def _join(self, removed: set[int]) -> None:
        """Make the tail one segment and mask what is gone; masks of earlier removals are kept."""
        import numpy as np

        state = self._state
        if state.tail:
            removed = removed | {
                int(no)
                for segment in state.segments
                if segment is not state.base
                for no in segment.no[~segment.alive]
            }
        state.segments = [state.base] if state.base is not None else []
        if state.tail:
            rows = concatenate(state.tail)
            state.tail = [rows]
            state.segments.append(
                VectorSegment(
                    no=rows.no,
                    memory_no=rows.memory_no,
                    chunk_no=rows.chunk_no,
                    matrix=rows.matrix.astype(np.float32),
                    alive=np.ones(len(rows.no), dtype=np.bool_),
                )
            )
        if removed:
            dead = np.array(sorted(removed), dtype=np.int64)
            for segment in state.segments:
                segment.alive = _without(segment, dead)

    def _rebuild(self) -> None:
        """Make base and tail one base; write the cache file where it is of use, and remove it where it is not."""
        self._become(alive_rows(self._state.segments), change=self._state.change)
        self._join(set())

    def _become(self, rows: VectorRows, *, change: int) -> None:
        """Search these vectors, which are all up to where the state is, as the base."""
        state = self._state
        cached = CachedVectors(
            rows=rows,
            signs=_signs_of(rows) if len(rows.no) > EXACT_LIMIT else None,
            last_no=state.last_no,
            last_removal=state.last_removal,
        )
        self._state = _Loaded(change=state.change)
        self._is_mapped = False
        if self._cache is not None and not _needs_file(rows):
            remove_caches(self._cache)
        elif self._cache is not None:
            write_cache(self._cache, cached, change=change, identity=self._identity, cipher=self._cipher)
            loaded = self._loaded(self._cache)
            self._is_mapped = loaded is not None and self._cipher is None
            cached = loaded or cached
        self._adopt(cached)


def _without(segment: VectorSegment, dead: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the mask of a segment without some numbers, in order. Its own numbers are in order, too."""
    import numpy as np

    rows = np.searchsorted(segment.no, dead)
    inside = rows < len(segment.no)
    rows, dead = rows[inside], dead[inside]
    alive = segment.alive.copy()  # a search may be reading it
    alive[rows[segment.no[rows] == dead]] = False
    return alive


def _needs_file(rows: VectorRows) -> bool:
    """Whether a file would hold what `memory.db` does not, or what is too much to be held in memory."""
    return len(rows.no) > EXACT_LIMIT or 4 * rows.matrix.size > BASE_BYTES


def _signs_of(rows: VectorRows) -> SignBits:
    import numpy as np

    sample = rows.matrix[:: max(1, len(rows.no) // 20_000)].astype(np.float32)
    mean = sample.mean(axis=0)
    centred = sample - mean
    bits = sign_bits(rows.matrix, mean)
    return SignBits(
        bits=bits,
        mean=mean,
        covariance=(centred.T @ centred) / max(len(sample), 1),
        shortlist=shortlist_needed(rows, bits, mean),
    )


def _spread(state: _Loaded, query: NDArray[np.float32], count: int) -> NDArray[np.float64]:
    """Count, sum and sum of squares of all cosines, exact from mean and covariance without computing any."""
    import numpy as np

    assert state.mean is not None
    assert state.covariance is not None
    mean = float(query @ state.mean)
    square = float(query @ state.covariance @ query) + mean**2
    return np.array([count, count * mean, count * square])
