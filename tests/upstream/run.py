"""Fetch the suites, run each in an environment of its own, and compare what failed with what is known to."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
BUILD = PROJECT / "build" / "upstream"
Suite = Mapping[str, Any]


class SuiteMissing(Exception):
    """The tests of a suite cannot be had; the message says what to give."""


def main(arguments: Sequence[str]) -> int:
    """Run the suites and return 0 where nothing failed but what is known to, 1 otherwise, 2 where one cannot be had."""
    suites: dict[str, Suite] = tomllib.loads((HERE / "suites.toml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(prog="make upstream", description=__doc__)
    parser.add_argument(
        "--suite", choices=sorted(suites), action="append", help="only this one; repeat for more"
    )
    chosen = parser.parse_args(arguments).suite or sorted(suites)
    BUILD.mkdir(parents=True, exist_ok=True)
    sound = True
    for name in chosen:
        try:
            sound &= _run(name, suites[name])
        except (SuiteMissing, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return 0 if sound else 1


def _run(name: str, suite: Suite) -> bool:
    python = _environment(name, suite)
    tests = _tests(name, suite, python)
    report = BUILD / f"{name}.xml"
    report.unlink(missing_ok=True)
    command = [
        str(python), "-m", "pytest", "-q", "--tb=short", "-c", str(HERE / "pytest.ini"), f"--rootdir={tests}",
        "-p", f"upstream.{suite['plugin']}", f"--junitxml={report}", *(str(tests / each) for each in suite["tests"]),
    ]  # fmt: skip
    paths = os.pathsep.join((str(HERE.parent), str(tests)))
    with (BUILD / f"{name}.log").open("w", encoding="utf-8") as log:
        subprocess.run(
            command, cwd=BUILD, env={**os.environ, "PYTHONPATH": paths}, stdout=log, stderr=log, check=False
        )
    if not report.is_file():
        raise SuiteMissing(f"pytest ran no test; {BUILD / f'{name}.log'} says why.")
    return judge(name, suite, outcomes(report))


def _environment(name: str, suite: Suite) -> Path:
    """Return the Python of the suite's environment, with this project and the framework in its pinned version."""
    folder = BUILD / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pinned = f"{suite['package']}=={suite['version']}"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "-e", f".[{suite['extra']}]", pinned, *suite["requires"]],
        cwd=PROJECT,
        check=True,
        timeout=1800,
    )
    return python


def _tests(name: str, suite: Suite, python: Path) -> Path:
    """Return the folder of the framework's sources: what its variable names, or the source distribution."""
    if given := os.environ.get(suite["variable"], "").strip():
        folder = Path(given).expanduser().resolve()
        if not all((folder / each).exists() for each in suite["tests"]):
            raise SuiteMissing(
                f"{suite['variable']} = {given!r} has no {suite['tests'][0]}; name the folder that "
                f"{suite['package']}'s sources have it in, or leave it out."
            )
        return folder
    folder = BUILD / f"{suite['package']}-{suite['version']}"
    if not all((folder / each).exists() for each in suite["tests"]):
        archives = BUILD / "sources"
        download = [
            str(python),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ]
        only = ["--no-binary", suite["package"], "--dest", str(archives)]
        subprocess.run(
            [*download, *only, f"{suite['package']}=={suite['version']}"], check=True, timeout=1800
        )
        shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(archives / f"{folder.name}.tar.gz") as archive:
            archive.extractall(BUILD, filter="data")
    return folder


def outcomes(report: Path) -> dict[str, str]:
    """Return how each test of a report of pytest ended: passed, failed or skipped."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        ended = {child.tag for child in case}
        test = f"{case.get('classname', '')}.{case.get('name')}".lstrip(".")
        failed = ended & {"failure", "error"}
        found[test] = "failed" if failed else "skipped" if "skipped" in ended else "passed"
    return found


def judge(name: str, suite: Suite, ended: Mapping[str, str]) -> bool:
    """Print how many passed, what failed by design and why; say whether nothing else failed, and all was reached."""
    expected: dict[str, str] = suite.get("expected", {})
    failed = [test for test, how in ended.items() if how == "failed"]
    by_design = {test: why for test in failed if (why := _reason(test, expected)) is not None}
    others = [test for test in failed if test not in by_design]
    over = [pattern for pattern in expected if not any(fnmatchcase(test, pattern) for test in by_design)]
    passed = sum(how == "passed" for how in ended.values())
    skipped = len(ended) - passed - len(failed)
    print(
        f"{name}: {suite['package']} {suite['version']}: {passed} of {len(ended)} passed, {len(by_design)} failed by "
        f"design, {len(others)} otherwise, {skipped} skipped"
    )
    for why in dict.fromkeys(by_design.values()):
        print(f"  {sum(each == why for each in by_design.values())} by design: {why}")
    for test in others:
        print(f"  FAILED {test}; see {BUILD / f'{name}.log'}")
    for pattern in over:
        print(f"  {pattern} is expected to fail and did not: take it out of suites.toml")
    short = len(ended) != suite["count"]
    if short:
        print(f"  {len(ended)} tests ran, and suites.toml says {suite['count']}")
    return not (others or over or short)


def _reason(test: str, expected: Mapping[str, str]) -> str | None:
    return next((why for pattern, why in expected.items() if fnmatchcase(test, pattern)), None)
