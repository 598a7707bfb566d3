"""What is being worked on, built when `hx.session` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexad.facade.session import SessionFacade
    from hexad.facade.session_desk import Desk
    from hexad.text.masking import Masking
    from hexad.text.redact import RedactionRules
    from hexad.wiring import Base


class SessionUpkeep:
    """The part of `Parts` that has to do with working sets."""

    base: Base
    background: bool
    _owner: str
    _alive: Callable[[], Collection[str]]
    if TYPE_CHECKING:

        @property
        def rules(self) -> RedactionRules:
            """What is taken out of every text of the project."""

    @cached_property
    def desk(self) -> Desk:
        """The working sets that this process has in hand."""
        from hexad.facade.session_desk import Desk, DeskNeeds

        base = self.base
        return Desk(
            DeskNeeds(
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
        from hexad.facade.session import SessionFacade

        return SessionFacade(self.desk, self.base.project)

    @cached_property
    def _masking(self) -> Masking:
        from hexad.text.masking import Masking

        return Masking(salt=lambda: self.base.place.keys.redaction_salt, rules=self.rules)

    def _mask(self, text: str) -> str:
        return self._masking.text(text)

    def tend_sessions(self) -> int:
        """Write what waits of working sets, and let those rest on which nobody works; return how many rest now."""
        return self.desk.tend() if "desk" in self.__dict__ else 0

    def close_sessions(self) -> None:
        """Write what waits of working sets and let go of them."""
        if "desk" in self.__dict__:
            self.desk.close()

    def hand_sessions(self, successor: SessionUpkeep) -> None:
        """Let the same store with another embedder go on with the sessions that are in hand."""
        for name in ("desk", "session"):
            if name in self.__dict__:
                successor.__dict__[name] = self.__dict__[name]
