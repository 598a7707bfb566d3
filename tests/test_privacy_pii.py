"""Personal data that check digits prove are taken out of everything, unless the project says otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, InvalidInput
from hexad.audit import AuditLog, AuditLogWriter
from hexad.core.clock import FrozenClock
from hexad.database.files import atomic_write

CARD, IBAN, SSN = "4111 1111 1111 1111", "GB82WEST12345698765432", "123-45-6789"
SENSITIVE = (CARD, IBAN, SSN)
EMAIL, PHONE, ADDRESS = "jane.roe@mail.org", "+49 30 901820", "203.0.113.77"
CONTACT = (EMAIL, PHONE, ADDRESS)
TEXT = f"Pay {CARD} or {IBAN}, SSN {SSN}; ask {EMAIL} or {PHONE} at {ADDRESS}."


def set_privacy(folder: Path, pii: str) -> None:
    (folder / ".hexad").mkdir(exist_ok=True)
    atomic_write(folder / ".hexad" / "hexad.toml", f'[privacy]\npii = "{pii}"\n'.encode())


def fill(hx: Hexad, project: Path) -> None:
    """Bring the text in by every way there is."""
    hx.remember(TEXT, tags=["pay"], metadata={"note": TEXT})
    hx.remember_raw("raw", "note", TEXT)
    hx.remember_structured("structured", {"raw": TEXT, "path": "pay/structured"})
    source = project / "source"
    source.mkdir()
    (source / "pay.md").write_text(f"# How to pay\n\n{TEXT}\n")
    hx.ingest(source, space="files")
    chat = project / "chat.jsonl"
    turn = {"conversation": "c", "session": "s", "turn": 1, "speaker": "Ann", "text": TEXT}
    chat.write_text(json.dumps({**turn, "id": "c/s/1"}) + "\n")
    hx.ingest(chat, space="chat")
    hx.spaces.create("twice")
    hx.remember(TEXT + " Twice.", space="twice")
    file = hx.spaces.write_file("twice")
    held = json.loads(file.read_text())
    held["objects"][0] = {**held["objects"][0], "raw": TEXT, "summary_short": TEXT, "id": "mem_from_file"}
    held["name"] = "from-file"
    other = project / "from-file.json"
    other.write_text(json.dumps(held))
    hx.spaces.read_file(other, name="from-file")

    hx.xdb.start_session("s1")
    hx.xdb.record("input", TEXT, event_id="asked")
    for word in TEXT.split(" "):
        hx.xdb.record("output", word + " ", event_id="answered")
    hx.xdb.record_many([{"event_type": "tool_response", "content": TEXT, "event_id": "looked"}])
    hx.xdb.tag("paid", event_id="asked", note=TEXT)
    hx.xdb.comment(TEXT, event_id="asked")
    hx.xdb.create_bud_tag("bud", TEXT)
    hx.xdb.documents.add_document("pay.md", TEXT, "reference", summary=TEXT)
    hx.xdb.end_session()
    hx.xdb.seal()


def everything(folder: Path) -> str:
    """All that is in a store's files as text, read through the store: its files are compressed."""
    with hexad.open(folder, embedder=None, background=False) as hx:
        return "".join(hexad.export_json(hx.export()))


def ledger_holds(folder: Path, clock: FrozenClock) -> str:
    with AuditLogWriter(folder / ".hexad", "be", clock=clock) as writer:
        writer.record("s1", 1, "input", TEXT, {}, [{"why": TEXT}])
    with AuditLog(folder / ".hexad") as log:
        credential = log.reviewers.add("rita")
        return json.dumps([record.to_dict() for record in log.query(reviewer_credential=credential)])


@pytest.mark.row("A127")
@pytest.mark.parametrize(
    ("pii", "gone", "kept"),
    [
        pytest.param(None, SENSITIVE, CONTACT, id="by default"),
        pytest.param("sensitive", SENSITIVE, CONTACT, id="sensitive"),
        pytest.param("all", (*SENSITIVE, *CONTACT), (), id="all"),
        pytest.param("keep", (), (*SENSITIVE, *CONTACT), id="keep"),
    ],
)
def test_a_project_decides_which_personal_data_are_stored_anywhere(project, opened, clock, pii, gone, kept):
    if pii is not None:
        set_privacy(project, pii)
    hx = opened(embedder=None)
    fill(hx, project)
    hx.close()

    said = everything(project)
    on_ledger = ledger_holds(project, clock)
    files = b"".join(path.read_bytes() for path in (project / ".hexad").rglob("*") if path.is_file())

    for value in gone:
        assert value not in said, value
        assert value not in on_ledger, value
        assert value.encode() not in files, value
    for value in kept:
        # once for each way in
        assert said.count(value) >= 14, value
        assert value in on_ledger


@pytest.mark.row("A127")
def test_a_space_can_ask_for_more_than_its_project_and_never_for_less(project, opened):
    set_privacy(project, "sensitive")
    hx = opened(embedder=None)
    hx.spaces.create("strict")
    hx.spaces.set_policy("strict", {"pii_redaction": ["emails"]})
    hx.spaces.create("lax")
    hx.spaces.set_policy("lax", {"pii_redaction": []})

    strict, lax = hx.remember(TEXT, space="strict").raw, hx.remember(TEXT, space="lax").raw

    assert EMAIL not in strict and PHONE in strict
    assert EMAIL in lax
    assert not [value for value in SENSITIVE if value in strict or value in lax]


@pytest.mark.row("A127")
def test_where_a_project_keeps_personal_data_a_space_may_still_ask_for_them_to_go(project, opened):
    set_privacy(project, "keep")
    hx = opened(embedder=None)
    hx.spaces.create("strict")
    hx.spaces.set_policy("strict", {"pii_redaction": ["sensitive"]})

    assert CARD in hx.remember(TEXT).raw
    assert CARD not in hx.remember(TEXT, space="strict").raw


def test_an_ingest_reads_files_anew_when_the_project_says_something_else(project, opened):
    set_privacy(project, "keep")
    hx = opened(embedder=None)
    source = project / "source"
    source.mkdir()
    (source / "pay.md").write_text(TEXT)
    hx.ingest(source)
    assert CARD in hx.memories(text="Pay")[0].raw
    hx.close()

    set_privacy(project, "sensitive")
    again = opened(embedder=None)
    report = again.ingest(source)

    assert 1 == report.updated
    assert CARD not in again.memories(text="Pay")[0].raw


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[privacy]\npii = "some"', ["privacy in hexad.toml", "'some'", "sensitive, all, keep"]),
        ("[privacy]\npii = 5", ["[privacy]", "pii = 5", "text"]),
        ('[privacy]\npi = "all"', ["[privacy]", "'pi'", "known is pii"]),
        ("privacy = 5", ["privacy = 5", "a table"]),
    ],
)
def test_a_choice_that_there_is_not_is_refused_before_anything_is_made(project, settings, said):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(settings)

    with pytest.raises(InvalidInput) as raised:
        hexad.open(project, embedder=None)

    assert [] == [part for part in said if part not in str(raised.value)]
    assert ["hexad.toml"] == [path.name for path in (project / ".hexad").iterdir()]


@pytest.mark.parametrize(
    "text",
    [
        "id=4641560370126138 took 3 ms",
        '{"user_id": 4742416536732368}',
        "ts: 4111111111111111",
        "snowflake #4111111111111111",
        "the row is 123 45 6789 12 of the table",
    ],
)
def test_numbers_with_the_name_of_an_id_or_a_time_are_no_cards(hx, text):
    assert text == hx.remember(text).raw


@pytest.mark.parametrize(
    "text", ["card_id=4111111111111111", "Card id: 4111111111111111", "cc#4111111111111111"]
)
def test_the_number_of_a_card_is_one_under_any_name(hx, text):
    assert "4111111111111111" not in hx.remember(text).raw


def test_a_session_may_be_called_by_a_number_that_passes_for_a_card(hx):
    hx.xdb.start_session("4111111111111111")

    assert "ts-4111111111111111-1" == hx.xdb.record("input", "hello")


def test_a_person_may_be_known_by_an_address_wherever_they_are_named(project, opened):
    set_privacy(project, "all")
    hx = opened(embedder=None)
    memory = hx.remember(f"Asked by {EMAIL}.", data_subjects=[EMAIL])
    document = hx.xdb.documents.add_document("a.md", f"Of {EMAIL}.", "reference", data_subjects=[EMAIL])
    hx.xdb.start_session("s", data_subjects=[EMAIL])

    found = [
        item for item in hx.export(subject=EMAIL) if item.section in ("memories", "documents", "sessions")
    ]

    assert {memory.id, document.id, "s"} == {item.value["id"] for item in found}
    assert (EMAIL,) == memory.data_subjects and EMAIL not in memory.raw + document.content
