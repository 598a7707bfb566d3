"""The tags of a store: by id, by name, by pattern."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.codec import dump, from_micros, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import Conflict, NotFound
from hexad.experience.values.tags import TAG_NAME_CHARS_LIMIT, BudStatus, Tag, TagType, folded_name

TAGS: Final = "tags"
"""The family of `changes` that counts changes of tags and concepts."""

TAG_COLUMNS: Final = ", ".join(
    f"t.{column}"
    for column in (
        "id", "name", "tag_type", "concept_id", "entity_type", "bud_status", "created_at", "created_by", "description",
    )
)  # fmt: skip
# Of several tags of one name: as it is written, then what people made before what packs brought, then the oldest.
_NAMED: Final = "t.name <> :name, t.concept_id IS NOT NULL, t.no"
_WILDCARDS: Final = ("*", "?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TagFilter:
    """Which tags to find; None lets everything pass. `pattern` is explained at `Tags.find`."""

    pattern: str | None = None
    tag_type: TagType | None = None
    bud_status: BudStatus | None = None
    entity_type: str | None = None


def tag_of(row: Row) -> Tag:
    """Return what the values of `TAG_COLUMNS` say."""
    status = row[5]
    return Tag(
        id=row[0],
        name=row[1],
        tag_type=TagType(row[2]),
        concept_id=row[3],
        entity_type=row[4],
        bud_status=None if status is None else BudStatus(status),
        created_at=from_micros(row[6]),
        created_by=row[7],
        description=row[8],
    )


def glob_of(pattern: str) -> str:
    """Return a pattern as SQLite's GLOB: `*` and `?` stand for themselves, without either it may stand anywhere."""
    quoted = folded_name(pattern.strip()).replace("[", "[[]")
    return quoted if any(char in pattern for char in _WILDCARDS) else f"*{quoted}*"


class Tags:
    """The tags of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, tag_id: str) -> Tag | None:
        """Return the tag with exactly this id, None when there is none."""
        row = self._db.query_one(f"SELECT {TAG_COLUMNS} FROM tags t WHERE t.id = ?", (tag_id,))
        return None if row is None else tag_of(row)

    def require(self, tag_id: str) -> Tag:
        """Return the tag with exactly this id; raises `NotFound`."""
        tag = self.get(tag_id)
        if tag is None:
            raise NotFound(f"Tag {tag_id!r} is not there;", remedy="`{find_tags}` lists what there is.")
        return tag

    def number(self, tag_id: str) -> int:
        """Return a tag's row number; raises `NotFound`."""
        row = self._db.query_one("SELECT no FROM tags WHERE id = ?", (tag_id,))
        if row is None:
            raise NotFound(f"Tag {tag_id!r} is not there;", remedy="`{find_tags}` lists what there is.")
        return int(row[0])

    def by_ids(self, tag_ids: Collection[str]) -> dict[str, Tag]:
        """Return the tags with these ids, by id; what is not there is left out."""
        rows = self._db.query(
            f"SELECT {TAG_COLUMNS} FROM json_each(?) j JOIN tags t ON t.id = j.value",
            (dump(sorted(set(tag_ids))),),
        )
        return {tag.id: tag for tag in map(tag_of, rows)}

    def named(self, name: str, *, tag_type: TagType | None = None) -> Tag | None:
        """Return the tag of this name, ignoring case; patterns are not looked at, they are names like others."""
        if len(name) > TAG_NAME_CHARS_LIMIT:
            return None
        row = self._db.query_one(
            f"SELECT {TAG_COLUMNS} FROM tags t WHERE t.folded = :folded AND (:type IS NULL OR t.tag_type = :type)"
            f" ORDER BY {_NAMED} LIMIT 1",
            {"folded": folded_name(name.strip()), "name": name.strip(), "type": tag_type},
        )
        return None if row is None else tag_of(row)

    def find(self, wanted: TagFilter, *, limit: int = -1, offset: int = 0) -> list[Tag]:
        """Return the tags that pass, by name ignoring case, then by id.

        The pattern is part of the name, ignoring case; with `*` (anything) or `?` (one character) in it, it is the
        whole name. Every other character stands for itself.
        """
        where, params = ["1"], list[SQLValue]()
        if wanted.pattern is not None:
            where.append("t.folded GLOB ?")
            params.append(glob_of(wanted.pattern))
        for column, value in (
            ("tag_type", wanted.tag_type),
            ("bud_status", wanted.bud_status),
            ("entity_type", wanted.entity_type),
        ):
            if value is not None:
                where.append(f"t.{column} = ?")
                params.append(value)
        rows = self._db.query(
            f"SELECT {TAG_COLUMNS} FROM tags t WHERE {' AND '.join(where)} ORDER BY t.folded, t.id LIMIT ? OFFSET ?",
            (*params, limit, offset),
        )
        return [tag_of(row) for row in rows]

    def count(self, tag_type: TagType | None = None) -> int:
        """Return how many tags there are, of one type or of all."""
        row = self._db.query_one("SELECT count(*) FROM tags WHERE ?1 IS NULL OR tag_type = ?1", (tag_type,))
        return row[0] if row else 0

    # Writing: in the caller's transaction ------------------------------------------------------------------------

    def insert(self, tag: Tag) -> int:
        """Store a new tag; returns its row number. Raises `Conflict` for an id or a name that is taken."""
        with self._db.joined() as con:
            taken_row = con.execute(
                "SELECT id, name FROM tags WHERE id = ?1 OR concept_id = ?2"
                " OR (?2 IS NULL AND concept_id IS NULL AND tag_type = ?3 AND folded = ?4)",
                (tag.id, tag.concept_id, tag.tag_type, folded_name(tag.name)),
            ).fetchone()
            if taken_row is not None:
                raise Conflict(
                    f"Tag {taken_row[0]!r} ({taken_row[1]!r}) is there already; use it, or give another name."
                )
            con.execute(
                "INSERT INTO tags(id, name, folded, tag_type, concept_id, entity_type, bud_status, created_at,"
                " created_by, description) VALUES(?,?,?,?,?,?,?,?,?,?)",
                (
                    tag.id,
                    tag.name,
                    folded_name(tag.name),
                    tag.tag_type,
                    tag.concept_id,
                    tag.entity_type,
                    tag.bud_status,
                    to_micros(tag.created_at),
                    tag.created_by,
                    tag.description,
                ),
            )
            no = con.last_insert_rowid
            bump(con, TAGS)
            return no

    def set_bud_status(self, tag_id: str, status: BudStatus) -> Tag:
        """Make a tag a bud that stands at `status`; raises `NotFound`, and `Conflict` for another bud's name."""
        with self._db.joined() as con:
            no, tag = self.number(tag_id), self.require(tag_id)
            other = con.execute(
                "SELECT id FROM tags WHERE tag_type = 'bud' AND folded = ? AND concept_id IS NULL AND no <> ?",
                (folded_name(tag.name), no),
            ).fetchone()
            if other is not None and tag.concept_id is None:
                raise Conflict(f"The bud {other[0]!r} has the name {tag.name!r} already; use that one.")
            con.execute("UPDATE tags SET tag_type = 'bud', bud_status = ? WHERE no = ?", (status, no))
            bump(con, TAGS)
            return self.require(tag_id)

    def remove(self, tag_id: str) -> None:
        """Remove a tag that no application has any more, also where COLD records name it; raises `NotFound`."""
        with self._db.joined() as con:
            no = self.number(tag_id)
            con.execute("DELETE FROM bud_concepts WHERE bud_no = ?", (no,))
            con.execute("DELETE FROM compressed_tags WHERE tag_id = ?", (tag_id,))
            con.execute(
                "UPDATE compressed_records SET significant_tags = (SELECT json_group_array(value ORDER BY key)"
                " FROM json_each(significant_tags) WHERE value <> ?1) WHERE EXISTS"
                " (SELECT 1 FROM json_each(significant_tags) WHERE value = ?1)",
                (tag_id,),
            )
            con.execute("DELETE FROM tags WHERE no = ?", (no,))
            bump(con, TAGS)

    def pack_of(self, tag_id: str) -> str | None:
        """Return the loaded pack that a concept belongs to, None for any other tag."""
        row = self._db.query_one(
            "SELECT p.id FROM tags t JOIN concepts c ON c.tag_no = t.no JOIN concept_packs p ON p.no = c.pack_no"
            " WHERE t.id = ?",
            (tag_id,),
        )
        return None if row is None else row[0]

    def open_submissions(self, tag_id: str) -> list[str]:
        """Return the submissions of a bud that nobody has answered yet."""
        rows = self._db.query(
            "SELECT id FROM submissions WHERE bud_tag_id = ? AND status = 'open' ORDER BY no", (tag_id,)
        )
        return [row[0] for row in rows]

    def relate_bud(self, tag_id: str, concept_ids: Collection[str]) -> None:
        """Note which concepts a bud is near to; those that it has stay."""
        with self._db.joined() as con:
            no = self.number(tag_id)
            con.executemany(
                "INSERT OR IGNORE INTO bud_concepts(bud_no, concept_id) VALUES(?,?)",
                [(no, concept_id) for concept_id in concept_ids],
            )
            bump(con, TAGS)

    def bud_concepts(self, tag_id: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a bud is near to; of a pack that is not loaded, too."""
        rows = self._db.query(
            "SELECT concept_id FROM bud_concepts WHERE bud_no = (SELECT no FROM tags WHERE id = ?) ORDER BY 1",
            (tag_id,),
        )
        return tuple(row[0] for row in rows)

    def of_current_buds(self) -> frozenset[str]:
        """Return the ids of the buds that are neither promoted nor abandoned, and of the concepts near to them."""
        rows = self._db.query(
            "WITH current(no, id) AS (SELECT no, id FROM tags WHERE tag_type = 'bud'"
            " AND bud_status IN ('collecting', 'ready', 'training'))"
            " SELECT id FROM current UNION SELECT b.concept_id FROM bud_concepts b JOIN current c ON c.no = b.bud_no"
        )
        return frozenset(row[0] for row in rows)
