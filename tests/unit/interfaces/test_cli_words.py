"""What experience says when it refuses something: on the command line in the words that one types there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.cli.app.messages import spoken

SOURCE = Path(hexad.__file__).parent
PARTS = ("experience",)
CALLED = re.compile(r"`([a-z_]+)[`(]|\b([a-z]+(?:_[a-z]+)+)\b")
FIELDS = {
    # names that a contract, a JSON line or an option has too, so that one knows them
    "concept_id", "entity_type", "event_type", "event_id", "event_start", "event_end", "token_id", "token_count",
    "concept_activations", "warm_quota_tokens", "cold_storage_bytes", "context_window_tokens",
    "max_context_tokens", "compression_threshold", "top_k_activations",
}  # fmt: skip


def refusals() -> Iterator[tuple[str, str]]:
    """Give each text that a `raise` of the experience database holds, with its module; values are `…`."""
    for part in PARTS:
        for file in sorted((SOURCE / part).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    for argument in node.exc.args:
                        yield file.stem, text_of(argument)


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


@pytest.fixture(scope="module")
def calls() -> set[str]:
    """The names of all calls of `hx.xdb` and of what hangs on it."""
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        parts = (hx.xdb, hx.xdb.tag_index, hx.xdb.documents, hx.xdb.storage_manager)
        return {name for part in parts for name in dir(part) if not name.startswith("_")}


def test_no_refusal_of_the_experience_database_names_a_call_of_the_library(calls):
    named = [
        (module, call, spoken(text))
        for module, text in refusals()
        for call in (found[0] or found[1] for found in CALLED.findall(spoken(text)))
        if call in calls and call not in FIELDS
    ]

    assert not named, "\n".join(map(str, named))
