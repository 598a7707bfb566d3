"""Memories that name a person whose data is erased, and do not say that they are about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from hexad.core.erasure import MENTIONS, Mention, Selection
from hexad.privacy.memory_rows import ErasedMemories
from hexad.redaction.injection.detector import safe_line
from hexad.text.normalize import nfkc

_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = r"[\W_]{1,3}"
_SHOWN: Final = 80


def mentions(
    rows: ErasedMemories, selection: Selection, *, without: Collection[int] = ()
) -> tuple[Mention, ...]:
    """Return what still names the person of a selection, as far as `rows` may see it; those `without` are going.

    A name counts as a whole and in any case, with any sign between its words; of an address also what stands before
    the `@`, where that is of several words. An address `ada@…` says nothing of who Ada is in another text.
    """
    if selection.subject is None or not (name := _name_pattern(selection.subject)):
        return ()
    return tuple(islice(_named(rows, selection, name, {*without}), MENTIONS))


def _named(
    rows: ErasedMemories, selection: Selection, name: re.Pattern[str], without: set[int]
) -> Iterator[Mention]:
    subject = selection.subject or ""
    for no, memory_id, path, text in rows.texts_beside(subject, _like(subject), space=selection.space):
        if no not in without and (name.search(nfkc(text)) or name.search(nfkc(path))):
            yield Mention(memory_id=memory_id, text=safe_line(text, _SHOWN))


def _name_pattern(subject: str) -> re.Pattern[str] | None:
    """Return what a person is called in texts; None for a subject without a letter or a digit."""
    name = nfkc(subject).strip()
    local, at, _ = name.rpartition("@")
    words = _WORD.findall(local if at else name)
    if sum(map(len, words)) < 2:
        return None  # a letter stands in every text
    forms = [re.escape(name)] if at else []
    if len(words) > bool(at):
        forms.append(_BETWEEN.join(map(re.escape, words)))
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?:['’]?s)?(?!\w)", re.IGNORECASE) if forms else None


def _like(subject: str) -> str:
    """Return what a text with the name is like to SQL, which knows no case of letters beyond ASCII."""
    words = _WORD.findall(subject.partition("@")[0]) or _WORD.findall(subject)
    return "%" + "".join(sign if sign.isascii() else "%" for sign in max(words, key=len)) + "%"
