"""Turns of people with a label by hand: keep something, drop all, or either; what the rules keep of them.

`python -m benchmarks.turn_labels` reads the development and the unseen half. With `--histories DIR` it also reads turns that
people wrote to coding agents: a checkout of specstoryai/getspecstory at 210d6095, of which only digests and labels stand here.
`--agents DIR` reads turns of other people: the histories, in either form, of the projects that `turn_labels.agents.jsonl` names.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.halves import halves, records
from hexad.ingest.write.extraction.turn_extraction import extracts

HISTORIES: Final = "histories"
AGENTS: Final = "agents"
AIDER: Final = ".aider.chat.history.md"
_SPEAKER: Final = re.compile(r"(?m)^_\*\*(User)?[^\n]*\*\*_\s*$")
_END: Final = re.compile(r"(?m)^---\s*$")
DIGEST_CHARACTERS: Final = 16


def measure(name: str, labelled: Sequence[Mapping[str, Any]], *, shows: bool) -> str:
    """Return in one line how often what is kept should be, and how much of what should be kept is."""
    kept = {line["text"]: list(extracts(line["text"])) for line in labelled}
    keep = [line["text"] for line in labelled if line["label"] == "keep"]
    drop = [line["text"] for line in labelled if line["label"] == "drop"]
    right, wrong = sum(bool(kept[text]) for text in keep), sum(bool(kept[text]) for text in drop)
    if shows:
        for text in [text for text in keep if not kept[text]] + [text for text in drop if kept[text]]:
            print(f"  {'wrong' if kept[text] else 'missed'}\t{' '.join(text.split())[:200]}")
    precision = f"{right / (right + wrong):.3f}" if right + wrong else "-"
    recall = f"{right / len(keep):.3f}" if keep else "-"
    return (
        f"{name}: {len(labelled)} turns, {len(keep)} to keep, {len(drop)} to drop; kept {right} and {wrong};"
        f" precision {precision}, recall {recall}"
    )


def turns_of_histories(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the digest and the text of each turn of a person."""
    for path in sorted(folder.rglob("*.md")):
        parts = _SPEAKER.split(path.read_text(encoding="utf-8", errors="replace"))
        for speaker, words in zip(parts[1::2], parts[2::2], strict=True):
            text = _END.split(words)[0].strip()
            if speaker:
                yield hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS], text


def turns_of_aider(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the digest and the text of each turn of a person in histories of Aider: lines that begin with `####`."""
    for path in sorted(folder.rglob(f"*{AIDER}")):
        turn: list[str] = []
        for line in [*path.read_text(encoding="utf-8", errors="replace").splitlines(), ""]:
            if line.startswith("####"):
                turn.append(line[4:].strip())
            elif turn:
                text, turn = "\n".join(turn).strip(), []
                yield hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS], text


def main() -> int:
    """Print the figures; with `--show` what is wrong or missed in the development half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=Path)
    parser.add_argument("--agents", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    for half in halves(quick=False):
        labelled = list(records("turn_labels", half))
        print(measure(half, labelled, shows=options.show and half == "development"))
    if options.histories is not None:
        texts = dict(turns_of_histories(options.histories))
        labelled = [
            {**line, "text": texts[line["sha256"]]}
            for line in records("turn_labels", HISTORIES)
            if line["sha256"] in texts
        ]
        for drawn in ("at random", "by a word"):
            print(
                measure(
                    f"histories, drawn {drawn}",
                    [line for line in labelled if line["drawn"] == drawn],
                    shows=False,
                )
            )
    if options.agents is not None:
        texts = dict([*turns_of_histories(options.agents), *turns_of_aider(options.agents)])
        found = [line for line in records("turn_labels", AGENTS) if line["sha256"] in texts]
        print(measure(AGENTS, [{**line, "text": texts[line["sha256"]]} for line in found], shows=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
