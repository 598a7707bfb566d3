"""The audit of memories: what it finds, what it leaves alone, and that it changes nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hexad
from hexad import Flaw, FrozenClock, Hexad, InvalidInput, MemoryQuality, NotFound, QualityFinding
from hexad.maintenance.quality import Audited, Examination
from opener import Opener
from ran import Run

DATA = Path(__file__).parent / "data" / "memories"
LONG = "The night ferry to Lunde leaves from pier four at ten and carries no lorries because the deck was never rebuilt."

MORE = "Who misses it takes the bus around the fjord, which needs two hours more and stops at every farm on its way."


@pytest.fixture
def hx(opened: Opener) -> Hexad:
    return opened(embedder=None)


def only(found: MemoryQuality, flaw: Flaw) -> QualityFinding:
    (finding,) = found.of(flaw)
    return finding


def test_a_sound_store_has_nothing_wrong(hx):
    hx.remember(LONG)
    hx.remember(
        "We decided to queue bookings in SQLite, since one file is easier to back up.", kind="decision"
    )
    found = hx.memory_quality()

    assert (2, 0, 0.0, ()) == (found.memories, found.flawed, found.share(), found.findings)


def test_junk_is_named_with_its_rule_and_how_to_be_rid_of_it(hx):
    memory = hx.remember("Thanks, sounds good!")
    hx.remember(LONG)
    found = hx.memory_quality()
    finding = only(found, Flaw.JUNK)

    assert ("junk.small_talk", (memory.id,), "Thanks, sounds good!") == (
        finding.rule,
        finding.ids,
        finding.excerpt,
    )
    assert f"hexad forget {memory.id}" == finding.remedy
    assert 0.5 == found.share(Flaw.JUNK)


def test_duplicates_come_as_a_group_with_the_one_to_keep(hx):
    weak = hx.remember(LONG, source_id="a", trust="web")
    best = hx.remember(LONG, source_id="b", trust="user", pinned=True)
    near = hx.remember(LONG + " Ask at the office.", source_id="c")
    finding = only(hx.memory_quality(), Flaw.DUPLICATE)

    assert best.id == finding.keep
    assert {weak.id, near.id} == set(finding.ids)
    assert "duplicate.near" == finding.rule


def test_the_same_words_in_two_spaces_are_no_duplicates(hx):
    hx.remember(LONG, space="one")
    hx.remember(LONG, space="two")

    assert 0 == hx.memory_quality().flawed
    assert 1 == hx.memory_quality(space="one").memories


def test_what_repeats_a_recall_is_an_echo(hx):
    first = hx.remember(LONG)
    hx.recall("night ferry lorries")
    again = hx.remember(f"- {LONG}", kind="note", tags=["said-again"])
    finding = only(hx.memory_quality(), Flaw.ECHO)

    assert (again.id,) == finding.ids
    assert first.id in finding.why


def test_an_actor_with_a_role_is_told_of_the_echoes_that_it_may_see(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as owner:
        first = owner.remember(LONG)
        owner.recall("night ferry lorries")
        again = owner.remember(f"- {LONG}", kind="note", tags=["said-again"])
        owner.remember("The vault is under the stairs.", space="beta")
        owner.spaces.set_policy("beta", {"visibility": [{"roles": ["owner"]}]})
    with hexad.open(tmp_path, embedder=None, background=False, actor={"role": "lead"}) as lead:
        finding = only(lead.memory_quality(), Flaw.ECHO)

    assert (again.id,) == finding.ids
    assert first.id in finding.why


def test_what_is_over_long_unused_or_without_its_file_is_stale(opened, clock, tmp_path):
    hx = opened(embedder=None)
    over = hx.remember("The pier was closed for the summer.", valid_from="2025-01-01", valid_to="2025-09-01")
    idle = hx.remember("The kettle in the office is white.", importance=0.1)
    pinned = hx.remember("The kettle in the cellar is black.", importance=0.1, pinned=True)
    file = tmp_path / "note.md"
    file.write_text("The lock gate opens at high water only.")
    hx.ingest(file)
    file.unlink()
    clock.advance(days=200)
    found = hx.memory_quality()
    by_rule = {finding.rule: finding.ids for finding in found.of(Flaw.STALE)}

    assert (over.id,) == by_rule["stale.expired"]
    assert (idle.id,) == by_rule["stale.unused"]
    assert len(by_rule["stale.source_gone"]) == 1
    assert pinned.id not in {each for ids in by_rule.values() for each in ids}


def test_what_rests_on_a_superseded_fact_is_stale(hx):
    premise = hx.remember("The database is MySQL.", subject="shop", attribute="database", value="mysql")
    rests = hx.remember("Backups use the binary log of the server.")
    hx.link(rests.id, premise.id, kind="depends-on")
    hx.remember("The database is Postgres.", subject="shop", attribute="database", value="postgres")

    assert [("stale.premise", (rests.id,))] == [
        (finding.rule, finding.ids) for finding in hx.memory_quality().of(Flaw.STALE)
    ]


def test_values_that_hold_at_once_and_opposites_are_contradictions(hx):
    strong = hx.remember("The port is 80.", subject="api", attribute="port", value=80)
    weak = hx.remember(
        "Its port is 90.", subject="api", attribute="port", value=90, trust="agent", valid_from="2026-06-01"
    )
    hx.remember("We deploy on Fridays.")
    hx.remember("We don't deploy on Fridays.")
    found = hx.memory_quality()
    rules = {finding.rule: set(finding.ids) for finding in found.of(Flaw.CONTRADICTION)}

    status = {hx.get(weak.id).status, hx.get(strong.id).status}
    assert 2 == len(rules["contradiction.negation"])
    # A weaker value that contradicts waits for a review and is not recalled: nothing active stands against another.
    assert ("contradiction.values" in rules) == (status == {hexad.Status.ACTIVE})


def test_an_attribute_that_holds_several_values_is_no_contradiction(hx):
    hx.facts.declare("uses")
    hx.remember("The api uses Redis.", subject="api", attribute="uses", value="redis")
    hx.remember("The api uses Kafka.", subject="api", attribute="uses", value="kafka")

    assert 0 == hx.memory_quality().flawed


def test_what_nobody_vouches_for_and_nothing_names_has_no_provenance(hx):
    lost = hx.remember("The harbour master retires in June.", trust="unknown")
    hx.remember(
        "The harbour master lives in Lunde.", trust="unknown", citations=[hexad.Citation(path="a.md")]
    )
    finding = only(hx.memory_quality(), Flaw.UNSUPPORTED)

    assert (lost.id,) == finding.ids


def test_the_audit_changes_nothing_and_counts_more_than_it_lists(hx):
    for number in range(5):
        hx.remember(f"test {number}", source_id=str(number))
    before = hx.memories(status=None, limit=None)
    found = hx.memory_quality(listed=2)

    assert (5, 2) == (found.counts[Flaw.JUNK], len(found.of(Flaw.JUNK)))
    assert before == hx.memories(status=None, limit=None)


def test_a_role_is_told_of_what_it_may_see_alone(opened, project):
    owner = opened(embedder=None)
    owner.remember(LONG, path="open")
    hidden = owner.remember(LONG, path="secret/ferry", source_id="x")
    owner.spaces.set_policy("default", {"visibility": [{"paths": ["secret/*"], "roles": ["boss"]}]})
    with hexad.open(project, embedder=None, background=False, actor={"role": "guest"}) as guest:
        found = guest.memory_quality()

    assert (1, 0) == (found.memories, found.flawed)
    assert hidden.id not in json.dumps(found.to_dict())
    assert 1 == owner.memory_quality().counts[Flaw.DUPLICATE]


def test_an_unknown_space_is_refused(hx):
    with pytest.raises(NotFound):
        hx.memory_quality(space="nowhere")
    with pytest.raises(InvalidInput):
        hx.memory_quality(listed=-1)


def test_an_export_is_audited_without_a_store(tmp_path):
    key = "sk-" + "ant-api03-" + "Zq8" * 31 + "AA"
    file = tmp_path / "x.json"
    texts = ["HEARTBEAT_OK", LONG, LONG, f"The key is {key}", "Mara likes tea.", "Mara does not like tea."]
    file.write_text(json.dumps([{"id": str(at), "memory": text} for at, text in enumerate(texts)]))
    found = hexad.export_quality(file, "mem0")
    rules = {finding.rule: finding.ids for finding in found.findings}

    assert ("0",) == rules["junk.heartbeat"]
    assert ("2",) == rules["duplicate.exact"]
    assert {"4", "5"} == set(rules["contradiction.negation"])
    assert 6 == found.counts[Flaw.UNSUPPORTED]
    assert 1 == found.counts[Flaw.SECRET]
    assert key not in json.dumps(found.to_dict())
    assert ["x.json"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("mem0", "mem0.json"), ("claude-mem", "claude-mem.json"), ("mempalace", "mempalace"),
        ("memory-md", "agent"), ("server-memory", "server-memory.jsonl"),
    ],
)  # fmt: skip
def test_every_format_is_audited_as_it_is_imported(hx, kind, name):
    found = hexad.export_quality(DATA / name, kind)
    report = hx.ingest(DATA / name, kind=kind)

    assert report.items == found.memories
    assert report.skips == found.skips


def test_an_export_of_no_known_system_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="mem0, memory-md"):
        hexad.export_quality(DATA / "mem0.json", "file")


def test_many_that_are_all_alike_are_compared_with_few():
    asked: list[str] = []
    texts = {str(at): f"{LONG} {MORE} It was said {at} times." for at in range(3_000)}

    def text_of(name: str) -> str:
        asked.append(name)
        return texts[name]

    examination = Examination(now=datetime(2026, 1, 1, tzinfo=UTC), listed=5, text_of=text_of)
    for name, text in texts.items():
        examination.take(Audited(id=name, text=text))
    found = examination.done(source="x")

    assert found.counts[Flaw.DUPLICATE] > 2_900
    assert len(asked) < 100


def test_the_command_shows_shares_ids_and_remedies_and_fails_where_it_is_asked_to(run: Run, tmp_path):
    run("remember", "Thanks, sounds good!")
    run("remember", LONG)
    shown = run("doctor", "--memories")
    told = run("doctor", "--memories", "--json", "--fail-over", "0.4")
    fine = run("doctor", "--memories", "--fail-over", "0.6")

    assert "1 of 2 junk (50.0%): small_talk 1" in shown.out
    assert "hexad forget mem_" in shown.out
    assert (0, 1, 0) == (shown.code, told.code, fine.code)
    assert told.data["counts"]["junk"] == 1


def test_the_command_audits_an_export_where_there_is_no_store(run: Run, tmp_path):
    shown = run("doctor", "--memories", "--from", "mem0", str(DATA / "mem0.json"))

    assert 0 == shown.code
    assert "1 of 5 say what another says" in shown.out
    assert not (tmp_path / ".hexad").exists()
    for wrong in (
        ("doctor", "--space", "x"),
        ("doctor", "--memories", "x.json"),
        ("doctor", "--memories", "--from", "mem0"),
    ):
        assert 2 == run(*wrong).code


def test_a_frozen_clock_decides_what_is_stale(opened):
    later = FrozenClock()
    later.advance(days=400)
    first = opened(embedder=None)
    first.remember("The kettle in the office is white.", importance=0.1)

    assert 0 == first.memory_quality().flawed


def test_what_is_over_contradicts_nothing_that_holds_now(tmp_path):
    file = tmp_path / "x.json"
    over = {"created_at": "2020-01-01", "expiration_date": "2021-01-01"}
    texts = ["Mara lives in Oslo", "Mara no longer lives in Oslo"]
    file.write_text(
        json.dumps([{"id": text, "memory": text, **over} for text in texts[:1]] + [{"memory": texts[1]}])
    )

    assert Flaw.CONTRADICTION not in hexad.export_quality(file, "mem0").counts


def test_a_fact_is_no_junk_however_short_its_words(hx):
    hx.remember("None", subject="shop", attribute="discount", value="none")

    assert Flaw.JUNK not in hx.memory_quality().counts
