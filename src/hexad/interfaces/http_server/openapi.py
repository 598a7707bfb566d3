"""What the server says of itself: OpenAPI, from the signatures and the words of the calls."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields, is_dataclass
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import hexad
from hexad.client.problems import PROBLEM_TYPE
from hexad.client.verbs import VERBS, Verb, python_call, signature_of
from hexad.honeycomb.values import Safety
from hexad.interfaces.http_server.bodies import body_schema, query_schema
from hexad.memory.memory import CITATION_FIELDS

_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_COMPONENTS: Final[dict[str, Any]] = {
    "Problem": {
        "type": "object",
        "description": "An error (RFC 9457); `argument` names the parameter whose value cannot be used.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "reason": {"type": "string"},
            "remedy": {"type": "string"},
            "argument": {"type": "string"},
        },
    }
}
_PLAIN: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "Path": "string"}
_ENUMS: Final = {"Safety": Safety}
_ANSWERS: Final = {"use_context": "ProjectContext", "xdb.start_session": "SessionInfo"}
"""What a call answers with here, where that is another than in Python."""
_CONTAINERS: Final = {
    "Timesteps": "list[TimestepRecord]",
    "StreamAnswer[EventRecord]": "list[EventRecord]",
    "StreamAnswer[ActivityBucket]": "list[ActivityBucket]",
    "SessionTotals": "dict[str, Amount]",
}
"""Lists and mappings of a type of their own in Python."""
_REFUSALS: Final = {
    "400": "The request is not what is described here.",
    "401": "The token is missing or not valid.",
    "403": "The token's role or spaces do not allow it.",
    "404": "What was asked for by name is not there.",
    "409": "The store holds something that contradicts the request.",
    "413": "A size, count or time limit would be passed.",
    "415": "The body is not `application/json`.",
    "422": "The store refuses a value; nothing was changed.",
    "424": "An embedder or a text generator failed.",
    "429": "A rate or a budget would be passed.",
    "500": "The store contradicts itself.",
    "503": "Somebody else holds what the call needs.",
    "507": "The disk refused, or a quota would be passed.",
}


def operation(verb: Verb, method: str) -> dict[str, Any]:
    """Return what OpenAPI says of a call."""
    described_call: dict[str, Any] = {
        "tags": [verb.path.split("/")[2]],
        "summary": verb.name,
        "description": inspect.cleandoc(python_call(verb).__doc__ or "").partition("\n\n>>>")[0],
        "responses": {"200": _answer(verb), **refusals()},
    }
    if method == "GET":
        return {**described_call, "parameters": query_schema(verb)}
    schema = body_schema(verb)
    schema.pop("$defs", None)
    content = {"application/json": {"schema": schema}}
    return {**described_call, "requestBody": {"required": bool(schema.get("required")), "content": content}}


def refusals() -> dict[str, Any]:
    """Return the answers that any call may have."""
    return {
        status: {"description": words, "content": {PROBLEM_TYPE: {"schema": _PROBLEM}}}
        for status, words in _REFUSALS.items()
    }


def _answer_kind(verb: Verb) -> str:
    return _ANSWERS.get(verb.name, str(signature_of(verb).return_annotation))


def _answer(verb: Verb) -> dict[str, Any]:
    kind = _answer_kind(verb)
    schema = answer_schema(_CONTAINERS.get(kind, kind))
    return {
        "description": f"What the Python call returns: `{kind}`.",
        "content": {"application/json": {"schema": schema}},
    }


def answer_schema(kind: str) -> dict[str, Any]:
    """Return the schema of an answer, from the type of the Python call as its signature has it.

    >>> answer_schema("list[str]"), answer_schema("Memory | None")["anyOf"][1]
    ({'type': 'array', 'items': {'type': 'string'}}, {'type': 'null'})
    """
    return _schema(ast.parse(kind, mode="eval").body)


def _schema(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.BinOp):
        members = [_schema(node.left), _schema(node.right)]
        return {"anyOf": [part for member in members for part in member.get("anyOf", [member])]}
    if isinstance(node, ast.Constant):
        return {"type": "null"}
    name = ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
    items = node.slice if isinstance(node, ast.Subscript) else None
    if name in ("list", "Sequence", "tuple"):
        is_pair = isinstance(items, ast.Tuple) and ast.unparse(items.elts[-1]) != "..."
        item = items.elts[0] if isinstance(items, ast.Tuple) else items
        return {"type": "array", "items": {} if is_pair or item is None else _schema(item)}
    if name in _PLAIN:
        return {"type": _PLAIN[name]}
    if name in _ENUMS:
        return {"type": "string", "enum": [str(member.value) for member in _ENUMS[name]]}
    if _class_of(name) is not None:
        return {"$ref": f"#/components/schemas/{name}"}
    return {"type": "object", **({} if name in ("dict", "Mapping") else {"title": name})}


def _class_of(name: str) -> type | None:
    """Return the dataclass that an answer is named by; None for a name that is none of the public ones."""
    kind = getattr(hexad, name, None)
    return kind if isinstance(kind, type) and is_dataclass(kind) else None


def class_schema(kind: type) -> dict[str, Any]:
    """Return the schema of an answer's class: the fields whose type is the same in JSON.

    What is empty may be left out, and what is written otherwise than it is held is described by its name alone.
    """
    properties = {
        entry.name: _field_schema(ast.parse(str(entry.type), mode="eval").body) for entry in fields(kind)
    }
    words = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
    return {"type": "object", "title": kind.__name__, "description": words, "properties": properties}


def _field_schema(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.BinOp):
        members = [_field_schema(node.left), _field_schema(node.right)]
        return {"anyOf": members} if all(members) else {}
    if isinstance(node, ast.Constant) and node.value is None:
        return {"type": "null"}
    if isinstance(node, ast.Name):
        if node.id == "datetime":
            return {"type": "string", "format": "date-time"}
        return {"type": _PLAIN[node.id]} if node.id in _PLAIN else {}
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("list", "Sequence", "tuple"):
        item = node.slice
        if isinstance(item, ast.Tuple):
            item = item.elts[0] if ast.unparse(item.elts[-1]) == "..." else ast.Name("Any")
        return {"type": "array", "items": _field_schema(item)}
    return {}


def described(app: FastAPI) -> dict[str, Any]:
    """Return the whole description."""
    document: dict[str, Any] = get_openapi(
        title=app.title, version=app.version, openapi_version="3.1.0", routes=app.routes,
        description="A local, inspectable memory for AI agents.",
    )  # fmt: skip
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas.update(_COMPONENTS)
    schemas["CitationBody"] = _citation()
    for verb in VERBS.values():
        for node in ast.walk(ast.parse(_answer_kind(verb))):
            kind = _class_of(node.id) if isinstance(node, ast.Name) else None
            if kind is not None:
                schemas[kind.__name__] = class_schema(kind)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    return document


def _citation() -> dict[str, Any]:
    text = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["path"],
        "properties": {"path": {"type": "string"}, **dict.fromkeys(CITATION_FIELDS[1:], text)},
    }
