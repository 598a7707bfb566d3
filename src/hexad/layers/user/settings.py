"""What a project says of the user layer in `hexad.toml`, and what the user's own file says they prefer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput

DRIFT_PROJECTS: Final = 5
"""After so many projects without it a preference becomes less sure."""
_MOST_PROJECTS: Final = 1_000
_MOST_PREFERENCES: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """The table `[user]`: whether the project takes part in learning, whether an encrypted one may write to a plain
    layer, and after how many projects without it a preference becomes less sure.
    """

    learning: bool = True
    allow_plain: bool = False
    drift_projects: int = DRIFT_PROJECTS


def parse_user_settings(table: Mapping[str, object], file: str) -> UserSettings:
    """Return what a table `[user]` says; raises `InvalidInput`, naming `file`, for what does not belong there."""
    known = UserSettings.__slots__
    for name, value in table.items():
        if name not in known:
            raise InvalidInput(f"[user] in {file}: unknown setting {name!r}; known are {', '.join(known)}.")
        if name == "drift_projects":
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not 1 <= cast("int", value) <= _MOST_PROJECTS:
                raise InvalidInput(
                    f"[user] in {file}: {name} = {quoted(value)} should be a whole number from 1 to {_MOST_PROJECTS:,}."
                )
        elif not isinstance(value, bool):
            raise InvalidInput(f"[user] in {file}: {name} = {quoted(value)} should be true or false.")
    return UserSettings(**cast("dict[str, bool]", dict(table)))


def parse_preferences(table: Mapping[str, object], file: str) -> dict[str, tuple[str, ...]]:
    """Return the preferences that a file states: a name and a value, or a list of values that all hold.

    >>> parse_preferences({"db": "Postgres", "language": ["Python", "Rust"]}, "preferences.toml")
    {'db': ('Postgres',), 'language': ('Python', 'Rust')}
    """
    if len(table) > _MOST_PREFERENCES:
        raise InvalidInput(f"{file} states {len(table):,} preferences; at most {_MOST_PREFERENCES} are read.")
    found = {}
    for name, value in table.items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(item, str) and item.strip() for item in values):
            raise InvalidInput(f"{file}: {name} = {quoted(value)} should be a text, or a list of texts.")
        found[name] = tuple(values)
    return found
