"""The user layer of an open store, built when `hx.user` is first asked for: a recall from a cold start does without."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hexad.config import load_preferences
from hexad.core.tracing import log
from hexad.database.meta import STORE_ID
from hexad.errors import HexadError
from hexad.memory.memory import Memory
from hexad.memory.policy import parse_stored
from hexad.memory.query import Filters

if TYPE_CHECKING:
    from hexad.layers.user.api import UserFacade
    from hexad.layers.user.layer import UserLayer
    from hexad.layers.user.values import LearningReport
    from hexad.memory.store import Stores
    from hexad.redaction.redact import RedactionRules
    from hexad.services import Base

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


class UserUpkeep:
    """The part of `Parts` that has to do with what is known of a person across projects."""

    base: Base
    stores: Stores
    everything: Stores
    _look_again_s = float("-inf")

    @cached_property
    def user(self) -> UserFacade:
        """The layer of whoever opened the store; nothing is opened yet."""
        from hexad.database.encryption.record import KeyGiven
        from hexad.layers.user.access import UserNeeds
        from hexad.layers.user.api import UserFacade
        from hexad.layers.user.database import default_user_dir

        base = self.base
        settings, actor = base.settings, base.actor
        folder = base.user_dir or default_user_dir()
        return UserFacade(
            UserNeeds(
                folder=folder,
                user_id=actor.user or DEFAULT_USER,
                clock=base.clock,
                project_id=lambda: base.stores.meta.get(STORE_ID) or "",
                place=self._place,
                facts=self._facts,
                hidden=self._hidden,
                rules=lambda: self._rules_of_user,
                salt=lambda: base.place.keys.redaction_salt,
                stated=lambda: load_preferences(folder),
                key=KeyGiven.of(base.user_key, **settings.user_keys),
                learning=settings.user.learning,
                drift_projects=settings.user.drift_projects,
                allow_plain=settings.user.allow_plain,
                encrypted=base.place.crypt is not None,
                readonly=base.db.readonly,
                may_see=actor.is_owner or actor.role is None,
                actor=actor.describe(),
                purpose=actor.agent or "library",
                naming=self._note_named,
                noted=self._note_learning,
                require_open=base.db.require_open,
            )
        )

    @cached_property
    def user_layer(self) -> UserLayer:
        """The layer as the router asks it."""
        from hexad.layers.user.layer import UserLayer

        return UserLayer(self.user.stated)

    @cached_property
    def _rules_of_user(self) -> RedactionRules:
        """Return what is kept out of the layer; reading it does without."""
        from hexad.redaction.redact import project_rules

        settings = self.base.settings
        return project_rules("keep" if settings.pii == "keep" else "all", env_allow=settings.env_allow)

    def _place(self) -> str | None:
        """Return where the project is in its repository, as a hash; None outside of one."""
        from hexad.ingest.sources.checkout import checkout

        folder = self.base.place.directory.parent
        found_checkout = checkout(folder)
        if found_checkout.head is None:
            return None
        inside = folder.resolve().relative_to(found_checkout.folder)
        words = f"{found_checkout.place.repository}\0{inside.as_posix()}"
        return hashlib.blake2b(words.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def _facts(self) -> Sequence[Memory]:
        """Return the project's facts that say how it is built."""
        from hexad.layers.user.publishing import PUBLISHED_KINDS

        memories = self.everything.memories
        numbers = memories.numbers(Filters(kinds=PUBLISHED_KINDS))
        found_memories = memories.by_no(numbers)
        return [found_memories[no] for no in numbers]

    def _hidden(self) -> frozenset[str]:
        """Return the spaces that hide anything from anybody: nothing of them leaves the project."""
        return frozenset(
            space.name for space in self.everything.spaces.list() if parse_stored(space.policies).hides
        )

    def learn(self) -> LearningReport | None:
        """Publish and learn; None where there is nothing to publish and nothing was, or where it is not possible now.

        What stands in the way (an encrypted project and a plain layer, a layer that cannot be opened) is said in the
        log: upkeep goes on without.
        """
        from hexad.layers.user.publishing import PUBLISHED_KINDS

        meta = self.everything.meta
        learned = meta.get(_LEARNED)
        if not self.base.settings.user.learning:
            if not learned and meta.get(_NAMED) != _HERE:
                return None
        elif not learned and not self.everything.memories.numbers(Filters(kinds=PUBLISHED_KINDS), limit=1):
            return None
        try:
            return self.user.learn()
        except HexadError as error:
            log.warning("Nothing was learned across projects: %s", error)
            return None

    def _note_learning(self) -> None:
        learning = self.base.settings.user.learning
        meta = self.everything.meta
        meta.put(_LEARNED, self.base.clock.now().isoformat() if learning else "")
        if not learning and meta.get(_NAMED):
            meta.put(_NAMED, _LEFT)

    def _note_named(self) -> None:
        if self.everything.meta.get(_NAMED) != _HERE:
            self.everything.meta.put(_NAMED, _HERE)

    def retract_user(self) -> None:
        """Take out of the user layer all that names this project; raises where that cannot be done."""
        meta = self.everything.meta
        if meta.get(_LEARNED) or meta.get(_NAMED):
            self.user.retract(everything=True)
            meta.put(_LEARNED, "")
            meta.put(_NAMED, "")

    def learn_when_due(self) -> None:
        """Learn once a day, and at once where a project that had published takes part no more."""
        now_s = self.base.clock.monotonic()
        if now_s < self._look_again_s:
            return
        self._look_again_s = now_s + LOOK_EVERY_S
        last = self.everything.meta.get(_LEARNED)
        due = (
            not last
            or last <= (self.base.clock.now() - LEARN_EVERY).isoformat()
            or not self.base.settings.user.learning
        )
        if due:
            self.learn()

    def close_user(self) -> None:
        """Let go of the user layer."""
        if "user" in self.__dict__:
            self.user.close()
