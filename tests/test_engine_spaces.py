"""Spaces and the files of a store: what they hold, and what other programs can read of them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from opener import Opener


@pytest.mark.row("L040")
def test_a_space_is_made_with_its_metadata_and_described(hx: Hexad, clock: FrozenClock) -> None:
    made = hx.spaces.create("team/decisions", {"owner": "ada"})
    clock.advance(days=1)
    hx.remember("Ship on Tuesday.", space="team/decisions")
    hx.remember("Never mind.", space="team/decisions", id="gone")
    hx.forget("gone")

    found = hx.spaces.get("team/decisions")

    assert ("team/decisions", 0, {"owner": "ada"}, {}) == (
        made.name,
        made.memories,
        made.metadata,
        made.policies,
    )
    assert (1, made.created_at) == (found.memories, found.created_at)


def test_writing_to_a_space_makes_it_and_listing_sorts_by_name(hx: Hexad) -> None:
    for name in ("b", "a/c", "ä", "a"):
        hx.remember("A text.", space=name)

    assert ["a", "a/c", "b", "ä"] == [space.name for space in hx.spaces.list()]


def test_a_policy_replaces_the_one_before(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("docs")
    clock.advance(hours=1)
    hx.spaces.set_policy("docs", {"pii_redaction": ["email"]})

    after = hx.spaces.set_policy("docs", {"env_allow": ["REGION"]})

    assert ({"env_allow": ["REGION"]}, clock.now()) == (after.policies, after.updated_at)
    assert "ada@example.org" == hx.remember("ada@example.org", space="docs").raw


@pytest.mark.row("L005")
def test_a_policy_that_another_process_set_counts_here_at_once(opened: Opener) -> None:
    here, there = opened(), opened()
    here.remember("ada@example.org", space="docs")

    there.spaces.set_policy("docs", {"pii_redaction": ["email"]})

    assert "[REDACTED:email]" in here.remember("Write to bob@example.org.", space="docs").raw


@pytest.mark.row("L013", "L040")
def test_a_space_is_written_as_one_json_file(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("team/decisions", {"owner": "ada"})
    hx.spaces.set_policy("team/decisions", {"pii_redaction": ["email"]})
    for number in range(3):
        clock.advance(hours=1)
        hx.remember(f"Decision {number}: äöü 漢字.", space="team/decisions", id=f"d{number}")
    hx.remember("Elsewhere.", space="other")
    hx.forget("d1")
    clock.advance(hours=1)

    path = hx.spaces.write_file("team/decisions")

    document = json.loads(path.read_text(encoding="utf-8"))
    assert hx.path / "spaces" / "team%2Fdecisions.json" == path
    assert ["name", "created_at", "updated_at", "metadata", "policies", "objects"] == list(document)
    assert ("team/decisions", {"owner": "ada"}, {"pii_redaction": ["email"]}) == (
        document["name"],
        document["metadata"],
        document["policies"],
    )
    assert ("2026-01-01T00:00:00Z", "2026-01-01T03:00:00Z") == (
        document["created_at"],
        document["updated_at"],
    )
    assert ["d1", "d2", "d0"] == [each["id"] for each in document["objects"]]
    written, record = document["objects"][1], hx.get("d2").to_dict()
    assert written == {key: record[key] for key in written}
    assert {"id", "path", "kind", "raw", "tags", "metadata", "chunks", "created_at"} <= set(written)
    assert "archived" == document["objects"][0]["status"]
    assert "漢字" in path.read_text(encoding="utf-8")


@pytest.mark.row("L004", "L013")
def test_the_file_of_a_space_is_the_same_byte_for_byte(hx: Hexad) -> None:
    hx.remember("A text.", space="docs", metadata={"b": 1, "a": 2})
    first = hx.spaces.write_file("docs").read_bytes()

    hx.recall("text")
    hx.reindex()

    assert first == hx.spaces.write_file("docs").read_bytes()


@pytest.mark.row("L006")
def test_a_store_is_a_folder_of_private_files(opened: Opener, project: Path) -> None:
    hx = opened()
    hx.remember("A text.")
    hx.maintain()
    hx.spaces.write_file("default")

    assert project / ".hexad" == hx.path
    for path in [hx.path, *hx.path.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert 0 == mode & 0o077, (path, oct(mode))


@pytest.mark.row("L006")
def test_nothing_reaches_for_the_network(project: Path) -> None:
    script = """
import socket, sys
def refuse(*arguments, **more):
    raise AssertionError("somebody reached for the network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
import hexad
with hexad.open(sys.argv[1], embedder="hashing", background=False) as hx:
    hx.remember("The ferry leaves at nine.")
    hx.maintain()
    assert hx.recall("when does the ferry leave?")
"""
    subprocess.run([sys.executable, "-c", script, str(project)], check=True)


@pytest.mark.row("A041", "A042")
def test_another_program_can_read_where_each_vector_is_from(opened: Opener, project: Path) -> None:
    (project / "lamp.py").write_text(
        "import math\n\n\ndef turn():\n    return 9\n\n\ndef stop():\n    return 0\n"
    )
    with opened() as hx:
        hx.ingest(project / "lamp.py", space="tower")
        hx.remember("Ship on Tuesday.", kind="decision", path="plans/ship")
        hx.maintain()
        vectors = hx.status().vectors
        store = hx.path / "memory.db"

    # In a process of its own, with the system's SQLite: what every other program would do.
    script = (
        "import json, sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "print(json.dumps(c.execute('SELECT project_id, file_path, start_line, end_line, kind, summary,"
        " last_indexed FROM vector_chunks ORDER BY id').fetchall()))"
    )
    read = subprocess.run(
        [sys.executable, "-c", script, str(store)], check=True, capture_output=True, text=True
    )
    rows = json.loads(read.stdout)

    assert vectors == len(rows)
    code = [row for row in rows if row[1] == "lamp.py"]
    assert {(project.name, "code")} == {(row[0], row[4]) for row in code}
    assert [] == [row for row in code if row[2] is not None and not 1 <= row[2] <= row[3] <= 10]
    assert [project.name, "plans/ship", 1, 1, "decision", "Ship on Tuesday."] == next(
        row[:6] for row in rows if row[4] == "decision"
    )


def test_a_private_store_leaves_nothing_behind() -> None:
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.remember("A text.")
        place = hx.path
        assert place.is_dir()
    assert not place.exists()
    assert not place.parent.exists()


def test_a_store_is_found_from_a_folder_below_it_and_not_above_the_repository(
    opened: Opener, project: Path
) -> None:
    opened().remember("A text.")
    (project / "deep" / "er").mkdir(parents=True)
    with pytest.warns(UserWarning, match="no store of its own"):
        assert project / ".hexad" == opened(project / "deep" / "er").path

    (project / "deep" / ".git").mkdir()
    with pytest.raises(hexad.NotFound):
        opened(project / "deep" / "er", create=False)
    with pytest.warns(UserWarning, match="no store of its own"):
        assert project / "deep" / ".hexad" == opened(project / "deep" / "er").path


def test_the_store_of_the_current_folder_is_the_default(
    opened: Opener, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().remember("A text.")
    monkeypatch.chdir(project)

    with hexad.open(embedder=None, background=False, create=False) as hx:
        assert project / ".hexad" == hx.path


def test_init_makes_a_store_with_commented_settings(project: Path) -> None:
    store = hexad.init(project)

    assert project / ".hexad" == store
    assert all(not line or line.startswith("#") for line in (store / "hexad.toml").read_text().splitlines())
    with hexad.open(project, embedder=None, background=False, create=False) as hx:
        assert [] == hx.memories()
        assert [] == hx.check()


def test_settings_name_the_project_and_variables_go_first(
    opened: Opener, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = hexad.init(project)
    (store / "hexad.toml").write_text('project = "coast"\nenv_allow = ["REGION"]\n')
    (project / "service.env").write_text("REGION=lapis\n")
    with opened() as hx:
        assert "coast" == hx.remember("A text.").metadata["project"]
        hx.ingest(project / "service.env")
        assert "REGION=lapis" == next(memory.raw for memory in hx.memories() if memory.source_id)
    monkeypatch.setenv("HEXAD_PROJECT", "island")
    with opened() as hx:
        assert "island" == hx.remember("Another text.").metadata["project"]


def test_status_tells_what_is_there(opened: Opener) -> None:
    hx = opened()
    hx.remember("One.", id="one")
    hx.remember("Two.", id="two")
    hx.forget("two")

    status = hx.status()
    record = json.loads(json.dumps(status.to_dict()))

    assert (1, 1, 1, 1) == (status.memories, status.archived, status.chunks, status.embeddings_pending)
    assert (str(hx.path), hexad.__version__, True, False) == (
        status.path,
        status.version,
        status.sqlite_safe,
        status.readonly,
    )
    assert "keys.json, mode 0600" == status.keys
    assert str(os.getpid()) in record["holders"][0]
    assert status.sizes["memory.db"] > 0


def test_a_temporary_store_for_tests_is_checked_at_its_end() -> None:
    from hexad.testing import temporary_store

    with temporary_store() as hx:
        assert hx.remember("A text.").id.startswith("mem_")
    with pytest.raises(AssertionError, match=r"shopping"):
        with temporary_store() as hx:
            (hx.path / "shopping.txt").write_text("milk")


def test_finished_operations_are_told_to_listeners_without_any_text(hx: Hexad) -> None:
    spans: list[hexad.Span] = []
    stop = hexad.listen(spans.append)
    try:
        hx.remember("A text with secret wishes.")
        hx.maintain()
        hx.recall("wishes")
        with pytest.raises(hexad.InvalidSpace):
            hx.remember("x", space="a b")
    finally:
        stop()
    hx.recall("wishes")

    names = ["upsert_memory", "embed", "embed", "search_memory", "upsert_memory"]
    assert names == [span.name for span in spans]
    assert "InvalidSpace" == spans[-1].error
    assert "wishes" not in repr(spans)


def test_summaries_follow_what_is_changed_here_and_elsewhere_and_are_not_counted_anew_without_it(
    opened: Opener, clock: FrozenClock
) -> None:
    hx, other = opened(clock=clock), opened(clock=clock)

    def summaries(store: Hexad) -> list[object]:
        clock.advance(seconds=1)
        return [
            *store.spaces.list(),
            store.spaces.get("docs"),
            (store.status().consolidation or {})["layers"],
        ]

    changes: list[Callable[[], object]] = [
        lambda: hx.remember("Retries stop after five.", id="a", space="docs"),
        lambda: other.remember("The harbour closes at ten.", id="b", space="docs", kind="decision"),
        lambda: other.remember("Deploys run from main.", id="c", space="shop", data_subjects=["ada"]),
        lambda: other.pin("a"),
        lambda: hx.forget("b"),
        lambda: other.restore("b"),
        lambda: other.remember("Retries stop after seven, and never before.", id="a", space="docs"),
        lambda: other.forget(subject="ada", confirm=True),
        lambda: hx.forget("b", purge=True, confirm=True),
    ]
    for change in changes:
        change()
        with hexad.open(hx.path.parent, embedder=None, clock=clock, background=False) as fresh:
            expected = summaries(fresh)
        assert [expected, expected] == [summaries(hx), summaries(other)]

    seen: list[str] = []
    hx._services.context.db.tracer = lambda sql, _seconds: seen.append(sql)
    summaries(hx)
    hx._services.context.db.tracer = None
    assert [] == [sql for sql in seen if "octet_length(m.raw)" in sql]
