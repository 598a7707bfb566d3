"""What the redactor remembers of short fields belongs to the rules that it was found by, and to no others."""

from __future__ import annotations

import json

import pytest

from hexad.errors import InvalidMemory
from hexad.ingest.write.redaction import Redactor
from hexad.memory.draft import Draft


@pytest.mark.row("L056", "L057")
def test_rules_that_are_gone_leave_nothing_to_the_next_ones():
    redactor = Redactor(salt=lambda: b"salt" * 8)

    for turn in range(300):
        asked = turn % 3 == 0
        rules = redactor.rules({"pii_redaction": ["email"]} if asked else {})
        tag = redactor.mask_object({"tags": ["ask ada@example.org"]}, rules, place=None)["tags"]
        assert ["ask [REDACTED:email]" if asked else "ask ada@example.org"] == tag
        del rules  # the next ones may stand where these stood


@pytest.mark.row("L056")
def test_a_name_that_holds_a_secret_is_refused_each_time_and_by_its_own_rules():
    redactor = Redactor(salt=lambda: b"salt" * 8)
    strict, lenient = redactor.rules({}), redactor.rules({"env_allow": ["DB_PASSWORD"]})
    draft = Draft(text="A note.", space="notes", source_id="DB_PASSWORD=" + "Tr0ub4dor&3")

    for _ in range(2):
        redactor.refuse_secret_names(draft, lenient)
        with pytest.raises(InvalidMemory, match="source_id holds what looks like a secret"):
            redactor.refuse_secret_names(draft, strict)


@pytest.mark.row("L056")
def test_drafts_with_the_same_metadata_are_cleaned_alike_and_each_keeps_its_own_values():
    redactor = Redactor(salt=lambda: b"salt" * 8)
    rules = redactor.rules({})
    secret = "Tr0ub4dor&3"
    given = [
        {"project": "shop", "source": "notes"},
        {"project": "shop", "source": "notes"},
        {"project": "shop", "password": secret},
        {"project": "shop", "password": secret},
        {"n": 1, "all": [1]},
        {"n": True, "all": [True]},
    ]
    drafts = [Draft(text="A note.", metadata=metadata) for metadata in given]

    cleaned = redactor.clean_all(drafts, [rules] * len(drafts))

    expected = [*given[:2], *[{"project": "shop", "password": "[REDACTED:password]"}] * 2, *given[4:]]
    assert list(map(repr, expected)) == [repr(each.draft.metadata) for each in cleaned]
    assert [0, 0, 1, 1, 0, 0] == [each.removed for each in cleaned]


@pytest.mark.parametrize(
    "path",
    [
        {"db_password": None},
        {"db_password": [None]},
        {"db_password": {"value": None, "note": "old"}},
        {"name": "db_password", "value": None},
        {"env": [{"Name": "DB_PASSWORD", "Value": None}]},
        {"database": {"password": {"current": [None]}}},
        {"settings": [{"key": "db_password", "default": None}]},
    ],
)
def test_a_value_is_judged_by_what_names_it_however_an_object_keeps_both(path):
    redactor = Redactor(salt=lambda: b"salt" * 8)
    with_secret = json.loads(json.dumps(path).replace("null", '"hunter2' + '-x9Qr"'))

    cleaned = redactor.clean(Draft(text="A note.", metadata=with_secret), redactor.rules({}))

    expected = json.loads(json.dumps(path).replace("null", '"[REDACTED:password]"'))
    assert (expected, 1) == (cleaned.draft.metadata, cleaned.removed)


@pytest.mark.parametrize(
    "metadata",
    [
        {"name": "password", "value": "required"},
        {"password": {"value": "", "default": None, "min_length": 12}},
        {"key": "db_host", "value": "hunter2-x9Qr"},
        {"name": "password_manager", "current": "Bitwarden", "default": "1Password"},
        {"password": {"owner": "team-9x", "rotated": "2026-11-02"}},
    ],
)
def test_an_object_that_names_no_secret_keeps_its_values(metadata):
    redactor = Redactor(salt=lambda: b"salt" * 8)
    cleaned = redactor.clean(Draft(text="A note.", metadata=metadata), redactor.rules({}))

    assert (metadata, 0) == (cleaned.draft.metadata, cleaned.removed)


@pytest.mark.parametrize(
    ("subject", "attribute"), [("db", "password"), ("db password", None), ("db password", "value")]
)
def test_a_fact_s_value_is_judged_by_its_attribute_or_its_subject(subject, attribute):
    redactor = Redactor(salt=lambda: b"salt" * 8)
    draft = Draft(text="A fact.", subject=subject, attribute=attribute, value="hunter2" + "-x9Qr")

    assert "[REDACTED:password]" == redactor.clean(draft, redactor.rules({})).draft.value


def test_a_clean_draft_shares_no_list_with_the_caller_s_metadata():
    redactor = Redactor(salt=lambda: b"salt" * 8)
    metadata = {"all": ["a"]}
    cleaned = redactor.clean(Draft(text="A note.", metadata=metadata), redactor.rules({}))

    metadata["all"].append("b")

    assert {"all": ["a"]} == cleaned.draft.metadata
