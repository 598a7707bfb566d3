"""What a project tells the user layer: which plain values its facts have, and nothing else of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hexad.core.json_types import JSONValue
from hexad.database.meta import STORE_ID
from hexad.database.store_context import StoreContext
from hexad.ingest.sources.checkout import checkout
from hexad.layers.project.technologies import named_key
from hexad.layers.user.tables.preferences import look
from hexad.layers.user.values import VALUE_CHARS_LIMIT, ProjectValue
from hexad.memory.decision import DECISION
from hexad.memory.memory import Memory, Trust
from hexad.memory.policy import parse_stored
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.text.key_names import key_of

PATTERN: Final = "pattern"
PATTERN_PREFIX: Final = "pattern/"
"""Before the attribute of what a project publishes as a pattern."""
PUBLISHED_KINDS: Final = ("tech-stack", "convention", PATTERN)
"""Kinds of facts that say how somebody builds; others stay in their project."""
PUBLISHED_LEAST: Final = 0.5
"""A draft that is less sure than this is no choice yet."""
VALUES_LIMIT: Final = 500
"""So many values one project publishes at most."""
_TAKEN_OUT: Final = "[REDACTED:"
_VALUE_KEYS: Final = ("value", "name")
_LEARNED: Final = "learned_at"
_NAMED: Final = "named_in_user_layer"
_HERE: Final = "here"
_LEFT: Final = "left"
"""Whether rows of the user layer name this project, though it may have published nothing; left of them may be what
somebody stated of it.
"""


class PublishingProject:
    """This project as the user layer knows it, and the project's own note of what it left there."""

    def __init__(self, context: StoreContext, everything: Stores) -> None:
        self._context, self._stores, self._meta = context, everything, everything.meta

    @property
    def id(self) -> str:
        """The id of the project's store."""
        return self._meta.get(STORE_ID) or ""

    def place(self) -> str | None:
        """Return where the project is in its repository, as a hash; None outside of one."""
        folder = self._context.directory.parent
        repository = checkout(folder)
        if repository.head is None:
            return None
        inside = folder.resolve().relative_to(repository.folder)
        words = f"{repository.place.repository}\0{inside.as_posix()}"
        return hashlib.blake2b(words.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def facts(self) -> Sequence[Memory]:
        """Return the project's facts that say how it is built."""
        memories = self._stores.memories
        numbers = memories.numbers(Filters(kinds=PUBLISHED_KINDS))
        facts = memories.by_no(numbers)
        return [facts[no] for no in numbers]

    def decided(self) -> frozenset[str]:
        """Return the attributes of the facts and decisions; a decision without one has that of what it names."""
        memories = self._stores.memories
        numbers = memories.numbers(Filters(kinds=(*PUBLISHED_KINDS, DECISION)))
        facts = memories.by_no(numbers).values()
        attributes = (
            named_key(str(fact.metadata.get("title") or "")) if fact.attribute is None else fact.attribute
            for fact in facts
        )
        return frozenset(attribute for attribute in attributes if attribute is not None)

    def has_facts(self) -> bool:
        """Whether there is any fact that says how it is built."""
        return bool(self._stores.memories.numbers(Filters(kinds=PUBLISHED_KINDS), limit=1))

    def hidden_spaces(self) -> frozenset[str]:
        """Return the spaces that hide anything from anybody: nothing of them leaves the project."""
        return frozenset(
            space.name for space in self._stores.spaces.list() if parse_stored(space.policies).hides
        )

    @property
    def learned_at(self) -> str | None:
        """When it published last, as it is stored; nothing where it never did or takes part no more."""
        return self._meta.get(_LEARNED)

    @property
    def is_named(self) -> bool:
        """Whether rows of the layer name it now."""
        return self._meta.get(_NAMED) == _HERE

    @property
    def may_be_named(self) -> bool:
        """Whether the layer may hold anything of it."""
        return bool(self._meta.get(_LEARNED) or self._meta.get(_NAMED))

    def note_learning(self) -> None:
        """Note that it published, or that it left."""
        learning = self._context.settings.user.learning
        self._meta.put(_LEARNED, self._context.clock.now().isoformat() if learning else "")
        if not learning and self._meta.get(_NAMED):
            self._meta.put(_NAMED, _LEFT)

    def note_named(self) -> None:
        """Note that a row of the layer is to name it; before that row is written."""
        if not self.is_named:
            self._meta.put(_NAMED, _HERE)

    def note_retracted(self) -> None:
        """Note that nothing in the layer names it any more."""
        self._meta.put(_LEARNED, "")
        self._meta.put(_NAMED, "")


class PublishedValues(NamedTuple):
    """The values of a project, and why others are not among them: a reason and how many."""

    values: list[ProjectValue]
    left_out: Mapping[str, int]


def publishable(
    project_id: str,
    facts: Iterable[Memory],
    *,
    hidden: frozenset[str],
    objection: Callable[[str], str | None],
    now: datetime,
) -> PublishedValues:
    """Return what a project's facts publish: pairs of an attribute and a plain value, and when it was last seen.

    Neither what is about a person, nor what stands in a space that hides anything (`hidden`), nor what nobody
    vouches for, nor what holds a secret or personal data, nor what reads as instructions: `objection` says of a text
    why it may not leave its project, None where it may.
    """
    values_by_key: dict[tuple[str, str], ProjectValue] = {}
    left_out: Counter[str] = Counter()
    for fact in facts:
        if fact.kind not in PUBLISHED_KINDS or fact.attribute is None or fact.value is None:
            continue
        if fact.valid_to is not None and fact.valid_to <= now:
            continue
        reason = _unfit(fact, hidden)
        if reason is not None:
            left_out[reason] += 1
            continue
        attribute = key_of(fact.attribute)
        attribute = f"{PATTERN_PREFIX}{attribute}" if attribute and fact.kind == PATTERN else attribute
        for value in plain_values(fact.value):
            reason = _unwritable(attribute, value) or objection(f"{fact.attribute} = {value}")
            if reason is None and len(values_by_key) >= VALUES_LIMIT:
                reason = "too many"
            if reason is not None:
                left_out[reason] += 1
                continue
            project_value = ProjectValue(
                project_id=project_id, attribute=attribute, value=value, last_seen=min(fact.updated_at, now)
            )
            before = values_by_key.get((attribute, look(value)))
            if before is None or before.last_seen < project_value.last_seen:
                values_by_key[attribute, look(value)] = project_value
    return PublishedValues(values=list(values_by_key.values()), left_out=dict(sorted(left_out.items())))


def _unfit(fact: Memory, hidden: frozenset[str]) -> str | None:
    if fact.space in hidden:
        return "hidden space"
    if fact.data_subjects:
        return "about a person"
    if fact.trust.rank < Trust.TOOL.rank:
        return "not trusted"
    if fact.confidence < PUBLISHED_LEAST:
        return "a draft"
    return "reads as instructions" if fact.instruction_like else None


def _unwritable(attribute: str, value: str) -> str | None:
    if not attribute or not look(value):
        return "empty"
    if _TAKEN_OUT in value:
        return "redacted"
    return "too long" if len(value) > VALUE_CHARS_LIMIT else None


def plain_values(value: JSONValue) -> Iterator[str]:
    """Yield the plain values that a fact's value says: itself, those of a list, the name or the one value of an object.

    >>> list(plain_values(["pytest", {"name": "ruff", "version": "0.9"}, 3, 8080000, 2.0, None, True]))
    ['pytest', 'ruff', '3', '8080000', '2', 'true']
    """
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    elif isinstance(value, Mapping):
        named = next((value[key] for key in _VALUE_KEYS if key in value), None)
        if named is None and len(value) == 1:
            (named,) = value.values()
        if isinstance(named, str | int | float | list):
            yield from plain_values(named)
    elif isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, list | tuple):
                yield from plain_values(item)
