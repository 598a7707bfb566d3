"""Secrets in the stream: out of what comes in before the log, out of what is generated before it is sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

from hexad.core.event_types import EventType
from hexad.redaction.redact import RedactionRules, find, redact

_PASSES_LIMIT: Final = 4
_SCREENED_CHARS: Final = 1 << 16
_APART: Final = "\n\0\n"
"""Between texts that are looked through together: a NUL is in no secret, so none is found across it."""


class SpreadEvent(Protocol):
    """An event whose text is spread over timesteps: its pieces, joined with nothing, are the text."""

    @property
    def event_type(self) -> EventType:
        """What happened."""

    @property
    def timesteps(self) -> int:
        """Over how many timesteps."""

    @property
    def texts(self) -> list[str]:
        """The pieces, with what stands between them."""


class Masking:
    """Redacts the stream by the rules that hold in all of a project: no space's policy is about it.

    Names are looked through for secrets alone: an id that passes for the number of a card is still an id.
    """

    def __init__(self, *, salt: Callable[[], bytes], rules: RedactionRules) -> None:
        self._salt = salt
        self._rules = rules
        self._name_rules = replace(rules, pii=frozenset(), patterns=(), names=True)

    def text(self, text: str) -> str:
        """Return a whole text without what the rules find."""
        return redact(text, rules=self._rules, salt=self._salt()).text

    def secret_in(self, name: str) -> str | None:
        """Return the rule by which a name holds a secret, None where it holds none."""
        findings = find(name, rules=self._name_rules)
        return findings[0].rule if findings else None

    def secret_among(self, texts: Sequence[str]) -> bool:
        """Whether any of the names may hold a secret; where none does, none of them does by itself."""
        return any(
            find(_APART.join(texts[first:end]), rules=self._name_rules) for first, end in _screens(texts)
        )

    def texts(self, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield those of whole texts that hold a secret: which it is, and the text without, as `text` returns it."""
        for first, end in _screens(texts):
            yield from self._among(texts, first, end)

    def _among(self, texts: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str]]:
        if not find(_APART.join(texts[first:end]), rules=self._rules):
            return
        if end - first == 1:
            yield first, self.text(texts[first])
            return
        middle = (first + end) // 2
        yield from self._among(texts, first, middle)
        yield from self._among(texts, middle, end)

    def answers(self, answers: list[list[str]]) -> Iterator[tuple[int, list[str]]]:
        """Yield the answers that spell a secret: which it is, and its tokens without, as many as before.

        The token in which a secret begins carries the placeholder; what the others held of it goes. Most answers
        hold none, and looking has a price for each look, so many are looked through at once.
        """
        texts = ["".join(tokens) for tokens in answers]
        for first, end in _screens(texts):
            if find(_APART.join(texts[first:end]), rules=self._rules):
                for index in range(first, end):
                    tokens = self._tokens(answers[index])
                    if tokens is not answers[index]:
                        yield index, tokens

    def events(self, events: Sequence[SpreadEvent]) -> list[str]:
        """Return the texts of events without secrets: in generated ones, and spread over pieces in any.

        What is no answer and came in one piece was looked at when it was recorded.
        """
        looked_at = [
            at
            for at, event in enumerate(events)
            if event.event_type is EventType.OUTPUT or event.timesteps > 1
        ]
        texts = [event.texts for event in events]
        for which, masked in self.answers([texts[at] for at in looked_at]):
            texts[looked_at[which]] = masked
        return ["".join(tokens) for tokens in texts]

    def _tokens(self, tokens: list[str]) -> list[str]:
        # Removing one value can uncover another.
        for _ in range(_PASSES_LIMIT):
            findings = find("".join(tokens), rules=self._rules)
            if not findings:
                break
            tokens = _without(
                tokens, [(finding.start, finding.end, f"[REDACTED:{finding.rule}]") for finding in findings]
            )
        return tokens


def _screens(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where to cut texts so that each part is looked through at once: its beginning and its end."""
    first = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= _SCREENED_CHARS or at == len(texts) - 1:
            yield first, at + 1
            first, size = at + 1, 0


def _without(tokens: list[str], holes: list[tuple[int, int, str]]) -> list[str]:
    """Return the tokens without the characters of `holes`, which are in order and apart."""
    result = []
    start = at = 0
    for token in tokens:
        end = start + len(token)
        parts, here = [], start
        while at < len(holes) and holes[at][0] < end:
            first, last, placeholder = holes[at]
            if first >= start:
                parts += [token[here - start : first - start], placeholder]
            here = min(last, end)
            if last > end:
                break
            at += 1
        result.append("".join([*parts, token[here - start :]]) if here > start or parts else token)
        start = end
    return result
