"""What a text says that should last, and what kind of text it is: read by rules from its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.text.claims.facts import corrects, states_fact
from hexad.text.claims.reader import CHARACTERS_LIMIT
from hexad.text.commitments import SENTENCE_CHARS_LIMIT, commitment_of, is_doubtful
from hexad.text.noise import is_program_output
from hexad.text.summary.code_outline import outline
from hexad.text.summary.sentences import sentences

DEFAULT_KIND: Final = "note"
FACT: Final = "fact"
CORRECTION: Final = "correction"
"""Tag of what puts something right that was said before."""
_BINDING: Final = frozenset({Trust.USER, Trust.AGENT})
"""Whose words may decide something; what a tool or a page says is data."""
_SENTENCES_OF_A_NOTE: Final = 3
_SPEECH_CHARS_LIMIT: Final = 20_000
"""What is longer was pasted and not said."""
_CODE_LINES: Final = 3
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_MATERIAL: Final = re.compile(
    r"(?i)^(?!\W*(?:decision|decided|convention|rule|preference|todo|note)\b).*"
    r"\b(?:this|these|following|below|here|text|sentence|log|output|error|message)\b[^:\n]{0,40}:(?:\s|$)"
)
"""What leads to something that is shown and not said: "Summarize the following text: …"."""


class LastingStatement(NamedTuple):
    """A sentence that should last: its kind, its words, and whether it puts right what was said before."""

    kind: str
    text: str
    corrects: bool = False


def extracts(text: str) -> Iterator[LastingStatement]:
    """Yield what a turn of a person says that should last, in its order; nothing of what is only quoted or shown.

    >>> [(each.kind, each.text) for each in extracts("Thanks! We chose Postgres. I live in Porto. Can you help?")]
    [('decision', 'We chose Postgres.'), ('fact', 'I live in Porto.')]
    """
    if is_program_output(text) or len(text) > _SPEECH_CHARS_LIMIT:
        return
    is_long = len(text) > CHARACTERS_LIMIT
    before, rectifies = "", False
    for sentence in _sentences(text):
        if _MATERIAL.match(sentence):
            return
        kind: str | None = commitment_of(sentence)
        puts_right = corrects(sentence)
        words = sentence
        if kind is None and not is_long and not is_doubtful(sentence):
            if states_fact(sentence, context=puts_right or rectifies):
                kind = FACT
            elif before and states_fact(sentence, context=True):
                kind, words = FACT, f"{before} {sentence}"
        if kind is not None and not instructions_in(sentence):
            yield LastingStatement(str(kind), words, puts_right or rectifies)
        before = sentence if kind == FACT else ""
        rectifies = kind is None and puts_right


def kind_of(text: str, *, trust: Trust) -> str:
    """Return the kind of a text that nobody named one for: a note, where it is nothing else.

    A short text is what it decides, agrees on, leaves to do or prefers; a longer one what its first sentence says.

    >>> [kind_of(text, trust=Trust.USER) for text in ("We chose Postgres.", "TODO: add retries", "The sky is blue.")]
    ['decision', 'todo', 'note']
    """
    if is_program_output(text):
        return "log"
    if text.count("\n") >= _CODE_LINES - 1 and outline(text) is not None:
        return "code"
    if trust not in _BINDING or len(text) > CHARACTERS_LIMIT:
        return DEFAULT_KIND
    kinds = [commitment_of(part) for part in _sentences(text)]
    if len(kinds) > _SENTENCES_OF_A_NOTE:
        kinds = kinds[:1]
    kind = next(filter(None, kinds), None)
    return DEFAULT_KIND if kind is None or instructions_in(text) else kind.value


def _sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text in one line each, but for blocks of code and what is longer than anybody speaks."""
    for start, end in sentences(text):
        sentence = text[start:end]
        if end - start <= SENTENCE_CHARS_LIMIT and not sentence.lstrip().startswith(("```", "~~~")):
            yield " ".join(_LIST_MARK.sub("", sentence).split())
