"""Objects of space files: what is written of a memory, and that reading it finds all of it again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hexad.core.json_types import JSONValue
from hexad.memory.memory import Chunk, Memory
from hexad.spaces.files.fields import KNOWN, locate, object_of, parse_object
from hexad.text.sections import Section

AT = datetime(2026, 1, 1, tzinfo=UTC)
RAW = "lamp\nlamp\n\nwick and lamp\n"


def memory(*chunks: Chunk) -> Memory:
    return Memory(
        id="m", space="docs", path="a/b", kind="note", raw=RAW, summary_micro="a", summary_short="b",
        summary_long="c", chunks=chunks, created_at=AT, updated_at=AT,
    )  # fmt: skip


def chunk(start: int, end: int, *, lines: tuple[int, int], heading: str = "") -> Chunk:
    return Chunk(
        chunk_id="m#0", start=start, end=end, first_line=lines[0], last_line=lines[1], heading=heading
    )


def cuts_of(memory: Memory) -> tuple[Section, ...] | None:
    return parse_object(0, object_of(memory), name="docs", fallback=None).draft.cuts


def written(memory: Memory) -> list[JSONValue]:
    chunks = object_of(memory)["chunks"]
    assert isinstance(chunks, list)
    return chunks


def test_only_what_says_something_is_written() -> None:
    plain = memory(chunk(0, 4, lines=(1, 1)))

    assert 14 == len(object_of(plain))
    assert [{"chunk_id": "m#0", "text": "lamp"}] == written(plain)
    assert {"confidence": 0.5, "subject": "x"} == {
        key: value
        for key, value in object_of(
            replace(plain, confidence=0.5, subject="x", evidence=9, last_used_at=AT)
        ).items()
        if key not in object_of(plain)
    }
    assert set(plain.to_dict()) == KNOWN


def test_lines_that_the_text_does_not_tell_are_written_and_read() -> None:
    part = memory(chunk(0, 4, lines=(101, 101)), chunk(5, 24, lines=(102, 104), heading="Wicks"))

    assert [
        {"chunk_id": "m#0", "text": "lamp", "lines": [101, 101]},
        {"chunk_id": "m#0", "text": RAW[5:24], "heading": "Wicks", "lines": [102, 104]},
    ] == written(part)
    assert (
        Section(start=0, end=4, first_line=101, last_line=101),
        Section(start=5, end=24, first_line=102, last_line=104, heading="Wicks"),
    ) == cuts_of(part)


def test_chunks_that_stand_twice_in_the_text_or_overlap_are_found_where_they_were() -> None:
    overlapping = memory(chunk(0, 9, lines=(1, 2)), chunk(5, 24, lines=(2, 4)))
    late = memory(chunk(0, 9, lines=(1, 2)), chunk(11, 24, lines=(4, 4)))

    for item in (overlapping, late):
        cuts = cuts_of(item)
        assert cuts is not None
        assert [(c.start, c.end, c.first_line, c.last_line) for c in item.chunks] == [
            (cut.start, cut.end, cut.first_line, cut.last_line) for cut in cuts
        ]
    assert ["start" in item for item in written(overlapping) if isinstance(item, dict)] == [True, True]


def test_chunks_that_leave_text_out_are_not_taken_for_all_of_it() -> None:
    assert cuts_of(memory(chunk(0, 4, lines=(1, 1)))) is None


def test_texts_are_located_one_after_the_other() -> None:
    found = locate(RAW, ["lamp", "lamp", "lamp"])

    assert found is not None
    assert [0, 5, 20] == [section.start for section in found]
    assert locate(RAW, ["wick", "lamp", "lamp"]) is None
    assert locate(RAW, [""]) is None
