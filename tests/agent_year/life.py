"""Plays the year: works, makes notes, pins, hands in, sleeps, and starts anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from random import Random
from typing import Final

from agent_year.books import Books, Night
from agent_year.buds import Buds
from agent_year.plan import Event, SessionPlan, Step, YearPlan, YearShape
from agent_year.topics import Interests, find_topics
from hexad.config import CONFIG_FILE
from hexad.core.clock import FrozenClock
from hexad.core.ids import TimeSortedIds
from hexad.database.files import atomic_write
from hexad.engine import Hexad
from hexad.errors import LimitExceeded
from hexad.lifecycle.init_and_encrypt import init
from hexad.lifecycle.opening import open as open_hexad

IMPORTED: Final = 0.05
"""Of the sessions so many come from elsewhere: all at once, each timestep with a time of its own."""
RESUMED: Final = 0.05
"""Of the days so many begin with the session that the last one ended with."""
PIN_DAYS: Final = 30
"""What was pinned because it was interesting is let go after so long."""
_NIGHT: Final = time(23, 30)
_REMARKS: Final = ("surprising", "interesting", "confusing", "worth a second look")
_CONTRACTS: Final = (
    (2, {"warm_quota_tokens": 200_000, "cold_storage_bytes": 200 << 20, "context_window_tokens": 16_384}),
    (9, {"warm_quota_tokens": 400_000, "cold_storage_bytes": 400 << 20, "context_window_tokens": 16_384}),
)
"""From which month on there is which."""
_TOO_SMALL: Final = {"warm_quota_tokens": 99_999}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an event was recorded."""

    session_id: str
    first: int
    last: int
    event_id: str | None


class AgentYear:
    """A year of an agent's life, played into a store through its public calls.

    `open_store` opens the store; it is called again for each restart, and must use `clock`, which begins before the
    year does. `pack` are the concepts that the agent knows. `in_folder` makes a store, a clock and all.

    >>> import tempfile
    >>> from pathlib import Path
    >>> pack = Path("tests/data/concepts/workshop.json")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shape = YearShape(tokens_a_day=60, sessions_a_day=1)
    ...     with AgentYear.in_folder(Path(folder), pack=pack, shape=shape) as year:
    ...         days = [day for day, _ in zip(year.days(), range(10))]
    ...         recorded = year.books.timesteps, sum(one.timesteps for one in year.hx.xdb.recall(limit=10_000))
    >>> len(days), recorded[0] == recorded[1] > 0
    (10, True)
    """

    def __init__(
        self,
        open_store: Callable[[], Hexad],
        *,
        clock: FrozenClock,
        pack: Path,
        shape: YearShape | None = None,
    ) -> None:
        self._open, self.clock = open_store, clock
        self.shape = shape or YearShape()
        self.hx = open_store()
        self.hx.xdb.load_concept_pack(pack)
        self.books = Books(topics=find_topics(self.hx.xdb, seed=self.shape.seed))
        self.interests = Interests(topics=self.books.topics)
        self.plan = YearPlan(self.shape, self.interests)
        self._buds = Buds(self.books, self.interests, self.shape)
        self._contracts = list(_CONTRACTS)
        self._last_session: str | None = None
        for name, kind in (("the build server", "thing"), ("the archive", "place")):
            self.hx.xdb.create_entity_tag(name, kind)

    @classmethod
    def in_folder(cls, folder: Path, *, pack: Path, shape: YearShape | None = None) -> AgentYear:
        """Return a year that is yet to be lived, in a new store in a folder, with a clock and seeded ids of its own."""
        shape = shape or YearShape()
        store = init(folder)
        if shape.auto_tag_threshold is not None:
            settings = f"auto_tag_threshold = {shape.auto_tag_threshold}\n"
            atomic_write(store / CONFIG_FILE, settings.encode())
        clock = FrozenClock(datetime(shape.year - 1, 12, 31, tzinfo=UTC))
        ids = TimeSortedIds(clock, seed=shape.seed)

        def open_store() -> Hexad:
            return open_hexad(folder, clock=clock, ids=ids, embedder=None, background=False)

        return cls(open_store, clock=clock, pack=pack, shape=shape)

    def __enter__(self) -> AgentYear:
        return self

    def __exit__(self, *error: object) -> None:
        self.hx.close()

    def days(self) -> Iterator[date]:
        """Live through the year; yields each day when its night is over."""
        for at, day in enumerate(self.shape.days):
            if at and at % self.shape.restart_days == 0:
                self.restart()
            self._work(day)
            self.move_to(datetime.combine(day, _NIGHT, tzinfo=UTC))
            self._errands(day)
            self.sleep(day)
            yield day

    def play(self) -> Books:
        """Live through the whole year, and return what really happened."""
        for _ in self.days():
            pass
        return self.books

    def restart(self) -> None:
        """End the program and start it again."""
        self.hx.close()
        self.reopen()
        self.books.counts["restarts"] += 1

    def reopen(self) -> None:
        """Open the store, which was closed."""
        self.hx = self._open()

    def sleep(self, day: date) -> None:
        """Do the upkeep of a night."""
        self.hx.maintain()
        pressure = self.hx.xdb.check_and_compress(max_storage_bytes=self.shape.max_storage_bytes)
        if pressure.records or day.weekday() == 6:
            self.books.nights.append(Night(day=day, usage=self.hx.xdb.usage(), pressure=pressure))

    def move_to(self, moment: datetime) -> None:
        """Let time pass until a moment; nothing happens when it is over."""
        ahead = (moment - self.clock.now()).total_seconds()
        if ahead > 0:
            self.clock.advance(seconds=ahead)

    # A day ------------------------------------------------------------------------------------------------------

    def _work(self, day: date) -> None:
        for at, plan in enumerate(self.plan.sessions(day)):
            chance = Random(f"{self.shape.seed}/{plan.id}/habits")
            self.move_to(plan.begins)
            if chance.random() < IMPORTED:
                self._take_over(plan)
                continue
            resumed = at == 0 and self._last_session is not None and chance.random() < RESUMED
            self._session(plan, self._last_session if resumed and self._last_session else plan.id, chance)
            self.books.counts["resumed sessions"] += resumed

    def _session(self, plan: SessionPlan, session_id: str, chance: Random) -> None:
        xdb = self.hx.xdb
        xdb.start_session(session_id, self.shape.window_tokens)
        places = []
        for event in plan.events():
            place = self.record(event, session_id)
            places.append(place)
            self._habits(event, place, chance)
        self._tag_work(plan, (places[0].first, places[-1].last))
        if chance.random() < 0.05 and xdb.request_compaction() is not None:
            self.books.counts["compactions asked for"] += 1
        xdb.end_session()
        self._last_session = session_id

    def record(self, event: Event, session_id: str) -> _Place:
        """Record an event, and note it."""
        ticks = []
        for step in event.steps:
            self.clock.advance(seconds=step.after_s)
            timestep = self.hx.xdb.record(**step.fields())
            ticks.append(int(timestep.rpartition("-")[2]))
            self.note(event, step, session_id, ticks[-1], at=self.clock.now())
        return _Place(session_id, ticks[0], ticks[-1], event.steps[0].event_id)

    def note(self, event: Event, step: Step, session_id: str, tick: int, *, at: datetime) -> None:
        """Note a timestep that was recorded."""
        self.books.session(session_id).add(tick, step, at=at)
        self.books.plant(event.topic, step, at=at)
        threshold = self.shape.auto_tag_threshold
        if threshold is not None:
            self.books.active.update(
                concept for concept, score in step.activations.items() if score >= threshold
            )

    def _take_over(self, plan: SessionPlan) -> None:
        """Record a session that another program wrote down, in one call."""
        rows, noted = [], []
        at = plan.begins
        for event in plan.events():
            for step in event.steps:
                at += timedelta(seconds=step.after_s)
                rows.append({**step.fields(), "timestamp": at})
                noted.append((event, step, at))
        self.hx.xdb.start_session(plan.id, self.shape.window_tokens)
        ids = self.hx.xdb.record_many(rows)
        for timestep, (event, step, at) in zip(ids, noted, strict=True):
            self.note(event, step, plan.id, int(timestep.rpartition("-")[2]), at=at)
        self.move_to(at)
        self.hx.xdb.end_session()
        self.books.counts["sessions taken over"] += 1

    # What the agent makes of it ---------------------------------------------------------------------------------

    def _tag_work(self, plan: SessionPlan, ticks: tuple[int, int]) -> None:
        for topic in plan.topics:
            name = f"project {topic.word}"
            self.hx.xdb.tag(name, tick_range=ticks)
            self.books.tagged[name] += 1

    def _habits(self, event: Event, place: _Place, chance: Random) -> None:
        """Tag, remark on, and keep some of what was just said, which is in the context still."""
        xdb, books = self.hx.xdb, self.books
        does = chance.random()
        if does < 0.05:
            name = chance.choice(_REMARKS)
            if place.event_id is not None:
                xdb.tag(name, event_id=place.event_id, confidence=round(chance.uniform(0.5, 1), 2))
            else:
                xdb.tag(name, timestep_id=f"ts-{place.session_id}-{place.first}", note="As asked.")
            books.tagged[name] += 1
        elif does < 0.08:
            name = chance.choice(("the build server", "the archive"))
            xdb.tag(name, tick_range=(place.first, place.last))
            books.tagged[name] += 1
        elif does < 0.11:
            comment = xdb.comment(f"About {event.topic.word}.", tick_range=(place.first, place.last))
            books.counts["comments"] += 1
            if chance.random() < 0.3:
                xdb.edit_comment(comment, f"About {event.topic.word}, and worth remembering.")
        elif does < 0.14:
            self._pin(place, "interesting")
        if place.event_id is not None and place.last > place.first:
            bud = self._buds.collects(xdb, event.topic, self.clock.now().date(), place.session_id)
            if bud is not None:
                xdb.tag(bud.tag_id, event_id=place.event_id)
                bud.examples.append((place.session_id, place.first, place.last))
                self._pin(place, f"bud:{bud.name}")

    def _pin(self, place: _Place, reason: str) -> None:
        window = self.hx.xdb.pin_window((place.first, place.last), session_id=place.session_id, reason=reason)
        kept = self.books.keep(window.id, place.session_id, (window.start_tick, window.end_tick))
        kept.pinned_at, kept.reason = self.clock.now(), reason
        self.books.counts["pins"] += 1

    # Errands ----------------------------------------------------------------------------------------------------

    def _errands(self, day: date) -> None:
        if self._contracts and day.month >= self._contracts[0][0]:
            self.hx.xdb.set_contract({"resources": {"memory": self._contracts.pop(0)[1]}})
            self.books.counts["contracts"] += 1
            try:
                self.hx.xdb.set_contract({"resources": {"memory": _TOO_SMALL}})
            except LimitExceeded:
                self.books.counts["contracts refused"] += 1
        self._let_go(self.clock.now())
        self._buds.look_after(self.hx.xdb, day, self.clock.now())

    def _let_go(self, now: datetime) -> None:
        """Unpin what was only interesting, and long ago."""
        for kept in self.books.kept.values():
            old = kept.pinned_at is not None and now - kept.pinned_at > timedelta(days=PIN_DAYS)
            if old and kept.reason == "interesting" and not kept.submissions:
                self.hx.xdb.unpin_window(kept.window_id)
                kept.pinned_at = None
                self.books.counts["unpins"] += 1
