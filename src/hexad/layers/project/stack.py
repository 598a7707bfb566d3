"""From manifests to what a project is built with: languages, frameworks, databases, tools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.layers.project.code_imports import needed_modules
from hexad.layers.project.manifests import DependencyManifest
from hexad.layers.project.technologies import TECHNOLOGIES
from hexad.layers.project.values import Category, Finding

DECLARED: Final = 0.6
CONFIGURED: Final = 0.55
COUNTED: Final = 0.5
_LANGUAGE_SHARE: Final = 0.1
_SEEN_MOST: Final = 5

_LANGUAGES: Final[Mapping[str, str]] = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
    ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".rs": "Rust", ".go": "Go", ".java": "Java",
    ".kt": "Kotlin", ".kts": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".cs": "C#", ".fs": "F#", ".swift": "Swift",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".ex": "Elixir", ".exs": "Elixir",
    ".scala": "Scala", ".dart": "Dart", ".lua": "Lua", ".vue": "Vue", ".svelte": "Svelte", ".zig": "Zig",
    ".hs": "Haskell", ".ml": "OCaml", ".clj": "Clojure", ".erl": "Erlang", ".jl": "Julia", ".r": "R",
}  # fmt: skip

_PACKAGE_MANAGERS: Final[Mapping[str, str]] = {
    "uv.lock": "uv", "poetry.lock": "Poetry", "pdm.lock": "PDM", "Pipfile.lock": "Pipenv", "pixi.lock": "Pixi",
    "package-lock.json": "npm", "yarn.lock": "Yarn", "pnpm-lock.yaml": "pnpm", "bun.lockb": "Bun", "bun.lock": "Bun",
    "Cargo.lock": "Cargo", "go.sum": "Go modules", "Gemfile.lock": "Bundler", "composer.lock": "Composer",
    "mix.lock": "Mix", "pubspec.lock": "pub", "Package.resolved": "SwiftPM", "gradlew": "Gradle", "mvnw": "Maven",
    "pom.xml": "Maven",
}  # fmt: skip
CONVENTION_KEYS: Final = frozenset({"task_runner", "commit_hooks"})
# Keys that are about how a project is worked on: there an extra or a group of development counts as it stands.
_OF_DEVELOPMENT: Final = frozenset(
    {
        "test_framework",
        "linter",
        "formatter",
        "type_checker",
        "bundler",
        "documentation",
        "styling",
        *CONVENTION_KEYS,
    }
)
_MANAGER_TABLES: Final[Mapping[str, str]] = {
    "uv": "uv", "poetry": "Poetry", "pdm": "PDM", "pipenv": "Pipenv", "pixi": "Pixi",
}  # fmt: skip
# What a requirement is called where code imports it, unless it is the name with other dashes.
_MODULES: Final[Mapping[str, str]] = {
    "psycopg2-binary": "psycopg2", "mysqlclient": "MySQLdb", "attrs": "attr", "cassandra-driver": "cassandra",
    "tortoise-orm": "tortoise", "djangorestframework": "rest_framework", "aio-pika": "aio_pika",
}  # fmt: skip
_EXTRAS_MOST: Final = 2
"""A project with an extra for each of more, for one purpose, works with whatever its users have, and uses none."""
_WEB_OF_AIOHTTP: Final = "aiohttp.web"

TextOf = Callable[[str], str | None]


def stack_of(
    files: Sequence[str], code: Sequence[str], manifests: Sequence[DependencyManifest], text_of: TextOf
) -> list[Finding]:
    """Return the drafts of what a project is built with, from its files' names and what they declare.

    `code` are the files of Python that are the project itself: what is declared as optional, and is not about
    development, counts where they need it.
    """
    findings = _languages(files)
    for key, named in _technologies(code, manifests, text_of).items():
        findings += _finding(key, named, DECLARED)
    managers: dict[str, list[str]] = {}
    for path in files:
        manager = _PACKAGE_MANAGERS.get(PurePosixPath(path).name)
        if manager is not None:
            managers.setdefault(manager, []).append(path)
    for manifest in manifests:
        for name, manager in _MANAGER_TABLES.items():
            if name in manifest.development and manifest.ecosystem == "python":
                managers.setdefault(manager, []).append(manifest.path)
    findings += _finding("package_manager", managers, DECLARED)
    findings += _build_backend(files, manifests)
    findings += _runtimes(manifests)
    return findings


def _technologies(
    code: Sequence[str], manifests: Sequence[DependencyManifest], text_of: TextOf
) -> dict[str, dict[str, list[str]]]:
    """Return by key what is used, each with the files that say so."""
    own = {manifest.project for manifest in manifests if manifest.project is not None}
    stack: dict[str, dict[str, list[str]]] = {key: {} for key in TECHNOLOGIES}
    unsure: dict[str, list[tuple[str, str, str]]] = {}
    for key, technologies in TECHNOLOGIES.items():
        extras: dict[str, list[tuple[str, str]]] = {}
        for technology, names in technologies.items():
            for manifest in manifests:
                needed = manifest.names - own
                if key in _OF_DEVELOPMENT:
                    needed = manifest.names | manifest.extras | manifest.development
                if _declared(needed, names):
                    stack[key].setdefault(technology, []).append(manifest.path)
                for name in _declared(manifest.extras - own, names):
                    extras.setdefault(technology, []).append((_module(name), manifest.path))
        if len(extras) <= _EXTRAS_MOST:
            for technology, places in extras.items():
                for module, path in places:
                    unsure.setdefault(module, []).append((key, technology, path))
    is_aiohttp = "aiohttp" in stack["web_framework"] or "aiohttp" in unsure
    wanted = {*unsure, *([_WEB_OF_AIOHTTP] if is_aiohttp else [])}
    imports = needed_modules(code, text_of, wanted) if wanted else {}
    for module in imports:
        for key, technology, path in unsure.get(module, ()):
            stack[key].setdefault(technology, []).append(path)
    # It is a client and a framework, and what is declared is the same.
    stack["http_client" if _WEB_OF_AIOHTTP in imports else "web_framework"].pop("aiohttp", None)
    return stack


def _declared(declared: frozenset[str], names: Iterable[str]) -> list[str]:
    """Return which of what is declared is meant by names; a name that ends in `*` is a prefix."""
    return [
        name
        for wanted in names
        for name in ([wanted] if wanted in declared else declared if wanted.endswith("*") else ())
        if name == wanted or name.startswith(wanted.rstrip("*"))
    ]


def _module(name: str) -> str:
    return _MODULES.get(name, name.replace("-", "_"))


def _finding(key: str, named: Mapping[str, Iterable[str]], confidence: float) -> list[Finding]:
    """Return one draft for a key: the one technology, or the list of them."""
    if not named:
        return []
    values = sorted(named)
    value: JSONValue = values[0] if len(values) == 1 else values
    seen = sorted({path for paths in named.values() for path in paths})[:_SEEN_MOST]
    return [
        Finding(
            category=Category.CONVENTION if key in CONVENTION_KEYS else Category.TECH_STACK,
            key=key,
            value=value,
            confidence=confidence,
            seen_in=tuple(seen),
        )
    ]


def _languages(files: Sequence[str]) -> list[Finding]:
    counts: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    for path in files:
        language = _LANGUAGES.get(PurePosixPath(path).suffix.lower())
        if language is not None:
            counts[language] += 1
            first.setdefault(language, []).append(path)
    if not counts:
        return []
    most = min(counts, key=lambda language: (-counts[language], language))
    findings = _finding("language", {most: first[most]}, COUNTED)
    shared = {
        language: first[language][:1]
        for language, count in counts.items()
        if count >= _LANGUAGE_SHARE * counts.total()
    }
    return findings + (_finding("languages", shared, COUNTED) if len(shared) > 1 else [])


def _build_backend(files: Sequence[str], manifests: Sequence[DependencyManifest]) -> list[Finding]:
    """Return what builds the packages: as each `pyproject.toml` says it, and setuptools for a lone `setup.py`."""
    named: dict[str, list[str]] = {}
    for manifest in manifests:
        system = manifest.data.get("build-system")
        if not isinstance(system, Mapping) or manifest.ecosystem != "python":
            continue
        backend = system.get("build-backend", "setuptools")
        if system.get("backend-path") or not isinstance(backend, str):
            continue  # it is the project's own
        named.setdefault(re.split(r"[.:]", backend)[0], []).append(manifest.path)
    if not named and "setup.py" in files:
        named["setuptools"] = ["setup.py"]
    return _finding("build_backend", named, DECLARED)


_VERSIONS: Final = re.compile(r"(?=.*[0-9*])[\w.*^~<>=!|&, +-]{1,60}|lts/\w{1,20}", re.ASCII)
"""What asks for versions is short, and has a digit or a star: a sentence in its place is none."""


def _runtimes(manifests: Sequence[DependencyManifest]) -> list[Finding]:
    """Return which versions of the language a project asks for, as the manifest nearest to the root says it."""
    findings: dict[str, Finding] = {}
    for manifest in sorted(manifests, key=lambda manifest: (manifest.path.count("/"), manifest.path)):
        project, engines, package = (
            manifest.data.get("project"),
            manifest.data.get("engines"),
            manifest.data.get("package"),
        )
        for key, table, name in (
            ("python_version", project, "requires-python"),
            ("node_version", engines, "node"),
            ("rust_edition", package, "edition"),
        ):
            version = table.get(name) if isinstance(table, Mapping) else None
            if isinstance(version, str) and _VERSIONS.fullmatch(version.strip()) and key not in findings:
                findings[key] = _finding(key, {version.strip(): [manifest.path]}, DECLARED)[0]
    return list(findings.values())
