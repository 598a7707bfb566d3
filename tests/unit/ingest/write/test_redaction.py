"""What the redactor remembers of short fields belongs to the rules that it was found by, and to no others."""

from __future__ import annotations

import pytest

from hexad.ingest.write.redaction import Redactor


@pytest.mark.row("L056", "L057")
def test_rules_that_are_gone_leave_nothing_to_the_next_ones():
    redactor = Redactor(salt=lambda: b"salt" * 8)

    for turn in range(300):
        asked = turn % 3 == 0
        rules = redactor.rules({"pii_redaction": ["email"]} if asked else {})
        tag = redactor.mask_object({"tags": ["ask ada@example.org"]}, rules, place=None)["tags"]
        assert ["ask [REDACTED:email]" if asked else "ask ada@example.org"] == tag
        del rules  # the next ones may stand where these stood
