"""Which texts have nothing that any of the rules for secrets needs: most of what people write.

A rule needs a sign, a run of characters without a blank, or a word, wherever it looks. What a text has of these is told
in a few steps, whatever there are of rules; a text that has none of it is not shown to them. Where this says more than
is there, a rule looks in vain; it must never say less, which tests hold against every rule by itself.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets.known_formats import alternatives
from hexad.redaction.secrets.names import KEYWORDS
from hexad.redaction.secrets.password_words import password_words
from hexad.redaction.secrets.readings import is_spelled

_PLAIN_SIGNS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \n.,;:!?'\"()[]/+@#$-"
"""Of the others one is in every text that can be read otherwise, in a table and in an assignment without a name."""
_RUN: Final = lazy_pattern(r"\S{12}")
"""What is in every token of a known format, every drawn one, every code, and at the end of a line that is wrapped."""
_NO_WORD: Final = lazy_pattern(r"(?<!\S)(?![(\[\"']{0,2}[A-Za-z][a-z]{0,12}[.,:;!?)\]\"']{0,3}(?!\S))\S{12}")
"""Such a run that is no word of a sentence: none of these has only 13 letters, the first alone a capital."""
_SHORT_NAMES: Final = ("psw", "cred", "code", "combination", "seed")
"""What announces a value, beside `KEYWORDS` and the words for a password."""
_LOGINS: Final = (
    "login", "log-in", "log in ", "sign-in", "sign in ", "signin", "zugangsdaten", "anmeldedaten", "identifiants",
    "inloggegevens", "kirjautumis",
)  # fmt: skip
_PHRASES: Final = ("identified", "phrase", "mnemonic", " words")
_SIGNS: Final = ("://", "jdbc:", " -u", " -p", " -a", " --", "\n-")
_PIN: Final = "pin"
"""The one word for a password that is in many others: there it announces nothing."""
_AT_PIN: Final = lazy_pattern(r"(?<![a-z0-9])pin")


@cache
def _telling() -> re.Pattern[str]:
    """Return what finds the words of which a secret's surroundings have one, none of which is in another."""
    words = {word.rstrip("~") for word in (*KEYWORDS, *password_words())}
    words = {word for word in words if word.isascii()} | {*_SHORT_NAMES, *_LOGINS, *_PHRASES, *_SIGNS}
    words.discard(_PIN)
    shortest = [word for word in words if not any(other in word for other in words - {word})]
    return re.compile(alternatives(shortest))


def announces(lowered: str) -> bool:
    """Tell whether a text in lower case may have a word that announces a secret: without one, no sentence names any."""
    if not lowered.isascii() or _telling().search(lowered) is not None:
        return True
    return _PIN in lowered and _AT_PIN.search(lowered) is not None


def is_plain(text: str, lowered: str) -> bool:
    """Tell whether no rule for secrets can find anything in a text, in any of its readings, by what it has not.

    `lowered` is `text` in lower case. False says nothing.

    >>> is_plain("We met on Friday.", "we met on friday."), is_plain("The PIN is 4711.", "the pin is 4711.")
    (True, False)
    """
    if not text.isascii() or text.encode("ascii").translate(None, _PLAIN_SIGNS) or announces(lowered):
        return False
    if _RUN.search(text) is not None and ("\n" in text or _NO_WORD.search(text) is not None):
        return False
    return not is_spelled(text)
