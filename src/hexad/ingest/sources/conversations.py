"""Conversations: a memory a turn, knowing who spoke when, and what came before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hexad.ingest.sources.conversations__chats import NoTurn, SaidTurn, turns_of
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.documents import numbered_records
from hexad.ingest.sources.file_place import memory_path
from hexad.ingest.sources.items import Intake, Lookup
from hexad.ingest.sources.times import read_time
from hexad.memory.memory import JSONValue, Turn
from hexad.memory.source import Item, Skip, Unchanged
from hexad.text.normalize import clean


def read_conversations(
    path: Path, *, uri: str, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give an item for each turn; what cannot be read is a skip with its line, and the rest goes on.

    Native lines have `id, conversation, session, time, speaker, text`. Read as well: OpenAI's and Anthropic's
    messages, ShareGPT, the exports of ChatGPT (its current branch) and Claude, and Claude Code's transcripts.
    A turn without an id is named `<conversation>/<session>/<position>`.
    """
    reader = _Reader(path.stem, uri)
    intake = Intake(limit_bytes=options.max_file_bytes, known=known)
    for entry in numbered_records(path):
        if isinstance(entry, Skip):
            yield entry
            continue
        number, record = entry
        fallback = _own_conversation(record, number, path.stem)
        for said in turns_of(record):
            where = f"record {number}"
            if isinstance(said, NoTurn):
                yield Skip(source_id=where, reason=f"{where}: {said.reason}")
            else:
                yield from intake.take(reader.item(said, fallback), where=where)


def _own_conversation(record: object, number: int, stem: str) -> str:
    """Return the conversation of turns that name none: a record that holds many is one by itself."""
    holds_many = isinstance(record, dict) and bool({"messages", "conversations", "mapping"} & record.keys())
    return f"{stem}-{number}" if holds_many else stem


class _Reader:
    """Counts the turns of each session as they come."""

    def __init__(self, project: str, uri: str) -> None:
        self._project = project
        self._uri = uri
        self._positions: dict[tuple[str, str], int] = {}

    def item(self, said: SaidTurn, fallback: str) -> Item:
        """Return the turn as an item, at the next position of its session."""
        conversation = clean(said.conversation or fallback)
        session = clean(said.session or conversation)
        position = self._positions.get((conversation, session), 0)
        self._positions[conversation, session] = position + 1
        own = session.removeprefix(conversation).strip("/")
        metadata: dict[str, JSONValue] = {**said.metadata, "project": self._project, "source": self._uri}
        if said.title:
            metadata["title"] = said.title
        time = read_time(said.time)
        if time is None and isinstance(said.time, str):
            metadata["time"] = said.time
        return Item(
            source_id=clean(said.id)
            if said.id
            else "/".join(filter(None, [conversation, own, str(position)])),
            text=clean(said.text),
            kind="turn",
            path=memory_path(self._project, conversation, own),
            title=said.title,
            time=time,
            turn=Turn(
                conversation=conversation, session=session, position=position, speaker=clean(said.speaker)
            ),
            metadata=metadata,
        )
