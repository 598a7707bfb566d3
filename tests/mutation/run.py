"""Run tests in a process of their own, forked from one that has loaded the packages that all of them need."""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest

from mutation import hook

REPOSITORY: Final = Path(__file__).parents[2]
SOURCE: Final = REPOSITORY / "src" / "hexad"
OPTIONS: Final = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:faulthandler",
    "--no-header",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
PRELOAD: Final = (
    "numpy", "apsw", "duckdb", "click", "rich.console", "rich.table", "hypothesis.strategies", "cryptography.fernet",
    "cryptography.hazmat.primitives.ciphers.aead", "httpx2", "fastapi.testclient", "mcp", "asyncio",
)  # fmt: skip
WATCHED_CALLS: Final = 50
"""After so many calls nothing new is expected of a function's lines."""

Watch = Mapping[str, frozenset[str]]
"""Functions by the file that they are in, relative to the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run of tests showed."""

    red: str | None
    """The first test that failed, or what ended the run; None when all are green."""
    seconds: dict[str, float]
    """How long each test took."""
    lines: dict[str, dict[str, list[int]]]
    """By test and file, the lines of watched functions that were executed."""
    calls: dict[str, list[str]]
    """By test, the functions that were called, as `<file>:<function>`; only where they were asked for."""


def preload() -> None:
    """Load what takes long and is not ours; the package itself is imported where it is changed."""
    for name in PRELOAD:
        with contextlib.suppress(ImportError):
            __import__(name)
    for plugin in importlib.metadata.entry_points(group="pytest11"):
        plugin.load()
    assert "hexad" not in sys.modules
    gc.collect()
    gc.freeze()  # no pass of a forked process looks at it again, or copies its pages


def run(
    tests: Sequence[str],
    *,
    mutant: tuple[Path, int] | None = None,
    watch: Watch | None = None,
    all_calls: bool = False,
    stop: bool = True,
    limit_s: float,
) -> Outcome:
    """Run tests in a forked process, with a mistake in one module if one is given; what takes too long is red."""
    with tempfile.TemporaryDirectory(prefix="hexad-mutation-", dir=_memory()) as folder:
        report = Path(folder) / "report.json"
        pid = os.fork()
        if pid == 0:
            try:
                _child(tests, Path(folder), mutant, _Recorder(watch or {}, all_calls=all_calls), stop=stop)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(70)
        ended = _wait(pid, limit_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if not report.exists():
            return Outcome(red=f"the run {ended}", seconds={}, lines={}, calls={})
        return Outcome(**json.loads(report.read_text(encoding="utf-8")))


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _wait(pid: int, limit_s: float) -> str:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return f"ended with {os.waitstatus_to_exitcode(status)}"
        time.sleep(0.01)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return f"took more than {limit_s:.0f} s"


def _child(
    tests: Sequence[str],
    folder: Path,
    mutant: tuple[Path, int] | None,
    recorder: _Recorder,
    *,
    stop: bool,
) -> None:
    os.setsid()
    quiet = os.open(os.devnull if "MUTATION_DEBUG" not in os.environ else "/dev/stderr", os.O_RDWR)
    for number in (0, 1, 2) if "MUTATION_DEBUG" not in os.environ else (0,):
        os.dup2(quiet, number)
    os.chdir(REPOSITORY)
    if mutant:
        hook.install(*mutant)
    code = pytest.main(
        [*tests, *OPTIONS, *(["-x"] if stop else []), f"--basetemp={folder}/tmp"], plugins=[recorder]
    )
    if code != pytest.ExitCode.OK and recorder.red is None:
        recorder.red = f"pytest ended with {int(code)}"
    data = {
        "red": recorder.red,
        "seconds": recorder.seconds,
        "lines": recorder.lines,
        "calls": recorder.calls,
    }
    (folder / "report.part").write_text(json.dumps(data), encoding="utf-8")
    (folder / "report.part").rename(folder / "report.json")
    os._exit(0)


class _Recorder:
    """A plugin of pytest: how each test ended, and what it executed while it was called."""

    def __init__(self, watch: Watch, *, all_calls: bool) -> None:
        self.red: str | None = None
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[str, list[int]]] = {}
        self.calls: dict[str, list[str]] = {}
        self._watch = {str(SOURCE / file): functions for file, functions in watch.items()}
        self._tracing = all_calls or bool(watch)
        self._prefix = f"{SOURCE}{os.sep}" if all_calls else None
        self._seen: dict[CodeType, int] = {}
        self._executed: dict[str, set[int]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed and self.red is None:
            self.red = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.red is None:
            self.red = report.nodeid

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if not self._tracing:
            return (yield)
        self._seen, self._executed = {}, {}
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            prefix = len(f"{SOURCE}{os.sep}")
            self.lines[item.nodeid] = {file[prefix:]: sorted(lines) for file, lines in self._executed.items()}
            if self._prefix:
                self.calls[item.nodeid] = sorted({
                    f"{code.co_filename[prefix:]}:{function_of(code)}"
                    for code in self._seen if code.co_filename.startswith(self._prefix)
                })  # fmt: skip

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        functions = self._watch.get(code.co_filename)
        if not functions and not self._prefix:
            return None  # nearly all calls: to look a code up by its hash costs more than the rest of this
        seen = self._seen[code] = self._seen.get(code, 0) + 1
        if not functions or seen > WATCHED_CALLS or function_of(code) not in functions:
            return None
        lines = self._executed.setdefault(code.co_filename, set())

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return line

        return line


def function_of(code: CodeType) -> str:
    """Return the name of the function that a code belongs to: what it defines inside is part of it."""
    return code.co_qualname.partition(".<locals>")[0]
