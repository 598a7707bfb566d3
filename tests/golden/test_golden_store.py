"""The same texts give the same store and the same answers: byte for byte, whoever wrote them and in what order."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from golden import corpus
from hexad import Hexad
from programs import Program

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
"""Scores hang on the weights of the ranking. After a change of those, look at the difference and write it anew:
`HEXAD_REGENERATE_GOLDEN=1 python -m pytest tests/golden`."""


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def golden(path: Path, value: str) -> str:
    """Return what the file says; writes it first when asked to by the environment."""
    if os.environ.get("HEXAD_REGENERATE_GOLDEN"):
        path.write_text(value, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def objects(hx: Hexad) -> str:
    """All memories as the files of their spaces have them."""
    return "".join(hx.spaces.write_file(space.name).read_text(encoding="utf-8") for space in hx.spaces.list())


@pytest.fixture
def hx(project: Path) -> Any:
    with corpus.opened(project) as store:
        corpus.write(store)
        store.maintain()
        yield store
    with corpus.opened(project) as store:
        assert [] == store.check()


@pytest.mark.row("L004")
def test_the_memories_are_the_golden_ones_byte_for_byte(hx: Hexad) -> None:
    said = objects(hx)
    assert golden(HERE / "spaces.json", said) == said


@pytest.mark.row("L004")
def test_the_answers_are_the_golden_ones(hx: Hexad) -> None:
    said = corpus.answers(hx)
    # Matrix products differ in their last digits from processor to processor.
    assert_same(json.loads(golden(ANSWERS, text_of(said))), json.loads(text_of(said)))


@pytest.mark.row("L004")
def test_reopening_and_reindexing_change_no_byte(hx: Hexad, project: Path) -> None:
    before, stored = text_of(corpus.answers(hx)), objects(hx)
    hx.reindex()
    assert before == text_of(corpus.answers(hx))
    hx.reindex(vectors=True)
    hx.maintain()
    assert before == text_of(corpus.answers(hx))
    hx.close()

    with corpus.opened(project) as again:
        assert before == text_of(corpus.answers(again))
        used = {memory.id for memory in again.memories(limit=100) if memory.last_used_at}
        assert used
        for memory in json.loads("[" + stored.replace("}\n{", "},{") + "]")[0]["objects"]:
            found = again.get(memory["id"]).to_dict()
            assert memory == {key: found[key] for key in memory}


@pytest.mark.row("L004")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_writing_changes_no_answer_and_no_memory(hx: Hexad, tmp_path: Path, seed: int) -> None:
    numbers = list(range(len(corpus.drafts())))
    random.Random(seed).shuffle(numbers)
    other = tmp_path / "elsewhere" / "project"  # the folder's name is part of generated paths
    other.mkdir(parents=True)
    with corpus.opened(other) as shuffled:
        corpus.write(shuffled, numbers=numbers)
        shuffled.maintain()

        assert_same(corpus.answers(hx), corpus.answers(shuffled))
        for memory in hx.memories(limit=100):
            assert memory == shuffled.get(memory.id)


@pytest.mark.row("L004")
def test_several_writing_processes_give_the_same_answers(hx: Hexad, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "project"
    other.mkdir(parents=True)
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from golden import corpus
with corpus.opened(sys.argv[2]) as hx:
    numbers = list(range(len(corpus.drafts())))
    corpus.write(hx, numbers=numbers[int(sys.argv[3])::3][::-1])
    hx.maintain()
"""
    writers = [Program(script, HERE.parent, other, number) for number in range(3)]
    errors = [writer.communicate(timeout=120)[1] for writer in writers]
    assert [0, 0, 0] == [writer.returncode for writer in writers], errors

    with corpus.opened(other) as together:
        together.maintain()
        assert [] == together.check()
        assert_same(corpus.answers(hx), corpus.answers(together))
        for memory in hx.memories(limit=100):
            assert memory == together.get(memory.id)


def assert_same(mine: Any, theirs: Any) -> None:
    """Everything but numbers must be equal; sums of floats in another order differ in their last digits."""
    if isinstance(mine, float) and isinstance(theirs, float):
        assert mine == pytest.approx(theirs, abs=1e-5)
    elif isinstance(mine, dict) and isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        for name in mine:
            assert_same(mine[name], theirs[name])
    elif isinstance(mine, list) and isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for item, other in zip(mine, theirs, strict=True):
            assert_same(item, other)
    else:
        assert mine == theirs
