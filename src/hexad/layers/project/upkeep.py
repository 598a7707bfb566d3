"""Looking at the repository without being asked: at `init`, and at `maintain` where what a look found has changed."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from hexad.database.codec import dump
from hexad.database.meta import Meta
from hexad.layers.project.manifests import is_manifest

if TYPE_CHECKING:
    from hexad.layers.project.values import Detected, Finding

_LAST: Final = "project_detection"
"""Name in the store's facts about itself: what the last look found, as a hash, or that no look is wanted."""
_OFF: Final = "off"


def is_project(folder: Path) -> bool:
    """Say whether a folder is the root of a repository: it has a `.git`, or a file that declares dependencies."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return ".git" in names or any(is_manifest(name) for name in names)


def note_look(meta: Meta, findings: tuple[Finding, ...]) -> None:
    """Keep what a look found, so that the same again is no evidence."""
    meta.put(_LAST, _digest(findings))


def was_looked_at(meta: Meta) -> bool:
    """Whether a look was taken, or none is wanted."""
    return meta.get(_LAST) is not None


def switch_off(meta: Meta) -> None:
    """Let no look be taken until somebody asks for one."""
    meta.put(_LAST, _OFF)


class Detector(Protocol):
    """What looks at a repository."""

    def detect(self, root: Path, *, dry_run: bool = False) -> Detected:
        """Return what its files give away, and note it."""


def look_again(project: Detector, meta: Meta, folder: Path) -> Detected | None:
    """Look at the repository and note what changed; None where nothing did, or where nobody ever looked or wants to."""
    last = meta.get(_LAST)
    if last in (None, _OFF):
        return None
    if _digest(project.detect(folder, dry_run=True).findings) == last:
        return None
    return project.detect(folder)


def _digest(findings: tuple[Finding, ...]) -> str:
    rows = [[finding.category.value, finding.key, finding.value] for finding in findings]
    return sha256(dump(rows).encode()).hexdigest()
