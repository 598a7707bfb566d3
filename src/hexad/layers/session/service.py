"""What is being worked on, built when `hx.session` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hexad.core.lazy import Lazy
from hexad.database.meta import Meta
from hexad.database.store_context import StoreContext
from hexad.layers.session.api import SessionFacade
from hexad.layers.session.layer import SessionLayer
from hexad.layers.session.manager import SessionManager
from hexad.layers.session.texts import SessionTexts
from hexad.layers.session.working_set import TaskEnd

if TYPE_CHECKING:
    from hexad.experience.service import ExperienceService
    from hexad.experience.values.records import StreamAnswer
    from hexad.experience.values.tiers import EventRecord
    from hexad.layers.session.event_search import EventSearch


class SessionService:
    """The working sets of an open store: those that this process has in hand, and what they know of a query.

    `stream` returns what finds what was said in the experience stream.
    """

    def __init__(
        self,
        context: StoreContext,
        *,
        experience: Callable[[], ExperienceService],
        stream: Callable[[], EventSearch],
        mask: Callable[[str], str],
        on_task_end: Callable[[TaskEnd], None],
    ) -> None:
        self._context, self._experience = context, experience
        self.stream = Lazy(stream)
        self.manager = SessionManager(context, mask)
        self.facade = SessionFacade(self.manager, context.project)
        self.facade.on_task_end(on_task_end)
        self.layer = SessionLayer(
            self.manager,
            SessionTexts(context.db),
            events=self._events,
            event=self._event,
            cold=self._cold_summary,
        )

    def _events(self) -> Callable[[str, int], StreamAnswer[EventRecord]] | None:
        return self.stream().opened() if Meta(self._context.db).has_experience() else None

    def _event(self, step_id: str) -> EventRecord | None:
        xdb = self._experience().xdb
        step = xdb.get_timestep(step_id)
        if step is None or step.session_id is None:
            return None
        ticks = (step.tick, step.tick)
        return next(iter(xdb.recall_events(session_id=step.session_id, tick_range=ticks, limit=1)), None)

    def _cold_summary(self, record_id: str, summary: str) -> str:
        """Return what of a COLD record's summary an agent may see: not the names of concepts that are hidden."""
        if self._context.settings.lenses is None:
            return summary
        record = self._experience().xdb.get_compressed_record(record_id)
        return "" if record is None else record.summary
