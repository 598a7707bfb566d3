"""Whose data sessions of the stream and reference documents are."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from hexad import Hexad, InvalidInput
from programs import command


def test_a_session_says_whose_data_it_is_until_it_is_told_otherwise(hx: Hexad) -> None:
    hx.xdb.start_session("call", data_subjects=["Anna Berg", "Ben", "Anna Berg"])
    hx.xdb.start_session("call")
    hx.xdb.start_session("other")

    assert [("call", ("Anna Berg", "Ben")), ("other", ())] == [
        (session.id, session.data_subjects) for session in hx.xdb.sessions()
    ]
    hx.xdb.start_session("call", data_subjects=[])
    assert () == hx.xdb.sessions()[0].data_subjects


def test_a_document_says_whose_data_it_is_and_keeps_it_when_it_comes_back(hx: Hexad) -> None:
    documents = hx.xdb.documents
    made = documents.add_document("File", "Anna lives by the sea.", "reference", data_subjects=["Anna"])
    documents.update_document(made.id, "Anna lives in the hills.")
    documents.remove_document(made.id)

    assert ("Anna",) == documents.restore_document(made.id).data_subjects
    changed = documents.update_document(made.id, "Anna lives in the hills.", data_subjects=["Anna", "Ben"])
    assert ("Anna", "Ben") == changed.data_subjects == documents.get_by_path("File").data_subjects  # type: ignore[union-attr]


@pytest.mark.parametrize("given", ["Anna", [""], [" "], [7], ["x" * 2_000], ["a\0b"]])
def test_what_names_nobody_is_refused_and_nothing_is_started(hx: Hexad, given: object) -> None:
    with pytest.raises(InvalidInput):
        hx.xdb.start_session("call", data_subjects=given)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        hx.xdb.documents.add_document("File", "Text.", "reference", data_subjects=given)  # type: ignore[arg-type]

    assert ([], []) == (hx.xdb.sessions(), hx.xdb.documents.all())


def test_the_command_line_says_whose_data_it_is(tmp_path: Path) -> None:
    def hexad_command(*words: str, text: str = "") -> None:
        assert 0 == command(*words, cwd=tmp_path, input=text).returncode

    (tmp_path / "file.md").write_text("A newer text.")
    hexad_command("init")
    hexad_command(
        "xdb", "record", "--session", "call", "--data-subject", "Anna", "--data-subject", "Ben", "A word."
    )
    hexad_command("docs", "add", "-", "--name", "File", "--data-subject", "Anna", text="A text.")
    hexad_command("docs", "update", "File", "file.md", "--data-subject", "Ben")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert ("Anna", "Ben") == hx.xdb.sessions()[0].data_subjects
        assert ("Ben",) == hx.xdb.documents.all()[0].data_subjects
