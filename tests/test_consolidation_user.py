"""The user layer over time: what several projects have is learned, what nobody sees any more becomes less sure."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock
from hexad.database.leases import Lease
from user_projects import open_project, use


def projects(root: Path, clock: FrozenClock, names: str, **facts: str) -> None:
    for name in names.split():
        clock.advance(days=1)
        with open_project(root / name, clock) as hx:
            use(hx, **facts)
            hx.project.observe(category="pattern", key="data access", value="repositories", confidence=0.6)
            hx.consolidate("user")


@pytest.mark.row("A076")
def test_what_three_projects_have_is_promoted_to_the_user(tmp_path, clock):
    projects(tmp_path, clock, "one two", db="Postgres")
    with open_project(tmp_path / "three", clock) as hx:
        use(hx, db="Postgres")
        looked = hx.consolidate("user", dry_run=True)
        report = hx.consolidate("user")
        again = hx.consolidate("user")

        assert looked.changes == report.changes
        assert [("learned", "user", ("db: Postgres",))] == [
            (change.action.value, change.layer, change.ids) for change in report.changes
        ]
        assert "in 3 of 3 projects" in report.changes[0].reason
        assert () == again.changes
        assert ["Postgres"] == [preference.value for preference in hx.user.preferences("db")]


@pytest.mark.row("A009", "A080", "A082")
def test_an_inferred_preference_that_nobody_sees_grows_less_sure_and_what_was_said_does_not(tmp_path, clock):
    projects(tmp_path, clock, "one two three", db="Postgres")
    projects(tmp_path, clock, "four five six seven eight", ci="make")  # the latest do without the database
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("editor", "vim")
        before = hx.user.preferences("db")[0].confidence
        clock.advance(days=30 + 180)

        looked = hx.consolidate("user", dry_run=True)
        report = hx.consolidate("user")

        lowered = {change.ids[0]: change for change in report.changes}
        assert looked.changes == report.changes
        assert lowered["db: Postgres"].after == pytest.approx(before / 2, rel=0.05)
        assert 1.0 == hx.user.preferences("editor")[0].confidence
        assert () == hx.consolidate("user").changes


@pytest.mark.row("A081")
def test_what_the_latest_projects_still_show_stays_as_sure_as_it_is(tmp_path, clock):
    projects(tmp_path, clock, "one two three", db="Postgres")
    with open_project(tmp_path / "one", clock) as hx:
        before = hx.user.preferences("db")[0].confidence
        [pattern] = hx.user.patterns()
        clock.advance(days=400)

        hx.consolidate("user")

        assert before == hx.user.preferences("db")[0].confidence
        assert pattern.confidence == hx.user.patterns()[0].confidence


@pytest.mark.row("A081")
@pytest.mark.parametrize(
    ("others", "share"), [("four", 3 / 4), ("four five", 3 / 5), ("four five six seven", 1 / 5)]
)
def test_the_fewer_of_the_latest_projects_show_something_the_faster_it_loses(tmp_path, clock, others, share):
    projects(tmp_path, clock, "one two three", db="Postgres")
    projects(tmp_path, clock, others, ci="make")
    with open_project(tmp_path / "one", clock) as hx:
        before = hx.user.preferences("db")[0].confidence
        clock.advance(days=30 + 180)

        hx.consolidate("user")

        assert hx.user.preferences("db")[0].confidence == pytest.approx(before * 0.5 ** (1 - share), rel=0.03)


@pytest.mark.row("A080")
def test_a_weak_pattern_goes_and_one_with_evidence_stays_hardly_sure(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
        hx.user.observe("Keeps pull requests small.", delta_evidence=5)
        clock.advance(days=30 + 180 * 8)

        report = hx.consolidate("user")

        assert {"removed": 1, "rescored": 1} == report.counts
        [kept] = hx.user.patterns()
        assert ("Keeps pull requests small.", 0.05) == (kept.description, kept.confidence)
        hx.user.observe("Keeps pull requests small.")
        surer = hx.user.patterns()[0].confidence
        clock.advance(days=29)
        hx.consolidate("user")
        assert surer == hx.user.patterns()[0].confidence > 0.05


@pytest.mark.row("A009")
def test_the_users_job_runs_once_a_month_whichever_project_is_maintained(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
        first = hx.maintain()
        at = hx.user.rescored_at
        assert (clock.now(), "there" in first.user_layer or "values" in first.user_layer) == (at, True)
    clock.advance(days=29)
    with open_project(tmp_path / "two", clock) as hx:
        hx.maintain()
        assert at == hx.user.rescored_at
        clock.advance(days=1)
        hx.maintain()
        assert clock.now() == hx.user.rescored_at
        assert "user" not in hx.status().consolidation["due"]


def test_where_there_is_no_user_layer_none_is_made(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.remember("Nothing that says how somebody builds.")
        clock.advance(days=40)
        hx.maintain()
        hx.consolidate()

        assert not (hx.user.path / "user.db").exists()
        assert "" == hx.status().user_layer


def test_a_check_of_a_store_looks_at_the_user_layer_too(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
        assert [] == hx.check()
        hx.user.close()
        (hx.user.path / "user.db").chmod(0o644)

        assert ["chmod 600" in problem for problem in hx.check()] == [True]
        (hx.user.path / "user.db").chmod(0o600)


def test_a_plain_layer_is_left_alone_by_an_encrypted_project(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    with open_project(tmp_path / "two", clock, key=key) as hx:
        clock.advance(days=400)
        report = hx.consolidate()

        assert "user layer was left as it is" in report.warnings[0]
        assert {} == report.counts


def test_a_role_is_told_nothing_of_the_user_layer(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
    clock.advance(days=400)
    with open_project(tmp_path / "one", clock, actor={"role": "dev"}) as hx:
        status = hx.status()

        assert "" == status.user_layer
        assert "user" not in (status.consolidation or {}).get("layers", {})
        assert "user" not in hx.consolidate().after
        with pytest.raises(hexad.AccessDenied):
            hx.user.rescore()


@pytest.mark.row("A009")
def test_of_programs_in_several_projects_one_at_a_time_weighs_the_layer(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.observe("Writes the tests last.")
        clock.advance(days=400)
        with Lease(hx.user.path / "maintain.lock", clock=clock, purpose="consolidation").held_for():
            with pytest.raises(hexad.StoreLocked):
                hx.consolidate("user")
            assert {} == hx.consolidate("project").counts

        assert {"rescored": 1} == hx.consolidate("user").counts
