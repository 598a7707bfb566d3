"""The user layer of an open store, built when `hx.user` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from hexad.core.lazy import Lazy
from hexad.core.tracing import log
from hexad.database.encryption.record import RECORD, KeyGiven
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, HexadError
from hexad.layers.user.access import UserAccess
from hexad.layers.user.api import UserFacade
from hexad.layers.user.layer import UserLayer, UserStatement
from hexad.layers.user.presence import default_user_dir, is_there
from hexad.layers.user.publishing import PublishingProject
from hexad.layers.user.values import LearningReport
from hexad.memory.store import Stores

LEARN_EVERY: Final = timedelta(days=1)
LOOK_EVERY_S: Final = 60.0


class UserService:
    """What is known of a person across projects, as far as it has to do with this one."""

    def __init__(
        self,
        context: StoreContext,
        everything: Stores,
        *,
        folder: Path | None,
        key: bytes | str | Path | None,
    ) -> None:
        """`folder` None is where this user's data lies; `key` opens an encrypted layer. Nothing is opened yet."""
        self._context, self._folder, self._key = context, folder, key
        self._project = PublishingProject(context, everything)
        self._look_again_s = float("-inf")
        self._access = Lazy(self._make_access)
        self._facade = Lazy(lambda: UserFacade(context, self._project, self._access()))
        self._layer = Lazy(lambda: UserLayer(self._stated))

    @property
    def facade(self) -> UserFacade:
        """The layer of whoever opened the store, as programs see it."""
        return self._facade()

    @property
    def layer(self) -> UserLayer:
        """The layer as the router asks it."""
        return self._layer()

    def _stated(self) -> Sequence[UserStatement]:
        # With the facade's own method the layer would have a part that is lent, as if a program still had that.
        return self.facade.stated()

    def close(self) -> None:
        """Let go of the layer, where it was opened."""
        if (facade := self._facade.loaded) is not None:
            facade.close()

    def _make_access(self) -> UserAccess:
        return UserAccess(
            self._context,
            self._project,
            folder=self._folder or default_user_dir(),
            key=KeyGiven.of(self._key, **self._context.settings.user_keys),
        )

    def learn(self) -> LearningReport | None:
        """Publish and learn; None where there is nothing to publish and nothing was, or where it is not possible now.

        What stands in the way (an encrypted project and a plain layer, a layer that cannot be opened) is said in the
        log: upkeep goes on without.
        """
        project = self._project
        if not project.learned_at and not (
            project.has_facts() if self._context.settings.user.learning else project.is_named
        ):
            return None
        try:
            return self.facade.learn()
        except HexadError as error:
            log.warning("Nothing was learned across projects: %s", error)
            return None

    def retract(self) -> None:
        """Take out of the user layer all that names this project; raises where that cannot be done."""
        if self._project.may_be_named:
            self.facade.retract(everything=True)
            self._project.note_retracted()

    def learn_when_due(self) -> None:
        """Learn once a day, and at once where a project that had published takes part no more."""
        now_s = self._context.clock.monotonic()
        if now_s < self._look_again_s:
            return
        self._look_again_s = now_s + LOOK_EVERY_S
        last = self._project.learned_at
        is_due = (
            not last
            or last <= (self._context.clock.now() - LEARN_EVERY).isoformat()
            or not self._context.settings.user.learning
        )
        if is_due:
            self.learn()

    def state(self, learned: LearningReport | None = None) -> str:
        """Return in words where what is known across projects stands; `learned` is what was just learned."""
        if not self._context.may_see_user:
            return ""
        if not self._context.settings.user.learning:
            return "this project takes no part"
        if not is_there(self.facade.path):
            return ""
        if learned is not None:
            return (
                f"{learned.published} values of {learned.projects} projects, {len(learned.changes)} changes"
            )
        try:
            at = self.facade.rescored_at
        except HexadError as error:
            return f"cannot be read: {error}"
        return "there" if at is None else f"there, weighed anew at {at:%Y-%m-%d %H:%M}"

    def lost_place(self) -> str | None:
        """Return where a user layer is that this project knew and that is lost, as its notes name the place."""
        access = self._access()
        return None if access.loss() is None else access.place

    def check(self) -> list[str]:
        """Return what is wrong with the user layer; nothing where there is none, or its key is not at hand."""
        if not self._context.may_see_user:
            return []
        if (lost := self._access().loss()) is not None:
            return [f"The user layer: {lost}"]
        if not is_there(self.facade.path):
            return []
        try:
            return [f"The user layer: {problem}" for problem in self.facade.check()]
        except AccessDenied as error:
            return [] if (self.facade.path / RECORD).exists() else [str(error)]
        except HexadError as error:
            return [f"The user layer: {error}"]
