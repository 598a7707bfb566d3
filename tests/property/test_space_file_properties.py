"""What holds for any space: its file brings all of it back, and any file that can be read is given back as it was."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import Citation
from hexad.testing import temporary_store
from hexad.text.normalize import clean

FEW = settings(max_examples=examples(12), derandomize=True)

characters = st.characters(exclude_categories=["Cs"])
any_text = st.text(characters, max_size=60)
said = any_text.filter(lambda text: clean(text).strip() != "")
names = st.text("abcdefgh ", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
paths = st.lists(st.text("abcxyz-_ä", min_size=1, max_size=6), min_size=1, max_size=3).map("/".join)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | any_text
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
moments = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2040, 1, 1)).map(
    lambda moment: moment.isoformat() + "Z"
)
relevance = st.sampled_from(["high", "medium", "low"])


@st.composite
def remembered(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments for `remember`."""
    found: dict[str, Any] = {"text": draw(said)}
    optional = {
        "kind": st.sampled_from(["note", "guide", "decision", "log"]),
        "path": paths,
        "tags": st.lists(st.sampled_from(["a", "b", "c d", "é"]), max_size=3),
        "pinned": st.booleans(),
        "relevance": relevance,
        "importance": st.floats(0, 1),
        "confidence": st.floats(0, 1),
        "trust": st.sampled_from(["user", "agent", "tool", "web", "unknown"]),
        "valid_from": moments,
        "subject": names,
        "attribute": names,
        "value": values,
        "data_subjects": st.lists(names, max_size=2),
        "metadata": st.dictionaries(names, values, max_size=3),
        "source_id": names,
        "citations": st.lists(st.builds(Citation, path=names, symbol=st.none() | names), max_size=2),
        "freeze_clock": moments,
    }
    for name in draw(st.lists(st.sampled_from(sorted(optional)), unique=True, max_size=8)):
        found[name] = draw(optional[name])
    return found


@pytest.mark.row("L053")
@FEW
@given(
    texts=st.lists(remembered(), min_size=1, max_size=5),
    metadata=st.dictionaries(names, values, max_size=2),
    archived=st.sets(st.integers(0, 4)),
)
def test_any_space_comes_back_from_its_export(
    texts: list[dict[str, Any]], metadata: dict[str, Any], archived: set[int]
) -> None:
    with temporary_store() as here, temporary_store() as there, tempfile.TemporaryDirectory() as folder:
        here.spaces.create("docs", {key: value for key, value in metadata.items() if key != "reset"})
        for arguments in texts:
            here.remember(**arguments, space="docs")
        for at, memory in enumerate(here.memories(space="docs", limit=None)):
            if at in archived:
                here.forget(memory.id)
        file = here.spaces.export("docs", Path(folder) / "docs.json").path

        there.spaces.restore(file)

        assert here.spaces.write_file("docs").read_bytes() == there.spaces.write_file("docs").read_bytes()
        for memory in here.memories(space="docs", status=None, limit=None):
            copy = there.get(memory.id)
            assert {**memory.to_dict(), "evidence": 1} == copy.to_dict()
            assert memory.chunks == copy.chunks


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object as another program might write it."""
    found: dict[str, Any] = {"raw": draw(said)}
    created = draw(moments)
    optional = {
        "path": paths,
        "kind": names,
        "summary_micro": any_text,
        "summary_short": any_text,
        "summary_long": any_text,
        "tags": st.lists(any_text, max_size=3),
        "metadata": st.none() | st.dictionaries(any_text, values, max_size=3),
        "relevance": relevance | any_text,
        "pinned": st.none() | st.booleans(),
        "chunks": st.lists(st.fixed_dictionaries({"chunk_id": any_text, "text": any_text}), max_size=3),
        "created_at": st.just(created),
        "updated_at": st.just("2041-01-01T00:00:00.123456789+02:00"),
        "embedding": values,
        "Größe": values,
    }
    for name in draw(st.lists(st.sampled_from(sorted(optional)), unique=True, max_size=9)):
        found[name] = draw(optional[name])
    return found


@pytest.mark.row("L013", "L040")
@FEW
@given(
    found=st.lists(objects(), max_size=4),
    head=st.dictionaries(st.text("xyz", min_size=1), values, max_size=2),
    metadata=st.none() | st.dictionaries(any_text, values, max_size=2),
    ids=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_any_file_that_can_be_read_is_given_back_as_it_was(
    found: list[dict[str, Any]], head: dict[str, Any], metadata: dict[str, Any] | None, ids: bool, order: Any
) -> None:
    for at, entry in enumerate(found):
        if ids:
            entry["id"] = f"mem_{at}"
    document = {"objects": found, "metadata": metadata, "name": "docs", **head}
    keys = list(document)
    order.shuffle(keys)
    document = {key: document[key] for key in keys}
    with temporary_store() as hx, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "docs.json"
        file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        try:
            report = hx.spaces.read_file(file)
        except hexad.InvalidSpace as error:
            assume("objects[" not in str(error))  # two without id may be the same
            raise
        assume(not any("redacted" in note for note in report.notes))

        written = hx.spaces.write_file("docs").read_text(encoding="utf-8")
        again = hx.spaces.read_file(file)

        assert document == json.loads(written)
        assert keys == list(json.loads(written))
        assert (len(found), 0, 0) == (again.unchanged, again.created, again.updated)


SECRETS = ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLF", "AKIAIOSFODNN7EXAMPLG")
_phrases = said | st.sampled_from([f"The key is {secret} here." for secret in SECRETS])


@st.composite
def sparse_objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object of document 1 in which anything may be missing, and a secret may stand anywhere."""
    at = draw(moments)
    whole = {
        "id": names.map(lambda name: "own-" + name.strip()),
        "path": paths | st.sampled_from([f"keys/{secret}" for secret in SECRETS]),
        "kind": st.sampled_from(["note", "guide"]),
        "raw": _phrases,
        "summary_micro": _phrases,
        "summary_short": _phrases,
        "summary_long": _phrases,
        "tags": st.none() | st.lists(st.sampled_from(["a", "c d", *SECRETS[:1]]), max_size=3),
        "metadata": st.none()
        | st.dictionaries(st.sampled_from(["project", "title", "x"]), _phrases, max_size=2),
        "relevance": relevance,
        "pinned": st.none() | st.booleans(),
        "chunks": st.lists(st.fixed_dictionaries({"chunk_id": names, "text": _phrases}), max_size=2),
        "created_at": st.just(at),
        "updated_at": st.just(at),
        "vault": _phrases,
    }
    there = draw(st.sets(st.sampled_from(sorted(whole)))) | {draw(st.sampled_from(["raw", "summary_short"]))}
    return {key: draw(whole[key]) for key in sorted(there)}


def of(store: hexad.Hexad) -> dict[str, Any]:
    """What the memories of the space are, by id."""
    return {
        memory.id: ({**memory.to_dict(), "evidence": 1}, memory.chunks)
        for memory in store.memories(space="docs", status=None, limit=None)
    }


def project(folder: str, name: str, year: int) -> hexad.Hexad:
    """A store of another project at another time."""
    path = Path(folder) / name
    path.mkdir()
    clock = hexad.FrozenClock(datetime(year, 1, 1, tzinfo=UTC))
    return hexad.open(path, embedder=None, background=False, clock=clock)


@pytest.mark.row("L040", "L053", "L156")
@settings(FEW, max_examples=15)
@given(
    found=st.lists(sparse_objects(), min_size=1, max_size=4),
    head=st.fixed_dictionaries(
        {}, optional={"name": st.just("docs"), "created_at": moments, "metadata": st.none()}
    ),
)
def test_whatever_a_file_leaves_open_its_memories_stay_themselves(
    found: list[dict[str, Any]], head: dict[str, Any]
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        project(folder, "here", 2026) as here,
        project(folder, "there", 2030) as there,
        project(folder, "third", 2031) as third,
    ):
        file = Path(folder) / "docs.json"
        file.write_text(json.dumps({**head, "objects": found}, ensure_ascii=False), encoding="utf-8")
        try:
            report = here.spaces.read_file(file)
        except hexad.InvalidSpace as error:
            assume("has the id" not in str(error))  # two of them are the same
            raise
        count = report.created
        assert len(found) == count

        def unchanged(path: Path) -> None:
            before = of(here)
            again = here.spaces.read_file(path)
            assert (len(before), 0, 0, []) == (again.unchanged, again.created, again.updated, again.conflicts)
            assert before == of(here)

        unchanged(file)
        first = here.spaces.write_file("docs").read_bytes()
        unchanged(here.spaces.write_file("docs"))
        assert first == here.spaces.write_file("docs").read_bytes()
        assert not any(secret.encode() in first for secret in SECRETS)
        assert count == here.spaces.read_file(file).unchanged

        export = here.spaces.export("docs", Path(folder) / "export.json").path
        there.spaces.restore(export)
        assert of(here) == of(there)
        assert here.spaces.restore(export, merge=True).read.unchanged == count
        assert here.spaces.get("docs").created_at == there.spaces.get("docs").created_at

        here.remember("One more that no file has.", space="docs", freeze_clock="2041-01-01T00:00:00Z")
        unchanged(here.spaces.write_file("docs"))
        third.spaces.read_file(here.spaces.write_file("docs"))
        assert of(here) == of(third)
        assert [[], [], []] == [store.check() for store in (here, there, third)]
