"""Projects that share one user layer, for tests of what is known of a person across them."""

from __future__ import annotations

from pathlib import Path

import hexad
from hexad import FrozenClock, Hexad

DAY_S = 86_400


def open_project(
    folder: Path,
    clock: FrozenClock | None = None,
    *,
    toml: str = "",
    actor: str | dict[str, str] | None = None,
    **options: object,
) -> Hexad:
    """Open the store of a project, with these settings."""
    (folder / ".hexad").mkdir(parents=True, exist_ok=True)
    if toml:
        (folder / ".hexad" / "hexad.toml").write_text(toml)
    return hexad.open(
        folder,
        embedder=None,
        background=False,
        clock=clock,
        actor=actor,
        **options,  # type: ignore[arg-type]
    )


def use(hx: Hexad, **facts: str | list[str]) -> None:
    """Store what a project uses, as facts of its technology."""
    for key, value in facts.items():
        hx.remember(
            f"{key}: {value}",
            space="project",
            id=f"fact-{key}",
            kind="tech_stack",
            subject="the project",
            attribute=key,
            value=value if isinstance(value, str) else list(value),
        )


def learned(root: Path, clock: FrozenClock, name: str, **facts: str | list[str]) -> hexad.LearningReport:
    """Begin a project, a day after the one before it, and learn from what it uses."""
    clock.advance(days=1)
    with open_project(root / name, clock) as hx:
        use(hx, **facts)
        return hx.user.learn()
