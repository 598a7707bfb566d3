"""What a source holds, read lazily: one reader for each kind of source, chosen here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hexad.core.ids import content_hash
from hexad.errors import InvalidInput
from hexad.ingest.sources.conversations import read_conversations
from hexad.ingest.sources.detect import ReadOptions, SourceSpec
from hexad.ingest.sources.documents import read_documents
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.files import FileSource, read_file
from hexad.ingest.sources.folder import FoundFile, read_folder, walk
from hexad.ingest.sources.git_history import count_commits, read_git
from hexad.ingest.sources.jsonlines import lines_of
from hexad.memory.source import Item, KnownItem, Skip, SourceKind, Unchanged
from hexad.text.normalize import clean

__all__ = ["ReadOptions", "count", "read", "read_text"]


def read(
    spec: SourceSpec,
    *,
    options: ReadOptions | None = None,
    known: Callable[[str], KnownItem | None] | None = None,
) -> Iterator[Item | Skip | Unchanged]:
    """Give what the source holds, without ever holding all of it.

    `known` says what the store remembers of an id. A file of the same size and time is then `Unchanged`
    without being read, one of the same content after being hashed. Raises `InvalidInput` when the source as a
    whole cannot be read; a part that cannot be read is a `Skip`.
    """
    options = options or ReadOptions()
    lookup = known or _nothing_known
    path = spec.path
    if spec.kind is SourceKind.TEXT:
        yield from read_text(spec.text or "")
        return
    if path is None:
        raise InvalidInput(f"Source {spec.uri!r} of kind {spec.kind.value!r} has no path; use detect().")
    match spec.kind:
        case SourceKind.FOLDER:
            yield from read_folder(path, uri=spec.uri, options=options, known=lookup)
        case SourceKind.CONVERSATION:
            yield from read_conversations(path, uri=spec.uri, options=options, known=lookup)
        case SourceKind.DOCUMENTS:
            yield from read_documents(path, uri=spec.uri, options=options, known=lookup)
        case SourceKind.GIT:
            yield from read_git(
                path, commits=spec.range, limit=options.commits_limit, uri=spec.uri, known=lookup
            )
        case _:
            project = safe_id(path.parent.name) or "root"
            file = FileSource(path=path, relative=path.name, project=project, uri=spec.uri, explicit=True)
            yield from read_file(file, options=options, known=lookup)


def read_text(text: str, *, source_id: str | None = None) -> Iterator[Item | Skip]:
    """Give a text that was handed in, such as standard input; a blank one is a skip."""
    cleaned = clean(text)
    if not cleaned.strip():
        yield Skip(source_id=source_id or "text", reason="empty")
        return
    yield Item(source_id=source_id, text=cleaned, content_hash=content_hash(text))


def count(spec: SourceSpec, *, options: ReadOptions | None = None) -> int | None:
    """Return about how many items `read` will give, for a progress bar; None when only reading can tell."""
    options = options or ReadOptions()
    if spec.path is None or spec.kind in (SourceKind.TEXT, SourceKind.FILE):
        return 1
    if spec.kind is SourceKind.FOLDER:
        return sum(isinstance(file, FoundFile) for file in walk(spec.path, options=options))
    if spec.kind is SourceKind.GIT:
        return count_commits(spec.path, commits=spec.range, limit=options.commits_limit)
    if spec.path.suffix.lower() == ".json":
        return None
    with spec.path.open("rb") as file:
        return sum(1 for _ in lines_of(file))


def _nothing_known(_source_id: str) -> KnownItem | None:
    return None
