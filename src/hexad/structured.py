"""Document 1's calls on a store: structured memories, context bundles, links. Delegation only."""

from __future__ import annotations

from collections.abc import Sequence

from hexad.errors import InvalidInput
from hexad.model.link import LINK_KIND_DEFAULT, Link, check_link_kind
from hexad.wiring import Parts


class StructuredCalls:
    """The part of `Hexad` that document 1 names."""

    _parts: Parts

    # Links ------------------------------------------------------------------------------------------------------

    def link(self, source: str, target: str, *, kind: str = LINK_KIND_DEFAULT) -> Link:
        """Link two memories by id or path, also of different spaces; returns the link.

        `kind` says how, read from source to target (`related`, `based-on`, …). Drawn again, it is the same link.
        A recall follows links only when asked (`follow_links`), and only to what the actor may see.

        Raises `NotFound` for a memory that is not there, `InvalidInput` for a kind that cannot be used or a memory
        linked with itself.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     rule = hx.remember("Secrets live in the vault.", space="platform")
        ...     step = hx.remember("The release reads the signing key.", space="release")
        ...     _ = hx.link(step.id, rule.id, kind="based-on")
        ...     [linked.memory.raw for linked in hx.recall("signing key", space="release", follow_links=True).linked]
        ['Secrets live in the vault.']
        """
        stores = self._parts.stores
        check_link_kind(kind)
        with stores.db.transaction():
            source_no = stores.memories.resolve(source, space=None)
            target_no = stores.memories.resolve(target, space=None)
            if source_no == target_no:
                raise InvalidInput(f"Memory {source!r} cannot be linked with itself; name another target.")
            stores.links.put(source_no, target_no, kind, at=self._parts.clock.now())
            target_id = stores.memories.by_no([target_no])[target_no].id
            links = [link for _, link in stores.links.of([source_no], incoming=False, active_only=False)]
        return next(link for link in links if link.kind == kind and link.target.id == target_id)

    def unlink(self, source: str, target: str, *, kind: str | None = None) -> int:
        """Remove the link from `source` to `target`, of one kind or of all; returns how many there were.

        Raises `NotFound` for a memory that is not there.
        """
        stores = self._parts.stores
        with stores.db.transaction():
            source_no = stores.memories.resolve(source, space=None)
            target_no = stores.memories.resolve(target, space=None)
            return stores.links.remove(source_no, target_no, kind)

    def links(self, id_or_path: str, *, space: str | None = None) -> Sequence[Link]:
        """Return a memory's links, from it and to it, to memories that are active. Raises `NotFound`."""
        stores = self._parts.stores
        with stores.db.read():
            no = stores.memories.resolve(id_or_path, space=space)
            return [link for _, link in stores.links.of([no])]
