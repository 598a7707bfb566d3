"""What the experience database is not (document 2, section 1.2)."""

from __future__ import annotations

import pytest

from hexad import Hexad, InvalidInput


@pytest.mark.row("H008")
@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md", "a/../../b.md"])
def test_documents_are_no_way_to_files_elsewhere(hx: Hexad, path: str) -> None:
    with pytest.raises(InvalidInput):
        hx.xdb.documents.add_document("Notes", "text", "reference", path=path)

    assert hx.xdb.list_documents() == []


@pytest.mark.row("H008")
@pytest.mark.parametrize("media", [b"\x89PNG\r\n", bytearray(b"RIFF"), memoryview(b"ID3"), None])
def test_experience_of_media_is_kept_and_not_the_media(hx: Hexad, media: object) -> None:
    hx.xdb.start_session("s")

    with pytest.raises(InvalidInput):
        hx.xdb.record("input", media)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        hx.xdb.documents.add_document("Picture", media, "reference")  # type: ignore[arg-type]

    assert hx.xdb.recall() == []
    assert hx.xdb.list_documents() == []


@pytest.mark.row("H008")
def test_what_is_learned_is_for_the_agent_to_say(hx: Hexad) -> None:
    """Concepts, tags and buds of any name are taken as they come: no pack and no list prescribes them."""
    hx.xdb.start_session("s")
    step = hx.xdb.record("output", "x", {"a concept of my own": 0.5, "😀::Joy": 0.9})
    hx.xdb.tag("whatever I call it", timestep_id=step)
    bud = hx.xdb.create_bud_tag("an idea that nobody had", "mine")

    assert [step] == [record.id for record in hx.xdb.recall(concepts=["a concept of my own", "😀::Joy"])]
    assert [step] == [record.id for record in hx.xdb.recall(tags=["whatever I call it"])]
    assert [bud.id] == [tag.id for tag in hx.xdb.get_buds()]
