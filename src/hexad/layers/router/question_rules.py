"""Where in a question the words of a class stand: the rules of `question_rules.txt`, which says how to read it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hexad.layers.router.question_words import WH
from hexad.memory.layer_names import QueryClass

_NAME: Final = re.compile(r"([A-Z_]+) = (.+)")
_HEAD: Final = re.compile(r"\[([a-z]+) ([0-9.]+)\] (.+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern on the question without its politeness, what it speaks for, how much, and in words why."""

    query_class: QueryClass
    weight: float
    pattern: re.Pattern[str]
    reason: str


@cache
def read_rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which they stand; read once, and only where a question is classified."""
    text = Path(__file__).with_name("question_rules.txt").read_text(encoding="utf-8")
    names = {"{WH}": WH}
    rules: list[tuple[re.Match[str], list[str]]] = []
    for line in text.replace("\n    ", "").splitlines():
        for name in re.findall(r"\{[A-Z_]+\}", line):
            line = line.replace(name, names[name])
        if named := _NAME.fullmatch(line):
            names[f"{{{named[1]}}}"] = named[2]
        elif head := _HEAD.fullmatch(line):
            rules.append((head, []))
        elif line and not line.startswith("#"):
            rules[-1][1].append(line)
    return tuple(
        Rule(QueryClass(head[1]), float(head[2]), re.compile("|".join(patterns)), head[3])
        for head, patterns in rules
    )
