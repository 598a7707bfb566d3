"""One file as items: unchanged, skipped with a reason, whole, or in numbered parts."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, TextIO

from hexad.core.json_types import JSONValue
from hexad.database.encryption.secrets_file import holds_keys
from hexad.ingest.sources.decode import HEAD_BYTES, Encoding, Sniffer, refuse
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.file_place import FilePlace, clean_tags, place, safe_id
from hexad.ingest.sources.formats.choose import CONVERTED, parse
from hexad.ingest.sources.formats.parsed import Parsed
from hexad.memory.source import Item, KnownItem, Skip, Unchanged
from hexad.text.normalize import clean

Lookup = Callable[[str], KnownItem | None]

_BLOCK_BYTES: Final = 1 << 20
_CONVERTED_BYTES_LIMIT: Final = 16 << 20
_WORD_LIMIT: Final = 1_024
NOT_READABLE: Final = "not readable"
"""How the reason begins for what is there and may not be read today."""
EMPTY: Final = "empty"
"""The reason for a file without a byte."""
_BLOCK_LINES: Final = 200

_LONG_LINE: Final = 5_000
_LONG_LINES_SHARE: Final = 0.5
_GENERATED: Final = re.compile(
    r"@generated\b|\b(?:code|automatically) generated\b.{0,200}\bdo not edit",
    re.IGNORECASE,
)
_LOCK_FILES: Final = frozenset(
    [
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
        *(
            "poetry.lock",
            "pipfile.lock",
            "pdm.lock",
            "uv.lock",
            "cargo.lock",
            "composer.lock",
            "gemfile.lock",
        ),
        *(
            "go.sum",
            "go.work.sum",
            "mix.lock",
            "pubspec.lock",
            "flake.lock",
            "podfile.lock",
            "gradle.lockfile",
        ),
        *("packages.lock.json", "package.resolved"),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A file to read: `relative` is its name inside the source, as the file system spells it."""

    path: Path
    relative: str
    project: str
    uri: str
    explicit: bool = False


def read_file(file: FileSource, *, options: ReadOptions, known: Lookup) -> Iterator[Item | Skip | Unchanged]:
    """Give the file's items; whatever cannot be read is one `Skip`, never an exception.

    A file named by the user (`explicit`) is read also when it looks generated.
    """
    # A file may be named like a part; `safe_id` never writes `%23`, so nothing else is.
    source_id = safe_id(file.relative).replace("#part-", "%23part-")
    try:
        descriptor = _open(file.path, follow=options.follow_symlinks or file.explicit)
    except OSError as error:
        yield Skip(source_id=source_id, reason=reason_of(error))
        return
    if isinstance(descriptor, str):
        yield Skip(source_id=source_id, reason=descriptor)
        return
    with os.fdopen(descriptor, "rb") as handle:
        try:
            yield from _read_open(handle, file, source_id, options=options, known=known)
        except OSError as error:
            yield Skip(source_id=source_id, reason=reason_of(error))


def reason_of(error: OSError) -> str:
    """Return in words why the file system refused."""
    if isinstance(error, FileNotFoundError):
        return "vanished while the source was read"
    return f"{NOT_READABLE}: {error.strerror or type(error).__name__}"


def not_regular(mode: int) -> str | None:
    """Return what a thing of this mode is when it is neither file nor folder."""
    for test, name in (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISLNK, "a symbolic link (not followed)"),
    ):
        if test(mode):
            return name
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "no regular file"


def _open(path: Path, *, follow: bool) -> int | str:
    # Looked at before it is opened, since opening a device can do something; opened without waiting, since a
    # file may have become a pipe in between; and looked at again by its descriptor for that reason.
    if problem := not_regular(os.stat(path, follow_symlinks=follow).st_mode):
        return problem
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return "no regular file"
    return descriptor


def _read_open(
    handle: BinaryIO, file: FileSource, source_id: str, *, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    state = os.fstat(handle.fileno())
    fingerprint = f"{state.st_size}:{state.st_mtime_ns}"
    problem = _problem_of_place(file, state.st_size, options)
    before = known(source_id)
    if problem is None and before is not None and before.fingerprint == fingerprint:
        yield from _unchanged(source_id, fingerprint, known)
        return
    if problem is None:
        head = handle.read(HEAD_BYTES)
        problem = refuse(head) or ("it holds a store's own keys" if holds_keys(head) else None)
        problem = problem or (None if file.explicit else _problem_of_head(head, source_id))
    if problem is not None:
        yield Skip(source_id=source_id, reason=problem)
        return
    survey = _survey(handle, head)
    if before is not None and before.content_hash == survey.content_hash:
        yield from _unchanged(source_id, fingerprint, known)
        return
    looks = place(source_id, project=file.project)
    if reason := survey.problem or (None if file.explicit else _minified(survey, looks)):
        yield Skip(source_id=source_id, reason=reason)
        return
    item = _Frame(file=file, source_id=source_id, fingerprint=fingerprint, size=state.st_size, survey=survey)
    yield from _items(handle, item, looks, options=options)


def _problem_of_place(file: FileSource, size: int, options: ReadOptions) -> str | None:
    if size == 0:
        return EMPTY
    if size > options.hard_limit_bytes:
        return f"larger than {_in_words(options.hard_limit_bytes)}"
    if not file.explicit and PurePosixPath(file.relative).name.lower() in _LOCK_FILES:
        return "a lock file"
    return None


def _in_words(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 and not size % (1 << 20) else f"{size:,} bytes"


def _problem_of_head(head: bytes, source_id: str) -> str | None:
    if ".min." in PurePosixPath(source_id).name or source_id.endswith(".map"):
        return "minified or generated (its name says so)"
    first_lines = "\n".join(head[:2_000].decode("utf-8", "replace").split("\n")[:6])
    return "generated (its first lines say so)" if _GENERATED.search(first_lines) else None


def _unchanged(source_id: str, fingerprint: str, known: Lookup) -> Iterator[Unchanged]:
    yield Unchanged(source_id=source_id, fingerprint=fingerprint)
    number = 2
    while known(part_id(source_id, number)) is not None:
        yield Unchanged(source_id=part_id(source_id, number), fingerprint=fingerprint)
        number += 1


def part_id(source_id: str, number: int) -> str:
    """Return the id of a source's part; the first one has the source's own."""
    return source_id if number == 1 else f"{source_id}#part-{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Survey:
    """What the first walk over a file's bytes found; the second one reads."""

    content_hash: str
    encoding: Encoding
    problem: str | None
    characters: int
    in_long_lines: int


def _survey(handle: BinaryIO, head: bytes) -> _Survey:
    digest = hashlib.sha256()
    sniffer = Sniffer(head)
    lines = _LongLines()
    characters = 0
    blank = True
    handle.seek(0)
    while block := handle.read(_BLOCK_BYTES):
        digest.update(block)
        text = sniffer.feed(block)
        characters += len(text)
        blank = blank and not text.strip()
        lines.feed(text)
    sniffer.feed(b"", final=True)
    return _Survey(
        content_hash=f"sha256:{digest.hexdigest()}",
        encoding=sniffer.encoding(),
        problem=sniffer.refuse() or ("empty: nothing but white space" if blank else None),
        characters=characters,
        in_long_lines=lines.total(),
    )


class _LongLines:
    """Counts the characters that stand in very long lines."""

    def __init__(self) -> None:
        self._open = self._total = 0

    def feed(self, text: str) -> None:
        for number, piece in enumerate(text.split("\n")):
            if number:
                self._close()
            self._open += len(piece)

    def total(self) -> int:
        self._close()
        return self._total

    def _close(self) -> None:
        self._total += self._open if self._open > _LONG_LINE else 0
        self._open = 0


def _minified(survey: _Survey, looks: FilePlace) -> str | None:
    if looks.kind not in ("code", "config") and looks.language != "html":
        return None
    if looks.language != "notebook" and survey.in_long_lines > survey.characters * _LONG_LINES_SHARE:
        return f"minified or generated: most of it stands in lines of over {_LONG_LINE:,} characters"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What all parts of a file share."""

    file: FileSource
    source_id: str
    fingerprint: str
    size: int
    survey: _Survey

    def metadata(self, looks: FilePlace, title: str | None) -> dict[str, JSONValue]:
        metadata: dict[str, JSONValue | None] = {
            "project": self.file.project,
            "source": self.file.uri,
            "language": looks.language,
            "title": title,
            "size": self.size,
            "encoding": self.survey.encoding.note,
        }
        return {name: value for name, value in metadata.items() if value is not None}


def _items(
    handle: BinaryIO, frame: _Frame, looks: FilePlace, *, options: ReadOptions
) -> Iterator[Item | Skip]:
    handle.seek(0)
    with io.TextIOWrapper(handle, encoding=frame.survey.encoding.name, errors="replace") as stream:
        if looks.language not in CONVERTED:
            yield from _part_items(parts_of(stream, limit=options.max_file_bytes), frame, looks)
            return
        if frame.size > _CONVERTED_BYTES_LIMIT:
            reason = f"larger than {_in_words(_CONVERTED_BYTES_LIMIT)}, the limit of a {looks.language} file"
            yield Skip(source_id=frame.source_id, reason=reason)
            return
        parsed = parse(clean(stream.read()), language=looks.language)
    if not parsed.text.strip():
        yield Skip(source_id=frame.source_id, reason="empty: no text is left of it")
    elif len(parsed.text.encode()) <= options.max_file_bytes:
        yield _item(frame, looks, parsed, parsed)
    else:
        # Its parts are plain text: what the whole was made of is known only of the whole.
        parts = parts_of(io.StringIO(parsed.text), limit=options.max_file_bytes)
        yield from _part_items(parts, frame, replace(looks, language=None))


def _part_items(parts: Iterator[TextPart], frame: _Frame, looks: FilePlace) -> Iterator[Item]:
    first: Parsed | None = None
    for part in parts:
        parsed = parse(part.text, language=looks.language, first_line=part.first_line)
        first = first or parsed
        yield _item(frame, looks, parsed, first, part=part)


def _item(
    frame: _Frame, looks: FilePlace, parsed: Parsed, first: Parsed, *, part: TextPart | None = None
) -> Item:
    """Return one item; what the first part says of itself (title, time, tags) holds for all."""
    metadata = frame.metadata(looks, first.title)
    if part is not None and (part.number > 1 or not part.is_last):
        metadata["part"] = part.number
    return Item(
        source_id=part_id(frame.source_id, part.number if part is not None else 1),
        text=parsed.text,
        kind=looks.kind,
        path=looks.path,
        title=first.title,
        time=first.time,
        tags=clean_tags([*looks.tags, *first.tags]),
        sections=parsed.sections,
        fingerprint=frame.fingerprint,
        content_hash=frame.survey.content_hash,
        first_line=part.first_line if part is not None else 1,
        metadata=metadata,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A stretch of a text between line ends; the first has number 1."""

    text: str
    number: int
    first_line: int
    is_last: bool


def parts_of(stream: TextIO, *, limit: int) -> Iterator[TextPart]:
    """Give texts of at most `limit` bytes of UTF-8, cut between lines; blank ones are left out.

    A line that is longer by itself is cut inside: its pieces carry the same number.
    """
    pieces: list[str] = []
    rest = ""
    size, number, first_line, line = 0, 1, 1, 1
    # A character takes up to four bytes.
    while piece := rest + stream.readline(limit // 4 - len(rest)):
        piece, rest = _at_a_blank(piece)
        width = len(piece.encode("utf-8", "replace"))
        if pieces and size + width > limit:
            # What is redacted as one must not be cut: a private key that has begun goes into the next part whole.
            pieces_before = _before_open_block(pieces)
            carried = pieces[pieces_before:]
            text = clean("".join(pieces[:pieces_before]))
            if text.strip():
                yield TextPart(text=text, number=number, first_line=first_line, is_last=False)
                number += 1
            first_line = line - sum(carried_line.endswith("\n") for carried_line in carried)
            pieces = carried
            size = sum(len(carried_line.encode("utf-8", "replace")) for carried_line in carried)
        pieces.append(piece)
        size += width
        line += piece.endswith("\n")
    text = clean("".join(pieces))
    if text.strip():
        yield TextPart(text=text, number=number, first_line=first_line, is_last=True)


def _at_a_blank(piece: str) -> tuple[str, str]:
    """Cut a piece of a long line at its last blank, so that no word, and no token, is in two parts."""
    if piece.endswith("\n"):
        return piece, ""
    cut = max(
        piece.rfind(" ", max(1, len(piece) - _WORD_LIMIT)),
        piece.rfind("\t", max(1, len(piece) - _WORD_LIMIT)),
    )
    return (piece[: cut + 1], piece[cut + 1 :]) if cut > 0 else (piece, "")


def _before_open_block(pieces: Sequence[str]) -> int:
    """Return how many lines stand before a key block that has begun and not ended; all when there is none."""
    for index in range(len(pieces) - 1, max(0, len(pieces) - _BLOCK_LINES), -1):
        if "-----END" in pieces[index]:
            break
        if "-----BEGIN" in pieces[index]:
            return index
    return len(pieces)
