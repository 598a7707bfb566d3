from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

import hexad

REPOSITORY = Path(__file__).parents[3]
PAGES = [
    page
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    if ">>>" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_as_they_are_shown(page, tmp_path, monkeypatch):
    if page.parent.name == "integrations":
        pytest.importorskip(
            {
                "agent-framework": "agent_framework",
                "google-adk": "google.adk",
                "langchain": "langchain_core",
                "llama-index": "llama_index.core",
                "openai-agents": "agents",
                "pydantic-ai": "pydantic_ai",
            }.get(page.stem, page.stem),
            reason=f"the extra `{page.stem}` is not installed",
        )
    monkeypatch.chdir(tmp_path)

    failed, tried = doctest.testfile(str(page), module_relative=False)

    assert (0, True) == (failed, tried > 0)


def test_some_page_has_examples():
    assert PAGES


@pytest.mark.parametrize("page", ["README.md", "docs/experience.md"])
def test_the_examples_without_answers_run_too(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()  # ends the search for a store above
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "release.md").write_text(
        "# Release\n\nThe supervisor has to be green.\n", encoding="utf-8"
    )
    shutil.copy(REPOSITORY / "tests/data/concepts/workshop.json", tmp_path / "concepts.json")
    fences = re.findall(
        r"^```python\n(.*?)^```$", (REPOSITORY / page).read_text(encoding="utf-8"), re.DOTALL | re.M
    )
    examples = [fence for fence in fences if ">>>" not in fence]

    names: dict[str, object] = {"hexad": hexad, "ask_my_model": lambda prompt: prompt}
    for example in examples:
        called = "\n    asked = plan('Deploy it.')\n" if "def plan" in example else ""
        exec(compile(example + called, page, "exec"), names)

    assert examples
    assert page != "README.md" or "Never deploy on Friday" in str(names["asked"])
