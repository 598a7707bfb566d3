"""What a request holds, checked against the parameters of the call before the store is asked; the same as OpenAPI."""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from hexad.client.verbs import IN_ADDRESSES, Parameter, Verb, parameters_of
from hexad.core.arguments import quoted
from hexad.core.json_types import JSONObject, JSONValue
from hexad.errors import InvalidInput
from hexad.memory.memory import Citation

_CONFIG: Final = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)
_REAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_WANTED: Final = "Input should be "
"""How pydantic begins to say what a value must be."""
_FLAGS: Final = {"true": True, "false": False}
_WHOLE_MOST: Final = (1 << 53) - 1
"""The whole numbers that every reader of JSON has (RFC 8259, section 6)."""


def _whole(value: object) -> object:
    """Return 5 for 5.0: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_INTEGER = Annotated[int, Field(ge=-_WHOLE_MOST, le=_WHOLE_MOST), BeforeValidator(_whole)]


class MalformedRequest(InvalidInput):
    """What was sent is not what OpenAPI describes; what the store refuses of the rest is an `InvalidInput` alone."""


class CitationBody(BaseModel):
    """A place in a tracked source that a memory rests on."""

    model_config = _CONFIG
    path: str
    symbol: str | None = None
    content_hash: str | None = None
    commit: str | None = None
    lines: str | None = None
    marks: str | None = None
    branch: str | None = None


def json_type(kind: Any) -> Any:
    """Return the type of what JSON holds for a parameter of a Python call."""
    if kind is Citation:
        return CitationBody
    if kind is object:
        return str
    if kind is int:
        return _INTEGER
    if kind in (str, float, bool, type(None)) or kind is Any:
        return kind
    if kind is datetime:
        return Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    if isinstance(kind, type) and issubclass(kind, Enum):
        words = [member.name if isinstance(member.value, int) else member.value for member in kind]
        return Annotated[str, Field(json_schema_extra={"enum": words})]  # the store's own refusal names them
    if kind in (JSONValue, "JSONValue") or isinstance(kind, typing.ForwardRef | str):
        return Any
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return kind
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is tuple and args[-1] is not Ellipsis:
        item = _union(args)
        return Annotated[list[item], Field(min_length=len(args), max_length=len(args))]  # type: ignore[valid-type]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, json_type(args[1])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return list[json_type(args[0])]  # type: ignore[misc]
    raise TypeError(f"{kind} has no form as JSON")


def _union(kinds: Sequence[Any]) -> Any:
    if kinds in ((None,), ()):
        return None
    if set(map(repr, kinds)) >= set(map(repr, typing.get_args(JSONValue))):
        return Any
    named = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    # A time is text here, and so is a member of an enum: the text that Python takes besides says less.
    left = [kind for kind in kinds if not ((named or datetime in kinds) and kind is str)]
    members = tuple(dict.fromkeys(json_type(kind) for kind in left))
    return Union[members]  # noqa: UP007 - made of a tuple


@functools.cache
def model_of(verb: Verb) -> type[BaseModel]:
    """Return what a request of a call holds."""
    fields: dict[str, Any] = {}
    for parameter in parameters_of(verb):
        kind = json_type(parameter.type)
        fields[parameter.name] = (kind, Field() if parameter.required else Field(default=_default(parameter)))
    name = "".join(word.title() for word in re.split(r"[._]", verb.name)) + "Request"
    model: type[BaseModel] = create_model(name, __config__=_CONFIG, **fields)
    return model


def _default(parameter: Parameter) -> Any:
    value = parameter.default
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def arguments_of_body(verb: Verb, body: bytes) -> dict[str, Any]:
    """Return the arguments that a body holds; raises `InvalidInput`, `MalformedRequest` for what is no JSON object."""
    try:
        return _arguments(model_of(verb).model_validate_json(body or b"{}"))
    except ValidationError as error:
        raise _refusal(error, verb) from None


def arguments_of_query(verb: Verb, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the arguments that stand in an address; an empty text is None, and in place of a list none."""
    words: dict[str, list[str]] = {}
    for name, word in pairs:
        words.setdefault(name, []).append(word)
    known = {parameter.address_name: parameter for parameter in parameters_of(verb)}
    arguments: dict[str, Any] = {}
    for name, values in words.items():
        if name in known:
            arguments[known[name].name] = _value(known[name], values)
        else:  # it is refused with everything else that is not as described
            arguments[f"{name} " if name in IN_ADDRESSES else name] = values[0]
    try:
        return _arguments(model_of(verb).model_validate(arguments))
    except ValidationError as error:
        raise _refusal(error, verb) from None


def _value(parameter: Parameter, words: list[str]) -> Any:
    leaves = _leaves(json_type(parameter.type))
    if list in leaves:
        items = _item_leaves(json_type(parameter.type))
        if words == [""] and type(None) not in items:
            return []
        return [None if word == "" and type(None) in items else _scalar(word, items) for word in words]
    if len(words) > 1:
        raise MalformedRequest(
            f"{parameter.name} stands there {len(words)} times; give it once.", argument=parameter.name
        )
    if words[0] == "" and type(None) in leaves and parameter.default is not None:
        return None
    return _scalar(words[0], leaves)


def _scalar(word: str, leaves: set[Any]) -> Any:
    if leaves & {int, float} and _REAL.fullmatch(word):
        number = float(word)
        return number if float in leaves or not number.is_integer() else int(number)
    if bool in leaves and word in _FLAGS:
        return _FLAGS[word]
    return word


def _item_leaves(kind: Any) -> set[Any]:
    """Return the types that an item of a list may have."""
    origin = typing.get_origin(kind)
    if origin is list:
        return _leaves(typing.get_args(kind)[0])
    if origin is Annotated:
        return _item_leaves(typing.get_args(kind)[0])
    if origin not in (Union, types.UnionType):
        return set()
    return {leaf for member in typing.get_args(kind) for leaf in _item_leaves(member)}


def _leaves(kind: Any) -> set[Any]:
    """Return the types that a value may have, `list` for a list of these."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        return _leaves(typing.get_args(kind)[0])
    if origin in (Union, types.UnionType):
        return {leaf for member in typing.get_args(kind) for leaf in _leaves(member)}
    if origin is list:
        return {list, *_leaves(typing.get_args(kind)[0])}
    return {str} if origin is Literal else {kind}


def _arguments(body: BaseModel) -> dict[str, Any]:
    arguments = {name: getattr(body, name) for name in body.model_fields_set}
    if arguments.get("citations"):
        arguments["citations"] = [Citation(**dict(citation)) for citation in arguments["citations"]]
    return arguments


def _refusal(error: ValidationError, verb: Verb) -> MalformedRequest:
    """Return the first of what is wrong, with the parameter's name, and what is known."""
    errors = error.errors(include_url=False, include_context=False)
    first = errors[0]
    place = first["loc"]
    if not place:
        return MalformedRequest(
            f"The body is no JSON object: {first['msg']}.", remedy='Send one, such as {"query": "…"}.'
        )
    name = str(place[0]).strip()
    known = ", ".join(parameter.address_name for parameter in parameters_of(verb)) or "none"
    where = name + "".join(f"[{part}]" for part in place[1:] if isinstance(part, int))
    if first["type"] == "extra_forbidden" and len(place) > 1:
        fields = ", ".join(CitationBody.model_fields)  # the only object of a body whose fields are known
        return MalformedRequest(
            f"{where} has no field {quoted(str(place[-1]))};", argument=name, remedy=f"known are {fields}."
        )
    if first["type"] == "extra_forbidden":
        return MalformedRequest(
            f"There is no parameter {quoted(name)};", argument=name, remedy=f"known are {known}."
        )
    if first["type"] == "missing" and len(place) == 1:
        return MalformedRequest(f"{name} is missing;", argument=name, remedy=f"parameters are {known}.")
    if not first["msg"].startswith(_WANTED):
        return MalformedRequest(f"{where} cannot be used: {first['msg']}.", argument=name)
    wanted = dict.fromkeys(
        _wanted(other["msg"])
        for other in errors
        if other["loc"][:1] == place[:1] and other["msg"].startswith(_WANTED)
    )
    return MalformedRequest(
        f"{where} must be {' or '.join(wanted)}, not {quoted(first['input'])}.", argument=name
    )


def _wanted(message: str) -> str:
    """Return what pydantic wants of a value, as our own errors say it.

    >>> _wanted("Input should be a valid integer, unable to parse string as an integer")
    'an integer'
    """
    kind = message.removeprefix(_WANTED).partition(",")[0].replace("dictionary", "object")
    word = kind.removeprefix("a valid ")
    if word == kind:
        return kind
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


# OpenAPI --------------------------------------------------------------------------------------------------------------


def body_schema(verb: Verb) -> dict[str, Any]:
    """Return the schema of a body."""
    return model_of(verb).model_json_schema(ref_template="#/components/schemas/{model}")


def query_schema(verb: Verb) -> list[JSONObject]:
    """Return the parameters of an address."""
    schema = body_schema(verb)
    required = schema.get("required", ())
    return [
        {
            "name": IN_ADDRESSES.get(name, name),
            "in": "query",
            "required": name in required,
            "schema": _of_query(kind),
        }
        for name, kind in schema["properties"].items()
        if not _is_object(kind)
    ]


def _is_object(kind: Mapping[str, Any]) -> bool:
    return kind.get("type") == "object"


def _of_query(kind: Mapping[str, Any]) -> JSONObject:
    """Return a type as an address has it: no null, and no objects."""
    members = [member for member in kind.get("anyOf", ()) if member.get("type") not in ("null", "object")]
    if not members:
        return dict(kind)
    rest = {name: value for name, value in kind.items() if name != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    return {**rest, **members[0]} if len(members) == 1 else {**rest, "anyOf": members}
