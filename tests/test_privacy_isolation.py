"""A project is a sandbox: two stores of one user, in one process, share no file, no key and nothing that was said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.audit import AuditLogWriter

FIRST, SECOND = ("kitti" + "wake").encode().hex(), ("fulm" + "ar").encode().hex()


def fill(hx: Hexad, word: str, folder: Path) -> None:
    """Say a word in every way, and ask for it: what a process keeps, it keeps then."""
    for number in range(3):
        hx.remember(f"Number {number} about {word} and the harbour.", path=f"{word}/{number}", tags=[word])
    source = folder / "source"
    source.mkdir()
    (source / "notes.md").write_text(f"# {word}\n\nNotes about {word}.\n")
    hx.ingest(source)
    hx.embed_pending()
    hx.recall(f"harbour {word}", explain=True)
    hx.recall_context("default", f"harbour {word}")
    for backend in ("patricia", "raptor", "hybrid"):
        hx.recall_context("default", word, backend=backend)
    assert hx.use_context("default", word).context.bundle.sections
    hx.xdb.start_session("shared-name")
    hx.xdb.record("input", f"asked about {word}", {"p::C": 0.9}, event_id="e")
    hx.xdb.tag(word, event_id="e", note=f"noted {word}")
    hx.xdb.comment(f"a remark on {word}", event_id="e")
    hx.xdb.documents.add_document("tone.md", f"Written about {word}.", "reference")
    hx.xdb.find_tags(name_pattern=word)
    hx.xdb.recall_events(text=word)
    hx.xdb.search_documents(word)
    hx.xdb.end_session()
    hx.xdb.seal()
    hx.maintain()
    with AuditLogWriter(hx.path, "be") as writer:
        writer.record("shared-name", 1, "input", f"asked about {word}", {}, [])


def said(hx: Hexad) -> str:
    return "".join(hexad.export_json(hx.export()))


@pytest.fixture
def both(tmp_path, opened):
    stores = []
    for name, word in (("first", FIRST), ("second", SECOND)):
        folder = tmp_path / name
        folder.mkdir()
        hx = opened(folder)
        fill(hx, word, folder)
        stores.append(hx)
    return stores


@pytest.mark.row("A138")
def test_nothing_that_one_project_knows_is_found_in_another(both):
    first, second = both

    assert FIRST in said(first) and SECOND in said(second)
    assert SECOND not in said(first) and FIRST not in said(second)
    assert [] == [hit for hit in second.recall(f"harbour {FIRST}", limit=50) if FIRST in hit.text]
    assert 0 == second.count(text=FIRST, status=None)
    assert [] == second.xdb.recall_events(text=FIRST)
    assert [] == second.xdb.find_tags(name_pattern=FIRST)
    assert [] == second.xdb.search_documents(FIRST)
    assert ["shared-name"] == [session.id for session in second.xdb.sessions()]


@pytest.mark.row("A138")
def test_two_projects_have_no_file_and_no_key_in_common(both):
    files = [{path.stat().st_ino for path in hx.path.rglob("*") if path.is_file()} for hx in both]
    assert files[0] and files[1]
    assert set() == files[0] & files[1]
    assert not [path for hx in both for path in hx.path.rglob("*") if path.is_symlink()]
    keys = [json.loads((hx.path / "keys.json").read_text()) for hx in both]
    ledgers = [json.loads((hx.path / "audit" / "audit.key").read_text()) for hx in both]
    for row, other in (keys, ledgers):
        secret = {name for name, value in row.items() if isinstance(value, str) and len(value) >= 32}
        assert secret
        assert [] == [name for name in secret if row[name] == other[name]]
    for hx, foreign in zip(both, (SECOND, FIRST), strict=True):
        held = b"".join(path.read_bytes() for path in hx.path.rglob("*") if path.is_file())
        assert foreign.encode() not in held


@pytest.mark.row("A138")
def test_one_secret_leaves_another_mark_in_each_project(both):
    secret = "AK" + "IA" + "ABCDEFGHIJKLMNOP"
    marks = [hx.remember(f"The key {secret} was used.").metadata["pii_flags"][0]["hash"] for hx in both]

    assert marks[0] != marks[1]


@pytest.mark.row("A138")
def test_a_project_writes_nowhere_but_into_its_own_folder(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    code = """
import sys, hexad
with hexad.open(sys.argv[1], embedder="hashing") as hx:
    hx.remember("Deploys happen on Tuesday.")
    hx.recall("deploys")
    hx.xdb.start_session("s"); hx.xdb.record("input", "x"); hx.xdb.end_session(); hx.xdb.seal()
    hx.maintain()
"""
    environ = {
        **os.environ, "HOME": str(home), "TMPDIR": str(tmp_path / "tmp"), "PYTHONDONTWRITEBYTECODE": "1",
        **{f"XDG_{kind}_HOME": str(home / kind) for kind in ("DATA", "CONFIG", "CACHE", "STATE")},
    }  # fmt: skip
    (tmp_path / "tmp").mkdir()

    subprocess.run([sys.executable, "-c", code, str(work)], env=environ, check=True, timeout=120)

    assert [] == [path for path in home.rglob("*") if path.is_file()]
    assert [] == list((tmp_path / "tmp").rglob("*"))
    assert [".hexad"] == [path.name for path in work.iterdir()]


@pytest.mark.row("A138")
def test_a_process_that_closed_a_project_keeps_nothing_of_what_it_said(tmp_path):
    code = """
import gc, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import hexad
import test_privacy_isolation as here

def work(folder, word):
    folder.mkdir()
    with hexad.open(folder, embedder="hashing", background=False) as hx:
        here.fill(hx, word, folder)

word = "kitti" + "wake" + "harbourmaster"
work(Path(sys.argv[1]) / "first", word)
with hexad.open(Path(sys.argv[1]), embedder="hashing", background=False) as other:
    other.remember("Something else.")
    gc.collect()
    mine = {id(sys.modules["__main__"].__dict__)}
    held = [
        (type(holder).__name__, text[:200])
        # Of a question: Python itself keeps the patterns that were compiled last.
        for holder in gc.get_objects() if id(holder) not in mine and type(holder).__name__ != "Pattern"
        for text in gc.get_referents(holder)
        if isinstance(text, str) and word in text and text is not word
    ]
    print(held)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert "[]" == done.stdout.strip()


@pytest.mark.row("A138")
def test_nothing_of_a_project_is_where_another_one_reads_until_something_is_learned(both, tmp_path):
    assert not list(tmp_path.rglob("user.db"))
    for hx in both:
        assert ["export"] == [item.section for item in hx.export("user")]
        hx.maintain()
    # Neither has a fact of its technology or its conventions: nothing else leaves a project.
    assert not list(tmp_path.rglob("user.db"))
    assert not both[0].user.path.exists()
