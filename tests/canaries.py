"""A thousand words that stand nowhere else, brought into a store through every door that it has."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import hexad
from hexad import Hexad
from hexad.audit import AuditLogWriter
from hexad.layers.session.working_set import state_of
from hexad.testing import HashEmbedder

MARK = "canary"
Key = bytes | str | Path | None


class Canaries:
    """Gives each canary once, and knows all that it gave."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(self) -> str:
        self.given.append(f"{MARK}{len(self.given):04d}quince")
        return self.given[-1]

    def some(self, count: int) -> list[str]:
        return [self() for _ in range(count)]


def opened(project: Path, key: Key, **options: object) -> Hexad:
    return hexad.open(project, embedder=HashEmbedder(), background=False, key=key, **options)  # type: ignore[arg-type]


def plant(hx: Hexad, project: Path, canary: Canaries, *, per_door: int = 20, seal: bool = True) -> None:
    """Bring canaries in through every door of an open store; `seal` False leaves the last of them in a log."""
    outside = project / "notes"
    outside.mkdir(exist_ok=True)
    for word in canary.some(per_door):
        hx.remember(
            f"The password clue of the garden is {word}.",
            kind="decision",
            tags=[canary()],
            metadata={"told": canary(), canary(): 1},
        )
        hx.recall(f"where was {word}")
    for number, word in enumerate(canary.some(per_door)):
        (outside / f"n{number}.md").write_text(f"# {word}\n\nAbout {canary()}.\n", encoding="utf-8")
    hx.ingest(outside)
    (outside / "queued.md").write_text(f"Queued {canary()}.", encoding="utf-8")
    hx.enqueue(outside / "queued.md", tags=[canary()])
    hx.spaces.create("garden", {"told": canary()})
    for word in canary.some(per_door):
        hx.remember(f"Roses of {word} need water.", space="garden")
    _experience(hx, canary, per_door)
    for word in canary.some(per_door):
        name = f"doc-{word[-10:-6]}.md"
        document = hx.xdb.documents.add_document(name, f"Answer like {word}.", "reference", tags=[canary()])
        hx.xdb.documents.update_document(document.id, f"Answer like {canary()}.")
    hx.xdb.documents.write_copies()
    _working_set(hx, canary)
    hx.spaces.write_file("garden")
    hx.spaces.export("garden")
    hx.maintain()
    hx.embed_pending()
    if seal:
        hx.xdb.seal()
    hx.xdb.export_submission("graft-1")
    for word in canary.some(per_door):
        hx.xdb.record("output", f"Last said {word} ")


def _working_set(hx: Hexad, canary: Canaries) -> None:
    hx.session.start(f"Plant {canary()}.", ticket=f"T-{canary()}", steps=[f"Dig for {canary()}."])
    hx.session.open_file(f"garden/{canary()}.py")
    hx.session.record_edit(f"garden/{canary()}.py", summary=f"Moved {canary()}.")
    hx.session.add_turn("user", f"Water {canary()}.")
    hx.session.note(f"Half way to {canary()}.")
    hx.session.snapshot()


def _experience(hx: Hexad, canary: Canaries, per_door: int) -> None:
    hx.xdb.start_session("monday", compaction=False)
    for number, word in enumerate(itertools.chain(canary.some(per_door), canary.some(per_door))):
        hx.xdb.record(
            "output",
            f"I said {word} ",
            {f"pack::{word}": 0.75},
            event_id=f"event {canary()}" if number % 5 == 0 else None,
            event_start=number % 5 == 0,
            event_end=number % 5 == 0,
            role="assistant",
        )
    bud = hx.xdb.create_bud_tag(
        f"Curious {canary()}", f"About {canary()}.", related_concepts=["pack::Odd"]
    ).id
    hx.xdb.create_entity_tag(f"Anna {canary()}", "person", description=canary())
    for tick in range(1, per_door):
        hx.xdb.tag(bud, tick_range=(tick, tick), note=f"noted {canary()}")
        hx.xdb.comment(f"Remark {canary()}.", tick_range=(tick, tick))
    hx.xdb.pin_window((1, 2), reason=f"kept for {canary()}")
    hx.xdb.submit_graft(bud, "graft-1")


def plant_ledger(directory: Path, canary: Canaries, *, per_door: int = 20, key: Key = None) -> None:
    """Bring canaries into the ledger of a store."""
    options = {} if key is None else {"key": key}
    with AuditLogWriter(directory, "being", **options) as writer:  # type: ignore[arg-type]
        for tick, word in enumerate(canary.some(per_door)):
            writer.record(
                "monday",
                tick,
                "output",
                f"It said {word}.",
                {f"pack::{canary()}": 0.5},
                [{"directive": canary(), "strength": 1}],
                subject=f"Person {canary()}",
            )


def seen(folder: Path, words: list[str]) -> list[str]:
    """Return in which files below a folder a canary stands, with the first one there."""
    return [f"{path}: {word}" for path, data in _contents(folder) for word in [_first(data, words)] if word]


def _contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield path, path.read_bytes()
            except FileNotFoundError:
                continue


def _first(data: bytes, words: list[str]) -> str | None:
    """Return the first canary in some bytes: as UTF-8, as UTF-16, or as JSON writes what is not ASCII."""
    if MARK.encode() in data or MARK.encode("utf-16-le") in data:
        return next(
            (word for word in words if word.encode() in data or word.encode("utf-16-le") in data), MARK
        )
    return None


def told(hx: Hexad) -> str:
    """Return what a store says of everything that `plant` brought in: the same before and after a conversion."""
    with_tags = sorted(
        (m.id, m.raw, sorted(m.tags), json.dumps(dict(m.metadata), sort_keys=True))
        for m in hx.memories(limit=10_000)
    )
    steps = [
        (s.id, s.content, sorted(s.concept_activations.items()))
        for s in hx.xdb.recall(session_id="*", limit=10_000)
    ]
    sessions = [state_of(working_set) for working_set in hx.session.list()]
    documents = sorted((d.id, d.content) for d in hx.xdb.list_documents())
    copies = sorted((c.path, c.state.value) for c in hx.xdb.documents.copies())
    package = hx.xdb.verify_export("graft-1")
    found = [hit.memory.id for hit in hx.recall("password clue of the garden", limit=50)]
    return json.dumps(
        [with_tags, steps, sessions, documents, copies, package, sorted(found)], default=str, indent=1
    )
