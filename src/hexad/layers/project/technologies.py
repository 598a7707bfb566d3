"""The technologies that projects are built with, by the key under which each is filed in a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from hexad.text.choices import TitleChoice, choice_in
from hexad.text.key_names import topic_key, topics_in
from hexad.text.same_values import words_of

# What a dependency says: its key in the stack, and what it is called there. A name that ends in * is a prefix.
TECHNOLOGIES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
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


@cache
def _keys_by_words() -> Mapping[tuple[str, ...], frozenset[str]]:
    keys: dict[tuple[str, ...], frozenset[str]] = {}
    for key, technologies in TECHNOLOGIES.items():
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
    return {key: len(named) for key, named in topics_in(words).items() if key in TECHNOLOGIES}
