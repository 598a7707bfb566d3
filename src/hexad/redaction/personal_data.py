"""Personal data that its form and its check digits give away. Which of it is looked for, a project decides.

Lengths of IBANs by country: the IBAN registry (ISO 13616, SWIFT, 2024). Card prefixes: ISO/IEC 7812 and the card
networks' published ranges. Ranges of US social security numbers: Social Security Administration (2011 rules).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.redaction.secrets.values import FROM_NAME, FROM_SHAPE, SecretSpan
from hexad.text.normalize import kinds_of_characters

_DOMAIN = lazy_pattern(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_FILE_ENDINGS: Final = frozenset(
    """
    png jpg jpeg gif svg webp ico css scss js mjs ts tsx jsx json html md py rb go rs java c h txt
    yml yaml sh lock map
    """.split()
)
_LOCAL_SIGNS: Final = frozenset("._%+-'")
LOCAL_PART_LIMIT: Final = 64
"""Longest part of an address before the @, in characters (RFC 5321)."""

_PHONES = lazy_pattern(
    r"(?<![\w.+/=-])(?<!\d )(?:"
    r"(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){7,14}"  # +49 30 901820, +44 (0)20 7946 0958
    r"|(?:1[ .-])?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}"  # (415) 555-2671
    r"|0[1-9](?:[ .-]\d\d){4}"  # 06 12 34 56 78
    r"|(?:\(0[1-9]\d{1,4}\)|0[1-9]\d{1,4})[ /]\d{3,8}(?:[ -]\d{2,6}){0,2}"  # 020 7946 0958, 0171/1234567
    r")(?![\w-]|\.\d|[ ][0-9A-Fa-f]{4}\b)"
)
_DATE = lazy_pattern(r"\+?\d{4}-\d\d-\d\d")
_PHONE_WORD = lazy_pattern(
    r"(?:phone|mobile|cell|tel|fax|call|whatsapp|sms|handy|telefon)\b[^\d\n+]{0,16}(\d{9,13})(?![\w.-])",
    re.IGNORECASE,
)
_GAPS: Final = (
    r" \-"
    "\u00a0\u2007\u2009\u202f"  # spaces that do not break, or are narrow
    "\u2010\u2011\u2012\u2013"  # hyphens and dashes
    "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # what nobody sees
)
"""What stands between the groups of a number, one at a time."""
# A class before the look behind it lets the engine skip to where a number may begin: three times as fast.
_DIGITS = lazy_pattern(rf"\d(?<![\w.+-]\d)(?:[{_GAPS}]?\d){{11,18}}(?![\w-]|\.\d)")
_DOTTED = lazy_pattern(r"\d(?<![\w.+-]\d)\d{3}(?:\.\d{4}){3}(?![\w-]|\.\d)")
_IBAN = lazy_pattern(
    rf"[A-Z](?<![A-Za-z0-9][A-Z])[A-Z]\d{{2}}(?:[{_GAPS}]?[A-Z0-9]){{11,30}}(?![A-Za-z0-9])"
    rf"|[a-z](?<![A-Za-z0-9][a-z])[a-z]\d{{2}}(?:[{_GAPS}]?[a-z0-9]){{11,30}}(?![A-Za-z0-9])"
)
_NUMBER_NAME_BEFORE = lazy_pattern(
    r"(?:ids?|ts|times?|timestamp|seed|offset|seq|sequence|nonce|hash|snowflake|nanos|micros|ticks?)[\"']?\s{0,2}[:=#]\s{0,2}[\"']?\Z",
    re.IGNORECASE,
)
_CARD_WORD = lazy_pattern(r"card|credit|payment|(?<![a-z])(?:pan|cc)(?![a-z])", re.IGNORECASE)
_NAME_CHARS: Final = 32
_SSN = lazy_pattern(rf"(\d(?<![\w.-]\d)(?<!\d \d)\d{{2}})([{_GAPS}])(\d{{2}})\2(\d{{4}})(?![\w-]|\.\d| \d)")
_SSN_WORD = lazy_pattern(
    r"(?:ssn|social security(?: number| no\.?)?)\b[^\d\n]{0,12}(\d{3})()(\d{2})(\d{4})(?!\d)", re.IGNORECASE
)
_IPV4 = lazy_pattern(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d|-[a-z])")
_VERSION_BEFORE = lazy_pattern(
    r"(?:version|ver|release|rel|build|firmware|rev|section|chapter|sec\.|§|[=<>~^!]=|\bv|[~^])"
    r"[\"']?[ :=]{0,3}[\"']?v?\Z",
    re.IGNORECASE,
)
_OID_ARCS: Final = (
    "2.5.4.",
    "2.5.29.",
    "1.3.6.",
    "1.3.101.",
    "1.2.840.",
)  # object identifiers, not addresses
_IPV6 = lazy_pattern(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")

_IBAN_LENGTHS: Final = {
    country: int(length)
    for length, countries in (
        row.split(":")
        for row in """
        15:NO 16:BE 18:DK,FO,FI,GL,NL,SD,FK 19:MK,SI 20:AT,BA,EE,KZ,LT,LU,XK,MN 21:CH,HR,LI,LV
        22:BG,BH,CR,DE,GB,GE,IE,ME,RS,VA 23:AE,GI,IL,IQ,OM,SO,TL 24:AD,CZ,ES,MD,PK,RO,SA,SE,SK,TN,VG
        25:LY,PT,ST 26:IS,TR 27:BI,DJ,FR,GR,IT,MC,MR,SM 28:AL,AZ,BY,CY,DO,GT,HU,LB,NI,PL,SV
        29:BR,EG,PS,QA,UA 30:JO,KW,MU,YE 31:MT,SC 32:LC 33:RU
        """.split()
    )
    for country in countries.split(",")
}
# Network, lowest and highest first digits, and the lengths its numbers have.
_CARD_RANGES: Final = (
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),
    ("37", "37", (15,)),
    ("6011", "6011", (16, 19)),
    ("644", "659", (16, 19)),
    ("300", "305", (14,)),
    ("36", "36", (14,)),
    ("38", "39", (14, 16)),
    ("3528", "3589", (16,)),
    ("62", "62", (16, 17, 18, 19)),
    ("5018", "5018", (16,)),
    ("5020", "5020", (16,)),
    ("5038", "5038", (16,)),
    ("6304", "6304", (16,)),
    ("6759", "6763", (16,)),
    ("2200", "2204", (16,)),
)


def _find_emails(text: str) -> Iterator[SecretSpan]:
    at = text.find("@")
    while at >= 0:
        start = _local_part_start(text, at)
        domain = _DOMAIN.match(text, at + 1)
        if start < at and domain is not None and _is_email(text, start, at, domain[0]):
            yield SecretSpan("email", start, domain.end(), FROM_SHAPE)
        at = text.find("@", at + 1)


def _local_part_start(text: str, at: int) -> int:
    start = at
    lowest = max(0, at - LOCAL_PART_LIMIT)
    while start > lowest and (text[start - 1].isalnum() or text[start - 1] in _LOCAL_SIGNS):
        start -= 1
    while start < at and text[start] in ".-'%":
        start += 1
    return start


def _is_email(text: str, start: int, at: int, domain: str) -> bool:
    """Tell whether what surrounds an @ is a person's address and not a remote, a file or part of a URL."""
    if text[start:at] == "git" or text[at - 1] in "._-'":
        return False
    if domain.rpartition(".")[2].lower() in _FILE_ENDINGS:
        return False
    before = text[max(0, start - 80) : start]
    scheme = before.rfind("://")
    return scheme < 0 or any(char in "/ \n\t\"'?<>" for char in before[scheme + 3 :])


def _find_phones(text: str) -> Iterator[SecretSpan]:
    for match in _PHONES.finditer(text):
        digits = sum(char.isdigit() for char in match[0])
        if 9 <= digits <= 15 and _is_phone(match[0], digits):
            yield SecretSpan("phone", match.start(), match.end(), FROM_NAME)
    for match in _PHONE_WORD.finditer(text):
        yield SecretSpan("phone", match.start(1), match.end(1), FROM_NAME)


def _is_phone(text: str, digits: int) -> bool:
    if text.startswith("+1") and digits != 11:
        return False  # the one country code whose numbers all have the same length
    return text.count("(") == text.count(")") and _DATE.match(text) is None


def _find_cards(text: str) -> Iterator[SecretSpan]:
    for match in (*_DIGITS.finditer(text), *_DOTTED.finditer(text)):
        digits = _plain(match[0])
        if len(digits) == len(match[0]) and (len(digits) > 16 or _is_numbered(text, match.start())):
            continue
        if _is_card(digits) and len(set(digits)) > 1:
            yield SecretSpan("card", match.start(), match.end(), FROM_SHAPE)


def _plain(text: str) -> str:
    """Return the letters and digits of a text, digits of every script as those of ASCII."""
    return "".join(
        str(int(character)) if character.isdecimal() else character
        for character in text
        if character.isalnum()
    )


def _is_numbered(text: str, at: int) -> bool:
    """Tell whether a number without gaps stands behind the name of an id or a time, and not of a card.

    One in forty numbers of 16 digits passes for a card: its first digits and its check digit are right by chance.
    """
    before = text[max(0, at - _NAME_CHARS) : at]
    return _NUMBER_NAME_BEFORE.search(before) is not None and _CARD_WORD.search(before) is None


def _is_card(digits: str) -> bool:
    for low, high, lengths in _CARD_RANGES:
        if len(digits) in lengths and low <= digits[: len(low)] <= high:
            return luhn_valid(digits)
    return False


def luhn_valid(digits: str) -> bool:
    """Tell whether the last of `digits` is the check digit of the others by the Luhn algorithm (ISO/IEC 7812)."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        doubled = int(char) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _find_ibans(text: str) -> Iterator[SecretSpan]:
    if text.isascii():
        kinds = kinds_of_characters(text)
        if b"AA00" not in kinds and b"aa00" not in kinds:  # as all of them begin
            return
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2].upper())
        if length is None:
            continue
        end = _end_of_chars(text, match.start(), match.end(), length)
        if end is None:
            continue
        iban = _plain(text[match.start() : end])
        # In small letters much else looks like one: then most of it has to be digits.
        if (iban.isupper() or 2 * sum(map(str.isdecimal, iban)) > length) and iban_valid(iban):
            yield SecretSpan("iban", match.start(), end, FROM_SHAPE)


def _end_of_chars(text: str, start: int, stop: int, count: int) -> int | None:
    """Return where the `count`-th letter or digit ends, if a word ends there."""
    for at in range(start, stop):
        count -= text[at].isalnum()
        if count == 0:
            return at + 1 if not text[at + 1 : at + 2].isalnum() else None
    return None


def iban_valid(iban: str) -> bool:
    """Tell whether `iban`, without spaces, leaves 1 modulo 97 (ISO 13616)."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _find_ssns(text: str) -> Iterator[SecretSpan]:
    lowered = text.lower()
    named = "ssn" in lowered or "social security" in lowered
    for pattern in (_SSN, _SSN_WORD) if named else (_SSN,):
        for match in pattern.finditer(text):
            area, group, serial = map(_plain, (match[1], match[3], match[4]))
            if area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000":
                continue
            yield SecretSpan("ssn", match.start(1), match.end(), FROM_SHAPE)


def _find_ipv4(text: str) -> Iterator[SecretSpan]:
    for match in _IPV4.finditer(text):
        octets = match[0].split(".")
        if any(int(octet) > 255 or (octet[0] == "0" and len(octet) > 1) for octet in octets):
            continue
        if octets[0] in ("0", "127", "255") or octets[3] == "0" or match[0].startswith(_OID_ARCS):
            continue
        if all(len(octet) == 1 for octet in octets):
            continue
        if _VERSION_BEFORE.search(text, max(0, match.start() - 16), match.start()) is None:
            yield SecretSpan("ipv4", match.start(), match.end(), FROM_SHAPE)


def _find_ipv6(text: str) -> Iterator[SecretSpan]:
    for match in _IPV6.finditer(text):
        if _is_ipv6(match[0]):
            yield SecretSpan("ipv6", match.start(), match.end(), FROM_SHAPE)


def _is_ipv6(address: str) -> bool:
    """Tell whether `address` is an IPv6 address of a host: valid, not `::1`, with a digit in it."""
    groups = address.split(":")
    filled = [group for group in groups if group]
    if "::" not in address:
        return len(groups) == 8 and len(filled) == 8
    if address.count("::") > 1 or ":::" in address or address.endswith("::"):
        return False  # invalid, or a network
    if not 2 <= len(filled) <= 7 or len(filled[0]) < 3:
        return False
    if (address.startswith(":") and not address.startswith("::")) or (
        address.endswith(":") and not address.endswith("::")
    ):
        return False
    return (
        any(char.isdigit() for char in filled[0])
        or filled[0].lower() in ("fe80", "fd", "fc", "ff02")
        or len(filled) >= 4
    )


DETECTORS: Final[dict[str, Callable[[str], Iterator[SecretSpan]]]] = {
    "email": _find_emails,
    "phone": _find_phones,
    "card": _find_cards,
    "iban": _find_ibans,
    "ssn": _find_ssns,
    "ipv4": _find_ipv4,
    "ipv6": _find_ipv6,
}
"""Detector by name; each yields its findings in the text it is given."""
DIGITS_LEAST: Final = {"phone": 9, "card": 13, "iban": 2, "ssn": 9, "ipv4": 4}
"""Digits without which a text has nothing for a detector; the others look at every text."""
_NO_DIGITS: Final = bytes(code for code in range(128) if not chr(code).isdigit())


def digits_of(text: str) -> int:
    """Return how many digits a text has, of any script; told in a step for most texts."""
    if text.isascii():
        return len(text.encode("ascii").translate(None, _NO_DIGITS))
    return sum(map(str.isdecimal, text))
