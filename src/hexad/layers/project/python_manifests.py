"""What the files of a Python project declare: what it needs, what is optional, and the tools of its development."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from configparser import Error as ConfigError
from configparser import RawConfigParser
from dataclasses import dataclass, field
from typing import Any, Final

from hexad.core.arguments import read_toml
from hexad.layers.project.commands import commands_in

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_HOOK: Final = re.compile(r"^[ \t]*(?:-[ \t]*)?id:[ \t]*['\"]?([\w-]+)", re.MULTILINE)
_FACTOR: Final = re.compile(r"^[\w,!{}.*-]+:\s+")
_COMPILED: Final = re.compile(r"\b(?:pip-compile|uv pip compile)\b")
_GAP: Final = re.compile(r"(?<=\S)[^\S\n]{2,}")
"""Blanks inside a line: the standard library's reader tries to split it at each, and again from each."""
_DIRECT: Final = re.compile(r"-r\s|pyproject\.toml|setup\.(?:py|cfg)|\.in\b")
_TOOL_OF_SECTION: Final[Mapping[str, str]] = {"nosetests": "nose", "sphinx": "sphinx"}
_INSTALL: Final = frozenset({"install", "conda_install", "run_install"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What one file says: names that are needed, names of extras, names and tools of development, the rest as data."""

    names: Iterable[str] = ()
    extras: Iterable[str] = ()
    development: Iterable[str] = ()
    project: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def requirement_name(text: object) -> str | None:
    """Return the normalised name of what a requirement asks for, None for what is none."""
    match = _REQUIREMENT.match(text) if isinstance(text, str) else None
    return match[1].replace("_", "-").replace(".", "-") if match else None


def _names(requirements: Iterable[object]) -> list[str]:
    return [name for name in map(requirement_name, requirements) if name]


def read_pyproject(text: str) -> Declaration:
    """Read PEP 621 and PEP 735, the tables of Poetry, uv, PDM and Hatch, and which tools have a table."""
    data = read_toml(text)
    project, tool = data.get("project", {}), data.get("tool", {})
    poetry, pdm, hatch = tool.get("poetry", {}), tool.get("pdm", {}), tool.get("hatch", {})
    needed = dict.fromkeys(_names(project.get("dependencies", [])), True)
    for name, value in poetry.get("dependencies", {}).items():
        if name != "python":
            needed[name] = not (isinstance(value, Mapping) and value.get("optional") is True)
    extras = [name for name, is_needed in needed.items() if not is_needed]
    for requirements in project.get("optional-dependencies", {}).values():
        extras += _names(requirements)
    development: list[str] = []
    for requirements in (
        *data.get("dependency-groups", {}).values(),
        data.get("build-system", {}).get("requires", []),
        tool.get("uv", {}).get("dev-dependencies", []),
        *pdm.get("dev-dependencies", {}).values(),
    ):
        development += _names(requirements)
    for environment in hatch.get("envs", {}).values():
        development.append("hatch-envs")
        development += _names(environment.get("dependencies", []))
        development += _names(environment.get("extra-dependencies", []))
        development += commands_in(_strings(environment.get("scripts", {})))
    for group in (poetry.get("dev-dependencies", {}), *poetry.get("group", {}).values()):
        development += group.get("dependencies", group)
    development += _tool_tables(tool)
    development += _tox_table(tool.get("tox", {}))
    name = project.get("name") or poetry.get("name")
    return Declaration(
        names=[name for name, is_needed in needed.items() if is_needed],
        extras=extras,
        development=development,
        project=requirement_name(name),
        data=data,
    )


def _tool_tables(tool: Mapping[str, Any]) -> Iterator[str]:
    for name, table in tool.items():
        if name == "pdm" and not {"dev-dependencies", "scripts"} & set(table):
            continue  # the table of its build backend, which says nothing of who installs the project
        yield name
        if name == "ruff" and "format" in table:
            yield "ruff-format"


def _tox_table(tox: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(tox.get("legacy_tox_ini"), str):
        yield from read_tox(tox["legacy_tox_ini"]).development
    for environment in (tox.get("env_run_base", {}), *tox.get("env", {}).values()):
        yield from _names(environment.get("deps", []))
        yield from commands_in(
            " ".join(_strings(command)) for command in environment.get("commands", []) if command
        )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def read_tox_toml(text: str) -> Declaration:
    """Read the environments of a `tox.toml`."""
    return Declaration(development=[*_tox_table(read_toml(text))])


def read_requirements(text: str) -> Declaration:
    """Read a requirements file; of what a tool wrote from another list, what nobody asked for is left out."""
    lines = text.splitlines()
    if any(_COMPILED.search(line.partition("#")[2]) for line in lines[:10]):
        lines = list(_direct(lines))
    return Declaration(names=_names(line for line in lines if line.strip() and line.lstrip()[0] not in "#-"))


def read_pipfile(text: str) -> Declaration:
    """Read both lists of a `Pipfile`."""
    data = read_toml(text)
    return Declaration(names=data.get("packages", {}), development=data.get("dev-packages", {}), data=data)


def _direct(lines: list[str]) -> Iterator[str]:
    """Give the requirements of a compiled file of which its comments say that a person listed them."""
    held: str | None = None
    reasons = ""
    for line in [*lines, "end"]:
        if line[:1] not in (" ", "\t", "#", ""):
            if held is not None and (not reasons or _DIRECT.search(reasons)):
                yield held
            held, _, reasons = line.partition("#")
        elif "#" in line and held is not None:
            reasons += line


def read_setup_cfg(text: str) -> Declaration:
    """Read what is required and the extras, and which tools have a section."""
    config = _ini(text)
    options = dict(config["options"]) if config.has_section("options") else {}
    development = [*_section_tools(config)]
    for name in ("tests_require", "setup_requires"):
        development += _names(_lines(options.get(name, "")))
    extras: list[str] = []
    if config.has_section("options.extras_require"):
        for requirements in dict(config["options.extras_require"]).values():
            extras += _names(_lines(requirements))
    name = config.get("metadata", "name", fallback="")
    return Declaration(
        names=_names(_lines(options.get("install_requires", ""))),
        extras=extras,
        development=development,
        project=requirement_name(name),
    )


def _ini(text: str) -> RawConfigParser:
    config = RawConfigParser(strict=False, allow_no_value=True)
    try:
        config.read_string(_GAP.sub(" ", text))
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return config


def _lines(text: str | None) -> list[str]:
    lines = [line.strip() for line in (text or "").replace(";\n", "\n").splitlines()]
    return [line for line in lines if line and line[0] not in "#-{" and not line.startswith("file:")]


def _section_tools(config: RawConfigParser) -> Iterator[str]:
    for section in config.sections():
        name = section.removeprefix("tool:").lower()
        yield _TOOL_OF_SECTION.get(name, name.partition(".")[0])


def read_tox(text: str) -> Declaration:
    """Read what environments of tox install and run, and which tools have a section."""
    config = _ini(text)
    development = [*_section_tools(config)]
    for section in config.sections():
        values = dict(config[section])
        development += _names(_FACTOR.sub("", line) for line in _lines(values.get("deps")))
        for key in ("commands", "commands_pre"):
            lines = (values.get(key) or "").splitlines()
            development += commands_in(_FACTOR.sub("", line.strip()) for line in lines)
    return Declaration(development=development)


def read_tool_ini(text: str) -> Declaration:
    """Read the file of one tool's settings, such as `pytest.ini`: its sections name the tools."""
    return Declaration(development=[*_section_tools(_ini(text))])


def read_pre_commit(text: str) -> Declaration:
    """Read the ids of the hooks."""
    hooks = _HOOK.findall(text)
    return Declaration(development=[*hooks, *("ruff" for hook in hooks if hook.startswith("ruff"))])


def read_setup_py(text: str) -> Declaration:
    """Read what `setup()` is handed as written down there; nothing is run."""
    tree = _tree(text)
    values: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            values |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    arguments: dict[str, list[str]] = {}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or _called(call) != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg is not None:
                arguments[keyword.arg] = [*_texts(keyword.value, values)]
    return Declaration(
        names=_names(arguments.get("install_requires", [])),
        extras=_names(arguments.get("extras_require", [])),
        development=_names([*arguments.get("tests_require", []), *arguments.get("setup_requires", [])]),
        project=requirement_name(next(iter(arguments.get("name", [])), None)),
    )


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    except MemoryError as error:  # what the parser says of expressions nested deeper than it goes
        raise ValueError("it is nested too deeply") from error


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.expr, values: Mapping[str, ast.expr], depth: int = 0) -> Iterator[str]:
    """Give the strings that stand in a value: of an object what its keys lead to."""
    if depth > 20:
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield from (node.value.splitlines() if "\n" in node.value else [node.value])
    elif isinstance(node, ast.Name):
        if node.id in values:
            yield from _texts(values[node.id], values, depth + 1)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for element in node.elts:
            yield from _texts(element, values, depth + 1)
    elif isinstance(node, ast.Dict):
        for element in node.values:
            yield from _texts(element, values, depth + 1)
    elif isinstance(node, ast.BinOp):
        yield from _texts(node.left, values, depth + 1)
        yield from _texts(node.right, values, depth + 1)
    elif isinstance(node, ast.Starred):
        yield from _texts(node.value, values, depth + 1)
    elif isinstance(node, ast.Call) and _called(node) in ("dict", "list", "set", "sorted", "tuple"):
        for element in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from _texts(element, values, depth + 1)


def read_noxfile(text: str) -> Declaration:
    """Read what sessions of nox install and run."""
    development: list[str] = []
    for call in ast.walk(_tree(text)):
        if not isinstance(call, ast.Call):
            continue
        words = [
            argument.value
            for argument in call.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if _called(call) in _INSTALL:
            development += _names(word for word in words if not word.startswith(("-", ".")))
        elif _called(call) in ("run", "run_always"):
            development += commands_in([" ".join(words)])
    return Declaration(development=development)


def read_commands(text: str) -> Declaration:
    """Read which tools the commands of a CI file or a Makefile run, and what they install."""
    return Declaration(development=commands_in(text.splitlines()))
