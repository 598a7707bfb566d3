from __future__ import annotations

import pytest

from hexad.ingest.sources.decode import Sniffer, decoded


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
