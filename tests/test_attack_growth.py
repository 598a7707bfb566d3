"""No text is a bomb: what reads texts takes time that grows with their length, whatever they are made of.

Each reader gets each text of `attack_texts` short and eight times as long. Times are of this thread's own CPU, the least
of several runs, and only their ratio counts: a reader that grows with the square takes 64 times as long and stays over
the bound however often it runs, on any machine.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import pytest

import attack_texts
import hexad
from attack_texts import attacks
from hexad import errors
from hexad.core import prompt_fence
from hexad.ingest.sources.formats.code import code_sections
from hexad.ingest.sources.formats.html import parse_html
from hexad.ingest.sources.formats.markdown import parse_asciidoc, parse_markdown, parse_rst
from hexad.ingest.write.salience import relevance_of
from hexad.layers.project import detection, manifests
from hexad.redaction.injection import detector, meaning
from hexad.redaction.policy import project_rules
from hexad.redaction.redact import redact
from hexad.text import (
    chunking,
    commitments,
    dates,
    graphemes,
    identifiers,
    literals,
    memory_requests,
    noise,
    normalize,
    same_values,
    search_terms,
    standing,
    tokens,
)  # fmt: skip
from hexad.text.claims import reader
from hexad.text.similarity import containment, fingerprints, nearness, ngram_filter, short_texts
from hexad.text.summary import code_outline, sentences, summarize

SHORT, TIMES = 8_192, 8
SLOPE: Final = 1.2
"""Of the logarithms: work grows with the length to this power at most."""
_TOO_LITTLE_S: Final = 0.01
"""What is over so soon with the long text shows no growth."""
_RUNS: Final = 9
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
RULES: Final = project_rules("all")

READERS: dict[str, Callable[[str], object]] = {
    "redact": lambda text: redact(text, rules=RULES, salt=b"salt"),
    "discreet": errors.discreet,
    "revealed": prompt_fence.revealed,
    "escaped": prompt_fence.escaped,
    "defused": prompt_fence.defused,
    "fenced_json": prompt_fence.fenced_json,
    "word_places": meaning.word_places,
    "estimate_pieces": chunking.estimate_pieces,
    "statements": lambda text: list(commitments.statements(text)),
    "requested": memory_requests.requested,
    "code_names": literals.code_names,
    "definition_of": lambda text: [
        literals.definition_of(name, heading=text, body=text, around=text)
        for name in ("a.b", "name", text[:99])
    ],
    "find_phrases": lambda text: dates.find_phrases(text, now=NOW),
    "beginning": lambda text: graphemes.beginning(text, 1_000),
    "split_identifiers": identifiers.split_identifiers,
    "quoted_phrases": literals.quoted_phrases,
    "marked_code": literals.marked_code,
    "exact_tokens": literals.exact_tokens,
    "is_program_output": noise.is_program_output,
    "junk_rule": noise.junk_rule,
    "clean": normalize.clean,
    "fold": normalize.fold,
    "nfkc": normalize.nfkc,
    "slug": normalize.slug,
    "words_of": same_values.words_of,
    "search_terms": search_terms.search_terms,
    "standing_sentences": lambda text: list(standing.standing_sentences(text)),
    "estimate_tokens": tokens.estimate_tokens,
    "fence_of": tokens.fence_of,
    "claims": reader.claims,
    "telling": containment.telling,
    "without_negation": containment.without_negation,
    "shingles": fingerprints.shingles,
    "minhash": fingerprints.minhash,
    "passage_hashes": fingerprints.passage_hashes,
    "near_marks": nearness.near_marks,
    "signature": ngram_filter.signature,
    "short_text": short_texts.short_text,
    "outline": code_outline.outline,
    "begins_with": code_outline.begins_with,
    "sentences": sentences.sentences,
    "summaries": summarize.summaries,
    "extract": lambda text: summarize.extract(text, 500),
    "compressed": summarize.compressed,
    "instructions_in": detector.instructions_in,
    "safe_line": lambda text: detector.safe_line(text, 200),
    "relevance_of": lambda text: relevance_of(text, kind="note"),
    "parse_markdown": parse_markdown,
    "parse_rst": parse_rst,
    "parse_asciidoc": parse_asciidoc,
    "parse_html": parse_html,
    **{
        f"code_sections {language}": lambda text, language=language: code_sections(text, language=language)
        for language in ("python", "javascript", "rust", "sql")
    },
    **{
        f"manifest {name}": lambda text, name=name: manifests.read_manifest(name, lambda _: text)
        for name in (
            "go.mod",
            "Gemfile",
            "build.gradle",
            "pom.xml",
            "a.csproj",
            "mix.exs",
            "Package.swift",
            "pubspec.yaml",
            "compose.yaml",
            "requirements.txt",
            "setup.cfg",
            "Makefile",
            ".pre-commit-config.yaml",
            "pyproject.toml",
        )
    },
    **{
        f"habits of {suffix}": lambda text, suffix=suffix: detection.habits_of(
            [f"a{suffix}", f"test_a{suffix}"], [], lambda _: text
        )
        for suffix in (".py", ".js", ".go", ".rs", ".rb")
    },
}


def spent_s(read: Callable[[str], object], text: str) -> float:
    gc.disable()  # its passes over all that is there are no work on a text
    try:
        began = time.thread_time()
        with suppress(errors.HexadError):
            read(text)
        return time.thread_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("name", READERS)
def test_work_grows_with_the_text(name: str) -> None:
    read, bound = READERS[name], TIMES**SLOPE
    long_texts = attacks(SHORT * TIMES)
    slow = {}
    for made_of, text in attacks(SHORT).items():
        long_s = spent_s(read, long_texts[made_of])
        if long_s <= _TOO_LITTLE_S:
            continue
        short_s = spent_s(read, text)
        runs = 1
        while long_s > bound * short_s and runs < _RUNS:
            long_s, short_s = (
                min(long_s, spent_s(read, long_texts[made_of])),
                min(short_s, spent_s(read, text)),
            )
            runs += 1
        if long_s > bound * short_s:
            slow[made_of] = f"{long_s / short_s:.1f} times as long for {TIMES} times the text"
    assert {} == slow


def test_a_long_word_is_looked_for_about_as_fast_as_a_short_one() -> None:
    """A text of one letter begins such a word at each of its places: a pattern is then compared as often, as long."""
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.remember("a" * (1 << 18))

        def spent(word: str) -> float:
            return min(spent_s(lambda word: hx.memories(text=word), word) for _ in range(_RUNS))

        short_s, long_s = spent("aaaaaaab"), spent("a" * 8_000 + "b")
    assert long_s < 60 * max(short_s, 1e-3), (
        f"{long_s / short_s:.0f} times as long for a word of 8,001 letters"
    )


def test_the_bound_is_passed_by_what_grows_with_the_square(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        READERS, "square", lambda text: [text.count("e", 0, at) for at in range(0, len(text), 8)]
    )
    monkeypatch.setattr(attack_texts, "UNITS", {"words": attack_texts.UNITS["words"]})
    with pytest.raises(AssertionError, match="times as long"):
        test_work_grows_with_the_text("square")
