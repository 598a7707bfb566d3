"""Checkpoints as signed notes: what others sign we read, what we sign others can."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hexad.audit.checkpoint import Checkpoint, Verifier, read_signed, sign, verifier_of
from hexad.errors import IntegrityError, InvalidInput

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
MADE = Checkpoint(origin="example.com/log", size=3, root=b"r" * 32)


def test_a_key_of_another_implementation_is_read_and_written_as_it_is() -> None:
    """The key of the example in the documentation of Go's package `note`."""
    given = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"

    assert given == str(Verifier.parse(given))


def test_a_checkpoint_comes_back_from_its_note() -> None:
    note = sign(MADE, name="example.com/log", key=KEY)

    assert note.startswith("example.com/log\n3\ncnJy")
    assert MADE == read_signed(note, [verifier_of(KEY, name="example.com/log")])


def test_lines_of_ones_own_are_signed_with_the_rest() -> None:
    made = Checkpoint(origin="o", size=0, root=b"r" * 32, extensions=("one", "two"))

    assert made == read_signed(sign(made, name="k", key=KEY), [verifier_of(KEY, name="k")])


def test_signatures_of_others_are_left_aside_but_one_of_ours_must_be_there() -> None:
    other = Ed25519PrivateKey.from_private_bytes(b"x" * 32)
    note = sign(MADE, name="k", key=KEY)
    second = sign(MADE, name="w", key=other).rpartition("\n\n")[2]

    assert MADE == read_signed(note + second, [verifier_of(KEY, name="k")])
    with pytest.raises(IntegrityError, match="not signed by z"):
        read_signed(note, [verifier_of(KEY, name="z")])
    with pytest.raises(IntegrityError, match="not signed by k"):
        read_signed(note, [verifier_of(other, name="k")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda note: note.replace("\n3\n", "\n4\n"), "is false"),
        (lambda note: note.replace("cnJy", "cnJz", 1), "is false"),
        (lambda note: note.replace("\u2014", "-"), "no signature"),
        (lambda note: note.replace("\n\n", "\n"), "no signed note"),
        (lambda note: note.rstrip("\n"), "no signed note"),
        (lambda note: note + "x" * (1 << 20), "no checkpoint"),
    ],
)
def test_a_note_that_was_changed_is_worth_nothing(change, message: str) -> None:
    note = sign(MADE, name="k", key=KEY)

    with pytest.raises(IntegrityError, match=message):
        read_signed(change(note), [verifier_of(KEY, name="k")])


@pytest.mark.parametrize(
    "text", ["o\n03\n" + "cnJy" * 11 + "\n", "o\n3\nxx\n", "o\n3\n", "o\n-1\ncnJy\n", "o\n3\ncnJy\n"]
)
def test_a_signed_text_that_is_no_checkpoint_is_refused(text: str) -> None:
    signed = sign(Checkpoint(origin="o", size=3, root=b"r" * 32), name="k", key=KEY)
    import base64

    verifier = verifier_of(KEY, name="k")
    signature = base64.b64encode(verifier.key_id + KEY.sign(text.encode())).decode()
    assert signed

    with pytest.raises(IntegrityError):
        read_signed(f"{text}\n\u2014 k {signature}\n", [verifier])


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_name_that_no_signature_can_carry_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        verifier_of(KEY, name=name)


@pytest.mark.parametrize("origin", ["", "a\nb", "a\x00"])
def test_an_origin_that_is_no_line_is_refused(origin: str) -> None:
    with pytest.raises(InvalidInput, match="line of a checkpoint"):
        sign(Checkpoint(origin=origin, size=0, root=b"r" * 32), name="k", key=KEY)


@pytest.mark.parametrize(
    "given",
    ["", "k", "k+00000000+AAAA", "k+c74f20a3+!!", "k+00000000+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"],
)
def test_what_is_no_key_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput):
        Verifier.parse(given)
