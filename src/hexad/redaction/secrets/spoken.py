"""Secrets in sentences: "the password of the admin account is …", "login: admin / …", "das Passwort lautet …".

A word for a secret, in any of some thirty languages, what it is for, a word or a sign that says what it is, and one
value. The value is judged by what stands around it: the clearer a sentence names it, the less it must look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets import values
from hexad.redaction.secrets.classifier import says_nothing
from hexad.redaction.secrets.nearby import find_answer, find_before, find_near, looks_like_password
from hexad.redaction.secrets.password_words import USERS, anchors, password_words
from hexad.redaction.secrets.values import FROM_NAME, SecretSpan, describes_secret
from hexad.text.search_terms import STOP_WORDS

_AMBIGUOUS: Final = frozenset("clave parola parole geslo sandi пароля κωδικός 암호 口令".split())
"""These mean a key, a word or a slogan as well: a plain word behind them is no password."""
_KEYS: Final = (
    r"(?:client|webhook|signing|shared|app|consumer|session|api|cookie|jwt)[ _-]secret|secret[ _-](?:access[ _-])?key"
    r"|(?:api|access|auth|bearer|refresh|session|deploy|personal access|app)[ _-](?:token|key)"
    r"|(?:encryption|decryption|master|root|admin|license|licence|activation|unseal|wi-?fi|wlan|network)[ _-]key"
    r"|(?:recovery|backup|unlock|access|pairing|door|alarm|gate|entry|2fa|otp)[ _-](?:code|key)s?"
    r"|(?:otp|totp|hotp|2fa|mfa)[ _-]seed"
    r"|(?:safe|vault|lock|locker|padlock)[ _-](?:code|combination)"
    r"|(?P<pass>(?:admin|root|sudo|db|database|user|account|login|e-?mail|mail|ftp|ssh|smtp|wi-?fi|wlan)[ _-]pass)"
)
_KEY_BEGINNINGS: Final = frozenset(
    """
    access account activation admin alarm api app auth backup bearer client consumer cookie database db decryption
    deploy door email encryption entry fi ftp gate hotp jwt licence license lock locker login mail master mfa
    network otp padlock pairing personal 2fa recovery refresh root safe secret session shared signing smtp ssh sudo
    totp unlock unseal user vault webhook wifi wlan
    """.split()
)
_SAID_IN_WORDS: Final = (
    "secret",
    "encryption key",
    "master key",
    "wifi key",
    "wi-fi key",
    "wlan key",
    "network key",
    "pass",
)
"""Keys that people choose as they choose a password."""
_LOGINS: Final = (
    r"(?:log-?in|sign-?in|credentials?|creds|zugangsdaten|anmeldedaten|identifiants|credenciales|credenciais"
    r"|credenziali|inloggegevens|kirjautumistiedot|dane logowania|доступ|логин|帳號|账号|アカウント)"
)
_OF: Final = (
    r"of|for|to|on|in|at|from|de|du|des|della|del|dello|da|do|für|fuer|zum|zur|vom|von|der|para|pour|per|voor|van|till"
    r"|för|til|dla|k|ke|от|для|к|за|на|untuk|cho|için"
)
_ARE: Final = (
    r"is|was|are|will be|ended up being|ist|lautet|war|heißt|heißt jetzt|c'est|est|était|es|era"
    r"|é|è|luidt|är|er|on|to|jest|brzmi"
    r"|je|este|это|είναι"
    r"|adalah|là"
)
_NOT_YET: Final = (
    "expire rotate match work something anything null reset follow comply differ change null zero hash "
    "stdin file prompt path value string text input bluetooth numeric "
    "alphanumeric obligatoire obligatorio obligatoria requis requise requerido requerida erforderlich "
    "notwendig verplicht "
    "obbligatoria wymagane povinné zorunlu обязательно обязателен"
    " 必填 必須 abgelaufen expiré caducada falsch incorrecta"
).split()
"""What stands behind such a word in documents and is no value."""
_VALUE: Final = (
    r"(?:\"(?P<a>[^\"\n\x00]{3,120}+)\"|'(?P<b>[^'\n\x00]{3,120}+)'"
    r"|`(?P<c>[^`\n\x00]{3,120}+)`|“(?P<d>[^”\n\x00]{3,120}+)”"
    r"|«[ ]?(?P<e>[^»\n\x00]{3,120}?)[ ]?»|„(?P<f>[^“”\n\x00]{3,120}+)[“”]|(?P<g>[^\s\"'`“”«»„\x00，。、;&]{3,256}+))"
)
_CLAUSE_ENDS = lazy_pattern(
    r"[*_`)）]{0,3}(?:[.!?。,;，]?[ \t]*(?:\r?\n|\Z)|[.!?;,][ ]|[ ](?:です|입니다|[(–—-])|。|，|です|입니다)"
)


@cache
def _nouns() -> str:
    return "|".join(
        re.escape(word).replace("\\ ", "[ ]").replace("\\~", r"\w{0,6}") for word in password_words()
    )


_LAST_WORD = lazy_pattern(r"[a-z0-9]+\Z")


@cache
def _said() -> re.Pattern[str]:
    noun = f"(?:(?P<strong>{_nouns()})|(?P<key>{_KEYS}))"
    aside = r"(?:[ ]?[(（][^()（）\n]{1,40}+[)）])?"
    of = rf"(?P<of>(?:[ ](?:(?:{_OF})(?:[ ][\w.'’/@-]{{1,24}}+){{1,5}}?|(?:dell|all|d|l)['’]\w{{1,24}}+))?)"
    link = (
        rf"(?:(?P<sign>[*_]{{0,3}}[ ]?(?::=|[:：=→—]|[-=]>)[*_]{{0,3}}[ \t]{{0,4}}+)(?P<below>\r?\n[ \t]{{0,8}}+)?"
        rf"|(?P<verb>,?[ ](?:{_ARE})(?:[ ]now)?:?[ ]|(?:是|為|为|は|는|은|가|이)[ ]?))"
    )
    return re.compile(rf"(?<![A-Za-z0-9_$.-]){noun}{aside}{of}[ \t]{{0,24}}{link}{_VALUE}", re.IGNORECASE)


_SET = lazy_pattern(
    rf"\b(?:set|change|changed|reset|update|updated|rotate|rotated|switch|switched)[ ](?:[\w'’-]{{1,20}}+[ ]){{0,4}}?"
    rf"(?:password|pass-?phrase|passcode|pin|passwort)"
    rf"(?:[ ](?:{_OF})(?:[ ][\w.'’/@-]{{1,24}}+){{1,4}}?)?[ ]to:?[ ]{_VALUE}",
    re.IGNORECASE,
)
_LOGIN = lazy_pattern(
    rf"(?<![\w$.-]){_LOGINS}(?:[ ](?:{_OF})(?:[ ][\w.'’/@-]{{1,24}}+){{1,5}}?)?"
    rf"(?:[ ]?[:：]|[ ](?:is|are|sind|sont|son))[ ]{{0,4}}"
    rf"(?:user(?:name)?[ :=]{{1,3}})?[\"'`]?[^\s\"'`/:,：]{{2,64}}+[\"'`]?(?:[ ]?[/:：|][ ]?|,[ ]|[ ]and[ ]){_VALUE}",
    re.IGNORECASE,
)


@cache
def _pairs() -> re.Pattern[str]:
    """Return what finds a user and a password said one after the other, and "with the password …"."""
    return re.compile(
        rf"\b(?:(?:user(?:name)?|login|account|benutzer|utilisateur|usuario|kullanıcı adı|uživatel|użytkownik"
        rf"|пользователь)"
        rf"[ :=]{{1,3}}[\"'`]?[^\s\"'`,;/]{{2,64}}+[\"'`]?[ ]?[,;/&]?[ ]?(?:and[ ])?(?:with[ ])?"
        rf"|(?:with|mit|avec|con|com|med|met|ile|z)[ ](?:the |a |dem |le |la |el |o |a senha )?)"
        rf"(?:pass|{_nouns()})(?P<label>[ :=]{{1,3}}){_VALUE}",
        re.IGNORECASE,
    )


@cache
def _resumed() -> re.Pattern[str]:
    """Return what finds a value that is said behind a comma: "I changed the password, it's now …"."""
    return re.compile(
        rf"(?<![A-Za-z0-9_$.-])(?:(?P<strong>{_nouns()})|(?P<key>{_KEYS}))[^.!?,;:\n]{{0,60}}+[,;:—][ ]"
        rf"(?:it's|it is|its|er heißt|er ist|sie ist|es ist|c'est|он|это|è|es)[ ]"
        rf"(?P<now>(?:now|jetzt|теперь|maintenant|ahora)[ ])?{_VALUE}",
        re.IGNORECASE,
    )


_ENTRY = lazy_pattern(
    r"\b(?:log|sign)[ -]in[ ](?:with|as|using)[ ][^\s\"'`/:,]{2,64}+[ ][/|][ ](?P<g>[^\s\"'`\x00]{6,64})"
    r"(?=[ \t]*(?:\r?\n|\Z)|[.,;][ ])",
    re.IGNORECASE,
)
_BEARER = lazy_pattern(
    r"\bAuthorization[\"']?[ ]?[:=][ ]?[\"']?(?:Bearer|Basic|Token)[ ](?P<g>[^\s\"'`,;\x00]{6,256}+)",
    re.IGNORECASE,
)
_FLAG = lazy_pattern(
    r"(?<=[\w\"'])[ ]--?(?:password|passwd|pass|pwd)(?:=|[ ])(?P<g>[^\s\"'`\x00-]\S{4,128}?)(?=[ \t]*(?:\r?\n|\Z)|[ ]-)"
)
_CELLS = lazy_pattern(
    r"^[ \t]*\|[ ]*[*`]{0,2}(?P<name>[\w -]{0,24}?(?:password|passwd|passcode|passphrase|\bpin))[*`]{0,2}[ ]*\|"
    r"[ ]*`?(?P<g>[^\s|`\x00]{4,128}+)`?[ ]*\|[ ]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ASSIGNED_NUMBER = lazy_pattern(
    r"(?:^|(?<=[\s?&;]))(?:token|otp|pin|passcode)=(?P<g>\d{4,12}+)(?=[ \t]*(?:\r?\n|\Z)|[&;])",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = lazy_pattern(
    r"\b(?:(?P<seed>(?:seed|recovery|mnemonic|wallet)[ _-]?(?:phrase|words)|mnemonic)|pass-?phrase)"
    r"[ ]?(?::|=|[ ]is)[ ]{1,4}[\"'`“]?"
    r"(?P<g>[a-z]{3,12}+(?:[ ,]{1,2}[a-z]{2,12}+){2,23}+)[\"'`”]?(?=[.]?[ \t]*(?:\r?\n|\Z))",
    re.IGNORECASE,
)
_LOGIN_HINTS: Final = (
    "login", "log-in", "sign-in", "signin", "cred", "zugangsdaten", "anmeldedaten", "identifiants", "inloggegevens",
    "kirjautumis", "dane logowania", "доступ", "логин", "帳號", "账号", "アカウント",
)  # fmt: skip
_ENTRY_HINTS: Final = ("log in ", "log-in ", "sign in ", "sign-in ")
_JOINED = lazy_pattern(r"[a-z]+(?:-[a-z]+){2,7}")
_TELLS: Final = frozenset(
    "a an your you must should used use uses for that which when where will can has have file key keys password "
    "passphrase secret protects protect encrypt encrypted encrypts decrypt opens unlock unlocks required optional "
    "none given ask see "
    "characters words string empty default user value least most longer than not no from by with be or if".split()
)
"""Words of sentences about a passphrase."""


def find_spoken(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield the values that a sentence or a label names as secret; `lowered` is `text` in lower case."""
    beginnings = _beginnings(lowered)
    yield from _named(text, beginnings)
    speaks_of_passwords = "pass" in lowered or "pin" in lowered or "pw" in lowered
    patterns = [_pairs()] if beginnings or "pass" in lowered else []
    if [word for word in _LOGIN_HINTS if word in lowered]:
        patterns.append(_LOGIN)
    if speaks_of_passwords and " to" in lowered:
        patterns.append(_SET)
    for pattern in patterns:
        for match in pattern.finditer(text):
            label = match["label"] if "label" in pattern.groupindex else ":"
            if _is_said(text, match, labelled=not label.isspace(), plain=True):
                yield _span(match, "password")
    yield from _entries(text, lowered)
    if "authorization" in lowered:
        for match in _BEARER.finditer(text):
            value = match["g"]
            if not _is_harmless(value) and (_is_made(value) or _count_words(value) >= 3):
                yield _span(match, "bearer-token")
    if speaks_of_passwords:
        flags = _FLAG.finditer(text) if "-p" in text else ()
        for match in (*flags, *(_CELLS.finditer(text) if "|" in text else ())):
            value = match["g"]
            if not _is_harmless(value) and (_is_made(value) or (value.islower() and _count_words(value) > 0)):
                yield _span(match, "password")
    if "=" in text and (
        "token=" in lowered or "otp=" in lowered or "pin=" in lowered or "passcode=" in lowered
    ):
        for match in _ASSIGNED_NUMBER.finditer(text):
            yield _span(match, "token")
    if "phrase" in lowered or "mnemonic" in lowered or " words" in lowered:
        yield from _phrases(text)


def _named(text: str, beginnings: list[int]) -> Iterator[SecretSpan]:
    seen = 0
    for at in beginnings:
        if at < seen:
            continue
        match = _said().match(text, at) or _resumed().match(text, at)
        if match is not None and _names(text, match):
            seen = match.end()
            yield _span(match, "secret" if match["strong"] is None else "password")
            continue
        word = _word().match(text, at)
        answer = None if word is None else find_answer(text, at, word.end())
        near = (
            None
            if word is None
            else answer or find_near(text, word.end(), sure=word[0].lower() not in _AMBIGUOUS)
        )
        if near is not None:
            seen = near.end
            yield near
        elif word is not None and (before := find_before(text, at)) is not None:
            yield before


def _names(text: str, match: re.Match[str]) -> bool:
    noun, key = match["strong"], (match["key"] or "").lower()
    plain = noun.lower() not in _AMBIGUOUS if noun else key.endswith(_SAID_IN_WORDS)
    if match.re is _said():
        return _is_said(text, match, labelled=match["sign"] is not None, plain=plain)
    # "it's long" says no password, "it's now butterscotch" does
    return _is_said(text, match, labelled=match["now"] is not None, plain=plain)


@cache
def _word() -> re.Pattern[str]:
    """Return what reads a word for a password where no name of code is; where no blanks are, a value may touch it."""
    unspaced = "|".join(word for word in password_words() if word[-1] >= "\u2e80")
    return re.compile(
        rf"(?<![A-Za-z0-9_$.])(?:{_nouns()})(?![A-Za-z0-9_.=(\[]|-\w)|{unspaced}", re.IGNORECASE
    )


def _beginnings(lowered: str) -> list[int]:
    """Return where the words for a secret begin, in order."""
    places = {at for word in anchors().within(lowered) for at in _places(lowered, word)}
    for word in ("secret", "token", "key", "code", "combination", "pass", "seed"):
        if word not in lowered:
            continue
        for at in _places(lowered, word):
            if lowered[at - 1 : at] in (" ", "_", "-") and at > 1:
                before = _LAST_WORD.search(lowered, max(0, at - 14), at - 1)
                if before is not None and before[0] in _KEY_BEGINNINGS:
                    start = before.start()
                    joined = lowered[max(0, start - 3) : start] in ("wi-", " e-") and before[0] in (
                        "fi",
                        "mail",
                    )
                    places.add(start - (3 if before[0] == "fi" else 2) * joined)
    return sorted(places)


def _places(lowered: str, word: str) -> Iterator[int]:
    at = lowered.find(word)
    while at >= 0:
        yield at
        at = lowered.find(word, at + len(word))


def _entries(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield the passwords behind a user with whom one logs in: "log in with root / …"."""
    for match in _ENTRY.finditer(text) if any(word in lowered for word in _ENTRY_HINTS) else ():
        value = _trimmed(match["g"])
        if looks_like_password(value) and not _is_harmless(value):
            yield _span(match, "password")


def _phrases(text: str) -> Iterator[SecretSpan]:
    for match in _WORDS.finditer(text):
        words = match["g"].lower().replace(",", " ").split()
        if match["seed"] and len(words) in range(8, 26):
            yield _span(match, "seed-phrase")
        elif not match["seed"] and match["g"].islower() and _TELLS.isdisjoint(words):
            yield _span(match, "password")


def _span(match: re.Match[str], rule: str) -> SecretSpan:
    group = next(name for name in "abcdefg" if name in match.re.groupindex and match[name] is not None)
    start, end = match.span(group)
    return SecretSpan(rule, start, start + len(_trimmed(match[group])) if group == "g" else end, FROM_NAME)


def _trimmed(value: str) -> str:
    return value.rstrip(".,;:!?)]}>，。）")


def _is_said(text: str, match: re.Match[str], *, labelled: bool, plain: bool) -> bool:
    """Tell whether the value is a secret; `plain` says that a word or two may be one there."""
    group = next(name for name in "abcdefg" if match[name] is not None)
    if match.re is _said() and labelled and group in "ab":
        return False  # a quoted value behind a sign is judged as an assignment
    quoted, below = group != "g", "below" in match.re.groupindex and match["below"] is not None
    value = match[group].strip() if quoted else _trimmed(match[group])
    if len(value) < 3 or _is_harmless(value):
        return False
    if " " in value:
        return quoted and plain and len(value.split()) <= 8 and not any(map(_speaks, value.lower().split()))
    ends = quoted or _CLAUSE_ENDS.match(text, match.start("g") + len(value)) is not None
    if value.rstrip("#*").isdigit():
        return ends and 4 <= len(value) <= 16 and not below
    if _is_made(value):
        return ends or len(value) >= 8
    if labelled and values.is_scrambled(value):
        return ends and not below
    of = match["of"] if match.re is _said() else ""
    if of and of.rsplit(None, 1)[-1].lower() in USERS:
        return False  # whose password it is stands behind the sign
    words = _count_words(value)
    telling = [word for word in value.split("-") if len(word) > 3]
    joined = _JOINED.fullmatch(value) is not None and not any(map(describes_secret, telling))
    if labelled and plain and ends and not below and joined:
        return True
    if not ends or not words or below:
        return False
    if labelled or quoted:
        lower = value.islower() or (match.re is _pairs() and value[1:].islower())
        return words >= (2 if plain else 3) or (plain and len(value) >= 5 and lower)
    return words >= 3


def _is_harmless(value: str) -> bool:
    """Tell whether a value is a reference, an expression, a path, a date, or a word that speaks of secrets."""
    low = value.lower()
    return (
        values.is_placeholder(value)
        or values.is_path(value)
        or values.is_date_or_version(value)
        or values.is_dotted_name(value)
        or low in _NOT_YET
        or (_speaks(low) and not value.isdigit())
        or re.search(r"[()\[\]{}<>|\\]|&#\d|::|\.\.|^[$%@&*/]|:!|[$]\{?\w", value) is not None
        or (value.endswith("=") and not values.is_padded(value))
        or re.match(r"[a-z]+=\w", value) is not None
        or (re.fullmatch(r"[A-Z][A-Z0-9_]*", value) is not None and not values.is_base32_key(value))
        or re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)+", value) is not None
        or re.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)+", value) is not None
    )


def _is_made(value: str) -> bool:
    """Tell whether a value has letters beside digits or signs, as chosen and generated ones have and words have not."""
    has_letters = any(char.isalpha() for char in value)
    if not has_letters or len(value) < 5:
        return False
    if re.fullmatch(
        r"[a-zA-Z]{1,5}(?:\d{1,2}|[-_]\d{1,4})|\d{1,4}(?:[-_ ]?[a-z]+)+|[\w.+-]+@[\w.-]+|[A-Za-z]+:\d+",
        value,
    ):
        return False  # arg1, 32-byte, an address, host:port
    return values.has_digit(value) or any(sign in value for sign in "!#%^*+=?~$@")


def _count_words(value: str) -> int:
    """Return of how many words joined by `-` or `.` a value is, none of which speaks of secrets; else 0."""
    words = re.split(r"[-.]", value.lower())
    plain = all(word.isalpha() and len(word) >= 3 for word in words)
    return len(words) if plain and says_nothing(words) else 0


def _speaks(word: str) -> bool:
    return word in STOP_WORDS or describes_secret(word)
