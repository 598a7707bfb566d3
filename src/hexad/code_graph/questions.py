"""Questions about code in plain words: which of the graph's questions it is, and about what."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from hexad.code_graph.values import CodeQuestion
from hexad.core.lazy import lazy_pattern

_X: Final = r"(?P<x>.+?)"
_SHOW: Final = r"(?:show me |list |find |what are |what is )?(?:the |all )?"
_CHANGE: Final = r"(?:chang|edit|remov|renam|delet|touch)(?:es|ed|ing|e|s)?"
_SENTENCES: Final = (
    (
        CodeQuestion.PATH,
        rf"(?:how does|how do|does) {_X} (?:reach|get to|depend on|lead to|come to use) (?P<y>.+?)",
    ),
    (CodeQuestion.PATH, rf"{_SHOW}path from {_X} to (?P<y>.+?)"),
    (CodeQuestion.CALLERS, rf"(?:who|what|which \w+) (?:\w+ )?calls? {_X}"),
    (CodeQuestion.CALLERS, rf"{_SHOW}callers of {_X}"),
    (CodeQuestion.CALLERS, rf"where is {_X} called"),
    (CodeQuestion.CALLEES, rf"what does {_X} call"),
    (CodeQuestion.CALLEES, rf"{_SHOW}(?:callees of|calls of|calls in) {_X}"),
    (
        CodeQuestion.SUBCLASSES,
        rf"{_SHOW}(?:subclasses|subtypes|implementations|implementers|implementors) of {_X}",
    ),
    (
        CodeQuestion.SUBCLASSES,
        rf"(?:who|what|which \w+) (?:extends?|implements?|subclass(?:es)?|inherits? from|derives? from) {_X}",
    ),
    (
        CodeQuestion.IMPACT,
        r"what (?:\w+ )?(?:breaks|is affected|is touched|changes|happens|fails) (?:if|when|by)"
        rf" (?:i |we |you |someone |somebody |one )?{_CHANGE} {_X}",
    ),
    (
        CodeQuestion.IMPACT,
        rf"what (?:would|might|could|will|can) (?:break|be affected) (?:if|when) (?:i |we |you )?{_CHANGE} {_X}",
    ),
    (CodeQuestion.IMPACT, rf"{_SHOW}impact of (?:changing |a change (?:of|in|to) )?{_X}"),
    (CodeQuestion.IMPACT, rf"(?:which |what )?tests (?:cover|are there for|test|exercise|for|of) {_X}"),
    (
        CodeQuestion.DEPENDENTS,
        rf"(?:who|what|which [\w ]+?) (?:imports?|uses?|depends? on|requires?|needs?|relies on|rely on) {_X}",
    ),
    (
        CodeQuestion.DEPENDENTS,
        rf"{_SHOW}(?:(?:dependents|importers|users|usages|uses) of|references to) {_X}",
    ),
    (
        CodeQuestion.DEPENDENTS,
        r"(?:show me |list |find )?(?:all |every |the )?(?:everything|anything|files?|modules?|code|what|who)"
        rf" (?:that |which )?(?:imports?|uses?|depends? on|requires?|needs?|relies on|rely on) {_X}",
    ),
    (CodeQuestion.DEPENDENTS, rf"where is {_X} (?:used|imported|referenced)"),
    (
        CodeQuestion.DEPENDENTS,
        rf"(?:is|are) {_X} (?:still )?(?:used|imported|referenced)(?: (?:any|some)where)?",
    ),
    (
        CodeQuestion.DEPENDENTS,
        rf"(?:is|are) there (?:anything|anybody|anyone|code|files?) (?:that )?(?:using|uses?|importing|imports?) {_X}",
    ),
    (
        CodeQuestion.DEPENDENTS,
        rf"(?:is|does) any(?:thing|body|one) (?:still )?(?:using|use|importing|import) {_X}",
    ),
    (CodeQuestion.DEPENDENTS, rf"{_SHOW}{_X}(?:'s)? dependents"),
    (
        CodeQuestion.DEPENDENCIES,
        rf"(?:what|which)(?: \w+)? does {_X} (?:imports?|depend on|use|need|require|rely on)",
    ),
    (CodeQuestion.DEPENDENCIES, rf"{_SHOW}(?:dependencies|imports) of {_X}"),
    (CodeQuestion.DEPENDENCIES, rf"{_SHOW}{_X}(?:'s)? (?:dependencies|imports)"),
    (CodeQuestion.DEFINITION, rf"where is {_X} (?:defined|implemented|declared)"),
    (CodeQuestion.DEFINITION, rf"{_SHOW}definition of {_X}"),
    (CodeQuestion.DEFINITION, rf"where (?:do we|do i|does it) define {_X}"),
)
_PATTERNS: Final = tuple(
    (question, lazy_pattern(rf"{pattern} ?[?.!]*", re.IGNORECASE)) for question, pattern in _SENTENCES
)
_WHAT_IT_IS: Final = lazy_pattern(
    r"\s+(?P<kind>module|package|file|folder|directory|function|class|method|symbol|library|constant|code)s?$",
    re.IGNORECASE,
)
_FILE_QUESTIONS: Final = frozenset({CodeQuestion.DEPENDENCIES, CodeQuestion.DEPENDENTS})
_ARTICLE: Final = lazy_pattern(r"^(?:the|a|an|our|this|my)\s+", re.IGNORECASE)
_FILES: Final = frozenset({"module", "package", "file", "folder", "directory"})
_SYMBOLS: Final = frozenset({"function", "class", "method", "symbol", "constant"})
_WORDS_MOST: Final = 4
_NAMES_MOST: Final = 4
_LIKE_CODE: Final = lazy_pattern(
    r"`([^`\s]{2,120})`"
    r"|(?<![\w./])((?:[A-Za-z_][\w-]*[./:]+)+[A-Za-z_]\w*(?:\(\))?)"  # a.b, a/b.py, a::b
    r"|\b([A-Za-z]\w*_\w+|_\w+|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[a-z]+[A-Z]\w*)\b"  # snake_case, CamelCase
    r"|\b([A-Za-z_]\w*)\(\)"
)


class AskedOfCode(NamedTuple):
    """What a question asks of the graph. `kind` is `files` or `symbols` where it says which are meant, else empty."""

    question: CodeQuestion
    target: str
    to: str = ""
    kind: str = ""
    tests: bool = False


def asked_of_code(text: str) -> AskedOfCode | None:
    """Return what a question asks of the code graph, None where it does not read like one.

    >>> asked_of_code("What imports the auth module?")
    AskedOfCode(question=<CodeQuestion.DEPENDENTS: 'dependents'>, target='auth', to='', kind='files', tests=False)
    >>> asked_of_code("show me auth dependencies")[1::2], asked_of_code("How are you?")
    (('auth', 'files'), None)
    """
    line = " ".join(text.split())
    for question, pattern in _PATTERNS:
        match = pattern.fullmatch(line)
        if match is None:
            continue
        groups = match.groupdict()
        target, kind = _name(groups["x"])
        to = _name(groups["y"])[0] if groups.get("y") else ""
        if not kind and question in _FILE_QUESTIONS and target.isalpha() and target.islower():
            kind = "files"  # "auth dependencies": a file of that name is meant before a member of a class
        if target and len(target.split()) <= _WORDS_MOST:
            return AskedOfCode(
                question, target, to, kind, "test" in line.lower().partition(target.lower())[0]
            )
    return None


def _name(words: str) -> tuple[str, str]:
    """Return a name without what is said around it, and of which kind it is said to be."""
    name = _ARTICLE.sub("", words.strip())
    kind = ""
    if (said := _WHAT_IT_IS.search(name)) is not None:
        name = name[: said.start()]
        word = said["kind"].lower()
        kind = "files" if word in _FILES else "symbols" if word in _SYMBOLS else ""
    for word in ("class", "function", "method", "module", "file", "package"):
        if name.lower().startswith(word + " "):
            name = name[len(word) + 1 :]
            kind = "files" if word in _FILES else "symbols"
    return name.strip().strip("`'\""), kind


def names_like_code(text: str) -> list[str]:
    """Return the words of a text that are spelled as code is, in their order.

    >>> names_like_code("Why does `total` call Cart.weigh and open_cart(), not NewCart?")
    ['total', 'Cart.weigh', 'open_cart', 'NewCart']
    """
    names = [next(filter(None, match)).removesuffix("()") for match in _LIKE_CODE.findall(text)]
    return list(dict.fromkeys(names))[:_NAMES_MOST]
