"""The user layer of an open store, built when `hx.user` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

from hexad.config import load_preferences
from hexad.core.lazy import Lazy
from hexad.core.tracing import log
from hexad.database.encryption.record import RECORD, KeyGiven
from hexad.database.meta import STORE_ID
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, HexadError
from hexad.ingest.sources.checkout import checkout
from hexad.layers.user.access import UserNeeds
from hexad.layers.user.api import UserFacade
from hexad.layers.user.database import default_user_dir, is_there
from hexad.layers.user.layer import UserLayer
from hexad.layers.user.publishing import PUBLISHED_KINDS
from hexad.layers.user.values import LearningReport
from hexad.memory.memory import Memory
from hexad.memory.policy import parse_stored
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.redaction.redact import RedactionRules, project_rules

LEARN_EVERY: Final = timedelta(days=1)
LOOK_EVERY_S: Final = 60.0
_LEARNED: Final = "learned_at"
_NAMED: Final = "named_in_user_layer"
_HERE: Final = "here"
_LEFT: Final = "left"
"""Whether rows of the user layer name this project, though it may have published nothing; left of them may be what
somebody stated of it.
"""
DEFAULT_USER: Final = "default"


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
        self._context, self._everything, self._folder, self._key = context, everything, folder, key
        self._look_again_s = float("-inf")
        self._facade = Lazy(self._make_facade)
        self._layer = Lazy(lambda: UserLayer(self.facade.stated))

    @property
    def facade(self) -> UserFacade:
        """The layer of whoever opened the store, as programs see it."""
        return self._facade()

    @property
    def layer(self) -> UserLayer:
        """The layer as the router asks it."""
        return self._layer()

    def close(self) -> None:
        """Let go of the layer, where it was opened."""
        if (facade := self._facade.loaded) is not None:
            facade.close()

    def _make_facade(self) -> UserFacade:
        context, everything = self._context, self._everything
        settings, actor = context.settings, context.actor
        folder = self._folder or default_user_dir()
        return UserFacade(
            UserNeeds(
                context=context,
                folder=folder,
                user_id=actor.user or DEFAULT_USER,
                project_id=lambda: everything.meta.get(STORE_ID) or "",
                place=self._place,
                facts=self._facts,
                hidden=self._hidden,
                rules=lambda: self._rules,
                stated=lambda: load_preferences(folder),
                key=KeyGiven.of(self._key, **settings.user_keys),
                naming=self._note_named,
                noted=self._note_learning,
            )
        )

    @cached_property
    def _rules(self) -> RedactionRules:
        """Return what is kept out of the layer; reading it does without."""
        settings = self._context.settings
        return project_rules("keep" if settings.pii == "keep" else "all", env_allow=settings.env_allow)

    def _place(self) -> str | None:
        """Return where the project is in its repository, as a hash; None outside of one."""
        folder = self._context.directory.parent
        found_checkout = checkout(folder)
        if found_checkout.head is None:
            return None
        inside = folder.resolve().relative_to(found_checkout.folder)
        words = f"{found_checkout.place.repository}\0{inside.as_posix()}"
        return hashlib.blake2b(words.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def _facts(self) -> Sequence[Memory]:
        """Return the project's facts that say how it is built."""
        memories = self._everything.memories
        numbers = memories.numbers(Filters(kinds=PUBLISHED_KINDS))
        found_memories = memories.by_no(numbers)
        return [found_memories[no] for no in numbers]

    def _hidden(self) -> frozenset[str]:
        """Return the spaces that hide anything from anybody: nothing of them leaves the project."""
        return frozenset(
            space.name for space in self._everything.spaces.list() if parse_stored(space.policies).hides
        )

    def learn(self) -> LearningReport | None:
        """Publish and learn; None where there is nothing to publish and nothing was, or where it is not possible now.

        What stands in the way (an encrypted project and a plain layer, a layer that cannot be opened) is said in the
        log: upkeep goes on without.
        """
        meta = self._everything.meta
        learned = meta.get(_LEARNED)
        if not self._context.settings.user.learning:
            if not learned and meta.get(_NAMED) != _HERE:
                return None
        elif not learned and not self._everything.memories.numbers(Filters(kinds=PUBLISHED_KINDS), limit=1):
            return None
        try:
            return self.facade.learn()
        except HexadError as error:
            log.warning("Nothing was learned across projects: %s", error)
            return None

    def _note_learning(self) -> None:
        learning = self._context.settings.user.learning
        meta = self._everything.meta
        meta.put(_LEARNED, self._context.clock.now().isoformat() if learning else "")
        if not learning and meta.get(_NAMED):
            meta.put(_NAMED, _LEFT)

    def _note_named(self) -> None:
        if self._everything.meta.get(_NAMED) != _HERE:
            self._everything.meta.put(_NAMED, _HERE)

    def retract(self) -> None:
        """Take out of the user layer all that names this project; raises where that cannot be done."""
        meta = self._everything.meta
        if meta.get(_LEARNED) or meta.get(_NAMED):
            self.facade.retract(everything=True)
            meta.put(_LEARNED, "")
            meta.put(_NAMED, "")

    def learn_when_due(self) -> None:
        """Learn once a day, and at once where a project that had published takes part no more."""
        now_s = self._context.clock.monotonic()
        if now_s < self._look_again_s:
            return
        self._look_again_s = now_s + LOOK_EVERY_S
        last = self._everything.meta.get(_LEARNED)
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

    def check(self) -> list[str]:
        """Return what is wrong with the user layer; nothing where there is none, or its key is not at hand."""
        if not self._context.may_see_user or not is_there(self.facade.path):
            return []
        try:
            return [f"The user layer: {problem}" for problem in self.facade.check()]
        except AccessDenied as error:
            return [] if (self.facade.path / RECORD).exists() else [str(error)]
        except HexadError as error:
            return [f"The user layer: {error}"]
