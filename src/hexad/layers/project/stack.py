"""From manifests to what a project is built with: languages, frameworks, databases, tools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.layers.project.code_imports import needed_modules
from hexad.layers.project.manifests import DependencyManifest
from hexad.layers.project.values import Category, Finding
from hexad.text.choices import TitleChoice, choice_in
from hexad.text.key_names import topic_key, topics_in
from hexad.text.same_values import words_of

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
        "aiohttp": ("aiohttp",), "Bottle": ("bottle",), "Falcon": ("falcon",), "Sanic": ("sanic",), "Quart": ("quart",),
        "Pyramid": ("pyramid",), "CherryPy": ("cherrypy",), "Django REST framework": ("djangorestframework",),
        "Litestar": ("litestar",), "Tornado": ("tornado",), "Express": ("express",),
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
            "github.com/jackc/pgx*", "org.postgresql:postgresql", "npgsql", "postgrex", "pg8000", "image:postgres",
            "image:postgis", "image:pgvector", "image:timescaledb*"),
        "MySQL": ("mysqlclient", "pymysql", "mysql", "mysql2", "aiomysql", "github.com/go-sql-driver/mysql",
        "com.mysql:*", "image:mysql", "image:mysql-server"),
        "SQLite": ("aiosqlite", "better-sqlite3", "sqlite3", "rusqlite", "github.com/mattn/go-sqlite3", "apsw*",
        "ecto-sqlite3"),
        "MongoDB": ("pymongo", "motor", "mongodb", "mongoose", "go.mongodb.org/mongo-driver*", "mongoid",
            "image:mongo", "image:mongodb*"),
        "Redis": ("redis", "ioredis", "aioredis", "github.com/redis/go-redis*", "redis-rs", "predis/predis",
            "image:redis", "image:redis-stack*"),
        "MariaDB": ("mariadb", "image:mariadb"), "Valkey": ("valkey", "image:valkey"),
        "DuckDB": ("duckdb",),
        "ClickHouse": ("clickhouse-connect", "clickhouse-driver", "@clickhouse/client", "image:clickhouse-server",
            "image:clickhouse"),
        "Elasticsearch": ("elasticsearch", "@elastic/elasticsearch", "image:elasticsearch"),
        "Cassandra": ("cassandra-driver", "image:cassandra"),
        "Neo4j": ("neo4j", "neo4j-driver", "image:neo4j"),
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
        "pytest": ("pytest", "pytest-*"), "Hypothesis": ("hypothesis",),
        "unittest": ("unittest",), "nose": ("nose", "nose2"), "stestr": ("stestr",),
        "Jest": ("jest",), "Vitest": ("vitest",),
        "Mocha": ("mocha",), "AVA": ("ava",), "Playwright": ("@playwright/test", "playwright", "pytest-playwright"),
        "Cypress": ("cypress",), "RSpec": ("rspec", "rspec-rails"), "Minitest": ("minitest",),
        "PHPUnit": ("phpunit/phpunit",), "Pest": ("pestphp/pest",), "JUnit": ("junit:junit", "org.junit.jupiter:*"),
        "Kotest": ("io.kotest:*",), "Testify": ("github.com/stretchr/testify",), "xUnit": ("xunit",),
        "NUnit": ("nunit",),
        "proptest": ("proptest",),
    },
    "linter": {
        "Ruff": ("ruff",), "Flake8": ("flake8", "flake8-*"), "Pylint": ("pylint", "pylint-*"),
        "pycodestyle": ("pycodestyle",),
        "pydocstyle": ("pydocstyle",), "Bandit": ("bandit",), "ESLint": ("eslint",),
        "Biome": ("@biomejs/biome",),
        "oxlint": ("oxlint",), "RuboCop": ("rubocop",), "PHPStan": ("phpstan/phpstan",), "Credo": ("credo",),
    },
    "formatter": {
        "Black": ("black", "black-jupyter"), "Ruff": ("ruff-format",), "isort": ("isort",), "autopep8": ("autopep8",),
        "Prettier": ("prettier",), "dprint": ("dprint",), "YAPF": ("yapf",),
        "PHP CS Fixer": ("friendsofphp/php-cs-fixer",),
    },
    "type_checker": {"mypy": ("mypy",), "Pyright": ("pyright", "basedpyright"), "ty": ("ty",), "Pyrefly": ("pyrefly",),
     "TypeScript": ("typescript",)},
    "bundler": {
        "Vite": ("vite",), "webpack": ("webpack",), "esbuild": ("esbuild",), "Rollup": ("rollup",),
        "Parcel": ("parcel",),
        "Turbopack": ("turbopack",), "tsup": ("tsup",),
    },
    "validation": {"Pydantic": ("pydantic",), "attrs": ("attrs",), "marshmallow": ("marshmallow",),
        "jsonschema": ("jsonschema",), "Cerberus": ("cerberus",), "Zod": ("zod",), "Yup": ("yup",), "Joi": ("joi",)},
    "http_client": {"HTTPX": ("httpx",), "Requests": ("requests",), "urllib3": ("urllib3",), "aiohttp": ("aiohttp",),
        "axios": ("axios",), "reqwest": ("reqwest",)},
    "cli_framework": {
        "Click": ("click",), "Typer": ("typer",), "Fire": ("fire",), "docopt": ("docopt",), "Cyclopts": ("cyclopts",),
        "clap": ("clap",), "Cobra": ("github.com/spf13/cobra",),
        "commander": ("commander",),
    },
    "queue": {
        "Celery": ("celery",), "RQ": ("rq",), "Huey": ("huey",), "arq": ("arq",),
        "Kombu": ("kombu",), "Dramatiq": ("dramatiq",), "BullMQ": ("bullmq",), "Sidekiq": ("sidekiq",),
        "Kafka": ("kafkajs", "confluent-kafka", "aiokafka", "rdkafka", "image:kafka", "image:cp-kafka",
            "image:kafka-native"), "RabbitMQ": ("pika", "amqplib", "aio-pika", "image:rabbitmq"),
        "Oban": ("oban",),
    },
    "async_runtime": {"Tokio": ("tokio",), "async-std": ("async-std",), "Trio": ("trio",), "AnyIO": ("anyio",),
        "gevent": ("gevent",),
        "eventlet": ("eventlet",), "Twisted": ("twisted",)},
    "documentation": {
        "Sphinx": ("sphinx", "sphinx-*"), "MkDocs": ("mkdocs", "mkdocs-*"), "Zensical": ("zensical",),
        "pdoc": ("pdoc",),
        "VitePress": ("vitepress",), "Docusaurus": ("@docusaurus/core",),
    },
    "task_runner": {
        "tox": ("tox",), "nox": ("nox",), "Hatch": ("hatch-envs",), "Invoke": ("invoke",), "Poe": ("poethepoet", "poe"),
        "taskipy": ("taskipy",), "just": ("rust-just",),
    },
    "commit_hooks": {"pre-commit": ("pre-commit",), "Husky": ("husky",), "Lefthook": ("lefthook",)},
    "styling": {"Tailwind CSS": ("tailwindcss",), "styled-components": ("styled-components",), "Sass": ("sass",)},
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
    stack: dict[str, dict[str, list[str]]] = {key: {} for key in _TECHNOLOGIES}
    unsure: dict[str, list[tuple[str, str, str]]] = {}
    for key, technologies in _TECHNOLOGIES.items():
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


@cache
def _keys_by_words() -> Mapping[tuple[str, ...], frozenset[str]]:
    keys: dict[tuple[str, ...], frozenset[str]] = {}
    for key, technologies in _TECHNOLOGIES.items():
        for technology in technologies:
            words = tuple(words_of(technology))
            keys[words] = keys.get(words, frozenset()) | {key}
    return keys


def named_key(text: str) -> str | None:
    """Return the key under which the technology is filed that a short decision is about, for the whole project.

    None where it names none, those of several keys, or says of what part of the project it speaks.

    >>> named_key("Use Prisma"), named_key("Kafka replaces RabbitMQ"), named_key("Use Redis for sessions")
    ('orm', 'queue', None)
    """
    choice = choice_in(text)
    keys = _keys_named(choice)
    if len(choice.chosen) > 1 or not is_whole(choice):
        return None
    keys = keys & {topic_key(" ".join(choice.scope))} or keys
    return next(iter(keys)) if len(keys) == 1 else None


def _keys_named(choice: TitleChoice) -> frozenset[str]:
    """Return the keys under which all technologies that a choice names are filed."""
    keys = [_keys_by_words()[name] for name in choice.named if name in _keys_by_words()]
    return frozenset.intersection(*keys) if keys else frozenset()


def is_whole(choice: TitleChoice) -> bool:
    """Whether a choice speaks of the whole project: of no part of it, or of what a technology is used as.

    >>> [is_whole(choice_in(f"Drop Redis{of}")) for of in ("", " as the database", " for SQLite", " for sessions")]
    [True, True, True, False]
    """
    scope, keys = " ".join(choice.scope), _keys_named(choice)
    return (
        not scope or topic_key(scope) in keys or bool(_keys_by_words().get(choice.scope, frozenset()) & keys)
    )


def keys_asked(words: Sequence[str]) -> dict[str, int]:
    """Return the keys of the stack that words of a question name, each with how many of them do.

    >>> keys_asked(["orm", "use"]), keys_asked(["test", "framework", "picked"]), keys_asked(["lunch", "noon"])
    ({'orm': 1}, {'test_framework': 2}, {})
    """
    return {key: len(named) for key, named in topics_in(words).items() if key in _TECHNOLOGIES}
