"""The concepts of the packs that were loaded: hierarchy, relations, terms and aliases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.codec import dump, load_object, to_micros
from hexad.database.connection import Connection, Database, SQLValue
from hexad.errors import Conflict, NotFound
from hexad.experience.tables.tags import TAG_COLUMNS, TAGS, glob_of, tag_of
from hexad.experience.values.tags import PARENT, ConceptPack, PackReport, Tag, folded_name

_CREATED_BY: Final = "system"
_UPWARD: Final = (
    "WITH RECURSIVE up(no) AS (SELECT t.no FROM tags t WHERE t.id = :id UNION"
    " SELECT r.to_no FROM up JOIN concept_relations r ON r.from_no = up.no AND r.relation = 'parent'"
    " WHERE r.to_no IS NOT NULL)"
)
_DOWNWARD: Final = (
    "WITH RECURSIVE down(no) AS (SELECT t.no FROM json_each(:ids) j JOIN tags t ON t.id = j.value UNION"
    " SELECT r.from_no FROM down JOIN concept_relations r ON r.to_no = down.no AND r.relation = 'parent')"
)


class Concepts:
    """The concepts of one store. A concept is named by its id, `pack::Term`, which is its tag's id too."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Reading -----------------------------------------------------------------------------------------------------

    def count(self) -> int:
        """Return how many concepts the loaded packs have."""
        row = self._db.query_one("SELECT count(*) FROM concepts")
        return row[0] if row else 0

    def fingerprints(self) -> tuple[str, ...]:
        """Return what each loaded pack was read from, by which a change of the hierarchy is noticed."""
        rows = self._db.query("SELECT fingerprint FROM concept_packs ORDER BY no")
        return tuple(row[0] for row in rows)

    def roots(self) -> list[Tag]:
        """Return the concepts without a parent among those that are loaded, by term."""
        return self._tags(
            "SELECT {columns} FROM concepts c JOIN tags t ON t.no = c.tag_no WHERE NOT EXISTS (SELECT 1 FROM"
            " concept_relations r WHERE r.from_no = c.tag_no AND r.relation = 'parent' AND r.to_no IS NOT NULL)"
            " ORDER BY t.folded, t.id"
        )

    def children(self, concept_id: str) -> list[Tag]:
        """Return the concepts that name this one as a parent, by term; raises `NotFound`."""
        no = self._number(concept_id)
        return self._tags(
            "SELECT {columns} FROM concept_relations r JOIN tags t ON t.no = r.from_no"
            " WHERE r.to_no = ? AND r.relation = 'parent' ORDER BY t.folded, t.id",
            no,
        )

    def parents(self, concept_id: str) -> list[Tag]:
        """Return the parents of a concept that are loaded, by term; raises `NotFound`."""
        no = self._number(concept_id)
        return self._tags(
            "SELECT {columns} FROM concept_relations r JOIN tags t ON t.no = r.to_no"
            " WHERE r.from_no = ? AND r.relation = 'parent' ORDER BY t.folded, t.id",
            no,
        )

    def related(self, concept_id: str) -> list[tuple[Tag, str]]:
        """Return what a concept is related to, and how, by relation and term; parents and children are not.

        A concept that names this one is there too, under its own word with `inverse of ` before it, unless this one
        names it by the same word. Raises `NotFound`.
        """
        no = self._number(concept_id)
        rows = self._db.query(
            f"SELECT {TAG_COLUMNS}, how FROM (SELECT to_no AS other, relation AS how FROM concept_relations"
            "  WHERE from_no = ?1 AND relation <> 'parent' AND to_no IS NOT NULL"
            " UNION SELECT r.from_no, 'inverse of ' || r.relation FROM concept_relations r"
            "  WHERE r.to_no = ?1 AND r.relation <> 'parent' AND NOT EXISTS (SELECT 1 FROM concept_relations s"
            "   WHERE s.from_no = ?1 AND s.relation = r.relation AND s.to_no = r.from_no)"
            ") JOIN tags t ON t.no = other ORDER BY substr(how, 1, 11) = 'inverse of ', how, t.folded, t.id",
            (no,),
        )
        return [(tag_of(row), row[9]) for row in rows]

    def ancestors(self, concept_id: str) -> list[str]:
        """Return the ids of all concepts above one, sorted; none for what is no concept."""
        rows = self._db.query(
            f"{_UPWARD} SELECT t.id FROM up JOIN tags t ON t.no = up.no WHERE t.id <> :id ORDER BY 1",
            {"id": concept_id},
        )
        return [row[0] for row in rows]

    def with_descendants(self, tag_ids: Collection[str]) -> list[str]:
        """Return these tags and every concept below them, sorted; tags that are no concepts stay alone."""
        rows = self._db.query(
            f"{_DOWNWARD} SELECT t.id FROM down JOIN tags t ON t.no = down.no ORDER BY 1",
            {"ids": dump(sorted(tag_ids))},
        )
        return [row[0] for row in rows]

    def find(self, query: str, *, limit: int = -1) -> list[Tag]:
        """Return the concepts whose term or alias the query is, begins, or is in, best first, ignoring case.

        Terms are written together: `agent action` finds `AgentAction`. Patterns as in `Tags.find`.
        """
        folded = folded_name(query.strip())
        joined = "".join(char for char in folded if char not in " _-")
        if not joined:
            return []
        params: dict[str, SQLValue] = {
            "folded": folded,
            "joined": joined,
            "glob": glob_of(query),
            "glob_joined": glob_of(joined),
            "limit": limit,
        }
        rows = self._db.query(
            # 0 the term, 1 an alias, 2 a term begins so, 3 an alias begins so, 4 a term holds it, 5 an alias does
            f"SELECT {TAG_COLUMNS}, min(rank) AS best FROM ("
            "SELECT no AS tag_no, CASE WHEN folded IN (:folded, :joined) THEN 0"
            "  WHEN substr(folded, 1, length(:joined)) = :joined OR substr(folded, 1, length(:folded)) = :folded THEN 2"
            "  ELSE 4 END AS rank FROM concepts JOIN tags ON no = tag_no"
            " WHERE folded GLOB :glob OR folded GLOB :glob_joined"
            " UNION ALL SELECT tag_no, CASE WHEN folded = :folded THEN 1"
            "  WHEN substr(folded, 1, length(:folded)) = :folded THEN 3 ELSE 5 END"
            "  FROM concept_aliases WHERE folded GLOB :glob"
            ") f JOIN tags t ON t.no = f.tag_no GROUP BY t.no ORDER BY best, t.folded, t.id LIMIT :limit",
            params,
        )
        return [tag_of(row) for row in rows]

    def primaries(self, *, limit: int = -1) -> list[Tag]:
        """Return the concepts that a lens sees, from the coarse layers to the fine ones."""
        return self._tags(
            "SELECT {columns} FROM concepts c JOIN tags t ON t.no = c.tag_no WHERE c.lens"
            " ORDER BY coalesce(c.layer, 1 << 30), t.id LIMIT ?",
            limit,
        )

    def aliases(self, concept_id: str) -> list[str]:
        """Return what a concept is also called, as its pack writes it."""
        rows = self._db.query(
            "SELECT alias FROM concept_aliases WHERE tag_no = (SELECT no FROM tags WHERE id = ?) ORDER BY folded",
            (concept_id,),
        )
        return [row[0] for row in rows]

    def details(self, concept_id: str) -> dict[str, object]:
        """Return what else the pack says of a concept; raises `NotFound`."""
        row = self._db.query_one("SELECT details FROM concepts WHERE tag_no = ?", (self._number(concept_id),))
        return dict(load_object(row[0] if row else "{}"))

    def _number(self, concept_id: str) -> int:
        row = self._db.query_one(
            "SELECT c.tag_no FROM tags t JOIN concepts c ON c.tag_no = t.no WHERE t.id = ?", (concept_id,)
        )
        if row is None:
            raise NotFound(
                f"Concept {concept_id!r} is not in a loaded pack;", remedy="`{find_concept}` looks by name."
            )
        return int(row[0])

    def _tags(self, sql: str, *params: SQLValue) -> list[Tag]:
        return [tag_of(row) for row in self._db.query(sql.format(columns=TAG_COLUMNS), params)]

    # Writing -----------------------------------------------------------------------------------------------------

    def loaded(self, fingerprint: str) -> PackReport | None:
        """Return the report on the pack with this fingerprint, as it was loaded; None where none is."""
        with self._db.read() as con:
            row = con.execute(
                "SELECT no, id, version FROM concept_packs WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
            if row is None:
                return None
            return self._report(con, row[1], row[2], row[0], created=0, removed=0, unchanged=True)

    def load(self, pack: ConceptPack, *, at: datetime) -> PackReport:
        """Bring the store to what `pack` says, in the caller's transaction; the same pack again changes nothing.

        Tags keep their rows, so what was tagged stays tagged. A concept that its pack no longer has stays a tag and
        leaves the hierarchy. Raises `Conflict` for a concept of another pack.
        """
        with self._db.joined() as con:
            row = con.execute("SELECT no, fingerprint FROM concept_packs WHERE id = ?", (pack.id,)).fetchone()
            if row is not None and row[1] == pack.fingerprint:
                return self._report(con, pack.id, pack.version, row[0], created=0, removed=0, unchanged=True)
            con.execute(
                "INSERT INTO concept_packs(id, version, fingerprint, loaded_at) VALUES(?1, ?2, ?3, ?4)"
                " ON CONFLICT(id) DO UPDATE SET version = ?2, fingerprint = ?3, loaded_at = ?4",
                (pack.id, pack.version, pack.fingerprint, to_micros(at)),
            )
            row = con.execute("SELECT no FROM concept_packs WHERE id = ?", (pack.id,)).fetchone()
            assert row is not None
            pack_no = row[0]
            before = _count(con, "SELECT count(*) FROM tags")
            _put_tags(con, pack, at)
            created = _count(con, "SELECT count(*) FROM tags") - before
            _adopt(con, pack)
            removed = _put_concepts(con, pack, pack_no)
            _put_names(con, pack, pack_no)
            bump(con, TAGS)
            return self._report(con, pack.id, pack.version, pack_no, created=created, removed=removed)

    @staticmethod
    def _report(
        con: Connection,
        pack_id: str,
        version: str | None,
        pack_no: int,
        *,
        created: int,
        removed: int,
        unchanged: bool = False,
    ) -> PackReport:
        of_pack = "JOIN concepts c ON c.tag_no = r.{0} WHERE c.pack_no = ?"
        orphans = con.execute(
            "SELECT DISTINCT t.id FROM concept_relations r JOIN concepts c ON c.tag_no = r.from_no"
            " JOIN tags t ON t.no = r.from_no WHERE c.pack_no = ? AND r.relation = 'parent' AND r.to_no IS NULL"
            " ORDER BY 1",
            (pack_no,),
        ).fetchall()
        relations = (
            f"SELECT count(*) FROM concept_relations r {of_pack.format('from_no')} AND r.relation <> 'parent'"
        )
        return PackReport(
            pack_id=pack_id,
            version=version,
            concepts=_count(con, "SELECT count(*) FROM concepts WHERE pack_no = ?", pack_no),
            created=created,
            removed=removed,
            aliases=_count(
                con, f"SELECT count(*) FROM concept_aliases r {of_pack.format('tag_no')}", pack_no
            ),
            relations=_count(con, relations, pack_no),
            dangling=_count(con, f"{relations} AND r.to_no IS NULL", pack_no),
            orphans=tuple(orphan[0] for orphan in orphans),
            unchanged=unchanged,
        )


def _put_tags(con: Connection, pack: ConceptPack, at: datetime) -> None:
    con.executemany(
        "INSERT INTO tags(id, name, folded, tag_type, concept_id, created_at, created_by, description)"
        " VALUES(?1, ?2, ?3, 'concept', ?1, ?4, ?5, ?6) ON CONFLICT(id) DO UPDATE SET"
        " name = ?2, folded = ?3, description = ?6 WHERE concept_id = ?1",
        (
            (
                concept.id,
                concept.term,
                folded_name(concept.term),
                to_micros(at),
                _CREATED_BY,
                concept.definition,
            )
            for concept in pack.concepts
        ),
    )
    taken_row = con.execute(
        "SELECT t.id, t.tag_type FROM json_each(?) j JOIN tags t ON t.id = j.value WHERE t.concept_id IS NULL LIMIT 1",
        (dump([concept.id for concept in pack.concepts]),),
    ).fetchone()
    if taken_row is not None:
        raise Conflict(f"The tag {taken_row[0]!r} has the id of a concept of pack {pack.id!r}, and is none.")


def _adopt(con: Connection, pack: ConceptPack) -> None:
    """Give concepts what was tagged under their ids before the pack was there: then such a tag was one of a name."""
    earlier = con.execute(
        "SELECT o.no, o.id, t.no, t.id FROM tags o JOIN tags t ON t.id = o.name AND t.tag_type = 'concept'"
        " WHERE o.tag_type = 'custom' AND o.name IN (SELECT value FROM json_each(?))",
        (dump([concept.id for concept in pack.concepts]),),
    ).fetchall()
    for old_no, old_id, new_no, new_id in earlier:
        con.execute("UPDATE tag_applications SET tag_no = ? WHERE tag_no = ?", (new_no, old_no))
        con.execute("UPDATE OR IGNORE compressed_tags SET tag_id = ? WHERE tag_id = ?", (new_id, old_id))
        con.execute("DELETE FROM compressed_tags WHERE tag_id = ?", (old_id,))
        con.execute(
            "UPDATE compressed_records SET significant_tags = replace(significant_tags, ?1, ?2)"
            " WHERE instr(significant_tags, ?1) > 0",
            (dump(old_id), dump(new_id)),
        )
        con.execute("DELETE FROM tags WHERE no = ?", (old_no,))


def _put_concepts(con: Connection, pack: ConceptPack, pack_no: int) -> int:
    """Store what the pack says of its concepts; returns how many it no longer has."""
    ids = dump([concept.id for concept in pack.concepts])
    foreign = con.execute(
        "SELECT t.id, p.id FROM json_each(?) j JOIN tags t ON t.id = j.value JOIN concepts c ON c.tag_no = t.no"
        " JOIN concept_packs p ON p.no = c.pack_no WHERE p.no <> ? LIMIT 1",
        (ids, pack_no),
    ).fetchone()
    if foreign is not None:
        raise Conflict(
            f"Concept {foreign[0]!r} belongs to the pack {foreign[1]!r}; give pack {pack.id!r} another id."
        )
    mine = "(SELECT tag_no FROM concepts WHERE pack_no = ?)"
    con.execute(f"DELETE FROM concept_aliases WHERE tag_no IN {mine}", (pack_no,))
    con.execute(f"DELETE FROM concept_relations WHERE from_no IN {mine}", (pack_no,))
    departed = (
        "FROM concepts WHERE pack_no = ?1 AND tag_no NOT IN"
        " (SELECT no FROM tags WHERE id IN (SELECT value FROM json_each(?2)))"
    )
    con.execute(
        f"UPDATE concept_relations SET to_no = NULL WHERE to_no IN (SELECT tag_no {departed})", (pack_no, ids)
    )
    con.execute(f"DELETE {departed}", (pack_no, ids))
    removed = con.changes
    con.executemany(
        "INSERT INTO concepts(tag_no, pack_no, layer, domain, lens, details)"
        " SELECT no, ?2, ?3, ?4, ?5, ?6 FROM tags WHERE id = ?1 ON CONFLICT(tag_no) DO UPDATE SET"
        " layer = ?3, domain = ?4, lens = ?5, details = ?6",
        (
            (concept.id, pack_no, concept.layer, concept.domain, concept.lens, dump(dict(concept.details)))
            for concept in pack.concepts
        ),
    )
    return removed


def _put_names(con: Connection, pack: ConceptPack, pack_no: int) -> None:
    """Store aliases and relations; relations of other packs that were open find their concepts."""
    rows = con.execute(
        "SELECT t.id, t.no FROM concepts c JOIN tags t ON t.no = c.tag_no WHERE c.pack_no = ?", (pack_no,)
    )
    numbers: dict[str, int] = dict(rows)
    con.executemany(
        "INSERT OR IGNORE INTO concept_aliases(folded, tag_no, alias) VALUES(?,?,?)",
        (
            (folded_name(alias), numbers[concept.id], alias)
            for concept in pack.concepts
            for alias in concept.aliases
            if folded_name(alias) != folded_name(concept.term)
        ),
    )
    named = _Names(pack, numbers)
    con.executemany(
        "INSERT OR IGNORE INTO concept_relations(from_no, relation, target, to_no) VALUES(?,?,?,?)",
        (
            (numbers[concept.id], relation, target, named.number(target))
            for concept in pack.concepts
            for relation, target in _relations(concept.parents, concept.relations)
        ),
    )
    con.execute(
        "UPDATE concept_relations SET to_no = (SELECT c.tag_no FROM tags t JOIN concepts c ON c.tag_no = t.no"
        " WHERE t.id = target) WHERE to_no IS NULL AND target IN (SELECT id FROM tags WHERE concept_id IS NOT NULL)"
    )


_PLURAL_LEAST: Final = 4
"""Shorter names that end in s are no plurals: `gas`."""


class _Names:
    """By what the relations of a pack may name its concepts: id, term, alias, in other capitals, `Term:layer`.

    Words may be joined in one place and apart in another: `AudioRecording` is the alias `audio recording`.
    """

    def __init__(self, pack: ConceptPack, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._terms = {concept.term: numbers[concept.id] for concept in pack.concepts}
        self._layers = {
            (folded_name(concept.term), concept.layer): numbers[concept.id]
            for concept in pack.concepts
            if concept.layer is not None
        }
        self._folded = _unambiguous(
            (folded_name(name), numbers[concept.id])
            for concept in pack.concepts
            for name in (concept.id, concept.term)
        )
        self._aliases = _unambiguous(
            (folded_name(alias), numbers[concept.id])
            for concept in pack.concepts
            for alias in concept.aliases
        )
        self._known = {
            folded_name(name) for concept in pack.concepts for name in (concept.term, *concept.aliases)
        }
        self._joined = _unambiguous(
            (_joined_name(name), numbers[concept.id])
            for concept in pack.concepts
            for name in (concept.term, *concept.aliases)
        )

        self._joined_known = {_joined_name(name) for name in self._known}
        self._singulars = _unambiguous(
            (_singular(_joined_name(name)), numbers[concept.id])
            for concept in pack.concepts
            for name in (concept.term, *concept.aliases)
            if _joined_name(name)
        )

    def number(self, target: str) -> int | None:
        """Return which concept a target is, the exact name before others; None where two could be meant, or none."""
        exact = self._numbers.get(target) or self._terms.get(target)
        found = exact or self._by_folded(target) or self._by_layer(target) or self._by_joined(target)
        return found or self._by_plural(target)

    def _by_folded(self, target: str) -> int | None:
        folded = folded_name(target)
        return self._folded.get(folded) or self._aliases.get(folded)

    def _by_joined(self, target: str) -> int | None:
        """Return what has this name with its words apart; a name that several have in one form is none of them."""
        return (
            None if folded_name(target) in self._known else self._joined.get(_joined_name(target) or target)
        )

    def _by_plural(self, target: str) -> int | None:
        """Return what has this name in the singular, or in the plural; None for a name that there is."""
        term, _ = _term_and_layer(target) or (target, 0)
        if folded_name(term) in self._known or _joined_name(term) in self._joined_known:
            return None
        return self._singulars.get(_singular(_joined_name(term)))

    def _by_layer(self, target: str) -> int | None:
        named = _term_and_layer(target)
        if named is None:
            return None
        term, layer = named
        return self._layers.get((folded_name(term), layer)) or self._by_folded(term) or self._by_joined(term)


def _term_and_layer(target: str) -> tuple[str, int] | None:
    """Return term and layer of `Food:1`, which some write `Food:layer1`; None for a name without a layer."""
    term, colon, layer = target.rpartition(":")
    digits = re.fullmatch(r"(?:(?:layer|l)[\s_-]?)?([0-9]{1,9})", layer.strip(), re.IGNORECASE)
    return None if not colon or term.endswith(":") or digits is None else (term, int(digits[1]))


def _singular(name: str) -> str:
    """Return a joined name without the ending of the plural: `berries` and `berry` are one."""
    if name.endswith("ies") and len(name) > _PLURAL_LEAST:
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "zes", "ches", "shes")):
        return name[:-2]
    is_plural = (
        name.endswith("s") and not name.endswith(("ss", "us", "is", "ics")) and len(name) >= _PLURAL_LEAST
    )
    return name[:-1] if is_plural else name


def _joined_name(name: str) -> str:
    """Return a name in small letters without what parts its words; empty where it has other signs than these."""
    joined = re.sub(r"[\s_-]+", "", folded_name(name))
    return joined if joined.isalnum() else ""


def _unambiguous(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return numbers by name, without the names that several have."""
    numbers: dict[str, set[int]] = {}
    for name, number in pairs:
        numbers.setdefault(name, set()).add(number)
    return {name: min(found) for name, found in numbers.items() if len(found) == 1}


def _relations(parents: tuple[str, ...], relations: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    yield from ((PARENT, parent) for parent in parents)
    yield from relations


def _count(con: Connection, sql: str, *params: SQLValue) -> int:
    row = con.execute(sql, params).fetchone()
    return row[0] if row else 0
