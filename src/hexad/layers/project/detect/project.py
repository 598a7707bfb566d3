"""A look at a repository: which facts about the project its own files give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.core.arguments import encodable
from hexad.errors import InvalidInput, NotFound
from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.folder import FoundFile, walk
from hexad.layers.project.detect.habits import habits_of
from hexad.layers.project.detect.manifests import Manifest, reader_of
from hexad.layers.project.detect.stack import stack_of
from hexad.layers.project.values import Finding

FILES_MOST: Final = 50_000
FILE_BYTES_MOST: Final = 1 << 20
_MANIFESTS_MOST: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a look at a folder gave: how many files there are, the findings, and what was left out."""

    files: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def look_at(root: Path) -> Looked:
    """Return what the files of a repository say of the project, sorted by category and key.

    Names are looked at, and the texts of manifests, of some settings and of a few dozen files of code. What is
    ignored, generated or a dependency's own is left out, as an ingest does. Nothing is run.

    Raises `NotFound` when there is no such folder, `InvalidInput` for a file.
    """
    if not root.exists():
        raise NotFound(f"There is no folder {str(root)!r} to look at; give the root of a repository.")
    if not root.is_dir():
        raise InvalidInput(f"{str(root)!r} is a file; give the root of a repository.")
    files: list[str] = []
    notes: list[str] = []
    nameless = 0
    for found in walk(root, options=ReadOptions(hidden=True)):
        if isinstance(found, FoundFile):
            if not encodable(found.relative):
                nameless += 1
                continue
            if len(files) == FILES_MOST:
                notes.append(f"Only the first {FILES_MOST:,} files were looked at.")
                break
            files.append(found.relative)
    if nameless:
        notes.append(f"Left out, for their names are no UTF-8: {nameless:,} of the files.")
    manifests = _manifests(root, files, notes)
    findings = [*stack_of(files, manifests), *habits_of(files, manifests, lambda path: _text(root, path))]
    unique = {(finding.category, finding.key): finding for finding in reversed(findings)}
    return Looked(
        files=len(files),
        findings=tuple(sorted(unique.values(), key=lambda finding: (finding.category, finding.key))),
        notes=tuple(notes),
    )


def _manifests(root: Path, files: Sequence[str], notes: list[str]) -> list[Manifest]:
    found: list[Manifest] = []
    for path in files:
        reader = reader_of(PurePosixPath(path).name)
        if reader is None:
            continue
        if len(found) == _MANIFESTS_MOST:
            notes.append(f"Only the first {_MANIFESTS_MOST} files that declare dependencies were read.")
            break
        text = _text(root, path)
        manifest = None if text is None else reader[1](text)
        if manifest is None:
            notes.append(f"{path} could not be read as what its name says.")
        else:
            found.append(replace(manifest, path=path))
    return found


def _text(root: Path, path: str) -> str | None:
    """Return the text of a file, None for one that is too large or no text."""
    try:
        file = root / path
        if file.stat().st_size > FILE_BYTES_MOST:
            return None
        return file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
