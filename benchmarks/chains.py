"""Chains of three linked memories: how often recall and walks bring all of one within a few tokens.

A question of the conversations finds the first memory of its chain; the other two are turns anywhere in the same
conversation that say nothing of it, linked by `hx.link`. What a link passes on (`LINK_GAIN`) was chosen on every
other conversation; the rest were looked at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import hexad
from benchmarks.corpora import read_lines, write_lines
from benchmarks.honeycomb import _pieces, _within
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table
from hexad.honeycomb import walker

BUDGETS: Final = (250, 500, 1_000)
CHAINS: Final = 40
"""Of each conversation."""
KIND: Final = "caused-by"
Ask = Callable[[str, str], list[tuple[str | None, str]]]


class Chain(NamedTuple):
    """A question, its space, what answers it, and that with the two memories behind it."""

    question: str
    space: str
    first: str
    whole: frozenset[str]


def run(options: Options) -> Report:
    """Measure both halves of the conversations, with `--quick` the one that the constant was chosen on."""
    report = Report(name="Chains of links")
    if options.data is None:
        report.notes.append("No development data: nothing was measured.")
        return report
    turns = read_lines(options.data / "conversations" / "items.jsonl")
    names = sorted({turn["conversation"] for turn in turns})
    for half, some in (("development", names[0::2]), ("unseen", names[1::2])):
        if half == "development" or not options.quick:
            report.tables.append(_measured(options, options.data, half, some, turns))
    return report


def _measured(options: Options, data: Path, half: str, names: Sequence[str], turns: Sequence[dict]) -> Table:
    embedder = RememberedVectors(keep=options.reuse_vectors)
    folder = options.work / half
    folder.mkdir()
    with hexad.open(folder, embedder=embedder, background=False) as hx:
        for name in names:
            lines = [turn for turn in turns if turn["conversation"] == name]
            hx.ingest(write_lines(options.work / f"{name}.jsonl", lines), space=name, embed=True)
        asked = read_lines(data / "conversations" / "questions.jsonl")
        chains = [chain for name in names for chain in _linked(hx, name, asked)]
        hx.embed_pending()
        embedder.embed([chain.question for chain in chains])
        embedder.save()
        rows = [("top-k of recall", *_shares(chains, lambda text, space: _found(hx, text, space)))]
        default = walker.LINK_GAIN
        for gain in sorted({walker.GAIN, 0.6, 0.8, default, 1.0}):
            walker.LINK_GAIN = gain  # type: ignore[misc]
            shares = _shares(chains, lambda text, space: _walked(hx, text, space))
            name = f"walk, a link passes on {gain}"
            rows.append((f"**{name}**" if gain == default else name, *shares))
        walker.LINK_GAIN = default  # type: ignore[misc]
    columns = ("", *(f"{budget:,} tokens" for budget in BUDGETS), f"the answer alone, {BUDGETS[0]}")
    return Table(title=f"Whole chains, {half} half: share of {len(chains)}", columns=columns, rows=rows)


def _linked(hx: hexad.Hexad, space: str, asked: Sequence[dict]) -> list[Chain]:
    """Link chains behind what answers questions with one turn of evidence; no memory is in two of them."""
    source = random.Random(space)
    ids = {memory.source_id: memory.id for memory in hx.memories(space=space, limit=None) if memory.source_id}
    questions = [
        line
        for line in asked
        if line["conversation"] == space and len(line["evidence"]) == 1 and line["evidence"][0] in ids
    ]
    source.shuffle(questions)
    by_answer: dict[str, str] = {}
    for line in questions:
        by_answer.setdefault(line["evidence"][0], line["question"])
    others = sorted(set(ids) - set(by_answer))
    source.shuffle(others)
    chains = []
    for first, question in list(by_answer.items())[:CHAINS]:
        second, third = others.pop(), others.pop()
        hx.link(ids[first], ids[second], kind=KIND)
        hx.link(ids[second], ids[third], kind=KIND)
        chains.append(Chain(question, space, first, frozenset((first, second, third))))
    return chains


def _found(hx: hexad.Hexad, text: str, space: str) -> list[tuple[str | None, str]]:
    return [(hit.source_id, hit.text) for hit in hx.recall(text, space=space, limit=100)]


def _walked(hx: hexad.Hexad, text: str, space: str) -> list[tuple[str | None, str]]:
    return _pieces(hx, hx.honeycomb.jit_context(text, BUDGETS[-1], space=space))


def _shares(chains: Sequence[Chain], ask: Ask) -> tuple[float, ...]:
    """Return which share of chains is whole within each budget, and of answers alone within the smallest."""
    found = [ask(chain.question, chain.space) for chain in chains]
    pairs = list(zip(chains, found, strict=True))
    whole = [sum(chain.whole <= _within(some, budget) for chain, some in pairs) for budget in BUDGETS]
    alone = sum(chain.first in _within(some, BUDGETS[0]) for chain, some in pairs)
    return tuple(count / len(chains) for count in (*whole, alone))
