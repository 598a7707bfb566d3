"""The honeycomb of a store, built when it is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from hexad.core.arguments import is_number, quoted
from hexad.database.change_counters import ChangeReader
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput
from hexad.honeycomb.adjacency import Adjacency
from hexad.honeycomb.api import HoneycombFacade, RulesInForce
from hexad.honeycomb.circuit_breaker import CircuitBreaker
from hexad.honeycomb.entry_points import EntryIndex
from hexad.honeycomb.link_job import LinkJob
from hexad.honeycomb.statistics import Calibration
from hexad.honeycomb.tables.link_evidence import link_lease
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.values import HoneycombRules
from hexad.honeycomb.walker import JitWalker, NodeSearch
from hexad.memory.store import Stores
from hexad.redaction.masking import Masking
from hexad.search.recall.recall_log import RecallLog
from hexad.search.service import SearchService
from hexad.search.vectors.table import Vectors
from hexad.text.tokens import CharacterCounter


class HoneycombService:
    """The graph of an open store, and what keeps it.

    Rules in force, and what was looked at, stay when the store is given another embedder; what computes is made anew.
    """

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        nodes: HoneycombNodes,
        search: SearchService,
        *,
        handouts: RecallLog,
        masking: Masking,
    ) -> None:
        self._context, self._stores, self._everything = context, stores, everything
        self.nodes = nodes
        changes = ChangeReader(context.db)
        self.rules = RulesInForce(current=rules_of(context.settings.honeycomb))
        self.layout = Adjacency(self.nodes, changes)
        self.breaker = CircuitBreaker(
            context.db, self.nodes, rules=lambda: self.rules.current, clock=context.clock
        )
        self.entries = EntryIndex(self.nodes, changes)
        context.db.caches.add("honeycomb", self.layout)
        context.db.caches.add("honeycomb", self.entries)
        self._search = self._node_search(search)
        self.facade = HoneycombFacade(
            context,
            stores,
            everything,
            rules=self.rules,
            layout=self.layout,
            breaker=self.breaker,
            masking=masking,
            handouts=handouts,
            search=lambda: self._search,
        )
        self.linking = self._link_job(search)

    def use(self, search: SearchService) -> None:
        """Go on with the vectors of another embedder; who holds the facade goes on with it."""
        self._search = self._node_search(search)
        self.linking = self._link_job(search)

    def _link_job(self, search: SearchService) -> LinkJob:
        context = self._context
        return LinkJob(
            self._everything,
            search.index,
            rules=lambda: self.rules.current,
            owner=context.owner,
            lease=lambda: link_lease(context.directory, clock=context.clock),
            clock=context.clock,
        )

    def _node_search(self, search: SearchService) -> NodeSearch:
        context, stores = self._context, self._stores
        walker = JitWalker(
            stores,
            self.layout,
            self.entries,
            search.index,
            rules=lambda: self.rules.current,
            counter=CharacterCounter(),
            clock=context.clock,
        )
        calibration = Calibration(self.nodes, Vectors(context.db), ChangeReader(context.db))
        return NodeSearch(stores, search, walker, calibration, rules=lambda: self.rules.current)


_TIMES = {
    "half_life_hours": ("half_life", "hours"),
    "loop_window_s": ("loop_detection_window", "seconds"),
    "session_s": ("max_session_time", "seconds"),
}
_NUMBERS = {
    "max_nodes": "max_nodes",
    "max_data_bytes": "max_data_bytes",
    "loop_limit": "loop_access_limit",
    "cosine_weight": "cosine_weight",
    "decay_weight": "decay_weight",
}
_RINGS = "ring_half_lives_days"


def rules_of(settings: Mapping[str, object]) -> HoneycombRules:
    """Return the rules of the table `[honeycomb]`; raises `InvalidInput` for what it may not say."""
    given_settings: dict[str, object] = {}
    for name, value in settings.items():
        if name in _NUMBERS:
            given_settings[_NUMBERS[name]] = value
        elif name in _TIMES:
            field, unit = _TIMES[name]
            given_settings[field] = _time(value, name, unit)
        elif name == _RINGS:
            if not isinstance(value, list) or not value:
                raise InvalidInput(
                    f"{name} = {quoted(value)} should be a list of days, the main ring's first.",
                    argument=name,
                )
            given_settings["ring_half_lives"] = tuple(
                None if days == 0 and days is not False else _time(days, name, "days") for days in value
            )
        else:
            known = ", ".join([*_NUMBERS, *_TIMES, _RINGS])
            raise InvalidInput(f"unknown setting {name!r}; known are {known}.")
    try:
        return HoneycombRules(**given_settings)  # type: ignore[arg-type]  # checked by the values
    except InvalidInput as error:
        words = str(error)
        for name, rule in _NUMBERS.items():
            words = words.replace(rule, name)  # as the file calls it
        raise InvalidInput(words) from error


def _time(value: object, name: str, unit: str) -> timedelta:
    if not is_number(value, 0, 1e9) or value == 0:
        raise InvalidInput(f"{name} = {quoted(value)} cannot be used; give {unit} above 0.", argument=name)
    try:
        return timedelta(**{unit: value})
    except OverflowError as error:
        raise InvalidInput(f"{name} = {quoted(value)} is too long.", argument=name) from error
