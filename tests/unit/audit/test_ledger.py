"""The keys of contents: what is begun once for many records is the HMAC that RFC 2104 defines."""

from __future__ import annotations

import hmac

import pytest

from hexad.audit.ledger import Subject, ref_of


@pytest.mark.parametrize("key", [bytes(32), bytes(range(32)), b"\xff" * 32])
def test_a_key_that_was_begun_gives_the_same_as_a_whole_hmac(key: bytes) -> None:
    keyed = Subject(ref_of(key), key).keyed()

    for message in (b"", b"x", bytes(24), b"y" * 300):
        assert hmac.digest(key, message, "sha512") == keyed(message) == keyed(message)
