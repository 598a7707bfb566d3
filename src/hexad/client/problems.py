"""Errors as they travel: `application/problem+json` (RFC 9457) with the argument, the reason and the remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hexad import errors
from hexad.core.json_types import JSONValue
from hexad.errors import HexadError, NotFound, ProviderError, ServerUnreachable

PROBLEM_TYPE: Final = "application/problem+json"
_TYPE: Final = "urn:hexad:error:"
_STATUS: Final[Mapping[str, int]] = {
    "InvalidInput": 422,
    "NotFound": 404,
    "Conflict": 409,
    "LimitExceeded": 413,
    "BudgetExceeded": 429,
    "QuotaExceeded": 507,
    "StoreLocked": 503,
    "StorageFailure": 507,
    "IntegrityError": 500,
    "ProviderError": 424,
    "AccessDenied": 403,
    "HexadError": 500,
}
"""The status of an error, by the nearest of its classes."""
_BEFORE_REMEDY: Final = ";"
"""Ends a reason whose sentence the remedy ends; in a problem, where both stand by themselves, it is left out."""
_ENDS: Final = (".", "?", "!", ":", _BEFORE_REMEDY)
_CALL: Final = re.compile(r"^(?:hx\.)?([a-z_.]+)(?:\(.*\))?$")
_ARGUMENT: Final = re.compile(r"([a-z_]+)=(.*)", re.DOTALL)
_COMMAND: Final = re.compile(r"`(hexad [a-z]+(?: [a-z]+)*)`")
_JSON: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}


def status_of(error: HexadError) -> int:
    """Return the HTTP status that an error is answered with."""
    return next(_STATUS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _STATUS)


def problem_of(
    error: HexadError, name_of: Mapping[str, str] | None = None, *, is_exact: bool = False
) -> dict[str, JSONValue]:
    """Return an error as a problem; `name_of` has HTTP's words for the calls and commands of a remedy.

    With `is_exact`, for a client of ours, reason and remedy are those of the library, whose words it has itself.
    """
    words = name_of or {}
    kind = type(error).__name__

    def spoken(text: str) -> str:
        return _COMMAND.sub(lambda match: f"`{words.get(match[1], match[1])}`", text)

    detail = spoken(error.message(lambda reference: _named(reference, words)))
    reason, remedy = error.reason, error.remedy
    if not is_exact:
        reason = spoken(reason)
        remedy = detail.removeprefix(reason).lstrip() if remedy else ""
    if isinstance(error, NotFound) and not detail.endswith((".", "?")):  # document 1's words, and no others
        listed = f"`{_named('memories', words)}` lists what is there."
        detail = f"{detail}; {listed}"
        remedy = remedy if is_exact else listed
    return {
        "type": f"{_TYPE}{kind}",
        "title": kind,
        "status": status_of(error),
        "detail": detail,
        "reason": reason.removesuffix(_BEFORE_REMEDY),
        **({"remedy": remedy} if remedy else {}),
        **({"argument": error.argument} if error.argument else {}),
    }


def _named(reference: str, words: Mapping[str, str]) -> str:
    if reference in words:
        return words[reference]
    if " " in reference.partition("=")[0]:
        return ""  # what only a program can heed
    argument = _ARGUMENT.fullmatch(reference)
    if argument is not None:  # as it stands in a body
        value = argument[2].replace("'", '"')
        return f'"{argument[1]}": {_JSON.get(value, value)}' if value else f'"{argument[1]}"'
    match = _CALL.match(reference)
    return reference if match is None else words.get(match[1], reference)


def error_of(problem: object, status: int) -> HexadError:
    """Return the error that a server answered with, of the class that the same call of an open store raises."""
    if not isinstance(problem, Mapping) or not str(problem.get("type", "")).startswith(_TYPE):
        return ServerUnreachable(
            f"The server answered with status {status} and no error of Hexad;",
            remedy="look whether the address is that of `hexad serve`.",
        )
    kind = getattr(errors, str(problem["type"]).removeprefix(_TYPE), None)
    reason, remedy = str(problem.get("reason", "")), str(problem.get("remedy", ""))
    if remedy and not reason.endswith(_ENDS):
        reason += _BEFORE_REMEDY
    if not isinstance(kind, type) or not issubclass(kind, HexadError):
        kind = HexadError
    if issubclass(kind, ProviderError):
        return kind(reason, remedy=remedy)
    argument: Any = problem.get("argument")
    return kind(reason, argument=argument, remedy=remedy)
