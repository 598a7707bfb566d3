"""The policies of the store's spaces, parsed once for each change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hexad.ingest.redaction import Redactor
from hexad.model.memory import JSONValue
from hexad.model.policy import Policies, parse_stored
from hexad.storage.stores import Stores
from hexad.text.redact import RedactionRules

_REMEMBERED: Final = 256
"""Different policies kept parsed; a store has few."""


class PolicyBook:
    """Looks up what the owner of a space has decided."""

    def __init__(self, stores: Stores, redactor: Redactor) -> None:
        self._stores = stores
        self._redactor = redactor
        self._parsed: dict[str, Policies] = {}
        self._rules: dict[str, RedactionRules] = {}

    def admit(self, space: str) -> None:
        """Raise `AccessDenied` for a space that is not open to whoever opened the store."""
        self._stores.spaces.admit(space)

    def policies(self, space: str) -> Policies:
        """Return the policies of a space; the defaults for one that is not there yet."""
        written = self._written(space)
        key = json.dumps(written, sort_keys=True) if written else ""
        known = self._parsed.get(key)
        if known is None:
            if len(self._parsed) >= _REMEMBERED:
                self._parsed.clear()
            known = self._parsed[key] = parse_stored(written)
        return known

    def rules(self, space: str) -> RedactionRules:
        """Return what is redacted in a space; the same object for the same policy."""
        written = self._written(space)
        key = json.dumps([written.get("pii_redaction"), written.get("env_allow")], sort_keys=True)
        if key not in self._rules:
            # Never cleared, and the first of two threads wins: writers ask whether the rules are the same ones.
            self._rules.setdefault(key, self._redactor.rules(written))
        return self._rules[key]

    def _written(self, name: str) -> Mapping[str, JSONValue]:
        space = self._stores.spaces.find(name)
        return space.policies if space is not None else {}
