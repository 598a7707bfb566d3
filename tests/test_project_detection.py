"""A look at a repository: dependency files of many ecosystems, settings, layout, tests and naming become drafts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hexad import FrozenClock, Hexad, NotFound


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def put(root: Path, path: str, text: str = "") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def found(hx: Hexad, root: Path) -> dict[str, object]:
    return {finding.key: finding.value for finding in hx.project.detect(root, dry_run=True).findings}


PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
requires-python = ">=3.12"
dependencies = ["Django>=5", "psycopg[binary]>=3 ; python_version > '3'", "redis"]
[project.optional-dependencies]
dev = ["pytest", "ruff", "mypy"]
[tool.ruff]
line-length = 100
[tool.mypy]
strict = true
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("pyproject.toml", PYPROJECT, {
            "web_framework": "Django", "database": ["PostgreSQL", "Redis"], "test_framework": "pytest",
            "linter": "Ruff", "type_checker": "mypy", "build_backend": "hatchling", "python_version": ">=3.12",
            "line_length": 100, "type_checking": "strict",
        }),
        ("requirements.txt", "# web\nflask==3.0\nSQLAlchemy~=2.0\n-r other.txt\n", {
            "web_framework": "Flask", "orm": "SQLAlchemy",
        }),
        ("Pipfile", '[packages]\nfastapi = "*"\n[dev-packages]\npytest = "*"\n', {
            "web_framework": "FastAPI", "test_framework": "pytest",
        }),
        ("setup.cfg", "[options]\ninstall_requires =\n    requests>=2\n    click\n", {
            "http_client": "Requests", "cli_framework": "Click",
        }),
        ("package.json", json.dumps({
            "type": "module", "engines": {"node": ">=20"}, "workspaces": ["packages/*"],
            "dependencies": {"next": "14", "react": "18", "@prisma/client": "5", "zod": "3"},
            "devDependencies": {"vitest": "1", "eslint": "9", "typescript": "5"},
        }), {
            "web_framework": "Next.js", "ui_framework": "React", "orm": "Prisma", "validation": "Zod",
            "test_framework": "Vitest", "linter": "ESLint", "type_checker": "TypeScript", "node_version": ">=20",
            "modules": "ES modules", "repository": "monorepo",
        }),
        ("Cargo.toml", '[package]\nedition = "2021"\n[dependencies]\naxum = "0.7"\ntokio = { version = "1" }\nsqlx = "0.7"\n', {
            "web_framework": "Axum", "async_runtime": "Tokio", "orm": "SQLx", "rust_edition": "2021",
        }),
        ("go.mod", "module x\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.9.1\n\tgithub.com/jackc/pgx/v5 v5.5.0\n)\n", {
            "web_framework": "Gin", "database": "PostgreSQL",
        }),
        ("Gemfile", "gem 'rails', '~> 7'\ngem \"sidekiq\"\ngem 'rspec-rails', group: :test\n", {
            "web_framework": "Rails", "queue": "Sidekiq", "test_framework": "RSpec",
        }),
        ("composer.json", '{"require": {"laravel/framework": "^11"}, "require-dev": {"phpunit/phpunit": "^11"}}', {
            "web_framework": "Laravel", "test_framework": "PHPUnit",
        }),
        ("pom.xml", "<project><dependencies><dependency><groupId>org.springframework.boot</groupId>"
         "<artifactId>spring-boot-starter-web</artifactId></dependency><dependency><groupId>org.postgresql</groupId>"
         "<artifactId>postgresql</artifactId></dependency></dependencies></project>", {
            "web_framework": "Spring Boot", "database": "PostgreSQL", "package_manager": "Maven",
        }),
        ("build.gradle.kts", 'dependencies {\n  implementation("io.ktor:ktor-server-core:2.3")\n'
         '  testImplementation("io.kotest:kotest-runner-junit5:5")\n}\n', {
            "web_framework": "Ktor", "test_framework": "Kotest",
        }),
        ("src/App.csproj", '<Project><ItemGroup><PackageReference Include="Npgsql" Version="8" />'
         '<PackageReference Include="xunit" Version="2" /></ItemGroup></Project>', {
            "database": "PostgreSQL", "test_framework": "xUnit",
        }),
        ("mix.exs", "defp deps do [{:phoenix, \"~> 1.7\"}, {:ecto_sql, \"~> 3\"}] end", {
            "web_framework": "Phoenix", "orm": "Ecto",
        }),
        ("compose.yaml", "services:\n  db:\n    image: postgres:16-alpine\n  cache:\n    image: 'docker.io/library/redis'\n"
         "  bus:\n    image: \"registry.example.org:5000/team/rabbitmq@sha256:ab\"\n  # image: mongo\n  app:\n    image: shop\n", {
            "database": ["PostgreSQL", "Redis"], "queue": "RabbitMQ", "services": "Docker Compose",
        }),
        ("docker-compose.override.yml", "services:\n  db:\n    image: pgvector/pgvector:pg16\n", {"database": "PostgreSQL"}),
        ("Package.swift", '.package(url: "https://example.org/vapor/vapor.git", from: "4.0.0")', {"web_framework": "Vapor"}),
        ("pubspec.yaml", "name: x\ndependencies:\n  flutter:\n    sdk: flutter\n", {"ui_framework": "Flutter"}),
    ],
)  # fmt: skip
@pytest.mark.row("A028")
def test_dependency_files_of_the_common_ecosystems_are_read(
    hx: Hexad, root: Path, path: str, text: str, expected: dict[str, object]
) -> None:
    put(root, path, text)

    assert expected == {key: value for key, value in found(hx, root).items() if key in expected}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["click"]\n[dependency-groups]\n'
         'tests = ["pytest-cov", {include-group = "lint"}]\nlint = ["flake8-bugbear", "mypy"]\n[tool.black]\n', {
            "cli_framework": "Click", "test_framework": "pytest", "linter": "Flake8", "type_checker": "mypy",
            "formatter": "Black",
        }),
        ("pyproject.toml", '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.9"\n'
         'flask = {version = "3", optional = true}\nhttpx = "1"\n[tool.poetry.group.dev.dependencies]\npytest = "8"\n', {
            "http_client": "HTTPX", "test_framework": "pytest", "package_manager": "Poetry",
        }),
        ("pyproject.toml", "[tool.hatch.envs.test]\nextra-dependencies = ['pytest']\n[tool.hatch.envs.lint.scripts]\n"
         "format = ['ruff check .', 'ruff format --check']\n", {
            "test_framework": "pytest", "linter": "Ruff", "formatter": "Ruff", "task_runner": "Hatch",
        }),
        ("setup.cfg", "[metadata]\nname = x\n[options]\ninstall_requires =\n    click\n[options.extras_require]\n"
         "dev =\n    pytest\n    sphinx\n[flake8]\nmax-line-length = 99\n[mypy]\n", {
            "cli_framework": "Click", "test_framework": "pytest", "linter": "Flake8", "type_checker": "mypy",
            "documentation": "Sphinx",
        }),
        ("setup.py", "from setuptools import setup\nTESTS = ['pytest>=7']\nsetup(name='x', "
         "install_requires=['click', 'requests'], extras_require={'test': TESTS, 'docs': ['mkdocs'] + TESTS})\n", {
            "cli_framework": "Click", "http_client": "Requests", "test_framework": "pytest", "documentation": "MkDocs",
            "build_backend": "setuptools",
        }),
        ("requirements/test.txt", "pytest==8\nflask\n", {"test_framework": "pytest"}),
        ("requirements/base.in", "django\n", {"web_framework": "Django"}),
        ("requirements.txt", "# This file is autogenerated by pip-compile with Python 3.12\n#\n"
         "flask==3.0\n    # via -r requirements.in\nclick==8.1\n    # via flask\n", {"web_framework": "Flask"}),
        ("tox.ini", "[testenv]\ndeps =\n    pytest\n    lint: pylint==3\ncommands =\n    {envbindir}/pytest {posargs}\n"
         "    types: mypy src\n", {
            "test_framework": "pytest", "linter": "Pylint", "type_checker": "mypy", "task_runner": "tox",
        }),
        (".pre-commit-config.yaml", "repos:\n- repo: x\n  hooks:\n  - id: ruff-format\n  - id: mypy\n", {
            "formatter": "Ruff", "linter": "Ruff", "type_checker": "mypy", "commit_hooks": "pre-commit",
        }),
        (".github/workflows/ci.yml", "jobs:\n  t:\n    steps:\n    - uses: astral-sh/setup-uv@v6\n"
         "    - run: |\n        pip install flake8 # not pylint\n        coverage run -m pytest && flake8 src\n", {
            "ci": "GitHub Actions", "test_framework": "pytest", "linter": "Flake8", "package_manager": "uv",
        }),
        ("noxfile.py", "import nox\n@nox.session\ndef t(session):\n    session.install('pytest', '-r', 'x.txt')\n"
         "    session.run('python', '-m', 'mypy', 'src')\n", {
            "test_framework": "pytest", "type_checker": "mypy", "task_runner": "nox",
        }),
        ("Makefile", "check:\n\t@poetry run pytest -q; black --check .\n", {
            "test_framework": "pytest", "formatter": "Black", "task_runner": "make", "package_manager": "Poetry",
        }),
        ("tests/test_it.py", "import unittest\n\nclass T(unittest.TestCase): ...\n", {"test_framework": "unittest"}),
    ],
)  # fmt: skip
@pytest.mark.row("A028", "A029")
def test_a_python_project_is_read_from_all_that_says_how_it_is_built_and_tested(
    hx: Hexad, root: Path, path: str, text: str, expected: dict[str, object]
) -> None:
    put(root, path, text)

    told = found(hx, root)

    assert expected == {key: value for key, value in told.items() if key in expected | dict.fromkeys(USED)}


USED = (
    "web_framework",
    "database",
    "orm",
    "queue",
    "http_client",
    "cli_framework",
    "validation",
    "container",
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("examples/celery/requirements.txt", "celery\nredis\nflask\n"),
        ("docs/examples/app/pyproject.toml", '[project]\ndependencies = ["fastapi"]\n'),
        ("src/x/templates/project/Dockerfile", "FROM python\n"),
        ("{{cookiecutter.name}}/Dockerfile", "FROM python\n"),
        ("src/x/_vendor/setup.py", "setup(install_requires=['requests'])\n"),
        ("tests/data/package.json", '{"dependencies": {"express": "4"}}'),
        ("docs/package.json", '{"dependencies": {"express": "4"}}'),
        ("tests/docker/Dockerfile", "FROM python\n"),
        ("requirements-dev.txt", "django\nredis\n"),
        ("requirements/docs.txt", "flask\n"),
        ("tox.ini", "[testenv]\ndeps = django\n    redis\n"),
    ],
)
@pytest.mark.row("A028", "A029")
def test_what_is_an_example_a_template_vendored_or_for_tests_is_not_used(
    hx: Hexad, root: Path, path: str, text: str
) -> None:
    put(root, path, text)
    put(root, "src/x/app.py", "import django, fastapi, flask, redis, celery\n")

    assert {} == {key: value for key, value in found(hx, root).items() if key in USED}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import fastapi\n", {"web_framework": "FastAPI"}),
        ("if True:\n    from fastapi.routing import APIRouter\n", {"web_framework": "FastAPI"}),
        ("", {}),
        ("import fastapiextra\n", {}),
        ("try:\n    import fastapi\nexcept ImportError:\n    fastapi = None\n", {}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import fastapi\n", {}),
        ("def serve():\n    import fastapi\n", {}),
        ("def broken(:\nimport fastapi\n", {}),
    ],
)
@pytest.mark.row("A028")
def test_an_extra_counts_where_the_code_needs_it(
    hx: Hexad, root: Path, code: str, expected: dict[str, object]
) -> None:
    put(
        root,
        "pyproject.toml",
        '[project]\nname = "x"\n[project.optional-dependencies]\nserver = ["fastapi"]\n',
    )
    put(root, "src/x/server.py", code)
    put(root, "tests/test_server.py", "import fastapi\n")

    assert expected == {key: value for key, value in found(hx, root).items() if key in USED}


def test_a_project_with_an_extra_for_each_of_many_uses_none_of_them(hx: Hexad, root: Path) -> None:
    put(
        root,
        "setup.py",
        "setup(extras_require={'a': ['flask'], 'b': ['django'], 'c': ['tornado'], 'd': ['redis']})",
    )
    put(root, "x/integrations.py", "import flask, django, tornado, redis\n")

    assert {"database": "Redis"} == {key: value for key, value in found(hx, root).items() if key in USED}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import aiohttp\n", {"http_client": "aiohttp"}),
        ("from aiohttp import web\n", {"web_framework": "aiohttp"}),
    ],
)
def test_what_is_a_client_and_a_framework_is_what_the_code_imports(
    hx: Hexad, root: Path, code: str, expected: dict[str, object]
) -> None:
    put(root, "requirements.txt", "aiohttp\n")
    put(root, "x/app.py", code)

    assert expected == {key: value for key, value in found(hx, root).items() if key in USED}


def test_a_project_does_not_use_itself(hx: Hexad, root: Path) -> None:
    put(
        root,
        "pyproject.toml",
        '[project]\nname = "click"\n[project.optional-dependencies]\nall = ["click[extra]"]\n',
    )
    put(root, "src/click/core.py", "import click\n")

    assert {} == {key: value for key, value in found(hx, root).items() if key in USED}


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("uv.lock", "package_manager", "uv"), ("pnpm-lock.yaml", "package_manager", "pnpm"),
        (".github/workflows/ci.yml", "ci", "GitHub Actions"), ("Dockerfile", "container", "Docker"),
        ("docker-compose.yml", "services", "Docker Compose"), ("infra/main.tf", "infrastructure", "Terraform"),
        (".pre-commit-config.yaml", "commit_hooks", "pre-commit"), ("Makefile", "task_runner", "make"),
        ("docs/adr/0001-use-sqlite.md", "decision_records", "ADR files"), ("turbo.json", "repository", "monorepo"),
        ("eslint.config.js", "linter_config", "ESLint"), ("mkdocs.yml", "documentation", "MkDocs"),
    ],
)  # fmt: skip
@pytest.mark.row("A029")
def test_a_file_that_is_there_says_what_is_used(
    hx: Hexad, root: Path, path: str, key: str, value: str
) -> None:
    put(root, path)

    assert value == found(hx, root)[key]


@pytest.mark.row("A020", "A029")
def test_layout_tests_and_naming_are_told_by_what_is_done(hx: Hexad, root: Path) -> None:
    put(root, "src/shop/__init__.py")
    for number in range(6):
        put(
            root,
            f"src/shop/order_part{number}.py",
            'def take_order(x: int) -> int:\n    """Take it."""\n    return x\n',
        )
        put(
            root,
            f"tests/test_order_part{number}.py",
            "def test_an_order_that_is_taken_is_kept():\n    pass\n",
        )
    put(root, ".editorconfig", "root = true\n[*]\nindent_style = space\nindent_size = 4\n")

    told = found(hx, root)

    assert {
        "language": "Python", "layout": "src layout", "test_files": "test_*.py", "test_place": "in a folder of their own",
        "test_names": "sentences about behaviour", "file_names": "snake_case", "function_names": "snake_case",
        "docstrings": "on public functions", "indentation": "4 spaces",
    }.items() <= told.items()  # fmt: skip


def test_tests_beside_the_code_and_camel_case_are_told_too(hx: Hexad, root: Path) -> None:
    for name in ("userList", "orderList", "cartView", "itemView", "mainPage"):
        put(
            root,
            f"app/{name}.ts",
            f"export function load{name.title()}Now() {{}}\nfunction readItAll() {{}}\n",
        )
        put(root, f"app/{name}.test.ts", "")

    told = found(hx, root)

    assert ("TypeScript", "*.test.*", "beside the code", "camelCase") == (
        told["language"], told["test_files"], told["test_place"], told["file_names"],
    )  # fmt: skip


def test_a_mixed_habit_is_none(hx: Hexad, root: Path) -> None:
    for name in ("one_two", "three_four", "five_six", "sevenEight", "nineTen", "oneMore"):
        put(root, f"{name}.py")

    assert "file_names" not in found(hx, root)


@pytest.mark.row("A093")
def test_what_is_detected_is_a_draft_with_its_evidence_that_rises_when_seen_again(
    hx: Hexad, root: Path, clock: FrozenClock
) -> None:
    put(root, "package.json", json.dumps({"dependencies": {"@prisma/client": "5"}}))

    first = hx.project.detect(root)
    drafts = hx.project.get()
    clock.advance(days=1)
    second = hx.project.detect(root)

    assert {fact.key for fact in first.new} == {draft.key for draft in drafts} >= {"orm"}
    assert all(draft.draft and draft.confidence <= 0.6 and draft.citations for draft in drafts)
    assert ((), {draft.key for draft in drafts}) == (second.new, {fact.key for fact in second.seen_again})
    before = {draft.key: draft.confidence for draft in drafts}
    assert all(fact.evidence == 2 and fact.confidence > before[fact.key] for fact in second.seen_again)


def test_a_stack_that_changed_takes_the_place_of_the_one_before(
    hx: Hexad, root: Path, clock: FrozenClock
) -> None:
    put(root, "requirements.txt", "flask\n")
    hx.project.detect(root)
    clock.advance(days=30)
    put(root, "requirements.txt", "fastapi\n")

    report = hx.project.detect(root)

    assert ["web_framework"] == [fact.key for fact in report.changed]
    assert "FastAPI" == hx.project.get_tech_stack()["web_framework"].value
    assert ["Flask", "FastAPI"] == [fact.value for fact in hx.facts.history(attribute="web_framework")]


def test_what_somebody_said_stays_and_the_difference_is_told(hx: Hexad, root: Path) -> None:
    put(root, "requirements.txt", "flask\npytest\n")
    hx.project.remember(category="tech_stack", key="web_framework", value="FastAPI")
    hx.project.remember(category="tech_stack", key="test_framework", value="pytest")

    report = hx.project.detect(root)

    assert (["Flask"], ["test_framework"]) == (
        [finding.value for finding in report.differs],
        [fact.key for fact in report.known],
    )
    assert "FastAPI" == hx.project.get_tech_stack()["web_framework"].value


def test_a_dry_run_notes_nothing(hx: Hexad, root: Path) -> None:
    put(root, "requirements.txt", "flask\n")

    assert hx.project.detect(root, dry_run=True).findings
    assert 0 == hx.count(status=None)


def test_other_peoples_code_and_what_is_ignored_say_nothing(hx: Hexad, root: Path) -> None:
    put(root, "node_modules/x/package.json", '{"dependencies": {"react": "1"}}')
    put(root, ".gitignore", "vendor/\n")
    put(root, "vendor/requirements.txt", "flask\n")

    assert {} == found(hx, root)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "[project\n"), ("package.json", "[1, 2]"), ("package.json", '{"dependencies": 7}'),
        ("Cargo.toml", "dependencies = 3"), ("pyproject.toml", "[project]\ndependencies = [1, {}]\n"),
        ("pyproject.toml", 'project = "x"\ntool = 1\n'), ("pyproject.toml", "a = " + "9" * 5_000),
        ("setup.py", "x = " + "-" * 100_000 + "1\n"), ("noxfile.py", "not " * 100_000 + "1\n"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_named_and_the_rest_is_read(
    hx: Hexad, root: Path, path: str, text: str
) -> None:
    put(root, path, text)
    put(root, "requirements.txt", "flask\n")

    report = hx.project.detect(root)

    assert "Flask" == hx.project.get_tech_stack()["web_framework"].value
    assert all(path in note for note in report.notes)


@pytest.mark.timeout(120)
def test_lines_with_long_gaps_are_read_like_others(hx: Hexad, root: Path) -> None:
    put(
        root,
        "setup.cfg",
        "[options]\n" + f"a{' ' * 50_000}b\n" * 10 + "install_requires" + " " * 50_000 + "=\n  flask\n",
    )

    hx.project.detect(root)

    assert "Flask" == hx.project.get_tech_stack()["web_framework"].value


@pytest.mark.row("A007")
def test_a_secret_in_a_manifest_is_not_kept(hx: Hexad, root: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # a made-up token
    put(root, "package.json", json.dumps({"engines": {"node": token}, "dependencies": {"react": "18"}}))

    hx.project.detect(root)

    assert token not in json.dumps([fact.to_dict() for fact in hx.project.get()])


def test_the_projects_own_folder_is_looked_at_by_default(hx: Hexad) -> None:
    put(hx.path.parent, "go.mod", "require github.com/gin-gonic/gin v1.9.1\n")

    assert "Gin" == {fact.key: fact.value for fact in hx.project.detect().new}["web_framework"]


def test_a_folder_that_is_not_there_is_said(hx: Hexad, root: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        hx.project.detect(root / "nowhere")
