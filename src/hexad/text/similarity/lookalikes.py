"""Names that look alike: invisible characters, letters of other scripts, and how a name is compared."""

from __future__ import annotations

from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.normalize import nfkc

INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
)


SEEN_NOWHERE: Final = lazy_pattern(f"[{INVISIBLE}\U000e0000-\U000e0fff\ufe00-\ufe0f]")


ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁӏԛԝіїοαεικνρτυχϲɡıɩѵ" + "АВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdlqwiioaeikvptuxcgiiv" + "abekmhopctxijsabezhikmnoptyx",
)


# Of the small letters of other scripts those whose capitals look Latin: a name is compared without its case. The
# signs that look like a slash part a path for the eye; the blank of braille is one.
_CAPITALS: Final = str.maketrans("вкмнтβζημ∕⁄⧸⧵⠀", "bkmhtbzhm///\\ ")


def look_of(name: str) -> str:
    """Return what a name looks like, for comparing: without case, letters that nobody sees, and other scripts' twins.

    >>> look_of("Ident\u200bity"), look_of("ｉdentіty"), look_of("Größe  x ")
    ('identity', 'identity', 'grösse x')
    """
    if name.isascii():
        return " ".join(name.lower().split())
    shown = nfkc(nfkc(SEEN_NOWHERE.sub("", name)).casefold()).translate(ALIKE).translate(_CAPITALS)
    return " ".join(SEEN_NOWHERE.sub("", shown).split())


def look_of_path(path: str) -> str:
    """Return what a path looks like: its parts as `look_of` has them, without those that nobody sees."""
    parts = (part.strip() for part in look_of(path).split("/"))
    return "/".join(part for part in parts if part not in ("", "."))


def look_of_fact(subject: str | None, attribute: str | None) -> str | None:
    """Return what the key of a fact looks like, `subject.attribute`; None for what is no fact.

    >>> look_of_fact("Billing ", "Limit"), look_of_fact(None, "limit"), look_of_fact(None, None)
    ('billing.limit', 'limit', None)
    """
    if not (subject or attribute):
        return None  # as with most memories
    return ".".join(look_of(part) for part in (subject, attribute) if part) or None
