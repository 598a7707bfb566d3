"""What an erasure takes of the layers that is no memory: working sets, and what was said of answers."""

from __future__ import annotations

from hexad.model.erasure import ErasureBook, Plan, Selection
from hexad.storage.connection import Database
from hexad.storage.feedback import FeedbackEraser
from hexad.storage.working_sets import WorkingSetEraser


class LayerEraser:
    """Erases both, each in a transaction of its own."""

    def __init__(self, db: Database) -> None:
        self._each = (WorkingSetEraser(db), FeedbackEraser(db))

    def plan(self, selection: Selection, beside: Plan) -> Plan:
        """Return how many would go, beside what would go of experience."""
        for one in self._each:
            beside = one.plan(selection, beside)
        return beside

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many."""
        for one in self._each:
            one.erase(selection, book)
