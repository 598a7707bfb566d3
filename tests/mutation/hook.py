"""Let a module be imported with a mistake in it: in this process, and in the Python programs that it starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from mutation.sites import mutated

VARIABLE = "MUTANT"
"""Names the mutant to programs that are started: `<number>:<file>`."""


class _Loader(SourceFileLoader):
    """Loads a module without its bytecode, and with the mistake."""

    def __init__(self, name: str, path: str, number: int) -> None:
        super().__init__(name, path)
        self._number = number

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        return compile(mutated(source, self._number, self.path), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, file: Path, number: int) -> None:
        self._file, self._number = str(file), number
        self._last = "." + (file.parent.name if file.name == "__init__.py" else file.stem)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.endswith(self._last):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not os.path.samefile(spec.origin, self._file):
            return None
        spec.loader = _Loader(fullname, spec.origin, self._number)
        return spec


def install(file: Path, number: int) -> None:
    """Change the file's module where it is imported from now on; one that is loaded already stays as it is."""
    sys.meta_path.insert(0, _Finder(file, number))
    os.environ[VARIABLE] = f"{number}:{file}"
    here = str(Path(__file__).parent / "startup")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))


def install_inherited() -> None:
    """Do the same in a program that a mutated process started."""
    number, _, file = os.environ[VARIABLE].partition(":")
    sys.meta_path.insert(0, _Finder(Path(file), int(number)))
