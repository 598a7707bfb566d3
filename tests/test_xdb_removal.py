"""Taking away: tags with their uses, documents to be brought back or for good."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hexad import BudStatus, Conflict, Hexad, NotFound, StorageFailure
from hexad.database import files
from opener import Opener
from programs import run
from tables import everything_stored

PACKS = Path(__file__).parent / "data" / "concepts"
KITCHEN = "example.org/kitchen::"
SAID = "Grandmother's own words"


@pytest.fixture
def xdb(hx: Hexad):
    hx.xdb.start_session("s")
    hx.xdb.record_many({"event_type": "output", "content": f"word {at}"} for at in range(6))
    return hx.xdb


# Tags -------------------------------------------------------------------------------------------------------------


def test_a_tag_that_nobody_uses_goes(xdb) -> None:
    tag = xdb.tag_index.create_tag("spare")

    assert 0 == xdb.remove_tag("SPARE")

    assert xdb.tag_index.get_tag(tag.id) is None
    assert [] == xdb.find_tags()
    with pytest.raises(NotFound, match="'spare' is not there"):
        xdb.remove_tag("spare")


def test_a_tag_that_is_used_goes_with_its_uses_only_by_force(xdb) -> None:
    xdb.tag("noise", timestep_id="ts-s-1")
    xdb.tag("noise", tick_range=(3, 4))
    xdb.tag("signal", timestep_id="ts-s-1")

    with pytest.raises(Conflict, match="'noise' is used 2 times; with force=True"):
        xdb.remove_tag("noise")
    assert [1, 3, 4] == [record.tick for record in xdb.recall(tags=["noise"])]

    assert 2 == xdb.remove_tag("noise", force=True)
    assert [] == xdb.recall(tags=["noise"])
    assert ["signal"] == [tag.name for tag in xdb.get_tags_for_timestep("ts-s-1")]
    xdb.tag("noise", timestep_id="ts-s-2")
    assert [2] == [record.tick for record in xdb.recall(tags=["noise"])], "the same name is a new tag"


def test_a_bud_goes_only_by_force_and_not_while_a_submission_waits_for_an_answer(xdb) -> None:
    bud = xdb.create_bud_tag("frogs", "rain", related_concepts=["p::Rain"])
    with pytest.raises(Conflict, match="is a bud"):
        xdb.remove_tag(bud.id)
    xdb.tag(bud.id, tick_range=(1, 3))
    xdb.submit_graft(bud.id, "graft-1")

    with pytest.raises(Conflict, match="submission 'graft-1'"):
        xdb.remove_tag(bud.id, force=True)

    xdb.resolve_submission("graft-1", False)
    assert 1 == xdb.remove_tag(bud.id, force=True)
    assert [] == xdb.get_buds(BudStatus.COLLECTING)


def test_a_concept_of_a_pack_stays_and_one_without_a_pack_goes(xdb) -> None:
    xdb.load_concept_pack(PACKS / "kitchen")
    with pytest.raises(Conflict, match=r"is a concept of the pack 'example\.org/kitchen' and stays"):
        xdb.remove_tag(f"{KITCHEN}Baking", force=True)

    xdb.tag_index.create_tag("Loose", "concept", concept_id="other::Loose")
    assert 0 == xdb.remove_tag("other::Loose")


def test_a_removed_tag_is_significant_for_no_cold_record(xdb, hx: Hexad) -> None:
    xdb.start_session("small", max_context_tokens=1_000)
    xdb.record_many(
        {"event_type": "output", "content": "word ", "event_id": "a", "token_count": 100} for _ in range(3)
    )
    kept, gone = (xdb.tag(name, event_id="a") and name for name in ("kept", "gone"))
    gone_id = xdb.tag_index.resolve(gone).id
    xdb.record_many(
        {"event_type": "output", "content": "word ", "event_id": "b", "token_count": 100} for _ in range(6)
    )
    xdb.request_compaction()
    (record,) = xdb.compressed_records(session_id="small", limit=1)
    assert gone_id in record.significant_tags

    xdb.remove_tag(gone, force=True)

    (record,) = xdb.compressed_records(session_id="small", limit=1)
    assert [xdb.tag_index.resolve(kept).id] == list(record.significant_tags)
    assert gone_id not in everything_stored(hx)


# Documents --------------------------------------------------------------------------------------------------------


@pytest.fixture
def documents(hx: Hexad):
    return hx.xdb.documents


def add(documents, path: str = "style/tone.md", content: str = SAID):
    return documents.add_document("Tone", content, "system_instruction", path=path, tags=["style"])


def test_a_removed_document_is_nowhere_and_comes_back_with_all_its_versions(hx: Hexad, documents) -> None:
    document = add(documents)
    documents.update_document(document.id, "Second words", tags=["voice"])
    before, versions, copy = documents.get_document(document.id), documents.versions(document.id), None
    copy = documents.file(document.id)

    gone = hx.xdb.remove_document("style/tone.md")

    assert (document.id, "style/tone.md", False) == (gone.id, gone.path, gone.purged)
    assert hx.xdb.get_document("style/tone.md") is None
    assert (
        [] == hx.xdb.search_documents("words") == hx.xdb.list_documents() == documents.search(tags=["voice"])
    )
    assert not copy.exists()
    assert [] == documents.copies()
    assert [gone] == documents.removed_documents()

    assert before == hx.xdb.restore_document("style/tone.md")
    assert versions == documents.versions(document.id)
    assert [before] == hx.xdb.search_documents("second") == documents.search(tags=["voice"])
    assert "Second words" == copy.read_text()
    assert [] == documents.removed_documents()


def test_its_path_is_free_for_another_one_and_then_it_stays_away(documents) -> None:
    first = add(documents)
    documents.remove_document(first.id)
    second = add(documents, content="Other words")

    with pytest.raises(Conflict, match=r"A document is at 'style/tone\.md'"):
        documents.restore_document(first.id)

    documents.remove_document(second.id)
    assert "Other words" == documents.restore_document("style/tone.md").content, "the last one of a path"
    documents.remove_document("style/tone.md")
    assert SAID == documents.restore_document(first.id).content


def test_a_folder_that_is_left_empty_goes_and_may_become_a_document(documents) -> None:
    add(documents, "style/deep/tone.md")
    add(documents, "style/other.md")
    documents.remove_document("style/deep/tone.md")

    assert "a file" == add(documents, "style/deep", "a file").content
    assert "a file" == documents.file(documents.get_by_path("style/deep").id).read_text()


@pytest.mark.parametrize("archived_before", [False, True])
def test_what_is_purged_is_gone_from_every_file_of_the_store(
    hx: Hexad, documents, archived_before: bool
) -> None:
    document = add(documents)
    documents.update_document(document.id, f"{SAID}, again")
    if archived_before:
        documents.remove_document(document.id)

    gone = documents.remove_document(document.id, purge=True)

    assert gone.purged
    assert [gone.id] == [document.id for document in documents.removed_documents() if document.purged]
    assert SAID not in everything_stored(hx)
    with pytest.raises(Conflict, match="was purged: nothing is left"):
        documents.restore_document(document.id)
    assert document.id != add(documents).id, "the path is free"


def test_a_copy_that_was_changed_by_hand_is_not_thrown_away(documents) -> None:
    document = add(documents)
    documents.file(document.id).write_text("By hand")

    for purge in (False, True):
        with pytest.raises(Conflict, match="was changed by hand"):
            documents.remove_document(document.id, purge=purge)
    documents.read_copies()
    documents.remove_document(document.id)

    assert "By hand" == documents.restore_document(document.id).content


def test_what_is_not_there_cannot_be_taken_away_or_brought_back(documents) -> None:
    document = add(documents)
    with pytest.raises(NotFound, match="'none' is not there"):
        documents.remove_document("none")
    with pytest.raises(NotFound, match="was not removed"):
        documents.restore_document(document.id)
    documents.remove_document(document.id)
    with pytest.raises(NotFound, match="is not there"):
        documents.remove_document(document.id)


def test_a_full_disk_leaves_the_document_or_takes_it_whole(documents) -> None:
    document = add(documents)

    def hook(operation: str, path: Path) -> None:
        if operation == "unlink":
            raise OSError(28, "No space left on device")

    previous = files.set_hook(hook)
    try:
        with pytest.raises(StorageFailure):
            documents.remove_document(document.id)
    finally:
        files.set_hook(previous)

    assert SAID == documents.get_document(document.id).content
    documents.write_copies()


DIES = """
import os, signal, sys
import hexad
from hexad.database import files

with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    seen = 0

    def hook(operation, path):
        global seen
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

    files.set_hook(hook)
    hx.xdb.remove_document("style/tone.md")
    print("done")
"""


def test_a_program_that_is_killed_leaves_no_copy_that_would_be_a_new_document(
    hx: Hexad, documents, project: Path, opened: Opener
) -> None:
    add(documents)
    hx.close()
    died, step = 0, 0
    while True:
        step += 1
        done = run(DIES, project, step)
        with opened(embedder=None) as left:
            there = left.xdb.get_document("style/tone.md")
            left.xdb.documents.read_copies()
            assert (0 if there is None else 1) == len(left.xdb.list_documents())
            if there is None:
                left.xdb.restore_document("style/tone.md")
            assert SAID == left.xdb.get_document("style/tone.md").content
        if done.stdout == "done\n":
            break
        died += 1
        assert -signal.SIGKILL == done.returncode, done.stderr
    assert died > 0
    assert os.listdir(project / ".hexad" / "documents")
