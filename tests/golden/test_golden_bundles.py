"""Bundles are the same bytes for the same state: 625 cases against recorded digests, some of them in full.

After a change that is meant to change bundles, look at the difference of `bundles/samples.jsonl` and write both files
anew: `HEXAD_REGENERATE_GOLDEN=1 python -m pytest tests/golden/test_golden_bundles.py`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden import bundle_corpus as corpus
from golden.test_golden_store import golden
from hexad import Hexad
from programs import Program

HERE = Path(__file__).parent
DIGESTS = HERE / "bundles" / "digests.txt"
SAMPLES = HERE / "bundles" / "samples.jsonl"
SAMPLED = 20
PATH = [str(HERE.parent)]
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from golden import bundle_corpus as corpus
with corpus.opened(sys.argv[2]) as hx:
    for name, digest in corpus.digests(hx).items():
        print(digest, name)
"""
WRITE = """
import sys
sys.path.insert(0, sys.argv[1])
from golden import bundle_corpus as corpus
with corpus.opened(sys.argv[2]) as hx:
    corpus.write(hx, numbers=list(range(224))[int(sys.argv[3])::3][::-1])
"""


def listed(digests: dict[str, str]) -> str:
    return "".join(f"{digest} {name}\n" for name, digest in digests.items())


def recorded() -> dict[str, str]:
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split(" ", 1) for line in lines)}


def assert_recorded(digests: dict[str, str]) -> None:
    """Equal to what is recorded; says which cases are not, since digests by themselves say nothing."""
    known = recorded()
    assert [] == [name for name, digest in digests.items() if known.get(name) != digest]
    assert list(known) == list(digests)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One written corpus for all tests that only read it."""
    project = tmp_path_factory.mktemp("bundles") / "project"
    project.mkdir()
    with corpus.opened(project) as hx:
        corpus.write(hx)
        assert [] == hx.check()
    return project


@pytest.fixture
def hx(folder: Path) -> Iterator[Hexad]:
    with corpus.opened(folder) as store:
        yield store


@pytest.mark.row("L155", "L004", "L088", "L097")
def test_every_bundle_is_the_recorded_one_byte_for_byte(hx: Hexad) -> None:
    digests = corpus.digests(hx)

    assert 5 * 5 * (20 + 5) == len(digests)
    golden(DIGESTS, listed(digests))
    assert_recorded(digests)


@pytest.mark.row("L155", "L124")
@pytest.mark.parametrize("backend", corpus.BACKENDS[1:])
def test_every_ordering_has_an_order_of_its_own(backend: str) -> None:
    known = recorded()
    names = [name for name in known if name.startswith(f"{backend} ")]

    other = [name for name in names if known[name] != known["basic " + name.split(" ", 1)[1]]]

    assert 125 == len(names)
    assert len(other) >= 20


@pytest.mark.row("L155")
def test_the_samples_show_in_full_what_the_digests_stand_for(hx: Hexad) -> None:
    short = list(corpus.cases(hx, ("defaults", "narrow")))
    chosen = [short[index] for index in range(0, len(short), len(short) // SAMPLED)]

    said = "".join(f'{json.dumps({"case": name})[:-1]}, "bundle": {text}}}\n' for name, text in chosen)

    assert golden(SAMPLES, said) == said
    for line in said.splitlines():
        assert {"space", "generated_at", "sections", "limit"} <= set(json.loads(line)["bundle"])


@pytest.mark.row("L155", "L004")
def test_a_restart_a_use_and_a_reindex_change_no_byte(folder: Path, tmp_path: Path) -> None:
    project = shutil.copytree(folder, tmp_path / "project")
    with corpus.opened(project) as hx:
        assert 125 == len(list(corpus.cases(hx, ["raw"])))
        hx.maintain()  # notes what was handed out
        hx.reindex()
        assert_recorded(corpus.digests(hx))
    with corpus.opened(project) as hx:
        assert_recorded(corpus.digests(hx))
        assert [] == hx.check()


@pytest.mark.row("L155", "L004")
def test_a_fresh_process_says_the_same(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, *PATH, str(folder)],
        capture_output=True, text=True, encoding="utf-8", timeout=200, check=True,
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )  # fmt: skip

    assert DIGESTS.read_text(encoding="utf-8") == done.stdout


@pytest.mark.row("L155", "L004")
def test_the_order_of_writing_does_not_matter(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    numbers = list(range(224))
    random.Random(5).shuffle(numbers)
    with corpus.opened(project) as hx:
        corpus.write(hx, numbers=numbers[:150])
        hx.recall_context(corpus.SPACE, "gateway", backend="hybrid")  # a view that has to follow the rest
        corpus.write(hx, numbers=numbers[150:])

        assert_recorded(corpus.digests(hx))


@pytest.mark.row("L155", "L004")
def test_several_writing_processes_give_the_same_bundles(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    writers = [Program(WRITE, *PATH, project, number) for number in range(3)]
    errors = [writer.communicate(timeout=120)[1] for writer in writers]
    assert [0, 0, 0] == [writer.returncode for writer in writers], errors

    with corpus.opened(project) as hx:
        assert_recorded(corpus.digests(hx))
        assert [] == hx.check()
