"""Options of the benchmarks that cannot be are refused with the value and the remedy before anything is measured."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
THERE = "name a folder that is there"


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    return monkeypatch


@pytest.fixture
def missed(patch: pytest.MonkeyPatch) -> Any:
    """A report of a crowd in which a budget is missed."""
    report = importlib.import_module("benchmarks.report").Report(name="A crowd")
    report.at_least("a rate", 1.0, 2.0, "×")
    return report


def refused(capsys: pytest.CaptureFixture[str], module: str, arguments: list[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module).main(arguments)
    said = capsys.readouterr()
    assert (2, "") == (ended.value.code, said.out)
    return said.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        *(
            ("--rounds", value, f"{value!r} is not a whole number from 1 to 1,000")
            for value in ("0", "-1", "x")
        ),
        *(
            ("--processes", value, f"{value!r} is not a whole number from 1 to 256")
            for value in ("0", "-1", "1e3")
        ),
        *(
            ("--seconds", value, f"{value!r} is not a number from 0.1 to 3,600; give for example 8")
            for value in ("0", "-1", "nan", "inf", "x")
        ),
        ("--folder", "nowhere", f"'nowhere' is not there; {THERE}"),
        ("--folder", "README.md", f"'README.md' is a file; {THERE}"),
        ("--against", "nowhere", f"'nowhere' is not there; {THERE}"),
        ("--against", "docs", "'docs' holds no hexad/__init__.py; name the folder with the sources"),
    ],
)
def test_a_crowd_that_cannot_be_is_refused(
    patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, value: str, words: str
) -> None:
    patch.chdir(REPOSITORY)

    assert f"argument {option}: {words}" in refused(capsys, "benchmarks.crowd", [option, value])


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--data", "nowhere", f"'nowhere' is not there; {THERE}"),
        ("--data", "README.md", f"'README.md' is a file; {THERE}"),
        ("--store", "README.md", "'README.md' cannot be a folder; give another path"),
        ("--store", "README.md/store", "'README.md/store' lies below"),
        ("--store", "/proc/store", "'/proc/store' cannot be written: '/proc' takes no files"),
        ("--json", "docs", "'docs' cannot be a file; give another path"),
        ("--json", "README.md/found.json", "'README.md/found.json' lies below"),
        ("--markdown", "/proc/found/out.md", "'/proc' takes no files; give another path"),
        ("--timesteps", "0", "'0' is not a whole number from 1,000,000 to 50,000,000"),
        ("--files", "-1", "'-1' is not a whole number from 0 to 1,000,000"),
    ],
)
def test_a_run_that_cannot_be_is_refused(
    patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, value: str, words: str
) -> None:
    patch.chdir(REPOSITORY)

    said = refused(capsys, "benchmarks.__main__", ["near-duplicates", option, value])

    assert f"argument {option}: " in said and words in said


def test_what_is_refused_makes_no_folder(
    patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wanted = [
        "--json",
        str(tmp_path / "deep" / "found.json"),
        "--store",
        str(tmp_path / "store"),
        "--files",
        "-1",
    ]

    assert "argument --files" in refused(capsys, "benchmarks.__main__", wanted)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "code"), [([], 1), (["--keep-going"], 0)])
def test_a_crowd_that_misses_a_budget_says_so_by_its_exit_code(
    patch: pytest.MonkeyPatch, missed: Any, arguments: list[str], code: int
) -> None:
    crowd = importlib.import_module("benchmarks.crowd")
    patch.setattr(crowd, "measure", lambda *_, **__: missed)
    patch.setenv("HEXAD_USER_DIR", "")  # put back at the end: the run sets its own

    assert code == crowd.main(arguments)


def test_a_run_that_measured_nothing_does_not_say_that_its_budgets_are_met(
    patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    runner = importlib.import_module("benchmarks.__main__")
    patch.setattr(runner, "DATA", tmp_path / "nowhere")
    patch.setenv("HEXAD_USER_DIR", "")  # put back at the end: the run sets its own

    assert 0 == runner.main(["bundles"])
    said = capsys.readouterr().out
    assert "the development data is not there (give --data DIR)" in said
    assert "No budget was measured." in said.splitlines()
    assert "is met" not in said
