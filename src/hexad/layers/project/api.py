"""`hx.project`: what is true of the project: decisions, patterns, todos, tech stack, conventions, components."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.arguments import (
    all_texts_checked,
    expanded,
    is_real,
    parse_choice,
    parse_path,
    parse_time,
    parse_whole,
    quoted,
    word_list,
)
from hexad.core.json_types import JSONValue
from hexad.database.sqlite_errors import all_failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput, NotFound
from hexad.ingest.write.validate import check_json
from hexad.layers.governance import IMPORTANCE, GovernanceFacade, key_of, parse_details
from hexad.layers.project.detection import scan_folder
from hexad.layers.project.upkeep import note_look, switch_off
from hexad.layers.project.values import (
    INFERRED_MOST,
    Category,
    ComponentSummary,
    Detected,
    Finding,
    ProjectFact,
    fact_text,
    parse_category,
    project_fact,
    value_text,
)
from hexad.memory.confidence import DRAFT, risen
from hexad.memory.decision import PROJECT_SPACE, TITLE_LIMIT, Decision, check_title, said_in
from hexad.memory.draft import DEFAULT_SPACE, Draft, MemoryWriter
from hexad.memory.memory import Citation, Memory, Outcome, Status, Trust
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.search.indexer import Indexer
from hexad.text.key_names import filed_under, topic_key
from hexad.text.paths import validate_space
from hexad.text.same_values import same_value
from hexad.text.similarity.lookalikes import look_of, look_of_fact

COMPONENT: Final = "component"
SUMMARY: Final = "summary"
_MOST: Final = 1_000


def component_of(memory: Memory) -> ComponentSummary:
    """Return the summary of a component that a memory holds."""
    return ComponentSummary(
        memory_id=memory.id,
        name=memory.subject or "",
        summary=memory.raw,
        files=tuple(citation.path for citation in memory.citations),
        updated_at=memory.updated_at,
        replaces=memory.supersedes,
        needs_review=memory.metadata.get("needs_review") is True,
    )


DETECTED: Final = "detected"
"""Name in a memory's metadata: true for a fact that a look at the repository noted."""
_INFERRED: Final = 0.4
_CITED_MOST: Final = 10


@all_failures_translated
@all_texts_checked
class ProjectFacade:
    """Facts about one project, in five categories, each under a key; a new value takes the place of the older one.

    Facts are memories in the space `project`: recall finds them, erasure reaches them, `hx.facts` tells their history.
    What was inferred and not said is a draft: it is less sure, and rises each time that it is seen again.
    """

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        *,
        indexer: Indexer,
        writer: Callable[[], MemoryWriter],
        governance: Callable[[], GovernanceFacade],
    ) -> None:
        self._context, self._stores, self._governance = context, stores, governance
        self._indexer, self._writer, self._name = indexer, writer, context.project

    # Saying ----------------------------------------------------------------------------------------------------

    def remember(
        self,
        *,
        category: str,
        key: str,
        value: JSONValue,
        importance: float | None = None,
        confidence: float | None = None,
        component: str | None = None,
        links: Iterable[str] = (),
        tags: Iterable[str] | None = None,
        valid_from: datetime | str | None = None,
        trust: str = "user",
        space: str = PROJECT_SPACE,
    ) -> ProjectFact:
        """Store a fact of the project durably and return it.

        `category` is `decision`, `pattern`, `todo`, `tech_stack` or `convention`; `component` is the part of the
        project that it is about, by default all of it. A decision is also recorded in `hx.governance`, with the
        `rationale` and the `alternatives` of its value. The same fact again is evidence for the one that is there.

        Raises `InvalidInput` (`InvalidMemory`) for a value that cannot be used; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.project.remember(category="tech_stack", key="database", value="SQLite")
        ...     fact = hx.project.remember(category="tech_stack", key="database", value="PostgreSQL", importance=0.9)
        ...     fact.text, {key: entry.value for key, entry in hx.project.get_tech_stack().items()}
        ('Tech stack: database is PostgreSQL.', {'database': 'PostgreSQL'})
        """
        kind, name = parse_category(category), key_of(key)
        if value is None or (isinstance(value, str) and not value.strip("\0 \t\r\n")):
            raise InvalidInput(
                f"value = {quoted(value)} says nothing of {name!r}; give a text, a number, a list or an object.",
                argument="value",
            )
        value = check_json("value", value)
        given, name = name, self._standing_name(kind, name, component=component, space=space)
        cited = word_list(links, "links")
        draft = Draft(
            text=fact_text(kind, name, value, component=component),
            composed=True,
            space=space,
            kind=kind.kind,
            subject=component or self._name,
            attribute=name,
            value=value,
            importance=importance,
            confidence=confidence,
            citations=tuple(Citation(path=link) for link in cited) or None,
            tags=None if tags is None else word_list(tags, "tags"),
            trust=parse_choice(Trust, trust, "trust"),
            valid_from=parse_time(valid_from, "valid_from"),
        )
        if kind is Category.DECISION:
            return self._decided(draft, value, cited)
        fact = self._same(draft)
        if fact is not None and fact.draft and draft.trust is Trust.USER:
            # Said by somebody, it is no draft any more.
            draft = replace(
                draft, metadata={DRAFT: False}, confidence=1.0 if confidence is None else confidence
            )
        written = self._written(draft)
        if name == given:
            return written
        return replace(written, notes=(filed_under(name, given), *written.notes))

    def remember_decision(
        self,
        title: str,
        *,
        key: str | None = None,
        description: str = "",
        rationale: str = "",
        alternatives: Iterable[JSONValue] = (),
        links: Iterable[str] = (),
        by: str | None = None,
        supersedes: str | None = None,
        component: str | None = None,
        importance: float = IMPORTANCE,
        tags: Iterable[str] | None = None,
        space: str | None = None,
    ) -> Decision:
        """Record a decision of the project, as `hx.governance.decide` does, and as a fact of it.

        `key` says what it decides: a later decision with that key takes its place. `space` and `tags` default as there.
        Raises what `decide` does.
        """
        details = parse_details(title, description, rationale, alternatives, links, by)
        draft = Draft(
            text="",
            space=PROJECT_SPACE if space is None else space,
            kind=Category.DECISION.kind,
            subject=None if key is None else component or self._name,
            attribute=None if key is None else key_of(key),
            importance=importance,
            tags=None if tags is None else word_list(tags, "tags"),
        )
        return self._governance().record(details, draft, supersedes=supersedes, inherits_space=space is None)

    def remember_component(
        self, name: str, summary: str, *, files: Iterable[str] = (), space: str = PROJECT_SPACE
    ) -> ComponentSummary:
        """Say what a component of the project is; the summary stays until another one takes its place.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.project.remember_component("billing", "Turns orders into invoices.", files=["src/billing/"])
        ...     [(part.name, part.summary) for part in hx.project.components()]
        [('billing', 'Turns orders into invoices.')]
        """
        memory = self._write(
            Draft(
                text=summary,
                space=space,
                kind=COMPONENT,
                subject=key_of(name, "name"),
                attribute=SUMMARY,
                citations=tuple(Citation(path=path) for path in word_list(files, "files")) or None,
            )
        )
        return component_of(memory)

    def observe(
        self,
        *,
        category: str,
        key: str,
        value: JSONValue,
        seen_in: Iterable[str] = (),
        confidence: float = _INFERRED,
        component: str | None = None,
        space: str = PROJECT_SPACE,
    ) -> ProjectFact | None:
        """Note something that was inferred: a draft, at most 0.6 sure, and surer each time that it is seen again.

        What somebody said stays as it is: that fact is returned where it says the same, None where it says something
        else. `seen_in` are paths that show it; they become the fact's citations. Raises as `remember` does.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     for path in ("src/users.ts", "src/orders.ts", "src/invoices.ts"):
        ...         fact = hx.project.observe(category="pattern", key="data_access", value="Prisma", seen_in=[path])
        ...     fact.draft, fact.evidence, fact.confidence, [cited.path for cited in fact.citations]
        (True, 3, 0.6188, ['src/invoices.ts', 'src/orders.ts', 'src/users.ts'])
        """
        kind = parse_category(category)
        if kind is Category.DECISION:
            raise InvalidInput(
                "category = 'decision' cannot be observed: somebody decides; use remember_decision.",
                argument="category",
            )
        value = check_json("value", value)
        if not is_real(confidence) or not 0 < confidence <= INFERRED_MOST:
            raise InvalidInput(
                f"confidence = {quoted(confidence)} is not possible for what was inferred; give more than 0 and at "
                f"most {INFERRED_MOST}, or say it with remember.",
                argument="confidence",
            )
        name = key_of(key)
        return self._observed(
            Finding(
                category=kind,
                key=name,
                value=value,
                confidence=confidence,
                seen_in=word_list(seen_in, "seen_in"),
            ),
            component=component,
            space=space,
        )[1]

    def confirm(
        self, category: str, key: str, *, component: str | None = None, space: str = PROJECT_SPACE
    ) -> ProjectFact:
        """Say of a draft that it is so, and return the fact. Raises `NotFound` when there is none under that key."""
        facts = self.get(category, key=key, component=component, space=space)
        if not facts:
            raise NotFound(f"No {category} fact {key!r} is known;", remedy="`{hx.project.get()}` lists them.")
        fact = facts[0]
        about = None if look_of(fact.component) == look_of(self._name) else fact.component
        return self.remember(category=category, key=fact.key, value=fact.value, component=about, space=space)

    def done(self, key: str, *, component: str | None = None, space: str | None = None) -> ProjectFact:
        """Say that a todo is done: it is archived, and `hx.restore` brings it back. Raises `NotFound`."""
        facts = self.get(Category.TODO, key=key, component=component, space=space)
        if not facts:
            raise NotFound(f"No todo {key!r} is open;", remedy="`{hx.project.get_todos()}` lists them.")
        with self._stores.db.transaction():
            no = self._stores.memories.number(facts[0].memory_id)
            self._indexer.archive(no, at=self._context.clock.now())
            return project_fact(self._stores.memories.by_no([no])[no])

    # Looking ----------------------------------------------------------------------------------------------------

    def detect(
        self, root: str | Path | None = None, *, space: str = PROJECT_SPACE, dry_run: bool = False
    ) -> Detected:
        """Look at the repository and note what its files give away: tech stack, conventions, patterns.

        Dependency files, settings, the layout, the habits of its tests and the naming of files and functions are
        looked at; nothing is run. What is found is a draft, at most 0.6 sure, that rises when a later look finds it
        again. What somebody said is not changed: where the files say something else, `differs` tells it. `root` is
        by default the folder of the project. `dry_run` notes nothing.

        `forget_detected` takes it back. Raises `NotFound` when there is no such folder.
        """
        validate_space(space)
        folder = (
            self._context.directory.parent if root is None else expanded(parse_path(root, "root"), "root")
        )
        looked = scan_folder(folder)
        report = Detected(
            root=str(folder),
            files=looked.files,
            findings=looked.findings,
            notes=looked.notes,
            dry_run=dry_run,
        )
        if dry_run:
            return report
        facts: dict[str, list[ProjectFact]] = {"new": [], "seen_again": [], "changed": [], "known": []}
        differs: list[Finding] = []
        with self._stores.db.transaction():
            for finding in looked.findings:
                outcome, fact = self._observed(finding, space=space, detected=True)
                if fact is None:
                    differs.append(finding)
                else:
                    facts[outcome].append(fact)
            if folder.resolve() == self._context.directory.parent.resolve():
                note_look(self._stores.meta, looked.findings)
        self._context.wake()
        return replace(
            report,
            new=tuple(facts["new"]),
            seen_again=tuple(facts["seen_again"]),
            changed=tuple(facts["changed"]),
            known=tuple(facts["known"]),
            differs=tuple(differs),
        )

    def forget_detected(self, *, space: str = PROJECT_SPACE, dry_run: bool = False) -> list[ProjectFact]:
        """Archive what looks at the repository noted and nobody confirmed, and return it.

        `hx.restore` brings a fact back. `maintain` looks no more until `detect` is called. `dry_run` only returns it.

        >>> import hexad, pathlib, tempfile
        >>> root = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (root / "requirements.txt").write_text("flask")
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.project.detect(root)
        ...     [fact.key for fact in hx.project.forget_detected()], hx.project.get()
        (['web_framework'], [])
        """
        kinds = [kind.kind for kind in Category]
        with self._stores.db.transaction():
            memories = [
                memory
                for memory in self._memories(kinds, space)
                if memory.metadata.get(DETECTED) is True and memory.metadata.get(DRAFT) is True
            ]
            if not dry_run:
                for memory in memories:
                    self._indexer.archive(
                        self._stores.memories.number(memory.id), at=self._context.clock.now()
                    )
                switch_off(self._stores.meta)
        return sorted(map(project_fact, memories), key=lambda fact: (fact.category, fact.key, fact.memory_id))

    def get(
        self,
        category: str | None = None,
        *,
        key: str | None = None,
        component: str | None = None,
        min_confidence: float = 0.0,
        drafts: bool = True,
        space: str | None = PROJECT_SPACE,
        limit: int = 200,
    ) -> list[ProjectFact]:
        """Return the facts that stand, the most important first, then the surest, then by key.

        `space=None` asks the default space besides the project's: what texts and messages said of themselves.

        `drafts=False` leaves out what was inferred. An empty list when nothing is known. Raises `NotFound` for a space
        that was never created.
        """
        parse_whole(limit, "limit", least=1)
        if not is_real(min_confidence) or not 0 <= min_confidence <= 1:
            raise InvalidInput(
                f"min_confidence = {quoted(min_confidence)} is no number from 0 to 1; give one, such as 0.5.",
                argument="min_confidence",
            )
        if space not in (None, PROJECT_SPACE):
            self._stores.spaces.get(space)
        kinds = [parse_category(category)] if category is not None else list(Category)
        look = (
            None if key is None else look_of(key_of(key)),
            None if component is None else look_of(component),
        )
        topic = None if key is None else topic_key(key_of(key))
        facts = [
            memory
            for memory in map(project_fact, self._memories([kind.kind for kind in kinds], space))
            if memory.confidence >= min_confidence
            and (drafts or not memory.draft)
            and (
                look[0] in (None, look_of(memory.key))
                or (memory.category is not Category.TODO and topic_key(memory.key) == topic)
            )
            and look[1] in (None, look_of(memory.component))
        ]
        facts.sort(key=lambda fact: (-fact.importance, -fact.confidence, fact.key, fact.memory_id))
        return facts[:limit]

    def get_patterns(self, *, min_confidence: float = 0.0, space: str = PROJECT_SPACE) -> list[ProjectFact]:
        """Return the patterns of the project: how things are done again and again in it."""
        return self.get(Category.PATTERN, min_confidence=min_confidence, space=space)

    def get_conventions(
        self, *, min_confidence: float = 0.0, space: str = PROJECT_SPACE
    ) -> list[ProjectFact]:
        """Return the conventions of the project: what was agreed on, or is kept to."""
        return self.get(Category.CONVENTION, min_confidence=min_confidence, space=space)

    def get_todos(self, *, component: str | None = None, space: str | None = None) -> list[ProjectFact]:
        """Return the todos that are open, technical debt among them, the most important first.

        Without a `space` those of the project's space, and what texts of the default one said of themselves.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("TODO: write the report")
        ...     [todo.text for todo in hx.project.get_todos()]
        ['TODO: write the report']
        """
        return self.get(Category.TODO, component=component, space=space)

    def get_decisions(
        self, *, in_force: bool | None = True, space: str | None = None, limit: int = 50
    ) -> list[Decision]:
        """Return the decisions of the project, the newest first: `hx.governance.query` of those in force."""
        return self._governance().query(space=space, in_force=in_force, limit=limit)

    def get_tech_stack(
        self, *, component: str | None = None, min_confidence: float = 0.0, space: str = PROJECT_SPACE
    ) -> dict[str, ProjectFact]:
        """Return what the project is built with, by key, in the order of the keys.

        Where components differ, the fact about the whole project stands under the key; `component` asks for its own.
        """
        facts = self.get(
            Category.TECH_STACK, component=component, min_confidence=min_confidence, space=space, limit=_MOST
        )
        whole = look_of(self._name)
        stack: dict[str, ProjectFact] = {}
        for fact in sorted(facts, key=lambda fact: look_of(fact.component) != whole):
            stack.setdefault(fact.key, fact)
        return dict(sorted(stack.items()))

    def components(self, *, space: str = PROJECT_SPACE) -> list[ComponentSummary]:
        """Return the summaries of the components, by name."""
        summaries = [
            component_of(memory)
            for memory in self._memories([COMPONENT], space)
            if memory.attribute == SUMMARY
        ]
        return sorted(summaries, key=lambda summary: (summary.name, summary.memory_id))

    def component(self, name: str, *, space: str = PROJECT_SPACE) -> ComponentSummary:
        """Return the summary of a component. Raises `NotFound`."""
        for component in self.components(space=space):
            if look_of(component.name) == look_of(name):
                return component
        raise NotFound(f"No component {name!r} is known;", remedy="`{hx.project.components()}` lists them.")

    # Inside -----------------------------------------------------------------------------------------------------------

    def _memories(self, kinds: list[str], space: str | None) -> list[Memory]:
        names = (PROJECT_SPACE, DEFAULT_SPACE) if space is None else (space,)
        spaces = tuple(name for name in names if self._stores.spaces.find(name) is not None)
        if not spaces:
            return []
        filters = Filters(spaces=spaces, kinds=tuple(kinds), roles=self._stores.roles)
        with self._stores.db.read():
            numbers = self._stores.memories.numbers(filters)
            memories = self._stores.memories.by_no(numbers)
        return [memories[no] for no in numbers]

    def _standing_name(self, category: Category, key: str, *, component: str | None, space: str) -> str:
        """Return the key under which a fact stands that others call `key`; `key` itself where none does."""
        place = self._stores.spaces.find(space)
        if place is None:
            return key
        facts = Facts(self._stores.db, roles=self._stores.roles)
        subject = component or self._name
        return facts.standing_name(subject, key, kind=category.kind, space_no=place.no) or key

    def _standing(self, draft: Draft) -> list[ProjectFact]:
        """Return the facts that stand under the key of a draft."""
        look, space = look_of_fact(draft.subject, draft.attribute), self._stores.spaces.find(draft.space)
        if look is None or space is None:
            return []
        facts = Facts(self._stores.db, roles=self._stores.roles)
        with self._stores.db.read():
            line = facts.line(look, space_no=space.no, statuses=(Status.ACTIVE,))
            numbers = [row.no for row in line if row.kind == draft.kind]
            memories = self._stores.memories.by_no(numbers)
        return [project_fact(memories[no]) for no in numbers]

    def _decided(self, draft: Draft, value: JSONValue, links: tuple[str, ...]) -> ProjectFact:
        assert draft.attribute is not None
        words = (
            next((inner for inner in value.values() if isinstance(inner, str)), "")
            if isinstance(value, Mapping)
            else value_text(value)
        )
        title = f"{draft.attribute.replace('_', ' ')}: {words}"[:TITLE_LIMIT]
        details = said_in(
            value, title=title, text="" if isinstance(value, Mapping) else value_text(value), cited=links
        )
        details = replace(details, title=check_title(details.title))
        extra = value if isinstance(value, Mapping) else {"value": value}
        importance = IMPORTANCE if draft.importance is None else draft.importance
        decision = self._governance().record(details, replace(draft, importance=importance), extra=extra)
        assert decision.memory_id is not None
        return project_fact(self._stores.memories.get(decision.memory_id))

    def _observed(
        self,
        finding: Finding,
        *,
        component: str | None = None,
        space: str = PROJECT_SPACE,
        detected: bool = False,
    ) -> tuple[str, ProjectFact | None]:
        """Note a finding; return what became of it: `new`, `seen_again`, `changed`, `known` or `differs`."""
        said = self._said_near(finding, component=component, space=space)
        if said is not None:
            return "known", said
        name = self._standing_name(finding.category, finding.key, component=component, space=space)
        draft = Draft(
            text=fact_text(finding.category, name, finding.value, component=component),
            composed=True,
            space=space,
            kind=finding.category.kind,
            subject=component or self._name,
            attribute=name,
            value=finding.value,
            confidence=finding.confidence,
            trust=Trust.TOOL,
            metadata={DRAFT: True, DETECTED: True} if detected else {DRAFT: True},
        )
        with self._stores.db.transaction():
            standing = self._standing(draft)
            facts = [fact for fact in standing if not fact.draft]
            if facts:
                same = next((fact for fact in facts if fact.value == finding.value), None)
                return ("differs", None) if same is None else ("known", same)
            fact = next((fact for fact in standing if fact.text == draft.text), None)
            cited = {*finding.seen_in, *(citation.path for citation in (fact.citations if fact else ()))}
            draft = replace(
                draft, citations=tuple(Citation(path=path) for path in sorted(cited)[:_CITED_MOST]) or None
            )
            if fact is not None:
                return "seen_again", self._written(replace(draft, confidence=risen(fact.confidence)))
            return "changed" if standing else "new", self._written(draft)

    def _said_near(self, finding: Finding, *, component: str | None, space: str) -> ProjectFact | None:
        """Return what somebody said of a finding's value under a key that is near its own; None where nobody did."""
        if self._stores.spaces.find(space) is None:
            return None
        subject = component or self._name
        facts = self.get(finding.category, key=finding.key, component=subject, space=space, drafts=False)
        return next((fact for fact in facts if same_value(fact.value, finding.value)), None)

    def _same(self, draft: Draft) -> ProjectFact | None:
        return next((fact for fact in self._standing(draft) if fact.text == draft.text), None)

    def _write(self, draft: Draft) -> Memory:
        memory = self._writer().write([draft])[0]
        self._context.wake()
        return memory

    def _written(self, draft: Draft) -> ProjectFact:
        memory = self._write(draft)
        if memory.receipt is not None and memory.receipt.outcome is Outcome.EVIDENCE:
            memory = replace(self._stores.memories.get(memory.id), receipt=memory.receipt)
        return project_fact(memory)
