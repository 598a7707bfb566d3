"""The words, numbers and marks of a text as claims are read from them: as written, and as they are compared."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from hexad.text.claims import english

_TOKEN: Final = re.compile(
    r"(?P<word>[^\W\d_][^\W_]*(?:['’./@_+#-]+[^\W_]+)*[+#]*)|(?P<number>[$€£]?\d+(?:[.,:]\d+)*)(?P<unit>%|[a-zA-Z]{1,3}\b)?"
    r"|(?P<arrow>→|->|=>|⇒)|(?P<mark>[:=;,()\[\]?!\"“”—–|]|\s[-/]\s|\.)"
)
_WRITTEN: Final = re.compile(re.sub(r"\?P<\w+>", "?:", _TOKEN.pattern))
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ABBREVIATED: Final = re.compile(r"(?i)([a-z])[’'](s|re|m|ve|ll|d)$")


class Token(NamedTuple):
    """A word, number or mark: as it is written, in lower case, and as it is compared.

    `content` says whether it says something by itself, which is asked more often than it is made.
    """

    written: str
    low: str
    stem: str
    number: str | None = None
    unit: str = ""
    content: bool = False

    @property
    def named(self) -> bool:
        """Whether it looks like a name."""
        return self.written[0].isupper() or not self.written.isalpha()


CLOSED: Final = (
    english.AUXILIARIES
    | english.NEGATIONS
    | english.DETERMINERS
    | english.PREPOSITIONS
    | english.PRONOUNS
    | english.CONJUNCTIONS
    | english.ADVERBS
    | {"to", "s", "t"}
)


_ENDINGS: Final = {"s": (("ies", "y"), ("es", ""), ("s", "")), "g": (("ing", ""),), "d": (("ed", ""),)}
"""What is taken off a word and what comes in its place, by the last letter."""


def stem(word: str) -> str:
    """Return a word without its plural and simple endings.

    >>> [stem(word) for word in ("lives", "living", "databases", "policies", "moved")]
    ['liv', 'liv', 'databas', 'policy', 'mov']
    """
    if len(word) < 4 or not (word.isalpha() or word.replace("-", "").isalpha()):
        return word
    word = word.replace("our", "or").replace("ise", "ize").removeprefix("re-")
    for ending, instead in _ENDINGS.get(word[-1], ()):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and not word.endswith("ss"):
            word = base + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if len(word) > 2 and word.endswith("e") else word


def _ready() -> dict[str, Token]:
    """Return the small words that say nothing by themselves as tokens, as they are written within and at the beginning
    of a sentence: every other word of a text is one of them.
    """
    ready: dict[str, Token] = {}
    for low in CLOSED - english.NUMBERS:
        if low.isascii() and low.isalpha():
            for written in (low, low.capitalize()):
                ready[written] = Token(written, low, stem(low))
    ready = {written: token for written, token in ready.items() if written not in LETTERS}
    return ready | {mark: Token(mark, mark, mark) for mark in ':=;,()[]?!"“”—–|.→-/'}


LETTERS: Final = frozenset({"A", "May"})
"""What may be the name of something, of a team or a month, where it does not begin a text."""
_READY: Final = _ready()


def written_in(text: str) -> list[str]:
    """Return the words, numbers and marks of a text as they are written.

    Each is by itself what it is in the text, but for the words of `LETTERS`, which are others where they begin it.
    """
    return _WRITTEN.findall(text)


def token_of_letter(word: str) -> Token:
    """Return one of `LETTERS` as it is within a text: team A, the month."""
    low = f"{word.lower()}."
    return Token(word, low, stem(low), content=low not in CLOSED)


def tokens_of(text: str, known: dict[str, Token] | None = None) -> list[Token]:
    """Return the words, numbers and marks of a text; `known` are words of other texts, to which its own are added."""
    tokens: list[Token] = []
    ready, append, new = _READY.get, tokens.append, tuple.__new__  # a third of the time of calling the class
    known = {} if known is None else known
    for word, number, unit, arrow, mark in _TOKEN.findall(text):
        if word:
            token = ready(word) or known.get(word)
            if token is not None:
                append(token)
                continue
            written, word = word, word.replace("’", "'")
            low = word.lower()
            short = _ABBREVIATED.search(word) if "'" in word else None
            if short is not None:
                base, tail = word[: short.start(2) - 1], "'" + short[2].lower()
                base_low = base.lower()
                base_stem = base_low if low in CLOSED else stem(base_low)
                append(new(Token, (base, base_low, base_stem, None, "", base_low not in CLOSED)))
                append(Token(tail, tail, tail))
            elif low in english.NUMBERS:
                append(Token(word, low, low, number=low, content=True))
            else:
                low += "." if tokens and word in LETTERS else ""  # team A, the month
                append(new(Token, (word, low, stem(low), None, "", low not in CLOSED)))
                if word not in LETTERS:
                    known[written] = tokens[-1]
        elif number:
            plain = number.lstrip("$€£")
            plain = plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain
            unit = (unit or ("" if number[0].isdigit() else number[0])).lower()
            append(Token(number, plain, plain, number=plain, unit=unit, content=True))
        else:
            mark = "→" if arrow else mark.strip() or "-"
            append(ready(mark) or Token(mark, mark, mark))
    return tokens


MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)
PARTS_OF_DAY: Final = frozenset("day morning afternoon evening night weekend".split())
"""What is said of something that recurs as well: "in the morning"."""
POINTING: Final = frozenset({"last", "this"})
"""What makes one day of a word of the calendar: "last week"."""
CALENDAR: Final = (
    (MONTHS - {"may"})  # a verb, unless it is written as a month
    | PARTS_OF_DAY
    | frozenset(
        """
        monday tuesday wednesday thursday friday saturday sunday may. q1 q2 q3 q4 week month year today yesterday
        spring summer autumn winter quarter sprint last next
        """.split()
    )
)


def is_day(word: Token) -> bool:
    """Whether a word is of the calendar.

    >>> is_day(tokens_of("Mondays")[0])
    True
    """
    return word.low in CALENDAR or word.low.removesuffix("s") in CALENDAR
