"""Secrets written so that a reader sees the same and a rule does not: invisible characters, other letters, codes, lines.

Each function takes what announces a secret (`password: `, or nothing before a bare token) and the secret, and returns
the text and the pieces of which none may be left.
"""

from __future__ import annotations

import base64
import html
import quopri
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote

from benchmarks.published_messages import password
from benchmarks.published_secrets import Text
from benchmarks.redaction_samples import ALNUM, UPPER36, Maker

Disguise = Callable[[str, str], tuple[str, list[str]]]

_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ALIKE = str.maketrans("aceopxyiAEKMHOPCTX", "асеорхуіАЕКМНОРСТХ")
_LEET = str.maketrans("aeiost", "4310$7")


def _every(text: str, sign: str, step: int) -> str:
    return sign.join(textwrap.wrap(text, step)) if " " not in text else sign.join(text)


def _bold(text: str) -> str:
    names = {
        c: f"MATHEMATICAL BOLD {'CAPITAL' if c.isupper() else 'SMALL'} {c.upper()}"
        for c in text
        if c.isalpha()
    }
    digits = {c: f"MATHEMATICAL BOLD DIGIT {unicodedata.name(c).split()[-1]}" for c in text if c.isdigit()}
    return "".join(unicodedata.lookup((names | digits)[c]) if c in names | digits else c for c in text)


def _code(encode: Callable[[bytes], bytes]) -> Disguise:
    def write(lead: str, secret: str) -> tuple[str, list[str]]:
        coded = encode(f"{lead}{secret}".encode()).decode()
        return f"For the record {coded} and that is all.", [coded]

    return write


def _lines(join: str, width: int) -> Disguise:
    def write(lead: str, secret: str) -> tuple[str, list[str]]:
        pieces = textwrap.wrap(secret, width)
        return f"{lead}{join.join(pieces)}\n", pieces

    return write


_IN_THE_NAME: dict[str, Callable[[str], str]] = {
    "zero-width space": lambda name: _every(name, "\u200b", 4),
    "zero-width joiner": lambda name: _every(name, "\u200d", 3),
    "soft hyphen": lambda name: _every(name, "\u00ad", 4),
    "word joiner": lambda name: _every(name, "\u2060", 5),
    "left-to-right mark": lambda name: f"\u200e{name}\u200f",
    "full width": lambda name: name.translate(_WIDE),
    "Cyrillic letters": lambda name: name.translate(_ALIKE),
    "bold letters": _bold,
    "leet": lambda name: name.translate(_LEET),
    "combining line": lambda name: "".join(f"{c}\u0332" if c.isalpha() else c for c in name),
    "spaced": " ".join,
    "emphasis": lambda name: f"**{name[:4]}**{name[4:]}",
    "%5F": lambda name: name.replace("_", "%5F").replace("=", "%3D"),
    "every character in percent": lambda name: "".join(f"%{ord(c):02X}" for c in name),
    "character references": lambda name: "".join(f"&#{ord(c)};" if c.isalpha() else c for c in name),
    "named references": lambda name: name.replace("_", "&lowbar;").replace(":", "&colon;").replace("=", "&equals;"),
    "\\u escapes": lambda name: "".join(f"\\u{ord(c):04x}" if c in "pstk_" else c for c in name),
    "\\x escapes": lambda name: "".join(f"\\x{ord(c):02x}" if c in "awe_" else c for c in name),
    "non-breaking space": lambda name: name.replace(" ", "\u00a0"),
}  # fmt: skip
_IN_THE_SECRET: dict[str, Callable[[str], str]] = {
    "zero-width space": lambda secret: _every(secret, "\u200b", 5),
    "zero-width joiner": lambda secret: _every(secret, "\u200d", 4),
    "soft hyphen": lambda secret: _every(secret, "\u00ad", 6),
    "word joiner": lambda secret: _every(secret, "\u2060", 3),
    "byte order mark": lambda secret: f"\ufeff{secret}",
    "full width": lambda secret: secret.translate(_WIDE),
    "Cyrillic letters": lambda secret: secret.translate(_ALIKE),
    "bold letters": _bold,
    "percent": lambda secret: quote(secret, safe="").replace("_", "%5F").replace("-", "%2D"),
    "character references": lambda secret: html.escape(secret).replace("_", "&#95;").replace("-", "&#45;"),
    "\\u escapes": lambda secret: "".join(f"\\u{ord(c):04x}" if not c.isalnum() else c for c in secret),
}
_OF_ALL: dict[str, Disguise] = {
    "base64": _code(base64.b64encode),
    "base64 for URLs": _code(lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")),
    "base64 twice": _code(lambda data: base64.b64encode(base64.b64encode(data))),
    "hexadecimal": _code(lambda data: data.hex().encode()),
    "base32": _code(base64.b32encode),
    "wrapped line": _lines("\n", 20),
    "wrapped and indented line": _lines("\n    ", 16),
    "backslash at the end": _lines("\\\n", 18),
    "quoted-printable": lambda lead, secret: (
        quopri.encodestring(f"{'The mail says: ' * 3}{lead}{secret}".encode()).decode(),
        textwrap.wrap(quopri.encodestring(secret.encode()).decode().replace("=\n", ""), 12),
    ),
    "joined strings": _lines('" + "', 15),
}
_LEADS: Final = ("password: ", "db_password=", "api_key=", "the secret_token is ")


def _secrets(maker: Maker, lead: str) -> str:
    if "password" in lead:
        return password(maker.random)
    drawn = (
        f"gh{'p'}_{maker.chars(ALNUM, 36)}",
        f"AK{'IA'}{maker.chars(UPPER36, 16)}",
        f"glp{'at'}-{maker.chars(ALNUM, 20)}",
    )
    return maker.random.choice((maker.chars(ALNUM, 32), *drawn) if lead else drawn)


def disguised(seed: int, each: int) -> Iterator[Text]:
    """Yield `each` secrets in every disguise; a disguise is a source, so that half of them are never looked at."""
    maker = Maker(seed)
    for name, disguise in _IN_THE_NAME.items():
        for at in range(each):
            lead = _LEADS[at % len(_LEADS)]
            secret = _secrets(maker, lead)
            text = disguise(lead) + secret
            yield Text("disguises", f"name/{name}", f"Note for later.\n{text}\n", secret)
    for name, disguise in _IN_THE_SECRET.items():
        for at in range(each):
            lead = ("", *_LEADS)[at % 5]
            secret = disguise(_secrets(maker, lead))
            yield Text("disguises", f"secret/{name}", f"Note for later.\n{lead}{secret}\n", secret)
    for name, write in _OF_ALL.items():
        for at in range(each):
            lead = (*_LEADS, "")[at % 5]
            text, pieces = write(lead, _secrets(maker, lead))
            yield Text("disguises", f"all/{name}", f"Note for later.\n{text}\n", "\n".join(pieces))
