"""Ids of sessions, events and concepts, and roles: how long they may be, and what they may hold."""

from __future__ import annotations

import re
from typing import Final

from hexad.core.arguments import quoted, require_encodable
from hexad.errors import InvalidInput

SURROGATE: Final = re.compile("[\ud800-\udfff]")

NAME_CHARS_LIMIT: Final = 512
"""Longest id of a session, an event or a concept, and longest role."""


def check_name(value: object, what: str) -> str:
    """Return an id of a session, an event or a concept, or a role, as it is; raises `InvalidInput`."""
    if not isinstance(value, str) or not value or len(value) > NAME_CHARS_LIMIT:
        raise InvalidInput(
            f"{what} = {quoted(value)} cannot be used; give a text of 1 to {NAME_CHARS_LIMIT} characters.",
            argument=what,
        )
    require_encodable(value, what)
    return value
