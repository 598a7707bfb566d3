"""Documents as JSON: a record with `id` and `text`, one a line or in one list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hexad.core.arguments import quoted
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.file_place import clean_tags, language_of, memory_path
from hexad.ingest.sources.formats.choose import CONVERTED, parse
from hexad.ingest.sources.items import ItemIntake, Lookup, other_fields, text_field
from hexad.ingest.sources.jsonlines import load_json, records_of
from hexad.ingest.sources.timestamps import SourceTimes
from hexad.memory.source import Item, Skip, Unchanged
from hexad.text.normalize import clean

_TEXT_FIELDS: Final = ("text", "content", "body")
_TAKEN: Final = frozenset(["id", *_TEXT_FIELDS, "title", "path", "kind", "tags"])
_TIMES: Final = ("time", "date", "created_at", "timestamp")


def read_documents(
    path: Path, *, uri: str, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give an item for each record that has a text; a line that cannot be read is a skip with its number.

    Fields are `id`, `text` (or `content`, `body`), `time`, `title`, `path`, `kind` and `tags`; all others go
    into the metadata. A record without an id is named by its place, which moves when records before it do.
    """
    intake = ItemIntake(limit_bytes=options.max_file_bytes, known=known)
    times = SourceTimes(lambda: _times_in(path))
    for entry in numbered_records(path):
        if isinstance(entry, Skip):
            yield entry
            continue
        number, record = entry
        where = f"record {number}"
        item = _item(record, number, project=path.stem, uri=uri, times=times)
        if isinstance(item, str):
            yield Skip(source_id=where, reason=f"{where}: {item}")
        else:
            yield from intake.take(item, where=where)


def numbered_records(path: Path) -> Iterator[tuple[int, object] | Skip]:
    """Give the records of a file of JSON lines with their lines, or those of a JSON list with their places."""
    if path.suffix.lower() == ".json":
        value = load_json(path)
        yield from enumerate(value if isinstance(value, list) else [value], start=1)
        return
    with path.open("rb") as file:
        yield from records_of(file)


def _times_in(path: Path) -> Iterator[object]:
    for entry in numbered_records(path):
        if not isinstance(entry, Skip) and isinstance(entry[1], Mapping):
            yield from (entry[1].get(name) for name in _TIMES)


def _item(record: object, number: int, *, project: str, uri: str, times: SourceTimes) -> Item | str:
    if not isinstance(record, Mapping):
        return f"a record is an object with id and text, not {type(record).__name__}"
    texts = [value for name in _TEXT_FIELDS if isinstance(value := record.get(name), str)]
    if not texts:
        named = next((name for name in _TEXT_FIELDS if name in record), None)
        return (
            "it has no text field"
            if named is None
            else f"its {named} is {quoted(record[named])}, which is no text; write a string"
        )
    source_id = text_field(record, "id", "_id", "uuid") or f"line-{number}"
    named = text_field(record, "path")
    language = language_of(named.rpartition("/")[2]) if named else None
    # A document's text is what its author handed in: markup is kept, whatever the path says.
    parsed = parse(clean(texts[0]), language=None if language in CONVERTED else language)
    read = {name: times.read(record.get(name)) for name in _TIMES}
    time = next((time for time, _ in read.values() if time is not None), None)
    unread = None if time is not None else next((reason for _, reason in read.values() if reason), None)
    title = text_field(record, "title") or parsed.title
    used = _TAKEN | {name for name, (time_there, _) in read.items() if time_there is not None}
    metadata = {**other_fields(record, used), "project": project, "source": uri}
    if title:
        metadata["title"] = title
    return Item(
        source_id=source_id,
        text=parsed.text,
        kind=text_field(record, "kind"),
        path=memory_path(*named.split("/")) if named else memory_path(project, source_id),
        title=title,
        time=time or parsed.time,
        unread=unread,
        tags=clean_tags([*_tags(record.get("tags")), *parsed.tags]),
        sections=parsed.sections,
        metadata=metadata,
    )


def _tags(value: object) -> list[str]:
    if isinstance(value, str):
        return value.replace(";", ",").split(",")
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
