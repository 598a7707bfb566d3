"""A writer that the stress tests run and kill: adds nodes and connects them, and says what was acknowledged.

python honeycomb_target.py STORE SEED COUNT HUB...
"""

from __future__ import annotations

import random
import sys

import hexad


def main() -> None:
    folder, seed, count, *hubs = sys.argv[1:]
    source = random.Random(int(seed))
    with hexad.open(folder, embedder=None, background=False) as hx:
        print("ready", flush=True)
        for at in range(int(count)):
            node = hx.honeycomb.add_node(f"{seed}.{at}", [source.random(), source.random()])
            hub = int(source.choice(hubs))
            edge = hx.honeycomb.insert(hub, node, score=round(source.random(), 2))
            print("made", hub, node, edge.relevance_score, flush=True)


if __name__ == "__main__":
    main()
