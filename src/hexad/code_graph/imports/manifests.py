"""Manifests: the files in which a project says how its packages are called, and what short names in imports mean."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Final

from hexad.code_graph.facts import FileFacts

MANIFEST: Final = "manifest"
"""Stands for the language of a manifest."""
PATTERNS: Final = (
    "package.json",
    "tsconfig.json",
    "tsconfig.*.json",
    "jsconfig.json",
    "go.mod",
    "Cargo.toml",
)
_NAME: Final = re.compile(r"package\.json|(?:ts|js)config(?:\.[\w.-]+)?\.json|go\.mod|Cargo\.toml")
_NOT_JSON: Final = re.compile(r'("(?:[^"\\]|\\.)*+")|//[^\n]*|/\*.*?\*/|,(?=\s*(?:[}\]]|//|/\*))', re.DOTALL)
_CONDITIONS: Final = ("source", "types", "import", "module", "default", "require", "node", "browser")
_MAINS: Final = ("source", "module", "main", "types", "typings")


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest, by its name."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def read_manifest(path: str, text: str) -> FileFacts:
    """Return what a manifest says: `package` is its name, `attributes` what it says of imports by what that is of."""
    name = path.rpartition("/")[2]
    reader = _READERS.get(name, _tsconfig)
    lines = text.count("\n") + 1
    try:
        package, attributes = reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return FileFacts(language=MANIFEST, lines=lines, problem="it does not parse")
    return FileFacts(language=MANIFEST, lines=lines, package=package, attributes=attributes)


_Read = tuple[str, Mapping[str, Mapping[str, str]]]


def _json(text: str) -> dict[str, object]:
    document = json.loads(_NOT_JSON.sub(lambda match: match[1] or "", text.removeprefix("\ufeff")))
    if not isinstance(document, dict):
        raise ValueError("no object")
    return document


def _package_json(text: str) -> _Read:
    document = _json(text)
    mains = {key: document[key] for key in _MAINS if isinstance(document.get(key), str)}
    return str(document.get("name") or ""), {
        "main": {key: str(value) for key, value in mains.items()},
        "exports": _flat(document.get("exports"), "."),
        "imports": _flat(document.get("imports"), ""),
    }


def _flat(value: object, key: str) -> dict[str, str]:
    """Return what names of a package lead to: of several conditions what the source is nearest to."""
    if isinstance(value, str):
        return {key: value}
    if isinstance(value, list):
        return next((found for each in value if (found := _flat(each, key))), {})
    if not isinstance(value, dict):
        return {}
    if any(name.startswith((".", "#")) for name in value):
        return {name: place for each, inner in value.items() for name, place in _flat(inner, each).items()}
    for condition in (*_CONDITIONS, *value):
        if condition in value and (found := _flat(value[condition], key)):
            return found
    return {}


def _tsconfig(text: str) -> _Read:
    document = _json(text)
    options = document.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    extends, paths = document.get("extends"), options.get("paths")
    above = extends if isinstance(extends, list) else [extends]
    base = options.get("baseUrl")
    return "", {
        "extends": {str(number): each for number, each in enumerate(above) if isinstance(each, str)},
        "base": {"baseUrl": base} if isinstance(base, str) else {},
        "paths": {
            alias: "\n".join(map(str, places))
            for alias, places in (paths if isinstance(paths, dict) else {}).items()
            if isinstance(places, list)
        },
    }


def _go_mod(text: str) -> _Read:
    match = re.search(r"^module[ \t]+\"?([^\s\"]+)", text, re.MULTILINE)
    replaced = re.findall(
        r"^(?:replace)?[ \t]*([^\s=]+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\.{1,2}/\S*)", text, re.MULTILINE
    )
    return match[1] if match else "", {"replace": dict(replaced)}


def _cargo(text: str) -> _Read:
    document = tomllib.loads(text)
    package, library = document.get("package", {}), document.get("lib", {})
    own = str(package.get("name") or "").replace("-", "_")
    name = str(library.get("name") or own).replace("-", "_")
    tables = [document.get(f"{kind}dependencies", {}) for kind in ("", "dev-", "build-")]
    tables.append(document.get("workspace", {}).get("dependencies", {}))
    renamed = {
        str(alias).replace("-", "_"): str(of["package"]).replace("-", "_")
        for table in tables
        for alias, of in table.items()
        if isinstance(of, dict) and "package" in of
    }
    return name, {
        "package": {"name": own} if own else {},
        "lib": {"path": str(library["path"])} if "path" in library else {},
        "dependencies": renamed,
    }


_READERS: Final[Mapping[str, Callable[[str], _Read]]] = {
    "package.json": _package_json,
    "go.mod": _go_mod,
    "Cargo.toml": _cargo,
}
