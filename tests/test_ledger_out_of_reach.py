"""What an agent is handed leads nowhere near the ledger: no object, no record, no key, none of its files."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import hexad
from hexad import Hexad
from hexad.audit import AuditLog, AuditLogWriter
from hexad.audit.ledger import LedgerQuery
from hexad.interfaces.cli.app.main import main, root
from opener import Opener

CANARY = "canary-7f3a"
_DEPTH = 6


@pytest.fixture
def ledger(hx: Hexad) -> Path:
    """The ledger of a store in which an agent recorded too, with a record that nobody but a reviewer may see."""
    folder = hx.path / "audit"
    with AuditLogWriter(folder, "be", clock=hx.clock) as writer, AuditLog(folder, clock=hx.clock) as log:
        rita = log.reviewers.add("rita")
        for session in ("monday", "archived"):
            writer.record_many(
                [
                    {
                        "session_id": session,
                        "tick": 1,
                        "event_type": "output",
                        "raw_content": CANARY,
                        "lens_activations": {f"p::{CANARY}": 0.9},
                        "steering_applied": [{"directive": CANARY}],
                        "timestamp": "2025-01-01" if session == "archived" else None,
                    }
                ]
            )
        log.incidents.mark("crash", CANARY, reviewer_credential=rita, session_id="monday")
        log.retention.archive(folder / "old.hxa", before="2025-06-01", reviewer_credential=rita)
    hx.remember("What the agent knows.")
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "What the agent said.", {"p::Seen": 0.5})
    bud = hx.xdb.create_bud_tag("sprout", "What grows.")
    hx.xdb.tag("sprout", timestep_id="ts-monday-1")
    hx.xdb.submit_graft(bud.id, "graft-1")
    return folder


def secrets_of(folder: Path) -> list[str]:
    keys = json.loads((folder / "audit.key").read_text())
    return [keys["wrapping_key"], keys["signing_seed"], CANARY]


def attributes(found: object) -> Iterator[tuple[str, object]]:
    """The public attributes of an object that can be read, methods' own functions left out."""
    for name in dir(found):
        if not name.startswith("_"):
            with suppress(Exception):
                yield name, getattr(found, name)


def reached(start: object) -> Iterator[tuple[str, object]]:
    """Everything that public attributes lead to, with the way there."""
    waiting: list[tuple[str, object, int]] = [("", start, 0)]
    seen: set[int] = set()
    alive: list[object] = []  # an object that is gone gives its id to the next
    while waiting:
        way, found, depth = waiting.pop()
        if id(found) in seen or depth > _DEPTH:
            continue
        seen.add(id(found))
        alive.append(found)
        yield way, found
        if isinstance(found, str | bytes | int | float | Path | type | ModuleType) or found is None:
            continue
        if type(found).__module__.split(".")[0] != "hexad" and not isinstance(found, dict | list | tuple):
            continue
        if isinstance(found, dict):
            waiting += [(f"{way}[{key!r}]", item, depth + 1) for key, item in found.items()]
        elif isinstance(found, list | tuple):
            waiting += [(f"{way}[{at}]", item, depth + 1) for at, item in enumerate(found)]
        else:
            waiting += [(f"{way}.{name}", item, depth + 1) for name, item in attributes(found)]


@pytest.mark.row("H133", "H154", "H092")
def test_no_public_attribute_leads_to_the_ledger(hx: Hexad, ledger: Path) -> None:
    starts: dict[str, object] = {"hx": hx, "hx.xdb": hx.xdb, "hx.spaces": hx.spaces}
    starts |= {f"hexad.{name}": getattr(hexad, name) for name in hexad.__all__}
    secrets = secrets_of(ledger)
    ways = 0
    for start, found in starts.items():
        for way, item in reached(found):
            ways += 1
            module = getattr(inspect.unwrap(item) if callable(item) else type(item), "__module__", "") or ""
            assert not str(module).startswith("hexad.audit"), start + way
            if isinstance(item, str | bytes | Path):
                said = item if isinstance(item, bytes) else str(item).encode()
                assert not any(secret.encode() in said for secret in secrets), start + way
                assert b"audit" not in said or len(said) > 500, start + way
    assert ways > 300


@pytest.mark.row("H133", "H154")
def test_no_name_of_the_package_is_of_the_ledger() -> None:
    assert [] == [name for name in hexad.__all__ if "audit" in name.lower() and name != "AuditSink"]
    assert not {"AuditLog", "AuditLogWriter", "AuditRecord"} & set(hexad.__all__)


@pytest.mark.row("H133")
@pytest.mark.parametrize(
    "read",
    [
        lambda hx, path: hx.ingest(path),
        lambda hx, path: hx.ingest(path.parent),
        lambda hx, path: hx.ingest(path, kind="documents"),
        lambda hx, path: hx.ingest(path, kind="conversation"),
        lambda hx, path: (hx.enqueue(path), hx.maintain()),
        lambda hx, path: hx.xdb.load_concept_pack(path),
        lambda hx, path: hx.xdb.set_contract(path),
        lambda hx, path: hx.spaces.read_file(path),
        lambda hx, path: hx.spaces.restore(path),
        lambda hx, path: hexad.verify_export(path),
        lambda hx, path: hx.xdb.verify_export(path),
    ],
    ids=[
        "ingest", "ingest its folder", "ingest documents", "ingest a conversation", "enqueue", "load_pack",
        "set_contract", "read_file", "restore", "verify", "verify_export",
    ],
)  # fmt: skip
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link to it"])
def test_no_call_that_takes_a_path_reads_the_key(
    hx: Hexad, ledger: Path, tmp_path: Path, read: Callable[[Hexad, Path], Any], linked: bool
) -> None:
    path = ledger / "audit.key"
    secrets = secrets_of(ledger)[:2]
    if linked:
        path = tmp_path / "harmless.json"
        path.symlink_to(ledger / "audit.key")
    try:
        said = repr(read(hx, path))
    except hexad.HexadError as error:
        said = str(error)

    kept = b"".join(file.read_bytes() for file in hx.path.iterdir() if file.is_file())
    assert not any(secret in said or secret.encode() in kept for secret in secrets)


@pytest.mark.row("H133")
@pytest.mark.parametrize(
    "words",
    [
        ["remember-raw", "--space", "q", "--kind", "note", "--path", "p"],
        ["docs", "add"],
        ["ingest"],
        ["spaces", "policy", "default", "--file"],
        ["xdb", "contract"],
        ["tags", "load-pack"],
        ["spaces", "restore"],
    ],
    ids=" ".join,
)
def test_no_command_that_takes_a_file_keeps_or_shows_the_key(
    hx: Hexad, ledger: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    secrets, folder = secrets_of(ledger)[:2], hx.path.parent
    hx.close()

    with suppress(SystemExit):
        main(["--store", str(folder), *words, str(ledger / "audit.key")])

    said = "".join(capsys.readouterr())
    kept = b"".join(path.read_bytes() for path in hx.path.iterdir() if path.is_file())
    assert "No such command" not in said and "No such option" not in said
    assert not any(secret in said or secret.encode() in kept for secret in secrets)


@pytest.mark.row("H133")
def test_exports_and_checks_hold_nothing_of_the_ledger(hx: Hexad, ledger: Path, tmp_path: Path) -> None:
    secrets = [secret.encode() for secret in secrets_of(ledger)]
    hx.spaces.export("default", tmp_path / "default.json")
    hx.xdb.export_submission("graft-1", tmp_path / "package")

    said = [
        (tmp_path / "default.json").read_bytes(),
        *(path.read_bytes() for path in (tmp_path / "package").rglob("*") if path.is_file()),
        repr(hx.check()).encode(),
        repr(hx.status()).encode(),
        repr(hx.maintain()).encode(),
    ]

    assert len(said) > 5
    assert not any(secret in item for secret in secrets for item in said)


@pytest.mark.row("H001", "H097", "H094", "H095")
def test_the_ledger_has_all_lenses_of_a_timestep_and_the_experience_log_the_permitted_ones(
    opened: Opener, project: Path
) -> None:
    hexad.init(project)
    (project / ".hexad" / "hexad.toml").write_text('lenses = ["mind::*"]\n')
    hx = opened()
    scores = {"mind::Seen": 0.5, "hidden::Deceit": 0.75}
    hx.xdb.start_session("monday")
    with AuditLogWriter(hx.path / "audit", "be", clock=hx.clock) as writer:
        step = hx.xdb.record("output", "Certainly.", scores)
        kept = writer.record("monday", 1, "output", "Certainly.", scores, [{"directive": "calm"}])

    seen = hx.xdb.get_timestep(step)
    with AuditLog(hx.path, clock=hx.clock) as log:
        (record,) = log.query(reviewer_credential=log.reviewers.add("rita"), session_id="monday")

    assert seen is not None
    assert (seen.session_id, seen.tick, seen.content) == (record.session_id, record.tick, record.raw_content)
    assert {"mind::Seen": pytest.approx(0.5)} == seen.concept_activations
    assert (kept, scores, [{"directive": "calm"}]) == (
        record.id, record.lens_activations, record.steering_applied,
    )  # fmt: skip
    assert [] == hx.xdb.recall(concepts=["hidden::Deceit"])


def called(hx: Hexad, path: Path) -> Iterator[tuple[str, object]]:
    """What public methods give that need nothing, and those that take a text or a path when they are given some."""
    words: tuple[object, ...] = (
        CANARY,
        "monday",
        "audit",
        "archived",
        "ts-monday-1",
        "audit-0",
        path,
        str(path),
    )
    for name, start in (("hx", hx), ("hx.xdb", hx.xdb), ("hx.spaces", hx.spaces)):
        for way, found in attributes(start):
            if not inspect.ismethod(found) or way in _ENDS or way.startswith(("wipe", "forget", "delete")):
                continue
            parameters = [
                parameter
                for parameter in inspect.signature(found).parameters.values()
                if parameter.default is inspect.Parameter.empty
                and parameter.kind is not inspect.Parameter.VAR_KEYWORD
            ]
            for given in [()] if not parameters else [(word,) * len(parameters) for word in words]:
                with suppress(hexad.HexadError, TypeError, ValueError, AttributeError, KeyError):
                    made = found(*given)
                    yield f"{name}.{way}{given}", list(made) if isinstance(made, Iterator) else made


_ENDS = {"close", "wait_for_background"}


@pytest.mark.row("H133", "H154", "H093")
def test_no_public_call_shows_anything_of_the_ledger(
    hx: Hexad, ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some calls write files under the names that they are given
    keys, asked, calls = secrets_of(ledger)[:2], {CANARY}, 0
    before = [path.read_bytes() for path in sorted(ledger.glob("audit.key"))]

    for way, found in called(hx, ledger / "old.hxa"):
        calls += 1
        for deeper, item in reached(found):
            said = item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
            assert not any(key in said for key in keys), way + deeper
            # What was asked comes back in words of its own; nothing that is a record's contents does.
            assert not any(f"p::{word}" in said for word in asked), way + deeper
            assert not any(f"'directive': '{word}'" in said for word in asked), way + deeper
            assert not type(item).__module__.startswith("hexad.audit"), way + deeper

    assert calls > 100
    assert before == [path.read_bytes() for path in sorted(ledger.glob("audit.key"))]
    with AuditLog(ledger, clock=hx.clock) as log:
        assert log.verify(archives=[ledger / "old.hxa"]).ok
        assert {"reviewer.added", "timestep", "incident", "archive"} >= {
            record.kind
            for record in log._ledger.query(LedgerQuery(limit=1_000))
            if record.kind.startswith(("reviewer", "timestep", "incident", "archive", "retention"))
        }


@pytest.mark.row("H133", "H093")
def test_no_command_shows_anything_of_the_ledger_without_a_credential(
    hx: Hexad, ledger: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEXAD_REVIEWER_CREDENTIAL", raising=False)
    keys = secrets_of(ledger)[:2]
    folder = hx.path.parent
    hx.close()
    commands = 0
    for path, command in leaves(root, ()):
        arguments = [
            parameter
            for parameter in command.params
            if isinstance(parameter, click.Argument) and parameter.required
        ]
        if path[0] in _CHANGES or path[:2] in _CHANGES:
            continue
        for word in ("monday", str(ledger / "old.hxa")):
            given = [word] * len(arguments)
            with suppress(SystemExit):
                main(["--store", str(folder), *path, *given])
            out, err = capsys.readouterr()
            said = (out + err).replace("\\", "")
            assert not any(key in said for key in keys), path
            assert CANARY not in said, path
            commands += 1
    assert commands > 100


_CHANGES = {
    ("memory", "browse"),
    "demo",
    "completion",
    "encrypt",
    "decrypt",
    "rekey",
    "init",
    ("audit", "reviewer"),
}
"""Commands that wait for a terminal, make other stores, or let somebody read who is the store's owner."""


def leaves(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    ctx = click.Context(command)
    for name in command.list_commands(ctx):
        found = command.get_command(ctx, name)
        assert found is not None
        yield from leaves(found, (*path, name))
