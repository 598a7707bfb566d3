"""What holds of every adapter: it is loaded late, and says which extra it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

_WITHOUT = """
import sys
for name in {packages!r}:
    sys.modules[name] = None
import hexad
try:
    import hexad.integrations.{framework}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("framework", "packages"),
    [
        ("agent_framework", ["agent_framework"]),
        ("anthropic", ["anthropic"]),
        ("crewai", ["crewai"]),
        ("google_adk", ["google", "google.adk"]),
        ("langchain", ["langchain_core"]),
        ("langgraph", ["langgraph", "langchain_core"]),
        ("llama_index", ["llama_index", "llama_index.core"]),
        ("openai_agents", ["agents"]),
        ("pydantic_ai", ["pydantic_ai"]),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra(framework: str, packages: list[str]) -> None:
    code = _WITHOUT.format(packages=packages, framework=framework)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert f"pip install 'hexad[{framework.replace('_', '-')}]'" in done.stdout
    assert "" == done.stderr


def test_importing_hexad_imports_no_framework() -> None:
    code = "import hexad, sys; hexad.Hexad, hexad.AgentMemory; print({'agents', 'anthropic', 'langgraph', 'langchain_core'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "set()" == done.stdout.strip()
