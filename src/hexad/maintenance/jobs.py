"""What is done for a store now and then: by `maintain` at once, by the background when it is due."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Stop = Callable[[], bool]
"""Asked between small pieces of work, whether to end."""
Report = dict[str, Any]
"""Fields of a `MaintenanceReport`, by name."""


def never() -> bool:
    """Let work go on until it is done."""
    return False


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do. `maintain` notes in the report what it did; `step` does what is due."""

    name: str
    maintain: Callable[[Report], object] | None = None
    step: Callable[[Stop], object] | None = None


def run_jobs(jobs: Iterable[Job]) -> Report:
    """Do all that there is to do, and return the report."""
    report: Report = {}
    for job in jobs:
        if job.maintain is not None:
            job.maintain(report)
    return report


def run_steps(jobs: Iterable[Job], stop: Stop) -> None:
    """Do what is due."""
    for job in jobs:
        if job.step is not None:
            job.step(stop)
