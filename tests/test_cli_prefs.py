"""`hexad prefs`, `hexad memory … --scope user` and `hexad encrypt --user`, as somebody types them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import hexad
from user_projects import learned

WORDS = "six words are better than one"


@pytest.fixture
def here(run):
    assert 0 == run("init").code
    return run


@pytest.mark.row("A030", "A036")
def test_a_preference_is_stated_listed_shown_and_removed(here):
    assert "db = Postgres  1.00" in here("prefs", "set", "DB", "Postgres").out
    listed = here("prefs")
    assert "preference-1  db   Postgres  1.00  explicit" in listed.out
    assert "Prefers Postgres for db.\n" == here("prefs", "show", "db").out
    assert 0 == here("prefs", "forget", "preference-1").code
    assert "Nothing is known of you" in here("prefs").err
    assert 3 == here("prefs", "forget", "preference-1").code


@pytest.mark.row("A098", "A099", "A149")
def test_suggestions_can_be_taken_up_turned_down_and_stopped(here, tmp_path, clock):
    for name in ("one", "two", "three"):
        learned(tmp_path, clock, name, db="Postgres", orm="Prisma")
    assert "You typically use Prisma for orm (in 3 of 3 projects" in here("prefs", "suggest").out
    assert "accepted  orm = Prisma" in here("prefs", "accept", "orm", "prisma").out
    assert "rejected  db = Postgres  0.47" in here("prefs", "reject", "db", "Postgres").out
    assert ["orm"] == [suggestion["key"] for suggestion in here("prefs", "suggest", "--json").data]
    assert "Prisma is not suggested any more" in here("prefs", "suppress", "Prisma").out
    assert "There is nothing to suggest" in here("prefs", "suggest").err
    assert 0 == here("prefs", "allow", "Prisma").code
    assert ["orm"] == [suggestion["key"] for suggestion in here("prefs", "suggest", "--json").data]


@pytest.mark.row("A115", "A124")
def test_an_exception_is_said_with_its_reason(here):
    here("prefs", "set", "orm", "Prisma")
    assert 2 == here("prefs", "except", "orm", "Drizzle").code
    said = here("prefs", "except", "orm", "Drizzle", "--reason", "it runs at the edge")
    assert "orm: usually Prisma; Drizzle here because it runs at the edge" in said.out
    shown = here("prefs", "show", "orm")
    assert "Usually uses Prisma for orm; Drizzle in this project, because it runs at the edge." in shown.out
    assert "exception" in shown.err


def test_patterns_expertise_and_rules_are_listed_with_all(here):
    here("prefs", "pattern", "Small pull requests")
    here("prefs", "pattern", "Global state", "--avoid")
    here("prefs", "know", "Rust", "expert")
    here("prefs", "rule", "Never on Fridays.")
    out = here("prefs", "list", "--all").out
    for said in ("Small pull requests", "antipattern", "Rust: expert", "Never on Fridays."):
        assert said in out
    assert {"preferences", "patterns", "expertise", "rules", "exceptions", "suppressions"} == set(
        here("prefs", "list", "--all", "--json").data
    )


@pytest.mark.row("A097", "A139")
def test_learning_says_what_changed_and_what_takes_no_part(here, tmp_path, clock):
    for name in ("one", "two"):
        learned(tmp_path, clock, name, db="Postgres")
    here(
        "remember",
        "Postgres.",
        "--kind",
        "tech_stack",
        "--subject",
        "x",
        "--attribute",
        "db",
        "--value",
        "Postgres",
    )
    assert "promoted  db = Postgres  0.95  in 3 of 3 projects" in here("prefs", "learn", "--dry-run").out
    assert "promoted" in here("prefs", "learn").out
    assert "" == here("prefs", "learn").out
    (tmp_path / ".hexad" / "hexad.toml").write_text("[user]\nlearning = false\n")
    assert "does not take part" in here("prefs", "learn").err
    refused = here("prefs", "reject", "db", "Postgres")
    assert (1, True) == (refused.code, "learning = false" in refused.err)


# The scope of a user ---------------------------------------------------------------------------------------------


@pytest.mark.row("A134")
def test_everything_that_is_held_of_a_user_is_listed(here):
    assert "Nothing is held of you" in here("memory", "list", "--scope", "user").err
    here("prefs", "set", "db", "Postgres")
    here("prefs", "know", "Rust", "expert")
    out = here("memory", "list", "--scope", "user").out
    assert "key: db, value: Postgres" in out
    assert "area: Rust" in out
    assert ["expertise"] == [
        memory["list"] for memory in here("memory", "list", "--scope", "user", "--offset", "1", "--json").data
    ]


@pytest.mark.row("A136")
def test_a_wipe_of_the_user_scope_asks_says_what_went_and_leaves_the_project(here):
    here("prefs", "set", "db", "Postgres")
    here("remember", "The harbour opens at six.")
    assert "preferences: 1" in here("memory", "wipe", "--scope", "user", "--dry-run").err
    asked = here("memory", "wipe", "--scope", "user")
    assert (2, True) == (asked.code, "user layer, of all projects" in asked.err)
    done = here("memory", "wipe", "--scope", "user", "--yes")
    assert "user  wiped" in done.out
    assert "Nothing is known of you" in here("prefs").err
    assert 1 == len(here("memory", "list", "--json").data)


@pytest.mark.row("A137")
def test_the_user_scope_is_exported_as_json(here, tmp_path):
    here("prefs", "set", "db", "Postgres")
    held = here("memory", "export", "--scope", "user", "--format", "json").data
    assert ("user", "default") == (held["export"]["scope"], held["export"]["user_id"])
    assert ["Postgres"] == [item["value"] for item in held["preferences"]]
    assert [] == held["patterns"]
    assert "memories" not in held
    assert 0 == here("memory", "export", "--scope", "user", "--out", "me.json").code
    assert "Postgres" == json.loads((tmp_path / "me.json").read_text())["preferences"][0]["value"]
    assert 0o600 == (tmp_path / "me.json").stat().st_mode & 0o777


def test_the_library_says_the_same_of_the_user_scope(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.user.prefer("db", "Postgres")
        assert ["export", "preferences"] == [item.section for item in hx.export("user")]
        with pytest.raises(hexad.InvalidInput, match=r"hx\.user"):
            hx.memories_in("user")
        with pytest.raises(hexad.AccessDenied):
            hx.wipe("user")
        assert {"preferences": 1} == hx.wipe("user", dry_run=True).counts()
        report = hx.wipe("user", confirm=True)
        assert ({"preferences": 1}, "user") == (report.counts(), report.to_dict()["scope"])
        assert [] == hx.user.preferences()


# Encryption ------------------------------------------------------------------------------------------------------


@pytest.mark.row("A035")
def test_the_user_layer_is_encrypted_given_another_key_and_decrypted_by_commands(here, monkeypatch):
    here("prefs", "set", "db", "Postgres")
    monkeypatch.setenv("HEXAD_USER_PASSPHRASE", WORDS)
    said = here("encrypt", "--user", "--provider", "passphrase")
    assert "Encrypted. The key is made of the passphrase" in said.out
    assert b"Postgres" not in (Path(os.environ["HEXAD_USER_DIR"]) / "user.db").read_bytes()
    assert "Postgres" in here("prefs").out
    monkeypatch.setenv("HEXAD_NEW_PASSPHRASE", WORDS + " two")
    assert 0 == here("rekey", "--user").code
    assert 1 == here("prefs").code
    monkeypatch.setenv("HEXAD_USER_PASSPHRASE", WORDS + " two")
    assert "Postgres" in here("prefs").out
    assert 0 == here("decrypt", "--user", "--yes").code
    monkeypatch.delenv("HEXAD_USER_PASSPHRASE")
    assert "Postgres" in here("prefs").out
    assert 4 == here("decrypt", "--user", "--yes").code
