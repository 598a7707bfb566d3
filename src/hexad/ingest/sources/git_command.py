"""The `git` command: what it says of a folder. Reading a repository's history stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hexad.errors import InvalidInput

_SECONDS_LIMIT: Final = 120

# Nothing of the user's or the repository's configuration may run a program, colour or page the output, or
# rename the authors.
_GIT: Final = (
    *(
        "git",
        "--no-pager",
        "-c",
        "core.quotePath=false",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "color.ui=false",
    ),
    *("-c", "log.showSignature=false", "-c", "log.mailmap=false", "-c", "diff.external="),
)


def git_output(folder: Path, *arguments: str, stdin: str = "") -> bytes:
    """Return what git prints; raises `InvalidInput` with its reason where it fails."""
    import subprocess

    try:
        process = subprocess.run(
            [*_GIT, *arguments],
            cwd=folder,
            input=stdin.encode("ascii"),
            capture_output=True,
            timeout=_SECONDS_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidInput(
            f"git {arguments[0]} in {str(folder)!r} took over {_SECONDS_LIMIT} s; give a shorter range."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"git cannot be run in {str(folder)!r}: {error.strerror}. Install git, or read the folder instead."
        ) from error
    if process.returncode:
        reason = process.stderr.decode("utf-8", "replace").strip()
        raise InvalidInput(
            f"git {arguments[0]} in {str(folder)!r} failed: {reason or process.returncode}. "
            "Name a folder inside a repository and a range that it knows."
        )
    return process.stdout


def toplevel(folder: Path) -> Path:
    """Return the top folder of the work tree around `folder`, or the repository itself if it is bare.

    Raises `InvalidInput` with git's reason when there is no repository.
    """
    at = folder if folder.is_dir() else folder.parent
    if git_output(at, "rev-parse", "--is-bare-repository").strip() == b"true":
        output = git_output(at, "rev-parse", "--absolute-git-dir")
    else:
        output = git_output(at, "rev-parse", "--show-toplevel")
    return Path(output.decode("utf-8", "surrogateescape").rstrip("\n"))


def current_branch(folder: Path) -> str | None:
    """Return the branch that is checked out around `folder`; None for a commit without one.

    Raises `InvalidInput` with git's reason when there is no repository.
    """
    toplevel(folder)
    try:
        return (
            git_output(folder, "symbolic-ref", "--short", "--quiet", "HEAD")
            .decode("utf-8", "replace")
            .strip()
        )
    except InvalidInput:
        return None
