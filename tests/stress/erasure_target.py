"""Erases a person in a store and says so; killed by the test at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import hexad


def main() -> None:
    """Open the store, erase, print the receipt."""
    with hexad.open(Path(sys.argv[1]), embedder=None, background=False) as hx:
        hx.forget(subject="ada", purge=True, dry_run=True)  # loads what it needs
        print("ready", flush=True)
        sys.stdin.readline()
        receipt = hx.forget(subject="ada", purge=True, confirm=True)
        print(receipt.id, flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
