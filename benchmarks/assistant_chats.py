"""Chats of a user with an assistant: what recall returns, by kind of question, beside BM25 and cosine over whole turns.

`python -m benchmarks.assistant_chats FOLDER` writes both halves as JSON lines into a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from benchmarks.assistant_chats_data import KINDS, chats
from benchmarks.corpora import write_lines
from benchmarks.halves import HALVES, halves
from benchmarks.kinds import ASSISTANT_CHATS, EMPTY, HEXAD, METRICS, Kind, ask, baselines, build, evaluate
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table

R_AT_10: Final = 0.64
"""What recall is to find of the evidence on the half that nobody tuned on."""


def run(options: Options) -> Report:
    """Ask every half, and report it by kind of question."""
    report = Report(name="Chats with an assistant")
    embedder = RememberedVectors(keep=options.reuse_vectors)
    for half in halves(quick=options.quick):
        spoken = chats(half)
        records = {
            name: [turn for turn in spoken.turns if turn["conversation"] == name]
            for name in dict.fromkeys(turn["conversation"] for turn in spoken.turns)
        }
        whole = Kind(name=ASSISTANT_CHATS, records=records, questions=spoken.all_questions())
        folder = options.work / half
        build(folder, [whole], embedder, space=None)
        answers = {f"**{HEXAD}**": ask(folder, whole, embedder), **baselines(whole, embedder)}
        report.tables.append(
            Table(
                title=f"{half}: {len(whole.questions)} questions to {len(records)} conversations",
                columns=("", *METRICS, EMPTY),
                rows=[(name, *evaluate(whole, answer)) for name, answer in answers.items()],
            )
        )
        parts = [(kind, whole.only(spoken.of_kind(kind))) for kind in KINDS]
        at, every = METRICS.index("R@10"), METRICS.index("all in 10")
        rows = []
        for kind, part in parts:
            found = [evaluate(part, answer) for answer in answers.values()]
            rows.append(
                (kind, len(part.questions), *(each[at] for each in found), *(each[every] for each in found))
            )
        report.tables.append(
            Table(
                title=f"{half}: by kind of question",
                columns=(
                    "",
                    "questions",
                    *(f"R@10 {name}" for name in answers),
                    *(f"all in 10 {name}" for name in answers),
                ),
                rows=rows,
            )
        )
        report.at_least(f"{half}: R@10", evaluate(whole, answers[f"**{HEXAD}**"])[at], R_AT_10)
    embedder.save()
    report.notes.append(
        "Each conversation is a space of its own. The replies are texts of Python's documentation and standard library "
        "as they are installed, so the figures belong to this version of Python."
    )
    return report


def main() -> int:
    """Write the turns and questions of both halves."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for half in HALVES:
        write_lines(folder / f"items.{half}.jsonl", chats(half).turns)
        write_lines(folder / f"questions.{half}.jsonl", chats(half).questions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
