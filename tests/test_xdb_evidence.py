"""Evidence packages of submissions: what is in them, and how it is known that nothing was changed."""

from __future__ import annotations

import errno
import hashlib
import json
from datetime import UTC
from pathlib import Path

import duckdb
import pytest

import hexad
from hexad import Conflict, Hexad, InvalidInput, NotFound, StorageFailure
from hexad.database import files
from test_xdb_windows import compact_all

SECRET = "ghp_" + "Ab3" * 12


@pytest.fixture
def hx(hx: Hexad, clock) -> Hexad:
    """Twenty tokens of `monday` and ten of `tuesday`, a second apart; the bud `Curiosity` on 9 to 12 and on 3 and 4."""
    for session, count in (("tuesday", 10), ("monday", 20)):
        hx.xdb.start_session(session, compaction=False)
        for number in range(1, count + 1):
            hx.xdb.record(
                "output",
                f"{session[0]}{number}",
                {"pack::Odd": 0.5, f"pack::{number}": 0.25} if number % 2 else {},
                event_id=f"reply {number // 5}",
                event_start=number % 5 == 0,
                event_end=number % 5 == 4,
                token_id=1_000 + number,
                role="assistant",
                token_count=1 + number % 3,
            )
            clock.advance(seconds=1)
        if session == "tuesday":
            hx.xdb.seal()
    hx.xdb.create_bud_tag("Curiosity", "Asking on.", related_concepts=["pack::Odd"])
    hx.xdb.tag("Curiosity", tick_range=(9, 12), confidence=0.8, note="here")
    hx.xdb.tag("Curiosity", tick_range=(3, 4), session_id="tuesday")
    hx.xdb.tag("surprising", timestep_id="ts-monday-10")
    hx.xdb.tag("elsewhere", timestep_id="ts-monday-20")
    hx.xdb.comment("Look at this.", tick_range=(11, 15))
    hx.xdb.comment("Not at this.", tick_range=(14, 15))
    hx.xdb.submit_graft("Curiosity", "graft-1")
    return hx


def rows_of(path: Path) -> list[dict]:
    with duckdb.connect() as con:
        found = con.execute(
            "SELECT * REPLACE (epoch_us(timestamp) AS timestamp) FROM read_parquet(?) ORDER BY session_id, tick",
            [str(path / "timesteps.parquet")],
        )
        names = [row[0] for row in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def told(path: Path, name: str) -> dict:
    return json.loads((path / name).read_text(encoding="utf-8"))


# What is in them --------------------------------------------------------------------------------------------------


@pytest.mark.row("H176", "H177")
def test_a_package_holds_every_timestep_of_the_evidence_in_words(hx):
    path = hx.xdb.export_submission("graft-1")

    assert hx.path / "exports" / "graft-1" == path
    shown = {record.id: record for record in hx.xdb.recall(session_id="*", limit=1_000)}
    rows = rows_of(path)
    assert [f"ts-monday-{tick}" for tick in range(9, 13)] + ["ts-tuesday-3", "ts-tuesday-4"] == [
        row["id"] for row in rows
    ]
    for row in rows:
        step = shown[row["id"]]
        assert (
            step.session_id, step.tick, step.event_type.value, step.content, dict(step.concept_activations),
            step.event_id, step.event_start, step.event_end, step.token_id, step.role, step.token_count,
        ) == tuple(
            row[name]
            for name in (
                "session_id", "tick", "event_type", "content", "concept_activations", "event_id", "event_start",
                "event_end", "token_id", "role", "token_count",
            )
        )  # fmt: skip
        assert step.timestamp.timestamp() * 1_000_000 == row["timestamp"]


@pytest.mark.row("H177")
def test_a_package_holds_the_tags_and_the_comments_on_the_evidence(hx):
    found = told(hx.xdb.export_submission("graft-1"), "tags.json")

    assert {"Curiosity", "surprising"} == {tag["name"] for tag in found["tags"]}
    assert [("here", 0.8), (None, 1.0), (None, 1.0)] == [
        (application["note"], application["confidence"]) for application in found["applications"]
    ]
    assert ["Look at this."] == [comment["content"] for comment in found["comments"]]


@pytest.mark.row("H177")
def test_the_manifest_says_what_the_package_is(hx, clock):
    path = hx.xdb.export_submission("graft-1")

    manifest = told(path, "manifest.json")
    submission = hx.xdb.get_submission("graft-1")
    assert submission.to_dict() == manifest["submission"]
    assert ("Curiosity", "training") == (manifest["bud"]["name"], manifest["bud"]["bud_status"])
    assert list(submission.window_ids) == manifest["windows"]
    assert {
        "sessions": 2,
        "windows": 2,
        "timesteps": 6,
        "tokens": 10,
        "tag_applications": 3,
        "comments": 1,
    } == (manifest["counts"])
    assert {"manifest.json", *manifest["files"]} == {file.name for file in path.iterdir()}
    assert (hexad.__version__, clock.now().isoformat().replace("+00:00", "Z")) == (
        manifest["hexad_version"],
        manifest["created_at"],
    )
    windows = told(path, "windows.json")["windows"]
    assert [("tuesday", 3, 4), ("monday", 9, 12)] == [
        (window["session_id"], window["start_tick"], window["end_tick"]) for window in windows
    ]
    assert [] == hx.xdb.verify_export("graft-1")
    assert {0o600} == {file.stat().st_mode & 0o777 for file in path.iterdir()}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_secret_that_is_spread_over_tokens_is_not_in_the_package(hx, sealed):
    parts = ["My key is ", SECRET[:8], SECRET[8:20], SECRET[20:], ". Keep it."]
    for part in parts:
        hx.xdb.record("output", part, event_id="leak")
    if sealed:
        hx.xdb.seal()
    # The evidence begins in the middle of it.
    hx.xdb.tag("Curiosity", tick_range=(23, 25))
    hx.xdb.submit_graft("Curiosity", "graft-2")

    path = hx.xdb.export_submission("graft-2")

    contents = [row["content"] for row in rows_of(path) if row["tick"] > 20]
    assert ["", "", ". Keep it."] == contents
    hx.xdb.tag("Curiosity", tick_range=(21, 22))
    hx.xdb.submit_graft("Curiosity", "graft-3")
    whole = "".join(
        row["content"] for row in rows_of(hx.xdb.export_submission("graft-3")) if row["tick"] > 20
    )
    assert "My key is [REDACTED:github-token]. Keep it." == whole


def test_evidence_with_many_concepts_and_none_is_written(hx):
    hx.xdb.start_session("many")
    for number in range(30):
        hx.xdb.record(
            "input",
            'it\'s "this"\n',
            {f"p::'{number}.{index}": (index + 1) / 16 for index in range(number % 11)},
        )
    hx.xdb.tag("Curiosity", tick_range=(1, 30))
    hx.xdb.submit_graft("Curiosity", "graft-2")

    rows = [row for row in rows_of(hx.xdb.export_submission("graft-2")) if row["session_id"] == "many"]

    assert [dict(record.concept_activations) for record in hx.xdb.recall()] == [
        row["concept_activations"] for row in rows
    ]


def test_what_an_agent_may_not_see_is_in_no_package_and_no_window(hx, opened, monkeypatch):
    monkeypatch.setenv("HEXAD_LENSES", "pack::Odd")
    narrow = opened()

    concepts = [row["concept_activations"] for row in rows_of(narrow.xdb.export_submission("graft-1"))]
    assert [{"pack::Odd": 0.5}, {}, {"pack::Odd": 0.5}, {}, {"pack::Odd": 0.5}, {}] == concepts
    narrow.xdb.resolve_submission("graft-1", True)
    shown = narrow.xdb.get_windows_for_submission("graft-1")
    assert {"pack::Odd"} == {concept for window in shown for concept in window.top_k_activations}

    monkeypatch.delenv("HEXAD_LENSES")
    [first, _] = opened().xdb.get_windows_for_submission("graft-1")
    assert {"pack::Odd": 0.5, "pack::3": 0.25} == first.top_k_activations


# Again and elsewhere ------------------------------------------------------------------------------------------------


def stamps(path: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in path.iterdir()}


def test_a_package_that_says_the_same_stays_as_it_is(hx, clock):
    path = hx.xdb.export_submission("graft-1")
    before = stamps(path)
    clock.advance(days=1)

    assert path == hx.xdb.export_submission("graft-1")

    assert before == stamps(path)
    assert ["graft-1"] == [file.name for file in path.parent.iterdir()]


def test_a_package_is_renewed_when_there_is_more_to_say(hx):
    path = hx.xdb.export_submission("graft-1")
    hx.xdb.comment("And this.", timestep_id="ts-monday-9")

    hx.xdb.export_submission("graft-1")

    assert ["Look at this.", "And this."] == [
        comment["content"] for comment in told(path, "tags.json")["comments"]
    ]
    assert ["graft-1"] == [file.name for file in path.parent.iterdir()]
    assert [] == hx.xdb.verify_export("graft-1")


def test_a_damaged_package_is_renewed(hx):
    path = hx.xdb.export_submission("graft-1")
    (path / "tags.json").write_text("{}")
    hx.xdb.export_submission("graft-1")
    assert [] == hx.xdb.verify_export("graft-1")
    (path / "manifest.json").unlink()
    hx.xdb.export_submission("graft-1")
    assert [] == hx.xdb.verify_export("graft-1")


def test_after_the_answer_a_package_is_written_as_long_as_the_evidence_is_there(hx):
    path = hx.xdb.export_submission("graft-1")
    hx.xdb.resolve_submission("graft-1", False)

    hx.xdb.export_submission("graft-1")
    assert "rejected" == told(path, "manifest.json")["submission"]["status"]
    for window_id in hx.xdb.get_submission("graft-1").window_ids:
        hx.xdb.unpin_window(window_id)
    for session in ("monday", "tuesday"):
        compact_all(hx, session)

    with pytest.raises(Conflict) as refused:
        hx.xdb.export_submission("graft-1")
    for words in ("'graft-1'", "rejected", "not in full detail any more", "Export before", str(path)):
        assert words in str(refused.value)
    assert [] == hx.xdb.verify_export("graft-1")


def test_a_package_can_be_written_elsewhere(hx, tmp_path):
    place = tmp_path / "tribe" / "evidence's"

    assert place == hx.xdb.export_submission("graft-1", place)

    assert [] == hx.xdb.verify_export(place)
    assert [] == hx.xdb.verify_export(str(place))
    assert not (hx.path / "exports").exists()


@pytest.mark.parametrize("there", ["a file", "a folder", "another package"])
def test_nothing_else_is_written_over(hx, tmp_path, there):
    place = tmp_path / "place"
    if there == "a file":
        place.write_text("mine")
    elif there == "a folder":
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    else:
        hx.xdb.submit_graft("Curiosity", "graft-2")
        hx.xdb.export_submission("graft-2", place)
    before = (
        {path.name: path.read_bytes() for path in place.iterdir()} if place.is_dir() else place.read_bytes()
    )

    with pytest.raises(Conflict, match="is there and no package of submission 'graft-1'"):
        hx.xdb.export_submission("graft-1", place)
    assert before == (
        {path.name: path.read_bytes() for path in place.iterdir()} if place.is_dir() else place.read_bytes()
    )


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("/", Conflict),
        ("", InvalidInput),
        ("a\0b", InvalidInput),
        (7, InvalidInput),
        ("x" * 300, StorageFailure),
    ],
)
def test_a_place_that_cannot_be_is_refused(hx, place, error):
    with pytest.raises(error):
        hx.xdb.export_submission("graft-1", place)
    if place == "/":
        assert ["manifest.json is missing."] == hx.xdb.verify_export(place)
    else:
        with pytest.raises(error):
            hx.xdb.verify_export(place)


def test_a_submission_that_was_never_made_has_no_package(hx):
    with pytest.raises(NotFound, match="'graft-9'"):
        hx.xdb.export_submission("graft-9")
    with pytest.raises(NotFound, match="no package 'graft-1'; `export_submission`"):
        hx.xdb.verify_export("graft-1")
    with pytest.raises(NotFound, match="no package"):
        hx.xdb.verify_export("../..//nowhere")


# Verifying --------------------------------------------------------------------------------------------------------


def change(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


@pytest.mark.row("H177")
@pytest.mark.parametrize("name", ["timesteps.parquet", "tags.json", "windows.json"])
def test_what_was_done_to_a_package_is_told(hx, name):
    path = hx.xdb.export_submission("graft-1")
    change(path / name)
    [problem] = hx.xdb.verify_export("graft-1")
    assert f"{name} was changed" in problem
    (path / name).unlink()
    assert [f"{name} is missing."] == hx.xdb.verify_export("graft-1")
    (path / "more.txt").write_text("more")
    assert [f"{name} is missing.", "more.txt does not belong to the package."] == hx.xdb.verify_export(
        "graft-1"
    )


def forge(path: Path, manifest: dict) -> None:
    """Write another manifest, with a hash of its own that is right."""
    before = {key: value for key, value in manifest.items() if key != "sha256"}
    digest = hashlib.sha256((json.dumps(before, ensure_ascii=False, indent=2) + "\n").encode()).hexdigest()
    text = json.dumps(before | {"sha256": digest}, ensure_ascii=False, indent=2) + "\n"
    (path / "manifest.json").write_text(text, "utf-8")


@pytest.mark.row("H177")
def test_every_byte_of_the_manifest_counts(hx):
    path = hx.xdb.export_submission("graft-1")
    place = path / "manifest.json"
    data = place.read_bytes()

    unnoticed = []
    for at, byte in enumerate(data):
        place.write_bytes(data[:at] + bytes([byte ^ 1]) + data[at + 1 :])
        if not hx.xdb.verify_export("graft-1"):
            unnoticed.append(at)
    assert [] == unnoticed


@pytest.mark.row("H177")
@pytest.mark.parametrize("key", ["submission", "bud", "created_at", "hexad_version", "windows", "sha256"])
def test_what_a_manifest_says_of_itself_cannot_be_changed_alone(hx, key):
    path = hx.xdb.export_submission("graft-1")
    manifest = told(path, "manifest.json")
    (path / "manifest.json").write_text(
        json.dumps(manifest | {key: "other"}, ensure_ascii=False, indent=2) + "\n"
    )

    assert ["manifest.json was changed: its SHA-256 is not that of what it says."] == hx.xdb.verify_export(
        "graft-1"
    )


def test_a_manifest_that_counts_wrongly_is_told(hx):
    path = hx.xdb.export_submission("graft-1")
    manifest = told(path, "manifest.json")
    manifest["counts"] |= {"timesteps": 7, "comments": 0}
    forge(path, manifest)

    assert [
        "manifest.json says 7 timesteps, there are 6.",
        "manifest.json says 0 comments, there are 1.",
    ] == hx.xdb.verify_export("graft-1")


@pytest.mark.parametrize(
    ("text", "words"), [("", "cannot be read"), ("[]", "no object"), ("{}", "no evidence package"), ("[" * 99_999, "cannot be read")]
)  # fmt: skip
def test_a_manifest_that_is_none_is_told(hx, text, words):
    path = hx.xdb.export_submission("graft-1")
    (path / "manifest.json").write_text(text)

    [problem] = hx.xdb.verify_export("graft-1")
    assert "manifest.json" in problem
    assert words in problem


def test_files_whose_hashes_were_forged_are_looked_into(hx):
    path = hx.xdb.export_submission("graft-1")
    for name in ("timesteps.parquet", "windows.json"):
        (path / name).write_text("{]")
    manifest = told(path, "manifest.json")
    entry = {"bytes": 2, "sha256": "04a71a2c3f8d9ab7e5d5ae1c5e1a3c3c1e0e0b9b5a3f2d8c6a3c4b5d6e7f8091"}
    manifest["files"] |= {"timesteps.parquet": entry, "windows.json": entry}
    forge(path, manifest)
    assert 2 == len([item for item in hx.xdb.verify_export("graft-1") if "was changed" in item])
    entry["sha256"] = hashlib.sha256(b"{]").hexdigest()
    forge(path, manifest)

    [problem] = hx.xdb.verify_export("graft-1")
    assert "timesteps.parquet" in problem


# Faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["mkdir", "open", "write", "fdatasync", "rename", "fsync_dir"])
def test_on_a_full_disk_there_is_the_old_package_or_none(hx, operation):
    def refuse(doing: str, path: Path) -> None:
        if doing == operation and "exports" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    previous = files.set_hook(refuse)
    try:
        with pytest.raises(StorageFailure, match="disk is full"):
            hx.xdb.export_submission("graft-1")
    finally:
        files.set_hook(previous)
    exports = hx.path / "exports"
    left = [path.name for path in exports.iterdir()] if exports.exists() else []
    assert left in ([], ["graft-1"])
    assert [] == hx.xdb.verify_export(hx.xdb.export_submission("graft-1"))


def test_what_a_killed_export_left_is_removed_or_put_back(hx):
    path = hx.xdb.export_submission("graft-1")
    half = path.with_name(".graft-1.0123456789ab.tmp")
    half.mkdir()
    (half / "timesteps.parquet").write_text("half")
    path.rename(path.with_name(".graft-1.before.tmp"))

    assert [] == hx.xdb.verify_export("graft-1")
    hx.xdb.export_submission("graft-1")

    assert ["graft-1"] == [file.name for file in path.parent.iterdir()]


@pytest.mark.row("H177")
def test_the_times_of_a_package_open_in_duckdb_as_they_are(hx: Hexad) -> None:
    package = hx.xdb.export_submission("graft-1")

    with duckdb.connect() as con:  # a column with a time zone needs a module that nobody installs with it
        rows = con.execute(
            "SELECT id, timestamp, typeof(timestamp) FROM read_parquet(?)",
            [str(package / "timesteps.parquet")],
        ).fetchall()

    assert rows and {"TIMESTAMP"} == {kind for _, _, kind in rows}
    assert {step: hx.xdb.get_timestep(step).timestamp for step, _, _ in rows} == {  # type: ignore[union-attr]
        step: time.replace(tzinfo=UTC) for step, time, _ in rows
    }
