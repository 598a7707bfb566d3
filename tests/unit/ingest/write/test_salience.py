from __future__ import annotations

import time

import pytest

from hexad.ingest.write.salience import relevance_of


@pytest.mark.parametrize("kind", ["decision", "incident", "policy"])
def test_some_kinds_matter_whatever_they_say(kind):
    assert "high" == relevance_of("Le dépôt ouvre à huit heures.", kind=kind).value


@pytest.mark.parametrize("kind", ["log", "trace"])
def test_what_a_program_wrote_does_not_matter_for_saying_critical(kind):
    assert "low" == relevance_of("12:01 ERROR critical: must never happen, outage", kind=kind).value


def test_one_kind_of_sign_counts_once():
    assert (
        "medium" == relevance_of("It is important. Very important, and important again.", kind="note").value
    )


def test_a_long_text_does_not_matter_for_one_word_far_down():
    text = "The river has four bridges and a ferry. " * 60

    assert "medium" == relevance_of(text + "Never forget that.", kind="note").value
    assert "high" == relevance_of("Never forget that. " + text, kind="note").value


@pytest.mark.parametrize(
    "text", ["", " ", "\n" * 5_000, "a" * 1_000_000, "\x00\ud800", "at " * 100_000, "(" * 100_000]
)
def test_any_text_is_judged_at_once(text):
    started = time.process_time()

    relevance_of(text, kind="note")

    assert time.process_time() - started < 20  # a pattern that tries all ends from all starts takes minutes
