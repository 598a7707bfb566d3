"""What a question names literally: phrases in quotes, versions, ids, flags, names of code; and what defines that."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from functools import cached_property
from typing import Final

LITERALS_MOST: Final = 16
"""More of either kind in one question are not looked for."""

_INSIDE: Final = r"([^\s{0}\x00-\x1f]|[^\s{0}\x00-\x1f][^{0}\x00-\x1f]{{0,198}}[^\s{0}\x00-\x1f])"
# No space beside the marks: those of two phrases are no pair.
_QUOTED: Final = re.compile(
    "|".join(f"{opening}{_INSIDE.format(closing)}{closing}" for opening, closing in ('""', "“”", "«»"))
)
_MARKED: Final = re.compile(f"`{_INSIDE.format('`')}`")
_WORD: Final = re.compile(r"[^\s\x00-\x1f]+")
_TRIMMED: Final = "\"'`“”‘’«»()[]{}<>,;:!?…"
_INNER: Final = re.compile(r"[^\W_](?:[._/\\@#+=]|::|->)[^\W_]|[^\W_]_|_[^\W_]|-\d|\d-")
_NUMBERS: Final = re.compile(r"v?\d+(?:[.:/-]\d+)+", re.IGNORECASE)
_DATE: Final = re.compile(r"(?:1[89]|20)\d\d(?:-\d\d(?:-\d\d)?)?|\d{1,2}(?:st|nd|rd|th)")

TRAIL: Final = " > "
"""Between the parts of a heading's trail: `Guide > Install > Linux`."""
NAMES_MOST: Final = 8
"""More names in one question are not looked for."""

NAMED: Final = 1.0
"""A definition, or a section, that stands under the name."""
DEFINED: Final = 0.95
"""A definition that stands among others."""
DECLARED: Final = 0.9
"""Overloads alone, whose definition stands elsewhere."""
STATED: Final = 0.5
"""A line that begins with it: a setting with its value, an entry of a table or of a list."""
SHOWN: Final = 0.4
"""Such a line in a block of code of a guide: an example of it."""

_JOINTS: Final = re.compile(r"::|->|[.#:/]")
_CALL: Final = re.compile(r"\(.*?\)$", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d]\w*(?:-\w+)*(?:\(\))?")
_MIXED: Final = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]|\w-\w")
_ARGUMENTS: Final = re.compile(r"[(\[<].*", re.DOTALL)
_SIGNATURE: Final = re.compile(r"\w\(")
_HEADING_WORDS_MOST: Final = 3
"""A section's heading that names more than this beside it is about more than it."""
# What begins a definition in one of the languages that are read, with what may stand before it.
_KEYWORDS: Final = (
    r"(?:(?:pub(?:\([^)\n]*\))?|export|default|async|static|public|private|protected|internal|abstract|final|sealed|inline"
    r"|unsafe|extern|override|virtual|constexpr|readonly|declare|open|data)[ \t]+)*"
    r"(?:(?:def|class|func|fn|fun|function\*?|const|let|var|val|type|struct|enum|union|interface|trait|object|record"
    r"|protocol|module|namespace|macro_rules!|#\s*define|typedef|sub|proc)[ \t]+)"
)

_FENCE: Final = re.compile(r"(?m)^[ \t]*(?:```|~~~)")
_OVERLOAD: Final = re.compile(r"[ \t]*@(?:\w+\.)*overload")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_HEADING_LINE: Final = re.compile(r"(?m)^#{1,6}[ \t]+([^\n]{1,200})$")
_VALUE_FOLLOWS: Final = r"(?:[ \t]*(?::[^=\n:][^=\n]{0,80})?=(?!=)|[ \t]*:(?!:)|[ \t]+[|–—-])"


def quoted_phrases(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks, in order, each once.

    >>> quoted_phrases('Who said "ship it" and “not yet”?')
    ('ship it', 'not yet')
    """
    return _inside(_QUOTED, text)


def marked_code(text: str) -> tuple[str, ...]:
    """Return what stands in backticks, in order, each once: it is named as it is written, and not quoted.

    >>> marked_code("Which module helps `Compiler`?")
    ('Compiler',)
    """
    return _inside(_MARKED, text)


def _inside(marks: re.Pattern[str], text: str) -> tuple[str, ...]:
    phrases = (next(filter(None, match.groups()), "").strip() for match in marks.finditer(text))
    return tuple(dict.fromkeys(phrase for phrase in phrases if _has_words(phrase)))[:LITERALS_MOST]


def exact_tokens(text: str, *, dates: bool = True) -> tuple[str, ...]:
    """Return the words that stand for themselves: with a digit, a flag's dashes, or joined by `.`, `_`, `/`, `::`.

    `dates` False leaves out years, dates of ISO 8601 and days like `3rd`, which say when, not what.

    >>> exact_tokens("Does --no-verify skip ERR_42 since v8.2.0? See a.b.c.")
    ('--no-verify', 'ERR_42', 'v8.2.0', 'a.b.c')
    """
    tokens = []
    for word in _WORD.findall(text):
        token = word.strip(_TRIMMED).rstrip(".'’")
        token = token.removesuffix("'s").removesuffix("’s")
        exact = any(sign.isdigit() for sign in token) or (
            _has_words(token) and (token.startswith("-") or _INNER.search(token) is not None)
        )
        if exact and (dates or _DATE.fullmatch(token) is None):
            tokens.append(token)
    return tuple(dict.fromkeys(tokens))[:LITERALS_MOST]


def is_joined_numbers(token: str) -> bool:
    """Return whether a token is numbers joined by signs, which say nothing apart: a version, an address, a date.

    >>> [is_joined_numbers(token) for token in ("v8.2.0", "10.0.3.7", "PROJ-142", "42")]
    [True, True, False, False]
    """
    return _NUMBERS.fullmatch(token) is not None


def literal_pattern(literal: str) -> re.Pattern[str]:
    """Return a pattern that finds the literal as a whole, in any case: `8.2` is neither in `8.2.1` nor in `18.2`."""
    words = r"\s+".join(map(re.escape, literal.split()))
    before = r"(?<![\w-])" if literal.startswith("-") else r"(?<![^\W_])(?<!\d[.])"
    if is_joined_numbers(literal):
        words = "v?" + words.removeprefix("v").removeprefix("V")
    return re.compile(f"{before}{words}(?![^\\W_]|[.]\\d)", re.IGNORECASE)


def match_phrases(literals: Sequence[str]) -> str:
    """Return the FTS5 expression of texts that hold any of these, as phrases of their words; `v8.2` is `8.2`, too."""
    ways = []
    for literal in literals:
        bare = literal.lower().removeprefix("v")
        ways += [bare, "v" + bare] if is_joined_numbers(literal) else [literal]
    return " OR ".join('"' + way.replace('"', '""') + '"' for way in ways)


def _has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text)


def code_names(question: str) -> tuple[str, ...]:
    """Return the words of a question that look like names of code and would pass for plain words, in order, each once.

    A word alone, a word in mixed case, with a hyphen or with `()`, and a capitalised word inside of the sentence.

    >>> code_names("Where is parseArgs called, and what is Choice or flush()?")
    ('parseArgs', 'Choice', 'flush')
    >>> code_names("echo")
    ('echo',)
    """
    words = list(_NAME.finditer(question))
    if len(words) == 1 and words[0].group() == question.strip(" \t\n?!`"):
        return (words[0].group().removesuffix("()"),)
    names = [
        word.group().removesuffix("()")
        for place, word in enumerate(words)
        if word.group().endswith("()")
        or _MIXED.search(word.group())
        or (place and word.group()[0].isupper() and len(word.group()) > 1)
    ]
    return tuple(dict.fromkeys([*marked_code(question), *names]))[:NAMES_MOST]


def parts_of_name(name: str) -> tuple[str, ...]:
    """Return a name's parts, outermost first, without the parentheses of a call.

    >>> parts_of_name("collections.ChainMap.new_child()"), parts_of_name("8.2.0")
    (('collections', 'ChainMap', 'new_child'), ('8.2.0',))
    """
    bare = _CALL.sub("", name)
    parts = tuple(part for part in _JOINTS.split(bare) if part)
    return parts if parts and all(part[0].isalpha() or part[0] in "_$" for part in parts) else (bare,)


def definition_of(name: str, *, heading: str, body: str, around: str = "") -> float:
    """Return how much a span defines what is named: `NAMED`, `DEFINED`, `DECLARED`, `STATED`, `SHOWN`, or 0.

    `heading` is the definition or the trail of headings that the span stands under, `around` words on where it
    stands, such as its path: of `cli.main`, a `main` in `cli` is meant.

    >>> definition_of("Map.get", heading="Map.get(self, key)", body="def get(self, key): ...")
    1.0
    >>> definition_of("line-length", heading="tool.ruff", body="[tool.ruff]\\nline-length = 100\\n")
    0.5
    >>> definition_of("Map.get", heading="Cache.load(self)", body="value = Map.get(key)")
    0.0
    """
    return SoughtName(name).defined_by(heading=heading, body=body, around=around)


class SoughtName:
    """A name of code that definitions are looked for of, in many spans."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts = parts_of_name(name)
        self._last = self._parts[-1]

    def defined_by(self, *, heading: str, body: str, around: str = "") -> float:
        """Return what `definition_of` does."""
        degree = self._defined_by(heading, body, around)
        return DECLARED if degree >= DEFINED and "overload" in body and self._is_declared(body) else degree

    def _is_declared(self, body: str) -> bool:
        """Whether all definitions of it in a span are overloads (`typing.overload`): what it does stands after them."""
        begun = [body[: found.start()].rstrip() for found in self._defined.finditer(body)]
        return bool(begun) and all(_OVERLOAD.fullmatch(before.rpartition("\n")[2]) for before in begun)

    def _defined_by(self, heading: str, body: str, around: str) -> float:
        parts = self._parts
        outer = _names_of(heading) if heading else []
        if any(_is_named(parts, names, around) for names in outer) or (heading and self._is_section(heading)):
            return NAMED
        has_last = self._last in body
        inside = has_last and (
            len(parts) == 1 or any(parts[-2] in names for names in outer) or _is_within(parts[:-1], around)
        )
        if inside and self._defined.search(body):
            return DEFINED
        if "#" in body and any(self._is_section(line.group(1)) for line in _HEADING_LINE.finditer(body)):
            return DEFINED
        if not has_last:
            return 0.0
        stating = [found.start() for found in (self._stated if inside else self._stated_whole).finditer(body)]
        if not stating:
            return 0.0
        fences = [fence.start() for fence in _FENCE.finditer(body)]
        # What stands after a fence that is not closed yet is shown.
        return SHOWN if all(bisect(fences, at) % 2 for at in stating) else STATED

    def _is_section(self, heading: str) -> bool:
        """Whether a section's heading names it, and little else."""
        for part in heading.rpartition(TRAIL)[2].split(" · "):
            # Of a definition its names count as they are written, and not what it takes.
            is_code = (signature := _SIGNATURE.search(part)) is not None
            part = part[: signature.end() - 1] if signature is not None else part
            match = self._literal.search(part)
            if match is None or (is_code and match.group() != self._name):
                continue
            before, after = part[: match.start()], part[match.end() :]
            if not before.endswith("_") and not after.startswith("_"):
                rest = f"{before} {after}"
                if len(_LETTERS.findall(rest)) <= _HEADING_WORDS_MOST:
                    return True
        return False

    @cached_property
    def _literal(self) -> re.Pattern[str]:
        return literal_pattern(self._name)

    @cached_property
    def _defined(self) -> re.Pattern[str]:
        return re.compile(rf"(?m)^[ \t]*{_KEYWORDS}(?:\([^)\n]*\)[ \t]*)?{re.escape(self._last)}\b")

    @cached_property
    def _stated(self) -> re.Pattern[str]:
        return _stating(self._last)

    @cached_property
    def _stated_whole(self) -> re.Pattern[str]:
        return _stating(self._name)


def _stating(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?m)^[ \t|*>\-\"'`\[]*{re.escape(name)}[\"'`\])]*{_VALUE_FOLLOWS}")


def _names_of(heading: str) -> list[tuple[str, ...]]:
    """Return the definitions that a heading names: `Map.get(key) · put(key)` are two, in one class."""
    if TRAIL in heading:
        return []
    names: list[tuple[str, ...]] = []
    for name in heading.split(" · "):
        parts = parts_of_name(_ARGUMENTS.sub("", name).strip())
        if names and len(parts) == 1:
            parts = (*names[0][:-1], *parts)
        names.append(parts)
    return names


def names_defined(heading: str) -> tuple[str, ...]:
    """Return the last parts of what a heading defines: `Map.get(key) · put(key)` defines `get` and `put`.

    >>> names_defined("Map.get(self, key) · put(self, key)"), names_defined("Guide > Install")
    (('get', 'put'), ())
    """
    return tuple(names[-1] for names in _names_of(heading) if names)


def is_mentioned(name: str, text: str) -> bool:
    """Whether a text speaks of a name of code: as code, or where no plain word is written so.

    >>> is_mentioned("echo", "Use `echo` or `click.echo()`."), is_mentioned("echo", "There is an echo in here.")
    (True, False)
    """
    quoted = re.escape(name)
    if "_" in name.strip("_") or _MIXED.search(name):
        return re.search(rf"\b{quoted}\b", text) is not None
    return (
        re.search(
            rf"`[^`\n]{{0,80}}\b{quoted}\b|\b{quoted}\(|\.{quoted}\b|::[ \t]*(?:\w+\.)*{quoted}\b", text
        )
        is not None
    )


def _is_named(parts: Sequence[str], names: Sequence[str], around: str) -> bool:
    shared = min(len(parts), len(names))
    if tuple(parts[-shared:]) != tuple(names[-shared:]):
        return False
    return len(parts) == shared or _is_within(parts[:-shared], around)


def _is_within(parts: Sequence[str], around: str) -> bool:
    """Whether the nearest part of where something stands is among the words of its place."""
    words = re.split(r"[\W_]+", parts[-1].casefold().strip("_"))
    places = set(re.split(r"[\W_]+", around.casefold()))
    return all(word in places for word in words)
