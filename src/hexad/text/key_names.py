"""Names under which people and tools file the same thing: `db` and `database`, `testing` and `test_framework`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hexad.text.normalize import slug

# The name under which a look at a repository files something, and what else people call the very same. Whoever has
# both names means one thing: the later value takes the place of the earlier.
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "auth": "authentication",
    "bundler": "bundling js_bundler module_bundler",
    "cache": "cache_store",
    "ci": "ci_cd cicd ci_system ci_provider continuous_integration",
    "cli_framework": "cli_library",
    "commit_messages": "commit_message commit_message_style commit_style commit_format",
    "container": "containers containerization",
    "database": "db dbms data_base",
    "docstrings": "docstring docstring_style docstring_format",
    "documentation": "docs",
    "editor": "text_editor code_editor",
    "formatter": "code_formatter auto_formatter autoformatter",
    "http_client": "http_library http_client_library",
    "indentation": "indent indents indent_style",
    "infrastructure": "infra",
    "language": "lang programming_language",
    "line_length": "max_line_length line_width max_line_width",
    "linter": "linting linters code_linter lint_tool",
    "orm": "orms orm_library object_relational_mapper db_orm database_orm",
    "package_manager": "pkg_manager package_management",
    "node_version": "nodejs_version",
    "styling": "styles",
    "test_framework": "testing tests test testing_framework",
    "type_checker": "typechecker static_type_checker",
}
# Names of which somebody may mean the same or what stands beside it: a main database beside the datastore, a runner
# beside the framework of the tests, how code is formatted beside what does it. A question for the one finds the other,
# and nothing is suggested where either is answered; no value takes the place of the other's.
_NEAR_NAMES: Final[Mapping[str, str]] = {
    "async_runtime": "async_framework async_library",
    "auth": "authentication_library auth_library",
    "build_backend": "build_system",
    "cache": "caching",
    "cli_framework": "cli",
    "container": "container_engine",
    "database": "dbs databases datastore data_store rdbms sql_database database_engine db_engine"
    " primary_database primary_db main_database main_db",
    "deployment": "deploy deployments deploys",
    "documentation": "doc_tool docs_tool documentation_tool docs_generator documentation_generator",
    "editor": "ide",
    "formatter": "format formatting code_format code_formatting",
    "infrastructure": "iac infrastructure_as_code",
    "language": "main_language primary_language",
    "linter": "lint",
    "logging": "logger logging_library",
    "node_version": "node nodejs",
    "package_manager": "dependency_manager dependency_management packager",
    "python_version": "python",
    "queue": "task_queue job_queue",
    "styling": "css css_framework",
    "test_framework": "test_runner test_tool unit_testing unit_tests unit_test unit_test_framework test_library tester",
    "type_checker": "type_checking type_check static_typing",
    "ui_framework": "frontend_framework front_end_framework",
    "validation": "validator validation_library schema_validation",
    "web_framework": "framework backend_framework server_framework http_framework",
}
_CANONICAL: Final = {
    other: name for name, others in _OTHER_NAMES.items() for other in (name, *others.split())
}
_TOPICS: Final = _CANONICAL | {
    other: name for name, others in _NEAR_NAMES.items() for other in (name, *others.split())
}


_JOINED: Final = {name.replace("_", ""): name for name in _TOPICS}
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORDS_MOST: Final = 4
"""Names in the table have up to so many words."""


def key_of(name: str) -> str:
    """Return a name as keys are written: lower case, words joined by `_`; empty for one without letters.

    >>> key_of("Test Framework"), key_of("test-framework")
    ('test_framework', 'test_framework')
    """
    return slug(name).replace("-", "_")


def canonical_key(name: str) -> str:
    """Return the key under which a name is filed by all, itself where nobody calls it otherwise.

    >>> canonical_key("DB"), canonical_key("testFramework"), canonical_key("Retry policy")
    ('database', 'test_framework', 'retry_policy')
    """
    key = _known_spelling(name)
    return _CANONICAL.get(key, key)


def topic_key(name: str) -> str:
    """Return what names that may ask for the same have in common: the key of the table, or the bare singular.

    >>> topic_key("test_runner"), topic_key("databases"), canonical_key("test_runner")
    ('test_framework', 'database', 'test_runner')
    >>> topic_key("featureFlags") == topic_key("feature_flag"), topic_key("test_database"), topic_key("cache_ttl")
    (True, 'testdatabase', 'cachettl')
    """
    key = _known_spelling(name)
    return known_topic(name) or _singular(key).replace("_", "")


def known_topic(name: str) -> str | None:
    """Return the key of the table that a name asks for, whatever its number and ending; None for any other name.

    >>> known_topic("linters"), known_topic("CI pipelines"), known_topic("test_database")
    ('linter', None, None)
    """
    key = _known_spelling(name)
    forms = (key, _singular(key), key.removesuffix("s"), *_bases(_singular(key)))
    return next((_TOPICS[form] for form in forms if form in _TOPICS), None)


def topics_in(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of the table that words name, each with the words that do; the longest name counts.

    >>> topics_in(["object", "relational", "mapper", "use"]), topics_in(["lunch", "noon"])
    ({'orm': ('object', 'relational', 'mapper')}, {})
    """
    topics: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(words):
        for count in range(min(_WORDS_MOST, len(words) - at), 0, -1):
            topic = known_topic(" ".join(words[at : at + count]))
            if topic is not None:
                topics[topic] = max(topics.get(topic, ()), tuple(words[at : at + count]), key=len)
                break
        at += count
    return topics


def _known_spelling(name: str) -> str:
    """Return a key as the table writes it, where it has it: `testFramework` is `test_framework`."""
    key = key_of(name)
    if key in _TOPICS:
        return key
    split = key if name.islower() else key_of(_CAMEL.sub("_", name))
    return split if split in _TOPICS else _JOINED.get(key, key)


def _singular(key: str) -> str:
    """Return a key with its last word in the singular."""
    if key.endswith("ies") and len(key) > 4:
        return f"{key[:-3]}y"
    if key.endswith(("sses", "xes", "zes", "ches", "shes")):
        return key[:-2]
    ends = key.endswith("s") and not key.endswith(("ss", "us", "is", "_s")) and len(key) > 3
    return key[:-1] if ends else key


def _bases(key: str) -> Iterator[str]:
    """Give what a key may be without the ending of who does it, or of doing it: `caching`, `cacher` and `cache`."""
    for ending in ("ing", "er"):
        base = key.removesuffix(ending)
        if base != key and len(base) > 2:
            yield from (base, f"{base}e")
            if base[-1] == base[-2]:
                yield base[:-1]


def keys_near(name: str) -> tuple[str, ...]:
    """Return all keys under which one may have filed what a name asks for: those alike first.

    >>> keys_near("python"), keys_near("retries")
    (('python', 'python_version'), ('retries',))
    """
    topic = known_topic(name)
    if topic is None:
        return keys_alike(name)
    others = f"{_OTHER_NAMES.get(topic, '')} {_NEAR_NAMES.get(topic, '')}".split()
    return tuple(dict.fromkeys((*keys_alike(name), topic, *others)))


def keys_alike(name: str) -> tuple[str, ...]:
    """Return all keys that mean the same as a name, its own first.

    >>> keys_alike("lang"), keys_alike("retries")
    (('lang', 'language', 'programming_language'), ('retries',))
    """
    key = key_of(name)
    canonical = _CANONICAL.get(_known_spelling(name))
    if canonical is None:
        return tuple(dict.fromkeys((key, _known_spelling(name))))
    return tuple(dict.fromkeys((key, canonical, *_OTHER_NAMES[canonical].split())))


def filed_under(name: str, given: str) -> str:
    """Return the sentence that says that a value stands under another name than the one that was given.

    >>> filed_under("db", "database")
    "It is filed under 'db', which stands here already and means the same as 'database'."
    """
    return f"It is filed under {name!r}, which stands here already and means the same as {given!r}."


def spellings(keys: Iterable[str]) -> list[str]:
    """Return keys with each of the signs that join their words, and with none, as in `testRunner`.

    >>> spellings(["db", "test_runner"])
    ['db', 'test_runner', 'test runner', 'test-runner', 'testrunner']
    """
    return list(dict.fromkeys(key.replace("_", sign) for key in keys for sign in ("_", " ", "-", "")))
