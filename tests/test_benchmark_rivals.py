"""The comparison with other systems, as far as it needs no network: notes, floors, Hexad, and what is refused."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def patch() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY))
        yield patch


@pytest.fixture(scope="module")
def texts(patch: Any) -> ModuleType:
    return importlib.import_module("benchmarks.rival_texts")


@pytest.fixture(scope="module")
def environments(patch: Any) -> ModuleType:
    return importlib.import_module("benchmarks.rival_environments")


@pytest.fixture(scope="module")
def stores(patch: Any) -> ModuleType:
    return importlib.import_module("benchmarks.rival_stores")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_notes_are_short_all_differ_and_each_question_is_about_the_note_that_answers_it(
    texts: ModuleType,
) -> None:
    sample = texts.sample(600, questions=200)

    assert texts.sample(600, questions=200) == sample
    assert 600 == len(set(sample.texts))
    assert 120 < sum(map(len, sample.texts)) / 600 < 160
    assert (200, 200) == (len(set(sample.questions)), len(set(sample.answers)))
    for question, answer in zip(sample.questions, sample.answers, strict=True):
        subject = sample.texts[answer].partition(" of project ")[0].rpartition("Ask ")[2].split()[-1]
        assert subject in question


def test_the_floors_and_hexad_are_measured_and_set_in_ratio_without_the_network(tmp_path: Path) -> None:
    done = run("rivals", "--only", "hexad", "--items", 30, "--json", tmp_path / "found.json")
    assert 0 == done.returncode, done.stderr

    (report,) = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["reports"]
    tables = {table["title"]: table for table in report["tables"]}
    time, room, over_hexad, over_floor = tables.values()

    assert "rivals: 30 notes: hexad (4 of 4)" in done.stderr
    assert "| **hexad** |" in done.stdout
    assert "30 notes: time" in tables
    assert 4 == len(time["rows"]) == len(room["rows"])
    assert ["**hexad**"] == [row[0] for row in over_floor["rows"]]
    assert "**hexad**" not in [row[0] for row in over_hexad["rows"]]
    for table in (time, room):
        assert all(cell > 0 for row in table["rows"] for cell in row if isinstance(cell, float))
    by_name = {
        row[0].partition(":")[0].strip("*"): dict(zip(time["columns"], row, strict=True))
        for row in time["rows"]
    }
    assert by_name.keys() == {"fts5", "numpy", "fts5-numpy", "hexad"}
    assert all(row["right in ten"] >= 0.9 for row in by_name.values())
    ours, floor = by_name["hexad"]["recall p50 ms"], by_name["fts5-numpy"]["recall p50 ms"]
    over = dict(zip(over_floor["columns"], over_floor["rows"][0], strict=True))
    assert ours / floor == pytest.approx(over["recall p50 ms"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rivals", "--only", "lance"), "--only: 'lance' is not a peer; the peers are fts5, numpy"),
        (("rivals", "--items", "0"), "'0' is not a whole number from 10 to 20,000; give for example 600"),
        (
            ("rivals", "--items", "many"),
            "'many' is not a whole number from 10 to 20,000; give for example 600",
        ),
        (("rivals", "--cache", "README.md"), "--cache: 'README.md' is a file; name a folder"),
        (("growth", "--only", "chroma"), "--only is for `rivals`; name it"),
        (("rival",), "'rival' is not one of"),
    ],
)
def test_options_that_cannot_be_are_refused_with_the_remedy(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)

    assert 2 == done.returncode
    assert words in done.stderr
    assert "" == done.stdout


def test_a_peer_that_cannot_be_installed_is_named_with_the_reason(
    environments: ModuleType, stores: ModuleType, tmp_path: Path
) -> None:
    wanted = str(tmp_path / "no-such-package.whl")
    absent = stores.Rival(store=stores.RivalStore, by=stores.WORDS, imports="absent", requires=(wanted,))

    with pytest.raises(environments.NotInstalled, match="no-such-package"):
        environments.environment(absent, tmp_path / "cache")

    assert [] == list((tmp_path / "cache").iterdir())


def test_a_peer_that_no_interpreter_can_run_is_named_with_what_it_needs(
    environments: ModuleType, stores: ModuleType, tmp_path: Path
) -> None:
    needy = stores.Rival(
        store=stores.RivalStore, by=stores.WORDS, imports="needy", requires=("needy",), check="import needy_x"
    )

    with pytest.raises(environments.NotInstalled, match="each failed at `import needy_x`"):
        environments.environment(needy, tmp_path / "cache")


def test_of_what_pip_says_the_last_error_is_told(environments: ModuleType) -> None:
    said = "WARNING: slow\nERROR: Ignored versions\nERROR: No matching distribution found for x\n\nNotice: pip 30"

    assert "No matching distribution found for x" == environments.reason(said)
    assert "it said nothing" == environments.reason("\n")
