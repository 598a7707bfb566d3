"""Decides, and says so, until it is killed: each decision takes the place of the one before."""

from __future__ import annotations

import sys
from itertools import count

import hexad

with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    last = None
    for number in count():
        made = hx.governance.decide(f"Decision {number}", rationale=f"Reason {number}", supersedes=last)
        last = made.id
        print(number, made.id, flush=True)
