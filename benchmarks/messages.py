"""Messages: what `remember` extracts from conversations, beside what somebody who read them expects.

`python -m benchmarks.messages` lists what is extracted wrongly and what is missed in the development half.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import hexad
from benchmarks.halves import DEVELOPMENT, halves, records, share
from benchmarks.report import Cell, Options, Report, Table
from hexad import Memory
from hexad.text.claims.facts import stands

KINDS: Final = ("fact", "preference", "decision", "convention", "todo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Words of a turn that should last, as what kind, and whether they put something right."""

    turn: int
    kind: str
    text: str
    corrects: bool = False

    def is_met_by(self, memory: Memory, *, turn: int) -> bool:
        """Whether a memory that was extracted from a turn says it, of whatever kind."""
        return turn == self.turn and (self.text in memory.raw or memory.raw in self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages, and what of them should last; all else should not."""

    id: str
    messages: tuple[Mapping[str, object], ...]
    expected: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of one expectation or of one extracted memory: neither is missing where they met."""

    conversation: str
    expected: Expectation | None
    memory: Memory | None


def load(half: str) -> list[Conversation]:
    """Return the conversations of a half; raises `ValueError` where its records contradict each other."""
    conversations = [
        Conversation(
            id=line["id"],
            messages=tuple(line["messages"]),
            expected=tuple(Expectation(**each) for each in line["expected"]),
        )
        for line in records("conversations", half)
    ]
    if problems := list(_problems(conversations)):
        raise ValueError(f"conversations.{half}.jsonl: {'; '.join(problems)}")
    return conversations


def _problems(conversations: Sequence[Conversation]) -> Iterable[str]:
    counts = Counter(each.id for each in conversations)
    yield from (f"the id {name!r} stands twice" for name, count in counts.items() if count > 1)
    for each in conversations:
        for expected in each.expected:
            message = each.messages[expected.turn]
            if message["role"] != "user" or expected.text not in str(message["content"]):
                yield f"{each.id} expects {expected.text!r} of a turn that does not say it"
            if expected.kind not in KINDS:
                yield f"{each.id} expects the unknown kind {expected.kind!r}"


def judgements(conversations: Sequence[Conversation]) -> list[Judgement]:
    """Return what is extracted of each conversation in a store of its own, beside what is expected of it."""
    found: list[Judgement] = []
    for conversation in conversations:
        with hexad.open(":memory:", embedder=None, background=False) as hx:
            memories = hx.remember(conversation.messages)
        missing, turn = list(conversation.expected), -1
        for memory in memories:
            if memory.turn is not None:
                turn = memory.turn.position
                continue
            met = next((each for each in missing if each.is_met_by(memory, turn=turn)), None)
            if met is not None:
                missing.remove(met)
            found.append(Judgement(conversation=conversation.id, expected=met, memory=memory))
        found += [Judgement(conversation=conversation.id, expected=each, memory=None) for each in missing]
    return found


def run(options: Options) -> Report:
    """Extract from every half and report precision and recall by kind."""
    report = Report(name="Messages")
    for half in halves(quick=options.quick):
        conversations = load(half)
        found = judgements(conversations)
        turns = sum(len(each.messages) for each in conversations)
        report.tables.append(_table(f"{half}: {len(conversations)} conversations of {turns} messages", found))
        report.tables.append(_standing(half, conversations))
    return report


def _table(title: str, found: Sequence[Judgement]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in (*KINDS, "all, of their kind", "all, of any kind"):
        every, any_kind = kind not in KINDS, kind == "all, of any kind"
        extracted = [each for each in found if each.memory and (every or each.memory.kind == kind)]
        expected = [each for each in found if each.expected and (every or each.expected.kind == kind)]
        right = [
            each
            for each in extracted
            if each.expected and each.memory and (any_kind or each.expected.kind == each.memory.kind)
        ]
        counts = (len(expected), len(extracted), len(right))
        rows.append((kind, *counts, share(len(right), len(extracted)), share(len(right), len(expected))))
    return Table(
        title=title, columns=("", "expected", "extracted", "right", "precision", "recall"), rows=rows
    )


def _standing(half: str, conversations: Sequence[Conversation]) -> Table:
    """Return of which texts something is read that stands when it grows old."""
    updates = [text for line in records("plain_updates", half) for text in line["texts"]]
    expected = [(each, {entry.turn for entry in each.expected}) for each in conversations]
    texts = {
        "short facts": [line["text"] for line in records("short_facts", half) if line["record"] == "fact"],
        "updates in plain prose": [text["text"] for text in updates if text["role"] in ("old", "current")],
        "what stands beside them": [text["text"] for text in updates if text["role"] in ("near", "far")],
        "pairs, questions and plans among them": [
            line[which] for line in records("independent_pairs", half) for which in ("older", "newer")
        ],
        "turns in which something lasts": [
            str(each.messages[turn]["content"]) for each, turns in expected for turn in sorted(turns)
        ],
        "turns in which nothing lasts": [
            str(message["content"])
            for each, turns in expected
            for turn, message in enumerate(each.messages)
            if turn not in turns
        ],
    }
    rows = [(name, len(found), share(sum(map(stands, found)), len(found))) for name, found in texts.items()]
    return Table(title=f"{half}: what stands when it grows old", columns=("", "texts", "stand"), rows=rows)


def main() -> int:
    """Print what is extracted wrongly and what is missed in the development half."""
    for each in judgements(load(DEVELOPMENT)):
        if each.expected is None and each.memory is not None:
            print(f"{each.conversation}\twrong\t{each.memory.kind}\t{each.memory.raw}")
        elif each.memory is None and each.expected is not None:
            print(f"{each.conversation}\tmissed\t{each.expected.kind}\t{each.expected.text}")
        elif each.memory is not None and each.expected is not None:
            if each.memory.kind != each.expected.kind:
                print(f"{each.conversation}\t{each.memory.kind}\tnot {each.expected.kind}\t{each.memory.raw}")
            if ("correction" in each.memory.tags) != each.expected.corrects:
                print(f"{each.conversation}\tcorrects: {not each.expected.corrects}\t{each.memory.raw}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
