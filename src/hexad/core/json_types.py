"""What JSON can hold, as types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

JSONValue = None | bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"]


JSONObject = Mapping[str, JSONValue]
