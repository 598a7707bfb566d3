"""Tags, applications and comments in the store: names, targets, indexes, several processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.core.clock import FrozenClock, SystemClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.errors import Conflict, InvalidInput, InvalidTarget, LimitExceeded, NotFound
from hexad.experience.tables.annotations import Comments, TagApplications
from hexad.experience.tables.schema import TAG_PROMISES
from hexad.experience.tables.tags import TagFilter, Tags
from hexad.experience.values.tags import (
    NOTE_BYTES_LIMIT,
    BudStatus,
    Comment,
    Tag,
    TagApplication,
    TagSource,
    TagType,
    Target,
    TargetType,
    check_confidence,
    check_size,
    check_tag_name,
    event_target,
    parse_timestep_id,
    range_target,
    timestep_target,
)
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.maintenance.check import check_rows

NOW = FrozenClock().now()


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "memory.db", clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    yield database
    assert [] == list(check_rows(database, TAG_PROMISES))
    database.close()


def tag(name: str, **more) -> Tag:
    return Tag(**{
        "id": f"tag_{name}", "name": name, "tag_type": TagType.CUSTOM, "created_at": NOW, "created_by": "tests", **more
    })  # fmt: skip


def put(db: Database, *tags: Tag) -> None:
    with db.transaction():
        for tag in tags:
            Tags(db).insert(tag)


def application(number: int, target: Target, tag_id: str = "tag_x") -> TagApplication:
    return TagApplication(
        id=f"ta-{number}",
        tag_id=tag_id,
        target=target,
        confidence=0.5,
        source=TagSource.AUTO,
        created_at=NOW,
        note="why",
    )


@pytest.mark.row("H023")
def test_a_tag_comes_back_as_it_was_stored(db):
    whole = tag("Ada", tag_type=TagType.ENTITY, entity_type="person", description="Wrote the first program.")
    put(db, whole)

    assert whole == Tags(db).get("tag_Ada")
    assert whole == Tags(db).require("tag_Ada")
    assert None is Tags(db).get("tag_ada")
    with pytest.raises(NotFound, match="'nobody'"):
        Tags(db).require("nobody")


@pytest.mark.parametrize("name", ["Straße", "STRASSE", "strasse"])
def test_names_are_equal_but_for_case_in_every_script(db, name):
    put(db, tag("Straße"), tag("École"), tag("İstanbul"))

    assert "tag_Straße" == Tags(db).named(name).id
    assert "tag_École" == Tags(db).named("E\u0301COLE").id
    assert "tag_İstanbul" == Tags(db).named("İSTANBUL").id
    with pytest.raises(Conflict, match="Straße"):
        put(db, tag("sTRASSE"))


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE tags; --", "%", "_", "*", "x' OR '1'='1", "$.a[0]", "org.hatcat/p::A.b", '"']
)
def test_a_name_is_never_a_pattern_and_never_a_program(db, name):
    put(db, tag("plain"))

    assert None is Tags(db).named(name)
    put(db, tag(name))
    assert name == Tags(db).named(name).name
    assert 2 == Tags(db).count()


def test_of_several_tags_of_one_name_the_spelling_then_the_own_then_the_oldest_counts(db):
    concept = tag("Dog", id="p::Dog", concept_id="p::Dog", tag_type=TagType.CONCEPT)
    put(db, concept, tag("dog", id="entity", tag_type=TagType.ENTITY), tag("dog", id="custom"))

    assert "p::Dog" == Tags(db).named("Dog").id
    assert "entity" == Tags(db).named("dog").id
    assert "entity" == Tags(db).named("DOG").id
    assert "custom" == Tags(db).named("DOG", tag_type=TagType.CUSTOM).id


@pytest.mark.row("H114")
def test_tags_are_found_by_pattern_type_status_and_limit(db):
    put(
        db,
        tag("Blue car"),
        tag("Red car"),
        tag("carpet", tag_type=TagType.BUD, bud_status=BudStatus.READY),
        tag("Ada", tag_type=TagType.ENTITY, entity_type="person"),
        tag("50%_off"),
    )

    def found(limit: int = -1, offset: int = 0, **wanted) -> list[str]:
        return [item.name for item in Tags(db).find(TagFilter(**wanted), limit=limit, offset=offset)]

    assert ["Blue car", "carpet", "Red car"] == found(pattern="CAR")
    assert ["Blue car", "Red car"] == found(pattern="* car")
    assert ["carpet"] == found(pattern="c*", bud_status=BudStatus.READY)
    assert ["Ada"] == found(entity_type="person")
    assert ["Ada"] == found(tag_type=TagType.ENTITY)
    assert ["50%_off"] == found(pattern="%_")
    assert [] == found(pattern="[a-z]*")
    assert ["Ada", "Blue car"] == found(limit=2, offset=1)


def test_a_bud_keeps_its_name_to_itself(db):
    put(db, tag("x"), tag("X", id="bud", tag_type=TagType.BUD, bud_status=BudStatus.COLLECTING))

    with pytest.raises(Conflict, match="'bud'"), db.transaction():
        Tags(db).set_bud_status("tag_x", BudStatus.COLLECTING)
    assert TagType.CUSTOM is Tags(db).require("tag_x").tag_type


@pytest.mark.row("H036", "H040")
def test_an_application_comes_back_as_it_was_stored(db):
    put(db, tag("x"))
    kept = [
        application(0, timestep_target("ts-s-1-7")),
        application(1, range_target("s-1", (3, 9))),
        application(2, event_target("s-1", "ev", (2, 4))),
        application(3, event_target("s-1", "ev 'quoted'")),
    ]
    store = TagApplications(db)
    with db.transaction():
        store.add(kept)

    assert kept == [store.get(f"ta-{n}") for n in range(4)]
    assert [3, 2, 1, 0] == [
        int(tag_application.id[3:]) for tag_application in store.of_tags(["tag_x"], session_id="s-1")
    ]
    assert ("ts-s-1-7", 4) == (store.get("ta-0").target.timestep_id, store.count("tag_x"))
    with db.transaction():
        store.remove("ta-0")
    assert 3 == store.count()
    with pytest.raises(NotFound, match="ta-0"), db.transaction():
        store.remove("ta-0")


def test_a_tag_that_is_not_there_tags_nothing(db):
    put(db, tag("x"))
    with pytest.raises(NotFound, match="'missing'"), db.transaction():
        TagApplications(db).add([
            application(0, timestep_target("ts-s-1")), application(1, timestep_target("ts-s-1"), "missing")
        ])  # fmt: skip

    assert 0 == TagApplications(db).count()


@pytest.mark.row("H041")
def test_an_edited_comment_keeps_what_it_said(db):
    store, later = Comments(db), NOW.replace(year=2027)
    with db.transaction():
        store.add(Comment(id="c", target=timestep_target("ts-s-1"), content="odd", created_at=NOW))
        store.edit("c", "very odd", at=later)
        store.edit("c", "very odd", at=later.replace(year=2028))

    assert ("very odd", NOW, later) == (
        store.get("c").content,
        store.get("c").created_at,
        store.get("c").updated_at,
    )
    assert [(later, "odd")] == store.history("c")
    with db.transaction():
        store.remove("c")
    with pytest.raises(NotFound):
        store.get("c")


@pytest.mark.parametrize("bad", ["", "ts-", "ts-a", "ts--1", "a-1", "ts-a-01", "ts-a-١", "ts-a-" + "9" * 30])
def test_what_is_no_timestep_is_refused(bad):
    with pytest.raises(InvalidTarget):
        parse_timestep_id(bad)


def test_a_timestep_names_its_session():
    assert ("a-b", 12) == parse_timestep_id("ts-a-b-12")
    assert TargetType.TIMESTEP is timestep_target("ts-a-1", session_id="a").target_type
    with pytest.raises(InvalidTarget, match="not of session 'b'"):
        timestep_target("ts-a-1", session_id="b")


@pytest.mark.parametrize(
    "bad", [(2, 1), (-1, 2), (1,), (1, 2, 3), "12", (1.0, 2), (True, 2), None, (0, 1 << 62)]
)
def test_what_is_no_range_is_refused(bad):
    with pytest.raises(InvalidTarget):
        range_target("s", bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf"), "1", None])
def test_a_confidence_is_from_0_to_1(bad):
    with pytest.raises(InvalidInput, match="confidence"):
        check_confidence(bad)


@pytest.mark.parametrize("bad", ["", "  ", "two\nlines", "x" * 513, "nul\0", "\ud800"])
def test_a_name_is_one_line(bad):
    with pytest.raises(InvalidInput, match="name"):
        check_tag_name(bad)


def test_what_is_too_long_or_no_text_is_refused():
    assert "é" == check_size("é", "note", limit_bytes=2)
    with pytest.raises(LimitExceeded, match="65537 bytes"):
        check_size("x" * (NOTE_BYTES_LIMIT + 1), "note", limit_bytes=NOTE_BYTES_LIMIT)
    with pytest.raises(InvalidInput, match="surrogate"):
        check_size("\ud800", "note", limit_bytes=9)


@pytest.mark.row("H167")
def test_every_question_about_applications_is_answered_from_an_index(db):
    statements: list[str] = []
    put(db, tag("x"))
    db.tracer = lambda sql, _seconds: statements.append(sql)
    TagApplications(db).placed(["tag_x"], session_id="s")
    TagApplications(db).placed(["tag_x"])
    TagApplications(db).touching("s", (1, 1), event_ids=["e"])
    TagApplications(db).of_tags(["tag_x"], session_id="s")
    Comments(db).touching("s", (1, 1), event_ids=["e"])
    Tags(db).named("x")
    db.tracer = None

    for sql in statements:
        if sql.startswith("SELECT"):
            plan = [str(row[3]) for row in db.query(f"EXPLAIN QUERY PLAN {sql}", _parameters(sql))]
            scans = [line for line in plan if line.startswith("SCAN") and "json_each" not in line]
            assert all(line.split()[1] in ("s", "j", "f", "(subquery-1)", "3-ROW") for line in scans), plan


def _parameters(sql: str):
    names = (
        "spans",
        "session",
        "first",
        "last",
        "events",
        "tags",
        "folded",
        "name",
        "type",
        "limit",
        "offset",
    )
    return (None,) * sql.count("?") or dict.fromkeys(names)


@settings(max_examples=examples(10))
@given(
    st.lists(
        st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)).map(lambda pair: (min(pair), max(pair))),
        max_size=20,
    ),
    st.integers(0, 1 << 40),
    st.integers(0, 1 << 20),
)
def test_what_touches_a_range_is_found_whatever_the_lengths(tmp_path_factory, ranges, first, length):
    path = tmp_path_factory.mktemp("touching") / "memory.db"
    database = Database.open(path, clock=FrozenClock())
    try:
        migrations.apply(database, store_migrations(), FrozenClock())
        put(database, tag("x"))
        with database.transaction():
            TagApplications(database).add(
                [application(n, range_target("s", r)) for n, r in enumerate(ranges)]
            )
        last = first + length
        expected = [n for n, (a, b) in enumerate(ranges) if a <= last and b >= first]

        assert expected == [
            int(tag_application.id[3:])
            for tag_application in TagApplications(database).touching("s", (first, last))
        ]
        assert [] == list(check_rows(database, TAG_PROMISES))
    finally:
        database.close()


_CREATE = """
import sys
from pathlib import Path
from hexad.core.clock import SystemClock
from hexad.errors import Conflict
from hexad.experience.values.tags import Tag, TagApplication, TagSource, TagType, timestep_target
from hexad.database.connection import Database
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.tags import Tags

clock = SystemClock()
db = Database.open(Path(sys.argv[1]), clock=clock)
for number in range(40):
    name = f"Name {number}" if sys.argv[2] == "a" else f"NAME {number}"
    with db.transaction():
        known = Tags(db).named(name)
        if known is None:
            known = Tag(id=f"{sys.argv[2]}{number}", name=name, tag_type=TagType.CUSTOM, created_at=clock.now(),
                        created_by="tests")
            Tags(db).insert(known)
        TagApplications(db).add([TagApplication(
            id=f"ta-{sys.argv[2]}{number}", tag_id=known.id, target=timestep_target(f"ts-s-{number}"), confidence=1.0,
            source=TagSource.MANUAL, created_at=clock.now())])
db.close()
"""


def test_two_processes_that_tag_at_once_make_each_name_once(tmp_path):
    path = tmp_path / "memory.db"
    database = Database.open(path, clock=SystemClock())
    migrations.apply(database, store_migrations(), SystemClock())
    running = [
        subprocess.Popen([sys.executable, "-c", _CREATE, str(path), name], stderr=subprocess.PIPE)
        for name in "ab"
    ]
    errors = [process.communicate(timeout=60)[1] for process in running]

    assert [0, 0] == [process.returncode for process in running], errors
    assert (40, 80) == (Tags(database).count(), TagApplications(database).count())
    assert [] == list(check_rows(database, TAG_PROMISES))
    database.close()
