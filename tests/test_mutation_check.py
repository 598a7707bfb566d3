"""The mutation check itself: which mistakes it makes, that tests meet them, and what it says of tests that do not mind."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mutation.code import choose
from mutation.sites import mutated, sites

REPOSITORY = Path(__file__).parents[1]
SOURCE = '''
LIMIT = 3


class Shelf:
    """A docstring stays."""

    def first(self, books: list[str], *, most: int = 2) -> list[str]:
        """Return the first books."""
        if not books or most < 1:
            raise ValueError("There are no books.")
        self.asked += 1
        self.log(books, level=2)
        return [book for book in books if book][:most]


def load(db):
    return db.query("SELECT 1 FROM t", strict=True)
'''


def test_each_statement_offers_the_small_mistakes_that_fit_it():
    offered = [(site.function, site.line, site.kind, site.after) for site in sites(ast.parse(SOURCE))]

    assert [
        ("Shelf.first", 10, "negate a condition", "if not (not books or most < 1):"),
        ("Shelf.first", 10, "swap and/or", "if not books and most < 1:"),
        ("Shelf.first", 10, "negate a comparison", "if not books or most >= 1:"),
        ("Shelf.first", 10, "move a bound", "if not books or most <= 1:"),
        ("Shelf.first", 10, "change a constant", "if not books or most < 2:"),
        ("Shelf.first", 12, "drop an assignment", "pass"),
        ("Shelf.first", 12, "change a constant", "self.asked += 2"),
        ("Shelf.first", 13, "drop a statement", "pass"),
        ("Shelf.first", 13, "drop a keyword", "self.log(books)"),
        ("Shelf.first", 13, "change a constant", "self.log(books, level=3)"),
        ("Shelf.first", 14, "return nothing", "return []"),
        ("Shelf.first", 14, "drop a filter", "return [book for book in books][:most]"),
        ("Shelf.first", 14, "drop a bound", "return [book for book in books if book][:]"),
        ("load", 18, "return nothing", "return None"),
        ("load", 18, "drop a keyword", "return db.query('SELECT 1 FROM t')"),
        ("load", 18, "change a constant", "return db.query('SELECT 1 FROM t', strict=False)"),
    ] == offered


def test_a_module_has_one_mistake_and_is_otherwise_as_it_was():
    before = ast.unparse(ast.parse(SOURCE)).splitlines()
    for site in sites(ast.parse(SOURCE)):
        after = ast.unparse(mutated(SOURCE, site.number, "shelf.py")).splitlines()
        changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert [(site.before, site.after)] == [(old.strip(), new.strip()) for old, new in changed]


def test_the_code_of_a_row_is_what_its_tests_call_and_few_others_do_by_the_words_of_its_sentence():
    calls = {
        "first": {"core/clock.py:FrozenClock.advance", "memory/confidence.py:decayed", "memory/confidence.py:risen"},
        "other": {"core/clock.py:FrozenClock.advance"},
        "third": {"core/clock.py:FrozenClock.advance"},
    }  # fmt: skip

    found = choose(
        {"A001": ["first"], "A002": ["other"]}, {"A001": "Confidence has decayed.", "A002": "Time."}, calls
    )

    assert {"memory/confidence.py:decayed", "memory/confidence.py:risen"} <= set(found["A001"])
    assert ["core/clock.py:FrozenClock.advance"] == found["A002"]


# The command ----------------------------------------------------------------------------------------------------------

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["row(*ids): rows"]\n',
    "src/hexad/__init__.py": "",
    "src/hexad/sums.py": """
        def total(numbers: list[int]) -> int:
            result = 0
            for number in numbers:
                result += number
            return result


        def largest(numbers: list[int]) -> int:
            return max(numbers)


        def doubled(number: int) -> int:
            return number * 2
    """,
    "tests/test_sums.py": """
        import subprocess
        import sys

        import pytest

        from hexad.sums import doubled, largest, total


        @pytest.mark.row("L001")
        def test_a_total_is_the_sum():
            assert 6 == total([1, 2, 3])


        @pytest.mark.row("L002")
        def test_that_does_not_mind():
            largest([1, 2])


        @pytest.mark.row("L003")
        def test_another_program_sees_the_same():
            doubled(4)
            code = "from hexad.sums import doubled; print(doubled(4))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
            assert "8" == done.stdout.strip()


        @pytest.mark.row("L004")
        def test_that_fails_anyhow():
            assert 1 == total([])
    """,
    "docs/capabilities.toml": "".join(f'[L00{n}]\nsentence = "Row {n}."\n' for n in range(1, 5)),
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of four rows: two with tests that mind, one with a test that does not, one that fails."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    (tmp_path / "tests" / "data").mkdir()
    shutil.copy(REPOSITORY / "docs" / "capabilities.py", tmp_path / "docs")
    shutil.copytree(
        REPOSITORY / "tests" / "mutation",
        tmp_path / "tests" / "mutation",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return tmp_path


def python(repository: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(repository / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *args],
        cwd=repository, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def test_a_test_that_does_not_mind_is_named_with_the_mistake_and_no_file_is_changed(repository: Path):
    mapped = python(repository, "tests/mutation", "--map", "--jobs", "1")
    texts = {name: (repository / name).read_text() for name in FILES}
    report = python(repository, "tests/mutation", "--all", "--jobs", "1")
    again = python(repository, "tests/mutation", "--rows", "L002", "--jobs", "1")

    assert ("", 0) == (mapped.stdout, mapped.returncode)
    assert '"L002": ["sums.py:largest"]' in (repository / "tests/data/code_of_rows.json").read_text()
    assert 1 == report.returncode
    *lines, last, counted = report.stdout.splitlines()
    assert "rows: 2 passed, 2 failed" == counted
    assert "L002 NOT NOTICED" in lines[0]
    assert "src/hexad/sums.py:10 largest: " in lines[1]
    assert ["      - return max(numbers)"] == [line for line in lines[:3] if "- return" in line]
    assert [
        line for line in lines if line.startswith("L00")
    ][1:] == ["L004: without a mistake tests/test_sums.py::test_that_fails_anyhow fails"]  # fmt: skip
    assert last.startswith("2 of 3 rows noticed a mistake")
    assert "1 could not be tried" in last
    assert lines[1:-1] == again.stdout.splitlines()[1:-2]  # the first line says how long it took
    assert texts == {name: (repository / name).read_text() for name in FILES}


def test_a_row_with_tests_and_without_code_is_named(repository: Path):
    (repository / "tests/data/code_of_rows.json").write_text('{"L001": ["sums.py:total"]}\n')

    report = python(repository, "tests/mutation", "--all", "--jobs", "1")

    assert [
        f"L00{n}: no code is written down in code_of_rows.json; --map --rows L00{n} looks for it"
        for n in (2, 3, 4)
    ] == [line for line in report.stdout.splitlines() if line.startswith("L00")]
    assert "1 of 1 rows noticed a mistake" in report.stdout
    assert "3 could not be tried" in report.stdout
    assert 1 == report.returncode


def test_rows_whose_tests_mind_are_enough(repository: Path):
    python(repository, "tests/mutation", "--map", "--jobs", "1")

    report = python(repository, "tests/mutation", "--rows", "L001", "L003", "--verbose", "--jobs", "1")
    unknown = python(repository, "tests/mutation", "--rows", "H999")

    assert 0 == report.returncode
    assert "noticed: src/hexad/sums.py:14 doubled: " in report.stdout
    assert "2 of 2 rows noticed a mistake" in report.stdout
    assert 2 == unknown.returncode
    assert "H999 has no code" in unknown.stderr


def test_a_row_whose_code_runs_in_another_program_alone_is_tried_as_well(repository: Path):
    tests = (repository / "tests" / "test_sums.py").read_text()
    (repository / "tests" / "test_sums.py").write_text(
        tests.replace("            doubled(4)\n", "").replace("    doubled(4)\n", "")
    )
    (repository / "tests/data/code_of_rows.json").write_text('{"L003": ["sums.py:doubled"]}\n')

    report = python(repository, "tests/mutation", "--rows", "L003", "--verbose", "--jobs", "1")

    assert "noticed: src/hexad/sums.py:14 doubled: " in report.stdout
    assert 0 == report.returncode


def test_what_hangs_or_dies_is_red(repository: Path):
    (repository / "tests" / "test_ends.py").write_text(
        "import os, time\ndef test_hangs(): time.sleep(600)\ndef test_dies(): os._exit(9)\ndef test_is_well(): pass\n"
    )
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from mutation.run import run\n"
        "for name in ('hangs', 'dies', 'is_well'):\n"
        "    print(run([f'tests/test_ends.py::test_{name}'], limit_s=3 if name == 'hangs' else 120).red)\n"
    )

    done = python(repository, "-c", script)

    assert ["the run took more than 3 s", "the run ended with 9", "None"] == done.stdout.splitlines()
