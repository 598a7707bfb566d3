"""The file of an incident: records with what proves them, a JSON object on each line, checked without the ledger.

The first line says what it is, with a checkpoint; each of the others has a record as it is read, its canonical JSON
(`body`), its place in the checkpoint's tree (`proof`), and, where it has contents, their JSON and the salt with which
they were hashed: SHA-256 of both is `payload.salted` in the body. The last is a signature of all before it, so that no
record can be left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.checkpoint import Checkpoint, Verifier, read_signed
from hexad.audit.ledger import Ledger
from hexad.audit.merkle import leaf_hash, verify_inclusion
from hexad.audit.values import AuditRecord, IncidentExport
from hexad.database import files
from hexad.errors import HexadError, IntegrityError, InvalidInput, NotFound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORM: Final = "hexad audit incident 1"
_SIGNED: Final = b"hexad audit incident\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record with what proves its contents."""

    seq: int
    record: AuditRecord
    body: bytes
    salt: bytes | None = None
    contents: bytes | None = None
    is_archived: bool = False

    @classmethod
    def of(
        cls, ledger: Ledger, seq: int, body: bytes, nonce: bytes | None, ciphertext: bytes | None
    ) -> Shown:
        """Return a record of the ledger, decrypted."""
        shown = None
        if nonce is not None and ciphertext is not None:
            shown = ledger.shown(seq, nonce, ciphertext, bytes.fromhex(json.loads(body)["subject"]))
        return cls(
            seq=seq,
            record=ledger.revealed(seq, body, nonce, ciphertext),
            body=body,
            salt=None if shown is None else shown[0],
            contents=None if shown is None else shown[1],
        )

    @property
    def leaf(self) -> bytes:
        """The hash by which it stands in the tree."""
        return leaf_hash(hashlib.sha256(self.body).digest())


def lines(
    described: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]], *, key: Ed25519PrivateKey
) -> Iterator[bytes]:
    """Yield the file line by line."""
    digest = hashlib.sha256()
    for value in _values(described, proved):
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        digest.update(line)
        yield line
    signature = base64.b64encode(key.sign(_SIGNED + digest.digest())).decode()
    yield json.dumps({"signature": signature}).encode() + b"\n"


def _values(
    described: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]]
) -> Iterator[dict[str, Any]]:
    yield {"form": FORM, **described}
    for record, proof in proved:
        yield {
            **record.record.to_dict(),
            "body": record.body.decode("utf-8", "replace"),
            "contents": None if record.contents is None else record.contents.decode("utf-8", "replace"),
            "salt": None if record.salt is None else record.salt.hex(),
            "proof": [base64.b64encode(each).decode() for each in proof],
        }


def check_incident(path: Path | str, *, verifiers: Sequence[str] = ()) -> IncidentExport:
    """Check an exported incident without the ledger: its signature, each record's place, bytes and contents.

    `verifiers` are public keys in their text form, one of which must have signed it; without any, compare `key` of the
    result with the one that you know. Raises `IntegrityError` where anything is wrong.
    """
    place = Path(path)
    if not place.is_file():
        raise NotFound(f"There is no exported incident at {place}.")
    with files.operation("read", place, "read"):
        data = place.read_bytes()
    body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    body += b"\n"
    given_verifiers = [Verifier.parse(key) for key in verifiers]
    try:
        header, *rest = [json.loads(line) for line in body.splitlines()]
        verifier = Verifier.parse(header["key"])
        known_verifiers = given_verifiers or [verifier]
        signature = base64.b64decode(json.loads(last)["signature"], validate=True)
        right = json.dumps({"signature": base64.b64encode(signature).decode()}).encode() == last
        if header["form"] != FORM or not right or data[-1:] != b"\n" or verifier not in known_verifiers:
            raise _wrong(place, "it is signed by another key, or in another form")
        _require_signed(verifier, signature, body)
        checkpoint = read_signed(header["checkpoint"], [verifier])
        for line in rest:
            _check(place, line, checkpoint)
        if len(rest) != header["records"]:
            raise _wrong(place, "it has not as many records as it says")
        return IncidentExport(
            path=place,
            name=header["incident"]["name"],
            records=len(rest),
            size=checkpoint.size,
            root=checkpoint.root.hex(),
            key=str(verifier),
        )
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInput) as error:
        raise _wrong(place, "a line is none of such a file") from error


def _check(path: Path, said: dict[str, Any], checkpoint: Checkpoint) -> None:
    body = said["body"].encode("utf-8", "replace")
    stated = json.loads(body)
    proof = [base64.b64decode(sibling, validate=True) for sibling in said["proof"]]
    digest = hashlib.sha256(body).digest()
    if digest.hex() != said["record_hash"] or stated["seq"] != said["seq"]:
        raise _wrong(path, f"{said['id']} has another hash than its bytes")
    if not verify_inclusion(leaf_hash(digest), said["seq"], checkpoint.size, proof, checkpoint.root):
        raise _wrong(path, f"{said['id']} is not where its proof says")
    if said["contents"] is None:
        if stated["payload"] is not None and not said["erased"]:
            raise _wrong(path, f"the contents of {said['id']} are missing")
        return
    contents = said["contents"].encode("utf-8", "replace")
    if hashlib.sha256(bytes.fromhex(said["salt"]) + contents).hexdigest() != stated["payload"]["salted"]:
        raise _wrong(path, f"the contents of {said['id']} are not those that it was made with")
    plain = json.loads(contents)
    if any(said[name] != plain.get(name) for name in ("raw_content", "lens_activations", "steering_applied")):
        raise _wrong(path, f"{said['id']} says something else than its contents")


def _require_signed(verifier: Verifier, signature: bytes, body: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(
            signature, _SIGNED + hashlib.sha256(body).digest()
        )
    except InvalidSignature as error:
        raise ValueError("the signature does not hold") from error


def _wrong(path: Path, reason: str) -> HexadError:
    return IntegrityError(f"{path} is no exported incident, or was changed: {reason}.")
