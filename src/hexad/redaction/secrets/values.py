"""Judging one value: is it a placeholder, does it look machine-made, could a person have chosen it as a password?

Every function is linear in its argument; callers cut values at 512 characters before they ask.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final, NamedTuple

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets.randomness import random_score

_RUN = lazy_pattern(r"[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_WORD = lazy_pattern(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")
_TOKEN_CHARS = lazy_pattern(r"[A-Za-z0-9+/=_.~:!@#$%^&*,;|?-]+")
_HEX = lazy_pattern(r"(?:[0-9a-f]+|[0-9A-F]+)")
_UUID = lazy_pattern(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_BASE32_KEY = lazy_pattern(r"[A-Z2-7]{16,128}")
_PADDED = lazy_pattern(r"[A-Za-z0-9+/_-]{10,}+={1,2}")
_DATE = lazy_pattern(r"\d{4}-\d\d-\d\d(?:[T ]|$)|\d{1,2}:\d\d:\d\d")
_VERSION = lazy_pattern(
    r"[v^~=<>]{0,2}\d{1,4}(?:\.\d{1,6}){1,4}(?:[-+.]?[a-z]{1,8}[-.]?\d{0,8}){0,2}", re.ASCII
)
_JOINED_WORDS = lazy_pattern(
    r"(?:my|your|the|test|user|db|new|old|some|super|top|admin|root|api|our)"
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|key)s?\d{0,4}",
    re.IGNORECASE,
)
_JOINT = lazy_pattern(r"[-_.]")
_ENDS_IN_NUMBER = lazy_pattern(r"[A-Za-z]{4,24}\d{3,6}")
_SAMPLE = lazy_pattern(r"test|user|example|sample|demo|foo|bar|your|fake|token|key", re.IGNORECASE)
_DESCRIBING: Final = frozenset(
    """
    argon bcrypt be bits bytes character characters chars day days digit digits hash hours least letters
    long max maximum min minimum minutes most must not oauth password passwords pbkdf scrypt section
    sha than token version words
    """.split()
)
_CONSONANTS = lazy_pattern(r"[bcdfghjklmnpqrstvwxz]{5}|[BCDFGHJKLMNPQRSTVWXZ]{6}")

_FILLER = lazy_pattern(
    r"x{4}|\.{3}|\u2026|\*{3}|_{4}|your|example|placeholder|change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|with)"
    r"|insert[-_ ]|(?:token|key|string|secret|password)[-_ ]?here|redacted|dummy|fixme|todo"
    r"|fill[-_ ]?(?:me|in)|put[-_ ]|goes[-_ ]?here|<|>"
    r"|(?:sua|minha)[-_ ]?chave|(?:tu|su)[-_ ](?:clave|token)|votre[-_ ]|(?:dein|ihr)e?[-_ ]",
    re.IGNORECASE,
)
_REFERENCE = lazy_pattern(
    r"[$%@]\(|\$[A-Za-z_{]|\$\{|\{\$|#\{|\{\{|\{%|\{[\w.!:()\[\]'\"|@]*\}|%\(|%[sdvqr]$"
    r"|%[A-Za-z_]\w*%$|<[^>]*>|~[A-Za-z_]\w*(?:\.\w+)+$|@[A-Za-z_]+@$|__\w+__$"
    r"|&[a-z]+;|(?i:enc\[|encrypted:|vault:|op://|arn:|ssm:|env:|file:|secret://|data:|aws_kms|!vault|\$ANSIBLE)"
)
_EXPRESSION = lazy_pattern(r"\(\?[:=!<P]|\[\^?[a-zA-Z0]-[a-zA-Z9]|\\[wdsbWDS]|\]\{\d|\.\*|^\^.*\$$")
_SIGN = lazy_pattern(r"[!@#$%^&*+=?~]")
_DIGIT = lazy_pattern(r"\d")
_SPACE = lazy_pattern(r"\s")
_OTHER_SCRIPT = lazy_pattern("[\u0250-\U0010ffff]")
# A selector of a page and a route of a web framework: words, and signs between them that say where.
_SELECTOR = lazy_pattern(r"#[a-z]+(?:[-_][a-z]+)+|[a-z_]+(?:/[a-z_]+)+(?:#[a-z_]+)?|[a-z_]+#[a-z_]+")
_URL_START = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://")
_DOTTED_NAMES = lazy_pattern(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+", re.ASCII)

# What an assignment to `password` or `token` holds when it holds no secret. Longest first: the group is atomic.
_VOCABULARY: Final = frozenset(
    """
    a abc access account add admin all alice an and anonymous any api apikey app application are
    asdf at auth authentication authorization bad bar base64 basic baz bearer blank bob bool boolean
    bytes ci client cls code confirm confirmation correct cred credential credentials current custom
    data database db default demo dev digest disabled empty enabled encrypted enter env expected
    expired fake false field file first foo for forgot from generic get github guest hash hashed
    header hello here hidden id if in incorrect input int integer invalid is it json jwt key keys
    last local login long masked me mock must my mysql name needed new nil no none not null number
    oauth oauth2 object of ok old on opaque optional or other pass passcode passphrase passwd
    password passwords plain plaintext postgres postgresql private prod production prompt proxy public pwd
    qux random raw read real redis refresh request require required reset root same sample secret
    secrets secure server service session set sha256 short show some staging str string strong super
    system temp temporary test tester testing text that the this to token tokens tmp true type
    undefined unknown unset unused url use user username using valid value var variable was weak
    with word world write wrong yes
    """.split()
)
# What is said of a secret instead of being it: its state, how it is kept, who keeps it, when something happens to it.
_ABOUT: Final = frozenset(
    """
    absent account accounts active again ago akin almost already always ancient anew argon
    argument asap ascii aws azure bcrypt beyondtrust bitwarden blank blind block both box
    bracket brackets broken browser bytes case cert certificate certs change changes changing
    chosen clear cleartext cloud code codes comma comment complex confidential config configmap
    constant cookie correct cursor cyberark dashlane data delimiter description different
    difficult digit digits docker doppler dotenv dynamic each easy either elsewhere empty enough
    enpass ephemeral etcd exactly exempt existing expression external extremely fairly fido
    field flow forgotten form format fresh friday generation generator github gitlab given gone
    good google granted guessable hard hardcoded hardware harmless hashes hashing header hence
    hexadecimal hmac host human identical identifier identifiers illegal image immutable
    incomplete ingredient ingredients input inside internal kdf keepass keepassxc keeper kept
    kerberos keyboard keychain keyring keyword keywords known kubernetes lastpass later ldap
    leaked left legacy length letter letters literal literals lookup lost lowercase magic
    management manager mandatory manual mapping matching maximum maybe mine minimum missing
    mixed monday month monthly months name names never newline next nordpass not nowhere number
    numbers object objects okta old once onepassword only opaque operator operators option ours
    out outside over owner page pam parameter paren parens parser passkey passwordless path
    pbkdf pending per permanent phishing pin pinned plaintext policy portion post pretty
    printable printed prior private prompt proper provider punctuation quarterly quite rather
    ready recent refresh registry regular remaining request reset response retry rotating
    rotation rsa rule rules safe salt same saml sandbox saturday sauce scheme schemes scope
    screen scrypt sensitive sent separate separately separator server service services session
    set setting settings shell short shortcut shortcuts shown silent simple simply single size
    slow soon sops sorry source special specific sso stale state static status still stolen
    storage store strange strict string strings strong such sudo sunday support symbol symbols
    symmetric syntax system table tba tbc tbd teampass template terrible text thursday tied time
    timeout tls today tomorrow tonight too totally totp toward trial tuesday twice type types
    ugly unclear unicode unique unix update uppercase usage useless utf valid validation value
    vault vaultwarden verbose version very via visible wallet weak wednesday weekly whitespace
    windows working works worthless yearly yesterday yet yubikey
    """.split()
)
_STATE = lazy_pattern(r"(?:un|in|non|not|re|pre)?[a-z]{2,}(?:ed|able|ible|ory|ly|ness)|(?:un|non)[a-z]{4,}")
_NEVER: Final = frozenset(
    """
    none null nil undefined true false yes no on off password passwd pass pwd passphrase secret
    token key apikey api_key string str text value user username default hidden masked required
    optional empty changeme test testing example n/a na tbd unset disabled enabled prompt ask file
    env basic bearer oauth oauth2 jwt int bool object any unknown auto current-password new-password
    """.split()
)


def is_typed_row(value: str) -> bool:
    """Tell whether `value` ends in what a hand types where a secret would stand: `abcdef123456`, `a1b2c3d4e5f6`.

    Most of its last characters follow the one before, or the one before that, in the alphabet or among the digits, or
    repeat it; of drawn characters one in ten does.
    """
    row = [ord(char) for char in value[-64:].lower() if char.isalnum()][-24:]
    if len(row) < 12:
        return False
    following = sum(
        row[at] - row[at - 1] in (0, 1, -9) or (at > 1 and row[at] - row[at - 2] in (1, -9))
        for at in range(1, len(row))
    )
    return following >= 0.6 * (len(row) - 1)


def has_digit(value: str) -> bool:
    """Tell whether `value` has a digit of any script."""
    return _DIGIT.search(value) is not None


def has_sign(value: str) -> bool:
    """Tell whether `value` has one of the signs that passwords are made to have."""
    return _SIGN.search(value) is not None


def has_space(value: str) -> bool:
    """Tell whether `value` has white space."""
    return _SPACE.search(value) is not None


def words_of(name: str) -> list[str]:
    """Return the words of an identifier in lower case: `dbPassword2` and `DB_PASSWORD_2` give db, password, 2."""
    return [word.lower() for word in _WORD.findall(name)]


def is_filler(value: str) -> bool:
    """Tell whether `value` visibly stands in for something else: `xxxx`, `your-key-here`, one repeated character."""
    if value.endswith(("...", "\u2026")):
        return True  # its rest was left out
    if _FILLER.search(value) is None:
        return len(set(value)) <= 2
    return is_token_filler(value) or not looks_random(value, min_chars=20)


def says_placeholder(value: str) -> bool:
    """Tell whether `value` is a reference such as `${OTHER}` or, without a digit in it, calls itself a placeholder."""
    return _REFERENCE.match(value) is not None or (not has_digit(value) and _FILLER.search(value) is not None)


def is_token_filler(value: str) -> bool:
    """Tell the same of a value whose prefix is a provider's: `EXAMPLE` in capitals is in documented but valid keys."""
    return len(set(value)) <= 2 or any(match[0] != "EXAMPLE" for match in _FILLER.finditer(value))


def is_reference(value: str) -> bool:
    """Tell whether `value` says where the secret is instead of being it: `${TOKEN}`, `op://vault/item`, a URL."""
    inner = value.strip("\"'") or value
    return (
        _REFERENCE.match(inner) is not None
        or _URL_START.match(inner) is not None
        or _SELECTOR.fullmatch(inner) is not None
    )


def is_placeholder(value: str) -> bool:
    """Tell whether nobody would mind `value` being read: filler, a reference, a word such as `password`, a sentence."""
    if (not value.isascii() and _OTHER_SCRIPT.search(value)) or _EXPRESSION.search(value):
        return True  # a sentence in a script without spaces, a regular expression
    return value.lower() in _NEVER or is_filler(value) or is_reference(value)


def is_wordy(value: str) -> bool:
    """Tell whether `value` is built from the common words around credentials: `my-secret-token`, `testpassword1`."""
    if _SIGN.search(value):
        return False
    if _JOINED_WORDS.fullmatch(value):
        return True
    words = words_of(value)
    return bool(words) and all(word in _VOCABULARY or (word.isdigit() and len(word) <= 4) for word in words)


def describes_secret(word: str) -> bool:
    """Tell whether `word`, in lower case, speaks of secrets instead of being one: `required`, `bcrypt`, `friday`."""
    return is_wordy(word) or word in _ABOUT or word in _NEVER or _STATE.fullmatch(word) is not None


def is_joined_password(value: str, *, lower_too: bool) -> bool:
    """Tell whether `value` is words and a number as people join them for a password, with `-` or `.` between.

    Two words and a number of two digits or more, one word with a capital. With `lower_too` four digits at the end
    do as well. Terms such as `RFC-6750` and rules such as `must-be-12-characters` are none.
    """
    parts = _JOINT.split(value) if len(value) <= 64 else []
    words = [part for part in parts if part.isalpha() and part.isascii() and len(part) >= 3]
    numbers = [part for part in parts if part.isdigit() and 2 <= len(part) <= 6]
    if len(words) < 2 or not numbers or len(words) + len(numbers) != len(parts):
        return False
    if _FILLER.search(value) or not _DESCRIBING.isdisjoint(word.lower() for word in words):
        return False
    capital = any(word[0].isupper() and not word.isupper() for word in words)
    return capital or (lower_too and value.islower() and len(numbers[-1]) >= 4 and parts[-1] == numbers[-1])


def ends_in_number(value: str) -> bool:
    """Tell whether `value` is letters and then three digits or more: even `secret` is a password with them."""
    return _ENDS_IN_NUMBER.fullmatch(value) is not None and _SAMPLE.search(value) is None


def is_hex_digest(value: str) -> bool:
    """Tell whether `value` has the shape of an MD5, SHA-1 or SHA-2 digest in hexadecimal."""
    return len(value) in (32, 40, 56, 64, 96, 128) and _HEX.fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """Tell whether `value` is hexadecimal in one case."""
    return _HEX.fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Tell whether `value` has the shape of a UUID."""
    return _UUID.fullmatch(value) is not None


def is_dotted_name(value: str) -> bool:
    """Tell whether `value` is a path of names such as `settings.SECRET_KEY` that no random text would give."""
    return _DOTTED_NAMES.fullmatch(value) is not None and not looks_random(value, min_chars=24)


def is_date_or_version(value: str) -> bool:
    """Tell whether `value` begins as a date or a time, or is a version number."""
    return _DATE.match(value) is not None or _VERSION.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Tell whether `value` is a file path: `/etc/tokens`, `./key.pem`, `~/.ssh/id`, `certs/server.key`."""
    if value.startswith(("./", "../", "~/", "/", "C:\\")):
        return not looks_random(value, min_chars=24) or value.count("/") >= 4
    return value.lower().endswith(
        (".pem", ".key", ".json", ".txt", ".yaml", ".yml", ".py", ".js", ".ts", ".crt", ".html")
    )


def is_base32_key(value: str) -> bool:
    """Tell whether `value` is base 32 as one-time codes are made from: capitals and digits as no word mixes them."""
    return _BASE32_KEY.fullmatch(value) is not None and looks_random(value)


def is_padded(value: str) -> bool:
    """Tell whether `value` is drawn base 64 with its padding: a `=` at its end is none of an assignment."""
    return len(value) % 4 == 0 and _PADDED.fullmatch(value) is not None and looks_random(value, min_chars=10)


def looks_random(value: str, *, min_chars: int = 16) -> bool:
    """Tell whether `value` looks made by a machine: characters of different classes mixed where words would not.

    Counts how often neighbouring characters change class (upper, lower, digit). Random base 62 changes at six
    places of ten, hexadecimal and base 36 at four, identifiers with words in them at two or fewer. A capital
    that begins a word is no change.
    """
    core = value.rstrip("=")
    if len(core) < min_chars or _TOKEN_CHARS.fullmatch(core) is None:
        return False
    if len(set(core)) < min(8, 2 + len(core) // 4):
        return False
    changes = digits = longest_word = 0
    before = ""
    for run in _RUN.findall(core):
        first = run[0]
        kind = "d" if first.isdigit() else "u" if "A" <= first <= "Z" else "l" if "a" <= first <= "z" else ""
        if kind == "d":
            digits += len(run)
        if kind and before and not (before == "U" and kind == "l" and len(run) > 1):
            changes += 1
        if kind == "l":
            longest_word = max(longest_word, len(run))
        before = "U" if kind == "u" and len(run) == 1 else kind
    if longest_word > 24 + len(core) // 16:
        return False
    cases_mixed = not (core.islower() or core.isupper())
    needed = 0.3 if digits == 0 else 0.25 if cases_mixed else 0.18
    return changes >= needed * len(core) and changes >= 3


def looks_odd(value: str) -> bool:
    """Tell whether the letters of `value` are no words: five consonants in a row, or cases mixed inside a word."""
    return _CONSONANTS.search(value) is not None or looks_random(value, min_chars=8) or is_scrambled(value)


_SCRAMBLED_SCORE: Final = 4.0
"""Of a hundred names in camel case, one reaches it; of a hundred drawn strings of letters, 95."""


def is_scrambled(value: str) -> bool:
    """Tell whether `value` is eight ASCII letters or more, and digits, whose cases are mixed as in no word or name."""
    return (
        8 <= len(value) <= 64
        and value.isalnum()
        and value.isascii()
        and not value.islower()
        and not value.isupper()
        and not value[1:].islower()
        and random_score(value) > _SCRAMBLED_SCORE
    )


def looks_chosen(value: str, *, min_chars: int = 6) -> bool:
    """Tell whether a person may have chosen `value` as a password: letters with digits or signs, no common words.

    Six digits or more count too. Words joined by `-`, `_` or `.` and file paths do not, white space never.
    """
    if len(value) < min_chars or has_space(value):
        return False
    if value.isdigit():
        return len(value) <= 12
    if value.isalpha():
        return looks_odd(value) and value.isascii()
    if (
        (is_wordy(value) and not (value.isalnum() and not value.islower()))
        or is_path(value)
        or is_dotted_name(value)
        or is_date_or_version(value)
    ):
        return False
    letters = any(char.isalpha() for char in value)
    return letters and (has_digit(value) or _SIGN.search(value) is not None or "|" in value)


def decodes_to_user_and_password(value: str) -> bool:
    """Tell whether `value` is the base 64 of printable text with a colon inside, as in HTTP basic authentication."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded[1:-1] and all(32 <= byte < 127 or byte >= 0xC2 for byte in decoded)


FROM_ENV_FILE: Final = 0
FROM_NAME: Final = 1
FROM_STRUCTURE: Final = 2
FROM_SHAPE: Final = 3
"""Ranks: of two findings of equal length the one with the higher rank names the placeholder."""


class SecretSpan(NamedTuple):
    """The characters `start` to `end` of a text, the rule that found them, and how specific it is."""

    rule: str
    start: int
    end: int
    rank: int
