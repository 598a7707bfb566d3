"""The test data of scanners whose rules are programs, read as samples for `secret_scanners`.

Each function takes a folder in which somebody has unpacked a repository; nothing of it is kept here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from benchmarks.published_secrets import Text

_GO_PATTERN = re.compile(r"(?P<name>\w+)\s*=\s*regexp\.MustCompile\(`(?P<pattern>[^`]*)`\)")
_GO_STRING = re.compile(r'`(?P<raw>[^`]*)`|"(?P<plain>(?:[^"\\\n]|\\.)*)"')
_NO_SECRET_NAME = re.compile(
    r"(?i)(?:id|ids|domain|url|uri|email|user|username|account|host|endpoint|region|instance|org|public|dsn)(?:pat|re|regex|pattern)?s?$"
)
_TOKENS_OF_A_RULE: Final = 3


def detector_tokens(folder: Path) -> Iterator[Text]:
    """Yield the tokens in the tests of detectors in Go that a detector finds without any word around them.

    A detector is a folder with an expression in backquotes and a test; one that puts the name of a provider in front of
    its expression finds nothing by itself. Expressions for addresses and identifiers are left out by their names.
    """
    for test in sorted(folder.glob("**/*_test.go")):
        if "integration" in test.name or "validator" in test.name:
            continue
        sources = [file for file in sorted(test.parent.glob("*.go")) if not file.name.endswith("_test.go")]
        source = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in sources)
        patterns = [] if "PrefixRegex(" in source else [*_secret_patterns(source)]
        tokens = _matched(test.read_text(encoding="utf-8", errors="replace"), patterns)
        for token in tokens[:_TOKENS_OF_A_RULE]:
            yield Text("tokens", f"{folder.name}/{test.parent.name}", token, token)


def _secret_patterns(source: str) -> Iterator[re.Pattern[str]]:
    for found in _GO_PATTERN.finditer(source):
        if not _NO_SECRET_NAME.search(found["name"]):
            try:
                yield re.compile(found["pattern"])
            except re.error:
                continue  # an expression of another dialect


def _matched(test: str, patterns: list[re.Pattern[str]]) -> list[str]:
    """Return the tokens in the literals of a test, in order, that a pattern finds in its text and by themselves."""
    tokens: dict[str, None] = {}
    for literal in _GO_STRING.finditer(test):
        for pattern in patterns:
            for found in pattern.finditer(literal["raw"] or literal["plain"] or ""):
                token = (found[1] if pattern.groups else found[0]) or ""
                bare = len(token) >= 16 and pattern.search(token) and not re.search(r"[\s:/]", token)
                if bare and re.search(r"\d", token):
                    tokens[token] = None
    return list(tokens)


def scan_results(folder: Path) -> Iterator[Text]:
    """Yield the tokens of LeakTK's expected results that its scanner finds without any word around them."""
    for file in sorted(folder.glob("testdata/leaktk-scanner-results.yaml")):
        for found in yaml.safe_load(file.read_text(encoding="utf-8")):
            token = str(found.get("secret"))
            bare = token == found.get("match") and re.fullmatch(r"[^\s\"'<>]{16,}", token)
            if bare and re.search(r"\d", token) and ":/" not in token:
                yield Text("tokens", f"leaktk/{found.get('rule.id')}", token, token)


def snapshots(folder: Path) -> Iterator[Text]:
    """Yield the snapshots of secretlint's rules: tokens that fill a line of a file, and files in which nothing is found."""
    for output in sorted(folder.glob("packages/@secretlint/secretlint-rule-*/test/snapshots/*/output.json")):
        rule = output.parents[3].name.removeprefix("secretlint-rule-")
        try:
            found = json.loads(output.read_text(encoding="utf-8"))
        except ValueError:
            continue
        content, messages = found.get("sourceContent") or "", found.get("messages", ())
        name = Path(found.get("filePath", "text.txt")).name
        if not messages and content.strip():
            yield Text("negatives", f"{folder.name}/{rule}", content, name=name)
        for message in messages:
            start, end = message["range"]
            token = content[start:end]
            if (
                len(token) >= 16
                and token in content.splitlines()
                and re.fullmatch(r"[^\s\"'>]*\d[^\s\"'>]*", token)
            ):
                yield Text("tokens", f"{folder.name}/{rule}", token, token)
