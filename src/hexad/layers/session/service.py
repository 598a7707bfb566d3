"""What is being worked on, built when `hx.session` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexad.experience.service import Experiencing
    from hexad.experience.values.tiers import EventRecord
    from hexad.layers.session.api import SessionFacade
    from hexad.layers.session.layer import SessionLayer
    from hexad.layers.session.manager import SessionManager
    from hexad.layers.session.texts import EventSearch
    from hexad.layers.session.working_set import TaskEnd
    from hexad.memory.store import Stores
    from hexad.redaction.masking import Masking
    from hexad.redaction.redact import RedactionRules
    from hexad.services import Base


class SessionUpkeep:
    """The part of `Parts` that has to do with working sets."""

    base: Base
    stores: Stores
    background: bool
    _owner: str
    _alive: Callable[[], Collection[str]]
    if TYPE_CHECKING:

        @cached_property
        def experiencing(self) -> Experiencing:
            """The experience database."""

        def task_ended(self, end: TaskEnd) -> None:
            """What consolidation does when a task ends."""

        @property
        def rules(self) -> RedactionRules:
            """What is taken out of every text of the project."""

    @cached_property
    def desk(self) -> SessionManager:
        """The working sets that this process has in hand."""
        from hexad.layers.session.manager import SessionManager, SessionManagerNeeds

        base = self.base
        return SessionManager(
            SessionManagerNeeds(
                db=base.db,
                clock=base.clock,
                ids=base.ids,
                owner=self._owner,
                alive=self._alive,
                folder=base.place.directory.parent,
                mask=self._mask,
                background=self.background,
            )
        )

    @cached_property
    def session(self) -> SessionFacade:
        """The working sets of the store, as programs see them."""
        from hexad.layers.session.api import SessionFacade

        facade = SessionFacade(self.desk, self.base.project)
        facade.on_task_end(self.task_ended)
        return facade

    @cached_property
    def _masking(self) -> Masking:
        from hexad.redaction.masking import Masking

        return Masking(salt=lambda: self.base.place.keys.redaction_salt, rules=self.rules)

    def _mask(self, text: str) -> str:
        return self._masking.text(text)

    @cached_property
    def session_layer(self) -> SessionLayer:
        """What sessions know of a query."""
        from hexad.layers.session.layer import SessionLayer, SessionNeeds
        from hexad.layers.session.texts import SessionTexts

        return SessionLayer(
            SessionNeeds(
                current=self.desk.now,
                others=lambda most: self.desk.sets.list(limit=most),
                events=self._events,
                event=self._event,
                cold=self._cold_summary,
                texts=SessionTexts(self.base.db),
            )
        )

    def _events(self) -> Callable[[str, int], Sequence[EventRecord]] | None:
        if not self.stores.meta.has_experience():
            return None
        return self._said.opened()

    @cached_property
    def _said(self) -> EventSearch:
        from hexad.layers.session.texts import EventSearch

        return EventSearch(self.base.db, self.experiencing.experience)

    def _event(self, step_id: str) -> EventRecord | None:
        xdb = self.experiencing.xdb
        step = xdb.get_timestep(step_id)
        if step is None or step.session_id is None:
            return None
        ticks = (step.tick, step.tick)
        return next(iter(xdb.recall_events(session_id=step.session_id, tick_range=ticks, limit=1)), None)

    def _cold_summary(self, record_id: str, summary: str) -> str:
        """Return what of a COLD record's summary an agent may see: not the names of concepts that are hidden."""
        if self.base.settings.lenses is None:
            return summary
        record = self.experiencing.xdb.get_compressed_record(record_id)
        return "" if record is None else record.summary

    def tend_sessions(self) -> int:
        """Write what waits of working sets, and let those rest on which nobody works; return how many rest now."""
        return self.desk.flush_idle() if "desk" in self.__dict__ else 0

    def close_sessions(self) -> None:
        """Write what waits of working sets and let go of them."""
        if "desk" in self.__dict__:
            self.desk.close()

    def hand_sessions(self, successor: SessionUpkeep) -> None:
        """Let the same store with another embedder go on with the sessions that are in hand."""
        for name in ("desk", "session"):
            if name in self.__dict__:
                successor.__dict__[name] = self.__dict__[name]
