"""Which functions are the code of a row: those that its tests call and few other tests do."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from mutation.run import REPOSITORY, SOURCE
from mutation.sites import sites

FILE: Final = REPOSITORY / "tests" / "data" / "code_of_rows.json"
FUNCTIONS_PER_ROW: Final = 5
Code = dict[str, list[str]]


def read(file: Path = FILE) -> Code:
    """Return the functions of each row, as `<file>:<function>`."""
    rows: Code = json.loads(file.read_text(encoding="utf-8"))
    return rows


def write(rows: Code, file: Path = FILE) -> None:
    """Write them with a row on a line."""
    lines = (f" {json.dumps(row)}: {json.dumps(functions)}" for row, functions in rows.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def choose(
    tests_of: Mapping[str, Sequence[str]], sentences: Mapping[str, str], calls: Mapping[str, Collection[str]]
) -> Code:
    """Return for each row the functions that tell its tests from the others'.

    A function counts by the share of the row's tests that call it, by how few tests do so at all, and by the words that
    it has in common with the row's sentence: rows that are shown by the same test differ by them alone.
    """
    callers: dict[str, int] = {}
    for functions in calls.values():
        for function in functions:
            callers[function] = callers.get(function, 0) + 1
    changeable = frozenset(_changeable({function.partition(":")[0] for function in callers}))
    rows = {}
    for row, tests in tests_of.items():
        own = [calls[test] for test in tests if calls.get(test)]
        said = _stems(sentences[row])
        scores = {}
        for function in set().union(*own) & changeable:
            share = sum(function in called for called in own) / len(own)
            rarity = math.log((1 + len(calls)) / callers[function])
            scores[function] = share * rarity * (1 + 2 * len(_stems(function) & said))
        ranked = sorted(scores, key=lambda function: (-scores[function], function))
        if ranked:
            rows[row] = sorted(ranked[:FUNCTIONS_PER_ROW])
    return rows


def _changeable(files: Collection[str]) -> Iterator[str]:
    for file in files:
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        for function in {site.function for site in sites(tree)}:
            yield f"{file}:{function}"


def _stems(text: str) -> set[str]:
    """Return the beginnings of the words of a sentence or a name: `edges` and `edge`, `stored` and `store`."""
    return {
        word[:5].rstrip("es")
        for word in re.findall(r"[a-z]{3,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    }
