"""Texts that must not be found again: planted in a store, and looked for in every byte and every decoded page of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import duckdb

from hexad import Hexad
from hexad.experience.stream.log import list_logs, read_log

CANARY = re.compile(rb"canary\d{5}")
PARQUET = (".parquet", ".tops", ".events")


class Canaries:
    """Makes texts that are there once each."""

    def __init__(self, stem: str = "canary") -> None:
        self._stem = stem
        self._numbers = count(10_000)
        self.made: list[str] = []

    def __call__(self, words: str = "") -> str:
        word = f"{self._stem}{next(self._numbers)}"
        self.made.append(word)
        return f"{words} {word}".strip()


def found_in(folder: Path, *, packed: bool = True) -> dict[str, set[str]]:
    """Return which canaries each file below a folder holds, as bytes or decoded. Without `packed`, compressed bytes are
    only decoded: they may hold half of a word before half of another one.

    Looked for by a program of its own: who closes a database file that is open elsewhere in his program takes its locks.
    """
    said = subprocess.run(
        [sys.executable, __file__, str(folder), "packed" if packed else ""],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return {name: set(some) for name, some in json.loads(said.stdout).items()}


def _found_in(folder: Path, packed: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            texts = decoded(path) if path.suffix in PARQUET else b""
            if packed or not texts:
                texts += path.read_bytes()
            here = {match.decode() for match in CANARY.findall(texts)}
            here |= {match.decode() for match in CANARY.findall(str(path).encode())}
            if here:
                found[str(path.relative_to(folder))] = here
    for path in list_logs(folder / "stream" / "log"):
        log = read_log(path)
        texts = (
            b"".join(frame.contents for frame in log.frames) + "\n".join(log.strings).encode() if log else b""
        )
        here = {match.decode() for match in CANARY.findall(texts)}
        if here:
            found.setdefault(path.name, set()).update(here)
    return found


def decoded(path: Path) -> bytes:
    """Return every value of every column of a Parquet file as text: its pages are compressed."""
    with duckdb.connect(":memory:") as con:
        rows = con.execute(
            "SELECT COLUMNS(*)::VARCHAR FROM read_parquet(?, hive_partitioning = false)", [str(path)]
        ).fetchall()
    return repr(rows).encode()


def told(hx: Hexad) -> str:
    """Return what every kind of question answers."""
    xdb = hx.xdb
    sessions = [session.id for session in xdb.sessions()]
    answers = [
        xdb.recall(session_id="*", limit=100_000),
        xdb.recall_events(session_id="*", limit=100_000),
        xdb.recall_events("canary", session_id="*", limit=100_000),
        xdb.recall(session_id="*", text_search="canary", limit=100_000),
        xdb.recall_by_concept("pack::Sea", session_id="*", min_activation=0.0, limit=100_000),
        xdb.compressed_records(limit=100_000),
        xdb.compactions(session_id="*") if sessions else [],
        xdb.windows(),
        xdb.submissions(),
        [xdb.session(session).context() for session in sessions],
        [xdb.get_comments_for_range(session, 0, 1 << 40) for session in sessions],
        [xdb.tag_applications(tag.id) for tag in xdb.find_tags()],
        xdb.list_documents(),
        xdb.documents.removed_documents(),
        xdb.search_documents("canary"),
        [[hit.memory for hit in hx.recall("canary", limit=100)]],
        sessions,
    ]
    return repr(answers)


if __name__ == "__main__":
    print(
        json.dumps({name: sorted(some) for name, some in _found_in(Path(sys.argv[1]), sys.argv[2]).items()})
    )
