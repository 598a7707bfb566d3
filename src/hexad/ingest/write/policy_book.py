"""The policies of the store's spaces, parsed once for each change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.ingest.write.redaction import Redactor
from hexad.ingest.write.validate import NAME_LIMIT, is_name
from hexad.memory.policy import Policies, parse_stored
from hexad.memory.store import Stores
from hexad.redaction.redact import RedactionRules

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
        return self._policies_of(self._written(space))

    def project(self, space: str) -> str | None:
        """Return the project that a space says it is of; None where it says none that could be a memory's."""
        found_space = self._stores.spaces.find(space)
        project = None if found_space is None else found_space.metadata.get("project")
        return project if isinstance(project, str) and is_name(project, NAME_LIMIT) else None

    def rules(self, space: str) -> RedactionRules:
        """Return what is redacted in a space; the same object for the same policy."""
        return self._rules_of(self._written(space))

    def decided(self, space: str) -> tuple[Policies, RedactionRules]:
        """Return both, read once."""
        written = self._written(space)
        return self._policies_of(written), self._rules_of(written)

    def _policies_of(self, written: Mapping[str, JSONValue]) -> Policies:
        key = json.dumps(written, sort_keys=True) if written else ""
        policies = self._parsed.get(key)
        if policies is None:
            if len(self._parsed) >= _REMEMBERED:
                self._parsed.clear()
            policies = self._parsed[key] = parse_stored(written)
        return policies

    def _rules_of(self, written: Mapping[str, JSONValue]) -> RedactionRules:
        key = json.dumps([written.get("pii_redaction"), written.get("env_allow")], sort_keys=True)
        if key not in self._rules:
            # Never cleared, and the first of two threads wins: writers ask whether the rules are the same ones.
            self._rules.setdefault(key, self._redactor.rules(written))
        return self._rules[key]

    def _written(self, name: str) -> Mapping[str, JSONValue]:
        space = self._stores.spaces.find(name)
        return space.policies if space is not None else {}
