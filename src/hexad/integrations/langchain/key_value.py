"""`HexadByteStore` and `HexadCache`: what LangChain keeps as bytes under keys, in the one store's database."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.load import dumps
from langchain_core.load.load import Reviver
from langchain_core.outputs import Generation
from langchain_core.stores import BaseStore

from hexad.agent_state.key_values import KeyValues
from hexad.core.arguments import parse_name, parse_text, quoted, value_list
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.integrations.open_store import owned_context

_PREFIX: Final = "langchain/"


class HexadByteStore(BaseStore[str, bytes]):
    """LangChain's `ByteStore` over an open Hexad store: bytes under keys, in a collection of their own.

    Values are durable when `mset` returns, encrypted with the store, and left as they are: no redaction reads them,
    and no recall finds them. Raises `AccessDenied` for a store that was opened with a role.
    """

    def __init__(self, store: Hexad, *, collection: str = "bytes") -> None:
        context = owned_context(store, by="HexadByteStore")
        self._values = KeyValues(context.db, _PREFIX + parse_name(collection, "collection"))

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of the keys in their order, None for a key that is not there."""
        listed = _keys(keys)
        found = self._values.get(listed)
        return [found.get(key) for key in listed]

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Store values, all or none. Raises `InvalidInput` for one that is no bytes."""
        pairs = value_list(key_value_pairs, "key_value_pairs", of="pairs of a key and bytes")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InvalidInput(
                    f"key_value_pairs has {quoted(pair)}; give pairs of a key and bytes.",
                    argument="key_value_pairs",
                )
            key, value = pair
            _keys([key])
            if not isinstance(value, bytes):
                raise InvalidInput(f"The value of {quoted(key)} must be bytes, not {quoted(value)}.")
        self._values.put(dict(pairs))

    def mdelete(self, keys: Sequence[str]) -> None:
        """Delete values; a key that is not there is no error."""
        self._values.delete(_keys(keys))

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Return the keys that begin with `prefix`, in their order."""
        return iter(self._values.keys(parse_text(prefix, "prefix") or ""))


def _keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return keys; raises `InvalidInput` for one text, whose letters are none, and for what is blank or no text."""
    listed = value_list(keys, "keys", of="keys")
    for key in listed:
        if not isinstance(key, str) or not key.strip():
            raise InvalidInput(
                f"keys has {quoted(key)}; a key is a string that is not blank.", argument="keys"
            )
    return listed


class HexadCache(BaseCache):
    """LangChain's cache of answers over an open Hexad store: shared by all programs that use it, kept after a restart.

    A prompt is kept as a keyed hash alone, an answer as it was given: redaction does not read it, and the encryption
    of the store covers it. `clear` empties the cache. Raises `AccessDenied` for a store that was opened with a role.
    """

    def __init__(self, store: Hexad, *, collection: str = "answers") -> None:
        self._context = owned_context(store, by="HexadCache")
        self._values = KeyValues(self._context.db, _PREFIX + parse_name(collection, "collection"))

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return what a model answered to a prompt, None where nothing is known.

        Of a store that was opened read-only it raises `StorageFailure` there, before a model is asked and paid for an
        answer that `update` could not keep.
        """
        key = self._key(prompt, llm_string)
        data = self._values.get([key]).get(key)
        if data is None:
            self._context.db.require_writable()
        return None if data is None else json.loads(data, object_hook=Reviver(allowed_objects="core"))

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Keep what a model answered to a prompt."""
        generations = value_list(return_val, "return_val", of="generations")
        for generation in generations:
            if not isinstance(generation, Generation):
                raise InvalidInput(
                    f"return_val has {quoted(generation)}; give generations of LangChain.",
                    argument="return_val",
                )
        listed = ",".join(map(dumps, generations))
        self._values.put({self._key(prompt, llm_string): f"[{listed}]".encode()})

    def clear(self, **kwargs: Any) -> None:  # noqa: ARG002 - what other caches take
        """Forget every answer of this collection."""
        self._values.delete()

    def _key(self, prompt: str, llm_string: str) -> str:
        for name, given in (("prompt", prompt), ("llm_string", llm_string)):
            if not isinstance(given, str):
                raise InvalidInput(f"{name} = {quoted(given)} must be a string.", argument=name)
        named = json.dumps([prompt, llm_string]).encode()
        return hmac.new(self._context.salt(), named, "sha256").hexdigest()
