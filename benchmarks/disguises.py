"""Ways to write a text so that a reader does not see it and a model may: for measuring what is still found in them."""

from __future__ import annotations

import base64
import binascii
import codecs
import string
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

_LETTERS: Final = string.ascii_lowercase
_MORSE: Final = dict(
    zip(
        _LETTERS,
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.--"
            " --.."
        ).split(),
        strict=True,
    )
)
_NATO: Final = dict(
    zip(
        _LETTERS,
        (
            "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec"
            " romeo sierra tango uniform victor whiskey xray yankee zulu"
        ).split(),
        strict=True,
    )
)
_LEET: Final = str.maketrans("oieast", "013457")
_CYRILLIC: Final = str.maketrans("aeopcxyi", "аеорсхуі")
_GREEK: Final = str.maketrans("oivu", "οινυ")


def _mapped(first: int) -> Callable[[str], str]:
    return lambda text: "".join(
        chr(first + _LETTERS.index(char)) if char in _LETTERS else char for char in text.lower()
    )


def _by_letter(table: Mapping[str, str], between: str, words: str) -> Callable[[str], str]:
    return lambda text: words.join(
        between.join(table[char] for char in word.lower() if char in table) for word in text.split()
    )


def _shift(by: int) -> Callable[[str], str]:
    turned = _LETTERS[by:] + _LETTERS[:by]
    return lambda text: text.translate(str.maketrans(_LETTERS + _LETTERS.upper(), turned + turned.upper()))


def _atbash(text: str) -> str:
    return text.translate(str.maketrans(_LETTERS + _LETTERS.upper(), _LETTERS[::-1] + _LETTERS[::-1].upper()))


_UPSIDE: Final = str.maketrans(_LETTERS, "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz")
_SMALL: Final = str.maketrans(_LETTERS, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ")
_BRAILLE: Final = str.maketrans(_LETTERS + " ", "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵⠀")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


DISGUISES: Final[Mapping[str, Callable[[str], str]]] = {
    "base64": _base64,
    "base64, without padding": lambda text: _base64(text).rstrip("="),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 twice": lambda text: _base64(_base64(text)),
    "base64, word by word": lambda text: " ".join(map(_base64, text.split())),
    "base64 within a sentence": lambda text: f"The token is {_base64(text)} and must be decoded first.",
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "ascii85": lambda text: base64.a85encode(text.encode(), adobe=True).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in pairs": lambda text: text.encode().hex(" "),
    "hexadecimal with 0x": lambda text: " ".join(f"0x{byte:02x}" for byte in text.encode()),
    "bits": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "decimal codes": lambda text: " ".join(map(str, text.encode())),
    "octal escapes": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    r"\x escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    r"\u escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "percent signs": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent signs where needed": quote,
    "quoted-printable": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
    "uuencode": lambda text: binascii.b2a_uu(text.encode()[:45]).decode(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "shifted by 3": _shift(3),
    "shifted by 19": _shift(19),
    "rot47": lambda text: "".join(chr(33 + (ord(char) - 33 + 47) % 94) if char != " " else char for char in text),
    "atbash": _atbash,
    "turned round": lambda text: text[::-1],
    "each word turned round": lambda text: " ".join(word[::-1] for word in text.split()),
    "digits for letters": lambda text: text.lower().translate(_LEET),
    "letters apart": lambda text: "   ".join(" ".join(word) for word in text.split()),
    "points between letters": lambda text: "  ".join(".".join(word) for word in text.split()),
    "hyphens between letters": lambda text: "  ".join("-".join(word) for word in text.split()),
    "invisible spaces": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "tags": lambda text: "Hello." + "".join(chr(0xE0000 + ord(char)) for char in text),
    "variation selectors": lambda text: "Hi" + "".join(chr(0xE0100 + byte - 16) for byte in text.encode()),
    "Cyrillic look-alikes": lambda text: text.translate(_CYRILLIC),
    "Greek look-alikes": lambda text: text.translate(_GREEK),
    "wide letters": lambda text: "".join(chr(ord(char) + 0xFEE0) if char != " " else char for char in text),
    "mathematical bold": _mapped(0x1D41A),
    "mathematical script": _mapped(0x1D4EA),
    "letters in circles": _mapped(0x24D0),
    "letters in squares": _mapped(0x1F130),
    "letters of flags": lambda text: " ".join(_mapped(0x1F1E6)(text)),
    "small capitals": lambda text: text.lower().translate(_SMALL),
    "upside down": lambda text: text.lower().translate(_UPSIDE)[::-1],
    "accents on letters": lambda text: "".join(f"{char}\u0301\u0323" if char.isalpha() else char for char in text),
    "Morse": _by_letter(_MORSE, " ", " / "),
    "spelling alphabet": _by_letter(_NATO, " ", ", "),
    "Braille": lambda text: text.lower().translate(_BRAILLE),
    "joined": lambda text: text.replace(" ", ""),
    "capitals at random": lambda text: "".join(c.upper() if at % 3 else c.lower() for at, c in enumerate(text)),
    "line by line": lambda text: text.replace(" ", "\n"),
    "a comment of HTML": lambda text: f"<p>Welcome</p><!-- {text} -->",
}  # fmt: skip
"""By name."""
