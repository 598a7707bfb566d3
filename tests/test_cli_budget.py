"""`hexad spaces budget` shows amounts as people reckon with them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hexad.interfaces.cli.app.main import main
from llm_server import LlmServer, Say
from opener import Opener


@pytest.mark.row("L143")
def test_what_is_spent_and_what_is_left_add_up_to_the_cap(
    opened: Opener, project: Path, llm: LlmServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(
        '[prices]\n"openai:tiny" = {input = 10.0, output = 10.0}\n'
    )
    said = {
        "path": "docs/lock-gates", "tags": ["locks"], "relevance": "medium", "summary_micro": "Green gates.",
        "summary_short": "Lock gates are green.", "summary_long": "Lock gates are painted green each spring.",
    }  # fmt: skip
    llm.always(Say(text=json.dumps(said), input_tokens=500, output_tokens=10))
    hx = opened(generator=f"openai:tiny@{llm.base_url}")
    hx.spaces.create("docs")
    hx.spaces.set_policy("docs", {"budget": {"usd": 0.02}})
    hx.remember_raw("docs", "note", "The lock gates are painted green each spring.", max_tokens=100)

    assert 0 == main(["spaces", "budget", "docs", "-C", str(project)])

    row = re.split(r"  +", capsys.readouterr().out.splitlines()[1].strip())
    assert ["$0.02", "$0.0051, 510 tokens", "nothing", "$0.0149"] == row[-4:]
