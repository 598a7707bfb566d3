"""Signed exports: what they hold, what they prove, and that what was exported can be brought back anywhere."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import FrozenClock, Hexad
from opener import Opener
from test_space_files import RUNTIME, fill, folder, handbook

AT = "2026-02-03T04:05:06Z"


def bundle_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def exported(hx: Hexad, tmp_path: Path) -> Path:
    """An export of a space that uses every field."""
    fill(hx)
    return hx.spaces.export("docs", tmp_path / "docs.json", freeze_clock=AT).path


# Exporting --------------------------------------------------------------------------------------------------------


@pytest.mark.row("L051", "L052")
def test_an_export_is_one_json_file_signed_over_space_and_content(hx: Hexad, exported: Path) -> None:
    bundle = bundle_of(exported)
    document = json.loads(hx.spaces.write_file("docs").read_text(encoding="utf-8"))

    assert [
        "format", "version", "space", "exported_at", "content_hash", "public_key", "signature", "document",
    ] == list(bundle)  # fmt: skip
    assert ("hexad.space-export", 1, "docs", AT) == tuple(
        bundle[key] for key in ("format", "version", "space", "exported_at")
    )
    assert document == bundle["document"]
    assert bundle["content_hash"] == by_hand(document)


def by_hand(document: object) -> str:
    """The hash that the documentation describes, made without Hexad."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.row("L052")
def test_what_is_signed_can_be_checked_with_nothing_but_the_documentation(exported: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    bundle = bundle_of(exported)
    signed = {key: bundle[key] for key in bundle if key not in {"signature", "document"}}
    statement = json.dumps(signed, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(bundle["public_key"]))
    key.verify(
        bytes.fromhex(bundle["signature"]), b"hexad space export, signed statement 1\n" + statement.encode()
    )


@pytest.mark.row("L004", "L051")
def test_the_same_state_at_the_same_time_gives_the_same_bytes(
    hx: Hexad, exported: Path, tmp_path: Path
) -> None:
    hx.recall("tide tables")
    hx.maintain()

    again = hx.spaces.export("docs", tmp_path / "again.json", freeze_clock=AT)

    assert exported.read_bytes() == again.path.read_bytes()
    assert again.content_hash == bundle_of(exported)["content_hash"]


@pytest.mark.row("L046")
def test_an_export_goes_where_the_policy_says(hx: Hexad, project: Path) -> None:
    hx.remember("A text.", space="team/docs")

    default = hx.spaces.export("team/docs").path
    found = []
    for path in ("exports/docs.json", "out/<space>.json", "shared/"):
        hx.spaces.set_policy("team/docs", {"export_path": path})
        found.append(hx.spaces.export("team/docs").path)

    assert hx.path / "exports" / "team%2Fdocs.json" == default
    assert [
        project / "exports/docs.json",
        project / "out/team%2Fdocs.json",
        project / "shared/team%2Fdocs.json",
    ] == found
    assert all(path.is_file() for path in found)


@pytest.mark.row("L046")
def test_a_policys_path_leads_neither_out_of_the_project_nor_into_the_store(
    hx: Hexad, project: Path, tmp_path: Path
) -> None:
    hx.remember("A text.", space="docs")
    folder(tmp_path, "outside")
    (project / "way-out").symlink_to(tmp_path / "outside")

    for path in ("way-out/docs.json", ".hexad/keys.json", ".hexad/spaces/docs.json"):
        hx.spaces.set_policy("docs", {"export_path": path})
        with pytest.raises(hexad.InvalidInput, match="export_path"):
            hx.spaces.export("docs")
    hx.spaces.set_policy("docs", {})
    (hx.path / "exports").symlink_to(tmp_path / "outside")
    with pytest.raises(hexad.InvalidInput, match="outside"):
        hx.spaces.export("docs")
    (hx.path / "exports").unlink()

    assert [] == list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("what", ["text", "another export", "a space file"])
def test_an_export_replaces_nothing_but_an_export_of_its_space(hx: Hexad, tmp_path: Path, what: str) -> None:
    hx.remember("A text.", space="docs")
    hx.remember("A text.", space="other")
    file = tmp_path / "there.json"
    if what == "text":
        file.write_text("shopping: milk")
    elif what == "another export":
        hx.spaces.export("other", file)
    else:
        shutil.copy(hx.spaces.write_file("docs"), file)
    before = file.read_bytes()

    with pytest.raises(hexad.Conflict, match="force"):
        hx.spaces.export("docs", file)
    assert before == file.read_bytes()

    hx.spaces.export("docs", file, force=True)
    hx.remember("Another text.", space="docs")
    hx.spaces.export("docs", file)
    assert 2 == hexad.verify_export(file).objects


def test_an_export_is_private_unless_the_file_that_it_replaces_was_not(hx: Hexad, tmp_path: Path) -> None:
    hx.remember("A text.", space="docs")
    file = tmp_path / "docs.json"
    hx.spaces.export("docs", file)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)

    file.chmod(0o644)
    hx.spaces.export("docs", file)

    assert 0o644 == stat.S_IMODE(file.stat().st_mode)


def test_an_export_to_a_folder_is_refused(hx: Hexad, tmp_path: Path) -> None:
    hx.remember("A text.", space="docs")

    with pytest.raises(hexad.InvalidInput, match="Name a file"):
        hx.spaces.export("docs", tmp_path)
    with pytest.raises(hexad.NotFound):
        hx.spaces.export("nowhere", tmp_path / "x.json")
    assert [] == [path.name for path in tmp_path.iterdir() if path.suffix == ".json"]


def test_archived_memories_can_be_left_out(hx: Hexad, exported: Path, tmp_path: Path) -> None:
    less = hx.spaces.export("docs", tmp_path / "less.json", include_archived=False)

    ids = [entry["id"] for entry in bundle_of(less.path)["document"]["objects"]]
    assert "d-archived" not in ids
    assert {*ids, "d-archived"} == {element["id"] for element in bundle_of(exported)["document"]["objects"]}


@pytest.mark.row("L060")
def test_an_export_and_a_restore_are_recorded_with_who_did_it(
    opened: Opener, exported: Path, tmp_path: Path
) -> None:
    there = opened(folder(tmp_path, "there"))
    there.spaces.restore(exported)
    there.spaces.export("docs", tmp_path / "again.json")

    script = (
        "import json, sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "print(json.dumps([[w, json.loads(d)] for w, d in c.execute('SELECT what, detail FROM maintenance_log')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(there.path / "memory.db")],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = json.loads(done.stdout)

    assert ["restore", "export"] == [what for what, _ in rows]
    assert {("owner", "docs")} == {(detail["by"], detail["space"]) for _, detail in rows}
    assert 4 == rows[0][1]["created"]
    assert "green" not in done.stdout


# Verifying --------------------------------------------------------------------------------------------------------


@pytest.mark.row("L052")
def test_an_export_verifies_in_a_process_without_a_store(exported: Path, tmp_path: Path) -> None:
    code = (
        "import sys, json, hexad; v = hexad.verify_export(sys.argv[1]);"
        "print(json.dumps(v.to_dict())); import os; print(os.listdir('.'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(exported)],
        cwd=folder(tmp_path, "elsewhere"), check=True, capture_output=True, text=True,
    )  # fmt: skip
    said, files = done.stdout.splitlines()
    verified = json.loads(said)

    assert ("docs", 4, AT, False, "[]") == (
        verified["space"], verified["objects"], verified["exported_at"], verified["trusted"], files,
    )  # fmt: skip


def test_a_trusted_key_is_the_only_one_that_will_do(opened: Opener, exported: Path, tmp_path: Path) -> None:
    stranger = opened(folder(tmp_path, "stranger"))
    stranger.remember("A text.", space="docs")
    theirs = hexad.verify_export(stranger.spaces.export("docs", tmp_path / "theirs.json").path)
    mine = hexad.verify_export(exported)

    for key in (mine.public_key, mine.key_fingerprint, mine.key_fingerprint.upper()):
        assert hexad.verify_export(exported, trusted_key=key).trusted
    with pytest.raises(hexad.IntegrityError, match="another key"):
        hexad.verify_export(exported, trusted_key=theirs.key_fingerprint)
    with pytest.raises(hexad.InvalidInput, match="trusted_key"):
        hexad.verify_export(exported, trusted_key="my key")


def test_the_order_of_keys_and_the_layout_are_not_what_is_signed(exported: Path, tmp_path: Path) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(element) for element in value] if isinstance(value, list) else value

    file = tmp_path / "turned.json"
    file.write_text(json.dumps(turned(bundle_of(exported))), encoding="utf-8")

    assert (
        hexad.verify_export(exported).to_dict() | {"file": str(file)} == hexad.verify_export(file).to_dict()
    )


def _sign_again(bundle: dict[str, Any]) -> None:
    """Sign a changed bundle with another key, as somebody would who wants it to pass for the first."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    statement = {name: bundle[name] for name in bundle if name not in {"signature", "document"}}
    text = json.dumps(statement, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    bundle["signature"] = key.sign(b"hexad space export, signed statement 1\n" + text).hex()


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a text": lambda b: b["document"]["objects"][0].update(raw="Another text."),
    "a pin": lambda b: b["document"]["objects"][0].update(pinned=not b["document"]["objects"][0]["pinned"]),
    "1 for true": lambda b: [entry.update(pinned=int(entry["pinned"])) for entry in b["document"]["objects"]],
    "1.0 for 1": lambda b: b["document"]["policies"].update(ttl_days=30.0),
    "one object less": lambda b: b["document"]["objects"].pop(),
    "objects in another order": lambda b: b["document"]["objects"].reverse(),
    "a policy more": lambda b: b["document"]["policies"].update(allow_delete=True),
    "the hash too": lambda b: (b["document"].update(metadata={}), b.update(content_hash=by_hand(b["document"]))),
    "the space": lambda b: (b.update(space="other"), b["document"].update(name="other")),
    "the space outside alone": lambda b: b.update(space="other"),
    "the time": lambda b: b.update(exported_at="2027-02-03T04:05:06Z"),
    "the key": lambda b: b.update(public_key="ab" * 32),
    "the signature": lambda b: b.update(signature="cd" * 64),
    "an upper-case signature": lambda b: b.update(signature=b["signature"].upper()),
    "a shorter signature": lambda b: b.update(signature=b["signature"][:-2]),
    "no signature": lambda b: b.pop("signature"),
    "a key more": lambda b: b.update(note="trust me"),
    "the version": lambda b: b.update(version=2),
    "true for the version": lambda b: b.update(version=True),
    "the format": lambda b: b.update(format="hexad.other"),
    "no document": lambda b: b.update(document=None),
    "signed by another, under the first key": _sign_again,
}  # fmt: skip


@pytest.mark.row("L052")
@pytest.mark.parametrize("what", FORGERIES)
def test_no_forgery_verifies_and_none_is_restored(
    opened: Opener, exported: Path, tmp_path: Path, what: str
) -> None:
    bundle = bundle_of(exported)
    FORGERIES[what](bundle)
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(bundle, ensure_ascii=False), encoding="utf-8")
    there = opened(folder(tmp_path, "there"))

    with pytest.raises(hexad.IntegrityError, match=r"does not verify: "):
        hexad.verify_export(file)
    with pytest.raises(hexad.IntegrityError):
        there.spaces.restore(file)

    assert [] == list(there.spaces.list())


def test_a_signature_of_another_export_does_not_fit(hx: Hexad, exported: Path, tmp_path: Path) -> None:
    bundle = bundle_of(exported)
    hx.remember("One more.", space="docs")
    other = bundle_of(hx.spaces.export("docs", tmp_path / "other.json", freeze_clock=AT).path)
    file = tmp_path / "swapped.json"
    file.write_text(json.dumps({**bundle, "signature": other["signature"]}), encoding="utf-8")

    with pytest.raises(hexad.IntegrityError, match="signature"):
        hexad.verify_export(file)


def test_every_single_change_of_a_byte_is_seen_or_changes_nothing(exported: Path, tmp_path: Path) -> None:
    good, genuine = exported.read_bytes(), bundle_of(exported)
    chance = random.Random(7)
    file = tmp_path / "damaged.json"
    seen = 0
    for at in chance.sample(range(len(good)), 700):
        damaged = bytearray(good)
        match chance.randrange(3):
            case 0:
                damaged[at] ^= 1 << chance.randrange(7)
            case 1:
                del damaged[at : at + chance.randrange(1, 4)]
            case _:
                damaged[at:at] = bytes([chance.choice(b'0a" ,')])
        file.write_bytes(damaged)
        try:
            hexad.verify_export(file)
        except hexad.IntegrityError:
            seen += 1
        else:
            assert genuine == json.loads(damaged), at
    assert seen > 500


def test_a_cut_export_never_verifies(exported: Path, tmp_path: Path) -> None:
    good = exported.read_bytes().rstrip()
    file = tmp_path / "cut.json"
    for at in [0, 1, 2, *range(5, len(good), 97), len(good) - 1]:
        file.write_bytes(good[:at])
        with pytest.raises(hexad.IntegrityError):
            hexad.verify_export(file)


# Restoring --------------------------------------------------------------------------------------------------------


@pytest.mark.row("L053", "L156")
def test_what_was_exported_comes_back_elsewhere_as_it_was(opened: Opener, tmp_path: Path) -> None:
    here, there = (
        opened(),
        opened(folder(tmp_path, "there"), clock=FrozenClock(datetime(2030, 1, 1, tzinfo=UTC))),
    )
    fill(here)
    here.ingest(handbook(tmp_path), space="docs")
    file = here.spaces.export("docs", tmp_path / "docs.json").path

    report = there.spaces.restore(file, policies=True)

    assert (report.read.objects, 0, False) == (report.read.created, report.read.unchanged, report.dry_run)
    assert here.spaces.write_file("docs").read_bytes() == there.spaces.write_file("docs").read_bytes()
    old, new = here.spaces.get("docs"), there.spaces.get("docs")
    assert (old.metadata, old.policies, old.created_at, old.updated_at, old.memories, old.archived) == (
        new.metadata, new.policies, new.created_at, new.updated_at, new.memories, new.archived,
    )  # fmt: skip
    answers = [[hit.memory.id for hit in hx.recall("trim the wick", space="docs")] for hx in (here, there)]
    assert answers[0][0] == answers[1][0]
    assert set(answers[1]) <= set(answers[0])  # vectors are not exported
    assert "Old tide tables." == there.restore("d-archived").raw


def test_a_restored_lexon_space_is_still_what_lexon_wrote(opened: Opener, tmp_path: Path) -> None:
    here, there = opened(), opened(folder(tmp_path, "there"))
    here.spaces.read_file(RUNTIME, policies=True)

    there.spaces.restore(here.spaces.export("runtime", tmp_path / "runtime.json").path)

    assert RUNTIME.read_bytes() == there.spaces.write_file("runtime").read_bytes()


POTENT: dict[str, object] = {
    "roles": ["lead"], "allow_delete": True, "auto_pin": [{"kinds": ["decision"]}], "env_allow": ["DATABASE_URL"],
    "pii_redaction": [], "protected_paths": [], "quarantine_trust": "none",
}  # fmt: skip


@pytest.fixture
def potent(opened: Opener, tmp_path: Path) -> hexad.ExportReport:
    """An export of a space with policies that let things in, by a store of somebody else."""
    sender = opened(folder(tmp_path, "sender"))
    sender.remember("Deploys happen on Tuesday.", space="docs", id="deploys")
    sender.spaces.set_policy("docs", POTENT)
    return sender.spaces.export("docs", tmp_path / "potent.json")


@pytest.mark.parametrize("merge", [False, True])
def test_an_export_by_an_unknown_key_brings_its_policies_only_when_asked(
    hx: Hexad, potent: hexad.ExportReport, merge: bool
) -> None:
    dry = hx.spaces.restore(potent.path, dry_run=True, merge=merge)
    report = hx.spaces.restore(potent.path, merge=merge)

    assert not report.verified.trusted
    assert {"roles": ["lead"]} == hx.spaces.get("docs").policies, "what hides something stays"
    (note,) = (note for note in report.read.notes if "left out" in note)
    assert f"6 policies were left out ({', '.join(sorted(set(POTENT) - {'roles'}))})" in note
    assert all(word in note for word in ("policies=True", "--policies", "trusted_key", "--trusted-key"))
    assert note in dry.read.notes


@pytest.mark.parametrize("by", ["policies", "fingerprint", "public key"])
def test_an_export_brings_all_its_policies_when_asked_or_by_a_trusted_key(
    hx: Hexad, potent: hexad.ExportReport, by: str
) -> None:
    key = {"fingerprint": potent.key_fingerprint, "public key": bundle_of(potent.path)["public_key"]}.get(by)

    report = hx.spaces.restore(potent.path, trusted_key=key, policies=by == "policies")

    assert hx.spaces.get("docs").policies == POTENT
    assert not [note for note in report.read.notes if "left out" in note]


def test_an_export_of_this_store_brings_its_policies_back_in_another_process_too(
    opened: Opener, tmp_path: Path
) -> None:
    hx = opened()
    hx.remember("Deploys happen on Tuesday.", space="docs")
    hx.spaces.set_policy("docs", POTENT)
    file = hx.spaces.export("docs", tmp_path / "own.json").path
    hx.spaces.delete("docs")
    hx.close()

    again = opened()
    report = again.spaces.restore(file)

    assert again.spaces.get("docs").policies == POTENT
    assert not [note for note in report.read.notes if "left out" in note]


@pytest.mark.parametrize("door", ["restore", "read_file"])
def test_policies_that_were_left_out_are_not_signed_as_this_stores_own(
    opened: Opener, potent: hexad.ExportReport, tmp_path: Path, door: str
) -> None:
    hx = opened()
    if door == "restore":
        hx.spaces.restore(potent.path)
    else:
        plain = tmp_path / "plain.json"
        plain.write_text(json.dumps({**bundle_of(potent.path)["document"], "board": "kept"}), "utf-8")
        hx.spaces.read_file(plain)

    file = hx.spaces.export("docs", tmp_path / "own.json").path
    hx.spaces.create("docs", reset=True)
    hx.spaces.restore(file)

    assert {"roles": ["lead"]} == bundle_of(file)["document"]["policies"]
    assert {"roles": ["lead"]} == hx.spaces.get("docs").policies
    assert ("kept" if door == "read_file" else None) == bundle_of(file)["document"].get("board")


def test_a_restore_into_a_space_in_use_is_refused_unless_merged(hx: Hexad, exported: Path) -> None:
    before = hx.spaces.write_file("docs").read_bytes()

    with pytest.raises(hexad.Conflict, match=r"merge=True"):
        hx.spaces.restore(exported)
    hx.remember("Mine.", space="docs", id="mine")
    hx.remember("The crew likes blue.", id="d-fact", space="docs", freeze_clock="2026-06-01T00:00:00Z")
    report = hx.spaces.restore(exported, merge=True).read

    assert (0, 3, ["d-fact"]) == (report.created, report.unchanged, report.kept)
    assert ("Mine.", "The crew likes blue.") == (hx.get("mine").raw, hx.get("d-fact").raw)
    assert before != hx.spaces.write_file("docs").read_bytes()


def test_an_empty_space_takes_an_export_whole(opened: Opener, exported: Path, tmp_path: Path) -> None:
    there = opened(folder(tmp_path, "there"))
    there.spaces.create("docs", {"owner": "nobody"})
    there.spaces.set_policy("docs", {"ttl_days": 1})

    there.spaces.restore(exported)

    assert bundle_of(exported)["document"] == json.loads(
        there.spaces.write_file("docs").read_text(encoding="utf-8")
    )


def test_a_reset_space_comes_back_from_its_export(hx: Hexad, exported: Path) -> None:
    before = hx.spaces.write_file("docs").read_bytes()
    hx.spaces.create("docs", reset=True)
    assert 0 == hx.spaces.get("docs").memories

    report = hx.spaces.restore(exported)

    assert before == hx.spaces.write_file("docs").read_bytes()
    assert any("4 of the objects were purged" in note for note in report.read.notes)
    assert not hx.spaces.restore(exported, merge=True).read.notes


def test_decisions_come_back_from_an_export_as_often_as_they_are_purged(hx: Hexad, tmp_path: Path) -> None:
    hx.spaces.create("board")
    hx.spaces.set_policy("board", {"roles": ["lead"]})
    old = hx.governance.decide("Sell the mill", rationale="It is old.", key="mill", space="board")
    hx.governance.decide("Keep the mill", rationale="It turns.", key="mill", space="board")
    export = hx.spaces.export("board", tmp_path / "board.json").path

    for _ in range(2):
        hx.spaces.set_policy("board", {"allow_delete": True, "roles": ["lead"]})
        hx.spaces.delete("board")
        hx.spaces.restore(export)

        assert ["Keep the mill"] == [now.title for now in hx.governance.query(in_force=True)]
        assert ["Sell the mill"] == [
            then.title for then in hx.governance.query(in_force=False) if then.erased_at is None
        ]
        assert ["lead"] == hx.spaces.get("board").policies["roles"]
    assert hx.governance.get(old.id).erased_at is not None


def test_a_dry_run_verifies_and_stores_nothing(opened: Opener, exported: Path, tmp_path: Path) -> None:
    there = opened(folder(tmp_path, "there"))

    report = there.spaces.restore(exported, dry_run=True)

    assert (True, 4, []) == (report.dry_run, report.read.created, list(there.spaces.list()))
    assert "docs" == report.to_dict()["export"]["space"]  # type: ignore[index, call-overload]


def test_an_export_can_be_restored_under_another_name(opened: Opener, exported: Path, tmp_path: Path) -> None:
    there = opened(folder(tmp_path, "there"))

    report = there.spaces.restore(exported, name="copy")

    assert ("copy", ["copy"]) == (report.space, [space.name for space in there.spaces.list()])
    assert {"copy"} == {memory.metadata["space"] for memory in there.memories(status=None, limit=None)}


def test_each_reader_says_what_the_other_is_for(hx: Hexad, exported: Path) -> None:
    with pytest.raises(hexad.InvalidInput, match="restore"):
        hx.spaces.read_file(exported)
    with pytest.raises(hexad.IntegrityError, match="read_file"):
        hx.spaces.restore(RUNTIME)
    with pytest.raises(hexad.NotFound):
        hx.spaces.restore("nowhere.json")


def test_a_stranger_may_not_restore_with_a_trusted_key(
    opened: Opener, exported: Path, tmp_path: Path
) -> None:
    there = opened(folder(tmp_path, "there"))
    there.remember("A text.", space="other")
    mine = hexad.verify_export(there.spaces.export("other", tmp_path / "other.json").path)

    with pytest.raises(hexad.IntegrityError, match="another key"):
        there.spaces.restore(exported, trusted_key=mine.public_key)

    assert ["other"] == [space.name for space in there.spaces.list()]


def test_a_read_only_store_exports_and_restores_nothing(
    opened: Opener, exported: Path, tmp_path: Path
) -> None:
    reader = opened(readonly=True)

    with pytest.raises(hexad.StorageFailure, match="read-only"):
        reader.spaces.export("docs", tmp_path / "x.json")
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        reader.spaces.restore(exported, name="copy")
    assert not (tmp_path / "x.json").exists()
