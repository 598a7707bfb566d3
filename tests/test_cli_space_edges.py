"""What commands about spaces say where it matters to the word: what is old, where files go, what a refusal offers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.cli.main import main
from opener import Opener

POLICY = '{"ttl_days": 30, "allow_delete": true, "retention": [{"kinds": ["log"], "ttl_days": 7}]}'


@pytest.mark.row("L044")
def test_gc_says_what_is_old_and_that_rules_have_lifetimes_of_their_own(
    opened: Opener, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hx = opened(clock=hexad.SystemClock())
    hx.spaces.create("news")
    hx.spaces.set_policy("news", POLICY)

    assert 0 == main(["spaces", "gc", "news", "-C", str(project), "--dry-run", "--ttl-days", "365"])

    said = capsys.readouterr()
    year = (hx.clock.now() - timedelta(days=365)).year
    assert f"Old is what was not changed since {year}-" in said.err
    assert "What 1 retention rule of the policy matches has a lifetime of its own." in said.err
