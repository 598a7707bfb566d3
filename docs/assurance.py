"""Write `docs/assurance.md`: what Hexad promises, which tests show it, and what they counted when they last ran.

    python docs/assurance.py                     write the page
    python docs/assurance.py --check             fail when the page, the tests and the promises disagree
    python docs/assurance.py --counted JUNIT.XML take over what tests counted in a run, and write the page

`docs/assurance.toml` has the promises. A test counts with pytest's fixture `record_property`; what a run with
`--junitxml FILE` counted is kept in `docs/assurance.json` with its date and commit, until a later run counts anew.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

KEYS: Final = {"title", "promise", "tests", "limit", "results"}
REQUIRED: Final = {"title", "promise", "tests"}
LONG_FORMS: Final = "Long forms of the stress tests"
"""The heading in RESULTS.md that says how far the long forms were run."""

INTRO: Final = """\
# Assurance

What Hexad promises, how each promise is tried, and what was counted when it was last tried. Short forms of these
tests run with every `make test`, the long ones with `make stress`, which also brings the counts of this page up to
date.

The page is written by `python docs/assurance.py`; `make check` fails when it names a test that is not there.
[Security](security.md) says what is not defended, and [SECURITY.md](../SECURITY.md) how to report a hole.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One promise: the tests by file and name, what it leaves out, and the heading of its figures in RESULTS.md."""

    title: str
    promise: str
    tests: Sequence[str]
    limit: str | None = None
    results: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What one test counted in its last run, all its parameter sets together."""

    date: str
    commit: str
    counts: Mapping[str, int]


class Problem(Exception):
    """Something that keeps the page from being written; the message says where and what to do."""


def read_promises(file: Path) -> list[Promise]:
    """Return the promises of the TOML file; raises `Problem` for what cannot be used."""
    promises = []
    for number, values in enumerate(tomllib.loads(file.read_text(encoding="utf-8")).get("promise", ()), 1):
        if unknown := sorted(set(values) - KEYS):
            raise Problem(
                f"{file.name}: promise {number} has {unknown[0]!r}; known are {', '.join(sorted(KEYS))}."
            )
        if missing := sorted(REQUIRED - set(values)):
            raise Problem(f"{file.name}: promise {number} has no {missing[0]}.")
        if not values["tests"]:
            raise Problem(f"{file.name}: no test shows {values['title']!r}; name one.")
        promises.append(Promise(**values))
    return promises


def disagreements(promises: Sequence[Promise], repository: Path, uncounted: Set[str]) -> list[str]:
    """Return a complaint for every test and every heading that is named and is not there."""
    found = []
    results = (repository / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    for promise in promises:
        for test in promise.tests:
            file, _, name = test.partition("::")
            path = repository / file
            if not path.is_file() or (name and name not in _tests_of(path)):
                found.append(f"{promise.title!r} names {test}, which is not there.")
        if promise.results is not None and f"\n## {promise.results}\n" not in results:
            found.append(
                f"{promise.title!r} names the heading {promise.results!r}, which RESULTS.md does not have."
            )
    if uncounted and f"\n## {LONG_FORMS}\n" not in results:
        found.append(
            f"{sorted(uncounted)[0]} has no count, and RESULTS.md no heading {LONG_FORMS!r} that says what was run."
        )
    return found


def uncounted_long_forms(
    promises: Sequence[Promise], counts: Mapping[str, Count], repository: Path
) -> set[str]:
    """Return the named tests that run with `make stress` alone, and of which no run is kept."""
    return {
        test
        for promise in promises
        for test in promise.tests
        if test not in counts and _is_long(repository / test.partition("::")[0], test.partition("::")[2])
    }


def _is_long(file: Path, name: str) -> bool:
    return file.is_file() and any(
        ast.unparse(decorator) == "pytest.mark.long"
        for function in _functions_of(file)
        if function.name == name
        for decorator in function.decorator_list
    )


def _tests_of(file: Path) -> set[str]:
    return {function.name for function in _functions_of(file)}


def _functions_of(file: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def counted(junit: Path, *, date: str, commit: str) -> dict[str, Count]:
    """Return what each test of a run counted, by its file and name. Raises `Problem` where a test failed."""
    sums: dict[str, dict[str, int]] = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        place, name = case.get("classname", "").replace(".", "/"), case.get("name", "").partition("[")[0]
        test = f"{place}.py::{name}"
        if case.find("failure") is not None or case.find("error") is not None:
            raise Problem(f"{junit.name}: {test} failed; a run counts as a whole when all its tests passed.")
        for each in case.iter("property"):
            what, value = each.get("name", ""), each.get("value", "")
            if value.isdigit():
                sum_of = sums.setdefault(test, {})
                sum_of[what] = sum_of.get(what, 0) + int(value)
    return {test: Count(date=date, commit=commit, counts=counts) for test, counts in sums.items()}


def read_counts(file: Path) -> dict[str, Count]:
    """Return what was counted in earlier runs; nothing where no run was taken over."""
    if not file.exists():
        return {}
    return {test: Count(**values) for test, values in json.loads(file.read_text(encoding="utf-8")).items()}


def write_counts(file: Path, counts: Mapping[str, Count]) -> None:
    """Keep what was counted."""
    kept = {
        test: {"date": count.date, "commit": count.commit, "counts": dict(count.counts)}
        for test, count in sorted(counts.items())
    }
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def render(promises: Sequence[Promise], counts: Mapping[str, Count], uncounted: Set[str]) -> str:
    """Return the page."""
    return "\n".join([INTRO, *(_render_promise(promise, counts, uncounted) for promise in promises)])


def _link(heading: str) -> str:
    place = re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
    return f"(../benchmarks/RESULTS.md#{place})"


def _render_promise(promise: Promise, counts: Mapping[str, Count], uncounted: Set[str]) -> str:
    lines = [f"## {promise.title}", "", promise.promise.strip(), ""]
    if promise.limit:
        lines += [f"*Not promised.* {promise.limit}", ""]
    if promise.results:
        lines += [f"Figures: [{promise.results}]{_link(promise.results)}", ""]
    for test in promise.tests:
        lines.append(f"- `{test}`")
        if (count := counts.get(test)) is not None:
            numbers = ", ".join(f"{value:,} {what}" for what, value in count.counts.items())
            lines.append(f"  - {count.date} at {count.commit}: {numbers}")
        elif test in uncounted:
            lines.append(
                f"  - a long form of which no whole run is counted: [what was run of it]{_link(LONG_FORMS)}"
            )
    return "\n".join([*lines, ""])


def _commit(repository: Path) -> str:
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip() or "an unknown commit"


def main(arguments: Sequence[str], *, repository: Path) -> int:
    """Write or check the page of `repository`; returns 0, or 1 after saying on stderr what is wrong."""
    parser = argparse.ArgumentParser(description="Write docs/assurance.md from the promises and their tests.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the page is stale")
    parser.add_argument(
        "--counted", type=Path, metavar="JUNIT.XML", help="take over what tests counted in a run"
    )
    given = parser.parse_args(arguments)
    docs = repository / "docs"
    page = docs / "assurance.md"
    try:
        promises = read_promises(docs / "assurance.toml")
        counts = read_counts(docs / "assurance.json")
        if given.counted is not None:
            today = datetime.now(UTC).date().isoformat()
            counts |= counted(given.counted, date=today, commit=_commit(repository))
    except (Problem, tomllib.TOMLDecodeError, OSError, ElementTree.ParseError) as error:
        print(error, file=sys.stderr)
        return 1
    uncounted = uncounted_long_forms(promises, counts, repository)
    wrong = disagreements(promises, repository, uncounted)
    text = render(promises, counts, uncounted)
    if given.check:
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            wrong.append("docs/assurance.md is out of date; run `python docs/assurance.py`.")
    elif not wrong:
        if given.counted is not None:
            write_counts(docs / "assurance.json", counts)
        page.write_text(text, encoding="utf-8")
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], repository=Path(__file__).resolve().parent.parent))
