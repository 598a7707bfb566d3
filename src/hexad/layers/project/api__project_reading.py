"""Asking what is known of a project: the part of `hx.project` that changes nothing."""

from __future__ import annotations

from typing import Final

from hexad.core.arguments import is_real, parse_whole, quoted
from hexad.errors import InvalidInput, NotFound
from hexad.layers.governance.api import SPACE, GovernanceFacade
from hexad.layers.project.values import Category, ComponentSummary, ProjectFact, parse_category, project_fact
from hexad.memory.decision import Decision
from hexad.memory.draft import Draft
from hexad.memory.memory import Memory, Status
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.text.similarity.lookalikes import look_of, look_of_fact

COMPONENT: Final = "component"
SUMMARY: Final = "summary"
_KEY_LIMIT: Final = 200
_MOST: Final = 1_000


class ProjectReading:
    """Reads the facts of one project, called `name`."""

    def __init__(self, stores: Stores, governance: GovernanceFacade, *, name: str) -> None:
        self._stores, self._governance, self._name = stores, governance, name

    def get(
        self,
        category: str | None = None,
        *,
        key: str | None = None,
        component: str | None = None,
        min_confidence: float = 0.0,
        drafts: bool = True,
        space: str = SPACE,
        limit: int = 200,
    ) -> list[ProjectFact]:
        """Return the facts that stand, the most important first, then the surest, then by key.

        `drafts=False` leaves out what was inferred. An empty list when nothing is known.
        """
        parse_whole(limit, "limit", least=1)
        if not is_real(min_confidence):
            raise InvalidInput(
                f"min_confidence = {quoted(min_confidence)} is no number; give one from 0 to 1."
            )
        kinds = [parse_category(category)] if category is not None else list(Category)
        wanted = (
            None if key is None else look_of(key_of(key)),
            None if component is None else look_of(component),
        )
        found = [
            one
            for one in map(project_fact, self._memories([kind.kind for kind in kinds], space))
            if one.confidence >= min_confidence
            and (drafts or not one.draft)
            and wanted[0] in (None, look_of(one.key))
            and wanted[1] in (None, look_of(one.component))
        ]
        found.sort(key=lambda one: (-one.importance, -one.confidence, one.key, one.memory_id))
        return found[:limit]

    def get_patterns(self, *, min_confidence: float = 0.0, space: str = SPACE) -> list[ProjectFact]:
        """Return the patterns of the project: how things are done again and again in it."""
        return self.get(Category.PATTERN, min_confidence=min_confidence, space=space)

    def get_conventions(self, *, min_confidence: float = 0.0, space: str = SPACE) -> list[ProjectFact]:
        """Return the conventions of the project: what was agreed on, or is kept to."""
        return self.get(Category.CONVENTION, min_confidence=min_confidence, space=space)

    def get_todos(self, *, component: str | None = None, space: str = SPACE) -> list[ProjectFact]:
        """Return the todos that are open, technical debt among them, the most important first."""
        return self.get(Category.TODO, component=component, space=space)

    def get_decisions(
        self, *, in_force: bool | None = True, space: str | None = None, limit: int = 50
    ) -> list[Decision]:
        """Return the decisions of the project, the newest first: `hx.governance.query` of those in force."""
        return self._governance.query(space=space, in_force=in_force, limit=limit)

    def get_tech_stack(
        self, *, component: str | None = None, min_confidence: float = 0.0, space: str = SPACE
    ) -> dict[str, ProjectFact]:
        """Return what the project is built with, by key, in the order of the keys.

        Where components differ, the fact about the whole project stands under the key; `component` asks for its own.
        """
        found = self.get(
            Category.TECH_STACK, component=component, min_confidence=min_confidence, space=space, limit=_MOST
        )
        whole = look_of(self._name)
        stack: dict[str, ProjectFact] = {}
        for one in sorted(found, key=lambda one: look_of(one.component) != whole):
            stack.setdefault(one.key, one)
        return dict(sorted(stack.items()))

    def components(self, *, space: str = SPACE) -> list[ComponentSummary]:
        """Return the summaries of the components, by name."""
        found = [
            component_of(memory)
            for memory in self._memories([COMPONENT], space)
            if memory.attribute == SUMMARY
        ]
        return sorted(found, key=lambda one: (one.name, one.memory_id))

    def component(self, name: str, *, space: str = SPACE) -> ComponentSummary:
        """Return the summary of a component. Raises `NotFound`."""
        for one in self.components(space=space):
            if look_of(one.name) == look_of(name):
                return one
        raise NotFound(f"No component {name!r} is known; `hx.project.components()` lists them.")

    def _memories(self, kinds: list[str], space: str) -> list[Memory]:
        if self._stores.spaces.find(space) is None:
            return []
        filters = Filters(spaces=(space,), kinds=tuple(kinds), roles=self._stores.roles)
        with self._stores.db.read():
            numbers = self._stores.memories.numbers(filters)
            found = self._stores.memories.by_no(numbers)
        return [found[no] for no in numbers]

    def _standing(self, draft: Draft) -> list[ProjectFact]:
        """Return the facts that stand under the key of a draft."""
        look, space = look_of_fact(draft.subject, draft.attribute), self._stores.spaces.find(draft.space)
        if look is None or space is None:
            return []
        facts = Facts(self._stores.db, roles=self._stores.roles)
        with self._stores.db.read():
            line = facts.line(look, space_no=space.no, statuses=(Status.ACTIVE,))
            numbers = [one.no for one in line if one.kind == draft.kind]
            found = self._stores.memories.by_no(numbers)
        return [project_fact(found[no]) for no in numbers]


def component_of(memory: Memory) -> ComponentSummary:
    """Return the summary of a component that a memory holds."""
    return ComponentSummary(
        memory_id=memory.id,
        name=memory.subject or "",
        summary=memory.raw,
        files=tuple(one.path for one in memory.citations),
        updated_at=memory.updated_at,
        replaces=memory.supersedes,
        needs_review=memory.metadata.get("needs_review") is True,
    )


def key_of(key: object, name: str = "key") -> str:
    """Return a key as it is stored; raises `InvalidInput` for what cannot be one."""
    if not isinstance(key, str) or not key.strip() or len(key) > _KEY_LIMIT or not key.isprintable():
        raise InvalidInput(
            f"{name} = {quoted(key)} cannot be used; give 1 to {_KEY_LIMIT} printable characters."
        )
    return key.strip()
