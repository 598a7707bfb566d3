"""Values of the benchmarks' options, refused with the value and the remedy before anything is measured."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def whole(least: int, most: int, *, example: int) -> Callable[[str], int]:
    """Return the type of an option that takes a whole number of this range."""

    def read(text: str) -> int:
        # What has more digits than the largest is too large, whatever it says.
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not digits or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {least:,} to {most:,}; give for example {example}"
            )
        return int(text)

    return read


def is_folder(text: str) -> Path:
    """Return the folder that an option names; one that is not there is refused, and so is a file."""
    path = Path(text)
    if not os.path.isdir(path):
        what = "a file" if os.path.exists(path) else "not there"
        raise argparse.ArgumentTypeError(f"{text!r} is {what}; name a folder that is there")
    return path


def can_be_folder(text: str) -> Path:
    """Return a folder that is there or can be made, which is not done yet."""
    return _writable(text, "a folder", wrong=lambda path: os.path.lexists(path) and not path.is_dir())


def can_be_file(text: str) -> Path:
    """Return a file that can be written, with the folders that it needs; that is not done yet."""
    return _writable(text, "a file", wrong=lambda path: path.is_dir())


def _writable(text: str, what: str, *, wrong: Callable[[Path], bool]) -> Path:
    path = Path(text)
    if not text or "\0" in text or wrong(path):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be {what}; give another path")
    nearest = path.absolute()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    is_there = nearest == path.absolute()
    if not is_there and not nearest.is_dir():
        raise argparse.ArgumentTypeError(
            f"{text!r} lies below {str(nearest)!r}, which is no folder; give another path"
        )
    # `access` knows no file system that takes no files: where a folder has to be made, it is tried.
    if not os.access(nearest, os.W_OK) or (not is_there and not _takes_files(nearest)):
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be written: {str(nearest)!r} takes no files; give another path"
        )
    return path


def _takes_files(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
