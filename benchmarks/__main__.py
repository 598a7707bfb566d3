"""`python -m benchmarks [NAME...] [--quick] [--data DIR] [--json FILE] [--markdown FILE]`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.arguments import can_be_file, can_be_folder, is_folder, whole
from benchmarks.report import TIMESTEPS, Figure, Options, Report, Table, environment
from benchmarks.rival_stores import RIVALS
from benchmarks.rival_texts import LEAST_ITEMS, MOST_ITEMS

MOST_MEMORIES, MOST_FILES = 10_000_000, 1_000_000
LEAST_TIMESTEPS, MOST_TIMESTEPS = 1_000_000, 50_000_000
"""The sizes that `stream-questions` knows lie between them."""
HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"


def _commit(options: Options) -> Report:
    """The commit path, by its own command."""
    found = _command(
        ["-m", "benchmarks.commit", "--seconds", "1" if options.quick else "5", "--out"],
        options,
        name="commit",
    )
    report = Report(name="Commit path")
    runs = found["runs"]
    columns = list(runs[0])
    report.tables.append(
        Table(title="Same one-row transaction", columns=columns, rows=[list(run.values()) for run in runs])
    )
    for processes, ratios in found["ratios"].items():
        if int(processes) < 32:
            report.figure(f"{processes} processes: rate over FULL", ratios["rate_over_full"], "×")
            continue
        report.at_least(f"{processes} processes: rate over FULL", ratios["rate_over_full"], 5.0, "×")
        report.at_most(f"{processes} processes: worst wait over FULL", ratios["worst_over_full"], 0.1, "×")
    return report


_DEFAULT_RULES = (
    ("sensitive", "by default: cards, IBANs, social security numbers found", "found"),
    ("sensitive", "by default: other personal data and look-alikes flagged", "flagged"),
    ("numbers", "by default: texts full of other numbers flagged", "flagged"),
    ("env", "values of .env files found, which are ordinary words", "found"),
    ("env", "texts that only speak of such files flagged", "flagged"),
    ("library", "files of Python's own library flagged", "flagged"),
)


def _redaction(options: Options) -> Report:
    """The redaction rules, by their own command; its exit code says whether its targets are met."""
    found = _command(["-m", "benchmarks.redaction", "--json"], options, name="redaction", may_miss=True)
    report = Report(name="Redaction")
    peer = found["detect_secrets"]
    rows = [
        ("secrets found", found["secrets"]["found"], peer and peer["found"]),
        ("look-alikes flagged", found["secrets"]["flagged"], peer and peer["flagged"]),
        ("personal data found", found["personal"]["found"], None),
        ("others flagged", found["personal"]["flagged"], None),
    ]
    for name, what, share in _DEFAULT_RULES:
        beside = found["default_rules"][name]
        rows.append((what, beside[share], beside[f"peer_{share}"]))
    report.tables.append(Table(title="Shares", columns=("", "hexad", "detect-secrets"), rows=rows))
    times = [(name, value) for name, value in found["us_per_kib"].items()]
    report.tables.append(Table(title="Microseconds per KiB", columns=("text", "µs"), rows=times))
    report.at_least("secrets found", found["secrets"]["found"], 0.95)
    report.at_most("look-alikes flagged", found["secrets"]["flagged"], 0.03)
    if peer is None:
        report.notes.append("`detect-secrets` is not installed: no peer in this run.")
    return report


def _command(command: list[str], options: Options, *, name: str, may_miss: bool = False) -> dict[str, Any]:
    target = options.work / f"{name}.json"
    done = subprocess.run(
        [sys.executable, *command, str(target)], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    if not target.exists() or (done.returncode and not may_miss):
        raise SystemExit(f"{name} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(target.read_text(encoding="utf-8"))


def _module(name: str) -> Callable[[Options], Report]:
    def run(options: Options) -> Report:
        report: Report = importlib.import_module(f"benchmarks.{name}").run(options)
        return report

    return run


# In this order: what is measured, and the module that must be there.
BENCHMARKS: dict[str, tuple[str, Callable[[Options], Report]]] = {
    "quality": ("quality", _module("quality")),
    "first-vectors": ("first_vectors", _module("first_vectors")),
    "kinds": ("kinds", _module("kinds")),
    "assistant-chats": ("assistant_chats", _module("assistant_chats")),
    "recall": ("latency", _module("latency")),
    "remember": ("writes", _module("writes")),
    "ingest": ("folders", _module("folders")),
    "context": ("context", _module("context")),
    "changing-facts": ("changing_facts", _module("changing_facts")),
    "short-facts": ("short_facts", _module("short_facts")),
    "relevance": ("relevance", _module("relevance")),
    "code-graph": ("code_graph", _module("code_graph")),
    "exact-tokens": ("exact_tokens", _module("exact_tokens")),
    "package-questions": ("package_questions", _module("package_questions")),
    "citations": ("citations", _module("citations")),
    "plain-updates": ("plain_updates", _module("plain_updates")),
    "messages": ("messages", _module("messages")),
    "near-duplicates": ("near_duplicates", _module("near_duplicates")),
    "consolidation": ("consolidation", _module("consolidation")),
    "bundles": ("bundles", _module("bundles")),
    "text-indexes": ("text_indexes", _module("text_indexes")),
    "stream": ("stream", _module("stream")),
    "stream-questions": ("stream_questions", _module("stream_questions")),
    "stream-cold": ("stream_cold", _module("stream_cold")),
    "year": ("year", _module("year")),
    "honeycomb": ("honeycomb", _module("honeycomb")),
    "chains": ("chains", _module("chains")),
    "commit": ("commit", _commit),
    "crowd": ("crowd", _module("crowd")),
    "growth": ("growth", _module("growth")),
    "redaction": ("redaction", _redaction),
    "ledger": ("ledger", _module("ledger")),
    "encryption": ("encryption", _module("encryption")),
    "erasure": ("erasure", _module("erasure")),
    "poisoning": ("poisoning", _module("poisoning")),
    "memory_quality": ("memory_quality", _module("memory_quality")),
    "hooks": ("hooks", _module("hooks")),
    "frameworks": ("frameworks", _module("frameworks")),
    "adapters": ("adapters", _module("adapters")),
    "sessions": ("sessions", _module("sessions")),
    "questions": ("questions", _module("questions")),
    "rivals": ("rivals", _module("rivals")),
}
BY_NAME = frozenset({"rivals"})
"""What runs when it is named, and not with all: it installs packages."""
GROUPS = {
    "latency": ("recall", "remember", "ingest"),
    "experience": ("stream", "stream-questions", "stream-cold"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks by name; the exit code is 1 when a budget is missed."""
    known = [name for name, (module, _) in BENCHMARKS.items() if (HERE / f"{module}.py").exists()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join([*known, *GROUPS])}; default: all but {', '.join(BY_NAME)}",
    )
    parser.add_argument("--quick", action="store_true", help="smaller and shorter: to see that it runs")
    parser.add_argument("--data", type=is_folder, help="the folder of development data")
    parser.add_argument("--json", type=can_be_file, help="also write everything measured here")
    parser.add_argument("--markdown", type=can_be_file, help="also write the tables here")
    parser.add_argument(
        "--reuse-vectors", action="store_true", help="keep vectors in the temporary folder between runs"
    )
    parser.add_argument(
        "--timesteps",
        type=whole(LEAST_TIMESTEPS, MOST_TIMESTEPS, example=50_000_000),
        default=TIMESTEPS,
        help="how far `stream-questions` lets the stream grow",
    )
    parser.add_argument(
        "--store",
        type=can_be_folder,
        help="keep the stores of `recall`, `context` and `text-indexes` in this folder, and use those that are there",
    )
    parser.add_argument(
        "--files",
        type=whole(0, MOST_FILES, example=10_000),
        default=0,
        help="let `code-graph` also index copies of a package, up to so many files",
    )
    parser.add_argument(
        "--memories",
        action="append",
        type=whole(1, MOST_MEMORIES, example=1_000_000),
        metavar="N",
        help="`recall`: ask a store of so many memories; give it again for another size. Default: 1000, 10000, 100000",
    )
    parser.add_argument("--keep-going", action="store_true", help="exit with 0 even when a budget is missed")
    parser.add_argument(
        "--only",
        action="append",
        metavar="PEER",
        help=f"`rivals`: this peer, of {', '.join(RIVALS)}; give it again for another. Default: all",
    )
    parser.add_argument(
        "--items",
        action="append",
        type=whole(LEAST_ITEMS, MOST_ITEMS, example=600),
        metavar="N",
        help="`rivals`: so many notes; give it again for another size. Default: 600 and 6000",
    )
    parser.add_argument(
        "--cache", type=Path, help="`rivals`: keep the peers' environments here. Default: build/rivals"
    )
    given = parser.parse_args(arguments)
    default = [name for name in known if name not in BY_NAME]
    names = [each for name in given.names or default for each in GROUPS.get(name, (name,))]
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is not one of {', '.join([*known, *GROUPS])}")
    _check_rivals(parser, given, names)
    head = {"command": shlex.join(["python", "-m", "benchmarks", *_said(given)]), **environment()}
    reports = []
    text = Table(
        title="Run", columns=("", ""), rows=[(name, str(value)) for name, value in head.items()]
    ).markdown()
    print(text, flush=True)
    for name in names:
        reports.append(_run(name, given))
        print("\n" + reports[-1].markdown(), flush=True)
    missed = [(r.name, f) for r in reports for f in r.figures if f.met is False]
    summary = _summary(missed, measured=any(f.met is not None for r in reports for f in r.figures))
    print("\n" + summary)
    _write(given.json, json.dumps({"run": head, "reports": [r.to_dict() for r in reports]}, indent=2) + "\n")
    _write(given.markdown, "\n\n".join([text, summary, *(r.markdown() for r in reports)]) + "\n")
    return int(bool(missed) and not given.keep_going)


def _check_rivals(parser: argparse.ArgumentParser, given: argparse.Namespace, names: Sequence[str]) -> None:
    for option in ("only", "items", "cache"):
        if getattr(given, option) and "rivals" not in names:
            parser.error(
                f"--{option} is for `rivals`; name it, as in `python -m benchmarks rivals --{option} …`"
            )
    for name in given.only or ():
        if name not in RIVALS:
            parser.error(f"--only: {name!r} is not a peer; the peers are {', '.join(RIVALS)}")
    if given.cache and given.cache.exists() and not given.cache.is_dir():
        parser.error(f"--cache: {str(given.cache)!r} is a file; name a folder")


def _run(name: str, given: argparse.Namespace) -> Report:
    data = given.data or (DATA if DATA.is_dir() else None)
    with tempfile.TemporaryDirectory(prefix=f"hexad-{name}-") as work:
        os.environ["HEXAD_USER_DIR"] = str(Path(work) / "user")  # nobody's own preferences, read or written
        options = Options(
            data=data,
            quick=given.quick,
            work=Path(work),
            reuse_vectors=given.reuse_vectors,
            timesteps=given.timesteps,
            store=given.store,
            only=tuple(given.only or ()),
            items=tuple(given.items or ()),
            cache=given.cache,
            files=given.files,
            memories=tuple(given.memories or ()),
        )
        started = time.perf_counter()
        report = BENCHMARKS[name][1](options)
        report.seconds, report.load = time.perf_counter() - started, os.getloadavg()[0]
    return report


def _said(given: argparse.Namespace) -> list[str]:
    flags = [f"--{name.replace('_', '-')}" for name in ("quick", "reuse_vectors") if getattr(given, name)]
    if given.timesteps != TIMESTEPS:
        flags += ["--timesteps", str(given.timesteps)]
    if given.files:
        flags += ["--files", str(given.files)]
    if given.store is not None:
        flags += ["--store", "FOLDER"]
    flags += [f"--only={name}" for name in given.only or ()] + [
        f"--items={count}" for count in given.items or ()
    ]
    flags += [f"--memories={count}" for count in given.memories or ()]
    return [*given.names, *flags]


def _summary(missed: Sequence[tuple[str, Figure]], *, measured: bool) -> str:
    if not measured:
        return "No budget was measured."
    if not missed:
        return "Every budget that was measured is met."
    lines = [f"- {report}: {f.name}: {f.value:,.3f} {f.unit} (budget {f.budget})" for report, f in missed]
    return "\n".join(["**Budgets missed:**", "", *lines])


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
