"""What a benchmark returns: tables to read, figures to hold against a budget, and the machine they came from."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

TIMESTEPS = 10_000_000
"""How far a stream grows for the questions to it, unless a run says otherwise."""
Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run measures. `data` is the folder of development data, None where there is none.

    `store` is where large stores are kept from one run to the next; None builds them anew. `only`, `items` and `cache`
    are for `rivals`: which peers, how many notes, and where their environments are kept. `files` is how many files the
    largest copy for the code graph has; 0 makes none. `memories` are the sizes of the store of `recall`.
    """

    data: Path | None
    quick: bool = False
    work: Path
    reuse_vectors: bool = False
    timesteps: int = TIMESTEPS
    store: Path | None = None
    only: tuple[str, ...] = ()
    items: tuple[int, ...] = ()
    cache: Path | None = None
    files: int = 0
    memories: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def markdown(self) -> str:
        """Return the table as markdown; numbers are right-aligned."""
        numeric = [
            any(isinstance(row[at], int | float) for row in self.rows) for at in range(len(self.columns))
        ]
        lines = [f"**{self.title}**", "", _line(self.columns)]
        lines.append(_line(["---:" if right else "---" for right in numeric]))
        lines.extend(_line([_cell(value) for value in row]) for row in self.rows)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its budget; `met` is None where there is no budget."""

    name: str
    value: float
    unit: str = ""
    budget: str = ""
    met: bool | None = None


@dataclass(slots=True)
class Report:
    """What one benchmark found. `skipped` says why it measured nothing."""

    name: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0
    load: float = 0.0

    def figure(self, name: str, value: float, unit: str = "") -> None:
        """Add a figure that has no budget."""
        self.figures.append(Figure(name=name, value=value, unit=unit))

    def at_most(self, name: str, value: float, limit: float, unit: str = "") -> None:
        """Add a figure that must not be larger than `limit`."""
        self.figures.append(
            Figure(name=name, value=value, unit=unit, budget=f"≤ {limit:g}", met=value <= limit)
        )

    def at_least(self, name: str, value: float, limit: float, unit: str = "") -> None:
        """Add a figure that must not be smaller than `limit`."""
        self.figures.append(
            Figure(name=name, value=value, unit=unit, budget=f"≥ {limit:g}", met=value >= limit)
        )

    def markdown(self) -> str:
        """Return the whole report as markdown."""
        parts = [
            f"## {self.name}",
            f"Took {self.seconds:.0f} s; load average {self.load:.1f} at its end."
            if not self.skipped
            else f"Skipped: {self.skipped}",
        ]
        parts.extend(table.markdown() for table in self.tables)
        if self.figures:
            rows = [(f.name, f.value, f.unit, f.budget, _MET[f.met]) for f in self.figures]
            parts.append(
                Table(
                    title="Figures", columns=("figure", "value", "unit", "budget", "met"), rows=rows
                ).markdown()
            )
        parts.extend(self.notes)
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON."""
        return asdict(self)


_MET = {True: "yes", False: "**no**", None: ""}


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        if 0 < abs(value) < 0.01:
            return f"{value:.2g}"
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value


# Measuring ------------------------------------------------------------------------------------------------------


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of them lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(slots=True)
class Timings:
    """Wall and CPU time of repeated calls, in milliseconds. CPU counts every thread of this process."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def __enter__(self) -> Timings:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall_ms.append((time.perf_counter() - self._wall) * 1000)
        self.cpu_ms.append((time.process_time() - self._cpu) * 1000)

    _cpu: float = 0.0
    _wall: float = 0.0

    def p(self, share: float) -> float:
        """Return a percentile of the wall times."""
        return percentile(self.wall_ms, share)

    def per_second(self) -> float:
        """Return how many calls would fit into a second, one after the other."""
        return 1000 * len(self.wall_ms) / sum(self.wall_ms)

    def summary(self) -> dict[str, float]:
        """Return p50, p95, p99 and worst of the wall times, the median of the CPU times, and the rate."""
        return {
            "p50_ms": self.p(0.5),
            "p95_ms": self.p(0.95),
            "p99_ms": self.p(0.99),
            "worst_ms": max(self.wall_ms),
            "cpu_p50_ms": percentile(self.cpu_ms, 0.5),
            "per_second": self.per_second(),
            "calls": len(self.wall_ms),
        }


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far."""
    # ru_maxrss of a child starts at its parent's size; the high-water mark of /proc is its own.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1 << 20) if platform.system() == "Darwin" else kilobytes / 1024


def disk_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def environment() -> Mapping[str, Cell]:
    """Return what a reader must know to compare: commit, versions, processors, load before the run."""
    import apsw  # here, as peers read this module in environments that have no APSW

    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit or "unknown",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "system": platform.system(),
        "processors": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 2),
    }
