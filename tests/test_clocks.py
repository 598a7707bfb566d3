"""No test is decided by how fast the machine is: which tests look at a clock, and why a slow one does not fail them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, settings

TESTS: Final = Path(__file__).parent

HANG: Final = "ends a wait that would never end; half a minute or more for what takes milliseconds"
GROWTH: Final = "CPU time, fifty times what it takes: only growth with the square of the input is over it"
PACE: Final = "spreads over time what it does, and asserts nothing about it"

CLOCKS: Final[dict[str, str]] = {
    "architecture/source.py": "names one in a docstring",
    "architecture/test_rules.py": "names clocks in sources that break a rule",
    "http_servers.py": HANG,
    "mutation/check.py": "says how long it took",
    "mutation/run.py": HANG,
    "simulation/run.py": "draws the first seed of a night, and says how long it took",
    "stress/stress_processes.py": PACE,
    "stress/test_encryption_kills.py": HANG,
    "stress/test_engine.py": HANG,
    "stress/test_fuzzing.py": "CPU time, twenty seconds for what takes milliseconds",
    "stress/test_http_kills.py": HANG,
    "test_architecture.py": "names the clocks that the program may look at",
    "test_attack_growth.py": "CPU time of a text against that of one an eighth as long, the least of several runs",
    "test_audit_recorder.py": HANG,
    "test_cli_browse_terminal.py": HANG,
    "test_cli_encryption.py": HANG,
    "test_cli_xdb.py": HANG,
    "test_code_graph_languages.py": "CPU time of a text against that of one an eighth as long, the least of three runs",
    "test_engine_ingest.py": HANG,
    "test_hooks.py": HANG,
    "test_http_streams.py": HANG,
    "test_layer_deadlines.py": HANG + "; and what waits 200 ms takes no less",
    "test_router_questions.py": GROWTH,
    "test_session_edges.py": HANG,
    "test_telemetry.py": HANG,
    "test_use_context.py": GROWTH,
    "test_working_sets.py": HANG,
    "test_xdb_program_end.py": PACE,
    "unit/ingest/write/test_salience.py": GROWTH,
    "unit/interfaces/cli/output/test_progress.py": HANG,
    "unit/providers/generators/test_hosted.py": HANG + "; and what waits a second takes no less",
    "unit/redaction/injection/test_detector.py": "CPU time of a text against that of one an eighth as long",
    "unit/spaces/bundles/orderings/test_entity_map.py": GROWTH,
    "unit/spaces/bundles/orderings/test_radix_tree.py": GROWTH,
    "unit/text/similarity/test_ngram_filter.py": GROWTH,
}

_CLOCK: Final = re.compile(
    r"\b(?:time|_time)\.(?:time|monotonic|perf_counter|process_time|thread_time)(?:_ns)?\b"
)


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.rglob("*.py")):
        if path.name != Path(__file__).name:
            yield path.relative_to(TESTS).as_posix(), path.read_text(encoding="utf-8")


def test_every_test_that_looks_at_a_clock_is_in_the_list_with_its_reason() -> None:
    assert sorted(CLOCKS) == [name for name, source in sources() if _CLOCK.search(source)]


def test_hypothesis_judges_nothing_by_the_clock() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
    wrong = [
        f"{name}:{call.lineno}"
        for name, source in sources()
        if "hypothesis" in source
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and "settings" in ast.unparse(call.func)
        for argument in call.keywords
        if (argument.arg == "deadline" and ast.unparse(argument.value) != "None")
        or (argument.arg == "suppress_health_check" and not _leaves_time_out(ast.unparse(argument.value)))
    ]
    assert [] == wrong


def _leaves_time_out(health_checks: str) -> bool:
    return "too_slow" in health_checks or health_checks in ("SHARED_FIXTURES", "list(HealthCheck)")
