"""The contract under which an agent lives, as far as its memory goes (document 2, section 12.4 to 12.8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from enum import StrEnum
from typing import Final, cast

from hexad.core.arguments import quoted
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, LimitExceeded

MIN_WARM_QUOTA_TOKENS: Final = 100_000
MIN_COLD_STORAGE_BYTES: Final = 100 * 1024 * 1024
MIN_CONTEXT_WINDOW_TOKENS: Final = 8_192

MINIMUMS: Final[Mapping[str, int]] = {
    "warm_quota_tokens": MIN_WARM_QUOTA_TOKENS,
    "cold_storage_bytes": MIN_COLD_STORAGE_BYTES,
    "context_window_tokens": MIN_CONTEXT_WINDOW_TOKENS,
}
"""What every agent is due, with a contract or without: the deployment group's minimums."""
_MOST: Final[Mapping[str, int]] = {
    "warm_quota_tokens": (1 << 62),
    "cold_storage_bytes": (1 << 62),
    "context_window_tokens": (1 << 31) - 1,
}
_DEPTH_LIMIT: Final = 32


class LimitSource(StrEnum):
    """Where a limit comes from."""

    CONTRACT = "contract"
    MINIMUM = "minimum"  # the deployment group's, where the contract says nothing, or there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleContract:
    """What an agent's memory may hold: tokens pinned, bytes of COLD records, tokens of a context window.

    `sources` says for each limit whether the contract or the minimum set it; `active` whether there is a contract.
    `document` is the contract as it was given, whatever else it says.
    """

    warm_quota_tokens: int = MIN_WARM_QUOTA_TOKENS
    cold_storage_bytes: int = MIN_COLD_STORAGE_BYTES
    context_window_tokens: int = MIN_CONTEXT_WINDOW_TOKENS
    active: bool = False
    sources: Mapping[str, LimitSource] = field(
        default_factory=lambda: dict.fromkeys(MINIMUMS, LimitSource.MINIMUM)
    )
    document: Mapping[str, JSONValue] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the limits with their sources as JSON, and the contract as it was given."""
        return as_json(
            self,
            "active",
            "warm_quota_tokens",
            "cold_storage_bytes",
            "context_window_tokens",
            "sources",
            "document",
        )


def parse_contract(fields: Mapping[str, object]) -> LifecycleContract:
    """Return the contract that a mapping says, its limits below `resources.memory`; what else it says is kept.

    Raises `LimitExceeded` for a limit below that, `InvalidInput` for what is no number or no JSON.
    """
    if not isinstance(fields, Mapping):
        raise InvalidInput(f"The contract {quoted(fields)} is no mapping; give one, or the path of a file.")
    document = cast("dict[str, JSONValue]", _json(fields, "the contract"))
    memory = _section(_section(document, "resources", "resources"), "memory", "resources.memory")
    limits = {name: _limit(name, memory[name]) for name in MINIMUMS if name in memory}
    return LifecycleContract(
        **(dict(MINIMUMS) | limits),
        active=True,
        sources={name: LimitSource.CONTRACT if name in limits else LimitSource.MINIMUM for name in MINIMUMS},
        document=document,
    )


def check_placed(contract: LifecycleContract) -> None:
    """Raise `InvalidInput` for a contract that sets no limit because those it names stand elsewhere."""
    if LimitSource.CONTRACT in contract.sources.values():
        return
    for place in ((), ("resources",), ("memory",)):
        section: JSONValue = dict(contract.document)
        for name in place:
            section = section.get(name) if isinstance(section, Mapping) else None
        for name in MINIMUMS:
            if isinstance(section, Mapping) and name in section:
                raise InvalidInput(
                    f"The contract's {'.'.join([*place, name])} is no limit; it belongs below resources.memory: "
                    f'{{"resources": {{"memory": {{"{name}": …}}}}}}.'
                )


def _section(within: Mapping[str, JSONValue], name: str, place: str) -> Mapping[str, JSONValue]:
    section = within.get(name, {})
    if not isinstance(section, Mapping):
        raise InvalidInput(f"The contract's {place} = {quoted(section)} is no mapping.")
    return section


def _limit(name: str, value: JSONValue) -> int:
    least, most = MINIMUMS[name], _MOST[name]
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    if isinstance(value, bool) or not (isinstance(value, int) or whole):
        raise InvalidInput(
            f"The contract's resources.memory.{name} = {quoted(value)} is no whole number; give one of at least "
            f"{least:,}, the deployment group's minimum."
        )
    number = int(cast("float", value))
    if not least <= number <= most:
        bound = (
            f"less than the deployment group's minimum of {least:,}"
            if number < least
            else f"more than {most:,}"
        )
        raise LimitExceeded(f"The contract's resources.memory.{name} = {quoted(value)} is {bound}.")
    return number


def _json(value: object, place: str, depth: int = 0) -> JSONValue:
    """Return a copy that is JSON through and through; TOML's dates and times become texts."""
    if depth > _DEPTH_LIMIT:
        raise InvalidInput(f"The contract is nested more than {_DEPTH_LIMIT} deep at {place[:80]}.")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"The contract holds {quoted(value)} at {place[:80]}; no JSON can say that.")
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidInput(f"The contract has a key that is no text at {place[:80]}.")
        return {_text(key, place): _json(item, f"{place}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, place, depth + 1) for item in value]
    raise InvalidInput(f"The contract holds {quoted(value)} at {place[:80]}, which is no JSON.")


def _text(value: str, place: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The contract holds half of a character at {place[:80]!r}; write it in UTF-8."
        ) from error
    return value
