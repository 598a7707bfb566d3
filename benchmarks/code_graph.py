"""The code graph: files a second, import edges beside grimp, one changed file among 10,000, impact, memory.

Hexad's own source is always there; networkx, Django, SQLAlchemy and the comparison with grimp are where they are installed, and what is
missing is named. An environment of their own is enough: `pip install --target FOLDER networkx django sqlalchemy grimp`, then `PYTHONPATH=FOLDER`.
`--files 10000` also indexes so many copies of the largest package's files, which takes minutes.
`CODE_GRAPH_FOLDERS=FOLDER:FOLDER` adds folders of other languages (extra `code`), whose imports are compared with those that madge finds
in scripts (`CODE_GRAPH_MADGE=FOLDER/node_modules/madge/bin/cli.js`, a package of npm) and those that `gcc -MM` finds from the sources of C and C++.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, peak_memory_mb
from hexad.code_graph.languages import KNOWN, code_language

PACKAGES: Final = ("hexad", "networkx", "django", "sqlalchemy")
ASKED: Final = 100
CHANGED: Final = 5
_LEAST: Final = 0.98


def run(options: Options) -> Report:
    """Measure each package that is installed, and copies of the largest up to `options.files`."""
    report = Report(name="Code graph")
    folders = {name: folder for name in PACKAGES if (folder := _folder(name)) is not None}
    report.notes += missing_peers()
    rows, compared = [], []
    for name, folder in folders.items():
        found = in_child(measure, folder, options.work / f"graph-{name}")
        rows.append(_row(name, found))
        if find_spec("grimp") is not None:
            edges = in_child(beside_grimp, name, folder, options.work / f"edges-{name}")
            compared.append([name, edges["theirs"], edges["ours"], edges["precision"], edges["recall"]])
            report.at_least(f"{name}: precision of import edges beside grimp", edges["precision"], _LEAST)
            report.at_least(f"{name}: recall of import edges beside grimp", edges["recall"], _LEAST)
    others = []
    for given in filter(None, os.environ.get("CODE_GRAPH_FOLDERS", "").split(":")):
        folder = Path(given).resolve()
        rows.append(_row(folder.name, in_child(measure, folder, options.work / f"graph-{folder.name}")))
        for peer, (theirs, ours, both) in in_child(
            beside_peers, folder, options.work / f"peers-{folder.name}"
        ).items():
            precision, recall = both / max(ours, 1), both / max(theirs, 1)
            others.append([folder.name, peer, theirs, ours, round(precision, 3), round(recall, 3)])
            report.at_least(f"{folder.name}: recall of imports beside {peer}", recall, _LEAST)
    if options.files:
        largest = max(folders.values(), key=lambda folder: len(list(folder.rglob("*.py"))))
        many = _copies(largest, options.work / "many", files=options.files)
        found = in_child(measure, many, options.work / "graph-many")
        rows.append(_row(f"copies of {largest.name} up to {options.files:,} files", found))
    else:
        report.notes.append("No copies of the largest package: `--files 10000` indexes so many files.")
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
    if others:
        report.tables.append(
            Table(
                title="Imports inside the folder, beside madge; files included from a source, beside `gcc -MM`",
                columns=["code", "peer", "peer's", "hexad", "precision", "recall"],
                rows=others,
            )
        )
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


def missing_peers() -> list[str]:
    """Return a sentence for each package, and for grimp, that is not installed: the run has no figures of it."""
    absent = [name for name in (*PACKAGES, "grimp") if find_spec(name) is None]
    return [
        f"`{name}` is not installed: "
        + ("no import edges are compared." if name == "grimp" else "it is not measured.")
        for name in absent
    ]


def _copies(folder: Path, target: Path, *, files: int) -> Path:
    each = len(list(folder.rglob("*.py")))
    for number in range(-(-files // each)):
        shutil.copytree(folder, target / f"part{number}" / folder.name, ignore=_no_code, dirs_exist_ok=True)
    return target


def _no_code(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if code_language(name) is None and not Path(folder, name).is_dir()]


def _code_files(folder: Path) -> list[Path]:
    return [
        path for path in sorted(folder.rglob("*")) if path.is_file() and code_language(path.name) in KNOWN
    ]


def measure(folder: Path, store: Path) -> dict[str, Any]:
    """Index a copy of a folder, ask what changes may touch, change single files."""
    source = _copied(folder, store)
    store.mkdir(parents=True, exist_ok=True)
    with hexad.open(store, embedder=None, background=False) as hx:
        started = time.process_time()
        report = hx.graph.index(source)
        seconds = time.process_time() - started
        overview = hx.graph.show()
        known = {item.value["path"] for item in hx.export() if item.section == "code_files"}
        paths = [
            path
            for path in _code_files(source)
            if str(path.relative_to(source)) in known and path.stat().st_size
        ]
        names = random.Random(1).sample(paths, min(ASKED, len(paths)))
        asked = [_timed(lambda path=path: hx.graph.impact(str(path.relative_to(source)))) for path in names]  # type: ignore[misc]
        again = _timed(lambda: hx.graph.index(source))
        changed = []
        for path in names[:CHANGED]:
            added = (
                "def added_for_a_measurement(): ..."
                if path.suffix == ".py"
                else "// Added for a measurement."
            )
            path.write_text(path.read_text("utf-8") + f"\n\n{added}\n", "utf-8")
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


def beside_peers(folder: Path, store: Path) -> dict[str, tuple[int, int, int]]:
    """Return of each peer how many edges it finds, how many Hexad does, and how many both.

    Of includes once all are counted, and once those that stand in no branch of a condition.
    """
    store.mkdir(parents=True, exist_ok=True)
    with hexad.open(store, embedder=None, background=False) as hx:
        hx.graph.index(folder)
        edges = {
            (item.value["path"], edge["to_path"]): edge["confidence"]
            for item in hx.export()
            if item.section == "code_files"
            for edge in item.value["edges"]
            if edge["type"] == "imports" and edge["to_path"] is not None
        }
    ours = set(edges)
    found: dict[str, tuple[int, int, int]] = {}
    scripts = {edge for edge in ours if code_language(edge[0]) in ("javascript", "typescript")}
    madge = os.environ.get("CODE_GRAPH_MADGE")
    if madge and scripts:
        theirs = _found_by_madge(madge, folder)
        found["madge"] = len(theirs), len(scripts), len(scripts & theirs)
    if any(code_language(start) in ("c", "cpp") for start, _ in ours) and shutil.which("gcc"):
        theirs, reached = _found_by_gcc(folder, ours)
        found["gcc -MM"] = len(theirs), len(reached), len(theirs & reached)
        theirs, reached = _found_by_gcc(folder, {edge for edge, sure in edges.items() if sure == 1})
        found["gcc -MM, in no branch"] = len(theirs), len(reached), len(theirs & reached)
    return found


def _found_by_madge(madge: str, folder: Path) -> set[tuple[str, str]]:
    command = ["node", madge, "--json", "--extensions", "ts,tsx,mts,cts,js,jsx,mjs,cjs", str(folder)]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return {(start, end) for start, ends in json.loads(printed[printed.index("{") :]).items() for end in ends}


def _found_by_gcc(
    folder: Path, ours: set[tuple[str, str]]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return what each source that gcc can read includes in the end, by gcc and by Hexad."""
    after: dict[str, set[str]] = {}
    for start, end in ours:
        after.setdefault(start, set()).add(end)
    theirs, reached = set(), set()
    for source in sorted(folder.rglob("*")):
        if source.suffix not in (".c", ".cc", ".cpp"):
            continue
        places = [f"-I{folder / name}" for name in ("", "include", "lib", "src")]
        command = ["gcc" if source.suffix == ".c" else "g++", "-MM", *places, str(source)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            continue
        name = str(source.relative_to(folder))
        included = ran.stdout.replace("\\\n", " ").partition(":")[2].split()
        named = {os.path.relpath(os.path.realpath(file), folder) for file in included}
        theirs |= {(name, file) for file in named if not file.startswith("..") and file != name}
        waiting, seen = [name], set[str]()
        while waiting:
            new = after.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        reached |= {(name, file) for file in seen if file != name}
    return theirs, reached


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _row(name: str, found: dict[str, Any]) -> list[Any]:
    return [
        name, found["files"], round(found["mb"], 1), round(found["files"] / found["seconds"]),
        round(found["mb"] / found["seconds"], 2), found["symbols"], found["edges"], round(found["database_mb"], 1),
        round(found["memory_mb"]), round(found["impact_ms"], 1), round(found["changed_ms"], 1), round(found["again_ms"]),
    ]  # fmt: skip
