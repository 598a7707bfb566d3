"""From files that declare dependencies, of many ecosystems, to the names that they declare."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from hexad.core.arguments import read_toml
from hexad.layers.project import python_manifests as python
from hexad.layers.project.python_manifests import Declaration

_GO: Final = re.compile(
    r"^[ \t]*(?:require[ \t]+)?([a-z0-9.-]+\.[a-z]{2,}/\S+)[ \t]+v\S++(?![ \t]*//[ \t]*indirect)",
    re.MULTILINE,
)
_GEM: Final = re.compile(r"^[ \t]*gem[ \t]+['\"]([\w.-]+)['\"]", re.MULTILINE)
_GRADLE: Final = re.compile(
    r"^[ \t]*(?:\w*[iI]mplementation|api|\w*[rR]untimeOnly|\w*[cC]ompileOnly|kapt|ksp)\b"
    r"[^'\"\n]*['\"]([\w.-]+:[\w.-]+)",
    re.MULTILINE,
)
_TAG: Final = re.compile(r"<(groupId|artifactId)>\s*([^<\s]+)\s*</")
_NUGET: Final = re.compile(r"<PackageReference\s[^<>]*Include\s*=\s*\"([\w.-]+)\"", re.IGNORECASE)
_MIX: Final = re.compile(r"\{\s*:(\w+)\s*,")
_SWIFT: Final = re.compile(r"\.package\s*\([^()]*url:\s*\"[^\"]*/([\w.-]+?)(?:\.git)?\"")
_IMAGE: Final = re.compile(r"^[ \t]+image:[ \t]*[\"']?(?:[\w.:-]+/)*([\w.-]+)(?=[:@\"'\s]|$)", re.MULTILINE)
_YAML_KEY: Final = re.compile(r"^  ([A-Za-z_][\w-]*):", re.MULTILINE)

_EXTRA_WORDS: Final = frozenset({"extra", "extras", "optional"})
_DEVELOPMENT_WORDS: Final = frozenset(
    "dev devel develop development test tests testing doc docs documentation lint linting linters typing types type "
    "mypy ci build bench benchmark benchmarks style format formatting release tools tooling "
    "coverage local contrib pkgutils scripts".split()
)
"""In the name or the folder of a Python file: what it lists is not needed to run the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyManifest:
    """What one file declares, in lower case: what the project needs, its extras, and its development."""

    path: str
    ecosystem: str
    names: frozenset[str]
    extras: frozenset[str]
    development: frozenset[str]
    project: str | None
    data: Mapping[str, Any]


def read_manifest(path: str, text_of: Callable[[str], str | None]) -> DependencyManifest | None:
    """Return what a file declares, None for one that is not what its name says: nobody asked for it to be right."""
    ecosystem, read = next(
        (ecosystem, read) for pattern, ecosystem, read in _READERS if pattern.fullmatch(path)
    )
    text = text_of(path)
    if text is None:
        return None
    try:
        declaration = read(text)
        names = frozenset(name.lower() for name in declaration.names)
        extras = frozenset(name.lower() for name in declaration.extras)
        development = frozenset(name.lower() for name in declaration.development)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    words = words_of(path)
    if ecosystem == "python" and words & _EXTRA_WORDS:
        names, extras = frozenset(), names | extras
    elif ecosystem == "python" and words & _DEVELOPMENT_WORDS:
        names, extras, development = frozenset(), frozenset(), names | extras | development
    return DependencyManifest(
        path=path,
        ecosystem=ecosystem,
        names=names,
        extras=extras - names,
        development=development,
        project=declaration.project and declaration.project.lower(),
        data=declaration.data if isinstance(declaration.data, Mapping) else {},
    )


def failure_of(path: str, text: str | None) -> str:
    """Return why a file that declares dependencies could not be read, in the parser's words where it has any."""
    if text is None:
        return "it is too large, or no UTF-8"
    read = next(read for pattern, _, read in _READERS if pattern.fullmatch(path))
    try:
        read(text)
    except (ValueError, SyntaxError) as error:
        return " ".join(str(error).split())
    except (TypeError, AttributeError, RecursionError):
        pass
    return "a field in it is not of the form that it should have"


def is_manifest(path: str) -> bool:
    """Say whether a file is one that declares dependencies or tools, by its name."""
    return any(pattern.fullmatch(path) for pattern, _, _ in _READERS)


def words_of(path: str) -> set[str]:
    """Return the words in the names of a path, in lower case and without the suffix."""
    parts = PurePosixPath(path).with_suffix("").parts
    return {word for part in parts for word in re.split(r"[-_.]", part.lower())}


def _package_json(text: str) -> Declaration:
    data = json.loads(text)
    fields = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return Declaration(names=[name for field in fields for name in data.get(field, {})], data=data)


def _deno(text: str) -> Declaration:
    data = json.loads(text)
    return Declaration(names=data.get("imports", {}), data=data)


def _cargo(text: str) -> Declaration:
    data = read_toml(text)
    tables = [data, data.get("workspace", {}), *data.get("target", {}).values()]
    fields = ("dependencies", "dev-dependencies", "build-dependencies")
    return Declaration(
        names=[name for table in tables for field in fields for name in table.get(field, {})], data=data
    )


def _go(text: str) -> Declaration:
    return Declaration(names=_GO.findall(text))


def _gems(text: str) -> Declaration:
    return Declaration(names=_GEM.findall(text))


def _composer(text: str) -> Declaration:
    data = json.loads(text)
    return Declaration(names=[*data.get("require", {}), *data.get("require-dev", {})], data=data)


def _pom(text: str) -> Declaration:
    names = []
    for rest in text.split("<dependency>")[1:]:
        block, end, _ = rest.partition("</dependency>")
        if not end:
            continue
        tags = dict(_TAG.findall(block))
        names.append(f"{tags.get('groupId', '')}:{tags.get('artifactId', '')}")
    return Declaration(names=names)


def _matching(pattern: re.Pattern[str]) -> Callable[[str], Declaration]:
    return lambda text: Declaration(names=pattern.findall(text))


def _pubspec(text: str) -> Declaration:
    blocks = re.findall(r"^(?:dev_)?dependencies:\n((?:[ \t]+.*\n?|\s*\n)+)", text, re.MULTILINE)
    return Declaration(names=[name for block in blocks for name in _YAML_KEY.findall(block)])


def _compose(text: str) -> Declaration:
    """Read which images the services run: `image:postgres` for `docker.io/library/postgres:16-alpine`."""
    return Declaration(names=[f"image:{name}" for name in _IMAGE.findall(text)])


_READERS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[str], Declaration]]]] = tuple(
    (re.compile(pattern), ecosystem, read)
    for pattern, ecosystem, read in (
        (r"(?:.*/)?pyproject\.toml", "python", python.read_pyproject),
        (r"(?:.*/)?[\w.-]*requirements[\w.-]*\.(?:txt|in)", "python", python.read_requirements),
        (r"(?:.*/)?(?:requirements|reqs)/[\w./-]+\.(?:txt|in|pip)", "python", python.read_requirements),
        (r"(?:.*/)?Pipfile", "python", python.read_pipfile),
        (r"(?:.*/)?setup\.cfg", "python", python.read_setup_cfg),
        (r"(?:.*/)?setup\.py", "python", python.read_setup_py),
        (r"tox\.ini", "python", python.read_tox),
        (r"tox\.toml", "python", python.read_tox_toml),
        (r"noxfile\.py", "python", python.read_noxfile),
        (r"\.?(?:pytest|mypy)\.ini|\.flake8|\.?isort\.cfg", "python", python.read_tool_ini),
        (r"\.pre-commit-config\.yaml", "python", python.read_pre_commit),
        (
            r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.travis\.yml|\.circleci/config\.yml|\.cirrus\.yml"
            r"|\.?azure-pipelines\.yml|\.?appveyor\.yml|Jenkinsfile|Makefile|[Jj]ustfile|scripts/[\w-]+(?:\.sh)?",
            "python",
            python.read_commands,
        ),
        (r"(?:.*/)?package\.json", "javascript", _package_json),
        (r"(?:.*/)?deno\.jsonc?", "javascript", _deno),
        (r"(?:.*/)?Cargo\.toml", "rust", _cargo),
        (r"(?:.*/)?go\.mod", "go", _go),
        (r"(?:.*/)?Gemfile", "ruby", _gems),
        (r"(?:.*/)?composer\.json", "php", _composer),
        (r"(?:.*/)?pom\.xml", "java", _pom),
        (r"(?:.*/)?build\.gradle(?:\.kts)?", "java", _matching(_GRADLE)),
        (r"(?:.*/)?[\w.-]+\.(?:cs|fs|vb)proj", "dotnet", _matching(_NUGET)),
        (r"(?:.*/)?mix\.exs", "elixir", _matching(_MIX)),
        (r"(?:.*/)?Package\.swift", "swift", _matching(_SWIFT)),
        (r"(?:.*/)?pubspec\.ya?ml", "dart", _pubspec),
        (
            r"(?:docker-)?compose(?:\.(?:override|dev|development|local|prod|production))?\.ya?ml",
            "compose",
            _compose,
        ),
    )
)
