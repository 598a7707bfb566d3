"""Exact tokens: does the one text of 3,000 come first that holds the version, ticket or address of the question, and
the definition of the symbol that it names?
"""

from __future__ import annotations

import ast
import importlib.util
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import hexad
from benchmarks.peers import PlainFts5
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table

STATEMENTS: Final = 3_000
QUESTIONS: Final = 300
_PARTS: Final = "gateway billing search mailer importer scheduler storefront ledger notifier exporter".split()

Statement = tuple[str, str]
"""A text, and the question that it alone answers."""


def versions(source: random.Random) -> Iterator[Statement]:
    """Give statements of the same wording that differ by a version and by one of ten parts."""
    while True:
        version = f"{source.randrange(20)}.{source.randrange(20)}.{source.randrange(30)}"
        part = source.choice(_PARTS)
        yield (
            f"The {part} was rolled out in version {version} last week.",
            f"Which part was rolled out in {version}?",
        )


def tickets(source: random.Random) -> Iterator[Statement]:
    """Give statements that differ by the number of a ticket."""
    while True:
        ticket = f"OPS-{source.randrange(1_000, 99_999)}"
        part = source.choice(_PARTS)
        yield f"Ticket {ticket} is about time-outs of the {part}.", f"What is {ticket} about?"


def addresses(source: random.Random) -> Iterator[Statement]:
    """Give statements that differ by an address."""
    while True:
        address = ".".join(str(source.randrange(256)) for _ in range(4))
        part = source.choice(_PARTS)
        yield f"The {part} answers at {address} in staging.", f"What answers at {address}?"


KINDS: Final[dict[str, Callable[[random.Random], Iterator[Statement]]]] = {
    "versions": versions,
    "tickets": tickets,
    "addresses": addresses,
}


PACKAGES: Final = ("click", "httpx", "flask", "jinja2")
"""Those that are installed are read, without their tests."""
_SYMBOLS_ASKED: Final = 100
_FORMS: Final = ("{name}", "{qualified}", "where is {name} defined?", "what does {qualified} do?")


class Symbol(NamedTuple):
    """A definition: `Class.method`, its file, its first and last line, its text."""

    qualified: str
    file: str
    line: int
    text: str

    @property
    def name(self) -> str:
        """Its name without the class."""
        return self.qualified.rpartition(".")[2]


def symbols_of(root: Path) -> list[Symbol]:
    """Return the classes, functions, methods and constants of a package, as the interpreter reads it."""

    def inside(body: list[ast.stmt], prefix: str, file: str, text: str) -> Iterator[Symbol]:
        for node in body:
            names: list[str] = []
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign) and not prefix:
                names = [
                    target.id
                    for target in node.targets
                    if isinstance(target, ast.Name) and target.id.isupper()
                ]
            for name in names:
                yield Symbol(prefix + name, file, node.lineno, ast.get_source_segment(text, node) or "")
            if isinstance(node, ast.ClassDef):
                yield from inside(node.body, f"{prefix}{node.name}.", file, text)

    found: list[Symbol] = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found += inside(ast.parse(text).body, "", path.relative_to(root).as_posix(), text)
    return found


def ask_symbols(options: Options, embedder: RememberedVectors) -> list[tuple[str | int | float, ...]]:
    """Return, for each installed package and form of question, how often the definition comes first."""
    rows: list[tuple[str | int | float, ...]] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        root = Path(spec.submodule_search_locations[0])
        symbols = symbols_of(root)
        qualified, names = Counter(each.qualified for each in symbols), Counter(each.name for each in symbols)
        unique = [
            each for each in symbols if qualified[each.qualified] == 1 and not each.name.startswith("__")
        ]
        plain = [each for each in unique if names[each.name] == 1 and len(each.name) > 4]
        methods = [each for each in unique if "." in each.qualified]
        fts5, source = PlainFts5([each.text for each in symbols]), random.Random(7)
        folder = options.work / package
        folder.mkdir()
        with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
            hx.ingest(root)
            hx.embed_pending()
            for form in _FORMS:
                pool = methods if "qualified" in form else plain
                asked = source.sample(pool, min(_SYMBOLS_ASKED // (5 if options.quick else 1), len(pool)))
                questions = [form.format(name=each.name, qualified=each.qualified) for each in asked]
                shares = [
                    sum(
                        _defines(hit.source_id, hit.lines, each)
                        for question, each in zip(questions, asked, strict=True)
                        for hit in hx.recall(question, limit=1, semantic=semantic)
                    )
                    / len(asked)
                    for semantic in (None, False)
                ]
                peer = sum(
                    symbols[int(fts5.scores(question, join=" OR ").argmax())] == each
                    for question, each in zip(questions, asked, strict=True)
                )
                rows.append((f"{package}: {form}", len(asked), *shares, peer / len(asked)))
    return rows


def _defines(file: str | None, lines: tuple[int, int] | None, symbol: Symbol) -> bool:
    return file == symbol.file and lines is not None and lines[0] <= symbol.line <= lines[1]


def run(options: Options) -> Report:
    """Ask each kind in a store of its own, beside full text alone and plain FTS5."""
    report = Report(name="Exact tokens")
    embedder = RememberedVectors(keep=options.reuse_vectors)
    count = STATEMENTS // 10 if options.quick else STATEMENTS
    rows: list[tuple[str | int | float, ...]] = []
    for kind, statements in KINDS.items():
        chosen: dict[str, str] = {}  # by question: no token stands in two texts
        for text, question in statements(random.Random(7)):
            chosen.setdefault(question, text)
            if len(chosen) == count:
                break
        folder = options.work / kind
        folder.mkdir()
        asked = random.Random(8).sample(sorted(chosen), QUESTIONS)
        with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
            ids = {hx.remember(text).id: text for text in chosen.values()}
            hx.embed_pending()
            shares = [
                sum(
                    [ids[hit.id] for hit in hx.recall(question, limit=1, semantic=semantic)]
                    == [chosen[question]]
                    for question in asked
                )
                / QUESTIONS
                for semantic in (None, False)
            ]
        texts = list(chosen.values())
        fts5 = PlainFts5(texts)
        best = [fts5.scores(question, join=" OR ").argmax() for question in asked]
        peer = (
            sum(texts[at] == chosen[question] for at, question in zip(best, asked, strict=True)) / QUESTIONS
        )
        rows.append((kind, QUESTIONS, *shares, peer))
        report.at_least(f"{kind}: right first", shares[0], 0.99)
    report.tables.append(
        Table(
            title=f"Right first of {count:,} texts of one wording",
            columns=("", "questions", "hexad", "hexad, full text alone", "FTS5, any word"),
            rows=rows,
        )
    )
    if rows := ask_symbols(options, embedder):
        report.tables.append(
            Table(
                title="The definition first, of all that name it",
                columns=(
                    "",
                    "questions",
                    "hexad",
                    "hexad, full text alone",
                    "FTS5, any word, of definitions",
                ),
                rows=rows,
            )
        )
    embedder.save()
    return report
