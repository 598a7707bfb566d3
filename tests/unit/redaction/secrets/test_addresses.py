"""Addresses and names of contents prove themselves; keys behind the same alphabets do not pass for them.

The examples are published: by BIP 13, 173 and 350, NIP 19, Bitcoin's wiki and the documents of IPFS.
"""

from __future__ import annotations

import pytest

from hexad.redaction.policy import project_rules
from hexad.redaction.redact import redact
from hexad.redaction.secrets.addresses import is_address

RULES = project_rules()
ADDRESSES = (
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "3P14159f73E4gFr7JterCCQh9QjiTjiZrG",
    "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
    "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
)
KEYS = (
    "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
    "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_left_in_a_text(address: str) -> None:
    assert is_address(address)
    text = f"Send it to {address} as before."
    assert text == redact(text, rules=RULES, salt=b"salt").text


@pytest.mark.parametrize("address", ADDRESSES[:5])
def test_one_other_letter_is_no_address(address: str) -> None:
    other = "q" if address[-1].lower() != "q" else "p"
    assert not is_address(address[:-1] + (other.upper() if address.isupper() else other))


@pytest.mark.parametrize("key", KEYS)
def test_a_private_key_is_none(key: str) -> None:
    assert not is_address(key)
    assert key not in redact(f"The key: {key}.", rules=RULES, salt=b"salt").text


@pytest.mark.parametrize(
    "text", ["", "1" * 34, "b" + "a" * 58, "bc1" + "q" * 39, "Qm" + "1" * 44, "\u0661" * 34]
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert not is_address(text)
