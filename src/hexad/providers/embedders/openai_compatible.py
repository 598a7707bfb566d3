"""Embeddings from an OpenAI-compatible endpoint, over the standard library.

One request per batch, one connection per request. No proxy settings are read and no redirect is followed: the
key goes to the host that was named and to no other. Messages never hold the key, the texts or the endpoint's
own words.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from time import sleep as _sleep
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hexad.core.clock import Clock, SystemClock
from hexad.errors import InvalidInput, ProviderError
from hexad.providers.backoff import Backoff
from hexad.providers.embedders.rows import checked_rows, checked_texts, embed_nonblank, unit_rows
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from hexad.providers.embedders.rows import FloatRows

_ATTEMPTS = 4
_LONGEST_PAUSE_S = 30.0
# A token is at least one character in nearly every text, and common models read 8,191 tokens or fewer.
_MAX_TEXT_CHARS = 8_000
_ENVELOPE_BYTES = 65_536
_BYTES_PER_NUMBER = 64  # some endpoints put each number on its own, indented line
_MAX_DIMENSIONS = 16_384
_READ_BYTES = 65_536
_MAX_USED_TOKENS = 2**53
_OPENAI = "api.openai.com"
_HINTS = {
    400: "Check the model's name, and whether it takes the dimensions asked for.",
    401: "Check the key.",
    403: "Check the key and what it may use.",
    404: "Check the base URL and the model's name.",
    422: "Check the model's name, and whether it takes the dimensions asked for.",
    429: "The endpoint limits the rate, or the account is exhausted; try later.",
}


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
        self._secure, self._host, self._port, self._path = _endpoint(base_url)
        self._netloc = urlsplit(base_url).netloc
        self._where = f"{'https' if self._secure else 'http'}://{self._host}:{self._port}{self._path}"
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
        self.provider = "openai" if self._host == _OPENAI else f"openai@{self._netloc}"
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **_credential(api_key),
        }
        self._requested_dimensions = self._dimensions = dimensions
        self._timeout_s, self._batch_size = timeout_s, batch_size
        self._sleep, self._clock = sleep, clock or SystemClock()
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
        answer = self._post(json.dumps(request).encode("ascii"), limit_bytes=limit_bytes)
        vectors, tokens = _vectors_in_order(answer, count=len(texts), where=self._where)
        used.append(self.estimate_tokens(texts) if tokens is None else tokens)
        with self._lock:
            rows = checked_rows(vectors, count=len(texts), dimensions=self._dimensions, who=self._where)
            self._dimensions = rows.shape[1]
        return unit_rows(rows)

    def _post(self, body: bytes, *, limit_bytes: int) -> bytes:
        """Return the body of a 200 answer, after as many attempts as it takes and is allowed."""
        backoff = Backoff(_ATTEMPTS)
        while True:
            try:
                status, retry_after, answer = self._exchange(body, limit_bytes=limit_bytes)
            except OSError as error:
                pause_s = backoff.pause_s(None)
                if pause_s is None:
                    raise ProviderError(
                        f"{self._where} did not answer in {_ATTEMPTS} attempts "
                        f"({type(error).__name__}: {error}); check the base URL and the network.",
                        charged=isinstance(error, TimeoutError),
                    ) from error
            else:
                if status == 200:
                    return answer
                pause_s = backoff.pause_s(status, retry_after)
                if pause_s is None:
                    raise ProviderError(_refusal(self._where, status), charged=False)
            self._sleep(min(pause_s, _LONGEST_PAUSE_S))

    def _exchange(self, body: bytes, *, limit_bytes: int) -> tuple[int, str | None, bytes]:
        """Make one request; return (status, `Retry-After`, body of a 200 answer)."""
        # Imported late: it takes 22 ms, half of what this whole package costs, and few stores have an
        # endpoint.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        deadline = self._clock.monotonic() + self._timeout_s
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.request("POST", self._path, body=body, headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                return response.status, response.getheader("Retry-After"), b""
            return 200, None, self._read(response, limit_bytes=limit_bytes, deadline=deadline)
        except HTTPException as error:
            raise ConnectionError(f"broken answer: {type(error).__name__}") from error
        finally:
            connection.close()

    def _read(self, response: HTTPResponse, *, limit_bytes: int, deadline: float) -> bytes:
        """Return the whole body; the socket's own time-out alone would let a slow drip last for ever."""
        parts: list[bytes] = []
        size = 0
        while part := response.read1(_READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > limit_bytes:
                raise ProviderError(
                    f"{self._where} sent over {limit_bytes} bytes, more than its vectors need."
                )
            if self._clock.monotonic() > deadline:
                raise TimeoutError(f"no whole answer in {self._timeout_s} s")
        if response.length:
            raise ConnectionError(f"{response.length} bytes of the answer are missing")
        return b"".join(parts)


def _endpoint(base_url: str) -> tuple[bool, str, int, str]:
    """Return (https?, host, port, path of the embeddings)."""
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("The base URL holds a user name or password; give the key as api_key instead.")
    unusable = parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment
    if unusable or not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise InvalidInput(f"Base URL {base_url!r} cannot be used; give one like https://host/v1.")
    secure = parts.scheme == "https"
    return (
        secure,
        parts.hostname or "",
        port or (443 if secure else 80),
        f"{parts.path.rstrip('/')}/embeddings",
    )


def _credential(api_key: str | None) -> dict[str, str]:
    if api_key is None:
        return {}
    if not api_key or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        # Said without the key: it must not reach a log, not even a broken one.
        raise InvalidInput("The API key is empty, or holds a space, a line end or a character beyond ASCII.")
    return {"Authorization": f"Bearer {api_key}"}


def _refusal(where: str, status: int) -> str:
    if 300 <= status < 400:
        return f"{where} answered {status}; redirects are not followed: give the final base URL."
    hint = _HINTS.get(
        status, "The endpoint is failing; try later." if status >= 500 else "Check the base URL."
    )
    return f"{where} answered {status}. {hint}"


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
