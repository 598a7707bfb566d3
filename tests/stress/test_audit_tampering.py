"""Nobody changes the ledger unnoticed: random changes of its files, as somebody makes who may write to all of them.

Each round takes a copy of a ledger, changes it, and checks it with checkpoints that were kept elsewhere. Part of its
records are in an archive, which is changed too. The short form always runs; `make stress` runs ten thousand changes and a thousand ledgers that nobody touched.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from stress_processes import Recorder

from hexad import FrozenClock, IntegrityError
from hexad.audit import AuditLog, AuditLogWriter
from hexad.audit.checkpoint import Frontier, leaf_hash

SIZE = 600
COVERED = 590
"""Of the ledger's 600 records the newest checkpoint covers 590."""
SHORT_CHANGES, LONG_CHANGES = 8, 10_000
SHORT_LEDGERS, LONG_LEDGERS = 20, 1_000


def fill(writer: AuditLogWriter, count: int, draw: random.Random) -> None:
    writer.record_many(
        {
            "session_id": draw.choice(("monday", "tuesday")),
            "tick": at,
            "event_type": draw.choice(("input", "output", "steering")),
            "raw_content": f"word {draw.random()} of «several»",
            "lens_activations": {"p::Hidden": draw.random()},
            "steering_applied": [{"directive": "calm"}] * draw.randrange(2),
        }
        for at in range(count)
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A ledger with records of every sort, and the checkpoints that somebody kept of it."""
    folder = tmp_path_factory.mktemp("ledger") / "audit"
    draw, notes = random.Random(5), []
    with AuditLogWriter(folder, "be", clock=FrozenClock()) as writer, AuditLog(folder) as log:
        for part in (150, 150, COVERED - 300, SIZE - COVERED):
            fill(writer, part, draw)
            notes.append(log.checkpoint())
    return folder, notes[:-1]


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A ledger whose first 300 records are in an archive beside it but for some, and the checkpoints that were kept."""
    folder = tmp_path_factory.mktemp("parted") / "audit"
    draw, clock, notes = random.Random(6), FrozenClock(), list[str]()
    with AuditLogWriter(folder, "be", clock=clock) as writer, AuditLog(folder, clock=clock) as log:
        rita = log.reviewers.add("rita")
        fill(writer, 149, draw)
        notes.append(log.checkpoint())
        fill(writer, 149, draw)
        log.incidents.mark("odd", "it was odd", reviewer_credential=rita, seq_range=(100, 109))
        clock.advance(days=30)
        notes.append(log.checkpoint())
        for name, limit in (("a", 150), ("b", 300)):
            log.retention.archive(
                folder / f"{name}.hxa", before="2026-01-15", reviewer_credential=rita, limit=limit
            )
        fill(writer, SIZE - log.size, draw)
        notes.append(log.checkpoint())
    return folder, notes


@contextmanager
def sqlite(folder: Path) -> Iterator[apsw.Connection]:
    con = apsw.Connection(str(folder / "audit.db"))
    try:
        with con:
            yield con
    finally:
        con.close()


def value(con: apsw.Connection, sql: str, *params: object) -> object:
    return con.execute(sql, params).fetchone()[0]


def flipped(data: object, draw: random.Random) -> bytes:
    assert isinstance(data, bytes)
    changed = bytearray(data)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


# Each returns the first record that is wrong; where that cannot be told from the outside, the last that it may be.


def edit(folder: Path, at: int, draw: random.Random) -> int:
    with sqlite(folder) as con:
        body = flipped(value(con, "SELECT body FROM entries WHERE seq = ?", at), draw)
        con.execute("UPDATE entries SET body = ? WHERE seq = ?", (body, at))
    return at


def edit_with_its_hash(folder: Path, at: int, draw: random.Random) -> int:
    with sqlite(folder) as con:
        body = flipped(value(con, "SELECT body FROM entries WHERE seq = ?", at), draw)
        digest = hashlib.sha256(body).digest()
        con.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", (body, digest, at))
    return at + 1


def column(folder: Path, at: int, draw: random.Random) -> int:
    name, changed = draw.choice(
        (
            ("at", "at + 1"), ("kind", "'gc'"), ("session", "session || 'x'"), ("tick", "tick + 1"),
            ("tick", "NULL"), ("event_type", "'comment'"), ("subject", "randomblob(16)"), ("hash", "randomblob(32)"),
        )
    )  # fmt: skip
    with sqlite(folder) as con:
        con.execute(f"UPDATE entries SET {name} = {changed} WHERE seq = ? AND {name} IS NOT {changed}", (at,))
        if not con.changes():  # a mark of an incident has neither session nor tick
            con.execute("UPDATE entries SET at = at + 1 WHERE seq = ?", (at,))
    return at


def delete(folder: Path, at: int, draw: random.Random) -> int:
    del draw
    with sqlite(folder) as con:
        con.execute("DELETE FROM entries WHERE seq = ?", (at,))
    return at


def delete_and_close_up(folder: Path, at: int, draw: random.Random) -> int:
    del draw
    with sqlite(folder) as con:
        for table in ("contents", "entries"):
            con.execute(f"DELETE FROM {table} WHERE seq = ?", (at,))
            con.execute(f"UPDATE {table} SET seq = -seq WHERE seq > ?", (at,))
            con.execute(f"UPDATE {table} SET seq = -seq - 1 WHERE seq < 0")
    return at


def insert(folder: Path, at: int, draw: random.Random) -> int:
    del draw
    with sqlite(folder) as con:
        con.execute("UPDATE entries SET seq = -seq WHERE seq > ?", (at,))
        con.execute("UPDATE entries SET seq = -seq + 1 WHERE seq < 0")
        con.execute(
            "INSERT INTO entries SELECT seq + 1, body, hash, at, kind, session, tick, event_type, subject"
            " FROM entries WHERE seq = ?",
            (at,),
        )
    return at + 1


def reorder(folder: Path, at: int, draw: random.Random) -> int:
    other = draw.choice([number for number in range(SIZE) if number != at])
    with sqlite(folder) as con:
        for table in ("entries", "contents"):
            con.execute(f"UPDATE {table} SET seq = -1 WHERE seq = ?", (at,))
            con.execute(f"UPDATE {table} SET seq = ? WHERE seq = ?", (at, other))
            con.execute(f"UPDATE {table} SET seq = ? WHERE seq = -1", (other,))
    return min(at, other)


def swap_contents(folder: Path, at: int, draw: random.Random) -> int:
    other = draw.choice([number for number in range(SIZE) if number != at])
    with sqlite(folder) as con:
        con.execute("UPDATE contents SET seq = -1 WHERE seq = ?", (at,))
        con.execute("UPDATE contents SET seq = ? WHERE seq = ?", (at, other))
        con.execute("UPDATE contents SET seq = ? WHERE seq = -1", (other,))
    return min(at, other)


def contents(folder: Path, at: int, draw: random.Random) -> int:
    name = draw.choice(("nonce", "ciphertext"))
    with sqlite(folder) as con:
        changed = flipped(value(con, f"SELECT {name} FROM contents WHERE seq = ?", at), draw)
        con.execute(f"UPDATE contents SET {name} = ? WHERE seq = ?", (changed, at))
    return at


def remove_contents(folder: Path, at: int, draw: random.Random) -> int:
    del draw
    with sqlite(folder) as con:
        con.execute("DELETE FROM contents WHERE seq = ?", (at,))
    return at


def subject(folder: Path, at: int, draw: random.Random) -> int:
    with sqlite(folder) as con:
        ref = value(con, "SELECT subject FROM entries WHERE seq = ?", at)
        name = draw.choice(("name", "lookup", "key", None))
        if name is None:
            con.execute("DELETE FROM subjects WHERE ref = ?", (ref,))
        else:
            changed = flipped(value(con, f"SELECT {name} FROM subjects WHERE ref = ?", ref), draw)
            con.execute(f"UPDATE subjects SET {name} = ? WHERE ref = ?", (changed, ref))
        first = value(con, "SELECT min(seq) FROM entries WHERE subject = ?", ref)
    assert isinstance(first, int)
    return first


def cut(folder: Path, at: int, draw: random.Random) -> int:
    del draw
    with sqlite(folder) as con:
        con.execute("DELETE FROM entries WHERE seq >= ?", (at,))
    return at


def cut_so_that_all_fits(folder: Path, at: int, draw: random.Random) -> int:
    """Make the ledger what it was before a record was made."""
    del draw
    with sqlite(folder) as con:
        for table in ("contents", "entries"):
            con.execute(f"DELETE FROM {table} WHERE seq >= ?", (at,))
        con.execute("DELETE FROM tiles WHERE (place + 1 << level) > ?", (at,))
        hashes = [row[0] for row in con.execute("SELECT hash FROM entries ORDER BY seq")]
        frontier = Frontier()
        for item in hashes:
            frontier.append(leaf_hash(item))
        state = (at, hashes[-1] if hashes else b"", b"".join(frontier.subtrees))
        con.execute("UPDATE state SET size = ?, last = ?, frontier = ?", state)
    return at


def write_anew(folder: Path, at: int, draw: random.Random) -> int:
    """Make everything from a record on anew, with the ledger's own keys: a history that is as good as the first."""
    cut_so_that_all_fits(folder, at, draw)
    with AuditLogWriter(folder, "be", clock=FrozenClock()) as writer:
        fill(writer, SIZE - at, draw)
    return at


def state(folder: Path, at: int, draw: random.Random) -> int:
    del at
    name = draw.choice(("size", "last", "frontier"))
    with sqlite(folder) as con:
        if name == "size":
            con.execute("UPDATE state SET size = size + ?", (draw.choice((-100, -1, 1, 100)),))
        else:
            changed = flipped(value(con, f"SELECT {name} FROM state"), draw)
            con.execute(f"UPDATE state SET {name} = ?", (changed,))
    return SIZE


def tile(folder: Path, at: int, draw: random.Random) -> int:
    del at
    with sqlite(folder) as con:
        level, place, top = draw.choice(con.execute("SELECT * FROM tiles").fetchall())
        con.execute(
            "UPDATE tiles SET hash = ? WHERE (level, place) = (?, ?)", (flipped(top, draw), level, place)
        )
    return int(place) << int(level)


Change = Callable[[Path, int, random.Random], int]
EXACT: tuple[Change, ...] = (
    edit, column, delete, delete_and_close_up, insert, reorder, swap_contents, contents, remove_contents, subject,
    cut, tile,
)  # fmt: skip
ALL: tuple[Change, ...] = (*EXACT, edit_with_its_hash, cut_so_that_all_fits, write_anew, state)
# What reaches past these leaves a ledger that is whole in itself: only a checkpoint that covers the record shows it.
WHOLE = (cut_so_that_all_fits, write_anew)


def try_change(change: Change, kept: tuple[Path, list[str]], copy: Path, draw: random.Random) -> None:
    folder, notes = kept
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    at = draw.randrange(COVERED if change in WHOLE else SIZE - 1)
    wrong = change(copy, at, draw)

    with AuditLog(copy) as changed:
        found = changed.verify(checkpoints=notes)

    assert not found.ok, (change.__name__, at)
    assert found.problem
    assert found.first_bad is not None
    assert found.first_bad <= wrong, (change.__name__, at, found)
    if change in EXACT:
        assert wrong == found.first_bad, (change.__name__, at, found)
    if change in WHOLE:
        assert found.first_bad <= at < found.first_bad + 300, (change.__name__, at, found)


def try_clean(folder: Path, draw: random.Random) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    notes: list[str] = []
    with AuditLogWriter(folder, "be", clock=FrozenClock()) as writer, AuditLog(folder) as log:
        for _ in range(draw.randrange(1, 5)):
            fill(writer, draw.choice((0, 1, 2, 30, 255, 256, 300)), draw)
            notes.append(log.checkpoint())
        log.reviewers.add("rita", sessions=["monday"])
        found = log.verify(checkpoints=draw.sample(notes, draw.randrange(len(notes) + 1)))
    assert found.ok, found


@pytest.mark.row("H096", "H156")
@pytest.mark.parametrize("change", ALL, ids=lambda change: change.__name__)
def test_a_change_is_found_and_the_first_record_that_is_wrong_is_named(
    change: Change, kept: tuple[Path, list[str]], tmp_path: Path, record_property: Recorder
) -> None:
    draw = random.Random(change.__name__)
    for _ in range(SHORT_CHANGES):
        try_change(change, kept, tmp_path / "copy", draw)
    record_property("changes of a ledger, all found", SHORT_CHANGES)


def archive_bytes(folder: Path, at: int, draw: random.Random) -> None:
    del at
    path = folder / f"{draw.choice('ab')}.hxa"
    path.write_bytes(flipped(path.read_bytes(), draw))


def archive_cut(folder: Path, at: int, draw: random.Random) -> None:
    del at
    path = folder / f"{draw.choice('ab')}.hxa"
    data = path.read_bytes()
    path.write_bytes(data[: draw.randrange(len(data))])


def archive_twice(folder: Path, at: int, draw: random.Random) -> None:
    del at
    first, other = draw.sample(("a", "b"), 2)
    shutil.copy(folder / f"{first}.hxa", folder / f"{other}.hxa")


def run(folder: Path, at: int, draw: random.Random) -> None:
    name = draw.choice(("first", "past", "named_by", "last", "edges", None))
    with sqlite(folder) as con:
        firsts = [row[0] for row in con.execute("SELECT first FROM gaps")]
        first = firsts[at % len(firsts)]
        if name is None:
            con.execute("DELETE FROM gaps WHERE first = ?", (first,))
        elif name in ("last", "edges"):
            changed = flipped(value(con, f"SELECT {name} FROM gaps WHERE first = ?", first) or b"\0", draw)
            con.execute(f"UPDATE gaps SET {name} = ? WHERE first = ?", (changed, first))
        else:
            con.execute(f"UPDATE gaps SET {name} = {name} + ? WHERE first = ?", (draw.choice((-1, 1)), first))


def kept_key(folder: Path, at: int, draw: random.Random) -> None:
    with sqlite(folder) as con:
        seqs = [row[0] for row in con.execute("SELECT seq FROM archived")]
        seq = seqs[at % len(seqs)]
        changed = flipped(value(con, "SELECT nonce FROM archived WHERE seq = ?", seq), draw)
        sql, params = draw.choice(
            (
                ("DELETE FROM archived WHERE seq = ?", (seq,)),
                ("UPDATE archived SET nonce = NULL WHERE seq = ?", (seq,)),
                ("UPDATE archived SET nonce = ? WHERE seq = ?", (changed, seq)),
                ("UPDATE archived SET seq = 100000 + seq WHERE seq = ?", (seq,)),
            )
        )
        con.execute(sql, params)


ARCHIVED: tuple[Callable[[Path, int, random.Random], object], ...] = (
    archive_bytes, archive_cut, archive_twice, run, kept_key, tile, edit, column, delete, contents, remove_contents,
    cut, state,
)  # fmt: skip


def try_archived(
    change: Callable[[Path, int, random.Random], object],
    parted: tuple[Path, list[str]],
    copy: Path,
    draw: random.Random,
) -> None:
    """Change a ledger of which a part is in archives, or these; a record that is left is where `at` falls."""
    folder, notes = parted
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with sqlite(copy) as con:
        left = [row[0] for row in con.execute("SELECT seq FROM contents WHERE seq < 590")]
    at = draw.choice(left)
    change(copy, at, draw)
    try:
        with AuditLog(copy) as changed:
            found = changed.verify(checkpoints=notes, archives=[copy / "a.hxa", copy / "b.hxa"])
            missing = found.read < found.archived
    except IntegrityError:
        return
    assert not found.ok or missing, (change.__name__, at)
    if not found.ok:
        assert found.first_bad is not None


@pytest.mark.row("H096", "H156")
@pytest.mark.parametrize("change", ARCHIVED, ids=lambda change: change.__name__)
def test_a_change_of_a_ledger_with_archives_or_of_an_archive_is_found(
    change: Callable[[Path, int, random.Random], object], parted: tuple[Path, list[str]], tmp_path: Path
) -> None:
    draw = random.Random(change.__name__)
    for _ in range(SHORT_CHANGES):
        try_archived(change, parted, tmp_path / "copy", draw)


@pytest.mark.row("H096")
def test_a_ledger_with_archives_that_nobody_changed_raises_no_alarm(parted: tuple[Path, list[str]]) -> None:
    folder, notes = parted
    with AuditLog(folder) as log:
        found = log.verify(checkpoints=notes, archives=[folder / "a.hxa", folder / "b.hxa"])
    assert found.ok, found
    assert (288, 288, ()) == (found.archived, found.read, found.skipped)


@pytest.mark.long
def test_ten_thousand_changes_of_a_ledger_with_archives_are_found(
    parted: tuple[Path, list[str]], tmp_path: Path
) -> None:
    draw = random.Random(17)
    for number in range(LONG_CHANGES):
        try_archived(ARCHIVED[number % len(ARCHIVED)], parted, tmp_path / "copy", draw)


@pytest.mark.row("H096")
@pytest.mark.parametrize("change", WHOLE, ids=lambda change: change.__name__)
def test_a_ledger_that_is_whole_in_itself_is_told_from_the_true_one_by_a_checkpoint_alone(
    change: Change, kept: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, notes = kept
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)

    change(copy, 400, random.Random(1))

    with AuditLog(copy) as changed:
        assert changed.verify().ok
        assert changed.verify(checkpoints=notes[:2]).ok  # these cover 150 and 300 records
        assert not changed.verify(checkpoints=notes).ok


@pytest.mark.row("H096")
def test_a_clean_ledger_raises_no_alarm(tmp_path: Path, record_property: Recorder) -> None:
    draw = random.Random(7)
    for _ in range(SHORT_LEDGERS):
        try_clean(tmp_path / "audit", draw)
    record_property("ledgers that nobody changed, no alarm", SHORT_LEDGERS)


@pytest.mark.long
def test_ten_thousand_changes_are_found(
    kept: tuple[Path, list[str]], tmp_path: Path, record_property: Recorder
) -> None:
    draw = random.Random(11)
    for number in range(LONG_CHANGES):
        try_change(ALL[number % len(ALL)], kept, tmp_path / "copy", draw)
    record_property("changes of a ledger, all found", LONG_CHANGES)


@pytest.mark.long
def test_a_thousand_clean_ledgers_raise_no_alarm(tmp_path: Path, record_property: Recorder) -> None:
    draw = random.Random(13)
    for _ in range(LONG_LEDGERS):
        try_clean(tmp_path / "audit", draw)
    record_property("ledgers that nobody changed, no alarm", LONG_LEDGERS)
