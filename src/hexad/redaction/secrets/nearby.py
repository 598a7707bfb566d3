"""A password near its name, whatever the grammar: the word of a clause that no sentence would have.

"Passwort für Benutzer tomasz auf harvest060 geändert", "Dodano użytkownika z hasłem GraniteTiger91!": there is no sign
and no verb that a rule could know in fifty languages. What is known is the word for a password, and how much a word
behind it looks chosen or drawn. The less it does, the closer it has to stand, and the clearer has to be what links it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hexad.redaction.secrets import values
from hexad.redaction.secrets.password_words import RESULTS, TARGETS, USERS
from hexad.redaction.secrets.values import FROM_NAME, SecretSpan

_WINDOW: Final = 120
"""How far behind the word for a password its value is looked for, in characters."""
_WORDS_LIMIT: Final = 10
"""How many words may stand between them."""
# A run of ASCII or of anything else: scripts without blanks put a password right beside their letters.
_RUN: Final = r"[!-~]+|[^\s!-~]+|(?P<end>[ \t]*[\r\n]+)"
_LINE_END: Final = r"[ \t]*(?:\r?\n|\Z)"
_QUOTES: Final = "\"'`“”«»„‘’「」『』"
_SENTENCE_ENDS: Final = (".", "!", "?", ";", "。", "！", "？", "।")
# What stands in code and in markup, and ends what is read as a sentence.
_CODE: Final = r"[={}<>|\\\[\]\0]|[(].*[)]|&#?\w+;|::|^[-/$%]|^[+]$|^[\"'],|^[.]\w|\w/\w"
_TERM: Final = (
    r"[A-Z]{1,8}[-_]?\d{1,4}|[a-z]{1,4}[-_]?\d{1,4}|[\w.+-]*@[\w.-]+|\d+[a-z]{0,4}|[\d.,:/+-]+[a-zA-Z]{0,3}"
    r"|[A-Za-z]+:\d+|\d[\d.,]*-\w+|[A-Z][A-Z0-9_-]*|v?\d+(?:\.\w+)+|\w+(?:[_.]\w+)*\(\d?\)|[A-Z][a-z]+(?:19|20)\d\d|\w{1,10}#\d+\w?"
    r"|FRITZ!Box\w*"  # a brand with a sign, often named beside the password of a network
)
_NO_TERM: Final = r"[A-Z0-9]{8,}"
_JOINED: Final = r"[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,})+[-_.]\d{2,}"
_WORD_AND_NUMBER: Final = r"[A-Za-z]{4,}\d{2,6}"
_NAME_OF_CODE: Final = (
    r"(?:[a-z]+|[A-Z]{2,5})?(?:[A-Z]{1,3}[a-z]{2,}|My|To|Of|By|In|On|Is|Id|Db|Do|Up|No|Go|Js|Py)+"
    r"[A-Z]{0,4}[a-z]{0,2}"
)
_OTHERS: Final = USERS | TARGETS
_LEAST: Final = 2
"""The least score of a password."""


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def find_near(text: str, end: int, *, sure: bool) -> SecretSpan | None:
    """Return the password behind its word, which ends at `end`; None where nothing stands out.

    `sure` says that the word means nothing else.
    """
    words, before, quoted, below = 0, "", False, False
    for run in _compiled(_RUN).finditer(text, end, end + _WINDOW):
        written = run[0]
        if run["end"] and not below and before.endswith((":", "：")):
            below = True  # a label, and its value on the next line
            continue
        if run["end"] or _compiled(_CODE).search(written):
            return None
        start = run.start() + len(written) - len(written.lstrip(_QUOTES + ":("))
        value = text[start : run.end()].rstrip(_QUOTES + ".,:;)")
        quoted = quoted or start > run.start()
        if written.isascii() and before.lower().rstrip(":") not in _OTHERS:
            score = _strength(value) + _closeness(words, before, quoted) + sure - 1
            alone = not below or _compiled(_LINE_END).match(text, run.end()) is not None
            if score >= _LEAST and _strength(value) > 0 and alone:
                return SecretSpan("password", start, start + len(value), FROM_NAME)
        if written.endswith(_SENTENCE_ENDS):
            return None
        if any(char.isalnum() for char in written):
            apart = text[run.start() - 1].isspace()
            words += apart if written < "\u2e80" else 1 + len(written) // 4
            before, quoted = written.strip(_QUOTES) if apart else before + written, False
        else:
            before, quoted = f"{before} {written}", written[-1] in _QUOTES
        if words > _WORDS_LIMIT:
            return None
    return None


def _closeness(words: int, before: str, quoted: bool) -> int:
    """Return what the place of a value says: nothing between, a sign, quotes; every second word between takes one."""
    sign = before.endswith((":", "=", "→", "：", "->"))
    link = before.lower() in RESULTS
    return (2 if words == 0 else 0) + (2 if sign else 0) + quoted + link - words // 2


def _strength(value: str) -> int:
    """Return how much a value looks like a password and unlike any word or term: 0 for no password, to 5."""
    if not 5 <= len(value) <= 64 or (
        _compiled(_TERM).fullmatch(value) and not _compiled(_NO_TERM).fullmatch(value)
    ):
        return 0
    if values.is_placeholder(value) or values.is_path(value) or values.is_date_or_version(value):
        return 0
    if values.is_dotted_name(value) or values.is_wordy(value) or not any(map(str.isalpha, value)):
        return 0
    if values.has_digit(value):
        if values.is_hex(value):
            return 1  # a commit or a digest, unless it stands where only a password does
        if values.has_sign(value) or values.looks_random(value, min_chars=8):
            return 5
        if values.is_joined_password(value, lower_too=True) or _compiled(_JOINED).fullmatch(value):
            return 4
        return 1 if _compiled(_WORD_AND_NUMBER).fullmatch(value) else 0
    return 3 if is_scrambled(value) and _compiled(_NAME_OF_CODE).fullmatch(value) is None else 0


def is_scrambled(value: str) -> bool:
    """Tell whether `value` is letters whose cases are mixed as in no word."""
    return value.isalpha() and values.looks_random(value, min_chars=8)
