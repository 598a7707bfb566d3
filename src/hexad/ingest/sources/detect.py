"""What a source is: a text, a file, a folder, a conversation, documents, or a repository's history."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from hexad.core.arguments import absence
from hexad.core.ids import content_hash
from hexad.errors import InvalidInput, NotFound
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.git_command import toplevel
from hexad.ingest.sources.jsonlines import json_head, lines_of
from hexad.ingest.sources.sqlite_copy import is_sqlite
from hexad.memory.memory import MEMORY_BYTES_LIMIT
from hexad.memory.source import _OF_A_PLACE, FOREIGN, SourceKind

GIT_PREFIX: Final = "git:"
_RECORDS_LOOKED_AT: Final = 5
_CONVERSATION_KEYS: Final = frozenset(
    ["speaker", "role", "messages", "conversations", "chat_messages", "mapping", "sessionId"]
)
_TEXT_KEYS: Final = frozenset(["text", "content", "body"])


"""Kinds that are memories of another system, which no file's content says: the caller does."""
"""Foreign kinds whose ids say something inside one file or folder alone, which holds all there is."""
"""Foreign kinds whose exports may hold a part of what there is: what one does not show is not gone."""
_OF_A_FILE: Final = frozenset({SourceKind.MEM0, SourceKind.CLAUDE_MEM, SourceKind.SERVER_MEMORY})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """A source, found: `uri` is its identity, an absolute POSIX path or `git:<top folder>?<range>`.

    A text that was handed in has no place: its identity is its hash.
    """

    kind: SourceKind
    uri: str
    path: Path | None = None
    range: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How far a reader goes.

    A text of more than `max_file_bytes` is read in numbered parts, one of more than `hard_limit_bytes` is
    skipped. `include` and `exclude` are patterns as in a `.gitignore`, relative to the folder.
    """

    max_file_bytes: int = MEMORY_BYTES_LIMIT
    hard_limit_bytes: int = 64 << 20
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_symlinks: bool = False
    hidden: bool = False
    gitignore: bool = True
    commits_limit: int = 200

    def __post_init__(self) -> None:
        if not 1_024 <= self.max_file_bytes <= MEMORY_BYTES_LIMIT:
            raise InvalidInput(
                f"max_file_bytes={self.max_file_bytes} is not possible; give 1,024 to {MEMORY_BYTES_LIMIT:,}."
            )
        if self.commits_limit < 1:
            raise InvalidInput(f"commits_limit={self.commits_limit} reads nothing; give at least 1.")


def detect(source: str | Path, *, kind: str | None = None) -> SourceSpec:
    """Return what `source` is; `kind` says it when the content would not.

    A string is a path, or `git:RANGE`, `git:FOLDER` or `git:FOLDER?RANGE`. With `kind="git"` it is a folder
    or a range of the current folder's repository; with `kind="text"` it names the text, not a path.

    Raises `NotFound` when there is no such path, `InvalidInput` for an unknown kind, for what is neither
    file nor folder, and for a folder that is no repository.
    """
    wanted = _kind(kind)
    if wanted is SourceKind.TEXT:
        return SourceSpec(kind=SourceKind.TEXT, uri=f"text:{content_hash(str(source))}", text=str(source))
    if wanted is SourceKind.GIT or (isinstance(source, str) and source.startswith(GIT_PREFIX)):
        return _detect_git(str(source).removeprefix(GIT_PREFIX))
    path = _existing(source)
    if wanted in FOREIGN:
        return _detect_foreign(path, wanted)
    if path.is_dir():
        if wanted not in (None, SourceKind.FOLDER):
            raise InvalidInput(f"{str(path)!r} is a folder and cannot be read as {kind!r}; name a file.")
        source_kind = SourceKind.FOLDER
    elif path.is_file():
        if wanted is SourceKind.FOLDER:
            raise InvalidInput(f"{str(path)!r} is a file, not a folder; leave the kind out or name a folder.")
        source_kind = wanted or _kind_of_file(path)
    else:
        raise InvalidInput(f"{str(path)!r} is neither a file nor a folder; pass its content as text instead.")
    return SourceSpec(kind=source_kind, uri=safe_id(path.as_posix()), path=path)


def _detect_foreign(path: Path, kind: SourceKind) -> SourceSpec:
    """Return another system's memories: where its ids are its own anywhere, all its exports are one source."""
    if path.is_dir() and kind in _OF_A_FILE:
        raise InvalidInput(
            f"{str(path)!r} is a folder; for {kind.value!r} name the file in it that holds the memories."
        )
    if not path.is_dir() and not path.is_file():
        raise InvalidInput(
            f"{str(path)!r} is neither a file nor a folder; save its content as a file, and name that."
        )
    uri = f"{kind.value}:{safe_id(path.as_posix()) if kind in _OF_A_PLACE else ''}"
    if kind is SourceKind.MEM0 and is_sqlite(path):
        uri += "history"  # says other things of the same memories: the two do not take turns in changing them
    return SourceSpec(kind=kind, uri=uri, path=path)


def _kind(kind: str | None) -> SourceKind | None:
    if kind is None:
        return None
    try:
        return SourceKind(kind)
    except ValueError:
        names = ", ".join(SourceKind)
        raise InvalidInput(f"Source kind {kind!r} is unknown; use one of {names}.") from None


def _encodes(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _existing(source: str | Path) -> Path:
    if str(source) == "" or "\0" in str(source) or not _encodes(str(source)):
        raise InvalidInput(f"Source {str(source)!r} cannot be a path; give a file, a folder or `git:RANGE`.")
    path = Path(os.path.abspath(Path(source).expanduser() if str(source).startswith("~") else source))
    try:
        path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise NotFound(
                f"{absence(path, 'file')}; mend the link, or name what it should lead to."
            ) from None
        raise NotFound(
            f"Source {str(source)!r} was not found (looked for {str(path)!r}). Check the spelling, or use "
            f"{f'git:{source}'!r} if it is a range of commits."
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"Source {str(source)!r} cannot be opened: {error.strerror}. Check its name and its permissions."
        ) from None
    return path


def _detect_git(rest: str) -> SourceSpec:
    folder, mark, commits = rest.partition("?")
    if not mark:
        folder, commits = (rest, "") if rest and Path(rest).is_dir() else (".", rest)
    path = _existing(folder or ".")
    top = toplevel(path)
    return SourceSpec(
        kind=SourceKind.GIT, uri=f"git:{safe_id(top.as_posix())}?{commits}", path=top, range=commits or None
    )


def _kind_of_file(path: Path) -> SourceKind:
    """Say what a file is by the keys of its first records; a file that is no JSON is just a file.

    Lines that all begin as records and of which none can be read are damaged documents: their reader says where.
    """
    if path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
        return SourceKind.FILE
    try:
        records = _first_records(path)
        if not records and _are_damaged_records(path):
            return SourceKind.DOCUMENTS
    except (OSError, ValueError, RecursionError):
        return SourceKind.FILE
    kinds = [_kind_of_record(record) for record in records]
    return next((kind for kind in kinds if kind is not None), SourceKind.FILE)


def _are_damaged_records(path: Path) -> bool:
    if path.suffix.lower() == ".json":
        return False
    with path.open("rb") as file:
        lines = [line for _, line in islice(lines_of(file), 4 * _RECORDS_LOOKED_AT)]
    # A brace alone is how an object begins that stands on many lines.
    return bool(lines) and all(isinstance(line, str) and line.startswith('{"') for line in lines)


def _first_records(path: Path) -> list[object]:
    if path.suffix.lower() == ".json":
        return json_head(path, limit=_RECORDS_LOOKED_AT)
    with path.open("rb") as file:
        records: list[object] = []
        for _, line in islice(lines_of(file), 4 * _RECORDS_LOOKED_AT):
            if isinstance(line, str):
                with suppress(ValueError, RecursionError):  # the reader of the records says so
                    records.append(json.loads(line))
        return records


def _kind_of_record(record: object) -> SourceKind | None:
    if not isinstance(record, dict):
        return None
    keys = record.keys()
    if _CONVERSATION_KEYS & keys:
        return SourceKind.CONVERSATION
    return SourceKind.DOCUMENTS if _TEXT_KEYS & keys else None
