"""Requests to providers: when one is made again; and one JSON document for another, over the standard library.

One connection per request. No proxy settings are read and no redirect is followed: the key goes to the host that was
named and to no other. Messages never hold the key, the texts or the endpoint's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import sleep as _sleep
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from hexad.core.clock import Clock, SystemClock
from hexad.errors import InvalidInput, ProviderError

if TYPE_CHECKING:
    from http.client import HTTPResponse

FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0
_READ_BYTES: Final = 65_536
_HINTS: Final = {
    401: "Check the key.",
    403: "Check the key and what it may use.",
    404: "Check the base URL and the model's name.",
    429: "The endpoint limits the rate, or the account is exhausted; try later.",
}


class Backoff:
    """The pauses between attempts of one call: each is twice the one before, unless the provider asks for another."""

    def __init__(self, attempts: int) -> None:
        self._left, self._pause_s = attempts, FIRST_PAUSE_S

    def pause_s(self, status: int | None, retry_after: str | None = None) -> float | None:
        """Return how long to wait after an attempt that failed, None where another one is of no use or is one too many.

        `status` is what the provider answered, None where it did not; `retry_after` its header of that name.
        """
        self._left -= 1
        if self._left < 1 or not (status is None or status == 429 or status >= 500):
            return None
        own_pause_s, self._pause_s = self._pause_s, self._pause_s * 2
        asked_s = _seconds(retry_after)
        return own_pause_s if asked_s is None else asked_s


def _seconds(retry_after: str | None) -> float | None:
    """Return a `Retry-After` given in seconds; its form as a date is left to the usual pause."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


class JsonEndpoint:
    """Asks `POST {base_url}{path}`. Safe to share between threads.

    `timeout_s` bounds one request, and each is tried at most `attempts` times: again after 429, 5xx, a broken
    connection or no answer in time, pausing for as long as `Retry-After` says, at most 30 s. `refused` says what to
    check where the endpoint does not like the request (400, 422).

    Raises `InvalidInput` for a URL that is not plain http or https, or a key that cannot be a header.
    """

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        api_key: str | None,
        timeout_s: float,
        attempts: int,
        refused: str,
        sleep: Callable[[float], None] = _sleep,
        clock: Clock | None = None,
    ) -> None:
        self._secure, self.host, self._port, folder = _place(base_url)
        self._path = f"{folder}{path}"
        self.netloc = urlsplit(base_url).netloc
        self.where = f"{'https' if self._secure else 'http'}://{self.host}:{self._port}{self._path}"
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **_credential(api_key),
        }
        self._timeout_s, self._attempts = timeout_s, attempts
        self._hints: Mapping[int, str] = {**_HINTS, 400: refused, 422: refused}
        self._sleep, self._clock = sleep, clock or SystemClock()

    def post(self, body: bytes, *, limit_bytes: int, within_s: float | None = None) -> bytes:
        """Return the body of a 200 answer, after as many attempts as it takes and is allowed.

        `within_s` bounds all of them together. Raises `ProviderError`, naming endpoint and status.
        """
        backoff = Backoff(self._attempts)
        ends_at = None if within_s is None else self._clock.monotonic() + within_s
        while True:
            left_s = None if ends_at is None else max(ends_at - self._clock.monotonic(), 0.001)
            try:
                status, retry_after, answer = self._exchange(body, limit_bytes=limit_bytes, left_s=left_s)
            except OSError as error:
                pause_s = self._affordable(backoff.pause_s(None), ends_at)
                if pause_s is None:
                    raise self._no_answer(error, ends_at) from error
            else:
                if status == 200:
                    return answer
                pause_s = self._affordable(backoff.pause_s(status, retry_after), ends_at)
                if pause_s is None:
                    raise ProviderError(self._refusal(status), charged=False)
            self._sleep(min(pause_s, _LONGEST_PAUSE_S))

    def _affordable(self, pause_s: float | None, ends_at: float | None) -> float | None:
        """Return the pause, None where nothing of the time would be left after it."""
        if pause_s is None or ends_at is None:
            return pause_s
        return pause_s if min(pause_s, _LONGEST_PAUSE_S) < ends_at - self._clock.monotonic() else None

    def _no_answer(self, error: OSError, ends_at: float | None) -> ProviderError:
        tried = f" in {self._attempts} attempts"
        if ends_at is not None:
            tried = " in time" if isinstance(error, TimeoutError) else ""
        return ProviderError(
            f"{self.where} did not answer{tried} "
            f"({type(error).__name__}: {error}); check the base URL and the network.",
            charged=isinstance(error, TimeoutError),
        )

    def _exchange(
        self, body: bytes, *, limit_bytes: int, left_s: float | None
    ) -> tuple[int, str | None, bytes]:
        """Make one request; return (status, `Retry-After`, body of a 200 answer)."""
        # Imported late: it takes 22 ms, half of what this whole package costs, and few stores have an
        # endpoint.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        timeout_s = self._timeout_s if left_s is None else min(self._timeout_s, left_s)
        deadline = self._clock.monotonic() + timeout_s
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self.host, self._port, timeout=timeout_s)
        try:
            connection.request("POST", self._path, body=body, headers=self._headers)
            with connection.getresponse() as response:
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
                    f"{self.where} sent over {limit_bytes} bytes, more than its answer needs."
                )
            if self._clock.monotonic() > deadline:
                raise TimeoutError(f"no whole answer in {self._timeout_s} s")
        if response.length:
            raise ConnectionError(f"{response.length} bytes of the answer are missing")
        return b"".join(parts)

    def _refusal(self, status: int) -> str:
        if 300 <= status < 400:
            return f"{self.where} answered {status}; redirects are not followed: give the final base URL."
        hint = self._hints.get(
            status, "The endpoint is failing; try later." if status >= 500 else "Check the base URL."
        )
        return f"{self.where} answered {status}. {hint}"


def _place(base_url: str) -> tuple[bool, str, int, str]:
    """Return (https?, host, port, path)."""
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
    return secure, parts.hostname or "", port or (443 if secure else 80), parts.path.rstrip("/")


def _credential(api_key: str | None) -> dict[str, str]:
    if api_key is None:
        return {}
    if not api_key or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        # Said without the key: it must not reach a log, not even a broken one.
        raise InvalidInput("The API key is empty, or holds a space, a line end or a character beyond ASCII.")
    return {"Authorization": f"Bearer {api_key}"}
