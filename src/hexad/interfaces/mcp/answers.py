"""Answers as an agent reads them: every token of what is empty is one too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_blanks(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say something: no nulls, empty texts, lists and objects.

    >>> without_blanks({"id": "m", "tags": [], "pinned": False, "note": None})
    {'id': 'm', 'pinned': False}
    """
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}
