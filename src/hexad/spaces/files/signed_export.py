"""Signed exports of a space: a bundle of its document, a hash of it, and an Ed25519 signature over both.

Anybody can check a bundle without the store. What it proves: the holder of the key signed exactly this content as
this space at this time. Whose key that is, only its fingerprint can tell, had by another way.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

from hexad.core.arguments import parse_path, parse_time, quoted
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.codec import dump
from hexad.database.encryption.store_files import PLAIN, StoreFiles
from hexad.database.files import PRIVATE_FILE_MODE, ensure_dir
from hexad.errors import Conflict, HexadError, IntegrityError, InvalidInput
from hexad.spaces.files.document import SpaceDocument, Step, canonical_hash
from hexad.spaces.files.reader import load_json
from hexad.spaces.files.report import ExportReport, Verified

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT: Final = "hexad.space-export"
VERSION: Final = 1
_DOMAIN: Final = b"hexad space export, signed statement 1\n"
_SIGNED: Final = ("format", "version", "space", "exported_at", "content_hash", "public_key")
_KEYS: Final = (*_SIGNED, "signature", "document")
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_KEY: Final = re.compile(r"[0-9a-f]{64}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")
_HEAD_BYTES: Final = 64 << 10
_P: Final = 2**255 - 19
_ORDER_8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_WEAK: Final = frozenset({0, 1, _P - 1, _P, _P + 1, _ORDER_8, _P - _ORDER_8})
"""Keys under which one signature fits every text: the curve's points of small order, by their y coordinate."""


def key_fingerprint(public_key: str) -> str:
    """Return the short form of a public key that people compare: 16 groups of four hexadecimal digits."""
    digest = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()
    return ":".join(digest[at : at + 4] for at in range(0, len(digest), 4))


def write_export(
    path: Path,
    document: SpaceDocument,
    *,
    space: str,
    key: Ed25519PrivateKey,
    exported_at: datetime,
    own: StoreFiles,
    force: bool = False,
    step: Step | None = None,
) -> ExportReport:
    """Write the signed bundle of a space to `path`, whole or not at all; call it inside one `db.read()`.

    What is there is replaced only when it is an export of the same space, or with `force`; it keeps its mode.
    Raises `Conflict` otherwise. `own` says whether it is encrypted; what is signed is always the plain content.
    """
    mode = _replaceable(path, space, own, force=force)
    content_hash, objects = document.content_hash()
    public_key = key.public_key().public_bytes_raw().hex()
    statement: dict[str, JSONValue] = {
        "format": FORMAT,
        "version": VERSION,
        "space": space,
        "exported_at": format_time(exported_at),
        "content_hash": content_hash,
        "public_key": public_key,
    }
    head = {**statement, "signature": key.sign(_signed_bytes(statement)).hex()}
    ensure_dir(path.parent)
    own.stream(
        path,
        _pieces(head, document, step),
        mode=mode,
        # Writing takes its time: somebody else's file may have come meanwhile.
        may_replace=lambda: _replaceable(path, space, own, force=force),
    )
    return ExportReport(
        path=path,
        space=space,
        objects=objects,
        exported_at=exported_at,
        content_hash=content_hash,
        key_fingerprint=key_fingerprint(public_key),
    )


def _signed_bytes(statement: Mapping[str, JSONValue]) -> bytes:
    return _DOMAIN + dump({key: statement[key] for key in _SIGNED}).encode()


def _pieces(head: Mapping[str, JSONValue], document: SpaceDocument, step: Step | None) -> Iterator[bytes]:
    # The head stands first, so that whoever opens the file, or is about to replace it, sees what it is.
    yield json.dumps(head, ensure_ascii=False, indent=2).removesuffix("\n}").encode()
    yield b',\n  "document": '
    for piece in document.text(indent=1, step=step):
        yield piece.encode()
    yield b"\n}\n"


def _replaceable(path: Path, space: str, own: StoreFiles, *, force: bool) -> int:
    """Return the mode that a file at `path` is to have; raises `Conflict` for what is not to be replaced."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return PRIVATE_FILE_MODE
    except OSError as error:
        raise InvalidInput(f"Cannot export to {path}: {error.strerror}. Choose another file.") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(
            f"Cannot export to {path}: it is no file. Name a file, such as exports/space.json."
        )
    if not force:
        there = space_of_export(path, own)
        if there != space:
            what = "is no export" if there is None else f"is an export of the space {there!r}"
            raise Conflict(
                f"{path} {what}; it is left as it is.",
                remedy="Choose another file, or say that it may be overwritten ({force=True}).",
            )
    return stat.S_IMODE(status.st_mode)


def space_of_export(path: Path, own: StoreFiles) -> str | None:
    """Return of which space a file is an export, from its first bytes; None for anything else."""
    try:
        head = own.head(path, _HEAD_BYTES)
    except IntegrityError:
        return None  # of another store, or damaged
    start, separator, _rest = head.partition(b',\n  "document":')
    if not separator:
        return None
    try:
        document = json.loads(start + b"}")
    except ValueError:
        return None
    return document.get("space") if isinstance(document, dict) and document.get("format") == FORMAT else None


# Checking ---------------------------------------------------------------------------------------------------------


def verify_export(file: str | Path, *, trusted_key: str | None = None, own: StoreFiles = PLAIN) -> Verified:
    """Check the signed export in `file` and return what it proves; needs no store and no key of its own.

    `trusted_key` is a public key or its fingerprint, in hexadecimal: the export must be signed with that one. Without
    it, any key will do, and `trusted` is False: compare `key_fingerprint` with what the sender tells you. `own` are
    the files of an open store: one that is encrypted only its own store reads.

    Raises `IntegrityError` saying what does not match, `NotFound` when there is no such file, `AccessDenied` for one
    that is encrypted: `hx.spaces.verify` checks it where its store is open.
    """
    path = parse_path(file, "file")
    if not isinstance(own, StoreFiles):
        raise InvalidInput(
            f"own = {quoted(own)} cannot be used; leave it out, or ask `hx.spaces.verify`.", argument="own"
        )
    bundle = load_json(path, own, refuse=_unreadable)
    head = _head(path, bundle)
    document, public_key = cast("Mapping[str, JSONValue]", head["document"]), cast("str", head["public_key"])
    if canonical_hash(document) != head["content_hash"]:
        raise _broken(path, "its content is not what was signed (content_hash does not match)")
    if not _is_signed(head, public_key):
        raise _broken(
            path, "the signature does not fit space, time, hash and key: one of them is not what was signed"
        )
    trusted = _trusted(path, public_key, trusted_key)
    objects = document.get("objects")
    return Verified(
        file=path,
        space=cast("str", head["space"]),
        objects=len(objects) if isinstance(objects, list) else 0,
        exported_at=_exported_at(path, head),
        content_hash=head["content_hash"],
        public_key=public_key,
        key_fingerprint=key_fingerprint(public_key),
        trusted=trusted,
        document=document,
    )


def _unreadable(path: Path, problem: str) -> NoReturn:
    raise _broken(path, f"it cannot be read ({problem})")


def _broken(path: Path, problem: str) -> IntegrityError:
    return IntegrityError(
        f"The export {path} does not verify: {problem}. Nothing of it was used; take another copy."
    )


def _head(path: Path, bundle: object) -> Mapping[str, JSONValue]:
    """Return the bundle once each of its parts has the form that it must have."""
    if not isinstance(bundle, Mapping) or bundle.get("format") != FORMAT:
        raise _broken(
            path, f"it is no signed export (format {FORMAT!r}); a plain space file is for `spaces.read_file`"
        )
    if bundle.get("version") != VERSION or type(bundle.get("version")) is not int:
        raise _broken(
            path, f"its version {bundle.get('version')!r} is not {VERSION}, the one that is understood"
        )
    missing, more = set(_KEYS) - set(bundle), set(bundle) - set(_KEYS)
    if missing or more:
        which = f"{sorted(missing)[0]!r} is missing" if missing else f"{sorted(more)[0]!r} was not signed"
        raise _broken(path, which)
    for key, form in (("content_hash", _HASH), ("public_key", _KEY), ("signature", _SIGNATURE)):
        value = bundle[key]
        if not isinstance(value, str) or form.fullmatch(value) is None:
            raise _broken(path, f"{key} is not what it must look like")
    if not isinstance(bundle["document"], Mapping):
        raise _broken(path, "document is no object")
    if (
        not isinstance(bundle["space"], str)
        or bundle["document"].get("name", bundle["space"]) != bundle["space"]
    ):
        raise _broken(path, "the space that it names is not the one in its document")
    return bundle


def _is_signed(head: Mapping[str, JSONValue], public_key: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if int.from_bytes(bytes.fromhex(public_key), "little") & ~(1 << 255) in _WEAK:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(cast("str", head["signature"])), _signed_bytes(head))
    except (InvalidSignature, ValueError):
        return False
    return True


def _trusted(path: Path, public_key: str, trusted_key: str | None) -> bool:
    if trusted_key is None:
        return False
    fingerprint = re.sub(r"[\s:]", "", str(trusted_key)).lower()
    if _KEY.fullmatch(fingerprint) is None:
        raise InvalidInput(
            f"trusted_key {str(trusted_key)[:80]!r} is no key; give a public key or its fingerprint, 64 hexadecimal "
            "digits."
        )
    if fingerprint not in {public_key, key_fingerprint(public_key).replace(":", "")}:
        raise _broken(
            path, f"it is signed with another key than the trusted one, {key_fingerprint(public_key)}"
        )
    return True


def _exported_at(path: Path, head: Mapping[str, JSONValue]) -> datetime:
    time = head["exported_at"]
    try:
        at = parse_time(time if isinstance(time, str) else None, "exported_at")
    except HexadError as error:
        raise _broken(path, str(error)) from error
    if at is None:
        raise _broken(path, "exported_at is not a time")
    return at
