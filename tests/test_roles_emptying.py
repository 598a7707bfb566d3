"""Actors with a role empty and erase only what a space's policy lets them: everything else is its owner's."""

from __future__ import annotations

import pytest

from hexad import Hexad
from hexad.errors import AccessDenied
from hexad.interfaces.cli.app.main import main
from opener import Opener


def by_role(hx: Hexad, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    with monkeypatch.context() as patched:
        patched.setenv("HEXAD_ROLE", "intern")
        return main(["-C", str(hx.path), *arguments])


@pytest.mark.parametrize(
    "command",
    [("memory", "wipe", "docs", "--yes"), ("spaces", "create", "docs", "--reset", "--yes")],
    ids=["wipe", "reset"],
)
def test_a_role_empties_a_space_only_where_its_policy_allows_deletion(hx, monkeypatch, capsys, command):
    hx.remember("Deploys happen on Tuesday.", space="docs", id="d1")

    refused = by_role(hx, monkeypatch, *command)
    said = capsys.readouterr().err
    there = hx.count(space="docs")
    hx.spaces.set_policy("docs", {"allow_delete": True})
    allowed = by_role(hx, monkeypatch, *command)

    assert (1, 1, 0, 0) == (refused, there, allowed, hx.count(space="docs"))
    assert "allow_delete" in said


def test_the_owner_empties_a_space_that_has_no_policy(hx):
    hx.remember("Deploys happen on Tuesday.", space="docs")

    assert 0 == hx.spaces.create("docs", reset=True).memories


def test_a_role_that_purges_a_session_is_refused_and_leaves_no_record(hx, opened: Opener):
    hx.xdb.start_session("s")
    hx.xdb.record("input", "Asked.", event_id="e")
    hx.xdb.end_session()
    intern = opened(role="intern")

    with pytest.raises(AccessDenied, match="Only the store's owner"):
        intern.forget(session="s", purge=True, confirm=True)

    assert [] == hx.erasures()
    assert 1 == hx.xdb.session_totals()["s"].records


def test_a_role_that_purges_a_person_is_refused_and_may_purge_their_memories_by_space(hx, opened: Opener):
    hx.remember("Ada leads.", space="docs", data_subjects=["ada"])
    hx.spaces.set_policy("docs", {"allow_delete": True})
    hx.xdb.start_session("s", data_subjects=["ada"])
    hx.xdb.record("input", "Asked.", event_id="e")
    hx.xdb.end_session()
    intern = opened(role="intern")

    with pytest.raises(AccessDenied, match=r"timesteps.*With space="):
        intern.forget(subject="ada", purge=True)
    assert 1 == hx.count(space="docs")
    receipt = intern.forget(subject="ada", space="docs", purge=True)

    assert 1 == receipt.count("memories")
    assert 1 == hx.xdb.session_totals()["s"].records


@pytest.mark.parametrize("asked", [("project", None), ("session", "s")])
def test_a_wipe_of_a_scope_is_the_owners_alone(hx, opened: Opener, asked):
    hx.xdb.start_session("s")
    hx.xdb.record("input", "Asked.", event_id="e")
    hx.xdb.end_session()
    scope, session = asked

    with pytest.raises(AccessDenied, match="owner"):
        opened(role="intern").wipe(scope, session=session, confirm=True)

    assert [] == hx.erasures()


def test_a_role_verifies_no_export_of_a_space_that_hides_something_from_it(hx, opened: Opener):
    hx.remember("For leads.", space="docs", tags=["secret"])
    hx.remember("For all.", space="open")
    hx.spaces.set_policy("docs", {"visibility": [{"tags": ["secret"], "roles": ["lead"]}]})
    closed, other = (hx.spaces.export(name).path for name in ("docs", "open"))
    intern = opened(role="intern")

    with pytest.raises(AccessDenied):
        intern.spaces.verify(closed)

    assert ["open", "docs"] == [intern.spaces.verify(other).space, hx.spaces.verify(closed).space]
