"""What a task is about: its words without those of the order, and whether it builds software.

What is being worked on and what somebody prefers belong into a context only where the task touches them: "Write a
haiku" touches neither; "Continue", "Fix the failing test" and "Review my changes" name nothing else, and so mean the
work in hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hexad.layers.contract import MemoryQuery, TaskType
from hexad.search.recall.query_terms import understand
from hexad.text.search_terms import QUESTION_WORDS, STOP_WORDS

BUILDING: Final = frozenset({TaskType.EDIT, TaskType.DESIGN, TaskType.REFACTOR})
_ORDERS: Final = frozenset(
    "write add make create build fix change update edit improve implement begin start finish complete do try help "
    "give show tell explain describe list find look check review test run debug refactor rename remove delete "
    "clean move put set let get go keep continue resume proceed carry pick design draft prepare generate please "
    "quickly again now just also then rest another better faster simpler shorter wrong right fail break broken "
    "crash happen new quick small simple short first next last open current recent remaining".split()
)
"""Words of orders, and of how they are to be done: what is ordered stands beside them."""
_POLITE: Final = frozenset("please could can would will you we i me us let's lets want need like to".split())
_WORK: Final = frozenset(
    "task work step todo ticket issue bug error problem failure exception warning test suite build code file line "
    "change diff commit branch pr patch review edit session progress status plan goal job thing stuff part where "
    "left off".split()
)
"""Words for work as such: a task that has no others is about the work in hand."""
_SOFTWARE: Final = frozenset(
    "algorithm api app application architecture array auth backend backup benchmark binary browser bug button "
    "bytecode cache callback chart check checkout ci class cli client cloud cluster code codebase column command "
    "commit compiler component config configuration connection constructor container controller cookie cron css "
    "csv daemon dashboard data database dataset debug decorator dependency deploy deployment desktop directory "
    "docker docs documentation dropdown embedding encoder endpoint engine enum environment error event exception "
    "export extension feature field file filter fixture flag folder footer form framework frontend function "
    "gateway git graph graphql handler hash header hook html http icon id implement import index input installer "
    "instance integration interface javascript job json kernel key kubernetes layout library lint linter loader "
    "lock log logger logic login lookup loop macro mapper menu merge method metric microservice middleware "
    "migrate migration mock modal mode model module mutex namespace navigation network node notification oauth "
    "object orm output package pagination panel param parameter parser password patch payload permission picker "
    "pipeline plugin pool prompt property protocol proxy pull python query queue race react readme redirect "
    "refactor regex registry release renderer repository request resolver response rest retry rollout route "
    "router runner rust scheduler schema scraper screen script sdk search secret selector serializer server "
    "service session shell shop sidebar signature site socket software spinner sql ssl stack store stream string "
    "struct style subclass suite support sync syntax system table template terminal test thread timeout toggle "
    "token tool tooltip type typescript typing typo ui unit upload url user util validate validation validator "
    "variable version view wasm web webhook website widget worker wrapper xml yaml".split()
)
_CODE: Final = re.compile(r"`[^`]+`|\w\.\w|\w_\w|[a-z][A-Z]|\(\)|/\w+/|--\w")
"""What is written as code: names with a dot, an underscore or a hump, calls, paths, flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTopic:
    """What a task is about. `words` is empty where it names nothing but the work itself."""

    words: tuple[str, ...]
    builds: bool

    @property
    def is_in_hand(self) -> bool:
        """Whether the task goes on with what is being worked on, or asks about it."""
        return not self.words


def topic_of(query: MemoryQuery) -> TaskTopic:
    """Return what a query is about.

    >>> from datetime import UTC, datetime
    >>> def words(text): return topic_of(MemoryQuery(text=text, now=datetime(2026, 1, 1, tzinfo=UTC))).words
    >>> words("Write a haiku"), words("What should I do next?"), words("Fix the failing tests of the login form")
    (('haiku',), (), ('login', 'form'))
    """
    wanted_terms = understand(query.text, now=query.now).wanted
    telling = [word for word in wanted_terms if word not in STOP_WORDS and word not in QUESTION_WORDS]
    words = tuple(word for word in telling if not _is_one_of(word, (_ORDERS, _WORK)))
    builds = query.task_type is TaskType.REFACTOR or (
        query.task_type in BUILDING
        and (
            not words
            or any(_is_one_of(word, (_SOFTWARE,)) for word in wanted_terms)
            or _CODE.search(query.text) is not None
        )
    )
    return TaskTopic(words=words, builds=builds)


def object_of(query: MemoryQuery) -> str:
    """Return what an order is about: its text without the words that only order, all of it where nothing else is left.

    A memory is not asked for by the word "write".

    >>> from datetime import UTC, datetime
    >>> def text(text): return object_of(MemoryQuery(text=text, now=datetime.now(UTC), task_type=TaskType.EDIT))
    >>> text("Could you please write a haiku?"), text("Fix it.")
    ('a haiku?', 'Fix it.')
    """
    if query.task_type not in BUILDING:
        return query.text
    words = query.text.split()
    rest = [*words]
    while rest and (word := rest[0].strip(".,!").lower()) and (word in _POLITE or word in _ORDERS):
        rest = rest[1:]
    text = " ".join(rest)
    return text if text and topic_of(replace(query, text=text)).words else query.text


def _is_one_of(word: str, lists: Iterable[Collection[str]]) -> bool:
    return any(form in words for words in lists for form in _forms(word))


def _forms(word: str) -> Sequence[str]:
    """Return a word and what is left of it without an ending."""
    forms = [word]
    for ending, instead in (
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("ing", ""),
        ("ing", "e"),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word.removesuffix(ending)
            forms.append(stem + instead)
            if len(stem) > 2 and stem[-1] == stem[-2]:
                forms.append(stem[:-1])
    return forms
