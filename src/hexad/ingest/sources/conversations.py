"""Conversations: a memory a turn, knowing who spoke when, and what came before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.documents import numbered_records
from hexad.ingest.sources.file_place import memory_path
from hexad.ingest.sources.items import ItemIntake, Lookup, other_fields, text_field
from hexad.ingest.sources.timestamps import SourceTimes
from hexad.memory.memory import ROLE, Turn
from hexad.memory.source import Item, Skip, Unchanged
from hexad.text.normalize import clean

TIMES: Final = ("time", "timestamp", "created_at", "create_time", "date")
"""Names under which a record says when it was said."""
_PART_LIMIT: Final = 200
DOCUMENT: Final = "document"
"""The type of a part that hands over a document."""
_DOCUMENT_LIMIT: Final = 20_000
"""So many characters of it are kept."""
_NATIVE: Final = frozenset(["id", "conversation", "session", "time", "speaker", "text"])
_SAYS: Final = frozenset(["text", "content", "role", "sender", "speaker"])
_CLAUDE_CODE_TURNS: Final = ("user", "assistant")

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A turn as its file has it; what is None is not said there."""

    text: str
    speaker: str
    id: str | None = None
    conversation: str | None = None
    session: str | None = None
    time: object = None
    title: str | None = None
    metadata: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoTurn:
    """Something that stands among turns and is none."""

    reason: str


def turns_of(record: object) -> Iterator[SaidTurn | NoTurn]:
    """Give the turns of one record: one, or those of the whole conversation that it holds."""
    if not isinstance(record, Mapping):
        yield NoTurn(f"a turn is an object, not {type(record).__name__}")
    elif isinstance(record.get("mapping"), Mapping):
        yield from _chatgpt(record)
    elif isinstance(messages := record.get("messages", record.get("chat_messages")), list):
        yield from _messages(record, messages)
    elif isinstance(messages := record.get("conversations"), list):
        yield from _conversations(record, messages)
    elif isinstance(record.get("message"), Mapping) or ("type" in record and not _SAYS & record.keys()):
        yield _claude_code(record)
    elif isinstance(record.get("text"), str) and "sender" not in record:
        yield _native(record)
    else:
        yield _message(record, conversation=None, title=None)


def _native(record: Record) -> SaidTurn:
    return SaidTurn(
        text=str(record["text"]),
        speaker=_speaker(record),
        id=text_field(record, "id"),
        conversation=text_field(record, "conversation"),
        session=text_field(record, "session"),
        time=_time(record),
        metadata={**other_fields(record, _NATIVE | {ROLE, "timestamp"}), **_role(record)},
    )


def _messages(record: Record, messages: Sequence[object]) -> Iterator[SaidTurn | NoTurn]:
    """OpenAI's chat format, and Claude's export (`chat_messages`)."""
    conversation = text_field(record, "conversation", "conversation_id", "id", "uuid")
    title = text_field(record, "title", "name")
    for message in messages:
        if isinstance(message, Mapping):
            yield _message(message, conversation=conversation, title=title)
        else:
            yield NoTurn(f"a message is an object, not {type(message).__name__}")


def _conversations(record: Record, entries: Sequence[object]) -> Iterator[SaidTurn | NoTurn]:
    """ShareGPT's `from` and `value`; or a list of whole conversations under that name."""
    conversation = text_field(record, "id", "conversation_id")
    for entry in entries:
        if isinstance(entry, Mapping) and "from" in entry:
            text = entry.get("value")
            yield SaidTurn(
                text=text if isinstance(text, str) else "", speaker=_speaker(entry), conversation=conversation
            )
        else:
            yield from turns_of(entry)


def _message(message: Record, *, conversation: str | None, title: str | None) -> SaidTurn | NoTurn:
    content = message.get("content")
    text = content_text(content) if content else ""
    if not text and isinstance(message.get("text"), str):
        text = str(message["text"])
    if not isinstance(message.get("role", message.get("sender", message.get("speaker"))), str):
        return NoTurn("it has neither a speaker nor a role")
    return SaidTurn(
        text=with_tool_calls(text, message),
        speaker=_speaker(message),
        id=text_field(message, "uuid", "id"),
        conversation=conversation or text_field(message, "conversation", "conversation_id"),
        session=text_field(message, "session", "session_id"),
        time=_time(message),
        title=title,
        metadata=_role(message),
    )


def _claude_code(record: Record) -> SaidTurn | NoTurn:
    """A line of a session's transcript: `type`, `message`, `sessionId`, `timestamp`, `uuid`."""
    kind = record.get("type")
    message = record.get("message")
    if kind not in _CLAUDE_CODE_TURNS or not isinstance(message, Mapping):
        return NoTurn(f"a record of type {kind!r} is no turn")
    if record.get("isMeta") is True:
        return NoTurn("a note of the program to itself is no turn")
    session = text_field(record, "sessionId")
    aside = record.get("isSidechain") is True
    return SaidTurn(
        text=content_text(message.get("content")),
        speaker=_speaker(message) if isinstance(message.get("role"), str) else str(kind),
        id=text_field(record, "uuid"),
        conversation=session,
        session=f"{session}/aside" if aside else session,
        time=record.get("timestamp"),
    )


def _chatgpt(record: Record) -> Iterator[SaidTurn | NoTurn]:
    """A conversation of ChatGPT's export: a tree of messages, of which the current branch was seen last."""
    mapping = record["mapping"]
    assert isinstance(mapping, Mapping)
    conversation = text_field(record, "conversation_id", "id")
    for node in _branch(mapping, record.get("current_node")):
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue  # the root holds none
        author = message.get("author")
        metadata = message.get("metadata")
        content = message.get("content")
        if isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation") is True:
            yield NoTurn("a message that was hidden in the conversation")
            continue
        yield SaidTurn(
            text=_chatgpt_text(content) if isinstance(content, Mapping) else "",
            speaker=_speaker(author) if isinstance(author, Mapping) else "unknown",
            id=text_field(message, "id"),
            conversation=conversation,
            time=message.get("create_time"),
            title=text_field(record, "title"),
        )


def _branch(mapping: Mapping[object, object], current: object) -> list[Record]:
    """Return the nodes from the root to the current one; to the newest leaf when none is named."""
    if current not in mapping:
        leaves = [
            key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")
        ]
        current = max(leaves, key=lambda key: _created(mapping[key]), default=None)
    branch: list[Record] = []
    seen = set()
    # A damaged export may lead in a circle.
    while isinstance(current, str) and current not in seen:
        seen.add(current)
        node = mapping.get(current)
        if not isinstance(node, Mapping):
            break
        branch.append(node)
        current = node.get("parent")
    return branch[::-1]


def _created(node: object) -> float:
    message = node.get("message") if isinstance(node, Mapping) else None
    time = message.get("create_time") if isinstance(message, Mapping) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _chatgpt_text(content: Record) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return content_text(parts)
    text = content.get("text") or content.get("result")
    return text if isinstance(text, str) else ""


def content_text(content: object) -> str:
    """Return a message's content as text; what is no text stands in brackets, and thoughts are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _part_text(content)
    if isinstance(content, list):
        pieces = [part if isinstance(part, str) else _part_text(part) for part in content]
        return "\n".join(piece for piece in pieces if piece)
    return ""


def _part_text(part: object) -> str:
    if not isinstance(part, Mapping):
        return ""
    kind = str(part.get("type") or part.get("content_type") or "")
    text = part.get("text")
    if isinstance(text, str) and kind in ("", "text", "input_text", "output_text"):
        return text
    if "thinking" in kind or kind in ("reasoning", "thoughts"):
        return ""
    if kind == "tool_use":
        return f"[tool call: {part.get('name', '?')} {_short(part.get('input'))}]"
    if kind == "tool_result":
        return f"[tool result: {_short(content_text(part.get('content')))}]"
    if kind == "refusal" and isinstance(refusal := part.get("refusal"), str):
        return refusal
    if kind == DOCUMENT and (words := document_text(part)):
        return f"[document: {words}]"
    for name in ("image", "audio", "video", "file", "document"):
        if name in kind:
            return f"[{name}]"
    return f"[{kind or 'something without text'}]"


def document_text(part: Mapping[str, object]) -> str:
    """Return the title and the words of a document in a message, or of a long one the beginning; "" for none."""
    source = part.get("source")
    if not isinstance(source, Mapping):
        return ""
    words = source.get("data") if source.get("type") == "text" else content_text(source.get("content"))
    if not isinstance(words, str) or not words.strip():
        return ""
    title = part.get("title")
    titled = f"{title}\n{words}" if isinstance(title, str) and title.strip() else words
    return titled if len(titled) <= _DOCUMENT_LIMIT else f"{titled[:_DOCUMENT_LIMIT]}…"


def with_tool_calls(text: str, message: Record) -> str:
    """Return what a message says, and the tools that it calls, a line each."""
    calls = message.get("tool_calls")
    pieces = [text, *(_tool_call(call) for call in (calls if isinstance(calls, list) else ()))]
    return "\n".join(piece for piece in pieces if piece)


def _tool_call(call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return "[tool call]"
    return f"[tool call: {function.get('name', '?')} {_short(function.get('arguments'))}]"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    words = " ".join(text[: 4 * _PART_LIMIT].split())
    return words if len(words) <= _PART_LIMIT else words[:_PART_LIMIT] + "…"


def _speaker(record: Record) -> str:
    return text_field(record, "speaker", "name", "role", "sender", "from", "author") or "unknown"


def _role(record: Record) -> dict[str, JSONValue]:
    """Return the role as metadata, where the speaker goes by another name."""
    role = text_field(record, ROLE)
    return {} if role is None or role.casefold() == _speaker(record).casefold() else {ROLE: role}


def _time(record: Record) -> object:
    return next((record[name] for name in TIMES if record.get(name) is not None), None)


def read_conversations(
    path: Path, *, uri: str, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give an item for each turn; what cannot be read is a skip with its line, and the rest goes on.

    Native lines have `id, conversation, session, time, speaker, text`. Read as well: OpenAI's and Anthropic's
    messages, ShareGPT, the exports of ChatGPT (its current branch) and Claude, and Claude Code's transcripts.
    A turn without an id is named `<conversation>/<session>/<position>`.
    """
    reader = _Reader(path.stem, uri, SourceTimes(lambda: _times_in(path)))
    intake = ItemIntake(limit_bytes=options.max_file_bytes, known=known)
    for entry in numbered_records(path):
        if isinstance(entry, Skip):
            yield entry
            continue
        number, record = entry
        fallback = _own_conversation(record, number, path.stem)
        for turn in turns_of(record):
            where = f"record {number}"
            if isinstance(turn, NoTurn):
                yield Skip(source_id=where, reason=f"{where}: {turn.reason}")
            else:
                yield from intake.take(reader.item(turn, fallback), where=where, named=bool(turn.id))


def _times_in(path: Path) -> Iterator[object]:
    for entry in numbered_records(path):
        if not isinstance(entry, Skip):
            yield from (turn.time for turn in turns_of(entry[1]) if not isinstance(turn, NoTurn))


def _own_conversation(record: object, number: int, stem: str) -> str:
    """Return the conversation of turns that name none: a record that holds many is one by itself."""
    holds_many = isinstance(record, dict) and bool({"messages", "conversations", "mapping"} & record.keys())
    return f"{stem}-{number}" if holds_many else stem


class _Reader:
    """Counts the turns of each session as they come."""

    def __init__(self, project: str, uri: str, times: SourceTimes) -> None:
        self._project, self._times = project, times
        self._uri = uri
        self._positions: dict[tuple[str, str], int] = {}

    def item(self, turn: SaidTurn, fallback: str) -> Item:
        """Return the turn as an item, at the next position of its session."""
        conversation = clean(turn.conversation or fallback)
        session = clean(turn.session or conversation)
        position = self._positions.get((conversation, session), 0)
        self._positions[conversation, session] = position + 1
        own = session.removeprefix(conversation).strip("/")
        metadata: dict[str, JSONValue] = {**turn.metadata, "project": self._project, "source": self._uri}
        if turn.title:
            metadata["title"] = turn.title
        time, unread = self._times.read(turn.time)
        if time is None and isinstance(turn.time, str):
            metadata["time"] = turn.time
        return Item(
            source_id=clean(turn.id)
            if turn.id
            else "/".join(filter(None, [conversation, own, str(position)])),
            text=clean(turn.text),
            kind="turn",
            path=memory_path(self._project, conversation, own),
            title=turn.title,
            time=time,
            unread=unread,
            turn=Turn(
                conversation=conversation, session=session, position=position, speaker=clean(turn.speaker)
            ),
            metadata=metadata,
        )
