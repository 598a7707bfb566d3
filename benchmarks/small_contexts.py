"""Contexts of small stores: whether what answers is shown, and how many lines beside it, where a store has 12 short facts.

`python -m benchmarks.small_contexts development` (or `unseen`) deals the facts of each collection of `short_facts` to stores
of 12 and asks each its own questions, six that are off its topic and three that another store answers.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import hexad
from benchmarks.halves import DEVELOPMENT
from benchmarks.short_facts import Fact, Question, ShortFacts

ELSEWHERE: Final = "answered elsewhere"
_FACTS, _OFF_TOPIC, _ELSEWHERE = 12, 6, 3
_TOKENS: Final = 1_500


def parts(data: ShortFacts) -> Iterator[tuple[Sequence[Fact], list[tuple[str, Question]]]]:
    """Give the stores, each with its questions and their kinds; the same ones every time."""
    for store in dict.fromkeys(fact.store for fact in data.facts):
        dealt = random.Random(store)
        facts = [fact for fact in data.facts if fact.store == store]
        questions = [question for question in data.questions if question.store == store]
        dealt.shuffle(facts)
        for at in range(0, len(facts), _FACTS):
            part = facts[at : at + _FACTS]
            ids = {fact.id for fact in part}
            off = [question for question in questions if not question.right]
            others = [question for question in questions if question.right and not question.right & ids]
            dealt.shuffle(off)
            dealt.shuffle(others)
            own = [(each.kind, each) for each in questions if each.right and each.right <= ids]
            asked = [*own, *((each.kind, each) for each in off[:_OFF_TOPIC])]
            yield part, [*asked, *((ELSEWHERE, each) for each in others[:_ELSEWHERE])]


def main(half: str = DEVELOPMENT) -> None:
    """Print by kind of question how many were asked, the share whose answer is shown, and the facts shown for one."""
    counts: dict[str, list[int]] = {}
    for facts, asked in parts(ShortFacts.load(half)):
        with hexad.open(":memory:", background=False) as hx:
            for fact in facts:
                hx.remember(fact.text)
            hx.embed_pending()
            for kind, question in asked:
                context = hx.context(question.text, max_tokens=_TOKENS).render("markdown")
                shown = {fact.id for fact in facts if fact.text in context}
                found = bool(question.right) and question.right <= shown
                sums = counts.setdefault(kind, [0, 0, 0])
                sums[:] = [sums[0] + 1, sums[1] + found, sums[2] + len(shown)]
    for kind, (number, found, shown_facts) in counts.items():
        print(f"{kind}: {number} asked, shown {found / number:.3f}, facts {shown_facts / number:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
