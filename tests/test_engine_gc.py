"""gc: what is past its time is archived, what was archived for long enough is purged, and what stays behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hexad import AccessDenied, FrozenClock, Hexad, InvalidSpace, NotFound
from hexad.memory.draft import Draft
from opener import Opener
from tables import everything_stored

DAY = timedelta(days=1)


@pytest.fixture
def news(hx: Hexad) -> Hexad:
    """A store with a space `news` whose memories live thirty days and may be deleted."""
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    return hx


def statuses(hx: Hexad, space: str = "news") -> dict[str, str]:
    return {memory.id: memory.status.value for memory in hx.memories(space=space, status=None, limit=None)}


@pytest.mark.row("L044", "L048")
def test_gc_archives_what_was_not_changed_for_its_lifetime(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Old news.", space="news", id="old")
    clock.advance(days=15)
    news.remember("Newer news.", space="news", id="new")
    clock.advance(days=15)

    report = news.spaces.gc("news")

    assert {"old": "archived", "new": "active"} == statuses(news)
    assert (1, 0, 0, 1, ("old",)) == (
        report.archived,
        report.purged,
        report.kept_pinned,
        report.kept_young,
        report.ids,
    )
    assert clock.now() - 30 * DAY == report.cutoff
    assert [] == list(news.recall("old news", space="news", kinds=["missing"]))
    assert ["new"] == [hit.id for hit in news.recall("news", space="news")]


@pytest.mark.row("L044")
def test_a_report_says_what_was_old_where_no_rule_says_otherwise(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("A note.", space="news", id="n")
    hx.remember("A log.", space="news", id="l", kind="log")
    rule: dict[str, object] = {"retention": [{"kinds": ["log"], "ttl_days": 7}], "allow_delete": True}
    hx.spaces.set_policy("news", {**rule, "ttl_days": 30})  # type: ignore[dict-item]
    clock.advance(days=8)

    report = hx.spaces.gc("news", dry_run=True)
    once = hx.spaces.gc("news", dry_run=True, ttl_days=8)
    hx.spaces.set_policy("news", rule)  # type: ignore[arg-type]
    alone = hx.spaces.gc("news")

    assert (("l",), clock.now() - 30 * DAY, 1) == (report.ids, report.cutoff, report.rules)
    assert (2, clock.now() - 8 * DAY) == (once.archived, once.cutoff)
    assert (("l",), None, 1) == (alone.ids, alone.cutoff, alone.to_dict()["rules"])


@pytest.mark.row("L044")
def test_without_a_lifetime_nothing_is_ever_old(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("For ever.", space="docs", id="d")
    hx.spaces.set_policy("docs", {"ttl_days": None, "allow_delete": True})
    clock.advance(days=30_000)

    assert 0 == hx.spaces.gc("docs", dry_run=True).archived
    assert {"d": "active"} == statuses(hx, "docs")


@pytest.mark.row("L044")
def test_a_lifetime_is_counted_in_days_from_the_last_change(news: Hexad, clock: FrozenClock) -> None:
    for name in ("untouched", "changed"):
        news.remember(f"What was {name}.", space="news", id=name)
    clock.advance(days=20)
    news.remember("What was changed since.", space="news", id="changed")
    clock.advance(days=9)
    assert () == news.spaces.gc("news").ids

    clock.advance(days=2)
    assert ("untouched",) == news.spaces.gc("news").ids
    clock.advance(days=18)
    assert () == news.spaces.gc("news").ids
    clock.advance(days=2)
    assert ("changed",) == news.spaces.gc("news").ids


@pytest.mark.row("L049", "L165")
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"ttl_days": 30}, "allow_delete"),
        ({"ttl_days": 30, "allow_delete": False}, "allow_delete"),
        ({"allow_delete": True}, "ttl_days"),
        ({}, "ttl_days"),
        ({"retention": [{"kinds": ["log"], "ttl_days": None}], "allow_delete": True}, "ttl_days"),
    ],
)
def test_gc_is_refused_without_a_lifetime_and_leave_to_delete(
    hx: Hexad, clock: FrozenClock, policy: dict[str, object], words: str
) -> None:
    hx.remember("Old.", space="docs", id="d")
    hx.spaces.set_policy("docs", policy)  # type: ignore[arg-type]
    clock.advance(days=90)

    with pytest.raises(AccessDenied, match=words):
        hx.spaces.gc("docs")

    assert {"d": "active"} == statuses(hx, "docs")


def test_a_dry_run_needs_no_leave_and_changes_nothing(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("Old.", space="docs", id="d")
    clock.advance(days=90)
    before = everything_stored(hx)

    report = hx.spaces.gc("docs", ttl_days=30, dry_run=True)

    assert (True, 1, ("d",)) == (report.dry_run, report.archived, report.ids)
    assert before == everything_stored(hx)


@pytest.mark.row("L044", "L165")
def test_given_days_take_the_place_of_the_policys_but_not_of_its_rules(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("docs")
    hx.spaces.set_policy(
        "docs",
        {
            "ttl_days": 365,
            "allow_delete": True,
            "retention": [{"kinds": ["decision"], "ttl_days": None}, {"tags": ["draft"], "ttl_days": 1}],
        },
    )
    hx.remember("Text.", space="docs", id="plain")
    hx.remember("Decided.", space="docs", id="decided", kind="decision")
    hx.remember("Drafted.", space="docs", id="draft", tags=["draft"])
    clock.advance(days=8)

    assert ("draft",) == hx.spaces.gc("docs").ids
    assert ("plain",) == hx.spaces.gc("docs", ttl_days=7).ids
    assert "active" == statuses(hx, "docs")["decided"]


@pytest.mark.parametrize("days", [0, -1, float("nan"), 1e9, "30"])
def test_days_that_are_none_are_refused(news: Hexad, days: float) -> None:
    with pytest.raises(InvalidSpace, match="ttl_days"):
        news.spaces.gc("news", ttl_days=days)


def test_gc_of_a_space_that_is_not_there_says_so(hx: Hexad) -> None:
    with pytest.raises(NotFound, match="'nowhere'"):
        hx.spaces.gc("nowhere")


def test_pinned_memories_stay_whatever_their_age(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Pinned.", space="news", id="p", pinned=True)
    clock.advance(days=90)

    report = news.spaces.gc("news")

    assert (0, 1, {"p": "active"}) == (report.archived, report.kept_pinned, statuses(news))


def test_a_memory_that_was_restored_outlives_the_next_gc(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Back again.", space="news", id="b")
    clock.advance(days=31)
    news.spaces.gc("news")

    news.restore("b")

    assert 0 == news.spaces.gc("news").archived
    assert ["b"] == [hit.id for hit in news.recall("back again", space="news")]


def test_what_gc_archived_is_purged_when_its_time_has_come(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "purge_after_days": 7, "allow_delete": True})
    hx.remember("Going.", space="news", id="g")
    clock.advance(days=30)
    hx.spaces.gc("news")
    clock.advance(days=6)

    assert 0 == hx.spaces.gc("news").purged

    clock.advance(days=1)

    assert (1, ("g",)) == ((report := hx.spaces.gc("news")).purged, report.ids)
    assert {} == statuses(hx)
    with pytest.raises(NotFound):
        hx.get("g")


def test_without_purge_after_days_what_was_archived_stays(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Kept.", space="news", id="k")
    clock.advance(days=30)
    news.spaces.gc("news")
    clock.advance(days=10_000)

    assert 0 == news.spaces.gc("news").purged
    assert "active" == news.restore("k").status.value


def test_purge_takes_the_old_at_once_and_what_was_archived_before(news: Hexad, clock: FrozenClock) -> None:
    news.remember("First.", space="news", id="first")
    clock.advance(days=30)
    news.spaces.gc("news")
    news.remember("Second.", space="news", id="second")
    clock.advance(days=30)
    news.remember("Third.", space="news", id="third")

    report = news.spaces.gc("news", purge=True)

    assert (0, 2, {"third": "active"}) == (report.archived, report.purged, statuses(news))


def test_what_a_person_archived_is_purged_only_past_its_own_lifetime(hx: Hexad, clock: FrozenClock) -> None:
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "purge_after_days": 0, "allow_delete": True})
    hx.remember("Forgotten.", space="news", id="f")
    clock.advance(days=29)
    hx.forget("f")
    clock.advance(days=29)

    assert 0 == hx.spaces.gc("news").purged

    clock.advance(days=1)

    assert 1 == hx.spaces.gc("news").purged


def test_no_word_of_a_purged_memory_is_left_in_any_table(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    for number in range(40):
        hx.remember(f"Kept line {number}.", space="other")
    hx.remember("Zanzibarium was here before.", space="news", id="z", tags=["quxtag"], kind="blorbkind")
    hx.remember(
        "Zanzibarium is here now.", space="news", id="z", path="plughpath/x", metadata={"a": "xyzzyvalue"}
    )
    hx.remember("Zanzibarium is here, too.", space="other", id="near")
    hx.link("z", "near")
    hx.recall("Zanzibarium", space="news")
    hx.embed_pending()
    hx.maintain()
    hx.forget("near")
    hx.spaces.set_policy("other", {"ttl_days": 1, "allow_delete": True})
    clock.advance(days=31)

    assert 1 == hx.spaces.gc("news", purge=True).purged
    assert 41 == hx.spaces.gc("other", purge=True).purged

    left = everything_stored(hx)
    for word in ("anzibar", "quxtag", "plughpath", "xyzzy", "blorb"):
        assert word not in left, word
    assert [] == hx.check()


def test_a_purged_memory_leaves_a_tombstone_without_its_text(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Going.", space="news", id="g")
    clock.advance(days=31)

    news.spaces.gc("news", purge=True)

    rows = news._services.stores.db.query("SELECT id, space, reason, content_mac FROM tombstones")
    assert [("g", "news", "gc")] == [row[:3] for row in rows]
    assert 64 == len(str(rows[0][3]))


def test_the_id_of_a_purged_memory_can_be_given_again(news: Hexad, clock: FrozenClock) -> None:
    news.remember("Before.", space="news", id="g")
    clock.advance(days=31)
    news.spaces.gc("news", purge=True)

    again = news.remember("After.", space="news", id="g")

    assert ("created", []) == (
        again.receipt.outcome.value if again.receipt else None,
        list(news.history("g")),
    )


@pytest.mark.row("L050")
def test_gc_writes_down_what_it_did_and_who_asked(opened: Opener, clock: FrozenClock) -> None:
    hx = opened(role="keeper")
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    hx.remember("A confidential line.", space="news", id="c")
    clock.advance(days=31)

    hx.spaces.gc("news", dry_run=True)
    hx.spaces.gc("news")
    hx.spaces.gc("news")

    logged = [(at, detail) for at, what, detail in hx._services.stores.meta.logged(limit=9) if what == "gc"]
    assert [0, 1] == [detail["archived"] for _, detail in logged]
    assert {("role keeper", "news", clock.now())} == {(d["by"], d["space"], at) for at, d in logged}
    assert "confidential" not in str(logged)


def test_a_thousand_old_memories_go_in_batches_that_are_reported(news: Hexad, clock: FrozenClock) -> None:
    writer = news._services.ingest().writer
    writer.write([Draft(text=f"Line {n}.", space="news", id=f"n{n:04}") for n in range(1_200)])
    clock.advance(days=31)
    seen: list[int] = []

    report = news.spaces.gc("news", progress=seen.append)

    assert (1_200, 100, [500, 1_000, 1_200]) == (report.archived, len(report.ids), seen)
    assert {"archived"} == set(statuses(news).values())


def test_two_stores_that_collect_at_once_archive_everything_once(opened: Opener, clock: FrozenClock) -> None:
    here, there = opened(), opened()
    here.spaces.create("news")
    here.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    for number in range(20):
        here.remember(f"Line {number}.", space="news")
    clock.advance(days=31)
    others: list[int] = []

    def meanwhile(_done: int) -> None:
        others.append(there.spaces.gc("news").archived)

    assert 20 == here.spaces.gc("news", progress=meanwhile).archived
    assert [0] == others


def test_leave_that_is_withdrawn_during_a_gc_stops_it(opened: Opener, clock: FrozenClock) -> None:
    here, there = opened(), opened()
    here.spaces.create("news")
    here.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    writer = here._services.ingest().writer
    writer.write([Draft(text=f"Line {n}.", space="news") for n in range(600)])
    clock.advance(days=31)

    with pytest.raises(AccessDenied, match="allow_delete"):
        here.spaces.gc(
            "news", progress=lambda _: there.spaces.set_policy("news", {"allow_delete": False}, merge=True)
        )

    assert 500 == here.spaces.get("news").archived


def test_maintain_collects_the_spaces_whose_policy_asks_for_it(hx: Hexad, clock: FrozenClock) -> None:
    for name, policy in (
        ("asked", {"ttl_days": 30, "allow_delete": True}),
        ("unsure", {"ttl_days": 30}),
        ("other", {}),
    ):
        hx.remember("Old.", space=name)
        hx.spaces.set_policy(name, policy)
    clock.advance(days=31)

    report = hx.maintain()

    assert (1, 0) == (report.archived, report.purged)
    assert [1, 0, 0] == [hx.spaces.get(name).archived for name in ("asked", "unsure", "other")]


def test_the_background_collects_once_an_hour(opened: Opener, clock: FrozenClock) -> None:
    hx = opened(background=True)
    hx.spaces.create("news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    hx.remember("Old.", space="news", id="old")
    assert hx.wait_for_background()
    clock.advance(days=31)

    hx.remember("Young.", space="news", id="young")

    assert hx.wait_for_background()
    assert {"old": "archived", "young": "active"} == statuses(hx)
    hx.restore("old")
    clock.advance(minutes=59)
    hx.remember("Other.", space="news", id="other")
    assert hx.wait_for_background()
    assert "active" == statuses(hx)["old"]


def test_a_purged_item_of_a_source_comes_back_only_when_it_changes(hx: Hexad, clock: FrozenClock) -> None:
    folder = hx.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tides\n\nHigh water is at noon.\n")
    (folder / "b.md").write_text("# Boats\n\nTwo are in the harbour.\n")
    hx.ingest(folder, space="news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    clock.advance(days=31)
    hx.spaces.gc("news", purge=True)

    unchanged = hx.ingest(folder, space="news")
    (folder / "a.md").write_text("# Tides\n\nHigh water is at one.\n")
    changed = hx.ingest(folder, space="news")

    assert (0, 0) == (unchanged.created, unchanged.updated)
    assert 2 <= changed.created  # the note, and the folder's overview
    texts = [memory.raw for memory in hx.memories(space="news", kinds=None, limit=None)]
    assert any("at one" in text for text in texts)
    assert not any("harbour" in text for text in texts)


def test_a_purged_item_whose_file_went_and_came_back_is_read_again(hx: Hexad, clock: FrozenClock) -> None:
    folder = hx.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tides\n\nHigh water is at noon.\n")
    (folder / "b.md").write_text("# Boats\n\nTwo are in the harbour.\n")
    hx.ingest(folder, space="news")
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    clock.advance(days=31)
    hx.spaces.gc("news", purge=True)
    text = (folder / "b.md").read_text()
    (folder / "b.md").unlink()
    hx.ingest(folder, space="news")

    (folder / "b.md").write_text(text)
    hx.ingest(folder, space="news")

    assert ["b.md"] == [m.source_id for m in hx.memories(space="news") if m.source_id != "./"]


def test_an_item_that_grew_old_returns_when_its_file_changes_and_a_forgotten_one_does_not(
    hx: Hexad, clock: FrozenClock
) -> None:
    folder = hx.path.parent / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tides\n\nHigh water is at noon.\n")
    (folder / "b.md").write_text("# Boats\n\nTwo are in the harbour.\n")
    hx.ingest(folder, space="news")
    by_source = {m.source_id: m.id for m in hx.memories(space="news")}
    hx.forget(by_source["b.md"])
    hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
    clock.advance(days=31)
    hx.spaces.gc("news")

    (folder / "a.md").write_text("# Tides\n\nHigh water is at one.\n")
    (folder / "b.md").write_text("# Boats\n\nThree are in the harbour.\n")
    hx.ingest(folder, space="news")

    assert ("active", "archived") == tuple(hx.get(by_source[name]).status.value for name in ("a.md", "b.md"))
