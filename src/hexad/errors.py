"""Every error that Hexad raises on purpose: one tree, one base.

HexadError
├── InvalidInput          a value that the caller gave cannot be used
│   ├── InvalidSpace
│   ├── InvalidMemory
│   └── InvalidTarget
├── NotFound
├── Conflict              the store holds something that contradicts the request
├── LimitExceeded
│   ├── BudgetExceeded
│   └── QuotaExceeded
├── StoreLocked           somebody else holds what this call needs, past its time-out
├── StorageFailure        the disk is full, read-only or failing; nothing of the call was kept
├── IntegrityError        the store's content contradicts itself
│   └── LedgerBroken
├── ProviderError         an embedder or a text generator failed
├── ServerUnreachable     a server of a store did not answer, or is none of ours
└── AccessDenied          a role, a token or a policy does not allow it
    └── UntrustedSettings   a project's file names where texts go, and this user has not trusted it

A message says what was wrong, with the value, and what to do about it. Messages are printed, logged and sent on, so
none repeats a whole text or a key: a long value is cut, what looks like a key is masked.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

VALUE_CHARS_LIMIT: Final = 160
"""So much of a quoted value stands in a message."""
_RUN_CHARS_LIMIT: Final = 400
_RUN_END_CHARS: Final = 80
"""What stands in no quotes, a path for the most part, is told by its two ends where it is longer than anybody reads."""
_KEY_CHARS: Final = 4
_QUOTED: Final = re.compile(
    rf"(?<![^\s=(\[{{:,`])(['\"])(?=\S)((?:(?!\1)[^\\]|\\.){{{VALUE_CHARS_LIMIT},}})\1(?![^\W_])", re.DOTALL
)
_RUN: Final = re.compile(rf"\S{{{_RUN_CHARS_LIMIT + 1},}}")
# What the providers' own keys begin with, and tokens of mixed letters and digits that no word or id of ours is: looked
# at from their first character alone, since what the whole lacks no part of it has.
_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk-|pk-|rk-|xox[a-z]-|gh[a-z]_|glpat-|hf_|npm_|pypi-|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_./+-]{8,}={0,2}"
    r"|(?<![_+-])(?=[A-Za-z0-9_+-]*[a-z])(?=[A-Za-z0-9_+-]*[A-Z])(?=(?:[A-Za-z_+-]*[0-9]){3})[A-Za-z0-9_+-]{24,}={0,2}"
    r")"
)
_OWN_ID: Final = re.compile(r"(?:[a-z]+[-_])+[0-9A-HJKMNP-TV-Z]{26}(?:-\d+)?")
_REFERENCE: Final = re.compile(r"\{([^{}\"][^{}]*)\}")
_PASSWORD: Final = re.compile(r"(:/{1,2}[^\s/:@'\"]*):[^\s/@'\"]+@")


# A value that stands in no quotes must neither steer a terminal nor make a message that nobody can print.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def discreet(message: str) -> str:
    r"""Return a message without whole texts, keys and what steers a terminal.

    >>> discreet("text = '" + "so " * 100 + "' is no time.").count("so ")
    53
    >>> discreet("There is no \x1b[2J.")
    'There is no \\x1b[2J.'
    >>> discreet("Is 'sk" + "-live12345678' a space?")
    "Is 'sk-l…' a space?"
    >>> discreet("There is no file '/" + "a/" * 100 + "notes.md'.").endswith("a/notes.md'.")
    True
    """
    message = printable(message)
    if len(message) > VALUE_CHARS_LIMIT:
        message = _QUOTED.sub(_beginning, message)
        message = _RUN.sub(_two_ends, message)
    return _PASSWORD.sub(r"\1:…@", _KEY.sub(_masked, message))


def printable(message: str) -> str:
    """Return a message with its control characters and halves of characters as Python writes them."""
    return _UNPRINTABLE.sub(lambda match: repr(match[0])[1:-1], message)


def _beginning(match: re.Match[str]) -> str:
    mark, value = match[1], match[2]
    if value.startswith("/"):  # of a path the end says most
        return f"{mark}{value[: VALUE_CHARS_LIMIT // 2]}…{value[-VALUE_CHARS_LIMIT // 2 :]}{mark}"
    return f"{mark}{value[:VALUE_CHARS_LIMIT]}…{mark}"


def _two_ends(match: re.Match[str]) -> str:
    return f"{match[0][: _RUN_CHARS_LIMIT - _RUN_END_CHARS]}…{match[0][-_RUN_END_CHARS:]}"


def _masked(match: re.Match[str]) -> str:
    return match[0] if _OWN_ID.fullmatch(match[0]) else f"{match[0][:_KEY_CHARS]}…"


class HexadError(Exception):
    """Base of every error that Hexad raises on purpose.

    `argument` names the parameter whose value cannot be used, where it is one: a command line or a server calls it by
    the name that its own users know. The message names it too.

    `remedy` ends the message. Calls and arguments stand in it as `{find_tags}` and `{force=True}`, which the message
    has as Python writes them; `message` has them in another surface's words.
    """

    exit_code = 1

    def __init__(self, *args: object, argument: str | None = None, remedy: str = "") -> None:
        words = [discreet(arg) if isinstance(arg, str) else arg for arg in args]
        remedy = printable(remedy)
        self.reason = str(words[0]) if words else ""
        if remedy:
            words[:1] = [_joined(self.reason, remedy, lambda reference: reference)]
        super().__init__(*words)
        self.argument = argument
        self.remedy = remedy

    def message(self, name_of: Callable[[str], str]) -> str:
        """Return the message with what `name_of` says in place of each call and argument of the remedy.

        >>> error = NotFound("There is no tag 5;", remedy="`{find_tags}` lists those there are.")
        >>> str(error)
        'There is no tag 5; `find_tags` lists those there are.'
        >>> error.message(lambda reference: "hexad tags list")
        'There is no tag 5; `hexad tags list` lists those there are.'
        """
        return _joined(self.reason, self.remedy, name_of) if self.remedy else str(self)


def _joined(reason: str, remedy: str, name_of: Callable[[str], str]) -> str:
    return f"{reason} {_REFERENCE.sub(lambda match: name_of(match[1]), remedy)}"


class InvalidInput(HexadError):
    """A value that the caller gave cannot be used; nothing was changed."""

    exit_code = 2


class InvalidSpace(InvalidInput):
    """A space's name or policy cannot be used."""


class InvalidMemory(InvalidInput):
    """A memory's field cannot be stored."""


class InvalidTarget(InvalidInput, ValueError):
    """A request names no target, or more than one; a `ValueError` too, as document 2 has it."""


class NotFound(HexadError):
    """What was asked for by name is not there."""

    exit_code = 3


class Conflict(HexadError):
    """The store holds something that contradicts the request."""

    exit_code = 4


class LimitExceeded(HexadError):
    """A size, count or time limit would be passed; nothing was changed."""

    exit_code = 2


class BudgetExceeded(LimitExceeded):
    """A token or money budget would be passed."""


class QuotaExceeded(LimitExceeded):
    """A storage quota would be passed."""


class StoreLocked(HexadError):
    """Another process holds what this call needs, and did not let go in time."""

    exit_code = 6


class StorageFailure(HexadError):
    """The disk refused: full, read-only or failing. Nothing of the call was kept."""


class IntegrityError(HexadError):
    """The store's content contradicts itself, or is from a version that this one cannot read."""

    exit_code = 5


class LedgerBroken(IntegrityError):
    """The audit ledger's chain does not verify."""


class ProviderError(HexadError):
    """An embedder or a text generator failed, or answered with something unusable.

    `charged` is False when the provider cannot have charged for the attempt: it refused, or was never reached.
    """

    def __init__(self, message: str, *, charged: bool = True, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.charged = charged


class ServerUnreachable(HexadError):
    """A server did not answer, went away, or is none of ours; it says whether it is known that nothing was done."""


class AccessDenied(HexadError):
    """The actor may not do this."""


class UntrustedSettings(AccessDenied):
    """The file of a project says where texts go or which key opens it, and this user has not trusted that yet."""


# What the system refused --------------------------------------------------------------------------------------

_REMEDIES: Final = {
    errno.ENOSPC: "The disk is full; free some space and try again.",
    errno.EDQUOT: "The disk quota is used up; free some space and try again.",
    errno.EROFS: "The file system is read-only; remount it writable or move the store.",
    errno.EIO: "The disk reports an input/output error; check it before going on.",
    errno.EACCES: "This user may not do that; check the owner and the mode of the file and its directory.",
    errno.EPERM: "This user may not do that; check the owner and the mode of the file and its directory.",
    errno.ENOENT: "A folder of it is not there, or was moved or removed meanwhile; make it, or choose another place.",
    errno.ENOTDIR: "A part of the path is a file, not a directory; choose another place.",
    errno.EISDIR: "A folder is in the place of a file; move it away.",
    errno.EEXIST: "Something else is in its place; move it away.",
    errno.EFBIG: "A limit on the size of files is reached (`ulimit -f`, or the file system's); raise it.",
    errno.ENAMETOOLONG: "The file system takes no name or path as long as that; choose a shorter one.",
    errno.ELOOP: "Links in the path lead back to each other, or one is in the place of a file; remove it.",
    errno.EMLINK: "The file system takes no more names in that folder; move the store to another one.",
    errno.ENOLCK: "The file system has no locks left, or none at all; move the store to a local disk.",
    errno.ESTALE: "The network disk does not have it any more; mount it anew, or use a local disk.",
    errno.ENFILE: "Too many files are open on this machine; close some programs.",
    errno.EMFILE: "Too many files are open; raise the limit (`ulimit -n`) or close some stores.",
}


def remedy_for(error: OSError) -> str:
    """Return a sentence that says what to do about `error`."""
    return _REMEDIES.get(error.errno or 0, "Check the disk and the permissions, then try again.")


def failure(doing: str, path: Path, error: OSError) -> StorageFailure:
    """Return the `StorageFailure` for `error`, which arose while `doing` something to `path`."""
    reason = error.strerror or str(error)
    return StorageFailure(f"Cannot {doing} {path}: {reason}. {remedy_for(error)}")
