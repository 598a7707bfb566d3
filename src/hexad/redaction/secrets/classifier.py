"""Whether a value beside a telling name is the secret, by what the name announces and how the value is written."""

from __future__ import annotations

import re
from enum import Enum

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.names import NameClass
from hexad.redaction.secrets.randomness import random_score
from hexad.redaction.secrets.readings import is_written_text
from hexad.text.search_terms import STOP_WORDS


class Style(Enum):
    """How a value is written, from the clearest to the most doubtful."""

    QUOTED = "quoted"  # x = "…", {"x": "…"}, <x>…</x>
    LABEL = "label"  # x: … where a clause ends with it, x=… at the margin; no code
    SHELL = "shell"  # X=… with a name in capitals, --x=…
    FLAG = "flag"  # --x …
    LINE = "line"  # x: … or x = … alone on its line
    ARGUMENT = "argument"  # f("x", "…"), x("…")
    PROSE = "prose"  # the password is …
    LOOSE = "loose"  # anything else without quotes, code included


# How the base 64 of public keys begins: SubjectPublicKeyInfo and OpenSSH.
_PUBLIC_KEYS = (
    "MFkwEwYH",
    "MCowBQYD",
    "MIIBIjAN",
    "MIGfMA0G",
    "MIICIjAN",
    "AAAAB3Nza",
    "AAAAC3Nza",
    "AAAAE2Vj",
)
_NAMED_ENDS = ("Key", "Token", "Secret", "Password")
_SNAKE_CASE = lazy_pattern(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_ENV_KEY = lazy_pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY")
# Two words, or one long one, and a number: what people choose and few programmers call a variable.
_WORDS_AND_DIGITS = lazy_pattern(r"(?=.{8,})[A-Za-z][a-z]{2,}(?:[A-Z][a-z]{2,})?\d{2,4}")
_CONSTANT = lazy_pattern(r"[A-Z]{2,}(?:_[A-Z0-9]+)+|_?[A-Z]{2,12}")
_EXPRESSION = lazy_pattern(
    r"[A-Za-z_][\w.]*[(\[]|^\$|\$[{(]|\]\.|\)\.|[\w)]->|=>|^[({\[]|^[-+*/&|!<>=]+$|^[*&!]\w[\w.]*$|\.\.\.",
    re.ASCII,
)
_NUMBERED_WORD = lazy_pattern(
    r"(?:u?int|float|utf|base|sha|md|str|bytes|vec|array|rs|hs|es|ps|aes|rsa|oauth|http|python|py|arg|param|val|value"
    r"|key|token|user|test|var|tmp|foo|bar|part|node|item|data|field|group|line|step|[a-z])_?\d{1,4}(?:_\w+)?"
    r"|(?:pass|password|passwd|pwd|pw|secret|credential|key|token)s?_?\d{0,2}",
    re.IGNORECASE,
)
_LENGTH_RULE = lazy_pattern(r"(?i)^(?:must|min|max|at|between)[-_].*(?:char|digit|letter|symbol)")
_LONG_NUMBER = lazy_pattern(r"(?<!\d)\d{4,6}(?!\d)")
_SENTENCE = frozenset(
    """
    a an and are be can cannot could does for from has have if in is it its key may must not of on or
    password please protect should that the this to used use uses was which will with you your
    """.split()
)
_ANNOUNCED = lazy_pattern(
    r"(?i)pass(?:word|wd|phrase|code|wort)|kennwort|wachtwoord|contrase|senha|\bp(?:wd?|sw)\b"
)
_JOINT = lazy_pattern(r"[-_.]")
_ISSUED = lazy_pattern(r"sk[-_]")
"""How secret keys of many providers begin: behind a name for a key it counts, whatever follows was typed or drawn."""
_PLAIN_WORDS = lazy_pattern(r"(?:[A-Za-z]{2,16}|v?\d{1,4})(?:[-_./:](?:[A-Za-z]{1,16}|[a-z]{0,3}\d{1,4}))*")


def accepts(kind: NameClass, value: str, *, style: Style, name: str) -> bool:
    """Tell whether `value`, assigned to `name` and written in `style`, is to be taken for a secret."""
    if len(value) < 3 or values.is_placeholder(value) or value.lower() in name.lower():
        return False
    if kind is not NameClass.PASSWORD and values.is_typed_row(value) and not _ISSUED.match(value):
        return False
    if style is not Style.QUOTED and _is_code(value, style):
        return False
    if style is Style.LABEL and kind is not NameClass.WEAK and _is_word_secret(value):
        return True
    if kind in (NameClass.PASSWORD, NameClass.SECRET):
        return _accepts_password(value, kind, style, name)
    if kind is NameClass.WEAK:
        return _accepts_weak(value, style, name)
    return _accepts_token(value, style)


def _is_code(value: str, style: Style) -> bool:
    """Tell whether an unquoted value is an expression or a constant's name rather than a literal."""
    if style is Style.ARGUMENT:
        return _SNAKE_CASE.fullmatch(value) is not None
    return (
        _CONSTANT.fullmatch(value) is not None
        or (style is not Style.SHELL and _EXPRESSION.search(value) is not None)
        or (style is Style.SHELL and value.startswith(("$", "(", "`")))
        or values.is_dotted_name(value)
    )


def _accepts_password(value: str, kind: NameClass, style: Style, name: str) -> bool:
    if style is Style.QUOTED and _is_passphrase(value):
        return True
    if kind is NameClass.PASSWORD and _ANNOUNCED.search(name) and _is_word_password(value, style):
        return True
    plain = kind is NameClass.PASSWORD and style not in (Style.LOOSE, Style.PROSE, Style.ARGUMENT)
    if values.is_joined_password(value, lower_too=plain) or (plain and values.ends_in_number(value)):
        return True
    if _LENGTH_RULE.search(value):
        return False
    if values.is_path(value) or values.has_space(value):
        return False
    if style is Style.SHELL:
        return not (value.isdigit() and len(value) < 4) and not _is_joined_words(value)
    if style in (Style.QUOTED, Style.FLAG):
        return values.looks_chosen(value) or _is_machine_made(value, style)
    if _NUMBERED_WORD.fullmatch(value):
        return False
    if style in (Style.LINE, Style.LABEL):
        least = 5 if kind is NameClass.PASSWORD else 8
        return values.looks_chosen(value, min_chars=least) and not _is_plain_words(value)
    strong = (values.looks_random(value, min_chars=8) and values.has_digit(value)) or (
        values.has_sign(value)
        and values.has_digit(value)
        and len(value) >= 7
        and any(map(str.isalpha, value))
    )
    if style is Style.LOOSE and _WORDS_AND_DIGITS.fullmatch(value):
        return kind is NameClass.PASSWORD
    if style is Style.PROSE:
        return strong or (
            kind is NameClass.PASSWORD
            and values.has_digit(value)
            and "|" not in value
            and values.looks_chosen(value)
            and value[-1:].isalnum()
            and not _is_plain_words(value)
        )
    if style is Style.ARGUMENT and values.looks_chosen(value, min_chars=8) and not _is_plain_words(value):
        return values.has_digit(value)
    return strong


def _is_word_password(value: str, style: Style) -> bool:
    """Tell whether `value` is a password made of words alone, as its place says and nothing in it denies.

    Three words joined by `-` or `.` are one wherever a value may stand. A label or quotes make one of two words, or of
    a single one, where none of them belongs to sentences about passwords ("required", "reset", "the").
    """
    words = _JOINT.split(value.lower())
    if not all(word.isalpha() or word.isdigit() for word in words) or not any(map(str.isalpha, words)):
        return False
    if len(words) >= 3:
        stop = sum(word in STOP_WORDS for word in words)
        wordy = sum(values.is_wordy(word) for word in words)
        snake = "_" in value and style is not Style.LABEL
        return not snake and stop + wordy <= 1 and not (stop and style is Style.PROSE)
    if len(value) < 5 or not value[1:].islower() or any(map(_says_something, words)):
        return False
    return style is Style.LABEL or (style is Style.QUOTED and value.islower())


def _is_word_secret(value: str) -> bool:
    """Tell whether `value`, labelled as a secret, a token or a key, is three words or more that say nothing of one."""
    words = value.split("-")
    plain = all(word.isalpha() and word.islower() and len(word) >= 3 for word in words)
    return len(words) >= 3 and plain and says_nothing(words)


def is_word_value(value: str) -> bool:
    """Tell whether `value` is one to three words between blanks, none of which belongs to sentences about secrets.

    >>> is_word_value("blue monkey"), is_word_value("not set"), is_word_value("stored in Bitwarden")
    (True, False, False)
    """
    words = value.lower().split(" ")
    return len(words) <= 3 and says_nothing(words) and not values.is_placeholder(value)


def says_nothing(words: list[str]) -> bool:
    """Tell whether none of `words` is about a secret; beside another word, one may say of what kind that is."""
    telling = [word for word in words if _says_something(word)]
    return not telling or (len(words) > 1 and len(telling) == 1 and telling[0] in _KINDS)


def _says_something(word: str) -> bool:
    return word in STOP_WORDS or values.describes_secret(word)


_KINDS = frozenset("bad correct long old plain raw short strong super weak wrong".split())


def _accepts_token(value: str, style: Style) -> bool:
    if values.is_path(value) or values.has_space(value) or values.is_date_or_version(value):
        return False
    if style is not Style.ARGUMENT and values.is_joined_password(value, lower_too=False):
        return _LONG_NUMBER.search(value) is not None
    if style is Style.SHELL:
        if _is_plain_words(value) and not value.isalnum():
            return False
        if values.is_wordy(value) and not values.has_digit(value):
            return False
        return len(value) >= 6 and (values.has_digit(value) or len(value) >= 20) and not _is_named(value)
    if values.is_wordy(value) or (style is Style.ARGUMENT and value.endswith(_NAMED_ENDS)):
        return False
    if style is Style.PROSE and values.has_digit(value) and not value.islower() and not value.isupper():
        return values.looks_random(value, min_chars=12)
    if style in (Style.PROSE, Style.LOOSE):
        return values.looks_random(value, min_chars=16) or _is_machine_made(value, style)
    return values.looks_random(value, min_chars=10) or _is_machine_made(value, style)


def _is_named(value: str) -> bool:
    """Tell whether `value` is words and numbers that nobody drew: `lsv2_pt_short`."""
    letters = "".join(filter(str.isalnum, value))
    drawn = values.is_hex(letters.lower()) or random_score(letters) >= 0
    return len(letters) >= 10 and letters.isascii() and not value.isalnum() and not drawn


def _accepts_weak(value: str, style: Style, name: str) -> bool:
    if value.startswith(_PUBLIC_KEYS) or values.is_uuid(value) or not values.has_digit(value):
        return False
    if values.is_path(value) or values.is_date_or_version(value) or values.is_dotted_name(value):
        return False
    if values.is_hex(value):
        # A bare `key` beside hexadecimal is a cache key or a digest; `SERVICE_KEY` and "the key is" are not.
        is_sure = style is Style.PROSE or (_ENV_KEY.fullmatch(name) is not None and style is not Style.LOOSE)
        return is_sure and len(value) >= 24 and not value.isdigit()
    return values.looks_random(value, min_chars=24) and not is_written_text(value)


def _is_machine_made(value: str, style: Style) -> bool:
    """Tell whether `value` is hexadecimal, a UUID, a very long number, or letters that are no words."""
    if values.is_uuid(value):
        return True
    if value.isdigit():
        return len(value) >= 20 and style is Style.QUOTED
    if values.is_hex(value):
        return len(value) >= 16 and values.has_digit(value)
    return len(value) >= (16 if style is Style.QUOTED else 24) and value.isalpha() and values.looks_odd(value)


def _is_plain_words(value: str) -> bool:
    """Tell whether `value` is names and small numbers joined by `-`, `_`, `.`, `/` or `:`."""
    return _PLAIN_WORDS.fullmatch(value) is not None and not values.looks_random(value, min_chars=16)


def _is_joined_words(value: str) -> bool:
    """Tell whether `value` describes itself, as `my_secret` or `db-password` do; `supersecret` is a bad password."""
    return values.is_wordy(value) and (not value.isalnum() or value.lower().startswith(("my", "your")))


def is_phrase(value: str) -> bool:
    """Tell whether `value`, in quotes or alone behind the word passphrase, is one and no sentence about it."""
    if values.is_placeholder(value) or (
        values.has_space(value) and not _SENTENCE.isdisjoint(value.lower().split())
    ):
        return False
    if _is_passphrase(value.lower()) or values.is_joined_password(value, lower_too=True):
        return True
    words = value.split()
    if len(words) == 1:
        return values.looks_chosen(value)
    return 3 <= len(words) <= 10 and values.has_digit(value) and ":" not in value


def _is_passphrase(value: str) -> bool:
    """Tell whether `value` is four to eight lower-case words that no label or message would put together."""
    words = value.split(" ")
    plain = all(word.isalpha() and word.islower() and len(word) > 2 for word in words)
    said = (
        sum(values.is_wordy(word) for word in words) <= 1 and sum(word in STOP_WORDS for word in words) <= 2
    )
    return 4 <= len(words) <= 8 and plain and said
