"""What a project says of consolidation in `hexad.toml`: when it is done, what grows old, how large a layer may get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, cast

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput

LAYERS: Final = ("session", "project", "user", "vector", "graph", "governance")
"""What has a size, and may have a quota."""
WEEKLY: Final = "weekly"
USER_EVERY: Final = timedelta(days=30)
_MONTH: Final = timedelta(days=365.25 / 12)
_BOUNDS: Final = {
    "archive_months": 1_200.0,
    "drop_below": 1.0,
    "drop_after_days": 36_500.0,
    "session_days": 36_500.0,
}
_MOST: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """The table `[consolidation]`. `nightly` is True, False or `"weekly"`; a time of 0 means never."""

    nightly: bool | str = True
    monthly: bool = True
    sessions: bool = True
    archive_months: float = 12.0
    drop_below: float = 0.2
    drop_after_days: float = 30.0
    session_days: float = 180.0
    quotas: Mapping[str, int] = field(default_factory=dict)
    quota_bytes: Mapping[str, int] = field(default_factory=dict)

    @property
    def every(self) -> timedelta | None:
        """How often the project's job runs by itself; None where it does not."""
        return timedelta(days=7) if self.nightly == WEEKLY else timedelta(days=1) if self.nightly else None

    @property
    def user_every(self) -> timedelta | None:
        """How often the user's job runs by itself; None where it does not."""
        return USER_EVERY if self.monthly else None

    @property
    def archive_after(self) -> timedelta | None:
        """After how long without a touch a memory is archived; None for never."""
        return self.archive_months * _MONTH if self.archive_months else None

    @property
    def drop_after(self) -> timedelta | None:
        """After how long unread what hardly matters is dropped; None for never."""
        return timedelta(days=self.drop_after_days) if self.drop_after_days else None

    @property
    def session_after(self) -> timedelta | None:
        """After how long a working set that ended is removed; None for never."""
        return timedelta(days=self.session_days) if self.session_days else None


def parse_consolidation(table: Mapping[str, object], file: str) -> ConsolidationSettings:
    """Return what a table `[consolidation]` says; raises `InvalidInput`, naming `file`, for what does not belong there.

    >>> parse_consolidation({"nightly": "weekly", "archive_months": 6}, "hexad.toml").every.days
    7
    """
    known = ConsolidationSettings.__slots__
    found: dict[str, object] = {}
    for name, value in table.items():
        if name not in known:
            raise InvalidInput(
                f"[consolidation] in {file}: unknown setting {name!r}; known are {', '.join(known)}."
            )
        found[name] = _value(name, value, f"[consolidation] in {file}: {name} = {quoted(value)}")
    return ConsolidationSettings(**found)  # type: ignore[arg-type]  # each was looked at above


def _value(name: str, value: object, said: str) -> object:
    if name in _BOUNDS:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= cast("float", value) <= _BOUNDS[name]:
            raise InvalidInput(f"{said} should be a number from 0 to {_BOUNDS[name]:,g}.")
        return float(cast("float", value))
    if name in ("quotas", "quota_bytes"):
        return _quotas(value, said)
    if name == "nightly" and value == WEEKLY:
        return value
    if not isinstance(value, bool):
        allowed = 'true, false or "weekly"' if name == "nightly" else "true or false"
        raise InvalidInput(f"{said} should be {allowed}.")
    return value


def _quotas(value: object, said: str) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{said} should be a table, such as {{project = 50000}}.")
    for layer, most in value.items():
        if layer not in LAYERS:
            raise InvalidInput(f"{said}: unknown layer {quoted(layer)}; known are {', '.join(LAYERS)}.")
        whole = isinstance(most, int) and not isinstance(most, bool)
        if not whole or not 1 <= most <= _MOST:
            raise InvalidInput(f"{said}: {layer} = {quoted(most)} should be a whole number of at least 1.")
    return dict(value)
