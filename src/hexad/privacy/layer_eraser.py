"""What an erasure takes of the layers that is no memory: working sets, and what was said of answers."""

from __future__ import annotations

from hexad.core.erasure import ErasureBook, ErasurePlan, Selection
from hexad.database.connection import Database
from hexad.layers.feedback.table import FeedbackEraser
from hexad.layers.session.table import WorkingSetEraser


class LayerEraser:
    """Erases both, each in a transaction of its own."""

    def __init__(self, db: Database) -> None:
        self._each = (WorkingSetEraser(db), FeedbackEraser(db))

    def plan(self, selection: Selection, beside: ErasurePlan) -> ErasurePlan:
        """Return how many would go, beside what would go of experience."""
        for eraser in self._each:
            beside = eraser.plan(selection, beside)
        return beside

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many."""
        for eraser in self._each:
            eraser.erase(selection, book)
