"""A store written by revision df2a534 opens, and every answer is the same bytes.

`data/written/store.tar.xz` stays what that revision wrote; `python -m golden.written_store FILE`, run with its code,
made it. Messages are compared in the groups `refusals`, `command_texts` and `help_texts` alone; elsewhere a refusal is
its type. After a change that is meant to change answers, write anew the groups that it is about and no others, and read
every difference: `HEXAD_REGENERATE_GOLDEN=1 python -m pytest -n 0 -rP tests/golden/test_written_store.py -k refusals`.
"""

from __future__ import annotations

import contextlib
import json
import lzma
import os
import re
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from golden.written_calls import CALLS
from golden.written_commands import PRINTED
from golden.written_questions import QUESTIONS, Reader, line
from golden.written_store import PLACE, START, Writer
from hexad import FrozenClock
from hexad.database.connection import Database
from hexad.lifecycle.schema import bring_up_to_date
from hexad.text import chunking

DATA = Path(__file__).parent.parent / "data" / "written"
STORE = DATA / "store.tar.xz"
GROUPS = {**QUESTIONS, **CALLS, **PRINTED}
VECTORS = frozenset({
    "recall", "contexts", "bundles", "honeycomb", "memories", "spaces", "store", "encryption", "memory_calls", "imports",
    "honeycomb_calls", "settings", "key_changes", "commands", "command_writes", "command_texts",
})  # fmt: skip
"""The groups whose numbers rest on products of vectors, which differ in their last digits from processor to processor."""
NOTED = re.compile(
    r'(?<=8192,) ?(\\*)"document\\*": ?\{.{,120}?\}\}, ?\\*"term\\*": ?1\.5\},(?= ?\\*"sources)'
)
"""The old store's note of a contract has all that this says; now it has the limits."""
CODE = re.compile(
    r'(?:\s|\\n)*\\*"(?:files of the )?code graph\\*": ?\d+,'
    r'|\{(?:\s|\\n)*\\*"place\\*": ?\\*"(?:files of the )?code graph\\*",(?:\s|\\n)*\\*"count\\*": ?\d+,(?:\s|\\n)*\\*"bytes\\*": ?\d+(?:\s|\\n)*\},(?:\s|\\n)*'
)
CODE_ROWS = re.compile(r'(\\*"code_(?:roots|files)\\*": )\[(?!\]).*?\n?(?:\\n)\]', re.DOTALL)
"""A store that is written today has a graph of the code that was ingested."""
USED = re.compile(r'((?:last_used_at|uses)\\*": )(?:null|\d+|\\*"[^"\\]*\\*")')
"""What a recall hands out counts as used, and it hands out more than the old one did."""
IMPORTANCE = re.compile(
    r""",(?:\\*n)?\s*\\*"importance\\*": 0\.[258]\b|(?<='high', )0\.[58]\b|(?<='low', )0\.[52]\b"""
)
"""What says how relevant it is matters as that says; in the old store it mattered as everything did."""
ANEW = re.compile(
    r"\b(dec_|(?:selection_)?mac\W+|place\W+|\w*bytes\W+|stream\W+|audit\W+|memory\.db(?:-wal)?\W+)(?:[0-9a-f]{32,64}|[0-9A-F]{26}|\d+)\b"
)
"""What is another one in each store: what hangs on secrets (ids of decisions that were remembered, receipts, places),
and sizes, since names in segments are random and packed, and a table that a migration adds has pages of its own."""
FILE = re.compile(
    r"(?:\d+-)?\b[0-9a-f]{12}\b(?=\.log)|(?<=-)[0-9a-f]{12}\b|\d+:\d{19}|(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9A-F]{26})(?![0-9a-f])"
)
"""In rows and names of files: random names, when a file was changed, hashes and keys."""
SECRET = frozenset({"contents", "state", "subjects", "stream_segments"})
"""Tables that are encrypted with random keys, and the one with the sizes of files that have random names in them."""
PLANNED = frozenset({"sqlite_stat1", "sqlite_stat4"})
"""What SQLite plans by: small tables have no such statistics any more."""
PACKED = frozenset({"chunk_fts_data", "chunk_fts_idx"})
"""Pages of the full text: which words stand together in one is decided by how many texts FTS5 writes at once."""
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
SHOWN = 5


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    with tarfile.open(STORE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def today(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same stores, but written by the code of today, and then moved as the old ones were."""
    before = tmp_path_factory.mktemp("today") / "before"
    before.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # A class has shared a chunk with what stands before it until then: where its chunks are is no answer.
        patch.setattr(chunking._Span, "opens", False)
        Writer(before, FrozenClock(START), keys=unpacked / "project" / ".hexad" / "keys.json").write()
    return before.rename(before.parent / "after")


@pytest.fixture
def reader(unpacked: Path, tmp_path: Path) -> Reader:
    """A copy of the stores of this test's own, and the time at which it is asked."""
    return Reader(shutil.copytree(unpacked, tmp_path / "written"))


def test_the_groups_are_those_that_are_recorded() -> None:
    assert set(GROUPS) == {file.name.partition(".")[0] for file in DATA.glob("*.jsonl.xz")}
    questions = [[question_of(text) for text in recorded(group)] for group in GROUPS]
    assert [] == [asked for asked in questions if len(asked) > len(set(asked))]
    assert 1_200 <= sum(map(len, questions))


@pytest.mark.parametrize("group", GROUPS)
def test_every_answer_is_the_recorded_one(group: str, reader: Reader) -> None:
    now = answers(group, reader)
    if os.environ.get("HEXAD_REGENERATE_GOLDEN"):
        print(*differences(recorded(group), now, exact=True), sep="\n")
        record(group, now)

    assert_same(recorded(group), now, exact=group not in VECTORS)


@pytest.mark.parametrize(
    "group", [name for name in QUESTIONS if name not in ("audit", "contexts", "encryption")]
)
def test_a_store_written_today_answers_as_the_old_one(group: str, today: Path, tmp_path: Path) -> None:
    reader = Reader(shutil.copytree(today, tmp_path / "written"))

    now = [text.replace(str(today.parent / "before"), str(PLACE)) for text in answers(group, reader)]

    old, new = (
        [
            CODE_ROWS.sub(
                r"\1[]",
                CODE.sub(
                    "", IMPORTANCE.sub("", NOTED.sub("", USED.sub(r"\g<1>null", ANEW.sub(r"\g<1>0", text))))
                ),
            )
            for text in texts
        ]
        for texts in (recorded(group), now)
    )
    assert_same(old, new, exact=group not in VECTORS)


@pytest.mark.parametrize(
    "name", ["project/.hexad/memory.db", "user/user.db", "project/.hexad/audit/audit.db"]
)
def test_the_tables_and_rows_written_today_are_the_old_ones(
    name: str, today: Path, unpacked: Path, tmp_path: Path
) -> None:
    migrated = Path(shutil.copy(unpacked / name, tmp_path))
    if name.endswith("memory.db"):
        with contextlib.closing(Database.open(migrated, clock=FrozenClock(START))) as database:
            bring_up_to_date(database, FrozenClock(START))
    old, new = tables(migrated, PLACE), tables(today / name, today.parent / "before")

    assert list(old) == list(new)
    assert 8 <= len(old)
    if "sqlite_sequence" in new:
        new["sqlite_sequence"] = [row for row in new["sqlite_sequence"] if not row.startswith("('code_")]
    for facts in new.keys() & {"meta", "changes"}:
        new[facts] = [row for row in new[facts] if not row.startswith(SINCE)]
    if "changes" in new:  # by now a batch of vectors is one change
        assert 0 < _taken(VECTOR_CHANGES, new["changes"]) <= _taken(VECTOR_CHANGES, old["changes"])
    for table, rows in old.items():
        if table == "schema_migrations":
            assert len(rows) <= len(new[table])
            continue
        if table in {"handouts", "usage"} or table.startswith("code_"):  # as USED, as CODE
            continue
        if table == "minhash_bands":  # short texts have a mark more by now
            assert set(rows) < set(new[table])
            continue
        if table == "minhash_marks":  # the same by memory
            assert {row.partition(",")[0] for row in rows} < {row.partition(",")[0] for row in new[table]}
            continue
        assert len(rows) == len(new[table]), table
        for mine, other in zip(unnumbered(table, rows), unnumbered(table, new[table]), strict=True):
            assert mine == other or alike(mine, other), table


VECTOR_CHANGES = re.compile(r"\('vectors', (\d+)\)")


def _taken(counter: re.Pattern[str], rows: list[str]) -> int:
    """Take the row of a counter out, and return what it says."""
    (row,) = (row for row in rows if counter.fullmatch(row))
    rows.remove(row)
    return int(counter.fullmatch(row)[1])


SINCE = (
    "('project', ",
    "('ledger_size', ",
    "('ledger_root', ",
    "('arrivals', ",
    "('key_file', ",
    "('chunks appended', ",
    "('purges', ",
    "('ledger_key', ",
    "('user_layer:",
    "('file:",
    "('stream_departed', ",
    "('code_slices ",
)
"""Facts about the store, and change counters, that are written since then."""
COLUMNS = {
    "sqlite_schema": "type, name, tbl_name, iif(name IN ('session_state', 'vector_chunks'), 'a view that was renewed',"
    " replace(sql, ', sentences BLOB', ''))",
    "vectors": "no, memory_no, chunk_no, vector",
}
"""What is read of tables, where not all: a migration added a column or renewed a view after the old store was written."""


def unnumbered(table: str, rows: Sequence[str]) -> list[str]:
    """Leave out in which order vectors were computed: their numbers, and the marks of nodes that are made of these.

    The old store computed them in the order of writing; now what a question touched comes first.
    """
    if table == "vectors":
        return sorted(re.sub(r"^\(\d+, ", "(", row) for row in rows)
    if table == "maintenance_log":
        return [NOTED.sub("", row) for row in rows]
    if table == "entries":  # how many bytes a record has that says more
        return [re.sub(r"^(\(\d+), \d+(?=, 32, \d+, 'set_contract')", r"\1, #", row) for row in rows]
    if table == "memories":
        return [IMPORTANCE.sub("", row) for row in rows]
    if table == "vector_removals":
        return [""] * len(rows)
    if table == "honeycomb_nodes":
        return [re.sub(r"^(\((?:[^,]+, ){4})-?\d+", r"\1#", row) for row in rows]
    return list(rows)


def test_the_files_written_today_are_called_as_the_old_ones(today: Path, unpacked: Path) -> None:
    old, new = (
        sorted(
            FILE.sub("…", str(file.relative_to(folder)))
            for name in ("project", "user", "ledger")
            for file in (folder / name).rglob("*")
            if file.is_file() and not file.name.endswith(("-shm", "-wal"))
        )
        for folder in (unpacked, today)
    )

    assert old == new


def test_nothing_is_wrong_with_a_store_that_was_opened_written_to_and_closed(reader: Reader) -> None:
    with reader.opened() as hx:
        hx.remember("Written by later code.", id="later")
        hx.xdb.start_session("later")
        hx.xdb.record("output", "Said later.")
        hx.maintain()
    with reader.opened(readonly=True) as hx:
        assert [] == hx.check()
        assert ["later"] == [hit.id for hit in hx.recall("what did later code write?", limit=1)]


def test_a_change_of_a_name_of_an_order_or_of_a_score_is_seen() -> None:
    old = line("q", {"score": 0.25, "ids": ["a", "b"]}, Path("/nowhere"))

    assert alike(old, old.replace("0.25", "0.2500000004"))
    for change in (("0.25", "0.2502"), ('["a", "b"]', '["b", "a"]'), ("score", "points"), ("0.25", '"0.25"')):
        assert not alike(old, old.replace(*change)), change


def answers(group: str, reader: Reader) -> list[str]:
    """Ask a group's questions."""
    return [line(question, answer, reader.root) for question, answer in GROUPS[group](reader)]


def assert_same(expected: list[str], now: list[str], *, exact: bool) -> None:
    """Compare answers line by line, and show where the first that are others part."""
    assert list(map(question_of, expected)) == list(map(question_of, now))
    others = differences(expected, now, exact=exact)
    assert not others, "\n".join([f"{len(others)} of {len(now)} answers are others:", *others[:SHOWN]])


def differences(expected: list[str], now: list[str], *, exact: bool) -> list[str]:
    """Say of each answer that is another one, and of each new question, where it differs."""
    known = {question_of(text): text for text in expected}
    pairs = [(known.get(question_of(text), ""), text) for text in now]
    return [difference(old, new) for old, new in pairs if old != new and (exact or not alike(old, new))]


def tables(file: Path, place: Path) -> dict[str, list[str]]:
    """Return a database's schema and rows as text, without what is another one in each store."""

    def shown(value: object) -> object:
        return (
            len(value) if isinstance(value, bytes) and file.name == "audit.db" else value
        )  # hashes and ciphertext

    found = {}
    with contextlib.closing(apsw.Connection(str(file))) as database:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall()
        for (name,) in [("sqlite_schema",), *names]:
            columns = COLUMNS.get(name, "*")
            if name not in SECRET | PLANNED | PACKED:
                rows = database.execute(f'SELECT {columns} FROM "{name}"')
                texts = [repr(tuple(map(shown, row))) for row in rows if not PLANNED & set(row)]
                found[name] = sorted(FILE.sub("…", text).replace(str(place), "<place>") for text in texts)
    return found


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
    return f"{question_of(new)}\n  recorded …{old[max(0, at - 90) : at + 90]}…\n  now …{new[max(0, at - 90) : at + 90]}…"


def recorded(group: str) -> list[str]:
    """Return a group's lines as they are recorded; none of a new group that is about to be."""
    file = DATA / f"{group}.jsonl.xz"
    if not file.exists() and os.environ.get("HEXAD_REGENERATE_GOLDEN"):
        return []
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return lines.read().split("\n")[:-1]


def record(group: str, lines: list[str]) -> None:
    """Write a group's answers anew."""
    with lzma.open(DATA / f"{group}.jsonl.xz", "wt", preset=9, encoding="utf-8", newline="\n") as file:
        file.writelines(f"{text}\n" for text in lines)
