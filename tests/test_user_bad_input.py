"""What no caller should hand to the layer of a person, or to the router, is refused by name; and small things hold."""

from __future__ import annotations

import pytest

import hexad
from hexad.errors import Conflict, InvalidInput
from user_projects import open_project


@pytest.fixture(scope="module")
def hx():
    with hexad.open(":memory:", embedder=None) as store:
        yield store


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda hx: hx.user.suppress("Prisma", here="no"), "here"),
        (lambda hx: hx.user.exceptions(everywhere="no"), "everywhere"),
        (lambda hx: hx.user.update_preference(key="db", value="A", idempotency_key=" "), "idempotency_key"),
        (
            lambda hx: hx.user.update_preference(key="db", value="A", idempotency_key="\ud800"),
            "idempotency_key",
        ),
        (lambda hx: hx.user.accept("db", "A", idempotency_key=""), "idempotency_key"),
        (lambda hx: hx.context("why?", model=7), "model"),
        (lambda hx: hx.plan("why?", model=["default"]), "model"),
        (lambda hx: hexad.parse_query_text(None), "query"),
        (lambda hx: hexad.parse_query_text(b"layer:user"), "query"),
    ],
)
def test_what_is_no_such_value_is_refused_by_its_name_and_nothing_is_stored(hx, call, names):
    before = dict(hx.user.counts())
    with pytest.raises(InvalidInput, match=names):
        call(hx)
    assert before == dict(hx.user.counts())


def test_the_message_about_a_list_that_is_a_text_can_be_printed_and_says_no_secret(hx):
    for text in ("\ud800", "sk-live9Qw8Er7Ty6Ui5Op4As3Df2Gh1"):
        with pytest.raises(InvalidInput) as refused:
            hx.context("why?", layers=text)
        assert str(refused.value).encode("utf-8")
        assert "9Qw8Er7Ty6Ui5" not in str(refused.value)


def test_learning_without_news_leaves_what_was_accepted_as_it_is(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.update_preference(key="db", value="Postgres")
        hx.user.accept("db", "Postgres")
        assert () == hx.user.learn(dry_run=True).changes
        assert () == hx.user.learn().changes


def test_a_number_is_published_with_all_its_digits(tmp_path, clock):
    with open_project(tmp_path / "one", clock) as hx:
        hx.project.remember(category="tech_stack", key="rate", value=8_080_000)
        hx.project.remember(category="tech_stack", key="ratio", value=3.14159265)
        hx.user.learn()
        values = {row["attribute"]: row["value"] for name, row in hx.user.held() if name == "project_values"}
    assert {"rate": "8080000", "ratio": "3.14159265"} == values


def test_keys_of_the_file_that_are_written_differently_are_one(tmp_path, clock):
    folder = tmp_path / "user"
    folder.mkdir()
    (folder / "preferences.toml").write_text('"Test Framework" = "pytest"\ntest_framework = "nose"\n')
    with open_project(tmp_path / "one", clock, user_dir=folder) as hx:
        assert {"pytest", "nose"} == {
            preference.value for preference in hx.user.preferences("test framework")
        }
    (folder / "preferences.toml").write_text('"" = "pytest"\n')
    with (
        open_project(tmp_path / "one", clock, user_dir=folder) as hx,
        pytest.raises(InvalidInput, match="preferences"),
    ):
        hx.user.preferences()


@pytest.mark.row("A142")
def test_an_idempotency_key_that_was_used_for_another_preference_is_refused_and_counts_nothing(
    tmp_path, clock
):
    with open_project(tmp_path / "one", clock) as hx:
        hx.user.update_preference(key="db", value="Postgres", idempotency_key="one")
        assert (
            1 == hx.user.update_preference(key="db", value="POSTGRES", idempotency_key="one").evidence_count
        )
        for key, value in (("orm", "Postgres"), ("db", "MySQL")):
            with pytest.raises(Conflict, match="counted for 'Postgres' as 'db'"):
                hx.user.update_preference(key=key, value=value, idempotency_key="one")
        assert ["Postgres"] == [preference.value for preference in hx.user.preferences()]
        hx.user.prefer("orm", "Prisma")
        hx.user.accept("db", "Postgres", idempotency_key="two")
        with pytest.raises(Conflict):
            hx.user.accept("orm", "Prisma", idempotency_key="two")
