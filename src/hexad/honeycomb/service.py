"""The honeycomb of a store, built when it is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from hexad.database.change_counters import ChangeReader
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput
from hexad.honeycomb.api import HoneycombFacade, HoneycombNeeds, NeedsInForce, RulesInForce
from hexad.honeycomb.circuit_breaker import CircuitBreaker
from hexad.honeycomb.graph.adjacency import Adjacency
from hexad.honeycomb.graph.entry_points import EntryIndex
from hexad.honeycomb.graph.statistics import Calibration
from hexad.honeycomb.link_job import LinkJob
from hexad.honeycomb.tables.link_evidence import link_lease
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.values import HoneycombRules, JitPiece
from hexad.honeycomb.walk.walker import JitWalker, seeds_of
from hexad.memory.store import Stores
from hexad.providers.budgets.metered_models import query_embedder
from hexad.redaction.masking import Masking
from hexad.search.recall.recall_log import RecallLog
from hexad.search.service import SearchService
from hexad.search.vectors.table import Vectors
from hexad.spaces.access import require_owner, require_owner_for_good
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
        self._handouts = None if context.db.readonly else handouts
        self._masking = masking
        self.nodes = nodes
        changes = ChangeReader(context.db)
        self.rules = RulesInForce(current=rules_of(context.settings.honeycomb))
        self.layout = Adjacency(self.nodes, changes)
        self.breaker = CircuitBreaker(
            context.db, self.nodes, rules=lambda: self.rules.current, clock=context.clock
        )
        self.entries = EntryIndex(self.nodes, changes)
        self.in_force = NeedsInForce(current=self._needs(search))
        self.facade = HoneycombFacade(self.in_force)
        self.linking = self._link_job(search)

    def use(self, search: SearchService) -> None:
        """Go on with the vectors of another embedder; who holds the facade goes on with it."""
        self.in_force.current = self._needs(search)
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

    def _needs(self, search: SearchService) -> HoneycombNeeds:
        context, stores, embedder = self._context, self._stores, search.embedder
        calibration = Calibration(self.nodes, Vectors(context.db), ChangeReader(context.db))
        walker = JitWalker(
            stores,
            self.layout,
            self.entries,
            search.index,
            rules=lambda: self.rules.current,
            counter=CharacterCounter(),
            clock=context.clock,
        )
        return HoneycombNeeds(
            stores=stores,
            clock=context.clock,
            rules=self.rules,
            layout=self.layout,
            walker=walker,
            breaker=self.breaker,
            seeds=lambda query, space: seeds_of(search.recaller, query, space, roles=stores.roles),
            note=lambda pieces: self._note(pieces, at=context.clock.now()),
            memory_threshold=lambda: calibration.threshold(self.rules.current),
            mask=self._masking.text,
            secret_in=self._masking.secret_in,
            check_owner=lambda doing: require_owner(context.actor, self._everything, doing=doing),
            check_for_good=lambda doing: require_owner_for_good(context.actor, doing=doing),
            embed=None if embedder is None else embedder.embed,
            embed_query=None if embedder is None else query_embedder(embedder),
        )

    def _note(self, pieces: Sequence[JitPiece], *, at: datetime) -> None:
        """Remember which memories were handed out, as recall does."""
        if self._handouts is not None:
            texts = [(piece.id, piece.text, piece.text) for piece in pieces if piece.memory_id is not None]
            self._handouts.note_texts(texts, at=at)


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
                    f"{name} = {value!r} should be a list of days, the main ring's first.", argument=name
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
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e9:
        raise InvalidInput(f"{name} = {value!r} cannot be used; give {unit} above 0.", argument=name)
    try:
        return timedelta(**{unit: value})
    except OverflowError as error:
        raise InvalidInput(f"{name} = {value!r} is too long.", argument=name) from error
