"""The session that the README shows is what its commands print, notes among it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from programs import command

README = Path(__file__).parents[3] / "README.md"
NOTE = """# Deploying

Deploys run from main, after the checks are green.

## Rollback

Run `make rollback` within ten minutes; after that, restore the nightly snapshot.
"""
PROGRESS = re.compile(r"(Reading|Embedding): ")
CHANGING = (
    (re.compile(r"\b(mem|dec)_[0-9A-Z]{26}\b"), r"\1_…"),
    (re.compile(r"\bin [\d.]+ s, \d+ items/s"), "in … s"),
    (re.compile(r"\bsince \d{4}-\d\d-\d\d\b"), "since …"),
)


def shown() -> list[tuple[str, list[str]]]:
    """Return the commands of the session in the README, and the lines below each."""
    (session,) = re.findall(r"^```console\n(\$ hexad ingest .*?)^```$", README.read_text(), re.DOTALL | re.M)
    commands: list[tuple[str, list[str]]] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def without_what_changes(lines: list[str], home: Path | str) -> list[str]:
    text = "\n".join(line for line in lines if not PROGRESS.match(line)).replace(str(home), "")
    for pattern, words in CHANGING:
        text = pattern.sub(words, text)
    return text.splitlines()


def test_the_session_of_the_readme_is_what_its_commands_print(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / "notes").mkdir(parents=True)
    (folder / ".git").mkdir()  # ends the search for a store above
    (folder / "notes" / "deploy.md").write_text(NOTE, encoding="utf-8")

    for line, expected in shown():
        program, *arguments = shlex.split(line)
        ended = command(*arguments, cwd=folder)

        assert ("hexad", 0) == (program, ended.returncode)
        printed = [*ended.stdout.splitlines(), *ended.stderr.splitlines()]
        assert without_what_changes(expected, "/home/me") == without_what_changes(printed, tmp_path)
