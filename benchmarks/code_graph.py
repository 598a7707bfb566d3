"""The code graph: files a second, import edges beside grimp, one changed file among 10,000, impact, memory.

Hexad's own source and networkx are always there; `pip install django sqlalchemy grimp` adds two packages and the comparison.
"""

from __future__ import annotations

import random
import shutil
import statistics
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, peak_memory_mb

PACKAGES: Final = ("hexad", "networkx", "django", "sqlalchemy")
FILES: Final = 10_000
ASKED: Final = 100
CHANGED: Final = 5
_LEAST: Final = 0.98


def run(options: Options) -> Report:
    """Measure each package that is installed, and copies of the largest up to 10,000 files."""
    report = Report(name="Code graph")
    folders = {name: folder for name in PACKAGES if (folder := _folder(name)) is not None}
    rows, compared = [], []
    for name, folder in folders.items():
        found = in_child(measure, folder, options.work / f"graph-{name}")
        rows.append(_row(name, found))
        if find_spec("grimp") is not None:
            edges = in_child(beside_grimp, name, folder, options.work / f"edges-{name}")
            compared.append([name, edges["theirs"], edges["ours"], edges["precision"], edges["recall"]])
            report.at_least(f"{name}: precision of import edges beside grimp", edges["precision"], _LEAST)
            report.at_least(f"{name}: recall of import edges beside grimp", edges["recall"], _LEAST)
    if not options.quick:
        largest = max(folders.values(), key=lambda folder: len(list(folder.rglob("*.py"))))
        many = _copies(largest, options.work / "many")
        rows.append(_row("copies up to 10,000 files", in_child(measure, many, options.work / "graph-many")))
    report.tables.append(
        Table(
            title="Indexed without memories, slices left out",
            columns=[
                "code", "files", "MB", "files/CPU-s", "MB/CPU-s", "symbols", "edges", "database, MB", "peak memory, MB",
                "impact, ms CPU, p50", "one changed file, ms CPU, p50", "nothing changed, ms CPU",
            ],
            rows=rows,
        )
    )  # fmt: skip
    if compared:
        report.tables.append(
            Table(
                title="Import edges inside the package, beside grimp",
                columns=["code", "grimp", "hexad", "precision", "recall"],
                rows=compared,
            )
        )
    return report


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _copies(folder: Path, target: Path) -> Path:
    files = len(list(folder.rglob("*.py")))
    for number in range(-(-FILES // files)):
        shutil.copytree(folder, target / f"part{number}" / folder.name, ignore=_no_code, dirs_exist_ok=True)
    return target


def _no_code(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".py") and not Path(folder, name).is_dir()]


def measure(folder: Path, store: Path) -> dict[str, Any]:
    """Index a copy of a folder, ask what changes may touch, change single files."""
    source = _copied(folder, store)
    store.mkdir(parents=True, exist_ok=True)
    with hexad.open(store, embedder=None, background=False) as hx:
        started = time.process_time()
        report = hx.graph.index(source)
        seconds = time.process_time() - started
        overview = hx.graph.show()
        paths = [path for path in sorted(source.rglob("*.py")) if path.stat().st_size]
        names = random.Random(1).sample(paths, min(ASKED, len(paths)))
        asked = [_timed(lambda path=path: hx.graph.impact(str(path.relative_to(source)))) for path in names]  # type: ignore[misc]
        again = _timed(lambda: hx.graph.index(source))
        changed = []
        for path in names[:CHANGED]:
            path.write_text(path.read_text("utf-8") + "\n\ndef added_for_a_measurement(): ...\n", "utf-8")
            changed.append(_timed(lambda path=path: hx.graph.index(path)))  # type: ignore[misc]
        size = sum(file.stat().st_size for file in hx.path.glob("memory.db*"))
    return {
        "files": report.files,
        "mb": sum(path.stat().st_size for path in paths) / 1e6,
        "seconds": seconds,
        "symbols": overview.nodes["symbol"],
        "edges": sum(overview.edges.values()),
        "database_mb": size / 1e6,
        "memory_mb": peak_memory_mb(),
        "impact_ms": statistics.median(asked),
        "changed_ms": statistics.median(changed),
        "again_ms": again,
    }


def _copied(folder: Path, store: Path) -> Path:
    """Return a folder in which a package lies under its own name, as its imports call it."""
    source = store.with_name(f"{store.name}-source")
    shutil.copytree(folder, source / folder.name, ignore=_no_code, dirs_exist_ok=True)
    return source


def _timed(call: Any) -> float:
    started = time.process_time()
    call()
    return (time.process_time() - started) * 1_000


def beside_grimp(package: str, folder: Path, store: Path) -> dict[str, Any]:
    """Return how many import edges both find; files outside of regular packages, which grimp leaves out, do not count."""
    import grimp

    graph = grimp.build_graph(package, cache_dir=None)
    theirs = {
        (start, end) for start in graph.modules for end in graph.find_modules_directly_imported_by(start)
    }
    store.mkdir(parents=True, exist_ok=True)
    with hexad.open(store, embedder=None, background=False) as hx:
        hx.graph.index(_copied(folder, store))
        rows = [
            (item.value["path"], edge["to_path"])
            for item in hx.export()
            if item.section == "code_files"
            for edge in item.value["edges"]
            if edge["type"] == "imports" and edge["to_path"] is not None
        ]
    ours = {(_module(start), _module(end)) for start, end in rows}
    ours = {(start, end) for start, end in ours if start in graph.modules and end in graph.modules}
    both = len(ours & theirs)
    return {
        "theirs": len(theirs),
        "ours": len(ours),
        "precision": both / max(len(ours), 1),
        "recall": both / max(len(theirs), 1),
    }


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _row(name: str, found: dict[str, Any]) -> list[Any]:
    return [
        name, found["files"], round(found["mb"], 1), round(found["files"] / found["seconds"]),
        round(found["mb"] / found["seconds"], 2), found["symbols"], found["edges"], round(found["database_mb"], 1),
        round(found["memory_mb"]), round(found["impact_ms"], 1), round(found["changed_ms"], 1), round(found["again_ms"]),
    ]  # fmt: skip
