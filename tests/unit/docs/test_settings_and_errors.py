"""Every setting and every error is explained where a reader looks for it."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

from hexad import config, errors
from hexad.config_template import TEMPLATE

DOCS = Path(__file__).parents[3] / "docs"
# From variables alone, or from the table `encryption`.
NO_SETTINGS = {
    "origins", "embedder_api_key", "llm_api_key", "rerank_api_key", "provider_keys", "key_file", "key_command", "passphrase",
    "new_passphrase", "new_key_command", "user_dir", "user_keys", "untrusted", "store",
}  # fmt: skip
SETTINGS = {field.name for field in dataclasses.fields(config.Settings)} - NO_SETTINGS


def first_cells(page: str, heading: str) -> set[str]:
    """The code in the first column of the table below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_page_of_the_command_line_explains_exactly_the_settings_that_exist():
    assert SETTINGS == first_cells("cli.md", "Settings")


def test_the_template_of_a_new_store_explains_exactly_the_settings_that_exist():
    lines = TEMPLATE.splitlines()
    shown = "\n".join(line[2:] for line in lines if re.match(r'# (\[|"|\w+ = )', line))

    assert SETTINGS == set(tomllib.loads(shown))


def test_the_concepts_explain_exactly_the_errors_that_exist():
    exist = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }

    assert exist - {"HexadError"} == first_cells("concepts.md", "Errors")
