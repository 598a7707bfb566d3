"""`hx.user`: what is known of a person across projects, and what is learned of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.arguments import (
    all_flags_checked,
    is_whole,
    parse_choice,
    parse_text,
    parse_whole,
    quoted,
    texts_checked,
)
from hexad.core.json_types import JSONValue
from hexad.database.sqlite_errors import all_failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, NotFound
from hexad.layers.user.access import UserAccess
from hexad.layers.user.database import UserStore
from hexad.layers.user.layer import UserStatement
from hexad.layers.user.learning import (
    LOWERED,
    RESCORED_AT,
    LearnedPatterns,
    LearnedPreferences,
    RescoreInput,
    apply_evidence,
    lower_overridden,
    mine,
    mine_patterns,
    rescore,
    state_preference,
)
from hexad.layers.user.publishing import PublishedValues, PublishingProject, publishable
from hexad.layers.user.resolution import ProjectView, StatementCache, project_view, resolve, suggest
from hexad.layers.user.tables.holdings import SECTIONS
from hexad.layers.user.tables.preferences import SAID, StoredPreference, look
from hexad.layers.user.values import (
    EXPLICIT_CONFIDENCE,
    INFERRED_CONFIDENCE,
    Expertise,
    LearnedChange,
    LearningReport,
    Level,
    Pattern,
    PatternType,
    Preference,
    PreferenceVerdict,
    ProjectException,
    ProjectValue,
    ResolvedPreference,
    Source,
    Suggestion,
    Suppression,
    UserRule,
    lower_confidence,
    parse_confidence,
    raise_confidence,
    value_text,
)
from hexad.text.key_names import canonical_key, topic_key

_MOST_DELTA: Final = 1_000


def evidence_of(delta: int) -> int:
    """Return how many signs `delta_evidence` says, bounded; raises `InvalidInput` for no whole number."""
    parse_whole(abs(delta) if is_whole(delta) else delta, "delta_evidence", least=0)
    return max(min(delta, _MOST_DELTA), -_MOST_DELTA)


_COUNTED: Final = "patterns_counted"
"""In how many projects each mined pattern was counted when learning last looked."""


@all_failures_translated
@all_flags_checked
class UserFacade:
    """One person's layer, shared by all projects. It is opened by the first call that needs it."""

    def __init__(self, context: StoreContext, project: PublishingProject, access: UserAccess) -> None:
        self._context, self._project, self._access = context, project, access
        self._clock, self._settings = context.clock, context.settings.user
        self._statements = StatementCache()

    @property
    def path(self) -> Path:
        """The folder in which `user.db` is, or would be."""
        return self._access.folder

    @property
    def user_id(self) -> str:
        """Of whom this is."""
        return self._access.user_id

    @property
    def learns(self) -> bool:
        """Whether this project takes part in learning."""
        return self._settings.learning

    # Patterns, expertise, rules ---------------------------------------------------------------------------------

    @texts_checked
    def observe(self, description: str, *, antipattern: bool = False, delta_evidence: int = 1) -> Pattern:
        """Note how somebody works, or what they avoid; seen again it is surer, seen otherwise (negative) less.

        Raises `AccessDenied` where this project does not take part in learning.
        """
        self._access.require_learning()
        text = " ".join(self._access.text(description, "description").split())
        kind = PatternType.ANTIPATTERN if antipattern else PatternType.PATTERN
        delta, now = evidence_of(delta_evidence), self._clock.now()
        store = self._access.writing()
        with store.db.transaction():
            pattern = store.patterns.pattern(kind, text)
            if pattern is None:
                if delta < 0:
                    raise NotFound(f"There is no {kind.value} {quoted(text)}; `patterns()` lists them.")
                pattern = Pattern(
                    id="",
                    user_id=self.user_id,
                    pattern_type=kind,
                    description=text,
                    evidence_count=max(delta, 1),
                    confidence=raise_confidence(INFERRED_CONFIDENCE, max(delta, 1) - 1),
                    first_seen=now,
                    last_seen=now,
                )
            else:
                sure = pattern.confidence
                pattern = replace(
                    pattern,
                    evidence_count=max(pattern.evidence_count + delta, 0),
                    confidence=raise_confidence(sure, delta)
                    if delta >= 0
                    else lower_confidence(sure, -delta),
                    last_seen=now if delta >= 0 else pattern.last_seen,
                )
            return store.patterns.put_pattern(pattern)

    def patterns(self, pattern_type: str | None = None) -> list[Pattern]:
        """Return patterns and antipatterns, or those of one type, the surest first."""
        kind = None if pattern_type is None else parse_choice(PatternType, pattern_type, "pattern_type")
        store = self._access.reading()
        return [] if store is None else store.patterns.patterns(kind)

    def set_expertise(self, area: str, level: str, *, source: str = "explicit") -> Expertise:
        """Note how well somebody knows an area: novice, intermediate, advanced or expert. What was said stands over
        what is inferred.
        """
        kind, found_level = parse_choice(Source, source, "source"), parse_choice(Level, level, "level")
        name = self._access.value(area, "area")
        if kind is Source.INFERRED:
            self._access.require_learning()
        store = self._access.writing()
        with store.db.transaction():
            before = next(iter(store.patterns.expertise(name)), None)
            if before is not None and before.source is Source.EXPLICIT and kind is Source.INFERRED:
                return before
            again = before is not None and before.source is kind and before.level is found_level
            sure = (
                INFERRED_CONFIDENCE if not again or before is None else raise_confidence(before.confidence, 1)
            )
            return store.patterns.put_expertise(
                Expertise(
                    id="",
                    user_id=self.user_id,
                    area=name,
                    level=found_level,
                    source=kind,
                    confidence=EXPLICIT_CONFIDENCE if kind is Source.EXPLICIT else sure,
                    last_seen=self._clock.now(),
                )
            )

    def expertise(self, area: str | None = None) -> list[Expertise]:
        """Return how well somebody knows what, by area; of one `area`, at most that."""
        area, store = parse_text(area, "area"), self._access.reading()
        return [] if store is None else store.patterns.expertise(area)

    def add_rule(self, text: str) -> UserRule:
        """Store a rule that somebody stated; it stays beside those that are derived."""
        words = " ".join(self._access.text(text, "text").split())
        store = self._access.writing()
        with store.db.transaction():
            return store.patterns.put_rule(
                UserRule(
                    id="",
                    user_id=self.user_id,
                    text=words,
                    source=Source.EXPLICIT,
                    confidence=EXPLICIT_CONFIDENCE,
                    evidence_count=1,
                    last_seen=self._clock.now(),
                )
            )

    def rules(self) -> list[UserRule]:
        """Return the rules that were derived ("Usually uses Prisma for db.") and stated, the surest first."""
        store = self._access.reading()
        return [] if store is None else store.patterns.rules()

    # Everything ---------------------------------------------------------------------------------------------------

    def forget(self, row_id: str) -> None:
        """Remove one thing for good by its id, such as `preference-3`. Raises `NotFound`."""
        if not isinstance(row_id, str) or not self._access.writing(removes=True).holdings.remove(row_id):
            raise NotFound(
                f"There is no {quoted(row_id)} in the user layer; `hexad prefs list --all` shows ids."
            )

    def counts(self) -> Mapping[str, int]:
        """Return how many rows of each kind there are."""
        store = self._access.reading()
        return {} if store is None else store.holdings.counts()

    def held(self) -> Iterator[tuple[str, dict[str, JSONValue]]]:
        """Yield everything that the layer holds of this person, each row with the name of its list."""
        store = self._access.reading()
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
                "A wipe of the user layer is for good;",
                remedy="confirm it ({confirm=True}). A dry run shows what would go.",
            )
        return {} if self._access.reading() is None else self._access.writing(removes=True).holdings.wipe()

    def rescore(self, *, dry_run: bool = False) -> tuple[LearnedChange, ...]:
        """Weigh anew what nobody said and nobody saw for long, and return what changed, and why.

        An inferred preference or a pattern becomes less sure with each day that it is not seen, the less so the more of
        the latest projects still show it; what is hardly sure any more, and was seldom seen, goes. What somebody said
        stays as it is. A second time changes nothing. Raises `AccessDenied` as every change of the layer does.
        """
        store = self._access.reading()
        if store is None:
            return ()
        if not dry_run:
            store = self._access.writing()
        now = self._clock.now()
        with store.db.read() if dry_run else store.db.transaction():
            result = rescore(
                RescoreInput(
                    values=store.projects.values(),
                    patterns=store.patterns.patterns(),
                    preferences=store.preferences.all(),
                    lowered=json.loads(store.projects.state(LOWERED) or "{}"),
                ),
                now=now,
                recent=self._settings.drift_projects,
            )
            if not dry_run:
                for pattern in result.patterns:
                    store.patterns.put_pattern(pattern)
                for pattern in result.gone_patterns:
                    store.patterns.remove_pattern(pattern)
                for row in result.preferences:
                    store.preferences.put(row)
                for row in result.gone_preferences:
                    store.preferences.remove(row.preference.key, row.preference.value)
                state = {RESCORED_AT: now.isoformat(), LOWERED: json.dumps(result.lowered, sort_keys=True)}
                store.projects.put_state(state)
        return result.changes

    @property
    def rescored_at(self) -> datetime | None:
        """When the layer was last weighed anew; None where it never was, or is not there."""
        store = self._access.reading()
        at = None if store is None else store.projects.state(RESCORED_AT)
        return None if at is None else datetime.fromisoformat(at)

    def check(self) -> list[str]:
        """Return in words what is wrong with the layer's file; an empty list when all is well, or there is none."""
        store = self._access.reading()
        return [] if store is None else store.holdings.check()

    def close(self) -> None:
        """Let go of the layer; the next call opens it again."""
        self._access.close()

    # Preferences ------------------------------------------------------------------------------------------------

    @texts_checked
    def prefer(self, key: str, value: str, *, also: bool = False) -> Preference:
        """State a preference, certain from now on, and return it. What else was preferred for the key is lowered as by
        a rejection, unless `also` says that both hold. Stating it again changes nothing else.

        Raises `InvalidInput` for a key or a value that cannot be used, that holds a secret or personal data.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.user.prefer("db", "Postgres")
        ...     hx.user.preference("db").statement
        'Prefers Postgres for db.'
        """
        key, value = self._access.pair(key, value)
        store, now = self._access.writing(), self._clock.now()
        with store.db.transaction():
            key = store.preferences.name_of(key)
            stored_preference = store.preferences.get(key, value)
            stands = stored_preference is not None and _stands(stored_preference)
            fresh = store.preferences.new(key, value, confidence=1.0, source=Source.EXPLICIT, at=now)
            done = store.preferences.put(state_preference(stored_preference, fresh, origin=SAID, at=now))
            for other in () if also or stands else store.preferences.all(key):
                if other.preference.id != done.id:
                    store.preferences.put(lower_overridden(other))
        return done

    def update_preference(
        self,
        *,
        key: str,
        value: JSONValue,
        source: str = "inferred",
        delta_evidence: int = 1,
        idempotency_key: str | None = None,
    ) -> Preference:
        """Note evidence for a preference, or against it where `delta_evidence` is negative (document 4, section 9.2).

        What was inferred starts at 0.6; each sign for it closes a fifth of the distance to certainty, each one against
        it halves it. `explicit` states it, as `prefer` does. The same `idempotency_key` counts once.

        Raises `AccessDenied` where this project does not take part in learning and `source` is `inferred`,
        `NotFound` for evidence against what is not there.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     first = hx.user.update_preference(key="db", value="Postgres")
        ...     again = hx.user.update_preference(key="db", value="postgres", delta_evidence=1)
        ...     first.confidence, round(again.confidence, 2), again.evidence_count
        (0.6, 0.67, 2)
        """
        kind = parse_choice(Source, source, "source")
        delta = evidence_of(delta_evidence)
        name, text = self._access.pair(key, value_text(value))
        token = self._access.token(idempotency_key)
        if kind is Source.INFERRED:
            self._access.require_learning()
            if self._access.objection(text) is not None:
                raise AccessDenied(
                    f"value = {quoted(text)} reads as instructions: nobody infers that. `prefer` states it."
                )
        store = self._access.writing()
        if token is not None:
            self._project.note_named()
        with store.db.transaction():
            name = store.preferences.name_of(name)
            if token is not None and not self._counted(store, f"update:{token}", name, text, delta):
                stored_preference = store.preferences.get(name, text)
                if stored_preference is not None:
                    return stored_preference.preference
                raise NotFound(f"{token!r} was counted, and the preference {text!r} for {name!r} is gone.")
            if kind is Source.EXPLICIT and delta >= 0:
                return self.prefer(name, text)
            return self._weighed(store, name, text, delta)

    def preferences(
        self, key: str | None = None, *, source: str | None = None, min_confidence: float = 0.0
    ) -> list[Preference]:
        """Return what is preferred, the surest first; also what is not to be suggested.

        Raises `InvalidInput` for a value that cannot be used.
        """
        name = None if key is None else self._access.key(key)
        kind = None if source is None else parse_choice(Source, source, "source")
        least = parse_confidence(min_confidence, "min_confidence")
        store = self._access.reading()
        return [
            row.preference
            for row in (() if store is None else store.preferences.all(name))
            if row.preference.confidence >= least and kind in (None, row.preference.source)
        ]

    def preference(self, key: str) -> ResolvedPreference | None:
        """Return what holds for a key in this project: one statement, with a note where others are near.

        An exception of this project comes before what is usual, and says why. None where nothing is known, or nothing
        that may be suggested.
        """
        name = self._access.key(key)
        store = self._access.reading()
        return None if store is None else resolve(name, self._here(store))

    # Acceptance and rejection -----------------------------------------------------------------------------------

    def accept(self, key: str, value: str, *, idempotency_key: str | None = None) -> Preference:
        """Note that somebody took up what was suggested: it is surer from now on. Once for each project, or for each
        `idempotency_key`. Raises `NotFound`, `AccessDenied` where this project does not take part in learning.
        """
        return self._judged(key, value, PreferenceVerdict.ACCEPTED, idempotency_key)

    def reject(self, key: str, value: str, *, idempotency_key: str | None = None) -> Preference:
        """Note that somebody turned down what was suggested: it is half as sure. Once, and raises, as `accept`."""
        return self._judged(key, value, PreferenceVerdict.REJECTED, idempotency_key)

    # Suggestions ------------------------------------------------------------------------------------------------

    def suggestions(self, *, limit: int = 10) -> list[Suggestion]:
        """Return defaults for what this project has not decided, with what they rest on, the surest first.

        Nothing that is less certain than 0.6, that is suppressed, or for which the project has a fact or an exception.
        """
        parse_whole(limit, "limit", least=1)
        store = self._access.reading()
        if store is None:
            return []
        decided = {topic_key(attribute) for attribute in self._project.decided()}
        return suggest(self._here(store), decided=decided)[:limit]

    def offer(self, *, limit: int = 3) -> str | None:
        """Return the surest suggestions as one question to put to somebody; None where there is nothing to suggest.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.user.prefer("db", "Postgres"), hx.user.prefer("orm", "Prisma")
        ...     hx.user.offer()
        'By the way, you typically use Postgres (db) + Prisma (orm). Want me to set that up?'
        """
        suggestions = self.suggestions(limit=limit)
        if not suggestions:
            return None
        names = " + ".join(
            f"{suggestion.value} ({suggestion.key.replace('_', ' ')})" for suggestion in suggestions
        )
        return f"By the way, you typically use {names}. Want me to set that up?"

    def suppress(self, value: str, *, key: str | None = None, here: bool = False) -> Suppression:
        """Stop suggesting a value: of every key, or of one; in every project, or only `here`. What is known stays."""
        name, text = (None, self._access.value(value)) if key is None else self._access.pair(key, value)
        project = self._project.id if here else None
        store = self._access.writing()
        if here:
            self._project.note_named()
        with store.db.transaction():
            return store.projects.suppress(text, key=name, project_id=project, at=self._clock.now())

    def allow(self, value: str, *, key: str | None = None) -> int:
        """Take back every `suppress` of a value, or those of one key; return how many. Raises `NotFound` for none."""
        text = self._access.value(value)
        name = None if key is None else self._access.key(key)
        store = self._access.writing()
        with store.db.transaction():
            was_allowed = store.projects.allow(text, key=name)
        if not was_allowed:
            raise NotFound(f"{text!r} is not suppressed; `suppressions()` lists what is.")
        return was_allowed

    def suppressions(self) -> list[Suppression]:
        """Return what is not to be suggested, the newest first."""
        store = self._access.reading()
        return [] if store is None else store.projects.suppressions()

    def exception(self, key: str, value: str, *, reason: str) -> ProjectException:
        """Note that this project does it otherwise, and why: "usually Prisma; Drizzle here because …".

        The preference stays as sure as it is. A later exception for the key takes this one's place.
        """
        name, text = self._access.pair(key, value)
        why = self._access.text(reason, "reason")
        store = self._access.writing()
        self._project.note_named()
        with store.db.transaction():
            here = self._here(store)
            before = here.exceptions.get(canonical_key(name))
            name = name if before is None else before.key
            usual = resolve(name, replace(here, exceptions={}))
            exception = ProjectException(
                id="",
                user_id=self.user_id,
                project_id=self._project.id,
                key=name,
                value=text,
                usual=None if usual is None or look(usual.value) == look(text) else usual.value,
                reason=why,
                created_at=self._clock.now(),
            )
            return store.projects.put_exception(exception)

    def exceptions(self, *, everywhere: bool = False) -> list[ProjectException]:
        """Return this project's exceptions, or those of all projects, the newest first."""
        store = self._access.reading()
        project = None if everywhere else self._project.id
        return [] if store is None else store.projects.exceptions(project)

    # Learning ---------------------------------------------------------------------------------------------------

    @texts_checked
    def learn(self, *, dry_run: bool = False) -> LearningReport:
        """Publish what this project's facts say, mine what all projects say together, and return what changed, and why.

        A project that does not take part publishes nothing, and what it had published goes. It may run as often as one
        likes: without news it changes nothing. `dry_run` only says what would change; where nobody has a user layer yet
        it makes none, so that it puts together what would be published by itself.

        Raises `AccessDenied` as every change of the layer does.
        """
        now = self._clock.now()
        if dry_run:
            store = self._access.reading()
            published = self._published(now)
            own = self._project.id
            values = [] if store is None else store.projects.values(without=own)
            stored_preferences = [] if store is None else store.preferences.all()
            own = own if store is None else store.projects.known_as(own, self._project.place())
            values += [
                replace(project_value, project_id=own, begun=project_value.last_seen)
                for project_value in published.values
            ]
            mined = mine(
                values,
                stored_preferences,
                user_id=self.user_id,
                at=now,
                drift_projects=self._settings.drift_projects,
            )
            return self._report(published, mined, self._patterns(store, values), dry_run=True)
        store = self._access.writing()
        published = self._published(now)
        with store.db.transaction():
            new, removed = store.projects.publish(
                self._project.id, published.values, place=self._project.place()
            )
            mined = mine(
                store.projects.values(),
                store.preferences.all(),
                user_id=self.user_id,
                at=now,
                drift_projects=self._settings.drift_projects,
            )
            for held_one in mined.put:
                store.preferences.put(held_one)
            for held_one in mined.remove:
                store.preferences.remove(held_one.preference.key, held_one.preference.value)
            rules = store.patterns.replace_derived(mined.rules)
            shown = self._patterns(store, store.projects.values())
            for pattern in shown.put:
                store.patterns.put_pattern(pattern)
            for pattern in shown.remove:
                store.patterns.remove_pattern(pattern)
            store.projects.put_state({_COUNTED: json.dumps(shown.counted, sort_keys=True)})
        self._project.note_learning()
        report = self._report(published, mined, shown)
        return replace(report, published=new, retracted=removed, rules=rules)

    def retract(self, *, everything: bool = False) -> int:
        """Take out of the layer what this project published, and what was accepted and rejected in it; return how many
        values went. The next learning publishes again, unless the project does not take part. `everything` takes
        along its exceptions, and what is not to be suggested in it.
        """
        store = self._access.reading()
        if store is None or not store.projects.names(self._project.id, everything=everything):
            return 0
        return self._access.leave(self._access.writing(removes=True), everything=everything)

    def stated(self) -> Sequence[UserStatement]:
        """Return all that may be said here, for whoever weighs it against a question; nothing to a role."""
        if not self._context.may_see_user:
            return ()
        store = self._access.reading()
        return () if store is None else self._statements.get(store, self._here)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _weighed(self, store: UserStore, key: str, value: str, delta: int) -> Preference:
        stored_preference, now = store.preferences.get(key, value), self._clock.now()
        if stored_preference is None and delta < 0:
            raise NotFound(
                f"There is no preference {value!r} for {key!r}, so nothing speaks against it; "
                "`preferences()` lists them."
            )
        fresh = store.preferences.new(key, value, confidence=0.0, source=Source.INFERRED, at=now)
        return store.preferences.put(apply_evidence(stored_preference, fresh, delta, at=now))

    def _judged(self, key: str, value: str, verdict: PreferenceVerdict, token: str | None) -> Preference:
        self._access.require_learning()
        name, text = self._access.pair(key, value)
        token = self._access.token(token)
        project = self._project.id
        store = self._access.writing()
        self._project.note_named()
        with store.db.transaction():
            name = store.preferences.name_of(name)
            mark = f"{verdict}:{token if token is not None else f'{project}:{name}:{look(text)}'}"
            stored_preference = store.preferences.get(name, text)
            if stored_preference is None:
                raise NotFound(f"There is no preference {text!r} for {name!r}; `preferences()` lists them.")
            delta = 1 if verdict is PreferenceVerdict.ACCEPTED else -1
            if not self._counted(store, mark, name, text, delta, verdict):
                return stored_preference.preference
            preference = store.preferences.put(
                apply_evidence(stored_preference, stored_preference.preference, delta, at=self._clock.now())
            )
            field = "accepted" if delta > 0 else "rejected"
            changed = replace(preference, **{field: getattr(preference, field) + 1})
            return store.preferences.put(
                replace(
                    stored_preference,
                    preference=changed,
                    drifted=0 if delta > 0 else stored_preference.drifted,
                )
            )

    def _counted(
        self,
        store: UserStore,
        mark: str,
        key: str,
        value: str,
        delta: int,
        verdict: PreferenceVerdict = PreferenceVerdict.SEEN,
    ) -> bool:
        return store.projects.note(
            mark,
            project_id=self._project.id,
            key=key,
            value=value,
            verdict=verdict,
            delta=delta,
            at=self._clock.now(),
        )

    def _patterns(self, store: UserStore | None, values: Sequence[ProjectValue]) -> LearnedPatterns:
        known_patterns = [] if store is None else store.patterns.patterns()
        counted = None if store is None else store.projects.state(_COUNTED)
        return mine_patterns(values, known_patterns, json.loads(counted or "{}"), user_id=self.user_id)

    def _report(
        self,
        published: PublishedValues,
        mined: LearnedPreferences,
        shown: LearnedPatterns,
        *,
        dry_run: bool = False,
    ) -> LearningReport:
        return LearningReport(
            projects=mined.projects,
            published=len(published.values),
            left_out=published.left_out,
            changes=(*mined.changes, *shown.changes),
            rules=len(mined.rules),
            skipped=None if self.learns else "this project does not take part ([user] learning = false)",
            dry_run=dry_run,
        )

    def _published(self, now: datetime) -> PublishedValues:
        if not self._settings.learning:
            return PublishedValues(values=[], left_out={})
        return publishable(
            self._project.id,
            self._project.facts(),
            hidden=self._project.hidden_spaces(),
            objection=self._access.objection,
            now=now,
        )

    def _here(self, store: UserStore) -> ProjectView:
        return project_view(store, self._project.id, self._project.place())


def _stands(stored_preference: StoredPreference) -> bool:
    return (
        stored_preference.preference.source is Source.EXPLICIT
        and stored_preference.preference.confidence >= EXPLICIT_CONFIDENCE
    )
