"""What is told to be plain text holds nothing that a rule finds: it is not shown to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.redaction.redact import find, project_rules
from hexad.redaction.secrets.assignments import find_assignments
from hexad.redaction.secrets.blocks import (
    find_env_values,
    find_key_blocks,
    find_kubernetes_secrets,
    find_password_hashes,
)
from hexad.redaction.secrets.drawn_tokens import find_drawn
from hexad.redaction.secrets.known_formats import find_shapes
from hexad.redaction.secrets.names import KEYWORDS
from hexad.redaction.secrets.password_words import password_words
from hexad.redaction.secrets.plain_text import announces, is_plain
from hexad.redaction.secrets.readings import encoded, readings
from hexad.redaction.secrets.spoken import find_spoken
from hexad.redaction.secrets.urls import find_command_secrets, find_header_secrets, find_url_passwords
from hexad.redaction.secrets.values import SecretSpan

WORDS = sorted({word.rstrip("~") for word in (*KEYWORDS, *password_words())})
BESIDE = [
    "access", "door", "the safe", "alarm", "seed", "user", "machine", "default", "curl", "mysql", "redis-cli", "ENV", "ARG",
    "linkedin", "dropbox", "BEGIN", "kind", "data", "PBKDF2", "set", "with", "my", "the", "hoping", "opinion", "shopping",
]  # fmt: skip
VALUES = [
    "hunter", "Xk9Lm2Qp", "butterscotch", "zebra42", "4711", "Kx!9q", "Kx9#mQ", "abcdefghijklm", "Abcdefghijklmn",
    "correct horse battery staple", "a b c d e f", "p a s s w o r d", "P I N", "xoxa-" + "abcdefgh",
    "AKIA" + "ABCDEFGHIJKLMNOP", "endr+" + "abcdefghijklmnop", "12345678:AA" + "abc", "$2b$" + "10$abc",
    "apple banana cherry dune eel fox goat hill", "'Xk9Lm2'", '"Xk9Lm2"', "(Xk9Lm2)", "[Xk9Lm2]", "-u", "-p", "--user",
]  # fmt: skip
JOINTS = [
    " ", ": ", ", ", ". ", " is ", " was ", " to ", " it's now ", " is the ", "'", "\n", "\n\n", " - ", "; ", "! ", "?",
    "(", ") ", "/", "-", " #", '"', "@", "$", "+", "=", "|",
]  # fmt: skip
PIECES = st.tuples(st.sampled_from([*BESIDE, *VALUES]), st.sampled_from(JOINTS))


def _spans(text: str) -> Iterator[SecretSpan]:
    lowered = text.lower()
    yield from find_shapes(text)
    yield from find_drawn(text)
    yield from find_drawn(text, names=True)
    yield from find_key_blocks(text)
    yield from find_url_passwords(text)
    yield from find_header_secrets(text, lowered)
    yield from find_command_secrets(text, lowered)
    yield from find_password_hashes(text)
    yield from find_kubernetes_secrets(text)
    yield from find_assignments(text, lowered)
    yield from find_spoken(text, lowered)
    yield from find_env_values(text, path=None, kept_names=frozenset())


@settings(max_examples=examples(300))
@given(pieces=st.lists(PIECES, min_size=1, max_size=7))
def test_no_rule_finds_anything_in_plain_text(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + joint for piece, joint in pieces)
    if not is_plain(text, text.lower()):
        return

    assert [] == list(_spans(text))
    assert [] == [span for reading in readings(text) for span in _spans(reading.text)]
    assert [] == list(encoded(text))


@settings(max_examples=examples(300))
@given(pieces=st.lists(PIECES, min_size=1, max_size=7))
def test_no_sentence_names_a_secret_without_a_word_for_it(pieces: list[tuple[str, str]]) -> None:
    lowered = "".join(piece + joint for piece, joint in pieces).lower()
    if announces(lowered):
        return

    assert [] == list(find_spoken(lowered, lowered))
    assert [] == list(find_spoken(lowered.title(), lowered))


@pytest.mark.parametrize("form", ["{}: Xk9Lm2", "the {} is Xk9Lm2 now", "({})", "{}, it's now Xk9Lm2"])
def test_a_text_with_a_word_for_a_secret_is_not_plain(form: str) -> None:
    texts = [form.format(word) for word in (*WORDS, "psw", "cred", "code", "login", "mnemonic")]

    assert [] == [text for text in texts if is_plain(text, text.lower())]


@pytest.mark.parametrize(
    "text",
    [
        "We met on Friday, and it was raining.",
        "I was hoping for a second opinion: shopping is fun!",
        "Understanding it (and a good one) takes patience, yes?",
        "Room 12 at 10:30; bring 3 chairs.\nThen we go.",
    ],
)
def test_a_sentence_is_plain(text: str) -> None:
    assert is_plain(text, text.lower())


def test_every_line_of_an_env_file_goes_though_it_is_plain() -> None:
    text = "REGION: north"

    assert is_plain(text, text.lower())
    assert [] == find(text, rules=project_rules())
    assert ["env-value"] == [finding.rule for finding in find(text, rules=project_rules(), path="app/.env")]


def test_personal_data_is_found_in_plain_text() -> None:
    text = "Write to ada@x.org, or pay with 4111 1111 1111 1111 instead."

    assert is_plain(text, text.lower())
    assert ["email", "card"] == [finding.rule for finding in find(text, rules=project_rules("all"))]
