"""What an embedder is, and how a setting becomes one."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

from hexad.core.arguments import quoted, require_function, said_by
from hexad.errors import HexadError, InvalidInput, ProviderError
from hexad.providers.embedders.hashing import HashEmbedder
from hexad.providers.embedders.minilm import MiniLmEmbedder
from hexad.providers.embedders.openai_compatible import RemoteEmbedder
from hexad.providers.embedders.rows import checked_rows, checked_texts, embed_nonblank, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.providers.embedders.rows import FloatRows


_TEXTS_PER_CALL = 128


class CallableEmbedder:
    """Wraps a function from a list of texts to one vector each, as lists or as anything NumPy reads.

    The vectors need no particular length; they are scaled here. Their number of dimensions is learned from
    the first answer (reading `dimensions` before that calls the function once) and must stay the same.
    The function may be called from several threads, never with a blank text, with at most 128 texts at once.
    """

    def __init__(self, function: Callable[[Sequence[str]], object]) -> None:
        self._function = function
        named = function if hasattr(function, "__qualname__") else type(function)
        self.name = f"callable:{named.__module__}.{named.__qualname__}"
        self._lock = threading.Lock()
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """The length of the function's vectors. Raises `ProviderError` when it has to be asked and fails."""
        if self._dimensions is None:
            self._embed_batch(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a blank text.

        Raises `ProviderError` when the function raises, or returns anything but one finite vector per text.
        """
        spoken = checked_texts(texts)
        return embed_nonblank(
            spoken, size=_TEXTS_PER_CALL, dimensions=self.dimensions, embed_batch=self._embed_batch
        )

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        row: FloatRows = self.embed([text])[0]
        return row

    def _embed_batch(self, texts: Sequence[str]) -> FloatRows:
        try:
            answer = self._function(texts)
        except HexadError:
            raise
        # The one broad handler here: foreign code may raise anything, and whoever waits for a vector must be
        # able to tell a failed embedder from a defect of ours. Nothing is swallowed.
        except Exception as error:
            raise ProviderError(f"Embedder {self.name!r} raised {said_by(error, texts)}") from error
        who = f"Embedder {self.name!r}"
        with self._lock:
            rows = checked_rows(answer, count=len(texts), dimensions=self._dimensions, who=who)
            self._dimensions = rows.shape[1]
        return unit_rows(rows)


_REMOTE = re.compile(r"openai:(?P<model>.+?)@(?P<base_url>https?://.+)")
_OPENAI_HOST = "api.openai.com"
_VALID_FORMS = (
    "'default', 'hashing', 'openai:<model>@<base URL>', None (lexical only), "
    "a function from texts to vectors, or an object with name, dimensions, embed and embed_query"
)
_PROTOCOL = ("name", "dimensions", "embed", "embed_query")


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Which model this is, with its revision: vectors of two names are never compared."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return float32 rows of length one, one per text in order; zeros for a text without tokens.

        Raises `ProviderError` when the model fails; never a part of the rows.
        """

    def embed_query(self, text: str) -> FloatRows:
        """Return the vector of one question."""


def resolve(
    spec: str | Embedder | Callable[[Sequence[str]], object] | None,
    *,
    model_dir: Path | None = None,
    threads: int | None = None,
    api_key: str | None = None,
    openai_key: str | None = None,
    dimensions: int | None = None,
) -> Embedder | None:
    """Return the embedder that `spec` names; None for None, which means lexical recall only.

    `model_dir` and `threads` are for "default", whose model is shared by all that ask for it with the same
    two; `api_key` is for an endpoint, and `openai_key` for OpenAI's own where there is no `api_key`; `dimensions`
    is for an endpoint and "hashing". Others have no use for them. Nothing is loaded and nothing is sent yet.
    Raises `InvalidInput` for what is no embedder.

    >>> resolve("hashing").name
    'hashing-256@1'
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        remote = _REMOTE.fullmatch(spec)
        if remote is not None:
            # A project's settings may name any endpoint; the key that other tools use goes to its own alone.
            key = api_key or (openai_key if urlsplit(remote["base_url"]).hostname == _OPENAI_HOST else None)
            return RemoteEmbedder(remote["base_url"], remote["model"], api_key=key, dimensions=dimensions)
        return _local(spec, model_dir=model_dir, threads=threads, dimensions=dimensions)
    # Asked of the type: on an instance, `dimensions` may be a property that calls a model.
    names = {name for name in _PROTOCOL if hasattr(type(spec), name) or name in getattr(spec, "__dict__", ())}
    if names.issuperset(_PROTOCOL) and not isinstance(spec, type):
        return cast("Embedder", spec)
    if callable(spec) and not isinstance(spec, type):
        require_function(spec, "embedder", given=("texts",))
        return CallableEmbedder(spec)
    raise InvalidInput(f"{quoted(spec)} is no embedder; give {_VALID_FORMS}.")


def _local(spec: str, *, model_dir: Path | None, threads: int | None, dimensions: int | None) -> Embedder:
    if spec == "default":
        return _shared_minilm(model_dir, threads)
    if spec == "hashing":
        return HashEmbedder() if dimensions is None else HashEmbedder(dimensions)
    raise InvalidInput(f"Unknown embedder {quoted(spec)}; give {_VALID_FORMS}.")


@cache
def _shared_minilm(model_dir: Path | None, threads: int | None) -> MiniLmEmbedder:
    # One model per process: stores that are open side by side would each hold 250 MB of the same weights.
    return MiniLmEmbedder(model_dir=model_dir, threads=threads)


QueryEmbedder = Callable[[str, str | None], "NDArray[np.float32]"]
