"""Reference documents: versions, search, and working copies as files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import Conflict, Hexad, InvalidInput, LimitExceeded, NotFound
from hexad.database import files
from hexad.errors import StorageFailure
from hexad.experience.values.documents import CopyState, DocumentType, check_document_path
from opener import Opener
from tables import everything_stored

SECRET = "ghp_" + "Ab3" * 12


def paths(documents) -> list[str]:
    return [document.path for document in documents]


@pytest.mark.row("H065", "H122", "H123", "H124")
def test_a_document_has_a_path_a_version_a_hash_a_source_a_summary_and_tags(hx, clock):
    added = hx.xdb.documents.add_document(
        "Deploying",
        "Stop the queue first.\n",
        DocumentType.REFERENCE,
        path="guides/deploy.md",
        tags=["Release Plan", "ops"],
        version="2026-01",
        source="the wiki",
        summary="How to deploy.",
    )

    assert added == hx.xdb.documents.get_document(added.id) == hx.xdb.get_document("guides/deploy.md")
    assert added == hx.xdb.documents.get_by_path("guides/deploy.md")
    assert (
        f"sha256:{hashlib.sha256(b'Stop the queue first.' + bytes([10])).hexdigest()}" == added.content_hash
    )
    assert ("2026-01", "the wiki", "How to deploy.", ("ops", "release-plan")) == (
        added.version,
        added.source,
        added.summary,
        added.tags,
    )
    assert clock.now() == added.created_at == added.updated_at
    assert None is hx.xdb.documents.get_document("nothing")
    assert None is hx.xdb.get_document("guides/DEPLOY.md")


@pytest.mark.row("H006", "H066", "H067", "H068", "H069", "H070", "H127")
@pytest.mark.parametrize(
    ("doc_type", "folder"),
    [
        ("system_instruction", "system_instructions"),
        ("tool_documentation", "tool_docs"),
        ("tribal_policy", "policies"),
        ("specification", "specs"),
        ("reference", "reference"),
    ],
)
def test_each_type_is_listed_by_itself_and_laid_out_in_a_folder_of_its_own(hx, doc_type, folder):
    for other in DocumentType:
        hx.xdb.documents.add_document(f"{other.value}.md", "x", other)

    assert [f"{doc_type}.md"] == paths(hx.xdb.documents.list_by_type(doc_type))
    assert "x" == (hx.path / "documents" / folder / f"{doc_type}.md").read_text()
    assert 5 == len(hx.xdb.list_documents())
    assert [f"{doc_type}.md"] == paths(hx.xdb.list_documents(doc_type))


@pytest.mark.row("H126", "H006")
def test_an_update_makes_a_new_version_and_keeps_the_old_one(hx, clock):
    documents = hx.xdb.documents
    first = documents.add_document("tone.md", "Be brief.", "system_instruction", tags=["tone"])
    clock.advance(days=1)
    second = documents.update_document(first.id, "Be brief and kind.")
    clock.advance(days=1)
    third = documents.update_document(first.id, "Be kind.", version="final", summary="Kindness.")

    assert ("2", 2, first.created_at, ("tone",)) == (
        second.version,
        second.revision,
        second.created_at,
        second.tags,
    )
    assert third == documents.get_document(first.id)
    assert [
        ("1", "Be brief.", second.updated_at),
        ("2", "Be brief and kind.", third.updated_at),
        ("final", "Be kind.", None),
    ] == [(v.version, v.content, v.replaced_at) for v in documents.versions(first.id)]
    assert "Be kind." == documents.file(first.id).read_text()
    assert third == documents.update_document(first.id, "Be kind.")
    assert 3 == len(documents.versions(first.id))
    with pytest.raises(NotFound):
        documents.update_document("nothing", "x")


@pytest.mark.row("H125", "H150", "H006")
def test_documents_are_found_by_words_type_and_tags_together(hx):
    documents = hx.xdb.documents
    documents.add_document("deploy.md", "Deploying stops the queue.", "reference", tags=["ops", "release"])
    documents.add_document("queue.md", "A queue holds jobs.", "tool_documentation", tags=["ops"])
    documents.add_document("café.md", "Where we drink coffee.", "reference", tags=["fun"])

    assert ["queue.md", "deploy.md"] == paths(hx.xdb.search_documents("queues"))
    assert ["deploy.md"] == paths(hx.xdb.search_documents("queue deployed"))
    assert ["deploy.md"] == paths(hx.xdb.search_documents("queue", doc_type="reference"))
    assert ["café.md"] == paths(hx.xdb.search_documents("CAFE"))
    assert ["café.md"] == paths(hx.xdb.search_documents("coffee unheardof"))
    assert ["deploy.md"] == paths(documents.search(tags=["OPS", "release"]))
    assert ["café.md", "deploy.md"] == paths(documents.search(tags=["fun", "release"], match="any"))
    assert ["queue.md"] == paths(
        documents.search(text_query="queue", tags=["ops"], doc_type="tool_documentation")
    )
    assert [] == documents.search(text_query="queue", tags=["fun"])
    assert ["deploy.md"] == paths(documents.search(limit=1, offset=1))


@pytest.mark.parametrize("query", ["", "  "])
def test_a_query_without_words_is_refused(hx, query):
    with pytest.raises(InvalidInput, match="says nothing to look for"):
        hx.xdb.search_documents(query)


@pytest.mark.parametrize("query", ["*", '"', "' OR 1=1 --", "content:x", "NEAR(a b)", "a AND", "-", "(("])
def test_a_query_is_words_and_nothing_else(hx, query):
    hx.xdb.documents.add_document("plain.md", "Nothing special.", "reference")

    assert [] == hx.xdb.search_documents(query)


def test_what_an_update_took_out_is_no_longer_found(hx):
    document = hx.xdb.documents.add_document("x.md", "The zebra.", "reference")
    hx.xdb.documents.update_document(document.id, "The horse.")

    assert [] == hx.xdb.search_documents("zebra")
    assert ["x.md"] == paths(hx.xdb.search_documents("horse"))


@pytest.mark.parametrize(
    "bad",
    ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", ".hidden", "a/.b", "a\\b", "a\nb", " a", "a.", "c:x", "x" * 201,
     "a/" * 300 + "b", "nul\0", None],
)  # fmt: skip
def test_a_path_that_is_no_place_below_the_folder_is_refused(hx, bad):
    with pytest.raises(InvalidInput, match="path"):
        check_document_path(bad)


@pytest.mark.parametrize("other", ["Guides/Deploy.md", "guides", "guides/deploy.md/more"])
def test_a_path_that_another_document_needs_is_refused(hx, other):
    hx.xdb.documents.add_document("d", "x", "reference", path="guides/deploy.md")

    with pytest.raises(Conflict, match=r"guides/deploy\.md"):
        hx.xdb.documents.add_document("d", "x", "reference", path=other)
    assert 1 == hx.xdb.documents.count()


def test_what_cannot_be_a_document_is_refused_and_leaves_nothing(hx):
    for content, error in (
        ("x" * ((8 << 20) + 1), LimitExceeded),
        ("a\0b", InvalidInput),
        ("\ud800", InvalidInput),
    ):
        with pytest.raises(error):
            hx.xdb.documents.add_document("x.md", content, "reference")
    with pytest.raises(InvalidInput, match="doc_type"):
        hx.xdb.documents.add_document("x.md", "x", "novel")
    assert (0, False) == (hx.xdb.documents.count(), (hx.path / "documents").exists())


def test_no_secret_is_kept_in_the_store_or_in_a_copy(hx):
    document = hx.xdb.documents.add_document("x.md", f"token: {SECRET}", "reference", summary=f"has {SECRET}")
    file = hx.xdb.documents.file(document.id)
    file.write_text(f"other: {SECRET}")
    report = hx.xdb.documents.read_copies()
    with pytest.raises(InvalidInput, match="secret"):
        hx.xdb.documents.add_document(f"{SECRET}.md", "x", "reference")

    assert ("x.md",) == report.updated
    assert SECRET not in everything_stored(hx)
    assert SECRET not in file.read_text()
    assert "other: [REDACTED" in file.read_text()


# Working copies ---------------------------------------------------------------------------------------------------


def test_a_copy_that_was_changed_by_hand_is_noticed_and_becomes_a_version(hx):
    document = hx.xdb.documents.add_document("x.md", "one\r\n", "reference", path="a/x.md")
    file = hx.xdb.documents.file(document.id)
    assert b"one\r\n" == file.read_bytes()
    file.write_bytes(b"two\r\n")

    assert [CopyState.CHANGED] == [copy.state for copy in hx.xdb.documents.copies()]
    assert ["documents/reference/a/x.md is changed"] == [line[17:54] for line in hx.check()]
    with pytest.raises(Conflict, match="by hand"):
        hx.xdb.documents.update_document(document.id, "three")

    assert ("a/x.md",) == hx.xdb.documents.read_copies().updated
    assert ["one\r\n", "two\r\n"] == [v.content for v in hx.xdb.documents.versions(document.id)]
    assert [] == hx.check()


def test_damaged_missing_and_outdated_copies_are_noticed_and_written_anew(hx):
    documents = hx.xdb.documents
    ids = [documents.add_document(f"{n}.md", f"text {n}", "specification").id for n in range(4)]
    old = documents.file(ids[3]).read_bytes()
    documents.update_document(ids[3], "newer")
    documents.file(ids[0]).write_bytes(b"te\xff\xfe")
    documents.file(ids[1]).unlink()
    documents.file(ids[2]).write_bytes(b"")
    documents.file(ids[3]).write_bytes(old)

    assert [CopyState.CHANGED, CopyState.MISSING, CopyState.CHANGED, CopyState.OUTDATED] == [
        copy.state for copy in documents.copies()
    ]
    assert 4 == len(hx.check())
    report = documents.read_copies()
    assert ["specs/0.md", "specs/2.md"] == [path for path, _ in report.skipped]
    assert ("specs/1.md", "specs/3.md") == report.restored
    assert ["specs/0.md", "specs/2.md"] == documents.write_copies()
    assert ["text 0", "text 1", "text 2", "newer"] == [documents.file(item).read_text() for item in ids]
    assert [] == hx.check()


def test_files_that_were_put_there_become_documents(hx, tmp_path):
    folder = hx.path / "documents" / "policies" / "team"
    folder.mkdir(parents=True)
    (folder / "härte.md").write_text("Be gentle.")
    (folder / ".draft").write_text("not this")
    (folder / "link.md").symlink_to(tmp_path / "elsewhere")
    assert [] == hx.check()

    report = hx.xdb.documents.read_copies()

    assert ("team/härte.md",) == report.created
    assert ["policies/team/link.md"] == [path for path, _ in report.skipped]
    assert (DocumentType.TRIBAL_POLICY, "documents/policies/team/härte.md") == (
        (document := hx.xdb.get_document("team/härte.md")).doc_type,
        document.source,
    )
    assert () == hx.xdb.documents.read_copies().created


def test_a_disk_that_refuses_the_copy_leaves_the_document_and_says_so(hx, caplog):
    def refuse(operation: str, path: Path) -> None:
        if operation == "rename":
            raise OSError(28, "No space left on device")

    hx.xdb.documents.add_document("before.md", "x", "reference")
    previous = files.set_hook(refuse)
    try:
        hx.xdb.documents.add_document("x.md", "kept", "reference")
    finally:
        files.set_hook(previous)

    assert "stored, and its working copy is not" in caplog.text
    assert "disk is full" in caplog.text
    assert "kept" == hx.xdb.get_document("x.md").content
    assert [CopyState.SAME, CopyState.MISSING] == [copy.state for copy in hx.xdb.documents.copies()]
    assert ["reference/x.md"] == hx.xdb.documents.write_copies()


_SECOND = """
import sys, hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    for number in range(20):
        hx.xdb.documents.update_document(sys.argv[2], f"{sys.argv[3]} {number}")
"""


def test_two_processes_that_update_one_document_lose_no_version(hx, opened: Opener):
    document = hx.xdb.documents.add_document("x.md", "start", "reference")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _SECOND, str(hx.path.parent), document.id, name],
            stderr=subprocess.PIPE,
            env=os.environ,
        )
        for name in "ab"
    ]
    errors = [process.communicate(timeout=60)[1] for process in running]

    assert [0, 0] == [process.returncode for process in running], errors
    versions = hx.xdb.documents.versions(document.id)
    assert {"start", *(f"{name} {n}" for name in "ab" for n in range(20))} == {v.content for v in versions}
    assert [*range(1, 42)] == [v.revision for v in versions]
    assert versions[-1].content == hx.xdb.documents.file(document.id).read_text()


@settings(max_examples=examples(12))
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40),
        min_size=1,
        max_size=6,
    )
)
def test_every_content_comes_back_from_the_store_and_from_its_file(contents):
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        document = hx.xdb.documents.add_document("x.md", contents[0], "reference")
        for content in contents[1:]:
            document = hx.xdb.documents.update_document(document.id, content)

        expected = [c for c, before in zip(contents, [None, *contents], strict=False) if c != before]
        assert expected == [v.content for v in hx.xdb.documents.versions(document.id)]
        assert expected[-1].encode() == hx.xdb.documents.file(document.id).read_bytes()
        assert [] == hx.check()


def test_a_changed_row_is_noticed(opened: Opener, tmp_path):
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.xdb.documents.add_document("x.md", "one", "reference")
        with hx._services.stores.db.transaction() as con:
            con.execute("UPDATE documents SET content = 'two'")

        assert any("does not match its hash" in line for line in hx.check())


def test_a_store_that_is_read_only_shows_documents_and_changes_none(hx: Hexad, opened: Opener):
    document = hx.xdb.documents.add_document("x.md", "one", "reference")
    reader = opened(readonly=True)

    assert "one" == reader.xdb.get_document("x.md").content
    with pytest.raises(StorageFailure, match="read-only"):
        reader.xdb.documents.update_document(document.id, "two")
    assert "one" == hx.xdb.documents.file(document.id).read_text()


def test_two_documents_of_one_name_and_two_types_are_no_conflict(hx):
    first = hx.xdb.documents.add_document("deploy.md", "How it is specified.", "specification")
    second = hx.xdb.documents.add_document("deploy.md", "How it is done.", "reference")

    assert ["deploy.md", "reference/deploy.md"] == [first.path, second.path]
    assert ["deploy.md"] * 2 == [first.name, second.name]
    assert "How it is done." == hx.xdb.documents.file(second.id).read_text()
    with pytest.raises(Conflict, match=r"deploy\.md"):
        hx.xdb.documents.add_document("deploy.md", "Again.", "reference")
    with pytest.raises(Conflict, match=r"deploy\.md"):
        hx.xdb.documents.add_document("other", "Named.", "reference", path="deploy.md")
