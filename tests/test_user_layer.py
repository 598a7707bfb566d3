"""What is known of a person across projects: stated, inferred, accepted, rejected, excepted, suppressed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, FrozenClock, Hexad, InvalidInput, LimitExceeded, NotFound
from hexad.database.connection import Database
from user_projects import learned, open_project, use

SECRET = "sk-" + "live9Qw8Er7Ty6Ui5Op4As3Df2Gh1"


def user_dir() -> Path:
    return Path(os.environ["HEXAD_USER_DIR"])


# One layer for all projects ----------------------------------------------------------------------------------------


@pytest.mark.row("A030", "A035")
def test_what_is_stated_in_one_project_is_known_in_another(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as item:
        item.user.prefer("db", "postgres")
        clock.advance(days=1)
        item.user.prefer("db", "Postgres")
    with open_project(tmp_path / "two", clock) as two:
        (held,) = two.user.preferences("DB")
        assert ("Postgres", "explicit", 1.0, 2, clock.now()) == (
            held.value, held.source.value, held.confidence, held.evidence_count, held.last_seen,
        )  # fmt: skip
        assert "Prefers Postgres for db." == two.user.preference("db").statement


@pytest.mark.row("A035")
def test_the_layer_is_a_private_file_that_the_first_change_makes(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.remember("Deploys happen on Tuesday.")
        assert [] == hx.user.preferences()
        assert hx.user.preference("db") is None
        assert not user_dir().exists()

        hx.user.prefer("db", "Postgres")

    assert 0o600 == stat.S_IMODE((user_dir() / "user.db").stat().st_mode)
    assert 0o700 == stat.S_IMODE(user_dir().stat().st_mode)


@pytest.mark.row("A035")
def test_a_throw_away_store_has_a_layer_of_its_own(tmp_path):
    with hexad.open(":memory:", embedder=None) as hx:
        hx.user.prefer("db", "Postgres")
        folder = hx.user.path
        assert folder != user_dir()
    assert not folder.exists()
    assert not user_dir().exists()


@pytest.mark.row("A035")
def test_a_program_may_say_where_the_layer_is(tmp_path):
    with open_project(tmp_path / "one", user_dir=tmp_path / "mine") as hx:
        hx.user.prefer("db", "Postgres")
    assert (tmp_path / "mine" / "user.db").exists()
    assert not user_dir().exists()


def test_each_user_of_one_file_has_preferences_of_their_own(tmp_path, clock):
    for name, value in (("ada", "Postgres"), ("ben", "SQLite")):
        with open_project(tmp_path / "one", clock, actor=name) as hx:
            hx.user.prefer("db", value)
    with open_project(tmp_path / "one", clock, actor="ada") as hx:
        assert [("ada", "Postgres")] == [
            (preference.user_id, preference.value) for preference in hx.user.preferences()
        ]


def test_a_role_sees_and_changes_nothing_of_it(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "Postgres")
    with open_project(tmp_path / "one", clock, actor={"role": "guest"}) as hx:
        for call in (hx.user.preferences, hx.user.suggestions, lambda: hx.user.prefer("db", "SQLite")):
            with pytest.raises(AccessDenied, match="not for a role"):
                call()
        assert () == hx.user.stated()


def test_a_store_that_is_read_only_reads_the_layer_and_changes_nothing(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "Postgres")
    before = (user_dir() / "user.db").read_bytes()
    with open_project(tmp_path / "one", clock, readonly=True) as hx:
        assert "Postgres" == hx.user.preference("db").value
        with pytest.raises(hexad.StorageFailure, match="read-only"):
            hx.user.prefer("db", "SQLite")
    assert before == (user_dir() / "user.db").read_bytes()


def test_a_file_that_others_may_read_is_refused(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "Postgres")
    (user_dir() / "user.db").chmod(0o644)
    with open_project(tmp_path / "one", clock) as hx, pytest.raises(AccessDenied, match="chmod 600"):
        hx.user.preferences()


# Stated and inferred -----------------------------------------------------------------------------------------------


@pytest.mark.row("A036", "A118")
def test_a_preference_has_its_source_its_confidence_and_when_it_was_last_seen(hx: Hexad, clock):
    stated = hx.user.prefer("db", "Postgres")
    clock.advance(days=3)
    inferred = hx.user.update_preference(key="editor", value="Helix", source="inferred")

    assert ("explicit", 1.0) == (stated.source.value, stated.confidence)
    assert ("inferred", 0.6) == (inferred.source.value, inferred.confidence)
    assert 3 == (inferred.last_seen - stated.last_seen).days
    assert ["Postgres", "Helix"] == [preference.value for preference in hx.user.preferences()]


@pytest.mark.row("A036")
def test_the_table_of_preferences_has_the_columns_of_the_document_and_what_speaks_for_each(tmp_path, clock):
    for name in ("one", "two", "three"):
        learned(tmp_path, clock, name, db="Postgres")
    with open_project(tmp_path / "new", clock) as hx:
        hx.user.accept("db", "Postgres")
        clock.advance(days=2)
        hx.user.prefer("editor", "Helix")
        (expected,) = hx.user.preferences("db")
    stated = int(clock.now().timestamp() * 1_000_000)
    db = Database.open(user_dir() / "user.db", clock=clock, readonly=True)
    rows = {
        row[0]: row[1:]
        for row in db.query(
            "SELECT key, value, confidence, source, evidence_count, accepted, rejected, projects, last_seen"
            " FROM user_preferences"
        )
    }
    db.close()

    assert ("Helix", 1.0, "explicit", 1, 0, 0, 0, stated) == rows["editor"]
    assert ("Postgres", expected.confidence, "inferred", 1, 0, 3) == (*rows["db"][:3], *rows["db"][4:7])
    assert stated - 2 * 86_400_000_000 >= rows["db"][7]
    assert 0.6 < expected.confidence < 1.0


@pytest.mark.row("A031", "A118")
def test_what_a_person_states_takes_the_place_of_what_they_stated_before(hx: Hexad):
    hx.user.prefer("pull requests", "large")
    hx.user.prefer("pull requests", "small")

    assert "Prefers small for pull requests." == hx.user.preference("Pull Requests").statement
    assert [("small", 1.0), ("large", 0.5)] == [
        (preference.value, preference.confidence) for preference in hx.user.preferences("pull requests")
    ]


def test_stating_the_same_again_lowers_nothing_else(hx: Hexad):
    hx.user.prefer("language", "Python")
    hx.user.prefer("language", "Rust", also=True)
    for _ in range(3):
        hx.user.prefer("language", "python")

    assert "Prefers python and Rust for language." == hx.user.preference("language").statement
    assert [1.0, 1.0] == [preference.confidence for preference in hx.user.preferences("language")]


@pytest.mark.row("A118")
def test_the_users_own_file_states_preferences_and_takes_them_back(tmp_path, clock):
    user_dir().mkdir()
    (user_dir() / "preferences.toml").write_text('db = "Postgres"\nlanguage = ["Python", "Rust"]\n')
    with open_project(tmp_path / "one", clock) as hx:
        assert {("db", "Postgres"), ("language", "Python"), ("language", "Rust")} == {
            (preference.key, preference.value) for preference in hx.user.preferences(source="explicit")
        }
        hx.user.prefer("language", "Rust")

    (user_dir() / "preferences.toml").write_text('db = "SQLite"\n')
    with open_project(tmp_path / "one", clock) as hx:
        assert [("db", "SQLite"), ("language", "Rust")] == sorted(
            (preference.key, preference.value) for preference in hx.user.preferences()
        )

    (user_dir() / "preferences.toml").write_text("db = 3\n")
    with open_project(tmp_path / "one", clock) as hx, pytest.raises(InvalidInput, match=r"db = 3 should be"):
        hx.user.preferences()


@pytest.mark.row("A142", "A120", "A036")
def test_update_preference_notes_evidence_for_and_against(hx: Hexad):
    def update(delta: int) -> hexad.Preference:
        return hx.user.update_preference(key="db", value="Postgres", source="inferred", delta_evidence=delta)

    seen = [update(1), update(1), update(2)]
    against = update(-1)

    assert 0.6 == seen[0].confidence
    assert [0.6, 0.67, 0.771] == [round(preference.confidence, 3) for preference in seen]
    assert [1, 2, 4] == [preference.evidence_count for preference in seen]
    assert (seen[-1].confidence / 2, 3) == (pytest.approx(against.confidence), against.evidence_count)
    assert seen[-1].confidence < 0.95


@pytest.mark.row("A142")
def test_an_update_with_a_key_of_its_own_counts_once(hx: Hexad):
    for _ in range(3):
        preference = hx.user.update_preference(key="db", value="Postgres", idempotency_key="job-7")
    assert (1, 0.6) == (preference.evidence_count, preference.confidence)
    assert 2 == hx.user.update_preference(key="db", value="Postgres", idempotency_key="job-8").evidence_count


@pytest.mark.row("A142")
@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"source": "guessed"}, "explicit, inferred"),
        ({"delta_evidence": 1.5}, "delta_evidence"),
        ({"delta_evidence": True}, "delta_evidence"),
        ({"key": " ?! "}, "no letter or digit"),
        ({"key": ""}, "says nothing"),
        ({"value": ""}, "says nothing"),
        ({"value": "a\0b"}, "says nothing"),
        ({"value": "\ud800"}, "says nothing"),
        ({"value": float("nan")}, "no JSON value"),
        ({"value": "x" * 401}, "401 characters"),
        ({"idempotency_key": 7}, "idempotency_key"),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_stored(hx: Hexad, given, error):
    with pytest.raises((InvalidInput, LimitExceeded), match=error):
        hx.user.update_preference(**{"key": "db", "value": "Postgres", **given})
    assert {} == dict(hx.user.counts())


def test_nothing_speaks_against_what_is_not_known(hx: Hexad):
    for call in (
        lambda: hx.user.update_preference(key="db", value="Postgres", delta_evidence=-1),
        lambda: hx.user.reject("db", "Postgres"),
        lambda: hx.user.accept("db", "Postgres"),
        lambda: hx.user.allow("Postgres"),
        lambda: hx.user.observe("Small steps", delta_evidence=-1),
        lambda: hx.user.forget("preference-1"),
        lambda: hx.user.forget("user_preferences"),
    ):
        with pytest.raises(NotFound):
            call()
    assert {} == dict(hx.user.counts())


# Accepted and rejected ---------------------------------------------------------------------------------------------


@pytest.mark.row("A119", "A121", "A122", "A036")
def test_acceptance_raises_and_rejection_lowers_once_in_each_project(tmp_path, clock):
    sure = []
    for name, accepts in (("one", True), ("two", True), ("three", False)):
        with open_project(tmp_path / name, clock) as hx:
            if name == "one":
                sure.append(hx.user.update_preference(key="db", value="Postgres").confidence)
            for _ in range(3):
                judge = hx.user.accept if accepts else hx.user.reject
                preference = judge("db", "postgres")
            sure.append(preference.confidence)

    assert sure[0] < sure[1] < sure[2]
    assert pytest.approx(sure[2] / 2) == sure[3]
    assert (2, 1) == (preference.accepted, preference.rejected)


@pytest.mark.row("A122")
def test_what_was_rejected_twice_is_not_suggested_any_more(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "Postgres")
        assert ["Postgres"] == [suggestion.value for suggestion in hx.user.suggestions()]
        hx.user.reject("db", "Postgres")
        assert [] == hx.user.suggestions()
        hx.user.prefer("db", "Postgres")
        assert ["Postgres"] == [suggestion.value for suggestion in hx.user.suggestions()]


# Suggestions -------------------------------------------------------------------------------------------------------


@pytest.mark.row("A098", "A099")
def test_a_new_project_is_offered_what_the_others_use_with_what_that_rests_on(tmp_path, clock):
    for name in ("one", "two", "three"):
        learned(tmp_path, clock, name, db="Postgres", orm="Prisma")
    with open_project(tmp_path / "new", clock) as hx:
        first, _ = hx.user.suggestions()

        assert ("db", "Postgres", 3, 3) == (first.key, first.value, first.projects, first.of_projects)
        assert (
            "You typically use Postgres for db (in 3 of 3 projects, last seen 2026-01-04). Want me to set that up?"
            == first.text
        )
        assert (
            "By the way, you typically use Postgres (db) + Prisma (orm). Want me to set that up?"
            == hx.user.offer()
        )


@pytest.mark.row("A099")
def test_what_a_project_has_decided_is_not_suggested_to_it(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "Postgres")
        hx.user.prefer("orm", "Prisma")
        use(hx, db="SQLite")
        assert ["orm"] == [suggestion.key for suggestion in hx.user.suggestions()]
        hx.user.exception("orm", "Drizzle", reason="edge runtime")
        assert [] == hx.user.suggestions()
        assert hx.user.offer() is None


@pytest.mark.row("A149")
def test_what_is_suppressed_is_neither_suggested_nor_said_until_it_is_allowed_again(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("orm", "Prisma")
        hx.user.update_preference(key="orm", value="Drizzle")
        hx.user.suppress("PRISMA")

        assert ["Drizzle"] == [suggestion.value for suggestion in hx.user.suggestions()]
        assert "Drizzle" == hx.user.preference("orm").value
        assert not [statement for statement in hx.user.stated() if "Prisma" in statement.text]
        assert ["Prisma", "Drizzle"] == [preference.value for preference in hx.user.preferences("orm")]

        assert 1 == hx.user.allow("Prisma")
        assert ["Prisma"] == [suggestion.value for suggestion in hx.user.suggestions()]


@pytest.mark.row("A149")
def test_a_value_may_be_suppressed_for_one_key_or_in_one_project_alone(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("db", "SQLite")
        hx.user.prefer("cache", "SQLite")
        hx.user.suppress("SQLite", key="cache")
        assert ["db"] == [suggestion.key for suggestion in hx.user.suggestions()]
        hx.user.suppress("SQLite", here=True)
        assert [] == hx.user.suggestions()
    with open_project(tmp_path / "two", clock) as hx:
        assert ["db"] == [suggestion.key for suggestion in hx.user.suggestions()]


# Exceptions --------------------------------------------------------------------------------------------------------


@pytest.mark.row("A115", "A124", "A149")
def test_an_exception_says_what_is_usual_what_is_used_here_and_why(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("orm", "Prisma")
        made = hx.user.exception("orm", "Drizzle", reason="it runs at the edge")

        assert "orm: usually Prisma; Drizzle here because it runs at the edge" == made.statement
        found = hx.user.preference("orm")
        assert (
            "Usually uses Prisma for orm; Drizzle in this project, because it runs at the edge."
            == found.statement
        )
        assert "Drizzle" == found.value
        assert 1.0 == found.preference.confidence
    with open_project(tmp_path / "two", clock) as hx:
        assert "Prisma" == hx.user.preference("orm").value
        assert [] == hx.user.exceptions()
        assert ["Drizzle"] == [exception.value for exception in hx.user.exceptions(everywhere=True)]


@pytest.mark.row("A124")
def test_an_exception_needs_a_reason(hx: Hexad):
    with pytest.raises(InvalidInput, match="reason"):
        hx.user.exception("db", "SQLite", reason="  ")
    assert [] == hx.user.exceptions()


# Patterns, expertise, rules ----------------------------------------------------------------------------------------


@pytest.mark.row("A033", "A037")
def test_a_pattern_that_is_seen_again_has_more_evidence_and_is_surer(hx: Hexad, clock):
    first = hx.user.observe("Small pull requests")
    clock.advance(days=1)
    again = hx.user.observe("small  pull requests")
    avoided = hx.user.observe("Global state", antipattern=True)

    assert (1, 0.6) == (first.evidence_count, first.confidence)
    assert (2, first.id) == (again.evidence_count, again.id)
    assert again.confidence > first.confidence
    assert again.first_seen == first.first_seen < again.last_seen
    assert ["antipattern"] == [pattern.pattern_type.value for pattern in hx.user.patterns("antipattern")]
    assert [again, avoided] == hx.user.patterns()


@pytest.mark.row("A032")
def test_what_somebody_says_of_their_expertise_stands_over_what_is_inferred(hx: Hexad):
    assert "novice" == hx.user.set_expertise("Rust", "novice", source="inferred").level.value
    assert "intermediate" == hx.user.set_expertise("rust", "intermediate").level.value
    hx.user.set_expertise("Rust", "expert", source="inferred")

    assert [("rust", "intermediate", "explicit")] == [
        (expertise.area, expertise.level.value, expertise.source.value)
        for expertise in hx.user.expertise("RUST")
    ]
    with pytest.raises(InvalidInput, match="novice, intermediate, advanced, expert"):
        hx.user.set_expertise("Rust", "wizard")


@pytest.mark.row("A034")
def test_a_stated_rule_stays_beside_those_that_are_derived(tmp_path, clock):
    for name in ("one", "two", "three"):
        learned(tmp_path, clock, name, db="Postgres")
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.add_rule("Never deploys on Fridays.")
        hx.user.learn()
        assert {"Usually uses Postgres for db.", "Never deploys on Fridays."} == {
            rule.text for rule in hx.user.rules()
        }


# Secrets and personal data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [SECRET, "ada@example.org", "+49 30 901820 55"])
@pytest.mark.row("A007")
def test_neither_secrets_nor_personal_data_are_kept(tmp_path, clock, told):
    with open_project(tmp_path / "one", clock) as hx:
        for call in (
            lambda: hx.user.prefer("token", told),
            lambda: hx.user.prefer(told, "value"),
            lambda: hx.user.update_preference(key="token", value=told),
            lambda: hx.user.suppress(told),
            lambda: hx.user.set_expertise(told, "expert"),
        ):
            with pytest.raises(InvalidInput, match=r"neither secrets nor personal data") as caught:
                call()
            assert told not in str(caught.value)
        hx.user.observe(f"Writes {told} into tests")
        hx.user.add_rule(f"Uses {told} everywhere.")
        hx.user.exception("db", "SQLite", reason=f"{told} said so")
        use(hx, contact=told, db="SQLite")
        report = hx.user.learn()
        assert 1 == report.published
    assert told.encode() not in b"".join(
        path.read_bytes() for path in user_dir().rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("password", "metaPw" + "-77xyz9"),
        ("db_password", "hunter2" + "-x9Qr"),
        ("dbPassword", "correct horse battery staple"),
        ("wifi password", "butterscotch"),
        ("signing_key", "16VtPPz5pE3HFmka" + "zauhuKkSZGU="),
        ("door_code", "47" + "11"),
    ],
)
@pytest.mark.row("A007")
def test_a_value_that_its_key_says_is_a_secret_is_refused_by_every_call(tmp_path, clock, key, value):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.prefer("editor", "vim")
        for call in (
            lambda: hx.user.prefer(key, value),
            lambda: hx.user.update_preference(key=key, value=value),
            lambda: hx.user.update_preference(key=key, value=value, source="explicit"),
            lambda: hx.user.accept(key, value),
            lambda: hx.user.reject(key, value),
            lambda: hx.user.suppress(value, key=key),
            lambda: hx.user.exception(key, value, reason="the old server"),
        ):
            with pytest.raises(InvalidInput, match=f"as its key '{key}' says: neither secrets") as caught:
                call()
            assert value not in str(caught.value)
        assert ["vim"] == [preference.value for preference in hx.user.preferences()]
        assert ([], []) == (hx.user.exceptions(), hx.user.suppressions())
    assert value.encode() not in b"".join(
        path.read_bytes() for folder in (user_dir(), tmp_path) for path in folder.rglob("*") if path.is_file()
    )


def test_a_value_that_its_key_in_the_own_file_says_is_a_secret_is_refused(tmp_path, clock):
    user_dir().mkdir(parents=True)
    (user_dir() / "preferences.toml").write_text(f'db_password = "{"hunter2" + "-x9Qr"}"\n')
    with (
        open_project(tmp_path / "one", clock) as hx,
        pytest.raises(InvalidInput, match=r"db_password in preferences\.toml holds password, as its key"),
    ):
        hx.user.preferences()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("password_manager", "Bitwarden"), ("password_hashing", "argon2id"), ("auth", "JWT"), ("token_style", "jwt"),
        ("token_budget", "4000"), ("primary_key", "uuid7"), ("signing_key_type", "ed25519"), ("keybindings", "vim"),
        ("secrets", "SOPS"), ("refresh_token_lifetime", "30d"), ("jwt_algorithm", "RS256"), ("code_style", "black"),
        ("pin_versions", "yes"), ("credentials_helper", "osxkeychain"), ("encryption", "AES-256-GCM"),
    ],
)  # fmt: skip
def test_what_somebody_prefers_about_secrets_is_kept(tmp_path, clock, key, value):
    with open_project(tmp_path / "one", clock) as hx:
        assert value == hx.user.prefer(key, value).value


# All of it -----------------------------------------------------------------------------------------------------------


def test_one_thing_can_be_forgotten_and_leaves_nothing_in_the_file(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        made = hx.user.prefer("db", "Zanzibarbase")
        hx.user.forget(made.id)
        assert [] == hx.user.preferences()
        assert [] == hx.user.check()
    assert b"Zanzibarbase" not in (user_dir() / "user.db").read_bytes()


def test_a_wipe_needs_a_yes_and_leaves_nothing_of_this_user_in_the_file(tmp_path, clock):
    with open_project(tmp_path / "one", clock, actor="ben") as hx:
        hx.user.prefer("db", "SQLite")
    with open_project(tmp_path / "one", clock) as hx:
        use(hx, db="Zanzibarbase")
        hx.user.learn()
        hx.user.prefer("db", "Zanzibarbase")
        hx.user.observe("Zanzibar first")
        with pytest.raises(AccessDenied, match="confirm"):
            hx.user.wipe()
        planned = hx.user.wipe(dry_run=True)
        assert 2 == len(hx.user.preferences()) + len(hx.user.patterns())
        assert planned == hx.user.wipe(confirm=True)
        assert {} == dict(hx.user.counts())
    assert not [
        path.name for path in user_dir().rglob("*") if path.is_file() and b"Zanzibar" in path.read_bytes()
    ]
    with open_project(tmp_path / "one", clock, actor="ben") as hx:
        assert ["SQLite"] == [preference.value for preference in hx.user.preferences()]


def test_a_damaged_layer_is_said_and_the_rest_of_the_store_works(tmp_path, clock):
    user_dir().mkdir()
    (user_dir() / "user.db").write_bytes(b"SQLite format 3\0" + b"\0" * 4_080)
    (user_dir() / "user.db").chmod(0o600)
    with open_project(tmp_path / "one", clock) as hx:
        with pytest.raises(hexad.IntegrityError):
            hx.user.preferences()
        use(hx, db="Postgres")
        hx.maintain()
        assert ["Postgres"] == [memory.value for memory in hx.memories(kinds=["tech_stack"])]


def test_the_layer_opens_again_after_another_thread_closed_it(hx: Hexad):
    hx.user.prefer("db", "Postgres")
    hx.user.close()
    assert "Postgres" == hx.user.preference("db").value


def test_a_frozen_clock_gives_the_same_times(clock: FrozenClock, hx: Hexad):
    preference = hx.user.prefer("db", "Postgres")
    assert clock.now() == preference.first_seen == preference.last_seen
