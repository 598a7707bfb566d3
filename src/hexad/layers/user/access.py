"""What stands between the calls of `hx.user` and the user layer: when it is opened, who may, what may be stored."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final

from hexad.config import load_preferences
from hexad.core.arguments import is_text, parse_text, quoted
from hexad.database.encryption.record import KeyGiven
from hexad.database.meta import GO_ON, Meta
from hexad.database.store_context import StoreContext
from hexad.errors import (
    AccessDenied,
    HexadError,
    IntegrityError,
    InvalidInput,
    LimitExceeded,
    StorageFailure,
)
from hexad.layers.user.database import UserStore, open_user_store
from hexad.layers.user.learning import state_preference
from hexad.layers.user.presence import DATABASE, DEFAULT_USER, is_there, place_of
from hexad.layers.user.publishing import PublishingProject
from hexad.layers.user.tables.preferences import FILE
from hexad.layers.user.values import KEY_CHARS_LIMIT, TEXT_CHARS_LIMIT, VALUE_CHARS_LIMIT, Source
from hexad.redaction.injection.detector import instructions_in
from hexad.redaction.redact import RedactionRules, find, find_named, project_rules, redact
from hexad.text.key_names import key_of

_STATED: Final = "stated"
"""What the user's own file said when it was last read."""


_HERE: Final = "here"
"""What older versions noted of a layer: that there is one."""


class _AnotherLayer(IntegrityError):
    """A layer was begun anew in the place of one that was known."""


class UserAccess:
    """Opens the layer when it is first needed, and looks at what is to be stored."""

    def __init__(
        self, context: StoreContext, project: PublishingProject, *, folder: Path, key: KeyGiven
    ) -> None:
        """`folder` is where the layer lies, `key` opens it where it is encrypted."""
        self._context, self._project, self._key = context, project, key
        self.folder, self.user_id = folder, context.actor.user or DEFAULT_USER
        self._lock = threading.RLock()
        self._store: UserStore | None = None
        self._readonly = False

    # Opening ----------------------------------------------------------------------------------------------------

    def reading(self) -> UserStore | None:
        """Return the layer to read from; None where there is none yet. Raises what opening a store raises, and
        `InvalidInput` once the project's store is closed.
        """
        self._context.db.require_open()
        self._require_owner()
        with self._lock:
            if self._store is None:
                self._require_kept()
                if not is_there(self.folder):
                    if self._context.db.readonly or self._refused() or not load_preferences(self.folder):
                        return None  # nothing is known of anybody
                    return self._open(readonly=False)
                return self._open(readonly=self._context.db.readonly or self._refused())
            return self._store

    def writing(self, *, removes: bool = False) -> UserStore:
        """Return the layer to write to, made where it is not there. What only `removes` may do so in every layer.

        Raises `AccessDenied` for an actor that is not the owner, and for an encrypted project where the layer is
        plain; `StorageFailure` in a store that was opened read-only, `InvalidInput` once it is closed.
        """
        self._context.db.require_open()
        self._require_owner()
        if self._context.db.readonly:
            raise StorageFailure(
                "Cannot write to the user layer: the store was opened read-only. Open it for writing."
            )
        with self._lock:
            if not removes and self._refused():
                raise AccessDenied(
                    f"This project is encrypted, and the user layer in {self.folder} is not: what was learned "
                    "here would be readable there. Encrypt it (`hexad encrypt --user`), or say in hexad.toml that it "
                    "may stay plain: [user] allow_plain = true."
                )
            if self._store is not None and self._readonly:
                self.close()
            if self._store is None:
                self._require_kept()
            return self._store or self._open(readonly=False)

    def _open(self, *, readonly: bool) -> UserStore:
        store = open_user_store(
            self.folder,
            user_id=self.user_id,
            clock=self._context.clock,
            key_source=self._key,
            readonly=readonly,
            purpose=self._context.actor.agent or "library",
        )
        self._store, self._readonly = store, readonly
        try:
            self._require_same(store)
            if not readonly:
                self.read_file(store)
                if not self._context.settings.user.learning:
                    self.leave(store)
                self._note(store)
        except BaseException:
            self.close()
            raise
        return store

    @property
    def place(self) -> str:
        """The layer's folder and user, as this project's notes name them."""
        return place_of(self.folder, self.user_id)

    def loss(self) -> str | None:
        """Return in words what became of a layer that this project knew; None where it is there, or none was known."""
        if (lost := self._lost_file()) is not None or self._known() is None:
            return lost
        try:
            self.reading()
        except _AnotherLayer as error:
            return str(error)
        except HexadError:
            pass  # what else is wrong with it is said by who opens it
        return None

    def _known(self) -> str | None:
        return Meta(self._context.db).user_layer(self.place)

    def _lost_file(self) -> str | None:
        path = self.folder / DATABASE
        if self._known() is None or (path.exists() and path.stat().st_size):
            return None
        what = "empty" if path.exists() else "gone"
        return f"{path} is {what}, and this project had opened it. Put a backup in its place. {GO_ON}"

    def _require_kept(self) -> None:
        if (lost := self._lost_file()) is not None:
            raise IntegrityError(lost)

    def _require_same(self, store: UserStore) -> None:
        known = self._known()
        if known not in (None, _HERE, store.identity()):
            raise _AnotherLayer(
                f"{self.folder / DATABASE} is not the one that this project had opened: it was begun anew. Put a "
                f"backup in its place. {GO_ON}"
            )

    def _note(self, store: UserStore) -> None:
        """Note which layer is here, so that it is missed from now on."""
        if self._context.db.readonly or self._context.db.in_transaction:
            return
        if self._known() in (None, _HERE):
            # Where the project's own disk refuses, that is no fault of the layer; the next opening notes it.
            with contextlib.suppress(StorageFailure):
                Meta(self._context.db).note_user_layer(self.place, store.identity())

    def close(self) -> None:
        """Let go of the layer. Idempotent; the next call opens it again."""
        with self._lock:
            store, self._store = self._store, None
            if store is not None:
                store.close()

    def _require_owner(self) -> None:
        context = self._context
        if not context.may_see_user:
            raise AccessDenied(
                f"The user layer is not for a role, and {context.actor.describe()} has one. Open the store without a "
                "role, or with the role 'owner'."
            )

    def _refused(self) -> bool:
        """Whether the layer is plain though the project is encrypted, and may not be."""
        if self._context.crypt is None or self._context.settings.user.allow_plain:
            return False
        if self._store is not None:
            return not self._store.encrypted
        return not (self.folder / "encryption.json").exists() and not (
            self._key.explicit and not (self.folder / DATABASE).exists()
        )

    def require_learning(self) -> None:
        """Raise `AccessDenied` where this project does not take part in learning."""
        if not self._context.settings.user.learning:
            raise AccessDenied(
                "This project does not take part in learning ([user] learning = false in hexad.toml); nothing was "
                "learned.",
                remedy="`{hx.user.prefer}` states a preference.",
            )

    # What is kept by itself -------------------------------------------------------------------------------------

    def leave(self, store: UserStore, *, everything: bool = False) -> int:
        """Take out of the layer what this project published, and what was accepted and rejected in it; return how many
        values that were. `everything` takes along what was said of this project alone.
        """
        project = self._project.id
        if not store.projects.names(project, everything=everything):
            return 0
        with store.db.transaction():
            count = store.projects.retract(project, everything=everything)
        store.holdings.clear()
        self._project.note_learning()
        return count

    def read_file(self, store: UserStore) -> int:
        """Take over what the user's own file says, where it says anything new; return how many preferences changed.

        A value that it does not say any more goes, unless somebody said it otherwise since.
        """
        stated = {
            name: [self.pair(name, value, f"{name} in preferences.toml")[1] for value in values]
            for name, values in self._stated_keys().items()
        }
        text = json.dumps(stated, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        before = store.projects.state(_STATED)
        if before == digest or (before is None and not stated):
            return 0
        changed = 0
        now = self._context.clock.now()
        with store.db.transaction():
            for row in store.preferences.all():
                preference = row.preference
                if row.origin == FILE and preference.value not in stated.get(preference.key, ()):
                    store.preferences.remove(preference.key, preference.value)
                    changed += 1
            for key, values in stated.items():
                for value in values:
                    known_preference = store.preferences.get(key, value)
                    if known_preference is not None and known_preference.preference.source is Source.EXPLICIT:
                        continue
                    fresh = store.preferences.new(key, value, confidence=1.0, source=Source.EXPLICIT, at=now)
                    stored_preference = state_preference(
                        known_preference,
                        fresh,
                        origin=FILE if known_preference is None else known_preference.origin,
                        at=now,
                    )
                    store.preferences.put(replace(stored_preference, drifted=0))
                    changed += 1
            store.projects.put_state({_STATED: digest})
        return changed

    def _stated_keys(self) -> dict[str, list[str]]:
        """Return what the user's own file says, by key; keys that are written differently are one."""
        keys: dict[str, list[str]] = {}
        for key, values in load_preferences(self.folder).items():
            keys.setdefault(self.key(key, "a key of preferences.toml"), []).extend(values)
        return keys

    @cached_property
    def _rules(self) -> RedactionRules:
        """Return what is kept out of the layer; reading it does without."""
        settings = self._context.settings
        return project_rules("keep" if settings.pii == "keep" else "all", env_allow=settings.env_allow)

    # What may be stored -----------------------------------------------------------------------------------------

    def key(self, key: str, name: str = "key") -> str:
        """Return a key as preferences are filed; raises `InvalidInput` for what cannot be one."""
        text = self._plain(key, name, KEY_CHARS_LIMIT)
        found_key = key_of(text)
        if not found_key:
            raise InvalidInput(
                f"{name} = {quoted(key)} has no letter or digit; give a name, such as 'db'.", argument=name
            )
        self._require_harmless(text, name)
        return found_key

    def value(self, value: str, name: str = "value") -> str:
        """Return a value that holds neither a secret nor personal data; raises `InvalidInput` for one that does."""
        text = " ".join(self._plain(value, name, VALUE_CHARS_LIMIT).split())
        self._require_harmless(text, name)
        return text

    def pair(self, key: str, value: str, name: str = "value") -> tuple[str, str]:
        """Return a key and its value, each as alone; raises `InvalidInput` also for a secret by the word of its key."""
        found_key, text = self.key(key), self.value(value, name)
        self._require_harmless_under(key, text, name)
        return found_key, text

    def token(self, token: str | None, name: str = "idempotency_key") -> str | None:
        """Return what names a call, None for none; raises `InvalidInput` for what names nothing."""
        text = parse_text(token, name)
        return None if text is None else self._plain(text, name, TEXT_CHARS_LIMIT)

    def text(self, text: str, name: str) -> str:
        """Return a text without the secrets and personal data that it holds."""
        plain = self._plain(text, name, TEXT_CHARS_LIMIT)
        return redact(plain, rules=self._rules, salt=self._context.salt()).text.strip()

    def objection(self, text: str) -> str | None:
        """Return why a value may not leave its project; None where it may."""
        if "\0" in text or not _encodes(text):
            return "not a text"
        findings = find(text, rules=self._rules)
        if findings:
            return "secret" if findings[0].kind == "secret" else "personal data"
        return "reads as instructions" if instructions_in(text) else None

    def _require_harmless(self, text: str, name: str) -> None:
        findings = find(text, rules=self._rules)
        if findings:
            raise InvalidInput(
                f"The {name} holds {findings[0].rule.replace('_', ' ')}: neither secrets nor personal data are kept in "
                "the user layer. Nothing was stored."
            )

    def _require_harmless_under(self, key: str, text: str, name: str) -> None:
        rule = find_named(key, text, rules=self._rules)
        if rule is not None:
            raise InvalidInput(
                f"The {name} holds {rule.replace('_', ' ')}, as its key {quoted(key)} says: neither secrets nor "
                "personal data are kept in the user layer. Nothing was stored."
            )

    @staticmethod
    def _plain(text: str, name: str, limit: int) -> str:
        if not is_text(text):
            raise InvalidInput(f"{name} must be a string, not {quoted(text)}.", argument=name)
        if not text.strip() or "\0" in text or not _encodes(text):
            raise InvalidInput(
                f"{name} = {quoted(text)} says nothing that could be stored; give a text.", argument=name
            )
        if len(text) > limit:
            raise LimitExceeded(f"{name} has {len(text):,} characters; at most {limit:,} are kept.")
        return text


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
