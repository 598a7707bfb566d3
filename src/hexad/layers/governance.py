"""`hx.governance`: what was decided, why, and instead of what; append-only, and told as prior context with its age."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from hexad.core.arguments import (
    NAME_CHARS_LIMIT,
    all_texts_checked,
    can_name,
    parse_choice,
    parse_text,
    parse_time,
    parse_whole,
    quoted,
    require_whole,
    value_list,
    word_list,
)
from hexad.core.json_types import JSONValue
from hexad.core.tracing import before_span
from hexad.database.sqlite_errors import all_failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.memory.decision import (
    DECISION,
    PROJECT_SPACE,
    Decision,
    DecisionText,
    FileHistory,
    SourceCommit,
    Why,
    check_title,
    decision_text,
    without_place,
)
from hexad.memory.draft import Draft, MemoryWriter
from hexad.memory.link import check_link_kind
from hexad.memory.memory import Citation, Memory, Status, Trust
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.search.indexer import Indexer
from hexad.search.recall.query_terms import RecallOptions, check_query
from hexad.search.recall.recaller import Recaller
from hexad.text.normalize import slugs

IMPORTANCE: Final = 0.8
DEPENDS_ON: Final = "depends-on"
_TEXT_LIMIT: Final = 16_000
_LIST_LIMIT: Final = 50
_KEY_LIMIT: Final = 200
_PATH_CHARS: Final = 1_024
"""Longest topic that is looked up as a path."""
_ABBREVIATED: Final = range(7, 13)
"""Characters that people write of a commit's name."""


def key_of(key: object, name: str = "key") -> str:
    """Return a key as it is stored; raises `InvalidInput` for what cannot be one."""
    if not isinstance(key, str) or not key.strip() or len(key) > _KEY_LIMIT or not key.isprintable():
        raise InvalidInput(
            f"{name} = {quoted(key)} cannot be used; give 1 to {_KEY_LIMIT} printable characters.",
            argument=name,
        )
    return key.strip()


class ReadFileHistory(Protocol):
    """Says which commits a path of the project, or what it names of a file, comes from."""

    def __call__(self, path: str, *, limit: int) -> FileHistory:
        """Return the commits, the latest first; of a whole file or folder `limit` at most."""
        ...


@all_failures_translated
@all_texts_checked
class GovernanceFacade:
    """Records decisions and says why. Nothing changes a decision: another one takes its place, and both are kept."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        *,
        indexer: Indexer,
        recaller: Recaller,
        writer: Callable[[], MemoryWriter],
        file_history: ReadFileHistory,
    ) -> None:
        """`writer` is the write path, loaded when something is written; `file_history` asks git about a path."""
        self._file_history = file_history
        self._context, self._stores = context, stores
        self._indexer, self._recaller, self._writer = indexer, recaller, writer
        self._root = context.directory.parent
        self._decisions = Decisions(stores.db, roles=stores.roles)

    # Deciding ----------------------------------------------------------------------------------------------------

    def decide(
        self,
        title: str,
        *,
        description: str = "",
        rationale: str = "",
        alternatives: Iterable[JSONValue] = (),
        links: Iterable[str] = (),
        by: str | None = None,
        key: str | None = None,
        supersedes: str | None = None,
        depends_on: Iterable[str] = (),
        space: str | None = None,
        tags: Iterable[str] | None = None,
        importance: float = IMPORTANCE,
        trust: str = "user",
    ) -> Decision:
        """Record a decision durably and return it; a memory of kind `decision` lets recall find it.

        `alternatives` are what was not chosen: texts, or objects with a `name` and the reason against it. `links` are
        paths of the repository, documents or addresses that it rests on or is about: `why` finds it by them. `by` is
        who decided, by default whoever opened the store, with a `trust` below `user` the agent, the tool or the web.
        `key` says what it decides (`orm`): it takes the place of what was decided under that key before. `supersedes`
        names the decision, or the memory, whose place it takes; both stay, and what rests on the old one is marked for
        a review. `space` and `tags` decide who may see it: without them they are those of what it supersedes, else the
        space is `project`. `depends_on` are ids or paths of memories that it rests on. Secrets are removed from all of
        it.

        Raises `InvalidInput` for a value that cannot be used, `NotFound` for a decision or memory that is not there,
        `Conflict` for one that was superseded already or says the same; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     old = hx.governance.decide("Store sessions in Redis", rationale="It was there.")
        ...     new = hx.governance.decide("Store sessions in SQLite", rationale="One process.", supersedes=old.id)
        ...     hx.governance.get(old.id).superseded_by == (new.id,), new.in_force
        (True, True)
        """
        details = parse_details(title, description, rationale, alternatives, links, by)
        draft = Draft(
            text="",
            space=PROJECT_SPACE if space is None else space,
            kind=DECISION,
            subject=None if key is None else self._context.project,
            attribute=None if key is None else key_of(key),
            tags=None if tags is None else word_list(tags, "tags"),
            importance=importance,
            trust=parse_choice(Trust, trust, "trust"),
        )
        return self.record(
            details,
            draft,
            supersedes=supersedes,
            depends_on=word_list(depends_on, "depends_on"),
            inherits_space=space is None,
        )

    def record(
        self,
        said: DecisionText,
        draft: Draft,
        *,
        supersedes: str | None = None,
        depends_on: Sequence[str] = (),
        extra: Mapping[str, JSONValue] | None = None,
        inherits_space: bool = False,
    ) -> Decision:
        """Record what `said` holds as the memory that `draft` describes; `extra` stands in its value besides.

        With `inherits_space` it goes where what it supersedes lies; without tags of its own it has that one's.
        """
        for given, kind, name in ((said, DecisionText, "said"), (draft, Draft, "draft")):
            if not isinstance(given, kind):
                raise InvalidInput(f"{name} must be a {kind.__name__}, not {quoted(given)}.", argument=name)
        if extra is not None and not isinstance(extra, Mapping):
            raise InvalidInput(f"extra must be a mapping or None, not {quoted(extra)}.", argument="extra")
        value: dict[str, JSONValue] = {
            **(extra or {}),
            "title": said.title,
            "description": said.description,
            "rationale": said.rationale,
            "alternatives": list(said.alternatives),
            "links": list(said.links),
            **({} if said.created_by is None else {"created_by": said.created_by}),
        }
        cited = tuple(Citation(path=link) for link in said.links if "://" not in link)
        writer, at = self._writer(), self._context.clock.now()
        with self._stores.db.transaction():
            with before_span("upsert_memory"):
                old = None if supersedes is None else self._replaceable(supersedes)
            if old is not None:
                draft = self._as_hidden(draft, old, inherits_space=inherits_space)
            memory = writer.write(
                [
                    replace(
                        draft,
                        text=decision_text(said),
                        composed=True,
                        title=said.title,
                        value=value,
                        citations=cited or None,
                        supersedes=None if old is None else old.memory_id,
                    )
                ]
            )[0]
            if old is not None:
                self._replace_decision(memory, old, at=at)
            no = self._stores.memories.number(memory.id)
            for name in depends_on:
                premise = self._stores.memories.resolve_one(name)
                if premise == no:
                    raise InvalidInput(
                        f"depends_on = {quoted(name)} is the decision itself; name what it rests on.",
                        argument="depends_on",
                    )
                self._stores.links.put(no, premise, check_link_kind(DEPENDS_ON), at=at)
        self._context.wake()
        return self._decisions.get(memory.id)

    def supersede(self, old: str, title: str, **given: object) -> Decision:
        """Record a decision that takes the place of another one: `decide(title, supersedes=old, …)`.

        Takes and raises what `decide` does.
        """
        return self.decide(title, supersedes=old, **given)  # type: ignore[arg-type]

    def _replaceable(self, name: str) -> Decision:
        try:
            old = self._decisions.get(name)
        except NotFound as error:
            try:
                no = self._stores.memories.resolve_one(name)
            except NotFound:
                raise error from None
            old = self._decisions.get(self._stores.memories.by_no([no])[no].id)
        if old.superseded_by:
            raise Conflict(
                f"Decision {old.id!r} was superseded by {', '.join(old.superseded_by)} already; supersede that one."
            )
        if old.memory_id is None:
            raise Conflict(f"Decision {old.id!r} was erased;", remedy="decide anew without {supersedes}.")
        return old

    def _as_hidden(self, draft: Draft, old: Decision, *, inherits_space: bool) -> Draft:
        """Return a draft that the policies judge as what it supersedes, as far as it says nothing else."""
        assert old.memory_id is not None  # what is erased is not replaceable
        tags = draft.tags if draft.tags is not None else self._stores.memories.get(old.memory_id).tags
        return replace(draft, tags=tags, space=old.space if inherits_space and old.space else draft.space)

    def _replace_decision(self, memory: Memory, old: Decision, *, at: datetime) -> None:
        if memory.id == old.memory_id:
            raise Conflict(f"Decision {old.id!r} says exactly this; nothing was changed.")
        if memory.status is not Status.ACTIVE or memory.supersedes != old.memory_id:
            return  # it waits for a review, or the old one is trusted more
        assert memory.supersedes is not None  # what is erased is not replaceable
        no = self._stores.memories.number(memory.supersedes)
        if self._indexer.archive(no, at=at):
            self._stores.memories.set_status(no, Status.SUPERSEDED, at=at)

    # Asking ----------------------------------------------------------------------------------------------------

    def get(self, id: str) -> Decision:
        """Return a decision by its id, or by that of its memory. Raises `NotFound`."""
        return self._decisions.get(_checked_id(id))

    def history(self, id: str) -> list[Decision]:
        """Return the line that a decision is in, the oldest first: what it superseded, itself, what superseded it."""
        with self._stores.db.read():
            last = self._decisions.last_of(self._decisions.get(_checked_id(id)))
            return [*reversed(self._decisions.before(last)), last]

    def query(
        self,
        text: str | None = None,
        *,
        space: str | None = None,
        project: str | None = None,
        by: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        in_force: bool | None = None,
        tags: Sequence[str] | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """Return decisions, the newest first; with `text` those that answer it, best first.

        `tags` must all be there. `in_force` True leaves out what was superseded, archived or erased, False leaves out
        the rest. What was erased has its id, its time and its receipt. Raises `NotFound` for a space that was never
        created.
        """
        parse_whole(limit, "limit", least=1)
        if in_force is not None and not isinstance(in_force, bool):
            raise InvalidInput(
                f"in_force must be True, False or None (for both), not {quoted(in_force)}.",
                argument="in_force",
            )
        wanted_tags = None if tags is None else slugs(word_list(tags, "tags"))
        if space is not None:
            self._stores.spaces.get(space)
        wanted_decisions = self._decisions.query(
            space=space,
            project=parse_text(project, "project"),
            by=parse_text(by, "by"),
            since=parse_time(since, "since"),
            until=parse_time(until, "until"),
            in_force=in_force,
            tags=wanted_tags,
            limit=limit if text is None else -1,
        )
        if text is None:
            return wanted_decisions
        by_memory = {decision.memory_id: decision for decision in reversed(wanted_decisions)}
        decisions = self._recalled(text, space=space, tags=wanted_tags, limit=limit)
        return [by_memory[decision.memory_id] for decision in decisions if decision.memory_id in by_memory]

    def why(self, topic: str, *, space: str | None = None, limit: int = 5) -> Why:
        """Return what was decided about a path of the repository that decisions cite, else about a topic.

        Of a file, `FILE:LINE`, `FILE:FIRST-LAST` and `FILE::SYMBOL` its remembered commits are told too, also where it
        was renamed or deleted; a note says when, and by which commit.
        Decisions that were superseded stand behind the one that took their place. Nothing found is an empty answer.
        Raises `NotFound` for a space that was never created, `InvalidInput` for a topic without words.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.governance.decide("Parse with ast", rationale="No dependency.", links=["src/parse.py"])
        ...     print(hx.governance.why("src/parse.py"))
        Prior context, not law: decided today by owner.
        Parse with ast
        Why: No dependency.
        See: src/parse.py
        """
        if isinstance(topic, str) and not topic.strip():
            raise InvalidInput(
                f"topic = {quoted(topic)} names nothing that was decided about;",
                argument="topic",
                remedy="give a file, a commit or a subject. `{hx.memories(kinds=['decision'])}` lists the decisions.",
            )
        topic = check_query(topic, "topic")
        parse_whole(limit, "limit", least=1)
        if space is not None:
            self._stores.spaces.get(space)
        path = self._path(topic)
        history = self._file_history(path, limit=limit) if path is not None else FileHistory()
        with self._stores.db.read():
            called = dict.fromkeys(filter(None, (path, history.file)))  # the second is its name by now
            names = [each for name in called for each in _with_folders(name)] + _commit_names(history.shas)
            decisions = self._decisions.citing(names, space=space) if names else []
            commits = self._commits(history.shas, space=space)
            lasts = list({last.id: last for last in map(self._decisions.last_of, decisions)}.values())
        notes: tuple[str, ...] = ()
        cited = bool(lasts)
        if not cited:
            if path is not None and (self._is_there(path) or history.departures):
                notes = (f"No decision cites {path}; these are by its words.",)
            lasts = self._recalled(topic, space=space, limit=limit)
        left = len(lasts) - limit
        if left > 0:
            notes = (*notes, f"{left} more; a higher limit shows them.")
        notes = (*notes, *history.notes(remembered=len(commits), limit=limit))
        lasts = lasts[:limit]
        with self._stores.db.read():
            before = {decision.id: tuple(self._decisions.before(decision)) for decision in lasts}
        return Why(
            topic=topic,
            asked_at=self._context.clock.now(),
            path=path if cited else None,
            decisions=tuple(lasts),
            before={name: older for name, older in before.items() if older},
            notes=notes,
            commits=commits[:limit],
        )

    def _commits(self, shas: Sequence[str], *, space: str | None) -> tuple[SourceCommit, ...]:
        """Return those of some commits that are remembered, in their order."""
        found = self._stores.memories.of_source_ids(shas, kind="commit", space=space) if shas else {}
        return tuple(
            SourceCommit(
                sha=sha,
                memory_id=memory.id,
                title=str(memory.metadata.get("title", "")),
                text=memory.raw,
                author=str(memory.metadata.get("author", "")),
                at=memory.valid_from or memory.created_at,
                instruction_like=memory.instruction_like,
            )
            for sha in shas
            if (memory := found.get(sha)) is not None
        )

    def _recalled(
        self, text: str, *, space: str | None, tags: tuple[str, ...] | None = None, limit: int
    ) -> list[Decision]:
        options = RecallOptions(
            near=True,
            filters=Filters(
                spaces=None if space is None else (space,),
                kinds=(DECISION,),
                tags=tags,
                roles=self._stores.roles,
            ),
            limit=limit,
            max_tokens=None,
            explain=False,
            semantic=None,
            follow_links=False,
        )
        with before_span("search_memory"):
            text = check_query(text, "text")
        with self._stores.span("search_memory", query=text, limit=limit) as told:
            hits = self._recaller.recall(text, options)
            told["items_returned"] = len(hits)
        decisions = self._decisions.of_memories([hit.id for hit in hits])
        return [decisions[hit.id] for hit in hits if hit.id in decisions]

    def _path(self, topic: str) -> str | None:
        """Return a topic as a path below the repository's root, None for what cannot be one."""
        if len(topic) > _PATH_CHARS or "\n" in topic or "\0" in topic or "://" in topic:
            return None
        given_path = Path(topic)
        if given_path.is_absolute():
            if not given_path.is_relative_to(self._root):
                return None
            given_path = given_path.relative_to(self._root)
        path = PurePosixPath(given_path.as_posix())
        return None if path.as_posix() == "." or ".." in path.parts else path.as_posix()

    def _is_there(self, path: str) -> bool:
        try:
            return (self._root / path).exists()
        except OSError:
            return False


def _with_folders(path: str) -> list[str]:
    """Return the spellings by which a decision may cite a path, or a folder that it is in."""
    file = without_place(path)
    pure = PurePosixPath(file)
    folders = [folder.as_posix() for folder in pure.parents if folder.as_posix() != "."]
    names = [path, file, f"{path}/", *folders, *(f"{folder}/" for folder in folders)]
    return [*names, *(f"./{name}" for name in names)]


def _commit_names(shas: Iterable[str]) -> list[str]:
    """Return the spellings by which a decision may cite a commit."""
    return [name for sha in shas for name in (sha, *(sha[:length] for length in _ABBREVIATED))]


def _checked_id(id: object) -> str:
    if not isinstance(id, str) or not id.strip():
        raise InvalidInput(f"id = {quoted(id)} names no decision; give its id.", argument="id")
    return id


def parse_details(
    title: object,
    description: object,
    rationale: object,
    alternatives: Iterable[JSONValue],
    links: Iterable[str],
    by: object,
) -> DecisionText:
    """Return the parts of a decision as they were given; raises `InvalidInput` naming the one that cannot be used."""
    if isinstance(by, str) and by.strip() and not (by.strip().isprintable() and can_name(by)):
        raise InvalidInput(
            f"by = {quoted(by)} cannot be used; give a name on one line, of up to {NAME_CHARS_LIMIT:,} characters.",
            argument="by",
        )
    for name, text in (("description", description), ("rationale", rationale), ("by", by)):
        if text is None and name == "by":
            continue
        if not isinstance(text, str) or len(text) > _TEXT_LIMIT:
            raise InvalidInput(
                f"{name} = {quoted(text)} cannot be used; give up to {_TEXT_LIMIT:,} characters.",
                argument=name,
            )
    if isinstance(alternatives, str | Mapping):
        raise InvalidInput(
            f"alternatives = {quoted(alternatives)} is one; give a list of them.", argument="alternatives"
        )
    listed = value_list(alternatives, "alternatives", of="texts, or objects with a name and a reason")
    odd = next((item for item in listed if not isinstance(item, str | Mapping) or not item), None)
    if odd is not None or len(listed) > _LIST_LIMIT:
        shown = quoted(odd) if odd is not None else f"{len(listed)} of them"
        raise InvalidInput(
            f"alternatives hold {shown}; give up to {_LIST_LIMIT} texts, or objects with a name and a reason.",
            argument="alternatives",
        )
    parts = [("title", title), ("description", description), ("rationale", rationale)]
    for item in listed:
        parts += [("alternatives", part) for part in (item.values() if isinstance(item, Mapping) else [item])]
    for name, part in parts:
        if isinstance(part, str):
            require_whole(part, name)
    named = word_list(links, "links")
    bad = next((link for link in named if not link.strip() or not link.isprintable()), None)
    if bad is not None or len(named) > _LIST_LIMIT:
        raise InvalidInput(
            f"links hold {quoted(bad) if bad is not None else f'{len(named)} of them'}; give up to {_LIST_LIMIT} paths "
            "or addresses.",
            argument="links",
        )
    assert isinstance(description, str)
    assert isinstance(rationale, str)
    assert by is None or isinstance(by, str)
    return DecisionText(
        title=check_title(title),
        description=description.strip(),
        rationale=rationale.strip(),
        alternatives=listed,
        links=tuple(dict.fromkeys(link.strip().removeprefix("./") for link in named)),
        created_by=(by or "").strip() or None,
    )
