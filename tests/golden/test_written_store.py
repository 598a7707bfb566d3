"""A store written by revision df2a534 opens, and every answer is the same bytes.

`data/written/store.tar.xz` stays what that revision wrote; `python -m golden.written_store FILE`, run with its code,
made it. After a change that is meant to change an answer, look at what the failing tests show, and write the answers
anew: `HEXAD_REGENERATE_GOLDEN=1 python -m pytest -n 0 tests/golden/test_written_store.py`.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from golden.written_questions import GROUPS, VECTORS, Reader, line
from golden.written_store import PASSPHRASE

DATA = Path(__file__).parent.parent / "data" / "written"
STORE = DATA / "store.tar.xz"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
SHOWN = 5

pytestmark = pytest.mark.xdist_group("written")  # one process unpacks what they share


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    with tarfile.open(STORE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def reader(unpacked: Path, tmp_path: Path) -> Reader:
    """A copy of the stores of this test's own, and the time at which it is asked."""
    return Reader(shutil.copytree(unpacked, tmp_path / "written"))


def test_the_groups_are_those_that_are_recorded() -> None:
    assert set(GROUPS) == {file.name.partition(".")[0] for file in DATA.glob("*.jsonl.xz")}
    assert 500 <= sum(len(recorded(group)) for group in GROUPS)


@pytest.mark.parametrize("group", GROUPS)
def test_every_answer_is_the_recorded_one(group: str, reader: Reader) -> None:
    said = [line(question, answer, reader.root) for question, answer in GROUPS[group](reader)]
    if os.environ.get("HEXAD_REGENERATE_GOLDEN"):
        record(group, said)

    expected = recorded(group)

    assert list(map(question_of, expected)) == list(map(question_of, said))
    assert (
        []
        == [
            difference(old, new)
            for old, new in zip(expected, said, strict=True)
            if old != new and not (group in VECTORS and alike(old, new))
        ][:SHOWN]
    )


@pytest.mark.parametrize(("name", "key"), [("project", None), ("sealed", PASSPHRASE)])
def test_nothing_is_wrong_with_a_store_that_was_opened_written_to_and_closed(
    reader: Reader, name: str, key: str | None
) -> None:
    with reader.opened(name, key=key) as hx:
        hx.remember("Written by later code.", id="later")
        hx.xdb.start_session("later")
        hx.xdb.record("output", "Said later.")
        hx.maintain()
    with reader.opened(name, key=key, readonly=True) as hx:
        assert [] == hx.check()
        assert ["later"] == [hit.id for hit in hx.recall("what did later code write?", limit=1)]


def test_a_change_of_a_name_of_an_order_or_of_a_score_is_seen() -> None:
    old = line("q", {"score": 0.25, "ids": ["a", "b"]}, Path("/nowhere"))

    assert alike(old, old.replace("0.25", "0.2500000004"))
    for change in (("0.25", "0.2502"), ('["a", "b"]', '["b", "a"]'), ("score", "points"), ("0.25", '"0.25"')):
        assert not alike(old, old.replace(*change)), change


def question_of(text: str) -> str:
    return str(json.loads(text)["question"])


def alike(old: str, new: str) -> bool:
    """Whether two lines are the same but for digits of fractions that are too late to matter."""
    return NUMBER.sub("#", old) == NUMBER.sub("#", new) and all(
        mine == other or ({"."} <= {*mine, *other} and float(mine) == pytest.approx(float(other), abs=1e-5))
        for mine, other in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    )


def difference(old: str, new: str) -> str:
    """Say where two lines part."""
    at = next((at for at, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) == 2), len(old))
    return f"{question_of(old)}: recorded …{old[max(0, at - 80) : at + 80]}… now …{new[max(0, at - 80) : at + 80]}…"


def recorded(group: str) -> list[str]:
    """Return a group's lines as they are recorded."""
    with lzma.open(DATA / f"{group}.jsonl.xz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def record(group: str, lines: list[str]) -> None:
    """Write a group's answers anew."""
    with lzma.open(DATA / f"{group}.jsonl.xz", "wt", preset=9, encoding="utf-8", newline="\n") as file:
        file.writelines(f"{text}\n" for text in lines)
