"""Published test data of secret scanners, read as samples for `secret_scanners`.

Nothing of it is kept here: each function takes a folder in which somebody has unpacked a repository or a package. A
source belongs to one half as a whole, by the hash of its name, so that what was learned of one file of it is not judged
on the next.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from benchmarks.halves import DEVELOPMENT, UNSEEN

UNSEEN_PROGRAMS: Final = frozenset({"qBittorrent", "friendica", "Elgg", "mailman2-python3"})
"""Programs whose translations belong to the unseen half; those of every other program may be looked at."""
LANGUAGES: Final = frozenset(
    "ar bg bn ca cs da de el es et fa fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi"
    " zh".split()
)
"""The languages that are counted by themselves: the 38 with most texts in public, in ISO 639-1."""


class Text(NamedTuple):
    """A text, what in it is secret (nothing in a harmless text), and where it is from."""

    kind: str
    source: str
    text: str
    secret: str | None = None
    name: str = "text.txt"
    language: str = ""

    @property
    def half(self) -> str:
        """Return the half that the source of this text belongs to."""
        if self.language:
            return UNSEEN if self.source in UNSEEN_PROGRAMS else DEVELOPMENT
        return DEVELOPMENT if hashlib.sha256(self.source.encode()).digest()[0] % 2 else UNSEEN


# -- gitleaks: what its rules must not take, and the literal examples of what they must ---------------------------

_GO_LIST = re.compile(r"\b(?P<list>fps|tps)\s*(?::?=\s*\[\]string\{|=\s*append\(\s*(?:fps|tps)\s*,)")
_GO_STRING = re.compile(r'`(?P<raw>[^`]*)`|"(?P<plain>(?:[^"\\\n]|\\.)*)"')
_GO_BLANK = re.compile(r"(?:\s|//[^\n]*)+")


def go_strings(source: str, name: str) -> Iterator[str]:
    """Yield the literals of the lists called `name` in Go source; elements that are put together are left out."""
    for start in _GO_LIST.finditer(source):
        if start["list"] != name:
            continue
        at, depth = start.end(), 0
        element: list[str | None] = []
        while at < len(source):
            blank = _GO_BLANK.match(source, at)
            if blank:
                at = blank.end()
                continue
            literal = _GO_STRING.match(source, at)
            if literal:
                element.append(_go_value(literal))
                at = literal.end()
                continue
            char = source[at]
            at += 1
            ends = char in ")}" and depth == 0
            if char in "([{":
                depth += 1
            elif char in ")]}" and not ends:
                depth -= 1
            if ends or (char == "," and depth == 0):
                if len(element) == 1 and element[0] is not None:
                    yield element[0]
                element = []
                if ends:
                    break
            else:
                element.append(None)


def _go_value(literal: re.Match[str]) -> str | None:
    if literal["raw"] is not None:
        return literal["raw"]
    try:
        value: str = json.loads(literal[0])
    except ValueError:
        return None
    return value


def gitleaks_negatives(folder: Path) -> Iterator[Text]:
    """Yield the texts in which a rule of gitleaks must find nothing."""
    for file in sorted((folder / "cmd/generate/config/rules").glob("*.go")):
        for text in go_strings(file.read_text(encoding="utf-8"), "fps"):
            yield Text("negatives", f"{folder.name}/{file.stem}", text)


# -- detect-secrets: the cases of its plugins' tests ----------------------------------------------------------------


def detect_secrets_negatives(folder: Path) -> Iterator[Text]:
    """Yield the cases that a plugin's test says are none, where the case is written out."""
    for file in sorted((folder / "tests/plugins").glob("*_test.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Tuple) and len(node.elts) == 2):
                continue
            text, flag = node.elts
            if isinstance(flag, ast.Constant) and flag.value is False:
                try:
                    literal = ast.literal_eval(text)
                except ValueError:
                    continue
                if isinstance(literal, str) and literal:
                    yield Text("negatives", f"detect-secrets/{file.stem}", literal)


# -- Nosey Parker and Kingfisher: the examples of rules that need nothing but the token ----------------------------


_NO_SECRET = re.compile(
    r"\b(?:public|recipient|publish|domain|tenant|host|ids?|identifier|address|client id)\b", re.IGNORECASE
)
"""In the names of rules for what stands beside a secret."""


def bare_tokens(folder: Path) -> Iterator[Text]:
    """Yield the tokens of a rule's examples that the rule finds without the words around them.

    Rules for the public part of a pair of keys, for host names and for identifiers are left out by their names.
    """
    for file in sorted(folder.glob("**/rules/*.yml")):
        document: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
        for rule in document.get("rules", ()):
            try:
                pattern = re.compile(rule["pattern"].strip(), re.MULTILINE)
            except (re.error, KeyError):
                continue  # an expression of another dialect
            categories = rule.get("categories", ())
            if categories and "secret" not in categories:
                continue
            if rule.get("visible") is False or _NO_SECRET.search(rule.get("name", "")):
                continue
            for example in rule.get("examples") or ():
                found = pattern.search(example)
                token = (found[1] if pattern.groups else found[0]) if found else None
                bare = pattern.search(token) if token else None
                if token and bare and len(token) >= 16 and not re.search(r"\s", token):
                    yield Text("tokens", f"{folder.name}/{file.stem}", token, token)


def rule_negatives(folder: Path) -> Iterator[Text]:
    """Yield the examples that a rule of Nosey Parker or Kingfisher must not match."""
    for file in sorted(folder.glob("**/rules/*.yml")):
        for rule in yaml.safe_load(file.read_text(encoding="utf-8")).get("rules", ()):
            for example in rule.get("negative_examples") or ():
                yield Text("negatives", f"{folder.name}/{file.stem}", example)


# -- CredSweeper: what its own scanner finds in its samples of documents --------------------------------------------

_SAMPLES_OF_NOTHING: Final = (
    "password_FALSE",
    "false_positive",
    "pass_filtered",
    "doc_*_n",
    "*_fp",
    "auth_n.template",
)


def credsweeper_negatives(folder: Path) -> Iterator[Text]:
    """Yield the lines of CredSweeper's samples in which nothing is to be found."""
    for pattern in _SAMPLES_OF_NOTHING:
        for file in sorted((folder / "tests/samples").glob(pattern)):
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                if line.strip():
                    yield Text("negatives", f"credsweeper/{file.name}", line)


_PAIRS: Final = (
    "PASSWD_PAIR",
    "ID_PAIR_PASSWD_PAIR",
    "ID_PASSWD_PAIR",
    "SECRET_PAIR",
    "IP_ID_PASSWORD_TRIPLE",
)


def credsweeper_pairs(folder: Path) -> Iterator[Text]:
    """Yield the lines of CredSweeper's samples of documents in which its tests expect a password."""
    for finding in json.loads((folder / "tests/data/doc.json").read_text(encoding="utf-8")):
        lines = finding["line_data_list"]
        if finding["rule"] in _PAIRS and len({line["line"] for line in lines}) == 1:
            line = max(lines, key=lambda line: line["value_start"])
            # Of a pair it names the user as well.
            if re.search(r"\d", line["value"]) and len(line["line"]) < 400 and "@" not in line["value"][1:-1]:
                yield Text("pairs", "credsweeper", line["line"], line["value"])


# -- Ordinary files ----------------------------------------------------------------------------------------------


def ordinary_files(folders: list[Path], *, count: int, limit_bytes: int = 60_000) -> Iterator[Text]:
    """Yield `count` text files under `folders`, drawn by the hash of their paths; each is a source of its own."""
    files = [
        file for folder in folders for file in folder.rglob("*") if file.is_file() and not file.is_symlink()
    ]
    files.sort(key=lambda file: hashlib.sha256(str(file).encode()).digest())
    for file in files:
        if not count:
            return
        if file.suffix == ".gz" and file.stat().st_size < limit_bytes:
            data = gzip.decompress(file.read_bytes())
        elif 40 <= file.stat().st_size <= limit_bytes:
            data = file.read_bytes()
        else:
            continue
        if b"\0" in data or len(data) > limit_bytes:
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        count -= 1
        yield Text("files", str(file), text, name=file.name.removesuffix(".gz"))
