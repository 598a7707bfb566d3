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
from hexad.redaction.secrets.randomness import random_score
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
_CODE: Final = r"[={}<>|\\\[\]\0]|[(].*[)]|&#?\w+;|::|^[-/$%]|^[+]$|^[\"'],|^[.]\w|\w/\w|:!"
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
_NO_NAME_SCORE: Final = 9.0
"""What no name of code has, whatever its capitals."""
_WORDS_BEFORE: Final = 2
"""How many words may stand between a value and the word for a password behind it: "with X as password"."""
_LEAST_BEFORE: Final = 7
"""The fewest characters of a value in front of its word."""
_BROKEN: Final = r"[\"'`/]|[+-]$"
_LIKE_ONE: Final = 4
"""The strength of what is like a password wherever it stands."""
_ANSWER: Final = (
    r"(?i:[ \t]*(?:\?[ \t]*(?:\r?\n[ \t]*)?(?:A(?:nswer)?:[ ])?(?:it(?:'s|[ ]is)[ ](?:now[ ])?)?|\r?\n[ \t]*)"
    r"(?P<value>[!-~]{6,64})(?=[ \t]*(?:\r?\n|\Z)))"
)
"""What stands behind a question for a password, or alone on the line below a line that is its name."""
_NAME_LINE: Final = r"(?:\A|[\r\n])[ \t>*#-]{0,8}(?:[A-Za-z'-]{1,20}[ ]){0,3}\Z"
_LEAST: Final = 2
"""The least score of a password."""


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def find_answer(text: str, at: int, end: int) -> SecretSpan | None:
    """Return the password that answers a question for it, or stands alone below its name; the word is `at` to `end`."""
    match = _compiled(_ANSWER).match(text, end)
    if match is None:
        return None
    value = match["value"].rstrip(".,;")
    start = match.start("value")
    asked = "?" in text[end:start]
    if not asked and _compiled(_NAME_LINE).search(text, max(0, at - 70), at) is None:
        return None
    if not looks_like_password(value) or _is_code(value):
        return None
    return SecretSpan("password", start, start + len(value), FROM_NAME)


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
        if run["end"] or _is_code(written):
            return None
        start = run.start() + len(written) - len(written.lstrip(_QUOTES + ":("))
        value = text[start : run.end()].rstrip(_QUOTES + ".,:;)")
        quoted = quoted or start > run.start()
        if written.isascii() and before.lower().rstrip(":") not in _OTHERS:
            score = _strength(value) + _closeness(words, before, quoted) + sure - 1
            if before.endswith((":", "：")) and _compiled(_LINE_END).match(text, run.end()):
                score += words // 2  # what ends a line behind a colon is what the line is about
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


def find_before(text: str, at: int) -> SecretSpan | None:
    """Return the password in front of its word, which begins at `at`: "created with X as password"; None where none is.

    It must look like one by itself; in quotes, with a word between that joins them, a word and a number will do.
    """
    start = max(0, at - _WINDOW // 2)
    runs = [*_compiled(_RUN).finditer(text, start, at)]
    words = 0
    for place in range(len(runs) - 1, -1, -1):
        run, written = runs[place], runs[place][0]
        if run["end"] or _is_code(written) or (run.start() == start > 0):
            return None
        lead = len(written) - len(written.lstrip(_QUOTES + ":("))
        value = written.strip(_QUOTES + ".,:;()")
        plain = written.isascii() and len(value) >= _LEAST_BEFORE and _compiled(_BROKEN).search(value) is None
        strength = _strength(value) if plain else 0
        if strength:
            quoted = lead > 0 and not written[-1].isalnum()
            before = runs[place - 1][0].strip(_QUOTES + ":").lower() if place else ""
            # Where a script runs from right to left, a label stands behind its value.
            labelled = text[at] >= "\u0590" and not words and text[run.end() : at].strip(" ") in (":", "")
            least = 1 if (quoted and words) or labelled else 3
            if strength < least or before in _OTHERS:
                return None
            return SecretSpan("password", run.start() + lead, run.start() + lead + len(value), FROM_NAME)
        if words and written.endswith((*_SENTENCE_ENDS, ",", ":")):
            return None
        words += any(char.isalnum() for char in written)
        if words > _WORDS_BEFORE:
            return None
    return None


def _is_code(written: str) -> bool:
    return _compiled(_CODE).search(written) is not None and not values.is_padded(
        written.strip(_QUOTES + ".,:;()")
    )


def looks_like_password(value: str) -> bool:
    """Tell whether `value` is like a password by itself, as no word and no term is."""
    return _strength(value) >= _LIKE_ONE


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
        if values.has_sign(value) or values.looks_random(value, min_chars=8) or values.is_scrambled(value):
            return 5
        if values.is_joined_password(value, lower_too=True) or _compiled(_JOINED).fullmatch(value):
            return 4
        return 1 if _compiled(_WORD_AND_NUMBER).fullmatch(value) else 0
    if not value.isalpha() or not values.is_scrambled(value):
        return 0
    return (
        3 if _compiled(_NAME_OF_CODE).fullmatch(value) is None or random_score(value) > _NO_NAME_SCORE else 0
    )
