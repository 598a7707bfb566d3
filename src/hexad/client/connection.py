"""`hexad.connect`: a store behind `hexad serve`, with the verbs of `hexad.open`."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast
from urllib.parse import urlsplit

from hexad.client.arguments import argument_json, query_pairs
from hexad.client.problems import error_of
from hexad.client.proxies import CurrentSessions, facade_class
from hexad.client.verbs import ROOT, Verb, parameters_of
from hexad.client.wire import MEDIA_TYPE, REDACTED_HEADER, decode
from hexad.config import captures_contents, connection_token, load_settings
from hexad.core.arguments import parse_path, parse_seconds, quoted, read_regular
from hexad.core.json_types import JSONValue
from hexad.core.redactions import listening
from hexad.core.tracing import CLIENT, attach, span
from hexad.engine import Hexad
from hexad.errors import HexadError, InvalidInput, NotFound, ServerUnreachable
from hexad.privacy.report import ExportItem
from hexad.spaces.bundles.hook import ContextHook

if TYPE_CHECKING:
    import httpx2

TIMEOUT_S: Final = 60.0
"""How long a call may take before it is given up."""
_TOKEN_BYTES: Final = 4_096
_PORTS: Final = {"http": 80, "https": 443}
ATTRIBUTES: Final = (
    "spaces",
    "quarantine",
    "session",
    "project",
    "user",
    "governance",
    "facts",
    "honeycomb",
    "graph",
    "xdb",
)


class Address:
    """Where a server is, how it is asked, and how its answers are read; it sends nothing itself."""

    def __init__(
        self, url: str, *, token: str | Path | None, timeout_s: float, certificate: str | Path | None
    ) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InvalidInput(
                f"url = {quoted(url)} cannot be used; give an address such as http://127.0.0.1:8765.",
                argument="url",
            )
        self.url = url.rstrip("/")
        place = urlsplit(self.url)
        try:
            port = place.port or _PORTS[place.scheme]
        except ValueError as error:
            raise InvalidInput(
                f"url = {quoted(url)} cannot be used ({error}); give an address such as http://127.0.0.1:8765.",
                argument="url",
            ) from error
        self._place: dict[str, str | int] = {"server.address": place.hostname or "", "server.port": port}
        self.options: dict[str, Any] = {
            "base_url": self.url,
            "timeout": parse_seconds(timeout_s, "timeout_s"),
            "trust_env": False,
            "headers": {"Authorization": f"Bearer {read_token(token)}", "Accept": MEDIA_TYPE},
        }
        if certificate is not None:
            self.options["verify"] = _trusting(parse_path(certificate, "certificate"))

        if load_settings(None).otel:
            attach(contents=captures_contents())

    def request(self, verb: Verb, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request that a call is."""
        arguments = {name: argument_json(value, name) for name, value in values.items()}
        if "POST" in (verb.method, verb.alias):
            return {"method": "POST", "url": verb.path, "json": arguments}
        pairs = query_pairs(parameters_of(verb), arguments)
        return {"method": verb.method, "url": verb.path, "params": pairs}

    def span(self, verb: Verb) -> AbstractContextManager[object]:
        """Time a call; nothing of its arguments is told."""
        return span(f"{CLIENT}{verb.name}", **self._place)

    def require_open(self, client: httpx2.Client | httpx2.AsyncClient) -> None:
        """Raise `InvalidInput` once the connection is closed."""
        if client.is_closed:
            raise InvalidInput(f"The connection to {self.url} is closed; connect again.")

    def answer(self, response: httpx2.Response) -> Any:
        """Return what a server answered; raises the error that it answered with."""
        try:
            content = json.loads(response.content)
        except ValueError:
            content = None
        if response.status_code != 200 or not response.headers.get("content-type", "").startswith(MEDIA_TYPE):
            raise error_of(content, response.status_code)
        if (heard := listening()) is not None:
            heard.read(response.headers.get(REDACTED_HEADER, ""))
        return decode(content)

    def unreachable(self, error: Exception) -> HexadError:
        """Return the error for a server that was not reached, or went away."""
        httpx2 = load_httpx()
        is_unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        done = "Nothing was done." if is_unsent else "Whether it did what was asked is not known."
        return ServerUnreachable(
            f"{self.url} did not answer ({type(error).__name__});",
            remedy=f"look whether `hexad serve` runs there. {done}",
        )


def _trusting(certificate: Path) -> ssl.SSLContext:
    """Return what trusts a certificate, and whatever it has signed; raises `InvalidInput` for what is none."""
    if certificate.exists() and not certificate.is_file():  # a pipe would be waited for
        raise InvalidInput(
            f"certificate = {str(certificate)!r} is a folder, a pipe or a device; give a file in PEM form.",
            argument="certificate",
        )
    try:
        return ssl.create_default_context(cafile=str(certificate))
    except OSError as error:  # which the errors of `ssl` are too
        raise InvalidInput(
            f"certificate = {str(certificate)!r} cannot be used ({error.strerror or error}); give a file in PEM form.",
            argument="certificate",
        ) from error


def read_token(token: str | Path | None) -> str:
    """Return a token given as text, as the path of its file, or by HEXAD_TOKEN; raises `InvalidInput`."""
    if token is None:
        token = connection_token()
    if token is None:
        raise InvalidInput(
            "A server asks for a token;",
            argument="token",
            remedy="give it as text or as the `Path` of its file, or set HEXAD_TOKEN.",
        )
    if isinstance(token, Path):
        token = _content(token)
    if not isinstance(token, str) or not (
        token.strip().isascii() and token.strip().isprintable() and token.strip()
    ):
        raise InvalidInput("token cannot be used; give what `hexad serve token add` shows.", argument="token")
    return token.strip()


def _content(file: Path) -> str:
    try:
        return read_regular(parse_path(file, "token"), limit=_TOKEN_BYTES).decode("ascii", "replace")
    except FileNotFoundError as error:
        raise NotFound(
            f"There is no file {str(file)!r}; `hexad serve` makes it when it first starts."
        ) from error
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error.strerror}.", argument="token") from error


def export_params(scope: str | None, session: str | None, subject: str | None) -> dict[str, str]:
    """Return the parameters of an export that were given."""
    values = {"scope": scope, "session": session, "subject": subject}
    return {name: value for name, value in values.items() if value is not None}


def export_item(line: str) -> ExportItem:
    """Return a line of an export."""
    return cast("ExportItem", decode(json.loads(line)))


def load_httpx() -> ModuleType:
    """Return the package that sends requests; raises `HexadError` where the extra is not installed."""
    try:
        import httpx2
    except ModuleNotFoundError as error:
        raise HexadError(
            f"A connection needs the package {error.name!r}; install the extra: pip install 'hexad[client]'."
        ) from error
    return httpx2


class _Sending:
    """Sends calls and waits for their answers."""

    def __init__(self, address: Address) -> None:
        httpx2 = load_httpx()
        self.address = address
        self.refusals = (httpx2.TransportError,)
        self.client = httpx2.Client(**address.options)

    def __repr__(self) -> str:
        return repr(self.address.url)

    def send(self, verb: Verb, values: Mapping[str, Any]) -> Any:
        """Send a call and return its answer; raises what the call raises, and `ServerUnreachable`."""
        self.address.require_open(self.client)
        with self.address.span(verb):
            try:
                response = self.client.request(**self.address.request(verb, values))
            except self.refusals as error:
                raise self.address.unreachable(error) from error
            return self.address.answer(response)


class RemoteHexad(facade_class("")):  # type: ignore[misc]  # made from the calls of an open store
    """A store behind a server, with the calls of an open one; made by `hexad.connect`, for all threads."""

    def __init__(self, address: Address) -> None:
        self._sending = _Sending(address)
        super().__init__(self._sending, CurrentSessions())
        for name in ATTRIBUTES:
            setattr(self, name, facade_class(name)(self._sender, self._sessions))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._sending.address.url

    def close(self) -> None:
        """Close the connection; the server goes on."""
        self._sending.client.close()

    def use_context(
        self, project: str, topic: Any, options: Mapping[str, JSONValue] | str | None = None, **more: Any
    ) -> ContextHook:
        """Return the hook before an agent's step, as `Hexad.use_context` does; each of its recalls asks the server."""
        ask = super().use_context
        return ContextHook(lambda about: ask(project, about, options, **more), topic)

    def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> Iterator[ExportItem]:
        """Iterate over everything that is held about a scope, or about a person, as it comes in."""
        address, params = self._sending.address, export_params(scope, session, subject)
        address.require_open(self._sending.client)
        try:
            with self._sending.client.stream("GET", f"{ROOT}/export", params=params) as response:
                if response.status_code != 200:
                    response.read()
                    address.answer(response)
                yield from map(export_item, response.iter_lines())
        except self._sending.refusals as error:
            raise address.unreachable(error) from error


def connect(
    url: str,
    *,
    token: str | Path | None = None,
    timeout_s: float = TIMEOUT_S,
    certificate: str | Path | None = None,
) -> Hexad:
    """Return a store behind `hexad serve`: the calls of an open one, with the same values and the same errors.

    `token` is the text that `hexad serve token add` shows, or the `Path` of a file that holds it; None is what
    HEXAD_TOKEN has. `certificate` is a file with the server's own certificate, where no authority signed it. What
    names files or takes functions is not served: docs/http.md has the list. Besides what a call raises there is
    `ServerUnreachable`, after which it is not known whether the server did what was asked, unless it could not be
    connected to; no call is sent twice.
    """
    address = Address(url, token=token, timeout_s=timeout_s, certificate=certificate)
    return cast("Hexad", RemoteHexad(address))
