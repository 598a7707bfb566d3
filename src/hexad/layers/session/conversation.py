"""What is said and noted in a session, and how old turns and notes become shorter ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hexad.layers.session.changes import Change
from hexad.layers.session.working_set import (
    NOTES_FOLDED,
    NOTES_KEPT,
    TURNS_FOLDED,
    TURNS_KEPT,
    ScratchNote,
    SessionTurn,
    WorkingSet,
)
from hexad.text.summary.summarize import compressed, folded

_FOLDED_NOTE_CHARS: Final = 960


def add_turn(turn: SessionTurn) -> Change:
    """Add a turn; the oldest become part of the summary when there are too many."""

    def change(working_set: WorkingSet) -> WorkingSet:
        turns, summary = (*working_set.turns, turn), working_set.conversation_summary
        if len(turns) > TURNS_KEPT:
            summary = folded(summary, [(old.role, old.text) for old in turns[:TURNS_FOLDED]])
            turns = turns[TURNS_FOLDED:]
        return replace(
            working_set, turns=turns, turns_total=working_set.turns_total + 1, conversation_summary=summary
        )

    return change


def add_note(note: ScratchNote) -> Change:
    """Add a note to the scratchpad; the oldest become one when there are too many."""

    def change(working_set: WorkingSet) -> WorkingSet:
        notes = (*working_set.scratchpad, note)
        if len(notes) > NOTES_KEPT:
            old = notes[:NOTES_FOLDED]
            text = compressed("\n".join(each.text for each in old), limit=_FOLDED_NOTE_CHARS)
            together = ScratchNote(text=text, at=old[-1].at, notes=sum(each.notes for each in old))
            notes = (together, *notes[NOTES_FOLDED:])
        return replace(working_set, scratchpad=notes)

    return change
