"""Looking for a text: in a timestep, and where several of an event spell it together."""

from __future__ import annotations

from dataclasses import replace

from hexad.model.experience import StepQuery, TimestepRecord
from hexad.model.ticks import union
from hexad.storage.event_reader import EventReader
from hexad.storage.sessions import Sessions
from hexad.storage.stream_query import StreamReader


def recall_text(
    reader: StreamReader, events: EventReader, sessions: Sessions, question: StepQuery
) -> list[TimestepRecord]:
    """Return what `StreamReader.query` does, and the tokens that only together with others hold the question's text."""
    end = question.offset + question.limit
    direct = reader.query(replace(question, limit=end, offset=0))
    if question.text is None or len(question.text) < 2:
        return direct[question.offset :]
    until = None
    if question.strongest is None and len(direct) == end:
        # What is spelled after the last answer would not be among them.
        number = sessions.number(direct[-1].session_id)
        until = None if number is None else (number, direct[-1].tick)
    found = events.spelling(replace(question, limit=end, offset=0), question.text, until)
    if not found:
        return direct[question.offset :]
    spelled = {session: union((tick, tick) for tick in ticks) for session, ticks in found.items()}
    return reader.query(replace(question, spelled=spelled))
