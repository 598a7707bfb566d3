"""What names a project in the layer of a person goes with the project, and what was learned from it when it opts out."""

from __future__ import annotations

import pytest

from user_projects import learned, open_project

OFF = "[user]\nlearning = false\n"


def judged_without_a_fact(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.update_preference(key="db", value="Postgres", idempotency_key="first-choice")
        hx.user.accept("db", "Postgres")
        hx.user.exception("db", "SQLite", reason="it runs on a phone")
        hx.user.suppress("Prisma", here=True)
        hx.user.suppress("Vim")


@pytest.mark.row("A139")
@pytest.mark.parametrize("how", ["first use", "upkeep"])
def test_a_project_that_opts_out_leaves_no_verdicts_even_if_it_never_published(tmp_path, clock, how):
    judged_without_a_fact(tmp_path, clock)
    with open_project(tmp_path / "one", clock, toml=OFF) as hx:
        if how == "upkeep":
            hx.maintain()
            hx.close()
            hx = open_project(tmp_path / "two", clock)
        left = {name: n for name, n in hx.user.counts().items() if name != "state"}
        hx.close()
    assert {"preferences": 1, "exceptions": 1, "suppressions": 2} == left


@pytest.mark.row("A136")
@pytest.mark.parametrize("opted_out", [False, True])
def test_a_wipe_of_a_project_takes_along_all_that_names_it_in_the_layer(tmp_path, clock, opted_out):
    judged_without_a_fact(tmp_path, clock)
    learned(tmp_path, clock, "two", db="Postgres")
    with open_project(tmp_path / "two", clock) as hx:
        hx.user.exception("db", "MySQL", reason="it was there")
    with open_project(tmp_path / "one", clock, toml=OFF if opted_out else "") as hx:
        if opted_out:
            hx.maintain()
        hx.wipe("project", confirm=True)
    with open_project(tmp_path / "two", clock) as hx:
        assert ["MySQL"] == [exception.value for exception in hx.user.exceptions(everywhere=True)]
        assert ["Vim"] == [suppression.value for suppression in hx.user.suppressions()]
        assert "feedback" not in hx.user.counts()
        assert 1 == hx.user.counts()["project_values"]


def test_a_project_of_which_the_layer_says_nothing_is_wiped_without_opening_it(tmp_path, clock):
    with open_project(tmp_path / "one", clock, user_dir=tmp_path / "user") as hx:
        hx.remember("Deploys happen on Tuesday.")
        hx.wipe("project", confirm=True)
    assert not (tmp_path / "user").exists()
