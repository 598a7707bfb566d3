"""What was said in the experience stream, found by words: loaded where there is a stream."""

from __future__ import annotations

from collections.abc import Callable

from hexad.database.connection import Database
from hexad.experience.events.text_cache import EventTexts
from hexad.experience.stream_database import Experience
from hexad.experience.values.records import StreamAnswer
from hexad.experience.values.tiers import EventRecord
from hexad.text.search_terms import search_terms


class EventSearch:
    """Finds whole events of all sessions, this process's own records included."""

    def __init__(self, db: Database, experience: Experience) -> None:
        self._experience = experience
        self._texts = EventTexts(db, experience.events, experience.reader)

    def opened(self) -> Callable[[str, int], StreamAnswer[EventRecord]]:
        """Return what finds events that have all words of a text, up to a number, without their activations.

        `notes` of what it finds say what is missing since a segment cannot be read. The stream is looked at now: what
        is recorded after this is not found.
        """
        self._experience.recorder.flush()
        find = self._texts.opened()
        return lambda text, most: find(search_terms(text), most)
