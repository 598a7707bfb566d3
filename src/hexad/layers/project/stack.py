"""From manifests to what a project is built with: languages, frameworks, databases, tools."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from hexad.core.json_types import JSONValue
from hexad.layers.project.values import Category, Finding

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO: Final = re.compile(
    r"^\s*(?:require\s+)?([a-z0-9.-]+\.[a-z]{2,}/\S+)\s+v\S++(?![ \t]*//[ \t]*indirect)", re.MULTILINE
)
_GEM: Final = re.compile(r"^\s*gem\s+['\"]([\w.-]+)['\"]", re.MULTILINE)
_GRADLE: Final = re.compile(
    r"^\s*(?:\w*[iI]mplementation|api|\w*[rR]untimeOnly|\w*[cC]ompileOnly|kapt|ksp)\b[^'\"\n]*['\"]([\w.-]+:[\w.-]+)",
    re.MULTILINE,
)
_MAVEN: Final = re.compile(r"<dependency>(.*?)</dependency>", re.DOTALL)
_TAG: Final = re.compile(r"<(groupId|artifactId)>\s*([^<\s]+)\s*</")
_NUGET: Final = re.compile(r"<PackageReference\s[^>]*Include\s*=\s*\"([\w.-]+)\"", re.IGNORECASE)
_MIX: Final = re.compile(r"\{\s*:(\w+)\s*,")
_SWIFT: Final = re.compile(r"\.package\s*\([^)]*url:\s*\"[^\"]*/([\w.-]+?)(?:\.git)?\"")
_YAML_KEY: Final = re.compile(r"^  ([A-Za-z_][\w-]*):", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyManifest:
    """What one file declares: the ecosystem, its dependencies in lower case, and what else was read in it."""

    path: str
    ecosystem: str
    names: frozenset[str]
    data: Mapping[str, Any]


def reader_of(name: str) -> tuple[str, Callable[[str], DependencyManifest | None]] | None:
    """Return the ecosystem of a file and what reads its text, by the file's name; None for no such file."""
    for pattern, ecosystem, read in _READERS:
        if pattern.fullmatch(name):
            return ecosystem, lambda text, ecosystem=ecosystem, read=read: _read(ecosystem, read, text)
    return None


def _read(
    ecosystem: str, read: Callable[[str], tuple[Iterator[str], Any]], text: str
) -> DependencyManifest | None:
    """Return what a text declares; None for one that is not what its name says: nobody asked for it to be right."""
    try:
        names, data = read(text)
        listed = frozenset(name.lower() for name in names)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return DependencyManifest(
        path="", ecosystem=ecosystem, names=listed, data=data if isinstance(data, Mapping) else {}
    )


def _requirement(text: object) -> str | None:
    match = _REQUIREMENT.match(text) if isinstance(text, str) else None
    return match[1].replace("_", "-") if match else None


def _pyproject(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    project, tool = data.get("project", {}), data.get("tool", {})
    poetry = tool.get("poetry", {})
    lists = [
        project.get("dependencies", []),
        *project.get("optional-dependencies", {}).values(),
        *data.get("dependency-groups", {}).values(),
        data.get("build-system", {}).get("requires", []),
        tool.get("uv", {}).get("dev-dependencies", []),
    ]
    tables = [
        poetry.get("dependencies", {}),
        poetry.get("dev-dependencies", {}),
        *(group.get("dependencies", {}) for group in poetry.get("group", {}).values()),
    ]
    names = [name for requirements in lists for name in map(_requirement, requirements) if name]
    names += [name for table in tables for name in table if name != "python"]
    return iter(names), data


def _requirements(text: str) -> tuple[Iterator[str], Any]:
    lines = (line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#-")
    return iter([name for name in map(_requirement, lines) if name]), {}


def _pipfile(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    return iter([*data.get("packages", {}), *data.get("dev-packages", {})]), data


def _setup_cfg(text: str) -> tuple[Iterator[str], Any]:
    block = re.search(r"^install_requires\s*=\s*\n((?:[ \t]+\S.*\n?)+)", text, re.MULTILINE)
    return _requirements("\n".join(line.strip() for line in block[1].splitlines()) if block else "")


def _package_json(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    fields = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return iter([name for field in fields for name in data.get(field, {})]), data


def _deno(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    return iter(data.get("imports", {})), data


def _cargo(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    tables = [data, data.get("workspace", {}), *data.get("target", {}).values()]
    fields = ("dependencies", "dev-dependencies", "build-dependencies")
    return iter([name for table in tables for field in fields for name in table.get(field, {})]), data


def _go(text: str) -> tuple[Iterator[str], Any]:
    return iter(_GO.findall(text)), {}


def _gems(text: str) -> tuple[Iterator[str], Any]:
    return iter(_GEM.findall(text)), {}


def _composer(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    return iter([*data.get("require", {}), *data.get("require-dev", {})]), data


def _pom(text: str) -> tuple[Iterator[str], Any]:
    names = []
    for block in _MAVEN.findall(text):
        tags = dict(_TAG.findall(block))
        names.append(f"{tags.get('groupId', '')}:{tags.get('artifactId', '')}")
    return iter(names), {}


def _matching(pattern: re.Pattern[str]) -> Callable[[str], tuple[Iterator[str], Any]]:
    return lambda text: (iter(pattern.findall(text)), {})


def _pubspec(text: str) -> tuple[Iterator[str], Any]:
    blocks = re.findall(r"^(?:dev_)?dependencies:\n((?:[ \t]+.*\n?|\s*\n)+)", text, re.MULTILINE)
    return iter([name for block in blocks for name in _YAML_KEY.findall(block)]), {}


_READERS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[str], tuple[Iterator[str], Any]]]]] = tuple(
    (re.compile(pattern), ecosystem, read)
    for pattern, ecosystem, read in (
        (r"pyproject\.toml", "python", _pyproject),
        (r"(?:dev-|test-)?requirements[\w.-]*\.(?:txt|in)", "python", _requirements),
        (r"Pipfile", "python", _pipfile),
        (r"setup\.cfg", "python", _setup_cfg),
        (r"package\.json", "javascript", _package_json),
        (r"deno\.jsonc?", "javascript", _deno),
        (r"Cargo\.toml", "rust", _cargo),
        (r"go\.mod", "go", _go),
        (r"Gemfile", "ruby", _gems),
        (r"composer\.json", "php", _composer),
        (r"pom\.xml", "java", _pom),
        (r"build\.gradle(?:\.kts)?", "java", _matching(_GRADLE)),
        (r"[\w.-]+\.(?:cs|fs|vb)proj", "dotnet", _matching(_NUGET)),
        (r"mix\.exs", "elixir", _matching(_MIX)),
        (r"Package\.swift", "swift", _matching(_SWIFT)),
        (r"pubspec\.ya?ml", "dart", _pubspec),
    )
)


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

# What a dependency says: its key in the stack, and what it is called there. A name that ends in * is a prefix.
_TECHNOLOGIES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "web_framework": {
        "Django": ("django",), "Flask": ("flask",), "FastAPI": ("fastapi",), "Starlette": ("starlette",),
        "aiohttp": ("aiohttp",), "Litestar": ("litestar",), "Tornado": ("tornado",), "Express": ("express",),
        "Fastify": ("fastify",), "NestJS": ("@nestjs/core",), "Koa": ("koa",), "Hono": ("hono",),
        "Next.js": ("next",), "Nuxt": ("nuxt",), "Remix": ("@remix-run/react",), "Astro": ("astro",),
        "SvelteKit": ("@sveltejs/kit",), "Rails": ("rails",), "Sinatra": ("sinatra",),
        "Laravel": ("laravel/framework",),
        "Symfony": ("symfony/framework-bundle",), "Axum": ("axum",), "Actix": ("actix-web",), "Rocket": ("rocket",),
        "Gin": ("github.com/gin-gonic/gin",), "Echo": ("github.com/labstack/echo*",),
        "Chi": ("github.com/go-chi/chi*",),
        "Fiber": ("github.com/gofiber/fiber*",), "Spring Boot": ("org.springframework.boot:*",),
        "Quarkus": ("io.quarkus:*",), "Ktor": ("io.ktor:*",), "Phoenix": ("phoenix",),
        "ASP.NET Core": ("microsoft.aspnetcore.*",), "Vapor": ("vapor",),
    },
    "ui_framework": {
        "React": ("react",), "Vue": ("vue",), "Svelte": ("svelte",), "Angular": ("@angular/core",),
        "SolidJS": ("solid-js",), "Preact": ("preact",), "React Native": ("react-native",), "Flutter": ("flutter",),
        "htmx": ("htmx.org",), "Lit": ("lit",),
    },
    "database": {
        "PostgreSQL": (
            "psycopg", "psycopg2", "psycopg2-binary", "asyncpg", "pg", "postgres", "tokio-postgres",
            "github.com/lib/pq",
            "github.com/jackc/pgx*", "org.postgresql:postgresql", "npgsql", "postgrex", "pg8000",
        ),
        "MySQL": ("mysqlclient", "pymysql", "mysql", "mysql2", "aiomysql", "github.com/go-sql-driver/mysql",
        "com.mysql:*"),
        "SQLite": ("aiosqlite", "better-sqlite3", "sqlite3", "rusqlite", "github.com/mattn/go-sqlite3", "apsw*",
        "ecto-sqlite3"),
        "MongoDB": ("pymongo", "motor", "mongodb", "mongoose", "go.mongodb.org/mongo-driver*", "mongoid"),
        "Redis": ("redis", "ioredis", "aioredis", "github.com/redis/go-redis*", "redis-rs", "predis/predis"),
        "DuckDB": ("duckdb",), "ClickHouse": ("clickhouse-connect", "clickhouse-driver", "@clickhouse/client"),
        "Elasticsearch": ("elasticsearch", "@elastic/elasticsearch"), "Cassandra": ("cassandra-driver",),
        "Neo4j": ("neo4j", "neo4j-driver"),
    },
    "orm": {
        "SQLAlchemy": ("sqlalchemy",), "SQLModel": ("sqlmodel",), "Peewee": ("peewee",), "Tortoise": ("tortoise-orm",),
        "Prisma": ("prisma", "@prisma/client"), "Drizzle": ("drizzle-orm",), "TypeORM": ("typeorm",),
        "Sequelize": ("sequelize",), "Knex": ("knex",), "Kysely": ("kysely",), "Diesel": ("diesel",), "SQLx": ("sqlx",),
        "SeaORM": ("sea-orm",), "GORM": ("gorm.io/gorm",), "Ent": ("entgo.io/ent",), "Hibernate": ("org.hibernate*",),
        "Entity Framework": ("microsoft.entityframeworkcore*",), "Ecto": ("ecto", "ecto-sql", "ecto_sql"),
        "Doctrine": ("doctrine/orm",),
    },
    "test_framework": {
        "pytest": ("pytest",), "Hypothesis": ("hypothesis",), "Jest": ("jest",), "Vitest": ("vitest",),
        "Mocha": ("mocha",), "AVA": ("ava",), "Playwright": ("@playwright/test", "playwright", "pytest-playwright"),
        "Cypress": ("cypress",), "RSpec": ("rspec", "rspec-rails"), "Minitest": ("minitest",),
        "PHPUnit": ("phpunit/phpunit",), "Pest": ("pestphp/pest",), "JUnit": ("junit:junit", "org.junit.jupiter:*"),
        "Kotest": ("io.kotest:*",), "Testify": ("github.com/stretchr/testify",), "xUnit": ("xunit",),
        "NUnit": ("nunit",),
        "proptest": ("proptest",),
    },
    "linter": {
        "Ruff": ("ruff",), "Flake8": ("flake8",), "Pylint": ("pylint",), "ESLint": ("eslint",),
        "Biome": ("@biomejs/biome",),
        "oxlint": ("oxlint",), "RuboCop": ("rubocop",), "PHPStan": ("phpstan/phpstan",), "Credo": ("credo",),
    },
    "formatter": {
        "Black": ("black",), "Prettier": ("prettier",), "dprint": ("dprint",), "YAPF": ("yapf",),
        "PHP CS Fixer": ("friendsofphp/php-cs-fixer",),
    },
    "type_checker": {"mypy": ("mypy",), "Pyright": ("pyright", "basedpyright"), "TypeScript": ("typescript",)},
    "bundler": {
        "Vite": ("vite",), "webpack": ("webpack",), "esbuild": ("esbuild",), "Rollup": ("rollup",),
        "Parcel": ("parcel",),
        "Turbopack": ("turbopack",), "tsup": ("tsup",),
    },
    "validation": {"Pydantic": ("pydantic",), "attrs": ("attrs",), "Zod": ("zod",), "Yup": ("yup",), "Joi": ("joi",)},
    "http_client": {"HTTPX": ("httpx",), "Requests": ("requests",), "axios": ("axios",), "reqwest": ("reqwest",)},
    "cli_framework": {
        "Click": ("click",), "Typer": ("typer",), "clap": ("clap",), "Cobra": ("github.com/spf13/cobra",),
        "commander": ("commander",),
    },
    "queue": {
        "Celery": ("celery",), "RQ": ("rq",), "Dramatiq": ("dramatiq",), "BullMQ": ("bullmq",), "Sidekiq": ("sidekiq",),
        "Kafka": ("kafkajs", "confluent-kafka", "aiokafka", "rdkafka"), "RabbitMQ": ("pika", "amqplib", "aio-pika"),
        "Oban": ("oban",),
    },
    "async_runtime": {"Tokio": ("tokio",), "async-std": ("async-std",), "Trio": ("trio",), "AnyIO": ("anyio",)},
    "styling": {"Tailwind CSS": ("tailwindcss",), "styled-components": ("styled-components",), "Sass": ("sass",)},
}  # fmt: skip

_PACKAGE_MANAGERS: Final[Mapping[str, str]] = {
    "uv.lock": "uv", "poetry.lock": "Poetry", "pdm.lock": "PDM", "Pipfile.lock": "Pipenv", "pixi.lock": "Pixi",
    "package-lock.json": "npm", "yarn.lock": "Yarn", "pnpm-lock.yaml": "pnpm", "bun.lockb": "Bun", "bun.lock": "Bun",
    "Cargo.lock": "Cargo", "go.sum": "Go modules", "Gemfile.lock": "Bundler", "composer.lock": "Composer",
    "mix.lock": "Mix", "pubspec.lock": "pub", "Package.resolved": "SwiftPM", "gradlew": "Gradle", "mvnw": "Maven",
    "pom.xml": "Maven",
}  # fmt: skip
_BUILD_BACKENDS: Final = (
    "hatchling",
    "setuptools",
    "flit_core",
    "poetry",
    "pdm",
    "maturin",
    "scikit_build_core",
    "uv_build",
)


def stack_of(files: Sequence[str], manifests: Sequence[DependencyManifest]) -> list[Finding]:
    """Return the drafts of what a project is built with, from its files' names and what they declare."""
    findings = _languages(files)
    for key, technologies in _TECHNOLOGIES.items():
        named: dict[str, list[str]] = {}
        for technology, names in technologies.items():
            seen_manifest_paths = [
                manifest.path
                for manifest in manifests
                if any(_declares(manifest.names, name) for name in names)
            ]
            if seen_manifest_paths:
                named[technology] = seen_manifest_paths
        findings += _finding(key, named, DECLARED)
    managers: dict[str, list[str]] = {}
    for path in files:
        manager = _PACKAGE_MANAGERS.get(PurePosixPath(path).name)
        if manager is not None:
            managers.setdefault(manager, []).append(path)
    findings += _finding("package_manager", managers, DECLARED)
    findings += _build_backend(manifests)
    findings += _runtimes(manifests)
    return findings


def _declares(names: frozenset[str], wanted_name: str) -> bool:
    if wanted_name.endswith("*"):
        return any(name.startswith(wanted_name[:-1]) for name in names)
    return wanted_name in names


def _finding(key: str, named: Mapping[str, Iterable[str]], confidence: float) -> list[Finding]:
    """Return one draft for a key: the one technology, or the list of them."""
    if not named:
        return []
    values = sorted(named)
    value: JSONValue = values[0] if len(values) == 1 else values
    seen = sorted({path for paths in named.values() for path in paths})[:_SEEN_MOST]
    return [
        Finding(
            category=Category.TECH_STACK, key=key, value=value, confidence=confidence, seen_in=tuple(seen)
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


def _build_backend(manifests: Sequence[DependencyManifest]) -> list[Finding]:
    named: dict[str, list[str]] = {}
    for manifest in manifests:
        system = manifest.data.get("build-system")
        backend = system.get("build-backend") if isinstance(system, Mapping) else None
        for name in _BUILD_BACKENDS:
            if isinstance(backend, str) and backend.startswith(name):
                named.setdefault(name, []).append(manifest.path)
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
