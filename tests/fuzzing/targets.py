"""Everything of Hexad that reads bytes which others wrote. A target raises `HexadError`, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hexad
from hexad import Hexad, HexadError
from hexad.audit import check_export
from hexad.audit.archive_file import ArchiveFile
from hexad.audit.checkpoint import Verifier, read_signed
from hexad.audit.export_file import check_incident
from hexad.client.wire import decode
from hexad.config import load_settings
from hexad.core.arguments import parse_time
from hexad.core.erasure import parse_receipt
from hexad.database.encryption.cipher import STREAM, StoreKeys
from hexad.database.encryption.key_providers import read_key_file
from hexad.database.encryption.record import parse_record
from hexad.database.encryption.secrets_file import KeyStore
from hexad.experience.stream.log import begun_at, read_log
from hexad.ingest.citations import parse_citation
from hexad.ingest.imports.read import read_foreign
from hexad.ingest.sources.detect import ReadOptions, detect
from hexad.ingest.sources.read import read
from hexad.ingest.sources.timestamps import readings
from hexad.interfaces.assistants.json_text import append_item, read_json, remove_member, set_member
from hexad.interfaces.assistants.marked_block import BlockMarks
from hexad.interfaces.hooks.payload import HookPayload
from hexad.memory.source import SourceKind
from hexad.text.dates import date_range, find_phrases

KEYS = StoreKeys(bytes(32))
"""What the seeds of encrypted formats are sealed with."""
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Bench:
    """Where a target works: a store, and a folder of its own in which there is the input as a file."""

    hx: Hexad
    folder: Path

    def file(self, data: bytes, name: str, *, mode: int = 0o600) -> Path:
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.touch(mode=mode)
        path.write_bytes(data)
        return path


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _json(data: bytes) -> Any:
    """What a caller makes of JSON before Hexad sees it; what is none says nothing about Hexad."""
    with suppress(ValueError, RecursionError):
        return json.loads(data)
    return None


def _source(kind: str | None = None, name: str = "") -> Callable[[Bench, bytes, str], None]:
    def target(bench: Bench, data: bytes, seed: str) -> None:
        path = bench.file(data, name or seed)
        for _ in read(detect(path, kind=kind)):
            pass

    return target


def _foreign(kind: SourceKind) -> Callable[[Bench, bytes, str], None]:
    def target(bench: Bench, data: bytes, seed: str) -> None:
        path = bench.file(data, seed)
        spec = detect(path, kind=kind.value)
        assert spec.path is not None
        for _ in read_foreign(spec.path, kind=kind, options=ReadOptions()):
            pass

    return target


def _palace(bench: Bench, data: bytes, _: str) -> None:
    folder = bench.folder / "palace" / "wing"
    folder.mkdir(parents=True, exist_ok=True)
    bench.file(data, "palace/wing/gate.md")
    spec = detect(folder.parent, kind="mempalace")
    assert spec.path is not None
    for _ in read_foreign(spec.path, kind=SourceKind.MEMPALACE, options=ReadOptions()):
        pass


def _space_file(bench: Bench, data: bytes, _: str) -> None:
    path = bench.file(data, "space.json")
    for call in (bench.hx.spaces.verify, bench.hx.spaces.read_file, bench.hx.spaces.restore):
        with suppress(HexadError):
            call(path)


def _ledger_export(bench: Bench, data: bytes, _: str) -> None:
    path = bench.file(data, "export.jsonl")
    for call in (check_export, check_incident, ArchiveFile):
        with suppress(HexadError):
            call(path)


def _checkpoint(_: Bench, data: bytes, __: str) -> None:
    note, _, verifier = _text(data).partition("====\n")
    read_signed(note, [Verifier.parse(verifier)])


def _receipt(_: Bench, data: bytes, __: str) -> None:
    parse_receipt(_text(data)).verify()


def _pack(bench: Bench, data: bytes, seed: str) -> None:
    bench.hx.xdb.load_concept_pack(bench.file(data, seed))


def _contract(bench: Bench, data: bytes, seed: str) -> None:
    bench.hx.xdb.set_contract(bench.file(data, seed))


def _settings(bench: Bench, data: bytes, _: str) -> None:
    bench.file(data, "hexad.toml")
    load_settings(bench.folder, {})


def _keys(bench: Bench, data: bytes, _: str) -> None:
    path = bench.file(data, "keys.json")
    str(KeyStore(path).state())
    for crypt in (None, KEYS):
        with suppress(HexadError):
            KeyStore(path, crypt=crypt).signing_key()


def _record(_: Bench, data: bytes, __: str) -> None:
    parse_record(data, name="encryption.json").encoded()


def _key_file(bench: Bench, data: bytes, _: str) -> None:
    assert 32 == len(read_key_file(bench.file(data, "key")))


def _log(bench: Bench, data: bytes, _: str) -> None:
    path = bench.file(data, "1-aa.log")
    begun_at(path)
    for cipher in (None, KEYS.cipher(STREAM)):
        with suppress(HexadError):
            read_log(path, cipher=cipher)


def _stream_file(folder: str, name: str) -> Callable[[Bench, bytes, str], None]:
    """Put it into the store as a file of the stream, ask, and take it away again."""

    def target(bench: Bench, data: bytes, _: str) -> None:
        path = bench.hx.path / "stream" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes() if path.exists() else None
        path.write_bytes(data)
        try:
            for call in (
                lambda: bench.hx.xdb.recall(session_id="talk"),
                lambda: bench.hx.xdb.recall_events("hello"),
                bench.hx.check,
            ):
                with suppress(HexadError):
                    call()
        finally:
            path.unlink()
            if whole is not None:
                path.write_bytes(whole)

    return target


def _question(bench: Bench, data: bytes, _: str) -> None:
    text = _text(data)
    for call in (bench.hx.plan, bench.hx.query, bench.hx.recall, bench.hx.context):
        with suppress(HexadError):
            call(text)


def _dates(_: Bench, data: bytes, __: str) -> None:
    text = _text(data)
    find_phrases(text, now=_NOW)
    date_range(text, now=_NOW)
    for line in text.splitlines()[:50]:
        readings(line)
        with suppress(HexadError):
            parse_time(line, "since")


def _citation(bench: Bench, data: bytes, _: str) -> None:
    parse_citation(_text(data))


def _structured(bench: Bench, data: bytes, _: str) -> None:
    bench.hx.remember_structured("fuzzed", _text(data))


def _policy(bench: Bench, data: bytes, _: str) -> None:
    bench.hx.spaces.set_policy("default", _json(data))


def _messages(bench: Bench, data: bytes, _: str) -> None:
    messages = _json(data)
    if isinstance(messages, list):
        bench.hx.remember(messages, conversation="fuzzed")


def _rows(bench: Bench, data: bytes, _: str) -> None:
    bench.hx.xdb.record_many(_json(data), session_id="talk")


def _wire(_: Bench, data: bytes, __: str) -> None:
    decode(_json(data))


def _client_settings(_: Bench, data: bytes, __: str) -> None:
    text = _text(data)
    for comments in (False, True):
        for call in (
            lambda c=comments: set_member(text, ["servers", "hexad"], {"command": "hexad"}, comments=c),
            lambda c=comments: append_item(text, ["hooks", "Stop"], {"command": "hexad"}, comments=c),
            lambda c=comments: remove_member(text, ["servers"], comments=c),
        ):
            with suppress(HexadError):
                read_json(call(), comments=comments)


def _instructions(_: Bench, data: bytes, __: str) -> None:
    block = BlockMarks(how="<!-- {} -->")
    block.take_out(block.put(_text(data), "what stands between"))


def _hook(bench: Bench, data: bytes, _: str) -> None:
    transcript = bench.file(data, "transcript.jsonl")
    fields = _json(data)
    for given in (fields if isinstance(fields, dict) else {}, {"transcript_path": str(transcript)}):
        payload = HookPayload({"cwd": str(bench.hx.path.parent), **given})
        for name in dir(payload):
            member = None if name.startswith("_") else getattr(payload, name)
            if callable(member):
                list(member())


def _mcp(_: Bench, data: bytes, __: str) -> None:
    from hexad.interfaces.mcp.stdio import parsed

    for line in data.split(b"\n"):
        parsed(line)


TARGETS: dict[str, Callable[[Bench, bytes, str], None]] = {
    "files": _source(),
    "conversations": _source("conversation"),
    "documents": _source("documents"),
    "mem0": _foreign(SourceKind.MEM0),
    "claude-mem": _foreign(SourceKind.CLAUDE_MEM),
    "memory-md": _foreign(SourceKind.MEMORY_MD),
    "server-memory": _foreign(SourceKind.SERVER_MEMORY),
    "mempalace": _palace,
    "space-files": _space_file,
    "ledger-exports": _ledger_export,
    "checkpoints": _checkpoint,
    "receipts": _receipt,
    "packs": _pack,
    "contracts": _contract,
    "settings": _settings,
    "keys": _keys,
    "encryption": _record,
    "key-files": _key_file,
    "logs": _log,
    "logs-in-store": _stream_file("log", "1-aa.log"),
    "segments": _stream_file("segments", "SEGMENT"),
    "questions": _question,
    "dates": _dates,
    "citations": _citation,
    "structured": _structured,
    "policies": _policy,
    "messages": _messages,
    "rows": _rows,
    "wire": _wire,
    "client-settings": _client_settings,
    "instructions": _instructions,
    "hooks": _hook,
    "mcp": _mcp,
}


def opened(folder: Path) -> Bench:
    """Return a bench over a new store with a sealed segment, whose name stands for `SEGMENT`."""
    project, files = folder / "project", folder / "files"
    project.mkdir(parents=True)
    files.mkdir()
    hx = hexad.open(project, embedder=None, generator=None, background=False, user_dir=folder / "user")
    hx.remember("The gate opens at noon.", id="gate")
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "hello", {"work::Talk": 0.5}, session_id="talk")
    hx.xdb.flush()
    hx.xdb.seal()
    return Bench(hx, files)


__all__ = ["KEYS", "TARGETS", "Bench", "opened"]
