"""Translations of programs, read as samples for `secret_scanners`: messages that tell a password, and messages that tell none.

What a program says in English decides: where its English puts a password, the same message in another language gets one
in the same place. Nothing of the programs is kept here; each is read from a folder in which somebody has unpacked it.
"""

from __future__ import annotations

import ast
import gettext
import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.published_secrets import LANGUAGES, Text

_SPEAKS = re.compile(r"passw|passphrase|passcode|\bPIN\b|secret code|access code", re.IGNORECASE)
_SLOT: Final = r"%\d?\$?s|\$\d|%1|%\(\w+\)\d*s|\{\{password\}\}"
_TELLS: Final = (
    # The place of the password, in what programs write in English.
    re.compile(rf"password(?::\s*| to log in[^.]*?\bis (?:<\w+>)?| \"| was set to \"| is:? (?:<\w+>)?|</\w+> \"<\w+>)(?P<slot>{_SLOT})"
               r"|password of user %s to (?P<last>%s)|with password \"?(?P<with>%s|\$\d)|Generated password <\w+>(?P<first>%s)"
               r"|\bwas set to \"(?P<set>\$\d)|password : (?P<word>@PASSWORD@)"
               rf"|password (?:is provided for this session|generated|has been reset to): (?P<made>{_SLOT})"
               rf"|password for member %\(member\)40s: (?P<member>{_SLOT})"
               r"|created with \"(?P<like>%s)\" (?:like|as) password", re.IGNORECASE),
)  # fmt: skip
_PLACE = re.compile(r"%(?:\d\$)?[sd@]|\$\d|@[A-Z]{2,}@|\{\{\w+\}\}|\{\w*\}|%\{\w+\}|%\(\w+\)\d*[sd]|%\d")
_MARKUP = re.compile(
    r"\{\{[^{}|]*\|[^{}]*?([^{}|]*)\}\}|\{\{[^{}]*\}\}|</?\w+[^<>]*>|'{2,}|\[\[[^\]|]*\|([^\]]*)\]\]"
)
_NAMES: Final = ("anouk", "kwame", "mirela", "tomasz", "yuki", "Wiki", "intranet", "203.0.113.9")


def password(random_: random.Random) -> str:
    """Return a password as people choose and generators make them; one in eight is a plain word with a number."""
    word = random_.choice(
        "harvest lantern pelican granite marmot cobalt thistle meridian saffron walrus".split()
    )
    other = random_.choice("bridge cloud forest kettle river stone tiger violin winter candle".split())
    digits = "".join(random_.choice("0123456789") for _ in range(random_.randint(2, 4)))
    alphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    drawn = "".join(random_.choice(alphabet) for _ in range(random_.randint(9, 14)))
    return random_.choice(
        [f"{word}{digits}", f"{word.title()}{other.title()}{digits}!", f"{word}-{other}-{digits}", drawn, drawn, drawn,
         f"{word[:3]}{digits}#{other.title()}", f"{word.title()}_{digits}{random_.choice('!?$*')}"]
    )  # fmt: skip


def _message(source: str, language: str, english: str, message: str) -> Iterator[Text]:
    """Yield a translated message with a password where its English tells one, or as a harmless text that tells none."""
    if not message or len(message) > 1_500:
        return
    random_ = random.Random(source + message)
    told = next(filter(None, (pattern.search(english) for pattern in _TELLS)), None)
    value = password(random_)
    if told is None:
        if _SPEAKS.search(english) and not re.search(r"\$\{|\bhash|key\b", english):
            text = _filled(message, None, "", random_)
            yield Text("harmless", source, text, language=language)
        return
    group = told.lastgroup or ""
    places, own = _PLACE.findall(english), _PLACE.findall(message)
    at = next(i for i, m in enumerate(_PLACE.finditer(english)) if m.start() == told.start(group))
    slot = places[at]
    if len(own) != len(places) or sorted(own) != sorted(places):
        return
    # Without numbers the order is the same in every language.
    number = own.index(slot) if places.count(slot) == 1 else at
    yield Text("spoken", source, _filled(message, number, value, random_), value, language=language)


def _language(name: str) -> str:
    """Return the code of a language from the name of a file or folder: `pt_BR.mo`, `admin-zh-hans`."""
    codes = re.findall(r"(?<![a-zA-Z])[a-z]{2,3}(?![a-zA-Z])", name)
    return next((code for code in codes if code in LANGUAGES), codes[0] if codes else "?")


def _filled(message: str, number: int | None, value: str, random_: random.Random) -> str:
    parts, last = [], 0
    for at, place in enumerate(_PLACE.finditer(message)):
        parts += [message[last : place.start()], value if at == number else random_.choice(_NAMES)]
        last = place.end()
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", "".join([*parts, message[last:]])).strip()


def translations(folder: Path) -> Iterator[Text]:
    """Yield what the translations under `folder` say of passwords; its name is the name of the source."""
    yield from _compiled_catalogs(folder)
    yield from _written_catalogs(folder)
    yield from _json_catalogs(folder)
    yield from _php_catalogs(folder)
    for file in sorted(folder.glob("**/lang/en/password.txt")):
        english = file.read_text(encoding="utf-8")
        for other in sorted(file.parents[1].glob("*/password.txt")):
            if other != file:
                message = other.read_text(encoding="utf-8")
                yield from _message(folder.name, _language(other.parent.name), english, message)


def _compiled_catalogs(folder: Path) -> Iterator[Text]:
    for file in sorted(folder.glob("**/*.mo")):
        with file.open("rb") as opened:
            try:
                catalog: dict[Any, str] = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
            except (OSError, UnicodeDecodeError, ValueError):
                continue
        place = file.name if folder.name == "wordpress-l10n" else file.parents[1].name
        for key, message in sorted(catalog.items(), key=repr):
            english = key[0] if isinstance(key, tuple) else key
            if _SPEAKS.search(english) and message != english:
                yield from _message(folder.name, _language(place), english, message)


_ENTRY = re.compile(
    r'^msgid\s+((?:"(?:[^"\\\n]|\\.)*"\s*)+)^msgstr\s+((?:"(?:[^"\\\n]|\\.)*"\s*)+)', re.MULTILINE
)
_PART = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def _written_catalogs(folder: Path) -> Iterator[Text]:
    """Yield from `.po` files, and from those of Qt, whose keys are the English messages."""
    for file in sorted(folder.glob("**/*.po")):
        place = next(
            (part for part in (file.stem, *(p.name for p in file.parents)) if _is_language(part)), ""
        )
        if place in ("", "en", "C"):
            continue
        for entry in _ENTRY.finditer(_decoded(file.read_bytes())):
            english, message = (
                "".join(_unescaped(part) for part in _PART.findall(text)) for text in entry.groups()
            )
            if _SPEAKS.search(english) and message != english:
                yield from _message(folder.name, _language(place), english, message)
    for file in sorted(folder.glob("**/*_*.ts")):
        for node in ElementTree.parse(file).getroot().iter("message"):
            english, message = node.findtext("source") or "", node.findtext("translation") or ""
            if _SPEAKS.search(english) and message != english:
                yield from _message(folder.name, _language(file.stem.split("_", 1)[1]), english, message)


def _decoded(data: bytes) -> str:
    """Return the text of a catalog in the encoding that it names."""
    named = re.search(rb"charset=([\w.-]+)", data)
    try:
        return data.decode(named[1].decode() if named else "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _is_language(name: str) -> bool:
    return re.fullmatch(r"[a-z]{2,3}(?:[-_@][A-Za-z]{2,8})?", name) is not None


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), text)


def _json_catalogs(folder: Path) -> Iterator[Text]:
    for file in sorted(folder.glob("**/i18n/**/en.json")):
        english_of = json.loads(file.read_text(encoding="utf-8"))
        spoken_of = {k: v for k, v in english_of.items() if isinstance(v, str) and _SPEAKS.search(v)}
        for other in sorted(file.parent.glob("*.json")) if spoken_of else ():
            if other.stem in ("en", "qqq") or other.stem.startswith("en-"):
                continue
            messages = json.loads(other.read_text(encoding="utf-8"))
            for key, english in spoken_of.items():
                if messages.get(key, english) != english:
                    yield from _message(folder.name, _language(other.stem), english, messages[key])


_PHP_ENTRY = re.compile(
    r"""(?:\$lang\[)?(?P<key>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]?\s*=>?\s*(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*[,;]"""
)


def _php_catalogs(folder: Path) -> Iterator[Text]:
    """Yield from arrays of PHP: `languages/de.php` beside `languages/en.php`, `language/de_DE/x.lang.php`."""
    for file in sorted({*folder.glob("**/languages/en.php"), *folder.glob("**/language/en_UK/*.lang.php")}):
        english_of = _php_messages(file)
        nested = file.parent.name == "en_UK"
        others = file.parents[1].glob(f"*/{file.name}") if nested else file.parent.glob("*.php")
        for other in sorted(others):
            place = other.parent.name if nested else other.stem
            if other == file or place.startswith("en"):
                continue
            for key, message in _php_messages(other).items():
                english = english_of.get(key, "")
                if _SPEAKS.search(english) and message != english:
                    yield from _message(folder.name, _language(place), english, message)


def _php_messages(file: Path) -> Mapping[str, str]:
    messages = {}
    for entry in _PHP_ENTRY.finditer(file.read_text(encoding="utf-8", errors="replace")):
        try:
            messages[entry["key"][1:-1]] = str(ast.literal_eval(f'"""{entry["text"][1:-1]} """'))[:-1]
        except (SyntaxError, ValueError):
            continue
    return messages
