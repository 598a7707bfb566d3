"""Between memories and their rows: columns, filters, and the values made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump, from_micros, load_object, load_strings, optional_time, parse, to_micros
from hexad.database.connection import Row, SQLValue
from hexad.errors import IntegrityError
from hexad.memory.memory import Chunk, Citation, Memory, Relevance, Status, Trust, Turn
from hexad.memory.query import Filters
from hexad.text.similarity.lookalikes import look_of_fact


def dump_citations(citations: Sequence[Citation]) -> str:
    """Return citations as a JSON list of objects without empty fields."""
    if not citations:
        return "[]"
    rows: list[Mapping[str, JSONValue]] = [
        {key: value for key, value in citation.to_dict().items() if value is not None}
        for citation in citations
    ]
    return dump(rows)


def dump_metadata(metadata: Mapping[str, JSONValue]) -> str:
    """Return metadata of a memory as JSON, without the hash of its text, which has a column of its own."""
    return dump({**metadata, "hash": ""})


def load_metadata(text: object, content_hash: JSONValue) -> dict[str, JSONValue]:
    """Return what `dump_metadata` encoded, of a text with this hash."""
    return with_hash(load_object(text), content_hash)


def with_hash(metadata: dict[str, JSONValue], content_hash: JSONValue) -> dict[str, JSONValue]:
    """Put the hash of the text back into the metadata of a row."""
    if metadata.get("hash") == "":
        metadata["hash"] = content_hash
    return metadata


def _dump_strings(texts: Sequence[str]) -> str:
    """Return texts as a JSON list: none of them in most memories."""
    return dump(list(texts)) if texts else "[]"


def load_citations(text: object) -> tuple[Citation, ...]:
    """Return what `dump_citations` encoded."""
    return () if text == "[]" else tuple(Citation(**row) for row in parse(text))


_BATCH: Final = 500  # numbers in one IN list
_SHORT: Final = 250
"""Up to so many characters, 1,000 bytes at most, a summary is found in the text: its row lies in one page."""
_TEXT_COLUMNS: Final = (
    "m.path", "m.kind", "m.tags", "m.source_id", "m.summary_micro", "m.summary_short", "m.raw",
)  # fmt: skip
_ID_PART: Final = 8  # an id is looked at for a word longer than this: fewer characters are in many of them
_LAST_CHANGED: Final = "m.updated_at DESC, m.path, m.id"
ORDERS: Final[Mapping[str, str]] = {
    "updated": _LAST_CHANGED,
    "created": "m.created_at DESC, m.path, m.id",
    "path": "m.path, m.id",
    "relevance": "CASE m.relevance WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, " + _LAST_CHANGED,
    "kind": "m.kind, " + _LAST_CHANGED,
}
"""In which orders memories can be listed; each is total, so that pages neither overlap nor leave gaps."""

COLUMNS: Final = (
    "m.no, m.id, s.name, m.path, m.kind, m.raw, m.summary_micro, m.summary_short, m.summary_long, m.tags,"
    " m.metadata, m.relevance, m.importance, m.confidence, m.pinned, m.created_at, m.updated_at, m.valid_from,"
    " m.valid_to, m.supersedes, m.trust, m.status, m.citations, m.subject, m.attribute, m.value,"
    " m.data_subjects, m.source_id, u.last_used_at,"
    " (SELECT count(*) FROM evidence e WHERE e.memory_no = m.no), src.uri, src.kind, m.content_hash"
)
FROM: Final = (
    "FROM memories m JOIN spaces s ON s.no = m.space_no LEFT JOIN usage u ON u.memory_no = m.no"
    " LEFT JOIN sources src ON src.no = m.source_no"
)


_ORIGIN: Final = (
    "CASE WHEN m.kind = 'decision' THEN 'governance' WHEN m.source_no IS NULL THEN 'project'"
    " ELSE 'vector' END"
)


def filter_sql(filters: Filters) -> tuple[list[str], list[SQLValue]]:
    """Return conditions on `memories m JOIN spaces s` and their parameters."""
    where: list[str] = []
    params: list[SQLValue] = []
    if filters.spaces is not None:
        where.append("s.name IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(filters.spaces))
    if filters.kinds is not None:
        where.append("m.kind IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(filters.kinds))
    for tag in filters.tags or ():
        where.append("EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ? AND t.memory_no = m.no)")
        params.append(tag)
    if filters.path is not None:
        where.append(_path_sql("m.path", filters.path, params, "m.source_id"))
    if filters.since is not None:
        where.append("m.happened_at >= ?")
        params.append(to_micros(filters.since))
    if filters.until is not None:
        where.append("m.happened_at < ?")
        params.append(to_micros(filters.until))
    if filters.pinned is not None:
        where.append("m.pinned = ?")
        params.append(int(filters.pinned))
    if filters.origins is not None:
        where.append(f"{_ORIGIN} IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(filters.origins))
    if filters.ids is not None:
        where.append("m.id IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(filters.ids))
    for word in filters.text or ():
        where.append(_holds_sql(word, params))
    if filters.roles is not None:
        where.append(seen_by_sql("m"))
        params.append(json.dumps(filters.roles))
    return where, params


def _holds_sql(word: str, params: list[SQLValue]) -> str:
    """A word as it is written, in any case: SQLite folds the case of ASCII alone, so others are tried too."""
    forms = sorted({word} if word.isascii() else {word, word.lower(), word.upper(), word.title()})
    # Not LIKE, which compares a long word letter by letter at each place of a text where it could begin.
    tries = [f"instr(lower({column}), lower(?))" for column in _TEXT_COLUMNS for _ in forms]
    params.extend(form for _ in _TEXT_COLUMNS for form in forms)
    if len(word) > _ID_PART:
        beginning = min(forms, key=len)
        for mark in ("\\", "%", "_"):
            beginning = beginning.replace(mark, "\\" + mark)
        tries.append("m.id LIKE ? ESCAPE '\\'")
        params.append(f"{beginning}%")
    return f"({' OR '.join(tries)})"


def seen_by_sql(alias: str) -> str:
    """Return the condition that a memory is for one of the roles in a JSON list, its only parameter.

    What waits for a review is for the owner.
    """
    return (
        f"(+{alias}.status <> 'quarantined' AND ({alias}.audience_no IS NULL OR {alias}.audience_no IN"
        " (SELECT a.no FROM audiences a, json_each(a.roles) r WHERE r.value IN (SELECT value FROM json_each(?)))))"
    )


def seen_sql(alias: str, roles: tuple[str, ...] | None) -> tuple[str, tuple[SQLValue, ...]]:
    """Return ` AND …` with its parameters, to leave out what these roles may not see; nothing for the owner."""
    return ("", ()) if roles is None else (f" AND {seen_by_sql(alias)}", (json.dumps(roles),))


def _path_sql(column: str, pattern: str, params: list[SQLValue], alias: str) -> str:
    """A prefix of whole parts, or a pattern with `*`, of the path or of the source's own id."""
    if any(mark in pattern for mark in "*?["):
        params.extend([pattern, pattern])
        return f"({column} GLOB ? OR {alias} GLOB ?)"
    prefix = pattern.rstrip("/")
    # A range, not LIKE: it uses the index, and the characters % and _ mean themselves.
    params.extend([prefix, prefix + "/", prefix + "0", prefix, prefix + "/", prefix + "0"])
    return (
        f"({column} = ? OR ({column} >= ? AND {column} < ?) OR {alias} = ? OR ({alias} >= ? AND {alias} < ?))"
    )


def batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield numbers in lists that one statement can take."""
    for start in range(0, len(numbers), _BATCH):
        yield numbers[start : start + _BATCH]


def row_of(memory: Memory, *, space_no: int, source_no: int | None, rev: int) -> Mapping[str, SQLValue]:
    """Return the columns of a memory; `rev` is the number of the change that writes them."""
    raw, micro = memory.raw, memory.summary_micro
    begins = len(raw) <= _SHORT and raw.startswith(micro) and micro != "" and "\0" not in micro
    return {
        "id": memory.id,
        "space_no": space_no,
        "path": memory.path,
        "kind": memory.kind,
        "status": memory.status.value,
        "content_hash": memory.content_hash,
        "pinned": int(memory.pinned),
        "relevance": memory.relevance.value,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "trust": memory.trust.value,
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "happened_at": to_micros(memory.valid_from or memory.created_at),
        "valid_from": to_micros(memory.valid_from) if memory.valid_from else None,
        "valid_to": to_micros(memory.valid_to) if memory.valid_to else None,
        "supersedes": memory.supersedes,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "fact_look": look_of_fact(memory.subject, memory.attribute),
        "value": dump(memory.value) if memory.value is not None else None,
        "source_no": source_no,
        "source_id": memory.source_id,
        "tags": _dump_strings(memory.tags),
        "citations": dump_citations(memory.citations),
        "data_subjects": _dump_strings(memory.data_subjects),
        "metadata": dump_metadata(memory.metadata),
        "micro_text": None if micro == raw or begins else micro,
        "micro_chars": len(micro) if begins and micro != raw else None,
        "summary_short": None if memory.summary_short == raw else memory.summary_short,
        "summary_long": None if memory.summary_long == raw else memory.summary_long,
        "words": len(raw.split()),
        "asks": int(raw.rstrip("\"' )]*_").endswith(("?", "？"))),
        "raw": raw,
        "rev": rev,
    }


def _memory_of(row: Row, chunks: tuple[Chunk, ...], turn: Turn | None) -> Memory:
    raw = row[5]
    micro, short, long = (raw if text is None else text for text in row[6:9])
    if not all(isinstance(text, str) for text in (*row[1:5], raw, micro, short, long)):
        raise IntegrityError(
            f"Memory {row[1]!r} is damaged: a text of it is none. Run `hexad check`, and put a backup in its place."
        )
    source_kind = row[31]
    return Memory(
        id=row[1],
        space=row[2],
        path=row[3],
        kind=row[4],
        raw=raw,
        summary_micro=micro,
        summary_short=short,
        summary_long=long,
        tags=load_strings(row[9]),
        metadata=load_metadata(row[10], row[32]),
        relevance=Relevance(row[11]),
        importance=row[12],
        confidence=row[13],
        pinned=bool(row[14]),
        chunks=chunks,
        created_at=from_micros(row[15]),
        updated_at=from_micros(row[16]),
        valid_from=optional_time(row[17]),
        valid_to=optional_time(row[18]),
        supersedes=row[19],
        trust=Trust(row[20]),
        status=Status(row[21]),
        citations=load_citations(row[22]),
        subject=row[23],
        attribute=row[24],
        value=None if row[25] is None else parse(row[25]),
        data_subjects=load_strings(row[26]),
        source=None if source_kind in {None, "caller"} else row[30],
        source_id=row[27],
        last_used_at=optional_time(row[28]),
        evidence=1 + row[29],
        turn=turn,
    )


def memory_of(row: Row, chunks: tuple[Chunk, ...], turn: Turn | None) -> Memory:
    """Return the memory of a row of `COLUMNS`, with its chunks and its turn.

    Raises `IntegrityError` for a row that only damage explains.
    """
    try:
        return _memory_of(row, chunks, turn)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise IntegrityError(
            f"The row of memory {row[1]!r} is damaged ({error}). Run `hexad check`, and put a backup in its place."
        ) from error
