"""What a text says of itself, without a model: path, tags, relevance, summaries. The same on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hexad.memory.draft import Draft
from hexad.text.graphemes import cut
from hexad.text.normalize import slug
from hexad.text.paths import normalize_path
from hexad.text.search_terms import STOP_WORDS
from hexad.text.summary.code_outline import begins_with, outline
from hexad.text.summary.keywords import CONSIDERED_CHARACTERS, keywords
from hexad.text.summary.summarize import Summaries, summaries

TAGS_LIMIT: Final = 8
"""Tags found in a text at most."""
_SHORT_CHARACTERS: Final = 400
_SHORT_TAGS: Final = 5
_TAG_CHARACTERS: Final = 32
_TOPIC_WORDS: Final = 5
_FEW_WORDS: Final = 3
"""Fewer key words are no place: half of a project's modules would be `code/text`."""
_CONSIDERED: Final = 24
_UNTITLED: Final = "untitled"

_HEADING = re.compile(
    r"(?m)^[ \t]{0,3}#{1,6}[ \t]+(\S[^\n]{0,200})$|^(\S[^\n]{0,120})\n(?:={3,}|-{3,})[ \t]*$"
)
_FRONT_MATTER = re.compile(r"\A---\n(.{0,4000}?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLES: Final = (
    (re.compile(r"\A---\n"), re.compile(r"(?m)^title:[ \t]*[\"']?([^\n\"']{1,200})")),
    (re.compile(r"(?i)\A\s*<(?:!doctype|html|head)\b"), re.compile(r"(?i)<title>\s*([^<]{1,200})</title>")),
    (re.compile(r"\Adiff --git "), re.compile(r"(?m)^diff --git a/(\S{1,200})")),
    (
        re.compile(r"\ATraceback \(most recent call last\)"),
        re.compile(r"(?m)^((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Warning)\b[^\n]{0,120})"),
    ),
)
"""How texts of a form begin, and where such a text says what it is called."""
# What names nothing: placeholders of what was taken out, addresses, hashes and keys.
_NOISE = re.compile(
    r"\[REDACTED:[a-z0-9_-]+\]|https?://\S+|\b[^\s@]{1,64}@[^\s@]{1,200}|\b(?:self|this|cls)\."
    r"|\b(?:[A-Za-z_]{0,40}\d){5}\w*|\b(?=\w{0,40}\d)[0-9a-fA-F]{7,}\b|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{13,}"
)
_IMPORTS = re.compile(
    r"(?m)^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import\b(?:[ \t]*\([^)]{0,2000}\)|[^\n]*)|(?:import|package)[ \t][^\n]*"
    r"|#[ \t]*include\b[^\n]*|(?:pub[ \t]+)?use[ \t]+[\w:{}, *]+;)"
)
"""Lines that name other modules: in code, they say little of this one."""
_SYNTAX: Final = frozenset(
    """
    abstract assert async await bool break case catch char class const continue def default del
    delete dict double elif else enum except export extends false final finally float fn for foreach
    from func function global if impl implements import in include instanceof int interface is
    lambda let list loop match mut namespace new nil none not null object or override package pass
    private protected pub public raise require return self static str string struct super switch
    this throw throws trait true try tuple type typeof undefined union unsafe use using var virtual
    void while with yield
    """.split()
)
"""Words of programming languages: in code, they say nothing of what it is about."""
_DEFINED = re.compile(r"^Defines ([\w$]+)")
_DEFINES = re.compile(r"\bDefines [\w$, ]+[.…]?\s*$")
_WORD = re.compile(r"[^\W_]+(?:[._-]+[^\W_]+)*")


def local_path(draft: Draft, *, project: str, kind: str, summaries: Summaries) -> str:
    """Return where a text belongs: the caller's hint as it is, else `project/kind/topic`.

    A hint that ends in `/` is a folder: the topic stands in it. Raises `InvalidMemory` for a hint that is no path.
    """
    extract = draft.extract
    hint = extract.path_hint if extract is not None else None
    topic = extract.topic if extract is not None else None
    if hint is not None:
        place = normalize_path(hint)
        return (
            normalize_path(f"{place}/{local_topic(draft, summaries)}")
            if hint.endswith("/") or topic
            else place
        )
    return normalize_path(f"{slug(project) or _UNTITLED}/{kind}/{local_topic(draft, summaries)}")


def local_topic(draft: Draft, summaries: Summaries) -> str:
    """Return what a text is about as one part of a path: the caller's topic, a title, a heading, its key words."""
    if draft.extract is not None and draft.extract.topic:
        return slug(draft.extract.topic) or _UNTITLED
    coded = outline(draft.text) is not None
    heading = None if coded else _heading(draft.text)
    for title in (draft.title, _title(draft.text), heading):
        if title and (named := slug(" ".join(title.split()[: _TOPIC_WORDS + 1]))):
            return named
    text = _DEFINES.sub(" ", summaries.micro) if coded else summaries.micro
    defined = begins_with(draft.text) or (None if text.strip() else _DEFINED.match(summaries.micro))
    if coded and defined:
        name = defined if isinstance(defined, str) else defined[1]
        return slug(name) or _UNTITLED
    return (
        slug(" ".join(_telling(draft.text, text)))
        or slug(" ".join(text.split()[: _TOPIC_WORDS + 1]))
        or _UNTITLED
    )


def _telling(text: str, statement: str) -> list[str]:
    """Return the first words of what a text says that tell what it is about: its key words, else all with a meaning."""
    telling = {word for word, _ in keywords(_quiet(text), limit=_CONSIDERED)}
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(_quiet(statement))))
    key = [word for word in words if word in telling]
    if len(key) < _FEW_WORDS:
        key = [word for word in words if word in telling or not (word in STOP_WORDS or word.isdigit())]
    return key[:_TOPIC_WORDS]


def _quiet(text: str) -> str:
    """Return the beginning of a text, as far as key words are looked for, without what names nothing."""
    return _NOISE.sub(" ", cut(text, CONSIDERED_CHARACTERS))


def _title(text: str) -> str | None:
    begin = text[:8_000]
    for form, title in _TITLES:
        if form.match(begin) and (match := title.search(begin)):
            return match[1].replace("/", " ")
    return None


def _heading(text: str) -> str | None:
    match = _HEADING.search(_FRONT_MATTER.sub("", text[:8_000], count=1)[:4_000])
    return (match[1] or match[2]).strip("# \t") if match is not None else None


def local_tags(text: str, *, kind: str = "") -> tuple[str, ...]:
    """Return at most eight tags: the key words of a text and the names of what it defines, as sorted slugs.

    >>> local_tags("The ledger is synced by LedgerWriter. Then the ledger is sealed.")
    ('ledger', 'ledgerwriter', 'sealed', 'synced')
    """
    coded = kind == "code" or outline(text) is not None
    noise = _SYNTAX if coded else frozenset()
    limit = _SHORT_TAGS if len(text) <= _SHORT_CHARACTERS else TAGS_LIMIT
    plain = _IMPORTS.sub(" ", cut(text, CONSIDERED_CHARACTERS)) if coded else text
    ranked = (slug(word) for word, _ in keywords(_quiet(plain), limit=_CONSIDERED) if word not in noise)
    return tuple(sorted(_distinct(ranked, limit)))


def _distinct(ranked: Iterable[str], limit: int) -> list[str]:
    """Return the first tags, one of each word: `order` and `orders` are one."""
    names: dict[str, str] = {}
    for tag in ranked:
        if len(tag) < 2 or len(tag) > _TAG_CHARACTERS or tag.replace("-", "").isdigit():
            continue
        names.setdefault(tag[:-1] if tag.endswith("s") and not tag.endswith("ss") else tag, tag)
        if len(names) == limit:
            break
    return list(names.values())


def local_summaries(draft: Draft) -> Summaries:
    """Return the three summaries of a text, without the noise of what was taken out of it."""
    topic = draft.extract.topic if draft.extract is not None else None
    return summaries(draft.text, title=draft.title or topic)
