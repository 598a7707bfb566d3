"""Near-duplicates of short texts: how many of those made by rules a receipt names, and how many similar texts besides.

`python -m benchmarks.near_duplicates` lists what is wrong in the development half.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.corpora import read_lines
from benchmarks.halves import DEVELOPMENT, UNSEEN, halves, records, share
from benchmarks.report import Options, Report, Table
from hexad.text.normalize import fold
from hexad.text.similarity.nearness import ComparedText, near_marks, nearness

RECALL, FALSE = 0.8, 0.01
"""Budgets: made near-duplicates that are told, and similar texts that are called near."""
SAME: Final = "same value"
_SHORTEST, _LONGEST, _SHOWN = 20, 160, 10
FILLERS: Final = {
    DEVELOPMENT: ("By the way, {}", "Note: {}", "So, {}", "FYI, {}", "{} Thanks!", "Just so you know, {}"),
    UNSEEN: ("OK, {}", "As you know, {}", "Remember: {}", "Well, {}", "{} OK?", "For the record, {}"),
}
ASIDES: Final = {
    DEVELOPMENT: ("really", "just", "basically", "still"),
    UNSEEN: ("also", "actually", "simply", "currently"),
}
_CONTRACTIONS: Final = (
    (r"\b(\w+) is (?!not)", r"\1's "), (r"\bdo not\b", "don't"), (r"\bdoes not\b", "doesn't"), (r"\bis not\b", "isn't"),
    (r"\b([Ww]e|[Tt]hey) are\b", r"\1're"), (r"\bI am\b", "I'm"), (r"\b(I|[Ww]e) have\b", r"\1've"),
    (r"\bcannot\b", "can't"), (r"\b(I|[Ww]e) will\b", r"\1'll"), (r"\bdon't\b", "do not"), (r"\bisn't\b", "is not"),
    (r"\bI'm\b", "I am"), (r"\b([Ww]e)'re\b", r"\1 are"), (r"\b(\w+[a-z])'s (?=a |an |the |in |on )", r"\1 is "),
)  # fmt: skip
_AUXILIARY: Final = re.compile(r"\b(is|are|was|were|has|have|can|must|will)\b(?!['’])")
_LAST_PHRASE: Final = re.compile(r"^([^,:;?!]*) ((?:in|on|at|every|before|after) [^,:;?!.]{2,30})\.$")
_INFLECTED: Final = re.compile(
    r"(?<=[a-z] )(?!always)([a-z]{3,}[^sui\W](?<!ie))s(?= [a-z])|(?<=[a-z] )([a-z]{4,}[^s\W](?<!ed)(?<!ng)(?<!re)(?<!ee)(?<!ve))(?=\.$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts: of which rule, or why they are independent."""

    kind: str
    text: str
    other: str


def _first_lower(text: str) -> str:
    return text if re.match(r"(I\b|[A-Z]\S*[A-Z0-9])", text) else text[0].lower() + text[1:]


def _case(text: str, at: int, half: str) -> str:
    return (text.lower(), text.upper(), text.title())[at % 3]


def _punctuation(text: str, at: int, half: str) -> str:
    bare = text.rstrip(".!")
    return (bare.replace(",", "") + "!!", f'"{bare}"', f"- {bare} .", bare.replace(" - ", ", ") + "...")[
        at % 4
    ]


def _contraction(text: str, at: int, half: str) -> str:
    for pattern, instead in _CONTRACTIONS[at % 3 :]:
        changed, count = re.subn(pattern, instead, text, count=1)
        if count:
            return changed
    return text


def _article(text: str, at: int, half: str) -> str:
    return (
        re.sub(r"^The (\w)", lambda match: match[1].upper(), text, count=1)
        if at % 2
        else re.sub(r" (?:the|a|an) ", " ", text, count=1)
    )


def _filler(text: str, at: int, half: str) -> str:
    form = FILLERS[half][at % len(FILLERS[half])]
    return form.format(_first_lower(text) if form.endswith("{}") else text)


def _aside(text: str, at: int, half: str) -> str:
    word = ASIDES[half][at % len(ASIDES[half])]
    return _AUXILIARY.sub(lambda match: f"{match[0]} {word}", text, count=1)


def _order(text: str, at: int, half: str) -> str:
    match = _LAST_PHRASE.match(text)
    return f"{match[2][0].upper()}{match[2][1:]}{',' * (at % 2)} {_first_lower(match[1])}." if match else text


def _moved_aside(text: str, at: int, half: str) -> str:
    word = ASIDES[half][at % len(ASIDES[half])]
    return f"{word.capitalize()}, {_first_lower(text)}" if at % 2 else f"{text.rstrip('.')} {word}."


def _inflection(text: str, at: int, half: str) -> str:
    return _INFLECTED.sub(lambda match: match[1] or match[2] + "s", text, count=1)


RULES: Final[dict[str, Callable[[str, int, str], str]]] = {
    "case": _case, "punctuation": _punctuation, "contraction": _contraction, "article": _article,
    "filler before or behind": _filler, "small word put in": _aside, "small word at an end": _moved_aside,
    "phrase put first": _order, "inflection": _inflection,
}  # fmt: skip


def texts_of(half: str) -> list[str]:
    """Return the short texts of a half: facts, and statements that change."""
    facts = [line["text"] for line in records("short_facts", half) if line["record"] == "fact"]
    statements = [text["text"] for line in records("plain_updates", half) for text in line["texts"]]
    return list(dict.fromkeys(facts + statements))


def turns_of(half: str, data: Path) -> list[str]:
    """Return what was said in the conversations of a half; the halves share no conversation."""
    turns: dict[str, list[str]] = defaultdict(list)
    for line in read_lines(data / "conversations" / "items.jsonl"):
        turns[line["conversation"]].append(line["text"])
    names = sorted(turns)[(DEVELOPMENT, UNSEEN).index(half) :: 2]
    return list(
        dict.fromkeys(text for name in names for text in turns[name] if _SHORTEST < len(text) < _LONGEST)
    )


def alike(half: str, texts: Sequence[str]) -> Iterator[Pair]:
    """Give each text beside what the rules make of it; what counts as the same text is left out."""
    for at, text in enumerate(texts):
        for kind, rule in RULES.items():
            other = rule(text, at, half)
            if fold(other) != fold(text):
                yield Pair(kind=kind, text=text, other=other)


def independent(half: str) -> Iterator[Pair]:
    """Give pairs that are similar and independent, and statements beside those that take their place."""
    for line in records("independent_pairs", half):
        if line["kind"] != SAME:
            yield Pair(kind=line["kind"], text=line["older"], other=line["newer"])
    for line in records("plain_updates", half):
        of = {
            role: [text["text"] for text in line["texts"] if text["role"] == role]
            for role in ("old", "current", "near")
        }
        yield Pair(kind="update", text=of["old"][0], other=of["current"][0])
        for near in of["near"]:
            yield Pair(kind="beside an update", text=of["old"][0], other=near)
            yield Pair(kind="beside an update", text=near, other=of["current"][0])


def paraphrases(half: str) -> list[Pair]:
    """Return the pairs that say the same value again, in words of their own."""
    lines = [line for line in records("independent_pairs", half) if line["kind"] == SAME]
    return [Pair(kind=SAME, text=line["older"], other=line["newer"]) for line in lines]


def is_near(pair: Pair) -> bool:
    """Whether the gate would find one text of a pair by the other, and call it near."""
    marks = set(near_marks(pair.text)) & set(near_marks(pair.other))
    return bool(marks) and nearness(ComparedText.of(pair.text), ComparedText.of(pair.other)) > 0


def near_ones(texts: Iterable[str]) -> list[Pair]:
    """Return the pairs of a store of these texts that are called near."""
    by_mark: dict[int, list[str]] = defaultdict(list)
    for text in texts:
        for mark in near_marks(text):
            by_mark[mark].append(text)
    pairs = {pair for group in by_mark.values() for pair in combinations(group, 2)}
    candidates = (Pair(kind="of a store", text=text, other=other) for text, other in sorted(pairs))
    return [pair for pair in candidates if fold(pair.text) != fold(pair.other) and is_near(pair)]


# Measuring ----------------------------------------------------------------------------------------------------------


def run(options: Options) -> Report:
    """Measure which short texts are called near, and what that costs."""
    report = Report(name="Near-duplicates of short texts")
    for half in halves(quick=options.quick):
        texts = texts_of(half)
        made = {"facts and statements": texts}
        if options.data is not None:
            made["turns of chats"] = turns_of(half, options.data)
        for name, group in made.items():
            _add_recall(report, f"{half}, {name}", list(alike(half, group)))
            near = near_ones(group)
            report.figure(f"{half}, {name}: near among {len(group):,} of one store", len(near), "pairs")
        _add_precision(report, half, list(independent(half)))
        again = paraphrases(half)
        found = share(sum(map(is_near, again)), len(again))
        report.figure(f"{half}: the same value in words of their own, told", found)
    _add_cost(report, texts)
    return report


def _add_recall(report: Report, name: str, pairs: Sequence[Pair]) -> None:
    count = Counter(pair.kind for pair in pairs)
    told = Counter(pair.kind for pair in pairs if is_near(pair))
    rows = [(kind, count[kind], told[kind], share(told[kind], count[kind])) for kind in count]
    report.tables.append(
        Table(title=f"{name}, made by rules", columns=("rule", "pairs", "told", "share"), rows=rows)
    )
    report.at_least(f"{name}: told of {len(pairs):,}", share(told.total(), len(pairs)), RECALL)


def _add_precision(report: Report, half: str, pairs: Sequence[Pair]) -> None:
    count = Counter(pair.kind for pair in pairs)
    false = Counter(pair.kind for pair in pairs if is_near(pair))
    rows = [(kind, count[kind], false[kind]) for kind in count]
    title = f"{half}, similar and not the same"
    report.tables.append(Table(title=title, columns=("kind", "pairs", "called near"), rows=rows))
    report.at_most(f"{half}: called near of {len(pairs):,} others", share(false.total(), len(pairs)), FALSE)


def _add_cost(report: Report, texts: Sequence[str]) -> None:
    """Report the time that a text takes to be marked and to be compared with one candidate."""
    steps: dict[str, Callable[[str], object]] = {"marked": near_marks, "compared": ComparedText.of}
    for name, work in steps.items():
        spent = []
        for text in texts:
            start = time.perf_counter()
            work(text)
            spent.append(time.perf_counter() - start)
        report.figure(f"a text is {name} in", 1e6 * median(spent), "µs")


def main(half: str = DEVELOPMENT) -> None:
    """Print the pairs of a half that are judged wrongly, made ones at most ten of a rule."""
    count: Counter[str] = Counter()
    for pair in alike(half, texts_of(half)):
        if not is_near(pair) and count[pair.kind] < _SHOWN:
            count[pair.kind] += 1
            print(f"not near, {pair.kind}: {pair.text!r} {pair.other!r}")
    for pair in [*independent(half), *near_ones(texts_of(half))]:
        if is_near(pair):
            print(f"near, {pair.kind}: {pair.text!r} {pair.other!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
