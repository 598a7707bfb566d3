"""Questions in plain words about the code of three packages: does the definition that answers come first?

Source distributions of fixed versions are fetched with pip, or taken from the folder in PACKAGES_FOLDER, and ingested whole: code,
tests, documentation, changelog. An answer is a file and a symbol in it. A hit is right where half of its lines are of such a
symbol, or half of the symbol's lines are of it. Contexts are asked within 2,000 tokens: is the whole definition in it?

A package is ingested and embedded once, for the questions of both halves; `--reuse-vectors` keeps its vectors for the next run.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import hexad
from benchmarks.corpora import read_lines
from benchmarks.halves import halves, records
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table

FIRST_GOAL: Final = 0.75
THREE_GOAL: Final = 0.9
BUDGET_TOKENS: Final = 2_000


class Place(NamedTuple):
    """A definition: its file below the package, its first and last line, and its text."""

    file: str
    first: int
    last: int
    text: str


def place_of(root: Path, answer: str) -> Place:
    """Return where `path::Class.method` is, its decorators included."""
    file, _, symbol = answer.partition("::")
    text = (root / file).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for name in symbol.split("."):
        node = next(
            child for child in node.body if getattr(child, "name", None) == name and not _is_overload(child)
        )
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return Place(file, first, node.end_lineno, "\n".join(lines))


def _is_overload(node: Any) -> bool:
    """Whether a definition is for type checkers alone."""
    return any(ast.unparse(each).rpartition(".")[2] == "overload" for each in node.decorator_list)


def is_of(hit: hexad.Hit, place: Place) -> bool:
    """Return whether a hit shows a definition."""
    if hit.source_id is None or hit.lines is None or hit.source_id.partition("#")[0] != place.file:
        return False
    shared = min(hit.lines[1], place.last) - max(hit.lines[0], place.first) + 1
    shorter = min(hit.lines[1] - hit.lines[0], place.last - place.first) + 1
    return 2 * shared >= shorter


def fetch(names: Sequence[str]) -> Path | None:
    """Return the folder in which the packages' source distributions are unpacked; None where pip cannot get them."""
    if folder := os.environ.get("PACKAGES_FOLDER"):
        return Path(folder)
    target = Path(tempfile.gettempdir()) / "hexad-benchmarks" / "packages"
    missing = [name for name in names if not (target / name).is_dir()]
    for name in missing:
        wanted = name.replace("-", "==")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run([*command, "--dest", str(target), wanted], check=False, timeout=600)
        if done.returncode:
            return None
        with tarfile.open(target / f"{name}.tar.gz") as archive:
            archive.extractall(target, filter="data")
    return target


def build(root: Path, embedder: RememberedVectors | None, work: Path) -> None:
    """Ingest and embed a package, for all questions that are asked of it."""
    work.mkdir(parents=True)
    with hexad.open(work, embedder=embedder, background=False, user_dir=work / "user") as hx:
        hx.ingest(root)
        hx.embed_pending()


def ask(
    root: Path, questions: Sequence[Mapping[str, Any]], embedder: RememberedVectors | None, work: Path
) -> list[dict[str, Any]]:
    """Return for each question to a package that was built the ranks of answers, and whether a context has one whole."""
    asked = []
    with hexad.open(work, embedder=embedder, background=False, user_dir=work / "user") as hx:
        for each in questions:
            places = [place_of(root, answer) for answer in each["answers"]]
            hits = hx.recall(each["question"], limit=10)
            right = [rank for rank, hit in enumerate(hits, start=1) if any(is_of(hit, at) for at in places)]
            context = hx.context(each["question"], max_tokens=BUDGET_TOKENS, wait=True)
            texts = [block.text for block in context.evidence_blocks]
            asked.append(
                {
                    "question": each["question"],
                    "rank": min(right, default=None),
                    "file": any(
                        hit.source_id and hit.source_id.partition("#")[0] == at.file
                        for hit in list(hits)[:3]
                        for at in places
                    ),
                    "hits": [hit.location for hit in hits],
                    "whole": any(at.text.strip() in text for text in texts for at in places),
                }
            )
    return asked


def ask_functions(
    data: Path, embedder: RememberedVectors, work: Path, *, functions: int, questions: int
) -> list[list[str | int | float]]:
    """Ask the development questions about single functions, each in a file, with the code graph and without.

    Returns by how much a context has the whole function: of all layers, and of sources alone.
    """
    texts = {row["id"]: row["text"] for row in read_lines(data / "code_questions" / "corpus.jsonl")}
    asked = read_lines(data / "code_questions" / "questions.jsonl")[:questions]
    chosen = dict.fromkeys(each for row in asked for each in row["evidence"])
    chosen |= dict.fromkeys(list(texts)[: functions - len(chosen)])
    folder = work / "functions"
    folder.mkdir()
    for name in chosen:
        (folder / f"f{name}.py").write_text(texts[name] + "\n", encoding="utf-8")
    first = ten = 0.0
    whole = {"all layers": 0, "sources alone": 0}
    with hexad.open(work, embedder=embedder, background=False, user_dir=work / "user") as hx:
        hx.ingest(folder)
        hx.embed_pending()
        for row in asked:
            right = {f"f{each}.py" for each in row["evidence"]}
            found = [hit.source_id for hit in hx.recall(row["question"], limit=10)]
            first += found[:1] != [] and found[0] in right
            ten += len(right & set(found)) / len(right)
            for name, layers in (("all layers", None), ("sources alone", ["vector"])):
                context = hx.context(row["question"], max_tokens=BUDGET_TOKENS, layers=layers, wait=True)
                shown = [block.text for block in context.evidence_blocks]
                whole[name] += any(texts[each].strip() in text for each in row["evidence"] for text in shown)
    shares = [first, ten, *whole.values()]
    return [[f"{len(chosen):,} functions", len(asked), *(share / len(asked) for share in shares)]]


def run(options: Options) -> Report:
    """Ask the questions of each half."""
    report = Report(name="Package questions")
    halves_of = {half: records("package_questions", half) for half in halves(quick=options.quick)}
    names = sorted({each["package"] for rows in halves_of.values() for each in rows})
    folder = fetch(names)
    if folder is None:
        report.skipped = "pip could not fetch the packages."
        return report
    embedder = RememberedVectors(keep=options.reuse_vectors)
    for name in names:
        build(folder / name, embedder, options.work / name)
        embedder.save()
    rows: list[list[str | int | float]] = []
    for half, questions in halves_of.items():
        found: list[dict[str, Any]] = []
        for name in names:
            of_package = [each for each in questions if each["package"] == name]
            asked = ask(folder / name, of_package, embedder, options.work / name)
            rows.append([f"{half}: {name}", len(asked), *_shares(asked)])
            found += asked
        rows.append([f"{half}: all", len(found), *_shares(found)])
        first, three = _shares(found)[:2]
        report.at_least(f"{half}: first", first, FIRST_GOAL)
        report.at_least(f"{half}: among three", three, THREE_GOAL)
    columns = ("", "questions", "first", "among three", "among ten", "its file among three", "whole in 2,000")
    report.tables.append(Table(title="The definition that answers", columns=columns, rows=rows))
    if options.data is not None:
        work = options.work / "functions"
        work.mkdir()
        most = (200, 30) if options.quick else (1_000, 150)
        report.tables.append(
            Table(
                title="Single functions (code_questions)",
                columns=("", "questions", "first", "among ten", "whole in 2,000", "whole, of sources alone"),
                rows=ask_functions(options.data, embedder, work, functions=most[0], questions=most[1]),
            )
        )
    embedder.save()
    return report


def _shares(asked: Sequence[Mapping[str, Any]]) -> list[float]:
    ranks = [each["rank"] for each in asked]
    within = [sum(rank is not None and rank <= most for rank in ranks) / len(asked) for most in (1, 3, 10)]
    return [*within, *(sum(each[name] for each in asked) / len(asked) for name in ("file", "whole"))]


def main() -> None:
    """List, for the development half alone, where the answer came and what came before it."""
    embedder = RememberedVectors(keep=True)
    questions = records("package_questions", "development")
    names = sorted({each["package"] for each in questions})
    folder = fetch(names)
    if folder is None:
        sys.exit("pip could not fetch the packages.")
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            of_package = [each for each in questions if each["package"] == name]
            build(folder / name, embedder, Path(work) / "store")
            asked = ask(folder / name, of_package, embedder, Path(work) / "store")
        print(name, *(f"{share:.2f}" for share in _shares(asked)))
        for each in asked:
            if each["rank"] != 1 or not each["whole"]:
                print(f"  {each['rank']} {'whole' if each['whole'] else 'part'}: {each['question']}")
                print(*(f"      {location}" for location in each["hits"][:5]), sep="\n")
    embedder.save()


if __name__ == "__main__":
    main()
