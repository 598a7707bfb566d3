"""Where a file's memory belongs: its path, kind, language and tags, from nothing but the file's place.

This is the normaliser of document 1, section "Ingest" (assign path, kind and tags); what a text says about
itself (front matter, a title) comes from its reader.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from hexad.text.normalize import slug
from hexad.text.paths import CHANGELOG_FOLDERS, CHANGELOG_STEMS, PATH_LIMIT

_LANGUAGES: Final = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala sc",
    "swift": "swift",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "php": "php",
    "ruby": "rb rake gemspec",
    "shell": "sh bash zsh ksh",
    "sql": "sql",
    "lua": "lua",
    "elixir": "ex exs",
    "dart": "dart",
    "protobuf": "proto",
    "css": "css scss sass less",
    "vue": "vue",
    "svelte": "svelte",
    "r": "r",
    "haskell": "hs",
    "ocaml": "ml mli",
    "clojure": "clj cljs",
    "perl": "pl pm",
    "powershell": "ps1 psm1",
    "zig": "zig",
    "graphql": "graphql gql",
    "terraform": "tf tfvars",
    "notebook": "ipynb",
    "markdown": "md markdown mdx mdown",
    "rst": "rst",
    "asciidoc": "adoc asciidoc",
    "html": "html htm xhtml",
    "text": "txt text",
    "log": "log out",
    "json": "json json5 jsonc jsonl ndjson",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties env editorconfig",
    "xml": "xml xsd",
    "csv": "csv tsv",
}
_BY_SUFFIX: Final = {suffix: name for name, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_CODE_SUFFIXES: Final = tuple(
    f".{suffix}"
    for language in ("python", "javascript", "typescript", "go", "rust", "java", "c", "cpp")
    for suffix in _LANGUAGES[language].split()
)
_BY_NAME: Final = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "jenkinsfile": "groovy",
}
_PROSE: Final = frozenset(["markdown", "rst", "asciidoc", "html"])
_CONFIG: Final = frozenset(["json", "yaml", "toml", "ini", "xml", "dockerfile", "make", "terraform"])
_NOTES: Final = frozenset(["text", "csv"])

_DECISION_FOLDERS: Final = frozenset(["adr", "adrs", "decision", "decisions", "decision-records", "rfcs"])
_GUIDE_FOLDERS: Final = frozenset(["doc", "docs", "documentation", "guide", "guides", "handbook", "wiki"])
_LOG_FOLDERS: Final = CHANGELOG_FOLDERS | {"logs"}
_NUMBERED: Final = re.compile(r"\d{3,5}[-_]\w")
_GUIDE_STEMS: Final = frozenset(
    ["readme", "contributing", "install", "usage", "faq", "tutorial", "architecture"]
)
_NOTE_STEMS: Final = frozenset(["license", "licence", "copying", "notice", "authors", "contributors"])


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """Where a file's memory belongs."""

    path: str
    kind: str
    language: str | None
    tags: tuple[str, ...]


def place(source_id: str, *, project: str) -> FilePlace:
    """Return where the file `source_id`, relative to its folder and with `/`, belongs in `project`.

    >>> found = place("docs/adr/0004-use-sqlite.md", project="shop")
    >>> found.path, found.kind, found.tags
    ('shop/docs/adr/0004-use-sqlite', 'decision', ('docs', 'markdown'))
    """
    file = PurePosixPath(source_id)
    language = language_of(file.name)
    stem = file.stem if language else file.name
    folders = file.parts[:-1]
    return FilePlace(
        path=memory_path(project, *folders, stem),
        kind=_kind(stem, [folder.lower() for folder in folders], language),
        language=language,
        tags=clean_tags([language or "", *folders[:1]]),
    )


def language_of(name: str) -> str | None:
    """Return the language of a file of this name; None when neither its name nor its suffix says."""
    named = _BY_NAME.get(name.lower()) or _BY_NAME.get(name.lower().partition(".")[0])
    return named or _BY_SUFFIX.get(PurePosixPath(name.lower()).suffix[1:])


def is_code(source_id: str) -> bool:
    """Whether a file's name is that of one in a language whose code hangs together by imports and calls."""
    return source_id.endswith(_CODE_SUFFIXES)


def suffixes_of(language: str) -> tuple[str, ...]:
    """Return the suffixes of a language's files, without their dots; none for one that is not known."""
    return tuple(_LANGUAGES.get(language, "").split())


def _kind(stem: str, folders: list[str], language: str | None) -> str:
    is_prose = language in _PROSE or language in _NOTES or language is None
    name = slug(stem)
    if is_prose and (_DECISION_FOLDERS & set(folders) or name.startswith("adr-")):
        return "decision" if _NUMBERED.match(stem) or name not in _GUIDE_STEMS else "guide"
    if language == "log" or (is_prose and (name in CHANGELOG_STEMS or _LOG_FOLDERS & set(folders))):
        return "log"
    if is_prose and name in _NOTE_STEMS:
        return "note"
    if language in _PROSE or (is_prose and (name in _GUIDE_STEMS or _GUIDE_FOLDERS & set(folders))):
        return "guide"
    if language is None or language in _NOTES:
        return "note"
    return "config" if language in _CONFIG else "code"


def clean_tags(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as sorted slugs; one without a letter or digit is no tag and is left out."""
    return tuple(sorted({tag for name in names if (tag := slug(name))}))


def memory_path(*segments: str) -> str:
    """Return the segments as a memory's path; a path that would be too long loses its middle."""
    parts = [safe_id(segment).strip() for segment in segments]
    parts = [part for part in parts if part not in ("", ".", "..")]
    path = "/".join(part.replace("/", "-") for part in parts) or "source"
    if len(path) <= PATH_LIMIT:
        return path
    head = path[: PATH_LIMIT // 2].rstrip("/ ")
    return f"{head}/…/{path[-(PATH_LIMIT // 2 - 4) :].lstrip('/ ')}"


def safe_id(name: str) -> str:
    """Return a file's name as text that every store and terminal can take; different names stay different.

    Bytes that are no UTF-8, control characters and line separators become `%XX`, and so does a per cent
    sign that could be mistaken for one.

    >>> safe_id("two\\nlines.md")
    'two%0Alines.md'
    """
    if name.isascii() and name.isprintable() and "%" not in name:
        return name
    return "".join(
        _escaped(char) if _needs_escape(char, name[at + 1 : at + 3]) else char for at, char in enumerate(name)
    )


def _needs_escape(char: str, following: str) -> bool:
    if char == "%":
        return re.fullmatch(r"[0-9A-F]{2}", following) is not None
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def _escaped(char: str) -> str:
    # Python writes the byte 0xFF of a file's name as U+DCFF; other lone surrogates keep their three bytes.
    code = ord(char)
    data = bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else char.encode("utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)
