"""Every rule of `tests/test_architecture.py` can fail: each gets a small source tree that breaks it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from architecture import effects, imports, shape
from architecture.source import Module, Violation, read_tree

PARTS = {"app": "public", "app.low": "low", "app.mid": "mid", "app.top": "top"}
TABLE = {"public": {"top"}, "low": set(), "mid": {"low"}, "top": {"low", "app.mid.door"}}


@pytest.fixture
def tree(tmp_path):
    """Write files named by their modules and return them parsed."""

    def write(**files: str) -> dict[str, Module]:
        root = tmp_path / "app"
        for name, text in {"__init__": "", **files}.items():
            file = root / Path(*name.split("__in__")).with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")
        return read_tree(root, "app")

    return write


def said(violations: list[Violation]) -> list[str]:
    return [str(violation) for violation in violations]


def table(modules, exceptions=()):
    return said(imports.forbidden(modules, root="app", parts=PARTS, table=TABLE, exceptions=exceptions))


def hidden(modules, own=(), stdlib=(), by_name=()):
    return said(
        imports.hidden(
            modules,
            root="app",
            own_places=own,
            stdlib_allowed=dict.fromkeys(stdlib, "why"),
            by_name_allowed=dict.fromkeys(by_name, "why"),
        )
    )


# Imports ------------------------------------------------------------------------------------------------------------


def test_an_import_against_the_table_is_reported_with_what_is_allowed(tree):
    modules = tree(low="from app.mid import thing\n", mid="thing = 1\n")

    assert ["app.low:1: low imports app.mid.thing of mid; it may import nothing of ours"] == table(modules)


def test_an_import_that_the_table_allows_is_not_reported(tree):
    modules = tree(low="", mid="import app.low\nfrom app import low\n", top="from app.low import x\n")

    assert [] == table(modules)


def test_a_row_may_allow_one_module_of_a_part(tree):
    modules = tree(
        mid__in____init__="", mid__in__door="", mid__in__wall="", top="from app.mid import door, wall\n"
    )

    assert ["app.top:1: top imports app.mid.wall of mid; it may import app.mid.door, low"] == table(modules)


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.top import x\n",
        "def f():\n    from app.top import x\n",
        "try:\n    import app.top\nexcept ImportError:\n    pass\n",
        "class A:\n    from app import top\n",
        "LAZY = {'run': 'app.top:run'}\n",
    ],
)
def test_no_way_to_write_an_import_escapes_the_table(tree, text):
    modules = tree(mid=text, top="x = 1\n")

    assert len(table(modules)) == 1


def test_a_named_exception_is_not_reported(tree):
    modules = tree(low="import app.mid\n", mid="")

    assert [] == table(modules, exceptions=[("app.low", "app.mid")])


def test_a_module_that_no_row_covers_is_reported(tree):
    modules = tree(low="", stray="")

    assert ["app.stray:1: belongs to no part of the import table; add a row for it"] == table(modules)


def test_an_import_upward_inside_a_folder_is_reported_wherever_it_stands(tree):
    modules = tree(
        mid__in__low="def f():\n    from app.mid.high import x\n",
        mid__in__high="from app.mid.low import x\nfrom app.top import y\n",
        mid__in__new="",
        top="",
    )

    assert [
        "app.mid.low:2: imports app.mid.high, which stands above app.mid.low",
        "app.mid.new:1: app.mid.new is not in the inner order of app.mid; add it",
    ] == said(imports.out_of_order(modules, folder="app.mid", order=("low", "high")))


def test_a_cycle_is_reported_once_with_its_way_round(tree):
    modules = tree(
        a="from app.b import x\n",
        b="import app.c\n",
        c="def f():\n    from app import a\n",
        d="import app.a\n",
    )

    assert ["app.a:1: import cycle: app.a -> app.b -> app.c -> app.a"] == said(
        imports.cycles(modules, root="app")
    )


def test_an_import_for_typing_makes_a_cycle_too(tree):
    modules = tree(
        a="import app.b\n", b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.a\n"
    )

    assert len(imports.cycles(modules, root="app")) == 1


def test_the_else_of_a_typing_block_does_make_a_cycle(tree):
    modules = tree(
        a="import app.b\n",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import app.a\n",
    )

    assert len(imports.cycles(modules, root="app")) == 1


def test_a_relative_import_is_reported(tree):
    modules = tree(mid="from . import low\nfrom .low import x\n", low="")

    assert [
        "app.mid:1: relative import of low; write the whole name",
        "app.mid:2: relative import of low.x; write the whole name",
    ] == said(imports.relative(modules))


def test_an_own_import_inside_a_function_is_reported_outside_of_the_composition_root(tree):
    modules = tree(low="", mid="class A:\n    def f(self):\n        from app.low import x\n")

    assert ["app.mid:3: imports app.low.x inside a function; move it to the top"] == hidden(modules)
    assert [] == hidden(modules, own=["app.mid"])


def test_a_standard_module_inside_a_function_is_reported_unless_it_is_listed(tree):
    modules = tree(mid="def f():\n    from http.client import HTTPConnection\n    import numpy\n")

    assert [
        "app.mid:2: imports http.client.HTTPConnection of the standard library inside a function"
    ] == hidden(modules)
    assert [] == hidden(modules, stdlib=[("app.mid", "http.client")])


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module('app.low')\n",
        "from importlib import import_module as load\nload('app.low')\n",
        "__import__('app.low')\n",
    ],
)
def test_an_import_by_name_is_reported_unless_it_is_listed(tree, text):
    modules = tree(mid=text)

    assert hidden(modules)
    assert [] == hidden(modules, by_name=["app.mid"])


@pytest.mark.parametrize(
    "text",
    [
        "import sqlite3\n",
        "from sqlite3 import connect\n",
        "import sqlite3.dbapi2 as db\n",
        "def f():\n    import sqlite3\n",
    ],
)
def test_a_banned_module_is_reported_wherever_it_stands(tree, text):
    modules = tree(mid=text)

    assert len(imports.banned(modules, {"sqlite3": "it loses rows"})) == 1


def third_party(modules):
    return said(imports.third_party(modules, root="app", late={"numpy"}, early={"apsw": ("app.low",)}))


def test_a_heavy_package_at_the_top_is_reported(tree):
    modules = tree(mid="import numpy as np\n")

    assert ["app.mid:1: imports numpy at the top; import it in the function that needs it"] == third_party(
        modules
    )


def test_a_heavy_package_inside_a_function_or_for_typing_is_not_reported(tree):
    modules = tree(
        mid="""
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import numpy as np
        def f():
            from numpy.typing import NDArray
        """
    )

    assert [] == third_party(modules)


def test_a_package_outside_its_place_is_reported(tree):
    modules = tree(low="import apsw\n", mid="def f():\n    import apsw\n")

    assert ["app.mid:2: imports apsw, which belongs in app.low alone"] == third_party(modules)


def test_a_package_that_no_list_names_is_reported(tree):
    modules = tree(mid="def f():\n    import requests\n")

    assert ["app.mid:2: imports requests, which no list of dependencies names"] == third_party(modules)


# Effects ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "con.execute('SELECT a FROM t')",
        "con.execute('SELECT 1')",
        "con.execute(f'SELECT {what} FROM t')",
        "q = 'select a from t'",
        "q = '  INSERT OR IGNORE INTO t VALUES (1)'",
        "q = '\\n  UPDATE t SET a = 1'",
        "q = 'DELETE FROM t'",
        "q = 'CREATE VIRTUAL TABLE t USING fts5(x)'",
        "q = 'PRAGMA user_version'",
        "q = 'WITH x AS (SELECT 1) SELECT * FROM x'",
        "con.execute('BEGIN IMMEDIATE')",
        "con.execute('COMMIT')",
        "con.execute('vacuum')",
    ],
)
def test_sql_outside_its_places_is_reported(tree, code):
    modules = tree(low=code, mid=code)

    assert ["app.mid"] == [
        violation.module for violation in effects.sql(modules, places=["app.low"], allowed={})
    ]


@pytest.mark.parametrize(
    "code",
    [
        "help = 'Select a space from the list.'",
        "help = 'Update the index and set it.'",
        "help = 'Delete a memory.'",
        "help = 'Create a table of contents'",
        "help = 'BEGIN'",
        "key = 'commit'",
        'def f():\n    """SELECT a FROM t is what this avoids."""',
    ],
)
def test_prose_is_not_taken_for_sql(tree, code):
    assert [] == effects.sql(tree(mid=code), places=[], allowed={})


def test_a_text_that_only_looks_like_sql_can_be_listed(tree):
    modules = tree(mid="hint = 'PRAGMA once'")

    assert len(effects.sql(modules, places=[], allowed={})) == 1
    assert [] == effects.sql(modules, places=[], allowed={("app.mid", "PRAGMA once"): "C, not SQL"})


@pytest.mark.parametrize(
    "code",
    [
        "import os\nhome = os.environ['HOME']",
        "import os as o\nhome = o.getenv('HOME')",
        "from os import environ",
        "import os.path\nhome = os.path.expandvars('$HOME')",
        "import os\ndef f(env=os.environ): ...",
    ],
)
def test_an_environment_read_outside_its_place_is_reported(tree, code):
    modules = tree(low=code, mid=code)

    assert {"app.mid"} == {violation.module for violation in effects.environment(modules, places=["app.low"])}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from datetime import datetime\nat = datetime.now()", "datetime.datetime.now"),
        ("from datetime import datetime as D\nat = D.utcnow()", "datetime.datetime.utcnow"),
        ("import datetime\nat = datetime.date.today()", "datetime.date.today"),
        ("import time\nat = time.monotonic()", "time.monotonic"),
        ("from time import time_ns", "time.time_ns"),
        ("import time\ndef f(now=time.time): ...", "time.time"),
        ("from time import perf_counter", "time.perf_counter"),
    ],
)
def test_a_clock_read_outside_its_place_is_reported_unless_it_is_listed(tree, code, name):
    modules = tree(low=code, mid=code)
    found = effects.clock(modules, places=["app.low"], allowed={})

    assert {("app.mid", f"reads the clock: {name}")} == {
        (violation.module, violation.message) for violation in found
    }
    assert [] == effects.clock(modules, places=["app.low"], allowed={("app.mid", name): "why"})


def test_asking_a_clock_that_was_handed_in_is_no_clock_read(tree):
    modules = tree(mid="from time import sleep\ndef f(clock):\n    sleep(1)\n    return clock.now()\n")

    assert [] == effects.clock(modules, places=[], allowed={})


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("open('a', 'w')", "open"),
        ("open('a', mode='ab')", "open"),
        ("open('a', mode)", "open"),
        ("import gzip\ngzip.open('a', 'wb')", "gzip.open"),
        ("path.open('r+')", "open"),
        ("path.write_text('a')", "write_text"),
        ("path.unlink()", "unlink"),
        ("path.replace(other)", "replace"),
        ("path.mkdir(parents=True)", "mkdir"),
        ("import os\nos.replace(a, b)", "os.replace"),
        ("from os import rename\nrename(a, b)", "os.rename"),
        ("import os\nos.open(path, os.O_RDWR | os.O_CREAT)", "os.open"),
        ("from shutil import rmtree\nrmtree(path)", "shutil.rmtree"),
        ("import tempfile\ntempfile.mkdtemp()", "tempfile.mkdtemp"),
    ],
)
def test_a_file_write_outside_its_place_is_reported_unless_it_is_listed(tree, code, name):
    modules = tree(low=code, mid=code)
    found = effects.writes(modules, root="app", places=["app.low"], allowed={})

    assert [("app.mid", f"writes files: {name}(…)")] == [
        (violation.module, violation.message) for violation in found
    ]
    assert [] == effects.writes(modules, root="app", places=["app.low"], allowed={("app.mid", name): "why"})


@pytest.mark.parametrize(
    "code",
    [
        "open('a')",
        "open('a', 'rb')",
        "path.open(encoding='utf-8')",
        "path.read_text()",
        "text.replace('a', 'b')",
        "at.replace(tzinfo=None)",
        "from dataclasses import replace\nreplace(one, a=1)",
        "import shutil\nshutil.get_terminal_size()",
        "import os\nos.open(path, os.O_RDONLY)",
        "import os\nos.open(os.devnull, os.O_WRONLY)",
        "from app.low import unlink\nunlink(path)",
        "from app import low\nlow.mkdir(path)",
        "links.unlink(row, 'near')",
    ],
)
def test_reading_and_look_alikes_are_no_file_writes(tree, code):
    assert [] == effects.writes(tree(low="", mid=code), root="app", places=[], allowed={})


# Shape --------------------------------------------------------------------------------------------------------------


def test_a_long_module_is_reported(tree):
    modules = tree(low="a = 1\n" * 5, mid="a = 1\n" * 6)

    assert ["app.mid:1: has 6 lines; at most 5"] == said(shape.long_modules(modules, limit=5, allowed={}))
    assert [] == shape.long_modules(modules, limit=5, allowed={"app.mid": "one idea"})
    assert ["app.mid:1: has at most 6 lines or is gone; take it off the list"] == said(
        shape.long_modules(modules, limit=6, allowed={"app.mid": "one idea"})
    )


def test_a_long_function_is_reported_and_its_docstring_is_not_counted(tree):
    body = '    """One.\n\n    Two.\n    """\n' + "    a = 1\n" * 4
    modules = tree(mid=f"def short():\n{body}class A:\n    async def long(self):\n" + "        a = 1\n" * 5)

    assert ["app.mid:11: A.long has 6 lines; at most 5"] == said(shape.long_functions(modules, limit=5))


def test_many_parameters_are_reported_and_self_is_not_counted(tree):
    modules = tree(mid="class A:\n    def f(self, a, *b, c, **d): ...\n    def g(self, a, b, c): ...\n")

    assert ["app.mid:2: A.f has 4 parameters; at most 3"] == said(
        shape.many_parameters(modules, limit=3, allowed={})
    )
    assert [] == shape.many_parameters(modules, limit=3, allowed={("app.mid", "A.f"): "why"})


@pytest.mark.parametrize("kind", ["", " Exception", " BaseException as e", " (OSError, Exception)"])
def test_a_handler_for_everything_is_reported_unless_it_is_listed(tree, kind):
    modules = tree(mid=f"class A:\n    def f(self):\n        try: ...\n        except{kind}: ...\n")

    assert ["app.mid:4: catches everything in A.f; name the errors that are expected"] == said(
        shape.broad_excepts(modules, allowed={})
    )
    assert [] == shape.broad_excepts(modules, allowed={("app.mid", "A.f"): "why"})


def test_a_handler_that_cleans_up_and_raises_again_is_not_reported(tree):
    modules = tree(mid="try: ...\nexcept BaseException:\n    undo()\n    raise\n")

    assert [] == shape.broad_excepts(modules, allowed={})


def test_a_name_that_says_nothing_is_reported_wherever_it_is_bound(tree):
    modules = tree(
        low="""
        one = 1
        def f(one): ...
        g = [one for one in ()]
        h = lambda *, one: one
        for at, one in (): ...
        with f(2) as one: ...
        if one := g: ...
        try: ...
        except OSError as one: ...
        match g:
            case [one, *_]: ...
        """,
        mid="row = f(one=1).one",
    )

    assert [
        f"app.low:{line}: 'one' does not say what it holds; name the thing"
        for line in (2, 3, 4, 5, 6, 7, 8, 10, 12)
    ] == sorted(said(shape.empty_names(modules, names={"one"})), key=lambda text: int(text.split(":")[1]))


def test_a_class_name_that_stands_twice_is_reported_but_where_it_may(tree):
    modules = tree(
        low="class A: ...",
        mid="""
        def f():
            class A: ...
        class B: ...
        """,
    )
    twice = ["app.low:1: A is a class in app.mid too; rename one"]

    assert twice == said(shape.repeated_classes(modules, allowed={}))
    assert [] == shape.repeated_classes(modules, allowed={"A": ("app.mid", "app.low")})
    assert twice == said(shape.repeated_classes(modules, allowed={"A": ("app.low",)}))
    assert ["app.high:1: has no class A any more; take it off the list", *twice] == said(
        shape.repeated_classes(modules, allowed={"A": ("app.low", "app.mid", "app.high")})
    )
    assert ["app.low:1: has no class B any more; take it off the list"] == said(
        shape.repeated_classes({"app.low": modules["app.low"]}, allowed={"B": ("app.low",)})
    )


def test_missing_docstrings_are_reported_for_what_is_public(tree):
    modules = tree(
        mid='''
        def f(): ...
        def _g(): ...
        class A:
            """Says."""
            def h(self): ...
            def __repr__(self): ...
            @overload
            def i(self): ...
        ''',
        _low="",
    )
    del modules["app"]

    assert [
        "app.mid:1: the module has no docstring",
        "app.mid:2: f has no docstring",
        "app.mid:6: A.h has no docstring",
    ] == said(shape.missing_docstrings(modules))
