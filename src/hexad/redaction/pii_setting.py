"""The setting that says which personal data are taken out."""

from __future__ import annotations

from enum import StrEnum

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput


class Pii(StrEnum):
    """The setting `[privacy] pii`: which personal data are taken out of every text before it is stored."""

    SENSITIVE = "sensitive"
    """What check digits or structure prove: numbers of payment cards, IBANs, US social security numbers."""
    ALL = "all"
    """Everything that has a detector: e-mail addresses, telephone numbers and IP addresses too."""
    KEEP = "keep"
    """Nothing: the project has opted in to storing them. A space's policy may still ask for some."""


def parse_pii(value: str) -> Pii:
    """Return the choice of that name; raises `InvalidInput` for one that there is not."""
    try:
        return Pii(value)
    except ValueError:
        valid = ", ".join(member.value for member in Pii)
        raise InvalidInput(f"pii = {quoted(value)} is not one of {valid}.", argument="pii") from None
