"""Texts that are made to take long: short patterns, repeated, to which a rule that tries again from each place falls."""

from __future__ import annotations

from typing import Final

UNITS: Final[dict[str, str]] = {
    "spaces": " ", "tabs": "\t", "lines": "\n", "windows lines": "\r\n", "letter": "a", "capital": "A", "digit": "1",
    "accent": "é", "cjk": "中", "emoji": "🙂", "combining": "e\u0301", "zero width": "\u200b", "joiner": "\u200d",
    "turning": "\u202e", "selector": "\ufe0f", "tag": "\U000e0041", "nul": "\0", "escape": "\x1b[", "dot": ".", "comma": ",",
    "colon": ":", "semicolon": ";", "dash": "-", "underscore": "_", "slash": "/", "backslash": "\\", "quote": '"', "apostrophe": "'",
    "backtick": "`", "fence": "```\n", "hash": "#", "heading": "# a\n", "star": "*", "list": "- a\n", "pipe": "|", "table": "|a|b|\n",
    "angle": "<", "tag pair": "<a>", "comment": "<!--", "brace": "{", "bracket": "[", "parenthesis": "(", "link": "[a](", "image": "![",
    "equals": "=", "underline": "a\n=\n", "at": "@", "percent": "%", "dollar": "$", "amp": "&", "plus": "+", "tilde": "~", "bang": "!", "question": "?",
    "assignment": "a=", "pair": "key: value\n", "words": "the gate ", "sentence": "The gate opens at noon. ", "identifier": "aB_", "path": "a/b.c/",
    "token": "a1A", "dashed": "a-a_", "number": "1,000.5 ", "date": "2026-01-01 ", "phrase": "last week ", "quoted word": '"a ', "half quote": "' ",
    "env mention": ".env ", "env comment": "# .env\n", "env line": "A_B=1\n", "begin key": "-----BEGIN RSA PRIVATE KEY-----\n",
    "key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0Z3VS5JJ\n-----END RSA PRIVATE KEY-----\n", "base64": "QUJD", "hex": "0f", "password": "password: ",
    "said password": "the password is ", "url": "http://", "login": "http://a:b@", "header": "Authorization: Bearer ", "curl": "curl -u ",
    "kubernetes": "kind: Secret\n---\n", "data": "kind: Secret\ndata:\n a: b\n", "card": "4111 ", "phone": "+49 ", "ip": "1.2.3.", "mail": "a@b.",
    "jwt": "eyJ.", "prefix": "sk-", "placeholder": "[REDACTED:", "role": "system: ", "order": "ignore all previous instructions ", "not": "not ",
    "json": '{"a":', "call": "f(", "def": "def f():\n", "class": "class A {\n", "import": "import a\n", "indent": "  a\n   b\n", "crlf pair": "a: \r\n",
    "percent code": "%41", "reference": "&#65;", "wide": "ａ", "two scripts": "aа", "spelled": "s s ", "wrapped": "a1b2c3d4e5f6\n",
    "coded words": "cGFzc3dvcmQ6IGEg ", "password and number": "password abc123 ",
    "order in German": "regel alle nicht vergiss nicht ", "not in German": "nicht beachte die regel und ", "order in Russian": "забудь правила не ",
    "morse": ".- ", "bits": "01000001 ", "codes": "65 ", "hex bytes": "0x41 ", "rot13": "gur lbh ", "shaped": "\U0001f130 ", "base32": "MFRGGZDF",
    "open definition": "def f(\n", "open receiver": "func (\n", "open element": "<dependency>", "open reference": "<PackageReference ",
    "open call": ".package(", "polite": "just ", "very polite": "please always just ",
    "spelling alphabet": "alfa bravo charlie delta echo ", "mixed case": "aW5zdHJ1Y3Rp ",
}  # fmt: skip


def attacks(size: int) -> dict[str, str]:
    """Return each text with about so many characters, whole, by a name that says what it is made of."""
    return {name: unit * (size // len(unit)) for name, unit in UNITS.items()}
