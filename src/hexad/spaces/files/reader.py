"""Reading a space's file: everything is looked at before anything is stored, and an error says where it stands."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn

from hexad.core.arguments import absence, json_fault, parse_path
from hexad.core.json_types import JSONValue
from hexad.database.encryption.store_files import PLAIN, StoreFiles
from hexad.errors import HexadError, InvalidInput, InvalidSpace, LimitExceeded, NotFound
from hexad.memory.memory import Trust
from hexad.memory.source import Skip
from hexad.memory.write_protection import NAMES as PROTECTION
from hexad.spaces.files.fields import ParsedObject, kind_of, mapping_of, parse_object, time_of
from hexad.text.paths import space_of_file_name, validate_space

LEXON_FOLDER: Final = ".lexon"
LEXON_SPACES: Final = "structured_memory"
FILE_BYTES_LIMIT: Final = 1 << 30
"""Largest space file that is read: all of it is in memory at once."""
DEPTH_LIMIT: Final = 64
"""How deep objects and lists may stand in each other."""
LONGEST_TEXT_BYTES: Final = 16 << 20
"""Most bytes of a space file between two quotation marks: the longest memory with every character escaped has less."""
CONTAINERS_FREE, BYTES_A_CONTAINER = 1_000_000, 100
"""So many objects and lists a file may have, and one more for so many of its bytes: empty ones take 24 times that."""
_CONTAINER: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|([{\[])', re.DOTALL)
_QUOTE: Final = re.compile(rb'(?:^|[^\\])(?:\\\\)*+"')
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LETS_IN: Final = frozenset({*PROTECTION, "allow_delete", "auto_pin", "env_allow", "model_may_pin"})
"""Policies that decide who is believed, and what may be kept, shown first or removed."""


Refuse = Callable[[Path, str], NoReturn]
"""Raises for a file, with what is wrong with it."""


POLICIES_OF_A_FILE: Final = (
    "Read the file with policies=True (`hexad spaces read-file --policies`) to take them, or set them."
)
POLICIES_OF_AN_EXPORT: Final = (
    "The export is signed by no key that this store trusts: restore it with policies=True (`hexad spaces restore "
    "--policies`), or with the sender's key (trusted_key=, `--trusted-key`), to take them, or set them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSpace:
    """A file that can be stored as a whole. `head` is the file without its objects, in its order; `trust` the most
    that whoever reads it gives what is new in it, None: what it says.
    """  # fmt: skip

    file: Path
    name: str
    head: Mapping[str, JSONValue]
    metadata: Mapping[str, JSONValue]
    policies: Mapping[str, JSONValue]
    created_at: datetime | None
    updated_at: datetime | None
    objects: Sequence[ParsedObject]
    trust: Trust | None = None
    takes_policies: bool = False
    """Whether a space that it makes gets the file's policies; without it only those that hide something."""
    how_to_take_policies: str = POLICIES_OF_A_FILE
    """What somebody does who wants those that were left out, as a whole sentence."""


def load_json(file: Path, own: StoreFiles = PLAIN, *, refuse: Refuse | None = None) -> object:
    """Return what a JSON file holds; raises `NotFound`, `LimitExceeded`, or `InvalidSpace` with line and column.

    `own` are the files of an open store, whose encrypted ones can be read: `IntegrityError` for any other such.
    `refuse` raises another error than `InvalidSpace`, for a file that is not to be the file of a space.
    """
    refuse = refuse or _refuse
    if not parse_path(file, "file").is_file():
        if file.exists():
            what = "a folder" if file.is_dir() else "a pipe or a device"
            raise InvalidInput(f"{str(file)!r} is {what}; give a file.")
        raise NotFound(f"{absence(file, 'file')}; check the path.")
    size = own.size(file)
    if size > FILE_BYTES_LIMIT:
        raise LimitExceeded(
            f"The file {file} has {size:,} bytes; a space file has at most {FILE_BYTES_LIMIT:,}."
        )
    if size > LONGEST_TEXT_BYTES:
        _refuse_endless_text(file, own, refuse)
    data = own.read(file)
    _refuse_many_containers(file, data, refuse)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(file, f"line {line} holds bytes that are no UTF-8 (at byte {error.start:,})")
    try:
        return read_json(text)
    except ValueError as error:
        refuse(file, json_fault(error))


def _refuse_endless_text(file: Path, own: StoreFiles, refuse: Refuse) -> None:
    """Refuse a file with so much between two quotation marks as no memory has, before it is in memory as a whole."""
    since = 0
    for piece in own.pieces(file):
        since = 0 if _QUOTE.search(piece) else since + len(piece)
        if since > LONGEST_TEXT_BYTES:
            refuse(file, f"one text or list of numbers in it has more than {LONGEST_TEXT_BYTES:,} bytes")


def _refuse_many_containers(file: Path, data: bytes, refuse: Refuse) -> None:
    """Refuse a file of next to nothing but objects and lists, which would take many times its size."""
    most = CONTAINERS_FREE + len(data) // BYTES_A_CONTAINER
    if data.count(b"{") + data.count(b"[") <= most:
        return
    count = sum(found.lastindex is not None for found in _CONTAINER.finditer(data))  # not those in texts
    if count > most:
        refuse(file, f"it has {count:,} objects and lists; a file of its size has at most {most:,}")


def read_json(text: str) -> object:
    """Return what a JSON text says; raises `ValueError` with what is wrong with it, and where.

    Nothing is guessed: a key that an object has twice, a number that no JSON has, and half of a character are refused.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError(json_fault(error)) from error
    if depth(value, DEPTH_LIMIT) > DEPTH_LIMIT:
        raise ValueError(f"its lists and objects stand in each other more than {DEPTH_LIMIT} deep")
    if _SURROGATE_ESCAPE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("a text holds half of a character (a lone surrogate such as \\ud800)") from error
    return value


def depth(value: object, limit: int) -> int:
    """Return how deep lists and objects stand in each other, or one more than `limit`."""
    level, count = [value] if isinstance(value, dict | list) else [], 0
    while level and count <= limit:
        count += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return count


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ValueError(f"an object has the key {twice[:80]!r} twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _refuse(file: Path, problem: str) -> NoReturn:
    raise InvalidSpace(
        f"Invalid space file {file}: {problem}. Nothing of it was read; mend it or take another copy."
    )


def parse_space(
    document: object, *, file: Path, default_name: str | None = None, renamed: bool = False
) -> ParsedSpace:
    """Return the space of a document that was read from `file`; raises `InvalidSpace` for what cannot be stored.

    `default_name` is the name of a document that gives none, by default that of the file. With `renamed` the caller
    gives the space another name, and this one may be anything.
    """
    if not isinstance(document, Mapping):
        _refuse(file, f"it holds {kind_of(document)}, not a space: an object with 'name' and 'objects'")
    if not {"name", "objects"} & set(document):
        _refuse(file, "it has neither 'name' nor 'objects', so it is no space")
    name = document.get("name", default_name)
    if name is None:
        try:
            name = file.stem if renamed else space_of_file_name(file.stem)
        except InvalidSpace as error:
            problem = str(error).rstrip(".")
            _refuse(
                file, f"it has no 'name', and its own will not do: {problem}; or give one (name=, --name)"
            )
    if not isinstance(name, str):
        _refuse(file, f"name is {kind_of(name)}; it must be a text")
    try:
        if not renamed:
            _check_name(name)
        created_at = time_of(document, "created_at")
        updated_at = time_of(document, "updated_at")
        metadata, policies = mapping_of(document, "metadata"), mapping_of(document, "policies")
    except HexadError as error:
        _refuse(file, str(error).rstrip("."))
    rows = document.get("objects")
    if rows is None:
        rows = []
    if not isinstance(rows, list):
        _refuse(file, f"objects is {kind_of(rows)}; it must be a list")
    head = {key: (None if key == "objects" else value) for key, value in document.items()}
    fallback = updated_at or created_at
    return ParsedSpace(
        file=file,
        name=name,
        head=head,
        metadata=metadata,
        policies=policies,
        created_at=created_at,
        updated_at=updated_at,
        objects=_objects(rows, file=file, name=name, fallback=fallback),
    )


def _check_name(name: str) -> None:
    try:
        validate_space(name)
    except InvalidSpace as error:
        raise InvalidSpace(
            f"{str(error).rstrip('.')}; or read it under a name of your own (name=, --name)"
        ) from error


def _objects(rows: list[object], *, file: Path, name: str, fallback: datetime | None) -> list[ParsedObject]:
    parsed_objects: list[ParsedObject] = []
    seen: dict[str, int] = {}
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            _refuse(file, f"objects[{at}] is {kind_of(row)}; it must be an object")
        try:
            parsed_object = parse_object(at, row, name=name, fallback=fallback)
        except HexadError as error:
            shown = row.get("id")
            which = f" (id {shown[:80]!r})" if isinstance(shown, str) else ""
            _refuse(file, f"objects[{at}]{which}: {str(error).rstrip('.')}")
        if parsed_object.id in seen:
            _refuse(
                file, f"objects[{at}] has the id {parsed_object.id!r} of objects[{seen[parsed_object.id]}]"
            )
        seen[parsed_object.id] = at
        parsed_objects.append(parsed_object)
    return parsed_objects


def without_a_say(parsed: ParsedSpace) -> tuple[ParsedSpace, list[str]]:
    """Return a file that is not trusted as the user's without the policies by which it would let itself in, and a note.

    They are not kept for the file either: written back, they would be the store's own words.
    """
    names = sorted(name for name in parsed.policies if name in _LETS_IN)
    if not names or parsed.trust is None or parsed.trust is Trust.USER:
        return parsed, []
    left = {name: value for name, value in parsed.policies.items() if name not in _LETS_IN}
    note = f"Not taken, because the file is trusted as {parsed.trust.value}: the policies {', '.join(names)}."
    return replace(parsed, policies=left, head={**parsed.head, "policies": left}), [note]


def rename(parsed: ParsedSpace, name: str) -> ParsedSpace:
    """Return the file as if it had been written for the space `name`: that is what is written back."""
    return replace(
        parsed,
        name=name,
        head={**parsed.head, "name": name},
        objects=[
            replace(parsed_object, object=_fields_for(parsed_object.object, name))
            for parsed_object in parsed.objects
        ],
    )


def _fields_for(fields: Mapping[str, JSONValue], name: str) -> Mapping[str, JSONValue]:
    renamed = dict(fields)
    metadata = renamed.get("metadata")
    if isinstance(metadata, Mapping) and "space" in metadata:
        renamed["metadata"] = {**metadata, "space": name}
    if "space" in renamed:
        renamed["space"] = name
    return renamed


def find_lexon_folder(folder: Path) -> Path:
    """Return the `.lexon` folder that is meant: the folder itself, or the one inside it."""
    for root in (folder, folder / LEXON_FOLDER):
        if (root / LEXON_SPACES).is_dir():
            return root
    raise NotFound(
        f"There is no {LEXON_SPACES}/ in {str(folder)!r} and no {LEXON_FOLDER}/ that has one; name the folder that "
        "Lexon wrote."
    )


def list_unread(root: Path) -> list[Skip]:
    """List what lies in the folder besides space files, each with what would bring it here."""
    skips = [
        Skip(source_id=f"{LEXON_SPACES}/{path.name}", reason="no space file: its name does not end in .json")
        for path in sorted((root / LEXON_SPACES).iterdir())
        if path.suffix != ".json" or not path.is_file()
    ]
    for path in sorted(root.iterdir()):
        if path.name == "exports":
            skips.append(
                Skip(
                    source_id="exports/",
                    reason="copies of spaces; `hx.spaces.read_file` reads one whose space is gone",
                )
            )
        elif path.name != LEXON_SPACES:
            skips.append(Skip(source_id=path.name + "/" * path.is_dir(), reason="no memory of a space"))
    return skips
