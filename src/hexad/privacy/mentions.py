"""Memories and other records that name a person whose data is erased, and do not say that they are about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from hexad.core.erasure import MENTIONS, Mention, Realm, RecordingEraser, Selection
from hexad.core.json_types import JSONValue
from hexad.database.component import ExportSection
from hexad.database.connection import Database
from hexad.privacy.holdings import DataOwner, Holdings
from hexad.privacy.memory_rows import ErasedMemories
from hexad.redaction.injection.detector import safe_line
from hexad.text.normalize import nfkc

_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = r"[\W_]{1,3}"
_SHOWN: Final = 80
_TOLD_ELSEWHERE: Final = frozenset({"decisions", "concept_packs"})
"""Lists of which a memory says the same, or that came from outside."""
_TOMBSTONES: Final = "tombstones"
"""A list that says of each erased memory where it was: the name of a space, again and again."""
_SESSIONS: Final = frozenset({"sessions", "working_sets", "honeycomb_sessions"})
"""Lists of one row for a session, under its id."""


def mentions(
    rows: ErasedMemories, selection: Selection, *, without: Collection[int] = ()
) -> tuple[Mention, ...]:
    """Return what still names the person of a selection, as far as `rows` may see it; those `without` are going.

    A name counts as a whole and in any case, with any sign between its words or the last one first (`Berg, Anna`);
    of an address also what stands before the `@`, where that is of several words. An address `ada@…` says nothing of
    who Ada is in another text.
    """
    if selection.subject is None or not (name := _name_pattern(selection.subject)):
        return ()
    return tuple(islice(_named(rows, selection, name, {*without}), MENTIONS))


def records_naming(
    db: Database, sections: Iterable[ExportSection], selection: Selection
) -> Iterator[Mention]:
    """Yield the rows of the export's lists that name the person of a selection and are not about them."""
    subject = selection.subject
    if Realm.STREAM not in selection.realms or subject is None or not (name := _name_pattern(subject)):
        return
    holdings = Holdings(db)
    about = DataOwner(sessions=holdings.sessions_of(subject), subject=subject)
    for section in sections:
        if section.name in _TOLD_ELSEWHERE:
            continue
        named = [
            (row, text)
            for row in holdings.section(section, DataOwner())
            if (text := next((text for text in _texts(row) if name.search(nfkc(text))), None)) is not None
        ]
        own = list(holdings.section(section, about)) if named else []
        told: set[str] = set()
        for row, text in named:
            if row not in own and not (section.name == _TOMBSTONES and text in told):
                told.add(text)
                yield _record(section.name, row, text)


def events_naming(db: Database, eraser: RecordingEraser, selection: Selection) -> Iterator[Mention]:
    """Yield what was recorded, in sessions that are not about the person of a selection, and names them."""
    subject = selection.subject
    if Realm.STREAM not in selection.realms or subject is None or not (name := _name_pattern(subject)):
        return
    if name.search(nfkc(contract := eraser.contract())):
        yield Mention(text=_around(name, contract), place="contract", id="lifecycle")
    about = Holdings(db).sessions_of(subject)
    for words in dict.fromkeys((subject, " ".join(_words(subject)))):
        for session, tick, text in eraser.events_with(words, limit=MENTIONS):
            if session not in about and name.search(nfkc(text)):
                yield Mention(
                    text=_around(name, text), place="events", id=f"{session}:{tick}", session=session
                )


def _record(section: str, row: Mapping[str, JSONValue], text: str) -> Mention:
    own = next((str(row[key]) for key in ("id", "path", "name") if row.get(key)), "")
    session = row.get("session_id") or (own if section in _SESSIONS else None)
    return Mention(
        text=safe_line(text, _SHOWN),
        place=section,
        id=own,
        session=None if session is None else str(session),
    )


def _texts(value: JSONValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _around(name: re.Pattern[str], text: str) -> str:
    """Return the part of a long text in which the name stands, in one line."""
    match = name.search(text)
    start = 0 if match is None else max(0, match.start() - _SHOWN // 2)
    return safe_line(text[start:], _SHOWN)


def _named(
    rows: ErasedMemories, selection: Selection, name: re.Pattern[str], without: set[int]
) -> Iterator[Mention]:
    subject = selection.subject or ""
    for no, memory_id, path, text, space in rows.texts_beside(subject, _like(subject), space=selection.space):
        named = space == subject or name.search(nfkc(text)) or name.search(nfkc(path))
        if no not in without and named:
            yield Mention(memory_id=memory_id, text=safe_line(text, _SHOWN))


def _name_pattern(subject: str) -> re.Pattern[str] | None:
    """Return what a person is called in texts; None for a subject without a letter or a digit."""
    name = nfkc(subject).strip()
    at = "@" in name
    words = _words(subject)
    if sum(map(len, words)) < 2:
        return None  # a letter stands in every text
    forms = [re.escape(name)] if at else []
    if len(words) > bool(at):
        forms.append(_BETWEEN.join(map(re.escape, words)))
    if len(words) > 1:  # Berg, Anna
        given = _BETWEEN.join(map(re.escape, words[:-1]))
        forms.append(rf"{re.escape(words[-1])}\s?,\s?{given}")
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?:['’]?s)?(?!\w)", re.IGNORECASE) if forms else None


def _words(subject: str) -> list[str]:
    """Return the words of a name; of an address those before the `@`; of `Berg, Anna` in the order of `Anna Berg`."""
    name = nfkc(subject).strip()
    last, comma, given = name.rpartition("@")[0].partition(",") if "@" in name else name.partition(",")
    return _WORD.findall(f"{given} {last}" if comma else last)


def _like(subject: str) -> str:
    """Return what a text with the name is like to SQL, which knows no case of letters beyond ASCII."""
    words = _WORD.findall(subject.partition("@")[0]) or _WORD.findall(subject)
    return "%" + "".join(sign if sign.isascii() else "%" for sign in max(words, key=len)) + "%"
