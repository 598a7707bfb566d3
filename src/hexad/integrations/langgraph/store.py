"""`HexadStore`: LangGraph's long-term memory as memories of a Hexad store."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from hexad.core.arguments import is_number, is_whole, json_fault, parse_name, parse_text, quoted, value_list
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.integrations.records import FrameworkRecord, Records
from hexad.integrations.value_filters import matches, require_filter
from hexad.memory.memory import Memory

_FIELD: Final = "langgraph"
_PLACE, _VALUE, _TTL, _EXPIRES = "place", "value", "ttl_minutes", "expires_at"
_MINUTES_LIMIT: Final = 1e9
"""Longest lifetime of an item: some 1,900 years, which a time can still say."""


class HexadStore(BaseStore):
    """A LangGraph store over an open Hexad store: an item is a memory, found by `hx.recall` and governed as any other.

    Items lie in `space`, at the path of their namespace and key. `fields` are the parts of a value that searches
    read, as paths (`$` is all of it); `ttl` sets LangGraph's configuration of lifetimes. `trust` says who vouches for
    what is put: user, agent, tool, web or unknown. Searches use the embedder of the store.
    `user_at` says which part of a namespace names the person that its items are about, 1 of `("users", "ada")`:
    `hx.forget(subject="ada", purge=True)` then takes them. A namespace that is shorter is about nobody.

    Secrets are taken out of values before they are stored. A deleted or expired item is archived:
    `hx.forget(id, purge=True)` or the policy of the space removes it for good.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_records", "_user_at", "ttl_config")

    def __init__(
        self,
        store: Hexad,
        *,
        space: str = "default",
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        trust: str = "agent",
        user_at: int | None = None,
    ) -> None:
        if user_at is not None and not is_whole(user_at, 0):
            raise InvalidInput(
                f"user_at = {quoted(user_at)} must be the place of a part of a namespace, counted from 0, or None.",
                argument="user_at",
            )
        self._user_at = user_at
        self._records = Records(store, space=space, kind="item", field=_FIELD, trust=trust, by="HexadStore")
        self._fields = _paths(fields, "fields")
        if ttl is not None and not isinstance(ttl, Mapping):
            raise InvalidInput(
                f'ttl = {quoted(ttl)} must be LangGraph\'s configuration, such as {{"default_ttl": 60}}.',
                argument="ttl",
            )
        self.ttl_config = ttl
        if ttl is not None:
            if unknown := ttl.keys() - TTLConfig.__annotations__.keys():
                raise InvalidInput(
                    f"ttl has {quoted(min(unknown, key=str))}; it may have "
                    f"{', '.join(TTLConfig.__annotations__)}.",
                    argument="ttl",
                )
            _require_minutes(ttl.get("default_ttl"), "default_ttl")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of these: what they read is the state before, what they put is stored in one transaction."""
        results: list[Result] = []
        puts: dict[str, PutOp] = {}
        touched: dict[str, Memory] = {}
        for op in value_list(ops, "ops", of="operations"):
            _require_usable(op)
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                puts[self._id(op.namespace, op.key)] = op
                results.append(None)
            elif isinstance(op, GetOp):
                memory = self._get(op)
                if memory is not None and op.refresh_ttl:
                    touched[memory.id] = memory
                results.append(None if memory is None else self._item(memory))
            elif isinstance(op, SearchOp):
                found = self._search(op)
                if op.refresh_ttl:
                    touched.update((memory.id, memory) for memory, _ in found)
                results.append([self._search_item(memory, score) for memory, score in found])
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                raise InvalidInput(f"{op!r} is no operation of a LangGraph store.")
        self._records.archive(own for own, op in puts.items() if op.value is None)
        self._records.write(
            [
                *(self._record(op) for op in puts.values() if op.value is not None),
                *self._refreshed(memory for own, memory in touched.items() if own not in puts),
            ]
        )
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, on a thread of its own."""
        return await to_thread(self.batch, value_list(ops, "ops", of="operations"))

    def sweep_ttl(self) -> int:
        """Archive the items whose lifetime is over, and return how many; no read gives them before that either."""
        over = [memory.id for memory in self._records.list() if self._is_over(memory)]
        self._records.archive(over)
        return len(over)

    # Items as memories ------------------------------------------------------------------------------------------

    def _id(self, namespace: Sequence[str], key: str) -> str:
        return self._records.id_of(*namespace, str(key))

    def _record(self, op: PutOp) -> FrameworkRecord:
        if not isinstance(op.value, Mapping):
            raise InvalidInput(
                f'value = {quoted(op.value)} must be an object, such as {{"text": "…"}}.', argument="value"
            )
        _require_minutes(op.ttl, "ttl")
        value = dict(op.value)
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"The value of key {quoted(op.key)} is no JSON: {json_fault(error)}. Give objects, lists, strings of "
                "whole characters and finite numbers.",
                argument="value",
            ) from error
        place = [*op.namespace, str(op.key)]
        index = self._fields if op.index is None else () if op.index is False else _paths(op.index, "index")
        texts = [
            text
            for path in index
            for text in ([_words(value)] if path == "$" else get_text_at_path(value, path))
        ]
        return self._dated(
            FrameworkRecord(
                id=self._id(op.namespace, op.key),
                text="\n".join(filter(str.strip, texts)) or " / ".join(place),
                place=place,
                content={_PLACE: list[JSONValue](place), _VALUE: value, _TTL: op.ttl},
                about=self._user_of(op.namespace),
            )
        )

    def _user_of(self, namespace: Sequence[str]) -> str | None:
        at = self._user_at
        return None if at is None or at >= len(namespace) else parse_name(namespace[at], "namespace")

    def _dated(self, record: FrameworkRecord) -> FrameworkRecord:
        """Return a record whose lifetime begins now, where it has one."""
        minutes = record.content[_TTL]
        if not isinstance(minutes, int | float):
            return record
        expires_at = self._records.hx.clock.now() + timedelta(minutes=minutes)
        content = {**record.content, _EXPIRES: format_time(expires_at)}
        return replace(record, content=content, valid_to=expires_at)

    def _refreshed(self, memories: Iterable[Memory]) -> Iterator[FrameworkRecord]:
        """Yield the records of items that have a lifetime, which begins again where somebody read them."""
        if self._records.hx._services.db.readonly:
            return
        for memory in memories:
            content = self._records.content_of(memory)
            if content.get(_TTL) is not None:
                place = [*map(str, cast(Sequence[JSONValue], content[_PLACE]))]
                yield self._dated(
                    FrameworkRecord(
                        id=memory.id,
                        text=memory.raw,
                        place=place,
                        content=content,
                        about=self._user_of(place[:-1]),
                    )
                )

    def _is_over(self, memory: Memory) -> bool:
        expires_at = self._records.content_of(memory).get(_EXPIRES)
        return (
            expires_at is not None and datetime.fromisoformat(str(expires_at)) <= self._records.hx.clock.now()
        )

    def _fields_of(self, memory: Memory) -> dict[str, Any]:
        content = self._records.content_of(memory)
        *namespace, key = cast(Sequence[str], content[_PLACE])
        return {
            "namespace": tuple(namespace),
            "key": key,
            "value": content[_VALUE],
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
        }

    def _item(self, memory: Memory) -> Item:
        return Item(**self._fields_of(memory))

    def _search_item(self, memory: Memory, score: float | None) -> SearchItem:
        return SearchItem(**self._fields_of(memory), score=score)

    # Reading ----------------------------------------------------------------------------------------------------

    def _get(self, op: GetOp) -> Memory | None:
        own = self._id(op.namespace, op.key)
        memory = self._records.get([own]).get(own)
        return None if memory is None or self._is_over(memory) else memory

    def _search(self, op: SearchOp) -> Sequence[tuple[Memory, float | None]]:
        prefix, limit = tuple(op.namespace_prefix), op.offset + op.limit

        def keep(memory: Memory) -> bool:
            fields = self._fields_of(memory)
            return (
                fields["namespace"][: len(prefix)] == prefix
                and not self._is_over(memory)
                and matches(fields["value"], op.filter or {})
            )

        if op.query:
            found = self._records.search(op.query, place=prefix, limit=limit, keep=keep)
        else:
            found = [(memory, None) for memory in self._records.list(prefix) if keep(memory)]
        return found[op.offset : limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {
            self._fields_of(memory)["namespace"][: op.max_depth]
            for memory in self._records.list()
            if not self._is_over(memory)
            and all(
                _fits(self._fields_of(memory)["namespace"], condition)
                for condition in op.match_conditions or ()
            )
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def _require_usable(op: Op) -> None:
    """Raise `InvalidInput` for a namespace, key or bound of another type: the letters of a text are no namespace."""
    named = {
        "namespace": getattr(op, "namespace", ()),
        "namespace_prefix": getattr(op, "namespace_prefix", ()),
    }
    for name, namespace in named.items():
        if not isinstance(namespace, tuple | list):
            raise InvalidInput(
                f"{name} = {quoted(namespace)} must be a tuple of names, such as ('users', 'ada').",
                argument=name,
            )
    if isinstance(op, GetOp | PutOp) and not (isinstance(op.key, str) and op.key.strip()):
        raise InvalidInput(f"key = {quoted(op.key)} must be a string that is not blank.", argument="key")
    for name in ("limit", "offset", "max_depth"):
        number = getattr(op, name, 0)
        if not (is_whole(number, 0) or (number is None and name == "max_depth")):
            raise InvalidInput(
                f"{name} = {quoted(number)} must be a whole number, at least 0.", argument=name
            )
    parse_text(getattr(op, "query", None), "query")
    conditions = getattr(op, "match_conditions", None)
    for condition in (
        () if conditions is None else value_list(conditions, "match_conditions", of="conditions")
    ):
        if not isinstance(condition, MatchCondition) or condition.match_type not in ("prefix", "suffix"):
            raise InvalidInput(
                f"match_conditions has {quoted(condition)}; give LangGraph's MatchCondition of the type prefix or "
                "suffix.",
                argument="match_conditions",
            )
        if not isinstance(condition.path, tuple | list):
            raise InvalidInput(
                f"{condition.match_type} = {quoted(condition.path)} must be a tuple of names, such as "
                "('users', '*').",
                argument=str(condition.match_type),
            )
    wanted = getattr(op, "filter", None)
    if wanted is not None:
        require_filter(wanted)


def _paths(paths: Sequence[str], name: str) -> tuple[str, ...]:
    """Return paths into a value; a text alone would be a path for each of its characters."""
    listed = value_list(paths, name, of="paths")
    for path in listed:
        if not isinstance(path, str) or not path.strip():
            raise InvalidInput(
                f"{name} has {quoted(path)}; a path is a string such as 'title' or 'parts[*].text'.",
                argument=name,
            )
    return listed


def _require_minutes(minutes: object, name: str) -> None:
    """Refuse a lifetime that is over before anybody can read the item, or that is none."""
    if minutes is not None and not (is_number(minutes, 0, _MINUTES_LIMIT) and minutes > 0):
        raise InvalidInput(
            f"{name} = {quoted(minutes)} must be minutes, more than 0 and at most {_MINUTES_LIMIT:,.0f}; "
            "None keeps the item.",
            argument=name,
        )


def _words(value: JSONValue, name: str = "") -> str:
    """Return a value as lines of text, each with the name of its field: what people and embedders read."""
    if isinstance(value, Mapping):
        return "\n".join(filter(None, (_words(part, field) for field, part in value.items())))
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, (_words(part, name) for part in value)))
    if value is None or value == "":
        return ""
    return f"{name}: {value}" if name else str(value)


def _fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as a condition says; `*` is any part."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", own) for wanted, own in zip(path, part, strict=True))
