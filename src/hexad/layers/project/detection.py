"""What a project's folder gives away: its stack, and how it is worked on (layout, tests, naming, tools switched on)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hexad.core.arguments import absence, encodable, read_regular
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, NotFound
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.folder import FoundFile, walk
from hexad.layers.project.manifests import (
    DependencyManifest,
    failure_of,
    is_manifest,
    read_manifest,
    words_of,
)
from hexad.layers.project.stack import CONVENTION_KEYS, stack_of
from hexad.layers.project.values import Category, Finding

CONFIGURED: Final = 0.55
LAID_OUT: Final = 0.5
COUNTED: Final = 0.4
"""What is counted among files is less sure than what is written down in a setting."""
_CLEAR: Final = 0.8
"""A habit is one when four in five do it."""
_FEWEST: Final = 5
_SEEN_MOST: Final = 5
_TESTS_READ: Final = 40

_CODE: Final = frozenset(
    ".py .js .mjs .cjs .jsx .ts .tsx .rs .go .java .kt .rb .php .cs .swift .c .cc .cpp .ex .exs .scala .dart".split()
)
_TEST_PATTERNS: Final[Sequence[tuple[str, re.Pattern[str]]]] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("test_*.py", r"test_\w+\.py"), ("*_test.py", r"\w+_test\.py"), ("*_test.go", r"\w+_test\.go"),
        ("*.test.*", r"[\w.-]+\.test\.[cm]?[jt]sx?"), ("*.spec.*", r"[\w.-]+\.spec\.[cm]?[jt]sx?"),
        ("*_spec.rb", r"\w+_spec\.rb"), ("*_test.rb", r"\w+_test\.rb"),
        ("*Test.*", r"\w+Test\.(?:java|kt|php|cs|scala)"),
        ("*Tests.*", r"\w+Tests\.(?:java|kt|cs|swift)"), ("*_test.exs", r"\w+_test\.exs"),
        ("*_test.dart", r"\w+_test\.dart"),
    )
)  # fmt: skip
_TEST_FOLDERS: Final = frozenset({"tests", "test", "spec", "__tests__", "specs"})
_STYLES: Final[Sequence[tuple[str, re.Pattern[str]]]] = (
    ("snake_case", re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)+_*")),
    ("kebab-case", re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")),
    ("PascalCase", re.compile(r"(?:[A-Z][a-z0-9]+){2,}")),
    ("camelCase", re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")),
)
_DEFINITIONS: Final[Mapping[str, re.Pattern[str]]] = {
    ".py": re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE),
    ".js": re.compile(r"\bfunction\s+(\w+)|\bconst\s+(\w+)\s*=\s*(?:async\s*)?\(", re.MULTILINE),
    ".ts": re.compile(r"\bfunction\s+(\w+)|\bconst\s+(\w+)\s*=\s*(?:async\s*)?\(", re.MULTILINE),
    ".go": re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?(\w+)", re.MULTILINE),
    ".rs": re.compile(r"\bfn\s+(\w+)"),
    ".rb": re.compile(r"^[ \t]*def[ \t]+(?:self\.)?(\w+)", re.MULTILINE),
}
_TEST_NAME: Final = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(test_\w+)", re.MULTILINE)
_SENTENCE_WORDS: Final = 5
_DOCSTRING: Final = re.compile(
    r"^[ ]*(?:async[ \t]+)?def[ \t]+(?!_)\w+\([^)]{0,1000}\)[^:\n]*:[^\S\n]*\n\s*+(?:(\"\"\"|''')|\S)",
    re.MULTILINE,
)
_ANNOTATED: Final = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+\w+\([^)]{0,1000}\)\s*+(->)?", re.MULTILINE)

# A file that is there says that something is used: (pattern of its path, category, key, value).
_FILES: Final[Sequence[tuple[re.Pattern[str], Category, str, str]]] = tuple(
    (re.compile(pattern), Category(category), key, value)
    for pattern, category, key, value in (
        (r"\.github/workflows/.+\.ya?ml", "tech_stack", "ci", "GitHub Actions"),
        (r"\.gitlab-ci\.yml", "tech_stack", "ci", "GitLab CI"),
        (r"\.circleci/config\.yml", "tech_stack", "ci", "CircleCI"),
        (r"Jenkinsfile", "tech_stack", "ci", "Jenkins"),
        (r"\.travis\.yml", "tech_stack", "ci", "Travis CI"),
        (r"\.?appveyor\.yml", "tech_stack", "ci", "AppVeyor"),
        (r"\.cirrus\.yml", "tech_stack", "ci", "Cirrus CI"),
        (r"\.?azure-pipelines(?:\.yml|/.+\.yml)", "tech_stack", "ci", "Azure Pipelines"),
        (r"(?:.*/)?(?:Dockerfile|Containerfile)(?:\.\w+)?", "tech_stack", "container", "Docker"),
        (r"(?:docker-)?compose\.ya?ml", "tech_stack", "services", "Docker Compose"),
        (r"(?:.*/)?[\w-]+\.tf", "tech_stack", "infrastructure", "Terraform"),
        (r"(?:.*/)?Chart\.yaml", "tech_stack", "deployment", "Helm"),
        (r"\.pre-commit-config\.yaml", "convention", "commit_hooks", "pre-commit"),
        (r"\.husky/.+", "convention", "commit_hooks", "Husky"),
        (r"lefthook\.ya?ml", "convention", "commit_hooks", "Lefthook"),
        (r"\.?commitlint(?:rc)?(?:\.config)?\.\w+", "convention", "commit_messages", "checked by commitlint"),
        (r"\.changeset/.+", "convention", "changelog", "Changesets"),
        (r"CHANGELOG\.(?:md|rst)", "convention", "changelog", "kept by hand in a file"),
        (r"Makefile", "convention", "task_runner", "make"),
        (r"[Jj]ustfile", "convention", "task_runner", "just"),
        (r"Taskfile\.ya?ml", "convention", "task_runner", "Task"),
        (r"(?:noxfile\.py)", "convention", "task_runner", "nox"),
        (r"tox\.(?:ini|toml)", "convention", "task_runner", "tox"),
        (r"(?:.*/)?conftest\.py", "tech_stack", "test_framework", "pytest"),
        (r"\.?pylintrc", "tech_stack", "linter", "Pylint"),
        (r"\.?ruff\.toml", "tech_stack", "linter", "Ruff"),
        (r"pyrightconfig\.json", "tech_stack", "type_checker", "Pyright"),
        (r"(?:\.eslintrc(?:\.\w+)?|eslint\.config\.\w+)", "tech_stack", "linter_config", "ESLint"),
        (r"(?:\.prettierrc(?:\.\w+)?|prettier\.config\.\w+)", "tech_stack", "formatter_config", "Prettier"),
        (r"(?:rustfmt|\.rustfmt)\.toml", "tech_stack", "formatter_config", "rustfmt"),
        (r"(?:\.golangci\.ya?ml)", "tech_stack", "linter_config", "golangci-lint"),
        (
            r"(?:pnpm-workspace\.yaml|lerna\.json|nx\.json|turbo\.json)",
            "convention",
            "repository",
            "monorepo",
        ),
        (r"(?:docs/)?(?:adr|adrs|decisions|doc/adr)/.+\.md", "convention", "decision_records", "ADR files"),
        (r"(?:docs/)?mkdocs\.ya?ml", "tech_stack", "documentation", "MkDocs"),
        (r"(?:.*/)?docs?/(?:.+/)?conf\.py", "tech_stack", "documentation", "Sphinx"),
    )
)


def habits_of(
    files: Sequence[str], manifests: Sequence[DependencyManifest], text_of: Callable[[str], str | None]
) -> list[Finding]:
    """Return the drafts of how a project is worked on; `text_of` reads a file, None where it cannot be read."""
    return [
        *_switched_on(files),
        *_settings(manifests, files, text_of),
        *_layout(files, manifests),
        *_tests(files, text_of),
        *_naming(files, text_of),
    ]


def _finding(
    category: Category, key: str, value: JSONValue, confidence: float, seen: Iterable[str]
) -> Finding:
    places = tuple(sorted(set(seen))[:_SEEN_MOST])
    return Finding(category=category, key=key, value=value, confidence=confidence, seen_in=places)


def _convention(key: str, value: JSONValue, confidence: float, seen: Iterable[str]) -> Finding:
    return _finding(Category.CONVENTION, key, value, confidence, seen)


def _switched_on(files: Sequence[str]) -> list[Finding]:
    named: dict[tuple[Category, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in files:
        for pattern, category, key, value in _FILES:
            if pattern.fullmatch(path):
                named[category, key][value].append(path)
    switches = []
    for (category, key), values in named.items():
        names = sorted(values)
        seen_paths = [path for paths in values.values() for path in paths]
        switches.append(
            _finding(category, key, names[0] if len(names) == 1 else names, CONFIGURED, seen_paths)
        )
    return switches


# Settings -----------------------------------------------------------------------------------------------------------


def _settings(
    manifests: Sequence[DependencyManifest], files: Sequence[str], text_of: Callable[[str], str | None]
) -> list[Finding]:
    findings: dict[str, Finding] = {}
    for manifest in sorted(manifests, key=lambda manifest: (manifest.path.count("/"), manifest.path)):
        tool = _table(manifest.data, "tool")
        for key, value in _python_settings(tool):
            findings.setdefault(key, _convention(key, value, CONFIGURED, [manifest.path]))
        if manifest.data.get("workspaces") or _table(manifest.data, "workspace"):
            findings.setdefault(
                "repository", _convention("repository", "monorepo", CONFIGURED, [manifest.path])
            )
        if manifest.data.get("type") == "module":
            findings.setdefault("modules", _convention("modules", "ES modules", CONFIGURED, [manifest.path]))
    for path in ("tsconfig.json", ".editorconfig"):
        text = text_of(path) if path in files else None
        for key, value in _text_settings(path, text or ""):
            findings.setdefault(key, _convention(key, value, CONFIGURED, [path]))
    return list(findings.values())


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def _python_settings(tool: Mapping[str, Any]) -> list[tuple[str, JSONValue]]:
    python_settings: list[tuple[str, JSONValue]] = []
    lengths = [
        _table(tool, name).get(key) for name, key in (("ruff", "line-length"), ("black", "line-length"))
    ]
    length = next((length for length in lengths if isinstance(length, int)), None)
    if length is not None:
        python_settings.append(("line_length", length))
    if (
        _table(tool, "mypy").get("strict") is True
        or _table(tool, "pyright").get("typeCheckingMode") == "strict"
    ):
        python_settings.append(("type_checking", "strict"))
    if "ruff" in tool and "format" in _table(tool, "ruff"):
        python_settings.append(("formatting", "ruff format"))
    if _table(_table(tool, "pytest"), "ini_options").get("filterwarnings") in (["error"], "error"):
        python_settings.append(("test_warnings", "are errors"))
    return python_settings


def _text_settings(path: str, text: str) -> list[tuple[str, JSONValue]]:
    if path == "tsconfig.json":
        return [("type_checking", "strict")] if re.search(r'"strict"\s*:\s*true', text) else []
    text_settings: list[tuple[str, JSONValue]] = []
    general = text.split("[*.", 1)[0]
    style = re.search(r"^[ \t]*indent_style\s*=\s*(tab|space)", general, re.MULTILINE)
    size = re.search(r"^[ \t]*indent_size\s*=\s*(\d+)", general, re.MULTILINE)
    if style is not None:
        width = f"{size[1]} spaces" if size is not None else "spaces"
        text_settings.append(("indentation", "tabs" if style[1] == "tab" else width))
    return text_settings


# Layout -------------------------------------------------------------------------------------------------------------


def _layout(files: Sequence[str], manifests: Sequence[DependencyManifest]) -> list[Finding]:
    layout = []
    in_src = [path for path in files if path.startswith("src/") and path.count("/") >= 2]
    packages = {
        PurePosixPath(path).parts[0]
        for path in files
        if path.endswith("/__init__.py") and path.count("/") == 1
    }
    packages -= _TEST_FOLDERS
    if any(path.endswith("__init__.py") for path in in_src):
        layout.append(_convention("layout", "src layout", LAID_OUT, in_src[:1]))
    elif packages:
        seen = [f"{name}/__init__.py" for name in packages]
        layout.append(_convention("layout", "packages at the root", LAID_OUT, seen))
    homes = [manifest.path.rpartition("/")[0] for manifest in manifests]
    beneath = sorted(
        {home for home in homes if home.count("/") >= 1 or home in ("api", "web", "app", "server", "client")}
    )
    above = Counter(home.partition("/")[0] for home in beneath)
    shared = sorted(name for name, count in above.items() if count >= 2)
    if shared:
        seen_manifest_paths = [
            manifest.path for manifest in manifests if manifest.path.partition("/")[0] in shared
        ]
        layout.append(_convention("workspace_folders", shared, LAID_OUT, seen_manifest_paths))
    return layout


# Tests --------------------------------------------------------------------------------------------------------------


def _tests(files: Sequence[str], text_of: Callable[[str], str | None]) -> list[Finding]:
    named: dict[str, list[str]] = defaultdict(list)
    for path in files:
        for name, pattern in _TEST_PATTERNS:
            if pattern.fullmatch(PurePosixPath(path).name):
                named[name].append(path)
                break
    tests = [path for paths in named.values() for path in paths]
    if not tests:
        return []
    test_files = []
    most = min(named, key=lambda name: (-len(named[name]), name))
    if len(named[most]) >= _CLEAR * len(tests):
        test_files.append(_convention("test_files", most, COUNTED, named[most]))
    apart = [path for path in tests if _TEST_FOLDERS & set(PurePosixPath(path).parts[:-1])]
    for share, value in (
        (len(apart), "in a folder of their own"),
        (len(tests) - len(apart), "beside the code"),
    ):
        if share >= _CLEAR * len(tests):
            seen_paths = apart if value.startswith("in") else [path for path in tests if path not in apart]
            test_files.append(_convention("test_place", value, COUNTED, seen_paths))
    code = [path for path in files if PurePosixPath(path).suffix in _CODE and path not in set(tests)]
    if code and len(tests) >= _FEWEST:
        # In quarters: what moves with every file that is added is no habit.
        quarters = round(4 * len(tests) / len(code)) / 4
        value = f"about {quarters:g} for each file of code" if quarters else "few for the code there is"
        test_files.append(_convention("test_amount", value, COUNTED, tests))
    names = [
        name
        for path in tests[:_TESTS_READ]
        if path.endswith(".py")
        for name in _TEST_NAME.findall(text_of(path) or "")
    ]
    sentences = [name for name in names if len([word for word in name.split("_") if word]) > _SENTENCE_WORDS]
    if len(names) >= _FEWEST and len(sentences) >= _CLEAR * len(names):
        test_files.append(
            _finding(Category.PATTERN, "test_names", "sentences about behaviour", COUNTED, tests[:_SEEN_MOST])
        )
    return test_files


def _unittest(files: Sequence[str], text_of: Callable[[str], str | None]) -> list[Finding]:
    """Return the framework that nobody declares: the one of Python itself."""
    tests = [path for path in files if path.endswith(".py") and _is_test(path)]
    seen = [path for path in tests[:_TESTS_READ] if "unittest" in (text_of(path) or "")]
    return [_finding(Category.TECH_STACK, "test_framework", "unittest", COUNTED, seen)] if seen else []


def _is_test(path: str) -> bool:
    name = PurePosixPath(path)
    return bool(_TEST_FOLDERS & set(name.parts[:-1])) or any(
        pattern.fullmatch(name.name) for _, pattern in _TEST_PATTERNS
    )


# Naming -------------------------------------------------------------------------------------------------------------


def _naming(files: Sequence[str], text_of: Callable[[str], str | None]) -> list[Finding]:
    findings = []
    code = [path for path in files if PurePosixPath(path).suffix in _CODE]
    style = _style(PurePosixPath(path).name.split(".")[0].strip("_") for path in code)
    if style is not None:
        findings.append(_convention("file_names", style, COUNTED, code[:_SEEN_MOST]))
    by_suffix = Counter(PurePosixPath(path).suffix for path in code)
    if not by_suffix:
        return findings
    suffix = min(by_suffix, key=lambda candidate: (-by_suffix[candidate], candidate))
    main = [path for path in code if PurePosixPath(path).suffix == suffix and not _is_test(path)]
    sample = main[:: max(1, len(main) // 40)][:40]
    texts = {path: text for path in sample if (text := text_of(path)) is not None}
    definition = _DEFINITIONS.get(
        ".ts" if suffix == ".tsx" else ".js" if suffix in (".jsx", ".mjs") else suffix
    )
    if definition is not None:
        names = [
            next(filter(None, match.groups()), "")
            for text in texts.values()
            for match in definition.finditer(text)
        ]
        style = _style(name for name in names if not name.startswith("__"))
        if style is not None:
            findings.append(_convention("function_names", style, COUNTED, texts))
    if suffix == ".py":
        findings += _python_habits(texts)
    return findings


def _python_habits(texts: Mapping[str, str]) -> list[Finding]:
    python_habits = []
    for key, value, pattern in (
        ("docstrings", "on public functions", _DOCSTRING),
        ("type_annotations", "on functions", _ANNOTATED),
    ):
        marks = [match[1] is not None for text in texts.values() for match in pattern.finditer(text)]
        if len(marks) >= _FEWEST and sum(marks) >= _CLEAR * len(marks):
            python_habits.append(_finding(Category.PATTERN, key, value, COUNTED, list(texts)[:_SEEN_MOST]))
    return python_habits


def _style(names: Iterable[str]) -> str | None:
    """Return the style in which names of several words are written, None where there are too few or no habit."""
    counts: Counter[str] = Counter()
    for name in names:
        for style, pattern in _STYLES:
            if pattern.fullmatch(name):
                counts[style] += 1
                break
    if counts.total() < _FEWEST:
        return None
    most = min(counts, key=lambda style: (-counts[style], style))
    return most if counts[most] >= _CLEAR * counts.total() else None


FILES_MOST: Final = 50_000
FILE_BYTES_MOST: Final = 1 << 20
_MANIFESTS_MOST: Final = 500
_OF_OTHERS: Final = frozenset(
    "example examples sample samples demo demos tutorial tutorials template templates skeleton skeletons scaffold "
    "scaffolds boilerplate cookiecutter vendor vendored _vendor _vendored vendors third_party thirdparty third-party "
    "3rdparty extern _extern externals fixtures fixture testdata test_data test-data playground".split()
)
_BESIDE_CODE: Final = frozenset(
    {*_TEST_FOLDERS, "testing", "doc", "docs", "docs_src", "benchmark", "benchmarks"}
)
_BESIDE: Final = _BESIDE_CODE | frozenset(
    {"conftest", "noxfile", "setup", "tasks", "conf", "scripts", "tools", "contrib"}
)
"""What of the code is not the project itself: what it needs, the project can do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScan:
    """What a look at a folder gave: how many files there are, the findings, and what was left out."""

    files: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def scan_folder(root: Path) -> FolderScan:
    """Return what the files of a repository say of the project, sorted by category and key.

    Names are looked at, and the texts of manifests, of some settings and of a few dozen files of code. What is
    ignored, generated or a dependency's own is left out, as an ingest does. Nothing is run.

    Raises `NotFound` when there is no such folder, `InvalidInput` for a file.
    """
    if not root.exists():
        raise NotFound(f"{absence(root, 'folder')} to look at; give the root of a repository.")
    if not root.is_dir():
        raise InvalidInput(f"{str(root)!r} is a file; give the root of a repository.")
    files: list[str] = []
    notes: list[str] = []
    nameless = 0
    for file in walk(root, options=ReadOptions(hidden=True)):
        if isinstance(file, FoundFile):
            if not encodable(file.relative):
                nameless += 1
                continue
            if len(files) == FILES_MOST:
                notes.append(f"Only the first {FILES_MOST:,} files were looked at.")
                break
            files.append(file.relative)
    if nameless:
        notes.append(f"Left out, for their names are no UTF-8: {nameless:,} of the files.")
    own = [path for path in files if not _is_of_others(path)]

    def text_of(path: str) -> str | None:
        return _text(root, path)

    manifests = _manifests(own, text_of, notes)
    code = [path for path in own if path.endswith(".py") and not words_of(path) & _BESIDE]
    drafts = [*stack_of(own, code, manifests, text_of), *habits_of(own, manifests, text_of)]
    if not any(draft.key == "test_framework" for draft in drafts):
        drafts += _unittest(own, text_of)
    return FolderScan(
        files=len(files),
        findings=tuple(sorted(_merged(drafts), key=lambda finding: (finding.category, finding.key))),
        notes=tuple(notes),
    )


def _is_of_others(path: str) -> bool:
    """Say whether a file is an example, a template, data of tests or somebody else's code: none says what is used."""
    place = PurePosixPath(path)
    names = {folder.lower() for folder in place.parts[:-1]}
    if names & _OF_OTHERS or any("{{" in folder for folder in names):
        return True
    if "requirements" in path:
        return False
    return bool(names & _TEST_FOLDERS and place.suffix not in _CODE) or (
        bool(names & _BESIDE_CODE) and is_manifest(path)
    )


def _merged(drafts: Iterable[Finding]) -> Iterable[Finding]:
    """Return the drafts, one for a key: of a stack with all that they name, of anything else the first."""
    findings: dict[tuple[Category, str], Finding] = {}
    for draft in drafts:
        first = findings.setdefault((draft.category, draft.key), draft)
        if first is draft or not (draft.category is Category.TECH_STACK or draft.key in CONVENTION_KEYS):
            continue
        names = sorted({*_values(first), *_values(draft)})
        findings[draft.category, draft.key] = _finding(
            draft.category,
            draft.key,
            names[0] if len(names) == 1 else list(names),
            max(first.confidence, draft.confidence),
            (*first.seen_in, *draft.seen_in),
        )
    return findings.values()


def _values(finding: Finding) -> list[str]:
    return [str(name) for name in (finding.value if isinstance(finding.value, list) else [finding.value])]


def _manifests(
    files: Sequence[str], text_of: Callable[[str], str | None], notes: list[str]
) -> list[DependencyManifest]:
    manifests: list[DependencyManifest] = []
    for path in files:
        if not is_manifest(path):
            continue
        if len(manifests) == _MANIFESTS_MOST:
            notes.append(f"Only the first {_MANIFESTS_MOST} files that declare dependencies were read.")
            break
        manifest = read_manifest(path, text_of)
        if manifest is None:
            reason = failure_of(path, text_of(path))
            notes.append(f"{path} could not be read as what its name says: {reason}.")
        else:
            manifests.append(manifest)
    return manifests


def _text(root: Path, path: str) -> str | None:
    """Return the text of a file, None for one that is too large or no text."""
    try:
        data = read_regular(root / path, limit=FILE_BYTES_MOST)
        return None if len(data) > FILE_BYTES_MOST else data.decode("utf-8-sig")
    except (OSError, InvalidInput, UnicodeDecodeError):
        return None
