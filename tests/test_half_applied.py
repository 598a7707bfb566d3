"""What a kill or a full disk leaves half done: the store goes on by itself where nobody has to decide anything."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hexad
from hexad.database import files
from hexad.experience.values.documents import CopyState
from opener import Opener
from programs import command, run

KILLED = """
import os, signal, sys
import hexad
from hexad.database import files

hx = hexad.open(sys.argv[1], embedder=None, background=False)

def kill(operation, path):
    if operation == sys.argv[2] and "documents" in path.parts:
        os.kill(os.getpid(), signal.SIGKILL)

documents = hx.xdb.documents
if sys.argv[3] == "add":
    files.set_hook(kill)
    documents.add_document("tone.md", "Answer briefly.", "reference", tags=["style"])
else:
    doc = documents.add_document("tone.md", "Answer at length.", "reference", tags=["style"])
    files.set_hook(kill)
    documents.update_document(doc.id, "Answer briefly.")
"""


@pytest.fixture(params=["mkdir", "open", "rename"])
def cut_short(project: Path, request: pytest.FixtureRequest) -> Path:
    """A store whose program was killed after it had stored a document, and before its working copy was there."""
    run(KILLED, project, request.param, "add")
    return project


@contextmanager
def full_disk() -> Iterator[None]:
    def refuse(operation: str, path: Path) -> None:
        if operation in ("open", "write", "mkdir", "unlink") and "documents" in path.parts:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    before = files.set_hook(refuse)
    try:
        yield
    finally:
        files.set_hook(before)


def test_maintain_writes_the_copy_of_a_document_whose_program_was_killed(
    cut_short: Path, opened: Opener
) -> None:
    with opened() as hx:
        (problem,) = hx.check()
        assert "is missing. `hexad maintain` writes it." in problem

        assert 1 == hx.maintain().copies

        (document,) = hx.xdb.documents.all()
        assert "Answer briefly." == hx.xdb.documents.file(document.id).read_text()
        assert [] == hx.check()
        assert 0 == hx.maintain().copies


def test_maintain_brings_a_copy_up_to_date_whose_program_was_killed(project: Path, opened: Opener) -> None:
    run(KILLED, project, "rename", "update")

    with opened() as hx:
        (document,) = hx.xdb.documents.all()
        assert [CopyState.OUTDATED] == [copy.state for copy in hx.xdb.documents.copies()]
        assert 1 == hx.maintain().copies
        assert "Answer briefly." == hx.xdb.documents.file(document.id).read_text()


def test_a_retry_of_what_a_killed_program_stored_is_the_same_document(
    cut_short: Path, opened: Opener
) -> None:
    with opened() as hx:
        (stored,) = hx.xdb.documents.all()
        again = hx.xdb.documents.add_document("tone.md", "Answer briefly.", "reference", tags=["style"])

        assert stored == again
        assert [CopyState.SAME] == [copy.state for copy in hx.xdb.documents.copies()]
        for other in ({"tags": ["other"]}, {"summary": "Another."}, {"data_subjects": ["ada"]}):
            with pytest.raises(hexad.Conflict, match=r"is at 'tone\.md' already"):
                hx.xdb.documents.add_document(
                    "tone.md", "Answer briefly.", "reference", **{"tags": ["style"], **other}
                )
        with pytest.raises(hexad.Conflict, match=r"is at 'tone\.md' already"):
            hx.xdb.documents.add_document("tone.md", "Answer at length.", "reference", tags=["style"])
        assert [stored] == hx.xdb.documents.all()


def test_a_document_is_stored_where_its_copy_has_no_room(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    with opened() as hx:
        documents = hx.xdb.documents
        with caplog.at_level(logging.WARNING), full_disk():
            added = documents.add_document("tone.md", "Answer at length.", "reference")
            updated = documents.update_document(added.id, "Answer briefly.")
        assert 2 == caplog.text.count("is stored, and its working copy is not; `maintain` writes it")
        assert "Answer briefly." == documents.get_document(added.id).content
        with full_disk():
            assert 0 == hx.maintain().copies  # and goes on
        assert 1 == hx.maintain().copies
        assert "Answer briefly." == documents.file(updated.id).read_text()

        documents.remove_document("tone.md")
        with full_disk():
            back = documents.restore_document("tone.md")
        assert "Answer briefly." == back.content
        assert 1 == hx.maintain().copies


def test_maintain_leaves_what_was_changed_by_hand(opened: Opener) -> None:
    with opened() as hx:
        document = hx.xdb.documents.add_document("tone.md", "Answer briefly.", "reference")
        file = hx.xdb.documents.file(document.id)
        file.write_text("Answer in verse.")
        stray = file.with_name("mine.md")
        stray.write_text("A file of the user's own.")

        assert 0 == hx.maintain().copies

        assert ["Answer in verse.", "A file of the user's own."] == [file.read_text(), stray.read_text()]
        hx.xdb.documents.write_copies()
        stray.unlink()


def test_the_command_says_what_was_healed(cut_short: Path) -> None:
    ended = command("maintain", cwd=cut_short, env={"HEXAD_EMBEDDER": "none"})

    assert 0 == ended.returncode
    assert "1 working copy written anew" in ended.stdout


ERASING = """
import os, signal, sys
import hexad
from hexad.privacy import erasure

hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.remember("What Ada said in confidence.", id="secret")
hx.xdb.start_session("monday", data_subjects=["ada"])
hx.xdb.record("input", "What Ada said aloud.", {})
hx.xdb.flush()
hx.xdb.seal()

complete = erasure.ErasureService._complete

def kill(self, erasure_no):
    if erasure_no is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return complete(self, erasure_no)

erasure.ErasureService._complete = kill
hx.forget(subject="ada", purge=True, confirm=True)
"""


@pytest.mark.parametrize("way", ["an opening with a background", "maintain"])
def test_an_erasure_that_was_cut_short_is_finished_by_itself(project: Path, way: str) -> None:
    run(ERASING, project)
    (segment,) = (project / ".hexad" / "stream" / "segments").glob("*.parquet")
    with hexad.open(project, embedder=None, background=False) as hx:
        assert hx._services.stores.meta.has_erasures_to_finish()

    with hexad.open(project, embedder=None, background=way != "maintain") as hx:
        if way == "maintain":
            hx.maintain()
        else:
            assert hx.wait_for_background(timeout_s=60)
        assert not hx._services.stores.meta.has_erasures_to_finish()
        assert [] == hx.check()
    assert not segment.exists()


ERASING_A_SESSION = """
import os, signal, sys
import hexad
from hexad.privacy import erasure

hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.xdb.start_session("monday", data_subjects=["ada"])
hx.xdb.record("input", "What was said first.", {})
hx.xdb.flush()
take = erasure.ErasureService._take

def kill(*given, **named):
    take(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

erasure.ErasureService._take = kill
hx.forget(**{sys.argv[2]: sys.argv[3]}, purge=True, confirm=True)
"""


@pytest.mark.parametrize("selected", [("session", "monday"), ("subject", "ada")])
def test_what_was_recorded_since_an_erasure_was_cut_short_is_not_erased(
    project: Path, selected: tuple[str, str]
) -> None:
    run(ERASING_A_SESSION, project, *selected)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday", data_subjects=["ada"])
        hx.xdb.record("input", "What was said afterwards.", {})
        hx.xdb.flush()
        assert hx._services.stores.meta.has_erasures_to_finish()
        hx.maintain()

        assert not hx._services.stores.meta.has_erasures_to_finish()
        assert ["What was said afterwards."] == [step.content for step in hx.xdb.recall(session_id="monday")]
        assert [] == hx.check()
        hx.forget(session="monday", purge=True, confirm=True)
        assert [] == hx.xdb.recall(session_id="*")


def test_a_text_that_another_program_wrote_meanwhile_is_no_change_by_hand(opened: Opener) -> None:
    with opened() as hx, opened() as other:
        document = hx.xdb.documents.add_document("tone.md", "Answer at length.", "reference")
        other.xdb.documents.update_document(document.id, "Answer briefly.")

        assert CopyState.SAME is hx.xdb.documents._copies.state(document)
