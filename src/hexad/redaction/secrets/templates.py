"""A small notation for the shapes of credentials, and the regular expressions built from it.

`ghp_<a:36>` is literal text and a slot of 36 characters of alphabet a; `<w:20-40>` is a range, `<w:20+>` is 20 or
more up to a bound that keeps every match linear, `<uuid>` a UUID, and `{a|b}` either text. A bare `h32`, `e40-46` or
`uuid` is one slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

OPEN_SLOT_LIMIT: Final = 4096
"""The longest match of an open slot, in characters."""

_ALPHABETS: Final = {
    "d": "0-9",
    "h": "0-9a-f",
    "H": "0-9A-Fa-f",
    "l": "a-z0-9",
    "u": "A-Z0-9",
    "a": "A-Za-z0-9",
    "z": "A-Za-z",
    "w": "A-Za-z0-9_-",
    "b": "A-Za-z0-9+/",
    "e": "A-Za-z0-9_=-",
    "p": "A-Za-z0-9_.=-",
    "q": "A-Za-z0-9_.~-",
    "s": "A-Za-z0-9+/=_-",
    "t": "A-Za-z0-9%",
    "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",  # Bech32, of age keys
}
_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
_SLOT = re.compile(r"<uuid>|<([a-zA-Z]):(\d+)(?:-(\d+)|(\+))?>")
_BARE = re.compile(r"[a-zA-Z]\d+(?:-\d+)?")
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")


def expand_choices(template: str) -> Iterator[str]:
    """Yield `template` once for every combination of its `{a|b}` choices.

    >>> list(expand_choices("{sk|rk}_live_<a:10+>"))
    ['sk_live_<a:10+>', 'rk_live_<a:10+>']
    """
    choice = _CHOICE.search(template)
    if choice is None:
        yield template
        return
    for text in choice[1].split("|"):
        yield from expand_choices(template[: choice.start()] + text + template[choice.end() :])


def literal_head(template: str) -> str:
    """Return the literal text before the first slot of `template`."""
    slot = _SLOT.search(template)
    return template if slot is None else template[: slot.start()]


def compile_template(template: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Return the expression for `template`; a closed last slot must not be followed by a letter or a digit."""
    if template == "uuid":
        template = "<uuid>"
    elif _BARE.fullmatch(template):
        template = f"<{template[0]}:{template[1:]}>"
    parts = []
    at = 0
    for slot in _SLOT.finditer(template):
        parts += [re.escape(template[at : slot.start()]), _slot_pattern(slot)]
        at = slot.end()
    parts.append(re.escape(template[at:]))
    if not template.endswith("+>"):
        parts.append("(?![A-Za-z0-9])")
    return re.compile("".join(parts), re.IGNORECASE if ignore_case else 0)


def _slot_pattern(slot: re.Match[str]) -> str:
    if slot[0] == "<uuid>":
        return _UUID
    alphabet, low, high, open_end = slot.groups()
    most = OPEN_SLOT_LIMIT if open_end else high or low
    return f"[{_ALPHABETS[alphabet]}]{{{low},{most}}}"
