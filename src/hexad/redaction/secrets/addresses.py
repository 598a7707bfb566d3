"""Identifiers that prove themselves: addresses of payments with a checksum, and names of contents.

They look as drawn as a token does and are made to be handed out. Sources: BIP 13 (base58 with a checksum), BIP 173 and
350 (bech32), NIP 19 (Nostr), age's recipients, and the multiformats of IPFS.
"""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from typing import Final

_BASE58: Final = {
    letter: value for value, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}
_BECH32: Final = {letter: value for value, letter in enumerate("qpzry9x8gf2tvdw0s3jn54khce6mua7l")}
_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKS: Final = frozenset({1, 0x2BC830A3})
"""What a right checksum leaves: bech32's, and bech32m's."""
_HANDED_OUT: Final = frozenset({"addr", "age", "bc", "bcrt", "cosmos", "ltc", "note", "npub", "tb"})
"""What bech32 begins with where no key that must stay secret is behind it, as it is behind `nsec`."""
_ADDRESS_BYTES: Final = 25
"""A version, a hash of 20 bytes and a checksum of 4; a private key is longer."""
_SHA256: Final = b"\x12\x20"
_SHORTEST, _LONGEST = 26, 128


def is_address(run: str) -> bool:
    """Whether a run of letters and digits is an address or the name of a content, by its own checksum or its parts.

    >>> is_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), is_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
    (True, False)
    """
    if not _SHORTEST <= len(run) <= _LONGEST:
        return False
    return _is_base58(run) or _is_bech32(run) or _is_content(run)


def _is_base58(run: str) -> bool:
    if not run.isascii() or len(run) > 46 or any(letter not in _BASE58 for letter in run):
        return False
    number = 0
    for letter in run:
        number = number * 58 + _BASE58[letter]
    zeros = len(run) - len(run.lstrip("1"))
    raw = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)
    if len(raw) == len(_SHA256) + 32:  # IPFS, version 0
        return run.startswith("Qm") and raw.startswith(_SHA256)
    return len(raw) == _ADDRESS_BYTES and sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _is_bech32(run: str) -> bool:
    low = run.lower()
    if run not in (low, run.upper()):
        return False
    head, _, body = low.rpartition("1")
    if head not in _HANDED_OUT or len(body) < 6 or any(letter not in _BECH32 for letter in body):
        return False
    values = [ord(letter) >> 5 for letter in head] + [0] + [ord(letter) & 31 for letter in head]
    values += [_BECH32[letter] for letter in body]
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATORS):
            check ^= generator if top >> bit & 1 else 0
    return check in _CHECKS


def _is_content(run: str) -> bool:
    """Whether this is IPFS's name of a content, version 1: a codec, and SHA-256 with its length."""
    if not run.startswith("b") or len(run) != 59:
        return False
    try:
        raw = base64.b32decode(run[1:].upper() + "=" * (-len(run[1:]) % 8))
    except binascii.Error:
        return False
    return raw[0] == 1 and raw[2:4] == _SHA256 and len(raw) == 36
