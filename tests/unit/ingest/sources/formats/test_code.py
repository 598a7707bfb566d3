from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hexad
from hexad.ingest.sources.formats import syntax
from hexad.ingest.sources.formats.code import BRACES, FLAT, code_sections
from hexad.text.chunking import chunk
from source_sections import assert_sections_cover, outline

PIECES = st.sampled_from(
    [
        "def f(a):",
        "class A:",
        "    def m(self): pass",
        "    x = '''",
        "@deco",
        "# why",
        "fn f() {",
        "}",
        "{",
        "class A {",
        "  m() {",
        "/*",
        "*/",
        '"',
        "'",
        "`",
        "// }",
        "impl A for B {",
        "int f(int a)",
        "type T = {",
        "[a]",
        "key: 1",
        "def f; end",
        "",
        "\x0c",
    ]
)
LANGUAGES = sorted({"python", *BRACES, *FLAT})


@given(st.lists(PIECES, max_size=25).map("\n".join), st.sampled_from(LANGUAGES), st.integers(1, 9))
def test_sections_cover_whatever_is_written(text, language, first_line):
    sections = code_sections(text, language=language, first_line=first_line)

    if sections:
        assert_sections_cover(text, sections, first_line=first_line)


@pytest.mark.row("A038")
def test_a_python_module_is_cut_into_docstring_functions_and_methods():
    text = '''"""What it is."""

import os

LIMIT = 3


# Why there is a cache.
@cache
def load(path, /, *, limit=LIMIT, **more):
    def inner(): ...
    return inner


class Store(Base):
    """Holds."""

    size = 1

    async def get(self, key): return key

    class Inner:
        def deep(self): ...

    name = "x"


if LIMIT:
    def late(): ...
'''

    assert [
        ("", 1, 1),
        ("", 2, 7),
        ("load(path, /, *, limit, **more)", 8, 12),
        ("", 13, 14),
        ("Store", 15, 19),
        ("Store.get(self, key)", 20, 20),
        ("Store", 21, 21),
        ("Store.Inner", 22, 22),
        ("Store.Inner.deep(self)", 23, 23),
        ("Store", 24, 25),
        ("", 26, 28),
        ("late()", 29, 29),
    ] == outline(text, code_sections(text, language="python"))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "import os\n\nclass Store(Base):\n    size = 1\n\n    def get(self): ...\n"),
        ("ruby", "require 'os'\n\nclass Store\n  attr :size\n\n  def get\n  end\nend\n"),
        ("kotlin", "import os\n\nclass Store {\n    val size = 1\n\n    fun get() {}\n}\n"),
        ("java", "import os;\n\nclass Store {\n    int size = 1;\n\n    void get() {}\n}\n"),
    ],
)
def test_the_first_lines_of_a_class_are_a_chunk_apart_from_the_imports_before_them(language, text):
    spans = chunk(text, sections=code_sections(text, language=language))

    assert ["", "Store"] == [span.heading for span in spans]
    assert [1, 3] == [span.first_line for span in spans]


def test_python_that_does_not_parse_is_read_by_its_structure():
    text = "import os\n\nclass A:\n    x = (\n    def m(self):\n        print 'x'\n\ndef g():\n    return 1\n"

    assert [("", 1, 2), ("A", 3, 4), ("A.m", 5, 7), ("g", 8, 9)] == outline(
        text, code_sections(text, language="python")
    )


def test_python_nested_past_the_parser_is_still_cut():
    text = "def f():\n    return " + "-" * 200_000 + "1\n"

    assert ["f"] == [section.heading for section in code_sections(text, language="python")]


SAMPLES = {
    "javascript": (
        'import x from "y";\n\n// Why.\nexport async function load(a) {\n  return "}" + `\n}${a}`;\n}\n\nclass Store extends Base {\n'
        "  constructor() {\n    this.a = {};\n  }\n\n  async get(key) {\n    if (key) { return 1; }\n  }\n}\n\nconst add = (a, b) => {\n  return a;\n};\n",
        [("", 1, 2), ("load", 3, 7), ("", 8, 8), ("Store", 9, 9), ("Store.constructor", 10, 12), ("Store", 13, 13),
         ("Store.get", 14, 16), ("Store", 17, 17), ("", 18, 18), ("add", 19, 21)],
    ),
    "go": (
        "package main\n\n// Run it.\nfunc Run(a int) error {\n\treturn nil // }\n}\n\ntype Store struct {\n\tn int\n}\n\nfunc (s *Store) Get() int {\n\treturn '}'\n}\n",
        [("", 1, 2), ("Run", 3, 6), ("", 7, 7), ("Store", 8, 10), ("", 11, 11), ("Store.Get", 12, 14)],
    ),
    "rust": (
        "use a::b;\n\n/// Doc.\n#[derive(Debug)]\npub struct P<'a> {\n    x: &'a str,\n}\n\nimpl<'a> Show for P<'a> {\n    fn show(&self) -> char {\n        '{'\n    }\n}\n",
        [("", 1, 2), ("P", 3, 7), ("", 8, 8), ("P", 9, 9), ("P.show", 10, 12), ("P", 13, 13)],
    ),
    "java": (
        "package a;\n\npublic class Shop {\n    private int n;\n\n    /** Sells. */\n    @Override\n    public List<String> sell(int a) throws X {\n        return f(\"}\");\n    }\n}\n",
        [("", 1, 2), ("Shop", 3, 5), ("Shop.sell", 6, 10), ("Shop", 11, 11)],
    ),
    "c": (
        "#include <a.h>\n\nint add(int a, int b);\n\nstatic int\nnever;\n\nint add(int a, int b)\n{\n    return a + b; /* } */\n}\n",
        [("", 1, 7), ("add", 8, 11)],
    ),
    "shell": ("set -e\n\n# Why.\nbuild() {\n  echo '}'\n}\nbuild\n", [("", 1, 2), ("build", 3, 6), ("", 7, 7)]),
    "ruby": (
        "require 'a'\n\nmodule M\n  # Why.\n  def run?\n    1\n  end\n\n  def stop\n  end\nend\n",
        [("", 1, 2), ("M", 3, 3), ("M.run?", 4, 8), ("M.stop", 9, 11)],
    ),
    "sql": ("-- all\nCREATE TABLE IF NOT EXISTS a (\n  id int\n);\n\ncreate view b as select 1;\n", [("a", 1, 5), ("b", 6, 6)]),
    "toml": ("x = 1\n\n[a.b]\ny = 2\n\n[[c]]\nz = 3\n", [("", 1, 2), ("a.b", 3, 5), ("c", 6, 7)]),
}  # fmt: skip


@pytest.mark.row("A038")
@pytest.mark.parametrize("language", sorted(SAMPLES))
@pytest.mark.parametrize("parsers", ["none", "installed"])
def test_other_languages_are_cut_where_their_definitions_end(language, parsers, monkeypatch):
    text, expected = SAMPLES[language]
    if parsers == "none":
        monkeypatch.setattr(syntax, "is_readable", lambda _language: False)
    elif language in syntax.GRAMMARS and not syntax.is_readable(language):
        pytest.skip("the extra `code` is not installed")

    assert expected == outline(text, code_sections(text, language=language))


@pytest.mark.skipif(not syntax.is_readable("typescript"), reason="the extra `code` is not installed")
def test_a_parser_sees_what_lines_do_not_show():
    script = "@Ann({\n  a: `}`,\n})\nexport class A {\n  b = async () => {\n    go();\n  };\n}\n\n// Why.\nconst c = {\n  d() {\n  },\n};\n"
    header = "namespace n {\nclass A {\n  int b() { return 1; }\n};\n}\n"

    assert [
        ("A", 1, 4),
        ("A.b", 5, 7),
        ("A", 8, 8),
        ("", 9, 9),
        ("c", 10, 11),
        ("c.d", 12, 13),
        ("c", 14, 14),
    ] == outline(script, code_sections(script, language="typescript"))
    assert ("n.A.b", 3, 3) in outline(header, code_sections(header, language="c"))


@pytest.mark.skipif(not syntax.is_readable("go"), reason="the extra `code` is not installed")
def test_a_broken_text_keeps_the_definitions_that_can_be_read():
    text = "package a\n\nfunc b() {\n\tc()\n}\n\nfunc d() int {\n\treturn +\n}\n\nfunc e() {\n}\n"

    assert {"b", "e"} <= {section.heading for section in code_sections(text, language="go")}


def test_a_language_that_is_not_known_has_no_sections():
    assert () == code_sections("what ever\n", language=None)


def test_our_own_modules_are_covered_and_every_function_is_found():
    for path in sorted(Path(hexad.__file__).parent.rglob("*.py"))[:40]:
        text = path.read_text("utf-8").rstrip()
        sections = code_sections(text, language="python")
        assert not sections or not assert_sections_cover(text, sections)
        assert text.count("\ndef ") == sum(
            text[s.start : s.end].count("\ndef ") + text.startswith("def ", s.start) for s in sections
        )


def test_hostile_texts_take_linear_time():
    size = 20_000
    texts = [
        "class A {}\n" * size,
        '"' * size,
        "/*" * size,
        "{" * size,
        "int a " * size,
        "a b(" * size,
        "`" * size + "{",
        "(" * size,
        "'''" * size,
    ]
    for text, language in chain(((text, "typescript") for text in texts), ((text, "cpp") for text in texts)):
        sections = code_sections(text, language=language)
        assert not sections or not assert_sections_cover(text, sections)


def test_a_brace_too_many_does_not_hide_what_follows():
    text = "const closing = /}/;\n\nfunction f() {\n  return 1;\n}\n"

    assert [("", 1, 2), ("f", 3, 5)] == outline(text, code_sections(text, language="javascript"))
