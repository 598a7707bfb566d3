"""Short notes and questions about them for `rivals`: the same from the same seed, each question with one right note.

A note says one thing about a person or a service of a project, and mentions another; its words are those of the suite of
changing facts. Names are alike on purpose: many notes share a first name, a project or a value with the right one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks import facts_words as words
from benchmarks.facts_words import Phrases

SEED = 20261128
LEAST_ITEMS, MOST_ITEMS = 10, 20_000
"""How many notes a run may have; above, the names that notes are about run out."""
LETTERS = 140
"""About how long a note is."""
_COLOURS = (
    "Amber", "Azure", "Coral", "Ebony", "Ivory", "Jade", "Ochre", "Pearl", "Ruby", "Sable", "Scarlet", "Teal",
)  # fmt: skip
_TREES = (
    "Alder", "Aspen", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Rowan", "Spruce", "Willow",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Notes, and questions; `answers[i]` is the number of the note that answers question `i`."""

    texts: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[int]


def sample(items: int, *, questions: int, seed: int = SEED) -> Sample:
    """Return so many notes that all differ, and questions spread evenly over them."""
    source = random.Random(f"rivals {seed}")
    subjects = _subjects(source)
    texts: list[str] = []
    asked: list[str] = []
    while len(texts) < items:
        subject, phrases = subjects[len(texts)]
        texts.append(_note(source, subject, phrases))
        asked.append(source.choice(phrases.asked).format(s=subject))
    answers = [at * items // questions for at in range(questions)] if questions < items else range(items)
    return Sample(texts=texts, questions=[asked[at] for at in answers], answers=tuple(answers))


def _subjects(source: random.Random) -> list[tuple[str, Phrases]]:
    """Return more than `MOST_ITEMS` pairs of who or what a note is about and the attribute that it tells; no pair comes twice."""
    projects = [f"{colour} {tree}" for colour, tree in product(_COLOURS, _TREES)]
    people = [f"{first} {last}" for first, last in product(words.FIRST_NAMES, words.LAST_NAMES)]
    services = [f"{stem}-{end}" for stem, end in product(words.SERVICE_STEMS, words.SERVICE_ENDS)]
    told = [(name, phrases) for name, phrases in product(people, words.PEOPLE)]
    told += [(name, phrases) for name, phrases in product(services, words.SERVICES)]
    picked = source.sample(range(len(told) * len(projects)), 2 * MOST_ITEMS)
    pairs = []
    for number in picked:
        (name, phrases), project = told[number % len(told)], projects[number // len(told)]
        pairs.append((f"{name} of project {project}", phrases))
    return pairs


def _note(source: random.Random, subject: str, phrases: Phrases) -> str:
    value, other = source.sample(phrases.values, 2)
    sentences = [source.choice(phrases.said).format(s=subject, v=value)]
    name = subject.partition(" of project ")[0]
    sentences.append(source.choice(phrases.mentions).format(s=name, v=other))
    if len(" ".join(sentences)) < LETTERS:
        writer = f"{source.choice(words.FIRST_NAMES)} {source.choice(words.LAST_NAMES)}"
        sentences.append(f"Noted by {writer} on {source.randint(1, 28)} {source.choice(_MONTHS)}.")
    return " ".join(sentences)


_MONTHS = ("January", "March", "April", "June", "August", "October", "November")
