from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from hexad.ingest.sources.decode import Sniffer, decoded, read_time

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def far_east(monkeypatch):
    """A machine whose own zone must not matter."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "written",
    [
        *("2026-03-04T12:00:00", "2026-03-04T12:00:00Z", "2026-03-04T14:00:00+02:00", " 2026-03-04 12:00 "),
        *(1772625600, 1772625600.0, 1772625600000),
    ],
)
def test_a_time_is_read_in_utc_whatever_the_machine_thinks(far_east, written):
    assert NOON == read_time(written)


@pytest.mark.parametrize(
    "written", ["", "soon", "12:00", True, None, [], 1e300, float("nan"), "9" * 20, "2026-13-01"]
)
def test_what_is_no_time_is_none(written):
    assert read_time(written) is None


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 20])
def test_a_valid_file_with_replacement_characters_is_utf_8_however_its_blocks_are_cut(size):
    data = "shown as \ufffd, é, \ufffd\ufffd".encode() + "\ufffd".encode()
    sniffer = Sniffer(data)

    text = "".join(sniffer.feed(data[at : at + size]) for at in range(0, len(data), size))
    text += sniffer.feed(b"", final=True)

    assert (data.decode(), None, "utf-8", None) == (
        text, sniffer.refuse(), sniffer.encoding().name, sniffer.encoding().note,
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_what_is_not_utf_8_is_decoded_on_beyond_the_bad_byte(size):
    data = "één ".encode() + b"\xe9 \xff, then text again: " + "é, and \ufffd of its own".encode() + b"\xc3"
    sniffer = Sniffer(data)

    text = "".join(sniffer.feed(data[at : at + size]) for at in range(0, len(data), size))
    text += sniffer.feed(b"", final=True)

    assert data.decode("utf-8", "replace") == text == decoded(data)
    assert "utf-8 with replacements" == sniffer.encoding().note
