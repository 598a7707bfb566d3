"""Names under which people and tools file the same thing: `db` and `database`, `testing` and `test_framework`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hexad.text.normalize import slug

# The name under which a look at a repository files something, and what else people call it. A name that has a
# meaning of its own as a convention (`type_checking`: how strictly) is none for the tool, and one for what stands
# beside it in the same stack (Celery's broker, React's components) none at all: one would take the other's place.
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "async_runtime": "async_framework async_library",
    "auth": "authentication authentication_library auth_library",
    "build_backend": "build_system",
    "bundler": "bundling js_bundler module_bundler",
    "cache": "caching cache_store",
    "ci": "ci_cd cicd ci_system ci_provider continuous_integration",
    "cli_framework": "cli_library cli",
    "commit_messages": "commit_message commit_message_style commit_style commit_format",
    "container": "containers containerization container_engine",
    "database": "db dbs databases datastore data_store dbms rdbms sql_database database_engine db_engine"
    " primary_database primary_db main_database main_db",
    "deployment": "deploy deployments deploys",
    "docstrings": "docstring docstring_style docstring_format",
    "documentation": "docs doc_tool docs_tool documentation_tool docs_generator documentation_generator",
    "editor": "ide text_editor code_editor",
    "formatter": "format formatting code_format code_formatter code_formatting auto_formatter autoformatter",
    "http_client": "http_library http_client_library",
    "indentation": "indent indents indent_style",
    "infrastructure": "infra iac infrastructure_as_code",
    "language": "lang programming_language main_language primary_language",
    "line_length": "max_line_length line_width max_line_width",
    "linter": "lint linting linters code_linter lint_tool",
    "logging": "logger logging_library",
    "node_version": "node nodejs nodejs_version",
    "orm": "orms orm_library object_relational_mapper db_orm database_orm",
    "package_manager": "pkg_manager package_management dependency_manager dependency_management packager",
    "python_version": "python",
    "queue": "task_queue job_queue",
    "styling": "css css_framework styles",
    "test_framework": "testing tests test testing_framework test_runner test_tool"
    " unit_testing unit_tests unit_test_framework",
    "type_checker": "typechecker static_type_checker",
    "ui_framework": "frontend_framework front_end_framework",
    "validation": "validator validation_library schema_validation",
    "web_framework": "framework backend_framework server_framework http_framework",
}
_CANONICAL: Final = {
    other: name for name, others in _OTHER_NAMES.items() for other in (name, *others.split())
}


def key_of(name: str) -> str:
    """Return a name as keys are written: lower case, words joined by `_`; empty for one without letters.

    >>> key_of("Test Framework"), key_of("test-framework")
    ('test_framework', 'test_framework')
    """
    return slug(name).replace("-", "_")


def canonical_key(name: str) -> str:
    """Return the key under which a name is filed by all, itself where nobody calls it otherwise.

    >>> canonical_key("DB"), canonical_key("testing"), canonical_key("Retry policy")
    ('database', 'test_framework', 'retry_policy')
    """
    key = key_of(name)
    return _CANONICAL.get(key, key)


def keys_alike(name: str) -> tuple[str, ...]:
    """Return all keys that mean the same as a name, its own first.

    >>> keys_alike("lang"), keys_alike("retries")
    (('lang', 'language', 'programming_language', 'main_language', 'primary_language'), ('retries',))
    """
    key = key_of(name)
    canonical = _CANONICAL.get(key)
    if canonical is None:
        return (key,)
    return tuple(dict.fromkeys((key, canonical, *_OTHER_NAMES[canonical].split())))


def spellings(keys: Iterable[str]) -> list[str]:
    """Return keys with each of the signs that join their words.

    >>> spellings(["db", "test_runner"])
    ['db', 'test_runner', 'test runner', 'test-runner']
    """
    return list(dict.fromkeys(key.replace("_", sign) for key in keys for sign in "_ -"))
