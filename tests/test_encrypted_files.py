"""Files beside the databases of an encrypted store: none shows anything, each is read again, damage is found."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import duckdb
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import hexad
from hexad import AccessDenied, Conflict, Hexad, IntegrityError, InvalidInput, NotFound
from hexad.database.encryption.cipher import HEADER_BYTES, is_sealed, sealed_block_bytes
from hexad.experience.stream import segment_files
from opener import Opener
from programs import command

CANARY = "heron-canary"


@pytest.fixture
def encrypted() -> bool:
    return True


@pytest.fixture
def hx(hx: Hexad) -> Hexad:
    """A store whose every part says the canary: memories, steps, tags, comments, documents, files, evidence."""
    for number in range(30):
        hx.remember(f"{CANARY} {number} rests at the weir.", space="birds", tags=[f"{CANARY}-tag"])
    hx.xdb.start_session("monday", compaction=False)
    for number in range(1, 41):
        hx.xdb.record(
            "output", f"{CANARY} step {number} ", {f"birds::{CANARY}": 0.5}, event_id=f"{CANARY} {number // 10}",
            role=CANARY,
        )  # fmt: skip
    hx.xdb.seal()
    for number in range(5):
        hx.xdb.record("input", f"{CANARY} unsealed {number}", {})
    hx.xdb.flush()
    hx.xdb.create_bud_tag("Watching", f"A {CANARY}.", related_concepts=[f"birds::{CANARY}"])
    hx.xdb.tag("Watching", tick_range=(3, 9), note=CANARY)
    hx.xdb.comment(f"{CANARY} again.", tick_range=(4, 4))
    hx.xdb.documents.add_document("birds.md", f"The {CANARY} stands still.", "specification")
    hx.spaces.write_file("birds")
    hx.spaces.export("birds")
    hx.xdb.submit_graft("Watching", "graft-1")
    hx.xdb.export_submission("graft-1")
    hx.recall(CANARY)
    hx.maintain()
    return hx


def files_of(hx: Hexad) -> list[Path]:
    return sorted(path for path in hx.path.rglob("*") if path.is_file())


def rows_of(parquet: bytes, folder: Path) -> int:
    copy = folder / "shown.parquet"
    copy.write_bytes(parquet)
    with duckdb.connect() as con:
        found = con.execute("SELECT count(*) FROM read_parquet(?)", [str(copy)]).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize("closed", [False, True])
def test_no_file_of_an_encrypted_store_shows_what_it_holds(hx: Hexad, closed: bool) -> None:
    if closed:
        hx.close()
    found = files_of(hx)
    names = {path.relative_to(hx.path).parts[0] for path in found}
    assert {"memory.db", "stream", "documents", "spaces", "exports"} <= names
    for path in found:
        data = path.read_bytes()
        for shown in (CANARY.encode(), CANARY.encode("utf-16-le"), b"PAR1", b"SQLite format 3"):
            assert shown not in data, path


def test_every_file_beside_the_databases_is_sealed_and_the_store_checks_well(hx: Hexad) -> None:
    folders = ("documents", "spaces", "exports", "cache", "stream/segments")
    sealed = [path for folder in folders for path in (hx.path / folder).rglob("*") if path.is_file()]
    assert len(sealed) >= 8
    for path in sealed:
        assert is_sealed(path.read_bytes()) is not path.name.endswith(".lock"), path
    assert [] == hx.check()


def test_what_is_said_in_them_can_be_asked_for_as_ever(hx: Hexad) -> None:
    assert 45 == len(hx.xdb.recall(limit=100))
    assert 40 == len(hx.xdb.recall_by_concept(f"birds::{CANARY}", limit=100))
    assert {f"{CANARY} {number}" for number in range(5)} == {
        recall_event.event_id for recall_event in hx.xdb.recall_events(f"{CANARY} step")
    }
    assert [] == hx.xdb.verify_export("graft-1")
    assert ["birds.md"] == [document.path for document in hx.xdb.documents.search(text_query="stands")]
    assert 30 == hx.spaces.read_file(hx.path / "spaces" / "birds.json", dry_run=True).unchanged


# Decrypted ----------------------------------------------------------------------------------------------------------


def test_the_owner_reads_a_sealed_file_and_nothing_is_written(hx: Hexad, tmp_path: Path) -> None:
    before = files_of(hx)

    def shown(path: Path) -> bytes:
        return b"".join(hx.decrypted(path))

    assert (
        f"The {CANARY} stands still." == shown(hx.xdb.documents.file(hx.xdb.documents.all()[0].id)).decode()
    )
    assert 30 == len(json.loads(shown(hx.path / "spaces" / "birds.json"))["objects"])
    (segment,) = (hx.path / "stream" / "segments").glob("*.parquet")
    assert 40 == rows_of(shown(segment), tmp_path)
    package = hx.path / "exports" / "graft-1"
    assert 7 == rows_of(shown(package / "timesteps.parquet"), tmp_path)
    manifest = json.loads(shown(package / "manifest.json"))
    for name, entry in manifest["files"].items():  # what it says is of what anybody can read
        data = shown(package / name)
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    moved = tmp_path / "moved"
    moved.write_bytes((hx.path / "spaces" / "birds.json").read_bytes())
    assert shown(moved) == shown(hx.path / "spaces" / "birds.json")
    assert before == files_of(hx)


def test_a_command_writes_the_content_of_a_sealed_file(hx: Hexad, project: Path) -> None:
    hx.close()
    file = next((project / ".hexad" / "documents").rglob("birds.md"))

    done = command("cat", file, cwd=project)
    assert (0, f"The {CANARY} stands still.") == (done.returncode, done.stdout)
    told = json.loads(command("--json", "cat", file, cwd=project).stdout)
    assert len(done.stdout.encode()) == told["bytes"]
    assert hashlib.sha256(done.stdout.encode()).hexdigest() == told["sha256"]
    assert 2 == command("cat", project / ".hexad" / "encryption.json", cwd=project).returncode


def test_what_is_no_file_of_the_owner_is_not_decrypted(hx: Hexad, opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("plain")
    hx.spaces.export("birds", tmp_path / "export.json")  # makes the key that signs
    with pytest.raises(InvalidInput, match="not an encrypted file"):
        hx.decrypted(tmp_path / "plain")
    with pytest.raises(NotFound):
        hx.decrypted(tmp_path / "nowhere")
    for wrong in (5, None, b"plain"):
        with pytest.raises(InvalidInput, match="give a path"):
            hx.decrypted(wrong)
    assert is_sealed((hx.path / "keys.json").read_bytes())
    with pytest.raises(AccessDenied, match="keys or records of the ledger"):
        hx.decrypted(hx.path / "keys.json")
    file = hx.path / "spaces" / "birds.json"
    damaged = bytearray(file.read_bytes())
    damaged[-20] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(IntegrityError, match="cannot be decrypted"):
        b"".join(hx.decrypted(tmp_path / "damaged"))
    hx.spaces.set_policy("birds", {"visibility": [{"paths": ["**/secret*"], "roles": ["lead"]}]})
    with opened(role="writer") as agent, pytest.raises(AccessDenied):
        agent.decrypted(file)


def test_who_has_the_key_reads_the_files_by_what_the_documentation_says(hx: Hexad, tmp_path: Path) -> None:
    """docs/architecture.md, "Encrypted files", and nothing of ours."""
    copy = hx.xdb.documents.file(hx.xdb.documents.all()[0].id).read_bytes()
    (segment,) = (hx.path / "stream" / "segments").glob("*.parquet")
    (log,) = (hx.path / "stream" / "log").glob("*.log")
    log_data = log.read_bytes()
    said = json.loads((hx.path / "encryption.json").read_bytes())

    def derived(key: bytes, info: bytes, salt: bytes | None = None) -> bytes:
        return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(key)

    wrapped = bytes.fromhex(said["wrapped"])
    bound = {name: said[name] for name in ("version", "id", "provider", "key_file", "salt", "scrypt")}
    wrapping = derived((tmp_path / "key").read_bytes(), b"hexad/wrap", bytes.fromhex(said["salt"]))
    data_key = AESGCM(wrapping).decrypt(
        wrapped[:12], wrapped[12:], json.dumps(bound, sort_keys=True, separators=(",", ":")).encode()
    )

    def content(data: bytes, purpose: bytes) -> bytes:
        assert (b"HXSEALED", 1, 0, 65_536) == struct.unpack("<8sHHI", data[:16])
        key = AESGCM(derived(derived(data_key, b"hexad/" + purpose), b"file" + data[16:32]))
        places = range(32, len(data), 65_536 + 16)
        return b"".join(
            key.decrypt(struct.pack(">QI", number, at == places[-1]), data[at : at + 65_552], data[:32])
            for number, at in enumerate(places)
        )

    assert f"The {CANARY} stands still." == content(copy, b"documents").decode()
    assert 40 == rows_of(content(segment.read_bytes(), b"stream"), tmp_path)

    header = log_data[:44]
    assert (b"HXSTREAM", 2) == struct.unpack("<8sH", header[:10])
    assert zlib.crc32(header[:40]) == int.from_bytes(header[40:], "little")
    key = AESGCM(derived(derived(data_key, b"hexad/stream"), b"file" + header[24:40]))
    magic, size, rows, _strings, checksum, _ = struct.unpack("<4sIIIII", log_data[44:68])
    payload = log_data[68 : 68 + size]
    assert (b"\xf5HXF", 5, checksum) == (magic, rows, zlib.crc32(payload))
    plain = key.decrypt(struct.pack(">QI", 44, 0), payload, header + log_data[44:60])
    assert f"{CANARY} unsealed 0{CANARY} unsealed 1".encode() in plain


# Handed over --------------------------------------------------------------------------------------------------------


def test_what_is_written_outside_of_the_store_is_plain_and_comes_back(
    hx: Hexad, opened: Opener, tmp_path: Path
) -> None:
    inside = hx.spaces.export("birds", force=True).path
    outside = hx.spaces.export("birds", tmp_path / "birds.json").path
    assert 30 == hexad.verify_export(outside).objects
    with pytest.raises(AccessDenied, match="hexad cat"):
        hexad.verify_export(inside)
    package = hx.xdb.export_submission("graft-1", tmp_path / "package")
    assert "graft-1" == json.loads((package / "manifest.json").read_text())["submission"]["id"]
    assert 7 == rows_of((package / "timesteps.parquet").read_bytes(), tmp_path)
    assert [] == hx.xdb.verify_export(package)
    (tmp_path / "other").mkdir()
    other = opened(tmp_path / "other")
    assert [] == other.xdb.verify_export(package)
    (problem,) = other.xdb.verify_export(hx.path / "exports" / "graft-1")
    assert "encrypted, by another store" in problem
    assert 30 == other.spaces.restore(outside).read.created
    with pytest.raises(IntegrityError, match="by another store"):
        other.spaces.restore(inside)
    assert 30 == hx.spaces.restore(inside, merge=True).read.unchanged


def test_a_folder_that_becomes_a_link_while_the_store_is_open_gets_nothing_plain(
    opened: Opener, tmp_path: Path
) -> None:
    with opened() as hx:
        for name in ("documents", "spaces"):
            (tmp_path / "elsewhere" / name).mkdir(parents=True)
            (hx.path / name).symlink_to(tmp_path / "elsewhere" / name)
        hx.remember(f"{CANARY} rests at the weir.", space="birds")
        hx.xdb.documents.add_document("birds.md", f"The {CANARY} stands still.", "specification")
        hx.spaces.write_file("birds")
        written = [path for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()]
        assert ["birds.json", "birds.md"] == sorted(path.name for path in written)
        assert not [path for path in written if CANARY.encode() in path.read_bytes()]
        for name in ("documents", "spaces"):  # no store is opened with them
            (hx.path / name).unlink()
            (tmp_path / "elsewhere" / name).rename(hx.path / name)
        assert [] == hx.check()


def test_a_plain_file_where_the_store_has_its_own_is_refused(hx: Hexad, tmp_path: Path) -> None:
    space, document = hx.path / "spaces" / "birds.json", next((hx.path / "documents").rglob("birds.md"))
    export, package = hx.path / "exports" / "birds.json", hx.path / "exports" / "graft-1"
    was = {path: path.read_bytes() for path in (space, document, export, package / "tags.json")}
    plain = {path: b"".join(hx.decrypted(path)) for path in was}
    for path, data in plain.items():
        path.write_bytes(data)
    with pytest.raises(IntegrityError, match="is not encrypted, though its store is"):
        hx.spaces.read_file(space)
    with pytest.raises(IntegrityError, match="is not encrypted, though its store is"):
        hx.spaces.restore(export, name="again")
    with pytest.raises(Conflict, match="is no export"):
        hx.spaces.export("birds")
    assert any("is not encrypted" in problem for problem in hx.xdb.verify_export("graft-1"))
    document.write_bytes(plain[document].replace(b"still", b"up"))
    assert ["changed"] == [copy.state.value for copy in hx.xdb.documents.copies()]
    ((_, reason),) = hx.xdb.documents.read_copies().skipped
    assert "is not encrypted" in reason
    assert len(was) == sum("is not encrypted" in problem for problem in hx.check())
    # A file that the user names is another matter.
    (tmp_path / "birds.json").write_bytes(plain[space])
    assert 30 == hx.spaces.read_file(tmp_path / "birds.json").unchanged
    # And everything can be written anew.
    assert 1 == len(hx.xdb.documents.write_copies())
    hx.spaces.write_file("birds")
    hx.spaces.export("birds", force=True)
    hx.xdb.export_submission("graft-1")
    assert [] == hx.xdb.verify_export("graft-1")
    assert all(is_sealed(path.read_bytes()) for path in was)


# Damage -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def segment(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> tuple[Hexad, Path]:
    """A store with one segment of many blocks."""
    monkeypatch.setattr(segment_files, "SIDE_ROWS", 10)
    hx = opened()
    hx.xdb.start_session("monday", compaction=False)
    hx.xdb.record_many(
        [
            {"event_type": "output", "content": hashlib.shake_256(b"%d" % at).hexdigest(200),
             "concept_activations": {"birds::Heron": at % 97 / 97}}
            for at in range(4_000)
        ]
    )  # fmt: skip
    hx.xdb.seal()
    (path,) = (hx.path / "stream" / "segments").glob("*.parquet")
    return hx, path


@pytest.mark.parametrize("what", ["one bit", "two blocks", "cut", "of another file"])
def test_a_block_of_a_segment_that_is_not_its_own_is_found(segment: tuple[Hexad, Path], what: str) -> None:
    hx, path = segment
    was = path.read_bytes()
    step = sealed_block_bytes()
    blocks = [was[HEADER_BYTES + step * at :][:step] for at in range(len(was) // step + 1)]
    assert len(blocks) > 4
    if what == "one bit":
        blocks[2] = blocks[2][:77] + bytes([blocks[2][77] ^ 1]) + blocks[2][78:]
    elif what == "two blocks":
        blocks[1], blocks[2] = blocks[2], blocks[1]
    elif what == "cut":
        del blocks[3:]
    else:
        other = next((hx.path / "stream" / "segments").glob("*.tops")).read_bytes()
        blocks[1] = other[HEADER_BYTES:][:step]
    path.write_bytes(was[:HEADER_BYTES] + b"".join(blocks))

    found = hx.xdb.recall(limit=10_000)
    assert len(found) < 4_000
    assert path.name in found.notes[0]
    (problem,) = hx.check()
    assert path.name in problem
    assert "was changed or damaged" in problem

    path.write_bytes(was)
    assert 4_000 == len(hx.xdb.recall(limit=10_000))
    assert [] == hx.check()


def test_a_segment_of_another_store_is_refused(
    segment: tuple[Hexad, Path], opened: Opener, tmp_path: Path
) -> None:
    hx, path = segment
    was = path.read_bytes()
    (tmp_path / "other").mkdir()
    with hexad.open(tmp_path / "other", key=tmp_path / "key", embedder=None, background=False) as other:
        other.xdb.start_session("monday", compaction=False)
        other.xdb.record("output", "not from here")
        other.xdb.seal()
        (theirs,) = (other.path / "stream" / "segments").glob("*.parquet")
        path.write_bytes(theirs.read_bytes())
    found = hx.xdb.recall()
    assert ([], True) == (list(found), path.name in found.notes[0])
    path.write_bytes(was)


def test_a_recall_from_a_plain_store_loads_nothing_of_encryption(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("A heron rests at the weir.")
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "A heron.", {"birds::Heron": 0.5})
        hx.xdb.seal()
    code = (
        "import hexad, sys\n"
        "with hexad.open(sys.argv[1], embedder=None, background=False) as hx:\n"
        "    assert hx.recall('heron')\n"
        "    loaded = {'cryptography', 'fsspec'} & sys.modules.keys()\n"
        "    assert hx.xdb.recall()\n"
        "print(sorted(loaded), 'fsspec' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ("[] False\n", "") == (done.stdout, done.stderr)
