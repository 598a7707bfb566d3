"""What passages that come near a question mention: a share of their scores goes to the definitions of it.

A guide, a test or a caller often has the words of a question, and the code that does it other ones. What they call or
name, they say to be about that. A name that many passages have says less: a share is divided by the root of how many
there are, as an edge of a graph is by the degree of its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import sqrt
from typing import Final, NamedTuple

from hexad.text.literals import names_defined

SHARE: Final = 0.5
"""What of its score a passage hands on to a definition that nothing else mentions.

From 0.3 to 1 questions of the development half are answered better than without, from 0.5 to 0.7 best.
"""
SPEAKING: Final = 20
"""So many of the best passages hand on; 10 to 80 were about as good."""
NAME_LEAST: Final = 4
"""A shorter name stands in texts of anything."""
NAMESAKES_MOST: Final = 4
"""What more definitions than this are called is none of them for sure, as with the calls of the code graph."""
_FORMS: Final = re.compile(
    r"(?:\.|->|::[ \t]*)([^\W\d]\w+)|([^\W\d]\w+)\(|([^\W\d]\w*(?:[^\W_]_[^\W_]|[a-z\d][A-Z]|[A-Z]{2,}[a-z])\w*)"
)
_MARKED: Final = re.compile(r"(`+)([^`\n]{1,80})\1")
_NAMES: Final = re.compile(r"[^\W\d]\w+")


class CandidateSpan(NamedTuple):
    """A passage of a candidate: its chunk, the candidate's place, what it stands under, and how well it answers."""

    chunk_no: int
    place: int
    heading: str
    score: float


class ScoredPassage(NamedTuple):
    """A passage of a file of code: how well it answers, with what is handed on to it, and what it stands under."""

    score: float
    chunk_no: int
    heading: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What mentions did: by the places of candidates, how much is added to them, and the passages of those of code."""

    gains: Mapping[int, float]
    passages: Mapping[int, Sequence[ScoredPassage]]


def names_mentioned(text: str) -> frozenset[str]:
    """Return the names of code in a text: called, after a dot, marked as code, or written as no plain word is.

    >>> sorted(names_mentioned("Use `echo`: click.style(text) calls strip_ansi, and an Option has a prompt."))
    ['echo', 'strip_ansi', 'style']
    """
    names = {name for forms in _FORMS.findall(text) for name in forms}
    names |= {name for _, marked in _MARKED.findall(text) for name in _NAMES.findall(marked)}
    return frozenset(name for name in names if len(name) >= NAME_LEAST and not name.startswith("__"))


def follow_mentions(
    spans: Sequence[CandidateSpan],
    *,
    code: Collection[int],
    speaking: Collection[int],
    may_mean: Callable[[int, int], bool],
    texts: Callable[[Collection[int]], Mapping[int, tuple[str, str]]],
    occurrences: Callable[[str], int],
) -> Mentions:
    """Hand a share of the scores of the best passages on to the definitions that they mention.

    `spans` are all passages of the best candidates. Definitions are in the places `code`, what mentions them in
    `speaking`; `may_mean` says whether a name in one place may mean what another one defines. `texts` gives heading and
    text of chunks, `occurrences` how many passages of the store have a name; 0 is too many.
    """
    heard = [span for span in spans if span.place in speaking and span.score > 0]
    best = nlargest(SPEAKING, heard, key=lambda span: (span.score, -span.chunk_no))
    known = texts([span.chunk_no for span in best])
    said = [names_mentioned(known.get(span.chunk_no, ("", ""))[1]) for span in best]
    definitions = _definitions(spans, code, frozenset[str]().union(*said))
    handed: dict[int, float] = {}
    for span, names in zip(best, said, strict=True):
        own = names_defined(span.heading)
        for name in sorted(names & definitions.keys()):
            if name in own or not (count := occurrences(name)):
                continue
            for definition in definitions[name]:
                if not may_mean(span.place, definition.place):
                    continue
                amount = SHARE * span.score / sqrt(count)
                handed[definition.chunk_no] = max(handed.get(definition.chunk_no, 0.0), amount)
    return _answering(spans, code, handed)


def _definitions(
    spans: Sequence[CandidateSpan], code: Collection[int], names: frozenset[str]
) -> dict[str, list[CandidateSpan]]:
    """Return the best passage of each definition that is called one of `names`, by name."""
    best: dict[tuple[int, str, str], CandidateSpan] = {}
    defined: dict[str, Sequence[str]] = {}  # a definition has many passages under one heading
    for span in spans:
        if span.place not in code:
            continue
        heading = span.heading
        if heading not in defined:
            no_name = names.isdisjoint(_NAMES.findall(heading))
            defined[heading] = () if no_name else [each for each in names_defined(heading) if each in names]
        for name in defined[heading]:
            key = (span.place, heading, name)
            if key not in best or span.score > best[key].score:
                best[key] = span
    named: dict[str, list[CandidateSpan]] = {}
    for (_, _, name), span in best.items():
        named.setdefault(name, []).append(span)
    return {name: found for name, found in named.items() if len(found) <= NAMESAKES_MOST}


def _answering(
    spans: Sequence[CandidateSpan], code: Collection[int], handed: Mapping[int, float]
) -> Mentions:
    before: dict[int, float] = {}
    passages: dict[int, list[ScoredPassage]] = {place: [] for place in code}
    for chunk_no, place, heading, score in spans:
        if place in passages:
            if place not in before or score > before[place]:
                before[place] = score
            passages[place].append(ScoredPassage(score + handed.get(chunk_no, 0.0), chunk_no, heading))
    best = {place: max(scored)[0] for place, scored in passages.items() if scored}
    gains = {place: score - before[place] for place, score in best.items() if score > before[place]}
    return Mentions(gains=gains, passages={place: scored for place, scored in passages.items() if scored})
