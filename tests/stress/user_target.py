"""What the stress suite of the user layer does to it; importable by name, because workers start fresh."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import hexad
from hexad import Hexad


class Project:
    """One worker's own project below a folder; all share the layer in `user`."""

    def __init__(self, folder: Path) -> None:
        # Workers that are started together must not take turns from the first moment on.
        time.sleep(random.random() / 20)
        own = folder / f"project-{os.getpid()}"
        own.mkdir(parents=True, exist_ok=True)
        self.hx: Hexad = hexad.open(own, embedder=None, background=False, user_dir=folder / "user")

    def close(self) -> None:
        self.hx.close()


def open_project(folder: Path) -> Project:
    return Project(folder)


def change(project: Project, worker: int, n: int) -> None:
    """State something, note evidence for what all share, and learn now and then."""
    user = project.hx.user
    user.prefer(f"own {worker} {n}", f"value {n}")
    user.update_preference(key="shared", value="Postgres", idempotency_key=f"{worker}-{n}")
    if n % 7 == 0:
        project.hx.remember(
            f"Round {n}.", kind="tech_stack", subject="it", attribute="db", value="Postgres", id="db"
        )
        user.learn()
