"""What the stress suite of governance does to a store; importable by name, because workers start fresh."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import hexad
from hexad import Hexad
from hexad.memory.draft import Draft
from hexad.testing import HashEmbedder

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
POLICY = {
    "ttl_days": 30,
    "allow_delete": True,
    "visibility": [{"kinds": ["decision"], "roles": ["lead"]}],
}


def open_store(folder: Path) -> Hexad:
    folder.mkdir(exist_ok=True, parents=True)
    return hexad.open(folder, embedder=HashEmbedder(), background=False)


def fill(folder: Path, many: int) -> None:
    """Put old memories into the space `docs`, every tenth with vectors, versions and tags."""
    with open_store(folder) as store:
        store.spaces.create("docs")
        store.spaces.create("elsewhere")
        store.spaces.set_policy("docs", POLICY)
        drafts = [
            Draft(
                text=f"Boat {n} came in with word{n % 91} and word{n % 37}.",
                space="docs",
                id=f"d{n}",
                kind="decision" if n % 3 == 0 else "note",
                tags=("log",),
                now=LONG_AGO,
            )
            for n in range(many)
        ]
        store._services.ingest().writer.write(drafts)
        store._services.search.embed(limit=many // 10)


def gc(store: Hexad, _worker: int, _n: int) -> None:
    store.spaces.gc("docs", purge=True)


def reset(store: Hexad, _worker: int, _n: int) -> None:
    store.spaces.create("docs", {"reset": True})


def delete(store: Hexad, worker: int, n: int) -> None:
    """Delete the space; whoever comes second finds it gone, and writes it anew."""
    try:
        store.spaces.delete("docs")
    except hexad.NotFound:
        store.remember(f"Boat {worker} came in again.", space="docs", id=f"again-{worker}-{n}")
        with contextlib.suppress(hexad.NotFound):  # the other one was quicker
            store.spaces.set_policy("docs", POLICY)
    except hexad.AccessDenied:  # the other one has written it anew, without leave so far
        with contextlib.suppress(hexad.NotFound):
            store.spaces.set_policy("docs", POLICY)


EMPTYING: dict[str, Callable[[Hexad, int, int], None]] = {"gc": gc, "reset": reset, "delete": delete}


def write_elsewhere(store: Hexad, worker: int, n: int) -> None:
    store.remember(f"Elsewhere {worker} wrote line {n}.", space="elsewhere", id=f"e{worker}-{n}")


def write_beside(store: Hexad, worker: int, n: int) -> None:
    kind = "decision" if n % 2 else "note"
    store.remember(f"Young line {n} of {worker}.", space="docs", id=f"b{worker}-{n}", kind=kind)


def change_policy(store: Hexad, _worker: int, n: int) -> None:
    """Change who may see what; the last change hides decisions again."""
    store.spaces.set_policy("docs", POLICY if n % 2 else {"roles": ["lead"]})
