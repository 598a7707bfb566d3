"""Items of OpenAI's Responses API that are no messages: calls of tools, their outputs, and what a model thought."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hexad.core.arguments import quoted
from hexad.errors import InvalidMemory

_NOT_SAID: Final = frozenset(
    {
        "reasoning",
        "compaction",
        "compaction_trigger",
        "item_reference",
        "additional_tools",
        "configuration_update",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "tool_search_output",
        "program",
    }
)
"""Types of items that nobody said to anybody: a model's thoughts, and what programs tell each other."""
_CALL: Final = "_call"
_OUTPUT: Final = "_output"
_FORMS: Final[Mapping[str, tuple[type, ...]]] = {
    "name": (str,),
    "arguments": (str, Mapping),
    "input": (str,),
    "output": (str, list, tuple, Mapping),
}
"""Forms of the fields that are read, of items that programs put together themselves."""
_OUTPUTS: Final = ("output", "outputs", "results", "result", "error")
_PICTURES: Final = "image_generation_call"
"""The type of an item whose result is no text, but the bytes of a picture."""


def is_item(entry: Mapping[str, Any]) -> bool:
    """Whether this is an item of a type that is known, and no message."""
    kind = entry.get("type")
    return (
        "role" not in entry
        and isinstance(kind, str)
        and (kind in _NOT_SAID or kind.endswith((_CALL, _OUTPUT)))
    )


def message_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as a message of a chat model: a call is the model's, an output its tool's.

    What nobody said is a message that says nothing. Raises `InvalidMemory` for a name, arguments or output of another
    form than the items have.
    """
    kind = str(item["type"])
    for name, forms in _FORMS.items():
        given = item.get(name)
        if given is not None and not isinstance(given, forms):
            raise InvalidMemory(
                f"The {name} of a {kind} must not be {quoted(given)}; give what the API gave."
            )
    if kind in _NOT_SAID:
        return {"role": "assistant", "content": ""}
    said = output_of(item)
    if kind.endswith(_OUTPUT):
        return {"role": "tool", "content": said}
    if said:  # a tool that runs where the model does: its call and what came of it are one item
        return {"role": "tool", "content": f"{call_text(item)}\n{said}"}
    return {"role": "assistant", "content": call_text(item)}


def output_of(item: Mapping[str, Any]) -> str:
    """Return the words of what came of a call, of its own item or of one that has both; "" where there are none."""
    if item.get("type") == _PICTURES:
        return ""
    return output_text(next((item[name] for name in _OUTPUTS if item.get(name)), None))


def call_text(item: Mapping[str, Any]) -> str:
    """Return what was called with what, as text."""
    named = ("arguments", "input", "action", "actions", "operation", "queries", "code")
    called = next((item[name] for name in named if item.get(name)), "")
    words = called if isinstance(called, str) else json.dumps(called, ensure_ascii=False, default=str)
    return f"{item.get('name') or item.get('type')}({words})"


def output_text(output: object) -> str:
    """Return the words of a message's content, of a tool's output or of a summary; what has none is left out."""
    if isinstance(output, str):
        return output
    if isinstance(output, list | tuple):
        return "\n".join(filter(None, map(output_text, output)))
    if isinstance(output, Mapping):
        words = next((output[name] for name in ("text", "refusal", "logs") if output.get(name)), "")
        printed = [words, output.get("stdout"), output.get("stderr")]
        return "\n".join(text for text in printed if text and isinstance(text, str))
    return ""
