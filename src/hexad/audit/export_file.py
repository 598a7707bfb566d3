"""Files of records that somebody exported, an incident's or what a question found: written signed, with proofs, and
checked without the ledger.
"""  # fmt: skip

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.admission import Admission
from hexad.audit.checkpoint import (
    Checkpoint,
    Verifier,
    inclusion_proof,
    leaf_hash,
    read_signed,
    sign,
    verify_inclusion,
)
from hexad.audit.ledger import Ledger
from hexad.audit.reviewers import ADDED, without_secrets
from hexad.audit.values import AuditRecord, IncidentExport, LedgerExport
from hexad.core.arguments import parse_path, read_regular
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.errors import HexadError, IntegrityError, InvalidInput, LimitExceeded, NotFound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

EXPORT_BYTES_LIMIT: Final = 1 << 30
"""Largest exported file that is checked: all of it is in memory at once."""
_HEAD_BYTES: Final = 1 << 20
OF_INCIDENT: Final = "hexad audit incident 1"
OF_QUESTION: Final = "hexad audit export 1"
_SIGNED: Final = b"hexad audit incident\0"  # for both: which of them it is stands in the signed first line


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


def write_export(
    path: Path,
    desk: Admission,
    form: str,
    described: Mapping[str, JSONValue],
    records: Iterable[Shown],
    *,
    leaves: Mapping[int, bytes] | None = None,
    may_replace: Callable[[], object],
) -> None:
    """Write records into a new private file: what it is and a checkpoint, a record on each line, and a signature.

    Call it where what is read of the ledger stays as it is. `leaves` are hashes of archived records, by their number.
    """
    ledger, head = desk.ledger, desk.ledger.head()
    known: dict[tuple[int, int], bytes] = {}

    def node(level: int, place: int) -> bytes:
        top = known.get((level, place))
        if top is None:
            top = known[level, place] = ledger.node(level, place, leaves)
        return top

    checkpoint = Checkpoint(origin=desk.origin, size=head.size, root=head.root)
    header = {
        "form": form,
        **described,
        "key": str(desk.verifier),
        "exported_at": desk.clock.now().isoformat(),
        "checkpoint": sign(checkpoint, name=desk.verifier.name, key=desk.signing_key),
    }
    proved = ((record, inclusion_proof(record.seq, head.size, node)) for record in records)
    files.stream_write(path, _lines(header, proved, key=desk.signing_key), may_replace=may_replace)


def _lines(
    header: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]], *, key: Ed25519PrivateKey
) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for value in _values(header, proved):
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        digest.update(line)
        yield line
    signature = base64.b64encode(key.sign(_SIGNED + digest.digest())).decode()
    yield json.dumps({"signature": signature}).encode() + b"\n"


def _values(
    header: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]]
) -> Iterator[dict[str, Any]]:
    yield header
    for record, proof in proved:
        # The bytes of the record that added a reviewer hold what checks the secret: its hash alone is shown and proved.
        withheld = record.record.kind == ADDED
        yield {
            **without_secrets(record.record).to_dict(),
            "body": None if withheld else record.body.decode("utf-8", "replace"),
            "contents": None if record.contents is None else record.contents.decode("utf-8", "replace"),
            "salt": None if record.salt is None else record.salt.hex(),
            "proof": [base64.b64encode(each).decode() for each in proof],
        }


def check_incident(path: Path | str, *, verifiers: Sequence[str] = ()) -> IncidentExport:
    """Check an exported incident without the ledger: its signature, each record's place, bytes and contents.

    `verifiers` are public keys in their text form, one of which must have signed it; without any, compare `key` of the
    result with the one that you know. Raises `IntegrityError` where anything is wrong.
    """
    checked = _Checked(Path(path), OF_INCIDENT, "exported incident", verifiers)
    return IncidentExport(name=checked.text("incident", "name"), **checked.values)


def check_export(path: Path | str, *, verifiers: Sequence[str] = ()) -> LedgerExport:
    """Check a file of `AuditLog.export_to` without the ledger, as `check_incident` does an incident's.

    What it was asked for is in the result: the signature shows that no record that was found is left out.
    """
    checked = _Checked(Path(path), OF_QUESTION, "export of a ledger", verifiers)
    return LedgerExport(
        reviewer=checked.text("asked", "reviewer"), asked=checked.header["asked"], **checked.values
    )


def form_of(path: Path) -> str | None:
    """Return what the first line of a file says that it is; None where it says nothing of the kind."""
    with files.operation("read", path, "read"), path.open("rb") as file:
        line = file.readline(_HEAD_BYTES)
    try:
        form = json.loads(line)["form"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return form if isinstance(form, str) else None


class _Checked:
    """An exported file all of which holds; raises `NotFound`, and `IntegrityError` for one that does not."""

    header: dict[str, Any]
    values: dict[str, Any]

    def __init__(self, path: Path, form: str, what: str, verifiers: Sequence[str]) -> None:
        self._path, self._what = parse_path(path, "path"), what
        if not path.is_file():
            raise NotFound(f"There is no {what} at {path}.")
        with files.operation("read", path, "read"):
            data = read_regular(path, limit=EXPORT_BYTES_LIMIT)
        if len(data) > EXPORT_BYTES_LIMIT:
            raise LimitExceeded(
                f"The {what} {path} has more than {EXPORT_BYTES_LIMIT:,} bytes; take a smaller one."
            )
        given_verifiers = [Verifier.parse(key) for key in verifiers]
        try:
            self._require(data, form, given_verifiers)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput) as error:
            raise self._wrong("a line is none of such a file") from error

    def text(self, *names: str) -> str:
        """Return a text of the first line, in other values."""
        value: Any = self.header
        for name in names:
            value = value[name]
        return str(value)

    def _require(self, data: bytes, form: str, given_verifiers: Sequence[Verifier]) -> None:
        body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
        body += b"\n"
        self.header, *rest = [json.loads(line) for line in body.splitlines()]
        verifier = Verifier.parse(self.header["key"])
        signature = base64.b64decode(json.loads(last)["signature"], validate=True)
        right = json.dumps({"signature": base64.b64encode(signature).decode()}).encode() == last
        known = verifier in (given_verifiers or [verifier])
        if self.header["form"] != form or not right or data[-1:] != b"\n" or not known:
            raise self._wrong("it is signed by another key, or in another form")
        _require_signed(verifier, signature, body)
        checkpoint = read_signed(self.header["checkpoint"], [verifier])
        for line in rest:
            self._check(line, checkpoint)
        if len(rest) != self.header["records"]:
            raise self._wrong("it has not as many records as it says")
        self.values = {
            "path": self._path,
            "records": len(rest),
            "size": checkpoint.size,
            "root": checkpoint.root.hex(),
            "key": str(verifier),
        }

    def _check(self, entry: dict[str, Any], checkpoint: Checkpoint) -> None:
        digest = bytes.fromhex(entry["record_hash"])
        proof = [base64.b64decode(sibling, validate=True) for sibling in entry["proof"]]
        if not verify_inclusion(leaf_hash(digest), entry["seq"], checkpoint.size, proof, checkpoint.root):
            raise self._wrong(f"{entry['id']} is not where its proof says")
        if entry["body"] is None and entry["kind"] == ADDED:
            return
        body = entry["body"].encode("utf-8", "replace")
        stated = json.loads(body)
        if hashlib.sha256(body).digest() != digest or stated["seq"] != entry["seq"]:
            raise self._wrong(f"{entry['id']} has another hash than its bytes")
        self._check_contents(entry, stated)

    def _check_contents(self, entry: dict[str, Any], stated: dict[str, Any]) -> None:
        if entry["contents"] is None:
            if stated["payload"] is not None and not entry["erased"]:
                raise self._wrong(f"the contents of {entry['id']} are missing")
            return
        contents = entry["contents"].encode("utf-8", "replace")
        if hashlib.sha256(bytes.fromhex(entry["salt"]) + contents).hexdigest() != stated["payload"]["salted"]:
            raise self._wrong(f"the contents of {entry['id']} are not those that it was made with")
        plain = json.loads(contents)
        if any(
            entry[name] != plain.get(name) for name in ("raw_content", "lens_activations", "steering_applied")
        ):
            raise self._wrong(f"{entry['id']} says something else than its contents")

    def _wrong(self, reason: str) -> HexadError:
        return IntegrityError(f"{self._path} is no {self._what}, or was changed: {reason}.")


def _require_signed(verifier: Verifier, signature: bytes, body: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(
            signature, _SIGNED + hashlib.sha256(body).digest()
        )
    except InvalidSignature as error:
        raise ValueError("the signature does not hold") from error
