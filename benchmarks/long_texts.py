"""Long texts of free licences that every installation of Python and NumPy has: nothing of them is part of this project.

The documentation of the language (`pydoc_data`) and the docstrings of the standard library are under the PSF licence, those
of NumPy under BSD-3-Clause. They are read where they lie, with `ast`, and imported by nobody. Which texts there are depends
on the version of Python and of NumPy; with the same versions they are the same.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.halves import DEVELOPMENT, UNSEEN

LEAST_CHARACTERS: Final = 400
_PASSAGE: Final = (120, 900)
"""Fewest characters of a passage, and where it is full."""
_LEFT_OUT: Final = frozenset(
    "test tests idlelib lib2to3 site-packages ensurepip turtledemo pydoc_data __pycache__".split()
)
_UNDERLINE: Final = re.compile(r"^[*=~\-^]{4,}$", re.MULTILINE)
_BREAK: Final = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class LongText:
    """A text with its name, in passages of some hundred characters."""

    title: str
    passages: tuple[str, ...]


def of_python(half: str) -> list[LongText]:
    """Return the documentation of the language and the standard library; each text is in one half."""
    return [
        text
        for text in (*_topics(), *_docstrings(Path(sysconfig.get_paths()["stdlib"]), ""))
        if _is_in(half, text)
    ]


def of_numpy(half: str) -> list[LongText]:
    """Return the docstrings of NumPy; each is in one half."""
    spec = find_spec("numpy")
    assert spec is not None
    assert spec.origin is not None
    return [text for text in _docstrings(Path(spec.origin).parent, "numpy.") if _is_in(half, text)]


def _is_in(half: str, text: LongText) -> bool:
    # By what stands before the last dot, so that functions of one module stay together.
    name = text.title.rpartition(".")[0] or text.title
    return half == (DEVELOPMENT, UNSEEN)[zlib.crc32(name.encode()) % 2]


def _topics() -> Iterator[LongText]:
    place = Path(sysconfig.get_paths()["stdlib"]) / "pydoc_data" / "topics.py"
    tree = ast.parse(place.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and isinstance(value, ast.Constant):
                    yield from _text(str(value.value).strip().splitlines()[0].strip('"'), str(value.value))


def _docstrings(folder: Path, before: str) -> Iterator[LongText]:
    seen = set[str]()
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if _LEFT_OUT.intersection(place.parts):
            continue
        module = before + ".".join(place.with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_bytes())
        for name, node in _documented(tree, module):
            text = ast.get_docstring(node)
            if text and len(text) >= LEAST_CHARACTERS and text not in seen:
                seen.add(text)
                yield from _text(name, text)


def _documented(
    tree: ast.Module, module: str
) -> Iterator[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef]]:
    yield module, tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield f"{module}.{node.name}", node
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield f"{module}.{node.name}.{method.name}", method


def _text(title: str, text: str) -> Iterator[LongText]:
    passages: list[str] = []
    whole = ""
    for paragraph in _BREAK.split(_UNDERLINE.sub("", text)):
        whole = f"{whole}\n\n{paragraph.strip()}".strip()
        if len(whole) >= _PASSAGE[1] // 2:
            passages.append(whole[: _PASSAGE[1]])
            whole = ""
    if len(whole) >= _PASSAGE[0]:
        passages.append(whole[: _PASSAGE[1]])
    if passages:
        yield LongText(title=title, passages=tuple(passages))
