"""A call's arguments held against its tool's schema: what is wrong is said by name, with what to give instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Final

import hexad
from hexad.core.arguments import require_whole
from hexad.interfaces.mcp.schemas import Schema, ToolSchema

_NAMES: Final = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_SHOWN: Final = 80
_SLIP: Final = 0.75
"""What looks so much alike is a slip of the finger; below that a word with the same meaning is nearer."""
_LIKENESS_LEAST: Final = 0.6
_SAME: Final = (
    ("text", "content", "message", "messages", "statement", "fact", "memory", "body", "note"),
    ("query", "task", "topic", "question", "q", "search", "prompt", "text"),
    ("title", "decision", "name", "text"),
    ("rationale", "reason", "why", "because", "description"),
    ("alternatives", "options", "instead_of", "rejected"),
    ("limit", "k", "n", "top_k", "count", "size", "max_results"),
    ("max_tokens", "budget", "tokens", "max_length"),
    ("id", "id_or_path", "memory", "memory_id", "uuid", "ids"),
    ("space", "namespace", "collection", "scope", "project"),
    ("kind", "kinds", "type", "category", "categories"),
    ("tag", "tags", "labels", "keywords"),
    ("since", "from", "after", "start", "start_date", "valid_from"),
    ("until", "to", "before", "end", "end_date", "valid_to"),
    ("data_subjects", "subject", "user", "user_id", "person", "people"),
    ("conversation", "session_id", "session", "thread", "thread_id", "chat_id"),
    ("target", "topic", "path", "file", "symbol", "function", "location"),
    ("cites", "citations", "references", "files"),
    ("links", "references", "files", "sources"),
    ("action", "command", "operation", "question"),
    ("steps", "todos", "plan"),
    ("outcome", "result", "status"),
)
"""Words for the same: of a name that no argument of a tool has, the first of its rows that one has is meant."""


def check_arguments(tool: ToolSchema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given; null counts as not given.

    Raises `InvalidInput` for a name that the tool does not have, for one that is missing, and for a value of another
    type. What a value means, and whether it can be used, the call itself says.
    """
    known = {}
    for name, value in arguments.items():
        if name not in tool.properties:
            nearest = _meant(name, tool.properties)
            hint = f" Did you mean {nearest!r}?" if nearest else ""
            raise hexad.InvalidInput(
                f"{tool.name} has no argument {_short(name)}.{hint} It takes {', '.join(tool.properties)}.",
                argument=name,
            )
        if value is not None:
            known[name] = _checked(name, value, tool.properties[name])
    for name in tool.required:
        if name not in known:
            raise hexad.InvalidInput(f"{tool.name} needs the argument {name!r}; give it.", argument=name)
    return known


def _meant(name: str, known: Collection[str]) -> str | None:
    """Return the argument that somebody meant with another name; None where none is near."""
    words = name.replace("-", "_").lower()
    if slip := get_close_matches(words, known, n=1, cutoff=_SLIP):
        return slip[0]
    for group in _SAME:
        if words in group and (same := next((word for word in group if word in known), None)):
            return same
    parts = [other for other in known if (words and words in other.split("_")) or other in words.split("_")]
    return next(iter(parts or get_close_matches(words, known, n=1, cutoff=_LIKENESS_LEAST)), None)


def _checked(name: str, value: Any, schema: Schema) -> Any:
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "integer" in kinds and isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number
    if kinds and not any(_is(value, kind) for kind in kinds):
        expected = " or ".join(_NAMES[kind] for kind in kinds if kind in _NAMES)
        raise hexad.InvalidInput(f"{name} must be {expected}, not {_short(value)}.", argument=name)
    if isinstance(value, str):
        require_whole(value, name)
    choices = schema.get("enum")
    if choices is not None and value not in choices:
        raise hexad.InvalidInput(
            f"{name} = {_short(value)} is not one of {', '.join(choices)}.", argument=name
        )
    if isinstance(value, list) and "items" in schema:
        return [_checked(f"{name}[{at}]", item, schema["items"]) for at, item in enumerate(value)]
    if isinstance(value, dict) and "properties" in schema:
        for field in schema.get("required", ()):
            if field not in value:
                raise hexad.InvalidInput(f"{name} needs the field {field!r}; give it.", argument=name)
        fields = schema["properties"]
        return {
            field: _checked(f"{name}.{field}", inner, fields[field]) if field in fields else inner
            for field, inner in value.items()
        }
    return value


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
