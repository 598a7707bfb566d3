"""Commands on the stores of `data/written`: what they print for programs and for people, and what they say they take."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import patch

from golden.written_questions import Answers, Reader, stopped_clock
from golden.written_store import FILES
from hexad.__main__ import main

COMMANDS = (
    "recall|When do we deploy?", "recall|When do we deploy?|--semantic|--explain", "recall|heron|--space|default|--limit|2",
    "context|back off between retries", "context|crane|--plan", "context|retries|--deterministic|--format|markdown",
    "expand|note-05", "use-context|default|deploy", "memory|list|--limit|5", "memory|show|note-02", "memory|history|retries",
    "memory|links|note-05", "memory|quarantine|list", "memory|gc|crew|--dry-run", "spaces|list", "spaces|show|crew",
    "spaces|metadata|crew", "spaces|policy|crew", "spaces|bundle|default|deploy", "spaces|kind|default|guide",
    "spaces|budget", "spaces|verify|scratch.json", "why|retries", "why|src/harbour/gateway.py", "session|list",
    "session|show|work-2", "xdb|sessions", "xdb|show|monday", "xdb|recall|deploy", "xdb|tags|ts-monday-4",
    "xdb|comments|--session|monday", "xdb|windows", "xdb|buds", "xdb|submissions", "xdb|context|talk", "xdb|compactions",
    "xdb|compressed", "xdb|activity|--by|month", "xdb|usage", "xdb|contract", "xdb|state", "tags|list",
    "tags|show|planning", "tags|browse", "tags|concepts|cach", "docs|list", "docs|search|brake", "docs|show|ops/runbook",
    "docs|versions|ops/runbook", "docs|removed", "docs|copies", "honeycomb|stats", "honeycomb|show|note-11",
    "honeycomb|context|spare machine", "prefs|list", "prefs|show|editor", "prefs|suggest", "audit|verify", "audit|key",
    "audit|proof|audit-3", "audit|reviewer|list", "check", "doctor|--memories", "consolidate|--dry-run", "maintain",
    "memory|show|nobody", "recall|x|--space|nowhere",
)  # fmt: skip


_WRITES = (
    "remember|The lamp is lit.|--id|lamp|--tag|light|--kind|note", "remember|The lamp is lit.", "remember|",
    "remember|Bob sails.|--subject|bob|--attribute|does|--value|sails", "remember-raw|page.md|--space|gateway|--kind|guide",
    "memory|pin|lamp", "memory|unpin|lamp", "memory|tag|lamp|+lit|-light", "memory|link|lamp|note-07",
    "memory|links|lamp", "memory|unlink|lamp|note-07", "forget|lamp", "memory|restore|lamp", "forget|--tag|release|--dry-run",
    "feedback|note-11|helpful|--query|heron", "feedback", "forget|lamp|--purge|--yes", "forget|--list",
    "ingest|docs|--space|docs", "ingest|server-memory.jsonl|--from|server-memory|--dry-run", "ingest|nowhere",
    "spaces|create|yard|--metadata|{\"title\": \"Yard\"}", "spaces|policy|yard|ttl_days=9", "spaces|metadata|yard|a=1",
    "memory|gc|crew|--dry-run", "spaces|export|talk|--out|talk.json", "spaces|verify|talk.json",
    "spaces|restore|talk.json|--merge|--dry-run", "spaces|write-file|talk", "spaces|delete|yard|--yes", "spaces|delete|docs",
    "memory|export|--scope|project|--out|export.json", "memory|export|--subject|ada", "memory|wipe|--scope|project|--dry-run",
    "decide|Light at dusk|--because|Ships come.|--link|docs/deploy.md|--by|Bea", "why|dusk",
    "session|start|light the lamps|--step|wick|--id|lamps", "session|done|wick", "session|note|Buy oil.",
    "session|turn|user|And the quay?", "session|open|a.py", "session|edit|a.py|lit", "session|close|a.py",
    "session|show", "session|end|--outcome|Lit.", "session|resume|work-1", "xdb|record|Said by hand.|--session|hand|--event|h1",
    "xdb|tag|by hand|--event|h1|--session|hand", "xdb|comment|Indeed.|--event|h1|--session|hand",
    "xdb|pin|1-1|--session|hand|--reason|kept", "xdb|show|hand", "xdb|bud|create|Care|Taking care.", "xdb|buds",
    "xdb|resolve|graft-1|--accepted|--yes", "xdb|compact|--session|talk", "xdb|end|hand", "xdb|seal", "xdb|compress",
    "xdb|export|graft-2", "xdb|verify|graft-2", "tags|create|lit|--description|What gives light.", "tags|remove|lit",
    "docs|add|page.md|--path|ops/gate|--tag|gate", "docs|update|ops/gate|README.md", "docs|versions|ops/gate",
    "docs|remove|ops/gate", "docs|restore|ops/gate", "prefs|set|lamp|oil", "prefs|except|lamp|gas|--reason|Old.",
    "prefs|pattern|lights early", "prefs|know|lamps|novice", "prefs|rule|Be brief.", "prefs|suppress|Gas",
    "prefs|allow|Gas", "prefs|learn", "prefs|forget|rule-3", "audit|reviewer|add|zoe|--session|monday", "audit|reviewer|revoke|zoe",
    "audit|query|--session|monday|--limit|3", "audit|incident|mark|lamp|--reason|Dark.|--session|monday",
    "audit|incident|list", "encrypt|--dry-run|--provider|passphrase", "decrypt|--dry-run", "reindex",
    "maintain", "consolidate", "check", "completion|bash", "init|elsewhere", "no-such-command", "recall", "recall|x|--limit|0",
)  # fmt: skip
_MADE = (
    (re.compile(r"\b([a-z]+_|compressed-[A-Z]+_)[0-9A-HJKMNP-TV-Z]{26}\b"), r"\1…"),
    (re.compile(r"\b(zoe:)[\w-]+"), r"\1…"),
    (re.compile(r"\b((?:key|mac|selection_mac)\"?: \"?)[0-9a-f]{64}"), r"\1…"),
    (re.compile(r"\b(\w*bytes\": )\d+"), r"\1…"),
    (re.compile(r"\b\d+(?:\.\d+)? ([KM]i)?B\b"), "… bytes"),
)
"""What a command makes anew each time: it can be handed no source of ids, and keys are random."""


def commands(reader: Reader) -> Answers:
    """What commands that read print as JSON."""
    with _at_home(reader):
        for command in COMMANDS:
            yield command, _as_json(command)


def command_writes(reader: Reader) -> Answers:
    """What commands that write print as JSON."""
    with _at_home(reader):
        for command in _WRITES:
            yield command, _masked(_as_json(command))


def command_texts(reader: Reader) -> Answers:
    """What some commands print for people."""
    with _at_home(reader):
        for command in dict.fromkeys((*COMMANDS[::2], *_WRITES[::4])):
            yield command, _masked(_printed(command.split("|")))


def help_texts(reader: Reader) -> Answers:
    """What every command says that it takes."""
    with _at_home(reader):
        waiting: list[list[str]] = [[]]
        while waiting:
            command = waiting.pop(0)
            text = _printed([*command, "--help"])
            yield " ".join(["hexad", *command]), text
            _, _, below = "\n".join(text["out"]).partition("\nCommands:\n")
            waiting += [[*command, name] for name in re.findall(r"^  ([a-z][\w-]*)", below, re.MULTILINE)]


@contextlib.contextmanager
def _at_home(reader: Reader) -> Iterator[None]:
    """Stand in the project, at the time at which all questions are asked."""
    (reader.root / "project" / "page.md").write_text(FILES["docs/cranes.md"], encoding="utf-8")
    environment = {
        "HEXAD_USER_DIR": str(reader.root / "user"),
        "HEXAD_REVIEWER_CREDENTIAL": reader.credential("project"),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    with (
        patch.dict(os.environ, environment),
        contextlib.chdir(reader.root / "project"),
        stopped_clock(reader.clock),
    ):
        yield


def _as_json(command: str) -> dict[str, Any]:
    """Return what a command prints with `--json`, of an error its type, and its exit code."""
    printed = _printed([*command.split("|"), "--json"])
    errors = [json.loads(text)["error"]["type"] for text in printed["err"] if text.startswith('{"error"')]
    return {"code": printed["code"], "out": printed["out"], "errors": errors}


def _printed(args: list[str]) -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(args)
    return {"code": code, "out": out.getvalue().splitlines(), "err": err.getvalue().splitlines()}


def _masked(printed: dict[str, Any]) -> dict[str, Any]:
    """Return what was printed without what is made anew each time."""
    for pattern, instead in _MADE:
        for name in ("out", "err"):
            if name in printed:
                printed[name] = [pattern.sub(instead, text) for text in printed[name]]
    return printed


PRINTED: Mapping[str, Any] = {
    group.__name__: group for group in (commands, command_writes, command_texts, help_texts)
}
