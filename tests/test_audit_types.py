"""A ledger whose file somebody gave other types: a check ends with exit code 5 and the record, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hexad import FrozenClock
from hexad.audit import AuditLog, AuditLogWriter
from hexad.interfaces.cli.app.main import main

LOOSE = (
    "UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql, 'WITHOUT ROWID, STRICT', 'WITHOUT ROWID'),"
    " ') STRICT', ')'), 'NOT NULL', ''), 'BLOB', 'ANY') WHERE type = 'table'"
)
COLUMNS = {
    "entries": ("body", "hash", "at", "kind", "session", "tick", "event_type", "subject"),
    "contents": ("nonce", "ciphertext"),
    "subjects": ("name", "lookup", "key"),
    "state": ("size", "last", "frontier"),
    "gaps": ("past", "last", "edges", "named_by"),
    "archived": ("owner", "tick", "nonce"),
    "archived_owners": ("ref", "session"),
}
VALUES = {
    "a text": "'x'",
    "a real": "1.5",
    "bytes": "x'01ff'",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
    "nothing": "NULL",
}
WHICH = {"entries": "seq = 27", "contents": "seq = 27", "gaps": "first = 0", "archived": "seq = 5"}
UNSEEN_WITHOUT_THE_ARCHIVE = ("archived", "nonce", "bytes")


def changed(folder: Path, statement: str) -> int:
    """Change a ledger's file behind its back, its schema too; returns how many rows that changed."""
    with apsw.Connection(str(folder / "audit.db")) as con:
        con.execute("PRAGMA writable_schema = ON")
        con.execute(LOOSE)
    with apsw.Connection(str(folder / "audit.db")) as con:
        con.execute(statement)
        return con.changes()


@pytest.fixture
def kept(folder: Path, tmp_path: Path, clock: FrozenClock) -> Path:
    """The folder of a ledger that nobody has open: 20 records in an archive, and more."""
    with AuditLogWriter(folder, "be-1", clock=clock) as writer, AuditLog(folder, clock=clock) as log:
        for tick in range(40):
            writer.record("monday", tick, "output", f"word {tick}", {"p::Seen": 0.5}, [])
        rita = log.reviewers.add("rita")
        clock.advance(days=9)
        log.retention.archive(tmp_path / "old.hxa", before="2026-01-05", reviewer_credential=rita, limit=20)
        assert log.verify().ok
    return folder


@pytest.mark.row("H096")
@pytest.mark.parametrize(("table", "column"), [(table, name) for table in COLUMNS for name in COLUMNS[table]])
def test_a_value_of_another_type_is_a_change_and_the_record_is_named(
    kept: Path, clock: FrozenClock, table: str, column: str
) -> None:
    before = (kept / "audit.db").read_bytes()
    for name, value in VALUES.items():
        (kept / "audit.db").write_bytes(before)
        where = WHICH.get(table, "true")
        try:
            changes = changed(
                kept, f"UPDATE {table} SET {column} = {value} WHERE {where} AND {column} IS NOT {value}"
            )
        except apsw.ConstraintError:
            continue  # the key of a table of its own
        with AuditLog(kept, clock=clock) as log:
            checked = log.verify()

        found = (checked.ok, checked.first_bad is None)
        assert (
            (True, True)
            if not changes or (table, column, name) == UNSEEN_WITHOUT_THE_ARCHIVE
            else (False, False)
        ) == found
        if table in ("entries", "contents") and changes:
            assert (27, True) == (checked.first_bad, "audit-27" in str(checked.problem))


@pytest.mark.row("H096")
@pytest.mark.parametrize("value", ["CAST(body AS TEXT)", "CAST(x'ff' AS TEXT)"])
def test_verify_ends_with_exit_code_5_and_the_name_of_the_record(kept: Path, capsys, value: str) -> None:
    changed(kept, f"UPDATE entries SET body = {value} WHERE seq = 27")

    code = main(["audit", "verify", "--ledger", str(kept)])

    assert 5 == code
    assert "First wrong: audit-27" in capsys.readouterr().out
