"""Relevance: of the hits that a recall says are right with 0.8, how many are; and what is lost where it stays silent.

The model was fitted on the development half of short facts, on the first three conversations and on every second question
about code. What is shown as unseen are the others. `--svg FILE` of `python -m benchmarks.relevance` draws the unseen halves.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

import hexad
from benchmarks import quality
from benchmarks.halves import DEVELOPMENT, UNSEEN, halves
from benchmarks.report import Options, Report, Table
from benchmarks.short_facts import OWN, ShortFacts
from hexad import Hexad

EDGES: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
FITTED_CONVERSATIONS: Final = 3
SHORT, CONVERSATIONS, CODE = "short facts", "conversations", "code"
COLOURS: Final = {SHORT: "#0b6e4f", CONVERSATIONS: "#b5541c", CODE: "#2f4b8f"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to one store, as `kind` of `half`, with the source ids that answer it: none for an off-topic one."""

    kind: str
    half: str
    text: str
    space: str | None
    right: frozenset[str]
    off: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back: each hit's relevance and whether it is right, and whether the silence lost something."""

    asked: Asked
    hits: tuple[tuple[float, bool], ...]
    reachable: bool
    silent: bool


def answer(hx: Hexad, questions: Iterable[Asked], ids: dict[str, str] | None = None) -> list[Answered]:
    """Ask each question twice: as it is, and for everything."""
    found = []
    for asked in questions:
        named = [
            (hit.relevance, (ids[hit.id] if ids else hit.source_id or hit.id) in asked.right)
            for hit in hx.recall(asked.text, space=asked.space, min_relevance=0)
        ]
        found.append(
            Answered(
                asked=asked,
                hits=tuple(named),
                reachable=any(right for _, right in named[:5]),
                silent=not hx.recall(asked.text, space=asked.space),
            )
        )
    return found


def of_short_facts(half: str, embedder: quality.RememberedVectors, work: Path) -> list[Answered]:
    """Return the answers from the collections of short facts."""
    data, found = ShortFacts.load(half), []
    for store in dict.fromkeys(fact.store for fact in data.facts):
        folder = work / half / store
        folder.mkdir(parents=True)
        with hexad.open(folder, embedder=embedder, background=False, user_dir=work / "user") as hx:
            ids = {hx.remember(fact.text).id: fact.id for fact in data.facts if fact.store == store}
            hx.embed_pending()
            mine = [
                Asked(
                    kind=SHORT,
                    half=half,
                    text=question.text,
                    space=None,
                    right=question.right,
                    off="" if question.kind in OWN else question.kind.removeprefix("off-topic, "),
                )
                for question in data.questions
                if question.store == store
            ]
            found += answer(hx, mine, ids)
    return found


def of_collections(options: Options, embedder: quality.RememberedVectors) -> list[Answered]:
    """Return the answers from conversations and code, each asked also what only the other one answers."""
    assert options.data is not None
    own, _ = quality.conversation_stores(options, options.data, options.work / "conversations")
    code = quality.code_store(options, options.data)
    names = sorted({str(question.conversation) for question in own.questions})
    conversations = [
        Asked(
            kind=CONVERSATIONS,
            half=DEVELOPMENT if question.conversation in names[:FITTED_CONVERSATIONS] else UNSEEN,
            text=question.text,
            space=question.conversation,
            right=question.evidence,
        )
        for question in own.questions
    ]
    functions = [
        Asked(
            kind=CODE,
            half=(DEVELOPMENT, UNSEEN)[number % 2],
            text=question.text,
            space=None,
            right=question.evidence,
        )
        for number, question in enumerate(code.questions)
    ]

    def foreign(kind: str, texts: Sequence[Asked], spaces: Sequence[str | None]) -> list[Asked]:
        return [
            Asked(
                kind=kind,
                half=each.half,
                text=each.text,
                space=spaces[number % len(spaces)],
                right=frozenset(),
                off="far",
            )
            for number, each in enumerate(texts)
        ]

    found = []
    for asked, mine, others in (
        (own, conversations, foreign(CONVERSATIONS, functions, names)),
        (code, functions, foreign(CODE, conversations, [None])),
    ):
        quality.build(asked, embedder)
        with hexad.open(asked.folder, embedder=embedder, background=False) as hx:
            found += answer(hx, [*mine, *others])
    return found


def run(options: Options) -> Report:
    """Report the reliability of relevance, and what its default loses and answers, for each kind and half."""
    report = Report(name="Relevance")
    found = collect(options)
    rows: list[Sequence[str | int | float | None]] = []
    for half, kind in dict.fromkeys((each.asked.half, each.asked.kind) for each in found):
        mine = [each for each in found if (each.asked.half, each.asked.kind) == (half, kind)]
        for low, said, right, count in reliability(mine):
            rows.append((half, kind, f"{low:.1f} to {low + 0.2:.1f}", count, said, right))
        if half == UNSEEN and (sure := [right for each in mine for said, right in each.hits if said >= 0.8]):
            report.at_least(f"unseen, {kind}: hits at 0.8 and more that are right", float(np.mean(sure)), 0.8)
    report.tables.append(
        Table(
            title="Hits by the relevance that a recall gave them, and the share that is right",
            columns=("half", "kind", "relevance", "hits", "mean relevance", "right"),
            rows=rows,
        )
    )
    lost: list[Sequence[str | int | float | None]] = []
    for half in dict.fromkeys(each.asked.half for each in found):
        for kind in dict.fromkeys(each.asked.kind for each in found):
            mine = [each for each in found if (each.asked.half, each.asked.kind) == (half, kind)]
            own = [each.silent for each in mine if each.reachable]
            off = {
                name: [not each.silent for each in mine if each.asked.off == name] for name in ("far", "near")
            }
            lost.append((half, kind, len(own), _mean(own), *(_mean(off[name]) for name in ("far", "near"))))
        own = [each.silent for each in found if each.asked.half == half and each.reachable]
        off_all = [not each.silent for each in found if each.asked.half == half and each.asked.off == "far"]
        report.at_most(f"{half}: own questions lost to silence", float(np.mean(own)), 0.005)
        report.at_most(
            f"{half}: questions far from the topic that are answered", float(np.mean(off_all)), 0.05
        )
    report.tables.append(
        Table(
            title="The default: own questions lost whose answer is among the first five, off-topic questions answered",
            columns=("half", "kind", "own questions", "lost", "answered, far", "answered, near"),
            rows=lost,
        )
    )
    if options.data is None:
        report.notes.append("Conversations and code are not there (give --data DIR): short facts alone.")
    return report


def collect(options: Options) -> list[Answered]:
    """Return all answers that this run measures."""
    embedder = quality.RememberedVectors(keep=options.reuse_vectors)
    found = [
        each
        for half in halves(quick=options.quick)
        for each in of_short_facts(half, embedder, options.work / "short")
    ]
    if options.data is not None:
        found += of_collections(options, embedder)
    embedder.save()
    return found


def reliability(found: Iterable[Answered]) -> list[tuple[float, float, float, int]]:
    """Return, for each fifth of relevance with hits: its lower edge, the mean relevance, the share right, how many."""
    hits = np.array([hit for each in found for hit in each.hits], dtype=np.float64).reshape(-1, 2)
    rows = []
    for low, high in pairwise(EDGES):
        inside = hits[(hits[:, 0] >= low) & ((hits[:, 0] < high) | (high == 1.0))]
        if len(inside):
            rows.append((low, float(inside[:, 0].mean()), float(inside[:, 1].mean()), len(inside)))
    return rows


def svg(lines_of: Mapping[str, Sequence[tuple[float, float, float, int]]]) -> str:
    """Return the `reliability` of each kind as a drawing: said across, right upwards, the diagonal is perfect."""
    side, margin = 320, 48

    def point(said: float, right: float) -> str:
        return f"{margin + said * side:.1f},{margin / 2 + (1 - right) * side:.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 2 * margin + 90} {side + 2 * margin}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<polyline points="{point(0, 0)} {point(1, 1)}" stroke="#999" stroke-dasharray="4 4" fill="none"/>',
        f'<polyline points="{point(0, 1)} {point(0, 0)} {point(1, 0)}" stroke="black" fill="none"/>',
        f'<text x="{margin + side / 2 - 60}" y="{side + margin * 1.4}">relevance of the hit</text>',
        f'<text x="14" y="{side / 2 + 60}" transform="rotate(-90 14 {side / 2 + 60})">share that is right</text>',
    ]
    for tick in EDGES:
        x, y = point(tick, tick).split(",")
        lines.append(f'<text x="{float(x) - 8}" y="{side + margin * 0.85}">{tick:.1f}</text>')
        lines.append(f'<text x="{margin - 24}" y="{float(y) + 4}">{tick:.1f}</text>')
    for number, (kind, colour) in enumerate(COLOURS.items()):
        rows = lines_of.get(kind, ())
        points = " ".join(point(said, right) for _, said, right, _ in rows)
        lines.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="2" fill="none"/>')
        for _, said, right, count in rows:
            x, y = point(said, right).split(",")
            lines.append(
                f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"><title>{count} hits</title></circle>'
            )
        at = margin + 18 * number
        lines.append(f'<text x="{side + margin + 14}" y="{at}" fill="{colour}">{kind}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _mean(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if values else None


def main() -> int:
    """Draw the reliability of the unseen halves."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.relevance", description=__doc__)
    parser.add_argument("--svg", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder for the stores")
    given = parser.parse_args()
    found = collect(Options(data=given.data, work=given.work, reuse_vectors=True))
    unseen = {
        kind: reliability(each for each in found if (each.asked.kind, each.asked.half) == (kind, UNSEEN))
        for kind in COLOURS
    }
    given.svg.write_text(svg(unseen), encoding="utf-8")
    print(json.dumps({"answers": len(found), "drawn": str(given.svg)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
