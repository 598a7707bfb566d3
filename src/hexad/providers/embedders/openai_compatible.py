"""Embeddings from an OpenAI-compatible endpoint: one request per batch."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from time import sleep as _sleep
from typing import TYPE_CHECKING

from hexad.core.clock import Clock
from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders.rows import checked_rows, checked_texts, embed_nonblank, unit_rows
from hexad.providers.http_requests import JsonEndpoint
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from hexad.providers.embedders.rows import FloatRows

_ATTEMPTS = 4
# A token is at least one character in nearly every text, and common models read 8,191 tokens or fewer.
_MAX_TEXT_CHARS = 8_000
_ENVELOPE_BYTES = 65_536
_BYTES_PER_NUMBER = 64  # some endpoints put each number on its own, indented line
_MAX_DIMENSIONS = 16_384
_MAX_USED_TOKENS = 2**53
_OPENAI = "api.openai.com"
_REFUSED = "Check the model's name, and whether it takes the dimensions asked for."


class RemoteEmbedder:
    """Asks `POST {base_url}/embeddings`. Safe to share between threads.

    `dimensions` is asked of the endpoint and held against its answers; without it they are learned from the
    first answer (reading `dimensions` before it makes one request). `timeout_s` bounds one request, and each
    is tried at most four times: again after 429, 5xx, a broken connection or no answer in time, pausing for
    as long as `Retry-After` says, at most 30 s. Of a text, the first 8,000 characters are sent; of a blank
    one, nothing.

    Raises `InvalidInput` for a URL that is not plain http or https, or a key that cannot be a header.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout_s: float = 30.0,
        batch_size: int = 128,
        sleep: Callable[[float], None] = _sleep,
        clock: Clock | None = None,
    ) -> None:
        self._endpoint = JsonEndpoint(
            base_url,
            "/embeddings",
            api_key=api_key,
            timeout_s=timeout_s,
            attempts=_ATTEMPTS,
            refused=_REFUSED,
            sleep=sleep,
            clock=clock,
        )
        if not model.strip():
            raise InvalidInput("The embedding model's name is empty; give the name that the endpoint knows.")
        if dimensions is not None and not 1 <= dimensions <= _MAX_DIMENSIONS:
            raise InvalidInput(f"dimensions is {dimensions}; give 1 to {_MAX_DIMENSIONS}, or None to ask.")
        if batch_size < 1 or timeout_s <= 0:
            raise InvalidInput(
                f"batch_size is {batch_size} and timeout_s {timeout_s}; both must be positive."
            )
        self.name = f"openai:{model}" if dimensions is None else f"openai:{model}@{dimensions}"
        self.model = model
        host, netloc = self._endpoint.host, self._endpoint.netloc
        self.provider = "openai" if host == _OPENAI else f"openai@{netloc}"
        self._requested_dimensions = self._dimensions = dimensions
        self._batch_size = batch_size
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        """The length of the vectors. Raises `ProviderError` when the endpoint has to be asked and fails."""
        return self._dimensions_known([])

    @property
    def known_dimensions(self) -> int | None:
        """The length of the vectors; None before the endpoint was asked."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a blank text.

        Raises `ProviderError`, naming endpoint and status, when the endpoint refuses, does not answer, or
        answers with anything but one finite vector per text.
        """
        return self.embed_measured(texts)[0]

    def embed_measured(self, texts: Sequence[str]) -> tuple[FloatRows, int]:
        """Return the rows, and how many tokens the endpoint says they took, else an estimate; raises like `embed`."""
        spoken = checked_texts(texts)
        used: list[int] = []
        try:
            rows = embed_nonblank(
                spoken,
                size=self._batch_size,
                dimensions=self._dimensions_known(used),
                embed_batch=lambda batch: self._embed_batch(batch, used),
            )
        except ProviderError as error:
            error.charged = error.charged or bool(used)  # for the batches before this one
            raise
        return rows, sum(used)

    @staticmethod
    def estimate_tokens(texts: Sequence[str]) -> int:
        """Return about how many tokens of `texts` would be sent."""
        return sum(estimate_tokens(text[:_MAX_TEXT_CHARS]) for text in texts if text.strip())

    def _dimensions_known(self, used: list[int]) -> int:
        if self._dimensions is None:
            self._embed_batch(["dimensions"], used)
        assert self._dimensions is not None
        return self._dimensions

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        row: FloatRows = self.embed([text])[0]
        return row

    def _embed_batch(self, texts: Sequence[str], used: list[int]) -> FloatRows:
        """Send one batch, and note the tokens that it took: everything that goes to the endpoint passes here."""
        request: dict[str, object] = {
            "model": self.model,
            "input": [text[:_MAX_TEXT_CHARS] for text in texts],
            "encoding_format": "float",
        }
        if self._requested_dimensions is not None:
            request["dimensions"] = self._requested_dimensions
        limit_bytes = _ENVELOPE_BYTES + len(texts) * (self._dimensions or _MAX_DIMENSIONS) * _BYTES_PER_NUMBER
        answer = self._endpoint.post(json.dumps(request).encode("ascii"), limit_bytes=limit_bytes)
        vectors, tokens = _vectors_in_order(answer, count=len(texts), where=self._endpoint.where)
        used.append(self.estimate_tokens(texts) if tokens is None else tokens)
        with self._lock:
            rows = checked_rows(
                vectors, count=len(texts), dimensions=self._dimensions, who=self._endpoint.where
            )
            self._dimensions = rows.shape[1]
        return unit_rows(rows)


def _vectors_in_order(answer: bytes, *, count: int, where: str) -> tuple[list[object], int | None]:
    """Return the answer's vectors by their `index`, and the tokens that it says it took.

    Raises `ProviderError` unless each text has one vector.
    """
    try:
        document = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ProviderError(
            f"{where} answered with something that is not JSON; is it an embeddings endpoint?"
        ) from error
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ProviderError(f"{where} answered without a list 'data'; is it an OpenAI-compatible endpoint?")
    by_index = {item.get("index"): item.get("embedding") for item in data if type(item.get("index")) is int}
    if len(data) != count or by_index.keys() != set(range(count)):
        raise ProviderError(
            f"{where} answered with {len(data)} vectors for {count} texts, or with wrong indexes."
        )
    usage = document.get("usage")
    tokens = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    is_count = type(tokens) is int and 0 < tokens < _MAX_USED_TOKENS
    return [by_index[position] for position in range(count)], tokens if is_count else None
