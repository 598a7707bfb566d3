"""Looking for a text: in a timestep, and where several of an event spell it together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import merge

from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.experience.events.reader import EventReader
from hexad.experience.query.reader import StreamReader
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.records import Fidelity, StepQuery, TimestepRecord

_Key = Callable[[TimestepRecord], tuple[float, int, int]]


def recall_text(
    reader: StreamReader, events: EventReader, sessions: Sessions, question: StepQuery
) -> list[TimestepRecord]:
    """Return what `StreamReader.query` does, and the tokens that only together with others hold the question's text."""
    end = question.offset + question.limit
    first = replace(question, limit=end, offset=0)
    found = reader.query(first)
    if question.text is not None and len(question.text) > 1:
        until = None
        if question.strongest is None and len(found) == end:
            # What is spelled after the last answer would not be among them.
            number = sessions.number(found[-1].session_id)
            until = None if number is None else (number, found[-1].tick)
        spelled = events.spelling(first, question.text, until)
        if spelled:
            known = {record.id for record in found}
            others = [
                record for record in _spelled(reader, sessions, first, spelled) if record.id not in known
            ]
            found = list(merge(found, others, key=_order(sessions, question)))
    return found[question.offset : end]


def _spelled(
    reader: StreamReader, sessions: Sessions, question: StepQuery, spelled: dict[int, list[int]]
) -> Iterator[TimestepRecord]:
    """Yield those of the ticks that everything else holds for, in the question's order."""
    names = sessions.names(spelled)
    places: dict[str, Ranges] = {}
    for number, ticks in spelled.items():
        ranges = union((tick, tick) for tick in ticks)
        if question.tagged is not None:
            ranges = intersection(ranges, union(question.tagged.get(names[number], ())))
        if ranges:
            places[names[number]] = ranges
    if places:
        # COLD records have their text in one piece: what is to be found of it was found.
        asked = replace(question, text=None, tagged=places, tag_sets=())
        size = sum(last - first + 1 for ranges in places.values() for first, last in ranges)
        for record in reader.query(replace(asked, limit=size)):
            if record.fidelity is not Fidelity.COLD:
                yield record


def _order(sessions: Sessions, question: StepQuery) -> _Key:
    numbers: dict[str, int] = {}

    def key(record: TimestepRecord) -> tuple[float, int, int]:
        if record.session_id not in numbers:
            numbers[record.session_id] = sessions.number(record.session_id) or 0
        score = 0.0 if question.strongest is None else record.concept_activations[question.strongest]
        return -score, numbers[record.session_id], record.tick

    return key
