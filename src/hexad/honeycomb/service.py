"""The honeycomb of a store, built when it is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hexad.database.change_counters import ChangeReader
from hexad.errors import InvalidInput
from hexad.honeycomb.api import HoneycombFacade, HoneycombNeeds, NeedsInForce, RulesInForce
from hexad.honeycomb.circuit_breaker import CircuitBreaker
from hexad.honeycomb.graph.adjacency import Adjacency
from hexad.honeycomb.graph.entry_points import EntryIndex
from hexad.honeycomb.graph.statistics import Calibration
from hexad.honeycomb.link_job import LinkJob, link_lease
from hexad.honeycomb.values import HoneycombRules, JitPiece
from hexad.honeycomb.walk.walker import JitWalker, seeds_of
from hexad.providers.budgets.metered_models import query_embedder
from hexad.redaction.masking import Masking
from hexad.search.recall.recall_log import RecallLog
from hexad.search.vectors.index import VectorIndex
from hexad.spaces.access import require_owner, require_owner_for_good
from hexad.text.tokens import CharacterCounter

if TYPE_CHECKING:
    from hexad.services import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombingNeeds:
    """What it is handed."""

    parts: Parts
    vectors: Callable[[], VectorIndex | None]
    owner: str
    before: Honeycombing | None = None  # of the same open store, with another embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Honeycombing:
    """The graph, and what keeps it."""

    facade: HoneycombFacade
    in_force: NeedsInForce
    rules: RulesInForce
    layout: Adjacency
    entries: EntryIndex
    breaker: CircuitBreaker
    linking: LinkJob


def build_honeycombing(needs: HoneycombingNeeds) -> Honeycombing:
    """Return the honeycomb of one store; rules in force, and what was looked at, are those of the one before."""
    parts, base = needs.parts, needs.parts.base
    stores, clock, embedder = parts.stores, parts.clock, parts.embedder
    handouts = None if base.db.readonly else parts.handouts
    changes, before = ChangeReader(stores.db), needs.before
    calibration = Calibration(stores.honeycomb, stores.vectors, changes)
    if before is None:
        rules = RulesInForce(current=rules_of(base.settings.honeycomb))
        layout = Adjacency(stores.honeycomb, changes)
        breaker = CircuitBreaker(stores.db, stores.honeycomb, rules=lambda: rules.current, clock=clock)
        entries = EntryIndex(stores.honeycomb, changes)
    else:
        rules, layout, breaker, entries = before.rules, before.layout, before.breaker, before.entries
    walker = JitWalker(
        stores,
        layout,
        entries,
        needs.vectors,
        rules=lambda: rules.current,
        counter=CharacterCounter(),
        clock=clock,
    )
    masking = Masking(salt=lambda: base.place.keys.redaction_salt, rules=parts.rules)
    facade_needs = HoneycombNeeds(
        stores=stores,
        clock=clock,
        rules=rules,
        layout=layout,
        walker=walker,
        breaker=breaker,
        seeds=lambda query, space: seeds_of(parts.recaller, query, space, roles=stores.roles),
        note=lambda pieces: _note(handouts, pieces, at=clock.now()),
        memory_threshold=lambda: calibration.threshold(rules.current),
        mask=masking.text,
        secret_in=masking.secret_in,
        check_owner=lambda doing: require_owner(base.actor, parts.everything, doing=doing),
        check_for_good=lambda doing: require_owner_for_good(base.actor, doing=doing),
        embed=None if embedder is None else embedder.embed,
        embed_query=None if embedder is None else query_embedder(embedder),
    )
    if before is None:
        in_force = NeedsInForce(current=facade_needs)
        facade = HoneycombFacade(in_force)
    else:
        in_force, facade = before.in_force, before.facade
        in_force.current = facade_needs
    linking = LinkJob(
        parts.everything,
        needs.vectors,
        rules=lambda: rules.current,
        owner=needs.owner,
        lease=lambda: link_lease(base.place.directory, clock=clock),
        clock=clock,
    )
    return Honeycombing(
        facade=facade,
        in_force=in_force,
        rules=rules,
        layout=layout,
        entries=entries,
        breaker=breaker,
        linking=linking,
    )


def _note(handouts: RecallLog | None, pieces: Sequence[JitPiece], *, at: datetime) -> None:
    """Remember which memories were handed out, as recall does."""
    if handouts is not None:
        texts = [(piece.id, piece.text, piece.text) for piece in pieces if piece.memory_id is not None]
        handouts.note_texts(texts, at=at)


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
    given: dict[str, object] = {}
    for name, value in settings.items():
        if name in _NUMBERS:
            given[_NUMBERS[name]] = value
        elif name in _TIMES:
            field, unit = _TIMES[name]
            given[field] = _time(value, name, unit)
        elif name == _RINGS:
            if not isinstance(value, list) or not value:
                raise InvalidInput(
                    f"{name} = {value!r} should be a list of days, the main ring's first.", argument=name
                )
            given["ring_half_lives"] = tuple(
                None if days == 0 and days is not False else _time(days, name, "days") for days in value
            )
        else:
            known = ", ".join([*_NUMBERS, *_TIMES, _RINGS])
            raise InvalidInput(f"unknown setting {name!r}; known are {known}.")
    try:
        return HoneycombRules(**given)  # type: ignore[arg-type]  # checked by the values
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
