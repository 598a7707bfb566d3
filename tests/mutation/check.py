"""Try mutants of the code of rows, and say which of them no test of the row noticed."""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.util
import multiprocessing
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Final

from mutation import code
from mutation.run import REPOSITORY, SOURCE, Outcome, preload, run
from mutation.sites import Site, sites

SAMPLE: Final = 40
MUTANTS_PER_ROW: Final = 5
"""So many are tried before a row is said not to notice: some change nothing that anybody could see."""
BASELINE_LIMIT_S: Final = 600.0
FEW: Final = 4
"""For so few rows it takes longer to load what most tests need than to let each run do it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A mistake, and the tests of the row that execute its line or start programs that may, the quickest first."""

    file: str
    site: Site
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"src/hexad/{self.file}:{self.site.line} {self.site.function}: {self.site.kind}\n      - {self.site.before}\n      + {self.site.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a row fared."""

    row: str
    survivors: tuple[str, ...] = ()
    caught: str | None = None
    problem: str | None = None
    """Why no mutant could be tried."""
    seconds: float = 0.0


def check(row: str, tests: Sequence[str], functions: Sequence[str], *, seed: int, mutants: int) -> Verdict:
    """Try mutants of a row's functions until one of its tests fails."""
    started = time.monotonic()
    if not functions:
        return Verdict(
            row=row, problem=f"no code is written down in {code.FILE.name}; --map --rows {row} looks for it"
        )
    watch: dict[str, frozenset[str]] = {}
    for function in functions:
        file, _, name = function.partition(":")
        watch[file] = watch.get(file, frozenset()) | {name}
    green = run(tests, watch=watch, limit_s=BASELINE_LIMIT_S)
    if green.red:
        return Verdict(
            row=row, problem=f"without a mistake {green.red} fails", seconds=time.monotonic() - started
        )
    survivors = []
    caught = None
    for mutant in choose(row, watch, green, seed=seed)[:mutants]:
        limit_s = 20 + 10 * sum(green.seconds[test] for test in mutant.tests)
        red = run(mutant.tests, mutant=(SOURCE / mutant.file, mutant.site.number), limit_s=limit_s).red
        if red:
            caught = f"{mutant}\n      {red}"
            break
        survivors.append(str(mutant))
    problem = (
        None if caught or survivors else "its tests execute nothing of its functions that can be changed"
    )
    return Verdict(
        row=row, survivors=tuple(survivors), caught=caught, problem=problem, seconds=time.monotonic() - started
    )  # fmt: skip


def choose(row: str, watch: Mapping[str, frozenset[str]], green: Outcome, *, seed: int) -> list[Mutant]:
    """Return the mutants of a row in the order of its seed, which nothing changes but the row and the statement."""
    found: dict[str, Mutant] = {}
    for file, functions in watch.items():
        executed = {test: set(lines.get(file, ())) for test, lines in green.lines.items()}
        elsewhere = not any(green.lines.values())  # all of it in the programs that the tests start
        for site in _sites(file):
            tests = [test for test, lines in executed.items() if elsewhere or site.line in lines]
            if site.function in functions and tests:
                tests.sort(key=lambda test: (green.seconds[test], test))
                name = f"{seed} {row} {file} {site.function} {site.kind} {site.before} {site.after}"
                key = hashlib.sha256(name.encode()).hexdigest()
                found.setdefault(key, Mutant(file=file, site=site, tests=tuple(tests)))
    return [found[key] for key in sorted(found)]


@cache
def _sites(file: str) -> list[Site]:
    path = SOURCE / file
    if not path.exists():
        return []
    found = sites(ast.parse(path.read_text(encoding="utf-8")))
    return [replace(site, apply=lambda: None) for site in found]


def sample(rows: Iterable[str], *, seed: int, size: int) -> list[str]:
    """Return rows that are the same as long as their names are, whatever other rows there are."""
    return sorted(sorted(rows, key=lambda row: hashlib.sha256(f"{seed} {row}".encode()).hexdigest())[:size])


@cache
def _page() -> ModuleType:
    """Return the script that reads sentences and markers."""
    spec = importlib.util.spec_from_file_location("capability_page", REPOSITORY / "docs" / "capabilities.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def tests_of_rows() -> dict[str, list[str]]:
    """Return the tests of every row, by the markers."""
    tests: dict[str, list[str]] = {}
    for marker in _page().collect(REPOSITORY / "tests"):
        tests.setdefault(marker.row, []).append(marker.test)
    return tests


def _each(jobs: int, calls: Sequence[tuple[str, list[str], list[str], int, int]]) -> Iterator[Verdict]:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(_check, calls)


def _check(call: tuple[str, list[str], list[str], int, int]) -> Verdict:
    row, tests, functions, seed, mutants = call
    return check(row, tests, functions, seed=seed, mutants=mutants)


def write_map(jobs: int, only: Collection[str] | None = None) -> None:
    """Run every test of a row once and write which functions are whose; what is written of other rows stays."""
    tests = tests_of_rows()
    files: dict[str, list[str]] = {}
    for test in sorted(set().union(*tests.values())):
        files.setdefault(test.partition("::")[0], []).append(test)
    if len(files) > FEW:
        preload()
    calls: dict[str, set[str]] = {}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for outcome in pool.map(_calls, files.values()):
            for test, functions in outcome.calls.items():
                calls.setdefault(test.partition("[")[0], set()).update(functions)
            if outcome.red:
                print(f"{outcome.red} fails", file=sys.stderr)
    of_rows = {row: _with_those_of(names, calls) for row, names in tests.items()}
    sentences = {
        row: entry.sentence
        for row, entry in _page().read_rows(REPOSITORY / "docs" / "capabilities.toml").items()
    }
    found = code.choose(dict(sorted(of_rows.items())), sentences, calls)
    code.write(found if only is None else code.read() | {row: found[row] for row in only if row in found})


def _calls(tests: list[str]) -> Outcome:
    return run(tests, all_calls=True, stop=False, limit_s=1_800)


def _with_those_of(names: Sequence[str], calls: Mapping[str, object]) -> list[str]:
    """Return the tests that markers name: a file or a class stands for all of its tests."""
    return [test for test in calls if any(test == name or test.startswith(f"{name}::") for name in names)]


def main(arguments: Sequence[str]) -> int:
    """Check rows; returns 1 when one of them noticed none of its mutants, after saying which they were."""
    parser = argparse.ArgumentParser(
        prog="mutation", description="Try small mistakes in the code of capability rows."
    )
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="these rows")
    parser.add_argument("--all", action="store_true", help="every row")
    parser.add_argument(
        "--map",
        action="store_true",
        help="find anew which functions are the code of which row, or of those named by --rows",
    )
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help="so many rows (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another sample, and other mistakes")
    parser.add_argument(
        "--mutants",
        type=int,
        default=MUTANTS_PER_ROW,
        metavar="N",
        help="mistakes tried of a row (%(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the mistakes that were noticed, too")
    options = parser.parse_args(arguments)
    if options.map:
        write_map(options.jobs, options.rows)
        return 0
    tests, functions = tests_of_rows(), code.read()
    unknown = sorted(set(options.rows or ()) - set(functions))
    if unknown:
        parser.error(f"{unknown[0]} has no code in {code.FILE.name}; rows with tests get it by --map")
    rows = options.rows or sorted(functions.keys() | (tests if options.all else ()))
    if not options.rows and not options.all:
        rows = sample(rows, seed=options.seed, size=options.sample)
    if len(rows) > FEW:
        preload()
    started = time.monotonic()
    verdicts = []
    for verdict in _each(
        options.jobs,
        [(row, tests.get(row, []), functions.get(row, []), options.seed, options.mutants) for row in rows],
    ):
        verdicts.append(verdict)
        _say(verdict, verbose=options.verbose)
    first = sum(1 for verdict in verdicts if verdict.caught and not verdict.survivors)
    caught = sum(1 for verdict in verdicts if verdict.caught)
    tried = sum(1 for verdict in verdicts if not verdict.problem)
    print(
        f"{caught} of {tried} rows noticed a mistake, {first} of them the first; {len(verdicts) - tried} could not be tried; "
        f"{time.monotonic() - started:.0f} s"
    )
    print(f"rows: {caught} passed, {len(verdicts) - caught} failed")
    return 0 if caught == len(verdicts) else 1


def _say(verdict: Verdict, *, verbose: bool) -> None:
    if verdict.problem:
        print(f"{verdict.row}: {verdict.problem}", flush=True)
    elif not verdict.caught or verbose:
        word = "noticed" if verdict.caught else "NOT NOTICED"
        print(f"{verdict.row} {word} ({verdict.seconds:.1f} s)", flush=True)
        for survivor in verdict.survivors:
            print(f"    {survivor}", flush=True)
        if verdict.caught:
            print(f"    noticed: {verdict.caught}", flush=True)
