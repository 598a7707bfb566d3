"""What the files say by which a project declares its dependencies, in the ecosystems that are common."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO: Final = re.compile(
    r"^\s*(?:require\s+)?([a-z0-9.-]+\.[a-z]{2,}/\S+)\s+v\S++(?![ \t]*//[ \t]*indirect)", re.MULTILINE
)
_GEM: Final = re.compile(r"^\s*gem\s+['\"]([\w.-]+)['\"]", re.MULTILINE)
_GRADLE: Final = re.compile(
    r"^\s*(?:\w*[iI]mplementation|api|\w*[rR]untimeOnly|\w*[cC]ompileOnly|kapt|ksp)\b[^'\"\n]*['\"]([\w.-]+:[\w.-]+)",
    re.MULTILINE,
)
_MAVEN: Final = re.compile(r"<dependency>(.*?)</dependency>", re.DOTALL)
_TAG: Final = re.compile(r"<(groupId|artifactId)>\s*([^<\s]+)\s*</")
_NUGET: Final = re.compile(r"<PackageReference\s[^>]*Include\s*=\s*\"([\w.-]+)\"", re.IGNORECASE)
_MIX: Final = re.compile(r"\{\s*:(\w+)\s*,")
_SWIFT: Final = re.compile(r"\.package\s*\([^)]*url:\s*\"[^\"]*/([\w.-]+?)(?:\.git)?\"")
_YAML_KEY: Final = re.compile(r"^  ([A-Za-z_][\w-]*):", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What one file declares: the ecosystem, its dependencies in lower case, and what else was read in it."""

    path: str
    ecosystem: str
    names: frozenset[str]
    data: Mapping[str, Any]


def reader_of(name: str) -> tuple[str, Callable[[str], Manifest | None]] | None:
    """Return the ecosystem of a file and what reads its text, by the file's name; None for no such file."""
    for pattern, ecosystem, read in _READERS:
        if pattern.fullmatch(name):
            return ecosystem, lambda text, ecosystem=ecosystem, read=read: _read(ecosystem, read, text)
    return None


def _read(ecosystem: str, read: Callable[[str], tuple[Iterator[str], Any]], text: str) -> Manifest | None:
    """Return what a text declares; None for one that is not what its name says: nobody asked for it to be right."""
    try:
        names, data = read(text)
        listed = frozenset(name.lower() for name in names)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return Manifest(
        path="", ecosystem=ecosystem, names=listed, data=data if isinstance(data, Mapping) else {}
    )


def _requirement(text: object) -> str | None:
    found = _REQUIREMENT.match(text) if isinstance(text, str) else None
    return found[1].replace("_", "-") if found else None


def _pyproject(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    project, tool = data.get("project", {}), data.get("tool", {})
    poetry = tool.get("poetry", {})
    lists = [
        project.get("dependencies", []),
        *project.get("optional-dependencies", {}).values(),
        *data.get("dependency-groups", {}).values(),
        data.get("build-system", {}).get("requires", []),
        tool.get("uv", {}).get("dev-dependencies", []),
    ]
    tables = [
        poetry.get("dependencies", {}),
        poetry.get("dev-dependencies", {}),
        *(group.get("dependencies", {}) for group in poetry.get("group", {}).values()),
    ]
    names = [name for requirements in lists for name in map(_requirement, requirements) if name]
    names += [name for table in tables for name in table if name != "python"]
    return iter(names), data


def _requirements(text: str) -> tuple[Iterator[str], Any]:
    lines = (line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#-")
    return iter([name for name in map(_requirement, lines) if name]), {}


def _pipfile(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    return iter([*data.get("packages", {}), *data.get("dev-packages", {})]), data


def _setup_cfg(text: str) -> tuple[Iterator[str], Any]:
    block = re.search(r"^install_requires\s*=\s*\n((?:[ \t]+\S.*\n?)+)", text, re.MULTILINE)
    return _requirements("\n".join(line.strip() for line in block[1].splitlines()) if block else "")


def _package_json(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    fields = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return iter([name for field in fields for name in data.get(field, {})]), data


def _deno(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    return iter(data.get("imports", {})), data


def _cargo(text: str) -> tuple[Iterator[str], Any]:
    data = tomllib.loads(text)
    tables = [data, data.get("workspace", {}), *data.get("target", {}).values()]
    fields = ("dependencies", "dev-dependencies", "build-dependencies")
    return iter([name for table in tables for field in fields for name in table.get(field, {})]), data


def _go(text: str) -> tuple[Iterator[str], Any]:
    return iter(_GO.findall(text)), {}


def _gems(text: str) -> tuple[Iterator[str], Any]:
    return iter(_GEM.findall(text)), {}


def _composer(text: str) -> tuple[Iterator[str], Any]:
    data = json.loads(text)
    return iter([*data.get("require", {}), *data.get("require-dev", {})]), data


def _pom(text: str) -> tuple[Iterator[str], Any]:
    names = []
    for block in _MAVEN.findall(text):
        tags = dict(_TAG.findall(block))
        names.append(f"{tags.get('groupId', '')}:{tags.get('artifactId', '')}")
    return iter(names), {}


def _matching(pattern: re.Pattern[str]) -> Callable[[str], tuple[Iterator[str], Any]]:
    return lambda text: (iter(pattern.findall(text)), {})


def _pubspec(text: str) -> tuple[Iterator[str], Any]:
    blocks = re.findall(r"^(?:dev_)?dependencies:\n((?:[ \t]+.*\n?|\s*\n)+)", text, re.MULTILINE)
    return iter([name for block in blocks for name in _YAML_KEY.findall(block)]), {}


_READERS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[str], tuple[Iterator[str], Any]]]]] = tuple(
    (re.compile(pattern), ecosystem, read)
    for pattern, ecosystem, read in (
        (r"pyproject\.toml", "python", _pyproject),
        (r"(?:dev-|test-)?requirements[\w.-]*\.(?:txt|in)", "python", _requirements),
        (r"Pipfile", "python", _pipfile),
        (r"setup\.cfg", "python", _setup_cfg),
        (r"package\.json", "javascript", _package_json),
        (r"deno\.jsonc?", "javascript", _deno),
        (r"Cargo\.toml", "rust", _cargo),
        (r"go\.mod", "go", _go),
        (r"Gemfile", "ruby", _gems),
        (r"composer\.json", "php", _composer),
        (r"pom\.xml", "java", _pom),
        (r"build\.gradle(?:\.kts)?", "java", _matching(_GRADLE)),
        (r"[\w.-]+\.(?:cs|fs|vb)proj", "dotnet", _matching(_NUGET)),
        (r"mix\.exs", "elixir", _matching(_MIX)),
        (r"Package\.swift", "swift", _matching(_SWIFT)),
        (r"pubspec\.ya?ml", "dart", _pubspec),
    )
)
