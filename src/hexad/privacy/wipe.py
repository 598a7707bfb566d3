"""Removing a whole scope for good: what `forget` purges, part by part, and what else is a project's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hexad.core.actor import AS_OWNER
from hexad.core.erasure import ErasureReceipt
from hexad.database.component import Component
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, NotFound
from hexad.experience.service import ExperienceService
from hexad.experience.values.tags import Tag, TagType
from hexad.layers.user.service import UserService
from hexad.memory.store import Stores
from hexad.privacy.erasure import ErasureService
from hexad.privacy.holdings import DataOwner, Holdings, has_session
from hexad.privacy.report import Scope, WipeReport, parse_scope

_PAGE: Final = 500


class Wiper:
    """Removes all of a scope of an open store."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        *,
        components: Sequence[Component],
        erasure: ErasureService,
        experience: Callable[[], ExperienceService],
        user: Callable[[], UserService],
    ) -> None:
        self._context, self._stores, self._components = context, stores, components
        self._erasure, self._experience, self._user = erasure, experience, user

    def wipe(
        self,
        scope: str,
        *,
        session: str | None,
        confirm: bool,
        dry_run: bool,
        progress: Callable[[int], None] | None,
    ) -> WipeReport:
        """Do what `Hexad.wipe` says.

        A dry run tries each erasure by itself, and only counts tags and nodes: a wipe is as many transactions as there
        are sessions and spaces, and in one it would hold up others for minutes.
        """
        chosen = parse_scope(scope, session)
        if not self._context.actor.is_owner:
            raise AccessDenied(
                f"A wipe is for the store's owner alone, and {self._context.actor.describe()} is not.",
                remedy=AS_OWNER,
            )
        if not confirm and not dry_run:
            raise AccessDenied(
                f"A wipe of the {chosen.value} is for good;",
                remedy="confirm it ({confirm=True}). A dry run shows what would go.",
            )

        if chosen is Scope.USER:
            user = self._user().facade
            receipt = user.wipe(confirm=confirm, dry_run=dry_run)
            return WipeReport(scope=chosen, session=None, dry_run=dry_run, user=receipt)

        def forget(**given: str | bool | None) -> ErasureReceipt:
            return self._erasure.forget(given, purge=True, confirm=True, dry_run=dry_run, progress=progress)

        xdb = self._experience().xdb
        sessions = [session_info.id for session_info in xdb.sessions()]
        if chosen is Scope.SESSION:
            is_known = session in sessions or Holdings(self._context.db).numbers(
                DataOwner(sessions=(str(session),))
            )
            is_known = is_known or has_session(self._context.db, self._components, str(session))
            if not is_known and not self._erasure.on_ledger(session=session):
                raise NotFound(
                    f"There is no session {session!r}, neither recorded nor of a conversation, the graph or the "
                    "ledger;",
                    remedy="`{sessions()}` lists those that were recorded.",
                )
            return WipeReport(
                scope=chosen, session=session, dry_run=dry_run, receipts=(forget(session=session),)
            )
        if not dry_run:
            self._user().retract()  # the first: where it cannot be done nothing is gone yet
        receipts = [forget(session=session_id) for session_id in sessions]
        receipts += [forget(space=space.name) for space in self._stores.spaces.list()]
        tags = self._wipe_tags(dry_run=dry_run)
        contracts = self._experience().contracts.remove_texts(dry_run=dry_run)
        counts: dict[str, Any] = {}
        for component in reversed(self._components):  # what was made of others before those
            for wipe in component.wipes:
                counts.update(wipe(self._context.db, dry_run))
        # The last: it clears the database's pages and logs of all that went before, tags too.
        receipts.append(forget(project=True))
        return WipeReport(
            scope=chosen,
            session=None,
            dry_run=dry_run,
            receipts=tuple(receipts),
            tags=tags,
            contracts=contracts,
            **counts,
        )

    def _wipe_tags(self, *, dry_run: bool) -> int:
        """Remove the tags that people made; concepts come from packs and say nothing of anybody."""
        xdb = self._experience().xdb
        tags: list[Tag] = []
        for kind in TagType:
            if kind is TagType.CONCEPT:
                continue
            while page := xdb.find_tags(
                tag_type=kind, limit=_PAGE, offset=sum(tag.tag_type is kind for tag in tags)
            ):
                tags += page
        if not dry_run:
            for tag in tags:
                xdb.remove_tag(tag.id, force=True)
        return len(tags)
