"""How a person works and what they know, as `hx.user` tells it; and everything that is held of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.arguments import parse_choice, parse_text, parse_whole, quoted
from hexad.core.arguments__checked import texts_checked
from hexad.errors import AccessDenied, NotFound
from hexad.layers.user.access import UserDesk, UserNeeds
from hexad.layers.user.confidence import LOWERED, RESCORED_AT, Weighed, rescored
from hexad.layers.user.statements import SaidHere
from hexad.layers.user.tables.holdings import SECTIONS
from hexad.layers.user.values import (
    EXPLICIT_CONFIDENCE,
    INFERRED_CONFIDENCE,
    Expertise,
    Level,
    Pattern,
    PatternType,
    Source,
    UserRule,
    lowered,
    raised,
)
from hexad.layers.user.values__user_answers import LearnedChange
from hexad.memory.memory import JSONValue

_MOST_DELTA: Final = 1_000


class UserKnown:
    """The part of `hx.user` that is about patterns, expertise and rules, and about all of the layer."""

    def __init__(self, needs: UserNeeds) -> None:
        self._needs = needs
        self._desk = UserDesk(needs)
        self._said = SaidHere()

    @property
    def path(self) -> Path:
        """The folder in which `user.db` is, or would be."""
        return self._needs.folder

    @property
    def user_id(self) -> str:
        """Of whom this is."""
        return self._needs.user_id

    @property
    def learns(self) -> bool:
        """Whether this project takes part in learning."""
        return self._needs.learning

    # Patterns, expertise, rules ---------------------------------------------------------------------------------

    @texts_checked
    def observe(self, description: str, *, antipattern: bool = False, delta_evidence: int = 1) -> Pattern:
        """Note how somebody works, or what they avoid; seen again it is surer, seen otherwise (negative) less.

        Raises `AccessDenied` where this project does not take part in learning.
        """
        self._desk.require_learning()
        text = " ".join(self._desk.text(description, "description").split())
        kind = PatternType.ANTIPATTERN if antipattern else PatternType.PATTERN
        delta, now = evidence_of(delta_evidence), self._needs.clock.now()
        store = self._desk.writing()
        with store.db.transaction():
            one = store.patterns.pattern(kind, text)
            if one is None:
                if delta < 0:
                    raise NotFound(f"There is no {kind.value} {quoted(text)}; `patterns()` lists them.")
                one = Pattern(
                    id="",
                    user_id=self.user_id,
                    pattern_type=kind,
                    description=text,
                    evidence_count=max(delta, 1),
                    confidence=raised(INFERRED_CONFIDENCE, max(delta, 1) - 1),
                    first_seen=now,
                    last_seen=now,
                )
            else:
                sure = one.confidence
                one = replace(
                    one,
                    evidence_count=max(one.evidence_count + delta, 0),
                    confidence=raised(sure, delta) if delta >= 0 else lowered(sure, -delta),
                    last_seen=now if delta >= 0 else one.last_seen,
                )
            return store.patterns.put_pattern(one)

    def patterns(self, pattern_type: str | None = None) -> list[Pattern]:
        """Return patterns and antipatterns, or those of one type, the surest first."""
        kind = None if pattern_type is None else parse_choice(PatternType, pattern_type, "pattern_type")
        store = self._desk.reading()
        return [] if store is None else store.patterns.patterns(kind)

    def set_expertise(self, area: str, level: str, *, source: str = "explicit") -> Expertise:
        """Note how well somebody knows an area: novice, intermediate, advanced or expert. What was said stands over
        what is inferred.
        """
        kind, found = parse_choice(Source, source, "source"), parse_choice(Level, level, "level")
        name = self._desk.value(area, "area")
        if kind is Source.INFERRED:
            self._desk.require_learning()
        store = self._desk.writing()
        with store.db.transaction():
            before = next(iter(store.patterns.expertise(name)), None)
            if before is not None and before.source is Source.EXPLICIT and kind is Source.INFERRED:
                return before
            again = before is not None and before.source is kind and before.level is found
            sure = INFERRED_CONFIDENCE if not again or before is None else raised(before.confidence, 1)
            return store.patterns.put_expertise(
                Expertise(
                    id="",
                    user_id=self.user_id,
                    area=name,
                    level=found,
                    source=kind,
                    confidence=EXPLICIT_CONFIDENCE if kind is Source.EXPLICIT else sure,
                    last_seen=self._needs.clock.now(),
                )
            )

    def expertise(self, area: str | None = None) -> list[Expertise]:
        """Return how well somebody knows what, by area; of one `area`, at most that."""
        store = self._desk.reading()
        return [] if store is None else store.patterns.expertise(parse_text(area, "area"))

    def add_rule(self, text: str) -> UserRule:
        """Store a rule that somebody stated; it stays beside those that are derived."""
        words = " ".join(self._desk.text(text, "text").split())
        store = self._desk.writing()
        with store.db.transaction():
            return store.patterns.put_rule(
                UserRule(
                    id="",
                    user_id=self.user_id,
                    text=words,
                    source=Source.EXPLICIT,
                    confidence=EXPLICIT_CONFIDENCE,
                    evidence_count=1,
                    last_seen=self._needs.clock.now(),
                )
            )

    def rules(self) -> list[UserRule]:
        """Return the rules that were derived ("Usually uses Prisma for db.") and stated, the surest first."""
        store = self._desk.reading()
        return [] if store is None else store.patterns.rules()

    # Everything ---------------------------------------------------------------------------------------------------

    def forget(self, row_id: str) -> None:
        """Remove one thing for good by its id, such as `preference-3`. Raises `NotFound`."""
        if not isinstance(row_id, str) or not self._desk.writing(removes=True).holdings.remove(row_id):
            raise NotFound(
                f"There is no {quoted(row_id)} in the user layer; `hexad prefs list --all` shows ids."
            )

    def counts(self) -> Mapping[str, int]:
        """Return how many rows of each kind there are."""
        store = self._desk.reading()
        return {} if store is None else store.holdings.counts()

    def held(self) -> Iterator[tuple[str, dict[str, JSONValue]]]:
        """Yield everything that the layer holds of this person, each row with the name of its list."""
        store = self._desk.reading()
        if store is None:
            return
        for section in SECTIONS:
            for row in store.holdings.rows(section):
                yield section, row

    @texts_checked
    def wipe(self, *, confirm: bool = False, dry_run: bool = False) -> Mapping[str, int]:
        """Remove everything that the layer holds of this person for good; return how many rows of each kind.

        Projects that take part publish again at their next learning: switch that off before, or wipe them too. Raises
        `AccessDenied` without `confirm`; `dry_run` only counts.
        """
        if dry_run:
            return self.counts()
        if not confirm:
            raise AccessDenied(
                "A wipe of the user layer is for good; confirm it (confirm=True). A dry run shows what would go."
            )
        return {} if self._desk.reading() is None else self._desk.writing(removes=True).holdings.wipe()

    def rescore(self, *, dry_run: bool = False) -> tuple[LearnedChange, ...]:
        """Weigh anew what nobody said and nobody saw for long, and return what changed, and why.

        An inferred preference or a pattern becomes less sure with each day that it is not seen, the less so the more of
        the latest projects still show it; what is hardly sure any more, and was seldom seen, goes. What somebody said
        stays as it is. A second time changes nothing. Raises `AccessDenied` as every change of the layer does.
        """
        store = self._desk.reading()
        if store is None:
            return ()
        if not dry_run:
            store = self._desk.writing()
        now = self._needs.clock.now()
        with store.db.read() if dry_run else store.db.transaction():
            found = rescored(
                Weighed(
                    values=store.projects.values(),
                    patterns=store.patterns.patterns(),
                    held=store.preferences.all(),
                    lowered=json.loads(store.projects.state(LOWERED) or "{}"),
                ),
                now=now,
                recent=self._needs.drift_projects,
            )
            if not dry_run:
                for pattern in found.patterns:
                    store.patterns.put_pattern(pattern)
                for pattern in found.gone_patterns:
                    store.patterns.remove_pattern(pattern)
                for one in found.held:
                    store.preferences.put(one)
                for one in found.gone_held:
                    store.preferences.remove(one.preference.key, one.preference.value)
                state = {RESCORED_AT: now.isoformat(), LOWERED: json.dumps(found.lowered, sort_keys=True)}
                store.projects.put_state(state)
        return found.changes

    @property
    def rescored_at(self) -> datetime | None:
        """When the layer was last weighed anew; None where it never was, or is not there."""
        store = self._desk.reading()
        at = None if store is None else store.projects.state(RESCORED_AT)
        return None if at is None else datetime.fromisoformat(at)

    def check(self) -> list[str]:
        """Return in words what is wrong with the layer's file; an empty list when all is well, or there is none."""
        store = self._desk.reading()
        return [] if store is None else store.holdings.check()

    def close(self) -> None:
        """Let go of the layer; the next call opens it again."""
        self._desk.close()


def evidence_of(delta: int) -> int:
    """Return how many signs `delta_evidence` says, bounded; raises `InvalidInput` for no whole number."""
    whole = isinstance(delta, int) and not isinstance(delta, bool)
    parse_whole(abs(delta) if whole else delta, "delta_evidence", least=0)
    return max(min(delta, _MOST_DELTA), -_MOST_DELTA)
