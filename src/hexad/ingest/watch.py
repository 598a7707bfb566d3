"""Following a folder: every change passes the durable queue, so that a kill loses none.

With the `watch` extra the operating system reports changes; without it the folder is looked at every second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Final

from hexad.core.arguments import parse_path
from hexad.errors import NotFound
from hexad.ingest.queue import QueueRunner
from hexad.ingest.report import IngestReport
from hexad.ingest.sources.git_history import head_commit
from hexad.text.paths import matches as path_matches

POLL_S: Final = 1.0
_GLOB: Final = re.compile(r"[*?\[]")
_OWN: Final = frozenset({".hexad", ".git"})
_Snapshot = dict[Path, tuple[int, int]]
"""Size and time of every file."""


class Watcher:
    """Watches one folder at a time in the calling thread (document 1, section 6.1: `filesystem.watch(glob)`)."""

    def __init__(self, queue: QueueRunner) -> None:
        self._queue = queue

    def follow(
        self,
        source: str | Path,
        *,
        space: str,
        tags: Sequence[str],
        git: bool,
        stop: Callable[[], bool],
        on_report: Callable[[IngestReport], None] | None,
    ) -> None:
        """Ingest `source` now and after every change, until `stop()`. Raises `NotFound` for no such folder."""
        folder, pattern = split_glob(parse_path(source, "source"))
        if not folder.is_dir():
            raise NotFound(f"There is no folder {str(folder)!r} to watch; check the path.")
        matches = partial(path_matches, pattern=pattern) if pattern else None
        head = head_commit(folder) if git else None
        changed: list[Path] | None = None
        for paths in _changes(folder, stop):
            wanted_paths = [path for path in paths if _relevant(path, folder, matches)]
            if changed is None:
                self._put_all(folder, pattern, space=space, tags=tags)
            elif matches is not None:
                for path in wanted_paths:
                    if path.exists():
                        self._queue.put(path, space=space, tags=tags)
                    else:
                        self._queue.vanished(path, space=space)
            elif wanted_paths:
                self._queue.put(folder, space=space, tags=tags)
            changed = wanted_paths
            if git and (now := head_commit(folder)) != head:
                span = f"{head}..{now}" if head else str(now)
                self._queue.put(f"git:{folder}?{span}", space=space, tags=tags)
                head = now
            self._queue.run(stop=stop, on_report=on_report)

    def _put_all(self, folder: Path, pattern: str | None, *, space: str, tags: Sequence[str]) -> None:
        if pattern is None:
            self._queue.put(folder, space=space, tags=tags)
            return
        for path in sorted(_snapshot(folder)):
            if path_matches(path.relative_to(folder).as_posix(), pattern):
                self._queue.put(path, space=space, tags=tags)


def split_glob(source: str | Path) -> tuple[Path, str | None]:
    """Return the folder to watch and the pattern inside it: `docs/*.md` is `docs` and `*.md`."""
    parts = Path(source).parts
    for index, part in enumerate(parts):
        if _GLOB.search(part):
            return Path(*parts[:index]).resolve(), "/".join(parts[index:])
    return Path(source).resolve(), None


def _relevant(path: Path, folder: Path, matches: Callable[[str], bool] | None) -> bool:
    try:
        inside = path.relative_to(folder)
    except ValueError:
        return False
    if _OWN & set(inside.parts):
        return False
    return matches is None or (not path.is_dir() and matches(inside.as_posix()))


def _changes(folder: Path, stop: Callable[[], bool]) -> Iterator[list[Path]]:
    """Yield an empty list at once and then the changed paths, also an empty list every second or so.

    What changes while the first list is dealt with counts too: nobody is listening yet, so it is looked for.
    """
    before = _snapshot(folder)
    yield []
    if find_spec("watchfiles") is None:
        yield from _polled(folder, before, stop)
        return
    from watchfiles import watch

    ended = Event()
    batches = watch(
        folder,
        rust_timeout=int(POLL_S * 1000),
        yield_on_timeout=True,
        stop_event=ended,
        watch_filter=None,
        raise_interrupt=False,
    )
    missed: set[Path] | None = None
    for batch in batches:
        if stop():
            ended.set()
            return
        missed = _different(before, _snapshot(folder)) if missed is None else set()
        yield sorted(missed | {Path(path) for _, path in batch})


def _polled(folder: Path, before: _Snapshot, stop: Callable[[], bool]) -> Iterator[list[Path]]:
    pause = Event()
    while not stop():
        pause.wait(POLL_S)
        after = _snapshot(folder)
        yield sorted(_different(before, after))
        before = after


def _different(before: _Snapshot, after: _Snapshot) -> set[Path]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def _snapshot(folder: Path) -> _Snapshot:
    snapshot: _Snapshot = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _OWN]
        for name in names:
            path = Path(root) / name
            try:
                state = path.stat()
            except OSError:
                continue  # gone between listing and looking: the next look sees it
            snapshot[path] = (state.st_size, state.st_mtime_ns)
    return snapshot
