"""Consolidation of one project: what is merged, dropped, archived and weighed anew, and what is left alone."""

from __future__ import annotations

from datetime import timedelta
from math import exp, floor, log

import pytest

import hexad
from hexad import ConsolidationReport, FrozenClock, Hexad
from hexad.database.meta import ARRIVALS
from hexad.memory.memory import CONSOLIDATED
from opener import Opener

NOTE = "Every night the export of the orders is written to the object store in Frankfurt by the ops pipeline."
AGAIN = (
    "Every night the export of the orders is written to the object store in Frankfurt by the ops pipelines!"
)


@pytest.fixture
def hx(opened: Opener) -> Hexad:
    return opened(embedder=None)


def done(report: ConsolidationReport) -> list[tuple[str, tuple[str, ...], str | None]]:
    return [(change.action.value, change.ids, change.remains) for change in report.changes]


@pytest.mark.row("A078", "A008")
def test_notes_that_say_the_same_become_one_and_count_as_evidence(hx):
    kept, other = hx.remember(NOTE), hx.remember(AGAIN)

    report = hx.consolidate("project")

    assert [("merged", (other.id,), kept.id)] == done(report)
    assert ["active", "archived"] == [hx.get(item.id).status.value for item in (kept, other)]
    assert 2 == hx.get(kept.id).evidence
    assert kept.id == hx.get(other.id).metadata[CONSOLIDATED]["remains"]
    assert [kept.id] == [hit.id for hit in hx.recall("nightly export")]
    assert any("restore" in text for text in report.undo)


@pytest.mark.row("A078")
def test_facts_of_one_value_become_one_and_the_first_is_kept(hx, clock):
    first = hx.remember("We deploy with Fly.", subject="shop", attribute="deploy tool", value="Fly")
    clock.advance(days=3)
    second = hx.remember("Deploys of the shop: Fly.", subject="shop", attribute="Deploy Tool", value="Fly")

    report = hx.consolidate("project")

    assert [("merged", (second.id,), first.id)] == done(report)
    assert [first.id] == [version.id for version in hx.facts.history("shop", "deploy tool")]


@pytest.mark.row("A078")
@pytest.mark.parametrize(
    ("first", "other"),
    [
        (
            "Requests to the payment gateway are retried at most 5 times before the order is held.",
            "Requests to the payment gateway are retried at most 6 times before the order is held.",
        ),
        (
            "The staging cluster may be restarted by anybody of the team during working hours.",
            "The staging cluster may not be restarted by anybody of the team during working hours.",
        ),
        (
            "Backups of the shop's database are kept in Frankfurt for the whole of a year.",
            "Backups of the shop's database are kept in Dublin for the whole of a year.",
        ),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_negation_stays_apart(hx, first, other):
    hx.remember(first)
    hx.remember(other)

    assert () == hx.consolidate("project").changes


DATED = {"valid_from": "2026-02-05"}


@pytest.mark.row("A078")
@pytest.mark.parametrize(
    ("first", "other", "why"),
    [
        ({}, {"tags": ["billing"]}, "tags of its own"),
        ({"tags": ["ops"]}, {"tags": ["billing"]}, "tags of its own"),
        ({}, {"metadata": {"ticket": "OPS-12"}}, "metadata of its own"),
        ({}, {"path": "runbooks/export"}, "a path of its own"),
        ({}, DATED, "another date"),
        ({"valid_from": "2026-01-05"}, DATED, "another date"),
        ({"valid_to": "2026-02-05"}, {}, "holds longer"),
        ({"trust": "user"}, {"trust": "agent", "importance": 0.9}, "matters more"),
    ],
)
def test_what_is_found_or_holds_in_another_way_is_no_duplicate(hx, first, other, why):
    hx.remember(NOTE, **first)
    hx.remember(AGAIN, **other)

    report = hx.consolidate("project")

    assert () == report.changes
    assert [1] == [left.count for left in report.skipped]
    assert why in report.skipped[0].reason


@pytest.mark.row("A078")
def test_what_stands_by_itself_is_not_merged_into_what_goes_with_its_premise(hx):
    premise = hx.remember("The orders are exported, says the contract.")
    derived = hx.remember(NOTE, derived_from=[premise.id])
    own = hx.remember(AGAIN)

    assert () == hx.consolidate("project").changes
    hx.forget(premise.id, purge=True, confirm=True)

    assert [own.id] == [memory.id for memory in hx.memories()]
    assert derived.id not in [memory.id for memory in hx.memories(status=None)]


@pytest.mark.row("A078")
def test_of_duplicates_what_matters_most_is_kept(hx):
    hx.remember(NOTE, importance=0.1)
    kept = hx.remember(AGAIN, importance=0.9)

    hx.consolidate("project")

    assert [kept.id] == [memory.id for memory in hx.memories()]


@pytest.mark.row("A078")
@pytest.mark.parametrize(
    "text",
    [
        "We deploy with Fly; the account is renewed on 2027-03-01.",
        "We deploy with Fly, and Anna pays for it.",
        "We deploy with Fly, never by hand.",
    ],
)
def test_a_fact_whose_text_says_more_than_its_value_stays(hx, text):
    key = {"subject": "shop", "attribute": "deploy tool", "value": "Fly"}
    hx.remember("We deploy with Fly.", **key)
    hx.remember(text, **key)

    report = hx.consolidate("project")

    assert () == report.changes
    assert "each text says something" in report.skipped[0].reason


def test_what_is_left_alone_is_counted_once_however_many_it_is_like(hx):
    for sign in ("+", "€", "✅", "?"):
        hx.remember(NOTE.replace("export", f"{sign} export"))

    [left] = hx.consolidate("project").skipped

    assert (3, 3) == (left.count, len(set(left.ids)))


@pytest.mark.row("A078", "A101")
def test_what_is_trusted_less_makes_nobody_surer(hx, clock):
    draft = hx.project.observe(category="pattern", key="orm", value="Prisma", confidence=0.5)
    subject = hx.get(draft.memory_id).subject
    for text in ("Prisma it is.", "It is Prisma, again."):
        clock.advance(hours=1)
        hx.remember(
            text,
            space="project",
            kind="pattern",
            subject=subject,
            attribute="orm",
            value="Prisma",
            trust="web",
        )

    assert {"merged": 2} == hx.consolidate("project").counts

    assert 0.5 == hx.get(draft.memory_id).confidence


@pytest.mark.row("A146")
def test_what_was_made_of_experience_takes_no_memory_over_the_quota(opened, project):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text("[consolidation]\nquotas = {project = 3}\n")
    hx = opened(embedder=None)
    for at in range(5):
        hx.remember(f"Run {at} came to an end of its own.", space="experience")
    hx.remember("The api answers in JSON.")

    report = hx.consolidate("project")

    assert (1, ()) == (report.before["project"].count, report.changes)


@pytest.mark.parametrize(
    "note",
    [
        {"base": "abc", "to": 0.6},
        {"base": 5, "to": 0.6},
        {"base": -3, "to": 0.6},
        {"base": [1]},
        "x",
        [1],
        None,
    ],
)
def test_metadata_of_others_do_not_stand_in_the_way(hx, clock, note):
    odd = hx.remember("A draft of somebody.", metadata={"draft": True, "decayed": note}, confidence=0.6)
    hx.remember("Another.", metadata={"consolidated": note, "draft": note})
    clock.advance(days=120)

    hx.consolidate("project")

    assert 0.3 == hx.get(odd.id).confidence
    assert () == hx.consolidate("project").changes


@pytest.mark.row("A082", "A101")
def test_a_draft_that_was_called_wrong_does_not_grow_old_twice(hx, clock):
    draft = hx.project.observe(category="pattern", key="orm", value="Prisma", confidence=0.6)
    clock.advance(days=120)
    hx.consolidate("project")
    assert 0.3 == hx.get(draft.memory_id).confidence

    said = hx.feedback(draft.memory_id, "wrong")
    assert () == hx.consolidate("project").changes
    assert pytest.approx(0.24) == hx.get(draft.memory_id).confidence
    hx.retract_feedback(said.id)

    assert () == hx.consolidate("project").changes
    assert pytest.approx(0.3) == hx.get(draft.memory_id).confidence


@pytest.mark.row("A078")
def test_two_values_of_one_key_are_never_merged(hx):
    hx.facts.declare("linter", many=True)
    for value in ("ruff", "mypy"):
        hx.remember(f"The checks of the shop run {value}.", subject="shop", attribute="linter", value=value)

    assert () == hx.consolidate("project").changes


@pytest.mark.row("A078")
def test_duplicates_of_other_spaces_and_other_audiences_stay(hx):
    hx.remember(NOTE, space="ops")
    hx.remember(AGAIN, space="shop")
    hx.spaces.set_policy("shop", {"visibility": [{"tags": ["board"], "roles": ["board"]}]})
    hx.remember(NOTE + " Indeed.", space="shop", tags=["board"])

    report = hx.consolidate("project")

    assert () == report.changes
    assert 3 == hx.count()


def test_what_was_merged_and_brought_back_stays_apart(hx):
    hx.remember(NOTE)
    other = hx.remember(AGAIN)
    hx.consolidate("project")
    hx.restore(other.id)

    report = hx.consolidate("project")

    assert () == report.changes
    assert ["a duplicate that was brought back by hand"] == [skip.reason for skip in report.skipped]


@pytest.mark.row("A077")
def test_of_near_identical_items_of_a_source_the_latest_stays(hx, clock, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    text = "# Deploying\n\nRun the release script, wait for the green light, and tell the channel about it.\n"
    for name in ("old.md", "new.md"):
        (docs / name).write_text(text if name == "new.md" else text.replace("# Deploying", "# The deploying"))
        hx.ingest(docs / name)
        clock.advance(days=1)

    report = hx.consolidate("project")

    assert [] == done(report)  # of two sources: each is the only one there
    hx.ingest(docs, space="docs")
    report = hx.consolidate("project")
    assert ["merged"] == [change.action.value for change in report.changes]
    assert ["vector"] == [change.layer for change in report.changes]


@pytest.mark.row("A077")
def test_turns_of_a_conversation_are_never_merged(hx, tmp_path):
    lines = [
        '{"conversation": "c", "session": "s", "speaker": "Ann", "text": "Please look at the failing build of the shop."}'
    ]
    (tmp_path / "chat.jsonl").write_text("\n".join(lines * 2))
    hx.ingest(tmp_path / "chat.jsonl", kind="conversation")

    assert () == hx.consolidate("project").changes


@pytest.mark.row("A079")
def test_what_hardly_matters_and_was_not_read_for_thirty_days_is_dropped(hx, clock):
    dropped = hx.remember("The coffee machine was repaired.", importance=0.1)
    kept = hx.remember("The coffee machine needs descaling monthly.", importance=0.2)
    clock.advance(days=29)
    assert () == hx.consolidate("project").changes
    clock.advance(days=1)

    report = hx.consolidate("project")

    assert [("dropped", (dropped.id,), None)] == done(report)
    assert "importance 0.1 is below 0.2, and nobody read it for 30 days" == report.changes[0].reason
    assert "active" == hx.get(kept.id).status.value


@pytest.mark.row("A079")
def test_a_recall_counts_as_a_read(hx, clock):
    read = hx.remember("The coffee machine was repaired.", importance=0.1)
    clock.advance(days=29)
    assert [read.id] == [hit.id for hit in hx.recall("coffee machine")]
    clock.advance(days=29)

    assert () == hx.consolidate("project").changes
    clock.advance(days=1)
    assert {"dropped": 1} == hx.consolidate("project").counts


@pytest.mark.row("A083")
def test_what_was_untouched_for_a_year_is_archived_unless_it_matters(hx, clock):
    old = hx.remember("The build printed a warning about a locale.", importance=0.3)
    stays = [
        hx.remember("The api answers in JSON alone.", importance=0.6),
        hx.remember("We take PostgreSQL.", kind="decision", importance=0.3),
        hx.remember("Ports are listed in the wiki.", importance=0.3, pinned=True),
        hx.remember("The limit is in code.", importance=0.3, citations=[hexad.Citation(path="limits.py")]),
        hx.remember("Premise of another.", importance=0.3),
    ]
    rests = hx.remember("It rests on the premise.", importance=0.9)
    hx.link(rests.id, stays[-1].id, kind="depends-on")
    clock.advance(days=366)

    report = hx.consolidate("project")

    assert [("archived", (old.id,), None)] == done(report)
    assert {"active"} == {hx.get(stay.id).status.value for stay in stays}
    assert {
        "old, but important",
        "old: a decision",
        "old: pinned",
        "old: cites what it rests on",
        "old: something else rests on it",
    } == {skip.reason for skip in report.skipped}
    assert "active" == hx.restore(old.id).status.value
    assert () == hx.consolidate("project").changes


@pytest.mark.row("A083")
def test_what_was_written_with_defaults_grows_old_as_well(hx, clock):
    old = [hx.remember("The build printed a warning about a locale.")]
    old += [hx.remember("Lunch is at noon.", relevance="low")]
    stays = [
        hx.remember("Releases need two signatures.", relevance="high"),
        hx.remember("Ports are listed in the wiki.", pinned=True),
        hx.remember("The limit of uploads is 10 MB.", subject="uploads", attribute="limit", value="10 MB"),
    ]
    used = hx.remember("Deploys happen on Tuesday.")
    assert [0.5, 0.2, 0.8] == [memory.importance for memory in (*old, stays[0])]
    clock.advance(days=300)
    assert used.id == hx.recall("when do deploys happen?", limit=1)[0].id
    clock.advance(days=66)

    report = hx.consolidate("project")

    assert sorted(("archived", (memory.id,), None) for memory in old) == sorted(done(report))
    assert {"active"} == {hx.get(memory.id).status.value for memory in (*stays, used)}
    assert () == hx.consolidate("project").changes


def test_what_holds_from_a_later_day_or_until_one_does_not_grow_old_before_it(hx, clock):
    ahead = hx.remember("The fair was opened by the mayor.", valid_from=clock.now() + timedelta(days=380))
    until = hx.remember("The maps are licensed.", valid_to=clock.now() + timedelta(days=450))
    clock.advance(days=400)

    assert () == hx.consolidate("project").changes

    clock.advance(days=400)

    assert {ahead.id, until.id} == {step[1][0] for step in done(hx.consolidate("project"))}


@pytest.mark.row("A083")
@pytest.mark.parametrize("happens", ["nothing", "superseded", "forgotten"])
def test_what_rests_on_something_does_not_grow_old_before_somebody_reviewed_it(hx, clock, happens):
    premise = hx.remember("The store is PostgreSQL.", subject="store", attribute="engine", value="PostgreSQL")
    rests = hx.remember("Backups are made with pg_dump.")
    further = hx.remember("The nightly job has ten minutes for backups.")
    hx.link(rests.id, premise.id, kind="depends-on")
    hx.link(further.id, rests.id, kind="depends-on")
    if happens == "superseded":
        hx.remember("The store is SQLite.", subject="store", attribute="engine", value="SQLite")
    elif happens == "forgotten":
        hx.forget(premise.id)
    clock.advance(days=800)

    assert () == hx.consolidate("project").changes
    assert {"active"} == {hx.get(memory.id).status.value for memory in (rests, further)}


@pytest.mark.row("A083")
def test_a_text_that_says_what_holds_stands_until_another_takes_its_place(hx, clock):
    stays = [
        hx.remember("My sister lives in Porto."),
        hx.remember("We decided to keep tokens in SQLite.", kind="note"),
        hx.remember("I prefer tabs over spaces."),
        hx.remember("Region: eu-west-1"),
        hx.remember("Nothing to be read as a sentence", kind="fact"),
    ]
    old = hx.remember("The API rate limit is 100 requests a minute.")
    newer = hx.remember("We raised the API rate limit to 250 requests a minute.")
    assert [old.id] == [other.id for other in newer.receipt.supersedes]
    chatter = [
        hx.remember("I looked at the failing run again."),
        hx.remember("TODO: write the notes of the release"),
        hx.remember("The office is closed.", valid_to=clock.now() + timedelta(days=1)),
        hx.remember("The pump is in the cellar.", kind="trace"),
        hx.remember("The pump is in the yard.", relevance="low"),
    ]
    clock.advance(days=366)

    report = hx.consolidate("project")

    assert {old.id, *(memory.id for memory in chatter)} == {step[1][0] for step in done(report)}
    assert {"active"} == {hx.get(memory.id).status.value for memory in (*stays, newer)}
    assert {"old: says what holds until something takes its place": len(stays) + 1} == {
        skip.reason: skip.count for skip in report.skipped
    }
    hx.link(newer.id, stays[0].id, kind="supersedes")
    assert [("archived", (stays[0].id,), None)] == done(hx.consolidate("project"))


@pytest.mark.row("A083")
def test_a_fact_that_is_said_to_matter_little_grows_old(hx, clock):
    low = hx.remember("A is 1.", subject="a", attribute="b", value="1", relevance="low")
    stays = hx.remember("C is 1.", subject="c", attribute="b", value="1")
    clock.advance(days=366)

    assert [("archived", (low.id,), None)] == done(hx.consolidate("project"))
    assert "active" == hx.get(stays.id).status.value


@pytest.mark.row("A083", "A100")
def test_a_second_run_takes_nothing_that_the_first_one_freed(hx, clock, tmp_path):
    grounds = [hx.remember("The lights blinked twice."), hx.remember("The printer was jammed.")]
    between = hx.remember("The fuse had blown.", derived_from=[grounds[0].id])
    hx.remember("The night shift was told.", derived_from=[between.id, grounds[1].id])
    clock.advance(days=366)

    report = hx.consolidate("project")

    assert {"archived": 4} == report.counts
    assert () == report.skipped
    assert () == hx.consolidate("project").changes


@pytest.mark.row("A083", "A100")
def test_what_came_from_elsewhere_keeps_its_time_when_what_was_written_before_it_goes(hx, clock):
    clock.advance(days=200)
    hx.remember("2026-07-20 08:00 ERROR gateway: upstream closed the connection", kind="log")
    brought = hx.remember_structured(
        "default", {"raw": "The build printed a warning."}, freeze_clock="2026-01-02"
    )
    hx._services.stores.meta.put(ARRIVALS, "[]")  # as in a store of before such times were noted
    clock.advance(days=200)

    assert {"archived": 1} == hx.consolidate("project").counts
    assert () == hx.consolidate("project").changes
    assert "active" == hx.get(brought.id).status.value


@pytest.mark.row("A083")
def test_logs_grow_old_sooner_and_nothing_does_where_that_is_switched_off(hx, clock):
    log = hx.remember("2026-01-01 08:00 ERROR gateway: upstream closed the connection", kind="log")
    hx.remember("The gateway closes idle connections.")
    clock.advance(days=183)

    assert () == hx.consolidate("project", archive_months=0, dry_run=True).changes
    report = hx.consolidate("project")

    assert [("archived", (log.id,), None)] == done(report)
    assert "neither read nor changed for 6 months" == report.changes[0].reason


@pytest.mark.row("A083")
def test_a_memory_of_an_older_store_that_says_it_matters_stays(hx, clock):
    hx.remember("Releases need two signatures.", relevance="high", importance=0.5)  # as it was written before
    clock.advance(days=800)

    assert () == hx.consolidate("project").changes


@pytest.mark.row("A083")
def test_what_was_brought_along_from_long_ago_has_its_time_here_first(hx, clock):
    brought = hx.remember_structured(
        "default", {"raw": "The build printed a warning."}, freeze_clock="2020-01-01"
    )
    assert 2020 == brought.updated_at.year

    assert () == hx.consolidate("project").changes
    clock.advance(days=366)
    assert [("archived", (brought.id,), None)] == done(hx.consolidate("project"))


@pytest.mark.row("A083")
@pytest.mark.parametrize("happens", ["nothing", "written"])
def test_what_is_restored_counts_from_the_restore_however_long_nothing_was_written(
    hx, clock, tmp_path, happens
):
    (tmp_path / "home").mkdir()
    with hexad.open(tmp_path / "home", embedder=None, background=False, clock=clock) as home:
        home.remember("The build printed a warning.", space="home")
        home.remember("The lights blinked twice.", space="home", importance=0.1)
        home.spaces.export("home", tmp_path / "home.zip")
    written = hx.remember("The wiki moved.")
    if happens == "written":
        clock.advance(days=200)
        hx.remember("The wiki moved again.", importance=0.6)
    clock.advance(days=500)
    hx.spaces.restore(tmp_path / "home.zip")

    assert [("archived", (written.id,), None)] == done(hx.consolidate("project"))
    clock.advance(days=30)
    assert {"dropped": 1} == hx.consolidate("project").counts
    clock.advance(days=335)
    assert {} == hx.consolidate("project").counts
    clock.advance(days=1)
    assert {"archived": 1} == hx.consolidate("project").counts


@pytest.mark.parametrize(("relevance", "expected"), [("low", 0.2), ("medium", 0.5), ("high", 0.8)])
def test_importance_follows_relevance_until_somebody_gives_it(hx, relevance, expected):
    hx.remember("A text.", id="one")
    assert expected == hx.remember("A text.", id="one", relevance=relevance).importance
    assert 0.7 == hx.remember("A text.", id="one", importance=0.7).importance
    assert 0.7 == hx.remember("A text.", id="one", relevance=relevance).importance

    raw = hx.remember_structured("default", {"raw": "Another text.", "relevance": relevance})
    assert expected == raw.importance


def test_a_space_file_brings_every_importance_back(hx):
    for relevance in ("low", "medium", "high"):
        hx.remember(f"A {relevance} text.", id=relevance, space="s", relevance=relevance)
        hx.remember(
            f"Another {relevance} text.",
            id=f"{relevance}-half",
            space="s",
            relevance=relevance,
            importance=0.5,
        )
    file = hx.spaces.write_file("s")
    with hexad.open(":memory:", embedder=None) as other:
        other.spaces.read_file(file)

        assert {memory.id: memory.importance for memory in hx.memories(space="s")} == {
            memory.id: memory.importance for memory in other.memories(space="s")
        }


@pytest.mark.row("A083")
def test_what_others_were_derived_from_or_cite_stays_as_long_as_they_do(hx, clock):
    sources = [hx.remember(f"Ground {at} of a thing.", importance=0.1) for at in range(2)]
    derived = hx.remember("So it is.", importance=0.9, derived_from=[sources[0].id])
    hx.link(derived.id, sources[1].id, kind="cites")
    clock.advance(days=400)

    assert () == hx.consolidate("project").changes
    hx.forget(derived.id)

    assert {"dropped": 2} == hx.consolidate("project").counts


@pytest.mark.row("A083")
def test_the_time_to_archive_is_a_setting_and_may_be_given_once(opened, project, clock):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text("[consolidation]\narchive_months = 6\n")
    hx = opened(embedder=None)
    hx.remember("The build printed a warning.", importance=0.3)
    clock.advance(days=100)

    assert {} == hx.consolidate("project", dry_run=True).counts
    assert {"archived": 1} == hx.consolidate("project", dry_run=True, archive_months=3).counts
    clock.advance(days=84)
    assert {"archived": 1} == hx.consolidate("project").counts


def test_a_space_whose_policy_forbids_deletion_keeps_everything(hx, clock):
    hx.spaces.create("law")
    hx.spaces.set_policy("law", {"allow_delete": False})
    hx.remember("A clause of no weight.", space="law", importance=0.1)
    clock.advance(days=400)

    report = hx.consolidate("project")

    assert () == report.changes
    assert ["old: its space's policy keeps everything (allow_delete = false)"] == [
        skip.reason for skip in report.skipped
    ]


@pytest.mark.row("A101", "A100", "A082")
def test_a_draft_grows_less_sure_until_it_is_seen_again(hx, clock):
    def observe() -> hexad.ProjectFact:
        fact = hx.project.observe(category="pattern", key="data_access", value="Prisma", confidence=0.6)
        assert fact is not None
        return fact

    observe()
    said = hx.project.remember(category="convention", key="naming", value="snake_case", confidence=0.6)
    clock.advance(days=30 + 90)

    report = hx.consolidate("project")

    [change] = report.changes
    assert ("rescored", 0.6, 0.3) == (change.action.value, change.before, change.after)
    assert 0.6 == hx.get(said.memory_id).confidence
    assert () == hx.consolidate("project").changes
    assert observe().confidence > 0.3
    after = hx.project.get_patterns()[0].confidence
    assert () == hx.consolidate("project").changes
    assert after == hx.project.get_patterns()[0].confidence


@pytest.mark.row("A082")
@pytest.mark.parametrize("days", [0.5, 1, 10.9, 45, 45.9, 90, 180, 5_000])
def test_confidence_decays_by_whole_days_from_when_it_was_seen_last_and_never_below_the_floor(
    hx, clock, days
):
    def observe(confidence: float) -> str:
        fact = hx.project.observe(category="pattern", key="orm", value="Prisma", confidence=confidence)
        return fact.memory_id

    observe(0.6)
    clock.advance(days=20)
    seen = observe(0.6)  # this is when it was seen last
    base = hx.get(seen).confidence
    clock.advance(days=30 + days)
    hx.consolidate("project")

    expected = max(base * exp(-log(2) / 90 * floor(days)), 0.1)
    assert expected == pytest.approx(hx.get(seen).confidence, abs=0.011 if days < 2 else 1e-5)


@pytest.mark.row("A101")
def test_a_draft_that_is_said_again_is_as_sure_as_it_was(hx, clock):
    draft = hx.project.observe(category="pattern", key="data_access", value="Prisma", confidence=0.6)
    clock.advance(days=120)
    hx.consolidate("project")
    assert 0.3 == hx.get(draft.memory_id).confidence
    hx.remember(
        draft.text,
        space="project",
        kind="pattern",
        subject=draft.component,
        attribute="data_access",
        value="Prisma",
    )

    hx.consolidate("project")

    assert 0.6 == hx.get(draft.memory_id).confidence


@pytest.mark.row("A146")
def test_a_layer_over_its_quota_loses_what_matters_least_and_was_not_read_for_longest(opened, project, clock):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text(
        "[consolidation]\nquotas = {project = 3, governance = 1}\n"
    )
    hx = opened(embedder=None)
    ids = []
    for at, importance in enumerate((0.3, 0.9, 0.3, 0.6, 0.3)):
        ids.append(hx.remember(f"Note {at} about a thing of its own, number {at}.", importance=importance).id)
        clock.advance(hours=1)
    hx.recall("note 0 about a thing of its own number 0", limit=1)
    for text in ("We ship weekly.", "We review in pairs."):
        hx.remember(text, kind="decision")
    assert ["governance", "project"] == hx.status().consolidation["over_quota"]

    report = hx.consolidate("project")

    assert [ids[2], ids[4]] == [change.ids[0] for change in report.changes]
    assert (5, 3, 3) == (
        report.before["project"].count,
        report.after["project"].count,
        report.after["project"].quota,
    )
    assert ("governance",) == report.over_quota
    assert "The layer governance is over its quota: 2 of 1 items" in report.warnings[0]
    assert () == hx.consolidate("project").changes


@pytest.mark.row("A146")
def test_a_quota_of_bytes_is_kept_too(opened, project):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text("[consolidation]\nquota_bytes = {project = 250}\n")
    hx = opened(embedder=None)
    for at in range(5):
        hx.remember(f"{at} " + "x" * 98)

    report = hx.consolidate("project")

    assert 500 == report.before["project"].bytes
    assert 200 == report.after["project"].bytes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nightly = 'daily'", "nightly = 'daily' should be true, false or \"weekly\""),
        ("archive_months = -1", "archive_months = -1 should be a number from 0"),
        ("quotas = {pages = 3}", "unknown layer 'pages'"),
        ("quotas = {project = 0}", "project = 0 should be a whole number of at least 1"),
        ("often = true", "unknown setting 'often'"),
        ("drop_below = nan", "drop_below = nan should be a number"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(project, line, said):
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").write_text(f"[consolidation]\n{line}\n")

    with pytest.raises(hexad.InvalidInput) as error:
        hexad.open(project, embedder=None, background=False)

    assert said in str(error.value)


def test_a_dry_run_says_what_a_run_then_does(hx, clock):
    _everything(hx, clock)
    size = hx.count(status=None)

    looked = hx.consolidate(dry_run=True)
    assert (looked.dry_run, size) == (True, hx.count(status=None))
    did = hx.consolidate()

    assert {"promoted", "merged", "dropped", "archived", "rescored"} <= set(did.counts)
    assert looked.changes == did.changes
    assert looked.skipped == did.skipped
    assert {**looked.after, "user": None} == {**did.after, "user": None}


def test_a_second_run_changes_nothing(hx, clock):
    _everything(hx, clock)
    hx.consolidate()
    before = _state(hx)

    again = hx.consolidate()

    assert () == again.changes
    assert before == _state(hx)


def test_a_run_that_was_stopped_is_made_good_by_the_next(hx, clock, monkeypatch):
    monkeypatch.setattr("hexad.maintenance.consolidation.project.BATCH", 1)
    _everything(hx, clock)
    wanted = hx.consolidate("project", dry_run=True).changes
    asked = 0

    def after_three() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    first = hx.consolidate("project", stop=after_three)
    assert first.interrupted
    second = hx.consolidate("project")

    assert not second.interrupted
    assert 3 == len(first.changes)
    assert wanted == first.changes + second.changes
    assert () == hx.consolidate("project").changes


def test_a_readonly_store_may_be_looked_at_and_not_changed(hx, clock, opened):
    _everything(hx, clock)
    hx.close()
    reading = opened(embedder=None, readonly=True)

    assert reading.consolidate("project", dry_run=True).changes
    with pytest.raises(hexad.StorageFailure):
        reading.consolidate("project")


def test_bad_input_is_refused_and_changes_nothing(hx):
    for call in (
        lambda: hx.consolidate("night"),
        lambda: hx.consolidate(archive_months=-1),
        lambda: hx.consolidate(dry_run="yes"),
        lambda: hx.consolidate(stop="soon"),
    ):
        with pytest.raises(hexad.InvalidInput):
            call()


def test_the_ledger_is_told_of_what_was_done(hx):
    hx.remember(NOTE)
    hx.remember(AGAIN)
    hx.consolidate("project")
    hx.consolidate("project")

    notes = [
        detail for _, what, detail in hx._services.stores.meta.logged(limit=10) if what == "consolidation"
    ]

    assert [{"by": "owner", "merged": 1, "scope": "project"}] == [dict(note) for note in notes]


def _everything(hx: Hexad, clock: FrozenClock) -> None:
    """Fill a store with something for each rule."""
    hx.remember("The build printed a warning about a locale.", importance=0.3, id="old")
    hx.remember("Noted in passing.", importance=0.1, id="trifle")
    hx.remember("Pinned long ago.", importance=0.1, pinned=True)
    hx.project.observe(category="pattern", key="data_access", value="Prisma", confidence=0.6)
    clock.advance(days=370)
    hx.remember(NOTE)
    hx.remember(AGAIN)
    hx.session.start("login feature", steps=["move tokens", "write tests"])
    hx.session.add_turn("user", "We decided to keep the tokens in the database.")
    hx.session.mark_step("move tokens")
    # Ended elsewhere: nobody here was told.
    hx._services.session().manager.listeners.clear()
    hx.session.end()


def _state(hx: Hexad) -> object:
    return [memory.to_dict() for memory in hx.memories(status=None, limit=None, order="path")]


def test_an_erasure_takes_the_name_of_what_it_erased_out_of_the_notes(hx):
    kept, other = hx.remember(NOTE), hx.remember(AGAIN)
    hx.consolidate("project")

    hx.forget(kept.id, purge=True, confirm=True)

    assert kept.id not in str(hx.get(other.id).to_dict())
    assert "merged" == hx.get(other.id).metadata[CONSOLIDATED]["action"]
