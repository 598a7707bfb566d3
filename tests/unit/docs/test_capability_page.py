from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "docs" / "capabilities.py"
TEST_FILE = """
import pytest

pytestmark = [pytest.mark.row("L001")]


@pytest.mark.row("L002", "A003")
def test_one(): ...


@pytest.mark.row("L003")
class TestTwo:
    @pytest.mark.row("L004")
    async def test_three(self): ...


@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.row("H005")), 2])
def test_four(x): ...


def test_five(): ...
"""


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("capabilities_page", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def repository(tmp_path):
    """A repository with one marked test and its sentence."""
    write(tmp_path, "tests/test_a.py", 'import pytest\n\n@pytest.mark.row("L001")\ndef test_a(): ...\n')
    write(tmp_path, "docs/capabilities.toml", '[L001]\nsentence = "It keeps texts."\n')
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_markers_are_found_on_modules_classes_functions_and_parameters(page, tmp_path):
    write(tmp_path, "tests/unit/test_a.py", TEST_FILE)

    assert [
        ("L001", "tests/unit/test_a.py"),
        ("L002", "tests/unit/test_a.py::test_one"),
        ("A003", "tests/unit/test_a.py::test_one"),
        ("L003", "tests/unit/test_a.py::TestTwo"),
        ("L004", "tests/unit/test_a.py::TestTwo::test_three"),
        ("H005", "tests/unit/test_a.py::test_four"),
    ] == [(marker.row, marker.test) for marker in page.collect(tmp_path / "tests")]


@pytest.mark.parametrize(
    ("marked", "complaint"),
    [
        ("@pytest.mark.row(NAME)\ndef test_a(): ...", "give the row ids as plain strings"),
        ("@pytest.mark.row('l1')\ndef test_a(): ...", "'l1' is no row id"),
        ("@pytest.mark.row('L001')\ndef helper(): ...", "helper is marked with L001 but is no test"),
    ],
)
def test_a_marker_that_cannot_be_read_is_a_problem(page, tmp_path, marked, complaint):
    write(tmp_path, "tests/test_a.py", marked)

    with pytest.raises(page.Problem, match=complaint):
        page.collect(tmp_path / "tests")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[first]\nsentence = "a"', "no row id"),
        ('[Z001]\nsentence = "a"', "no row id"),
        ('[L001]\nsentence = "a"\nwhy = "b"', "has 'why'"),
        ('[L001]\nnone = "a"', "has no sentence"),
        ('[L001]\nsentence = ""', "no text"),
    ],
)
def test_a_row_that_cannot_be_used_is_a_problem(page, tmp_path, text, complaint):
    write(tmp_path, "rows.toml", text)

    with pytest.raises(page.Problem, match=complaint):
        page.read_rows(tmp_path / "rows.toml")


def test_rows_stand_in_the_order_of_the_documents(page, tmp_path):
    write(
        tmp_path,
        "rows.toml",
        "".join(f'[{row}]\nsentence = "a"\n' for row in ("A001", "L020", "H001", "L003")),
    )

    assert ["L003", "L020", "H001", "A001"] == list(page.read_rows(tmp_path / "rows.toml"))


def test_the_page_names_each_row_with_its_tests_or_the_reason(page):
    rows = {
        "L001": page.Row(sentence="It keeps texts."),
        "L002": page.Row(sentence="It sorts texts.", partial="Two orders are missing."),
        "A001": page.Row(sentence="It starts fast.", none="It is measured, not tested."),
    }
    markers = [
        page.Marker(row="L001", test="tests/a.py::test_a"),
        page.Marker(row="L002", test="tests/a.py::test_b"),
    ]

    text = page.render(rows, markers)

    assert "name 591 capabilities" in text
    assert "3 rows, 1 of them shown in full by tests, 1 in part, and 1 not shown" in text
    assert "### L001\n\nIt keeps texts.\n\n- `tests/a.py::test_a`\n" in text
    assert (
        "### L002\n\nIt sorts texts.\n\n*In part.* Two orders are missing.\n\n- `tests/a.py::test_b`\n"
        in text
    )
    assert "## Six-layer memory\n\n1 of 151 rows.\n" in text
    assert "### A001\n\nIt starts fast.\n\n*Not shown by a test.* It is measured, not tested.\n" in text


def test_a_page_just_written_passes_its_check(page, repository):
    assert 0 == page.main([], repository=repository)
    assert 0 == page.main(["--check"], repository=repository)


def test_a_page_that_was_never_written_fails_its_check(page, repository, capsys):
    assert 1 == page.main(["--check"], repository=repository)
    assert "docs/capabilities.md is out of date" in capsys.readouterr().err
    assert not (repository / "docs/capabilities.md").exists()


def test_a_new_test_makes_the_page_stale(page, repository, capsys):
    page.main([], repository=repository)
    write(repository, "tests/test_b.py", 'import pytest\n\n@pytest.mark.row("L001")\ndef test_b(): ...\n')

    assert 1 == page.main(["--check"], repository=repository)
    assert "out of date" in capsys.readouterr().err


def test_a_marker_for_an_unknown_row_fails_and_nothing_is_written(page, repository, capsys):
    write(repository, "tests/test_b.py", 'import pytest\n\n@pytest.mark.row("L002")\ndef test_b(): ...\n')

    assert 1 == page.main([], repository=repository)
    assert (
        "tests/test_b.py::test_b shows L002, which docs/capabilities.toml does not list"
        in capsys.readouterr().err
    )
    assert not (repository / "docs/capabilities.md").exists()


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ('[L002]\nsentence = "a"', "L002 has no test"),
        ('[L002]\nsentence = "a"\npartial = "b"', "L002 has no test"),
        ('[L001]\nsentence = "a"\nnone = "b"', "L001 says why nothing shows it, yet something does"),
        (
            '[L002]\nsentence = "a"\nnone = "b"\npartial = "c"',
            "L002 says why nothing shows it, yet something does",
        ),
    ],
)
def test_a_row_that_its_tests_contradict_fails(page, repository, capsys, row, complaint):
    old = '[L001]\nsentence = "It keeps texts."\n' if "[L001]" not in row else ""
    write(repository, "docs/capabilities.toml", f"{old}{row}\n")

    assert 1 == page.main(["--check"], repository=repository)
    assert complaint in capsys.readouterr().err


def test_a_row_with_a_reason_needs_no_test(page, repository):
    write(
        repository,
        "docs/capabilities.toml",
        '[L001]\nsentence = "It keeps texts."\n[L002]\nsentence = "a"\nnone = "It is measured instead."\n',
    )
    page.main([], repository=repository)

    assert 0 == page.main(["--check"], repository=repository)


def test_the_command_says_what_is_wrong_and_exits_with_1(tmp_path):
    write(tmp_path, "docs/capabilities.py", SCRIPT.read_text(encoding="utf-8"))
    write(tmp_path, "docs/capabilities.toml", "[L001\n")
    (tmp_path / "tests").mkdir()

    done = subprocess.run(
        [sys.executable, tmp_path / "docs/capabilities.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (1, "") == (done.returncode, done.stdout)
    assert "line 1" in done.stderr
