"""Environments of the systems of `rivals`: made once below a folder, made anew when what they need has changed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rival_stores import Rival

_TRIED = ("python3", "python3.13", "python3.12", "python3.11", "/usr/bin/python3")
_SECONDS = 1_800


class NotInstalled(Exception):
    """A system cannot be installed here; the message says why."""


def environment(rival: Rival, cache: Path) -> Path:
    """Return the interpreter that a system runs with; makes its environment where there is none.

    Systems that need the same share one. Raises `NotInstalled`.
    """
    if not rival.requires:
        return Path(sys.executable)
    base = _interpreter(rival)
    wanted = json.dumps([_version_of(base), *rival.requires])
    folder = cache / f"{rival.imports.split('.')[0]}-{hashlib.sha256(wanted.encode()).hexdigest()[:8]}"
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    if stamp.exists() and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run([str(base), "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *rival.requires])
    except NotInstalled:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    stamp.write_text(wanted + "\n", encoding="utf-8")
    return python


def _interpreter(rival: Rival) -> Path:
    """Return the first interpreter that can run the system; that of this process is tried first."""
    candidates = [sys.executable, *filter(None, map(shutil.which, _TRIED))]
    for candidate in dict.fromkeys(candidates):
        done = subprocess.run([candidate, "-c", rival.check or "pass"], capture_output=True, check=False)
        if done.returncode == 0:
            return Path(candidate)
    raise NotInstalled(f"no Python here can run it: each failed at `{rival.check}`")


def _version_of(python: Path) -> str:
    command = [str(python), "-c", "import sys; print(sys.version, sys.base_prefix)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"its installation took more than {_SECONDS} s") from None
    if done.returncode:
        raise NotInstalled(reason(done.stderr or done.stdout))


def reason(words: str) -> str:
    """Return the telling line of what a program said before it failed: pip's last error, else the last line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["it said nothing"])[-1].removeprefix("ERROR: ")[:300]
