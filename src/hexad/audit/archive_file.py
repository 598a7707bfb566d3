"""The file of an archive: old records with what shows that they stood in the ledger, checked without it.

A line that names the form, then a zlib stream of lines, then an Ed25519 signature of 64 bytes over the SHA-256 of all
before it. The lines: one of JSON that says what this is, with the checkpoint of the ledger as it was; then, from the
first leaf of its tree to the last, `R`, a record's canonical JSON and its ciphertext in Base64, or `H`, a level and the
hash of a subtree of records that are elsewhere, apart by tabs; at the end `E`. With these the tree hash of the
checkpoint can be computed, which proves every record of the file at once.

There is no key and no nonce in it: contents can be decrypted with the ledger that they came from, until it erases them.
Of an encrypted store the whole is sealed under a key of the ledger.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.checkpoint import HASH_BYTES, Checkpoint, Frontier, Verifier, leaf_hash, read_signed
from hexad.audit.values import GENESIS, Archive
from hexad.core.arguments import parse_path
from hexad.database import files
from hexad.database.encryption import cipher as crypto
from hexad.errors import HexadError, IntegrityError, LimitExceeded, NotFound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORM: Final = b"hexad audit archive 1\n"
_SIGNED: Final = b"hexad audit archive\0"
_SIGNATURE_BYTES: Final = 64
_CHUNK: Final = 1 << 16
LINE_BYTES_LIMIT: Final = 64 << 20
"""Longest line of an archive, unpacked: a record with what it says has far less."""
_DESCRIBED: Final = (
    "origin", "key", "made_at", "before", "records", "contents", "first", "past", "checkpoint",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArchivedEntry:
    """A record of an archive: its bytes, and its ciphertext where it has contents that were there to be archived."""

    seq: int
    body: bytes
    ciphertext: bytes | None

    @property
    def digest(self) -> bytes:
        """The record's hash."""
        return hashlib.sha256(self.body).digest()

    def record(self) -> dict[str, Any]:
        """Return what the record says in the clear."""
        record: dict[str, Any] = json.loads(self.body)
        return record


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The hash of a subtree of records that are not in the archive."""

    level: int
    top: bytes


Item = ArchivedEntry | Elsewhere


def archive_bytes(
    described: dict[str, Any], items: Iterable[Item], *, key: Ed25519PrivateKey
) -> Iterator[bytes]:
    """Yield the file piece by piece."""
    signed, packer = hashlib.sha256(FORM), zlib.compressobj(6)
    yield FORM
    for line in _lines(described, items):
        piece = packer.compress(line)
        if piece:
            signed.update(piece)
            yield piece
    piece = packer.flush()
    signed.update(piece)
    yield piece + key.sign(_SIGNED + signed.digest())


def _lines(described: dict[str, Any], items: Iterable[Item]) -> Iterator[bytes]:
    yield json.dumps(described, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"
    for item in items:
        if isinstance(item, ArchivedEntry):
            sealed = b"" if item.ciphertext is None else base64.b64encode(item.ciphertext)
            yield b"R\t%b\t%b\n" % (item.body, sealed)
        else:
            yield b"H\t%d\t%b\n" % (item.level, base64.b64encode(item.top))
    yield b"E\n"


class ArchiveFile:
    """An archive that was opened and whose signature holds. Raises `IntegrityError` for any other file."""

    def __init__(self, path: Path, *, ciphers: Sequence[crypto.FileCipher] = ()) -> None:
        """Open the archive at `path`; one of `ciphers` opens a sealed one. Raises `NotFound` where there is none."""
        self.path, self._ciphers = parse_path(path, "path"), ciphers
        if not path.is_file():
            raise NotFound(f"There is no archive at {path}.")
        self.sha256 = self._check_signature()
        header = next(self._read_lines(), b"")
        try:
            self.described: dict[str, Any] = json.loads(header)
            values = [self.described[name] for name in _DESCRIBED]
            self.verifier = Verifier.parse(self.described["key"])
            self.records, self.contents, self.first, self.past = values[4:8]
            plain = all(type(count) is int for count in values[4:8])
        except (ValueError, KeyError, TypeError, RecursionError, HexadError) as error:
            raise self._damaged("its first line does not say what it is") from error
        if not plain or self.verifier.public_key != self._signed_by:
            raise self._damaged("its first line does not say what it is")
        self.checkpoint: Checkpoint = read_signed(self.described["checkpoint"], [self.verifier])

    def archive(self, *, record_id: str | None = None, more: bool = False) -> Archive:
        """Return what it is."""
        return Archive(
            path=self.path,
            records=self.records,
            contents=self.contents,
            first=self.first,
            past=self.past,
            size=self.checkpoint.size,
            root=self.checkpoint.root.hex(),
            sha256=self.sha256,
            origin=self.checkpoint.origin,
            key=str(self.verifier),
            record_id=record_id,
            more=more,
        )

    def require_key(self, verifiers: Sequence[Verifier]) -> None:
        """Raise `IntegrityError` unless one of these keys signed it."""
        if self.verifier not in verifiers:
            raise IntegrityError(
                f"{self.path} is an archive of another ledger, or somebody made it anew: it is signed with the key"
                f" {self.verifier}."
            )

    def items(self) -> Iterator[Item]:
        """Yield what it holds, from the first leaf of the tree to the last."""
        lines, seq = self._read_lines(), 0
        next(lines, None)
        for line in lines:
            if line == b"E":
                if next(lines, None) is not None:
                    break
                return
            kind, _, rest = line.partition(b"\t")
            body, _, encoded = rest.rpartition(b"\t")
            try:
                data = base64.b64decode(encoded, validate=True)
                if kind == b"R":
                    yield ArchivedEntry(seq, body, data or None)
                    seq += 1
                    continue
                level = int(body)
            except (ValueError, binascii.Error) as error:
                raise self._damaged("a line is none of an archive") from error
            if kind != b"H" or not 0 <= level < 63 or len(data) != HASH_BYTES:
                break
            yield Elsewhere(level, data)
            seq += 1 << level
        raise self._damaged("it has another end than that of an archive")

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yield its records alone."""
        return (item for item in self.items() if isinstance(item, ArchivedEntry))

    def check(self) -> Archive:
        """Compute the tree anew and return what the archive is; raises `IntegrityError` where anything disagrees."""
        frontier, records, contents, before = Frontier(), 0, 0, GENESIS
        first, past = -1, 0
        for item in self.items():
            if isinstance(item, Elsewhere):
                if frontier.size % (1 << item.level):
                    raise self._damaged("a hash stands where no subtree of its level begins")
                frontier.add(item.level, item.top)
                before = ""
                continue
            record = self._record_fields(item)
            if record["seq"] != item.seq or (before and record["prev"] != before):
                raise self._damaged(f"audit-{item.seq} does not follow the one before it")
            if record["payload"] is None and item.ciphertext is not None:
                raise self._damaged(f"audit-{item.seq} has contents that it was not made with")
            before = item.digest.hex()
            frontier.add(0, leaf_hash(item.digest))
            first, past = item.seq if first < 0 else first, item.seq + 1
            records, contents = records + 1, contents + (item.ciphertext is not None)
        if frontier.size != self.checkpoint.size or frontier.root() != self.checkpoint.root:
            raise self._damaged("its records are not those of its checkpoint")
        if (records, contents, first, past) != (self.records, self.contents, self.first, self.past):
            raise self._damaged("it does not hold what its first line says")
        return self.archive()

    def _record_fields(self, record: ArchivedEntry) -> dict[str, Any]:
        try:
            entry: dict[str, Any] = json.loads(record.body)
            return {name: entry[name] for name in ("seq", "prev", "payload")}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(f"audit-{record.seq} is no record") from error

    # Bytes ------------------------------------------------------------------------------------------------------

    def _check_signature(self) -> str:
        """Check the signature and return the SHA-256 of the whole file."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        digest, signed, held = hashlib.sha256(), hashlib.sha256(), b""
        first = next(self._read_lines(), b"")  # what does not begin as an archive is not read on
        for piece in self._plain():
            digest.update(piece)
            held += piece
            signed.update(held[:-_SIGNATURE_BYTES])
            held = held[-_SIGNATURE_BYTES:]
        try:
            header = json.loads(first)
            self._signed_by = Verifier.parse(header["key"]).public_key
            Ed25519PublicKey.from_public_bytes(self._signed_by).verify(held, _SIGNED + signed.digest())
        except LimitExceeded:
            raise
        except (
            InvalidSignature,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            HexadError,
        ) as error:
            raise self._damaged("its signature does not hold") from error
        return digest.hexdigest()

    def _plain(self) -> Iterator[bytes]:
        with files.operation("read", self.path, "read"), self.path.open("rb") as file:
            start = file.read(crypto.HEADER_BYTES)
            if not crypto.is_sealed(start):
                yield start
                while piece := file.read(_CHUNK):
                    yield piece
                return
            number, block = 0, file.read(crypto.sealed_block_bytes())
            following = file.read(crypto.sealed_block_bytes())
            blocks = self._opening(start, block, is_last=not following)
            while block:
                yield blocks.open(number, block, last=not following)
                number, block = number + 1, following
                following = file.read(crypto.sealed_block_bytes())

    def _opening(self, start: bytes, block: bytes, *, is_last: bool) -> crypto.Blocks:
        """Return what opens the blocks of a sealed archive: which key it was sealed with depends on where it lay."""
        for cipher in self._ciphers:
            blocks = cipher.blocks(start, name=str(self.path))
            with suppress(IntegrityError):
                blocks.open(0, block, last=is_last)
                return blocks
        raise IntegrityError(
            f"{self.path} is sealed with another key, or was changed: only with the ledger that it came from can it be"
            " read."
        )

    def _read_lines(self) -> Iterator[bytes]:
        """Yield the lines of the stream; the bytes behind it are the signature, and nothing else."""
        unpacker, begun, behind = zlib.decompressobj(), b"", 0
        held: list[bytes] = []
        size = 0
        ended = False
        try:
            for piece in self._plain():
                packed = piece
                if len(begun) < len(FORM):
                    begun += piece
                    if not begun.startswith(FORM[: len(begun)]):
                        raise self._damaged("it does not begin as one")
                    packed = begun[len(FORM) :]
                if ended:
                    behind += len(packed)
                while packed and not ended:
                    first, *others = unpacker.decompress(packed, _CHUNK).split(b"\n")
                    held.append(first)
                    size += len(first)
                    if size > LINE_BYTES_LIMIT:
                        raise LimitExceeded(
                            f"{self.path} has a line of more than {LINE_BYTES_LIMIT:,} bytes: no archive has."
                        )
                    if others:
                        yield b"".join(held)
                        yield from others[:-1]
                        held, size = [others[-1]], len(others[-1])
                    packed, ended = unpacker.unconsumed_tail, unpacker.eof
                    behind += len(unpacker.unused_data)
        except zlib.error as error:
            raise self._damaged("it cannot be unpacked") from error
        if size or not ended or behind != _SIGNATURE_BYTES:
            raise self._damaged("it was cut, or has more than an archive")

    def _damaged(self, reason: str) -> IntegrityError:
        return IntegrityError(f"{self.path} is no archive, or was changed: {reason}.")
