"""What is held of a person: preferences, patterns, expertise and rules, how sure each is, and what it rests on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database, Row
from hexad.layers.user.values import Expertise, Level, Pattern, PatternType, Preference, Source, UserRule
from hexad.text.key_names import keys_alike, spellings
from hexad.text.normalize import nfkc

PREFIX: Final = "preference"
_COLUMNS: Final = (
    "id, user_id, key, value, confidence, source, evidence_count, projects, support, accepted, rejected, first_seen,"
    " last_seen, base, drifted, origin"
)
MINED, FILE, SAID = "mined", "file", ""
"""Where a preference is from: projects alone, the user's own file, or a call."""


def look(value: str) -> str:
    """Return a value as it is compared: without case and repeated white space.

    >>> look("  Post GreSQL ") == look("post gresql")
    True
    """
    return " ".join(nfkc(value).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPreference:
    """A preference with what learning keeps beside it: see the columns of `user_preferences`."""

    preference: Preference
    base: float | None = None
    drifted: int = 0
    origin: str = SAID


class Preferences:
    """Rows of `user_preferences` of one person. The caller holds the transaction that a change belongs to."""

    def __init__(self, db: Database, user_id: str) -> None:
        self._db = db
        self._user_id = user_id

    def all(self, key: str | None = None) -> list[StoredPreference]:
        """Return preferences, of a key those of its other names too, the surest first; then what was said, what has
        more evidence, the latest.
        """
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM user_preferences WHERE user_id = ?"
            " AND (? IS NULL OR key IN (SELECT value FROM json_each(?)))"
            " ORDER BY confidence DESC, source, evidence_count DESC, last_seen DESC, key, look",
            (self._user_id, key, None if key is None else json.dumps(spellings(keys_alike(key)))),
        )
        return [_stored_preference(row) for row in rows]

    def name_of(self, key: str) -> str:
        """Return the key under which what is preferred for a key is held, another name of it or itself."""
        names = [row.preference.key for row in self.all(key)]
        return key if not names or key in names else names[0]

    def get(self, key: str, value: str) -> StoredPreference | None:
        """Return what is held of a value, however it is written."""
        row = self._db.query_one(
            f"SELECT {_COLUMNS} FROM user_preferences WHERE user_id = ? AND key = ? AND look = ?",
            (self._user_id, key, look(value)),
        )
        return None if row is None else _stored_preference(row)

    def put(self, stored: StoredPreference) -> Preference:
        """Store a preference, new or in the place of the one of the same key and value; return it with its id."""
        preference = stored.preference
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_preferences(user_id, key, value, look, confidence, source, evidence_count, projects,"
                " support, accepted, rejected, first_seen, last_seen, base, drifted, origin)"
                " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(user_id, key, look) DO UPDATE SET"
                " value = excluded.value, confidence = excluded.confidence, source = excluded.source,"
                " evidence_count = excluded.evidence_count, projects = excluded.projects, support = excluded.support,"
                " accepted = excluded.accepted, rejected = excluded.rejected, last_seen = excluded.last_seen,"
                " base = excluded.base, drifted = excluded.drifted, origin = excluded.origin",
                (
                    self._user_id,
                    preference.key,
                    preference.value,
                    look(preference.value),
                    preference.confidence,
                    preference.source.value,
                    preference.evidence_count,
                    preference.projects,
                    preference.support,
                    preference.accepted,
                    preference.rejected,
                    to_micros(preference.first_seen),
                    to_micros(preference.last_seen),
                    stored.base,
                    stored.drifted,
                    stored.origin,
                ),
            )
        stored_preference = self.get(preference.key, preference.value)
        assert stored_preference is not None
        return stored_preference.preference

    def remove(self, key: str, value: str) -> bool:
        """Remove a preference; return whether there was one."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM user_preferences WHERE user_id = ? AND key = ? AND look = ?",
                (self._user_id, key, look(value)),
            )
            return con.changes > 0

    def new(self, key: str, value: str, *, confidence: float, source: Source, at: datetime) -> Preference:
        """Return a preference that is not stored yet."""
        return Preference(
            id="",
            user_id=self._user_id,
            key=key,
            value=value,
            confidence=confidence,
            source=source,
            evidence_count=0,
            projects=0,
            support=None,
            accepted=0,
            rejected=0,
            first_seen=at,
            last_seen=at,
        )


def _stored_preference(row: Row | Sequence[object]) -> StoredPreference:
    values = tuple(row[:13])
    base, drifted, origin = tuple(row[13:])
    preference = Preference(
        id=f"{PREFIX}-{values[0]}",
        user_id=values[1],
        key=values[2],
        value=values[3],
        confidence=values[4],
        source=Source(values[5]),
        evidence_count=values[6],
        projects=values[7],
        support=values[8],
        accepted=values[9],
        rejected=values[10],
        first_seen=from_micros(values[11]),
        last_seen=from_micros(values[12]),
    )
    return StoredPreference(preference=preference, base=base, drifted=drifted, origin=origin)


_PATTERN: Final = "id, user_id, pattern_type, description, evidence_count, confidence, first_seen, last_seen"
_EXPERTISE: Final = "id, user_id, area, level, source, confidence, last_seen"
_RULE: Final = (
    "id, user_id, text, source, confidence, evidence_count, key, value, given_key, given_value, last_seen"
)


class Patterns:
    """Rows of `user_patterns`, `user_expertise` and `user_rules` of one person."""

    def __init__(self, db: Database, user_id: str) -> None:
        self._db = db
        self._user_id = user_id

    # Patterns ---------------------------------------------------------------------------------------------------

    def patterns(self, kind: PatternType | None = None) -> list[Pattern]:
        """Return patterns, the surest first."""
        rows = self._db.query(
            f"SELECT {_PATTERN} FROM user_patterns WHERE user_id = ? AND (? IS NULL OR pattern_type = ?)"
            " ORDER BY confidence DESC, evidence_count DESC, last_seen DESC, description",
            (self._user_id, kind, kind),
        )
        return [_pattern(row) for row in rows]

    def pattern(self, kind: PatternType, description: str) -> Pattern | None:
        """Return the pattern of that type that says the same."""
        row = self._db.query_one(
            f"SELECT {_PATTERN} FROM user_patterns WHERE user_id = ? AND pattern_type = ? AND look = ?",
            (self._user_id, kind.value, look(description)),
        )
        return None if row is None else _pattern(row)

    def put_pattern(self, pattern: Pattern) -> Pattern:
        """Store a pattern, new or in the place of the one that says the same; return it with its id."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_patterns(user_id, pattern_type, description, look, evidence_count, confidence,"
                " first_seen, last_seen) VALUES(?,?,?,?,?,?,?,?) ON CONFLICT(user_id, pattern_type, look) DO UPDATE"
                " SET evidence_count = excluded.evidence_count, confidence = excluded.confidence,"
                " last_seen = excluded.last_seen",
                (
                    self._user_id,
                    pattern.pattern_type.value,
                    pattern.description,
                    look(pattern.description),
                    pattern.evidence_count,
                    pattern.confidence,
                    to_micros(pattern.first_seen),
                    to_micros(pattern.last_seen),
                ),
            )
        found_pattern = self.pattern(pattern.pattern_type, pattern.description)
        assert found_pattern is not None
        return found_pattern

    def remove_pattern(self, pattern: Pattern) -> None:
        """Remove a pattern."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM user_patterns WHERE user_id = ? AND pattern_type = ? AND look = ?",
                (self._user_id, pattern.pattern_type.value, look(pattern.description)),
            )

    # Expertise --------------------------------------------------------------------------------------------------

    def expertise(self, area: str | None = None) -> list[Expertise]:
        """Return what somebody knows, by area."""
        like = None if area is None else look(area)
        rows = self._db.query(
            f"SELECT {_EXPERTISE} FROM user_expertise WHERE user_id = ? AND (? IS NULL OR look = ?) ORDER BY look",
            (self._user_id, like, like),
        )
        return [_expertise(row) for row in rows]

    def put_expertise(self, expertise: Expertise) -> Expertise:
        """Store how well somebody knows an area, in the place of what was held of it."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_expertise(user_id, area, look, level, source, confidence, last_seen)"
                " VALUES(?,?,?,?,?,?,?) ON CONFLICT(user_id, look) DO UPDATE SET area = excluded.area,"
                " level = excluded.level, source = excluded.source, confidence = excluded.confidence,"
                " last_seen = excluded.last_seen",
                (
                    self._user_id,
                    expertise.area,
                    look(expertise.area),
                    expertise.level.value,
                    expertise.source.value,
                    expertise.confidence,
                    to_micros(expertise.last_seen),
                ),
            )
        return self.expertise(expertise.area)[0]

    # Rules ------------------------------------------------------------------------------------------------------

    def rules(self, source: Source | None = None) -> list[UserRule]:
        """Return rules, the surest first."""
        rows = self._db.query(
            f"SELECT {_RULE} FROM user_rules WHERE user_id = ? AND (? IS NULL OR source = ?)"
            " ORDER BY confidence DESC, evidence_count DESC, text",
            (self._user_id, source, source),
        )
        return [_rule(row) for row in rows]

    def put_rule(self, user_rule: UserRule) -> UserRule:
        """Store a rule, new or in the place of the one with this text."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_rules(user_id, text, source, confidence, evidence_count, key, value, given_key,"
                " given_value, last_seen) VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT(user_id, text) DO UPDATE SET"
                " source = excluded.source, confidence = excluded.confidence,"
                " evidence_count = excluded.evidence_count, key = excluded.key, value = excluded.value,"
                " given_key = excluded.given_key, given_value = excluded.given_value,"
                " last_seen = excluded.last_seen",
                (
                    self._user_id,
                    user_rule.text,
                    user_rule.source.value,
                    user_rule.confidence,
                    user_rule.evidence_count,
                    user_rule.key,
                    user_rule.value,
                    user_rule.given_key,
                    user_rule.given_value,
                    to_micros(user_rule.last_seen),
                ),
            )
        return next(rule for rule in self.rules() if rule.text == user_rule.text)

    def replace_derived(self, rules: Sequence[UserRule]) -> int:
        """Store the rules that were derived in the place of those before; what somebody said stays. Return how many
        changed.
        """
        rule_texts = {rule.text for rule in self.rules(Source.EXPLICIT)}
        before = {rule.text: (rule.confidence, rule.evidence_count) for rule in self.rules(Source.INFERRED)}
        after = {
            rule.text: (rule.confidence, rule.evidence_count) for rule in rules if rule.text not in rule_texts
        }
        changed = sum(before.get(text) != counts for text, counts in after.items())
        with self._db.joined() as con:
            for text in before.keys() - after.keys():
                con.execute("DELETE FROM user_rules WHERE user_id = ? AND text = ?", (self._user_id, text))
            for rule in rules:
                if rule.text in after and before.get(rule.text) != after[rule.text]:
                    self.put_rule(rule)
        return changed + len(before.keys() - after.keys())


def _pattern(row: Row) -> Pattern:
    return Pattern(
        id=f"pattern-{row[0]}",
        user_id=row[1],
        pattern_type=PatternType(row[2]),
        description=row[3],
        evidence_count=row[4],
        confidence=row[5],
        first_seen=from_micros(row[6]),
        last_seen=from_micros(row[7]),
    )


def _expertise(row: Row) -> Expertise:
    return Expertise(
        id=f"expertise-{row[0]}",
        user_id=row[1],
        area=row[2],
        level=Level(row[3]),
        source=Source(row[4]),
        confidence=row[5],
        last_seen=from_micros(row[6]),
    )


def _rule(row: Row) -> UserRule:
    return UserRule(
        id=f"rule-{row[0]}",
        user_id=row[1],
        text=row[2],
        source=Source(row[3]),
        confidence=row[4],
        evidence_count=row[5],
        key=row[6],
        value=row[7],
        given_key=row[8],
        given_value=row[9],
        last_seen=from_micros(row[10]),
    )
