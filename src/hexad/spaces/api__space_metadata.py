"""The part of `hx.spaces` that says what a space is: its metadata."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from hexad.errors import InvalidSpace
from hexad.memory.draft import AuditEvent
from hexad.memory.memory import JSONValue
from hexad.memory.policy import parse_stored
from hexad.memory.space import SpaceInfo
from hexad.spaces.access import require_whole
from hexad.spaces.files.api import SpaceFileCalls
from hexad.spaces.objects import given_object


class SpaceMetadataCalls(SpaceFileCalls):
    """Sets what a space that is there says of itself."""

    @abstractmethod
    def get(self, name: str) -> SpaceInfo:
        """Return one space."""

    def set_metadata(
        self, name: str, metadata: Mapping[str, JSONValue] | str, *, merge: bool = False
    ) -> SpaceInfo:
        """Set the metadata of a space that is there, and return it; `merge` changes only what is given.

        `metadata` is an object or JSON; with `merge`, null takes a name out. `project` is that of what is written into
        the space from then on, and joins the space to that project's `use_context`. Secrets are taken out as of every
        text. Raises `InvalidSpace` for what cannot be stored, `NotFound`, and `AccessDenied` for an actor who may not
        see the whole space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="docs")
        ...     hx.spaces.set_metadata("docs", {"project": "shop"}).metadata
        {'project': 'shop'}
        """
        given = given_object(metadata, "metadata")
        if "reset" in given:
            raise InvalidSpace(
                "Invalid space metadata 'reset': it empties a space where one is created; use another name."
            )
        files = self._files
        at = files.clock.now()
        with files.stores.db.transaction():
            space = files.stores.spaces.get(name)
            require_whole(files.actor, parse_stored(space.policies), space=name, doing="its metadata")
            if merge:
                given = {
                    key: value for key, value in {**space.metadata, **given}.items() if value is not None
                }
                given = given_object(given, "metadata")
            masked = files.importer().masked(given, space.policies)
            files.stores.spaces.set_metadata(name, masked, at=at)
            files.audit.record(
                AuditEvent(what="set_metadata", at=at, detail={"space": name, "names": sorted(masked)})
            )
        return self.get(name)
