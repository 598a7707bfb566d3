"""Write `docs/capabilities.md` from the tests: what Hexad can do, and which test shows it.

    python docs/capabilities.py            write the page
    python docs/capabilities.py --check    fail when the page, the markers and the sentences disagree

A test shows a row by carrying `@pytest.mark.row("L057")`: on a function, a class, a parameter set, or a module
(`pytestmark`). `docs/capabilities.toml` has one table for each row: `sentence` says what Hexad does; `partial`
says what is missing though tests show the rest; `none` says why no test shows the row. The tests are read, not
run: the page needs nothing but this repository.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROW: Final = re.compile(r"[A-Z]\d{3}")
KEYS: Final = {"sentence", "partial", "none"}

# The documents in their order, by the letter of their rows, with the number of capabilities that each names.
DOCUMENTS: Final = {
    "L": ("Structured project memory", 173),
    "H": ("Experience database", 187),
    "O": ("Honeycomb graph", 80),
    "A": ("Six-layer memory", 151),
}

INTRO: Final = """\
# Capabilities

The four documents that Hexad implements name {total} capabilities. This table lists the ones built so far:
{listed} rows, {shown} of them shown in full by tests, {partial} in part, and {none} not shown by a test, with
the reason. A row that is not listed is not built yet.

The page is written by `python docs/capabilities.py` from the markers in the tests; `make check` fails when it
is out of date. To see a row proven, run its tests: `python -m pytest` followed by one of the names below it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the page says of one capability."""

    sentence: str
    partial: str | None = None
    none: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One test that claims to show one row."""

    row: str
    test: str


class Problem(Exception):
    """Something that keeps the page from being written; the message says where and what to do."""


def collect(tests: Path) -> list[Marker]:
    """Return the markers of every `test_*.py` below `tests`, in the order of the files and their lines.

    Raises `Problem` for a marker whose ids are not plain strings, or that stands where no test is.
    """
    markers = []
    for file in sorted(tests.rglob("test_*.py")):
        place = file.relative_to(tests.parent).as_posix()
        for name, line, row in _marked(ast.parse(file.read_text(encoding="utf-8"), filename=place), place):
            if not ROW.fullmatch(row):
                raise Problem(f"{place}:{line}: {row!r} is no row id; write one such as 'L057'.")
            markers.append(Marker(row=row, test=f"{place}::{name}" if name else place))
    return list(dict.fromkeys(markers))


def _marked(tree: ast.Module, place: str) -> Iterator[tuple[str, int, str]]:
    """Yield the test's name, the line and the row of every marker in a file; the name is empty for the file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(to) == "pytestmark" for to in node.targets):
            for line, row in _rows(node.value, place):
                yield "", line, row
        elif isinstance(node, ast.ClassDef):
            yield from _of_definition(node, node.name, place)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _of_definition(inner, f"{node.name}::{inner.name}", place)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_definition(node, node.name, place)


def _of_definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str, place: str
) -> Iterator[tuple[str, int, str]]:
    for decorator in node.decorator_list:
        for line, row in _rows(decorator, place):
            if not node.name.startswith(("test_", "Test")):
                raise Problem(f"{place}:{line}: {name} is marked with {row} but is no test.")
            yield name, line, row


def _rows(expression: ast.expr, place: str) -> Iterator[tuple[int, str]]:
    """Yield line and row of every `pytest.mark.row(…)` inside an expression, parameter sets included."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.row"):
            for given in node.args:
                if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
                    raise Problem(f"{place}:{node.lineno}: give the row ids as plain strings.")
                yield node.lineno, given.value


def read_rows(file: Path) -> dict[str, Row]:
    """Return the rows of the TOML file in the documents' order; raises `Problem` for what cannot be used."""
    rows = {}
    for name, values in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if not ROW.fullmatch(name) or name[0] not in DOCUMENTS:
            raise Problem(f"{file.name}: [{name}] is no row id; write one such as [L057].")
        unknown = sorted(set(values) - KEYS)
        if unknown:
            raise Problem(f"{file.name}: [{name}] has {unknown[0]!r}; known are {', '.join(sorted(KEYS))}.")
        if not all(isinstance(value, str) and value.strip() for value in values.values()):
            raise Problem(f"{file.name}: [{name}] has a value that is no text.")
        if "sentence" not in values:
            raise Problem(f"{file.name}: [{name}] has no sentence; say what Hexad does.")
        rows[name] = Row(**values)
    return dict(sorted(rows.items(), key=lambda item: _order(item[0])))


def _order(row: str) -> tuple[int, int]:
    return list(DOCUMENTS).index(row[0]), int(row[1:])


def unknown_rows(rows: Mapping[str, Row], markers: Sequence[Marker]) -> list[str]:
    """Return a complaint for every marker that names a row without a sentence."""
    return [
        f"{marker.test} shows {marker.row}, which docs/capabilities.toml does not list; add its sentence."
        for marker in markers
        if marker.row not in rows
    ]


def disagreements(rows: Mapping[str, Row], markers: Sequence[Marker]) -> list[str]:
    """Return a complaint for every row that has neither test nor reason, or both."""
    found = []
    shown = {marker.row for marker in markers}
    for name, row in rows.items():
        if row.none and (row.partial or name in shown):
            found.append(f"{name} says why nothing shows it, yet something does; remove `none`.")
        elif name not in shown and not row.none:
            found.append(
                f'{name} has no test; mark one with @pytest.mark.row("{name}") or say why in `none`.'
            )
    return found


def render(rows: Mapping[str, Row], markers: Sequence[Marker]) -> str:
    """Return the page."""
    shown: dict[str, list[str]] = {}
    for marker in markers:
        shown.setdefault(marker.row, []).append(marker.test)
    without = sum(1 for row in rows.values() if row.none)
    partial = sum(1 for row in rows.values() if row.partial)
    intro = INTRO.format(
        total=sum(count for _, count in DOCUMENTS.values()),
        listed=len(rows),
        shown=sum(1 for name, row in rows.items() if name in shown and not row.partial),
        partial=partial,
        none=without,
    )
    parts = [intro]
    for letter, (title, count) in DOCUMENTS.items():
        own = {name: row for name, row in rows.items() if name[0] == letter}
        if own:
            parts.append(f"## {title}\n\n{len(own)} of {count} rows.\n")
            parts += [_render_row(name, row, shown.get(name, [])) for name, row in own.items()]
    return "\n".join(parts)


def _render_row(name: str, row: Row, tests: Sequence[str]) -> str:
    lines = [f"### {name}", "", row.sentence, ""]
    if row.partial:
        lines += [f"*In part.* {row.partial}", ""]
    if row.none:
        lines += [f"*Not shown by a test.* {row.none}", ""]
    if tests:
        lines += [f"- `{test}`" for test in tests] + [""]
    return "\n".join(lines)


def main(arguments: Sequence[str], *, repository: Path) -> int:
    """Write or check the page of `repository`; returns 0, or 1 after saying on stderr what is wrong."""
    parser = argparse.ArgumentParser(description="Write docs/capabilities.md from the tests' markers.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the page is stale")
    check = parser.parse_args(arguments).check
    page = repository / "docs" / "capabilities.md"
    try:
        rows = read_rows(repository / "docs" / "capabilities.toml")
        markers = collect(repository / "tests")
    except (Problem, tomllib.TOMLDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    unknown = unknown_rows(rows, markers)
    wrong = unknown + disagreements(rows, markers)
    text = render(rows, markers)
    if not check and not unknown:
        page.write_text(text, encoding="utf-8")
    elif check and (not page.exists() or page.read_text(encoding="utf-8") != text):
        wrong.append("docs/capabilities.md is out of date; run `make capabilities`.")
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], repository=Path(__file__).resolve().parent.parent))
