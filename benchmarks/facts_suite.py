"""A suite of changing facts: what somebody said and forgot over two years, and questions with the answers that are right.

The same seed gives the same suite, byte for byte. `python -m benchmarks.facts_suite FILE` writes it as JSON lines (events
in the order of time, then questions), for whoever wants to ask another memory.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from benchmarks import facts_words as words
from benchmarks.facts_words import Phrases

SEED = 20260122
FIRST = datetime(2024, 1, 8, 9, tzinfo=UTC)
ASKED_FIRST = datetime(2026, 2, 2, 9, tzinfo=UTC)
"""When all is said; what is announced has not come yet."""
ASKED_LAST = datetime(2026, 6, 15, 9, tzinfo=UTC)
"""When what was announced has come."""
_SPAN_DAYS, _APART_DAYS, _LATE_DAYS = 740, 75, 200
_UNKNOWN_PEOPLE, _UNKNOWN_SERVICES = 10, 6

COUNTS = {
    "stable": 30, "updated": 110, "reverted": 44, "late": 30, "announced": 30, "several": 30,
    "resting": 40, "resting twice": 15, "resting, premise forgotten": 10, "resting, unchanged": 25,
    "forgotten": 25, "last forgotten": 30, "never said": 40, "never heard of": 40, "then": 70, "history": 70, "mentions": 250,
}  # fmt: skip
"""How many stories, questions about a time or a history, and texts that only mention a name and a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A text that is stored at a time. `since` is since when it holds; `given` that the caller says so.

    `tells` is what the words themselves tell of the time: `past` or `future`, else nothing. A text without a subject
    states nothing that is asked for. `rests_on` names what it rests on.
    """

    id: str
    at: datetime
    text: str
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    since: datetime | None = None
    given: bool = False
    tells: str = ""
    category: str | None = None
    """The category of `hx.project.remember`, with which it is stored; None is plain `remember`."""
    rests_on: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What is forgotten at a time: archived, or purged."""

    at: datetime
    id: str
    purge: bool


Event = Said | Forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and what is right.

    `values` is what holds at the time that is asked about: one value, several, or none when nothing is known.
    `history` are all values that held, the oldest first, with the day from which on. `dependent` is the text that is
    asked about, `review` whether it must be marked.
    """

    id: str
    kind: str
    at: datetime
    text: str
    subject: str
    attribute: str
    values: tuple[str, ...] = ()
    when: datetime | None = None
    history: tuple[tuple[str, str], ...] = ()
    dependent: str | None = None
    review: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Events in the order of time, and the questions; `several` are attributes that hold more than one value."""

    events: tuple[Event, ...]
    questions: tuple[Question, ...]
    several: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Give the suite as JSON lines."""
        yield _json({"what": "suite", "several": self.several})
        for event in self.events:
            yield _json({"what": "said" if isinstance(event, Said) else "forgotten", **asdict(event)})
        for question in self.questions:
            yield _json({"what": "question", **asdict(question)})


def make(*, seed: int = SEED, share: float = 1.0) -> Suite:
    """Return the suite of a seed; `share` makes a smaller one of the same kinds."""
    return _Maker(seed, share).suite()


@dataclass(slots=True, kw_only=True)
class _Story:
    """What became of one subject's attribute: its texts, and since when each value held."""

    subject: str
    phrases: Phrases
    category: str | None
    held: list[tuple[str, datetime]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


class _Maker:
    def __init__(self, seed: int, share: float) -> None:
        self._pick = random.Random(f"changing facts {seed}")
        self._counts = {name: max(2, round(count * share)) for name, count in COUNTS.items()}
        self._events: list[Event] = []
        self._questions: list[Question] = []
        people = [f"{first} {last}" for first, last in product(words.FIRST_NAMES, words.LAST_NAMES)]
        services = [f"{stem}-{end}" for stem, end in product(words.SERVICE_STEMS, words.SERVICE_ENDS)]
        for names in (people, services):
            self._pick.shuffle(names)
        self._unknown = [(name, words.PEOPLE) for name in people[:_UNKNOWN_PEOPLE]]
        self._unknown += [(name, words.SERVICES) for name in services[:_UNKNOWN_SERVICES]]
        self._people, self._services = people[_UNKNOWN_PEOPLE:], services[_UNKNOWN_SERVICES:]
        spoken = [
            *product(self._people, words.PEOPLE),
            *product(self._services, words.SERVICES),
        ]
        self._pick.shuffle(spoken)
        self._spoken = [_Story(subject=name, phrases=about, category=None) for name, about in spoken]
        typed = list(product(words.COMPONENTS, words.PROJECT_KEYS))
        self._pick.shuffle(typed)
        self._typed = [
            _Story(subject=name, phrases=_typed(key), category=words.PROJECT_KEYS[key][0])
            for name, key in typed
        ]
        self._changed: list[_Story] = []
        self._serial = 0

    def suite(self) -> Suite:
        self._told("stable", lambda story: self._tell(story, 1))
        self._told("updated", lambda story: self._tell(story, self._pick.choice((2, 2, 3, 3, 4, 5))))
        self._told("reverted", self._revert)
        self._late()
        self._announced()
        self._several()
        self._resting()
        self._forgotten()
        self._never()
        self._then()
        self._histories()
        self._mentions()
        self._events.sort(key=lambda event: (event.at, isinstance(event, Forgotten), event.id))
        return Suite(
            events=tuple(self._events),
            questions=tuple(self._questions),
            several=tuple(about.attribute for about in words.SEVERAL),
        )

    # Stories ------------------------------------------------------------------------------------------------------

    def _told(self, kind: str, tell: Callable[[_Story], None]) -> None:
        for at in range(self._counts[kind]):
            story = (self._typed if at % 4 == 3 and self._typed else self._spoken).pop()
            tell(story)
            self._ask(kind, story, values=(story.held[-1][0],))
            if len(story.held) > 1:
                self._changed.append(story)

    def _tell(self, story: _Story, times: int, values: Sequence[str] | None = None) -> None:
        """Say `times` values, one after the other."""
        values = values or self._pick.sample(story.phrases.values, min(times, len(story.phrases.values)))
        for at, (value, moment) in enumerate(zip(values, self._moments(len(values)), strict=True)):
            old = values[at - 1] if at else None
            # Some things are heard of a few days after they began to hold, and the caller says since when.
            since = moment - timedelta(days=self._pick.randint(1, 9)) if self._pick.random() < 0.25 else None
            self._say(story, value, moment, old=old, since=since)

    def _revert(self, story: _Story) -> None:
        """Say a value, another one, and the first again; now and then one more time."""
        first, second = self._pick.sample(story.phrases.values, 2)
        self._tell(story, 3, [first, second, first] if self._pick.random() < 0.7 else [first, second] * 2)

    def _say(
        self,
        story: _Story,
        value: str,
        at: datetime,
        *,
        old: str | None = None,
        since: datetime | None = None,
        form: str | None = None,
        tells: str = "",
    ) -> Said:
        ways = story.phrases.changed if old is not None and story.phrases.changed else story.phrases.said
        opening = "" if story.category else self._pick.choice(words.OPENINGS)
        start = since or at
        said = Said(
            id=self._id(),
            at=at,
            text=opening
            + (form or self._pick.choice(ways)).format(
                s=story.subject, v=value, o=old, when=f"{start:%B %Y}", day=f"{start:%-d %B %Y}"
            ),
            subject=story.subject,
            attribute=story.phrases.attribute,
            value=value,
            since=start,
            given=since is not None,
            tells=tells,
            category=story.category,
        )
        self._events.append(said)
        story.held.append((value, start))
        story.ids.append(said.id)
        return said

    def _late(self) -> None:
        for _ in range(self._counts["late"]):
            story = self._spoken.pop()
            now, before = self._pick.sample(story.phrases.values, 2)
            first, second = self._moments(2)
            self._say(story, now, first)
            self._say(
                story, before, second, since=first - timedelta(days=_LATE_DAYS), form=story.phrases.was, tells="past"
            )  # fmt: skip
            story.held.sort(key=lambda pair: pair[1])
            self._ask("late", story, values=(now,))
            self._changed.append(story)

    def _announced(self) -> None:
        for _ in range(self._counts["announced"]):
            story = self._spoken.pop()
            now, then = self._pick.sample(story.phrases.values, 2)
            first, second = self._moments(2)
            self._say(story, now, first)
            comes = ASKED_FIRST + timedelta(days=self._pick.randint(20, 110))
            self._say(story, then, second, since=comes, form=story.phrases.will, tells="future")
            self._ask("announced, not yet", story, values=(now,))
            self._ask("announced, come", story, values=(then,), at=ASKED_LAST)

    def _several(self) -> None:
        people, services = list(self._people), list(self._services)
        for at in range(self._counts["several"]):
            names, about = (people, words.SEVERAL[0]) if at % 2 else (services, words.SEVERAL[1])
            story = _Story(subject=names.pop(), phrases=about, category=None)
            values = self._pick.sample(about.values, self._pick.choice((3, 4)))
            moments = self._moments(len(values) + 1)
            for value, moment in zip(values, moments, strict=False):
                self._say(story, value, moment)
            if at % 3 == 0:  # one of them turns out to be wrong
                self._events.append(Forgotten(at=moments[-1], id=story.ids[0], purge=False))
                values = values[1:]
            self._ask("several", story, values=tuple(sorted(values)))

    def _resting(self) -> None:
        kinds = [name for name in COUNTS if name.startswith("resting")]
        for kind in kinds:
            for _ in range(self._counts[kind]):
                story = self._spoken.pop()
                old, new = self._pick.sample(story.phrases.values, 2)
                first, between, later, last = self._moments(4)
                premise = self._say(story, old, first)
                told = words.DEPENDENTS[story.phrases.attribute].format(s=story.subject, v=old)
                dependent = Said(id=self._id(), at=between, text=told, rests_on=premise.id)
                self._events.append(dependent)
                if kind == "resting twice":
                    text = self._pick.choice(words.RESTING).format(d=told)
                    dependent = Said(id=self._id(), at=later, text=text, rests_on=dependent.id)
                    self._events.append(dependent)
                if kind == "resting, premise forgotten":
                    self._events.append(Forgotten(at=last, id=premise.id, purge=self._pick.random() < 0.5))
                elif kind != "resting, unchanged":
                    self._say(story, new, last, old=old)
                asked = words.DEPENDENT_ASKED[story.phrases.attribute].format(s=story.subject)
                self._question(
                    kind, story, asked, dependent=dependent.id, review=kind != "resting, unchanged"
                )  # fmt: skip

    def _forgotten(self) -> None:
        for at in range(self._counts["forgotten"]):
            story = self._spoken.pop()
            said, gone = self._moments(2)
            statement = self._say(story, self._pick.choice(story.phrases.values), said)
            self._events.append(Forgotten(at=gone, id=statement.id, purge=at % 3 == 0))
            self._ask("forgotten", story, values=())
        for at in range(self._counts["last forgotten"]):
            story = self._spoken.pop()
            self._tell(story, self._pick.choice((2, 3)))
            gone = ASKED_FIRST - timedelta(days=self._pick.randint(5, 60))
            self._events.append(
                Forgotten(at=max(gone, self._at(story.ids[-1])), id=story.ids[-1], purge=at % 3 == 0)
            )
            self._ask("last forgotten", story, values=())

    def _never(self) -> None:
        heard = {event.subject for event in self._events if isinstance(event, Said)}
        known = [story for story in self._spoken if story.subject in heard]
        for story in self._pick.sample(known, self._counts["never said"]):
            self._spoken.remove(story)
            self._ask("never said", story, values=())
        pairs = [
            _Story(subject=name, phrases=about, category=None)
            for name, all_of in self._unknown
            for about in all_of
        ]
        for story in self._pick.sample(pairs, self._counts["never heard of"]):
            self._ask("never heard of", story, values=())

    # Questions ----------------------------------------------------------------------------------------------------

    def _then(self) -> None:
        stories = [story for story in self._changed if _months(story)]
        for at in range(self._counts["then"]):
            story = stories[at % len(stories)] if at < len(stories) else self._pick.choice(stories)
            value, month = self._pick.choice(_months(story))
            text = self._pick.choice(story.phrases.asked_then)
            self._question(
                "then", story, text.format(s=story.subject, when=f"{month:%B %Y}", k=_name(story)),
                values=(value,), when=month,
            )  # fmt: skip

    def _histories(self) -> None:
        for story in self._pick.sample(self._changed, min(self._counts["history"], len(self._changed))):
            text = self._pick.choice(story.phrases.asked_before)
            self._question(
                "history", story, text.format(s=story.subject, k=_name(story)), values=(story.held[-1][0],),
                history=tuple((value, f"{since:%Y-%m-%d}") for value, since in story.held),
            )  # fmt: skip

    def _ask(self, kind: str, story: _Story, *, values: tuple[str, ...], at: datetime = ASKED_FIRST) -> None:
        text = self._pick.choice(story.phrases.asked).format(s=story.subject)
        self._question(kind, story, text, values=values, at=at)

    def _question(
        self, kind: str, story: _Story, text: str, *, at: datetime = ASKED_FIRST, **right: object
    ) -> None:
        made = Question(
            id=f"q{len(self._questions) + 1:04}", kind=kind, at=at, text=text,
            subject=story.subject, attribute=story.phrases.attribute,
        )  # fmt: skip
        self._questions.append(replace(made, **right))  # type: ignore[arg-type]

    # What lies around -------------------------------------------------------------------------------------------------

    def _mentions(self) -> None:
        everything = [*words.PEOPLE, *words.SERVICES, *words.SEVERAL]
        for _ in range(self._counts["mentions"]):
            about = self._pick.choice(everything)
            of_people = about in words.PEOPLE or about is words.SEVERAL[0]
            name = self._pick.choice(self._people if of_people else self._services)
            text = self._pick.choice(about.mentions).format(s=name, v=self._pick.choice(about.values))
            self._events.append(
                Said(id=self._id(), at=self._moments(1)[0], text=self._pick.choice(words.OPENINGS) + text)
            )

    def _moments(self, count: int) -> list[datetime]:
        """Return moments far enough from each other that a whole month lies between two."""
        free = _SPAN_DAYS - _APART_DAYS * (count - 1)
        days = sorted(self._pick.sample(range(free), count))
        return [
            FIRST + timedelta(days=day + _APART_DAYS * at, minutes=self._pick.randrange(480))
            for at, day in enumerate(days)
        ]

    def _at(self, said: str) -> datetime:
        return next(event.at for event in self._events if event.id == said)

    def _id(self) -> str:
        self._serial += 1
        return f"s{self._serial:04}"


def _typed(key: str) -> Phrases:
    """How `hx.project.remember` says a fact of that key, and how it is asked for."""
    category, values = words.PROJECT_KEYS[key]
    head = category.replace("_", " ").capitalize()
    return Phrases(
        attribute=key,
        values=values,
        said=(f"{head} ({{s}}): {key.replace('_', ' ')} is {{v}}.",),
        changed=(),
        was="",
        will="",
        asked=words.PROJECT_ASKED[key],
        asked_then=(words.PROJECT_THEN,),
        asked_before=(words.PROJECT_BEFORE,),
        mentions=(),
    )


def _name(story: _Story) -> str:
    return story.phrases.attribute.replace("_", " ")


def _months(story: _Story) -> list[tuple[str, datetime]]:
    """Return `(value, middle of a month)` for months all of which lie in the time of a value that is over."""
    found = []
    for (value, since), (_, until) in zip(story.held, story.held[1:], strict=False):
        month = (since.replace(day=1) + timedelta(days=32)).replace(day=1)
        if month + timedelta(days=31) <= until:
            found.append((value, month.replace(day=15, hour=12, minute=0)))
    return found


def _json(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, default=lambda moment: moment.isoformat())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the suite as JSON lines."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts_suite", description=__doc__)
    parser.add_argument("file", type=Path, help="where to write it")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    suite = make(seed=given.seed)
    given.file.write_text("".join(line + "\n" for line in suite.lines()), encoding="utf-8")
    print(
        f"{len(suite.events)} events and {len(suite.questions)} questions are in {given.file}.",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
