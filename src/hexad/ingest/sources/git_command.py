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


# What a partial clone has not, git would fetch, one commit after the other, and wait for a remote that is out of reach.
# No protocol is allowed, so that it says at once what is missing.
_OFFLINE: Final = tuple(
    part
    for protocol in ("", "file.", "git.", "http.", "https.", "ssh.", "ext.")
    for part in ("-c", f"protocol.{protocol}allow=never")
)


def git_output(
    folder: Path, *arguments: str, stdin: str = "", seconds_limit: float = _SECONDS_LIMIT
) -> bytes:
    """Return what git prints; raises `InvalidInput` with its reason where it fails. Nothing is fetched."""
    import subprocess

    try:
        process = subprocess.run(
            [*_GIT, *_OFFLINE, *arguments],
            cwd=folder,
            input=stdin.encode("ascii"),
            capture_output=True,
            timeout=seconds_limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidInput(
            f"git {arguments[0]} in {str(folder)!r} took over {seconds_limit:g} s; give a shorter range."
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


def is_partial(folder: Path) -> bool:
    """Whether a repository is a partial clone (`--filter=blob:none`): not all contents of its history are there."""
    try:
        git_output(folder, "config", "--get-regexp", r"^remote\..*\.promisor$")
    except InvalidInput:
        return False
    return True


def rename_option(folder: Path) -> str:
    """Return how renames are looked for: in a partial clone by equal contents alone, without a look at any."""
    return "-M100%" if is_partial(folder) else "-M"
