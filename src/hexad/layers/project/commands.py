"""Which tools the commands of a project run: those of CI files, Makefiles and environments of tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

# A command, and the package that has it.
_TOOLS: Final[Mapping[str, str]] = {
    "pytest": "pytest", "py.test": "pytest", "mypy": "mypy", "dmypy": "mypy", "pyright": "pyright",
    "basedpyright": "basedpyright", "ty": "ty", "pyrefly": "pyrefly", "flake8": "flake8", "pylint": "pylint",
    "pycodestyle": "pycodestyle", "pydocstyle": "pydocstyle", "ruff": "ruff", "black": "black", "isort": "isort",
    "yapf": "yapf", "autopep8": "autopep8", "bandit": "bandit", "sphinx-build": "sphinx", "sphinx-autobuild": "sphinx",
    "sphinx": "sphinx",
    "mkdocs": "mkdocs", "nosetests": "nose", "unittest": "unittest", "stestr": "stestr", "prettier": "prettier",
    "eslint": "eslint",
}  # fmt: skip
_MANAGERS: Final = frozenset({"uv", "poetry", "pdm", "pipenv", "pixi"})
_BEFORE: Final = _MANAGERS | frozenset(
    "run hatch python python2 python3 py pypy pypy3 coverage exec time xvfb-run sudo env rye uvx pipx npx tox nox "
    "bash sh then do if else ! @ pre-commit x pnpm yarn test:".split()
)
"""Words that stand before the command that is meant."""
_RUNNERS: Final = frozenset({"tox", "nox", "pre-commit"})
_KEY: Final = re.compile(r"^\s*(?:-\s+)*(?:[\w.-]+\s*:(?!:)\s*)?[|>]?[-+@]?\s*")
_ASSIGNMENT: Final = re.compile(r"\w+\??:?=\S*")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_APART: Final = re.compile(r"&&|\|\||[;|]")
_WORDS: Final = re.compile(r"[^\s\"'\[\](),]+")
_ACTION: Final = re.compile(r"\buses:\s*['\"]?[\w.-]+/([\w.-]+?)(?:-action)?@")
_PINNED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WITH_VALUE: Final = frozenset(
    {
        "-r",
        "-c",
        "-e",
        "-i",
        "--requirement",
        "--constraint",
        "--index-url",
        "--editable",
        "--with",
        "--group",
        "--extra",
        "--python",
        "-p",
    }
)


def commands_in(lines: Iterable[str]) -> list[str]:
    """Return the packages of the tools that lines of commands run, and those that they install."""
    packages: list[str] = []
    for line in lines:
        action = _ACTION.search(line)
        if action is not None:
            packages += ["uv"] if action[1] == "setup-uv" else [action[1]] if action[1] in _TOOLS else []
            continue
        text = _KEY.sub("", _COMMENT.sub("", line), count=1)
        for command in _APART.split(text):
            packages += _of_command(_WORDS.findall(command))
    return packages


def _of_command(words: list[str]) -> list[str]:
    packages: list[str] = []
    if words and words[0] in _MANAGERS and words[1:2] != ["pip"]:  # `uv pip` installs where another manages
        packages.append(words[0])
    for number, word in enumerate(words):
        name = word.rpartition("/")[2].rpartition("}")[2].lower()
        if words[number - 1] == "-m" and number and name in _TOOLS:
            packages.append(_TOOLS[name])
        if name in _RUNNERS:
            packages.append(name)
        if words[number - 1] in _WITH_VALUE and number:
            continue
        if word.startswith(("-", "$", "{")) or _ASSIGNMENT.fullmatch(word) or name in _BEFORE:
            continue
        if name in ("pip", "pip3") and words[number + 1 : number + 2] == ["install"]:
            return packages + _installed(words[number + 2 :])
        if name in _TOOLS:
            packages.append(_TOOLS[name])
            if name == "ruff" and "format" in words[number + 1 : number + 2]:
                packages.append("ruff-format")
        if "-m" not in words[number:]:
            break
    return packages


def _installed(words: list[str]) -> list[str]:
    names = []
    for number, word in enumerate(words):
        match = _PINNED.match(word)
        if match and not word.startswith((".", "-")) and words[number - 1] not in _WITH_VALUE:
            names.append(match[0].replace("_", "-"))
    return names
