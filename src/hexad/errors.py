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
└── AccessDenied

A message says what was wrong, with the value, and what to do about it.
"""

from __future__ import annotations


class HexadError(Exception):
    """Base of every error that Hexad raises on purpose."""

    exit_code = 1


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

    def __init__(self, message: str, *, charged: bool = True) -> None:
        super().__init__(message)
        self.charged = charged


class AccessDenied(HexadError):
    """The actor may not do this."""
