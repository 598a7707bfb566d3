"""Exact tokens: does the one text of 3,000 come first that holds the version, ticket or address of the question?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

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
    embedder.save()
    return report
