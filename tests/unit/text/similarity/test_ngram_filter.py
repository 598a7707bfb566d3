"""A signature may say "maybe" too often, and "no" never wrongly; everywhere the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.text.similarity import ngram_filter
from hexad.text.similarity.ngram_filter import (
    SATURATED,
    SIGNATURE_BYTES_LEAST,
    SIGNATURE_BYTES_MOST,
    may_hold,
    needle_places,
    signature,
)

# All of Unicode, and the characters whose lower case is longer, shorter, or depends on what stands beside them.
awkward = st.sampled_from("İIıßẞΣσςΟΔ\u0130\u03a3ﬁǅ\u0345\u1e9eK\u212aÅ\u212b日本語e\u0301")
texts = st.text(st.one_of(st.characters(), awkward, st.sampled_from("abc /_-")), max_size=200)


@settings(max_examples=300, derandomize=True)
@given(before=texts, needle=texts, after=texts)
def test_what_a_text_holds_is_never_ruled_out(before: str, needle: str, after: str) -> None:
    text = before + needle + after
    if needle.lower() in text.lower():
        assert may_hold(signature(text), needle)


@settings(max_examples=200, derandomize=True)
@given(text=texts, data=st.data())
def test_no_part_of_a_text_is_ruled_out(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    for needle in (text[start:stop], text.lower()[start:stop], text[start:stop].upper()):
        if needle.lower() in text.lower():
            assert may_hold(signature(text), needle)


@settings(max_examples=100, derandomize=True)
@given(text=texts)
def test_a_signature_has_a_power_of_two_of_bytes(text: str) -> None:
    size = len(signature(text))

    assert SIGNATURE_BYTES_LEAST <= size <= SIGNATURE_BYTES_MOST
    assert size & (size - 1) == 0


@pytest.mark.parametrize("needle", ["", "a", "Of"])
def test_a_needle_of_two_ascii_characters_may_be_anywhere(needle):
    assert () == needle_places(needle)
    assert may_hold(signature("nothing of the kind"), needle)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Ship when recall is under 200 ms.", "deploy"),
        ("Deploys happen on Tuesday.", "wednesday"),
        ("日本語のテキスト", "中"),
        ("日本語のテキスト", "本日"),
        ("Größe", "ü"),
    ],
)
def test_what_a_text_does_not_hold_is_mostly_ruled_out(text, absent):
    assert not may_hold(signature(text), absent)


def test_most_phrases_that_are_not_there_are_ruled_out():
    words = [f"{a}{b}{c}{d}" for a in "bdfgkl" for b in "aeiou" for c in "mnprst" for d in "aeiou"]
    text = " ".join(words[::7])
    absent = [word + word for word in words[3::7]]

    ruled_out = sum(not may_hold(signature(text), word) for word in absent)

    assert ruled_out > 0.9 * len(absent)


def test_a_text_of_more_n_grams_than_a_filter_holds_is_always_a_candidate():
    text = "".join(random.Random(7).choices([chr(point) for point in range(0x4E00, 0x9FFF)], k=150_000))

    assert SATURATED == signature(text)
    assert may_hold(signature(text), "no such words")


def test_the_same_text_has_the_same_signature_in_every_process():
    text = "Größe und Σίσυφος: recall under 200 ms 日本語"
    code = f"from hexad.text.similarity.ngram_filter import signature; print(signature({text!r}).hex())"

    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert {signature(text).hex()} == found
    # Of the version that wrote the first stores: a change of the hash would need all of them signed anew.
    assert "0000000040000000" == signature("abc").hex()


def test_signing_needs_no_numpy():
    code = "import sys; from hexad.text.similarity.ngram_filter import signature; signature('recall ' * 50); print('numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()


def test_the_longest_memory_is_signed_in_a_moment():
    text = " ".join(f"word{number} of many" for number in range(70_000))[: 1 << 20]

    started = time.process_time()
    signature(text)

    assert time.process_time() - started < 5


@given(text=st.text(st.characters(max_codepoint=127), max_size=40))
def test_the_places_of_an_ascii_text_are_those_of_each_three_characters(text: str) -> None:
    grams = {tuple(map(ord, text[at : at + 3])) for at in range(len(text) - 2)}

    assert ngram_filter._hashed(grams) == set(ngram_filter._places(text))
