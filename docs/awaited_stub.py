"""Write `src/hexad/client/awaited.pyi`: the types of awaited calls, from those of an open store.

    python docs/awaited_stub.py            write the stub
    python docs/awaited_stub.py --check    fail when the stub and the calls disagree

At run time the awaited calls are made from the signatures; a type checker reads the same from the stub.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hexad.client.connection import ATTRIBUTES
from hexad.client.verbs import FACADES, LOCAL_VERBS, OF_SESSION, SESSION_ID, VERBS
from hexad.experience.api import BoundSession

STUB: Final = Path(__file__).parents[1] / "src" / "hexad" / "client" / "awaited.pyi"
_HEAD: Final = '''"""Written by docs/awaited_stub.py from the calls of an open store; do not edit."""

{imports}

class Opening:
    def __await__(self) -> Generator[Any, None, AsyncHexad]: ...
    async def __aenter__(self) -> AsyncHexad: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class BoundSessionProxy:
    id: str
{bound}

class SessionHandleProxy:
    id: str
    @property
    def current(self) -> Awaitable[WorkingSet]: ...
{handle}
'''
_CONNECT: Final = '''
class AsyncHexad(_AsyncCalls):
    """An open store whose calls are awaited; made by `hexad.aopen`."""

    @property
    def path(self) -> Path: ...
    @property
    def clock(self) -> Clock: ...

class AsyncRemoteHexad(_AsyncCalls):
    """A store behind a server, whose calls are awaited; made by `hexad.aconnect`."""

    @property
    def url(self) -> str: ...

def aopen(
{aopen}
    threads: int = ...,
) -> Opening: ...
def aconnect(
    url: str,
    *,
    token: str | Path | None = None,
    timeout_s: float = ...,
    certificate: str | Path | None = None,
) -> AsyncRemoteHexad: ...
'''
_ANSWERS: Final = {
    "use_context": "ProjectContext",
    "xdb.start_session": "BoundSessionProxy",
}
"""What an awaited call gives where that is another than the open store's."""


def _class(kind: type) -> ast.ClassDef:
    tree = ast.parse(Path(inspect.getsourcefile(kind) or "").read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)


def _calls(kind: type, names: set[str], prefix: str = "", *, without: str | None = None) -> Iterator[str]:
    """Yield the awaited form of each call of a class, overloads included."""
    for node in _class(kind).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            yield _awaited(node, _ANSWERS.get(f"{prefix}{node.name}"), without=without)


def _awaited(node: ast.FunctionDef, answer: str | None, *, without: str | None = None) -> str:
    arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): ..."))).body[0].args  # type: ignore[attr-defined]
    if without is not None:
        kept = [place for place, argument in enumerate(arguments.kwonlyargs) if argument.arg != without]
        arguments.kwonlyargs = [arguments.kwonlyargs[place] for place in kept]
        arguments.kw_defaults = [arguments.kw_defaults[place] for place in kept]
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [None if value is None else _default(value) for value in defaults]
    overload = "    @overload\n" if any(_is_overload(item) for item in node.decorator_list) else ""
    returns = answer or ast.unparse(node.returns or ast.Constant(None))
    return f"{overload}    async def {node.name}({ast.unparse(arguments)}) -> {returns}: ..."


def _default(value: ast.expr) -> ast.expr:
    return value if isinstance(value, ast.Constant) else ast.Constant(...)


def _is_overload(item: ast.expr) -> bool:
    return isinstance(item, ast.Name) and item.id == "overload"


def _implementations(kind: type) -> set[str]:
    """The calls that have overloads: what implements them is none of the types."""
    return {node.name for node in _class(kind).body if isinstance(node, ast.FunctionDef) and node.decorator_list
            and any(_is_overload(item) for item in node.decorator_list)}  # fmt: skip


def _facade(name: str, kind: type) -> Iterator[str]:
    names = {verb.call for verb in (*VERBS.values(), *LOCAL_VERBS) if verb.facade == name}
    prefix = f"{name}." if name else ""
    overloaded = _implementations(kind)
    for line in _calls(kind, names, prefix):
        called = line.split("def ", 1)[1].split("(")[0]
        if called in overloaded and "@overload" not in line:
            continue
        yield line


def _imports() -> str:
    """Return the imports that the annotations of all classes rest on."""
    found: dict[str, set[str]] = {}
    for kind in (*FACADES.values(), BoundSession):
        tree = ast.parse(Path(inspect.getsourcefile(kind) or "").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
                found.setdefault(node.module, set()).update(
                    alias.name for alias in node.names if alias.asname is None
                )
    for module, names in {
        "collections.abc": {"Awaitable", "Generator", "AsyncIterator"},
        "typing": {"Any", "Self", "overload"},
        "types": {"TracebackType"},
        "hexad.core.actor": {"Actor"},
        "hexad.core.ids": {"IdSource"},
        "hexad.core.clock": {"Clock"},
        "hexad.lifecycle.opening": {"EmbedderSpec"},
        "hexad.providers.generators.base": {"GeneratorSpec"},
        "hexad.providers.rerankers": {"RerankSpec"},
        "hexad.spaces.bundles.orderings.external": {"OrderingSpec"},
        "hexad.privacy.report": {"ExportItem"},
        "pathlib": {"Path"},
    }.items():
        found.setdefault(module, set()).update(names)
    return "\n".join(
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(found.items())
    )


def stub() -> str:
    """Return the text of the stub, before it is formatted."""
    session = FACADES["session"]
    named = {
        name for name, _ in inspect.getmembers(BoundSession, inspect.isfunction) if not name.startswith("_")
    }
    bound = [
        *_calls(FACADES["xdb"], named - {"get_comments_for_range"}, without=SESSION_ID),
        *_calls(BoundSession, {"get_comments_for_range", "end"}),
    ]
    parts = [
        _HEAD.format(
            imports=_imports(), bound="\n".join(bound), handle="\n".join(_calls(session, set(OF_SESSION)))
        )
    ]
    for name, kind in FACADES.items():
        if name and not name.startswith("audit"):
            more = _MORE.get(name, "")
            parts.append(f"class Async{kind.__name__}:\n{more}" + "\n".join(_facade(name, kind)) + "\n")
    attributes = "\n".join(f"    {name}: Async{FACADES[name].__name__}" for name in ATTRIBUTES)
    parts.append(f"class _AsyncCalls:\n{attributes}\n{_ROOT}" + "\n".join(_facade("", FACADES[""])) + "\n")
    parts.append(_CONNECT.format(aopen=_open_parameters()))
    return "\n".join(parts)


_MORE: Final = {
    "session": "    @property\n    def current(self) -> Awaitable[WorkingSet | None]: ...\n"
    "    def handle(self, session_id: str | None = None) -> SessionHandleProxy: ...\n",
    "xdb": "    documents: AsyncDocumentRepository\n"
    "    async def session(self, session_id: str) -> BoundSessionProxy: ...\n",
}
_ROOT: Final = """    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    async def close(self) -> None: ...
    def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> AsyncIterator[ExportItem]: ...
"""


def _open_parameters() -> str:
    import hexad

    tree = ast.parse(inspect.getsource(hexad.open))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    lines = [
        f"    {arguments.args[0].arg}: {ast.unparse(arguments.args[0].annotation or ast.Constant(None))} = None,",
        "    *,",
    ]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        assert argument.annotation is not None
        assert default is not None
        lines.append(f"    {argument.arg}: {ast.unparse(argument.annotation)} = {ast.unparse(default)},")
    return "\n".join(lines)


def formatted(text: str) -> str:
    """Return the stub as `ruff format` and its fixes leave it."""
    import subprocess

    for arguments in (["check", "--fix-only", "-q", "--select", "F401,I"], ["format", "-q"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main() -> int:
    """Write or check the stub."""
    text = formatted(stub())
    if "--check" in sys.argv[1:]:
        if STUB.read_text(encoding="utf-8") != text:
            print(
                "src/hexad/client/awaited.pyi is out of date: run python docs/awaited_stub.py",
                file=sys.stderr,
            )
            return 1
        return 0
    STUB.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
