"""A program that the stress tests run, several at once, and kill: does the maintenance of a store, and says how many
memories it linked.

python honeycomb_linking_target.py STORE
"""

from __future__ import annotations

import sys

import hexad
from hexad.testing import HashEmbedder


def main() -> None:
    with hexad.open(sys.argv[1], embedder=HashEmbedder(), background=False) as hx:
        print("ready", flush=True)
        sys.stdin.readline()
        print("linked", hx.maintain().linked, flush=True)


if __name__ == "__main__":
    main()
