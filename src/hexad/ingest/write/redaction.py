"""Redaction of everything a draft carries, before anything is written (document 1, section 3.1)."""

from __future__ import annotations

import json
import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.core.lazy import ByteCache
from hexad.errors import InvalidInput, InvalidMemory, InvalidSpace
from hexad.ingest.write.validate import NAME_LIMIT, is_name
from hexad.memory.draft import Draft
from hexad.memory.memory import Citation
from hexad.memory.policy import Policies, parse_stored
from hexad.memory.store import Stores
from hexad.memory.tables.spaces import Space
from hexad.redaction.redact import PiiFlag, Redacted, RedactionRules, find, redact, rules_from_policy, told
from hexad.redaction.secrets.blocks import is_env_path
from hexad.text.normalize import clean, slug, slugs
from hexad.text.sections import Section

_BREAK = re.compile(r"\n")
_PART = re.compile(r"#part-\d+$")
_PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9_-]+\]")
_KEYED_HASH = re.compile(r"hmac-sha256:[0-9a-f]{32}")
_RESERVED: Final = frozenset({"hash", "space", "pii_flags"})
"""Names in a memory's metadata that Hexad writes itself."""
_FIXED: Final = frozenset({
    "id", "kind", "relevance", "pinned", "created_at", "updated_at", "space", "trust", "status", "supersedes",
    "source_id", "turn", "valid_from", "valid_to", "importance", "confidence", "name",
})  # fmt: skip
_TEXTS: Final = frozenset({
    "path", "summary_micro", "summary_short", "summary_long", "tags", "chunks", "citations", "subject", "attribute",
    "data_subjects", "source", "metadata",
})  # fmt: skip
_ANY_VALUE: Final = frozenset({"value", "val", "current", "default"})
_NAMING: Final = frozenset({"name", "key", "field", "attribute", "label", "variable", "setting", "property"})
"""Under these an object says what that is which it holds under one of `_ANY_VALUE`."""
_REPEATED_MIN_CHARS: Final = 5
_SHOWN: Final = b""
"""In place of the salt where nothing is stored of what was redacted: it does not count as taken out."""
FIELD_REMEMBERED: Final = 200
FIELDS_BYTES: Final = 2_000_000
"""So much of fields with what was found in them, and as much of names: some thousands of each."""
_FLAG_BYTES: Final = 300
_NAME_BYTES: Final = 80


def _bytes_of(redacted: Redacted) -> int:
    return sys.getsizeof(redacted.text) + _FLAG_BYTES * len(redacted.flags) + _NAME_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanDraft:
    """A draft without secrets, what was taken out, and how many values that were.

    `flags` holds also what a structured draft says was taken out before, where its placeholder still stands.
    """

    draft: Draft
    flags: tuple[PiiFlag, ...]
    removed: int = 0


class Redactor:
    """Cleans drafts by the project's rules and those of each space's policy."""

    def __init__(self, *, salt: Callable[[], bytes], rules: RedactionRules | None = None) -> None:
        self._salt = salt
        self._project = rules or RedactionRules()
        self.known = ByteCache[tuple[int, str], tuple[RedactionRules, Redacted]](
            FIELDS_BYTES, lambda known: _bytes_of(known[1])
        )
        self.names = ByteCache[tuple[int, str], tuple[RedactionRules, str | None]](
            FIELDS_BYTES, lambda _: _NAME_BYTES
        )

    def rules(self, policies: Mapping[str, JSONValue]) -> RedactionRules:
        """Return the rules for a space: secrets always, personal data by the project's word and the space's policy."""
        rules = rules_from_policy(policies)
        return replace(
            rules, pii=rules.pii | self._project.pii, env_allow=rules.env_allow | self._project.env_allow
        )

    def _field(self, text: str, rules: RedactionRules) -> Redacted:
        """Redact a field. The items of a source share most of theirs, so what is short is remembered."""
        if len(text) > FIELD_REMEMBERED:
            return redact(text, rules=rules, salt=self._salt())
        # By identity, which is no other rules' as long as what is remembered holds them.
        key = (id(rules), text)
        known = self.known.get(key)
        if known is None:
            known = self.known.put(key, (rules, redact(text, rules=rules, salt=self._salt())))
            return known[1]
        return told(known[1])

    def _secret_in(self, name: str | None, rules: RedactionRules) -> str | None:
        """Return the rule by which a name holds a secret. Most drafts share theirs, so what is short is remembered."""
        if not name or len(name) > FIELD_REMEMBERED:
            return _secret_in(name, rules)
        known = self.names.get((id(rules), name))
        if known is None:
            known = self.names.put((id(rules), name), (rules, _secret_in(name, rules)))
        return known[1]

    def refuse_secret_names(self, draft: Draft, rules: RedactionRules) -> None:
        """Raise `InvalidMemory` for a name that holds a secret: masking it would make it another name."""
        turn = draft.turn
        names = [
            ("id", draft.id), ("source_id", draft.source_id), ("space", draft.space), ("kind", draft.kind)
        ]  # fmt: skip
        if turn is not None:
            names += [
                ("conversation", turn.conversation), ("session", turn.session), ("speaker", turn.speaker)
            ]  # fmt: skip
        for field, name in names:
            rule = self._secret_in(name, rules) if name else None
            if rule is not None:
                raise InvalidMemory(
                    f"The {field} holds what looks like a secret ({rule}); give another name, or rename the file."
                )

    def shown_name(self, name: str, rules: RedactionRules) -> str:
        """Return a name as a report may tell it: without the secret for which `refuse_secret_names` refuses it."""
        if self._secret_in(name, rules) is None:
            return name
        return redact(name, rules=_of_names(rules), salt=_SHOWN).text

    def shown(self, text: str, rules: RedactionRules) -> str:
        """Return what a report says, which may quote a record, without what the rules find in texts and names."""
        return redact(text, rules=replace(rules, names=True), salt=_SHOWN).text

    def refuse_secret_space(self, name: str) -> None:
        """Raise `InvalidSpace` for a space's name that holds a secret, as a memory's is refused for it."""
        rule = _secret_in(name, self.rules({}))
        if rule is not None:
            raise InvalidSpace(
                f"Invalid space: its name holds what looks like a secret ({rule}); choose another."
            )

    def refuse_secret_link(self, kind: str) -> None:
        """Raise `InvalidInput` for a kind of link that holds a secret, as a memory's is refused for it."""
        rule = _secret_in(kind, self.rules({}))
        if rule is not None:
            raise InvalidInput(
                f"kind holds what looks like a secret ({rule}); give another one.", argument="kind"
            )

    def mask(self, text: str, rules: RedactionRules) -> str:
        """Return a text of somebody else's, a model's for one, without what `rules` find in it."""
        return redact(clean(text), rules=rules, salt=self._salt()).text

    def mask_object(
        self, object: Mapping[str, JSONValue], rules: RedactionRules, *, place: str | None
    ) -> dict[str, JSONValue]:
        """Return an object of a space's file without what `rules` find; what holds nothing stays as it is.

        `place` is where its text is from. What the text gives away is looked for in the other fields too: chunks
        and summaries repeat it without the words around it. Names, times and words of a fixed list stay.
        """
        raw = object.get("raw")
        given_away = _given_away(raw, rules, place) if isinstance(raw, str) else {}

        def mask(text: str) -> str:
            for value, rule in given_away.items():
                text = text.replace(value, f"[REDACTED:{rule}]")
            return self._field(text, rules).text

        masked: dict[str, JSONValue] = {}
        for key, value in object.items():
            if key in _FIXED:
                masked[key] = value
            elif key == "raw" and isinstance(value, str):
                masked[key] = redact(value, rules=rules, salt=self._salt(), path=place).text
            elif key == "value":
                masked[key] = _masked_fact(value, mask, object.get("attribute"), object.get("subject"))
            elif key in _TEXTS:
                masked[key] = _masked(value, mask)
            else:
                masked[mask(key)] = _masked(value, mask, name=key)
        return masked

    def clean(self, draft: Draft, rules: RedactionRules) -> CleanDraft:
        """Return `draft` with clean text and without what `rules` find in any of its fields."""
        (cleaned,) = self.clean_all([draft], [rules])
        return cleaned

    def clean_all(self, drafts: Sequence[Draft], rules: Sequence[RedactionRules]) -> list[CleanDraft]:
        """Return drafts in order, each as `clean` does by its own rules."""
        salt = self._salt()
        texts = [
            redact(clean(draft.text), rules=its_rules, salt=salt, path=_place_of(draft), once=draft.composed)
            for draft, its_rules in zip(drafts, rules, strict=True)
        ]
        harmless = _HarmlessMetadata()
        return [
            self._clean(draft, text, its_rules, harmless)
            for draft, text, its_rules in zip(drafts, texts, rules, strict=True)
        ]

    def _clean(
        self, draft: Draft, redacted: Redacted, rules: RedactionRules, harmless: _HarmlessMetadata
    ) -> CleanDraft:
        """Return a draft with its text as it was redacted, and its other fields as well."""
        found_flags: list[PiiFlag] = []

        def mask(text: str) -> str:
            found = self._field(text, rules)
            found_flags.extend(found.flags)
            return found.text

        def mask_secret(name: str) -> str:
            # A person may be known by an address: without it, nothing about them could be found again.
            found = redact(name, rules=_of_names(rules), salt=self._salt())
            found_flags.extend(found.flags)
            return found.text

        metadata, earlier = _own_metadata(draft)
        found_flags.extend(redacted.flags)
        fields: dict[str, object] = {"text": redacted.text}
        if draft.sections:
            sections = draft.sections
            if redacted.text != draft.text:
                sections = tuple(moved(sections, draft.text, redacted.text))
            fields["sections"] = tuple(
                replace(section, heading=mask(section.heading)) for section in sections
            )
        if draft.title:
            fields["title"] = mask(draft.title)
        if metadata and not harmless.is_known(metadata, rules):
            before = len(found_flags)
            fields["metadata"] = masked = _masked(metadata, mask)
            if masked == metadata and len(found_flags) == before:
                harmless.note(metadata, rules)
        elif metadata is not draft.metadata:
            fields["metadata"] = metadata
        if draft.value is not None:
            fields["value"] = _masked_fact(draft.value, mask, draft.attribute, draft.subject)
        if draft.path:
            fields["path"] = mask(draft.path)
        if draft.tags:
            fields["tags"] = tuple(mask(tag) for tag in draft.tags)
        fields |= {
            name: _text(text, mask)
            for name in ("project", "summary_micro", "summary_short", "summary_long")
            if (text := getattr(draft, name)) is not None
        }
        if draft.extract is not None:
            hint, topic = (_text(text, mask) for text in (draft.extract.path_hint, draft.extract.topic))
            fields["extract"] = replace(draft.extract, path_hint=hint, topic=topic)
        if draft.subject:
            fields["subject"] = mask(draft.subject)
        if draft.attribute:
            fields["attribute"] = mask(draft.attribute)
        if draft.citations:
            fields["citations"] = tuple(_cited(citation, mask) for citation in draft.citations)
        if draft.data_subjects:
            fields["data_subjects"] = tuple(map(mask_secret, draft.data_subjects))
        changed = {  # what is made of parts is a copy, which the caller cannot change any more
            name: value
            for name, value in fields.items()
            if isinstance(value, dict | list) or value != getattr(draft, name)
        }
        clean_draft = replace(draft, **changed) if changed else draft  # type: ignore[arg-type]
        flags = _merged(found_flags)
        return CleanDraft(
            draft=clean_draft,
            flags=(*flags, *_still_true(earlier, flags, clean_draft)),
            removed=sum(flag.count for flag in flags),
        )


class _HarmlessMetadata:
    """The metadata that nothing was found in, the last of a call: items of a source have most in common."""

    def __init__(self) -> None:
        self._last: tuple[Mapping[str, JSONValue], RedactionRules] | None = None

    def note(self, metadata: Mapping[str, JSONValue], rules: RedactionRules) -> None:
        """Remember metadata in which these rules find nothing."""
        if all(
            isinstance(value, str) for value in metadata.values()
        ):  # numbers that are equal may be written otherwise
            self._last = metadata, rules

    def is_known(self, metadata: Mapping[str, JSONValue], rules: RedactionRules) -> bool:
        """Whether it is that metadata."""
        return self._last is not None and rules is self._last[1] and metadata == self._last[0]


def _place_of(draft: Draft) -> str | None:
    """Return where a draft's text is from: the file, of one that was cut into parts."""
    return _PART.sub("", draft.source_id) if draft.source_id else draft.path


def _own_metadata(draft: Draft) -> tuple[Mapping[str, JSONValue] | None, Sequence[PiiFlag]]:
    """Part a structured draft's metadata from what Hexad wrote there: hash, space, and earlier flags."""
    if not draft.structured or draft.metadata is None:
        return draft.metadata, ()
    own = {name: value for name, value in draft.metadata.items() if name not in _RESERVED}
    listed = draft.metadata.get("pii_flags")
    flags = [_flag(flag) for flag in listed] if isinstance(listed, list | tuple) else []
    return own, [flag for flag in flags if flag is not None]


def _flag(value: JSONValue) -> PiiFlag | None:
    """Return a flag as Hexad writes it; None for anything else, which might hide what it should not."""
    if not isinstance(value, Mapping) or set(value) != {"rule", "kind", "hash", "count"}:
        return None
    rule, kind, digest, count = value["rule"], value["kind"], value["hash"], value["count"]
    if not isinstance(rule, str) or not isinstance(digest, str) or not isinstance(count, int):
        return None
    if not (_PLACEHOLDER.fullmatch(f"[REDACTED:{rule}]") and _KEYED_HASH.fullmatch(digest)):
        return None
    if isinstance(count, bool) or count < 1 or kind not in ("secret", "pii"):
        return None
    return PiiFlag(rule=rule, kind="secret" if kind == "secret" else "pii", hash=digest, count=count)


def _still_true(earlier: Sequence[PiiFlag], flags: Sequence[PiiFlag], draft: Draft) -> list[PiiFlag]:
    """Return the earlier flags whose placeholder the draft holds and that were not found anew."""
    if not earlier:
        return []
    known = {(flag.rule, flag.hash) for flag in flags}
    text, tags = repr(draft), set(slugs(draft.tags or ()))  # every field of it; tags are slugs by now
    return [
        flag
        for flag in earlier
        if (flag.rule, flag.hash) not in known
        and (f"[REDACTED:{flag.rule}]" in text or slug(f"[REDACTED:{flag.rule}]") in tags)
    ]


def _text(text: str | None, mask: Callable[[str], str]) -> str | None:
    """Return an optional text as it may be stored; None for one without anything in it."""
    return (mask(clean(text)).strip() or None) if text is not None else None


def _given_away(text: str, rules: RedactionRules, place: str | None) -> dict[str, str]:
    """Return what is removed from a text, the longest first, each with its rule; short values stand everywhere."""
    values = {
        text[finding.start : finding.end]: finding.rule for finding in find(text, rules=rules, path=place)
    }
    longest = sorted((value for value in values if len(value) >= _REPEATED_MIN_CHARS), key=len, reverse=True)
    return {value: values[value] for value in longest}


def _masked(value: JSONValue, mask: Callable[[str], str], *, name: str = "") -> JSONValue:
    """Mask a JSON value, each leaf together with its name: `{"password": "…"}` says what it holds."""
    if isinstance(value, str):
        return _named(value, value, mask, name=name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _named(value, str(value), mask, name=name)
    if isinstance(value, Mapping):
        if any(isinstance(item, str) and is_env_path(item) for item in value.values()):
            mask = partial(_masked_of_env, mask)
        masked_value = {
            masked: _masked(item, mask, name=masked) for key, item in value.items() for masked in (mask(key),)
        }
        names = [name, *(text for key, text in masked_value.items() if key.lower() in _NAMING)]
        return {
            key: _masked_under(item, mask, names) if key.lower() in _ANY_VALUE else item
            for key, item in masked_value.items()
        }
    if isinstance(value, Sequence):
        return _arguments([_masked(item, mask, name=name) for item in value], mask)
    return value


def _masked_under(value: JSONValue, mask: Callable[[str], str], names: Sequence[JSONValue]) -> JSONValue:
    """Mask a value under each of the names by which it may be known: `{"key": "password", "value": "…"}`."""
    for name in names:
        if isinstance(name, str) and name:
            value = _masked(value, mask, name=name)
    return value


def _masked_of_env(mask: Callable[[str], str], text: str) -> str:
    """Mask a text that stands beside the name of an env file: `{"file": ".env", "content": "…"}`."""
    if "=" not in text:
        return mask(text)
    head = ".env:\n"
    return mask(head + text).removeprefix(head)


def _masked_fact(
    value: JSONValue, mask: Callable[[str], str], attribute: JSONValue, subject: JSONValue
) -> JSONValue:
    """Mask the value of a fact by its attribute; by its subject where there is none, or a word for any value."""
    names: list[JSONValue] = [attribute or subject or ""]
    if isinstance(attribute, str) and attribute.lower() in _ANY_VALUE:
        names.append(subject)
    return _masked_under(value, mask, names) if any(names) else _masked(value, mask)


def _named(value: JSONValue, text: str, mask: Callable[[str], str], *, name: str) -> JSONValue:
    masked = mask(text)
    if masked != text:
        return masked
    if name and text:
        quoted_name = json.dumps(name)
        pair = f"{quoted_name}: {json.dumps(text)}"
        masked = mask(pair)
        match = _PLACEHOLDER.search(masked, len(quoted_name)) if masked != pair else None
        if match is not None:
            return match[0]
    return value


def _arguments(items: list[JSONValue], mask: Callable[[str], str]) -> list[JSONValue]:
    """Mask what a list says as a command line: `["--password", "…"]`."""
    words = [item for item in items if isinstance(item, str)]
    if len(words) < 2 or not any(word.startswith("-") for word in words):
        return items
    masked = mask(" ".join(words))
    match = _PLACEHOLDER.search(masked)
    if match is None:
        return items
    left_parts = masked.split()
    return [match[0] if isinstance(item, str) and item and item not in left_parts else item for item in items]


def _cited(citation: Citation, mask: Callable[[str], str]) -> Citation:
    return replace(
        citation,
        path=mask(citation.path),
        symbol=mask(citation.symbol) if citation.symbol else citation.symbol,
    )


def _merged(flags: Sequence[PiiFlag]) -> tuple[PiiFlag, ...]:
    """Add up what several fields repeat: the same value in text and title is one flag."""
    merged: dict[tuple[str, str], PiiFlag] = {}
    for flag in flags:
        key = (flag.rule, flag.hash)
        known_flag = merged.get(key)
        merged[key] = replace(known_flag, count=known_flag.count + flag.count) if known_flag else flag
    return tuple(merged.values())


def moved(sections: Sequence[Section], before: str, after: str) -> list[Section]:
    """Carry a reader's sections over to the redacted text.

    Redaction keeps line breaks, so a place is its line and column. The end of a line stays the end of that line,
    and so does a column past the end of a line that became shorter.
    """
    old, new = _line_starts(before), _line_starts(after)
    result: list[Section] = []
    low = 0

    def move(offset: int, *, ends: bool) -> int:
        line = bisect_right(old, offset) - 1
        if line >= len(new):
            return len(after)
        end = new[line + 1] - 1 if line + 1 < len(new) else len(after)
        if ends and offset > old[line] and before[offset : offset + 1] in ("", "\n"):
            return end
        return min(new[line] + offset - old[line], end)

    for section in sections:
        start, end = max(low, move(section.start, ends=False)), move(section.end, ends=True)
        if start < end:
            result.append(replace(section, start=start, end=end))
            low = end
    return result


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _BREAK.finditer(text))]


def _secret_in(name: str | None, rules: RedactionRules) -> str | None:
    """Return the rule by which a name holds a secret; addresses and numbers of people may be names."""
    findings = find(name, rules=_of_names(rules)) if name else []
    return findings[0].rule if findings else None


@lru_cache(maxsize=64)
def _of_names(rules: RedactionRules) -> RedactionRules:
    """Return the rules without those for personal data: a person may be known by an address."""
    return replace(rules, pii=frozenset(), patterns=(), names=True)


_REMEMBERED: Final = 256
"""Different policies kept parsed; a store has few."""
_DEFAULT_RULES: Final = json.dumps([None, None])
"""What a space without policies says of what is redacted in it."""


class _FoundSpaces(threading.local):
    """What one thread found of spaces in `PolicyBook.looked_up_once`; None outside of it."""

    spaces: dict[str, Space | None] | None = None
    rules: dict[str, RedactionRules]


class PolicyBook:
    """Looks up what the owner of a space has decided."""

    def __init__(self, stores: Stores, redactor: Redactor) -> None:
        self._stores = stores
        self._redactor = redactor
        self._parsed: dict[str, Policies] = {}
        self._rules: dict[str, RedactionRules] = {}
        self._found = _FoundSpaces()
        stores.db.caches.add("redacted fields", redactor.known)
        stores.db.caches.add("redacted fields", redactor.names)

    @contextmanager
    def looked_up_once(self) -> Iterator[None]:
        """Look each space up once in the block, on this thread: for drafts that are prepared one after the other.

        What somebody decides meanwhile is not seen in it.
        """
        self._found.spaces, self._found.rules = {}, {}
        try:
            yield
        finally:
            self._found.spaces = None

    def admit(self, space: str) -> None:
        """Raise `AccessDenied` for a space that is not open to whoever opened the store."""
        self._stores.spaces.admit(space)

    def policies(self, space: str) -> Policies:
        """Return the policies of a space; the defaults for one that is not there yet."""
        return self._policies_of(self._written(space))

    def project(self, space: str) -> str | None:
        """Return the project that a space says it is of; None where it says none that could be a memory's."""
        found_space = self._find(space)
        project = None if found_space is None else found_space.metadata.get("project")
        return project if isinstance(project, str) and is_name(project, NAME_LIMIT) else None

    def rules(self, space: str) -> RedactionRules:
        """Return what is redacted in a space; the same object for the same policy."""
        if self._found.spaces is None:
            return self._rules_of(self._written(space))
        rules = self._found.rules.get(space)
        if rules is None:
            rules = self._found.rules[space] = self._rules_of(self._written(space))
        return rules

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
        key = _DEFAULT_RULES
        if written:
            key = json.dumps([written.get("pii_redaction"), written.get("env_allow")], sort_keys=True)
        if key not in self._rules:
            # Never cleared, and the first of two threads wins: writers ask whether the rules are the same ones.
            self._rules.setdefault(key, self._redactor.rules(written))
        return self._rules[key]

    def _written(self, name: str) -> Mapping[str, JSONValue]:
        space = self._find(name)
        return space.policies if space is not None else {}

    def _find(self, name: str) -> Space | None:
        spaces = self._found.spaces
        if spaces is None:
            return self._stores.spaces.find(name)
        if name not in spaces:
            spaces[name] = self._stores.spaces.find(name)
        return spaces[name]
