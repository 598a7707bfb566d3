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
        ("pyproject.toml", 'project = "x"\ntool = 1\n'),
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
